"""What TensorFlow 1.15.5 ran to write frozen.pb and x.npy."""

import numpy as np
import tensorflow as tf

tf.set_random_seed(1)
rng = np.random.RandomState(0)
X = rng.randn(4, 8, 8, 1).astype("float32")
images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
net = tf.layers.conv2d(images, 4, 3, activation=tf.nn.relu, name="conv")
net = tf.layers.flatten(net)
logits = tf.layers.dense(net, 3, name="logits")
probabilities = tf.nn.softmax(logits, name="probabilities")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    frozen = tf.graph_util.convert_variables_to_constants(
        sess, sess.graph_def, ["probabilities"]
    )
    tf.io.write_graph(frozen, ".", "frozen.pb", as_text=False)
    np.save("x.npy", X)
    print(sess.run(probabilities, {images: X})[0])
