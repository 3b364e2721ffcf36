"""`l2_regularizer`, `REGULARIZATION_LOSSES`, `tf.add_to_collection` → a sum."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "two_layers",
    "penalties",
    "contrib_penalties",
    "make_classifier",
    "points_on_a_disc",
    "train",
    "decision_boundary",
]

BLUE, RED, BLACK = [33, 102, 172], [178, 24, 43], [0, 0, 0]


def two_layers(x, kernels, biases=None):
    """Applies two dense layers, with biases and ReLU if biases are given.

    Args:
        x: [batch, inputs] tensor.
        kernels: [[inputs, hidden], [hidden, outputs]] tensors.
        biases: None, or [[hidden], [outputs]] tensors.

    Returns:
        [batch, outputs] tensor.
    """
    if biases is None:
        return tf.matmul(tf.matmul(x, kernels[0]), kernels[1])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernels[0]), biases[0]))
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(hidden, kernels[1]), biases[1]))


def penalties(kernel, scale):
    """Computes the L1 penalty, the L2 penalty (half the squares) and their sum.

    Args:
        kernel: tensor of any shape.
        scale: weight of the penalties, a number.

    Returns:
        List of three scalars: l1, l2 and their sum.
    """
    l1 = scale * tf.reduce_sum(tf.abs(kernel))
    l2 = scale * tf.nn.l2_loss(kernel)
    return [l1, l2, l1 + l2]


def contrib_penalties(kernel, scale):
    """Computes L1, L2 and their sum with the regularizers of contrib and slim.

    Args:
        kernel: tensor of any shape.
        scale: weight of the penalties, a positive float.

    Returns:
        List of three scalars: l1, l2 and their sum.

    Raises:
        ValueError: the scale is negative.
    """
    import tensorflow  # compat.v1 has no contrib, and no version after 1.15

    layers = tensorflow.contrib.layers
    regularizers = [
        layers.l1_regularizer(scale),
        layers.l2_regularizer(scale),
        layers.l1_l2_regularizer(scale, scale),
    ]
    return [regularizer(kernel) for regularizer in regularizers]


def make_classifier(units, scale, name="classifier"):
    """Makes a network with an L2 penalty on its kernels, but not on its biases.

    Args:
        units: list of the layers' sizes; ELU follows each layer but the last.
        scale: weight of the l2 penalty.
        name: scope of the variables `layer0/kernel`, `layer0/bias`, `layer1/kernel`, …

    Returns:
        Callable from a [batch, inputs] tensor to the [batch, units[-1]] logits and the
        penalty, a scalar that does not grow if the callable is called again.
    """

    def classify(x):
        # --- variables
        # The scope's regularizer penalizes each variable once, when it is made.
        scope = tf.get_variable_scope()
        with tf.variable_scope(scope, regularizer=lambda w: scale * tf.nn.l2_loss(w)):
            for i, size in enumerate(units):
                with tf.variable_scope("layer%d" % i):
                    kernel = tf.get_variable(
                        "kernel",
                        [x.shape[1].value, size],
                        x.dtype,
                        tf.glorot_uniform_initializer(seed=1 + i, dtype=x.dtype),
                    )
                    bias = tf.get_variable(
                        "bias",
                        [size],
                        x.dtype,
                        tf.zeros_initializer(),
                        regularizer=tf.no_regularizer,
                    )
                # --- layers
                x = tf.nn.bias_add(tf.matmul(x, kernel), bias)
                if i < len(units) - 1:
                    x = tf.nn.elu(x)
        # --- penalty
        return x, tf.losses.get_regularization_loss(scope.name + "/")

    return tf.make_template(name, classify)


def points_on_a_disc(samples, seed):
    """Draws noisy points in a rectangle; labels them by whether they lie on a disc.

    Args:
        samples: number of points.
        seed: seed of NumPy's generator.

    Returns:
        ([samples, 2] array, [samples, 1] array of 0 within the unit circle, else 1).
    """
    random = np.random.RandomState(seed)
    points, labels = [], []
    for _ in range(samples):
        x, y = random.uniform(-1, 1), random.uniform(0, 2)
        labels.append(0 if x * x + y * y <= 1 else 1)
        points.append([random.normal(x, 0.1), random.normal(y, 0.1)])
    # hstack and reshape make columns of the flat lists of points and labels.
    return np.hstack(points).reshape(-1, 2), np.hstack(labels).reshape(-1, 1)


def train(
    points, labels, kernels, biases, steps, scale=0.003, rate=0.001, regularized=True
):
    """Trains a network of ELU layers with Adam, with or without L2 penalties.

    Args:
        points: [samples, inputs] float array.
        labels: [samples, 1] array of the same dtype.
        kernels: list of the initial kernels, arrays of the same dtype.
        biases: list of the initial biases.
        steps: number of steps.
        scale: weight of the l2 penalties.
        rate: learning rate.
        regularized: whether to minimize the penalties, too.

    Returns:
        dict with the [steps] arrays `loss` and `error`, computed before each step, and
        the trained `kernels` and `biases`.

    Raises:
        ValueError: the labels have another shape.
    """

    def get_weight(value):
        weight = tf.Variable(value)
        tf.add_to_collection("losses", scale * tf.nn.l2_loss(weight))
        return weight

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(points.dtype, [None, points.shape[1]])
        y = tf.placeholder(labels.dtype, [None, 1])
        weights = [get_weight(kernel) for kernel in kernels]
        offsets = [tf.Variable(bias) for bias in biases]
        layer = x
        for weight, offset in zip(weights, offsets):
            layer = tf.nn.elu(tf.nn.bias_add(tf.matmul(layer, weight), offset))
        # --- losses
        error = tf.reduce_sum(tf.square(y - layer)) / len(points)
        tf.add_to_collection("losses", error)
        loss = tf.add_n(tf.get_collection("losses"))
        # --- step
        optimizer = tf.train.AdamOptimizer(rate)
        # If the penalties are not minimized, only this orders them before the step.
        with tf.control_dependencies([loss, error]):
            step = optimizer.minimize(loss if regularized else error)
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for _ in range(steps):
            *values, _ = sess.run([loss, error, step], {x: points, y: labels})
            history.append(values)
        losses, errors = zip(*history)
        trained, moved = sess.run([weights, offsets])
    return {
        "loss": np.stack(losses),
        "error": np.stack(errors),
        "kernels": trained,
        "biases": moved,
    }


def decision_boundary(kernels, biases, spacing=0.1):
    """Evaluates a trained network on a grid, and draws where its output crosses 0.5.

    Args:
        kernels: list of arrays, see `train`.
        biases: list of arrays.
        spacing: spacing of the grid on [-1.2, 1.2) x [-0.2, 2.2).

    Returns:
        ([n, n] predictions, [n, n, 3] picture of bytes: two colours, and black on the
        boundary).
    """
    # --- grid
    xx, yy = np.mgrid[-1.2:1.2:spacing, -0.2:2.2:spacing]
    grid = np.c_[xx.ravel(), yy.ravel()].astype(kernels[0].dtype)
    # --- evaluate
    with tf.Graph().as_default(), tf.Session() as sess:
        layer = x = tf.placeholder(grid.dtype, [None, 2])
        for kernel, bias in zip(kernels, biases):
            layer = tf.nn.elu(tf.nn.bias_add(tf.matmul(layer, kernel), bias))
        predictions = sess.run(layer, {x: grid}).reshape(xx.shape)
    # --- draw
    inside = predictions > 0.5
    picture = np.where(inside[..., None], RED, BLUE).astype(np.uint8)
    edge = np.zeros_like(inside)
    edge[1:] |= inside[1:] != inside[:-1]
    edge[:, 1:] |= inside[:, 1:] != inside[:, :-1]
    picture[edge] = BLACK
    # The same with matplotlib: plt.contour(xx, yy, predictions, levels=[0.5])
    return predictions, picture
