"""Initializers, and the random streams from which they draw."""

from parity_tests.numerics import CONTRIB
from tf1to2.parity import Program, Raises

MATRIX, KERNEL, VECTOR = [64, 32], [3, 3, 16, 8], [1000]


def drawn(name, *shapes, dtypes=("float32",), **options):
    """Makes cases of draws for each shape and dtype, with and without a graph seed."""
    skip = CONTRIB if name.startswith("contrib") else {}
    found = []
    for shape, graph_seed in zip(shapes, (7, None, 7)):
        for dtype in dtypes:
            args = [name, options, shape, graph_seed, 3]
            slug = f"{name}{sorted(options.items()) or ''} of {list(shape)}"
            kwargs = {}
            if dtype != "float32":
                slug, kwargs = f"{slug}, {dtype}", {"dtype": dtype}
            found.append(Program("initial", slug, args, kwargs, skip=skip))
    return found


ALL = "float32", "float64", "float16"
DESCRIPTORS = {
    "random_normal": [
        *drawn("random_normal", MATRIX, VECTOR, dtypes=ALL),
        *drawn("random_normal", MATRIX, mean=1.0, stddev=0.5),
    ],
    "random_uniform": [
        *drawn("random_uniform", MATRIX, VECTOR, dtypes=ALL),
        *drawn("random_uniform", MATRIX, minval=-0.1, maxval=0.1),
    ],
    "truncated_normal": [
        *drawn("truncated_normal", MATRIX, VECTOR, dtypes=ALL),
        *drawn("truncated_normal", MATRIX, stddev=0.02),
    ],
    "uniform_unit_scaling": drawn("uniform_unit_scaling", MATRIX, KERNEL, factor=1.43),
    "variance_scaling": [
        *drawn("variance_scaling", MATRIX, KERNEL, VECTOR),
        *drawn("variance_scaling", KERNEL, mode="fan_out", scale=2.0),
        *drawn(
            "variance_scaling",
            KERNEL,
            mode="fan_avg",
            distribution="untruncated_normal",
        ),
        *[
            Raises.alike(
                "initial",
                slug,
                ["variance_scaling", options, MATRIX, 7, 3],
                ValueError,
                match,
                of="program",
            )
            for slug, options, match in (
                ("no such mode", {"mode": "fan"}, "`mode`"),
                ("no such distribution", {"distribution": "flat"}, "`distribution`"),
                ("a scale of 0", {"scale": 0.0}, "`scale` must be (a )?positive float"),
            )
        ],
    ],
    **{
        name: drawn(name, MATRIX, KERNEL, VECTOR, dtypes=ALL)
        for name in (
            "glorot_uniform",
            "glorot_normal",
            "he_normal",
            "he_uniform",
            "lecun_normal",
            "lecun_uniform",
        )
    },
    "orthogonal": [
        *drawn("orthogonal", [12, 8], [3, 2, 2, 20], dtypes=ALL[:2]),
        *drawn("orthogonal", [8, 8], gain=1.5),
        Raises.alike(
            "initial",
            "no orthogonal vector",
            ["orthogonal", {}, VECTOR, 7, 3],
            ValueError,
            "must be at least two-dimensional",
            of="program",
        ),
    ],
    "contrib_variance_scaling": [
        *drawn("contrib_variance_scaling", MATRIX, KERNEL, VECTOR),
        *drawn("contrib_variance_scaling", KERNEL, uniform=True, mode="FAN_AVG"),
        *drawn("contrib_variance_scaling", KERNEL, factor=1.0, mode="FAN_OUT"),
        Raises.alike(
            "initial",
            "no such mode of contrib",
            ["contrib_variance_scaling", {"mode": "FAN"}, MATRIX, 7, 3],
            TypeError,
            "Unknown mode",
            of="program",
            skip=CONTRIB,
        ),
    ],
    "contrib_xavier": [
        *drawn("contrib_xavier", MATRIX, KERNEL, VECTOR),
        *drawn("contrib_xavier", KERNEL, uniform=False),
    ],
}
