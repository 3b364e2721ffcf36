"""Runs the programs on 1.15.5, on today's `compat.v1`, in all forms of TensorFlow 2.

Every side runs in a process of its own. The processes take turns, one at a time, so
that a busy moment of the machine affects all.
"""

import contextlib
import json

from tf1to2.bench import clock, remote
from tf1to2.common.errors import CommandError

GENUINE, TODAY = "1.15.5", "compat.v1"
NAMES = (
    "affine",
    "predict",
    "beam_search",
    "mlp",
    "convnet",
    "lstm",
    "embedding",
    "records",
)
WITHOUT_KERAS = "beam_search", "records"
BATCHES = (1, 64, 1024)
# Other sizes that the cost depends on: {program: (argument, values)}.
GROWN = {"mlp": ("depth", (2, 8, 32)), "lstm": ("length", (5, 20, 80))}
GROWN_BATCH = 64
# Programs whose start is measured in separate processes: its time and memory.
STARTED = "mlp", "convnet", "lstm"
ROUNDS = 7
TURN = 0.05  # seconds of a form in one round
# A call of these forms is an epoch, which starts once: number of steps by the batch.
# So is a call of all forms of `records`, whose buffers are filled during the steps.
EPOCHS = ("loop", "fit", "fit, steps_per_execution")
STEPS = {1: 128, 64: 128, 1024: 32}


def ways(program, python37=None):
    """How to run a program: [(prefix of form names, module of `work`, interpreter)]."""
    found = [(TODAY, "legacy", None), ("", "native", None)]
    if program not in WITHOUT_KERAS:
        found.append(("", "by_keras", None))
    return [(GENUINE, "legacy", python37)] * bool(python37) + found


def start(program, batch, way, python=None, grown=(), threads=None):
    """Starts a process that runs a program in one way: a `remote.Process`."""
    return remote.Process(
        f"{program}, {way}",
        ["work", way, program, str(batch), json.dumps(dict(grown))],
        python,
        threads=threads,
        TF_USE_LEGACY_KERAS=str(int(way == "legacy")),
    )


def measure(program, batch, grown=(), python37=None, threads=None):
    """Times a program in all forms of all sides.

    Args:
        program: one of `NAMES`.
        batch: rows.
        grown: {argument of the inputs: number}.
        python37: an interpreter with 1.15.5, or None: without it.
        threads: of TensorFlow; by default its own.

    Returns:
        ({form: Timing} of seconds per step, {form: why it cannot be made}). The names
        of a session's forms contain the side: "1.15.5, Session.run".
    """
    made, failed = {}, {}
    with contextlib.ExitStack() as stack:
        for side, way, python in ways(program, python37):
            process = start(program, batch, way, python, grown, threads)
            stack.enter_context(process)
            for form in process.forms:
                try:
                    made[called(side, form)] = process.make(form)
                except CommandError as error:
                    failed[called(side, form)] = str(error)
        counts = {
            form: STEPS[batch]
            for form in made
            if form in EPOCHS or program == "records"
        }
        return clock.interleave(made, ROUNDS, TURN, counts=counts), failed


def called(side, form):
    return f"{side}, {form}" if side else form


def start_and_memory(program, batch, forms, python37=None):
    """Measures the start of forms: time and memory, each in a process of its own.

    Args:
        program, batch, python37: as in `measure`.
        forms: their names, without a side.

    Returns:
        {form: {"first": seconds until the end of the first step, without the start of
        TensorFlow; "peak MB": additional memory of the process after ten steps}}.
    """
    found = {}
    for side, way, python in ways(program, python37):
        for form in forms:
            with start(program, batch, way, python) as process:
                if form in process.forms:
                    first = process.ask(make=form)
                    process.ask(run=form, count=10)
                    peak = process.ask(peak=True)
                    found[called(side, form)] = {**first, "peak MB": peak}
    return found


def values(program, batch, steps, python37=None):
    """Returns {form: last loss or output after `steps` steps}."""
    found = {}
    for side, way, python in ways(program, python37):
        with start(program, batch, way, python) as process:
            for form in process.forms:
                if form not in EPOCHS[1:] and "failed" not in process.ask(make=form):
                    answer = process.ask(run=form, count=steps - 1)
                    found[called(side, form)] = answer["value"]
    return found
