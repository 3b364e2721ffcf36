"""`tf.set_random_seed`, `seed=` of ops → `tf.random.Generator`, the same draws."""

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf import text_format

__all__ = [
    "kernel_seeds",
    "draws",
    "twins",
    "draws_by_position",
    "initial_weights",
    "shared_initializer",
    "replay",
    "random_walk",
    "other_draws",
    "dropout",
    "initial_value",
    "shuffled_epochs",
    "noise_in_map",
    "numpy_noise",
    "generator",
    "stateless",
]


def kernel_seeds(graph_seed, op_seeds):
    """Tells the two numbers that begin the stream of a random op.

    Args:
        graph_seed: int that `set_random_seed` was given, or None if it was not called.
        op_seeds: list of ints, the `seed=` of each op; or of None without a graph seed.

    Returns:
        List of [seed, seed2], one per op; [0, 0] is drawn anew by every program.

    Raises:
        TypeError: a seed that is no number.
    """
    with tf.Graph().as_default():
        # --- seeds
        if graph_seed is not None:
            tf.set_random_seed(graph_seed)
        ops = [tf.random_shuffle([1, 2], seed=seed).op for seed in op_seeds]
        return [[op.get_attr("seed"), op.get_attr("seed2")] for op in ops]


def draws(kind, graph_seed, op_seed, sizes, parameters, dtype="float32", sessions=1):
    """Draws again and again from one op: the first numbers and all later ones.

    Args:
        kind: "random_normal", "random_uniform" or "truncated_normal".
        graph_seed: int, or None.
        op_seed: int; None only without a graph seed, and then nothing can be repeated.
        sizes: list of int, how many numbers each draw takes.
        parameters: mean and deviation, or lower and upper bound.
        dtype: of the numbers.
        sessions: how many programs do so, one after the other.

    Returns:
        List (a session each) of lists of [size] arrays.

    Raises:
        TypeError: a dtype in which this kind is not drawn.
    """
    with tf.Graph().as_default():
        # --- op
        tf.set_random_seed(graph_seed)
        shape = tf.placeholder(tf.int32, [1])
        draw = getattr(tf, kind)
        y = draw(shape, *parameters, dtype=dtype, seed=op_seed)
        # --- draw
        results = []
        for _ in range(sessions):
            with tf.Session() as sess:  # begins every stream of the graph anew
                results.append([sess.run(y, {shape: [size]}) for size in sizes])
        return results


def twins(graph_seed, op_seeds, size, runs):
    """Draws from several ops, some of one seed, side by side.

    Args:
        graph_seed: int, or None.
        op_seeds: list of int. Ops of one seed draw the same numbers, each its own.
        size: how many numbers each draw takes.
        runs: how often to draw.

    Returns:
        [runs, ops, size] float32 array of numbers in [0, 1).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- op
        tf.set_random_seed(graph_seed)
        ops = [tf.random_uniform([size], seed=seed) for seed in op_seeds]
        # --- draw
        return np.array([sess.run(ops) for _ in range(runs)])


def draws_by_position(graph_seed, nodes, size, runs):
    """Draws from ops without seeds in a graph with one: their place is their seed.

    Args:
        graph_seed: int.
        nodes: list of int, how many other nodes are made before each normal op.
        size: how many numbers each draw takes.
        runs: how often to draw.

    Returns:
        dict with the `seeds`, a list of [seed, seed2] per op, and the `draws`, a
        [runs, ops, size] float32 array.
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- op
        tf.set_random_seed(graph_seed)
        normals = []
        for count in nodes:
            for _ in range(count):
                tf.no_op()
            normals.append(tf.random_normal([size]))
        # --- seeds
        ops = [op for op in graph.get_operations() if "Random" in op.type]
        seeds = [[op.get_attr("seed"), op.get_attr("seed2")] for op in ops]
        # --- draw
        return {
            "seeds": seeds,
            "draws": np.array([sess.run(normals) for _ in range(runs)]),
        }


def initial_weights(graph_seed, sizes):
    """Draws the initial kernels of a perceptron that only its graph gave a seed.

    Args:
        graph_seed: int.
        sizes: list of int, the number of features, then the units of each layer.

    Returns:
        dict with the `seeds`, a list of [seed, seed2] per kernel, and the `kernels`, a
        list of float32 arrays.
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        tf.set_random_seed(graph_seed)
        x = tf.placeholder(tf.float32, [None, sizes[0]])
        kernels = []
        for i, units in enumerate(sizes[1:]):
            kernel = tf.get_variable("kernel%d" % i, [sizes[i], units])
            bias = tf.get_variable(
                "bias%d" % i, [units], initializer=tf.zeros_initializer()
            )
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))
            kernels.append(kernel)
        # --- seeds
        # Print this in the old program: whatever it draws can then be drawn anew.
        ops = [op for op in graph.get_operations() if "seed2" in op.node_def.attr]
        seeds = [[op.get_attr("seed"), op.get_attr("seed2")] for op in ops]
        # --- draw
        sess.run(tf.global_variables_initializer())
        return {"seeds": seeds, "kernels": sess.run(kernels)}


def shared_initializer(graph_seed, shape, count):
    """Draws the values of several variables by one initializer: each other values.

    Args:
        graph_seed: int.
        shape: list of int, of each variable.
        count: int, the number of variables.

    Returns:
        dict with the `seeds`, a list of [seed, seed2] per variable, and the `values`, a
        float32 array [count, *shape].
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        tf.set_random_seed(graph_seed)
        init = tf.truncated_normal_initializer(stddev=0.1)
        variables = [
            tf.get_variable("w%d" % i, shape, initializer=init) for i in range(count)
        ]
        # --- seeds
        ops = [op for op in graph.get_operations() if "seed2" in op.node_def.attr]
        seeds = [[op.get_attr("seed"), op.get_attr("seed2")] for op in ops]
        # --- draw
        sess.run(tf.global_variables_initializer())
        return {"seeds": seeds, "values": np.array(sess.run(variables))}


def replay(graph, runs):
    """Draws what the random ops of a saved graph draw.

    Args:
        graph: text of a GraphDef, as `tf.train.write_graph` and a `.meta` file have it,
            with nodes of the types RandomStandardNormal, RandomUniform and
            TruncatedNormal, whose shapes are constants.
        runs: how often to draw.

    Returns:
        {name of the node: list of arrays}.

    Raises:
        text_format.ParseError: no GraphDef.
    """
    with tf.Graph().as_default() as new, tf.Session() as sess:
        # --- read
        tf.import_graph_def(text_format.Parse(graph, tf.GraphDef()), name="")
        # --- draw
        ops = [op for op in new.get_operations() if "seed2" in op.node_def.attr]
        results = [sess.run([op.outputs[0] for op in ops]) for _ in range(runs)]
        return {op.name: list(column) for op, column in zip(ops, zip(*results))}


def random_walk(steps, graph_seed, op_seed, runs):
    """Draws in a loop: every turn goes on with the stream of the one op in its body.

    Args:
        steps: how often the loop turns.
        graph_seed: int, or None.
        op_seed: int.
        runs: how often to walk; the second walk goes on, too.

    Returns:
        [runs, steps] float32 array of the positions.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- op
        tf.set_random_seed(graph_seed)

        # --- loop
        def step(i, position, path):
            position += tf.random_normal([], seed=op_seed)
            return i + 1, position, path.write(i, position)

        path = tf.TensorArray(tf.float32, steps)
        start = [0, 0.0, path]
        # Turns that run side by side, 10 by default, draw in whatever order they run.
        loop = tf.while_loop(
            lambda i, *_: i < steps, step, start, parallel_iterations=1
        )
        walk = loop[-1].stack()
        # --- draw
        return np.array([sess.run(walk) for _ in range(runs)])


def other_draws(graph_seed, op_seed, runs):
    """Draws from the distributions that a generator has not.

    Args:
        graph_seed: int, or None.
        op_seed: int, of all ops.
        runs: how often to draw.

    Returns:
        List of dicts with `gamma` [2, 3] float32, `poisson` [4, 3] float32,
        `categorical` [2, 6] int64, `shuffled` [4, 2] and `cropped` [2, 3] int32.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(graph_seed)
        # --- ops
        probabilities = tf.constant([[0.125, 0.25, 0.625], [0.25, 0.5, 0.25]])
        image = tf.reshape(tf.range(30), [5, 6])
        ops = {
            "gamma": tf.random_gamma([2], [0.5, 1.0, 2.5], beta=2.0, seed=op_seed),
            "poisson": tf.random_poisson([0.5, 3.0, 25.0], [4], seed=op_seed),
            "categorical": tf.multinomial(tf.log(probabilities), 6, seed=op_seed),
            "shuffled": tf.random_shuffle([[0, 1], [2, 3], [4, 5], [6, 7]], op_seed),
            "cropped": tf.random_crop(image, [2, 3], seed=op_seed),
        }
        # --- draw
        return [sess.run(ops) for _ in range(runs)]


def dropout(x, keep_prob, graph_seed, op_seed, runs):
    """Keeps a share of the elements, scaled up, and drops the others.

    Args:
        x: float32 array.
        keep_prob: the share to keep, in (0, 1].
        graph_seed: int, or None.
        op_seed: int.
        runs: how often to draw a mask.

    Returns:
        List of arrays like x.

    Raises:
        ValueError: a share outside of (0, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- drop
        tf.set_random_seed(graph_seed)
        y = tf.nn.dropout(tf.constant(x), keep_prob=keep_prob, seed=op_seed)
        # --- draw
        return [sess.run(y) for _ in range(runs)]


def initial_value(name, shape, graph_seed, op_seed, **options):
    """Draws the initial value of a variable by an initializer with a seed.

    Args:
        name: of an initializer of TensorFlow 1, as in `tf.initializers`.
        shape: of the variable, two dimensions or more where they scale the draw.
        graph_seed: int, or None.
        op_seed: int.
        **options: other arguments of the initializer.

    Returns:
        float32 array of this shape.

    Raises:
        AttributeError: (in TensorFlow 2 a KeyError) no such initializer.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- initialize
        tf.set_random_seed(graph_seed)
        initializer = getattr(tf.initializers, name)(seed=op_seed, **options)
        variable = tf.get_variable("v", shape, initializer=initializer)
        sess.run(variable.initializer)
        return sess.run(variable)


def shuffled_epochs(size, buffer, graph_seed, op_seed, epochs, reshuffle=True):
    """Shuffles the numbers below `size`, epoch by epoch.

    Args:
        size: how many numbers.
        buffer: how many of them are looked at to draw the next.
        graph_seed: int, or None.
        op_seed: int.
        epochs: how often to go through them.
        reshuffle: whether each epoch has an order of its own.

    Returns:
        [epochs, size] int64 array.

    Raises:
        tf.errors.InvalidArgumentError: a buffer of no size.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- shuffle
        tf.set_random_seed(graph_seed)
        dataset = tf.data.Dataset.range(size).shuffle(buffer, op_seed, reshuffle)
        # 1.15 fuses shuffle and repeat, and draws another order unless told not to.
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        dataset = dataset.repeat(epochs).batch(size).with_options(options)
        # --- draw
        order = tf.data.make_initializable_iterator(dataset)
        batch = order.get_next()
        sess.run(order.initializer)
        return np.array([sess.run(batch) for _ in range(epochs)])


def noise_in_map(size, graph_seed, op_seed, runs):
    """Draws in the map of a dataset, as augmentation does, pass after pass.

    Args:
        size: how many elements.
        graph_seed: int, or None.
        op_seed: int.
        runs: how many passes; each begins the stream anew.

    Returns:
        [runs, size] float32 array: the noise that each element was given.

    Raises:
        TypeError: a seed that is no number.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- map
        tf.set_random_seed(graph_seed)
        dataset = tf.data.Dataset.range(size)
        dataset = dataset.map(lambda _: tf.random_normal([], seed=op_seed))
        # --- draw
        iterator = tf.data.make_initializable_iterator(dataset)
        noise = iterator.get_next()
        results = []
        for _ in range(runs):
            sess.run(iterator.initializer)
            results.append([sess.run(noise) for _ in range(size)])
        return np.array(results)


def numpy_noise(seed, size, feeds):
    """Feeds noise from NumPy, whose state no seed of TensorFlow touches.

    Args:
        seed: of NumPy and of the graph.
        size: how many numbers to feed.
        feeds: how often.

    Returns:
        [feeds, size] float64 array, twice the noise.

    Raises:
        ValueError: a seed below 0.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- seed
        tf.set_random_seed(seed)
        np.random.seed(seed)
        # --- draw
        noise = tf.placeholder(tf.float64, [size])
        y = 2 * noise
        return np.array(
            [sess.run(y, {noise: np.random.normal(size=size)}) for _ in range(feeds)]
        )


def generator(seed, size, runs):
    """Draws from a generator, whose stream is a variable.

    Args:
        seed: int.
        size: how many numbers each draw takes.
        runs: how often to draw.

    Returns:
        dict with a list of the `draws`, (normal, uniform) pairs of [size] float32
        arrays, and the `state` in the end, an int64 array.

    Raises:
        tf.errors.InvalidArgumentError: a size below 0.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- generator
        rng = tf.random.experimental.Generator.from_seed(seed)
        normal = rng.normal([size])
        with tf.control_dependencies([normal]):  # the order is up to you
            uniform = rng.uniform([size])
        sess.run(tf.global_variables_initializer())
        # --- draw
        pairs = [sess.run((normal, uniform)) for _ in range(runs)]
        return {"draws": pairs, "state": sess.run(rng.state)}


def stateless(seed, size):
    """Draws without a state: the same seed is the same numbers.

    Args:
        seed: [2] int tensor.
        size: how many numbers each draw takes.

    Returns:
        dict of [size] float32 tensors `normal`, `uniform`, `truncated`, int32
        `integers`, and [1, size] int64 `categorical`.

    Raises:
        ValueError: (tf.errors.InvalidArgumentError eagerly) a seed of another shape.
    """
    logits = tf.log([[0.125, 0.25, 0.625]])
    return {
        "normal": tf.random.stateless_normal([size], seed),
        "uniform": tf.random.stateless_uniform([size], seed),
        "truncated": tf.random.stateless_truncated_normal([size], seed),
        "integers": tf.random.stateless_uniform([size], seed, 0, 100, tf.int32),
        "categorical": tf.random.stateless_categorical(logits, size, seed),
    }
