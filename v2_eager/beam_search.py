"""`BeamSearchDecoder`, `tile_batch`, `gather_tree` → a loop in a `tf.function`."""

import numpy as np
import tensorflow as tf

from v2_eager.attention import AttentionWrapper, LuongAttention
from v2_eager.numerics import initializers, rnn
from v2_eager.seq2seq.beams import (
    BeamOutput,
    BeamState,
    Embedding,
    FinalBeamOutput,
    coverage_penalty,
    length_penalty,
    whole,
)
from v2_eager.seq2seq.decoding import Dense, dynamic_decode

__all__ = [
    "tile_batch",
    "gather_tree",
    "make_beam_search",
    "make_letter_search",
    "make_attentive_beam_search",
]

DRAW = initializers.glorot_uniform(seed=1)


def tile_batch(t, multiplier):
    """Repeats each row of a batch `multiplier` times, once for each beam.

    Args:
        t: [batch, ...] tensor or array, or a tuple of such tensors.
    """
    return tf.nest.map_structure(lambda x: repeated(x, multiplier), t)


def repeated(x, multiplier):
    x = tf.convert_to_tensor(x)
    if x.shape.rank == 0:
        raise ValueError("A scalar has no batch to tile.")
    return tf.repeat(x, multiplier, 0)


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token):
    """Reads the sequence of each beam by following the parents from the last step.

    Raises:
        ValueError: the number of lengths is not the batch size (if the batch size is
            unknown, a tf.errors.InvalidArgumentError).
    """
    arguments = step_ids, parent_ids, max_sequence_lengths
    step_ids, parent_ids, max_sequence_lengths = map(tf.convert_to_tensor, arguments)
    shapes = [(step_ids, list("tbk")), (max_sequence_lengths, ["b"])]
    tf.debugging.assert_shapes([*shapes, (parent_ids, list("tbk"))])
    time, batch, beams = tf.unstack(tf.shape(step_ids))
    own = tf.broadcast_to(tf.range(beams), [batch, beams])

    def step(before, current):
        beam, _ = before
        t, ids, parents = current
        past = (t >= max_sequence_lengths)[:, tf.newaxis]
        said = tf.where(past, end_token, tf.gather(ids, beam, batch_dims=1))
        return tf.where(past, beam, tf.gather(parents, beam, batch_dims=1)), said

    inputs = tf.range(time), step_ids, parent_ids
    said = tf.scan(step, inputs, (own, own), reverse=True)[1]
    ends = tf.cast(said == end_token, tf.int32)
    return tf.where(tf.cumsum(ends, exclusive=True) > 0, end_token, said)


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

    Returns a `Search`; see the class.
    """
    cell = rnn.GRUCell(units, initializer=DRAW, name=f"{name}/decoder/gru_cell")
    penalty = {"length_penalty_weight": length_penalty_weight}
    parts = Embedding(classes, units, name, DRAW), cell, output_layer(classes, name)
    return Search(*parts, beam_width, start, end, longest, penalty)


def output_layer(classes, name):
    return Dense(classes, name=f"{name}/decoder/dense", initializer=DRAW)


class Search(tf.Module):
    """Runs a beam search with a cell, in one `tf.function` for all sizes.

    A call takes the first state of the cell, [batch, …] tensors, and tiles it for the
    beams. It returns a dict of `ids`, `scores`, `log_probs`, `lengths` and `steps`; see
    `make_beam_search`.

    Args:
        embedding: object whose `build(dtype)` returns a table or a function from ids
            to vectors: an `Embedding` or `Letters`.
        cell: a cell of `numerics.rnn`.
        layer: layer from the cell's outputs to logits; None if the cell's outputs are
            the logits.
        beam_width: how many sequences each row keeps.
        start: the id that is read first.
        end: the id that ends a sequence.
        longest: the largest number of steps.
        penalty: dict of further arguments of `BeamSearchDecoder`, such as
            `length_penalty_weight`.
    """

    def __init__(
        self, embedding, cell, layer, beam_width, start, end, longest, penalty
    ):
        super().__init__()
        self.embedding, self.cell, self.layer = embedding, cell, layer
        self.beam_width, self.start, self.end = beam_width, start, end
        self.longest, self.penalty = longest, penalty
        self.loop = tf.function(self.search, autograph=False, reduce_retracing=True)

    def search(self, state):
        return self.found(self.cell, tile_batch(state, self.beam_width))[0]

    def found(self, cell, state):
        batch = tf.shape(tf.nest.flatten(state)[0])[0] // self.beam_width
        decoder = BeamSearchDecoder(
            cell,
            self.embedding.build(tf.nest.flatten(state)[0].dtype),
            start_tokens=tf.fill([batch], self.start),
            end_token=self.end,
            initial_state=state,
            beam_width=self.beam_width,
            output_layer=self.layer,
            **self.penalty,
        )
        outputs, last, steps = dynamic_decode(decoder, maximum_iterations=self.longest)
        found = {
            "ids": outputs.predicted_ids,
            "scores": outputs.scores,
            "log_probs": last.log_probs,
            "lengths": last.lengths,
            "steps": steps,
        }
        return found, last

    def __call__(self, *args):
        return self.loop(*args)


def make_letter_search(units, classes, beam_width, start, end, longest, name="model"):
    """Makes a beam search over one-hot letters with a projected GRU as the cell.

    Returns a `Search`; see the class.
    """
    path = f"{name}/decoder/output_projection_wrapper"
    cell = rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell")
    cell = rnn.OutputProjectionWrapper(cell, classes, name=path, initializer=DRAW)
    return Search(Letters(classes), cell, None, beam_width, start, end, longest, {})


class Letters:
    """Turns class ids into one-hot vectors, in place of an embedding.

    Args:
        classes: size of the vectors.
    """

    def __init__(self, classes):
        self.classes = classes

    def build(self, dtype):
        return lambda ids: tf.one_hot(ids, self.classes, dtype=dtype)


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

    Returns an `AttentiveSearch`; see the class.
    """
    # --- cell
    path = f"{name}/decoder/attention_wrapper"
    attention = AttentionWrapper(
        rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell"),
        LuongAttention(units, memory_layer=f"{name}/memory_layer", initializer=DRAW),
        attention_layer_size=units,
        alignment_history=True,
        name=path,
        initializer=DRAW,
    )
    # --- search
    penalty = {"coverage_penalty_weight": coverage_penalty_weight}
    parts = (
        Embedding(classes, units, name, DRAW),
        attention,
        output_layer(classes, name),
    )
    return AttentiveSearch(*parts, beam_width, start, end, longest, penalty)


class AttentiveSearch(Search):
    """Runs a beam search with a cell that attends to a memory; see `Search`."""

    def search(self, state, memory, lengths):
        tiled = tile_batch((state, memory, lengths), self.beam_width)
        cell = self.cell.over(*tiled[1:])
        initial = cell.zero_state(tf.shape(tiled[0])[0], state.dtype)
        found, last = self.found(cell, initial._replace(cell_state=tiled[0]))
        return {**found, "alignments": last.cell_state.alignment_history}


class BeamSearchDecoder:
    """`tf.contrib.seq2seq.BeamSearchDecoder`: a beam search for `dynamic_decode`.

    It holds tensors: make it inside the function that decodes. The state of the cell
    and a memory have a row for each beam, [batch * beams, ...]; use `tile_batch`.

    Args:
        cell: a cell of `v2_eager.numerics.rnn`, or an `AttentiveCell`.
        embedding: [classes, depth] variable or tensor, or a function of ids, [batch,
            beams].
        start_tokens: [batch] int tensor.
        end_token: the id that ends a sequence.
        initial_state: state of the cell, tiled.
        beam_width: how many sequences to keep.
        output_layer: a `Dense`, or None if the cell outputs the logits.
        length_penalty_weight: w: log probabilities are divided by the length penalty
            ((5 + length) / 6)^w of https://arxiv.org/abs/1609.08144. A number, or a
            scalar float32 tensor.
        coverage_penalty_weight: weight of the coverage penalty of the same paper. With
            several attention mechanisms the mean of their alignments counts.
        reorder_tensor_arrays: whether `finalize` sorts the TensorArrays of the state by
            beam and stacks them.

    Raises:
        ValueError: a coverage penalty with a cell that has no attention.
    """

    tracks_own_finished = True

    def __init__(
        self,
        cell,
        embedding,
        start_tokens,
        end_token,
        initial_state,
        beam_width,
        output_layer=None,
        length_penalty_weight=0.0,
        coverage_penalty_weight=0.0,
        reorder_tensor_arrays=True,
    ):
        self.cell, self.embedding, self.end_token = cell, embedding, end_token
        self.start_tokens, self.beam_width = start_tokens, beam_width
        self.sorts = reorder_tensor_arrays
        self.initial_state, self.output_layer = initial_state, output_layer
        self.length_weight = length_penalty_weight
        self.coverage_weight = coverage_penalty_weight
        if coverage_penalty_weight and not hasattr(initial_state, "alignments"):
            raise ValueError(
                "coverage_penalty_weight must be 0.0 if no cell is attentional."
            )

    def initialize(self):
        """Returns (finished, first inputs, state) before the first step."""
        shape = [tf.shape(self.start_tokens)[0], self.beam_width]
        starts = tf.cast(self.start_tokens, tf.int32)[:, tf.newaxis]
        inputs = self.embed(tf.broadcast_to(starts, shape))
        dtype, depth = inputs.dtype, inputs.shape[1]
        with tf.init_scope():  # before the loop, so that it does not own the variables
            self.cell.build(depth, dtype)
            if self.output_layer is not None:
                self.output_layer.build(self.cell.output_size, dtype)
        self.cell.begin(depth, dtype)
        spec = tf.TensorSpec([None, self.beam_width], dtype)
        ids = tf.TensorSpec(spec.shape, tf.int32)
        self.specs = BeamOutput(spec, ids, ids)
        # All beams are equal at first: only the first of them continues.
        others = tf.range(self.beam_width) > 0
        first = tf.where(others, -np.inf, 0.0)
        finished = tf.broadcast_to(others, shape)
        state = BeamState(
            cell_state=self.initial_state,
            log_probs=tf.broadcast_to(tf.cast(first, dtype), shape),
            finished=finished,
            lengths=tf.zeros(shape, tf.int64),
            seen=self.seen(self.initial_state),
        )
        return finished, inputs, state

    def embed(self, ids):
        """Looks up the vectors of [batch, beams] ids: [batch * beams, depth]."""
        if not callable(self.embedding):
            return tf.gather(self.embedding, tf.reshape(ids, [-1]))
        rows = self.embedding(ids)
        return tf.reshape(rows, tf.concat([[-1], tf.shape(rows)[2:]], 0))

    def seen(self, cell_state):
        """Returns the alignments of a step, [batch, beams, time], for the coverage."""
        if not self.coverage_weight:
            return ()
        first, *others = tf.nest.flatten(cell_state.alignments)
        if others:
            first = tf.reduce_mean(tf.stack([first, *others], -1), -1)
        return self.split(first)

    def split(self, x):
        """Reshapes [batch * beams, ...] to [batch, beams, ...]."""
        return tf.reshape(x, tf.concat([[-1, self.beam_width], tf.shape(x)[1:]], 0))

    def step(self, time, inputs, state):
        """Takes a step: returns (outputs, state, next inputs, finished)."""
        outputs, cell_state = self.cell(inputs, state.cell_state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        logits = self.split(outputs)
        going = ~state.finished
        # Scores of each beam continued by each class: [batch, beams, classes].
        classes, dtype = logits.shape[2], logits.dtype
        is_end = tf.range(classes) == self.end_token
        ended = tf.where(is_end, tf.constant(0, dtype), dtype.min)
        steps = tf.where(
            state.finished[:, :, tf.newaxis], ended, tf.nn.log_softmax(logits)
        )
        totals = state.log_probs[:, :, tf.newaxis] + steps
        longer = going[:, :, tf.newaxis] & ~is_end
        lengths = state.lengths[:, :, tf.newaxis] + tf.cast(longer, tf.int64)
        scores = totals / tf.cast(length_penalty(lengths, self.length_weight), dtype)
        seen = self.seen(cell_state)
        if self.coverage_weight:
            seen = state.seen + seen * tf.cast(going, tf.float32)[:, :, tf.newaxis]
            covered = seen, state.finished, self.coverage_weight
            scores += coverage_penalty(*covered)[:, :, tf.newaxis]
        # The `beam_width` best of these continue.
        flat = [-1, self.beam_width * classes]
        scores, places = tf.math.top_k(tf.reshape(scores, flat), self.beam_width)
        ids, parents = places % classes, places // classes

        def chosen(x):
            return tf.gather(x, parents, batch_dims=1)

        finished = chosen(state.finished)
        offsets = tf.range(tf.shape(parents)[0])[:, tf.newaxis] * self.beam_width
        rows = tf.reshape(parents + offsets, [-1])
        state = BeamState(
            cell_state=tf.nest.map_structure(
                lambda x: x if whole(x) else tf.gather(x, rows), cell_state
            ),
            log_probs=tf.gather(tf.reshape(totals, flat), places, batch_dims=1),
            finished=finished | (ids == self.end_token),
            lengths=chosen(state.lengths) + tf.cast(~finished, tf.int64),
            seen=tf.nest.map_structure(chosen, seen),
        )
        outputs = BeamOutput(scores, ids, parents)
        return outputs, state, self.embed(ids), state.finished

    def finalize(self, outputs, state):
        """Reads the sequence of each beam; sorts TensorArrays of the state by beam."""
        longest = tf.cast(tf.reduce_max(state.lengths, 1), tf.int32)
        trace = outputs.parents, longest
        ids = gather_tree(outputs.ids, *trace, self.end_token)
        own = tf.range(self.beam_width)
        none = self.beam_width + 1  # no beam has this number
        beams = gather_tree(tf.zeros_like(outputs.ids) + own, *trace, none)
        inside = tf.sequence_mask(state.lengths, tf.shape(ids)[0])
        beams = tf.where(tf.transpose(inside, [2, 0, 1]), beams, own)

        def sort(x):
            if not isinstance(x, tf.TensorArray) or not self.sorts:
                return x if whole(x) else self.split(x)
            stacked = x.stack()
            shape = tf.shape(stacked)
            split = tf.reshape(stacked, tf.concat([tf.shape(ids), shape[2:]], 0))
            return tf.reshape(tf.gather(split, beams, batch_dims=2), shape)

        cell_state = tf.nest.map_structure(sort, state.cell_state)
        found = FinalBeamOutput(outputs.scores, ids)
        return found, state._replace(cell_state=cell_state)
