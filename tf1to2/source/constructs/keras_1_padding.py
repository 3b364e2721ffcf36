"""`ZeroPadding2D((1, 2, 3, 4))` of Keras 1: four numbers, which are two pairs today."""

NAMES = ("ZeroPadding2D", "*ZeroPadding2D")  # a star: by `import *`
FOUR = "[four paddings]"


def kinds(values, called):
    """`FOUR` of a padding in four numbers, or in a dict."""
    node, where = called.get("padding", 0)
    node = values.followed(node) if node is not None else ""
    if isinstance(node, str):
        return []
    those = [one for one in node.named_children if one.type != "comment"]
    is_four = node.type in ("tuple", "list") and len(those) == 4
    return [(where, FOUR)] * (is_four or node.type == "dictionary")
