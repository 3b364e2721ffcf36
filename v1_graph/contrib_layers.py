"""`tf.contrib.layers`: `fully_connected`, `conv2d`, `embed_sequence` → modules."""

import glob
import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.summaries import read_events

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

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def initial_kernels(shapes, seed):
    """Draws kernels with contrib's Xavier and variance scaling initializers.

    Args:
        shapes: list of lists of ints, [..., inputs, outputs].
        seed: seed of each op; the graph's seed is 7.

    Returns:
        {name of the initializer: list of float32 arrays}.
    """
    # --- initializers
    layers = tensorflow.contrib.layers
    scaling = layers.variance_scaling_initializer
    initializers = {
        "xavier": layers.xavier_initializer(seed=seed),
        "xavier_conv2d": layers.xavier_initializer_conv2d(seed=seed),
        "xavier, normal": layers.xavier_initializer(uniform=False, seed=seed),
        "variance_scaling": scaling(seed=seed),
        "caffe": scaling(factor=1.0, mode="FAN_IN", uniform=True, seed=seed),
        "fan out": scaling(factor=1.0, mode="FAN_OUT", seed=seed),
    }
    # --- draw
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        return sess.run(
            {
                name: [initializer(shape) for shape in shapes]
                for name, initializer in initializers.items()
            }
        )


def make_fully_connected(units, scale=None, name="mlp"):
    """Makes dense layers with ReLU; the last one has no activation.

    Args:
        units: list of the layers' sizes.
        scale: weight of an l2 penalty on the weights, a float, or None.
        name: scope of the variables `fully_connected/weights`, `…/biases`,
            `fully_connected_1/weights`, …

    Returns:
        Callable. It takes x, [..., features] floats. It returns a [..., units[-1]]
        tensor and the penalty, a scalar.

    Raises:
        ValueError: from the callable: a scale below 0 or an integer; a rank below 2, or
            an unknown number of features.
    """

    def fully_connected(x):
        # --- layers
        layers = tensorflow.contrib.layers
        options = {}
        if scale is not None:
            options["weights_regularizer"] = layers.l2_regularizer(scale)
        for i, size in enumerate(units):
            if i == len(units) - 1:
                options["activation_fn"] = None  # the default is tf.nn.relu
            draw = layers.xavier_initializer(seed=i)
            x = layers.fully_connected(x, size, weights_initializer=draw, **options)
        # --- penalty
        scope = tf.get_variable_scope().name
        penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, scope + "/")
        return x, tf.add_n(penalties or [tf.zeros([], x.dtype)])

    return tf.make_template(name, fully_connected)


def make_conv2d(
    filters, size, stride=1, padding="SAME", rate=1, biases=True, name="net"
):
    """Makes two convolutions, each with ReLU.

    Args:
        filters: list of two numbers of output channels.
        size: [height, width] of the kernels, or a number for both.
        stride: [height, width], the stride of the first convolution, or a number for
            both.
        padding: "SAME" or "VALID".
        rate: dilation of the second convolution.
        biases: whether the layers have biases.
        name: scope of the variables `Conv/weights`, `Conv/biases`, `Conv_1/weights`, …

    Returns:
        Callable. It takes x, [batch, height, width, channels] floats. It returns
        [batch, new height, new width, filters[1]].

    Raises:
        ValueError: from the callable: another padding, not four dimensions, or an
            unknown number of channels.
    """

    def convolve(x):
        layers = tensorflow.contrib.layers
        draw = layers.xavier_initializer_conv2d(seed=1)
        options = {"padding": padding, "weights_initializer": draw}
        if not biases:
            options["biases_initializer"] = None
        x = layers.conv2d(x, filters[0], size, stride, **options)
        return layers.conv2d(x, filters[1], size, rate=rate, **options)

    return tf.make_template(name, convolve)


def make_repeated(filters, units, name="net"):
    """Makes equal convolutions with `repeat`, and dense layers with `stack`.

    Args:
        filters: number of channels of each of the two convolutions.
        units: list of the dense layers' sizes.
        name: scope of the variables `conv/conv_1/weights`, `conv/conv_2/weights`, …,
            `fc/fc_1/weights`, …

    Returns:
        Callable. It takes x, [batch, height, width, channels] floats. It returns
        [batch, units[-1]]; the last layer has a ReLU, too.
    """

    def repeated(x):
        layers = tensorflow.contrib.layers
        draw = {"weights_initializer": layers.xavier_initializer(seed=1)}
        x = layers.repeat(x, 2, layers.conv2d, filters, [3, 3], scope="conv", **draw)
        x = layers.flatten(layers.max_pool2d(x, [2, 2]))
        return layers.stack(x, layers.fully_connected, units, scope="fc", **draw)

    return tf.make_template(name, repeated)


def pool_and_flatten(x, size):
    """Average-pools images, and max-pools and flattens the same images.

    Args:
        x: [batch, height, width, channels] float tensor.
        size: size of the windows, a number or [height, width]; the stride is 2.

    Returns:
        (averages [batch, new height, new width, channels] with padding "SAME", maxima
        [batch, features] with padding "VALID").
    """
    layers = tensorflow.contrib.layers
    averages = layers.avg_pool2d(x, size, padding="SAME")
    return averages, layers.flatten(layers.max_pool2d(x, size))


def dropout(x, keep_prob, seed, is_training=True, noise_shape=None, draws=2):
    """Drops elements in training, and scales the kept ones by 1 / `keep_prob`.

    Args:
        x: float array.
        keep_prob: share of the elements to keep, in (0, 1].
        seed: op seed; the graph's seed is 7.
        is_training: whether to drop elements.
        noise_shape: list, 1 for an axis whose elements share a draw; None: each element
            has its own draw.
        draws: how many times to run.

    Returns:
        List of arrays like x.

    Raises:
        ValueError: a `keep_prob` outside (0, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        # Unlike tf.layers.dropout, this one drops by default: is_training is True.
        y = tensorflow.contrib.layers.dropout(
            tf.constant(x),
            keep_prob,
            noise_shape,
            is_training=is_training,
            seed=seed,
        )
        # --- run
        return [sess.run(y) for _ in range(draws)]


def make_embed_sequence(vocab_size, embed_dim, name="words"):
    """Makes an embedding of id sequences that an encoder and a decoder can share.

    Args:
        vocab_size: vocabulary size, the number of rows.
        embed_dim: size of a vector.
        name: scope of the variable `EmbedSequence/embeddings`.

    Returns:
        Callable. It takes ids, an int tensor of any shape. It returns float32 [...,
        embed_dim].

    Raises:
        ValueError: from the callable: `vocab_size` or `embed_dim` is 0 or None.
        tf.errors.InvalidArgumentError: from the callable, on a CPU: an id is out of
            range.
    """

    def embed(ids):
        draw = tf.glorot_uniform_initializer(seed=1)  # the default, with a seed
        return tensorflow.contrib.layers.embed_sequence(
            ids, vocab_size, embed_dim, initializer=draw
        )

    return tf.make_template(name, embed)


def make_bow_encoder(vocab_size, embed_dim, sparse_lookup=True, name="text"):
    """Makes a bag-of-words encoder: the mean embedding of a document's words.

    Args:
        vocab_size: vocabulary size, the number of rows.
        embed_dim: size of a vector.
        sparse_lookup: whether id 0 is padding; a document with only padding gets row 0.
        name: scope of the variable `bow_encoder/embeddings`.

    Returns:
        Callable. It takes ids, [batch, length] ints. It returns [batch, embed_dim]
        float32.

    Raises:
        ValueError: from the callable: `vocab_size` or `embed_dim` is 0 or None.
    """

    def encode(ids):
        draw = tf.glorot_uniform_initializer(seed=1)
        return tensorflow.contrib.layers.bow_encoder(
            ids, vocab_size, embed_dim, sparse_lookup, initializer=draw
        )

    return tf.make_template(name, encode)


def one_hot(labels, num_classes, on_value=1.0, off_value=0.0):
    """Encodes labels as one-hot vectors.

    Args:
        labels: int tensor of any shape.
        num_classes: size of a vector.
        on_value, off_value: value at the label, and value elsewhere.

    Returns:
        [..., num_classes] float32 tensor.
    """
    return tensorflow.contrib.layers.one_hot_encoding(
        labels, num_classes, on_value, off_value
    )


def penalty(weights, scale_l1, scale_l2):
    """Computes the L1 and L2 penalty of weights: |w|, and w² / 2.

    Args:
        weights: list of float32 tensors, or of float64 tensors.
        scale_l1, scale_l2: floats; 0.0 means no such penalty.

    Returns:
        Scalar. It is also added to the collection of regularization losses.

    Raises:
        ValueError: a scale is an integer or below 0, or the list is empty.
    """
    layers = tensorflow.contrib.layers
    regularizer = layers.l1_l2_regularizer(scale_l1, scale_l2)
    return layers.apply_regularization(regularizer, weights)


def summarize(x, weights):
    """Writes summaries of activations, and of tensors as scalars or histograms.

    Args:
        x: [n, features] float array.
        weights: [features, units] array of the same dtype.

    Returns:
        List of dicts as `summaries.read_events` returns them.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- activations
        layers = tensorflow.contrib.layers
        scores = tf.matmul(tf.constant(x), tf.constant(weights), name="scores")
        layers.summarize_activation(tf.nn.relu(scores, name="hidden"))
        layers.summarize_activation(tf.nn.relu6(scores, name="capped"))
        layers.summarize_activation(tf.nn.tanh(scores, name="squashed"))
        # --- tensors
        tf.add_to_collection("watched", tf.reduce_mean(scores, name="average"))
        tf.add_to_collection("watched", tf.reduce_max(scores, 0, name="largest"))
        layers.summarize_collection("watched")
        layers.summarize_tensor(scores, "all")
        # --- write
        with tf.Session() as sess, tf.summary.FileWriter(directory) as writer:
            writer.add_summary(sess.run(tf.summary.merge_all()), 0)
        # --- read
        files = glob.glob(os.path.join(directory, "events.*"))
        return read_events([np.fromfile(path, np.uint8) for path in files])
