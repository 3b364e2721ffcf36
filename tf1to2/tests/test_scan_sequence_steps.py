"""Steps beside a Sequence, which ends."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

ROWS = """
class Rows(tf.keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return np.ones((2, 1)), np.ones((2, 1))

class Count(tf.keras.callbacks.Callback):
    batches = 0

    def on_train_batch_end(self, batch, logs=None):
        Count.batches += 1

    on_test_batch_end = on_train_batch_end

model = tf.keras.Sequential([layers.Dense(1)])
model.compile("sgd", "mse")
counted = dict(verbose=0, callbacks=[Count()])
rows = Rows()
"""


class SequenceTest(MarkedCase):
    TOLD = "Keras 3 does not restart a Sequence"

    @parameterized.expand(
        [
            ("no steps", "model.fit(rows, epochs=2, **counted)", 6),
            (
                "its length",
                "model.fit(rows, steps_per_epoch=len(rows), epochs=2, **counted)",
                6,
            ),
            (
                "a name for it",
                "steps = len(rows)\nmodel.fit(rows, steps_per_epoch=steps, **counted)",
                3,
            ),
            (
                "a generator",
                "def endless():\n    while True:\n        yield rows[0]\n"
                "model.fit(endless(), steps_per_epoch=5, epochs=2, **counted)",
                10,
            ),
        ]
    )
    def test_is_left_alone(self, _, lines, batches):
        run = self.check_sound(ROWS + lines)
        self.assertEqual(run["Count"].batches, batches)

    @parameterized.expand(
        [
            (
                "more",
                "model.fit(rows, steps_per_epoch=5, epochs=2, **counted)  # here",
                6,
            ),
            (
                "of a name",
                "steps = 4\nmodel.fit(Rows(), steps_per_epoch=steps, epochs=2, "
                "**counted)  # here",
                6,
            ),
            (
                "validation",
                "model.fit(rows, validation_data=rows, validation_steps=7, "
                "**counted)  # here",
                6,
            ),
            ("evaluate", "model.evaluate(rows, steps=7, **counted)  # here", 3),
        ]
    )
    def test_fewer_batches(self, _, lines, batches):
        """TensorFlow 1.15.5 begins again: 10, 8, 10 and 7 batches."""
        self.check(ROWS + lines)
        self.assertEqual(self.run_today(ROWS + lines)["Count"].batches, batches)

    def test_fewer_steps_than_batches(self):
        """TensorFlow 1.15.5 trains 8 batches."""
        lines = "model.fit(rows, steps_per_epoch=2, epochs=4, **counted)"
        self.check(ROWS + lines)
        self.check(ROWS + lines + "  # here", proof=True)
        self.assertEqual(self.run_today(ROWS + lines)["Count"].batches, 6)

    @parameterized.expand(
        [
            (
                "images",
                "made = tf.keras.preprocessing.image.ImageDataGenerator()\n"
                "found = made.flow(np.ones((4, 2, 2, 1)), np.ones((4, 1)), 2)",
            ),
            (
                "windows",
                "found = tf.keras.preprocessing.sequence.TimeseriesGenerator(\n"
                "    np.ones((6, 1)), np.ones((6, 1)), 2, batch_size=2)",
            ),
        ]
    )
    def test_what_makes_one(self, _, lines):
        """Two batches each; TensorFlow 1.15.5 trains 10."""
        text = (
            f"{ROWS}{lines}\n"
            "model = tf.keras.Sequential([layers.Flatten(), layers.Dense(1)])\n"
            "model.compile('sgd', 'mse')\n"
            "model.fit(found, steps_per_epoch=5, epochs=2, **counted)  # here\n"
        )
        self.check(text, proof=True)
        self.assertEqual(self.run_today(text)["Count"].batches, 4)

    def test_a_method_that_is_gone(self):
        lines = "model.fit_generator(rows, 5, epochs=2)  # here"
        self.check_raises(ROWS + lines, AttributeError, "fit_generator")
