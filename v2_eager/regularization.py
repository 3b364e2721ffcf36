"""`l2_regularizer`, `REGULARIZATION_LOSSES`, `tf.add_to_collection` → a sum."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers

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
    """Applies two layers: without biases linear, and no better than one; else ReLUs."""
    if biases is None:
        return tf.matmul(tf.matmul(x, kernels[0]), kernels[1])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernels[0]), biases[0]))
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(hidden, kernels[1]), biases[1]))


def penalties(kernel, scale):
    """Penalizes a kernel by its absolute values, by half its squares, and by both."""
    l1 = scale * tf.reduce_sum(tf.abs(kernel))
    l2 = scale * tf.nn.l2_loss(kernel)  # half of the sum of squares, unlike Keras' L2
    return [l1, l2, l1 + l2]


def contrib_penalties(kernel, scale):
    """Does the same by the regularizers of contrib, which slim had by its own name."""
    if scale < 0:
        raise ValueError(f"a scale less than 0: {scale}")
    return penalties(kernel, scale)


def make_classifier(units, scale, name="classifier"):
    """Makes a network whose kernels are penalized, and whose biases are not.

    Returns a `Classifier`; see the class.
    """
    return Classifier(units, scale, name)


class Classifier(tf.Module):
    """Dense layers with ELU between them, and the penalty on their kernels.

    A call takes x, [batch, inputs] floats. It returns the logits, [batch, units[-1]],
    and the penalty, scale times half the sum of squares of all kernels: a scalar. The
    first call makes the variables.

    Args:
        units: list of the layers' sizes.
        scale: weight of the l2 penalty.
        name: scope of the variables `layer0/kernel`, `layer0/bias`, `layer1/kernel`, …
    """

    def __init__(self, units, scale, name):
        super().__init__()  # whose name would have to be an identifier, without a "/"
        self.units, self.scale, self.path = units, scale, name
        self.kernels, self.biases = [], []

    @property
    def built(self):
        """Whether it has its variables."""
        return bool(self.kernels)

    def __call__(self, x):
        # --- variables
        if not self.kernels:
            sizes = zip([x.shape[1], *self.units], self.units)
            for i, shape in enumerate(sizes):
                kernel = initializers.glorot_uniform(seed=1 + i)(shape, x.dtype)
                bias = tf.zeros(shape[1:], x.dtype)
                name = f"{self.path}/layer{i}"
                with tf.name_scope(""):  # an outer scope is no part of the names
                    self.kernels.append(tf.Variable(kernel, name=f"{name}/kernel"))
                    self.biases.append(tf.Variable(bias, name=f"{name}/bias"))
        # --- layers
        for i, (kernel, bias) in enumerate(zip(self.kernels, self.biases)):
            x = tf.nn.bias_add(tf.matmul(x, kernel), bias)
            if i < len(self.units) - 1:
                x = tf.nn.elu(x)
        # --- penalty
        # Nothing is collected: the model knows its kernels, and says so when asked.
        return x, tf.add_n([self.scale * tf.nn.l2_loss(k) for k in self.kernels])


def points_on_a_disc(samples, seed):
    """Draws points in a rectangle, moves them a little, labels those off the disc."""
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
    """Trains a network of ELU layers by Adam, minimizing the penalties, too, or not."""
    # --- build
    if labels.shape[1:] != (1,):  # else they would be broadcast beside the outputs
        raise ValueError(f"labels must be [samples, 1], not {labels.shape}")
    x, y = tf.constant(points), tf.constant(labels)
    weights = [tf.Variable(kernel) for kernel in kernels]
    offsets = [tf.Variable(bias) for bias in biases]
    trained = [*weights, *offsets]
    adam = optimizers.Adam(rate).create_slots(trained)

    # --- losses
    def losses():
        error = tf.reduce_sum(tf.square(y - forward(x, weights, offsets))) / len(points)
        # The list that the collection was; no default graph remembers older models.
        penalties = [scale * tf.nn.l2_loss(weight) for weight in weights]
        return tf.add_n([*penalties, error]), error

    # --- step
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss, error = losses()
        target = loss if regularized else error
        adam.apply_gradients(zip(tape.gradient(target, trained), trained))
        return loss, error

    # --- run
    history = [step() for _ in range(steps)]
    loss, error = zip(*history)
    return {
        "loss": np.stack(loss),
        "error": np.stack(error),
        "kernels": [weight.numpy() for weight in weights],
        "biases": [offset.numpy() for offset in offsets],
    }


def forward(x, weights, offsets):
    """The output of the network, [batch, 1]."""
    for weight, offset in zip(weights, offsets):
        x = tf.nn.elu(tf.nn.bias_add(tf.matmul(x, weight), offset))
    return x


def decision_boundary(kernels, biases, spacing=0.1):
    """Evaluates a trained network on a grid, and draws where its answer crosses 0.5."""
    # --- grid
    xx, yy = np.mgrid[-1.2:1.2:spacing, -0.2:2.2:spacing]
    grid = np.c_[xx.ravel(), yy.ravel()].astype(kernels[0].dtype)
    # --- evaluate
    evaluate = tf.function(forward)
    layer = evaluate(tf.constant(grid), kernels, biases)
    predictions = layer.numpy().reshape(xx.shape)
    # --- draw
    inside = predictions > 0.5
    picture = np.where(inside[..., None], RED, BLUE).astype(np.uint8)
    edge = np.zeros_like(inside)
    edge[1:] |= inside[1:] != inside[:-1]
    edge[:, 1:] |= inside[:, 1:] != inside[:, :-1]
    picture[edge] = BLACK
    # The same by matplotlib: plt.contour(xx, yy, predictions, levels=[0.5])
    return predictions, picture
