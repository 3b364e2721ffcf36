"""The port, proven against the old program: pytest, or tf1to2 prove test_port.py."""

import numpy as np

from tf1to2.parity import Pair, normal

WORDS = np.int32([[3, 7, 7, 30, 0], [12, 39, 1, 0, 0], [5, 0, 0, 0, 0]])
LENGTHS = np.int32([4, 3, 1])
KEEP, STRENGTH = np.float32(1), np.float32(0.3)
WHY = "sigmoid, tanh and the softmax round otherwise than in 1.15.5"

pair = Pair("legacy/left.py", "ported", names={"make_net": "Net"}, widen=True)
pair.op("flip_gradient", "reversed and scaled", normal("n", 3), STRENGTH)
pair.layer(
    "make_net",
    "no dropout",
    *(WORDS, LENGTHS, KEEP, STRENGTH),
    within={"gradients": 5e-6},
    why=WHY,
)
pair.program("train", "forty steps", 40, within={"*": 2e-5}, why=WHY)
test_parity = pair.test()
