"""`spatial_softmax`, `gdn`, `conv3d`, `resampler`, `sparse_image_warp` of contrib."""

import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "make_keypoints",
    "make_gdn",
    "make_in_plane",
    "make_volumes",
    "sample",
    "interpolate_spline",
    "warp_at_points",
    "label_components",
    "match_greedily",
]

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def make_keypoints(temperature=None, name="net"):
    """Makes a spatial softmax: the expected row and column of each channel.

    Args:
        temperature: what the channels are divided by, at first; None for 1.
        name: scope of the variable `spatial_softmax/temperature`.

    Returns:
        Callable from a [batch, height, width, channels] float32 tensor to [batch, 2 *
        channels]: of each channel the expected row and the expected column, from -1 to
        1.
    """

    def look(x):
        return tensorflow.contrib.layers.spatial_softmax(
            x, temperature, name="spatial_softmax"
        )

    return tf.make_template(name, look)


def make_gdn(inverse=False, name="net"):
    """Makes a generalized divisive normalization, as image compression has it.

    Args:
        inverse: whether it multiplies, as a decoder does.
        name: scope of the variables `gdn/reparam_beta` and `gdn/reparam_gamma`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to another.
    """

    def normalize(x):
        return tensorflow.contrib.layers.gdn(x, inverse, name="gdn")

    return tf.make_template(name, normalize)


def make_in_plane(size, stride=1, activation="relu", name="net"):
    """Makes a convolution of one channel, which all channels share.

    Args:
        size: [height, width] of the kernel.
        stride: how far it moves.
        activation: name of a function of `tf.nn`, or None.
        name: scope of the variables `ConvInPlane/weights` and `…/biases`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, channels].
    """

    def convolve(x):
        layers = tensorflow.contrib.layers
        return layers.conv2d_in_plane(
            x,
            size,
            stride,
            activation_fn=getattr(tf.nn, activation) if activation else None,
            weights_initializer=layers.xavier_initializer(seed=1),
        )

    return tf.make_template(name, convolve)


def make_volumes(filters, name="net"):
    """Makes a network of volumes: convolved, pooled in two ways, and enlarged again.

    Args:
        filters: list of two numbers of channels.
        name: scope of the variables `Conv/weights`, `Conv/biases`,
            `Conv3d_transpose/weights` and `…/biases`.

    Returns:
        Callable from a [batch, depth, height, width, channels] float tensor, of even
        sizes, to [batch, depth, height, width, filters[1]].
    """

    def convolve(x):
        layers = tensorflow.contrib.layers
        options = {"weights_initializer": layers.xavier_initializer(seed=1)}
        x = layers.conv3d(x, filters[0], 3, **options)
        pooled = [layers.max_pool3d(x, 2), layers.avg_pool3d(x, 2)]
        x = tf.concat(pooled, 4)
        return layers.conv3d_transpose(x, filters[1], 3, 2, **options)

    return tf.make_template(name, convolve)


def sample(images, places):
    """Takes pixels from between others, as a spatial transformer does.

    Args:
        images: [n, height, width, channels] float tensor.
        places: [n, ..., 2] tensor of its dtype, (x, y) of each pixel: the column, then
            the row; beyond the border is zero.

    Returns:
        [n, ..., channels] tensor.
    """
    return tensorflow.contrib.resampler.resampler(images, places)


def interpolate_spline(points, values, queries, order=2, regularization_weight=0.0):
    """Interpolates between scattered points by a polyharmonic spline.

    Args:
        points: [n, points, dimensions] float tensor.
        values: [n, points, size] tensor, what is known there.
        queries: [n, queries, dimensions] tensor.
        order: of the spline: 1 is a distance, 2 a thin plate.
        regularization_weight: 0 goes through all points, more is smoother.

    Returns:
        [n, queries, size] tensor.
    """
    return tensorflow.contrib.image.interpolate_spline(
        points, values, queries, order, regularization_weight
    )


def warp_at_points(images, source, target, boundary=0):
    """Warps images so that points come to lie elsewhere, as SpecAugment does.

    Args:
        images: [n, height, width, channels] float tensor of known shape.
        source: [n, points, 2] tensor of rows and columns.
        target: where these shall be, alike.
        boundary: more than 0 holds the border: by so many points along each edge, less
            one between the corners.

    Returns:
        Tensor like the images.
    """
    warped, _ = tensorflow.contrib.image.sparse_image_warp(
        images, source, target, num_boundary_points=boundary
    )
    return warped


def label_components(masks):
    """Numbers what hangs together: above, below, left and right.

    Args:
        masks: [n, height, width] bool tensor.

    Returns:
        int tensor like it: 0 where it is False, then 1 and so on by the first pixel, on
        through all images.
    """
    return tensorflow.contrib.image.connected_components(masks)


def match_greedily(distances, rows, most=-1):
    """Matches rows with columns, the nearest first.

    Args:
        distances: [rows, columns] float32 tensor.
        rows: how many rows count, a scalar float32 tensor; all if it is negative.
        most: how many matches, at most; all if it is not positive.

    Returns:
        (the column of each row, the row of each column), int32, -1 where there is none.

    Raises:
        tf.errors.InvalidArgumentError: there are not so many rows.
    """
    columns, rows = tensorflow.contrib.image.bipartite_match(distances, rows, most)
    return columns, rows
