import os
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Naive, Program
from v1_graph import models_siamese as v1
from v2_eager import models_siamese as v2
from v2_eager.numerics import restore
from v2_eager.summaries import read_folder
from v2_keras import models_siamese as v3


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


def evaluate_with_penalties(left, right, label, checkpoint):
    model, pair = v3.restored(left, checkpoint)[1], [left, right]
    loss = model.evaluate(pair, label, batch_size=len(label), verbose=0)
    return v3.evaluate(*pair, label, checkpoint) | {"loss": np.float32(loss)}


NAIVE = [
    Naive(
        "train, steps: 10",
        "the penalty of slim",
        mock.patch.object(v3, "L2", lambda half: keras.regularizers.L2(2 * half))(
            v3.train
        ),
        because="slim took half the sum of squares, and Keras takes the sum",
    ),
    Naive(
        "evaluate, from a checkpoint",
        "the loss of model.evaluate",
        evaluate_with_penalties,
        because="it contains the penalties of the weights",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class ModelsSiameseTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    def test_each_page_goes_on_from_the_checkpoint_of_the_other(self):
        whole = v2.train(*DATA, 6)["variables"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            for first, then in ((v2, v3), (v3, v2)):
                first.train(*DATA, 3, None, folder)
                parts = then.train(*DATA, 3, path)["variables"]
                models.assert_near(parts, whole)

    def test_a_resumed_run_goes_on_where_it_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            first = v3.train(*DATA, 3, None, folder)["losses"]
            other = v3.train(*DATA, 2, path, folder)["losses"]
            events = read_folder(folder)
        whole = v3.train(*DATA, 5)["losses"]
        np.testing.assert_array_equal([*first, *other], whole)
        rates = np.full(5, 0.1, "f")
        for tag, values in (("loss", whole), ("learning_rate", rates)):
            found = [event for event in events if event["tag"] == tag]
            self.assertEqual([event["step"] for event in found], [0, 1, 2, 3, 4])
            np.testing.assert_array_equal([e["tensor"] for e in found], values)

    def test_equal_images_called_negative_give_finite_weights(self):
        found = v3.train(*NOISY.data, 1)["variables"]
        for name, value in found.items():
            self.assertTrue(np.isfinite(value).all(), name)

    def test_float64_is_trained_in_float64(self):
        given = *(array.astype("d") for array in DATA), 1
        left, right = (page.train(*given)["variables"] for page in (v2, v3))
        models.assert_near(right, left, 1e-7)  # the penalties are float32

    def test_a_checkpoint_without_slots_serves_but_does_not_train(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, {name: START[name] for name in SHAPES})
            self.assertIn("loss", v3.evaluate(*TEST, path))
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Momentum|global"):
                v3.train(*DATA, 1, path)

    def test_new_pairs_are_told_apart_after_training(self):
        with tempfile.TemporaryDirectory() as folder:
            v3.train(*DATA, 100, None, folder)
            found = v3.evaluate(*TEST, os.path.join(folder, "model.ckpt"))
        self.assertGreater(found["accuracy"], 0.85)


if __name__ == "__main__":
    unittest.main()
