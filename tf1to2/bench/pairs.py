"""What is timed of a pair: the inputs of its proof, at three sizes."""

import math

from tf1to2.bench import clock, forms
from tf1to2.parity import arrays, structure
from tf1to2.parity.cases import Raises
from tf1to2.parity.v1 import SEED, legacy

# About how many elements the largest input has.
SIZES = {"small": 2**4, "medium": 2**10, "large": 2**16}
PATIENCE = 0.1  # seconds of a call from which on larger inputs are left out
PROGRAM_ROUNDS = 3


def cases(proof, name=None):
    """{name: case} to be timed: of each pair the first one, if possible of any size."""
    chosen = {}
    for case in proof.cases:
        if isinstance(case, Raises) or name not in (None, case.name):
            continue
        if kind(case) == "program" and "eager" in case.skip:
            continue  # it takes long, or starts processes of its own
        known = chosen.get(case.name)
        if known is None or (not known.letters and case.letters):
            chosen[case.name] = case
    return chosen


def kind(case):
    """ "op", "layer" or "program"; a false friend is one of these."""
    return getattr(case, "of", case.kind)


def sizes(case):
    """{label: {letter: size}} of a case; one of its own sizes if it cannot vary."""
    if not case.letters:
        return {"as proven": {}}
    if case.sizes and structure.arrays(case.args):
        return {"as proven": case.sizes[-1]}  # arrays that go with these sizes
    if case.sizes:  # the letters hang together, save the first, which is the batch
        (batch, size), *others = case.sizes[0].items()
        grown = zip(SIZES, (1, 2**4, 2**8), strict=True)
        return {label: {batch: size * by, **dict(others)} for label, by in grown}
    return {label: _binding(case, count) for label, count in SIZES.items()}


def _binding(case, count):
    """All letters alike, so that their product, which may be made, is `count`."""
    specs = [spec for _, spec in arrays.specs(case.args)]
    fixed = max(math.prod(d for d in s.dims if not isinstance(d, str)) for s in specs)
    size = (count / max(fixed, 1)) ** (1 / len(case.letters))
    return dict.fromkeys(case.letters, max(2, round(size)))


def tensors(proof, case, request, only=(*forms.V1, *forms.V2)):
    """Times an op or a layer.

    Args:
        proof: the proof of its topic.
        case: one of its cases.
        request: its inputs, as `case.request` makes them.
        only: the forms to time, of those that apply.

    Returns:
        {form: Timing}; without the left page's where there is nothing to run.
    """
    left, right = getattr(proof.v1, case.name), getattr(proof.v2, case.name)
    made = {
        form: clock.first_call(make)
        for form, make in forms.native(right, request).items()
        if form in only and (form != "XLA" or "xla" not in case.skip)
    }
    if not runs_left(case):
        return clock.interleave(made)
    with forms.session(left, request) as session:
        for form, make in session.items():
            if form in only:
                made[form] = clock.first_call(make)
        return clock.interleave(made, told=_tells_the_faster)


def _tells_the_faster(timings):
    compared = forms.ratio(timings)
    return compared is None or compared.tells(1)


def runs_left(case):
    """Whether the left page runs on today's TensorFlow: `tf.layers` do by tf_keras."""
    return "tf_keras" in case.skip.get("graph", "tf_keras")


def program(proof, case):
    """Times whole runs of a program, graph, session and traces included.

    Returns:
        {"v1": Timing, "v2": Timing}; without v1 where today's TensorFlow lacks it.
    """
    args = case.request(case.bindings()[-1])["args"]
    runs = {"v2": runner(proof.v2, case.name, args, case.kwargs)}
    if runs_left(case):
        runs["v1"] = legacy_runner(proof.v1, case.name, args, case.kwargs)
    made = {side: clock.first_call(lambda run=run: run) for side, run in runs.items()}
    return clock.interleave(made, PROGRAM_ROUNDS, 0)


def runner(module, name, args, kwargs):
    """A function that runs a right page."""
    import tensorflow as tf

    def run():
        tf.random.set_seed(SEED)
        return getattr(module, name)(*args, **kwargs)

    return run


def legacy_runner(module, name, args, kwargs):
    """A function that runs a left page with TensorFlow 1 semantics around it."""

    def run():
        with legacy():
            return getattr(module, name)(*args, **kwargs)

    return run


def load(topic):
    """The proof of a topic."""
    from tf1to2.parity import providers

    return providers.provider("parity_tests").load(topic)
