"""Which float32 kernels have other bits than the genuine TensorFlow 1.15.5's.

`page` has the kernels, `proof` proves each alone, `float32.tsv` is what it measured.
"""

import pathlib


def changed():
    """{type of an op: names of the kernels, of those that have other bits today}."""
    from tf1to2.parity.float32 import float32_table
    from upkeep.kernels.page import KERNELS

    table = float32_table(pathlib.Path(__file__).with_name("float32.tsv"))
    found = {}
    for pair, _, _ in table.rows:
        name = pair.partition(".")[2]
        found.setdefault(KERNELS[name][0], []).append(name)
    return found


ORDERS = (
    "AddN",  # of gradients that meet
    "Conv2D",
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
    "SparseTensorDenseMatMul",  # its gradient: a sum then, a product of matrices today
)
"""Kernels with the same bits at some sizes, and another order of sums at others."""


def causes(operations):
    """The changed kernels among the types of operations that ran, as a text.

    Where none of them has changed, a sum that is in another order at some sizes; "?"
    where there is none, either.
    """
    known = changed()
    names = sorted({known[op][0] for op in operations if op in known})
    orders = [f"the order of sums in {op}" for op in ORDERS if op in operations]
    return ", ".join(names or orders[-1:]) or "?"
