"""Names that both have: the calls which show that the old spelling is another today."""

from tf1to2.probes import kept, probe

X = "x = normal(4, 5)"
POSITIVE = "x = uniform(4, 5, low=0.1)"
NEGATIVE = "x = uniform(4, 5, high=-0.1, low=-1)"
IMAGE = "x = normal(2, 7, 6, 3)"
POOL = "[1, 2, 2, 1], [1, 2, 2, 1], 'SAME'"
MOMENTS = "x = normal(2, 4, 5, 3); m = normal(3); v = uniform(3, low=0.5); b = normal(3); g = normal(3)"
S = "tf.SparseTensor([[0, 1], [1, 0], [2, 3]], x, [3, 4])"
IDS = "tf.SparseTensor([[0, 0], [0, 2], [1, 1], [3, 0]], tf.constant([1, 5, 2, 2], tf.int64), [4, 3])"
DETERMINANT = """\
try:
    y = tf.linalg.logdet(-np.eye(3))
    y = y.numpy() if tf.executing_eagerly() else tf.Session().run(y)
except tf.errors.InvalidArgumentError:
    y = 'it raised'
"""

PROBES = [
    # --- Assertions: a node to depend on, or a statement.
    *(
        kept(
            f"tf.{module}{name}",
            f"tf.{module}{name}({args}) is None",
            given,
            why="it made an op to depend on; eagerly it has raised, or makes nothing",
            eager="there it makes an op, as it did",
        )
        for modules, name, args, given in (
            (("", "debugging."), "assert_equal", "x, x", X),
            (("", "debugging."), "assert_less", "x, x + 1", X),
            (("", "debugging."), "assert_greater", "x + 1, x", X),
            (("", "debugging."), "assert_rank", "x, 2", X),
            (("debugging.",), "assert_none_equal", "x, x + 1", X),
            (("debugging.",), "assert_less_equal", "x, x", X),
            (("debugging.",), "assert_greater_equal", "x, x", X),
            (("debugging.",), "assert_near", "x, x", X),
            (("debugging.",), "assert_positive", "x", POSITIVE),
            (("debugging.",), "assert_non_negative", "x", POSITIVE),
            (("debugging.",), "assert_negative", "x", NEGATIVE),
            (("debugging.",), "assert_non_positive", "x", NEGATIVE),
            (("debugging.",), "assert_rank_at_least", "x, 2", X),
            (("debugging.",), "assert_rank_in", "x, [1, 2]", X),
            (("debugging.",), "assert_integer", "x", "x = integers(4)"),
        )
        for module in modules
    ),
    # --- Control flow.
    probe(
        "tf.case",
        "tf.case({x[0, 0] > 9: lambda: x, x[0, 0] < 9: lambda: x + 1}, lambda: -x)",
        "tf.case([(x[0, 0] > 9, lambda: x), (x[0, 0] < 9, lambda: x + 1)], lambda: -x)",
        X,
    ),
    probe(
        "tf.while_loop",
        "tf.while_loop(lambda n: n < 5, lambda n: n + 1, [x])",
        "tf.while_loop(lambda n: n < 5, lambda n: [n + 1], [x])[0]",
        "x = f32(0.5)",
    ),
    # --- Initializers: the dtype is asked for with the shape.
    *(
        probe(
            f"tf.initializers.{name}",
            f"tf.initializers.{name}({args}dtype=tf.float64)([2, 3])",
            f"tf.initializers.{name}({args.rstrip(', ')})([2, 3], dtype=tf.float64)",
            exact=True,
        )
        for name, args in (
            ("constant", "2.5, "),
            ("identity", "2.0, "),
            ("ones", ""),
            ("zeros", ""),
        )
    ),
    # --- Old keywords.
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}(x, reduction_indices=1, keep_dims=True)",
            f"tf.{name}(x, axis=1, keepdims=True)",
            "x = booleans(4, 5)",
            exact=True,
        )
        for name in ("reduce_all", "reduce_any")
    ),
    *(
        probe(
            f"tf.sparse.{name}",
            f"tf.sparse.{name}({S}, reduction_axes=1, keep_dims=True)",
            f"tf.sparse.{name}({S}, axis=1, keepdims=True)",
            "x = normal(3)",
        )
        for name in ("reduce_max", "reduce_sum")
    ),
    probe(
        "tf.sparse.add",
        f"tf.sparse.add({S}, {S}, thresh=0.5)",
        f"tf.sparse.add({S}, {S}, threshold=0.5)",
        "x = np.float32([0.1, 0.75, -2])",
    ),
    probe(
        "tf.linalg.norm",
        "tf.linalg.norm(x, axis=1, keep_dims=True)",
        "tf.linalg.norm(x, axis=1, keepdims=True)",
        X,
    ),
    probe(
        "tf.nn.sufficient_statistics",
        "tf.nn.sufficient_statistics(x, [0], keep_dims=True)[:3]",
        "tf.nn.sufficient_statistics(x, [0], keepdims=True)[:3]",
        X,
    ),
    probe(
        "tf.nn.avg_pool2d",
        "tf.nn.avg_pool2d(value=x, ksize=2, strides=2, padding='SAME')",
        "tf.nn.avg_pool2d(input=x, ksize=2, strides=2, padding='SAME')",
        IMAGE,
    ),
    probe(
        "tf.nn.max_pool_with_argmax",
        f"tf.nn.max_pool_with_argmax(x, {POOL}, Targmax=tf.int64)",
        f"tf.nn.max_pool_with_argmax(x, {POOL}, output_dtype=tf.int64)",
        IMAGE,
    ),
    probe(
        "tf.nn.conv3d_transpose",
        "tf.nn.conv3d_transpose(value=x, filter=w, output_shape=[1, 10, 8, 12, 3], strides=[1, 2, 2, 2, 1])",
        "tf.nn.conv3d_transpose(input=x, filters=w, output_shape=[1, 10, 8, 12, 3], strides=[1, 2, 2, 2, 1])",
        "x = normal(1, 5, 4, 6, 2); w = normal(2, 2, 2, 3, 2)",
    ),
    probe(
        "tf.nn.batch_norm_with_global_normalization",
        "tf.nn.batch_norm_with_global_normalization(t=x, m=m, v=v, beta=b, gamma=g, variance_epsilon=1e-3, scale_after_normalization=True)",
        "tf.nn.batch_norm_with_global_normalization(input=x, mean=m, variance=v, beta=b, gamma=g, variance_epsilon=1e-3, scale_after_normalization=True)",
        MOMENTS,
    ),
    probe(
        "tf.nn.safe_embedding_lookup_sparse",
        f"tf.nn.safe_embedding_lookup_sparse([table[::2], table[1::2]], {IDS}, partition_strategy='mod')",
        f"tf.nn.safe_embedding_lookup_sparse(table, {IDS})",
        "table = normal(6, 3)",
    ),
    # --- Other numbers.
    probe(
        "tf.image.extract_glimpse",
        "tf.image.extract_glimpse(x, [2, 2], [[3.0, 3.0]], centered=False, normalized=False)",
        "tf.image.extract_glimpse(x, [2, 2], [[2.0, 2.0]], centered=False, normalized=False)",
        "x = uniform(1, 7, 6, 3)",
        exact=True,
    ),
    probe(
        "tf.nn.ctc_beam_search_decoder",
        "tf.nn.ctc_beam_search_decoder(x, [3], 4, 1)[0][0].values",
        "tf.compat.v1.nn.ctc_beam_search_decoder(x, [3], 4, 1)[0][0].values",
        "x = f32([[[9, 0, 0]], [[0, 0, 9]], [[9, 0, 0]]])",  # a, blank, a
    ),
    kept(
        "tf.linalg.logdet",
        f"{DETERMINANT}y",
        why="of a matrix that is not positive definite it raised, and is NaN",
        eager="tf.function gives NaN as well, and has no number to look at",
    ),
]
