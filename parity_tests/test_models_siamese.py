import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_siamese as v1
from v2_eager import models_siamese as v2
from v2_eager.numerics import restore


def pairs(seed, *shape):
    """Draws pairs of noisy images of four patterns; the first pair is one image twice.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of pairs in each.

    Returns:
        [left images, right images, labels], float32 arrays.
    """
    random = np.random.RandomState(seed)
    patterns = np.random.RandomState(5).uniform(size=[4, 12, 12, 1])
    left, right = random.randint(0, 4, [2, *shape])
    right = np.where(random.uniform(size=shape) < 0.4, left, right)
    right[..., 0] = left[..., 0]
    noise = random.normal(0, 0.2, [2, *shape, 12, 12, 1])
    lefts, rights = patterns[left] + noise[0], patterns[right] + noise[1]
    rights[..., 0, :, :, :] = lefts[..., 0, :, :, :]
    return [array.astype("f") for array in (lefts, rights, left == right)]


SHAPES = {
    "siamese/conv1/weights": [3, 3, 1, 6],
    "siamese/conv1/biases": [6],
    "siamese/conv2/weights": [3, 3, 6, 8],
    "siamese/conv2/biases": [8],
    "siamese/fc1/weights": [72, 16],
    "siamese/fc1/biases": [16],
    "siamese/fc2/weights": [16, 2],
    "siamese/fc2/biases": [2],
}
DATA, TEST = pairs(0, 6, 16), pairs(1, 64)
START = models.start(SHAPES, {"Momentum": 0.0}, global_step=np.int64(0))
MIDDLE = models.start(SHAPES, {"Momentum": 0.01}, global_step=np.int64(15))
MODEL = models.Model(DATA, START, CONTRIB)
# Labels have errors: here the first pair, one image twice, is called negative.
NOISY = models.Model([*DATA[:2], DATA[2] * (np.arange(16) > 0)], START, CONTRIB)
LATER = models.Model(DATA, MIDDLE, CONTRIB)

# --- Wrong programs that people write instead of the right page.


def loss_of_norm(left, right, label):
    distance = tf.norm(left - right, axis=1)
    negative = (1 - label) * tf.square(tf.maximum(v2.MARGIN - distance, 0))
    return tf.reduce_mean(label * tf.square(distance) + negative) / 2, distance


def train_with_norm(*args):
    with mock.patch.object(v2, "contrastive_loss", loss_of_norm):
        return v2.train(*args)


def penalize_each_call(*args):
    penalties = v2.Tower.penalties
    with mock.patch.object(v2.Tower, "penalties", lambda tower: 2 * penalties(tower)):
        return v2.train(*args)


def train_two_towers(lefts, rights, labels, steps, checkpoint):
    """Makes the layers twice: the towers begin alike, and share no variables."""
    shape, dtype = lefts.shape[2:], lefts.dtype
    trainer, other = v2.Trainer(shape, dtype), v2.restored(shape, dtype, checkpoint)
    variables = restore.named(trainer)
    restore.by_name(checkpoint, variables)
    trained = [*trainer.tower.trainable_variables, *other.trainable_variables]
    trainer.optimizer.create_slots(trained)
    losses = []
    for left, right, label in list(zip(lefts, rights, labels))[:steps]:

        def loss(left=left, right=right, label=label):
            towers = trainer.tower(left), other(right)
            penalties = trainer.tower.penalties()
            return tf.add_n([v2.contrastive_loss(*towers, label)[0], *penalties])

        losses.append(trainer.optimizer.minimize(loss, trained, trainer.global_step))
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


WRONG = [
    (
        "tf.norm",
        NOISY,
        train_with_norm,
        "the distance of equal images is 0, where the gradient of the root is NaN",
    ),
    (
        "two towers",
        MODEL,
        train_two_towers,
        "each tower gets the gradient of its own images, not the sum of both",
    ),
    (
        "a penalty for each call",
        MODEL,
        penalize_each_call,
        "a reused slim layer adds no second penalty",
    ),
]
CASES = [
    *MODEL.cases(evaluate=TEST, export=TEST[:1]),
    Program("train", "initial values", [*DATA, 0], exact=True, skip=CONTRIB),
    LATER.train(10, "from step 15, over a decay of the rate"),
    *(
        model.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, model, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsSiameseTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
