"""`tf1to2 record` asks for what has changed, and keeps the seeds that a port needs."""

import json
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.parity import settings
from tf1to2.parity.recordings import StaleRecording
from tf1to2.tests import ported
from tf1to2.tests.commands import command
from tf1to2.tests.ported import Folder

settings.apply()

NORMAL = {"a/Normal": [7, 5], "b/Normal": [7, 5], "c/Uniform": [7, 41]}
WIDE = {**NORMAL, "c/Uniform": [7, 62]}
LOGITS, NORM, TRAIN = "logits, any rows", "make_norm, twice", "train, three steps"


class PartsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder.of(self)
        self.asked, self.version, self.far = [], "1.15.5", {}
        self.seeds = lambda request, wide: {}
        for name, value in (
            ("tf1to2.prove.asking.ask", self.ask),
            ("tf1to2.parity.recordings.genuine_python", lambda *_: "python"),
        ):
            patch = mock.patch(name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def ask(self, python, page, requests, settings="default", apart=False):
        """Today's TensorFlow, and which functions are asked for how often."""
        self.asked += [request["name"] for request in requests]
        answers, versions = ported.asked_today(python, page, requests)
        wide = len(self.asked) == len(requests)  # the first of three times
        told = [self.seeds(request["name"], wide) for request in requests]
        told = versions.told if settings == "watched" else told
        for answer in answers:
            for path in answer.keys() & (set() if wide else self.far.keys()):
                answer[path] = answer[path] * answer[path].dtype.type(self.far[path])
        return answers, versions._replace(tensorflow=self.version, told=told)

    def record(self, *options):
        self.asked.clear()
        self.folder.forget()
        path = self.folder.path / "test_port.py"
        status, out, err = command("record", path, *options)
        self.assertEqual((status, err), (0, ""))
        return out

    def change(self, old, new, file="legacy/net"):
        path = self.folder.path / f"{file}.py"
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def stale(self):
        """The cases whose checks ask for a new recording."""
        found = set()
        for _, check in self.folder.pair().checks():
            if check.way == "eager":
                try:
                    check()
                except StaleRecording:
                    found.add(str(check.case))
                except AssertionError:  # the port does not follow
                    pass
        return found

    def test_nothing_has_changed(self):
        self.assertIn("port: recorded 3 answers of TensorFlow 1.15.5", self.record())
        self.assertIn("nothing to record: 3 answers recorded", self.record())
        self.assertEqual(self.asked, [])
        self.assertIn("recorded 3 answers", self.record("--anew"))

    def test_a_function_has_changed(self):
        self.record()
        self.change("w) - 0.5)", "w) - 0.25)")
        self.assertEqual(self.stale(), {LOGITS})
        self.assertIn(
            "recorded 1 answer of TensorFlow 1.15.5; kept 2, whose code has not",
            self.record(),
        )
        self.assertEqual(set(self.asked), {"logits"})
        self.assertEqual(self.stale(), set())

    def test_a_module_that_it_imports_has_changed(self):
        self.record()
        self.change("0.25", "0.125", "legacy/rates")
        self.assertEqual(self.stale(), {TRAIN})

    def test_another_tensorflow_answers_all(self):
        self.record()
        self.change("w) - 0.5)", "w) - 0.25)")
        self.version = "1.15.4"
        self.assertIn("recorded 3 answers of TensorFlow 1.15.4", self.record())

    def test_a_check_asks_for_all(self):
        self.record()
        self.assertIn("3 recordings hold on TensorFlow", self.record("--check"))

    @parameterized.expand(
        [
            ("last_bits", {"gradients/inputs/0": 1 + 3e-7}, ""),
            (
                "too_far",
                {"gradients/inputs/0": 1.1},
                "For another processor, add within=",
            ),
        ]
    )
    def test_a_check_holds_float32_to_the_bounds_of_the_pair(self, _, far, told):
        self.record()
        self.asked.clear()
        self.far = far
        path = self.folder.path / "test_port.py"
        status, out, _ = command("record", path, "--check")
        self.assertEqual(status, int(bool(told)), out)
        self.assertIn(told, out)

    def test_the_seeds_are_kept_for_the_port(self):
        self.seeds = lambda name, wide: NORMAL if name == "train" else {}
        out = self.record()
        self.assertIn(f"  {TRAIN} draws with (seed, seed2) = (7, 5): a/Normal, b", out)
        self.assertIn(f"  {TRAIN} draws with (seed, seed2) = (7, 41): c/Uniform\n", out)
        self.assertIn("  all seeds: test_port.seeds.json; to draw the same ", out)
        path = self.folder.path / "test_port.seeds.json"
        known = {TRAIN: {"float32": NORMAL, "float64": NORMAL}}
        self.assertEqual(json.loads(path.read_text()), known)
        self.change("w) - 0.5)", "w) - 0.25)")  # of another case
        self.record()
        self.assertEqual(json.loads(path.read_text()), known)

    def test_the_seeds_of_float64_may_be_others(self):
        self.seeds = lambda name, wide: WIDE if wide else NORMAL
        out = self.record()
        for dtype, seed2 in (("float64", 62), ("float32", 41)):
            told = f"  {TRAIN}, in {dtype}, draws with (seed, seed2) = (7, {seed2}): c/"
            self.assertIn(told, out)

    def test_no_seeds_no_file(self):
        self.record()
        path = self.folder.path / "test_port.seeds.json"
        self.assertFalse(path.exists())
        path.write_text("{}")
        self.record("--anew")
        self.assertFalse(path.exists())

    def test_a_case_that_fails_costs_no_other_its_answer(self):
        self.change("w) - 0.5)", "w) - undefined)")
        self.folder.forget()
        path = self.folder.path / "test_port.py"
        status, out, _ = command("record", path)
        self.assertEqual(status, 1)
        self.assertIn("logits, any rows/n=6 raised NameError", out)
        self.assertRegex(out, r"Recorded the other \d+ answers?")
        self.assertNotIn("It runs in float32", out)
        self.asked.clear()
        self.folder.forget()
        command("record", path)
        self.assertEqual({*self.asked}, {"logits"})

    def test_float64_that_contradicts_float32_is_said(self):
        self.far = {"outputs": 1.5}
        out = self.record()
        self.assertIn("other results in float64 than in float32", out)
        self.assertIn("first in outputs: ", out)
        self.far = {"outputs": 1.001}
        self.assertNotIn("gives other results in float64", self.record("--anew"))

    def test_if_all_fail_the_file_stays_as_it_was(self):
        self.record()
        before = (self.folder.path / "test_port.npz").read_bytes()
        self.change("import tensorflow", "undefined\nimport tensorflow")
        self.folder.forget()
        path = self.folder.path / "test_port.py"
        self.assertNotEqual(command("record", path)[0], 0)
        self.assertEqual((self.folder.path / "test_port.npz").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
