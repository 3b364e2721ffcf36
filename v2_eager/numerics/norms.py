"""Layer, instance and group normalization of `tf.contrib.layers`.

    norm = LayerNorm(name="block/LayerNorm")
    y = norm(x)

Keras' layers have other default axes and epsilons, and round in another order.
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
    """The base class of norms: the variables `beta` (offset) and `gamma` (factor).

    Args:
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        name: prefix of the names of the variables.
    """

    def __init__(self, center, scale, name):
        super().__init__()
        self.center, self.scale, self.path = center, scale, name
        self.beta = self.gamma = None

    @property
    def built(self):
        """Whether the variables exist."""
        return not (
            (self.center and self.beta is None) or (self.scale and self.gamma is None)
        )

    def build(self, shape, dtype):
        """Makes the variables once."""
        if None in shape:
            raise ValueError(
                f"the last dimensions (beta and gamma) must be defined: {shape}"
            )
        zeros, ones = tf.zeros(shape, dtype), tf.ones(shape, dtype)
        with tf.name_scope(""):  # an outer scope does not change the names
            if self.center and self.beta is None:
                self.beta = tf.Variable(zeros, name=f"{self.path}/beta")
            if self.scale and self.gamma is None:
                self.gamma = tf.Variable(ones, name=f"{self.path}/gamma")


def ranked(x):
    """Converts x to a tensor, and returns it with its rank.

    Args:
        x: tensor, or a value that can be converted to one.

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
    """Calls a layer in training or inference mode, given as a bool or a bool tensor.

    With a tensor, one trace contains both modes, in a `tf.cond`, as `smart_cond` of
    TensorFlow 1 did for a placeholder.

    Args:
        call: function of a Python bool; it makes no variables.
        phase: Python bool, or a bool or integer scalar tensor.

    Returns:
        The result of `call`.
    """
    if not tf.is_tensor(phase):
        return call(phase)
    phase = tf.cast(phase, tf.bool)
    return tf.cond(phase, lambda: call(True), lambda: call(False))


class LayerNorm(Norm):
    """`tf.contrib.layers.layer_norm`: normalizes each example over all its axes.

    By default it normalizes over all axes but the first, where Keras takes the last
    axis only. beta and gamma have the size of the last axis. epsilon is 1e-12, for
    float16 1e-3. Ba, Kiros and Hinton, 2016.

    Args:
        begin_norm_axis: first of the axes to normalize over; may be negative.
        begin_params_axis: first of the axes of beta and gamma; may be negative.
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
            ValueError: the rank is unknown, an axis is out of range, or the axes of
                beta and gamma have unknown sizes.
        """
        x, rank = ranked(x)
        if max(self.begin_norm_axis, self.begin_params_axis) >= rank:
            raise ValueError(
                "begin_norm_axis and begin_params_axis must be < rank(inputs), which "
                f"is {rank}"
            )
        if self.begin_norm_axis < -rank:
            raise ValueError(
                f"begin_norm_axis must be >= {-rank}, which is -rank(inputs)"
            )
        self.build(x.shape[self.begin_params_axis :], x.dtype)
        axes = list(range(self.begin_norm_axis % rank, rank))
        return layer_normalized(x, axes, self.beta, self.gamma)


def layer_normalized(x, axes, beta, gamma):
    """Subtracts the mean over axes, and divides by the standard deviation.

        (x - mean) / sqrt(variance + epsilon) * gamma + beta

    with an epsilon of 1e-12, for float16 1e-3.

    Args:
        x: float tensor.
        axes: list of the axes to normalize over.
        beta: offset that broadcasts to x, or None.
        gamma: factor that broadcasts to x, or None.

    Returns:
        Tensor of the shape and dtype of x.
    """
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    epsilon = 1e-3 if x.dtype == tf.float16 else 1e-12
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)


class InstanceNorm(Norm):
    """`tf.contrib.layers.instance_norm`: normalizes each channel of each example.

    It normalizes over all axes but the first, the examples, and the last, the channels.
    Ulyanov, Vedaldi and Lempitsky, 2016.

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
            ValueError: the rank or the number of channels is unknown.
        """
        x, rank = ranked(x)
        self.build(x.shape[-1:], x.dtype)
        axes = list(range(1, rank - 1))
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        return tf.nn.batch_normalization(
            x, mean, variance, self.beta, self.gamma, self.epsilon
        )


class GroupNorm(Norm):
    """`tf.contrib.layers.group_norm`: normalizes groups of channels of each example.

    Wu and He, 2018.

    Args:
        groups: number of groups; it must divide the number of channels.
        channels_axis: axis of the channels.
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
            ValueError: the rank is unknown; the number of channels is unknown, less
                than the number of groups, or not a multiple of it; an axis is out of
                range or of unknown size; the channels' axis is one of `reduction_axes`.
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
        # v1 multiplied -mean by gain, then by gamma. tf.nn.batch_normalization rounds
        # differently: it multiplies gain by gamma first.
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
        """Returns (channels' axis, reduction axes) as numbers that are not negative."""
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
            raise ValueError(
                "the dimensions of channels_axis and reduction_axes must be defined: "
                f"{shape}"
            )
        if place in axes:
            raise ValueError(
                "reduction_axes must be mutually exclusive with channels_axis"
            )
        if self.groups > channels:
            raise ValueError(f"Invalid groups {self.groups} for {channels} channels.")
        if channels % self.groups:
            raise ValueError(
                f"{channels} channels is not commensurate with {self.groups} groups."
            )
        return place, axes
