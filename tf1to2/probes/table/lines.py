"""Names that a few lines replace: sessions, records, attention, decoders, columns."""

from tf1to2.probes import kept, probe

C = "tf.contrib"
X = "x = normal(4, 5)"
SEQUENCE = "x = normal(2, 4, 3)"
DATA = "iterators are Python's"
NUMPY = "arrays, read from files or by Python"
SESSION = "sess = tf.Session()\n"
VARIABLE = "v = tf.Variable([1.5, 2])\n"
STARTED = f"{VARIABLE}{SESSION}sess.run(v.initializer)\n"

# --- Records, and what contrib.slim reads from them.


def example(**features):
    """The text of a serialized tf.train.Example."""
    lists = ", ".join(
        f"'{name}': tf.train.Feature({kind}_list=tf.train.{kind.title()}List(value={value}))"
        for name, (kind, value) in features.items()
    )
    return f"tf.train.Example(features=tf.train.Features(feature={{{lists}}})).SerializeToString()"


NUMBERS = example(a=("float", "[1.5, 2]"))
PICTURE = example(i=("bytes", "[picture]"), f=("bytes", "[b'png']"))
BOX = example(
    **{side: ("float", f"[{n}, 0.5]") for n, side in enumerate(("t", "l", "b", "r"))}
)
PNG = "tf.image.encode_png(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))"
DECODER = f"d = {C}.slim.tfexample_decoder\n"
FLOATS = "{'a': tf.FixedLenFeature([2], tf.float32)}"
PARSED = "tf.io.parse_single_example({}, {{'a': tf.io.FixedLenFeature([2], tf.float32)}})['a']"
RECORDS = """\
path = folder + '/r'
with tf.{}.TFRecordWriter(path) as writer:
    for n in range(3):
        writer.write(tf.train.Example(features=tf.train.Features(feature={{'a': tf.train.Feature(float_list=tf.train.FloatList(value=[n, 0.5]))}})).SerializeToString())
"""
PROVIDED = f"""\
{RECORDS.format("python_io")}{DECODER}decoder = d.TFExampleDecoder({FLOATS}, {{'x': d.Tensor('a')}})
dataset = {C}.slim.dataset.Dataset(path, tf.TFRecordReader, decoder, 3, {{'x': 'numbers'}})
provider = {C}.slim.dataset_data_provider.DatasetDataProvider(dataset, num_readers=1, shuffle=False)
[x] = provider.get(['x'])
{SESSION}with sess, {C}.slim.queues.QueueRunners(sess):
    rows = [sess.run(x) for _ in range(3)]
rows"""
READ = f"""\
{RECORDS.format("io")}rows = [{PARSED.format("record")} for record in tf.data.TFRecordDataset(path)]
rows"""

# --- Recurrent cells: one step, and the loops around it.
CELL = "cell = tf.nn.rnn_cell.BasicRNNCell(3)\n"
STEP = """\
def step(row, h):
    row_and_h = tf.concat([row, h], 1)
    kernel = distinct('k')([row_and_h.shape[1], 3])
    return tf.tanh(row_and_h @ tf.cast(kernel, row.dtype))
def loop(rows):
    h, outputs = tf.zeros_like(rows[0][:, :1]) * tf.ones([1, 3], rows[0].dtype), []
    for row in rows:
        h = step(row, h)
        outputs.append(h)
    return outputs
"""
SCOPED = "with tf.variable_scope('s', initializer=distinct('k')):\n    "
DERIVED = """\
class Cell(tf.nn.rnn_cell.RNNCell):
    state_size = output_size = 3
    def call(self, row, h):
        return row + h, tf.tanh(row + h)
"""
RAW = """\
rows = tf.unstack(x, axis=1)
cell = tf.nn.rnn_cell.BasicRNNCell(3)
array = tf.TensorArray(x.dtype, 4).unstack(tf.transpose(x, [1, 0, 2]))
def body(time, output, state, loop_state):
    state = cell.zero_state(2, x.dtype) if output is None else state
    done = tf.fill([2], time >= 4)
    row = tf.cond(time >= 4, lambda: tf.zeros([2, 3], x.dtype), lambda: array.read(time))
    return done, row, state, output, None
"""
MEMORY = "query = normal(2, 5); memory = normal(2, 4, 6)"
DENSE = "def dense(x, size):\n    return tf.tensordot(x, tf.cast(distinct('k')([x.shape[-1], size]), x.dtype), 1)\n"

# --- Columns of contrib.
IDS = "tf.SparseTensor([[0, 0], [1, 0], [2, 0]], tf.constant([4, 0, 2], tf.int64), [3, 1])"

PROBES = [
    # --- Graphs and sessions.
    probe(
        "tf.reset_default_graph",
        "from concurrent.futures import ThreadPoolExecutor\ndef name():\n    tf.reset_default_graph()\n    return tf.get_variable('v', [2]).name\nwith ThreadPoolExecutor(1) as pool:  # graphs are a thread's\n    names = [pool.submit(name).result() for _ in range(2)]\nnames",
        "names = [tf.Variable([0.0, 0.0], name='v').name for _ in range(2)]\nnames",
    ),
    probe(
        "tf.get_default_session",
        f"{SESSION}with sess:\n    y = tf.get_default_session().run(tf.constant(2.5) * 3)\ny",
        "y = (tf.constant(2.5) * 3).numpy()\ny",
    ),
    probe(
        "tf.train.SingularMonitoredSession",
        "with tf.Graph().as_default():\n    y = tf.Variable([1.5, 2]) * 3\n    with tf.train.SingularMonitoredSession() as sess:\n        y = sess.run(y)\ny",
        f"{VARIABLE}y = (v * 3).numpy()\ny",
    ),
    probe(
        "tf.sparse_placeholder",
        f"{SESSION}x = tf.sparse_placeholder(tf.float32)\nsess.run(tf.sparse.reduce_sum(x, 1), {{x: tf.SparseTensorValue([[0, 1], [1, 0]], [1.5, 2], [2, 3])}})",
        "def f(x):\n    return tf.sparse.reduce_sum(x, 1)\nf(tf.SparseTensor([[0, 1], [1, 0]], [1.5, 2], [2, 3]))",
    ),
    probe(
        "tf.logging.warning",
        "import io, logging\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\nlogging.getLogger('tensorflow').addHandler(handler)\nlevel = tf.logging.get_verbosity()\ntf.logging.set_verbosity(tf.logging.WARN)\ntf.logging.warning('%d of %s', 3, 'it')\ntf.logging.set_verbosity(level)\nlogging.getLogger('tensorflow').removeHandler(handler)\nout.getvalue()",
        "import io, logging\nfrom absl import logging as log\nout = io.StringIO()\nhandler = logging.StreamHandler(out)\nlog.get_absl_logger().addHandler(handler)\nlog.warning('%d of %s', 3, 'it')\nlog.get_absl_logger().removeHandler(handler)\nout.getvalue()",
        eager="the log is written when it is traced",
    ),
    probe(
        f"{C}.learn.ModeKeys",
        f"[{C}.learn.ModeKeys.TRAIN, {C}.learn.ModeKeys.EVAL, {C}.learn.ModeKeys.INFER]",
        "['train', 'eval', 'infer']",
    ),
    *(
        probe(
            "tf.python_io.TFRecordCompressionType",
            f"with tf.python_io.TFRecordWriter(folder + '/r', tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.{kind})) as writer:\n    writer.write(b'one')\nopen(folder + '/r', 'rb').read()[:2]",
            f"with tf.io.TFRecordWriter(folder + '/r', tf.io.TFRecordOptions('{kind}')) as writer:\n    writer.write(b'one')\nopen(folder + '/r', 'rb').read()[:2]",
        )
        for kind in ("GZIP", "ZLIB")
    ),
    # --- Records, decoded by contrib.slim.
    *(
        probe(
            f"{C}.slim.tfexample_decoder.{name}",
            f"{DECODER}[x] = d.TFExampleDecoder({FLOATS}, {{'x': {item}}}).decode({NUMBERS})\nx",
            f"x = {PARSED.format(NUMBERS)}{then}\nx",
        )
        for name, item, then in (
            ("TFExampleDecoder", "d.Tensor('a')", ""),
            ("Tensor", "d.Tensor('a', shape=[2, 1])", "[:, None]"),
            (
                "ItemHandlerCallback",
                "d.ItemHandlerCallback('a', lambda keys: keys['a'] * 2)",
                " * 2",
            ),
        )
    ),
    probe(
        f"{C}.slim.tfexample_decoder.Image",
        f"{DECODER}picture = tf.Session().run({PNG})\nkeys = {{k: tf.FixedLenFeature([], tf.string) for k in 'if'}}\n[x] = d.TFExampleDecoder(keys, {{'x': d.Image('i', 'f')}}).decode({PICTURE})\nx",
        f"picture = {PNG}.numpy()\nx = tf.io.parse_single_example({PICTURE}, {{'i': tf.io.FixedLenFeature([], tf.string)}})['i']\ntf.io.decode_png(x, 3)",
    ),
    probe(
        f"{C}.slim.tfexample_decoder.BoundingBox",
        f"{DECODER}keys = {{k: tf.VarLenFeature(tf.float32) for k in 'tlbr'}}\n[x] = d.TFExampleDecoder(keys, {{'x': d.BoundingBox(['t', 'l', 'b', 'r'])}}).decode({BOX})\nx",
        f"x = tf.io.parse_single_example({BOX}, {{k: tf.io.VarLenFeature(tf.float32) for k in 'tlbr'}})\ntf.stack([x[k].values for k in 'tlbr'], 1)",
    ),
    *(
        probe(f"{C}.slim.{name}", PROVIDED, READ, eager=DATA)
        for name in (
            "dataset.Dataset",
            "dataset_data_provider.DatasetDataProvider",
            "queues.QueueRunners",
        )
    ),
    probe(
        "tf.estimator.inputs.numpy_input_fn",
        f"features, labels = tf.estimator.inputs.numpy_input_fn({{'a': np.arange(6.0)}}, np.arange(6), 4, 1, shuffle=False)()\n{SESSION}coordinator = tf.train.Coordinator()\ntf.train.start_queue_runners(sess, coordinator)\ny = sess.run([features['a'], labels])\ncoordinator.request_stop()\ny",
        "features, labels = next(iter(tf.data.Dataset.from_tensor_slices(({'a': np.arange(6.0)}, np.arange(6))).batch(4)))\n[features['a'], labels]",
        eager=DATA,
    ),
    kept(
        "tf.data.experimental.SqlDataset",
        "import sqlite3\nbase = sqlite3.connect(folder + '/b')\nwith base:\n    base.execute('create table t (a, b)')\n    base.execute(\"insert into t values (7, 'x')\")\nbase.close()\ntf.compat.v1.data.make_one_shot_iterator(tf.data.experimental.SqlDataset('sqlite', folder + '/b', 'select a, b from t', (tf.int32, tf.string))).get_next()",
        eager=DATA,
    ),
    # --- Variables, checkpoints, training.
    probe(
        "tf.train.Checkpoint",
        f"v = tf.get_variable('v', initializer=[1.5, 2], use_resource=True)\n{SESSION}sess.run(v.initializer)\nkept = tf.train.Checkpoint(v=v)\npath = kept.save(folder + '/m', sess)\nsess.run(v.assign([0, 0]))\nkept.restore(path).run_restore_ops(sess)\nsess.run(v)",
        f"{VARIABLE}kept = tf.train.Checkpoint(v=v)\npath = kept.save(folder + '/m')\nv.assign([0, 0])\nkept.restore(path).assert_consumed()\nv.numpy()",
        eager=NUMPY,
    ),
    probe(
        f"{C}.slim.assign_from_checkpoint_fn",
        f"{STARTED}path = tf.train.Saver([v]).save(sess, folder + '/m')\nsess.run(v.assign([0, 0]))\n{C}.slim.assign_from_checkpoint_fn(path, {{v.op.name: v}})(sess)\nsess.run(v)",
        f"{VARIABLE}path = tf.train.Checkpoint(v=v).write(folder + '/m')\nv.assign([0, 0])\ntf.train.Checkpoint(v=v).read(path).assert_consumed()\nv.numpy()",
        eager=NUMPY,
    ),
    probe(
        f"{C}.training.create_train_op",
        f"{VARIABLE}tf.train.create_global_step()\ntrain = {C}.training.create_train_op(tf.reduce_sum(v * v), tf.train.GradientDescentOptimizer(0.1))\nwith tf.control_dependencies([train]):\n    after = v.read_value()\nafter",
        f"{VARIABLE}with tf.GradientTape() as tape:\n    loss = tf.reduce_sum(v * v)\nv.assign_sub(0.1 * tape.gradient(loss, v))\nv.read_value()",
        exact=True,
    ),
    kept(
        "tf.variable_creator_scope",
        "def frozen(make, **given):\n    return make(**{**given, 'trainable': False})\nwith tf.variable_creator_scope(frozen):\n    v = tf.Variable([1.5, 2])\nv.trainable",
    ),
    probe(
        f"{C}.metrics.aggregate_metric_map",
        f"updates = {C}.metrics.aggregate_metric_map({{'m': tf.metrics.mean(x)}})[1]\nupdates['m']",
        "tf.reduce_mean(x)",
        "x = dyadic(4, 4)",
    ),
    probe(
        f"{C}.learn.preprocessing.VocabularyProcessor",
        f"rows = {C}.learn.preprocessing.VocabularyProcessor(3).fit_transform(['a b', 'b c d e'])\nnp.stack(list(rows))",
        "words = {}\nrows = [[words.setdefault(w, len(words) + 1) for w in text.split()][:3] for text in ('a b', 'b c d e')]\nnp.int64([row + [0] * (3 - len(row)) for row in rows])",
        eager=NUMPY,
    ),
    probe(
        "tf.train.sdca_fprint",
        "tf.train.sdca_fprint(['a', 'b'])",
        "tf.raw_ops.SdcaFprint(input=['a', 'b'])",
    ),
    # --- Columns of contrib.
    probe(
        f"{C}.layers.real_valued_column",
        f"{C}.layers.input_from_feature_columns({{'a': x}}, [{C}.layers.real_valued_column('a', 5)])",
        "x + 0",
        X,
        exact=True,
    ),
    *(
        probe(
            f"{C}.layers.{name}",
            f"column = {C}.layers.sparse_column_with_integerized_feature('a', 6)\n{C}.layers.input_from_feature_columns({{'a': {IDS}}}, [{C}.layers.embedding_column(column, 3, initializer=distinct('k'))])",
            "table = distinct('k')([6, 3], tf.float32)\ntf.gather(table, [4, 0, 2])",
        )
        for name in ("embedding_column", "sparse_column_with_integerized_feature")
    ),
    # --- Recurrent networks.
    *(
        probe(
            name,
            f"{DERIVED}tf.nn.dynamic_rnn(Cell(), x, dtype=x.dtype)[0]",
            "h, outputs = tf.zeros_like(x[:, 0]), []\nfor row in tf.unstack(x, axis=1):\n    outputs.append(row + h)\n    h = tf.tanh(row + h)\ntf.stack(outputs, 1)",
            SEQUENCE,
            eager="its loop is among the lines that make ready",
        )
        for name in ("tf.nn.rnn_cell.RNNCell",)
    ),
    probe(
        f"{C}.legacy_seq2seq.rnn_decoder",
        f"{CELL}{SCOPED}y = {C}.legacy_seq2seq.rnn_decoder(tf.unstack(x, axis=1), cell.zero_state(2, x.dtype), cell)[0]\ny",
        f"{STEP}loop(tf.unstack(x, axis=1))",
        SEQUENCE,
    ),
    probe(
        "tf.nn.static_bidirectional_rnn",
        f"{CELL}{SCOPED}y = tf.nn.static_bidirectional_rnn(cell, tf.nn.rnn_cell.BasicRNNCell(3), tf.unstack(x, axis=1), dtype=x.dtype)[0]\ny",
        f"{STEP}rows = tf.unstack(x, axis=1)\n[tf.concat(both, 1) for both in zip(loop(rows), loop(rows[::-1])[::-1])]",
        SEQUENCE,
    ),
    probe(
        "tf.nn.raw_rnn",
        f"{RAW}{SCOPED}y = tf.nn.raw_rnn(cell, body)[0].stack()\ny",
        f"{STEP}tf.stack(loop(tf.unstack(x, axis=1)))",
        SEQUENCE,
    ),
    *(
        probe(
            f"{C}.seq2seq.{name}",
            f"{CELL}{SCOPED}helper = {C}.seq2seq.TrainingHelper(x, [4, 4])\n    decoder = {C}.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, x.dtype))\n    y = {C}.seq2seq.dynamic_decode(decoder)[0].rnn_output\ny",
            f"{STEP}tf.stack(loop(tf.unstack(x, axis=1)), 1)",
            SEQUENCE,
        )
        for name in ("BasicDecoder", "dynamic_decode")
    ),
    probe(
        f"{C}.seq2seq.LuongAttention",
        f"{SCOPED}attention = {C}.seq2seq.LuongAttention(5, memory, dtype=memory.dtype)\n    y = attention(query, attention.initial_state(2, query.dtype))[0]\ny",
        f"{DENSE}tf.nn.softmax(tf.linalg.matvec(dense(memory, 5), query))",
        MEMORY,
    ),
    probe(
        f"{C}.seq2seq.BahdanauAttention",
        f"{SCOPED}attention = {C}.seq2seq.BahdanauAttention(3, memory, dtype=memory.dtype)\n    y = attention(query, attention.initial_state(2, query.dtype))[0]\ny",
        f"{DENSE}v = tf.cast(distinct('k')([3]), query.dtype)\ntf.nn.softmax(tf.reduce_sum(v * tf.tanh(dense(memory, 3) + dense(query, 3)[:, None]), 2))",
        MEMORY,
    ),
    probe(
        f"{C}.seq2seq.AttentionWrapper",
        f"{CELL}{SCOPED}attention = {C}.seq2seq.LuongAttention(3, memory, dtype=memory.dtype)\n    wrapper = {C}.seq2seq.AttentionWrapper(cell, attention)\n    y = wrapper(query, wrapper.zero_state(2, query.dtype))[0]\ny",
        f"{DENSE}h = tf.tanh(dense(tf.concat([query, tf.zeros([2, 9], query.dtype)], 1), 3))\ntf.linalg.matvec(memory, tf.nn.softmax(tf.linalg.matvec(dense(memory, 3), h)), transpose_a=True)",
        MEMORY,
    ),
]
