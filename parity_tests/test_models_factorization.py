import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import models_factorization as v1
from v2_eager import models_factorization as v2
from v2_eager.numerics import optimizers

# --- Whole stars from two hidden factors; some users rate more often than others.

RNG = np.random.RandomState(0)
TASTES, TRAITS = RNG.normal(0, 0.8, [40, 2]), RNG.normal(0, 0.8, [30, 2])
OFFSETS = 3.5 + RNG.normal(0, 0.5, [40, 1]) + RNG.normal(0, 0.5, 30)
STARS = np.clip(np.rint(OFFSETS + TASTES @ TRAITS.T), 1, 5)


def observed(*shape):
    """Draws ids of users and of items and returns them with the ratings."""
    users = (40 * RNG.uniform(size=shape) ** 2).astype("i4")
    items = RNG.randint(30, size=shape).astype("i4")
    return [users, items, STARS[users, items].astype("f")]


DATA, TEST = observed(20, 16), observed(100)
SHAPES = {
    "svd/user/embeddings": [40, 8],
    "svd/user/biases": [40],
    "svd/item/embeddings": [30, 8],
    "svd/item/biases": [30],
    "svd/global_bias": [],
}
MEAN = {"svd/global_bias": np.array(3.5, "f")}
START = models.start(
    SHAPES, models.ADAM, **models.POWERS, **MEAN, global_step=np.int64(0)
)
POWERS = {"beta1_power": 0.9**6, "beta2_power": 0.999**6}
LATER = models.start(
    SHAPES, {"Adam": 0.1, "Adam_1": 0.01}, **POWERS, **MEAN, global_step=np.int64(5)
)
SLOTS = models.start(
    SHAPES, {"Ftrl": 0.1, "Ftrl_1": 0.0}, **MEAN, global_step=np.int64(0)
)
OF_FTRL = {"optimizer": "ftrl", "learning_rate": 0.3}
MODEL, GOES_ON = models.Model(DATA, START), models.Model(DATA, LATER)
FTRL = models.Model(DATA, SLOTS, options=OF_FTRL)

# --- Wrong programs that people write instead of the right page.


class WholeTables(v2.Factorization):
    """Penalizes the tables, as `embeddings_regularizer` does."""

    def __call__(self, user, item):
        infer, _ = super().__call__(user, item)
        return infer, tf.add_n([tf.nn.l2_loss(v) for v in self.trainable_variables[1:]])


class AdamOfKeras(optimizers.Adam):
    """Keras' Adam, even with TensorFlow 1's epsilon."""

    def create_slots(self, variables):
        self.of_keras = tf.keras.optimizers.Adam(self.hyper["lr"], epsilon=1e-8)
        self.of_keras.build(variables)
        return super().create_slots(variables)

    def apply_gradients(self, pairs, global_step):
        gradients, variables = zip(*pairs)
        self.of_keras.apply_gradients(zip(gradients, variables))
        moments = self.of_keras._momentums, self.of_keras._velocities
        for variable, m, v in zip(variables, *moments):
            self.get_slot(variable, "m").assign(m)
            self.get_slot(variable, "v").assign(v)
        self.finish({beta: tf.constant(self.hyper[beta]) for beta in self.betas})
        global_step.assign_add(1)


def train_by(adam):
    """Makes a `train` with another Adam."""

    def train(*args):
        with mock.patch.dict(v2.OPTIMIZERS, adam=adam):
            return v2.train(*args)

    return train


def penalize_tables(*args):
    with mock.patch.object(v2, "Factorization", WholeTables):
        return v2.train(*args)


WRONG = [
    (
        "LazyAdam",
        train_by(optimizers.LazyAdam),
        "the moving averages of all rows decay, and all rows take a step",
    ),
    (
        "Keras' Adam",
        train_by(AdamOfKeras),
        "of a row that is twice in a batch it adds squares, not the sum's one",
    ),
    (
        "a penalty of the tables",
        penalize_tables,
        "the penalty is of the looked-up rows, as often as they are in the batch",
    ),
]
UNKNOWN = [np.array([3, 40], "i4"), *(array[:2] for array in TEST[1:]), START]
CASES = [
    *MODEL.cases(evaluate=TEST, export=[np.array([0, 7, 39], "i4")]),
    Program("train", "initial values", [*DATA, 0], exact=True),
    GOES_ON.train(10, "goes on from step 5"),
    *(FTRL.train(steps, f"FTRL, steps: {steps}") for steps in models.STEPS),
    *(
        GOES_ON.train(10, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
    MODEL.case(
        "evaluate",
        "an unknown user",
        UNKNOWN,
        Raises,
        of="program",
        match=r"= 40 is not in \[0, 40\)",
        **dict.fromkeys(["graph", "eager", "function"], tf.errors.InvalidArgumentError),
    ),
    models.Model(DATA, START, options=OF_FTRL).train(
        1,
        "FTRL from Adam's checkpoint",
        Raises,
        of="program",
        match="Ftrl not found in checkpoint",
        **dict.fromkeys(["graph", "eager", "function"], tf.errors.NotFoundError),
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsFactorizationTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
