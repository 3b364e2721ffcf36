"""Runs the commands of a document, and compares what they print with what it shows."""

import contextlib
import math
import os
import re
import subprocess
import sys

import keras

from tf1to2.tests.test_structure import ROOT

HERE = re.compile("TensorFlow 2|recordings:")  # lines about this machine
NUMBER = re.compile(r"-?\d+\.\d*(?:e-?\d+)?")


def environment():
    """The environment of a user's shell, in which `tf1to2` is this checkout's."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("TF1TO2_")}
    own.pop("COLUMNS", None)
    path = [os.path.dirname(sys.executable), os.environ["PATH"]]
    return {
        **own,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(ROOT),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def played(text, folder, environment, close=None):
    """[(command, line that it does not print, its output)] of a session.

    Args:
        text: of the session: commands after "$ ", below each what it prints.
        folder: where its commands run, one after the other.
        environment: of the commands.
        close: see `unprinted`.
    """
    missing = []
    columns = str(max(map(len, text.split("\n"))) + 1)
    for part in re.split(r"(?m)^\$ ", text)[1:]:
        command, _, shown = part.partition("\n")
        printed = run(command, folder, {"COLUMNS": columns, **environment})
        for line in unprinted(shown, printed, close):
            missing.append((command, line, printed[-2000:]))
    return missing


def run(command, folder, environment):
    """The output of a command, errors included."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.stdout


def unprinted(shown, printed, close=None):
    """The lines that a document shows, and that no line of an output is like.

    Args:
        shown: text; a line that ends in "…" begins as one that is printed. Rules, which
            are as long as the widest line, are not compared.
        printed: text.
        close: keywords of `math.isclose`, for numbers with a point; None for the same.
    """
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    wanted = [" ".join(line.split()) for line in shown.splitlines()]
    wanted = [line for line in wanted if line and "─" not in line]
    wanted = [line for line in wanted if not HERE.match(line)]
    return [w for w in wanted if not any(_is_like(w, line, close) for line in lines)]


def _is_like(shown, printed, close):
    if shown == printed or shown == "…":
        return True
    if shown.endswith("…"):
        return printed.startswith(shown.removesuffix("…"))
    if close is None:
        return False
    shown, printed = (re.sub(r" +(?=[\])])", "", text) for text in (shown, printed))
    numbers = [list(map(float, NUMBER.findall(text))) for text in (shown, printed)]
    return NUMBER.sub("#", shown) == NUMBER.sub("#", printed) and all(
        math.isclose(a, b, **close) for a, b in zip(*numbers, strict=True)
    )


@contextlib.contextmanager
def registered_no_more():
    """Keras finds a class by its name: a second copy would hide the page's own."""
    registry = keras.saving.get_custom_objects()
    before = dict(registry)
    try:
        yield
    finally:
        registry.clear()
        registry.update(before)
