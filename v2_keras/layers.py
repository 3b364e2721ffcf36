"""`tf.layers`: `dense`, `conv2d`, `batch_normalization`, `dropout` → small modules.

A layer of Keras computes in float32 whatever the dtype of its input, and returns
float32, unless it has another `dtype=`.
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
"""{class: the scope that TensorFlow 1 put before the names of its variables}."""


def old_names(layer):
    """Maps the names in TensorFlow 1 to the variables of a layer of this page.

    Layers have the names of the old scopes, so that paths are the old names.
    """
    if isinstance(layer, layers.Embedding):
        return {f"{layer.name}/table": layer.embeddings}
    for kind, inner in INNER.items():
        if isinstance(layer, kind):
            return {f"{layer.name}/{inner}{v.name}": v for v in layer.weights}
    return {variable.path: variable for variable in layer.weights}


def make_dense_layers(units, use_bias=True, scale=None, name="perceptron"):
    """Makes a stack of dense layers with ReLU, named `dense`, `dense_1`, ….

    Returns a `Perceptron`; see the class.

    `l2_loss` was half the sum of the squares: the regularizer gets half the weight.
    """
    return Perceptron(units, use_bias, scale, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class Perceptron(keras.Model):
    """A stack of dense layers with ReLU: returns (outputs, L2 penalty).

    [..., features] floats become [..., units[-1]]. The penalty is a scalar, the sum of
    scale / 2 * sum(kernel ** 2) over the layers, and is also in `losses`. Layers are
    named "dense", "dense_1", …, as in TensorFlow 1.

    Args:
        units: list of ints, the sizes of the layers.
        use_bias: bool, whether layers add a bias.
        scale: float, the weight of the penalty, or None for no penalty.
        **options: arguments of `keras.Model`.
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
        for layer in self.dense_layers:  # tf.train.Checkpoint skips lists
            setattr(self, layer.name, layer)

    def call(self, x):
        for layer in self.dense_layers:
            x = layer(x)
        # --- penalty
        return x, sum(self.losses, start=tf.zeros([], x.dtype))

    def get_config(self):
        return {**super().get_config(), **self.options}


def make_conv1d(filters, size, stride=1, padding="valid", dilation=1, name="conv1d"):
    """Makes a 1-D convolution over time."""
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
    """Makes a 2-D convolution over images.

    Raises:
        ValueError: another padding; in a call: the input does not have four dimensions.
        TypeError: in a call: unknown channels.
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
    """Makes a transposed 2-D convolution, which enlarges images."""
    return layers.Conv2DTranspose(filters, size, strides, padding, name=name)


def make_separable_conv2d(
    filters, size, strides=(1, 1), padding="valid", multiplier=1, name="separable"
):
    """Makes a separable 2-D convolution: depthwise, then pointwise."""
    return layers.SeparableConv2D(
        filters, size, strides, padding, depth_multiplier=multiplier, name=name
    )


def pool_and_flatten(x, size, strides, padding="valid"):
    """Pools images by maximum and by average, and flattens the maxima.

    The layers get the dtype of `x`, because their default is float32.
    """
    dtype = tf.as_dtype(x.dtype).name
    maxima = layers.MaxPooling2D(size, strides, padding, dtype=dtype)(x)
    averages = layers.AveragePooling2D(size, strides, padding, dtype=dtype)(x)
    return averages, layers.Flatten(dtype=dtype)(maxima)


def make_embedding(classes, size, name="embedding"):
    """Makes an embedding: a table of vectors that are looked up by id.

    TensorFlow 1 raised for a negative id on a CPU, and for a float on any device. Keras
    counts negative ids from the last row, -1, and truncates floats.

    Raises:
        tf.errors.InvalidArgumentError: in a call, on a CPU: an id that is `classes` or
            more, or less than -`classes`.
    """
    draw = keras.initializers.RandomNormal(stddev=0.125)
    return layers.Embedding(classes, size, embeddings_initializer=draw, name=name)


def make_batch_norm(
    momentum=0.99, epsilon=0.001, fused=False, update=True, name="normalized"
):
    """Makes batch normalization, with or without updates of its moving statistics.

    Keras has the defaults of TensorFlow 1. It always updates the moving variance with
    the biased variance; with `fused`, TensorFlow 1 used the unbiased variance.

    Args:
        fused: no effect, because Keras chooses the kernel.

    Returns:
        Callable from a [..., channels] float tensor and the keyword `training`, a bool,
        to a float32 tensor of the same shape.

    Raises:
        TypeError: in a call in TensorFlow 1: `fused` and float64.
    """
    make = layers.BatchNormalization if update else Forgetful
    return make(momentum=momentum, epsilon=epsilon, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class Forgetful(layers.BatchNormalization):
    """Batch normalization whose moving statistics do not change.

    In training it normalizes by the batch, as `keras.layers.BatchNormalization` does,
    and restores the old moving mean and variance. A momentum of 1 is not the same: a
    batch with inf would make them NaN.

    Args:
        **kwargs: arguments of `keras.layers.BatchNormalization`.
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
    """Makes layer normalization over all axes of an example, not only the last one.

    With one scale for each channel, this is group normalization with one group.
    `LayerNormalization` has a scale for each element that it normalizes over, and is
    used if `begin_axis` is the last axis.

    Raises:
        ValueError: in `build`, if `begin_axis` is neither 1 nor the last axis.
    """
    if begin_axis == 1:
        return layers.GroupNormalization(groups=1, epsilon=1e-12, name=name)
    return LastAxisNormalization(begin_axis, epsilon=1e-12, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class LastAxisNormalization(layers.LayerNormalization):
    """Layer normalization over the last axis; raises for any other axis.

    `keras.layers.LayerNormalization` takes any axis, and normalizes over it alone,
    where TensorFlow 1 normalized over all axes from `begin_norm_axis` on.

    Args:
        axis: int, -1 or the number of the last axis of the inputs.
        **kwargs: other arguments of `keras.layers.LayerNormalization`.

    Raises:
        ValueError: in `build`, if `axis` is not the last axis.
    """

    def build(self, shape):
        (axis,) = np.ravel(self.axis)  # a list of one number after loading
        if axis not in (-1, len(shape) - 1):
            raise ValueError(f"axis must be the last of {len(shape)} axes, not {axis}")
        super().build(shape)


def train(images, labels, steps, rate=0.125, update=True):
    """Trains a small convolutional network with batch normalization and dropout.

    Initial weights and dropout draw the numbers of TensorFlow 1; Keras' own
    initializers and `Dropout` draw other numbers.
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
