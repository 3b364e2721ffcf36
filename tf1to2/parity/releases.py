"""Which releases are here, for what is not the same on all of them."""

import functools
import importlib

from packaging.requirements import Requirement


@functools.cache
def here(where):
    """Whether the releases that are installed are those of which something is said.

    Args:
        where: a requirement of pip's, such as "tensorflow<2.17" or "keras>=3.14"; ""
            is said of all.

    Raises:
        packaging.requirements.InvalidRequirement: it is none.
        ModuleNotFoundError: there is no such package.
    """
    if not where:
        return True
    requirement = Requirement(where)
    version = importlib.import_module(requirement.name).__version__
    return requirement.specifier.contains(version, prereleases=True)
