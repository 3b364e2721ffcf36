"""`tf.contrib.rnn`: `AttentionCellWrapper`, `HighwayWrapper`, `CudnnLSTM` files."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, rnn
from v2_eager.rnn import DRAW, Reader, basic_lstm, gru, tensor_of

__all__ = [
    "make_attention",
    "make_highway",
    "make_projections",
    "make_embedding_reader",
    "make_static_both_ways",
    "make_stack_both_ways",
    "run_cudnn_lstm",
    "run_cudnn_gru",
    "train_language_model",
]

STACK = "stack_bidirectional_rnn/cell_"


def make_attention(units, window, size=None, hidden=None, name="reader"):
    """Makes a GRU that attends to its own last outputs (`AttentionCellWrapper`).

    Returns a `Reader`; see the class.
    """
    path = f"{name}/rnn/attention_cell_wrapper"
    cell = gru(units, path)
    return Reader(
        rnn.AttentionCellWrapper(cell, window, size, hidden, None, path, DRAW)
    )


def make_highway(units, coupled=True, carry_bias=1.0, name="reader"):
    """Makes a GRU with `HighwayWrapper`: a gate mixes its inputs and outputs.

    Returns a `Reader`; see the class.
    """
    path = f"{name}/rnn"
    cell = gru(units, path)
    return Reader(rnn.HighwayWrapper(cell, coupled, carry_bias, path, DRAW))


def make_projections(units, inputs, outputs, name="reader"):
    """Makes an LSTM with a dense layer before it and a dense layer after it.

    Returns a `Reader`; see the class.
    """
    behind = f"{name}/rnn/output_projection_wrapper"
    before = f"{behind}/input_projection_wrapper"
    cell = basic_lstm(units, before)
    cell = rnn.InputProjectionWrapper(cell, inputs, tf.nn.relu, before, DRAW)
    return Reader(rnn.OutputProjectionWrapper(cell, outputs, None, behind, DRAW))


def make_embedding_reader(units, classes, size, name="reader"):
    """Makes a GRU that reads word ids through an embedding (`EmbeddingWrapper`).

    Returns a `Reader`; see the class.
    """
    path = f"{name}/rnn/embedding_wrapper"
    cell = rnn.EmbeddingWrapper(gru(units, path), classes, size, DRAW, path)
    return Reader(cell, dtype=tf.float32)


def make_static_both_ways(units, name="reader"):
    """Makes an unrolled bidirectional LSTM that returns its outputs as a list.

    Returns a `StaticBothWays`; see the class.
    """
    return StaticBothWays(units, f"{name}/bidirectional_rnn")


class StaticBothWays(tf.Module):
    """A bidirectional LSTM, unrolled by a Python loop.

    A call takes x, [batch, time, depth] floats of known time, and optionally lengths,
    [batch] ints. It returns the list of outputs, [batch, 2 * units] each, and both last
    states (c, h). Each new time or batch size makes a new trace.

    Args:
        units: size of both parts of each state.
        path: scope of `fw/basic_lstm_cell/…` and `bw/basic_lstm_cell/…`.
    """

    def __init__(self, units, path):
        super().__init__()
        self.cells = [basic_lstm(units, f"{path}/{way}") for way in ("fw", "bw")]

    # Python unrolls: each new time makes a new trace. So does each new batch size: use
    # drop_remainder=True.
    @tf.function(autograph=False)
    def read(self, x, lengths):
        return rnn.unroll_both_ways_in_python(*self.cells, x, lengths)

    def __call__(self, x, lengths=None):
        return self.read(x, tensor_of(lengths))


def make_stack_both_ways(units, layers, name="reader"):
    """Makes stacked bidirectional GRUs; a layer reads both outputs of the layer below.

    Returns a `StackBothWays`; see the class.
    """
    return StackBothWays(units, layers, f"{name}/{STACK}")


class StackBothWays(tf.Module):
    """Stacked bidirectional GRUs; a layer reads both outputs of the layer below.

    A call takes x, [batch, time, depth] floats, and the lengths, [batch] ints. It
    returns the outputs of the last layer, [batch, time, 2 * units], and the tuples of
    last states of the forward and of the backward GRUs.

    Args:
        units: size of each state.
        layers: number of layers.
        path: prefix of the scopes; the number of the layer is appended to it:
            `…0/bidirectional_rnn/fw/gru_cell/…`.
    """

    def __init__(self, units, layers, path):
        super().__init__()
        self.forward, self.backward = (
            [gru(units, f"{path}{i}/bidirectional_rnn/{way}") for i in range(layers)]
            for way in ("fw", "bw")
        )

    def __call__(self, x, lengths):
        return self.read(x, tensor_of(lengths))

    @tf.function(autograph=False, reduce_retracing=True)
    def read(self, x, lengths):
        return rnn.unroll_stack_both_ways(self.forward, self.backward, x, lengths)


def run_cudnn_lstm(x, weights):
    """Runs the LSTMs of a `CudnnLSTM` checkpoint without a GPU.

    Args:
        x: [time, batch, depth] float array.
    """
    # --- build
    path = "rnn/multi_rnn_cell/cell_{}/cudnn_compatible_lstm_cell".format
    units = weights[f"{path(0)}/bias"].shape[0] // 4
    layers = range(len(weights) // 2)
    cell = rnn.MultiRNNCell(
        [rnn.CudnnCompatibleLSTMCell(units, path(i)) for i in layers]
    )
    cell.build(x.shape[2], x.dtype)
    # --- run
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    read = tf.function(rnn.unroll)
    outputs, states = read(cell, tf.constant(x), time_major=True)
    c, h = zip(*states)
    return {"outputs": outputs.numpy(), "h": np.stack(h), "c": np.stack(c)}


def run_cudnn_gru(x, weights):
    """Runs the GRUs of a bidirectional `CudnnGRU` checkpoint without a GPU."""
    # --- build
    path = f"{STACK}{{}}/bidirectional_rnn/{{}}/cudnn_compatible_gru_cell".format
    units = weights[f"{path(0, 'fw')}/candidate/input_projection/bias"].shape[0]
    layers = range(len(weights) // 12)
    forward, backward = (
        [rnn.CudnnCompatibleGRUCell(units, path(i, way)) for i in layers]
        for way in ("fw", "bw")
    )
    for i in layers:
        depth = 2 * units if i else x.shape[2]
        forward[i].build(depth, x.dtype)
        backward[i].build(depth, x.dtype)
    # --- run
    for cell in [*forward, *backward]:
        for variable in cell.variables:
            variable.assign(weights[variable.name[:-2]])
    read = tf.function(rnn.unroll_stack_both_ways)
    outputs, *states = read(forward, backward, tf.transpose(x, [1, 0, 2]))
    h = [state for both in zip(*states) for state in both]
    return {"outputs": tf.transpose(outputs, [1, 0, 2]).numpy(), "h": np.stack(h)}


def cudnn_gru_to_keras(
    gate_kernel, gate_bias, input_kernel, input_bias, hidden_kernel, hidden_bias
):
    """Converts weights of CuDNN's GRU for `keras.layers.GRU(reset_after=True)`.

    Args:
        gate_kernel: [depth + units, 2 * units] array, the reset gate before the update.
        gate_bias: [2 * units] array.
        input_kernel: [depth, units] array of the candidate.
        input_bias: [units] array.
        hidden_kernel: [units, units] array of the candidate.
        hidden_bias: [units] array.

    Returns:
        [kernel, recurrent kernel, bias], each in the order update, reset, candidate. A
        checkpoint has the sum of the gates' two biases: here it is the bias of the
        inputs, and the recurrent bias of the gates is 0.
    """
    reset, update = np.split(gate_kernel, 2, 1)
    (of_x, of_h), (x_reset, h_reset) = (
        np.split(gate, [len(input_kernel)]) for gate in (update, reset)
    )
    reset, update = np.split(gate_bias, 2)
    bias = [
        np.concatenate([update, reset, input_bias]),
        np.concatenate([0 * update, 0 * reset, hidden_bias]),
    ]
    return [
        np.concatenate([of_x, x_reset, input_kernel], 1),
        np.concatenate([of_h, h_reset, hidden_kernel], 1),
        np.stack(bias),
    ]


def train_language_model(words, start, layers=2, pieces=2, epochs=2, rate=1.0):
    """Trains an LSTM language model on pieces of text; carries the state over."""
    # --- model
    batch, steps = words.shape[0], (words.shape[1] - 1) // pieces
    model = LanguageModel(start, layers)
    optimizer = optimizers.GradientDescent(rate)

    # --- step
    @tf.function
    def step(inputs, targets, state):
        with tf.GradientTape() as tape:
            logits, state = model(inputs, state)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
            loss = tf.reduce_sum(losses) / batch
        variables = model.ordered
        gradients = tape.gradient(loss, variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(gradients, variables))
        return loss, state

    # --- run
    history = []
    for _ in range(epochs):
        state = model.cell.zero_state(batch, tf.float32)
        for at in range(0, pieces * steps, steps):
            inputs = tf.constant(words[:, at : at + steps])
            targets = tf.constant(words[:, at + 1 : at + steps + 1])
            loss, state = step(inputs, targets, state)
            history.append(loss.numpy())
    return {
        "losses": np.stack(history),
        "variables": {v.name[:-2]: v.numpy() for v in model.ordered},
        "states": tf.nest.map_structure(lambda tensor: tensor.numpy(), state),
    }


class LanguageModel(tf.Module):
    """A language model of embeddings, LSTMs and a softmax layer, with given weights.

    A call takes words, [batch, time] ints, and the LSTMs' states. It returns the
    logits, [batch, time, words], and the new states.

    Args:
        start: {name: float32 array} of all variables; see `train_language_model`.
        layers: number of LSTMs.
    """

    def __init__(self, start, layers):
        super().__init__()
        path = "rnn/multi_rnn_cell/cell_{}/lstm_cell".format
        self.embedding, self.w, self.b = (
            tf.Variable(start[name], name=name)
            for name in ("embedding", "softmax_w", "softmax_b")
        )
        _, units = start["embedding"].shape
        cells = [rnn.LSTMBlockCell(units, 0.0, name=path(i)) for i in range(layers)]
        self.cell = rnn.MultiRNNCell(cells)
        self.cell.build(units, self.embedding.dtype)
        weights = [weight for cell in cells for weight in (cell.kernel, cell.bias)]
        for variable in weights:
            variable.assign(start[variable.name[:-2]])
        # In the order of creation, in which 1.15 summed the norms of the gradients.
        self.ordered = [self.embedding, *weights, self.w, self.b]

    def __call__(self, words, state):
        vectors = tf.gather(self.embedding, words)
        outputs, state = rnn.unroll(self.cell, vectors, state=state)
        return tf.matmul(outputs, self.w) + self.b, state
