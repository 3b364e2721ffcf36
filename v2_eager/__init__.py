"""The right pages: the same programs in native TensorFlow 2."""
