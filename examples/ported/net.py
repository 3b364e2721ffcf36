"""A small classifier of points: inside or outside of a circle."""

import tensorflow as tf


class Net(tf.Module):
    """Two layers; their variables have the names of the legacy checkpoints."""

    def __init__(self):
        super().__init__("net")
        with self.name_scope:
            self.hidden = _layer("hidden", 2, 8, seed=1)
            self.out = _layer("out", 8, 2, seed=2)

    def __call__(self, points):
        kernel, bias = self.hidden
        hidden = tf.nn.elu(tf.nn.bias_add(tf.matmul(points, kernel), bias))
        kernel, bias = self.out
        return tf.nn.bias_add(tf.matmul(hidden, kernel), bias)

    def loss(self, logits, labels):
        error = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(error) + 0.001 * tf.nn.l2_loss(self.out[0])


def _layer(name, inputs, units, seed):
    limit = (6 / (inputs + units)) ** 0.5  # Glorot's, as in TensorFlow 1
    kernel = tf.random.uniform([inputs, units], -limit, limit, seed=seed)
    return [
        tf.Variable(kernel, name=name + "/kernel"),
        tf.Variable(tf.zeros([units]), name=name + "/bias"),
    ]


def accuracy_of(logits, labels):
    right = tf.equal(tf.argmax(logits, axis=1), labels)
    return tf.reduce_mean(tf.cast(right, tf.float32))
