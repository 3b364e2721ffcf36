import ast
import contextlib
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import Op, Program, Raises
from tf1to2.parity.recordings import Recording
from tf1to2.parity.v1 import legacy
from v1_graph import records as v1
from v2_eager import records as v2

ROWS = [
    {"id": [1], "label": [b"cat"], "values": [0.5, 1.5]},
    {"id": [2], "values": []},
    {"id": [-3], "label": [b""], "values": [0.1]},
]


def genuine():
    """Returns the file that the genuine TensorFlow 1.15.5 wrote."""
    path = pathlib.Path(__file__).parent / "golden" / "records.npz"
    entry = Recording(path, v1).about["entries"]["write_records, several kinds"]
    with np.load(path) as store:
        return ast.literal_eval(str(store[entry["number"] + ":outputs"]))


FILE = genuine()
PIXELS = np.asarray([b"\x00\x40\x80\x01\x02\x03", b"\xc0\xff\x20\x0a\x0b\x0c"])


def damaged(place):
    return FILE[:place] + bytes([FILE[place] ^ 1]) + FILE[place + 1 :]


def serialized(*rows):
    """Returns the file's examples; each has 12 bytes before it and 4 after it."""
    return np.asarray([v2.write_records([row])[12:-4] for row in rows])


CASES = [
    Program(
        "write_records", "several kinds", [ROWS], expect=FILE, skip={"function": PLAIN}
    ),
    Program("write_records", "no rows", [[]], expect=b"", skip={"function": PLAIN}),
    Raises(
        "write_records",
        "two kinds in one feature",
        [[{"id": [b"1", 2]}]],
        of="program",
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="expected one of: bytes|expected bytes|bytes",
    ),
    Program(
        "read_records",
        "defaults, and several lengths",
        [FILE],
        expect=[(1, b"cat", [0.5, 1.5]), (2, b"?", []), (-3, b"", [0.1])],
    ),
    Program(
        "read_records",
        "an unknown feature is left alone",
        [v2.write_records([{"id": [1], "values": [], "other": [5]}])],
        expect=[(1, b"?", [])],
    ),
    Program(
        "peek_records",
        "sizes and names",
        [FILE],
        expect=[
            (57, ["id", "label", "values"]),
            (27, ["id", "values"]),
            (59, ["id", "label", "values"]),
        ],
    ),
    Raises(
        "peek_records",
        "a damaged record",
        [damaged(20)],
        of="program",
        graph=tf.errors.DataLossError,
        eager=tf.errors.DataLossError,
        function=tf.errors.DataLossError,
        match="corrupted record at",
    ),
    Op(
        "parse_rows",
        "several lengths, and a default",
        [serialized({"x": [0.5, 1.5], "ids": [1, 2]}, {"ids": [3]}, {"x": [0.1, 0.2]})],
        expect=([[0.5, 1.5], [0, 0], [0.1, 0.2]], [[1, 2], [3, -1], [-1, -1]]),
        skip={"xla": "strings do not compile"},
    ),
    Raises(
        "parse_rows",
        "three floats instead of two",
        [serialized({"x": [0.5, 1.5, 2.5], "ids": [1]})],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="Key: x, Index: 0.  Number of float values != expected",
    ),
    Raises(
        "parse_rows",
        "no example",
        [np.asarray([b"text"])],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="(?i)could not parse example",
    ),
    Op(
        "decode_images",
        "two images",
        [PIXELS],
        {"height": 2, "width": 3},
        expect=[
            [[0, 0.25, 0.5], [1 / 256, 2 / 256, 3 / 256]],
            [[0.75, 255 / 256, 0.125], [10 / 256, 11 / 256, 12 / 256]],
        ],
        skip={"xla": "strings do not compile"},
    ),
    Raises(
        "decode_images",
        "two lengths",
        [np.asarray([b"\x01\x02", b"\x01\x02\x03"])],
        {"height": 1, "width": 2},
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="requires input strings to all be the same size",
    ),
    Raises(
        "decode_images",
        "other sizes",
        [PIXELS],
        {"height": 5, "width": 1},
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="requested shape requires a multiple of 5",
    ),
]
CASES += [
    Raises(
        "read_records",
        slug,
        [data],
        of="program",
        graph=error,
        eager=error,
        function=error,
        match=match,
    )
    for slug, data, error, match in [
        (
            "a damaged record",
            damaged(20),
            tf.errors.DataLossError,
            "corrupted record at",
        ),
        (
            "a damaged length",
            damaged(0),
            tf.errors.DataLossError,
            "corrupted record at 0",
        ),
        ("cut off", FILE[:-1], tf.errors.DataLossError, "truncated record at"),
        (
            "no id",
            v2.write_records([{"values": [1.0]}]),
            tf.errors.InvalidArgumentError,
            r"Feature: id \(data type: int64\) is required but could not be found",
        ),
        (
            "an id of another kind",
            v2.write_records([{"id": [1.0], "values": []}]),
            tf.errors.InvalidArgumentError,
            r"Key: id. +Data types don't match.+ expected type: int64",
        ),
        (
            "two ids",
            v2.write_records([{"id": [1, 2], "values": []}]),
            tf.errors.InvalidArgumentError,
            "Key: id.  (Can't parse|Number of int64 values != expected)",
        ),
    ]
]
PROOF = proof(v1, v2, CASES)


# `map` never runs its function eagerly, and TensorFlow warns of that.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class RecordsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class FilesTest(unittest.TestCase):
    @parameterized.expand([("v1", v1, legacy), ("v2", v2, contextlib.nullcontext)])
    def test_none_is_left_behind(self, _, page, semantics):
        with tempfile.TemporaryDirectory() as directory, semantics():
            with mock.patch.object(tempfile, "tempdir", directory):
                self.assertEqual(page.write_records(ROWS), FILE)
                self.assertEqual(len(page.read_records(FILE)), 3)
                with self.assertRaises(tf.errors.DataLossError):
                    page.read_records(FILE[:-1])
                self.assertEqual(len(page.peek_records(FILE)), 3)
            left = [f for f in os.listdir(directory) if "__autograph" not in f]
            self.assertEqual(left, [])  # AutoGraph's own code is deleted at exit

    @parameterized.expand(
        [("second", damaged(12 + 57 + 4 + 12), 1), ("end", FILE[:-1], 2)]
    )
    def test_a_bad_record_ends_the_file(self, _, data, good):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "rows")
            with open(path, "wb") as file:
                file.write(data)
            dataset = tf.data.TFRecordDataset(path)
            iterator = iter(dataset)
            self.assertEqual(len([next(iterator) for _ in range(good)]), good)
            with self.assertRaises(tf.errors.DataLossError):
                next(iterator)
            self.assertEqual(len(list(iterator)), 0)
            self.assertEqual(len(list(dataset.ignore_errors())), good)

    def test_a_compressed_file_needs_to_be_called_so(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "rows")
            with tf.io.TFRecordWriter(path, "GZIP") as writer:
                writer.write(b"row")
            with self.assertRaisesRegex(
                tf.errors.DataLossError, "corrupted record at 0"
            ):
                list(tf.data.TFRecordDataset(path))
            (row,) = tf.data.TFRecordDataset(path, "GZIP")
            self.assertEqual(row.numpy(), b"row")
