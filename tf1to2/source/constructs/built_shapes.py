"""`input_shape.as_list()` in `build` of a layer: Keras 3 passes a tuple."""

import re

from tf1to2.source.names import inspected, owners
from tf1to2.source.names.values import FUNCTIONS, PARAMETER

KIND = "[TensorShape]"
METHODS = ("build", "compute_output_shape")
# The members that a TensorShape has, but a tuple does not have.
MEMBERS = (
    *("as_list", "dims", "ndims", "rank", "with_rank", "with_rank_at_least"),
    *("with_rank_at_most", "is_fully_defined", "num_elements", "assert_has_rank"),
    *("is_compatible_with", "assert_is_compatible_with", "merge_with", "concatenate"),
    *("assert_is_fully_defined", "as_proto"),
)
WORDS = (b"def build", b"def compute_output_shape")
MEMBER = re.compile(rb"\.(%s)\b" % "|".join(MEMBERS).encode())
ASKED = re.compile(rb"\b(?:isinstance|hasattr)\s*\(")


def uses(values):
    """Yields uses of a TensorShape's members on the shape that `build` gets."""
    for node, _ in values.attributes(MEMBER):
        method, name = owners.method(values, node)
        if name not in METHODS or not _is_the_shape(values, node, method):
            continue
        base = owners.base(values, method)
        if owners.may_be_layer(base):
            origin = f"{base.removeprefix('~')}().{name}"
            kinds = (("input_shape", KIND),)
            yield inspected.Found(node, origin, kinds=kinds, by_kind=True)


def _is_the_shape(values, node, method):
    """Whether a node is an attribute of a method's shape parameter or its element."""
    object_ = node.child_by_field_name("object")
    while object_.type == "subscript":
        object_ = object_.child_by_field_name("value")
    if object_.type != "identifier":
        return False
    found, element = values.value(object_)
    if element and found is not None and found.type == "identifier":
        object_ = found  # for shape in input_shape
        found, element = values.value(object_)
    parameters = values.parameters(method)[1:2]
    if found is not PARAMETER or values.text(object_) not in parameters:
        return False
    return not _is_asked(values, node, method)


def _is_asked(values, node, method):
    """Whether the code around a node checks the type of the shape first."""
    for above in values.above(node, method):
        if above.type in ("if_statement", "conditional_expression", "elif_clause"):
            text = values.source.source[above.start_byte : above.end_byte]
            if ASKED.search(text.split(b"\n", 1)[0]):
                return True
        if above.type == "try_statement" or above.type in FUNCTIONS:
            return True
    return False
