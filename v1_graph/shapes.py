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
    """Returns the static shape of a tensor after hints, and its dynamic shape.

    Args:
        x: array.
        spec: the declared shape, a list of ints and None.
        hints: shapes that are passed to `set_shape` in turn. Each can only add known
            sizes: a later None does not remove a known size.

    Returns:
        dict with `static`, a list of the static shapes at first and after each hint,
        and `dynamic`, the int32 shape at run time.

    Raises:
        ValueError: a hint contradicts a known size, the rank is unknown (then there is
            no list), or `x` does not match the static shape after the hints.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.placeholder(x.dtype, spec)
        dynamic = tf.shape(a)  # with a full static shape it would be a constant
        static = [a.shape.as_list()]
        for hint in hints:
            a.set_shape(hint)
            static.append(a.shape.as_list())
        # --- run
        # The fed array must match the placeholder's static shape after set_shape.
        return {"static": static, "dynamic": sess.run(dynamic, {a: x})}


def promise_shape(tensor, shape):
    """Adds sizes to a tensor's static shape; they are not checked at run time.

    Args:
        tensor: tensor of any dtype.
        shape: list of known sizes, None for unknown sizes.

    Returns:
        The same values, with the sizes of both shapes as static shape.

    Raises:
        ValueError: the static shape of `tensor` contradicts `shape`.
    """
    tensor = tf.identity(tensor)  # because set_shape changes its tensor
    tensor.set_shape(shape)
    return tensor


def check_shape(tensor, shape):
    """Adds sizes to a tensor's static shape, and checks them at run time.

    Args:
        tensor: tensor of any dtype.
        shape: the shape that the tensor must have, None where any size is allowed. Its
            rank must be known: a graph treats an unknown rank as -1.

    Returns:
        The same values, with the sizes of both shapes as static shape.

    Raises:
        ValueError: the static shape of `tensor` contradicts `shape`.
        tf.errors.InvalidArgumentError: the dynamic shape contradicts `shape`.
    """
    return tf.ensure_shape(tensor, shape)


def impose_shape(tensor, shape):
    """Reshapes a tensor; checks only that the number of elements is the same.

    Args:
        tensor: tensor of any dtype.
        shape: list of ints; one int may be -1, which is computed from the other sizes.

    Returns:
        Tensor of `shape`.

    Raises:
        ValueError: the static numbers of elements differ.
        tf.errors.InvalidArgumentError: the numbers of elements differ at run time.
    """
    return tf.reshape(tensor, shape)


def get_shape(tensor):
    """Lists a tensor's sizes: known sizes as ints, unknown sizes as scalar tensors.

    Args:
        tensor: tensor of known rank.

    Returns:
        List of ints and int32 scalars.

    Raises:
        ValueError: the rank is unknown.
    """
    static = tensor.shape.as_list()
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(static)]


def reshape(tensor, groups):
    """Collapses groups of dimensions of known or unknown size.

    Args:
        tensor: tensor of known rank.
        groups: list with an item for each dimension of the result: an axis of `tensor`,
            or a list of axes whose sizes are multiplied ([] is a new size of 1). Each
            axis must occur once; the order of the axes does not move elements.

    Returns:
        Tensor of rank `len(groups)`; a dimension is static if its whole group is.

    Raises:
        ValueError, tf.errors.InvalidArgumentError: the product of the sizes is not the
            number of elements.
        IndexError: an axis does not exist.
    """
    shape = get_shape(tensor)
    sizes = []
    for group in groups:
        axes = [group] if isinstance(group, int) else group
        dims = [shape[axis] for axis in axes]
        if all(isinstance(dim, int) for dim in dims):
            sizes.append(int(np.prod(dims)))
        else:
            # A well-known recipe has tf.prod here, which does not exist in TensorFlow.
            sizes.append(tf.reduce_prod(dims))
    return tf.reshape(tensor, sizes)


def reshape_unknown(x, spec, groups):
    """Collapses dimensions of unknown size; the other dimensions remain static.

    Args:
        x: array.
        spec: the declared shape of `x`, a list of ints and None.
        groups: see `reshape`.

    Returns:
        The static shape of the result, a list of ints and None, and its value.

    Raises:
        ValueError: the rank is unknown.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.placeholder(x.dtype, spec)
        collapsed = reshape(a, groups)
        static = collapsed.shape.as_list()
        # --- run
        return static, sess.run(collapsed, {a: x})


def describe_shapes(shape, other):
    """Describes a static shape: rank, size, compatibility with another shape, ….

    Args:
        shape: list of ints and None, or None for an unknown rank.
        other: list of ints and None, or None for an unknown rank.

    Returns:
        dict of `rank`, `size` (the number of elements), `known` (fully defined),
        `compatible`, `joined` (concatenated), `common` (the most specific shape that is
        compatible with both) and `merged` (the known sizes of both; None if they are
        not compatible).
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
    # dims is None for an unknown rank. Dimension(None) is not None, but its value is.
    return None if shape.dims is None else [dim.value for dim in shape.dims]


def compare_sizes(size, other):
    """Compares two sizes; the result is None if one of them is unknown.

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
    """Returns whether two static shapes are known to be equal.

    Args:
        shape: list of ints and None, or None for an unknown rank.
        other: list of ints and None, or None for an unknown rank.

    Returns:
        bool; False if anything is unknown.
    """
    a, b = tf.TensorShape(shape), tf.TensorShape(other)
    # In 1.15 [None] == [None] is False; in today's compat.v1 it is True.
    return a.is_fully_defined() and a == b


def window_counts(shape, window, stride):
    """Computes the output shape of windows over an image without padding.

    Args:
        shape: [batch, height, width, channels], a list of ints and None.
        window: height and width of the window.
        stride: stride of the window.

    Returns:
        The shape of the result, a list of ints and None.

    Raises:
        ValueError: the window is larger than the image.
    """
    batch, height, width, channels = tf.TensorShape(shape)
    # Arithmetic with an unknown Dimension is unknown; a negative Dimension raises.
    rows, columns = [(n - window) // stride + 1 for n in (height, width)]
    return [dim.value for dim in (batch, rows, columns, channels)]
