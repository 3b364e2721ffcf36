"""Custom Keras 3 layers, callbacks, optimizers and constraints."""

import tensorflow as tf

from v2_eager.gradients import reverse_gradient
from v2_eager.keras_optimizers import RowsSummed


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Between(tf.keras.constraints.Constraint):
    """Clips weights to [low, high].

    Args:
        low, high: numbers, the limits of the weights after each step.
    """

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __call__(self, w):
        return tf.clip_by_value(w, self.low, self.high)

    def get_config(self):
        return {"low": self.low, "high": self.high}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class SpectralDense(tf.keras.layers.Dense):
    """A dense layer with spectral normalization: one power iteration step per call.

    A call takes one step of the power iteration from the weight `u`, [1, units], and
    divides the kernel by sigma = v @ kernel @ transpose(u); in training it keeps the
    new u. The gradient does not go through u and v.
    `keras.layers.SpectralNormalization` changes the kernel itself in each call in
    training.

    Args:
        units: int, the size of the output: [batch, features] become [batch, units].
        **kwargs: arguments of `keras.layers.Dense`. There is always a bias.
    """

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

    # Dense saves its kernel and bias alone, so `u` would be lost.
    def save_own_variables(self, store):
        tf.keras.layers.Layer.save_own_variables(self, store)

    def load_own_variables(self, store):
        tf.keras.layers.Layer.load_own_variables(self, store)


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Reversal(tf.keras.layers.Layer):
    """Returns its inputs, and multiplies the gradient by -strength.

    Args:
        strength: float, the factor of the reversed gradient.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def __init__(self, strength, **kwargs):
        super().__init__(**kwargs)
        self.strength = strength

    def call(self, x):
        return reverse_gradient(x, self.strength)

    def get_config(self):
        return {**super().get_config(), "strength": self.strength}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Scaled(tf.keras.layers.Layer):
    """Scales vectors of the last axis to length 1, times a weight per channel.

    x / |x| * gamma with gamma, [channels], as in SSD for its lowest features.

    Args:
        scale: float or [channels] list, the initial value of gamma.
        **kwargs: arguments of `keras.layers.Layer`.
    """

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
    """Batch renormalization, as in `tf.layers.batch_normalization(renorm=True)`.

    In training x is normalized by the batch, then multiplied by r and shifted by d,
    which correct the batch's deviation and mean towards the moving statistics:
    r = clip(deviation / moving deviation), d = clip((mean - moving mean) / moving
    deviation). No gradient goes through r and d. Otherwise x is normalized by the
    moving statistics. The weights are gamma, beta, moving_mean, moving_variance,
    moving_stddev, renorm_mean and renorm_stddev, [channels] each.

    Args:
        clipping: dict of floats: "rmin" and "rmax" limit r, "dmax" limits |d|.
        momentum: float in [0, 1], how much of the moving statistics a step keeps.
        epsilon: float, added to the variance.
        **kwargs: arguments of `keras.layers.Layer`.
    """

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
        """Returns a batch's correction (r, d) towards the moving deviation and mean."""
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
    """Raises the learning rate with every batch, for a number of epochs: warm-up.

    rate * min(batches seen / (epochs * batches of an epoch), 1). A second `fit`
    continues to count.

    Args:
        rate: the learning rate after the warm-up.
        epochs: number of epochs of the warm-up.

    Raises:
        ValueError: in `fit`: there are several steps per execution, of which a callback
            sees only one batch, or the data have no length.
    """

    def __init__(self, rate, epochs):
        super().__init__()
        self.rate, self.epochs, self.seen = rate, epochs, 0

    def on_train_begin(self, logs=None):
        if self.model.steps_per_execution != 1:
            raise ValueError(
                "steps_per_execution must be 1: each step has its own rate"
            )
        if self.params["steps"] is None:
            raise ValueError("the data have no length: pass steps_per_epoch")

    def on_train_batch_begin(self, batch, logs=None):
        self.seen += 1
        share = self.seen / (self.epochs * self.params["steps"])
        self.model.optimizer.learning_rate = self.rate * min(share, 1.0)


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class ByLayer(RowsSummed, tf.keras.optimizers.SGD):
    """Gradient descent whose learning rate is multiplied by a factor of the layer.

    A weight has the factor of the innermost layer in its path that is in `shares`.

    Args:
        learning_rate: float, or a schedule of Keras.
        shares: {name of a layer: float, the factor of its learning rate}.
        **options: arguments of `RowsSummed` and `keras.optimizers.SGD`.

    Raises:
        ValueError: in `build`, if no layer in the path of a weight is in `shares`.
    """

    def __init__(self, learning_rate, shares, **options):
        super().__init__(learning_rate, **options)
        self.shares = shares

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        self.of_variables = [self.share(variable.path) for variable in variables]

    def share(self, path):
        """Returns the factor of the learning rate of a weight.

        Args:
            path: path of the weight, such as "model/block/dense/kernel".
        """
        layers = reversed(path.split("/")[:-1])
        share = next((self.shares[n] for n in layers if n in self.shares), None)
        if share is None:
            raise ValueError(f"shares has no layer of {path}, only {[*self.shares]}")
        return share

    def update_step(self, gradient, variable, learning_rate):
        share = self.of_variables[self._get_variable_index(variable)]
        super().update_step(gradient, variable, learning_rate * share)

    def get_config(self):
        return {**super().get_config(), "shares": dict(self.shares)}


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Summing(tf.keras.layers.Layer):
    """RNN cell whose output is the sum of its state, [batch, 1].

    h = tanh(x @ kernel + h @ recurrent), [batch, units].

    Args:
        units: int, the size of the state.
        **kwargs: arguments of `keras.layers.Layer`.
    """

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

    def get_config(self):
        return {**super().get_config(), "units": self.state_size}


class Confusion(tf.keras.callbacks.Callback):
    """Computes a confusion matrix after each epoch.

    Args:
        x: [rows, features] array to predict.
        labels: [rows] int array of classes.
        classes: number of classes.

    Attributes:
        counts: list of [classes, classes] int32 arrays, one for each epoch; a row is a
            label, a column a prediction.
    """

    def __init__(self, x, labels, classes):
        super().__init__()
        self.x, self.labels, self.classes, self.counts = x, labels, classes, []

    def on_epoch_end(self, epoch, logs=None):
        found = self.model.predict(self.x, verbose=0).argmax(axis=-1)
        counts = tf.math.confusion_matrix(self.labels, found, self.classes)
        self.counts.append(counts.numpy())


@tf.keras.utils.register_keras_serializable("tensorflow_1")
class Tied(tf.keras.layers.Layer):
    """A dense layer that uses the transposed kernel of another layer.

    x @ transpose(tied_to.kernel) + bias, [batch, features of the other layer]. A saved
    model contains the kernel once, and both layers share it when it is loaded.

    Args:
        tied_to: the other `keras.layers.Dense`, which is built before this layer.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def __init__(self, tied_to, **kwargs):
        super().__init__(**kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        size = self.tied_to.kernel.shape[0]
        self.bias = self.add_weight(shape=[size], initializer="zeros", name="bias")

    def call(self, x):
        return x @ tf.transpose(self.tied_to.kernel) + self.bias

    def get_config(self):
        tied_to = tf.keras.utils.serialize_keras_object(self.tied_to)
        return {**super().get_config(), "tied_to": tied_to}

    @classmethod
    def from_config(cls, config):
        tied_to = tf.keras.utils.deserialize_keras_object(config["tied_to"])
        return cls(**{**config, "tied_to": tied_to})
