"""Rewrites calls by a table of new forms, which the probes have verified."""

import typing

from tf1to2.catalog import facts, verdicts
from tf1to2.fix import arguments, renames
from tf1to2.fix.edits import Change

RAW = "(*, images, size, align_corners=False, half_pixel_centers=False, name=None)"
AREA = "(*, images, size, align_corners=False, name=None)"


class Template(typing.NamedTuple):
    """The new form of a call.

    Attributes:
        target: the new name; "" if it does not change.
        now: the signature of the new name, or "" for that of names.tsv.
        renamed, added, wrapped: see `arguments.rewritten`; `{tf}` in an added text is
            TensorFlow's name in the file.
        needed: an argument; a call without it does not change.
        dropped: {argument: the one value that may be removed}.
        refused: arguments; a call with one of them is not certain.
        certain: a function of (site, arguments) that says whether it is, or None.
    """

    target: str = ""
    now: str = ""
    renamed: dict = {}
    added: dict = {}
    wrapped: dict = {}
    needed: str = ""
    dropped: dict = {}
    refused: tuple = ()
    certain: object = None


def _is_float(site, given):
    """Returns whether at least one argument is surely a floating point number."""
    return any(_floating(site, one.value) for one in given if one.name != "name")


def _floating(site, value):
    if value.type == "float":
        return True
    text = site.tree.text(value)
    made = text.startswith(("tf.to_float(", "tf.cast(")) and value.type == "call"
    return made and (
        text.startswith("tf.to_float(")
        or text.endswith((" tf.float32)", ",tf.float32)"))
    )


TEMPLATES = {
    **{
        f"tf.to_{word}": Template("tf.cast", added={"dtype": f"{{tf}}.{dtype}"})
        for word, dtype in (
            ("float", "float32"),
            ("double", "float64"),
            ("int32", "int32"),
            ("int64", "int64"),
            ("bfloat16", "bfloat16"),
            ("complex64", "complex64"),
            ("complex128", "complex128"),
        )
    },
    "tf.nn.dropout": Template(
        renamed={"keep_prob": "rate"},
        wrapped={"keep_prob": ("1 - ", "")},
        needed="keep_prob",
    ),
    "tf.py_func": Template("tf.numpy_function", dropped={"stateful": "True"}),
    "tf.arg_max": Template("tf.argmax", renamed={"dimension": "axis"}),
    "tf.arg_min": Template("tf.argmin", renamed={"dimension": "axis"}),
    "tf.image.resize_bilinear": Template("tf.raw_ops.ResizeBilinear", RAW),
    "tf.image.resize_bicubic": Template("tf.raw_ops.ResizeBicubic", RAW),
    "tf.image.resize_nearest_neighbor": Template(
        "tf.raw_ops.ResizeNearestNeighbor", RAW
    ),
    "tf.image.resize_area": Template("tf.raw_ops.ResizeArea", AREA),
    "tf.div": Template("tf.truediv", certain=_is_float),
    "tf.random_normal_initializer": Template(
        added={"stddev": "1.0"}, refused=("seed", "dtype", "stddev")
    ),
    "tf.random_uniform_initializer": Template(
        added={"minval": "0.0", "maxval": "1.0"}, refused=("seed", "dtype")
    ),
}


def change(site, old):
    """The `Change` that rewrites a call by its template; None if it is not certain.

    Args:
        site: `sites.Site`.
        old: whether the new call must work on 1.15.5 as well.
    """
    # An alias with its own verdict is another object today.
    names = facts.aliases(site.symbol)
    own = verdicts.row(site.symbol)
    names = [n for n in names if n in TEMPLATES and verdicts.row(n) is own]
    symbol = next(iter(names), None)
    if symbol is None or site.call is None:
        return None
    row, target = TEMPLATES[symbol], TEMPLATES[symbol].target or site.symbol
    given = arguments.bound(site, facts.fact(site.symbol).signature)
    found = renames.renaming(site, target)
    if given is None or found is None or not _fits(row, site, given):
        return None
    root = site.spelled("tf")
    if root is None and any("{tf}" in text for text in row.added.values()):
        return None
    there = facts.fact(target) if old or not row.target else None
    more = arguments.rewritten(
        site,
        given,
        row.now or facts.now(target),
        row.renamed,
        {name: text.format(tf=root) for name, text in row.added.items()},
        row.wrapped,
        row.dropped,
        there.signature if there else None,
    )
    return Change((*found, *more)) if more is not None and (found or more) else None


def _fits(row, site, given):
    texts = {one.name: site.tree.text(one.value) for one in given}
    return (
        (not row.needed or texts.get(row.needed, "None") != "None")
        and all(texts.get(name, text) == text for name, text in row.dropped.items())
        and not any(name in texts for name in row.refused)
        and (row.certain is None or row.certain(site, given))
    )
