import functools
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import keras_cases, proof
from parity_tests.keras_cases import OLD
from tf1to2.parity import FalseFriend, Raises, false_friends
from v1_graph import keras_multiple as v1
from v2_eager import keras_multiple as v2

# `fit` batches arrays by tf.data, whose functions are always traced, also eagerly; a
# dataset with the rows of all epochs may end before the last step.
pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:Even though the `tf.config.experimental_run_functions_eagerly`"
    ),
    pytest.mark.filterwarnings("ignore:Your input ran out of data:UserWarning"),
]
RANDOM = np.random.RandomState(18)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


def labelled(rows):
    """Draws rows of four numbers, and for each row a class that depends on them."""
    x = drawn(rows, 4)
    return x, np.argmax(x[:, :3] + drawn(rows, 3) / 2, axis=1).astype("i")


def first(rows):
    return tuple(array[:rows] for array in DATA)


DATA, OTHERS = labelled(70), labelled(40)
START = [drawn(4, 5), drawn(5), drawn(5, 3), drawn(3)]
ZEROS = [np.zeros_like(array) for array in START]
MEASURED = 2 * drawn(64, 4) + 1, drawn(64, 1)
NORMAL = [
    *(drawn(4) ** 2, drawn(4), drawn(4), drawn(4) ** 2),
    *(drawn(4, 1), drawn(1)),
]
keras = tf.keras
INVALID = tf.errors.InvalidArgumentError
GONE = {"graph": "there are no estimators; the recording stands for the left page"}
EMPTY = {**OLD, "eager": "eagerly Keras 3 does not reduce the losses of no rows: NaN"}
TRACES = 4  # for batches of different sizes on the devices
old = functools.partial(keras_cases.old, float32=True, traces=TRACES)
friend = functools.partial(keras_cases.friend, float32=True, traces=TRACES)


def by_the_mean_of_means(data, start, epochs, batch_size):
    with v2.mirrored().scope():
        model = v2.compiled(v2.network(start))
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    return v2.told(history), model.get_weights()


def by_epochs_of_rows(data, start, epochs, batch_size):
    with v2.mirrored().scope():
        model = v2.compiled(v2.network(start), metrics=["acc"])
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    return v2.told(history), model.get_weights()


def as_if_it_were_a_copy(data, start, batch_size, runs):
    model = v2.compiled(v2.network(start))
    for run in runs:
        v2.train(model, data, batch_size, run["steps"])
    steps = np.cumsum([run["steps"] for run in runs]).tolist()
    return model.get_weights(), model.get_weights(), steps


def by_its_loss(data, eval_data, start, batch_size, steps, eval_steps=None):
    model = v2.compiled(v2.network(start), metrics=["acc"])
    v2.train(model, data, batch_size, steps)
    dataset = v2.batches(eval_data, batch_size)
    found = model.evaluate(dataset, steps=eval_steps, verbose=0, return_dict=True)
    return {**{k: np.float32(v) for k, v in found.items()}, "global_step": steps}


CASES = [
    old("fit_on_towers", "three epochs", [first(64), START, 3, 16]),
    friend(
        "fit_on_towers",
        "a last batch of five rows",
        [first(69), START, 3, 16],
        by_the_mean_of_means,
        "the loss is the mean of the devices' means, and was the mean over rows",
    ),
    old(
        "fit_on_towers",
        "a last batch of one row",
        [first(65), START, 3, 16],
        skip=EMPTY,
    ),
    old("predict_on_towers", "batches of 23, and a row", [DATA[0], START, 23]),
    old("save_the_template", "an epoch", [first(69), START, 1, 16]),
    old("normalize_on_towers", "three steps", [MEASURED, NORMAL, 3]),
    old("fit_mirrored", "three epochs", [first(64), START, 3, 16]),
    friend(
        "fit_mirrored",
        "what is left over",
        [DATA, START, 3, 16],
        by_epochs_of_rows,
        "an epoch ends with the rows that are left, and went on with the first ones",
    ),
    Raises(
        "fit_mirrored",
        "batches of an odd size",
        [first(60), START, 1, 15],
        of="program",
        eager=INVALID,
        function=INVALID,
        match="must have the same size and shape",
        skip=OLD,
    ),
    old("evaluate_mirrored", "four batches", [first(64), START, 16]),
    Raises(
        "evaluate_mirrored",
        "what is left over",
        [(DATA[0][:3], np.zeros(3, "i")), ZEROS, 2],
        of="program",
        graph=ValueError,
        match="not divisible by batch size 2",
        expect=([1.0986123, 1], [[1 / 3] * 3] * 3),
        skip=EMPTY,
    ),
    old("own_loop", "by the sum", [first(64), START, 16]),
    old("own_loop", "by no reduction", [first(64), START, 16, "none"]),
    Raises.alike(
        "own_loop",
        "another reduction",
        [first(64), START, 16, "sum_over_batch_size"],
        ValueError,
        "reduction",
        of="program",
        skip=OLD,
    ),
    friend(
        "normalize_mirrored",
        "six steps",
        [MEASURED, NORMAL, 3, 32],
        mock.patch.object(v2, "share_statistics", lambda *_: None)(
            v2.normalize_mirrored
        ),
        "the moving averages are those of the first device, and were means over both",
    ),
    old("normalize_in_sync", "six steps", [MEASURED, NORMAL, 3, 32]),
    friend(
        "train_estimator",
        "two runs",
        [DATA, START, 16, [{"steps": 3}, {"steps": 7}]],
        as_if_it_were_a_copy,
        "the model is trained itself; an estimator trained a copy",
        skip=GONE,
    ),
    old(
        "train_estimator",
        "up to a step",
        [DATA, START, 16, [{"max_steps": 6}, {"max_steps": 4}, {"steps": 1}]],
        skip=GONE,
    ),
    friend(
        "evaluate_estimator",
        "a last batch of eight rows",
        [DATA, OTHERS, START, 16, 3],
        by_its_loss,
        "the loss is the mean over rows, and was one over batches",
        skip=GONE,
    ),
    old("evaluate_estimator", "a batch", [DATA, OTHERS, START, 16, 3, 1], skip=GONE),
    old("predict_by_estimator", "rows", [DATA, OTHERS[0], START, 16, 3], skip=GONE),
]
PROOF = proof(v1, v2, CASES)


class KerasMultipleTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def sides(name):
    """Returns the answers of TensorFlow 1.15.5 and of a pair's false friend."""
    (case,) = [c for c in CASES if isinstance(c, FalseFriend) and c.name == name]
    return false_friends.both(PROOF, case, {})


class DistancesTest(unittest.TestCase):
    """Checks what the chapter says about Keras 3 without the right page."""

    @parameterized.expand(
        [
            ("normalize_mirrored", "outputs/1/2", "0.25"),
            ("fit_on_towers", "outputs/1/0", "0.021"),
            ("train_estimator", "outputs/1/0", "0.49"),
        ]
    )
    def test_weights_at_the_end(self, name, leaf, told):
        left, naive = (side[leaf] for side in sides(name))
        self.assertEqual(f"{np.abs(left - naive).max():.2g}", told)

    @parameterized.expand(
        [
            ("fit_mirrored", "outputs/0/loss", "0.7139 0.7078"),
            ("evaluate_estimator", "outputs/loss", "0.9465 1.0161"),
        ]
    )
    def test_losses(self, name, leaf, told):
        left, naive = (np.ravel(side[leaf])[-1] for side in sides(name))
        self.assertEqual(f"{left:.4f} {naive:.4f}", told)

    def test_in_sync_is_another_model(self):
        answers = [
            PROOF.recorded_answer(case, {})["outputs/0"][0]
            for case in CASES
            if case.name in ("normalize_mirrored", "normalize_in_sync")
        ]
        self.assertEqual([f"{loss:.4f}" for loss in answers], ["10.5904", "10.5868"])

    def test_the_copies_drift_apart(self):
        strategy = v2.mirrored()
        with strategy.scope():
            model = v2.compiled(v2.normalizer(NORMAL), 0.0625, "mse")
        model.fit(*MEASURED, batch_size=64, shuffle=False, verbose=0)
        mean = model.layers[0].moving_mean.value
        copies = [v.numpy() for v in strategy.experimental_local_results(mean)]
        halves = MEASURED[0][:32], MEASURED[0][32:]
        for copy, half in zip(copies, halves, strict=True):
            expected = 0.9 * NORMAL[2] + 0.1 * half.mean(axis=0)
            np.testing.assert_array_almost_equal_nulp(copy, expected, 64)
        v2.share_statistics(model, strategy)
        for copy in strategy.experimental_local_results(mean):
            np.testing.assert_array_equal(copy, np.mean(copies, axis=0))

    @parameterized.expand([("sum_over_batch_size", 0.5), ("sum", 2), ("none", 1)])
    def test_what_a_reduction_divides_by(self, reduction, expected):
        """Each of two devices has two rows, each with a loss of 1."""
        loss_of = keras.losses.MeanSquaredError(reduction=reduction)
        strategy = v2.mirrored()
        found = strategy.run(lambda: loss_of(tf.ones([2, 1]), tf.zeros([2, 1])))
        for value in strategy.experimental_local_results(found):
            np.testing.assert_array_equal(value, np.full(value.shape, expected))

    def test_eagerly_a_part_without_rows_has_a_loss_of_nan(self):
        with v2.mirrored().scope():
            model = v2.network(START)
        data, losses = (DATA[0][:3], DATA[1][:3]), []
        for eagerly in (False, True):
            loss = "sparse_categorical_crossentropy"
            with model.distribute_strategy.scope():
                model.compile("sgd", loss, run_eagerly=eagerly)
            losses.append(model.evaluate(*data, batch_size=2, verbose=0))
        self.assertEqual(np.isnan(losses).tolist(), [False, True])


class EstimatorTest(unittest.TestCase):
    """Arguments that an estimator refused and `fit` accepts."""

    @parameterized.expand([("train_estimator",), ("evaluate_estimator",)])
    def test_a_nan_ends_the_training_of(self, name):
        nan, rest = [*START[:3], START[3] * np.nan], [[{"steps": 2}]]
        if name == "evaluate_estimator":
            rest = [2]
        data = [DATA, DATA] if name == "evaluate_estimator" else [DATA]
        with self.assertRaisesRegex(FloatingPointError, "NaN loss"):
            getattr(v2, name)(*data, nan, 16, *rest)

    @parameterized.expand(
        [
            ("no_steps", {"steps": 0}, "steps > 0, given: 0"),
            ("steps_below_0", {"steps": -1}, "steps > 0, given: -1"),
            ("up_to_step_0", {"max_steps": 0}, "max_steps > 0, given: 0"),
            ("both", {"steps": 1, "max_steps": 1}, "both steps and max_steps"),
        ]
    )
    def test_refused_are(self, _, run, message):
        with self.assertRaisesRegex(ValueError, message):
            v2.train_estimator(DATA, START, 16, [run])

    def test_no_steps_are_refused_and_not_without_an_end(self):
        for train in (
            lambda: v2.predict_by_estimator(DATA, OTHERS[0], START, 16, 0),
            lambda: v2.evaluate_estimator(DATA, OTHERS, START, 16, 0),
            lambda: v2.evaluate_estimator(DATA, OTHERS, START, 16, 1, 0),
        ):
            with self.assertRaisesRegex(ValueError, "Must specify steps > 0, given: 0"):
                train()

    def test_no_rows_have_metrics_of_0(self):
        found = v2.evaluate_estimator(DATA, first(0), START, 16, 1)
        self.assertEqual(found, {"loss": 0, "acc": 0, "global_step": 1})

    @parameterized.expand([("TellsMean",), ("SharedByRows",)])
    def test_loaded_is_a_saved(self, name):
        model = v2.compiled(v2.network(START, getattr(v2, name)))
        model.fit(*DATA, verbose=0)  # Keras loads only a built optimizer
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path)
        self.assertIs(type(loaded), getattr(v2, name))
        answers = [m.predict(DATA[0], verbose=0) for m in (model, loaded)]
        np.testing.assert_array_equal(*answers)


if __name__ == "__main__":
    unittest.main()
