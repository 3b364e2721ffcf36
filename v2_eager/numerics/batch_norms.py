"""Batch normalization of `tf.layers` and of `tf.contrib.layers` (slim).

    norm = BatchNorm(name="conv/batch_normalization")
    y = norm(x, training=True)    # also updates the moving statistics

Keras' layer rounds in another order, and with the fused kernel its moving variance
follows another variance. Under a strategy, call `build` in the strategy's scope: each
replica updates its own statistics, and outside of `strategy.run` their value is the
mean over the replicas.
Follows `tensorflow/python/keras/layers/normalization.py` and
`tensorflow/contrib/layers/python/layers/layers.py` of 1.15.5; channels are last.
"""

import tensorflow as tf

from v2_eager.numerics.averages import (
    assign_debiased_average,
    assign_moving_average,
    variable_of_replicas,
)
from v2_eager.numerics.norms import in_phase, ranked

__all__ = [
    "BatchNorm",
    "ContribBatchNorm",
]


class BatchNorm(tf.Module):
    """`tf.layers.batch_normalization`; a training call updates the moving statistics.

    Args:
        momentum: share of the moving statistics that an update keeps.
        epsilon: added to the variance; the fused kernel uses at least 1.001e-5.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        fused: whether to use the fused kernel if x has four dimensions; then the moving
            variance follows the unbiased variance. None, as in v1, means True.
        update: whether a training call updates the moving statistics. In v1 they were
            updated only if the program ran the ops in the collection `UPDATE_OPS`.
        name: prefix of the names of the variables `gamma`, `beta`, `moving_mean`,
            `moving_variance`.
    """

    def __init__(
        self,
        momentum=0.99,
        epsilon=0.001,
        center=True,
        scale=True,
        fused=None,
        update=True,
        name="batch_normalization",
    ):
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale = center, scale
        self.fused, self.update, self.path = fused is not False, update, name
        self.gamma = self.beta = self.moving_mean = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.moving_mean is not None

    def build(self, channels, dtype):
        """Makes the variables once; for 16-bit inputs they are float32."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension (channels) must be defined")
        dtype = tf.float32 if dtype.size == 2 else dtype

        zeros, ones = tf.zeros([channels], dtype), tf.ones([channels], dtype)
        path = self.path
        with tf.name_scope(""):  # an outer scope does not change the names
            if self.scale:
                self.gamma = tf.Variable(ones, name=f"{path}/gamma")
            if self.center:
                self.beta = tf.Variable(zeros, name=f"{path}/beta")
            self.moving_mean = variable_of_replicas(zeros, f"{path}/moving_mean")
            self.moving_variance = variable_of_replicas(ones, f"{path}/moving_variance")

    def __call__(self, x, training):
        """Normalizes x by its batch statistics or by the moving statistics.

        Args:
            x: [..., channels] float tensor.
            training: bool; True: use the batch's mean and variance, False: use the
                moving statistics. A `tf.function` makes one trace for each Python bool;
                with a bool tensor, one trace contains both.

        Returns:
            Tensor of the shape and dtype of x.

        Raises:
            ValueError: the rank or the number of channels is unknown.
            TypeError: the fused kernel is used with float64.
        """
        x, rank = ranked(x)
        self.build(x.shape[-1], x.dtype)
        if tf.is_tensor(training):
            return in_phase(lambda phase: self(x, phase), training)
        # --- normalize
        fused = self.fused and rank == 4
        normalize = self.normalize_fused if fused else self.normalize
        y, mean, variance = normalize(x, training)
        # --- update
        if training and self.update:
            # v1 used float32 for every dtype of x; the fused path rounds elsewhere.
            momentum = tf.constant(self.momentum) if fused else self.momentum
            assign_moving_average(self.moving_mean, mean, momentum)
            assign_moving_average(self.moving_variance, variance, momentum)
        return y

    def normalize(self, x, training):
        mean, variance = self.moving_mean, self.moving_variance
        if training:
            # As tf.nn.moments, plus an identity: x gets three gradients, and their sum
            # has v1's bits only if the gradient of the mean is added last.
            wide = tf.cast(x, mean.dtype)
            axes = list(range(x.shape.rank - 1))
            mean = tf.reduce_mean(wide, axes)
            x, wide = (tf.identity(x),) * 2 if wide is x else (x, wide)
            squares = tf.math.squared_difference(wide, tf.stop_gradient(mean))
            variance = tf.reduce_mean(squares, axes)
        numbers = mean, variance, self.beta, self.gamma
        numbers = [n if n is None else tf.cast(n, x.dtype) for n in numbers]
        y = tf.nn.batch_normalization(x, *numbers, self.epsilon)
        return y, mean, variance

    def normalize_fused(self, x, training):
        """Normalizes with the fused kernel, which returns the unbiased variance."""
        ones, zeros = tf.ones_like(self.moving_mean), tf.zeros_like(self.moving_mean)
        # The public tf.nn.moments and tf.nn.batch_normalization would round differently
        # and give the biased variance.
        return tf.raw_ops.FusedBatchNormV3(
            x=x,
            scale=ones if self.gamma is None else self.gamma,
            offset=zeros if self.beta is None else self.beta,
            mean=[] if training else self.moving_mean,
            variance=[] if training else self.moving_variance,
            epsilon=max(self.epsilon, 1.001e-5),  # 1.15 did the same
            is_training=training,
        )[:3]


class ContribBatchNorm(BatchNorm):
    """`tf.contrib.layers.batch_norm`, which is also `slim.batch_norm`.

    By default the fused kernel normalizes matrices, too; it does not support float64.
    With that kernel the moving variance follows the unbiased variance.

    Args:
        decay: share of the moving statistics that an update keeps.
        center, scale, epsilon, update: see `BatchNorm`; by default there is no gamma.
        fused: whether to use the fused kernel if x has two or four dimensions; None
            means True.
        updates_collections: "update_ops", v1's default, or any other value, with which
            v1 rounded 1 - decay differently. None made v1 update in place; here every
            value does.
        zero_debias_moving_mean: whether to divide the moving mean by 1 - decay ** n.
        name: prefix of the names of the variables.
    """

    def __init__(
        self,
        decay=0.999,
        center=True,
        scale=False,
        epsilon=0.001,
        fused=None,
        updates_collections="update_ops",
        zero_debias_moving_mean=False,
        update=True,
        name="BatchNorm",
    ):
        super().__init__(decay, epsilon, center, scale, fused, update, name)
        self.collected = updates_collections == "update_ops"
        self.zero_debias = zero_debias_moving_mean

    def build(self, channels, dtype):
        """Makes the variables once; for 16-bit inputs they are float32."""
        if self.built:
            return
        super().build(channels, dtype)
        if self.zero_debias:
            path = f"{self.path}/{self.path}/moving_mean"  # v1 entered the scope twice
            with tf.name_scope(""):
                self.biased, self.local_step = [
                    variable_of_replicas(tf.zeros_like(like), f"{path}/{name}")
                    for name, like in (
                        ("biased", self.moving_mean),
                        ("local_step", self.moving_mean[0]),
                    )
                ]

    def __call__(self, x, is_training=True):
        """Normalizes; see `BatchNorm.__call__`."""
        x, rank = ranked(x)
        self.build(x.shape[-1], x.dtype)
        if tf.is_tensor(is_training):
            return in_phase(lambda phase: self(x, phase), is_training)
        flat = self.fused and rank == 2
        if self.collected and not (self.zero_debias or flat):
            return super().__call__(x, is_training)
        # --- normalize
        if flat:
            image = tf.reshape(x, [-1, 1, 1, x.shape[-1]])
            y, mean, variance = self.normalize_fused(image, is_training)
            y = tf.reshape(y, tf.shape(x))
        else:
            fused = self.fused and rank == 4
            normalize = self.normalize_fused if fused else self.normalize
            y, mean, variance = normalize(x, is_training)
        # --- update
        if is_training and self.update:
            if self.zero_debias:
                places = self.moving_mean, self.biased, self.local_step
                assign_debiased_average(*places, mean, self.momentum)
            else:
                assign_moving_average(self.moving_mean, mean, self.momentum)
            assign_moving_average(self.moving_variance, variance, self.momentum)
        return y
