"""The pytest plugin for files with a `Pair`; it does nothing for other files.

It applies the settings before any file of the folder imports TensorFlow, shows failures
without the frames of this package, and records: `pytest --tf1to2-record`.
"""

import contextlib
import pathlib
import re
import sys

import pytest

ENGINE = str(pathlib.Path(__file__).parents[1] / "parity")
PAIR = re.compile(rb"tf1to2\.parity\b.*\bPair\b", re.S)


def pytest_addoption(parser):
    group = parser.getgroup("tf1to2", "your own port (tf1to2)")
    group.addoption(
        "--tf1to2-record",
        action="store_true",
        help="record the answers of TensorFlow 1 for the collected pairs",
    )
    group.addoption(
        "--tf1to2-python",
        metavar="PATH",
        help="Python with TensorFlow 1; default: 1.15.5",
    )


def pytest_configure(config):
    spread = config.getoption("numprocesses", None) or hasattr(config, "workerinput")
    if config.getoption("tf1to2_record") and spread:
        raise pytest.UsageError("--tf1to2-record works only in one process: remove -n")


def pytest_pycollect_makemodule(module_path):
    """Applies the settings: pytest calls this before it imports the first module."""
    if PAIR.search(module_path.read_bytes()):
        # If this fails, the tests themselves report it.
        with contextlib.suppress(ImportError, RuntimeError):
            from tf1to2.parity import settings

            settings.apply()


def pytest_collection_finish(session):
    pairs = dict.fromkeys(filter(None, map(_pair, session.items)))
    if not session.config.getoption("tf1to2_record") or not pairs:
        return
    from tf1to2.parity.recordings import NoGenuineTensorFlow, genuine_python
    from tf1to2.prove import asking

    try:
        python = genuine_python(".venv-tf1", session.config.getoption("tf1to2_python"))
        for pair in pairs:
            print(f"\n{pair.name}: {asking.record(pair, python)}")
    except (AssertionError, NoGenuineTensorFlow) as error:
        pytest.exit(str(error), 2)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.excinfo and _pair(item):
        report.longrepr = _shown(call.excinfo)


def _pair(item):
    """Returns the `Pair` of a test; None if the test belongs to no pair."""
    loaded = sys.modules.get("tf1to2.parity.pair")
    group = getattr(item, "cls", None)
    mine = loaded and isinstance(group, type) and issubclass(group, loaded.Parity)
    return group.pair if mine else None


def _shown(excinfo):
    """Formats an exception; a failed comparison without a traceback."""

    def theirs(excinfo):
        ours = [str(entry.path).startswith(ENGINE) for entry in excinfo.traceback]
        return excinfo.traceback[len(ours) - ours[::-1].index(True) :]

    if excinfo.errisinstance(AssertionError) or not theirs(excinfo):
        return excinfo.getrepr(style="value")
    return excinfo.getrepr(style="short", tbfilter=theirs)
