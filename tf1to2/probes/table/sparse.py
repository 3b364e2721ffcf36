"""tf.sparse, tf.sets, tf.ragged, and the sparse_… names before them."""

from tf1to2.probes import kept, probe

S = "tf.SparseTensor([[0, 1], [1, 0], [2, 3]], x, [3, 4])"
X = "x = normal(3)"
XY = "x = normal(3); y = normal(4, 2)"
MORE = "x = normal(3); y = normal(3)"
SETS = "tf.constant([[1, 2], [3, 4]]), tf.constant([[2, 9], [3, 4]])"


def both(old, new, call, *inputs):
    """The short name, and the one in tf.sparse that was there already."""
    inputs = inputs or (X,)
    return [
        probe(f"tf.{old}", f"tf.{old}({call})", f"tf.sparse.{new}({call})", *inputs),
    ]


PROBES = [
    *both("sparse_tensor_to_dense", "to_dense", S),
    *both("sparse_tensor_to_dense", "to_dense", f"{S}, default_value=-1"),
    *both("sparse_tensor_dense_matmul", "sparse_dense_matmul", f"{S}, y", XY),
    *both(
        "sparse_reorder",
        "reorder",
        "tf.SparseTensor([[2, 3], [0, 1], [1, 0]], x, [3, 4])",
    ),
    *both("sparse_retain", "retain", f"{S}, [True, False, True]"),
    *both("sparse_slice", "slice", f"{S}, [0, 0], [2, 2]"),
    *both("sparse_transpose", "transpose", S),
    *both("sparse_reshape", "reshape", f"{S}, [2, 6]"),
    *both("sparse_reset_shape", "reset_shape", S),
    *both("sparse_softmax", "softmax", S),
    *both("sparse_fill_empty_rows", "fill_empty_rows", f"{S}, tf.cast(-1, x.dtype)"),
    *both("sparse_mask", "mask", "tf.IndexedSlices(y[:3], [4, 0, 7]), [0, 7]", XY),
    *both("sparse_maximum", "maximum", f"{S}, {S.replace('x', '-x')}"),
    *both("sparse_minimum", "minimum", f"{S}, {S.replace('x', '-x')}"),
    *both("sparse_concat", "concat", f"1, [{S}, {S}]"),
    probe(
        "tf.sparse_concat",
        f"tf.sparse_concat(axis=1, sp_inputs=[{S}, {S}], expand_nonconcat_dim=True)",
        f"tf.sparse.concat(axis=1, sp_inputs=[{S}, {S}], expand_nonconcat_dims=True)",
        X,
    ),
    probe(
        "tf.sparse_split",
        f"tf.sparse_split(sp_input={S}, num_split=2, axis=1)",
        f"tf.sparse.split(sp_input={S}, num_split=2, axis=1)",
        X,
    ),
    probe("tf.sparse_add", f"tf.sparse_add({S}, {S})", f"tf.sparse.add({S}, {S})", X),
    probe(
        "tf.sparse_add",
        f"tf.sparse_add({S}, {S}, thresh=0.5)",
        f"tf.sparse.add({S}, {S}, threshold=0.5)",
        X,
    ),
    kept("tf.sparse.add", f"tf.sparse.add({S}, {S})", X),
    probe(
        "tf.sparse_reduce_sum",
        f"tf.sparse_reduce_sum({S}, 1)",
        f"tf.sparse.reduce_sum({S}, 1)",
        X,
    ),
    probe(
        "tf.sparse_reduce_sum",
        f"tf.sparse_reduce_sum({S}, reduction_axes=[1], keep_dims=True)",
        f"tf.sparse.reduce_sum({S}, axis=[1], keepdims=True)",
        X,
    ),
    probe(
        "tf.sparse_reduce_sum_sparse",
        f"tf.sparse_reduce_sum_sparse({S}, 1)",
        f"tf.sparse.reduce_sum({S}, 1, output_is_sparse=True)",
        X,
    ),
    probe(
        "tf.sparse_reduce_max",
        f"tf.sparse_reduce_max({S}, 1)",
        f"tf.sparse.reduce_max({S}, 1)",
        X,
    ),
    probe(
        "tf.sparse_reduce_max_sparse",
        f"tf.sparse_reduce_max_sparse({S}, 1)",
        f"tf.sparse.reduce_max({S}, 1, output_is_sparse=True)",
        X,
    ),
    kept("tf.sparse.reduce_sum", f"tf.sparse.reduce_sum({S}, 1)", X),
    kept("tf.sparse.reduce_max", f"tf.sparse.reduce_max({S}, 1)", X),
    probe(
        "tf.sparse_to_dense",
        "tf.sparse_to_dense([[0, 1], [1, 0], [2, 3]], [3, 4], x, -1)",
        f"tf.sparse.to_dense({S}, -1)",
        X,
    ),
    probe(
        "tf.sparse_to_dense",
        "tf.sparse_to_dense([0, 2], [4], 7)",
        "tf.sparse.to_dense(tf.SparseTensor([[0], [2]], [7, 7], [4]))",
    ),
    probe(
        "tf.sparse_to_indicator",
        "tf.sparse_to_indicator(tf.SparseTensor([[0, 0], [1, 1]], tf.constant([3, 1], tf.int64), [2, 2]), 5)",
        "tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [1, 1]], tf.constant([3, 1], tf.int64), [2, 2]), 5)",
    ),
    probe(
        "tf.sparse_merge",
        "tf.sparse_merge(tf.SparseTensor([[0, 0], [1, 1]], tf.constant([3, 1], tf.int64), [2, 2]), tf.SparseTensor([[0, 0], [1, 1]], x[:2], [2, 2]), 5)",
        "tf.SparseTensor([[0, 3], [1, 1]], x[:2], [2, 5])",
        X,
    ),
    probe(
        "tf.sparse_segment_sum",
        "tf.sparse_segment_sum(y, [0, 2, 3], [0, 0, 1])",
        "tf.sparse.segment_sum(y, [0, 2, 3], [0, 0, 1])",
        XY,
    ),
    probe(
        "tf.sparse_segment_mean",
        "tf.sparse_segment_mean(y, [0, 2, 3], [0, 0, 1])",
        "tf.sparse.segment_mean(y, [0, 2, 3], [0, 0, 1])",
        XY,
    ),
    probe(
        "tf.sparse_segment_sqrt_n",
        "tf.sparse_segment_sqrt_n(y, [0, 2, 3], [0, 0, 1])",
        "tf.sparse.segment_sqrt_n(y, [0, 2, 3], [0, 0, 1])",
        XY,
    ),
    probe(
        "tf.sparse_segment_sum",
        "tf.sparse_segment_sum(y, [0, 2, 3], [0, 0, 1], num_segments=4)",
        "tf.sparse.segment_sum(y, [0, 2, 3], [0, 0, 1], num_segments=4)",
        XY,
    ),
    *(
        kept(
            f"tf.sparse.segment_{name}",
            f"tf.sparse.segment_{name}(y, [0, 2, 3], [0, 0, 1])",
            XY,
        )
        for name in ("sum", "mean", "sqrt_n")
    ),
    probe(
        "tf.sparse_matmul",
        "tf.sparse_matmul(y, y, transpose_b=True, a_is_sparse=True)",
        "tf.matmul(y, y, transpose_b=True, a_is_sparse=True)",
        "y = dyadic(4, 2)",
        exact=True,
    ),
    kept("tf.sparse.eye", "tf.sparse.eye(3, 4)"),
    kept("tf.sparse.expand_dims", f"tf.sparse.expand_dims({S}, 1)", X),
    kept("tf.sparse.from_dense", "tf.sparse.from_dense(tf.nn.relu(x))", X),
    kept(
        "tf.sparse.cross_hashed",
        "tf.sparse.cross_hashed([tf.SparseTensor([[0, 0], [0, 1]], ['a', 'b'], [1, 2]), tf.SparseTensor([[0, 0]], ['c'], [1, 2])], 100, 7)",
    ),
    kept(
        "tf.sparse.cross",
        "tf.sparse.cross([tf.SparseTensor([[0, 0], [0, 1]], ['a', 'b'], [1, 2]), tf.SparseTensor([[0, 0]], ['c'], [1, 2])])",
    ),
    *(
        kept(f"tf.sets.{name}", f"tf.sets.{name}({SETS})")
        for name in ("intersection", "union", "difference")
    ),
    *(
        probe(f"tf.sets.{old}", f"tf.sets.{old}({SETS})", f"tf.sets.{new}({SETS})")
        for old, new in (
            ("set_intersection", "intersection"),
            ("set_union", "union"),
            ("set_difference", "difference"),
        )
    ),
    kept(
        "tf.sets.size",
        "tf.sets.size(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [3, 3, 4], [2, 2]))",
    ),
    kept("tf.ragged.constant", "tf.ragged.constant([[1, 2], [], [3]])"),
    kept("tf.ragged.range", "tf.ragged.range([2, 0, 3])"),
    kept(
        "tf.ragged.stack",
        "tf.ragged.stack([tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[4]])])",
    ),
    kept(
        "tf.ragged.boolean_mask",
        "tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])",
    ),
    kept(
        "tf.ragged.map_flat_values",
        "tf.ragged.map_flat_values(tf.negative, tf.ragged.constant([[1, 2], [3]]))",
    ),
    kept(
        "tf.ragged.row_splits_to_segment_ids",
        "tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3])",
    ),
    kept(
        "tf.ragged.segment_ids_to_row_splits",
        "tf.ragged.segment_ids_to_row_splits([0, 0, 2])",
    ),
    probe(
        "tf.serialize_sparse",
        f"tf.deserialize_many_sparse(tf.serialize_sparse({S})[None], x.dtype)",
        f"tf.io.deserialize_many_sparse(tf.io.serialize_sparse({S})[None], x.dtype)",
        X,
    ),
    probe(
        "tf.serialize_many_sparse",
        f"tf.deserialize_many_sparse(tf.serialize_many_sparse({S}), x.dtype)",
        f"tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse({S}), x.dtype)",
        X,
    ),
    probe(
        "tf.deserialize_many_sparse",
        f"tf.deserialize_many_sparse(tf.serialize_many_sparse({S}), x.dtype)",
        f"tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse({S}), x.dtype)",
        X,
    ),
    probe(
        "tf.serialize_tensor",
        "tf.parse_tensor(tf.serialize_tensor(x), x.dtype)",
        "tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype)",
        X,
    ),
    probe(
        "tf.parse_tensor",
        "tf.parse_tensor(tf.serialize_tensor(x), x.dtype)",
        "tf.io.parse_tensor(tf.io.serialize_tensor(x), x.dtype)",
        X,
    ),
]
