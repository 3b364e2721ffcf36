"""Metric learning: `contrib.losses.metric_learning` → functions of a few lines."""

import tensorflow

__all__ = [
    "contrastive_loss",
    "triplet_semihard_loss",
    "npairs_loss",
    "lifted_struct_loss",
]

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """Averages squared distances of pairs, and how much others are below a margin.

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
