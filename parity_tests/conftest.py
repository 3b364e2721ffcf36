"""pytest's configuration for the proofs, also where they are installed."""

import functools
import gc
import inspect
import itertools
import re
import sys

import pytest
from parameterized import parameterized

from parity_tests import timings
from tf1to2.parity import Raises

MARKERS = (
    "slow: takes long; `make test` leaves it to `make test-slow`",
    "quotes: compares the message of an error",
    "distributed: starts clusters of processes (make test-distributed)",
)
# AutoGraph's own warning on Python 3.13; as an error it would stop AutoGraph.
GAST = "ignore:.*Support for arbitrary keyword arguments:DeprecationWarning:gast"
# protobuf 6 warns about tf.io.write_graph of TensorFlow 2.20; protobuf 7 raises.
FLOAT_FORMAT = "ignore:float_format is deprecated for text_format:UserWarning"
# Keras 3 reads a learning rate with NumPy's protocol of versions before 2.0.
KERAS_COPY = "ignore:__array__ implementation doesn't accept a copy:DeprecationWarning"


KEYS = itertools.count(1000, 1000)


def pytest_runtest_setup():
    """Assigns new numbers to the collectives of each test.

    Strategies in one process share these numbers and so the shapes: eagerly, a second
    strategy that reduces another shape raises "Shape mismatch in the collective
    instance", and the result would depend on the order of the tests.
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
    """Registers the markers of the proofs, and the stopwatch for `--timings`."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.getoption("timings", False) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(timings.Stopwatch())


def pytest_collection_finish():
    """Makes garbage collection rare: with traces' many objects it took 10 % of time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_collection_modifyitems(config, items):
    """Marks slow tests and those of messages; ignores some warnings of libraries."""
    rows = () if config.getoption("timings", False) else timings.slow()
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(GAST))
        item.add_marker(pytest.mark.filterwarnings(FLOAT_FORMAT))
        item.add_marker(pytest.mark.filterwarnings(KERAS_COPY))
        if timings.is_slow(timings.key(item.nodeid), rows):
            item.add_marker(pytest.mark.slow)
        if quotes(item):
            item.add_marker(pytest.mark.quotes)


def quotes(item):
    """Whether a test compares the message of an error: by its code, or by its case."""
    function = inspect.unwrap(item.function)
    if "assertRaisesRegex" in function.__code__.co_names:
        return True
    proof = getattr(item.module, "PROOF", None)
    name = re.sub(r"^test_parity_\d+_", "", item.name)
    return name != item.name and proof is not None and name in _refused(proof)


@functools.cache
def _refused(proof):
    """The names of a proof's checks of bad input, as parameterized writes them."""
    return {
        parameterized.to_safe_name(slug)
        for slug, check in proof.checks()
        if isinstance(check.case, Raises)
    }
