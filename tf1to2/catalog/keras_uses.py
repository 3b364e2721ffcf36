"""What a use of the package keras is today: `import keras`, `from keras import …`."""

import dataclasses
import typing

from tf1to2.catalog import entries, keras_names, standalone
from tf1to2.catalog.entry import Entry

ROOT = standalone.PACKAGE + "."


class Found(typing.NamedTuple):
    """What is known of a name of the package keras.

    Attributes:
        entry: the `Entry` of a name that the package lacks, and tf.keras keeps; None
            of a name that is Keras 3's as it stands.
    """

    entry: Entry | None


def origin(name):
    """What an import binds: the origin of a name of the package keras.

    A name that an import does not find any more is one of tf.keras, for that is what
    the import is to say; the import itself is a use, see `of`.

    Args:
        name: dotted, "keras" or below it.

    Returns:
        "keras.layers.Dense"; of "keras.layers.core.Dense" and of
        "keras.preprocessing.text" the name in TensorFlow; "" of what only Keras 3 has.
    """
    if standalone.is_new(name):
        return ""
    _, place = standalone.place(name)
    if place:
        return "tensorflow" + place.removeprefix("tf")
    if keras_names.lacks(name.removeprefix(ROOT)):
        return f"tensorflow.{name}"
    return name


def is_of_the_package(origin):
    """Whether an origin is a name of the package keras."""
    return origin == standalone.PACKAGE or origin.startswith(ROOT)


def has(symbol):
    """Whether the package keras has a name of tf.keras, "tf.keras.layers.Dense"."""
    return keras_names.has(symbol.removeprefix(f"{keras_names.TF_KERAS}."))


def of(origin, call=None, imported=False):
    """What there is to say of a use by the package keras.

    Args:
        origin: such as "keras.backend.sum", "keras.losses.Reduction.SUM".
        call: `records.Call`, or None where it is not called.
        imported: whether it is an import, which only has to find the name.

    Returns:
        `Found`; None if tf.keras judges it, because both have the name, or neither.
    """
    if imported and _is_lost(origin):
        return Found(keras_names.missing(origin))
    name = origin.removeprefix(ROOT)
    while name and name not in keras_names.table():
        name = name.rpartition(".")[0]
    if keras_names.has(name) and not keras_names.has(name, keras_names.TF_KERAS):
        return Found(None)
    if not keras_names.lacks(name):
        return None
    known = entries.judge(f"{keras_names.TF_KERAS}.{name}", call)
    if known and imported:
        known = dataclasses.replace(known, write="", becomes="", note="", changes=())
    return Found(keras_names.entry(name, known))


def _is_lost(origin):
    """Whether the path of a name is gone, and no module of tf.keras has the name."""
    path, place = standalone.place(origin)
    inner = place.removeprefix(f"{keras_names.TF_KERAS}.")
    return path not in ("", origin) and not keras_names.has(inner, keras_names.TF_KERAS)
