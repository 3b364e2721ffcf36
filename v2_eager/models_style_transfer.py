"""Style transfer: VGG as constants, Gram matrices, `tf.Variable(image)`, Adam.

Gatys, Ecker and Bethge, "A Neural Algorithm of Artistic Style", 2015. The targets are
computed once, eagerly; a step is a `tf.function` of no arguments.
"""

import os

import numpy as np
import tensorflow as tf
from absl import logging

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

MEAN_PIXEL = [123.68, 116.779, 103.939]  # of ImageNet: red, green, blue
CONTENT_LAYER = "relu3_1"
STYLE_LAYERS = {"relu1_1": 0.5, "relu2_1": 0.3, "relu3_1": 0.2}
CONTENT_WEIGHT, STYLE_WEIGHT, TV_WEIGHT = 5.0, 20.0, 0.5
LEARNING_RATE, BETA1, BETA2, EPSILON = 10.0, 0.9, 0.999, 1e-8


def preprocess(picture):
    """Subtracts the mean pixel: [height, width, 3] to [1, height, width, 3] floats."""
    return tf.constant(picture - np.array(MEAN_PIXEL, picture.dtype))[tf.newaxis]


class Vgg(tf.Module):
    """The first layers of VGG, with weights that are constants.

    A call takes [1, height, width, 3] floats and returns {name of a layer: [1, height,
    width, channels]}.

    Args:
        network: list of [kernel, bias] of each convolution.
        pooling: "avg" or "max".
    """

    def __init__(self, network, pooling):
        super().__init__()
        self.weights = [[tf.constant(x) for x in pair] for pair in network]
        self.pool = tf.nn.avg_pool2d if pooling == "avg" else tf.nn.max_pool2d

    def __call__(self, image):
        layers, net = {}, image
        for i, (kernel, bias) in enumerate(self.weights, 1):
            if i > 1:
                net = self.pool(net, 2, 2, "SAME")
            conv = tf.nn.conv2d(net, kernel, 1, "SAME")
            net = layers[f"relu{i}_1"] = tf.nn.relu(tf.nn.bias_add(conv, bias))
        return layers


def gram_matrix(features):
    """Computes the Gram matrix of the channels, divided by the number of features."""
    rows = tf.reshape(features, [-1, features.shape[3]])
    return tf.matmul(rows, rows, transpose_a=True) / rows.shape.num_elements()


def mean_square(x):
    """Computes the mean of the squares, a scalar."""
    return 2 * tf.nn.l2_loss(x) / x.shape.num_elements()


def tv_loss(image):
    """Computes the mean squared differences of neighbors, down and to the right."""
    down = image[:, 1:] - image[:, :-1]
    right = image[:, :, 1:] - image[:, :, :-1]
    return mean_square(down) + mean_square(right)


class Losses(tf.Module):
    """The content loss, the style loss and the total variation loss of an image.

    A call takes [1, height, width, 3] floats and returns a dict of three scalars.

    Args:
        network, pooling: see `Vgg`.
        content, style: [height, width, 3] float arrays of 0 to 255.
    """

    def __init__(self, network, content, style, pooling):
        super().__init__()
        self.vgg = Vgg(network, pooling)
        self.target = self.vgg(preprocess(content))[CONTENT_LAYER]
        layers = self.vgg(preprocess(style))
        self.grams = {name: gram_matrix(layers[name]) for name in STYLE_LAYERS}

    def __call__(self, image):
        layers = self.vgg(image)
        style = [
            weight * mean_square(gram_matrix(layers[name]) - self.grams[name])
            for name, weight in STYLE_LAYERS.items()
        ]
        content = mean_square(layers[CONTENT_LAYER] - self.target)
        return {
            "content_loss": CONTENT_WEIGHT * content,
            "style_loss": STYLE_WEIGHT * tf.add_n(style),
            "tv_loss": TV_WEIGHT * tv_loss(image),
        }


class Trainer(tf.Module):
    """An image that begins with noise, its losses and its Adam.

    Args:
        network, content, style, pooling: see `Losses`.
    """

    def __init__(self, network, content, style, pooling):
        super().__init__()
        self.losses = Losses(network, content, style, pooling)
        noise = initializers.random_normal(0.0, 0.256, seed=1)
        image = noise([1, *content.shape], content.dtype)
        self.image = tf.Variable(image, name="image")
        self.adam = optimizers.Adam(LEARNING_RATE, BETA1, BETA2, EPSILON)
        self.adam.create_slots([self.image])

    @tf.function
    def step(self):
        """Takes one step; returns the loss and its parts after it."""
        self.adam.minimize(
            lambda: tf.add_n([*self.losses(self.image).values()]), [self.image]
        )
        parts = self.losses(self.image)
        return tf.add_n([*parts.values()]), parts


def train(network, content, style, steps, checkpoint=None, folder=None, pooling="avg"):
    """Trains the pixels of an image with Adam, and keeps the best image."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(network, content, style, pooling)
    variables = restore.named(trainer)
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, best_loss, best = [], float("inf"), trainer.image.numpy()
    for i in range(steps):
        this_loss, parts = trainer.step()
        values = [float(x) for x in parts.values()]
        logging.info("step %d: content %g, style %g, tv %g", i, *values)
        losses.append(this_loss.numpy())
        if this_loss < best_loss:
            best_loss, best = this_loss, trainer.image.numpy()
    # --- save
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    return {
        "losses": np.array(losses),
        "best": best[0] + np.array(MEAN_PIXEL, best.dtype),
        "variables": {name: x.numpy() for name, x in variables.items()},
    }


def restored(content, checkpoint):
    """Makes the image of a checkpoint, of the shape and the dtype of the content."""
    shape = [1, *content.shape]
    image = tf.Variable(tf.zeros(shape, content.dtype), name="image")
    restore.by_name(checkpoint, restore.named(image))
    return image


def evaluate(network, content, style, checkpoint):
    """Restores the image; computes its three losses."""
    # --- build
    losses = tf.function(Losses(network, content, style, "avg"))
    image = restored(content, checkpoint)
    # --- run
    return {name: x.numpy() for name, x in losses(image).items()}


class Stylized(tf.Module):
    """A stylized image that takes its colors from a picture, if wanted.

    Args:
        image: [1, height, width, 3] variable.
    """

    def __init__(self, image):
        super().__init__()
        self.image = image

    @tf.function
    def serve(self, content):
        """Returns both pictures, [height, width, 3] uint8."""
        stylized = tf.clip_by_value(self.image[0] + MEAN_PIXEL, 0, 255)
        luma = tf.image.rgb_to_yuv(stylized)[..., :1]
        chroma = tf.image.rgb_to_yuv(content)[..., 1:]
        recolored = tf.image.yuv_to_rgb(tf.concat([luma, chroma], -1))
        return {
            "stylized": tf.cast(stylized, tf.uint8),
            "original_colors": tf.cast(tf.clip_by_value(recolored, 0, 255), tf.uint8),
        }


def export(content, checkpoint, folder):
    """Exports the image as a SavedModel that gives it the colors of a picture."""
    # --- save
    model = Stylized(restored(content, checkpoint))
    spec = tf.TensorSpec(content.shape, content.dtype, name="content")
    serve = model.serve.get_concrete_function(spec)
    tf.saved_model.save(model, folder, {"serving_default": serve})
    # --- serve
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    found = signature(content=tf.constant(content))
    return {name: x.numpy() for name, x in found.items()}
