"""Greedy decoding."""

import tensorflow as tf
from legacy_numerics import (
    BasicDecoder,
    Dense,
    GreedyEmbeddingHelper,
    GRUCell,
    dynamic_decode,
    glorot_uniform,
)
from same_weights import same_weights


def seq2seq(encoded):
    with same_weights():
        # [in short
        table = tf.Variable(glorot_uniform()([6, 3]), name="embedding")
        cell = GRUCell(4)
        projection = Dense(6)

        @tf.function
        def decode(state):
            starts = tf.fill([len(state)], 1)
            helper = GreedyEmbeddingHelper(table, starts, end_token=2)
            decoder = BasicDecoder(cell, helper, state, projection)
            outputs, _, lengths = dynamic_decode(decoder, maximum_iterations=7)
            return outputs.sample_id, lengths

        ids = decode(encoded)
        # in short]
    return list(ids)
