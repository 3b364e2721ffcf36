"""Proves the kernels: runs each alone on about a thousand ordinary numbers.

python -m tf1to2.prove.record upkeep.kernels.proof
python -m tf1to2.parity.float32 upkeep.kernels.proof
"""

import pathlib

from tf1to2.pages.page import Page
from tf1to2.parity.arrays import normal, uniform
from tf1to2.parity.cases import Op
from tf1to2.parity.proof import Proof
from upkeep.kernels.page import FILTER, IMAGE, KERNELS

HERE = pathlib.Path(__file__).parent
THOUSAND = normal(1000, scale=4.0)
POSITIVE = uniform(1000, low=1e-3, high=20.0)
UNIT = uniform(1000, low=-0.999, high=0.999)
MATRIX, OTHER = normal(40, 25), normal(25, 40)

# The inputs of a kernel, by its name; other kernels get a thousand normal numbers.
INPUTS = {
    **dict.fromkeys(
        ["log", "sqrt", "rsqrt", "lgamma", "digamma"],
        [POSITIVE],
    ),
    "log1p": [uniform(1000, low=-0.999, high=20.0)],
    "acosh": [uniform(1000, low=1.0, high=20.0)],
    "prod": [uniform(1000, low=0.9, high=1.1)],
    **dict.fromkeys(["asin", "acos", "atanh", "erf"], [UNIT]),
    "pow": [POSITIVE, uniform(1000, low=-3.0, high=3.0)],
    **dict.fromkeys(["igamma", "xlogy", "sqrt_grad", "rsqrt_grad"], [POSITIVE] * 2),
    **dict.fromkeys(["tanh_grad", "sigmoid_grad", "elu_grad"], [UNIT, THOUSAND]),
    **dict.fromkeys(
        ["atan2", "add", "multiply", "divide", "floormod", "squared_difference"],
        [THOUSAND] * 2,
    ),
    **dict.fromkeys(["softplus_grad", "add_n"], [THOUSAND] * 2),
    **dict.fromkeys(
        ["sum_of_rows", "sum_of_columns", "mean_of_rows", "bias_add_grad"], [MATRIX]
    ),
    **dict.fromkeys(["segment_sum", "unsorted_segment_sum"], [MATRIX]),
    **dict.fromkeys(["sparse_segment_mean", "sparse_segment_sqrt_n"], [MATRIX]),
    **dict.fromkeys(["softmax", "log_softmax", "ctc_loss"], [MATRIX]),
    **dict.fromkeys(
        ["softmax_cross_entropy", "sparse_softmax_cross_entropy"], [MATRIX]
    ),
    **dict.fromkeys(["matmul", "matmul_of_one_row", "batch_matmul"], [MATRIX, OTHER]),
    "conv2d": [normal(*IMAGE), normal(*FILTER)],
    "conv2d_of_the_input": [normal(*IMAGE), normal(*FILTER)],
    **dict.fromkeys(
        ["conv2d_of_the_filter", "avg_pool", "lrn"],
        [normal(*IMAGE)],
    ),
    "fake_quant_grad": [THOUSAND] * 2,
    "fake_quant_per_channel": [MATRIX],
    "resize_bilinear": [normal(*IMAGE)],
    **dict.fromkeys(
        ["fused_batch_norm", "fused_batch_norm_grad"], [normal(64, 1, 1, 16)]
    ),
    **dict.fromkeys(
        [name for name, (kernel, _) in KERNELS.items() if "Apply" in kernel],
        [normal(1000), normal(1000), uniform(1000, low=0.1, high=0.9)],
    ),
}


def _positive_definite():
    """Makes a well-conditioned positive definite matrix of 32 rows."""
    import numpy as np

    m = normal(32, 32).array(np.random.RandomState(0), {})
    return (m @ m.T / 32 + np.eye(32, dtype="f")).astype("f")


ALONE = "a kernel alone, against 1.15.5 in float32"
SKIP = dict.fromkeys(["function", "dynamic", "xla", "gradient"], ALONE)
SYMMETRIC = ("cholesky", "matrix_inverse", "matrix_determinant")
CASES = [
    Op(
        name,
        "a thousand numbers",
        [_positive_definite()] if name in SYMMETRIC else INPUTS.get(name, [THOUSAND]),
        exact=True,
        skip=SKIP,
    )
    for name in KERNELS
]
PAGE = Page("upkeep.kernels.page", HERE.parents[1])
PROOF = Proof(PAGE, PAGE, CASES, HERE / "kernels.npz", name="kernels")
