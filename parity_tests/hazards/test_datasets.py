import unittest

import keras
import numpy as np
from parameterized import parameterized

from parity_tests.hazards import round_trips
from v2_eager import keras_inputs, keras_training

X = np.arange(14, dtype="f").reshape(7, 2) / 8
Y = np.arange(7, dtype="f")[:, None] / 4
CASES = [
    ("v2_eager.keras_inputs.Batches", lambda **o: keras_inputs.Batches((X, Y), 3, **o)),
    (
        "v2_eager.keras_inputs.Mixed",
        lambda **o: keras_inputs.Mixed((X, Y), 3, 0.5, 4, **o),
    ),
    (
        "v2_eager.keras_inputs.Reordered",
        lambda **o: keras_inputs.Reordered((X, Y), 3, 1, **o),
    ),
    (
        "v2_eager.keras_training.Batches",
        lambda **o: keras_training.Batches((X, Y), 3, **o),
    ),
    (
        "v2_eager.keras_training.Batches shuffled",
        lambda **o: keras_training.Batches((X, Y), 3, 5, **o),
    ),
]
ALLOWED = {
    "v2_eager.keras_inputs.Drawn": "an abstract base, whose `draw` Mixed and Reordered "
    "define"
}
CHANGES = "Mixed", "Reordered", "Batches shuffled"


def epoch(batches):
    """Returns the rows of an epoch, read in the way of `fit`."""
    batches.on_epoch_begin()
    rows = [batches[i] for i in range(len(batches))]
    batches.on_epoch_end()
    return [array for row in rows for array in row]


def trained(batches, epochs=2):
    """Fits a model; returns (the logs of each epoch, the weights)."""
    model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
    round_trips.fill(model)
    model.compile("sgd", "mse", run_eagerly=True)
    history = model.fit(batches, epochs=epochs, shuffle=False, verbose=0).history
    return history, round_trips.values(model)


class DatasetsTest(unittest.TestCase):
    def setUp(self):
        keras.utils.clear_session()

    @parameterized.expand(CASES)
    def test_the_length_and_the_last_short_batch(self, name, make):
        batches = make()
        self.assertEqual(len(batches), 3)
        sizes = [len(x) for x in epoch(batches)[::2]]
        expected = [1, 3, 3] if "Reordered" in name else [3, 3, 1]
        self.assertEqual(sorted(sizes) if "Reordered" in name else sizes, expected)

    @parameterized.expand(CASES)
    def test_a_second_epoch(self, name, make):
        batches = make()
        first, second = epoch(batches), epoch(batches)
        equal = all(map(np.array_equal, first, second))
        self.assertEqual(equal, not name.endswith(CHANGES))
        if not name.endswith("Mixed"):  # each row occurs once
            for rows in (first, second):
                self.assertCountEqual(np.concatenate(rows[1::2]).ravel(), Y.ravel())

    @parameterized.expand(CASES)
    def test_an_item_is_the_same_however_often_it_is_read(self, name, make):
        batches = make()
        batches.on_epoch_begin()
        for i in (2, 0, 2, 1, 0):
            round_trips.assert_same(list(batches[i]), list(batches[i]))

    @parameterized.expand(CASES)
    def test_two_workers_give_what_one_gives(self, name, make):
        logs, weights = trained(make())
        for options in ({"workers": 2}, {"workers": 2, "max_queue_size": 1}):
            found = trained(make(**options))
            self.assertEqual(found[0], logs)
            round_trips.assert_same(found[1], weights)

    @parameterized.expand(CASES)
    def test_fit_sees_the_epochs_of_a_loop(self, name, make):
        seen, batches = [], make()
        of_loop = make()
        expected = [epoch(of_loop) for _ in range(2)]
        model = keras.Sequential([keras.Input([2]), keras.layers.Dense(1)])
        model.compile("sgd", "mse", run_eagerly=True)
        train_step = model.train_step

        def watched(data):
            seen.extend(np.array(array) for array in data)
            return train_step(data)

        model.train_step = watched
        model.fit(batches, epochs=2, shuffle=False, verbose=0)
        round_trips.assert_same(seen, [array for rows in expected for array in rows])
