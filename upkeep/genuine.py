"""What asks TensorFlow 1.15.5: the options of such a command, and a program's run."""

import argparse
import subprocess
import sys

from tf1to2.parity import recordings


def parser(name, description):
    """The parser of `python -m upkeep.NAME`, which may also compare alone."""
    made = argparse.ArgumentParser(f"python -m upkeep.{name}", description=description)
    made.add_argument("--check", action="store_true", help="compare, write nothing")
    made.add_argument(
        "--environment", default=".venv-tf1", help="virtual environment (%(default)s)"
    )
    return made


def printed(python, program, *arguments, **variables):
    """What a program prints that runs in a process of its own.

    Args:
        python: the interpreter that has the TensorFlow.
        program: the path of the program.
        *arguments: its arguments.
        **variables: of its environment, besides `recordings.genuine_environment`.

    Raises:
        RuntimeError: the program broke down; what it wrote to stderr is shown.
    """
    done = subprocess.run(
        [python, program, *arguments],
        env=recordings.genuine_environment(**variables),
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise RuntimeError(f"{python} broke down: exit status {done.returncode}")
    return done.stdout
