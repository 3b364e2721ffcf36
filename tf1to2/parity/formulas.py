"""Replaces kernels that lack float64 by formulas, to run programs in float64.

`FusedBatchNorm` is such a kernel. Most image models of TensorFlow 1 call it without
naming it: `tf.layers.batch_normalization` and slim use it for four dimensions. Both
sides then compute the same formula in float64, which shows every difference except the
kernel's rounding; the comparison in float32 as given shows that. This module also runs
on Python 3.7.
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
"""{Python function: (raw op, number of tensors that it keeps for its gradient)}."""


@contextlib.contextmanager
def in_float64():
    """Patches the kernels in `KERNELS`, so that float64 calls use a formula."""
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
        """Computes the kernel of TensorFlow 1.15, tensorflow/core/kernels/
        fused_batch_norm_op.cc: the returned variance is unbiased, but the one in the
        division is not, and only y has gradients."""
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
            if share == 1.0:  # the former moments may be empty
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
