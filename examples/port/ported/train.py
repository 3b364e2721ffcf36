"""Trains, or evaluates: python -m ported.train --train_dir /tmp/reviews"""

import argparse
import math
import os

import numpy as np
import tensorflow as tf

from ported import data
from ported.legacy_numerics import Adam, ExponentialMovingAverage, named
from ported.net import Net


class Trainer(tf.Module):
    """A network, and all that a checkpoint has beside it."""

    def __init__(self, num_steps=100, learning_rate=0.02, keep_prob=0.8, seed=17):
        super().__init__()
        tf.random.set_seed(seed)
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

    def take(self, batch, step):
        """Takes a training step; returns the loss and the norm of the gradients."""
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


def train(options):
    trainer = Trainer(options.num_steps, options.learning_rate)
    for step, batch in enumerate(data.batches(options.num_steps)):
        loss, norm = trainer.take(batch, step)
        if step % 20 == 0:
            print(f"step {step}: loss {loss:.4f}, norm {norm:.4f}")
    path = os.path.join(options.train_dir, f"model.ckpt-{options.num_steps}")
    print("saved", tf.train.Checkpoint(trainer).write(path))


def evaluate(options):
    trainer = Trainer()
    tf.train.Checkpoint(trainer).read(options.checkpoint).assert_consumed()
    trainer.use_averages()
    for name, domain in [("books", 0), ("films", 1)]:
        words, lengths, labels = data.make_reviews(200, domain, seed=9 + domain)
        sentiment, _ = trainer.net(words, lengths)
        accuracy = np.mean(np.argmax(sentiment, 1) == labels)
        print(f"{name}: accuracy {accuracy:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--num_steps", type=int, default=100)
    parser.add_argument("--learning_rate", type=float, default=0.02)
    parser.add_argument("--train_dir", default="/tmp/reviews", help="%(default)s")
    parser.add_argument("--checkpoint", help="evaluate it, do not train")
    options = parser.parse_args()
    evaluate(options) if options.checkpoint else train(options)
