"""Activity penalties by the package keras, which summed them over the batch."""

import keras
import numpy as np
from parameterized import parameterized

from tf1to2.tests.test_scan import ScanCase

OLD = "from keras.layers import Dense\nDense(3, init='ones')\n"
"""Gives a file away: the argument is a false friend."""


class ActivityTest(ScanCase):
    def found(self, text):
        return self.messages(text, "over the batch")

    @parameterized.expand(
        [
            (
                "tf_keras",
                "from tensorflow.keras.layers import Dense\nDense(3, init='ones')\n"
                "Dense(3, activity_regularizer='l2')\n",
            ),
            ("none", f"{OLD}Dense(3, activity_regularizer=None)\n"),
            ("a_kernel", f"{OLD}Dense(3, kernel_regularizer='l2')\n"),
            (
                "a_file_that_may_be_of_today",
                "from keras.layers import Dense\nDense(3, activity_regularizer='l2')\n",
            ),
        ]
    )
    def test_left(self, _, text):
        self.assertEqual(self.found(text), [])

    @parameterized.expand(
        [
            ("by_name", f"{OLD}Dense(3, activity_regularizer='l2')\n"),
            ("a_call", f"{OLD}Dense(3, activity_regularizer=l1(0.1))\n"),
            (
                "by_a_star",
                f"{OLD}from keras.layers import *\n"
                "LSTM(3, activity_regularizer='l2', consume_less='gpu')\n",
            ),
        ]
    )
    def test_found(self, _, text):
        (message,) = self.found(text)
        self.assertIn("batch_size", message)

    @parameterized.expand([("four", 4), ("eight", 8)])
    def test_keras_3_divides_by_the_rows(self, _, rows):
        layer = keras.layers.Dense(
            3, kernel_initializer="ones", activity_regularizer="l2"
        )
        layer(np.ones([rows, 6], "float32"))
        self.assertAlmostEqual(float(layer.losses[0]), 1.08, places=6)
