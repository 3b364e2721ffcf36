"""Recognizes calls that make a variable, or a layer with variables."""

from tf1to2.source.names import records

VARIABLES = {
    f"tensorflow.{name}"
    for name in ("Variable", "get_variable", "keras.backend.variable")
}
# Modules of functional layers, which make their variables in the call.
CALLED = (
    "tensorflow.layers.",
    "tensorflow.contrib.layers.",
    "tensorflow.contrib.slim.",
)
PLAIN = {"flatten", "dropout", "max_pooling2d", "average_pooling2d", "max_pool2d"}
LAYERS = "tensorflow.keras.layers."
# The layers with weights that programs of the package keras use most.
USUAL = (
    *("Dense", "Embedding", "LSTM", "GRU", "SimpleRNN", "ConvLSTM2D"),
    *("Conv1D", "Conv2D", "Conv3D", "SeparableConv2D", "Conv2DTranspose"),
    *("Convolution1D", "Convolution2D", "Convolution3D", "SeparableConvolution2D"),
    "BatchNormalization",
)
# Layers with variables: weights, or the state of a random generator.
WITH = set(
    """
    AlphaDropout BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose
    ConvLSTM2D Convolution1D Convolution2D Convolution2DTranspose Convolution3D
    Convolution3DTranspose CuDNNGRU CuDNNLSTM Dense DepthwiseConv2D Dropout Embedding
    GRU GRUCell GaussianDropout GaussianNoise LSTM LSTMCell LayerNormalization
    LocallyConnected1D LocallyConnected2D PReLU SeparableConv1D SeparableConv2D
    SeparableConvolution1D SeparableConvolution2D SimpleRNN SimpleRNNCell
    SpatialDropout1D SpatialDropout2D SpatialDropout3D
    """.split()
)


def calls(node):
    """Yields the calls in a node, also in functions that the node defines."""
    ahead = [node]
    while ahead:
        node = ahead.pop()
        if node.type == "call":
            yield node
        ahead += reversed(node.named_children)


def makes_variables(values, call):
    """Whether a call makes a variable, or a layer with variables.

    Args:
        values: `values.Values`.
        call: the node of the call.
    """
    origin = records.public(values.origin(call.child_by_field_name("function")))
    if origin in VARIABLES:
        return True
    name = origin.rpartition(".")[2]
    if origin.startswith(CALLED):
        return name[:1].islower() and name not in PLAIN and "()" not in origin
    return origin.startswith(LAYERS) and name in WITH


def is_plain(origin):
    """Whether a layer class has no variables: "tensorflow.keras.layers.Flatten"."""
    name = records.public(origin)
    return name.startswith(LAYERS) and name.rpartition(".")[2] not in WITH
