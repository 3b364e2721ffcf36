"""`spatial_softmax`, `gdn`, `conv3d`, `resampler`, `sparse_image_warp` of contrib."""

import numpy as np
import tensorflow as tf

from v2_eager.contrib_tools import dense_image_warp
from v2_eager.numerics import initializers
from v2_eager.numerics.layers import Layer

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


def make_keypoints(temperature=None, name="net"):
    """Makes a spatial softmax: the expected row and column of each channel.

    Returns a `SpatialSoftmax`; see the class.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, 2 *
        channels]: for each channel the expected row and the expected column, from -1 to
        1.
    """
    return SpatialSoftmax(1.0 if temperature is None else temperature, name)


class SpatialSoftmax(tf.Module):
    """The expected row and column of each channel, by a softmax over its pixels.

    A call takes [batch, height, width, channels] floats and returns [batch, 2 *
    channels]: for each channel the row and the column, from -1 to 1. It follows
    `tensorflow/contrib/layers/python/layers/layers.py` of 1.15.5.

    Args:
        temperature: initial value of the variable that the channels are divided by, a
            float.
        name: scope of the variable `spatial_softmax/temperature`, a float32 scalar.
    """

    def __init__(self, temperature, name):
        super().__init__()
        name = f"{name}/spatial_softmax/temperature"
        with tf.name_scope(""):  # keeps outer scopes out of the name
            self.temperature = tf.Variable(temperature, dtype=tf.float32, name=name)

    def __call__(self, x):
        n, height, width, channels = tf.unstack(tf.shape(x))
        rows, columns = [tf.linspace(-1.0, 1.0, size) for size in (height, width)]
        places = [tf.repeat(rows, width), tf.tile(columns, [height])]
        x = tf.reshape(tf.transpose(x, [0, 3, 1, 2]), [n, channels, height * width])
        weights = tf.nn.softmax(x / tf.cast(self.temperature, x.dtype))
        places = tf.cast(places, x.dtype)[:, tf.newaxis, tf.newaxis]
        means = tf.reduce_sum(places * weights, 3)
        return tf.reshape(tf.transpose(means, [1, 2, 0]), [n, 2 * channels])


def make_gdn(inverse=False, name="net"):
    """Makes a generalized divisive normalization (GDN), used in image compression.

    Returns a `GDN`; see the class.
    """
    return GDN(inverse, f"{name}/gdn")


class GDN(tf.Module):
    """Generalized divisive normalization: x / sqrt(beta + gamma x²).

    The sum is over the channels of a pixel. The variables are square roots, so beta and
    gamma stay positive. A call takes and returns [batch, height, width, channels]
    floats. The first call makes the variables. It follows `tf.contrib.layers.gdn`
    (Ballé, Laparra and Simoncelli, 2016).

    Args:
        inverse: whether to multiply by the norm instead, as a decoder does.
        path: scope of the variables `reparam_beta`, [channels], and `reparam_gamma`,
            [channels, channels].
    """

    beta_min, gamma_init, offset = 1e-6, 0.1, 2**-18

    def __init__(self, inverse, path):
        super().__init__()
        self.inverse, self.path, self.beta = inverse, path, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.beta is not None

    def build(self, channels, dtype):
        if self.beta is None:
            pedestal = tf.constant(self.offset**2, dtype)
            eye = tf.eye(channels, dtype=dtype)
            first = tf.ones([channels], dtype), self.gamma_init * eye
            self.beta, self.gamma = [
                tf.Variable(
                    tf.sqrt(value + pedestal),
                    name=f"{self.path}/reparam_{what}",
                )
                for what, value in zip(("beta", "gamma"), first)
            ]

    def positive(self, root, least):
        bound = (least + self.offset**2) ** 0.5
        return tf.square(at_least(root, bound)) - tf.cast(self.offset**2, root.dtype)

    def __call__(self, x):
        with tf.init_scope(), tf.name_scope(""):  # keeps outer scopes out of names
            self.build(x.shape[-1], x.dtype)
        beta = self.positive(self.beta, self.beta_min)
        gamma = self.positive(self.gamma, 0)
        pool = tf.nn.convolution(tf.square(x), gamma[tf.newaxis, tf.newaxis])
        norm = tf.sqrt(tf.nn.bias_add(pool, beta))
        return x * norm if self.inverse else x / norm


def at_least(x, bound):
    """Computes `tf.maximum`; values below the bound keep gradients that raise them."""

    @tf.custom_gradient
    def limited(x):
        def slope(dy):
            return tf.where((x >= tf.cast(bound, x.dtype)) | (dy < 0), dy, 0)

        return tf.maximum(x, tf.cast(bound, x.dtype)), slope

    return limited(x)


def make_in_plane(size, stride=1, activation="relu", name="net"):
    """Makes a convolution whose one-channel kernel is shared by all channels.

    Returns an `InPlane`; see the class.
    """
    activation = getattr(tf.nn, activation) if activation else None
    return InPlane(f"{name}/ConvInPlane", size, stride, activation)


class InPlane(tf.Module):
    """A convolution with one kernel for all channels, and a bias for each channel.

    A call takes [batch, height, width, channels] floats and returns [batch, new height,
    new width, channels], padded by SAME. The first call makes the variables.

    Args:
        path: scope of the variables `weights`, [*size, 1, 1], and `biases`, [channels].
        size: [height, width] of the kernel.
        stride: distance between outputs, in both directions.
        activation: function, or None.
    """

    def __init__(self, path, size, stride, activation):
        super().__init__()
        self.path, self.size, self.stride = path, size, stride
        self.activation, self.weights = activation, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.weights is not None

    def build(self, channels, dtype):
        if self.weights is None:
            draw = initializers.contrib_xavier(seed=1)
            first = draw([*self.size, 1, 1], dtype), tf.zeros([channels], dtype)
            self.weights, self.biases = [
                tf.Variable(value, name=f"{self.path}/{what}")
                for what, value in zip(("weights", "biases"), first)
            ]

    def __call__(self, x):
        with tf.init_scope(), tf.name_scope(""):  # keeps outer scopes out of names
            self.build(x.shape[-1], x.dtype)
        kernel = tf.tile(self.weights, [1, 1, x.shape[-1], 1])
        strides = [1, self.stride, self.stride, 1]
        y = tf.nn.bias_add(
            tf.nn.depthwise_conv2d(x, kernel, strides, "SAME"), self.biases
        )
        return self.activation(y) if self.activation else y


def make_volumes(filters, name="net"):
    """Makes a 3-D network: convolution, max and mean pooling, transposed convolution.

    Returns a `Volumes`; see the class.
    """
    return Volumes(filters, name)


class Conv3D(Layer):
    """A 3 x 3 x 3 convolution of volumes, [batch, depth, height, width, channels].

    `keras.layers.Conv3D` pads by "valid" and has no activation by default; its
    variables have other names.
    """

    def check_rank(self, rank):
        if rank != 5:
            raise ValueError(f"expected ndim=5, found ndim={rank}")

    def shape(self, channels):
        return [3, 3, 3, channels, self.units]

    def product(self, x):
        return tf.nn.conv3d(x, self.weights, [1] * 5, "SAME")


class Conv3DTranspose(Conv3D):
    """A transposed 3 x 3 x 3 convolution, which doubles each side of a volume.

    `keras.layers.Conv3DTranspose` pads by "valid" and has no activation by default; its
    variables have other names.
    """

    def shape(self, channels):
        return [3, 3, 3, self.units, channels]

    def product(self, x):
        n, *sides, _ = tf.unstack(tf.shape(x))
        shape = tf.stack([n, *(2 * side for side in sides), self.units])
        return tf.nn.conv3d_transpose(x, self.weights, shape, [1, 2, 2, 2, 1], "SAME")


class Volumes(tf.Module):
    """3-D convolution, max and mean pooling, and a transposed 3-D convolution.

    A call takes [batch, depth, height, width, channels] floats of even sizes and
    returns [batch, depth, height, width, filters[1]].

    Args:
        filters: list of the two numbers of channels.
        name: scope of the variables `Conv/…` and `Conv3d_transpose/…`.
    """

    def __init__(self, filters, name):
        super().__init__()
        self.smaller = Conv3D(f"{name}/Conv", filters[0])
        self.larger = Conv3DTranspose(f"{name}/Conv3d_transpose", filters[1])

    def __call__(self, x):
        x = self.smaller(x)
        pools = tf.nn.max_pool3d, tf.nn.avg_pool3d
        return self.larger(tf.concat([pool(x, 2, 2, "VALID") for pool in pools], 4))


def sample(images, places):
    """Samples images bilinearly at given places, as a spatial transformer does."""
    places = tf.reverse(places, [-1])  # rows first, as the images are
    sizes = tf.shape(images)[1:3]
    near = (places > -1) & (places < tf.cast(sizes, places.dtype))
    places = tf.where(tf.reduce_all(near, -1, keepdims=True), places, -2)
    floors = tf.floor(places)
    upper = (
        floors + 1 - places
    )  # the share of the pixels above, and of the pixels at left
    lower = 1 - upper
    floors = tf.cast(floors, tf.int32)

    def corner(down, right):
        at = floors + [down, right]
        inside = tf.reduce_all((at >= 0) & (at < sizes), -1, keepdims=True)
        pixels = tf.gather_nd(images, tf.clip_by_value(at, 0, sizes - 1), batch_dims=1)
        rows, columns = [
            (lower if moved else upper)[..., axis, tf.newaxis]
            for axis, moved in enumerate((down, right))
        ]
        return columns * rows * tf.where(inside, pixels, tf.zeros_like(pixels))

    return corner(0, 0) + corner(1, 1) + corner(1, 0) + corner(0, 1)


def interpolate_spline(points, values, queries, order=2, regularization_weight=0.0):
    """Interpolates between scattered points by a polyharmonic spline."""
    n, count, dimensions = tf.unstack(tf.shape(points))
    # A sum of radial functions, one at each point, and a plane. The weights of the
    # functions are orthogonal to all planes.
    bumps = spline(squared_distances(points, points), order)
    if regularization_weight > 0:
        bumps += regularization_weight * tf.eye(count, dtype=points.dtype)
    plane = with_ones(points)
    zeros = tf.zeros([n, dimensions + 1, dimensions + 1], points.dtype)
    left = tf.concat([bumps, tf.linalg.matrix_transpose(plane)], 1)
    matrix = tf.concat([left, tf.concat([plane, zeros], 1)], 2)
    zeros = tf.zeros([n, dimensions + 1, tf.shape(values)[2]], points.dtype)
    weights = tf.linalg.solve(matrix, tf.concat([values, zeros], 1))
    bumps = spline(squared_distances(queries, points), order)
    return bumps @ weights[:, :count] + with_ones(queries) @ weights[:, count:]


def squared_distances(x, y):
    x_norms, y_norms = [tf.reduce_sum(tf.square(z), 2) for z in (x, y)]
    products = tf.matmul(x, y, transpose_b=True)
    return x_norms[:, :, tf.newaxis] - 2 * products + y_norms[:, tf.newaxis]


def with_ones(x):
    return tf.concat([x, tf.ones_like(x[..., :1])], 2)


def spline(squared, order):
    """Computes distance ** order, times log(distance) for even orders."""
    above = tf.maximum(squared, 1e-10)
    if order == 1:
        return tf.sqrt(above)
    if order == 2:
        return 0.5 * squared * tf.math.log(above)
    if order == 4:
        return 0.5 * tf.square(squared) * tf.math.log(above)
    power = tf.pow(above, 0.5 * order)
    return power if order % 2 else 0.5 * power * tf.math.log(above)


def warp_at_points(images, source, target, boundary=0):
    """Warps images so that source points move to target points, as in SpecAugment."""
    n, height, width, _ = images.shape
    flow = target - source
    if boundary > 0:
        held = of_each(border(height, width, boundary + 1), n, target.dtype)
        target = tf.concat([target, held], 1)
        flow = tf.concat([flow, tf.zeros_like(held)], 1)
    pixels = np.stack(np.meshgrid(range(height), range(width), indexing="ij"), -1)
    pixels = of_each(pixels.reshape(-1, 2), n, images.dtype)
    flow = interpolate_spline(target, flow, pixels)
    return dense_image_warp(images, tf.reshape(flow, [n, height, width, 2]))


def of_each(places, n, dtype):
    return tf.tile(tf.constant(places, dtype)[tf.newaxis], [n, 1, 1])


def border(height, width, count):
    """Returns rows and columns of `count` points along each edge, [points, 2]."""
    rows, columns = [np.linspace(0, size - 1, count) for size in (height, width)]
    grid = np.stack(np.meshgrid(rows, columns, indexing="ij"), -1)
    outer = np.ones([count, count], bool)
    outer[1:-1, 1:-1] = False
    return grid[outer]


def label_components(masks):
    """Labels the connected components of masks (4 neighbours)."""
    shape = tf.shape(masks)
    numbers = tf.reshape(tf.range(tf.size(masks)), shape)
    nothing = tf.size(masks)
    first = tf.where(masks, numbers, nothing)

    def spread(first, _):
        """Sets all pixels of a number to the smallest number next to any of them."""
        _, height, width = tf.unstack(tf.shape(first))
        padded = tf.pad(first, [[0, 0], [1, 1], [1, 1]], constant_values=nothing)
        around = [
            padded[:, 1 + down : 1 + down + height, 1 + right : 1 + right + width]
            for down, right in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
        ]
        smallest = tf.where(masks, tf.reduce_min(tf.stack(around), 0), nothing)
        smallest, segments = [tf.reshape(x, [-1]) for x in (smallest, first)]
        better = tf.math.unsorted_segment_min(smallest, segments, nothing + 1)
        moved = tf.gather(better, first)
        # Then take the number of the pixel that the number names (pointer jumping):
        # a path of thousands of pixels takes a dozen rounds.
        flat = tf.concat([tf.reshape(moved, [-1]), [nothing]], 0)
        return tf.gather(flat, moved), first

    first, _ = tf.while_loop(
        lambda first, before: tf.reduce_any(first != before),
        spread,
        (first, tf.zeros_like(first) - 1),
    )
    is_first = tf.reshape(tf.cast(first == numbers, tf.int32), [-1])
    counts = tf.cumsum(is_first)
    labels = tf.gather(counts, tf.minimum(first, nothing - 1))
    return tf.where(masks, labels, 0)


def match_greedily(distances, rows, most=-1):
    """Matches rows with columns greedily, the smallest distance first.

    Returns:
        (the column of each row, the row of each column), int32, -1 if unmatched.
        Equal distances are matched by row, then by column, the first one first;
        contrib matches them in an order of its own.
    """
    height, width = tf.unstack(tf.shape(distances))
    rows = tf.where(rows < 0, height, tf.cast(rows, tf.int32))
    few = "There should be at least `rows` rows in distances"
    tf.debugging.assert_greater_equal(height, rows, few)
    counted = tf.range(height)[:, tf.newaxis] < rows
    free = counted & tf.ones_like(distances, tf.bool)
    distances = tf.where(tf.math.is_nan(distances), np.inf, distances)
    most = tf.minimum(tf.minimum(rows, width), most if most > 0 else width)

    def match(i, free, columns, rows):
        # Not tf.argmin: it cannot separate infinite distances from taken places.
        least = tf.reduce_min(tf.where(free, distances, np.inf))
        nearest = tf.reshape(free & (distances <= least), [-1])
        place = tf.argmax(tf.cast(nearest, tf.int32), output_type=tf.int32)
        row, column = place // width, place % width
        at_row, at_column = tf.range(height) == row, tf.range(width) == column
        columns, rows = (
            tf.where(at_row, column, columns),
            tf.where(at_column, row, rows),
        )
        taken = at_row[:, tf.newaxis] | at_column
        return i + 1, free & ~taken, columns, rows

    none = tf.fill([height], -1), tf.fill([width], -1)
    *_, columns, rows = tf.while_loop(lambda i, *_: i < most, match, (0, free, *none))
    return columns, rows
