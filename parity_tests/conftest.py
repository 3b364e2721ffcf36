"""What pytest must know of the proofs wherever they are installed."""

import gc
import itertools
import sys

import pytest

from parity_tests import timings

MARKERS = (
    "slow: takes long; `make test` leaves it to `make test-slow`",
    "distributed: starts clusters of processes (make test-distributed)",
)
# AutoGraph's own, on Python 3.13; as an error it would make AutoGraph give up.
GAST = "ignore:.*Support for arbitrary keyword arguments:DeprecationWarning:gast"
# What tf.io.write_graph of TensorFlow 2.20 hears from protobuf 6, which 7 refuses.
FLOAT_FORMAT = "ignore:float_format is deprecated for text_format:UserWarning"
# Keras 3 reads a learning rate by NumPy's protocol of before 2.0.
KERAS_COPY = "ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"


KEYS = itertools.count(1000, 1000)


def pytest_runtest_setup():
    """Numbers the collectives of each test anew.

    Strategies of one process share these numbers, and with them the shapes: eagerly, a
    second one that reduces another shape raises "Shape mismatch in the collective
    instance", so that the order of the tests would decide.
    """
    module = sys.modules.get("tensorflow.python.distribute.mirrored_strategy")
    if module is not None:
        module.MirroredStrategy._collective_key_base = next(KEYS)


def pytest_addoption(parser):
    parser.addoption(
        "--timings",
        action="store_true",
        help="write anew which tests take long",
    )


def pytest_configure(config):
    """Registers the markers of the proofs."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.getoption("timings", False) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(timings.Stopwatch())


def pytest_collection_finish():
    """Graphs and traces are many objects: by default a tenth of the time went here."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_collection_modifyitems(config, items):
    """Marks what is slow; bears what AutoGraph says."""
    rows = () if config.getoption("timings", False) else timings.slow()
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(GAST))
        item.add_marker(pytest.mark.filterwarnings(FLOAT_FORMAT))
        item.add_marker(pytest.mark.filterwarnings(KERAS_COPY))
        if timings.is_slow(timings.key(item.nodeid), rows):
            item.add_marker(pytest.mark.slow)
