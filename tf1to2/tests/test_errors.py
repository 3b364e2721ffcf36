"""The errors of the guide: each message is raised, each way to mend it runs."""

import os
import re
import runpy
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized
from tensorflow.python.eager import context

from parity_tests import conftest
from tf1to2.explain import errors_page
from tf1to2.pages import topics
from tf1to2.parity.releases import here
from tf1to2.tests.raisers import (
    calls,
    clusters,
    datasets,
    environment,
    files,
    flow,
    functions,
    graphs,
    hooks,
    keras_files,
    keras_layers,
    keras_training,
    layers,
    models,
    names,
    networks,
    numpy_2,
    protobufs,
    python_3,
    running,
    saved,
    scopes,
    serving,
    shapes,
    training,
    values,
)

BORNE = (
    conftest.GAST,
    conftest.KERAS_COPY,
    "ignore:`shuffle=True` was passed:UserWarning",  # fit's default, of a dataset
)
pytestmark = [pytest.mark.filterwarnings(warning) for warning in BORNE]
MODULES = (
    *(names, graphs, functions, values, saved, layers, running, training),
    *(environment, python_3, numpy_2, protobufs, serving, clusters, models),
    *(scopes, flow, shapes, networks, datasets, files, hooks, calls),
    *(keras_layers, keras_training, keras_files),
)


def merged(name):
    """What the modules have under a name, as one dict."""
    return {k: v for m in MODULES for k, v in getattr(m, name, {}).items()}


RAISERS, SINCE, ONLY = merged("ERRORS"), merged("SINCE"), merged("ONLY")
SECTIONS = errors_page.sections()


def raiser(wording):
    """The longest part of a wording that something raises."""
    return max((part for part in RAISERS if part in wording), key=len)


WORDINGS = [(w,) for section in SECTIONS for w in section.raised]
# A release that lacks what an error is about raises nothing that could be compared.
RAISED_HERE = [(w,) for (w,) in WORDINGS if here(ONLY.get(raiser(w), ""))]


def fits(wording, message):
    """Whether the pieces of a wording stand in a message, in their order."""
    return re.search(errors_page.pattern(wording), message) is not None


class NothingIsLeft(unittest.TestCase):
    """After each test TensorFlow is as it was, for the tests that come next."""

    def setUp(self):
        # Set once, to whatever, it is the default of sessions, too: only None is not. A
        # test before this one, in the same process, may have set it.
        kept = mock.patch.object(context.context(), "_soft_device_placement", None)
        kept.start()
        self.addCleanup(kept.stop)

    def tearDown(self):
        self.assertTrue(tf.executing_eagerly())
        self.assertIsNone(tf.compat.v1.get_default_session())


class MessagesTest(NothingIsLeft):
    def test_there_are_many(self):
        self.assertGreaterEqual(len(SECTIONS), 80)

    def test_nothing_is_raised_in_vain(self):
        used = {raiser(wording) for (wording,) in WORDINGS}
        self.assertEqual(sorted(set(RAISERS) - used), [])

    def test_no_wording_comes_twice(self):
        every = [wording for section in SECTIONS for wording in section.raised]
        self.assertEqual(len(every), len(set(every)))

    @parameterized.expand(RAISED_HERE)
    def test_it_is_raised(self, wording):
        with self.assertRaises(Exception) as raised:
            RAISERS[raiser(wording)]()
        message, said, part = str(raised.exception), [wording], raiser(wording)
        if part in layers.WORDLESS and here(layers.WORDLESS[part]):
            self.assertEqual(repr(raised.exception), "AssertionError()")
            return
        if not here(SINCE.get(part, "")):
            (said,) = (s.others for s in SECTIONS if wording in s.raised)
        self.assertTrue(any(fits(w, message) for w in said), f"{said}: {message!r}")

    def test_what_is_not_raised_is_told(self):
        self.assertFalse(fits("Key … not found in checkpoint", "Key w found"))
        self.assertFalse(fits("a … b", "b a"))


class MendingTest(NothingIsLeft):
    """The code of the sections runs, each by itself."""

    @parameterized.expand([(s.message, s) for s in SECTIONS])
    def test_it_runs(self, _, section):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mended.py")  # AutoGraph reads its source
            with open(path, "w", encoding="utf-8") as file:
                file.write(section.code)
            runpy.run_path(path, at_hand(folder))

    @parameterized.expand([(s.message, s) for s in SECTIONS])
    def test_it_leads_to_pairs(self, _, section):
        self.assertTrue(section.places)
        for place in section.places:
            _, name = topics.find(place)
            self.assertIsNotNone(name, place)


def at_hand(folder):
    """What the code of a section finds, as the chapter says."""
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0]])
    return {
        "tf": tf,
        "np": np,
        "x": x,
        "y": y,
        "w": tf.Variable([[1.0], [1.0]]),
        "model": tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)]),
        "optimizer": tf.keras.optimizers.SGD(0.1),
        "dataset": tf.data.Dataset.from_tensor_slices((x, y)).batch(1),
        "folder": folder,
        "path": os.path.join(folder, "model"),
        "old_checkpoint": old_checkpoint(os.path.join(folder, "old")),
    }


def old_checkpoint(path):
    """Writes a checkpoint of TensorFlow 1 with its meta graph, of x to y; its path."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        w = v1.get_variable("net/w", initializer=[[1.0], [1.0]])
        tf.matmul(v1.placeholder(tf.float32, [None, 2], "x"), w, name="y")
        sess.run(w.initializer)
        return v1.train.Saver().save(sess, path)


if __name__ == "__main__":
    unittest.main()
