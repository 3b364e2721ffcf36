"""The calls in the TensorFlow 2 columns of the chapters fit the signatures."""

import ast
import functools
import importlib
import inspect
import pkgutil
import re
import unittest

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from tf1to2.pages import topics
from tf1to2.tests.test_structure import ROOT
from upkeep import chapters
from v2_eager import numerics
from v2_eager.numerics import averages, optimizers

TABLE = re.compile(r"(?m)^(\|.*\|)\n\|[-:| ]+\|\n((?:\|.*\|\n)+)")
COLUMNS = re.compile(r"TensorFlow 2.*|module|Keras 3")
CALL = re.compile(r"(?<![\w.])\.?(?:\w+\.)*\w+\(")
PLACEHOLDER = "…"
ROOTS = {"tf": tf, "keras": keras, "np": np}
OPTIMIZERS = [optimizers.Optimizer, optimizers.LossScale, optimizers.MovingAverage]
OF_OPTIMIZERS = {"minimize", "compute_gradients", "apply_gradients", "create_slots"}
OBJECTS = {  # what a name stands for, where its row does not say it
    "optimizer": OPTIMIZERS,
    "adam": [optimizers.Adam],
    "ema": [averages.ExponentialMovingAverage],
    "averages": [averages.ExponentialMovingAverage, averages],
}
FACTORIES = {tf.Variable}  # which make objects of other classes
BARE = [  # whose names chapters write without what is before the dot
    *(keras.layers, keras.losses, keras.metrics, keras.optimizers, keras.callbacks),
    *(tf.data.Dataset, tf.data, keras.Model, keras),
]
VARIABLES = {"weights", "trained", "variables", "trainable_variables"}
NUMBERS = {"learning_rate", "rate", "momentum", "decay", "beta1", "epsilon"}


@functools.cache
def kinds():
    """{name: module} of the library."""
    found = {}
    for info in pkgutil.iter_modules(numerics.__path__):
        found[info.name] = importlib.import_module(f"{numerics.__name__}.{info.name}")
    return found


def public(topic):
    """[module] of a topic: its pages', then, beside Keras, those of the library."""
    pages = []
    for package in ("v2_eager", "v2_keras"):
        try:
            pages.append(importlib.import_module(f"{package}.{topic}"))
        except ModuleNotFoundError:
            continue
    return pages if topic.startswith("keras") else [*pages, *kinds().values()]


def cells(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip())[1:-1]]


def calls(text):
    """[(row, ast.Call)] of the TensorFlow 2 columns of a text's tables."""
    found = []
    for head, body in TABLE.findall(text):
        places = [i for i, c in enumerate(cells(head)) if COLUMNS.fullmatch(c)]
        for row in body.splitlines():
            for place in places:
                cell = cells(row)[place].replace(r"\|", "|")
                parsed = [c for span in re.findall("`([^`]+)`", cell) for c in of(span)]
                found += [(assigned(cell), call) for call in parsed]
    return found


def of(span):
    """The calls in a piece of code, which need not be whole: [ast.Call]."""
    found = []
    for match in CALL.finditer(span):
        for end in range(match.end(), len(span) + 1):
            piece = span[match.start() : end].replace(PLACEHOLDER, "...")
            try:
                tree = ast.parse(piece.lstrip("."), mode="eval").body
            except SyntaxError:
                continue
            while end < len(span) and span[end] == ".":  # f(x).method(y)
                after = re.match(r"\.\w+\([^()]*\)", span[end:])
                if not after:
                    break
                end += after.end()
                piece = span[match.start() : end].replace(PLACEHOLDER, "...")
                tree = ast.parse(piece.lstrip("."), mode="eval").body
                found.append(tree)
            first = span[match.start() :].partition("(")[0].lstrip(".")
            found.append(_first(tree, first))
            break
    return found


def _first(tree, name):
    """The innermost call of a chain, which begins with a name."""
    return next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    )


def assigned(cell):
    """{name: expression} of the assignments in a cell."""
    found = {}
    for span in re.findall("`([^`]+)`", cell):
        try:
            body = ast.parse(span.replace(PLACEHOLDER, "...")).body
        except SyntaxError:
            continue
        for node in body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node.value
    return found


def meant(expression, topic, known):
    """What an expression may stand for: [object], or None where it is not plain."""
    if isinstance(expression, ast.Name):
        name = expression.id
        if name in known and not isinstance(known[name], ast.Name):
            return made(known[name], topic, {})
        if name in OBJECTS and not topic.startswith("keras"):
            return OBJECTS[name]
        if name in OF_OPTIMIZERS:
            return [getattr(o, name) for o in OPTIMIZERS if hasattr(o, name)]
        modules = [kinds()[name]] if name in kinds() else []
        modules += [ROOTS[name]] if name in ROOTS else []
        owners = [m for m in public(topic) if name in getattr(m, "__all__", ())]
        if topic.startswith("keras") or (owners and name.islower()):
            owners += [owner for owner in BARE if hasattr(owner, name)]
        return modules + [getattr(owner, name) for owner in owners] or None
    if isinstance(expression, ast.Call):
        return made(expression, topic, known)
    if isinstance(expression, ast.Attribute):
        owners = meant(expression.value, topic, known)
        name = expression.attr
        if owners is None and name in OF_OPTIMIZERS:
            owners = OPTIMIZERS
        if owners is None or any(isinstance(o, property) for o in owners):
            return None
        return [getattr(o, name) for o in owners if hasattr(o, name)]
    return None


def made(call, topic, known):
    """The classes whose objects a call makes, or None."""
    if not isinstance(call, ast.Call):
        return None
    found = meant(call.func, topic, known) or []
    found = [what for what in found if inspect.isclass(what)]
    return [what for what in found if what not in FACTORIES] or None


def fault(call, topic, known):
    """What is wrong with a call, or ""."""
    text = ast.unparse(call).replace("...", PLACEHOLDER)
    found = meant(call.func, topic, known)
    if found is None:
        return ""
    if not found:
        return f"{text}: there is no {ast.unparse(call.func)}"
    faults = [misfit(call, what) for what in found]
    return "" if "" in faults else f"{text}: {faults[0]}"


def misfit(call, what):
    """Why a call does not fit a signature, or ""."""
    if inspect.ismodule(what):  # another thing has the name of one of the library
        return ""
    if not callable(what):
        return "is not callable"
    try:
        signature = inspect.signature(what)
    except (TypeError, ValueError):
        return ""
    parameters = list(signature.parameters.values())
    method = inspect.isfunction(what) and parameters[:1] and parameters[0].name
    if method == "self":
        parameters = parameters[1:]
    signature = signature.replace(parameters=parameters)
    open_ = any(
        isinstance(a, ast.Starred) or (isinstance(a, ast.Constant) and a.value is ...)
        for a in call.args
    )
    open_ = open_ or any(k.arg is None for k in call.keywords)
    open_ = open_ or bool(call.keywords and not call.args)  # the argument that counts
    given = [a for a in call.args if not isinstance(a, ast.Starred)]
    given = [a for a in given if not (isinstance(a, ast.Constant) and a.value is ...)]
    try:
        bind = signature.bind_partial if open_ else signature.bind
        bound = bind(*given, **{k.arg: k.value for k in call.keywords if k.arg})
    except TypeError as error:
        return str(error)
    for name, value in bound.arguments.items():
        if isinstance(value, ast.Name) and value.id in VARIABLES and name in NUMBERS:
            return f"{value.id} is given as {name}"
    return ""


def faults(text, topic):
    return [f for known, c in calls(text) if (f := fault(c, topic, known))]


class CallsTest(unittest.TestCase):
    @parameterized.expand([(name,) for name in topics.topics()])
    def test_the_calls_of_a_chapter_fit(self, name):
        text = (ROOT / "guide" / f"{name}.md").read_text("utf-8")
        self.assertEqual(faults(chapters.by_hand(text), name), [])

    def test_some_are_judged(self):
        judged = {}
        for name in topics.topics():
            text = (ROOT / "guide" / f"{name}.md").read_text("utf-8")
            found = calls(chapters.by_hand(text))
            judged[name] = sum(meant(c.func, name, k) is not None for k, c in found)
        self.assertGreater(judged["optimizers"], 15)
        self.assertGreater(sum(judged.values()), 200)


class FaultsTest(unittest.TestCase):
    ROW = "| TensorFlow 1 | TensorFlow 2 |\n|---|---|\n| `minimize()` | {} |\n"

    @parameterized.expand(
        [
            ("a list of variables", "`optimizers.Adam(0.1).minimize(loss, [w])`"),
            ("a placeholder", "`Momentum(…, use_nesterov=…)`"),
            ("its default", "`Adam()`, a `Step()` of your own"),
            ("a method of an object", "`optimizer.minimize(lambda: loss(x), weights)`"),
            ("a name of the row", "`ema = Adam(0.1)`, `ema.create_slots(weights)`"),
            ("not whole", "`with f(x) as y: optimizer.minimize(loss, y)`"),
        ]
    )
    def test_none_of(self, _, cell):
        self.assertEqual(faults(self.ROW.format(cell), "optimizers"), [])

    @parameterized.expand(
        [
            ("no such method", "`optimizer.apply(gradients)`", "there is no"),
            ("the variables first", "`Adam(weights, tf.Variable(…))`", "learning_rate"),
            ("likewise, with more", "`Momentum(trained, …)`", "as learning_rate"),
            ("too many", "`optimizers.GradientDescent(1, 2, 3, 4)`", "too many"),
            ("too few", "`optimizers.Momentum(0.1)`", "missing a required"),
            ("no such keyword", "`Adam(lr=…)`", "unexpected keyword argument 'lr'"),
            ("no such name", "`optimizers.Adamw(0.1)`", "there is no optimizers.Adamw"),
            ("of a call", "`Adam(0.1).apply(gradients)`", "there is no"),
            ("of the row", "`a = Adam(0.1)`, `a.apply(x)`", "there is no a.apply"),
            ("of TensorFlow", "`tf.concat(1, x, y, z)`", "too many positional"),
        ]
    )
    def test_a_fault(self, _, cell, message):
        found = faults(self.ROW.format(cell), "optimizers")
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])


if __name__ == "__main__":
    unittest.main()
