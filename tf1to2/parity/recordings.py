"""Recordings: the answers of the genuine TensorFlow 1.15, checked for staleness."""

import contextlib
import dataclasses
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
import typing
import zipfile

import numpy as np

from tf1to2.pages import reached
from tf1to2.pages.page import INSTALLED, Page, file_of
from tf1to2.parity import structure
from tf1to2.parity.settings import CPU

REQUIREMENTS = ("tensorflow==1.15.5", "numpy<1.19", "protobuf<3.21")


class StaleRecording(AssertionError):
    """The page, what it imports, or its inputs have changed since the recording."""


class NoGenuineTensorFlow(RuntimeError):
    """TensorFlow 1.15 cannot run: Python 3.7 is missing, or something does not work."""


class Recording:
    """The recording of one left page, with each answer in two forms.

    `answer` is the answer of TensorFlow 1.15 in its default settings, with inputs
    widened to float64 and the answers rounded. `answer_float32` is its answer to the
    inputs as given, in the strict settings; only leaves with other bits are stored.

    Args:
        path: the .npz file, which need not exist until an answer is asked for.
        page: the left page, a `Page` or an imported module.
        how: the command that makes it again.
        by_function: whether an answer is stale only if code that its function reaches
            has changed, and not if any code of the page has.
    """

    by_function = False

    def __init__(self, path, page, how="make upkeep"):
        self.path = pathlib.Path(path)
        self.page = page if isinstance(page, Page) else Page(page)
        self.how = how
        self._codes = {}

    @functools.cached_property
    def _store(self):
        if not self.path.exists():
            raise StaleRecording(f"no recording {self.path}: run {self.how}")
        with np.load(self.path) as store:
            return dict(store)

    @functools.cached_property
    def about(self):
        """Returns a dict of the versions, machine and settings of the recording."""
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
            raise self._stale(key)
        return dict(self._answers[entry["number"]])

    def answer_float32(self, key, request):
        """Returns the recorded answer to `request` in float32 with strict settings.

        Raises:
            StaleRecording: the page or the request is not what was recorded.
        """
        entry = self.about["entries"].get(key, {})
        if entry.get("float32") != self.fingerprint(request):
            raise self._stale(key)
        same = self._answers[entry["number"]] if entry["same"] else {}
        return {**same, **self._answers.get(entry["number"] + "f", {})}

    def _stale(self, key):
        recorded, today = self.about.get("sources", {}), self.page.hashes
        changed = [n for n in {**recorded, **today} if recorded.get(n) != today.get(n)]
        if not recorded or not changed:
            changed = [f"{key} of {self.page.name}"]
        have = "have" if len(changed) > 1 else "has"
        return StaleRecording(
            f"{', '.join(changed)} {have} changed since it was recorded: run {self.how}"
        )

    def stands(self, entry):
        """Returns whether a valid recording of an `Entry` exists; sets its answers."""
        if not self.path.exists():
            return False
        try:
            entry.answer = self.answer(entry.key, entry.request)
            if entry.given is not None:
                entry.answer_float32 = self.answer_float32(entry.key, entry.given)
        except StaleRecording:
            return False
        return True

    def _code(self, name):
        if not self.by_function:
            return self.page.code
        if name not in self._codes:
            self._codes[name] = reached.code(self.page, name)
        return self._codes[name]

    def fingerprint(self, request):
        """Computes a hash of the page's code, its imports, and the request."""
        store = {}
        text = structure.pack(request, store)
        digest = hashlib.sha256((self._code(request["name"]) + text).encode())
        for array in store.values():
            digest.update((f"{array.dtype.str}{array.shape}").encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def write(self, entries, versions, **notes):
        """Writes the file again.

        Args:
            entries: list of `Entry`.
            versions: the TensorFlow and NumPy versions that answered.
            notes: further entries of `about`.
        """
        about = {
            "page": self.page.name,
            "code": self.page.code,
            "sources": self.page.hashes,
            "tensorflow": versions[0],
            "numpy": versions[1],
            "cpu": cpu(),
            "features": cpu_features(),
            "platform": system(),
            "date": datetime.date.today().isoformat(),
            "settings": "one thread; float32 inputs widened to float64; "
            "as given: no graph rewriting, no contraction kernel",
            **notes,
            "entries": {},
        }
        store = {}
        for number, entry in enumerate(entries):
            row = {
                "number": str(number),
                "fingerprint": self.fingerprint(entry.request),
            }
            store.update({f"{number}:{p}": leaf for p, leaf in entry.answer.items()})
            if entry.answer_float32 is not None:
                given = entry.answer_float32
                row["float32"] = self.fingerprint(entry.given)
                row["same"] = set(given) == set(entry.answer)
                store.update(
                    {
                        f"{number}f:{path}": leaf
                        for path, leaf in given.items()
                        if not (row["same"] and _identical(leaf, entry.answer[path]))
                    }
                )
            about["entries"][entry.key] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp.npz")
        np.savez_compressed(temporary, **store)
        with zipfile.ZipFile(temporary, "a") as archive:  # readable without NumPy
            archive.writestr("about.json", json.dumps(about, indent=1))
        os.replace(temporary, self.path)
        for read in ("_store", "about", "_answers"):
            self.__dict__.pop(read, None)


class Versions(typing.NamedTuple):
    """The versions of the process that answered, and notes on the answers.

    Attributes:
        tensorflow: its version.
        numpy: its version.
        told: the result of `races` for each request: in the settings "watched" the
            sentences on races, in "strict" {name of a random operation: [seed, seed2]}.
        where: {number of a request that raised: "left.py, line 7"}.
    """

    tensorflow: str
    numpy: str
    told: list
    where: dict = {}


@dataclasses.dataclass
class Entry:
    """A request to TensorFlow 1.15, for one case at one size, and its answers.

    Attributes:
        case: the case.
        key: the name of the entry in the recording.
        request: as `v1.run` takes it, by the float64 recipe.
        given: the request as given; None if float32 is not compared.
        answer: the answer to `request`.
        answer_float32: the answer to `given`.
    """

    case: object
    key: str
    request: dict
    given: dict | None
    answer: dict | None = None
    answer_float32: dict | None = None


def _identical(a, b):
    same = a.dtype == b.dtype and a.shape == b.shape
    return same and a.tobytes() == b.tobytes()


def cpu():
    """The name of the processor."""
    return _of_the_processor("model name") or platform.processor()


def cpu_features():
    """Lists the processor's features that may change the last bits of a result.

    These are its maker, vector instructions, and the size of a core's first data cache.
    The approximations `rcpps` and `rsqrtps`, from which kernels compute 1 / x and
    1 / sqrt(x), depend on the maker. Eigen splits the sums of a matrix product by the
    size of the cache: float32 every 376 terms with 32 KiB, every 560 with 48.
    """
    flags = _of_the_processor("flags").split()
    found = [f for f in ("avx", "avx2", "fma", "avx512f") if f in flags]
    makers = _of_the_processor("vendor_id").split()
    return makers + found + [f"L1d={size}" for size in _first_caches()]


def _first_caches():
    """A list with the size of the first-level data cache; empty if it is unknown."""
    for cache in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("*")):
        with contextlib.suppress(OSError):
            level, kind, size = (
                (cache / name).read_text().strip() for name in ("level", "type", "size")
            )
            if level == "1" and kind != "Instruction":
                return [size]
    return []


def system():
    """Describes the operating system and the kind of processor."""
    return f"{platform.system()} {platform.machine()}"


def _of_the_processor(field):
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    found = [line.partition(":")[2].strip() for line in lines if line.startswith(field)]
    return found[0] if found else ""


def find_python37():
    """Finds a Python 3.7: from `TF1_PYTHON`, `python3.7`, or pyenv.

    Raises:
        NoGenuineTensorFlow: it was not found; the message says how to install it.
    """
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    candidates = [os.environ.get("TF1_PYTHON"), shutil.which("python3.7")]
    candidates += sorted(map(str, pyenv.glob("versions/3.7.*/bin/python")))
    for candidate in filter(None, candidates):
        program = "import sys; print(sys.version_info[:2])"
        try:
            probe = subprocess.run(
                [candidate, "-c", program], capture_output=True, text=True
            )
        except OSError:  # the file does not exist
            continue
        if probe.stdout.strip() == "(3, 7)":
            return candidate
    raise NoGenuineTensorFlow(
        "no Python 3.7 found: install one (pyenv install 3.7, uv python install 3.7) "
        "or set TF1_PYTHON to its path"
    )


def genuine_python(environment, python=None, packages=()):
    """The path of an interpreter with TensorFlow 1; installs 1.15.5 if necessary.

    Args:
        environment: folder of a virtual environment with 1.15.5, which is made if
            neither `python` nor `TF1_PYTHON` is given and it is missing.
        python: the path of an interpreter, of any TensorFlow 1.
        packages: packages that the old program needs, to be installed by pip.

    Raises:
        NoGenuineTensorFlow: Python 3.7 or TensorFlow 1 is missing, or pip fails.
    """
    python = _genuine_python(environment, python)
    if packages:
        _install(python, environment, packages)
    return python


def _install(python, environment, packages):
    """Installs packages into an environment of tf1to2, unless they are there."""
    done = pathlib.Path(environment, "packages.txt")
    if pathlib.Path(python) != pathlib.Path(environment, "bin", "python"):
        raise NoGenuineTensorFlow(
            f"{python} was not made by tf1to2: install {' '.join(packages)} there, "
            "or leave out --python and TF1_PYTHON"
        )
    wanted = "\n".join(packages) + "\n"
    if done.exists() and done.read_text() == wanted:
        return
    print(f"Installing {' '.join(packages)} in {environment}", file=sys.stderr)
    command = [python, "-m", "pip", "install", "-q", *packages]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        said = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
        reason = (said or run.stderr.splitlines() or ["no reason"])[-1]
        raise NoGenuineTensorFlow(f"pip cannot install {packages}: {reason}")
    done.write_text(wanted)


def _genuine_python(environment, python):
    if python:
        version = tensorflow_of(python)
        if not version.startswith("1."):
            found = f"has TensorFlow {version}" if version else "has no TensorFlow"
            raise NoGenuineTensorFlow(f"{python} {found}: give one that has 1.x")
        return python
    given = os.environ.get("TF1_PYTHON")
    if given and tensorflow_of(given).startswith("1.15."):
        return given
    environment = pathlib.Path(environment)
    python = environment / "bin" / "python"
    if not (environment / "complete").exists():
        if environment.exists() and any(environment.iterdir()):  # not ours, perhaps
            raise NoGenuineTensorFlow(
                f"{environment} was not made, or not completely, by tf1to2: "
                "remove it, or name another folder"
            )
        base = find_python37()
        print(f"Setting up TensorFlow 1.15.5 in {environment}", file=sys.stderr)
        subprocess.run([base, "-m", "venv", str(environment)], check=True)
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
        (environment / "complete").touch()
    return str(python)


def tensorflow_of(python):
    """The version of an interpreter's TensorFlow; "" if it is not installed."""
    program = "import tensorflow; print(tensorflow.__version__)"
    try:
        probe = subprocess.run([python, "-c", program], capture_output=True, text=True)
    except OSError:
        return ""
    return probe.stdout.strip()


def ask(python, page, requests, settings="default", apart=False):
    """Sends requests to the genuine TensorFlow 1.15, and returns its answers.

    Args:
        python: its interpreter.
        page: the left page, a `Page`, which is imported by that interpreter.
        requests: list of requests, as `v1.run` takes them.
        settings: "default", or "strict": no graph rewriting and no contraction kernel,
            the settings in which float32 is compared; "watched" is "strict" with many
            threads that start operations, while each operation runs in one thread.
        apart: whether each request gets a process of its own, so that names of layers
            and sessions of one case cannot affect the next.

    Returns:
        (list of {path: array}, `Versions`).

    Raises:
        NoGenuineTensorFlow: the interpreter crashed, or a page cannot be imported.
    """
    requests = [(page.name, request) for request in requests]
    environment = genuine_environment(
        PYTHONHASHSEED="0",  # a SavedModel of Keras depends on the order of sets
        TF_NUM_INTRAOP_THREADS="1",
        TF_NUM_INTEROP_THREADS="8" if settings == "watched" else "1",
        # As on today's side: float32 as given can only be compared for the same kernel.
        TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL="false",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = [copied(ENGINE, folder), *page_folders(page, folder)]
        environment["PYTHONPATH"] = os.pathsep.join(path)
        asked, answered = (
            os.path.join(folder, n) for n in ("asked.npz", "answered.npz")
        )
        store = {}
        text = structure.pack(requests, store)
        np.savez(asked, requests=np.asarray(text), **store)
        script = [python, "-c", START, asked, answered, settings]
        script += ["apart"] * apart
        status = subprocess.run(script, env=environment).returncode
        for told in pathlib.Path(folder).glob("*.unimported"):
            module, message = told.read_text().split("\n", 1)
            if message:
                raise NoGenuineTensorFlow(_unimported(page, module, message))
            raise NoGenuineTensorFlow(
                f"{page.name} imports {module}, which {python} does not have: add the "
                f"option --with {module.partition('.')[0]}, or list it in "
                "requirements-tf1.txt beside the test"
            )
        if status:
            raise NoGenuineTensorFlow(f"{python} crashed: exit status {status}")
        with np.load(answered) as store:
            leaves = dict(store)
    told = json.loads(str(leaves.pop("told")))
    versions = leaves.pop("versions").tolist()
    answers = [{} for _ in requests]
    for name, leaf in leaves.items():
        number, _, path = name.partition(":")
        answers[int(number)][path] = leaf
    raised = enumerate(answer.pop("where", None) for answer in answers)
    where = {number: str(place) for number, place in raised if place is not None}
    return answers, Versions(*versions, told, where)


# As `python -m tf1to2.parity.v1`, but the current folder comes last in sys.path.
START = """
import runpy, sys
sys.path.append(sys.path.pop(0))
runpy.run_module("tf1to2.parity.v1", run_name="__main__", alter_sys=True)
"""


def _unimported(page, module, message):
    """Formats the message for a page that cannot be imported, with advice."""
    text = f"{page.name} cannot be imported: {message}"
    top = module.partition(".")[0]
    entries = map(pathlib.Path, page.path_entries)
    found = [file for file in (file_of(entry, top) for entry in entries) if file]
    if not found:
        return f"{text}: an older version may have it: --with {top}==VERSION"
    others = [str(file) for file in dict.fromkeys(found[1:])]
    if not others:
        return text
    return (
        f"{text}: {found[0]} hides {' and '.join(others)}: list the folder that "
        "Python must search first as the first of folders="
    )


def genuine_environment(**more):
    """The environment for a process of TensorFlow 1.15.5: quiet, and on the CPU.

    Args:
        **more: further variables.

    Returns:
        {name: value}: this process's variables, without `TF2_BEHAVIOR`, which
        TensorFlow 2 sets and which would change 1.15.5.
    """
    return {
        **{name: v for name, v in os.environ.items() if name != "TF2_BEHAVIOR"},
        **CPU,
        "PYTHONWARNINGS": "ignore",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **more,
    }


# The part of this package that Python 3.7 uses; other packages are not for 3.7.
PARITY = (
    "__init__",
    "structure",
    "v1",
    "given_files",
    "races",
    "formulas",
    "widening",
)
STAND_INS = "stand_ins", "ranks"
ENGINE = (
    "tf1to2/__init__.py",
    *(f"tf1to2/parity/{name}.py" for name in PARITY + STAND_INS),
)


def copied(names, folder):
    """Copies files of the checkout, or of the installed package; returns the folder."""
    root = pathlib.Path(__file__).resolve().parents[2]
    for name in names:
        copy = pathlib.Path(folder, name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, copy)
    return folder


def page_folders(page, folder):
    """The folders in which Python 3.7 finds a page: its own, or a copy in `folder`."""
    root = page.root
    if not INSTALLED & set(root.parts):
        return page.path_entries
    for path in page.sources.values():
        copy = pathlib.Path(folder, path.relative_to(root))
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return [folder]
