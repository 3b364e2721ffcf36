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
    """Makes a batch normalization, whose updates are collected and run.

    Args:
        decay: share of the moving statistics that an update keeps.
        center: whether there is `beta`.
        scale: whether there is `gamma`.
        epsilon: added to the variance.
        activation: name of a function of `tf.nn`, or None.
        fused: False: not by the kernel that takes matrices and images, in float32.
        zero_debias: whether the moving mean is divided by 1 - decay ** updates.
        name: scope of the variables `BatchNorm/beta`, `BatchNorm/gamma`,
            `BatchNorm/moving_mean` and `BatchNorm/moving_variance`.

    Returns:
        Callable from a [..., channels] float tensor and `is_training`, a bool, to a
        tensor of the same shape.

    Raises:
        TypeError: of the callable: float64, and not `fused=False`.
        ValueError: of the callable: unknown channels.
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
    """A layer, and the function of `tf.nn` that is applied to its output, or None."""

    def __init__(self, layer, activation):
        super().__init__()
        self.layer = layer
        self.activation = getattr(tf.nn, activation) if activation else tf.identity

    def __call__(self, x, *options):
        return self.activation(self.layer(x, *options))


def moving_variance(batches, decay=0.999, fused=None):
    """Follows the variance that inference will divide by, batch after batch.

    Args:
        batches: list of [n, …, channels] float32 arrays; n may vary.
        decay: share of it that an update keeps.
        fused: False: not by the kernel, and of float64, too.

    Returns:
        List of [channels] arrays, `norm/moving_variance` after each batch.
    """
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
    """Makes a critic that is asked twice: what is real first, what is generated then.

    Args:
        units: size of the layer whose output is normalized.
        decay: share of the moving statistics that an update keeps.
        name: scope of the variables `hidden/weights`, `hidden/BatchNorm/…`,
            `score/weights` and `score/biases`.

    Returns:
        Callable from two [batch, features] float32 tensors to the [batch, 1] scores of
        both. Each call moves the moving statistics twice.
    """
    return Critic(units, decay, name)


class Critic(tf.Module):
    def __init__(self, units, decay, name):
        super().__init__()
        self.hidden = FullyConnected(
            f"{name}/hidden",
            units,
            normalizer=in_place(decay, f"{name}/hidden/BatchNorm"),
        )
        self.score = FullyConnected(f"{name}/score", 1, None)

    def __call__(self, real, generated):
        # In the order of the lines, in a tf.function, too: no control dependency.
        first = self.score(self.hidden(real))
        return first, self.score(self.hidden(generated))


def in_place(decay, name):
    """A batch norm that rounds as it did with `updates_collections=None`."""
    return ContribBatchNorm(decay, updates_collections=None, name=name)


def make_normalized(filters, units, decay=0.999, name="net"):
    """Makes a convolution and a dense layer, each with `normalizer_fn` and no biases.

    Args:
        filters: number of channels.
        units: size of the output.
        decay: share of the moving statistics that an update keeps.
        name: scope of the variables `conv/weights`, `conv/BatchNorm/beta`, …, and
            `scores/weights`, `scores/BatchNorm/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float32 tensor and
        `is_training`, a bool, to [batch, units], after ReLU, too.
    """
    return Normalized(filters, units, decay, name)


class Normalized(tf.Module):
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
    """Makes layer normalization, over all axes of an example and not just the last.

    Args:
        begin_norm_axis: first of the axes to normalize over; may be negative.
        begin_params_axis: first of the axes that beta and gamma have; likewise.
        center: whether there is `beta`.
        scale: whether there is `gamma`.
        activation: name of a function of `tf.nn`, or None.
        name: scope of the variables `LayerNorm/beta` and `LayerNorm/gamma`.

    Returns:
        Callable from a [batch, …] float tensor to one of the same shape.

    Raises:
        ValueError: of the callable: an axis that there is not, or unknown sizes of the
            axes that beta and gamma have.
    """
    norm = norms.LayerNorm(
        begin_norm_axis, begin_params_axis, center, scale, f"{name}/LayerNorm"
    )
    return Activated(norm, activation)


def make_instance_norm(center=True, scale=True, epsilon=1e-6, name="net"):
    """Makes instance normalization: over space, each example and channel on its own.

    Args:
        center: whether there is `beta`.
        scale: whether there is `gamma`.
        epsilon: added to the variance.
        name: scope of the variables `InstanceNorm/beta` and `InstanceNorm/gamma`.

    Returns:
        Callable from a [batch, …, channels] float tensor to one of the same shape.

    Raises:
        ValueError: of the callable: unknown channels.
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
    """Makes group normalization: over space and the channels of a group.

    Args:
        groups: how many.
        channels_axis: where the channels are.
        reduction_axes: the other axes to normalize over.
        center: whether there is `beta`.
        scale: whether there is `gamma`.
        epsilon: added to the variance.
        name: scope of the variables `GroupNorm/beta` and `GroupNorm/gamma`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor, or whatever the
        axes say, to one of the same shape.

    Raises:
        ValueError: of the callable: a number of channels that is unknown, less than the
            groups or no multiple of them; axes that are the same, or unknown sizes.
    """
    path = f"{name}/GroupNorm"
    return norms.GroupNorm(
        groups, channels_axis, reduction_axes, center, scale, epsilon, path
    )


def train(x, y, start, steps, rate, options=()):
    """Trains a classifier by `optimize_loss`, which runs the updates that it finds.

    Args:
        x: [n, features] float array; of float64, the option `fused` must be False.
        y: [n] int array of classes.
        start: {"hidden/weights": [features, units] array, "hidden/BatchNorm/beta":
            [units] array, "scores/weights": [units, classes] array, "scores/biases":
            [classes] array}, of the dtype of x.
        steps: how many steps to take, all on the same rows.
        rate: learning rate, a float.
        options: dict with, of these: `fused`, of the batch norm; `optimizer`, "SGD"
            (the default), "Momentum" (of 0.9), "Adam", "Adagrad", "RMSProp" or "Ftrl";
            `clip_gradients`, a norm, a float; `decay`, (steps, factor) of an
            exponential decay; `multipliers`, {name of a variable: factor of its
            gradient}.

    Returns:
        dict with the `losses` before every step, the `summaries` by tag, [steps]
        arrays, and the `variables` in the end by their names in a checkpoint.

    Raises:
        ValueError: a rate below 0, a norm that is no float, another optimizer.
    """
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
    """A step as `optimize_loss` took it: decayed rate, multipliers, then the clip.

    Args:
        variables: list of variables to move.
        rate: learning rate, a float, which was a variable, and in the checkpoint.
        options: see `train`.
    """

    def __init__(self, variables, rate, options):
        super().__init__()
        clip, kind = options.get("clip_gradients"), options.get("optimizer", "SGD")
        if not isinstance(rate, float) or rate < 0:
            raise ValueError(f"Invalid learning_rate {rate}: a float, and not below 0")
        if kind not in OPTIMIZERS:
            raise ValueError(
                f"Optimizer name should be one of {sorted(OPTIMIZERS)}, not {kind!r}"
            )
        if clip is not None and not isinstance(clip, float):
            raise ValueError(f"Unknown type {type(clip)} for clip_gradients: a float")
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
        """Takes a step: (the loss before it, {tag: what was summarized})."""
        value, pairs = self.optimizer.differentiate(loss, self.trained)
        gradients = [self.multiplied(gradient, v) for gradient, v in pairs]
        written = {"global_norm/gradient_norm": tf.linalg.global_norm(gradients)}
        if self.decay is not None:
            # _1, as the variable has the name.
            written["learning_rate_1"] = self.current_rate()
        if self.clip is not None:
            gradients, _ = tf.clip_by_global_norm(gradients, self.clip)
            norm = tf.linalg.global_norm(gradients)
            written["global_norm/clipped_gradient_norm"] = norm
        self.optimizer.apply_gradients(zip(gradients, self.trained), self.global_step)
        written["loss"] = value
        return value, {f"OptimizeLoss/{tag}": x for tag, x in written.items()}

    def multiplied(self, gradient, variable):
        """A gradient, dense or of rows, times what is given for its variable."""
        factor = self.multipliers.get(variable.name[:-2])
        if factor is None or gradient is None:
            return gradient
        return tf.math.scalar_mul(factor, gradient)

    def named(self):
        """What a checkpoint has besides the model, by name."""
        kept = named(self.optimizer, self.rate)
        return {
            "global_step": self.global_step,
            **{f"OptimizeLoss/{name}": v for name, v in kept.items()},
        }
