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
    """Applies two layers: without biases linear, and no better than one; else ReLUs.

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
    """Penalizes a kernel by its absolute values, by half its squares, and by both.

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
    """Does the same by the regularizers of contrib, which slim had by its own name.

    Args:
        kernel: tensor of any shape.
        scale: weight of the penalties, a positive float.

    Returns:
        List of three scalars: l1, l2 and their sum.

    Raises:
        ValueError: a scale below 0.
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
    """Makes a network whose kernels are penalized, and whose biases are not.

    Args:
        units: list of the layers' sizes, ELU between them.
        scale: weight of the l2 penalty.
        name: scope of the variables `layer0/kernel`, `layer0/bias`, `layer1/kernel`, …

    Returns:
        Callable from a [batch, inputs] tensor to the [batch, units[-1]] logits and the
        penalty, a scalar that does not grow when it is called again.
    """

    def classify(x):
        # --- variables
        # Whatever is got in the scope is penalized, once, when it is made.
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
    """Draws points in a rectangle, moves them a little, labels those off the disc.

    Args:
        samples: how many.
        seed: of NumPy's generator.

    Returns:
        ([samples, 2] array, [samples, 1] array of 0 within the unit circle, else 1).
    """
    random = np.random.RandomState(seed)
    points, labels = [], []
    for _ in range(samples):
        x, y = random.uniform(-1, 1), random.uniform(0, 2)
        labels.append(0 if x * x + y * y <= 1 else 1)
        points.append([random.normal(x, 0.1), random.normal(y, 0.1)])
    # Points and labels came as a flat list each, which hstack and reshape made columns.
    return np.hstack(points).reshape(-1, 2), np.hstack(labels).reshape(-1, 1)


def train(
    points, labels, kernels, biases, steps, scale=0.003, rate=0.001, regularized=True
):
    """Trains a network of ELU layers by Adam, minimizing the penalties, too, or not.

    Args:
        points: [samples, inputs] float array.
        labels: [samples, 1] array of the same dtype.
        kernels: list of the initial kernels, arrays of the same dtype.
        biases: list of the initial biases.
        steps: how many steps to take.
        scale: of the l2 penalties.
        rate: learning rate.
        regularized: whether to minimize the penalties, too.

    Returns:
        dict with the [steps] arrays `loss` and `error`, each before its step, and the
        trained `kernels` and `biases`.

    Raises:
        ValueError: labels of another shape.
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
        # Where the penalties are only watched, nothing else orders them before a step.
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
    """Evaluates a trained network on a grid, and draws where its answer crosses 0.5.

    Args:
        kernels: list of arrays, see `train`.
        biases: list of arrays.
        spacing: of the grid on [-1.2, 1.2) x [-0.2, 2.2).

    Returns:
        ([n, n] predictions, [n, n, 3] picture of bytes: two colours and black between).
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
    # The same by matplotlib: plt.contour(xx, yy, predictions, levels=[0.5])
    return predictions, picture
