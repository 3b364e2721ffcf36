"""BERT: `gather_indexes`, `layer_norm`, `AdamWeightDecayOptimizer`, warm-up, erf.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2018: masked
words and next sentences. Modules with the names of its checkpoint replace the scopes.
"""

import math
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, norms, restore
from v2_eager.training_recipes import BertAdam, warmed_rate

__all__ = ["train", "evaluate", "export"]

VOCAB = 30
HIDDEN = 8
INPUTS = ["input_ids", "input_mask", "segment_ids"]


def embeddings(name, rows, dtype):
    draw = initializers.truncated_normal(stddev=0.02, seed=1)
    return tf.Variable(draw([rows, HIDDEN], dtype), name=name)


def zeros(name, size, dtype):
    return tf.Variable(tf.zeros([size], dtype), name=name)


def gelu(x):
    # tf.nn.gelu computes erfc, with a constant that is rounded to float32.
    return x * (0.5 * (1.0 + tf.math.erf(x / math.sqrt(2.0))))


def layer_norm(scope, dtype):
    norm = norms.LayerNorm(begin_norm_axis=-1, name=f"{scope}/LayerNorm")
    norm.build([HIDDEN], dtype)
    return norm


class Dense(tf.Module):
    """A dense layer: [n, inputs] to [n, units] floats.

    `keras.layers.Dense` gives other names and initial values to its variables.

    Args:
        scope: prefix of the names `kernel` and `bias` in checkpoints.
        dtype: float dtype of the variables.
        inputs, units: sizes of the last axis.
        activation: function, or None.
    """

    def __init__(self, scope, dtype, inputs=HIDDEN, units=HIDDEN, activation=None):
        super().__init__()
        draw = initializers.truncated_normal(stddev=0.02, seed=1)
        self.kernel = tf.Variable(draw([inputs, units], dtype), name=f"{scope}/kernel")
        self.bias = zeros(f"{scope}/bias", units, dtype)
        self.activation = activation or tf.identity

    def __call__(self, x):
        return self.activation(tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias))


class TransformerLayer(tf.Module):
    """A layer of the encoder; a call takes and returns [batch * seq_length, 8] floats.

    Args:
        scope: prefix of the names of the variables, such as "bert/encoder/layer_0".
        dtype: float dtype of the variables.
    """

    def __init__(self, scope, dtype):
        super().__init__()
        attention = f"{scope}/attention"
        self.query = Dense(f"{attention}/self/query", dtype)
        self.key = Dense(f"{attention}/self/key", dtype)
        self.value = Dense(f"{attention}/self/value", dtype)
        self.attention_dense = Dense(f"{attention}/output/dense", dtype)
        self.attention_norm = layer_norm(f"{attention}/output", dtype)
        self.intermediate = Dense(f"{scope}/intermediate/dense", dtype, 8, 32, gelu)
        self.dense = Dense(f"{scope}/output/dense", dtype, 32)
        self.norm = layer_norm(f"{scope}/output", dtype)

    def __call__(self, x, adder):
        shape = [-1, adder.shape[-1], 2, 4]  # two heads of size 4
        query, key, value = [
            tf.transpose(tf.reshape(layer(x), shape), [0, 2, 1, 3])
            for layer in (self.query, self.key, self.value)
        ]
        scores = tf.matmul(query, key, transpose_b=True) / 2
        context = tf.matmul(tf.nn.softmax(scores + adder), value)
        context = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, HIDDEN])
        x = self.attention_norm(self.attention_dense(context) + x)
        return self.norm(self.dense(self.intermediate(x)) + x)


class BertModel(tf.Module):
    """Embeddings, encoder and pooler; a call returns {name: output}.

    Args:
        dtype: float dtype of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        scope = "bert/embeddings"
        self.words = embeddings(f"{scope}/word_embeddings", VOCAB, dtype)
        self.types = embeddings(f"{scope}/token_type_embeddings", 2, dtype)
        self.positions = embeddings(f"{scope}/position_embeddings", 16, dtype)
        self.norm = layer_norm(scope, dtype)
        scopes = [f"bert/encoder/layer_{i}" for i in range(2)]
        self.layers = [TransformerLayer(scope, dtype) for scope in scopes]
        self.pooler = Dense("bert/pooler/dense", dtype, activation=tf.tanh)

    def __call__(self, input_ids, input_mask, segment_ids):
        seq_length, dtype = input_ids.shape[1], self.words.dtype
        x = tf.gather(self.words, input_ids)
        # tf.gather would make a sparse gradient, which has another norm to clip.
        x += tf.tensordot(tf.one_hot(segment_ids, 2, dtype=dtype), self.types, 1)
        x = tf.reshape(self.norm(x + self.positions[:seq_length]), [-1, HIDDEN])
        adder = (1.0 - tf.cast(input_mask[:, None, None, :], dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, adder)
        sequence_output = tf.reshape(x, [-1, seq_length, HIDDEN])
        pooled_output = self.pooler(sequence_output[:, 0])
        return {"sequence_output": sequence_output, "pooled_output": pooled_output}


class Pretraining(tf.Module):
    """BERT and its two heads; a call takes the features and returns the metrics.

    Args:
        dtype: float dtype of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.bert = BertModel(dtype)
        scope = "cls/predictions/transform"
        self.transform = Dense(f"{scope}/dense", dtype, activation=gelu)
        self.norm = layer_norm(scope, dtype)
        self.masked_bias = zeros("cls/predictions/output_bias", VOCAB, dtype)
        self.next_bias = zeros("cls/seq_relationship/output_bias", 2, dtype)
        self.next_weights = embeddings("cls/seq_relationship/output_weights", 2, dtype)

    @staticmethod
    def classify(x, weights, bias, labels):
        """Computes the loss of each example, and 1 where the prediction is right."""
        logits = tf.nn.bias_add(tf.matmul(x, weights, transpose_b=True), bias)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        found = tf.argmax(logits, -1, output_type=labels.dtype)
        return loss, tf.cast(found == labels, x.dtype)

    def __call__(self, *features):
        *inputs, positions, label_ids, label_weights, labels = features
        outputs = self.bert(*inputs)
        x = tf.gather(outputs["sequence_output"], positions, batch_dims=1)
        x = self.norm(self.transform(tf.reshape(x, [-1, HIDDEN])))
        label_ids, weights = [tf.reshape(x, [-1]) for x in (label_ids, label_weights)]
        masked = self.classify(x, self.bert.words, self.masked_bias, label_ids)
        total = tf.reduce_sum(weights) + 1e-5
        masked = [tf.reduce_sum(weights * values) / total for values in masked]
        pooled = outputs["pooled_output"]
        following = self.classify(pooled, self.next_weights, self.next_bias, labels)
        following = [tf.reduce_mean(values) for values in following]
        return {
            "masked_lm_loss": masked[0],
            "masked_lm_accuracy": masked[1],
            "next_sentence_loss": following[0],
            "next_sentence_accuracy": following[1],
        }


class Trainer(tf.Module):
    """A model, its optimizer with a warmed-up learning rate, and the global step.

    Args:
        dtype: float dtype of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.model = Pretraining(dtype)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        self.rate = tf.Variable(tf.zeros([], dtype), False, name="learning_rate")
        exclude = ["LayerNorm", "layer_norm", "bias"]
        self.optimizer = BertAdam(self.rate, 0.01, exclude)
        self.optimizer.create_slots(self.model.trainable_variables)

    @tf.function
    def step(self, *features):
        """Takes one step on a batch; returns the loss before it."""
        peak = tf.constant(0.002, self.rate.dtype)
        self.rate.assign(warmed_rate(self.global_step, peak, 200, 10))
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            metrics = self.model(*features)
            loss = metrics["masked_lm_loss"] + metrics["next_sentence_loss"]
        clipped, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        self.optimizer.apply_gradients(zip(clipped, variables), self.global_step)
        return loss


def train(features, steps, checkpoint=None, folder=None):
    """Trains on masked words and next sentences, with clipping and warm-up."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(features[5].dtype)
    # The rate follows from the global step: it is not in the checkpoint.
    slots = trainer.optimizer.slots
    variables = restore.named(trainer.model, slots, trainer.global_step)
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        batch = [tf.constant(x[step % len(x)]) for x in features]
        losses.append(trainer.step(*batch).numpy())
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def evaluate(features, checkpoint):
    """Restores the weights; computes the losses and accuracies of both tasks."""
    # --- build
    model = Pretraining(features[5].dtype)
    # --- run
    restore.by_name(checkpoint, restore.named(model))
    metrics = tf.function(model)(*map(tf.constant, features))
    return {name: value.numpy() for name, value in metrics.items()}


def export(inputs, checkpoint, folder):
    """Saves the encoder as a SavedModel, loads it, and encodes texts."""
    # --- save
    dtype = tf.train.load_variable(checkpoint, "bert/pooler/dense/kernel").dtype
    model = BertModel(dtype)
    restore.by_name(checkpoint, restore.named(model))
    spec = tf.TensorSpec([None, inputs[0].shape[1]], inputs[0].dtype)
    encode = tf.function(model.__call__, input_signature=[spec] * 3)
    tf.saved_model.save(model, folder, signatures={"serving_default": encode})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    answer = signature(**dict(zip(INPUTS, map(tf.constant, inputs))))
    return {name: value.numpy() for name, value in answer.items()}
