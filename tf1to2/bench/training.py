"""Training programs on the clock: seconds per step, at two sizes of a model.

A program is run for few steps and for many; the difference is the steps alone, without
graph, session and traces.
"""

import numpy as np

from tf1to2.bench import clock, pairs
from tf1to2.bench.report import BOUNDS

ROUNDS = 5
# (rows of a batch, features, units) of the models.
SIZES = {"small": (8, 4, 2), "large": (1024, 512, 256)}
# Few and many.
STEPS = {
    "small": {"v1": (100, 8100), "v2": (100, 8100)},
    "large": {"v1": (8, 88), "v2": (8, 88)},
}


def normal(*shape):
    """Float32 values, small enough that training does not diverge."""
    return np.random.RandomState(sum(shape)).standard_normal(shape).astype("f") / 32


def line(rows, features, units):
    """(x, y), (kernel, bias)."""
    return (normal(rows, features), normal(rows, units)), start(features, units)


def start(features, units):
    """(kernel, bias) of a line."""
    return normal(features, units), normal(units)


def batches(rows, features, units):
    """Three batches (x, y)."""
    return normal(3, rows, features), normal(3, rows, units)


def optimizer(name, **hyper):
    def arguments(steps, *size):
        return [*line(*size), name, {"learning_rate": 0.125, **hyper}, [steps]]

    return arguments


def network(steps, rows, features, units):
    sizes = [features, units, units, 1]
    shapes = list(zip(sizes, sizes[1:], strict=False))
    kernels = [normal(*shape) for shape in shapes]
    biases = [normal(n) for _, n in shapes]
    return [normal(rows, features), normal(rows, 1), kernels, biases, steps]


def embedding(steps, rows, features, units):
    ids = np.random.RandomState(0).randint(0, features, [steps, rows]).astype("i")
    targets = normal(steps, rows, units)
    return [normal(features, units), ids, targets, "Adagrad", {"learning_rate": 0.125}]


def adversaries(steps, rows, features, units):
    real, noise = normal(rows, features), normal(rows, units)
    return [real, noise, normal(units, features), normal(features, 1), steps]


def polynomial(steps, rows, *_):
    x = normal(steps, rows * 16)
    return [x, 5 * x * x + 3, normal(3, 1)]


def images(steps, rows, features, units):
    side = 4 if rows < 100 else 16
    return [normal(rows // 8, side, side, 2), np.arange(rows // 8) % 3, steps]


def epochs(steps, rows, features, units):
    x, y = normal(rows * 4, features), normal(rows * 4, units)
    return [(x, y), start(features, units), steps // 4, rows]


# {name of the pair: its arguments for so many steps of a model of this size}.
PROGRAMS = {
    "averages.train": lambda n, *s: [*line(*s)[0], *line(*s)[1], n],
    "basics.fit_polynomial": lambda *size: polynomial(*size)[::2],
    "checkpoints.train": lambda n, *s: [
        *line(*s)[0],
        dict(zip(("kernel", "bias"), start(*s[1:]), strict=True)),
        n,
    ],
    "debugging.maximize_entropy": lambda n, r, f, u: [normal(f * u), n],
    "gradients.fine_tune": lambda n, r, f, u: [
        normal(r, f),
        normal(r),
        normal(f, u),
        normal(u, 1),
        0.125,
        n,
    ],
    "layers.train": images,
    "learning_rates.descend": lambda n, r, f, u: [normal(f, u), np.float32(0.125), n],
    "optimizers.fit (GradientDescent)": optimizer("GradientDescent"),
    "optimizers.fit (Momentum)": optimizer("Momentum", momentum=0.875),
    "optimizers.fit (RMSProp)": optimizer("RMSProp"),
    "optimizers.fit (Adam)": optimizer("Adam"),
    "optimizers.fit_clipped": lambda n, *s: [*line(*s), 1.0, [n]],
    "optimizers.fit_embedding": embedding,
    "optimizers.fit_in_turns": adversaries,
    "optimizers.fit_with_decay": lambda n, *s: [*line(*s), [n]],
    "parallel.fit": lambda *size: [*polynomial(*size), 2],
    "regularization.train": network,
    # As by default in a MonitoredTrainingSession, which saves seldom: a line of the log
    # and a summary after every hundred steps.
    "training_loops.feed_loop": lambda n, *s: [batches(*s), start(*s[1:]), n, 100],
    "training_loops.epoch_loop": epochs,
    "training_loops.monitored_loop": lambda n, *s: [
        batches(*s),
        start(*s[1:]),
        n,
        None,
        100,
        1000,
        100,
    ],
    "training_loops.supervised_loop": lambda n, *s: [batches(*s), start(*s[1:]), [n]],
}


def run(name, size, side, length=1):
    """A function that runs a program.

    Args:
        name: a key of `PROGRAMS`.
        size: a key of `SIZES`.
        side: "v1" or "v2".
        length: 0 for few steps, 1 for many.
    """
    topic, _, pair = name.partition(" ")[0].partition(".")
    proof = pairs.load(topic)
    args = PROGRAMS[name](STEPS[size][side][length], *SIZES[size])
    if side == "v1":
        return pairs.legacy_runner(proof.v1, pair, args, {})
    return pairs.runner(proof.v2, pair, args, {})


def measure(name, size):
    """Times the steps of a program.

    Args:
        name: a key of `PROGRAMS`.
        size: a key of `SIZES`.

    Returns:
        {"v1": Timing, "v2": Timing} in seconds per step; `first` is the whole of the
        first short run.
    """
    made = {}
    for side in ("v1", "v2"):
        for length in (0, 1):
            function = run(name, size, side, length)
            made[side, length] = clock.first_call(lambda function=function: function)

    def steps(timings):
        return {side: _per_step(timings, size, side) for side in ("v1", "v2")}

    def told(timings):
        by_side = steps(timings)
        return clock.ratio(by_side["v1"], by_side["v2"]).tells(BOUNDS[size])

    return steps(clock.interleave(made, ROUNDS, 0, told))


def _per_step(timings, size, side):
    few, many = STEPS[size][side]
    rounds = zip(timings[side, 0].rounds, timings[side, 1].rounds, strict=True)
    # Traces vary: on a busy machine by more than all steps take.
    seconds = [max(long - short, 1e-6) / (many - few) for short, long in rounds]
    return clock.Timing(timings[side, 0].first, seconds)
