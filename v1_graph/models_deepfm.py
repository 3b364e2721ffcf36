"""`embedding_lookup` of fields, factorization machine, dropout, `tf.metrics.auc`.

DeepFM for click-through rates: Guo et al., "DeepFM: A Factorization-Machine based
Neural Network for CTR Prediction", 2017. Programs on GitHub were written like this from
2017 on.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

FEATURE_SIZE = 23
FIELD_SIZE = 4
EMBEDDING_SIZE = 4
DEEP_LAYERS = [16, 8]
KEEP_PROB = 0.5
L2_REG = 0.001
LEARNING_RATE = 0.01


def dense(x, units, scope, seed):
    """Applies a dense layer: [n, features] to [n, units] floats."""
    with tf.variable_scope(scope):
        shape, init = [x.shape[1].value, units], tf.glorot_normal_initializer(seed)
        weights = tf.get_variable("weights", shape, x.dtype, init)
        biases = tf.get_variable("biases", [units], x.dtype, tf.zeros_initializer())
    return tf.matmul(x, weights) + biases


class DeepFM:
    """The graph of the logits, and of the log loss with its penalty."""

    def __init__(self, dtype):
        shape = [None, FIELD_SIZE]
        self.feat_ids = tf.placeholder(tf.int32, shape, name="feat_ids")
        self.feat_vals = tf.placeholder(dtype, shape, name="feat_vals")
        self.label = tf.placeholder(dtype, [None], name="label")
        keep_all = tf.ones([], dtype)  # also for those who load the export
        self.keep_prob = tf.placeholder_with_default(keep_all, [], name="keep_prob")
        with tf.variable_scope("fm"):
            sizes, init = [FEATURE_SIZE, EMBEDDING_SIZE], tf.glorot_normal_initializer
            fm_b = tf.get_variable("bias", [1], dtype, tf.zeros_initializer())
            fm_w = tf.get_variable("w", sizes[:1], dtype, init(seed=1))
            fm_v = tf.get_variable("v", sizes, dtype, init(seed=2))
        # First order: a weight for each feature.
        feat_weights = tf.nn.embedding_lookup(fm_w, self.feat_ids)
        y_w = tf.reduce_sum(tf.multiply(feat_weights, self.feat_vals), 1)
        # Second order: the products of all pairs of fields.
        embeddings = tf.nn.embedding_lookup(fm_v, self.feat_ids)
        embeddings = tf.multiply(embeddings, tf.expand_dims(self.feat_vals, 2))
        sum_square = tf.square(tf.reduce_sum(embeddings, 1))
        square_sum = tf.reduce_sum(tf.square(embeddings), 1)
        y_v = 0.5 * tf.reduce_sum(tf.subtract(sum_square, square_sum), 1)
        with tf.variable_scope("deep"):
            net = tf.reshape(embeddings, [-1, FIELD_SIZE * EMBEDDING_SIZE])
            for i, units in enumerate(DEEP_LAYERS):
                net = tf.nn.relu(dense(net, units, "layer%d" % i, seed=3 + i))
                net = tf.nn.dropout(net, self.keep_prob, seed=5 + i)
            y_d = tf.reshape(dense(net, 1, "out", seed=7), [-1])
        logits = fm_b + y_w + y_v + y_d
        self.prob = tf.sigmoid(logits, name="prob")
        cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits
        self.log_loss = tf.reduce_mean(cross_entropy(labels=self.label, logits=logits))
        penalty = L2_REG * (tf.nn.l2_loss(fm_w) + tf.nn.l2_loss(fm_v))
        self.loss = self.log_loss + penalty


def train(feat_ids, feat_vals, labels, steps, checkpoint=None, folder=None):
    """Trains a DeepFM on clicks with Adam and dropout.

    Args:
        feat_ids: [batches, batch, 4] int32 array, a feature for each field. The global
            step chooses the batch.
        feat_vals: [batches, batch, 4] float array, the features' values: 1 for a
            category.
        labels: [batches, batch] array of the same dtype, 1 for a click, else 0.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses` of the batches before each step, [steps], with penalty,
        and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = DeepFM(labels.dtype)
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
        # Nothing else orders the penalty before the update of its tables.
        with tf.control_dependencies([net.loss]):
            train_op = optimizer.minimize(net.loss, global_step=global_step)
        merged = tf.summary.scalar("loss", net.loss)
        saver = tf.train.Saver(max_to_keep=2)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            i = step % len(labels)
            feed = {net.feat_ids: feat_ids[i], net.feat_vals: feat_vals[i]}
            feed.update({net.label: labels[i], net.keep_prob: KEEP_PROB})
            _, loss, summary = sess.run([train_op, net.loss, merged], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(feat_ids, feat_vals, labels, checkpoint):
    """Predicts clicks batch after batch; computes the log loss and the AUC of all.

    Args:
        feat_ids, feat_vals, labels: see `train`.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `probs`, [batches, batch], the `log_losses`, [batches], and the
        `auc`, float32.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = DeepFM(labels.dtype)
        auc, update_op = tf.metrics.auc(net.label, net.prob)
        # --- run
        tf.train.Saver().restore(sess, checkpoint)
        sess.run(tf.local_variables_initializer())
        rows = []
        for ids, vals, label in zip(feat_ids, feat_vals, labels):
            feed = {net.feat_ids: ids, net.feat_vals: vals, net.label: label}
            rows.append(sess.run([net.prob, net.log_loss, update_op], feed)[:2])
        probs, log_losses = map(np.array, zip(*rows))
        return {"probs": probs, "log_losses": log_losses, "auc": sess.run(auc)}


def export(feat_ids, feat_vals, checkpoint, folder):
    """Saves the model as a SavedModel, loads it, and predicts clicks.

    Args:
        feat_ids: [n, 4] int32 array.
        feat_vals: [n, 4] float array.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the probabilities `prob`, [n].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        net = DeepFM(feat_vals.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        inputs = {"feat_ids": net.feat_ids, "feat_vals": net.feat_vals}
        tf.saved_model.simple_save(sess, folder, inputs, {"prob": net.prob})
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        values = {"feat_ids": feat_ids, "feat_vals": feat_vals}
        feed = {signature.inputs[name].name: x for name, x in values.items()}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}
