"""Replacements, executed: for a name the old call, the new call, and inputs.

A probe asks the genuine TensorFlow 1.15.5 what the old call answers (recorded) and
today's TensorFlow whether the new call answers the same. The tables, one module per
module of TensorFlow 1 in `table`, hold strings alone: reading them needs no TensorFlow.

python -m tf1to2.probes                  how much is probed, by name and by use
python -m tf1to2.probes --record         has 1.15.5 answer anew; --check compares
"""

import dataclasses
import functools
import importlib
import pathlib
import pkgutil

FOLDER = pathlib.Path(__file__).parent
SIGN_OF_ZERO = 5e-324
"""The distance of 0.0 from -0.0: the smallest there is."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One old call, the call that replaces it, and what both are given.

    The last line of a call is an expression, its value the answer; lines before it make
    ready. A call sees `tf`, `np`, the inputs as tensors, `distinct("kernel")`, an
    initializer of distinct values, and `folder`, the path of an empty folder.

    Attributes:
        name: what is replaced, as `tf.log`; its aliases in 1.15.5 are meant, too.
        old: the call on TensorFlow 1.
        new: the call on TensorFlow 2.
        inputs: a line of assignments per case, such as "x = normal(4, 5)"; see
            `tf1to2.parity.arrays`.
        exact: whether bits are compared as given, for arithmetic that never rounds;
            else inputs are widened to float64 and answers rounded to float32.
        why: what differs between both sides and why, where anything does.
        within: how far answers are apart then at most, as measured, relative to the
            largest value; 0 where answers are others altogether.
        eager: why the new call does not run in a `tf.function`, if it does not.
        where: the releases on which that differs, as "keras<3.14"; all, unless given.
            On others nothing does.
        raises: what the new call raises there in place of an answer: a pattern of the
            beginning of what Python prints.
    """

    name: str
    old: str
    new: str
    inputs: tuple = ("",)
    exact: bool = False
    why: str = ""
    within: float = 0.0
    eager: str = ""
    where: str = ""
    raises: str = ""

    def __str__(self):
        return f"{self.name}: {self.new}"


def probe(name, old, new, *inputs, **options):
    """A `Probe` of a name with another spelling today."""
    return Probe(name, old, new, inputs or ("",), **options)


def kept(name, call, *inputs, **options):
    """A `Probe` of a name whose call is written as it was."""
    return Probe(name, call, call, inputs or ("",), **options)


@functools.lru_cache(maxsize=None)
def probes():
    """Every `Probe`, by module and in the order of its table."""
    tables = sorted(m.name for m in pkgutil.iter_modules([str(FOLDER / "table")]))
    modules = [importlib.import_module(f"tf1to2.probes.table.{n}") for n in tables]
    return tuple(row for module in modules for row in module.PROBES)


@functools.lru_cache(maxsize=None)
def probed():
    """{name: its probes}: aliases, which are the same object in 1.15.5, included."""
    from tf1to2.catalog import facts  # which Python 3.7 does not read

    found = {}
    for row in probes():
        for name in facts.aliases(row.name):
            found.setdefault(name, []).append(row)
    return found
