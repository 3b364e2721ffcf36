"""The models of this page: decoders as functions of [batch, time] tensors."""

import tensorflow as tf

from v2_eager.legacy_seq2seq.decoders import EmbeddingAttentionSeq2Seq, rnn_decoder
from v2_eager.numerics import rnn
from v2_eager.rnn import DRAW, basic_lstm, gru

# Python unrolls these functions, so AutoGraph has nothing to convert in them.


class CharRNN(tf.Module):
    """char-rnn: an embedding, stacked LSTMs and a softmax layer.

    A call takes chars, [batch, time] ints, and the states, a [layers, 2, batch, units]
    float tensor of c and h. It returns the logits, [batch * time, classes], and the
    last states, a tuple of (c, h). The first call creates the variables; `ordered`
    lists them in the order of TensorFlow 1.

    Args:
        units: size of the vectors and of c and h of each state.
        classes: number of characters.
        feed_previous: whether each step after the first reads the argmax of the
            previous logits.
        path: scope of the variables `embedding` and `rnnlm/…`, or None.
    """

    def __init__(self, units, classes, feed_previous=False, path=None):
        super().__init__()
        self.units, self.classes = units, classes
        self.feeds, self.prefix = feed_previous, f"{path}/" if path else ""
        self.cell = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.cell is not None

    def build(self, layers, dtype):
        """Creates the variables once."""
        if self.cell is not None:
            return
        path = f"{self.prefix}rnnlm"

        def variable(name, *shape):
            return tf.Variable(lambda: DRAW(shape, dtype), name=name)

        self.w = variable(f"{path}/softmax_w", self.units, self.classes)
        self.b = variable(f"{path}/softmax_b", self.classes)
        self.embedding = variable(f"{self.prefix}embedding", self.classes, self.units)
        path = f"{path}/multi_rnn_cell/cell_{{}}".format
        cells = [basic_lstm(self.units, path(i)) for i in range(layers)]
        self.cell = rnn.MultiRNNCell(cells)
        self.cell.build(self.units, dtype)
        weights = [weight for cell in cells for weight in (cell.kernel, cell.bias)]
        # In the order of creation, in which TensorFlow 1 summed the gradients' norms.
        self.ordered = [self.w, self.b, self.embedding, *weights]

    @tf.function(autograph=False)
    def __call__(self, chars, state):
        pairs = [tf.unstack(layer) for layer in tf.unstack(state)]
        self.build(len(pairs), state.dtype)
        return self.read(chars, tuple(rnn.LSTMStateTuple(c, h) for c, h in pairs))

    def read(self, chars, states):
        """Computes the logits, [batch * time, classes], and the last states."""

        def loop(previous, _):
            scores = tf.matmul(previous, self.w) + self.b
            return tf.gather(self.embedding, tf.argmax(scores, 1))

        vectors = tf.unstack(tf.gather(self.embedding, chars), axis=1)
        loop_function = loop if self.feeds else None
        outputs, states = rnn_decoder(vectors, states, self.cell, loop_function)
        flat = tf.reshape(tf.concat(outputs, 1), [-1, self.units])
        return tf.matmul(flat, self.w) + self.b, states


class BasicSeq2Seq(tf.Module):
    """A GRU encoder, and a GRU decoder that starts from the encoder's last state.

    A call takes two [batch, time, depth] float tensors, whose times may differ. It
    returns the list of the decoder's outputs, [batch, units] each, and the last state.

    Args:
        units: size of the state.
        tied: whether encoder and decoder share one cell.
        path: scope of the variables, which TensorFlow 1 named after its functions.
    """

    def __init__(self, units, tied, path):
        super().__init__()
        if tied:
            path = f"{path}/combined_tied_rnn_seq2seq/tied_rnn_seq2seq"
            self.encoder = self.decoder = gru(units, path)
        else:
            path = f"{path}/basic_rnn_seq2seq"
            self.encoder = gru(units, f"{path}/rnn")
            self.decoder = gru(units, f"{path}/rnn_decoder")

    @tf.function(autograph=False)
    def __call__(self, sources, inputs):
        _, state = rnn.unroll_in_python(self.encoder, sources)
        return rnn_decoder(tf.unstack(inputs, axis=1), state, self.decoder)


class Translator(tf.Module):
    """Calls a sequence-to-sequence model with [batch, time] tensors in place of lists.

    A call takes the source and the target words, [batch, time] ints, and optionally
    `feed_previous`, a bool or a bool tensor. It returns the list of outputs, [batch,
    classes] each, and the last state.

    Args:
        model: an `EmbeddingSeq2Seq`.
        feed: `feed_previous` of calls without one, a bool.
    """

    def __init__(self, model, feed):
        super().__init__()
        self.model, self.feed = model, feed

    @tf.function(autograph=False)
    def __call__(self, source, said, feed_previous=None):
        feeds = self.feed if feed_previous is None else feed_previous
        return self.model(tf.unstack(source, axis=1), tf.unstack(said, axis=1), feeds)


class Attending(tf.Module):
    """Calls an `AttentionDecoder` around an LSTM with tensors in place of lists.

    A call takes x, [batch, time, depth], the memory, [batch, steps, size], and the
    state, a [2, batch, units] tensor of c and h. It returns the list of outputs and the
    last state.

    Args:
        decoder: the `AttentionDecoder`.
    """

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    @tf.function(autograph=False)
    def __call__(self, x, memory, state):
        state = rnn.LSTMStateTuple(*tf.unstack(state))
        return self.decoder(tf.unstack(x, axis=1), state, memory)


class BucketModel(tf.Module):
    """A translation model with attention, and the weights that project to logits.

    A call takes source and target words, [batch, time] ints. It returns the list of
    outputs, [batch, units] each. `ordered` lists the variables in the order of `start`.

    Args:
        start: {name in the checkpoint: array} of all variables; `proj_w` is [units,
            classes], `proj_b` [classes].
    """

    def __init__(self, start):
        super().__init__()
        path = "embedding_attention_seq2seq"
        self.w, self.b = (
            tf.Variable(start[name], name=name) for name in ("proj_w", "proj_b")
        )
        units, classes = self.w.shape
        words, size = start[f"{path}/rnn/embedding_wrapper/embedding"].shape
        self.model = EmbeddingAttentionSeq2Seq(
            lambda path: gru(units, path), words, classes, size, (self.w, self.b), path
        )
        self.model.build(self.w.dtype)
        variables = {variable.name[:-2]: variable for variable in self.variables}
        # In the order of creation, in which TensorFlow 1 summed the gradients' norms.
        self.ordered = [variables[name] for name in start]
        for name, variable in variables.items():
            variable.assign(start[name])

    def __call__(self, words, spoken):
        lists = tf.unstack(words, axis=1), tf.unstack(spoken, axis=1)
        return self.model(*lists, dtype=self.w.dtype)[0]
