"""Proves the code of "In short" in the chapters: both sides give the same numbers."""

import numpy as np
import pytest

from tf1to2.parity import Pair, integers, normal

# Keras reads .keras files with a NumPy protocol of before 2.0.
COPY = "ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"
pytestmark = pytest.mark.filterwarnings(COPY)
FOLDERS = [".", "ported"]
rng = np.random.RandomState(0)


def in_short(chapter, *inputs, **options):
    """The pair of a chapter: on both sides, the function with the chapter's name."""
    pair = Pair(
        f"legacy/{chapter}.py",
        f"ported/{chapter}.py",
        widen=True,
        folders=FOLDERS,
        recording=f"recorded/{chapter}.npz",
    )
    pair.program(chapter, "in short", *inputs, **options)
    return pair


rnn = in_short("rnn", normal(2, 5, 3), integers(2, low=1, high=6), traces=2)
averages = in_short("averages", normal(3))
basics = in_short("basics", normal(4, 3), integers(4, high=4, dtype="int64"))
EAGER = {"function": "nothing to trace"}
checkpoints = in_short("checkpoints", normal(3, 2), skip=EAGER)
control_flow = in_short("control_flow", np.float32(3.0))
data = in_short("data", normal(6, 2), np.arange(6))
embeddings = in_short("embeddings", np.array([1, 3, 1], np.int32), normal(3, 3))
gradients = in_short("gradients", normal(4, 3))
layers = in_short("layers", normal(2, 8, 8, 1), traces=2)
learning_rates = in_short("learning_rates", normal(3))
labels, guesses = np.array([[1, 2, 0], [2, 2, 1]]), np.array([[1, 0, 0], [2, 1, 1]])
metrics = in_short("metrics", list(zip(labels, guesses)), skip=EAGER)
optimizers = in_short("optimizers", normal(3), normal(3))
variables = in_short("variables", normal(4, 3), normal(4, 3))
losses = in_short(
    "losses",
    normal(2, 4, 3),
    integers(2, 4, high=3),
    integers(2, low=1, high=5),
    normal(3, 2),
)
execution_order = in_short("execution_order", normal(4))
saved_models = in_short("saved_models", normal(2, 3), normal(3, 2))
training_loops = in_short("training_loops", normal(3))
summaries = in_short("summaries", normal(3), exact=True, skip=EAGER)
keras = in_short(
    "keras", normal(4, 3), normal(4, 1), skip={"function": "Keras makes it"}
)
slim = in_short("slim", normal(2, 8, 8, 1), traces=2)
contrib_norms = in_short("contrib_norms", normal(4, 3))
seq2seq = in_short("seq2seq", normal(3, 4), traces=2)
attention = in_short(
    "attention", normal(2, 5, 3), normal(2, 4, 4), integers(2, low=1, high=5), traces=2
)
estimators = in_short("estimators", normal(4, 3), normal(4, 1))
records = in_short("records", normal(3, 2), exact=True, skip=EAGER)
keras_files = in_short("keras_files", normal(2, 3), skip=EAGER)
randomness = in_short("randomness", exact=True, skip=EAGER)
files = in_short("files", exact=True, skip=EAGER)

globals().update(
    {f"test_{n}": p.test() for n, p in list(globals().items()) if isinstance(p, Pair)}
)
