"""Runs left pages on today's TensorFlow with tf_keras, in a separate process."""

import dataclasses
import importlib
import os
import subprocess
import sys

from tf1to2.parity import Raises


def without_skip(cases):
    """Returns the cases, except errors; today's left page is not skipped."""
    return [
        dataclasses.replace(
            case, skip={way: why for way, why in case.skip.items() if way != "graph"}
        )
        for case in cases
        if not isinstance(case, Raises)
    ]


def checks(proof, cases):
    """Returns [(slug, Check)] without unknown shapes, XLA and generated sizes.

    Args:
        proof: the proof of all cases, from `without_skip`.
        cases: the cases to check.
    """
    ways, names = ("graph", "eager", "function"), {str(case) for case in cases}
    return [
        (slug, check)
        for slug, check in proof.checks()
        if check.way in ways and str(check.case) in names
    ]


def main(module):
    """Runs the `legacy_keras_checks` of a test module, and prints their number."""
    found = importlib.import_module(module).legacy_keras_checks()
    assert all("compat.v1" in c() or c.way == "graph" for _, c in found)
    print(len(found), "checks")


def prove(test, module, count):
    """Asserts that `count` checks of a test module pass in a process with tf_keras."""
    wanted = {"TF_USE_LEGACY_KERAS": "1", "TF1TO2_SETTINGS": "strict"}
    run = subprocess.run(
        [sys.executable, "-m", "parity_tests.legacy_keras", module],
        env={**os.environ, **wanted},
        capture_output=True,
        text=True,
    )
    test.assertEqual(run.returncode, 0, run.stderr[-2000:])
    test.assertEqual(run.stdout.strip(), f"{count} checks")


if __name__ == "__main__":
    main(sys.argv[1])
