"""`python -m tf1to2.bench.memory SIDE PROGRAM`: the peak of a process of its own."""

import json
import resource
import subprocess
import sys


def measure(name):
    """The memory that a training program of the large size takes.

    Args:
        name: a key of `training.PROGRAMS`.

    Returns:
        {"v1": MB, "v2": MB} above what TensorFlow itself takes.
    """
    peaks = {}
    for side in ("v1", "v2"):
        command = [sys.executable, "-m", "tf1to2.bench.memory", side, name]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{name}, {side}: {done.stderr.strip()[-500:]}")
        peaks[side] = json.loads(done.stdout)
    return peaks


def _peak():
    """MB; not by `getrusage`, whose peak Linux hands on from the parent process."""
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    with open("/proc/self/status", encoding="utf-8") as file:
        (line,) = [line for line in file if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1e3


def main(side, name):
    """Runs a program once and prints by how much the peak rose."""
    from tf1to2.bench import command

    command.start(name.partition(".")[0])
    from tf1to2.bench import training

    run = training.run(name, "large", side)
    before = _peak()
    run()
    print(_peak() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
