"""Style transfer: VGG as constants, Gram matrices, `tf.Variable(image)`, Adam.

Gatys, Ecker and Bethge, "A Neural Algorithm of Artistic Style", 2015. Programs on
GitHub were written like this from 2015 on: the network does not change, and the pixels
of an image are trained.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

MEAN_PIXEL = [123.68, 116.779, 103.939]  # of ImageNet: red, green, blue
CONTENT_LAYER = "relu3_1"
STYLE_LAYERS = {"relu1_1": 0.5, "relu2_1": 0.3, "relu3_1": 0.2}
CONTENT_WEIGHT, STYLE_WEIGHT, TV_WEIGHT = 5.0, 20.0, 0.5
LEARNING_RATE, BETA1, BETA2, EPSILON = 10.0, 0.9, 0.999, 1e-8


def preprocess(picture):
    """Subtracts the mean pixel: [height, width, 3] to [1, height, width, 3] floats."""
    return (picture - np.array(MEAN_PIXEL, picture.dtype))[np.newaxis]


def vgg(network, image, pooling):
    """Builds the first layers of VGG, with weights that are constants.

    Args:
        network: list of [kernel, bias] of each convolution.
        image: [1, height, width, 3] tensor.
        pooling: "avg" or "max".

    Returns:
        {name of a layer: [1, height, width, channels] tensor}.
    """
    pool = tf.nn.avg_pool if pooling == "avg" else tf.nn.max_pool
    layers, net = {}, image
    for i, (kernel, bias) in enumerate(network, 1):
        if i > 1:
            net = pool(net, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        with tf.name_scope("conv%d_1" % i):
            kernel, bias = tf.constant(kernel), tf.constant(bias)
            conv = tf.nn.conv2d(net, kernel, strides=[1, 1, 1, 1], padding="SAME")
            net = tf.nn.relu(tf.nn.bias_add(conv, bias))
        layers["relu%d_1" % i] = net
    return layers


def gram_matrix(features):
    """Computes the Gram matrix of the channels, divided by the number of features."""
    _, height, width, channels = features.get_shape().as_list()
    rows = tf.reshape(features, [-1, channels])
    return tf.matmul(rows, rows, transpose_a=True) / (height * width * channels)


def mean_square(x):
    """Computes the mean of the squares, a scalar."""
    return 2 * tf.nn.l2_loss(x) / int(np.prod(x.shape))


def precompute(network, content, style, pooling):
    """Computes the targets in a graph and a session of their own.

    Args:
        network, pooling: see `vgg`.
        content, style: [height, width, 3] float arrays of 0 to 255.

    Returns:
        (features of the content, {name of a layer: Gram matrix of the style}), arrays.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.placeholder(content.dtype, [1] + list(content.shape))
        features = vgg(network, image, pooling)[CONTENT_LAYER]
        target = sess.run(features, {image: preprocess(content)})
        image = tf.placeholder(style.dtype, [1] + list(style.shape))
        layers = vgg(network, image, pooling)
        grams = {name: gram_matrix(layers[name]) for name in STYLE_LAYERS}
        return target, sess.run(grams, {image: preprocess(style)})


class Transfer:
    """The image, which begins with noise, and its losses, in the default graph.

    Args:
        network, pooling: see `vgg`.
        content, style: [height, width, 3] float arrays of 0 to 255.
    """

    def __init__(self, network, content, style, pooling):
        target, grams = precompute(network, content, style, pooling)
        shape = [1] + list(content.shape)
        noise = tf.random_normal(shape, stddev=0.256, dtype=content.dtype, seed=1)
        self.image = image = tf.Variable(noise, name="image")
        layers = vgg(network, image, pooling)
        style_losses = []
        for name, weight in STYLE_LAYERS.items():
            difference = gram_matrix(layers[name]) - grams[name]
            style_losses.append(weight * mean_square(difference))
        down = image[:, 1:] - image[:, :-1]
        right = image[:, :, 1:] - image[:, :, :-1]
        self.content_loss = CONTENT_WEIGHT * mean_square(layers[CONTENT_LAYER] - target)
        self.style_loss = STYLE_WEIGHT * tf.add_n(style_losses)
        self.tv_loss = TV_WEIGHT * (mean_square(down) + mean_square(right))
        self.loss = self.content_loss + self.style_loss + self.tv_loss


def train(network, content, style, steps, checkpoint=None, folder=None, pooling="avg"):
    """Trains the pixels of an image with Adam, and keeps the best image.

    Args:
        network: list of [kernel, bias] of each convolution, arrays of the dtype of the
            pictures: [3, 3, channels, filters] and [filters].
        content, style: [height, width, 3] float arrays of 0 to 255; their heights and
            widths may differ.
        steps: number of steps.
        checkpoint: path of a checkpoint with all variables to go on from, or None to
            begin with noise.
        folder: where the checkpoint "model.ckpt" is saved after the last step, or None.
        pooling: "avg" or "max".

    Returns:
        dict with the `losses`, [steps], after each step, the `best` picture, [height,
        width, 3], which has the lowest of them, and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = Transfer(network, content, style, pooling)
        optimizer = tf.train.AdamOptimizer(LEARNING_RATE, BETA1, BETA2, EPSILON)
        train_op = optimizer.minimize(net.loss)
        saver = tf.train.Saver()
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint:
            saver.restore(sess, checkpoint)
        # --- run
        losses, best_loss, best = [], float("inf"), sess.run(net.image)
        parts = net.content_loss, net.style_loss, net.tv_loss
        for i in range(steps):
            train_op.run()
            # Another run: the losses of the same run would race with the update.
            this_loss, *values = sess.run([net.loss, *parts])
            tf.logging.info("step %d: content %g, style %g, tv %g", i, *values)
            losses.append(this_loss)
            if this_loss < best_loss:
                best_loss, best = this_loss, net.image.eval()
        # --- save
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        return {
            "losses": np.array(losses),
            "best": best[0] + np.array(MEAN_PIXEL, best.dtype),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(network, content, style, checkpoint):
    """Restores the image; computes its three losses.

    Args:
        network, content, style: see `train`.
        checkpoint: path of a checkpoint that has the image.

    Returns:
        dict with the `content_loss`, the `style_loss` and the `tv_loss`, scalars that
        are multiplied by their weights.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = Transfer(network, content, style, "avg")
        fetches = {
            "content_loss": net.content_loss,
            "style_loss": net.style_loss,
            "tv_loss": net.tv_loss,
        }
        # --- run
        tf.train.Saver([net.image]).restore(sess, checkpoint)
        return sess.run(fetches)


def export(content, checkpoint, folder):
    """Exports the image as a SavedModel that gives it the colors of a picture.

    Args:
        content: [height, width, 3] float array of 0 to 255, of the size of the image.
        checkpoint: path of a checkpoint that has the image.
        folder: where the SavedModel is written.

    Returns:
        dict with the `stylized` picture and the one in the `original_colors` of the
        content, both [height, width, 3] uint8 arrays.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        image = tf.Variable(
            tf.zeros([1] + list(content.shape), content.dtype), name="image"
        )
        tf.train.Saver([image]).restore(sess, checkpoint)
        colors = tf.placeholder(content.dtype, content.shape, name="content")
        stylized = tf.clip_by_value(image[0] + MEAN_PIXEL, 0, 255)
        luma = tf.image.rgb_to_yuv(stylized)[..., :1]
        chroma = tf.image.rgb_to_yuv(colors)[..., 1:]
        recolored = tf.image.yuv_to_rgb(tf.concat([luma, chroma], axis=-1))
        outputs = {
            "stylized": tf.cast(stylized, tf.uint8),
            "original_colors": tf.cast(tf.clip_by_value(recolored, 0, 255), tf.uint8),
        }
        tf.saved_model.simple_save(sess, folder, {"content": colors}, outputs)
    # --- serve
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph = tf.saved_model.load(sess, ["serve"], folder)
        signature = meta_graph.signature_def["serving_default"]
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["content"].name: content})
