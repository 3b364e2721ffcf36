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
    """MB; the system counts in KB, that of macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def main(side, name):
    """Runs a program once and prints by how much the peak rose."""
    from tf1to2.bench import command

    command.start()
    from tf1to2.bench import training

    run = training.run(name, "large", side)
    before = _peak()
    run()
    print(_peak() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
