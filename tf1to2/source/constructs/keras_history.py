"""`y._keras_history.layer`: the member of that name is `operation` in Keras 3."""

import re

from tf1to2.source.names import inspected

WORDS = (b"_keras_history.layer",)
MEMBER = re.compile(rb"\b_keras_history\.(layer)\b")
ORIGIN = "tensorflow.keras.KerasTensor._keras_history.layer"


def uses(values):
    """Yields each mention of the member."""
    for node, _ in values.attributes(MEMBER):
        yield inspected.Found(node, ORIGIN)
