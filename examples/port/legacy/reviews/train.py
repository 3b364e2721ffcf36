"""Trains, or evaluates: python -m reviews.train --train_dir /tmp/reviews"""
from __future__ import absolute_import, division, print_function

import os

import numpy as np
import tensorflow as tf

from reviews import data, net
from reviews.flags import FLAGS


class Model(object):
    """Placeholders, and what is fetched."""

    def __init__(self):
        self.words = tf.placeholder(tf.int32, [None, data.LENGTH], "words")
        self.lengths = tf.placeholder(tf.int32, [None], "lengths")
        self.labels = tf.placeholder(tf.int32, [None], "labels")
        self.domains = tf.placeholder(tf.int32, [None], "domains")
        self.keep_prob = tf.placeholder_with_default(1.0, [], "keep_prob")
        self.strength = tf.placeholder_with_default(0.0, [], "strength")

        self.sentiment, self.domain = net.inference(
            self.words, self.lengths, self.keep_prob, self.strength
        )
        self.loss = net.losses(self.sentiment, self.domain, self.labels, self.domains)
        right = tf.equal(tf.argmax(self.sentiment, 1), tf.to_int64(self.labels))
        self.accuracy = tf.reduce_mean(tf.to_float(right))
        self._add_train_op()

    def _add_train_op(self):
        self.global_step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(
            FLAGS.learning_rate,
            self.global_step,
            FLAGS.decay_steps,
            FLAGS.decay_rate,
            staircase=True,
        )
        optimizer = tf.train.AdamOptimizer(rate)
        weights = tf.trainable_variables()
        gradients = tf.gradients(self.loss, weights)
        gradients, self.norm = tf.clip_by_global_norm(gradients, FLAGS.max_grad_norm)
        with tf.control_dependencies([self.loss]):  # its penalties read the weights
            apply_op = optimizer.apply_gradients(
                zip(gradients, weights), self.global_step
            )
        self.average = tf.train.ExponentialMovingAverage(
            FLAGS.ema_decay, self.global_step
        )
        with tf.control_dependencies([apply_op]):
            self.train_op = self.average.apply(weights)

    def feed(self, batch, step=None):
        """A feed_dict; with a step, one to train by."""
        feed = dict(zip([self.words, self.lengths, self.labels, self.domains], batch))
        if step is not None:
            progress = step / FLAGS.num_steps
            feed[self.strength] = 2.0 / (1.0 + np.exp(-10.0 * progress)) - 1.0
            feed[self.keep_prob] = FLAGS.keep_prob
        return feed


def train():
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(FLAGS.seed)
        model = Model()
        saver = tf.train.Saver(max_to_keep=2)
        sess.run(tf.global_variables_initializer())
        for step, batch in enumerate(data.batches(FLAGS.num_steps)):
            feed = model.feed(batch, step)
            _, loss, norm = sess.run([model.train_op, model.loss, model.norm], feed)
            if step % 20 == 0:
                print("step %d: loss %.4f, norm %.4f" % (step, loss, norm))
        path = os.path.join(FLAGS.train_dir, "model.ckpt")
        print("saved " + saver.save(sess, path, model.global_step))


def evaluate():
    with tf.Graph().as_default(), tf.Session() as sess:
        model = Model()
        saver = tf.train.Saver(model.average.variables_to_restore())
        saver.restore(sess, tf.train.latest_checkpoint(FLAGS.train_dir))
        for name, domain in [("books", 0), ("films", 1)]:
            reviews = data.make_reviews(200, domain, seed=9 + domain)
            feed = model.feed(reviews + (np.full(200, domain, np.int32),))
            print("%s: accuracy %.4f" % (name, sess.run(model.accuracy, feed)))


def main(_):
    if FLAGS.evaluate:
        evaluate()
    else:
        tf.gfile.MakeDirs(FLAGS.train_dir)
        train()


if __name__ == "__main__":
    tf.app.run()
