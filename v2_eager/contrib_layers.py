"""`tf.contrib.layers`: `fully_connected`, `conv2d`, `embed_sequence` → modules."""

import contextlib
import numbers
import tempfile

import tensorflow as tf

from v2_eager.numerics import initializers
from v2_eager.numerics.layers import Conv2D, FullyConnected
from v2_eager.summaries import read_folder, write_histogram, write_scalar

__all__ = [
    "initial_kernels",
    "make_fully_connected",
    "make_conv2d",
    "make_repeated",
    "pool_and_flatten",
    "dropout",
    "make_embed_sequence",
    "make_bow_encoder",
    "one_hot",
    "penalty",
    "summarize",
]


def initial_kernels(shapes, seed):
    """Draws kernels with contrib's Xavier and variance scaling initializers."""
    # --- initializers
    xavier = initializers.contrib_xavier
    scaling = initializers.contrib_variance_scaling
    draws = {
        "xavier": xavier(seed=seed),
        "xavier_conv2d": xavier(seed=seed),
        "xavier, normal": xavier(uniform=False, seed=seed),
        "variance_scaling": scaling(seed=seed),
        "caffe": scaling(factor=1.0, mode="FAN_IN", uniform=True, seed=seed),
        "fan out": scaling(factor=1.0, mode="FAN_OUT", seed=seed),
    }

    # --- draw
    def drawn(draw, shape):
        tf.random.set_seed(7)  # resets the counter: the seed of every op is the same
        return draw(shape).numpy()

    return {k: [drawn(draw, shape) for shape in shapes] for k, draw in draws.items()}


def make_fully_connected(units, scale=None, name="mlp"):
    """Makes dense layers with ReLU; the last one has no activation.

    Returns a `Perceptron`; see the class.

    Raises:
        ValueError: a scale below 0 or an integer; from the callable: a rank below 2, or
            an unknown number of features.
    """
    return Perceptron(units, scale, name)


class Perceptron(tf.Module):
    """Dense layers with ReLU between them, with the names of TensorFlow 1.

    A call takes [..., features] floats. It returns [..., units[-1]], without an
    activation after the last layer, and the penalty, a scalar.

    Args:
        units: list of the layers' sizes.
        scale: weight of an l2 penalty on the weights, a float, or None.
        name: scope of the variables `fully_connected/weights`, `…/biases`,
            `fully_connected_1/weights`, …

    Raises:
        ValueError: a scale below 0 or an integer; in a call: a rank below 2, or an
            unknown number of features.
    """

    def __init__(self, units, scale, name):
        super().__init__()
        self.scale = None if scale is None else checked_scale(scale)
        self.layers = []
        for i, size in enumerate(units):
            path = f"{name}/fully_connected" + (f"_{i}" if i else "")
            activation = tf.nn.relu if i < len(units) - 1 else None
            self.layers.append(FullyConnected(path, size, activation, seed=i))

    def __call__(self, x):
        # --- layers
        for layer in self.layers:
            x = layer(x)
        # --- penalty
        if not self.scale:
            return x, tf.zeros([], x.dtype)
        penalties = [self.scale * tf.nn.l2_loss(layer.weights) for layer in self.layers]
        return x, tf.add_n(penalties)


def checked_scale(scale):
    """Returns the scale of a penalty; raises if it is an integer or below 0."""
    if isinstance(scale, numbers.Integral):  # also a NumPy integer
        raise ValueError(f"scale cannot be an integer: {scale}")
    if scale < 0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    return scale


def make_conv2d(
    filters, size, stride=1, padding="SAME", rate=1, biases=True, name="net"
):
    """Makes two convolutions, each with ReLU.

    Returns a `Chain`; see the class.

    Raises:
        ValueError: another padding; from the callable: not four dimensions, or an
            unknown number of channels.
    """
    options = {"padding": padding, "biases": biases}
    return Chain(
        Conv2D(f"{name}/Conv", filters[0], size, stride, **options),
        Conv2D(f"{name}/Conv_1", filters[1], size, rate=rate, **options),
    )


class Chain(tf.Module):
    """Applies layers and functions one after the other.

    Args:
        *steps: callables from a tensor to a tensor.
    """

    def __init__(self, *steps):
        super().__init__()
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


def make_repeated(filters, units, name="net"):
    """Makes equal convolutions with `repeat`, and dense layers with `stack`.

    Returns a `Chain`; see the class.
    """
    return Chain(
        *[Conv2D(f"{name}/conv/conv_{i}", filters, [3, 3]) for i in (1, 2)],
        lambda x: flatten(tf.nn.max_pool2d(x, [2, 2], 2, "VALID")),
        *[FullyConnected(f"{name}/fc/fc_{i}", size) for i, size in enumerate(units, 1)],
    )


def flatten(x):
    """Reshapes to [batch, features]; features are static if the shape is known."""
    size = x.shape[1:].num_elements()
    if size is None:
        size = tf.reduce_prod(tf.shape(x)[1:])
    return tf.reshape(x, [-1, size])


def pool_and_flatten(x, size):
    """Average-pools images, and max-pools and flattens the same images."""
    averages = tf.nn.avg_pool2d(x, size, 2, "SAME")
    return averages, flatten(tf.nn.max_pool2d(x, size, 2, "VALID"))


def dropout(x, keep_prob, seed, is_training=True, noise_shape=None, draws=2):
    """Drops elements in training, and scales the kept ones by 1 / `keep_prob`."""
    # --- build
    tf.random.set_seed(7)
    x = tf.constant(x)

    @tf.function
    def draw():
        if not is_training:
            return x
        return tf.nn.dropout(x, 1 - keep_prob, noise_shape, seed)

    # --- run
    return [draw().numpy() for _ in range(draws)]


def make_embed_sequence(vocab_size, embed_dim, name="words"):
    """Makes an embedding of id sequences that an encoder and a decoder can share.

    Returns a `Sequences`; see the class.
    """
    return Sequences(vocab_size, embed_dim, f"{name}/EmbedSequence")


class Embeddings(tf.Module):
    """Base class with an embedding table, which the first `build` creates.

    Args:
        vocab_size: vocabulary size, the number of rows.
        embed_dim: size of a vector.
        path: scope of the variable `embeddings`, float32 [vocab_size, embed_dim].

    Raises:
        ValueError: in `build`: `vocab_size` or `embed_dim` is 0 or None.
    """

    def __init__(self, vocab_size, embed_dim, path):
        super().__init__()
        self.sizes, self.path, self.embeddings = [vocab_size, embed_dim], path, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.embeddings is not None

    def build(self):
        if not all(self.sizes):
            raise ValueError("Must specify vocab size and embedding dimension")
        if self.embeddings is None:
            draw = initializers.glorot_uniform(seed=1)
            with tf.name_scope(""):  # no outer scope becomes part of the name
                self.embeddings = tf.Variable(
                    lambda: draw(self.sizes), name=f"{self.path}/embeddings"
                )


class Sequences(Embeddings):
    """Looks up the vectors of ids, ints of any shape: float32 [..., embed_dim]."""

    def __call__(self, ids):
        self.build()
        return tf.nn.embedding_lookup(self.embeddings, ids)


def make_bow_encoder(vocab_size, embed_dim, sparse_lookup=True, name="text"):
    """Makes a bag-of-words encoder: the mean embedding of a document's words.

    Returns a `BagOfWords`; see the class.
    """
    return BagOfWords(vocab_size, embed_dim, sparse_lookup, f"{name}/bow_encoder")


class BagOfWords(Embeddings):
    """Computes the mean embedding of each document's words.

    A call takes ids, [batch, length] ints, and returns float32 [batch, embed_dim].

    Args:
        vocab_size: vocabulary size, the number of rows.
        embed_dim: size of a vector.
        sparse_lookup: whether id 0 is padding; a document with only padding gets row 0.
        path: scope of the variable `embeddings`.
    """

    def __init__(self, vocab_size, embed_dim, sparse_lookup, path):
        super().__init__(vocab_size, embed_dim, path)
        self.sparse_lookup = sparse_lookup

    def __call__(self, ids):
        self.build()
        if self.sparse_lookup:
            words = tf.sparse.from_dense(ids)  # without the zeros
            return tf.nn.safe_embedding_lookup_sparse(
                self.embeddings, words, combiner="mean", default_id=0
            )
        return tf.reduce_mean(tf.nn.embedding_lookup(self.embeddings, ids), 1)


def one_hot(labels, num_classes, on_value=1.0, off_value=0.0):
    """Encodes labels as one-hot vectors."""
    return tf.one_hot(labels, num_classes, on_value, off_value)


def penalty(weights, scale_l1, scale_l2):
    """Computes the L1 and L2 penalty of weights: |w|, and w² / 2.

    Returns:
        Scalar.
    """
    if not weights:
        raise ValueError("No weights to regularize.")
    l1, l2 = checked_scale(scale_l1), checked_scale(scale_l2)
    norms = [(l1, lambda w: tf.reduce_sum(tf.abs(w))), (l2, tf.nn.l2_loss)]

    def penalize(w):
        # A norm with scale 0 is skipped: 0 * inf would be NaN.
        parts = [scale * norm(w) for scale, norm in norms if scale]
        return sum(parts, tf.zeros([], w.dtype))

    return tf.add_n([penalize(w) for w in weights])


def summarize(x, weights):
    """Writes summaries of activations, and of tensors as scalars or histograms."""
    with tempfile.TemporaryDirectory() as directory:
        writer = tf.summary.create_file_writer(directory)

        @tf.function
        def write(x, weights):
            with writer.as_default(0):
                # --- activations
                scores = tf.matmul(x, weights)
                write_activation("hidden", tf.nn.relu(scores), scores)
                write_activation("capped", tf.nn.relu6(scores), scores, 6.0)
                write_activation("squashed", tf.nn.tanh(scores))
                # --- tensors
                write_scalar("average_summary", tf.reduce_mean(scores))
                write_histogram("largest_summary", tf.reduce_max(scores, 0))
                write_histogram("all", scores)

        # --- write
        with contextlib.closing(writer):
            write(tf.constant(x), tf.constant(weights))
        # --- read
        return read_folder(directory)


def write_activation(name, y, x=None, cap=None):
    """Writes the summaries of `summarize_activation` for an op with this name.

    Args:
        name: name of the op, the prefix of the tags.
        y: float tensor, the activation.
        x: input of the activation: the share below 0 (and above `cap`) is written. None
            for activations that are not ReLUs.
        cap: largest value of the activation, such as 6.0, or None.
    """
    if x is not None:
        write_scalar(f"{name}/zeros", share(x < 0))
    if cap is not None:
        write_scalar(f"{name}/sixes", share(x > cap))
    write_histogram(f"{name}/activation", y)


def share(mask):
    """Computes the share of a bool tensor that is true, a float32 scalar."""
    return tf.reduce_mean(tf.cast(mask, tf.float32))
