"""The streams of random numbers that TensorFlow 1's ops had, and their seeds.

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
"""What TensorFlow takes, then and now, if only the op has a seed."""

INT32_MAX = 2**31 - 1


def kernel_seeds(graph_seed, op_seed):
    """The two numbers that begin the stream of an op: `tf.get_seed` of 1.15.5.

    Args:
        graph_seed: int that `tf.set_random_seed` was given, or None if it was not.
        op_seed: int, the `seed=` of the op; or None without a graph seed. With a graph
            seed, an op without its own took the number of the graph's last node.

    Returns:
        (seed, seed2), the attributes of the node; (0, 0) draws anew in every program.

    Raises:
        ValueError: a graph seed and no op seed.
        TypeError: a seed that is no number.
    """
    if graph_seed is None and op_seed is None:
        return 0, 0
    if graph_seed is None:
        graph_seed = DEFAULT_GRAPH_SEED
    if op_seed is None:
        raise ValueError("without a seed of its own an op's place in the graph counts")
    seeds = graph_seed % INT32_MAX, op_seed % INT32_MAX
    return (0, INT32_MAX) if seeds == (0, 0) else seeds


def stream(seed, seed2):
    """The stream of one random op of TensorFlow 1, the first number and all others.

    The kernels counted with the Philox algorithm: `seed` was its key, `seed2` the upper
    half of its counter, and a draw of n numbers took 256 n steps. So does a generator.

    Args:
        seed: int, as the node has it: see `kernel_seeds`.
        seed2: int, likewise.

    Returns:
        tf.random.Generator with `normal`, `uniform` and `truncated_normal`; its state
        can be saved in a checkpoint.
    """
    if seed == seed2 == 0:
        return tf.random.Generator.from_non_deterministic_state(alg="philox")
    return tf.random.Generator.from_state([0, seed2, seed], alg="philox")


def draw(kind, shape, first, second, dtype=tf.float32, seed=None):
    """Draws what one new op of TensorFlow 1 drew first.

    Args:
        kind: "normal", "truncated_normal" (mean, deviation) or "uniform" (bounds).
        shape: list of ints.
        first, second: the two numbers of the distribution.
        dtype: float dtype.
        seed: of the op: an int, below the seed of `tf.random.set_seed`; or a generator
            such as a `stream`, to draw from; or None, for the next one of those that
            `tf.random.set_seed` begins. The number of v1's node it is not.

    Returns:
        Tensor of this shape and dtype.
    """
    if isinstance(seed, tf.random.Generator):
        return getattr(seed, kind)(shape, first, second, dtype)
    if seed is None:  # each function would count from 0, and draw what the last drew
        with tf.init_scope():
            if tf.executing_eagerly():  # not so where tf.Variable lifts what it is told
                seed = tf.random.uniform([], 0, INT32_MAX, tf.int32).numpy().item()
    op = getattr(tf.random, kind)
    # A function of its own: an eager draw goes on where the last of its seed ended.
    drawn = tf.function(lambda: op(shape, first, second, dtype, seed))
    return drawn.get_concrete_function()()  # else TensorFlow warns of retracing
