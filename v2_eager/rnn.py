"""`tf.nn.dynamic_rnn`, `BasicLSTMCell`, `GRUCell`, `MultiRNNCell` → modules, a loop."""

import functools

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, rnn

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
    "run_until",
    "read_in_pieces",
    "dropout",
    "train",
]

DRAW = initializers.glorot_uniform(seed=1)


def tensor_of(lengths):
    """Converts lengths to a tensor: a new list would retrace; None remains None."""
    return None if lengths is None else tf.convert_to_tensor(lengths)


class Reader(tf.Module):
    """Runs a cell over sequences in a `tf.function` for all sizes.

    A call takes x, [batch, time, depth] floats, and optionally lengths, [batch] ints,
    and a first state. It returns the outputs, zero past each sequence's end, and the
    last state. The first call makes the cell's variables.

    Args:
        cell: a cell of `numerics.rnn`.
        loop: `rnn.unroll`, or `rnn.unroll_in_python`, which needs a known number of
            time steps.
        **options: further keywords of the loop, such as `time_major` or `dtype`.
    """

    def __init__(self, cell, loop=rnn.unroll, **options):
        super().__init__()
        self.cell, self.dtype = cell, options.get("dtype")
        # A tf.function, also for eager callers: it is faster, and gradients are added
        # in v1's order. reduce_retracing relaxes the sizes that change, but not with
        # unroll_in_python, which needs a known number of time steps.
        self.loop = tf.function(
            functools.partial(loop, cell, **options),
            autograph=False,  # there is no Python control flow to convert
            reduce_retracing=loop is rnn.unroll,
        )

    def __call__(self, x, lengths=None, state=None):
        x = built(x, [self.cell], self.dtype)
        # Tensors, and the state as a flat list of tensors: otherwise the values of a
        # Python list and the type of a tuple would be part of the trace's signature.
        if lengths is not None:
            lengths = tf.cast(lengths, tf.int32)
        if state is not None:
            parts, dtype = tf.nest.flatten(state), self.dtype or x.dtype
            state = [tf.convert_to_tensor(part, dtype_hint=dtype) for part in parts]
        return self.loop(x, lengths=lengths, state=state)


def built(x, cells, dtype=None):
    """Converts x to a tensor, and makes the cells' variables for it.

    They are made here because a function whose first trace makes variables is traced
    twice.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank == 3 and x.shape[2] is not None:  # else the loop raises an error
        for cell in cells:
            cell.build(x.shape[2], dtype or x.dtype)
    return x


def make_basic_rnn(units, activation="tanh", time_major=False, name="reader"):
    """Makes a `BasicRNNCell` network over sequences: the output is the state.

    Returns a `Reader`; see the class.
    """
    activation, path = getattr(tf.nn, activation), f"{name}/rnn/basic_rnn_cell"
    cell = rnn.BasicRNNCell(units, activation, path, DRAW)
    return Reader(cell, time_major=time_major)


def make_basic_lstm(units, forget_bias=1.0, name="reader"):
    """Makes an LSTM over sequences of different lengths, with an optional first state.

    Returns a `Reader`; see the class.
    """
    return Reader(basic_lstm(units, f"{name}/rnn", forget_bias))


def basic_lstm(units, path, forget_bias=1.0):
    name = f"{path}/basic_lstm_cell"
    return rnn.BasicLSTMCell(units, forget_bias, name=name, initializer=DRAW)


def make_lstm(
    units,
    peepholes=False,
    cell_clip=None,
    projection=None,
    projection_clip=None,
    name="reader",
):
    """Makes an `LSTMCell` network with peepholes, projection and clipping.

    Returns a `Reader`; see the class.
    """
    options = peepholes, cell_clip, DRAW, projection, projection_clip
    return Reader(rnn.LSTMCell(units, *options, name=f"{name}/rnn/lstm_cell"))


def make_gru(units, name="reader"):
    """Makes a GRU over sequences, with the reset gate before the product.

    Returns a `Reader`; see the class.
    """
    return Reader(gru(units, f"{name}/rnn"))


def gru(units, path):
    return rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell")


def lstm_to_keras(kernel, bias, forget_bias=1.0):
    """Converts weights of `BasicLSTMCell` to the weights of `keras.layers.LSTM`.

    Args:
        kernel: [depth + units, 4 * units] array, gates in the order i, j, f, o.
        bias: [4 * units] array.
        forget_bias: `forget_bias` of the old cell; Keras has it in the bias.

    Returns:
        [kernel, recurrent kernel, bias], gates in the order i, f, j, o.
    """
    i, j, f, o = np.split(kernel, 4, 1)
    kernel = np.concatenate([i, f, j, o], 1)
    i, j, f, o = np.split(bias, 4)
    inputs, recurrent = np.split(kernel, [-len(i)])
    return [inputs, recurrent, np.concatenate([i, f + forget_bias, j, o])]


def lstm_from_keras(inputs, recurrent, bias, forget_bias=1.0):
    """Converts weights of `keras.layers.LSTM` to (kernel, bias) of `BasicLSTMCell`."""
    i, f, j, o = np.split(np.concatenate([inputs, recurrent]), 4, 1)
    kernel = np.concatenate([i, j, f, o], 1)
    i, f, j, o = np.split(bias, 4)
    return kernel, np.concatenate([i, j, f - forget_bias, o])


def gru_to_keras(gate_kernel, gate_bias, candidate_kernel, candidate_bias):
    """Converts `GRUCell` weights for `keras.layers.GRU(reset_after=False)`.

    Args:
        gate_kernel: [depth + units, 2 * units] array, the reset gate first.
        gate_bias: [2 * units] array.
        candidate_kernel: [depth + units, units] array.
        candidate_bias: [units] array.

    Returns:
        [kernel, recurrent kernel, bias], in the order update, reset, candidate.
    """
    reset, update = np.split(gate_kernel, 2, 1)
    kernel = np.concatenate([update, reset, candidate_kernel], 1)
    reset, update = np.split(gate_bias, 2)
    inputs, recurrent = np.split(kernel, [-len(update)])
    return [inputs, recurrent, np.concatenate([update, reset, candidate_bias])]


def gru_from_keras(inputs, recurrent, bias):
    """Converts weights of `keras.layers.GRU(reset_after=False)` for `GRUCell`."""
    update, reset, candidate = np.split(np.concatenate([inputs, recurrent]), 3, 1)
    gate_kernel = np.concatenate([reset, update], 1)
    update, reset, candidate_bias = np.split(bias, 3)
    return gate_kernel, np.concatenate([reset, update]), candidate, candidate_bias


def make_stack(units, layers, name="reader"):
    """Makes stacked GRUs; all but the first add their inputs to their outputs.

    Returns a `Reader`; see the class.
    """
    if layers < 1:
        raise ValueError("Must specify at least one cell")
    path = f"{name}/rnn/multi_rnn_cell/cell_"
    first, *others = [gru(units, f"{path}{i}") for i in range(layers)]
    return Reader(rnn.MultiRNNCell([first, *map(rnn.ResidualWrapper, others)]))


def make_static_rnn(units, name="reader"):
    """Makes an unrolled LSTM: the graph contains each time step, as `static_rnn` did.

    Returns a `Reader`; see the class.
    """
    return Reader(basic_lstm(units, f"{name}/rnn"), rnn.unroll_in_python)


def make_bidirectional(units, name="reader"):
    """Makes a bidirectional GRU; the backward GRU starts at each sequence's end.

    Returns a `Bidirectional`; see the class.
    """
    return Bidirectional(units, f"{name}/bidirectional_rnn")


class Bidirectional(tf.Module):
    """A bidirectional GRU; the backward GRU starts at each sequence's end.

    A call takes x, [batch, time, depth] floats, and the lengths, [batch] ints. It
    returns the outputs of both GRUs, [batch, time, 2 * units], and the pair of their
    last states, [batch, units] each.

    `keras.layers.Bidirectional` takes a mask instead of lengths, and Keras' GRUs apply
    the reset gate after the product by default.

    Args:
        units: size of each state.
        path: scope of the variables `fw/gru_cell/…` and `bw/gru_cell/…`.
    """

    def __init__(self, units, path):
        super().__init__()
        self.cells = [gru(units, f"{path}/{way}") for way in ("fw", "bw")]
        self.loop = tf.function(
            rnn.unroll_both_ways, autograph=False, reduce_retracing=True
        )

    def __call__(self, x, lengths):
        lengths = tf.cast(lengths, tf.int32)
        outputs, states = self.loop(*self.cells, built(x, self.cells), lengths)
        return tf.concat(outputs, 2), states


def last_outputs(outputs, lengths):
    """Selects the output at the last step of each sequence."""
    return tf.gather(outputs, lengths - 1, batch_dims=1)


def run_lstm(x, lengths, weights, forget_bias=1.0):
    """Runs an LSTM with the weights of a TensorFlow 1 checkpoint."""
    # --- build
    units = weights["rnn/basic_lstm_cell/bias"].shape[0] // 4
    cell = basic_lstm(units, "rnn", forget_bias)
    cell.build(x.shape[-1], x.dtype)
    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, state = tf.function(rnn.unroll)(cell, tf.constant(x), lengths)
    return {"outputs": outputs.numpy(), "c": state.c.numpy(), "h": state.h.numpy()}


def run_gru(x, lengths, weights):
    """Runs a GRU with the weights of a TensorFlow 1 checkpoint."""
    # --- build
    cell = gru(weights["rnn/gru_cell/candidate/bias"].shape[0], "rnn")
    cell.build(x.shape[-1], x.dtype)
    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, state = tf.function(rnn.unroll)(cell, tf.constant(x), lengths)
    return {"outputs": outputs.numpy(), "state": state.numpy()}


def run_until(first, weights, limit):
    """Feeds an RNN its own outputs until each row's first number is negative."""
    # --- build
    first = tf.constant(first)
    batch, n = first.shape
    cell = rnn.BasicRNNCell(n, name="rnn/basic_rnn_cell")
    cell.build(n, first.dtype)

    # --- step
    @tf.function
    def run():
        output = state = tf.zeros_like(first)
        time, x, ended = 0, first, tf.fill([batch], limit < 1)
        outputs = tf.TensorArray(
            first.dtype, 0, dynamic_size=True, element_shape=x.shape
        )
        while not tf.reduce_all(ended):
            output, new = cell(x, state)
            # A row that has ended outputs zeros, and its state does not change.
            said = tf.where(ended[:, None], tf.zeros_like(output), output)
            outputs = outputs.write(time, said)
            state = tf.where(ended[:, None], state, new)
            time, x = time + 1, output
            ended = ended | (output[:, 0] < 0) | (time >= limit)
        return outputs.stack(), state

    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, state = run()
    return {"outputs": outputs.numpy(), "state": state.numpy()}


def read_in_pieces(x, pieces, units, keep_state=True):
    """Runs an LSTM over long sequences in pieces, and passes the state on."""
    # --- build
    tf.random.set_seed(7)
    cell = basic_lstm(units, "rnn")
    cell.build(x.shape[-1], x.dtype)
    state = cell.zero_state(x.shape[0], x.dtype)
    read = tf.function(rnn.unroll)
    # --- run
    parts = []
    for part in np.split(x, pieces, axis=1):
        part, ended = read(cell, tf.constant(part), state=state)
        state = ended if keep_state else state
        parts.append(part)
    outputs = tf.concat(parts, 1).numpy()
    return {"outputs": outputs, "c": ended.c.numpy(), "h": ended.h.numpy()}


def dropout(x, units, keep, seed, variational=False, draws=2):
    """Runs an LSTM with dropout on its inputs, its outputs and its state h."""
    # --- build
    tf.random.set_seed(7)
    cell = basic_lstm(units, "rnn")
    cell.build(x.shape[-1], x.dtype)
    cell = rnn.DropoutWrapper(cell, *keep, variational, seed=seed)
    x = tf.constant(x)

    @tf.function
    def read():
        outputs, state = rnn.unroll(cell, x)
        return {"outputs": outputs, "c": state.c, "h": state.h}

    # --- run
    return [{k: v.numpy() for k, v in read().items()} for _ in range(draws)]


def train(x, lengths, labels, steps, units=4, rate=0.5, limit=1.0):
    """Trains an LSTM classifier of sequences, with gradients clipped by global norm."""
    # --- model
    tf.random.set_seed(7)
    network = Network(units)
    network.build(x.shape[-1], x.dtype)
    optimizer = optimizers.GradientDescent(rate)
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
        optimizer.apply_gradients(zip(gradients, variables))
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
    """An LSTM, and a softmax layer on its last h.

    A call takes x, [n, time, depth] floats, and lengths, [n] ints. It returns the
    logits, [n, 3]. `build` makes the variables; the list `ordered` has them in
    TensorFlow 1's order.

    Args:
        units: size of both parts of the state.
    """

    def __init__(self, units):
        super().__init__()
        self.cell = basic_lstm(units, "rnn")

    def build(self, depth, dtype):
        if self.cell.built:
            return
        self.cell.build(depth, dtype)
        draw = initializers.glorot_uniform(seed=2)
        self.w = tf.Variable(draw([self.cell.num_units, 3], dtype), name="softmax_w")
        self.b = tf.Variable(tf.zeros(3, dtype), name="softmax_b")
        # In the order of creation, in which v1 summed the norms of the gradients.
        self.ordered = [self.cell.kernel, self.cell.bias, self.w, self.b]

    def __call__(self, x, lengths):
        _, state = rnn.unroll(self.cell, x, lengths)
        return tf.nn.bias_add(tf.matmul(state.h, self.w), self.b)
