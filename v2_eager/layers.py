"""`tf.layers`: `dense`, `conv2d`, `batch_normalization`, `dropout` → small modules."""

import math

import tensorflow as tf

from v2_eager.numerics import batch_norms, initializers, norms, optimizers
from v2_eager.numerics.layers import checked, conv2d_transpose, pair

__all__ = [
    "make_dense_layers",
    "make_conv1d",
    "make_conv2d",
    "make_conv2d_transpose",
    "make_separable_conv2d",
    "pool_and_flatten",
    "dropout",
    "make_embedding",
    "make_batch_norm",
    "make_layer_norm",
    "train",
]


def make_dense_layers(units, use_bias=True, scale=None, name="perceptron"):
    """Makes a stack of dense layers with ReLU, named `dense`, `dense_1`, ….

    Returns a `DenseLayers`; see the class.
    """
    return DenseLayers(units, use_bias, scale, name)


class DenseLayers(tf.Module):
    """A stack of dense layers with ReLU: returns (outputs, L2 penalty).

    A call takes [..., features] floats. It returns [..., units[-1]], without an
    activation after the last layer, and the penalty, a scalar.

    Args:
        units: list of the layers' sizes.
        use_bias: whether the layers add a bias.
        scale: weight of an l2 penalty on the kernels, or None.
        name: scope of the variables `dense/kernel`, `dense/bias`, `dense_1/kernel`, …

    Raises:
        ValueError: in a call: the rank is below 2, or the number of features is
            unknown.
    """

    def __init__(self, units, use_bias, scale, name):
        super().__init__()
        self.scale = scale
        self.layers = []
        for i, size in enumerate(units):
            # TensorFlow 1 counted these names. Here they are explicit, and cannot
            # shift.
            path = f"{name}/dense_{i}" if i else f"{name}/dense"
            activation = tf.nn.relu if i < len(units) - 1 else None
            self.layers.append(dense(path, size, activation, use_bias, seed=i))

    def __call__(self, x):
        # --- layers
        for layer in self.layers:
            x = layer(x)
        # --- penalty
        if self.scale is None:
            return x, tf.zeros([], x.dtype)
        penalties = [tf.nn.l2_loss(layer.kernels[0]) for layer in self.layers]
        return x, tf.add_n([self.scale * penalty for penalty in penalties])


class Layer(tf.Module):
    """A layer: a function of its input and kernels, a bias and an activation.

    The first call makes the variables, as their shapes depend on its input's channels.

    It is not a `keras.layers.Layer`: a `tf.Module` does not find Keras variables.

    Args:
        path: scope of the variables.
        rank: rank of the input, batch and channels included; None is 2 or more.
        function: function of the input and the kernels.
        shapes: {name of a kernel: function from channels to its shape}.
        units: size of the output and of the bias.
        activation: function, or None.
        use_bias: whether to add a bias.
        seed: seed of the first kernel; the seed of the second kernel is larger by 1.
    """

    def __init__(
        self,
        path,
        rank,
        function,
        shapes,
        units,
        activation=None,
        use_bias=True,
        seed=1,
    ):
        super().__init__()
        self.path, self.rank, self.function, self.shapes = path, rank, function, shapes
        self.units, self.activation, self.use_bias = units, activation, use_bias
        self.seed, self.kernels = seed, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.kernels is not None

    def __call__(self, x):
        x = tf.convert_to_tensor(x)
        check_rank(x, self.rank)
        if self.kernels is None:
            self.kernels = [
                glorot_uniform(shape(channels(x)), seed, x.dtype, f"{self.path}/{name}")
                for seed, (name, shape) in enumerate(self.shapes.items(), self.seed)
            ]
            if self.use_bias:
                self.bias = zeros(self.units, x.dtype, self.path)
        y = self.function(x, *self.kernels)
        if self.use_bias:
            y = tf.nn.bias_add(y, self.bias)
        return self.activation(y) if self.activation else y


def check_rank(x, rank):
    if rank is None and (x.shape.rank or 0) < 2:
        raise ValueError(f"expected min_ndim=2, found ndim={x.shape.rank}")
    if rank not in (None, x.shape.rank):
        raise ValueError(f"expected ndim={rank}, found ndim={x.shape.rank}")


def dense(path, units, activation=None, use_bias=True, seed=1):
    def product(x, kernel):  # over the last axis of x; for a matrix it is tf.matmul
        return tf.tensordot(x, kernel, 1)

    shapes = {"kernel": lambda channels: [channels, units]}
    return Layer(path, None, product, shapes, units, activation, use_bias, seed)


def convolution(path, function, size, filters, activation=None, use_bias=True):
    shapes = {"kernel": lambda channels: [*size, channels, filters]}
    rank = 2 + len(size)
    return Layer(path, rank, function, shapes, filters, activation, use_bias)


def channels(x):
    """Returns the size of the last axis; the shape of a kernel depends on it."""
    if x.shape[-1] is None:
        raise ValueError("the last dimension (channels) must be defined")
    return x.shape[-1]


def glorot_uniform(shape, seed, dtype, name):
    draw = initializers.glorot_uniform(seed)
    with tf.name_scope(""):  # no outer scope in the name
        return tf.Variable(lambda: draw(shape, dtype), name=name)


def zeros(size, dtype, path):
    with tf.name_scope(""):
        return tf.Variable(tf.zeros(size, dtype), name=f"{path}/bias")


def make_conv1d(filters, size, stride=1, padding="valid", dilation=1, name="conv1d"):
    """Makes a 1-D convolution over time.

    Returns a `Layer`; see the class.
    """

    padding = checked(padding.upper())

    def convolve(x, kernel):
        return tf.nn.convolution(x, kernel, stride, padding, None, dilation)

    return convolution(name, convolve, [size], filters)


def make_conv2d(
    filters,
    size,
    strides=(1, 1),
    padding="valid",
    activation=None,
    use_bias=True,
    name="conv2d",
):
    """Makes a 2-D convolution over images.

    Returns a `Layer`; see the class.

    Args:
        size: (height, width) of the kernel, or a number for both.
        strides: (down, right) between outputs, or a number for both.
    """
    padding = checked(padding.upper())

    def convolve(x, kernel):
        return tf.nn.conv2d(x, kernel, strides, padding)

    function = activation and getattr(tf.nn, activation)
    return convolution(name, convolve, pair(size), filters, function, use_bias)


def make_conv2d_transpose(
    filters, size, strides=(1, 1), padding="valid", name="conv2d_transpose"
):
    """Makes a transposed 2-D convolution, which enlarges images.

    Returns a `Layer`; see the class.

    Args:
        size: (height, width) of the kernel, or a number for both.
        strides: (down, right), or a number: how much larger the output is.
    """

    strides, padding = pair(strides), checked(padding.upper())

    def convolve(x, kernel):
        return conv2d_transpose(x, kernel, strides, padding)

    # [height, width, filters, channels]: the kernel of the convolution that it
    # transposes.
    shapes = {"kernel": lambda channels: [*pair(size), filters, channels]}
    return Layer(name, 4, convolve, shapes, filters)


def make_separable_conv2d(
    filters, size, strides=(1, 1), padding="valid", multiplier=1, name="separable"
):
    """Makes a separable 2-D convolution: depthwise, then pointwise.

    Returns a `Layer`; see the class.

    Args:
        size: (height, width) of the kernel, or a number for both.
        strides: (down, right) between outputs, both the same, or a number.
    """

    strides, padding = (1, *pair(strides), 1), checked(padding.upper())

    def convolve(x, *kernels):
        return tf.nn.separable_conv2d(x, *kernels, strides, padding)

    shapes = {
        "depthwise_kernel": lambda channels: [*pair(size), channels, multiplier],
        "pointwise_kernel": lambda channels: [1, 1, channels * multiplier, filters],
    }
    return Layer(name, 4, convolve, shapes, filters)


def pool_and_flatten(x, size, strides, padding="valid"):
    """Pools images by maximum and by average, and flattens the maxima."""
    padding = checked(padding.upper())
    maxima = tf.nn.max_pool2d(x, size, strides, padding)
    averages = tf.nn.avg_pool2d(x, size, strides, padding)
    return averages, flatten(maxima)


def flatten(x):
    """Flattens [batch, ...] to [batch, features]; known sizes stay known."""
    if x.shape[1:].is_fully_defined():
        return tf.reshape(x, [-1, math.prod(x.shape[1:])])
    return tf.reshape(x, [tf.shape(x)[0], -1])


def dropout(x, rate, seed, training=True, noise_shape=None, draws=2):
    """Applies dropout in training: zeroes random elements, and scales up the others."""
    # --- build
    tf.random.set_seed(7)
    x = tf.constant(x)

    @tf.function
    def draw():
        return tf.nn.dropout(x, rate, noise_shape, seed) if training else x

    # --- run
    return [draw().numpy() for _ in range(draws)]


def make_embedding(classes, size, name="embedding"):
    """Makes an embedding: a table of vectors that are looked up by id.

    Returns an `Embedding`; see the class.
    """
    return Embedding(classes, size, name)


class Embedding(tf.Module):
    """A table of vectors, looked up by ids of any shape: float32 [..., size].

    `keras.layers.Embedding` calls its table `embeddings` and draws it uniformly.

    Args:
        classes: number of rows.
        size: size of a vector.
        name: scope of the variable `table`, [classes, size].
    """

    def __init__(self, classes, size, name):
        super().__init__()
        table = tf.random.normal([classes, size], stddev=0.125, seed=1)
        with tf.name_scope(""):  # no outer scope in the name
            self.table = tf.Variable(table, name=f"{name}/table")

    def __call__(self, ids):
        return tf.nn.embedding_lookup(self.table, ids)


def make_batch_norm(
    momentum=0.99, epsilon=0.001, fused=False, update=True, name="normalized"
):
    """Makes batch normalization, with or without updates of its moving statistics.

    Returns a `batch_norms.BatchNorm`; see the class.
    """
    path = f"{name}/batch_normalization"
    return batch_norms.BatchNorm(
        momentum, epsilon, fused=fused, update=update, name=path
    )


def make_layer_norm(begin_axis=1, name="normalized"):
    """Makes layer normalization over all axes of an example, not only the last one.

    Returns a `norms.LayerNorm`; see the class.
    """
    return norms.LayerNorm(begin_axis, name=f"{name}/LayerNorm")


def train(images, labels, steps, rate=0.125, update=True):
    """Trains a small convolutional network with batch normalization and dropout."""
    # --- model
    network, minimize = _network(images, labels, rate, update)
    # --- step
    step = tf.function(minimize)
    # --- run
    losses = [step().numpy() for _ in range(steps)]
    return _trained(network, images, losses)


def train_in_one_call(images, labels, steps, rate=0.125, update=True):
    """Trains like `train`, with the whole loop in one call of a `tf.function`.

    It is faster if steps are short, because Python does not run between them.
    """
    network, minimize = _network(images, labels, rate, update)

    @tf.function
    def train_steps(steps):
        losses = tf.TensorArray(images.dtype, steps)
        for i in tf.range(steps):
            losses = losses.write(i, minimize())
        return losses.stack()

    losses = list(train_steps(tf.constant(steps)).numpy())
    return _trained(network, images, losses)


def _network(images, labels, rate, update):
    """Makes a network, and a function that takes a step and returns the loss."""
    tf.random.set_seed(7)
    x, y = tf.constant(images), tf.constant(labels)
    network = Network(update)
    network(x, training=False)  # makes the variables
    weights = network.trainable_variables
    optimizer = optimizers.GradientDescent(rate).create_slots(weights)

    def loss():
        logits = network(x, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        return tf.reduce_mean(losses)

    return network, lambda: optimizer.minimize(loss, weights)


def _trained(network, images, losses):
    variables = {v.name[:-2]: v.numpy() for v in network.variables}
    inferred = network(tf.constant(images), training=False).numpy()
    return {"losses": losses, "variables": variables, "logits": inferred}


class Network(tf.Module):
    """A convolution, a batch norm, and two dense layers with dropout.

    A call takes [n, height, width, channels] floats and `training`, a bool. It returns
    the logits, [n, 3].

    Args:
        update: whether training updates the moving statistics.
    """

    def __init__(self, update):
        super().__init__()

        def convolve(x, kernel):
            return tf.nn.conv2d(x, kernel, 1, "SAME")

        self.convolution = convolution("conv2d", convolve, (3, 3), 4, use_bias=False)
        self.norm = batch_norms.BatchNorm(0.75, fused=False, update=update)
        self.hidden = dense("dense", 5, tf.nn.relu, seed=2)
        self.scores = dense("dense_1", 3, seed=3)

    def __call__(self, x, training):
        x = tf.nn.relu(self.norm(self.convolution(x), training))
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        x = flatten(x)
        if training:
            x = tf.nn.dropout(x, 0.25, seed=4)
        return self.scores(self.hidden(x))
