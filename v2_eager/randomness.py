"""`tf.set_random_seed`, `seed=` of ops → `tf.random.Generator`, the same draws."""

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

from v2_eager.numerics import initializers, randomness
from v2_eager.numerics.randomness import DEFAULT_GRAPH_SEED, stream
from v2_eager.saved_models import message_class

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
    """Computes the two seeds, `seed` and `seed2`, of the kernel of a random op."""
    # --- seeds
    return [list(randomness.kernel_seeds(graph_seed, seed)) for seed in op_seeds]


def draws(kind, graph_seed, op_seed, sizes, parameters, dtype="float32", sessions=1):
    """Draws repeatedly from one random op: the first numbers and all later ones."""
    # --- op
    seeds = randomness.kernel_seeds(graph_seed, op_seed)
    rng = stream(*seeds)
    draw = getattr(rng, kind.replace("random_", ""))

    @tf.function(input_signature=[tf.TensorSpec([1], tf.int32)])
    def drawn(shape):
        return draw(shape, *parameters, dtype=dtype)

    # --- draw
    results = []
    for _ in range(sessions):
        rng.reset(stream(*seeds).state)  # restart; without seeds, a new stream
        results.append([drawn(np.int32([size])).numpy() for size in sizes])
    return results


def twins(graph_seed, op_seeds, size, runs):
    """Draws from several random ops, some of which have the same seed."""
    # --- op
    # Not tf.random.uniform(seed=…): eagerly, ops with one seed share a single stream.
    streams = [stream(*randomness.kernel_seeds(graph_seed, seed)) for seed in op_seeds]
    # --- draw
    return np.array([[rng.uniform([size]) for rng in streams] for _ in range(runs)])


def draws_by_position(graph_seed, nodes, size, runs):
    """Draws from ops without seeds: in a seeded graph, their position is their seed."""
    # --- op
    # tf.random_normal made six nodes: shape, mean and stddev, then the op, whose seed2
    # is the number of nodes so far, then a product and a sum.
    places, last_id = [], 0
    for count in nodes:
        places.append(last_id + count + 3)
        last_id = places[-1] + 3
    # --- seeds
    seeds = [list(randomness.kernel_seeds(graph_seed, place)) for place in places]
    # --- draw
    streams = [stream(*pair) for pair in seeds]
    normals = [[rng.normal([size]) for rng in streams] for _ in range(runs)]
    return {"seeds": seeds, "draws": np.array(normals)}


def initial_weights(graph_seed, sizes):
    """Draws the initial kernels of a perceptron with a graph seed but no op seeds."""
    # --- build
    # The placeholder is the first node. A kernel makes ten, three of them before its
    # draw, a bias four, the layer itself three: a product, a sum, a ReLU.
    shapes = list(zip(sizes, sizes[1:]))
    places = [1 + 17 * i + 3 for i in range(len(shapes))]
    # --- seeds
    seeds = [list(randomness.kernel_seeds(graph_seed, place)) for place in places]
    # --- draw
    kernels = []
    for pair, shape in zip(seeds, shapes):
        # The default initializer of variables.
        glorot = initializers.glorot_uniform(stream(*pair))
        kernels.append(tf.Variable(glorot(shape)))
    return {"seeds": seeds, "kernels": [kernel.numpy() for kernel in kernels]}


def shared_initializer(graph_seed, shape, count):
    """Initializes several variables with one initializer, each to its own values."""
    # --- build
    # A variable makes nine nodes, three of them before its draw.
    places = [9 * i + 3 for i in range(count)]
    # --- seeds
    seeds = [list(randomness.kernel_seeds(graph_seed, place)) for place in places]
    # --- draw
    # One for each variable: an initializer of Keras 3 draws the same values for all.
    variables = []
    for pair in seeds:
        init = initializers.truncated_normal(stddev=0.1, seed=stream(*pair))
        variables.append(tf.Variable(init(shape)))
    return {"seeds": seeds, "values": np.array([v.numpy() for v in variables])}


def replay(graph, runs):
    """Draws the same numbers as the random ops of a saved graph.

    Args:
        graph: text of a GraphDef, as `tf.train.write_graph` writes it (a `.meta` file
            holds one, in a MetaGraphDef), with nodes of the types RandomStandardNormal,
            RandomUniform and TruncatedNormal, whose shapes are constants.

    Raises:
        KeyError: another random op, such as RandomShuffle.
    """
    # --- read
    parsed = text_format.Parse(graph, message_class("GraphDef")())
    nodes = {node.name: node for node in parsed.node}
    # --- draw
    results = {}
    for node in parsed.node:
        if "seed2" in node.attr:
            rng = stream(node.attr["seed"].i, node.attr["seed2"].i)
            shape = tf.make_ndarray(nodes[node.input[0]].attr["value"].tensor)
            dtype = tf.as_dtype(node.attr["dtype"].type)
            draw = {
                "RandomStandardNormal": rng.normal,
                "RandomUniform": rng.uniform,
                "TruncatedNormal": rng.truncated_normal,
            }[node.op]
            results[node.name] = [draw(shape, dtype=dtype) for _ in range(runs)]
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)


def random_walk(steps, graph_seed, op_seed, runs):
    """Draws in a `while_loop`: each iteration continues the stream of the same op."""
    # --- op
    rng = stream(*randomness.kernel_seeds(graph_seed, op_seed))

    # --- loop
    @tf.function
    def walk():
        # A generator draws iteration by iteration; tf.random.normal may not: see the
        # guide.
        path, position = tf.TensorArray(tf.float32, steps), 0.0
        for i in tf.range(steps):
            position += rng.normal([])
            path = path.write(i, position)
        return path.stack()

    # --- draw
    return np.array([walk() for _ in range(runs)])


def other_draws(graph_seed, op_seed, runs):
    """Makes draws that a `Generator` lacks: gamma, Poisson, shuffle, crop, …."""
    # The global seed cannot be unset, but it can be set to its default. This also
    # restarts all streams.
    tf.random.set_seed(DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed)

    # --- ops
    @tf.function
    def drawn():
        probabilities = tf.constant([[0.125, 0.25, 0.625], [0.25, 0.5, 0.25]])
        image = tf.reshape(tf.range(30), [5, 6])
        rows = tf.constant([[0, 1], [2, 3], [4, 5], [6, 7]])
        log = tf.math.log(probabilities)
        return {
            "gamma": tf.random.gamma([2], [0.5, 1.0, 2.5], beta=2.0, seed=op_seed),
            "poisson": tf.random.poisson([4], [0.5, 3.0, 25.0], seed=op_seed),
            "categorical": tf.random.categorical(log, 6, seed=op_seed),
            "shuffled": tf.random.shuffle(rows, op_seed),
            "cropped": tf.image.random_crop(image, [2, 3], seed=op_seed),
        }

    # --- draw
    results = [drawn() for _ in range(runs)]
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)


def dropout(x, keep_prob, graph_seed, op_seed, runs):
    """Applies seeded dropout: keeps some elements, scaled up, and drops the others."""
    # --- drop
    rng = stream(*randomness.kernel_seeds(graph_seed, op_seed))

    @tf.function
    def drop(x):
        ones = tf.ones_like(x)
        mask = tf.nn.experimental.general_dropout(ones, 1 - keep_prob, rng.uniform)
        return x * mask  # as in TensorFlow 1: dropped elements keep sign or NaN

    # --- draw
    return [drop(x).numpy() for _ in range(runs)]


def initial_value(name, shape, graph_seed, op_seed, **options):
    """Draws the initial value of a variable with a seeded initializer.

    Raises:
        AttributeError: the initializer does not exist.
    """
    # --- initialize
    rng = stream(*randomness.kernel_seeds(graph_seed, op_seed))
    initialize = getattr(initializers, name)(seed=rng, **options)
    variable = tf.Variable(initialize(shape))
    return variable.numpy()


def shuffled_epochs(size, buffer, graph_seed, op_seed, epochs, reshuffle=True):
    """Shuffles a dataset of the numbers below `size`, epoch by epoch."""
    # --- shuffle
    tf.random.set_seed(DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed)
    dataset = tf.data.Dataset.range(size).shuffle(buffer, op_seed, reshuffle)
    # --- draw
    return np.array([batch for batch in dataset.repeat(epochs).batch(size)])


def noise_in_map(size, graph_seed, op_seed, runs):
    """Draws noise in `Dataset.map`, as data augmentation does, in several passes."""
    # --- map
    tf.random.set_seed(DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed)
    dataset = tf.data.Dataset.range(size)
    # A generator would continue from pass to pass: often better, but other numbers.
    dataset = dataset.map(lambda _: tf.random.normal([], seed=op_seed))
    # --- draw
    return np.array([list(dataset) for _ in range(runs)])


def numpy_noise(seed, size, feeds):
    """Feeds noise from NumPy, whose state TensorFlow's seeds do not change."""
    # --- seed
    # The stream of np.random.seed, as an object from which no other code draws.
    rng = np.random.RandomState(seed)
    # --- draw
    double = tf.function(lambda noise: 2 * noise)
    # A tensor: an array drawn inside the function would be drawn once, in the trace.
    noise = [tf.constant(rng.normal(size=size)) for _ in range(feeds)]
    return np.array([double(x) for x in noise])


def generator(seed, size, runs):
    """Draws from a `tf.random.Generator`, whose state is a variable."""
    # --- generator
    rng = tf.random.Generator.from_seed(seed, alg="philox")

    @tf.function
    def draw():
        return rng.normal([size]), rng.uniform([size])

    # --- draw
    pairs = [tuple(tensor.numpy() for tensor in draw()) for _ in range(runs)]
    return {"draws": pairs, "state": rng.state.numpy()}


def stateless(seed, size):
    """Draws with stateless ops: the same seed gives the same numbers."""
    logits = tf.math.log([[0.125, 0.25, 0.625]])
    return {
        "normal": tf.random.stateless_normal([size], seed),
        "uniform": tf.random.stateless_uniform([size], seed),
        "truncated": tf.random.stateless_truncated_normal([size], seed),
        "integers": tf.random.stateless_uniform([size], seed, 0, 100, tf.int32),
        "categorical": tf.random.stateless_categorical(logits, size, seed),
    }
