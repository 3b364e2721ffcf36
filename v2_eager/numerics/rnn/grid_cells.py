"""`TimeFreqLSTMCell` and `GridLSTMCell` of `tf.contrib.rnn`: LSTMs over bands."""

import collections

import tensorflow as tf

from v2_eager.numerics.rnn.cells import Cell, LSTMCell, affine

GridHalf = collections.namedtuple("GridHalf", ["kernel", "bias", "peepholes"])


def banded(x, size, skip):
    """Cuts a spectrum [batch, depth] into bands, a list of [batch, size].

    Args:
        x: [batch, depth] tensor of known depth.
        size: size of a band.
        skip: distance from one band's beginning to the next.
    """
    starts = range(0, x.shape[1] - size + 1, skip)
    return [x[:, start : start + size] for start in starts]


class TimeFreqLSTMCell(LSTMCell):
    """`tf.contrib.rnn.TimeFreqLSTMCell`: one LSTM reads the frequency bands in turn.

    Sainath and Li, 2016. A band reads its own state, and the output of the previous
    band at the same time. The state is [batch, 2 * num_units * bands], c and h of each
    band. v1's `zero_state` was for one band, so that `dynamic_rnn` could not run
    several bands.

    Args:
        num_units: size of c and h of a band.
        use_peepholes: whether the gates also read c.
        cell_clip: largest magnitude of c, or None.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        feature_size: size of a band.
        frequency_skip: distance from one band's beginning to the next.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=1,
        name="time_freq_lstm_cell",
        initializer=None,
    ):
        options = {"forget_bias": forget_bias, "name": name, "initializer": initializer}
        super().__init__(num_units, use_peepholes, cell_clip, **options)
        self.feature_size, self.frequency_skip = feature_size, frequency_skip

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.bands = (depth - self.feature_size) // self.frequency_skip + 1
        self.output_size = n * self.bands
        self.kernel = self.variable("W_0", [self.feature_size + 2 * n, 4 * n], dtype)
        self.bias = self.variable("B", [4 * n], dtype, tf.zeros)
        if self.use_peepholes:
            self.w_f, self.w_i, self.w_o = [
                self.variable(f"W_{gate}_diag", [n], dtype) for gate in "FIO"
            ]

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, 2 * self.output_size], dtype)

    def __call__(self, x, state):
        states = tf.split(state, 2 * self.bands, 1)
        below, outputs, ended = tf.zeros_like(states[0]), [], []
        bands = banded(x, self.feature_size, self.frequency_skip)
        for band, c, h in zip(bands, states[::2], states[1::2]):
            seen = tf.concat([band, h, below], 1)
            i, j, f, o = tf.split(affine(seen, self.kernel, self.bias), 4, 1)
            f = f + self.forget_bias
            if self.use_peepholes:
                f, i = f + self.w_f * c, i + self.w_i * c
            c = self.clipped(tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j))
            if self.use_peepholes:
                o = o + self.w_o * c
            below = tf.sigmoid(o) * tf.tanh(c)
            outputs.append(below)
            ended += [c, below]
        return tf.concat(outputs, 1), tf.concat(ended, 1)


class GridLSTMCell(Cell):
    """`tf.contrib.rnn.GridLSTMCell`: one LSTM over time and one over frequency bands.

    arXiv:1507.01526. The outputs of a band are the h of both LSTMs. The state contains
    c and h of the time LSTM for each band. The frequency LSTM begins at zero again at
    each time step.

    Args:
        num_units: size of c and h.
        use_peepholes: whether the gates also read the c of both LSTMs.
        share_time_frequency_weights: whether both LSTMs have the same weights.
        cell_clip: largest magnitude of c, or None.
        forget_bias: added to the bias of the forget gates; not saved in checkpoints.
        feature_size: size of a band.
        frequency_skip: distance from one band's beginning to the next.
        num_frequency_blocks: list of the number of bands of each block.
        start_freqindex_list: list of the blocks' first indices, or None for one block;
            each block has its own weights.
        end_freqindex_list: list of the blocks' ends.
        couple_input_forget_gates: whether a forget gate is 1 - input gate.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.

    Raises:
        ValueError: `num_frequency_blocks` is missing, or in `build` it does not match
            the sizes.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        share_time_frequency_weights=False,
        cell_clip=None,
        forget_bias=1.0,
        feature_size=None,
        frequency_skip=None,
        num_frequency_blocks=None,
        start_freqindex_list=None,
        end_freqindex_list=None,
        couple_input_forget_gates=False,
        name="grid_lstm_cell",
        initializer=None,
    ):
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        super().__init__(num_units, name, initializer)
        self.use_peepholes, self.shared = use_peepholes, share_time_frequency_weights
        self.cell_clip, self.forget_bias = cell_clip, forget_bias
        self.feature_size, self.frequency_skip = feature_size, frequency_skip
        self.counts = tuple(num_frequency_blocks)
        self.coupled = couple_input_forget_gates
        self.ranges = list(zip(start_freqindex_list or (), end_freqindex_list or ()))
        self.output_size = 2 * num_units * sum(num_frequency_blocks)

    def make_variables(self, depth, dtype):
        self.ranges = self.ranges or [(0, depth)]
        fit = tuple(
            (end - start - self.feature_size) // self.frequency_skip + 1
            for start, end in self.ranges
        )
        if fit != self.counts:
            raise ValueError(
                f"Invalid num_frequency_blocks, requires {fit} but gets {self.counts}"
            )
        self.blocks = []
        for block in range(len(fit)):
            over_bands = self.half("f", block, dtype)
            over_time = over_bands if self.shared else self.half("t", block, dtype)
            self.blocks.append((over_bands, over_time))
        self.kernel = self.blocks[0][0].kernel

    def half(self, axis, block, dtype):
        """Makes the weights of the LSTM over one axis, "f" (bands) or "t" (time)."""
        n, gates, peepholes = self.num_units, "ijo" if self.coupled else "ijfo", {}
        shape = [self.feature_size + 2 * n, len(gates) * n]
        kernel = self.variable(f"W_{axis}_{block}_0", shape, dtype)
        bias = self.variable(f"B_{axis}_{block}", shape[1:], dtype, tf.zeros)
        if self.use_peepholes:
            of = {"f": "freq", "t": "time"}[axis]
            for gate in gates.replace("j", ""):
                names = [f"W_{gate.upper()}_diag_{of}{c}_{block}" for c in "ft"]
                peepholes[gate] = [self.variable(name, [n], dtype) for name in names]
        return GridHalf(kernel, bias, peepholes)

    def zero_state(self, batch, dtype):
        state = super().zero_state(batch, dtype)
        return (state,) * (2 * sum(self.counts))

    def gates(self, half, seen):
        names = "ijo" if self.coupled else "ijfo"
        parts = tf.split(affine(seen, half.kernel, half.bias), len(names), 1)
        return dict(zip(names, parts))

    def opened(self, half, gates, gate, both):
        """Computes a gate's opening; with peepholes it reads the c of both LSTMs."""
        x = gates[gate]
        if gate == "f":
            x = x + self.forget_bias
        if half.peepholes:
            over_bands, over_time = half.peepholes[gate]
            x = x + over_bands * both[0] + over_time * both[1]
        return tf.sigmoid(x)

    def remembered(self, half, gates, c, both):
        i = self.opened(half, gates, "i", both)
        f = 1 - i if self.coupled else self.opened(half, gates, "f", both)
        c = f * c + i * tf.tanh(gates["j"])
        if self.cell_clip is None:
            return c
        return tf.clip_by_value(c, -self.cell_clip, self.cell_clip)

    def __call__(self, x, state):
        outputs, ended, states = [], [], iter(state)
        for (start, end), halves in zip(self.ranges, self.blocks):
            h_freq = c_freq = tf.zeros_like(state[0])
            bands = banded(x[:, start:end], self.feature_size, self.frequency_skip)
            for band in bands:
                c_time, h_time = next(states), next(states)
                seen = tf.concat([band, h_time, h_freq], 1)
                gates = [self.gates(half, seen) for half in halves[: 2 - self.shared]]
                pairs, before = list(zip(halves, gates * 2)), (c_freq, c_time)
                both = [
                    self.remembered(*pair, c, before) for pair, c in zip(pairs, before)
                ]
                h_freq, h_time = [
                    self.opened(*pair, "o", both) * tf.tanh(c)
                    for pair, c in zip(pairs, both)
                ]
                c_freq, c_time = both
                outputs += [h_time, h_freq]
                ended += [c_time, h_time]
        return tf.concat(outputs, 1), tuple(ended)
