"""Finds `tf.where` calls whose conditions cannot choose rows of the branches.

In 1.15.5 the two branches had the same shape. The conditions had that shape, too, or
were a scalar, or a vector with one condition per row. Only the last case has another
meaning today. It is impossible if a branch is a scalar or a list of numbers, or has the
shape of the conditions.
"""

import re

from tf1to2.source.names.literals import NUMBERS

NAMES = ("where",)
KIND = "[no rows]"
NUMBER_OF = (".float32", ".float64", ".int32", ".int64")  # np.float32(0.5)
# Functions whose result is a scalar if they get a single argument.
WHOLE = re.compile(r"(?:\w+\.)*reduce_(?:sum|mean|max|min|prod|any|all|logsumexp)")
# Element-wise functions: the result has the shape of the arguments.
ELEMENTS = re.compile(
    r"(?:\w+\.)*(?:greater|less|equal|not_equal|greater_equal|less_equal|is_nan|is_inf"
    r"|is_finite|logical_(?:and|or|not|xor)|abs|cast|to_float|to_int32|to_bool|sign"
    r"|(?:zeros|ones)_like|identity|stop_gradient|exp|log|sqrt|square|minimum|maximum"
    r"|add|subtract|multiply|divide|mod|floormod|logical_\w+)"
)
OPERATORS = (
    *("comparison_operator", "binary_operator", "unary_operator"),
    "parenthesized_expression",
)
FILLED = re.compile(r"(?:\w+\.)*(?:constant|zeros|ones|fill)")
LIKE = re.compile(r"(?:\w+\.)*(?:zeros|ones)_like")
DEEP = 6  # the most nested operators and calls to follow


def kinds(values, called):
    """Returns `KIND` if the conditions of a `tf.where` surely do not choose rows."""
    condition, _ = called.get("condition", 0)
    branches = [called.get(name, at)[0] for name, at in (("x", 1), ("y", 2))]
    if condition is None or None in branches:
        return []
    if any(_has_no_rows(values, branch) for branch in branches):
        return [("x", KIND)]
    shapes = {_key(values, _shaped(values, branch)) for branch in branches}
    same = shapes & set(_elements(values, condition, DEEP))
    return [("x", KIND)] * bool(same)


def _has_no_rows(values, node):
    """Whether a branch surely has no rows: is a scalar, or a list of numbers."""
    node = values.followed(node)
    if isinstance(node, str):
        return False
    if node.type in ("unary_operator", "binary_operator"):
        return all(_has_no_rows(values, one) for one in node.named_children)
    if node.type in NUMBERS:
        return True
    if node.type in ("list", "tuple"):
        return all(_has_no_rows(values, one) for one in node.named_children) and not (
            any(one.type in ("list", "tuple") for one in node.named_children)
        )
    if node.type == "attribute":
        return values.text(node) in ("np.inf", "np.nan", "numpy.inf", "np.pi")
    if node.type != "call":
        return False
    name = _called(values, node)
    arguments = node.child_by_field_name("arguments").named_children
    if name == "float":
        return True
    if name.endswith(NUMBER_OF) and len(arguments) == 1:
        return _has_no_rows(values, arguments[0])
    if WHOLE.fullmatch(name):
        return len(arguments) == 1
    if FILLED.fullmatch(name) and len(arguments) in (1, 2):
        first = arguments[0]
        if b"shape=" in values.source.source[first.start_byte : node.end_byte]:
            return False
        empty = first.type in ("list", "tuple") and not first.named_children
        return empty or name.endswith("constant") and _has_no_rows(values, first)
    return False


def _shaped(values, node):
    """Returns the operand that gives a branch its shape: x for tf.zeros_like(2 * x)."""
    for _ in range(DEEP):
        parts = _parts(values, node)
        if node.type == "call" and LIKE.fullmatch(_called(values, node)):
            parts = parts[:1]
        parts = [one for one in parts if not _has_no_rows(values, one)]
        if len(parts) != 1:
            break
        node = parts[0]
    return node


def _parts(values, node):
    """The operands of an element-wise expression; [] for other expressions."""
    if node.type in OPERATORS:
        return node.named_children
    if node.type == "call" and ELEMENTS.fullmatch(_called(values, node)):
        arguments = node.child_by_field_name("arguments").named_children
        return [one for one in arguments if one.type != "keyword_argument"]
    return []


def _called(values, call):
    return values.text(call.child_by_field_name("function"))


def _key(values, node):
    """Makes a key to compare expressions: the text, plus a name's last assignment."""
    if node.type != "identifier":
        return values.text(node)
    found, element = values.value(node)
    return values.text(node), getattr(found, "id", found), element


def _elements(values, node, deep):
    """Yields the keys of all element-wise operands of a condition."""
    yield _key(values, node)
    if node.type == "identifier":
        node = values.followed(node)
    if isinstance(node, str) or not deep:
        return
    for one in _parts(values, node):
        yield from _elements(values, one, deep - 1)
