"""Guards: conditions and `try` statements that distinguish TensorFlow 1 from 2.

A guard excuses a branch only if the other branch runs in TensorFlow 2, which needs all
names of the file: see judging.py. This module only reads the code of the guard.
"""

import re
import typing

# Code that reads the version: `v2 = LooseVersion(tf.__version__) >= "2"`.
VERSION = re.compile(rb"\b([A-Za-z_][\w.]*)\.(?:__version__|VERSION)\b")
NAMED = re.compile(rb"(?m)^[ \t]*(\w+)\s*=[^=\n][^\n]*\.(?:__version__|VERSION)\b")
# The mark of a `hasattr`, and the names for TensorFlow's version.
ASKED = "?"
VERSIONS = {
    "tensorflow.__version__",
    "tensorflow.VERSION",
    "tensorflow.version.VERSION",
    "tensorflow.python.tf2.enabled",
}
# A condition about TensorFlow 1.4 or 1.5 is no guard for TensorFlow 2.
EARLIER = re.compile(rb"""["'](0\.\d|1\.\d\b|1\.1[0-2]\b)""")
# Conditions that are plainly true in TensorFlow 1, or in TensorFlow 2.
ONE = re.compile(
    rb"""<=?\s*(?:\w+\()?["']?(?:2|1\.1[3-5])|==\s*["']?1\b|startswith\(\s*["']1"""
    rb"""|<=\s*1\b"""
)
TWO = re.compile(
    rb""">=?\s*(?:\w+\()?["']?(?:2|1\.1[3-5])|==\s*["']?2\b|startswith\(\s*["']2"""
    rb"""|>\s*1\b|>\s*["']1(?:\.99|["'])"""
)
# Text that may check a version; text that almost surely does.
MAYBE = re.compile(
    rb"(?i)version|hasattr|tf_?\w*[12]|enabled\b|^(?:not\s+)?[\w.]+(?:\(\))?$"
)
SURE = re.compile(rb"__version__|\.VERSION\b|\bhasattr\(")
CAUGHT = re.compile(rb"\b(?:Import|ModuleNotFound|Attribute)Error\b")
BARE = re.compile(rb"except\s*$")
OURS = re.compile(rb"tensorflow|\bkeras\b")


class Guard(typing.NamedTuple):
    """A condition or a `try` that may distinguish TensorFlow 1 from 2.

    Attributes:
        kind: "if" or "try".
        excusable: the sides that may have TensorFlow 1: for an "if", "yes" or "no" or
            both; for a "try", "try" or none.
        calls: for a "try", whether it does more than look up names: then its handler
            must use another name of TensorFlow.
        sure: whether the code almost surely checks the version.
    """

    kind: str
    excusable: tuple
    calls: bool = False
    sure: bool = True


def may_ask(source):
    """Whether a file may read a version: quickly searches its bytes."""
    return b"__version__" in source or b"VERSION" in source


def named(source):
    """Returns the names to which a file may assign a version."""
    if not may_ask(source):
        return set()
    return {name.decode() for name in NAMED.findall(source)}


def condition(text):
    """Returns a `Guard` if a condition may separate TensorFlow 1 from 2, else None.

    Args:
        text: bytes of the condition.
    """
    if EARLIER.search(text) or not MAYBE.search(text):
        return None
    one, two = ONE.search(text), TWO.search(text)
    sides = ("yes",) if one else ("no",)
    if bool(one) == bool(two) or b"not " in text:
        sides = ("yes", "no")
    return Guard("if", sides, sure=bool(SURE.search(text)))


def attempt(source, node):
    """Returns a `Guard` if a `try` may distinguish TensorFlow 1 from 2, else None.

    Its handler must provide a replacement: it binds or returns the same names.

    Args:
        source: `syntax.Source`.
        node: of type try_statement.
    """
    body = node.child_by_field_name("body")
    clauses = [c for c in node.named_children if c.type == "except_clause"]
    if body is None or not clauses:
        return None
    asks = all(_only_asks(statement) for statement in body.named_children)
    imports = [s for s in body.named_children if s.type.startswith("import_")]
    for clause in clauses:
        text = source.source[clause.start_byte : clause.end_byte]
        head = text.partition(b":")[0]
        bare = BARE.search(head)
        if not (bare or CAUGHT.search(head)):
            continue
        if bare and not (imports and asks):
            continue  # the handler would hide errors after the port, too
        if b"Attribute" not in head and not any(
            OURS.search(source.source, s.start_byte, s.end_byte) for s in imports
        ):
            continue
        block = clause.named_children[-1]
        instead = _settled(source, block)
        if instead & _settled(source, body) or (
            instead and len(imports) == len(body.named_children)
        ):
            return Guard("try", ("try",), not asks)
    return None


PLAIN = ("identifier", "attribute", "none", "true", "false", "integer", "string")


def _only_asks(statement):
    """Whether a statement makes no calls and only looks up names: `x = tf.log`."""
    if statement.type.startswith(("import_", "comment", "pass_")):
        return True
    if statement.type == "return_statement":
        values = statement.named_children
    elif statement.type == "expression_statement":
        values = [
            part.child_by_field_name("right") if part.type == "assignment" else part
            for part in statement.named_children
        ]
    else:
        return False
    return all(v is not None and v.type in PLAIN for v in values)


def _settled(source, block):
    """Returns the names that a block binds, plus "return" if it has a `return`."""
    found = set()
    for statement in block.named_children:
        if statement.type.startswith("import_"):
            for name in statement.children_by_field_name("name"):
                dotted, alias = source.imported(name)
                found.add(alias or dotted.partition(".")[0])
        elif statement.type == "return_statement":
            found.add("return")
        elif statement.type == "expression_statement":
            found.update(
                source.text(part.child_by_field_name("left"))
                for part in statement.named_children
                if part.type == "assignment"
            )
        elif name := statement.child_by_field_name("name"):
            found.add(source.text(name))
    return found
