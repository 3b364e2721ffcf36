"""What the genuine TensorFlow 1.15 answered: recorded once, checked for staleness."""

import datetime
import functools
import hashlib
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

from tf1to2.parity import structure

REQUIREMENTS = ("tensorflow==1.15.5", "numpy<1.19", "protobuf<3.21")


class StaleRecording(AssertionError):
    """The page or its inputs have changed since the recording was made."""


class NoGenuineTensorFlow(RuntimeError):
    """No Python 3.7, so no TensorFlow 1.15."""


class Recording:
    """The recording of one left page.

    Args:
        path: the .npz file, which need not exist until an answer is asked for.
        page: the left page, an imported module.
    """

    def __init__(self, path, page):
        self.path = pathlib.Path(path)
        self.page = page

    @functools.cached_property
    def _store(self):
        if not self.path.exists():
            raise StaleRecording(f"no recording {self.path}: run make record")
        with np.load(self.path) as store:
            return dict(store)

    @functools.cached_property
    def about(self):
        """Which versions, machine and settings made it."""
        return json.loads(self._store["about.json"])

    @functools.cached_property
    def _answers(self):
        answers = {}
        for name, leaf in self._store.items():
            key, separator, path = name.partition(":")
            if separator:
                answers.setdefault(key, {})[path] = leaf
        return answers

    def answer(self, key, request):
        """The recorded answer to `request`, {path: array}.

        Raises:
            StaleRecording: the page or the request is not what was recorded.
        """
        entry = self.about["entries"].get(key)
        if entry is None or entry["fingerprint"] != self.fingerprint(request):
            raise StaleRecording(
                f"{key} of {self.page.__name__} has changed since it was recorded: "
                "run make record"
            )
        return dict(self._answers[entry["number"]])

    @functools.cached_property
    def _source(self):
        return pathlib.Path(self.page.__file__).read_bytes().replace(b"\r\n", b"\n")

    def fingerprint(self, request):
        """Hash of the page's source and of the request."""
        store = {}
        text = structure.pack(request, store)
        digest = hashlib.sha256(self._source + text.encode())
        for array in store.values():
            digest.update((f"{array.dtype.str}{array.shape}").encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def write(self, requests, answers, versions):
        """Writes the file anew.

        Args:
            requests: [(key, request)].
            answers: list of {path: array}, one per request.
            versions: the TensorFlow and NumPy versions that answered.
        """
        about = {
            "page": self.page.__name__,
            "source": hashlib.sha256(self._source).hexdigest(),
            "tensorflow": versions[0],
            "numpy": versions[1],
            "cpu": _cpu(),
            "platform": f"{platform.system()} {platform.machine()}",
            "date": datetime.date.today().isoformat(),
            "settings": "one thread; float32 inputs widened to float64",
            "entries": {},
        }
        store = {}
        for number, ((key, request), answer) in enumerate(zip(requests, answers)):
            about["entries"][key] = {
                "number": str(number),
                "fingerprint": self.fingerprint(request),
            }
            for path, leaf in answer.items():
                store["%d:%s" % (number, path)] = leaf
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp.npz")
        np.savez_compressed(temporary, **store)
        with zipfile.ZipFile(temporary, "a") as archive:  # readable without NumPy
            archive.writestr("about.json", json.dumps(about, indent=1))
        os.replace(temporary, self.path)


def _cpu():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()


def find_python37():
    """Path of a Python 3.7: `TF1_PYTHON`, `python3.7`, or one of pyenv's.

    Raises:
        NoGenuineTensorFlow: saying where it was looked for.
    """
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    candidates = [os.environ.get("TF1_PYTHON"), shutil.which("python3.7")]
    candidates += sorted(map(str, pyenv.glob("versions/3.7.*/bin/python")))
    for candidate in filter(None, candidates):
        probe = subprocess.run(
            [candidate, "-c", "import sys; print(sys.version_info[:2])"],
            capture_output=True,
            text=True,
        )
        if probe.stdout.strip() == "(3, 7)":
            return candidate
    raise NoGenuineTensorFlow(
        "no Python 3.7 found: install one (pyenv install 3.7, uv python install 3.7) "
        "or set TF1_PYTHON to its path"
    )


def genuine_python(environment):
    """The interpreter of an environment with TensorFlow 1.15, made if missing."""
    python = pathlib.Path(environment) / "bin" / "python"
    if not (pathlib.Path(environment) / "complete").exists():
        base = find_python37()
        print(f"Setting up TensorFlow 1.15.5 in {environment}", file=sys.stderr)
        subprocess.run([base, "-m", "venv", "--clear", str(environment)], check=True)
        subprocess.run(
            [
                python,
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                *REQUIREMENTS,
            ],
            check=True,
        )
        (pathlib.Path(environment) / "complete").touch()
    return str(python)


def ask(python, requests):
    """Has the genuine TensorFlow 1.15 answer.

    Args:
        python: its interpreter.
        requests: list of (module name, request).

    Returns:
        (list of {path: array}, [TensorFlow version, NumPy version]).
    """
    root = str(pathlib.Path(__file__).resolve().parents[2])
    path = os.pathsep.join([os.getcwd(), root])
    inherited = dict(os.environ)
    inherited.pop("TF2_BEHAVIOR", None)  # TensorFlow 2 sets it, and 1.15 would heed it
    environment = {
        **inherited,
        "PYTHONPATH": path,
        "PYTHONWARNINGS": "ignore",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_NUM_INTRAOP_THREADS": "1",
        "TF_NUM_INTEROP_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = (
            os.path.join(folder, n) for n in ("asked.npz", "answered.npz")
        )
        store = {}
        text = structure.pack(requests, store)
        np.savez(asked, requests=np.asarray(text), **store)
        subprocess.run(
            [python, "-m", "tf1to2.parity.v1", asked, answered],
            check=True,
            env=environment,
        )
        with np.load(answered) as store:
            leaves = dict(store)
    versions = leaves.pop("versions").tolist()
    answers = [{} for _ in requests]
    for name, leaf in leaves.items():
        number, _, path = name.partition(":")
        answers[int(number)][path] = leaf
    return answers, versions
