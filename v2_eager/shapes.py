"""`x.get_shape()`, `Dimension`, `set_shape`, `tf.shape` → ints or None of a trace."""

import math

import tensorflow as tf

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

    Raises:
        ValueError: a hint contradicts a known size, or the rank is unknown (then there
            is no list).
        TypeError: `x` does not match `spec` (ValueError in TensorFlow 1).
    """
    # --- build
    static = []

    @tf.function(input_signature=[tf.TensorSpec(spec, x.dtype)])
    def dynamic_shape(a):
        dynamic = tf.shape(a)  # with a full static shape it would be a constant
        # Python runs while tracing: the list gets the static shape at this point.
        static.append(a.shape.as_list())
        for hint in hints:
            a.set_shape(hint)
            static.append(a.shape.as_list())
        return dynamic

    # --- run
    # The argument must match the signature only; sizes from set_shape are not compared.
    dynamic = dynamic_shape(tf.constant(x)).numpy()
    return {"static": static, "dynamic": dynamic}


def promise_shape(tensor, shape):
    """Adds sizes to a tensor's static shape; they are not checked at run time."""
    tensor = tf.identity(tensor)  # because set_shape changes its tensor
    tensor.set_shape(shape)
    return tensor


def check_shape(tensor, shape):
    """Adds sizes to a tensor's static shape, and checks them at run time."""
    return tf.ensure_shape(tensor, shape)


def impose_shape(tensor, shape):
    """Reshapes a tensor; checks only that the number of elements is the same."""
    # By default graph rewriting removes a reshape of [None, 128] to [32, 128] as if it
    # did nothing, and removes its check, too: 3 rows come out as 3 rows.
    reshaped = tf.reshape(tensor, shape)
    return tf.ensure_shape(reshaped, reshaped.shape)


def get_shape(tensor):
    """Lists a tensor's sizes: known sizes as ints, unknown sizes as scalar tensors."""
    static = tensor.shape.as_list()
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(static)]


def reshape(tensor, groups):
    """Collapses groups of dimensions of known or unknown size."""
    shape = get_shape(tensor)
    sizes = []
    for group in groups:
        axes = [group] if isinstance(group, int) else group
        # Python's product of ints is an int; with a tensor among them it is a tensor.
        sizes.append(math.prod(shape[axis] for axis in axes))
    return impose_shape(tensor, sizes)  # which also keeps the check


def reshape_unknown(x, spec, groups):
    """Collapses dimensions of unknown size; the other dimensions remain static.

    Raises:
        TypeError: `x` does not match `spec` (ValueError in TensorFlow 1).
    """

    # --- build
    @tf.function(input_signature=[tf.TensorSpec(spec, x.dtype)])
    def collapse(a):
        return reshape(a, groups)

    static = collapse.get_concrete_function().structured_outputs.shape.as_list()
    # --- run
    return static, collapse(tf.constant(x)).numpy()


def describe_shapes(shape, other):
    """Describes a static shape: rank, size, compatibility with another shape, …."""
    a, b = tf.TensorShape(shape), tf.TensorShape(other)
    compatible = a.is_compatible_with(b)
    return {
        "rank": a.rank,
        "size": a.num_elements(),
        "known": a.is_fully_defined(),
        "compatible": compatible,
        "joined": sizes_of(a.concatenate(b)),
        "common": sizes_of(a.most_specific_compatible_shape(b)),
        "merged": sizes_of(a.merge_with(b)) if compatible else None,
    }


def sizes_of(shape):
    # In TensorFlow 2 a size is an int or None, so `x.shape[0] is None` works.
    return None if shape.rank is None else list(shape)


def compare_sizes(size, other):
    """Compares two sizes; the result is None if one of them is unknown.

    Raises:
        ValueError: a size is negative.
    """
    tf.TensorShape([size, other])  # raises for negative sizes; ints do not
    if size is None or other is None:
        # A Dimension returned None; for ints None == None is True, None < 3 raises.
        return dict.fromkeys(["equal", "different", "less", "at_least"])
    return {
        "equal": size == other,
        "different": size != other,
        "less": size < other,
        "at_least": size >= other,
    }


def same_shape(shape, other):
    """Returns whether two static shapes are known to be equal."""
    a, b = tf.TensorShape(shape), tf.TensorShape(other)
    # `==` alone says that two unknown sizes are equal.
    return a.is_fully_defined() and a == b


def window_counts(shape, window, stride):
    """Computes the output shape of windows over an image without padding."""
    batch, height, width, channels = shape
    return [batch, *(count(n, window, stride) for n in (height, width)), channels]


def count(size, window, stride):
    if size is None:
        return None
    if size < window:
        # A Dimension raises if it is negative; the int -1 would mean "infer" below.
        raise ValueError(f"Dimension {size - window} must be >= 0")
    return (size - window) // stride + 1
