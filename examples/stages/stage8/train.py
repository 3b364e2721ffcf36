"""Nothing of TensorFlow 1 is left: python train.py --epochs 100"""

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


class Momentum(tf.Module):
    """compat.v1.train.MomentumOptimizer(0.2, 0.9) with the same numbers and slots."""

    def __init__(self, names):
        super().__init__()
        self.trained = list(names.values())
        self.slots = [tf.Variable(tf.zeros_like(v)) for v in self.trained]
        self.step = tf.Variable(0, dtype=tf.int64)
        self.names = {
            **names,
            **{f"{n}/Momentum": s for n, s in zip(names, self.slots)},
            "global_step": self.step,
        }

    def apply(self, gradients):
        for v, slot, gradient in zip(self.trained, self.slots, gradients):
            # Both were float32 in TensorFlow 1, for any dtype of the variable.
            slot.assign(slot * tf.cast(0.9, v.dtype) + gradient)
            v.assign_sub(slot * tf.cast(0.2, v.dtype))
        self.step.assign_add(1)


def make_step(net, optimizer):
    batch = tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.int64)

    @tf.function(input_signature=batch)
    def step(points, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(net, points, labels)
        optimizer.apply(tape.gradient(loss, optimizer.trained))
        return loss

    return step


def batches(epoch):
    return tf.data.Dataset.from_tensor_slices(shuffled(epoch)).batch(64)


def make_epoch(step):
    @tf.function
    def losses_of(dataset):
        losses = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for points, labels in dataset:
            losses = losses.write(losses.size(), step(points, labels))
        return losses.stack()

    return lambda epoch: np.mean(losses_of(batches(epoch)).numpy())


def is_old(path):
    return tf.train.load_checkpoint(path).has_tensor("global_step")


def fill(names, path):
    """Reads an old checkpoint by name; each variable must be there."""
    reader = tf.train.load_checkpoint(path)
    for name, variable in names.items():
        variable.assign(reader.get_tensor(name))


def train(epochs, restore=None, save=None):
    tf.random.set_seed(7)
    net = Net()
    optimizer = Momentum(net.names())
    run_epoch = make_epoch(make_step(net, optimizer))
    checkpoint = tf.train.Checkpoint(net=net, optimizer=optimizer)
    if restore:
        fill(optimizer.names, restore) if is_old(restore) else checkpoint.read(restore)
    first = int(optimizer.step) // 4
    losses = [run_epoch(epoch) for epoch in range(first, first + epochs)]
    if save:
        checkpoint.write(save)
    points, labels = draw()
    return {
        "losses": losses,
        "accuracy": accuracy_of(net(points), labels).numpy(),
        "variables": {name: v.numpy() for name, v in optimizer.names.items()},
    }


def main(_):
    report(train(FLAGS.epochs, FLAGS.restore, FLAGS.save))


if __name__ == "__main__":
    app.run(main)
