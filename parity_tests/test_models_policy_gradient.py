import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_policy_gradient as v1
from v2_eager import models_policy_gradient as v2
from v2_eager.numerics import optimizers, restore
from v2_eager.summaries import read_folder

STARTS = np.random.RandomState(0).uniform(-0.05, 0.05, [20, 4]).astype("f")
SEED = 3
SHAPES = {
    "fc1/kernel": [4, 10],
    "fc1/bias": [10],
    "fc2/kernel": [10, 2],
    "fc2/bias": [2],
}
POWERS = {f"train/{name}": value for name, value in models.POWERS.items()}
LATER_POWERS = {"train/beta1_power": 0.9**14, "train/beta2_power": 0.999**14}
START = models.start(SHAPES, models.ADAM, **POWERS, global_step=np.int64(0))
LATER = models.start(
    SHAPES, {"Adam": 0.01, "Adam_1": 0.0004}, **LATER_POWERS, global_step=np.int64(13)
)
LAYERS = {"graph": "tf.layers is not available with Keras 3"}
MODEL = models.Model([STARTS, SEED], START, LAYERS)

# --- Wrong programs that people write instead of the right page.


class Columns(v2.PolicyGradient):
    """Keeps the returns as [n, 1]: their product with [n] numbers is [n, n]."""

    def step(self, obs, acts, vt):
        return super().step(obs, acts, vt[:, tf.newaxis])


def train_on_columns(*args):
    with mock.patch.object(v2, "PolicyGradient", Columns):
        return v2.train(*args)


class Probabilities(v2.Policy):
    """Ends in a softmax, though the loss has a softmax of its own."""

    def __call__(self, obs):
        return tf.nn.softmax(super().__call__(obs))


def train_with_two_softmaxes(*args):
    with mock.patch.object(v2, "Policy", Probabilities):
        return v2.train(*args)


def train_without_a_scope(*args):
    """Makes Adam outside of the name scope."""
    adam = optimizers.Adam

    def unscoped(rate):
        with tf.name_scope(""):
            return adam(rate)

    with mock.patch.object(optimizers, "Adam", unscoped):
        return v2.train(*args)


WRONG = [
    (
        "a column of returns",
        train_on_columns,
        "[n, 1] * [n] is [n, n], and its mean is 0, because that of the returns is 0",
        "values",
    ),
    (
        "a policy that ends in a softmax",
        train_with_two_softmaxes,
        "sparse_softmax_cross_entropy_with_logits applies a softmax itself",
        "values",
    ),
    (
        "Adam without its name scope",
        train_without_a_scope,
        "a name scope is a prefix of the powers, though not of the slots",
        "raises",
    ),
]
CASES = [
    *MODEL.cases(evaluate=[STARTS], export=[STARTS]),
    Program("train", "initial values", [STARTS, SEED, 0], exact=True, skip=LAYERS),
    MODEL.case("train", "initialized, saved", [STARTS, SEED, 5, None, "folder"]),
    models.Model([STARTS, 4], LATER, LAYERS).train(20, "goes on, with slots"),
    *(
        MODEL.train(
            10,
            slug,
            FalseFriend,
            of="program",
            naive=naive,
            because=because,
            differs=differs,
        )
        for slug, naive, because, differs in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsPolicyGradientTest(unittest.TestCase):
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

    def test_the_policy_learns_to_balance_and_writes_its_losses(self):
        before = v2.evaluate(STARTS, self.path)["mean_return"]
        found = v2.train(STARTS, SEED, 60, self.path, self.folder)
        path = os.path.join(self.folder, "model.ckpt")
        self.assertGreater(v2.evaluate(STARTS, path)["mean_return"], 2 * before)
        events = [e for e in read_folder(self.folder) if e["tag"] == "loss"]
        np.testing.assert_array_equal([e["tensor"] for e in events], found["losses"])

    def test_episodes_of_all_lengths_share_a_trace(self):
        agent = v2.PolicyGradient("float32")
        for moves in (9, 12, 30):
            arrays = np.ones([moves, 4]), np.zeros(moves, int), np.ones(moves)
            agent.learn(*arrays)
        self.assertEqual(agent.learn.experimental_get_tracing_count(), 1)

    def test_choice_takes_probabilities_as_an_array_not_as_a_tensor(self):
        policy = v2.restored("float32", self.path)
        probabilities = policy.serve(STARTS)["act_prob"]
        raised = 0
        for row in probabilities:
            np.random.RandomState(0).choice(2, p=row.numpy())
            try:
                np.random.RandomState(0).choice(2, p=row)
            except ValueError as error:
                self.assertIn("probabilities do not sum to 1", str(error).lower())
                raised += 1
        self.assertGreater(raised, 0)
