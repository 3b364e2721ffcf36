"""`tf1to2 bench`: what is timed, in which order, and what is said of it."""

import contextlib
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import warnings

from tf1to2 import output, topics
from tf1to2.errors import CommandError, needs

CLASSICS = "classics"


def add_arguments(parser):
    """The options of the command."""
    parser.add_argument(
        "topic",
        metavar="TOPIC[.NAME]",
        nargs="*",
        help=f"or {CLASSICS}; default: all of them",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--output-file", metavar="FILE", help="in place of the screen")
    parser.add_argument(
        "--memory", action="store_true", help="also the peaks of training programs"
    )
    parser.set_defaults(run=run)


def run(options):
    """Times both sides of pairs, and prints or writes the report.

    Returns:
        0; 1 where a page failed; 130 where Ctrl-C ended it. What was timed until then
        is printed.
    """
    parts = _parts(options.topic)
    if options.output_file and os.path.isdir(options.output_file):
        raise CommandError(f"{options.output_file} is a directory")
    report = {"environment": {}, "calls": [], "programs": [], "steps": []}
    report |= {"classics": {}, "failed": []}
    try:
        if len(parts) == 1:
            _here(report, *parts.values(), options.memory)
        else:
            _apart(report, parts, options.memory)
        status = int(bool(report["failed"]))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it has been heard
        print("\ntf1to2: interrupted: what was timed until now", file=sys.stderr)
        status = 130
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


def _parts(names):
    """{topic: its names that are wanted}, each to be timed in a process of its own."""
    parts = {}
    for name in names or [*topics.topics(), CLASSICS]:
        topic = name if name == CLASSICS else topics.find(name)[0].name
        parts.setdefault(topic, []).append(name)
    return parts


def _apart(report, parts, memory):
    """Times each topic in a process of its own, so that it is alone in the memory.

    Late in a long process a call of a large function took twice as long.
    """
    for names in parts.values():
        command = [sys.executable, "-m", "tf1to2", "bench", *names, "--format", "json"]
        with subprocess.Popen(
            command + ["--memory"] * memory,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for this one, which hands it on
        ) as part:
            try:
                text = part.communicate()[0]
            except KeyboardInterrupt:
                part.send_signal(signal.SIGINT)
                _add(report, part.communicate()[0])
                raise
        if part.returncode not in (0, 1):
            raise CommandError(f"{' '.join(command[2:])} failed: {part.returncode}")
        _add(report, text)


def _add(report, text):
    if not text:  # interrupted before there was anything
        return
    for key, found in json.loads(text).items():
        if isinstance(found, list):
            report[key] += found
        else:
            report[key].update(found)


def _here(report, names, memory):
    """Times the names of one topic in this process."""
    output.progress("starting TensorFlow")
    try:
        start()
    except ImportError as error:
        raise needs("bench", error) from error
    report["environment"] = _environment()
    if names == [CLASSICS]:
        with _told(report, "the classics"):
            _classics(report["classics"])
        return
    for name in names:
        _topic(report, *topics.find(name), memory)


def start():
    """Starts TensorFlow as it is installed, with the Keras that has `tf.layers`."""
    os.environ["TF1TO2_SETTINGS"] = "default"
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    warnings.simplefilter("ignore")  # of the left pages, which are deprecated
    from tf1to2.parity import settings

    settings.apply()


def _topic(report, topic, name, memory):
    from tf1to2.bench import pairs, training

    proof = pairs.load(topic.name)
    for pair, case in pairs.cases(proof, name).items():
        output.progress(f"{topic.name}.{pair}")
        with _told(report, f"{topic.name}.{pair}"):
            _pair(report, f"{topic.name}.{pair}", proof, case)
    for program in training.PROGRAMS:
        of, _, pair = program.partition(" ")[0].partition(".")
        if of == topic.name and name in (None, pair):
            with _told(report, program):
                _training(report["steps"], program, memory)


@contextlib.contextmanager
def _told(report, name):
    """A failure is told at the end, and the others are timed."""
    try:
        yield
    except Exception as error:
        message = f"{name}: {type(error).__name__}: {error}"
        report["failed"].append(message.partition("\n")[0])


def _pair(report, name, proof, case):
    from tf1to2.bench import pairs

    if pairs.kind(case) == "program":
        timings = pairs.program(proof, case)
        report["programs"].append({"pair": name, **_sides(timings)})
        return
    for label, binding in pairs.sizes(case).items():
        timings = pairs.tensors(proof, case, case.request(binding))
        row = {"pair": name, "size": label, "letters": binding}
        report["calls"].append({**row, **_forms(timings)})
        if max(t.median for t in timings.values()) > pairs.PATIENCE:
            return


def _training(rows, program, memory):
    from tf1to2.bench import memory as peaks
    from tf1to2.bench import training

    for size in training.SIZES:
        output.progress(f"{program}, {size}, by the step")
        row = {"program": program, "size": size}
        rows.append({**row, **_sides(training.measure(program, size))})
    if memory:
        output.progress(f"{program}, memory")
        rows[-1]["peak MB"] = peaks.measure(program)


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
    """What each form took, and the ratio of the best of either version."""
    from tf1to2.bench import forms

    row = {
        "forms": {f: _timing(t) for f, t in timings.items()},
        "best": forms.best(timings),
    }
    return row | _ratio("ratio", forms.ratio(timings))


def _sides(timings):
    """Likewise, of whole programs: how many times faster the right page is."""
    from tf1to2.bench import clock

    row = {side: _timing(timing) for side, timing in timings.items()}
    if len(timings) < 2:
        return row
    return row | _ratio("times", clock.ratio(timings["v1"], timings["v2"]))


def _ratio(key, ratio):
    if ratio is None:
        return {}
    return {key: ratio.median, "low": ratio.low, "high": ratio.high}


def _environment():
    import numpy
    import tensorflow

    return {
        "date": datetime.date.today().isoformat(),
        "tensorflow": tensorflow.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _processor(),
        "cores": os.cpu_count(),
    }


def _processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("model name")]
    except OSError:  # not Linux
        lines = []
    return lines[0].partition(":")[2].strip() if lines else platform.processor()
