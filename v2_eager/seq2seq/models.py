"""`Decoder` and `Translator`: models made from the weights of old checkpoints."""

import tensorflow as tf

from v2_eager.attention import AttentionWrapper, BahdanauAttention
from v2_eager.numerics import rnn
from v2_eager.seq2seq.decoding import BasicDecoder, Dense, dynamic_decode


class Decoder(tf.Module):
    """A decoder with embedding, GRU and dense layer, from weights of TensorFlow 1.

    Args:
        weights: {name in the checkpoint: array}: "embedding", [classes, units],
            "decoder/gru_cell/…", "decoder/dense/…".
    """

    def __init__(self, weights):
        super().__init__()
        classes, units = weights["embedding"].shape
        self.embedding = tf.Variable(weights["embedding"], name="embedding")
        self.cell = rnn.GRUCell(units, name="decoder/gru_cell")
        self.layer = Dense(classes, name="decoder/dense")
        self.cell.build(units, self.embedding.dtype)
        self.layer.build(units, self.embedding.dtype)
        for variable in self.variables:
            variable.assign(weights[variable.name[:-2]])

    def __call__(self, helper, state, longest=None):
        """Decodes with a helper; returns the outputs and the lengths."""
        decoder = BasicDecoder(self.cell, helper, state, output_layer=self.layer)
        outputs, _, lengths = dynamic_decode(decoder, maximum_iterations=longest)
        return outputs, lengths


class Translator(tf.Module):
    """An encoder and a decoder with attention, from weights of TensorFlow 1.

    A call takes a helper, the source ids, [batch, time] ints, their lengths, [batch]
    ints, and the largest number of steps, or None. It returns the decoder's outputs.

    Args:
        weights: {name in the checkpoint: array} of all variables; "embedding" is
            [classes, depth] and "memory_layer/kernel" [units, units].
    """

    def __init__(self, weights):
        super().__init__()
        (classes, depth), dtype = weights["embedding"].shape, weights["embedding"].dtype
        units, path = weights["memory_layer/kernel"].shape[1], "decoder"
        self.embedding = tf.Variable(weights["embedding"], name="embedding")
        self.encoder = rnn.BasicLSTMCell(units, name="encoder/rnn/basic_lstm_cell")
        path = "decoder/attention_wrapper"
        cell = rnn.BasicLSTMCell(units, name=f"{path}/basic_lstm_cell")
        mechanism = BahdanauAttention(units, True, f"{path}/bahdanau_attention")
        self.attention = AttentionWrapper(cell, mechanism, units, name=path)
        self.projection = Dense(classes, use_bias=False, name="decoder/projection")
        self.encoder.build(depth, dtype)
        self.attention.build(depth, [units], dtype)
        self.projection.build(units, dtype)
        # In the order of creation, in which v1 summed the norms of the gradients.
        self.ordered = [self.embedding, self.encoder.kernel, self.encoder.bias]
        self.ordered += [mechanism.memory_kernel, cell.kernel, cell.bias]
        self.ordered += [mechanism.query_kernel, mechanism.v, mechanism.g, mechanism.b]
        self.ordered += [*self.attention.layers, self.projection.kernel]
        for variable in self.ordered:
            variable.assign(weights[variable.name[:-2]])

    def __call__(self, helper, words, lengths, longest=None):
        vectors = tf.gather(self.embedding, words)
        memory, state = rnn.unroll(self.encoder, vectors, lengths)
        cell = self.attention.over(memory, lengths)
        initial = cell.zero_state(tf.shape(memory)[0], memory.dtype)
        decoder = BasicDecoder(
            cell, helper, initial._replace(cell_state=state), self.projection
        )
        return dynamic_decode(
            decoder, impute_finished=True, maximum_iterations=longest
        )[0]
