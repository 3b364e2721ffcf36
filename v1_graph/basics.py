"""`tf.Session`, `tf.placeholder`, `feed_dict` → a function and its arguments."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "product",
    "product_of_random_matrices",
    "product_kernel",
    "polynomial",
    "regularized_loss",
    "train_classifier",
    "fit_polynomial",
    "frozen_batches",
    "fed_batches",
    "drawn_batches",
]


def product(x, y):
    """Multiplies two matrices, or each matrix of a batch by that of another batch.

    Args:
        x: [..., n, k] tensor.
        y: [..., k, m] tensor of the same dtype.

    Returns:
        [..., n, m] tensor.

    Raises:
        ValueError: while a graph is made: vectors, or sizes that do not fit.
        TypeError: while a graph is made: two different dtypes.
        tf.errors.InvalidArgumentError: one of these mistakes, if it is found only when
            the op runs.
    """
    return tf.matmul(x, y)


def product_of_random_matrices(size, seed, dtype="float32"):
    """Draws two standard normal square matrices and multiplies them.

    Args:
        size: number of rows and columns.
        seed: the global seed; the two draws have the op seeds 1 and 2.
        dtype: name of a floating dtype.

    Returns:
        [size, size] array of `dtype`.
    """
    # --- build
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        x = tf.random_normal([size, size], dtype=dtype, seed=1)
        y = tf.random_normal([size, size], dtype=dtype, seed=2)
        z = tf.matmul(x, y)  # no numbers yet, only a symbol: Tensor("MatMul:0", …)
        # --- run
        with tf.Session() as sess:
            return sess.run(z)


def product_kernel(shape):
    """Returns the op type of `tf.matmul(x, x)` for a float32 x of the given shape.

    Args:
        shape: list of sizes, None for an unknown one; None for an unknown rank.

    Returns:
        "MatMul" if the rank is known to be 2. Otherwise "BatchMatMulV2", which may sum
        in another order, and so round differently.
    """
    # --- trace
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, shape)  # no shape means None
        y = tf.matmul(x, x)
    # --- look
    return y.op.type


def polynomial(x, w):
    """Evaluates w[0] x² + w[1] x + w[2].

    Args:
        x: [samples] tensor.
        w: [3, 1] tensor of the same dtype.

    Returns:
        [samples] tensor.
    """
    features = tf.stack([tf.square(x), x, tf.ones_like(x)], axis=1)
    return tf.squeeze(tf.matmul(features, w), axis=1)


def regularized_loss(x, y, w, penalty=0.1):
    """Computes half the sum of squared errors, plus `penalty` times half of |w|².

    Args:
        x: [samples] tensor.
        y: [samples] tensor, the targets.
        w: [3, 1] tensor.
        penalty: weight of the regularization.

    Returns:
        Scalar tensor.
    """
    return tf.nn.l2_loss(polynomial(x, w) - y) + penalty * tf.nn.l2_loss(w)


def train_classifier(images, labels, kernel, learning_rate=1e-3):
    """Trains one dense layer with Adam, one batch per step.

    Args:
        images: [steps, batch, features] float array.
        labels: [steps, batch] int64 array, classes below the kernel's columns.
        kernel: [features, classes] array of the images' dtype, the initial value.
        learning_rate: learning rate of Adam.

    Returns:
        The [steps] losses, each before its update, and the layer's kernel and bias.

    Raises:
        tf.errors.InvalidArgumentError: a label is not a class.
    """
    # --- build
    with tf.Graph().as_default():
        x = tf.placeholder(images.dtype, [None, images.shape[-1]])
        y = tf.placeholder(tf.int64, [None])
        start = tf.constant_initializer(kernel)
        logits = tf.layers.dense(x, kernel.shape[-1], kernel_initializer=start)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
        train_op = tf.train.AdamOptimizer(learning_rate).minimize(loss)
        # --- run
        losses = []
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for batch, classes in zip(images, labels):
                _, value = sess.run([train_op, loss], {x: batch, y: classes})
                losses.append(value)
            return np.array(losses), sess.run(tf.trainable_variables())


def fit_polynomial(x, w, learning_rate=0.1, penalty=0.1):
    """Fits a polynomial to 5 x² + 3 with Adam, one batch of samples per step.

    Args:
        x: [steps, samples] float array.
        w: [3, 1] array of the same dtype, the initial value.
        learning_rate: learning rate of Adam.
        penalty: weight of the regularization.

    Returns:
        The fitted [3, 1] array, and the [steps] losses, each before its update.

    Raises:
        TypeError: while a graph is made: integers, or two different dtypes.
        ValueError: while a graph is made: samples that are not vectors.
        tf.errors.InvalidArgumentError: one of these mistakes, if it is found only when
            the graph runs.
    """
    # --- build
    with tf.Graph().as_default():
        # The rank matters: without a shape `polynomial` runs other kernels.
        x_in = tf.placeholder(x.dtype, [None])
        y_in = tf.placeholder(x.dtype, [None])
        weights = tf.get_variable("w", initializer=w)
        loss = regularized_loss(x_in, y_in, weights, penalty)
        # Nothing else orders the loss and the update of the weights that it reads.
        with tf.control_dependencies([loss]):
            train = tf.train.AdamOptimizer(learning_rate).minimize(loss)
        # --- run
        losses = []
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for samples in x:
                feed = {x_in: samples, y_in: 5 * np.square(samples) + 3}
                losses.append(sess.run([loss, train], feed)[0])
            return sess.run(weights), np.array(losses, x.dtype)


def frozen_batches(calls, size, seed):
    """Draws with NumPy while the graph is built; a trap: all calls get one batch.

    Args:
        calls: how many batches to draw.
        size: samples per batch.
        seed: seed of NumPy's generator.

    Returns:
        [calls, size] float64 array of equal rows.
    """
    rng = np.random.RandomState(seed)
    # --- build
    with tf.Graph().as_default():
        batch = tf.constant(rng.uniform(-10, 10, size))  # drawn here, once
        # --- run
        with tf.Session() as sess:
            return np.stack([sess.run(batch) for _ in range(calls)])


def fed_batches(sizes, seed):
    """Draws each batch with NumPy outside the graph, and feeds it.

    Args:
        sizes: list of the batches' sizes.
        seed: seed of NumPy's generator.

    Returns:
        List of [size] float64 arrays.
    """
    rng = np.random.RandomState(seed)
    # --- build
    with tf.Graph().as_default():
        batch_in = tf.placeholder(tf.float64, [None])
        batch = tf.identity(batch_in)
        # --- run
        with tf.Session() as sess:
            batches = [rng.uniform(-10, 10, size) for size in sizes]
            return [sess.run(batch, {batch_in: b}) for b in batches]


def drawn_batches(calls, size, seed):
    """Draws a new batch in each run, with a random op of the graph.

    Args:
        calls: how many batches to draw.
        size: samples per batch.
        seed: the global seed; the draw has the op seed 1.

    Returns:
        [calls, size] float32 array.
    """
    # --- build
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        batch = tf.random_uniform([size], -10, 10, seed=1)
        # --- run
        with tf.Session() as sess:
            return np.stack([sess.run(batch) for _ in range(calls)])
