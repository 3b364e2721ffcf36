"""Variables of a module, shared by two calls."""

import tensorflow as tf
from legacy_numerics import glorot_uniform
from same_weights import same_weights


def variables(left, right):
    with same_weights():
        # [in short
        class Embed(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(glorot_uniform()([3, 2]), name="w")
                self.b = tf.Variable(tf.zeros([2]), name="b")

            def __call__(self, x):
                return tf.nn.tanh(tf.matmul(x, self.w) + self.b)

        embed = Embed()
        distance = tf.function(lambda x, y: tf.norm(embed(x) - embed(y), axis=1))

        value = distance(left, right)
        # in short]
    return value.numpy()
