"""Schedules: 120 steps, and steps past the end."""

import numpy as np

from parity_tests.numerics import NARROW
from tf1to2.parity import Op, Program

STEPS = np.arange(0, 120, dtype="i8")
WAVES = {"learning_rate": 0.1, "decay_steps": 100}
STAIRS = {"learning_rate": 0.1, "decay_steps": 10, "decay_rate": 0.5}
MORE_WAVES = {**WAVES, "num_periods": 2.0, "alpha": 0.1, "beta": 0.01}
DOUBLE = {"learning_rate": np.float64(0.1)}
PLACE = 20


def schedule(name, slug, options):
    return Op(
        "decayed", f"{name}, {slug}", [STEPS, name, options], float32=True, skip=NARROW
    )


DESCRIPTORS = {
    "natural_exp_decay": [
        schedule("natural_exp_decay", "smooth", STAIRS),
        schedule("natural_exp_decay", "in stairs", {**STAIRS, "staircase": True}),
        schedule("natural_exp_decay", "a float64 rate", {**STAIRS, **DOUBLE}),
    ],
    "linear_cosine_decay": [
        schedule("linear_cosine_decay", "plain", WAVES),
        schedule("linear_cosine_decay", "waves", MORE_WAVES),
    ],
    "noisy_linear_cosine_decay": [
        Program(
            "noisy_rates",
            "seven steps",
            [np.int64([0, 1, 2, 10, 50, 99, 200]), PLACE, WAVES],
            float32=True,
            skip={"graph": "today an op without a seed has another place"},
        )
    ],
}
