"""What TensorFlow 1.15.5 ran to write the checkpoint in run/."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)
X = rng.randn(64, 5).astype("float32")
Y = (X[:, :2].sum(1) > 0).astype("int64")


def net(x):
    with tf.variable_scope("net"):
        hidden = tf.layers.dense(x, 8, tf.nn.relu, name="fc1")
        return tf.layers.dense(hidden, 2, name="logits")


def main(steps, restore, path):
    tf.reset_default_graph()
    tf.set_random_seed(1)
    x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder(tf.int64, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(y, net(x))
    step = tf.train.get_or_create_global_step()
    opt = tf.train.AdamOptimizer(0.01)
    grads = opt.compute_gradients(loss)
    with tf.control_dependencies([loss]):
        train = opt.apply_gradients(grads, step)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if restore:
            saver.restore(sess, restore)
        losses = [sess.run([loss, train], {x: X, y: Y})[0] for _ in range(steps)]
        print("losses", losses[0], "...", losses[-3:])
        saver.save(sess, path, step)


main(100, None, "run/model.ckpt")
main(3, "run/model.ckpt-100", "check/model.ckpt")
