"""Finds methods that a KerasTensor lacks, and TensorFlow functions that reject one.

In 1.15.5 an Input and the output of a layer were tensors. Today each is a KerasTensor,
whose shape is a tuple, and whose dtype is a string.
"""

import re

from tf1to2.source.names import inspected, records, tensors

WORDS = (b"keras",)
CLASS = "tensorflow.keras.KerasTensor"
GONE = ("get_shape", "set_shape", "op", "graph", "consumers", "device", "eval")
SHAPES = ("as_list", "ndims", "rank", "dims", "is_fully_defined", "num_elements")
DTYPES = (
    "base_dtype",
    "is_floating",
    "is_integer",
    "as_numpy_dtype",
    "is_bool",
    "name",
)
MEMBER = re.compile(
    rb"\.(%s|shape\.(?:%s)|dtype\.(?:%s))\b"
    % tuple("|".join(names).encode() for names in (GONE, SHAPES, DTYPES))
)
BACKEND = "tensorflow.keras.backend."
CALL = re.compile(
    rb"\b(?:tf\.(?!keras\.(?!backend))|K\.|backend\.)(?:\w+\.)*[a-z]\w*\("
)


def uses(values):
    """Yields uses of members that a KerasTensor lacks, and calls that refuse one."""
    known = tensors.KerasTensors(values)
    yield from _members(values, known)
    if tensors.may_be(values.source.source):
        yield from _functions(values, known)


def _members(values, known):
    for node, match in values.attributes(MEMBER):
        member = match[1].decode()
        object_ = node.child_by_field_name("object")
        if "." in member:
            object_ = object_.child_by_field_name("object")
        if object_ is None:
            continue
        yield from _found(node, known.certainty(object_), member.partition(".")[0])


def _found(node, certainty, member):
    origin = f"{CLASS}.{member}"
    if certainty is tensors.YES:
        yield inspected.Found(node, origin)
    elif certainty is tensors.MAYBE:
        yield inspected.Found(node, "", likely=origin)


def _functions(values, known):
    """Yields calls of TensorFlow's functions that pass a KerasTensor."""
    for place in CALL.finditer(values.source.source):
        call = values.call_at(place.end() - 1)
        if call is None:
            continue
        if any(known.certainty(one) is tensors.YES for one in tensors.fed(call)):
            function = call.child_by_field_name("function")
            if _computes(records.public(values.origin(function))):
                arguments = call.child_by_field_name("arguments")
                yield inspected.Found(function, CLASS, arguments)


def _computes(origin):
    """Whether a name is a function of TensorFlow that accepts only tensors."""
    name = origin.rpartition(".")[2]
    if "()" in origin or not name[:1].islower() or name in tensors.FINE:
        return False
    if origin.startswith("tensorflow.keras."):
        return origin.startswith(BACKEND)
    return origin.startswith("tensorflow.")
