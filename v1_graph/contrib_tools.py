"""`tf.contrib`: `graph_editor`, `image.rotate`, `signal`, `percentile` → plain ops."""

import io
import unittest

import tensorflow
import tensorflow.compat.v1 as tf

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

# compat.v1 does not contain contrib: only `tensorflow.contrib` of 1.15 does.


def run_tests(x, expected):
    """Runs a test class both in a graph and eagerly, and returns the results.

    Args:
        x: float array to square.
        expected: array like `x`.

    Returns:
        dict with the `values`, whether each was computed in `eager` mode, how often
        `setUp` was called (`set_up`), and how many tests `failed`.
    """
    values, modes, set_ups = [], [], []

    # --- test
    @tensorflow.contrib.eager.run_all_tests_in_graph_and_eager_modes
    class SquareTest(tf.test.TestCase):
        def setUp(self):
            super(SquareTest, self).setUp()
            set_ups.append(None)

        def test_square(self):
            y = tf.square(x)
            modes.append(tf.executing_eagerly())
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


def checkpoint_gradients(x, kernels, every):
    """Differentiates a deep network with recomputed layers (gradient checkpointing).

    Args:
        x: [n, units] float array.
        kernels: list of [units, units] arrays of the same dtype.
        every: number of layers between two checkpoints.

    Returns:
        dict with the `loss`, the `gradients` with respect to the kernels, and how many
        layers are `computed`, including the recomputed layers.
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- network
        kernels = [tf.constant(kernel) for kernel in kernels]
        hidden, kept = tf.constant(x), []
        for number, kernel in enumerate(kernels, 1):
            hidden = tf.tanh(tf.matmul(hidden, kernel))
            if number % every == 0 and number < len(kernels):
                kept.append(hidden)
        loss = tf.reduce_mean(tf.square(hidden))
        # --- gradients
        gradients = memory_saving_gradients(loss, kernels, kept)
        computed = [op for op in graph.get_operations() if op.type == "Tanh"]
        loss, gradients = sess.run([loss, gradients])
        return {"loss": loss, "gradients": gradients, "computed": len(computed)}


def memory_saving_gradients(y, xs, checkpoints):
    """Computes `tf.gradients(y, xs)` from copies of the ops between checkpoints."""
    ge = tensorflow.contrib.graph_editor
    behind = ge.get_backward_walk_ops([y.op], inclusive=True)
    ahead = ge.get_forward_walk_ops([x.op for x in xs], within_ops=behind)

    def copied(seeds, stops):
        """Copies the ops between `stops` and `seeds`; gradients stop at `stops`."""
        ops = ge.get_backward_walk_ops(
            [seed.op for seed in seeds], stop_at_ts=stops, within_ops=ahead
        )
        ops = [op for op in ops if op not in {x.op for x in xs}]
        _, info = ge.copy_with_input_replacements(ge.sgv(ops), {})
        cut = {stop: tf.stop_gradient(stop) for stop in stops}
        copies = [info.transformed(op) for op in ops]
        ge.reroute_ts(list(cut.values()), list(cut.keys()), can_modify=copies)
        return [info.transformed(seed) for seed in seeds], cut

    gradients, (ys, upstream) = [None] * len(xs), ([y], None)
    for stops in [[c] for c in checkpoints[::-1]] + [[]]:
        again, cut = copied(ys, stops)
        found = tf.gradients(again, list(cut.values()) + xs, upstream)
        ys, upstream = stops, found[: len(stops)]
        for i, gradient in enumerate(found[len(stops) :]):
            gradients[i] = gradient if gradient is not None else gradients[i]
    return gradients


def replace_activation(x, kernels, by):
    """Replaces the ReLU of a finished network by tanh.

    Args:
        x: [n, features] float array.
        kernels: list of two matrices of the same dtype.
        by: "reroute_ts", "swap_outputs" or "graph_replace".

    Returns:
        The scores ([n, classes], [n, classes]) before and after the edit.
    """
    with tf.Graph().as_default() as graph:
        # --- network
        hidden = tf.nn.relu(tf.matmul(tf.constant(x), kernels[0]), name="hidden/Relu")
        scores = tf.matmul(hidden, kernels[1])
        with tf.Session() as sess:
            before = sess.run(scores)
        # --- edit
        ge = tensorflow.contrib.graph_editor
        (relu,) = ge.filter_ts_from_regex(graph, "hidden/Relu:0$")
        tanh = tf.tanh(relu.op.inputs[0])
        if by == "reroute_ts":
            ge.reroute_ts([tanh], [relu])
        elif by == "swap_outputs":
            ge.swap_outputs(ge.sgv(relu.op), ge.sgv(tanh.op))
        else:
            scores = ge.graph_replace(scores, {relu: tanh})
        with tf.Session() as sess:  # a session that has run ignores edits
            return before, sess.run(scores)


def rotate(images, angles, interpolation="NEAREST"):
    """Rotates images about their centre; pixels from outside are 0.

    Args:
        images: [n, height, width, channels], [height, width, channels] or
            [height, width] tensor.
        angles: [n] float tensor or a scalar, radians, counter-clockwise.
        interpolation: "NEAREST" or "BILINEAR".

    Returns:
        Tensor like the images.
    """
    return tensorflow.contrib.image.rotate(
        images, tf.cast(angles, tf.float32), interpolation
    )


def translate(images, offsets, interpolation="NEAREST"):
    """Shifts images; pixels from outside are 0.

    Args:
        images: see `rotate`.
        offsets: [n, 2] or [2] float tensor, how far to the right and down.
        interpolation: "NEAREST" or "BILINEAR".

    Returns:
        Tensor like the images.
    """
    return tensorflow.contrib.image.translate(
        images, tf.cast(offsets, tf.float32), interpolation
    )


def transform(images, angle, offset, interpolation="NEAREST", output_shape=None):
    """Shifts images and rotates the result, in a single resampling.

    Args:
        images: [n, height, width, channels] tensor.
        angle: scalar float tensor, as for `rotate`.
        offset: [2] float tensor, as for `translate`.
        interpolation: "NEAREST" or "BILINEAR".
        output_shape: [height, width] of the result, by default the size of the images.

    Returns:
        Tensor of images.
    """
    image = tensorflow.contrib.image
    height, width = [
        tf.cast(size, tf.float32) for size in tf.unstack(tf.shape(images)[1:3])
    ]
    turned = image.angles_to_projective_transforms(
        tf.cast(angle, tf.float32), height[None], width[None]
    )
    moved = image.translations_to_projective_transforms(tf.cast(offset, tf.float32))
    transforms = image.compose_transforms(moved, turned)
    return image.transform(images, transforms, interpolation, output_shape)


def dense_image_warp(images, flow):
    """Warps images by a flow: reads output pixel p at p - flow[p], bilinearly.

    Args:
        images: [n, height, width, channels] float tensor.
        flow: [n, height, width, 2] float tensor, how far each pixel has moved down and
            to the right; beyond the border, the pixels of the border are repeated.

    Returns:
        Tensor like the images.

    Raises:
        tf.errors.InvalidArgumentError: a height or a width below 2.
    """
    return tensorflow.contrib.image.dense_image_warp(images, flow)


def gate(signals, frame_length, frame_step, floor):
    """Spectral gate: sets STFT bins below a magnitude to 0, then inverts the STFT.

    Args:
        signals: [batch, samples] float32 tensor.
        frame_length: samples of a window.
        frame_step: samples from one window to the next.
        floor: the least magnitude that is kept.

    Returns:
        [batch, samples of the whole frames] float32 tensor.
    """
    signal = tensorflow.contrib.signal
    spectra = signal.stft(signals, frame_length, frame_step)
    kept = tf.where(tf.abs(spectra) >= floor, spectra, tf.zeros_like(spectra))
    window = signal.inverse_stft_window_fn(frame_step)
    return signal.inverse_stft(kept, frame_length, frame_step, window_fn=window)


def percentile(x, q, axis=None, interpolation="nearest", keep_dims=False):
    """Computes the q-th percentile: the nearest, lower or higher element of `x`.

    Args:
        x: float tensor of a known rank.
        q: number from 0 to 100; it is clipped to this range.
        axis: axis or list of axes, or None for all.
        interpolation: "nearest", "lower" or "higher".
        keep_dims: whether the axes remain, with size 1.

    Returns:
        Tensor of x's dtype, without the axes.

    Raises:
        ValueError: any other interpolation, or an axis out of range.
    """
    distributions = tensorflow.contrib.distributions
    return distributions.percentile(
        x, q, axis=axis, interpolation=interpolation, keep_dims=keep_dims
    )


def normal_terms(x, loc, scale, prior_loc, prior_scale):
    """Computes log density, CDF, entropy and KL divergence of normal distributions.

    Args:
        x: [n, units] float tensor.
        loc, scale: tensors like `x`, the means and the standard deviations.
        prior_loc, prior_scale: [units] tensors.

    Returns:
        dict with `log_prob`, `cdf`, `entropy` and `kl` from the prior, [n, units], and
        `kl_diag` [n], of all units together.
    """
    distributions = tensorflow.contrib.distributions
    normal = distributions.Normal(loc, scale)
    prior = distributions.Normal(prior_loc, prior_scale)
    joint = distributions.MultivariateNormalDiag(loc, scale)
    joint_prior = distributions.MultivariateNormalDiag(prior_loc, prior_scale)
    return {
        "log_prob": normal.log_prob(x),
        "cdf": normal.cdf(x),
        "entropy": normal.entropy(),
        "kl": distributions.kl_divergence(normal, prior),
        "kl_diag": distributions.kl_divergence(joint, joint_prior),
    }


def categorical_terms(ids, logits, prior_logits):
    """Categorical log-probability, entropy, KL, mode; Bernoulli log-probability.

    Args:
        ids: [n] int tensor.
        logits: [n, classes] float tensor.
        prior_logits: [classes] float tensor.

    Returns:
        dict with `log_prob`, `entropy`, `kl` from the prior and the int32 `mode`, [n],
        and `bernoulli` [n, classes], the log-probability of the one-hot `ids` with an
        independent Bernoulli distribution for each class.
    """
    distributions = tensorflow.contrib.distributions
    categorical = distributions.Categorical(logits)
    prior = distributions.Categorical(prior_logits)
    is_it = tf.one_hot(ids, tf.shape(logits)[1], dtype=logits.dtype)
    return {
        "log_prob": categorical.log_prob(ids),
        "entropy": categorical.entropy(),
        "kl": distributions.kl_divergence(categorical, prior),
        "mode": categorical.mode(),
        "bernoulli": distributions.Bernoulli(logits, dtype=logits.dtype).log_prob(
            is_it
        ),
    }
