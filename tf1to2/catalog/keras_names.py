"""The names of the package keras and of tf.keras: two APIs of Keras 3.

`tf.keras` of TensorFlow 2.16 and later is the module `keras._tf_keras.keras` of the
installed Keras. It keeps old names that the package keras does not have: most of the
backend, `keras.preprocessing.text`. Both give the same objects. The names here are
without their package: "backend.sum".
"""

import dataclasses
import functools
import pathlib
import re
import typing

from tf1to2.catalog import entries, facts, links, standalone
from tf1to2.catalog.entry import Entry
from tf1to2.common import tsv

TABLE = pathlib.Path(__file__).with_suffix(".tsv")
SUCCESSORS = pathlib.Path(__file__).with_name("keras_successors.tsv")
COLUMNS = ("name", "keras", "tf.keras", "keras_2", "package")
PACKAGE, TF_KERAS, KERAS_2, INSIDE = "keras", "tf.keras", "keras_2", "inside"
"""The APIs: two of Keras 3, `tf.keras` of Keras 2, and private modules."""
FIRST = "3.0"
KEPT = "the package keras does not have it; tf.keras keeps it"
NOT_IN_3 = "Keras 3 does not have it"
# Patterns for the module in an error message, and the API that it belongs to.
MODULES = (
    (r"keras\._tf_keras(\.keras)?\b", TF_KERAS),
    (r"(tf_)?keras\.api\._v\d\.keras\b|tf_keras\b(?!\.src)", KERAS_2),
    (r"tensorflow(_core)?\.python\.keras(\.api\._v\d\.keras)?\b", INSIDE),
    (r"(tensorflow(_core)?|tf)(\.(_api\.v|compat\.v)\d)*\.keras\b", TF_KERAS),
    (r"(tf_)?keras\.src\b", INSIDE),
    (r"keras(\.api)?\b", PACKAGE),
)


class Row(typing.NamedTuple):
    """A row of keras_names.tsv.

    Attributes:
        keras, tf_keras: the versions of Keras 3 in which the package keras, or
            tf.keras, has the name: "3.0-", "3.1-3.2", or "".
        keras_2: the versions of Keras 2 whose tf.keras has it.
        package: the object's name in the package, or a function of keras.ops that does
            the same; "differs"; or "".
    """

    keras: str
    tf_keras: str
    keras_2: str
    package: str


@functools.cache
def table():
    """{name: `Row`} for all names of Keras 3, Keras 2 and tf.keras of 1.15.5."""
    return {
        row[COLUMNS[0]]: Row(*(row[column] for column in COLUMNS[1:]))
        for row in tsv.rows(TABLE)
    }


def has(name, api=PACKAGE):
    """Whether the newest version of the package keras, or of tf.keras, has a name."""
    return bool(since(name, api))


def since(name, api=PACKAGE):
    """The first version of Keras 3 that has a name: "3.8"; "" if it is gone."""
    row = table().get(name)
    spans = (row.keras if api == PACKAGE else row.tf_keras) if row else ""
    return spans.rpartition(", ")[2][:-1] if spans.endswith("-") else ""


def lacks(name):
    """Whether tf.keras keeps a name that the package keras does not have."""
    return has(name, TF_KERAS) and not has(name)


@functools.cache
def is_module(name):
    """Whether a name is a module, that is, whether other names are below it."""
    return any(other.startswith(name + ".") for other in table())


def kept():
    """The names of 1.15.5 that tf.keras keeps and the package does not have, sorted."""
    return sorted(
        name for name in table() if lacks(name) and facts.fact(f"{TF_KERAS}.{name}")
    )


def entry(name, known=None):
    """The `Entry` of a name that tf.keras keeps and the package keras lacks.

    Args:
        name: without its package.
        known: the `Entry` of the name in tf.keras, or None.
    """
    old, notes = known or _plain(name, PACKAGE), [KEPT]
    place = f"{TF_KERAS}.{name}"
    if instead := table()[name].package:
        same = "is the same function"
        if instead.startswith("keras.ops."):
            same = "has the same arguments and gives the same floats"
        notes.append(f"{instead} {same}")
    if old.note:
        notes.append(old.note)
    if (better := old.write or old.becomes) and better != place:
        notes.append(f"or write {better}")
    return dataclasses.replace(
        old,
        symbol=f"{PACKAGE}.{name}",
        verdict="rewrite",
        write=place,
        becomes="",
        note="; ".join(notes),
    )


# --- Names that an error message says are missing.


def missing(module, name=""):
    """Makes the `Entry` of a name that an error message reports as missing.

    Args:
        module: as the message writes it: "keras.backend",
            "keras._tf_keras.keras.layers", "tensorflow.keras.layers.experimental",
            "keras.api._v2.keras".
        name: the name that the module lacks, or "" if the module itself is missing.

    Returns:
        `Entry`, whose verdict is never "same"; or None if the name exists or is
        unknown.
    """
    full = f"{module}.{name}" if name else module
    api, path = _api(full)
    if not path:
        return None
    if api == PACKAGE and lacks(path):
        known = entries.lookup(f"{TF_KERAS}.{path}")
        return entry(path, known and dataclasses.replace(known, changes=()))
    if not name and (moved := _moved(path, api)):
        return moved
    if row := _successor(path, api):
        return row
    if has(path, api) and api in (PACKAGE, TF_KERAS):
        return _later(path, api)
    old = f"{TF_KERAS}.{path}"
    if entries.is_listed(old) and (known := entries.lookup(old)).symbol == old:
        if known.verdict not in ("same", "changed"):
            return known
    return _elsewhere(full, path, api) or _moved(path, api) or _of_keras_2(path, api)


@functools.cache
def _api(full):
    """Returns (API, name inside the API) of a full name; ("", "") if unknown."""
    for pattern, api in MODULES:
        if found := re.match(pattern, full):
            return api, full[found.end() :].removeprefix(".")
    return "", ""


def _successor(name, api):
    """Makes the `Entry` from a name's row in keras_successors.tsv, or None."""
    module, _, last = name.rpartition(".")
    row = successors().get(name) or successors().get(f"{module}.*")
    if row is None or not _is_there(row["write"], last):
        return None
    write, note = row["write"].replace("*", last), row["note"]
    renamed = re.fullmatch(r"[\w.]+", write) and not note
    verdict = "renamed" if renamed else "rewrite"
    return _plain(name, api, verdict, write, row["becomes"], note)


def _is_there(write, last):
    """Whether a replacement `module.*` has the name; True without a "*"."""
    module, star, _ = write.partition("*")
    api = TF_KERAS if write.startswith(f"{TF_KERAS}.") else PACKAGE
    return not star or has(module.removeprefix(f"{api}.") + last, api)


@functools.cache
def successors():
    """{name: its row of keras_successors.tsv}."""
    return {row["name"]: row for row in tsv.rows(SUCCESSORS)}


def _later(name, api):
    """Makes the `Entry` of a name newer than Keras 3.0; None for names of 3.0."""
    if (first := since(name, api)) == FIRST:
        return None
    note = "the installed Keras is older"
    return _plain(
        name, api, "rewrite", "", f"the same name of Keras {first} or later", note
    )


def _elsewhere(full, name, api):
    """Makes the `Entry` of a name in another API of Keras 3; None without one."""
    there = [one for one in (TF_KERAS, PACKAGE) if has(name, one)]
    if not there:
        return None
    place = f"{there[0]}.{name}"
    if api == INSIDE:
        found = _plain(name, api, "private", place)
        return dataclasses.replace(found, symbol=full)
    if api == KERAS_2:
        note = "Keras 2 is installed, and Keras 3 has the name"
        becomes = f"{place} of TensorFlow 2.16 or later"
        return _plain(name, api, "rewrite", "", becomes, note)
    return _plain(name, api, "renamed", place)


def _moved(name, api):
    """The `Entry` of a path that old versions of the package keras had, or None."""
    path, place = standalone.place(f"{PACKAGE}.{name}")
    if not path or api == INSIDE:
        return None
    note = f"there is no {path} any more"
    inner = place.removeprefix(f"{TF_KERAS}.")
    if inner == place or path == f"{PACKAGE}.{name}" or has(inner, TF_KERAS):
        return _plain(name, api, "rewrite", place, "", note)
    if known := missing(TF_KERAS, inner):
        return known
    module = place.rpartition(".")[0]
    note = f"{note}, and {module} does not have the name"
    return _plain(name, api, "removed", note=note)


def _of_keras_2(name, api):
    """The `Entry` of a name that only the package tf_keras has now; or None."""
    row = table().get(name)
    if row is None or not row.keras_2.endswith("2.15") or api == KERAS_2:
        return None
    becomes = "the same name of the package tf_keras"
    return _plain(name, api, "rewrite", "", becomes, NOT_IN_3)


def _plain(name, api, verdict="rewrite", write="", becomes="", note=""):
    """Makes an `Entry` of a name of an API, with the pair of its tf.keras name."""
    symbol = f"{PACKAGE if api == PACKAGE else TF_KERAS}.{name}"
    pair = links.pair(f"{TF_KERAS}.{name}")
    return Entry(symbol, _kind(name), verdict, write, becomes, note, pair=pair)


def _kind(name):
    if is_module(name):
        return "module"
    last = name.rpartition(".")[2]
    if last.startswith("__"):
        return "const"
    return "class" if last[:1].isupper() else "func"
