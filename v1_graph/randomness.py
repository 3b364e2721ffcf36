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
    """Computes the two seeds, `seed` and `seed2`, of the kernel of a random op.

    Args:
        graph_seed: int that was passed to `set_random_seed`, or None without a call.
        op_seeds: list of ints, the `seed=` of each op; or of None if there is no graph
            seed.

    Returns:
        List of [seed, seed2], one per op; [0, 0] means that every program draws a new
        random seed.

    Raises:
        TypeError: a seed is not a number.
    """
    with tf.Graph().as_default():
        # --- seeds
        if graph_seed is not None:
            tf.set_random_seed(graph_seed)
        ops = [tf.random_shuffle([1, 2], seed=seed).op for seed in op_seeds]
        return [[op.get_attr("seed"), op.get_attr("seed2")] for op in ops]


def draws(kind, graph_seed, op_seed, sizes, parameters, dtype="float32", sessions=1):
    """Draws repeatedly from one random op: the first numbers and all later ones.

    Args:
        kind: "random_normal", "random_uniform" or "truncated_normal".
        graph_seed: int, or None.
        op_seed: int; None only without a graph seed, and then nothing can be repeated.
        sizes: list of int, the number of values in each draw.
        parameters: mean and deviation, or lower and upper bound.
        dtype: dtype of the numbers.
        sessions: number of sessions, one after the other.

    Returns:
        List of lists of [size] arrays, one list for each session.

    Raises:
        TypeError: a dtype that this kind does not support.
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
            with tf.Session() as sess:  # restarts every stream of the graph
                results.append([sess.run(y, {shape: [size]}) for size in sizes])
        return results


def twins(graph_seed, op_seeds, size, runs):
    """Draws from several random ops, some of which have the same seed.

    Args:
        graph_seed: int, or None.
        op_seeds: list of int. Ops with one seed draw the same numbers, each from its
            own stream.
        size: number of values in each draw.
        runs: number of draws.

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
    """Draws from ops without seeds: in a seeded graph, their position is their seed.

    Args:
        graph_seed: int.
        nodes: list of int, the number of other nodes before each normal op.
        size: number of values in each draw.
        runs: number of draws.

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
    """Draws the initial kernels of a perceptron with a graph seed but no op seeds.

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
        # Print this in the old program: with it, all of its draws can be repeated.
        ops = [op for op in graph.get_operations() if "seed2" in op.node_def.attr]
        seeds = [[op.get_attr("seed"), op.get_attr("seed2")] for op in ops]
        # --- draw
        sess.run(tf.global_variables_initializer())
        return {"seeds": seeds, "kernels": sess.run(kernels)}


def shared_initializer(graph_seed, shape, count):
    """Initializes several variables with one initializer, each to its own values.

    Args:
        graph_seed: int.
        shape: list of int, shape of each variable.
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
    """Draws the same numbers as the random ops of a saved graph.

    Args:
        graph: text of a GraphDef, as in files of `tf.train.write_graph` and `.meta`
            files, with nodes of the types RandomStandardNormal, RandomUniform and
            TruncatedNormal, whose shapes are constants.
        runs: number of draws.

    Returns:
        {name of the node: list of arrays}.

    Raises:
        text_format.ParseError: the text is not a GraphDef.
    """
    with tf.Graph().as_default() as new, tf.Session() as sess:
        # --- read
        tf.import_graph_def(text_format.Parse(graph, tf.GraphDef()), name="")
        # --- draw
        ops = [op for op in new.get_operations() if "seed2" in op.node_def.attr]
        results = [sess.run([op.outputs[0] for op in ops]) for _ in range(runs)]
        return {op.name: list(column) for op, column in zip(ops, zip(*results))}


def random_walk(steps, graph_seed, op_seed, runs):
    """Draws in a `while_loop`: each iteration continues the stream of the same op.

    Args:
        steps: number of iterations.
        graph_seed: int, or None.
        op_seed: int.
        runs: number of walks; each continues the stream.

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
        # Iterations that run in parallel, 10 by default, draw in the order in which
        # they run.
        loop = tf.while_loop(
            lambda i, *_: i < steps, step, start, parallel_iterations=1
        )
        walk = loop[-1].stack()
        # --- draw
        return np.array([sess.run(walk) for _ in range(runs)])


def other_draws(graph_seed, op_seed, runs):
    """Makes draws that a `Generator` lacks: gamma, Poisson, shuffle, crop, ….

    Args:
        graph_seed: int, or None.
        op_seed: int, seed of all ops.
        runs: number of draws.

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
    """Applies seeded dropout: keeps some elements, scaled up, and drops the others.

    Args:
        x: float32 array.
        keep_prob: share of the elements to keep, in (0, 1].
        graph_seed: int, or None.
        op_seed: int.
        runs: number of masks.

    Returns:
        List of arrays like x.

    Raises:
        ValueError: a `keep_prob` outside (0, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- drop
        tf.set_random_seed(graph_seed)
        y = tf.nn.dropout(tf.constant(x), keep_prob=keep_prob, seed=op_seed)
        # --- draw
        return [sess.run(y) for _ in range(runs)]


def initial_value(name, shape, graph_seed, op_seed, **options):
    """Draws the initial value of a variable with a seeded initializer.

    Args:
        name: name of an initializer of TensorFlow 1, as in `tf.initializers`.
        shape: shape of the variable; two dimensions or more if the initializer scales
            by the shape.
        graph_seed: int, or None.
        op_seed: int.
        **options: other arguments of the initializer.

    Returns:
        float32 array of this shape.

    Raises:
        AttributeError: the initializer does not exist; in TensorFlow 2 KeyError.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- initialize
        tf.set_random_seed(graph_seed)
        initializer = getattr(tf.initializers, name)(seed=op_seed, **options)
        variable = tf.get_variable("v", shape, initializer=initializer)
        sess.run(variable.initializer)
        return sess.run(variable)


def shuffled_epochs(size, buffer, graph_seed, op_seed, epochs, reshuffle=True):
    """Shuffles a dataset of the numbers below `size`, epoch by epoch.

    Args:
        size: number of elements.
        buffer: size of the buffer from which the next element is drawn.
        graph_seed: int, or None.
        op_seed: int.
        epochs: number of passes over the elements.
        reshuffle: whether each epoch has an order of its own.

    Returns:
        [epochs, size] int64 array.

    Raises:
        tf.errors.InvalidArgumentError: a buffer size of 0.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- shuffle
        tf.set_random_seed(graph_seed)
        dataset = tf.data.Dataset.range(size).shuffle(buffer, op_seed, reshuffle)
        # By default 1.15 fuses shuffle and repeat, and draws another order.
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        dataset = dataset.repeat(epochs).batch(size).with_options(options)
        # --- draw
        order = tf.data.make_initializable_iterator(dataset)
        batch = order.get_next()
        sess.run(order.initializer)
        return np.array([sess.run(batch) for _ in range(epochs)])


def noise_in_map(size, graph_seed, op_seed, runs):
    """Draws noise in `Dataset.map`, as data augmentation does, in several passes.

    Args:
        size: number of elements.
        graph_seed: int, or None.
        op_seed: int.
        runs: number of passes; each restarts the stream.

    Returns:
        [runs, size] float32 array: the noise of each element.

    Raises:
        TypeError: a seed is not a number.
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
    """Feeds noise from NumPy, whose state TensorFlow's seeds do not change.

    Args:
        seed: seed of NumPy and of the graph.
        size: number of values in a feed.
        feeds: number of feeds.

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
    """Draws from a `tf.random.Generator`, whose state is a variable.

    Args:
        seed: int.
        size: number of values in each draw.
        runs: number of draws.

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
        with tf.control_dependencies([normal]):  # you choose the order
            uniform = rng.uniform([size])
        sess.run(tf.global_variables_initializer())
        # --- draw
        pairs = [sess.run((normal, uniform)) for _ in range(runs)]
        return {"draws": pairs, "state": sess.run(rng.state)}


def stateless(seed, size):
    """Draws with stateless ops: the same seed gives the same numbers.

    Args:
        seed: [2] int tensor.
        size: number of values in each draw.

    Returns:
        dict of [size] float32 tensors `normal`, `uniform`, `truncated`, int32
        `integers`, and [1, size] int64 `categorical`.

    Raises:
        ValueError: a seed of another shape; eagerly tf.errors.InvalidArgumentError.
    """
    logits = tf.log([[0.125, 0.25, 0.625]])
    return {
        "normal": tf.random.stateless_normal([size], seed),
        "uniform": tf.random.stateless_uniform([size], seed),
        "truncated": tf.random.stateless_truncated_normal([size], seed),
        "integers": tf.random.stateless_uniform([size], seed, 0, 100, tf.int32),
        "categorical": tf.random.stateless_categorical(logits, size, seed),
    }
