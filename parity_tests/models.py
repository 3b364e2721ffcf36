"""Cases of the whole programs, `models_…`: training, evaluation and an export.

    START = models.start({"hidden/kernel": [64, 10], "hidden/bias": [10]}, models.ADAM)
    MODEL = models.Model([IMAGES, LABELS], START, skip=LAYERS)
    CASES = MODEL.cases(evaluate=[IMAGES[0], LABELS[0]], export=[IMAGES[0]])
    PROOF = proof(v1, v2, CASES)

The pages have `train(…, steps, checkpoint, folder)`, `evaluate(…, checkpoint)` and
`export(…, checkpoint, folder)`.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from tf1to2.parity import Program, Raises, structure

ADAM = {"Adam": 0.0, "Adam_1": 0.0}
POWERS = {"beta1_power": 0.9, "beta2_power": 0.999}
"""Python numbers are not widened: TensorFlow 1 made float32 powers for any dtype."""
STEPS = 100, 10, 1
"""The first one is timed: see `tf1to2.bench.pairs`."""
HALF = 50
ONES = "gamma", "moving_variance", "scale"
ZEROS = "bias", "biases", "beta", "moving_mean", "b"


def start(shapes, slots=(), **others):
    """Draws the values of a checkpoint with which a program begins.

    Args:
        shapes: {name of a variable: shape}. Biases, beta and moving means are zero,
            gamma and moving variances are one. The others are normal numbers, divided
            by the square root of the number of inputs (all but the last dimension).
        slots: {suffix: value} of the slots of the trainable variables: `ADAM`.
        **others: values of other variables, by name: `global_step=np.int64(0)`.

    Returns:
        {name: float32 array, or the value in `others`}.
    """
    values = {}
    for name, shape in shapes.items():
        last = name.rpartition("/")[2]
        if last in ONES or last in ZEROS:
            values[name] = np.full(shape, float(last in ONES), "f")
        else:
            drawn = structure.generator(name).normal(size=shape)
            values[name] = (drawn / np.sqrt(np.prod(shape[:-1]))).astype("f")
        if not last.startswith("moving_"):
            for suffix, value in dict(slots).items():
                values[f"{name}/{suffix}"] = np.full(shape, value, "f")
    return {**values, **others}


def assert_near(found, expected, most=1e-5):
    """Asserts that the variables of two programs are near: those of a Keras page.

    Args:
        found, expected: {name: array}, with the same names, dtypes and shapes.
        most: the largest difference, in parts of the largest value of an array.
    """
    names = set(found) ^ set(expected)
    assert not names, f"only one of both has {', '.join(sorted(names))}"
    for name, value in expected.items():
        kinds = [f"{array.dtype} {array.shape}" for array in (found[name], value)]
        assert kinds[0] == kinds[1], f"{name} is {kinds[0]}, not {kinds[1]}"
        apart, largest = np.abs(found[name] - value).max(), np.abs(value).max()
        assert apart <= most * largest, f"{name} differs by {apart} of {largest}"


@dataclasses.dataclass(frozen=True)
class Model:
    """A program and its data.

    Attributes:
        data: list of the first arguments of `train`.
        start: {name: array} of the checkpoint that training begins with.
        skip: {way: reason}, see `cases.Case`.
        options: {name: value}, keyword arguments of `train`.
        wide: further entries of the requests in float64: `{"widen": True}` if the
            program names float32, see `tf1to2.parity.widening`.
    """

    data: list
    start: dict
    skip: dict = dataclasses.field(default_factory=dict)
    options: dict = dataclasses.field(default_factory=dict)
    wide: dict = dataclasses.field(default_factory=dict)

    def cases(self, evaluate, export):
        """Lists the cases.

        Args:
            evaluate: list of the arguments of `evaluate` before the checkpoint.
            export: list of the arguments of `export` before the checkpoint.
        """
        return [
            *(self.train(steps, f"steps: {steps}") for steps in STEPS),
            self.case("evaluate", "from a checkpoint", [*evaluate, self.start]),
            self.case("export", "served", [*export, self.start, "folder"]),
            self.lacking(next(iter(self.start))),
        ]

    def lacking(self, name):
        """Makes a case of `train` from a checkpoint without a variable."""
        checkpoint = {n: value for n, value in self.start.items() if n != name}
        return self.case(
            "train",
            f"without {name}",
            [*self.data, 1, checkpoint],
            Raises,
            of="program",
            match=f"{name} not found in checkpoint",
            **dict.fromkeys(("graph", "eager", "function"), tf.errors.NotFoundError),
        )

    def train(self, steps, slug, kind=Program, **others):
        """Makes a case of `train` with a number of steps."""
        args = [*self.data, steps, self.start]
        return self.case("train", slug, args, kind, **others)

    def case(self, name, slug, args, kind=Program, **others):
        """Makes a case, in which a dict is a checkpoint and "folder" a folder."""
        files = {
            position: "folder" if isinstance(arg, str) else "checkpoint"
            for position, arg in enumerate(args)
            if isinstance(arg, dict) or (isinstance(arg, str) and arg == "folder")
        }
        kwargs = self.options if name == "train" else {}
        more = {"skip": self.skip, "more": {"files": files}, "wide": self.wide}
        return kind(name, slug, args, kwargs, **more, **others)
