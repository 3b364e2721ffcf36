"""Has the genuine TensorFlow 1.15.5 answer for the left pages.

python -m tf1to2.parity.record            records every topic anew
python -m tf1to2.parity.record --check    compares with the recordings, writes nothing
"""

import argparse
import importlib
import sys

from tf1to2 import topics
from tf1to2.parity import structure
from tf1to2.parity.cases import Raises
from tf1to2.parity.compare import Mismatch, compare
from tf1to2.parity.recordings import NoGenuineTensorFlow, ask, genuine_python


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topics", nargs="*", help="all, unless named")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument(
        "--environment", default=".venv-tf1", help="virtual environment (%(default)s)"
    )
    options = parser.parse_args(argv)
    try:
        names = [
            topics.find(name)[0].name for name in options.topics
        ] or topics.topics()
        python = genuine_python(options.environment)
    except (topics.UnknownTopic, NoGenuineTensorFlow) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    failed = False
    for name in names:
        proof = importlib.import_module("parity_tests.test_" + name).PROOF
        entries = proof.recorded()
        module = proof.v1.__name__
        answers, versions = ask(python, [(module, request) for *_, request in entries])
        answers = [
            answer if case.exact else structure.narrow(answer)
            for (case, *_), answer in zip(entries, answers)
        ]
        entries = [(key, request) for _, key, request in entries]
        print(f"\r{name}: ", end="")
        try:
            _refuse_unexpected(proof, entries, answers)
            if options.check:
                _check(proof, entries, answers)
                print(f"{len(entries)} recordings hold on TensorFlow {versions[0]}")
            else:
                proof.recording.write(entries, answers, versions)
                print(f"recorded {len(entries)} answers")
        except AssertionError as error:
            print(error)
            failed = True
    return int(failed)


def _refuse_unexpected(proof, entries, answers):
    """A page that breaks on 1.15 is a fault now, not when the proofs run."""
    bad = {str(case) for case in proof.cases if isinstance(case, Raises)}
    for (key, _), answer in zip(entries, answers):
        if "raised" in answer and key not in bad:
            raise Mismatch(f"{key} raised {answer['raised']}: {answer['message']}")


def _check(proof, entries, answers):
    for (key, request), answer in zip(entries, answers):
        recorded = proof.recording.answer(key, request)
        for side in (recorded, answer):
            side.pop("message", None)  # it may name this machine's devices
        compare(recorded, answer, (f"the recording of {key}", "TensorFlow 1.15.5 now"))


if __name__ == "__main__":
    sys.exit(main())
