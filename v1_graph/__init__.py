"""The left pages: TensorFlow 1, as legacy code is really written."""
