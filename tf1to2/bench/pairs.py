"""Times a pair with the inputs of its proof, at three sizes."""

import contextlib
import inspect
import math
import os
import tempfile

from tf1to2.bench import clock, forms, left, remote
from tf1to2.parity import arrays, given_files, providers, recordings, structure, v1
from tf1to2.parity.cases import Raises
from tf1to2.parity.v1 import SEED, legacy

GENUINE = "1.15.5"

# The approximate number of elements of the largest input.
SIZES = {"small": 2**4, "medium": 2**10, "large": 2**16}
PATIENCE = 0.1  # seconds of a call; after a slower one, larger inputs are left out
PROGRAM_ROUNDS = 3


def cases(proof, name=None):
    """{pair: the case to time}: the first case whose sizes vary, or else the first."""
    chosen = {}
    for case in proof.cases:
        if isinstance(case, Raises) or name not in (None, case.name):
            continue
        if kind(case) == "program" and "eager" in case.skip:
            continue  # such a program takes long, or starts processes
        known = chosen.get(case.name)
        if known is None or (not known.letters and case.letters):
            chosen[case.name] = case
    return chosen


def kind(case):
    """The kind of a case: "op", "layer" or "program", also for a false friend."""
    return getattr(case, "of", case.kind)


def sizes(case):
    """{label: {letter: size}} of a case; one label if its sizes cannot vary."""
    if not case.letters:
        return {"as proven": {}}
    if case.sizes and structure.arrays(case.args):
        return {"as proven": case.sizes[-1]}  # arrays that need these sizes
    if case.sizes:  # the letters depend on each other, except the first: the batch
        (batch, size), *others = case.sizes[0].items()
        grown = zip(SIZES, (1, 2**4, 2**8), strict=True)
        return {label: {batch: size * by, **dict(others)} for label, by in grown}
    return {label: _binding(case, count) for label, count in SIZES.items()}


def _binding(case, count):
    """Returns {letter: size}, so that the largest array has about `count` numbers."""
    specs = [spec for _, spec in arrays.specs(case.args)]
    fixed = max(math.prod(d for d in s.dims if not isinstance(d, str)) for s in specs)
    size = (count / max(fixed, 1)) ** (1 / len(case.letters))
    return dict.fromkeys(case.letters, max(2, round(size)))


def tensors(proof, case, request, only=(*forms.V1, *forms.V2), python37=None):
    """Times an op or a layer.

    Args:
        proof: the proof of its topic.
        case: one of its cases.
        request: its inputs, as `case.request` makes them.
        only: the forms to time, of those that apply.
        python37: an interpreter with 1.15.5, which runs the left page, too.

    Returns:
        {form: Timing}, without forms of the left page if it has no operation to run.
        The forms of 1.15.5 are named "1.15.5, Session.run".
    """
    right = getattr(proof.v2, proof.names.get(case.name, case.name))
    with contextlib.ExitStack() as stack:
        made = {
            form: clock.first_call(make)
            for form, make in forms.native(right, request).items()
            if form in only and (form != "XLA" or "xla" not in case.skip)
        }
        if python37:
            genuine = stack.enter_context(_genuine(proof, request, python37))
            for form in genuine.forms:
                if form in only:
                    made[f"{GENUINE}, {form}"] = genuine.make(form)
        if not runs_left(proof, case):
            return clock.interleave(made)
        session = stack.enter_context(left.session(proof.v1, request))
        for form, make in session.items():
            if form in only:
                made[form] = clock.first_call(make)
        return clock.interleave(made, told=_tells_the_faster)


@contextlib.contextmanager
def _genuine(proof, request, python37):
    """Starts a process of TensorFlow 1.15.5 that runs the left page; a context."""
    page = proof.left
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "request.npz")
        left.write(path, request)
        arguments = ["left", page.name, path]
        searched = recordings.page_folders(page, folder)
        with remote.Process(page.name, arguments, python37, searched) as process:
            yield process


def _tells_the_faster(timings):
    compared = forms.ratio(timings)
    return compared is None or compared.tells(1)


def runs_left(proof, case):
    """Whether today's TensorFlow runs the left page, with tf_keras if necessary."""
    today = getattr(proof, "today", True)  # a user's pair has `today`
    return today and "tf_keras" in case.skip.get("graph", "tf_keras")


def program(proof, case, python37=None):
    """Times whole runs of a program, graph, session and traces included.

    Returns:
        {"v1": Timing, "v2": Timing, "1.15.5": Timing}; without v1 if today's TensorFlow
        cannot run it, without 1.15.5 if there is no `python37`.
    """
    request = case.request(case.bindings()[-1])
    right = proof.names.get(case.name, case.name)
    runs = {"v2": runner(proof.v2, {**request, "name": right})}
    if runs_left(proof, case):
        runs["v1"] = legacy_runner(proof.v1, request)
    made = {side: clock.first_call(lambda run=run: run) for side, run in runs.items()}
    with contextlib.ExitStack() as stack:
        if python37:
            genuine = stack.enter_context(_genuine(proof, request, python37))
            made[GENUINE] = genuine.make("program")
        return clock.interleave(made, PROGRAM_ROUNDS, 0)


def runner(module, request):
    """A function that runs a right page."""
    import tensorflow as tf

    def run():
        tf.random.set_seed(SEED)
        with given_files.placed(request) as args:
            outputs = getattr(module, request["name"])(*args, **request["kwargs"])
            if inspect.isgenerator(outputs):
                for _ in outputs:  # a generator: runs each step
                    pass

    return run


def legacy_runner(module, request):
    """A function that runs a left page with TensorFlow 1 semantics."""
    if inspect.isgeneratorfunction(getattr(module, request["name"])):
        return lambda: v1.run(module, request)  # runs its steps

    def run():
        with legacy(), given_files.placed(request) as args:
            return getattr(module, request["name"])(*args, **request["kwargs"])

    return run


def load(topic):
    """The proof of a topic."""
    return providers.provider("parity_tests").load(topic)
