"""Has the genuine TensorFlow 1.15.5 answer for the left pages of a provider.

python -m tf1to2.parity.record PROVIDER [NAME ...]     records anew
python -m tf1to2.parity.record PROVIDER --check        compares, writes nothing

A provider is a module or a file with proofs: parity_tests, test_port.py.
"""

import argparse
import sys

from tf1to2.errors import CommandError
from tf1to2.parity import providers, structure
from tf1to2.parity.cases import Raises
from tf1to2.parity.compare import Mismatch, compare
from tf1to2.parity.recordings import NoGenuineTensorFlow, ask, genuine_python


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("provider", help="a module, or the path of a file")
    parser.add_argument("names", nargs="*", help="of proofs; all, unless named")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument(
        "--environment", default=".venv-tf1", help="virtual environment (%(default)s)"
    )
    options = parser.parse_args(argv)
    try:
        provider = providers.provider(options.provider)
        proofs = [proof for proof, _ in providers.select(provider, options.names)]
        python = genuine_python(options.environment)
    except (CommandError, NoGenuineTensorFlow) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = False
    for proof in proofs:
        try:
            print(f"{proof.name}: {record(proof, python, options.check)}", flush=True)
        except AssertionError as error:
            print(f"{proof.name}: {error}", flush=True)
            failed = True
        except NoGenuineTensorFlow as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
    return int(failed)


def record(proof, python, check=False):
    """Asks the genuine TensorFlow 1.15 for all answers of a proof.

    Args:
        proof: a `Proof`.
        python: the interpreter that has TensorFlow 1.15.
        check: whether to compare with the recording, and to write nothing.

    Returns:
        What was done, in words.

    Raises:
        Mismatch: a page breaks on 1.15, or answers otherwise than recorded.
    """
    entries = proof.recorded()
    asked = [entry.request for entry in entries]
    answers, versions = ask(python, proof.left, asked)
    for entry, answer in zip(entries, answers):
        entry.answer = answer if entry.case.exact else structure.narrow(answer)
    compared = [entry for entry in entries if entry.given is not None]
    answers, _ = ask(python, proof.left, [e.given for e in compared], "strict")
    for entry, answer in zip(compared, answers):
        entry.answer_float32 = answer
    _refuse_unexpected(entries)
    if check:
        _check(proof.recording, entries)
        return f"{len(entries)} recordings hold on TensorFlow {versions[0]}"
    proof.recording.write(entries, versions)
    return f"recorded {len(entries)} answers"


def _refuse_unexpected(entries):
    """A page that breaks on 1.15 is a fault now, not when the proofs run."""
    for entry in entries:
        for answer in (entry.answer, entry.answer_float32 or {}):
            if "raised" in answer and not isinstance(entry.case, Raises):
                raise Mismatch(
                    f"{entry.key} raised {answer['raised']}: {answer['message']}"
                )


def _check(recording, entries):
    for entry in entries:
        pairs = [(recording.answer(entry.key, entry.request), entry.answer)]
        if entry.given is not None:
            given = recording.answer_float32(entry.key, entry.given)
            pairs.append((given, entry.answer_float32))
        for recorded, answer in pairs:
            for side in (recorded, answer):
                side.pop("message", None)  # it may name this machine's devices
            sides = f"the recording of {entry.key}", "TensorFlow 1.15.5 now"
            compare(recorded, answer, sides)


if __name__ == "__main__":
    sys.exit(main())
