"""Left pages that today's TensorFlow runs by tf_keras, in a process of their own."""

import dataclasses
import importlib
import os
import subprocess
import sys

from tf1to2.parity import Raises


def without_skip(cases):
    """The cases, errors apart, with the left page on today's TensorFlow."""
    return [
        dataclasses.replace(
            case, skip={way: why for way, why in case.skip.items() if way != "graph"}
        )
        for case in cases
        if not isinstance(case, Raises)
    ]


def checks(proof, cases):
    """[(slug, Check)] of a proof, but for unknown shapes, XLA and generated sizes.

    Args:
        proof: of all cases, `without_skip`.
        cases: those that are asked for.
    """
    ways, names = ("graph", "eager", "function"), {str(case) for case in cases}
    return [
        (slug, check)
        for slug, check in proof.checks()
        if check.way in ways and str(check.case) in names
    ]


def main(module):
    """Runs the `legacy_keras_checks` of a test module, and prints how many."""
    found = importlib.import_module(module).legacy_keras_checks()
    assert all("compat.v1" in c() or c.way == "graph" for _, c in found)
    print(len(found), "checks")


def prove(test, module, count):
    """Has another process, with tf_keras, pass that many checks of a test module."""
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
