"""Moving averages of variables and of tensors."""

import numpy as np

from parity_tests.numerics import Inputs
from tf1to2.parity import Program, Raises

RANDOM = Inputs("averages")
MOVING = {"w": RANDOM.normal(20, 8, 8), "b": RANDOM.normal(20, 8)}
MODEL = {"w": RANDOM.normal(8, 8), "b": RANDOM.normal(8), "steps": np.int64(7)}
VALUES = RANDOM.normal(20, 50)
DEBIASED = Program("averaged_tensor", "debiased", [VALUES, 0.9], {"zero_debias": True})
DESCRIPTORS = {
    "ExponentialMovingAverage": [
        Program("averaged", "two of three", [MODEL, MOVING, 0.9]),
        Program(
            "averaged", "by counts", [MODEL, MOVING, 0.99], {"counts": list(range(20))}
        ),
        Program(
            "averaged",
            "halves",
            [
                {name: np.asarray(x, "f2") for name, x in MODEL.items()},
                {name: np.asarray(x, "f2") for name, x in MOVING.items()},
                0.9,
            ],
        ),
        Raises.alike(
            "averaged",
            "integers",
            [MODEL, {"steps": np.arange(3)}, 0.9],
            TypeError,
            "must be half, float, or double|The variables must",
            of="program",
        ),
    ],
    "assign_moving_average": "numerics.averaged",
    "assign_debiased_average": "numerics.contrib_normalized",
    "TensorAverage": [
        Program("averaged_tensor", "biased", [VALUES, 0.9]),
        DEBIASED,
    ],
}
