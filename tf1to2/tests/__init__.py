"""Tests of the tools, and of what all topics have in common."""

from tf1to2.parity import settings

settings.apply()  # before any test imports TensorFlow
