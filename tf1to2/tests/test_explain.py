"""`tf1to2 explain`: names, members, errors; what it claims, and what it refuses."""

import json
import re
import unittest
from unittest import mock

import pytest
from parameterized import parameterized

from tf1to2 import probes
from tf1to2.catalog import entries, facts, links
from tf1to2.explain import errors_page, messages, render, resolve
from tf1to2.pages import topics
from tf1to2.tests.commands import command
from upkeep import calls


def run_it(text, *options, columns="80", stdin=""):
    """`command` on a terminal of so many columns."""
    with mock.patch.dict("os.environ", COLUMNS=columns):
        return command("explain", *options, text, stdin=stdin)


def whole(text, width=72):
    """All that is told of a text, but for the code of its pair."""
    with mock.patch.object(render, "_page", return_value=[]):
        return render.render(resolve.resolve(text), width, full=True)


def head(text, **options):
    """What stands before the two sides, its lines joined."""
    status, out, err = run_it(text, "--full", **options)
    assert status == 0, err
    return " ".join(out.partition("\nv1_graph/")[0].split())


class NameTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("an argument", "tf.argmax", "write axis= in place of dimension="),
            (
                "two arguments",
                "tf.reduce_sum",
                "write keepdims= in place of keep_dims=",
            ),
            ("a default", "tf.keras.layers.LSTM", "was hard_sigmoid, is sigmoid"),
            (
                "a network that is not here",
                "tf.contrib.slim.nets.resnet_v1.resnet_v1_50",
                "tf.keras.applications.ResNet50 is another network",
            ),
            ("by its module", "resnet_v1.resnet_v1_50", "from tf_slim.nets import"),
            ("by itself", "resnet_v1_101", "guide has ResNet v2 alone"),
            ("one that is here", "nets.resnet_v2.resnet_v2_50", "take slim_networks"),
            ("without a norm", "slim.nets.vgg.vgg_16", "pip install tf-slim"),
            ("not of Keras", "alexnet_v2", "in neither the guide nor Keras"),
            ("of models", "nets.mobilenet_v1.mobilenet_v1", "of tensorflow/models"),
            ("a place", "tf.random_poisson", "argument 1 was lam and is shape"),
            ("another name", "tf.log", "other names: tf.math.log"),
            ("a member", "tf.Session.run", "tf.Session.run: rewrite"),
            ("a member without tf", "Session.run", "tf.Session.run: rewrite"),
            ("of Keras", "Model.fit_generator", "no fit_generator any more"),
            ("of tests", "TestCase.test_session", "tf.test.TestCase.test_session: "),
            ("of anything", ".minimize", "tf.train.Optimizer.minimize: rewrite"),
            ("of a saver", ".restore", "tf.train.Saver.restore: rewrite"),
            ("of a tensor", ".eval", ".eval: rewrite"),
            ("a key", "tf.GraphKeys.UPDATE_OPS", "layers.make_batch_norm: identical"),
            ("a flag", "tf.flags.FLAGS.steps", "absl.flags"),
            ("deep", "tf.contrib.framework.python.ops.arg_scope", "functools"),
            (
                "deep, by the path that programs import",
                "tf.contrib.layers.python.layers.utils.collect_named_outputs",
                "slim_networks.collect_named_outputs: identical",
            ),
            (
                "in slim",
                "tf.contrib.slim.utils.collect_named_outputs",
                "see slim_networks.collect_named_outputs",
            ),
            ("before 1.0", "tf.mul", "tf.multiply"),
            ("a module", "tf.metrics", "averages Streams the mean"),
            ("that the package keras lacks", "keras.backend.mean", "write: tf.keras."),
            ("an old path of Keras", "keras.objectives.mae", "tf.keras.losses.mae"),
            (
                "an old path of a name that is gone",
                "keras.utils.generic_utils.slice_arrays",
                "tf.keras.utils does not have the name",
            ),
            (
                "what was experimental",
                "tf.keras.layers.experimental.preprocessing.Resizing",
                "write: tf.keras.layers.Resizing",
            ),
            (
                "a legacy optimizer",
                "tensorflow.keras.optimizers.legacy.SGD",
                "write: tf.keras.optimizers.SGD",
            ),
            ("that Keras has", "keras.layers.Dense", "tf.keras.layers.Dense: same"),
            ("in a question", "is keras.backend.max gone?", "write: tf.keras.backend."),
            (
                "two in a question",
                "keras.objectives.mae and keras.backend.std in Keras 3",
                "keras.backend.std becomes tf.keras.backend.std",
            ),
            (
                "of tensorflow_hub",
                "tensorflow_hub.create_module_spec",
                "write: tf.saved_model.save(",
            ),
            (
                "of hub",
                "hub.image_embedding_column",
                "write: tf.keras.layers.TFSMLayer",
            ),
        ]
    )
    def test_it_tells(self, _, text, told):
        self.assertIn(told, head(text))

    def test_a_topic_s_pairs_are_told_in_a_line_each(self):
        out = run_it("tf.contrib.metrics")[1]
        topic = topics.topics()["metrics"]
        for name in topic.pairs:
            (line,) = [x for x in out.split("\n") if x.startswith(f"  {name} ")]
            said = line.split(None, 1)[1].removesuffix(" …")
            self.assertTrue(topic.summaries[name].startswith(said), line)

    def test_a_topic_by_its_name(self):
        status, out, err = run_it("contrib_opt")
        self.assertEqual((status, err), (0, ""))
        topic = topics.topics()["contrib_opt"]
        self.assertIn(f"see contrib_opt: {topic.lesson}", " ".join(out.split()))
        self.assertIn(f"\n  {topic.pairs[0]} ", out)

    @parameterized.expand(
        [("a terminal", "80"), ("a narrow one", "72"), ("a pipe", "179")]
    )
    def test_it_fits(self, _, columns):
        for text in ("tf.contrib.slim.conv2d", ".minimize", "tf.metrics", "tf.argmax"):
            widest = max(map(len, run_it(text, columns=columns)[1].split("\n")))
            self.assertLessEqual(widest, int(columns), text)


SAMPLE = [symbol for number, symbol in enumerate(entries.symbols()) if not number % 90]


class ScreenTest(unittest.TestCase):
    """What is shown unless all is asked for."""

    @parameterized.expand(
        [
            *((name, name) for name in SAMPLE),
            ("a long pair", "tf.train.AdamOptimizer"),
            ("of numerics", "rnn.LSTMCell"),
            ("many names", "keep_dims=True"),
            ("many methods", ".minimize"),
            ("a question", "how do I restore a checkpoint of slim by name"),
            ("a message", "module 'tensorflow' has no attribute 'Session'"),
        ]
    )
    def test_it_is_one_screen(self, _, text):
        lines = run_it(text, columns="179")[1].rstrip().split("\n")
        self.assertLessEqual(len(lines), render.LINES)
        if len(lines) == render.LINES and "more lines" in lines[-1]:
            self.assertIn("tf1to2 ", lines[-1])

    @parameterized.expand([(name,) for name in SAMPLE])
    def test_what_to_write_is_among_the_first_lines(self, name):
        entry = entries.lookup(name)
        head = " ".join(run_it(name, columns="179")[1].split("\n")[1:3])
        if entry.form:
            self.assertIn(f"write: {entry.form[:40]}", head)
        elif entry.becomes:
            self.assertIn(entry.becomes[:40], head)

    def test_what_raises_comes_first_then_numbers_then_places(self):
        changes = entries.lookup("tf.keras.layers.LSTM").changes
        ranks = [change.rank for change in changes]
        self.assertEqual(ranks, sorted(ranks))
        self.assertGreater(len(set(ranks)), 2)

    def test_names_of_keras_1_are_one_line(self):
        told = whole("tf.keras.layers.Dense", 179)
        (line,) = [x for x in told.split("\n") if "From Keras 1: " in x]
        self.assertIn("output_dim= → units=", line)
        self.assertNotIn("in place of output_dim=", told)

    def test_all_defaults_that_keep_the_numbers_are_written(self):
        form = entries.lookup("tf.keras.layers.GRU").form
        self.assertIn("recurrent_activation=lambda", form)
        self.assertIn("reset_after=False", form)

    def test_what_can_be_taken_is_used_in_three_lines(self):
        lines = run_it("tf.nn.rnn_cell.LSTMCell", columns="179")[1].split("\n")
        at = next(n for n, line in enumerate(lines) if "tf1to2 take" in line)
        self.assertIn("from legacy_numerics import LSTMCell", lines[at + 1])
        self.assertIn("cell = LSTMCell(num_units, ", lines[at + 2])
        self.assertEqual(lines[at + 3].strip(), "cell(x, state)")

    def test_the_docstring_that_both_sides_share_is_not_shown(self):
        told = run_it("tf.where", columns="179")[1]
        self.assertIn("def choose_rows(condition, a, b):", told)
        self.assertNotIn("Chooses each row", told.partition("v1_graph/")[2])
        self.assertIn("more lines: tf1to2 diff tensors.choose_rows", told)

    def test_json(self):
        told = json.loads(run_it("tf.keras.layers.GRU", "--format", "json")[1])
        (name,) = told["names"]
        self.assertEqual(told["by"], "name")
        self.assertEqual(name["defaults"]["reset_after"], ["False", "True"])
        self.assertEqual(name["from_keras_1"]["inner_init"], "recurrent_initializer")
        self.assertEqual(told["pair"], "keras_layers.make_gru")

    def test_a_call_is_told_what_it_feels_alone(self):
        told = whole("tf.reduce_sum(x,keep_dims=True)")
        self.assertIn("write keepdims= in place of keep_dims=", told)
        self.assertNotIn("reduction_indices", told)
        self.assertIn("tf.reduce_sum: same", whole("tf.reduce_sum(x,1)"))
        told = whole("Convolution2D(32,3,3)")
        self.assertIn("write: Conv2D(filters, (rows, columns))", told)
        told = whole("Conv2D(8,3,border_mode='same')")
        self.assertIn("From Keras 1: border_mode= → padding=", told)
        self.assertNotIn("subsample=", told)

    def test_the_guide_has_the_resolvers_in_their_order(self):
        guide = topics.document("guide/explain.md").read_text("utf-8")
        rows = re.findall(r"(?m)^\| `(\w+)` \| ", guide.partition("| `by` |")[2])
        self.assertEqual(rows, [one.__name__ for one in resolve.RESOLVERS])

    @parameterized.expand(
        [
            ("a name", "tf.log", "name"),
            ("an argument", "keep_dims=True", "argument"),
            ("of the package keras", "keras.backend.sum", "of_keras"),
            (
                "of it, in a question",
                "why does keras.backend.max raise",
                "of_keras_in_words",
            ),
            ("of numerics", "optimizers.Adam", "of_numerics"),
            ("a method", ".minimize", "member"),
            ("an exception", "UnparsedFlagAccessError", "exception"),
            ("without its module", "replica_device_setter", "meant"),
            ("a word", "AdamWeightDecayOptimizer", "word"),
            ("a topic", "contrib_opt", "topic"),
            ("in these words", "The Session graph is empty. Add", "section"),
            ("missing", "module 'tensorflow' has no attribute 'py_func'", "missing"),
            ("like it", "dtype double does not equal original dtype float", "like"),
            ("a question", "load a frozen graph", "words"),
        ]
    )
    def test_the_first_resolver_that_finds_something_answers(self, _, text, by):
        self.assertEqual(resolve.resolve(text).by, by)
        self.assertIn(by, [resolver.__name__ for resolver in resolve.RESOLVERS])


class TypeTest(unittest.TestCase):
    """Who pastes more gets no less."""

    @parameterized.expand(
        [
            (wording, wording.replace("…", "thing"))
            for section in errors_page.sections()[::4]
            for wording in section.raised[:1]
        ]
    )
    def test_a_message_with_its_type_finds_what_it_finds_without(self, _, message):
        alone = messages.advice(message) or messages.likely(message)
        for kind in ("ValueError", "tensorflow.python.framework.errors_impl.OpError"):
            text = f"{kind}: {message}"
            found = messages.advice(text) or messages.likely(text)
            self.assertEqual(found, alone)


class ClaimTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a neighbour", "tf.contrib.layers.relu"),
            ("a name of its own", "tf.contrib.layers.safe_embedding_lookup_sparse"),
            ("a function beside a class", "tf.layers.conv2d"),
        ]
    )
    def test_what_a_pair_does_not_call_it_does_not_prove(self, _, name):
        told = head(name)
        self.assertIn(f"see {entries.lookup(name).pair}: ", told)
        self.assertNotIn(f"{entries.lookup(name).pair}: identical", told)

    @pytest.mark.slow
    def test_identical_is_said_of_what_the_left_page_calls(self):
        called = calls.calls(calls.words())
        for symbol in entries.symbols():
            told = " ".join(whole(symbol).split())
            claim = r"(\w+\.\w+): (?:[a-z, ]+ )?(?:identical|within \d+ ULP) on 1"
            claims = re.findall(claim, told)
            where = told.partition("that call it: ")[2].partition(" tf1to2 ")[0]
            claims += re.findall(r"(\w+\.\w+)", where)
            for pair in claims:
                names = "|".join(map(re.escape, facts.aliases(symbol)))
                spelled = re.compile(rf"({names})(\.\w+)*")
                self.assertTrue(
                    any(spelled.fullmatch(name) for name in called[pair]),
                    f"{symbol}: {pair}",
                )

    @parameterized.expand(
        [
            (
                "another name",
                "tf.sparse_reduce_max",
                "proven by a probe: identical on 1.15.5 was: tf.sparse_reduce_max(",
            ),
            ("its new name", "tf.sparse_reduce_max", "now: tf.sparse.reduce_max("),
            ("a name that stayed", "tf.sets.size", "unchanged: tf.sets.size("),
            ("other numbers", "tf.spectral.rfft", "of 1.15.5: a Fourier"),
            (
                "a key of a class",
                "tf.python_io.TFRecordCompressionType.GZIP",
                "now: with tf.io.TFRecordWriter(",
            ),
        ]
    )
    def test_a_probe_is_shown(self, _, name, told):
        self.assertIn(told, head(name))

    def test_a_probe_is_shown_wherever_no_page_calls_a_name(self):
        fits = {name: rows for name, rows in probes.probed().items() if len(name) < 60}
        for symbol, rows in sorted(fits.items()):
            told = whole(symbol)
            shown = "proven by a probe" in told
            self.assertNotEqual(shown, bool(links.proofs(symbol)), symbol)
            self.assertLessEqual(max(map(len, told.split("\n"))), 72, symbol)
            if shown and all(row.why for row in rows):
                self.assertNotIn("identical", told)


class AliasTest(unittest.TestCase):
    """Modules as programs import them, and exceptions without their messages."""

    @parameterized.expand(
        [
            ("slim.conv2d", "tf.contrib.slim.conv2d"),
            ("slim.arg_scope", "tf.contrib.slim.arg_scope"),
            ("contrib_layers.l2_regularizer", "tf.contrib.layers.l2_regularizer"),
            ("rnn_cell.GRUCell", "tf.nn.rnn_cell.GRUCell"),
            ("tfe.Variable", "tf.contrib.eager.Variable"),
            ("layers.conv2d", "tf.layers.conv2d"),
            ("flags.DEFINE_string", "tf.flags.DEFINE_string"),
            ("rnn.BasicLSTMCell", "rnn.BasicLSTMCell"),  # of numerics
        ]
    )
    def test_a_module(self, text, name):
        self.assertTrue(head(text).startswith(f"{name}: "))

    @parameterized.expand(
        [
            ("learn.monitors.ValidationMonitor", "training_loops.early_stopping"),
            ("keras.layers.Dense", "tf.keras.layers.Dense"),
            ("framework.nest.map_structure_up_to", "tree.map_structure_up_to"),
            ("cudnn_rnn.CudnnLSTM", "cudnn_compatible_lstm_cell/kernel"),
        ]
    )
    def test_what_the_walk_met_elsewhere(self, name, told):
        text = head(f"tf.contrib.{name}")
        self.assertTrue(text.startswith(f"tf.contrib.{name}: "))
        self.assertIn(told, text)

    @parameterized.expand(["", "absl.flags._exceptions."])
    def test_an_exception(self, module):
        told = head(f"{module}UnparsedFlagAccessError")
        self.assertIn("In a test or a notebook, mark them as parsed", told)
        self.assertIn("tf1to2 diff files.read_flags", told)

    def test_a_name_of_another_library_that_a_section_tells(self):
        self.assertIn("tf.saved_model.load(path, tags=[])", head("hub.Module"))


class RefusalTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a variable", "sess.run", "tf.Session.run"),
            ("another", "saver.restore", "tf.train.Saver.restore"),
            ("a third", "optimizer.minimize", "tf.train.Optimizer.minimize"),
            ("a word", "batch_norm", "tf.contrib.slim.batch_norm"),
            ("a module", "slim", "tf.contrib.slim"),
            ("without its module", "replica_device_setter", "tf.train.replica_device"),
            ("a call", 'tf.trainable_variables(scope="g")', "tf.trainable_variables"),
        ]
    )
    def test_it_takes_what_can_mean_one_thing(self, _, text, name):
        self.assertRegex(head(text), rf"^(\d+ names; .*)?{re.escape(name)}")

    @parameterized.expand(
        [
            ("an argument", "keep_prob", "layers.dropout"),
            ("an argument of a method", "feed_dict", "graphs.feed_between"),
            (
                "a class of others",
                "AdamWeightDecayOptimizer",
                "training_recipes.pretrain",
            ),
        ]
    )
    def test_a_name_that_is_none_leads_where_the_guide_has_it(self, _, text, place):
        self.assertIn(f"tf1to2 diff {place}", head(text))

    @parameterized.expand(
        [
            ("that is gone", "keep_dims=True", "tf.reduce_all: "),
            ("of names that are gone", "state_is_tuple=False", "rnn.make_lstm: "),
            ("that the guide tells of", "gradient_accumulation_steps=4", "accumulate"),
        ]
    )
    def test_an_argument_leads_to_what_took_it(self, _, text, told):
        self.assertIn(told, head(text))

    def test_an_argument_that_never_was(self):
        status, out, err = run_it("xyzzy=3")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("no function of TensorFlow 1.15 has an argument xyzzy", err)

    def test_what_pip_takes_is_no_argument(self):
        for text in ("tensorflow==1.15", "tensorflow-gpu==1.13.1"):
            told = head(text)
            self.assertTrue(told.startswith("Could not find a version that"), told)
        _, _, err = run_it("frobnicate==1.15")
        self.assertIn("TensorFlow 1.15 has no frobnicate==1.15; ", err)

    @parameterized.expand(["feed_dict[", "a*", "("])
    def test_it_takes_no_pattern_for_one(self, text):
        status, out, err = run_it(text)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(f"TensorFlow 1.15 has no {text}; ", err)

    @parameterized.expand(
        [
            ("a typo", "tf.plceholder", "tf.placeholder"),
            ("a method", "evall", "tf.Tensor.eval"),
            ("a typo in contrib", "tf.contrib.slim.conv2dd", "tf.contrib.slim.conv2d"),
            (
                "in a member",
                "tf.keras.Model.fit_genrator",
                "tf.keras.Model.fit_generator",
            ),
            ("in a key", "tf.GraphKeys.UPDATE_OP", "tf.GraphKeys.UPDATE_OPS"),
            ("in letters", "tf.nn.rnn_cell.LSTMcell", "tf.nn.rnn_cell.LSTMCell"),
        ]
    )
    def test_it_suggests(self, _, text, name):
        status, out, err = run_it(text)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(name, re.split(r"[ ,?\n]+", err.partition("did you mean")[2]))

    def test_a_member_of_the_flags(self):
        status, out, _ = run_it("FLAGS.__flags")
        self.assertEqual(status, 0)
        self.assertIn("write: FLAGS.flag_values_dict()", out)

    @parameterized.expand(
        [
            ("new", "tf.newer"),
            ("in contrib", "tf.contrib.nowhere.there"),
            ("under a class", "tf.Session.there"),
            ("not ours", "numpy.nowhere"),
        ]
    )
    def test_what_never_was(self, _, text):
        status, out, err = run_it(text)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(f"TensorFlow 1.15 has no {text}", err)


ERRORS = [
    ("module 'tensorflow' has no attribute 'placeholder'", "tf.placeholder"),
    (
        "module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'",
        "tf.train.AdamOptimizer",
    ),
    (
        "module 'tensorflow._api.v2.compat.v1' has no attribute 'estimator'",
        "tf.estimator",
    ),
    (
        "module 'keras._tf_keras.keras.losses' has no attribute 'huber_loss'",
        "tf.losses.huber_loss",
    ),
    (
        "module 'keras._tf_keras.keras.layers' has no attribute 'CuDNNLSTM'",
        "tf.keras.layers.CuDNNLSTM",
    ),
    ("'module' object has no attribute 'placeholder'", "tf.placeholder"),
    ("No module named 'tensorflow.contrib'", "tf.contrib"),
    ("No module named tensorflow.contrib.slim", "tf.contrib.slim"),
    ("No module named 'tensorflow.examples'", "tf.examples.tutorials"),
    (
        "cannot import name 'placeholder' from 'tensorflow' (/usr/tensorflow/x.py)",
        "tf.placeholder",
    ),
    (
        "cannot import name 'slim' from 'tensorflow.contrib' (unknown location)",
        "tf.contrib.slim",
    ),
    (
        "name_scope_v2.__init__() got an unexpected keyword argument 'default_name'",
        "tf.name_scope",
    ),
    ("softmax_v2() got an unexpected keyword argument 'dim'", "tf.nn.softmax"),
    ("Got an unexpected keyword argument 'box_ind'", "tf.image.crop_and_resize"),
    (
        "'Sequential' object has no attribute 'predict_classes'",
        "tf.keras.Sequential.predict_classes",
    ),
    (
        "'_MapDataset' object has no attribute 'output_shapes'",
        "tf.data.Dataset.output_shapes",
    ),
    ("'int' object has no attribute 'value'", ".value"),
    (
        "'Dense' object has no attribute 'input_shape'",
        "tf.keras.layers.Dense.input_shape",
    ),
    (
        "Trainer.compile() got an unexpected keyword argument 'target_tensors'",
        "tf.keras.Model.compile",
    ),
    ("cannot import name 'CuDNNGRU' from 'keras.layers'", "tf.keras.layers.CuDNNGRU"),
    ("`dense` is not available with Keras 3.", "tf.layers.dense"),
    ("`LSTMCell` is not available with Keras 3.", "tf.nn.rnn_cell.LSTMCell"),
]
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    x = tf.placeholder(tf.float32)
        ^^^^^^^^^^^^^^
AttributeError: module 'tensorflow' has no attribute 'placeholder'
"""


TOLD = [
    (
        "of_protobuf",
        "'SymbolDatabase' object has no attribute 'GetPrototype'",
        "'MessageFactory' object",
    ),
    (
        "of_generated_code",
        "Descriptors cannot be created directly. If this call came from a _pb2.py "
        "file, your generated code is out of date",
        "Descriptors cannot be",
    ),
    ("a_flag_with_a_hyphen", "AttributeError: batch-size", "AttributeError: _parse"),
    ("a_flag_that_nobody_defined", "AttributeError: rate", "AttributeError: _parse"),
    (
        "of_a_history",
        "'KerasHistory' object has no attribute 'layer'",
        "'…' object has no attribute '_keras_shape'",
    ),
    (
        "of_no_history",
        "'tensorflow.python.framework.ops.EagerTensor' object has no attribute "
        "'_keras_history'",
        "'…' object has no attribute '_keras_shape'",
    ),
    (
        "an_op_of_a_keras_tensor",
        "'KerasTensor' object has no attribute 'op'",
        "'KerasTensor' object has no attribute 'op'",
    ),
    (
        "of_a_class_that_takes_no_names",
        "<class 'Sequential'> could not be deserialized properly.\n\nException "
        "encountered: Gate.__init__() got an unexpected keyword argument 'trainable'",
        "__init__() got an unexpected keyword argument 'name'",
    ),
    (
        "of_a_value_of_several_lines",
        "ValueError: Unknown variable: <Variable path=dense/kernel, value=[[-1.08733]\n"
        " [-0.0296483]]>. This optimizer can only be called for the variables it was "
        "originally built with.",
        "Unknown variable: …",
    ),
    (
        "when_it_was_raised",
        "ValueError: Shape must be rank 2 but is rank 1 when training on a GPU",
        "Shape must be",
    ),
    (
        "of_a_node",
        "'Node' object has no attribute 'outbound_layer'",
        "'…' object has no attribute 'inbound_nodes'",
    ),
    (
        "of_a_custom_op",
        "/opt/roi_pooling.so: undefined symbol: _ZN10tensorflow8internal9NewStringEv",
        "cannot open shared object",
    ),
    (
        "of_a_first_value",
        "Tensor-typed variable initializers must either be wrapped in an init_scope or "
        "callable (e.g., `tf.Variable(lambda : tf.zeros([3]))`) when building "
        "functions.",
        "tf.function only supports",
    ),
    (
        "of_a_first_value_of_today",
        'Argument `initial_value` (Tensor("stack:0", shape=(3, 2), dtype=float32)) '
        "could not be lifted out of a `tf.function`.",
        "tf.function only supports",
    ),
    (
        "of_a_lambda",
        "The following Variables were created within a Lambda layer (lambda_7) but are "
        "not tracked by said layer",
        "tf.function only supports",
    ),
    (
        "of_a_shape_in_build",
        "'tuple' object has no attribute 'with_rank'",
        "'tuple' object has no attribute 'as_list'",
    ),
    (
        "of_an_unknown_rank",
        "Cannot iterate over a shape with unknown rank.",
        "Cannot take the length",
    ),
    (
        "of_a_layer_after_an_unknown_rank",
        "The last dimension of the inputs to a Dense layer should be defined. Found "
        "None. Full input shape received: <unknown>",
        "Cannot take the length",
    ),
    (
        "of_tf_summary",
        "module 'tensorflow._api.v2.summary' has no attribute 'Value'",
        "module 'tensorflow….summary'",
    ),
    (
        "a_place_in_a_layer",
        "Only input tensors may be passed as positional arguments. The following "
        "argument value should be passed as a keyword argument: True (of type <class "
        "'bool'>)",
        "Only input tensors",
    ),
    (
        "an_output_that_is_no_layer_s",
        "Output tensors to a Model must be the output of a TensorFlow `Layer` (thus "
        'holding past layer metadata). Found: Tensor("add:0", shape=(3,))',
        "All `outputs` values",
    ),
    (
        "an_output_of_today",
        "All `outputs` values must be KerasTensors. Received: outputs=<tf.Variable "
        "'a:0' shape=(3,) dtype=float32>",
        "All `outputs` values",
    ),
    (
        "dtypes_in_a_function",
        "Tensors in list passed to 'values' of 'Pack' Op have types [int32, float32] "
        "that don't all match.",
        "cannot compute Pack as input",
    ),
    (
        "a_print_for_a_value",
        "can't convert Operation 'metrics/PrintV2' to Tensor (target dtype=None, "
        "name='x', as_ref=False)",
        "can't convert Operation",
    ),
    ("a_metric", "Unknown metric function: recall", "Could not interpret metric"),
    (
        "a_metric_today",
        "Could not interpret metric identifier: {'class_name': 'recall', 'config': {}}",
        "Could not interpret metric",
    ),
    (
        "a_pickle_of_python_2",
        "Unpickling a python object failed: UnicodeDecodeError('ascii', b'\\xe2', 3, "
        "4, 'ordinal not in range(128)')",
        "Object arrays cannot",
    ),
    (
        "a_private_module",
        "cannot import name 'core_rnn_cell_impl'",
        "module 'tensorflow.python.ops.rnn_cell_impl'",
    ),
    (
        "a_list",
        "Unrecognized data type: x=[[1, 2], [3, 4]] (of type <class 'list'>)",
        "Unrecognized data type",
    ),
    (
        "class_numbers",
        "Arguments `target` and `output` must have the same rank (ndim). Received: "
        "target.shape=(8,), output.shape=(8, 3)",
        "Arguments `target` and",
    ),
    (
        "class_numbers_in_keras_2",
        "Shapes (None, 1) and (None, 7) are incompatible",
        "Arguments `target` and",
    ),
    (
        "a_keyword_of_keras_1",
        "load_data() got an unexpected keyword argument 'nb_words'",
        "TensorFlowTrainer.fit() got",
    ),
    (
        "a_keyword_that_never_was",
        "foldl_v2() got an unexpected keyword argument 'reverse'",
        "Got an unexpected keyword",
    ),
    (
        "a_word_of_keras_1",
        "Unrecognized keyword arguments passed to GRU: {'consume_less': 'gpu'}",
        "Unrecognized keyword arguments passed to …: {…'init'",
    ),
    (
        "another_word_of_keras_1",
        "Unrecognized keyword arguments passed to Dense: {'output_dim': 3}",
        "Unrecognized keyword arguments passed to …: {…'init'",
    ),
    (
        "a_legacy_optimizer",
        "`keras.optimizers.legacy` is not supported in Keras 3. When using `tf.keras`",
        "`keras.optimizers.legacy` is not",
    ),
    (
        "a_kernel_of_two_numbers",
        "Conv2D.__init__() got multiple values for argument 'strides'",
        "Conv2D.__init__() got multiple",
    ),
]
"""(slug, a message, how the heading of the section on it begins)."""


class ErrorTest(unittest.TestCase):
    @parameterized.expand(TOLD)
    def test_it_leads_to_its_section(self, _, message, heading):
        answer = resolve.resolve(message)
        self.assertTrue(answer.exact)
        first = answer.advice[0].message if answer.advice else "no section"
        self.assertTrue(first.startswith(heading), first)

    @parameterized.expand(ERRORS)
    def test_it_leads_to_the_name(self, message, name):
        for prefix in ("", "AttributeError: ", "tensorflow.errors.SomeError: "):
            self.assertEqual(messages.names(prefix + message)[0], name)
        self.assertIn(name, head(message))

    def test_all_that_took_the_keyword(self):
        found = messages.names(
            "TypeError: Got an unexpected keyword argument 'keep_dims'"
        )
        self.assertIn("tf.reduce_sum", found)
        self.assertIn("tf.norm", found)
        for name in found:
            self.assertIn("keepdims=", entries.lookup(name).message)

    @parameterized.expand(
        [("as an argument", TRACEBACK, ""), ("as the input", "-", TRACEBACK)]
    )
    def test_a_traceback(self, _, text, stdin):
        self.assertIn("tf.placeholder: rewrite", head(text, stdin=stdin))

    @parameterized.expand(
        [
            ("of the guide", "The Session graph is empty. Add operations", "graphs"),
            (
                "of the guide, with a gap",
                "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a "
                "Python `bool` is not allowed.",
                "control_flow",
            ),
            (
                "of the guide, with a name",
                "tensorflow.python.framework.errors_impl.NotFoundError: Key w/Adam not "
                "found in checkpoint",
                "checkpoints.inspect",
            ),
            (
                "of the guide, in part",
                "ValueError: Variable net/w already exists, disallowed.",
                "scopes.get_in_turn",
            ),
            (
                "of the guide, that ends in a name",
                "AttributeError: 'Functional' object has no attribute 'total_loss'",
                "keras_functions.loss_gradients",
            ),
            (
                "of the guide, a warning",
                "WARNING:tensorflow:Can save best model only with val_acc available, "
                "skipping.",
                "keras_training.keep_the_best",
            ),
            (
                "of a proof",
                "tensorflow.python.framework.errors_impl.DataLossError: corrupted "
                "record at 12",
                "records.peek_records",
            ),
            (
                "of a proof, with another name",
                "InvalidArgumentError: tensor_name = net/w; expected dtype double does "
                "not equal original dtype float",
                "checkpoints.train",
            ),
        ]
    )
    def test_it_leads_to_a_message(self, _, text, place):
        self.assertIn(f"tf1to2 diff {place}", head(text))

    @parameterized.expand(
        [
            ("in a question", "tf.map_fn over two tensors", "tf.map_fn"),
            (
                "by its last component",
                "ModelCheckpoint period",
                "tf.keras.callbacks.ModelCheckpoint",
            ),
            (
                "in an error",
                "ValueError: tf.enable_eager_execution must be called at program "
                "startup.",
                "tf.enable_eager_execution",
            ),
        ]
    )
    def test_it_takes_the_name_among_the_words(self, _, text, name):
        self.assertIn(f"{name}: ", head(text))

    def test_the_op_that_raised_it_is_no_word_of_it(self):
        told = "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"
        node = "{{function_node __wrapped__MatMul_device_/device:CPU:0}} "
        self.assertEqual(head(f"{node}{told} [Op:MatMul]"), head(told))
        nobody_knows = "quux of frobnicate"
        answer = run_it(f"{nobody_knows} [Op:MatMul] name: ")
        self.assertEqual(answer, run_it(nobody_knows))
        self.assertEqual(answer[0], 2)

    def test_a_word_of_english_is_no_name(self):
        self.assertEqual(messages.mentioned("the loss is nan after a square"), [])

    def test_a_name_of_before_1_0_is_no_module(self):
        self.assertEqual(messages.mentioned("tf.sub or tf.abs"), ["tf.sub", "tf.abs"])

    @parameterized.expand(
        [
            ("predict_generator", "tf.keras.Model.predict_generator"),
            ("partial_run_setup", "tf.Session.partial_run_setup"),
        ]
    )
    def test_a_method_by_itself(self, text, name):
        self.assertTrue(head(text).startswith(f"{name}: "))

    def test_the_guide_speaks_first(self):
        told = head("'Adam' object has no attribute 'minimize'")
        self.assertIn("Compute the loss on a tape, and apply its gradients", told)
        self.assertIn("tf.keras.optimizers.Adam.minimize becomes ", told)

    @parameterized.expand(
        [
            ("ours", "TypeError: 'NoneType' object is not iterable"),
            ("a class of theirs", "'Trainer' object has no attribute 'foo'"),
            ("another library", "No module named 'torch.nn'"),
            ("no error", "this is a plugh"),
        ]
    )
    def test_nobody_knows(self, _, text):
        status, out, err = run_it(text)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("nothing in the guide has these words", err)
