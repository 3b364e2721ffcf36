"""Which TensorFlow and Keras are here, for the few answers that depend on them.

Compare with a pair of numbers: `KERAS < (3, 15)`. Each use is a row of
guide/releases.md.
"""

import importlib.metadata

import tensorflow as tf


def _release(version):
    return tuple(int(number) for number in version.split(".")[:2])


TENSORFLOW = _release(tf.__version__)
KERAS = _release(importlib.metadata.version("keras"))
