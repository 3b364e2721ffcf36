"""BERT: `gather_indexes`, `layer_norm`, `AdamWeightDecayOptimizer`, warm-up, erf.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2018: masked
words and next sentences. Many programs trained its checkpoint on texts of their own.
"""

import math
import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.training_recipes import BertAdam, warmed_rate

__all__ = ["train", "evaluate", "export"]

VOCAB = 30
HIDDEN = 8
INPUTS = ["input_ids", "input_mask", "segment_ids"]


def embeddings(name, rows, dtype):
    draw = tf.truncated_normal_initializer(stddev=0.02, seed=1)
    return tf.get_variable(name, [rows, HIDDEN], dtype, initializer=draw)


def dense(x, units=HIDDEN, activation=None, name=None):
    draw = tf.truncated_normal_initializer(stddev=0.02, seed=1)
    return tf.layers.dense(x, units, activation, kernel_initializer=draw, name=name)


def layer_norm(x):
    norm = tensorflow.contrib.layers.layer_norm
    return norm(x, begin_norm_axis=-1, begin_params_axis=-1)


def gelu(x):
    return x * (0.5 * (1.0 + tf.erf(x / math.sqrt(2.0))))


def transformer_layer(x, adder):
    shape = [-1, adder.get_shape().as_list()[-1], 2, 4]  # two heads of size 4
    with tf.variable_scope("attention/self"):
        query, key, value = [
            tf.transpose(tf.reshape(dense(x, name=name), shape), [0, 2, 1, 3])
            for name in ("query", "key", "value")
        ]
        scores = tf.matmul(query, key, transpose_b=True) * (1.0 / math.sqrt(4.0))
        context = tf.matmul(tf.nn.softmax(scores + adder), value)
        context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, HIDDEN])
    with tf.variable_scope("attention/output"):
        x = layer_norm(dense(context) + x)
    with tf.variable_scope("intermediate"):
        intermediate = dense(x, 32, gelu)
    with tf.variable_scope("output"):
        return layer_norm(dense(intermediate) + x)


class BertModel:
    """The graph of embeddings, encoder and pooler."""

    def __init__(self, input_ids, input_mask, segment_ids, dtype):
        shape = [-1, input_ids.get_shape().as_list()[1], HIDDEN]
        with tf.variable_scope("bert/embeddings"):
            self.table = embeddings("word_embeddings", VOCAB, dtype)
            types = embeddings("token_type_embeddings", 2, dtype)
            positions = embeddings("position_embeddings", 16, dtype)
            x = tf.gather(self.table, input_ids)
            one_hot = tf.one_hot(tf.reshape(segment_ids, [-1]), 2, dtype=dtype)
            x += tf.reshape(tf.matmul(one_hot, types), shape)
            x += tf.slice(positions, [0, 0], [shape[1], -1])
            x = tf.reshape(layer_norm(x), [-1, HIDDEN])
        adder = (1.0 - tf.cast(input_mask[:, None, None, :], dtype)) * -10000.0
        for i in range(2):
            with tf.variable_scope("bert/encoder/layer_%d" % i):
                x = transformer_layer(x, adder)
        self.sequence_output = tf.reshape(x, shape)
        with tf.variable_scope("bert/pooler"):
            first = tf.squeeze(self.sequence_output[:, 0:1, :], axis=1)
            self.pooled_output = dense(first, activation=tf.tanh)


def gather_indexes(sequence, positions):
    shape = tf.shape(sequence)
    offsets = tf.reshape(tf.range(shape[0]) * shape[1], [-1, 1])
    flat = tf.reshape(sequence, [-1, HIDDEN])
    return tf.gather(flat, tf.reshape(positions + offsets, [-1]))


def classify(x, weights, labels):
    """Computes the loss of each example, and 1 where the prediction is right, or 0."""
    depth = weights.get_shape().as_list()[0]
    bias = tf.get_variable("output_bias", [depth], x.dtype, tf.zeros_initializer())
    logits = tf.nn.bias_add(tf.matmul(x, weights, transpose_b=True), bias)
    log_probs = tf.nn.log_softmax(logits, axis=-1)
    loss = -tf.reduce_sum(log_probs * tf.one_hot(labels, depth, dtype=x.dtype), -1)
    found = tf.argmax(log_probs, -1, output_type=tf.int32)
    return loss, tf.cast(tf.equal(found, labels), x.dtype)


class Pretraining:
    """The graph of the model, of its two heads, and of their losses."""

    def __init__(self, features):
        self.fed = [tf.placeholder(x.dtype, [None, *x.shape[1:]]) for x in features]
        *inputs, positions, label_ids, label_weights, labels = self.fed
        model = BertModel(*inputs, label_weights.dtype)
        label_weights = tf.reshape(label_weights, [-1])
        with tf.variable_scope("cls/predictions/transform"):
            x = gather_indexes(model.sequence_output, positions)
            x = layer_norm(dense(x, activation=gelu))
        with tf.variable_scope("cls/predictions"):
            masked = classify(x, model.table, tf.reshape(label_ids, [-1]))
        with tf.variable_scope("cls/seq_relationship"):
            weights = embeddings("output_weights", 2, x.dtype)
            following = classify(model.pooled_output, weights, labels)
        total = tf.reduce_sum(label_weights) + 1e-5
        masked = [tf.reduce_sum(label_weights * values) / total for values in masked]
        following = [tf.reduce_mean(values) for values in following]
        self.loss = masked[0] + following[0]
        self.metrics = {
            "masked_lm_loss": masked[0],
            "masked_lm_accuracy": masked[1],
            "next_sentence_loss": following[0],
            "next_sentence_accuracy": following[1],
        }


def create_optimizer(loss, global_step):
    rate = warmed_rate(global_step, tf.constant(0.002, loss.dtype), 200, 10)
    optimizer = BertAdam(rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
    tvars = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars))
    # BERT did not have this line: some runs used the next step's rate.
    with tf.control_dependencies([train_op]):
        return tf.group(train_op, global_step.assign(global_step + 1))


def train(features, steps, checkpoint=None, folder=None):
    """Trains on masked words and next sentences, with clipping and warm-up.

    Args:
        features: list of arrays; the global step chooses the batch. `input_ids`,
            `input_mask` (0 for padding), `segment_ids`: [batches, batch, seq_length]
            int32; `masked_lm_positions`, `masked_lm_ids`: [batches, batch, k] int32,
            and `masked_lm_weights`: floats of this shape, 0 for padding; the variables
            have their dtype. `next_sentence_labels`: [batches, batch] int32.
        steps: how many steps to take; the learning rate is 0 from step 200 on.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write `model.ckpt`, or None.

    Returns:
        dict with the `losses` before each step, [steps], and the final `variables` by
        name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = Pretraining([x[0] for x in features])
        global_step = tf.train.get_or_create_global_step()
        train_op = create_optimizer(net.loss, global_step)
        saver = tf.train.Saver()
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            feed = {p: x[step % len(x)] for p, x in zip(net.fed, features)}
            losses.append(sess.run([net.loss, train_op], feed)[0])
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(features, checkpoint):
    """Restores the weights; computes the losses and accuracies of both tasks.

    Args:
        features: list of arrays as in `train`, without the dimension of batches.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict of the scalars `masked_lm_loss`, `masked_lm_accuracy`,
        `next_sentence_loss` and `next_sentence_accuracy`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = Pretraining(features)
        # --- run
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        return sess.run(net.metrics, dict(zip(net.fed, features)))


def export(inputs, checkpoint, folder):
    """Saves the encoder as a SavedModel, loads it, and encodes texts.

    Args:
        inputs: list of the first three features of `train`, [n, seq_length] int32.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `sequence_output`, [n, seq_length, 8], and the `pooled_output`,
        [n, 8].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        dtype = tf.train.load_variable(checkpoint, "bert/pooler/dense/kernel").dtype
        fed = [tf.placeholder(x.dtype, [None, x.shape[1]]) for x in inputs]
        model = BertModel(*fed, dtype)
        tf.train.Saver(tf.trainable_variables("bert")).restore(sess, checkpoint)
        names = "sequence_output", "pooled_output"
        outputs = {name: getattr(model, name) for name in names}
        tf.saved_model.simple_save(sess, folder, dict(zip(INPUTS, fed)), outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        feed = {signature.inputs[n].name: x for n, x in zip(INPUTS, inputs)}
        return sess.run({k: t.name for k, t in signature.outputs.items()}, feed)
