"""Finds `activity_regularizer=` in keras, which summed the penalty over the batch.

tf.keras divided the penalty by the batch size then, and so does Keras 3.
"""

from tf1to2.source.constructs.keras_1_kernels import is_of_old_package
from tf1to2.source.names import inspected, makers

NAMES = inspected.also_by_star(
    (*makers.USUAL, "Activation", "Bidirectional", "RNN", "TimeDistributed")
)
SUMMED = "[by the package keras]"


def kinds(values, called):
    """Returns `SUMMED` if a call of the old package passes `activity_regularizer`."""
    penalty = called.keywords.get("activity_regularizer")
    if penalty is None or penalty.type == "none":
        return []
    is_old = is_of_old_package(values, called)
    return [("activity_regularizer", SUMMED)] * is_old
