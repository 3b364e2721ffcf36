"""tf.nn: activations, convolutions, pooling, normalization, losses on logits."""

from tf1to2.probes import SIGN_OF_ZERO, kept, probe

X = "x = normal(4, 5)"
EDGES = "x = EDGES"
IMAGE = "x = normal(2, 7, 6, 3); w = normal(3, 2, 3, 4)"
LINE = "x = normal(2, 9, 3); w = normal(3, 3, 4)"
VOLUME = "x = normal(1, 5, 4, 6, 2); w = normal(2, 2, 3, 2, 3)"
LOGITS = "x = normal(4, 5); y = uniform(4, 5)"
CLASSES = "x = normal(4, 5); y = integers(4, high=5)"
NORM = "x = normal(4, 3); m = normal(3); v = uniform(3, low=0.5); b = normal(3); g = normal(3)"
TABLE = "table = normal(6, 3); ids = integers(2, 4, high=6)"
IDS = "tf.SparseTensor([[0, 0], [0, 2], [1, 1], [3, 0]], tf.constant([1, 5, 2, 2], tf.int64), [4, 3])"
CTC = "x = normal(6, 2, 5)"
CTC_LABELS = "tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 1, 3], [2, 2])"
NCE = "w = normal(9, 4); b = normal(9); x = normal(3, 4); y = integers(3, 1, high=9, dtype='int64')"

PROBES = [
    *(
        kept(f"tf.nn.{name}", f"tf.nn.{name}(x)", X)
        for name in "relu relu6 elu selu leaky_relu softplus softsign sigmoid tanh swish softmax log_softmax l2_loss zero_fraction crelu".split()
    ),
    *(
        kept(f"tf.nn.{name}", f"tf.nn.{name}(x)", EDGES)
        for name in "elu selu l2_loss".split()
    ),
    kept(
        "tf.nn.relu6",
        "tf.nn.relu6(x)",
        EDGES,
        why="of -0.0 it was -0.0, and is 0.0",
        within=SIGN_OF_ZERO,
    ),
    kept("tf.nn.leaky_relu", "tf.nn.leaky_relu(x, alpha=0.1)", X),
    kept("tf.nn.leaky_relu", "tf.nn.leaky_relu(x)", "x = integers(4, 5, low=-5)"),
    probe("tf.nn.softmax", "tf.nn.softmax(x, dim=0)", "tf.nn.softmax(x, axis=0)", X),
    probe(
        "tf.nn.log_softmax",
        "tf.nn.log_softmax(x, dim=0)",
        "tf.nn.log_softmax(x, axis=0)",
        X,
    ),
    kept(
        "tf.nn.l2_normalize", "tf.nn.l2_normalize(x, 1)", X, "x = f32([[0, 0], [3, 4]])"
    ),
    probe(
        "tf.nn.l2_normalize",
        "tf.nn.l2_normalize(x, dim=1)",
        "tf.nn.l2_normalize(x, axis=1)",
        X,
    ),
    kept(
        "tf.nn.bias_add",
        "tf.nn.bias_add(x, b)",
        "x = normal(2, 3, 4, 5); b = normal(5)",
    ),
    kept(
        "tf.nn.bias_add",
        "tf.nn.bias_add(x, b, 'NCHW')",
        "x = normal(2, 5, 3, 4); b = normal(5)",
    ),
    probe(
        "tf.nn.xw_plus_b",
        "tf.nn.xw_plus_b(x, w, b)",
        "tf.nn.bias_add(tf.matmul(x, w), b)",
        "x = normal(4, 5); w = normal(5, 3); b = normal(3)",
    ),
    probe(
        "tf.nn.relu_layer",
        "tf.nn.relu_layer(x, w, b)",
        "tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))",
        "x = normal(4, 5); w = normal(5, 3); b = normal(3)",
    ),
    # --- Convolutions.
    kept("tf.nn.conv2d", "tf.nn.conv2d(x, w, [1, 2, 1, 1], 'SAME')", IMAGE),
    kept(
        "tf.nn.conv2d",
        "tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding='VALID', dilations=[1, 2, 2, 1])",
        IMAGE,
    ),
    probe(
        "tf.nn.conv2d",
        "tf.nn.conv2d(input=x, filter=w, strides=[1, 1, 1, 1], padding='SAME')",
        "tf.nn.conv2d(input=x, filters=w, strides=[1, 1, 1, 1], padding='SAME')",
        IMAGE,
    ),
    probe(
        "tf.nn.conv2d",
        "tf.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME', True, 'NHWC')",
        "tf.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC')",
        IMAGE,
    ),
    kept("tf.nn.conv1d", "tf.nn.conv1d(x, w, 2, 'SAME')", LINE),
    probe(
        "tf.nn.conv1d",
        "tf.nn.conv1d(value=x, filters=w, stride=2, padding='VALID')",
        "tf.nn.conv1d(input=x, filters=w, stride=2, padding='VALID')",
        LINE,
    ),
    kept("tf.nn.conv3d", "tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], 'SAME')", VOLUME),
    probe(
        "tf.nn.conv3d",
        "tf.nn.conv3d(x, filter=w, strides=[1, 1, 1, 1, 1], padding='VALID')",
        "tf.nn.conv3d(x, filters=w, strides=[1, 1, 1, 1, 1], padding='VALID')",
        VOLUME,
    ),
    kept(
        "tf.nn.conv2d_transpose",
        "tf.nn.conv2d_transpose(x, w, [2, 14, 12, 4], [1, 2, 2, 1], 'SAME')",
        "x = normal(2, 7, 6, 3); w = normal(3, 3, 4, 3)",
    ),
    kept(
        "tf.nn.conv2d_transpose",
        "tf.nn.conv2d_transpose(x, w, output_shape=[2, 14, 12, 4], strides=2)",
        "x = normal(2, 7, 6, 3); w = normal(3, 3, 4, 3)",
    ),
    probe(
        "tf.nn.conv2d_transpose",
        "tf.nn.conv2d_transpose(value=x, filter=w, output_shape=[2, 14, 12, 4], strides=[1, 2, 2, 1])",
        "tf.nn.conv2d_transpose(input=x, filters=w, output_shape=[2, 14, 12, 4], strides=[1, 2, 2, 1])",
        "x = normal(2, 7, 6, 3); w = normal(3, 3, 4, 3)",
    ),
    kept(
        "tf.nn.conv1d_transpose",
        "tf.nn.conv1d_transpose(x, w, [2, 18, 4], 2)",
        "x = normal(2, 9, 3); w = normal(3, 4, 3)",
    ),
    kept(
        "tf.nn.conv3d_transpose",
        "tf.nn.conv3d_transpose(x, w, [1, 10, 8, 12, 3], [1, 2, 2, 2, 1])",
        "x = normal(1, 5, 4, 6, 2); w = normal(2, 2, 2, 3, 2)",
    ),
    kept(
        "tf.nn.conv_transpose",
        "tf.nn.conv_transpose(x, w, [2, 18, 4], 2)",
        "x = normal(2, 9, 3); w = normal(3, 4, 3)",
    ),
    kept(
        "tf.nn.depthwise_conv2d",
        "tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], 'SAME')",
        IMAGE,
    ),
    probe(
        "tf.nn.depthwise_conv2d",
        "tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'VALID', rate=[2, 2])",
        "tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'VALID', dilations=[2, 2])",
        IMAGE,
    ),
    probe(
        "tf.nn.depthwise_conv2d_native",
        "tf.nn.depthwise_conv2d_native(x, w, [1, 2, 2, 1], 'SAME')",
        "tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], 'SAME')",
        IMAGE,
    ),
    kept(
        "tf.nn.separable_conv2d",
        "tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], 'SAME')",
        "x = normal(2, 7, 6, 3); w = normal(3, 2, 3, 2); p = normal(1, 1, 6, 5)",
    ),
    probe(
        "tf.nn.separable_conv2d",
        "tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], 'SAME', rate=[2, 2])",
        "tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], 'SAME', dilations=[2, 2])",
        "x = normal(2, 7, 6, 3); w = normal(3, 2, 3, 2); p = normal(1, 1, 6, 5)",
    ),
    kept(
        "tf.nn.convolution",
        "tf.nn.convolution(x, w, strides=[2, 1], padding='SAME')",
        IMAGE,
    ),
    probe(
        "tf.nn.convolution",
        "tf.nn.convolution(x, w, 'SAME', [2, 1])",
        "tf.nn.convolution(x, w, [2, 1], 'SAME')",
        IMAGE,
    ),
    probe(
        "tf.nn.convolution",
        "tf.nn.convolution(x, filter=w, padding='VALID', dilation_rate=[2, 2])",
        "tf.nn.convolution(x, filters=w, padding='VALID', dilations=[2, 2])",
        IMAGE,
    ),
    kept("tf.nn.atrous_conv2d", "tf.nn.atrous_conv2d(x, w, 2, 'SAME')", IMAGE),
    kept(
        "tf.nn.atrous_conv2d_transpose",
        "tf.nn.atrous_conv2d_transpose(x, w, [2, 7, 6, 4], 2, 'SAME')",
        "x = normal(2, 7, 6, 3); w = normal(3, 3, 4, 3)",
    ),
    kept(
        "tf.nn.with_space_to_batch",
        "tf.nn.with_space_to_batch(x, [2, 2], 'VALID', lambda y, n, p: tf.nn.pool(y, [2, 2], 'AVG', padding=p), [2, 2])",
        IMAGE,
    ),
    probe(
        "tf.nn.conv2d_backprop_input",
        "tf.nn.conv2d_backprop_input([2, 7, 6, 3], w, dy, [1, 1, 1, 1], 'SAME')",
        "tf.raw_ops.Conv2DBackpropInput(input_sizes=[2, 7, 6, 3], filter=w, out_backprop=dy, strides=[1, 1, 1, 1], padding='SAME')",
        "w = normal(3, 2, 3, 4); dy = normal(2, 7, 6, 4)",
    ),
    probe(
        "tf.nn.conv2d_backprop_filter",
        "tf.nn.conv2d_backprop_filter(x, [3, 2, 3, 4], dy, [1, 1, 1, 1], 'SAME')",
        "tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=[3, 2, 3, 4], out_backprop=dy, strides=[1, 1, 1, 1], padding='SAME')",
        "x = normal(2, 7, 6, 3); dy = normal(2, 7, 6, 4)",
    ),
    probe(
        "tf.nn.conv3d_backprop_filter",
        "tf.nn.conv3d_backprop_filter(x, [2, 2, 3, 2, 3], dy, [1, 1, 1, 1, 1], 'SAME')",
        "tf.raw_ops.Conv3DBackpropFilterV2(input=x, filter_sizes=[2, 2, 3, 2, 3], out_backprop=dy, strides=[1, 1, 1, 1, 1], padding='SAME')",
        "x = normal(1, 5, 4, 6, 2); dy = normal(1, 5, 4, 6, 3)",
    ),
    *(
        kept(
            f"tf.nn.{name}",
            f"tf.nn.{name}({args}, [1, 1, 1, 1], 'SAME')",
            "x = normal(2, 7, 6, 3); w = normal(3, 2, 3, 2); dy = normal(2, 7, 6, 6)",
        )
        for name, args in (
            ("depthwise_conv2d_backprop_input", "[2, 7, 6, 3], w, dy"),
            ("depthwise_conv2d_backprop_filter", "x, [3, 2, 3, 2], dy"),
        )
    ),
    probe(
        "tf.nn.dilation2d",
        "tf.nn.dilation2d(x, w, [1, 1, 1, 1], [1, 2, 2, 1], 'SAME')",
        "tf.nn.dilation2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 2, 2, 1])",
        "x = normal(2, 7, 6, 3); w = normal(3, 2, 3)",
    ),
    probe(
        "tf.nn.erosion2d",
        "tf.nn.erosion2d(x, w, [1, 1, 1, 1], [1, 2, 2, 1], 'SAME')",
        "tf.nn.erosion2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 2, 2, 1])",
        "x = normal(2, 7, 6, 3); w = normal(3, 2, 3)",
    ),
    # --- Pooling.
    *(
        kept(
            f"tf.nn.{name}",
            f"tf.nn.{name}(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
            "x = normal(2, 7, 6, 3)",
        )
        for name in ("max_pool", "avg_pool", "max_pool2d", "avg_pool2d")
    ),
    *(
        probe(
            f"tf.nn.{name}",
            f"tf.nn.{name}(value=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')",
            f"tf.nn.{name}(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')",
            "x = normal(2, 7, 6, 3)",
        )
        for name in ("max_pool", "avg_pool")
    ),
    *(
        probe(
            f"tf.nn.{name}_v2",
            f"tf.nn.{name}_v2(x, 2, 2, 'SAME')",
            f"tf.nn.{name}(x, 2, 2, 'SAME')",
            "x = normal(2, 7, 6, 3)",
        )
        for name in ("max_pool", "avg_pool")
    ),
    *(
        kept(
            f"tf.nn.{name}1d", f"tf.nn.{name}1d(x, 2, 2, 'SAME')", "x = normal(2, 9, 3)"
        )
        for name in ("max_pool", "avg_pool")
    ),
    *(
        kept(
            f"tf.nn.{name}3d",
            f"tf.nn.{name}3d(x, 2, 2, 'SAME')",
            "x = dyadic(1, 4, 4, 6, 2)",
            exact=True,
        )
        for name in ("max_pool", "avg_pool")
    ),
    kept(
        "tf.nn.max_pool_with_argmax",
        "tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')",
        "x = normal(2, 7, 6, 3)",
    ),
    kept(
        "tf.nn.pool",
        "tf.nn.pool(x, [2, 2], 'AVG', padding='SAME')",
        "x = normal(2, 7, 6, 3)",
    ),
    probe(
        "tf.nn.pool",
        "tf.nn.pool(x, [2, 2], 'MAX', 'VALID', None, [2, 1])",
        "tf.nn.pool(x, [2, 2], 'MAX', strides=[2, 1], padding='VALID')",
        "x = normal(2, 7, 6, 3)",
    ),
    probe(
        "tf.nn.pool",
        "tf.nn.pool(x, [2, 2], 'MAX', padding='VALID', dilation_rate=[2, 1])",
        "tf.nn.pool(x, [2, 2], 'MAX', padding='VALID', dilations=[2, 1])",
        "x = normal(2, 7, 6, 3)",
    ),
    *(
        probe(
            f"tf.nn.fractional_{name}_pool",
            f"tf.nn.fractional_{name}_pool(x, [1.0, 1.4, 1.7, 1.0], True, False, True, 7, 11)",
            f"tf.raw_ops.Fractional{title}Pool(value=x, pooling_ratio=[1.0, 1.4, 1.7, 1.0], pseudo_random=True, deterministic=True, seed=7, seed2=11)",
            "x = normal(2, 7, 6, 3)",
        )
        for name, title in (("max", "Max"), ("avg", "Avg"))
    ),
    kept(
        "tf.nn.space_to_depth", "tf.nn.space_to_depth(x, 2)", "x = normal(2, 4, 6, 3)"
    ),
    kept(
        "tf.nn.depth_to_space", "tf.nn.depth_to_space(x, 2)", "x = normal(2, 4, 6, 8)"
    ),
    # --- Normalization.
    kept(
        "tf.nn.lrn",
        "tf.nn.lrn(x, 2, 1.0, 0.5, 0.75)",
        "x = normal(2, 3, 4, 7)",
        exact=True,
        why="exp and log of float32 are other polynomials; there is no kernel for float64",
        within=1.4e-7,
    ),
    kept(
        "tf.nn.batch_normalization",
        "tf.nn.batch_normalization(x, m, v, b, g, 1e-3)",
        NORM,
    ),
    probe(
        "tf.nn.batch_norm_with_global_normalization",
        "tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 1e-3, True)",
        "tf.nn.batch_normalization(x, m, v, b, g, 1e-3)",
        NORM.replace("normal(4, 3)", "normal(2, 4, 5, 3)"),
    ),
    kept(
        "tf.nn.batch_norm_with_global_normalization",
        "tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 1e-3, True)",
        NORM.replace("normal(4, 3)", "normal(2, 4, 5, 3)"),
    ),
    kept("tf.nn.moments", "tf.nn.moments(x, [0])", X),
    probe(
        "tf.nn.moments",
        "tf.nn.moments(x, axes=[0], keep_dims=True)",
        "tf.nn.moments(x, axes=[0], keepdims=True)",
        X,
    ),
    probe(
        "tf.nn.moments",
        "tf.nn.moments(x, [1], None, None, True)",
        "tf.nn.moments(x, [1], None, True)",
        X,
    ),
    kept("tf.nn.weighted_moments", "tf.nn.weighted_moments(x, [0], tf.abs(x))", X),
    probe(
        "tf.nn.weighted_moments",
        "tf.nn.weighted_moments(x, [0], tf.abs(x), keep_dims=True)",
        "tf.nn.weighted_moments(x, [0], tf.abs(x), keepdims=True)",
        X,
    ),
    kept("tf.nn.sufficient_statistics", "tf.nn.sufficient_statistics(x, [0])[:3]", X),
    kept(
        "tf.nn.normalize_moments",
        "tf.nn.normalize_moments(x[0, 0] + 9, x[1], tf.abs(x[2]) + 5, None)",
        X,
    ),
    probe(
        "tf.nn.fused_batch_norm",
        "tf.nn.fused_batch_norm(x, g, b)",
        "tf.raw_ops.FusedBatchNormV3(x=x, scale=g, offset=b, mean=[], variance=[], epsilon=0.001)[:3]",
        "x = normal(2, 4, 5, 3); g = normal(3); b = normal(3)",
        exact=True,
    ),
    # --- Dropout: nothing random in a rate of 0, nor in what is dropped alone.
    probe(
        "tf.nn.dropout",
        "tf.nn.dropout(x, keep_prob=0.7, seed=3)",
        "tf.nn.dropout(x, rate=1 - 0.7, seed=3)",
        X,
        why="what was dropped kept its sign, as -0.0",
        within=SIGN_OF_ZERO,
    ),
    probe(
        "tf.nn.dropout",
        "tf.nn.dropout(x, 0.8, seed=3)",
        "tf.nn.dropout(x, rate=1 - 0.8, seed=3)",
        "x = uniform(4, 5)",
    ),
    kept(
        "tf.nn.dropout",
        "tf.nn.dropout(x, rate=0.3, noise_shape=[4, 1], seed=3)",
        X,
        why="what was dropped kept its sign, as -0.0",
        within=SIGN_OF_ZERO,
    ),
    # --- Losses.
    kept(
        "tf.nn.sigmoid_cross_entropy_with_logits",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)",
        LOGITS,
    ),
    kept(
        "tf.nn.weighted_cross_entropy_with_logits",
        "tf.nn.weighted_cross_entropy_with_logits(y, x, 2.5)",
        LOGITS,
    ),
    probe(
        "tf.nn.weighted_cross_entropy_with_logits",
        "tf.nn.weighted_cross_entropy_with_logits(targets=y, logits=x, pos_weight=2.5)",
        "tf.nn.weighted_cross_entropy_with_logits(labels=y, logits=x, pos_weight=2.5)",
        LOGITS,
    ),
    *(
        probe(
            f"tf.nn.{name}",
            f"tf.nn.{name}(labels=y, logits=x)",
            "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)",
            LOGITS,
        )
        for name in (
            "softmax_cross_entropy_with_logits",
            "softmax_cross_entropy_with_logits_v2",
        )
    ),
    probe(
        "tf.nn.softmax_cross_entropy_with_logits",
        "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x, dim=0)",
        "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x, axis=0)",
        LOGITS,
    ),
    probe(
        "tf.nn.softmax_cross_entropy_with_logits",
        "tf.gradients(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x), [y])[0] is None",
        "with tf.GradientTape() as tape:\n    tape.watch(y)\n    loss = tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(y), logits=x)\ntape.gradient(loss, y) is None",
        LOGITS,
        eager="a tape in the lines that make ready",
    ),
    kept(
        "tf.nn.sparse_softmax_cross_entropy_with_logits",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)",
        CLASSES,
    ),
    kept(
        "tf.nn.log_poisson_loss",
        "tf.nn.log_poisson_loss(y + 1, x, compute_full_loss=True)",
        LOGITS,
    ),
    probe(
        "tf.nn.in_top_k",
        "tf.nn.in_top_k(x, y, 2)",
        "tf.math.in_top_k(y, x, 2)",
        CLASSES,
        exact=True,
    ),
    kept("tf.nn.top_k", "tf.nn.top_k(x, 2)", X),
    # --- Embeddings: one table has no strategy.
    kept("tf.nn.embedding_lookup", "tf.nn.embedding_lookup(table, ids)", TABLE),
    kept(
        "tf.nn.embedding_lookup",
        "tf.nn.embedding_lookup(table, ids, max_norm=1.0)",
        TABLE,
    ),
    probe(
        "tf.nn.embedding_lookup",
        "tf.nn.embedding_lookup([table[:3], table[3:]], ids)",
        "tf.gather(tf.reshape(tf.stack([table[:3], table[3:]], axis=1), [-1, 3]), ids)",
        TABLE,
    ),
    probe(
        "tf.nn.embedding_lookup",
        "tf.nn.embedding_lookup([table[:3], table[3:]], ids, partition_strategy='div')",
        "tf.nn.embedding_lookup([table[:3], table[3:]], ids)",
        TABLE,
    ),
    *(
        kept(
            "tf.nn.embedding_lookup_sparse",
            f"tf.nn.embedding_lookup_sparse(table, {IDS}, None, combiner='{how}')",
            "table = normal(6, 3)",
        )
        for how in ("sum", "mean", "sqrtn")
    ),
    kept(
        "tf.nn.embedding_lookup_sparse",
        f"tf.nn.embedding_lookup_sparse(table, {IDS}, None)",
        "table = normal(6, 3)",
    ),
    probe(
        "tf.nn.embedding_lookup_sparse",
        f"tf.nn.embedding_lookup_sparse([table[:3], table[3:]], {IDS}, None, combiner='sum')",
        f"tf.nn.embedding_lookup_sparse(tf.reshape(tf.stack([table[:3], table[3:]], axis=1), [-1, 3]), {IDS}, None, combiner='sum')",
        "table = normal(6, 3)",
    ),
    kept(
        "tf.nn.safe_embedding_lookup_sparse",
        f"tf.nn.safe_embedding_lookup_sparse(table, {IDS})",
        "table = normal(6, 3)",
    ),
    kept(
        "tf.nn.safe_embedding_lookup_sparse",
        f"tf.nn.safe_embedding_lookup_sparse([table[:3], table[3:]], {IDS})",
        "table = normal(6, 3)",
    ),
    probe(
        "tf.nn.ctc_loss",
        f"tf.nn.ctc_loss({CTC_LABELS}, x, [6, 5])",
        f"tf.nn.ctc_loss({CTC_LABELS}, x, None, [6, 5], blank_index=-1)",
        CTC,
        exact=True,
    ),
    probe(
        "tf.nn.ctc_loss_v2",
        "tf.nn.ctc_loss_v2([[2, 1], [3, 0]], x, [2, 1], [6, 5])",
        "tf.nn.ctc_loss([[2, 1], [3, 0]], x, [2, 1], [6, 5])",
        CTC,
        exact=True,
        why="log and exp of float32 are other polynomials",
        within=6.0e-8,
    ),
    kept("tf.nn.ctc_greedy_decoder", "tf.nn.ctc_greedy_decoder(x, [6, 5])", CTC),
    probe(
        "tf.nn.ctc_beam_search_decoder",
        "tf.nn.ctc_beam_search_decoder(x, [6, 5], 4, 2)",
        "tf.compat.v1.nn.ctc_beam_search_decoder(x, [6, 5], 4, 2)",
        "x = normal(6, 2, 3, scale=4)",
    ),
    probe(
        "tf.nn.ctc_beam_search_decoder_v2",
        "tf.nn.ctc_beam_search_decoder_v2(x, [6, 5], 4, 2)",
        "tf.nn.ctc_beam_search_decoder(x, [6, 5], 4, 2)",
        CTC,
    ),
    kept("tf.nn.ctc_unique_labels", "tf.nn.ctc_unique_labels([[3, 4, 4, 3]])"),
    kept("tf.nn.collapse_repeated", "tf.nn.collapse_repeated([[3, 4, 4, 3]], [4])"),
    # --- Sampled losses and their samplers, of one seed.
    *(
        probe(
            f"tf.nn.{name}_candidate_sampler",
            f"tf.nn.{name}_candidate_sampler(y, 1, 4, True, 9, seed=5)",
            f"tf.random.{name}_candidate_sampler(y, 1, 4, True, 9, seed=5)",
            NCE,
        )
        for name in ("uniform", "log_uniform", "learned_unigram")
    ),
    kept(
        "tf.nn.all_candidate_sampler",
        "tf.nn.all_candidate_sampler(y, 1, 9, True, seed=5)",
        NCE,
    ),
    kept(
        "tf.nn.fixed_unigram_candidate_sampler",
        "tf.nn.fixed_unigram_candidate_sampler(y, 1, 4, True, 9, unigrams=list(range(1, 10)), seed=5)",
        NCE,
    ),
    kept(
        "tf.nn.compute_accidental_hits",
        "tf.nn.compute_accidental_hits(y, tf.constant([1, 3, 5, 8], tf.int64), 1)",
        NCE,
    ),
    kept(
        "tf.nn.nce_loss",
        "tf.nn.nce_loss(w, b, y, x, 4, 9, sampled_values=tf.random.uniform_candidate_sampler(y, 1, 4, True, 9, seed=5))",
        NCE,
        exact=True,
    ),
    kept(
        "tf.nn.sampled_softmax_loss",
        "tf.nn.sampled_softmax_loss(w, b, y, x, 4, 9, sampled_values=tf.random.uniform_candidate_sampler(y, 1, 4, True, 9, seed=5))",
        NCE,
        exact=True,
    ),
    *(
        probe(
            f"tf.nn.{name}",
            f"tf.nn.{name}([w[:5], w[5:]], b, y, x, 4, 9, sampled_values=tf.random.uniform_candidate_sampler(y, 1, 4, True, 9, seed=5))",
            f"tf.nn.{name}(tf.gather(w, [0, 5, 1, 6, 2, 7, 3, 8, 4]), b, y, x, 4, 9, sampled_values=tf.random.uniform_candidate_sampler(y, 1, 4, True, 9, seed=5))",
            NCE,
            exact=True,
        )
        for name in ("nce_loss", "sampled_softmax_loss")
    ),
    kept(
        "tf.nn.compute_average_loss",
        "tf.nn.compute_average_loss(x, global_batch_size=8)",
        "x = normal(4)",
    ),
    kept(
        "tf.nn.scale_regularization_loss",
        "tf.nn.scale_regularization_loss(x)",
        "x = normal(4)",
    ),
]
