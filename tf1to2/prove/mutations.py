"""Makes the small changes that break a page, for `mutate`."""

import ast
import copy
import functools

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


FUNCTIONS = {
    "argmax": "argmin",
    "assign_add": "assign_sub",
    "exp": "log",
    "floor": "round",
    "gather": "boolean_mask",
    "log": "exp",
    "maximum": "minimum",
    "ones": "zeros",
    "ones_like": "zeros_like",
    "reduce_max": "reduce_min",
    "reduce_mean": "reduce_sum",
    "reduce_sum": "reduce_mean",
    "reduce_any": "reduce_all",
    "relu": "identity",
    "scan": "map_fn",
    "sigmoid": "tanh",
    "sqrt": "square",
    "square": "sqrt",
    "stop_gradient": "identity",
    "tanh": "sigmoid",
}
"""Functions, each with the one that is easily confused with it."""

DTYPES = {
    "float32": "float64",
    "float64": "float32",
    "int32": "int64",
    "int64": "int32",
}
"""Dtypes, each with the one that is easily confused with it."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
FIXED = (ast.FunctionDef, ast.ClassDef, ast.Pass, ast.Import, ast.ImportFrom)
"""Statements that are neither removed nor swapped."""
DISPLAYS = (ast.List, ast.Tuple, ast.Set)


def mutants(source):
    """Yields (line, description, tree) for every small change to `source`."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0])
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and ast.get_docstring(node) is not None
    }
    arguments, whole = _arguments(tree), _whole(tree)

    def changes(node):
        if id(node) not in constants:
            yield from _changes(node, docstrings, arguments)
        if id(node) not in whole:
            yield from _dropped(node)

    constants = {id(n) for part in tree.body if _is_table(part) for n in ast.walk(part)}
    for number, node in enumerate(_nodes(tree)):
        for description, change in changes(node):
            twin = copy.deepcopy(tree)
            change(_nodes(twin)[number])
            yield node.lineno, description, ast.fix_missing_locations(twin)


def _arguments(tree):
    """Returns {node id: parameter names of the innermost function around the node}."""
    found = {}
    for node in ast.walk(tree):  # outer functions first
        if isinstance(node, ast.FunctionDef):
            names = [arg.arg for arg in node.args.args if arg.arg != "self"]
            for inner in ast.walk(node):
                found[id(inner)] = names or found.get(id(inner), [])
    return found


def _nodes(tree):
    """Lists all nodes in functions, classes and tables, in a fixed order."""
    return [
        node
        for part in tree.body
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) or _is_table(part)
        for node in ast.walk(part)
    ]


def _is_table(part):
    """Returns whether a statement assigns a name other than `__all__`."""
    if not isinstance(part, ast.Assign):
        return False
    return "__all__" not in [ast.unparse(target) for target in part.targets]


def _whole(tree):
    """Finds the ids of lists, tuples, sets and dicts that must keep all elements.

    Examples are a row of a matrix, values that are unpacked, a result that is returned.
    Without an element the program raises, or every comparison fails, so that the change
    is not a test of the cases. A returned dict with `**` in it is a layer's config,
    whose elements are dropped: a missing element is lost when the layer is loaded.
    """
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Return, ast.Yield)) and not (
            isinstance(node.value, ast.Dict) and None in node.value.keys
        ):
            found.add(id(node.value))
        if isinstance(node, ast.Assign) and any(
            isinstance(target, (ast.List, ast.Tuple)) for target in node.targets
        ):
            found.add(id(node.value))
        if isinstance(node, DISPLAYS):
            found |= {
                id(element)
                for element in node.elts
                if isinstance(element, DISPLAYS) and not _is_strings(element)
            }
    return found


def _dropped(node):
    """Yields (description, change) for each element of a literal list, set or dict.

    Tuples only if they have strings: others are shapes, arguments and classes. A list
    with a whole number is a shape, axes or strides, unless it has a float, too.
    """
    if isinstance(node, ast.Dict):
        elements = [
            f"**{ast.unparse(value)}" if key is None else ast.unparse(key)
            for key, value in zip(node.keys, node.values)
        ]
        drop = _drop_key
    elif isinstance(node, DISPLAYS) and _is_collection(node):
        elements = [ast.unparse(element) for element in node.elts]
        drop = functools.partial(_delete, "elts")
    else:
        return
    for index, element in enumerate(elements):
        if (
            index == 0 or element != elements[index - 1]
        ):  # [x, x] without one of them is [x]
            yield f"{_cut(element)} dropped from {_cut(ast.unparse(node))}", drop(index)


def _is_collection(node):
    """Whether a list, tuple or set is a collection of values, and surely no shape."""
    if isinstance(node, ast.Set) or _is_strings(node):
        return True
    if isinstance(node, ast.Tuple) or not isinstance(node.ctx, ast.Load):
        return False
    floats = any(
        isinstance(e, ast.Constant) and type(e.value) is float for e in node.elts
    )
    return floats or not any(_is_size(element) for element in node.elts)


def _is_strings(node):
    """Whether a node is a literal list, tuple or set of strings only."""
    return (
        isinstance(node, DISPLAYS)
        and bool(node.elts)
        and all(isinstance(e, ast.Constant) and type(e.value) is str for e in node.elts)
    )


def _is_size(element):
    """Whether an element is a whole number or None, or a row with one of these."""
    if isinstance(element, ast.UnaryOp):
        return _is_size(element.operand)
    if isinstance(element, (ast.List, ast.Tuple)):
        return any(map(_is_size, element.elts))
    return isinstance(element, ast.Constant) and (
        element.value is None or type(element.value) is int
    )


def _cut(text):
    """Cuts a text to at most 40 characters."""
    return text if len(text) <= 40 else text[:39] + "…"


def _drop_key(index):
    def change(node):
        del node.keys[index], node.values[index]

    return change


def _changes(node, docstrings, arguments):
    """Yields (description, change) for a node; `change` modifies a copy of `node`."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield (
            f"{node.value!r} becomes {node.value + 1!r}",
            _set("value", node.value + 1),
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value!r} is negated", _set("value", not node.value)
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPERATORS:
        yield (
            f"operator {type(node.op).__name__}",
            _set("op", OPERATORS[type(node.op)]()),
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div)):
        yield "operands swapped", _swap_operands
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        for side in ("left", "right"):
            number = getattr(node, side)
            if _is_number(number) and arguments.get(id(node)):
                yield (
                    f"{number.value!r} becomes 999 times it in float32 alone",
                    _in_float32_alone(side, arguments[id(node)]),
                )
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield (
            f"comparison {type(node.ops[0]).__name__}",
            _set("ops", [OPERATORS[type(node.ops[0])]()]),
        )
    if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
        near = FUNCTIONS[node.attr]
        yield f"{node.attr} becomes {near}", _set("attr", near)
    if isinstance(node, ast.Attribute) and node.attr in DTYPES:
        other = DTYPES[node.attr]
        yield f"{node.attr} becomes {other}", _set("attr", other)
    if isinstance(node, ast.Constant) and node.value in DTYPES.keys():
        other = DTYPES[node.value]
        yield f"{node.value!r} becomes {other!r}", _set("value", other)
    for field, value in ast.iter_fields(node):
        values = value if isinstance(value, list) else [value]
        for index, inner in enumerate(values):
            if _is_cast(inner):
                yield (
                    f"cast dropped: {ast.unparse(inner)[:50]}",
                    _drop_cast(field, index if isinstance(value, list) else None),
                )
    for index, decorator in enumerate(getattr(node, "decorator_list", ())):
        yield (
            f"decorator {ast.unparse(decorator)[:40]} dropped",
            _delete("decorator_list", index),
        )
    if isinstance(node, ast.UnaryOp):
        yield f"unary {type(node.op).__name__} dropped", _drop_unary
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            yield f"keyword {keyword.arg} dropped", _delete("keywords", index)
        if len(node.args) > 1 and not any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            yield "first arguments swapped", _swap_arguments
    for field in ("body", "orelse"):
        body = getattr(node, field, None)
        if isinstance(body, list):
            for index, statement in enumerate(body):
                if id(statement) in docstrings or isinstance(statement, FIXED):
                    continue
                yield (
                    "line %d removed: %s"
                    % (statement.lineno, ast.unparse(statement)[:50]),
                    _blank(field, index),
                )
                after = body[index + 1] if index + 1 < len(body) else None
                if after and not isinstance(after, (*FIXED, ast.Return)):
                    yield (
                        f"lines {statement.lineno} and {after.lineno} swapped",
                        _swap_statements(field, index),
                    )
                if isinstance(statement, ast.With):
                    yield f"line {statement.lineno} unwrapped", _unwrap(field, index)


def _is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_cast(node):
    """Whether a node is `tf.cast(x, dtype)` or `x.astype(dtype)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return bool(node.args) and node.func.attr in ("cast", "astype")


def _drop_cast(field, index):
    def change(node):
        value = getattr(node, field)
        cast = value if index is None else value[index]
        kept = cast.args[0] if cast.func.attr == "cast" else cast.func.value
        if index is None:
            setattr(node, field, kept)
        else:
            value[index] = kept

    return change


def _in_float32_alone(side, names):
    """Returns a change to a number, which has an effect only in float32."""
    single = " or ".join(f"getattr({n}, 'dtype', None) == 'float32'" for n in names)

    def change(node):
        number = getattr(node, side).value
        text = f"({number!r} * (999 if {single} else 1))"
        setattr(node, side, ast.parse(text, mode="eval").body)

    return change


def _swap_statements(field, index):
    def change(node):
        body = getattr(node, field)
        body[index : index + 2] = body[index + 1], body[index]

    return change


def _set(field, value):
    return lambda node: setattr(node, field, value)


def _delete(field, index):
    return lambda node: getattr(node, field).pop(index)


def _blank(field, index):
    def change(node):
        getattr(node, field)[index] = ast.Pass()

    return change


def _unwrap(field, index):
    def change(node):
        body = getattr(node, field)
        body[index : index + 1] = body[index].body

    return change


def _swap_operands(node):
    node.left, node.right = node.right, node.left


def _swap_arguments(node):
    node.args[0], node.args[1] = node.args[1], node.args[0]


def _drop_unary(node):
    node.op = ast.UAdd()
