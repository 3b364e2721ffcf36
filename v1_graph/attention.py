"""Attention: `BahdanauAttention`, `LuongAttention`, `AttentionWrapper`, as modules."""

import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "make_bahdanau",
    "make_luong",
    "hardmax",
    "monotonic_attention",
    "make_monotonic",
    "make_attention_reader",
    "make_two_memories",
]

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def draw_weights():
    """Has the kernels of this scope drawn with a seed: no mechanism takes it."""
    tf.get_variable_scope().set_initializer(tf.glorot_uniform_initializer(seed=1))


def make_bahdanau(units, normalize=False, name="decoder"):
    """Makes Bahdanau's attention: scores by a layer of tanh.

    Args:
        units: size of the layer.
        normalize: whether its last weights have a length of their own, and it a bias.
        name: scope of the variables `memory_layer/kernel`,
            `bahdanau_attention/query_layer/kernel`, `…/attention_v`, and, if
            normalized, `…/attention_g` and `…/attention_b`.

    Returns:
        Callable from a [batch, depth] float tensor, the query, a [batch, time, size]
        float tensor, the memory, and optionally its lengths, [batch] ints, to the
        alignments, [batch, time], zero past the end.

    Raises:
        tf.errors.InvalidArgumentError: of the callable: a length that is not positive.
        ValueError: of the callable: an unknown depth or size.
    """

    def attend(query, memory, lengths=None):
        draw_weights()
        mechanism = tensorflow.contrib.seq2seq.BahdanauAttention(
            units, memory, lengths, normalize=normalize, dtype=memory.dtype
        )
        previous = mechanism.initial_alignments(tf.shape(query)[0], query.dtype)
        alignments, _ = mechanism(query, previous)
        return alignments

    return tf.make_template(name, attend)


def make_luong(units, scale=False, hard=False, name="decoder"):
    """Makes Luong's attention: scores are products of the query and the keys.

    Args:
        units: size of the keys, which must be the query's depth.
        scale: whether the scores are multiplied by a variable.
        hard: whether all goes to the highest score.
        name: scope of the variables `memory_layer/kernel` and, if scaled,
            `luong_attention/attention_g`.

    Returns:
        As of `make_bahdanau`.

    Raises:
        tf.errors.InvalidArgumentError: of the callable: a length that is not positive.
        ValueError: of the callable: another depth, or an unknown one.
    """

    def attend(query, memory, lengths=None):
        draw_weights()
        mechanism = tensorflow.contrib.seq2seq.LuongAttention(
            units,
            memory,
            lengths,
            scale=scale,
            probability_fn=tensorflow.contrib.seq2seq.hardmax if hard else None,
            dtype=memory.dtype,
        )
        previous = mechanism.initial_alignments(tf.shape(query)[0], query.dtype)
        alignments, _ = mechanism(query, previous)
        return alignments

    return tf.make_template(name, attend)


def hardmax(logits):
    """Gives 1 to the highest of a row, the first of them, and 0 to all others.

    Args:
        logits: [..., n] float tensor.

    Returns:
        Tensor like `logits`.
    """
    return tensorflow.contrib.seq2seq.hardmax(logits)


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Gives the alignments of attention that never goes back.

    Args:
        p_choose_i: [batch, time] float tensor: the probability to stop there.
        previous_attention: [batch, time] float tensor, the last alignments.
        mode: "recursive", which is exact; "parallel", by sums of logarithms; or "hard",
            where all probabilities are 0 or 1.

    Returns:
        [batch, time] tensor, whose rows sum to at most 1.

    Raises:
        ValueError: another mode.
    """
    return tensorflow.contrib.seq2seq.monotonic_attention(
        p_choose_i, previous_attention, mode
    )


def make_monotonic(units, kind, mode="parallel", bias=0.0, name="decoder"):
    """Makes Bahdanau's or Luong's attention so that it never goes back.

    Args:
        units: size of the keys.
        kind: "Bahdanau" or "Luong".
        mode: see `monotonic_attention`.
        bias: the variable that is added to all scores, in the beginning.
        name: scope of the variables, which are those of `make_bahdanau` or
            `make_luong`, but in `bahdanau_monotonic_attention` or
            `luong_monotonic_attention`, and there `attention_score_bias`.

    Returns:
        As of `make_bahdanau`, but its callable takes the last alignments, a [batch,
        time] tensor, after the lengths; without, it begins at the first place.

    Raises:
        KeyError: another kind.
        ValueError: of the callable: another mode.
    """

    kinds = {
        "Bahdanau": tensorflow.contrib.seq2seq.BahdanauMonotonicAttention,
        "Luong": tensorflow.contrib.seq2seq.LuongMonotonicAttention,
    }
    make = kinds[kind]

    def attend(query, memory, lengths=None, previous=None):
        draw_weights()
        mechanism = make(
            units,
            memory,
            lengths,
            mode=mode,
            score_bias_init=memory.dtype.as_numpy_dtype(bias),
            dtype=memory.dtype,
        )
        if previous is None:
            previous = mechanism.initial_alignments(tf.shape(query)[0], query.dtype)
        alignments, _ = mechanism(query, previous)
        return alignments

    return tf.make_template(name, attend)


def make_attention_reader(
    units, attention_size=None, output_attention=True, name="reader"
):
    """Makes a GRU that attends to a memory after each step, and reads what it saw.

    Args:
        units: size of the GRU's state, and of the keys.
        attention_size: size of a layer of the GRU's output and what it saw, or None for
            what it saw alone.
        output_attention: whether that is put out, or what the GRU puts out.
        name: scope of the variables `memory_layer/kernel`,
            `rnn/attention_wrapper/gru_cell/…` and, of a layer,
            `rnn/attention_wrapper/attention_layer/kernel`.

    Returns:
        Callable from a [batch, steps, depth] float tensor, a [batch, time, size] float
        tensor, the memory, its lengths, [batch] ints, and optionally a state of the
        GRU, [batch, units], to a dict of the `outputs`, [batch, steps, …], the last
        `state`, [batch, units], the last `attention`, and the `alignments` of all
        steps, [steps, batch, time].

    Raises:
        tf.errors.InvalidArgumentError: of the callable: a memory of another batch, a
            length that is not positive.
    """

    def read(x, memory, lengths, state=None):
        draw_weights()
        # --- cell
        mechanism = tensorflow.contrib.seq2seq.LuongAttention(
            units, memory, lengths, dtype=memory.dtype
        )
        cell = tensorflow.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(units),
            mechanism,
            attention_layer_size=attention_size,
            alignment_history=True,
            output_attention=output_attention,
        )
        # --- state
        initial = cell.zero_state(tf.shape(x)[0], x.dtype)
        if state is not None:
            initial = initial.clone(cell_state=state)
        # --- loop
        outputs, last = tf.nn.dynamic_rnn(cell, x, initial_state=initial, dtype=x.dtype)
        return {
            "outputs": outputs,
            "state": last.cell_state,
            "attention": last.attention,
            "alignments": last.alignment_history.stack(),
        }

    return tf.make_template(name, read)


def make_two_memories(units, sizes, name="reader"):
    """Makes a GRU that looks at two memories, at each by a mechanism of its own.

    Args:
        units: size of the GRU's state, and of the keys.
        sizes: sizes of the two layers, Luong's and Bahdanau's.
        name: scope of the variables `memory_layer/kernel`, `memory_layer_1/kernel` and
            those in `rnn/attention_wrapper`: `gru_cell/…`, `attention_layer/kernel`,
            `bahdanau_attention/…`, `attention_layer_1/kernel`.

    Returns:
        Callable from a [batch, steps, depth] float tensor, and the memories, [batch,
        time, size] float tensors, to the outputs, [batch, steps, sum of the sizes], and
        the pair of last alignments, each [batch, time].

    Raises:
        ValueError: of the callable: not a size per memory.
    """

    def read(x, first, second):
        draw_weights()
        # --- cell
        mechanisms = [
            tensorflow.contrib.seq2seq.LuongAttention(units, first, dtype=x.dtype),
            tensorflow.contrib.seq2seq.BahdanauAttention(units, second, dtype=x.dtype),
        ]
        cell = tensorflow.contrib.seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.GRUCell(units),
            mechanisms,
            attention_layer_size=sizes,
            cell_input_fn=lambda inputs, attention: tf.concat([attention, inputs], 1),
        )
        # --- loop
        initial = cell.zero_state(tf.shape(x)[0], x.dtype)
        outputs, last = tf.nn.dynamic_rnn(cell, x, initial_state=initial, dtype=x.dtype)
        return outputs, last.alignments

    return tf.make_template(name, read)
