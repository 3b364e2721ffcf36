"""Variables that are made anew at each step: in a Keras loss, a metric, a `call`."""

import re

from tf1to2.source.names import makers, owners, records
from tf1to2.source.names.values import FUNCTIONS

NAMES = ("Variable", "get_variable", "variable", *sorted(makers.WITH))
KIND = "[in a step]"
CALLED = {"call": "", "update_state": "metrics.", "result": "metrics."}
"""{method that Keras calls at each step: the module of the classes it is one of}."""
LOSSES = "tensorflow.keras.losses."
LOSS = re.compile(r"(?i)(?:\w+_)?(?:loss|metric)(?:_\w+)?|\w+Loss")
TRUE = re.compile(r"y|y_?t(?:rue)?|targets?|labels?")
# What stands around a function among the arguments of `compile`.
AROUND = ("list", "tuple", "dictionary", "pair", "keyword_argument")
MAY_BE = re.compile(rb"keras|def \w*(?i:loss|metric)|y_true")
GIVEN = re.compile(rb"\.(compile|add_loss)\s*\(")
ASKS = re.compile(rb"\bis None\b|\bnot\b|\bhasattr\s*\(|\binit|\bbuilt\b")


def kinds(values, called):
    """`KIND` where the variable is made in what Keras calls at each step."""
    origin = records.public(called.origin)
    if origin not in makers.VARIABLES and not origin.startswith(makers.LAYERS):
        return []
    if MAY_BE not in values.kept:
        values.kept[MAY_BE] = bool(MAY_BE.search(values.source.source))
    if not values.kept[MAY_BE]:
        return []
    function = values.around(called.function, FUNCTIONS)
    if function is None:
        return []
    key = KIND, function.id
    if key not in values.kept:
        values.kept[key] = _is_a_loss(values, function) or _is_a_step(values, function)
    if not values.kept[key] or _is_asked(called.function, function, values):
        return []
    return [("*", KIND)]


def _is_a_step(values, function):
    """Whether a function is a method that Keras calls, or within one."""
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
    """Whether a function is a loss or a metric: by its parameters, name, or use."""
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
    return name in _handed(values)


def _handed(values):
    """The names of the functions that a file gives to `compile` and `add_loss`."""
    if _handed not in values.kept:
        source, found = values.source, set()
        for place in GIVEN.finditer(source.source):
            node = source.root.descendant_for_byte_range(*place.span(1))
            call = values.around(node, ("call",)) if node is not None else None
            arguments = call and call.child_by_field_name("arguments")
            ahead = list(arguments.named_children) if arguments is not None else []
            while ahead:
                one = ahead.pop()
                if one.type == "identifier":
                    found.add(values.text(one))
                elif one.type in AROUND:
                    ahead += one.named_children
        values.kept[_handed] = found
    return values.kept[_handed]


def _is_asked(node, function, values):
    """Whether it stands where the code asks whether it was made before."""
    node = node.parent
    while node is not None and node.id != function.id:
        if node.type == "if_statement":
            condition = node.child_by_field_name("condition")
            text = values.source.source[condition.start_byte : condition.end_byte]
            if ASKS.search(text):
                return True
        node = node.parent
    return False
