"""No right page is much longer than its left page, but for a reason."""

import statistics
import unittest

from tf1to2 import lengths, topics

LONG = {
    "beam_search": "the decoder was a class of contrib: the page computes what it did",
    "feature_columns": "the columns were a library, which TensorFlow 2 has in Keras "
    "only: the page computes what they computed",
    "keras_optimizers": "Adagrad, RMSprop and Nadam of Keras 3 are other formulas: the "
    "page has the old ones",
    "metric_learning": "the losses were contrib's: the page computes what they did",
}
"""Right pages of more than 1.5 lines for one of the left, and why."""

SOURCE = '''"""A module."""

x = """two
lines"""  # of code


class A:
    """Documented."""

    def f(self):
        """Documented
        at length."""
        # and commented
        return (
            1
        )
'''


class LengthsTest(unittest.TestCase):
    def setUp(self):
        self.ratios = {n: right / left for n, (left, right) in LENGTHS.items()}

    def test_code_is_counted_and_nothing_else(self):
        self.assertEqual(lengths.lines_of_code(SOURCE), 7)
        self.assertEqual(lengths.lines_of_code("'alone'\n"), 0)

    def test_every_page_of_one_file_is_measured(self):
        packages = {
            "attention",
            "contrib_training",
            "legacy_seq2seq",
            "numerics",
            "seq2seq",
        }
        self.assertEqual(set(topics.topics()) - set(LENGTHS), packages)

    def test_the_median_is_about_one(self):
        self.assertLess(abs(statistics.median(self.ratios.values()) - 1), 0.05)

    def test_what_is_longer_has_its_reason_and_nothing_else_has(self):
        longer = {name for name, ratio in self.ratios.items() if ratio > 1.5}
        self.assertEqual(longer, set(LONG))


LENGTHS = lengths.lengths()
