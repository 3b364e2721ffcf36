"""`tf1to2 mutate`: breaks a right page, to check that its proof notices.

Prints the changes that no check and no test noticed. Some of these do not change any
number (a name in a message, a bound that is never reached); the others show that cases
are missing.

If the page is a package, all its modules are changed, one at a time. Every change runs
in a process of its own, with a copy of the page's package that contains the change, and
with the files beside the package; processes that it starts see the same. The unchanged
page runs first and last, and must pass: otherwise the results mean nothing. With
`--results`, results are saved in a file, and a change with a result for the same page
and tests is not tried again.
"""

import ast
import datetime
import importlib
import importlib.util
import io
import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from tf1to2.common import output
from tf1to2.common.errors import CommandError, needs
from tf1to2.pages.page import Page, code_hash
from tf1to2.parity import settings
from tf1to2.prove import options as shared
from tf1to2.prove.mutations import mutants

SECONDS, PATIENCE = 300, 10
"""The time limit of a change: seconds, and a factor for the time of the unchanged page.

The larger one counts, because on a busy machine all changes take longer.
"""

EVERY = 20
"""A line of progress is written to a file after so many changes."""

NOTICED, UNNOTICED = 1, 0
"""Exit statuses of a process; any other is a crash, which counts as noticed."""

REASON = ".reason"
"""The name of the file, in the folder of a process, that says what failed."""


def owner(source, line):
    """Finds the top-level function that starts last, at or before `line`."""
    names = [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.lineno <= line
    ]
    return names[-1] if names else None


def fault(where, name, first=None):
    """Runs the checks and tests of a proof; returns the first failure, or "".

    Other pairs of the same file do not count.

    Args:
        where: the provider, as `providers.provider` takes it.
        name: the name of the proof.
        first: the pair whose checks are run first.
    """
    from tf1to2.parity import providers

    try:
        provider = providers.provider(where)
        proof = provider.load(name)
        test = importlib.import_module(provider.module(name))
        checks = [check for _, check in proof.checks()]
        for check in sorted(checks, key=lambda check: check.case.name != first):
            if check.way in ("eager", "function", "dynamic"):
                check()
    except Exception as error:  # any exception counts, also while the page loads
        return f"{type(error).__name__}: {error}"
    suite = unittest.TestSuite(
        case
        for group in unittest.defaultTestLoader.loadTestsFromModule(test)
        for case in group
        if not case._testMethodName.startswith("test_parity")
        and not hasattr(case, "pair")  # the checks of a `Pair`
    )
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    failed = [*result.errors, *result.failures]
    return f"{failed[0][0].id()}: {failed[0][1]}" if failed else ""


def _begin(folder, path, root, entries, text):
    """Makes this process and its children import `text` in place of a module."""
    top = root / path.relative_to(root).parts[0]
    if top.is_dir():
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(top, pathlib.Path(folder, top.name), ignore=skipped)
    if not (root / "tf1to2").exists():  # the page may read files beside its package
        for beside in root.iterdir():
            if beside != top and beside.name != "__pycache__":
                pathlib.Path(folder, beside.name).symlink_to(beside)
    pathlib.Path(folder, path.relative_to(root)).write_text(text, "utf-8")
    # Add now the entries that the test and the page would otherwise insert before it.
    # Folders below the root, where the page's imports are, are those of the copy.
    Page.copies.append(os.path.realpath(folder))
    below = [pathlib.Path(entry).resolve() for entry in entries]
    below = [entry.relative_to(root) for entry in below if root in entry.parents]
    copied = [folder, *(os.path.join(folder, entry) for entry in below)]
    sys.path[:0] = [*copied, *(e for e in entries if e not in sys.path)]
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [*copied, *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    sys.dont_write_bytecode = True
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _try(folder, path, root, entries, text, where, name, first):
    _begin(folder, path, root, entries, text)
    settings.apply()
    reason = fault(where, name, first)
    pathlib.Path(folder, REASON).write_text(reason, "utf-8")
    # Do not wait for threads of TensorFlow or for other processes.
    os._exit(NOTICED if reason else UNNOTICED)


def modules_of(page, whole=False):
    """Lists the paths of a page's modules; for a package, `__init__.py` is first.

    With `whole`, also those that it imports from its root, except files that
    `tf1to2 take` wrote: these are proven in this project."""
    if whole:
        own = [
            path
            for path in page.sources.values()
            if page.root in path.parents
            and "Taken by `tf1to2 take`" not in path.read_text("utf-8")[:2000]
        ]
        return sorted(own, key=lambda path: path != page.path)
    package = page.path.name == "__init__.py"
    others = sorted(page.path.parent.rglob("*.py")) if package else []
    return [page.path, *(path for path in others if path != page.path)]


def cases_beside(test, name):
    """Lists the paths of a test and of its modules in the folder `name` beside it."""
    path = pathlib.Path(test.__file__)
    return [path, *sorted((path.parent / name).rglob("*.py"))]


def _describe(where, name, pipe):
    """Sends the description of a proof: its name, the modules of its page, their root
    folder, and a hash of all that a result depends on."""
    settings.apply()
    from tf1to2.parity import providers

    try:
        provider = providers.provider(where)
        ((proof, _),) = providers.select(provider, [name])
        if not proof.right.exists:
            raise CommandError(f"there is no page {proof.right.path}: write the port")
        test = importlib.import_module(provider.module(proof.name))
        modules = modules_of(proof.right, proof.whole)
        cases = cases_beside(test, proof.name)
        code = proof.right.code[:16] + "".join(code_hash(c)[:16] for c in cases)
        beside = str(pathlib.Path(test.__file__).resolve().parent)
        entries = [*proof.right.path_entries, beside]
        pipe.send((proof.name, modules, proof.right.root, entries, code))
    except CommandError as error:
        pipe.send(error)


class Pool:
    """Tries changes of a page's modules, several in parallel, each in a new process.

    The processes are forked from this one, which has imported TensorFlow, because the
    import takes seconds, but has not run any operation.
    """

    def __init__(self, where, name, jobs):
        os.environ.update(settings.ENVIRONMENTS[settings.current()])
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        with settings.silence():
            import tensorflow  # noqa: F401

        self.context = multiprocessing.get_context("fork")
        self.where, self.jobs, self.running = where, jobs, {}
        self.limit = (
            PATIENCE * SECONDS
        )  # until the time of the unchanged page is measured
        self.reason = ""  # of the last process that noticed its change
        receiver, sender = self.context.Pipe(False)
        process = self.context.Process(target=_describe, args=(where, name, sender))
        process.start()
        sender.close()
        try:
            found = receiver.recv()
        except EOFError:
            raise CommandError(f"{where}: cannot load the proof {name}") from None
        process.join()
        if isinstance(found, Exception):
            raise found
        self.name, self.modules, self.root, self.entries, self.code = found

    def results(self, texts):
        """Yields (key, "noticed", "unnoticed" or "hangs") as processes end.

        Args:
            texts: iterable of (key, path of a module, its text, pair whose checks come
                first).
        """
        waiting = iter(texts)
        while True:
            while len(self.running) < self.jobs:
                item = next(waiting, None)
                if item is None:
                    break
                self._start(*item)
            if not self.running:
                return
            multiprocessing.connection.wait(
                [process.sentinel for process, *_ in self.running.values()], 5
            )
            for key, (process, folder, start) in list(self.running.items()):
                hangs = process.is_alive() and time.monotonic() - start > self.limit
                if process.is_alive() and not hangs:
                    continue
                if hangs:
                    process.kill()
                process.join()
                reason = pathlib.Path(folder.name, REASON)
                if reason.exists():
                    self.reason = reason.read_text("utf-8") or self.reason
                folder.cleanup()
                del self.running[key]
                unnoticed = process.exitcode == UNNOTICED
                verdict = "unnoticed" if unnoticed else "noticed"
                yield key, "hangs" if hangs else verdict

    def _start(self, key, path, text, first):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        page = path, self.root, self.entries, text
        args = folder.name, *page, self.where, self.name, first
        process = self.context.Process(target=_try, args=args)
        process.start()
        self.running[key] = process, folder, time.monotonic()

    def as_it_is(self):
        """Returns whether the unchanged page passes, tested like a changed page."""
        path, start = self.modules[0], time.monotonic()
        ((_, verdict),) = self.results([("", path, path.read_text("utf-8"), None)])
        self.limit = max(SECONDS, PATIENCE * (time.monotonic() - start))
        return verdict == "unnoticed"

    def changes(self):
        """Returns {description: (module path, changed text, pair to try first)}."""
        found = {}
        for path in self.modules:
            source = path.read_text("utf-8")
            page = path == self.modules[0]
            where = "" if page else f"{os.path.relpath(path, self.modules[0].parent)}, "
            for line, what, tree in mutants(source):
                text, count = f"{where}line {line}: {what}", 2
                while text in found:
                    text, count = f"{where}line {line}: {what} ({count})", count + 1
                first = owner(source, line) if page else None
                found[text] = path, ast.unparse(tree), first
        return found


def _names(where):
    """Lists the names of all proofs, in another process, to run nothing in this one."""
    program = (
        "from tf1to2.parity import providers;"
        f"print(*providers.provider({where!r}).names())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    if run.returncode:
        raise CommandError(run.stderr.strip().rpartition("\n")[2].partition(": ")[2])
    return run.stdout.split()


def mutate(
    where, name, known=None, *, jobs=2, sample=None, only="", tell=print, keep=None
):
    """Tries the changes of one page, to find those that its proof does not notice.

    Args:
        where: the provider, as `providers.provider` takes it.
        name: the name of the proof.
        known: the result of an earlier run for the same proof.
        jobs: number of parallel processes.
        sample: number of changes to try, chosen at random; all by default.
        only: a text that the description of a change must contain.
        tell: called with a line for each unnoticed change.
        keep: called with the result so far after each change.

    Returns:
        dict with `code` (a hash of page and tests), `changes` (their number),
        `results` ({change: verdict}), `control` (whether the unchanged page passed
        before and after), `date`.

    Raises:
        CommandError: the unchanged page fails; the message says where.
    """
    pool = Pool(where, name, jobs)
    everything = pool.changes()
    chosen = [text for text in everything if only in text]
    if sample and sample < len(chosen):
        chosen = random.Random(0).sample(chosen, sample)
    same = known and known["code"] == pool.code
    report = {
        "code": pool.code,
        "changes": len(everything),
        "control": False,
        "date": datetime.date.today().isoformat(),
        "results": dict(known["results"]) if same else {},
    }
    if not pool.as_it_is():
        raise CommandError(f"{pool.name} already fails without a change: {pool.reason}")
    rest = [text for text in chosen if text not in report["results"]]
    tried = pool.results((t, *everything[t]) for t in rest)
    for done, (change, verdict) in enumerate(tried, 1):
        report["results"][change] = verdict
        if keep:
            keep(report)
        if verdict != "noticed":
            tell(f"{pool.name}, {change}: {verdict}")
        _progress(done, len(rest))
    report["control"] = pool.as_it_is()
    return report


def _progress(done, of):
    """Prints the progress: on a terminal each time, to a file now and then."""
    if sys.stderr.isatty():
        print(f"\r{done} of {of}", end="\r", file=sys.stderr)
    elif done % EVERY == 0 or done == of:
        print(f"{done} of {of} changes tried", file=sys.stderr, flush=True)


def score(report):
    """Counts the noticed changes and all tried changes; a hang counts as noticed."""
    verdicts = list(report["results"].values())
    return sum(verdict != "unnoticed" for verdict in verdicts), len(verdicts)


def add_arguments(parser):
    shared.add_proofs(parser)
    shared.add_jobs(parser)
    parser.add_argument(
        "--sample", type=int, help="number of changes to try, chosen at random"
    )
    parser.add_argument(
        "--only",
        default="",
        help="try only changes with this text in their description",
    )
    parser.add_argument(
        "--results", metavar="FILE", help="save results as JSON, to resume later"
    )
    parser.set_defaults(run=run)


def run(options):
    """Runs the command: tries the changes of the pages of the given proofs.

    Returns:
        0, or 1 if a change was not noticed.

    Raises:
        CommandError: a proof does not exist, or fails without a change.
    """
    if importlib.util.find_spec("tensorflow") is None:
        raise needs("mutate", ImportError(name="tensorflow"))
    path = pathlib.Path(options.results) if options.results else None
    kept = json.loads(path.read_text("utf-8")) if path and path.exists() else {}
    status = 0

    def keep(report):
        if path:  # an interrupted run can be resumed
            kept[name] = report
            output.save(path, json.dumps(kept, indent=1, sort_keys=True) + "\n")

    for name in options.names or _names(options.provider):
        report = mutate(
            options.provider,
            name,
            kept.get(name),
            jobs=options.jobs,
            sample=options.sample,
            only=options.only,
            tell=lambda text: print(text, flush=True),
            keep=keep,
        )
        if not report["control"]:
            raise CommandError(
                f"{name} passed before the changes, but fails now: run mutate again"
            )
        keep(report)
        seen, tried = score(report)
        print(f"{name}: {seen} of {tried} changes noticed", flush=True)
        status = max(status, int(seen < tried))
    return status
