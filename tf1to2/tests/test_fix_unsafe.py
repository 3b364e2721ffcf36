"""`tf1to2 fix --unsafe`: what it writes, where it marks it, and that it is proven.

The rest of a port is a person's, so each template is a probe whose new call holds what
`fix` writes, letter by letter; test_probes.py runs the probes.
"""

import ast
import inspect
import json
import re
import shlex
import subprocess
import sys

import tensorflow as tf
from parameterized import parameterized

from tf1to2 import cli
from tf1to2.catalog import entries, facts
from tf1to2.fix import statements, unsafe
from tf1to2.probes import probes
from tf1to2.scan import findings
from tf1to2.source.names import records
from tf1to2.tests.test_fix import TF, FixCase
from tf1to2.tests.test_structure import ROOT
from tf1to2.view import take
from v2_eager.numerics import metrics, optimizers

MARK = re.compile(r"  # TODO\(tf1to2: ([\w.]+)\)")
# No number to compare, or another one, as its pair shows.
ELSEWHERE = {
    "tf.summary.histogram": "summaries.histogram",
    "tf.summary.image": "summaries.of_tensorboard",
    "tf.summary.audio": "summaries.of_tensorboard",
    "tf.summary.text": "summaries.of_tensorboard",
    "tf.summary.FileWriter": "summaries.train",
    "tf.tables_initializer": "feature_columns.look_up",
}


def templates():
    """The name of every template."""
    of_metrics = (f"tf.metrics.{name}" for name in unsafe.METRICS)
    one_shot = f"tf.data.{statements.ONE_SHOT}"
    return sorted({*unsafe.CALLS, *of_metrics, *statements.INITIALIZERS, one_shot})


class UnsafeTest(FixCase):
    def written(self, text, **options):
        """What becomes of lines in a file of TensorFlow 1; and once more: nothing."""
        new = self.fixed(TF + text, unsafe=True, **options)
        ast.parse(new)
        self.assertEqual(self.fixed(new, unsafe=True, **options), new)
        return new.partition(TF)[2]

    @parameterized.expand(
        [
            (
                "tf.train.MomentumOptimizer(lr, 0.9)",
                "Momentum(lr, 0.9)",
                "optimizers.fit",
            ),
            (
                "tf.train.AdamOptimizer(**options)",
                "Adam(**options)",
                "optimizers.fit",
            ),
            (
                "tf.contrib.layers.l2_regularizer(a or b)",
                "tf.keras.regularizers.L2(0.5 * (a or b))",
                "regularization.contrib_penalties",
            ),
            (
                "tf.contrib.slim.l2_regularizer(0.1)",
                "tf.keras.regularizers.L2(0.5 * 0.1)",
                "regularization.contrib_penalties",
            ),
            (
                "tf.contrib.layers.l1_l2_regularizer(scale_l2=d)",
                "tf.keras.regularizers.L1L2(l2=0.5 * d, l1=1.0)",
                "regularization.contrib_penalties",
            ),
            (
                "sess.run(tf.global_variables_initializer())",
                "pass",
                "variables.create",
            ),
            (
                "s.run([tf.global_variables_initializer(), tf.tables_initializer()])",
                "pass",
                "variables.create",
            ),
            ("tf.global_variables_initializer().run()", "pass", "variables.create"),
            ("e = d.make_one_shot_iterator().get_next()", "e = next(iter(d))", None),
            (
                "e = tf.data.make_one_shot_iterator(d).get_next()",
                "e = next(iter(d))",
                None,
            ),
            (
                "tf.summary.scalar('a', tensor=tf.log(x))",
                "tf.summary.scalar('a', data=tf.math.log(x), "
                "step=tf.summary.experimental.get_step())",
                "summaries.train",
            ),
            (
                "tf.summary.image('a', tf.log(x), 5)",
                "tf.summary.image('a', tf.math.log(x), max_outputs=5, "
                "step=tf.summary.experimental.get_step())",
                "summaries.train",
            ),
            (
                "w = tf.summary.FileWriter(folder, sess.graph)",
                "w = tf.summary.create_file_writer(folder)",
                "summaries.train",
            ),
            (
                "tf.train.polynomial_decay(r, tf.train.get_global_step(), 9, cycle=c)",
                "tf.keras.optimizers.schedules.PolynomialDecay(r, decay_steps=9, "
                "cycle=c)",
                "learning_rates.polynomial_decay",
            ),
            (
                "x = tf.placeholder(tf.int32, name='x')",
                "x = tf.TensorSpec(dtype=tf.int32, name='x', shape=None)",
                "basics.fed_batches",
            ),
            (
                "v, u = tf.metrics.mean(tf.to_float(x), w, name='m')",
                "v = Mean()\nu = v.update_state(tf.cast(x, tf.float32), w)",
                "metrics.averages",
            ),
            (
                "v, u = tf.metrics.mean_iou(y, p, num_classes=3)",
                "v = MeanIoU(num_classes=3)\nu = v.update_state(y, p)",
                "metrics.classes",
            ),
        ]
    )
    def test_written(self, old, new, pair):
        pair = pair or "data.one_shot"
        self.assertEqual(self.written(old + "\n"), f"{new}  # TODO(tf1to2: {pair})\n")
        symbols = {f.entry.symbol for f in findings.scan(["."]).findings}
        self.assertFalse(symbols & set(templates()))

    @parameterized.expand(
        [
            ("a class for something else", "f(tf.train.AdamOptimizer)"),
            ("a class to inherit from", "class A(tf.train.AdamOptimizer): pass"),
            ("arguments that nobody knows", "tf.contrib.layers.l2_regularizer(*a)"),
            ("an initializer beside others", "sess.run([init, x])"),
            (
                "an initializer that is kept",
                "self.init = f(tf.global_variables_initializer())",
            ),
            (
                "its name is somebody else's, too",
                "init = tf.global_variables_initializer()\nsess.run(init)\nf(init)",
            ),
            ("a family", "tf.summary.scalar('a', x, family='f')"),
            ("a metric that is no pair of names", "m = tf.metrics.mean(x)"),
            ("a metric in a line of several", "a = 1; v, u = tf.metrics.mean(x)"),
            ("a collection", "v, u = tf.metrics.mean(x, updates_collections=c)"),
            ("in a function", "def f():\n    x = tf.placeholder(tf.int32)"),
            ("an argument", "f(tf.placeholder(tf.int32))"),
            ("initialized by a feed", "d.make_initializable_iterator()"),
            ("what a comment ignores", "tf.train.AdamOptimizer()  # tf1to2: ignore"),
        ]
    )
    def test_left(self, _, text):
        self.assertEqual(self.written(text + "\n"), text + "\n")

    def test_only_when_it_is_asked_for(self):
        text = TF + "tf.train.AdamOptimizer()\n"
        self.assertEqual(self.fixed(text), text)

    def test_an_initializer_and_its_run(self):
        several = "tf.local_variables_initializer(), tf.tables_initializer()"
        text = f"init = tf.group({several})\nwith tf.Session() as s: s.run(init)\n"
        marked = "pass  # TODO(tf1to2: variables.create)\n"
        self.assertEqual(
            self.written(text), f"{marked}with tf.Session() as s: {marked}"
        )

    def test_an_iterator_and_its_elements(self):
        text = "it = d.make_one_shot_iterator()\na, b = it.get_next()\n"
        mark = "  # TODO(tf1to2: data.one_shot)\n"
        self.assertEqual(self.written(text), f"it = iter(d){mark}a, b = next(it){mark}")

    @parameterized.expand(
        [
            ("behind a comment", "A  # why\n", "B  # why#\n"),
            ("not in a string", "a = '''\n''' + str(A) + '''\n'''\n", None),
            ("not before a line goes on", "a = 1 + \\\n  A + \\\n 1\n", None),
            ("in brackets", "f(A,\n  1)\n", "f(B,#\n  1)\n"),
            ("no last line end", "A", "B#"),
            ("two of one pair", "f(A, A)\n", "f(B, B)#\n"),
        ]
    )
    def test_where_the_mark_stands(self, _, old, new):
        call = "tf.train.AdamOptimizer()"
        text = self.written(old.replace("A", call))
        self.assertEqual(MARK.findall(text), ["optimizers.fit"])
        if new:
            new = new.replace("B", "Adam()")
            self.assertEqual(MARK.sub("#", text), new)

    def test_a_mark_never_swallows_code(self):
        text = "x = (d.map(f)  # so\n  .make_one_shot_iterator()\n  .get_next())\n"
        self.assertIn("next(iter(d.map(f)))", self.written(text))
        text = "r = tf.train.exponential_decay(1.0,\n  step,\n  9, 0.5)\n"
        self.assertIn("decay_rate=0.5)", self.written(text))

    def test_names_that_are_taken(self):
        text = "from keras import Adam\ntf.train.AdamOptimizer()\n"
        self.assertIn("\nlegacy_numerics_Adam()", self.written(text))
        self.assertIn(
            "from legacy_numerics import Adam as legacy_numerics_Adam\n",
            self.fixed(TF + text, unsafe=True),
        )

    def test_through_compat_v1_nothing_is_written(self):
        text = "import tensorflow.compat.v1 as tf\ntf.train.AdamOptimizer()\n"
        self.assertEqual(self.fixed(text, unsafe=True), text)

    def test_pairs_are_there(self):
        pairs = {row.pair for row in unsafe.CALLS.values()}
        pairs |= {f"metrics.{pair}" for *_, pair in unsafe.METRICS.values()}
        for pair in pairs:
            topic, _, name = pair.partition(".")
            page = (ROOT / "v2_eager" / f"{topic}.py").read_text("utf-8")
            self.assertIn(f'"{name}"', page)


class CommandTest(FixCase):
    TEXT = TF + "tf.log(1)\ntf.train.AdamOptimizer()\nx = tf.placeholder(tf.int32)\n"

    def test_safe_and_unsafe_are_counted_apart(self):
        self.write(self.TEXT)
        status, out, err = self.run_it("--unsafe", ".")
        self.assertEqual(status, 1)
        self.assertIn("+Adam()  # TODO(tf1to2: optimizers.fit)\n", out)
        told = "1 safe change and 2 that need a look to write in 1 file\n"
        self.assertEqual(err.partition("The new lines")[0], told)
        status, out, _ = self.run_it("--unsafe", "--check", ".")
        told = "./a.py: 1 safe change and 2 that need a look\n"
        self.assertEqual((status, out), (1, told))

    def test_rules(self):
        path = self.write(self.TEXT)
        self.run_it("--unsafe", "--select", "tf.placeholder", "--write", ".")
        self.assertEqual(len(MARK.findall(path.read_text())), 1)
        self.assertIn("tf.log(1)", path.read_text())
        self.run_it("--unsafe", "--ignore", "optimizers", "--write", ".")
        self.assertIn("tf.math.log(1)\ntf.train.Adam", path.read_text())
        self.run_it("--unsafe", "--write", ".")
        self.assertEqual(self.run_it("--unsafe", "--check", ".")[:2], (0, ""))
        self.assertEqual(findings.scan(["."]).findings, [])

    def test_not_for_1_15(self):
        self.write(self.TEXT)
        status, _, err = self.run_it("--unsafe", "--to", "1.15", ".")
        self.assertEqual(status, 2)
        self.assertIn("leave out --to 1.15", err)

    def test_a_notebook(self):
        source = ["import tensorflow as tf\n", "v, u = tf.metrics.mean(x)\n", "!ls"]
        other = "init = tf.global_variables_initializer()\nsess.run(init)"
        cells = [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell}
            for cell in (source, other)
        ]
        path = self.write(json.dumps({"cells": cells, "nbformat": 4}), "a.ipynb")
        self.assertEqual(self.run_it("--unsafe", "--write", ".")[0], 0)
        cells = [cell["source"] for cell in json.loads(path.read_text())["cells"]]
        self.assertEqual(
            cells[0],
            [
                "from legacy_numerics import Mean\n",
                "import tensorflow as tf\n",
                "v = Mean()\n",
                "u = v.update_state(x)  # TODO(tf1to2: metrics.averages)\n",
                "!ls",
            ],
        )
        mark = "pass  # TODO(tf1to2: variables.create)"
        self.assertEqual(cells[1], f"{mark}\n{mark}")
        self.assertEqual(self.run_it("--unsafe", "--check", ".")[:2], (0, ""))


class TakeTest(FixCase):
    """The command that writes what the new lines import."""

    ADAM, MEAN = "tf.train.AdamOptimizer()\n", "v, u = tf.metrics.mean(x)\n"

    def named(self, *arguments):
        """The words of the command that is named, or None."""
        _, _, err = self.run_it(*arguments)
        self.assertLessEqual(err.count("tf1to2 take"), 1)
        found = re.search(r"^  tf1to2 (take .+)\Z", err.removesuffix("\n"), re.M)
        return found and shlex.split(found[1])

    def test_none_where_nothing_is_imported(self):
        self.write(TF + "x = tf.placeholder(tf.int32)\ntf.log(1)\n")
        self.assertIsNone(self.named("--unsafe", "."))
        self.write(TF + self.ADAM)
        self.assertIsNone(self.named("."))
        self.assertIsNotNone(self.named("--unsafe", "--write", "."))
        self.assertIsNone(self.named("--unsafe", "."))

    def test_all_names_of_all_files_stand_in_it(self):
        self.write(TF + self.ADAM + self.MEAN)
        known = "from legacy_numerics import unroll, Recall as R\n"
        self.write(known + TF + "tf.Session()\n", "b.py")
        names = ["metrics.Mean", "metrics.Recall", "optimizers.Adam", "unroll"]
        for option in ("--unsafe", "--check", "--write"):
            self.assertEqual(
                self.named("--unsafe", option, "."),
                ["take", *names, "--output-file", "legacy_numerics.py"],
            )

    @parameterized.expand(
        [
            ("a folder", "a folder/net.py", "a folder", "a folder/legacy_numerics.py"),
            ("a file", "src/net.py", "src/net.py", "src/legacy_numerics.py"),
            ("a package", "src/models/net.py", "src/models", "src/legacy_numerics.py"),
        ]
    )
    def test_where_the_file_is_imported_from(self, _, file, asked, expected):
        self.write("", "src/models/__init__.py")
        self.write(TF + self.ADAM, file)
        self.assertEqual(self.named("--unsafe", asked)[-1], expected)

    def test_after_it_a_program_runs_without_this_project(self):
        program = (
            f"{TF}v = tf.Variable([1.0, 2.0])\n"
            "optimizer = tf.train.AdamOptimizer(0.1, beta1=0.5)\n"
            "optimizer.apply_gradients([(tf.constant([0.5, -3.0]), v)])\n"
            "value, update = tf.metrics.mean(v, weights=[1.0, 3.0])\n"
            "print(float(value.result()))\n"
        )
        path = self.write(program)
        self.assertEqual(cli.main(self.named("--unsafe", "--write", ".")), 0)
        blocked = "import sys, runpy; sys.modules |= {'v2_eager': None, 'tf1to2': None}"
        done = subprocess.run(
            [sys.executable, "-c", f"{blocked}; runpy.run_path({path.name!r})"],
            capture_output=True,
            text=True,
        )
        v = tf.Variable([1.0, 2.0])
        optimizers.Adam(0.1, beta1=0.5).apply_gradients([(tf.constant([0.5, -3.0]), v)])
        mean = metrics.Mean()
        mean.update_state(v, weights=[1.0, 3.0])
        self.assertEqual(done.stdout, f"{float(mean.result())}\n", done.stderr)

    def test_what_it_writes_has_every_name(self):
        text = take.taken(sorted(unsafe.TAKES.values()))
        made = {node.name for node in ast.parse(text).body if hasattr(node, "name")}
        self.assertLessEqual(set(unsafe.TAKES), made)


class ProofsTest(FixCase):
    @parameterized.expand(templates())
    def test_what_is_written_stands_in_a_probe(self, name):
        if name in ELSEWHERE:
            return
        known = [row for row in probes() if row.name in facts.aliases(name)]
        self.assertTrue(any(map(self.is_written, known)), f"no probe of {name}")

    def is_written(self, row):
        """Whether the new call holds all that becomes of the old one by `fix`."""
        text = self.fixed(TF + row.old + "\n", unsafe=True).replace(TF, "")
        lines = MARK.sub("", text).splitlines()
        changed = [line for line in lines if line not in row.old.splitlines()]
        if MARK.search(text) is None:
            return False
        new = [line.strip() for line in row.new.splitlines()]
        return all(line == "pass" or line in new for line in changed)

    def test_an_optimizer_and_a_metric_take_what_they_took(self):
        for name, row in unsafe.CALLS.items():
            if row.target.startswith(f"{unsafe.TAKEN}."):
                made = getattr(optimizers, row.target.rpartition(".")[2])
                now = list(inspect.signature(made).parameters.values())
                then = facts.fact(name).signature[1:-1].split(", ")
                self.assertEqual(list(map(str, now))[: len(then)], then)
        for name, (made, options, _) in unsafe.METRICS.items():
            now = inspect.signature(getattr(metrics, made)).parameters
            self.assertLessEqual(set(options), set(now), name)

    def test_a_call_with_an_argument_of_today_is_no_finding(self):
        call = records.Call(2, ("step",), False)
        self.assertEqual(entries.judge("tf.summary.scalar", call).verdict, "same")
        call = records.Call(2, ("collections",), False)
        self.assertEqual(entries.judge("tf.summary.scalar", call).verdict, "rewrite")
