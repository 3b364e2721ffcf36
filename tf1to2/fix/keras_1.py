"""Rewrites names of Keras 1 that are gone, such as `merge` and `l1l2`."""

from tf1to2.catalog import facts, standalone
from tf1to2.fix import arguments, keras_paths, keras_values, keras_words
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.imported_name import Import
from tf1to2.fix.keras_gone import GONE, LAYERS, MERGE, MERGED, MODES, is_gone
from tf1to2.fix.sites import called, is_bound

LONG = ("Convolution1D", "Convolution2D", "Convolution3D", "SeparableConvolution2D")
LONGER = "olution"
"""The letters to remove from the names of LONG to get today's names."""


def change(site):
    """The `Change` of a name of Keras 1 that is gone; None if it is not certain.

    The edits of an import and of all calls of the imported name are one change.

    Args:
        site: `sites.Site`.
    """
    symbol = _symbol(site)
    if symbol is None or site.node is None:
        return None
    if site.use.imported:
        return _imported(site, symbol)
    starred = site.use.origin.startswith("*")
    if site.call is None or not (starred or site.node.type == "attribute"):
        return None  # the import's change covers it
    found = _called(site.tree, site.call, symbol)
    if found is None:
        return None
    target, edits, rest = found
    name, label = target.rpartition(".")[2], site.node
    if starred and name in site.tree.words:
        return None
    if not starred:
        label = label.child_by_field_name("attribute")
    label = Edit(label.start_byte, label.end_byte, name)
    return Change((label, *edits), rest=rest)


def _symbol(site):
    """Returns the removed Keras 1 name that a site uses, or None."""
    _, place = standalone.place(site.symbol.removeprefix("tf."))
    return next(filter(is_gone, (place, site.symbol)), None)


def _called(tree, node, symbol):
    """Finds the replacement of a Keras 1 call; None if it is not certain.

    Returns:
        (the new name, edits of the arguments, whether more arguments must change).
    """
    given = node.child_by_field_name("arguments")
    if given is None or given.type != "argument_list":
        return None
    call = keras_words.Call(tree, given)
    if symbol == LAYERS + "merge":
        return _merged(call)
    row = GONE[symbol]
    if not row.before:
        words = keras_words.rewritten(call, row.now, True, more=row.words)
        return words and (row.now, words.edits, words.rest)
    passed = arguments.bound(call, row.before)
    if passed is None:
        return None
    now = facts.now(row.now)
    edits = arguments.rewritten(call, passed, now, row.renamed, row.added)
    return None if edits is None else (row.now, edits, False)


def _merged(call):
    """Replaces a call of `merge` by the function of its mode, such as `add`."""
    passed = arguments.bound(call, MERGE)
    if passed is None:
        return None
    values = {one.name: one.value for one in passed}
    mode = keras_values.word(call.tree, values["mode"]) if "mode" in values else "sum"
    if mode not in MODES or "inputs" not in values:
        return None
    renamed = {"concat": {"concat_axis": "axis"}, "dot": {"dot_axes": "axes"}}
    renamed = renamed.get(mode, {})
    if not values.keys() <= {"inputs", "mode", "name", *renamed}:
        return None
    added = {"axes": "-1"} if mode == "dot" else {}
    edits = arguments.rewritten(call, passed, MERGED, renamed, added, dropped=("mode",))
    return None if edits is None else (LAYERS + MODES[mode], edits, False)


def _imported(site, symbol):
    """The `Change` of an import and of all calls of the imported name."""
    found = Import.of(site.tree, site.node)
    if found is None:
        return None
    edits, names, rest = [], [], False
    for node in found.uses():
        call = called(node)
        done = call and _called(site.tree, call, symbol)
        if done is None:
            return None
        target, more, left = done
        names.append(target)
        rest = rest or left
        edits += more
        if not found.alias:
            name = target.rpartition(".")[2]
            edits.append(Edit(node.start_byte, node.end_byte, name))
    changed = found.changed(list(dict.fromkeys(names)))
    if not changed:
        return None
    if found.is_whole(changed):
        return Change((*changed, *edits), rest=rest)
    path, is_left = keras_paths.also(site.tree, site.node)
    return Change((*path, *changed, *edits), rest=rest or is_left)


def spelling(site):
    """The edits that rename `Convolution2D` to `Conv2D`.

    For an imported name, the first call with keywords of Keras 1 gets the edits of all
    uses.

    Args:
        site: `sites.Site` of a call.
    """
    symbol = site.entry.symbol
    if symbol.rpartition(".")[2] not in LONG:
        return []
    label = site.node
    if label.type == "attribute":
        return [_shortened(label.child_by_field_name("attribute"))]
    if site.use.origin.startswith("*"):
        return [_shortened(label)]
    bound = [n for n in site.tree.words.get(site.text, ()) if is_bound(n)]
    found = Import.of(site.tree, bound[0]) if len(bound) == 1 else None
    if found is None or _first(found, symbol) != label:
        return []
    changed = found.changed([symbol.replace(LONGER, "")])
    if not changed:
        return []
    uses = [] if found.alias else found.uses()
    return [*changed, *map(_shortened, uses)]


def _first(found, symbol):
    """Finds the first call of an imported name that has Keras 1 keywords, or None."""
    for node in found.uses():
        if (call := called(node)) is None:
            continue
        given = keras_words.Call(found.tree, call.child_by_field_name("arguments"))
        words = keras_words.rewritten(given, symbol, True)
        if words and words.edits:
            return node
    return None


def _shortened(node):
    """Returns the edit that removes the part `LONGER` from the inside of a name."""
    start = node.start_byte + node.text.index(LONGER.encode())
    return Edit(start, start + len(LONGER), "")
