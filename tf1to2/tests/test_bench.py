"""The clock is fair, the sizes are bounded, the report says what was timed."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import pytest
from parameterized import parameterized

from tf1to2 import cli
from tf1to2.bench import clock, command, pairs, report
from tf1to2.parity import normal
from tf1to2.parity.cases import Op
from tf1to2.tests.test_scan import hears


def timing(*rounds, first=1.0):
    return clock.Timing(first, list(rounds))


def lines_of(screen):
    """Yields what is shown on a terminal, until its program ends."""
    while True:
        try:
            yield os.read(screen, 4096).decode()
        except OSError:  # nobody writes to it any more
            return


class ClockTest(unittest.TestCase):
    def test_functions_take_turns_and_each_is_first_in_its_turn(self):
        calls = []
        functions = {
            name: (
                clock.timed(lambda name=name: calls.append(name) or time.sleep(0.002)),
                0,
            )
            for name in "abc"
        }
        timed = clock.interleave(functions, rounds=3, turn=0)
        self.assertEqual("".join(calls), "abcbcacab")
        self.assertEqual([len(t.rounds) for t in timed.values()], [3, 3, 3])
        self.assertGreater(timed["a"].median, 0.002)
        self.assertLess(max(timed["a"].cpu), 0.002)  # it slept

    def test_an_epoch_has_the_steps_it_has(self):
        asked = []

        def run(count):
            asked.append(count)
            return count * 0.5, count * 0.25

        timed = clock.interleave({"fit": (run, 0)}, 2, 0.01, counts={"fit": 128})
        self.assertEqual(asked, [128, 128])
        self.assertEqual(
            (timed["fit"].rounds, timed["fit"].cpu), ([0.5] * 2, [0.25] * 2)
        )

    def test_a_fast_function_runs_often_in_its_turn(self):
        calls = []
        fast = clock.timed(lambda: calls.append(0))
        clock.interleave({"a": (fast, 0)}, rounds=2, turn=0.001)
        self.assertGreater(len(calls), 10)

    def test_a_ratio_is_taken_round_by_round(self):
        busy = timing(1, 9, 1), timing(2, 18, 2)  # the machine was, in the second
        self.assertEqual(clock.ratio(*busy), clock.Ratio(0.5, 0.5, 0.5))

    def test_more_rounds_bound_the_ratio_more_narrowly(self):
        few, many = (
            clock.ratio(timing(*range(1, n + 1)), timing(*[1] * n)) for n in (5, 55)
        )
        self.assertEqual((few.low, few.high), (1, 5))  # all of them
        self.assertEqual((many.median, many.low, many.high), (28, 20, 36))
        self.assertTrue(many.tells(19) and many.tells(37))
        self.assertFalse(many.tells(20) or many.tells(36))

    def test_there_are_more_rounds_until_they_tell(self):
        for answers, rounds in ([True], 2), ([False, True], 4), ([False] * 9, 10):
            told = iter(answers)
            timed = clock.interleave(
                {"a": (clock.timed(lambda: None), 0)},
                *(2, 0),
                lambda _, told=told: next(told),
            )
            self.assertEqual(len(timed["a"].rounds), rounds)

    def test_the_first_call_counts_what_is_built(self):
        function, seconds = clock.first_call(lambda: time.sleep(0.01) or (lambda: 7))
        self.assertGreater(seconds, 0.01)
        wall, cpu = function(3)
        self.assertGreater(wall, 0)
        self.assertGreaterEqual(cpu, 0)


class SizesTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a vector", [normal("n")], {"n": 2**16}),
            ("a matrix", [normal("n", "m")], {"n": 256, "m": 256}),
            ("two that make a matrix", [normal("n", 1), normal(1, "m")], None),
            ("images", [normal("n", 16, 16, 4)], {"n": 64}),
        ]
    )
    def test_what_can_be_made_of_the_inputs_is_bounded(self, _, args, wanted):
        large = pairs.sizes(Op("name", "slug", args))["large"]
        self.assertEqual(large, wanted or {"n": 256, "m": 256})

    def test_a_case_with_sizes_of_its_own_grows_by_the_batch(self):
        case = Op("name", "slug", [normal("b", "k")], sizes=[{"b": 3, "k": 5}])
        self.assertEqual(pairs.sizes(case)["medium"], {"b": 48, "k": 5})


FORMS = {"make_callable": timing(2e-5, 2e-5), "eager": timing(1e-5, 1e-5)}
REPORT = {
    "environment": dict.fromkeys(
        ("tensorflow", "python", "cpu", "cores", "date", "command"), "?"
    ),
    "calls": [
        {"pair": "a.b", "size": "small", **command._forms(FORMS)},
        {"pair": "a.c", "size": "small", **command._forms({"eager": timing(1, 9)})},
    ],
    "programs": [],
    "work": [],
    "started": [],
    "classics": {},
    "failed": [],
}


class ReportTest(unittest.TestCase):
    def test_text(self):
        text = report.text(REPORT)
        self.assertRegex(text, r"a\.b +small +20 +10 +0\.50 +0\.50–0\.50")
        self.assertIn("the best of four forms of TensorFlow 2 takes 0.50", text)
        self.assertIn("slower: none; perhaps slower: none", text)
        self.assertNotIn("Programs", text)

    def test_whole_programs(self):
        sides = command._sides({"v1": timing(3e-3, 3e-3), "v2": timing(1e-3, 1e-3)})
        text = report.text({**REPORT, "programs": [{"pair": "a.d", **sides}]})
        self.assertRegex(text, r"a\.d +3\.0 +1\.0 +3\.00 +3\.00–3\.00")
        self.assertIn("1 whole programs, graph and traces included: 0.33", text)

    def test_markdown(self):
        tables = report.markdown(REPORT)
        self.assertEqual(list(tables), ["Calls"])
        self.assertIn("| a.c | small |  |  | 5000000 |", tables["Calls"])

    def test_what_misses_its_bound_is_named(self):
        slower = {"make_callable": timing(1, 1), "eager": timing(2, 3)}
        unsure = {"make_callable": timing(1, 1, 1), "eager": timing(2, 2, 0.5)}
        calls = [
            {"pair": pair, "size": "large", **command._forms(timings)}
            for pair, timings in [("a.b", slower), ("a.c", unsure), ("a.d", FORMS)]
        ]
        text = report.summary({**REPORT, "calls": calls})
        self.assertIn("slower: a.b large; perhaps slower: a.c large", text)
        self.assertIn("too busy for these numbers", text)


class CommandTest(unittest.TestCase):
    def test_no_such_topic(self):
        self.assertEqual(cli.main(["bench", "scops"]), 2)

    def test_topics_are_timed_apart(self):
        parts = command._parts(["scopes.op_names", "basics", "scopes.template_names"])
        scopes = ["scopes.op_names", "scopes.template_names"]
        self.assertEqual(parts, {"scopes": scopes, "basics": ["basics"]})
        self.assertEqual(list(command._parts([]))[-1], command.CLASSICS)

    def test_reports_are_put_together(self):
        whole = command.Report()
        for pair in "ab":
            part = {"environment": {"cores": 2}, "calls": [pair], "classics": {pair: 1}}
            whole.add(json.dumps(part))
        self.assertEqual(whole["calls"], ["a", "b"])
        self.assertEqual(whole["classics"], {"a": 1, "b": 1})

    @parameterized.expand(
        [
            ("a program", ["work.mpl"], "the programs are: affine, predict"),
            ("1.15.5", ["work.mlp", "--against", "1.15.5"], "no Python 3.7|has no"),
            ("a port", ["no_port.py"], "no such file"),
        ]
    )
    def test_what_is_not_there_is_told_in_a_line(self, _, arguments, told):
        gone = {"TF1_PYTHON": "/nowhere/python", "PATH": "", "PYENV_ROOT": "/nowhere"}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-m", "tf1to2", "bench", *arguments]
                + ["--environment", os.path.join(folder, "env")],
                capture_output=True,
                text=True,
                env={**os.environ, **gone},
            )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, told)
        self.assertNotIn("Traceback", done.stderr)

    @pytest.mark.slow
    def test_a_port_of_ones_own_whose_process_dies_loses_nothing_else(self):
        """Two files, so two processes; what was timed before the end is there."""
        files = {
            "left.py": "import tensorflow.compat.v1 as tf\n"
            "def double(x):\n    return x + x\n"
            "def fall(x):\n    return x\n",
            "right.py": "import os\nimport tensorflow as tf\n"
            "def double(x):\n    return x + x\n"
            "def fall(x):\n    os._exit(7)\n",
            "test_port.py": "from tf1to2.parity import Pair, normal\n"
            "port = Pair('left', 'right', name='port', today=True)\n"
            "port.op('double', 'a vector', normal('n'))\n"
            "port.op('fall', 'a vector', normal('n'))\n",
            "other.py": "from tf1to2.parity import Pair, normal\n"
            "other = Pair('left', 'right', name='other', today=True)\n"
            "other.op('double', 'a vector', normal('n'))\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                pathlib.Path(folder, name).write_text(text)
            done = subprocess.run(
                [sys.executable, "-m", "tf1to2", "bench", "test_port.py", "other.py"]
                + ["--format", "json"],
                cwd=folder,
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": os.getcwd()},
            )
        report = json.loads(done.stdout)
        self.assertEqual(
            {row["pair"] for row in report["calls"]}, {"port.double", "other.double"}
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit status 7", "".join(report["failed"]))

    @pytest.mark.slow
    def test_a_pair(self):
        done = subprocess.run(
            [sys.executable, "-m", "tf1to2", "bench", "broadcasting.add_broadcast"]
            + ["--format", "json"],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = json.loads(done.stdout)["calls"]
        self.assertEqual([row["size"] for row in rows], ["small", "medium", "large"])
        for row in rows:
            self.assertEqual(
                list(row["forms"]), [*report.COLUMNS[2:], *report.COLUMNS[:2]]
            )
            self.assertGreater(row["ratio"], 0)

    @parameterized.expand(
        [
            ("Ctrl-C, one", ["operators"], signal.SIGINT),
            ("Ctrl-C, two", ["operators", "scopes"], signal.SIGINT),
            ("a time limit", ["operators", "scopes"], signal.SIGTERM),
        ]
    )
    @pytest.mark.slow
    def test_what_ends_it_prints_what_there_is(self, _, topics, sent):
        screen, terminal = pty.openpty()  # progress is shown on a terminal alone
        with subprocess.Popen(
            [sys.executable, "-m", "tf1to2", "bench", *topics],
            stdout=subprocess.PIPE,
            stderr=terminal,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            preexec_fn=hears,
        ) as bench:
            os.close(terminal)
            shown = lines_of(screen)
            second = re.compile(r"operators\.(?!sums)")
            err = next(filter(second.search, shown))
            bench.send_signal(sent)
            out, _ = bench.communicate(timeout=60)
            err += "".join(shown)
        os.close(screen)
        self.assertEqual(bench.returncode, 130)
        self.assertIn("these are the timings so far", err)
        self.assertIn("operators.sums", out)
