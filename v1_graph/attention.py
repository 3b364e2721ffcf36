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

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def draw_weights():
    """Sets a seeded initializer for this scope, because the mechanisms accept none."""
    tf.get_variable_scope().set_initializer(tf.glorot_uniform_initializer(seed=1))


def make_bahdanau(units, normalize=False, name="decoder"):
    """Makes Bahdanau attention: the score is v · tanh(keys + W query).

    Args:
        units: size of the keys and of v.
        normalize: whether v is normalized and scaled by a variable g, and a bias is
            added before the tanh.
        name: scope of the variables `memory_layer/kernel`,
            `bahdanau_attention/query_layer/kernel`, `…/attention_v`, and, if
            normalized, `…/attention_g` and `…/attention_b`.

    Returns:
        Callable. It takes the query, [batch, depth] floats, the memory, [batch, time,
        size] floats, and optionally the lengths of the memory, [batch] ints. It returns
        the alignments, [batch, time], which are zero past the end.

    Raises:
        tf.errors.InvalidArgumentError: from the callable: a length is not positive.
        ValueError: from the callable: the depth or the size is unknown.
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
    """Makes Luong attention: the score is the dot product of the query and each key.

    Args:
        units: size of the keys, which must be the query's depth.
        scale: whether the scores are multiplied by a variable.
        hard: whether the position with the highest score gets all the weight.
        name: scope of the variables `memory_layer/kernel` and, if scaled,
            `luong_attention/attention_g`.

    Returns:
        Callable as that of `make_bahdanau`.

    Raises:
        tf.errors.InvalidArgumentError: from the callable: a length is not positive.
        ValueError: from the callable: the query's depth is unknown or is not `units`.
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
    """Returns the one-hot argmax of each row; the first maximum wins a tie.

    Args:
        logits: [..., n] float tensor.

    Returns:
        Tensor like `logits`.
    """
    return tensorflow.contrib.seq2seq.hardmax(logits)


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Computes the alignments of monotonic attention, which never moves backwards.

    Args:
        p_choose_i: [batch, time] float tensor: the probability to stop at a position.
        previous_attention: [batch, time] float tensor, the previous alignments.
        mode: "recursive", which is exact; "parallel", by sums of logarithms; or "hard",
            where all probabilities are 0 or 1.

    Returns:
        [batch, time] tensor, whose rows sum to at most 1.

    Raises:
        ValueError: an unknown `mode`.
    """
    return tensorflow.contrib.seq2seq.monotonic_attention(
        p_choose_i, previous_attention, mode
    )


def make_monotonic(units, kind, mode="parallel", bias=0.0, name="decoder"):
    """Makes monotonic Bahdanau or Luong attention, which never moves backwards.

    Args:
        units: size of the keys.
        kind: "Bahdanau" or "Luong".
        mode: see `monotonic_attention`.
        bias: initial value of the variable that is added to all scores.
        name: scope of the variables. They are those of `make_bahdanau` or `make_luong`,
            in `bahdanau_monotonic_attention` or `luong_monotonic_attention`, and
            `attention_score_bias`.

    Returns:
        Callable as that of `make_bahdanau`. After the lengths it also takes the
        previous alignments, a [batch, time] tensor. If they are missing, it begins at
        the first position.

    Raises:
        KeyError: an unknown `kind`.
        ValueError: from the callable: an unknown `mode`.
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
    """Makes a GRU with an `AttentionWrapper`: it attends to a memory after each step.

    Args:
        units: size of the GRU's state, and of the keys.
        attention_size: size of the dense layer that computes the attention from the
            GRU's output and the context; None: the attention is the context itself.
        output_attention: whether a step outputs the attention; if not, it outputs the
            GRU's output.
        name: scope of the variables `memory_layer/kernel`,
            `rnn/attention_wrapper/gru_cell/…` and, with an attention layer,
            `rnn/attention_wrapper/attention_layer/kernel`.

    Returns:
        Callable. It takes x, [batch, steps, depth] floats, the memory, [batch, time,
        size] floats, the lengths of the memory, [batch] ints, and optionally a state of
        the GRU, [batch, units]. It returns a dict of the `outputs`, [batch, steps, …],
        the last `state`, [batch, units], the last `attention`, and the `alignments` of
        all steps, [steps, batch, time].

    Raises:
        tf.errors.InvalidArgumentError: from the callable: the memory has another batch
            size than x, or a length is not positive.
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
    """Makes a GRU that attends to two memories, with one mechanism for each.

    Args:
        units: size of the GRU's state, and of the keys.
        sizes: sizes of the two attention layers: first Luong's, then Bahdanau's.
        name: scope of the variables `memory_layer/kernel`, `memory_layer_1/kernel` and
            those in `rnn/attention_wrapper`: `gru_cell/…`, `attention_layer/kernel`,
            `bahdanau_attention/…`, `attention_layer_1/kernel`.

    Returns:
        Callable. It takes x, [batch, steps, depth] floats, and the two memories,
        [batch, time, size] floats. It returns the outputs, [batch, steps, sum of the
        sizes], and the pair of last alignments, each [batch, time].

    Raises:
        ValueError: from the callable: `sizes` does not have one size for each memory.
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
