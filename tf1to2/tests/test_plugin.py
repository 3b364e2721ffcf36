"""pytest as users run it: settings, names, failures, recordings, processes."""

import os
import subprocess
import sys
import unittest

import pytest
from parameterized import parameterized

from tf1to2.parity import settings, stand_ins
from tf1to2.tests import ported
from tf1to2.tests.ported import Folder
from tf1to2.tests.test_structure import PROJECT, ROOT

settings.apply()
PLUGIN = "tf1to2.prove.plugin"
EARLY = "import tensorflow as tf\n\ndef test_early():\n    assert tf.add(1, 2) == 3\n"


class PluginTest(unittest.TestCase):
    def run_(self, folder, *argv):
        settings_ = {*settings.STRICT, "TF1TO2_SETTINGS", "PYTEST_ADDOPTS"}
        env = {k: v for k, v in os.environ.items() if k not in settings_}
        env["PYTHONPATH"] = str(ROOT)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            PLUGIN,
            "-p",
            "no:cacheprovider",
        ]
        done = subprocess.run(
            [*command, "-q", *argv], cwd=folder, env=env, capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    def test_it_is_an_entry_point(self):
        points = PROJECT["entry-points"]["pytest11"]
        self.assertEqual(points, {PLUGIN: PLUGIN})

    def test_importing_it_changes_no_import(self):
        program = (
            "import sys; before = list(sys.meta_path)\n"
            f"import tf1to2.parity, {PLUGIN}\n"
            "assert sys.meta_path == before, sys.meta_path"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT)
        self.assertEqual(done.returncode, 0)

    @parameterized.expand([("installed", {stand_ins.INSTALLED: "1"}), ("not", {})])
    def test_left_pages_elsewhere_have_the_stand_in_that_was_installed(self, _, more):
        program = (
            "import importlib.util\nfrom tf1to2.parity import stand_ins\n"
            "stand_ins.inherit()\nprint(bool(importlib.util.find_spec('horovod')))"
        )
        env = {k: v for k, v in os.environ.items() if k != stand_ins.INSTALLED}
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**env, **more},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.stdout, f"{bool(more)}\n", done.stderr)

    def test_a_project_without_pairs_is_left_alone(self):
        text = (
            "import importlib.util, os, sys\n\ndef test_it():\n"
            "    assert importlib.util.find_spec('horovod') is None\n"
            "    assert 'TF_NUM_INTRAOP_THREADS' not in os.environ\n"
            "    assert not {'numpy', 'tensorflow', 'tf1to2.parity.pair'} & "
            "set(sys.modules)\n"
        )
        with Folder(test_port=text) as folder:
            status, told = self.run_(folder.path)
        self.assertEqual(status, 0, told)

    @pytest.mark.slow
    def test_settings_come_before_the_first_file_that_imports_tensorflow(self):
        with Folder(
            test_a=EARLY, test_port="import tensorflow\n" + ported.TEST
        ) as folder:
            folder.record()
            status, told = self.run_(folder.path)
            self.assertEqual(status, 0, told)
            self.assertIn("11 passed", told)
            status, told = self.run_(folder.path, "-n", "2")
            self.assertEqual(status, 0, told)
            self.assertIn("11 passed", told)

    @pytest.mark.slow
    def test_failures_have_names_and_none_of_our_frames(self):
        wrong = ported.PORT.replace("tf.nn.relu", "tf.nn.elu")
        wrong = wrong.replace("slots = [", "slots = [unknown, ")
        with Folder(port=wrong) as folder:
            with Folder() as right:
                right.record()
                golden = (right.path / "test_port.npz").read_bytes()
            (folder.path / "test_port.npz").write_bytes(golden)
            status, told = self.run_(folder.path)
        self.assertEqual(status, 1, told)
        self.assertIn("test_parity.test_logits-any_rows-eager", told)
        self.assertIn(
            "port.logits, any rows, eager: 3 of 4 leaves differ, first in", told
        )
        self.assertRegex(told, r"port.py:\d+: in train")
        self.assertIn("NameError: name 'unknown' is not defined", told)
        for frame in ("parity/pair.py", "parity/proof.py", "unittest/case.py"):
            self.assertNotIn(frame, told)

    @pytest.mark.slow
    def test_no_recording_is_one_line(self):
        with Folder() as folder:
            status, told = self.run_(folder.path, "-k", "train and eager")
        self.assertEqual(status, 1)
        self.assertIn("run tf1to2 record test_port.py", told)

    def test_recording_takes_one_process(self):
        with Folder() as folder:
            status, told = self.run_(folder.path, "-n", "2", "--tf1to2-record")
        self.assertEqual(status, 4, told)
        self.assertIn("remove -n", told)

    @pytest.mark.slow
    @unittest.skipUnless(os.environ.get("TF1_PYTHON"), "TF1_PYTHON names none")
    def test_recording(self):
        with Folder() as folder:
            status, told = self.run_(folder.path, "--tf1to2-record", "-k", "train")
        self.assertEqual(status, 0, told)
        self.assertIn("port: recorded 3 answers of TensorFlow 1.15.5", told)
        self.assertIn("2 passed", told)


if __name__ == "__main__":
    unittest.main()
