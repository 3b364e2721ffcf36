import functools
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import models_char_rnn as v1
from v2_eager import models_char_rnn as v2
from v2_eager.numerics import restore, rnn


def text(seed, size):
    """Draws words from a vocabulary of four words of 12 letters, with spaces between.

    Args:
        seed: seed of the draws.
        size: number of characters.

    Returns:
        [size] int32 array; 0 is the space.
    """
    words = [[1, 2, 3, 0], [4, 5, 4, 6, 0], [7, 8, 1, 0], [9, 10, 11, 2, 0]]
    drawn = np.random.RandomState(seed).randint(0, 4, size)
    return np.concatenate([words[i] for i in drawn])[:size].astype("i")


CELLS = [f"rnnlm/multi_rnn_cell/cell_{i}/basic_lstm_cell" for i in (0, 1)]
SHAPES = {
    "rnnlm/softmax_w": [8, 12],
    "rnnlm/softmax_b": [12],
    "embedding": [12, 8],
    **{f"{cell}/kernel": [16, 32] for cell in CELLS},
    **{f"{cell}/bias": [32] for cell in CELLS},
}
OTHERS = {**models.POWERS, "Variable": np.float32(0)}
START = models.start(SHAPES, models.ADAM, **OTHERS)
LATER = models.start(SHAPES, {"Adam": 0.01, "Adam_1": 0.0004}, **OTHERS)
TEXT, HELD_OUT, PRIME = text(0, 2000), text(1, 500), np.array([4, 5, 4], "i")
RATES = (0.02 * 0.75 ** np.arange(4)).astype("f")
STATES = np.random.RandomState(2).uniform(-1, 1, [4, 3, 8]).astype("f")
SERVED = [HELD_OUT[:12].reshape(3, 4), STATES]
MODEL = models.Model([TEXT, RATES], START, CONTRIB)
AFTER = models.Model([TEXT, RATES], LATER, CONTRIB)

# --- Wrong programs that people write instead of the right page.


def without_forget_bias(*args):
    cell = functools.partial(rnn.BasicLSTMCell, forget_bias=0.0)
    with mock.patch.object(v2.rnn, "BasicLSTMCell", cell):
        return v2.evaluate(*args)


def without_state(*args):
    """Begins each piece of text with zeros, as a layer of Keras does by default."""
    unroll = rnn.unroll
    with mock.patch.object(v2.rnn, "unroll", lambda cell, x, state: unroll(cell, x)):
        return v2.train(*args)


def with_dense_gradients(*args):
    """Sums the gradients of a character before they are clipped."""
    clip = tf.clip_by_global_norm

    def clip_dense(gradients, limit):
        return clip([tf.convert_to_tensor(g) for g in gradients], limit)

    with mock.patch.object(tf, "clip_by_global_norm", clip_dense):
        return v2.train(*args)


CASES = [
    *MODEL.cases(evaluate=[HELD_OUT, PRIME], export=SERVED),
    Program("train", "initial values", [TEXT, RATES, 0], exact=True, skip=CONTRIB),
    AFTER.train(30, "goes on with slots, over an epoch"),
    MODEL.case(
        "evaluate",
        "no forget bias",
        [HELD_OUT, PRIME, START],
        FalseFriend,
        of="program",
        naive=without_forget_bias,
        because="the cell adds 1 to the forget gate, and the checkpoint has no such 1",
    ),
    MODEL.train(
        10,
        "zeros for each piece",
        FalseFriend,
        of="program",
        naive=without_state,
        because="the last state of a piece is the first one of the next piece",
    ),
    MODEL.train(
        10,
        "dense gradients",
        FalseFriend,
        of="program",
        naive=with_dense_gradients,
        because="the norm of a sparse gradient does not add the rows of a character",
    ),
    MODEL.case(
        "evaluate",
        "a character outside of the vocabulary",
        [HELD_OUT, np.array([4, 12], "i"), START],
        Raises,
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=r"12 is not in \[0, 12\)",
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsCharRnnTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class UseTest(unittest.TestCase):
    """Runs the steps that follow a port."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "start.ckpt")
        restore.save(self.path, START)

    def test_training_lowers_the_perplexity_and_the_sample_has_words(self):
        v2.train(TEXT, RATES, 100, self.path, self.folder)
        path = os.path.join(self.folder, "model.ckpt")
        before, after = (v2.evaluate(HELD_OUT, PRIME, p) for p in (self.path, path))
        self.assertGreater(before["perplexity"], 12)
        self.assertLess(after["perplexity"], 3)
        found = "".join(chr(97 + char) for char in after["sample"]).split("a")
        words = {"bcd", "efeg", "hib", "jklc"}
        self.assertLessEqual(set(found[:-1]), words, found)

    def test_each_function_has_one_trace(self):
        trainer = v2.Trainer(RATES.dtype)
        model, state = trainer.model, trainer.model.zeros(v2.BATCH_SIZE)
        for pair in list(zip(*v2.batches(TEXT)))[:3]:
            _, state = trainer.step(*pair, state)
        state = model.zeros(1)
        for char in range(3):
            _, state = model.predict(tf.constant([[char]]), state)
        for function in (trainer.step, model.cost, model.predict):
            self.assertEqual(function.experimental_get_tracing_count(), 1)

    def test_a_server_reads_a_text_in_pieces(self):
        chars, states = SERVED
        expected = v2.export(chars, states, self.path, self.folder + "/all")
        states = dict(zip(v2.STATES, states))
        served = tf.saved_model.load(self.folder + "/all").signatures["serving_default"]
        for char in tf.unstack(chars[:, :, None], axis=1):
            states = served(chars=char, **states)
            probs = states.pop("probs")
        far = np.abs(probs[:, 0] - expected["probs"][:, -1]).max()
        self.assertLess(far, 1e-6)
