"""`tf1to2 fix`: shows the certain changes as a diff, or writes them."""

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

FEW = 5  # the most files in the list of unchanged flags


def add_arguments(parser):
    """Adds the options of the command."""
    parser.add_argument("path", nargs="+", metavar="PATH", help="file or directory")
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the changes; without --write, fix only shows them as a diff",
    )
    parser.add_argument(
        "--check", action="store_true", help="only list the files that would change"
    )
    parser.add_argument(
        "--unsafe",
        action="store_true",
        help="also make changes that you must review, marked # TODO(tf1to2: pair)",
    )
    scanning.add_rules(parser, "change")
    parser.add_argument(
        "--to",
        choices=["1.15", "2"],
        default="2",
        help="1.15: only changes that TensorFlow 1.15 runs, too; default: %(default)s",
    )
    parser.set_defaults(run=run)


def run(options):
    """Runs the command: shows or writes the changes of all files.

    Returns:
        0 if there is nothing to write, or everything was written; 1 if there are
        changes to write; 2 if a file could not be fully read, or could not be fixed.
    """
    if options.write and options.check:
        raise CommandError("--write and --check exclude each other: leave one out")
    if "-" in options.path:
        raise CommandError("fix does not read standard input: give it files")
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
        lines.append("flags are unchanged where absl may not have parsed them:")
        lines += [f"  {doubt}" for doubt in doubts[:FEW]]
        more = len(doubts) - FEW
        lines += [f"  and {counted(more, 'more file')}"] if more > 0 else []
    return "\n".join(lines)


def _take(names, paths):
    """Returns a message with the command that writes the imported helper file."""
    file = f"{unsafe.TAKEN}.py"
    path = output.shown(shlex.quote(os.path.relpath(_top(paths) / file)))
    return (
        f"The new lines import from {file}. This command writes it:\n"
        f"  tf1to2 take {' '.join(sorted(names))} --output-file {path}"
    )


def _top(paths):
    """Finds the nearest folder that contains all paths and is not a package."""
    folders = [p if os.path.isdir(p) else os.path.dirname(p) for p in paths]
    around = pathlib.Path(os.path.commonpath(list(map(os.path.abspath, folders))))
    tops = (f for f in (around, *around.parents) if not (f / "__init__.py").exists())
    return next(tops, around)


def _changes(changes, looks):
    """Describes the number of changes: "2 safe changes and 1 that needs a look"."""
    if not looks:
        return counted(changes, "change")
    need = "needs" if looks == 1 else "need"
    return f"{counted(changes - looks, 'safe change')} and {looks} that {need} a look"
