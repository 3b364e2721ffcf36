"""Translates the argument values of Keras 1, and finds arguments to remove."""

import re

from tf1to2.fix import keras_gone
from tf1to2.fix.edits import Edit
from tf1to2.fix.sites import IMPORTS, enclosing

ORDER = {"th": "channels_first", "tf": "channels_last"}
ASKED = ("image_dim_ordering()", "image_data_format()")
CONSTRAINTS = {
    name.rpartition(".")[2]: row.now.rpartition(".")[2]
    for name, row in keras_gone.GONE.items()
    if name.startswith(keras_gone.CONSTRAINTS)
}
INITIALIZERS = re.compile(r"(\w+_)?init")
REGULARIZERS = re.compile(r"\w_regularizer")
IDLE = {"mode": ("0",), "consume_less": ("cpu", "mem", "gpu")}
"""{argument: values that are the default, or do not change numbers}."""


def word(tree, value):
    """Returns the text of a plain string literal; None for any other value."""
    text = tree.text(value)
    return text[1:-1] if value.type == "string" and text[:1] in "'\"" else None


def reworded(tree, value, words):
    """Replaces the text of a string literal; None if `words` lacks the text.

    Args:
        tree: `sites.Tree`.
        value: the node.
        words: {old text: new text}.
    """
    text = word(tree, value)
    if text not in words:
        return None
    return Edit(value.start_byte + 1, value.end_byte - 1, words[text])


def is_idle(tree, name, value):
    """Returns whether an argument cannot affect results: a default, or for speed."""
    if name not in IDLE:
        return False
    return (word(tree, value) or tree.text(value)) in IDLE[name]


def is_unit_bias(tree, name, value):
    """Whether an argument sets the initial bias of the forget gate to one."""
    return name == "forget_bias_init" and word(tree, value) == "one"


def translated(tree, name, value):
    """Returns the edits of a value; None if Keras 3 may not accept the value.

    Args:
        tree: `sites.Tree`.
        name: the argument in Keras 1.
        value: the node of its value.
    """
    text = word(tree, value)
    if name == "dim_ordering":
        if text == "default":
            return [Edit(value.start_byte, value.end_byte, "None")]
        if edit := reworded(tree, value, ORDER):
            return [edit]
        return [] if tree.text(value).endswith(ASKED) else None
    if name == "border_mode":
        return [] if text in (None, "valid", "same") else None
    if name.endswith("_constraint"):
        edit = reworded(tree, value, CONSTRAINTS)
        return [edit] if edit else []
    if REGULARIZERS.fullmatch(name):
        return [] if text in (None, "l1", "l2") else None
    if INITIALIZERS.fullmatch(name):
        return [] if text or _takes_dtype(tree, value) else None
    return []


def _takes_dtype(tree, value):
    """Whether an initializer that is not a string accepts `dtype=`."""
    text = tree.text(value)
    if "initializations" in text:
        return False
    if value.type == "lambda":
        return _has_dtype(tree, value.child_by_field_name("parameters"))
    if value.type != "identifier":
        return True
    for one in tree.words.get(text, ()):
        around = one.parent
        if around.type == "function_definition":
            if not _has_dtype(tree, around.child_by_field_name("parameters")):
                return False
        elif around.type == "assignment":
            right = around.child_by_field_name("right")
            if right is not None and right.type == "lambda":
                return _has_dtype(tree, right.child_by_field_name("parameters"))
        elif around.type in ("dotted_name", "aliased_import"):
            statement = enclosing(one, IMPORTS)
            if statement and "initializations" in tree.text(statement):
                return False
    return True


def _has_dtype(tree, parameters):
    return parameters is not None and bool(
        re.search(r"\bdtype\b|\*\*", tree.text(parameters))
    )
