"""Cells of `tf.contrib.rnn` whose recurrence is not a full matrix: ConvLSTM, SRU, ….

    cell = ConvLSTMCell(16, [3, 3], name="rnn/conv_2d_lstm_cell")
    outputs, state = unroll_maps(cell, films, lengths)

A unit reads the state of neighbouring pixels (ConvLSTM), of its group (GLSTM), or of
itself (IndRNN, IndyGRU, IndyLSTM); the gates of SRU read no state. For the methods of
a cell, and for `unroll`, which runs cells of vectors, see `rnn`.
"""

import math

import tensorflow as tf

from v2_eager.numerics.rnn.cells import (
    BasicLSTMCell,
    Cell,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
)

__all__ = [
    "ConvLSTMCell",
    "unroll_maps",
    "GLSTMCell",
    "SRUCell",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "PhasedLSTMCell",
]


class ConvLSTMCell(Cell):
    """`tf.contrib.rnn.ConvLSTMCell`: an LSTM with convolutions; Shi et al., 2015.

    The convolutions have one to three spatial dimensions. The kernel has the gates in
    the order i, j, f, o; Keras' `ConvLSTM2D` has the order i, f, j, o.

    Args:
        output_channels: number of channels of c and h.
        kernel_shape: list of the kernel's sizes, one per spatial dimension.
        use_bias: whether to add a bias.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        name: prefix of the names of the variables.
        initializer: see `Cell`.
    """

    def __init__(
        self,
        output_channels,
        kernel_shape,
        use_bias=True,
        forget_bias=1.0,
        name="conv_lstm_cell",
        initializer=None,
    ):
        super().__init__(output_channels, name, initializer)
        self.kernel_shape, self.use_bias = list(kernel_shape), use_bias
        self.forget_bias = forget_bias

    def make_variables(self, depth, dtype):
        gates = 4 * self.num_units
        shape = [*self.kernel_shape, depth + self.num_units, gates]
        self.kernel = self.variable("kernel", shape, dtype)
        if self.use_bias:
            self.bias = self.variable("biases", [gates], dtype, tf.zeros)

    def __call__(self, x, state):
        c, h = state
        gates = tf.nn.convolution(tf.concat([x, h], -1), self.kernel, padding="SAME")
        if self.use_bias:
            gates += self.bias
        i, j, f, o = tf.split(gates, 4, -1)
        c = tf.sigmoid(f + self.forget_bias) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


def unroll_maps(cell, x, lengths=None, state=None):
    """Runs a `ConvLSTMCell` over sequences, as `tf.nn.dynamic_rnn` did.

    Args:
        cell: `ConvLSTMCell`.
        x: [batch, time, ..., depth] float tensor.
        lengths: [batch] int tensor, or None if all sequences have full length.
        state: initial state, a pair (c, h), or None for zeros.

    Returns:
        (outputs [batch, time, ..., output_channels], zero past each sequence's end;
        the state (c, h) at each sequence's end).

    Raises:
        tf.errors.InvalidArgumentError: the number of lengths is not the batch size.
    """
    x = tf.convert_to_tensor(x)
    cell.build(x.shape[-1], x.dtype)
    space = tf.unstack(tf.shape(x[:, 0, ..., 0]))
    zeros = tf.zeros([*space, cell.num_units], x.dtype)
    if lengths is not None:
        lengths = tf.cast(lengths, tf.int32)
        message = "Expected shape for lengths is [batch]"
        tf.debugging.assert_equal(tf.shape(lengths), space[:1], message)
    times = tf.range(tf.shape(x)[1])

    def step(state, inputs):
        frames, t = inputs
        _, new = cell(frames, state)
        return new if lengths is None else hold(t >= lengths, state, new)

    start = LSTMStateTuple(*((zeros, zeros) if state is None else state))
    states = tf.scan(step, (swap_time(x), times), start)
    outputs = states.h
    if lengths is not None:
        outputs = hold(times[:, tf.newaxis] >= lengths, tf.zeros_like(outputs), outputs)
    return swap_time(outputs), LSTMStateTuple(states.c[-1], states.h[-1])


def swap_time(x):
    """Swaps the first two axes.

    Args:
        x: [batch, time, ...] or [time, batch, ...] tensor of known rank.
    """
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])


def hold(ended, old, new):
    """Selects the old values where a sequence has ended, and the new values elsewhere.

    Args:
        ended: bool tensor; its axes are the first axes of `old` and `new`.
        old: nested structure of tensors.
        new: nested structure of tensors of the same shapes.

    Returns:
        Nested structure like `new`.
    """

    def chosen(old, new):
        more = [1] * (new.shape.rank - ended.shape.rank)
        shape = tf.concat([tf.shape(ended), tf.constant(more, tf.int32)], 0)
        return tf.where(tf.reshape(ended, shape), old, new)

    return tf.nest.map_structure(chosen, old, new)


class GLSTMCell(LSTMCell):
    """`tf.contrib.rnn.GLSTMCell`: an LSTM of independent groups (arXiv:1703.10722).

    Args:
        num_units: size of c, of all groups together.
        initializer: initializer of the kernels.
        num_proj: size of h if it differs from `num_units`.
        number_of_groups: number of groups; a group does not read the inputs or the
            state of another group.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        name: prefix of the names of the variables.

    Raises:
        ValueError: the number of groups does not divide `num_units`, `num_proj` or, in
            `build`, the depth.
    """

    def __init__(
        self,
        num_units,
        initializer=None,
        num_proj=None,
        number_of_groups=1,
        forget_bias=1.0,
        name="glstm_cell",
    ):
        for what, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size and size % number_of_groups:
                raise ValueError(f"{what} must be divisible by number_of_groups")
        options = {"forget_bias": forget_bias, "name": name, "initializer": initializer}
        super().__init__(num_units, num_proj=num_proj, **options)
        self.groups = number_of_groups

    def make_variables(self, depth, dtype):
        n = self.groups
        if depth % n:
            raise ValueError(
                f"input size ({depth}) must be divisible by number_of_groups ({n})"
            )
        shape = [(depth + self.output_size) // n, 4 * self.num_units // n]
        self.kernel = [
            self.variable(f"group{i}/kernel", shape, dtype) for i in range(n)
        ]
        self.bias = [
            self.variable(f"bias_{gate}", [self.num_units], dtype, tf.zeros)
            for gate in "ijfo"
        ]
        if self.num_proj:
            shape = [self.num_units, self.num_proj]
            self.projection = self.variable("projection/kernel", shape, dtype)

    def __call__(self, x, state):
        c, h = state
        parts = [
            tf.split(tf.matmul(tf.concat([a, b], 1), kernel), 4, 1)
            for a, b, kernel in zip(
                tf.split(x, self.groups, 1), tf.split(h, self.groups, 1), self.kernel
            )
        ]
        i, j, f, o = [
            tf.nn.bias_add(tf.concat(gate, 1), bias)
            for gate, bias in zip(zip(*parts), self.bias)
        ]
        c = tf.sigmoid(f + self.forget_bias) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
        if self.num_proj:
            h = tf.matmul(h, self.projection)
        return h, LSTMStateTuple(c, h)


class SRUCell(Cell):
    """`tf.contrib.rnn.SRUCell`: gates that read only the input (arXiv:1709.02755).

        h = f h + (1 - f) W x
        output = r tanh(h) + (1 - r) V x

    where f and r are sigmoid layers of x. The output is not the state.

    Args:
        num_units: size of the state.
        name: prefix of the names of the variables.
        initializer: see `Cell`.
    """

    def __init__(self, num_units, name="sru_cell", initializer=None):
        super().__init__(num_units, name, initializer)

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel", [depth, 4 * n], dtype)
        self.bias = self.variable("bias", [2 * n], dtype, tf.zeros)

    def __call__(self, x, state):
        new, forget, reset, skipped = tf.split(tf.matmul(x, self.kernel), 4, 1)
        gates = tf.nn.bias_add(tf.concat([forget, reset], 1), self.bias)
        forget, reset = tf.split(tf.sigmoid(gates), 2, 1)
        state = forget * state + (1 - forget) * new
        return reset * tf.tanh(state) + (1 - reset) * skipped, state


def own_weights(shape, dtype):
    """Draws the initial recurrent weights of single units, uniform in (-1, 1).

    Args:
        shape: list of ints.
        dtype: float dtype.
    """
    return tf.random.uniform(shape, -1, 1, dtype)


class IndRNNCell(Cell):
    """`tf.contrib.rnn.IndRNNCell`: each unit reads only its own state.

        h = activation(W x + u * h + b), see arXiv:1803.04831.

    Args:
        num_units: size of the state.
        activation: activation function.
        name: prefix of the names of the variables.
        initializer: initializer of W; see `Cell`.
    """

    def __init__(
        self, num_units, activation=tf.tanh, name="ind_rnn_cell", initializer=None
    ):
        super().__init__(num_units, name, initializer)
        self.activation = activation

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel_w", [depth, n], dtype)
        self.own = self.variable("kernel_u", [1, n], dtype, own_weights)
        self.bias = self.variable("bias", [n], dtype, tf.zeros)

    def __call__(self, x, state):
        new = tf.matmul(x, self.kernel) + state * self.own
        state = self.activation(tf.nn.bias_add(new, self.bias))
        return state, state


class IndyGRUCell(GRUCell):
    """`tf.contrib.rnn.IndyGRUCell`: a GRU in which each unit reads only its own state.

    Args:
        num_units: size of the state.
        activation: activation function of the candidate.
        name: prefix of the names of the variables.
        initializer: initializer of the input kernels; see `Cell`.
    """

    def __init__(
        self, num_units, activation=tf.tanh, name="indy_gru_cell", initializer=None
    ):
        super().__init__(num_units, activation, initializer, name=name)

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("gates/kernel_w", [depth, 2 * n], dtype)
        self.own = self.variable("gates/kernel_u", [1, 2 * n], dtype, own_weights)
        self.bias = self.variable("gates/bias", [2 * n], dtype, tf.ones)
        self.candidate = [
            self.variable("candidate/kernel", [depth, n], dtype),
            self.variable("candidate/kernel_u", [1, n], dtype, own_weights),
            self.variable("candidate/bias", [n], dtype, tf.zeros),
        ]

    def __call__(self, x, state):
        gates = tf.matmul(x, self.kernel) + tf.tile(state, [1, 2]) * self.own
        gates = tf.sigmoid(tf.nn.bias_add(gates, self.bias))
        reset, update = tf.split(gates, 2, 1)
        kernel, own, bias = self.candidate
        new = tf.nn.bias_add(tf.matmul(x, kernel) + reset * state * own, bias)
        state = update * state + (1 - update) * self.activation(new)
        return state, state


class IndyLSTMCell(BasicLSTMCell):
    """`tf.contrib.rnn.IndyLSTMCell`: an LSTM in which each unit reads only its own h.

    Args:
        num_units: size of c and h.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        activation: activation function of the new input and of c.
        name: prefix of the names of the variables.
        initializer: initializer of the input kernel; see `Cell`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        activation=tf.tanh,
        name="indy_lstm_cell",
        initializer=None,
    ):
        super().__init__(num_units, forget_bias, activation, name, initializer)

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel_w", [depth, 4 * n], dtype)
        self.own = self.variable("kernel_u", [1, 4 * n], dtype, own_weights)
        self.bias = self.variable("bias", [4 * n], dtype, tf.zeros)

    def __call__(self, x, state):
        c, h = state
        gates = tf.matmul(x, self.kernel) + tf.tile(h, [1, 4]) * self.own
        i, j, f, o = tf.split(tf.nn.bias_add(gates, self.bias), 4, 1)
        c = c * tf.sigmoid(f + self.forget_bias) + tf.sigmoid(i) * self.activation(j)
        h = self.activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class PhasedLSTMCell(Cell):
    """`tf.contrib.rnn.PhasedLSTMCell`: each unit updates in a part of its own period.

    See arXiv:1610.09513. A call takes (time [batch, 1], x [batch, depth]). It computes
    in float32; the time may be float64.

    Args:
        num_units: size of c and h.
        use_peepholes: whether the gates also read c.
        leak: rate at which updates pass while the unit is closed.
        ratio_on: initial share of the period in which a unit is open.
        trainable_ratio_on: whether this share is trained.
        period_init_min: lower bound of the initial periods.
        period_init_max: upper bound of the initial periods.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        leak=0.001,
        ratio_on=0.1,
        trainable_ratio_on=True,
        period_init_min=1.0,
        period_init_max=1000.0,
        name="phased_lstm_cell",
        initializer=None,
    ):
        super().__init__(num_units, name, initializer)
        self.use_peepholes, self.leak = use_peepholes, leak
        self.first_ratio, self.trainable_ratio = ratio_on, trainable_ratio_on
        self.period_range = math.log(period_init_min), math.log(period_init_max)

    def make_variables(self, depth, dtype):
        n = self.num_units
        seen = depth + n + (n if self.use_peepholes else 0)
        self.kernel, self.new, self.output = [
            (
                self.variable(f"{gate}/kernel", [size, units], dtype),
                self.variable(f"{gate}/bias", [units], dtype, tf.zeros),
            )
            for gate, size, units in (
                ("mask_gates", seen, 2 * n),
                ("new_input", depth + n, n),
                ("output_gate", seen, n),
            )
        ]
        low, high = self.period_range
        period = tf.exp(tf.random.uniform([n], low, high, dtype))
        phase = tf.random.uniform([n], 0, 1, dtype) * period
        self.period, self.phase = [
            self.variable(part, [n], dtype, lambda *_, x=x: x)
            for part, x in (("period", period), ("phase", phase))
        ]
        self.ratio_on = tf.Variable(
            tf.fill([n], tf.cast(self.first_ratio, dtype)),
            trainable=self.trainable_ratio,
            name=f"{self.path}/ratio_on",
        )

    def zero_state(self, batch, dtype):
        return LSTMStateTuple(*[super().zero_state(batch, dtype)] * 2)

    def openness(self, time):
        """Computes how open each unit is, [batch, units], at a [batch, 1] time."""
        period = tf.cast(self.period, time.dtype)
        since = time - tf.cast(self.phase, time.dtype)
        # The remainder with the gradient of `since`: no gradient to the period here.
        since += tf.stop_gradient(tf.math.floormod(since, period) - since)
        share = tf.cast(since / period, tf.float32)
        rise = 2 * share / self.ratio_on
        k = tf.where(share < self.ratio_on, 2 - rise, self.leak * share)
        return tf.where(share < 0.5 * self.ratio_on, rise, k)

    def __call__(self, inputs, state):
        (time, x), (c, h) = inputs, state
        seen = [x, h, c] if self.use_peepholes else [x, h]
        i, f = tf.split(tf.sigmoid(affine(seen, *self.kernel)), 2, 1)
        new_c = c * f + i * tf.tanh(affine([x, h], *self.new))
        seen = [x, h, new_c] if self.use_peepholes else [x, h]
        new_h = tf.tanh(new_c) * tf.sigmoid(affine(seen, *self.output))
        k = self.openness(time)
        c, h = k * new_c + (1 - k) * c, k * new_h + (1 - k) * h
        return h, LSTMStateTuple(c, h)


def affine(parts, kernel, bias):
    """Applies a linear layer with a bias to several concatenated inputs.

    Args:
        parts: list of [batch, …] tensors, which are concatenated.
        kernel: [sum of their sizes, units] tensor.
        bias: [units] tensor.

    Returns:
        [batch, units] tensor.
    """
    return tf.nn.bias_add(tf.matmul(tf.concat(parts, 1), kernel), bias)
