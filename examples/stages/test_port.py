"""Stage 8, proven against stage 0: pytest, or tf1to2 prove test_port.py."""

from tf1to2.parity import Pair

pair = Pair("stage0/train.py", "stage8/train.py", widen=True)
pair.program("train", "two epochs", 2)
test_parity = pair.test()
