"""Records the answers of the genuine TensorFlow 1.15.5 for the left page of a proof."""

import functools
import importlib.metadata
import json
import re

import numpy as np

from tf1to2.common import output
from tf1to2.common.words import counted
from tf1to2.parity import structure
from tf1to2.parity.cases import Raises
from tf1to2.parity.compare import Mismatch
from tf1to2.parity.leaves import measure
from tf1to2.parity.pair import FLOAT32, FLOAT64
from tf1to2.parity.recordings import ask, system


def record(proof, python, check=False, anew=False):
    """Records the answers of TensorFlow 1 for a proof, or checks the recording.

    For a `Pair`, only cases run that are not recorded, or whose code has changed. If
    some of its cases fail, the answers of the others are still recorded.

    Args:
        proof: a `Proof`.
        python: the interpreter with TensorFlow 1, 1.15 or another.
        check: whether to compare with the recording, and to write nothing.
        anew: whether to record again the cases that are not stale.

    Returns:
        A report, as text.

    Raises:
        Mismatch: a page fails there, or its answer differs from the recording, or, for
            a `Pair`, from the answer of a second run.
    """
    entries, recording = proof.recorded(), proof.recording
    kept = []
    if recording.by_function and not (check or anew):
        kept = [entry for entry in entries if recording.stands(entry)]
    stand = {entry.key for entry in kept}
    rest = [entry for entry in entries if entry.key not in stand]
    if not rest:
        known = counted(len(kept), "answer")
        return f"nothing to record: {known} recorded, and their code has not changed"
    asked = [entry.request for entry in rest]
    put = functools.partial(ask, python, proof.left, apart=recording.by_function)
    answers, versions = put(asked, proof.recorded_in)
    if kept and versions[0] != recording.about["tensorflow"]:
        return record(proof, python, anew=True)  # one TensorFlow for all answers
    for entry, answer in zip(rest, answers):
        entry.answer = answer if entry.case.exact else structure.narrow(answer)
    compared = [entry for entry in rest if entry.given is not None]
    given = [entry.given for entry in compared]
    answers, narrow = put(given, "strict")
    for entry, answer in zip(compared, answers):
        entry.answer_float32 = answer
    refused = _unexpected(rest, versions.where)
    refused |= _unexpected(compared, narrow.where, of="answer_float32")
    racing, races = {}, {}
    if proof.races and not (refused and check):
        again, watched = put(given, "watched")
        ran = [(e, a) for e, a in zip(compared, again) if e.key not in refused]
        racing = _racing(ran)
        races = {entry.key: text for entry, text in zip(compared, watched.told) if text}
    bad = refused.keys() | racing.keys()
    failed = [*_by_case(rest, refused), *[RACES] * bool(racing)]
    failed += _by_case(rest, racing)
    if failed and (check or not recording.by_function or len(bad) == len(entries)):
        raise Mismatch("\n".join(failed))
    entries = [entry for entry in entries if entry.key not in bad]
    wide, narrow = (
        [(entry, seeds) for entry, seeds in zip(some, told) if entry.key not in bad]
        for some, told in ((rest, versions.told), (compared, narrow.told))
    )
    if check:
        _check(proof, entries)
        held = "recording holds" if len(entries) == 1 else "recordings hold"
        return f"{len(entries)} {held} on TensorFlow {versions[0]}"
    lines = [f"recorded {counted(len(wide), 'answer')} of TensorFlow {versions[0]}"]
    if kept:
        lines[0] += f"; kept {len(kept)}, whose code has not changed"
    for key, sentences in races.items():
        lines += [f"  {key} has a race: {text}" for text in sentences]
    lines += _contradictions(narrow)
    known = races | (recording.about.get("races", {}) if kept else {})
    races = {entry.key: known[entry.key] for entry in entries if entry.key in known}
    recording.write(entries, versions, today=_today(), races=races)
    if proof.races:
        lines += _drawn(recording.path, kept, wide, narrow)
    if failed:
        failed.append(f"Recorded the other {counted(len(entries), 'answer')}")
        raise Mismatch("\n".join(failed))
    return "\n".join(lines)


FAR, NOISE = 0.01, 1e-6
"""The distance of float64 from float32, relative to the leaf, from which it is
reported; and the size of a leaf, relative to the largest of its answer, below which it
is not."""


def _contradictions(told):
    """Lists text lines on cases with very different results in float64 and float32.

    Args:
        told: pairs of an entry and its seeds; cases with seeds draw other numbers.
    """
    lines = {}
    for entry, seeds in told:
        if seeds or "raised" in entry.answer:
            continue
        sizes = {p: np.abs(a).max() for p, a in entry.answer.items() if _is_float(a)}
        for leaf in measure(entry.answer, entry.answer_float32, ("float64", "float32")):
            large = sizes.get(leaf.path, 0) > NOISE * max(sizes.values(), default=0)
            if large and FAR < leaf.relative < np.inf:
                lines.setdefault(
                    str(entry.case),
                    f"  {entry.case}: TensorFlow 1 gives other results in float64 than "
                    f"in float32, first in {leaf.path}: {leaf.relative:.1e}. Steps can "
                    "amplify rounding, and random ops draw other numbers; if this "
                    "case has neither, add float32=True to it",
                )
    return list(lines.values())


def _is_float(array):
    return array.dtype.kind == "f" and array.size > 0


PAIR = re.compile(r"\[\s+(\d+),\s+(\d+)\s+\]")
PLAIN, MOST = 3, 12  # how many names of a pair of seeds, and pairs, are printed


def _drawn(recording, kept, wide, narrow):
    """Saves the seeds of random operations by case, and lists them for the port.

    All seeds are saved beside the recording, as {case: {"float64" or "float32": {name
    of an operation: [seed, seed2]}}}. A formula in place of a kernel without float64
    has its own nodes, so that a seed by position may be different.

    Args:
        recording: its path.
        kept: the entries that did not run again: their seeds stay.
        wide: pairs of an entry and its seeds, of cases that are proven in float64.
        narrow: pairs of an entry and its seeds, of cases as given.
    """
    known = {}
    for dtype, told in (("float64", wide), ("float32", narrow)):
        for entry, seeds in told:  # all sizes of a case have the same seeds
            if seeds:
                known.setdefault(str(entry.case), {}).setdefault(dtype, seeds)
    path = recording.with_suffix(".seeds.json")
    before = json.loads(path.read_text("utf-8")) if kept and path.exists() else {}
    cases = {str(entry.case) for entry in kept}
    of_kept = {case: seeds for case, seeds in before.items() if case in cases}
    if every := of_kept | known:
        text = json.dumps(every, indent=1, sort_keys=True) + "\n"
        output.save(path, PAIR.sub(r"[\1, \2]", text))
    else:
        path.unlink(missing_ok=True)
    if not known:
        return []
    lines = []
    for case, by_dtype in known.items():
        same = len({json.dumps(s, sort_keys=True) for s in by_dtype.values()}) == 1
        for dtype, seeds in [*by_dtype.items()][: 1 if same else None]:
            lines += _pairs(case if same else f"{case}, in {dtype},", seeds)
    lines.append(
        f"  all seeds: {path.name}; to draw the same numbers: guide/randomness.md, "
        '"Ask the old program"'
    )
    return lines


def _pairs(case, seeds):
    """Lists a text line for each seed pair of a case, up to a limit."""
    by_pair = {}
    for op, pair in seeds.items():
        by_pair.setdefault(tuple(pair), []).append(op)
    told = [
        f"  {case} draws with (seed, seed2) = {pair}: {_few(ops, PLAIN)}"
        for pair, ops in by_pair.items()
    ]
    more = len(told) - MOST
    return told[:MOST] + [f"  … and {more} more pairs of seeds"] * (more > 0)


def _few(names, most):
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _today():
    """Describes the TensorFlow release and the system, without importing TensorFlow."""
    try:
        version = importlib.metadata.version("tensorflow")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return f"TensorFlow {version}, {system()}"


NARROW = (
    "\nIt runs in float32, so that a kernel may have no float64: add float32=True to "
    "this case, and within= for leaves that differ then"
)


def _unexpected(entries, where, of="answer"):
    """Finds entries whose page raised an unexpected exception on TensorFlow 1.15.

    Args:
        entries: the entries that ran.
        where: as in `Versions`, by their numbers.
        of: the attribute with the answer.

    Returns:
        {key of an entry: the message}.
    """
    found = {}
    for number, entry in enumerate(entries):
        answer = getattr(entry, of)
        if "raised" not in answer or isinstance(entry.case, Raises):
            continue
        place = f" ({where[number]})" if number in where else ""
        runs = of == "answer" and "raised" not in (entry.answer_float32 or answer)
        text = f"{entry.key} raised {answer['raised']}: {answer['message']}{place}"
        found[entry.key] = text + (NARROW if runs else "")
    return found


def _racing(answered):
    """Finds leaves that differ between two runs, because the case has a race.

    Args:
        answered: pairs of an entry and its answer when it was run again.

    Returns:
        {key of an entry: lines on its leaves}.
    """
    found = {}
    for entry, answer in answered:
        leaves = measure(entry.answer_float32, answer, ("one run", "another"))
        racing = [
            f"  {entry.key}: {leaf.path}: {leaf.told}" for leaf in leaves if leaf.told
        ]
        more = len(racing) - PLAIN
        if racing:
            rest = [f"  … and {more} more leaves"] * (more > 0)
            found[entry.key] = "\n".join([*racing[:PLAIN], *rest])
    return found


def _by_case(entries, said):
    """Selects, for each case, the text of its first size that has a text."""
    first = {}
    for entry in entries:
        if entry.key in said:
            first.setdefault(str(entry.case), said[entry.key])
    return first.values()


RACES = (
    "the left page has a race: this case is not recorded. Order the reads and writes "
    "of these arrays (tf.control_dependencies), fetch each in a run of its own, or "
    "return something else:"
)


def _check(proof, entries):
    """Compares with the recording: float32 by the rows for today's kernels, or by the
    bounds of a `Pair`, which a user's processor may need as well."""
    recording = proof.recording
    for entry in entries:
        wide = not recording.by_function or proof.is_widened(entry.case)
        form = FLOAT64 if wide else FLOAT32
        pairs = [(form, recording.answer(entry.key, entry.request), entry.answer)]
        if entry.given is not None:
            given = recording.answer_float32(entry.key, entry.given)
            pairs.append((FLOAT32, given, entry.answer_float32))
        for form, recorded, answer in pairs:
            for side in (recorded, answer):
                side.pop("message", None)  # it may contain devices of this machine
            sides = f"the recording of {entry.key}", "TensorFlow 1.15.5 now"
            # The case writes files for other cases, and no right page does: their bytes
            # contain last bits of weights, and checksums, so that only shapes count.
            if {"eager", "function"} <= set(entry.case.skip):
                recorded, answer = _shapes(recorded), _shapes(answer)
            if recording.by_function:
                _refuse_far(proof, entry, form, recorded, answer, sides)
                continue
            pair = f"{proof.name}.{entry.case.name}"
            apart = pair, entry.case.slug, [recorded], [answer], sides
            proof.float32.compare(*apart, partial=True)


def _refuse_far(pair, entry, form, recorded, answer, sides):
    """Raises an error if a leaf differs from the recording more than is allowed."""
    leaves = measure(recorded, answer, sides, entry.case.kind)
    for _, leaf in pair.wrong(entry.case, [(form, leaf) for leaf in leaves]):
        cpu = pair.recording.about["cpu"]
        hint = f". It was recorded on {cpu}. For another processor, add within="
        hint = hint if form == FLOAT32 else ""
        raise Mismatch(f"{entry.key}: {leaf.path}, in {form}: {leaf.message}{hint}")


def _shapes(answer):
    """Replaces the arrays of an answer by their shapes."""
    return {
        path: leaf if path == "structure" else np.array(leaf.shape)
        for path, leaf in answer.items()
    }
