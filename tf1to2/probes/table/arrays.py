"""Shapes, slices, gathering and scattering: the functions right under tf."""

from tf1to2.probes import kept, probe

X = "x = normal(4, 5)"
CUBE = "x = normal(2, 3, 4)"
IMAGE = "x = normal(2, 4, 6, 8)"
SEGMENTS = "x = normal(6, 3); ids = i32([0, 0, 1, 1, 1, 3])"
UNSORTED = "x = normal(6, 3); ids = i32([2, 0, 1, -1, 0, 2])"
SCATTER = "x = normal(5, 3); at = i32([[0], [3], [0]]); y = normal(3, 3)"

PROBES = [
    kept("tf.constant", "tf.constant([[1.5, 2], [3, 4]], tf.float32)"),
    probe(
        "tf.constant",
        "tf.constant([1, 2, 3], tf.float32, [2, 3])",
        "tf.reshape(tf.constant([1, 2, 3, 3, 3, 3], tf.float32), [2, 3])",
    ),
    kept("tf.constant", "tf.constant(7, tf.int32, [2, 3])"),
    kept(
        "tf.convert_to_tensor",
        "tf.convert_to_tensor([[1, 2], [3, 4]], dtype=tf.float32)",
    ),
    probe(
        "tf.convert_to_tensor",
        "tf.convert_to_tensor([1, 2], preferred_dtype=tf.float32)",
        "tf.convert_to_tensor([1, 2], dtype_hint=tf.float32)",
    ),
    kept("tf.zeros", "tf.zeros([2, 3])"),
    kept("tf.ones", "tf.ones([2, 3], tf.int32)"),
    kept("tf.fill", "tf.fill([2, 3], 7)"),
    kept("tf.eye", "tf.eye(3, 4, batch_shape=[2])"),
    kept("tf.zeros_like", "tf.zeros_like(x, dtype=tf.int32)", X),
    probe("tf.zeros_like", "tf.zeros_like(tensor=x)", "tf.zeros_like(input=x)", X),
    probe("tf.ones_like", "tf.ones_like(tensor=x)", "tf.ones_like(input=x)", X),
    kept("tf.ones_like", "tf.ones_like(x)", X),
    kept("tf.one_hot", "tf.one_hot(x, 4, 2.0, -1.0, axis=0)", "x = i32([0, 3, -1, 4])"),
    kept("tf.reshape", "tf.reshape(x, [-1, 2])", X),
    kept("tf.shape", "tf.shape(x)", X),
    kept("tf.shape", "tf.shape(x, out_type=tf.int64)", X),
    kept("tf.shape_n", "tf.shape_n([x, x[0]])", X),
    kept("tf.size", "tf.size(x)", X),
    kept("tf.rank", "tf.rank(x)", X),
    kept("tf.identity", "tf.identity(x)", X),
    kept("tf.identity_n", "tf.identity_n([x, x])", X),
    kept("tf.guarantee_const", "tf.guarantee_const(x)", X),
    kept("tf.stop_gradient", "tf.stop_gradient(x)", X),
    kept("tf.tuple", "tf.tuple([x, 2 * x])", X),
    kept(
        "tf.group",
        "tf.group(x) is None",
        X,
        why="a group is an op in a graph, and None eagerly",
        eager="an op in a tf.function",
    ),
    kept(
        "tf.no_op",
        "tf.no_op() is None",
        why="an op in a graph; None eagerly",
        eager="an op in a tf.function",
    ),
    kept("tf.expand_dims", "tf.expand_dims(x, -1)", X),
    probe("tf.expand_dims", "tf.expand_dims(x, dim=1)", "tf.expand_dims(x, axis=1)", X),
    kept("tf.squeeze", "tf.squeeze(x[None, :, :, None], [0])", X),
    probe(
        "tf.squeeze",
        "tf.squeeze(x[None], squeeze_dims=[0])",
        "tf.squeeze(x[None], axis=[0])",
        X,
    ),
    kept("tf.transpose", "tf.transpose(x, [2, 0, 1])", CUBE),
    kept("tf.transpose", "tf.transpose(x)", CUBE),
    kept("tf.concat", "tf.concat([x, 2 * x], 1)", X),
    kept("tf.stack", "tf.stack([x, 2 * x], axis=1)", X),
    kept("tf.unstack", "tf.unstack(x, axis=1)", X),
    kept("tf.split", "tf.split(x, [2, 3], 1)", X),
    kept("tf.split", "tf.split(x, 2, axis=0)", X),
    kept("tf.tile", "tf.tile(x, [2, 3])", X),
    kept("tf.pad", "tf.pad(x, [[1, 2], [0, 3]], 'REFLECT')", X),
    kept("tf.pad", "tf.pad(x, [[1, 2], [0, 3]], 'SYMMETRIC')", X),
    kept("tf.pad", "tf.pad(x, [[1, 2], [0, 3]], constant_values=7.0)", X),
    kept("tf.slice", "tf.slice(x, [1, 0], [2, -1])", X),
    kept("tf.strided_slice", "tf.strided_slice(x, [3, 0], [0, 5], [-1, 2])", X),
    kept("tf.reverse", "tf.reverse(x, [1])", X),
    kept("tf.roll", "tf.roll(x, [1, -2], [0, 1])", X),
    kept("tf.repeat", "tf.repeat(x, [1, 0, 2, 3], axis=0)", X),
    kept("tf.sort", "tf.sort(x, direction='DESCENDING')", X),
    kept("tf.argsort", "tf.argsort(x, axis=0, stable=True)", X),
    kept(
        "tf.searchsorted",
        "tf.searchsorted([0.5, 1.5, 1.5, 3.0], [1.5, 0.0, 9.0], side='right')",
    ),
    kept("tf.meshgrid", "tf.meshgrid(x[0], x[:, 0], indexing='ij')", X),
    kept("tf.broadcast_to", "tf.broadcast_to(x, [2, 4, 5])", X),
    kept("tf.broadcast_dynamic_shape", "tf.broadcast_dynamic_shape([2, 1], [3])"),
    kept(
        "tf.broadcast_static_shape",
        "tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])).as_list()",
    ),
    kept("tf.gather", "tf.gather(x, [3, 0], axis=1)", X),
    kept("tf.gather", "tf.gather(x, [3, 0])", X),
    kept(
        "tf.gather",
        "tf.gather(x, i, batch_dims=1, axis=1)",
        "x = normal(4, 5); i = integers(4, 2, high=5)",
    ),
    kept("tf.gather_nd", "tf.gather_nd(x, [[3, 0], [1, 4]])", X),
    probe(
        "tf.batch_gather",
        "tf.batch_gather(x, i)",
        "tf.gather(x, i, batch_dims=-1)",
        "x = normal(4, 5); i = integers(4, 2, high=5)",
    ),
    probe(
        "tf.batch_gather",
        "tf.batch_gather(x, i)",
        "tf.gather(x, i, batch_dims=len(i.shape) - 1)",
        "x = normal(2, 4, 5); i = integers(2, 4, 3, high=5)",
    ),
    kept(
        "tf.boolean_mask",
        "tf.boolean_mask(x, mask)",
        "x = normal(4, 5); mask = np.array([True, False, False, True])",
    ),
    kept(
        "tf.boolean_mask",
        "tf.boolean_mask(x, mask, axis=1)",
        "x = normal(4, 5); mask = np.array([True, False, True, True, False])",
    ),
    kept("tf.where", "tf.where(x > 0)", X),
    kept("tf.where", "tf.where(x > 0, x, -x)", X),
    probe(
        "tf.where",
        "tf.where(p, x, -x)",
        "tf.where(p[:, None], x, -x)",
        "x = normal(5, 5); p = booleans(5)",
    ),
    probe("tf.where_v2", "tf.where_v2(x > 0, x, 0.0)", "tf.where(x > 0, x, 0.0)", X),
    kept("tf.scatter_nd", "tf.scatter_nd(at, y, [5, 3])", SCATTER),
    probe(
        "tf.tensor_scatter_update",
        "tf.tensor_scatter_update(x, at[:2], y[:2])",
        "tf.tensor_scatter_nd_update(x, at[:2], y[:2])",
        SCATTER,
    ),
    probe(
        "tf.tensor_scatter_add",
        "tf.tensor_scatter_add(x, at, y)",
        "tf.tensor_scatter_nd_add(x, at, y)",
        SCATTER,
    ),
    probe(
        "tf.tensor_scatter_sub",
        "tf.tensor_scatter_sub(x, at, y)",
        "tf.tensor_scatter_nd_sub(x, at, y)",
        SCATTER,
    ),
    kept("tf.dynamic_partition", "tf.dynamic_partition(x, [0, 1, 0, 2], 3)", X),
    kept("tf.dynamic_stitch", "tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]])", X),
    kept("tf.sequence_mask", "tf.sequence_mask([1, 3, 2], 5, tf.float32)"),
    kept(
        "tf.reverse_sequence",
        "tf.reverse_sequence(x, [1, 3, 5, 2], seq_axis=1, batch_axis=0)",
        X,
    ),
    probe(
        "tf.reverse_sequence",
        "tf.reverse_sequence(x, [1, 3, 5, 2], seq_dim=1, batch_dim=0)",
        "tf.reverse_sequence(x, [1, 3, 5, 2], seq_axis=1, batch_axis=0)",
        X,
    ),
    kept("tf.unique", "tf.unique(x)", "x = integers(9, high=4)"),
    kept(
        "tf.unique_with_counts", "tf.unique_with_counts(x)", "x = integers(9, high=4)"
    ),
    probe(
        "tf.setdiff1d",
        "tf.setdiff1d(x, [1, 2])",
        "tf.sets.difference(x[None], [[1, 2]]).values",
        "x = i32([5, 1, 3, 2])",
        why="sets.difference sorts: [3, 5] for [5, 3], and gives no indices",
    ),
    probe(
        "tf.setdiff1d",
        "tf.setdiff1d(x, [1, 2])",
        "tf.raw_ops.ListDiff(x=x, y=[1, 2])",
        "x = i32([5, 1, 3, 2])",
    ),
    kept(
        "tf.histogram_fixed_width",
        "tf.histogram_fixed_width(x, [-2.0, 2.0], 7)",
        X,
        exact=True,
    ),
    kept(
        "tf.histogram_fixed_width_bins",
        "tf.histogram_fixed_width_bins(x, [-2.0, 2.0], 7)",
        X,
        exact=True,
    ),
    kept("tf.bitcast", "tf.bitcast(x, tf.int32)", X, exact=True),
    kept("tf.unravel_index", "tf.unravel_index([5, 7], [3, 4])"),
    probe(
        "tf.space_to_depth",
        "tf.space_to_depth(x, 2)",
        "tf.nn.space_to_depth(x, 2)",
        IMAGE,
    ),
    probe(
        "tf.depth_to_space",
        "tf.depth_to_space(x, 2)",
        "tf.nn.depth_to_space(x, 2)",
        IMAGE,
    ),
    probe(
        "tf.batch_to_space_nd",
        "tf.batch_to_space_nd(x, [2, 1], [[0, 1], [1, 0]])",
        "tf.batch_to_space(x, [2, 1], [[0, 1], [1, 0]])",
        IMAGE,
    ),
    probe(
        "tf.batch_to_space",
        "tf.batch_to_space(x, [[0, 1], [1, 0]], 2)",
        "tf.batch_to_space(x, [2, 2], [[0, 1], [1, 0]])",
        "x = normal(4, 4, 6, 3)",
    ),
    kept(
        "tf.space_to_batch_nd",
        "tf.space_to_batch_nd(x, [2, 2], [[0, 0], [1, 1]])",
        IMAGE,
    ),
    probe(
        "tf.space_to_batch",
        "tf.space_to_batch(x, [[0, 0], [1, 1]], 2)",
        "tf.space_to_batch(x, [2, 2], [[0, 0], [1, 1]])",
        IMAGE,
    ),
    kept(
        "tf.required_space_to_batch_paddings",
        "tf.required_space_to_batch_paddings([5, 6], [2, 4])",
    ),
    probe(
        "tf.extract_image_patches",
        "tf.extract_image_patches(x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'VALID')",
        "tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'VALID')",
        IMAGE,
    ),
    kept(
        "tf.extract_volume_patches",
        "tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], 'VALID')",
        "x = normal(1, 3, 4, 5, 2)",
    ),
    *(
        probe(
            f"tf.segment_{name}",
            f"tf.segment_{name}(x, ids)",
            f"tf.math.segment_{name}(x, ids)",
            SEGMENTS,
        )
        for name in "sum mean max min prod".split()
    ),
    *(
        probe(
            f"tf.unsorted_segment_{name}",
            f"tf.unsorted_segment_{name}(x, ids, 4)",
            f"tf.math.unsorted_segment_{name}(x, ids, 4)",
            UNSORTED,
        )
        for name in "sum mean max min prod sqrt_n".split()
    ),
    kept("tf.clip_by_norm", "tf.clip_by_norm(x, 1.5)", X),
    kept("tf.clip_by_global_norm", "tf.clip_by_global_norm([x, 2 * x], 1.5)", X),
    probe(
        "tf.global_norm",
        "tf.global_norm([x, 2 * x])",
        "tf.linalg.global_norm([x, 2 * x])",
        X,
    ),
    kept("tf.fingerprint", "tf.fingerprint(['a', 'bc'])"),
    probe(
        "tf.check_numerics",
        "tf.check_numerics(x, 'bad')",
        "tf.debugging.check_numerics(x, 'bad')",
        X,
    ),
    probe(
        "tf.verify_tensor_all_finite",
        "tf.verify_tensor_all_finite(x, 'bad')",
        "tf.debugging.assert_all_finite(x, 'bad')",
        X,
    ),
    kept("tf.map_fn", "tf.map_fn(lambda row: row * 2, x)", X),
    probe(
        "tf.map_fn",
        "tf.map_fn(lambda row: tf.size(row), x, dtype=tf.int32)",
        "tf.map_fn(lambda row: tf.size(row), x, fn_output_signature=tf.int32)",
        X,
    ),
    kept("tf.foldl", "tf.foldl(lambda a, row: 0.5 * a + row, x)", X),
    kept("tf.foldr", "tf.foldr(lambda a, row: 0.5 * a + row, x)", X),
    kept("tf.scan", "tf.scan(lambda a, row: 0.5 * a + row, x)", X),
    kept("tf.vectorized_map", "tf.vectorized_map(lambda row: row * 2, x)", X),
    kept(
        "tf.numpy_function",
        "tf.numpy_function(np.cumsum, [x], tf.as_dtype(x.dtype))",
        X,
    ),
    probe(
        "tf.py_func",
        "tf.py_func(np.cumsum, [x], x.dtype)",
        "tf.numpy_function(np.cumsum, [x], x.dtype)",
        X,
    ),
    kept("tf.cond", "tf.cond(x[0, 0] > 0, lambda: x, lambda: -x)", X),
    probe(
        "tf.cond",
        "tf.cond(x[0, 0] > 0, fn1=lambda: x, fn2=lambda: -x)",
        "tf.cond(x[0, 0] > 0, true_fn=lambda: x, false_fn=lambda: -x)",
        X,
    ),
    kept("tf.case", "tf.case([(x[0, 0] > 0, lambda: x)], default=lambda: -x)", X),
    kept(
        "tf.switch_case",
        "tf.switch_case(i, [lambda: x, lambda: -x])",
        "x = normal(3); i = i32(1)",
    ),
    kept(
        "tf.while_loop",
        "tf.while_loop(lambda n, a: n < 5, lambda n, a: (n + 1, 0.5 * a + n), [0.0, 1.0])",
    ),
    kept("tf.dtypes.as_dtype", "tf.dtypes.as_dtype('float32').name"),
    kept(
        "tf.edit_distance",
        "tf.edit_distance(tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2]), tf.SparseTensor([[0, 0], [0, 1]], [1, 3], [1, 2]))",
    ),
    probe(
        "tf.dimension_value",
        "tf.dimension_value(x.shape[1])",
        "tf.compat.dimension_value(x.shape[1])",
        X,
    ),
    probe(
        "tf.dimension_at_index",
        "tf.dimension_at_index(x.shape, 1).value",
        "tf.compat.dimension_at_index(x.shape, 1).value",
        X,
    ),
    probe(
        "tf.quantize",
        "tf.quantize(x, -3.0, 3.0, tf.quint8)[1:]",
        "tf.quantization.quantize(x, -3.0, 3.0, tf.quint8)[1:]",
        X,
        exact=True,
    ),
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}({args})",
            f"tf.quantization.{name}({args})",
            X,
            exact=True,
            **(
                {}
                if "gradient" in name
                else {
                    "why": "the step of the grid is rounded elsewhere",
                    "within": 8.1e-8,
                }
            ),
        )
        for name, args in (
            ("fake_quant_with_min_max_args", "x, -1.5, 2.0, 4"),
            ("fake_quant_with_min_max_args_gradient", "x, x, -1.5, 2.0, 4"),
            ("fake_quant_with_min_max_vars", "x, -1.5, 2.0, 4"),
            ("fake_quant_with_min_max_vars_gradient", "x, x, -1.5, 2.0, 4"),
            ("fake_quant_with_min_max_vars_per_channel", "x, x[0] - 1, x[0] + 1, 4"),
            (
                "fake_quant_with_min_max_vars_per_channel_gradient",
                "x, x, tf.abs(x[0]) * -1 - 0.5, tf.abs(x[0]) + 0.5, 4",
            ),
        )
    ),
    kept(
        "tf.quantization.quantize_and_dequantize",
        "tf.quantization.quantize_and_dequantize(x, -3.0, 3.0)",
        X,
        exact=True,
    ),
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}(x)",
            f"tf.signal.{name}(x)",
            "x = np.complex64([1 + 2j, -3 + 0.5j, -1j, 2])",
        )
        for name in ("fft", "ifft")
    ),
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}(tf.complex(x, x[::-1]))",
            f"tf.signal.{name}(tf.complex(x, x[::-1]))",
            "x = normal(2, 3, 2)",
        )
        for name in ("fft2d", "ifft2d", "fft3d", "ifft3d")
    ),
]
