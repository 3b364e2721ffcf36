"""Slim's layers in an arg_scope."""

import tensorflow as tf
from legacy_numerics import Conv2D, FullyConnected, truncated_normal


def slim(batch):
    # [in short
    class Network(tf.Module):
        def __init__(self):
            super().__init__()
            draw = truncated_normal(stddev=0.1, seed=1)
            self.conv1 = Conv2D("conv1", 4, 3, initializer=draw)
            self.fc2 = FullyConnected("fc2", 10, activation=None, initializer=draw)

        def __call__(self, images):
            net = tf.nn.max_pool2d(self.conv1(images), 2, 2, "VALID")
            logits = self.fc2(tf.reshape(net, [len(net), -1]))
            weights = self.conv1.weights, self.fc2.weights
            penalty = 0.0005 * tf.add_n([tf.nn.l2_loss(w) for w in weights])
            return logits, penalty

    run = tf.function(Network())
    values = run(batch)
    # in short]
    return list(values)
