"""A loss over padded sequences, and a penalty on weights."""

import tensorflow as tf


def losses(logits, labels, lengths, kernel):
    w = tf.constant(kernel)
    # [in short
    mask = tf.sequence_mask(lengths, tf.shape(labels)[1], tf.float32)
    tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=mask)
    tf.losses.add_loss(0.01 * tf.nn.l2_loss(w))
    loss = tf.losses.get_total_loss()

    with tf.Session() as sess:
        value = sess.run(loss)
    # in short]
    return value
