"""A cell with Luong's attention over a memory."""

import tensorflow as tf
from legacy_numerics import AttentionWrapper, GRUCell, LuongAttention, unroll
from same_weights import same_weights


def attention(batch, memories, memory_lengths):
    with same_weights():
        # [in short
        cell = AttentionWrapper(GRUCell(4), LuongAttention(4), 5)

        @tf.function
        def read(x, memory, lengths):
            outputs, _ = unroll(cell.over(memory, lengths), x)
            return outputs

        values = read(batch, memories, memory_lengths)
        # in short]
    return values
