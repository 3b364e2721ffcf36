"""Kernels that have no float64, computed by their formulas where a program is widened.

`FusedBatchNorm` is one: most image models of TensorFlow 1 call it without a word of it,
since `tf.layers.batch_normalization` and slim do for four dimensions. Both sides then
compute the same formula in float64, which shows everything but the kernel's rounding;
that shows in float32 as given. This module also runs on Python 3.7.
"""

import collections
import contextlib
from unittest import mock

import tensorflow as tf

KERNELS = {
    "_fused_batch_norm": ("FusedBatchNorm", 2),
    "fused_batch_norm_v2": ("FusedBatchNormV2", 2),
    "fused_batch_norm_v3": ("FusedBatchNormV3", 3),
}
"""{what Python calls: (the raw op, how many tensors it keeps for its gradient)}."""


@contextlib.contextmanager
def in_float64():
    """Calls of the kernels with float64 are computed by formula; all others as ever."""
    from tensorflow.python.ops import gen_nn_ops

    with contextlib.ExitStack() as stack:
        for name, (raw, kept) in KERNELS.items():
            for module, known in ((gen_nn_ops, name), (tf.raw_ops, raw)):
                if hasattr(module, known):
                    wide = _fused_batch_norm(getattr(module, known), kept)
                    stack.enter_context(mock.patch.object(module, known, wide))
        yield


def _fused_batch_norm(kernel, kept):
    names = "y batch_mean batch_variance".split()
    answer = collections.namedtuple(
        "FusedBatchNorm", names + ["reserve_space_%d" % (i + 1) for i in range(kept)]
    )

    def call(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=0.0001,
        data_format="NHWC",
        is_training=True,
        exponential_avg_factor=1.0,
        name=None,
    ):
        """As the kernel of TensorFlow 1.15, tensorflow/core/kernels/
        fused_batch_norm_op.cc: the variance that it returns is unbiased, the one that
        it divides by is not, and gradients pass through y alone."""
        x = tf.convert_to_tensor(x)
        if x.dtype.name != "float64":
            more = {"exponential_avg_factor": exponential_avg_factor}
            return kernel(
                x=x,
                scale=scale,
                offset=offset,
                mean=mean,
                variance=variance,
                epsilon=epsilon,
                data_format=data_format,
                is_training=is_training,
                name=name,
                **(more if exponential_avg_factor != 1.0 else {}),
            )
        channels = data_format.index("C")
        axes = [axis for axis in range(len(data_format)) if axis != channels]
        along = [-1 if axis == channels else 1 for axis in range(len(data_format))]
        centre, spread = mean, variance
        if is_training:
            rows = tf.cast(tf.size(x) // tf.shape(x)[channels], x.dtype)
            centre = tf.reduce_mean(x, axes)
            far = tf.math.squared_difference(x, tf.reshape(centre, along))
            spread = tf.reduce_mean(far, axes)
            unbiased = spread * (rows / tf.maximum(rows - 1, 1))
            share = exponential_avg_factor
            if share == 1.0:  # there may be no former ones
                mean, variance = centre, unbiased
            else:
                mean = (1 - share) * mean + share * centre
                variance = (1 - share) * variance + share * unbiased
        factor = tf.math.rsqrt(spread + tf.constant(epsilon, x.dtype)) * scale
        y = (x - tf.reshape(centre, along)) * tf.reshape(factor, along)
        y += tf.reshape(offset, along)
        told = [tf.stop_gradient(tf.convert_to_tensor(t)) for t in (mean, variance)]
        return answer(y, *told, *([told[0]] * kept))

    return call
