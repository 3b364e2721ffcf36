"""Finds `self.add_loss(loss)` in a layer's `call` or `build`: it still works today."""

from tf1to2.source.names import owners

NAMES = ("add_loss",)
KIND = "[in a layer]"
METHODS = ("call", "build")


def kinds(values, called):
    """Returns `KIND` if a layer's `call` or `build` adds a tensor to its own losses."""
    alone = len(called.positional) == 1 and not called.keywords
    if not alone or called.positional[0].type == "lambda":
        return []
    method, name = owners.method(values, called.function)
    own = values.text(called.function).startswith("self.")
    if method is None or name not in METHODS or not own:
        return []
    return [("*", KIND)]
