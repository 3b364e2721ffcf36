"""Proves the behaviour for bad input: the exception or the answer of each side.

In the default settings several threads run operations. If two operations fail, either
may be the first: then only the class of the exception is compared, not its message.
"""

import re

from tf1to2.parity import structure
from tf1to2.parity.compare import Mismatch, Tally
from tf1to2.parity.expected import compare_expected, outputs_of


def prove(proof, case, way):
    """Compares the behaviour of a `Raises` in one way with the exceptions of the case.

    Returns:
        {"1.15.5": Tally, "compat.v1": Tally}, a key for each comparison that was made.

    Raises:
        Mismatch: another exception, message or answer, or no exception.
    """
    from tf1to2.parity import v1  # imports TensorFlow

    request = case.request({})
    total = Tally(1, 1)
    genuine = case.genuine or case.graph
    recorded = left = None
    if way == "graph" or "graph" in case.skip:
        recorded = proof.recording.answer(str(case), request)
        _compare_error(proof, case, "TensorFlow 1.15.5", genuine, recorded)
    if "graph" not in case.skip and (way == "graph" or case.works("graph")):
        left = v1.respond(proof.v1, case.request({}))
        _compare_error(proof, case, "compat.v1", case.graph, left)
    if way == "graph":
        if case.works("graph"):
            recorded = None if genuine else recorded
            total += _compare_works(proof, case, way, "1.15.5", recorded, left)
        return {"1.15.5": total, "compat.v1": Tally(1, 1)}
    wanted = getattr(case, way)
    run = "dynamic" if way == "function" and case.dynamic else way
    try:  # the signature leaves the same dimensions open as the placeholder
        (answer,) = proof.ask(run, [request])
    except Exception as error:  # all types are caught; the lines below compare them
        answer = v1.raised(error)
    _compare_error(proof, case, way, wanted, answer)
    if wanted is None:
        expected = None
        if case.works("graph"):
            expected = recorded if left is None else left
        total += _compare_works(proof, case, way, "compat.v1", expected, answer)
    return {"compat.v1": total}


def _compare_works(proof, case, way, side, expected, actual):
    """Compares the outputs of two sides that accept the bad input."""
    if case.expect is not None:
        compare_expected(proof, case, actual)
    if expected is None or not proof.strict:  # float32 only if strict
        return Tally()
    return proof.compare(case, way, {}, side, outputs_of(expected), outputs_of(actual))


def _compare_error(proof, case, side, wanted, answer):
    raised = str(answer["raised"]) if "raised" in answer else None
    message = str(answer.get("message", ""))
    name = wanted and structure.error_name(wanted)
    if raised != name:
        raise Mismatch(
            "{}.{}: {} in {}, not {}: {}".format(
                proof.name,
                case,
                raised or "no error",
                side,
                name or "none",
                message[-400:],
            )
        )
    if raised and proof.strict and not re.search(case.match, message):
        raise Mismatch(
            f"{proof.name}.{case}: the message in {side} does not match "
            f"{case.match!r}: {message[-400:]}"
        )
