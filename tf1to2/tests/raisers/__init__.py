"""What raises each error of the guide's chapters on them: a module per group.

A module's `ERRORS` is {a part of a wording: a function without arguments that raises
it}. What TensorFlow logs or warns of, and does not raise, is raised by `logged`.
"""

import importlib
import logging
import traceback
import warnings

import tensorflow as tf

v1 = tf.compat.v1


class Logged(Exception):
    """What was logged, or warned of."""


def imported(name):
    """A function that imports a module."""
    return lambda: importlib.import_module(name)


def run(code):
    """A function that runs code, as a program does."""
    return lambda: exec(code, {})


def lacks(value, name):
    """A function that asks a value for an attribute."""
    return lambda: getattr(value, name)


def by_old_flow(code):
    """A function that calls `code` with the control flow of TensorFlow 1."""

    def call():
        v1.disable_control_flow_v2()
        try:
            return code()
        finally:
            v1.enable_control_flow_v2()

    return call


def placeholder(*shape):
    return v1.placeholder(tf.float32, shape)


def logged(function, logger=None):
    """A function that calls `function` and raises what it logs or warns of.

    Args:
        function: without arguments.
        logger: the one that it logs by; TensorFlow's where none is given.
    """
    logger = logger or tf.get_logger()

    def call():
        lines = []
        handler = logging.Handler()
        handler.emit = lambda record: lines.append(record.getMessage())
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
