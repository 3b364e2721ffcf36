"""Checks that a probe or a pair executes the replacements that verdicts.tsv recommends.

Users rely on rows such as `tf.log → tf.math.log`. So a probe of `tf.log` calls
`tf.math.log` and compares its numbers with those of 1.15.5, or a left page calls
`tf.log`. Names that can have neither are in unprobed.tsv, with the reason.
"""

import re
import types

import tensorflow as tf

from tf1to2.catalog import facts, links, verdicts
from tf1to2.probes import probed
from upkeep import api_walk

NAME = re.compile(r"(?<![\w.])tf(?:\.[A-Za-z_]\w*)+")


def written():
    """Lists the TensorFlow functions and classes in each name's replacement.

    It leaves out rows for all names of a module, methods of unknown objects, names that
    were never public, and names that tf.keras of 1.15.5 did not have: those of Keras 1
    and of symbolic tensors.
    """
    exact = verdicts.table()[0]
    return {
        name: called
        for name, row in exact.items()
        if name.startswith("tf.") and not _never_in_tf_keras(name)
        if (called := functions(row.write))
    }


def functions(code):
    """The functions and classes of TensorFlow that a text names, in order."""
    names = dict.fromkeys(NAME.findall(code))
    things = {name: api_walk.get(tf, name) for name in names}
    return [
        name
        for name, thing in things.items()
        if callable(thing) and not isinstance(thing, types.ModuleType)
    ]


def unexecuted(name, called):
    """Lists names in `called` that no probe of `name` calls; [] if pairs prove it."""
    if links.proofs(name):
        return []
    codes = [probe.new for probe in probed().get(name, ())]
    return [f for f in called if not any(_calls(code, f) for code in codes)]


def _never_in_tf_keras(name):
    if not name.startswith("tf.keras.") or facts.fact(name):
        return False
    owner, _, member = name.rpartition(".")
    return not (facts.fact(owner) and facts.member(owner, member))


def _calls(code, function):
    """Whether code calls a function, by an alias, or as a method of its class."""
    wanted = api_walk.get(tf, function)
    for name in NAME.findall(code):
        while name != "tf":
            if api_walk.get(tf, name) == wanted:
                return True
            name = name.rpartition(".")[0]
    owner, _, method = function.rpartition(".")
    makes = isinstance(api_walk.get(tf, owner), type)
    return makes and f".{method}(" in code and _calls(code, owner)
