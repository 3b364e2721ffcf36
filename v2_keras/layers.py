"""`tf.layers`: `dense`, `conv2d`, `batch_normalization`, `dropout` → small modules.

A layer of Keras computes in float32 whatever the dtype of its input, and returns
float32, unless it is made with another `dtype=`.
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from v2_eager.keras_functions import Dropout
from v2_eager.numerics import initializers

__all__ = [
    "make_dense_layers",
    "make_conv1d",
    "make_conv2d",
    "make_conv2d_transpose",
    "make_separable_conv2d",
    "pool_and_flatten",
    "make_embedding",
    "make_batch_norm",
    "make_layer_norm",
    "train",
]

INNER = {
    layers.BatchNormalization: "batch_normalization/",
    layers.GroupNormalization: "LayerNorm/",
    layers.LayerNormalization: "LayerNorm/",
}
"""What TensorFlow 1 put between the scope and the variables of a layer."""


def old_names(layer):
    """{name in TensorFlow 1: variable} of a layer of this page.

    Layers are called as their scopes were, so that paths are the old names.
    """
    if isinstance(layer, layers.Embedding):
        return {f"{layer.name}/table": layer.embeddings}
    for kind, inner in INNER.items():
        if isinstance(layer, kind):
            return {f"{layer.name}/{inner}{v.name}": v for v in layer.weights}
    return {variable.path: variable for variable in layer.weights}


def make_dense_layers(units, use_bias=True, scale=None, name="perceptron"):
    """Makes dense layers, ReLU between them, whose names TensorFlow 1 counted.

    Returns a `Perceptron`; see the class.

    `l2_loss` was half the sum of the squares: the regularizer gets half the weight.
    """
    return Perceptron(units, use_bias, scale, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class Perceptron(keras.Model):
    """Dense layers with ReLU between them: returns (outputs, penalty).

    [..., features] floats become [..., units[-1]]. The penalty is a scalar, the sum of
    scale / 2 * sum(kernel ** 2) over the layers, and is among `losses`, too. Layers are
    called "dense", "dense_1", …, as TensorFlow 1 counted them.

    Args:
        units: list of ints, the sizes of the layers.
        use_bias: bool, whether layers add a bias.
        scale: float, the weight of the penalty, or None for no penalty.
        **options: those of `keras.Model`.
    """

    def __init__(self, units, use_bias, scale, **options):
        super().__init__(**options)
        self.options = {"units": list(units), "use_bias": use_bias, "scale": scale}
        regularizer = None if scale is None else keras.regularizers.L2(scale / 2)
        # --- layers
        self.dense_layers = [
            layers.Dense(
                size,
                activation="relu" if i < len(units) - 1 else None,
                use_bias=use_bias,
                kernel_regularizer=regularizer,
                name=f"dense_{i}" if i else "dense",
                dtype=self.dtype_policy,
            )
            for i, size in enumerate(units)
        ]
        for layer in self.dense_layers:  # tf.train.Checkpoint passes over lists
            setattr(self, layer.name, layer)

    def call(self, x):
        for layer in self.dense_layers:
            x = layer(x)
        # --- penalty
        return x, sum(self.losses, start=tf.zeros([], x.dtype))

    def get_config(self):
        return {**super().get_config(), **self.options}


def make_conv1d(filters, size, stride=1, padding="valid", dilation=1, name="conv1d"):
    """Makes a convolution over time."""
    return layers.Conv1D(
        filters, size, stride, padding, dilation_rate=dilation, name=name
    )


def make_conv2d(
    filters,
    size,
    strides=(1, 1),
    padding="valid",
    activation=None,
    use_bias=True,
    name="conv2d",
):
    """Makes a convolution over images.

    Raises:
        ValueError: another padding; of the callable: not four dimensions.
        TypeError: of the callable: unknown channels.
    """
    return layers.Conv2D(
        filters,
        size,
        strides,
        padding,
        activation=activation,
        use_bias=use_bias,
        name=name,
    )


def make_conv2d_transpose(
    filters, size, strides=(1, 1), padding="valid", name="conv2d_transpose"
):
    """Makes a transposed convolution, which enlarges images."""
    return layers.Conv2DTranspose(filters, size, strides, padding, name=name)


def make_separable_conv2d(
    filters, size, strides=(1, 1), padding="valid", multiplier=1, name="separable"
):
    """Makes a convolution of every channel on its own, and one that mixes them."""
    return layers.SeparableConv2D(
        filters, size, strides, padding, depth_multiplier=multiplier, name=name
    )


def pool_and_flatten(x, size, strides, padding="valid"):
    """Pools images by the maximum and by the average, and flattens the first.

    The layers get the dtype of `x`, for their own is float32.
    """
    dtype = tf.as_dtype(x.dtype).name
    maxima = layers.MaxPooling2D(size, strides, padding, dtype=dtype)(x)
    averages = layers.AveragePooling2D(size, strides, padding, dtype=dtype)(x)
    return averages, layers.Flatten(dtype=dtype)(maxima)


def make_embedding(classes, size, name="embedding"):
    """Makes a table of vectors, to be looked up by number.

    A negative number raised in TensorFlow 1, on a CPU, and a float raised anywhere.
    Keras counts negative numbers from the last row, -1, and truncates floats.

    Raises:
        tf.errors.InvalidArgumentError: of the callable, on a CPU: a number that is
            `classes` or more, or less than -`classes`.
    """
    draw = keras.initializers.RandomNormal(stddev=0.125)
    return layers.Embedding(classes, size, embeddings_initializer=draw, name=name)


def make_batch_norm(
    momentum=0.99, epsilon=0.001, fused=False, update=True, name="normalized"
):
    """Makes batch normalization, with its updates remembered or forgotten.

    Keras has the defaults of TensorFlow 1, and moves towards the biased variance even
    where `fused`, which moved towards the unbiased one.

    Args:
        fused: has no effect: Keras chooses the kernel.

    Returns:
        Callable from a [..., channels] float tensor and the keyword `training`, a bool,
        to a float32 tensor of the same shape.

    Raises:
        TypeError: of the callable in TensorFlow 1: `fused` and float64.
    """
    make = layers.BatchNormalization if update else Forgetful
    return make(momentum=momentum, epsilon=epsilon, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class Forgetful(layers.BatchNormalization):
    """A batch norm that does not keep its updates of the moving statistics.

    In training it normalizes by the batch, as `keras.layers.BatchNormalization` does,
    and puts the old moving mean and variance back. A momentum of 1 is not the same: it
    makes NaN of a batch with inf.

    Args:
        **kwargs: those of `keras.layers.BatchNormalization`.
    """

    def call(self, inputs, training=None, mask=None):
        moving = self.moving_mean, self.moving_variance
        kept = [variable + 0 for variable in moving]
        outputs = super().call(inputs, training=training, mask=mask)
        if training:
            for variable, value in zip(moving, kept):
                variable.assign(value)
        return outputs


def make_layer_norm(begin_axis=1, name="normalized"):
    """Makes layer normalization, over all axes of an example and not just the last.

    With a scale for each channel, that is one group; `LayerNormalization` has a scale
    for each of what it normalizes over, and is for a `begin_axis` that is the last.

    Raises:
        ValueError: as it is built, `begin_axis` is neither 1 nor the last axis.
    """
    if begin_axis == 1:
        return layers.GroupNormalization(groups=1, epsilon=1e-12, name=name)
    return LastAxisNormalization(begin_axis, epsilon=1e-12, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class LastAxisNormalization(layers.LayerNormalization):
    """Layer normalization over the last axis, which refuses another one.

    `keras.layers.LayerNormalization` takes any axis, and normalizes over it alone,
    where TensorFlow 1 normalized over all axes from `begin_norm_axis` on.

    Args:
        axis: int, -1 or the number of the last axis of the inputs.
        **kwargs: others of `keras.layers.LayerNormalization`.

    Raises:
        ValueError: when it is built, `axis` is not the last axis.
    """

    def build(self, shape):
        (axis,) = np.ravel(self.axis)  # a list of one, where it was loaded
        if axis not in (-1, len(shape) - 1):
            raise ValueError(f"begin_axis {axis} is not the last of {len(shape)}")
        super().build(shape)


def train(images, labels, steps, rate=0.125, update=True):
    """Trains a small convolutional network with batch normalization and dropout.

    Initial weights and dropout draw the numbers of TensorFlow 1; Keras' initializers
    and its `Dropout` have streams of their own.
    """
    # --- model
    tf.random.set_seed(7)
    make_norm = layers.BatchNormalization if update else Forgetful
    draw = [initializers.glorot_uniform(seed) for seed in (1, 2, 3)]
    model = keras.Sequential(
        [
            keras.Input(images.shape[1:]),
            layers.Conv2D(
                4,
                3,
                padding="same",
                use_bias=False,
                kernel_initializer=draw[0],
                name="conv2d",
            ),
            make_norm(momentum=0.75, name="batch_normalization"),
            layers.ReLU(),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            Dropout(0.25, seed=4),
            layers.Dense(5, "relu", kernel_initializer=draw[1], name="dense"),
            layers.Dense(3, kernel_initializer=draw[2], name="dense_1"),
        ],
        name="network",
    )
    # --- step
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(rate), loss)
    # --- run
    history = model.fit(
        images, labels, len(images), epochs=steps, shuffle=False, verbose=0
    )
    return {
        "losses": list(np.float32(history.history.get("loss", []))),
        "variables": {
            name.removeprefix("network/"): variable.numpy()
            for name, variable in old_names(model).items()
        },
        "logits": model(images, training=False).numpy(),
    }
