"""`tf1to2 fix`: shows what is certain as a diff, or writes it."""

import difflib
import os
import pathlib
import shlex
import sys
import time

from tf1to2.common import output
from tf1to2.common.errors import CommandError
from tf1to2.common.words import counted
from tf1to2.fix import planning, unsafe
from tf1to2.scan import causes
from tf1to2.scan import command as scanning

FEW = 5  # files of which it is told why their flags are left


def add_arguments(parser):
    """The options of the command."""
    parser.add_argument("path", nargs="+", metavar="PATH", help="file or directory")
    parser.add_argument(
        "--write", action="store_true", help="write it; without, a diff is shown"
    )
    parser.add_argument(
        "--check", action="store_true", help="only name the files that would change"
    )
    parser.add_argument(
        "--unsafe",
        action="store_true",
        help="also what needs a look, each line marked # TODO(tf1to2: pair)",
    )
    scanning.add_rules(parser, "change")
    parser.add_argument(
        "--to",
        choices=["1.15", "2"],
        default="2",
        help="1.15: only what TensorFlow 1.15 runs as well (%(default)s)",
    )
    parser.set_defaults(run=run)


def run(options):
    """Fixes.

    Returns:
        0 when there is nothing to write, or it is written; 1 when there is something;
        2 when a file could not be read to its end, or not be fixed.
    """
    if options.write and options.check:
        raise CommandError("--write writes, --check does not: leave one out")
    if "-" in options.path:
        raise CommandError("fix takes files and directories, no standard input")
    old = options.to == "1.15"
    if old and options.unsafe:
        raise CommandError("--unsafe writes TensorFlow 2: leave out --to 1.15")
    select, ignore, exclude = scanning.rules(options)
    wanted = planning.Options(frozenset(select), frozenset(ignore), old, options.unsafe)
    files, changes, looks, left, failed = 0, 0, 0, [], False
    takes, taken, doubts = set(), set(), []
    for fixed in _plan(options.path, exclude, wanted):
        left += fixed.left
        takes, taken = takes | fixed.takes, taken | fixed.taken
        if fixed.doubt:
            doubts.append(f"{output.shown(fixed.path)}: {fixed.doubt}")
        if fixed.reason:
            failed = True
            print(
                f"tf1to2: {output.shown(fixed.path)}: {fixed.reason}", file=sys.stderr
            )
        if fixed.changes:
            files, changes = files + 1, changes + fixed.changes
            looks += fixed.looks
            _tell(fixed, options)
    sys.stdout.flush()
    print(_summary(files, changes, looks, left, doubts, options), file=sys.stderr)
    if takes:
        print(_take(takes | taken, options.path), file=sys.stderr)
    if failed:
        return 2
    return 1 if changes and not options.write else 0


def _plan(paths, exclude, wanted):
    begun = time.monotonic()

    def progress(done, total):
        if time.monotonic() - begun > 1:
            output.progress(f"{done} of {total} files")

    try:
        yield from planning.plan(paths, exclude, wanted, progress)
    except FileNotFoundError as error:
        raise CommandError(str(error)) from error
    finally:
        output.progress("")


def _tell(fixed, options):
    path = output.shown(fixed.path)
    if options.write:
        output.save(fixed.path, fixed.data)
    elif options.check:
        print(f"{path}: {_changes(fixed.changes, fixed.looks)}")
    else:
        for cell, old, new in fixed.shown:
            name = f"{path}:cell {cell}" if cell else path
            sys.stdout.write(_diff(name, old, new))


def _diff(name, old, new):
    lines = difflib.unified_diff(_lines(old), _lines(new), name, name, n=2)
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in lines
    )


def _lines(text):
    return text.replace("\r\n", "\n").replace("\r", "\n").splitlines(keepends=True)


def _summary(files, changes, looks, left, doubts, options):
    done = "written" if options.write else "to write"
    text = f"{_changes(changes, looks)} {done} in {counted(files, 'file')}"
    if not left:
        return text
    lines = [f"{text}; {counted(len(left), 'use')} left:"]
    for work in causes.works(left):
        pair = f": {work.pair}" if work.pair else ""
        lines.append(f"{len(work.findings):>7}  {work.cause.title}{pair}")
    if doubts:
        lines.append("flags are left where a program may not have parsed them:")
        lines += [f"  {doubt}" for doubt in doubts[:FEW]]
        more = len(doubts) - FEW
        lines += [f"  and {counted(more, 'more file')}"] if more > 0 else []
    return "\n".join(lines)


def _take(names, paths):
    """What to type for the file that new lines import from."""
    file = f"{unsafe.TAKEN}.py"
    path = output.shown(shlex.quote(os.path.relpath(_top(paths) / file)))
    return (
        f"The new lines import from {file}. This command writes it:\n"
        f"  tf1to2 take {' '.join(sorted(names))} --output-file {path}"
    )


def _top(paths):
    """The folder around paths that Python imports from: it lies in no package."""
    folders = [p if os.path.isdir(p) else os.path.dirname(p) for p in paths]
    around = pathlib.Path(os.path.commonpath(list(map(os.path.abspath, folders))))
    tops = (f for f in (around, *around.parents) if not (f / "__init__.py").exists())
    return next(tops, around)


def _changes(changes, looks):
    """ "3 changes", or "2 safe changes and 1 that needs a look"."""
    if not looks:
        return counted(changes, "change")
    need = "needs" if looks == 1 else "need"
    return f"{counted(changes - looks, 'safe change')} and {looks} that {need} a look"
