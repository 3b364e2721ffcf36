"""`tf.contrib.seq2seq`: `TrainingHelper`, `BasicDecoder`, `dynamic_decode` → loops."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, rnn
from v2_eager.seq2seq.decoding import BasicDecoder, Dense, dynamic_decode
from v2_eager.seq2seq.helpers import (
    GreedyEmbeddingHelper,
    Helper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    TrainingHelper,
)
from v2_eager.seq2seq.models import Decoder, Translator

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

DRAW = initializers.glorot_uniform(seed=1)


def make_training_decoder(units, classes, impute_finished=False, name="model"):
    """Makes a decoder with teacher forcing: each input is the target.

    Returns a `TrainingDecoder`; see the class.
    """
    return TrainingDecoder(units, classes, impute_finished, f"{name}/decoder")


class TrainingDecoder(tf.Module):
    """Teacher forcing: a GRU reads the targets, a dense layer computes the logits.

    A call takes inputs, [batch, time, depth] floats, lengths, [batch] ints, and
    optionally a state, [batch, units]. It returns a dict of `logits`, `ids`, `state`
    and `lengths`; see `make_training_decoder`. One trace serves all sizes.

    Args:
        units: size of the GRU's state.
        classes: number of the logits.
        impute_finished: whether outputs past a sequence's end are zeros, and the
            sequence's state remains as at the end.
        path: scope of the variables `gru_cell/…` and `dense/…`.
    """

    def __init__(self, units, classes, impute_finished, path):
        super().__init__()
        self.cell = rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell")
        self.layer = Dense(classes, name=f"{path}/dense", initializer=DRAW)
        self.impute_finished = impute_finished
        self.loop = tf.function(self.decode, autograph=False, reduce_retracing=True)

    def decode(self, inputs, lengths, state):
        if state is None:
            state = self.cell.zero_state(tf.shape(inputs)[0], inputs.dtype)
        helper = TrainingHelper(inputs, lengths)
        decoder = BasicDecoder(self.cell, helper, state, output_layer=self.layer)
        outputs, state, ends = dynamic_decode(
            decoder, impute_finished=self.impute_finished
        )
        return {
            "logits": outputs.rnn_output,
            "ids": outputs.sample_id,
            "state": state,
            "lengths": ends,
        }

    def __call__(self, inputs, lengths, state=None):
        # Tensors: the values of a list would be part of the trace's signature.
        return self.loop(inputs, tf.convert_to_tensor(lengths), state)


def make_greedy_decoder(units, classes, start, end, longest=None, name="model"):
    """Makes a greedy decoder: each input is the argmax of the previous logits.

    Returns a `GreedyDecoder`; see the class.
    """
    return GreedyDecoder(units, classes, start, end, longest, name)


class GreedyDecoder(tf.Module):
    """Greedy decoding: a GRU reads the embedding of the argmax of its previous logits.

    A call takes a state, [batch, units] floats, and returns a dict of `ids`, `logits`,
    `state` and `lengths`; see `make_greedy_decoder`. The first call makes the
    embedding. One trace serves all sizes.

    Args:
        units: size of the GRU's state, and of the embedding.
        classes: number of the logits.
        start: id of the first input.
        end: id that ends a sequence.
        longest: the largest number of steps, or None for no limit.
        name: scope of the variables `embedding`, `decoder/gru_cell/…` and
            `decoder/dense/…`.
    """

    def __init__(self, units, classes, start, end, longest, name):
        super().__init__()
        self.start, self.end, self.longest = start, end, longest
        self.path, self.shape, self.embedding = name, [classes, units], None
        path = f"{name}/decoder"
        self.cell = rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell")
        self.layer = Dense(classes, name=f"{path}/dense", initializer=DRAW)
        self.loop = tf.function(self.decode, autograph=False, reduce_retracing=True)

    def decode(self, state):
        if self.embedding is None:
            with tf.init_scope(), tf.name_scope(""):
                rows = DRAW(self.shape, state.dtype)
                self.embedding = tf.Variable(rows, name=f"{self.path}/embedding")
        starts = tf.fill(tf.shape(state)[:1], self.start)
        helper = GreedyEmbeddingHelper(self.embedding, starts, self.end)
        decoder = BasicDecoder(self.cell, helper, state, output_layer=self.layer)
        outputs, state, lengths = dynamic_decode(
            decoder, maximum_iterations=self.longest
        )
        return {
            "ids": outputs.sample_id,
            "logits": outputs.rnn_output,
            "state": state,
            "lengths": lengths,
        }

    def __call__(self, state):
        return self.loop(state)


def make_feedback_decoder(units, size, longest, name="model"):
    """Makes a decoder of vectors with a custom helper, which reads the last output.

    Returns a `FeedbackDecoder`; see the class.
    """
    return FeedbackDecoder(units, size, longest, f"{name}/decoder")


class Feedback(Helper):
    """A helper that reads the last output; a row ends if its first number is > 0.5.

    Args:
        batch_size: number of rows, an int or an int tensor.
        size: size of an output.
        dtype: dtype of the outputs.
    """

    # --- helper
    def __init__(self, batch_size, size, dtype):
        self.batch_size, self.size, self.dtype = batch_size, size, dtype

    def initialize(self):
        finished = tf.tile([False], [self.batch_size])
        return finished, tf.zeros([self.batch_size, self.size], self.dtype)

    def sample(self, time, outputs, state):
        return tf.zeros([self.batch_size], tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        return outputs[:, 0] > 0.5, outputs, state


class FeedbackDecoder(tf.Module):
    """A decoder of vectors: a GRU with a dense layer that reads its last output.

    A call takes a state, [batch, units] floats. It returns the outputs, [batch, steps,
    size], zero past each row's end, and the lengths, [batch] int32. One trace serves
    all sizes.

    Args:
        units: size of the GRU's state.
        size: number of outputs per step.
        longest: the largest number of steps.
        path: scope of the variables `gru_cell/…` and `dense/…`.
    """

    # --- decoder
    def __init__(self, units, size, longest, path):
        super().__init__()
        self.cell = rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell")
        self.layer = Dense(size, name=f"{path}/dense", initializer=DRAW)
        self.longest = longest
        self.loop = tf.function(self.decode, autograph=False, reduce_retracing=True)

    def decode(self, state):
        helper = Feedback(tf.shape(state)[0], self.layer.units, state.dtype)
        decoder = BasicDecoder(self.cell, helper, state, output_layer=self.layer)
        outputs, _, lengths = dynamic_decode(
            decoder, impute_finished=True, maximum_iterations=self.longest
        )
        return outputs.rnn_output, lengths

    def __call__(self, state):
        return self.loop(state)


def sample(weights, state, start, end, longest, runs, temperature=None):
    """Samples sequences from a trained decoder in several runs."""
    # --- decoder
    tf.random.set_seed(7)
    decoder = Decoder(weights)
    starts = [start] * len(state)

    @tf.function
    def decode(state):
        helper = SampleEmbeddingHelper(
            decoder.embedding, starts, end, temperature, seed=3
        )
        outputs, lengths = decoder(helper, state, longest)
        return outputs.sample_id, lengths

    # --- run
    found = [decode(tf.constant(state)) for _ in range(runs)]
    return [tuple(tensor.numpy() for tensor in pair) for pair in found]


def read_some_and_sample(weights, state, ids, lengths, share):
    """Decodes by scheduled sampling: each step reads the target or a sample."""
    # --- decoder
    tf.random.set_seed(7)
    decoder = Decoder(weights)

    @tf.function
    def decode(state, ids, lengths):
        helper = ScheduledEmbeddingTrainingHelper(
            tf.gather(decoder.embedding, ids),
            lengths,
            decoder.embedding,
            share,
            seed=3,
            scheduling_seed=4,
        )
        return decoder(helper, state)[0]

    # --- run
    logits, chosen = decode(*map(tf.constant, (state, ids, lengths)))
    return {"ids": chosen.numpy(), "logits": logits.numpy()}


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

    Raises:
        ValueError: the tensors do not have three, two and two dimensions, or both an
            average and a sum are requested. If the weights do not have the targets'
            shape, TensorFlow 1 raises ValueError, TensorFlow 2
            tf.errors.InvalidArgumentError.
    """
    logits, targets, weights = map(tf.convert_to_tensor, (logits, targets, weights))
    for name, tensor, rank in [
        ("Logits", logits, 3),
        ("Targets", targets, 2),
        ("Weights", weights, 2),
    ]:
        if tensor.shape.rank != rank:
            raise ValueError(f"{name} must have {rank} dimensions: {tensor.shape}")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError(
            "average_across_timesteps and sum_over_timesteps cannot be set to "
            "True at same time."
        )
    if average_across_batch and sum_over_batch:
        raise ValueError(
            "average_across_batch and sum_over_batch cannot be set to "
            "True at same time."
        )
    # A broadcast column of weights would count each of its numbers only once.
    message = "Weights must have the shape of targets"
    tf.debugging.assert_equal(tf.shape(weights), tf.shape(targets), message)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits) * weights
    # As in v1, an average along one dimension disables a sum along the other.
    averaged = average_across_batch, average_across_timesteps
    summed = sum_over_batch, sum_over_timesteps
    axes = [i for i, along in enumerate(averaged if any(averaged) else summed) if along]
    if not axes:
        return losses
    if any(averaged):
        sizes = tf.reduce_sum(weights, axes)
    else:
        sizes = tf.math.count_nonzero(weights, axes, dtype=losses.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(losses, axes), sizes)


def train_translator(
    sources, source_lengths, targets, target_lengths, start, steps, rate=0.0625
):
    """Trains an encoder and a decoder with attention, with clipped gradients."""
    # --- model
    translator = Translator(start)
    tensors = sources, source_lengths, targets, target_lengths
    words, ends, said, said_ends = (tf.constant(array) for array in tensors)
    adam = optimizers.Adam(rate).create_slots(translator.ordered)

    # --- step
    @tf.function
    def step():
        read = tf.concat([tf.zeros_like(said[:, :1]), said[:, :-1]], 1)
        longest = tf.reduce_max(said_ends)
        with tf.GradientTape() as tape:
            helper = TrainingHelper(tf.gather(translator.embedding, read), said_ends)
            outputs = translator(helper, words, ends)
            mask = tf.sequence_mask(said_ends, longest, outputs.rnn_output.dtype)
            loss = sequence_loss(outputs.rnn_output, said[:, :longest], mask)
        gradients = tape.gradient(loss, translator.ordered)
        gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
        adam.apply_gradients(zip(gradients, translator.ordered))
        return loss, norm

    # --- run
    losses, norms = zip(*[step() for _ in range(steps)])
    # --- checkpoint
    kept = [*translator.ordered, *adam.variables]
    return {
        "losses": np.stack(losses),
        "norms": np.stack(norms),
        "checkpoint": {v.name[:-2]: v.numpy() for v in kept},
    }


def translate(sources, source_lengths, weights, end, longest):
    """Translates with the weights of a checkpoint, by greedy decoding."""
    # --- model
    translator = Translator(weights)

    @tf.function
    def decode(words, ends):
        starts = tf.zeros_like(ends)
        helper = GreedyEmbeddingHelper(translator.embedding, starts, end)
        return translator(helper, words, ends, longest).sample_id

    # --- run
    ids = decode(tf.constant(sources), tf.constant(source_lengths)).numpy()
    return [[int(i) for i in row[: (list(row) + [end]).index(end)]] for row in ids]
