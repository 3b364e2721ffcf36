"""RNNs: cells handed to `tf.nn.dynamic_rnn` → modules of one step, and one loop."""

import collections
import functools
import hashlib
import math

import numpy as np
import tensorflow as tf

__all__ = [
    "make_basic_rnn",
    "make_basic_lstm",
    "make_lstm",
    "make_gru",
    "make_stack",
    "make_static_rnn",
    "make_bidirectional",
    "last_outputs",
    "run_lstm",
    "run_gru",
    "read_in_pieces",
    "dropout",
    "train",
]

LSTMState = collections.namedtuple("LSTMState", ["c", "h"])


def unroll(cell, x, lengths=None, state=None, time_major=False):
    """What `tf.nn.dynamic_rnn` did: reads x by one loop, and holds what has ended.

    Args:
        cell: with `build(depth, dtype)`, `zero_state(batch, dtype)`, `output_size`, and
            a call from ([batch, depth], state) to (output, state).
        x: [batch, time, depth] float tensor.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        state: where to begin, or None for zeros.
        time_major: whether time comes before the batch, in x and in the outputs.

    Returns:
        (outputs [batch, time, output_size], zero past the end; state of the end).
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


def check_rank(x):
    if x.shape.rank != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {x.shape.rank}")


def prepare(cell, x, lengths, state, batch_axis=1):
    """Makes the variables and what a loop begins with; complains as v1 did."""
    check_rank(x)
    if x.shape[2] is None:
        raise ValueError("Input size must be accessible via shape inference")
    cell.build(x.shape[2], x.dtype)
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
    """What the cells share: a size, variables under the names of v1, a step."""

    def __init__(self, units, path):
        super().__init__()
        self.units = self.output_size = units
        self.path, self.kernel = path, None

    def build(self, depth, dtype):
        if self.kernel is None:
            self.make_variables(depth, dtype)

    def variable(self, name, value):
        return tf.Variable(value, name=f"{self.path}/{name}")

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, self.units], dtype)


def glorot_uniform(shape, dtype, seed=1):
    """The draw of v1's initializer, whose op had this seed; of a vector, too."""
    limit = math.sqrt(6 / (shape[0] + shape[-1]))
    # A function of its own: an eager draw goes on where the last of its seed ended.
    return tf.function(lambda: tf.random.uniform(shape, -limit, limit, dtype, seed))


def product(x, state, kernel, bias):
    """One product with the input and the state, as the kernels were stored."""
    return tf.nn.bias_add(tf.matmul(tf.concat([x, state], 1), kernel), bias)


class BasicRNNCell(Cell):
    def __init__(self, units, path, activation=tf.tanh):
        super().__init__(units, f"{path}/basic_rnn_cell")
        self.activation = activation

    def make_variables(self, depth, dtype):
        shape = [depth + self.units, self.units]
        self.kernel = self.variable("kernel", glorot_uniform(shape, dtype))
        self.bias = self.variable("bias", tf.zeros(self.units, dtype))

    def __call__(self, x, state):
        output = self.activation(product(x, state, self.kernel, self.bias))
        return output, output


class BasicLSTMCell(Cell):
    def __init__(self, units, path, forget_bias=1.0):
        super().__init__(units, f"{path}/basic_lstm_cell")
        self.forget_bias = forget_bias

    def make_variables(self, depth, dtype):
        shape = [depth + self.output_size, 4 * self.units]
        self.kernel = self.variable("kernel", glorot_uniform(shape, dtype))
        self.bias = self.variable("bias", tf.zeros(4 * self.units, dtype))

    def zero_state(self, batch, dtype):
        sizes = self.units, self.output_size
        return LSTMState(*[tf.zeros([batch, size], dtype) for size in sizes])

    def __call__(self, x, state):
        c, h = state
        # Input gate, what it lets in, forget gate, output gate.
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        c = c * tf.sigmoid(f + self.forget_bias) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, LSTMState(c, h)


class LSTMCell(BasicLSTMCell):
    def __init__(self, units, path, peepholes, cell_clip, projection, projection_clip):
        super().__init__(units, path)
        self.path = f"{path}/lstm_cell"
        self.peepholes, self.cell_clip = peepholes, cell_clip
        self.projection, self.projection_clip = projection, projection_clip
        self.output_size = projection or units

    def make_variables(self, depth, dtype):
        super().make_variables(depth, dtype)
        if self.peepholes:
            self.w_f, self.w_i, self.w_o = [
                self.variable(f"w_{gate}_diag", glorot_uniform([self.units], dtype))
                for gate in "fio"
            ]
        if self.projection:
            shape = [self.units, self.projection]
            draw = glorot_uniform(shape, dtype)
            self.projection_kernel = self.variable("projection/kernel", draw)

    def __call__(self, x, state):
        c, h = state
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        f = f + self.forget_bias
        if self.peepholes:
            f, i = f + self.w_f * c, i + self.w_i * c
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
        if self.cell_clip is not None:
            c = tf.clip_by_value(c, -self.cell_clip, self.cell_clip)
        if self.peepholes:
            o = o + self.w_o * c  # the new one
        h = tf.sigmoid(o) * tf.tanh(c)
        if self.projection:
            h = tf.matmul(h, self.projection_kernel)
            if self.projection_clip is not None:
                h = tf.clip_by_value(h, -self.projection_clip, self.projection_clip)
        return h, LSTMState(c, h)


class GRUCell(Cell):
    def __init__(self, units, path):
        super().__init__(units, f"{path}/gru_cell")

    def make_variables(self, depth, dtype):
        rows, n = depth + self.units, self.units
        self.kernel = self.variable(
            "gates/kernel", glorot_uniform([rows, 2 * n], dtype)
        )
        # Ones: in the beginning nothing is reset, and little is updated.
        self.bias = self.variable("gates/bias", tf.ones(2 * n, dtype))
        draw = glorot_uniform([rows, n], dtype)
        self.candidate_kernel = self.variable("candidate/kernel", draw)
        self.candidate_bias = self.variable("candidate/bias", tf.zeros(n, dtype))

    def __call__(self, x, state):
        gates = tf.sigmoid(product(x, state, self.kernel, self.bias))
        reset, update = tf.split(gates, 2, 1)
        # Reset before the product: reset_after=False of Keras.
        weights = self.candidate_kernel, self.candidate_bias
        candidate = tf.tanh(product(x, reset * state, *weights))
        state = update * state + (1 - update) * candidate
        return state, state


class Stack(tf.Module):
    """Cells on top of each other: `MultiRNNCell`."""

    def __init__(self, cells):
        super().__init__()
        self.cells, self.output_size = cells, cells[-1].output_size

    def build(self, depth, dtype):
        for cell in self.cells:
            cell.build(depth, dtype)
            depth = cell.output_size

    def zero_state(self, batch, dtype):
        return tuple(cell.zero_state(batch, dtype) for cell in self.cells)

    def __call__(self, x, states):
        new_states = []
        for cell, state in zip(self.cells, states):
            x, state = cell(x, state)
            new_states.append(state)
        return x, tuple(new_states)


class Residual(tf.Module):
    """A cell that adds what it reads to its outputs: `ResidualWrapper`."""

    def __init__(self, cell):
        super().__init__()
        self.cell, self.output_size = cell, cell.output_size
        self.build, self.zero_state = cell.build, cell.zero_state

    def __call__(self, x, state):
        output, state = self.cell(x, state)
        return x + output, state


class Reader(tf.Module):
    """A cell and the loop that it is run by, as a layer."""

    def __init__(self, cell, loop=unroll, **options):
        super().__init__()
        self.cell = cell
        # Traced, for who calls it eagerly: the faster, and gradients add up as in v1.
        loop = functools.partial(loop, cell, **options)
        self.loop = tf.function(loop, autograph=False)  # no Python to convert

    def __call__(self, x, lengths=None, state=None):
        return self.loop(x, lengths=lengths, state=state)


def make_basic_rnn(units, activation="tanh", time_major=False, name="reader"):
    """Makes the plainest network: its output is its state.

    Args:
        units: size of the state.
        activation: name of a function of `tf.nn`.
        time_major: whether time comes before the batch, in the input and the outputs.
        name: scope of the variables `rnn/basic_rnn_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        units], and the last state, [batch, units].

    Raises:
        ValueError: of the callable: not three dimensions, or an unknown depth.
    """
    cell = BasicRNNCell(units, f"{name}/rnn", getattr(tf.nn, activation))
    return Reader(cell, time_major=time_major)


def make_basic_lstm(units, forget_bias=1.0, name="reader"):
    """Makes an LSTM, for sequences of several lengths and from any state.

    Args:
        units: size of both parts of the state.
        forget_bias: added to the bias of the forget gate, and in no checkpoint.
        name: scope of the variables `rnn/basic_lstm_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, and a state, a pair of [batch, units], to the outputs, [batch,
        time, units], zero past the end, and the last state (c, h), that of the end.

    Raises:
        ValueError: of the callable: not three dimensions, an unknown depth, or lengths
            that are no vector.
        tf.errors.InvalidArgumentError: of the callable: not one length per sequence.
    """
    return Reader(BasicLSTMCell(units, f"{name}/rnn", forget_bias))


def make_lstm(
    units,
    peepholes=False,
    cell_clip=None,
    projection=None,
    projection_clip=None,
    name="reader",
):
    """Makes an LSTM with what else there was: peepholes, projection, clipping.

    Args:
        units: size of c.
        peepholes: whether the gates see c, too.
        cell_clip: the largest magnitude of c, or None.
        projection: size of h and of the outputs, if it is not `units`.
        projection_clip: the largest magnitude of a projected h, or None.
        name: scope of the variables `rnn/lstm_cell/kernel`, `…/bias`, `…/w_f_diag`,
            `…/w_i_diag`, `…/w_o_diag` and `…/projection/kernel`.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        projection or units], and the last state (c, h).

    Raises:
        ValueError: of the callable: not three dimensions, or an unknown depth.
    """
    clips = cell_clip, projection, projection_clip
    return Reader(LSTMCell(units, f"{name}/rnn", peepholes, *clips))


def make_gru(units, name="reader"):
    """Makes a GRU, whose reset gate comes before the product.

    Args:
        units: size of the state.
        name: scope of the variables `rnn/gru_cell/gates/kernel`, `…/gates/bias`,
            `…/candidate/kernel` and `…/candidate/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past the end, and the
        last state, [batch, units].

    Raises:
        As the callable of `make_basic_lstm`.
    """
    return Reader(GRUCell(units, f"{name}/rnn"))


def lstm_to_keras(kernel, bias, forget_bias=1.0):
    """The weights of `keras.layers.LSTM` that computes what an old cell did.

    Args:
        kernel: [depth + units, 4 * units] array, gates in the order i, j, f, o.
        bias: [4 * units] array.
        forget_bias: of the old cell; Keras has it in the bias.

    Returns:
        [kernel, recurrent kernel, bias], gates in the order i, f, j, o.
    """
    i, j, f, o = np.split(kernel, 4, 1)
    kernel = np.concatenate([i, f, j, o], 1)
    i, j, f, o = np.split(bias, 4)
    inputs, recurrent = np.split(kernel, [-len(i)])
    return [inputs, recurrent, np.concatenate([i, f + forget_bias, j, o])]


def lstm_from_keras(inputs, recurrent, bias, forget_bias=1.0):
    """The other way: (kernel, bias) of an old cell with this `forget_bias`."""
    i, f, j, o = np.split(np.concatenate([inputs, recurrent]), 4, 1)
    kernel = np.concatenate([i, j, f, o], 1)
    i, f, j, o = np.split(bias, 4)
    return kernel, np.concatenate([i, j, f - forget_bias, o])


def gru_to_keras(gate_kernel, gate_bias, candidate_kernel, candidate_bias):
    """The weights of `keras.layers.GRU(…, reset_after=False)`.

    Args:
        gate_kernel: [depth + units, 2 * units] array, reset before update.
        gate_bias: [2 * units] array.
        candidate_kernel: [depth + units, units] array.
        candidate_bias: [units] array.

    Returns:
        [kernel, recurrent kernel, bias]: update, reset, candidate.
    """
    reset, update = np.split(gate_kernel, 2, 1)
    kernel = np.concatenate([update, reset, candidate_kernel], 1)
    reset, update = np.split(gate_bias, 2)
    inputs, recurrent = np.split(kernel, [-len(update)])
    return [inputs, recurrent, np.concatenate([update, reset, candidate_bias])]


def gru_from_keras(inputs, recurrent, bias):
    """The other way: the four arrays of an old cell; not where `reset_after=True`."""
    update, reset, candidate = np.split(np.concatenate([inputs, recurrent]), 3, 1)
    gate_kernel = np.concatenate([reset, update], 1)
    update, reset, candidate_bias = np.split(bias, 3)
    return gate_kernel, np.concatenate([reset, update]), candidate, candidate_bias


def make_stack(units, layers, name="reader"):
    """Makes GRUs on top of each other, all but the first added to what they read.

    Args:
        units: size of every state.
        layers: how many.
        name: scope of the variables `rnn/multi_rnn_cell/cell_0/gru_cell/…`, and so on.

    Returns:
        Callable from a [batch, time, depth] float tensor and the lengths, [batch] ints,
        to the outputs of the last, [batch, time, units], and the tuple of the last
        states.

    Raises:
        ValueError: no layers; of the callable: as of `make_basic_lstm`.
    """
    if layers < 1:
        raise ValueError("Must specify at least one cell")
    path = f"{name}/rnn/multi_rnn_cell/cell_"
    cells = [GRUCell(units, f"{path}{i}") for i in range(layers)]
    return Reader(Stack([*cells[:1], *map(Residual, cells[1:])]))


def make_static_rnn(units, name="reader"):
    """Makes an LSTM that is unrolled: a graph as long as the sequences.

    Args:
        units: size of both parts of the state.
        name: scope of the variables `rnn/basic_lstm_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor and optionally the lengths,
        [batch] ints, to the list of outputs, each [batch, units], and the last state
        (c, h).

    Raises:
        ValueError: of the callable: the time is unknown, or lengths are no vector.
    """
    return Reader(BasicLSTMCell(units, f"{name}/rnn"), unroll_in_python)


def make_bidirectional(units, name="reader"):
    """Makes two GRUs, one of which reads every sequence from its own end.

    Args:
        units: size of each state.
        name: scope of the variables `bidirectional_rnn/fw/gru_cell/…` and `…/bw/…`.

    Returns:
        Callable from a [batch, time, depth] float tensor and the lengths, [batch] ints,
        to the outputs of both, [batch, time, 2 * units], and the pair of last states,
        each [batch, units].

    Raises:
        As the callable of `make_basic_lstm`.
    """
    return Bidirectional(units, f"{name}/bidirectional_rnn")


class Bidirectional(tf.Module):
    def __init__(self, units, path):
        super().__init__()
        self.forward = Reader(GRUCell(units, f"{path}/fw"))
        self.backward = Reader(GRUCell(units, f"{path}/bw"))

    def __call__(self, x, lengths):
        check_rank(x)

        def reverse(x):  # what has been read, and not the zeros behind it
            return tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)

        outputs, state = self.forward(x, lengths)
        reversed_outputs, reversed_state = self.backward(reverse(x), lengths)
        outputs = tf.concat([outputs, reverse(reversed_outputs)], 2)
        return outputs, (state, reversed_state)


def last_outputs(outputs, lengths):
    """The output at the end of every sequence, wherever that is.

    Args:
        outputs: [batch, time, units] float tensor.
        lengths: [batch] int tensor, none of them 0.

    Returns:
        [batch, units] tensor.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a length of 0, or past the time.
    """
    return tf.gather(outputs, lengths - 1, batch_dims=1)


def run_lstm(x, lengths, weights, forget_bias=1.0):
    """Runs an LSTM by the weights of an old checkpoint.

    Args:
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        weights: {"rnn/basic_lstm_cell/kernel": [depth + units, 4 * units] array,
            "rnn/basic_lstm_cell/bias": [4 * units] array} of the dtype of x.
        forget_bias: what the training program said, or the default of the cell.

    Returns:
        {"outputs": [batch, time, units], "c": [batch, units], "h": [batch, units]}.

    Raises:
        KeyError: a weight is missing.
    """
    # --- build
    units = weights["rnn/basic_lstm_cell/bias"].shape[0] // 4
    cell = BasicLSTMCell(units, "rnn", forget_bias)
    cell.build(x.shape[-1], x.dtype)
    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, state = tf.function(unroll)(cell, tf.constant(x), lengths)
    return {"outputs": outputs.numpy(), "c": state.c.numpy(), "h": state.h.numpy()}


def run_gru(x, lengths, weights):
    """Runs a GRU by the weights of an old checkpoint.

    Args:
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        weights: {"rnn/gru_cell/gates/kernel": [depth + units, 2 * units] array, and so
            on: "gates/bias", "candidate/kernel", "candidate/bias"}, of the dtype of x.

    Returns:
        {"outputs": [batch, time, units], "state": [batch, units]}.

    Raises:
        KeyError: a weight is missing.
    """
    # --- build
    cell = GRUCell(weights["rnn/gru_cell/candidate/bias"].shape[0], "rnn")
    cell.build(x.shape[-1], x.dtype)
    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, state = tf.function(unroll)(cell, tf.constant(x), lengths)
    return {"outputs": outputs.numpy(), "state": state.numpy()}


def read_in_pieces(x, pieces, units, keep_state=True):
    """Reads long sequences piece by piece, each from where the last one ended.

    Args:
        x: [batch, time, depth] float array.
        pieces: how many, of equal size.
        units: size of both parts of the state.
        keep_state: whether a piece begins at the state of the one before.

    Returns:
        {"outputs": [batch, time, units], "c": [batch, units], "h": [batch, units]}.

    Raises:
        ValueError: the time is no multiple of the pieces.
    """
    # --- build
    tf.random.set_seed(7)
    cell = BasicLSTMCell(units, "rnn")
    cell.build(x.shape[-1], x.dtype)
    state = cell.zero_state(x.shape[0], x.dtype)
    read = tf.function(unroll)
    # --- run
    parts = []
    for part in np.split(x, pieces, axis=1):
        part, ended = read(cell, tf.constant(part), state=state)
        state = ended if keep_state else state
        parts.append(part)
    outputs = tf.concat(parts, 1).numpy()
    return {"outputs": outputs, "c": ended.c.numpy(), "h": ended.h.numpy()}


def dropout(x, units, keep, seed, variational=False, draws=2):
    """Drops parts of what an LSTM reads, of its outputs and of its h.

    Args:
        x: [batch, time, depth] float array.
        units: size of both parts of the state.
        keep: the shares of the inputs, the outputs and h to keep, in (0, 1].
        seed: of the wrapper; that of the graph is 7.
        variational: whether a run drops the same units at all times and of all
            sequences.
        draws: how often to run.

    Returns:
        List of {"outputs": [batch, time, units], "c": …, "h": [batch, units]}.

    Raises:
        ValueError: a share outside of [0, 1].
    """
    # --- build
    tf.random.set_seed(7)
    cell = BasicLSTMCell(units, "rnn")
    cell.build(x.shape[-1], x.dtype)
    cell = Dropout(cell, *keep, seed, variational)
    x = tf.constant(x)

    @tf.function
    def read():
        cell.draw(x)
        outputs, state = unroll(cell, x)
        return {"outputs": outputs, "c": state.c, "h": state.h}

    # --- run
    return [{k: v.numpy() for k, v in read().items()} for _ in range(draws)]


class Dropout(tf.Module):
    """A cell that drops: `DropoutWrapper`."""

    def __init__(self, cell, inputs, outputs, state, seed, variational=False):
        super().__init__()
        self.cell, self.output_size = cell, cell.output_size
        self.build, self.zero_state = cell.build, cell.zero_state
        # c is number 0 of the state, and never dropped: h is number 1.
        self.keep = {"input_0": inputs, "output_0": outputs, "state_1": state}
        for place, share in self.keep.items():
            if not 0 <= share <= 1:
                raise ValueError(f"{place}: a share must be between 0 and 1: {share}")
        self.seed, self.variational, self.noise = seed, variational, {}

    def seed_of(self, place):
        digest = hashlib.md5(f"{self.seed}{place}".encode()).hexdigest()
        return int(digest[:8], 16) & 0x7FFFFFFF

    def draw(self, x):
        """Draws for a whole run; of all that is not `variational`, every step draws."""
        sizes = {"input_0": x.shape[-1], "output_0": self.output_size}
        if self.variational:
            for place in self.keep:
                shape = [1, sizes.get(place, self.output_size)]
                seed = self.seed_of(place)
                self.noise[place] = tf.random.uniform(shape, dtype=x.dtype, seed=seed)

    def dropped(self, x, place):
        keep = self.keep[place]
        if self.variational:
            return x / keep * tf.floor(keep + self.noise[place])
        # Multiplied, as in 1.15: what is dropped has the sign that it had.
        mask = tf.nn.dropout(tf.ones_like(x), 1 - keep, seed=self.seed_of(place))
        return x * mask

    def __call__(self, x, state):
        output, state = self.cell(self.dropped(x, "input_0"), state)
        state = LSTMState(state.c, self.dropped(state.h, "state_1"))
        return self.dropped(output, "output_0"), state


def train(x, lengths, labels, steps, units=4, rate=0.5, limit=1.0):
    """Trains an LSTM to tell sequences apart, its gradients clipped.

    Args:
        x: [n, time, depth] float array.
        lengths: [n] int array.
        labels: [n] int array, classes below 3.
        steps: how many steps to take, all on the same sequences.
        units: size of both parts of the state.
        rate: learning rate.
        limit: the largest global norm that is left as it is.

    Returns:
        dict with the `losses` and the `norms` of the gradients before every step, and
        the `variables` by name and the `logits` in the end.

    Raises:
        tf.errors.InvalidArgumentError: a label that is no class.
    """
    # --- model
    tf.random.set_seed(7)
    network = Network(units)
    network.build(x.shape[-1], x.dtype)
    x, lengths, labels = tf.constant(x), tf.constant(lengths), tf.constant(labels)

    # --- step
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            logits = network(x, lengths)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            )
        variables = network.ordered
        gradients = tape.gradient(loss, variables)
        gradients, norm = tf.clip_by_global_norm(gradients, limit)
        for variable, gradient in zip(variables, gradients):
            variable.assign_sub(rate * gradient)
        return loss, norm

    # --- run
    losses, norms = zip(*[step() for _ in range(steps)])
    return {
        "losses": [loss.numpy() for loss in losses],
        "norms": [norm.numpy() for norm in norms],
        "variables": {v.name[:-2]: v.numpy() for v in network.ordered},
        "logits": network(x, lengths).numpy(),
    }


class Network(tf.Module):
    def __init__(self, units):
        super().__init__()
        self.cell = BasicLSTMCell(units, "rnn")

    def build(self, depth, dtype):
        self.cell.build(depth, dtype)
        draw = glorot_uniform([self.cell.units, 3], dtype, seed=2)
        self.w = tf.Variable(draw, name="softmax_w")
        self.b = tf.Variable(tf.zeros(3, dtype), name="softmax_b")
        # As they were made: so the norms of the gradients were summed.
        self.ordered = [self.cell.kernel, self.cell.bias, self.w, self.b]

    def __call__(self, x, lengths):
        _, state = unroll(self.cell, x, lengths)
        return tf.nn.bias_add(tf.matmul(state.h, self.w), self.b)
