"""`tf.sparse_placeholder`, `tf.sparse_retain`, masked loss, weight decay, Adam.

A graph convolutional network: Kipf and Welling, "Semi-Supervised Classification with
Graph Convolutional Networks", 2016. Its sparse matrices are arguments of functions.
"""

import math
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

HIDDEN = 16
LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-4
EARLY_STOPPING = 10
DROPOUT = 0.5


def to_sparse(matrix):
    """Makes a `tf.SparseTensor` of an array."""
    coords = np.argwhere(matrix)
    return tf.SparseTensor(coords, matrix[tuple(coords.T)], matrix.shape)


def preprocess_features(features):
    """Divides each row by its sum; a row of zeros stays zero."""
    with np.errstate(divide="ignore"):
        r_inv = 1 / features.sum(1)
    r_inv[np.isinf(r_inv)] = 0
    return to_sparse(features * r_inv[:, np.newaxis])


def preprocess_adj(adj):
    """Computes D^-1/2 (A + I) D^-1/2, where D has the row sums of A + I."""
    adj = adj + np.eye(len(adj), dtype=adj.dtype)
    d_inv_sqrt = 1 / np.sqrt(adj.sum(1))
    return to_sparse(adj * d_inv_sqrt[:, np.newaxis] * d_inv_sqrt)


def sparse_dropout(x, rate, seed):
    """Drops elements of a sparse matrix, and scales up the others."""
    keep_prob = 1 - rate
    drawn = keep_prob + tf.random.uniform(tf.shape(x.values), dtype=x.dtype, seed=seed)
    return tf.sparse.retain(x, tf.cast(tf.floor(drawn), tf.bool)) * (1 / keep_prob)


def masked_mean(values, mask):
    """Computes the mean of the values of the nodes in a mask."""
    mask = tf.cast(mask, values.dtype)
    return tf.reduce_mean(values * (mask / tf.reduce_mean(mask)))


class GraphConvolution(tf.Module):
    """A layer without its activation: support * inputs * weights.

    A call takes [n, input_dim] inputs, sparse or dense, the sparse support, [n, n], and
    the share of inputs to drop. It returns [n, output_dim].

    Args:
        input_dim, output_dim: sizes of the inputs and outputs of a node.
        dtype: dtype of the inputs and of the weights.
        seed: seed of the initial weights; dropout has this seed plus 2.
        name: scope of the variable.
    """

    def __init__(self, input_dim, output_dim, dtype, seed, name):
        super().__init__()
        limit = math.sqrt(6 / (input_dim + output_dim))  # Glorot and Bengio, 2010
        draw = initializers.random_uniform(-limit, limit, seed)
        initial = draw([input_dim, output_dim], dtype)
        self.weights = tf.Variable(initial, name=f"{name}_vars/weights_0")
        self.seed = seed + 2

    def __call__(self, x, support, dropout=0.0):
        if isinstance(x, tf.SparseTensor):
            x = sparse_dropout(x, dropout, self.seed) if dropout else x
            x = tf.sparse.sparse_dense_matmul(x, self.weights)
        else:
            x = tf.nn.dropout(x, dropout, seed=self.seed) if dropout else x
            x = tf.matmul(x, self.weights)
        return tf.sparse.sparse_dense_matmul(support, x)


class GCN(tf.Module):
    """Two `GraphConvolution`s, which classify the nodes of a graph.

    A call takes the sparse features, [n, input_dim], and the sparse support, [n, n],
    and returns the logits, [n, classes].

    Args:
        input_dim: number of features of a node.
        classes: number of classes.
        dtype: dtype of the features and of the weights.
    """

    def __init__(self, input_dim, classes, dtype):
        super().__init__()
        name = "gcn/graphconvolution"
        self.first = GraphConvolution(input_dim, HIDDEN, dtype, 1, f"{name}_1")
        self.second = GraphConvolution(HIDDEN, classes, dtype, 2, f"{name}_2")

    def __call__(self, features, support, dropout=0.0):
        hidden = tf.nn.relu(self.first(features, support, dropout))
        return self.second(hidden, support, dropout)

    def losses(self, features, support, labels, mask, dropout=0.0):
        """Computes the loss, with weight decay, and the accuracy of nodes in a mask."""
        logits = self(features, support, dropout)
        cross_entropy = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
        # Only the first layer has weight decay.
        loss = WEIGHT_DECAY * tf.nn.l2_loss(self.first.weights)
        loss += masked_mean(cross_entropy, mask)
        correct = tf.argmax(logits, 1) == tf.argmax(labels, 1)
        return loss, masked_mean(tf.cast(correct, logits.dtype), mask)


class Trainer(tf.Module):
    """A `GCN` with its Adam and its global step.

    Args:
        input_dim, classes, dtype: see `GCN`.
        dropout: the share of inputs that each layer drops in a step.
    """

    def __init__(self, input_dim, classes, dtype, dropout=DROPOUT):
        super().__init__()
        self.model, self.dropout = GCN(input_dim, classes, dtype), dropout
        self.adam = optimizers.Adam(LEARNING_RATE)
        self.adam.create_slots(self.model.trainable_variables)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    @tf.function
    def step(self, features, support, labels, train_mask, val_mask):
        """Takes a step; returns the loss and the accuracy before, the loss after it."""
        variables, graph = self.model.trainable_variables, (features, support, labels)
        with tf.GradientTape() as tape:
            loss, accuracy = self.model.losses(*graph, train_mask, self.dropout)
        gradients = tape.gradient(loss, variables)
        self.adam.apply_gradients(zip(gradients, variables), self.global_step)
        return loss, accuracy, self.model.losses(*graph, val_mask)[0]


def train(
    features,
    adjacency,
    labels,
    train_mask,
    val_mask,
    steps,
    checkpoint=None,
    folder=None,
    dropout=DROPOUT,
):
    """Trains the network on a graph with Adam, until the validation loss rises."""
    # --- build
    tf.random.set_seed(123)
    trainer = Trainer(features.shape[1], labels.shape[1], features.dtype, dropout)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    graph = preprocess_features(features), preprocess_adj(adjacency)
    targets = [tf.constant(array) for array in (labels, train_mask, val_mask)]
    losses, cost_val, first = [], [], int(trainer.global_step)
    for epoch in range(steps):
        loss, accuracy, val_loss = trainer.step(*graph, *targets)
        losses.append(loss.numpy())
        cost_val.append(val_loss.numpy())
        if writer:
            with writer.as_default(first + epoch):
                tf.summary.scalar("loss", loss)
                tf.summary.scalar("accuracy", accuracy)
                tf.summary.scalar("val_loss", val_loss)
        recent = cost_val[-(EARLY_STOPPING + 1) : -1]
        if epoch > EARLY_STOPPING and cost_val[-1] > np.mean(recent):
            break
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    return {
        "losses": np.array(losses),
        "val_losses": np.array(cost_val),
        "variables": {name: variable.numpy() for name, variable in variables.items()},
    }


def restored(input_dim, classes, dtype, checkpoint):
    """Makes a `GCN` with the weights of a checkpoint."""
    model = GCN(input_dim, classes, dtype)
    restore.by_name(checkpoint, restore.named(model))
    return model


def evaluate(features, adjacency, labels, mask, checkpoint):
    """Restores the weights; computes the loss and the accuracy of some nodes."""
    # --- build
    model = restored(features.shape[1], labels.shape[1], features.dtype, checkpoint)
    # --- run
    graph = preprocess_features(features), preprocess_adj(adjacency)
    targets = tf.constant(labels), tf.constant(mask)
    loss, accuracy = tf.function(model.losses)(*graph, *targets)
    return {"loss": loss.numpy(), "accuracy": accuracy.numpy()}


def export(features, adjacency, classes, checkpoint, folder):
    """Saves the network as a SavedModel, loads it, and classifies the nodes."""
    sparse = {
        "features": preprocess_features(features),
        "support": preprocess_adj(adjacency),
    }
    # --- save
    model = restored(features.shape[1], classes, features.dtype, checkpoint)
    parts = {
        "indices": tf.TensorSpec([None, 2], tf.int64),
        "values": tf.TensorSpec([None], features.dtype),
        "dense_shape": tf.TensorSpec([2], tf.int64),
    }
    specs = {f"{name}_{part}": parts[part] for name in sparse for part in parts}

    @tf.function
    def classify(**inputs):
        graph = [
            tf.SparseTensor(*(inputs[f"{name}_{part}"] for part in parts))
            for name in sparse
        ]
        return {"probabilities": tf.nn.softmax(model(*graph))}

    signature = classify.get_concrete_function(**specs)
    tf.saved_model.save(model, folder, signatures={"serving_default": signature})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    inputs = {f"{n}_{part}": getattr(sparse[n], part) for n in sparse for part in parts}
    found = signature(**inputs)
    return {name: value.numpy() for name, value in found.items()}
