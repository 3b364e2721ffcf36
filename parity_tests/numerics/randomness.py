"""Streams of random numbers: the first draw of an op, and the following draws."""

from parity_tests import PLAIN
from tf1to2.parity import Program

DRAWS = [
    Program(
        "numbers",
        f"{kind}, graph seed {seed}",
        [kind, seed, 3, [1000, 3, 500]],
        skip={"function": PLAIN},
    )
    for kind in ("random_normal", "random_uniform", "truncated_normal")
    for seed in (7, None)
]
DESCRIPTORS = {
    **dict.fromkeys(["stream", "kernel_seeds", "DEFAULT_GRAPH_SEED"], DRAWS),
    "draw": "numerics.initial",
}
