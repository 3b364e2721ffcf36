import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, NARROW, friend, layer
from tf1to2.parity import FalseFriend, Op, Raises, booleans, normal, uniform
from v1_graph import contrib_vision as v1
from v2_eager import contrib_vision as v2

RNG = np.random.RandomState(0)
WHILE = tf.while_loop
SIZES = [{"n": 3}, {"n": 67}]
IMAGES = normal("n", 6, 7, 3)
BATCH = normal("b", 6, 7, 3)
PLACES = uniform("n", 5, 4, 2, low=-1.5, high=7.5)
SCATTERED = [normal("n", 9, 2, scale=3), normal("n", 9, 4), normal("n", 20, 2, scale=3)]
FEW = RNG.normal(size=[67, 12, 16, 1]).astype("f")
SOURCE = RNG.uniform(2, 10, [67, 3, 2]).astype("f")
TARGET = (SOURCE + RNG.normal(size=[67, 3, 2])).astype("f")
DISTANCES = RNG.uniform(size=[67, 19]).astype("f")
ALL, SOME = np.float32(-1), np.float32(40)


# --- False friends: obvious replacements that give other numbers.


def columns_first(temperature=None, name="net"):
    """Returns keypoints as (x, y), as other libraries do."""

    class Swapped(v2.SpatialSoftmax):
        def __call__(self, x):
            points = super().__call__(x)
            shape = [-1, x.shape[-1], 2]
            swapped = tf.reverse(tf.reshape(points, shape), [2])
            return tf.reshape(swapped, tf.shape(points))

    return Swapped(1.0 if temperature is None else temperature, name)


def without_a_root(inverse=False, name="net"):
    class Squared(v2.GDN):
        def __call__(self, x):
            return x * tf.square(super().__call__(x) / x)

    return Squared(inverse, f"{name}/gdn")


def rows_first(images, places):
    return v2.sample(images, tf.reverse(places, [-1]))


def back(images, source, target):
    return v2.warp_at_points(images, target, source)


def at_corners_too(masks):
    wide = tf.nn.max_pool2d(tf.cast(masks, tf.float32)[..., tf.newaxis], 2, 1, "SAME")
    return tf.where(masks, v2.label_components(wide[..., 0] > 0), 0)


def nearest_of_each(distances, rows):
    return tf.argmin(distances, 1, tf.int32), tf.argmin(distances, 0, tf.int32)


def op(name, slug, args, kwargs=(), skip=(), cls=Op, **options):
    options.setdefault("sizes", SIZES)
    skip = {**CONTRIB, **dict(skip)}
    return cls(name, slug, args, dict(kwargs), skip=skip, **options)


def other(name, slug, args, naive, because, skip=EAGER, **options):
    more = {"naive": naive, "because": because, "cls": FalseFriend}
    return op(name, slug, args, (), skip, **more, **options)


WHOLE = {"gradient": "its outputs are whole numbers"}
KNOWN = {"dynamic": "contrib, too, wants to know the shape of the images"}
CASES = [
    layer("make_keypoints", "of a batch", [BATCH], float32=True),
    layer(
        "make_keypoints",
        "cool",
        [BATCH],
        {"temperature": 0.25, "name": "arm"},
        float32=True,
    ),
    friend(
        "make_keypoints",
        "columns first",
        [BATCH],
        columns_first,
        "of each channel the row comes first",
        float32=True,
    ),
    layer("make_gdn", "of a batch", [BATCH]),
    layer("make_gdn", "inverse", [BATCH], {"inverse": True, "name": "decoder"}),
    friend(
        "make_gdn",
        "without a root",
        [BATCH],
        without_a_root,
        "it divides by a root",
    ),
    layer("make_in_plane", "of a batch", [BATCH], {"size": [3, 2]}),
    layer(
        "make_in_plane",
        "a stride, no activation",
        [BATCH],
        {"size": [3, 3], "stride": 2, "activation": None, "name": "edges"},
    ),
    layer(
        "make_volumes",
        "of a batch",
        [normal("b", 4, 6, 4, 2)],
        {"filters": [3, 2]},
        NARROW,
        float32=True,
    ),
    op("sample", "within and beyond", [IMAGES, PLACES]),
    op("sample", "a pixel each", [IMAGES, uniform("n", 2, low=0, high=5)]),
    other(
        "sample",
        "rows first",
        [IMAGES, PLACES],
        rows_first,
        "a place is a column and a row",
    ),
    op("interpolate_spline", "a thin plate", SCATTERED),
    op(
        "interpolate_spline",
        "by distances, smoothed",
        SCATTERED,
        {"order": 1, "regularization_weight": 0.5},
    ),
    op("interpolate_spline", "of order 3", SCATTERED, {"order": 3}),
    Raises.alike(
        "interpolate_spline",
        "a point that is there twice",
        [np.ones([1, 4, 2], "f"), np.ones([1, 4, 1], "f"), np.zeros([1, 1, 2], "f")],
        tf.errors.InvalidArgumentError,
        "not invertible",
        skip=CONTRIB,
    ),
    op("warp_at_points", "of a batch", [FEW, SOURCE, TARGET], (), KNOWN),
    op("warp_at_points", "a border that is held", [FEW, SOURCE, TARGET, 2], (), KNOWN),
    other(
        "warp_at_points",
        "back",
        [FEW, SOURCE, TARGET],
        back,
        "what is at the source comes to the target",
    ),
    op("label_components", "of a batch", [booleans("n", 9, 11)], (), WHOLE),
    other(
        "label_components",
        "corners, too",
        [booleans("n", 9, 11)],
        at_corners_too,
        "corners do not touch",
        {**EAGER, **WHOLE},
    ),
    op("match_greedily", "all", [DISTANCES, ALL], (), WHOLE, exact=True),
    op(
        "match_greedily",
        "some rows, eight matches",
        [DISTANCES, SOME],
        {"most": 8},
        WHOLE,
        exact=True,
    ),
    op(
        "match_greedily",
        "no matches is all of them, and infinity is a distance",
        [np.float32([[1, np.inf], [np.inf, np.inf]]), ALL, 0],
        (),
        WHOLE,
        exact=True,
        expect=([0, 1], [0, 1]),
    ),
    Raises.alike(
        "match_greedily",
        "more rows than there are",
        [DISTANCES[:3], SOME],
        tf.errors.InvalidArgumentError,
        "There should be at least",
        skip=CONTRIB,
    ),
    other(
        "match_greedily",
        "the nearest of each",
        [DISTANCES, ALL],
        nearest_of_each,
        "no row and no column is matched twice",
        {**EAGER, **WHOLE},
        exact=True,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribVisionTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ShapesTest(unittest.TestCase):
    def test_volumes_keep_the_sizes_that_are_known(self):
        spec = tf.TensorSpec([None, 4, 6, None, 2])
        function = tf.function(v2.make_volumes([3, 2]), input_signature=[spec])
        shape = function.get_concrete_function().output_shapes.as_list()
        self.assertEqual(shape, [None, 4, 6, None, 2])


class PrecisionTest(unittest.TestCase):
    def test_a_norm_in_float64_begins_with_what_it_began_with(self):
        layer = v2.make_gdn()
        layer(tf.ones([1, 2, 2, 3], tf.float64))
        # Values of 1.15.5. With 0.1 in float32 gamma would be 0.31622776839….
        self.assertEqual(layer.gamma.numpy()[0, 0], 0.31622776603984654)
        self.assertEqual(layer.beta.numpy()[0], 1.000000000007276)


class ComponentsTest(unittest.TestCase):
    def test_a_long_path_takes_few_rounds(self):
        mask = np.zeros([1, 63, 64], bool)
        mask[0, ::2] = True  # a zigzag path of more than 2,047 pixels
        mask[0, 1::4, -1] = mask[0, 3::4, 0] = True
        rounds = []

        def counted(condition, body, start):
            def step(*state):
                rounds.append(None)
                return body(*state)

            return WHILE(condition, step, start)

        with mock.patch.object(tf, "while_loop", counted):
            labels = v2.label_components(tf.constant(mask)).numpy()
        np.testing.assert_array_equal(labels, mask)
        self.assertLess(len(rounds), 20)
