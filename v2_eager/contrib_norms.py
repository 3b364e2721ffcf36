"""`tf.contrib.layers`: `batch_norm`, `layer_norm`, `instance_norm`, `group_norm`."""

import functools
import math

import numpy as np
import tensorflow as tf

from v2_eager.numerics import norms, optimizers
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.layers import Conv2D, FullyConnected
from v2_eager.numerics.restore import named

__all__ = [
    "make_batch_norm",
    "moving_variance",
    "make_critic",
    "make_normalized",
    "make_layer_norm",
    "make_instance_norm",
    "make_group_norm",
    "train",
]


def make_batch_norm(
    decay=0.999,
    center=True,
    scale=False,
    epsilon=0.001,
    activation=None,
    fused=None,
    zero_debias=False,
    name="net",
):
    """Makes batch normalization; each training call updates the moving statistics.

    Returns an `Activated`; see the class.
    """
    norm = ContribBatchNorm(
        decay,
        center,
        scale,
        epsilon,
        fused,
        zero_debias_moving_mean=zero_debias,
        name=f"{name}/BatchNorm",
    )
    return Activated(norm, activation)


class Activated(tf.Module):
    """Applies a layer, and then an activation function of `tf.nn`, if any.

    A call passes all its arguments to the layer.

    Args:
        layer: callable from x and further arguments to a tensor.
        activation: name of a function of `tf.nn`, or None.
    """

    def __init__(self, layer, activation):
        super().__init__()
        self.layer = layer
        self.activation = getattr(tf.nn, activation) if activation else tf.identity

    def __call__(self, x, *options):
        return self.activation(self.layer(x, *options))


def moving_variance(batches, decay=0.999, fused=None):
    """Returns the moving variance of batch normalization after each batch."""
    # --- build
    spec = tf.TensorSpec([None, *batches[0].shape[1:]], batches[0].dtype)
    norm = ContribBatchNorm(decay, fused=fused, name="norm")
    norm.build(spec.shape[-1], spec.dtype)
    update = tf.function(norm, input_signature=[spec])
    # --- run
    found = []
    for batch in batches:
        update(tf.constant(batch))
        found.append(norm.moving_variance.numpy())
    return found


def make_critic(units, decay=0.999, name="critic"):
    """Makes a GAN critic that scores the real batch first, then the generated one.

    Returns a `Critic`; see the class.
    """
    return Critic(units, decay, name)


class Critic(tf.Module):
    """A GAN critic that scores the real batch first, then the generated one.

    A call takes two [batch, features] float32 tensors and returns their scores, [batch,
    1] each. It updates the moving statistics twice, in this order.

    Args:
        units: size of the hidden layer, whose output is normalized.
        decay: share of the moving statistics that an update keeps.
        name: scope of the variables `hidden/weights`, `hidden/BatchNorm/…`,
            `score/weights` and `score/biases`.
    """

    def __init__(self, units, decay, name):
        super().__init__()
        self.hidden = FullyConnected(
            f"{name}/hidden",
            units,
            normalizer=in_place(decay, f"{name}/hidden/BatchNorm"),
        )
        self.score = FullyConnected(f"{name}/score", 1, None)

    def __call__(self, real, generated):
        # The lines run in order, also in a tf.function, without a control dependency.
        first = self.score(self.hidden(real))
        return first, self.score(self.hidden(generated))


def in_place(decay, name):
    """Makes a batch norm that rounds as contrib's `updates_collections=None` does."""
    return ContribBatchNorm(decay, updates_collections=None, name=name)


def make_normalized(filters, units, decay=0.999, name="net"):
    """Makes a convolution and a dense layer with batch norm in place of biases.

    Returns a `Normalized`; see the class.
    """
    return Normalized(filters, units, decay, name)


class Normalized(tf.Module):
    """A convolution and a dense layer, each with batch norm in place of biases.

    A call takes x, [batch, height, width, channels] float32, and `is_training`, a bool.
    It returns [batch, units], after ReLU. Height, width and channels must be known.

    Args:
        filters: number of channels of the 3 x 3 convolution.
        units: size of the output.
        decay: share of the moving statistics that an update keeps.
        name: scope of the variables `conv/weights`, `conv/BatchNorm/…`,
            `scores/weights` and `scores/BatchNorm/…`.
    """

    def __init__(self, filters, units, decay, name):
        super().__init__()
        conv, scores = f"{name}/conv", f"{name}/scores"
        norms = [in_place(decay, f"{path}/BatchNorm") for path in (conv, scores)]
        self.conv = Conv2D(conv, filters, 3, normalizer=norms[0])
        self.scores = FullyConnected(scores, units, normalizer=norms[1])

    def __call__(self, x, is_training):
        x = self.conv(x, is_training=is_training)
        x = tf.reshape(x, [-1, math.prod(x.shape[1:])])
        return self.scores(x, is_training=is_training)


def make_layer_norm(
    begin_norm_axis=1,
    begin_params_axis=-1,
    center=True,
    scale=True,
    activation=None,
    name="net",
):
    """Makes layer normalization over all axes of an example, not only the last one.

    Returns an `Activated`; see the class.
    """
    norm = norms.LayerNorm(
        begin_norm_axis, begin_params_axis, center, scale, f"{name}/LayerNorm"
    )
    return Activated(norm, activation)


def make_instance_norm(center=True, scale=True, epsilon=1e-6, name="net"):
    """Makes instance normalization: over space, for each example and channel.

    Returns a `norms.InstanceNorm`; see the class.
    """
    return norms.InstanceNorm(center, scale, epsilon, f"{name}/InstanceNorm")


def make_group_norm(
    groups=32,
    channels_axis=-1,
    reduction_axes=(-3, -2),
    center=True,
    scale=True,
    epsilon=1e-6,
    name="net",
):
    """Makes group normalization: over space and the channels of each group.

    Returns a `norms.GroupNorm`; see the class.
    """
    path = f"{name}/GroupNorm"
    return norms.GroupNorm(
        groups, channels_axis, reduction_axes, center, scale, epsilon, path
    )


def train(x, y, start, steps, rate, options=()):
    """Trains a classifier with batch normalization, as `optimize_loss` does."""
    options = dict(options)
    x, y = tf.constant(x), tf.constant(y, tf.int64)
    # --- loss
    model = Classifier(*start["scores/weights"].shape, options.get("fused"))
    model.build(x.shape[1], x.dtype)
    for name, value in start.items():
        named(model)[name].assign(value)

    def loss():
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
        return tf.reduce_mean(losses)

    # --- step
    minimize = OptimizeLoss(model.trainable_variables, rate, options)
    step = tf.function(lambda: minimize(loss))
    # --- run
    losses, found = [], {}
    for _ in range(steps):
        value, written = step()
        losses.append(value.numpy())
        for tag, scalar in written.items():
            found.setdefault(tag, []).append(np.float32(scalar))
    variables = {**named(model), **minimize.named()}
    return {
        "losses": np.stack(losses),
        "summaries": {tag: np.stack(values) for tag, values in found.items()},
        "variables": {name: v.numpy() for name, v in variables.items()},
    }


class Classifier(tf.Module):
    """A hidden layer with contrib's batch norm and ReLU, then the logits.

    A call takes x, [n, features] floats, and returns the logits, [n, classes]. Each
    call is in training mode: it updates the moving statistics.

    Args:
        units: size of the hidden layer.
        classes: number of the logits.
        fused: see `ContribBatchNorm`; False for float64.
    """

    def __init__(self, units, classes, fused):
        super().__init__()
        norm = ContribBatchNorm(0.9, fused=fused, name="hidden/BatchNorm")
        self.hidden = FullyConnected("hidden", units, normalizer=norm)
        self.scores = FullyConnected("scores", classes, None)

    def build(self, features, dtype):
        self.hidden.build(features, dtype)
        self.hidden.normalizer.build(self.hidden.units, dtype)
        self.scores.build(self.hidden.units, dtype)

    def __call__(self, x):
        return self.scores(self.hidden(x))


OPTIMIZERS = {
    "SGD": optimizers.GradientDescent,
    "Momentum": functools.partial(optimizers.Momentum, momentum=0.9),
    "Adam": optimizers.Adam,
    "Adagrad": optimizers.Adagrad,
    "RMSProp": optimizers.RMSProp,
    "Ftrl": optimizers.Ftrl,
}


class OptimizeLoss(tf.Module):
    """Takes steps as `optimize_loss` does: decayed rate, multipliers, then clipping.

    Args:
        variables: list of variables to train.
        rate: learning rate, a float. It becomes a variable, as in 1.15, and so it is
            saved in a checkpoint.
        options: see `train`.
    """

    def __init__(self, variables, rate, options):
        super().__init__()
        clip, kind = options.get("clip_gradients"), options.get("optimizer", "SGD")
        if not isinstance(rate, float) or rate < 0:
            raise ValueError(f"Invalid learning_rate {rate}: pass a float >= 0")
        if kind not in OPTIMIZERS:
            raise ValueError(
                f"Optimizer name should be one of {sorted(OPTIMIZERS)}, not {kind!r}"
            )
        if clip is not None and not isinstance(clip, float):
            raise ValueError(
                f"Unknown type {type(clip)} for clip_gradients: pass a float"
            )
        self.clip, self.decay, self.trained = clip, options.get("decay"), variables
        self.multipliers = options.get("multipliers", {})
        self.rate = tf.Variable(rate, trainable=False, name="learning_rate")
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        made = OPTIMIZERS[kind](self.current_rate)
        self.optimizer = made.create_slots(variables)

    def current_rate(self):
        if self.decay is None:
            return tf.convert_to_tensor(self.rate)
        schedule = tf.keras.optimizers.schedules.ExponentialDecay
        return schedule(tf.convert_to_tensor(self.rate), *self.decay)(self.global_step)

    def __call__(self, loss):
        """Takes a step; returns (the loss before it, {summary tag: value})."""
        value, pairs = self.optimizer.differentiate(loss, self.trained)
        gradients = [self.multiplied(gradient, v) for gradient, v in pairs]
        written = {"global_norm/gradient_norm": tf.linalg.global_norm(gradients)}
        if self.decay is not None:
            # "_1", because the variable has the name without it.
            written["learning_rate_1"] = self.current_rate()
        if self.clip is not None:
            gradients, _ = tf.clip_by_global_norm(gradients, self.clip)
            norm = tf.linalg.global_norm(gradients)
            written["global_norm/clipped_gradient_norm"] = norm
        self.optimizer.apply_gradients(zip(gradients, self.trained), self.global_step)
        written["loss"] = value
        return value, {f"OptimizeLoss/{tag}": x for tag, x in written.items()}

    def multiplied(self, gradient, variable):
        """Multiplies a dense or sparse gradient by its variable's factor, if any."""
        factor = self.multipliers.get(variable.name[:-2])
        if factor is None or gradient is None:
            return gradient
        return tf.math.scalar_mul(factor, gradient)

    def named(self):
        """Returns {name in a checkpoint: variable} of the rate, step and optimizer."""
        kept = named(self.optimizer, self.rate)
        return {
            "global_step": self.global_step,
            **{f"OptimizeLoss/{name}": v for name, v in kept.items()},
        }
