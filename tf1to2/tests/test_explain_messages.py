"""Which parts of a pasted error `explain` goes by, and which it does not."""

import unittest

from parameterized import parameterized

from tf1to2.explain import messages, resolve
from tf1to2.tests.test_explain import head

FRAMES = """Traceback (most recent call last):
  File "/home/me/train.py", line 9, in <module>
    tf.map_fn(square, rows)
  File "/usr/lib/python3/site-packages/tensorflow/api.py", line 339, in converted_call
    raise AttributeError(
"""
IN_USER_CODE = """TypeError: in user code:

    File "/home/me/train.py", line 5, in parse  *
        return tf.py_func(decode, [row])

    ValueError: the 3rd value is no colour
"""


class StatementTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a typed error", "ValueError: bad colour", True),
            ("what is missing", "No module named 'tensorflow.colour'", True),
            ("a statement", "The colour of a pixel must be a number.", True),
            ("a statement and a value", "Colours expected: red", True),
            ("a question", "What must the shape of a label be?", False),
            ("a question without its mark", "How should labels look: as ints", False),
            ("what a person says", "My loss does not go down.", False),
            ("words to search", "Loss is not going down", False),
            ("words in small letters", "the loss is not going down.", False),
        ]
    )
    def test_an_error_is_told_from_a_question(self, _, text, error):
        self.assertEqual(messages.is_error(text), error)

    @parameterized.expand(
        [
            ("with its type", "ValueError: The palette `warm` must be known."),
            ("without it", "The palette `warm` must be known."),
            ("in a traceback", FRAMES + "ValueError: the palette must be known"),
        ]
    )
    def test_of_an_unknown_error_nothing_is_said(self, _, text):
        self.assertEqual(resolve.resolve(text).by, "nothing")


class FrameTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a traceback", FRAMES + "ValueError: 3 rows"),
            ("code in a message", IN_USER_CODE),
            ("a dotted type", "tensorflow.python.errors_impl.AbortedError: 3 rows"),
            ("a list", "ValueError: no 'b' among ['input_layer', 'map_fn']"),
        ]
    )
    def test_what_stands_around_an_error_is_not_what_it_names(self, _, text):
        self.assertEqual(messages.mentioned(text), [])

    def test_the_message_names_what_it_is_about(self):
        text = FRAMES + "ValueError: map_fn wants elems"
        self.assertEqual(messages.mentioned(text), ["tf.map_fn"])

    def test_the_code_that_raises_is_no_part_of_a_message(self):
        text = FRAMES + "AttributeError: palette and colours"
        self.assertEqual(messages.advice(text), [])


class LikenessTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("another class", "must be a real number, not PaletteColour"),
            ("another function", "paint() missing 2 required positional arguments"),
        ]
    )
    def test_another_name_is_another_error(self, _, text):
        self.assertEqual(messages.likely(text), [])


class KeywordTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("of Keras 1", "to_categorical", "nb_classes", "tf.keras.utils."),
            ("of a method", "TensorFlowTrainer.test_on_batch", "reset_metrics", "tf."),
        ]
    )
    def test_a_row_on_an_argument_leads_to_its_name(self, _, function, name, start):
        text = f"{function}() got an unexpected keyword argument '{name}'"
        self.assertTrue(head(text).startswith(start), head(text))

    def test_the_answer_is_about_this_argument(self):
        told = "Trainer.train_on_batch() got an unexpected keyword argument '{}'"
        answer = resolve.resolve(told.format("reset_metrics"))
        self.assertEqual(answer.names[0].entry.form, "model.reset_metrics()")


if __name__ == "__main__":
    unittest.main()
