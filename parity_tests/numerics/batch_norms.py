"""Batch normalization of `tf.layers` and of contrib: matrices, images, float16."""

from parity_tests.numerics import ALONE, CONTRIB, NARROW, Inputs
from tf1to2.parity import Layer, Program, normal

RANDOM = Inputs("batch norms")
MATRIX, IMAGES = normal("b", 16), normal("b", 3, 3, 4)
WITHOUT = {"graph": ALONE, "generated": ALONE, "dynamic": "proven in the topic layers"}


def norm(slug, x, training=True, update=True, dtype=None, narrow=False, **options):
    return Layer(
        "make_batch_norm",
        slug,
        [x],
        {"training": training},
        factory={"options": options, "update": update, "dtype": dtype},
        sizes=[{"b": 64}],
        float32=narrow,
        skip={**WITHOUT, **(NARROW if narrow else {})},
    )


BATCHES = {
    "matrices": [3 + 2 * RANDOM.normal(n, 16) for n in (64, 100, 20)],
    "sequences": [3 + 2 * RANDOM.normal(n, 5, 16) for n in (64, 100, 20)],
    "images": [3 + 2 * RANDOM.normal(n, 3, 3, 4) for n in (64, 100, 20)],
}


def contrib(slug, x, float32=True, **options):
    args = [BATCHES[x], options]
    return Program(
        *("contrib_normalized", f"{x}, {slug}", args),
        float32=float32,
        skip=CONTRIB,
    )


DESCRIPTORS = {
    "BatchNorm": [
        norm("a matrix, in training", MATRIX, momentum=0.9),
        norm("a matrix, in inference", MATRIX, False),
        norm("no gamma", MATRIX, scale=False),
        norm("no beta, no updates", MATRIX, update=False, center=False),
        norm("images, not fused", IMAGES, fused=False, momentum=0.9),
        norm("images", IMAGES, narrow=True, momentum=0.9),
        norm("images, in inference", IMAGES, False, narrow=True),
        norm(
            "images, no gamma and a small epsilon",
            IMAGES,
            narrow=True,
            scale=False,
            epsilon=1e-6,
        ),
        norm("a matrix of float16", MATRIX, dtype="float16", narrow=True),
        norm("images of float16", IMAGES, dtype="float16", narrow=True),
    ],
    "ContribBatchNorm": [
        contrib("by default", "matrices"),
        contrib("by default", "images"),
        contrib("not fused", "images", float32=False, fused=False),
        contrib("by default", "sequences", float32=False),
        contrib(
            "as slim's nets have it",
            "images",
            decay=0.9997,
            epsilon=0.001,
            center=True,
            scale=True,
        ),
        contrib("updated in place", "images", updates_collections=None, decay=0.9),
        contrib("updated in place", "matrices", updates_collections=None, scale=True),
        contrib(
            "updated in place",
            "sequences",
            float32=False,
            updates_collections=None,
            decay=0.9,
        ),
        contrib("no bias of the mean", "matrices", zero_debias_moving_mean=True),
        contrib(
            "no bias of the mean",
            "images",
            zero_debias_moving_mean=True,
            decay=0.9,
            center=False,
        ),
    ],
}
