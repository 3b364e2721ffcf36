"""`tf1to2 explain`: names, members, errors; what it claims, and what it refuses."""

import re
import unittest
from unittest import mock

import pytest
from parameterized import parameterized

from tf1to2 import probes
from tf1to2.catalog import entries, facts, links
from tf1to2.explain import messages, screen
from tf1to2.pages import topics
from tf1to2.tests.commands import command
from upkeep import calls


def run_it(text, columns="80", stdin=""):
    """`command` on a terminal of so many columns."""
    with mock.patch.dict("os.environ", COLUMNS=columns):
        return command("explain", text, stdin=stdin)


def head(text, **options):
    """What stands before the two sides, its lines joined."""
    status, out, err = run_it(text, **options)
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
            ("another name", "tf.log", "also: tf.math.log"),
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
            widest = max(map(len, run_it(text, columns)[1].split("\n")))
            self.assertLessEqual(widest, int(columns), text)


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
            with mock.patch.object(screen, "_sides", return_value=""):
                told = " ".join(screen.render(symbol).split())
            claim = r"(\w+\.\w+): (?:[a-z, ]+ )?(?:identical|within \d+ ULP) on 1"
            claims = re.findall(claim, told)
            claims += re.findall(r"(\w+\.\w+)", told.partition("it is called: ")[2])
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
            ("a name that stayed", "tf.sets.size", "as it was: tf.sets.size("),
            ("other numbers", "tf.spectral.rfft", "other than 1.15.5: a Fourier"),
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
            with mock.patch.object(screen, "_sides", return_value=""):
                told = screen.render(symbol, 72)
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
        self.assertIn("TensorFlow 1.15 has no argument xyzzy", err)

    def test_what_pip_takes_is_no_argument(self):
        _, _, err = run_it("tensorflow==1.15")
        self.assertIn("TensorFlow 1.15 has no tensorflow==1.15; ", err)

    @parameterized.expand(["feed_dict[", "a*", "("])
    def test_it_takes_no_pattern_for_one(self, text):
        status, out, err = run_it(text)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(f"TensorFlow 1.15 has no {text}; ", err)

    @parameterized.expand(
        [
            ("a typo", "tf.plceholder", "tf.placeholder"),
            ("a method", "eval", ".eval"),
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


class ErrorTest(unittest.TestCase):
    @parameterized.expand(ERRORS)
    def test_it_leads_to_the_name(self, message, name):
        for prefix in ("", "AttributeError: ", "tensorflow.errors.SomeError: "):
            self.assertEqual(messages.names(prefix + message)[0], name)
        self.assertIn(f"{name}: ", head(message))

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
        self.assertIn(f"{screen.NAMED.strip()} {name}: ", head(text))

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
        self.assertIn("Optimizers of Keras 3 have apply_gradients", told)
        self.assertIn("tf.keras.optimizers.Adam.minimize: ", told)

    @parameterized.expand(
        [
            ("ours", "TypeError: 'NoneType' object is not iterable"),
            ("a class of theirs", "'Trainer' object has no attribute 'foo'"),
            ("another library", "No module named 'torch.nn'"),
            ("no error", "this is a sentence"),
        ]
    )
    def test_nobody_knows(self, _, text):
        status, out, err = run_it(text)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("nothing is known of this error", err)
