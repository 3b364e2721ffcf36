"""`BeamSearchDecoder`, `tile_batch`, `gather_tree` → a loop in a `tf.function`."""

import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "tile_batch",
    "gather_tree",
    "make_beam_search",
    "make_letter_search",
    "make_attentive_beam_search",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def draw_weights():
    """Sets a seeded initializer for this scope, because few layers here accept one."""
    tf.get_variable_scope().set_initializer(tf.glorot_uniform_initializer(seed=1))


def tile_batch(t, multiplier):
    """Repeats each row of a batch `multiplier` times, once for each beam.

    Args:
        t: [batch, ...] tensor, or a tuple of such tensors.
        multiplier: how many copies of a row, the beam width.

    Returns:
        [batch * multiplier, ...] tensor like `t`; the copies of a row are adjacent.

    Raises:
        ValueError: a scalar.
    """
    return tensorflow.contrib.seq2seq.tile_batch(t, multiplier)


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token):
    """Reads the sequence of each beam by following the parents from the last step.

    Args:
        step_ids: [time, batch, beams] int32 tensor, the ids of each step.
        parent_ids: [time, batch, beams] int32 tensor, the beam that each id continues.
        max_sequence_lengths: [batch] int32 tensor.
        end_token: the id that ends a sequence.

    Returns:
        [time, batch, beams] int32 tensor, `end_token` past the end.
    """
    return tensorflow.contrib.seq2seq.gather_tree(
        step_ids=step_ids,
        parent_ids=parent_ids,
        max_sequence_lengths=max_sequence_lengths,
        end_token=end_token,
    )


def make_beam_search(
    units,
    classes,
    beam_width,
    start,
    end,
    longest,
    length_penalty_weight=0.0,
    name="model",
):
    """Makes a GRU decoder with beam search.

    Args:
        units: size of the GRU's state, and of the embedding.
        classes: vocabulary size, the number of logits.
        beam_width: how many sequences to keep.
        start, end: the id of the first input, and the id that ends a sequence.
        longest: the largest number of steps.
        length_penalty_weight: w: log probabilities are divided by the length penalty
            ((5 + length) / 6)^w before sequences are compared.
        name: scope of the variables `embedding`, `decoder/gru_cell/…`,
            `decoder/dense/kernel` and `decoder/dense/bias`.

    Returns:
        Callable. It takes a state, [batch, units] floats. It returns a dict: the `ids`,
        [batch, steps, beams] int32, the best beam first; the `scores` of each step, of
        the same shape; the `log_probs` and `lengths` after the last step; and `steps`,
        the steps that each beam's position took. The last three are [batch, beams].
    """

    def search(state):
        draw_weights()
        embedding = tf.get_variable("embedding", [classes, units], state.dtype)
        decoder = tensorflow.contrib.seq2seq.BeamSearchDecoder(
            tf.nn.rnn_cell.GRUCell(units),
            embedding,
            start_tokens=tf.fill(tf.shape(state)[:1], start),
            end_token=end,
            initial_state=tensorflow.contrib.seq2seq.tile_batch(state, beam_width),
            beam_width=beam_width,
            output_layer=tf.layers.Dense(classes),
            length_penalty_weight=length_penalty_weight,
        )
        return decode(decoder, longest)[0]

    return tf.make_template(name, search)


def decode(decoder, longest):
    """Runs a decoder; returns the dict of its results, and the last state."""
    outputs, last, steps = tensorflow.contrib.seq2seq.dynamic_decode(
        decoder, maximum_iterations=longest
    )
    found = {
        "ids": outputs.predicted_ids,
        "scores": outputs.beam_search_decoder_output.scores,
        "log_probs": last.log_probs,
        "lengths": last.lengths,
        "steps": steps,
    }
    return found, last


def make_letter_search(units, classes, beam_width, start, end, longest, name="model"):
    """Makes a beam search over one-hot letters with a projected GRU as the cell.

    Args:
        units: size of the GRU's state.
        classes, beam_width, start, end, longest: as for `make_beam_search`.
        name: scope of the variables `decoder/output_projection_wrapper/gru_cell/…`,
            `…/kernel` and `…/bias`.

    Returns:
        Callable as that of `make_beam_search`.
    """

    def search(state):
        draw_weights()
        tf.get_variable_scope().set_dtype(state.dtype)  # the wrapper sets no dtype
        cell = tf.nn.rnn_cell.GRUCell(units)
        decoder = tensorflow.contrib.seq2seq.BeamSearchDecoder(
            tensorflow.contrib.rnn.OutputProjectionWrapper(cell, classes),
            lambda ids: tf.one_hot(ids, classes, dtype=state.dtype),
            start_tokens=tf.fill(tf.shape(state)[:1], start),
            end_token=end,
            initial_state=tensorflow.contrib.seq2seq.tile_batch(state, beam_width),
            beam_width=beam_width,
        )
        return decode(decoder, longest)[0]

    return tf.make_template(name, search)


def make_attentive_beam_search(
    units,
    classes,
    beam_width,
    start,
    end,
    longest,
    coverage_penalty_weight=0.0,
    name="model",
):
    """Makes a beam search with a GRU that attends to a memory.

    Args:
        units, classes, beam_width, start, end, longest: as for `make_beam_search`.
        coverage_penalty_weight: weight of the penalty on the score of a sequence that
            has ended, for positions of the memory that it did not attend to.
        name: scope of the variables `embedding`, `memory_layer/kernel`,
            `decoder/attention_wrapper/gru_cell/…`, `…/attention_layer/kernel`,
            and `decoder/dense/…`.

    Returns:
        Callable. It takes a state, [batch, units] floats, a memory, [batch, time, size]
        floats, and the lengths of the memory, [batch] ints. It returns the dict of
        `make_beam_search` and the `alignments` of the kept sequences, [steps, batch *
        beams, time].
    """

    def search(state, memory, lengths):
        draw_weights()
        tile_batch = tensorflow.contrib.seq2seq.tile_batch
        # Makes the batch size unknown, as if fed: with a known size TensorFlow 1.15
        # warns and does not sort the alignments.
        state = tf.placeholder_with_default(state, [None, state.shape[1]])
        embedding = tf.get_variable("embedding", [classes, units], state.dtype)
        # --- cell
        mechanism = tensorflow.contrib.seq2seq.LuongAttention(
            units,
            tile_batch(memory, beam_width),
            tile_batch(lengths, beam_width),
            dtype=memory.dtype,
        )
        cell = tensorflow.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(units),
            mechanism,
            attention_layer_size=units,
            alignment_history=True,
        )
        batch = tf.shape(state)[0]
        initial = cell.zero_state(batch * beam_width, state.dtype)
        initial = initial.clone(cell_state=tile_batch(state, beam_width))
        # --- search
        decoder = tensorflow.contrib.seq2seq.BeamSearchDecoder(
            cell,
            embedding,
            start_tokens=tf.fill([batch], start),
            end_token=end,
            initial_state=initial,
            beam_width=beam_width,
            output_layer=tf.layers.Dense(classes),
            coverage_penalty_weight=coverage_penalty_weight,
        )
        found, last = decode(decoder, longest)
        return {**found, "alignments": last.cell_state.alignment_history}

    return tf.make_template(name, search)
