"""Fused RNNs of `tf.contrib.rnn`: one call reads whole time-major sequences."""

import tensorflow as tf

from v2_eager.numerics.rnn.cells import LSTMStateTuple
from v2_eager.numerics.rnn.contrib_cells import LSTMBlockCell
from v2_eager.numerics.rnn.loops import of_rank_3, prepare, reverse, take_steps, unroll


class LSTMBlockFusedCell(tf.Module):
    """`tf.contrib.rnn.LSTMBlockFusedCell`: an LSTM and its loop, in any float dtype.

    Past the end of a sequence it continues to read, and multiplies the outputs by zero:
    a NaN past the end remains NaN.

    Args:
        num_units: size of c and h.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        cell_clip: largest magnitude of c; None, 0 and negative numbers mean no limit.
        use_peephole: whether the gates also read c.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        name="lstm_fused_cell",
        initializer=None,
    ):
        super().__init__()
        self.cell = LSTMBlockCell(
            num_units, forget_bias, cell_clip, use_peephole, name, initializer
        )

    def __call__(self, x, lengths=None, state=None):
        """Runs the LSTM over sequences.

        Args:
            x: [time, batch, depth] float tensor.
            lengths: [batch] int tensor, or None if all sequences have full length.
            state: initial state, a pair of [batch, num_units], or None for zeros.

        Returns:
            (outputs [time, batch, num_units], multiplied by zero past each sequence's
            end; (c, h) at each sequence's end).

        Raises:
            The errors of `unroll`.
        """
        if lengths is None:
            return unroll(self.cell, x, state=state, time_major=True)
        x = of_rank_3(x)
        state, lengths = prepare(self.cell, x, lengths, state)

        def step(x, state, t):
            _, state = self.cell(x, state)
            return tf.concat(state, 1), state

        size, longest = 2 * self.cell.num_units, tf.reduce_max(lengths)
        states, _ = take_steps(step, x, state, size, x.dtype, tf.maximum(1, longest))
        states = tf.where(longest > 0, states, tf.zeros_like(states))  # else no step
        c, h = tf.split(states, 2, 2)
        mask = tf.transpose(tf.sequence_mask(lengths, tf.shape(x)[0], x.dtype))
        h = h * mask[:, :, tf.newaxis]
        begun = tf.concat([tf.concat(state, 1)[tf.newaxis], tf.concat([c, h], 2)], 0)
        ends = tf.stack([lengths, tf.range(tf.size(lengths))], 1)
        return h, LSTMStateTuple(*tf.split(tf.gather_nd(begun, ends), 2, 1))


class TimeReversedFusedRNN(tf.Module):
    """`tf.contrib.rnn.TimeReversedFusedRNN`: reads each sequence from end to beginning.

    Args:
        cell: a fused cell, with the same call arguments as `LSTMBlockFusedCell`.
    """

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def __call__(self, x, lengths=None, state=None):
        """Runs the fused cell backwards; each output has the place of its input."""
        outputs, state = self.cell(reverse(x, lengths, 0), lengths, state)
        return reverse(outputs, lengths, 0), state
