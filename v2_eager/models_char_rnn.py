"""`MultiRNNCell`, `dynamic_rnn`, `sequence_loss`, a state that is fed: char-rnn.

Andrej Karpathy published char-rnn in 2015, in Torch; this is the program of its ports
to TensorFlow, such as Sherjil Ozair's char-rnn-tensorflow, for TensorFlow 2.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore, rnn

__all__ = ["train", "evaluate", "export"]

UNITS, LAYERS, VOCAB_SIZE = 8, 2, 12
BATCH_SIZE, SEQ_LENGTH, GRAD_CLIP = 8, 10, 0.125
STATES = "c0", "h0", "c1", "h1"


class Model(tf.Module):
    """The network: an embedding, stacked LSTMs, and a softmax layer.

    A call takes chars, [batch, time] ints, and a state. It returns the logits, [batch,
    time, 12], and the new state.

    Args:
        dtype: dtype of the weights.
    """

    def __init__(self, dtype):
        super().__init__()
        draw = initializers.random_uniform(-0.08, 0.08, seed=1)

        def variable(name, shape):
            return tf.Variable(draw(shape, dtype), name=name)

        self.softmax_w = variable("rnnlm/softmax_w", [UNITS, VOCAB_SIZE])
        self.softmax_b = variable("rnnlm/softmax_b", [VOCAB_SIZE])
        self.embedding = variable("embedding", [VOCAB_SIZE, UNITS])
        names = [
            f"rnnlm/multi_rnn_cell/cell_{i}/basic_lstm_cell" for i in range(LAYERS)
        ]
        cells = [rnn.BasicLSTMCell(UNITS, name=n, initializer=draw) for n in names]
        self.cell = rnn.MultiRNNCell(cells)
        self.cell.build(UNITS, dtype)
        of_cells = [v for cell in cells for v in (cell.kernel, cell.bias)]
        # In the order of creation, in which v1 summed the norms of the gradients.
        self.ordered = [self.softmax_w, self.softmax_b, self.embedding, *of_cells]

    def zeros(self, batch_size):
        """Returns the state before the first character of a text."""
        return self.cell.zero_state(batch_size, self.embedding.dtype)

    def __call__(self, chars, state):
        inputs = tf.gather(self.embedding, chars)
        outputs, state = rnn.unroll(self.cell, inputs, state=state)
        flat = tf.reshape(outputs, [-1, UNITS])
        logits = tf.matmul(flat, self.softmax_w) + self.softmax_b
        return tf.reshape(logits, [tf.shape(chars)[0], -1, VOCAB_SIZE]), state

    @tf.function
    def predict(self, chars, state):
        """Returns the probabilities of the next characters, and the new state."""
        logits, state = self(chars, state)
        return tf.nn.softmax(logits), state

    @tf.function
    def cost(self, chars, targets, state):
        """Returns the mean cross-entropy for a character, and the new state."""
        logits, state = self(chars, state)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
        return tf.reduce_mean(losses), state


class Trainer(tf.Module):
    """A model, and the Adam that trains it, with all variables of the checkpoint.

    Args:
        dtype: dtype of the weights.
    """

    def __init__(self, dtype):
        super().__init__()
        self.model = Model(dtype)
        self.lr = tf.Variable(tf.zeros([], dtype), trainable=False, name="Variable")
        self.adam = optimizers.Adam(self.lr).create_slots(self.model.ordered)

    @tf.function
    def step(self, chars, targets, state):
        """Takes a step with clipped gradients; returns the loss and the new state."""
        variables = self.model.ordered
        with tf.GradientTape() as tape:
            loss, state = self.model.cost(chars, targets, state)
        grads = tape.gradient(loss, variables)
        grads, _ = tf.clip_by_global_norm(grads, GRAD_CLIP)
        self.adam.apply_gradients(zip(grads, variables))
        return loss, state


def batches(text):
    """Cuts a text into parallel streams, and these into pieces: lists of x and y."""
    count = len(text) // (BATCH_SIZE * SEQ_LENGTH)
    xdata = text[: count * BATCH_SIZE * SEQ_LENGTH]
    ydata = np.append(xdata[1:], xdata[0])
    pairs = [data.reshape(BATCH_SIZE, count, -1) for data in (xdata, ydata)]
    return [tf.constant(data.swapaxes(0, 1)) for data in pairs]


def train(text, rates, steps, checkpoint=None, folder=None):
    """Trains piece by piece, with the last state of a piece fed to the next one."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(rates.dtype)
    variables = restore.named(trainer)
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    # --- run
    xs, ys = batches(text)
    losses = []
    for step in range(steps):
        epoch, b = divmod(step, len(xs))
        if b == 0:
            trainer.lr.assign(rates[epoch])
            state = trainer.model.zeros(BATCH_SIZE)
        loss, state = trainer.step(xs[b], ys[b], state)
        losses.append(loss.numpy())
    # --- save
    if folder is not None:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: v.numpy() for name, v in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(checkpoint):
    """Returns the model with the weights of a checkpoint."""
    model = Model(tf.train.load_variable(checkpoint, "embedding").dtype)
    restore.by_name(checkpoint, restore.named(model))
    return model


def evaluate(text, prime, checkpoint, count=20):
    """Computes the perplexity of a text, and continues another one greedily."""
    model = restored(checkpoint)
    # --- perplexity
    state, costs = model.zeros(BATCH_SIZE), []
    for x, y in zip(*batches(text)):
        cost, state = model.cost(x, y, state)
        costs.append(cost.numpy())
    # --- sample
    sample, state = list(prime), model.zeros(1)
    for i in range(len(prime) - 1 + count):
        probs, state = model.predict(tf.constant([[sample[i]]], tf.int32), state)
        if i >= len(prime) - 1:
            sample.append(np.argmax(probs))
    return {"perplexity": np.exp(np.mean(costs)), "sample": np.array(sample)}


def export(chars, states, checkpoint, folder):
    """Exports the network with its state as inputs and outputs, and serves it once."""
    # --- save
    model = restored(checkpoint)

    @tf.function
    def serve(chars, **states):
        probs, state = model.predict(chars, [states[name] for name in STATES])
        return {"probs": probs, **dict(zip(STATES, tf.nest.flatten(state)))}

    dtype = model.embedding.dtype
    specs = {name: tf.TensorSpec([None, UNITS], dtype, name) for name in STATES}
    spec = tf.TensorSpec([None, None], tf.int32, "chars")
    served = serve.get_concrete_function(spec, **specs)
    tf.saved_model.save(model, folder, signatures={"serving_default": served})
    # --- serve
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    given = dict(zip(STATES, map(tf.constant, states)))
    answer = signature(chars=tf.constant(chars), **given)
    return {name: x.numpy() for name, x in answer.items()}
