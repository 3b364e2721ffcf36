"""tf.keras: arguments by Keras 3's names, methods and losses that have another name."""

from tf1to2.catalog import entries, facts, signatures, verdicts
from tf1to2.fix import arguments
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.renames import KEYWORD

LOSSES = {"kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh"}


def change(site, old):
    """The `Change` of a call of tf.keras; None if nothing in it is certain.

    Args:
        site: `sites.Site`.
        old: whether the new call must work on 1.15.5 as well.
    """
    symbol = site.entry.symbol
    if not symbol.startswith("tf.keras.") or site.call is None:
        return None
    if site.arguments.type != "argument_list":
        return None
    name = symbol.rpartition(".")[2]
    if name == "add_weight":
        return _add_weight(site)
    if name == "predict_proba":
        label = site.node.child_by_field_name("attribute")
        return Change((Edit(label.start_byte, label.end_byte, "predict"),))
    if name == "compile":
        return None if old else _loss(site)
    return _keywords(site, old)


def _keywords(site, old):
    """`lr=` becomes `learning_rate=`: what verdicts.tsv says to write instead."""
    fact, rows = facts.fact(site.symbol), verdicts.arguments(site.symbol)
    if fact is None:
        return None
    there = signatures.parameters(fact.signature)[0]
    found, names = [], list(site.use.call.keywords)
    for node in site.arguments.named_children:
        if node.type != "keyword_argument":
            continue
        label = node.child_by_field_name("name")
        word = site.tree.text(label)
        told = word in rows and KEYWORD.match(rows[word][2])
        if not told or told[2] != word or told[1] in names:
            continue
        if not old or told[1] in there:
            found.append(Edit(label.start_byte, label.end_byte, told[1]))
            names[names.index(word)] = told[1]
    return _change(site, found, keywords=tuple(names))


def _add_weight(site):
    """`add_weight("w", shape)` becomes `add_weight(name="w", shape=shape)`."""
    _, before, now = entries.compared(site.entry.symbol)
    given = arguments.bound(site, before)
    if not given or given[0].place is None or given[0].value.type != "string":
        return None
    found = arguments.rewritten(site, given, now, also=before)
    return Change(tuple(found)) if found else None


def _loss(site):
    """`loss="logcosh"` becomes `loss="log_cosh"`."""
    _, before, _ = entries.compared(site.entry.symbol)
    for one in arguments.bound(site, before) or ():
        text = site.tree.text(one.value)[1:-1]
        if one.name == "loss" and one.value.type == "string" and text in LOSSES:
            edit = Edit(one.value.start_byte + 1, one.value.end_byte - 1, LOSSES[text])
            texts = [(at, LOSSES.get(t, t)) for at, t in site.use.call.texts]
            return _change(site, [edit], texts=tuple(texts))
    return None


def _change(site, found, **now):
    """The `Change`, which leaves the finding where the call is not mended by it."""
    if not found:
        return None
    call = site.use.call._replace(**now)
    left = entries.judge(site.entry.symbol, call).verdict != "same"
    return Change(tuple(found), rest=left)
