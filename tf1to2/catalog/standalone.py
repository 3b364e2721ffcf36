"""Keras as a package of its own, `import keras`: the paths that it had.

Until 2.3 it was a package beside TensorFlow 1, and most Keras of that time imports it.
Its names are those of tf.keras, but for some paths, which standalone.tsv leads on.
Which names Keras 3 still has: keras_names.py.
"""

import functools
import pathlib

from tf1to2.common import tsv

PACKAGE = "keras"
# Keras 3's insides, and what nothing but Keras 3 has.
NEW = ("keras.api", "keras.distribution", "keras.ops", "keras.random", "keras.src")


def is_new(name):
    """Whether nothing but Keras 3 has a dotted name, "keras" or below it."""
    parts = name.split(".")
    return ".".join(parts[:2]) in NEW or any(p.startswith("_") for p in parts[1:2])


def place(name):
    """Where the name of a path that is gone stands.

    Args:
        name: dotted, "keras.layers.core.Dense".

    Returns:
        (the longest path of standalone.tsv that it lies under, the name in
        TensorFlow): ("keras.layers.core", "tf.keras.layers.Dense"); ("", "") if it
        lies under none.
    """
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        path = ".".join(parts[:end])
        if new := paths().get(path):
            return path, ".".join([new, *parts[end:]])
    return "", ""


@functools.cache
def paths():
    """{path of Keras 2.x's package: where its names stand in tf.keras}."""
    table = tsv.rows(pathlib.Path(__file__).with_suffix(".tsv"))
    return {row["path"]: row["tf.keras"] for row in table}
