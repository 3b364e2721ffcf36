"""What is written for both versions: conditions and `try` that ask for TensorFlow's.

Whether a guard excuses anything is not known before all names are, since the other
branch has to live in TensorFlow 2: see judging.py. Here is what the code tells.
"""

import re
import typing

# A name for the version: `v2 = LooseVersion(tf.__version__) >= "2"`.
VERSION = re.compile(rb"\b([A-Za-z_][\w.]*)\.(?:__version__|VERSION)\b")
NAMED = re.compile(rb"(?m)^[ \t]*(\w+)\s*=[^=\n][^\n]*\.(?:__version__|VERSION)\b")
# The names that a condition asks for the version by, and what `hasattr` becomes.
ASKED = "?"
VERSIONS = {
    "tensorflow.__version__",
    "tensorflow.VERSION",
    "tensorflow.version.VERSION",
    "tensorflow.python.tf2.enabled",
}
# A condition that tells TensorFlow 1.4 from 1.5 guards nothing in TensorFlow 2.
EARLIER = re.compile(rb"""["'](0\.\d|1\.\d\b|1\.1[0-2]\b)""")
# Which branch TensorFlow 2 takes, where the condition says so plainly.
ONE = re.compile(
    rb"""<=?\s*(?:\w+\()?["']?(?:2|1\.1[3-5])|==\s*["']?1\b|startswith\(\s*["']1"""
    rb"""|<=\s*1\b"""
)
TWO = re.compile(
    rb""">=?\s*(?:\w+\()?["']?(?:2|1\.1[3-5])|==\s*["']?2\b|startswith\(\s*["']2"""
    rb"""|>\s*1\b|>\s*["']1(?:\.99|["'])"""
)
# What may ask for a version; what leaves little doubt.
MAYBE = re.compile(
    rb"(?i)version|hasattr|tf_?\w*[12]|enabled\b|^(?:not\s+)?[\w.]+(?:\(\))?$"
)
SURE = re.compile(rb"__version__|\.VERSION\b|\bhasattr\(")
CAUGHT = re.compile(rb"\b(?:Import|ModuleNotFound|Attribute)Error\b")
BARE = re.compile(rb"except\s*$")
OURS = re.compile(rb"tensorflow|\bkeras\b")


class Guard(typing.NamedTuple):
    """A condition or a `try` that may tell TensorFlow 1 from 2.

    Attributes:
        kind: "if" or "try".
        excusable: the sides that may hold TensorFlow 1: of an "if" "yes" and "no", or
            one of them; of a "try" the "try", or none.
        calls: of a "try", whether it does more than ask: then its handler must show
            that there is another way.
        sure: whether the code leaves little doubt that it is one.
    """

    kind: str
    excusable: tuple
    calls: bool = False
    sure: bool = True


def may_ask(source):
    """Whether a file may ask for a version; the first look, which is quick."""
    return b"__version__" in source or b"VERSION" in source


def named(source):
    """The names that a file may have given to a version."""
    if not may_ask(source):
        return set()
    return {name.decode() for name in NAMED.findall(source)}


def condition(text):
    """The guard that a condition may be, or None.

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
    """The guard that a `try` may be, or None.

    Its handler must do without what it did not find: it binds or returns the same.

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
            continue  # whatever fails there goes unnoticed after the port, too
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
    """Whether a statement only looks up names: an import, `x = tf.log`."""
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
    """What the statements of a block bind; "return" stands for a value returned."""
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
