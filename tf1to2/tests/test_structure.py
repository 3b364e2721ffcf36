"""What every topic must have, read off the trees: nobody keeps a list by hand."""

import ast
import functools
import importlib
import inspect
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import tokenize
import unittest

from parameterized import parameterized

import parity_tests
from parity_tests.exceptions import BOUNDS, REASONS, TABLE, read
from tf1to2.pages import docstrings, topics
from tf1to2.parity.cases import RUNGS, Raises
from tf1to2.scan.configuration import tomllib
from upkeep import docs

ROOT = pathlib.Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TOPICS = topics.topics()
BY_TOPIC = [(name, topic) for name, topic in TOPICS.items()]


def pages(name):
    return [importlib.import_module(f"{p}.{name}") for p in ("v1_graph", "v2_eager")]


def test_module(name):
    return importlib.import_module(f"parity_tests.test_{name}")


test_module.__test__ = False


class FourPlacesTest(unittest.TestCase):
    def test_there_are_topics(self):
        self.assertGreaterEqual(len(TOPICS), 8)

    @parameterized.expand(
        [
            ("left_pages", lambda: topics.stems("v1_graph")),
            ("proofs", lambda: topics.stems("parity_tests", "test_")),
            (
                "recordings",
                lambda: sorted(
                    path.stem
                    for path in pathlib.Path(parity_tests.__path__[0]).glob("golden/*")
                ),
            ),
            (
                "chapters",
                lambda: sorted(n for names in topics.groups().values() for n in names),
            ),
        ]
    )
    def test_the_same_stems_as_the_right_pages(self, _, stems):
        self.assertEqual(stems(), sorted(TOPICS))

    @parameterized.expand(BY_TOPIC)
    def test_the_chapter_links_to_its_pages_and_names_every_pair(self, name, topic):
        section = (ROOT / "guide" / f"{name}.md").read_text("utf-8")
        self.assertTrue(section.startswith(f"# {topic.title}\n"))
        for link in (*topic.names, f"test_{name}.py"):
            self.assertIn(link, section)
        missing = [pair for pair in topic.pairs if f"`{pair}`" not in section]
        self.assertEqual(missing, [])


class DocsTest(unittest.TestCase):
    @parameterized.expand([(str(p.relative_to(ROOT)), p) for p in docs.guides()])
    def test_links_lead_somewhere(self, _, guide):
        text = guide.read_text("utf-8")
        links = re.findall(
            r"\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"(?s)```.*?```", "", text)
        )
        for link in sorted(set(links)):
            if link.startswith("https://"):  # no test asks the network
                continue
            path, _, anchor = link.partition("#")
            target = guide.parent / path if path else guide
            self.assertTrue(target.exists(), link)
            if anchor:
                there = target.read_text("utf-8")
                if target.suffix == ".py":  # a line
                    self.assertLessEqual(int(anchor[1:]), there.count("\n"), link)
                    continue
                titles = re.findall(r"^#+ (.+)$", there, re.M)
                slugs = {
                    re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles
                } | set(re.findall(r'<a id="([\w-]+)">', there))
                self.assertIn(anchor, slugs, link)


class ClassicExamplesTest(unittest.TestCase):
    """guide/maintaining/classics.md: what became of every example of the old texts."""

    TEXTS = {"ETF2": range(1, 37), "ETF1": range(1, 93), "TVA": range(1, 32)}
    TEXTS["WAY"] = range(1, 39)
    TEXTS["ETF1b"] = (19, 20, 69, 83, 84, 85, 87, 90, 91)
    # Shell commands and captions: what there is to say of them instead of a proof.
    UNPROVEN = {("ETF2", 1), ("WAY", 38)}

    @classmethod
    def setUpClass(cls):
        table = (ROOT / "guide/maintaining/classics.md").read_text("utf-8")
        cls.rows = re.findall(
            r"^\| (ETF2|ETF1b?|TVA|WAY) (\d+) \| .+ \| (.+) \|$", table, re.M
        )

    def test_no_number_is_missing_and_none_comes_twice(self):
        numbers = [(text, int(number)) for text, number, _ in self.rows]
        wanted = [(text, n) for text, numbers in self.TEXTS.items() for n in numbers]
        self.assertEqual(sorted(numbers), sorted(wanted))

    def test_every_row_leads_to_a_proven_pair(self):
        for text, number, target in self.rows:
            with self.subTest(example=f"{text} {number}"):
                if (text, int(number)) in self.UNPROVEN:
                    self.assertEqual(target, "none: there is nothing to prove")
                    continue
                link = re.fullmatch(
                    r"\[(\w+)\.(\w+)\]\(\.\./\.\./parity_tests/test_\1\.py\)", target
                )
                self.assertIsNotNone(link, target)
                proven = {
                    case.name
                    for case in test_module(link[1]).PROOF.cases
                    if not isinstance(case, Raises)
                }
                self.assertIn(link[2], proven)


class PairTest(unittest.TestCase):
    @parameterized.expand(BY_TOPIC)
    def test_same_names_in_the_same_order(self, name, topic):
        left, right = pages(name)
        self.assertEqual(left.__all__, right.__all__)
        self.assertEqual(tuple(right.__all__), topic.pairs)
        for page in (left, right):
            source = inspect.getsource(page)
            defined = re.findall(r"^def (\w+)\(", source, re.M)
            self.assertEqual([n for n in defined if n in page.__all__], page.__all__)
            self.assertEqual(len(set(page.__all__)), len(page.__all__))

    @parameterized.expand(BY_TOPIC)
    def test_same_signatures(self, name, _):
        left, right = pages(name)
        for pair in right.__all__:
            with self.subTest(pair=pair):
                ours, theirs = getattr(left, pair), getattr(right, pair)
                ours, theirs = _plain(ours), _plain(theirs)
                self.assertEqual(inspect.signature(ours), inspect.signature(theirs))

    @parameterized.expand(BY_TOPIC)
    def test_same_first_docstring_lines(self, name, _):
        left, right = pages(name)
        self.assertEqual(_first_line(left), _first_line(right))
        for pair in right.__all__:
            with self.subTest(pair=pair):
                first = _first_line(getattr(right, pair))
                self.assertEqual(_first_line(getattr(left, pair)), first)
                self.assertTrue(first.endswith("."), first)

    @parameterized.expand(BY_TOPIC)
    def test_a_right_docstring_repeats_nothing_of_the_left_one(self, name, topic):
        packages = ["v2_eager", *(["v2_keras"] if topic.keras else [])]
        left = importlib.import_module(f"v1_graph.{name}")
        for package in packages:
            page = importlib.import_module(f"{package}.{name}")
            for pair in page.__all__:
                ours, theirs = (
                    docstrings.parts(_docstring(getattr(p, pair))) for p in (left, page)
                )
                twice = [
                    text for part, text in theirs.items() if ours.get(part) == text
                ]
                self.assertEqual(
                    twice,
                    [],
                    f"{package}.{name}.{pair}: leave this out of the docstring, for "
                    "the left page has it",
                )

    @parameterized.expand(BY_TOPIC)
    def test_same_steps(self, name, topic):
        left, right = (
            re.findall(r"^ +# --- (.+)$", path.read_text("utf-8"), re.M)
            for path in (topic.v1, topic.v2)
        )
        self.assertEqual(left, right)


class StepTest(unittest.TestCase):
    """What the session ran step by step is a call per step: Python sees every one."""

    INSIDE = {
        "accumulated_step": "one step, whose micro-batches nobody looks at",
        "random_walk": "the loop is in the graph on the left, too",
    }

    @parameterized.expand(BY_TOPIC)
    def test_a_loop_of_runs_is_no_loop_of_a_graph(self, name, topic):
        left, right = (_functions(path) for path in (topic.v1, topic.v2))
        found = [
            pair
            for pair, body in left.items()
            if pair in right and _runs_in_turn(body, left) and _loops(right[pair])
        ]
        self.assertEqual([pair for pair in found if pair not in self.INSIDE], [])


def _functions(path):
    tree = ast.parse(path.read_text("utf-8"))
    return {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}


def _runs_in_turn(body, page):
    """Whether a function, or `states` that it calls, runs a session in a loop."""
    loops = ast.For, ast.While, ast.ListComp, ast.GeneratorExp
    for node in ast.walk(body):
        if isinstance(node, loops):
            calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
            if any(isinstance(c, ast.Attribute) and c.attr == "run" for c in calls):
                return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "states":
            return _runs_in_turn(page["states"], page) if "states" in page else False
    return False


def _loops(body):
    """Whether a `tf.function` in it has a loop, of TensorFlow's or of Python's."""
    return any(
        isinstance(inner, ast.For) and "range(" in ast.unparse(inner.iter)
        for step in ast.walk(body)
        if isinstance(step, ast.FunctionDef)
        and any("tf.function" in ast.unparse(d) for d in step.decorator_list)
        for inner in ast.walk(step)
    )


def _foreign(topic, source):
    """What a right page must not have, and has; `bridges` is about `compat.v1`."""
    foreign = ["compat.v1", "tensorflow.python", "import keras", "tf1to2"]
    if topic == "bridges":
        foreign.remove("compat.v1")
    return [word for word in foreign if word in source]


PRIVATE = {
    "_replace": "a method of a namedtuple, which Python documents",
    "_asdict": "a method of a namedtuple, which Python documents",
    "_exit": "os._exit, which Python documents",
    "_get_variable_index": "the docstring of keras.optimizers.Optimizer uses it",
}
"""Names with an underscore that pages use and do not define, and why they may."""

MODULES = [
    (path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."), path)
    for package in ("v2_eager", "v2_keras")
    for path in sorted(topics.folder(package).rglob("*.py"))
]


def _package(path):
    """The modules of a page, or of `numerics`: one, or all below its folder."""
    parts = path.relative_to(ROOT).parts
    if len(parts) == 2:
        return [path]
    return sorted(ROOT.joinpath(*parts[:2]).rglob("*.py"))


@functools.cache
def _private_members(path):
    """The names with an underscore that a module's classes define or assign."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                found.add(node.attr)
        if isinstance(node, ast.ClassDef):
            found |= {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            assigned = [n for n in node.body if isinstance(n, ast.Assign)]
            found |= {ast.unparse(t) for n in assigned for t in n.targets}
    return {name for name in found if name.startswith("_")}


def _private_accesses(source, own, allowed=PRIVATE):
    """Yields (expression, attribute) where a private attribute is neither."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            if node.attr.endswith("__") or node.attr in own or node.attr in allowed:
                continue
            yield f"line {node.lineno}: {ast.unparse(node)}", node.attr


def _unexplained_raw_ops(source):
    """The functions that use `raw_ops`, and say nowhere what else there would be.

    The sentence has "would" or "no public" in it. It is a comment or the docstring, in
    the function or up to three lines above it.
    """
    lines, words = source.splitlines(), re.compile("would|no public", re.I)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    said = {
        line
        for token in tokens
        if token.type == tokenize.COMMENT
        or (token.type == tokenize.STRING and '"""' in token.string)
        if words.search(token.string)
        for line in range(token.start[0], token.end[0] + 1)
    }
    functions = [
        part
        for node in ast.parse(source).body
        for part in (node.body if isinstance(node, ast.ClassDef) else [node])
        if isinstance(part, ast.FunctionDef)
    ]
    return [
        function.name
        for function in functions
        if "raw_ops" in "\n".join(lines[function.lineno - 1 : function.end_lineno])
        if said.isdisjoint(range(function.lineno - 3, function.end_lineno + 1))
    ]


@functools.cache
def _public_classes():
    """The names of the classes of Keras' modules and of `tf.train`."""
    import keras
    import tensorflow as tf

    kinds = "layers optimizers losses metrics callbacks regularizers constraints"
    modules = [getattr(keras, kind) for kind in kinds.split()]
    return {
        name
        for module in (*modules, tf.train)
        for name, value in vars(module).items()
        if inspect.isclass(value)
    }


def _plain(function):
    return getattr(function, "python_function", function)


def _docstring(documented):
    return inspect.getdoc(_plain(documented))


def _first_line(documented):
    return _docstring(documented).partition("\n")[0]


class ProvenTest(unittest.TestCase):
    @parameterized.expand(BY_TOPIC)
    def test_every_pair_climbs_every_rung_that_applies(self, name, topic):
        cases = test_module(name).PROOF.cases
        for pair in topic.pairs:
            with self.subTest(pair=pair):
                proving = [
                    case
                    for case in cases
                    if case.name == pair and not isinstance(case, Raises)
                ]
                self.assertTrue(proving, "no case")
                for rung in RUNGS[proving[0].kind]:
                    proven = any(rung not in case.skip for case in proving)
                    reasoned = all(case.skip.get(rung) for case in proving)
                    self.assertTrue(proven or reasoned, rung)

    @parameterized.expand(BY_TOPIC)
    def test_cases_name_pairs(self, name, topic):
        named = {case.name for case in test_module(name).PROOF.cases}
        self.assertEqual(named - set(topic.pairs), set())

    @parameterized.expand(BY_TOPIC)
    def test_bad_input_is_tried(self, name, _):
        cases = test_module(name).PROOF.cases
        self.assertTrue(any(isinstance(case, Raises) for case in cases))

    @parameterized.expand(BY_TOPIC)
    def test_the_proof_runs_every_check(self, name, _):
        module = test_module(name)
        methods = [
            method
            for group in vars(module).values()
            if inspect.isclass(group) and issubclass(group, unittest.TestCase)
            for method in dir(group)
            if method.startswith("test_parity_")
        ]
        self.assertEqual(len(methods), len(module.PROOF.checks()))

    @parameterized.expand(BY_TOPIC)
    def test_what_1_15_5_answered_of_a_pair_is_not_all_zeros(self, name, _):
        """A loss of two equal images is 0 on both sides, whatever they compute."""
        proof, zeros = test_module(name).PROOF, {}
        for case in [c for c in proof.cases if not isinstance(c, Raises)]:
            for sizes in case.bindings():
                found = [
                    leaf.any()
                    for path, leaf in proof.recorded_answer(case, sizes).items()
                    if path.startswith("outputs")
                    and leaf.dtype.kind == "f"
                    and leaf.size
                ]
                if found:
                    zeros.setdefault(case.name, []).append(not any(found))
        self.assertEqual([pair for pair, all_of in zeros.items() if all(all_of)], [])

    def test_every_bound_names_a_pair_and_gives_its_reason(self):
        for bound in BOUNDS:
            with self.subTest(bound=bound):
                topic, pair = topics.find(bound.pair)
                self.assertIsNotNone(pair)
                self.assertGreater(len(bound.reason.split()), 5)
                # 0 units: zeros of another sign, and nothing else.
                self.assertTrue(0 <= bound.measured <= bound.ulps)

    def test_every_reason_has_a_row(self):
        self.assertEqual({bound.reason for bound in BOUNDS}, {*REASONS.values()})

    def test_rows_of_bounds_are_sorted(self):
        rows = [r for r in TABLE.read_text("utf-8").splitlines() if "\t" in r][1:]
        self.assertEqual(
            rows,
            sorted(rows, key=lambda row: row.split("\t")[:7]),
            f"sort the rows of {TABLE.name} by their first seven cells, pair to where",
        )

    @parameterized.expand(
        [
            ("a_reason_that_is_missing", 5, "EPSILON", "EPS", "'EPS' is not a key"),
            ("a_column_that_is_missing", 2, "way", "path", "columns: path, way"),
            ("a_cell_too_few", 3, "strict\t", "", "10 cells, not 11"),
            ("a_number_in_words", 5, "16\t16", "16\tfew", "few"),
            ("a_second_row", 4, "function", "eager", "two rows for losses.f, a"),
        ]
    )
    def test_a_row_that_is_refused(self, _, line, old, new, message):
        head = "pair case leaf way side settings where ulps measured noise reason"
        table = (
            "# by hand\n" + head.replace(" ", "\t") + "\n"
            "losses.f\ta\toutputs\teager\t1.15.5\tstrict\t\t8\t8\t2e-16\tHUBER\n"
            "losses.f\ta\toutputs\tfunction\t1.15.5\tstrict\t\t9\t9\t\tHUBER\n"
            "losses.f\tb\toutputs\teager\t1.15.5\t\t\t16\t16\t\tEPSILON\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "exceptions.tsv")
            path.write_text(table, "utf-8")
            self.assertEqual([bound.noise for bound in read(path)], [2e-16, 0, 0])
            path.write_text(table.replace(old, new), "utf-8")
            with self.assertRaisesRegex(
                ValueError, rf"exceptions\.tsv, line {line}: .*{message}"
            ):
                read(path)


class SourceTest(unittest.TestCase):
    @parameterized.expand(BY_TOPIC)
    def test_the_left_page_is_legacy_code_that_python_37_reads(self, _, topic):
        source = topic.v1.read_text("utf-8")
        ast.parse(source, feature_version=(3, 7))
        self.assertIn("import tensorflow.compat.v1 as tf", source)
        # It had no public name, and legacy code imports it so.
        private = source.replace("from tensorflow.python.client import timeline", "")
        self.assertNotIn("tensorflow.python", private)

    @parameterized.expand(BY_TOPIC)
    def test_the_right_page_is_native(self, name, topic):
        for path in topic.sources:
            with self.subTest(path=path.name):
                self.assertEqual(_foreign(name, path.read_text("utf-8")), [])

    @parameterized.expand(MODULES)
    def test_only_public_names_are_used(self, name, path):
        source = path.read_text("utf-8")
        private = ["tensorflow.python", "tensorflow.core", "keras.src"]
        self.assertEqual([word for word in private if word in source], [])
        own = set().union(*map(_private_members, _package(path)))
        found = [text for text, _ in _private_accesses(source, own)]
        self.assertEqual(
            found, [], "write it by public names, or give PRIVATE the reason"
        )

    def test_each_private_name_that_is_allowed_is_used(self):
        used = set()
        for _, path in MODULES:
            found = _private_accesses(path.read_text("utf-8"), (), allowed=())
            used |= {attribute for _, attribute in found}
        self.assertEqual(PRIVATE.keys() - used, set())

    @parameterized.expand(
        [
            ("of_a_library_class", "class A(B):\n f = lambda self: self._slots", 1),
            ("of_another_object", "def f(model):\n return model._layers", 1),
            ("of_its_own", "class A:\n def f(self):\n  self._x = 1\n  self._x", 0),
            ("a_method_of_its_own", "class A:\n def _f(self):\n  self._f()", 0),
            ("a_special_name", "def f(model):\n return model.__call__", 0),
            ("of_a_named_tuple", "def f(state):\n return state._replace(x=1)", 0),
        ]
    )
    def test_private_accesses(self, _, source, count):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.py")
            path.write_text(source, "utf-8")
            own = _private_members(path)
        self.assertEqual(len(list(_private_accesses(source, own))), count)

    @parameterized.expand(MODULES)
    def test_a_raw_op_says_what_the_public_one_would_do(self, name, path):
        source = path.read_text("utf-8")
        self.assertEqual(_unexplained_raw_ops(source), [])

    @parameterized.expand(
        [
            ("a_call", "def f(x):\n    return tf.raw_ops.Select(x=x)\n", ["f"]),
            (
                "a_comment_inside",
                "def f(x):\n    # tf.where would broadcast.\n    tf.raw_ops.S(x=x)\n",
                [],
            ),
            (
                "a_comment_above",
                "# No public function does.\ndef f(x):\n    tf.raw_ops.S(x=x)\n",
                [],
            ),
            (
                "a_docstring",
                'def f(x):\n    """tf.where would."""\n    tf.raw_ops.S(x=x)\n',
                [],
            ),
            (
                "another_function_s_comment",
                "def f(x):\n    tf.raw_ops.S(x=x)\n\n\n\n\ndef g(x):\n    x  # would\n",
                ["f"],
            ),
        ]
    )
    def test_unexplained_raw_ops(self, _, source, functions):
        self.assertEqual(_unexplained_raw_ops(source), functions)

    @parameterized.expand(MODULES)
    def test_a_namesake_names_the_public_class(self, name, path):
        missing = []
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in _public_classes():
                pattern = rf"(keras\.\w+|tf\.train|tf\.losses)\.{node.name}\b"
                if not re.search(pattern, ast.get_docstring(node) or ""):
                    missing.append(node.name)
        self.assertEqual(
            missing, [], "say in the docstring what the public class does otherwise"
        )

    def test_compat_v1_is_for_one_page(self):
        bridges = TOPICS["bridges"].v2.read_text("utf-8")
        self.assertEqual(_foreign("bridges", bridges), [])
        self.assertEqual(_foreign("losses", bridges), ["compat.v1"])
        self.assertEqual(_foreign("bridges", "import keras"), ["import keras"])

    @parameterized.expand([("structure",), ("v1",), ("__init__",)])
    def test_what_runs_beside_1_15_is_read_by_python_37(self, stem):
        path = topics.folder("tf1to2") / "parity" / f"{stem}.py"
        ast.parse(path.read_text("utf-8"), feature_version=(3, 7))

    def test_no_proof_is_approximate_and_none_is_skipped(self):
        loose = re.compile(
            r"allclose|assertAlmost|assert_almost|approx\(|isclose|@.*\bskip|skipTest|xfail"
        )
        for path in topics.folder("parity_tests").rglob("*.py"):
            with self.subTest(path=path.name):
                self.assertEqual(loose.findall(path.read_text("utf-8")), [])

    def test_the_tools_start_without_tensorflow(self):
        code = (
            "import sys, tf1to2.cli as c;"
            "c.main(['topics']); c.main(['diff', 'shapes']);"
            "heavy = {'tensorflow', 'numpy', 'hypothesis'} & set(sys.modules);"
            "sys.exit(' '.join(heavy) or 0)"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
        )
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.returncode, 0)
