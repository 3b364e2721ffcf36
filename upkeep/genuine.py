"""Helps commands that run TensorFlow 1.15.5: parses options, runs a program."""

import argparse
import subprocess
import sys

from tf1to2.parity import recordings


def parser(name, description):
    """Makes the parser of `python -m upkeep.NAME`: --check and --environment."""
    made = argparse.ArgumentParser(f"python -m upkeep.{name}", description=description)
    made.add_argument("--check", action="store_true", help="compare, write nothing")
    made.add_argument(
        "--environment", default=".venv-tf1", help="virtual environment (%(default)s)"
    )
    return made


def printed(python, program, *arguments, **variables):
    """Runs a program in a separate process; returns its output.

    Args:
        python: the interpreter that has the TensorFlow.
        program: the path of the program.
        *arguments: its arguments.
        **variables: environment variables besides `recordings.genuine_environment`.

    Raises:
        RuntimeError: the program failed; its stderr is printed.
    """
    done = subprocess.run(
        [python, program, *arguments],
        env=recordings.genuine_environment(**variables),
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
        raise RuntimeError(f"{python} crashed: exit status {done.returncode}")
    return done.stdout
