"""The loop is plain Python, checkpoints go by objects; old ones are read by name."""

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


def make_step(net, optimizer, global_step):
    variables = list(net.names().values())

    batch = tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.int64)

    @tf.function(input_signature=batch)
    def step(points, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(net, points, labels)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables), global_step)
        return loss

    step.get_concrete_function()  # makes the slots, which a checkpoint fills
    return step


def batches(epoch):
    return tf.data.Dataset.from_tensor_slices(shuffled(epoch)).batch(64)


def run_epoch(step, epoch):
    """The mean loss of an epoch."""
    return np.mean([step(*batch).numpy() for batch in batches(epoch)])


def is_old(path):
    return tf.train.load_checkpoint(path).has_tensor("global_step")


def fill(names, path):
    """Reads an old checkpoint by name; each variable must be there."""
    reader = tf.train.load_checkpoint(path)
    for name, variable in names.items():
        variable.assign(reader.get_tensor(name))


def train(epochs, restore=None, save=None):
    tf.random.set_seed(7)
    net, global_step = Net(), tf.Variable(0, dtype=tf.int64, trainable=False)
    optimizer = v1.train.MomentumOptimizer(0.2, 0.9)
    step = make_step(net, optimizer, global_step)
    names = named(net, optimizer, global_step)
    checkpoint = tf.train.Checkpoint(net=net, optimizer=optimizer, step=global_step)
    if restore:
        fill(names, restore) if is_old(restore) else checkpoint.read(restore)
    first = int(global_step) // 4
    losses = [run_epoch(step, epoch) for epoch in range(first, first + epochs)]
    if save:
        checkpoint.write(save)
    points, labels = draw()
    return {
        "losses": losses,
        "accuracy": accuracy_of(net(points), labels).numpy(),
        "variables": {name: variable.numpy() for name, variable in names.items()},
    }


def main(_):
    report(train(FLAGS.epochs, FLAGS.restore, FLAGS.save))


if __name__ == "__main__":
    app.run(main)
