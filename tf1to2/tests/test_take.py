import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import numpy as np
import pytest
from parameterized import parameterized

from tf1to2.pages import library, sides, topics
from tf1to2.pages.definitions import Edition, Import, needed
from tf1to2.tests.commands import Folder, command
from tf1to2.view import take

FILES = {
    "edition/__init__.py": "",
    "edition/numerics/__init__.py": "",
    "edition/numerics/base.py": """
        import math
        import numpy as np

        LIMIT, FLOOR = 3, 1


        # Why it is so.
        def _step(x):
            return math.floor(x) + LIMIT


        class Base:
            def twice(self):
                return _step(_step(2.5))

            @property
            def size(self):
                return np.float32(FLOOR)

            @size.setter
            def size(self, value):
                pass
        """,
    "edition/numerics/kinds.py": '''
        from edition.numerics import base
        from .base import Base as Parent


        def _step(x):
            return base._step(x) * 100


        class Kind(Parent):
            """A kind."""

            def once(self, _scale=1):
                math = _scale  # a name of its own, not the module's
                return [_step(LIMIT) for LIMIT in (math,)]
        ''',
    "edition/page.py": """
        import edition.numerics.kinds
        from edition import numerics


        def forward(n):
            return forward(n - 1) + n if n else numerics.kinds.Kind().once()[0]


        def other():
            return edition.numerics.kinds.Kind().twice()
        """,
}


class DefinitionsTest(Folder):
    def setUp(self):
        super().setUp()
        for name, text in FILES.items():
            self.write(**{name: textwrap.dedent(text).lstrip()})
        self.edition = Edition({"edition": self.folder / "edition"})

    def definition(self, module, name):
        return self.edition.module("edition." + module).definitions[name]

    def needs(self, module, name):
        parts, imports = needed([self.definition(module, name)])
        return (
            [f"{p.module.name.partition('.')[2]}.{p.name}" for p in parts],
            [i.statement for i in imports],
        )

    def run_it(self, text, code):
        run = subprocess.run(
            [sys.executable, "-c", text + code],
            capture_output=True,
            text=True,
            cwd=self.folder / "edition",
        )
        self.assertEqual(run.stderr, "")
        return run.stdout.strip()

    def test_what_is_named_is_followed_through_modules(self):
        base = [f"numerics.base.{name}" for name in ("LIMIT", "_step", "Base")]
        kinds = [f"numerics.kinds.{name}" for name in ("_step", "Kind")]
        imports = ["import math", "import numpy as np"]
        found = [*base, *kinds, "page.forward"]
        self.assertEqual(self.needs("page", "forward"), (found, imports))
        self.assertEqual(
            self.needs("page", "other"), ([*found[:-1], "page.other"], imports)
        )

    def test_names_of_a_function_and_builtins_are_no_needs(self):
        self.assertEqual(
            self.needs("numerics.kinds", "_step"),
            (
                ["numerics.base.LIMIT", "numerics.base._step", "numerics.kinds._step"],
                ["import math"],
            ),
        )

    def test_a_comment_above_belongs_to_the_definition(self):
        text = self.definition("numerics.base", "_step").text
        self.assertTrue(text.startswith("# Why it is so.\ndef _step"))

    def test_what_comes_from_outside_is_an_import(self):
        references = self.definition("numerics.base", "_step").references
        self.assertIn(
            "import math", [x.statement for _, x in references if isinstance(x, Import)]
        )

    def test_each_name_of_an_assignment_of_several_is_kept(self):
        text = take.together([self.definition("numerics.base", "Base")])
        self.assertIn("np.float32(FLOOR)", text)

    def test_all_names_of_an_assignment_of_several_get_the_prefix(self):
        uses = "[LIMIT, FLOOR, base.LIMIT, base.FLOOR]"
        module = (
            f"from edition.numerics import base\nLIMIT, FLOOR = 7, 5\nALL = {uses}\n"
        )
        self.write(**{"edition/second.py": module})
        found = {}
        exec(take.together([self.definition("second", "ALL")]), found)
        self.assertEqual(found["ALL"], [7, 5, 3, 1])

    @parameterized.expand(
        [("one", ["forward"], "forward(3)"), ("two", ["forward", "other"], "other()")]
    )
    def test_one_file_computes_what_the_modules_compute(self, _, names, call):
        text = take.together([self.definition("page", name) for name in names])
        self.assertEqual(text.count("def _step"), 1)
        self.assertEqual(text.count("def _kinds_step"), 1)
        self.assertEqual(text.count("class Base"), 1)
        self.assertNotIn("import edition", text)
        self.assertNotIn("from edition", text)
        modules = self.run_it(
            f"import sys; sys.path.insert(0, {str(self.folder)!r})\n",
            f"from edition.page import *; print({call})",
        )
        self.assertEqual(self.run_it(text, f"print({call})"), modules)

    def test_modules_in_a_circle_are_refused(self):
        path = self.folder / "edition" / "numerics" / "base.py"
        path.write_text(
            "from edition.numerics import kinds\n\n\ndef _step(x):\n"
            "    return kinds._step(x)\n\n\nclass Base:\n    pass\n\n\nLIMIT = 1\n"
        )
        with self.assertRaisesRegex(ValueError, "import from one another: .*kinds"):
            needed([self.definition("page", "forward")])


class FilesTest(Folder):
    def setUp(self):
        super().setUp()
        self.old = self.write(
            o="import helpers\n\n\ndef logits(x):\n    return helpers.scale(x)\n"
        )
        scaled = "def scaled(x):\n    return x\n\n\n"
        self.new = self.write(n=f"{scaled}def compute(x):\n    return scaled(x)\n")
        self.write(helpers="def scale(x):\n    return x\n")

    def test_names_that_differ_stand_beside_each_other_with_what_they_need(self):
        status, out, err = command("diff", self.old, self.new, "logits=compute")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"def logits\(x\): +\| def compute\(x\):")
        self.assertRegex(out, r"def scale\(x\): +<")
        self.assertRegex(out, r"> def scaled\(x\):")

    @parameterized.expand(
        [
            ("nothing_in_common", [], "define no name in common: add OLD=NEW to the"),
            ("a_typo", ["logit=compute"], "defines no logit; did you mean logits"),
        ]
    )
    def test_what_cannot_be_shown_is_one_line(self, _, names, message):
        status, out, err = command("diff", self.old, self.new, *names)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(message, err)

    @parameterized.expand(
        [
            ("missing", "gone.py", "No such file"),
            ("no_python", "bad.py", "not valid Python 3"),
        ]
    )
    def test_a_bad_file_is_one_line(self, _, name, message):
        self.write(bad="print 'x'\n")
        status, out, err = command("diff", self.folder / name, self.new)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(message, err)


class TakeTest(unittest.TestCase):
    def test_the_list_has_every_pair_and_a_line_on_each(self):
        status, out, _ = command("take", "--list")
        self.assertEqual(status, 0)
        for name, definition in take.available().items():
            with self.subTest(name=name):
                self.assertIn(name, out)
                self.assertTrue(definition.first_line.endswith("."))

    def test_everything_together_is_whole(self):
        # Undefined names, names defined twice, imports that nobody needs.
        text = take.taken(list(take.available()))
        run = subprocess.run(
            [sys.executable, "-m", "ruff", "check", "--isolated", "--select=F,E9", "-"],
            input=text,
            capture_output=True,
            text=True,
        )
        self.assertEqual(run.returncode, 0, run.stdout)
        for own in ("tf1to2", "v2_eager", "v1_graph"):
            self.assertNotRegex(text, rf"(?m)^(import|from) {own}")

    def test_a_typo_gets_a_suggestion(self):
        status, out, err = command("take", "scopes.make_siames")
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("did you mean scopes.make_siamese", err)

    def test_a_last_part_is_enough(self):
        status, out, err = command("take", "lstm_to_keras")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, command("take", "rnn.lstm_to_keras").out)
        names = {}
        exec(out, names)
        kernel, bias = np.arange(32.0).reshape(4, 8), np.arange(8.0)
        _, recurrent, biases = names["lstm_to_keras"](kernel, bias)
        self.assertEqual(recurrent[0].tolist(), [16, 17, 20, 21, 18, 19, 22, 23])
        self.assertEqual(biases.tolist(), [0, 1, 5, 6, 2, 3, 6, 7])

    def test_a_last_part_of_several_is_refused(self):
        status, out, err = command("take", "fit_embedding")
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        both = "optimizers.fit_embedding or keras.optimizers.fit_embedding"
        self.assertIn(f" or {both}: give one of these", err)

    def test_what_the_guide_says_of_a_page_can_be_taken(self):
        """Names that a Keras page needs come along, from both pages."""
        status, out, _ = command("take", "keras.rnn.make_gru")
        self.assertEqual(status, 0)
        self.assertIn("layers.GRU, reset_after=False", out)
        self.assertNotRegex(out, r"(?m)^(import|from) (v2_|tf1to2)")

    def test_the_modules_of_a_page_that_is_a_package_are_the_page(self):
        for name, module in [
            ("attention.BahdanauAttention", "mechanisms"),
            ("attention.make_luong", "__init__"),
            ("seq2seq.dynamic_decode", "decoding"),
        ]:
            with self.subTest(name=name):
                path = take.available()[name].module.path
                folder = name.partition(".")[0]
                self.assertEqual(path.parts[-2:], (folder, f"{module}.py"))
        status, out, _ = command("take", "BahdanauAttention")
        self.assertEqual(status, 0)
        self.assertIn("class BahdanauAttention(Attention):", out)
        self.assertNotRegex(out, r"(?m)^(import|from) (v2_|tf1to2)")

    @parameterized.expand(
        [
            ("a_dict_by_its_whole_name", ["keras_optimizers.ROWS_SUMMED"]),
            ("a_dict_by_its_last_part", ["ROWS_SUMMED"]),
            ("beside_a_function", ["keras_optimizers.legacy", "ROWS_SUMMED"]),
        ]
    )
    def test_what_a_page_assigns_can_be_taken(self, _, names):
        status, out, err = command("take", *names)
        self.assertEqual((status, err), (0, ""))
        self.assertNotRegex(out, r"(?m)^(import|from) (v2_|tf1to2)")
        program = (
            f"{out}\nprint(ROWS_SUMMED['Adam'](0.5).get_config()['learning_rate'])"
        )
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        self.assertEqual(run.stdout, "0.5\n")

    def test_what_a_page_assigns_is_not_listed(self):
        self.assertIn(
            "optimizers.SLOTS", {n.removeprefix("keras.") for n in take.assigned()}
        )
        self.assertNotIn("keras_optimizers.ROWS_SUMMED", take.available())
        self.assertFalse(set(take.assigned()) & set(take.available()))

    @parameterized.expand(
        [
            ("a_typo", "keras_optimizers.ROWS_SUMED", "keras_optimizers.ROWS_SUMMED"),
            ("of_several_pages", "OPTIMIZERS", "give one of these"),
            ("a_private_name", "keras_optimizers.__all__", "take has no name"),
        ]
    )
    def test_what_is_assigned_and_cannot_be_taken(self, _, name, message):
        status, out, err = command("take", name)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn(message, err)

    def test_what_is_of_numerics_has_one_name(self):
        definitions = list(take.available().values())
        self.assertEqual(len(set(definitions)), len(definitions))

    def test_what_the_guides_take_is_there(self):
        texts = topics.document("README.md").read_text("utf-8")
        for path in topics.document("guide").glob("*.md"):
            texts += path.read_text("utf-8")
        commands = re.findall(r"tf1to2 take ((?:[\w.]+ ?)+)", texts)
        self.assertGreater(len(commands), 8)
        for names in commands:
            with self.subTest(names=names):
                self.assertTrue(take.taken(names.split()))

    def test_no_name_leads_to_the_list(self):
        status, _, err = command("take")
        self.assertEqual(status, 2)
        self.assertIn("tf1to2 take --list", err)


# The pages find `numerics` in the file that was taken, and its own files nowhere.
PLACED = """
import sys, types
from tf1to2.parity import providers, settings
settings.apply()
sys.path.insert(0, {folder!r})
import taken, v2_eager
package = types.ModuleType("v2_eager.numerics")
sys.modules[package.__name__] = v2_eager.numerics = package
for stem in {stems}:
    module = types.ModuleType(package.__name__ + "." + stem)
    module.__getattr__ = lambda name: getattr(taken, name)
    sys.modules[module.__name__] = module
    setattr(package, stem, module)
proofs = providers.provider("parity_tests")
compared = 0
for topic in {topics}:
    proof = proofs.load(topic)
    for case in proof.cases:
        for way in ("eager", "function"):
            if way in case.ways:
                tallies = proof.prove(case, way)
                compared += sum(tally.leaves for tally in tallies.values())
files = [getattr(module, "__file__", None) or "" for module in sys.modules.values()]
print(compared, [file for file in files if "v2_eager/numerics" in file])
"""


@pytest.mark.slow
class WholeTest(unittest.TestCase):
    """All that can be taken, in a process that has nothing else."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_it(self, names, program):
        path = pathlib.Path(self.folder) / "taken.py"
        path.write_text(take.taken(names), "utf-8")
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True
        )
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        return run.stdout.strip()

    def test_everything_imports_and_needs_nothing_of_this_project(self):
        program = (
            f"import sys; sys.path[:1] = [{self.folder!r}]\n"
            "sys.modules['tf1to2'] = sys.modules['v2_eager'] = None\n"
            "import unittest.mock as mock\n"  # a package, if anybody takes it
            "sys.modules['horovod'] = sys.modules['horovod.tensorflow'] = mock.Mock()\n"
            "import taken; print(len(vars(taken)))"
        )
        out = self.run_it(list(take.available()), program)
        self.assertGreater(int(out), len(take.available()))

    def test_pairs_are_proven_with_the_file_in_place_of_the_library(self):
        names = [n for n in library.numerics() if n in take.available()]
        stems = sorted({name.partition(".")[0] for name in names})
        topics = ["averages", "losses", "optimizers", "rnn"]
        program = PLACED.format(folder=self.folder, stems=stems, topics=topics)
        compared, files = self.run_it(names, program).split(" ", 1)
        self.assertEqual(files, "[]")
        self.assertGreater(int(compared), 1000)


class NumericsTest(unittest.TestCase):
    """Names of `numerics` are known to `explain` and `diff`."""

    @parameterized.expand(
        [
            ("diff", "optimizers.Adam"),
            ("diff", "numerics.optimizers.Adam"),
            ("explain", "optimizers.Adam", "--full"),
            ("explain", "v2_eager.numerics.optimizers.Adam", "--full"),
        ]
    )
    def test_its_code_is_shown_with_all_that_it_needs_and_once(self, *words):
        status, out, err = command(*words)
        self.assertEqual((status, err), (0, ""))
        adam = library.numerics()["optimizers.Adam"]
        for part in needed([adam])[0]:
            self.assertEqual(out.count(part.text), 1, part.name)

    def test_a_pair_of_the_same_name_comes_first(self):
        _, out, _ = command("diff", "losses.log_loss")
        self.assertTrue(out.startswith("v1_graph/losses.py"))

    def test_a_name_of_tensorflow_1_leads_to_what_can_be_taken(self):
        _, out, _ = command("explain", "tf.train.AdamOptimizer")
        self.assertIn(
            "\n  tf1to2 take optimizers.Adam --output-file legacy_numerics.py\n", out
        )

    @parameterized.expand([("diff", "rnn.GRUCel"), ("explain", "rnn.GRUCel")])
    def test_a_typo_gets_a_suggestion(self, word, name):
        status, out, err = command(word, name)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1))
        self.assertIn("rnn.GRUCell", err)


class SidesTest(unittest.TestCase):
    def test_each_definition_that_a_pair_needs_stands_once(self):
        for name, topic in topics.topics().items():
            shown = sides.of_topic(topic)
            for pair in topic.pairs:
                with self.subTest(pair=f"{name}.{pair}"):
                    for side, column in zip(shown.pair(pair), zip(*shown.parts(pair))):
                        parts = [part for part in column if part]
                        self.assertEqual(set(parts), set(needed([side])[0]))
                        self.assertEqual(len(parts), len(set(parts)))
