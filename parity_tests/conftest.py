"""What pytest must know of the proofs wherever they are installed."""

import re

import pytest

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

MANY_STEPS = (
    "_thousand_steps_",
    "_train_200_steps_",
    "_train_other_numbers_",
    "_train_regularized_",
    "_train_harder_faster_",
    "_fit_polynomial_the_classic_",
    "_fit_another_rate_",
    "_train_stop_and_resume_",
    "_evaluate_two_batches_",
    "_evaluate_one_batch_",
    "_train_and_evaluate_to_the_last_step_",
)
"""Cases that take Keras seconds; others of their pairs are quick."""

LOOPS = (
    "_make_cells_",
    "_make_bidirectional_",
    "_make_tagger_any_batch_",
    "_as_it_comes_",
    "_hard_sigmoid_by_its_name_",
)
"""Cases of recurrent layers, which take Keras seconds; LSTM and GRU have quick ones."""


def pytest_configure(config):
    """Registers the markers of the proofs."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(items):
    """Marks what is slow; bears what AutoGraph says."""
    asked = {_of_no_number(item) for item in items}
    for item in items:
        item.add_marker(pytest.mark.filterwarnings(GAST))
        item.add_marker(pytest.mark.filterwarnings(FLOAT_FORMAT))
        item.add_marker(pytest.mark.filterwarnings(KERAS_COPY))
        if _is_slow(item) or _is_traced(item, asked):
            item.add_marker(pytest.mark.slow)


def _is_slow(item):
    """Sizes made up or unknown, half precision, graphs of the library, many steps."""
    if item.name.endswith(("_generated", "_dynamic")) or "float16" in item.name:
        return True
    if item.name.endswith(("_graph", "_function")) and "Numerics" in item.nodeid:
        return True  # the pages that import it are asked in every way
    if "KerasLayers" in item.nodeid and any(name in item.name for name in LOOPS):
        return True
    many = any(name in item.name for name in MANY_STEPS)
    return many and item.name.endswith("_keras")


def _is_traced(item, asked):
    """A recurrent loop or a model of Keras, run eagerly: in a function it is quick."""
    proof = getattr(getattr(item, "module", None), "PROOF", None)
    if not proof or not (proof.by_keras or proof.name == "rnn"):
        return False
    eager = re.fullmatch("(.*)_eager", _of_no_number(item))
    return bool(eager) and f"{eager[1]}_function" in asked


def _of_no_number(item):
    """The id of a test without the number that `parameterized` gives it."""
    return re.sub(r"(test_parity)_\d+", r"\1", item.nodeid)
