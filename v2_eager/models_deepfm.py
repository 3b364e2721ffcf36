"""`embedding_lookup` of fields, factorization machine, dropout, `tf.metrics.auc`.

DeepFM for click-through rates: Guo et al., "DeepFM: A Factorization-Machine based
Neural Network for CTR Prediction", 2017. The rate of dropout is an argument, the metric
an object.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, metrics, optimizers, restore

__all__ = ["train", "evaluate", "export"]

FEATURE_SIZE = 23
FIELD_SIZE = 4
EMBEDDING_SIZE = 4
DEEP_LAYERS = [16, 8]
KEEP_PROB = 0.5
L2_REG = 0.001
LEARNING_RATE = 0.01


class Dense(tf.Module):
    """A dense layer: [n, features] to [n, units] floats.

    `keras.layers.Dense` gives other names and initial values to its variables.

    Args:
        scope: prefix of the names `weights` and `biases` in checkpoints.
        shape: [features, units].
        dtype: float dtype of the variables.
        seed: seed of the initial weights.
    """

    def __init__(self, scope, shape, dtype, seed):
        super().__init__()
        weights = initializers.glorot_normal(seed)(shape, dtype)
        self.weights = tf.Variable(weights, name=f"{scope}/weights")
        self.biases = tf.Variable(tf.zeros(shape[1:], dtype), name=f"{scope}/biases")

    def __call__(self, x):
        return tf.matmul(x, self.weights) + self.biases


class DeepFM(tf.Module):
    """Computes the logits, [n], from ids and values of features, both [n, 4].

    Args:
        dtype: float dtype of the values and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        sizes, init = [FEATURE_SIZE, EMBEDDING_SIZE], initializers.glorot_normal
        self.fm_b = tf.Variable(tf.zeros([1], dtype), name="fm/bias")
        self.fm_w = tf.Variable(init(seed=1)(sizes[:1], dtype), name="fm/w")
        self.fm_v = tf.Variable(init(seed=2)(sizes, dtype), name="fm/v")
        inputs = [FIELD_SIZE * EMBEDDING_SIZE, *DEEP_LAYERS]
        self.layers = [
            Dense(f"deep/layer{i}", shape, dtype, seed=3 + i)
            for i, shape in enumerate(zip(inputs, DEEP_LAYERS))
        ]
        self.out = Dense("deep/out", [inputs[-1], 1], dtype, seed=7)

    def __call__(self, feat_ids, feat_vals, dropout_rate=0.0):
        # First order: a weight for each feature.
        feat_weights = tf.nn.embedding_lookup(self.fm_w, feat_ids)
        y_w = tf.reduce_sum(feat_weights * feat_vals, 1)
        # Second order: the products of all pairs of fields.
        embeddings = tf.nn.embedding_lookup(self.fm_v, feat_ids)
        embeddings = embeddings * feat_vals[:, :, tf.newaxis]
        # By the identity both gradients are added before that of the deep part.
        fields = tf.identity(embeddings)
        sum_square = tf.square(tf.reduce_sum(fields, 1))
        square_sum = tf.reduce_sum(tf.square(fields), 1)
        y_v = 0.5 * tf.reduce_sum(sum_square - square_sum, 1)
        net = tf.reshape(embeddings, [-1, FIELD_SIZE * EMBEDDING_SIZE])
        for i, layer in enumerate(self.layers):
            net = tf.nn.dropout(tf.nn.relu(layer(net)), dropout_rate, seed=5 + i)
        y_d = tf.reshape(self.out(net), [-1])
        return self.fm_b + y_w + y_v + y_d

    def penalty(self):
        """Returns the l2 penalty of both tables, all rows."""
        return L2_REG * (tf.nn.l2_loss(self.fm_w) + tf.nn.l2_loss(self.fm_v))

    @tf.function
    def serve(self, feat_ids, feat_vals):
        """Predicts the probabilities of clicks, without dropout."""
        return {"prob": tf.sigmoid(self(feat_ids, feat_vals))}


def log_loss(label, logits):
    """Computes the mean cross entropy of a batch."""
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=label, logits=logits)
    return tf.reduce_mean(losses)


def specs(dtype):
    """Makes the specs of a batch: ids and values of features, labels."""
    ids = tf.TensorSpec([None, FIELD_SIZE], tf.int32, "feat_ids")
    values = tf.TensorSpec([None, FIELD_SIZE], dtype, "feat_vals")
    return ids, values, tf.TensorSpec([None], dtype, "label")


class Trainer(tf.Module):
    """A DeepFM, its Adam and the global step.

    Args:
        dtype: float dtype of the values and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.net = DeepFM(dtype)
        self.weights = self.net.trainable_variables
        self.adam = optimizers.Adam(LEARNING_RATE).create_slots(self.weights)
        self.global_step = tf.Variable(np.int64(0), False, name="global_step")
        # One trace for all sizes of batches: each trace draws its noise from the start.
        self.step = tf.function(self.take_step, input_signature=specs(dtype))

    def take_step(self, feat_ids, feat_vals, label):
        """Takes one step with dropout; returns the loss before it, with penalty."""

        def loss():
            logits = self.net(feat_ids, feat_vals, 1 - KEEP_PROB)
            return log_loss(label, logits) + self.net.penalty()

        return self.adam.minimize(loss, self.weights, self.global_step)


def train(feat_ids, feat_vals, labels, steps, checkpoint=None, folder=None):
    """Trains a DeepFM on clicks with Adam and dropout."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(labels.dtype)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    # --- run
    data = [tf.constant(array) for array in (feat_ids, feat_vals, labels)]
    losses, first = [], trainer.global_step.numpy()
    for step in range(first, first + steps):
        batch = [array[step % len(labels)] for array in data]
        losses.append(trainer.step(*batch).numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(dtype, checkpoint):
    """Makes a DeepFM with the weights of a checkpoint."""
    net = DeepFM(dtype)
    restore.by_name(checkpoint, restore.named(net))
    return net


def evaluate(feat_ids, feat_vals, labels, checkpoint):
    """Predicts clicks batch after batch; computes the log loss and the AUC of all."""
    # --- build
    net = restored(labels.dtype, checkpoint)
    auc = metrics.AUC()

    @tf.function
    def measure(ids, vals, label):
        logits = net(ids, vals)
        prob = tf.sigmoid(logits)
        auc.update_state(label, prob)
        return prob, log_loss(label, logits)

    # --- run
    data = [tf.constant(array) for array in (feat_ids, feat_vals, labels)]
    probs, log_losses = zip(*(measure(*batch) for batch in zip(*data)))
    return {
        "probs": np.array(probs),
        "log_losses": np.array(log_losses),
        "auc": auc.result().numpy(),
    }


def export(feat_ids, feat_vals, checkpoint, folder):
    """Saves the model as a SavedModel, loads it, and predicts clicks."""
    # --- save
    net = restored(feat_vals.dtype, checkpoint)
    served = net.serve.get_concrete_function(*specs(feat_vals.dtype)[:2])
    tf.saved_model.save(net, folder, signatures={"serving_default": served})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    values = {"feat_ids": tf.constant(feat_ids), "feat_vals": tf.constant(feat_vals)}
    return {name: value.numpy() for name, value in signature(**values).items()}
