"""Selects the slow tests, which `make test` leaves to `make test-slow`: slow.tsv.

A test is slow if it took longer than `LIMIT` in the run that measured its file, alone
(`python -m upkeep timings --topics rnn`) or with all files. The fastest case of each
pair is not slow, nor that of its Keras page, so that `make test` runs every pair.
Generated and unknown sizes, float16, and the distances of float32 are always slow.
Tests that read only the sources or this table are never slow, because they check what
an editor has just written. The table of hazards marks its own slow tests.
"""

import collections
import pathlib
import re

from parameterized import parameterized

TABLE = pathlib.Path(__file__).with_name("slow.tsv")
LIMIT = 0.07
SOURCES = "test_structure.py", "test_timings.py"
HAZARDS = "hazards/"
HEADER = f"# Seconds of the tests of more than {LIMIT}: `python -m upkeep timings`.\n"


def key(nodeid):
    """Returns the file and the function of a test, without the number of a row.

    >>> key("parity_tests/test_rnn.py::RNNTest::test_parity_012_make_lstm_wide_eager")
    'test_rnn.py::test_parity_make_lstm_wide_eager'
    >>> key("parity_tests/hazards/test_layers.py::LayersTest::test_saved_0")
    'hazards/test_layers.py::test_saved'
    """
    path, _, name = nodeid.partition("::")
    function = re.sub(r"^(test_[a-z_]+?)_\d+(?=_|$)", r"\1", name.rpartition("::")[2])
    folder = HAZARDS if f"/{HAZARDS}" in path else ""
    return f"{folder}{path.rpartition('/')[2]}::{function}"


def slow():
    """Returns the keys of the slow tests as a set."""
    return set(_rows())


def _rows():
    """Reads the table as {key: row}."""
    lines = TABLE.read_text("utf-8").splitlines()[1:]
    return {line.split("\t")[1]: line for line in lines}


def is_slow(name, rows):
    """Returns whether `make test` leaves out this test; `rows` is `slow()`."""
    if name.endswith(("_generated", "_dynamic", "_float32")) or "float16" in name:
        return True
    if name.startswith((*SOURCES, HAZARDS)):
        return False
    if name.startswith("test_numerics.py") and name.endswith("_graph"):
        return True  # left pages of topics that import the library run there
    return name in rows


def by_pair():
    """Returns {(topic, pair, whether by Keras): set of its proofs' keys}."""
    from parity_tests import PROVIDER

    pairs = collections.defaultdict(set)
    for topic in PROVIDER.names():
        for slug, check in PROVIDER.load(topic).checks():
            if check.way != "naive":
                pair = topic, check.case.name, check.way == "keras"
                name = parameterized.to_safe_name(slug)
                pairs[pair].add(f"test_{topic}.py::test_parity_{name}")
    return pairs


class Stopwatch:
    """A pytest plugin that adds up the time of each test, in the reporting process."""

    def __init__(self):
        self.seconds = collections.Counter()

    def pytest_runtest_logreport(self, report):
        name = key(report.nodeid)
        if not name.startswith(HAZARDS):
            self.seconds[name] += report.duration

    def pytest_sessionfinish(self):
        left = dict(self.seconds)
        for names in by_pair().values():
            ran = names & left.keys()
            if ran:
                del left[min(ran, key=left.get)]
        files = {_file(name) for name in self.seconds}
        rows = {name: row for name, row in _rows().items() if _file(name) not in files}
        rows |= {name: f"{s:.2f}\t{name}" for name, s in left.items() if s > LIMIT}
        lines = (f"{rows[name]}\n" for name in sorted(rows))
        TABLE.write_text(HEADER + "".join(lines), "utf-8")


def _file(name):
    return name.partition("::")[0]
