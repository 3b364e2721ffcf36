"""Runs old calls of probes, in a graph and a session of the genuine TensorFlow 1.15.5.

`tf1to2.parity.v1` calls these as programs, on Python 3.7.
"""

import ast
import tempfile

import numpy as np
import tensorflow as tf

from tf1to2.parity import structure
from tf1to2.parity.v1 import dtype_of, initializers, is_fetched


def distinct(role):
    """An initializer of distinct values, which depend only on `role` and shape."""

    def initializer(shape, dtype=None, partition_info=None, **_):
        shape = [int(size) for size in shape]
        return tf.constant(structure.distinct([role, shape], shape), dtype)

    return initializer


def parts(code):
    """Compiles a call; returns (lines before, last expression)."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    return compile(tree, "<probe>", "exec"), compile(last, "<probe>", "eval")


def run(code, inputs):
    """Runs an old call on arrays; returns its answer.

    Args:
        code: the call, of a `Probe`.
        inputs: {name: array}; other values are passed unchanged.

    Returns:
        Tree of arrays.
    """
    feed = {}

    def fed(_, array):
        tensor = tf.placeholder(dtype_of(array), array.shape)
        feed[tensor] = array
        return tensor

    ready, last = parts(code)
    with tempfile.TemporaryDirectory() as folder:
        scope = {"tf": tf, "np": np, "distinct": distinct, "folder": folder}
        scope.update(structure.map_arrays(fed, inputs))
        exec(ready, scope)
        leaves = list(structure.flatten(eval(last, scope)))
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.Session(config=config) as sess:
            sess.run(initializers())
            fetched = [leaf for _, leaf in leaves if is_fetched(leaf)]
            values = iter(sess.run(fetched, feed))
            return {
                path or "answer": next(values) if is_fetched(leaf) else leaf
                for path, leaf in leaves
            }
