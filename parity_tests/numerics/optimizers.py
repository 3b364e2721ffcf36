"""Optimizers: dense and sparse steps, in float32, float64 and 16-bit floats."""

import numpy as np

from parity_tests.numerics import CONTRIB, Inputs
from parity_tests.shorthand import refused
from tf1to2.parity import Program

RANDOM = Inputs("optimizers")
START = {"w": RANDOM.normal(64, 5), "b": RANDOM.normal(5)}
DENSE = {"w": RANDOM.normal(10, 64, 5), "b": RANDOM.normal(10, 5)}
TABLE = {"table": RANDOM.normal(64, 5)}
# Some rows occur twice in a step, and some rows in no step.
ROWS = {"table": (RANDOM.integers(48, 6, 80), RANDOM.normal(6, 80, 5))}
RATES = RANDOM.uniform(10)
PENALTIES = {"l1_regularization_strength": 0.01, "l2_regularization_strength": 0.1}
OPTIMIZERS = {
    "GradientDescent": {"": {"learning_rate": 0.01}},
    "Momentum": {
        "": {"learning_rate": 0.01, "momentum": 0.9},
        "by Nesterov": {"learning_rate": 0.01, "momentum": 0.9, "use_nesterov": True},
    },
    "Adagrad": {"": {"learning_rate": 0.1}},
    "AdagradDA": {
        "": {"learning_rate": 0.1},
        "with penalties": {"learning_rate": 0.1, **PENALTIES},
    },
    "Adadelta": {"": {"learning_rate": 1.0}},
    "RMSProp": {
        "": {"learning_rate": 0.001},
        "with momentum": {"learning_rate": 0.001, "momentum": 0.9},
        "centered": {"learning_rate": 0.001, "epsilon": 0.01, "centered": True},
    },
    "Adam": {
        "": {},
        "of a GAN": {"learning_rate": 2e-4, "beta1": 0.5, "name": "Discriminator"},
    },
    "Ftrl": {
        "": {"learning_rate": 0.1},
        "with penalties": {"learning_rate": 0.1, **PENALTIES},
        "with shrinkage, its slots named": {
            "learning_rate": 0.1,
            "l2_shrinkage_regularization_strength": 0.1,
            "accum_name": "squares",
            "linear_name": "sums",
        },
    },
    "ProximalGradientDescent": {"": {"learning_rate": 0.01, **PENALTIES}},
    "ProximalAdagrad": {"": {"learning_rate": 0.01, **PENALTIES}},
    "AdaMax": {"": {}},
    "LazyAdam": {"": {}},
    "Nadam": {"": {}},
    "AdamW": {"": {"weight_decay": 0.01}},
    "MomentumW": {"": {"weight_decay": 1e-3, "learning_rate": 0.01, "momentum": 0.9}},
}
CONTRIBS = "AdaMax", "LazyAdam", "Nadam", "AdamW", "MomentumW"
PROXIMAL = "ProximalGradientDescent", "ProximalAdagrad"
# In 1.15.5; the proximal optimizers accept only float32, the dtype of a Python rate.
NO_KERNEL = {
    ("AdagradDA", ""),
    ("ProximalGradientDescent", ""),
    ("ProximalAdagrad", ""),
    ("RMSProp", "bfloat16, sparse"),
    ("AdaMax", "bfloat16, dense"),
}


def optimized(
    slug, name, gradients=DENSE, start=START, hyper=None, float32=False, **options
):
    hyper = OPTIMIZERS[name][""] if hyper is None else hyper
    skip = CONTRIB if name in CONTRIBS or "average" in options else {}
    float32 |= name in PROXIMAL  # 1.15.5: no float64 variable with a Python rate
    args = [name, hyper, start, gradients]
    return Program(
        "optimize", slug, args, {"options": options}, float32=float32, skip=skip
    )


def refused_gradients(
    slug, name, gradients, match, error=ValueError, start=START, hyper=None, **options
):
    hyper = OPTIMIZERS[name][""] if hyper is None else hyper
    args, kwargs = [name, hyper, start, gradients], {"options": options}
    return refused("optimize", slug, args, match, error, kwargs=kwargs)


def cases(name):
    """Makes cases of ten dense steps, six sparse steps, a constraint, 16-bit floats."""
    found = []
    for slug, hyper in OPTIMIZERS[name].items():
        slug = f"{name} {slug}".strip()
        found += [
            optimized(f"{slug}, dense", name, hyper=hyper),
            optimized(f"{slug}, sparse", name, ROWS, TABLE, hyper),
        ]
    found.append(
        optimized(f"{name}, clipped by a constraint", name, limits=(-0.5, 0.5))
    )
    for dtype in ("float16", "bfloat16"):
        for slug, *arrays in (("dense", DENSE, START), ("sparse", ROWS, TABLE)):
            if not {(name, ""), (name, f"{dtype}, {slug}")} & NO_KERNEL:
                slug = f"{name}, {dtype}, {slug}"
                found.append(optimized(slug, name, *arrays, float32=True, dtype=dtype))
    return found


DESCRIPTORS = {
    **{name: cases(name) for name in OPTIMIZERS},
    "Optimizer": "optimizers.fit_with_decay",
    "summed": "numerics.optimize",
    "DecoupledWeightDecay": [
        optimized("weights that do not all decay", "AdamW", decayed=["w"]),
        optimized(
            "weights that all decay, minimized, whatever was asked for",
            "MomentumW",
            decayed=["b"],
            minimized=True,
        ),
        optimized(
            "a table whose weights do not decay",
            "MomentumW",
            {**ROWS, "b": DENSE["b"][:6]},
            {**TABLE, "b": START["b"]},
            decayed=["b"],
        ),
    ],
    "LARS": "contrib_opt.fit",
    "LossScale": "contrib_opt.train_scaled",
    "FixedLossScale": "contrib_opt.train_scaled",
    "ExponentialUpdateLossScale": "contrib_opt.train_scaled",
    "MixedPrecisionLossScale": "mixed_precision.train_rewritten",
    "DynamicLossScale": "mixed_precision.train_rewritten",
    "Multitask": "contrib_opt.fit_tasks",
    "MovingAverage": [
        optimized("averages in the place of variables", "Momentum", average=0.9),
        optimized("averages, minimized", "Adam", average=0.9, minimized=True),
        optimized(
            "averages of what has a gradient",
            "Momentum",
            {"w": DENSE["w"], "b": None},
            average=0.99,
        ),
    ],
}
MORE = [
    optimized(
        "on paper: clipped after the update",
        "GradientDescent",
        {"w": np.float32([[-5]])},
        {"w": np.float32([1])},
        {"learning_rate": 1.0},
        limits=(0.0, 1.0),
    ),
    *[
        optimized(f"{name}, a rate that is a variable", name, rates=RATES)
        for name in ("GradientDescent", "Adam", "Adagrad", "Momentum")
    ],
    *[
        optimized(f"{name}, a rate that is a function", name, rates=RATES, called=True)
        for name in ("RMSProp", "Adam", "Adadelta")
    ],
    *[
        optimized(
            f"{name}, a schedule", name, hyper={"learning_rate": 0.1}, decay=(4, 0.5)
        )
        for name in ("GradientDescent", "Adam", "Adagrad")
    ],
    *[
        optimized(
            f"{name}, a variable without a gradient",
            name,
            {"w": None, "b": DENSE["b"]},
        )
        for name in ("GradientDescent", "Adam", "Ftrl", "AdamW")
    ],
    *[
        optimized(f"{name}, minimized", name, minimized=True)
        for name in ("GradientDescent", "Adam", "AdamW")
    ],
    optimized(
        "a table beside a matrix, and what has no gradient",
        "Adam",
        {**ROWS, "w": DENSE["w"][:6], "b": None},
        {**TABLE, **START},
    ),
    refused_gradients(
        "no gradients at all",
        "Adam",
        {"w": None, "b": None},
        "No gradients provided for any variable",
    ),
    refused_gradients("no pairs", "Adam", {}, "No variables provided"),
    refused_gradients(
        "a constraint on a table",
        "Adam",
        ROWS,
        "Cannot use a constraint function on a sparse variable",
        RuntimeError,
        TABLE,
        limits=(0.0, 1.0),
    ),
    refused_gradients(
        "an accumulator that begins at 0",
        "Adagrad",
        DENSE,
        "initial_accumulator_value must be positive: 0",
        hyper={"learning_rate": 0.1, "initial_accumulator_value": 0.0},
    ),
    refused_gradients(
        "a penalty below 0",
        "Ftrl",
        DENSE,
        "l1_regularization_strength -1.0+ needs to be positive or zero",
        hyper={"learning_rate": 0.1, "l1_regularization_strength": -1.0},
    ),
]
