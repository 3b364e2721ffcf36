"""Layers of Keras 3, called as those of TensorFlow 1 were."""

import tensorflow as tf

from tf1to2.tests.raisers import imported, run

layers = tf.keras.layers


class Named(layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", [2])


class Updated(layers.Layer):
    def call(self, x):
        self.add_update(tf.no_op(), inputs=x)


class Penalized(layers.Layer):
    def call(self, x):
        self.add_loss(tf.reduce_mean(x), inputs=x)


K = tf.keras.backend


def session_of_backend():
    from tensorflow.keras.backend import get_session

    return get_session()


def value_of_keras():
    import keras

    return keras.backend.get_value


def cost_of_keras():
    import keras

    return keras.backend.ctc_batch_cost


def import_from_keras():
    from keras.backend import ctc_batch_cost

    return ctc_batch_cost


def image_generator():
    import keras

    return keras.preprocessing.image.ImageDataGenerator


def two_of_one():
    inputs = [layers.Input([3, 4]), layers.Input([5, 4])]
    contexts, shares = layers.Attention()(inputs)
    return contexts, shares


def import_enqueuer():
    from keras.utils import OrderedEnqueuer

    return OrderedEnqueuer


def load_unbuilt():
    """What `load_weights` asks a layer that nobody has built."""
    layers.Dense(2).load_own_variables({"0": tf.ones([2, 2]), "1": tf.ones([2])})


def read_with_constants():
    rnn = layers.RNN(layers.SimpleRNNCell(2))
    rnn(tf.ones([1, 2, 3]), constants=[tf.ones([1, 2])])


def mask_in_front():
    """What Keras checks before it calls cuDNN, which wants a GPU."""
    from keras.src.backend.tensorflow.rnn import _assert_valid_mask

    _assert_valid_mask(tf.constant([[False, True]]))


def look_inside():
    base = tf.keras.Sequential([tf.keras.Input([2]), layers.Dense(3)])
    inputs = tf.keras.Input([2])
    outer = tf.keras.Model(inputs, base(inputs))
    tf.keras.Model(outer.inputs, base.layers[0].output)


def add_twins():
    twins = [tf.keras.Sequential([layers.Dense(1)], name="net") for _ in range(2)]
    inputs = tf.keras.Input([2])
    tf.keras.Model(inputs, layers.add([net(inputs) for net in twins]))


def dense():
    layer = layers.Dense(2)
    layer.build([None, 2])
    return layer


class OfItself(layers.Layer):
    def __init__(self):
        super().__init__(self)


class Bare(layers.Layer):
    def __init__(self, by, other):
        super().__init__()


def watch_input():
    with tf.GradientTape() as tape:
        tape.watch(tf.keras.Input([2]))


def report_validation():
    class Report(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            return self.validation_data

    model = tf.keras.Sequential([layers.Dense(1)])
    model.compile("sgd", "mse")
    rows = ROW, LABEL
    model.fit(*rows, validation_data=rows, callbacks=[Report()], verbose=0)


def fit_generator(rows, **options):
    """A function that fits a model of two inputs, or of one, by a generator."""

    def generate():
        while True:
            yield rows

    def fit():
        inputs = [tf.keras.Input([2]) for _ in tf.nest.flatten(rows[0])]
        model = tf.keras.Model(inputs, layers.Dense(1)(sum(inputs)))
        model.compile("sgd", "mse")
        model.fit(generate(), steps_per_epoch=1, verbose=0, **options)

    return fit


ROW, LABEL = tf.ones([1, 2]), tf.ones([1, 1])
# Where a wording began; what was said before it is among its section's earlier ones.
SINCE = {
    "`name` must be passed": "keras>=3.14",
    "to a shape. Found": "keras>=3.13",
    "value for `units`": "keras>=3.13",
}
WORDLESS = {"could not find node key": "keras<3.14"}  # a bare AssertionError there
ERRORS = {
    "Iterating over a symbolic KerasTensor": two_of_one,
    "Unrecognized keyword arguments passed to …: {…'time_major'": lambda: layers.GRU(
        2, time_major=True
    ),
    "No such layer": lambda: tf.keras.Sequential().get_layer("probs"),
    "`TimeDistributed` Layer": lambda: layers.TimeDistributed(layers.Dense(2))(ROW),
    "no defined input shape": lambda: tf.keras.Sequential().input_shape,
    "to a shape.": lambda: tf.keras.Input(shape=(9)),
    "missing a required argument: 'inputs'": lambda: layers.Dense(2)(x=tf.ones([1, 2])),
    "`output_signature` must": fit_generator(([ROW, ROW], LABEL)),
    "the generator must": fit_generator([ROW, LABEL]),
    "for Python generator": fit_generator((ROW, LABEL), class_weight={0: 1.0}),
    "_tf_keras.keras.backend' has": lambda: K.learning_phase(),
    **{
        f"backend' has no attribute '{name}'": lambda name=name: getattr(K, name)
        for name in ("set_session", "get_session")
    },
    **{
        f"'{name}' from 'tensorflow.keras.backend'": run(
            f"from tensorflow.keras.backend import {name}"
        )
        for name in ("set_session", "get_session")
    },
    "module 'keras.backend'": value_of_keras,
    "attribute 'ctc_batch_cost'": cost_of_keras,
    "from 'keras.backend'": import_from_keras,
    "attribute 'auc'": lambda: tf.metrics.auc,
    **{
        f"No module named '{name}'": imported(name)
        for name in (
            "keras.utils.conv_utils",
            "keras.wrappers.scikit_learn",
            "tensorflow.keras.wrappers.scikit_learn",
            "keras.applications.resnext",
            "keras_applications",
        )
    },
    "Cannot do batch_dot": lambda: K.batch_dot(
        tf.ones([1, 3, 3, 4]), tf.ones([1, 3, 2, 4]), [2, 3]
    ),
    "'float' object cannot": lambda: range(tf.ones([4]).shape[0] / 2),
    "Dimension value must": lambda: tf.TensorShape([3.0]),
    "to a shape. Found": lambda: layers.Conv2D(4 / 2, 3)(tf.ones([1, 4, 4, 1])),
    "value for `units`": lambda: layers.Dense(4 / 2)(tf.ones([1, 2])),
    "has not yet been built": lambda: tf.keras.Sequential([dense()]).save_weights(
        "a.weights.h5"
    ),
    "attribute 'to_tensor'": lambda: tf.sparse.from_dense([[1.0]]).to_tensor(),
    "attribute 'ImageDataGenerator'": image_generator,
    "import name 'OrderedEnqueuer'": import_enqueuer,
    "attribute 'GeneratorEnqueuer'": lambda: tf.keras.utils.GeneratorEnqueuer,
    "was never built": load_unbuilt,
    "argument 'constants'": read_with_constants,
    "right-padded sequences": mask_in_front,
    "from 'tensorflow.keras.backend'": session_of_backend,
    "attribute 'name'": lambda: K.set_value(dense().bias, [1.0, 2.0]),
    "attribute '_is_ref_dtype'": lambda: K.update_add(dense().bias, tf.ones([2])),
    "attribute 'base_dtype'": lambda: K.mean(tf.keras.Input([2])),
    "'_make_predict_function'": lambda: tf.keras.Sequential()._make_predict_function(),
    "'total_loss'": lambda: tf.keras.Sequential().total_loss,
    "'uses_learning_phase'": lambda: tf.keras.Sequential().uses_learning_phase,
    "takes 1 positional": lambda: OfItself(),
    "attribute 'validation_data'": report_validation,
    "of type 'KerasTensor'": watch_input,
    "attribute 'initializer'": lambda: dense().kernel.initializer,
    "`name` must be passed": lambda: Named()(tf.ones([1, 2])),
    "attribute 'add_update'": lambda: Updated()(tf.ones([1, 2])),
    "attribute 'updates'": lambda: layers.BatchNormalization().updates,
    "attribute 'get_updates_for'": lambda: layers.Dense(1).get_updates_for(None),
    "keyword argument 'inputs'": lambda: Penalized()(tf.ones([1, 2])),
    "'pool_size'": lambda: layers.AveragePooling2D(),
    "attribute '_keras_shape'": lambda: tf.keras.Input([2])._keras_shape,
    "attribute 'layer'": lambda: tf.keras.Input([2])._keras_history.layer,
    "is not connected to": look_inside,
    "attribute 'get_output_at'": lambda: dense().get_output_at(1),
    "times in the model": add_twins,
    "attribute 'inbound_nodes'": lambda: dense().inbound_nodes,
    "argument 'states'": lambda: layers.LSTM(2).reset_states(states=[]),
    "argument 'name'": lambda: Bare.from_config({"name": "a"}),
    "missing 2 required": lambda: Bare.from_config({}),
    "must have rank": lambda: tf.keras.losses.SparseCategoricalCrossentropy()(
        tf.zeros([2, 5]), tf.ones([2, 3])
    ),
    "'reset_states'": lambda: tf.keras.Sequential([layers.Dense(1)]).reset_states(),
}
