"""Every name of TensorFlow 1.15 has its verdict, and the verdicts are true here."""

import ast
import re
import subprocess
import sys
import types
import unittest

import tensorflow as tf
from parameterized import parameterized

from tf1to2.catalog import entries as catalog
from tf1to2.catalog import facts, signatures, verdicts
from tf1to2.pages import topics
from tf1to2.parity.releases import here
from tf1to2.source.names.records import Call
from tf1to2.tests.commands import command
from tf1to2.view import take
from upkeep import api_walk, survey
from upkeep.probes import written

ABSENT = object()


def names():
    """Every public name of 1.15.5, but the modules."""
    return [facts.fact(s) for s, kind, *_ in facts.names().values() if kind != "module"]


def read(signature):
    """{name: (place or None, default)} by Python's own parser.

    What follows a sentinel comes by keyword, and in practice what follows the name of
    an op; "*args" is there if more is taken.
    """
    if not signature:
        return {}
    spec = ast.parse(f"def f{signature}: pass").body[0].args
    plain = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(plain) - len(spec.defaults)) + spec.defaults
    found, sentinel, named = {}, False, False
    for place, (argument, default) in enumerate(zip(plain, defaults)):
        name = argument.arg
        sentinel = sentinel or name.startswith("_")
        if not name.startswith("_"):
            text = None if sentinel or default is None else ast.unparse(default)
            found[name] = (None if sentinel or named else place, text)
        named = named or name == "name"
    for argument, default in zip(spec.kwonlyargs, spec.kw_defaults):
        found[argument.arg] = (None, default and ast.unparse(default))
    if spec.vararg:
        found["*args"] = (None, None)
    return found


KERAS = "keras>=3.15"
"""Whose signatures the tables tell: 3.12, the last for Python 3.10, has older ones."""


class FactsTest(unittest.TestCase):
    """The tables against the TensorFlow that is installed."""

    @classmethod
    def setUpClass(cls):
        if not tf.__version__.startswith(survey.SURVEYED + "."):
            raise unittest.SkipTest(f"the tables tell of TensorFlow {survey.SURVEYED}")

    def test_every_name_of_1_15_is_there(self):
        contrib = [fact for fact in names() if fact.symbol.startswith("tf.contrib.")]
        self.assertEqual((len(names()) - len(contrib), len(contrib)), (2781, 3779))

    def test_what_is_here_is_here(self):
        for symbol in facts.names():
            fact = facts.fact(symbol)
            found = api_walk.get(tf, symbol, api_walk.ABSENT) is not api_walk.ABSENT
            self.assertEqual(found, fact.here, symbol)
            if fact.moved:
                self.assertIsNotNone(api_walk.get(tf, fact.moved), symbol)

    def test_signatures_are_those_of_today(self):
        for fact in names():
            if fact.here or fact.moved:
                place = fact.moved or fact.symbol
                thing = api_walk.get(tf, place)
                of_keras = getattr(thing, "__module__", "").startswith("keras.")
                if of_keras and not here(KERAS):
                    continue
                signature = api_walk.signature(thing)
                self.assertEqual(signature, fact.signature_today, fact.symbol)

    def test_members_are_there_or_gone(self):
        for fact in names():
            place = facts.place(fact.symbol) if fact.kind == "class" else ""
            if place and fact.object == fact.symbol:
                cls = api_walk.get(tf, place)
                for name in facts.members(fact.symbol):
                    member = facts.member(fact.symbol, name)
                    if member.today == "gone":
                        self.assertFalse(hasattr(cls, name), member.symbol)
                    elif member.kind != "property":  # an attribute of objects, maybe
                        self.assertTrue(hasattr(cls, name), member.symbol)


class VerdictsTest(unittest.TestCase):
    """The verdicts against the facts, both ways."""

    def test_what_is_not_there_is_not_the_same(self):
        for symbol in facts.names():
            entry, fact = catalog.lookup(symbol), facts.fact(symbol)
            if entry.verdict in ("same", "changed"):
                self.assertTrue(fact.here, symbol)

    def test_what_is_there_is_not_gone(self):
        for symbol in facts.names():
            if facts.fact(symbol).here:
                self.assertIn(catalog.lookup(symbol).verdict, ("same", "changed"))

    def test_what_is_renamed_has_one_name(self):
        for fact in names():
            entry = catalog.lookup(fact.symbol)
            if entry.verdict == "renamed":
                name = re.match(r"[\w.]+", entry.replacement)[0]
                self.assertIsNotNone(api_walk.get(tf, name), fact.symbol)
                self.assertNotRegex(entry.replacement, r"^[\w.]+,", fact.symbol)

    def test_a_module_is_judged_as_a_module(self):
        modules = [s for s, kind, *_ in facts.names().values() if kind == "module"]
        self.assertGreater(len(modules), 300)
        for symbol in modules:
            entry = catalog.lookup(symbol)
            self.assertEqual(entry.kind, "module", symbol)
            self.assertEqual(entry.verdict == "same", facts.fact(symbol).here, symbol)

    def test_the_same_takes_the_same_call(self):
        for fact in names():
            entry = catalog.lookup(fact.symbol)
            if entry.verdict == "same" and fact.signature_today and not entry.what:
                rows = verdicts.arguments(fact.symbol)
                now = read(fact.signature_today)
                for name, (place, default) in read(fact.signature).items():
                    if (name, "") in rows or name in ("name", "*args"):
                        continue  # a row says why it does no harm
                    at, new = now.get(name, (None, "absent"))
                    if "**kwargs" in fact.signature_today and new == "absent":
                        continue
                    where = f"{fact.symbol}({name})"
                    self.assertNotEqual(new, "absent", where)
                    if place is not None and "*args" not in now:
                        self.assertEqual(at, place, where)
                    if default is not None:
                        same = signatures.equal(default, new)
                        known = (name, default, new) in signatures.SYNONYMS
                        self.assertTrue(same or known, where)

    def test_the_renamed_takes_the_same_call_or_says_what_differs(self):
        for fact in names():
            entry = catalog.lookup(fact.symbol)
            if entry.verdict == "renamed" and not entry.what and fact.moved:
                now = read(fact.signature_today)
                for name, (place, default) in read(fact.signature).items():
                    at, new = now.get(name, (None, "absent"))
                    where = f"{fact.symbol}({name})"
                    if (name, "") in verdicts.arguments(fact.symbol):
                        continue
                    if name not in ("name", "*args") and "*args" not in now:
                        if place is not None:
                            self.assertEqual(at, place, where)
                        if default is not None:
                            known = (name, default, new) in signatures.SYNONYMS
                            self.assertTrue(known or signatures.equal(default, new))

    def test_what_differs_is_explained(self):
        for symbol in catalog.symbols():
            entry = catalog.lookup(symbol)
            self.assertIn(entry.verdict, catalog.VERDICTS)
            if entry.verdict in ("changed", "removed"):
                self.assertTrue(entry.what or entry.replacement, symbol)
            if entry.verdict in ("renamed", "rewrite"):
                self.assertTrue(entry.replacement, symbol)

    def test_every_member_is_judged(self):
        seen = 0
        for fact in names():
            if fact.kind == "class" and fact.object == fact.symbol:
                for name in facts.members(fact.symbol):
                    symbol = f"{fact.symbol}.{name}"
                    entry = catalog.lookup(symbol)
                    self.assertEqual(entry.symbol, symbol)
                    if facts.member(fact.symbol, name).today == "gone":
                        self.assertNotIn(entry.verdict, ("same", "changed"), symbol)
                    seen += 1
        self.assertGreater(seen, 10000)


class TableTest(unittest.TestCase):
    """verdicts.tsv itself."""

    def test_one_object_has_one_row(self):
        """Or two, where today's names of it are two objects."""
        rows = {}
        for symbol in verdicts.table()[0]:
            if symbol in facts.names():
                one = facts.fact(symbol).object, id(api_walk.get(tf, symbol))
                self.assertNotIn(one, rows, f"{symbol} is {rows.get(one)}")
                rows[one] = symbol

    def test_no_row_repeats_the_facts(self):
        for symbol, row in verdicts.table()[0].items():
            if row.verdict == "same":
                self.assertTrue(row.note, symbol)
            fact = facts.fact(symbol)
            if fact and row.verdict == "renamed" and not row.note:
                self.assertNotEqual(fact.moved, row.write, symbol)

    def test_what_does_not_resolve_has_another_name_or_none(self):
        """Also of names that 1.15.5 had not any more."""
        for symbol, row in verdicts.table()[0].items():
            if symbol.startswith("tf.") and api_walk.get(tf, symbol) is None:
                owner, _, name = symbol.rpartition(".")
                if owner in facts.names() and facts.member(owner, name):
                    continue  # of objects, which a class need not show
                self.assertNotIn(row.verdict, ("same", "changed"), symbol)
                self.assertNotEqual((row.verdict, row.write), ("renamed", symbol))

    def test_harmless_arguments_say_why(self):
        for symbol, rows in verdicts.of_arguments().items():
            self.assertTrue(catalog.is_listed(symbol), symbol)
            for row in rows.values():
                self.assertTrue(row.note or row.now, f"{symbol}({row.argument})")

    def test_a_row_for_a_module_names_no_function(self):
        for prefix, row in verdicts.table()[1].items():
            for name in re.findall(r"(?<!\w)tf\.[\w.]*\w", row.write):
                if prefix.startswith("tf.") and name != "tf.function":
                    kinds = (type, types.ModuleType)  # true of whatever lies beneath
                    thing = api_walk.get(tf, name)
                    self.assertIsInstance(thing, kinds, f"{prefix}: {name}")

    def test_what_to_write_is_code(self):
        """And all its names of TensorFlow 2 exist."""
        for symbol, write in _writes():
            text = write.replace("…", "_")
            fields = re.fullmatch(r"(\w+=.+?)(, \w+=.+)*", text)
            text = f"f({text})" if fields else text
            text = f"x{text}" if text.startswith(".") else text
            ast.parse(text, mode="eval")
            for name in written.NAME.findall(write):
                if not name.startswith("tf.compat.v1."):
                    self.assertIsNotNone(api_walk.get(tf, name), f"{symbol}: {name}")

    def test_a_note_does_not_repeat_what_to_write(self):
        for symbol, row in _rows():
            for text in filter(None, (row.write, row.becomes)):
                self.assertFalse(row.note.startswith((text, f"is {text}")), symbol)
        for symbol, rows in verdicts.of_arguments().items():
            for row in rows.values():
                told = bool(row.write) and ": write " in row.note
                self.assertFalse(told, f"{symbol}({row.argument})")

    def test_a_note_is_text_without_marks(self):
        for symbol, row in _rows():
            for text in (row.becomes, row.note):
                self.assertNotIn("`", text, symbol)
                self.assertNotRegex(text, r"[.;,]$|^\s|\s$|\s\s", symbol)

    def test_what_a_row_says_to_take_can_be_taken(self):
        seen = 0
        for symbol, row in _rows():
            for named in re.findall(r"tf1to2 take ((?:\w+\.\w+ ?)+)", row.note):
                self.assertLessEqual(set(named.split()), set(take.available()), symbol)
                seen += 1
        self.assertGreater(seen, 150)

    def test_a_module_of_contrib_has_a_row_before_that_of_contrib(self):
        for fact in names():
            if fact.symbol.startswith("tf.contrib."):
                note = catalog.lookup(fact.symbol).note
                self.assertNotIn("has no successor in TensorFlow", note, fact.symbol)

    def test_covered_arguments_differ(self):
        for symbol, row in verdicts.table()[0].items():
            known = {
                change.argument
                for name in verdicts.spelled(symbol)
                for change in signatures.differences(*catalog.compared(name)[1:])
            }
            self.assertLessEqual(set(row.covers), known, symbol)


def _rows():
    """[(name, Row)] of verdicts.tsv."""
    exact, wild = verdicts.table()
    return [*exact.items(), *wild.items()]


def _writes():
    """[(name, what to write instead)] of the tables."""
    found = [(name, row.write) for name, row in _rows()]
    found += [
        (f"{name}({row.argument})", row.write)
        for name, rows in verdicts.of_arguments().items()
        for row in rows.values()
    ]
    return [one for one in found if one[1]]


class CatalogTest(unittest.TestCase):
    def test_every_pair_exists(self):
        known = topics.topics()
        for symbol in catalog.symbols():
            topic, _, pair = catalog.lookup(symbol).pair.partition(".")
            if topic:
                self.assertIn(pair or None, (*known[topic].pairs, None), symbol)

    def test_verdicts_name_what_there_is(self):
        wild = verdicts.table()[1]
        deeper = ("tf.contrib.", "tf.examples", ".", "tensorflow.")
        self.assertEqual(
            [
                p
                for p in wild
                if not p.startswith(deeper)
                and facts.names().get(p, "  ")[1] != "module"
            ],
            [],
        )

    def test_importing_it_starts_nothing(self):
        code = (
            "import sys; from tf1to2.catalog import entries; entries.lookup('tf.log'); "
            "print('tensorflow' in sys.modules, 'numpy' in sys.modules)"
        )
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        self.assertEqual(out.stdout, "False False\n")


class LookupTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("same", "tf.matmul", "same", ""),
            ("renamed", "tf.log", "renamed", "tf.math.log"),
            ("changed", "tf.where", "changed", "tf.where(p[:, None], a, b)"),
            ("rewritten", "tf.placeholder", "rewrite", "an argument of a function"),
            ("an attribute of it", "tf.flags.FLAGS.batch", "rewrite", "absl.flags"),
            (
                "deep, and known",
                "tf.contrib.framework.python.ops.arg_scope",
                "rewrite",
                "functools",
            ),
            ("deep in contrib", "tf.contrib.rnn.python.ops.x.y", "rewrite", "a cell"),
            ("not public", "tf.python.ops.array_ops.reshape", "private", "tf.reshape"),
            ("neither in part", "tf.python.ops.rnn_cell.x.y", "private", "a cell"),
            ("nor known", "tf.compiler.x", "private", ""),
            ("a method", ".eval", "rewrite", ".numpy()"),
        ]
    )
    def test_verdict(self, _, symbol, verdict, replacement):
        entry = catalog.lookup(symbol)
        self.assertEqual(entry.verdict, verdict)
        self.assertTrue(entry.replacement.startswith(replacement), entry)

    @parameterized.expand(
        [
            ("an activation", "tf.nn.relu_layer", "tf.nn.relu(tf.matmul("),
            ("a default activation", "tf.contrib.slim.fully_connected", "was ReLU"),
            ("a default padding", "tf.contrib.layers.conv2d_transpose", "SAME"),
            ("an epsilon", "tf.train.AdamOptimizer", "epsilon=1e-8"),
            ("where squares begin", "tf.train.RMSPropOptimizer", "begin at 0"),
            ("a new name", "tf.diag", "is tf.linalg.tensor_diag now"),
            (
                "the replacement beside a reason",
                "tf.contrib.slim.l2_regularizer",
                "becomes scale * tf.nn.l2_loss(w)",
            ),
            (
                "a member of what is gone",
                "tf.estimator.ModeKeys.EVAL",
                "estimators left TensorFlow",
            ),
            ("keywords", ".fit_generator", "steps_per_epoch by keyword"),
            ("tfe", "tf.contrib.eager.python.tfe.metrics.Mean", "tf.keras.metrics"),
            ("slim's layers", "tf.contrib.slim.layers.fully_connected", "was ReLU"),
            (
                "nets deep in slim",
                "tf.contrib.slim.python.slim.nets.resnet_v1.resnet_v1",
                "tf.keras.applications",
            ),
            ("of an iterator", "tf.data.Iterator.initializer", "iter(dataset)"),
            ("a check that returned", "tf.debugging.assert_scalar", "returns nothing"),
            (
                "a check with other names",
                "tf.verify_tensor_all_finite",
                "write message= in place of msg=",
            ),
            ("every rank", "tf.batch_gather", "batch_dims=-1"),
            ("a sparse tensor", "tf.string_split", ".to_sparse()"),
            ("not public", "tf.python.framework.ops.EagerTensor", "if it has one"),
            ("never at the top", "tf.Coordinator", "is tf.train.Coordinator now"),
        ]
    )
    def test_message_tells(self, _, symbol, text):
        self.assertIn(text, catalog.lookup(symbol).message)

    @parameterized.expand(["proper_iterable", "same_float_dtype"])
    def test_a_check_that_did_not_change(self, name):
        self.assertEqual(catalog.lookup(f"tf.debugging.assert_{name}").verdict, "same")

    @parameterized.expand(
        [
            (
                "not an argument that is not passed",
                "tf.python.framework.ops.convert_to_tensor",
                Call(1, ("name",), False),
                "preferred_dtype",
                False,
            ),
            (
                "one that is passed",
                "tf.python.framework.ops.convert_to_tensor",
                Call(1, ("preferred_dtype",), False),
                "preferred_dtype",
                True,
            ),
            (
                "not a default that is given",
                "tf.truncated_normal_initializer",
                Call(0, ("stddev",), False),
                "stddev was",
                False,
            ),
            (
                "a default",
                "tf.truncated_normal_initializer",
                Call(0, (), False),
                "stddev was",
                True,
            ),
            (
                "a place beside the row's sentence",
                "tf.summary.image",
                Call(3, (), False),
                "argument 3 was max_outputs and is step",
                True,
            ),
            (
                "a keyword beside the row's sentence",
                "tf.summary.scalar",
                Call(1, ("tensor",), False),
                "write data= in place of tensor=",
                True,
            ),
            (
                "another keyword",
                "tf.nn.ctc_loss",
                Call(3, ("time_major",), False),
                "write logits_time_major= in place of time_major=",
                True,
            ),
            (
                "of a name before 1.0",
                "tf.batch_matmul",
                Call(2, ("adj_x",), False),
                "write adjoint_a= in place of adj_x=",
                True,
            ),
        ]
    )
    def test_message_of_a_call(self, _, symbol, call, text, told):
        self.assertEqual(text in catalog.judge(symbol, call).message, told)

    def test_another_keyword_beside_another_meaning_is_not_mechanical(self):
        call = Call(1, ("values",), False)
        self.assertEqual(catalog.judge("tf.summary.histogram", call).verdict, "rewrite")

    @parameterized.expand([("new", "tf.newer"), ("not ours", "np.sum"), ("root", "tf")])
    def test_what_1_15_never_had(self, _, symbol):
        self.assertIsNone(catalog.lookup(symbol))

    @parameterized.expand(
        [
            ("as it was", "tf.reduce_sum", Call(2, (), False), "same", ""),
            ("axis", "tf.reduce_sum", Call(1, ("axis",), False), "same", ""),
            (
                "keep_dims",
                "tf.reduce_sum",
                Call(1, ("keep_dims",), False),
                "renamed",
                "write keepdims= in place of keep_dims=",
            ),
            (
                "reduction_indices",
                "tf.reduce_mean",
                Call(1, ("reduction_indices",), False),
                "renamed",
                "write axis= in place of reduction_indices=",
            ),
            (
                "an argument in the third place",
                "tf.boolean_mask",
                Call(3, (), False),
                "changed",
                "argument 3 was name and is axis",
            ),
            (
                "a keyword by its place",
                "tf.zeros_like",
                Call(0, ("tensor",), False),
                "renamed",
                "write input= in place of tensor=",
            ),
            (
                "a keyword that is gone",
                "tf.constant",
                Call(1, ("verify_shape",), False),
                "rewrite",
                "the argument verify_shape is gone",
            ),
            (
                "another argument in the same place",
                "tf.constant_initializer",
                Call(2, (), False),
                "changed",
                "argument 2 was dtype and is support_partition",
            ),
            (
                "a signature that 1.15 did not tell",
                "tf.keras.utils.custom_object_scope",
                Call(1, (), False),
                "same",
                "",
            ),
            (
                "told in the table",
                "tf.name_scope",
                Call(3, (), False),
                "renamed",
                "it takes only the name, which must not be None: "
                "write tf.name_scope(name or default_name)",
            ),
            ("names apart", "tf.zeros_like", Call(1, (), False), "same", ""),
            (
                "labels, which came by name only",
                "tf.nn.sparse_softmax_cross_entropy_with_logits",
                Call(2, (), False),
                "same",
                "",
            ),
            (
                "dimension",
                "tf.argmax",
                Call(1, ("dimension",), False),
                "renamed",
                "write axis= in place of dimension=",
            ),
        ]
    )
    def test_call(self, _, symbol, call, verdict, what):
        entry = catalog.judge(symbol, call)
        self.assertEqual((entry.verdict, entry.what), (verdict, what))


class UseTest(unittest.TestCase):
    """What one call or mention is told, where both TensorFlows were asked."""

    @parameterized.expand(
        [
            ("a table", "tf.nn.embedding_lookup", Call(2, (), False), "same", ""),
            (
                "several tables",
                "tf.nn.embedding_lookup",
                Call(2, (), False, (0,)),
                "changed",
                "several tables are always split",
            ),
            ("where, of one", "tf.where", Call(1, (), False), "same", ""),
            ("where, of three", "tf.where", Call(3, (), False), "changed", "broadcast"),
            (
                "where, of numbers",
                "tf.where",
                Call(3, (), False, kinds=(("x", "[no rows]"),)),
                "same",
                "",
            ),
            ("a scope's name", "tf.name_scope", Call(1, (), False), "same", ""),
            ("get_shape", ".get_shape", None, "same", "still works"),
            (
                "LSTM",
                "tf.keras.layers.LSTM",
                Call(1, (), False),
                "changed",
                "recurrent_activation was hard_sigmoid, is sigmoid",
            ),
            (
                "LSTM with its activation",
                "tf.keras.layers.LSTM",
                Call(1, ("recurrent_activation",), False),
                "same",
                "",
            ),
            (
                "GRU",
                "tf.keras.layers.GRU",
                Call(1, ("recurrent_activation",), False),
                "changed",
                "reset_after was False, is True",
            ),
            (
                "lr",
                "tf.keras.optimizers.SGD",
                Call(0, ("lr",), False),
                "renamed",
                "write learning_rate= in place of lr=",
            ),
            (
                "decay",
                "tf.keras.optimizers.Adam",
                Call(1, ("decay",), False),
                "rewrite",
                "decay= is ignored",
            ),
            (
                "a keyword of a name that changed",
                "tf.keras.optimizers.RMSprop",
                Call(0, ("lr",), False),
                "changed",
                "write learning_rate= in place of lr=",
            ),
            (
                "SGD as it was",
                "tf.keras.optimizers.SGD",
                Call(1, (), False),
                "same",
                "",
            ),
            (
                "no strength",
                "tf.keras.regularizers.l1_l2",
                Call(0, (), False),
                "changed",
                "l1 was 0.01, is 0.0; l2 was 0.01, is 0.0",
            ),
            (
                "strengths",
                "tf.keras.regularizers.l1_l2",
                Call(2, (), False),
                "same",
                "",
            ),
            (
                "l",
                "tf.keras.regularizers.l2",
                Call(0, ("l",), False),
                "renamed",
                "write l2= in place of l=",
            ),
            (
                "no pool size",
                "tf.keras.layers.AveragePooling2D",
                Call(0, (), False),
                "changed",
                "pool_size must be given: its default was (2, 2)",
            ),
            (
                "what a layer refuses",
                "tf.keras.layers.Dense",
                Call(1, ("weights",), False),
                "rewrite",
                "Keras 3 refuses weights=",
            ),
            (
                "what a layer still takes",
                "tf.keras.layers.Dense",
                Call(2, ("input_dim",), False),
                "same",
                "",
            ),
            (
                "box_ind",
                "tf.image.crop_and_resize",
                Call(2, ("box_ind", "crop_size"), False),
                "renamed",
                "box_ind",
            ),
            (
                "an initializer's strength",
                "tf.random_normal_initializer",
                Call(0, (), False),
                "changed",
                "stddev was 1.0, is 0.05",
            ),
            (
                "an initializer that has another name",
                "tf.truncated_normal_initializer",
                Call(0, (), False),
                "rewrite",
                "stddev was 1.0, is 0.05",
            ),
            (
                "arguments that changed places",
                "tf.random_poisson",
                Call(2, (), False),
                "rewrite",
                "argument 1 was lam and is shape",
            ),
            (
                "three of six",
                "tf.confusion_matrix",
                Call(3, (), False),
                "renamed",
                "",
            ),
            (
                "four of six",
                "tf.confusion_matrix",
                Call(4, (), False),
                "rewrite",
                "argument 4 was dtype and is weights",
            ),
            (
                "a seed in its place",
                "tf.multinomial",
                Call(3, (), False),
                "rewrite",
                "argument 3 was seed and is dtype",
            ),
            (
                "a name that was spelled otherwise",
                "tf.gfile.Exists",
                Call(0, ("filename",), False),
                "renamed",
                "write path= in place of filename=",
            ),
            (
                "a member",
                "tf.keras.Sequential.compile",
                Call(2, ("metrics",), False, texts=(("metrics", "accuracy"),)),
                "changed",
                "the history calls accuracy",
            ),
            (
                "a text that is not that one",
                "tf.keras.Sequential.compile",
                Call(2, ("metrics",), False, texts=(("metrics", "acc"),)),
                "same",
                "",
            ),
            (
                "a text in its place",
                "tf.keras.Sequential.compile",
                Call(2, (), False, texts=((1, "logcosh"),)),
                "rewrite",
                'write "log_cosh"',
            ),
            (
                "a text with an ending",
                "tf.keras.Sequential.save_weights",
                Call(1, (), False, texts=((0, "/x.h5"),)),
                "rewrite",
                "this name raises",
            ),
            (
                "a text that says it is ported",
                "tf.keras.Sequential.save_weights",
                Call(1, (), False, texts=((0, "/x.weights.h5"),)),
                "same",
                "",
            ),
            ("a mention", "tf.reduce_sum", None, "same", ""),
        ]
    )
    def test_use(self, _, symbol, call, verdict, what):
        entry = catalog.judge(symbol, call)
        self.assertEqual(entry.verdict, verdict, entry)
        self.assertIn(what, entry.what)
        if not what:
            self.assertEqual(entry.what, "")

    @parameterized.expand(
        [
            ("a session", "tf.Session.run", "rewrite", "a call of a function"),
            ("a base", "tf.train.AdamOptimizer.minimize", "rewrite", "a GradientTape"),
            ("restore", "tf.train.Saver.restore", "rewrite", "tf.train.Checkpoint"),
            ("shapes", "tf.data.Dataset.output_shapes", "rewrite", "dataset.element"),
            ("still there", "tf.data.Dataset.map", "same", ""),
            ("fit_generator", "tf.keras.Model.fit_generator", "rewrite", "model.fit"),
            ("a subclass", "tf.keras.Sequential.fit_generator", "rewrite", "model.fit"),
            ("updates", "tf.keras.layers.Dense.updates", "rewrite", "assignments"),
            (
                "of a scope",
                "tf.VariableScope.reuse_variables",
                "rewrite",
                "a tf.Module",
            ),
            ("a test's", "tf.test.TestCase.test_session", "rewrite", "calls of the"),
            ("a key", "tf.GraphKeys.UPDATE_OPS", "rewrite", "a list"),
            ("of a new name", "tf.FIFOQueue.enqueue", "rewrite", "tf.data"),
            ("a state", "tf.nn.rnn_cell.LSTMCell.zero_state", "rewrite", "a cell"),
        ]
    )
    def test_member(self, _, symbol, verdict, replacement):
        entry = catalog.lookup(symbol)
        self.assertEqual((entry.symbol, entry.verdict), (symbol, verdict))
        self.assertTrue(entry.replacement.startswith(replacement), entry)

    @parameterized.expand(
        [
            ("taken", "tf.reduce_sum", Call(1, ("axis",), False), False),
            ("renamed", "tf.reduce_sum", Call(1, ("keep_dims",), False), True),
            ("gone", "tf.nn.dropout", Call(1, ("keep_prob",), False), True),
            ("ignored", "tf.keras.layers.LSTM", Call(1, ("implementation",), 0), False),
            ("not called", "tf.reduce_sum", None, False),
            ("lr", "tf.keras.optimizers.Adam", Call(0, ("lr",), False), True),
            ("another rate", "tf.keras.optimizers.Adam", Call(1, (), False), False),
            (
                "a name first",
                "tf.keras.layers.Layer.add_weight",
                Call(2, (), False, texts=((0, "w"),)),
                True,
            ),
            (
                "a shape first",
                "tf.keras.layers.Layer.add_weight",
                Call(1, ("name",), False, texts=(("name", "w"),)),
                False,
            ),
        ]
    )
    def test_rejects(self, _, symbol, call, rejected):
        self.assertEqual(catalog.rejects(symbol, call), rejected)

    @parameterized.expand(
        [
            (
                "one object",
                "tf.contrib.tpu.TPUEstimator",
                "tf.estimator.tpu.TPUEstimator",
            ),
            ("a facade", "tf.contrib.rnn.LSTMCell", "tf.nn.rnn_cell.LSTMCell"),
            (
                "slim",
                "tf.contrib.slim.l2_regularizer",
                "tf.contrib.layers.l2_regularizer",
            ),
        ]
    )
    def test_one_object_has_one_judgement(self, _, one, other):
        entries = [catalog.lookup(symbol) for symbol in (one, other)]
        self.assertEqual(*((e.verdict, e.replacement, e.what) for e in entries))


AUDIO = "tf.contrib.framework.python.ops.audio_ops"
LEARN = "tf.contrib.learn.python.learn"


class OwnSentenceTest(unittest.TestCase):
    """Names that the sentence of their module does not fit."""

    @parameterized.expand(
        [
            ("a spectrogram", f"{AUDIO}.audio_spectrogram", "tf.raw_ops.AudioSpectro"),
            ("cepstra", f"{AUDIO}.mfcc", "tf.raw_ops.Mfcc(spectrogram="),
            ("a WAV file read", f"{AUDIO}.decode_wav", "tf.audio.decode_wav"),
            ("a WAV file written", f"{AUDIO}.encode_wav", "tf.audio.encode_wav"),
            ("another op of audio", f"{AUDIO}.any_op", "tf.audio for WAV files"),
            (
                "an op that was never public",
                "tf.python.ops.gen_audio_ops.mfcc",
                "tf.raw_ops.Mfcc(",
            ),
            ("a kernel", "tf.python.ops.gen_nn_ops.relu_grad", "is tf.raw_ops"),
            (
                "four gathers",
                "tf.contrib.resampler.python.ops.resampler_ops.resampler",
                "four gathers",
            ),
            ("bytes now", "tf.contrib.memory_stats.BytesInUse", '["current"]'),
            ("most bytes", "tf.contrib.memory_stats.MaxBytesInUse", '["peak"]'),
            ("no more bytes", "tf.contrib.memory_stats.BytesLimit", "memory_limit="),
            ("a name of ops", "tf.op_scope", "tf.name_scope(name or default_name)"),
            ("a scope of variables", "tf.variable_op_scope", "a tf.Module, called"),
            (
                "factors",
                "tf.contrib.factorization.WALSMatrixFactorization",
                "tf.linalg.solve for the rows",
            ),
            (
                "a mixture",
                "tf.contrib.factorization.python.ops.gmm_ops.gmm",
                "sklearn.mixture.GaussianMixture",
            ),
            ("means", "tf.contrib.learn.KMeansClustering", "take contrib_framework"),
            ("prices", "tf.contrib.learn.datasets.load_boston", "np.loadtxt(path"),
            ("digits", f"{LEARN}.datasets.mnist.load_mnist", "mnist.load_data()"),
            ("digits' labels", f"{LEARN}.datasets.mnist.extract_labels", "offset=8"),
            (
                "the tutorials' digits",
                "tf.examples.tutorials.mnist.input_data.read_data_sets",
                "tf.keras.datasets.mnist.load_data()",
            ),
            (
                "a network that is another one",
                "tf.contrib.slim.nets.resnet_v1.resnet_v1_101",
                "from tf_slim.nets import resnet_v1",
            ),
            ("whitened", "tf.image.per_image_whitening", "per_image_standardization"),
            ("batches", "tf.batch_fft2d", "tf.signal.fft2d"),
            ("batches of matrices", "tf.batch_matrix_set_diag", "tf.linalg.set_diag"),
            ("lists", "tf.list_diff", "tf.raw_ops.ListDiff"),
            ("both ways", "tf.nn.bidirectional_rnn", "unroll_both_ways_in_python"),
            ("of seq2seq", "tf.nn.seq2seq.rnn_decoder", "legacy_seq2seq.rnn_decoder"),
            ("of an array", "tf.TensorArray.pack", ".stack()"),
            (
                "components",
                "tf.contrib.image.connected_components",
                "scipy.ndimage.label",
            ),
            ("maps", "tf.contrib.rnn.Conv2DLSTMCell", "take recurrences.ConvLSTMCell"),
            (
                "a deep cell",
                "tf.contrib.rnn.python.ops.rnn_cell.UGRNNCell",
                "take rnn.UGRNNCell",
            ),
            ("replicas", "tf.contrib.tpu.cross_replica_sum", 'all_reduce("SUM", x)'),
            ("a product", "tf.nn.rnn_cell._linear", "tf.concat(args, 1), kernel)"),
            (
                "a product of 1.0",
                "tf.contrib.rnn.python.ops.core_rnn_cell_impl._linear",
                "tf.concat(args, 1), kernel)",
            ),
            (
                "a private product",
                "tf.python.ops.rnn_cell_impl._linear",
                "tf.concat(args, 1), kernel)",
            ),
            ("a library", "tf.load_op_library", "tf.sysconfig.get_compile_flags()"),
            ("any library", "tf.load_library", "tf.sysconfig.get_link_flags()"),
            (
                "a library of contrib",
                "tf.contrib.util.loader.load_op_library",
                "tf.sysconfig.get_link_flags()",
            ),
            ("a sparse argument", "tf.sparse_placeholder", "tf.SparseTensorSpec(["),
            ("by its other name", "tf.sparse.placeholder", "tf.SparseTensorSpec(["),
            ("its signature", "tf.SparseTensorSpec", "input_signature=["),
            ("no static shape", "tf.numpy_function", "tf.ensure_shape(y, shape)"),
            ("no static shape then", "tf.py_func", "tf.ensure_shape(y, shape)"),
            (
                "a softplus",
                "tf.contrib.nn.scaled_softplus",
                "alpha * tf.nn.softplus(x / alpha)",
            ),
            (
                "another package",
                "tf.contrib.distributions.Chi2WithAbsDf",
                "tfp.distributions.Chi2(tf.floor(tf.abs(df)))",
            ),
            ("axes", "tf.contrib.labeled_tensor.reduce_sum", "tf.reduce_sum(x, axis)"),
            ("a head", "tf.contrib.learn.binary_svm_head", "signs * logits"),
            ("a metric", "tf.contrib.metrics.cohen_kappa", "take metrics.CohenKappa"),
            ("a mode", "tf.estimator.ModeKeys.PREDICT", "becomes 'infer'"),
            ("what is served", "tf.estimator.export.PredictOutput", "saved_model.save"),
            (
                "an input function",
                "tf.estimator.inputs.pandas_input_fn",
                "from_tensor_slices",
            ),
            (
                "another compression",
                "tf.python_io.TFRecordCompressionType.ZLIB",
                'compression_type="ZLIB"',
            ),
            (
                "no compression",
                "tf.io.TFRecordCompressionType.NONE",
                'compression_type=""',
            ),
            (
                "a constant",
                "tf.examples.tutorials.mnist.mnist.NUM_CLASSES",
                "becomes 10",
            ),
            (
                "a writer is no reader",
                "tf.python.pywrap_tensorflow.EventsWriter",
                "tf.summary.create_file_writer",
            ),
            ("a table", "tf.tables_initializer", "a table has its entries"),
        ]
    )
    def test_it_says(self, _, symbol, text):
        self.assertIn(text, catalog.lookup(symbol).message)

    @parameterized.expand(
        [
            ("factors are no clusters", "tf.contrib.factorization.WALSModel", ""),
            ("a mixture is no k-means", "tf.contrib.factorization.GMM", ""),
            ("memory", "tf.contrib.memory_stats.BytesInUse", ""),
            ("means", "tf.contrib.factorization.KMeans", "contrib_framework.cluster"),
            ("a name of ops", "tf.op_scope", "scopes.op_names"),
            ("a product", "tf.nn.rnn_cell._linear", "contrib_cells.make_minimal"),
            ("whitened", "tf.image.per_image_whitening", "images.standardize"),
            (
                "of seq2seq",
                "tf.nn.seq2seq.sequence_loss",
                "legacy_seq2seq.sequence_loss",
            ),
            (
                "events",
                "tf.python.pywrap_tensorflow.EventsWriter",
                "summaries.by_hand",
            ),
        ]
    )
    def test_it_leads(self, _, symbol, pair):
        self.assertEqual(catalog.lookup(symbol).pair, pair)

    @parameterized.expand(
        [
            ("a key", "tf.GraphKeys.MODEL_VARIABLES"),
            ("a method", "tf.InteractiveSession.run"),
            ("a class in a class", "tf.Summary.Audio"),
            ("of a cell", "tf.contrib.rnn.GRUCell.zero_state"),
            ("of contrib", "tf.contrib.learn.ModeKeys.INFER"),
        ]
    )
    def test_a_member_says_it_once(self, _, symbol):
        entry = catalog.lookup(symbol)
        self.assertEqual(entry.message, f"{symbol} becomes {entry.replacement}")

    def test_a_library_is_a_finding(self):
        self.assertEqual(catalog.lookup("tf.load_op_library").verdict, "changed")


class ArgumentsTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("equal", "(x, axis=None)", "(x, axis=None)", []),
            ("more", "(x)", "(x, y=None, **kwargs)", []),
            ("unknown", "", "(x)", []),
            ("numbers", "(x, a=0)", "(x, a=0.0)", []),
            ("False for None", "(x, a=None)", "(x, a=False)", []),
            ("a name of a node", "(x, name=None)", "(x, name='X')", []),
            ("in all directions", "(x, s=(2, 2))", "(x, s=2)", []),
            ("sentinel", "(_s=None, y=None, z=None)", "(y, z)", []),
            ("default", "(x, a='b')", "(x, a='c')", ["a was b, is c"]),
            ("gone", "(x, *, a=1)", "(x)", ["the argument a is gone"]),
            ("taken by **", "(x, *, a=1)", "(x, **kwargs)", []),
            (
                "known by another name",
                "(x, *, dim=1)",
                "(x, *, axis=1)",
                ["write axis= in place of dim="],
            ),
            ("by its place", "(oldpath)", "(src)", ["write src= in place of oldpath="]),
            ("required", "(x=2)", "(x)", ["x must be given: its default was 2"]),
            ("new", "(x)", "(x, *, y)", ["y must be given"]),
            ("moved", "(a, b)", "(b, a)", ["argument 1 was a and is b"]),
            (
                "commas",
                "(a=(1, 2), b='x,y')",
                "(a=(1, 3), b='x,y')",
                ["a was (1, 2), is (1, 3)"],
            ),
        ]
    )
    def test_differences(self, _, before, now, texts):
        found = signatures.differences(before, now)
        self.assertEqual([difference.told() for difference in found], texts)

    @parameterized.expand(
        [
            ("a default left out", Call(1, (), False), ["a was 1, is 2"]),
            ("a default by place", Call(2, (), False), []),
            ("a default by name", Call(1, ("a",), False), []),
            ("gone", Call(2, ("b",), False), ["the argument b is gone"]),
            ("mentioned", None, ["a was 1, is 2"]),
            (
                "by place",
                Call(3, (), False),
                ["argument 3 was b and does not exist now"],
            ),
        ]
    )
    def test_felt(self, _, call, texts):
        found = signatures.felt(call, "(x, a=1, b=2)", "(x, a=2)")
        self.assertEqual([difference.told() for difference in found], texts)


class SurveyTest(unittest.TestCase):
    """What make upkeep makes of three walks."""

    def test_tables(self):
        names = {
            "tf.f": ("func", 0, "(x, a=1)", "same", "(x, a=2)"),
            "tf.math.f": ("func", 0, "(x, a=1)", "gone", ""),
            "tf.C": ("class", 1, "()", "differs", "()"),
        }
        found = {
            "names": {
                symbol: {
                    "kind": kind,
                    "object": one,
                    "signature": text,
                    "deprecated": "",
                    "class": "m.C" if kind == "class" else "",
                }
                for symbol, (kind, one, text, *_) in names.items()
            },
            "modules": {"tf.math": 7},
            "classes": {
                "m.C": {
                    "path": "m.C",
                    "mro": ["m.B"],
                    "own": {"run": ["method", "()"]},
                },
                "m.B": {"path": "m.B", "mro": [], "own": {"old": ["method", "(x)"]}},
            },
            "privates": {"tensorflow.python.f": "tf.f"},
        }
        now = {
            "names": {
                symbol: {"today": today, "signature": text, "home": "tensorflow"}
                for symbol, (*_, today, text) in names.items()
            },
            "modules": {"tf.math": True},
            "members": {"m.C": {"at": "tf.C", "members": {"run": [True, "(y)"]}}},
        }
        tables = survey.tables(found, now, now)
        self.assertEqual(
            tables["names.tsv"].splitlines()[1:],
            [
                "tf.C\tclass\t\t()\tdiffers\t\t\t",
                "tf.f\tfunc\t\t(x, a=1)\tsame\t(x, a=2)\t\t",
                "tf.math\tmodule\t\t\tsame\t\t\t",
                "tf.math.f\tfunc\ttf.f\t(x, a=1)\ttf.f\t(x, a=2)\t\t",
            ],
        )
        self.assertEqual(
            tables["members.tsv"].splitlines()[1:],
            [
                "m.B\t\tclass\t\t\t\t",
                "m.B\told\tmethod\t(x)\tgone\t\t",
                "tf.C\t\tclass\tm.B\ttf.C\t\t",
                "tf.C\trun\tmethod\t()\tsame\t(y)\t",
            ],
        )

    @parameterized.expand(
        [
            (
                "a function",
                lambda x, *a, b=tf.float32, **k: 0,
                "(x, *a, b=tf.float32, **k)",
            ),
            ("by name only", lambda x, *, b=(1,): 0, "(x, *, b=(1,))"),
            ("a function as default", lambda f=len: 0, "(f=len)"),
            ("an object as default", lambda f=ABSENT: 0, "(f=object())"),
            ("a class", tf.Module, "(name=None)"),
            ("no function", 3, ""),
        ]
    )
    def test_signature(self, _, thing, text):
        self.assertEqual(api_walk.signature(thing), text)


class ExplainTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("short", "tf.control_dependencies"),
            ("long", "tensorflow.control_dependencies"),
            ("compat", "tf.compat.v1.control_dependencies"),
            ("bare", "control_dependencies"),
        ]
    )
    def test_it_shows_verdict_proof_and_both_sides(self, _, symbol):
        status, out, _ = command("explain", symbol)
        self.assertEqual(status, 0)
        self.assertIn("tf.control_dependencies: changed", out)
        self.assertIn("execution_order.ordered_sum: identical on 1.15.5", out)
        self.assertIn("v1_graph/execution_order.py", out)

    def test_a_typo_gets_a_suggestion(self):
        status, out, err = command("explain", "tf.plceholder")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("did you mean tf.placeholder", err)
        self.assertEqual(err.count("\n"), 1)
