"""What NumPy 2 raises of code that was written beside NumPy 1."""

import importlib
import pickle
import warnings

import numpy as np

from tf1to2.tests.raisers import imported, lacks, run
from tf1to2.tests.raisers.saved import in_folder


def attribute(name):
    """A function that asks NumPy for a name, and does not mind what it warns of."""

    def asked():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(np, name)

    return asked


def build_of_numpy_1():
    """What a module that was built for NumPy 1 asks for when it is imported."""
    return importlib.import_module("numpy.core._multiarray_umath")._ARRAY_API


def set_element():
    numbers = np.zeros(3)
    numbers[0] = np.ones([2])


def load_dict(path):
    np.save(path + ".npy", {"kernel": np.ones([2])})
    np.load(path + ".npy")


def load_pickle(path):
    with open(path, "wb") as file:
        pickle.dump({"kernel": 1}, file)
    np.load(path)


def load_of_python_2(path):
    """Loads an object array whose text Python 2 pickled, as bytes."""
    head = {"descr": "|O", "fortran_order": False, "shape": ()}
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, head)
        file.write(b"\x80\x02U\x01\xff.")
    np.load(path, allow_pickle=True)


ONES = np.ones([2], np.uint8)
NAMES = {
    **dict.fromkeys(("int", "float", "object", "str", "asscalar"), ""),
    **dict.fromkeys(("product", "bool8"), "numpy>=2"),
    **dict.fromkeys(("in1d", "trapz"), "numpy>=2.4"),
}
"""{what is gone: from which release on}."""
METHODS = "ptp", "itemset", "newbyteorder"
# Where a wording began; what was said before it is among its section's earlier ones.
SINCE = {
    "only 0-dimensional": "numpy>=2.4",
    "pickled (object) data": "numpy>=2",
    **dict.fromkeys((f"attribute '{name}'" for name in METHODS), "numpy>=2.4"),
}
# What is raised with these releases alone.
ONLY = {
    **{f"'numpy' has no attribute '{name}'": since for name, since in NAMES.items()},
    **dict.fromkeys((f"attribute '{name}'" for name in METHODS), "numpy>=2"),
    "NumPy 2.0 release": "numpy>=2",
    "name '…' from 'numpy": "numpy>=2",
    "is now private": "numpy>=2",
    "compiled using NumPy 1.x": "numpy>=2",
    "out of bounds for": "numpy>=2",
    "Unable to avoid copy": "numpy>=2",
    "attribute 'tostring'": "numpy>=2.3",
    "mode of fromstring": "numpy>=2.3",
    **dict.fromkeys(("'newshape'", "percentile() got", "quantile() got"), "numpy>=2.4"),
}
ERRORS = {
    "NumPy 2.0 release": attribute("float_"),
    **{f"'numpy' has no attribute '{name}'": attribute(name) for name in NAMES},
    "'numpy' has no attribute '…": attribute("rank"),
    "name '…' from 'numpy": run("from numpy import float_"),
    "No module named 'numpy.": imported("numpy.testing.nosetester"),
    "is now private": lambda: np.lib.arraysetops,
    "compiled using NumPy 1.x": build_of_numpy_1,
    "only 0-dimensional": lambda: float(np.ones([2])),
    "only integer scalar": lambda: range(np.ones([1], int)),
    "setting an": set_element,
    "out of bounds for": lambda: ONES + 300,
    "Unable to avoid copy": lambda: np.array([1.0], copy=False),
    "Object arrays cannot": in_folder(load_dict),
    "pickled (object) data": in_folder(load_pickle),
    "Unpickling a python": in_folder(load_of_python_2),
    **{f"attribute '{name}'": lacks(ONES, name) for name in (*METHODS, "tostring")},
    "mode of fromstring": lambda: np.fromstring(b"1234", np.uint8),
    "arrays to stack": lambda: np.vstack(row for row in [ONES, ONES]),
    "'newshape'": lambda: np.reshape(ONES, newshape=[1, 2]),
    **{
        f"{ask.__name__}() got": lambda ask=ask: ask(ONES, 0.5, interpolation="higher")
        for ask in (np.percentile, np.quantile)
    },
}
