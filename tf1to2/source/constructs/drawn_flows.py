"""Finds code that draws batches from a flow of images: `flow.next()`, `next(flow)`.

The method `next` is gone. Code that calls `next(flow)` gets the batches of 1.15.5; only
`fit` of Keras 3 draws two batches before the first epoch.
"""

import re

from tf1to2.source.constructs.sequence_steps import IMAGES, flow_of
from tf1to2.source.names import inspected
from tf1to2.source.names.values import PARAMETER

NAMES = (IMAGES,)
KIND = "[drawn by hand]"
WORDS = (b".next()",)
ORIGIN = "tensorflow.keras.preprocessing.image.Iterator.next"
NEXT = re.compile(rb"\.(next)\(\)")
DRAWS = re.compile(rb"\bnext\(")
FITS = re.compile(rb"\.(fit)(?:_generator)?\(")
CALLED = re.compile(r"(?:\w*_)?flow")  # the name of a parameter that gets a flow


def kinds(values, called):
    """Returns `KIND` if the file draws batches and does not call a model's `fit`."""
    return [("*", KIND)] * values.once(_is_drawn)


def uses(values):
    """Yields each `flow.next()` of an `ImageDataGenerator`'s flow."""
    if IMAGES.encode() not in values.source.source:
        return
    for node, _ in values.attributes(NEXT):
        if _is_flow(values, node.child_by_field_name("object")):
            yield inspected.Found(node, ORIGIN)


def _is_drawn(values):
    if not DRAWS.search(values.source.source):
        return False
    fitted = (n.child_by_field_name("object") for n, _ in values.attributes(FITS))
    return all(values.made_by(one).endswith(IMAGES) for one in fitted)


def _is_flow(values, node):
    made = values.followed(node)
    if made is PARAMETER:
        return bool(CALLED.fullmatch(values.text(node)))
    if isinstance(made, str) or made.type != "call":
        return False
    return (flow_of(values, made) or "").endswith(IMAGES)
