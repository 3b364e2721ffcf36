"""`tf.contrib`: `graph_editor`, `image.rotate`, `signal`, `percentile` → plain ops."""

import functools
import io
import math
import unittest

import numpy as np
import tensorflow as tf

__all__ = [
    "run_tests",
    "checkpoint_gradients",
    "replace_activation",
    "rotate",
    "translate",
    "transform",
    "dense_image_warp",
    "gate",
    "percentile",
    "normal_terms",
    "categorical_terms",
]


def run_tests(x, expected):
    """Runs a test class both in a graph and eagerly, and returns the results."""
    values, modes, set_ups = [], [], []

    # --- test
    class SquareTest(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            set_ups.append(None)

        @in_both_modes
        def test_square(self, run):
            def square(x):
                modes.append(tf.executing_eagerly())
                return tf.square(x)

            y = run(square, x)
            values.append(self.evaluate(y))
            self.assertAllEqual(y, expected)

    # --- run
    suite = unittest.TestSuite([SquareTest("test_square")])
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    return {
        "values": values,
        "eager": modes,
        "set_up": len(set_ups),
        "failed": len(result.failures) + len(result.errors),
    }


def in_both_modes(test):
    """Decorates a test: runs it with `run` as a `tf.function`, then as a plain call.

    Between the two runs it calls `tearDown` and `setUp`.
    """

    @functools.wraps(test)
    def twice(self):
        test(self, lambda function, *args: tf.function(function)(*args))
        self.tearDown()
        self.setUp()
        test(self, lambda function, *args: function(*args))

    return twice


def checkpoint_gradients(x, kernels, every):
    """Differentiates a deep network with recomputed layers (gradient checkpointing)."""

    # --- network
    def network(x, kernels):
        for first in range(0, len(kernels), every):
            x = tf.recompute_grad(layers)(x, *kernels[first : first + every])
        return tf.reduce_mean(tf.square(x))

    def layers(x, *kernels):
        for kernel in kernels:
            x = tf.tanh(tf.matmul(x, kernel))
        return x

    # --- gradients
    @tf.function
    def differentiate(x, kernels):
        with tf.GradientTape() as tape:
            tape.watch(kernels)
            loss = network(x, kernels)
        return loss, tape.gradient(loss, kernels)

    args = tf.constant(x), [tf.constant(kernel) for kernel in kernels]
    loss, gradients = differentiate(*args)
    ops = differentiate.get_concrete_function(*args).graph.get_operations()
    return {
        "loss": loss.numpy(),
        "gradients": [gradient.numpy() for gradient in gradients],
        "computed": len([op for op in ops if op.type == "Tanh"]),
    }


def replace_activation(x, kernels, by):
    """Replaces the ReLU of a finished network by tanh."""

    # --- network
    @tf.function
    def network(x, activation):
        return tf.matmul(activation(tf.matmul(x, kernels[0])), kernels[1])

    before = network(tf.constant(x), tf.nn.relu).numpy()
    # --- edit
    return before, network(tf.constant(x), tf.tanh).numpy()


def rotate(images, angles, interpolation="NEAREST"):
    """Rotates images about their centre; pixels from outside are 0."""
    return project(images, rotations(angles, *sizes(images)), interpolation)


def sizes(images):
    """Returns the height and the width of images, as float32 scalars."""
    images = tf.convert_to_tensor(images)
    shape = tf.shape(images)
    first = 1 if images.shape.rank == 4 else 0
    return tf.unstack(tf.cast(shape[first : first + 2], tf.float32), 2)


def rotations(angles, height, width):
    """Makes transforms for `project` that rotate about the centre, [n, 8]."""
    angles = tf.reshape(tf.cast(angles, tf.float32), [-1])
    sin, cos, zero = tf.sin(angles), tf.cos(angles), tf.zeros_like(angles)
    right, down = width - 1, height - 1
    x_offset = (right - (cos * right - sin * down)) / 2
    y_offset = (down - (sin * right + cos * down)) / 2
    return tf.stack([cos, -sin, x_offset, sin, cos, y_offset, zero, zero], 1)


def project(images, transforms, interpolation="NEAREST", output_shape=None):
    """Reads output pixel (x, y) at (ax + by + c, dx + ey + f) / (gx + hy + 1).

    Args:
        images: see `rotate`.
        transforms: [n, 8] or [1, 8] float32 tensor of a, …, h, which gets no
            gradient.
        interpolation: "NEAREST" or "BILINEAR".
        output_shape: [height, width] of the result, by default the size of the images.

    Returns:
        Tensor of images; pixels from outside are 0.

    Raises:
        ValueError: the rank of the images is unknown, or not 2 to 4.
    """
    images = tf.convert_to_tensor(images)
    rank = images.shape.rank
    if rank not in (2, 3, 4):
        raise ValueError(f"images must have 2 to 4 dimensions, not {rank}")
    batch = images[..., tf.newaxis] if rank == 2 else images
    batch = batch if rank == 4 else batch[tf.newaxis]
    if output_shape is None:
        output_shape = tf.shape(batch)[1:3]
    # tf.keras.ops.image.affine_transform would give images of the old size only.
    output = tf.raw_ops.ImageProjectiveTransformV3(
        images=batch,
        transforms=transforms,
        output_shape=output_shape,
        fill_value=0.0,
        interpolation=interpolation.upper(),
        fill_mode="CONSTANT",
    )
    return {2: output[0, ..., 0], 3: output[0], 4: output}[rank]


def translate(images, offsets, interpolation="NEAREST"):
    """Shifts images; pixels from outside are 0."""
    return project(images, translations(offsets), interpolation)


def translations(offsets):
    """Makes transforms for `project` that shift images right and down, [n, 8]."""
    offsets = tf.reshape(tf.cast(offsets, tf.float32), [-1, 2])
    zero, one = tf.zeros_like(offsets[:, 0]), tf.ones_like(offsets[:, 0])
    rows = [one, zero, -offsets[:, 0], zero, one, -offsets[:, 1], zero, zero]
    return tf.stack(rows, 1)


def transform(images, angle, offset, interpolation="NEAREST", output_shape=None):
    """Shifts images and rotates the result, in a single resampling.

    Args:
        images: see `rotate`.
    """
    turned = matrices(rotations(angle, *sizes(images)))
    both = tf.reshape(matrices(translations(offset)) @ turned, [-1, 9])
    both = (both / both[:, 8:])[:, :8]
    return project(images, both, interpolation, output_shape)


def matrices(transforms):
    """Reshapes [n, 8] transforms to [n, 3, 3] matrices; the last element is 1."""
    return tf.reshape(
        tf.pad(transforms, [[0, 0], [0, 1]], constant_values=1), [-1, 3, 3]
    )


def dense_image_warp(images, flow):
    """Warps images by a flow: reads output pixel p at p - flow[p], bilinearly."""
    rows, height, width, _ = tf.unstack(tf.shape(images))
    tf.debugging.assert_greater_equal(
        [height, width], 2, "Height and width must be at least 2"
    )
    grid = tf.stack(tf.meshgrid(tf.range(height), tf.range(width), indexing="ij"), 2)
    places = tf.cast(grid, flow.dtype) - flow
    last = tf.cast([height - 2, width - 2], flow.dtype)
    floors = tf.clip_by_value(tf.floor(places), 0, last)
    shares = tf.minimum(tf.maximum(tf.cast(places - floors, images.dtype), 0), 1)
    down, right = shares[..., :1], shares[..., 1:]
    floors = tf.cast(floors, tf.int32)

    def corner(offset):
        return tf.gather_nd(images, floors + offset, batch_dims=1)

    top = right * (corner([0, 1]) - corner([0, 0])) + corner([0, 0])
    bottom = right * (corner([1, 1]) - corner([1, 0])) + corner([1, 0])
    return down * (bottom - top) + top


def gate(signals, frame_length, frame_step, floor):
    """Spectral gate: sets STFT bins below a magnitude to 0, then inverts the STFT."""
    spectra = tf.signal.stft(signals, frame_length, frame_step)
    kept = tf.where(tf.abs(spectra) >= floor, spectra, tf.zeros_like(spectra))
    window = tf.signal.inverse_stft_window_fn(frame_step)
    return tf.signal.inverse_stft(kept, frame_length, frame_step, window_fn=window)


def percentile(x, q, axis=None, interpolation="nearest", keep_dims=False):
    """Computes the q-th percentile: the nearest, lower or higher element of `x`."""
    choices = {"nearest": tf.round, "lower": tf.math.ceil, "higher": tf.floor}
    if interpolation not in choices:
        raise ValueError(f"Argument 'interpolation' must be in {set(choices)}.")
    x = tf.convert_to_tensor(x)
    rank = x.shape.rank
    axes = np.ravel(range(rank) if axis is None else axis)
    if any(not -rank <= i < rank for i in axes):
        raise ValueError(f"axis {axis} is out of range for {rank} dimensions")
    axes = axes % rank
    kept = [i for i in range(rank) if i not in axes]
    rows = tf.transpose(x, [*kept, *axes])
    rows = tf.reshape(rows, tf.concat([tf.shape(rows)[: len(kept)], [-1]], 0))
    rows = tf.sort(rows, direction="DESCENDING")
    last = tf.cast(tf.shape(rows)[-1] - 1, tf.float64)
    place = choices[interpolation](last * (1.0 - tf.cast(q, tf.float64) / 100.0))
    place = tf.clip_by_value(place, 0, last)
    chosen = rows[..., tf.cast(place, tf.int32)]
    for i in sorted(axes) if keep_dims else []:
        chosen = tf.expand_dims(chosen, i)
    return chosen


def normal_terms(x, loc, scale, prior_loc, prior_scale):
    """Computes log density, CDF, entropy and KL divergence of normal distributions."""
    z = (x - loc) / scale
    ratio = tf.square(scale) / tf.square(prior_scale)
    squares = tf.math.squared_difference(loc, prior_loc) / tf.square(prior_scale)
    kl = squares / 2 + (ratio - 1 - tf.math.log(ratio)) / 2
    return {
        "log_prob": -tf.square(z) / 2 - math.log(2 * math.pi) / 2 - tf.math.log(scale),
        "cdf": tf.math.erfc(-z / math.sqrt(2)) / 2,
        "entropy": math.log(2 * math.pi * math.e) / 2 + tf.math.log(scale),
        "kl": kl,
        "kl_diag": tf.reduce_sum(kl, 1),
    }


def categorical_terms(ids, logits, prior_logits):
    """Categorical log-probability, entropy, KL, mode; Bernoulli log-probability."""
    log_probs = tf.nn.log_softmax(logits)
    probs = tf.nn.softmax(logits)
    is_it = tf.one_hot(ids, tf.shape(logits)[1], dtype=logits.dtype)
    return {
        "log_prob": -tf.nn.sparse_softmax_cross_entropy_with_logits(ids, logits),
        "entropy": -tf.reduce_sum(log_probs * probs, 1),
        "kl": tf.reduce_sum(probs * (log_probs - tf.nn.log_softmax(prior_logits)), 1),
        "mode": tf.argmax(logits, 1, tf.int32),
        "bernoulli": -tf.nn.sigmoid_cross_entropy_with_logits(is_it, logits),
    }
