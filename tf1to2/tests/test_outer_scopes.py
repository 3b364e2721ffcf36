"""Variables keep their names where a layer is called within a `tf.name_scope`.

`tf.get_variable` of 1.x looked at variable scopes alone; a `tf.Variable` that is made
within a name scope takes it into its name, and no old checkpoint has that.
"""

import unittest

import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PROVIDER
from tf1to2.parity import structure
from tf1to2.parity.cases import Raises
from tf1to2.parity.v1 import dtype_of
from tf1to2.parity.v2 import fed


def layers(proof):
    """{name: its first case} of the pairs of a topic that own variables."""
    cases = [case for case in proof.cases if not isinstance(case, Raises)]
    owners = [c for c in cases if "layer" in (c.kind, getattr(c, "of", ""))]
    return {case.name: case for case in reversed(owners)}


def names(proof, case):
    """The names of the variables that a first call makes."""
    request = case.request(case.bindings()[0])
    layer = getattr(proof.v2, request["name"])(**request["factory"])
    tensors = iter([tf.constant(a, dtype_of(a)) for a in fed(request).values()])
    args = structure.map_arrays(lambda *_: next(tensors), request["args"])
    layer(*args, **request["kwargs"])
    return sorted(variable.name for variable in layer.variables)


@pytest.mark.slow
class OuterScopesTest(unittest.TestCase):
    @parameterized.expand(PROVIDER.names())
    def test_names_are_those_without_it(self, topic):
        proof = PROVIDER.load(topic)
        for name, case in {} if proof.by_keras else layers(proof).items():
            with self.subTest(name=name):
                alone = names(proof, case)
                with tf.name_scope("outer"):
                    within = names(proof, case)
                self.assertEqual(within, alone)
