"""A pair of pages in one module, small enough to be broken in every way."""

import tensorflow as tf

v1 = tf.compat.v1


def scaled(x, factor=2.0):
    """Works as a page of either side."""
    return x * factor, tf.reduce_sum(x)


def make_scale(name="scale"):
    """A layer of the left side."""

    def scale(x):
        gain = v1.get_variable("gain", [3], x.dtype, v1.ones_initializer())
        offset = v1.get_variable("offset", [3], x.dtype, v1.zeros_initializer())
        return x * gain + offset

    return v1.make_template(name, scale)


class Scale(tf.Module):
    """The layer of the right side."""

    def __init__(self, name="scale"):
        super().__init__(name)
        self.gain = None

    @tf.Module.with_name_scope
    def __call__(self, x):
        if self.gain is None:
            self.gain = tf.Variable(tf.ones([3], x.dtype), name="gain")
            self.offset = tf.Variable(tf.zeros([3], x.dtype), name="offset")
        return x * self.gain + self.offset


def count_down(start):
    """A program of the left side."""
    with v1.Session() as sess:
        counter = v1.Variable(start)
        step = v1.assign_sub(counter, v1.ones_like(start))
        sess.run(counter.initializer)
        return sess.run(step)


def count_down_eagerly(start):
    """The program of the right side."""
    counter = tf.Variable(start)

    @tf.function
    def step():
        return counter.assign_sub(tf.ones_like(start))

    return step().numpy()
