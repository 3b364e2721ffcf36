"""Finds the classes and methods around a node, and the definition behind a name."""

from tf1to2.source.names import records
from tf1to2.source.names.values import FUNCTIONS

KERAS = "tensorflow.keras."
LAYERS = (
    *(f"{KERAS}{name}" for name in ("layers.", "models.", "Model", "Sequential")),
    *(f"{KERAS}experimental.", f"{KERAS}applications."),
)


def is_layer(origin):
    """Whether a class is a layer or a model of Keras, or is derived from one.

    Args:
        origin: "tensorflow.keras.layers.Dense", "keras.models.Model"; for a derived
            class, the base class after "~".
    """
    name = records.public(origin.removeprefix("~"))
    return name.startswith(LAYERS) and name.rpartition(".")[2][:1].isupper()


def may_be_layer(origin):
    """Whether a class is a layer, or comes from another module and may be a layer."""
    return origin.startswith("@") or is_layer(origin)


def base(values, node):
    """Returns the origin of the base of the class around a node; "" if unknown.

    Args:
        values: `values.Values`.
        node: a node in a class.
    """
    owner = values.scope(node).enclosing("class")
    for chain in owner.bases if owner else ():
        found = values.names.origin(owner.parent, chain) or ""
        if found and not found.startswith("!"):
            return found
    return ""


def method(values, node):
    """Returns (definition, name) of the method around a node; else (None, "").

    For a function inside a method, this is the method.
    """
    function = values.around(node, FUNCTIONS)
    while function is not None:
        above = values.around(function, (*FUNCTIONS, "class_definition"))
        if function.type == "function_definition" and above is not None:
            if above.type == "class_definition":
                return function, values.text(function.child_by_field_name("name"))
        function = values.around(function, FUNCTIONS)
    return None, ""


def definition(values, node):
    """Returns the function or class definition behind a name; None if unknown.

    `self.name` refers to a method of the class around it.
    """
    found = values.followed(node)
    if isinstance(found, str):
        return None
    if found.type == "attribute":
        owner, name = values.own(found)
        return owner and own_method(values, owner, name)
    return found if found.type.endswith("_definition") else None


def own_method(values, owner, wanted):
    """Returns the definition of a method in a class body; None if it is missing."""
    for one in owner.child_by_field_name("body").named_children:
        one = one.child_by_field_name("definition") or one
        if one.type == "function_definition":
            if values.text(one.child_by_field_name("name")) == wanted:
                return one
    return None
