"""Custom layers: weights by keywords, inner layers that are built in `build`, masks."""

import functools

import tensorflow as tf


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Attention(tf.keras.layers.Layer):
    """Additive attention: each decoded step weighs the encoded steps.

    scores[b, d, e] = tanh(encoded[b, e] @ w + decoded[b, d] @ u) @ v; the output is
    softmax(scores) @ encoded, [batch, decoded steps, features], with the shares
    softmax(scores), [batch, decoded steps, encoded steps].
    `keras.layers.AdditiveAttention` has no products with `w` and `u`.

    Its call takes [encoded, decoded]: [batch, steps, features] and [batch, steps,
    units] floats.

    `keras.layers.Attention` scores by products of queries and keys.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def build(self, input_shape):
        features, units = [shape[-1] for shape in input_shape]
        weight = functools.partial(self.add_weight, initializer="uniform")
        self.w = weight(shape=[features, features], name="w")
        self.u = weight(shape=[units, features], name="u")
        self.v = weight(shape=[features, 1], name="v")

    def call(self, inputs):
        # All steps at once: no step needs the result of another.
        encoded, decoded = inputs
        keys, queries = encoded @ self.w, decoded @ self.u
        scores = tf.tanh(keys[:, tf.newaxis] + queries[:, :, tf.newaxis]) @ self.v
        shares = tf.nn.softmax(tf.squeeze(scores, -1))
        return shares @ encoded, shares


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Residual(tf.keras.layers.Layer):
    """Residual block of two dense layers: x + narrow(relu(widen(x))).

    Args:
        units: int, the size of the layer `widen`; `narrow` has the size of x, which is
            [..., features] floats.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        dense, kept = tf.keras.layers.Dense, {"dtype": self.dtype_policy}
        self.widen = dense(self.units, activation="relu", name="widen", **kept)
        self.narrow = dense(input_shape[-1], name="narrow", **kept)
        # A layer that is loaded from a file is built without a call.
        self.widen.build(input_shape)
        self.narrow.build(self.widen.compute_output_shape(input_shape))

    def call(self, x):
        return x + self.narrow(self.widen(x))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Likeness(tf.keras.layers.Layer):
    """Compares two sequences by the dot product of their means, [batch, 1].

    A mean is over the steps that the mask keeps. Its call takes two [batch, steps,
    size] floats with a mask each, [batch, steps] bools, such as an `Embedding` with
    `mask_zero` attaches. It passes no mask on.

    Args:
        **kwargs: arguments of `keras.layers.Layer`.
    """

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
    """RNN cell that also reads a constant context at each step.

    h = tanh(x @ kernel + h @ recurrent + context @ context kernel). The context is its
    second state, [batch, size], which it returns unchanged: pass it as the second
    element of the RNN's `initial_state`.

    Args:
        units: int, the size of h and of the output.
        size: int, the size of the context.
        **kwargs: arguments of `keras.layers.Layer`.
    """

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

    def get_config(self):
        units, size = self.state_size
        return {**super().get_config(), "units": units, "size": size}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Clustering(tf.keras.layers.Layer):
    """Assigns rows softly to trained cluster centers by Student's t: DEC.

    q[i, j] is (1 + |x[i] - clusters[j]| ** 2 / alpha) ** -((alpha + 1) / 2), divided by
    its sum over j: [batch, features] floats become [batch, count] shares.

    Args:
        count: int, the number of clusters.
        alpha: float above 0, the degrees of freedom.
        **kwargs: arguments of `keras.layers.Layer`.
    """

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

    def get_config(self):
        return {**super().get_config(), "count": self.count, "alpha": self.alpha}
