"""Rewrites runs of initializers and one-shot iterators, with --unsafe."""

from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.sites import FUNCTIONS, enclosing, is_bound

INITIALIZERS = {
    "tf.global_variables_initializer",
    "tf.local_variables_initializer",
    "tf.initialize_all_variables",
    "tf.initialize_local_variables",
    "tf.tables_initializer",
}
ONE_SHOT = "make_one_shot_iterator"


def initializer(site):
    """`sess.run(initializer)` becomes `pass`: a new variable has its value at once."""
    if site.symbol not in INITIALIZERS or site.call is None:
        return None
    node = site.call
    while _gathers(site.tree, node.parent):
        node = node.parent
    run = _run(site.tree, node)
    if run is not None:
        return _passes(site, [run])
    assigned = node.parent
    left = assigned.child_by_field_name("left")
    if assigned.type != "assignment" or left is None or left.type != "identifier":
        return None
    if assigned.parent.type != "expression_statement":
        return None
    found = []
    for one in site.tree.words[site.tree.text(left)]:
        if one.parent.type == "assignment" and _initializes(site.tree, one.parent):
            found.append(one.parent)
        else:
            found.append(_run(site.tree, one))
    return _passes(site, found) if None not in found else None


def _gathers(tree, node):
    """Whether a node only groups initializers: a list, tf.group, brackets."""
    if node.type in ("list", "tuple", "parenthesized_expression"):
        return all(_is_initial(tree, one) for one in node.named_children)
    if node.type == "argument_list" and node.parent.type == "call":
        function = tree.text(node.parent.child_by_field_name("function"))
        return function.endswith(".group") and _gathers(tree, node.parent)
    return _is_initial(tree, node) and node.type == "call"


def _is_initial(tree, node):
    """Whether a node is a call of an initializer, or a group of such calls."""
    if node.type in ("list", "tuple", "parenthesized_expression"):
        return all(_is_initial(tree, one) for one in node.named_children)
    if node.type != "call":
        return False
    function = tree.text(node.child_by_field_name("function"))
    inner = node.child_by_field_name("arguments").named_children
    if function.endswith(".group"):
        return bool(inner) and all(_is_initial(tree, one) for one in inner)
    return not inner and f"tf.{function.rpartition('.')[2]}" in INITIALIZERS


def _initializes(tree, assigned):
    right = assigned.child_by_field_name("right")
    return (
        right is not None
        and _is_initial(tree, right)
        and assigned.parent.type == "expression_statement"
    )


def _run(tree, node):
    """Finds the statement `sess.run(node)` or `node.run()`, or None."""
    around = node.parent
    if around.type == "argument_list" and around.named_child_count == 1:
        function = around.parent.child_by_field_name("function")
        if function is None or not tree.text(function).endswith(".run"):
            return None
        run = around.parent
    elif around.type == "attribute" and around.parent.type == "call":
        run = around.parent
        if tree.text(around).rpartition(".")[2] != "run":
            return None
        if run.child_by_field_name("arguments").named_children:
            return None
    else:
        return None
    return run if run.parent.type == "expression_statement" else None


def _passes(site, nodes):
    edits = [Edit(one.start_byte, one.end_byte, "pass") for one in nodes]
    looks = tuple((one.start_byte, "variables.create") for one in nodes)
    return Change(tuple(edits), (), looks)


def iterator(site):
    """`make_one_shot_iterator()` becomes `iter(…)`; `get_next()` becomes `next(…)`."""
    if site.call is None or not site.text.endswith(ONE_SHOT):
        return None
    given = site.arguments.named_children
    if site.node.type == "attribute" and not given:
        dataset = site.node.child_by_field_name("object")
    elif site.prefix() and len(given) == 1 and given[0].type != "keyword_argument":
        dataset = given[0]
    else:
        return None
    node, before, behind = site.call, "iter(", ")"
    following = _next(site.tree, node)
    if following is not None:
        node, before, behind = following, "next(iter(", "))"
    edits = [
        Edit(node.start_byte, dataset.start_byte, before),
        Edit(dataset.end_byte, node.end_byte, behind),
    ]
    places = [node.start_byte]
    if following is None and site.named():
        for one in _later(site.tree, site.named()):
            following = _next(site.tree, one)
            if following is None:
                continue
            edits += [
                Edit(one.start_byte, one.start_byte, "next("),
                Edit(one.end_byte, following.end_byte, ")"),
            ]
            places.append(one.start_byte)
    return Change(tuple(edits), (), tuple((p, "data.one_shot") for p in places))


def _next(tree, node):
    """Returns the call `node.get_next()`; None if the node is used otherwise."""
    around = node.parent
    if around.type != "attribute" or around.child_by_field_name("object") != node:
        return None
    call_ = around.parent
    if call_.type != "call" or not tree.text(around).endswith(".get_next"):
        return None
    return None if call_.child_by_field_name("arguments").named_children else call_


def _later(tree, name):
    """Yields the uses of a name in its function, up to its next assignment."""
    found = sorted(tree.words[tree.text(name)], key=lambda one: one.start_byte)
    function = enclosing(name, FUNCTIONS)
    for one in found[found.index(name) + 1 :]:
        if enclosing(one, FUNCTIONS) == function:
            if is_bound(one):
                return
            yield one
