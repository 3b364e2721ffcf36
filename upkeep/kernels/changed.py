"""Finds the float32 kernels whose bits differ from the genuine TensorFlow 1.15.5.

`page` has the kernels, `proof` proves each alone, `float32.tsv` has the distances.
"""

import pathlib


def changed():
    """Lists kernels whose float32 bits differ today: {op type: kernel names}."""
    from tf1to2.parity.float32 import float32_table
    from upkeep.kernels.page import KERNELS

    table = float32_table(pathlib.Path(__file__).with_name("float32.tsv"))
    found = {}
    for pair, _, _ in table.rows:
        name = pair.partition(".")[2]
        found.setdefault(KERNELS[name][0], []).append(name)
    return found


ORDERS = (
    "AddN",  # sums of gradients
    "Conv2D",
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
    "SparseTensorDenseMatMul",  # its gradient was a sum, and is now a matrix product
)
"""Kernels that have the same bits at some sizes, and sum in another order at others."""


def causes(operations):
    """Names the changed kernels among the types of operations that ran.

    If none of them has changed, a kernel that may sum in another order; else "?".
    """
    known = changed()
    names = sorted({known[op][0] for op in operations if op in known})
    orders = [f"the order of sums in {op}" for op in ORDERS if op in operations]
    return ", ".join(names or orders[-1:]) or "?"
