import base64
import struct
import unittest
import zlib
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Naive, Op, Program, Raises
from tf1to2.parity.arrays import normal, uniform
from tf1to2.parity.v1 import legacy
from v1_graph import images as v1
from v2_eager import images as v2
from v2_keras import images as v3

BATCH = [{"b": 2}, {"b": 67}]
NO_XLA = "XLA has no such kernel"
ONCE = {
    "dynamic": "another case of the pair is proven in this way",
    "xla": "another case of the pair is proven in this way",
    "generated": "another case of the pair is proven in this way",
}
UNREGISTERED = {"gradient": "the kernel has no gradient, then and now"}
FIRST = {k: ONCE[k] for k in ("dynamic", "generated")}
SUMMED = {"gradient": "of several uses, in float32 inside, added in another order"}
FEW = {"generated": "the size of a batch changes nothing"}
FLOAT32 = {"xla": "computed in float32 inside, whose bits are XLA's own"}
RAMP = np.float32([0, 1, 2, 3]).reshape([1, 1, 4, 1])
BYTES = np.random.RandomState(0).randint(0, 256, [2, 5, 6, 3]).astype("uint8")
GRAY = np.uint8([0, 64, 128, 255]).reshape([2, 2, 1])
CORNERS = [[0.0, 0.0, 1.0, 1.0], [0.75, 0.25, 0.25, 0.75], [-0.5, 0.0, 0.5, 1.5]]
BOXES = np.float32(
    [[0, 0, 0.5, 0.5], [0.125, 0, 0.5, 0.5], [0.25, 0.25, 1, 1], [0.5, 0, 1, 0.25]]
)
SCORES = np.float32([0.5, 0.75, 0.25, 0.625])
CLASS_SCORES = np.stack([SCORES, SCORES[::-1] / 2, SCORES - 0.375, SCORES], 1)
CLASS_SCORES = CLASS_SCORES.reshape([2, 4, 2])
DRAWN = np.random.RandomState(64)
FAR, NEAR = DRAWN.uniform(0, 0.7, [2, 150, 2]), DRAWN.uniform(0.1, 0.3, [2, 150, 2])
MANY = np.concatenate([FAR, FAR + NEAR], -1).astype("f")
JPEG = base64.b64decode(
    """
    /9j/4AAQSkZJRgABAQEBLAEsAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNi
    UFVtVkVGZIhlbXd7gYKBTmCNl4x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8
    fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/wAARCAAUABgDASIAAhEBAxEB/8QAGAABAQEBAQAA
    AAAAAAAAAAAAAAQDBQb/xAAeEAACAgIDAQEAAAAAAAAAAAAAAwECBBEhMWESQf/EABgBAAIDAAAAAAAAAAAA
    AAAAAAMFAQIG/8QAHREAAgICAwEAAAAAAAAAAAAAAAECAwQREiEiUf/aAAwDAQACEQMRAD8A88rG64K14vha
    nG8Lk4u/wFD2VoydHPVieA7dUVrOtbkEydMXqT7HNeS+Jkldd9Fy6RC/qI5AA0NqttfDIUm6FV3HAAAVLyOo
    N6P/2Q==
    """
)


def png(pixels):
    """Makes the bytes of a PNG file, which do not depend on the version of zlib."""

    def chunk(kind, data):
        checked = kind + data
        crc = struct.pack(">I", zlib.crc32(checked))
        return struct.pack(">I", len(data)) + checked + crc

    height, width, channels = pixels.shape
    kind = {1: 0, 3: 2}[channels]
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", head),
            chunk(b"IDAT", zlib.compress(rows, 0)),
            chunk(b"IEND", b""),
        ]
    )


PHOTO = png(np.random.RandomState(1).randint(0, 256, [16, 20, 3]).astype("uint8"))


def graph_seed_for_the_box(*args, **options):
    """Replaces only the random box of `preprocess`, by the box of `tf.image`."""

    def box(*, image_size, bounding_boxes, seed, seed2, **others):
        return tf.image.sample_distorted_bounding_box(
            image_size, bounding_boxes, seed, **others
        )

    with mock.patch.object(tf.raw_ops, "SampleDistortedBoundingBoxV2", box):
        return v2.preprocess(*args, **options)


def half_pixels(*args):
    """Replaces only the resizing of `preprocess`, by `tf.image.resize`."""

    def resize(images, size, method):
        return tf.image.resize(images, size)

    with mock.patch.object(v2, "_resize", resize):
        return v2.preprocess(*args)


CASES = [
    FalseFriend(
        "resize",
        "a ramp",
        [RAMP, [1, 8]],
        expect=[[[[0], [0.5], [1], [1.5], [2], [2.5], [3], [3]]]],
        skip=ONCE,
        naive=tf.image.resize,
        because="tf.image.resize samples at the centres: 0, 0.25, 0.75, … 2.75, 3",
    ),
    FalseFriend(
        "resize",
        "a smaller ramp, nearest",
        [RAMP, [1, 2], 1],
        expect=[[[[0], [2]]]],
        skip=ONCE,
        naive=lambda images, size, _: tf.image.resize(images, size, "nearest"),
        because="the nearest to the centre is 1 and 3",
    ),
    FalseFriend(
        "resize",
        "a larger ramp, bicubic",
        [RAMP, [1, 8], 2],
        expect=[[[[0], [0.40625], [1], [1.5], [2], [2.59375], [3], [3.09375]]]],
        skip=ONCE,
        naive=lambda images, size, _: tf.image.resize(images, size, "bicubic"),
        because="another place, and the a of Keys is -0.5, where it was -0.75",
    ),
    Op(
        "resize",
        "corners on corners",
        [RAMP, [1, 7], 0, True],
        expect=[[[[0], [0.5], [1], [1.5], [2], [2.5], [3]]]],
        skip=ONCE,
    ),
    Op(
        "resize",
        "bilinear, of any size",
        [normal("b", "h", "w", 2), (3, 7)],
        skip=FLOAT32,
    ),
    Op(
        "resize",
        "bicubic, one image",
        [normal(5, 4, 2), (7, 3), 2],
        skip={"xla": NO_XLA},
    ),
    Op(
        "resize",
        "bicubic, corners on corners",
        [normal("b", 5, 4, 2), (7, 9), 2, True],
        sizes=BATCH,
        skip=ONCE,
    ),
    Op(
        "resize",
        "nearest, corners on corners, to a size that is a tensor",
        [normal("b", 5, 4, 2), np.int32([3, 7]), 1, True],
        sizes=BATCH,
        skip={**ONCE, "xla": "the size is a tensor"},
    ),
    Op(
        "resize",
        "area, corners on corners",
        [normal("b", 5, 4, 2), (3, 3), 3, True],
        sizes=BATCH,
        skip={**FEW, **UNREGISTERED, "xla": NO_XLA},
    ),
    Op("resize", "bytes", [BYTES, (3, 7)], skip=ONCE),
    Op("resize", "bytes, nearest", [BYTES, (3, 7), 1], skip=FIRST),
    Op("resize", "bytes of this size already", [BYTES, (5, 6)], skip=ONCE),
    Op(
        "resize",
        "a ratio kept",
        [normal(5, 4, 2), (3, 9)],
        {"preserve_aspect_ratio": True},
        skip={"xla": "the size is a tensor"},
    ),
    Op(
        "resize",
        "a ratio kept, and the size, but not the bytes",
        [BYTES, (5, 6)],
        {"preserve_aspect_ratio": True},
        skip=ONCE,
    ),
    Op(
        "resize_half_pixel",
        "bilinear",
        [normal("b", 5, 4, 2), (3, 7)],
        sizes=BATCH,
        skip={**FEW, **FLOAT32},
    ),
    Op(
        "resize_half_pixel",
        "bicubic",
        [normal("b", 5, 4, 2), (7, 3), "bicubic"],
        sizes=BATCH,
        skip=ONCE,
    ),
    Op("resize_half_pixel", "nearest", [BYTES, (3, 7), "nearest"], skip=FIRST),
    Op(
        "resize_half_pixel",
        "a ramp",
        [RAMP, (1, 8)],
        expect=[[[[0], [0.25], [0.75], [1.25], [1.75], [2.25], [2.75], [3]]]],
        skip=ONCE,
    ),
    Op(
        "resize_with_pad",
        "wide",
        [normal("b", 4, 8, 2), 6, 6],
        sizes=BATCH,
        skip={**FEW, **FLOAT32},
    ),
    FalseFriend(
        "resize_with_pad",
        "the last row and column",
        [np.ones([32, 32, 1], "f"), 28, 28],
        expect=np.ones([28, 28, 1]),
        skip={
            **ONCE,
            "graph": "compat.v1 computes the sizes in float32 today, and gets 27",
        },
        naive=tf.image.resize_with_pad,
        because="in float32 32 / (32 / 28) is less than 28: it is 27 and a border",
    ),
    Op("resize_with_pad", "bytes, nearest", [BYTES[0], 1, 8, 1], skip=FIRST),
    Op("resize_with_pad", "bytes of this size", [BYTES, 5, 6], skip=ONCE),
    Op(
        "crop_and_pad",
        "smaller and larger",
        [normal("b", 7, 6, 2), 0.625, 5, 4],
        sizes=BATCH,
        skip=FEW,
    ),
    Op("crop_and_pad", "one image", [BYTES[0], 1.0, 2, 6], skip=ONCE),
    Op(
        "turn",
        "once",
        [normal("b", 2, 3, 1)],
        sizes=BATCH,
        skip={**FEW, "xla": "the gradients of what is turned have no shape to add"},
    ),
    Op("turn", "thrice", [BYTES[0], 3], skip=FIRST),
    Op(
        "crop_boxes",
        "bilinear",
        [normal("b", 5, 4, 2), CORNERS, [1, 0, 1], (3, 2)],
        {"extrapolation_value": 0.5},
        sizes=BATCH,
        skip={**FEW, "xla": NO_XLA},
    ),
    Op(
        "crop_boxes",
        "bytes, nearest",
        [BYTES, CORNERS, [0, 0, 1], (2, 5), "nearest"],
        skip={**FIRST, "xla": NO_XLA},
    ),
    Op(
        "patches",
        "overlapping",
        [normal("b", 5, 6, 2), (2, 3)],
        sizes=BATCH,
        skip=FEW,
    ),
    Op(
        "patches",
        "with holes",
        [BYTES, (2, 2), 3, 2, "SAME"],
        skip=ONCE,
    ),
    Op(
        "recolor",
        "floats",
        [uniform("b", 3, 4, 3), 0.125, 1.5, 0.75, 0.25],
        sizes=BATCH,
        skip={**FEW, **UNREGISTERED, **FLOAT32},
    ),
    Op("recolor", "bytes", [BYTES, -0.25, 0.75, 1.5, -0.125, 2.0], skip=FIRST),
    Op(
        "standardize",
        "floats",
        [normal("b", 2, 3, 2)],
        sizes=BATCH,
        float32=True,
        skip=FEW,
    ),
    Op(
        "standardize",
        "all alike, and almost",
        [np.float32([8, 8, 8, 8, 1, 1.125, 1, 1.125]).reshape([2, 2, 2, 1])],
        expect=np.reshape([0, 0, 0, 0, -0.125, 0.125, -0.125, 0.125], [2, 2, 2, 1]),
        skip={**FIRST, **SUMMED},
    ),
    FalseFriend(
        "standardize",
        "bytes",
        [GRAY],
        expect=[[[0], [0]], [[32], [255]]],
        skip={**ONCE, "graph": "compat.v1 answers in float32 today"},
        naive=tf.image.per_image_standardization,
        because="1.15 gave the dtype back, so that only what is far above is not black",
    ),
    Op(
        "standardize",
        "half precision",
        [GRAY.astype("float16")],
        skip={**ONCE, **SUMMED, "graph": "compat.v1 answers in float32 today"},
    ),
    Op(
        "measure",
        "floats",
        [uniform("b", 12, 13, 2), uniform("b", 12, 13, 2), 1.0],
        sizes=[{"b": 2}, {"b": 8}],
        float32=True,
        skip=FEW,
    ),
    Op(
        "best_boxes",
        "three of four",
        [uniform("b", 8, 8, 3), BOXES, SCORES, 3],
        {"iou_threshold": 0.5},
        sizes=BATCH,
        exact=True,
        skip={**FEW, **UNREGISTERED, "xla": NO_XLA},
    ),
    Op(
        "best_of_each",
        "two images",
        [np.stack([BOXES, BOXES[::-1]]), CLASS_SCORES, 5],
        exact=True,
        skip={**UNREGISTERED, "xla": NO_XLA},
    ),
    Op(
        "best_of_each",
        "150 boxes",
        [MANY, DRAWN.uniform(size=[2, 150, 3]).astype("f"), 9],
        {"iou_threshold": 0.25, "score_threshold": 0.5},
        exact=True,
        skip={**FIRST, **UNREGISTERED, "xla": NO_XLA},
    ),
    *[
        Op(
            "decode",
            slug,
            [np.array(contents), channels, method],
            skip={"xla": "strings do not compile", "dynamic": "of one file"},
        )
        for slug, contents, channels, method in [
            ("a PNG", PHOTO, 3, ""),
            ("a gray PNG", png(BYTES[0][:, :, :1]), 0, ""),
            ("a JPEG", JPEG, 3, ""),
            ("a JPEG, accurate", JPEG, 3, "INTEGER_ACCURATE"),
            ("a JPEG, gray", JPEG, 1, ""),
        ]
    ],
    FalseFriend(
        "preprocess",
        "evaluation",
        [PHOTO, 7, False],
        of="program",
        naive=half_pixels,
        because="tf.image.resize samples at the centres",
    ),
    Program("preprocess", "evaluation of a JPEG", [JPEG, 11, False]),
    Program("preprocess", "evaluation in gray", [png(BYTES[0][:, :, :1]), 4, False]),
    FalseFriend(
        "preprocess",
        "training",
        [PHOTO, 7, True],
        {"draws": 3},
        of="program",
        naive=graph_seed_for_the_box,
        because="the seed of the graph was not a seed of the box",
    ),
    Program("preprocess", "training, other seeds", [JPEG, 9, True, 20], {"draws": 4}),
    Raises(
        "resize",
        "a matrix",
        [np.ones([2, 2], "f"), (3, 3)],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="must have either 3 or 4 dimensions",
    ),
    *(
        Raises.alike(
            "resize",
            f"no method {method}",
            [np.ones([2, 2, 1], "f"), (3, 3), method],
            ValueError,
            "method is not implemented",
        )
        for method in (-1, 4)
    ),
    Raises(
        "resize_with_pad",
        "no width",
        [np.ones([2, 2, 1], "f"), 2, 0],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="target_width.*must be > 0",
    ),
    Raises(
        "crop_and_pad",
        "a fraction above 1",
        [np.ones([2, 2, 1], "f"), 1.5, 2, 2],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match=r"must be within \(0, 1\]",
    ),
    Raises(
        "crop_and_pad",
        "a corner that is too large",
        [np.ones([2, 2, 1], "f"), 0.5, 3, 2],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="height must be >= target",
    ),
    Raises(
        "crop_boxes",
        "no such image",
        [BYTES, CORNERS, [0, 2, 1], (2, 2)],
        graph=tf.errors.OutOfRangeError,
        eager=tf.errors.OutOfRangeError,
        function=tf.errors.OutOfRangeError,
        match=r"values outside \[0, ",
    ),
    Raises(
        "measure",
        "shapes that differ",
        [np.ones([1, 2, 2, 1], "f"), np.ones([1, 2, 3, 1], "f"), 1.0, 2],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="must be equal|Incompatible shapes",
    ),
    Raises(
        "recolor",
        "a hue beyond 1",
        [np.ones([2, 2, 3], "f")],
        {"hue": 2.0},
        eager=ValueError,
        match=r"interval \[-1, 1\]",
    ),
    Raises(
        "decode",
        "neither",
        [np.array(b"GIF89a, cut short")],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="(?i)PNG|GIF",
    ),
]
NAIVE = [
    Naive(
        "turn, once",
        "no axis",
        lambda image, k=1: {**v3.turn(image, k), "up_down": keras.ops.flip(image)},
        because="flip mirrors all axes unless it is told, the batch, too",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class ImagesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def distance(a, b):
    """Computes the maximum absolute difference, to three digits."""
    return float(f"{np.abs(np.float64(a) - np.float64(b)).max():.3g}")


class ResizeTest(unittest.TestCase):
    @parameterized.expand([("small", 112), ("large", 224)])
    def test_a_padded_square_has_no_border(self, _, size):
        image = np.ones([32, 32, 1], "f")
        old = v2.resize_with_pad(image, size, size)
        new = tf.image.resize_with_pad(image, size, size)
        np.testing.assert_array_equal(old, np.ones([size, size, 1]))
        self.assertEqual(np.count_nonzero(new), (size - 1) ** 2)

    def test_the_distance_of_a_smooth_image(self):
        y, x = np.mgrid[:300, :400]
        image = (np.sin(x / 20) + np.cos(y / 15)).astype("f")[..., np.newaxis]
        for size, apart in [((75, 100), 0.175), ((600, 800), 0.0292)]:
            old, new = v2.resize(image, size), tf.image.resize(image, size)
            self.assertEqual(distance(old, new), apart)

    def test_area_has_no_centres(self):
        new = tf.image.resize(RAMP, [1, 3], "area")
        np.testing.assert_array_equal(v2.resize(RAMP, [1, 3], 3), new)

    def test_tf_image_does_not_keep_the_dtype_of_images_of_this_size(self):
        self.assertEqual(v2.resize(BYTES, [5, 6]).dtype, tf.uint8)
        self.assertEqual(tf.image.resize(BYTES, [5, 6]).dtype, tf.float32)


class LegacyTest(unittest.TestCase):
    def test_compat_v1_is_no_way_to_the_old_numbers(self):
        with legacy(), tf.compat.v1.Session() as sess:
            padded, bytes_ = sess.run(
                [
                    v1.resize_with_pad(tf.ones([32, 32, 1]), 28, 28),
                    v1.standardize(tf.constant(GRAY)),
                ]
            )
        self.assertEqual(np.count_nonzero(padded), 27**2)
        new = tf.image.per_image_standardization(GRAY)
        np.testing.assert_array_equal(bytes_, new)


class StandardizeTest(unittest.TestCase):
    def test_the_least_deviation_is_of_0_to_1_or_of_0_to_255(self):
        new = tf.image.per_image_standardization(GRAY)
        floats = tf.image.convert_image_dtype(GRAY, tf.float32)
        old = tf.image.per_image_standardization(floats)
        np.testing.assert_array_equal(old, v2.standardize(floats))
        figures = [[f"{x:.2f}" for x in y.numpy().ravel()] for y in (new, old)]
        self.assertEqual(figures[0], ["-1.19", "-0.51", "0.17", "1.52"])
        self.assertEqual(figures[1], ["-0.88", "-0.37", "0.13", "1.12"])


class DecodeTest(unittest.TestCase):
    def test_the_default_of_jpeg_is_fast(self):
        default, fast, accurate = [
            v2.decode(tf.constant(JPEG), 3, method)[0].numpy().astype(int)
            for method in ("", "INTEGER_FAST", "INTEGER_ACCURATE")
        ]
        np.testing.assert_array_equal(default, fast)
        self.assertEqual(distance(fast, accurate), 3)
        self.assertEqual(np.count_nonzero(fast != accurate), 907)
        coarse = tf.io.decode_jpeg(JPEG, 3, fancy_upscaling=False)
        self.assertEqual(distance(fast, coarse), 62)


class PreprocessTest(unittest.TestCase):
    def test_how_far_half_pixels_are(self):
        old, new = [f(JPEG, 11, False)[0] for f in (v2.preprocess, half_pixels)]
        self.assertEqual(distance(old, new), 0.367)

    def test_draws_differ(self):
        first, second = v2.preprocess(PHOTO, 7, True, draws=2)
        self.assertGreater(distance(first, second), 0.5)


class KerasTest(unittest.TestCase):
    @parameterized.expand([("bilinear", 0), ("nearest", 1), ("bicubic", 2)])
    def test_resizing_is_by_half_pixels(self, method, number):
        x = np.random.RandomState(0).standard_normal([2, 5, 4, 2]).astype("f")
        new = v2.resize_half_pixel(x, (3, 7), method)
        layer = tf.keras.layers.Resizing(3, 7, interpolation=method)
        np.testing.assert_array_equal(layer(x), new)
        np.testing.assert_array_equal(tf.keras.ops.image.resize(x, (3, 7), method), new)
        old = v2.resize(x, (3, 7), number)
        self.assertEqual(distance(old, new), [1.48, 3.31, 1.33][number])

    def test_resizing_rounds_to_bytes(self):
        layer = tf.keras.layers.Resizing(3, 7)
        new = v2.resize_half_pixel(BYTES, (3, 7))
        np.testing.assert_array_equal(layer(BYTES), tf.cast(tf.round(new), tf.uint8))

    @parameterized.expand(["bilinear", "nearest", "bicubic"])
    def test_the_page_resizes_bytes_as_the_pair(self, method):
        pair, page = (
            side.resize_half_pixel(BYTES, (3, 7), method).numpy() for side in (v2, v3)
        )
        self.assertEqual(page.dtype, pair.dtype)
        np.testing.assert_array_equal(page, pair)

    def test_the_page_s_channels_are_the_last_whatever_the_default_is(self):
        images = np.random.RandomState(0).rand(1, 4, 6, 3).astype("f")
        expected = v3.resize_half_pixel(images, [2, 3])
        before = keras.config.image_data_format()
        keras.config.set_image_data_format("channels_first")
        try:
            actual = v3.resize_half_pixel(images, [2, 3])
        finally:
            keras.config.set_image_data_format(before)
        np.testing.assert_array_equal(actual, expected)

    def test_patches_by_keras_are_a_convolution(self):
        extract, image = keras.ops.image.extract_patches, RAMP.copy()
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "uint8"):
            extract(BYTES, (2, 2), 1)
        image[0, 0, 3] = np.inf
        patches = v2.patches(image, (1, 2))[0, 0]
        np.testing.assert_array_equal(patches, [[0, 1], [1, 2], [2, np.inf]])
        found = extract(image, (1, 2), 1)[0, 0]
        np.testing.assert_array_equal(np.isnan(found), [[0, 0], [0, 0], [1, 0]])


class DrawTest(unittest.TestCase):
    def test_colors_must_be_given(self):
        with self.assertRaisesRegex(TypeError, "[Mm]issing required positional"):
            tf.image.draw_bounding_boxes(np.ones([1, 2, 2, 3], "f"), BOXES[None])
