"""Decoders that Python unrolls, from a list of tensors to a list of tensors.

In TensorFlow 1 the scope of a call named the variables of the cell that was passed.
Here a cell gets its path when it is made, and a class that needs two cells takes
`make_cell`, a function of the path: `lambda path: rnn.GRUCell(128,
name=f"{path}/gru_cell")`. Call all of these in a `tf.function`, whose graph then has
every step.
"""

import tensorflow as tf

from v2_eager.numerics import initializers, rnn
from v2_eager.numerics.rnn.cells import Cell, affine


def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None):
    """`rnn_decoder`: runs a cell over a list of inputs, or over its own outputs.

    Args:
        decoder_inputs: list of [batch, depth] tensors.
        initial_state: state of the cell.
        cell: the cell.
        loop_function: None, or a function from (last output, number of the step) to the
            next input, which replaces all inputs except the first.

    Returns:
        (list of outputs, one for each input; last state).
    """
    depth, dtype = decoder_inputs[0].shape[-1], dtype_of(initial_state)
    cell.build(depth, dtype)
    cell.begin(depth, dtype)
    return unrolled(cell, decoder_inputs, initial_state, loop_function)


def dtype_of(state):
    return tf.nest.flatten(state)[0].dtype


def unrolled(step, inputs, state, loop_function):
    outputs = []
    for i, x in enumerate(inputs):
        if outputs and loop_function is not None:
            x = loop_function(outputs[-1], i)
        output, state = step(x, state)
        outputs.append(output)
    return outputs, state


class AttentionDecoder(Cell):
    """`attention_decoder`: a cell that attends to a memory after each step.

    Args:
        cell: the cell; TensorFlow 1 named its variables below those of the decoder.
        output_size: size of the outputs, if it is not the cell's output size.
        num_heads: number of attention heads, each with its own weights.
        initial_state_attention: whether to attend with the initial state, before the
            first step; otherwise the first step reads zeros.
        name: prefix of the names of the variables.
        initializer: initializer of the weights, a function of shape and dtype; None for
            `glorot_uniform`.

    Raises:
        ValueError: `num_heads` is below 1.
    """

    def __init__(
        self,
        cell,
        output_size=None,
        num_heads=1,
        initial_state_attention=False,
        name="attention_decoder",
        initializer=None,
    ):
        if num_heads < 1:
            raise ValueError("With less than 1 heads, use a non-attention decoder.")
        super().__init__(output_size or cell.output_size, name, initializer)
        self.cell, self.num_heads = cell, num_heads
        self.looks_first = initial_state_attention

    def build(self, depth, size, dtype):
        """Creates the variables once, for inputs and a memory of these depths."""
        if self.kernel is not None:
            return
        self.cell.build(depth, dtype)
        states = tf.nest.flatten(self.cell.zero_state(1, dtype))
        query = sum(state.shape[1] for state in states)

        def layer(path, rows, columns):
            kernel = self.variable(f"{path}kernel", [rows, columns], dtype)
            return kernel, self.variable(f"{path}bias", [columns], dtype, tf.zeros)

        heads, shape = range(self.num_heads), [1, 1, size, size]
        self.scores = [self.variable(f"AttnW_{i}", shape, dtype) for i in heads]
        self.weights = [self.variable(f"AttnV_{i}", [size], dtype) for i in heads]
        self.queries = [layer(f"Attention_{i}/", query, size) for i in heads]
        seen = self.num_heads * size
        self.kernel, self.bias = layer("", depth + seen, depth)
        behind = "AttnOutputProjection/"
        self.output = layer(behind, self.cell.output_size + seen, self.output_size)

    def __call__(
        self, decoder_inputs, initial_state, attention_states, loop_function=None
    ):
        """Decodes a list of inputs step by step.

        Args:
            decoder_inputs: list of [batch, depth] tensors.
            initial_state: state of the cell.
            attention_states: [batch, time, size] tensor, the memory.
            loop_function: as for `rnn_decoder`.

        Returns:
            (list of outputs, one for each input; last state).
        """
        memory, depth = attention_states, decoder_inputs[0].shape[1]
        self.build(depth, memory.shape[2], memory.dtype)
        self.cell.begin(depth, memory.dtype)
        keys = [tf.matmul(memory, w[0, 0]) for w in self.scores]  # v1: a convolution

        def step(x, state):
            state, seen = state
            read = affine(tf.concat([x, *seen], 1), self.kernel, self.bias)
            output, state = self.cell(read, state)
            seen = self.look(state, keys, memory)
            return affine(tf.concat([output, *seen], 1), *self.output), (state, seen)

        seen = [tf.zeros_like(memory[:, 0])] * self.num_heads
        if self.looks_first:
            seen = self.look(initial_state, keys, memory)
        state = initial_state, seen
        outputs, (state, _) = unrolled(step, decoder_inputs, state, loop_function)
        return outputs, state

    def look(self, state, keys, memory):
        """Attends to the memory; returns a [batch, size] context per head."""
        query, seen = tf.concat(tf.nest.flatten(state), 1), []
        for v, layer, keys_of_one in zip(self.weights, self.queries, keys):
            hidden = tf.tanh(keys_of_one + affine(query, *layer)[:, tf.newaxis])
            scores = tf.cast(tf.reduce_sum(v * hidden, 2), tf.float32)  # as v1 did
            alignments = tf.cast(tf.nn.softmax(scores), memory.dtype)
            seen.append(tf.reduce_sum(alignments[:, :, tf.newaxis] * memory, 1))
        return seen


class EmbeddingDecoder(tf.Module):
    """`embedding_rnn_decoder`: decodes from given words, or greedily from predictions.

    Args:
        cell: the cell; TensorFlow 1 named its variables below `…/rnn_decoder`.
        num_symbols: vocabulary size.
        embedding_size: size of a word's vector.
        output_projection: None if outputs are logits, or ([output_size, num_symbols]
            weights, [num_symbols] bias) that project outputs to logits.
        name: scope of the variable `embedding`.
        initializer: initializer of the embedding, a function of shape and dtype; None
            for `glorot_uniform`.
    """

    def __init__(
        self,
        cell,
        num_symbols,
        embedding_size,
        output_projection=None,
        name="embedding_rnn_decoder",
        initializer=None,
    ):
        super().__init__()
        self.cell, self.shape = cell, [num_symbols, embedding_size]
        self.output_projection, self.embedding = output_projection, None
        self.path, self.initializer = name, initializer or initializers.glorot_uniform()

    def build(self, size, dtype):
        """Creates the variables once; `size` is the size of the memory."""
        if self.embedding is None:
            with tf.name_scope(""):  # no outer scope in the name
                self.embedding = tf.Variable(
                    lambda: self.initializer(self.shape, dtype),
                    name=f"{self.path}/embedding",
                )
            self.build_cell(self.shape[1], size, dtype)

    def build_cell(self, depth, size, dtype):
        self.cell.build(depth, dtype)

    def decode(self, vectors, state, memory, loop_function):
        return rnn_decoder(vectors, state, self.cell, loop_function)

    def __call__(
        self,
        decoder_inputs,
        initial_state,
        attention_states=None,
        feed_previous=False,
        update_embedding_for_previous=True,
    ):
        """Decodes a list of inputs step by step.

        Args:
            decoder_inputs: list of [batch] int tensors.
            initial_state: state of the cell.
            attention_states: [batch, time, size] tensor, for a decoder with attention.
            feed_previous: whether to decode greedily: each input after the first is
                the argmax of the previous logits.
            update_embedding_for_previous: whether the embeddings of the fed-back words
                get gradients.

        Returns:
            (list of outputs, one for each input; last state).
        """
        memory = attention_states
        size = None if memory is None else memory.shape[2]
        self.build(size, dtype_of(initial_state))

        def likeliest(output, _):
            if self.output_projection is not None:
                output = affine(output, *self.output_projection)
            vectors = tf.gather(self.embedding, tf.argmax(output, 1))
            if not update_embedding_for_previous:
                vectors = tf.stop_gradient(vectors)
            return vectors

        vectors = [tf.gather(self.embedding, words) for words in decoder_inputs]
        loop_function = likeliest if feed_previous else None
        return self.decode(vectors, initial_state, memory, loop_function)


class EmbeddingAttentionDecoder(EmbeddingDecoder):
    """`embedding_attention_decoder`: its `cell` is an `AttentionDecoder`."""

    def build_cell(self, depth, size, dtype):
        self.cell.build(depth, size, dtype)

    def decode(self, vectors, state, memory, loop_function):
        return self.cell(vectors, state, memory, loop_function)


class EmbeddingSeq2Seq(tf.Module):
    """`embedding_rnn_seq2seq`: encodes source words and decodes target words.

    Args:
        make_cell: function from a path to a cell, whose variables are named below the
            path.
        num_encoder_symbols: source vocabulary size.
        num_decoder_symbols: target vocabulary size.
        embedding_size: size of the source and target vectors.
        output_projection: None if a layer of the model makes logits, or a pair as for
            `EmbeddingDecoder`, if the model returns outputs that are not projected.
        name: scope of all variables.
        initializer: initializer of all weights except the cells', a function of shape
            and dtype; None for TensorFlow 1's defaults.
        **options: options of the decoder, if a subclass has any.
    """

    scopes = "embedding_rnn_decoder/rnn_decoder"  # of the decoder's cell

    def __init__(
        self,
        make_cell,
        num_encoder_symbols,
        num_decoder_symbols,
        embedding_size,
        output_projection=None,
        name="embedding_rnn_seq2seq",
        initializer=None,
        **options,
    ):
        super().__init__()
        path = f"{name}/rnn/embedding_wrapper"
        self.encoder = rnn.EmbeddingWrapper(
            make_cell(path), num_encoder_symbols, embedding_size, initializer, path
        )
        path, logits = f"{name}/{self.scopes}", output_projection is None
        if logits:
            path += "/output_projection_wrapper"
        cell = make_cell(path)
        if logits:
            cell = rnn.OutputProjectionWrapper(
                cell, num_decoder_symbols, None, path, initializer
            )
        arguments = num_decoder_symbols, embedding_size, output_projection
        self.decoder = self.make_decoder(cell, arguments, name, initializer, **options)

    def make_decoder(self, cell, arguments, name, initializer):
        path = f"{name}/embedding_rnn_decoder"
        return EmbeddingDecoder(cell, *arguments, path, initializer)

    def build(self, dtype):
        """Creates the variables once."""
        self.encoder.build(1, dtype)
        self.decoder.build(self.encoder.output_size, dtype)

    def memory(self, outputs):
        """Returns the memory for the decoder, from the encoder's outputs."""
        del outputs

    def __call__(
        self, encoder_inputs, decoder_inputs, feed_previous=False, dtype=tf.float32
    ):
        """Encodes the source words and decodes the target words.

        Args:
            encoder_inputs: list of [batch] int tensors.
            decoder_inputs: list of [batch] int tensors.
            feed_previous: whether to decode greedily: a bool, or a bool tensor. If it
                is a tensor, the embeddings of words that are fed back get no gradients.
            dtype: dtype of all variables.

        Returns:
            (list of as many outputs as there are decoder inputs, last state).
        """
        self.build(dtype)
        batch = tf.shape(encoder_inputs[0])[0]
        words = [ids[:, tf.newaxis] for ids in encoder_inputs]
        zeros = self.encoder.zero_state(batch, dtype)
        outputs, state = rnn_decoder(words, zeros, self.encoder)
        memory = self.memory(outputs)

        def decode(feeds, updates=True):
            return self.decoder(decoder_inputs, state, memory, feeds, updates)

        if isinstance(feed_previous, bool):
            return decode(feed_previous)
        return tf.cond(
            feed_previous, lambda: decode(True, False), lambda: decode(False)
        )


class EmbeddingAttentionSeq2Seq(EmbeddingSeq2Seq):
    """`embedding_attention_seq2seq`: decodes with attention to the encoder's outputs.

    It has the arguments of `EmbeddingSeq2Seq`, and `num_heads` and
    `initial_state_attention` of `AttentionDecoder`.
    """

    scopes = "embedding_attention_decoder/attention_decoder"

    def make_decoder(self, cell, arguments, name, initializer, **options):
        path = f"{name}/{self.scopes}"
        options.update(name=path, initializer=initializer)
        path = f"{name}/embedding_attention_decoder"
        decoder = AttentionDecoder(cell, **options)
        return EmbeddingAttentionDecoder(decoder, *arguments, path, initializer)

    def memory(self, outputs):
        return tf.stack(outputs, 1)
