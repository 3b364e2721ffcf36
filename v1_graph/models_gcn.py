"""`tf.sparse_placeholder`, `tf.sparse_retain`, masked loss, weight decay, Adam.

A graph convolutional network: Kipf and Welling, "Semi-Supervised Classification with
Graph Convolutional Networks", 2016. Programs for citation graphs were written like
this: layers as classes, a dict of placeholders, and NumPy for the graph.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

HIDDEN = 16
LEARNING_RATE = 0.01
WEIGHT_DECAY = 5e-4
EARLY_STOPPING = 10
DROPOUT = 0.5


def sparse_to_tuple(matrix):
    """Returns (coords, values, shape) of a matrix, which a session feeds."""
    coords = np.argwhere(matrix)
    return coords, matrix[tuple(coords.T)], np.array(matrix.shape, np.int64)


def preprocess_features(features):
    """Divides each row by its sum, and returns a tuple; a row of zeros stays zero."""
    with np.errstate(divide="ignore"):
        r_inv = 1 / features.sum(1)
    r_inv[np.isinf(r_inv)] = 0
    return sparse_to_tuple(features * r_inv[:, np.newaxis])


def preprocess_adj(adj):
    """Computes D^-1/2 (A + I) D^-1/2, where D has the row sums of A + I."""
    adj = adj + np.eye(len(adj), dtype=adj.dtype)
    d_inv_sqrt = 1 / np.sqrt(adj.sum(1))
    return sparse_to_tuple(adj * d_inv_sqrt[:, np.newaxis] * d_inv_sqrt)


def glorot(shape, dtype, seed, name):
    """Makes a variable with uniform values: Glorot and Bengio, 2010."""
    init_range = np.sqrt(6.0 / (shape[0] + shape[1]))
    initial = tf.random_uniform(shape, -init_range, init_range, dtype, seed)
    return tf.Variable(initial, name=name)


def sparse_dropout(x, keep_prob, noise_shape, seed):
    """Drops elements of a sparse matrix, and scales up the others."""
    random_tensor = keep_prob + tf.random_uniform(noise_shape, 0, 1, x.dtype, seed)
    dropout_mask = tf.cast(tf.floor(random_tensor), tf.bool)
    return tf.sparse_retain(x, dropout_mask) * (1 / keep_prob)


def dot(x, y, sparse=False):
    return tf.sparse_tensor_dense_matmul(x, y) if sparse else tf.matmul(x, y)


def masked_mean(values, mask):
    """Computes the mean of the values of the nodes in a mask."""
    mask = tf.cast(mask, values.dtype)
    mask /= tf.reduce_mean(mask)
    return tf.reduce_mean(values * mask)


class GraphConvolution:
    """A layer: act(support * inputs * weights), with dropout of the inputs."""

    def __init__(self, input_dim, output_dim, seed, name, act, sparse_inputs=False):
        self.seed, self.name, self.act = seed, name, act
        self.sparse_inputs = sparse_inputs
        self.shape = [input_dim, output_dim]

    def __call__(self, inputs, placeholders):
        keep_prob, dtype = 1 - placeholders["dropout"], inputs.dtype
        with tf.variable_scope(self.name + "_vars"):
            self.weights = glorot(self.shape, dtype, self.seed, "weights_0")
        with tf.name_scope(self.name):
            if self.sparse_inputs:
                noise_shape = placeholders["num_features_nonzero"]
                x = sparse_dropout(inputs, keep_prob, noise_shape, self.seed + 2)
            else:
                x = tf.nn.dropout(inputs, keep_prob, seed=self.seed + 2)
            pre_sup = dot(x, self.weights, sparse=self.sparse_inputs)
            return self.act(dot(placeholders["support"], pre_sup, sparse=True))


class GCN:
    """The graph of two layers, of the loss and of the accuracy."""

    def __init__(self, input_dim, classes, dtype):
        self.placeholders = placeholders = {
            "support": tf.sparse_placeholder(dtype, name="support"),
            "features": tf.sparse_placeholder(dtype, name="features"),
            "labels": tf.placeholder(dtype, [None, classes], name="labels"),
            "labels_mask": tf.placeholder(tf.bool, [None], name="labels_mask"),
            "dropout": tf.placeholder_with_default(np.zeros([], dtype), []),
            # Sparse dropout draws a number for each element.
            "num_features_nonzero": tf.placeholder(tf.int32, [1]),
        }
        first = GraphConvolution(
            input_dim, HIDDEN, 1, "graphconvolution_1", tf.nn.relu, sparse_inputs=True
        )
        second = GraphConvolution(HIDDEN, classes, 2, "graphconvolution_2", tf.identity)
        with tf.variable_scope("gcn"):
            hidden = first(placeholders["features"], placeholders)
            self.outputs = second(hidden, placeholders)
        labels, mask = placeholders["labels"], placeholders["labels_mask"]
        cross_entropy = tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=self.outputs
        )
        # Only the first layer has weight decay.
        self.loss = WEIGHT_DECAY * tf.nn.l2_loss(first.weights)
        self.loss += masked_mean(cross_entropy, mask)
        correct = tf.equal(tf.argmax(self.outputs, 1), tf.argmax(labels, 1))
        self.accuracy = masked_mean(tf.cast(correct, dtype), mask)

    def feed(self, features, adjacency, **others):
        """Makes the feed of a graph; `others` are values of other placeholders."""
        features = preprocess_features(features)
        values = {
            "features": tf.SparseTensorValue(*features),
            "support": tf.SparseTensorValue(*preprocess_adj(adjacency)),
            "num_features_nonzero": features[1].shape,
            **others,
        }
        return {self.placeholders[name]: value for name, value in values.items()}


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
    """Trains the network on a graph with Adam, until the validation loss rises.

    Args:
        features: [n, words] float array, a row of words for each node.
        adjacency: [n, n] array of the same dtype, symmetric, 0 or 1, 0 on the diagonal.
        labels: [n, classes] array of the same dtype, one-hot.
        train_mask, val_mask: [n] bool arrays, the nodes to train with and to validate
            with.
        steps: how many steps to take at most. It takes fewer if a validation loss is
            larger than the mean of the last 10 before it.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.
        dropout: the share of inputs that each layer drops, a float.

    Returns:
        dict with the `losses` before each step, with weight decay and dropout, the
        `val_losses` after each step, both [steps taken], and the final `variables` by
        name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(123)
        model = GCN(features.shape[1], labels.shape[1], features.dtype)
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(learning_rate=LEARNING_RATE)
        # Nothing else orders the weight decay before the update of the weights.
        with tf.control_dependencies([model.loss, model.accuracy]):
            opt_op = optimizer.minimize(model.loss, global_step=global_step)
        tf.summary.scalar("loss", model.loss)
        tf.summary.scalar("accuracy", model.accuracy)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver()
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        feed = model.feed(
            features, adjacency, labels=labels, labels_mask=train_mask, dropout=dropout
        )
        feed_val = model.feed(features, adjacency, labels=labels, labels_mask=val_mask)
        losses, cost_val, first = [], [], sess.run(global_step)
        for epoch in range(steps):
            _, loss, summary = sess.run([opt_op, model.loss, merged], feed)
            losses.append(loss)
            cost_val.append(sess.run(model.loss, feed_val))
            if writer:
                writer.add_summary(summary, first + epoch)
                value = tf.Summary.Value(tag="val_loss", simple_value=cost_val[-1])
                writer.add_summary(tf.Summary(value=[value]), first + epoch)
            recent = cost_val[-(EARLY_STOPPING + 1) : -1]
            if epoch > EARLY_STOPPING and cost_val[-1] > np.mean(recent):
                break
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        return {
            "losses": np.array(losses),
            "val_losses": np.array(cost_val),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(features, adjacency, labels, mask, checkpoint):
    """Restores the weights; computes the loss and the accuracy of some nodes.

    Args:
        features, adjacency, labels: see `train`.
        mask: [n] bool array, the nodes to test with.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `loss`, with weight decay, and the `accuracy`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        model = GCN(features.shape[1], labels.shape[1], features.dtype)
        fetches = {"loss": model.loss, "accuracy": model.accuracy}
        # --- run
        tf.train.Saver(tf.trainable_variables("gcn")).restore(sess, checkpoint)
        feed = model.feed(features, adjacency, labels=labels, labels_mask=mask)
        return sess.run(fetches, feed)


def export(features, adjacency, classes, checkpoint, folder):
    """Saves the network as a SavedModel, loads it, and classifies the nodes.

    Args:
        features, adjacency: see `train`.
        classes: how many classes there are, an int.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `probabilities`, [n, classes].
    """
    sparse = {
        "features": preprocess_features(features),
        "support": preprocess_adj(adjacency),
    }
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        model = GCN(features.shape[1], classes, features.dtype)
        tf.train.Saver(tf.trainable_variables("gcn")).restore(sess, checkpoint)
        inputs = {"num_features_nonzero": model.placeholders["num_features_nonzero"]}
        for name in sparse:
            inputs[name + "_indices"] = model.placeholders[name].indices
            inputs[name + "_values"] = model.placeholders[name].values
            inputs[name + "_dense_shape"] = model.placeholders[name].dense_shape
        outputs = {"probabilities": tf.nn.softmax(model.outputs)}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        values = {"num_features_nonzero": sparse["features"][1].shape}
        for name, (coords, elements, shape) in sparse.items():
            values[name + "_indices"] = coords
            values[name + "_values"] = elements
            values[name + "_dense_shape"] = shape
        feed = {signature.inputs[n].name: value for n, value in values.items()}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}
