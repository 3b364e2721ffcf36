"""The port, proven against the old program: pytest, or tf1to2 prove test_port.py."""

import numpy as np

from tf1to2.parity import Pair, normal

WORDS = np.int32([[3, 7, 7, 30, 0], [12, 39, 1, 0, 0], [5, 0, 0, 0, 0]])
LENGTHS, KEEP, STRENGTH = np.int32([4, 3, 1]), np.float32(1), np.float32(0.3)
WHY = "sigmoid, tanh, softmax round otherwise than in 1.15.5; Adam's sums cancel"
FAR = {"*/Adam": 4e-4, "*": 1e-4}  # float32 alone: float64 is identical

net = Pair("legacy/left.py", "ported/net.py", {"make_net": "Net"}, widen=True)
net.op("flip_gradient", "reversed and scaled", normal("n", 3), STRENGTH)
net.layer(
    "make_net",
    "no dropout",
    *(WORDS, LENGTHS, KEEP, STRENGTH),
    within={"gradients": 5e-6},
    why=WHY,
)
test_net = net.test()

train = Pair("legacy/left.py", "ported/train.py", recording="train.npz", widen=True)
train.program("train", "thirty steps", 30, within=FAR, why=WHY)
test_train = train.test()
