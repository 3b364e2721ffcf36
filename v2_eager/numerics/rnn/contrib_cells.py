"""RNN cells of `tf.contrib.rnn`, and the cells that load CuDNN's weights."""

import tensorflow as tf

from v2_eager.numerics.norms import layer_normalized
from v2_eager.numerics.rnn.cells import (
    BasicLSTMCell,
    Cell,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    affine,
    dropped,
    product,
)


class LSTMBlockCell(LSTMCell):
    """`tf.contrib.rnn.LSTMBlockCell`: an LSTM, here in any float dtype.

    Its variables have the names of `LSTMCell`'s. Its gradient ignores the clipping of
    c, as v1's kernel did.

    Args:
        num_units: size of c and h.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        cell_clip: largest magnitude of c; None, 0 and negative numbers mean no limit.
        use_peephole: whether the gates also read c.
        name: prefix of the names of the variables.
        initializer: see `Cell`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        name="lstm_cell",
        initializer=None,
    ):
        limit = cell_clip if cell_clip and cell_clip > 0 else None
        options = {"forget_bias": forget_bias, "name": name, "initializer": initializer}
        super().__init__(num_units, use_peephole, limit, **options)

    def clipped(self, c):
        return tf.grad_pass_through(super().clipped)(c)


class GRUBlockCellV2(GRUCell):
    """`tf.contrib.rnn.GRUBlockCellV2`: the same as `GRUCell`, in any float dtype.

    Args:
        num_units: size of the state.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(self, num_units, name="gru_cell", initializer=None):
        super().__init__(num_units, name=name, initializer=initializer)


class GRUBlockCell(GRUBlockCellV2):
    """`tf.contrib.rnn.GRUBlockCell`: `GRUCell` with shorter names of its variables."""

    names = "w_ru", "b_ru", "w_c", "b_c"


class LayerNormBasicLSTMCell(BasicLSTMCell):
    """`tf.contrib.rnn.LayerNormBasicLSTMCell`: layer norm on every gate and on c.

    Args:
        num_units: size of c and h.
        forget_bias: added to the normalized forget gate; not saved in checkpoints.
        activation: activation function of the new input and of c.
        layer_norm: whether to normalize; if not, there is a bias, which is initialized
            as a kernel.
        norm_gain: initial value of gamma.
        norm_shift: initial value of beta.
        dropout_keep_prob: keep probability of the new input: a number, or a tensor.
        dropout_prob_seed: op seed of the dropout; see `cells.dropped`.
        name: prefix of the names of the variables.
        initializer: see `Cell`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        activation=tf.tanh,
        layer_norm=True,
        norm_gain=1.0,
        norm_shift=0.0,
        dropout_keep_prob=1.0,
        dropout_prob_seed=None,
        name="layer_norm_basic_lstm_cell",
        initializer=None,
    ):
        super().__init__(num_units, forget_bias, activation, name, initializer)
        self.layer_norm, self.gain, self.shift = layer_norm, norm_gain, norm_shift
        self.keep, self.seed = dropout_keep_prob, dropout_prob_seed
        self.norms = {}

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel", [depth + n, 4 * n], dtype)
        if not self.layer_norm:
            self.bias = self.variable("bias", [4 * n], dtype)
            return
        self.make_norms(["input", "transform", "forget", "output", "state"], dtype)

    def make_norms(self, gates, dtype):
        gain, shift = map(tf.constant_initializer, (self.gain, self.shift))
        self.norms = {
            gate: [
                self.variable(f"{gate}/gamma", [self.num_units], dtype, gain),
                self.variable(f"{gate}/beta", [self.num_units], dtype, shift),
            ]
            for gate in gates
        }

    def normalized(self, x, gate):
        if not self.layer_norm:
            return x
        gamma, beta = self.norms[gate]
        return layer_normalized(x, [1], beta, gamma)

    def __call__(self, x, state):
        c, h = state
        gates = tf.matmul(tf.concat([x, h], 1), self.kernel)
        if not self.layer_norm:
            gates = tf.nn.bias_add(gates, self.bias)
        i, j, f, o = tf.split(gates, 4, 1)
        let_in = self.activation(self.normalized(j, "transform"))
        if not isinstance(self.keep, (int, float)) or self.keep < 1:
            let_in = dropped(let_in, self.keep, self.seed)
        i, f = self.normalized(i, "input"), self.normalized(f, "forget")
        c = c * tf.sigmoid(f + self.forget_bias) + tf.sigmoid(i) * let_in
        c = self.normalized(c, "state")
        h = self.activation(c) * tf.sigmoid(self.normalized(o, "output"))
        return h, LSTMStateTuple(c, h)


class CoupledInputForgetGateLSTMCell(LayerNormBasicLSTMCell):
    """`tf.contrib.rnn.CoupledInputForgetGateLSTMCell`: input gate = 1 - forget gate.

    Its kernel, of one shard, is called "W_0", its bias "B". With `layer_norm` the bias
    exists but is not used.

    Args:
        num_units: size of c.
        use_peepholes: whether the gates also read c.
        initializer: initializer of the kernels and the peepholes.
        num_proj: size of h and of the outputs if it differs from `num_units`.
        proj_clip: largest magnitude of the projected h, or None.
        forget_bias: added to the forget gate; not saved in checkpoints.
        activation: activation function of the new input and of c.
        layer_norm: whether to normalize the gates, the new input, and the new c.
        norm_gain: initial value of gamma.
        norm_shift: initial value of beta.
        name: prefix of the names of the variables.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1.0,
        activation=tf.tanh,
        layer_norm=False,
        norm_gain=1.0,
        norm_shift=0.0,
        name="coupled_input_forget_gate_lstm_cell",
    ):
        norm = layer_norm, norm_gain, norm_shift
        options = {"name": name, "initializer": initializer}
        super().__init__(num_units, forget_bias, activation, *norm, **options)
        self.use_peepholes = use_peepholes
        self.num_proj, self.proj_clip = num_proj, proj_clip
        self.output_size = num_proj or num_units

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("W_0", [depth + self.output_size, 3 * n], dtype)
        self.bias = self.variable("B", [3 * n], dtype, tf.zeros)
        if self.layer_norm:
            self.make_norms(["transform", "forget", "output", "state"], dtype)
        if self.use_peepholes:
            self.w_f, self.w_o = [
                self.variable(f"W_{gate}_diag", [n], dtype) for gate in "FO"
            ]
        if self.num_proj:
            self.projection = self.variable("W_P_0", [n, self.num_proj], dtype)

    def __call__(self, x, state):
        c, h = state
        gates = tf.matmul(tf.concat([x, h], 1), self.kernel)
        if not self.layer_norm:
            gates = tf.nn.bias_add(gates, self.bias)
        j, f, o = tf.split(gates, 3, 1)
        f = self.normalized(f, "forget") + self.forget_bias
        f = tf.sigmoid(f + self.w_f * c if self.use_peepholes else f)
        c = f * c + (1 - f) * self.activation(self.normalized(j, "transform"))
        c, o = self.normalized(c, "state"), self.normalized(o, "output")
        o = o + self.w_o * c if self.use_peepholes else o
        h = tf.sigmoid(o) * self.activation(c)
        if self.num_proj:
            h = tf.matmul(h, self.projection)
            if self.proj_clip is not None:
                h = tf.clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h)


class NASCell(Cell):
    """`tf.contrib.rnn.NASCell`: from neural architecture search, arXiv:1611.01578.

    Args:
        num_units: size of c.
        num_proj: size of h and of the outputs if it differs from `num_units`.
        use_bias: whether to add a bias to the products with h.
        name: prefix of the names of the variables.
        initializer: see `Cell`.
    """

    def __init__(
        self,
        num_units,
        num_proj=None,
        use_bias=False,
        name="nas_cell",
        initializer=None,
    ):
        super().__init__(num_units, name, initializer)
        self.num_proj, self.use_bias = num_proj, use_bias
        self.output_size = num_proj or num_units

    def make_variables(self, depth, dtype):
        n, size = self.num_units, self.output_size
        self.kernel = self.variable("kernel", [depth, 8 * n], dtype)
        self.recurrent_kernel = self.variable("recurrent_kernel", [size, 8 * n], dtype)
        if self.use_bias:
            self.bias = self.variable("bias", [8 * n], dtype, tf.zeros)
        if self.num_proj:
            self.projection = self.variable("projection_weights", [n, size], dtype)

    def zero_state(self, batch, dtype):
        sizes = self.num_units, self.output_size
        return LSTMStateTuple(*[tf.zeros([batch, size], dtype) for size in sizes])

    def __call__(self, x, state):
        c, h = state
        read, kept = tf.matmul(x, self.kernel), tf.matmul(h, self.recurrent_kernel)
        if self.use_bias:
            kept = tf.nn.bias_add(kept, self.bias)
        read, kept = tf.split(read, 8, 1), tf.split(kept, 8, 1)
        multiplied = read.pop(3) * kept.pop(3)  # the other pairs are added
        a, b, d, e, f, g, i = [x + h for x, h in zip(read, kept)]
        first = tf.tanh(tf.sigmoid(a) * tf.nn.relu(b))
        second = tf.tanh(tf.sigmoid(d) + tf.nn.relu(multiplied))
        third = tf.tanh(tf.tanh(e) * tf.sigmoid(f))
        fourth = tf.sigmoid(tf.tanh(g) + tf.sigmoid(i))
        c = tf.tanh(first + c) * second
        h = tf.tanh(c * tf.tanh(third + fourth))
        if self.num_proj:
            h = tf.matmul(h, self.projection)
        return h, LSTMStateTuple(c, h)


class UGRNNCell(Cell):
    """`tf.contrib.rnn.UGRNNCell`: an RNN with one update gate (arXiv:1611.09913).

        h = g h + (1 - g) activation(s), g = sigmoid(gate + forget_bias)

    Args:
        num_units: size of the state; the output is the state.
        initializer: initializer of the kernel; see `Cell`.
        forget_bias: added to the gate; not saved in checkpoints.
        activation: activation function.
        name: prefix of the names of the variables.
    """

    def __init__(
        self,
        num_units,
        initializer=None,
        forget_bias=1.0,
        activation=tf.tanh,
        name="ugrnn_cell",
    ):
        super().__init__(num_units, name, initializer)
        self.forget_bias, self.activation = forget_bias, activation

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel", [depth + n, 2 * n], dtype)
        self.bias = self.variable("bias", [2 * n], dtype, tf.zeros)

    def __call__(self, x, state):
        gate, new = tf.split(product(x, state, self.kernel, self.bias), 2, 1)
        keep = tf.sigmoid(gate + self.forget_bias)
        state = keep * state + (1 - keep) * self.activation(new)
        return state, state


class IntersectionRNNCell(Cell):
    """`tf.contrib.rnn.IntersectionRNNCell`: a gate for the state, one for the output.

    It is the "+RNN" of arXiv:1611.09913.

    Args:
        num_units: size of the state, of the outputs, and of the inputs.
        num_in_proj: None, or `num_units` to project inputs of another size to this
            size.
        initializer: initializer of the kernels.
        forget_bias: added to both gates; not saved in checkpoints.
        y_activation: activation function of the output.
        name: prefix of the names of the variables.

    Raises:
        ValueError: in `build`: the inputs have another size, and there is no
            projection.
    """

    def __init__(
        self,
        num_units,
        num_in_proj=None,
        initializer=None,
        forget_bias=1.0,
        y_activation=tf.nn.relu,
        name="intersection_rnn_cell",
    ):
        super().__init__(num_units, name, initializer)
        self.num_in_proj, self.forget_bias = num_in_proj, forget_bias
        self.y_activation, self.projection = y_activation, None

    def make_variables(self, depth, dtype):
        n = self.num_units
        if depth != n:
            if not self.num_in_proj:
                raise ValueError(
                    "Must have input size == output size for Intersection RNN. To "
                    "fix, num_in_proj should be set to num_units at cell init."
                )
            self.projection = [
                self.variable("in_projection/kernel", [depth, n], dtype),
                self.variable("in_projection/bias", [n], dtype, tf.zeros),
            ]
        self.kernel = self.variable("kernel", [2 * n, 4 * n], dtype)
        self.bias = self.variable("bias", [4 * n], dtype, tf.zeros)

    def __call__(self, x, state):
        if self.projection:
            x = affine(x, *self.projection)
        gates = tf.split(product(x, state, self.kernel, self.bias), 4, 1)
        in_time, new, in_depth, y = gates
        in_time = tf.sigmoid(in_time + self.forget_bias)
        in_depth = tf.sigmoid(in_depth + self.forget_bias)
        state = in_time * state + (1 - in_time) * tf.tanh(new)
        return in_depth * x + (1 - in_depth) * self.y_activation(y), state


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """`tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell`: `LSTMBlockCell`, forget bias 0.

    Args:
        num_units: size of c and h.
        name: prefix of the names of the variables.
        initializer: initializer of the kernel; see `Cell`.
    """

    def __init__(self, num_units, name="cudnn_compatible_lstm_cell", initializer=None):
        super().__init__(num_units, 0.0, name=name, initializer=initializer)


class CudnnCompatibleGRUCell(GRUCell):
    """`tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell`: reset gate after the product.

    That is `reset_after=True` in Keras.

    Args:
        num_units: size of the state.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(self, num_units, name="cudnn_compatible_gru_cell", initializer=None):
        super().__init__(num_units, name=name, initializer=initializer)

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("gates/kernel", [depth + n, 2 * n], dtype)
        self.bias = self.variable("gates/bias", [2 * n], dtype, tf.ones)
        self.of_input, self.of_hidden = [
            (
                self.variable(f"candidate/{part}_projection/kernel", [size, n], dtype),
                self.variable(
                    f"candidate/{part}_projection/bias", [n], dtype, tf.zeros
                ),
            )
            for part, size in (("input", depth), ("hidden", n))
        ]

    def __call__(self, x, state):
        gates = tf.sigmoid(product(x, state, self.kernel, self.bias))
        reset, update = tf.split(gates, 2, 1)
        read, kept = affine(x, *self.of_input), affine(state, *self.of_hidden)
        candidate = self.activation(read + reset * kept)
        state = (1 - update) * candidate + update * state
        return state, state
