"""Runs new calls of probes on today's TensorFlow: eagerly, and in a `tf.function`."""

import contextlib
import functools
import sys
import tempfile
import types
import warnings

import numpy as np
import tensorflow as tf

from tf1to2.fix import unsafe
from tf1to2.parity import structure
from tf1to2.parity.v1 import SEED, dtype_of
from tf1to2.view import take
from upkeep.probes.left import parts


def distinct(role):
    """An initializer of distinct values, which depend only on `role` and shape."""

    def initializer(shape, dtype=None, **_):
        shape = [int(size) for size in shape]
        return tf.constant(structure.distinct([role, shape], shape), dtype)

    return initializer


def run(code, inputs, function=False):
    """Runs a new call on arrays; returns its answer.

    Args:
        code: the call, of a `Probe`.
        inputs: {name: array}; other values are passed unchanged.
        function: whether the last line runs in a `tf.function`.

    Returns:
        {path: array}.
    """

    def constant(_, array):
        return tf.constant(array, dtype_of(array))

    ready, last = parts(code)
    tf.random.set_seed(SEED)
    with (
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(),
        _keras_computes(code, inputs),
        _what_was_taken(code),
    ):
        warnings.simplefilter("ignore", ResourceWarning)  # open(path).read()
        scope = {"tf": tf, "np": np, "distinct": distinct, "folder": folder}
        given = structure.map_arrays(constant, inputs)
        scope.update(given)
        exec(ready, scope)
        if not function:
            return _answer(eval(last, scope))
        statics = {}

        def traced(tensors):
            leaves = structure.flatten(eval(last, {**scope, **tensors}))
            leaves = {path or "answer": leaf for path, leaf in leaves}
            statics.update({p: x for p, x in leaves.items() if not tf.is_tensor(x)})
            return {
                p: tf.convert_to_tensor(x)
                for p, x in leaves.items()
                if p not in statics
            }

        tensors = {k: v for k, v in given.items() if tf.is_tensor(v)}
        answer = tf.function(traced, autograph=False)(tensors)
        return _answer({**answer, **statics})


@functools.cache
def _taken():
    """The module that `tf1to2 take` writes for the imports of `fix --unsafe`."""
    module = types.ModuleType(unsafe.TAKEN)
    exec(take.taken(sorted(unsafe.TAKES.values())), vars(module))
    return module


@contextlib.contextmanager
def _what_was_taken(code):
    """Makes the module `legacy_numerics` importable, if `code` names it."""
    if unsafe.TAKEN not in code:
        yield
        return
    sys.modules[unsafe.TAKEN] = _taken()
    try:
        yield
    finally:
        del sys.modules[unsafe.TAKEN]


def _answer(tree):
    return structure.answer(
        {
            path or "answer": leaf.numpy() if tf.is_tensor(leaf) else leaf
            for path, leaf in structure.flatten(tree)
        }
    )


@contextlib.contextmanager
def _keras_computes(code, inputs):
    """Sets Keras' dtype to float64 if an input is float64 and `code` uses Keras."""
    arrays = structure.arrays(inputs).values()
    if "keras" not in code or all(a.dtype != np.float64 for a in arrays):
        yield
        return
    kept = tf.keras.backend.floatx(), tf.keras.config.dtype_policy()
    tf.keras.backend.set_floatx("float64")
    tf.keras.config.set_dtype_policy("float64")
    try:
        yield
    finally:
        tf.keras.backend.set_floatx(kept[0])
        tf.keras.config.set_dtype_policy(kept[1])
