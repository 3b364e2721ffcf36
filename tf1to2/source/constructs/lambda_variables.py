"""Lambda layers whose function makes variables, or calls a layer with variables."""

from tf1to2.source.names import makers, owners

NAMES = ("Lambda",)
MAKES, CALLS = "[makes variables]", "[calls a layer]"
DEEP = 3  # the most nested functions of the file to follow


def kinds(values, called):
    """Returns `MAKES` if a Lambda makes variables, `CALLS` if it calls a layer."""
    function, _ = called.get("function", 0)
    kind = "" if function is None else _kind(values, function, DEEP)
    return [("function", kind)] * bool(kind)


def _kind(values, node, deep):
    function = node if node.type == "lambda" else owners.definition(values, node)
    if function is None or function.type == "class_definition":
        return ""
    found = set()
    for call in makers.calls(function.child_by_field_name("body")):
        if makers.makes_variables(values, call):
            return MAKES
        called = call.child_by_field_name("function")
        if called.type not in ("identifier", "attribute"):
            continue
        made = values.made_by(called)
        if owners.is_layer(made) and not makers.is_plain(made):
            found.add(CALLS)
        elif deep:
            found.add(_kind(values, called, deep - 1))
    return max(found, default="")
