"""The texts that the commands read stand at the top; a wheel has them in the package.

The metadata is in pyproject.toml, the lists of packages and data are in setup.cfg. An
editable install reads the texts where they stand.
"""

import glob
import os
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py

DOCUMENTS = (
    *("README.md", "MIGRATION.md", "BENCHMARKS.md", "guide/**"),
    *(f"examples/**/*.{kind}" for kind in ("py", "md", "txt", "json", "ipynb")),
    "examples/**/.github/workflows/*.yml",
)


def documents():
    """Paths of the texts, relative to this file, from which a build is run."""
    found = (glob.glob(pattern, recursive=True) for pattern in DOCUMENTS)
    return sorted(path for paths in found for path in paths if os.path.isfile(path))


class BuildWithDocuments(build_py):
    """Copies the texts to where `tf1to2.pages.topics.document` finds them."""

    def run(self):
        if self.editable_mode:
            return super().run()
        # What the last build left may be gone by now, and topics are read off the tree.
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for path in documents():
            target = os.path.join(self.build_lib, "tf1to2", "documents", path)
            self.mkpath(os.path.dirname(target))
            self.copy_file(path, target)

    def get_source_files(self):  # an sdist asks
        return [*super().get_source_files(), *documents()]


setup(cmdclass={"build_py": BuildWithDocuments})
