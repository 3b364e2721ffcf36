"""`tf1to2 scan`: the options, the report and the exit status."""

import dataclasses
import importlib
import os
import sys
import time

from tf1to2.catalog import entries, entry, keras_uses
from tf1to2.common import output
from tf1to2.common.errors import CommandError
from tf1to2.scan import baseline, configuration
from tf1to2.scan.reports import FORMATS


def add_arguments(parser):
    """Adds the options of the command."""
    parser.add_argument(
        "path",
        nargs="+",
        metavar="PATH",
        help="file, directory, or - for standard input",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="default: %(default)s"
    )
    add_rules(parser, "report")
    parser.add_argument(
        "--statistics",
        action="store_true",
        help="report only how often each name is used",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="report only uses that FILE does not list"
    )
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="list all uses in FILE, and exit 0"
    )
    parser.add_argument(
        "--page",
        metavar="URL",
        help="address of your tf1to2 page: the report links to its pairs",
    )
    parser.add_argument(
        "--output-file", metavar="FILE", help="write the report to FILE"
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="exit 0 even if there are findings"
    )
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help="number of processes; default: one per core if there is much to read",
    )
    parser.set_defaults(run=run)


def add_rules(parser, verb):
    """Adds the options that select findings and files."""
    parser.add_argument(
        "--select",
        metavar="RULE,…",
        type=_rules,
        help=f"{verb} only these: verdict, topic, name, or module such as tf.contrib",
    )
    parser.add_argument(
        "--ignore",
        metavar="RULE,…",
        type=_rules,
        help=f"do not {verb} these; rules as for --select",
    )
    parser.add_argument(
        "--exclude",
        metavar="PATTERN,…",
        type=_rules,
        help="skip files and directories that match a pattern",
    )


def rules(options):
    """Returns (select, ignore, exclude) from the options or the project's settings.

    Raises:
        CommandError: a rule cannot match any finding.
    """
    settled = configuration.find(_start(options.path))
    select, ignore, exclude = (
        getattr(options, key)
        if getattr(options, key) is not None
        else settled.get(key, [])
        for key in configuration.LISTS
    )
    _check_rules([*select, *ignore])
    return select, ignore, exclude


def _rules(text):
    return [rule for rule in text.replace(",", " ").split() if rule]


def run(options):
    """Runs the command: scans, and writes the report or the baseline.

    Returns:
        0 if there are no findings, 1 if there are, 2 if a file could not be fully read.
    """
    if options.processes is not None and options.processes < 1:
        raise CommandError("--processes must be 1 or more")
    if options.statistics and options.format != "text":
        raise CommandError("--statistics prints text only: leave out --format")
    select, ignore, exclude = rules(options)
    settled = configuration.find(_start(options.path))
    known = options.baseline or settled.get("baseline")
    known = baseline.read(known) if known and not options.write_baseline else None
    report = _scan(options.path, exclude, select, ignore, options.processes)
    if options.write_baseline:
        if report.unread:
            _print_unread(report)
            raise CommandError(
                "no baseline was written, because some files were not fully read: "
                "correct them, or skip them with --exclude"
            )
        baseline.write(options.write_baseline, report.findings)
        print(f"{options.write_baseline}: {len(report.findings)} uses of TensorFlow 1")
        return 0
    if known is not None:
        left = len(report.findings)
        report = dataclasses.replace(
            report, findings=baseline.new(report.findings, known)
        )
        left -= len(report.findings)
        total = sum(known.values())
        print(
            f"baseline: {left} of {total} uses left, {len(report.findings)} new",
            file=sys.stderr,
        )
    page = options.page or settled.get("page", "")
    report = dataclasses.replace(report, page=page)
    output.write(_rendered(report, options), options.output_file)
    if options.format != "text" or options.output_file:
        _print_unread(report)
    if report.unread:
        return 2
    return 0 if options.exit_zero or not report.findings else 1


def _start(paths):
    first = paths[0]
    if first == "-":
        return "."
    return first if os.path.isdir(first) else os.path.dirname(os.path.abspath(first))


def _check_rules(rules):
    """Raises CommandError for a rule that cannot match any finding."""
    from tf1to2.pages import topics

    for rule in rules:
        known = (*entry.VERDICTS, *topics.topics())
        if keras_uses.is_of_the_package(rule):
            continue
        if rule not in known and entries.lookup(rule) is None:
            near = ", ".join(entries.near(rule, 1) or known)
            raise CommandError(f"no rule {rule!r}; did you mean: {near}?")


def _scan(paths, exclude, select, ignore, processes):
    from tf1to2.scan import findings

    begun = time.monotonic()

    def progress(done, total):
        if time.monotonic() - begun > 1 and sys.stderr.isatty():
            print(
                f"\r\x1b[K{done} of {total} files", end="", file=sys.stderr, flush=True
            )

    try:
        return findings.scan(paths, exclude, select, ignore, progress, processes)
    except FileNotFoundError as error:
        raise CommandError(str(error)) from error
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _rendered(report, options):
    module = importlib.import_module(f"tf1to2.scan.reports.{options.format}")
    if options.format == "text":
        grouped = sys.stdout.isatty() and not options.output_file
        return module.render(report, grouped, options.statistics)
    return module.render(report)


def _print_unread(report):
    for path, reason in report.unread:
        print(f"tf1to2: {path}: not fully read: {reason}", file=sys.stderr)
