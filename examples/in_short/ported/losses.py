"""A loss over padded sequences, and a penalty on weights."""

import tensorflow as tf
from legacy_numerics import sparse_softmax_cross_entropy


def losses(logits, labels, lengths, kernel):
    w = tf.constant(kernel)

    # [in short
    @tf.function
    def total_loss(logits, labels, lengths):
        mask = tf.sequence_mask(lengths, tf.shape(labels)[1], logits.dtype)
        loss = sparse_softmax_cross_entropy(labels, logits, weights=mask)
        return loss + 0.01 * tf.nn.l2_loss(w)

    value = total_loss(logits, labels, lengths)
    # in short]
    return value.numpy()
