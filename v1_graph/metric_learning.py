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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """Contrastive loss: the mean of d² for pairs, of max(margin - d, 0)² for others.

    Args:
        labels: [batch] tensor, 1 for a pair, 0 for what is none.
        embeddings_anchor, embeddings_positive: [batch, size] float tensors.
        margin: distance from which others are far enough apart.

    Returns:
        Scalar of the dtype of the embeddings.
    """
    return tensorflow.contrib.losses.metric_learning.contrastive_loss(
        labels, embeddings_anchor, embeddings_positive, margin
    )


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """Averages, over pairs, how much nearer a semi-hard other is than a margin.

    Args:
        labels: [batch] int tensor of classes.
        embeddings: [batch, size] float32 tensor.
        margin: added to the squared distance of a pair, before that of the other is
            subtracted: the nearest one that is farther than the pair, or the farthest.

    Returns:
        float32 scalar; NaN if no class has two rows.
    """
    return tensorflow.contrib.losses.metric_learning.triplet_semihard_loss(
        labels, embeddings, margin
    )


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002):
    """Averages the cross-entropy of which rows are pairs, and adds a penalty.

    Args:
        labels: [batch] int tensor of classes, of both.
        embeddings_anchor, embeddings_positive: [batch, size] float tensors, whose
            products are the logits.
        reg_lambda: weight of the penalty on squares, of which a quarter is taken.

    Returns:
        Scalar of the dtype of the embeddings.
    """
    return tensorflow.contrib.losses.metric_learning.npairs_loss(
        labels, embeddings_anchor, embeddings_positive, reg_lambda
    )


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """Averages squares, over pairs, of the distance and of how near all others are.

    Args:
        labels: [batch] int tensor of classes.
        embeddings: [batch, size] float32 tensor.
        margin: distance from which others are far enough apart.

    Returns:
        float32 scalar; NaN if no class has two rows.
    """
    return tensorflow.contrib.losses.metric_learning.lifted_struct_loss(
        labels, embeddings, margin
    )


def train_embeddings(x, labels, kernel, steps, rate):
    """Trains embeddings of unit length by the loss of semi-hard triplets.

    Args:
        x: [steps, batch, features] float32 array.
        labels: [steps, batch] int array of classes.
        kernel: [features, size] float32 array, what the weights are at first.
        steps: how many steps to take by Adam.
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
    """Trains embeddings by how far they are from the centers of their classes.

    Args:
        x: [steps, batch, features] float array.
        labels: [steps, batch] int array of classes.
        kernel: [features, size] float array, what the weights are at first.
        classes: how many there are; their centers are 0 at first.
        rate: learning rate of gradient descent.
        alpha: how far a center goes, of the mean distance of its rows.

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
        # Both need what was there before.
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
