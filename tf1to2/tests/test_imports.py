"""Packages import down only: each those of lower floors, and there is no circle."""

import ast
import collections
import pathlib
import unittest

from parameterized import parameterized

from tf1to2.pages import page

ROOT = pathlib.Path(__file__).parents[2]
EDITION = ("v1_graph", "v2_eager", "v2_keras")
FLOORS = (
    ("upkeep",),
    ("tf1to2",),  # the command line
    ("fix", "view"),
    ("scan", "explain", "prove", "bench"),
    ("source", "probes", "parity", "checkpoint"),
    ("catalog", "matching", "pages"),
    ("common",),
)
"""The packages, from the roof down. A package imports those of lower floors alone."""

SAME_JOB = {"command", "keras_1", "keras_names", "left", "page", "probes", "program"}
SAME_JOB |= {"proof", "prove", "record"}
"""Names that several modules may have: each does the same, for its package."""

PROVEN = ("parity", "checkpoint", "probes", "scan")
"""What parity_tests import of the tools: the engine, and what they prove."""


def modules():
    """{dotted name: path} of all modules, but for the tests of the tools."""
    found = {}
    for top in ("tf1to2", "upkeep", "parity_tests", *EDITION):
        for path in (ROOT / top).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if not name.startswith("tf1to2.tests"):
                found[name.removesuffix(".__init__")] = path
    return found


def package(name):
    """The package of a module: "scan" of tf1to2.scan.command, or "tf1to2"."""
    top, *parts = name.split(".")
    folder = ROOT.joinpath(top, *parts[:1])
    return parts[0] if top == "tf1to2" and parts and folder.is_dir() else top


def edges(name, path, known):
    """The modules that a module imports, in functions too, or as "tf1to2.some.name".

    The packages around it count only where it imports what they define.
    """
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    texts = {n.value for n in nodes if isinstance(n, ast.Constant)}
    texts = {text for text in texts if isinstance(text, str) and "." in text}
    asked = {
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        if any(f"{node.module}.{alias.name}" not in known for alias in node.names)
    }
    around = {name.rpartition(".")[0], name.rpartition(".")[0].rpartition(".")[0]}
    imported = page.imports(name, path) - (around - asked)
    return (imported | texts) & set(known) - {name}


def circles(edges):
    """Sets of modules, or of packages, that import each other, however far."""

    def reach(name):
        found, waiting = set(), [name]
        while waiting:
            fresh = set(edges.get(waiting.pop(), ())) - found
            found |= fresh
            waiting += fresh
        return found

    reached = {name: reach(name) for name in edges}
    found = {
        frozenset(b for b in reached[a] if a in reached.get(b, ()))
        for a in edges
        if a in reached[a]
    }
    return sorted(map(sorted, found))


class ImportsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        known = modules()
        cls.edges = {name: edges(name, path, known) for name, path in known.items()}

    def test_every_package_has_a_floor(self):
        tools = {n for n in self.edges if n.partition(".")[0] in ("tf1to2", "upkeep")}
        named = [name for floor in FLOORS for name in floor]
        self.assertEqual(sorted(set(map(package, tools))), sorted(named))

    def test_packages_import_down_only(self):
        floor = {name: i for i, names in enumerate(FLOORS) for name in names}
        wrong = [
            f"{module} imports {other}"
            for module, imported in self.edges.items()
            for other in imported
            if {package(module), package(other)} <= floor.keys()
            if package(module) != package(other) and other != "tf1to2"
            if floor[package(module)] >= floor[package(other)]
        ]
        self.assertEqual(wrong, [], "not a lower floor: see FLOORS")

    def test_no_circle_of_modules(self):
        edges = {n: e for n, e in self.edges.items() if package(n) not in EDITION}
        self.assertEqual(circles(edges), [])

    def test_no_circle_of_packages(self):
        found = collections.defaultdict(set)
        for module, imported in self.edges.items():
            found[package(module)] |= {package(o) for o in imported if o != "tf1to2"}
        found = {name: others - {name} for name, others in found.items()}
        self.assertEqual(circles(found), [])

    def test_no_two_modules_with_different_jobs_have_one_name(self):
        names = (n.split(".") for n in self.edges)
        names = (parts[-1] for parts in names if parts[0] in ("tf1to2", "upkeep"))
        found = collections.Counter(names)
        twice = {name for name, count in found.items() if count > 1} - {"__main__"}
        self.assertLessEqual(twice, SAME_JOB)

    def test_nothing_that_users_have_imports_upkeep(self):
        users = {n: e for n, e in self.edges.items() if package(n) != "upkeep"}
        wrong = {n for n, e in users.items() if any(package(m) == "upkeep" for m in e)}
        self.assertEqual(wrong, set())

    def test_the_proofs_import_of_the_tools_what_they_prove(self):
        imported = {
            package(other)
            for module, others in self.edges.items()
            if package(module) == "parity_tests"
            for other in others
            if other.startswith("tf1to2.")
        }
        self.assertLessEqual(imported, {"pages", *PROVEN})

    def test_the_tools_import_no_proof(self):
        wrong = {
            module
            for module, imported in self.edges.items()
            if module.startswith("tf1to2")
            if any(other.startswith("parity_tests.") for other in imported)
        }
        self.assertEqual(wrong, set())

    @parameterized.expand(
        [
            ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
            ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, [["b", "c"]]),
            (
                {"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}},
                [["a", "b"], ["c", "d"]],
            ),
        ]
    )
    def test_a_circle_is_seen(self, edges, found):
        self.assertEqual(circles(edges), found)


if __name__ == "__main__":
    unittest.main()
