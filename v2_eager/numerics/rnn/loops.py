"""Loops that run cells, as `dynamic_rnn`, `static_rnn` and the bidirectional RNNs."""

import tensorflow as tf


def unroll(cell, x, lengths=None, state=None, time_major=False, dtype=None):
    """Runs a cell over sequences in one loop, as `tf.nn.dynamic_rnn` did.

    After the end of a sequence its outputs are zero, and its state does not change.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: [batch, time, depth] tensor.
        lengths: [batch] int tensor, or None if all sequences have full length.
        state: initial state, or None for zeros.
        time_major: whether time is the first axis of x and of the outputs.
        dtype: dtype of the outputs and of the state if it differs from the dtype of x.

    Returns:
        (outputs [batch, time, output_size], zero past each sequence's end; the state at
        each sequence's end).

    Raises:
        ValueError: x does not have three dimensions, its depth is unknown, or the
            lengths are not a vector.
        tf.errors.InvalidArgumentError: the number of lengths is not the batch size.
    """
    x = of_rank_3(x)
    if not time_major:
        x = tf.transpose(x, [1, 0, 2])
    dtype = dtype or x.dtype
    state, lengths = prepare(cell, x, lengths, state, dtype=dtype)
    end = None
    if lengths is not None:  # the loop stops at the end of the longest sequence
        end = tf.maximum(1, tf.reduce_max(lengths))

    def step(x, state, t):
        return advance(cell, x, state, t, lengths)

    outputs, state = take_steps(step, x, state, cell.output_size, dtype, end)
    return outputs if time_major else tf.transpose(outputs, [1, 0, 2]), state


def take_steps(step, x, state, size, dtype, end=None):
    """Runs a step function over the time steps of x in one `tf.while_loop`.

    Args:
        step: function from ([batch, depth], state, time) to ([batch, size], new state).
        x: [time, batch, depth] tensor.
        state: initial state.
        size: size of the outputs.
        dtype: dtype of the outputs.
        end: number of steps to take, or None for all.

    Returns:
        ([time, batch, size] outputs, zero past `end`; the last state).
    """
    time = x.shape[0] or tf.shape(x)[0]
    end = time if end is None else tf.minimum(time, end)
    inputs = tf.TensorArray(x.dtype, time, element_shape=x.shape[1:]).unstack(x)
    outputs = tf.TensorArray(dtype, time, element_shape=[x.shape[1], size])

    def body(t, state, outputs):
        output, state = step(inputs.read(t), state, t)
        return t + 1, state, outputs.write(t, output)

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < end,
        body,
        (tf.constant(0), state, outputs),
        parallel_iterations=1,  # else a cell with random ops may draw in any order
        maximum_iterations=x.shape[0],
    )
    return outputs.stack(), state


def unroll_in_python(cell, x, lengths=None, state=None):
    """Runs a cell step by step without a graph loop, as `tf.nn.static_rnn` did.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: [batch, time, depth] tensor of known time.
        lengths: [batch] int tensor, or None if all sequences have full length.
        state: initial state, or None for zeros.

    Returns:
        (list of outputs, each [batch, output_size]; the state at each sequence's end).

    Raises:
        ValueError: see `unroll`; also if the number of time steps is unknown.
    """
    x = of_rank_3(x)
    inputs = tf.unstack(x, axis=1)
    state, lengths = prepare(cell, x, lengths, state, batch_axis=0)
    outputs = []
    for t, x in enumerate(inputs):
        output, state = advance(cell, x, state, t, lengths)
        outputs.append(output)
    return outputs, state


def unroll_both_ways(forward, backward, x, lengths=None, states=(None, None)):
    """Runs a forward and a backward cell, as `tf.nn.bidirectional_dynamic_rnn` did.

    Args:
        forward: the cell that reads each sequence from its beginning.
        backward: the cell that reads each sequence from its end.
        x: [batch, time, depth] float tensor.
        lengths: [batch] int tensor, or None if all sequences have full length.
        states: pair of the initial states, or of None for zeros.

    Returns:
        ((forward outputs, backward outputs), (forward state, backward state)).

    Raises:
        The errors of `unroll`.
    """
    x = of_rank_3(x)
    outputs, state = unroll(forward, x, lengths, states[0])
    read_back = reverse(x, lengths)
    others, other_state = unroll(backward, read_back, lengths, states[1])
    return (outputs, reverse(others, lengths)), (state, other_state)


def reverse(x, lengths, time_axis=1):
    """Reverses each sequence up to its length; the padding remains at the end.

    Args:
        x: [batch, time, …] or [time, batch, …] tensor.
        lengths: [batch] int tensor, or None to reverse everything.
        time_axis: 1 or 0.

    Returns:
        Tensor of the shape and dtype of x.
    """
    if lengths is None:
        return tf.reverse(x, [time_axis])
    return tf.reverse_sequence(x, lengths, time_axis, batch_axis=1 - time_axis)


def unroll_both_ways_in_python(forward, backward, x, lengths=None, states=(None, None)):
    """Runs both cells without a graph loop, as `tf.nn.static_bidirectional_rnn` did.

    Args:
        forward: the cell that reads each sequence from its beginning.
        backward: the cell that reads each sequence from its end.
        x: [batch, time, depth] float tensor of known time.
        lengths: [batch] int tensor, or None if all sequences have full length.
        states: pair of the initial states, or of None for zeros.

    Returns:
        (list of outputs, each [batch, forward size + backward size]; forward state;
        backward state).
    """
    x = of_rank_3(x)
    outputs, state = unroll_in_python(forward, x, lengths, states[0])
    read_back = reverse(x, lengths)
    others, other_state = unroll_in_python(backward, read_back, lengths, states[1])
    others = tf.unstack(reverse(tf.stack(others, 1), lengths), axis=1)
    both = [tf.concat(pair, 1) for pair in zip(outputs, others)]
    return both, state, other_state


def unroll_stack_both_ways(forward, backward, x, lengths=None, states=None):
    """Runs bidirectional layers, as `tf.contrib.rnn.stack_bidirectional_dynamic_rnn`.

    Args:
        forward: list of cells, one for each layer.
        backward: list of the same number of cells.
        x: [batch, time, depth] float tensor.
        lengths: [batch] int tensor, or None if all sequences have full length.
        states: initial states of the layers: list of pairs, or None for zeros.

    Returns:
        (outputs of the last layer, [batch, time, forward size + backward size]; tuple
        of the layers' last forward states; tuple of the last backward states). A layer
        reads both outputs of the layer below. Name the cells
        `…/cell_1/bidirectional_rnn/fw/…`, as v1 did.

    Raises:
        ValueError: there are no cells, or the lists differ in length; see also
            `unroll`.
    """
    if not forward or len(forward) != len(backward):
        raise ValueError("Forward and Backward cells must have the same depth.")
    states, last = states or [(None, None)] * len(forward), []
    for pair, begin in zip(zip(forward, backward), states):
        outputs, ended = unroll_both_ways(*pair, x, lengths, begin)
        x = tf.concat(outputs, 2)
        last.append(ended)
    return x, *zip(*last)


def of_rank_3(x):
    """Converts x to a tensor; raises if it does not have three dimensions.

    Args:
        x: tensor, or a value that can be converted to one.

    Raises:
        ValueError: x does not have rank 3.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {x.shape.rank}")
    return x


def prepare(cell, x, lengths, state, batch_axis=1, dtype=None):
    """Makes a cell's variables and initial state; raises v1's errors.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: tensor of three dimensions; the size of the last dimension is known.
        lengths: [batch] ints, or None.
        state: nested structure of tensors, or None for zeros.
        batch_axis: 0 or 1, the axis of the batch in x.
        dtype: dtype of the state if it differs from the dtype of x.

    Returns:
        (state in the cell's structure, lengths as int32 or None).

    Raises:
        ValueError: the depth is unknown, or the lengths are not a vector.
        tf.errors.InvalidArgumentError: the number of lengths is not the batch size.
    """
    if x.shape[2] is None:
        raise ValueError("Input size must be accessible via shape inference")
    dtype = dtype or x.dtype
    cell.build(x.shape[2], dtype)
    cell.begin(x.shape[2], dtype)
    batch = x.shape[batch_axis] or tf.shape(x)[batch_axis]
    zeros = cell.zero_state(batch, dtype)
    if state is None:
        state = zeros
    state = tf.nest.pack_sequence_as(zeros, tf.nest.flatten(state))
    if lengths is not None:
        lengths = tf.cast(lengths, tf.int32)
        if lengths.shape.rank not in (1, None):
            raise ValueError("sequence_length must be a vector of length batch_size")
        lengths = tf.ensure_shape(lengths, [None])
        message = "Expected shape for lengths is [batch]"
        tf.debugging.assert_equal(tf.size(lengths), batch, message)
    return state, lengths


def advance(cell, x, state, t, lengths):
    """Takes a step; sequences that have ended output zeros and keep their state.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: [batch, depth] tensor, the inputs of the step.
        state: state of the cell.
        t: number of the step, an int or an int tensor.
        lengths: [batch] int32 tensor, or None.

    Returns:
        (output, new state).
    """
    output, new_state = cell(x, state)
    if lengths is None:
        return output, new_state
    ended = (t >= lengths)[:, tf.newaxis]
    output = tf.where(ended, tf.zeros_like(output), output)
    return output, tf.nest.map_structure(
        lambda old, new: tf.where(ended, old, new), state, new_state
    )
