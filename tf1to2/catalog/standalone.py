"""Keras as a package of its own, `import keras`, and tf.keras, which has its names.

Until 2.3 it was a package beside TensorFlow 1, and most Keras of that time imports it.
Its names are those of tf.keras, but for some paths, which standalone.tsv leads on.
"""

import functools
import pathlib

from tf1to2.common import tsv

PACKAGE = "keras"
# Keras 3's insides, and what nothing but Keras 3 has.
NEW = ("keras.api", "keras.distribution", "keras.ops", "keras.random", "keras.src")


def origin(name):
    """The origin of a name in TensorFlow: of "keras.layers.core.Dense" its Dense.

    Args:
        name: dotted, "keras" or below it.

    Returns:
        "tensorflow.keras.layers.Dense", or "" of what Keras 3 alone has.
    """
    parts = name.split(".")
    if ".".join(parts[:2]) in NEW or any(p.startswith("_") for p in parts[1:2]):
        return ""
    for end in range(len(parts), 1, -1):
        if new := paths().get(".".join(parts[:end])):
            return ".".join(["tensorflow" + new.removeprefix("tf"), *parts[end:]])
    return f"tensorflow.{name}"


@functools.cache
def paths():
    """{path of Keras 2.x's package: where its names stand in tf.keras}."""
    table = tsv.rows(pathlib.Path(__file__).with_suffix(".tsv"))
    return {row["path"]: row["tf.keras"] for row in table}
