"""Breaks a right page on purpose, in every small way, and sees whether a proof notices.

    python -m tf1to2.parity.mutate TOPIC [--sample N]

Prints the changes that no check and no test noticed. Some of those change no number (a
name in a message, a bound that is never met); the others are gaps in the cases.
"""

import argparse
import ast
import copy
import importlib
import io
import multiprocessing
import pathlib
import queue
import random
import sys
import tempfile
import types
import unittest

from tf1to2 import topics

SECONDS = 180
"""What a mutant may take; more is a hang."""

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


FUNCTIONS = {
    "argmax": "argmin",
    "assign_add": "assign_sub",
    "exp": "log",
    "floor": "round",
    "gather": "boolean_mask",
    "log": "exp",
    "maximum": "minimum",
    "ones": "zeros",
    "ones_like": "zeros_like",
    "reduce_max": "reduce_min",
    "reduce_mean": "reduce_sum",
    "reduce_sum": "reduce_mean",
    "reduce_any": "reduce_all",
    "relu": "identity",
    "scan": "map_fn",
    "sigmoid": "tanh",
    "sqrt": "square",
    "square": "sqrt",
    "stop_gradient": "identity",
    "tanh": "sigmoid",
}
"""Functions and their near misses."""


def mutants(source):
    """Yields (line, description, tree) for every small change to `source`."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0])
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and ast.get_docstring(node) is not None
    }
    for number, node in enumerate(_nodes(tree)):
        for description, change in _changes(node, docstrings):
            twin = copy.deepcopy(tree)
            change(_nodes(twin)[number])
            yield node.lineno, description, ast.fix_missing_locations(twin)


def _nodes(tree):
    """What lies in functions and classes, in an order that a copy shares."""
    return [
        node
        for part in tree.body
        if isinstance(part, (ast.FunctionDef, ast.ClassDef))
        for node in ast.walk(part)
    ]


def _changes(node, docstrings):
    """Yields (description, function that makes the change to a twin of `node`)."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield (
            f"{node.value!r} becomes {node.value + 1!r}",
            _set("value", node.value + 1),
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value!r} is negated", _set("value", not node.value)
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPERATORS:
        yield (
            f"operator {type(node.op).__name__}",
            _set("op", OPERATORS[type(node.op)]()),
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div)):
        yield "operands swapped", _swap_operands
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield (
            f"comparison {type(node.ops[0]).__name__}",
            _set("ops", [OPERATORS[type(node.ops[0])]()]),
        )
    if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
        near = FUNCTIONS[node.attr]
        yield f"{node.attr} becomes {near}", _set("attr", near)
    if isinstance(node, ast.UnaryOp):
        yield f"unary {type(node.op).__name__} dropped", _drop_unary
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            yield f"keyword {keyword.arg} dropped", _delete("keywords", index)
        if len(node.args) > 1 and not any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            yield "first arguments swapped", _swap_arguments
    for field in ("body", "orelse"):
        body = getattr(node, field, None)
        if isinstance(body, list):
            for index, statement in enumerate(body):
                if id(statement) in docstrings or isinstance(
                    statement, (ast.FunctionDef, ast.ClassDef, ast.Pass, ast.Import)
                ):
                    continue
                yield (
                    "line %d removed: %s"
                    % (statement.lineno, ast.unparse(statement)[:50]),
                    _blank(field, index),
                )
                if isinstance(statement, ast.With):
                    yield f"line {statement.lineno} unwrapped", _unwrap(field, index)


def _set(field, value):
    return lambda node: setattr(node, field, value)


def _delete(field, index):
    return lambda node: getattr(node, field).pop(index)


def _blank(field, index):
    def change(node):
        getattr(node, field)[index] = ast.Pass()

    return change


def _unwrap(field, index):
    def change(node):
        body = getattr(node, field)
        body[index : index + 1] = body[index].body

    return change


def _swap_operands(node):
    node.left, node.right = node.right, node.left


def _swap_arguments(node):
    node.args[0], node.args[1] = node.args[1], node.args[0]


def _drop_unary(node):
    node.op = ast.UAdd()


def noticed(test, code, path, owner=None):
    """Whether a check or a test of module `test` fails on the page `code`.

    Args:
        test: the module of the topic's proof.
        code: the compiled page.
        path: the file that holds its source.
        owner: the function that was changed, whose checks are run first.
    """
    page = types.ModuleType(test.PROOF.v2.__name__)
    page.__file__ = path
    original = test.PROOF.v2
    try:
        exec(code, vars(page))
    except Exception:  # a page that does not load is noticed
        return True
    test.PROOF.v2 = test.v2 = page
    try:
        checks = [check for _, check in test.PROOF.checks()]
        for check in sorted(checks, key=lambda check: check.case.name != owner):
            if check.way in ("eager", "function", "dynamic"):
                try:
                    check()
                except Exception:  # any failure is a notice
                    return True
        suite = unittest.TestSuite(
            case
            for group in unittest.defaultTestLoader.loadTestsFromModule(test)
            for case in group
            if not case._testMethodName.startswith("test_parity")
        )
        return not unittest.TextTestRunner(io.StringIO()).run(suite).wasSuccessful()
    finally:
        test.PROOF.v2 = test.v2 = original


def owner(source, line):
    """The name of the last function at top level that starts at or before `line`."""
    names = [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.lineno <= line
    ]
    return names[-1] if names else None


def _work(topic, jobs, results):
    test = importlib.import_module("parity_tests.test_" + topic)
    path = topics.find(topic)[0].v2
    source = path.read_text("utf-8")
    everything = list(mutants(source))
    if noticed(test, compile(source, str(path), "exec"), str(path)):
        results[0].put((None, True))  # without a change nothing may be noticed
    while True:
        number = jobs.get()
        tree = everything[number][2]
        # AutoGraph reads the source: it must be on disk under the name in the code.
        twin = pathlib.Path(results[1]) / ("mutant%d.py" % number)
        text = ast.unparse(tree)
        twin.write_text(text)
        code = compile(text, str(twin), "exec")
        seen = noticed(test, code, str(twin), owner(source, everything[number][0]))
        results[0].put((number, seen))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topic")
    parser.add_argument("--sample", type=int, help="try that many, chosen at random")
    parser.add_argument("--only", default="", help="those whose description has this")
    options = parser.parse_args(argv)
    everything = list(mutants(topics.find(options.topic)[0].v2.read_text("utf-8")))
    numbers = [n for n, change in enumerate(everything) if options.only in change[1]]
    if options.sample:
        numbers = sorted(
            random.Random(0).sample(numbers, min(options.sample, len(numbers)))
        )
    context = multiprocessing.get_context("spawn")
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        worker = None
        for count, number in enumerate(numbers, 1):
            if worker is None:
                jobs, answers = context.Queue(), context.Queue()
                worker = context.Process(
                    target=_work,
                    args=(options.topic, jobs, (answers, folder)),
                    daemon=True,
                )
                worker.start()
            jobs.put(number)
            try:
                which, seen = answers.get(timeout=SECONDS)
            except queue.Empty:  # it hangs
                worker.kill()
                worker, seen, which = None, True, number
                print(f"line {everything[number][0]}: hangs, or is slow", flush=True)
            if which is None:
                print(f"error: {options.topic} fails as it is", file=sys.stderr)
                return 2
            if not seen:
                unnoticed += 1
                line, description, _ = everything[number]
                print("line %d: %s" % (line, description), flush=True)
            print("\r%d of %d" % (count, len(numbers)), end="\r", file=sys.stderr)
        if worker:
            worker.kill()
    print("%d of %d changes unnoticed" % (unnoticed, len(numbers)))
    return int(unnoticed > 0)


if __name__ == "__main__":
    sys.exit(main())
