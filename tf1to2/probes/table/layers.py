"""tf.layers: layers of tf.keras with the same initial weights.

Keras has layers alone, no functions; its draws for a seed are others, so all weights
here have values by `distinct`.
"""

from tf1to2.probes import probe

K = "kernel_initializer=distinct('kernel')"
KB = K + ", bias_initializer=distinct('bias')"
DP = "depthwise_initializer=distinct('depth'), pointwise_initializer=distinct('point')"
STATISTICS = "beta_initializer=distinct('beta'), gamma_initializer=distinct('gamma'), moving_mean_initializer=distinct('mean'), moving_variance_initializer=distinct('variance')"
FLAT = "x = normal(4, 5)"
LINE = "x = normal(2, 9, 3)"
IMAGE = "x = normal(2, 7, 6, 3)"
VOLUME = "x = normal(1, 5, 4, 6, 2)"


def layer(old, new, arguments, inputs, keras=None, call="", **options):
    """Probes of the function and of the class of a layer."""
    keras = f"tf.keras.layers.{new}({arguments if keras is None else keras})"
    return [
        probe(
            f"tf.layers.{old}",
            f"tf.layers.{old}(x, {arguments}{', ' * bool(arguments and call)}{call})",
            f"layer = {keras}\nlayer(x{', ' * bool(call)}{call})",
            inputs,
            **options,
        ),
        probe(
            f"tf.layers.{new}",
            f"tf.layers.{new}({arguments})(x{', ' * bool(call)}{call})",
            f"layer = {keras}\nlayer(x{', ' * bool(call)}{call})",
            inputs,
            **options,
        ),
    ]


PROBES = [
    *layer("dense", "Dense", f"4, {KB}, activation=tf.nn.relu", FLAT),
    *layer("dense", "Dense", f"4, {K}, use_bias=False", "x = normal(2, 3, 5)"),
    *layer("conv1d", "Conv1D", f"4, 3, 2, 'same', {KB}", LINE),
    *layer(
        "conv2d",
        "Conv2D",
        f"4, [3, 2], [2, 1], 'same', {KB}, activation=tf.nn.relu",
        IMAGE,
    ),
    *layer(
        "conv2d", "Conv2D", f"filters=4, kernel_size=3, dilation_rate=2, {KB}", IMAGE
    ),
    *layer("conv3d", "Conv3D", f"4, 2, 2, 'same', {KB}", VOLUME),
    *layer("conv2d_transpose", "Conv2DTranspose", f"4, 3, 2, 'same', {KB}", IMAGE),
    *layer("conv2d_transpose", "Conv2DTranspose", f"4, 3, 2, {KB}", IMAGE),
    *layer("conv3d_transpose", "Conv3DTranspose", f"4, 2, 2, 'same', {KB}", VOLUME),
    *layer(
        "separable_conv1d", "SeparableConv1D", f"4, 3, depth_multiplier=2, {DP}", LINE
    ),
    *layer(
        "separable_conv2d",
        "SeparableConv2D",
        f"4, 3, padding='same', depth_multiplier=2, {DP}",
        IMAGE,
    ),
    *layer("max_pooling1d", "MaxPooling1D", "2, 2, 'same'", LINE),
    *layer("average_pooling1d", "AveragePooling1D", "2, 2", LINE),
    *layer("max_pooling2d", "MaxPooling2D", "[2, 3], [2, 1], padding='same'", IMAGE),
    *layer("average_pooling2d", "AveragePooling2D", "2, 2, 'same'", IMAGE),
    *layer(
        "max_pooling3d", "MaxPooling3D", "2, 2", "x = dyadic(1, 4, 4, 6, 2)", exact=True
    ),
    *layer(
        "average_pooling3d",
        "AveragePooling3D",
        "2, 2",
        "x = dyadic(1, 4, 4, 6, 2)",
        exact=True,
    ),
    probe(
        "tf.layers.flatten",
        "tf.layers.flatten(x)",
        "tf.reshape(x, [x.shape[0], -1])",
        IMAGE,
    ),
    probe(
        "tf.layers.flatten",
        "tf.layers.flatten(x)",
        "layer = tf.keras.layers.Flatten()\nlayer(x)",
        IMAGE,
    ),
    probe(
        "tf.layers.Flatten",
        "tf.layers.Flatten()(x)",
        "layer = tf.keras.layers.Flatten()\nlayer(x)",
        IMAGE,
    ),
    probe(
        "tf.layers.flatten",
        "tf.layers.flatten(x, data_format='channels_first')",
        "layer = tf.keras.layers.Flatten(data_format='channels_first')\nlayer(x)",
        IMAGE,
    ),
    probe(
        "tf.layers.dropout",
        "tf.layers.dropout(x, 0.3)",
        "layer = tf.keras.layers.Dropout(0.3)\nlayer(x)",
        FLAT,
    ),
    probe(
        "tf.layers.Dropout",
        "tf.layers.Dropout(0.3)(x)",
        "layer = tf.keras.layers.Dropout(0.3)\nlayer(x)",
        FLAT,
    ),
    probe(
        "tf.layers.dropout",
        "tf.layers.dropout(x, 0.3, seed=7, training=True)",
        "tf.nn.dropout(x, 0.3, seed=7)",
        "x = uniform(4, 5)",
    ),
    probe(
        "tf.layers.dropout",
        "tf.layers.dropout(x, 0.3, seed=7, training=True)",
        "layer = tf.keras.layers.Dropout(0.3, seed=7)\nlayer(x, training=True)",
        "x = uniform(40, 5)",
        why="Keras draws from streams of its own",
    ),
    probe(
        "tf.layers.Dropout",
        "tf.layers.Dropout(0.3, seed=7)(x, training=True)",
        "tf.nn.dropout(x, 0.3, seed=7)",
        "x = uniform(4, 5)",
    ),
    *layer("batch_normalization", "BatchNormalization", STATISTICS, FLAT),
    *layer(
        "batch_normalization",
        "BatchNormalization",
        STATISTICS,
        FLAT,
        call="training=True",
    ),
    *layer(
        "batch_normalization",
        "BatchNormalization",
        f"momentum=0.9, epsilon=1e-5, fused=False, {STATISTICS}",
        IMAGE,
        keras=f"momentum=0.9, epsilon=1e-5, {STATISTICS}",
        call="training=True",
    ),
    probe(
        "tf.layers.BatchNormalization",
        "layer = tf.layers.BatchNormalization(momentum=0.9)\nlayer(x, training=True)\nwith tf.control_dependencies(layer.updates):\n    mean, variance = (v.read_value() for v in layer.variables[2:])\n(mean, variance)",
        "layer = tf.keras.layers.BatchNormalization(momentum=0.9)\nlayer(x, training=True)\n(layer.moving_mean.value, layer.moving_variance.value)",
        FLAT,
        why="1 - momentum was rounded to float32: 0.1 is 0.100000024",
        within=8.6e-8,
        eager="variables, read after a call",
    ),
    probe(
        "tf.layers.InputSpec",
        "tf.layers.InputSpec(ndim=3).ndim",
        "tf.keras.layers.InputSpec(ndim=3).ndim",
    ),
]
