"""`contrastive_loss`, `triplet_semihard_loss`, `npairs_loss` of `contrib.losses`."""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "contrastive_loss",
    "triplet_semihard_loss",
    "npairs_loss",
    "lifted_struct_loss",
    "train_embeddings",
    "train_centers",
]

# compat.v1 has no contrib, nor has any version after 1.15: import `tensorflow`.


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """Contrastive loss: averages d² of positive, max(margin - d, 0)² of negatives.

    Args:
        labels: [batch] tensor, 1 for a positive pair, 0 for a negative pair.
        embeddings_anchor, embeddings_positive: [batch, size] float tensors.
        margin: distance from which negatives are far enough apart.

    Returns:
        Scalar of the dtype of the embeddings.
    """
    return tensorflow.contrib.losses.metric_learning.contrastive_loss(
        labels, embeddings_anchor, embeddings_positive, margin
    )


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """Computes triplet loss with semi-hard negatives, averaged over positive pairs.

    Args:
        labels: [batch] int tensor of classes.
        embeddings: [batch, size] float32 tensor.
        margin: added to the squared distance of a positive pair, before the squared
            distance of the negative is subtracted. The negative is the nearest one that
            is further away than the positive, or else the furthest one.

    Returns:
        float32 scalar; NaN if no class has two rows.
    """
    return tensorflow.contrib.losses.metric_learning.triplet_semihard_loss(
        labels, embeddings, margin
    )


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002):
    """Computes the N-pairs loss: cross-entropy of all products, plus an L2 penalty.

    Args:
        labels: [batch] int tensor of classes, of both anchors and positives.
        embeddings_anchor, embeddings_positive: [batch, size] float tensors, whose
            products are the logits.
        reg_lambda: weight of the penalty on the squares, times a quarter.

    Returns:
        Scalar of the dtype of the embeddings.
    """
    return tensorflow.contrib.losses.metric_learning.npairs_loss(
        labels, embeddings_anchor, embeddings_positive, reg_lambda
    )


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """Lifted structured loss: compares a positive pair with both rows' negatives.

    Args:
        labels: [batch] int tensor of classes.
        embeddings: [batch, size] float32 tensor.
        margin: distance from which negatives are far enough apart.

    Returns:
        float32 scalar; NaN if no class has two rows.
    """
    return tensorflow.contrib.losses.metric_learning.lifted_struct_loss(
        labels, embeddings, margin
    )


def train_embeddings(x, labels, kernel, steps, rate):
    """Trains embeddings of unit length with the semi-hard triplet loss.

    Args:
        x: [steps, batch, features] float32 array.
        labels: [steps, batch] int array of classes.
        kernel: [features, size] float32 array, the initial weights.
        steps: number of steps of Adam.
        rate: learning rate.

    Returns:
        dict with the `losses` before every step, and the last `kernel`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        rows = tf.placeholder(x.dtype, [None, x.shape[2]])
        classes = tf.placeholder(labels.dtype, [None])
        weights = tf.get_variable("kernel", initializer=kernel)
        embeddings = tf.nn.l2_normalize(tf.matmul(rows, weights), 1)
        loss = tensorflow.contrib.losses.metric_learning.triplet_semihard_loss(
            classes, embeddings
        )
        train_op = tf.train.AdamOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for step in range(steps):
            feeds = {rows: x[step], classes: labels[step]}
            losses.append(sess.run([loss, train_op], feeds)[0])
        return {"losses": np.stack(losses), "kernel": sess.run(weights)}


def train_centers(x, labels, kernel, classes, rate=0.01, alpha=0.5):
    """Trains embeddings with the center loss: squared distances to class centers.

    Args:
        x: [steps, batch, features] float array.
        labels: [steps, batch] int array of classes.
        kernel: [features, size] float array, the initial weights.
        classes: number of classes; their centers start at 0.
        rate: learning rate of gradient descent.
        alpha: how far a center moves towards its rows in a step.

    Returns:
        dict with the `losses` before every step, the last `kernel` and the `centers`,
        [classes, size].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        rows = tf.placeholder(x.dtype, x.shape[1:])
        ids = tf.placeholder(labels.dtype, labels.shape[1:])
        weights = tf.get_variable("kernel", initializer=kernel)
        zeros = np.zeros([classes, kernel.shape[1]], kernel.dtype)
        centers = tf.get_variable("centers", initializer=zeros, trainable=False)
        embeddings = tf.matmul(rows, weights)
        away = tf.gather(centers, ids) - embeddings
        loss = tf.nn.l2_loss(away)
        # --- centers
        _, places, counts = tf.unique_with_counts(ids)
        times = tf.cast(tf.gather(counts, places), x.dtype)[:, tf.newaxis]
        shares = alpha * (away / (1 + times))
        step = tf.train.GradientDescentOptimizer(rate)
        gradients = step.compute_gradients(loss, [weights])
        # Both updates need the old values.
        with tf.control_dependencies([loss, shares, gradients[0][0]]):
            train_op = tf.group(
                step.apply_gradients(gradients), tf.scatter_sub(centers, ids, shares)
            )
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = [
            sess.run([loss, train_op], {rows: r, ids: i})[0] for r, i in zip(x, labels)
        ]
        return {
            "losses": np.stack(losses),
            "kernel": sess.run(weights),
            "centers": sess.run(centers),
        }
