"""Uses of the package keras: `import keras`, `from keras import …`."""

import dataclasses
import typing

from tf1to2.catalog import entries, keras_names, standalone
from tf1to2.catalog.entry import Entry

ROOT = standalone.PACKAGE + "."


class Found(typing.NamedTuple):
    """The result of `of`: a name of the package keras, with its entry.

    Attributes:
        entry: the `Entry` of a name that tf.keras keeps and the package lacks; None if
            Keras 3 has the name.
    """

    entry: Entry | None


def origin(name):
    """The origin of a name that a file imports from the package keras.

    A name that the import does not find any more gets its origin in tf.keras, because
    the import should become one of tf.keras. The import itself is a use, see `of`.

    Args:
        name: dotted, "keras" or below it.

    Returns:
        "keras.layers.Dense"; for "keras.layers.core.Dense" and
        "keras.preprocessing.text", the name in TensorFlow; "" if only Keras 3 has it.
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
    """Looks up a use of the package keras; None if tf.keras must judge it.

    Args:
        origin: such as "keras.backend.sum", "keras.losses.Reduction.SUM".
        call: `records.Call`, or None if the name is not called.
        imported: whether the use is an import, which only needs the name to exist.

    Returns:
        `Found`; None if both packages have the name, or neither.
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
    """Whether the path of a name is gone and tf.keras does not have the name."""
    path, place = standalone.place(origin)
    inner = place.removeprefix(f"{keras_names.TF_KERAS}.")
    return path not in ("", origin) and not keras_names.has(inner, keras_names.TF_KERAS)
