"""Attention: `BahdanauAttention`, `LuongAttention`, `AttentionWrapper`, as modules."""

import numpy as np
import tensorflow as tf

from v2_eager.attention.mechanisms import Attention, BahdanauAttention, LuongAttention
from v2_eager.attention.wrapper import AttentionWrapper
from v2_eager.numerics import initializers, rnn
from v2_eager.rnn import tensor_of

__all__ = [
    "make_bahdanau",
    "make_luong",
    "hardmax",
    "monotonic_attention",
    "make_monotonic",
    "make_attention_reader",
    "make_two_memories",
]

DRAW = initializers.glorot_uniform(seed=1)


def make_bahdanau(units, normalize=False, name="decoder"):
    """Makes Bahdanau attention: the score is v · tanh(keys + W query).

    Returns a `Step`; see the class.
    """
    path = f"{name}/bahdanau_attention"
    return Step(BahdanauAttention(units, normalize, path, **drawn(name)))


def drawn(name):
    """Returns arguments of a scope's mechanisms: memory layer's name, initializer."""
    return {"memory_layer": f"{name}/memory_layer", "initializer": DRAW}


class Step(tf.Module):
    """Computes the alignments of one step with an attention mechanism.

    A call takes the query, [batch, depth] floats, and the memory, [batch, time, size]
    floats. Optionally it takes the lengths of the memory, [batch] ints, and the
    previous alignments, [batch, time], which only monotonic mechanisms use. It returns
    the alignments, [batch, time].

    Args:
        mechanism: an `Attention`, such as a `BahdanauAttention`.
    """

    def __init__(self, mechanism):
        super().__init__()
        self.mechanism = mechanism

    def __call__(self, query, memory, lengths=None, previous=None):
        memory = self.mechanism.remember(memory, lengths)
        if previous is None:
            previous = self.mechanism.initial_alignments(memory)
        return self.mechanism(query, memory, previous)


def make_luong(units, scale=False, hard=False, name="decoder"):
    """Makes Luong attention: the score is the dot product of the query and each key.

    Returns a `Step`; see the class.
    """
    chosen = {"probability_fn": hardmax if hard else tf.nn.softmax}
    path = f"{name}/luong_attention"
    return Step(LuongAttention(units, scale, path, **chosen, **drawn(name)))


def hardmax(logits):
    """Returns the one-hot argmax of each row; the first maximum wins a tie."""
    n = tf.shape(logits)[-1]
    return tf.one_hot(tf.argmax(logits, -1), n, dtype=logits.dtype)


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Computes the alignments of monotonic attention, which never moves backwards."""
    p, previous = map(tf.convert_to_tensor, (p_choose_i, previous_attention))
    if mode == "recursive":

        def step(reached, current):
            passed, begun = current
            return passed * reached + begun

        passed = tf.concat([tf.ones_like(p[:, :1]), 1 - p[:, :-1]], 1)
        times = tf.transpose(passed), tf.transpose(previous)
        return p * tf.transpose(tf.scan(step, times, tf.zeros_like(p[:, 0])))
    if mode == "parallel":
        tiny = np.finfo(p.dtype.as_numpy_dtype).tiny
        logs = tf.math.log(tf.clip_by_value(1 - p, tiny, 1))
        passed = tf.exp(tf.cumsum(logs, axis=1, exclusive=True))
        begun = previous / tf.clip_by_value(passed, 1e-10, 1)
        return p * passed * tf.cumsum(begun, axis=1)
    if mode == "hard":
        p *= tf.cumsum(previous, axis=1)
        return p * tf.math.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def make_monotonic(units, kind, mode="parallel", bias=0.0, name="decoder"):
    """Makes monotonic Bahdanau or Luong attention, which never moves backwards.

    Returns a `Step`; see the class.
    """
    kinds = {"Bahdanau": BahdanauMonotonicAttention, "Luong": LuongMonotonicAttention}
    path = f"{name}/{kind.lower()}_monotonic_attention"
    options = {"mode": mode, "score_bias_init": bias, **drawn(name)}
    return Step(kinds[kind](units, name=path, **options))


class Monotonic(Attention):
    """Base class of the two monotonic mechanisms below.

    Args:
        *args: arguments of the mechanism that the class is mixed with, such as
            num_units.
        mode: "parallel", "recursive" or "hard"; see `monotonic_attention`.
        score_bias_init: initial value of the variable that is added to all scores.
        sigmoid_noise: standard deviation of the normal noise that is added to the
            scores in training, so that the scores move away from 0. For inference, make
            a mechanism with 0.
        sigmoid_noise_seed: seed of the op that draws the noise, an int or None.
        **options: keyword arguments of the mechanism that the class is mixed with.
    """

    def __init__(
        self,
        *args,
        mode="parallel",
        score_bias_init=0.0,
        sigmoid_noise=0.0,
        sigmoid_noise_seed=None,
        **options,
    ):
        super().__init__(*args, **options)
        self.mode, self.score_bias_init = mode, score_bias_init
        self.noise, self.noise_seed = sigmoid_noise, sigmoid_noise_seed

    def make_variables(self, depth, dtype):
        super().make_variables(depth, dtype)
        self.score_bias = self.variable(
            f"{self.path}/attention_score_bias",
            [],
            dtype,
            tf.constant_initializer(self.score_bias_init),
        )

    def initial_alignments(self, memory):
        """Returns the alignments before the first step: 1 at the first position."""
        batch, time = tf.unstack(tf.shape(memory.values)[:2])
        return tf.one_hot(tf.zeros([batch], tf.int32), time, dtype=memory.values.dtype)

    def score(self, query, keys):
        return super().score(query, keys) + self.score_bias

    def align(self, scores, previous):
        if self.noise > 0:
            shape, seed = tf.shape(scores), self.noise_seed
            noise = tf.random.normal(shape, dtype=scores.dtype, seed=seed)
            scores += self.noise * noise
        hard = self.mode == "hard"
        choose = tf.cast(scores > 0, scores.dtype) if hard else tf.sigmoid(scores)
        return monotonic_attention(choose, previous, self.mode)


class BahdanauMonotonicAttention(Monotonic, BahdanauAttention):
    """`tf.contrib.seq2seq.BahdanauMonotonicAttention`: never moves backwards.

    Args:
        num_units: size of the keys.
        name: prefix of the names of the variables.
        **options: keyword arguments of `Monotonic` and `BahdanauAttention`.
    """

    def __init__(self, num_units, name="bahdanau_monotonic_attention", **options):
        super().__init__(num_units, name=name, **options)


class LuongMonotonicAttention(Monotonic, LuongAttention):
    """`tf.contrib.seq2seq.LuongMonotonicAttention`: never moves backwards.

    Args:
        num_units: size of the keys, which must be the query's depth.
        name: prefix of the names of the variables.
        **options: keyword arguments of `Monotonic` and `LuongAttention`.
    """

    def __init__(self, num_units, name="luong_monotonic_attention", **options):
        super().__init__(num_units, name=name, **options)


def make_attention_reader(
    units, attention_size=None, output_attention=True, name="reader"
):
    """Makes a GRU with an `AttentionWrapper`: it attends to a memory after each step.

    Returns a `Reader`; see the class.
    """
    # --- cell
    path = f"{name}/rnn/attention_wrapper"
    return Reader(
        AttentionWrapper(
            rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell"),
            LuongAttention(units, **drawn(name)),
            attention_layer_size=attention_size,
            alignment_history=True,
            output_attention=output_attention,
            name=path,
            initializer=DRAW,
        )
    )


class Reader(tf.Module):
    """Runs a cell with attention over a sequence, in one `tf.function` for all sizes.

    A call takes x, [batch, steps, depth] floats, the memory, [batch, time, size]
    floats, the lengths of the memory, [batch] ints, and optionally the cell's first
    state. It returns a dict of the outputs, the last state and attention, and the
    alignments, [steps, batch, time].

    Args:
        attention: an `AttentionWrapper` with `alignment_history=True`.
    """

    def __init__(self, attention):
        super().__init__()
        self.attention = attention
        self.loop = tf.function(self.read, autograph=False, reduce_retracing=True)

    def read(self, x, memory, lengths, state):
        cell = self.attention.over(memory, lengths)
        # --- state
        initial = cell.zero_state(x.shape[0] or tf.shape(x)[0], x.dtype)
        if state is not None:
            initial = initial._replace(cell_state=state)
        # --- loop
        outputs, last = rnn.unroll(cell, x, state=initial)
        return {
            "outputs": outputs,
            "state": last.cell_state,
            "attention": last.attention,
            "alignments": last.alignment_history.stack(),
        }

    def __call__(self, x, memory, lengths, state=None):
        return self.loop(x, memory, tensor_of(lengths), state)


def make_two_memories(units, sizes, name="reader"):
    """Makes a GRU that attends to two memories, with one mechanism for each.

    Returns a `ReaderOfTwo`; see the class.

    Raises:
        ValueError: `sizes` does not have one size for each memory.
    """
    # --- cell
    path = f"{name}/rnn/attention_wrapper"
    second = {"memory_layer": f"{name}/memory_layer_1", "initializer": DRAW}
    second["name"] = f"{path}/bahdanau_attention"
    return ReaderOfTwo(
        AttentionWrapper(
            rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell"),
            [LuongAttention(units, **drawn(name)), BahdanauAttention(units, **second)],
            attention_layer_size=sizes,
            cell_input_fn=lambda inputs, attention: tf.concat([attention, inputs], 1),
            name=path,
            initializer=DRAW,
        )
    )


class ReaderOfTwo(Reader):
    """Runs a cell that attends to two memories, without lengths, over a sequence."""

    def read(self, x, *memories):
        # --- loop
        outputs, last = rnn.unroll(self.attention.over(memories), x)
        return outputs, last.alignments

    def __call__(self, x, first, second):
        return self.loop(x, first, second)
