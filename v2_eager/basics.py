"""`tf.Session`, `tf.placeholder`, `feed_dict` → a function and its arguments."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

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
    """Multiplies two matrices, or each matrix of a batch by that of another batch."""
    return tf.matmul(x, y)


def product_of_random_matrices(size, seed, dtype="float32"):
    """Draws two standard normal square matrices and multiplies them."""
    # --- build
    tf.random.set_seed(seed)
    x = tf.random.normal([size, size], dtype=dtype, seed=1)
    y = tf.random.normal([size, size], dtype=dtype, seed=2)
    z = tf.matmul(x, y)  # the numbers themselves: tf.Tensor([[…]], …)
    # --- run
    return z.numpy()


def product_kernel(shape):
    """Returns the op type of `tf.matmul(x, x)` for a float32 x of the given shape."""

    # --- trace
    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32)])
    def square(x):
        return tf.matmul(x, x)

    graph = square.get_concrete_function().graph
    # --- look
    return next(op.type for op in graph.get_operations() if "MatMul" in op.type)


def polynomial(x, w):
    """Evaluates w[0] x² + w[1] x + w[2]."""
    features = tf.stack([tf.square(x), x, tf.ones_like(x)], axis=1)
    return tf.squeeze(tf.matmul(features, w), axis=1)


def regularized_loss(x, y, w, penalty=0.1):
    """Computes half the sum of squared errors, plus `penalty` times half of |w|²."""
    return tf.nn.l2_loss(polynomial(x, w) - y) + penalty * tf.nn.l2_loss(w)


def train_classifier(images, labels, kernel, learning_rate=1e-3):
    """Trains one dense layer with Adam, one batch per step."""
    # --- build
    kernel = tf.Variable(kernel, name="dense/kernel")
    bias = tf.Variable(tf.zeros(kernel.shape[-1:], kernel.dtype), name="dense/bias")
    weights = [kernel, bias]
    optimizer = optimizers.Adam(learning_rate).create_slots(weights)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.matmul(x, kernel) + bias
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        gradients = tape.gradient(loss, weights)
        optimizer.apply_gradients(zip(gradients, weights))
        return loss

    # --- run
    losses = []
    for batch, classes in zip(images, labels):
        losses.append(train_step(tf.constant(batch), tf.constant(classes)).numpy())
    return np.array(losses), [weight.numpy() for weight in weights]


def fit_polynomial(x, w, learning_rate=0.1, penalty=0.1):
    """Fits a polynomial to 5 x² + 3 with Adam, one batch of samples per step."""
    # --- build
    weights = tf.Variable(w)
    adam = optimizers.Adam(learning_rate).create_slots([weights])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = regularized_loss(x, y, weights, penalty)
        # Reads and writes of variables run in the order in which they are written.
        adam.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    # --- run
    losses = []
    for samples in x:
        targets = 5 * np.square(samples) + 3
        # Pass tensors. Arrays work, too, but each Python number makes a new trace.
        losses.append(step(tf.constant(samples), tf.constant(targets)).numpy())
    return weights.numpy(), np.array(losses, x.dtype)


def frozen_batches(calls, size, seed):
    """Draws with NumPy while the graph is built; a trap: all calls get one batch."""
    rng = np.random.RandomState(seed)

    # --- build
    @tf.function
    def step():
        # Python runs only while TensorFlow traces, in the first call. A classic
        # tutorial draws like this in its training step: it trains on one batch only.
        return tf.constant(rng.uniform(-10, 10, size))

    # --- run
    return np.stack([step().numpy() for _ in range(calls)])


def fed_batches(sizes, seed):
    """Draws each batch with NumPy outside the graph, and feeds it."""
    rng = np.random.RandomState(seed)

    # --- build
    # The signature is that of the placeholder. Without it, each new size is traced.
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def step(batch):
        return tf.identity(batch)

    # --- run
    batches = [rng.uniform(-10, 10, size) for size in sizes]
    return [step(tf.constant(b)).numpy() for b in batches]


def drawn_batches(calls, size, seed):
    """Draws a new batch in each run, with a random op of the graph."""
    # --- build
    tf.random.set_seed(seed)

    @tf.function
    def step():
        return tf.random.uniform([size], -10, 10, seed=1)

    # --- run
    return np.stack([step().numpy() for _ in range(calls)])
