"""Proves that the obvious port of a TensorFlow 1 page gives different results."""

import types

from tf1to2.parity import structure
from tf1to2.parity.compare import Mismatch, Tally, difference
from tf1to2.parity.expected import outputs_of

FOUND = {
    "": "agrees",
    "dtype": "has the same numbers in another dtype",
    "container": "has the same numbers in other containers",
    "values": "has other values",
    "shape": "has another shape",
    "structure": "has other leaves",
    "raises": "raises",
}


def both(proof, case, sizes):
    """Returns the answers of the left page and of the naive replacement.

    Returns:
        Two {path: array}; the second one is the exception where the naive form
        raises.
    """
    import tensorflow as tf

    from tf1to2.parity import given_files, v1, v2, widening

    request = case.request(sizes)
    if "graph" in case.skip:  # the recording replaces the left page
        request = proof.widened(case, request)
        left = proof.recorded_answer(case, sizes)
    else:
        left = v1.run(proof.v1, request)
    args = request["args"]
    if case.kind == "op":
        args = structure.map_arrays(lambda _, a: tf.constant(a), args)
    try:
        placed = given_files.placed({**request, "args": args})
        floatx = widening.keras_in(request.get("floatx"))
        with widening.widened(request.get("widen")), floatx, placed as args:
            naive = _naive(proof, case, request, args)
    except Exception as error:  # any exception counts: the naive form does not work
        naive = error
    else:
        if case.kind != "layer":
            naive = structure.answer({"outputs": v2.as_numpy(naive)})
        if "graph" in case.skip:
            naive = structure.narrow(naive)
    return outputs_of(left), naive


def _naive(proof, case, request, args):
    """Runs the naive form and returns its outputs."""
    if case.kind != "layer":
        return case.naive(*args, **case.kwargs)
    from tf1to2.parity import v2

    tell = {"old_names": proof.v2.old_names} if proof.by_keras else {}
    page = types.SimpleNamespace(**{case.name: case.naive}, **tell)
    (answer,) = v2.run(page, [{**request, "gradient": False}], "eager")
    return outputs_of(answer)


def prove(proof, case):
    """Compares a `FalseFriend` with its naive form.

    Returns:
        {"compat.v1": Tally}.

    Raises:
        Mismatch: they do not differ in the property that the case names.
    """
    for sizes in case.bindings():
        left, naive = both(proof, case, sizes)
        if isinstance(naive, Exception):
            found = "raises"
        else:
            found = difference(left, naive)
        if found != case.differs:
            shown = f": {naive!r}" if found == "raises" else ""
            raise Mismatch(
                f"{proof.name}.{case}: differs={case.differs!r} is wrong: the naive "
                f"form {FOUND[found]}{shown}"
            )
    return {"compat.v1": Tally(1, 1)}
