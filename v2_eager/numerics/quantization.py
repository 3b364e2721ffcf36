"""Fake quantization as `tf.contrib.quantize` inserted it: ranges that follow the data.

    quantize = MovingAverageQuantize("hidden/act_quant", low=0.0)
    y = quantize(x)    # rounded to 256 levels; updates min and max
    y = quantize(x, is_training=False)

Follows `quant_ops.py` of 1.15.5's `tensorflow/contrib/quantize/python`.
"""

import tensorflow as tf

from v2_eager.numerics.averages import assign_debiased_average
from v2_eager.numerics.norms import in_phase

__all__ = [
    "LastValueQuantize",
    "MovingAverageQuantize",
]


class LastValueQuantize(tf.Module):
    """Fake-quantizes between the minimum and maximum of the last input, as for weights.

    It rounds to 2 ** bits levels.

    Args:
        name: prefix of the names of the variables `min` and `max`.
        bits: 2 to 8.
        narrow_range: whether the lowest level is not used, as for weights.
        symmetric: whether minimum and maximum are made symmetric around 0.
        low, high: initial minimum and maximum.
    """

    def __init__(
        self, name, bits=8, narrow_range=False, symmetric=False, low=-6.0, high=6.0
    ):
        super().__init__()
        self.bits, self.narrow_range = bits, narrow_range
        self.symmetric = symmetric
        self.low = tf.Variable(low, False, name=f"{name}/min")
        self.high = tf.Variable(high, False, name=f"{name}/max")

    def __call__(self, x, is_training=True):
        """Quantizes x; gradients pass for values in the range.

        Args:
            x: float32 tensor.
            is_training: bool or bool tensor, whether to update the range with x first.

        Returns:
            Tensor of the shape and dtype of x.
        """

        def follow(training):
            if training:
                self.follow(*self.ends(x))

        in_phase(follow, is_training)
        return tf.quantization.fake_quant_with_min_max_vars(
            x, self.low, self.high, self.bits, self.narrow_range
        )

    def ends(self, x):
        """Computes the range of x, extended to contain 0."""
        low, high = tf.reduce_min(x), tf.reduce_max(x)
        if not self.symmetric:
            return tf.minimum(low, 0), tf.maximum(high, 0)
        levels = 2**self.bits
        ratio = -1.0 if self.narrow_range else -(levels - 2) / levels
        return tf.minimum(low, high / ratio), tf.maximum(high, low * ratio)

    def follow(self, low, high):
        """Sets the range."""
        self.low.assign(low)
        self.high.assign(high)


class MovingAverageQuantize(LastValueQuantize):
    """Fake-quantizes between moving averages of min and max, as for activations.

    The averages are corrected for bias: after one step they equal the minimum and the
    maximum of its input, whatever their initial values were.

    Args:
        name: see `LastValueQuantize`.
        decay: share of the averages that each step keeps.
        **options: see `LastValueQuantize`.
    """

    def __init__(self, name, decay=0.999, **options):
        super().__init__(name, **options)
        self.decay = decay
        self.averages = [
            [
                tf.Variable(0.0, False, name=f"{name}/{name}/{end}/{part}")
                for part in ("biased", "local_step")
            ]
            for end in ("min", "max")  # v1 entered the scope twice
        ]

    def follow(self, low, high):
        for variable, average, end in zip(
            (self.low, self.high), self.averages, (low, high)
        ):
            assign_debiased_average(variable, *average, end, self.decay)
