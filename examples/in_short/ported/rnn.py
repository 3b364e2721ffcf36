"""An LSTM over sequences of several lengths."""

import tensorflow as tf
from legacy_numerics import LSTMCell, unroll
from same_weights import same_weights


def rnn(batch, batch_lengths):
    with same_weights():
        # [in short
        cell = LSTMCell(4)

        @tf.function
        def read(x, lengths):
            return unroll(cell, x, lengths)

        values, last = read(batch, batch_lengths)
        # in short]
    return values, last
