"""tf.contrib, its layers apart: nests, signals, tables, sequences, metrics, losses."""

from tf1to2.probes import probe

X = "x = normal(4, 5)"
C = "tf.contrib"
WAVE = "x = normal(2, 50)"
PYTHON = "Python's structures"
TABLES = "a table in the lines that make ready"
DATA = "iterators are Python's"
NEST = "{'a': [x, 2 * x], 'b': (x, {'c': x})}"
SEQUENCE = (
    "x = normal(2, 3, 5); y = integers(2, 3, high=5); w = f32([[1, 1, 0], [1, 0.5, 1]])"
)
CELL = "x = normal(3, 4); h = normal(3, 5); c = normal(3, 5)"
LSTM = "i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), kernel) + bias, 4, 1)"
FLOAT = (
    "sigmoid and tanh of float32 are other polynomials; there is no kernel for float64"
)
DATASET = "tf.data.Dataset.range(10)"
ONE_SHOT = ".make_one_shot_iterator().get_next()"


def metric(name, arguments, new, *inputs, **options):
    """The value that the update op of a streaming metric gives after one batch."""
    return probe(
        f"{C}.metrics.{name}",
        f"{C}.metrics.{name}({arguments})[1]",
        new,
        *inputs,
        eager="a metric in the lines that make ready",
        **options,
    )


def dataset(name, old, new):
    """A transformation of tf.contrib.data, applied to the numbers below 10."""
    return probe(
        f"{C}.data.{name}",
        f"{DATASET}.apply({C}.data.{old}).batch(20){ONE_SHOT}",
        f"next(iter({DATASET}{new}.batch(20)))",
        eager=DATA,
    )


PROBES = [
    probe(
        f"{C}.framework.nest.flatten",
        f"{C}.framework.nest.flatten({NEST})",
        f"tf.nest.flatten({NEST})",
        X,
    ),
    probe(
        f"{C}.framework.nest.map_structure",
        f"{C}.framework.nest.map_structure(lambda v: 2 * v, {NEST})",
        f"tf.nest.map_structure(lambda v: 2 * v, {NEST})",
        X,
    ),
    probe(
        f"{C}.framework.nest.pack_sequence_as",
        f"{C}.framework.nest.pack_sequence_as([0, [0, 0]], [x, 2 * x, 3 * x])",
        "tf.nest.pack_sequence_as([0, [0, 0]], [x, 2 * x, 3 * x])",
        X,
    ),
    probe(
        f"{C}.framework.nest.is_sequence",
        f"[{C}.framework.nest.is_sequence(v) for v in ([1], (), 'ab', {{}}, 3)]",
        "[tf.nest.is_nested(v) for v in ([1], (), 'ab', {}, 3)]",
    ),
    probe(
        f"{C}.framework.is_tensor",
        f"[{C}.framework.is_tensor(x), {C}.framework.is_tensor(3)]",
        "[tf.is_tensor(x), tf.is_tensor(3)]",
        X,
    ),
    probe(f"{C}.framework.argsort", f"{C}.framework.argsort(x)", "tf.argsort(x)", X),
    probe(f"{C}.framework.sort", f"{C}.framework.sort(x)", "tf.sort(x)", X),
    probe(
        f"{C}.framework.smart_cond",
        f"{C}.framework.smart_cond(True, lambda: x, lambda: -x)",
        "x + 0 if True else -x",
        X,
    ),
    probe(
        f"{C}.framework.get_or_create_global_step",
        f"{C}.framework.get_or_create_global_step()",
        "step = tf.Variable(0, dtype=tf.int64)\nstep.read_value()",
    ),
    probe(
        f"{C}.framework.create_global_step",
        f"{C}.framework.create_global_step()",
        "step = tf.Variable(0, dtype=tf.int64)\nstep.read_value()",
    ),
    probe(
        f"{C}.framework.get_global_step",
        f"{C}.framework.create_global_step()\n{C}.framework.get_global_step()",
        "step = tf.Variable(0, dtype=tf.int64)\nstep.read_value()",
    ),
    probe(
        f"{C}.framework.get_variables",
        "tf.get_variable('v', [2], initializer=distinct('v'))\n"
        f"{C}.framework.get_variables()",
        "module = tf.Module()\nmodule.v = tf.Variable(distinct('v')([2], tf.float32))\nlist(module.variables)",
    ),
    probe(
        f"{C}.training.HParams",
        f"{C}.training.HParams(rate=0.1, layers=[3, 4]).layers",
        "import types\nhparams = types.SimpleNamespace(rate=0.1, layers=[3, 4])\nhparams.layers",
    ),
    probe(
        f"{C}.util.constant_value",
        f"{C}.util.constant_value(tf.constant([1, 2]))",
        "tf.get_static_value(tf.constant([1, 2]))",
    ),
    probe(
        f"{C}.util.make_ndarray",
        f"{C}.util.make_ndarray({C}.util.make_tensor_proto([[1.5, 2]]))",
        "tf.make_ndarray(tf.make_tensor_proto([[1.5, 2]]))",
    ),
    probe(
        f"{C}.util.make_tensor_proto",
        f"{C}.util.make_tensor_proto([[1.5, 2]]).SerializeToString()",
        "tf.make_tensor_proto([[1.5, 2]]).SerializeToString()",
    ),
    # --- Signals.
    *(
        probe(
            f"{C}.signal.{name}",
            f"{C}.signal.{name}({args})",
            f"tf.signal.{name}({args})",
            WAVE,
        )
        for name, args in (
            ("frame", "x, 16, 8, pad_end=True"),
            ("overlap_and_add", "tf.reshape(x, [2, 5, 10]), 4"),
        )
    ),
    probe(
        f"{C}.signal.inverse_stft",
        f"{C}.signal.inverse_stft({C}.signal.stft(x, 16, 8), 16, 8)",
        "tf.signal.inverse_stft(tf.signal.stft(x, 16, 8), 16, 8)",
        WAVE,
        exact=True,
        why="a Fourier transform of float32 by another library; complex64 alone",
        within=1.0e-7,
    ),
    probe(
        f"{C}.signal.stft",
        f"{C}.signal.stft(x, 16, 8)",
        "tf.signal.stft(x, 16, 8)",
        WAVE,
        exact=True,
        why="a Fourier transform of float32 by another library",
        within=7.7e-8,
    ),
    probe(
        f"{C}.signal.mfccs_from_log_mel_spectrograms",
        f"{C}.signal.mfccs_from_log_mel_spectrograms(x)",
        "tf.signal.mfccs_from_log_mel_spectrograms(x)",
        WAVE,
        exact=True,
        why="a Fourier transform of float32 by another library",
        within=9.0e-7,
    ),
    probe(
        f"{C}.signal.linear_to_mel_weight_matrix",
        f"{C}.signal.linear_to_mel_weight_matrix()",
        "tf.signal.linear_to_mel_weight_matrix()",
        exact=True,
        why="log of float32 is another polynomial",
        within=2.7e-6,
    ),
    *(
        probe(
            f"{C}.signal.{name}",
            f"{C}.signal.{name}(16)",
            f"tf.signal.{name}(16)",
            exact=True,
        )
        for name in ("hann_window", "hamming_window")
    ),
    # --- Tables of words.
    probe(
        f"{C}.lookup.HashTable",
        f"{C}.lookup.HashTable({C}.lookup.KeyValueTensorInitializer(['a', 'b'], [3, 4]), -1).lookup(x)",
        "table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [3, 4]), -1)\ntable.lookup(x)",
        "x = np.array([b'b', b'z'])",
    ),
    probe(
        f"{C}.lookup.KeyValueTensorInitializer",
        f"{C}.lookup.HashTable({C}.lookup.KeyValueTensorInitializer(['a', 'b'], [3, 4]), -1).lookup(x)",
        "table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [3, 4]), -1)\ntable.lookup(x)",
        "x = np.array([b'b', b'z'])",
    ),
    probe(
        f"{C}.lookup.index_table_from_tensor",
        f"{C}.lookup.index_table_from_tensor(['a', 'b'], 2).lookup(x)",
        "table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.range(2, dtype=tf.int64)), 2)\ntable.lookup(x)",
        "x = np.array([b'b', b'z', b'y', b'x'])",
    ),
    probe(
        f"{C}.lookup.index_table_from_tensor",
        f"{C}.lookup.index_table_from_tensor(['a', 'b'], default_value=-1).lookup(x)",
        "table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.range(2, dtype=tf.int64)), -1)\ntable.lookup(x)",
        "x = np.array([b'b', b'z'])",
    ),
    probe(
        f"{C}.lookup.string_to_index_table_from_tensor",
        f"{C}.lookup.string_to_index_table_from_tensor(['a', 'b']).lookup(x)",
        "table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.range(2, dtype=tf.int64)), -1)\ntable.lookup(x)",
        "x = np.array([b'b', b'z'])",
    ),
    probe(
        f"{C}.lookup.index_to_string_table_from_tensor",
        f"{C}.lookup.index_to_string_table_from_tensor(['a', 'b'], '?').lookup(x)",
        "table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.range(2, dtype=tf.int64), ['a', 'b']), '?')\ntable.lookup(x)",
        "x = i64([1, 0, 7])",
    ),
    # --- Sequences.
    probe(
        f"{C}.seq2seq.sequence_loss",
        f"{C}.seq2seq.sequence_loss(x, y, w)",
        "loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x) * w\ntf.reduce_sum(loss) / (tf.reduce_sum(w) + 1e-12)",
        SEQUENCE,
        exact=True,
        eager="code of several lines",
    ),
    probe(
        f"{C}.seq2seq.sequence_loss",
        f"{C}.seq2seq.sequence_loss(x, y, w, average_across_timesteps=False)",
        "loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x) * w\ntf.reduce_sum(loss, 0) / (tf.reduce_sum(w, 0) + 1e-12)",
        SEQUENCE,
        exact=True,
        eager="code of several lines",
    ),
    probe(
        f"{C}.legacy_seq2seq.sequence_loss_by_example",
        f"{C}.legacy_seq2seq.sequence_loss_by_example([x[:, 0], x[:, 1]], [y[:, 0], y[:, 1]], [w[:, 0], w[:, 1]])",
        "loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x) * w\ntf.reduce_sum(loss[:, :2], 1) / (tf.reduce_sum(w[:, :2], 1) + 1e-12)",
        SEQUENCE,
        exact=True,
        eager="code of several lines",
    ),
    probe(
        f"{C}.legacy_seq2seq.sequence_loss",
        f"{C}.legacy_seq2seq.sequence_loss([x[:, 0], x[:, 1]], [y[:, 0], y[:, 1]], [w[:, 0], w[:, 1]])",
        "loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x) * w\ntf.reduce_mean(tf.reduce_sum(loss[:, :2], 1) / (tf.reduce_sum(w[:, :2], 1) + 1e-12))",
        SEQUENCE,
        exact=True,
        eager="code of several lines",
    ),
    probe(
        f"{C}.seq2seq.tile_batch",
        f"{C}.seq2seq.tile_batch(x, 3)",
        "tf.repeat(x, 3, axis=0)",
        X,
    ),
    probe(
        f"{C}.seq2seq.hardmax",
        f"{C}.seq2seq.hardmax(x)",
        "tf.one_hot(tf.argmax(x, -1), 5, dtype=x.dtype)",
        X,
    ),
    probe(
        f"{C}.seq2seq.gather_tree",
        f"{C}.seq2seq.gather_tree([[[2, 3]], [[5, 6]], [[8, 9]]], [[[0, 0]], [[1, 0]], [[1, 1]]], [3], 10)",
        "ids = np.array([[[2, 3]], [[5, 6]], [[8, 9]]])\nparents = np.array([[[0, 0]], [[1, 0]], [[1, 1]]])\nbeams = np.array([[0, 1]])\nrows = []\nfor t in (2, 1, 0):\n    rows.insert(0, np.take_along_axis(ids[t], beams, 1))\n    beams = np.take_along_axis(parents[t], beams, 1)\ntf.constant(np.stack(rows), tf.int32)",
    ),
    # --- Cells: kernels and their order are those of BasicLSTMCell.
    probe(
        f"{C}.rnn.LSTMBlockCell",
        f"with tf.variable_scope('cell', initializer=distinct('k')):\n    y, (c1, h1) = {C}.rnn.LSTMBlockCell(5)(x, (c, h))\n(c1, h1)",
        f"kernel, bias = distinct('k')([9, 20], x.dtype), tf.zeros([20], x.dtype)\n{LSTM}\nc1 = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)\n(c1, tf.tanh(c1) * tf.sigmoid(o))",
        CELL,
        exact=True,
        eager="code of several lines",
        why=FLOAT,
        within=2.2e-7,
    ),
    probe(
        f"{C}.rnn.GRUBlockCellV2",
        f"with tf.variable_scope('cell', initializer=distinct('k')):\n    y = {C}.rnn.GRUBlockCellV2(5)(x, h)[1]\ny",
        "gates, candidate = distinct('k')([9, 10], x.dtype), distinct('k')([9, 5], x.dtype)\nr, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), gates) + 1.0), 2, 1)\nnew = tf.tanh(tf.matmul(tf.concat([x, r * h], 1), candidate))\nu * h + (1 - u) * new",
        CELL,
        exact=True,
        eager="code of several lines",
        why=FLOAT,
        within=1.9e-7,
    ),
    probe(
        f"{C}.rnn.LayerNormBasicLSTMCell",
        f"with tf.variable_scope('cell', initializer=distinct('k')):\n    y, (c1, h1) = {C}.rnn.LayerNormBasicLSTMCell(5)(x, (c, h))\n(c1, h1)",
        "kernel = distinct('k')([9, 20], x.dtype)\ndef normed(v):\n    mean, variance = tf.nn.moments(v, [1], keepdims=True)\n    return tf.nn.batch_normalization(v, mean, variance, 0.0, 1.0, 1e-12)\ni, j, f, o = map(normed, tf.split(tf.matmul(tf.concat([x, h], 1), kernel), 4, 1))\nc1 = normed(c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j))\n(c1, tf.tanh(c1) * tf.sigmoid(o))",
        CELL,
        eager="code of several lines",
    ),
    probe(
        f"{C}.rnn.OutputProjectionWrapper",
        f"with tf.variable_scope('cell', initializer=distinct('k')):\n    y = {C}.rnn.OutputProjectionWrapper(tf.nn.rnn_cell.BasicRNNCell(5), 2)(x, h)[0]\ny",
        "new = tf.tanh(tf.matmul(tf.concat([x, h], 1), distinct('k')([9, 5], x.dtype)))\ntf.matmul(new, distinct('k')([5, 2], x.dtype))",
        CELL,
        eager="code of several lines",
    ),
    probe(
        f"{C}.rnn.InputProjectionWrapper",
        f"with tf.variable_scope('cell', initializer=distinct('k')):\n    y = {C}.rnn.InputProjectionWrapper(tf.nn.rnn_cell.BasicRNNCell(5), 2)(x, h)[0]\ny",
        "small = tf.matmul(x, distinct('k')([4, 2], x.dtype))\ntf.tanh(tf.matmul(tf.concat([small, h], 1), distinct('k')([7, 5], x.dtype)))",
        CELL,
        eager="code of several lines",
    ),
    # --- Metrics, after one batch.
    probe(
        f"{C}.metrics.accuracy",
        f"{C}.metrics.accuracy(x, y)",
        "tf.reduce_mean(tf.cast(x == y, tf.float32))",
        "x = integers(9, high=3); y = integers(9, high=3)",
    ),
    metric(
        "streaming_mean",
        "x",
        "mean = tf.keras.metrics.Mean()\nmean.update_state(x)\nmean.result()",
        X,
        exact=True,
        why="a sum of float32 in another order, that nearly cancels",
        within=1.2e-6,
    ),
    metric(
        "streaming_accuracy",
        "x, y",
        "accuracy = tf.keras.metrics.Accuracy()\naccuracy.update_state(y, x)\naccuracy.result()",
        "x = integers(9, high=3); y = integers(9, high=3)",
    ),
    metric(
        "streaming_mean_absolute_error",
        "x, 2 * x",
        "error = tf.keras.metrics.MeanAbsoluteError()\nerror.update_state(2 * x, x)\nerror.result()",
        X,
        exact=True,
        why="a mean of the means of rows",
        within=2.0e-7,
    ),
    metric(
        "streaming_mean_squared_error",
        "x, 2 * x",
        "error = tf.keras.metrics.MeanSquaredError()\nerror.update_state(2 * x, x)\nerror.result()",
        X,
        exact=True,
        why="a mean of the means of rows",
        within=1.2e-7,
    ),
    metric(
        "streaming_root_mean_squared_error",
        "x, 2 * x",
        "error = tf.keras.metrics.RootMeanSquaredError()\nerror.update_state(2 * x, x)\nerror.result()",
        X,
        exact=True,
    ),
    metric(
        "streaming_precision",
        "x, y",
        "metric = tf.keras.metrics.Precision()\nmetric.update_state(y, x)\nmetric.result()",
        "x = booleans(9); y = booleans(9)",
    ),
    metric(
        "streaming_recall",
        "x, y",
        "metric = tf.keras.metrics.Recall()\nmetric.update_state(y, x)\nmetric.result()",
        "x = booleans(9); y = booleans(9)",
    ),
    metric(
        "streaming_true_positives",
        "x, y",
        "metric = tf.keras.metrics.TruePositives()\nmetric.update_state(y, x)\nmetric.result()",
        "x = booleans(9); y = booleans(9)",
    ),
    metric(
        "streaming_pearson_correlation",
        "x, y",
        "a, b = x - tf.reduce_mean(x), y - tf.reduce_mean(y)\ntf.reduce_sum(a * b) / tf.sqrt(tf.reduce_sum(a * a) * tf.reduce_sum(b * b))",
        "x = normal(9); y = normal(9)",
        exact=True,
    ),
    # --- Losses.
    probe(
        f"{C}.losses.softmax_cross_entropy",
        f"{C}.losses.softmax_cross_entropy(x, y)",
        "tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x))",
        "x = normal(4, 5); y = np.eye(5, dtype='float32')[:4]",
        exact=True,
    ),
    probe(
        f"{C}.losses.sigmoid_cross_entropy",
        f"{C}.losses.sigmoid_cross_entropy(x, y)",
        "tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x))",
        "x = normal(4, 5); y = np.eye(5, dtype='float32')[:4]",
        exact=True,
    ),
    probe(
        f"{C}.losses.mean_squared_error",
        f"{C}.losses.mean_squared_error(x, y)",
        "tf.reduce_mean(tf.math.squared_difference(x, y))",
        "x = normal(4, 5); y = normal(4, 5)",
        exact=True,
    ),
    probe(
        f"{C}.losses.absolute_difference",
        f"{C}.losses.absolute_difference(x, y)",
        "tf.reduce_mean(tf.abs(x - y))",
        "x = normal(4, 5); y = normal(4, 5)",
        exact=True,
    ),
    probe(
        f"{C}.losses.compute_weighted_loss",
        f"{C}.losses.compute_weighted_loss(x, 0.5)",
        "tf.reduce_mean(x * 0.5)",
        "x = normal(4)",
        exact=True,
    ),
    probe(
        f"{C}.nn.deprecated_flipped_softmax_cross_entropy_with_logits",
        f"{C}.nn.deprecated_flipped_softmax_cross_entropy_with_logits(x, y)",
        "tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x)",
        "x = normal(4, 5); y = uniform(4, 5)",
    ),
    probe(
        f"{C}.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
        f"{C}.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(x, y)",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)",
        "x = normal(4, 5); y = integers(4, high=5)",
    ),
    probe(
        f"{C}.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits",
        f"{C}.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(x, y)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x)",
        "x = normal(4, 5); y = uniform(4, 5)",
    ),
    probe(f"{C}.nn.alpha_dropout", f"{C}.nn.alpha_dropout(x, 1.0)", "x + 0", X),
    # --- Images.
    probe(
        f"{C}.image.rotate",
        f"{C}.image.rotate(x, 0.5)",
        "s, c = np.sin(0.5), np.cos(0.5)\nh, w = x.shape[1] - 1, x.shape[2] - 1\nmatrix = [[c, -s, (w - (c * w - s * h)) / 2, s, c, (h - (s * w + c * h)) / 2, 0, 0]]\ntf.raw_ops.ImageProjectiveTransformV2(images=x, transforms=matrix, output_shape=x.shape[1:3], interpolation='NEAREST')",
        "x = uniform(2, 7, 6, 3)",
        eager="code of several lines",
    ),
    probe(
        f"{C}.image.transform",
        f"{C}.image.transform(x, [1.0, 0.2, 0.5, -0.1, 1.1, 0.0, 0.0, 0.0], 'BILINEAR')",
        "tf.raw_ops.ImageProjectiveTransformV2(images=x, transforms=[[1.0, 0.2, 0.5, -0.1, 1.1, 0.0, 0.0, 0.0]], output_shape=x.shape[1:3], interpolation='BILINEAR')",
        "x = uniform(2, 7, 6, 3)",
    ),
    probe(
        f"{C}.image.translate",
        f"{C}.image.translate(x, [1.5, -2.0])",
        "tf.raw_ops.ImageProjectiveTransformV2(images=x, transforms=[[1.0, 0, -1.5, 0, 1, 2.0, 0, 0]], output_shape=x.shape[1:3], interpolation='NEAREST')",
        "x = uniform(2, 7, 6, 3)",
    ),
    # --- Data.
    dataset(
        "map_and_batch",
        "map_and_batch(lambda v: v * 2, 3, drop_remainder=True)",
        ".map(lambda v: v * 2).batch(3, drop_remainder=True)",
    ),
    dataset(
        "batch_and_drop_remainder",
        "batch_and_drop_remainder(3)",
        ".batch(3, drop_remainder=True)",
    ),
    dataset(
        "parallel_interleave",
        "parallel_interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(2), 3)",
        ".interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(2), 3)",
    ),
    dataset("enumerate_dataset", "enumerate_dataset(5)", ".enumerate(5)"),
    dataset(
        "group_by_window",
        "group_by_window(lambda v: v % 2, lambda k, d: d.batch(5), 5)",
        ".group_by_window(lambda v: v % 2, lambda k, d: d.batch(5), 5)",
    ),
    dataset(
        "scan",
        "scan(np.int64(0), lambda s, v: (s + v, s))",
        ".scan(np.int64(0), lambda s, v: (s + v, s))",
    ),
    dataset("ignore_errors", "ignore_errors()", ".ignore_errors()"),
    probe(
        f"{C}.data.shuffle_and_repeat",
        f"{DATASET}.apply({C}.data.shuffle_and_repeat(1, 2)).batch(30){ONE_SHOT}",
        f"next(iter({DATASET}.shuffle(1).repeat(2).batch(30)))",
        eager=DATA,
    ),
    # --- Draws from seeds alone.
    *(
        probe(
            f"{C}.stateless.stateless_{old}",
            f"{C}.stateless.stateless_{old}([3, 4], seed=[3, 7])",
            f"tf.random.stateless_{new}([3, 4], seed=[3, 7])",
            exact=True,
        )
        for old, new in (
            ("random_normal", "normal"),
            ("random_uniform", "uniform"),
            ("truncated_normal", "truncated_normal"),
        )
    ),
    probe(
        f"{C}.stateless.stateless_multinomial",
        f"{C}.stateless.stateless_multinomial(x, 6, seed=[3, 7])",
        "tf.random.stateless_categorical(x, 6, seed=[3, 7])",
        X,
        exact=True,
    ),
    # --- Eager, summaries, checkpoints: what is left of them.
    probe(
        f"{C}.eager.Variable",
        f"{C}.eager.Variable([1.5, 2])",
        "variable = tf.Variable([1.5, 2])\nvariable.read_value()",
    ),
    probe(
        f"{C}.crf.crf_sequence_score",
        f"{C}.crf.crf_sequence_score(x[None], tf.constant([[1, 0, 4, 2]]), tf.constant([4]), t)",
        "tags = [1, 0, 4, 2]\nunary = tf.add_n([x[i, tag] for i, tag in enumerate(tags)])\n(unary + tf.add_n([t[a, b] for a, b in zip(tags, tags[1:])]))[None]",
        "x = normal(4, 5); t = normal(5, 5)",
        exact=True,
        eager="code of several lines",
    ),
    probe(
        f"{C}.crf.crf_log_norm",
        f"{C}.crf.crf_log_norm(x[None], tf.constant([4]), t)",
        "a = x[0]\nfor row in x[1:]:\n    a = tf.reduce_logsumexp(a[:, None] + t, 0) + row\ntf.reduce_logsumexp(a)[None]",
        "x = normal(4, 5); t = normal(5, 5)",
        eager="code of several lines",
        exact=True,
    ),
    probe(
        f"{C}.crf.crf_log_likelihood",
        f"{C}.crf.crf_log_likelihood(x[None], tf.constant([[1, 0, 4, 2]]), tf.constant([4]), t)[0]",
        "tags = [1, 0, 4, 2]\na = x[0]\nfor row in x[1:]:\n    a = tf.reduce_logsumexp(a[:, None] + t, 0) + row\nscore = tf.add_n([x[i, tag] for i, tag in enumerate(tags)]) + tf.add_n([t[p, q] for p, q in zip(tags, tags[1:])])\n(score - tf.reduce_logsumexp(a))[None]",
        "x = normal(4, 5); t = normal(5, 5)",
        eager="code of several lines",
        exact=True,
    ),
    probe(
        f"{C}.crf.crf_decode",
        f"{C}.crf.crf_decode(x[None], t, tf.constant([4]))[0]",
        "best, back = x[0], []\nfor row in x[1:]:\n    scores = best[:, None] + t\n    back.append(tf.argmax(scores, 0).numpy())\n    best = tf.reduce_max(scores, 0) + row\ntags = [int(tf.argmax(best))]\nfor links in reversed(back):\n    tags.insert(0, int(links[tags[0]]))\ntf.constant([tags], tf.int32)",
        "x = normal(4, 5); t = normal(5, 5)",
        exact=True,
        eager="a loop over what was decided",
    ),
    probe(
        f"{C}.losses.metric_learning.triplet_semihard_loss",
        f"{C}.losses.metric_learning.triplet_semihard_loss(y, x, 1.0)",
        "d = tf.reduce_sum((x[:, None] - x) ** 2, -1)\nsame = y[:, None] == y\nlosses = []\nfor a in range(6):\n    for p in range(6):\n        if a != p and same[a, p]:\n            others = [d[a, n] for n in range(6) if not same[a, n]]\n            harder = [v for v in others if v > d[a, p]]\n            losses.append(tf.nn.relu(1.0 + d[a, p] - (min(harder) if harder else max(others))))\ntf.add_n(losses) / len(losses)",
        "x = normal(6, 3); y = i32([0, 0, 1, 1, 2, 2])",
        exact=True,
        eager="a loop over what was decided",
        why="distances of float32 in another form",
        within=3.1e-7,
    ),
]
