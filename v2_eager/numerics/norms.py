"""Normalization of single examples, as `tf.contrib.layers` had it.

    norm = LayerNorm(name="block/LayerNorm")
    y = norm(x)

Keras' layers have other axes by default, other epsilons, and round in another order.
Follows `tensorflow/contrib/layers/python/layers/layers.py` and `normalization.py` of
1.15.5. The first call makes the variables `beta` and `gamma`.
"""

import tensorflow as tf

__all__ = [
    "LayerNorm",
    "InstanceNorm",
    "GroupNorm",
]


class Norm(tf.Module):
    """What the norms share: an offset and a factor.

    Args:
        center: whether there is `beta`.
        scale: whether there is `gamma`.
        name: what the names of the variables begin with.
    """

    def __init__(self, center, scale, name):
        super().__init__()
        self.center, self.scale, self.path = center, scale, name
        self.beta = self.gamma = None

    @property
    def built(self):
        """Whether it has its variables."""
        return not (
            (self.center and self.beta is None) or (self.scale and self.gamma is None)
        )

    def build(self, shape, dtype):
        """Makes the variables, once."""
        if None in shape:
            raise ValueError(f"the last dimensions, of beta, must be defined: {shape}")
        zeros, ones = tf.zeros(shape, dtype), tf.ones(shape, dtype)
        with tf.name_scope(""):  # an outer scope is no part of the names
            if self.center and self.beta is None:
                self.beta = tf.Variable(zeros, name=f"{self.path}/beta")
            if self.scale and self.gamma is None:
                self.gamma = tf.Variable(ones, name=f"{self.path}/gamma")


def ranked(x):
    """x as a tensor, and its rank.

    Args:
        x: tensor, or what can be made one.

    Returns:
        (tensor, rank).

    Raises:
        ValueError: the rank is unknown.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank is None:
        raise ValueError(f"the inputs have an undefined rank: {x}")
    return x, x.shape.rank


def in_phase(call, phase):
    """Calls a layer for training or for inference, as a bool or a bool tensor says.

    A tensor puts both into one trace, by `tf.cond`, as `smart_cond` of TensorFlow 1 did
    for a placeholder.

    Args:
        call: function of a Python bool, which makes no variables.
        phase: Python bool, or a bool or integer scalar tensor.

    Returns:
        What `call` returns.
    """
    if not tf.is_tensor(phase):
        return call(phase)
    phase = tf.cast(phase, tf.bool)
    return tf.cond(phase, lambda: call(True), lambda: call(False))


class LayerNorm(Norm):
    """`tf.contrib.layers.layer_norm` (Ba, Kiros and Hinton, 2016).

    By default over all axes but the first, where Keras takes the last alone, with a
    variable for the last; epsilon is 1e-12, of float16 1e-3.

    Args:
        begin_norm_axis: first of the axes to normalize over; may be negative.
        begin_params_axis: first of the axes that beta and gamma have; likewise.
        center, scale, name: see `Norm`.
    """

    def __init__(
        self,
        begin_norm_axis=1,
        begin_params_axis=-1,
        center=True,
        scale=True,
        name="LayerNorm",
    ):
        super().__init__(center, scale, name)
        self.begin_norm_axis = begin_norm_axis
        self.begin_params_axis = begin_params_axis

    def __call__(self, x):
        """Normalizes a float tensor of two or more dimensions.

        Raises:
            ValueError: an unknown rank, an axis that there is not, or unknown sizes of
                the axes that beta and gamma have.
        """
        x, rank = ranked(x)
        if max(self.begin_norm_axis, self.begin_params_axis) >= rank:
            raise ValueError(f"the axes must be < rank(inputs), which is {rank}")
        if self.begin_norm_axis < -rank:
            raise ValueError(f"begin_norm_axis must be >= {-rank}, minus the rank")
        self.build(x.shape[self.begin_params_axis :], x.dtype)
        axes = list(range(self.begin_norm_axis % rank, rank))
        return layer_normalized(x, axes, self.beta, self.gamma)


def layer_normalized(x, axes, beta, gamma):
    """Subtracts the mean over axes, and divides by the root of the variance.

        (x - mean) / sqrt(variance + epsilon) * gamma + beta

    with an epsilon of 1e-12, of float16 1e-3.

    Args:
        x: float tensor.
        axes: list of the axes to normalize over.
        beta: offset that broadcasts to x, or None.
        gamma: factor that broadcasts to x, or None.

    Returns:
        Tensor like x.
    """
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    epsilon = 1e-3 if x.dtype == tf.float16 else 1e-12
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)


class InstanceNorm(Norm):
    """`tf.contrib.layers.instance_norm` (Ulyanov, Vedaldi and Lempitsky, 2016).

    Over all axes but the first and the last, which are the examples and the channels.

    Args:
        epsilon: added to the variance.
        center, scale, name: see `Norm`.
    """

    def __init__(self, center=True, scale=True, epsilon=1e-6, name="InstanceNorm"):
        super().__init__(center, scale, name)
        self.epsilon = epsilon

    def __call__(self, x):
        """Normalizes a [batch, …, channels] float tensor.

        Raises:
            ValueError: an unknown rank, or unknown channels.
        """
        x, rank = ranked(x)
        self.build(x.shape[-1:], x.dtype)
        axes = list(range(1, rank - 1))
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        return tf.nn.batch_normalization(
            x, mean, variance, self.beta, self.gamma, self.epsilon
        )


class GroupNorm(Norm):
    """`tf.contrib.layers.group_norm` (Wu and He, 2018).

    Args:
        groups: how many; the channels are a multiple of it.
        channels_axis: where the channels are.
        reduction_axes: the other axes to normalize over.
        epsilon: added to the variance.
        center, scale, name: see `Norm`.
    """

    def __init__(
        self,
        groups=32,
        channels_axis=-1,
        reduction_axes=(-3, -2),
        center=True,
        scale=True,
        epsilon=1e-6,
        name="GroupNorm",
    ):
        super().__init__(center, scale, name)
        self.groups, self.epsilon = groups, epsilon
        self.channels_axis, self.reduction_axes = channels_axis, reduction_axes

    def __call__(self, x):
        """Normalizes a float tensor.

        Raises:
            ValueError: an unknown rank; a number of channels that is unknown, less than
                the groups or no multiple of them; axes that there are not, that of the
                channels among the others, or unknown sizes.
        """
        x, rank = ranked(x)
        place, axes = self.places(x.shape)
        channels = x.shape[place]
        self.build([channels], x.dtype)
        # --- groups
        shape = tf.shape(x)
        groups = [self.groups, channels // self.groups]
        grouped = tf.concat([shape[:place], groups, shape[place + 1 :]], 0)
        x = tf.reshape(x, grouped)
        # --- normalize
        axes = [place + 1, *(axis + (axis > place) for axis in axes)]
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        # Not by tf.nn.batch_normalization: the mean is not subtracted, but scaled.
        gain = tf.math.rsqrt(variance + self.epsilon)
        offset = -mean * gain
        ones = [1] * (rank - place - 1)
        if self.scale:
            gamma = tf.reshape(self.gamma, [*groups, *ones])
            gain, offset = gain * gamma, offset * gamma
        if self.center:
            offset += tf.reshape(self.beta, [*groups, *ones])
        return tf.reshape(x * gain + offset, shape)

    def places(self, shape):
        """The axes of a shape, none negative: (that of the channels, the others)."""
        rank = shape.rank
        if rank is None:
            raise ValueError("the rank of the input must be known")
        for axis in (self.channels_axis, *self.reduction_axes):
            if not -rank <= axis < rank:
                raise ValueError(f"Axis is out of bounds: {axis}")
        place = self.channels_axis % rank
        axes = [axis % rank for axis in self.reduction_axes]
        channels = shape[place]
        if None in [channels, *(shape[axis] for axis in axes)]:
            raise ValueError(f"undefined channel dimension or undefined axes: {shape}")
        if place in axes:
            raise ValueError("the axes must be mutually exclusive with channels_axis")
        if self.groups > channels:
            raise ValueError(f"Invalid groups {self.groups} for {channels} channels.")
        if channels % self.groups:
            raise ValueError(
                f"{channels} channels is not commensurate with {self.groups} groups."
            )
        return place, axes
