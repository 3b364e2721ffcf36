"""Dtypes, shapes and values that do not fit."""

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import in_graph, lacks, v1

ONE = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
FEATURE = {"x": tf.io.FixedLenFeature([], tf.float32)}


def unknown_rows():
    return v1.placeholder(tf.float32, [None, 3])


def labelled(values, loss):
    return lambda: loss(labels=tf.constant(values), logits=tf.zeros([2, 4]))


def generated(values, spec):
    made = tf.data.Dataset.from_generator(lambda: iter(values), output_signature=spec)
    return lambda: list(made)


def batched(made):
    return lambda: list(made().batch(2))


def of_two_lengths():
    return tf.data.Dataset.from_generator(
        lambda: iter([[1.0], [1.0, 2.0]]), output_signature=tf.TensorSpec([None])
    )


def times_sparse(multiply=tf.matmul):
    multiply(tf.sparse.from_dense([[1.0, 0.0]]), tf.ones([2, 1]))


def filled():
    return tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))


def run_out():
    iterator = iter(tf.data.Dataset.range(1))
    iterator.get_next()
    iterator.get_next()


def dilated():
    """A gradient of a dilated convolution, on a CPU."""
    images = tf.ones([1, 5, 5, 1])
    with tf.GradientTape() as tape:
        tape.watch(images)
        y = tf.nn.conv2d(images, tf.ones([2, 2, 1, 1]), 1, "SAME", dilations=2)
    return tape.gradient(y, images)


def filtered():
    return tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([5, 5, 1, 2]), 1, "VALID")


def read_aloud(labels, time, blank_index=-1):
    """The CTC loss of a sentence of so many steps."""
    indices = [[0, i] for i in range(len(labels))]
    sparse = tf.SparseTensor(indices, labels, [1, len(labels)])
    logits = tf.zeros([time, 1, 4])
    return tf.nn.ctc_loss(sparse, logits, None, [time], blank_index=blank_index)


X = tf.ones([2, 3])
ERRORS = {
    "Attempt to convert a value (SparseTensor": times_sparse,
    "Failed to convert elements of SparseTensor": lambda: times_sparse(
        tf.function(tf.matmul)
    ),
    "else … must be broadcastable": lambda: tf.where([True, False], X, X),
    "dilation rates larger": dilated,
    "iterable of at least one": lambda: tf.add_n([]),
    "cannot compute": lambda: tf.constant(1) + tf.constant(1.0),
    "of 'Pack' Op have types": in_graph(
        lambda: tf.stack([tf.constant("a"), tf.constant(1)])
    ),
    "cannot compute Pack": lambda: tf.stack([tf.constant("a"), tf.constant(1)]),
    "of argument 'x'": in_graph(lambda: tf.constant(1) + tf.constant(1.0)),
    "same dtype, got": lambda: tf.constant(1) / tf.constant(2.0),
    "'…' to EagerTensor of dtype float": lambda: "Loss: " + tf.constant(1.0),
    "to EagerTensor": lambda: tf.constant(1.5, dtype=tf.int32),
    "conversion requested": lambda: tf.convert_to_tensor(ONE, tf.float64),
    "Value for attr": lambda: tf.sqrt(tf.constant(4)),
    "Value passed": in_graph(lambda: tf.nn.softmax(tf.constant([[1, 2]]))),
    "Expected … passed": in_graph(lambda: tf.strings.length(5)),
    "Attempt to convert a value (None": lambda: tf.constant(None),
    "failed. Error: None values not": in_graph(lambda: tf.square(None)),
    "Attempt to convert": lambda: tf.constant(map(float, [1, 2])),
    "elements of <map object": in_graph(lambda: tf.constant(map(float, [1, 2]))),
    "non-rectangular": lambda: tf.constant([[1], [2, 3]]),
    "inhomogeneous": lambda: np.array([[1], [2, 3]]),
    "to a Tensor (Unsupported object type list": lambda: tf.constant(
        np.array([[1], [2, 3]], object)
    ),
    "to a Tensor (Unsupported object type numpy.ndarray": lambda: tf.constant(
        np.array([np.ones(1), np.ones(2)], object)
    ),
    "Failed to convert a NumPy": lambda: tf.constant(np.array([1, "a"], object)),
    "Incompatible shapes": lambda: ONE + tf.ones([2]),
    "Dimensions must be equal": in_graph(lambda: tf.ones([2, 3]) + tf.ones([2])),
    "size-incompatible": lambda: tf.matmul(ONE, ONE),
    "different ndims": lambda: tf.matmul(tf.ones([3]), tf.ones([3, 2])),
    "Shape must be rank": in_graph(
        lambda: tf.nn.conv2d(tf.ones([2, 3, 3]), tf.ones([1, 1, 3, 3]), 1, "SAME")
    ),
    "4-dimensional": lambda: tf.nn.conv2d(
        tf.ones([2, 3, 3]), tf.ones([1, 1, 3, 3]), 1, "SAME"
    ),
    "ConcatOp": lambda: tf.concat([ONE, tf.ones([1, 2])], 0),
    "equal, but are … and … for '…Pack…'": in_graph(
        lambda: tf.stack([tf.ones([2]), tf.ones([3])])
    ),
    "shapes must be equal, but": in_graph(
        lambda: tf.concat([tf.ones([2, 3]), tf.ones([1, 2])], 0)
    ),
    "Shapes of all inputs": lambda: tf.stack([ONE, tf.ones([2])]),
    "Input to reshape": lambda: tf.reshape(ONE, [4]),
    "Cannot reshape": in_graph(lambda: tf.reshape(tf.ones([2, 3]), [4])),
    "have the same shape, received": lambda: tf.nn.sigmoid_cross_entropy_with_logits(
        labels=tf.ones([2]), logits=tf.ones([2, 1])
    ),
    "must be broadcastable": labelled(
        [[0.0, 1.0, 0.0]], tf.nn.softmax_cross_entropy_with_logits
    ),
    "labels.shape.rank": labelled(
        [[0], [1]], tf.nn.sparse_softmax_cross_entropy_with_logits
    ),
    "Negative dimension": in_graph(filtered),
    "output size would be negative: ": filtered,
    "label value": labelled([5, 1], tf.nn.sparse_softmax_cross_entropy_with_logits),
    "Not enough time": lambda: read_aloud([0, 2, 1, 0], 3),
    "nonnegative": lambda: read_aloud([0, 2], 3, blank_index=0),
    "indices": lambda: tf.gather([1, 2, 3], 5),
    "Cannot assign value": lambda: tf.Variable([1.0, 2.0]).assign([1.0, 2.0, 3.0]),
    "slice index": lambda: ONE[5],
    "Expected size": lambda: tf.slice(ONE, [1, 0], [2, 2]),
    "squeeze": lambda: tf.squeeze(ONE, 0),
    "valid indices": lambda: ONE[0.5],
    "partially known": in_graph(lambda: tf.ones(unknown_rows().shape)),
    "Expected int32": in_graph(lambda: tf.zeros([unknown_rows().shape[0], 3])),
    "convert elements": in_graph(lambda: tf.reshape(unknown_rows(), [None, 3])),
    "evenly divide": lambda: tf.split(ONE, 2, axis=1),
    "Cannot batch": batched(of_two_lengths),
    "Cannot add tensor": batched(filled),
    "of shape … was expected": generated([[1.0, 2.0]], tf.TensorSpec([1])),
    "to the expected type": generated(["a"], tf.TensorSpec([], tf.int32)),
    "End of sequence": run_out,
    "is required but": lambda: tf.io.parse_single_example(b"", FEATURE),
    "only supports the NHWC tensor format": lambda: tf.nn.conv2d(
        tf.ones([1, 2, 5, 5]), tf.ones([3, 3, 2, 4]), 1, "SAME", "NCHW"
    ),
    "pad to a smaller size": lambda: list(filled().padded_batch(2, [1])),
    "Invalid `padding_values`": lambda: filled().padded_batch(2, padding_values="x"),
    "not invertible": lambda: tf.linalg.inv(tf.ones([2, 2])),
    "numpy-related methods": lambda: ONE.reshape([3, 2]),
    **{
        f"EagerTensor object has no attribute '{name}'": (lacks(ONE, name))
        for name in ("reshape", "astype", "T", "size", "tolist")
    },
    "Missing required": lambda: tf.expand_dims(ONE),
    "unsupported shape": lambda: tf.constant([0.5, 0.25, 0.125], shape=[5]),
    "EagerTensor of dtype string": lambda: tf.constant(5, tf.string),
    "Cast string": lambda: tf.cast(["1"], tf.float32),
    "supplied shape": lambda: ONE.set_shape([2, 4]),
    "multiples argument": lambda: tf.tile(ONE, [2]),
    "3 or 4 dimensions": lambda: tf.image.resize(ONE, [1, 1]),
    "Must specify maxval": lambda: tf.random.uniform([2], dtype=tf.int64),
    "and … are not compatible": lambda: tf.data.Dataset.from_tensor_slices(
        ([1, 2, 3], [1, 2])
    ),
    "`generator` must be a": lambda: tf.data.Dataset.from_generator(
        iter([1]), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "length is unknown": lambda: len(filled().filter(lambda row: True)),
    "dataset is infinite": lambda: len(filled().repeat()),
    "attribute '_name'": lambda: filled().flat_map(lambda row: row),
    "DecodeRaw": lambda: tf.io.decode_raw([b"12345"], tf.int16),
    "innermost dimension": lambda: tf.gather_nd(ONE, [[0, 1, 0]]),
    "greater than zero or": lambda: filled().shuffle(0),
    "types don't match.": lambda: tf.io.parse_single_example(
        tf.train.Example(
            features={"feature": {"x": {"int64_list": {"value": [1]}}}}
        ).SerializeToString(),
        FEATURE,
    ),
    "does not support non-Variable": lambda: tf.train.ExponentialMovingAverage(
        0.9
    ).apply([ONE]),
    "StringToNumberOp": lambda: tf.strings.to_number(["two"]),
    "dimension of paddings": lambda: tf.pad(ONE, [[0, 1]]),
}
