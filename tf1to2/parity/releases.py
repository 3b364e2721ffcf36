"""Checks the installed releases, for rows that apply only to some of them."""

import functools
import importlib

from packaging.requirements import Requirement


@functools.cache
def here(where):
    """Returns whether the installed releases meet the requirement `where`.

    Args:
        where: a requirement of pip's, such as "tensorflow<2.17" or "keras>=3.14"; ""
            means all releases.

    Raises:
        packaging.requirements.InvalidRequirement: it cannot be parsed.
        ModuleNotFoundError: the package is not installed.
    """
    if not where:
        return True
    requirement = Requirement(where)
    version = importlib.import_module(requirement.name).__version__
    return requirement.specifier.contains(version, prereleases=True)
