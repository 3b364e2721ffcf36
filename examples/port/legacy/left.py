"""The old program as functions: of tensors, and of arrays."""
import tensorflow as tf

from reviews import data, net
from reviews.flip import flip_gradient  # noqa: F401
from reviews.train import FLAGS, Model


def make_net():
    tf.set_random_seed(FLAGS.seed)
    return tf.make_template("", net.inference)


def train(num_steps):
    FLAGS.num_steps = num_steps
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(FLAGS.seed)
        model = Model()
        sess.run(tf.global_variables_initializer())
        fetches = [model.loss, model.norm, model.train_op]
        feeds = [model.feed(b, i) for i, b in enumerate(data.batches(num_steps))]
        losses, norms, _ = zip(*[sess.run(fetches, feed) for feed in feeds])
        variables = {num_steps: {v.op.name: sess.run(v) for v in tf.global_variables()}}
        return {"losses": list(losses), "norms": list(norms), "variables": variables}
