import functools
import os
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Naive, Program, Raises
from v1_graph import models_unet as v1
from v2_eager import models_unet as v2
from v2_eager.numerics import restore
from v2_eager.summaries import read_folder
from v2_keras import models_unet as v3

LAYERS = {"graph": "tf.layers is not available with Keras 3"}


def disks(seed, *shape, size=16):
    """Draws noisy images of two disks on an uneven background.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of images in each.
        size: height and width of an image.

    Returns:
        [images, masks, weights]: float32 [..., size, size, 1], int64 and float32
        [..., size, size]. The weights are larger between two disks, as in the paper.
    """
    random = np.random.RandomState(seed)
    y, x = np.mgrid[:size, :size]
    centers = random.uniform(3, size - 4, [2, 2, *shape, 1, 1])
    radii = random.uniform(2, 4, [2, *shape, 1, 1])
    distances = np.hypot(y - centers[0], x - centers[1]) - radii
    masks = distances.min(0) < 0
    apart = np.maximum(distances, 0).sum(0)
    weights = 1 + 4 * ~masks * np.exp(-(apart**2) / 8)
    slopes = random.normal(0, 0.05, [2, *shape, 1, 1])
    images = random.uniform(0.5, 1, [*shape, 1, 1]) * masks
    images = images + slopes[0] * (y - size / 2) + slopes[1] * (x - size / 2)
    images += random.normal(0, 0.2, images.shape)
    return [images[..., None].astype("f"), masks.astype("i8"), weights.astype("f")]


SHAPES = {
    "down1/conv1/kernel": [3, 3, 1, 4],
    "down1/conv1/bias": [4],
    "down1/conv2/kernel": [3, 3, 4, 4],
    "down1/conv2/bias": [4],
    "down2/conv1/kernel": [3, 3, 4, 4],
    "down2/conv1/bias": [4],
    "down2/conv2/kernel": [3, 3, 4, 4],
    "down2/conv2/bias": [4],
    "bottom/conv1/kernel": [3, 3, 4, 8],
    "bottom/conv1/bias": [8],
    "bottom/conv2/kernel": [3, 3, 8, 8],
    "bottom/conv2/bias": [8],
    "up2/upconv/kernel": [2, 2, 4, 8],
    "up2/upconv/bias": [4],
    "up2/conv1/kernel": [3, 3, 8, 4],
    "up2/conv1/bias": [4],
    "up2/conv2/kernel": [3, 3, 4, 4],
    "up2/conv2/bias": [4],
    "up1/upconv/kernel": [2, 2, 4, 4],
    "up1/upconv/bias": [4],
    "up1/conv1/kernel": [3, 3, 8, 4],
    "up1/conv1/bias": [4],
    "up1/conv2/kernel": [3, 3, 4, 4],
    "up1/conv2/bias": [4],
    "logits/kernel": [1, 1, 4, 2],
    "logits/bias": [2],
}
DATA = IMAGES, MASKS, WEIGHTS = disks(0, 6, 8)
TEST = disks(1, 4, 8)[:2]
LARGE = disks(2, 3, size=24)[0]
START = models.start(SHAPES, {"Momentum": 0.0}, global_step=np.int64(0))
MIDDLE = models.start(SHAPES, {"Momentum": 0.01}, global_step=np.int64(15))
MODEL = models.Model(DATA, START, LAYERS)
LATER = models.Model(DATA, MIDDLE, LAYERS)
OF_FILES = models.Model([IMAGES, 255 * MASKS, WEIGHTS], START, LAYERS)
UNEVEN = models.Model(disks(0, 1, 8, size=18), START, LAYERS)

# --- Wrong programs that people write instead of the right page.


class UpFirst(v2.UNet):
    """Appends the skip connections to the enlarged images."""

    def __call__(self, images):
        skip1 = self.down1(images)
        skip2 = self.down2(tf.nn.max_pool2d(skip1, 2, 2, "VALID"))
        net = self.bottom(tf.nn.max_pool2d(skip2, 2, 2, "VALID"))
        net = self.up2(tf.concat([self.upconv2(net), skip2], 3))
        net = self.up1(tf.concat([self.upconv1(net), skip1], 3))
        return self.logits(net)


def concatenate_up_first(*args):
    with mock.patch.object(v2, "UNet", UpFirst):
        return v2.train(*args)


def loss_of_probabilities(logits, masks, weights):
    loss = tf.keras.losses.SparseCategoricalCrossentropy()
    return loss(masks, logits, sample_weight=weights)


def train_by_probabilities(*args):
    with mock.patch.object(v2, "weighted_loss", loss_of_probabilities):
        return v2.train(*args)


def mean_of_batches(images, masks, checkpoint):
    """Takes the mean of the batches' mean IoU."""
    found = [v2.evaluate(*batch, checkpoint) for batch in split(images, masks)]
    means = {
        name: np.mean([each[name] for each in found], dtype="f")
        for name in ("mean_iou", "accuracy")
    }
    return {"masks": np.concatenate([each["masks"] for each in found]), **means}


def split(images, masks):
    return [(images[i : i + 1], masks[i : i + 1]) for i in range(len(images))]


CASES = [
    *MODEL.cases(evaluate=TEST, export=[LARGE]),
    Program("train", "initial values", [*DATA, 0], exact=True, skip=LAYERS),
    LATER.train(10, "from step 15, over a decay of the rate"),
    MODEL.train(
        5,
        "skip connections last",
        FalseFriend,
        of="program",
        naive=concatenate_up_first,
        because="the kernel multiplies the channels in the order of the concatenation",
    ),
    MODEL.train(
        5,
        "a loss of probabilities",
        FalseFriend,
        of="program",
        naive=train_by_probabilities,
        because="Keras' loss takes the logits for probabilities, and clips them",
    ),
    MODEL.case(
        "evaluate",
        "the mean of the batches' IoU",
        [*TEST, START],
        FalseFriend,
        of="program",
        naive=mean_of_batches,
        because="the metric adds up one confusion matrix, and divides at the end",
    ),
    OF_FILES.train(
        1,
        "masks of 0 and 255",
        Raises,
        of="program",
        match="label value of 255",
        **dict.fromkeys(("graph", "eager", "function"), tf.errors.InvalidArgumentError),
    ),
    UNEVEN.train(
        1,
        "a size that is no multiple of 4",
        Raises,
        of="program",
        match="[Dd]imensions? .*(must|should) (be equal|match)",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
    ),
]
MEAN_OF_WEIGHTS = functools.partial(
    keras.losses.SparseCategoricalCrossentropy, reduction="mean_with_sample_weight"
)


def iou_of_disks(classes, **options):
    return keras.metrics.IoU(classes, target_class_ids=[1], **options)


NAIVE = [
    Naive(
        "train, steps: 10",
        "a mean with sample weights",
        mock.patch.object(
            keras.losses, "SparseCategoricalCrossentropy", MEAN_OF_WEIGHTS
        )(v3.train),
        because="it divides by the sum of the weights, not by the number of pixels",
    ),
    Naive(
        "evaluate, from a checkpoint",
        "the IoU of the disks",
        mock.patch.object(keras.metrics, "MeanIoU", iou_of_disks)(v3.evaluate),
        because="the mean IoU also counts the background",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class ModelsUnetTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    def test_new_images_are_segmented_after_training(self):
        with tempfile.TemporaryDirectory() as folder:
            v2.train(*DATA, 100, None, folder)
            found = v2.evaluate(*TEST, os.path.join(folder, "model.ckpt"))
        self.assertGreater(found["mean_iou"], 0.7)

    def test_training_goes_on_where_it_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            first = v2.train(*DATA, 3, None, folder)["losses"]
            other = v2.train(*DATA, 2, path, folder)["losses"]
            whole = v2.train(*DATA, 5)["losses"]
            events = read_folder(folder)
        np.testing.assert_array_equal([*first, *other], whole)
        tags = {event["tag"] for event in events}
        self.assertEqual(tags, {"loss", "learning_rate", "predictions"})

    def test_a_trainer_can_be_exported_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer = v2.Trainer(1, "float32")
            trainer.step(*(data[0] for data in DATA))
            tf.saved_model.save(trainer, folder)
            self.assertEqual(tf.saved_model.load(folder).global_step, 1)

    def test_a_checkpoint_of_weights_serves(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, {name: START[name] for name in SHAPES})
            self.assertIn("mean_iou", v2.evaluate(*TEST, path))


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
        tags = {event["tag"] for event in events}
        self.assertEqual(tags, {"loss", "learning_rate", "predictions"})
        steps = [event["step"] for event in events if event["tag"] == "loss"]
        self.assertEqual(steps, [0, 1, 2, 3, 4])

    def test_both_pages_write_the_same_pictures(self):
        pictures = []
        for page in (v2, v3):
            with tempfile.TemporaryDirectory() as folder:
                page.train(*DATA, 1, None, folder)
                events = read_folder(folder)
            found = [e["tensor"] for e in events if e["tag"] == "predictions"]
            pictures.append(list(found[0]))
        self.assertEqual(*pictures)

    def test_float64_is_trained_in_float64(self):
        given = IMAGES.astype("d"), MASKS, WEIGHTS.astype("d"), 1
        left, right = (page.train(*given)["variables"] for page in (v2, v3))
        models.assert_near(right, left, 1e-12)

    def test_a_checkpoint_without_slots_serves_but_does_not_train(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, {name: START[name] for name in SHAPES})
            self.assertIn("mean_iou", v3.evaluate(*TEST, path))
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Momentum|global"):
                v3.train(*DATA, 1, path)

    def test_new_images_are_segmented_after_training(self):
        with tempfile.TemporaryDirectory() as folder:
            v3.train(*DATA, 100, None, folder)
            found = v3.evaluate(*TEST, os.path.join(folder, "model.ckpt"))
        self.assertGreater(found["mean_iou"], 0.7)


if __name__ == "__main__":
    unittest.main()
