"""Old paths of the package keras, `import keras`, and their names in tf.keras.

Until 2.3 Keras was a package beside TensorFlow 1, and most programs of that time import
it. Its names are those of tf.keras, except for the paths in standalone.tsv.
keras_names.py says which names Keras 3 still has.
"""

import functools
import pathlib

from tf1to2.common import tsv

PACKAGE = "keras"
# Private modules of Keras 3, and modules that only Keras 3 has.
NEW = ("keras.api", "keras.distribution", "keras.ops", "keras.random", "keras.src")


def is_new(name):
    """Whether only Keras 3 has a dotted name, "keras" or below it."""
    parts = name.split(".")
    return ".".join(parts[:2]) in NEW or any(p.startswith("_") for p in parts[1:2])


def place(name):
    """The name in tf.keras of a name whose path is gone.

    Args:
        name: dotted, "keras.layers.core.Dense".

    Returns:
        (the longest path of standalone.tsv that contains the name, the name in
        TensorFlow): ("keras.layers.core", "tf.keras.layers.Dense"); ("", "") if no
        path contains it.
    """
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        path = ".".join(parts[:end])
        if new := paths().get(path):
            return path, ".".join([new, *parts[end:]])
    return "", ""


@functools.cache
def paths():
    """{path in the package keras 2.x: path in tf.keras}."""
    table = tsv.rows(pathlib.Path(__file__).with_suffix(".tsv"))
    return {row["path"]: row["tf.keras"] for row in table}
