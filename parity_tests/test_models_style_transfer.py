import dataclasses
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program, structure
from v1_graph import models_style_transfer as v1
from v2_eager import models_style_transfer as v2


def network(*filters):
    """Draws [kernel, bias] of each convolution, float32 arrays."""
    pairs = []
    for depth, count in zip((3, *filters), filters):
        random = structure.generator("conv", depth, count)
        kernel = random.normal(0, np.sqrt(2 / 9 / depth), [3, 3, depth, count])
        pairs.append([kernel.astype("f"), random.normal(0, 4, count).astype("f")])
    return pairs


def picture(name, height, width, texture):
    """Paints a picture of 0 to 255, float32, [height, width, 3].

    Args:
        name: seed of the colors and of the noise.
        height, width: size in pixels.
        texture: function of the rows and the columns to shades from 0 to 1.
    """
    random = structure.generator("picture", name)
    dark, light = random.uniform(0, 255, [2, 3])
    shades = texture(*np.mgrid[:height, :width])[..., np.newaxis]
    colors = dark + (light - dark) * shades + random.normal(0, 12, [height, width, 3])
    return np.clip(colors, 0, 255).astype("f")


# --- A disk is painted in the style of stripes.
NETWORK = network(6, 8, 8)
CONTENT = picture("disk", 16, 12, lambda y, x: np.hypot(y - 8, x - 6) < 4.5)
STYLE = picture("stripes", 12, 20, lambda y, x: (1 + np.sin(1.3 * (x + y))) / 2)

SHAPES = {"image": [1, *CONTENT.shape]}
# The image begins with the content and noise, as with `--initial`.
NOISE = structure.generator("noise").normal(0, 20, SHAPES["image"])
IMAGE = (v1.preprocess(CONTENT) + NOISE).astype("f")
START = {**models.start(SHAPES, models.ADAM, **models.POWERS), "image": IMAGE}
POWERS = {"beta1_power": 0.9**11, "beta2_power": 0.999**11}
LATER = models.start(SHAPES, {"Adam": 0.05, "Adam_1": 0.01}, **POWERS)
MODEL = models.Model([NETWORK, CONTENT, STYLE], START)
GOES_ON = dataclasses.replace(MODEL, start={**LATER, "image": IMAGE})
MAXIMA = dataclasses.replace(MODEL, options={"pooling": "max"})

# --- Wrong programs that people write instead of the right page.


def gram_by_places(features):
    """Divides by the number of places only, as TensorFlow 2's tutorial does."""
    gram = tf.einsum("bijc,bijd->bcd", features, features)[0]
    return gram / (features.shape[1] * features.shape[2])


def total_variation(image):
    return tf.image.total_variation(image)[0] / image.shape.num_elements()


def keras_preprocess(picture):
    preprocess_input = tf.keras.applications.vgg19.preprocess_input
    return tf.constant(preprocess_input(np.array(picture))[np.newaxis])


def clip_after_each_step(*args):
    """Keeps the image a picture, as TensorFlow 2's tutorial does."""

    class Clipping(v2.Trainer):
        @tf.function
        def step(self):
            results = super().step()
            mean = tf.constant(v2.MEAN_PIXEL, self.image.dtype)
            self.image.assign(tf.clip_by_value(self.image, -mean, 255 - mean))
            return results

    with mock.patch.object(v2, "Trainer", Clipping):
        return v2.train(*args)


def train_with(name, other):
    """Makes `train` with another function of the right page."""

    def train(*args):
        with mock.patch.object(v2, name, other):
            return v2.train(*args)

    return train


WRONG = [
    (
        "a Gram matrix by places",
        train_with("gram_matrix", gram_by_places),
        "the old size also counts the channels",
    ),
    (
        "tf.image.total_variation",
        train_with("tv_loss", total_variation),
        "it adds absolute differences, the old loss squares them",
    ),
    (
        "Keras' preprocess_input",
        train_with("preprocess", keras_preprocess),
        "it turns RGB to BGR, and the old weights take RGB",
    ),
    (
        "clipped after each step",
        clip_after_each_step,
        "the old image left 0 to 255, and was clipped when it was written",
    ),
]
CASES = [
    *MODEL.cases(evaluate=MODEL.data, export=[CONTENT]),
    Program("train", "initial values", [*MODEL.data, 0], exact=True),
    Program("train", "from noise", [*MODEL.data, 10]),
    GOES_ON.train(10, "goes on from step 10"),
    MAXIMA.train(10, "max pooling"),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsStyleTransferTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
