"""Lists topics and pairs: read from the folders of the pages, without TensorFlow."""

import ast
import dataclasses
import functools
import importlib.util
import json
import math
import pathlib
import re
import zipfile

from tf1to2.common import tsv
from tf1to2.common.errors import CommandError
from tf1to2.common.words import no_such
from tf1to2.pages.page import Page

COMMANDS = "scan", "explain", "fix", "take", "proof", "port", "install"
"""The chapters of the guide about commands, such as guide/scan.md."""
WHOLE = "models_"
"""Prefix of the topics that are whole programs."""


class UnknownTopic(CommandError):
    """The topic or pair does not exist; the message suggests the nearest one."""


@dataclasses.dataclass(frozen=True)
class Topic:
    """One topic: two pages, a proof, a recording and a chapter of the same name.

    Attributes:
        name: of the topic, such as "rnn".
        v1: path of the left page.
        v2: path of the right page, which may be a package's `__init__.py`.
    """

    name: str
    v1: pathlib.Path
    v2: pathlib.Path

    @property
    def golden(self):
        """Path of the topic's recording."""
        return folder("parity_tests") / "golden" / f"{self.name}.npz"

    @property
    def names(self):
        """Returns (left page, right page) as paths relative to the repository."""
        return tuple(
            (path.relative_to(folder(package).parent)).as_posix()
            for path, package in ((self.v1, "v1_graph"), (self.v2, "v2_eager"))
        )

    @property
    def sources(self):
        """Paths of all modules of the right page."""
        package = self.v2.name == "__init__.py"
        return sorted(self.v2.parent.rglob("*.py")) if package else [self.v2]

    @functools.cached_property
    def _about(self):
        """Reads the recording's description, a dict; None without a recording."""
        if not self.golden.exists():
            return None
        with zipfile.ZipFile(self.golden) as store:
            return json.loads(store.read("about.json"))

    @functools.cached_property
    def is_stale(self):
        """Whether the recording is missing, or older than the left page."""
        page = Page("v1_graph." + self.name, folder("v1_graph").parent)
        return self._about is None or self._about["code"] != page.code

    @property
    def recording(self):
        """The state of the recording in words: "missing", "stale", "9 answers"."""
        if self._about is None:
            return "missing: make upkeep"
        if self.is_stale:
            return "stale: make upkeep"
        return f"{len(self._about['entries'])} answers"

    @property
    def _tree(self):
        return _parsed(self.v2)

    @property
    def lesson(self):
        """The first line of the docstring: names of TF1 → the way of TF2."""
        return (ast.get_docstring(self._tree) or "").partition("\n")[0]

    @property
    def title(self):
        """The first line of the chapter: the subject in words, then names."""
        return _titles()[self.name]

    @property
    def pairs(self):
        """The public names, in the order of the page."""
        return _public(self._tree)

    @functools.cached_property
    def keras(self):
        """Path of the topic's Keras page, or None."""
        path = folder("v2_keras") / f"{self.name}.py"
        return path if path.exists() else None

    @functools.cached_property
    def distances(self):
        """Returns {name: distance to 1.15.5} for the pairs of the Keras page.

        The distance is relative to the largest value of an array. None means identical,
        0 means identical except for the sign of a zero.
        """
        if self.keras is None:
            return {}
        found = dict.fromkeys(_public(_parsed(self.keras)))
        for row in _keras_rows():
            topic, _, name = row["pair"].partition(".")
            far = float(row["relative"])
            kept = (
                row["leaf"] != "*" and far < math.inf
            )  # of Keras, not of a naive form
            if topic == self.name and kept:
                found[name] = max(found[name] or 0.0, far)
        return found

    @functools.cached_property
    def summaries(self):
        """Returns {name: first docstring line} for the right page's definitions."""
        return {
            node.name: (ast.get_docstring(node) or "").partition("\n")[0]
            for node in self._tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }


@functools.cache
def _parsed(path):
    return ast.parse(path.read_text("utf-8"))


def _public(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return tuple(ast.literal_eval(node.value))
    return ()


@functools.cache
def _titles():
    path = pathlib.Path(__file__).with_name("titles.tsv")
    return {row["topic"]: row["title"] for row in tsv.rows(path)}


def distance_told(far):
    """Writes a distance of `Topic.distances` in words, such as "within 1.2e-07"."""
    if far is None:
        return "identical"
    return f"within {far:.1e}" if far else "identical but for the sign of a zero"


@functools.cache
def _keras_rows():
    rows = tsv.rows(folder("parity_tests") / "keras.tsv", complete=False)
    return [row for row in rows if not row["where"]]  # rows for all releases


def folder(package):
    """The directory of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    return pathlib.Path(spec.submodule_search_locations[0])


def document(name):
    """Returns a document's path, in the repository or in the installed package."""
    packed = folder("tf1to2") / "documents"
    return (packed if packed.is_dir() else folder("tf1to2").parent) / name


def groups():
    """Reads {title: names of its topics} from the markers of MIGRATION.md."""
    text = document("MIGRATION.md").read_text("utf-8")
    found = re.findall(r"(?m)^<!-- table topics of (.+): (.+) -->$", text)
    return {title: names.split() for title, names in found}


def stems(package, prefix=""):
    """The stems of the modules and packages in `package`, sorted."""
    found = {path.stem for path in folder(package).glob(prefix + "[a-z]*.py")}
    packages = folder(package).glob(prefix + "[a-z]*/__init__.py")
    found.update(path.parent.name for path in packages)
    return sorted(stem[len(prefix) :] for stem in found)


def topics():
    """{name: Topic} of every right page, by name."""
    left, right = folder("v1_graph"), folder("v2_eager")
    found = {}
    for stem in stems("v2_eager"):
        page = right / stem / "__init__.py"
        page = page if page.exists() else right / (stem + ".py")
        found[stem] = Topic(stem, left / (stem + ".py"), page)
    return found


def find(text):
    """Resolves "topic" or "topic.name".

    Returns:
        (Topic, name or None).

    Raises:
        UnknownTopic: with the nearest known name.
    """
    known = topics()
    stem, _, name = text.partition(".")
    if stem not in known:
        raise UnknownTopic(no_such("topic", stem, known))
    if name and name not in known[stem].pairs:
        raise UnknownTopic(no_such(f"pair in {stem}", name, known[stem].pairs))
    return known[stem], name or None
