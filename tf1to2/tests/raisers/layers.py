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


ERRORS = {
    "`name` must be passed": lambda: Named()(tf.ones([1, 2])),
    "attribute 'add_update'": lambda: Updated()(tf.ones([1, 2])),
    "attribute 'updates'": lambda: layers.BatchNormalization().updates,
    "attribute 'get_updates_for'": lambda: layers.Dense(1).get_updates_for(None),
    "keyword argument 'inputs'": lambda: Penalized()(tf.ones([1, 2])),
    "'pool_size'": lambda: layers.AveragePooling2D(),
    "'reset_states'": lambda: tf.keras.Sequential([layers.Dense(1)]).reset_states(),
}
