"""Whole programs, `models_…`: each side goes on from the files that the other wrote."""

import importlib
import os
import unittest

import numpy as np
import pytest
from parameterized import parameterized

from parity_tests import PROVIDER
from parity_tests.models import HALF
from tf1to2.parity import recordings, structure, v2

GENUINE = os.environ.get("TF1_PYTHON")
NAMES = [(name,) for name in PROVIDER.names() if name.startswith("models_")]


@unittest.skipUnless(GENUINE, "TF1_PYTHON names no TensorFlow 1.15.5")
@pytest.mark.slow
class GoingOnTest(unittest.TestCase):
    """Trains half of the steps, saves, and goes on from the files, in float64.

    The left page runs on TensorFlow 1.15.5, which writes its files with a `Saver`.
    """

    @parameterized.expand(NAMES)
    def test_the_sides_read_the_files_of_each_other(self, name):
        proof = PROVIDER.load(name)
        test = importlib.import_module(PROVIDER.module(name))
        first, last = self.halves(test.MODEL)
        ours = self.of_the_right(proof, first)
        (theirs,) = self.of_the_left(proof, [first])
        self.compare(theirs, ours)
        requests = [last(files_of(answer)) for answer in (theirs, ours)]
        expected = self.of_the_left(proof, requests)
        self.compare(*expected)  # it reads our files as its own
        for request in requests:
            self.compare(expected[0], self.of_the_right(proof, request))

    @staticmethod
    def halves(model):
        """(request of the first half, function from its files to that of the other)."""
        case = model.train(HALF, "half of the steps")
        *args, start = structure.widen(case.args)
        request = {**case.request(case.bindings()[0]), "keep": True}
        position = len(args)

        def with_files(kind, checkpoint):
            files = {position: kind, position + 1: "folder"}
            return {**request, "args": [*args, checkpoint, None], "files": files}

        first = with_files("checkpoint", start)
        return first, lambda files: with_files("files", files)

    @staticmethod
    def of_the_left(proof, requests):
        return recordings.ask(GENUINE, proof.left, requests)[0]

    @staticmethod
    def of_the_right(proof, request):
        return v2.run(proof.v2, [request], "function")[0]

    def compare(self, expected, actual):
        self.assertNotIn("raised", expected, expected.get("message"))
        sides = [
            {p: x for p, x in answer.items() if not p.startswith("files/")}
            for answer in map(structure.narrow, (expected, actual))
        ]
        self.assertEqual(*map(sorted, sides))
        for path, value in sides[0].items():
            np.testing.assert_array_equal(sides[1][path], value, path)


def files_of(answer):
    """{name: bytes} of the checkpoint among the files of an answer."""
    files = {
        p.partition("/")[2]: x for p, x in answer.items() if p.startswith("files/")
    }
    return {
        name: x for name, x in files.items() if ".ckpt" in name and ".meta" not in name
    }
