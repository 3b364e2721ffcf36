"""`tf1to2 bench`: chooses what to time, times it, and collects the report."""

import argparse
import contextlib
import datetime
import functools
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import warnings

from tf1to2.common import output
from tf1to2.common.errors import CommandError, needs
from tf1to2.pages import topics

WORK, PAIRS, CLASSICS = "work", "pairs", "classics"
GENUINE = "1.15.5"


def add_arguments(parser):
    """Adds the options of the command."""
    parser.add_argument(
        "topic",
        metavar="TOPIC[.NAME]",
        nargs="*",
        help=f"topic or pair to time; also {WORK}, {WORK}.mlp, {CLASSICS}, {PAIRS} "
        "(all topics and classics), test_port.py (your own pairs); default: "
        f"{WORK} and {PAIRS}",
    )
    parser.add_argument(
        "--against",
        choices=[GENUINE],
        help="also time the left side on TensorFlow 1.15.5 (needs Python 3.7)",
    )
    parser.add_argument(
        "--environment",
        metavar="DIR",
        default=".venv-tf1",
        help="folder for TensorFlow 1.15.5; made if missing (default: %(default)s)",
    )
    parser.add_argument(
        "--threads", type=int, help=f"number of TensorFlow's threads, only for {WORK}"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument(
        "--output-file", metavar="FILE", help="write the report to a file"
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help=f"also measure peak memory, only for {WORK}",
    )
    parser.add_argument("--part", metavar="FILE", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(options):
    """Times both sides of pairs, and prints or writes the report.

    Returns:
        0; 1 if a page failed; 130 if Ctrl-C or a time limit ended it. The timings until
        then are printed.
    """
    # Like Ctrl-C; otherwise the processes that wait for their turn would stay.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    parts = _parts(options.topic)
    if options.output_file and os.path.isdir(options.output_file):
        raise CommandError(f"{options.output_file} is a folder: give a file")
    if options.against:  # before any timing; also for the processes of the parts
        os.environ["TF1_PYTHON"] = _genuine(options.environment)
    report = Report(options.part)
    try:
        if options.part or len(parts) == 1:
            _here(report, *parts.items(), options)
        else:
            _apart(report, parts, options)
        status = int(bool(report["failed"]))
    except KeyboardInterrupt:
        for heard in (signal.SIGINT, signal.SIGTERM):
            signal.signal(heard, signal.SIG_IGN)
        if not options.part:
            print(
                "\ntf1to2: interrupted: these are the timings so far", file=sys.stderr
            )
        status = 130
    report.save()
    if options.part:
        return status
    output.progress("")
    report["environment"]["command"] = "tf1to2 " + " ".join(sys.argv[1:])
    from tf1to2.bench import report as form

    text = (
        json.dumps(report, indent=1) + "\n"
        if options.format == "json"
        else form.text(report)
    )
    output.write(text, options.output_file)
    return status


class Report(dict):
    """The results: a list of rows for each kind of timing; a dict for the classics.

    It is saved after each row, so that only one row is lost if the process dies.
    """

    def __init__(self, path=None):
        super().__init__(environment={}, work=[], started=[], calls=[], programs=[])
        self.update(classics={}, failed=[])
        self._path = path

    def save(self):
        if self._path:
            output.save(pathlib.Path(self._path), json.dumps(self))

    def add(self, text):
        """Adds the report that another process saved."""
        for key, found in json.loads(text).items():
            if isinstance(found, list):
                self[key] += found
            else:
                self[key].update(found)


def _parts(names):
    """Returns {part: requested names}; parts are topics, files, WORK, CLASSICS."""
    parts, wanted = {}, []
    for name in names or [WORK, PAIRS]:
        wanted += [*topics.topics(), CLASSICS] if name == PAIRS else [name]
    for name in wanted:
        if name.partition(".")[0] == WORK:
            from tf1to2.bench.work import runs

            programs = name.partition(".")[2] or " ".join(runs.NAMES)
            if not set(programs.split()) <= set(runs.NAMES):
                known = ", ".join(runs.NAMES)
                raise CommandError(f"no program {name}; the programs are: {known}")
            parts.setdefault(WORK, []).extend(programs.split())
            continue
        if name == CLASSICS or name.endswith(".py"):
            part = name
        else:
            part = topics.find(name)[0].name
        parts.setdefault(part, []).append(name)
    return parts


def _genuine(environment):
    """The path of the Python in an environment that has TensorFlow 1.15.5."""
    from tf1to2.parity import recordings

    try:
        return recordings.genuine_python(os.path.abspath(environment))
    except recordings.NoGenuineTensorFlow as error:
        raise CommandError(f"--against {GENUINE}: {error}") from error


def _apart(report, parts, options):
    """Times each part in a separate process, so that parts do not affect others.

    In a long-running process, a call of a large function took twice as long.
    """
    flags = ["--memory"] * options.memory
    if options.against:
        flags += ["--against", options.against]
    if options.threads:
        flags += ["--threads", str(options.threads)]
    with tempfile.TemporaryDirectory() as folder:
        for number, (part, names) in enumerate(parts.items()):
            path = os.path.join(folder, f"{number}.json")
            if part == WORK:
                names = [f"{WORK}.{name}" for name in names]
            command = [sys.executable, "-m", "tf1to2", "bench", *names, *flags]
            command += ["--part", path]
            with subprocess.Popen(
                command,
                start_new_session=True,  # this process passes Ctrl-C on
            ) as process:
                try:
                    status = process.wait()
                except KeyboardInterrupt:
                    process.send_signal(signal.SIGINT)
                    process.wait()
                    _add(report, path)
                    raise
            _add(report, path)
            if status not in (0, 1):
                message = f"{part}: its process ended with exit status {status}"
                report["failed"].append(message)


def _add(report, path):
    if os.path.exists(path):  # else it ended before its first row
        with open(path, encoding="utf-8") as file:
            report.add(file.read())


def _here(report, part, options):
    """Times the pairs or programs of one part in this process."""
    part, names = part
    python37 = os.environ["TF1_PYTHON"] if options.against else None
    output.progress("starting TensorFlow")
    try:
        if part != WORK:  # its programs run in processes of their own
            start(part)
        report["environment"] = _environment()
    except ImportError as error:
        raise needs("bench", error) from error
    if part == WORK:
        for name in names:
            _work(report, name, python37, options)
        return
    if part == CLASSICS:
        with _told(report, "the classics"):
            _classics(report["classics"])
        return
    for name in names:
        if name.endswith(".py"):
            _port(report, name, python37)
        else:
            _topic(report, *topics.find(name), python37)


def start(topic):
    """Starts TensorFlow in its default settings, and the Keras that a topic needs.

    This is Keras 3, or tf_keras if the left page runs only with it: the tests of such a
    topic have `legacy_keras_checks`.
    """
    os.environ["TF1TO2_SETTINGS"] = "default"
    tests = topics.folder("parity_tests") / f"test_{topic}.py"
    if tests.exists() and "def legacy_keras_checks" in tests.read_text("utf-8"):
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    warnings.simplefilter("ignore")  # deprecation warnings of the left pages
    from tf1to2.parity import settings

    settings.apply()


def _work(report, program, python37, options):
    """Times one program of typical work with all batch sizes; see `work.runs`."""
    from tf1to2.bench.work import runs

    measure = functools.partial(
        runs.measure, python37=python37, threads=options.threads
    )
    argument, values = runs.GROWN.get(program, (None, ()))
    wanted = [(batch, {}) for batch in runs.BATCHES]
    wanted += [(runs.GROWN_BATCH, {argument: value}) for value in values]
    for batch, grown in wanted:
        name = " ".join([program, str(batch), *(f"{k}={v}" for k, v in grown.items())])
        output.progress(f"{WORK}: {name}")
        with _told(report, name):
            timings, failed = measure(program, batch, grown)
            row = {"program": program, "batch": batch, "grown": grown, "failed": failed}
            row["forms"] = {
                form: _timing(t) | {"cpu": statistics.median(t.cpu)}
                for form, t in timings.items()
            }
            row["ratios"] = _ratios(timings)
            report["work"].append(row)
    if program in runs.STARTED and options.memory:
        output.progress(f"{WORK}: {program}, its start")
        with _told(report, f"{program}, its start"):
            batch, forms = runs.GROWN_BATCH, ("Session.run", "tf.function", "fit")
            found = runs.start_and_memory(program, batch, forms, python37)
            report["started"].append({"program": program, "forms": found})


def _ratios(timings):
    """Returns {form: {side: time of the form / time of the side's session}}."""
    from tf1to2.bench import clock
    from tf1to2.bench.work import rendered, runs

    found = {}
    for form in timings:
        base = rendered.base(form)
        for side in (runs.GENUINE, runs.TODAY):
            if base and f"{side}, {base}" in timings and form != f"{side}, {base}":
                ratio = clock.ratio(timings[form], timings[f"{side}, {base}"])
                found.setdefault(form, {})[side] = _ratio("ratio", ratio)
    return found


def _topic(report, topic, name, python37):
    from tf1to2.bench import pairs

    proof = pairs.load(topic.name)
    for pair, case in pairs.cases(proof, name).items():
        _pair(report, f"{topic.name}.{pair}", proof, case, python37)


def _port(report, path, python37):
    """Times a user's own pairs, by the cases of their proof."""
    from tf1to2.bench import pairs
    from tf1to2.parity import providers

    provider = providers.provider(path)
    for name in provider.names():
        proof = provider.load(name)
        for pair, case in pairs.cases(proof).items():
            _pair(report, f"{name}.{pair}", proof, case, python37)


@contextlib.contextmanager
def _told(report, name):
    """Stores an exception in the report, so that the other parts are still timed."""
    try:
        yield
    except Exception as error:
        message = f"{name}: {type(error).__name__}: {error}"
        report["failed"].append(message.partition("\n")[0])
    report.save()


def _pair(report, name, proof, case, python37):
    output.progress(name)
    with _told(report, name):
        _timed(report, name, proof, case, python37)


def _timed(report, name, proof, case, python37):
    from tf1to2.bench import pairs

    if pairs.kind(case) == "program":
        timings = pairs.program(proof, case, python37)
        report["programs"].append({"pair": name, **_sides(timings)})
        return
    for label, binding in pairs.sizes(case).items():
        request = case.request(binding)
        timings = pairs.tensors(proof, case, request, python37=python37)
        row = {"pair": name, "size": label, "letters": binding}
        report["calls"].append({**row, **_forms(timings)})
        if max(t.median for t in timings.values()) > pairs.PATIENCE:
            return


def _classics(results):
    from tf1to2.bench import headlines

    output.progress("an empty step")
    steps = headlines.empty_step()
    results["step"] = {form: _timing(timing) for form, timing in steps.items()}
    output.progress("500 rows")
    results["rows"] = {pair: _forms(t) for pair, t in headlines.rows().items()}
    output.progress("beam search")
    results["beam search"] = {
        pair: {length: _forms(t) for length, t in timings.items()}
        for pair, timings in headlines.beam_search().items()
    }
    output.progress("the scanner and tf_upgrade_v2")
    results["scanner"] = {
        tool: {"seconds": seconds, "MB/s": speed}
        for tool, (seconds, speed) in headlines.scanner().items()
    }


def _timing(timing):
    return {"seconds": timing.median, "first": timing.first}


def _forms(timings):
    """Returns the results for one call: all times, and the ratio of the best forms."""
    from tf1to2.bench import clock, forms

    row = {
        "forms": {f: _timing(t) for f, t in timings.items()},
        "best": forms.best(timings),
    }
    if "1.15.5, Session.run" in timings and "tf.function" in timings:
        to = clock.ratio(timings["tf.function"], timings["1.15.5, Session.run"])
        row["to 1.15.5"] = _ratio("ratio", to)
    return row | _ratio("ratio", forms.ratio(timings))


def _sides(timings):
    """Returns the results for a whole program: its times, and the speedup of v2."""
    from tf1to2.bench import clock

    row = {side: _timing(timing) for side, timing in timings.items()}
    if GENUINE in timings:
        to = clock.ratio(timings["v2"], timings[GENUINE])
        row["to 1.15.5"] = _ratio("ratio", to)
    if "v1" not in timings:
        return row
    return row | _ratio("times", clock.ratio(timings["v1"], timings["v2"]))


def _ratio(key, ratio):
    if ratio is None:
        return {}
    return {key: ratio.median, "low": ratio.low, "high": ratio.high}


def _environment():
    import numpy

    from tf1to2.parity import recordings, settings

    with settings.silence():
        import tensorflow

    return {
        "date": datetime.date.today().isoformat(),
        "tensorflow": tensorflow.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "platform": recordings.system(),
        "cpu": recordings.cpu(),
        "features": recordings.cpu_features(),
        "cores": os.cpu_count(),
    }
