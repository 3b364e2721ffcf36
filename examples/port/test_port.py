"""The port, proven against the old program: pytest, or tf1to2 prove test_port.py."""

import numpy as np

from tf1to2.parity import Pair, normal

WORDS = np.int32([[3, 7, 7, 30, 0], [12, 39, 1, 0, 0], [5, 0, 0, 0, 0]])
INPUTS = WORDS, np.int32([4, 3, 1]), np.float32(1), np.float32(0.3)
WHY = "sigmoid, tanh, softmax round otherwise than in 1.15.5; Adam's sums cancel"
NEAR = {"gradients": 5e-6}  # only in float32: float64 is identical
FAR = {"*/Adam": 4e-4, "*": 1e-4}

data = Pair("legacy/reviews/data.py", "ported/data.py", recording="data.npz")
data.program("make_reviews", "films", 200, 1, 10, skip={"function": "NumPy alone"})
test_data = data.test()

LEGACY = "legacy/reviews/net.py"
net = Pair(LEGACY, "ported/net.py", {"inference": "Net"}, seed=17, widen=True)
net.op("flip_gradient", "reversed and scaled", normal("n", 3), INPUTS[-1])
net.layer("inference", "no dropout", *INPUTS, scope="", within=NEAR, why=WHY)
test_net = net.test()

BOTH = "legacy/left.py", "ported/train.py"
train = Pair(*BOTH, seed=17, widen=True, recording="train.npz")
train.program("train", "thirty steps", 30, within=FAR, why=WHY)
test_train = train.test()
