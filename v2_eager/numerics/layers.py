"""The layers of `tf.contrib.layers`, which are slim's: ReLU, SAME, xavier's weights.

    hidden = FullyConnected("hidden", 128)
    scores = FullyConnected("scores", 10, activation=None)
    logits = scores(hidden(x))

Variables have the names of checkpoints, `hidden/weights`, `hidden/biases`. Follows
`tensorflow/contrib/layers/python/layers/layers.py` of 1.15.5; channels are last.
"""

import tensorflow as tf

from v2_eager.numerics import initializers

__all__ = [
    "FullyConnected",
    "Conv2D",
]


class Layer(tf.Module):
    """A product with weights, a normalizer or else biases, then an activation.

    The first call makes the variables, or `build`: `weights` by xavier's initializer,
    `biases` of zeros.

    Args:
        path: scope of the variables.
        units: size of the last axis of the output.
        activation: function, or None; tf.nn.relu, as in contrib, where none is given.
        normalizer: layer that takes the place of the biases, or None.
        biases: whether there are any, without a normalizer.
        seed: of the weights.
    """

    def __init__(
        self,
        path,
        units,
        activation=tf.nn.relu,
        normalizer=None,
        biases=True,
        seed=1,
    ):
        super().__init__()
        self.path, self.units, self.activation = path, units, activation
        self.normalizer, self.seed = normalizer, seed
        self.has_biases = biases and normalizer is None
        self.weights = self.biases = None

    def build(self, channels, dtype):
        """Makes the variables, once, for inputs of so many channels."""
        if self.weights is not None:
            return
        if channels is None:
            raise ValueError("the last dimension, the channels', must be defined")
        draw, shape = initializers.contrib_xavier(seed=self.seed), self.shape(channels)
        path = f"{self.path}/weights"
        self.weights = tf.Variable(lambda: draw(shape, dtype), name=path)
        if self.has_biases:
            zeros = tf.zeros([self.units], dtype)
            self.biases = tf.Variable(zeros, name=f"{self.path}/biases")

    def __call__(self, x, **options):
        """Applies the layer; the options are the normalizer's, such as is_training."""
        x = tf.convert_to_tensor(x)
        self.check_rank(x.shape.rank)
        self.build(x.shape[-1], x.dtype)
        y = self.product(x)
        if self.normalizer is not None:
            y = self.normalizer(y, **options)
        if self.has_biases:
            y = tf.nn.bias_add(y, self.biases)
        return self.activation(y) if self.activation else y


class FullyConnected(Layer):
    """`tf.contrib.layers.fully_connected`, along the last axis."""

    def check_rank(self, rank):
        if rank < 2:
            raise ValueError(f"expected min_ndim=2, found ndim={rank}")

    def shape(self, channels):
        return [channels, self.units]

    def product(self, x):
        return tf.tensordot(x, self.weights, 1)


class Conv2D(Layer):
    """`tf.contrib.layers.conv2d`, whose padding was SAME.

    Args:
        path, units: see `Layer`, as are all others.
        size: [height, width] of the kernel, or a number for both.
        stride, rate: likewise, the second for the dilation.
        padding: "SAME" or "VALID".
    """

    def __init__(self, path, units, size, stride=1, padding="SAME", rate=1, **others):
        super().__init__(path, units, **others)
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding must be SAME or VALID, not {padding!r}")
        self.size = [size, size] if isinstance(size, int) else list(size)
        self.stride, self.padding, self.rate = stride, padding, rate

    def check_rank(self, rank):
        if rank != 4:
            raise ValueError(f"expected ndim=4, found ndim={rank}")

    def shape(self, channels):
        return [*self.size, channels, self.units]

    def product(self, x):
        # tf.nn.conv2d has no gradient of a dilated convolution on a CPU.
        return tf.nn.convolution(
            x, self.weights, self.stride, self.padding, None, self.rate
        )
