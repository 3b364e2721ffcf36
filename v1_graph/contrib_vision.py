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

# compat.v1 does not contain contrib: only `tensorflow.contrib` of 1.15 does.


def make_keypoints(temperature=None, name="net"):
    """Makes a spatial softmax: the expected row and column of each channel.

    Args:
        temperature: initial value of the divisor of the channels; None for 1.
        name: scope of the variable `spatial_softmax/temperature`.

    Returns:
        Callable from a [batch, height, width, channels] float32 tensor to [batch, 2 *
        channels]: for each channel the expected row and the expected column, from -1 to
        1.
    """

    def look(x):
        return tensorflow.contrib.layers.spatial_softmax(
            x, temperature, name="spatial_softmax"
        )

    return tf.make_template(name, look)


def make_gdn(inverse=False, name="net"):
    """Makes a generalized divisive normalization (GDN), used in image compression.

    Args:
        inverse: whether to multiply by the norm, as a decoder does.
        name: scope of the variables `gdn/reparam_beta` and `gdn/reparam_gamma`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to a tensor of the
        same shape.
    """

    def normalize(x):
        return tensorflow.contrib.layers.gdn(x, inverse, name="gdn")

    return tf.make_template(name, normalize)


def make_in_plane(size, stride=1, activation="relu", name="net"):
    """Makes a convolution whose one-channel kernel is shared by all channels.

    Args:
        size: [height, width] of the kernel.
        stride: distance between outputs, in both directions.
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
    """Makes a 3-D network: convolution, max and mean pooling, transposed convolution.

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
    """Samples images bilinearly at given places, as a spatial transformer does.

    Args:
        images: [n, height, width, channels] float tensor.
        places: [n, ..., 2] tensor of the dtype of `images`, (x, y) of each pixel: the
            column, then the row; pixels beyond the border are 0.

    Returns:
        [n, ..., channels] tensor.
    """
    return tensorflow.contrib.resampler.resampler(images, places)


def interpolate_spline(points, values, queries, order=2, regularization_weight=0.0):
    """Interpolates between scattered points by a polyharmonic spline.

    Args:
        points: [n, points, dimensions] float tensor.
        values: [n, points, size] tensor, the values at the points.
        queries: [n, queries, dimensions] tensor.
        order: order of the spline; 1 is linear, 2 a thin-plate spline.
        regularization_weight: 0 interpolates exactly; larger is smoother.

    Returns:
        [n, queries, size] tensor.
    """
    return tensorflow.contrib.image.interpolate_spline(
        points, values, queries, order, regularization_weight
    )


def warp_at_points(images, source, target, boundary=0):
    """Warps images so that source points move to target points, as in SpecAugment.

    Args:
        images: [n, height, width, channels] float tensor of known shape.
        source: [n, points, 2] tensor of rows and columns.
        target: like `source`, where the points move to.
        boundary: if positive, `boundary + 1` points along each edge, corners included,
            stay where they are.

    Returns:
        Tensor like the images.
    """
    warped, _ = tensorflow.contrib.image.sparse_image_warp(
        images, source, target, num_boundary_points=boundary
    )
    return warped


def label_components(masks):
    """Labels the connected components of masks (4 neighbours).

    Args:
        masks: [n, height, width] bool tensor.

    Returns:
        int tensor like `masks`: 0 where it is False, else the number of the component,
        from 1, in the order of first pixels, across all images.
    """
    return tensorflow.contrib.image.connected_components(masks)


def match_greedily(distances, rows, most=-1):
    """Matches rows with columns greedily, the smallest distance first.

    Args:
        distances: [rows, columns] float32 tensor.
        rows: number of rows to match, a scalar float32 tensor; all if it is negative.
        most: maximum number of matches; no maximum if it is not positive.

    Returns:
        (the column of each row, the row of each column), int32, -1 if unmatched.

    Raises:
        tf.errors.InvalidArgumentError: `rows` is larger than the number of rows.
    """
    columns, rows = tensorflow.contrib.image.bipartite_match(distances, rows, most)
    return columns, rows
