"""The table of names of Keras 1 that are gone, with their replacements."""

import typing

LAYERS = "tf.keras.layers."
MERGE = (
    "(inputs, mode='sum', concat_axis=-1, dot_axes=-1, output_shape=None, "
    "output_mask=None, arguments=None, name=None)"
)
MODES = {
    "sum": "add",
    "mul": "multiply",
    "ave": "average",
    "max": "maximum",
    "concat": "concatenate",
    "dot": "dot",
}
MERGED = "(inputs, *, axis=-1, axes=-1, name=None)"


class Gone(typing.NamedTuple):
    """The replacement of a name of Keras 1.

    Attributes:
        now: the new name.
        before: its signature in Keras 1; "" for a layer, which has today's keywords.
        renamed, added: as in `arguments.rewritten`.
        words: for a layer, {old keyword: new keyword}, in addition to arguments.tsv.
    """

    now: str
    before: str = ""
    renamed: dict = {}
    added: dict = {}
    words: dict = {}


BOTH = {"l1": "0.01", "l2": "0.01"}
REGULARIZERS, CONSTRAINTS = "tf.keras.regularizers.", "tf.keras.constraints."
GONE = {
    REGULARIZERS + "l1l2": Gone(
        REGULARIZERS + "l1_l2", "(l1=0.01, l2=0.01)", added=BOTH
    ),
    CONSTRAINTS + "maxnorm": Gone(
        CONSTRAINTS + "max_norm", "(m=2, axis=0)", {"m": "max_value"}
    ),
    CONSTRAINTS + "nonneg": Gone(CONSTRAINTS + "non_neg", "()"),
    CONSTRAINTS + "unitnorm": Gone(CONSTRAINTS + "unit_norm", "(axis=0)"),
    LAYERS + "TimeDistributedDense": Gone(LAYERS + "Dense"),
    **{
        f"{LAYERS}Atrous{word}{rank}": Gone(
            f"{LAYERS}Conv{rank}", words={"atrous_rate": "dilation_rate"}
        )
        for word in ("Convolution", "Conv")
        for rank in ("1D", "2D")
    },
}


def is_gone(symbol):
    """Returns whether a name is in the table of removed names of Keras 1."""
    return symbol in GONE or symbol == LAYERS + "merge"
