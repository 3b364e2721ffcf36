"""Ranks, axes, sizes and the dtypes of arguments, of any operation."""

import tensorflow as tf

from tf1to2.tests.raisers import in_graph, placeholder, v1

X = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
IDS = tf.constant([[1, 2], [3, 4]])


def slices():
    return tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]))


ERRORS = {
    "Cannot convert the argument": lambda: tf.cast(X, "integer"),
    "Expected DataType": in_graph(lambda: v1.placeholder([None, 3])),
    "Value for attr 'Tshape'": lambda: tf.reshape(X, [6 / 2, 2]),
    "parameter 'shape'": in_graph(lambda: v1.random_normal([2, 6 / 2])),
    "parameter 'axis'": in_graph(lambda: tf.gather(placeholder(3, 2), [0], axis=1.5)),
    "(name: …) must be of type integer": lambda: tf.linspace(0.0, 1.0, 2.5),
    "Value for attr 'Tindices'": lambda: tf.gather(X, [0.0]),
    "parameter 'indices'": in_graph(lambda: tf.gather(placeholder(3), placeholder(2))),
    "Value for attr 'TI'": lambda: tf.one_hot([1.0], 3),
    "Value for attr 'Tlabels'": lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[0.0, 1.0], logits=X
    ),
    "has DataType bool": in_graph(lambda: tf.reduce_mean(tf.constant([True]))),
    "Value for attr 'T' of bool": lambda: tf.reduce_mean(tf.equal(X, 2.0)),
    "Invalid reduction": lambda: tf.reduce_sum(X, 3),
    "Expected dimension in the range": lambda: tf.argmax(X, 4),
    "Argument `axis` = ": lambda: tf.stack([X, X], axis=4),
    "expand dim index": lambda: tf.expand_dims(X, 5),
    "squeeze dim index": lambda: tf.squeeze(X, 4),
    "concatenating dimensions in": lambda: tf.concat([X, X], axis=2),
    "Expected scan axis": lambda: tf.cumsum(X, axis=3),
    "`dim` must be in": lambda: tf.nn.softmax(X, axis=4),
    "axis must be int": lambda: tf.argmax(X, axis=1.0),
    "transpose expects": lambda: tf.transpose(X, [0, 1, 2]),
    "is missing from {": lambda: tf.transpose(X, [0, 0]),
    "concatenate scalars": lambda: tf.concat([1.0, 2.0], 0),
    "Index out of range using": lambda: X[0, 1, 2],
    "Multiple ellipses": lambda: X[..., ..., 0],
    "Shape … must have rank …": lambda: X.shape.with_rank(4),
    "must have rank at least": lambda: X.shape.with_rank_at_least(3),
    "and … must have the same rank": lambda: X.shape.assert_same_rank([2]),
    "must have rank …Received": lambda: v1.assert_rank(X, 3),
    "must be of type tf.string": lambda: tf.debugging.assert_type(X, tf.string),
    "Expected scalar shape": lambda: v1.assert_scalar(X),
    "is not fully defined": lambda: tf.TensorShape([None]).assert_is_fully_defined(),
    "and … are incompatible": lambda: tf.boolean_mask(X, [True, False, True]),
    "Shapes … and … are not compatible": lambda: X.shape.merge_with([2, 4]),
    "shapes for broadcasting": lambda: tf.broadcast_static_shape(
        tf.TensorShape([3, 4]), tf.TensorShape([5, 4])
    ),
    "Condition x == y": lambda: v1.assert_equal(X, X + 1),
    "Condition x < y": lambda: tf.math.confusion_matrix([3], [0], num_classes=2),
    "to be true. Summarized": lambda: tf.Assert(tf.constant(False), [X]),
    "Cannot convert TensorShape": lambda: tf.convert_to_tensor(X.shape, tf.float32),
    "'Dimension' and 'int'": lambda: v1.Dimension(4) / 2,
    "'int' and 'Dimension'": lambda: 8 / v1.Dimension(4),
    "Dimension -1": in_graph(lambda: placeholder(-1, 784)),
    "converted to a dimension": lambda: tf.TensorShape("rows"),
    "Expected float for": lambda: tf.nn.local_response_normalization(X, bias="one"),
    "Expected int for": lambda: tf.nn.local_response_normalization(X, "two"),
    "Expected bool for": lambda: tf.raw_ops.MatMul(a=X, b=X, transpose_a="yes"),
    "Expected string for": lambda: tf.raw_ops.Conv2D(
        input=X, filter=X, strides=[1, 1, 1, 1], padding=1
    ),
    "does not match dtype … of off_value": lambda: tf.one_hot(
        [1], 3, on_value=1.0, off_value=0
    ),
    "depth must be a scalar": lambda: tf.one_hot([1], tf.constant([3])),
    "`maxlen` must be scalar": lambda: tf.sequence_mask([1, 2], [3]),
    "segment ids are not": lambda: tf.math.segment_sum(X, [1, 0]),
    "segment_ids should be": lambda: tf.math.segment_sum(X, [0, 0, 1]),
    "value must represent": lambda: tf.fill([2], [1.0, 2.0]),
    "seed must have shape": lambda: tf.random.stateless_normal([2], seed=1),
    "Need minval": lambda: tf.random.uniform([2], 20, 10, tf.int32),
    "got invalid value": lambda: tf.random.uniform([2], dtype=tf.string),
    "logits should be a matrix": lambda: tf.random.categorical([0.1, 0.9], 1),
    "at least k columns": lambda: tf.math.top_k(X, 5),
    "at axis … of the input": lambda: tf.einsum("ij,jk->ik", X, X),
    "to have rank … but got": lambda: tf.einsum("ijk->ik", X),
    "inputs for equation": lambda: tf.einsum("ij,jk", X),
    "must be square": lambda: tf.linalg.inv(X),
    "rhs are incompatible": lambda: tf.linalg.solve(tf.eye(2), tf.ones([3, 1])),
    "requested for IndexedSlices": in_graph(lambda: tf.convert_to_tensor(slices())),
    "Paddings must be": lambda: tf.pad(X, [[-1, 1], [1, 1]]),
    "paddings must be less": lambda: tf.pad(X, [[5, 5], [1, 1]], mode="REFLECT"),
    "argument `mode` expected": lambda: tf.pad(X, [[1, 1], [1, 1]], mode="EDGE"),
    "(converted from …) with shape": lambda: v1.constant(
        [1.0, 2.0], shape=[3], verify_shape=True
    ),
    "Expected Tensor's shape": in_graph(
        lambda: v1.constant([1.0, 2.0], shape=[3], verify_shape=True)
    ),
    "Too many elements": in_graph(lambda: v1.constant([1.0, 2.0, 3.0], shape=[2])),
    "of type 'float'.": in_graph(lambda: tf.constant(2.5, tf.int32)),
    "Expected int32 passed to": in_graph(lambda: tf.constant(3) * 0.5),
    "of type 'str'.": in_graph(lambda: tf.constant("abc", tf.float32)),
    "compatible batch dimensions": lambda: tf.matmul(
        tf.ones([2, 3, 4]), tf.ones([5, 4, 2])
    ),
    "Rank-0 tensors": lambda: tf.split(X, 2.0),
    "along split_dim exactly": lambda: tf.split(X, [1, 1], axis=1),
    "can't split axis": in_graph(lambda: tf.split(placeholder(2, 3), [1, 1], axis=1)),
    "Number of batches of 'then'": lambda: v1.where([True, False, True], X, X),
    "are … and … for '…SelectV2…'": in_graph(
        lambda: tf.where([True, False], tf.ones([2, 3]), tf.ones([2, 3]))
    ),
    "are … and … for '…MatMul…'": in_graph(
        lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    ),
    "be rank 2 but is rank 1 for '…MatMul…'": in_graph(
        lambda: tf.matmul(tf.ones([3]), tf.ones([3, 2]))
    ),
    "both be non-None": lambda: v1.where(X > 1, X),
    "into param shape": lambda: tf.gather_nd(X, [[5, 0]]),
    "does not index into shape": lambda: tf.scatter_nd([[7]], [1.0], [3]),
    "is out of range […)": lambda: tf.math.unsorted_segment_sum(X, [5, 0], 2),
    "Cannot update variable": lambda: tf.Variable([1.0, 2.0]).assign_add([1.0]),
    "Incompatible type conversion": lambda: tf.convert_to_tensor(
        tf.Variable(1.0), tf.float64
    ),
    "as input #0(zero-based)": lambda: tf.logical_not(X),
    "Expected multiples to be": lambda: tf.tile(X, 2),
}
