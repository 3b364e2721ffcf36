"""Rewrites imports from a path that is gone: `keras.layers.core` → `keras.layers`."""

import typing

from tf1to2.catalog import entries, keras_names, standalone
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.keras_gone import is_gone
from tf1to2.fix.sites import enclosing, is_bound

TF_KERAS = "tf.keras"


class Statement(typing.NamedTuple):
    """A statement `from module import name, …` that imports from the package keras.

    Attributes:
        tree: `sites.Tree`.
        node: its node.
        module: its module, as it is written.
    """

    tree: object
    node: object
    module: str

    @classmethod
    def of(cls, tree, node):
        """Returns the keras import statement that contains a node, or None."""
        node = enclosing(node, ("import_from_statement",))
        if node is None or node.parent.type != "module":
            return None
        module = tree.module(node)
        return cls(tree, node, module) if module.startswith("keras") else None

    def names(self):
        """Returns (node, name, alias or None) for each imported name."""
        nodes = self.node.children_by_field_name("name")
        return [(node, *self.tree.imported(node)) for node in nodes]

    def begins_with(self, node):
        """Whether a node is in the first imported name."""
        first = self.names()[0][0]
        return first.start_byte <= node.start_byte < first.end_byte


def change(site):
    """Changes an import from a removed path; None if the change is not certain.

    The first name of a statement gets the edit of all its names.

    Args:
        site: `sites.Site`.
    """
    if not site.use.imported or site.node is None:
        return None
    found = Statement.of(site.tree, site.node)
    if found is None:
        return None
    edits = _module(found) or _object(found)
    if edits is None:
        return None
    return Change(tuple(edits) if found.begins_with(site.node) else ())


def also(tree, node):
    """Returns the path edits of an import whose imported name was removed, too.

    Args:
        tree: `sites.Tree`.
        node: of a name in an import; only the first name of a statement gets edits.

    Returns:
        (list of `Edit`, whether the path is gone but does not change).
    """
    found = Statement.of(tree, node)
    if found is None:
        return [], False
    edits = _module(found)
    gone = bool(standalone.place(found.module)[0])
    return (edits or []) if found.begins_with(node) else [], gone and edits is None


def _module(found):
    """Replaces the module if one other module has all the imported names."""
    names = [name for _, name, _ in found.names()]
    places = [standalone.place(f"{found.module}.{name}")[1] for name in names]
    parts = [place.rpartition(".") for place in places]
    modules = {module for module, _, _ in parts}
    if "" in places or len(modules) != 1 or [last for _, _, last in parts] != names:
        return None
    if is_gone(places[0]) and len(names) > 1:
        return None  # the first name may stay
    new = [name for name, place in zip(names, places) if not is_gone(place)]
    module = _spelled(modules.pop(), new)
    if module is None:
        return None
    node = found.node.child_by_field_name("module_name")
    return [Edit(node.start_byte, node.end_byte, module)]


def _spelled(module, names):
    """Returns the module that has all the names: "keras.layers"; else None."""
    inner = module.removeprefix(TF_KERAS).removeprefix(".")
    full = [f"{inner}.{name}" if inner else name for name in names]
    if all(map(keras_names.has, full)):
        return f"keras.{inner}" if inner else "keras"
    if all(keras_names.has(name, TF_KERAS) for name in full):
        return f"tensorflow.keras.{inner}" if inner else "tensorflow.keras"
    return None


def _object(found):
    """Edits an import of a module that was renamed, such as `np_utils`."""
    if len(found.names()) != 1:
        return None
    ((node, name, alias),) = found.names()
    path, place = standalone.place(f"{found.module}.{name}")
    bound = alias or name
    inner = place.removeprefix(f"{TF_KERAS}.")
    if path != f"{found.module}.{name}" or not keras_names.is_module(inner):
        return None
    used = []
    for one in found.tree.outside(bound, found.node):
        around = one.parent
        if is_bound(one) or around.type != "attribute":
            return None
        used.append(_today(place, around.child_by_field_name("attribute"), found.tree))
    module = _spelled(place, used)
    if module is None:
        return None
    package, _, last = module.rpartition(".")
    text = f"from {package} import {last}" + f" as {bound}" * (bound != last)
    return [Edit(found.node.start_byte, found.node.end_byte, text)]


def _today(place, node, tree):
    """Returns today's name of an attribute of a module: the new one if renamed."""
    entry = entries.lookup(f"{place}.{tree.text(node)}")
    if entry is None or entry.verdict != "renamed":
        return tree.text(node)
    return entry.write.removeprefix(place + ".")
