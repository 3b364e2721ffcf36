import contextlib
import os
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Program, Raises, dyadic
from tf1to2.parity.v1 import legacy
from v1_graph import queues as v1
from v2_eager import queues as v2

SIDES = [("v1", v1, legacy), ("v2", v2, contextlib.nullcontext)]
FIVE = np.float32([1, 2, 3, 4, 5])
SIX = np.arange(6)
FILES = {"a.txt": "one\ntwo\n", "b.txt": "three"}
TABLE = "1,2,a\n,3,b\n4.5,5,\n"


def draw_by_dataset(values, count, seed):
    tf.random.set_seed(seed)
    dataset = tf.data.Dataset.from_tensor_slices(values).shuffle(len(values), seed=seed)
    return next(iter(dataset.batch(count)))


def csv_with_the_rest(text, size, epochs):
    batches = v2.csv_batches(text, size, epochs, smaller=True)
    return [tuple(batch) for batch in batches]


def slices_by_dataset(x, y, size, epochs, seed):
    tf.random.set_seed(seed)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=seed)
    dataset = dataset.repeat(epochs).batch(size, drop_remainder=True)
    return list(dataset.as_numpy_iterator())


CASES = [
    Program(
        "fifo_queue",
        "the rest stays inside",
        [FIVE, 2],
        expect=([[1, 2], [3, 4]], 1),
        exact=True,
        skip={"function": PLAIN},
    ),
    Program(
        "fifo_queue",
        "a smaller batch",
        [FIVE, 2, True],
        expect=([[1, 2], [3, 4], [5]], 0),
        exact=True,
        skip={"function": PLAIN},
    ),
    Program(
        "fifo_queue",
        "matrices",
        [dyadic(7, 2, 3), 3],
        exact=True,
        skip={"function": PLAIN},
    ),
    Program(
        "random_queue",
        "all, in the order of TensorFlow 1",
        [np.arange(8), 8, 7],
        expect=[0, 4, 1, 5, 3, 6, 7, 2],
        skip={"function": PLAIN},
    ),
    Program("random_queue", "some", [np.arange(100), 30, 5], skip={"function": PLAIN}),
    FalseFriend(
        "random_queue",
        "the shuffle of a dataset",
        [np.arange(8), 8, 7],
        of="program",
        naive=draw_by_dataset,
        because="another algorithm draws from the same stream",
        skip={"function": PLAIN},
    ),
    Raises(
        "random_queue",
        "more than there are",
        [np.arange(8), 9, 7],
        of="program",
        graph=tf.errors.OutOfRangeError,
        eager=tf.errors.OutOfRangeError,
        function=tf.errors.OutOfRangeError,
        match=r"is closed and has insufficient elements \(requested 9,",
    ),
    Program("squares", "numbers", [5, 2], expect=[0, 1, 4, 9, 16]),
    Program("squares", "many", [30, 1]),
    Program(
        "produce_and_consume",
        "all",
        [[1.0, 4.0, 9.0, 2.0], 1, 9],
        expect=[2, 4, 6, 8**0.5],
    ),
    Program(
        "produce_and_consume",
        "stopped early, with the producer waiting",
        [[float(n * n) for n in range(50)], 1, 2],
        expect=[0, 2],
    ),
    Raises(
        "produce_and_consume",
        "the producer fails",
        [[1.0, -4.0, 9.0], 1, 9],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="math domain error",
    ),
    Program(
        "read_lines",
        "two epochs",
        [FILES, 2],
        expect=[
            (b"a.txt:1", b"one"),
            (b"a.txt:2", b"two"),
            (b"b.txt:1", b"three"),
        ]
        * 2,
    ),
    Program(
        "read_lines", "without headers", [FILES, 1, 1], expect=[(b"a.txt:2", b"two")]
    ),
    Program(
        "read_lines",
        "an empty file and empty lines",
        [{"a": "", "b": "\n\nx\r\n"}, 1],
        expect=[(b"b:1", b""), (b"b:2", b""), (b"b:3", b"x")],
    ),
    Raises(
        "read_lines",
        "a missing file",
        [{**FILES, "c.txt": None}, 1],
        of="program",
        graph=tf.errors.NotFoundError,
        eager=tf.errors.NotFoundError,
        function=tf.errors.NotFoundError,
        match="c.txt; No such file or directory",
    ),
    Raises(
        "read_lines",
        "no files",
        [{}, 1],
        of="program",
        graph=ValueError,
        match="requires a non-null input tensor",
        expect=[],
    ),
    Raises(
        "read_lines",
        "local variables forgotten",
        [FILES, 1, 0, False],
        of="program",
        graph=tf.errors.FailedPreconditionError,
        match="uninitialized value input_producer/limit_epochs/epochs",
        expect=[(b"a.txt:1", b"one"), (b"a.txt:2", b"two"), (b"b.txt:1", b"three")],
    ),
    Program(
        "csv_batches",
        "the rest is dropped",
        [TABLE, 2, 1],
        expect=[([1, -1], [2, 3], [b"a", b"b"])],
    ),
    Program(
        "csv_batches",
        "a smaller batch",
        [TABLE, 2, 1, True],
        expect=[([1, -1], [2, 3], [b"a", b"b"]), ([4.5], [5], [b"none"])],
    ),
    Program(
        "csv_batches", "batches straddle epochs", ['0.1,7,"a, b"\n2,8,"c"\n', 3, 5]
    ),
    FalseFriend(
        "csv_batches",
        "batch as it is by default",
        [TABLE, 2, 1],
        of="program",
        naive=csv_with_the_rest,
        because="Dataset.batch keeps the smaller batch, tf.train.batch dropped it",
        differs="structure",
    ),
    Program(
        "padded_batches",
        "padded to the longest of the batch",
        [[[1], [2, 3], [], [4, 5, 6], [7]], 2],
        expect=[[[1, 0], [2, 3]], [[0, 0, 0], [4, 5, 6]]],
    ),
    Program(
        "shuffled_slices",
        "three epochs, in the order of TensorFlow 1",
        [SIX, np.float32(SIX) / 2, 6, 3, 7],
        expect=[
            ([4, 3, 5, 2, 1, 0], [2, 1.5, 2.5, 1, 0.5, 0]),
            ([2, 5, 0, 3, 1, 4], [1, 2.5, 0, 1.5, 0.5, 2]),
            ([4, 2, 5, 0, 3, 1], [2, 1, 2.5, 0, 1.5, 0.5]),
        ],
        exact=True,
    ),
    Program(
        "shuffled_slices", "batches straddle epochs", [dyadic(7, 2), dyadic(7), 4, 5, 3]
    ),
    FalseFriend(
        "shuffled_slices",
        "the shuffle of a dataset",
        [SIX, np.float32(SIX), 6, 3, 7],
        of="program",
        naive=slices_by_dataset,
        because="the producer shuffled indices by tf.random.shuffle",
        exact=True,
    ),
    Raises(
        "shuffled_slices",
        "fewer labels than rows",
        [SIX, SIX[:4], 6, 1, 7],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=r"= [45] is not in \[0, 4\)|index 5|slice index",
    ),
    Program(
        "shuffle_batches",
        "the same elements",
        [np.arange(20), 4, 8, 7],
        expect=([4] * 5, list(range(20)), True),
        skip={"function": PLAIN},
    ),
    Program(
        "shuffle_batches",
        "from few",
        [np.arange(40), 8, 4, 7],
        skip={"function": PLAIN},
    ),
    Program(
        "join_files",
        "three files, two readers",
        [{"a": "x\ny\n", "b": "z\n1\n2\n", "c": "p\nq"}, 2],
        expect=[b"1", b"2", b"p", b"q", b"x", b"y", b"z"],
    ),
]
CASES += [
    Raises(
        "csv_batches",
        slug,
        [text, 2, 1],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=match,
    )
    for slug, text, match in [
        ("a word for a number", "1,2,a\n2,x,b\n", "Field 1 in record . is not a valid"),
        ("a required field", "1,2,a\n2,,b\n", "Field 1 is required but missing"),
        ("too few fields", "1,2,a\n2,3\n", "Expect 3 fields but have 2 in record"),
        ("a quote left open", '1,2,"a\n2,3,b\n', "Quoted field has to end with quote"),
    ]
]
PROOF = proof(v1, v2, CASES)


# `map` never runs its function eagerly, and TensorFlow warns of that.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class QueuesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ThreadsTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("all", [[1.0, 4.0, 9.0], 1, 9], None),
            ("stopped_early", [[1.0] * 50, 1, 2], None),
            ("failed", [[1.0, -1.0], 1, 9], ValueError),
        ]
    )
    def test_none_is_left(self, _, args, error):
        before = set(threading.enumerate())
        with legacy():
            if error:
                with self.assertRaises(error):
                    v1.produce_and_consume(*args)
            else:
                v1.produce_and_consume(*args)
            v1.squares(5, 2)
            v1.read_lines(FILES, 1)
        self.assertEqual(set(threading.enumerate()) - before, set())

    def test_without_runners_nothing_ever_comes(self):
        config = v1.tf.ConfigProto(operation_timeout_in_ms=100)
        with legacy(), v1.tf.Session(config=config) as sess:
            number = v1.tf.train.range_input_producer(5).dequeue()
            sess.run(v1.tf.local_variables_initializer())
            with self.assertRaises(tf.errors.DeadlineExceededError):
                sess.run(number)

    def test_the_end_of_a_queue_hides_what_went_wrong(self):
        with legacy(), v1.tf.Session() as sess:
            line = v1.tf.train.string_input_producer(["x"], num_epochs=1).dequeue()
            number = v1.tf.train.batch([v1.tf.string_to_number(line)], 1)
            sess.run(v1.tf.local_variables_initializer())
            coord = v1.tf.train.Coordinator()
            threads = v1.tf.train.start_queue_runners(sess, coord)
            with self.assertRaisesRegex(tf.errors.OutOfRangeError, "insufficient"):
                sess.run(number)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "StringToNum"):
                coord.join(threads)


class OrderTest(unittest.TestCase):
    def test_interleave_keeps_its_order(self):
        with tempfile.TemporaryDirectory() as directory:
            paths = []
            for name in "ab":
                paths.append(os.path.join(directory, name))
                with open(paths[-1], "w") as file:
                    file.writelines(f"{name}{i}\n" for i in range(3))
            dataset = tf.data.Dataset.from_tensor_slices(paths).interleave(
                tf.data.TextLineDataset, cycle_length=2, num_parallel_calls=2
            )
            for _ in range(3):
                lines = b" ".join(dataset.as_numpy_iterator())
                self.assertEqual(lines, b"a0 b0 a1 b1 a2 b2")

    def test_the_right_page_s_shuffle_is_the_same_in_every_run(self):
        def order():
            tf.random.set_seed(1)
            dataset = tf.data.Dataset.range(20).shuffle(12, seed=7).batch(20)
            return next(iter(dataset)).numpy().tolist()

        self.assertEqual(order(), order())

    @parameterized.expand([("v1", v1, legacy), ("v2", v2, contextlib.nullcontext)])
    def test_shuffled_batches_drop_any_two_of_twenty_two(self, _, page, semantics):
        with semantics():
            sizes, elements, _ = page.shuffle_batches(np.arange(22), 4, 8, 7)
        self.assertEqual(sizes, [4] * 5)
        self.assertEqual(len(set(elements) & set(range(22))), 20)


class NamesTest(unittest.TestCase):
    def test_what_stayed_and_what_went(self):
        for name in ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue"):
            self.assertTrue(hasattr(tf.queue, name))
        self.assertTrue(hasattr(tf.train, "Coordinator"))
        for name in (
            "string_input_producer slice_input_producer batch shuffle_batch batch_join "
            "QueueRunner start_queue_runners"
        ).split():
            self.assertFalse(hasattr(tf.train, name))
            self.assertTrue(hasattr(v1.tf.train, name))

    def test_producers_need_a_graph(self):
        with self.assertRaisesRegex(RuntimeError, "not supported when eager"):
            v1.tf.train.string_input_producer(["x"])


class NumbersTest(unittest.TestCase):
    @parameterized.expand(
        [
            (f"{side}_{name}_{epochs}", page, semantics, name, args, epochs)
            for side, page, semantics in SIDES
            for name, args in [
                ("read_lines", [FILES]),
                ("csv_batches", [TABLE, 2]),
                ("shuffled_slices", [SIX, SIX, 2]),
            ]
            for epochs in (0, -1)
        ]
    )
    def test_epochs_below_1(self, _, page, semantics, name, args, epochs):
        rest = [7] if name == "shuffled_slices" else []
        with semantics(), self.assertRaisesRegex(ValueError, "num_epochs must be > 0"):
            getattr(page, name)(*args, epochs, *rest)

    @parameterized.expand(SIDES)
    def test_a_bad_line_in_a_rest_that_is_dropped(self, _, page, semantics):
        text = "1,2,a\n2,3,b\n3,x,c\n"
        with (
            semantics(),
            self.assertRaisesRegex(
                tf.errors.InvalidArgumentError,
                "Field 1 in record 0 is not a valid int64",
            ),
        ):
            page.csv_batches(text, 2, 1)

    @parameterized.expand(SIDES)
    def test_a_limit_below_0_is_none(self, _, page, semantics):
        with semantics():
            self.assertEqual(page.produce_and_consume([1.0, 4.0], 2, -1), [])


class FilesTest(unittest.TestCase):
    @parameterized.expand([("v1", v1, legacy), ("v2", v2, contextlib.nullcontext)])
    def test_none_is_left_behind(self, _, page, semantics):
        with tempfile.TemporaryDirectory() as directory, semantics():
            with mock.patch.object(tempfile, "tempdir", directory):
                page.read_lines(FILES, 1)
                page.csv_batches(TABLE, 2, 1)
                page.padded_batches([[1], [2, 3]], 2)
                page.join_files(FILES, 2)
                with self.assertRaises(tf.errors.NotFoundError):
                    page.read_lines({"a": None}, 1)
            left = [f for f in os.listdir(directory) if "__autograph" not in f]
            self.assertEqual(left, [])  # AutoGraph's own code is deleted at exit
