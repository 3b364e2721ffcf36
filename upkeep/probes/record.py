"""Records the answers of the genuine TensorFlow 1.15.5 to the old calls of probes."""

from tf1to2.pages.page import Page
from tf1to2.parity.compare import Mismatch, compare
from tf1to2.parity.recordings import Entry, ask
from tf1to2.probes import probes
from upkeep.probes import proving

LEFT = "upkeep.probes.left"


def record(python, check=False):
    """Records all probes, or compares them with their recording.

    Args:
        python: the interpreter of an environment with TensorFlow 1.15.5.
        check: whether to compare only.

    Raises:
        Mismatch: an old call raised, or its answer differs from the recording.
    """
    found = {  # several new calls may replace one old call
        key: (row.exact, request)
        for row in probes()
        for key, request in proving.cases(row)
    }
    requests = [request for _, request in found.values()]
    answers, versions = ask(python, Page(LEFT), requests)
    answers = [
        answer if exact else proving.narrow(answer)
        for (exact, _), answer in zip(found.values(), answers, strict=True)
    ]
    raised = [
        f"{key} raised {answer['raised']}: {answer['message']}"
        for key, answer in zip(found, answers, strict=True)
        if "raised" in answer
    ]
    if raised:
        raise Mismatch("\n".join(raised))
    entries = [(key, request) for key, (_, request) in found.items()]
    if not check:
        rows = [Entry(None, *e, None, a) for e, a in zip(entries, answers, strict=True)]
        proving.recording().write(rows, versions)
        return f"probes: recorded {len(entries)} answers"
    for (key, request), answer in zip(entries, answers, strict=True):
        recorded = proving.recording().answer(key, request)
        compare(recorded, answer, (f"the recording of {key}", "TensorFlow 1.15.5 now"))
    return f"probes: {len(entries)} recordings hold on TensorFlow {versions[0]}"
