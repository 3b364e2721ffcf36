"""Every name of TensorFlow 1.15 has its verdict, and the verdicts are true here."""

import contextlib
import io
import re
import subprocess
import sys
import unittest

import tensorflow as tf
from parameterized import parameterized

from tf1to2 import cli, topics
from tf1to2.scan import catalog, survey
from tf1to2.scan.names import Call


class CatalogTest(unittest.TestCase):
    def test_every_name_of_1_15_is_there(self):
        rows = survey.rows()
        contrib = [row for row in rows if row["symbol"].startswith("tf.contrib.")]
        self.assertEqual((len(rows) - len(contrib), len(contrib)), (2781, 3779))

    def test_every_name_is_decided_on_purpose(self):
        exact, _ = catalog._verdicts()
        for row in survey.rows():
            entry = catalog.lookup(row["symbol"])
            self.assertIn(entry.verdict, catalog.VERDICTS)
            if row["today"] in ("differs", "v1", "gone") and row["symbol"] not in exact:
                self.assertIsNotNone(
                    catalog._under(row["symbol"], ""), f"{row['symbol']} is undecided"
                )

    def test_what_differs_is_explained(self):
        for symbol in catalog.symbols():
            entry = catalog.lookup(symbol)
            if entry.verdict in ("changed", "removed"):
                self.assertTrue(entry.what or entry.replacement, symbol)
            if entry.verdict in ("renamed",):
                self.assertTrue(entry.replacement, symbol)

    def test_same_is_the_same_object_here(self):
        exact, _ = catalog._verdicts()
        for row in survey.rows():
            if row["today"] == "same" and row["symbol"] not in exact:
                new = survey._get(tf, row["symbol"])
                if new is None:  # newer than the TensorFlow that is installed
                    self.assertNotIn(tf.__version__[:4], ("2.21",), row["symbol"])

    def test_renamed_names_exist_here(self):
        for row in survey.rows():
            if row["today"].startswith("tf."):
                self.assertIsNotNone(survey._get(tf, row["today"]), row["symbol"])

    def test_replacements_exist_here(self):
        exact, wild = catalog._verdicts()
        for symbol, (_, replacement, *_) in [*exact.items(), *wild.items()]:
            for name in replacement.split(", "):
                if re.fullmatch(r"tf(\.\w+)+", name):
                    self.assertIsNotNone(survey._get(tf, name), f"{symbol}: {name}")

    def test_every_pair_exists(self):
        known = topics.topics()
        for symbol in catalog.symbols():
            topic, _, pair = catalog.lookup(symbol).pair.partition(".")
            if topic:
                self.assertIn(pair or None, (*known[topic].pairs, None), symbol)

    def test_verdicts_name_what_there_is(self):
        exact, wild = catalog._verdicts()
        deeper = ("tf.contrib.", "tf.examples", ".", "tensorflow.")
        self.assertEqual(
            [
                p
                for p in wild
                if not p.startswith(deeper) and p not in catalog._modules()
            ],
            [],
        )

    def test_importing_it_starts_nothing(self):
        code = (
            "import sys; from tf1to2.scan import catalog; catalog.lookup('tf.log'); "
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
                "it takes the name alone, and no None: "
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


class ExplainTest(unittest.TestCase):
    def run_it(self, symbol):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.main(["explain", symbol])
        return status, out.getvalue(), err.getvalue()

    @parameterized.expand(
        [
            ("short", "tf.control_dependencies"),
            ("long", "tensorflow.control_dependencies"),
            ("compat", "tf.compat.v1.control_dependencies"),
            ("bare", "control_dependencies"),
        ]
    )
    def test_it_shows_verdict_proof_and_both_sides(self, _, symbol):
        status, out, _ = self.run_it(symbol)
        self.assertEqual(status, 0)
        self.assertIn("tf.control_dependencies: changed", out)
        self.assertIn("execution_order.ordered_sum: identical on 1.15.5", out)
        self.assertIn("v1_graph/execution_order.py", out)

    def test_a_typo_gets_a_suggestion(self):
        status, out, err = self.run_it("tf.plceholder")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("did you mean tf.placeholder", err)
        self.assertEqual(err.count("\n"), 1)
