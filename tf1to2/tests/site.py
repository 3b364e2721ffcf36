"""The site, as `tf1to2 page` makes it, for the tests that read it or open it."""

import atexit
import functools
import pathlib
import subprocess
import sys
import tempfile


@functools.cache
def built():
    """Folder of the site, built once for all tests of a process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    out = pathlib.Path(folder.name) / "site"
    # A process of its own has no TensorFlow, so that Sphinx uses every core.
    command = [sys.executable, "-m", "tf1to2", "page", "--output", out]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise AssertionError(run.stdout + run.stderr)
    return out
