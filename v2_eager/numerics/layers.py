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
    "SeparableConv2D",
    "Conv2DTranspose",
    "conv2d_transpose",
]


class Layer(tf.Module):
    """A product with weights, a normalizer or else biases, then an activation.

    The first call makes the variables, or `build`: `weights` by the initializer,
    xavier's by default, `biases` of zeros.

    It is no `keras.layers.Layer`, which has no normalizer; its variables are called
    `weights` and `biases`.

    Args:
        path: scope of the variables.
        units: size of the last axis of the output.
        activation: function, or None; tf.nn.relu, as in contrib, where none is given.
        normalizer: layer that takes the place of the biases, or None.
        biases: whether there are any, without a normalizer.
        seed: of the weights.
        initializer: function from a shape and a dtype to the weights, in place of
            xavier's, which has the seed.
        trainable: whether the weights and biases are.
    """

    def __init__(
        self,
        path,
        units,
        activation=tf.nn.relu,
        normalizer=None,
        biases=True,
        seed=1,
        initializer=None,
        trainable=True,
    ):
        super().__init__()
        self.path, self.units, self.activation = path, units, activation
        self.normalizer, self.trainable = normalizer, trainable
        self.draw = initializer or initializers.contrib_xavier(seed=seed)
        self.has_biases = biases and normalizer is None
        self.weights = self.biases = None

    @property
    def built(self):
        """Whether it has its variables."""
        return self.weights is not None

    def build(self, channels, dtype):
        """Makes the variables, once, for inputs of so many channels."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension, the channels', must be defined")
        with tf.name_scope(""):  # an outer scope is no part of the names
            self.make_weights(channels, dtype)
            if self.has_biases:
                zeros = tf.zeros([self.units], dtype)
                name = f"{self.path}/biases"
                self.biases = tf.Variable(zeros, self.trainable, name=name)

    def make_weights(self, channels, dtype):
        self.weights = self.drawn("weights", self.shape(channels), dtype)

    def drawn(self, name, shape, dtype):
        name = f"{self.path}/{name}"
        return tf.Variable(lambda: self.draw(shape, dtype), self.trainable, name=name)

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
    """`tf.contrib.layers.fully_connected`, along the last axis.

    A call takes [..., channels] floats of rank 2 or more and returns [..., units]. The
    Args are those of `Layer`.
    """

    def check_rank(self, rank):
        if rank is None or rank < 2:
            raise ValueError(f"expected min_ndim=2, found ndim={rank}")

    def shape(self, channels):
        return [channels, self.units]

    def product(self, x):
        return tf.tensordot(x, self.weights, 1)


class Image(Layer):
    """What the convolutions share."""

    def check_rank(self, rank):
        if rank != 4:
            raise ValueError(f"expected ndim=4, found ndim={rank}")


class Conv2D(Image):
    """`tf.contrib.layers.conv2d`, whose padding was SAME.

    A call takes [batch, height, width, channels] floats and returns [batch, new height,
    new width, units].

    `keras.layers.Conv2D` pads by "valid" and has no activation by default.

    Args:
        path: see `Layer`.
        units: see `Layer`.
        size: [height, width] of the kernel, or a number for both.
        stride: between outputs, [down, right] or a number for both; 1 where there is a
            rate.
        padding: "SAME" or "VALID".
        rate: dilation, [down, right] or a number for both.
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: not four dimensions, or unknown
            channels.
    """

    def __init__(self, path, units, size, stride=1, padding="SAME", rate=1, **others):
        super().__init__(path, units, **others)
        self.size, self.padding = pair(size), checked(padding)
        self.stride, self.rate = stride, rate

    def shape(self, channels):
        return [*self.size, channels, self.units]

    def product(self, x):
        # tf.nn.conv2d has no gradient of a dilated convolution on a CPU.
        return tf.nn.convolution(
            x, self.weights, self.stride, self.padding, None, self.rate
        )


class SeparableConv2D(Image):
    """`slim.separable_conv2d`: a convolution of each channel, and one that mixes them.

    Its variables are `depthwise_weights` and `pointwise_weights`; `weights` has both.

    `keras.layers.SeparableConv2D` pads by "valid" and has no activation by default, and
    always mixes.

    Args:
        path: see `Layer`.
        units: see `Layer`; None leaves out the second convolution.
        size: [height, width] of the kernel, or a number for both.
        stride: between outputs, the same both ways.
        multiplier: number of channels that the first convolution makes of each.
        rate: dilation, [down, right] or a number for both.
        padding: "SAME" or "VALID".
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: not four dimensions, or unknown
            channels.
    """

    def __init__(
        self,
        path,
        units,
        size,
        stride=1,
        multiplier=1,
        rate=1,
        padding="SAME",
        **others,
    ):
        super().__init__(path, units, **others)
        self.size, self.padding, self.rate = pair(size), checked(padding), pair(rate)
        self.strides, self.multiplier = [1, *pair(stride), 1], multiplier
        self.mixes = units is not None

    def make_weights(self, channels, dtype):
        made, shape = channels * self.multiplier, [*self.size, channels]
        shape = [*shape, self.multiplier]
        self.weights = [self.drawn("depthwise_weights", shape, dtype)]
        if self.mixes:
            shape = [1, 1, made, self.units]
            self.weights.append(self.drawn("pointwise_weights", shape, dtype))
        else:
            self.units = made

    def product(self, x):
        convolve = tf.nn.separable_conv2d if self.mixes else tf.nn.depthwise_conv2d
        return convolve(x, *self.weights, self.strides, self.padding, None, self.rate)


class Conv2DTranspose(Image):
    """`slim.conv2d_transpose`, which enlarges images.

    A call takes [batch, height, width, channels] floats. It returns [batch, height *
    stride, width * stride, units] with SAME; see `conv2d_transpose` for VALID.
    `weights` are [*size, units, channels].

    `keras.layers.Conv2DTranspose` pads by "valid" and has no activation by default.

    Args:
        path: see `Layer`.
        units: see `Layer`.
        size: [height, width] of the kernel, or a number for both.
        stride: [down, right] or a number: how much larger the output is.
        padding: "SAME" or "VALID".
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: not four dimensions, or unknown
            channels.
    """

    def __init__(self, path, units, size, stride=1, padding="SAME", **others):
        super().__init__(path, units, **others)
        self.size, self.padding = pair(size), checked(padding)
        self.stride = pair(stride)

    def shape(self, channels):
        return [*self.size, self.units, channels]

    def product(self, x):
        return conv2d_transpose(x, self.weights, self.stride, self.padding)


def conv2d_transpose(x, kernel, strides, padding):
    """A transposed convolution whose output has the size that layers gave it.

    Args:
        x: [batch, height, width, channels] float tensor.
        kernel: [kernel height, kernel width, units, channels] tensor of its dtype.
        strides: (down, right): how much larger the output is.
        padding: "SAME" or "VALID".

    Returns:
        [batch, new height, new width, units] tensor.
    """
    # The kernel wants to know the size, which its inverse would round away.
    shape, size = tf.shape(x), kernel.shape
    sides = [
        shape[1 + i] * strides[i]
        + (max(size[i] - strides[i], 0) if padding == "VALID" else 0)
        for i in range(2)
    ]
    shape = tf.stack([shape[0], *sides, size[2]])
    return tf.nn.conv2d_transpose(x, kernel, shape, strides, padding)


def pair(size):
    """[down, right], of a number or of both.

    Args:
        size: an int, or a sequence of two.

    Returns:
        List of two ints.
    """
    return [size, size] if isinstance(size, int) else list(size)


def checked(padding):
    """Returns the padding if there is one of this name.

    Args:
        padding: a string.

    Raises:
        ValueError: it is not "SAME" or "VALID".
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be SAME or VALID, not {padding!r}")
    return padding
