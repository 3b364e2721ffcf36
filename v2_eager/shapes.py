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
    """Shows what is known of a shape before anything runs, and what it turns out to be.

    Raises:
        ValueError: if a hint contradicts what is known, or if the rank is unknown (it
            has no list).
        TypeError: if `x` does not fit `spec` (ValueError in TensorFlow 1).
    """
    # --- build
    static = []

    @tf.function(input_signature=[tf.TensorSpec(spec, x.dtype)])
    def dynamic_shape(a):
        dynamic = tf.shape(a)  # after a full promise it would just repeat the promise
        # Python runs while tracing: the list takes down what is known by then.
        static.append(a.shape.as_list())
        for hint in hints:
            a.set_shape(hint)
            static.append(a.shape.as_list())
        return dynamic

    # --- run
    # What is passed must fit the signature only; what set_shape told is not compared.
    dynamic = dynamic_shape(tf.constant(x)).numpy()
    return {"static": static, "dynamic": dynamic}


def promise_shape(tensor, shape):
    """Adds to a tensor's static shape, on trust: nothing checks it in a graph's run."""
    tensor = tf.identity(tensor)  # set_shape changes the object that it is called on
    tensor.set_shape(shape)
    return tensor


def check_shape(tensor, shape):
    """Adds to a tensor's static shape, and checks it when run."""
    return tf.ensure_shape(tensor, shape)


def impose_shape(tensor, shape):
    """Reshapes row by row; only the number of elements is checked."""
    # By default graph rewriting drops a reshape of [None, 128] to [32, 128], as if it
    # did nothing, and its check with it: 3 rows come out as 3 rows.
    reshaped = tf.reshape(tensor, shape)
    return tf.ensure_shape(reshaped, reshaped.shape)


def get_shape(tensor):
    """Lists the sizes of a tensor: ints where they are known, else scalar tensors."""
    static = tensor.shape.as_list()
    dynamic = tf.shape(tensor)
    return [dynamic[i] if size is None else size for i, size in enumerate(static)]


def reshape(tensor, groups):
    """Collapses groups of dimensions, of known and of unknown size."""
    shape = get_shape(tensor)
    sizes = []
    for group in groups:
        axes = [group] if isinstance(group, int) else group
        # Python's product: of ints an int, with a tensor among them a tensor.
        sizes.append(math.prod(shape[axis] for axis in axes))
    return impose_shape(tensor, sizes)  # which keeps the check, too


def reshape_unknown(x, spec, groups):
    """Collapses dimensions that are unknown until run; the others remain static.

    Raises:
        TypeError: if `x` does not fit `spec` (ValueError in TensorFlow 1).
    """

    # --- build
    @tf.function(input_signature=[tf.TensorSpec(spec, x.dtype)])
    def collapse(a):
        return reshape(a, groups)

    static = collapse.get_concrete_function().structured_outputs.shape.as_list()
    # --- run
    return static, collapse(tf.constant(x)).numpy()


def describe_shapes(shape, other):
    """Tells what a shape knows by itself, and together with another one."""
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
    # A size is an int or None itself, so `x.shape[0] is None` now means what it says.
    return None if shape.rank is None else list(shape)


def compare_sizes(size, other):
    """Compares two sizes, with no answer where one of them is unknown.

    Raises:
        ValueError: if a size is negative.
    """
    tf.TensorShape([size, other])  # refuses what is negative; ints do not
    if size is None or other is None:
        # Dimensions answered None; now None == None is True and None < 3 an error.
        return dict.fromkeys(["equal", "different", "less", "at_least"])
    return {
        "equal": size == other,
        "different": size != other,
        "less": size < other,
        "at_least": size >= other,
    }


def same_shape(shape, other):
    """Whether two static shapes are certain to be equal."""
    a, b = tf.TensorShape(shape), tf.TensorShape(other)
    # `==` alone takes two unknown sizes for equal.
    return a.is_fully_defined() and a == b


def window_counts(shape, window, stride):
    """Counts the windows that fit into an image, a convolution without padding."""
    batch, height, width, channels = shape
    return [batch, *(count(n, window, stride) for n in (height, width)), channels]


def count(size, window, stride):
    if size is None:
        return None
    if size < window:
        # A Dimension refuses to be negative; an int of -1 would mean "infer" below.
        raise ValueError(f"Dimension {size - window} must be >= 0")
    return (size - window) // stride + 1
