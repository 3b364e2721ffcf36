"""Members of classes that are gone: each is a use, where it is known what made it."""

import json
import unittest

from parameterized import parameterized

from tf1to2.catalog import entries, facts
from tf1to2.source.names import methods
from tf1to2.tests.commands import command

PROGRAM = """
import tensorflow as tf

sv = tf.train.Supervisor(logdir="x")
writer = sv.summary_writer
with sv.managed_session() as sess:
    while not sv.should_stop():
        sess.run(1)
        sv.summary_computed(sess, 1)
sess = sv.prepare_or_wait_for_session()
sv.stop()


class Trainer:
    def __init__(self):
        self.sv = tf.train.Supervisor()
        self.writer = tf.summary.FileWriter("x")

    def go(self, f):
        self.writer.add_graph(None)
        self.sv.loop(1, f)
        self.writer.flush()


def other(sv, writer, thread):
    thread.stop()
    writer.reopen()
"""
LIVE_ON = {"close", "flush", "add_summary", "restore", "save", "build"}
"""Members that the successor has, too, or that are found by their names."""


class FollowedTest(unittest.TestCase):
    def test_each_member_is_found(self):
        _, out, _ = command("scan", "--format", "json", "-", stdin=PROGRAM)
        uses = {
            (one["line"], one["symbol"].removeprefix("tf."))
            for one in json.loads(out)["findings"]
        }
        for use in (
            (5, "train.Supervisor.summary_writer"),
            (6, "train.Supervisor.managed_session"),
            (7, "train.Supervisor.should_stop"),
            (9, "train.Supervisor.summary_computed"),
            (10, "train.Supervisor.prepare_or_wait_for_session"),
            (11, "train.Supervisor.stop"),
            (20, "summary.FileWriter.add_graph"),
            (21, "train.Supervisor.loop"),
        ):
            self.assertIn(use, uses)
        self.assertEqual([line for line, _ in uses if line in (22, 26, 27)], [])

    @parameterized.expand(methods.followed())
    def test_these_are_its_members(self, owner):
        symbol = f"tf{owner.removeprefix('tensorflow')}"
        self.assertEqual(entries.lookup(symbol).verdict, "rewrite")
        known = {
            name
            for name in facts.members(symbol)
            if name.islower() and not name.endswith("from_proto") and name != "to_proto"
        }
        self.assertEqual(methods.followed()[owner], known - LIVE_ON)


if __name__ == "__main__":
    unittest.main()
