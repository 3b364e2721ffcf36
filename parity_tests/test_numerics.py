import importlib
import inspect
import pathlib
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import Layer, Op, Program, Raises, normal
from v1_graph import numerics as v1
from v2_eager import numerics as v2

RANDOM = np.random.RandomState(16)
ALONE = "today's TensorFlow has neither cells nor tf.layers without tf_keras"
WITHOUT = {"graph": ALONE, "generated": ALONE}
CONTRIB = {"graph": "contrib is in 1.15 only"}
FLOAT32 = {"xla": "v1 computes in float32, and XLA's kernels round otherwise"}
TRACED = {**FLOAT32, "dynamic": "proven with mean_squared_error"}


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


def uniform(*shape):
    return RANDOM.uniform(0.01, 0.99, shape).astype("f")


# --- optimizers
START = {"w": drawn(64, 5), "b": drawn(5)}
DENSE = {"w": drawn(10, 64, 5), "b": drawn(10, 5)}
TABLE = {"table": drawn(64, 5)}
# Rows come twice in a step, and some in no step.
ROWS = {"table": (RANDOM.randint(0, 48, [6, 80]), drawn(6, 80, 5))}
# The proximal ones take no float64 weight beside a Python rate: an array it is.
PROXIMAL = {
    "learning_rate": np.float32(1 / 64),
    "l1_regularization_strength": np.float32(1 / 32),
    "l2_regularization_strength": np.float32(1 / 8),
}
HALVES = "GradientDescent", "Momentum", "Adam"  # Adagrad's kernel rounds otherwise
OPTIMIZERS = {
    "GradientDescent": {"": {"learning_rate": 0.01}},
    "Momentum": {
        "": {"learning_rate": 0.01, "momentum": 0.9},
        "by Nesterov": {"learning_rate": 0.01, "momentum": 0.9, "use_nesterov": True},
    },
    "Adagrad": {"": {"learning_rate": 0.1}},
    "AdagradDA": {
        "": {"learning_rate": 0.1},
        "with penalties": {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.1,
        },
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
        "with penalties": {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.1,
        },
        "with shrinkage, its slots named": {
            "learning_rate": 0.1,
            "l2_shrinkage_regularization_strength": 0.1,
            "accum_name": "squares",
            "linear_name": "sums",
        },
    },
    "ProximalGradientDescent": {"": PROXIMAL},
    "ProximalAdagrad": {"": PROXIMAL},
}


def optimizer(name):
    """Ten dense steps, six sparse ones, and, of some, halves."""
    cases = []
    for slug, hyper in OPTIMIZERS[name].items():
        slug = f"{name} {slug}".strip()
        cases += [
            Program("optimize", f"{slug}, dense", [name, hyper, START, DENSE]),
            Program("optimize", f"{slug}, sparse", [name, hyper, TABLE, ROWS]),
        ]
    if name in HALVES:
        args = [name, OPTIMIZERS[name][""], START, DENSE]
        cases += [
            Program("optimize", f"{name}, {dtype}", args, {"dtype": dtype})
            for dtype in ("float16", "bfloat16")
        ]
    return cases


def optimized(slug, name, gradients=DENSE, start=START, hyper=None, **options):
    hyper = OPTIMIZERS[name][""] if hyper is None else hyper
    return Program("optimize", slug, [name, hyper, start, gradients], options)


def not_optimized(slug, name, match, error, gradients, start=START, hyper=None, **more):
    hyper = OPTIMIZERS[name][""] if hyper is None else hyper
    args = [name, hyper, start, gradients]
    return Raises.alike("optimize", slug, args, error, match, kwargs=more, of="program")


FIVE = {"w": np.float32([5])}
PUSHED = {"w": np.float32([[-5]])}
BEYOND = [
    optimized(
        "on paper: clipped after the update",
        "GradientDescent",
        PUSHED,
        {"w": np.float32([1])},
        {"learning_rate": 1.0},
        limits=(0.0, 1.0),
    ),
    *[
        optimized(f"{name}, clipped by a constraint", name, limits=(-0.5, 0.5))
        for name in ("GradientDescent", "Momentum", "Adam", "RMSProp")
    ],
    *[
        optimized(f"{name}, a rate that is a variable", name, rates=uniform(10))
        for name in ("GradientDescent", "Adam", "Adagrad")
    ],
    *[
        optimized(
            f"{name}, a schedule", name, hyper={"learning_rate": 0.1}, decay=(4, 0.5)
        )
        for name in ("GradientDescent", "Adam", "Adagrad")
    ],
    optimized("a variable without a gradient", "Adam", {"w": None, "b": DENSE["b"]}),
    not_optimized(
        "no gradients at all",
        "Adam",
        "No gradients provided for any variable",
        ValueError,
        {"w": None, "b": None},
    ),
    not_optimized("no pairs", "Adam", "No variables provided", ValueError, {}),
    not_optimized(
        "a constraint on a table",
        "Adam",
        "Cannot use a constraint function on a sparse variable",
        RuntimeError,
        ROWS,
        TABLE,
        limits=(0.0, 1.0),
    ),
]

# --- schedules
STEPS = np.arange(0, 120, dtype="i8")
# v1 computes the waves in float32 only. By a power of two it divides exactly, also
# where 1.15.5 multiplies by the inverse.
WAVES = {"learning_rate": 0.1, "decay_steps": 64}
STAIRS = {"learning_rate": np.float32(0.1), "decay_steps": 10, "decay_rate": 0.5}


def schedule(name, slug, **options):
    return Op("decayed", f"{name}, {slug}", [STEPS, name, options])


# --- initializers
def initializer(name, *shapes, **options):
    skip = CONTRIB if name.startswith("contrib") else {}
    return [
        Program(
            "initial",
            f"{name}{sorted(options.items()) or ''} of {list(shape)}",
            [name, options, shape, graph_seed, 3],
            skip=skip,
        )
        for shape, graph_seed in zip(shapes, (7, None, 7, 0))
    ]


MATRIX, KERNEL, VECTOR = [64, 32], [3, 3, 16, 8], [1000]

# --- rnn
SEQUENCES, LENGTHS = normal("b", 5, 7), RANDOM.randint(1, 6, [64])


def reader(slug, cell, loop="unroll", lengths=True, **options):
    args = [SEQUENCES, LENGTHS] if lengths else [SEQUENCES]
    return Layer(
        "make_reader",
        slug,
        args,
        factory={"cell": cell, "loop": loop},
        sizes=[{"b": 64}],
        skip={**WITHOUT, "dynamic": "proven in the topic rnn", **options},
    )


def cell(name, **options):
    return name, {"num_units": 6, **options}


ONE_STREAM = {"graph": ALONE, "eager": "eagerly, ops of one seed share a stream"}
DROPPING = {"input_keep_prob": 0.5, "output_keep_prob": 0.75, "state_keep_prob": 0.5}


def dropped(slug, cell):
    cell = "DropoutWrapper", {"cell": cell, "seed": 3, **DROPPING}
    args = [drawn(64, 5, 7), cell, 2]
    return Program("dropped", slug, args, skip=ONE_STREAM)


# --- batch norms
IMAGES = normal("b", 3, 3, 4)


def norm(slug, x, training=True, update=True, dtype=None, skip=(), **options):
    return Layer(
        "make_batch_norm",
        slug,
        [x],
        {"training": training},
        factory={"options": options, "update": update, "dtype": dtype},
        sizes=[{"b": 64}],
        skip={**WITHOUT, "dynamic": "proven in the topic layers", **dict(skip)},
    )


# --- losses
LABELS, OUTPUTS = drawn(64, 16), drawn(64, 16)
YES, SHARES = RANDOM.randint(0, 2, [64, 16]).astype("f"), uniform(64, 16)
ONE_HOT = np.eye(16, dtype="f")[RANDOM.randint(0, 16, 64)]
CLASSES = RANDOM.randint(0, 16, [64])
MASK = RANDOM.randint(0, 3, [64, 1]).astype("f")
WEIGHTS = uniform(64, 1)
ROW_WEIGHTS = WEIGHTS[:, 0]
SIGNED = {"gradient": "1.15.5 and today differ in the sign of a gradient of 0"}


def loss(kind, labels, predictions, weights=WEIGHTS, skip=TRACED, **more):
    """1,024 losses: v1's sum of so many floats has an order of its own."""
    args = [labels, predictions, weights]
    kwargs = {"kind": kind, "options": {"reduction": "none", **more}}
    return Op("loss", f"{kind}, weighted", args, kwargs, skip=skip)


def reduced(reduction):
    """Eighths, whose squares sum up to the same float in any order."""
    args = [np.round(a * 8) / 8 for a in (LABELS, OUTPUTS)]
    kwargs = {"kind": "mean_squared_error", "options": {"reduction": reduction}}
    slug = f"{reduction}, some weights 0"
    return Op("loss", slug, [*args, MASK], kwargs, skip={**FLOAT32, **SIGNED})


# --- metrics
def batches(*makers):
    """Three batches of 64, 100 and 1 rows, of what each maker draws."""
    return [tuple(make(n) for make in makers) for n in (64, 100, 1)]


def yes(n):
    return RANDOM.randint(0, 2, [n]).astype("f")


def classes(n):
    return RANDOM.randint(0, 5, [n])


def weights(n):
    return RANDOM.randint(0, 3, [n]).astype("f")


def eighths(*shape):
    """Numbers whose float32 sums are exact: v1's have an order of their own."""
    return np.round(drawn(*shape) * 8) / 8


def vectors(n):
    return eighths(n, 4)


def scores(n):
    return drawn(n, 5)


def column(n):
    return eighths(n)


def metric(name, makers, slug="weighted", more=("weights",), **options):
    args = [name, options, batches(*makers)]
    return Program("streamed", f"{name}, {slug}", args, {"more": list(more)})


def counts(name):
    thresholds = [0.25, 0.5, 0.75]
    return [
        metric(name, [yes, yes, weights]),
        metric(
            f"{name}_at_thresholds",
            [yes, uniform, weights],
            thresholds=thresholds,
        ),
    ]


DECIDED = [yes, uniform, weights]

# --- averages, restore
MOVING = {"w": drawn(20, 8, 8), "b": drawn(20, 8)}
MODEL = {"w": drawn(8, 8), "b": drawn(8), "steps": np.int64(7)}
SAVED = {"net/w": drawn(8, 8), "net/b": drawn(8), "global_step": np.int64(7)}
LOSSES, PLACE = drawn(20, 50), 20


def elsewhere(pair):
    """Proven by a pair of another topic, which a test looks for."""
    return pair


DESCRIPTORS = {
    **{f"optimizers.{name}": optimizer(name) for name in OPTIMIZERS},
    "optimizers.Optimizer": elsewhere("optimizers.fit_with_decay"),
    "schedules.natural_exp_decay": [
        schedule("natural_exp_decay", "smooth", **STAIRS),
        schedule("natural_exp_decay", "in stairs", **STAIRS, staircase=True),
    ],
    "schedules.linear_cosine_decay": [
        schedule("linear_cosine_decay", "plain", **WAVES),
        schedule(
            "linear_cosine_decay",
            "waves",
            **WAVES,
            num_periods=2.0,
            alpha=0.25,
            beta=0.01,
        ),
    ],
    "schedules.noisy_linear_cosine_decay": [
        Program(
            "noisy_rates",
            "seven steps",
            [np.int64([0, 1, 2, 10, 50, 63, 200]), PLACE, WAVES],
            skip={"graph": "today an op without a seed has another place"},
            exact=True,
        )
    ],
    "initializers.random_normal": [
        *initializer("random_normal", MATRIX, VECTOR),
        *initializer("random_normal", MATRIX, mean=1.0, stddev=0.5),
    ],
    "initializers.random_uniform": [
        *initializer("random_uniform", MATRIX, VECTOR),
        *initializer("random_uniform", MATRIX, minval=-0.1, maxval=0.1),
    ],
    "initializers.truncated_normal": [
        *initializer("truncated_normal", MATRIX, VECTOR),
        *initializer("truncated_normal", MATRIX, stddev=0.02),
    ],
    "initializers.uniform_unit_scaling": [
        *initializer("uniform_unit_scaling", MATRIX, KERNEL, factor=1.43)
    ],
    "initializers.variance_scaling": [
        *initializer("variance_scaling", MATRIX, KERNEL, VECTOR),
        *initializer("variance_scaling", KERNEL, mode="fan_out", scale=2.0),
        *initializer(
            "variance_scaling",
            KERNEL,
            mode="fan_avg",
            distribution="untruncated_normal",
        ),
        Raises.alike(
            "initial",
            "no such mode",
            ["variance_scaling", {"mode": "fan"}, MATRIX, 7, 3],
            ValueError,
            "`mode`",
            of="program",
        ),
    ],
    **{
        f"initializers.{name}": initializer(name, MATRIX, KERNEL, VECTOR)
        for name in (
            "glorot_uniform",
            "glorot_normal",
            "he_normal",
            "he_uniform",
            "lecun_normal",
            "lecun_uniform",
        )
    },
    "initializers.orthogonal": [
        *initializer("orthogonal", [12, 8], [3, 2, 2, 20]),
        *initializer("orthogonal", [8, 8], gain=1.5),
    ],
    "initializers.contrib_variance_scaling": [
        *initializer("contrib_variance_scaling", MATRIX, KERNEL),
        *initializer("contrib_variance_scaling", KERNEL, uniform=True, mode="FAN_AVG"),
    ],
    "initializers.contrib_xavier": [
        *initializer("contrib_xavier", MATRIX, KERNEL),
        *initializer("contrib_xavier", KERNEL, uniform=False),
    ],
    **dict.fromkeys(
        [
            "randomness.stream",
            "randomness.kernel_seeds",
            "randomness.DEFAULT_GRAPH_SEED",
        ],
        [
            Program(
                "numbers",
                f"{kind}, graph seed {seed}",
                [kind, seed, 3, [1000, 3]],
                skip={"function": PLAIN},
            )
            for kind in ("random_normal", "random_uniform", "truncated_normal")
            for seed in (7, None)
        ],
    ),
    "randomness.draw": elsewhere("numerics.initial"),
    "rnn.BasicRNNCell": [reader("BasicRNNCell", cell("BasicRNNCell"))],
    "rnn.Cell": elsewhere("numerics.make_reader"),
    **dict.fromkeys(
        ["rnn.BasicLSTMCell", "rnn.LSTMStateTuple", "rnn.unroll"],
        [
            reader("BasicLSTMCell", cell("BasicLSTMCell", forget_bias=0.5)),
            reader(
                "BasicLSTMCell by ReLU, all of one length",
                cell("BasicLSTMCell", activation="relu"),
                lengths=False,
            ),
        ],
    ),
    "rnn.LSTMCell": [
        reader(
            "LSTMCell with all there is",
            cell(
                "LSTMCell",
                use_peepholes=True,
                cell_clip=0.5,
                num_proj=4,
                proj_clip=0.25,
            ),
        ),
        reader("LSTMCell", cell("LSTMCell")),
    ],
    "rnn.GRUCell": [reader("GRUCell", cell("GRUCell"))],
    "rnn.unroll_in_python": [
        reader("GRUCell, unrolled", cell("GRUCell"), "unroll_in_python")
    ],
    "rnn.unroll_both_ways": [
        reader("GRUCell, both ways", cell("GRUCell"), "unroll_both_ways"),
    ],
    "rnn.MultiRNNCell": [
        reader(
            "an LSTM below a GRU",
            ("MultiRNNCell", {"cells": [cell("BasicLSTMCell"), cell("GRUCell")]}),
        )
    ],
    "rnn.ResidualWrapper": [
        reader(
            "a GRU that adds what it reads",
            ("ResidualWrapper", {"cell": ("GRUCell", {"num_units": 7})}),
        )
    ],
    "rnn.DropoutWrapper": [
        dropped("a GRU", cell("GRUCell")),
        dropped(
            "a GRU on an LSTM, c spared",
            ("MultiRNNCell", {"cells": [cell("BasicLSTMCell"), cell("GRUCell")]}),
        ),
    ],
    "batch_norms.BatchNorm": [
        norm("a matrix, in training", normal("b", 16), momentum=0.9),
        norm("a matrix, in inference", normal("b", 16), False),
        norm("no gamma", normal("b", 16), scale=False),
        norm("no beta, no updates", normal("b", 16), update=False, center=False),
        norm("images, not fused", IMAGES, fused=False, momentum=0.9),
    ],
    "losses.Reduction": [reduced(each) for each in v2.losses.Reduction.ALL],
    "losses.compute_weighted_loss": elsewhere("losses.compute_weighted_loss"),
    "losses.absolute_difference": [loss("absolute_difference", LABELS, OUTPUTS)],
    "losses.mean_squared_error": [loss("mean_squared_error", LABELS, OUTPUTS)],
    "losses.huber_loss": [loss("huber_loss", LABELS, OUTPUTS, delta=0.5)],
    "losses.mean_pairwise_squared_error": elsewhere(
        "losses.mean_pairwise_squared_error"
    ),
    "losses.cosine_distance": [
        loss("cosine_distance", LABELS[:, :4], OUTPUTS[:, :4], axis=1)
    ],
    "losses.hinge_loss": [
        loss("hinge_loss", YES, OUTPUTS, skip={**TRACED, **SIGNED}),
    ],
    # Its logarithm is float32 always, and another today.
    "losses.log_loss": elsewhere("losses.log_loss"),
    "losses.sigmoid_cross_entropy": [
        loss("sigmoid_cross_entropy", YES, OUTPUTS, label_smoothing=0.1)
    ],
    "losses.softmax_cross_entropy": [
        loss(
            "softmax_cross_entropy", ONE_HOT, OUTPUTS, ROW_WEIGHTS, label_smoothing=0.1
        )
    ],
    "losses.sparse_softmax_cross_entropy": [
        loss("sparse_softmax_cross_entropy", CLASSES, OUTPUTS, ROW_WEIGHTS)
    ],
    "metrics.Metric": elsewhere("metrics.mean_f1"),
    "metrics.Mean": [
        metric("mean", [column, weights]),
        metric("mean", [vectors], "of all", ()),
    ],
    "metrics.MeanTensor": [
        Program(
            "streamed",
            "mean_tensor, weighted",
            [
                "mean_tensor",
                {},
                [(drawn(64, 4), RANDOM.randint(0, 3, [64, 1])) for _ in range(3)],
            ],
            {"more": ["weights"]},
        )
    ],
    "metrics.PercentageBelow": [
        metric("percentage_below", [column, weights], threshold=0.25)
    ],
    "metrics.Accuracy": [
        metric("accuracy", [classes, classes, weights]),
        metric("accuracy", [classes, classes], "of all", ()),
    ],
    "metrics.MeanAbsoluteError": [
        metric("mean_absolute_error", [column, column, weights])
    ],
    "metrics.MeanSquaredError": [
        metric("mean_squared_error", [column, column, weights])
    ],
    "metrics.RootMeanSquaredError": [
        metric("root_mean_squared_error", [column, column, weights])
    ],
    "metrics.MeanRelativeError": [
        metric(
            "mean_relative_error",
            [column, column, weights, weights],
            more=("normalizer", "weights"),
        )
    ],
    "metrics.MeanCosineDistance": [
        metric("mean_cosine_distance", [vectors, vectors], "of all", (), dim=1)
    ],
    "metrics.TruePositives": counts("true_positives"),
    "metrics.FalsePositives": counts("false_positives"),
    "metrics.TrueNegatives": counts("true_negatives"),
    "metrics.FalseNegatives": counts("false_negatives"),
    "metrics.Precision": counts("precision"),
    "metrics.Recall": counts("recall"),
    "metrics.AUC": [
        metric("auc", DECIDED, num_thresholds=50),
        metric("auc", DECIDED, "of PR", curve="PR", num_thresholds=50),
        metric("auc", DECIDED, "below", num_thresholds=50, summation_method="minoring"),
        Raises.alike(
            "streamed",
            "no such curve",
            ["auc", {"curve": "AU"}, batches(yes, uniform)],
            ValueError,
            "(?i)curve must be either ROC or PR",
            of="program",
        ),
    ],
    "metrics.SensitivityAtSpecificity": [
        metric("sensitivity_at_specificity", DECIDED, specificity=0.7)
    ],
    "metrics.SpecificityAtSensitivity": [
        metric("specificity_at_sensitivity", DECIDED, sensitivity=0.7)
    ],
    "metrics.MeanIoU": [metric("mean_iou", [classes, classes, weights], num_classes=6)],
    "metrics.MeanPerClassAccuracy": [
        metric("mean_per_class_accuracy", [classes, classes, weights], num_classes=6)
    ],
    "metrics.PrecisionAtK": [
        metric("precision_at_k", [classes, scores, weights], k=2),
        metric("precision_at_k", [classes, scores], "of class 3", (), k=2, class_id=3),
    ],
    "metrics.RecallAtK": [metric("recall_at_k", [classes, scores, weights], k=3)],
    "metrics.AveragePrecisionAtK": [
        metric("average_precision_at_k", [classes, scores, weights], k=3)
    ],
    "averages.ExponentialMovingAverage": [
        Program("averaged", "two of three", [MODEL, MOVING, 0.9]),
        Program(
            "averaged", "by counts", [MODEL, MOVING, 0.99], {"counts": list(range(20))}
        ),
        Raises.alike(
            "averaged",
            "integers",
            [MODEL, {"steps": np.arange(3)}, 0.9],
            TypeError,
            "must be half, float, or double|The variables must",
            of="program",
        ),
    ],
    "averages.assign_moving_average": elsewhere("numerics.averaged"),
    "averages.TensorAverage": [
        Program("averaged_tensor", "biased", [drawn(20, 50), 0.9]),
        Program(
            "averaged_tensor", "debiased", [drawn(20, 50), 0.9], {"zero_debias": 1}
        ),
    ],
    **dict.fromkeys(
        ["restore.by_name", "restore.save", "restore.named"],
        [
            Program(
                "restored",
                "by name",
                [SAVED, {k: 0 * x for k, x in SAVED.items()}],
                skip={"function": PLAIN},
            ),
            Raises.alike(
                "restored",
                "a name that is not there",
                [SAVED, {"net/x": drawn(2)}],
                tf.errors.NotFoundError,
                "net/x not found",
                of="program",
            ),
        ],
    ),
    "restore.init_from_checkpoint": [
        Program(
            "restored",
            "a scope into another",
            [SAVED, {"new/w": drawn(8, 8), "new/b": drawn(8), "x": drawn(2)}],
            {"assignment": {"net/": "new/"}},
            skip={"function": PLAIN},
        ),
    ],
}
CASES = list(BEYOND)
for cases in DESCRIPTORS.values():
    if not isinstance(cases, str):
        CASES += [case for case in cases if case not in CASES]
PROOF = proof(v1, v2, CASES)


class NumericsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DescriptorsTest(unittest.TestCase):
    """Every public name is proven, and nothing is described that is not there."""

    def modules(self):
        for path in pathlib.Path(v2.__file__).parent.glob("*.py"):
            if path.stem != "__init__":
                yield importlib.import_module(f"v2_eager.numerics.{path.stem}")

    def test_every_public_name_has_a_descriptor_and_every_descriptor_a_name(self):
        public = {
            f"{module.__name__.rpartition('.')[2]}.{name}"
            for module in self.modules()
            for name in module.__all__
        }
        self.assertEqual(public, set(DESCRIPTORS))

    def test_no_class_is_left_out(self):
        for module in self.modules():
            own = {
                name
                for name, value in vars(module).items()
                if inspect.isclass(value) and value.__module__ == module.__name__
            }
            helpers = {"Counts", "CountsAtK"}  # what some metrics share
            self.assertEqual(own - set(module.__all__) - helpers, set())

    def test_what_is_proven_elsewhere_is(self):
        for pair in {c for c in DESCRIPTORS.values() if isinstance(c, str)}:
            topic, name = pair.split(".")
            cases = CASES
            if topic != "numerics":
                module = importlib.import_module(f"parity_tests.test_{topic}")
                cases = module.PROOF.cases
            self.assertIn(name, {case.name for case in cases}, pair)

    def test_public_names_are_documented(self):
        for module in self.modules():
            for name in module.__all__:
                value = getattr(module, name)
                if callable(value) and not issubclass(type(value), type(tuple)):
                    self.assertTrue(inspect.getdoc(value), name)
