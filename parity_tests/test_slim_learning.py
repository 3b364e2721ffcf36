import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, classes
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import slim_learning as v1
from v2_eager import slim_learning as v2
from v2_eager.numerics import optimizers

INVALID = tf.errors.InvalidArgumentError
NO_FUNCTION = {**CONTRIB, "function": "it computes nothing that is worth one"}


def line(seed=0, features=5, units=2):
    random = np.random.RandomState(seed)
    x, weights = random.normal(size=[67, features]), random.normal(size=[5, units])
    y = x @ weights + 1
    start = {"line/weights": random.normal(size=[features, units])}
    start["line/biases"] = np.zeros(units)
    start = {name: value.astype("f") for name, value in start.items()}
    return [x.astype("f"), y.astype("f"), start]


def trained(seed=0):
    """Returns the content of a checkpoint, and rows that it was not trained on."""
    x, y, saved = classes(seed)
    random = np.random.RandomState(seed + 1)
    saved["hidden/BatchNorm/moving_mean"] = random.normal(size=[8]).astype("f")
    saved["hidden/BatchNorm/moving_variance"] = random.uniform(1, 9, [8]).astype("f")
    saved["global_step"] = np.int64(1000)
    return [x, y, saved]


def arrays(seed, **shapes):
    random = np.random.RandomState(seed)
    names = {name.replace("__", "/"): shape for name, shape in shapes.items()}
    return {n: random.normal(size=shape).astype("f") for n, shape in names.items()}


SHAPES = {"conv__weights": [3, 2], "conv__biases": [2], "logits__weights": [2, 5]}
SAVED, START = arrays(0, **SHAPES), arrays(1, **SHAPES)
IMAGES = np.random.RandomState(5).randint(0, 256, [3, 4, 5, 3]).astype(np.uint8)
FILES = [
    [IMAGES[:2], IMAGES[2:]],
    [
        [
            np.random.RandomState(6 + count).randint(0, 2, [count, 4, 5, 1], np.uint8)
            for count in counts
        ]
        for counts in [(2, 0), (3,)]
    ],
]
BOXES = [[[0.125, 0.25, 0.5, 0.75]], [], [[0.0, 0.0, 1.0, 1.0], [0.5, 0.1, 0.6, 0.3]]]

# --- Wrong programs that people write in place of slim.


def by_global_norm(x, y, start, steps, rate, options):
    """Clips all gradients together, by their global norm."""
    options, step = dict(options), v2.Step
    norm = options.pop("clip_gradient_norm")

    class Clipped(step):
        def __call__(self, loss):
            value, pairs = self.optimizer.differentiate(loss, self.trained)
            gradients, variables = zip(*pairs)
            gradients, _ = tf.clip_by_global_norm(gradients, norm)
            self.optimizer.apply_gradients(zip(gradients, variables), self.global_step)
            return value

    v2.Step = Clipped
    try:
        return v2.create_train_op(x, y, start, steps, rate, options)
    finally:
        v2.Step = step


def without_penalties(x, y, start, steps, rate, options):
    return v2.create_train_op(x, y, start, steps, rate, {**options, "scale": 0.0})


def until(x, y, start, stops):
    """Trains in runs that take no step if all steps have been taken."""
    done, found = 0, None
    for stop in stops:
        if stop > done:
            found, done = v2.train(x, y, start, [stop]), stop
    return found


def all_batches(x, y, saved, num_evals, batch_size):
    return v2.evaluate_once(x, y, saved, len(x), batch_size)


CASES = [
    Program(
        "create_train_op",
        "not fused",
        [*classes(), 10, 0.125, {"fused": False}],
        skip=CONTRIB,
    ),
    Program(
        "create_train_op",
        "by default",
        [*classes(1), 10, 0.125],
        float32=True,
        skip=CONTRIB,
    ),
    *(
        Program(
            "create_train_op",
            slug,
            [*classes(2), 4, 0.125, {"fused": False, **options}],
            skip=CONTRIB,
        )
        for slug, options in [
            ("clipped", {"clip_gradient_norm": 0.25, "scale": 1e-4}),
            (
                "multiplied, then clipped",
                {
                    "gradient_multipliers": {
                        "hidden/weights": 0.125,
                        "scores/biases": 0.0,
                        "nothing": 2.0,
                    },
                    "clip_gradient_norm": 0.5,
                },
            ),
            ("a part", {"train": "scores/"}),
            ("no updates", {"update_ops": []}),
        ]
    ),
    Program(
        "create_train_op",
        "NaN, not checked",
        [
            np.full([67, 6], np.nan, "f"),
            *classes()[1:],
            2,
            0.125,
            {"fused": False, "check_numerics": False},
        ],
        skip=CONTRIB,
    ),
    FalseFriend(
        "create_train_op",
        "a clip of all gradients together",
        [*classes(2), 3, 0.125, {"fused": False, "clip_gradient_norm": 0.25}],
        of="program",
        naive=by_global_norm,
        because="clip_gradient_norm is of each gradient alone, optimize_loss's of all",
        skip=CONTRIB,
    ),
    FalseFriend(
        "create_train_op",
        "a loss without its penalties",
        [*classes(2), 3, 0.125, {"fused": False}],
        of="program",
        naive=without_penalties,
        because="get_total_loss adds the penalties that the layers have collected",
        skip=CONTRIB,
    ),
    Program("train", "one run", [*line(), [5]], skip=CONTRIB),
    Program("train", "several runs", [*line(1), [3, 7, 8], 0.0625], skip=CONTRIB),
    FalseFriend(
        "train",
        "a run that is over",
        [*line(2), [3, 3]],
        of="program",
        naive=until,
        because="whether to stop is asked after a step: who is there takes one more",
        differs="structure",
        skip=CONTRIB,
    ),
    Program(
        "evaluate_once", "all rows", [*trained(), 5, 16], float32=True, skip=CONTRIB
    ),
    Program(
        "evaluate_once",
        "more batches than there are",
        [*trained(1), 9, 16],
        float32=True,
        skip=CONTRIB,
    ),
    FalseFriend(
        "evaluate_once",
        "all batches",
        [*trained(2), 3, 16],
        of="program",
        naive=all_batches,
        because="num_evals says how many batches are taken, whatever the rest is",
        float32=True,
        skip=CONTRIB,
    ),
    Program(
        "assign_from_checkpoint",
        "but for the logits",
        [SAVED, START, ["logits"]],
        skip=NO_FUNCTION,
    ),
    Program(
        "assign_from_checkpoint",
        "what there is",
        [SAVED, {**START, **arrays(3, new__weights=[4])}, []],
        {"ignore_missing": True},
        skip=NO_FUNCTION,
    ),
    Program(
        "assign_from_checkpoint",
        "nothing of it",
        [SAVED, arrays(3, new__weights=[4]), []],
        {"ignore_missing": True},
        skip=NO_FUNCTION,
    ),
    Program(
        "assign_from_checkpoint",
        "other shapes",
        [SAVED, {**START, "conv/weights": np.zeros([2, 3], "f")}, ["logits/"]],
        {"reshape": True},
        skip=NO_FUNCTION,
    ),
    Program(
        "read_examples",
        "over and over",
        [IMAGES, [4, 0, 9], BOXES, 5],
        skip=NO_FUNCTION,
    ),
    Program("read_masks", "of two files", [*FILES, 2], skip=NO_FUNCTION),
    Raises.alike(
        "create_train_op",
        "NaN",
        [np.full([67, 6], np.nan, "f"), *classes()[1:], 2, 0.125, {"fused": False}],
        INVALID,
        "LossTensor is inf or nan",
        of="program",
        skip=CONTRIB,
    ),
    Raises.alike(
        "train",
        "NaN",
        [line()[0], np.full([67, 2], np.nan, "f"), line()[2], [3]],
        INVALID,
        "LossTensor is inf or nan",
        of="program",
        skip=CONTRIB,
    ),
    Raises.alike(
        "train",
        "no steps",
        [*line(), [0]],
        ValueError,
        "number_of_steps",
        of="program",
        skip=NO_FUNCTION,
    ),
    Raises.alike(
        "assign_from_checkpoint",
        "a name that is missing",
        [SAVED, {**START, **arrays(3, new__weights=[4])}, []],
        tf.errors.NotFoundError,
        "new/weights not found",
        of="program",
        skip=NO_FUNCTION,
    ),
    Raises.alike(
        "assign_from_checkpoint",
        "all is excluded",
        [SAVED, START, ["conv", "logits"]],
        ValueError,
        "var_list cannot be empty",
        of="program",
        skip=NO_FUNCTION,
    ),
]
PROOF = proof(v1, v2, CASES)


class SlimLearningTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DetailsTest(unittest.TestCase):
    """Slim's behaviour in edge cases, as in 1.15.5; TensorFlow 2 has no slim."""

    @parameterized.expand([("none", 0), ("below", -1)])
    def test_one_batch_is_always_evaluated(self, _, num_evals):
        found = v2.evaluate_once(*trained(), num_evals, 16)
        self.assertEqual(found, v2.evaluate_once(*trained(), 1, 16))
        self.assertEqual(found["recall_2"].dtype, "float64")

    @parameterized.expand([("none", 0), ("below_0", -1)])
    def test_epochs_below_1_are_refused(self, _, epochs):
        """As in 1.15.5; with -1 a dataset would have no end."""
        with self.assertRaisesRegex(ValueError, "num_epochs must be > 0"):
            v2.read_masks(*FILES, epochs)

    def test_labels_of_any_integer(self):
        x, y, start = classes()
        args = start, 1, 0.125, {"fused": False}
        found = v2.create_train_op(x, y.astype("uint8"), *args)
        expected = v2.create_train_op(x, y, *args)
        np.testing.assert_array_equal(found["losses"], expected["losses"])

    def test_scopes_are_compared_with_names_of_tensors(self):
        start = {"a": np.float32([1]), "b": np.float32([2]), "bc": np.float32([3])}
        saved = {"a": np.float32([4]), "bc": np.float32([5])}
        found = v2.assign_from_checkpoint(saved, start, ["b:0"])
        self.assertEqual([found[n].tolist() for n in start], [[4], [2], [5]])


class StepTest(unittest.TestCase):
    def test_rows_that_are_clipped_keep_their_shape(self):
        table = tf.Variable([[3.0], [4.0]], name="table")
        take = v2.Step([table], optimizers.GradientDescent(1.0), clip_gradient_norm=5.0)
        rows = tf.IndexedSlices([[3.0]], [0], tf.constant([2, 1]))
        found = take.transformed(rows, table)
        self.assertEqual(found.dense_shape.numpy().tolist(), [2, 1])

    def test_a_table_is_clipped_by_its_rows_and_what_has_no_gradient_stays(self):
        table = tf.Variable([[3.0], [4.0], [9.0]], name="table")
        left_alone = tf.Variable(3.0, name="left_alone")
        take = v2.Step(
            [table, left_alone],
            optimizers.GradientDescent(1.0),
            clip_gradient_norm=5.0,
            gradient_multipliers={"table": 2.0},
        )
        take(lambda: tf.reduce_sum(tf.gather(table, [0, 1]) ** 2) / 2)
        self.assertEqual(table.numpy().tolist(), [[0], [0], [9]])
        self.assertEqual(left_alone.numpy(), 3)

    def test_a_factor_of_what_has_no_gradient(self):
        variables = [tf.Variable(1.0, name="used"), tf.Variable(1.0, name="unused")]
        take = v2.Step(
            variables,
            optimizers.GradientDescent(1.0),
            gradient_multipliers={"unused": 2.0},
        )
        with self.assertRaisesRegex(ValueError, "multiple of `None`"):
            take(lambda: 2 * variables[0])
        self.assertEqual([v.numpy() for v in variables], [1, 1])

    def test_a_loss_that_is_none_leaves_the_weights(self):
        weight = tf.Variable(1.0)
        take = v2.Step([weight], optimizers.GradientDescent(1.0))
        with self.assertRaisesRegex(INVALID, "LossTensor"):
            take(lambda: weight * np.inf)
        self.assertEqual([weight.numpy(), take.global_step.numpy()], [1, 0])
