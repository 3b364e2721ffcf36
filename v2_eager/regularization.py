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
    """Applies two dense layers, with biases and ReLU if biases are given."""
    if biases is None:
        return tf.matmul(tf.matmul(x, kernels[0]), kernels[1])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernels[0]), biases[0]))
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(hidden, kernels[1]), biases[1]))


def penalties(kernel, scale):
    """Computes the L1 penalty, the L2 penalty (half the squares) and their sum."""
    l1 = scale * tf.reduce_sum(tf.abs(kernel))
    l2 = scale * tf.nn.l2_loss(kernel)  # half the sum of squares; Keras' L2 is not
    return [l1, l2, l1 + l2]


def contrib_penalties(kernel, scale):
    """Computes L1, L2 and their sum with the regularizers of contrib and slim."""
    if scale < 0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    return penalties(kernel, scale)


def make_classifier(units, scale, name="classifier"):
    """Makes a network with an L2 penalty on its kernels, but not on its biases.

    Returns a `Classifier`; see the class.
    """
    return Classifier(units, scale, name)


class Classifier(tf.Module):
    """Dense layers with ELU between them, and the L2 penalty on their kernels.

    A call takes x, [batch, inputs] floats. It returns the logits, [batch, units[-1]],
    and the penalty, a scalar: scale times half the sum of squares of all kernels. The
    first call makes the variables.

    Args:
        units: list of the layers' sizes.
        scale: weight of the l2 penalty.
        name: scope of the variables `layer0/kernel`, `layer0/bias`, `layer1/kernel`, …
    """

    def __init__(self, units, scale, name):
        super().__init__()  # without the name: tf.Module accepts no "/" in a name
        self.units, self.scale, self.path = units, scale, name
        self.kernels, self.biases = [], []

    @property
    def built(self):
        """Whether the variables exist."""
        return bool(self.kernels)

    def __call__(self, x):
        # --- variables
        if not self.kernels:
            sizes = zip([x.shape[1], *self.units], self.units)
            for i, shape in enumerate(sizes):
                kernel = initializers.glorot_uniform(seed=1 + i)(shape, x.dtype)
                bias = tf.zeros(shape[1:], x.dtype)
                name = f"{self.path}/layer{i}"
                with tf.name_scope(""):  # an outer scope does not change the names
                    self.kernels.append(tf.Variable(kernel, name=f"{name}/kernel"))
                    self.biases.append(tf.Variable(bias, name=f"{name}/bias"))
        # --- layers
        for i, (kernel, bias) in enumerate(zip(self.kernels, self.biases)):
            x = tf.nn.bias_add(tf.matmul(x, kernel), bias)
            if i < len(self.units) - 1:
                x = tf.nn.elu(x)
        # --- penalty
        # There is no collection: the model computes the penalty from its kernels.
        return x, tf.add_n([self.scale * tf.nn.l2_loss(k) for k in self.kernels])


def points_on_a_disc(samples, seed):
    """Draws noisy points in a rectangle; labels them by whether they lie on a disc."""
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
    """Trains a network of ELU layers with Adam, with or without L2 penalties."""
    # --- build
    if labels.shape[1:] != (1,):  # else they would broadcast against the outputs
        raise ValueError(f"labels must be [samples, 1], not {labels.shape}")
    x, y = tf.constant(points), tf.constant(labels)
    weights = [tf.Variable(kernel) for kernel in kernels]
    offsets = [tf.Variable(bias) for bias in biases]
    trained = [*weights, *offsets]
    adam = optimizers.Adam(rate).create_slots(trained)

    # --- losses
    def losses():
        error = tf.reduce_sum(tf.square(y - forward(x, weights, offsets))) / len(points)
        # This list replaces the collection, which also held penalties of older models.
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
    """Computes the output of the network, [batch, 1]."""
    for weight, offset in zip(weights, offsets):
        x = tf.nn.elu(tf.nn.bias_add(tf.matmul(x, weight), offset))
    return x


def decision_boundary(kernels, biases, spacing=0.1):
    """Evaluates a trained network on a grid, and draws where its output crosses 0.5."""
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
    # The same with matplotlib: plt.contour(xx, yy, predictions, levels=[0.5])
    return predictions, picture
