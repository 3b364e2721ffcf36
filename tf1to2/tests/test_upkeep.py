"""`python -m upkeep`: which jobs a change needs, and what it refuses."""

import contextlib
import importlib.util
import io
import types
import unittest
from unittest import mock

from parameterized import parameterized

from upkeep import __main__ as upkeep
from upkeep.__main__ import JOBS, Change


def needed(*paths, topics=(), parts=(), asked=(), stale=(), check=False):
    """{job: topics, [] for all} of what a change needs."""
    change = Change(frozenset(paths), tuple(topics), tuple(parts), tuple(asked))
    known = {
        name: types.SimpleNamespace(keras=name == "rnn", is_stale=name in stale)
        for name in ("rnn", "keras_layers")
    }
    with mock.patch.object(upkeep.topics, "topics", lambda: known):
        found = {n: upkeep._needed(job, check, change) for n, job in JOBS.items()}
    return {name: names for name, names in found.items() if names is not None}


class NeededTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(needed(), {})
        self.assertEqual(needed(check=True), {})

    @parameterized.expand(
        [
            ("a_chapter", ["guide/rnn.md"], ["docs"]),
            ("a_verdict", ["tf1to2/catalog/verdicts.tsv"], ["docs"]),
            ("the_facts", ["tf1to2/catalog/names.tsv"], ["names", "docs"]),
            ("a_probe", ["tf1to2/probes/table/nn.txt"], ["probes", "docs"]),
            ("a_kernel", ["upkeep/kernels/page.py"], ["kernels", "docs"]),
            ("a_switch", ["upkeep/switches/program.py"], ["switches", "docs"]),
            ("a_picture", ["upkeep/svg.py"], ["pictures", "docs"]),
        ]
    )
    def test_of_a_file(self, _, paths, jobs):
        self.assertEqual(needed(*paths), {job: [] for job in jobs})

    def test_of_a_topic(self):
        found = needed("v2_eager/rnn.py", topics=["rnn"])
        measured = ["rnn"]
        self.assertEqual(
            found, {"float32": measured, "distances": measured, "docs": measured}
        )

    def test_of_a_topic_of_keras(self):
        found = needed("v2_eager/keras_layers.py", topics=["keras_layers"])
        self.assertEqual(set(found), {"float32", "keras_today", "docs"})

    def test_a_stale_recording_is_made(self):
        self.assertEqual(needed(stale=["rnn"]), {"recordings": ["rnn"]})

    def test_a_recording_is_compared_where_1_15_5_is_asked(self):
        paths = ["parity_tests/golden/rnn.npz"]
        found = needed(*paths, topics=["rnn"], asked=["rnn"], check=True)
        self.assertEqual(found, {"recordings": ["rnn"], "docs": []})

    def test_what_ci_asks_again_is_compared(self):
        found = needed("tf1to2/parity/v1.py", parts=["probes", "tools"], check=True)
        self.assertEqual(found, {"kernels": [], "probes": [], "docs": []})
        self.assertEqual(set(needed(parts=["names"], check=True)), {"names"})

    def test_an_engine_has_all_false_friends_asked(self):
        found = needed("tf1to2/parity/compare.py", topics=["rnn"])
        self.assertEqual(found["docs"], [])

    def test_without_a_commit_everything_is_needed(self):
        self.assertTrue(
            all(upkeep._needed(j, False, None) == [] for j in JOBS.values())
        )


class CommandTest(unittest.TestCase):
    @parameterized.expand(JOBS.items())
    def test_what_a_job_runs_is_there(self, _, job):
        for check in (False, True):
            for command in job.commands(["rnn"], check):
                self.assertTrue(importlib.util.find_spec(command[0]), command)

    @parameterized.expand(
        [
            ("job", ["tabels"], "no job tabels; the jobs are: names,"),
            ("topic", ["float32", "--topics", "rn"], "no topic rn; tf1to2 topics"),
            ("check", ["float32", "--check"], "float32 has nothing to compare"),
        ]
    )
    def test_what_is_refused(self, _, words, message):
        err = io.StringIO()
        with contextlib.redirect_stderr(err), self.assertRaises(SystemExit) as stopped:
            upkeep.main(words)
        self.assertEqual(stopped.exception.code, 2)
        self.assertIn(message, err.getvalue())

    def test_nothing_touched_is_said(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = upkeep.main(["timings", "--since", "HEAD"])
        self.assertEqual((status, out.getvalue()), (0, "no job is needed\n"))

    def test_an_unknown_commit_touches_everything(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertIsNone(upkeep.since("no-such-commit"))
        self.assertIn("all is touched", err.getvalue())


if __name__ == "__main__":
    unittest.main()
