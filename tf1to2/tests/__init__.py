"""Tests of the tools, and of what all topics have in common."""

import importlib.util

from tf1to2.parity import settings

if importlib.util.find_spec("tensorflow"):  # the scanner's tests need none
    settings.apply()  # before any test imports TensorFlow
