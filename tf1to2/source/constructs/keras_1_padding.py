"""`ZeroPadding2D((1, 2, 3, 4))` of Keras 1: four numbers, today two pairs."""

from tf1to2.source.names import inspected, literals

NAMES = inspected.also_by_star(("ZeroPadding2D",))
FOUR = "[four paddings]"


def kinds(values, called):
    """Returns `FOUR` if the padding is a dict, or a list or tuple of four numbers."""
    node, where = called.get("padding", 0)
    node = values.followed(node)
    if isinstance(node, str):
        return []
    is_four = node.type in ("tuple", "list") and len(literals.elements(node)) == 4
    return [(where, FOUR)] * (is_four or node.type == "dictionary")
