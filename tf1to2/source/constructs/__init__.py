"""What code says of an argument or an object, and no name alone: a file per construct.

A module here is found by its name alone. It has one of two pairs, or both:

NAMES, `kinds(values, called)`: functions and methods whose arguments it looks at, and
    what these evidently are, as pairs of `records.Call.kinds`. arguments.tsv says what
    becomes of a kind.
WORDS, `uses(values)`: words that a file must hold, and the uses that the walk does not
    make, as `inspected.Found`.
"""

import functools
import importlib
import pkgutil


@functools.cache
def _modules():
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return [importlib.import_module(f"{__name__}.{name}") for name in names]


@functools.cache
def asking():
    """{name of a function or method: the modules that look at its arguments}."""
    found = {}
    for module in _modules():
        for name in getattr(module, "NAMES", ()):
            found.setdefault(name, []).append(module)
    return found


@functools.cache
def _finding():
    """[(module, its words)] of the modules that find uses."""
    return [(one, one.WORDS) for one in _modules() if hasattr(one, "WORDS")]


def kinds(values, called):
    """What the arguments of a call evidently are.

    Args:
        values: `values.Values`.
        called: `inspected.Called`, of one of the names in `asking`.

    Returns:
        Tuple of pairs, as of `records.Call.kinds`.
    """
    found = []
    for module in asking()[called.name]:
        found += module.kinds(values, called)
    return tuple(found)


def uses(values):
    """Yields a `inspected.Found` of each use that no mention of a name shows."""
    source = values.source.source
    for module, words in _finding():
        for word in words:
            if word in source:
                yield from module.uses(values)
                break
