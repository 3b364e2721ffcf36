"""Flags: definitions, reads, and what absl's flags do not have."""

import json

import absl.flags
from parameterized import parameterized

from tf1to2.scan import findings
from tf1to2.scan.reports import text
from tf1to2.tests.test_scan import TF, ScanCase

DEFINED = TF + "flags = tf.app.flags\nFLAGS = flags.FLAGS\n"
HYPHEN = 'tf.flags.DEFINE_string("job-dir", "/tmp", "")\n'


class FlagReadsTest(ScanCase):
    def report(self, **files):
        self.write(**files)
        return findings.scan(["."])

    def test_definitions_are_told_as_they_stand(self):
        self.write(a=TF + 'tf.flags.DEFINE_integer("n", 1, "")\ntf.app.run()')
        _, out, _ = self.run_it("a.py")
        self.assertIn("a.py:2:1: tf.flags.DEFINE_integer", out)
        self.assertNotIn("FLAGS is read", out)

    @parameterized.expand(
        [
            ("one", "FLAGS.n", "2 places: 1 name"),
            ("of one name", "FLAGS.n + FLAGS.n", "3 places: 1 name"),
            (
                "of several",
                "f(FLAGS.n, FLAGS.rate)\nFLAGS.dir.split('/')",
                "4 places: 3 names",
            ),
            ("bare", "f(FLAGS)", "2 places: 0 names"),
        ]
    )
    def test_reads_are_one_line(self, _, lines, told):
        self.write(a=DEFINED + lines)
        for report in (
            self.run_it("a.py").out,
            "\n".join(text._by_cause(findings.scan(["a.py"]).findings)),
        ):
            wanted = f"a.py:3:9: FLAGS is read in {told}; nothing to edit after you"
            self.assertEqual(report.count(wanted), 1, report)
            self.assertEqual(report.count("FLAGS is read"), 1)

    def test_each_file_has_its_line(self):
        self.write(a=DEFINED + "FLAGS.n", b=DEFINED + "FLAGS.m")
        self.assertEqual(self.run_it(".").out.count("FLAGS is read in 2 places"), 2)

    def test_reads_are_no_lines_to_edit(self):
        report = self.report(a=DEFINED + "FLAGS.n\nFLAGS.m\n")
        self.assertEqual(text.total(report)[1], "1 line to edit")

    def test_flags_of_a_private_module_are_flags(self):
        private = "from tensorflow.python.platform import flags\nFLAGS = flags.FLAGS\n"
        self.write(a=private + "FLAGS.n\nFLAGS.m\nflags.DEFINE_integer('n', 1, '')\n")
        out = self.run_it("a.py").out
        self.assertIn("FLAGS is read in 3 places: 2 names; nothing to edit", out)
        self.assertIn("1 line to edit", out)

    def test_json_has_each(self):
        self.write(a=DEFINED + "FLAGS.n\nFLAGS.m\n")
        told = json.loads(self.run_it("--format", "json", "a.py").out)
        lines = [f["line"] for f in told["findings"]]
        self.assertEqual(lines, [2, 3, 4, 5])

    @parameterized.expand(
        [
            ("a flag without a hyphen", "FLAGS.job"),
            ("a flag of another name", "FLAGS.dir_job"),
            ("a default", "getattr(FLAGS, 'job_dir', '')"),
            ("the flag's own name", "getattr(FLAGS, 'job-dir', '')"),
        ]
    )
    def test_a_read_is_no_finding_of_its_own(self, _, line):
        report = self.report(a=DEFINED + HYPHEN + line)
        symbols = {f.entry.symbol for f in report.findings}
        told = {"tf.app.flags.FLAGS.job_dir", f"tf.app.flags.{line}"}
        self.assertEqual(symbols & told, set())

    @parameterized.expand(
        [
            ("parsing", "FLAGS._parse_flags()", "FLAGS(sys.argv)"),
            ("in full", "tf.flags.FLAGS._parse_flags()", "FLAGS(sys.argv)"),
            ("all of them", "FLAGS.__flags", "FLAGS.flag_values_dict()"),
            ("whether they are parsed", "FLAGS.__parsed", "FLAGS.is_parsed()"),
            ("a hyphen", "FLAGS.job_dir", 'FLAGS["job-dir"].value'),
            (
                "a hyphen, and more",
                "FLAGS.job_dir.split('/')",
                'FLAGS["job-dir"].value',
            ),
        ]
    )
    def test_what_flags_do_not_have(self, _, line, write):
        report = self.report(a=DEFINED + HYPHEN + line)
        last = report.findings[-1]
        self.assertEqual((last.line, last.entry.write), (5, write))
        self.assertEqual(text.total(report)[1], "3 lines to edit")

    def test_a_hyphen_by_name_without_a_default(self):
        report = self.report(a=DEFINED + HYPHEN + "getattr(FLAGS, 'job_dir')")
        writes = {f.entry.write for f in report.findings}
        self.assertIn('FLAGS["job-dir"].value', writes)

    def test_a_hyphen_in_another_file(self):
        report = self.report(a=TF + HYPHEN, b=DEFINED + "FLAGS.job_dir")
        self.assertEqual(report.findings[-1].entry.write, 'FLAGS["job-dir"].value')

    def test_absl_today(self):
        flags = absl.flags.FlagValues()
        absl.flags.DEFINE_string("job-dir", "/tmp", "", flag_values=flags)
        flags(["program"])
        for name in ("_parse_flags", "job_dir", "__parsed"):
            with self.assertRaises(AttributeError):
                getattr(flags, name)
        self.assertEqual(flags["job-dir"].value, "/tmp")
        self.assertEqual(getattr(flags, "job_dir", "none"), "none")
        self.assertEqual(getattr(flags, "job-dir"), "/tmp")  # noqa: B009
        self.assertEqual(flags.flag_values_dict()["job-dir"], "/tmp")
        self.assertTrue(flags.is_parsed())
