"""Cases of Keras 1.2.2, and the lines of Keras 3 that must give the same answers.

`fixed.txt` has the lines that `tf1to2 fix` writes, `by_hand.txt` those that it leaves
to you, `measured.txt` further differences.
`python -m upkeep keras_1` runs the old lines on the genuine Keras 1.2.2, on 1.15.5, and
writes recorded.npz.
"""

import functools
import json
import pathlib
import subprocess
import tempfile

import numpy as np

from tf1to2.parity import arrays
from tf1to2.probes import format
from upkeep import genuine

HERE = pathlib.Path(__file__).parent
RECORDED = HERE / "recorded.npz"
FILES = ("fixed", "by_hand", "measured")
KERAS = "keras==1.2.2"


@functools.cache
def cases(name):
    """Reads the cases of a file, "fixed", "by_hand" or "measured": {key: `Probe`}."""
    found = {}
    for row in format.read(HERE / f"{name}.txt"):
        count = sum(key.startswith(f"{row.name} ") for key in found)
        found[f"{row.name} {count + 1}"] = row
    return found


def keyed():
    """Reads all cases: {key in the recording, "fixed tf.keras.Model 1": `Probe`}."""
    return {f"{name} {key}": row for name in FILES for key, row in cases(name).items()}


def given(row):
    """Draws the input arrays of a case; they are the same on every machine."""
    (line,) = row.inputs
    specs = {name: getattr(arrays, name) for name in ("normal", "uniform", "integers")}
    found = {}
    exec(line, specs, found)
    return arrays.drawn(found, {}, "keras_1", line)


@functools.cache
def recorded():
    """Reads the recorded answers of Keras 1.2.2; key "" has version and names."""
    return _read(RECORDED)


def names():
    """Reads the parameter names of each public name of Keras 1.2.2."""
    return json.loads(str(recorded()[""]["names"]))


def ask(python):
    """Runs all cases on Keras 1.2.2.

    Args:
        python: the interpreter of an environment with TensorFlow 1.15.5.

    Returns:
        {key: {name: array}}, as `recorded`.

    Raises:
        RuntimeError: the process crashed, or an old line raised.
    """
    store = {}
    for key, row in keyed().items():
        store[f"{key}/code"] = np.asarray(row.old)
        drawn = given(row)
        store |= {f"{key}/given/{name}": array for name, array in drawn.items()}
    with tempfile.TemporaryDirectory() as folder:
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--target", folder, KERAS], check=True)
        asked, answered = (
            pathlib.Path(folder, name) for name in ("asked.npz", "answered.npz")
        )
        np.savez(asked, **store)
        genuine.printed(
            *(python, HERE / "program.py", asked, answered),
            PYTHONPATH=folder,
            HOME=folder,  # the folder of Keras' configuration
            KERAS_BACKEND="tensorflow",
        )
        found = _read(answered)
    version = found[""]["version"]
    raised = [f"{k}: {a['raised']}" for k, a in found.items() if "raised" in a]
    if raised or f"keras=={version}" != KERAS:
        raise RuntimeError("\n".join(raised or [f"this is Keras {version}"]))
    return found


def _read(path):
    """Reads a file of arrays named key/name; returns {key: {name: array}}."""
    found = {}
    with np.load(path) as store:
        for name, array in store.items():
            key, _, last = name.rpartition("/")
            found.setdefault(key, {})[last] = array
    return found
