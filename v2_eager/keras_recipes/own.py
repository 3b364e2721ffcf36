"""Layers, callbacks and the like of one's own, as Keras 3 has them made."""

import tensorflow as tf

from v2_eager.gradients import reverse_gradient


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Between(tf.keras.constraints.Constraint):
    """Keeps numbers between two others."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __call__(self, w):
        return tf.clip_by_value(w, self.low, self.high)

    def get_config(self):
        return {"low": self.low, "high": self.high}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class SpectralDense(tf.keras.layers.Dense):
    """A dense layer whose kernel is divided by about its largest singular value."""

    def build(self, input_shape):
        super().build(input_shape)
        self.u = self.add_weight(shape=[1, self.units], trainable=False, name="u")

    def call(self, x, training=None):
        kernel = tf.convert_to_tensor(self.kernel)
        v = tf.math.l2_normalize(self.u @ tf.transpose(kernel))
        u = tf.math.l2_normalize(v @ kernel)
        u, v = tf.stop_gradient(u), tf.stop_gradient(v)
        sigma = tf.reduce_sum((v @ kernel) * u)
        if training:
            self.u.assign(u)
        return self.activation(x @ (kernel / sigma) + self.bias)

    # Dense writes its kernel and bias to a file, and no third weight.
    def save_own_variables(self, store):
        tf.keras.layers.Layer.save_own_variables(self, store)

    def load_own_variables(self, store):
        tf.keras.layers.Layer.load_own_variables(self, store)


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Reversal(tf.keras.layers.Layer):
    """Hands on what it gets, and the gradient the other way round."""

    def __init__(self, strength, **kwargs):
        super().__init__(**kwargs)
        self.strength = strength

    def call(self, x):
        return reverse_gradient(x, self.strength)

    def get_config(self):
        return {**super().get_config(), "strength": self.strength}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Scaled(tf.keras.layers.Layer):
    """Vectors of length one, times a trained number for each channel."""

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def build(self, input_shape):
        initializer = tf.keras.initializers.Constant(self.scale)
        self.gamma = self.add_weight(
            shape=input_shape[-1:], initializer=initializer, name="gamma"
        )

    def call(self, x):
        return tf.math.l2_normalize(x, axis=-1) * self.gamma

    def get_config(self):
        return {**super().get_config(), "scale": self.scale}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Renormalization(tf.keras.layers.Layer):
    """Batch normalization that leads a batch to those before it, within limits."""

    def __init__(self, clipping, momentum=0.99, epsilon=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.clipping, self.momentum, self.epsilon = clipping, momentum, epsilon

    def build(self, input_shape):
        def weight(name, initializer, trainable=False):
            kind = {"initializer": initializer, "trainable": trainable, "name": name}
            return self.add_weight(shape=input_shape[-1:], **kind)

        self.gamma = weight("gamma", "ones", True)
        self.beta = weight("beta", "zeros", True)
        self.moving_mean = weight("moving_mean", "zeros")
        self.moving_variance = weight("moving_variance", "ones")
        self.moving_stddev = weight("moving_stddev", "ones")
        self.renorm_mean = weight("renorm_mean", "zeros")
        self.renorm_stddev = weight("renorm_stddev", "ones")

    def call(self, x, training=None):
        mean, variance, scale = self.moving_mean, self.moving_variance, self.gamma
        offset = tf.convert_to_tensor(self.beta)
        if training:
            mean, variance = tf.nn.moments(x, list(range(len(x.shape) - 1)))
            deviation = tf.sqrt(variance + self.epsilon)
            r, d = self.correction(mean, deviation)
            scale, offset = r * self.gamma, d * self.gamma + offset
            for kind in ("moving", "renorm"):
                self.follow(getattr(self, f"{kind}_mean"), mean)
                self.follow(getattr(self, f"{kind}_stddev"), deviation)
            moving = tf.square(self.moving_stddev) - self.epsilon
            self.moving_variance.assign(tf.nn.relu(moving))
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, self.epsilon)

    def correction(self, mean, deviation):
        """(r, d): x * r + d is led to the mean and deviation of the batches before."""
        low, high, far = (self.clipping[key] for key in ("rmin", "rmax", "dmax"))
        least = tf.sqrt(tf.constant(self.epsilon, mean.dtype))
        before = tf.maximum(self.renorm_stddev, least)
        r = tf.clip_by_value(deviation / before, low, high)
        d = tf.clip_by_value((mean - self.renorm_mean) / before, -far, far)
        return tf.stop_gradient(r), tf.stop_gradient(d)

    def follow(self, moving, value):
        moving.assign_sub((moving - value) * (1.0 - self.momentum))

    def get_config(self):
        names = "clipping", "momentum", "epsilon"
        return super().get_config() | {name: getattr(self, name) for name in names}


class WarmUp(tf.keras.callbacks.Callback):
    """Lets the rate rise with every batch, until so many epochs are over."""

    def __init__(self, rate, epochs):
        super().__init__()
        self.rate, self.epochs, self.seen = rate, epochs, 0

    def on_train_batch_begin(self, batch, logs=None):
        self.seen += 1
        share = self.seen / (self.epochs * self.params["steps"])
        self.model.optimizer.learning_rate = self.rate * min(share, 1.0)


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class ByLayer(tf.keras.optimizers.SGD):
    """Gradient descent at a rate that is multiplied by a number of the layer's."""

    def __init__(self, learning_rate, shares, **options):
        super().__init__(learning_rate, **options)
        self.shares = shares

    def build(self, variables):
        super().build(variables)
        names = [variable.path.split("/")[-2] for variable in variables]
        self.of_variables = [self.shares[name] for name in names]

    def update_step(self, gradient, variable, learning_rate):
        share = self.of_variables[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * share)

    def get_config(self):
        return {**super().get_config(), "shares": self.shares}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Summing(tf.keras.layers.Layer):
    """A cell that puts out the sum of its state."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.state_size, self.output_size = units, 1

    def build(self, input_shape):
        shape = [input_shape[-1], self.state_size]
        self.kernel = self.add_weight(shape=shape, name="kernel")
        self.recurrent = self.add_weight(shape=[self.state_size] * 2, name="recurrent")

    def call(self, inputs, states):
        h = tf.tanh(inputs @ self.kernel + states[0] @ self.recurrent)
        return tf.reduce_sum(h, axis=-1, keepdims=True), [h]


class Confusion(tf.keras.callbacks.Callback):
    """Counts after each epoch which class was taken for which."""

    def __init__(self, x, labels, classes):
        super().__init__()
        self.x, self.labels, self.classes, self.counts = x, labels, classes, []

    def on_epoch_end(self, epoch, logs=None):
        found = self.model.predict(self.x, verbose=0).argmax(axis=-1)
        counts = tf.math.confusion_matrix(self.labels, found, self.classes)
        self.counts.append(counts.numpy())


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Tied(tf.keras.layers.Layer):
    """A dense layer whose kernel is that of another one, transposed."""

    def __init__(self, tied_to, **kwargs):
        super().__init__(**kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        size = self.tied_to.kernel.shape[0]
        self.bias = self.add_weight(shape=[size], initializer="zeros", name="bias")

    def call(self, x):
        return x @ tf.transpose(self.tied_to.kernel) + self.bias
