"""Checkpoints by name: what is written, byte by byte, and what is read."""

import numpy as np
import tensorflow as tf

from parity_tests import PLAIN
from parity_tests.numerics import Inputs
from tf1to2.parity import Program, Raises

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


def refused(slug, start, error, match, assignment=None):
    args, kwargs = [SAVED, start], {"assignment": assignment}
    return Raises.alike(
        "restored", slug, args, error, match, kwargs=kwargs, of="program"
    )


DESCRIPTORS = {
    **dict.fromkeys(
        ["by_name", "save", "named"],
        [
            restored("by name", {name: 0 * x for name, x in SAVED.items()}),
            refused(
                "a name that is not there",
                {"net/x": RANDOM.normal(2)},
                tf.errors.NotFoundError,
                "net/x not found",
            ),
        ],
    ),
    "init_from_checkpoint": [
        restored("a scope into another", NEW, {"net/": "new/"}),
        restored("a name into another", NEW, {"net/w": "new/w"}),
        refused(
            "a tensor that is not there",
            {"new/x": RANDOM.normal(2)},
            ValueError,
            "is not found in",
            {"net/": "new/"},
        ),
        refused(
            "another shape",
            {"new/w": RANDOM.normal(2)},
            ValueError,
            "Shape of variable new/w",
            {"net/w": "new/w"},
        ),
    ],
}
