"""Times functions in another process, of this Python or of TensorFlow 1.15's."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from tf1to2.common.errors import CommandError
from tf1to2.parity import recordings

ROOT = pathlib.Path(__file__).parents[2]
# The files that are copied for Python 3.7.
BESIDE = (
    *recordings.ENGINE,
    "tf1to2/bench/__init__.py",
    "tf1to2/bench/left.py",
    "tf1to2/bench/serve.py",
    "tf1to2/bench/work/__init__.py",
    "tf1to2/bench/work/inputs.py",
    "tf1to2/bench/work/legacy.py",
    "v1_graph/__init__.py",
    "v1_graph/cookbook.py",
    "v1_graph/shapes.py",
)


class Process:
    """A process that runs `serve`; a `with` statement ends it.

    Attributes:
        forms: the names of the forms that it can run.
    """

    def __init__(self, what, arguments, python=None, path=(), threads=None, **more):
        """Starts the process.

        Args:
            what: a name of the program, for messages.
            arguments: of `serve`.
            python: the interpreter with 1.15.5; by default this one.
            path: additional folders for imports.
            threads: of TensorFlow, in and between ops; by default, TensorFlow's choice.
            **more: environment variables.
        """
        self._what, self._folder, root = what, None, ROOT
        if python:
            self._folder = tempfile.TemporaryDirectory()
            root = recordings.copied(BESIDE, self._folder.name)
        searched = os.pathsep.join(map(str, [root, *path]))
        environment = recordings.genuine_environment(PYTHONPATH=searched, **more)
        if threads:
            kinds = "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"
            environment |= dict.fromkeys(kinds, str(threads))
        self._process = subprocess.Popen(
            [python or sys.executable, "-m", "tf1to2.bench.serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("TF1TO2_DEBUG") else subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C goes to the parent process
        )
        try:
            self.forms = self.ask(forms=True)
        except BaseException:
            self.__exit__()
            raise

    def ask(self, **request):
        """Sends a request of `serve`, and returns its answer."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise CommandError(
                f"{self._what} crashed: exit status {self._process.wait()}; "
                "TF1TO2_DEBUG=1 shows its output"
            )
        return json.loads(line)

    def make(self, form):
        """Makes a form; returns (function to time, seconds of the first step).

        Raises:
            CommandError: it cannot be made.
        """
        answer = self.ask(make=form)
        if "failed" in answer:
            raise CommandError(answer["failed"])

        def run(count):
            self._process.send_signal(signal.SIGCONT)
            timed = self.ask(run=form, count=count)
            # Otherwise its threads would fill buffers while other forms run.
            self._process.send_signal(signal.SIGSTOP)
            return timed["wall"], timed["cpu"]

        return run, answer["first"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()
        if self._folder:
            self._folder.cleanup()
