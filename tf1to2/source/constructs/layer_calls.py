"""Calls of a Keras layer or model with an argument that is no tensor: `layer(x, 2)`.

Keras 3 accepts only tensors by position, and `training` only as a keyword.
"""

import re

from tf1to2.source.names import inspected, literals, owners, records

NO_TENSOR, TRAINING = "[no tensor]", "[training]"
WORDS = (b"keras",)
# Names of new objects: `layer = Dense(3)`, `self.layer = layers.Dense(3)`.
MADE = re.compile(rb"(?m)^[ \t]*((?:self\.)?\w+) *= *((?:[a-zA-Z_]\w*\.)*)([A-Z]\w*)\(")
TEXTS = ("string", "concatenated_string")
# Layers of Keras whose second argument is `training`.
TRAINED = {
    f"tensorflow.keras.layers.{name}"
    for name in (
        *("AlphaDropout", "BatchNormalization", "Dropout", "GaussianDropout"),
        *("GaussianNoise", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
    )
} | {
    *("tensorflow.keras.Model", "tensorflow.keras.models.Model"),
    *("tensorflow.keras.Sequential", "tensorflow.keras.models.Sequential"),
}


def uses(values):
    """Yields the calls of layers that pass a positional argument that is no tensor."""
    for at in _calls(values.source.source, values.walk.top.bindings):
        call = values.call_at(at)
        found = call and _found(values, call)
        if found:
            yield found


def _calls(source, known):
    """Yields the position of each bracket that may call an object: `layer(`, `)(`.

    Args:
        source: bytes.
        known: the bindings of the module.
    """
    names = {b")"}
    for name, modules, made in MADE.findall(source):
        first = (modules or made).partition(b".")[0].decode()
        if any(target is not None for target in known.get(first, ())):
            names.add(name)
    for name in sorted(names):
        start = source.find(name + b"(")
        while start >= 0:
            before = source[start - 1 : start]
            if name == b")" or not (before.isalnum() or before in (b"_", b".")):
                yield start + len(name)
            start = source.find(name + b"(", start + 1)


def _found(values, call):
    function = call.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    if arguments.type != "argument_list" or arguments.named_child_count < 2:
        return None
    made = values.made_by(function)
    if not owners.may_be_layer(made):
        return None
    called = inspected.called(values.source, function, "__call__", arguments)
    kinds = [
        (place, NO_TENSOR)
        for place, node in enumerate(called.positional)
        if _is_no_tensor(values, node)
    ]
    kinds = kinds or _training(values, function, made, called)
    if not kinds:
        return None
    origin = f"{made.removeprefix('~')}().__call__"
    return inspected.Found(function, origin, arguments, tuple(kinds), by_kind=True)


def _is_no_tensor(values, node):
    """Whether an argument is surely a number, a string, or a list of numbers."""
    if literals.is_number(values, node) or literals.numbers(values, node):
        return True
    node = values.followed(node)
    return not isinstance(node, str) and node.type in (*TEXTS, "lambda")


def _training(values, function, made, called):
    """Returns `TRAINING` if a call passes `training` by position, and not as None."""
    place = _place_of_training(values, function, made)
    passed = called.positional[place : place + 1] if place else ()
    return [(place, TRAINING)] * any(one.type != "none" for one in passed)


def _place_of_training(values, function, made):
    """Returns the position of `training` in a layer's `call`; None if unknown."""
    if records.public(made) in TRAINED:
        return 1
    object_ = values.followed(function)
    if isinstance(object_, str) or object_.type != "call":
        return None
    owner = owners.definition(values, object_.child_by_field_name("function"))
    if owner is None or owner.type != "class_definition":
        return None
    method = owners.own_method(values, owner, "call")
    parameters = values.parameters(method)[1:] if method is not None else []
    return parameters.index("training") if "training" in parameters else None
