"""Checkpoints by name: the written bytes, and the values that are read."""

import numpy as np
import tensorflow as tf

from parity_tests import PLAIN
from parity_tests.numerics import Inputs
from parity_tests.shorthand import refused
from tf1to2.parity import Program

RANDOM = Inputs("restore")
SAVED = {
    "net/w": RANDOM.normal(8, 8),
    "net/b": RANDOM.normal(8),
    "global_step": np.int64(7),
}
NEW = {"new/w": RANDOM.normal(8, 8), "new/b": RANDOM.normal(8), "x": RANDOM.normal(2)}


def restored(slug, start, assignment=None):
    args, kwargs = [SAVED, start], {"assignment": assignment}
    return Program("restored", slug, args, kwargs, skip={"function": PLAIN})


def refused_values(slug, start, match, error=ValueError, assignment=None):
    kwargs = {"assignment": assignment}
    return refused("restored", slug, [SAVED, start], match, error, kwargs=kwargs)


DESCRIPTORS = {
    **dict.fromkeys(
        ["by_name", "save", "named"],
        [
            restored("by name", {name: 0 * x for name, x in SAVED.items()}),
            refused_values(
                "a name that is not there",
                {"net/x": RANDOM.normal(2)},
                "net/x not found",
                tf.errors.NotFoundError,
            ),
        ],
    ),
    "init_from_checkpoint": [
        restored("a scope into another", NEW, {"net/": "new/"}),
        restored("a name into another", NEW, {"net/w": "new/w"}),
        refused_values(
            "a tensor that is not there",
            {"new/x": RANDOM.normal(2)},
            "is not found in",
            assignment={"net/": "new/"},
        ),
        refused_values(
            "another shape",
            {"new/w": RANDOM.normal(2)},
            "Shape of variable new/w",
            assignment={"net/w": "new/w"},
        ),
    ],
}
