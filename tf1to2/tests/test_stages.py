"""examples/stages: each stage prints the same, and goes on from an old checkpoint."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import pytest
from parameterized import parameterized

from tf1to2.fix import planning
from tf1to2.scan import findings
from tf1to2.tests.test_structure import ROOT

STAGES = ROOT / "examples" / "stages"
CHAPTER = (ROOT / "guide" / "plan.md").read_text("utf-8")
PROGRAMS = [f"stage{n}/train.py" for n in range(1, 9)] + ["stage6/with_keras.py"]
PROGRAMS = [(re.sub(r"\W", "_", program), program) for program in PROGRAMS]


def run(program, *arguments):
    """What a program of the stages prints."""
    path = STAGES / program
    done = subprocess.run(
        [sys.executable, path.name, *arguments],
        cwd=path.parent,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def said(name):
    """What 1.15.5 printed of stage 0: whole, or five epochs after model.ckpt."""
    return (STAGES / name).read_text("utf-8")


class StagesTest(unittest.TestCase):
    @pytest.mark.slow
    def test_the_last_one_prints_what_the_first_one_printed(self):
        self.assertEqual(run("stage8/train.py"), said("printed.txt"))

    @parameterized.expand(PROGRAMS)
    @pytest.mark.slow
    def test_it_prints_what_the_first_one_printed(self, _, program):
        self.assertEqual(run(program), said("printed.txt"))

    @parameterized.expand(PROGRAMS)
    @pytest.mark.slow
    def test_it_goes_on_from_an_old_checkpoint(self, _, program):
        more = "--restore", str(STAGES / "model.ckpt"), "--epochs", "5"
        self.assertEqual(run(program, *more), said("resumed.txt"))

    @parameterized.expand([(f"stage{n}/train.py",) for n in (3, 4, 5)])
    @pytest.mark.slow
    def test_the_old_program_goes_on_from_its_checkpoint(self, program):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            run(program, "--save", path)
            again = run("stage1/train.py", "--restore", path, "--epochs", "5")
        self.assertEqual(again, said("resumed.txt"))

    @parameterized.expand([(f"stage{n}/train.py",) for n in (6, 7, 8)])
    @pytest.mark.slow
    def test_it_goes_on_from_its_own_checkpoint(self, program):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            run(program, "--save", path)
            again = run(program, "--restore", path, "--epochs", "5")
        self.assertEqual(again, said("resumed.txt"))

    @pytest.mark.slow
    def test_every_switch_alone_changes_nothing(self):
        lines = run("stage2/switches.py").splitlines()
        self.assertEqual(len(lines), 4)
        for line in lines:
            self.assertRegex(line, r"^enable_\w+ same$")

    @pytest.mark.slow
    def test_the_last_one_is_proven(self):
        done = subprocess.run(
            [sys.executable, "-m", "tf1to2", "prove", "test_port.py", "--format=json"],
            cwd=STAGES,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        leaves = [x for c in json.loads(done.stdout)["cases"] for x in c["leaves"]]
        self.assertGreaterEqual(len(leaves), 12)
        for leaf in leaves:
            self.assertEqual(leaf["float64"], "identical", leaf["leaf"])


class FixTest(unittest.TestCase):
    """What `tf1to2 fix` writes is written in stage 1, while 1.15.5 still runs."""

    def test_stage_1_holds_what_it_writes(self):
        def lines(data):
            return {line.strip() for line in data.decode().splitlines()}

        wanted = planning.Options(old=True)
        (fixed,) = planning.plan([str(STAGES / "stage0")], (), wanted)
        before = (STAGES / "stage0" / "train.py").read_bytes()
        self.assertEqual(fixed.changes, 7)
        for stage in ("stage1", "stage2"):
            after = lines((STAGES / stage / "train.py").read_bytes())
            self.assertEqual(lines(fixed.data) - lines(before) - after, set())
            self.assertEqual((lines(before) - lines(fixed.data)) & after, set())

    def test_later_it_has_nothing_to_write(self):
        stages = [str(STAGES / f"stage{n}") for n in range(1, 9)]
        found = list(planning.plan(stages, (), planning.Options()))
        self.assertEqual([one.path for one in found if one.changes or one.reason], [])


def stripped(code):
    return "\n".join(line.strip() for line in code.strip().splitlines())


class ChapterTest(unittest.TestCase):
    def test_it_counts_what_is_left(self):
        told = re.findall(r"(?m)^\| \[(\d)\]\(\S+\) \| .+? \| (\d+) \|", CHAPTER)
        found = [
            (str(n), str(len(findings.scan([str(STAGES / f"stage{n}")]).findings)))
            for n in range(9)
        ]
        self.assertEqual(told, found)

    def test_its_code_is_that_of_stage_0(self):
        program = stripped((STAGES / "stage0" / "train.py").read_text("utf-8"))
        found = re.findall(r"(?s)```python\n(.*?)```", CHAPTER)
        self.assertTrue(found)
        for block in found:
            self.assertIn(stripped(block), program)


if __name__ == "__main__":
    unittest.main()
