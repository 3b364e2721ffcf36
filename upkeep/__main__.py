"""Makes all generated files: recordings, tables, pictures.

python -m upkeep                          lists the jobs
python -m upkeep all --since REV          what the change since a commit needs
python -m upkeep NAME ... [--topics T …]  these jobs, for all topics or for some
python -m upkeep ... --check              compares, and writes nothing

With `--since`, a job runs only if the change touches its inputs, and only for the
topics that are touched. "landed" is the newest commit that is at least three hours
older than HEAD. Each job has a process of its own. Some need Python 3.7, see
CONTRIBUTING.md.
"""

import argparse
import dataclasses
import functools
import importlib.util
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable

from tf1to2.pages import topics
from tf1to2.pages.page import code_hash, source_hash

ROOT = pathlib.Path(__file__).parents[1]


@dataclasses.dataclass(frozen=True)
class Change:
    """The parts of the repository that a change touches.

    Attributes:
        paths: of the changed files, relative to the root of the repository.
        topics: those whose pages, proofs or recordings changed their behaviour.
        parts: the parts that CI tests for this change, see `.ci/changed.py`.
        asked: the topics whose recordings are checked on 1.15.5.
    """

    paths: frozenset
    topics: tuple
    parts: tuple
    asked: tuple

    def has(self, pattern):
        """Whether a regular expression matches the beginning of a path."""
        return any(re.match(pattern, path) for path in self.paths)


def since(base):
    """Returns the `Change` since a commit, or None (run all jobs) if git fails."""
    changed = _changed()
    found = changed.touched(base)
    try:
        commit, paths = changed.difference(base)
    except (OSError, subprocess.CalledProcessError):  # `touched` has printed why
        return None
    code = {path for path in paths if _does_something_else(path, commit)}
    own = (t for t in changed.stems() if code & changed.files(t, code))
    return Change(frozenset(paths), tuple(own), tuple(found.parts), tuple(found.live))


def _does_something_else(path, commit):
    """Whether a file changed in more than its comments, docstrings or layout."""
    if not path.endswith(".py") or not (ROOT / path).exists():
        return True
    try:
        old = _changed().git("show", f"{commit}:{path}")
    except subprocess.CalledProcessError:  # a new file
        return True
    return source_hash(old.encode()) != code_hash(ROOT / path)


@functools.cache
def _changed():
    path = ROOT / ".ci" / "changed.py"
    spec = importlib.util.spec_from_file_location("changed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclasses.dataclass(frozen=True)
class Job:
    """A job: the commands that make one kind of file.

    Attributes:
        says: a description of its result.
        commands: function from (topics, or an empty list for all; whether to check) to
            lists of words, which are run by `python -m` in this order.
        needed: function from a `Change` to whether the job is needed, or to the topics
            for which it is needed.
        checked: the same for `--check`; None if there is nothing to compare.
    """

    says: str
    commands: Callable
    needed: Callable
    checked: Callable | None = None


def _record(provider):
    def commands(names, check):
        return [["tf1to2", "record", provider, *names, *["--check"] * check]]

    return commands


def _module(name, takes_topics=False):
    def commands(names, check):
        return [[f"upkeep.{name}", *(names * takes_topics), *["--check"] * check]]

    return commands


def _measure(table, provider):
    def commands(names, check):
        return [["upkeep.measuring", table, provider, *names]]

    return commands


def _kernels(names, check):
    measure = [] if check else _measure("float32", "upkeep.kernels.proof")([], check)
    return _record("upkeep.kernels.proof")([], check) + measure


def _docs(names, check):
    tests = sorted((ROOT / "tf1to2" / "tests").glob("test_*.py"))
    tests = [str(t.relative_to(ROOT)) for t in tests if "mark.tables" in t.read_text()]
    make = _module("docs", takes_topics=not check)(names, check)
    return [*make, ["pytest", "-q", "-m", "tables", *tests]]


def _timings(names, check):
    tests = [f"parity_tests/test_{name}.py" for name in names]
    spread = ["-n", "2", "--dist", "loadfile"]
    return [["pytest", "-q", *spread, "-m", QUICK, "--timings", *tests]]


def _stale(change):
    """The topics whose recording is missing, or older than its left page."""
    found = topics.topics().items()
    return [name for name, topic in found if topic.is_stale]


def _touches(pattern):
    return lambda change: change.has(pattern)


def _has(part):
    return lambda change: part in change.parts


def _false_friends(change):
    """The topics whose false friends may have changed; True if all may have."""
    if change.has(r"tf1to2/(parity|pages)/"):
        return True
    return list(change.topics) or bool(change.paths)


def _of_keras(change):
    return [name for name in change.topics if name.startswith("keras_")]


def _with_keras(change):
    return [name for name in change.topics if topics.topics()[name].keras]


LOGGED = re.compile(r"[IWEF]\d{4} |WARNING: All log messages before absl")
QUICK = "not slow and not browser and not distributed and not install and not tables"
JOBS = {
    "names": Job(
        "the names of 1.15.5, and which of them TensorFlow still has (Python 3.7)",
        _module("survey"),
        _touches(
            r"upkeep/(survey|api_walk)|tf1to2/catalog/(facts|names|members|privates)"
        ),
        _has("names"),
    ),
    "keras_names": Job(
        "keras_names.tsv: which versions of Keras have a name (downloads wheels)",
        _module("keras_names"),
        _touches("upkeep/keras_names"),
        _touches("upkeep/keras_names|tf1to2/catalog/keras_names"),
    ),
    "keras_1": Job(
        "answers of Keras 1.2.2 to the lines that fix rewrites (Python 3.7)",
        _module("keras_1"),
        _touches("upkeep/keras_1/"),
        _touches("upkeep/keras_1/"),
    ),
    "switches": Job(
        "effects of each enable_… and disable_… function (Python 3.7)",
        _module("switches"),
        _touches("upkeep/switches/"),
        _touches("upkeep/switches/"),
    ),
    "recordings": Job(
        "answers of 1.15.5 for the left pages (Python 3.7)",
        _record("parity_tests"),
        _stale,
        lambda change: list(change.asked),
    ),
    "kernels": Job(
        "answers of 1.15.5's kernels, and which have other bits today (Python 3.7)",
        _kernels,
        _touches("upkeep/kernels/"),
        _has("probes"),
    ),
    "probes": Job(
        "answers of 1.15.5 to the old calls of the probes (Python 3.7)",
        lambda names, check: [["upkeep.probes", "--check" if check else "--record"]],
        _touches("(upkeep|tf1to2)/probes/"),
        _has("probes"),
    ),
    "float32": Job(
        "float32.tsv: differences from 1.15.5 in float32, by kernel",
        _measure("float32", "parity_tests"),
        lambda change: list(change.topics),
    ),
    "distances": Job(
        "keras.tsv: distances of the Keras pages from 1.15.5",
        _measure("distances", "parity_tests"),
        _with_keras,
    ),
    "keras_today": Job(
        "keras_today.tsv: results of the old lines in Keras 2 and 3 (tf_keras)",
        _module("keras_today", takes_topics=True),
        _of_keras,
        _of_keras,
    ),
    "timings": Job(
        "slow.tsv: the slow tests, which only make test-slow runs",
        _timings,
        lambda change: False,  # no change needs it: tests without a row run
    ),
    "pictures": Job(
        "the pictures of README and the guide",
        _module("pictures"),
        _touches(r"upkeep/(pictures|svg)|benchmarks/|tf1to2/pages/|v\w+/basics\.py"),
    ),
    "docs": Job(
        "the tables of the guide, proofs.json, calls.tsv",
        _docs,
        _false_friends,
        lambda change: bool(change.paths),
    ),
}


def main(argv=None):
    """Runs jobs in the order of `JOBS`.

    Returns:
        Exit status: 0, or 1 if something is stale, or could not be made.
    """
    options = _options(argv)
    change = since(options.since) if options.since else None
    todo = {
        name: found
        for name, job in JOBS.items()
        if name in options.names or "all" in options.names
        if (found := _needed(job, options.check, change)) is not None
    }
    failed = [
        name
        for number, (name, found) in enumerate(todo.items(), 1)
        if not _done(name, options.topics or found, options.check, number, len(todo))
    ]
    if not todo:
        print("no job is needed")
    elif failed:
        told = "To update stale files: make upkeep" if options.check else "not made"
        print(f"FAILED {', '.join(failed)}. {told}")
    return int(bool(failed))


def _needed(job, check, change):
    """The topics for which a job is needed, [] for all; None if it is not needed."""
    needed = job.checked if check else job.needed
    if needed is None or change is None:
        return [] if needed else None
    found = needed(change)
    return [] if found is True else found or None


def _options(argv):
    parser = argparse.ArgumentParser(
        "python -m upkeep",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.partition("\n")[0],
        epilog="jobs:\n" + "\n".join(f"  {n:13}{j.says}" for n, j in JOBS.items()),
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="jobs, see below, or all"
    )
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument(
        "--since", metavar="REV", help="only jobs for changes since a commit"
    )
    parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC")
    options = parser.parse_args(argv)
    if not options.names:
        parser.print_help()
        raise SystemExit(0)
    for name in options.names:
        if name not in JOBS and name != "all":
            parser.error(f"no job {name}; the jobs are: {', '.join(JOBS)}, all")
        if options.check and name in JOBS and JOBS[name].checked is None:
            parser.error(f"{name} has nothing to compare")
    for name in options.topics:
        if name not in topics.topics():
            parser.error(f"no topic {name}; tf1to2 topics lists them")
    if options.since == "none":  # all topics
        options.since = None
    return options


def _done(name, names, check, number, total):
    """Runs one job; returns whether all its commands succeeded."""
    job, begun = JOBS[name], time.monotonic()
    told = f" of {', '.join(names)}" if 0 < len(names) <= 8 else ""
    print(f"[{number}/{total}] {name}{told}: {job.says}", flush=True)
    statuses = [_status(command) for command in job.commands(names, check)]
    seconds = time.monotonic() - begun
    print(f"[{number}/{total}] {name}: {seconds:.0f} s", flush=True)
    return not any(statuses)


def _status(command):
    """Runs a module without TensorFlow's log lines; returns its exit status."""
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stderr:
            if not LOGGED.match(line):
                sys.stderr.write(line)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
