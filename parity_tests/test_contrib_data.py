import collections
import functools
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof, shorthand
from parity_tests.contrib import CONTRIB
from tf1to2.parity import Program
from v1_graph import contrib_data as v1
from v2_eager import contrib_data as v2

SKIP = {**CONTRIB, "function": PLAIN}
INVALID = tf.errors.InvalidArgumentError
RNG = np.random.RandomState(0)
LEAVES = RNG.normal(size=[4, 67]).astype("f")
NESTED = {"b": [LEAVES[0], LEAVES[1]], "a": (LEAVES[2], {"c": LEAVES[3]})}
ODD = [1, "ab", None, (2,), [], {}]
SHALLOW = {"b": 0, "a": [0, (0,)]}
DEEP = {"b": (5, {"x": 6}), "a": [[1, 2], (3,)]}
FILES = [
    "".join(f"{i}\n" for i in range(a, b)) for a, b in [(0, 30), (40, 47), (70, 99)]
]
LENGTHS = RNG.randint(1, 40, [67]).tolist()
DEFAULTS = ["int32", [0.5], [""]]
TABLE = 'a,b,c\n1,2.5,x\n2,,"y,z"\n3,1e3,w\n4,5,6\n5,0.1,7\n'
STATE = collections.namedtuple("State", "h c")
EMPTY = "a,b,c\n1,2.5,x\n2,,y\n"


def in_order_of_dict(structure):
    """Returns the leaves in the order of the dict, not sorted by key."""
    leaves = [*structure["b"], structure["a"][0], structure["a"][1]["c"]]
    answer = v2.double_leaves(structure)
    return {**answer, "leaves": leaves}


def without_none(structure):
    """Leaves out the leaves that are None."""
    answer = v2.double_leaves(structure)
    leaves = [leaf for leaf in answer["leaves"] if leaf is not None]
    return {**answer, "leaves": leaves}


def file_by_file(files, batch_size, epochs, cycle_length):
    return v2.read_batches(files, batch_size, epochs, 1)


def batches_of_epochs(files, batch_size, epochs, cycle_length):
    """Makes batches that end with the epoch."""
    return v2.read_batches(files, batch_size, 1, cycle_length) * epochs


def repeated_first(count, buffer_size, epochs, seed):
    dataset = tf.data.Dataset.range(count).repeat(epochs).shuffle(buffer_size, seed)
    drawn = np.reshape(list(dataset.as_numpy_iterator()), [epochs, count])
    return {"sorted": np.sort(drawn, 1), "repeated": [False] * (epochs - 1)}


def as_they_come(lengths, boundaries, batch_sizes):
    """Makes batches of one size, whatever the lengths."""
    dataset = tf.data.Dataset.from_tensor_slices(lengths).enumerate(start=1)
    dataset = dataset.map(lambda number, length: tf.fill([length], number))
    batches = dataset.padded_batch(batch_sizes[0]).as_numpy_iterator()
    return {**v2.bucket(lengths, boundaries, batch_sizes), "batches": list(batches)}


def to_the_boundary(lengths, boundaries, batch_sizes):
    """Makes buckets that include their upper boundary."""
    return v2.bucket(lengths, [b + 1 for b in boundaries], batch_sizes)


def with_the_rest(text, defaults, batch_size):
    with tf.io.gfile.GFile("ram://rows.csv", "w") as file:
        file.write(text)
    defaults = [tf.int32, *defaults[1:]]
    dataset = tf.data.experimental.CsvDataset("ram://rows.csv", defaults, header=True)
    return list(dataset.batch(batch_size).as_numpy_iterator())


program = functools.partial(Program, skip=SKIP)
friend = functools.partial(shorthand.friend, skip=SKIP)
refused = functools.partial(shorthand.refused, skip=SKIP)


CASES = [
    program("double_leaves", "keys that are not sorted", [NESTED], exact=True),
    program("double_leaves", "what is no tensor", [ODD]),
    friend(
        "double_leaves",
        "the order of the dict",
        [NESTED],
        in_order_of_dict,
        "the leaves of a dict come by its sorted keys",
    ),
    friend(
        "double_leaves",
        "None left out",
        [ODD],
        without_none,
        "None is a leaf, other libraries of trees have none there",
        differs="structure",
    ),
    program(
        "same_structure",
        "two dicts",
        [{"b": [1, 2], "a": (3,)}, {"a": (5,), "b": [1, 1]}],
        expect={"b": [2, 3], "a": (8,)},
    ),
    program("same_structure", "a list and a tuple", [[1], (2,), False], expect=[3]),
    program("up_to", "parts", [SHALLOW, DEEP]),
    program("up_to", "itself", [ODD, ODD]),
    program("read_batches", "in turn", [FILES, 16, 2, 2]),
    program("read_batches", "full batches", [FILES, 16, 1, 3, True]),
    program("read_batches", "more in turn than there are", [FILES, 7, 1, 5]),
    friend(
        "read_batches",
        "file by file",
        [FILES, 16, 1, 2],
        file_by_file,
        "cycle_length files are read in turn, a line of each",
    ),
    friend(
        "read_batches",
        "an end with the epoch",
        [FILES, 16, 2, 2],
        batches_of_epochs,
        "what is repeated before it is batched has batches of two epochs",
        differs="structure",
    ),
    program("shuffle_epochs", "a small buffer", [67, 16, 3, 7]),
    program("shuffle_epochs", "a large buffer", [67, 100, 2, 1]),
    friend(
        "shuffle_epochs",
        "repeated first",
        [67, 16, 3, 7],
        repeated_first,
        "shuffle_and_repeat draws all of an epoch before the next one begins",
    ),
    program("bucket", "to the longest", [LENGTHS, [8, 16, 24], [8, 4, 2, 1]]),
    program(
        "bucket",
        "to the boundary",
        [LENGTHS, [8, 16, 40], [8, 4, 2, 1]],
        {"pad_to_bucket_boundary": True},
    ),
    friend(
        "bucket",
        "as they come",
        [LENGTHS, [8, 16, 24], [8, 4, 2, 1]],
        as_they_come,
        "batches are of sequences of about a length",
        differs="structure",
    ),
    friend(
        "bucket",
        "boundaries that belong to the bucket",
        [[3, 2, 3, 2], [3], [2, 2]],
        to_the_boundary,
        "a sequence of the boundary's length is in the next bucket",
        differs="shape",
    ),
    program("read_csv", "with defaults", [TABLE, DEFAULTS, 2], exact=True),
    program(
        "read_csv", "two columns", [TABLE, ["int32", [""]], 2], {"select_cols": [0, 2]}
    ),
    friend(
        "read_csv",
        "with the rest",
        [TABLE, DEFAULTS, 2],
        with_the_rest,
        "batch_and_drop_remainder leaves out what fills no batch",
        differs="structure",
    ),
    refused(
        "same_structure", "a list for a tuple", [[1], (1,)], "same nested", TypeError
    ),
    refused("same_structure", "a part more", [[1, 2], [1]], "same nested"),
    refused("up_to", "a part too few", [SHALLOW, {**DEEP, "a": [1]}], "length"),
    refused("up_to", "another key", [{"a": 0}, {"b": 1}], "input_tree"),
    refused("up_to", "no structure", [[0], 1], "must also be a sequence", TypeError),
    refused("read_batches", "no number", [["x\n"], 2, 1, 1], "convert string", INVALID),
    refused(
        "bucket",
        "a length that is too large",
        [[1, 4, 3], [2, 4], [1, 1, 1]],
        "must have length < max",
        INVALID,
        eager=tf.errors.InternalError,
        kwargs={"pad_to_bucket_boundary": True},
    ),
    refused(
        "read_csv",
        "a field without a default",
        [EMPTY, ["int32", "float32", [""]], 2],
        "Field 1 is required but missing",
        INVALID,
    ),
    refused(
        "read_csv",
        "more fields than defaults",
        [EMPTY, [[0], [0.0]], 2],
        "Expect 2",
        INVALID,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribDataTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    @parameterized.expand(
        [
            ("a dict for a list", [0, 0], {"a": 1, "b": 2}),
            ("a list for a dict", {"a": 0, "b": 0}, [1, 2]),
            ("a list for a namedtuple", STATE(0, 0), [1, 2]),
        ]
    )
    def test_what_has_no_such_keys_is_refused(self, _, shallow, deep):
        with self.assertRaisesRegex(ValueError, "Keys are not in the input_tree"):
            v2.flatten_up_to(shallow, deep)

    def test_paths_of_a_namedtuple_have_its_fields(self):
        paths = v2.leaf_paths({"z": 0, "a": STATE(1, [2, None])})
        self.assertEqual(paths, ["a/h", "a/c/0", "a/c/1", "z"])
