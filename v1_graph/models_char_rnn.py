"""`MultiRNNCell`, `dynamic_rnn`, `sequence_loss`, a state that is fed: char-rnn.

Andrej Karpathy published char-rnn in 2015, in Torch; this is the program of its ports
to TensorFlow, such as Sherjil Ozair's char-rnn-tensorflow, with `dynamic_rnn`.
"""

import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

UNITS, LAYERS, VOCAB_SIZE = 8, 2, 12
BATCH_SIZE, SEQ_LENGTH, GRAD_CLIP = 8, 10, 0.125
STATES = "c0", "h0", "c1", "h1"


class Model:
    """The graph: an embedding, stacked LSTMs, a softmax layer, the loss and the step.

    Args:
        dtype: dtype of the weights.
        training: whether to build the training step.
    """

    def __init__(self, dtype, training=True):
        self.input_data = tf.placeholder(tf.int32, [None, None], "input_data")
        self.targets = tf.placeholder(tf.int32, [None, None], "targets")
        cells = [tf.nn.rnn_cell.BasicLSTMCell(UNITS) for _ in range(LAYERS)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        batch_size = tf.shape(self.input_data)[0]
        self.initial_state = cell.zero_state(batch_size, dtype)
        draw = tf.random_uniform_initializer(-0.08, 0.08, seed=1)
        tf.get_variable_scope().set_initializer(draw)
        with tf.variable_scope("rnnlm"):
            softmax_w = tf.get_variable("softmax_w", [UNITS, VOCAB_SIZE], dtype)
            softmax_b = tf.get_variable("softmax_b", [VOCAB_SIZE], dtype)
        embedding = tf.get_variable("embedding", [VOCAB_SIZE, UNITS], dtype)
        inputs = tf.nn.embedding_lookup(embedding, self.input_data)
        outputs, self.final_state = tf.nn.dynamic_rnn(
            cell, inputs, initial_state=self.initial_state, scope="rnnlm"
        )
        flat = tf.matmul(tf.reshape(outputs, [-1, UNITS]), softmax_w) + softmax_b
        logits = tf.reshape(flat, [batch_size, -1, VOCAB_SIZE])
        self.probs = tf.nn.softmax(logits)
        self.cost = tensorflow.contrib.seq2seq.sequence_loss(
            logits, self.targets, tf.ones_like(self.targets, dtype)
        )
        if not training:
            return
        self.lr = tf.Variable(0.0, trainable=False, dtype=dtype)
        tvars = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), GRAD_CLIP)
        optimizer = tf.train.AdamOptimizer(self.lr)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars))


def batches(text):
    """Cuts a text into parallel streams, and these into pieces: lists of x and y."""
    count = len(text) // (BATCH_SIZE * SEQ_LENGTH)
    xdata = text[: count * BATCH_SIZE * SEQ_LENGTH]
    ydata = np.append(xdata[1:], xdata[0])
    return [np.split(data.reshape(BATCH_SIZE, -1), count, 1) for data in (xdata, ydata)]


def train(text, rates, steps, checkpoint=None, folder=None):
    """Trains piece by piece, with the last state of a piece fed to the next one.

    Args:
        text: [n] int32 array of characters; a batch is 8 pieces of 10 characters, and
            the end of the text that fills no batch is not read.
        rates: [epochs] float array of learning rates; the weights have its dtype.
        steps: number of steps, at most epochs * (n // 80).
        checkpoint: path of a checkpoint to go on from, with Adam's slots, or None; the
            text is read from its beginning.
        folder: folder to save `model.ckpt` in, or None.

    Returns:
        dict with the `losses`, [steps], and all `variables`, {name: array}, of which
        `Variable` is the learning rate.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        model = Model(rates.dtype)
        saver = tf.train.Saver(tf.global_variables())
        # --- run
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        (xs, ys), losses = batches(text), []
        for step in range(steps):
            epoch, b = divmod(step, len(xs))
            if b == 0:
                sess.run(tf.assign(model.lr, rates[epoch]))
                state = sess.run(model.initial_state, {model.input_data: xs[b]})
            feed = {model.input_data: xs[b], model.targets: ys[b]}
            feed[model.initial_state] = state
            fetches = [model.cost, model.final_state, model.train_op]
            loss, state, _ = sess.run(fetches, feed)
            losses.append(loss)
        # --- save
        if folder is not None:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def restored(sess, checkpoint):
    """Builds the model without its training step, and restores the weights."""
    dtype = tf.train.load_variable(checkpoint, "embedding").dtype
    model = Model(dtype, training=False)
    tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
    return model


def evaluate(text, prime, checkpoint, count=20):
    """Computes the perplexity of a text, and continues another one greedily.

    Args:
        text: [n] int32 array of characters; see `train`.
        prime: [m] int32 array, at least one character: the beginning of the sample.
        checkpoint: path of the checkpoint.
        count: number of characters to sample.

    Returns:
        dict with the `perplexity`, a scalar, and the `sample`, [m + count] ints.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        model = restored(sess, checkpoint)
        # --- perplexity
        xs, ys = batches(text)
        state, costs = sess.run(model.initial_state, {model.input_data: xs[0]}), []
        for x, y in zip(xs, ys):
            feed = {model.input_data: x, model.targets: y, model.initial_state: state}
            cost, state = sess.run([model.cost, model.final_state], feed)
            costs.append(cost)
        # --- sample
        sample = list(prime)
        state = sess.run(model.initial_state, {model.input_data: [[0]]})
        for i in range(len(prime) - 1 + count):
            feed = {model.input_data: [[sample[i]]], model.initial_state: state}
            probs, state = sess.run([model.probs, model.final_state], feed)
            if i >= len(prime) - 1:
                sample.append(np.argmax(probs))
        return {"perplexity": np.exp(np.mean(costs)), "sample": np.array(sample)}


def export(chars, states, checkpoint, folder):
    """Exports the network with its state as inputs and outputs, and serves it once.

    Args:
        chars: [n, time] int32 array of characters.
        states: [4, n, 8] array of the dtype of the checkpoint: c and h of each layer.
        checkpoint: path of the checkpoint.
        folder: folder to write, empty.

    Returns:
        dict with `probs`, [n, time, 12], and the new "c0", "h0", "c1" and "h1".
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        model = restored(sess, checkpoint)
        first, last = map(tf.nest.flatten, (model.initial_state, model.final_state))
        inputs = {"chars": model.input_data, **dict(zip(STATES, first))}
        outputs = {"probs": model.probs, **dict(zip(STATES, last))}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- serve
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        given = {"chars": chars, **dict(zip(STATES, states))}
        feed = {signature.inputs[name].name: x for name, x in given.items()}
        return sess.run({k: t.name for k, t in signature.outputs.items()}, feed)
