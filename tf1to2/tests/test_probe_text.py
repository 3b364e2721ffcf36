"""Files of probes, as `tf1to2.probes.format` reads them."""

import pathlib
import tempfile
import unittest

from parameterized import parameterized

from tf1to2.probes import SIGN_OF_ZERO, TABLE, Probe, format, probes

LOG = "## tf.log\nold: tf.log(x)\nnew: tf.math.log(x)\n"


def read(content):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "math.txt")
        path.write_text(content, "utf-8")
        return format.read(path)


class ReadTest(unittest.TestCase):
    def test_no_probe(self):
        self.assertEqual(read("# Arithmetic.\n\n"), [])

    def test_two_calls(self):
        self.assertEqual(read(LOG), [Probe("tf.log", "tf.log(x)", "tf.math.log(x)")])

    def test_one_call_on_both(self):
        self.assertEqual(
            read("## tf.abs\nboth: tf.abs(x)"),
            [Probe("tf.abs", "tf.abs(x)", "tf.abs(x)")],
        )

    def test_every_field(self):
        [row] = read(
            LOG + "given: x = normal(2)\nexact: yes\nwhy: it is\n    rounded\n"
            "within: 1e-07\neager: a list\nwhere: keras<3\nraises: TypeError: a\n"
        )
        self.assertEqual(row.inputs, ("x = normal(2)",))
        self.assertEqual((row.exact, row.within), (True, 1e-7))
        self.assertEqual((row.why, row.eager), ("it is rounded", "a list"))
        self.assertEqual((row.where, row.raises), ("keras<3", "TypeError: a"))

    def test_the_sign_of_zero(self):
        [row] = read(LOG + "why: -0.0\nwithin: the sign of zero")
        self.assertEqual(row.within, SIGN_OF_ZERO)

    def test_a_line_per_case(self):
        [row] = read(
            "## tf.abs\ngiven:\n    x = 1\n    x = 2; \\\n        y = 3\nboth: x"
        )
        self.assertEqual(row.inputs, ("x = 1", "x = 2; y = 3"))

    def test_lines_of_code_keep_their_indentation(self):
        [row] = read("## tf.abs\nboth:\n    def f():\n        return 1\n    f()\n")
        self.assertEqual(row.old, "def f():\n    return 1\nf()")

    def test_a_backslash_joins_two_lines(self):
        [row] = read(
            "## tf.abs\nboth:\n    tf.abs(\\\n        x, \\\n        name='n')"
        )
        self.assertEqual(row.old, "tf.abs(x, name='n')")

    def test_other_backslashes_stay(self):
        [row] = read("## tf.abs\nboth: tf.abs('a\\n\\x00')")
        self.assertEqual(row.old, "tf.abs('a\\n\\x00')")

    def test_two_blocks_of_a_name(self):
        rows = read("## tf.abs\nboth: tf.abs(x)\n\nboth: tf.abs(-x)\n# A comment\n")
        self.assertEqual([row.old for row in rows], ["tf.abs(x)", "tf.abs(-x)"])

    def test_several_names(self):
        rows = read("## tf.fft, tf.ifft,\n## tf.fft2d\nold: tf.NAME(x)\nnew: NAMES\n")
        self.assertEqual([row.name for row in rows], ["tf.fft", "tf.ifft", "tf.fft2d"])
        self.assertEqual(rows[1].old, "tf.ifft(x)")
        self.assertEqual(rows[1].new, "NAMES")

    @parameterized.expand(
        [
            ("an unknown field", LOG + "wyh: so", "4: unknown field 'wyh': use one of"),
            ("a line without a field", "## tf.log\ntf.log(x)", "2: unknown field"),
            ("two spaces", LOG + "why:\n  so", "5: unknown field"),
            ("no heading", "old: tf.log(x)", "1: no heading above"),
            ("a field twice", LOG + "new: x", "4: a second 'new'"),
            ("an indented line alone", LOG + "\n    x", "5: no field above"),
            ("nothing in a field", LOG + "why:\n", "2: nothing after 'why'"),
            ("an old call alone", "## tf.log\nold: x", "2: write 'old' and 'new'"),
            ("all three calls", LOG + "both: x", "2: write 'old' and 'new'"),
            ("no call", "# A\n## tf.log\nexact: yes", "3: write 'old' and 'new'"),
            ("not exact", LOG + "exact: no", "2: 'exact' must be 'yes'"),
            ("no number", LOG + "why: so\nwithin: near", "2: 'within' must be"),
            ("a distance without a reason", LOG + "within: 1e-6", "2: say 'why'"),
            ("a release without a reason", LOG + "where: keras<3", "2: say 'why'"),
            ("a heading alone", "## tf.log\n\n" + LOG, "1: no probe under tf.log"),
            ("a last heading alone", LOG + "\n## tf.exp\n", "5: no probe under tf.exp"),
            ("no name", "## log\nboth: log(x)", "1: not a name of TensorFlow: 'log'"),
        ]
    )
    def test_refused(self, _, content, message):
        with self.assertRaises(format.Malformed) as raised:
            read(content)
        self.assertTrue(str(raised.exception).startswith("math.txt:" + message))

    def test_every_file_is_read(self):
        files = sorted(TABLE.iterdir())
        self.assertEqual([path.name for path in files if path.suffix != ".txt"], [])
        self.assertEqual(
            [row for path in files for row in format.read(path)], [*probes()]
        )
