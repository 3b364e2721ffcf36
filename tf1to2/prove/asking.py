"""Has the genuine TensorFlow 1.15.5 answer for the left page of a proof."""

import importlib.metadata

import numpy as np

from tf1to2.parity import structure
from tf1to2.parity.cases import Raises
from tf1to2.parity.compare import Mismatch
from tf1to2.parity.leaves import measure
from tf1to2.parity.recordings import ask, system


def record(proof, python, check=False):
    """Asks TensorFlow 1 for all answers of a proof.

    Args:
        proof: a `Proof`.
        python: the interpreter that has it, 1.15 or another.
        check: whether to compare with the recording, and to write nothing.

    Returns:
        What was done, in words.

    Raises:
        Mismatch: a page breaks there, answers otherwise than recorded, or, of a `Pair`,
            otherwise when it is run again.
    """
    entries = proof.recorded()
    asked = [entry.request for entry in entries]
    answers, versions = ask(python, proof.left, asked, proof.recorded_in)
    for entry, answer in zip(entries, answers):
        entry.answer = answer if entry.case.exact else structure.narrow(answer)
    compared = [entry for entry in entries if entry.given is not None]
    given = [entry.given for entry in compared]
    answers, _ = ask(python, proof.left, given, "strict")
    for entry, answer in zip(compared, answers):
        entry.answer_float32 = answer
    _refuse_unexpected(entries)
    races, drawn = {}, []
    if proof.races:
        again, watched = ask(python, proof.left, given, "watched")
        _refuse_races(compared, again)
        told = zip(compared, watched.unordered)
        races = {entry.key: sentences for entry, sentences in told if sentences}
        drawn = _drawn(compared, watched.seeds)
    if check:
        _check(proof, entries)
        return f"{len(entries)} recordings hold on TensorFlow {versions[0]}"
    proof.recording.write(entries, versions, today=_today(), races=races)
    lines = [f"recorded {len(entries)} answers of TensorFlow {versions[0]}"]
    for key, sentences in races.items():
        lines += [f"  {key} races with itself: {text}" for text in sentences]
    return "\n".join([*lines, *drawn])


PLAIN, MOST = 3, 12  # names of a pair of seeds, and pairs, that are told


def _drawn(entries, seeds):
    """Lines that tell with which seeds each case draws: a port needs them."""
    lines = []
    for entry, of_ops in zip(entries, seeds):
        by_pair = {}
        for op, pair in of_ops.items():
            by_pair.setdefault(tuple(pair), []).append(op)
        told = [
            f"  {entry.case} draws with seed, seed2 {pair}: {_few(ops, PLAIN)}"
            for pair, ops in by_pair.items()
        ]
        more = len(told) - MOST
        lines += told[:MOST] + [f"  … and {more} more pairs of seeds"] * (more > 0)
    lines = list(dict.fromkeys(lines))  # the sizes of a case draw alike
    if lines:
        lines.append('  to draw the same: guide/randomness.md, "Ask the old program"')
    return lines


def _few(names, most):
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _today():
    """As `float32.here`, without an import of TensorFlow; "" where it is missing."""
    try:
        version = importlib.metadata.version("tensorflow")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return f"TensorFlow {version}, {system()}"


NARROW = (
    "\nA kernel has no float64: say float32=True for this case, and within= for what "
    "then differs"
)


def _refuse_unexpected(entries):
    """A page that breaks on 1.15 is a fault now, not when the proofs run."""
    for entry in entries:
        for answer in (entry.answer, entry.answer_float32 or {}):
            if "raised" in answer and not isinstance(entry.case, Raises):
                raise Mismatch(
                    f"{entry.key} raised {answer['raised']}: {answer['message']}"
                    + (NARROW if "float64" in str(answer["message"]) else "")
                )


def _refuse_races(entries, again):
    """A leaf that depends on what runs first proves nothing."""
    racing = [
        f"  {entry.key}: {leaf.path}: {leaf.told}"
        for entry, answer in zip(entries, again)
        for leaf in measure(entry.answer_float32, answer, ("one run", "another"))
        if leaf.told
    ]
    if racing:
        raise Mismatch(
            "the left page races with itself: nothing is recorded. Order what these "
            "read and write (tf.control_dependencies), fetch them in runs of their "
            "own, or return something else:\n" + "\n".join(racing)
        )


def _check(proof, entries):
    """Compares with what was recorded: float32 by its rows, as today's kernels are."""
    recording = proof.recording
    for entry in entries:
        pairs = [(recording.answer(entry.key, entry.request), entry.answer)]
        if entry.given is not None:
            given = recording.answer_float32(entry.key, entry.given)
            pairs.append((given, entry.answer_float32))
        for recorded, answer in pairs:
            for side in (recorded, answer):
                side.pop("message", None)  # it may name this machine's devices
            sides = f"the recording of {entry.key}", "TensorFlow 1.15.5 now"
            # Files for other cases, which no right page writes: their bytes have the
            # last bits of weights, and checksums of these.
            if {"eager", "function"} <= set(entry.case.skip):
                recorded, answer = _shapes(recorded), _shapes(answer)
            pair = f"{proof.name}.{entry.case.name}"
            apart = pair, entry.case.slug, [recorded], [answer], sides
            proof.float32.compare(*apart, partial=True)


def _shapes(answer):
    """An answer with the shapes of its arrays in place of their numbers."""
    return {
        path: leaf if path == "structure" else np.array(leaf.shape)
        for path, leaf in answer.items()
    }
