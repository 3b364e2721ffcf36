"""Cells that wrap cells: `MultiRNNCell`, `ResidualWrapper`, `DropoutWrapper`."""

import hashlib

import tensorflow as tf

from v2_eager.numerics.rnn.cells import LSTMStateTuple, dropped


class MultiRNNCell(tf.Module):
    """`tf.nn.rnn_cell.MultiRNNCell`: stacked cells; the state is a tuple of states.

    In v1 the second cell's variables were called `…/multi_rnn_cell/cell_1/…`: give the
    cells such names.

    Args:
        cells: list of cells; the first cell reads the inputs.

    Raises:
        ValueError: the list is empty.
    """

    def __init__(self, cells):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        self.cells, self.output_size = list(cells), cells[-1].output_size

    def build(self, depth, dtype):
        for cell in self.cells:
            cell.build(depth, dtype)
            depth = cell.output_size

    def begin(self, depth, dtype):
        for cell in self.cells:
            cell.begin(depth, dtype)
            depth = cell.output_size

    def zero_state(self, batch, dtype):
        return tuple(cell.zero_state(batch, dtype) for cell in self.cells)

    def __call__(self, x, states):
        new_states = []
        for cell, state in zip(self.cells, states):
            x, state = cell(x, state)
            new_states.append(state)
        return x, tuple(new_states)


class ResidualWrapper(tf.Module):
    """`tf.nn.rnn_cell.ResidualWrapper`: adds a cell's inputs to its outputs.

    Args:
        cell: the cell; its outputs have the size of its inputs.
        residual_fn: function of (inputs, outputs) to use instead of the sum, or None.
    """

    def __init__(self, cell, residual_fn=None):
        super().__init__()
        self.cell, self.output_size = cell, cell.output_size
        self.residual_fn = residual_fn or tf.add
        self.build, self.begin = cell.build, cell.begin
        self.zero_state = cell.zero_state

    def __call__(self, x, state):
        output, state = self.cell(x, state)
        return self.residual_fn(x, output), state


class DropoutWrapper(tf.Module):
    """`tf.nn.rnn_cell.DropoutWrapper`: dropout on inputs, outputs and state (not on c).

    The c of an LSTM is not dropped.

    Args:
        cell: the cell.
        input_keep_prob, output_keep_prob, state_keep_prob: keep probabilities: numbers,
            or tensors or variables of the states' dtype, with which the dropout op runs
            also for 1. If a keep probability is an argument of your function, make the
            wrapper in the function, and the cell outside of the function.
        variational_recurrent: whether to drop the same units at all time steps and in
            all sequences of a run.
        input_size, dtype: arguments of v1, not used: the run knows them.
        seed: seed from which each dropout op gets its own op seed, used together with
            the global seed of `tf.random.set_seed`.

    Raises:
        ValueError: a keep probability is outside of [0, 1].
    """

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
    ):
        super().__init__()
        self.cell, self.output_size = cell, cell.output_size
        self.build, self.zero_state = cell.build, cell.zero_state
        keep = {
            "input": input_keep_prob,
            "output": output_keep_prob,
            "state": state_keep_prob,
        }
        for place, share in keep.items():
            known = tf.get_static_value(share)
            if known is None:
                continue
            if known < 0 or known > 1:
                raise ValueError(
                    f"Parameter {place}_keep_prob must be between 0 and 1: {share}"
                )
            keep[place] = float(known)
        self.share = keep.get  # a dict attribute would put variables in checkpoints
        self.seed, self.variational, self.noise = seed, variational_recurrent, {}

    def begin(self, depth, dtype):
        """Draws the masks of a run if `variational_recurrent`; else each step draws."""
        self.cell.begin(depth, dtype)
        if not self.variational:
            return
        states = tf.nest.flatten(self.cell.zero_state(1, dtype))
        sizes = {"input_0": depth, "output_0": self.output_size}
        sizes.update({f"state_{i}": state.shape[1] for i, state in enumerate(states)})
        self.noise = {
            place: tf.random.uniform([1, size], dtype=dtype, seed=self.seed_of(place))
            for place, size in sizes.items()
        }

    def seed_of(self, place):
        """Returns the op seed of the dropout at a place such as "state_1"."""
        if self.seed is None:
            return None
        digest = hashlib.md5(f"{self.seed}{place}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def dropped(self, x, kind, index=0):
        keep, place = self.share(kind), f"{kind}_{index}"
        if isinstance(keep, float) and keep == 1:
            return x
        if self.variational:
            return x / keep * tf.floor(keep + self.noise[place])
        return dropped(x, keep, self.seed_of(place))

    def __call__(self, x, state):
        output, state = self.cell(self.dropped(x, "input"), state)
        parts = [
            self.dropped(part, "state", i) if drops else part
            for i, (part, drops) in enumerate(
                zip(tf.nest.flatten(state), droppable(state))
            )
        ]
        state = tf.nest.pack_sequence_as(state, parts)
        return self.dropped(output, "output"), state


def droppable(state):
    """Returns which tensors of a state get dropout: all but the c of LSTMs.

    Args:
        state: tensor, `LSTMStateTuple`, or nested tuple of them.

    Returns:
        List of bools, in the order of `tf.nest.flatten`.
    """
    if isinstance(state, LSTMStateTuple):
        return [False, True]
    if isinstance(state, tuple):
        return [drops for part in state for drops in droppable(part)]
    return [True]
