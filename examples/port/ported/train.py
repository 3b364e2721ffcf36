"""Training: the network, the optimizer and the other state of a checkpoint."""

import math

import tensorflow as tf

from ported import data
from ported.legacy_numerics import Adam, ExponentialMovingAverage, named
from ported.net import Net


class Trainer(tf.Module):
    """A network with the optimizer and the other state of a checkpoint."""

    def __init__(self, num_steps=100, learning_rate=0.02, keep_prob=0.8, seed=17):
        super().__init__()
        self.net = Net(seed=seed)
        self.num_steps, self.keep_prob = num_steps, keep_prob
        self.step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
        rate = tf.keras.optimizers.schedules.ExponentialDecay(
            learning_rate, 25, 0.8, staircase=True
        )
        self.optimizer = Adam(rate).create_slots(self.net.weights)
        self.average = ExponentialMovingAverage(0.95, self.step)
        self.average.create(self.net.weights)

    def variables_by_name(self):
        """{name in the checkpoints of the old program: variable}."""
        return named(self.net, self.optimizer, self.average, self.step)

    def fit(self):
        """Runs all steps; yields the loss and the gradient norm of each step."""
        for step, batch in enumerate(data.batches(self.num_steps)):
            yield self.take(batch, step)

    def take(self, batch, step):
        """Runs a training step; returns the loss and the gradient norm."""
        progress = step / self.num_steps
        strength = 2.0 / (1.0 + math.exp(-10.0 * progress)) - 1.0
        return self._take(*map(tf.constant, batch), tf.constant(strength, tf.float32))

    @tf.function
    def _take(self, words, lengths, labels, domains, strength):
        weights = self.net.weights
        with tf.GradientTape() as tape:
            logits = self.net(words, lengths, self.keep_prob, strength)
            loss = self.net.loss(logits, labels, domains)
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, weights), 1.0)
        self.optimizer.apply_gradients(zip(gradients, weights), self.step)
        self.average.apply(weights)
        return loss, norm

    def use_averages(self):
        """Puts the averaged weights in place of the trained ones."""
        for weight in self.net.weights:
            weight.assign(self.average.average(weight))


def train(num_steps):
    """Trains a network; yields the result of each step, returns {name: variable}."""
    trainer = Trainer(num_steps)
    for loss, norm in trainer.fit():
        yield {"loss": loss, "norm": norm}
    return trainer.variables_by_name()
