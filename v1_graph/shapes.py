"""`x.get_shape()`, `Dimension`, `set_shape`, `tf.shape` → ints or None of a trace."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "static_and_dynamic",
    "promise_shape",
    "check_shape",
    "impose_shape",
    "get_shape",
    "reshape",
    "reshape_unknown",
    "describe_shapes",
    "compare_sizes",
    "same_shape",
    "window_counts",
]


def static_and_dynamic(x, spec, hints=()):
    """Shows what is known of a shape before anything runs, and what it turns out to be.

    Args:
        x: array.
        spec: the shape that is declared, a list of ints and None.
        hints: shapes handed to `set_shape`, one after the other. Each can only add to
            what is known: a later None takes nothing back.

    Returns:
        dict with `static`, a list of the static shapes at first and after each hint,
        and `dynamic`, the int32 shape when run.

    Raises:
        ValueError: if a hint contradicts what is known, if the rank is unknown (it has
            no list), or if `x` does not have the shape that the hints left.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.placeholder(x.dtype, spec)
        dynamic = tf.shape(a)  # after a full promise it would just repeat the promise
        static = [a.shape.as_list()]
        for hint in hints:
            a.set_shape(hint)
            static.append(a.shape.as_list())
        # --- run
        # What is fed must fit all that set_shape has told of the placeholder.
        return {"static": static, "dynamic": sess.run(dynamic, {a: x})}


def promise_shape(tensor, shape):
    """Adds to a tensor's static shape, on trust: nothing checks it in a graph's run.

    Args:
        tensor: tensor of any dtype.
        shape: a shape that the tensor is known to have, None where it is not known.

    Returns:
        The same values, with the static shape of both together.

    Raises:
        ValueError: if the static shape of `tensor` contradicts `shape`.
    """
    tensor = tf.identity(tensor)  # set_shape changes the object that it is called on
    tensor.set_shape(shape)
    return tensor


def check_shape(tensor, shape):
    """Adds to a tensor's static shape, and checks it when run.

    Args:
        tensor: tensor of any dtype.
        shape: the shape that the tensor must have, None where any size will do. Its
            rank must be known: a graph takes an unknown one for a rank of -1.

    Returns:
        The same values, with the static shape of both together.

    Raises:
        ValueError: if the static shape of `tensor` contradicts `shape`.
        tf.errors.InvalidArgumentError: if the dynamic shape does.
    """
    return tf.ensure_shape(tensor, shape)


def impose_shape(tensor, shape):
    """Reshapes row by row; only the number of elements is checked.

    Args:
        tensor: tensor of any dtype.
        shape: list of ints, at most one of them -1, which stands for the rest.

    Returns:
        Tensor of `shape`.

    Raises:
        ValueError: if the numbers of elements are known to differ.
        tf.errors.InvalidArgumentError: if they turn out to differ.
    """
    return tf.reshape(tensor, shape)


def get_shape(tensor):
    """Lists the sizes of a tensor: ints where they are known, else scalar tensors.

    Args:
        tensor: tensor of known rank.

    Returns:
        List of ints and int32 scalars.

    Raises:
        ValueError: if the rank is unknown.
    """
    static = tensor.shape.as_list()
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(static)]


def reshape(tensor, groups):
    """Collapses groups of dimensions, of known and of unknown size.

    Args:
        tensor: tensor of known rank.
        groups: list with an item for each dimension of the result: an axis of `tensor`,
            or a list of axes whose sizes are multiplied ([] is a new size of 1). Every
            axis is to be named once; no element moves, whatever their order.

    Returns:
        Tensor of rank `len(groups)`, static wherever a whole group is.

    Raises:
        ValueError, tf.errors.InvalidArgumentError: if the sizes do not multiply to the
            number of elements.
        IndexError: if there is no such axis.
    """
    shape = get_shape(tensor)
    sizes = []
    for group in groups:
        axes = [group] if isinstance(group, int) else group
        dims = [shape[axis] for axis in axes]
        if all(isinstance(dim, int) for dim in dims):
            sizes.append(int(np.prod(dims)))
        else:
            # A well-known recipe has tf.prod here, which no version of TensorFlow has.
            sizes.append(tf.reduce_prod(dims))
    return tf.reshape(tensor, sizes)


def reshape_unknown(x, spec, groups):
    """Collapses dimensions that are unknown until run; the others remain static.

    Args:
        x: array.
        spec: its declared shape, a list of ints and None.
        groups: as in `reshape`.

    Returns:
        The static shape of the result, a list of ints and None, and its value.

    Raises:
        ValueError: if the rank is unknown.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.placeholder(x.dtype, spec)
        collapsed = reshape(a, groups)
        static = collapsed.shape.as_list()
        # --- run
        return static, sess.run(collapsed, {a: x})


def describe_shapes(shape, other):
    """Tells what a shape knows by itself, and together with another one.

    Args:
        shape: list of ints and None, or None for an unknown rank.
        other: the same.

    Returns:
        dict of `rank`, `size` (the number of elements), `known` (all of it), of
        `compatible` (the two may be one), `joined` (one after the other), `common`
        (what holds for both) and `merged` (what both know; None if not compatible).
    """
    a, b = tf.TensorShape(shape), tf.TensorShape(other)
    compatible = a.is_compatible_with(b)
    return {
        "rank": a.ndims,
        "size": a.num_elements(),
        "known": a.is_fully_defined(),
        "compatible": compatible,
        "joined": sizes_of(a.concatenate(b)),
        "common": sizes_of(a.most_specific_compatible_shape(b)),
        "merged": sizes_of(a.merge_with(b)) if compatible else None,
    }


def sizes_of(shape):
    # The dims are None without a rank; a Dimension(None) is no None, its value is.
    return None if shape.dims is None else [dim.value for dim in shape.dims]


def compare_sizes(size, other):
    """Compares two sizes, with no answer where one of them is unknown.

    Args:
        size: int or None.
        other: int or None.

    Returns:
        dict of `equal`, `different`, `less` and `at_least`: each a bool, or None.
    """
    a = tf.Dimension(size)
    return {
        "equal": a == other,
        "different": a != other,
        "less": a < other,
        "at_least": a >= other,
    }


def same_shape(shape, other):
    """Whether two static shapes are certain to be equal.

    Args:
        shape: list of ints and None, or None for an unknown rank.
        other: the same.

    Returns:
        bool; False if anything is unknown.
    """
    a, b = tf.TensorShape(shape), tf.TensorShape(other)
    # In 1.15 `==` alone denies that [None] is [None]; today's compat.v1 affirms it.
    return a.is_fully_defined() and a == b


def window_counts(shape, window, stride):
    """Counts the windows that fit into an image, a convolution without padding.

    Args:
        shape: [batch, height, width, channels], a list of ints and None.
        window: height and width of the window.
        stride: its step.

    Returns:
        The shape of the result, a list of ints and None.

    Raises:
        ValueError: if the window is larger than the image.
    """
    batch, height, width, channels = tf.TensorShape(shape)
    # A Dimension passes "unknown" on through arithmetic and refuses to be negative.
    rows, columns = [(n - window) // stride + 1 for n in (height, width)]
    return [dim.value for dim in (batch, rows, columns, channels)]
