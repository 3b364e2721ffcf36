"""Short names for objects deep in contrib, or in a module that has another name."""

import re

from tf1to2.catalog import facts

# `tf.contrib.rnn.python.ops.rnn_cell.GLSTMCell` is `tf.contrib.rnn.GLSTMCell`. Other
# deep names keep their last module: `tf.contrib.learn.learn_runner.run`.
DEEP = re.compile(r"^(tf\.contrib\.\w+\.)python\.((?:\w+\.)*)(\w+)$")
KERAS = """activations applications backend callbacks constraints datasets initializers
layers losses metrics models optimizers preprocessing regularizers utils wrappers"""
FACADES = (
    *(
        (f"tf.contrib.keras.{m}", f"tf.contrib.keras.api.keras.{m}")
        for m in KERAS.split()
    ),
    ("tf.contrib.learn.monitors", "tf.contrib.learn.graph_actions.monitors_lib"),
    ("tf.contrib.eager.python.tfe", "tf.contrib.eager"),
    ("tf.contrib.slim.layers", "tf.contrib.layers"),
    ("tf.contrib.slim.initializers", "tf.contrib.layers"),
    ("tf.contrib.slim.regularizers", "tf.contrib.layers"),
    ("tf.contrib.slim.metrics", "tf.contrib.metrics"),
    ("tf.contrib.slim.losses", "tf.contrib.losses"),
    ("tf.nn.seq2seq", "tf.contrib.legacy_seq2seq"),  # until 0.12
    (
        "tf.contrib.layers.python.ops.sparse_ops",
        "tf.contrib.grid_rnn.layers.feature_column.contrib_sparse_ops",
    ),
    # Several modules import this one; names.tsv lists it only under its first name.
    *(
        (module, "tf.contrib.grid_rnn.layers.feature_column.layers.utils")
        for module in ("tf.contrib.layers.python.layers.utils", "tf.contrib.slim.utils")
    ),
)
"""Pairs of names of one module: (the name in programs, the name in names.tsv)."""


def short(symbol):
    """Shortens the name of an object deep in contrib to its name in names.tsv."""
    for module, real in FACADES:
        if symbol == module or symbol.startswith(module + "."):
            return real + symbol.removeprefix(module)
    return DEEP.sub(_raised, symbol)


def _raised(deep):
    """Finds the shortest spelling of a deep name that exists in names.tsv."""
    package, modules, name = deep.groups()
    parts = modules.split(".")  # the last one is empty
    spellings = [
        package + ".".join(parts[first:]) + name
        for first in range(len(parts) - 1, -1, -1)
    ]
    return next((s for s in spellings if facts.fact(s)), spellings[0])
