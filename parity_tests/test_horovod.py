import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import horovod as v1
from v2_eager import horovod as v2

hvd = v2.hvd


def normal(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape).astype("f")


def starts(ranks, seed=2):
    return [[normal(seed + r, 5, 2), normal(seed + r + 9, 2)] for r in range(ranks)]


X = normal(0, 67, 5)
Y = X @ normal(1, 5, 2) + 1
SAVED = {"kernel": normal(20, 5, 2), "bias": normal(21, 2)}
SAVED.update({n + "/Momentum": normal(22, *a.shape) for n, a in SAVED.items()})
LOGITS = 2 * normal(3, 67, 4)
LABELS = np.random.RandomState(4).randint(0, 4, 67)
IDS = np.random.RandomState(5).randint(0, 300, [5, 67, 3])
TABLES = [normal(6 + rank, 300, 4) for rank in range(2)]
TABLE = [IDS, normal(8, 5, 67, 4), TABLES]
PASSES = [normal(9, 12, 67, 5), normal(10, 12, 67, 2), starts(1)[0]]

# --- False friends: obvious replacements that give other numbers.


def after_the_first_step(*args):
    """Broadcasts after the first step, as in Horovod's example for TensorFlow 2."""
    broadcast = hvd.broadcast_variables

    class Example(v2.optimizers.Adam):
        def apply_gradients(self, pairs, global_step):
            pairs = list(pairs)
            super().apply_gradients(pairs, global_step)
            variables = [v for _, v in pairs] + list(self.variables)

            def first():
                broadcast(variables, root_rank=0)

            tf.cond(global_step == 1, first, lambda: None)

    with (
        mock.patch.object(v2.optimizers, "Adam", Example),
        mock.patch.object(hvd, "broadcast_variables"),
    ):
        return v2.train(*args)


def without_slots(x, y, saved, starts, steps):
    broadcast = hvd.broadcast_variables

    def model_only(variables, root_rank):
        broadcast([v for v in variables if "Momentum" not in v.name], root_rank)

    with mock.patch.object(hvd, "broadcast_variables", model_only):
        return v2.resume(x, y, saved, starts, steps)


def summed(*args):
    reduce = hvd.allreduce

    def allreduce(tensor, op):
        return reduce(tensor, op=hvd.Sum)

    with mock.patch.object(hvd, "allreduce", allreduce):
        return v2.evaluate(*args)


def over_all_rows(logits, labels, ranks):
    (alone,) = v2.evaluate(logits, labels, 1)
    found = v2.evaluate(logits, labels, ranks)
    return [{**one, "loss": alone["loss"]} for one in found]


def dense(ids, *args):
    rows = np.concatenate([ids[-1, 0::2], ids[-1, 1::2]]).ravel()
    found = v2.train_table(ids, *args, sparse_as_dense=True)
    return [{**one, "rows": rows} for one in found]


def in_full(*args):
    with mock.patch.object(hvd.Compression, "fp16", hvd.Compression.none):
        return v2.train_in_halves(*args)


def divided_batches(x, y, start, batch_size, steps):
    """Distributes plain batches, each of which is divided between the replicas."""

    def distribute(strategy, feed):
        data = tf.data.Dataset.from_tensor_slices((x, y)).repeat()
        return strategy.experimental_distribute_dataset(data.batch(2 * batch_size))

    name = "distribute_datasets_from_function"
    with mock.patch.object(tf.distribute.MirroredStrategy, name, distribute):
        return v2.replicate(x, y, start, batch_size, steps)


CASES = [
    FalseFriend(
        "train",
        "after the first step",
        [X, Y, starts(2), 8],
        of="program",
        naive=after_the_first_step,
        because="the first step is made of the gradients of all starts",
    ),
    Program("train", "four ranks", [X, Y, starts(4), 6]),
    FalseFriend(
        "resume",
        "weights without slots",
        [X, Y, SAVED, starts(2), 5],
        of="program",
        naive=without_slots,
        because="each rank goes on with a momentum of its own, and they drift apart",
    ),
    FalseFriend(
        "evaluate",
        "sums",
        [LOGITS, LABELS, 2],
        of="program",
        naive=summed,
        because="an allreduce is an average unless op says otherwise",
    ),
    FalseFriend(
        "evaluate",
        "four ranks",
        [LOGITS, LABELS, 4],
        of="program",
        naive=over_all_rows,
        because="three ranks have 17 rows, one has 16, and each mean counts alike",
    ),
    FalseFriend(
        "train_table",
        "rows made dense",
        TABLE,
        of="program",
        naive=dense,
        because="momentum then moves every row, looked up or not",
    ),
    Program("train_table", "dense", TABLE, {"sparse_as_dense": True}),
    FalseFriend(
        "train_in_halves",
        "two ranks",
        [X, Y, starts(1)[0], 10, 2],
        of="program",
        naive=in_full,
        because="gradients have 11 bits on their way",
    ),
    Program("train_in_halves", "beyond 65,504", [300 * X, 300 * Y, starts(1)[0], 2, 2]),
    FalseFriend(
        "accumulate",
        "three passes",
        [*PASSES, 3, 2],
        of="program",
        naive=lambda *args: v2.accumulate(*args, average=True),
        because="gradients of the passes are added, and not averaged",
    ),
    Program("accumulate", "a mean of five", [*PASSES, 5, 2], {"average": True}),
    Raises(
        "accumulate",
        "units that do not fit",
        [PASSES[0], normal(11, 12, 67, 3), PASSES[2], 3, 2],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="must be equal|Incompatible shapes",
    ),
    FalseFriend(
        "replicate",
        "divided batches",
        [X, Y, starts(1)[0], 8, 12],
        of="program",
        naive=divided_batches,
        because="a rank had every second row; a replica has a half of each batch",
    ),
]
PROOF = proof(v1, v2, CASES)


class HorovodTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class RanksTest(unittest.TestCase):
    """The stand-in does what Horovod's documentation says and Horovod 0.28.1 does."""

    def run_ranks(self, function, ranks=3):
        def main():
            hvd.init()
            return function()

        return v2.horovod.run(main, np=ranks)

    def test_a_rank_that_ends_early(self):
        def reduce():
            for _ in range(2 - hvd.rank()):
                hvd.allreduce(tf.ones([]))

        with self.assertRaisesRegex(tf.errors.UnknownError, "has been shut down"):
            self.run_ranks(reduce, 2)

    def test_a_rank_that_ends_early_in_a_session(self):
        def reduce():
            with tf.Graph().as_default(), v1.tf.Session() as sess:
                mean = hvd.allreduce(tf.ones([]))
                for _ in range(2 - hvd.rank()):
                    sess.run(mean)

        with self.assertRaisesRegex(tf.errors.UnknownError, "has been shut down"):
            self.run_ranks(reduce, 2)

    def test_a_mean_is_multiplied_and_slices_are_divided(self):
        def reduce():
            x = tf.constant([5.0])
            slices = tf.IndexedSlices(x, tf.constant([hvd.rank()]), [3])
            return hvd.allreduce(x).numpy(), hvd.allreduce(slices)

        for mean, slices in self.run_ranks(reduce):
            self.assertEqual(mean, np.float32(15) * np.float32(1 / 3))
            self.assertEqual(slices.indices.numpy().tolist(), [0, 1, 2])
            np.testing.assert_array_equal(slices.values, [np.float32(5 / 3)] * 3)

    def test_what_is_gathered_and_broadcast(self):
        def exchange():
            rows = tf.fill([hvd.rank() + 1], hvd.rank())
            root = hvd.broadcast(tf.constant(hvd.rank()), 2)
            return hvd.allgather(rows).numpy().tolist(), root.numpy()

        self.assertEqual(self.run_ranks(exchange), [([0, 1, 1, 2, 2, 2], 2)] * 3)

    def test_alone(self):
        ((rank, size, value),) = self.run_ranks(
            lambda: (hvd.rank(), hvd.size(), hvd.allreduce(tf.constant(5.0)).numpy()), 1
        )
        self.assertEqual((rank, size, value), (0, 1, 5))

    @parameterized.expand(
        [
            (
                "both",
                lambda: hvd.allreduce(1.0, average=True, op=hvd.Sum),
                "supersedes",
            ),
            ("a_dict", lambda: hvd.broadcast_variables({}.values(), 0), "list"),
        ]
    )
    def test_what_is_refused(self, _, call, match):
        with self.assertRaisesRegex(ValueError, match):
            self.run_ranks(call, 1)

    def test_before_init(self):
        with self.assertRaisesRegex(ValueError, "has not been initialized"):
            v2.horovod.run(hvd.rank, np=1)

    def test_slices_do_not_add_up_over_passes(self):
        def build():
            with tf.Graph().as_default():
                table = v1.tf.get_variable("table", [3, 2])
                loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
                optimizer = v1.tf.train.GradientDescentOptimizer(1.0)
                hvd.DistributedOptimizer(
                    optimizer, backward_passes_per_step=2
                ).minimize(loss)

        with self.assertRaisesRegex(ValueError, "IndexedSlices are not supported"):
            self.run_ranks(build, 1)
