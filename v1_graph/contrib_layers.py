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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def initial_kernels(shapes, seed):
    """Draws kernels by the initializers that contrib had.

    Args:
        shapes: list of lists of ints, [..., inputs, outputs].
        seed: of each op; that of the graph is 7.

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
    """Makes dense layers: ReLU where no activation is given, None after the last.

    Args:
        units: list of the layers' sizes.
        scale: weight of an l2 penalty on the weights, a float, or None.
        name: scope of the variables `fully_connected/weights`, `…/biases`,
            `fully_connected_1/weights`, …

    Returns:
        Callable from a [..., features] float tensor to the [..., units[-1]] tensor and
        the penalty, a scalar.

    Raises:
        ValueError: of the callable: a scale below 0, or an integer; no rank of 2 or
            more, or unknown features.
    """

    def fully_connected(x):
        # --- layers
        layers = tensorflow.contrib.layers
        options = {}
        if scale is not None:
            options["weights_regularizer"] = layers.l2_regularizer(scale)
        for i, size in enumerate(units):
            if i == len(units) - 1:
                options["activation_fn"] = None  # else it would be tf.nn.relu
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
        stride: of the first, likewise.
        padding: "SAME" or "VALID".
        rate: dilation of the second.
        biases: whether there are any.
        name: scope of the variables `Conv/weights`, `Conv/biases`, `Conv_1/weights`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, filters[1]].

    Raises:
        ValueError: of the callable: another padding, not four dimensions, or unknown
            channels.
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
    """Makes layers by `repeat`, each the same, and by `stack`, each of another size.

    Args:
        filters: number of channels of two convolutions.
        units: list of the dense layers' sizes.
        name: scope of the variables `conv/conv_1/weights`, `conv/conv_2/weights`, …,
            `fc/fc_1/weights`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch,
        units[-1]], after ReLU, too.
    """

    def repeated(x):
        layers = tensorflow.contrib.layers
        draw = {"weights_initializer": layers.xavier_initializer(seed=1)}
        x = layers.repeat(x, 2, layers.conv2d, filters, [3, 3], scope="conv", **draw)
        x = layers.flatten(layers.max_pool2d(x, [2, 2]))
        return layers.stack(x, layers.fully_connected, units, scope="fc", **draw)

    return tf.make_template(name, repeated)


def pool_and_flatten(x, size):
    """Pools images by the maximum and by the average, and flattens the first.

    Args:
        x: [batch, height, width, channels] float tensor.
        size: of the windows, a number or [height, width]; they are 2 apart.

    Returns:
        (averages [batch, new height, new width, channels], with padding, maxima [batch,
        features], without).
    """
    layers = tensorflow.contrib.layers
    averages = layers.avg_pool2d(x, size, padding="SAME")
    return averages, layers.flatten(layers.max_pool2d(x, size))


def dropout(x, keep_prob, seed, is_training=True, noise_shape=None, draws=2):
    """Keeps a share of the elements in training, and scales them up.

    Args:
        x: float array.
        keep_prob: the share, in (0, 1].
        seed: of the op; that of the graph is 7.
        is_training: whether to drop anything.
        noise_shape: list, 1 where a draw is for all, or None for a draw of every
            element.
        draws: how often to do it.

    Returns:
        List of arrays like x.

    Raises:
        ValueError: a share outside of (0, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        # Unlike tf.layers.dropout it drops unless it is told not to.
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
    """Makes embeddings of sequences, which an encoder and a decoder may share.

    Args:
        vocab_size: number of rows.
        embed_dim: size of a vector.
        name: scope of the variable `EmbedSequence/embeddings`.

    Returns:
        Callable from an int tensor of any shape to float32 [..., embed_dim].

    Raises:
        ValueError: of the callable: no number of rows, or no size.
        tf.errors.InvalidArgumentError: of the callable, on a CPU: no such row.
    """

    def embed(ids):
        draw = tf.glorot_uniform_initializer(seed=1)  # get_variable's own, unseeded
        return tensorflow.contrib.layers.embed_sequence(
            ids, vocab_size, embed_dim, initializer=draw
        )

    return tf.make_template(name, embed)


def make_bow_encoder(vocab_size, embed_dim, sparse_lookup=True, name="text"):
    """Makes a bag of words: the mean of the embeddings of a document.

    Args:
        vocab_size: number of rows.
        embed_dim: size of a vector.
        sparse_lookup: whether 0 is padding; a document of nothing else has row 0.
        name: scope of the variable `bow_encoder/embeddings`.

    Returns:
        Callable from a [batch, length] int tensor to [batch, embed_dim] float32.

    Raises:
        ValueError: of the callable: no number of rows, or no size.
    """

    def encode(ids):
        draw = tf.glorot_uniform_initializer(seed=1)
        return tensorflow.contrib.layers.bow_encoder(
            ids, vocab_size, embed_dim, sparse_lookup, initializer=draw
        )

    return tf.make_template(name, encode)


def one_hot(labels, num_classes, on_value=1.0, off_value=0.0):
    """Gives every label a row of its own.

    Args:
        labels: int tensor of any shape.
        num_classes: size of a row.
        on_value, off_value: what stands at the label, and elsewhere.

    Returns:
        [..., num_classes] float32 tensor.
    """
    return tensorflow.contrib.layers.one_hot_encoding(
        labels, num_classes, on_value, off_value
    )


def penalty(weights, scale_l1, scale_l2):
    """Penalizes weights by their absolute values and by half their squares.

    Args:
        weights: list of float32 tensors, or float64 ones.
        scale_l1, scale_l2: floats; 0.0 where there is no such penalty.

    Returns:
        Scalar, which is in the collection of the regularization losses, too.

    Raises:
        ValueError: an integer, a scale below 0, or no weights.
    """
    layers = tensorflow.contrib.layers
    regularizer = layers.l1_l2_regularizer(scale_l1, scale_l2)
    return layers.apply_regularization(regularizer, weights)


def summarize(x, weights):
    """Summarizes activations by what is zero, tensors by histograms, or as scalars.

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
