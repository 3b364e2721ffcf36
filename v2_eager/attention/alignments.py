"""What makes alignments of scores, but for a softmax."""

import numpy as np
import tensorflow as tf


def hardmax(logits):
    """Gives 1 to the highest of a row, the first of them, and 0 to all others.

    Args:
        logits: [..., n] float tensor.

    Returns:
        Tensor like `logits`.
    """
    n = tf.shape(logits)[-1]
    return tf.one_hot(tf.argmax(logits, -1), n, dtype=logits.dtype)


def monotonic_attention(p_choose_i, previous_attention, mode):
    """Gives the alignments of attention that never goes back.

    Args:
        p_choose_i: [batch, time] float tensor: the probability to stop there.
        previous_attention: [batch, time] float tensor, the last alignments.
        mode: "recursive", which is exact; "parallel", by sums of logarithms; or "hard",
            where all probabilities are 0 or 1.

    Returns:
        [batch, time] tensor, whose rows sum to at most 1.

    Raises:
        ValueError: another mode.
    """
    p, previous = p_choose_i, previous_attention
    # --- recursive
    if mode == "recursive":

        def step(reached, current):
            passed, begun = current
            return passed * reached + begun

        passed = tf.concat([tf.ones_like(p[:, :1]), 1 - p[:, :-1]], 1)
        times = tf.transpose(passed), tf.transpose(previous)
        return p * tf.transpose(tf.scan(step, times, tf.zeros_like(p[:, 0])))
    # --- parallel
    if mode == "parallel":
        tiny = np.finfo(p.dtype.as_numpy_dtype).tiny
        logs = tf.math.log(tf.clip_by_value(1 - p, tiny, 1))
        passed = tf.exp(tf.cumsum(logs, axis=1, exclusive=True))
        begun = previous / tf.clip_by_value(passed, 1e-10, 1)
        return p * passed * tf.cumsum(begun, axis=1)
    # --- hard
    if mode == "hard":
        p *= tf.cumsum(previous, axis=1)
        return p * tf.math.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")
