"""Layers of `tf.contrib.layers` and slim: by default ReLU, SAME, Xavier weights.

    hidden = FullyConnected("hidden", 128)
    scores = FullyConnected("scores", 10, activation=None)
    logits = scores(hidden(x))

Variables have their checkpoint names: `hidden/weights`, `hidden/biases`. Follows
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
    """The base class of layers: weights, then a normalizer or biases, then activation.

    `build` or the first call makes the variables: `weights` by the initializer (Xavier
    by default), `biases` as zeros.

    It is not a `keras.layers.Layer`, which has no normalizer. Its variables are called
    `weights` and `biases`.

    Args:
        path: scope of the variables.
        units: size of the last axis of the output.
        activation: function, or None; the default is tf.nn.relu, as in contrib.
        normalizer: layer that replaces the biases, or None.
        biases: whether to add biases if there is no normalizer.
        seed: seed of the Xavier initializer.
        initializer: function from a shape and a dtype to the weights; it replaces the
            Xavier initializer and its seed.
        trainable: whether the weights and biases are trainable.
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
        """Whether the variables exist."""
        return self.weights is not None

    def build(self, channels, dtype):
        """Makes the variables once, for inputs with this number of channels."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension (channels) must be defined")
        with tf.name_scope(""):  # an outer scope does not change the names
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
        """Applies the layer; options such as is_training go to the normalizer."""
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
    """`tf.contrib.layers.fully_connected`: a dense layer on the last axis, with ReLU.

    A call takes [..., channels] floats of rank 2 or more and returns [..., units]. For
    the arguments see `Layer`.
    """

    def check_rank(self, rank):
        if rank is None or rank < 2:
            raise ValueError(f"expected min_ndim=2, found ndim={rank}")

    def shape(self, channels):
        return [channels, self.units]

    def product(self, x):
        return tf.tensordot(x, self.weights, 1)


class Image(Layer):
    """The base class of the convolutions."""

    def check_rank(self, rank):
        if rank != 4:
            raise ValueError(f"expected ndim=4, found ndim={rank}")


class Conv2D(Image):
    """`tf.contrib.layers.conv2d`: by default with SAME padding and ReLU.

    A call takes [batch, height, width, channels] floats and returns [batch, new height,
    new width, units].

    `keras.layers.Conv2D` has "valid" padding and no activation by default.

    Args:
        path: see `Layer`.
        units: see `Layer`.
        size: [height, width] of the kernel, or one number for both.
        stride: [down, right] or one number for both; must be 1 if there is a rate.
        padding: "SAME" or "VALID".
        rate: dilation, [down, right] or one number for both.
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: the input does not have four dimensions,
            or the number of channels is unknown.
    """

    def __init__(self, path, units, size, stride=1, padding="SAME", rate=1, **others):
        super().__init__(path, units, **others)
        self.size, self.padding = pair(size), checked(padding)
        self.stride, self.rate = stride, rate

    def shape(self, channels):
        return [*self.size, channels, self.units]

    def product(self, x):
        # On a CPU, tf.nn.conv2d has no gradient for a dilated convolution.
        return tf.nn.convolution(
            x, self.weights, self.stride, self.padding, None, self.rate
        )


class SeparableConv2D(Image):
    """`slim.separable_conv2d`: depthwise, then pointwise convolution, then ReLU.

    Its variables are `depthwise_weights` and `pointwise_weights`; `weights` has both.

    `keras.layers.SeparableConv2D` has "valid" padding and no activation by default, and
    always has the pointwise convolution.

    Args:
        path: see `Layer`.
        units: see `Layer`; None leaves out the pointwise convolution.
        size: [height, width] of the kernel, or one number for both.
        stride: one number, the same in both directions.
        multiplier: number of output channels of the depthwise convolution per channel.
        rate: dilation, [down, right] or one number for both.
        padding: "SAME" or "VALID".
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: the input does not have four dimensions,
            or the number of channels is unknown.
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
    """`slim.conv2d_transpose`: a transposed convolution, which enlarges images.

    A call takes [batch, height, width, channels] floats. With SAME padding it returns
    [batch, height * stride, width * stride, units]; for VALID see `conv2d_transpose`.
    `weights` has the shape [*size, units, channels].

    `keras.layers.Conv2DTranspose` has "valid" padding and no activation by default.

    Args:
        path: see `Layer`.
        units: see `Layer`.
        size: [height, width] of the kernel, or one number for both.
        stride: factor of the output size, [down, right] or one number for both.
        padding: "SAME" or "VALID".
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: the input does not have four dimensions,
            or the number of channels is unknown.
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
    """Computes a transposed convolution with `slim.conv2d_transpose`'s output size.

    Args:
        x: [batch, height, width, channels] float tensor.
        kernel: [kernel height, kernel width, units, channels] tensor of the dtype of x.
        strides: (down, right), the factors of the output size.
        padding: "SAME" or "VALID".

    Returns:
        [batch, new height, new width, units] tensor.
    """
    # The op needs the output size: the forward convolution rounds it, so several fit.
    shape, size = tf.shape(x), kernel.shape
    sides = [
        shape[1 + i] * strides[i]
        + (max(size[i] - strides[i], 0) if padding == "VALID" else 0)
        for i in range(2)
    ]
    shape = tf.stack([shape[0], *sides, size[2]])
    return tf.nn.conv2d_transpose(x, kernel, shape, strides, padding)


def pair(size):
    """Converts one number, or a pair, to the list [down, right].

    Args:
        size: an int, or a sequence of two ints.

    Returns:
        List of two ints.
    """
    return [size, size] if isinstance(size, int) else list(size)


def checked(padding):
    """Returns the padding if it is "SAME" or "VALID"; raises otherwise.

    Args:
        padding: a string.

    Raises:
        ValueError: the padding is not "SAME" or "VALID".
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be SAME or VALID, not {padding!r}")
    return padding
