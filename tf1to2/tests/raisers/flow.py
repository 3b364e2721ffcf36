"""Branches, loops, TensorArrays and gradients: what their functions must return."""

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import by_old_flow, call, in_graph, v1

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def traced(code, *values):
    """A function that calls `code` as a `tf.function`, with these values."""
    return lambda: tf.function(code)(*values)


def in_old_graph(code):
    """A function that calls `code` in a graph, with the control flow of before 2."""
    return in_graph(by_old_flow(code))


def branches(first, second):
    """A function that makes a `cond` of two branches."""
    return lambda: v1.cond(v1.placeholder(tf.bool, []), first, second)


def if_vector(x):
    if x > 0:
        return x
    return -x


def return_in_a_loop(n):
    for i in tf.range(n):
        if i > 1:
            return i
    return n


def break_in_a_python_loop(n):
    for i in range(3):
        if n > i:
            break
    return n


def python_condition(n):
    more = True
    while more:
        n = n - 1
        more = n > 0
    return n


def none_in_a_loop(n):
    last = tf.constant(0)
    for _ in tf.range(n):
        last = None
    return last


def none_in_the_main_branch(x):
    if x > 0:
        y = None
    else:
        y = x
    return y


def array(size=2, **options):
    return tf.TensorArray(tf.float32, size, **options)


def read_twice():
    rows = array().unstack([1.0, 2.0])
    rows.read(0)
    rows.read(0)


@tf.custom_gradient
def product(a, b):
    return a * b, lambda dy: dy


def one_gradient_of_two():
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = product(X, X)
    tape.gradient(y, X)


def keyword_in_a_graph():
    tf.custom_gradient(lambda a, k=1: (a, lambda dy: dy))(tf.ones([2]), k=2)


def enter_twice():
    tape = tf.GradientTape()
    with tape, tape:
        pass


def differentiate_none():
    with tf.GradientTape() as tape:
        tape.watch(X)
    tape.gradient(None, X)


def while_of(condition, body, values):
    return lambda: tf.while_loop(condition, body, values)


ERRORS = {
    "modify its Python input": traced(lambda rows: rows.append(1.0), [X]),
    "condition of … expected": traced(if_vector, tf.constant([1.0, 2.0])),
    "second input must be a scalar": traced(
        while_of(lambda x: x < 5, lambda x: [x + 1], [tf.ones([3])])
    ),
    "a return statement cannot": traced(return_in_a_loop, tf.constant(3)),
    "break and return statements": traced(break_in_a_python_loop, tf.constant(3)),
    "started as non-Tensor": traced(python_condition, tf.constant(3)),
    "is None at the end of the iteration": traced(none_in_a_loop, tf.constant(3)),
    "is None at the end of the main": call(none_in_the_main_branch),
    "len requires a non-scalar": call(lambda x: len(x)),
    "Scalar tensor has no": lambda: len(tf.constant(3.0)),
    "single integer, got": traced(lambda n: np.zeros(n), tf.constant(2)),
    "list indices must": traced(lambda i: ["a", "b"][i], tf.constant(1)),
    "tuple indices must": traced(lambda i: (1.0, 2.0)[i], tf.constant(1)),
    "Loop var": traced(
        while_of(lambda i: i < 5, lambda i: [tf.cast(i, tf.float32)], [tf.constant(0)])
    ),
    "true_fn and false_fn arguments": in_graph(branches(lambda: 1, lambda: 2.0)),
    "Lengths of branch outputs": in_graph(branches(lambda: None, lambda: 2)),
    "'false_fn' must have the same": in_old_graph(
        branches(lambda: tf.constant(1), lambda: tf.constant(2.0))
    ),
    "'true_fn' must have a return": in_old_graph(
        branches(lambda: None, lambda: tf.constant(2))
    ),
    "'false_fn' must have a return": in_old_graph(
        branches(lambda: tf.constant(2), lambda: None)
    ),
    "pred must not be": in_graph(lambda: v1.cond(True, lambda: 1, lambda: 2)),
    "'pred' must not": in_old_graph(lambda: v1.cond(True, lambda: 1, lambda: 2)),
    "'true_fn' must be callable": lambda: tf.cond(tf.constant(True), X, -X),
    "'false_fn' must be callable": lambda: tf.cond(tf.constant(True), lambda: X, -X),
    "'cond' must be callable": while_of(True, lambda i: i, [0]),
    "'body' must be callable": while_of(lambda i: i < 3, 5, [0]),
    "'true_fn' argument required": lambda: tf.cond(tf.constant(True)),
    "Each entry in 'pred_fn_pairs'": lambda: tf.case([tf.constant(True), lambda: 1]),
    "Size must be declared": lambda: tf.TensorArray(tf.float32),
    "Argument `size` must": traced(lambda: tf.TensorArray(tf.float32).stack()),
    "Tried to write to index": lambda: array().write(3, 1.0),
    "Trying to modify element": call(lambda x: array().write(3, x).stack()),
    "Cannot unstack": lambda: array().unstack([1.0, 2.0, 3.0]),
    "Tried to read from index": lambda: array().unstack([1.0, 2.0]).read(5),
    "Could not read index": read_twice,
    "Incompatible shape for value": lambda: array(element_shape=[2]).write(0, [1.0]),
    "Inconsistent shapes": traced(
        lambda: array(element_shape=[2]).write(0, [1.0]).stack()
    ),
    "saw a scalar shape": lambda: array().unstack([1.0, 2.0]).concat(),
    "custom_gradient function expected": one_gradient_of_two,
    "keywords arguments only": in_graph(keyword_in_a_graph),
    "Tape is still recording": enter_twice,
    "Argument `target` should be a list": differentiate_none,
    "`t_list` should": lambda: tf.clip_by_global_norm(X, 1.0),
    "either a tuple or a list": lambda: tf.function(
        abs, input_signature=tf.TensorSpec([2])
    ),
    "missing type constraint": lambda: tf.function(
        lambda x, y: x, input_signature=[tf.TensorSpec([2])]
    ),
    "possibly nested sequence of TensorSpec": lambda: tf.function(
        abs, input_signature=[tf.float32]
    ),
}
