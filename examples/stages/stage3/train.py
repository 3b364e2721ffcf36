"""The old graph, with variables that objects own, saved and restored by name."""

import os
import sys

import numpy as np
import tensorflow as tf
from absl import app, flags

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from points import draw, report, shuffled  # noqa: E402

flags.DEFINE_integer("epochs", 100, "How often all points are seen.")
flags.DEFINE_string("restore", None, "Checkpoint to go on from.")
flags.DEFINE_string("save", None, "Where the last checkpoint goes.")
FLAGS = flags.FLAGS
v1 = tf.compat.v1


class Net(tf.Module):
    """Two layers, which own their variables, by the names of the old checkpoints."""

    def __init__(self):
        super().__init__()
        self.hidden = _layer(2, 8, seed=1)
        self.out = _layer(8, 2, seed=2)

    def __call__(self, points):
        hidden = tf.nn.elu(points @ self.hidden[0] + self.hidden[1])
        return hidden @ self.out[0] + self.out[1]

    def penalty(self):
        return 0.001 * tf.nn.l2_loss(self.out[0])

    def names(self):
        return {
            "net/hidden/kernel": self.hidden[0],
            "net/hidden/bias": self.hidden[1],
            "net/out/kernel": self.out[0],
            "net/out/bias": self.out[1],
        }


def _layer(inputs, units, seed):
    limit = (6 / (inputs + units)) ** 0.5  # Glorot's
    kernel = tf.random.uniform([inputs, units], -limit, limit, tf.float32, seed)
    return [tf.Variable(kernel), tf.Variable(tf.zeros([units], tf.float32))]


def loss_of(net, points, labels):
    error = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, net(points))
    return tf.reduce_mean(error) + net.penalty()


def accuracy_of(logits, labels):
    right = tf.equal(tf.argmax(logits, axis=1), labels)
    return tf.reduce_mean(tf.cast(right, tf.float32))


def named(net, optimizer, global_step):
    """{name in a checkpoint: variable}, slots included."""
    slots = {
        f"{name}/Momentum": optimizer.get_slot(variable, "momentum")
        for name, variable in net.names().items()
    }
    return {**net.names(), **slots, "global_step": global_step}


def train(epochs, restore=None, save=None):
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.set_random_seed(7)
        points = v1.placeholder(tf.float32, [None, 2])
        labels = v1.placeholder(tf.int64, [None])
        dataset = tf.data.Dataset.from_tensor_slices((points, labels)).batch(64)
        iterator = v1.data.make_initializable_iterator(dataset)
        net = Net()
        loss = loss_of(net, *iterator.get_next())
        accuracy = accuracy_of(net(points), labels)
        global_step = tf.Variable(0, dtype=tf.int64, trainable=False)
        optimizer = v1.train.MomentumOptimizer(0.2, 0.9)
        gradients = optimizer.compute_gradients(loss, list(net.names().values()))
        with tf.control_dependencies([loss]):
            train_op = optimizer.apply_gradients(gradients, global_step)
        names = named(net, optimizer, global_step)
        saver = v1.train.Saver(names)
        sess.run(v1.global_variables_initializer())
        if restore:
            saver.restore(sess, restore)
        losses = []
        for _ in range(epochs):
            epoch = sess.run(global_step) // 4
            feed = dict(zip((points, labels), shuffled(epoch)))
            sess.run(iterator.initializer, feed)
            of_epoch = []
            while True:
                try:
                    of_epoch.append(sess.run([loss, train_op])[0])
                except tf.errors.OutOfRangeError:
                    break
            losses.append(np.mean(of_epoch))
        if save:
            saver.save(sess, save, write_meta_graph=False)
        return {
            "losses": losses,
            "accuracy": sess.run(accuracy, dict(zip((points, labels), draw()))),
            "variables": sess.run(names),
        }


def main(_):
    report(train(FLAGS.epochs, FLAGS.restore, FLAGS.save))


if __name__ == "__main__":
    app.run(main)
