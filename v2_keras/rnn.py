"""`tf.nn.dynamic_rnn`, `BasicLSTMCell`, `GRUCell`, `MultiRNNCell` → modules, a loop.

A Keras layer computes in float32 and returns float32 for inputs of any dtype, unless it
has another `dtype=`.
"""

import collections
import functools

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from v2_eager.numerics import initializers

__all__ = [
    "make_basic_rnn",
    "make_basic_lstm",
    "make_gru",
    "make_stack",
    "make_static_rnn",
    "make_bidirectional",
    "run_lstm",
    "run_gru",
    "read_in_pieces",
    "train",
]

State = collections.namedtuple("State", ["c", "h"])


class Part:
    """A weight of TensorFlow 1 that Keras keeps in columns of one or two variables.

    A kernel was one matrix for inputs and state; Keras has a separate recurrent kernel.

    Args:
        variables: [kernel, recurrent kernel] or [bias].
        columns: slice of their columns.
        order: function that swaps an array's gates; it is its own inverse.
        offset: number that TensorFlow 1 added to the weight in each step.
    """

    trainable = True

    def __init__(self, variables, columns=np.s_[:], order=lambda x: x, offset=0.0):
        self.variables, self.columns = variables, columns
        self.order, self.offset = order, np.float32(offset)

    @property
    def value(self):
        return [variable.value for variable in self.variables]

    @property
    def shape(self):
        return self.numpy().shape

    def joined(self, parts):
        """Joins parts of Keras variables (values or gradients) to one old weight."""
        parts = [np.asarray(part)[..., self.columns] for part in parts]
        return self.order(np.concatenate(parts))

    def numpy(self):
        return self.joined([v.numpy() for v in self.variables]) - self.offset

    def assign(self, value):
        value = self.order(np.asarray(value) + self.offset)
        ends = np.cumsum([variable.shape[0] for variable in self.variables])[:-1]
        for variable, part in zip(self.variables, np.split(value, ends)):
            whole = variable.numpy()
            whole[..., self.columns] = part
            variable.assign(whole)


def swap_gates(x):
    """Changes the gates' order from i, j, f, o (old) to i, f, j, o (Keras), or back."""
    i, j, f, o = np.split(x, 4, -1)
    return np.concatenate([i, f, j, o], -1)


def swap_halves(x):
    """Changes the order from reset, update (old) to update, reset (Keras), or back."""
    return np.concatenate(np.split(x, 2, -1)[::-1], -1)


def old_weights(layer, path, forget_bias=1.0):
    """Maps names in TensorFlow 1 to weights of a `SimpleRNN`, an `LSTM` or a `GRU`.

    Args:
        layer: the layer.
        path: scope in which the cell was called.
        forget_bias: number that the old LSTM added in each step; Keras has it in the
            bias.
    """
    *kernels, bias = layer.weights
    units = layer.units
    if isinstance(layer, layers.SimpleRNN):
        path += "/basic_rnn_cell"
        return {f"{path}/kernel": Part(kernels), f"{path}/bias": Part([bias])}
    if isinstance(layer, layers.LSTM):
        path += "/basic_lstm_cell"
        forget = np.repeat([0, 0, forget_bias, 0], units)
        return {
            f"{path}/kernel": Part(kernels, order=swap_gates),
            f"{path}/bias": Part([bias], order=swap_gates, offset=forget),
        }
    gates, candidate = np.s_[: 2 * units], np.s_[2 * units :]
    path += "/gru_cell"
    return {
        f"{path}/gates/kernel": Part(kernels, gates, swap_halves),
        f"{path}/gates/bias": Part([bias], gates, swap_halves),
        f"{path}/candidate/kernel": Part(kernels, candidate),
        f"{path}/candidate/bias": Part([bias], candidate),
    }


def old_names(reader):
    """Maps names in TensorFlow 1 to the weights of a layer of this page."""
    return reader.old_weights()


READS = {"return_sequences": True, "return_state": True, "zero_output_for_mask": True}
"""Options of `dynamic_rnn`'s outputs: zeros past the end of a sequence."""

# The reset gate comes before the product, and there is one bias.
GRU = functools.partial(layers.GRU, reset_after=False, **READS)


def mask_of(lengths, x):
    """Makes the [batch, time] mask of lengths, [batch] ints."""
    tf.debugging.assert_rank(lengths, 1, "lengths must be a vector")
    check_rows(lengths, x)
    return tf.sequence_mask(lengths, tf.shape(x)[1])


def check_rows(part, x):
    """Raises if one row is given for all sequences; Keras would broadcast it."""
    message = "Expected one length and one state for each sequence"
    tf.debugging.assert_equal(tf.shape(part)[0], tf.shape(x)[0], message)


@keras.saving.register_keras_serializable("v2_keras")
class Reader(layers.Layer):
    """Runs a recurrent layer of Keras over sequences with lengths instead of a mask.

    A call takes x, [batch, steps, features] floats; lengths, [batch] ints, or None for
    whole sequences; and the initial state, or None for zeros: [batch, units], or (c, h)
    for an LSTM. It returns (outputs, state): the outputs are [batch, steps, units] and
    0 beyond the length; the state is the state after the last step of each sequence, a
    `State` for an LSTM.

    Args:
        rnn: `keras.layers.SimpleRNN`, `LSTM` or `GRU`, made with the options `READS`.
        name: str, the scope of the cell in TensorFlow 1.
        forget_bias: float that TensorFlow 1's LSTM added to the forget gate in each
            step. Keras has it in the bias; `old_weights` subtracts it.
        time_major: bool, whether x and the outputs are [steps, batch, …].
        **options: arguments of `keras.layers.Layer`; the dtype is by default the dtype
            of `rnn`.

    Raises:
        ValueError: (InvalidArgumentError if shapes are unknown) the number of lengths
            or states is not the batch size.
    """

    def __init__(self, rnn, name, forget_bias=1.0, time_major=False, **options):
        super().__init__(name=name, **{"dtype": rnn.dtype_policy, **options})
        self.rnn, self.forget_bias, self.time_major = rnn, forget_bias, time_major
        self.supports_masking = True  # lengths replace the mask, so none is needed

    def get_config(self):
        own = {"forget_bias": self.forget_bias, "time_major": self.time_major}
        rnn = keras.saving.serialize_keras_object(self.rnn)
        return {**super().get_config(), **own, "rnn": rnn}

    @classmethod
    def from_config(cls, config):
        rnn = keras.saving.deserialize_keras_object(config["rnn"])
        return cls(**{**config, "rnn": rnn})

    def old_weights(self):
        return old_weights(self.rnn, f"{self.name}/rnn", self.forget_bias)

    def call(self, x, lengths=None, state=None):
        if self.time_major:
            x = tf.transpose(x, [1, 0, 2])
        mask = None if lengths is None else mask_of(lengths, x)
        if state is not None:
            for part in tf.nest.flatten(state):
                check_rows(part, x)
            if isinstance(self.rnn, layers.LSTM):
                state = state[::-1]  # v1 had (c, h), Keras has (h, c)
        outputs, *state = self.rnn(x, mask=mask, initial_state=state)
        if self.time_major:
            outputs = tf.transpose(outputs, [1, 0, 2])
        return outputs, (State(*state[::-1]) if len(state) == 2 else state[0])


def make_basic_rnn(units, activation="tanh", time_major=False, name="reader"):
    """Makes a `BasicRNNCell` network over sequences: the output is the state.

    Returns a `Reader`; see the class.

    Keras 3 has no `time_major`.
    """
    return Reader(
        layers.SimpleRNN(units, activation, **READS), name, time_major=time_major
    )


def make_basic_lstm(units, forget_bias=1.0, name="reader"):
    """Makes an LSTM over sequences of different lengths, with an optional first state.

    Returns a `Reader`; see the class.

    Raises:
        ValueError: in a call: the input does not have three dimensions, or the lengths
            are not a vector.
        AttributeError: in a call: the depth is unknown.
    """
    return Reader(layers.LSTM(units, **READS), name, forget_bias)


def make_gru(units, name="reader"):
    """Makes a GRU over sequences, with the reset gate before the product.

    Returns a `Reader`; see the class.
    """
    return Reader(GRU(units), name)


def make_stack(units, layers, name="reader"):
    """Makes stacked GRUs; all but the first add their inputs to their outputs.

    Returns a `Stack`; see the class.
    """
    if layers < 1:
        raise ValueError("Must specify at least one cell")
    return Stack(units, layers, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class Stack(layers.Layer):
    """Stacked GRUs; all but the first add their inputs to their outputs.

    Its call takes x, [batch, steps, features] floats, and lengths, [batch] ints. It
    returns ([batch, steps, units] outputs, tuple of a [batch, units] state per GRU).

    Args:
        units: int, the size of each GRU.
        count: int, the number of GRUs.
        name: str, the scope of the cells in TensorFlow 1.
        **options: arguments of `keras.layers.Layer`.
    """

    def __init__(self, units, count, name, **options):
        super().__init__(name=name, **options)
        self.units, self.count = units, count
        self.readers = [
            Reader(GRU(units, dtype=self.dtype_policy), f"cell_{i}")
            for i in range(count)
        ]
        for i, reader in enumerate(self.readers):  # Checkpoint ignores layers in lists
            setattr(self, f"cell_{i}", reader)

    def build(self, x_shape, lengths_shape=None):
        for reader in self.readers:  # else a file's weights find no variables
            reader.rnn.build(x_shape)
            x_shape = (*x_shape[:2], self.units)

    def get_config(self):
        own = {"units": self.units, "count": self.count}
        return {**super().get_config(), **own}

    def old_weights(self):
        path = f"{self.name}/rnn/multi_rnn_cell"
        return {
            f"{path}/{name.replace('/rnn/', '/')}": weight
            for reader in self.readers
            for name, weight in reader.old_weights().items()
        }

    def call(self, x, lengths):
        states = []
        for reader in self.readers:
            read, state = reader(x, lengths)
            x = x + read if states else read
            states.append(state)
        return x, tuple(states)


def make_static_rnn(units, name="reader"):
    """Makes an unrolled LSTM: the graph contains each time step, as `static_rnn` did.

    Returns a `StaticReader`; see the class.
    """
    return StaticReader(layers.LSTM(units, unroll=True, **READS), name)


@keras.saving.register_keras_serializable("v2_keras")
class StaticReader(Reader):
    """A `Reader` that returns the outputs as a list with a tensor for each step.

    Its call takes no state. x must have a known number of steps.

    Args:
        rnn: see `Reader`; made with `unroll=True`.
        name: str, the scope of the cell in TensorFlow 1.
        forget_bias: float, see `Reader`.
        **options: arguments of `keras.layers.Layer`.

    Raises:
        ValueError: `time_major=True`.
    """

    def __init__(self, rnn, name, forget_bias=1.0, **options):
        super().__init__(rnn, name, forget_bias, **options)
        if self.time_major:
            raise ValueError("time_major must be False: pass [batch, steps, features]")

    def call(self, x, lengths=None):
        outputs, state = super().call(x, lengths)
        return tf.unstack(outputs, axis=1), state


def make_bidirectional(units, name="reader"):
    """Makes a bidirectional GRU; the backward GRU starts at each sequence's end.

    Returns a `BidirectionalReader`; see the class.
    """
    return BidirectionalReader(layers.Bidirectional(GRU(units)), name)


@keras.saving.register_keras_serializable("v2_keras")
class BidirectionalReader(Reader):
    """Reads each sequence forwards, and backwards from its end.

    Its call takes x, [batch, steps, features] floats, and lengths, [batch] ints. It
    returns ([batch, steps, 2 * units] outputs, (forward state, backward state)).

    Args:
        rnn: `keras.layers.Bidirectional` of a GRU, made with the options `READS`.
        name: str, the scope of the cells in TensorFlow 1.
        forget_bias: float, which a GRU does not use.
        time_major: bool, whether x and the outputs are [steps, batch, …].
        **options: arguments of `keras.layers.Layer`; the dtype is by default the dtype
            of `rnn`.
    """

    def old_weights(self):
        path = f"{self.name}/bidirectional_rnn"
        forward, backward = self.rnn.forward_layer, self.rnn.backward_layer
        return {
            **old_weights(forward, f"{path}/fw", self.forget_bias),
            **old_weights(backward, f"{path}/bw", self.forget_bias),
        }

    def call(self, x, lengths):
        if self.time_major:
            x = tf.transpose(x, [1, 0, 2])
        outputs, *states = self.rnn(x, mask=mask_of(lengths, x))
        if self.time_major:
            outputs = tf.transpose(outputs, [1, 0, 2])
        return outputs, tuple(states)


def restore(reader, weights):
    """Assigns old weights, {name below the reader's scope: array}, to a reader."""
    for name, weight in old_names(reader).items():
        weight.assign(weights[name.removeprefix(reader.name + "/")])


def run_lstm(x, lengths, weights, forget_bias=1.0):
    """Runs an LSTM with the weights of a TensorFlow 1 checkpoint."""
    # --- build
    units = weights["rnn/basic_lstm_cell/bias"].shape[0] // 4
    reader = make_basic_lstm(units, forget_bias)
    reader.rnn.build(x.shape)
    restore(reader, weights)
    # --- run
    outputs, state = reader(x, lengths)
    return {"outputs": outputs.numpy(), "c": state.c.numpy(), "h": state.h.numpy()}


def run_gru(x, lengths, weights):
    """Runs a GRU with the weights of a TensorFlow 1 checkpoint."""
    # --- build
    units = weights["rnn/gru_cell/candidate/bias"].shape[0]
    reader = make_gru(units)
    reader.rnn.build(x.shape)
    restore(reader, weights)
    # --- run
    outputs, state = reader(x, lengths)
    return {"outputs": outputs.numpy(), "state": state.numpy()}


def drawn(depth, units):
    """Draws the initial weights that TensorFlow 1 drew for an LSTM."""
    kernel = initializers.glorot_uniform(seed=1)([depth + units, 4 * units])
    return {
        "rnn/basic_lstm_cell/kernel": kernel.numpy(),
        "rnn/basic_lstm_cell/bias": np.zeros(4 * units, "f"),
    }


def read_in_pieces(x, pieces, units, keep_state=True):
    """Runs an LSTM over long sequences in pieces, and passes the state on.

    `stateful=True` keeps the state between calls, until `reset_state`.
    """
    # --- build
    tf.random.set_seed(7)
    reader = Reader(layers.LSTM(units, stateful=keep_state, **READS), "reader")
    reader.rnn.build(x.shape)
    restore(reader, drawn(x.shape[2], units))
    # --- run
    parts = []
    for part in np.split(x, pieces, axis=1):
        outputs, state = reader(part)
        parts.append(outputs.numpy())
    outputs = np.concatenate(parts, 1)
    return {"outputs": outputs, "c": state.c.numpy(), "h": state.h.numpy()}


def train(x, lengths, labels, steps, units=4, rate=0.5, limit=1.0):
    """Trains an LSTM classifier of sequences, with gradients clipped by global norm.

    `global_clipnorm` would clip the gradients, too, but does not return the norm.
    Everything is computed in float32, for each dtype of `x`.
    """
    # --- model
    tf.random.set_seed(7)
    model = Classifier(units, limit)
    model.build(x.shape)
    # --- step
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(rate), loss)
    # --- run
    inputs = {"x": x, "lengths": lengths}
    history = model.fit(inputs, labels, len(x), steps, shuffle=False, verbose=0).history
    names = model.reader.old_weights() | {
        "reader/softmax_w": model.dense.kernel,
        "reader/softmax_b": model.dense.bias,
    }
    return {
        "losses": list(np.float32(history["loss"])),
        "norms": list(np.float32(history["norm"])),
        "variables": {n.partition("/")[2]: v.numpy() for n, v in names.items()},
        "logits": model(inputs).numpy(),
    }


@keras.saving.register_keras_serializable("v2_keras", "SequenceClassifier")
class Classifier(keras.Model):
    """An LSTM and a dense layer of 3 logits; its steps clip by the global norm.

    Its call takes {"x": [batch, steps, features] floats, "lengths": [batch] ints} and
    returns [batch, 3] logits of the state after the last step. A step of `fit` logs
    `loss` and `norm`, the global norm of the gradients before they are clipped, and no
    metrics of `compile`. The weights begin as TensorFlow 1 drew them.

    Args:
        units: int, the size of the LSTM.
        limit: float, the global norm to which the gradients are clipped.
        **options: arguments of `keras.Model`.
    """

    def __init__(self, units, limit, **options):
        super().__init__(**options)
        self.units, self.limit = units, limit
        kept = {"dtype": self.dtype_policy}
        self.reader = Reader(layers.LSTM(units, **READS, **kept), "reader")
        draw = initializers.glorot_uniform(seed=2)
        self.dense = layers.Dense(3, kernel_initializer=draw, **kept)

    def get_config(self):
        own = {"units": self.units, "limit": self.limit}
        return {**super().get_config(), **own}

    def build(self, shape):
        if isinstance(shape, dict):  # if the first call builds the model
            shape = shape["x"]
        # Initializers: an assignment is lost if an outer model builds this model.
        with tf.init_scope():
            weights = drawn(shape[2], self.units)
        kernel = swap_gates(weights["rnn/basic_lstm_cell/kernel"])
        constant, cell = keras.initializers.Constant, self.reader.rnn.cell
        cell.kernel_initializer = constant(kernel[: shape[2]])
        cell.recurrent_initializer = constant(kernel[shape[2] :])
        self.reader.rnn.build(shape)
        self.dense.build([None, self.units])

    def call(self, inputs):
        _, state = self.reader(inputs["x"], inputs["lengths"])
        return self.dense(state.h)

    def train_step(self, data):
        inputs, labels, counts = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            outputs = self(inputs, training=True)
            loss = self.compute_loss(inputs, labels, outputs, counts)
        weights = self.trainable_weights
        gradients = tape.gradient(loss, weights)
        gradients, norm = tf.clip_by_global_norm(gradients, self.limit)
        self.optimizer.apply(gradients, weights)
        return {"loss": loss, "norm": norm}
