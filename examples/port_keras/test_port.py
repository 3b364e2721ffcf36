"""Proves the classifier in Keras: pytest, or tf1to2 prove test_port.py."""

import numpy as np

from tf1to2.parity import Pair, normal

rng = np.random.RandomState(0)
X, Y = rng.randn(16, 3).astype("f4"), rng.randint(0, 2, 16).astype("i4")
SHAPES = {"hidden/kernel": [3, 8], "hidden/bias": [8]}
SHAPES |= {"logits/kernel": [8, 2], "logits/bias": [2]}
WEIGHTS = {f"net/{n}": rng.randn(*s).astype("f4") for n, s in SHAPES.items()}

pair = Pair("left.py", "port.py", widen=True)
pair.layer("make_net", "any rows", normal("n", 3), skip={"initial": "Keras draws"})
within = {"*": 4e-6}  # only float32: float64 is identical
pair.program("train", "20 steps", WEIGHTS, X, Y, within=within, why="softmax, and sums")
test_parity = pair.test()
