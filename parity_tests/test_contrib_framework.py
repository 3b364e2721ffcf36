import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, friend, layer
from tf1to2.parity import FalseFriend, Program, Raises
from tf1to2.parity.arrays import normal
from v1_graph import contrib_framework as v1
from v2_eager import contrib_framework as v2

NO_FUNCTION = {**CONTRIB, "function": "it computes nothing that is worth one"}


def checkpoint(seed, step):
    random = np.random.RandomState(seed)
    return {
        "body/kernel": random.normal(0, 0.1, [64, 16]).astype("f"),
        "body/bias": random.normal(0, 0.1, [16]).astype("f"),
        "global_step": np.int64(step),
    }


def blobs(seed=0, rows=1031):
    """Rows around three centers, and three of them to start at."""
    random = np.random.RandomState(seed)
    middles = random.normal(0, 3, [3, 2])
    x = random.normal(middles[random.randint(0, 3, rows)]).astype("f")
    return [x, x[:3]]


def batch(rows, seed=0):
    random = np.random.RandomState(seed)
    return {
        "image": random.normal(size=[rows, 3, 2]).astype("f"),
        "poses": [random.normal(size=[rows, 4]).astype("f"), np.arange(rows)],
    }


CHECKPOINTS = [checkpoint(seed, 1000 * seed) for seed in range(5)]
X = np.random.RandomState(3).normal(1, 2, [67, 5]).astype("f")
COSTS = np.random.RandomState(4).normal(2, 1, [3, 2]).astype("f")
START = checkpoint(7, 0)
del START["global_step"]
START["head/kernel"] = X[:16].copy()

# --- What is written in place of contrib.


def in_float32(checkpoints):
    """Means in the dtype of the variables, which is quicker to write."""
    names = [name for name in checkpoints[0] if name != "global_step"]
    means = {n: np.mean([saved[n] for saved in checkpoints], 0) for n in names}
    return {**means, "global_step": np.int64(0)}


def of_everything(checkpoints):
    """Means of whatever there is, the global step among it."""
    names = checkpoints[0]
    return {
        n: np.mean([saved[n] for saved in checkpoints], 0, "f8").astype(
            checkpoints[0][n].dtype
        )
        for n in names
    }


def with_scopes(tags, values):
    """Today's scalar, which puts the scope before the tag, and writes a tensor."""
    with v2.tempfile.TemporaryDirectory() as directory:
        writer = tf.summary.create_file_writer(directory)
        with writer.as_default(), tf.name_scope("train"):
            for step, row in enumerate(tf.constant(values)):
                for tag, value in zip(tags, row):
                    tf.summary.scalar(tag, value, step)
                tf.summary.scalar("cost (total)", tf.reduce_sum(row), step)
                tf.summary.histogram("costs", row, step)
        writer.close()
        return v2.read_folder(directory)


def with_the_new_mean(decay=0.9, name="centered"):
    """Takes the moving mean in training, too."""

    class Late(v2.Centered):
        def __call__(self, x, is_training):
            super().__call__(x, is_training)
            return x - self.moving_mean

    return Late(decay, name)


def kept_in_place(x, centers, steps):
    """A center that no row is near to stays where it is."""
    found = v2.cluster(x, centers, steps)
    lost = np.setdiff1d(np.arange(len(centers)), found["assigned"])
    found["centers"][lost] = centers[lost]
    return found


FAR = [blobs(3)[0], np.float32([[0, 0], [2, 2], [99, 99]])]

CASES = [
    Program("average_checkpoints", "the last five", [CHECKPOINTS], skip=NO_FUNCTION),
    FalseFriend(
        "average_checkpoints",
        "means in float32",
        [CHECKPOINTS],
        of="program",
        naive=in_float32,
        because="sums were of float64, which np.zeros makes, and were rounded once",
        float32=True,
        skip=NO_FUNCTION,
    ),
    FalseFriend(
        "average_checkpoints",
        "a mean of the steps",
        [CHECKPOINTS],
        of="program",
        naive=of_everything,
        because="the global step was left out, and begins at 0",
        skip=NO_FUNCTION,
    ),
    Program(
        "restore_model",
        "a body, and a head of its own",
        [CHECKPOINTS[4], START, ["body/kernel", "body/bias"], 3],
        skip=NO_FUNCTION,
    ),
    Program(
        "fetch",
        "numbers and text",
        [X, {"rate": 0.1, "names": ["a", "b"], "units": (32, 10)}],
        skip=NO_FUNCTION,
    ),
    Program(
        "feed_by_specs", "rows that vary", [[batch(67), batch(1031, 1)]], skip=CONTRIB
    ),
    layer("make_centered", "a bool", [normal("b", 5), True]),
    layer("make_centered", "not training", [normal("b", 5), False], {"decay": 0.5}),
    layer("make_centered", "a tensor", [normal("b", 5), np.array(True)]),
    friend(
        "make_centered",
        "the moving mean in training",
        [X, True],
        with_the_new_mean,
        "while training the mean is that of the batch",
    ),
    Program(
        "write_old_summaries",
        "tags of all kinds",
        [["loss/xent", "learning rate"], COSTS],
        exact=True,
        skip=NO_FUNCTION,
    ),
    FalseFriend(
        "write_old_summaries",
        "today's scalar",
        [["loss/xent", "learning rate"], COSTS],
        of="program",
        naive=with_scopes,
        because="tags were as given; today the scope is put before them",
        differs="structure",
        exact=True,
        skip=NO_FUNCTION,
    ),
    Program("cluster", "ten steps", [*blobs(), 10], float32=True, skip=CONTRIB),
    Program("cluster", "angles", [*blobs(1), 10, True], float32=True, skip=CONTRIB),
    Program("cluster", "a center without rows", [*FAR, 1], float32=True, skip=CONTRIB),
    FalseFriend(
        "cluster",
        "a center that stays",
        [*FAR, 1],
        of="program",
        naive=kept_in_place,
        because="a center that no row is near to becomes 0",
        float32=True,
        skip=CONTRIB,
    ),
    Raises.alike(
        "average_checkpoints",
        "a name that a later one lacks",
        [[CHECKPOINTS[0], {"body/kernel": CHECKPOINTS[1]["body/kernel"]}]],
        tf.errors.NotFoundError,
        "body/bias not found",
        of="program",
        skip=NO_FUNCTION,
    ),
    Raises.alike(
        "restore_model",
        "a name that the checkpoint lacks",
        [CHECKPOINTS[4], START, ["body/kernel", "head/kernel"], 3],
        tf.errors.NotFoundError,
        "head/kernel not found",
        of="program",
        skip=NO_FUNCTION,
    ),
    Raises(
        "feed_by_specs",
        "another shape",
        [[batch(4), {**batch(4), "image": X}]],
        graph=ValueError,
        function=TypeError,
        match="Cannot feed value of shape|Binding inputs",
        of="program",
        skip={**CONTRIB, "eager": "no signature is asked of what runs eagerly"},
    ),
    Raises.alike(
        "write_old_summaries",
        "a value that is none",
        [["a", "b"], np.full([1, 2], np.nan, "f")],
        tf.errors.InvalidArgumentError,
        "Nan in summary histogram",
        of="program",
        skip=NO_FUNCTION,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribFrameworkTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DetailsTest(unittest.TestCase):
    def test_a_variable_is_a_tensor_and_no_instance_of_it(self):
        rows = tf.Variable(3)
        self.assertTrue(tf.is_tensor(rows))
        self.assertNotIsInstance(rows, tf.Tensor)

    def test_a_condition_takes_no_bool_of_python(self):
        @tf.function
        def chosen():
            return tf.cond(True, lambda: 1.0, lambda: 2.0)

        with self.assertRaisesRegex(TypeError, "pred must not be a Python bool"):
            chosen()
