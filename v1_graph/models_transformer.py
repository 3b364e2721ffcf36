"""Transformer: `tf.split` into heads, key masks, layer norm, label smoothing, Noam.

Vaswani et al., "Attention Is All You Need", 2017: the encoder, as the ports to plain
TensorFlow of 2017 and 2018 were written. Here it translates each word of a sentence.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

VOCAB_SIZE, MAXLEN = 11, 10
D_MODEL, D_FF, NUM_HEADS, NUM_BLOCKS = 8, 32, 2, 2
DROPOUT_RATE, SMOOTHING, WARMUP_STEPS = 0.1, 0.1, 20


def embedding(x, dtype):
    """Looks up the vectors of tokens, times sqrt(D_MODEL); that of the padding is 0."""
    with tf.variable_scope("embedding"):
        table = tf.get_variable("lookup_table", [VOCAB_SIZE, D_MODEL], dtype)
        table = tf.concat([tf.zeros([1, D_MODEL], dtype), table[1:, :]], 0)
        return tf.nn.embedding_lookup(table, x) * D_MODEL**0.5


def positional_encoding(x, dtype):
    """Looks up sines in even and cosines in odd dimensions, for each position of x."""
    position, i = np.arange(MAXLEN)[:, np.newaxis], np.arange(D_MODEL)
    angles = position / np.power(10000, (i - i % 2) / D_MODEL)
    table = tf.constant(np.where(i % 2, np.cos(angles), np.sin(angles)), dtype)
    positions = tf.tile(tf.expand_dims(tf.range(MAXLEN), 0), [tf.shape(x)[0], 1])
    return tf.nn.embedding_lookup(table, positions)


def normalize(x, epsilon=1e-8):
    """Normalizes the last axis: a layer norm."""
    with tf.variable_scope("ln"):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        beta = tf.get_variable("beta", [D_MODEL], x.dtype, tf.zeros_initializer())
        gamma = tf.get_variable("gamma", [D_MODEL], x.dtype, tf.ones_initializer())
        normalized = (x - mean) / (variance + epsilon) ** 0.5
        return gamma * normalized + beta


def multihead_attention(x, masks, seed, training):
    """Applies self-attention, the residual and a layer norm.

    Args:
        x: [n, MAXLEN, D_MODEL] float tensor.
        masks: [n, MAXLEN] int tensor, 0 for the padding.
        seed: seed of the dropout.
        training: whether to apply dropout.

    Returns:
        Tensor of the shape and dtype of x.
    """
    with tf.variable_scope("multihead_attention"):
        projected = [tf.layers.dense(x, D_MODEL, use_bias=False) for _ in range(3)]
        # [NUM_HEADS * n, MAXLEN, D_MODEL / NUM_HEADS]
        q, k, v = [tf.concat(tf.split(p, NUM_HEADS, axis=2), 0) for p in projected]
        scores = tf.matmul(q, tf.transpose(k, [0, 2, 1]))
        scores /= (D_MODEL // NUM_HEADS) ** 0.5
        key_masks = tf.tile(tf.expand_dims(masks, 1), [NUM_HEADS, MAXLEN, 1])
        paddings = tf.ones_like(scores) * (-(2**32) + 1)
        scores = tf.where(tf.equal(key_masks, 0), paddings, scores)
        weights = tf.nn.softmax(scores)
        weights = tf.layers.dropout(weights, DROPOUT_RATE, seed=seed, training=training)
        outputs = tf.matmul(weights, v)
        outputs = tf.concat(tf.split(outputs, NUM_HEADS, axis=0), axis=2)
        return normalize(outputs + x)


def feedforward(x):
    """Applies two dense layers to each position, the residual and a layer norm."""
    with tf.variable_scope("positionwise_feedforward"):
        outputs = tf.layers.conv1d(x, D_FF, 1, activation=tf.nn.relu)
        outputs = tf.layers.conv1d(outputs, D_MODEL, 1)
        return normalize(outputs + x)


def label_smoothing(labels):
    """Spreads a share of SMOOTHING of one-hot labels evenly over all classes."""
    return (1 - SMOOTHING) * labels + SMOOTHING / VOCAB_SIZE


def noam_scheme(init_lr, global_step):
    """Computes a rate that rises linearly to init_lr, then falls as step ** -0.5."""
    step = tf.cast(global_step + 1, init_lr.dtype)
    warmed = tf.minimum(step * WARMUP_STEPS**-1.5, step**-0.5)
    return WARMUP_STEPS**0.5 * warmed * init_lr


class Transformer:
    """The graph: tokens and targets, the encoder, its loss and its accuracy."""

    def __init__(self, dtype, training=False):
        self.x = tf.placeholder(tf.int32, [None, MAXLEN], name="x")
        self.y = tf.placeholder(tf.int32, [None, MAXLEN], name="y")
        draw = tf.glorot_uniform_initializer(seed=1)
        with tf.variable_scope("encoder", initializer=draw):
            enc = embedding(self.x, dtype) + positional_encoding(self.x, dtype)
            enc = tf.layers.dropout(enc, DROPOUT_RATE, seed=4, training=training)
            for i in range(NUM_BLOCKS):
                with tf.variable_scope("num_blocks_{}".format(i)):
                    enc = multihead_attention(enc, tf.sign(self.x), 5 + i, training)
                    enc = feedforward(enc)
        self.logits = tf.layers.dense(enc, VOCAB_SIZE, kernel_initializer=draw)
        self.preds = tf.to_int32(tf.argmax(self.logits, axis=-1))
        labels = label_smoothing(tf.one_hot(self.y, VOCAB_SIZE, dtype=dtype))
        losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels, self.logits)
        istarget = tf.cast(tf.not_equal(self.y, 0), dtype)
        hits = tf.cast(tf.equal(self.preds, self.y), dtype)
        self.mean_loss = tf.reduce_sum(losses * istarget) / tf.reduce_sum(istarget)
        self.acc = tf.reduce_sum(hits * istarget) / tf.reduce_sum(istarget)


def train(xs, ys, init_lr, steps, checkpoint=None, folder=None):
    """Trains a Transformer encoder with Adam and the warm-up of the paper.

    Args:
        xs: [batches, n, MAXLEN] int32 array of tokens; sentences end with zeros. The
            global step chooses the batch.
        ys: int32 array of the same shape, the target of each token, 0 for the padding.
        init_lr: scalar float array, the largest learning rate; the variables have its
            dtype.
        steps: number of steps.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses` before each step, [steps], means over the tokens in nats,
        and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        model = Transformer(init_lr.dtype, training=True)
        global_step = tf.train.get_or_create_global_step()
        lr = noam_scheme(init_lr, global_step)
        optimizer = tf.train.AdamOptimizer(lr, beta1=0.9, beta2=0.98, epsilon=1e-9)
        train_op = optimizer.minimize(model.mean_loss, global_step=global_step)
        tf.summary.scalar("mean_loss", model.mean_loss)
        tf.summary.scalar("lr", lr)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=3)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            batch = step % len(xs)
            feed = {model.x: xs[batch], model.y: ys[batch]}
            loss, summary, _ = sess.run([model.mean_loss, merged, train_op], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def restored(sess, checkpoint):
    """Builds the model without dropout, and restores its weights."""
    model = Transformer(tf.train.load_variable(checkpoint, "dense/bias").dtype)
    tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
    return model


def evaluate(x, y, checkpoint):
    """Computes the loss, the accuracy and the predictions for sentences.

    Args:
        x, y: [n, MAXLEN] int32 arrays, see `train`.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `loss` and the accuracy `acc`, means over the tokens, and the
        predicted tokens `preds`, [n, MAXLEN] int32.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        model = restored(sess, checkpoint)
        # --- run
        fetches = {"loss": model.mean_loss, "acc": model.acc, "preds": model.preds}
        return sess.run(fetches, {model.x: x, model.y: y})


def export(x, checkpoint, folder):
    """Exports the encoder as a SavedModel, loads it and translates sentences.

    Args:
        x: [n, MAXLEN] int32 array, see `train`.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the probabilities `probs`, [n, MAXLEN, VOCAB_SIZE], and the predicted
        tokens `preds`, [n, MAXLEN] int32.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        model = restored(sess, checkpoint)
        outputs = {"probs": tf.nn.softmax(model.logits), "preds": model.preds}
        tf.saved_model.simple_save(sess, folder, {"x": model.x}, outputs)
    # --- serve
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["x"].name: x})
