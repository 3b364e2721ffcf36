"""The layers of contrib and slim: see the topics contrib_layers and slim."""

DESCRIPTORS = {
    "FullyConnected": "contrib_layers.make_fully_connected",
    "Conv2D": "contrib_layers.make_conv2d",
    "SeparableConv2D": "slim.make_separable_conv2d",
    "Conv2DTranspose": "slim.make_conv2d_transpose",
    "conv2d_transpose": "slim.make_conv2d_transpose",
}
