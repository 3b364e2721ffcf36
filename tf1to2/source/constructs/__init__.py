"""Finds uses of TensorFlow 1 by arguments or objects: one module for each construct.

All modules in this package are loaded. A module has one of two pairs, or both:

NAMES, `kinds(values, called)`: the names of functions and methods, and a function that
    returns the kinds of a call's arguments, as pairs of `records.Call.kinds`.
    arguments.tsv has the verdict of each kind.
WORDS, `uses(values)`: words, one of which must be in the file, and a function that
    yields uses which the walk does not find, as `inspected.Found`.
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
    """Returns {function or method name: construct modules that check its calls}."""
    found = {}
    for module in _modules():
        for name in getattr(module, "NAMES", ()):
            found.setdefault(name, []).append(module)
    return found


@functools.cache
def _finding():
    """Returns [(module, its WORDS)] for each construct module that has WORDS."""
    return [(one, one.WORDS) for one in _modules() if hasattr(one, "WORDS")]


def kinds(values, called):
    """Returns the argument kinds that the construct modules find in a call.

    Args:
        values: `values.Values`.
        called: `inspected.Called`, with one of the names in `asking`.

    Returns:
        Tuple of pairs, as in `records.Call.kinds`.
    """
    found = []
    for module in asking()[called.name]:
        found += module.kinds(values, called)
    return tuple(found)


def uses(values):
    """Yields an `inspected.Found` for each use that the modules of constructs find."""
    source = values.source.source
    for module, words in _finding():
        for word in words:
            if word in source:
                yield from module.uses(values)
                break
