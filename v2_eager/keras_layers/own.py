"""Layers of one's own: weights by keywords, inner layers that are built, masks."""

import functools

import tensorflow as tf


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Attention(tf.keras.layers.Layer):
    def build(self, input_shape):
        features, units = [shape[-1] for shape in input_shape]
        weight = functools.partial(self.add_weight, initializer="uniform")
        self.w = weight(shape=[features, features], name="w")
        self.u = weight(shape=[units, features], name="u")
        self.v = weight(shape=[features, 1], name="v")

    def call(self, inputs):
        # All steps at once: none of them needs another one's.
        encoded, decoded = inputs
        keys, queries = encoded @ self.w, decoded @ self.u
        scores = tf.tanh(keys[:, tf.newaxis] + queries[:, :, tf.newaxis]) @ self.v
        shares = tf.nn.softmax(tf.squeeze(scores, -1))
        return shares @ encoded, shares


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Residual(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.widen = tf.keras.layers.Dense(self.units, activation="relu", name="widen")
        self.narrow = tf.keras.layers.Dense(input_shape[-1], name="narrow")
        # A layer that is loaded from a file is built, and not called.
        self.widen.build(input_shape)
        self.narrow.build(self.widen.compute_output_shape(input_shape))

    def call(self, x):
        return x + self.narrow(self.widen(x))


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Likeness(tf.keras.layers.Layer):
    def call(self, inputs, mask=None):
        means = []
        for words, kept in zip(inputs, mask, strict=True):
            kept = tf.cast(kept, words.dtype)[:, :, tf.newaxis]
            total = tf.reduce_sum(words * kept, axis=1)
            means.append(total / tf.reduce_sum(kept, axis=1))
        return tf.reduce_sum(means[0] * means[1], axis=-1, keepdims=True)

    def compute_mask(self, inputs, mask=None):
        return None


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Conditioned(tf.keras.layers.Layer):
    """A cell whose second state is the context, which stays as it was given."""

    def __init__(self, units, size, **kwargs):
        super().__init__(**kwargs)
        self.state_size = [units, size]

    def build(self, input_shape):
        units, size = self.state_size
        self.kernel = self.add_weight(shape=[input_shape[-1], units], name="kernel")
        self.recurrent = self.add_weight(shape=[units, units], name="recurrent")
        self.context = self.add_weight(shape=[size, units], name="context")

    def call(self, inputs, states):
        state, context = states
        summed = inputs @ self.kernel + state @ self.recurrent
        h = tf.tanh(summed + context @ self.context)
        return h, [h, context]


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Clustering(tf.keras.layers.Layer):
    def __init__(self, count, alpha, **kwargs):
        super().__init__(**kwargs)
        self.count, self.alpha = count, alpha

    def build(self, input_shape):
        shape = [self.count, input_shape[-1]]
        self.clusters = self.add_weight(
            shape=shape, initializer="glorot_uniform", name="clusters"
        )

    def call(self, x):
        squared = tf.reduce_sum(tf.square(x[:, tf.newaxis] - self.clusters), axis=2)
        near = 1.0 / (1.0 + squared / self.alpha)
        near **= (self.alpha + 1.0) / 2.0
        return near / tf.reduce_sum(near, axis=1, keepdims=True)
