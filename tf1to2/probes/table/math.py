"""Arithmetic: tf.math and the shorter names of what is there."""

from tf1to2.probes import SIGN_OF_ZERO, kept, probe

X = "x = normal(4, 5)"
POSITIVE = "x = uniform(4, 5, low=0.1, high=5)"
UNIT = "x = uniform(4, 5, low=-0.95, high=0.95)"
PAIR = "x = normal(4, 5); y = normal(5)"
INTEGERS = "x = integers(4, 5, low=-9, high=9); y = integers(5, low=1, high=7)"
WHOLE = "x = integers(4, 5, low=-9, high=9)"
ZEROS = "x = f32([0, 1.5, -0.0, 3]); y = f32([2, 0, 0, -1])"
EDGES = "x = EDGES"
LOGICAL = "x = booleans(4, 5); y = booleans(5)"
SEGMENTS = "x = normal(6, 3); ids = i32([0, 0, 1, 1, 1, 3])"
UNSORTED = "x = normal(6, 3); ids = i32([2, 0, 1, -1, 0, 2])"


def unary(names, *inputs, **options):
    """Probes of functions that moved to tf.math, or were always there."""
    return [
        probe(f"tf.{name}", f"tf.{name}(x)", f"tf.math.{name}(x)", *inputs, **options)
        for name in names.split()
    ]


PROBES = [
    *unary("log", POSITIVE, "x = f32([0, -1, nan, inf])"),
    *unary("log1p rsqrt reciprocal lgamma digamma", POSITIVE),
    *unary("erf erfc expm1 log_sigmoid", X),
    *unary("erfc expm1", EDGES),
    *unary(
        "log_sigmoid",
        EDGES,
        why="of infinity it was 0.0, and is -0.0",
        within=SIGN_OF_ZERO,
    ),
    *unary(
        "erf",
        "x = f32([inf, -inf])",
        why="1 and -1 before; the kernel for float64 gives NaN",
        where="tensorflow>=2.20",
    ),
    *unary("is_nan is_inf is_finite ceil rint", X, EDGES, exact=True),
    *(
        kept(f"tf.{name}", f"tf.{name}(x)", X, EDGES)
        for name in "abs floor exp square sigmoid tanh".split()
    ),
    kept("tf.negative", "tf.negative(x)", X),
    kept(
        "tf.negative",
        "tf.negative(x)",
        EDGES,
        why="of 0.0 it was 0.0, and is -0.0",
        within=SIGN_OF_ZERO,
    ),
    kept("tf.abs", "tf.abs(x)", WHOLE, "x = i32([-2147483648])", exact=True),
    kept("tf.sqrt", "tf.sqrt(x)", POSITIVE),
    *(
        kept(f"tf.{name}", f"tf.{name}(x)", X)
        for name in "sin cos tan sinh cosh asinh atan sign".split()
    ),
    *(kept(f"tf.{name}", f"tf.{name}(x)", UNIT) for name in "asin acos atanh".split()),
    kept("tf.acosh", "tf.acosh(x)", "x = uniform(4, 5, low=1, high=5)"),
    kept("tf.sign", "tf.sign(x)", WHOLE, exact=True),
    kept("tf.round", "tf.round(x)", "x = f32([0.5, 1.5, 2.5, 3.4, -1.5, -2.5])"),
    kept(
        "tf.round",
        "tf.round(x)",
        "x = f32([-0.3, -0.5])",
        why="it was 0.0, and is -0.0",
        within=SIGN_OF_ZERO,
    ),
    *(
        kept(f"tf.{name}", f"tf.{name}(x, y)", PAIR, INTEGERS)
        for name in "add subtract multiply maximum minimum truediv".split()
    ),
    *(
        kept(f"tf.{name}", f"tf.{name}(x, y)", PAIR, INTEGERS, exact=True)
        for name in "less less_equal greater greater_equal equal not_equal".split()
    ),
    *(
        kept(f"tf.{name}", f"tf.{name}(x, y)", LOGICAL, exact=True)
        for name in ("logical_and", "logical_or")
    ),
    kept("tf.logical_not", "tf.logical_not(x)", "x = booleans(4, 5)", exact=True),
    probe(
        "tf.logical_xor",
        "tf.logical_xor(x, y)",
        "tf.math.logical_xor(x, y)",
        LOGICAL,
        exact=True,
    ),
    kept("tf.divide", "tf.divide(x, y)", PAIR, INTEGERS),
    probe("tf.div", "tf.div(x, y)", "x / y", PAIR),
    probe("tf.div", "tf.div(x, y)", "x // y", INTEGERS),
    probe(
        "tf.div_no_nan",
        "tf.div_no_nan(x, y)",
        "tf.math.divide_no_nan(x, y)",
        PAIR,
        ZEROS,
    ),
    kept("tf.realdiv", "tf.realdiv(x, y)", PAIR),
    probe("tf.floordiv", "tf.floordiv(x, y)", "tf.math.floordiv(x, y)", PAIR, INTEGERS),
    probe(
        "tf.floor_div", "tf.floor_div(x, y)", "tf.math.floordiv(x, y)", PAIR, INTEGERS
    ),
    probe("tf.mod", "tf.mod(x, y)", "tf.math.mod(x, y)", PAIR, INTEGERS),
    kept("tf.truncatediv", "tf.truncatediv(x, y)", INTEGERS),
    kept("tf.truncatemod", "tf.truncatemod(x, y)", INTEGERS),
    kept("tf.pow", "tf.pow(x, 3.0)", X),
    kept("tf.pow", "tf.pow(x, 3)", WHOLE, exact=True),
    kept("tf.atan2", "tf.atan2(x, y)", PAIR),
    probe(
        "tf.squared_difference",
        "tf.squared_difference(x, y)",
        "tf.math.squared_difference(x, y)",
        PAIR,
        INTEGERS,
    ),
    kept("tf.math.multiply_no_nan", "tf.math.multiply_no_nan(x, y)", PAIR, ZEROS),
    kept("tf.math.reciprocal_no_nan", "tf.math.reciprocal_no_nan(x)", X, ZEROS),
    kept(
        "tf.math.xlogy",
        "tf.math.xlogy(x, tf.abs(y))",
        PAIR,
        "x = f32([0, 1.5, 3]); y = f32([0, 0, -1])",
    ),
    kept("tf.math.xdivy", "tf.math.xdivy(x, y)", PAIR, ZEROS),
    kept("tf.scalar_mul", "tf.scalar_mul(2.5, x)", X),
    probe("tf.igamma", "tf.igamma(x, x + 0.5)", "tf.math.igamma(x, x + 0.5)", POSITIVE),
    probe(
        "tf.igammac", "tf.igammac(x, x + 0.5)", "tf.math.igammac(x, x + 0.5)", POSITIVE
    ),
    probe("tf.lbeta", "tf.lbeta(x)", "tf.math.lbeta(x)", POSITIVE),
    probe(
        "tf.betainc",
        "tf.betainc(x, x + 0.5, x / 6)",
        "tf.math.betainc(x, x + 0.5, x / 6)",
        POSITIVE,
    ),
    probe(
        "tf.polygamma",
        "tf.polygamma(tf.ones_like(x), x)",
        "tf.math.polygamma(tf.ones_like(x), x)",
        POSITIVE,
    ),
    probe("tf.zeta", "tf.zeta(x + 1.5, x)", "tf.math.zeta(x + 1.5, x)", POSITIVE),
    *(
        kept(f"tf.math.{name}", f"tf.math.{name}(x)", X)
        for name in "bessel_i0 bessel_i0e bessel_i1 bessel_i1e softplus softsign".split()
    ),
    kept("tf.math.softplus", "tf.math.softplus(x)", "x = f32([-20, -14, 14, 40])"),
    kept("tf.math.polyval", "tf.math.polyval([x, y, x], y)", PAIR),
    *(
        kept(f"tf.{name}", f"tf.{name}(x, 1)", X, "x = integers(4, 5)")
        for name in "reduce_sum reduce_mean reduce_max reduce_min reduce_prod".split()
    ),
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}(x, reduction_indices=[0], keep_dims=True)",
            f"tf.{name}(x, axis=[0], keepdims=True)",
            X,
        )
        for name in (
            "reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp"
        ).split()
    ),
    *(
        kept(f"tf.{name}", f"tf.{name}(x, axis=1)", "x = booleans(4, 5)", exact=True)
        for name in ("reduce_all", "reduce_any")
    ),
    kept("tf.reduce_logsumexp", "tf.reduce_logsumexp(x, axis=1)", X),
    *(
        kept(f"tf.math.{name}", f"tf.math.{name}(x, axis=1)", X)
        for name in "reduce_std reduce_variance reduce_euclidean_norm".split()
    ),
    probe(
        "tf.count_nonzero",
        "tf.count_nonzero(x, axis=1)",
        "tf.math.count_nonzero(x, axis=1)",
        WHOLE,
        "x = f32([[0, 1], [-0.0, nan]])",
        exact=True,
    ),
    probe(
        "tf.math.count_nonzero",
        "tf.math.count_nonzero(x, reduction_indices=1)",
        "tf.math.count_nonzero(x, axis=1)",
        WHOLE,
        exact=True,
    ),
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}(x, dimension=1)",
            f"tf.{name}(x, axis=1)",
            X,
            "x = f32([[1, 1, 0], [2, 3, 3]])",
            exact=True,
        )
        for name in ("argmax", "argmin")
    ),
    *(
        kept(f"tf.{name}", f"tf.{name}(x, 1)", X, WHOLE, exact=True)
        for name in ("argmax", "argmin")
    ),
    *(
        probe(f"tf.{old}", f"tf.{old}(x, 1)", f"tf.{new}(x, 1)", X, exact=True)
        for old, new in (("arg_max", "argmax"), ("arg_min", "argmin"))
    ),
    kept("tf.cumsum", "tf.cumsum(x, 1, exclusive=True, reverse=True)", X),
    probe("tf.cumprod", "tf.cumprod(x, 1)", "tf.math.cumprod(x, 1)", X),
    kept("tf.math.cumulative_logsumexp", "tf.math.cumulative_logsumexp(x, 1)", X),
    kept("tf.add_n", "tf.add_n([x, 2 * x, x * x])", X),
    probe(
        "tf.accumulate_n",
        "tf.accumulate_n([x, 2 * x, x * x])",
        "tf.math.accumulate_n([x, 2 * x, x * x])",
        X,
    ),
    kept(
        "tf.matmul",
        "tf.matmul(x, y, transpose_b=True)",
        "x = normal(4, 5); y = normal(3, 5)",
    ),
    kept(
        "tf.tensordot",
        "tf.tensordot(x, y, [[2], [0]])",
        "x = normal(2, 4, 5); y = normal(5, 3)",
    ),
    kept(
        "tf.einsum",
        "tf.einsum('bij,bjk->bik', x, y)",
        "x = normal(2, 4, 5); y = normal(2, 5, 3)",
    ),
    kept("tf.linspace", "tf.linspace(0.0, 10.0, 7)"),
    kept("tf.range", "tf.range(2, 20, 3)"),
    *(
        kept(f"tf.math.segment_{name}", f"tf.math.segment_{name}(x, ids)", SEGMENTS)
        for name in "sum mean max min prod".split()
    ),
    *(
        kept(
            f"tf.math.unsorted_segment_{name}",
            f"tf.math.unsorted_segment_{name}(x, ids, 4)",
            UNSORTED,
        )
        for name in "sum mean max min prod sqrt_n".split()
    ),
    *unary("conj real imag angle", "x = np.complex64([1 + 2j, -3 + 0.5j, -1j])"),
    kept("tf.complex", "tf.complex(x, -x)", X),
    probe(
        "tf.confusion_matrix",
        "tf.confusion_matrix(x, y, num_classes=4)",
        "tf.math.confusion_matrix(x, y, num_classes=4)",
        "x = integers(9, high=4); y = integers(9, high=4)",
        exact=True,
    ),
    probe(
        "tf.confusion_matrix",
        "tf.confusion_matrix(x, y, 4, tf.float32, None, w)",
        "tf.math.confusion_matrix(x, y, 4, w, tf.float32)",
        "x = integers(9, high=4); y = integers(9, high=4); w = dyadic(9)",
        exact=True,
    ),
    probe(
        "tf.math.confusion_matrix",
        "tf.math.confusion_matrix(x, y, 4, tf.float32, None, w)",
        "tf.math.confusion_matrix(x, y, 4, w, tf.float32)",
        "x = integers(9, high=4); y = integers(9, high=4); w = dyadic(9)",
        exact=True,
    ),
    probe(
        "tf.bincount",
        "tf.bincount(x)",
        "tf.math.bincount(x)",
        "x = integers(9, high=4)",
        exact=True,
    ),
    kept(
        "tf.math.bincount", "tf.math.bincount(x)", "x = integers(9, high=4)", exact=True
    ),
    probe(
        "tf.math.in_top_k",
        "tf.math.in_top_k(x, y, 2)",
        "tf.math.in_top_k(y, x, 2)",
        "x = normal(6, 5); y = integers(6, high=5)",
        "x = f32([[1, 1, 1, 0], [nan, 1, 2, 0]]); y = i32([2, 1])",
        exact=True,
    ),
    kept(
        "tf.math.top_k", "tf.math.top_k(x, 3)", X, "x = f32([[1, 1, 1, 0]])", exact=True
    ),
    kept("tf.math.zero_fraction", "tf.math.zero_fraction(tf.nn.relu(x))", X),
    kept("tf.math.l2_normalize", "tf.math.l2_normalize(x, 1)", X),
    probe(
        "tf.math.l2_normalize",
        "tf.math.l2_normalize(x, dim=1)",
        "tf.math.l2_normalize(x, axis=1)",
        X,
    ),
    probe(
        "tf.math.softmax", "tf.math.softmax(x, dim=0)", "tf.math.softmax(x, axis=0)", X
    ),
    probe(
        "tf.math.log_softmax",
        "tf.math.log_softmax(x, dim=0)",
        "tf.math.log_softmax(x, axis=0)",
        X,
    ),
    probe(
        "tf.invert_permutation",
        "tf.invert_permutation(x)",
        "tf.math.invert_permutation(x)",
        "x = i32([3, 0, 2, 1])",
        exact=True,
    ),
    probe(
        "tf.is_strictly_increasing",
        "tf.is_strictly_increasing(x)",
        "tf.math.is_strictly_increasing(x)",
        "x = i32([3, 0])",
        "x = i32([1, 2, 2])",
        "x = i32([1, 2, 5])",
    ),
    probe(
        "tf.is_non_decreasing",
        "tf.is_non_decreasing(x)",
        "tf.math.is_non_decreasing(x)",
        "x = i32([3, 0])",
        "x = i32([1, 2, 2])",
    ),
    kept("tf.clip_by_value", "tf.clip_by_value(x, -0.5, 0.7)", X, EDGES),
    kept("tf.norm", "tf.norm(x, axis=1)", X),
    probe(
        "tf.norm",
        "tf.norm(x, ord=1, axis=1, keep_dims=True)",
        "tf.norm(x, ord=1, axis=1, keepdims=True)",
        X,
    ),
    kept("tf.cast", "tf.cast(x, tf.int32)", "x = normal(4, 5, scale=10)", exact=True),
    *(
        probe(
            f"tf.to_{name}",
            f"tf.to_{name}(x)",
            f"tf.cast(x, tf.{dtype})",
            "x = normal(4, 5, scale=10)",
            WHOLE,
            exact=True,
        )
        for name, dtype in (
            ("float", "float32"),
            ("double", "float64"),
            ("int32", "int32"),
            ("int64", "int64"),
            ("complex64", "complex64"),
            ("complex128", "complex128"),
        )
    ),
    probe(
        "tf.to_bfloat16",
        "tf.to_float(tf.to_bfloat16(x))",
        "tf.cast(tf.cast(x, tf.bfloat16), tf.float32)",
        X,
        exact=True,
    ),
    kept(
        "tf.saturate_cast",
        "tf.saturate_cast(x, tf.uint8)",
        "x = f32([-3.5, 0.4, 254.9, 300])",
        exact=True,
    ),
]
