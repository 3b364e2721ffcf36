"""`activity_regularizer=` by the package keras, which summed it over the batch.

tf.keras divided it by the rows of the batch then, and so does Keras 3.
"""

from tf1to2.source.constructs.keras_1_kernels import is_of_old_package

LAYERS = (
    *("Dense", "Embedding", "LSTM", "GRU", "SimpleRNN", "ConvLSTM2D", "Bidirectional"),
    *("Conv1D", "Conv2D", "Conv3D", "SeparableConv2D", "Conv2DTranspose", "RNN"),
    *("Convolution1D", "Convolution2D", "Convolution3D", "SeparableConvolution2D"),
    *("Activation", "BatchNormalization", "TimeDistributed"),
)
NAMES = (*LAYERS, *(f"*{name}" for name in LAYERS))  # a star: by `import *`
SUMMED = "[by the package keras]"


def kinds(values, called):
    """`SUMMED` of a penalty that is given."""
    penalty = called.keywords.get("activity_regularizer")
    if penalty is None or penalty.type == "none":
        return []
    is_old = is_of_old_package(values, called.function)
    return [("activity_regularizer", SUMMED)] * is_old
