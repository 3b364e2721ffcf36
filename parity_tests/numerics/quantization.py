"""The quantizers of contrib: see the topic mixed_precision."""

DESCRIPTORS = {
    "LastValueQuantize": "mixed_precision.train_quantized",
    "MovingAverageQuantize": "mixed_precision.train_quantized",
}
