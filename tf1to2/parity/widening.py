"""Runs a program in float64, although its code names float32.

    with widened():
        train(images.astype(np.float64))

In this context `tf.float32` means `tf.float64`: in placeholders, defaults of
`get_variable`, initializers and random ops, `tf.to_float`, `tf.cast`. A number or a
float32 array without a dtype keeps its float32 value, but becomes a float64 tensor.
NumPy does not change: an array that a program keeps in `np.float32` is rounded.

Kernels without float64 raise an error, except `FusedBatchNorm`, which is computed by
its formula, see `formulas`. This module also runs on Python 3.7, beside TensorFlow 1.
"""

import contextlib
import gc
import sys
import types
from unittest import mock

import numpy as np
import tensorflow as tf

from tf1to2.parity import formulas


def widened(wanted=True):
    """Makes float32 mean float64 in the context; no effect if `wanted` is false."""
    if not wanted:
        return _as_it_is()
    return _widened()


@contextlib.contextmanager
def _widened():
    wide = _in_1 if tf.__version__.startswith("1.") else _in_2
    with formulas.in_float64(), wide():
        yield


@contextlib.contextmanager
def keras_in(floatx):
    """A context that sets the dtype in which Keras makes weights and computes.

    Args:
        floatx: "float64", or None to leave Keras as it is.
    """
    if floatx is None:
        yield
        return
    before = tf.keras.backend.floatx()
    config = getattr(tf.keras, "config", None)  # Keras 3: overrides floatx
    policy = config and config.dtype_policy()
    tf.keras.backend.set_floatx(floatx)
    if config:
        config.set_dtype_policy(floatx)
    try:
        yield
    finally:
        tf.keras.backend.set_floatx(before)
        if config:
            config.set_dtype_policy(policy)


@contextlib.contextmanager
def _as_it_is():
    yield  # Python 3.6 has no contextlib.nullcontext


def wide(value):
    """Converts `value` to float64 if TensorFlow would make a float32 tensor of it.

    Args:
        value: a value that is converted to a tensor without a dtype.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return value.astype(np.float64) if value.dtype == np.float32 else value
    if not _numbers(value):
        return value
    array = np.asarray(value)
    if array.dtype not in (np.float32, np.float64):
        return value
    return array.astype(np.float32).astype(np.float64)


def _numbers(value):
    """Returns whether a value is a float, or a list of numbers, maybe nested."""
    if isinstance(value, (list, tuple)):
        return all(map(_plain, _flat(value)))
    return isinstance(value, float)


def _flat(value):
    if not isinstance(value, (list, tuple, np.ndarray)):
        return [value]
    return [leaf for item in value for leaf in _flat(item)]


def _plain(value):
    return isinstance(value, (int, float, np.float32))


@contextlib.contextmanager
def _in_1():
    """Makes `tf.float32` mean float64 in TensorFlow 1, inside the context."""
    from tensorflow.python.framework import dtypes, tensor_util

    make, array_of = tensor_util.make_tensor_proto, tensor_util.MakeNdarray

    class Kept(dtypes.DType):
        """A true float32 type, for kernels that require float32.

        It equals `tf.float32` of the program, so that gradients pass through it.
        """

        __hash__ = dtypes.DType.__hash__

        def __eq__(self, other):
            return other is dtypes.float32 or super().__eq__(other)

        def __ne__(self, other):
            return not self == other

    def make_wide(values, dtype=None, *args, **kwargs):
        if isinstance(dtype, Kept):
            with mock.patch.object(dtypes.float32, "_type_enum", narrow[0][1]):
                return make(values, dtypes.float32, *args, **kwargs)
        values = wide(values) if dtype is None else values
        return make(values, dtype, *args, **kwargs)

    def array_of_wide(tensor):
        """Reads the array of a float64 tensor, which now equals `tf.float32`."""
        with mock.patch.object(dtypes.float32, "_type_enum", narrow[0][1]):
            return array_of(tensor)

    narrow = [(t, t._type_enum) for t in (dtypes.float32, dtypes.float32_ref)]
    tables = dtypes._INTERN_TABLE, dtypes._ANY_TO_TF
    for table in tables:
        table.update({number: Kept(number) for _, number in narrow})
    dtypes.float32._type_enum = dtypes.float64.as_datatype_enum
    dtypes.float32_ref._type_enum = dtypes.float64_ref.as_datatype_enum
    tensor_util.make_tensor_proto = make_wide
    owners = [(tensor_util, "MakeNdarray"), *_names_of(array_of)]
    for module, name in owners:
        setattr(module, name, array_of_wide)
    try:
        yield
    finally:
        tensor_util.make_tensor_proto = make
        for module, name in owners:
            setattr(module, name, array_of)
        for dtype, number in narrow:
            dtype._type_enum = number
            for table in tables:
                table[number] = dtype


@contextlib.contextmanager
def _in_2():
    """A context in which float32 means float64 in TensorFlow 2, except in kernels."""
    from tensorflow.python.framework import constant_op, dtypes

    as_dtype, constant = dtypes.as_dtype, constant_op._constant_impl

    def as_wide(value):
        found = as_dtype(value)
        return tf.float64 if found == float32 else found

    def constant_wide(value, dtype, *args, **kwargs):
        value = wide(value) if dtype is None else value
        dtype = dtype if dtype is None else as_wide(dtype)
        return constant(value, dtype, *args, **kwargs)

    float32 = dtypes.float32
    with contextlib.ExitStack() as stack:
        for module, name in _names_of(float32):
            stack.enter_context(mock.patch.object(module, name, tf.float64))
        for function in _functions_with(float32):
            stack.callback(setattr, function, "__defaults__", function.__defaults__)
            function.__defaults__ = tuple(
                tf.float64 if d is float32 else d for d in function.__defaults__
            )
        for keras in filter(None, map(sys.modules.get, ("keras", "tf_keras"))):
            _widen_policy(getattr(keras, "config", None), stack)
            stack.callback(keras.backend.set_floatx, keras.backend.floatx())
            keras.backend.set_floatx("float64")
        stack.enter_context(mock.patch.object(dtypes, "as_dtype", as_wide))
        stack.enter_context(
            mock.patch.object(constant_op, "_constant_impl", constant_wide)
        )
        yield


def _widen_policy(config, stack):
    """Sets Keras 3's dtype policy to float64 until `stack` ends, if it is float32."""
    policy = getattr(config, "dtype_policy", lambda: None)()  # not in tf_keras
    if policy and policy.name == "float32":
        stack.callback(config.set_dtype_policy, policy)
        config.set_dtype_policy("float64")


def _names_of(dtype):
    """Lists (module, name) for each global variable with `dtype` as its value."""
    return [
        (module, name)
        for module in list(sys.modules.values())
        if isinstance(module, types.ModuleType)
        if not module.__name__.startswith(("tensorflow.python", "tf1to2"))
        for name, value in list(vars(module).items())
        if value is dtype
    ]


def _functions_with(dtype):
    """Functions with `dtype` as a parameter's default, except wrappers of kernels."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()  # get_objects leaves out frozen objects
    objects = gc.get_objects()
    if frozen:
        gc.freeze()
    return [
        value
        for value in objects
        if isinstance(value, types.FunctionType)
        if any(default is dtype for default in value.__defaults__ or ())
        if ".gen_" not in value.__module__
    ]
