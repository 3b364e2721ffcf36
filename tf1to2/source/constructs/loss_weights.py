"""`compile` with several weights for one loss, or without weights for some losses."""

import re

from tf1to2.source.names import literals

NAMES = ("compile",)
MORE, SOME = "[more than the losses]", "[not of every loss]"
FUNCTIONS = ("string", "lambda", "function_definition")
ONE_LOSS = re.compile(r"(?:\w+\.)*(?:losses\.\w+|\w*loss)")


def kinds(values, called):
    """Returns `MORE` if one loss has several weights, `SOME` if the dict lacks keys."""
    weights = called.keywords.get("loss_weights")
    loss, _ = called.get("loss", 1)
    if weights is None or loss is None:
        return []
    weights, losses = values.followed(weights), values.followed(loss)
    if isinstance(weights, str) or weights.type not in ("list", "tuple", "dictionary"):
        return []
    if isinstance(losses, str):
        return []
    if _is_one(values, losses):
        several = len(literals.elements(weights)) > 1
        return [("loss_weights", MORE)] * several
    if "dictionary" == losses.type == weights.type:
        lacking = _keys(values, losses) - _keys(values, weights)
        return [("loss_weights", SOME)] * bool(lacking)
    return []


def _is_one(values, node):
    """Whether the `loss` argument is surely a single loss, not a list or a dict."""
    if node.type == "call":
        node = node.child_by_field_name("function")
    if node.type in ("attribute", "identifier"):
        return bool(ONE_LOSS.fullmatch(values.text(node)))
    return node.type in FUNCTIONS


def _keys(values, node):
    pairs = [one for one in node.named_children if one.type == "pair"]
    return {values.text(pair.child_by_field_name("key")) for pair in pairs}
