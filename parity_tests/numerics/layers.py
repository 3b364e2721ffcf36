"""The layers of contrib, which are slim's: see the topic contrib_layers."""

DESCRIPTORS = {
    "FullyConnected": "contrib_layers.make_fully_connected",
    "Conv2D": "contrib_layers.make_conv2d",
}
