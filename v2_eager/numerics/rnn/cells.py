"""RNN cells: `BasicRNNCell`, `BasicLSTMCell`, `LSTMCell`, `GRUCell`."""

import collections

import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


class Cell(tf.Module):
    """The base class of RNN cells: the state size, and variables with v1's names.

    A call takes x, [batch, depth], and a state, and returns the output, [batch,
    output_size], and the new state. A subclass defines `make_variables(depth, dtype)`
    and `__call__`.

    Args:
        num_units: size of the state.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels, a function of shape and dtype; None for
            v1's default, `glorot_uniform`.
    """

    def __init__(self, num_units, name, initializer=None):
        super().__init__()
        self.num_units = self.output_size = num_units
        self.path, self.initializer = name, initializer or glorot_uniform()
        self.kernel = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.kernel is not None

    def build(self, depth, dtype):
        """Makes the variables once, for inputs of this depth."""
        if not self.built:
            with tf.name_scope(""):  # an outer scope does not change the names
                self.make_variables(depth, dtype)

    def begin(self, depth, dtype):
        """Prepares a run; loops call it before the first step."""
        del depth, dtype  # AutoGraph warns about a function without a statement

    def variable(self, name, shape, dtype, initializer=None):
        initializer = initializer or self.initializer
        path = f"{self.path}/{name}"
        return tf.Variable(lambda: initializer(shape, dtype), name=path)

    def zero_state(self, batch, dtype):
        """Makes the initial state, zeros."""
        return tf.zeros([batch, self.num_units], dtype)


def affine(x, kernel, bias):
    """Computes x @ kernel + bias.

    Args:
        x: [batch, depth] tensor.
        kernel: [depth, units] tensor.
        bias: [units] tensor.

    Returns:
        [batch, units] tensor.
    """
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def product(x, state, kernel, bias):
    """Computes [x, state] @ kernel + bias with one product, as v1 stored the kernels.

    Args:
        x: [batch, depth] tensor.
        state: [batch, size] tensor.
        kernel: [depth + size, units] tensor.
        bias: [units] tensor.

    Returns:
        [batch, units] tensor.
    """
    return affine(tf.concat([x, state], 1), kernel, bias)


def dropped(x, keep, seed):
    """Applies dropout as v1's `tf.nn.dropout(x, keep)`, with signed zeros.

    Args:
        x: float tensor.
        keep: probability to keep an element, a number or a scalar tensor.
        seed: op seed, used together with the global seed of `tf.random.set_seed`.

    Returns:
        Tensor of the shape and dtype of x.
    """
    return x * tf.nn.dropout(tf.ones_like(x), 1 - keep, seed=seed)


class BasicRNNCell(Cell):
    """`tf.nn.rnn_cell.BasicRNNCell`: activation(W [x, state] + b).

    Args:
        num_units: size of the state; the output is the state.
        activation: activation function.
        name: scope of the variables `kernel` and `bias`.
        initializer: initializer of the kernel; see `Cell`.
    """

    def __init__(
        self, num_units, activation=tf.tanh, name="basic_rnn_cell", initializer=None
    ):
        super().__init__(num_units, name, initializer)
        self.activation = activation

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel", [depth + n, n], dtype)
        self.bias = self.variable("bias", [n], dtype, tf.zeros)

    def __call__(self, x, state):
        output = self.activation(product(x, state, self.kernel, self.bias))
        return output, output


class BasicLSTMCell(Cell):
    """`tf.nn.rnn_cell.BasicLSTMCell`: an LSTM, with gates in the order i, j, f, o.

        c = c * sigmoid(f + forget_bias) + sigmoid(i) * activation(j)
        h = activation(c) * sigmoid(o)

    The state is an `LSTMStateTuple` (c, h); the output is h.

    Args:
        num_units: size of c and h.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        activation: activation function of j and of c.
        name: scope of the variables `kernel`, [depth + num_units, 4 * num_units], and
            `bias`.
        initializer: initializer of the kernel; see `Cell`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        activation=tf.tanh,
        name="basic_lstm_cell",
        initializer=None,
    ):
        super().__init__(num_units, name, initializer)
        self.forget_bias, self.activation = forget_bias, activation

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel", [depth + self.output_size, 4 * n], dtype)
        self.bias = self.variable("bias", [4 * n], dtype, tf.zeros)

    def zero_state(self, batch, dtype):
        sizes = self.num_units, self.output_size
        return LSTMStateTuple(*[tf.zeros([batch, size], dtype) for size in sizes])

    def __call__(self, x, state):
        c, h = state
        # Input gate, new input, forget gate, output gate.
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        kept = c * tf.sigmoid(f + self.forget_bias)
        c = kept + tf.sigmoid(i) * self.activation(j)
        h = self.activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class LSTMCell(BasicLSTMCell):
    """`tf.nn.rnn_cell.LSTMCell`: an LSTM with optional peepholes, projection, clipping.

    `keras.layers.LSTMCell` has neither peepholes nor a projection, has another order of
    the gates, and has two kernels.

    Args:
        num_units: size of c.
        use_peepholes: whether the gates also read c.
        cell_clip: largest magnitude of c, or None.
        initializer: initializer of the kernels and the peepholes; see `Cell`.
        num_proj: size of h and of the outputs if it differs from `num_units`.
        proj_clip: largest magnitude of the projected h, or None.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        activation: activation function of the new input and of c.
        name: scope of the variables `kernel`, `bias`, `w_f_diag`, `w_i_diag`,
            `w_o_diag` and `projection/kernel`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1.0,
        activation=tf.tanh,
        name="lstm_cell",
    ):
        super().__init__(num_units, forget_bias, activation, name, initializer)
        self.use_peepholes, self.cell_clip = use_peepholes, cell_clip
        self.num_proj, self.proj_clip = num_proj, proj_clip
        self.output_size = num_proj or num_units

    def make_variables(self, depth, dtype):
        super().make_variables(depth, dtype)
        n = self.num_units
        if self.use_peepholes:
            self.w_f, self.w_i, self.w_o = [
                self.variable(f"w_{gate}_diag", [n], dtype) for gate in "fio"
            ]
        if self.num_proj:
            self.projection = self.variable(
                "projection/kernel", [n, self.num_proj], dtype
            )

    def clipped(self, c):
        if self.cell_clip is None:
            return c
        return tf.clip_by_value(c, -self.cell_clip, self.cell_clip)

    def __call__(self, x, state):
        c, h = state
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        f = f + self.forget_bias
        if self.use_peepholes:
            f, i = f + self.w_f * c, i + self.w_i * c
        c = self.clipped(tf.sigmoid(f) * c + tf.sigmoid(i) * self.activation(j))
        if self.use_peepholes:
            o = o + self.w_o * c  # the new c
        h = tf.sigmoid(o) * self.activation(c)
        if self.num_proj:
            h = tf.matmul(h, self.projection)
            if self.proj_clip is not None:
                h = tf.clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h)


class GRUCell(Cell):
    """`tf.nn.rnn_cell.GRUCell`: a GRU with the reset gate before the product.

    That is `reset_after=False` in Keras. The output is the state.

    By default `keras.layers.GRUCell` applies the reset gate after the product.

    Args:
        num_units: size of the state.
        activation: activation function of the candidate.
        initializer: initializer of the kernels; see `Cell`.
        bias_initializer: function of shape and dtype for both biases. None is v1's
            default: the gates' biases begin at one, so that the state changes little,
            the candidate's bias begins at zero.
        name: scope of the variables `gates/kernel`, `gates/bias`, `candidate/kernel`
            and `candidate/bias`.
    """

    names = "gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"

    def __init__(
        self,
        num_units,
        activation=tf.tanh,
        initializer=None,
        bias_initializer=None,
        name="gru_cell",
    ):
        super().__init__(num_units, name, initializer)
        self.activation, self.bias_initializer = activation, bias_initializer

    def make_variables(self, depth, dtype):
        n, given = self.num_units, self.bias_initializer
        kernel, bias, candidate_kernel, candidate_bias = self.names
        self.kernel = self.variable(kernel, [depth + n, 2 * n], dtype)
        self.bias = self.variable(bias, [2 * n], dtype, given or tf.ones)
        self.candidate_kernel = self.variable(candidate_kernel, [depth + n, n], dtype)
        self.candidate_bias = self.variable(
            candidate_bias, [n], dtype, given or tf.zeros
        )

    def __call__(self, x, state):
        gates = tf.sigmoid(product(x, state, self.kernel, self.bias))
        reset, update = tf.split(gates, 2, 1)
        weights = self.candidate_kernel, self.candidate_bias
        candidate = self.activation(product(x, reset * state, *weights))
        state = update * state + (1 - update) * candidate
        return state, state
