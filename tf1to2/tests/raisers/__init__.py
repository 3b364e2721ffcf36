"""What raises each error of the guide's chapters on them: a module per group.

A module's `ERRORS` is {a part of a wording: a function without arguments that raises
it}. What TensorFlow logs or warns of, and does not raise, is raised by `logged`.
"""

import logging
import traceback
import warnings

import tensorflow as tf

v1 = tf.compat.v1


class Logged(Exception):
    """What was logged, or warned of."""


def logged(function):
    """A function that calls `function` and raises what it logs or warns of."""

    def call():
        lines = []
        handler = logging.Handler()
        handler.emit = lambda record: lines.append(record.getMessage())
        logger = tf.get_logger()
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel("WARNING")
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                function()
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
        raise Logged("\n".join([*lines, *(str(one.message) for one in warned)]))

    return call


def printed(function):
    """A function that raises what Python prints of the error of `function`."""

    def call():
        try:
            function()
        except Exception:
            raise RuntimeError(traceback.format_exc()) from None

    return call


def call(code, **options):
    """A function that calls `code`, a function of x, as a `tf.function`."""
    return lambda: tf.function(code, **options)(tf.constant(1.0))


def in_graph(code, *, run=False):
    """A function that calls `code` in a new graph and session of TensorFlow 1.

    Args:
        code: a function without arguments.
        run: whether the session runs what it returns.
    """

    def graph():
        with tf.Graph().as_default(), v1.Session() as sess:
            made = code()
            return sess.run(made) if run else made

    return graph
