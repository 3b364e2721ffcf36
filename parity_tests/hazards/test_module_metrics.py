"""Metrics of `numerics`: restored within a stream of batches, read twice, reset."""

import os
import tempfile
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards.round_trips import assert_near
from v2_eager.metrics import MeanF1
from v2_eager.numerics import metrics, restore

RANDOM = np.random.RandomState(3)
ROWS = 12


def yes():
    return RANDOM.randint(2, size=ROWS).astype("f")


def shares():
    return RANDOM.uniform(size=ROWS).astype("f")


def numbers():
    return RANDOM.normal(size=ROWS).astype("f")


def classes():
    return RANDOM.randint(5, size=ROWS)


def scores():
    return RANDOM.normal(size=[ROWS, 5]).astype("f")


def vectors():
    return RANDOM.normal(size=[ROWS, 4]).astype("f")


def stream(*makers):
    """Makes three batches of a metric's arguments."""
    return [tuple(make() for make in makers) for _ in range(3)]


def case(name, makers, *args, **kwargs):
    """Makes a case of a metric, by its name after `numerics.metrics.`, with batches."""
    kind = getattr(metrics, name.rpartition(".")[2])
    make = lambda: kind(*args, **kwargs)  # noqa: E731
    return f"v2_eager.numerics.metrics.{name}", make, stream(*makers)


DECIDED = [yes, shares, shares]
CHOSEN = [classes, classes, shares]
RANKED = [classes, scores, shares]
BOTH = [numbers, numbers, shares]
SOME = [0.1, 0.3, 0.7]

CASES = [
    ("v2_eager.metrics.MeanF1", lambda: MeanF1(5), stream(classes, classes)),
    case("at_k.AveragePrecisionAtK", RANKED, 3),
    case("at_k.PrecisionAtK", RANKED, 2),
    case("at_k.RecallAtK", RANKED, 2, class_id=3),
    case("classes.CohenKappa", [classes, classes], 5),
    case("classes.MeanIoU", CHOSEN, 5),
    case("classes.MeanPerClassAccuracy", CHOSEN, 5),
    case("correlations.Covariance", BOTH),
    case("curves.AUC", DECIDED, 20),
    case("curves.SensitivityAtSpecificity", DECIDED, 0.7, 20),
    case("curves.SpecificityAtSensitivity", DECIDED, 0.7, 20),
    case("decisions.BestF1", DECIDED, 20),
    case("decisions.FalseNegatives", DECIDED, SOME),
    case("decisions.FalsePositiveRate", DECIDED, SOME),
    case("decisions.FalsePositives", DECIDED, SOME),
    case("decisions.Precision", DECIDED, SOME),
    case("decisions.Recall", DECIDED, SOME),
    case("decisions.TrueNegatives", DECIDED, SOME),
    case("decisions.TruePositives", DECIDED, SOME),
    case("means.Accuracy", CHOSEN),
    case("means.Mean", [numbers, shares]),
    case("means.MeanAbsoluteError", BOTH),
    case("means.MeanCosineDistance", [vectors, vectors], 1),
    case("means.MeanRelativeError", [numbers, numbers, shares, shares]),
    case("means.MeanSquaredError", BOTH),
    case("means.MeanTensor", [numbers, shares], [ROWS]),
    case("means.PercentageBelow", [numbers, shares], 0.3),
    case("means.RootMeanSquaredError", BOTH),
]
ALLOWED = {
    "v2_eager.numerics.metrics.base.Metric": "an abstract base without a result",
    "v2_eager.numerics.metrics.decisions.Counts": "an abstract base without a result",
    "v2_eager.numerics.metrics.at_k.CountsAtK": "an abstract base without a result",
}


FLOAT32 = {
    "v2_eager.numerics.metrics.correlations.Covariance": "takes float32, as documented"
}


def feed(metric, batch, dtype="float32"):
    """Updates a metric with a batch; floats are cast to the given dtype."""
    tensors = [tf.constant(a, dtype if a.dtype == "f" else a.dtype) for a in batch]
    metric.update_state(*tensors)


def state(metric):
    tensors = [*tf.nest.flatten(metric.result()), *metric.variables]
    return [tensor.numpy() for tensor in tensors]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


class MetricsTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_it_goes_on_from_a_checkpoint(self, _, make, batches):
        metric, fresh, named = (make() for _ in range(3))
        feed(metric, batches[0])
        with tempfile.TemporaryDirectory() as folder:
            objects = tf.train.Checkpoint(metric=metric).write(folder + "/objects")
            names = os.path.join(folder, "names")
            restore.save(names, restore.named(metric))
            feed(metric, batches[1])
            expected = state(metric)
            # --- by objects, over existing values
            feed(fresh, batches[2])
            status = tf.train.Checkpoint(metric=fresh).read(objects)
            status.assert_consumed().assert_existing_objects_matched()
            # --- by names
            feed(named, batches[2])
            restore.by_name(names, restore.named(named))
        for restored in (fresh, named):
            feed(restored, batches[1])
            assert_same(state(restored), expected)

    @parameterized.expand(CASES)
    def test_a_result_changes_nothing(self, _, make, batches):
        metric = make()
        feed(metric, batches[0])
        first = state(metric)
        assert_same(state(metric), first)

    @parameterized.expand(CASES)
    def test_after_a_reset_it_is_as_new(self, _, make, batches):
        metric, fresh = make(), make()
        empty = state(fresh)
        feed(metric, batches[0])
        metric.reset_state()
        assert_same(state(metric), empty)
        for one in (metric, fresh):
            feed(one, batches[1])
        assert_same(state(metric), state(fresh))

    @parameterized.expand([case for case in CASES if case[0] not in FLOAT32])
    def test_it_takes_float64_and_sums_in_float32(self, _, make, batches):
        metric, wide = make(), make()
        for batch in batches:
            feed(metric, batch)
            feed(wide, batch, "float64")
        dtypes = [[value.dtype for value in state(one)] for one in (wide, metric)]
        self.assertEqual(*dtypes)
        assert_near(state(wide), state(metric))

    @parameterized.expand(CASES)
    def test_a_function_is_traced_once(self, _, make, batches):
        metric, plain = make(), make()
        update = tf.function(lambda *batch: metric.update_state(*batch))
        for batch in batches:
            update(*map(tf.constant, batch))
            feed(plain, batch)
        self.assertEqual(update.experimental_get_tracing_count(), 1)
        # In a function, the kernels add in another order.
        assert_near(state(metric), state(plain))
