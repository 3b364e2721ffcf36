"""The cells of `tf.nn.rnn_cell`, and the loops that ran them.

    cell = BasicLSTMCell(128, name="rnn/basic_lstm_cell")
    outputs, state = unroll(cell, x, lengths)

A cell has `build(depth, dtype)`, which makes its variables under the names of v1,
`zero_state(batch, dtype)`, `output_size`, and is called with ([batch, depth], state)
for (output, new state). Follows `tensorflow/python/ops/rnn.py`, `rnn_cell_impl.py` and
`rnn_cell_wrapper_impl.py` of 1.15.5. Gradients have the bits of v1 in a `tf.function`.
"""

import collections
import hashlib

import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform

__all__ = [
    "LSTMStateTuple",
    "unroll",
    "unroll_in_python",
    "unroll_both_ways",
    "Cell",
    "BasicRNNCell",
    "BasicLSTMCell",
    "LSTMCell",
    "GRUCell",
    "MultiRNNCell",
    "ResidualWrapper",
    "DropoutWrapper",
]

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


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


class Cell(tf.Module):
    """What the cells share: a size, variables under the names of v1, a step.

    For one of your own, write `make_variables(depth, dtype)` and `__call__`.
    """

    def __init__(self, num_units, name, initializer=None):
        """Makes no variables yet.

        Args:
            num_units: size of the state.
            name: what the names of the variables begin with.
            initializer: of the kernels, a function of shape and dtype; None for v1's
                default, `glorot_uniform`.
        """
        super().__init__()
        self.num_units = self.output_size = num_units
        self.path, self.initializer = name, initializer or glorot_uniform()
        self.kernel = None

    def build(self, depth, dtype):
        """Makes the variables for inputs of this depth, once."""
        if self.kernel is None:
            self.make_variables(depth, dtype)

    def begin(self, depth, dtype):
        """Is called before the first step of every run."""

    def variable(self, name, shape, dtype, initializer=None):
        initializer = initializer or self.initializer
        path = f"{self.path}/{name}"
        return tf.Variable(lambda: initializer(shape, dtype), name=path)

    def zero_state(self, batch, dtype):
        """The state at the beginning of a sequence."""
        return tf.zeros([batch, self.num_units], dtype)


def product(x, state, kernel, bias):
    """One product with the input and the state, as the kernels were stored."""
    return tf.nn.bias_add(tf.matmul(tf.concat([x, state], 1), kernel), bias)


class BasicRNNCell(Cell):
    """`tf.nn.rnn_cell.BasicRNNCell`: activation(W [x, state] + b)."""

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
    """`tf.nn.rnn_cell.BasicLSTMCell`, its gates in the order i, j, f, o.

    `forget_bias` is added to the bias of the forget gate, and is in no checkpoint.
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
        # Input gate, what it lets in, forget gate, output gate.
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        kept = c * tf.sigmoid(f + self.forget_bias)
        c = kept + tf.sigmoid(i) * self.activation(j)
        h = self.activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class LSTMCell(BasicLSTMCell):
    """`tf.nn.rnn_cell.LSTMCell`, with what else there was.

    Args:
        num_units: size of c.
        use_peepholes: whether the gates see c, too.
        cell_clip: the largest magnitude of c, or None.
        num_proj: size of h and of the outputs, if it is not `num_units`.
        proj_clip: the largest magnitude of a projected h, or None.
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

    def __call__(self, x, state):
        c, h = state
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        f = f + self.forget_bias
        if self.use_peepholes:
            f, i = f + self.w_f * c, i + self.w_i * c
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * self.activation(j)
        if self.cell_clip is not None:
            c = tf.clip_by_value(c, -self.cell_clip, self.cell_clip)
        if self.use_peepholes:
            o = o + self.w_o * c  # the new one
        h = tf.sigmoid(o) * self.activation(c)
        if self.num_proj:
            h = tf.matmul(h, self.projection)
            if self.proj_clip is not None:
                h = tf.clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h)


class GRUCell(Cell):
    """`tf.nn.rnn_cell.GRUCell`, which resets before the product.

    That is `reset_after=False` of Keras. `bias_initializer` None is v1's: the gates'
    biases begin at one, so that little is reset and updated, the candidate's at zero.
    """

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
        shape = [depth + n, 2 * n]
        self.kernel = self.variable("gates/kernel", shape, dtype)
        self.bias = self.variable("gates/bias", [2 * n], dtype, given or tf.ones)
        self.candidate_kernel = self.variable("candidate/kernel", [depth + n, n], dtype)
        self.candidate_bias = self.variable(
            "candidate/bias", [n], dtype, given or tf.zeros
        )

    def __call__(self, x, state):
        gates = tf.sigmoid(product(x, state, self.kernel, self.bias))
        reset, update = tf.split(gates, 2, 1)
        weights = self.candidate_kernel, self.candidate_bias
        candidate = self.activation(product(x, reset * state, *weights))
        state = update * state + (1 - update) * candidate
        return state, state


class MultiRNNCell(tf.Module):
    """`tf.nn.rnn_cell.MultiRNNCell`: cells on top of each other, a tuple of states.

    v1 named the variables of the second `…/multi_rnn_cell/cell_1/…`: name the cells so.
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
    """`tf.nn.rnn_cell.ResidualWrapper`: a cell that adds what it reads to its outputs.

    `residual_fn` takes (inputs, outputs), where they are not to be added.
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
    """`tf.nn.rnn_cell.DropoutWrapper`: a cell that drops. c of an LSTM is not dropped.

    Args:
        cell: the cell.
        input_keep_prob, output_keep_prob, state_keep_prob: the shares to keep.
        variational_recurrent: whether a run drops the same units at all times and of
            all sequences.
        seed: from which the op of every place gets its own, below the seed of
            `tf.random.set_seed`.

    Raises:
        ValueError: a share outside of [0, 1].
    """

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        seed=None,
    ):
        super().__init__()
        self.cell, self.output_size = cell, cell.output_size
        self.build, self.zero_state = cell.build, cell.zero_state
        self.keep = {
            "input": input_keep_prob,
            "output": output_keep_prob,
            "state": state_keep_prob,
        }
        for place, share in self.keep.items():
            if not 0 <= share <= 1:
                raise ValueError(
                    f"Parameter {place}_keep_prob must be between 0 and 1: {share}"
                )
        self.seed, self.variational, self.noise = seed, variational_recurrent, {}

    def begin(self, depth, dtype):
        """Draws for a whole run; of all that is not variational, every step draws."""
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
        """The seed of the op that drops there, such as "state_1"."""
        if self.seed is None:
            return None
        digest = hashlib.md5(f"{self.seed}{place}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def dropped(self, x, kind, index=0):
        keep, place = self.keep[kind], f"{kind}_{index}"
        if keep == 1:
            return x
        if self.variational:
            return x / keep * tf.floor(keep + self.noise[place])
        # Multiplied, as in 1.15: what is dropped has the sign that it had.
        mask = tf.nn.dropout(tf.ones_like(x), 1 - keep, seed=self.seed_of(place))
        return x * mask

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
    """Which of the tensors of a state are dropped: all but the c of LSTMs."""
    if isinstance(state, LSTMStateTuple):
        return [False, True]
    if isinstance(state, tuple):
        return [drops for part in state for drops in droppable(part)]
    return [True]
