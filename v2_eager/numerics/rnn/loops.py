"""The loops that run cells: in TensorFlow, in Python, and both ways at once."""

import tensorflow as tf


def unroll(cell, x, lengths=None, state=None, time_major=False, dtype=None):
    """What `tf.nn.dynamic_rnn` did: reads x by one loop, and holds what has ended.

    Args:
        cell: see the module.
        x: [batch, time, depth] tensor.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        state: where to begin, or None for zeros.
        time_major: whether time comes before the batch, in x and in the outputs.
        dtype: of the outputs and of the state, if it is not that of x.

    Returns:
        (outputs [batch, time, output_size], zero past the end; state of the end).

    Raises:
        ValueError: not three dimensions, an unknown depth, lengths that are no vector.
        tf.errors.InvalidArgumentError: not one length per sequence.
    """
    x = of_rank_3(x)
    if not time_major:
        x = tf.transpose(x, [1, 0, 2])
    dtype = dtype or x.dtype
    state, lengths = prepare(cell, x, lengths, state, dtype=dtype)
    end = None
    if lengths is not None:  # nothing is computed past the longest
        end = tf.maximum(1, tf.reduce_max(lengths))

    def step(x, state, t):
        return advance(cell, x, state, t, lengths)

    outputs, state = take_steps(step, x, state, cell.output_size, dtype, end)
    return outputs if time_major else tf.transpose(outputs, [1, 0, 2]), state


def take_steps(step, x, state, size, dtype, end=None):
    """The loop itself.

    Args:
        step: function of ([batch, depth], state, time) for ([batch, size], new state).
        x: [time, batch, depth] tensor.
        state: where to begin.
        size: of the outputs.
        dtype: of the outputs.
        end: how many steps to take, at most the time, or None for all.

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
        parallel_iterations=1,  # else a cell that draws may do so in any order
        maximum_iterations=x.shape[0],
    )
    return outputs.stack(), state


def unroll_in_python(cell, x, lengths=None, state=None):
    """What `tf.nn.static_rnn` did: as `unroll`, but a list of outputs, and no loop.

    Args:
        cell: see the module.
        x: [batch, time, depth] tensor of known time.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        state: where to begin, or None for zeros.

    Returns:
        (list of outputs, each [batch, output_size]; state of the end).

    Raises:
        ValueError: as of `unroll`, or an unknown time.
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
    """What `tf.nn.bidirectional_dynamic_rnn` did.

    Args:
        forward: the cell that reads from the beginning.
        backward: the cell that reads every sequence from its own end.
        x: [batch, time, depth] float tensor.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        states: where the two begin, or None for zeros.

    Returns:
        ((outputs of both), (last states of both)).

    Raises:
        As `unroll`.
    """
    x = of_rank_3(x)
    outputs, state = unroll(forward, x, lengths, states[0])
    read_back = reverse(x, lengths)
    others, other_state = unroll(backward, read_back, lengths, states[1])
    return (outputs, reverse(others, lengths)), (state, other_state)


def reverse(x, lengths, time_axis=1):
    """Reverses what has been read, and not the zeros behind it.

    Args:
        x: [batch, time, …] tensor, or [time, batch, …].
        lengths: [batch] int tensor, or None to reverse all.
        time_axis: 1 or 0.

    Returns:
        Tensor like x.
    """
    if lengths is None:
        return tf.reverse(x, [time_axis])
    return tf.reverse_sequence(x, lengths, time_axis, batch_axis=1 - time_axis)


def unroll_both_ways_in_python(forward, backward, x, lengths=None, states=(None, None)):
    """What `tf.nn.static_bidirectional_rnn` did: as `unroll_both_ways`, without a loop.

    Args:
        forward: the cell that reads from the beginning.
        backward: the cell that reads every sequence from its own end.
        x: [batch, time, depth] float tensor of known time.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        states: where the two begin, or None for zeros.

    Returns:
        (list of outputs, each [batch, the sizes of both]; last state of each way).
    """
    x = of_rank_3(x)
    outputs, state = unroll_in_python(forward, x, lengths, states[0])
    read_back = reverse(x, lengths)
    others, other_state = unroll_in_python(backward, read_back, lengths, states[1])
    others = tf.unstack(reverse(tf.stack(others, 1), lengths), axis=1)
    both = [tf.concat(pair, 1) for pair in zip(outputs, others)]
    return both, state, other_state


def unroll_stack_both_ways(forward, backward, x, lengths=None, states=None):
    """What `tf.contrib.rnn.stack_bidirectional_dynamic_rnn` did.

    Args:
        forward: list of cells, one for each layer.
        backward: list of as many cells.
        x: [batch, time, depth] float tensor.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        states: where the layers begin: list of pairs, or None for zeros.

    Returns:
        (outputs of the last layer, [batch, time, the sizes of both]; tuple of the last
        states of the layers forward; the same backward). A layer reads both ways of
        the one below. Name the cells `…/cell_1/bidirectional_rnn/fw/…`, as v1 did.

    Raises:
        ValueError: no cells, or not as many; as `unroll`.
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
    """x as a tensor, which must have three dimensions.

    Args:
        x: tensor, or what can be made one.

    Raises:
        ValueError: another rank.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {x.shape.rank}")
    return x


def prepare(cell, x, lengths, state, batch_axis=1, dtype=None):
    """Makes the variables and what a loop begins with; complains as v1 did.

    Args:
        cell: see the module.
        x: tensor of three dimensions, the last of known size.
        lengths: [batch] ints, or None.
        state: nested structure of tensors, or None for zeros.
        batch_axis: 0 or 1, the axis of the batch in x.
        dtype: of the state, if it is not that of x.

    Returns:
        (state in the structure of the cell, lengths as int32 or None).

    Raises:
        ValueError: an unknown depth, or lengths that are no vector.
        tf.errors.InvalidArgumentError: not one length per sequence.
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
    """A step of the sequences that go on; the others output zeros and keep their state.

    Args:
        cell: see the module.
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
