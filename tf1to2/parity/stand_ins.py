"""Provides `horovod.tensorflow` where Horovod is not installed: the module `ranks`.

    from tf1to2.parity import stand_ins
    stand_ins.install()

If Horovod is installed, it is used. The stand-in is imported only when a program
imports Horovod. This module also runs on Python 3.7, beside TensorFlow 1.
"""

import importlib.abc
import importlib.machinery
import os
import sys

NAMES = ("horovod", "horovod.tensorflow")
INSTALLED = "TF1TO2_STAND_INS"
"""The environment variable by which `install` affects other processes."""


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import finder: provides `horovod` where it is not installed."""

    def find_spec(self, name, path=None, target=None):
        if name not in NAMES:
            return None
        package = name == NAMES[0]
        return importlib.machinery.ModuleSpec(name, self, is_package=package)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        from tf1to2.parity import ranks

        public = {k: v for k, v in vars(ranks).items() if not k.startswith("_")}
        vars(module).update(public)


FINDER = Finder()


def install():
    """Adds the finder as the last of `sys.meta_path`.

    Processes that run left pages for this one, also with TensorFlow 1.15.5, then have
    the finder, too: they call `inherit`.
    """
    os.environ[INSTALLED] = "1"
    if FINDER not in sys.meta_path:
        sys.meta_path.append(FINDER)


def inherit():
    """Installs the stand-in if the process that started this one has installed it."""
    if os.environ.get(INSTALLED):
        install()
