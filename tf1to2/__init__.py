"""The tools for users of the side-by-side TensorFlow 1 to 2 migration reference."""

__version__ = "0.1.0"
