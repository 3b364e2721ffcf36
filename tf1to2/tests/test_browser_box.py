"""The box of the site in a browser: see test_browser."""

import pytest
from parameterized import parameterized

from tf1to2.catalog import entries, facts, links
from tf1to2.tests import test_box
from tf1to2.tests.test_browser import Site
from tf1to2.tests.test_errors import RAISERS

pytestmark = pytest.mark.browser


class BoxTest(Site):
    def test_enter_leads_to_the_pair(self):
        self.open("names/train")
        self.ask("tf.placeholder")
        self.page.press("#box", "Enter")
        self.page.wait_for_url("**/basics.html#basics.fed_batches")

    @parameterized.expand(
        [
            "tf.placeholder",
            "tf.Session.run",
            "tf.contrib.slim.conv2d",
            "tf.train.AdamOptimizer",
            "tf.where",
            ".eval",
            "tf.nn.relu",
            "tf.keras.Model.fit_generator",
        ]
    )
    def test_the_box_says_of_a_name_what_explain_says(self, name):
        self.open("layers")
        entry, answer = entries.lookup(name), " ".join(self.ask(name))
        self.assertTrue(answer.startswith(f"{name} {entry.verdict}"), answer)
        self.assertIn(entry.message.removeprefix(f"{name}: "), answer)
        self.assertIn(entry.pair, answer)
        for pair in links.proofs(name)[:3]:
            self.assertIn(pair, answer)

    def test_it_says_the_same_of_every_name_and_member(self):
        self.open("index")
        self.ask("tf.placeholder")
        names = [name for name in entries.symbols()]
        names += [
            f"{name}.{member}"
            for name in ("tf.Session", "tf.train.Saver", "tf.keras.Model", "tf.Tensor")
            for member in facts.members(name)
        ]
        self.assertGreater(len(names), 6_560)
        told = self.page.evaluate("names => names.map(window.tf1to2.answerTo)", names)
        for name, found in zip(names, told, strict=True):
            entry = entries.lookup(name)
            self.assertEqual(found["verdict"], entry.verdict, name)
            message = entry.message.removeprefix(f"{entry.symbol}: ")
            self.assertTrue(found["text"].startswith(message), (name, found))
            self.assertEqual(found["pair"], entry.pair, name)

    @parameterized.expand(
        ["compat.v1.Session", "tensorflow.log", "placeholder", "log()"]
    )
    def test_the_box_takes_other_spellings(self, text):
        self.open("index")
        name = text.rpartition(".")[2].removesuffix("()")
        self.assertTrue(self.ask(text)[0].startswith(f"tf.{name} "))

    def test_the_box_says_what_1_15_never_had(self):
        self.open("index")
        self.assertEqual(self.ask("tf.nosuchname")[0][-14:], "tf.nosuchname.")

    def test_an_error_leads_to_its_section(self):
        self.open("layers")
        self.ask("ValueError: No gradients provided for any variable: w")
        self.page.press("#box", "Enter")
        self.page.wait_for_url("**/errors-keras.html#*")
        heading = self.page.locator("section:target > h3")
        self.assertIn("No gradients provided", heading.inner_text())

    def test_the_box_reads_errors_as_explain_does(self):
        self.open("index")
        self.ask("tf.placeholder")
        read = "text => { const f = window.tf1to2.ofError(text);"
        read += " return [f.names.slice(0, 1), f.errors.map(e => e.message)]; }"
        for text in [*raised(), *PASTED]:
            answer = self.page.evaluate(read, text)
            self.assertEqual(answer, test_box.explained(text), text)


PASTED = [
    "ModelCheckpoint period",
    "CuDNNLSTM of tf1 in a program of today, of more than eight words",
    "slow: layers.batch_normalization in a loop",
    test_box.OF_A_TYPE,
    "ValueError: tf.enable_eager_execution must be called at program startup.",
    "'Dense' object has no attribute 'output_shape'",
    "Trainer.compile() got an unexpected keyword argument 'target_tensors'",
    "cannot import name 'CuDNNLSTM' from 'keras.layers'",
    'Traceback (most recent call last):\n  File "a.py", line 1\n'
    "ModuleNotFoundError: No module named 'tensorflow.contrib.slim'",
    "ImportError: cannot import name 'app' from 'tensorflow'",
    "AttributeError: 'Sequential' object has no attribute 'fit_generator'",
    "AttributeError: module 'tensorflow._api.v2.train' has no attribute 'Saver'",
    "AttributeError: module 'keras._tf_keras.keras.losses' has no attribute "
    "'sparse_softmax_cross_entropy'",
    "TypeError: reduce_sum() got an unexpected keyword argument 'keep_dims'",
    "AttributeError: `dense` is not available with Keras 3.",
    "ValueError: nothing that anybody knows of",
]


def raised():
    """The errors of the chapter, as TensorFlow prints them."""
    found = []
    for fails in RAISERS.values():
        try:
            fails()
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found
