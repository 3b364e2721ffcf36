"""Trains the classifier: python train.py --steps 400"""
import numpy as np

from common import flags, tf
from net import accuracy_of, logits_of, loss_of

flags.DEFINE_integer("steps", 400, "Number of steps.")
flags.DEFINE_float("rate", 1.0, "Learning rate.")
FLAGS = flags.FLAGS


def draw(n=256):
    points = np.random.RandomState(0).uniform(-1, 1, (n, 2)).astype("float32")
    return points, (np.square(points).sum(axis=1) < 0.5).astype("int64")


def main(_):
    inputs, targets = draw()
    points = tf.placeholder(tf.float32, [None, 2])
    labels = tf.placeholder(tf.int64, [None])
    logits = logits_of(points)
    loss, accuracy = loss_of(logits, labels), accuracy_of(logits, labels)
    global_step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(FLAGS.rate, global_step, 200, 0.5, staircase=True)
    train_op = tf.train.MomentumOptimizer(rate, 0.5).minimize(loss, global_step)
    feed = {points: inputs, labels: targets}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print "parameters: %d" % sum(v.shape.num_elements() for v in tf.trainable_variables())
        for step in xrange(FLAGS.steps):
            if step % 80 == 0:
                print "%d: loss %.4f" % (step, sess.run(loss, feed))
            sess.run(train_op, feed)
        print "in the end: loss %.4f, accuracy %.4f" % tuple(sess.run([loss, accuracy], feed))


if __name__ == "__main__":
    tf.app.run()
