"""Flows of images whose batches the code draws itself: `flow.next()`, `next(flow)`.

The method `next` is gone. Code that draws batches itself gets those of 1.15.5: `fit` of
Keras 3 alone draws two batches before the first epoch.
"""

import re

from tf1to2.source.constructs.sequence_steps import FLOWS
from tf1to2.source.names import inspected
from tf1to2.source.names.values import PARAMETER

MAKER = "ImageDataGenerator"
NAMES = (MAKER,)
KIND = "[drawn by hand]"
WORDS = (b".next()",)
ORIGIN = "tensorflow.keras.preprocessing.image.Iterator.next"
NEXT = re.compile(rb"\.(next)\(\)")
DRAWS = re.compile(rb"\bnext\(")
FITS = re.compile(rb"\.(fit)(?:_generator)?\(")
CALLED = re.compile(r"(?:\w*_)?flow")  # a parameter that gets a flow


def kinds(values, called):
    """`KIND` of the arguments if the file draws batches, and fits no model."""
    if "drawn" not in values.kept:
        values.kept["drawn"] = _is_drawn(values)
    return [("*", KIND)] * values.kept["drawn"]


def uses(values):
    """Yields each `next` of what `ImageDataGenerator.flow` made."""
    if MAKER.encode() not in values.source.source:
        return
    for node in _attributes(values, NEXT):
        if _is_flow(values, node.child_by_field_name("object")):
            yield inspected.Found(node, ORIGIN)


def _is_drawn(values):
    if not DRAWS.search(values.source.source):
        return False
    fitted = (n.child_by_field_name("object") for n in _attributes(values, FITS))
    return all(values.made_by(one).endswith(MAKER) for one in fitted)


def _attributes(values, pattern):
    """Yields the nodes of the methods whose name a pattern finds."""
    for place in pattern.finditer(values.source.source):
        node = values.source.root.descendant_for_byte_range(*place.span(1))
        if node is not None and node.parent.type == "attribute":
            yield node.parent


def _is_flow(values, node):
    made = values.followed(node)
    if made is PARAMETER:
        return bool(CALLED.fullmatch(values.text(node)))
    if isinstance(made, str) or made.type != "call":
        return False
    function = made.child_by_field_name("function")
    if not FLOWS.search(values.text(function)):
        return False
    return values.made_by(function.child_by_field_name("object")).endswith(MAKER)
