"""Files, records, serialized examples, datasets, and checks that raise."""

from tf1to2.probes import kept, probe

X = "x = normal(4, 5)"
DATA = "iterators are Python's"
NUMBERS = "tf.data.Dataset.range(10)"
ONE = ".make_one_shot_iterator().get_next()"
WRITE = "open(folder + '/a.txt', 'w').write('one\\ntwo')\n"
EXAMPLE = "tf.train.Example(features=tf.train.Features(feature={'a': tf.train.Feature(float_list=tf.train.FloatList(value=[1.5, 2])), 'b': tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))})).SerializeToString()"


def dataset(name, new=None, **options):
    """A call that ends in a dataset, drawn from as one batch."""
    return probe(
        f"tf.data.{name.partition('(')[0]}",
        f"tf.data.{name}.batch(20){ONE}",
        f"next(iter(tf.data.{new or name}.batch(20)))",
        eager=DATA,
        **options,
    )


def check(name, arguments, *inputs):
    """An assertion that holds: an op to depend on then, None today."""
    return [
        probe(
            f"tf.{old}",
            f"with tf.control_dependencies([tf.{old}({arguments})]):\n    y = tf.identity(x)\ny",
            f"tf.debugging.{name}({arguments})\nx + 0",
            *inputs,
        )
        for old in (name, f"debugging.{name}")
    ]


PROBES = [
    # --- Files.
    *(
        probe(
            f"tf.gfile.{old}",
            f"{WRITE}tf.gfile.{old}({args})",
            f"{WRITE}tf.io.gfile.{new}({args})",
        )
        for old, new, args in (
            ("Exists", "exists", "folder + '/a.txt'"),
            ("IsDirectory", "isdir", "folder"),
            ("ListDirectory", "listdir", "folder"),
            ("MakeDirs", "makedirs", "folder + '/b/c'"),
            ("MkDir", "mkdir", "folder + '/b'"),
            ("Remove", "remove", "folder + '/a.txt'"),
        )
    ),
    probe(
        "tf.gfile.DeleteRecursively",
        "tf.gfile.MakeDirs(folder + '/b/c')\ntf.gfile.DeleteRecursively(folder + '/b')\ntf.gfile.Exists(folder + '/b')",
        "tf.io.gfile.makedirs(folder + '/b/c')\ntf.io.gfile.rmtree(folder + '/b')\ntf.io.gfile.exists(folder + '/b')",
    ),
    probe(
        "tf.gfile.Glob",
        f"{WRITE}[p[len(folder):] for p in tf.gfile.Glob(folder + '/*.txt')]",
        f"{WRITE}[p[len(folder):] for p in tf.io.gfile.glob(folder + '/*.txt')]",
    ),
    probe(
        "tf.gfile.Copy",
        f"{WRITE}tf.gfile.Copy(folder + '/a.txt', folder + '/b.txt')\ntf.gfile.Open(folder + '/b.txt').read()",
        f"{WRITE}tf.io.gfile.copy(folder + '/a.txt', folder + '/b.txt')\ntf.io.gfile.GFile(folder + '/b.txt').read()",
    ),
    probe(
        "tf.gfile.Rename",
        f"{WRITE}tf.gfile.Rename(folder + '/a.txt', folder + '/b.txt')\ntf.gfile.ListDirectory(folder)",
        f"{WRITE}tf.io.gfile.rename(folder + '/a.txt', folder + '/b.txt')\ntf.io.gfile.listdir(folder)",
    ),
    probe(
        "tf.gfile.Stat",
        f"{WRITE}tf.gfile.Stat(folder + '/a.txt').length",
        f"{WRITE}tf.io.gfile.stat(folder + '/a.txt').length",
    ),
    probe(
        "tf.gfile.Walk",
        f"{WRITE}[(a[len(folder):], b, c) for a, b, c in tf.gfile.Walk(folder)]",
        f"{WRITE}[(a[len(folder):], b, c) for a, b, c in tf.io.gfile.walk(folder)]",
    ),
    *(
        probe(
            f"tf.gfile.{name}",
            f"{WRITE}tf.gfile.{name}(folder + '/a.txt').readlines()",
            f"{WRITE}tf.io.gfile.GFile(folder + '/a.txt').readlines()",
        )
        for name in ("GFile", "Open", "FastGFile")
    ),
    probe(
        "tf.read_file",
        f"{WRITE}tf.read_file(folder + '/a.txt')",
        f"{WRITE}tf.io.read_file(folder + '/a.txt')",
    ),
    probe(
        "tf.write_file",
        "with tf.control_dependencies([tf.write_file(folder + '/b', 'text')]):\n    read = tf.read_file(folder + '/b')\nread",
        "tf.io.write_file(folder + '/b', 'text')\ntf.io.read_file(folder + '/b')",
        eager="a file written by the lines that make ready",
    ),
    probe(
        "tf.matching_files",
        f"{WRITE}tf.strings.regex_replace(tf.matching_files(folder + '/*.txt'), folder, '')",
        f"{WRITE}tf.strings.regex_replace(tf.io.matching_files(folder + '/*.txt'), folder, '')",
    ),
    # --- Records.
    probe(
        "tf.python_io.TFRecordWriter",
        "with tf.python_io.TFRecordWriter(folder + '/r') as writer:\n    writer.write(b'one')\nopen(folder + '/r', 'rb').read()",
        "with tf.io.TFRecordWriter(folder + '/r') as writer:\n    writer.write(b'one')\nopen(folder + '/r', 'rb').read()",
    ),
    probe(
        "tf.python_io.tf_record_iterator",
        "with tf.python_io.TFRecordWriter(folder + '/r') as writer:\n    writer.write(b'one')\nlist(tf.python_io.tf_record_iterator(folder + '/r'))",
        "with tf.io.TFRecordWriter(folder + '/r') as writer:\n    writer.write(b'one')\n[r.numpy() for r in tf.data.TFRecordDataset(folder + '/r')]",
        eager=DATA,
    ),
    probe(
        "tf.python_io.TFRecordOptions",
        "with tf.python_io.TFRecordWriter(folder + '/r', tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)) as writer:\n    writer.write(b'one')\nimport gzip\ngzip.open(folder + '/r').read()",
        "with tf.io.TFRecordWriter(folder + '/r', tf.io.TFRecordOptions('GZIP')) as writer:\n    writer.write(b'one')\nimport gzip\ngzip.open(folder + '/r').read()",
    ),
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}({given}, {{'a': tf.FixedLenFeature([2], tf.float32), 'b': tf.FixedLenFeature([], tf.int64)}})",
            f"tf.io.{name}({given}, {{'a': tf.io.FixedLenFeature([2], tf.float32), 'b': tf.io.FixedLenFeature([], tf.int64)}})",
        )
        for name, given in (
            ("parse_single_example", EXAMPLE),
            ("parse_example", f"[{EXAMPLE}] * 2"),
        )
    ),
    probe(
        "tf.FixedLenFeature",
        f"tf.parse_single_example({EXAMPLE}, {{'c': tf.FixedLenFeature([2], tf.float32, [3, 4])}})",
        f"tf.io.parse_single_example({EXAMPLE}, {{'c': tf.io.FixedLenFeature([2], tf.float32, [3, 4])}})",
    ),
    probe(
        "tf.VarLenFeature",
        f"tf.parse_single_example({EXAMPLE}, {{'a': tf.VarLenFeature(tf.float32)}})",
        f"tf.io.parse_single_example({EXAMPLE}, {{'a': tf.io.VarLenFeature(tf.float32)}})",
    ),
    probe(
        "tf.FixedLenSequenceFeature",
        f"tf.parse_single_example({EXAMPLE}, {{'a': tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}})",
        f"tf.io.parse_single_example({EXAMPLE}, {{'a': tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}})",
    ),
    probe(
        "tf.SparseFeature",
        "tf.SparseFeature('i', 'v', tf.float32, 9).size",
        "tf.io.SparseFeature('i', 'v', tf.float32, 9).size",
    ),
    probe(
        "tf.parse_single_sequence_example",
        "tf.parse_single_sequence_example(tf.train.SequenceExample().SerializeToString(), sequence_features={'a': tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True)})[1]['a'].shape.ndims",
        "tf.io.parse_single_sequence_example(tf.train.SequenceExample().SerializeToString(), sequence_features={'a': tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)})[1]['a'].shape.ndims",
    ),
    probe(
        "tf.decode_csv",
        "tf.decode_csv(['1,a,', '2,b,3.5'], [[0], [''], [9.0]])",
        "tf.io.decode_csv(['1,a,', '2,b,3.5'], [[0], [''], [9.0]])",
    ),
    probe(
        "tf.decode_json_example",
        "tf.decode_json_example('{}')",
        "tf.io.decode_json_example('{}')",
    ),
    probe(
        "tf.decode_compressed",
        "tf.decode_compressed(['ab'])",
        "tf.io.decode_compressed(['ab'])",
    ),
    kept(
        "tf.make_tensor_proto", "tf.make_tensor_proto([[1.5, 2]]).SerializeToString()"
    ),
    kept("tf.make_ndarray", "tf.make_ndarray(tf.make_tensor_proto([[1.5, 2]]))"),
    # --- Datasets.
    dataset("Dataset.range(10)"),
    dataset("Dataset.from_tensors([1, 2])"),
    dataset("Dataset.from_tensor_slices(([1, 2], ['a', 'b']))"),
    dataset("Dataset.from_generator(lambda: iter([1, 2]), tf.int32, [])"),
    dataset("Dataset.range(10).shuffle(10, seed=7)"),
    dataset("Dataset.range(10).map(lambda v: v * 2).filter(lambda v: v > 5).repeat(2)"),
    dataset(
        "Dataset.range(10).flat_map(lambda v: tf.data.Dataset.from_tensors(v).repeat(2)).take(5)"
    ),
    dataset(
        "Dataset.range(10).interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(2), 3)"
    ),
    probe(
        "tf.data.TextLineDataset",
        f"{WRITE}tf.data.TextLineDataset(folder + '/a.txt').batch(9){ONE}",
        f"{WRITE}next(iter(tf.data.TextLineDataset(folder + '/a.txt').batch(9)))",
        eager=DATA,
    ),
    probe(
        "tf.data.FixedLengthRecordDataset",
        f"{WRITE}tf.data.FixedLengthRecordDataset(folder + '/a.txt', 2, 1, 0).batch(9){ONE}",
        f"{WRITE}next(iter(tf.data.FixedLengthRecordDataset(folder + '/a.txt', 2, 1, 0).batch(9)))",
        eager=DATA,
    ),
    probe(
        "tf.data.TFRecordDataset",
        f"with tf.python_io.TFRecordWriter(folder + '/r') as writer:\n    writer.write(b'one')\ntf.data.TFRecordDataset(folder + '/r').batch(9){ONE}",
        "with tf.io.TFRecordWriter(folder + '/r') as writer:\n    writer.write(b'one')\nnext(iter(tf.data.TFRecordDataset(folder + '/r').batch(9)))",
        eager=DATA,
    ),
    probe(
        "tf.data.experimental.CsvDataset",
        f"{WRITE}tf.data.experimental.CsvDataset(folder + '/a.txt', [tf.string]).batch(9){ONE}",
        f"{WRITE}next(iter(tf.data.experimental.CsvDataset(folder + '/a.txt', [tf.string]).batch(9)))",
        eager=DATA,
    ),
    probe(
        "tf.data.experimental.Counter",
        f"tf.data.experimental.Counter(3, 2).take(4).batch(9){ONE}",
        "next(iter(tf.data.experimental.Counter(3, 2).take(4).batch(9)))",
        eager=DATA,
    ),
    probe(
        "tf.data.experimental.make_batched_features_dataset",
        f"with tf.python_io.TFRecordWriter(folder + '/r') as writer:\n    writer.write({EXAMPLE})\ntf.data.experimental.make_batched_features_dataset(folder + '/r', 1, {{'a': tf.io.FixedLenFeature([2], tf.float32)}}, num_epochs=1, shuffle=False){ONE}",
        f"with tf.io.TFRecordWriter(folder + '/r') as writer:\n    writer.write({EXAMPLE})\nnext(iter(tf.data.experimental.make_batched_features_dataset(folder + '/r', 1, {{'a': tf.io.FixedLenFeature([2], tf.float32)}}, num_epochs=1, shuffle=False)))",
        eager=DATA,
    ),
    probe(
        "tf.data.experimental.choose_from_datasets",
        f"tf.data.experimental.choose_from_datasets([{NUMBERS}, {NUMBERS}.map(lambda v: -v)], tf.data.Dataset.from_tensor_slices(np.int64([0, 1, 1]))).batch(9){ONE}",
        f"next(iter(tf.data.Dataset.choose_from_datasets([{NUMBERS}, {NUMBERS}.map(lambda v: -v)], tf.data.Dataset.from_tensor_slices(np.int64([0, 1, 1])), stop_on_empty_dataset=False).batch(9)))",
        eager=DATA,
    ),
    *(
        probe(
            f"tf.data.experimental.{name}",
            f"{NUMBERS}.apply(tf.data.experimental.{old}).batch(20){ONE}",
            f"next(iter({NUMBERS}{new}.batch(20)))",
            eager=DATA,
        )
        for name, old, new in (
            (
                "map_and_batch",
                "map_and_batch(lambda v: v * 2, 3, drop_remainder=True)",
                ".map(lambda v: v * 2).batch(3, drop_remainder=True)",
            ),
            (
                "parallel_interleave",
                "parallel_interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(2), 3)",
                ".interleave(lambda v: tf.data.Dataset.from_tensors(v).repeat(2), 3)",
            ),
            ("shuffle_and_repeat", "shuffle_and_repeat(1, 2)", ".shuffle(1).repeat(2)"),
            ("enumerate_dataset", "enumerate_dataset(5)", ".enumerate(5)"),
            ("unique", "unique()", ".unique()"),
            (
                "take_while",
                "take_while(lambda v: v < 5)",
                ".take_while(lambda v: v < 5)",
            ),
            (
                "scan",
                "scan(np.int64(0), lambda s, v: (s + v, s))",
                ".scan(np.int64(0), lambda s, v: (s + v, s))",
            ),
        )
    ),
    # --- Assertions that hold.
    *(
        row
        for name, args, given in (
            ("assert_equal", "x, x", X),
            ("assert_none_equal", "x, x + 1", X),
            ("assert_less", "x, x + 1", X),
            ("assert_less_equal", "x, x", X),
            ("assert_greater", "x + 1, x", X),
            ("assert_greater_equal", "x, x", X),
            ("assert_positive", "x", "x = uniform(4, 5, low=0.1)"),
            ("assert_negative", "x - 1", "x = uniform(4, 5)"),
            ("assert_non_negative", "x", "x = uniform(4, 5)"),
            ("assert_non_positive", "x - 1", "x = uniform(4, 5)"),
            ("assert_near", "x, x", X),
            ("assert_rank", "x, 2", X),
            ("assert_rank_at_least", "x, 2", X),
            ("assert_rank_in", "x, [1, 2]", X),
            ("assert_integer", "x", "x = integers(4)"),
        )
        for row in check(name, args, given)
    ),
    probe(
        "tf.assert_scalar",
        "tf.assert_scalar(x)",
        "tf.debugging.assert_scalar(x)\nx + 0",
        "x = normal()",
    ),
    probe(
        "tf.assert_type",
        "tf.assert_type(x, x.dtype).type",
        "tf.debugging.assert_type(x, x.dtype) or 'NoOp'",
        X,
    ),
    probe(
        "tf.assert_same_float_dtype",
        "tf.assert_same_float_dtype([x]).name",
        "tf.debugging.assert_same_float_dtype([x]).name",
        X,
    ),
    kept(
        "tf.debugging.assert_same_float_dtype",
        "tf.debugging.assert_same_float_dtype([x]).name",
        X,
    ),
    probe(
        "tf.is_numeric_tensor",
        "tf.is_numeric_tensor(x)",
        "tf.debugging.is_numeric_tensor(x)",
        X,
    ),
    kept("tf.ensure_shape", "tf.ensure_shape(x, [None, 5])", X),
    kept("tf.is_tensor", "[tf.is_tensor(x), tf.is_tensor(3)]", X),
    # --- State.
    probe(
        "tf.get_variable",
        "tf.get_variable('v', [2, 3], initializer=distinct('v'))",
        "v = tf.Variable(distinct('v')([2, 3], tf.float32))\nv.read_value()",
    ),
    *(
        probe(
            f"tf.{name}",
            f"v = tf.Variable(tf.ones([4, 2]))\ntf.{name}(v, {args})",
            f"v = tf.Variable(tf.ones([4, 2]))\nv.{new}({now or args})\nv.read_value()",
            eager="a variable in the lines that make ready",
        )
        for name, args, new, now in (
            ("assign", "tf.zeros([4, 2])", "assign", ""),
            ("assign_add", "tf.fill([4, 2], 2.5)", "assign_add", ""),
            ("assign_sub", "tf.fill([4, 2], 2.5)", "assign_sub", ""),
            *(
                (
                    f"scatter_{how}",
                    "[0, 2], [[5.0, 6], [7, 8]]",
                    f"scatter_{how}",
                    "tf.IndexedSlices(tf.constant([[5.0, 6], [7, 8]]), [0, 2])",
                )
                for how in ("update", "add", "sub", "mul", "div", "max", "min")
            ),
            (
                "scatter_nd_update",
                "[[0], [2]], [[5.0, 6], [7, 8]]",
                "scatter_nd_update",
                "",
            ),
            ("scatter_nd_add", "[[0], [2]], [[5.0, 6], [7, 8]]", "scatter_nd_add", ""),
            ("scatter_nd_sub", "[[0], [2]], [[5.0, 6], [7, 8]]", "scatter_nd_sub", ""),
        )
    ),
    probe(
        "tf.count_up_to",
        "v = tf.Variable(3)\ntf.count_up_to(v, 9)",
        "v = tf.Variable(3)\nbefore = v.read_value()\nv.assign_add(1)\nbefore",
        eager="a variable in the lines that make ready",
    ),
    probe(
        "tf.global_variables",
        "v = tf.Variable([1.5])\ntf.global_variables()",
        "module = tf.Module()\nmodule.v = tf.Variable([1.5])\nlist(module.variables)",
    ),
    *(
        probe(
            f"tf.{name}",
            f"v = tf.Variable([1.5]{collection})\ntf.{name}()",
            f"module = tf.Module()\nmodule.v = tf.Variable([1.5])\nlist(module.{new})",
        )
        for name, collection, new in (
            ("all_variables", "", "variables"),
            ("trainable_variables", "", "trainable_variables"),
            (
                "model_variables",
                ", collections=[tf.GraphKeys.MODEL_VARIABLES, 'variables']",
                "variables",
            ),
            (
                "local_variables",
                ", collections=[tf.GraphKeys.LOCAL_VARIABLES]",
                "variables",
            ),
        )
    ),
    probe(
        "tf.train.create_global_step",
        "tf.train.create_global_step()",
        "step = tf.Variable(0, dtype=tf.int64)\nstep.read_value()",
    ),
    probe(
        "tf.train.get_or_create_global_step",
        "tf.train.get_or_create_global_step()",
        "step = tf.Variable(0, dtype=tf.int64)\nstep.read_value()",
    ),
    kept(
        "tf.executing_eagerly",
        "tf.executing_eagerly()",
        why="True now, save in a tf.function",
        eager="False in a tf.function",
    ),
]
