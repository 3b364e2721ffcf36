"""Recognizes expressions that are surely a Python number, or a list of numbers."""

NUMBERS = ("integer", "float", "true", "false")
ROWS = ("list", "tuple", "expression_list")
CALLS = ("int", "float", "bool", "len", "round")
OPERATORS = ("unary_operator", "binary_operator", "parenthesized_expression")


def elements(node):
    """The nodes of the elements of a list, a tuple or a dict."""
    return [one for one in node.named_children if one.type != "comment"]


def is_number(values, node, deep=6):
    """Whether an expression is surely a Python number.

    Args:
        values: `values.Values`.
        node: an expression.
        deep: how many assignments to follow.
    """
    if node.type in ("identifier", "parenthesized_expression") and deep:
        if _counts(values, node):
            return True
        node = values.followed(node)
    if isinstance(node, str):
        return False
    if node.type in NUMBERS:
        return True
    if node.type in OPERATORS:
        return deep > 0 and all(
            is_number(values, one, deep - 1) for one in node.named_children
        )
    if node.type == "call":
        return values.text(node.child_by_field_name("function")) in CALLS
    return False


def _counts(values, node):
    """Whether an expression is the variable of a loop over a range."""
    if node.type != "identifier":
        return False
    found, element = values.value(node)
    if not element or found is None or found.type != "call":
        return False
    return values.text(found.child_by_field_name("function")) in ("range", "xrange")


def numbers(values, node, deep=6):
    """Returns 1 for a list of one number, 2 for more, 0 for other expressions.

    Args:
        values: `values.Values`.
        node: an expression or None; names are followed.
        deep: how many nested lists to follow.
    """
    node = values.followed(node)
    if isinstance(node, str) or not deep:
        return 0
    if node.type in ROWS:
        found = [
            1 if is_number(values, one) else numbers(values, one, deep - 1)
            for one in elements(node)
        ]
        return min(sum(found), 2) if found and all(found) else 0
    if node.type == "list_comprehension":
        body = node.child_by_field_name("body")
        return 2 if is_number(values, body) or numbers(values, body, deep - 1) else 0
    if node.type == "call":
        function = node.child_by_field_name("function")
        name = values.text(function)
        if name.endswith(".tolist"):
            return 2
        arguments = node.child_by_field_name("arguments").named_children
        if name == "list" and len(arguments) == 1 and arguments[0].type == "call":
            inner = arguments[0].child_by_field_name("function")
            return 2 if values.text(inner) in ("range", "xrange") else 0
    return 0
