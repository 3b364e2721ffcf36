"""`tf.function`, AutoGraph, tapes, and what is symbolic."""

import gc
import math

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import call, logged
from v2_eager.contrib_framework import make_centered
from v2_eager.numerics import restore, rnn

VECTOR = [tf.TensorSpec([None])]


def use_what_was_kept():
    kept = []
    call(lambda x: kept.append(x * 2))()
    return kept[0] + 1


def ask_twice():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    tape.gradient(y, x)


def one_branch(x):
    if x > 0:
        y = x
    return y


def none_in_a_branch(x):
    if x > 0:
        y = x
    else:
        y = None
    return y


def one_return(x):
    if x > 0:
        return x


def two_dtypes(x):
    if x > 0:
        y = x
    else:
        y = 0
    return y


def two_structures(x):
    if x > 0:
        y = x, x
    else:
        y = x
    return y


def grow(x):
    rows = tf.constant([1.0])
    while x < 3:
        rows, x = tf.concat([rows, [x]], 0), x + 1
    return rows


def give_two():
    tf.while_loop(lambda i: i < 3, lambda i: (i, i), [tf.constant(0)])


def python_if(x):
    return x if x > 0 else -x


def retrace():
    scaled = tf.function(lambda x: x * 2)
    for n in range(7):
        scaled(n)


def watch_int():
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1))


def ask_inside():
    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.gradient(y, x)


def use_none():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.constant(1.0)
    x.assign_sub(0.1 * tape.gradient(y, x))


def set_first(x):
    x[0] = 2


def kept_outside():
    kept = []
    call(lambda x: kept.append(x))()
    return kept[0]


def variable_of_an_argument():
    kept = []

    @tf.function
    def scaled(x):
        if not kept:
            kept.append(tf.Variable(x))
        return kept[0] * x

    scaled.get_concrete_function(tf.constant(1.0))


def returned_array():
    return tf.function(lambda: tf.TensorArray(tf.float32, 1).unstack([1.0]))()


class Scaled(tf.keras.layers.Layer):
    def call(self, x):
        return x * tf.Variable(tf.random.truncated_normal([2]))


def forget_variable():
    def make():
        w = tf.Variable(1.0)
        return tf.function(lambda: w * 1).get_concrete_function()

    function = make()
    gc.collect()
    with tf.GradientTape():
        function()


def signed(spec, x):
    return lambda: tf.function(lambda x: x, input_signature=[spec])(x)


MIXED = [tf.constant([True]), tf.constant([1.0])]
ERRORS = {
    "could not be lifted out": lambda: Scaled()(tf.keras.Input([2])),
    "which have been deleted": forget_variable,
    "can't convert Operation": call(lambda x: tf.square(tf.print(x))),
    "unsupported operand type(s) for …: 'Operation'": call(lambda x: tf.print(x) * 2),
    "due to `Attempt to convert a value (SparseTensor": signed(
        VECTOR[0], tf.sparse.eye(2)
    ),
    "attribute 'indices'": signed(tf.SparseTensorSpec([2, 2]), tf.ones([2, 2])),
    "attribute 'item'": call(lambda x: x.item()),
    "must be real number": call(math.exp),
    "os.PathLike object": call(open),
    "%d format": call(lambda x: "%d" % x),
    "Tensors in list": call(lambda x: tf.concat(MIXED, 0)),
    "attribute 'concat'": lambda: returned_array().concat(),
    "attribute 'stack'": lambda: returned_array().stack(),
    "is out of scope": use_what_was_kept,
    "singleton": call(lambda x: tf.Variable(1.0)),
    "Unable to lift": variable_of_an_argument,
    "Python `bool`": call(python_if, autograph=False),
    "has no variables yet": lambda: restore.named(rnn.LSTMCell(2, name="lstm")),
    "has no variables yet: call it once": lambda: restore.named(make_centered()),
    "Iterating over a symbolic `tf.Tensor`": call(lambda x: list(x), autograph=False),
    "Cannot infer": tf.function(
        tf.unstack, input_signature=VECTOR
    ).get_concrete_function,
    "scalar tensor": lambda: list(tf.constant(1.0)),
    "initialized in the else": call(one_branch),
    "is None at the end": call(none_in_a_branch),
    "return statement": call(one_return),
    "in the main branch, but": call(two_dtypes),
    "in the main and else": call(two_structures),
    "before the loop": call(grow),
    "same nested structure.": give_two,
    "TensorArray dtype": lambda: tf.map_fn(
        lambda x: tf.cast(x, tf.int32), tf.ones([3])
    ),
    "attribute 'numpy'": call(lambda x: x.numpy()),
    "'KerasTensor' object has no attribute 'numpy'": lambda: tf.keras.Input(
        [2]
    ).numpy(),
    "'numpy.ndarray' object has no attribute 'numpy'": lambda: np.ones(2).numpy(),
    "'numpy.float32' object has no attribute 'numpy'": lambda: np.float32(1).numpy(),
    "'float' object has no attribute 'numpy'": lambda: (1.0).numpy(),
    "'list' object has no attribute 'numpy'": lambda: [1.0].numpy(),
    "symbolic tf.Tensor (": call(lambda x: np.sum(x)),
    "not 'SymbolicTensor'": lambda: float(kept_outside()),
    "as an integer": call(lambda x: range(tf.cast(x, tf.int32)), autograph=False),
    "len is not": call(lambda x: len(x), autograph=False),
    "format string": call(lambda x: f"{x:.2f}"),
    "Binding inputs": call(lambda x: x, input_signature=VECTOR),
    "retracing": logged(retrace),
    "To be compatible": call(lambda x: object()),
    "A KerasTensor cannot": lambda: tf.abs(tf.keras.Input([3])),
    "A KerasTensor is symbolic": lambda: np.sum(tf.keras.Input([3])),
    "as a boolean": lambda: bool(tf.keras.Input([3])),
    "A non-persistent": ask_twice,
    "watched tensor": logged(watch_int),
    "inside its context": logged(ask_inside),
    "unsupported operand": use_none,
    "for …: 'NoneType' and": lambda: tf.keras.Input([2]).shape[0] * 2,
    "unhashable": lambda: {tf.constant(1): 1},
    "truth value": lambda: tf.Variable([1.0]) in [tf.Variable([1.0, 2.0])],
    "item assignment": lambda: set_first(tf.constant([1])),
    "'SymbolicTensor' object does not support item": lambda: set_first(kept_outside()),
    "'ResourceVariable' object does not support item": lambda: set_first(
        tf.Variable([1])
    ),
    "'KerasTensor' object does not support item": lambda: set_first(
        tf.keras.Input([2])
    ),
    "XLA_CPU_JIT": call(
        lambda x: tf.py_function(abs, [x], tf.float32), jit_compile=True
    ),
    "NaN": lambda: tf.debugging.check_numerics(tf.constant(np.nan), "loss"),
}
