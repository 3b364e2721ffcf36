"""Helpers for the cases of `tf.contrib`'s layers and loops."""

import functools

import numpy as np

from parity_tests import shorthand
from tf1to2.parity import FalseFriend, Layer

CONTRIB = {"graph": "contrib is in 1.15 only"}
ONCE = {way: "another case of the pair" for way in ("dynamic", "xla")}
EAGER = {**ONCE, "function": "another case of the pair"}
NARROW = {"xla": "XLA rounds otherwise, and float64 would not be wider"}


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory, skip = dict(factory), {**CONTRIB, **dict(skip)}
    options.setdefault("sizes", [{"b": 3}, {"b": 67}])
    return cls(name, slug, args, factory=factory, skip=skip, **options)


def fused(name, slug, args, factory=(), skip=(), **options):
    """Makes a case of the fused kernel, which computes only in float32."""
    skip = {**NARROW, **dict(skip)}
    return layer(name, slug, args, factory, skip, float32=True, **options)


def friend(
    name, slug, args, naive, because, factory=(), skip=EAGER, make=layer, **options
):
    more = {"naive": naive, "because": because, "cls": FalseFriend, "of": "layer"}
    return make(name, slug, args, factory, skip, **more, **options)


refused = functools.partial(shorthand.refused, of="layer", skip=CONTRIB)


def classes(seed=0, features=6, units=8, kinds=3):
    """Draws rows, their class ids, and initial weights of a classifier."""
    random = np.random.RandomState(seed)
    rows = random.normal(0.5, 2, [67, features]).astype("f")
    start = {
        "hidden/weights": random.normal(size=[features, units]),
        "hidden/BatchNorm/beta": random.normal(size=[units]),
        "scores/weights": random.normal(size=[units, kinds]),
        "scores/biases": random.normal(size=[kinds]),
    }
    start = {name: value.astype("f") for name, value in start.items()}
    return [rows, np.argmax(rows[:, :kinds], 1), start]
