"""A small classifier of points: inside of the circle, or outside."""

from common import layers, tf


def weight_decay(kernel):
    penalty = tf.multiply(0.001, tf.nn.l2_loss(kernel), name="penalty")
    tf.add_to_collection("penalties", penalty)


def logits_of(points, reuse=False):
    with tf.variable_scope("net", reuse=reuse):
        init = tf.contrib.layers.xavier_initializer(seed=1)
        hidden = layers.dense(
            points, 8, tf.nn.elu, kernel_initializer=init, name="hidden"
        )
        with tf.variable_scope("out"):
            init = tf.contrib.layers.xavier_initializer(seed=2)
            kernel = tf.get_variable("kernel", [8, 2], initializer=init)
            bias = tf.get_variable("bias", [2], initializer=tf.zeros_initializer())
        if not reuse:
            weight_decay(kernel)
        return tf.nn.xw_plus_b(hidden, kernel, bias)


def loss_of(logits, labels):
    error = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return error + tf.add_n(tf.get_collection("penalties"))


def accuracy_of(logits, labels):
    right = tf.equal(tf.argmax(logits, dimension=1), labels)
    return tf.reduce_mean(tf.to_float(right), reduction_indices=0)
