"""`contrastive_loss`, `triplet_semihard_loss`, `npairs_loss` of `contrib.losses`."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

__all__ = [
    "contrastive_loss",
    "triplet_semihard_loss",
    "npairs_loss",
    "lifted_struct_loss",
    "train_embeddings",
    "train_centers",
]


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """Contrastive loss: averages d² of positive, max(margin - d, 0)² of negatives."""
    squares = tf.math.squared_difference(embeddings_anchor, embeddings_positive)
    distances = tf.sqrt(tf.reduce_sum(squares, 1))
    labels = tf.cast(labels, distances.dtype)
    far = (1.0 - labels) * tf.square(tf.maximum(margin - distances, 0.0))
    return tf.reduce_mean(labels * tf.square(distances) + far)


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """Computes triplet loss with semi-hard negatives, averaged over positive pairs."""
    squares = squared_distances(embeddings)
    same = same_class(labels, embeddings)
    others = tf.cast(~same, squares.dtype)
    # [i, j, k]: row k has another class than i, and is further from i than j is.
    farther = ~same[:, tf.newaxis] & (
        squares[:, tf.newaxis] > squares[:, :, tf.newaxis]
    )
    nearest = masked(tf.reduce_min, tf.reduce_max, squares[:, tf.newaxis], farther)
    farthest = masked(tf.reduce_max, tf.reduce_min, squares, others)[:, tf.newaxis]
    other = tf.where(tf.reduce_any(farther, -1), nearest, farthest)
    pairs = pairs_of(same, squares.dtype)
    losses = tf.maximum((margin + (squares - other)) * pairs, 0.0)
    return tf.reduce_sum(losses) / tf.reduce_sum(pairs)


def same_class(labels, rows):
    """Returns a [batch, batch] mask: True if two rows have the same class."""
    labels, message = tf.convert_to_tensor(labels), "labels must be [batch]"
    if labels.shape.rank not in (1, None):
        raise ValueError(f"{message}, not {labels.shape}")
    # Fewer labels, such as one, would be broadcast.
    tf.debugging.assert_equal(tf.shape(labels), tf.shape(rows)[:1], message)
    return labels[:, tf.newaxis] == labels


def masked(chosen, opposite, values, mask):
    """Computes the minimum or maximum of values with mask 1 over the last axis."""
    bound = opposite(values, -1, keepdims=True)
    shifted = (values - bound) * tf.cast(mask, values.dtype)
    return chosen(shifted, -1) + tf.squeeze(bound, -1)


def pairs_of(same, dtype):
    """Returns 1 for each pair of different rows of one class, 0 for other pairs."""
    return tf.cast(same, dtype) - tf.eye(tf.shape(same)[0], dtype=dtype)


def squared_distances(embeddings):
    """Computes squared distances of rows, [batch, batch]; the diagonal is exactly 0."""
    squares = tf.square(embeddings)
    rows = tf.reduce_sum(squares, 1, keepdims=True)
    columns = tf.reduce_sum(tf.transpose(squares), 0, keepdims=True)
    products = tf.matmul(embeddings, tf.transpose(embeddings))
    distances = tf.maximum(rows + columns - 2.0 * products, 0.0)
    distances *= tf.cast(distances > 0, distances.dtype)
    return distances * (1 - tf.eye(tf.shape(distances)[0], dtype=distances.dtype))


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002):
    """Computes the N-pairs loss: cross-entropy of all products, plus an L2 penalty."""
    penalties = [
        tf.reduce_mean(tf.reduce_sum(tf.square(embeddings), 1))
        for embeddings in (embeddings_anchor, embeddings_positive)
    ]
    logits = tf.matmul(embeddings_anchor, embeddings_positive, transpose_b=True)
    same = tf.cast(same_class(labels, logits), tf.float32)
    targets = same / tf.reduce_sum(same, 1, keepdims=True)
    targets = tf.cast(targets, logits.dtype)
    losses = tf.nn.softmax_cross_entropy_with_logits(targets, logits)
    return 0.25 * reg_lambda * tf.add_n(penalties) + tf.reduce_mean(losses)


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """Lifted structured loss: compares a positive pair with both rows' negatives."""
    squares = squared_distances(embeddings)
    apart = tf.cast(squares > 0, squares.dtype)
    distances = tf.sqrt(squares + (1 - apart) * 1e-16) * apart  # finite gradient at 0
    same = same_class(labels, embeddings)
    others = tf.cast(~same, distances.dtype)
    near = margin - distances
    # The log of a sum of exponentials, shifted by the largest: no overflow.
    greatest = masked(tf.reduce_max, tf.reduce_min, near, others)
    greatest = tf.maximum(greatest[:, tf.newaxis], greatest)
    exponentials = tf.exp(near[:, tf.newaxis] - greatest[:, :, tf.newaxis])
    sums = tf.reduce_sum(exponentials * others[:, tf.newaxis], -1)
    nearness = greatest + tf.math.log(sums + tf.transpose(sums))
    pairs = pairs_of(same, distances.dtype)
    losses = tf.square(tf.maximum((nearness + distances) * pairs, 0.0))
    return 0.25 * tf.reduce_sum(losses) / (tf.reduce_sum(pairs) / 2.0)


def train_embeddings(x, labels, kernel, steps, rate):
    """Trains embeddings of unit length with the semi-hard triplet loss."""
    # --- loss
    weights = tf.Variable(kernel, name="kernel")
    optimizer = optimizers.Adam(rate).create_slots([weights])

    def loss(rows, classes):
        embeddings = tf.nn.l2_normalize(tf.matmul(rows, weights), 1)
        return triplet_semihard_loss(classes, embeddings)

    @tf.function
    def train(rows, classes):
        return optimizer.minimize(lambda: loss(rows, classes), [weights])

    # --- run
    losses = []
    for step in range(steps):
        losses.append(train(tf.constant(x[step]), tf.constant(labels[step])).numpy())
    return {"losses": np.stack(losses), "kernel": weights.numpy()}


def train_centers(x, labels, kernel, classes, rate=0.01, alpha=0.5):
    """Trains embeddings with the center loss: squared distances to class centers."""
    # --- loss
    weights = tf.Variable(kernel, name="kernel")
    zeros = np.zeros([classes, kernel.shape[1]], kernel.dtype)
    centers = tf.Variable(zeros, trainable=False, name="centers")
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def train(rows, ids):
        nearest = tf.gather(centers, ids)
        away = nearest - tf.matmul(rows, weights)

        def loss():
            return tf.nn.l2_loss(nearest - tf.matmul(rows, weights))

        # --- centers
        _, places, counts = tf.unique_with_counts(ids)
        times = tf.cast(tf.gather(counts, places), rows.dtype)[:, tf.newaxis]
        shares = alpha * (away / (1 + times))
        centers.scatter_sub(tf.IndexedSlices(shares, ids))
        return optimizer.minimize(loss, [weights])

    # --- run
    batches = zip(tf.constant(x), tf.constant(labels))
    losses = [train(*batch).numpy() for batch in batches]
    return {
        "losses": np.stack(losses),
        "kernel": weights.numpy(),
        "centers": centers.numpy(),
    }
