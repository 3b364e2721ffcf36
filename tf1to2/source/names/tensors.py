"""Finds the expressions that are a KerasTensor: Inputs, and outputs of layers."""

import enum
import re

from tf1to2.source.names import owners, records
from tf1to2.source.names.values import PARAMETER

INPUTS = ("Input", "layers.Input", "engine.Input", "backend.placeholder")
HELD = ("input", "output", "inputs", "outputs")
# A file without this text makes no KerasTensor.
ROOTS = re.compile(
    rb"\bInput\(|(?:model|layer|net)\w*[\])]*\.(?:in|out)puts?\b|backend\.placeholder\("
)
KERAS = owners.KERAS
DEEP = 25  # the most layers in a row to follow
# Functions that accept a KerasTensor, and return another type.
FINE = {
    *("eval", "get_uid", "get_value", "int_shape", "is_keras_tensor", "is_sparse"),
    *("to_dense", "is_tensor", "function", "print", "Session", "gradients"),
}
OPERATORS = (
    *("binary_operator", "comparison_operator", "unary_operator", "not_operator"),
    *("parenthesized_expression", "list", "tuple", "expression_list"),
)


def may_be(source):
    """Whether a file may make a KerasTensor: a quick check of its bytes."""
    if not any(
        word in source for word in (b"Input(", b".input", b".output", b"holder(")
    ):
        return False
    return bool(ROOTS.search(source))


def fed(call):
    """Returns the nodes of all argument values of a call: `x` for `inputs=x`."""
    return [
        one.child_by_field_name("value") if one.type == "keyword_argument" else one
        for one in call.child_by_field_name("arguments").named_children
    ]


class Certainty(enum.IntEnum):
    """How certain it is that an expression is a KerasTensor."""

    NO = 0
    MAYBE = 1
    YES = 2


NO, MAYBE, YES = Certainty


class KerasTensors:
    """Says which expressions of a file are a KerasTensor.

    Args:
        values: `values.Values`.
    """

    def __init__(self, values):
        self.values, self.open, self.known = values, set(), {}

    def certainty(self, node, deep=DEEP):
        """Returns how certain it is that an expression is a KerasTensor.

        `MAYBE` is the output of a layer for a parameter, which is an Input in most
        programs.
        """
        if node is None or not deep or node.id in self.open:
            return NO
        if node.id not in self.known:
            self.open.add(node.id)
            self.known[node.id] = self._certainty(node, deep - 1)
            self.open.remove(node.id)
        return self.known[node.id]

    def _certainty(self, node, deep):
        if node.type == "identifier":
            found, _ = self.values.value(node)
            return NO if isinstance(found, str) else self.certainty(found, deep)
        if node.type == "attribute":
            return self._of_attribute(node, deep)
        if node.type == "subscript":
            return self.certainty(node.child_by_field_name("value"), deep)
        if node.type in OPERATORS:
            return self._most(node.named_children, deep)
        return self._of_call(node, deep) if node.type == "call" else NO

    def _most(self, nodes, deep):
        return max((self.certainty(one, deep) for one in nodes), default=NO)

    def _of_attribute(self, node, deep):
        """How certain it is that `self.x` or `model.output` is a KerasTensor."""
        found, _ = self.values.value(node)
        if not isinstance(found, str) and found is not None:
            return self.certainty(found, deep)
        object_ = node.child_by_field_name("object")
        name = self.values.text(node.child_by_field_name("attribute"))
        if name not in HELD:
            return NO
        if object_.type == "call":  # model.get_layer("x").output
            function = object_.child_by_field_name("function")
            if self.values.text(function).endswith(".get_layer"):
                return YES
        elif object_.type == "subscript":  # model.layers[3].output
            text = self.values.text(object_.child_by_field_name("value"))
            return YES if text.endswith(".layers") else NO
        return YES if owners.is_layer(self.values.made_by(object_)) else NO

    def _of_call(self, node, deep):
        function = node.child_by_field_name("function")
        given = fed(node)
        origin = records.public(self.values.origin(function))
        if origin.rpartition(".")[2] in FINE:
            return NO
        if origin.startswith(KERAS) and "()" not in origin:
            name = origin.removeprefix(KERAS)
            if name in INPUTS:
                return YES
            if name.rpartition(".")[2][:1].islower():  # layers.add, backend.mean
                return self._most(given, deep)
            return NO
        if origin.startswith("tensorflow.") and "()" not in origin:
            return self._most(given, deep)
        if not owners.is_layer(self.values.made_by(function)):
            return NO
        most = self._most(given, deep)
        if most is NO and self._is_in_a_builder(node):
            return MAYBE if any(map(self._is_given, given)) else NO
        return most

    def _is_given(self, node):
        """Whether an expression is a function parameter, or a list that has one."""
        if node.type == "list":
            return any(map(self._is_given, node.named_children))
        return node.type == "identifier" and self.values.value(node)[0] is PARAMETER

    def _is_in_a_builder(self, node):
        """Whether the function around a call may build a model from Inputs."""
        _, name = owners.method(self.values, node)
        return name not in ("call", "__call__", "build", "train_step", "test_step")
