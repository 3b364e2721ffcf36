import functools
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof, shorthand
from tf1to2.parity import FalseFriend, Op, Program, Raises, normal
from v1_graph import input_pipelines as v1
from v2_eager import input_pipelines as v2

INVALID = tf.errors.InvalidArgumentError
TEXT = {"xla": "strings do not compile"}
SKIP = {"function": PLAIN}
FUSED = {**SKIP, "graph": "compat.v1 fuses nothing any more"}


def sequences(count, width, seed=0):
    """Draws sequences of 0 to 11 steps, with up to 3 words per step."""
    random = np.random.RandomState(seed)
    rows = []
    for number in range(count):
        steps = random.randint(0, 12)
        frames = random.normal(size=[steps, width]).astype("f").tolist()
        words = [
            [b"w%d" % random.randint(100) for _ in range(random.randint(0, 4))]
            for _ in range(steps)
        ]
        rows.append((number + 1, frames, words))
    return rows


def serialized(rows):
    # NumPy strips zero bytes at the end, so the context is repeated at the end.
    return np.asarray(
        [
            example.SerializeToString(deterministic=True)
            + tf.train.SequenceExample(context=example.context).SerializeToString()
            for example in (v2.sequence_example(*row) for row in rows)
        ]
    )


def histories(rows):
    examples = []
    for number, (ids, points) in enumerate(rows):
        lists = {
            "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=ids)),
            "points": tf.train.Feature(float_list=tf.train.FloatList(value=points)),
            # The last feature by name: NumPy strips zero bytes at the end.
            "user": tf.train.Feature(int64_list=tf.train.Int64List(value=[number + 1])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=lists))
        examples.append(example.SerializeToString(deterministic=True))
    return np.asarray(examples)


def some_histories(count):
    random = np.random.RandomState(3)
    return histories(
        (random.randint(0, 9, random.randint(9)), random.normal(size=2 * (n % 5)))
        for n in range(count)
    )


RNG = np.random.RandomState(0)
SEQUENCES, ODD = sequences(67, 3), [(1, [[0.5], [1.5, 2.5]], [])]
ROWS = [RNG.randint(1, 100, RNG.randint(1, 40)).tolist() for _ in range(67)]


def shards(counts):
    return {
        f"part-{n:05d}": b"".join(b"%d\n" % (100 * n + i) for i in range(count))
        for n, count in enumerate(counts)
    }


SHARDS = shards([1, 4, 7, 2, 5, 8, 3, 6, 1, 4, 7, 2])
FULL = shards([2, 4, 8, 2, 6, 8, 4, 6, 2, 4, 8, 2])  # blocks of 2
CIFAR = {
    f"data_batch_{n}.bin": RNG.randint(0, 256, [35, 1 + 3 * 8 * 8])
    .astype(np.uint8)
    .tobytes()
    for n in (1, 2)
}
PHOTOS = {"cat/b.txt": b"meow", "dog/a.txt": b"", "cat/a b.txt": b"\x00\xff\n"}
X, Y = normal(67, 5), normal(67, 2)
LINKS = RNG.poisson(0.25, [67, 9])
TEXTS = ["héllo", "a b", "", "日本語 \U0001f600"]
TEXTS = np.asarray([text.encode() for text in TEXTS])

# --- False friends: obvious replacements that give other numbers.


def padded_by_zeros(serialized, pad):
    return v2.parse_histories(serialized, 0)


def the_rest_too(rows, sizes, **options):
    return v2.batch_sequences(rows, sizes, **{**options, "drop_remainder": False})


def by_the_names(files, cycle_length, block_length, size, worker, by_file, seed):
    """Reads files in the order of names, not the default of `list_files`."""
    return v2.read_shards(files, cycle_length, block_length, size, worker)


def lines_of_all(files, cycle_length, block_length, size, worker):
    return v2.read_shards(files, cycle_length, block_length, size, worker, False)


def file_by_file(files, cycle_length, block_length, size):
    return v2.read_shards(files, 1, 1, size)


def rows_of_pixels(files, side, crop, size):
    """Reshapes to [side, side, 3], although the file stores one plane after another."""

    def decode(value):
        record = tf.io.decode_raw(value, tf.uint8)
        image = tf.reshape(record[1:], [side, side, 3])
        image = tf.image.resize_with_crop_or_pad(tf.cast(image, "float32"), crop, crop)
        return tf.image.per_image_standardization(image), tf.cast(record[0], "int32")

    records = [
        content[i : i + 1 + side * side * 3]
        for content in files.values()
        for i in range(0, len(content), 1 + side * side * 3)
    ]
    dataset = tf.data.Dataset.from_tensor_slices(records).map(decode).batch(size)
    return list(dataset.as_numpy_iterator())


def by_today_s_order(count, buffer_size, epochs, graph_seed, seed):
    tf.random.set_seed(graph_seed)
    dataset = tf.data.Dataset.range(count).shuffle(buffer_size, seed).repeat(epochs)
    return np.reshape(list(dataset.as_numpy_iterator()), [epochs, count])


def repeated_first(count, buffer_size, epochs, graph_seed, seed):
    tf.random.set_seed(graph_seed)
    dataset = tf.data.Dataset.range(count).repeat(epochs).shuffle(buffer_size, seed)
    return np.reshape(list(dataset.as_numpy_iterator()), [epochs, count])


def from_the_beginning(x, size, seed, before, after):
    """Continues with a new iterator over the same dataset, with the same seeds."""
    runs = v2.resume(x, size, seed, before, after)
    again = v2.resume(x, size, seed, after, 0)["before"]
    return {**runs, "after": again}


def skipped(x, size, seed, before, after):
    """Skips the elements that were read, but before the shuffle."""
    runs = v2.resume(x, size, seed, before, after)
    again = v2.resume(np.roll(x, -before * size, 0), size, seed, after, 0)["before"]
    return {**runs, "after": again}


def one_element_twice(x):
    dataset = tf.data.Dataset.from_tensor_slices(x)
    return np.asarray(list(zip(dataset, dataset)))


def shuffled_by_the_dataset(x, y, start, size, epochs, seed):
    dataset = tf.data.Dataset.range(len(x)).shuffle(len(x), seed)
    orders = [np.asarray(list(dataset.as_numpy_iterator())) for _ in range(epochs)]
    permuted = iter(orders)

    class Random:
        def __init__(self, seed):
            pass

        def permutation(self, count):
            return next(permuted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(v2.np.random, "RandomState", Random)
        return v2.feed_slices(x, y, start, size, epochs, seed)


def without_the_rest(x, y, start, size, epochs, seed):
    whole = len(x) // size * size
    return v2.feed_slices(x[:whole], y[:whole], start, size, epochs, seed)


def split_at_nothing(texts):
    """Calls `tf.strings.split` with an empty separator."""
    letters = tf.strings.split(texts, "").to_tensor()
    return {**v2.split_characters(texts), "bytes": letters}


def characters_for_bytes(texts):
    answer = v2.split_characters(texts)
    return {**answer, "bytes": answer["characters"]}


program = functools.partial(Program, skip=SKIP)
friend = functools.partial(shorthand.friend, skip=SKIP)
refused = functools.partial(shorthand.refused, skip=SKIP)


CASES = [
    program("read_sequences", "many", [SEQUENCES, 3], exact=True),
    refused(
        "read_sequences",
        "a frame that is too wide",
        [ODD, 1],
        "Number of (float )?values != expected",
        INVALID,
    ),
    Op("parse_sequences", "many", [serialized(SEQUENCES), 3], skip=TEXT, exact=True),
    Raises.alike(
        "parse_sequences",
        "a frame that is too wide",
        [serialized(ODD), 1],
        INVALID,
        "Number of values != expected|Unexpected number of elements",
    ),
    Op("parse_histories", "many", [some_histories(67), -1], skip=TEXT, exact=True),
    FalseFriend(
        "parse_histories",
        "padded by 0",
        [some_histories(67), -1],
        naive=padded_by_zeros,
        because="default_value fills up, and 0 may be an id",
        skip=TEXT,
    ),
    Raises.alike(
        "parse_histories",
        "half a point",
        [histories([([1], [0.5, 1.5, 2.5])]), -1],
        INVALID,
        "Key: points|multiple of 2",
    ),
    program("batch_sequences", "padded", [ROWS, [16], 2], {"pad": -1}),
    program("batch_sequences", "to a length", [ROWS, [16]], {"length": 40}),
    program(
        "batch_sequences",
        "in buckets",
        [ROWS, [16, 8, 4], 2, [8, 24]],
        {"pad": -1, "drop_remainder": True},
    ),
    friend(
        "batch_sequences",
        "the rest of the buckets",
        [ROWS, [16, 8, 4]],
        the_rest_too,
        "drop_remainder leaves out the rest of every bucket",
        kwargs={"boundaries": [8, 24], "drop_remainder": True},
        differs="structure",
    ),
    refused(
        "batch_sequences",
        "a sequence that is too long",
        [ROWS, [16]],
        "Attempted to pad to a smaller size",
        tf.errors.DataLossError,
        kwargs={"length": 8},
    ),
    refused(
        "batch_sequences",
        "a pad of another type",
        [ROWS, [16]],
        "Padding value tensor|Invalid `padding_values`",
        TypeError,
        kwargs={"pad": np.int64(0)},
    ),
    program("read_shards", "a share of the files", [SHARDS, 3, 1, 5, (3, 1)]),
    program("read_shards", "a share of the lines", [SHARDS, 3, 1, 5, (3, 1), False]),
    program("read_shards", "full blocks", [FULL, 4, 2, 16]),
    program("read_shards", "by a seed", [SHARDS, 3, 1, 7, (1, 0), True, 5], {}),
    friend(
        "read_shards",
        "by name",
        [SHARDS, 3, 1, 7, (1, 0), True, 5],
        by_the_names,
        "list_files shuffles, unless told otherwise",
    ),
    friend(
        "read_shards",
        "lines for files",
        [SHARDS, 3, 1, 5, (3, 1)],
        lines_of_all,
        "the place of shard tells what is shared",
        differs="structure",
    ),
    friend(
        "read_shards",
        "file by file",
        [SHARDS, 4, 1, 5],
        file_by_file,
        "cycle_length files are read in turn, block_length lines of each",
    ),
    refused(
        "read_shards", "no number", [{"a": b"x\n"}, 1, 1, 1], "StringToNumber", INVALID
    ),
    refused("read_shards", "no file", [{}, 1, 1, 1], "No files matched", INVALID),
    program("read_images", "two files", [CIFAR, 8, 6, 16], float32=True),
    program("read_images", "padded", [CIFAR, 8, 10, 64], float32=True),
    friend(
        "read_images",
        "rows of pixels",
        [CIFAR, 8, 6, 16],
        rows_of_pixels,
        "a record has plane by plane: red, green, blue",
        float32=True,
    ),
    Raises(
        "read_images",
        "a record that is cut off",
        [{"a.bin": bytes(range(2 * 13 - 1))}, 2, 2, 2],
        of="program",
        eager=INVALID,
        match="is not an exact multiple of the record length",
        float32=True,
        skip=SKIP,
    ),
    program("read_whole_files", "in their order", [PHOTOS]),
    refused(
        "read_whole_files",
        "a missing file",
        [{"cat/a.txt": b"meow", "cat/b.txt": None}],
        "No such file or directory",
        tf.errors.NotFoundError,
    ),
    program("shuffle_and_repeat", "a small buffer", [67, 16, 3, 7, 7], skip=FUSED),
    program("shuffle_and_repeat", "one for all", [1031, 2000, 2, 1, 5], skip=FUSED),
    program("shuffle_and_repeat", "both seeds are 0", [67, 16, 3, 0, 0], skip=FUSED),
    program(
        "shuffle_and_repeat", "large seeds", [67, 16, 3, 2**31 + 6, 2**33], skip=FUSED
    ),
    friend(
        "shuffle_and_repeat",
        "the order of today",
        [67, 16, 3, 7, 7],
        by_today_s_order,
        "1.15 fuses shuffle and repeat, and draws from one stream",
        skip=FUSED,
    ),
    friend(
        "shuffle_and_repeat",
        "repeated first",
        [67, 16, 3, 7, 7],
        repeated_first,
        "an epoch is drawn before the next one begins",
        skip=FUSED,
    ),
    program("resume", "in the second epoch", [X, 8, 7, 11, 9]),
    friend(
        "resume",
        "from the beginning",
        [np.arange(67), 8, 7, 11, 9],
        from_the_beginning,
        "an iterator that is not in the checkpoint begins anew",
    ),
    friend(
        "resume",
        "skipped before the shuffle",
        [np.arange(67), 8, 7, 11, 9],
        skipped,
        "a checkpoint has what waits in the buffer, and the place in the draws",
    ),
    Program("describe_batches", "dense and sparse", [X, LINKS, 16]),
    program("pair_up", "odd", [np.arange(67)]),
    friend(
        "pair_up",
        "each twice",
        [np.arange(67)],
        one_element_twice,
        "each get_next of a graph takes an element",
        differs="shape",
    ),
    Program("feed_slices", "a short last slice", [X, Y, normal(5, 2), 16, 3, 0]),
    FalseFriend(
        "feed_slices",
        "the order of a dataset",
        [X, Y, normal(5, 2), 16, 3, 0],
        of="program",
        naive=shuffled_by_the_dataset,
        because="NumPy draws another permutation",
    ),
    FalseFriend(
        "feed_slices",
        "without the short slice",
        [X, Y, normal(5, 2), 16, 3, 0],
        of="program",
        naive=without_the_rest,
        because="range(0, n, size) has a last slice that is shorter",
        differs="structure",
    ),
    Op("split_characters", "several alphabets", [TEXTS], skip=TEXT),
    FalseFriend(
        "split_characters",
        "an empty separator",
        [TEXTS],
        naive=split_at_nothing,
        because="without a separator tf.strings.split splits at white space",
        differs="shape",
        skip=TEXT,
    ),
    FalseFriend(
        "split_characters",
        "characters for bytes",
        [TEXTS],
        naive=characters_for_bytes,
        because="1.15 split at bytes, of which a character may have several",
        differs="shape",
        skip=TEXT,
    ),
]
PROOF = proof(v1, v2, CASES)


# TensorFlow warns that functions of `map` never run eagerly.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class InputPipelinesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ShardsTest(unittest.TestCase):
    @parameterized.expand(
        [("one order", [0, 0, 0], 12), ("each its own", [0, 1, 2], 10)]
    )
    def test_files_that_all_workers_read(self, _, seeds, count):
        read = [
            number // 100
            for worker, seed in enumerate(seeds)
            for batch in v2.read_shards(SHARDS, 1, 1, 8, (3, worker), True, seed)
            for number in batch
        ]
        self.assertEqual(len(set(read)), count)


class OrderTest(unittest.TestCase):
    def test_a_graph_without_a_seed(self):
        order = v2.legacy_order(10, 4, 2, 87654321, 7).tolist()
        # The output of 1.15.5 for range(10).shuffle(4, 7).repeat(2).
        expected = [3, 4, 0, 5, 1, 8, 2, 7, 6, 9, 0, 2, 3, 1, 7, 4, 8, 6, 9, 5]
        self.assertEqual(order, expected)


class ResumeTest(unittest.TestCase):
    def test_python_has_no_place(self):
        numbers = tf.data.Dataset.from_generator(
            lambda: iter(range(9)), output_signature=tf.TensorSpec([], tf.int64)
        )
        checkpoint = tf.train.Checkpoint(iterator=iter(numbers))
        with (
            tempfile.TemporaryDirectory() as directory,
            self.assertRaisesRegex(
                tf.errors.FailedPreconditionError, "PyFunc is stateful"
            ),
        ):
            checkpoint.save(directory + "/model")


class DeviceTest(unittest.TestCase):
    @parameterized.expand(["prefetch_to_device", "copy_to_device"])
    def test_batches_are_the_same_on_the_device(self, name):
        to_device = getattr(tf.data.experimental, name)
        dataset = tf.data.Dataset.range(67).batch(16)
        moved = dataset.apply(to_device("/cpu:0"))
        self.assertEqual(
            [batch.tolist() for batch in dataset.as_numpy_iterator()],
            [batch.numpy().tolist() for batch in moved],
        )
