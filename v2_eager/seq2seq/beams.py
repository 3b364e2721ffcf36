"""The embedding table, and the length and coverage penalties of beam search."""

import collections

import tensorflow as tf

BeamOutput = collections.namedtuple("BeamOutput", ["scores", "ids", "parents"])
FinalBeamOutput = collections.namedtuple("FinalBeamOutput", ["scores", "predicted_ids"])
BeamState = collections.namedtuple(
    "BeamState", ["cell_state", "log_probs", "finished", "lengths", "seen"]
)


class Embedding(tf.Module):
    """An embedding table; the first call of `build` makes it.

    `keras.layers.Embedding` calls its table `embeddings` and draws it uniformly.

    Args:
        classes: number of rows.
        size: size of a vector.
        path: scope of the variable `embedding`, [classes, size].
        initializer: function of shape and dtype.
    """

    rows = None

    def __init__(self, classes, size, path, initializer):
        super().__init__()
        self.shape, self.path, self.initializer = [classes, size], path, initializer

    def build(self, dtype):
        if self.rows is None:
            with tf.init_scope(), tf.name_scope(""):
                rows = self.initializer(self.shape, dtype)
                self.rows = tf.Variable(rows, name=f"{self.path}/embedding")
        return self.rows


def length_penalty(lengths, weight):
    """Computes the length penalty ((5 + length) / 6) ** weight, in float32."""
    if not tf.is_tensor(weight) and weight == 0:
        return 1.0
    return (5.0 + tf.cast(lengths, tf.float32)) ** weight / tf.constant(6.0) ** weight


def coverage_penalty(seen, finished, weight):
    """Computes the coverage penalty of finished beams, [batch, beams], at most 0."""
    covered = tf.minimum(tf.where(seen == 0, tf.ones_like(seen), seen), 1.0)
    penalty = tf.reduce_sum(tf.math.log(covered), 2)
    return penalty * tf.cast(finished, tf.float32) * weight


def whole(x):
    """Returns whether all beams share a part of the state: a TensorArray or scalar."""
    return isinstance(x, tf.TensorArray) or x.shape.rank == 0
