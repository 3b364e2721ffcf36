"""Every parameter of a public function and of a class is in its docstring's "Args:".

A pair's docstring is whole on the left page. The right page and the Keras page have
what differs, and are completed from it, as in all that shows or hands them out. A class
is documented where it is merged: its own docstring has the parameters of its own
`__init__`. Parameters that are only passed through as *args are left out.
"""

import ast
import importlib
import inspect
import pathlib
import unittest

from parameterized import parameterized

from parity_tests.hazards import found
from tf1to2.pages import docstrings, library, topics

TOPICS = [(name,) for name in topics.topics()]
MODULES = [(kind,) for kind in library.kinds()]
KINDS = [(kind,) for kind, by_name in found.classes().items() if by_name]


def undocumented(docstring, parameters):
    """The parameters that the "Args:" of a docstring do not name.

    Args:
        docstring: its text, without indentation; "" where there is none.
        parameters: list of names, as "x" and "**options".

    Returns:
        List of names. An entry of "Args:" may name several: "a, b: two tensors".
    """
    entries = [
        name for section, name in docstrings.parts(docstring) if section == "Args"
    ]
    named = {name.strip() for entry in entries for name in entry.split(",")}
    return [name for name in parameters if name not in named]


def of_definition(definition):
    """The parameters of a Definition of a function: ["x", "axis", "**options"]."""
    args = definition.node.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + ([f"**{args.kwarg.arg}"] if args.kwarg else [])


def of_class(cls):
    """The parameters of a class's own `__init__`: ["units", "**options"]."""
    if "__init__" not in vars(cls):
        return []
    _, *parameters = inspect.signature(vars(cls)["__init__"]).parameters.values()
    return [
        f"**{p.name}" if p.kind is p.VAR_KEYWORD else p.name
        for p in parameters
        if p.kind is not p.VAR_POSITIONAL
    ]


def file_of(module):
    """The file of a module of the pages, below the folder of the repository."""
    path = pathlib.Path(inspect.getsourcefile(importlib.import_module(module)))
    return path.relative_to(topics.folder("v2_eager").parent)


def lacking(definitions):
    """["v1_graph/losses.py: huber_loss: delta"] of what functions do not document."""
    return [
        f"{file_of(d.module.name)}: {d.name}: {', '.join(names)}"
        for d in definitions
        if isinstance(d.node, ast.FunctionDef)
        and (names := undocumented(d.docstring, of_definition(d)))
    ]


class DocstringTest(unittest.TestCase):
    def check(self, lacking):
        if lacking:
            self.fail("\n".join(["missing in docstrings:", *lacking]))


class FunctionTest(DocstringTest):
    @parameterized.expand(TOPICS)
    def test_the_pairs_of(self, topic):
        pairs = [
            side
            for name, sides in library.pairs().items()
            if name.partition(".")[0] == topic
            for side in sides
        ]
        self.check(lacking(pairs))

    @parameterized.expand([(n,) for n, t in topics.topics().items() if t.keras])
    def test_the_keras_page_of(self, topic):
        page = library.edition().module(f"{library.KERAS}.{topic}")
        self.check(lacking([page.definitions[name] for name in page.public]))

    @parameterized.expand(MODULES)
    def test_numerics(self, kind):
        public = [
            definition
            for name, definition in library.numerics().items()
            if name.partition(".")[0] == kind
        ]
        self.check(lacking(public))


class ClassTest(DocstringTest):
    @parameterized.expand(KINDS)
    def test_classes_have_a_docstring(self, kind):
        classes = found.classes()[kind].values()
        self.check(
            [
                f"{file_of(c.__module__)}: {c.__name__}"
                for c in classes
                if not vars(c)["__doc__"]
            ]
        )

    @parameterized.expand(KINDS)
    def test_the_parameters_of(self, kind):
        rows = [
            f"{file_of(c.__module__)}: {c.__name__}: {', '.join(names)}"
            for c in found.classes()[kind].values()
            if (names := undocumented(inspect.cleandoc(c.__doc__ or ""), of_class(c)))
        ]
        self.check(rows)


class MeasureTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("all_of_them", "Adds.\n\nArgs:\n    a: one.\n    **b: rest.", []),
            ("two_in_an_entry", "Adds.\n\nArgs:\n    a, **b: both.", []),
            ("one_that_is_missing", "Adds.\n\nArgs:\n    a: with **b.", ["**b"]),
            ("another_section", "Adds.\n\nRaises:\n    a: b.", ["a", "**b"]),
            ("a_line", "Adds a and b.", ["a", "**b"]),
            ("no_docstring", "", ["a", "**b"]),
        ]
    )
    def test_what_a_docstring_does_not_name(self, _, docstring, expected):
        self.assertEqual(undocumented(docstring, ["a", "**b"]), expected)

    def test_self_and_args_do_not_count(self):
        class Sum:
            def __init__(self, a, *args, b=1, **options):
                pass

        class Other(Sum):
            pass

        self.assertEqual(of_class(Sum), ["a", "b", "**options"])
        self.assertEqual(of_class(Other), [])
