"""Layers of Keras 3, called as those of TensorFlow 1 were."""

import tensorflow as tf

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


def function_of_keras():
    import keras

    return keras.backend.function


def dense():
    layer = layers.Dense(2)
    layer.build([None, 2])
    return layer


def watch_input():
    with tf.GradientTape() as tape:
        tape.watch(tf.keras.Input([2]))


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
SINCE = {"`name` must be passed": "keras>=3.14"}
WORDLESS = {"could not find node key": "keras<3.14"}  # a bare AssertionError there
ERRORS = {
    "`output_signature` must": fit_generator(([ROW, ROW], LABEL)),
    "the generator must": fit_generator([ROW, LABEL]),
    "for Python generator": fit_generator((ROW, LABEL), class_weight={0: 1.0}),
    "_tf_keras.keras.backend' has": lambda: K.learning_phase(),
    "module 'keras.backend'": function_of_keras,
    "from 'tensorflow.keras.backend'": session_of_backend,
    "attribute 'name'": lambda: K.set_value(dense().bias, [1.0, 2.0]),
    "attribute '_is_ref_dtype'": lambda: K.update_add(dense().bias, tf.ones([2])),
    "attribute 'base_dtype'": lambda: K.mean(tf.keras.Input([2])),
    "'_make_predict_function'": lambda: tf.keras.Sequential()._make_predict_function(),
    "'total_loss'": lambda: tf.keras.Sequential().total_loss,
    "of type 'KerasTensor'": watch_input,
    "attribute 'initializer'": lambda: dense().kernel.initializer,
    "`name` must be passed": lambda: Named()(tf.ones([1, 2])),
    "attribute 'add_update'": lambda: Updated()(tf.ones([1, 2])),
    "attribute 'updates'": lambda: layers.BatchNormalization().updates,
    "attribute 'get_updates_for'": lambda: layers.Dense(1).get_updates_for(None),
    "keyword argument 'inputs'": lambda: Penalized()(tf.ones([1, 2])),
    "'pool_size'": lambda: layers.AveragePooling2D(),
    "'reset_states'": lambda: tf.keras.Sequential([layers.Dense(1)]).reset_states(),
}
