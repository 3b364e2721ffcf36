"""`y._keras_history.layer`: Keras 3 names this member `operation`."""

import re

from tf1to2.source.names import inspected

WORDS = (b"_keras_history.layer",)
MEMBER = re.compile(rb"\b_keras_history\.(layer)\b")
ORIGIN = "tensorflow.keras.KerasTensor._keras_history.layer"


def uses(values):
    """Yields each use of `_keras_history.layer`."""
    for node, _ in values.attributes(MEMBER):
        yield inspected.Found(node, ORIGIN)
