"""The loops that run cells: in TensorFlow, in Python, and both ways at once."""

import tensorflow as tf


def unroll(cell, x, lengths=None, state=None, time_major=False):
    """What `tf.nn.dynamic_rnn` did: reads x by one loop, and holds what has ended.

    Args:
        cell: see the module.
        x: [batch, time, depth] float tensor.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        state: where to begin, or None for zeros.
        time_major: whether time comes before the batch, in x and in the outputs.

    Returns:
        (outputs [batch, time, output_size], zero past the end; state of the end).

    Raises:
        ValueError: not three dimensions, an unknown depth, lengths that are no vector.
        tf.errors.InvalidArgumentError: not one length per sequence.
    """
    if not time_major:
        check_rank(x)
        x = tf.transpose(x, [1, 0, 2])
    state, lengths = prepare(cell, x, lengths, state)
    time = x.shape[0] or tf.shape(x)[0]
    end = time
    if lengths is not None:  # nothing is computed past the longest
        end = tf.minimum(time, tf.maximum(1, tf.reduce_max(lengths)))
    inputs = tf.TensorArray(x.dtype, time, element_shape=x.shape[1:]).unstack(x)
    outputs = tf.TensorArray(
        x.dtype, time, element_shape=[x.shape[1], cell.output_size]
    )

    def step(t, state, outputs):
        output, state = advance(cell, inputs.read(t), state, t, lengths)
        return t + 1, state, outputs.write(t, output)

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < end,
        step,
        (tf.constant(0), state, outputs),
        parallel_iterations=1,  # else a cell that draws may do so in any order
        maximum_iterations=x.shape[0],
    )
    outputs = outputs.stack()
    return outputs if time_major else tf.transpose(outputs, [1, 0, 2]), state


def unroll_in_python(cell, x, lengths=None, state=None):
    """What `tf.nn.static_rnn` did: as `unroll`, but a list of outputs, and no loop."""
    check_rank(x)
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

    def reverse(x):  # what has been read, and not the zeros behind it
        if lengths is None:
            return tf.reverse(x, [1])
        return tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)

    check_rank(x)
    outputs, state = unroll(forward, x, lengths, states[0])
    reversed_outputs, reversed_state = unroll(backward, reverse(x), lengths, states[1])
    return (outputs, reverse(reversed_outputs)), (state, reversed_state)


def check_rank(x):
    if x.shape.rank != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {x.shape.rank}")


def prepare(cell, x, lengths, state, batch_axis=1):
    """Makes the variables and what a loop begins with; complains as v1 did."""
    check_rank(x)
    if x.shape[2] is None:
        raise ValueError("Input size must be accessible via shape inference")
    cell.build(x.shape[2], x.dtype)
    cell.begin(x.shape[2], x.dtype)
    batch = x.shape[batch_axis] or tf.shape(x)[batch_axis]
    zeros = cell.zero_state(batch, x.dtype)
    if state is None:
        state = zeros
    state = tf.nest.pack_sequence_as(zeros, tf.nest.flatten(state))
    if lengths is not None:
        lengths = tf.cast(lengths, tf.int32)
        if lengths.shape.rank != 1:
            raise ValueError("sequence_length must be a vector of length batch_size")
        message = "Expected shape for lengths is [batch]"
        tf.debugging.assert_equal(tf.size(lengths), batch, message)
    return state, lengths


def advance(cell, x, state, t, lengths):
    """A step of those that go on: the others put out zeros and keep their state."""
    output, new_state = cell(x, state)
    if lengths is None:
        return output, new_state
    ended = (t >= lengths)[:, tf.newaxis]
    output = tf.where(ended, tf.zeros_like(output), output)
    return output, tf.nest.map_structure(
        lambda old, new: tf.where(ended, old, new), state, new_state
    )
