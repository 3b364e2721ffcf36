"""The left pages: TensorFlow 1 programs, written as real legacy code is."""
