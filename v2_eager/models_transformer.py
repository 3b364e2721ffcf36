"""Transformer: `tf.split` into heads, key masks, layer norm, label smoothing, Noam.

Vaswani et al., "Attention Is All You Need", 2017: the encoder, with the names of the
variables in the checkpoints of such programs. Here it translates each word.
"""

import functools
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

VOCAB_SIZE, MAXLEN = 11, 10
D_MODEL, D_FF, NUM_HEADS, NUM_BLOCKS = 8, 32, 2, 2
DROPOUT_RATE, SMOOTHING, WARMUP_STEPS = 0.1, 0.1, 20


def drawn(name, shape, dtype):
    """Makes a variable of Glorot's initial values."""
    return tf.Variable(initializers.glorot_uniform(seed=1)(shape, dtype), name=name)


def positional_encoding():
    """Computes sines in even and cosines in odd dimensions, [MAXLEN, D_MODEL]."""
    position, i = np.arange(MAXLEN)[:, np.newaxis], np.arange(D_MODEL)
    angles = position / np.power(10000, (i - i % 2) / D_MODEL)
    return np.where(i % 2, np.cos(angles), np.sin(angles))


class LayerNorm(tf.Module):
    """A layer norm of the last axis; its variables are `beta` and `gamma`.

    Args:
        scope: prefix of the names of the variables.
        dtype: dtype of the variables.
    """

    epsilon = 1e-8

    def __init__(self, scope, dtype):
        super().__init__()
        self.beta = tf.Variable(tf.zeros([D_MODEL], dtype), name=f"{scope}/ln/beta")
        self.gamma = tf.Variable(tf.ones([D_MODEL], dtype), name=f"{scope}/ln/gamma")

    def __call__(self, x):
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        normalized = (x - mean) / (variance + self.epsilon) ** 0.5
        return self.gamma * normalized + self.beta


class Attention(tf.Module):
    """Self-attention of several heads, the residual and a layer norm.

    `keras.layers.Attention` has neither weights nor heads.

    A call takes x, [n, MAXLEN, D_MODEL] floats, and masks, [n, MAXLEN] booleans, False
    for the padding. It returns a tensor of the shape of x.

    Args:
        scope: prefix of the names of the variables.
        seed: seed of the dropout.
        dtype: dtype of the variables.
    """

    def __init__(self, scope, seed, dtype):
        super().__init__()
        layers, shape = ("dense", "dense_1", "dense_2"), [D_MODEL, D_MODEL]
        self.qkv = [drawn(f"{scope}/{name}/kernel", shape, dtype) for name in layers]
        self.norm, self.seed = LayerNorm(scope, dtype), seed

    def __call__(self, x, masks, training):
        projected = [tf.tensordot(x, kernel, 1) for kernel in self.qkv]
        # [NUM_HEADS * n, MAXLEN, D_MODEL / NUM_HEADS]: the first head of all sentences,
        # then the second one. The masks have this order, too.
        q, k, v = [tf.concat(tf.split(p, NUM_HEADS, 2), 0) for p in projected]
        key_masks = tf.tile(masks[:, tf.newaxis], [NUM_HEADS, MAXLEN, 1])
        scores = tf.matmul(q, tf.transpose(k, [0, 2, 1]))
        scores /= (D_MODEL // NUM_HEADS) ** 0.5
        weights = tf.nn.softmax(tf.where(key_masks, scores, -(2.0**32) + 1))
        if training:
            weights = tf.nn.dropout(weights, DROPOUT_RATE, seed=self.seed)
        outputs = tf.concat(tf.split(tf.matmul(weights, v), NUM_HEADS, 0), 2)
        return self.norm(outputs + x)


class FeedForward(tf.Module):
    """Two dense layers for each position, the residual and a layer norm.

    Args:
        scope: prefix of the names of the variables.
        dtype: dtype of the variables.
    """

    def __init__(self, scope, dtype):
        super().__init__()
        self.w1 = drawn(f"{scope}/conv1d/kernel", [1, D_MODEL, D_FF], dtype)
        self.b1 = tf.Variable(tf.zeros([D_FF], dtype), name=f"{scope}/conv1d/bias")
        self.w2 = drawn(f"{scope}/conv1d_1/kernel", [1, D_FF, D_MODEL], dtype)
        self.b2 = tf.Variable(tf.zeros([D_MODEL], dtype), name=f"{scope}/conv1d_1/bias")
        self.norm = LayerNorm(scope, dtype)

    def __call__(self, x):
        hidden = tf.nn.bias_add(tf.nn.conv1d(x, self.w1, 1, "VALID"), self.b1)
        outputs = tf.nn.conv1d(tf.nn.relu(hidden), self.w2, 1, "VALID")
        return self.norm(tf.nn.bias_add(outputs, self.b2) + x)


def masked_mean(values, y):
    """Computes the mean of values over the tokens, without the padding."""
    istarget = tf.cast(y != 0, values.dtype)
    return tf.reduce_sum(values * istarget) / tf.reduce_sum(istarget)


class Transformer(tf.Module):
    """The encoder; a call returns the logits, [n, MAXLEN, VOCAB_SIZE].

    Args:
        dtype: dtype of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        name = "encoder/embedding/lookup_table"
        self.table = drawn(name, [VOCAB_SIZE, D_MODEL], dtype)
        self.blocks = []
        for i in range(NUM_BLOCKS):
            scope = f"encoder/num_blocks_{i}"
            attention = Attention(f"{scope}/multihead_attention", 5 + i, dtype)
            feedforward = FeedForward(f"{scope}/positionwise_feedforward", dtype)
            self.blocks.append((attention, feedforward))
        self.kernel = drawn("dense/kernel", [D_MODEL, VOCAB_SIZE], dtype)
        self.bias = tf.Variable(tf.zeros([VOCAB_SIZE], dtype), name="dense/bias")

    def __call__(self, x, training=False):
        # It also makes the gradient of the table dense, for the kernel of Adam.
        padding = tf.zeros_like(self.table[:1])
        vectors = tf.gather(tf.concat([padding, self.table[1:]], 0), x)
        enc = vectors * D_MODEL**0.5 + tf.constant(positional_encoding(), vectors.dtype)
        if training:
            enc = tf.nn.dropout(enc, DROPOUT_RATE, seed=4)
        for attention, feedforward in self.blocks:
            enc = feedforward(attention(enc, x != 0, training))
        return tf.nn.bias_add(tf.tensordot(enc, self.kernel, 1), self.bias)

    def loss(self, x, y, training=False):
        """Computes the cross-entropy with smoothed labels, and the logits."""
        logits = self(x, training)
        labels = tf.one_hot(y, VOCAB_SIZE, dtype=logits.dtype)
        labels = (1 - SMOOTHING) * labels + SMOOTHING / VOCAB_SIZE
        losses = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
        return masked_mean(losses, y), logits


def noam_scheme(init_lr, global_step):
    """Computes a rate that rises linearly to init_lr, then falls as step ** -0.5."""
    step = tf.cast(global_step + 1, init_lr.dtype)
    warmed = tf.minimum(step * WARMUP_STEPS**-1.5, step**-0.5)
    return WARMUP_STEPS**0.5 * warmed * init_lr


class Trainer(tf.Module):
    """A Transformer, its Adam with the warm-up, and the global step.

    Args:
        init_lr: scalar float array, the largest learning rate.
    """

    def __init__(self, init_lr):
        super().__init__()
        self.model = Transformer(init_lr.dtype)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        self.rate = functools.partial(noam_scheme, init_lr)
        self.adam = optimizers.Adam(self.rate, 0.9, 0.98, 1e-9)
        self.adam.create_slots(self.model.trainable_variables)

    @tf.function
    def step(self, x, y):
        """Takes one step; returns the loss before it."""
        return self.adam.minimize(
            lambda: self.model.loss(x, y, training=True)[0],
            self.model.trainable_variables,
            self.global_step,
        )


def train(xs, ys, init_lr, steps, checkpoint=None, folder=None):
    """Trains a Transformer encoder with Adam and the warm-up of the paper."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(init_lr)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    # --- run
    xs, ys = tf.constant(xs), tf.constant(ys)
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        batch = step % len(xs)
        losses.append(trainer.step(xs[batch], ys[batch]).numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("mean_loss", losses[-1])
                tf.summary.scalar("lr", trainer.rate(step))
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(checkpoint):
    """Makes a Transformer with the weights of a checkpoint."""
    model = Transformer(tf.train.load_variable(checkpoint, "dense/bias").dtype)
    restore.by_name(checkpoint, restore.named(model))
    return model


def evaluate(x, y, checkpoint):
    """Computes the loss, the accuracy and the predictions for sentences."""
    # --- build
    model = restored(checkpoint)

    @tf.function
    def measure(x, y):
        loss, logits = model.loss(x, y)
        preds = tf.argmax(logits, -1, tf.int32)
        acc = masked_mean(tf.cast(preds == y, loss.dtype), y)
        return {"loss": loss, "acc": acc, "preds": preds}

    # --- run
    found = measure(tf.constant(x), tf.constant(y))
    return {name: value.numpy() for name, value in found.items()}


def export(x, checkpoint, folder):
    """Exports the encoder as a SavedModel, loads it and translates sentences."""
    # --- save
    model = restored(checkpoint)

    @tf.function(input_signature=[tf.TensorSpec([None, MAXLEN], tf.int32, "x")])
    def serve(x):
        logits = model(x)
        preds = tf.argmax(logits, -1, tf.int32)
        return {"probs": tf.nn.softmax(logits), "preds": preds}

    tf.saved_model.save(model, folder, signatures={"serving_default": serve})
    # --- serve
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {name: y.numpy() for name, y in signature(x=tf.constant(x)).items()}
