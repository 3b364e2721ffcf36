"""Variables that are made again at each step: in a Keras loss, metric or `call`."""

import re

from tf1to2.source.names import makers, owners, records
from tf1to2.source.names.values import FUNCTIONS

NAMES = ("Variable", "get_variable", "variable", *sorted(makers.WITH))
KIND = "[in a step]"
CALLED = {"call": "", "update_state": "metrics.", "result": "metrics."}
"""{method that Keras calls at each step: module of its classes, "" for layers}."""
LOSSES = f"{owners.KERAS}losses."
LOSS = re.compile(r"(?i)(?:\w+_)?(?:loss|metric)(?:_\w+)?|\w+Loss")
TRUE = re.compile(r"y|y_?t(?:rue)?|targets?|labels?")
# Types of nodes around a function in the arguments of `compile`.
AROUND = (
    *("argument_list", "list", "tuple", "dictionary", "pair"),
    "keyword_argument",
)
MAY_BE = re.compile(rb"keras|def \w*(?i:loss|metric)|y_true")
GIVEN = re.compile(rb"\.(compile|add_loss)\s*\(")
ASKS = re.compile(rb"\bis None\b|\bnot\b|\bhasattr\s*\(|\binit|\bbuilt\b")


def kinds(values, called):
    """Returns `KIND` if a call is inside a function that Keras runs at each step."""
    origin = records.public(called.origin)
    if origin not in makers.VARIABLES and not origin.startswith(makers.LAYERS):
        return []
    if not values.once(_may_be):
        return []
    function = values.around(called.function, FUNCTIONS)
    if function is None:
        return []
    if not values.once(_is_called, function):
        return []
    return [("*", KIND)] * (not _is_asked(values, called.function, function))


def _may_be(values):
    """Whether a file may have a function that Keras calls at each step."""
    return bool(MAY_BE.search(values.source.source))


def _is_called(values, function):
    """Whether Keras calls a function at each step."""
    return _is_a_loss(values, function) or _is_a_step(values, function)


def _is_a_step(values, function):
    """Whether a function is, or is inside, a method that Keras calls at each step."""
    body = function.child_by_field_name("body")
    method, name = owners.method(values, body)
    if method is None or name not in CALLED:
        return False
    base = records.public(owners.base(values, method).removeprefix("~"))
    if base.startswith(LOSSES) and name == "call":
        return True
    module = CALLED[name]
    if module:
        return base.startswith(owners.KERAS + module)
    return owners.is_layer(base)


def _is_a_loss(values, function):
    """Whether a function is a loss or a metric, by its parameters, name or use."""
    if function.type != "function_definition":
        return False
    parameters = values.parameters(function)
    if parameters[:1] == ["self"] or len(parameters) < 2:
        return False
    if parameters[:2] == ["y_true", "y_pred"]:
        return True
    name = values.text(function.child_by_field_name("name"))
    if LOSS.fullmatch(name) and TRUE.fullmatch(parameters[0]):
        return len(parameters) == 2
    return name in values.once(_handed)


def _handed(values):
    """The names of functions that a file passes to `compile` and `add_loss`."""
    found = set()
    for place in GIVEN.finditer(values.source.source):
        call = values.call_at(place.end() - 1)
        ahead = [call.child_by_field_name("arguments")] if call is not None else []
        while ahead:
            one = ahead.pop()
            if one.type == "identifier":
                found.add(values.text(one))
            elif one.type in AROUND:
                ahead += one.named_children
    return found


def _is_asked(values, node, function):
    """Whether an `if` around a call checks that the variable does not exist yet."""
    for above in values.above(node, function):
        if above.type == "if_statement":
            condition = above.child_by_field_name("condition")
            text = values.source.source[condition.start_byte : condition.end_byte]
            if ASKS.search(text):
                return True
    return False
