"""The proofs: one module per topic, one table of exceptions, recordings in `golden`."""

import os
import pathlib

from tf1to2.parity import settings

settings.apply()  # before any test imports TensorFlow


def proof(v1, v2, cases):
    """The `Proof` of a topic of this repository."""
    from parity_tests.exceptions import BOUNDS
    from tf1to2.parity.proof import Proof

    topic = v2.__name__.rpartition(".")[2]
    golden = pathlib.Path(__file__).with_name("golden") / (topic + ".npz")
    strict = settings.current() == "strict"
    # `make test` leaves the float64 recipe to `make test-slow`.
    recipe = not strict or os.environ.get("TF1TO2_RECIPE", "1") == "1"
    return Proof(v1, v2, cases, golden, BOUNDS, strict, recipe)
