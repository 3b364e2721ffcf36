"""Times the classics: an empty step, 500 rows, beam search by length, the scanner."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from tf1to2.bench import clock, pairs

TURNS = 1000
ROWS, COLUMNS = 500, 10
LENGTHS = (4, 16, 64)
BUILT = ("Session.run", "concrete")
COPIES = 4


def empty_step():
    """Times a step that does nothing: a call, or an iteration of a loop in a function.

    Returns:
        {form: Timing}.
    """
    import tensorflow as tf

    with tf.Graph().as_default():
        nothing = tf.no_op()
        session = tf.compat.v1.Session()

    @tf.function
    def step():
        tf.no_op()

    @tf.function
    def steps():
        for _ in tf.range(TURNS):
            tf.no_op()

    made = {
        "Session.run": lambda: lambda: session.run(nothing),
        "make_callable": lambda: session.make_callable(nothing),
        "tf.function": lambda: step,
        "loop": lambda: steps,
    }
    with contextlib.closing(session):  # outside of the graph, where TensorFlow 2 runs
        timings = clock.interleave({f: clock.first_call(m) for f, m in made.items()})
    turns = [seconds / TURNS for seconds in timings["loop"].rounds]
    return {**timings, "loop": clock.Timing(timings["loop"].first, turns)}


def rows():
    """Times the sum of 500 rows by slices, by unstack and in one operation.

    Returns:
        {name of the pair: {form: Timing}}.
    """
    proof = pairs.load("operators")
    x = np.random.RandomState(0).standard_normal([ROWS, COLUMNS]).astype("f")
    results = {}
    for name in ("sum_by_slices", "sum_by_unstack", "sum_by_reduction"):
        (case,) = pairs.cases(proof, name).values()
        request = {**case.request({"c": COLUMNS}), "args": [x]}
        results[f"operators.{name}"] = pairs.tensors(proof, case, request)
    return results


def beam_search():
    """Times beam search for several lengths: the unrolled form and the loop.

    Returns:
        {name of the pair: {length: {form: Timing}}}.
    """
    proof = pairs.load("cookbook")
    results = {}
    for name in ("beam_search", "beam_search_loop"):
        (case,) = pairs.cases(proof, name).values()
        results[f"cookbook.{name}"] = timings = {}
        for length in LENGTHS:
            request = case.request(case.bindings()[-1])
            kind = type(request["args"][2])  # a number; for the loop, a tensor
            request["args"][2] = kind(length)
            timings[length] = pairs.tensors(proof, case, request, BUILT)
    return results


def scanner():
    """Times the scanner and TensorFlow's `tf_upgrade_v2` on a folder of left pages.

    Returns:
        {tool: (seconds, MB per second)}; the start of Python included.
    """
    with tempfile.TemporaryDirectory() as folder:
        size = _write_tree(os.path.join(folder, "tree"))
        commands = {
            "tf1to2 scan": [sys.executable, "-m", "tf1to2", "scan", "--exit-zero"]
            + ["--format", "json", "--output-file", "scan.json", "tree"],
            "tf_upgrade_v2": [sys.executable, "-c", UPGRADE, "--intree", "tree"]
            + ["--outtree", "out", "--reportfile", "report.txt"],
        }
        results = {}
        for tool, command in commands.items():
            begun = time.perf_counter()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            seconds = time.perf_counter() - begun
            if done.returncode:
                raise RuntimeError(f"{tool}: {done.stderr.strip()[-500:]}")
            results[tool] = seconds, size / seconds / 1e6
        return results


UPGRADE = (
    "from tensorflow.tools.compatibility.tf_upgrade_v2_main import main; "
    "import sys; sys.exit(main())"
)


def _write_tree(folder):
    """Writes copies of the left pages; returns the number of bytes."""
    from tf1to2.pages import topics

    os.makedirs(folder)
    size = 0
    for number in range(COPIES):
        for name, topic in topics.topics().items():
            text = topic.v1.read_text("utf-8")
            text = text.replace("tensorflow.compat.v1", "tensorflow")
            path = os.path.join(folder, f"{name}_{number}.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            size += len(text.encode())
    return size
