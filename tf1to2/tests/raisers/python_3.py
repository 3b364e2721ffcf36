"""What programs of Python 2, and of early releases of Python 3, meet today."""

import collections
import fractions
import itertools
import pickle
import random
import time

import h5py

from tf1to2.tests.raisers import imported, run
from tf1to2.tests.raisers.saved import in_folder


def compiled(code):
    """A function that compiles code, as the import of a program does."""
    return lambda: compile(code, "program.py", "exec")


def write(mode, content):
    """A function that writes content to a file of a mode."""

    def written(path):
        with open(path, mode) as file:
            file.write(content)

    return in_folder(written)


def read_dataset(path):
    with h5py.File(path, "w") as file:
        return file.create_dataset("w", data=1.0).value


def resize():
    from PIL import Image

    return Image.ANTIALIAS


NAMES = "xrange unicode basestring long file raw_input reduce".split()
MODULES = "urllib2 urlparse cPickle StringIO ConfigParser Queue".split()
# What is raised with these releases alone.
ONLY = {"'ANTIALIAS'": "PIL>=10"}
ERRORS = {
    "in call to 'print'": compiled("print 'a'"),
    "tabs and spaces": compiled("if a:\n\tb\n        c\n"),
    "multiple exception types": compiled("try:\n    pass\nexcept A, e:\n    pass\n"),
    **{f"name '{name}' is not defined": run(name) for name in NAMES},
    "'iteritems'": lambda: {}.iteritems(),
    "'has_key'": lambda: {}.has_key(1),
    "'dict_keys'": lambda: {"a": 1}.keys()[0],
    "'map' object is": lambda: map(abs, [1])[0],
    "'zip' object is": lambda: zip([1], [2])[0],
    "type 'map' has no len": lambda: len(map(abs, [1])),
    "'range' object does not": lambda: random.shuffle(range(3)),
    "attribute 'izip'": lambda: itertools.izip,
    "type(s) for +: 'range'": lambda: range(3) + [1],
    **{f"No module named '{name}'": imported(name) for name in MODULES},
    'not "bytes"': lambda: "a" + b"b",
    "a bytes-like object": write("wb", "text"),
    "must be str, not bytes": write("w", b"text"),
    "'ascii' codec": lambda: pickle.loads(b"\x80\x02U\x02\xc3\xa9q\x00."),
    "invalid start byte": lambda: b"\xff\xd8".decode(),
    "invalid continuation byte": lambda: b"\xe9t\xe9".decode(),
    "attribute 'Iterable'": lambda: collections.Iterable,
    "'collections' has no attribute '…": lambda: collections.Mapping,
    "name '…' from 'collections'": run("from collections import Mapping"),
    "attribute 'clock'": lambda: time.clock(),
    "attribute 'gcd'": lambda: fractions.gcd(4, 6),
    "expected 4)": run("state, reward, done, _ = range(5)"),
    "'Dataset' object has no attribute 'value'": in_folder(read_dataset),
    "Unable to synchronously": in_folder(h5py.File),
    "'ANTIALIAS'": resize,
}
