import warnings

import numpy as np
from parameterized import parameterized

import parity_tests  # noqa: F401  TensorFlow starts in the settings of the proofs

# isort: split
import tensorflow as tf

from tf1to2.checkpoint.casting import Loss, cast
from tf1to2.tests.test_checkpoint import MAP, Conversion, having


class CastTest(Conversion):
    @parameterized.expand(
        [
            ("a fraction", 1.5, "float32", "int32", "1.5 cannot be stored as int32"),
            (
                "300 in a byte",
                300.0,
                "float32",
                "int8",
                "300.0 cannot be stored as int8",
            ),
            ("an integer of 300", 300, "int64", "int8", "300 cannot be stored as int8"),
            ("below zero", -1, "int64", "uint64", "-1 cannot be stored as uint64"),
            ("the largest", 2**64 - 1, "uint64", "int64", "cannot be stored as int64"),
            (
                "the largest as a float",
                2**63 - 1,
                "int64",
                "float64",
                "cannot be stored as float64",
            ),
            (
                "a float beyond",
                2.0**63,
                "float64",
                "int64",
                "cannot be stored as int64",
            ),
            ("no number", np.nan, "float32", "int32", "nan cannot be stored as int32"),
            ("infinite", np.inf, "float32", "int64", "inf cannot be stored as int64"),
            (
                "an overflow",
                1e39,
                "float64",
                "float32",
                r"1e\+39 cannot be stored as float32",
            ),
            (
                "a half overflow",
                70000.0,
                "float32",
                "float16",
                "cannot be stored as float16",
            ),
            (
                "digits of an integer",
                2**24 + 1,
                "int32",
                "float32",
                "cannot be stored as float32",
            ),
            ("two as true", 2, "int32", "bool", "2 cannot be stored as bool"),
            (
                "imaginary",
                1 + 2j,
                "complex64",
                "float32",
                "cannot be stored as float32",
            ),
        ]
    )
    def test_refuses_a_loss(self, _, value, dtype, to, match):
        for array in (np.asarray(value, dtype), np.asarray([0, value], dtype)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with self.assertRaisesRegex(Loss, match):
                    cast(array, to)

    @parameterized.expand(
        [
            ("wider", [0.5, np.nan, -np.inf, -0.0], "float32", "float64", 0),
            ("rounded", [0.1, 0.5, np.nan, np.inf], "float64", "float32", 1),
            ("rounded to zero", [1e-60], "float64", "float32", 1),
            ("bfloat16", [1.0, 1.01], "float32", "bfloat16", 1),
            ("whole numbers", [1.0, -128.0], "float32", "int8", 0),
            ("a large integer", [2**53, -(2**63)], "int64", "float64", 0),
            ("truth", [True, False], "bool", "float32", 0),
            ("numbers of truth", [1, 0], "int64", "bool", 0),
            ("real after all", [1.0], "complex64", "float32", 0),
            ("complex", [0.1], "float64", "complex64", 1),
            ("nothing", [], "float64", "int8", 0),
        ]
    )
    def test_rounds_and_says_so(self, _, values, dtype, to, rounded):
        wanted = tf.as_dtype(to).as_numpy_dtype
        got, number = cast(np.asarray(values, dtype), to)
        self.assertEqual(number, rounded)
        expected = np.asarray(values).astype(wanted)
        np.testing.assert_array_equal(got, expected, strict=True)

    @parameterized.expand(
        [
            ("dense/bias", "int64", "0.1 cannot be stored as int64"),
            ("global_step", "bool", "100 cannot be stored as bool"),
        ]
    )
    def test_a_plan_that_loses(self, name, dtype, complaint):
        mapping = having(MAP, "tensors", name, {"to": "x", "dtype": dtype})
        for arguments in ([], ["--dry-run"]):
            status, text = self.convert(mapping, *arguments)
            self.assertEqual(status, 1)
            self.assertIn(f"not possible in this dtype:\n  {name}, ", text)
            self.assertIn(complaint, text)
        self.assert_nothing_left()

    def test_a_plan_that_rounds(self):
        mapping = having(
            MAP, "tensors", "dense/bias", {"to": "net/bias", "dtype": "float32"}
        )
        status, text = self.convert(mapping)
        self.assertEqual(status, 0)
        self.assertIn("dtype float32, rounds 3", text)
