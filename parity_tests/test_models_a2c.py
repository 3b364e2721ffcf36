import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend
from v1_graph import models_a2c as v1
from v2_eager import models_a2c as v2
from v2_eager.numerics import restore

# The maze of Russell and Norvig, "Artificial Intelligence": each move costs 0.04.
MAZE = np.full([3, 4], -0.04, "f")
MAZE[1, 3], MAZE[2, 3] = -1, 1
CELLS = np.eye(12, dtype="f")
SHAPES = {
    "model/fc1/w": [12, 20],
    "model/fc1/b": [20],
    "model/pi/w": [20, 4],
    "model/pi/b": [4],
    "model/v/w": [20, 1],
    "model/v/b": [1],
}
FIRST = {"RMSProp": 1.0, "RMSProp_1": 0.0}
START = models.start(SHAPES, FIRST, global_step=np.int64(0))
SLOTS = {"RMSProp": 0.25, "RMSProp_1": 0.002}
END = models.start(SHAPES, SLOTS, global_step=np.int64(v2.TOTAL_STEPS - 3))
MODEL = models.Model([MAZE], START)

# --- Wrong programs that people write instead of the right page.


def clip_each(gradients, limit):
    return [tf.clip_by_norm(gradient, limit) for gradient in gradients], None


def train_with_each_clipped(*args):
    """Clips each gradient by its own norm, as `clipnorm` of Keras does."""
    with mock.patch.object(tf, "clip_by_global_norm", clip_each):
        return v2.train(*args)


class OneCall(v2.Model):
    """Takes the values from the call whose gradients are computed."""

    @tf.function
    def train(self, obs, actions, returns, _):
        with tf.GradientTape() as tape:
            logits, vf = self.policy(obs)
            chosen = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
            pg_loss = tf.reduce_mean((returns - vf) * chosen)
            vf_loss = tf.reduce_mean(tf.square(vf - returns) / 2.0)
            entropy = tf.reduce_mean(v2.cat_entropy(logits))
            loss = pg_loss - entropy * v2.ENT_COEF + vf_loss * v2.VF_COEF
        grads = tape.gradient(loss, self.params)
        grads, _ = tf.clip_by_global_norm(grads, v2.MAX_GRAD_NORM)
        self.optimizer.apply_gradients(zip(grads, self.params), self.global_step)
        return pg_loss, vf_loss, entropy


def train_in_one_call(*args):
    with mock.patch.object(v2, "Model", OneCall):
        return v2.train(*args)


def train_with_categorical(*args):
    def sample(logits):
        return tf.random.categorical(logits, 1, seed=4)[:, 0]

    with mock.patch.object(v2, "sample", sample):
        return v2.train(*args)


WRONG = [
    (
        "each gradient clipped",
        train_with_each_clipped,
        "clip_by_global_norm scales all gradients by one factor",
    ),
    (
        "advantages with a gradient",
        train_in_one_call,
        "the values were fed, so that the policy loss had no gradient for the critic",
    ),
    (
        "tf.random.categorical",
        train_with_categorical,
        "the op draws other numbers than the noise, from the same seeds",
    ),
]
CASES = [
    *MODEL.cases(evaluate=[MAZE, 20], export=[CELLS]),
    MODEL.case("train", "initialized, saved", [MAZE, 5, None, "folder"]),
    models.Model([MAZE], END).train(10, "over the end of the decay, with slots"),
    *(
        MODEL.train(10, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsA2cTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class UseTest(unittest.TestCase):
    """Runs the steps that follow a port."""

    def test_the_agent_learns_and_goes_on(self):
        maze = MAZE.astype("d")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            first = v2.train(maze, 200, None, folder)["mean_rewards"]
            later = v2.train(maze, 20, path)["mean_rewards"]
            found = v2.evaluate(maze, 40, path)
        self.assertLess(np.mean(first[:20]), 0)
        self.assertGreater(np.mean(later), 0.1)
        self.assertGreater(found["mean_reward"], 0.1)
        # A cell next to the goal, and the first cell.
        self.assertGreater(found["values"][2, 2], found["values"][0, 0])

    def test_each_function_has_one_trace(self):
        model = v2.Model(12, "float32")
        for obs in (CELLS, CELLS[:1], CELLS[:5]):
            model.policy.step(obs)
            model.policy.serve(obs)
        for _ in range(2):
            numbers = tf.zeros([12], tf.int64), tf.zeros([12]), tf.zeros([12])
            model.train(tf.constant(CELLS), *numbers)
        for function in (model.train, model.policy.step, model.policy.serve):
            self.assertEqual(function.experimental_get_tracing_count(), 1)

    def test_a_policy_is_restored_without_its_slots(self):
        weights = {name: START[name] for name in SHAPES}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, weights)
            policy = v2.restored(12, "float32", path)
        self.assertEqual(set(restore.named(policy)), set(weights))
