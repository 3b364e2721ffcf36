import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, ONCE
from tf1to2.parity import FalseFriend, Op, Program, Raises, integers, normal, uniform
from v1_graph import contrib_tools as v1
from v2_eager import contrib_tools as v2

RNG = np.random.RandomState(0)
PICTURES = uniform("n", 9, 11, 3)
PICTURE = uniform(64, 48)
ANGLES = uniform("n", low=-3, high=3)
NO_XLA = {"xla": "it compiles no projection"}
SIZES = [{"n": 2}, {"n": 67}]
KERNELS = [RNG.normal(0, 0.3, [16, 16]).astype("f") for _ in range(7)]
ROWS = RNG.normal(size=[67, 16]).astype("f")
SOUNDS = np.random.RandomState(1).normal(size=[4, 1031]).astype("f")
WINDOWS = {**ONCE, "xla": "sizes of frames are numbers"}
BELOW = [normal(67, 31)]


def same_window(signals, frame_length, frame_step, floor):
    """Calls `inverse_stft` with its default window."""
    spectra = tf.signal.stft(signals, frame_length, frame_step)
    kept = tf.where(tf.abs(spectra) >= floor, spectra, tf.zeros_like(spectra))
    return tf.signal.inverse_stft(kept, frame_length, frame_step)


def clockwise(images, angles):
    return v2.rotate(images, -angles)


def about_the_corner(images, angles):
    """Makes rotation matrices without offsets: about the top-left corner."""
    matrices = v2.rotations(angles, 1.0, 1.0)
    return v2.project(images, matrices)


def by_roll(images, offsets):
    """Calls `tf.roll`: pixels that leave on one side come in on the other."""
    right, down = (int(offset) for offset in offsets)
    return tf.roll(images, [down, right], [-3, -2])


def the_other_way(images, angle, offset):
    """Rotates first, then shifts."""
    return v2.translate(v2.rotate(images, angle), offset)


def forwards(images, flow):
    return v2.dense_image_warp(images, -flow)


def between(x, q):
    """Calls `np.percentile` with its default, linear interpolation."""
    return tf.constant(np.percentile(x, q), x.dtype)


def the_other_kl(x, loc, scale, prior_loc, prior_scale):
    answer = v2.normal_terms(x, loc, scale, prior_loc, prior_scale)
    back = v2.normal_terms(x, prior_loc, prior_scale, loc, scale)
    return {**answer, "kl": back["kl"], "kl_diag": back["kl_diag"]}


def of_probabilities(ids, logits, prior_logits):
    return v2.categorical_terms(ids, tf.nn.softmax(logits), prior_logits)


def relu_as_it_was(x, kernels, by):
    before, _ = v2.replace_activation(x, kernels, by)
    return before, before


def op(name, slug, args, kwargs=(), skip=(), cls=Op, **options):
    skip = {**CONTRIB, **dict(skip)}
    options.setdefault("sizes", SIZES)
    return cls(name, slug, args, dict(kwargs), skip=skip, **options)


def moved(name, *args, **options):
    """Makes a case whose matrices are float32 for images of every dtype."""
    return op(name, *args, float32=True, **options)


def friend(name, slug, args, naive, because, skip=EAGER, **options):
    more = {"naive": naive, "because": because, "cls": FalseFriend}
    return op(name, slug, args, (), skip, **more, **options)


NORMALS = [
    normal("n", 5),
    normal("n", 5),
    uniform("n", 5, low=0.5, high=2),
    normal(5),
    uniform(5, low=0.5, high=2),
]
CLASSES = [integers("n", high=7), normal("n", 7), normal(7)]
WARPED = [uniform("n", 6, 8, 2), normal("n", 6, 8, 2, scale=2)]
MATRICES = [ROWS, [KERNELS[0], RNG.normal(size=[16, 3]).astype("f")]]

CASES = [
    Program(
        "run_tests",
        "a test that passes",
        [np.float32([1.5, 2]), np.float32([2.25, 4])],
        expect={
            "values": [[2.25, 4]] * 2,
            "eager": [False, True],
            "set_up": 2,
            "failed": 0,
        },
        skip={**CONTRIB, "eager": "functions would run eagerly, too"},
    ),
    Program(
        "run_tests",
        "a test that fails",
        [np.float32([1.5, 2]), np.float32([2, 4])],
        expect={"values": [[2.25, 4]], "eager": [False], "set_up": 1, "failed": 1},
        skip={**CONTRIB, "eager": "functions would run eagerly, too"},
    ),
    Program(
        "checkpoint_gradients", "every second", [ROWS, KERNELS[:6], 2], skip=CONTRIB
    ),
    Program("checkpoint_gradients", "a shorter end", [ROWS, KERNELS, 3], skip=CONTRIB),
    *(
        Program("replace_activation", by, [*MATRICES, by], skip=CONTRIB, traces=2)
        for by in ("reroute_ts", "swap_outputs", "graph_replace")
    ),
    FalseFriend(
        "replace_activation",
        "the session that has run",
        [*MATRICES, "reroute_ts"],
        of="program",
        naive=relu_as_it_was,
        because="a session that has run a node does not see that it was edited",
        skip=CONTRIB,
        traces=2,
    ),
    moved("rotate", "each by its angle", [PICTURES, ANGLES], skip=NO_XLA),
    moved(
        "rotate",
        "between pixels",
        [PICTURES, ANGLES],
        {"interpolation": "BILINEAR"},
        NO_XLA,
    ),
    moved("rotate", "one of two dimensions", [PICTURE, np.float32(0.7)], skip=ONCE),
    friend(
        "rotate",
        "with the clock",
        [PICTURES, ANGLES],
        clockwise,
        "angles go against the clock",
        float32=True,
    ),
    friend(
        "rotate",
        "about the corner",
        [PICTURES, ANGLES],
        about_the_corner,
        "the middle stays where it is",
        float32=True,
    ),
    op(
        "translate",
        "each by its offset",
        [PICTURES, normal("n", 2, scale=3)],
        {"interpolation": "BILINEAR"},
        NO_XLA,
    ),
    op("translate", "whole pixels", [PICTURES, np.float32([2, -1])], skip=ONCE),
    friend(
        "translate",
        "by tf.roll",
        [PICTURES, np.float32([2, -1])],
        by_roll,
        "what comes from outside is 0",
    ),
    moved(
        "transform",
        "at once",
        [PICTURES, np.float32(0.4), np.float32([1.5, -0.75])],
        {"interpolation": "BILINEAR"},
        NO_XLA,
    ),
    moved(
        "transform",
        "a smaller result",
        [PICTURES, np.float32(0.4), np.float32([1.5, -0.75])],
        {"output_shape": [5, 4]},
        ONCE,
    ),
    friend(
        "transform",
        "the other way round",
        [PICTURES, np.float32(0.4), np.float32([1.5, -0.75])],
        the_other_way,
        "transforms are applied in the order of the arguments",
        float32=True,
    ),
    op("dense_image_warp", "beyond the border, too", WARPED),
    friend(
        "dense_image_warp",
        "forwards",
        WARPED,
        forwards,
        "a flow says where a pixel has come from, with its sign",
    ),
    op("gate", "sounds", [SOUNDS, 64, 16, 2.0], skip=WINDOWS, float32=True),
    friend(
        "gate",
        "the same window twice",
        [SOUNDS, 64, 16, 2.0],
        same_window,
        "windows that overlap add up to another size",
        skip=WINDOWS,
        float32=True,
    ),
    op("percentile", "of all", [*BELOW, 30.0], skip={"xla": "q is a number"}),
    op("percentile", "the median of columns", [*BELOW, 50.0], {"axis": 0}, ONCE),
    op(
        "percentile",
        "lower, the axes kept",
        [normal("n", 5, 31), 30.0],
        {"axis": [0, -1], "interpolation": "lower", "keep_dims": True},
        {"xla": "q is a number"},
    ),
    op(
        "percentile",
        "higher",
        [*BELOW, 30.0],
        {"axis": -1, "interpolation": "higher"},
        ONCE,
    ),
    op("percentile", "more than all", [*BELOW, 130.0], {"axis": 0}, ONCE),
    op("percentile", "less than none", [*BELOW, -30.0], {"axis": 0}, ONCE),
    friend(
        "percentile",
        "np.percentile",
        [*BELOW, 30.0],
        between,
        "it is the nearest element, NumPy goes between two",
    ),
    op("normal_terms", "of a batch", NORMALS),
    friend(
        "normal_terms",
        "the divergence of the prior",
        NORMALS,
        the_other_kl,
        "kl_divergence(a, b) is the mean under a",
    ),
    op("categorical_terms", "of a batch", CLASSES),
    friend(
        "categorical_terms",
        "probabilities for logits",
        CLASSES,
        of_probabilities,
        "the first argument of Categorical and Bernoulli is logits",
    ),
    Raises.alike(
        "dense_image_warp",
        "a single row",
        [np.ones([1, 1, 4, 1], "f"), np.ones([1, 1, 4, 2], "f")],
        tf.errors.InvalidArgumentError,
        "must be at least 2",
        skip=CONTRIB,
    ),
    Raises.alike(
        "percentile",
        "linear",
        [np.float32([1, 2, 3, 4]), 30.0, None, "linear"],
        ValueError,
        "'interpolation' must be in",
        skip=CONTRIB,
    ),
    Raises.alike(
        "percentile",
        "an axis that there is not",
        [np.float32([[1, 2], [3, 4]]), 30.0, 2],
        ValueError,
        "dim 2 not in|axis 2 is out of range for",
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribToolsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ImagesTest(unittest.TestCase):
    IMAGES = RNG.uniform(size=[2, 5, 6, 3]).astype("f")

    def test_a_transform_of_one_image_is_that_of_a_batch(self):
        args = 0.4, np.float32([1.5, -0.75]), "BILINEAR"
        (batch,) = v2.transform(tf.constant(self.IMAGES[:1]), *args).numpy()
        one = v2.transform(tf.constant(self.IMAGES[0]), *args)
        np.testing.assert_array_equal(one, batch, strict=True)

    @parameterized.expand(
        [
            ("rotate", np.float32([0.4, -1])),
            ("translate", np.float32([2, -1])),
            ("transform", np.float32(0.4), np.float32([1.5, -0.75])),
            ("percentile", 30.0),
        ]
    )
    def test_arrays_are_taken_as_tensors_are(self, name, *args):
        function = getattr(v2, name)
        expected = function(tf.constant(self.IMAGES), *args).numpy()
        found = function(self.IMAGES, *args).numpy()
        np.testing.assert_array_equal(found, expected, strict=True)

    def test_an_interpolation_may_be_in_small_letters(self):
        large, small = (
            v2.rotate(tf.constant(self.IMAGES), 0.4, name).numpy()
            for name in ("BILINEAR", "bilinear")
        )
        np.testing.assert_array_equal(small, large, strict=True)

    def test_an_axis_far_past_the_last_is_refused(self):
        with self.assertRaisesRegex(ValueError, "axis 3 is out of range for 2"):
            v2.percentile(tf.ones([2, 2]), 30.0, 3)

    def test_the_rank_must_be_known(self):
        with self.assertRaisesRegex(ValueError, "2 to 4 dimensions, not None"):
            tf.function(v2.rotate).get_concrete_function(tf.TensorSpec(None), 0.4)
