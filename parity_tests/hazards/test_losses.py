import unittest

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import round_trips
from v2_eager.keras_training import models
from v2_keras import canned_estimators, losses, models_siamese

DRAW = np.random.default_rng(3)
OUTPUTS = DRAW.uniform(0.25, 0.75, [4, 2]).astype("f")
LABELS = DRAW.integers(0, 2, [4, 2]).astype("f")
CLASSES = np.int32([1, 0, 1, 1])
WEIGHTS = np.float32([0.5, 2, 0, 1])
CASES = [
    ("v2_eager.keras_training.models.OverAllSteps", models.OverAllSteps, CLASSES),
    ("v2_keras.canned_estimators.SquaredError", canned_estimators.SquaredError, LABELS),
    ("v2_keras.losses.Hinge", losses.Hinge, LABELS),
    (
        "v2_keras.models_siamese.ContrastiveLoss",
        models_siamese.ContrastiveLoss,
        CLASSES,
    ),
]
ALLOWED = {}
OPTIONS = {
    "v2_eager.keras_training.models.OverAllSteps": {
        "from_logits": True,
        "ignore_class": 0,
        "axis": 1,
    }
}
SUM_ALONE = {
    "v2_eager.keras_training.models.OverAllSteps": "it divides the sum itself, and "
    "raises a ValueError for another reduction"
}


class LossesTest(unittest.TestCase):
    def setUp(self):
        keras.utils.clear_session()

    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, cls, labels):
        given = {"name": "own", "reduction": "sum", "dtype": "float64"}
        given |= OPTIONS.get(name, {})
        loss = cls(**given)
        config = loss.get_config()
        self.assertEqual({key: config[key] for key in given}, given)
        again = cls.from_config(config)
        self.assertEqual(again.get_config(), config)
        self.assertEqual(again.dtype, "float64")
        saved = keras.saving.serialize_keras_object(loss)
        loaded = keras.saving.deserialize_keras_object(saved)
        self.assertIs(type(loaded), cls)
        self.assertEqual(loaded(labels, OUTPUTS), loss(labels, OUTPUTS))

    @parameterized.expand(CASES)
    def test_either_dtype_under_either_default(self, name, cls, labels):
        for dtype in ("float32", "float64"):
            found = []
            for default in ("float32", "float64"):
                with round_trips.floatx(default), self.subTest(f"{dtype} in {default}"):
                    given = labels.astype(dtype) if labels.ndim == 2 else labels
                    loss = cls(dtype=dtype)(given, OUTPUTS.astype(dtype), WEIGHTS)
                    found.append(loss.numpy())
                    self.assertEqual(found[-1].dtype.name, dtype)
            self.assertEqual(*found)

    @parameterized.expand(CASES)
    def test_reductions_are_of_the_weighed_losses(self, name, cls, labels):
        total = cls(reduction="sum")(labels, OUTPUTS, WEIGHTS).numpy()
        if name in SUM_ALONE:
            with self.assertRaisesRegex(ValueError, "reduction must be 'sum'"):
                cls(reduction="none")
            each = [cls()(labels[i : i + 1], OUTPUTS[i : i + 1]) for i in range(4)]
            round_trips.assert_near([total], [np.dot(each, WEIGHTS) / 4])
            return
        each = cls(reduction="none")(labels, OUTPUTS, WEIGHTS).numpy()
        one_by_one = [
            cls(reduction="none")(labels[i : i + 1], OUTPUTS[i : i + 1]).numpy()[0]
            for i in range(4)
        ]
        np.testing.assert_array_equal(each, one_by_one * WEIGHTS)
        mean = cls()(labels, OUTPUTS, WEIGHTS).numpy()
        round_trips.assert_near([mean], [each.sum() / 4])
        scale = 2 if name.endswith("SquaredError") else 1  # it also sums over a row
        round_trips.assert_near([total], [scale * each.sum()])

    @parameterized.expand(CASES)
    def test_in_a_compiled_model_that_is_saved(self, name, cls, labels):
        model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2, "softmax")])
        round_trips.fill(model)
        x = DRAW.normal(size=[4, 3]).astype("f")
        optimizer = keras.optimizers.SGD(0.125, 0.5)
        model.compile(optimizer, cls(name="own", reduction="sum"), run_eagerly=True)
        model.fit(x, labels, sample_weight=WEIGHTS, verbose=0)
        loaded = round_trips.saved_and_loaded(model)
        self.assertIs(type(loaded.loss), cls)
        self.assertEqual(loaded.loss.get_config(), model.loss.get_config())
        logs = [
            m.fit(x, labels, sample_weight=WEIGHTS, verbose=0).history
            for m in (model, loaded)
        ]
        self.assertEqual(*logs)
        round_trips.assert_same(round_trips.values(loaded), round_trips.values(model))

    @parameterized.expand(CASES)
    def test_arrays_and_tensors(self, name, cls, labels):
        of_arrays = cls()(labels, OUTPUTS, WEIGHTS)
        tensors = map(tf.constant, (labels, OUTPUTS, WEIGHTS))
        self.assertEqual(cls()(*tensors), of_arrays)
