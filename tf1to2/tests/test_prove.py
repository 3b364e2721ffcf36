"""The commands of a user's port: prove, record, mutate; what they print and return."""

import json
import os
import subprocess
import sys
import unittest
from unittest import mock

import pytest
from parameterized import parameterized

from tf1to2.parity import providers, recordings, settings
from tf1to2.prove import asking
from tf1to2.tests import ported
from tf1to2.tests.commands import command
from tf1to2.tests.ported import Folder
from tf1to2.tests.test_structure import ROOT

settings.apply()
GENUINE = os.environ.get("TF1_PYTHON")


class ProveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder.of(cls)
        cls.folder.record()
        cls.file = cls.folder.path / "test_port.py"

    def wrong(self, right, wrong):
        folder = Folder.of(self, port=ported.PORT.replace(right, wrong))
        golden = self.folder.path / "test_port.npz"
        (folder.path / golden.name).write_bytes(golden.read_bytes())
        return folder.path / "test_port.py"

    def test_a_right_port(self):
        self.folder.forget()
        status, out, err = command("prove", self.file)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(
            out, r"port.logits, any rows +\S+ +identical +identical +identical\n"
        )
        both = "23 of 23 leaves identical in float64, 23 of 23 in float32"
        self.assertIn(f"3 cases: {both}: proven", out)

    def test_a_wrong_port(self):
        file = self.wrong("constant(0.25", "constant(0.2")
        status, out, _ = command("prove", file, "train")
        self.assertEqual(status, 1)
        self.assertIn("differs first in step 0: outputs/0/w", out)
        self.assertIn("FAILS port.train, three steps (eager, function): ", out)
        both = "1 of 9 leaves identical in float64, 1 of 9 in float32"
        self.assertIn(f"1 case: {both}: 1 fails", out)

    def test_json(self):
        file = self.wrong("batch) * 0.1", "batch) * 0.01")
        status, out, _ = command("prove", file, "make_norm", "--format", "json")
        (case,) = json.loads(out)["cases"]
        self.assertEqual((status, case["verdict"]), (1, "FAILS"))
        self.assertEqual(case["first"], "state: state/norm/mean:0")
        far, *others = case["leaves"]
        self.assertEqual((far["leaf"], far["rung"]), ("state/norm/mean:0", "state"))
        self.assertGreater(far["relative"], 0.01)
        self.assertEqual({leaf["verdict"] for leaf in others}, {"identical"})
        failed = {failure["way"] for failure in case["failures"]}
        self.assertEqual(failed, {"eager", "function", "dynamic", "xla"})

    def test_a_port_that_breaks(self):
        status, out, _ = command("prove", self.wrong("def train(", "def training("))
        self.assertEqual(status, 1)
        self.assertIn("has no attribute 'train'", out)

    def test_json_holds_what_is_no_number(self):
        file = self.wrong("h / (total + 1.0)", "h * float('nan')")
        _, out, _ = command("prove", file, "logits", "--format", "json")
        (case,) = json.loads(out)["cases"]
        self.assertIsNone(case["leaves"][0]["relative"])


class RefusedTest(unittest.TestCase):
    """What cannot be done is one line, and exit status 2."""

    def refused(self, *argv, **texts):
        folder = Folder.of(self, **texts)
        folder.forget()
        status, out, err = command(*argv, folder=folder.path)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), out + err)
        return err

    @parameterized.expand(
        [
            (command + "_" + name, command, file, message, texts)
            for command in ("prove", "record")
            for name, file, message, texts in (
                ("no_file", "test_prt.py", "no such file", {}),
                ("no_pair", "port.py", "has no proof", {}),
                ("a_broken_test", "test_port.py", "NameError", {"test_port": "Pair()"}),
                (
                    "no_page",
                    "test_port.py",
                    "no page legacy.nett",
                    {"test_port": ported.TEST.replace("legacy.net", "legacy.nett")},
                ),
            )
        ]
    )
    def test_a_file(self, _, command, file, message, texts):
        self.assertIn(message, self.refused(command, file, **texts))

    def test_a_file_to_mutate(self):
        self.assertIn("no such file", self.refused("mutate", "test_prt.py"))

    def test_a_port_to_mutate_that_is_not_there(self):
        text = ported.TEST.replace("port.py", "ported.py")
        err = self.refused("mutate", "test_port.py", test_port=text)
        self.assertIn("ported.py: write the port", err)

    def test_no_recording(self):
        err = self.refused("prove", "test_port.py")
        self.assertIn("run tf1to2 record test_port.py", err)

    def test_no_such_pair(self):
        err = self.refused("prove", "test_port.py", "port.trains")
        self.assertIn("did you mean train?", err)

    def test_no_file_at_all(self):
        self.assertIn("needs a file", self.refused("prove"))

    def test_two_pairs_in_one_file(self):
        text = ported.TEST + "OTHER = Pair('legacy.net', 'port.py', name='other')\n"
        self.assertIn(
            "recording=", self.refused("prove", "test_port.py", test_port=text)
        )

    def test_an_interpreter_without_tensorflow_1(self):
        with mock.patch.object(recordings, "tensorflow_of", lambda _: "2.21.0"):
            err = self.refused("record", "test_port.py", "--python", sys.executable)
        self.assertIn("has TensorFlow 2.21.0: give one that has 1.x", err)
        err = self.refused("record", "test_port.py", "--python", "/nowhere/python")
        self.assertIn("has no TensorFlow", err)

    @pytest.mark.slow
    def test_a_wrong_port_cannot_be_mutated(self):
        wrong = ported.PORT.replace("constant(0.25", "constant(0.2")
        with Folder(port=wrong) as folder:
            folder.record()
            command = [sys.executable, "-m", "tf1to2", "mutate", "test_port.py"]
            told = subprocess.run(command, cwd=folder.path, capture_output=True)
        self.assertEqual(told.returncode, 2)
        self.assertIn(b"port already fails without a change: Mismatch: ", told.stderr)


@pytest.mark.slow
class OthersTest(unittest.TestCase):
    """What one pair lacks is told of it alone; the others of the file are proven."""

    OTHER = (
        "OTHER = Pair('legacy.net', {right!r}, {{'logits': 'scores'}}, name='other', "
        "recording='other.npz')\n"
        "OTHER.op('logits', 'two rows', normal(2, 3), normal(3, 4){more})\n"
    )
    PROVEN = "23 of 23 leaves identical in float64, 23 of 23 in float32"

    def folder(self, right="port.py", more="", recorded=True):
        text = ported.TEST + self.OTHER.format(right=right, more=more)
        folder = Folder.of(self, test_port=text)
        folder.forget()
        provider = providers.provider(folder.path / "test_port.py")
        with mock.patch.object(asking, "ask", ported.asked_today):
            for name in provider.names()[: 2 if recorded else 1]:
                asking.record(provider.load(name), "python3.7")
        folder.forget()
        return folder

    def proven(self, folder, *names):
        status, out, err = command("prove", folder.path / "test_port.py", *names)
        self.assertEqual(err, "")
        return status, out

    def test_a_missing_recording(self):
        status, out = self.proven(self.folder(recorded=False))
        self.assertEqual(status, 2)
        self.assertRegex(out, "NOT PROVEN other.logits, two rows: no recording .*other")
        self.assertIn(f"4 cases: {self.PROVEN}: 1 not proven", out)

    def test_a_stale_case(self):
        folder = self.folder()
        test = folder.path / "test_port.py"
        test.write_text(test.read_text().replace("normal(2, 3)", "normal(5, 3)"))
        status, out = self.proven(folder)
        self.assertEqual(status, 2)
        self.assertIn("NOT PROVEN other.logits, two rows: logits, two rows of leg", out)
        self.assertIn(f"4 cases: {self.PROVEN}: 1 not proven", out)

    def test_a_port_that_is_not_there(self):
        folder = self.folder(right="ported.py")
        status, out = self.proven(folder)
        self.assertEqual(status, 2)
        self.assertIn("ported.py: write the port", out)
        self.assertIn(self.PROVEN, out)

    def test_a_mistake_beside_it_is_told_too(self):
        folder = self.folder(recorded=False)
        folder.write("port", ported.PORT.replace("constant(0.25", "constant(0.2"))
        status, out = self.proven(folder)
        self.assertEqual(status, 2)
        self.assertIn(": 1 fails, 1 not proven", out)

    def test_a_size_that_only_one_side_may_not_know(self):
        folder = self.folder()
        size = "tf.reduce_sum(h, axis=1, keepdims=True)"
        folder.write(
            "port", ported.PORT.replace(size, f"{size} / (0 * x.shape[0] + 1)")
        )
        status, out = self.proven(folder)
        self.assertEqual(status, 1)
        self.assertIn('skip={"dynamic": "the reason"}', out)

    def test_json(self):
        folder = self.folder(recorded=False)
        _, out = self.proven(folder, "--format", "json")
        *proven, other = json.loads(out)["cases"]
        self.assertEqual({c["verdict"] for c in proven}, {"proven"})
        self.assertEqual((other["verdict"], other["leaves"]), ("not proven", []))
        self.assertIn("run tf1to2 record", other["unproven"])


class RecordTest(unittest.TestCase):
    def recorded(self, second):
        """What `record` says where the second run answers as `second` makes it."""

        def ask(python, page, requests, settings="default", apart=False):
            answers, versions = ported.asked_today(python, page, requests)
            return (
                second(answers, versions)
                if settings == "watched"
                else (
                    answers,
                    versions,
                )
            )

        with Folder() as folder, mock.patch.object(asking, "ask", ask):
            with mock.patch(
                "tf1to2.parity.recordings.genuine_python", lambda *_: "python"
            ):
                return *command("record", folder.path / "test_port.py"), {
                    path.name for path in folder.path.glob("*.npz")
                }

    def test_a_page_that_answers_otherwise_the_second_time_is_refused(self):
        def second(answers, versions):
            answers[-1]["outputs/1/w"] += 1
            return answers, versions

        status, out, _, files = self.recorded(second)
        self.assertEqual((status, files), (1, {"test_port.npz"}))  # of the others
        self.assertIn("the left page has a race: this case is not recorded", out)
        self.assertIn("train, three steps: outputs/1/w: ", out)

    def test_what_is_read_and_written_in_no_order_is_told(self):
        def second(answers, versions):
            versions.told[-1].append("w: a reads it, b writes it, in no order")
            return answers, versions

        status, out, _, files = self.recorded(second)
        self.assertEqual((status, files), (0, {"test_port.npz"}))
        self.assertIn("train, three steps has a race: w: a reads it", out)

    def test_no_port_is_needed(self):
        with Folder() as folder, mock.patch.object(asking, "ask", ported.asked_today):
            (folder.path / "port.py").unlink()
            with mock.patch(
                "tf1to2.parity.recordings.genuine_python", lambda *_: "python"
            ):
                status, out, err = command("record", folder.path / "test_port.py")
            self.assertTrue((folder.path / "test_port.npz").exists())
        self.assertEqual((status, err), (0, ""))
        self.assertIn("port: recorded 3 answers", out)

    def test_a_page_that_breaks(self):
        with Folder() as folder:
            folder.write("legacy/rates", "RATE = None\n")
            with mock.patch.object(asking, "ask", ported.asked_today):
                with mock.patch(
                    "tf1to2.parity.recordings.genuine_python", lambda *_: "python"
                ):
                    status, out, _ = command("record", folder.path / "test_port.py")
            self.assertEqual(status, 1)
        self.assertIn("train, three steps raised ValueError", out)
        self.assertRegex(out, r"Recorded the other \d+ answers")


@unittest.skipUnless(GENUINE, "TF1_PYTHON names no TensorFlow 1.15.5")
@pytest.mark.slow
class GenuineTest(unittest.TestCase):
    """Once through, with the genuine TensorFlow 1.15.5, in processes of their own."""

    def command(self, folder, *argv):
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-m", "tf1to2", *argv]
        return subprocess.run(
            command, cwd=folder.path, env=env, capture_output=True, text=True
        )

    def test_record_prove_check_and_mutate(self):
        with Folder() as folder:
            done = self.command(folder, "record", "test_port.py")
            self.assertEqual(
                (done.returncode, done.stdout),
                (
                    0,
                    "port: recorded 3 answers of TensorFlow 1.15.5\n",
                ),
                done.stderr,
            )
            proven = self.command(folder, "prove", "test_port.py")
            self.assertEqual(proven.returncode, 0, proven.stdout + proven.stderr)
            self.assertIn("against TensorFlow 1.15.5", proven.stdout)
            held = self.command(folder, "record", "test_port.py", "--check")
            self.assertIn("3 recordings hold", held.stdout)
            tried = self.command(folder, "mutate", "test_port.py", "--only", "0.25")
            self.assertEqual(
                (tried.returncode, tried.stdout),
                (
                    0,
                    "port: 4 of 4 changes noticed\n",
                ),
                tried.stderr,
            )
            folder.write("legacy/rates", "RATE = 0.5\n")
            stale = self.command(folder, "prove", "test_port.py")
            self.assertEqual(stale.returncode, 2)
            self.assertIn("legacy.rates has changed", stale.stdout)

    def test_settings_are_its_own(self):
        """Whatever the caller has set, one thread and no rewriting are asked for."""
        with (
            Folder() as folder,
            mock.patch.dict(
                os.environ, {"TF_NUM_INTRAOP_THREADS": "7", "TF2_BEHAVIOR": "1"}
            ),
        ):
            self.assertEqual(
                self.command(folder, "record", "test_port.py").returncode, 0
            )
            held = self.command(folder, "record", "test_port.py", "--check")
            self.assertEqual(held.returncode, 0, held.stdout)


class PythonTest(unittest.TestCase):
    def test_another_version_is_taken_and_told(self):
        with mock.patch.object(recordings, "tensorflow_of", lambda _: "1.14.0"):
            self.assertEqual(recordings.genuine_python("/nowhere", "py"), "py")

    def test_help_imports_nothing_heavy(self):
        program = (
            "import sys; from tf1to2 import cli\n"
            "try: cli.main(['prove', '--help'])\n"
            "except SystemExit: pass\n"
            "print([m for m in ('numpy', 'tensorflow') if m in sys.modules])"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True)
        self.assertTrue(run.stdout.endswith(b"[]\n"), run.stdout[-200:])
