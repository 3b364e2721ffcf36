"""Flags, old names, spectra, variables of contrib, saved values."""

from tf1to2.probes import kept, probe

X = "x = normal(4, 5)"
WAVE = "x = normal(2, 16)"
C = "tf.contrib"
VALUES = "from absl import flags\nvalues = flags.FlagValues()\n"
READ = "values(['program', '--n=5'])\nvalues.n"
SLIM = "tf.contrib.slim.variable('v', [2], initializer=distinct('v'))\n"
MODULE = (
    "module = tf.Module()\nmodule.v = tf.Variable(distinct('v')([2], tf.float32))\n"
)
CHECKPOINT = "v = tf.Variable([1.5, 2], name='v')\nsess = tf.Session()\nsess.run(tf.global_variables_initializer())\npath = tf.train.Saver([v]).save(sess, folder + '/model')\n"
SAVED = "v = tf.Variable([1.5, 2], name='v')\npath = tf.train.Checkpoint(v=v).write(folder + '/model')\n"
POOL = "[1, 2, 2, 1], [1, 2, 2, 1], 'SAME'"
QUANTIZED_POOL = "ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'"

PROBES = [
    *(
        probe(
            f"tf.flags.DEFINE_{kind}",
            f"{VALUES}tf.flags.DEFINE_{kind}('n', {default}, 'help', flag_values=values)\n{READ}",
            f"{VALUES}flags.DEFINE_{kind}('n', {default}, 'help', flag_values=values)\n{READ}",
        )
        for kind, default in (("integer", "3"), ("float", "3.5"), ("string", "'a'"))
    ),
    *(
        probe(
            f"tf.flags.DEFINE_{kind}",
            f"{VALUES}tf.flags.DEFINE_{kind}('n', False, 'help', flag_values=values)\nvalues(['program', '--n'])\nvalues.n",
            f"{VALUES}flags.DEFINE_{kind}('n', False, 'help', flag_values=values)\nvalues(['program', '--n'])\nvalues.n",
        )
        for kind in ("bool", "boolean")
    ),
    *(
        probe(
            f"tf.flags.DEFINE_{kind}",
            f"{VALUES}tf.flags.DEFINE_{kind}('n', None, {args}'help', flag_values=values)\n{READ}",
            f"{VALUES}flags.DEFINE_{kind}('n', None, {args}'help', flag_values=values)\n{READ}",
        )
        for kind, args in (
            ("list", ""),
            ("enum", "['4', '5'], "),
            ("multi_integer", ""),
            ("multi_string", ""),
        )
    ),
    probe(
        "tf.flags.mark_flag_as_required",
        f"{VALUES}tf.flags.DEFINE_integer('n', None, 'help', flag_values=values)\ntf.flags.mark_flag_as_required('n', values)\n{READ}",
        f"{VALUES}flags.DEFINE_integer('n', None, 'help', flag_values=values)\nflags.mark_flag_as_required('n', values)\n{READ}",
    ),
    # --- Spectra.
    *(
        row
        for name, args, within in (
            ("rfft", "x", 7.0e-8),
            ("rfft2d", "x", 1.1e-7),
            ("rfft3d", "x[None]", 1.8e-7),
            ("irfft", "tf.complex(x, x)", 6.2e-7),
            ("irfft2d", "tf.complex(x, x)", 6.1e-7),
            ("irfft3d", "tf.complex(x, x)[None]", 8.5e-7),
            ("dct", "x", 4.0e-7),
            ("idct", "x", 3.8e-7),
        )
        for row in (
            probe(
                f"tf.spectral.{name}",
                f"tf.spectral.{name}({args})",
                f"tf.signal.{name}({args})",
                WAVE,
                exact=True,
                why="a Fourier transform of float32 by another library; it had no kernel for float64",
                within=within,
            ),
        )
    ),
    # --- Quantization.
    probe(
        "tf.dequantize",
        "tf.dequantize(tf.bitcast(x, tf.quint8), -1.0, 3.0)",
        "tf.quantization.dequantize(tf.bitcast(x, tf.quint8), -1.0, 3.0)",
        "x = np.uint8([1, 90, 200])",
        exact=True,
    ),
    probe(
        "tf.quantize_v2",
        "tf.bitcast(tf.quantize_v2(x, -3.0, 3.0, tf.quint8)[0], tf.uint8)",
        "tf.bitcast(tf.quantization.quantize(x, -3.0, 3.0, tf.quint8)[0], tf.uint8)",
        X,
        exact=True,
    ),
    probe(
        "tf.quantized_concat",
        "tf.bitcast(tf.quantized_concat(0, [tf.bitcast(x, tf.quint8)] * 2, [0.0, 0.0], [1.0, 1.0])[0], tf.uint8)",
        "tf.bitcast(tf.quantization.quantized_concat(0, [tf.bitcast(x, tf.quint8)] * 2, [0.0, 0.0], [1.0, 1.0])[0], tf.uint8)",
        "x = np.uint8([1, 90, 200])",
    ),
    *(
        probe(
            f"tf.nn.quantized_{name}_pool",
            f"tf.bitcast(tf.nn.quantized_{name}_pool(tf.bitcast(x, tf.quint8), -1.0, 3.0, {POOL})[0], tf.uint8)",
            f"tf.bitcast(tf.raw_ops.Quantized{name.title()}Pool(input=tf.bitcast(x, tf.quint8), min_input=-1.0, max_input=3.0, {QUANTIZED_POOL})[0], tf.uint8)",
            "x = np.arange(72, dtype=np.uint8).reshape(1, 6, 4, 3) * 3",
        )
        for name in ("max", "avg")  # with oneDNN a mean is rounded, and not cut off
    ),
    probe(
        "tf.nn.quantized_conv2d",
        "tf.bitcast(tf.nn.quantized_conv2d(tf.bitcast(x, tf.quint8), tf.bitcast(w, tf.quint8), -1.0, 3.0, -2.0, 2.0, [1, 1, 1, 1], 'SAME')[0], tf.int32)",
        "tf.bitcast(tf.raw_ops.QuantizedConv2D(input=tf.bitcast(x, tf.quint8), filter=tf.bitcast(w, tf.quint8), min_input=-1.0, max_input=3.0, min_filter=-2.0, max_filter=2.0, strides=[1, 1, 1, 1], padding='SAME')[0], tf.int32)",
        "x = np.arange(72, dtype=np.uint8).reshape(1, 6, 4, 3) * 3; w = np.arange(24, dtype=np.uint8).reshape(2, 2, 3, 2) * 9",
    ),
    # --- Variables of contrib, by lists of a module.
    *(
        probe(
            f"{C}.slim.{name}",
            f"{SLIM}{C}.slim.{name}({args})",
            f"{MODULE}list(module.{new})",
        )
        for name, args, new in (
            ("get_variables", "", "variables"),
            ("get_trainable_variables", "", "trainable_variables"),
            ("get_variables_by_name", "'v'", "variables"),
            ("get_variables_to_restore", "", "variables"),
        )
    ),
    probe(
        f"{C}.slim.get_model_variables",
        f"{SLIM.replace('slim.variable', 'slim.model_variable')}{C}.slim.get_model_variables()",
        f"{MODULE}list(module.variables)",
    ),
    probe(
        f"{C}.slim.variable",
        f"{SLIM}tf.global_variables()",
        f"{MODULE}list(module.variables)",
    ),
    probe(
        f"{C}.slim.model_variable",
        f"{C}.slim.model_variable('v', [2], initializer=distinct('v'))",
        "v = tf.Variable(distinct('v')([2], tf.float32))\nv.read_value()",
    ),
    # --- Checkpoints, by name.
    probe(
        f"{C}.framework.list_variables",
        f"{CHECKPOINT}{C}.framework.list_variables(path)[0][1]",
        f"{SAVED}dict(tf.train.list_variables(path))['v/.ATTRIBUTES/VARIABLE_VALUE']",
    ),
    probe(
        f"{C}.framework.load_variable",
        f"{CHECKPOINT}{C}.framework.load_variable(path, 'v')",
        f"{SAVED}tf.train.load_variable(path, 'v/.ATTRIBUTES/VARIABLE_VALUE')",
    ),
    probe(
        f"{C}.framework.load_checkpoint",
        f"{CHECKPOINT}{C}.framework.load_checkpoint(path).get_tensor('v')",
        f"{SAVED}tf.train.load_checkpoint(path).get_tensor('v/.ATTRIBUTES/VARIABLE_VALUE')",
    ),
    probe(
        "tf.train.checkpoint_exists",
        f"{CHECKPOINT}[tf.train.checkpoint_exists(p) for p in (path, folder + '/no')]",
        f"{SAVED}[bool(tf.io.gfile.glob(p + '.index')) for p in (path, folder + '/no')]",
    ),
    kept("tf.train.latest_checkpoint", "tf.train.latest_checkpoint(folder)"),
    # --- The rest.
    probe(
        "tf.convert_to_tensor_or_sparse_tensor",
        "tf.convert_to_tensor_or_sparse_tensor([1, 2])",
        "tf.convert_to_tensor([1, 2])",
    ),
    probe(
        "tf.convert_to_tensor_or_indexed_slices",
        "tf.convert_to_tensor_or_indexed_slices([1, 2])",
        "tf.convert_to_tensor([1, 2])",
    ),
    probe(
        "tf.ragged.constant_value",
        "tf.ragged.constant_value([[1, 2], [3]]).to_list()",
        "tf.ragged.constant([[1, 2], [3]]).to_list()",
        eager="a list, read from a value",
    ),
    probe(
        "tf.train.global_step",
        "step = tf.Variable(7, dtype=tf.int64)\nsess = tf.Session()\nsess.run(step.initializer)\ntf.train.global_step(sess, step)",
        "step = tf.Variable(7, dtype=tf.int64)\nint(step)",
        eager="a number, read from a variable",
    ),
    probe(
        "tf.train.match_filenames_once",
        "open(folder + '/a.txt', 'w').write('')\ntf.shape(tf.train.match_filenames_once(folder + '/*.txt'))",
        "open(folder + '/a.txt', 'w').write('')\ntf.shape(tf.io.match_filenames_once(folder + '/*.txt'))",
        eager="it makes a variable",
    ),
    probe(
        "tf.assert_proper_iterable",
        "tf.assert_proper_iterable([1, 2])",
        "tf.debugging.assert_proper_iterable([1, 2])",
    ),
    kept(
        "tf.debugging.assert_proper_iterable",
        "tf.debugging.assert_proper_iterable([1, 2])",
    ),
    kept(
        "tf.image.ssim_multiscale",
        "tf.image.ssim_multiscale(x, x * 0.9, 1.0)",
        "x = uniform(1, 180, 180, 1)",
        exact=True,
        why="sums of float32 in another order",
        within=4.5e-6,
    ),
    kept(
        "tf.image.ResizeMethod",
        "tf.image.ResizeMethod.AREA",
        why="the methods were numbers and are names: 3, 'area'",
    ),
    kept(
        "tf.losses.Reduction",
        "tf.losses.Reduction.SUM",
        why="'weighted_sum' was a name of its own, and is 'sum'",
    ),
    probe(
        "tf.lookup.StaticVocabularyTable",
        "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64)), 2).lookup(x)",
        "table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64)), 2)\ntable.lookup(x)",
        "x = np.array([b'b', b'z', b'y', b'x'])",
    ),
    probe(
        f"{C}.layers.optimize_loss",
        f"v = tf.Variable([1.5, 2])\nstep = {C}.framework.create_global_step()\ntrain = {C}.layers.optimize_loss(tf.reduce_sum(v * v), step, 0.1, 'SGD')\nwith tf.control_dependencies([train]):\n    after = v.read_value()\nafter",
        "v = tf.Variable([1.5, 2])\nwith tf.GradientTape() as tape:\n    loss = tf.reduce_sum(v * v)\nv.assign_sub(0.1 * tape.gradient(loss, v))\nv.read_value()",
        exact=True,
    ),
    probe(
        f"{C}.layers.safe_embedding_lookup_sparse",
        f"{C}.layers.safe_embedding_lookup_sparse([x], tf.SparseTensor([[0, 0], [2, 0]], tf.constant([1, 3], tf.int64), [3, 1]))",
        "tf.nn.safe_embedding_lookup_sparse([x], tf.SparseTensor([[0, 0], [2, 0]], tf.constant([1, 3], tf.int64), [3, 1]))",
        X,
    ),
    probe(
        f"{C}.framework.TensorSpec",
        f"{C}.framework.TensorSpec([2, None], tf.float32).shape.as_list()",
        "tf.TensorSpec([2, None], tf.float32).shape.as_list()",
    ),
    probe(
        "tf.data.experimental.sample_from_datasets",
        "tf.data.experimental.sample_from_datasets([tf.data.Dataset.range(9), tf.data.Dataset.range(9).map(lambda v: -v)], [1.0, 0.0], 7).batch(5).make_one_shot_iterator().get_next()",
        "next(iter(tf.data.Dataset.sample_from_datasets([tf.data.Dataset.range(9), tf.data.Dataset.range(9).map(lambda v: -v)], [1.0, 0.0], 7).batch(5)))",
        eager="iterators are Python's",
    ),
    probe(
        "tf.data.experimental.RandomDataset",
        "tf.data.experimental.RandomDataset(7).take(3).batch(3).make_one_shot_iterator().get_next()",
        "next(iter(tf.data.Dataset.random(7).take(3).batch(3)))",
        eager="iterators are Python's",
    ),
    kept(
        "tf.data.experimental.get_structure",
        "tf.data.experimental.get_structure(tf.data.Dataset.range(3)).dtype.name",
    ),
    probe(
        "tf.saved_model.contains_saved_model",
        "tf.saved_model.contains_saved_model(folder)",
        "tf.saved_model.contains_saved_model(folder)",
    ),
    probe(
        "tf.data.experimental.make_csv_dataset",
        "open(folder + '/a.csv', 'w').write('a,b\\n1,2.5\\n3,4.5\\n')\ntf.data.experimental.make_csv_dataset(folder + '/a.csv', 2, num_epochs=1, shuffle=False).make_one_shot_iterator().get_next()",
        "open(folder + '/a.csv', 'w').write('a,b\\n1,2.5\\n3,4.5\\n')\nnext(iter(tf.data.experimental.make_csv_dataset(folder + '/a.csv', 2, num_epochs=1, shuffle=False)))",
        eager="iterators are Python's",
    ),
    # --- Gone without a successor: nothing takes their place in the code.
    *(
        probe(
            f"tf.{name}",
            f"v = tf.Variable([1.5, 2]{where})\nsess = tf.Session()\nsess.run(tf.{name}({args}))\nsess.run(v)",
            "v = tf.Variable([1.5, 2])\nv.read_value()",
        )
        for name, where, args in (
            ("initialize_all_variables", "", ""),
            ("global_variables_initializer", "", ""),
            ("initialize_variables", "", "[v]"),
            ("variables_initializer", "", "[v]"),
            (
                "initialize_local_variables",
                ", collections=[tf.GraphKeys.LOCAL_VARIABLES]",
                "",
            ),
            (
                "local_variables_initializer",
                ", collections=[tf.GraphKeys.LOCAL_VARIABLES]",
                "",
            ),
        )
    ),
    probe(
        "tf.is_variable_initialized",
        "v = tf.Variable([1.5, 2])\nsess = tf.Session()\nsess.run(v.initializer)\nsess.run(tf.is_variable_initialized(v))",
        "v = tf.Variable([1.5, 2])\nv.is_initialized()",
    ),
]
