"""Copies the documents that the commands read into the wheel's package.

The metadata is in pyproject.toml, the lists of packages and data are in setup.cfg. An
editable install reads the documents in the checkout.
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
    """Paths of the documents, relative to the folder of this file."""
    found = (glob.glob(pattern, recursive=True) for pattern in DOCUMENTS)
    return sorted(path for paths in found for path in paths if os.path.isfile(path))


class BuildWithDocuments(build_py):
    """Copies the documents to the folder where `tf1to2.pages.topics.document` looks."""

    def run(self):
        if self.editable_mode:
            return super().run()
        # Remove an earlier build: each file in it is a topic, also a deleted one.
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for path in documents():
            target = os.path.join(self.build_lib, "tf1to2", "documents", path)
            self.mkpath(os.path.dirname(target))
            self.copy_file(path, target)

    def get_source_files(self):  # called for an sdist
        return [*super().get_source_files(), *documents()]


setup(cmdclass={"build_py": BuildWithDocuments})
