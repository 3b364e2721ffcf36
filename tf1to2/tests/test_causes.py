"""Findings are weighed by the work that they are."""

import pathlib

from parameterized import parameterized

from tf1to2.catalog import entries, keras_names
from tf1to2.pages import topics
from tf1to2.scan import causes, findings
from tf1to2.scan.reports import text
from tf1to2.source.names.records import Call
from tf1to2.tests.test_scan import TF, ScanCase

FLAGS = """
flags = tf.app.flags
flags.DEFINE_integer("steps", 1, "")
FLAGS = flags.FLAGS
print(FLAGS.steps, FLAGS.rate)
print(FLAGS.steps)
"""


class WorkTest(ScanCase):
    def works(self, *lines):
        self.write(a="\n".join([TF, *lines]))
        return causes.works(findings.scan(["a.py"]).findings)

    @parameterized.expand(
        [
            ("reads of flags", FLAGS, "flags", 1, 0, 6),
            (
                "flags in full",
                'tf.app.flags.DEFINE_bool("a", 1, "")\ntf.flags.FLAGS.a',
                "flags",
                2,
                0,
                2,
            ),
            ("one line of two", "tf.placeholder(1), tf.Session()", "sessions", 1, 0, 2),
            (
                "a library by its short name",
                "from tensorflow.contrib import slim\nslim.conv2d(1)\nslim.conv2d(2)",
                "slim",
                3,
                0,
                3,
            ),
            ("another name", "tf.log(1)\ntf.log(2)", "names", 2, 0, 2),
            ("another keyword", "tf.argmax(1, dimension=0)", "names", 1, 0, 1),
            (
                "private, which nobody can be certain of",
                "from tensorflow.python.ops import array_ops",
                "private",
                1,
                0,
                1,
            ),
        ]
    )
    def test_weight(self, _, lines, key, edit, check, uses):
        (work,) = self.works(lines)
        self.assertEqual(work.cause.key, key)
        self.assertEqual(
            (len(work.edit), len(work.check), len(work.findings)), (edit, check, uses)
        )

    def test_a_false_friend_is_looked_at(self):
        sessions, friend = self.works("tf.Session()", "tf.where(p, x, y)")
        self.assertEqual((len(friend.edit), len(friend.check)), (0, 1))

    def test_a_line_counts_once_in_all(self):
        self.write(a=TF + "tf.Session(), tf.log(1)\ntf.log(2)")
        whole = text.total(findings.scan(["a.py"]))
        self.assertEqual(
            whole,
            (
                "3 uses of TensorFlow 1 in 1 of 1 file",
                "2 lines to edit, 2 of them by search and replace",
            ),
        )

    def test_what_blocks_comes_first(self):
        uses = ["tf.log(1)"] * 9 + ["tf.summary.merge_all()"] * 3 + ["tf.Session()"]
        keys = [work.cause.key for work in self.works(*uses)]
        self.assertEqual(keys, ["sessions", "summaries", "names"])

    def test_next_is_a_pair_of_what_blocks(self):
        self.write(a=TF + "tf.log(1)\n" * 9 + "tf.placeholder(1)")
        _, out, _ = self.run_it("a.py")
        last = out.splitlines()[-1]
        self.assertEqual(
            last, "Next: sessions, placeholders: tf1to2 diff basics.fed_batches"
        )
        self.assertLessEqual(max(map(len, out.splitlines()[12:])), 80)


class CertainTest(ScanCase):
    @parameterized.expand(
        [
            ("a name", "tf.log", None, True),
            ("a keyword", "tf.reduce_sum", Call(1, ("keep_dims",), False), True),
            (
                "an argument that is gone",
                "tf.constant",
                Call(1, ("verify_shape",), False),
                False,
            ),
            ("a call to be written anew", "tf.to_float", Call(1, (), False), False),
            ("a rewrite", "tf.placeholder", None, False),
            ("private", "tf.python.ops.array_ops.reshape", None, False),
        ]
    )
    def test_search_and_replace_does_it(self, _, symbol, call, certain):
        self.assertEqual(causes.certain(entries.judge(symbol, call)), certain)


class TableTest(ScanCase):
    def test_every_topic_has_its_cause(self):
        _, known, _ = causes._table()
        self.assertEqual(sorted(known), sorted(topics.topics()))

    def test_a_cause_stands_once(self):
        table = pathlib.Path(causes.__file__).with_name("causes.tsv")
        rows = [line for line in table.read_text().splitlines() if line[0] != "#"]
        keys = [row.partition("\t")[0] for row in rows]
        self.assertEqual(len(set(keys)), len(keys))

    def test_it_names_what_there_is(self):
        named, _, _ = causes._table()
        for name in named:
            known = entries.lookup(name) or keras_names.has(name.removeprefix("keras."))
            self.assertTrue(known, name)

    def test_it_fits_a_terminal(self):
        _, _, table = causes._table()
        for cause in table.values():
            self.assertLessEqual(len(cause.title), 28)
            self.assertLessEqual(len(cause.becomes), 31)
