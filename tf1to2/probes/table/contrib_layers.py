"""tf.contrib.layers, which tf.contrib.slim repeats: ReLU and SAME by default."""

from tf1to2.probes import probe

FLAT = "x = normal(4, 5)"
IMAGE = "x = normal(2, 7, 6, 3)"
LINE = "x = normal(2, 9, 3)"
W = "weights_initializer=distinct('w')"
K = "kernel_initializer=distinct('w')"
SHAPE = "[4, 6]"
KERAS = "the same distribution; Keras draws other numbers for a seed"
L = "tf.contrib.layers"


def layer(name, arguments, new, *inputs, **options):
    """A function of contrib, and a layer of Keras that does the same."""
    return probe(
        f"{L}.{name}",
        f"{L}.{name}(x{', ' * bool(arguments)}{arguments})",
        f"layer = tf.keras.layers.{new}\nlayer(x)",
        *inputs,
        **options,
    )


PROBES = [
    # --- Initializers: the draws are those of tf.random.
    probe(
        f"{L}.xavier_initializer",
        f"{L}.xavier_initializer(seed=7)({SHAPE})",
        f"limit = (6 / (4 + 6)) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        exact=True,
    ),
    probe(
        f"{L}.xavier_initializer",
        f"{L}.xavier_initializer(seed=7)({SHAPE})",
        f"initializer = tf.keras.initializers.GlorotUniform(seed=7)\ninitializer({SHAPE})",
        exact=True,
        why=KERAS,
    ),
    probe(
        f"{L}.xavier_initializer",
        f"{L}.xavier_initializer(uniform=False, seed=7)({SHAPE})",
        f"tf.random.truncated_normal({SHAPE}, stddev=(1.3 * 2 / (4 + 6)) ** 0.5, seed=7)",
        exact=True,
    ),
    probe(
        f"{L}.xavier_initializer_conv2d",
        f"{L}.xavier_initializer_conv2d(seed=7)([3, 3, 4, 6])",
        "limit = (6 / (9 * (4 + 6))) ** 0.5\ntf.random.uniform([3, 3, 4, 6], -limit, limit, seed=7)",
        exact=True,
    ),
    probe(
        f"{L}.variance_scaling_initializer",
        f"{L}.variance_scaling_initializer(seed=7)({SHAPE})",
        f"tf.random.truncated_normal({SHAPE}, stddev=(1.3 * 2 / 4) ** 0.5, seed=7)",
        exact=True,
    ),
    probe(
        f"{L}.variance_scaling_initializer",
        f"{L}.variance_scaling_initializer(1.0, 'FAN_AVG', True, seed=7)({SHAPE})",
        f"limit = (3 * 1.0 / 5) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        exact=True,
    ),
    probe(
        f"{L}.variance_scaling_initializer",
        f"{L}.variance_scaling_initializer(seed=7)({SHAPE})",
        f"initializer = tf.keras.initializers.VarianceScaling(2.0, seed=7)\ninitializer({SHAPE})",
        exact=True,
        why="other draws; and the deviation was (1.3 * 2 / n) ** 0.5 before the cut, and is (2 / n) ** 0.5 after it",
    ),
    # --- Regularizers.
    probe(
        f"{L}.l2_regularizer",
        f"{L}.l2_regularizer(0.1)(x)",
        "0.1 * tf.nn.l2_loss(x)",
        FLAT,
    ),
    probe(
        f"{L}.l2_regularizer",
        f"{L}.l2_regularizer(0.1)(x)",
        "regularizer = tf.keras.regularizers.L2(0.1 / 2)\nregularizer(x)",
        FLAT,
    ),
    probe(
        f"{L}.l1_regularizer",
        f"{L}.l1_regularizer(0.1)(x)",
        "0.1 * tf.reduce_sum(tf.abs(x))",
        FLAT,
    ),
    probe(
        f"{L}.l1_regularizer",
        f"{L}.l1_regularizer(0.1)(x)",
        "regularizer = tf.keras.regularizers.L1(0.1)\nregularizer(x)",
        FLAT,
        why="L1 of Keras before 3.14 is float32, and refuses other dtypes",
        where="keras<3.14",
        raises="(InvalidArgumentError: cannot compute|TypeError: Input 'y' of) '?Mul'?",
    ),
    probe(
        f"{L}.l1_l2_regularizer",
        f"{L}.l1_l2_regularizer(0.1, 0.2)(x)",
        "0.1 * tf.reduce_sum(tf.abs(x)) + 0.2 * tf.nn.l2_loss(x)",
        FLAT,
    ),
    probe(
        f"{L}.sum_regularizer",
        f"{L}.sum_regularizer([{L}.l1_regularizer(0.1), {L}.l2_regularizer(0.2)])(x)",
        "0.1 * tf.reduce_sum(tf.abs(x)) + 0.2 * tf.nn.l2_loss(x)",
        FLAT,
    ),
    probe(
        f"{L}.apply_regularization",
        f"{L}.apply_regularization({L}.l1_regularizer(0.1), [x, 2 * x])",
        "tf.add_n([0.1 * tf.reduce_sum(tf.abs(w)) for w in (x, 2 * x)])",
        FLAT,
    ),
    # --- Layers.
    layer(
        "fully_connected",
        f"4, {W}",
        f"Dense(4, 'relu', {K})",
        FLAT,
        "x = normal(2, 3, 5)",
    ),
    layer("fully_connected", f"4, activation_fn=None, {W}", f"Dense(4, {K})", FLAT),
    layer("linear", f"4, {W}", f"Dense(4, {K})", FLAT),
    layer(
        "conv2d",
        f"4, [3, 2], {W}",
        f"Conv2D(4, [3, 2], padding='same', activation='relu', {K})",
        IMAGE,
    ),
    layer(
        "conv2d",
        f"4, 3, 2, 'VALID', activation_fn=None, {W}",
        f"Conv2D(4, 3, 2, 'valid', {K})",
        IMAGE,
    ),
    layer(
        "conv1d",
        f"4, 3, {W}",
        f"Conv1D(4, 3, padding='same', activation='relu', {K})",
        LINE,
    ),
    layer(
        "conv3d",
        f"4, 2, {W}",
        f"Conv3D(4, 2, padding='same', activation='relu', {K})",
        "x = normal(1, 4, 5, 6, 2)",
    ),
    layer(
        "conv2d_transpose",
        f"4, 3, 2, {W}",
        f"Conv2DTranspose(4, 3, 2, 'same', activation='relu', {K})",
        IMAGE,
    ),
    layer(
        "separable_conv2d",
        f"4, 3, 2, {W}, pointwise_initializer=distinct('p')",
        "SeparableConv2D(4, 3, padding='same', depth_multiplier=2, activation='relu', depthwise_initializer=distinct('w'), pointwise_initializer=distinct('p'))",
        IMAGE,
    ),
    layer("max_pool2d", "2", "MaxPooling2D(2, 2)", IMAGE),
    layer("max_pool2d", "[3, 3], 1, 'SAME'", "MaxPooling2D(3, 1, 'same')", IMAGE),
    layer("avg_pool2d", "[2, 3]", "AveragePooling2D([2, 3], 2)", IMAGE),
    layer("flatten", "", "Flatten()", IMAGE),
    layer(
        "batch_norm",
        "is_training=False, param_initializers={'moving_mean': distinct('m'), 'moving_variance': distinct('v'), 'beta': distinct('b')}",
        "BatchNormalization(momentum=0.999, epsilon=0.001, scale=False, moving_mean_initializer=distinct('m'), moving_variance_initializer=distinct('v'), beta_initializer=distinct('b'))",
        FLAT,
        exact=True,
        why="a fused kernel for float32 on matrices, too: 1 / sqrt(variance + 0.001) is rounded elsewhere",
        within=9.2e-8,
    ),
    probe(
        f"{L}.batch_norm",
        f"{L}.batch_norm(x, fused=False)",
        "mean, variance = tf.nn.moments(x, [0, 1, 2])\ntf.nn.batch_normalization(x, mean, variance, tf.zeros_like(mean), None, 0.001)",
        IMAGE,
        eager="code of several lines",
    ),
    probe(
        f"{L}.layer_norm",
        f"{L}.layer_norm(x)",
        "mean, variance = tf.nn.moments(x, [1, 2, 3], keepdims=True)\ntf.nn.batch_normalization(x, mean, variance, 0.0, 1.0, 1e-12)",
        IMAGE,
        eager="code of several lines",
    ),
    probe(
        f"{L}.layer_norm",
        f"{L}.layer_norm(x)",
        "layer = tf.keras.layers.LayerNormalization(epsilon=1e-12)\nlayer(x)",
        FLAT,
    ),
    probe(
        f"{L}.layer_norm",
        f"{L}.layer_norm(x)",
        "layer = tf.keras.layers.LayerNormalization(epsilon=1e-12)\nlayer(x)",
        IMAGE,
        why="it took the moments over all axes but the first; Keras takes the last one",
    ),
    probe(
        f"{L}.instance_norm",
        f"{L}.instance_norm(x)",
        "mean, variance = tf.nn.moments(x, [1, 2], keepdims=True)\ntf.nn.batch_normalization(x, mean, variance, 0.0, 1.0, 1e-6)",
        IMAGE,
        eager="code of several lines",
    ),
    probe(
        f"{L}.group_norm",
        f"{L}.group_norm(x, groups=3)",
        "layer = tf.keras.layers.GroupNormalization(3, epsilon=1e-6)\nlayer(x)",
        "x = normal(2, 7, 6, 6)",
    ),
    probe(
        f"{L}.dropout",
        f"{L}.dropout(x, 0.7, seed=7)",
        "tf.nn.dropout(x, 1 - 0.7, seed=7)",
        "x = uniform(4, 5)",
    ),
    probe(f"{L}.dropout", f"{L}.dropout(x, 0.7, is_training=False)", "x + 0", FLAT),
    probe(
        f"{L}.softmax",
        f"{L}.softmax(x)",
        "tf.nn.softmax(x)",
        FLAT,
        "x = normal(2, 3, 4)",
    ),
    probe(
        f"{L}.one_hot_encoding",
        f"{L}.one_hot_encoding(x, 5)",
        "tf.one_hot(x, 5)",
        "x = integers(6, high=5)",
    ),
    probe(
        f"{L}.embed_sequence",
        f"{L}.embed_sequence(x, 6, 3, initializer=distinct('e'))",
        "table = tf.Variable(distinct('e')([6, 3], tf.float32))\ntf.nn.embedding_lookup(table, x)",
        "x = integers(2, 4, high=6)",
    ),
    probe(
        f"{L}.bias_add",
        f"{L}.bias_add(x, initializer=distinct('b'))",
        "bias = distinct('b')([5], x.dtype)\ntf.nn.bias_add(x, bias)",
        FLAT,
    ),
    probe(
        f"{L}.unit_norm",
        f"{L}.unit_norm(x, 1)",
        "x / tf.sqrt(1e-7 + tf.reduce_sum(x * x, 1, keepdims=True))",
        FLAT,
    ),
    probe(
        f"{L}.maxout",
        f"{L}.maxout(x, 2)",
        "tf.reduce_max(tf.reshape(x, [4, 2, 3]), 2)",
        "x = normal(4, 6)",
    ),
    probe(
        f"{L}.repeat",
        f"{L}.repeat(x, 2, {L}.fully_connected, 5, {W})",
        f"model = tf.keras.Sequential([tf.keras.layers.Dense(5, 'relu', {K}) for _ in range(2)])\nmodel(x)",
        FLAT,
    ),
    probe(
        f"{L}.stack",
        f"{L}.stack(x, {L}.fully_connected, [4, 3], {W})",
        f"model = tf.keras.Sequential([tf.keras.layers.Dense(n, 'relu', {K}) for n in (4, 3)])\nmodel(x)",
        FLAT,
    ),
    probe(
        f"{L}.relu",
        f"{L}.relu(x, 4, {W})",
        f"layer = tf.keras.layers.Dense(4, 'relu', {K})\nlayer(x)",
        FLAT,
    ),
    probe(
        f"{L}.relu6",
        f"{L}.relu6(x, 4, {W})",
        f"layer = tf.keras.layers.Dense(4, tf.nn.relu6, {K})\nlayer(x)",
        FLAT,
    ),
    probe(
        f"{L}.legacy_fully_connected",
        f"{L}.legacy_fully_connected(x, 4, tf.nn.relu, weight_init=distinct('w'))",
        f"layer = tf.keras.layers.Dense(4, 'relu', {K})\nlayer(x)",
        FLAT,
    ),
    probe(
        "tf.contrib.slim.arg_scope",
        f"with tf.contrib.slim.arg_scope([{L}.fully_connected], activation_fn=None, {W}):\n    y = {L}.fully_connected(x, 4)\ny",
        f"import functools\ndense = functools.partial(tf.keras.layers.Dense, {K})\nlayer = dense(4)\nlayer(x)",
        FLAT,
    ),
    probe(
        "tf.contrib.slim.add_arg_scope",
        "@tf.contrib.slim.add_arg_scope\ndef scaled(x, by=1):\n    return by * x\nwith tf.contrib.slim.arg_scope([scaled], by=3):\n    y = scaled(x)\ny",
        "import functools\ndef scaled(x, by=1):\n    return by * x\nfunctools.partial(scaled, by=3)(x)",
        FLAT,
    ),
]
