"""`slim.arg_scope`, `slim.conv2d`, `slim.losses`, collections → arguments, dicts."""

import functools
import re

import tensorflow as tf

from v2_eager.numerics import losses
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.layers import (
    Conv2D,
    Conv2DTranspose,
    FullyConnected,
    SeparableConv2D,
)
from v2_eager.numerics.restore import named

__all__ = [
    "make_network",
    "make_separable_conv2d",
    "make_conv2d_transpose",
    "find_variables",
    "compute_weighted_loss",
    "cross_entropies",
    "errors",
    "total_loss",
]


def make_network(filters, classes, scale, decay=0.9, fused=None, name="net"):
    """Makes a network whose layers get arguments from two nested `arg_scope`s.

    Returns a `Network`; see the class.
    """
    return Network(filters, classes, scale, decay, fused, name)


class Network(tf.Module):
    """A network whose layers get arguments from two nested `arg_scope`s.

    `arg_scope` becomes `functools.partial`. A call takes x, [batch, height, width,
    channels] floats, and `is_training`, a bool. It returns the logits, [batch,
    classes], the end points, {name: tensor}, and the list of penalties.

    Args:
        filters: number of channels of the first layer; the next two layers have twice
            as many.
        classes: number of the logits.
        scale: weight of an l2 penalty on all weights.
        decay: share of the moving statistics that an update keeps.
        fused: `fused` of the batch norms; must be False for float64.
        name: scope of the variables `conv1/weights`, `conv1/BatchNorm/beta`, …
    """

    def __init__(self, filters, classes, scale, decay, fused, name):
        super().__init__()
        self.path, self.scale = name, scale
        # --- defaults
        self.norm = functools.partial(ContribBatchNorm, decay, fused=fused)
        conv = functools.partial(self.convolution, norm_options={"epsilon": 0.01})
        valid = functools.partial(
            conv,
            padding="VALID",
            activation=tf.nn.elu,
            norm_options={"scale": True},  # replaces the other dict
        )
        # --- layers
        self.conv1 = conv("conv1", filters, 3)
        paths = "conv2/conv2_1", "conv2/conv2_2"
        self.conv2 = [valid(path, 2 * filters, 2) for path in paths]
        self.logits = valid("logits", classes, 1, activation=None, norm_options=None)

    def convolution(self, path, units, size, norm_options, **options):
        """Makes a convolution with a batch norm, or without if the options are None."""
        path = f"{self.path}/{path}"
        if norm_options is not None:
            norm = self.norm(name=f"{path}/BatchNorm", **norm_options)
            options["normalizer"] = norm
        return Conv2D(path, units, size, **options)

    def __call__(self, x, is_training):
        found = {}

        def keep(path, y):
            found[path] = y
            return y

        y = keep(self.conv1.path, self.conv1(x, is_training=is_training))
        y = keep(f"{self.path}/pool1", tf.nn.max_pool2d(y, 2, 2, "VALID"))
        for layer in self.conv2:
            y = keep(layer.path, layer(y, is_training=is_training))
        y = keep(self.logits.path, self.logits(y))
        # --- collections
        logits = tf.reduce_mean(y, [1, 2])
        found["predictions"] = tf.nn.softmax(logits)
        layers = [self.conv1, *self.conv2, self.logits]
        penalties = [self.scale * tf.nn.l2_loss(layer.weights) for layer in layers]
        return logits, found, penalties


def make_separable_conv2d(
    units, size, stride=1, multiplier=1, rate=1, decay=None, fused=None, name="net"
):
    """Makes a separable convolution (depthwise, then pointwise) with ReLU.

    Returns a `SeparableConv2D`; see the class.
    """
    path, norm = f"{name}/SeparableConv2d", None
    if decay is not None:
        norm = ContribBatchNorm(
            decay, fused=fused, updates_collections=None, name=f"{path}/BatchNorm"
        )
    return SeparableConv2D(path, units, size, stride, multiplier, rate, normalizer=norm)


def make_conv2d_transpose(units, size, stride=1, padding="SAME", name="net"):
    """Makes a transposed convolution, which enlarges images, with ReLU.

    Returns a `Conv2DTranspose`; see the class.
    """
    return Conv2DTranspose(f"{name}/Conv2d_transpose", units, size, stride, padding)


def find_variables(scope, suffix, exclude):
    """Finds a network's variables by scope, suffix, name, kind and exclusion."""
    # --- build
    model = Tower()
    model(tf.zeros([1, 4, 4, 3]))
    global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
    seen = tf.Variable(0.0, False, name="seen")
    total = tf.Variable(0.0, False, name="total")

    # --- find
    def names(variables, question=lambda name: True):
        return sorted(filter(question, named(variables)))

    def under(path):
        # The scope is a pattern of a name's beginning: "conv1" matches "conv10/biases".
        return re.compile(path or "").match

    saved = [*model.variables, global_step, seen]
    return {
        "all": names(saved),
        "scope": names(saved, under(scope)),
        "suffix": names(saved, under(f"{scope or ''}.*{suffix}$")),
        "name": names(saved, under(f"(.*/)?{suffix}$")),
        "model": names(model.variables),
        "trainable": names(model.trainable_variables, under(scope)),
        "local": names(total),
        "restored": names(saved, lambda n: not any(under(path)(n) for path in exclude)),
    }


class Tower(tf.Module):
    """A small network with scopes that have a common prefix: "conv1" and "conv10"."""

    def __init__(self):
        super().__init__()
        norm = ContribBatchNorm(name="conv1/BatchNorm")
        self.conv1 = Conv2D("conv1", 2, 3, normalizer=norm)
        self.conv10 = Conv2D("conv10", 2, 3, trainable=False)
        self.logits = FullyConnected("logits", 5, None)
        self.logits_aux = FullyConnected("logits_aux", 5, None)
        self.temperature = tf.Variable(1.0, name="temperature")

    def __call__(self, x):
        y = tf.reshape(self.conv10(self.conv1(x)), [x.shape[0], -1])
        return self.logits(y), self.logits_aux(y)


def compute_weighted_loss(losses, weights=1.0):
    """Averages losses with weights for whole examples or for single elements.

    Raises:
        ValueError: the weights have another shape, or the rank is unknown.
    """
    values = tf.cast(losses, tf.float32)
    weights = tf.cast(weights, tf.float32)
    if None in (values.shape.rank, weights.shape.rank):
        raise ValueError("the ranks of losses and weights must be known")
    last = weights.shape[-1] if weights.shape.rank > 1 else 0
    if last is None:  # known only at run time
        loss = tf.cond(
            tf.shape(weights)[-1] == 1,
            lambda: weighted_mean(values, tf.squeeze(weights, [-1])),
            lambda: weighted_mean(values, weights),
        )
    else:
        narrow = tf.squeeze(weights, [-1]) if last == 1 else weights
        loss = weighted_mean(values, narrow)
    return tf.cast(loss, losses.dtype)


def weighted_mean(values, weights):
    """Computes the mean with weights whose shape is the beginning of the values'."""
    rank = weights.shape.rank
    # A weight applies to all elements of its part, and counts once for each of them.
    # Weights of shape [1] differ from a scalar.
    weighted = tf.reduce_sum(values, list(range(rank, values.shape.rank))) * weights
    weights = weights if rank else tf.fill(tf.shape(values)[:1], weights)
    each = tf.reduce_prod(tf.shape(values)[max(rank, 1) :])
    present = tf.math.count_nonzero(weights, dtype=tf.float32) * tf.cast(
        each, tf.float32
    )
    return tf.math.divide_no_nan(tf.reduce_sum(weighted), present)


def cross_entropies(logits, labels, weights=1.0, smoothing=0.0):
    """Computes the cross-entropies of `slim.losses`, whose first argument is logits."""
    rows = tf.one_hot(labels, logits.shape[1])

    def averaged(loss, labels, **options):
        return compute_weighted_loss(
            loss(labels, logits, reduction="none", **options), weights
        )

    return {
        "sigmoid": averaged(
            losses.sigmoid_cross_entropy, rows, label_smoothing=smoothing
        ),
        "softmax": averaged(
            losses.softmax_cross_entropy, rows, label_smoothing=smoothing
        ),
        "sparse": averaged(losses.sparse_softmax_cross_entropy, labels),
    }


def errors(predictions, labels, weights=1.0):
    """Computes the losses of `slim.losses` whose first argument is predictions.

    Args:
        weights: scalar, or [batch] or [batch, n] tensor; not used by "hinge".
            "pairwise" accepts [batch, n] only if n is the batch size.
    """

    def each(loss):
        return loss(labels, predictions, reduction="none")

    return {
        "absolute": compute_weighted_loss(each(losses.absolute_difference), weights),
        "squared": compute_weighted_loss(each(losses.mean_squared_error), weights),
        "pairwise": mean_pairwise_squared_error(predictions, labels, weights),
        "log": compute_weighted_loss(each(losses.log_loss), weights),
        "hinge": each(losses.hinge_loss),
    }


def mean_pairwise_squared_error(predictions, labels, weights):
    """Computes slim's pairwise error: divided by n ** 2, not by n * (n - 1)."""
    difference = tf.cast(predictions, tf.float32) - tf.cast(labels, tf.float32)
    weights, axis = tf.cast(weights, tf.float32), list(range(1, difference.shape.rank))
    rank = weights.shape.rank
    # Counts the present weights per example, times the elements per weight.
    present = tf.cast(tf.not_equal(weights, 0), tf.float32)
    present = tf.reduce_sum(present, list(range(1, rank)))
    each = tf.reduce_prod(tf.shape(difference)[max(rank, 1) :])
    n = present * tf.cast(each, tf.float32)
    squares = tf.reduce_sum(tf.square(difference), axis)
    square = tf.square(tf.reduce_sum(difference, axis))
    found = 2.0 * tf.math.divide_no_nan(squares, n)
    found -= 2.0 * tf.math.divide_no_nan(square, tf.square(n))
    if not rank:  # a scalar weight multiplies the sum
        found = tf.reduce_sum(found)
    return tf.reduce_sum(found * weights)


def total_loss(logits, labels, kernel, scale):
    """Sums the losses and penalties in the collections of `slim.losses`."""

    @tf.function
    def find(logits, labels, kernel):
        # --- add
        data = [
            losses.sparse_softmax_cross_entropy(labels, logits),
            losses.sparse_softmax_cross_entropy(labels, logits, 0.5),
            tf.reduce_max(tf.abs(logits)),
        ]
        penalties = [scale * tf.nn.l2_loss(kernel)]
        # --- sum
        return {
            "losses": data,
            "penalties": penalties,
            "total": tf.add_n(data + penalties),
            "data": tf.add_n(data),
        }

    # --- run
    found = find(tf.constant(logits), tf.constant(labels), tf.constant(kernel))
    return tf.nest.map_structure(lambda loss: loss.numpy(), found)
