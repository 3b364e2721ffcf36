"""Trees of arrays: the common form of the answers of both sides and of recordings.

This module and `v1` also run on Python 3.7, beside the genuine TensorFlow 1.15.
"""

import json
import pathlib
import re
import traceback
import zlib

import numpy as np

SPARSE = ["indices", "values", "dense_shape"]
RAGGED = ["values", "row_splits"]


def children(tree):
    """Lists the (key, subtree) pairs of a container; returns None for a leaf."""
    if isinstance(tree, dict):
        return [(str(key), tree[key]) for key in tree]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return list(zip(tree._fields, tree))
    if isinstance(tree, (list, tuple)):
        return [(str(index), subtree) for index, subtree in enumerate(tree)]
    for fields in (SPARSE, RAGGED):
        if all(hasattr(tree, field) for field in fields):
            return [(field, getattr(tree, field)) for field in fields]
    return None


def skeleton(tree):
    """Formats the containers of `tree` as text, with "*" for each leaf.

    Sparse and ragged tensors differ from tuples. A namedtuple shows its fields, not its
    name, and a dict its keys in order.
    """
    pairs = children(tree)
    if pairs is None:
        return "*"
    inner = [(key, skeleton(subtree)) for key, subtree in pairs]
    if isinstance(tree, dict):
        inner = [(repr(key), skeleton(tree[key])) for key in tree]
        return "{%s}" % ", ".join("%s: %s" % item for item in sorted(inner))
    if [key for key, _ in pairs] in (SPARSE, RAGGED):
        return "ragged" if len(pairs) == 2 else "sparse"
    if isinstance(tree, list):
        return "[%s]" % ", ".join(text for _, text in inner)
    if hasattr(tree, "_fields"):
        return "(%s)" % ", ".join("%s=%s" % item for item in inner)
    return "(%s)" % "".join(text + ", " for _, text in inner).rstrip()


def flatten(tree, path=""):
    """Yields (path, leaf) for every leaf, depth first: `outputs/1/kernel`."""
    pairs = children(tree)
    if pairs is None:
        yield path, tree
        return
    for key, subtree in pairs:
        for item in flatten(subtree, path + "/" + key if path else key):
            yield item


def map_arrays(function, tree, path=""):
    """Rebuilds `tree` with `function(path, array)` in place of every NumPy array."""
    if isinstance(tree, (np.ndarray, np.generic)):
        return function(path, np.asarray(tree))

    def below(key, subtree):
        return map_arrays(function, subtree, path + "/" + key if path else key)

    if isinstance(tree, dict):
        return {key: below(str(key), value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*[below(f, v) for f, v in zip(tree._fields, tree)])
    if isinstance(tree, (list, tuple)):
        return type(tree)(below(str(i), value) for i, value in enumerate(tree))
    return tree


def arrays(tree):
    """Returns {path: array} of the NumPy arrays in `tree`."""
    return {
        path: np.asarray(leaf)
        for path, leaf in flatten(tree)
        if isinstance(leaf, (np.ndarray, np.generic))
    }


def as_array(leaf):
    """Converts a leaf to a comparable array; text, bytes and None to `repr` text."""
    if leaf is not None and not isinstance(
        leaf, (np.ndarray, np.generic, bool, int, float, complex, str, bytes)
    ):
        raise TypeError(
            "a page returned %r: return tensors, arrays, numbers, text, None or "
            "containers of these" % type(leaf)
        )
    array = np.asarray(leaf)
    if array.dtype.kind in "biufc":
        return array
    texts = [repr(item) for item in array.ravel().tolist()]
    return np.asarray(texts, dtype="U").reshape(array.shape)


def answer(tree):
    """Converts the leaves of `tree` to {path: array}, to compare answers.

    If the outputs are a container, its `skeleton` is the leaf "structure".
    """
    leaves = {
        path: leaf if path == "structure" else as_array(leaf)
        for path, leaf in flatten(tree)
    }
    if children(tree.get("outputs")) is not None:
        leaves["structure"] = np.asarray(skeleton(tree["outputs"]))
    return leaves


def widen(tree):
    """Converts the float32 arrays in `tree` to float64, before a run in float64."""
    return map_arrays(
        lambda _, a: a.astype(np.float64) if a.dtype == np.float32 else a, tree
    )


def narrow(leaves):
    """Converts the float64 leaves of an answer to float32, after a run in float64."""
    return {
        path: leaf.astype(np.float32) if leaf.dtype == np.float64 else leaf
        for path, leaf in leaves.items()
    }


def generator(*names):
    """A `RandomState` that depends only on `names`, on every machine and version."""
    text = "/".join(str(name) for name in names)
    return np.random.RandomState(zlib.crc32(text.encode()) & 0x7FFFFFFF)


def distinct(name, shape):
    """Distinct values for the variable `name`, so that swapped variables are noticed.

    Args:
        name: the variable's name, as a checkpoint would have it.
        shape: its shape, a sequence of ints.

    Returns:
        float64 array of `shape`, its values in (0.1, 0.9) and exact in float32.
    """
    draw = generator("weights", name).uniform(0.1, 0.9, size=tuple(shape))
    return np.asarray(draw, dtype=np.float32).astype(np.float64)


COTANGENTS = generator("cotangents").standard_normal(4093).astype(np.float32)
"""Upstream gradients, read cyclically: random, so that gradients do not cancel."""


def pack(document, store):
    """Converts `document` to JSON text, and adds its arrays to the dict `store`."""

    def encode(tree):
        if isinstance(tree, (np.ndarray, np.generic)):
            key = "array%d" % len(store)
            store[key] = np.asarray(tree)
            return {"$array": key}
        if isinstance(tree, tuple):
            return {"$tuple": [encode(item) for item in tree]}
        if isinstance(tree, list):
            return [encode(item) for item in tree]
        if isinstance(tree, dict):
            return {"$dict": [[key, encode(value)] for key, value in tree.items()]}
        if isinstance(tree, bytes):
            return {"$bytes": tree.decode("latin-1")}
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        raise TypeError(
            "%r cannot be sent to another interpreter: use arrays, numbers, text, "
            "None and containers of these" % (tree,)
        )

    return json.dumps(encode(document))


def unpack(text, store):
    """Restores the document that `pack` wrote."""

    def decode(tree):
        if isinstance(tree, list):
            return [decode(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        ((tag, value),) = tree.items()
        if tag == "$array":
            return store[value]
        if tag == "$tuple":
            return tuple(decode(item) for item in value)
        if tag == "$bytes":
            return value.encode("latin-1")
        return {key: decode(item) for key, item in value}

    return decode(json.loads(text))


def place(error, folders):
    """Finds the last line of an exception's traceback inside the given folders.

    Args:
        error: the exception.
        folders: paths; installed packages below them do not count.

    Returns:
        Text, or "" if it passed no such line.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = pathlib.Path(frame.filename)
        for folder in map(pathlib.Path, folders):
            if folder in path.parents and "site-packages" not in path.parts:
                return "%s, line %d" % (path.relative_to(folder), frame.lineno)
    return ""


def error_name(kind):
    """The name of an exception type, the same under every Python."""
    return "error" if kind is re.error else kind.__name__  # PatternError since 3.13
