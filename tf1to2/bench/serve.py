"""Runs forms in a separate process, on request; also on Python 3.7.

serve.py work WAY PROGRAM BATCH GROWN    a program of `work.WAY`; GROWN a JSON object
serve.py left PAGE REQUEST               a left page, and a request in a .npz file

A form is given by a function that makes it, which returns a function of a count. A
request is a line of JSON on the standard input, and its answer a line of JSON on the
standard output:

{"forms": true}                   the names of the forms
{"make": FORM}                    first: seconds until its first run; or failed: why
{"run": FORM, "count": N}         wall, cpu: seconds of N runs; value: the result
{"peak": true}                    MB more than the process had before the first form
"""

import importlib
import json
import os
import sys
import time
import warnings

import numpy as np


def main(kind, *arguments):
    """Answers requests until the standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other output is not an answer
    warnings.simplefilter("ignore")
    forms = {"work": _work, "left": _left}[kind](*arguments)
    before, made = _peak(), {}
    for line in sys.stdin:
        request = json.loads(line)
        if "forms" in request:
            answer = list(forms)
        elif "make" in request:
            answer = _make(made, request["make"], forms[request["make"]])
        elif "run" in request:
            answer = _run(made[request["run"]], request["count"])
        else:
            answer = _peak() - before
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _work(way, program, batch, grown):
    from tf1to2.bench.work import inputs

    module = importlib.import_module("tf1to2.bench.work." + way)
    if way == "legacy":
        module.tf.disable_v2_behavior()
    given = getattr(inputs, program)(int(batch), **json.loads(grown))
    return getattr(module, program)(given)


def _left(page, path):
    from tf1to2.bench import left
    from tf1to2.parity import stand_ins

    stand_ins.inherit()
    return left.forms(importlib.import_module(page), left.read(path))


def _make(made, form, make):
    begun = time.perf_counter()
    try:
        made[form] = make()
        made[form](1)
    except Exception as error:  # for example, XLA has no kernel: other forms still run
        text = " ".join(str(error).split())
        return {"failed": "%s: %s" % (type(error).__name__, text[:300])}
    return {"first": time.perf_counter() - begun}


def _run(function, count):
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(count)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    numbers = [] if value is None else np.ravel(value)[:8].tolist()
    return {"wall": wall, "cpu": cpu, "value": numbers}


def _peak():
    """Peak memory in MB; `getrusage` would include the peak of the parent process."""
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    with open("/proc/self/status") as file:
        (line,) = [line for line in file if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1e3


if __name__ == "__main__":
    main(*sys.argv[1:])
