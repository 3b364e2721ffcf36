"""What users install, away from the checkout: `make test-install`.

Wheel and sdist are built from a copy of the checkout. Fresh environments get the wheel,
and all commands are run in a folder that has nothing but a legacy program.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

import pytest
from parameterized import parameterized

from tf1to2.pages import topics
from tf1to2.tests import test_guides
from tf1to2.tests.test_structure import ROOT
from tf1to2.view.website import programs

pytestmark = pytest.mark.install

README, SCAN = (
    (ROOT / path).read_text("utf-8") for path in ("README.md", "guide/scan.md")
)
# What a checkout has beside its files.
MADE = (ROOT / ".gitignore").read_text("utf-8").replace("/", "").split()
DOCUMENTS = "tf1to2/documents/"
TOP = ("README.md", "MIGRATION.md", "BENCHMARKS.md")
PLACEHOLDER = "git+https://YOUR-HOST/YOUR-COPY/tf1to2"
LEGACY = "import tensorflow as tf\nx = tf.placeholder(tf.float32)\n"
NEW_BASELINE = "scan --write-baseline uses.json examples/legacy"

# (arguments, exit status, what is found in the output), without TensorFlow.
ROWS = [
    ("--version", 0, r"^\d+\.\d+"),
    ("--help", 0, "usage: tf1to2"),
    ("scan examples/legacy", 1, "net.py:.*variable_scope.*scopes.make_siamese"),
    ("scan --format text --processes 2 examples/legacy", 1, "in 4 of 4 files"),
    ("scan --format json examples/legacy", 1, '"symbol": "tf.variable_scope"'),
    ("scan --format github examples/legacy", 1, "^::error file=examples/legacy/"),
    ("scan --format sarif examples/legacy", 1, '"uri": "net.py"'),
    (
        "scan --format html --page http://s examples/legacy",
        1,
        '="http://s/scopes.html#scopes.',
    ),
    ("scan --statistics examples/legacy", 1, "tf.variable_scope +rewrite"),
    ("scan --select renamed examples/legacy", 1, "in 1 of 4 files"),
    ("scan --ignore rewrite --exit-zero examples/legacy", 0, "in 1 of 4 files"),
    ("scan --exclude '*.ipynb' examples/legacy", 1, "in 3 of 3 files"),
    ("scan --output-file report.txt examples/legacy", 1, "^$"),
    ("scan -", 1, "^-:2:5: tf.placeholder"),
    (NEW_BASELINE, 0, "^uses.json: "),
    ("scan --baseline old.json examples/legacy", 0, r"uses left, 0 new$"),
    ("fix examples/legacy", 1, r"^\+from absl import flags$"),
    ("fix --check --to 2 examples/legacy", 1, "^examples/legacy/net.py: 3 changes$"),
    (
        "fix --check --to 1.15 --exclude net.py examples",
        1,
        "legacy/train.py: 1 change$",
    ),
    ("fix --check --select tf.app --ignore tf.to_float examples", 1, "train.py: 1"),
    ("fix --unsafe examples/legacy", 1, r"# TODO\(tf1to2: \w+\.\w+\)$"),
    ("fix --write examples/ported", 0, "^0 changes written in 0 files$"),
    ("explain tf.control_dependencies", 0, "identical on 1.15.5"),
    ("explain --full tf.log", 0, "tf1to2 verify numerical_stability.log_or_zero"),
    ("explain --format text tf.log", 0, "write: tf.math.log"),
    ("explain --format json tf.log", 0, '"write": "tf.math.log"'),
    ("topics", 0, r"^scopes +\d+ +\d+ answers"),
    ("diff execution_order.ordered_sum", 0, "control_dependencies.* <$"),
    ("diff --keras layers.train", 0, "v2_keras/layers.py"),
    ("diff --unified scopes", 0, r"^--- v1_graph/scopes.py$"),
    ("diff examples/legacy/net.py examples/ported/net.py", 0, "examples/ported/net.py"),
    ("take --list", 0, "^rnn.make_basic_lstm "),
    ("take rnn.make_basic_lstm scopes.make_siamese", 0, "^def make_basic_lstm"),
    ("take scopes.make_siamese --output-file legacy_numerics.py", 0, "^$"),
    ("page --output another", 2, 'page needs .* extra "docs"'),
    ("verify broadcasting", 2, 'verify needs .* extra "tensorflow"'),
    ("prove --init examples/legacy/net.py --output examples", 0, "examples/left_net"),
    ("prove test_port.py", 2, 'prove needs .* extra "tensorflow"'),
    ("record test_port.py", 2, 'record needs .* extra "tensorflow"'),
    ("mutate test_port.py", 2, 'mutate needs .* extra "tensorflow"'),
    ("bench broadcasting", 2, 'bench needs .* extra "tensorflow"'),
    ("bench work", 2, 'needs numpy: install .* extra "tensorflow"'),
    ("bench test_port.py", 2, 'bench needs .* extra "tensorflow"'),
    ("convert-checkpoint a b --map map.json", 2, 'needs .* extra "tensorflow"'),
]
MAP = {
    "format": "objects",
    "tensors": {"dense/kernel": {"to": "kernel", "transpose": [1, 0]}},
    "new": {"save_counter": {"value": 1, "dtype": "int64"}},
}
SOURCE = """
import tensorflow as tf
kernel = tf.Variable([[1.0, 2.0, 3.0]])
tf.compat.v1.train.Saver({"dense/kernel": kernel}).save(None, "old.ckpt")
tf.train.Checkpoint(kernel=tf.Variable([[0.0]] * 3)).save("template/new.ckpt")
"""
# A user's port; today's TensorFlow answers in the place of TensorFlow 1.
PORT = """
import pathlib
page = "import tensorflow.compat.v1 as tf\\n\\ndef twice(x):\\n    return 2.0 * x\\n"
test = '''
import numpy as np
from tf1to2.parity import Pair
pair = Pair("old", "new")
pair.op("twice", "three numbers", np.float32([1, 2, 3]))
test_parity = pair.test()
'''
for name, text in (("old", page), ("new", page), ("test_port", test)):
    pathlib.Path(name + ".py").write_text(text)

from tf1to2.parity import settings

settings.apply()
import test_port
from tf1to2.parity import recordings, v1
from tf1to2.prove import asking

def ask(python, page, requests, settings="default", apart=False):
    answers = [v1.respond(page.module, request) for request in requests]
    unordered = [[] for _ in requests]
    return answers, recordings.Versions("1.15.5", "1.18.5", unordered)

asking.ask = ask
asking.record(test_port.pair, "python")
"""
# Likewise, with the extra "tensorflow".
TENSORFLOW_ROWS = [
    ("verify broadcasting", 0, "5 pairs, .* arrays compared: proven"),
    (
        "verify broadcasting.add_tiled --format json --settings default",
        0,
        '"failures": .*$',
    ),
    (
        "verify broadcasting.add_tiled --format text --settings strict",
        0,
        "strict settings",
    ),
    ("prove test_port.py --all --format text", 0, "2 of 2 leaves identical in float64"),
    ("prove test_port.py twice --format json", 0, '"verdict": "proven"'),
    (
        "record test_port.py --check --anew --jobs 1 --environment tf1 --with six"
        " --python nowhere/python",
        2,
        "nowhere/python has no TensorFlow",
    ),
    (
        "mutate test_port.py --jobs 1 --sample 1 --only 3.0 --results results.json",
        0,
        "^new: 1 of 1 changes noticed",
    ),
    ("bench broadcasting.add_tiled --format text", 0, "^broadcasting.add_tiled +small"),
    ("bench test_port.py", 0, "^new.twice +as proven"),
    ("bench work.affine --threads 1", 0, "^calls +concrete, NumPy +Session.run"),
    ("bench nothing --against 1.15.5 --environment tf1", 2, "no topic"),
    (
        "bench broadcasting.add_broadcast --memory --format json"
        " --output-file bench.json",
        0,
        "^$",
    ),
    (
        "convert-checkpoint old.ckpt new.ckpt --map map.json --dry-run",
        0,
        "0 unaccounted",
    ),
    (
        "convert-checkpoint old.ckpt new.ckpt --map map.json --like template --force",
        0,
        "^wrote new.ckpt: 2 tensors",
    ),
    (
        "convert-checkpoint old.ckpt objects.ckpt --names names.json --format objects",
        0,
        "^wrote objects.ckpt: 1 tensors",
    ),
    (
        "convert-checkpoint old.ckpt names.ckpt --names names.json --format names"
        " --write-map written.json",
        0,
        "^wrote written.json",
    ),
    (
        "convert-checkpoint old.ckpt other.ckpt --map auto --like template",
        1,
        '"dense/kernel": ""',
    ),
]


class Built:
    """Wheel and sdist, and fresh environments that have the wheel."""

    folder = source = wheel = sdist = None

    @classmethod
    def build(cls, folder):
        cls.folder, cls.source = folder, folder / "tf1to2-source"
        unwanted = shutil.ignore_patterns(".git", *MADE)
        shutil.copytree(ROOT, cls.source, ignore=unwanted)
        stale = cls.source / "build/lib/v2_eager/a_topic_of_old.py"
        stale.parent.mkdir(parents=True)
        stale.touch()
        out = str(folder / "dist")
        build = [sys.executable, "-m", "build", "--sdist", "--wheel", "--outdir", out]
        run(*build, cwd=cls.source)
        (cls.wheel,) = folder.glob("dist/*.whl")
        (cls.sdist,) = folder.glob("dist/*.tar.gz")
        cls.environment = staticmethod(functools.cache(cls.environment))

    @classmethod
    def environment(cls, extra):
        """The folder of the commands of an environment of its own."""
        place = cls.folder / f"environment-{extra}"
        run(sys.executable, "-m", "venv", place)
        bin = place / "bin"
        extra = f"[{extra}]" if extra else ""
        run(bin / "python", "-m", "pip", "install", "-q", f"{cls.wheel}{extra}")
        return bin


def run(*command, cwd=None, expect=0, **options):
    """Runs a command that knows nothing of this checkout; returns what it wrote."""
    hidden = ("PYTHON", "TF1TO2_", "TF_", "COLUMNS")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    environment.update(options.pop("env", {}))
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd or Built.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        **options,
    )
    if expect is not None and done.returncode != expect:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    Built.build(pathlib.Path(folder.name).resolve())


def files(folder):
    """The files below a folder, relative to it, without those of a build."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if path.parts[0] != "build"}


class BuildTest(unittest.TestCase):
    def test_the_wheel_has_all_of_the_packages_and_of_the_guides(self):
        wanted = {
            path: path
            for path in files(Built.source)
            if (Built.source / path.split("/")[0] / "__init__.py").exists()
            and not path.startswith(("tf1to2/tests/", "upkeep/"))
        }
        for path in files(Built.source):
            shown = path.startswith("examples/") and path.endswith(programs.SHOWN)
            if path in TOP or path.startswith("guide/") or shown:
                wanted[DOCUMENTS + path] = path
        with zipfile.ZipFile(Built.wheel) as wheel:
            there = {n for n in wheel.namelist() if ".dist-info/" not in n}
            self.assertEqual(there, set(wanted))
            for name, path in wanted.items():
                self.assertEqual(wheel.read(name), (Built.source / path).read_bytes())

    def test_the_sdist_is_a_checkout(self):
        with tarfile.open(Built.sdist) as sdist:
            there = {
                member.name.partition("/")[2] for member in sdist if member.isfile()
            }
        made = {"PKG-INFO"} | {n for n in there if n.startswith("tf1to2.egg-info/")}
        self.assertEqual(there - made, files(Built.source) - made)


def settings(key):
    """The YAML of the chapter on scan that has `key`, a list or a mapping."""
    import yaml  # pre-commit brings it

    texts = re.findall(r"(?ms)^```yaml\n(.*?)^```$", SCAN)
    (found,) = [t for t in map(yaml.safe_load, texts) if key in t]
    return found[key]


class Commands(unittest.TestCase):
    """A folder with a legacy program, and an environment."""

    extra = ""

    @classmethod
    def setUpClass(cls):
        cls.bin = Built.environment(cls.extra)
        folder = tempfile.TemporaryDirectory(dir=Built.folder)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "examples", cls.folder / "examples")
        (cls.folder / "map.json").write_text(json.dumps(MAP))
        (cls.folder / "names.json").write_text('{"dense/kernel": "kernel"}')

    def tf1to2(self, arguments, status=0, **options):
        command = [self.bin / "tf1to2", *shlex.split(arguments)]
        return run(*command, cwd=self.folder, expect=status, input=LEGACY, **options)

    def check(self, arguments, status, shown):
        self.assertRegex(self.tf1to2(arguments, status), f"(?m){shown}")


class WithoutTensorflowTest(Commands):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tf1to2(cls, NEW_BASELINE.replace("uses.json", "old.json"))

    @parameterized.expand([(row[0], *row) for row in ROWS])
    def test_command(self, _, arguments, status, shown):
        self.check(arguments, status, shown)

    def test_the_environment_has_neither_tensorflow_nor_the_tests_of_the_tools(self):
        for name in ("tensorflow", "numpy", "tf1to2.tests"):
            out = run(self.bin / "python", "-c", f"import {name}", expect=1)
            self.assertIn("ModuleNotFoundError", out)

    def test_as_a_module(self):
        python = self.bin / "python"
        out = run(python, "-m", "tf1to2", "topics", cwd=self.folder)
        self.assertEqual(out, self.tf1to2("topics"))

    @parameterized.expand(
        [(s,) for s in test_guides.SESSIONS if s not in test_guides.PROVING]
    )
    def test_a_session_of_the_readme(self, first):
        arguments = first.removeprefix("$ tf1to2 ")
        environment = {"COLUMNS": test_guides.columns(first)}
        out = self.tf1to2(arguments, None, env=environment)
        self.assertEqual(test_guides.unprinted(first, out), [])

    def test_the_workflow_of_the_chapter(self):
        steps = [s["run"] for s in settings("jobs")["tf1"]["steps"] if "run" in s]
        self.assertIn(PLACEHOLDER, steps[0])
        shutil.copytree(self.folder / "examples", self.folder / "project")
        project = self.folder / "project"
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        script = "\n".join(steps).replace(PLACEHOLDER, str(Built.wheel))
        run(
            self.bin / "tf1to2",
            "scan",
            "--write-baseline",
            "tf1-baseline.json",
            ".",
            cwd=project,
        )
        for status in (0, 1):  # as it was, then with a new use
            out = run(
                "bash", "-ec", script, cwd=project, expect=status, env={"PATH": path}
            )
            (project / "new.py").write_text(LEGACY)
        self.assertIn("::error file=./new.py,line=2", out)


class WithDocsTest(Commands):
    extra = "docs"

    def test_the_site_has_the_guide_and_every_pair(self):
        self.check("page", 0, "^site/index.html$")
        self.check("page --output another", 0, "^another/index.html$")
        for name, topic in topics.topics().items():
            page = (self.folder / "site" / f"{name}.html").read_text("utf-8")
            for pair in topic.pairs:
                self.assertIn(f'<section id="{name}.{pair}">', page)
        self.assertTrue((self.folder / "site/errors.html").exists())


class CoverageTest(unittest.TestCase):
    """A command, option or choice without a row is an error here."""

    def test_every_command_and_option_is_run(self):
        rows = [shlex.split(row[0]) for row in (*ROWS, *TENSORFLOW_ROWS)]
        missing = []
        for name, parser in test_guides.commands().items():
            used = [words for words in rows if words[0] == name]
            if not used:
                missing.append(name)
            for action in parser.filled()._actions:
                if "--help" in action.option_strings or not action.option_strings:
                    continue
                if action.help is argparse.SUPPRESS:  # between processes
                    continue
                option = action.option_strings[-1]
                rest = [w[w.index(option) :] for w in used if option in w]
                values = {w[1] for w in rest if action.choices}
                if not rest or values != set(action.choices or ()):
                    missing.append(f"{name} {option}")
        self.assertEqual(missing, [])

    def test_the_readme_names_every_command_and_no_other(self):
        named = set(re.findall(r"(?:`|\$ )tf1to2 ([a-z-]+)", README))
        self.assertEqual(named, set(test_guides.commands()))


class WithTensorflowTest(Commands):
    extra = "tensorflow"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "template").mkdir()
        run(cls.bin / "python", "-c", SOURCE, cwd=cls.folder)
        run(cls.bin / "python", "-c", PORT, cwd=cls.folder)

    def test_pytest_loads_the_plugin(self):
        command = [self.bin / "python", "-m", "pytest", "-q", "test_port.py"]
        self.assertIn("4 passed", run(*command, cwd=self.folder))

    @parameterized.expand([(row[0], *row) for row in TENSORFLOW_ROWS])
    def test_command(self, _, arguments, status, shown):
        self.check(arguments, status, shown)
        if "bench.json" in arguments:
            report = json.loads((self.folder / "bench.json").read_text())
            self.assertEqual(report["failed"], [])

    def test_the_proofs_as_tests(self):
        """With the extra "test", in the same environment, for the download's sake."""
        python = self.bin / "python"
        run(python, "-m", "pip", "install", "-q", f"{Built.wheel}[test]")
        command = (
            "-m pytest -q --pyargs parity_tests -k broadcasting -p no:cacheprovider"
        )
        strict = ["--strict-markers", "-W", "error"]
        out = run(python, *command.split(), *strict, cwd=self.folder)
        self.assertRegex(out.splitlines()[-1], r"^\d+ passed, \d+ deselected in")


class PortTest(unittest.TestCase):
    """A user's own repository, examples/port, in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.bin = Built.environment("tensorflow")  # once, for the download's sake
        cls.folder = Built.folder / "port"
        shutil.copytree(ROOT / "examples" / "port", cls.folder)
        cls.path = {"PATH": f"{cls.bin}{os.pathsep}{os.environ['PATH']}"}

    def tf1to2(self, arguments, status=0):
        command = [self.bin / "tf1to2", *shlex.split(arguments)]
        return run(*command, cwd=self.folder, expect=status)

    def test_it_is_proven(self):
        self.assertRegex(self.tf1to2("prove test_port.py"), "4 cases: .*: proven")

    def test_a_mistake_is_told(self):
        page = self.folder / "ported" / "net.py"
        right = page.read_text("utf-8")
        self.addCleanup(page.write_text, right, "utf-8")
        page.write_text(right.replace("-strength * upstream", "strength * upstream"))
        out = self.tf1to2("prove test_port.py net.flip_gradient", 1)
        self.assertIn("differs first in gradient: gradients/inputs/0", out)

    def test_its_port_is_broken_in_vain(self):
        out = self.tf1to2("mutate test_port.py net --only custom_gradient")
        self.assertIn("net: 1 of 1 changes noticed", out)

    def test_its_workflow(self):
        """pytest -n 2, among others, which comes with the extra "test"."""
        import yaml

        text = (self.folder / ".github/workflows/parity.yml").read_text("utf-8")
        steps = [s.get("run") for s in yaml.safe_load(text)["jobs"]["parity"]["steps"]]
        script = "\n".join(filter(None, steps))
        asked = f"tf1to2[test] @ {PLACEHOLDER}"
        self.assertIn(asked, script)
        script = script.replace(asked, f"{Built.wheel}[test]")
        out = run("bash", "-ec", script, cwd=self.folder, env=self.path)
        guide = (ROOT / "guide" / "port.md").read_text("utf-8")
        self.assertRegex(out, "(?m)^" + re.search(r"(?m)^\d+ passed", guide)[0])


class HookTest(unittest.TestCase):
    """The chapter's pre-commit settings, in a repository of its own."""

    @classmethod
    def setUpClass(cls):
        hook = cls.repository("hook")
        shutil.copytree(Built.source, hook, dirs_exist_ok=True)
        cls.git("add", "-A", cwd=hook)
        cls.git("commit", "-qm", "The hook", cwd=hook)
        revision = cls.git("rev-parse", "HEAD", cwd=hook).strip()
        (cls.settings,) = settings("repos")
        cls.settings.update(repo=str(hook), rev=revision)

    @staticmethod
    def git(*words, expect=0, cwd):
        who = {
            f"GIT_{w}_{k}": "user@host"
            for w in ("AUTHOR", "COMMITTER")
            for k in ("NAME", "EMAIL")
        }
        # Not the lists of files, the environments, of whoever runs this.
        who |= {"PRE_COMMIT_HOME": str(Built.folder / "pre-commit")}
        return run("git", *words, cwd=cwd, expect=expect, env=who)

    @classmethod
    def repository(cls, name):
        folder = Built.folder / name
        folder.mkdir()
        cls.git("init", "-q", cwd=folder)
        cls.git("config", "commit.gpgsign", "false", cwd=folder)
        return folder

    def project(self, name):
        """A repository with the hook, and what it had before the hook."""
        folder = self.repository(name)
        text = json.dumps({"repos": [self.settings]})  # which is YAML, too
        (folder / ".pre-commit-config.yaml").write_text(text)
        (folder / "common.py").write_text("import tensorflow as tf\n")
        (folder / "net.py").write_text("from common import tf\n")
        command = "scan --write-baseline tf1-baseline.json ."
        run(Built.environment("") / "tf1to2", *command.split(), cwd=folder)
        self.git("add", "-A", cwd=folder)
        self.git("commit", "-qm", "As it was", cwd=folder)
        run(sys.executable, "-m", "pre_commit", "install", cwd=folder)
        return folder

    def commit(self, folder, path, text, status):
        (folder / path).write_text(text)
        self.git("add", path, cwd=folder)
        return self.git("commit", "-m", "A change", cwd=folder, expect=status)

    def test_a_new_use_is_not_committed(self):
        folder = self.project("plain")
        self.commit(folder, "ported.py", "import tensorflow as tf\ntf.add(1, 2)\n", 0)
        out = self.commit(folder, "new.py", LEGACY, 1)
        self.assertIn("new.py:2:5: tf.placeholder", out)

    def test_a_new_use_of_a_name_from_a_module_that_is_not_staged(self):
        folder = self.project("unstaged")
        text = "from common import tf\nx = tf.placeholder(tf.float32)\n"
        out = self.commit(folder, "net.py", text, 1)
        self.assertIn("net.py:2:5: tf.placeholder", out)
