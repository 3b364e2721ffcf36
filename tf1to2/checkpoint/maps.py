"""Reads and checks a map: a JSON file with the new place of each tensor.

    {
      "format": "objects",
      "auto": true,
      "tensors": {
        "dense/bias": "model/bias",
        "dense/kernel": {"to": "model/kernel", "transpose": [1, 0]},
        "rnn/*": "model/cell/*"
      },
      "drop": ["old/*"],
      "new": {"save_counter": {"value": 1, "dtype": "int64"}, "model/head/*": "like"}
    }

`format` is "objects" or "names". The key of an object is the path of its attributes,
without the `/.ATTRIBUTES/VARIABLE_VALUE` that the file appends. A tensor may be given
`transpose` (a permutation), then `reshape`, then `dtype`. A new tensor has a `value`
and a `dtype`, and a `shape` if the value is one number to be repeated; or it is "like",
which keeps the template's value. A place that is "" is still open. With `auto`, tensors
that the map leaves open are matched by their names.
"""

import json
import pathlib

from tf1to2.checkpoint.casting import Loss, cast
from tf1to2.checkpoint.stored import SUFFIX, tensorflow
from tf1to2.common.errors import CommandError

FORMATS = ("objects", "names")


def read_map(path):
    """Reads and checks a map.

    Returns:
        dict with "format", "auto", "tensors" ({name: keywords of Move, or "" if its
        place is open}), "drop" and "new" ({name: "like", "" or {"array", "given"}}).

    Raises:
        CommandError: the file is not such a map; the message names the entry.
    """
    return _read(path, _checked)


def read_names(path):
    """Reads a JSON file of {old name: attribute path or new name}.

    Raises:
        CommandError: the file is not such a map; the message names the entry.
    """
    return _read(path, _checked_names)


def empty_map(format_):
    """The map without entries: all tensors are matched by their names."""
    return {"format": format_, "auto": True, "tensors": {}, "drop": [], "new": {}}


class _BadMap(Exception):
    pass


def _read(path, check):
    def once(pairs):
        names = set()
        for name, _ in pairs:
            if name in names:
                raise _BadMap(f"{name!r} comes twice")
            names.add(name)
        return dict(pairs)

    def refused(text):
        raise _BadMap(f"{text[:40]} is not a number")

    def number(text):
        value = float(text)
        return value if abs(value) < float("inf") else refused(text)

    try:
        text = pathlib.Path(path).read_text("utf-8-sig")
        return check(
            json.loads(
                text,
                object_pairs_hook=once,
                parse_constant=refused,
                parse_float=number,
            )
        )
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    except (_BadMap, Loss) as error:
        # A name may have any character, but the message must be one line.
        line = " ".join(str(error).split())[:300]
        raise CommandError(f"{path}: {line}") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}: not valid JSON: {error}") from None


def _checked(mapping):
    kinds = {"format": str, "auto": bool, "tensors": dict, "drop": list, "new": dict}
    _check_keys("the map", mapping, kinds, {"format"})
    if mapping["format"] not in FORMATS:
        raise _BadMap('"format" must be "objects" or "names"')
    tensors, new = {}, {}
    for name, entry in mapping.get("tensors", {}).items():
        _put(tensors, name, _checked_tensor(name, entry))
    for name, entry in mapping.get("new", {}).items():
        if entry not in ("like", ""):
            entry = _checked_value(name, entry)
        _put(new, _name(name), entry)
    drop = mapping.get("drop", [])
    if not all(isinstance(pattern, str) and pattern for pattern in drop):
        raise _BadMap('"drop" must be a list of names')
    return {
        "format": mapping["format"],
        "auto": mapping.get("auto", False),
        "tensors": tensors,
        "drop": [pattern.removesuffix(SUFFIX) for pattern in drop],
        "new": new,
    }


def _put(entries, name, entry):
    name = name.removesuffix(SUFFIX)
    if name in entries:
        raise _BadMap(f"{name!r} comes twice, with and without its suffix")
    entries[name] = entry


def _checked_tensor(name, entry):
    entry = {"to": entry} if isinstance(entry, str) else entry
    kinds = {"to": str, "transpose": list, "reshape": list, "dtype": str}
    _check_keys(name, entry, kinds, {"to"})
    for key in ("transpose", "reshape"):
        if key in entry:
            entry[key] = _numbers(f"{name}: {key}", entry[key])
    to = _name(entry["to"]) if entry["to"] else ""
    if to.count("*") not in (0, name.count("*")):
        raise _BadMap(f"{name}: {to} must have as many stars as the old name, or none")
    return {**entry, "to": to} if to else ""


def _checked_value(name, entry):
    kinds = {"value": object, "dtype": str, "shape": list}
    _check_keys(name, entry, kinds, {"value", "dtype"})
    if "shape" in entry:
        entry["shape"] = _numbers(f"{name}: shape", entry["shape"])
    return {"array": _array(name, **entry), "given": entry}


def _checked_names(names):
    if not isinstance(names, dict) or not names:
        raise _BadMap(f"expected {{old name: new name}}, but found {_json(names)}")
    checked = {}
    for old, new in names.items():
        if not isinstance(new, str):
            raise _BadMap(f"{old}: expected a name, but found {_json(new)}")
        _put(checked, old, _name(new))
    return checked


def _check_keys(where, entry, kinds, required):
    if not isinstance(entry, dict):
        raise _BadMap(f"{where}: expected an object, but found {_json(entry)}")
    for key, value in entry.items():
        if key not in kinds:
            raise _BadMap(
                f"{where}: unknown key {key!r}; known keys: {', '.join(kinds)}"
            )
        if not isinstance(value, kinds[key]):
            raise _BadMap(f"{where}: {key!r} cannot be {_json(value)}")
    for key in sorted(required - set(entry)):
        raise _BadMap(f"{where}: {key!r} is missing")
    if "dtype" in entry:
        entry["dtype"] = _dtype(where, entry["dtype"])


def _json(value):
    try:
        return json.dumps(value)[:60]
    except RecursionError:
        return "nested brackets"


def _dtype(where, name):
    try:
        dtype = tensorflow().as_dtype(name)
        dtype.as_numpy_dtype  # noqa: B018  a resource does not have one
    except (TypeError, KeyError):
        raise _BadMap(f"{where}: unknown dtype {name!r}") from None
    if dtype != dtype.base_dtype:  # a reference, which a file cannot have
        raise _BadMap(f"{where}: unknown dtype {name!r}")
    return dtype.name


def _name(text):
    name = text.removesuffix(SUFFIX)
    try:
        name.encode()
    except UnicodeEncodeError:
        name = ""
    if not all(name.split("/")) or "\0" in name:
        raise _BadMap(f"{text!r} is not a valid name")
    return name


def _numbers(where, items):
    if not all(type(item) is int and 0 <= item < 2**63 for item in items):
        raise _BadMap(f"{where} must be a list of integers, 0 or larger")
    return tuple(items)


def _array(where, value, dtype, shape=None):
    """Converts the value of a new tensor to an array of its dtype, without loss."""
    import numpy as np

    wanted = tensorflow().as_dtype(dtype)
    # The kinds of values, as NumPy abbreviates them, that the dtype accepts.
    kinds = "biuf" if wanted.is_floating or wanted.is_complex else "biu"
    kinds = {"string": "U", "bool": "b"}.get(dtype, kinds)
    try:
        given = np.asarray(value)
        if given.size and given.dtype.kind not in kinds:
            raise _BadMap(f"{where}: {_json(value)} cannot be stored as {dtype}")
        if dtype == "string":
            array = np.char.encode(given.astype("U"), "utf-8").astype(object)
        else:
            array, _ = cast(given, dtype)  # 300 would become 44 in int8
        return np.broadcast_to(array, array.shape if shape is None else shape)
    except (ValueError, TypeError, OverflowError, RecursionError, Loss) as error:
        raise _BadMap(f"{where}: {error}") from None
