"""Keras 3's layers and optimizers, strategies, devices, summaries and flags."""

import sys
import tempfile
from unittest import mock

import numpy as np
import tensorflow as tf
from absl import flags
from tensorflow.python.framework import config

from tf1to2.tests.raisers import logged, printed, v1
from tf1to2.tests.raisers.saved import in_folder, keras

Dense, LSTM = tf.keras.layers.Dense, tf.keras.layers.LSTM
Adam, SGD = tf.keras.optimizers.Adam, tf.keras.optimizers.SGD
checkpoint = tf.keras.callbacks.ModelCheckpoint


class Arrayed(tf.keras.layers.Layer):
    def __init__(self, values):
        super().__init__()
        self.values = np.array(values)

    def call(self, x):
        return x


def of_one():
    inputs = tf.keras.Input([2], name="a")
    return tf.keras.Model([inputs], 2 * inputs)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = Dense(1)

    def call(self, x):
        return self.dense(x)


def flatten_words():
    words = tf.keras.layers.Embedding(5, 2, mask_zero=True)
    keras(words, tf.keras.layers.Flatten())(tf.ones([1, 2]))


def compiled(*options):
    made = keras()
    made.compile(*options)
    return made


def another_variable():
    optimizer = SGD(0.1)
    for _ in range(2):
        w = tf.Variable(1.0)
        optimizer.apply_gradients([(tf.constant(1.0), w)])


def legacy_layer():
    import tf_keras

    return tf_keras.layers.Dense(1)


def mirrored():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def replicas():
    strategy = mirrored()
    return strategy.run(
        lambda: 2 * tf.distribute.get_replica_context().replica_id_in_sync_group
    )


def iterate_unbuilt():
    """As `fit` does where a `ParameterServerStrategy` leaves this to the workers."""
    dataset = tf.data.Dataset.range(4).batch(2)
    distributed = mirrored().experimental_distribute_dataset(dataset)
    distributed._built = False
    iter(distributed)


def reduce_inside():
    strategy = mirrored()
    strategy.run(lambda: strategy.reduce("SUM", tf.constant(1.0), axis=None))


def made_in_scope():
    with (strategy := mirrored()).scope():
        return Adam(), strategy


def build_outside():
    optimizer, _ = made_in_scope()
    optimizer.build([tf.Variable(1.0)])


def build_inside():
    optimizer, strategy = made_in_scope()
    outside = tf.Variable(1.0)
    with strategy.scope():
        optimizer.build([outside])


def apply_outside():
    with mirrored().scope():
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        optimizer.apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])


def watch_outside():
    with mirrored().scope():
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = 3.0 * w
        tape.gradient(loss, w)


def mix():
    with mirrored().scope():
        w = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    with mirrored().scope():
        w.assign_add(1.0)


def monitor_nothing():
    stop = tf.keras.callbacks.EarlyStopping("val_acc")
    compiled("sgd", "mse").fit(np.ones([4, 2]), np.ones([4, 1]), callbacks=[stop])


def virtual_devices():
    (device,) = tf.config.list_physical_devices("CPU")
    devices = [tf.config.LogicalDeviceConfiguration()] * 3
    tf.config.set_logical_device_configuration(device, devices)


def summarize_without_tensorboard():
    """TensorFlow installs it up to 2.20; 2.21 leaves it to the reader."""
    known = [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]
    with mock.patch.dict(sys.modules, dict.fromkeys(["tensorboard", *known])):
        tf.summary.scalar("a", 1.0, step=0)


def summarize_without_step(path):
    with tf.summary.create_file_writer(path).as_default():
        tf.summary.scalar("loss", 1.0)


def summarize_a_tensor():
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default():
            writer = v1.summary.FileWriter(folder)
        writer.add_summary(tf.constant("a"))


def summarize_a_tensor_of_a_graph():
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        v1.summary.FileWriter(folder).add_summary(tf.constant("a"))


def sequence_as_input():
    column = tf.feature_column.sequence_numeric_column("a")
    with tf.Graph().as_default():
        v1.feature_column.input_layer({"a": tf.sparse.eye(2)}, [column])


def set_schedule():
    schedule = tf.keras.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5)
    SGD(schedule).learning_rate = 0.1


def old_state():
    adam = Adam()
    adam.build([tf.Variable([1.0, 2.0])])
    adam.set_weights([np.int64(7), np.zeros(2), np.ones(2)])


def weighted_twice():
    x, y = np.ones([4, 2]), np.ones([4, 1])
    weights = {"class_weight": {1: 2.0}, "sample_weight": np.ones(4)}
    compiled("sgd", "mse").fit(x, y, **weights)


def monitored_by_its_old_name():
    x, y = np.ones([4, 2]), np.ones([4, 1])
    made = compiled("sgd", "mse", None, ["accuracy"])
    keep = checkpoint("w.keras", monitor="val_acc", save_best_only=True)
    made.fit(x, y, validation_data=(x, y), callbacks=[keep], verbose=0)


def defined():
    values = flags.FlagValues()
    flags.DEFINE_integer("steps", 1, "How many.", flag_values=values)
    return values


def parsed():
    values = flags.FlagValues()
    flags.DEFINE_string("job-dir", "", "Where to.", flag_values=values)
    values(["program"])
    return values


def defined_twice():
    values = defined()
    other = {"flags": flags, "values": values, "__name__": "other"}
    exec("flags.DEFINE_integer('steps', 1, '', flag_values=values)", other)


def divide_unevenly():
    with mirrored().scope():
        made = compiled("sgd", "mse")
    made.fit(np.ones([3, 2]), np.ones([3, 1]), batch_size=3, verbose=0)


def grow_a_processor():
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.experimental.set_memory_growth(cpu, True)


def limit_a_processor():
    (cpu,) = tf.config.list_physical_devices("CPU")
    limited = tf.config.LogicalDeviceConfiguration(memory_limit=64)
    tf.config.set_logical_device_configuration(cpu, [limited])


def draw_without_a_seed():
    tf.random.set_seed(None)
    tf.config.experimental.enable_op_determinism()
    try:
        tf.random.normal([1])
    finally:
        config.disable_op_determinism()


ERRORS = {
    "'SymbolicTensor' object has no attribute 'value'": summarize_a_tensor_of_a_graph,
    "EagerTensor' object has no attribute 'value'": summarize_a_tensor,
    "must be a _FeatureColumn": sequence_as_input,
    "Gradients do not exist": logged(
        lambda: SGD().apply_gradients(
            [(tf.constant(1.0), tf.Variable(1.0)), (None, tf.Variable(1.0))]
        )
    ),
    "Need to be inside": build_outside,
    "`colocate_vars_with`": build_inside,
    "attribute 'minimize'": lambda: Adam().minimize,
    "attribute 'lr'": lambda: Adam().lr,
    "attribute 'ref'": lambda: keras().weights[0].ref(),
    "attribute 'get_updates'": lambda: Adam().get_updates,
    "attribute 'get_weights'": lambda: Adam().get_weights,
    "Argument(s)": lambda: Adam(lr=0.1),
    "`decay` is no longer": logged(lambda: Adam(decay=0.1)),
    "LearningRateSchedule": set_schedule,
    "class_weight": weighted_twice,
    "ModelCheckpoint callback received": monitored_by_its_old_name,
    "save_weights_only": lambda: checkpoint("w.h5", save_weights_only=True),
    "must end in `.keras`": lambda: checkpoint("folder"),
    "Only one of `clipnorm`": lambda: SGD(clipnorm=1.0, clipvalue=1.0),
    "Optimizer variable": old_state,
    "Unknown variable": another_variable,
    "No gradients": lambda: SGD().apply_gradients([(None, tf.Variable(1.0))]),
    "EarlyStopping callback": monitor_nothing,
    "optimizer identifier": lambda: compiled(v1.train.AdamOptimizer(), "mse"),
    "Only instances": lambda: tf.keras.Sequential([legacy_layer()]),
    "Unrecognized keyword": lambda: LSTM(3, batch_input_shape=[1, 2, 3]),
    "non-serializable argument values": lambda: keras(Arrayed(np.ones(1))).get_config(),
    "The structure of `inputs` doesn't match": logged(
        lambda: of_one()(np.ones([1, 2]))
    ),
    "`build()` was called": logged(lambda: Net().build((None, 2))),
    "_unique_id": lambda: SGD().apply_gradients([(tf.constant(1.0), tf.constant(1.0))]),
    "argument: 'step'": tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5),
    "'output_shape'": lambda: Dense(1).output_shape,
    "'input_shape'": lambda: Dense(1).input_shape,
    "(of type …) was passed": logged(flatten_words),
    "Do not pass": logged(lambda: Dense(1, input_shape=[2])),
    "is incompatible with the layer": lambda: Dense(1)(tf.ones([3])),
    "Invalid input shape": lambda: keras()(tf.ones([3])),
    "cardinality": lambda: compiled("sgd", "mse").fit(np.ones([4, 2]), np.ones([3, 1])),
    "call `compile()`": lambda: keras().fit(np.ones([4, 2]), np.ones([4, 1])),
    "count_params": lambda: tf.keras.Sequential([Dense(1)]).count_params(),
    "defined output": lambda: tf.keras.Sequential([Dense(1)]).output,
    "called `set_weights": lambda: keras().set_weights([np.ones([2, 1])]),
    "provided weight": lambda: keras().set_weights([np.ones([3, 1]), np.ones([1])]),
    "Could not interpret … identifier": lambda: Dense(1, kernel_initializer="no_such"),
    "initializer identifier": lambda: Dense(1, kernel_initializer="no_such"),
    "regularizer identifier": lambda: Dense(1, kernel_regularizer="no_such"),
    "constraint identifier": lambda: Dense(1, kernel_constraint="no_such"),
    "activation function": lambda: Dense(1, activation="no_such"),
    "'PerReplica' object": lambda: replicas().numpy(),
    "not 'PerReplica'": lambda: float(replicas()),
    "create_per_worker_dataset": iterate_unbuilt,
    "using a PerReplica": lambda: tf.reduce_sum(replicas()),
    "cross-replica context, use": reduce_inside,
    "_distributed_apply": apply_outside,
    "DistributedVariable.handle": watch_outside,
    "Mixing": mix,
    "Random ops require": draw_without_a_seed,
    "attribute 'multi_gpu_model'": lambda: tf.keras.utils.multi_gpu_model,
    "AddN of type AddN": divide_unevenly,
    "argument `reduction`": lambda: tf.keras.losses.MeanSquaredError(reduction="auto"),
    "Visible devices": lambda: tf.config.set_visible_devices([], "CPU"),
    "Virtual devices": virtual_devices,
    "memory growth": grow_a_processor,
    "memory limit": limit_a_processor,
    "Inter op": lambda: tf.config.threading.set_inter_op_parallelism_threads(7),
    "TensorBoard": summarize_without_tensorboard,
    "No step set": in_folder(summarize_without_step),
    "attribute 'Value'": lambda: tf.summary.Value,
    "AttributeError: _parse_flags": printed(lambda: defined()._parse_flags()),
    "AttributeError: job_dir": printed(lambda: parsed().job_dir),
    "raise AttributeError(name)": printed(lambda: parsed().job_dir),
    "Trying to access": lambda: defined().steps,
    "defined twice": defined_twice,
    "Unknown command": lambda: flags.FlagValues()(["program", "--steps=1"]),
}
