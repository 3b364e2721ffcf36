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
    """Lengths as a tensor, since a list is traced anew each time; None stays None."""
    return None if lengths is None else tf.convert_to_tensor(lengths)


class Reader(tf.Module):
    """Runs a cell over sequences, by one function for all sizes.

    A call takes x, [batch, time, depth] floats, and optionally lengths, [batch] ints,
    and a first state. It returns the outputs, zero past the end, and the last state.
    The first call makes the cell's variables.

    Args:
        cell: a cell of `numerics.rnn`.
        loop: `rnn.unroll`, or `rnn.unroll_in_python`, which needs to know the time.
        **options: further keywords of the loop, such as `time_major` or `dtype`.
    """

    def __init__(self, cell, loop=rnn.unroll, **options):
        super().__init__()
        self.cell, self.dtype = cell, options.get("dtype")
        # Traced, for who calls it eagerly: the faster, and gradients add up as in v1.
        # Anew until it is known which sizes change, unless Python unrolls, which needs
        # to know the time.
        self.loop = tf.function(
            functools.partial(loop, cell, **options),
            autograph=False,  # no Python to convert
            reduce_retracing=loop is rnn.unroll,
        )

    def __call__(self, x, lengths=None, state=None):
        x = built(x, [self.cell], self.dtype)
        # As tensors, and a state as a flat list of them: the values of a Python list,
        # and the kind of a tuple, are parts of a signature.
        if lengths is not None:
            lengths = tf.cast(lengths, tf.int32)
        if state is not None:
            parts, dtype = tf.nest.flatten(state), self.dtype or x.dtype
            state = [tf.convert_to_tensor(part, dtype_hint=dtype) for part in parts]
        return self.loop(x, lengths=lengths, state=state)


def built(x, cells, dtype=None):
    """x as a tensor, for which the cells have made their variables.

    A function whose first trace makes variables is traced once more.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank == 3 and x.shape[2] is not None:  # else the loop complains
        for cell in cells:
            cell.build(x.shape[2], dtype or x.dtype)
    return x


def make_basic_rnn(units, activation="tanh", time_major=False, name="reader"):
    """Makes the plainest network: its output is its state.

    Returns a `Reader`; see the class.
    """
    activation, path = getattr(tf.nn, activation), f"{name}/rnn/basic_rnn_cell"
    cell = rnn.BasicRNNCell(units, activation, path, DRAW)
    return Reader(cell, time_major=time_major)


def make_basic_lstm(units, forget_bias=1.0, name="reader"):
    """Makes an LSTM, for sequences of several lengths and from any state.

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
    """Makes an LSTM with what else there was: peepholes, projection, clipping.

    Returns a `Reader`; see the class.
    """
    options = peepholes, cell_clip, DRAW, projection, projection_clip
    return Reader(rnn.LSTMCell(units, *options, name=f"{name}/rnn/lstm_cell"))


def make_gru(units, name="reader"):
    """Makes a GRU, whose reset gate comes before the product.

    Returns a `Reader`; see the class.
    """
    return Reader(gru(units, f"{name}/rnn"))


def gru(units, path):
    return rnn.GRUCell(units, initializer=DRAW, name=f"{path}/gru_cell")


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

    Returns a `Reader`; see the class.
    """
    if layers < 1:
        raise ValueError("Must specify at least one cell")
    path = f"{name}/rnn/multi_rnn_cell/cell_"
    first, *others = [gru(units, f"{path}{i}") for i in range(layers)]
    return Reader(rnn.MultiRNNCell([first, *map(rnn.ResidualWrapper, others)]))


def make_static_rnn(units, name="reader"):
    """Makes an LSTM that is unrolled: a graph as long as the sequences.

    Returns a `Reader`; see the class.
    """
    return Reader(basic_lstm(units, f"{name}/rnn"), rnn.unroll_in_python)


def make_bidirectional(units, name="reader"):
    """Makes two GRUs, one of which reads every sequence from its own end.

    Returns a `Bidirectional`; see the class.
    """
    return Bidirectional(units, f"{name}/bidirectional_rnn")


class Bidirectional(tf.Module):
    """Two GRUs, one of which reads every sequence from its own end.

    A call takes x, [batch, time, depth] floats, and the lengths, [batch] ints. It
    returns the outputs of both, [batch, time, 2 * units], and the pair of last states,
    [batch, units] each.

    `keras.layers.Bidirectional` takes a mask in place of lengths, and Keras' GRUs reset
    after the product by default.

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
    """The output at the end of every sequence, wherever that is."""
    return tf.gather(outputs, lengths - 1, batch_dims=1)


def run_lstm(x, lengths, weights, forget_bias=1.0):
    """Runs an LSTM by the weights of an old checkpoint."""
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
    """Runs a GRU by the weights of an old checkpoint."""
    # --- build
    cell = gru(weights["rnn/gru_cell/candidate/bias"].shape[0], "rnn")
    cell.build(x.shape[-1], x.dtype)
    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, state = tf.function(rnn.unroll)(cell, tf.constant(x), lengths)
    return {"outputs": outputs.numpy(), "state": state.numpy()}


def run_until(first, weights, limit):
    """Feeds an RNN its own outputs, until the first number of each row is negative."""
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
            # A row that has ended says zeros, and its state stays.
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
    """Reads long sequences piece by piece, each from where the last one ended."""
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
    """Drops parts of what an LSTM reads, of its outputs and of its h."""
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
    """Trains an LSTM to classify sequences, its gradients clipped."""
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
    logits, [n, 3]. `build` makes the variables, which `ordered` has in the order of
    TensorFlow 1.

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
        # As they were made: so the norms of the gradients were summed.
        self.ordered = [self.cell.kernel, self.cell.bias, self.w, self.b]

    def __call__(self, x, lengths):
        _, state = rnn.unroll(self.cell, x, lengths)
        return tf.nn.bias_add(tf.matmul(state.h, self.w), self.b)
