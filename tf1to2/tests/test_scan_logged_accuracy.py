"""Keys of logs: compile(metrics=["accuracy"]) logged "acc", and logs "accuracy"."""

import keras
import numpy as np
from parameterized import parameterized

from tf1to2.tests.test_scan import ScanCase

OLD = """
from keras.models import Sequential
model = Sequential()
model.predict_classes(x)
"""
"""Gives a file away: the keys are false friends."""


class LoggedAccuracyTest(ScanCase):
    def found(self, text):
        return self.messages(OLD + text, "logged acc")

    @parameterized.expand(
        [
            ("a_key_of_today", "print(history.history['accuracy'])"),
            ("another_key", "print(logs['loss'], logs.get('val_loss'))"),
            ("another_object", "print(results['acc'])"),
            ("what_is_written", "model.compile(metrics=['acc'])\nlogs['acc']"),
        ]
    )
    def test_left(self, _, text):
        self.assertEqual(self.found(text + "\n"), [])

    def test_a_file_of_today_is_left(self):
        text = "import keras\nprint(history.history['acc'])\n"
        self.assertEqual(self.messages(text), [])

    @parameterized.expand(
        [
            ("a_history", "h = model.fit(x, y)\nprint(history.history['acc'])"),
            ("validation", 'plot(hist.history["val_acc"])'),
            ("of_the_history_alone", "print(history['acc'])"),
            ("logs", "def on_epoch_end(epoch, logs):\n    print(logs['acc'])"),
            ("logs_by_get", "def on_epoch_end(epoch, logs):\n    logs.get('val_acc')"),
        ]
    )
    def test_found(self, _, text):
        (message,) = self.found(text + "\n")
        self.assertIn('["accuracy"]', message)

    @parameterized.expand([("accuracy",), ("acc",)])
    def test_the_key_is_the_word(self, word):
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse", metrics=[word])
        x, y = np.ones([4, 2], "float32"), np.ones([4, 1], "float32")
        self.assertEqual({*model.fit(x, y, verbose=0).history}, {"loss", word})
