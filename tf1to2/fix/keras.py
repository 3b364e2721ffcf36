"""Rewrites calls of tf.keras: keywords, methods and losses with new names."""

from tf1to2.catalog import entries, facts, signatures
from tf1to2.fix import (
    arguments,
    keras_1,
    keras_ordering,
    keras_paths,
    keras_values,
    keras_words,
)
from tf1to2.fix.edits import Change, Edit
from tf1to2.source.constructs.keras_1_kernels import KERNEL

LOSSES = {"kullback_leibler_divergence": "kl_divergence", "logcosh": "log_cosh"}


def change(site, old):
    """The `Change` of a call of tf.keras; None if nothing in it is certain.

    Args:
        site: `sites.Site`.
        old: whether the new call must work on 1.15.5 as well.
    """
    symbol = site.entry.symbol
    if not symbol.startswith("tf.keras."):
        return None
    old_names = (keras_1.change, keras_paths.change, keras_ordering.change)
    if gone := next(filter(None, (kind(site) for kind in old_names)), None):
        return gone
    if site.call is None:
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
    """Renames keywords: `lr=` to `learning_rate=`, and Keras 1 keywords to Keras 3."""
    symbol, call = site.entry.symbol, site.use.call
    fact = facts.fact(symbol) or facts.member(*symbol.rpartition(".")[::2])
    if fact is None:
        return None
    given = keras_words.Call(site.tree, site.arguments)
    there = signatures.parameters(fact.signature)[0] if old else None
    is_kernel = any(kind == KERNEL for _, kind in call.kinds)
    words = keras_words.rewritten(given, symbol, is_kernel, there)
    if words is None or not words.edits:
        return None
    names = [words.names.get(word, word) for word in call.keywords]
    return _change(
        site,
        [*words.edits, *keras_1.spelling(site)],
        keywords=tuple(filter(None, names)),
        texts=tuple((words.names.get(at, at), text) for at, text in call.texts),
        positional=call.positional - max(0, words.sizes - 1),
        kinds=(),
    )


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
        if one.name != "loss":
            continue
        if edit := keras_values.reworded(site.tree, one.value, LOSSES):
            texts = [(at, LOSSES.get(t, t)) for at, t in site.use.call.texts]
            return _change(site, [edit], texts=tuple(texts))
    return None


def _change(site, found, **now):
    """Makes a `Change` of edits; the finding stays if the call needs more changes."""
    if not found:
        return None
    call = site.use.call._replace(**now)
    left = entries.judge(site.entry.symbol, call).verdict != "same"
    return Change(tuple(found), rest=left)
