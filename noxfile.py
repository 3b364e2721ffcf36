"""Runs the tests on every supported TensorFlow, and the scanner without TensorFlow.

    make test-versions                            all sessions, one after the other
    nox -s "tests(python='3.10', tensorflow='2.16')"            one pair
    nox -s newest                                 the newest that pyproject.toml allows
    nox -s scanner                                the scanner, on Pythons and parsers
    nox -l                                        list the sessions

A pair has an environment of its own, made by pip from the extras, without
constraints.txt, to test the versions that the extras allow. Python 3.10 to 3.13 must be
on the path; a missing one is an error.
"""

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = True
nox.options.reuse_existing_virtualenvs = True

# (Python, TensorFlow), from the oldest to the newest: each version is in a pair.
PAIRS = [
    ("3.10", "2.16"),
    ("3.11", "2.17"),
    ("3.12", "2.18"),
    ("3.12", "2.19"),
    ("3.13", "2.20"),
    ("3.13", "2.21"),
    ("3.10", "2.21"),
]
# The oldest versions that pyproject.toml allows, and pip's own choice.
PARSERS = {
    "oldest": ["tree-sitter==0.25.0", "tree-sitter-python==0.23.0", "Pygments==2.15.0"],
    "newest": [],
}


@nox.session
@nox.parametrize("python,tensorflow", PAIRS)
def tests(session, tensorflow):
    """`make test`: all topics and tools; `-- JOBS=4 ONLY=parity_tests/test_rnn.py`."""
    session.install("-e", ".[test,lint]", f"tensorflow=={tensorflow}.*")
    make_test(session)


def make_test(session):
    """Runs `make test` in the environment of a session, without changing it."""
    command = "make", "test", "READY=", f"BIN={session.bin}", *session.posargs
    session.run(*command, external=True)


@nox.session(python="3.11")
def newest(session):
    """`make test` on the newest versions that pyproject.toml allows."""
    upgrade = "--upgrade", "--upgrade-strategy", "eager"
    session.install(*upgrade, "-e", ".[test,lint]")
    make_test(session)


@nox.session
@nox.parametrize("parsers", list(PARSERS))
@nox.parametrize("python", ["3.10", "3.13"])
def scanner(session, parsers):
    """The tests of the tools that work without TensorFlow."""
    needed = ["pytest", "parameterized", "jsonschema", "hypothesis", "pytest-xdist"]
    session.install("-e", ".", *needed, *PARSERS[parsers])
    files = "causes explain fix links output scan scan_guards scan_names scan_odd view"
    session.run(
        *("python", "-m", "pytest", "-q", "-m", "not slow"),
        # These three need TensorFlow.
        *("-k", "not verify and not ClaimTest and not CallsTest"),
        *(f"tf1to2/tests/test_{name}.py" for name in files.split()),
        *session.posargs,
    )
