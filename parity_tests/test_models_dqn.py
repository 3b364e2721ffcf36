import os
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Raises
from v1_graph import models_dqn as v1
from v2_eager import models_dqn as v2
from v2_eager.numerics import optimizers, restore
from v2_eager.summaries import read_folder

# The maze of Russell and Norvig, "Artificial Intelligence": each move costs 0.04.
MAZE = np.full([3, 4], -0.04, "f")
MAZE[1, 3], MAZE[2, 3] = -1, 1
SEED = 3
SHAPES = {
    f"{scope}/{name}": shape
    for scope in ("eval_net", "target_net")
    for name, shape in [
        ("l1/w1", [12, 20]),
        ("l1/b1", [1, 20]),
        ("l2/w2", [20, 4]),
        ("l2/b2", [1, 4]),
    ]
}
SLOTS = {
    f"train/{name}/{slot}": np.full(shape, initial, "f")
    for name, shape in SHAPES.items()
    if name.startswith("eval_net")
    for slot, initial in [("RMSProp", 1), ("RMSProp_1", 0), ("RMSProp_2", 0)]
}
START = models.start(SHAPES, **SLOTS, global_step=np.int64(5))
LATE = {**START, "global_step": np.int64(280)}
WITHOUT_SLOTS = {name: START[name] for name in START if name not in SLOTS}

# --- A table of values in the weights: down, then right, and never into the pit.

TABLE = np.zeros([20, 4], "f")
TABLE[:8, 1] = TABLE[8:12, 2] = 1
SOLVED = {
    **START,
    "eval_net/l1/w1": np.eye(12, 20, dtype="f"),
    "eval_net/l1/b1": np.zeros([1, 20], "f"),
    "eval_net/l2/w2": TABLE,
    "eval_net/l2/b2": np.zeros([1, 4], "f"),
}

# --- Wrong programs that people write instead of the right page.


class KerasRMSProp(optimizers.RMSProp):
    """Keras' RMSprop, whose mean square begins at 0; it leaves the slots alone."""

    def create_slots(self, variables):
        super().create_slots(variables)
        self.keras = keras.optimizers.RMSprop(0.01, 0.9, epsilon=1e-5, centered=True)
        self.keras.build(variables)

    def apply_gradients(self, pairs, global_step):
        self.keras.apply_gradients(pairs)
        global_step.assign_add(1)


def train_by_keras(*args):
    with mock.patch.object(optimizers, "RMSProp", KerasRMSProp):
        return v2.train(*args)


def train_on_columns(*args):
    """Keeps the chosen values as [n, 1]: the targets, [n], minus them are [n, n]."""
    gather = tf.gather

    def column(values, actions, batch_dims):
        return gather(values, actions[:, tf.newaxis], batch_dims=batch_dims)

    with mock.patch.object(tf, "gather", column):
        return v2.train(*args)


def train_without_a_scope(*args):
    """Reads the slots by the names of their variables, without "train/"."""
    with mock.patch.object(v2.DQN, "by_name", lambda dqn: restore.named(dqn)):
        return v2.train(*args)


MODEL = models.Model([MAZE, SEED], START)
CASES = [
    *MODEL.cases(evaluate=[MAZE], export=[np.eye(12, dtype="f")]),
    models.Model([MAZE, SEED], LATE).train(50, "mostly greedy"),
    MODEL.case("train", "initialized, saved", [MAZE, SEED, 20, None, "folder"]),
    models.Model([], SOLVED).case("evaluate", "a solved maze", [MAZE, SOLVED]),
    *(
        MODEL.train(
            20, slug, FalseFriend, of="program", naive=naive, because=because, **more
        )
        for slug, naive, because, more in [
            (
                "by Keras' RMSprop",
                train_by_keras,
                "its mean square begins at 0, and TensorFlow 1's at 1",
                {},
            ),
            (
                "a column of values",
                train_on_columns,
                "[n] - [n, 1] is [n, n]: the error of each target for each value",
                {},
            ),
            (
                "slots without their scope",
                train_without_a_scope,
                "the optimizer was made in the scope train, and so were its slots",
                {"differs": "raises"},
            ),
        ]
    ),
    models.Model([MAZE, SEED], WITHOUT_SLOTS).train(
        1,
        "a checkpoint without slots",
        Raises,
        of="program",
        graph=tf.errors.NotFoundError,
        eager=tf.errors.NotFoundError,
        function=tf.errors.NotFoundError,
        match="RMSProp(_[12])? not found in checkpoint",
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsDqnTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    def test_the_agent_learns_the_shortest_ways(self):
        with tempfile.TemporaryDirectory() as folder:
            v2.train(MAZE.astype("d"), SEED, 200, None, folder)
            path = os.path.join(folder, "model.ckpt")
            found = v2.evaluate(MAZE.astype("d"), path)
        # From (0, 3) the way leads around the pit.
        self.assertEqual(found["lengths"].tolist(), [5, 4, 3, 4, 4, 3, 2, 3, 2, 1])
        self.assertLess(abs(found["mean_return"] - 0.916), 1e-6)

    def test_the_summaries_are_the_returns(self):
        with tempfile.TemporaryDirectory() as folder:
            found = v2.train(MAZE, SEED, 20, None, folder)["returns"]
            events = [e for e in read_folder(folder) if e["tag"] == "return"]
        self.assertGreater(len(found), 0)
        np.testing.assert_array_equal([e["tensor"] for e in events], found)
