"""The batches and initial weights of the programs, in NumPy.

Each function takes the size of a batch, and other sizes that the cost depends on.
"""

import collections
import itertools

import numpy as np

BATCHES = 8  # different batches, which are repeated

# arrays: tuple of arrays of all rows; start: {name: initial value}.
Inputs = collections.namedtuple("Inputs", "batch arrays start")


def batches(inputs):
    """Yields the batches of all rows, in order, as tuples of arrays."""
    for at in range(0, len(inputs.arrays[0]), inputs.batch):
        yield tuple(array[at : at + inputs.batch] for array in inputs.arrays)


def cycle(inputs, convert=lambda array: array):
    """Makes a function: `f(steps)` iterates over the next `steps` batches, in a cycle.

    Args:
        inputs: `Inputs`.
        convert: a function that is applied to every array, once.
    """
    made = [tuple(map(convert, batch)) for batch in batches(inputs)]
    endless = itertools.cycle(made)
    return lambda steps: itertools.islice(endless, steps)


def affine(batch):
    """The inputs of one layer of a served model: 32 features, 32 units."""
    random = np.random.RandomState(1)
    start = {"kernel": _weights(random, 32, 32), "bias": np.zeros(32, "f")}
    return Inputs(batch, (_normal(random, batch, 32),), start)


def predict(batch):
    """The inputs of `mlp` without the labels, for prediction alone."""
    x, _ = mlp(batch).arrays
    return Inputs(batch, (x,), mlp(batch).start)


def mlp(batch, depth=2):
    """The inputs of a perceptron: 64 features, layers of 128 units, ten classes."""
    random = np.random.RandomState(2)
    widths = [64] + [128] * depth + [10]
    start = {}
    for number, shape in enumerate(zip(widths, widths[1:])):  # noqa: B905, Python 3.7
        start["kernel%d" % number] = _weights(random, *shape)
        start["bias%d" % number] = np.zeros(shape[1], "f")
    x = _normal(random, batch, widths[0])
    return Inputs(batch, (x, random.randint(0, 10, len(x)).astype("i")), start)


def convnet(batch):
    """The inputs of two convolutions with batch norm: 28 × 28 pixels, ten classes."""
    random = np.random.RandomState(3)
    start = {
        "conv0": _weights(random, 3, 3, 1, 16),
        "conv1": _weights(random, 3, 3, 16, 32),
        "kernel": _weights(random, 7 * 7 * 32, 10),
        "bias": np.zeros(10, "f"),
    }
    x = _normal(random, batch, 28, 28, 1)
    return Inputs(batch, (x, random.randint(0, 10, len(x)).astype("i")), start)


def lstm(batch, length=20):
    """The inputs of an LSTM of 64 units: sequences of 16 features, ten classes."""
    random = np.random.RandomState(4)
    start = {
        "lstm_kernel": _weights(random, 16 + 64, 4 * 64),
        "lstm_bias": np.zeros(4 * 64, "f"),
        "kernel": _weights(random, 64, 10),
        "bias": np.zeros(10, "f"),
    }
    x = _normal(random, batch, length, 16)
    return Inputs(batch, (x, random.randint(0, 10, len(x)).astype("i")), start)


def embedding(batch):
    """The inputs of a mean of embeddings: ten of 10,000 words, size 64, two classes."""
    random = np.random.RandomState(5)
    start = {
        "table": random.standard_normal((10000, 64)).astype("f") / 8,
        "kernel": _weights(random, 64, 2),
        "bias": np.zeros(2, "f"),
    }
    words = random.randint(0, 10000, (BATCHES * batch, 10)).astype("i")
    return Inputs(batch, (words, words[:, 0] % 2), start)


def beam_search(batch):
    """The inputs of beam search: 16 steps, 50 words, 4 beams, a decoder of 32 units."""
    random = np.random.RandomState(6)
    start = {
        "embedding": _weights(random, 50, 32),
        "kernel": _weights(random, 32, 32),
        "projection": _weights(random, 32, 50),
    }
    return Inputs(batch, (_normal(random, batch, 32),), start)


def records(batch):
    """The inputs of a pipeline of records: examples of 64 floats and a label."""
    random = np.random.RandomState(7)
    x = random.standard_normal((4096, 64)).astype("f")
    return Inputs(batch, (x, random.randint(0, 10, len(x)).astype("i")), {})


def _normal(random, batch, *shape):
    return random.standard_normal((BATCHES * batch,) + shape).astype("f")


def _weights(random, *shape):
    """Initial weights, scaled by the square root of the number of summed terms."""
    return (random.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]))).astype("f")
