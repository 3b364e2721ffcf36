"""The random number streams of TensorFlow 1's ops, and the seeds of these streams.

rng = stream(*kernel_seeds(graph_seed=1, op_seed=2))
rng.normal([3])    # tf.set_random_seed(1); tf.random_normal([3], seed=2)
"""

import tensorflow as tf

__all__ = [
    "DEFAULT_GRAPH_SEED",
    "kernel_seeds",
    "stream",
    "draw",
]

DEFAULT_GRAPH_SEED = 87654321
"""TensorFlow 1 and 2 use this graph seed if only the op has a seed."""

INT32_MAX = 2**31 - 1


def kernel_seeds(graph_seed, op_seed):
    """Computes the two seeds of a random op, as `tf.get_seed` of 1.15.5 did.

    Args:
        graph_seed: int that was passed to `tf.set_random_seed`, or None.
        op_seed: int, the `seed=` of the op. None is allowed only without a graph seed:
            with a graph seed, v1 used the number of the graph's last node as the op
            seed.

    Returns:
        (seed, seed2), the attributes of the op's node. (0, 0) means that every program
        draws different numbers.

    Raises:
        ValueError: a graph seed without an op seed.
        TypeError: a seed is not a number.
    """
    if graph_seed is None and op_seed is None:
        return 0, 0
    if graph_seed is None:
        graph_seed = DEFAULT_GRAPH_SEED
    if op_seed is None:
        raise ValueError(
            "op_seed must not be None: the seed would depend on the op's place in the "
            "graph"
        )
    seeds = graph_seed % INT32_MAX, op_seed % INT32_MAX
    return (0, INT32_MAX) if seeds == (0, 0) else seeds


def stream(seed, seed2):
    """Makes a generator that draws the same numbers as a random op of TensorFlow 1.

    v1's kernels used the Philox algorithm: `seed` was its key, `seed2` the upper half
    of its counter, and a draw of n numbers advanced the counter by 256 n. A
    `tf.random.Generator` does the same.

    Args:
        seed: int, the attribute of the op's node: see `kernel_seeds`.
        seed2: int, the second attribute.

    Returns:
        tf.random.Generator with `normal`, `uniform` and `truncated_normal`; its state
        can be saved in a checkpoint.
    """
    if seed == seed2 == 0:
        return tf.random.Generator.from_non_deterministic_state(alg="philox")
    return tf.random.Generator.from_state([0, seed2, seed], alg="philox")


def draw(kind, shape, first, second, dtype=tf.float32, seed=None):
    """Draws the numbers that a new random op of TensorFlow 1 drew in its first run.

    Args:
        kind: "normal", "truncated_normal" (mean, stddev) or "uniform" (bounds).
        shape: list of ints.
        first, second: mean and stddev, or lower and upper bound.
        dtype: float dtype.
        seed: an int, the op seed, used together with the global seed of
            `tf.random.set_seed`; or a generator such as a `stream` to draw from; or
            None to use the next seed that follows from `tf.random.set_seed`, which is
            not the seed that v1 took from the op's place in the graph.

    Returns:
        Tensor of this shape and dtype.
    """
    if isinstance(seed, tf.random.Generator):
        return getattr(seed, kind)(shape, first, second, dtype)
    if seed is None:  # else each function would count from 0 and repeat the same draws
        with tf.init_scope():
            if tf.executing_eagerly():  # False where tf.Variable lifts initial values
                seed = tf.random.uniform([], 0, INT32_MAX, tf.int32).numpy().item()
    op = getattr(tf.random, kind)
    # A new function: an eager op with the same seed would continue its last stream.
    drawn = tf.function(lambda: op(shape, first, second, dtype, seed))
    return drawn.get_concrete_function()()  # else TensorFlow warns of retracing
