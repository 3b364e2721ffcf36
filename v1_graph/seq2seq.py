"""`tf.contrib.seq2seq`: `TrainingHelper`, `BasicDecoder`, `dynamic_decode` → loops."""

import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "make_training_decoder",
    "make_greedy_decoder",
    "make_feedback_decoder",
    "sample",
    "read_some_and_sample",
    "sequence_loss",
    "train_translator",
    "translate",
]

# Only 1.15 has contrib, and compat.v1 does not: so this uses `tensorflow.contrib`.


def draw_weights():
    """Sets a seeded initializer for this scope, because few layers accept one."""
    tf.get_variable_scope().set_initializer(tf.glorot_uniform_initializer(seed=1))


def make_training_decoder(units, classes, impute_finished=False, name="model"):
    """Makes a decoder with teacher forcing: each input is the target.

    Args:
        units: size of the GRU's state.
        classes: number of the logits, which is the vocabulary size.
        impute_finished: whether outputs past a sequence's end are zeros, and the
            sequence's state remains as at the end.
        name: scope of the variables `decoder/gru_cell/…`, `decoder/dense/kernel` and
            `decoder/dense/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor, the lengths, [batch] ints,
        and optionally a state, [batch, units], to a dict of the `logits`, [batch,
        longest, classes], the `ids` of the highest logits, [batch, longest] int32, the
        last `state`, and the `lengths`, [batch] int32.

    Raises:
        ValueError: in a call: the lengths are not a vector.
        tf.errors.OpError: in a call: a length is larger than the number of time steps.
    """

    def decode(inputs, lengths, state=None):
        draw_weights()
        cell = tf.nn.rnn_cell.GRUCell(units)
        if state is None:
            state = cell.zero_state(tf.shape(inputs)[0], inputs.dtype)
        helper = tensorflow.contrib.seq2seq.TrainingHelper(inputs, lengths)
        layer = tf.layers.Dense(classes)
        decoder = tensorflow.contrib.seq2seq.BasicDecoder(cell, helper, state, layer)
        outputs, state, ends = tensorflow.contrib.seq2seq.dynamic_decode(
            decoder, impute_finished=impute_finished
        )
        return {
            "logits": outputs.rnn_output,
            "ids": outputs.sample_id,
            "state": state,
            "lengths": ends,
        }

    return tf.make_template(name, decode)


def decode_by_gru(helper, state, units, classes, **options):
    """Decodes with a GRU and a dense layer; returns (outputs, last state, lengths)."""
    cell = tf.nn.rnn_cell.GRUCell(units)
    layer = tf.layers.Dense(classes, dtype=state.dtype)
    decoder = tensorflow.contrib.seq2seq.BasicDecoder(cell, helper, state, layer)
    return tensorflow.contrib.seq2seq.dynamic_decode(decoder, **options)


def make_greedy_decoder(units, classes, start, end, longest=None, name="model"):
    """Makes a greedy decoder: each input is the argmax of the previous logits.

    Args:
        units: size of the GRU's state, and of the embedding.
        classes: number of the logits, which is the vocabulary size.
        start: id of the first input.
        end: id that ends a sequence.
        longest: the largest number of steps, or None for no limit.
        name: scope of the variables `embedding`, `decoder/gru_cell/…`,
            `decoder/dense/kernel` and `decoder/dense/bias`.

    Returns:
        Callable from a state, [batch, units] float tensor, to a dict of the `ids`,
        [batch, steps] int32, the `logits`, [batch, steps, classes], the last `state`,
        and the `lengths`, [batch] int32, which include the end id.
    """

    def decode(state):
        draw_weights()
        embedding = tf.get_variable("embedding", [classes, units], state.dtype)
        helper = tensorflow.contrib.seq2seq.GreedyEmbeddingHelper(
            embedding, tf.fill(tf.shape(state)[:1], start), end
        )
        outputs, state, lengths = decode_by_gru(
            helper, state, units, classes, maximum_iterations=longest
        )
        return {
            "ids": outputs.sample_id,
            "logits": outputs.rnn_output,
            "state": state,
            "lengths": lengths,
        }

    return tf.make_template(name, decode)


def make_feedback_decoder(units, size, longest, name="model"):
    """Makes a decoder of vectors with a custom helper, which reads the last output.

    A sequence ends when the first number of its output is above 0.5.

    Args:
        units: size of the GRU's state.
        size: number of outputs per step.
        longest: the largest number of steps.
        name: scope of the variables `decoder/gru_cell/…`, `decoder/dense/kernel` and
            `decoder/dense/bias`.

    Returns:
        Callable from a state, [batch, units] float tensor, to the outputs, [batch,
        steps, size], zero past the end, and the lengths, [batch] int32.
    """

    # --- helper
    class Feedback(tensorflow.contrib.seq2seq.Helper):
        def __init__(self, batch_size, dtype):
            self._batch_size, self.dtype = batch_size, dtype

        @property
        def batch_size(self):
            return self._batch_size

        @property
        def sample_ids_shape(self):
            return tf.TensorShape([])

        @property
        def sample_ids_dtype(self):
            return tf.int32

        def initialize(self, name=None):
            finished = tf.tile([False], [self.batch_size])
            return finished, tf.zeros([self.batch_size, size], self.dtype)

        def sample(self, time, outputs, state, name=None):
            return tf.zeros([self.batch_size], tf.int32)

        def next_inputs(self, time, outputs, state, sample_ids, name=None):
            return outputs[:, 0] > 0.5, outputs, state

    # --- decoder
    def decode(state):
        draw_weights()
        helper = Feedback(tf.shape(state)[0], state.dtype)
        options = {"impute_finished": True, "maximum_iterations": longest}
        outputs, _, lengths = decode_by_gru(helper, state, units, size, **options)
        return outputs.rnn_output, lengths

    return tf.make_template(name, decode)


def sample(weights, state, start, end, longest, runs, temperature=None):
    """Samples sequences from a trained decoder in several runs.

    Args:
        weights: {"embedding": [classes, units] array, "decoder/gru_cell/…": arrays of
            the GRU, "decoder/dense/kernel": [units, classes] array,
            "decoder/dense/bias": [classes] array}.
        state: [n, units] array.
        start, end: id of the first input, and id that ends a sequence.
        longest: the largest number of steps.
        runs: number of runs.
        temperature: divisor of the logits, or None.

    Returns:
        List of (ids [n, steps], lengths [n]) of int32 arrays.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- decoder
        tf.set_random_seed(7)
        classes, units = weights["embedding"].shape
        embedding = tf.get_variable("embedding", [classes, units], state.dtype)
        helper = tensorflow.contrib.seq2seq.SampleEmbeddingHelper(
            embedding, [start] * len(state), end, temperature, seed=3
        )
        outputs, _, lengths = decode_by_gru(
            helper, tf.constant(state), units, classes, maximum_iterations=longest
        )
        # --- run
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        return [sess.run((outputs.sample_id, lengths)) for _ in range(runs)]


def read_some_and_sample(weights, state, ids, lengths, share):
    """Decodes by scheduled sampling: each step reads the target or a sample.

    Args:
        weights: see `sample`.
        state: [n, units] array.
        ids: [n, time] int array, the targets.
        lengths: [n] int array.
        share: the probability that a step reads a sample.

    Returns:
        {"ids": [n, longest] int32 array, -1 where the next input is the target,
        "logits": [n, longest, classes] array}.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- decoder
        tf.set_random_seed(7)
        classes, units = weights["embedding"].shape
        embedding = tf.get_variable("embedding", [classes, units], state.dtype)
        given = tf.nn.embedding_lookup(embedding, ids)
        helper = tensorflow.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(
            given, lengths, embedding, share, seed=3, scheduling_seed=4
        )
        # By default 32 iterations run in parallel, and a later one may draw first.
        outputs = decode_by_gru(
            helper, tf.constant(state), units, classes, parallel_iterations=1
        )[0]
        # --- run
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        logits, chosen = sess.run(outputs)
        return {"ids": chosen, "logits": logits}


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    sum_over_timesteps=False,
    sum_over_batch=False,
):
    """Computes the weighted cross-entropy of sequences.

    Args:
        logits: [batch, time, classes] float tensor.
        targets: [batch, time] int tensor.
        weights: [batch, time] float tensor, such as a mask.
        average_across_timesteps, average_across_batch: whether to sum the losses along
            time or batch and divide the sum by the sum of the weights.
        sum_over_timesteps, sum_over_batch: whether to sum the losses along time or
            batch and divide the sum by the number of weights that are not 0.

    Returns:
        Scalar if both axes are reduced; a vector along the other axis if one is; all
        losses if none is, [batch * time] or [batch, time]: see the code.

    Raises:
        ValueError: the tensors do not have three, two and two dimensions, or both an
            average and a sum are requested.
    """
    return tensorflow.contrib.seq2seq.sequence_loss(
        logits,
        targets,
        weights,
        average_across_timesteps,
        average_across_batch,
        sum_over_timesteps,
        sum_over_batch,
    )


def encode(embedding, sources, lengths, units):
    """Runs the encoder; returns (outputs, last state)."""
    with tf.variable_scope("encoder"):
        cell = tf.nn.rnn_cell.BasicLSTMCell(units)
        vectors = tf.nn.embedding_lookup(embedding, sources)
        return tf.nn.dynamic_rnn(cell, vectors, lengths, dtype=embedding.dtype)


def decode_by(helper, memory, state, lengths, units, classes, longest=None):
    """Decodes with attention to a memory; returns (outputs, lengths)."""
    dtype = memory.dtype
    mechanism = tensorflow.contrib.seq2seq.BahdanauAttention(
        units, memory, lengths, normalize=True, dtype=dtype
    )
    cell = tensorflow.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.BasicLSTMCell(units), mechanism, attention_layer_size=units
    )
    initial = cell.zero_state(tf.shape(memory)[0], dtype).clone(cell_state=state)
    layer = tf.layers.Dense(classes, use_bias=False, dtype=dtype, name="projection")
    decoder = tensorflow.contrib.seq2seq.BasicDecoder(cell, helper, initial, layer)
    outputs, _, ends = tensorflow.contrib.seq2seq.dynamic_decode(
        decoder, impute_finished=True, maximum_iterations=longest
    )
    return outputs, ends


def train_translator(
    sources, source_lengths, targets, target_lengths, start, steps, rate=0.0625
):
    """Trains an encoder and a decoder with attention, with clipped gradients.

    Args:
        sources: [n, time] int array.
        source_lengths: [n] int array, each at least 1.
        targets: [n, other time] int array, the target ids. The first input is id 0.
        target_lengths: [n] int array.
        start: {name: array}, the initial values of the variables: `embedding`,
            [classes, depth], `encoder/rnn/basic_lstm_cell/…`, `memory_layer/kernel`,
            `decoder/attention_wrapper/…` and `decoder/projection/kernel`.
        steps: number of steps, all on the same sequences.
        rate: learning rate.

    Returns:
        dict with the `losses` and the gradients' `norms` before each step, and the
        `checkpoint` as {name: array}.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        classes, depth = start["embedding"].shape
        units = start["memory_layer/kernel"].shape[1]
        dtype = start["embedding"].dtype
        words = tf.placeholder(tf.int32, [None, None])
        ends = tf.placeholder(tf.int32, [None])
        said = tf.placeholder(tf.int32, [None, None])
        said_ends = tf.placeholder(tf.int32, [None])
        embedding = tf.get_variable("embedding", [classes, depth], dtype)
        memory, state = encode(embedding, words, ends, units)
        read = tf.concat([tf.zeros_like(said[:, :1]), said[:, :-1]], 1)
        helper = tensorflow.contrib.seq2seq.TrainingHelper(
            tf.nn.embedding_lookup(embedding, read), said_ends
        )
        outputs, _ = decode_by(helper, memory, state, ends, units, classes)
        # --- step
        longest = tf.reduce_max(said_ends)
        mask = tf.sequence_mask(said_ends, longest, memory.dtype)
        loss = tensorflow.contrib.seq2seq.sequence_loss(
            outputs.rnn_output, said[:, :longest], mask
        )
        variables = tf.trainable_variables()
        gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
        step = tf.train.AdamOptimizer(rate).apply_gradients(zip(gradients, variables))
        # --- run
        sess.run(tf.global_variables_initializer())
        for variable in variables:
            variable.load(start[variable.op.name], sess)
        feed = {words: sources, ends: source_lengths}
        feed.update({said: targets, said_ends: target_lengths})
        history = [sess.run([loss, norm, step], feed)[:2] for _ in range(steps)]
        # --- checkpoint
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))
            reader = tf.train.load_checkpoint(path)
            names = reader.get_variable_to_shape_map()
            checkpoint = {name: reader.get_tensor(name) for name in sorted(names)}
    losses, norms = map(np.stack, zip(*history))
    return {"losses": losses, "norms": norms, "checkpoint": checkpoint}


def translate(sources, source_lengths, weights, end, longest):
    """Translates with the weights of a checkpoint, by greedy decoding.

    Args:
        sources: [n, time] int array.
        source_lengths: [n] int array, each at least 1.
        weights: {name: array}, as `start` of `train_translator`.
        end: id that ends a sequence; the first input is id 0.
        longest: the largest number of steps.

    Returns:
        List of n lists of ids, without the end id.

    Raises:
        KeyError: a weight is missing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        classes, depth = weights["embedding"].shape
        units = weights["memory_layer/kernel"].shape[1]
        dtype = weights["embedding"].dtype
        words = tf.placeholder(tf.int32, [None, None])
        ends = tf.placeholder(tf.int32, [None])
        embedding = tf.get_variable("embedding", [classes, depth], dtype)
        memory, state = encode(embedding, words, ends, units)
        helper = tensorflow.contrib.seq2seq.GreedyEmbeddingHelper(
            embedding, tf.zeros_like(ends), end
        )
        outputs, _ = decode_by(helper, memory, state, ends, units, classes, longest)
        # --- run
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        ids = sess.run(outputs.sample_id, {words: sources, ends: source_lengths})
        return [[int(i) for i in row[: (list(row) + [end]).index(end)]] for row in ids]
