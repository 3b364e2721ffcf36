"""Hooks, optimizers, queues, strategies, clusters and columns of TensorFlow 1."""

import math

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import in_graph, v1
from tf1to2.tests.raisers.saved import in_folder

train = v1.train
column = v1.feature_column
CLUSTER = tf.train.ClusterSpec({"ps": ["localhost:2222"]})
AGE = tf.feature_column.numeric_column("age")
COLOR = tf.feature_column.categorical_column_with_vocabulary_list("color", ["red"])
ONES = np.ones([2, 1], np.float32)  # of no graph


def monitored(*hooks):
    """A function that runs a monitored session with these hooks."""

    def run():
        v1.get_variable("w", [2])
        with train.MonitoredTrainingSession(hooks=hooks) as sess:
            sess.run("w:0")

    return in_graph(run)


def stop_at_nan():
    loss = tf.constant(math.nan)
    with train.MonitoredTrainingSession(hooks=[train.NanTensorHook(loss)]) as sess:
        sess.run(loss)


def close_again():
    with train.MonitoredTrainingSession() as sess:
        pass
    sess.close()


def start_without_a_session():
    with tf.Graph().as_default():
        train.start_queue_runners()


def two_steps():
    train.create_global_step()
    train.create_global_step()


def prepare(**options):
    """A function that prepares a session of one variable without a value."""

    def session():
        v1.get_variable("w", [2])
        ready = v1.report_uninitialized_variables()
        train.SessionManager(ready_op=ready).prepare_session("", **options)

    return in_graph(session)


def apply_a_gradient_of_no_kind():
    variable = v1.get_variable("w", [2])
    train.GradientDescentOptimizer(0.1).apply_gradients([(object(), variable)])


def minimize_an_integer():
    v1.get_variable("w", [2])
    train.GradientDescentOptimizer(0.1).minimize(tf.constant(1))


def optimize_a_layer():
    dense = tf.keras.layers.Dense(2)
    dense.build([None, 1])
    train.GradientDescentOptimizer(0.1).minimize(
        lambda: tf.reduce_sum(dense(ONES)), var_list=dense.trainable_variables
    )


def piecewise(boundaries, values):
    step = tf.Variable(1, dtype=tf.int64)
    return train.piecewise_constant(step, boundaries, values)()


def layer(features, columns):
    """A function that makes the input layer of these columns."""
    return in_graph(lambda: column.input_layer(features, columns))


def writer_of(method):
    return in_folder(
        lambda folder: getattr(tf.summary.create_file_writer(folder), method)
    )


def enter_closed(folder):
    writer = tf.summary.create_file_writer(folder)
    writer.close()
    writer.as_default()


def batch(*shape):
    return in_graph(lambda: train.batch([v1.placeholder(tf.float32, *shape)], 2))


ERRORS = {
    "Global step should": monitored(train.StopAtStepHook(last_step=1)),
    "One of num_steps": train.StopAtStepHook,
    "scaffold or summary_op": lambda: train.SummarySaverHook(save_steps=1),
    "Either every_secs": lambda: train.CheckpointSaverHook("folder"),
    "either at_end": lambda: train.LoggingTensorHook(["loss"]),
    '"global_step" already': in_graph(two_steps),
    "NaN loss": in_graph(stop_at_nan),
    "Session is already closed": in_graph(close_again),
    "Model is not initialized": prepare(),
    "did not make model ready": prepare(init_fn=lambda sess: None),
    "No variables provided": in_graph(
        lambda: train.GradientDescentOptimizer(0.1).apply_gradients([])
    ),
    "Gradient must be convertible": in_graph(apply_a_gradient_of_no_kind),
    "Invalid type … for": in_graph(minimize_an_integer),
    "of type 'Variable', not": optimize_a_layer,
    "Boundaries (": lambda: piecewise([1.5], [0.1, 0.2]),
    "length of boundaries": lambda: piecewise([1, 2], [0.1, 0.2]),
    "Values must have elements": lambda: piecewise([1], [0.1, 2]),
    "Could not pack sequence": lambda: tf.nest.pack_sequence_as([1, 2], [1]),
    "bigger than min_after": in_graph(
        lambda: train.shuffle_batch([tf.ones([2])], 2, 5, 10)
    ),
    "must be fully defined: ": batch([None]),
    "Cannot infer Tensor's rank": batch(),
    "Queue shapes must": in_graph(
        lambda: tf.queue.FIFOQueue(3, [tf.int32] * 2, shapes=[[]])
    ),
    "positional args must": lambda: tf.distribute.OneDeviceStrategy("/cpu:0").run(
        abs, args=5
    ),
    "valid ReduceOp": lambda: tf.distribute.OneDeviceStrategy("/cpu:0").reduce(
        "AVERAGE", 1.0, axis=None
    ),
    "`global_batch_size`": lambda: tf.distribute.InputContext(
        1, 0, 3
    ).get_per_replica_batch_size(8),
    "for `per_example_loss`": lambda: tf.nn.compute_average_loss(5.0),
    "only works with the tf.Estimator": (
        lambda: v1.distribute.experimental.ParameterServerStrategy().scope().__enter__()
    ),
    "The tasks for job": lambda: tf.train.ClusterSpec({"ps": 5}),
    "`cluster` must": lambda: tf.train.ClusterSpec("localhost:2222"),
    "`server_or_cluster_def`": lambda: train.Server(5),
    "explicit `job_name`": lambda: train.Server(
        {"ps": ["localhost:2222"], "worker": ["localhost:2223"]}
    ),
    "No such job": lambda: CLUSTER.num_tasks("worker"),
    "No task with index": lambda: CLUSTER.task_address("ps", 4),
    "must be a _DenseColumn": layer({"color": np.array([["red"]])}, [COLOR]),
    "Unsupported input type. Input": lambda: tf.feature_column.indicator_column(AGE),
    "found dict": layer({"age": ONES}, {"age": AGE}),
    "feature_columns must not": layer({"age": ONES}, []),
    "Duplicate feature column": layer({"age": ONES}, [AGE, AGE]),
    "must be FeatureColumn instances": lambda: (
        tf.feature_column.make_parse_example_spec(["age"])
    ),
    "not in features dictionary": layer({"height": ONES}, [AGE]),
    "cannot have rank 0": layer({"age": 5.0}, [AGE]),
    "of each feature must": layer(
        {"age": ONES, "size": np.ones([3, 1])},
        [AGE, tf.feature_column.numeric_column("size")],
    ),
    "Column dtype and": layer(
        {"color": np.ones([1, 1], int)}, [tf.feature_column.indicator_column(COLOR)]
    ),
    "Tensor of numerical column": layer({"age": tf.sparse.from_dense([[1.0]])}, [AGE]),
    "must be a sorted list": lambda: tf.feature_column.bucketized_column(AGE, [2, 1]),
    "source_column must": lambda: tf.feature_column.bucketized_column(COLOR, [1]),
    "keys must be a list": lambda: tf.feature_column.crossed_column(["age"], 10),
    "hash_bucket_size must": lambda: (
        tf.feature_column.categorical_column_with_hash_bucket("age", 0)
    ),
    "convertible to float": lambda: tf.feature_column.numeric_column(
        "age", dtype=tf.string
    ),
    "Duplicate keys in": lambda: (
        tf.feature_column.categorical_column_with_vocabulary_list("a", ["b", "b"])
    ),
    "Invalid dimension": lambda: tf.feature_column.embedding_column(COLOR, None),
    "dtype must be string or": lambda: (
        tf.feature_column.categorical_column_with_hash_bucket("age", 3, tf.float32)
    ),
    "Unsupported key type": lambda: tf.feature_column.crossed_column([AGE, COLOR], 10),
    "key must be a string": lambda: tf.feature_column.numeric_column(5),
    "vocabulary_file in": lambda: (
        tf.feature_column.categorical_column_with_vocabulary_file("a", "no_such.txt")
    ),
    "shared_embedding_columns are": lambda: column.shared_embedding_columns([COLOR], 3),
    "SharedEmbeddingColumns are not": in_graph(
        lambda: column.input_layer(
            {"color": np.array([["red"]])},
            tf.feature_column.shared_embeddings([COLOR], 3),
        )
    ),
    "to have dtype string": in_graph(lambda: v1.summary.text("a", tf.constant(1.0))),
    "tags and values are": in_graph(lambda: v1.summary.scalar("a", ONES), run=True),
    "SummaryWriter … is already": in_folder(enter_closed),
    "`logdir` cannot": lambda: tf.summary.create_file_writer(None),
    "Must enable trace": lambda: tf.summary.trace_export("a"),
    "attribute 'add_summary'": writer_of("add_summary"),
    "attribute 'add_graph'": writer_of("add_graph"),
    "Queues are not compatible": train.start_queue_runners,
    "Supervisors are": train.Supervisor,
    "Readers are not": v1.TFRecordReader,
    "QueueRunners are not": train.QueueRunner,
    "Cannot start queue runners": start_without_a_session,
}
