"""Which topics and pairs there are, read off the trees, without TensorFlow."""

import ast
import dataclasses
import difflib
import functools
import hashlib
import importlib.util
import json
import pathlib
import zipfile


class UnknownTopic(LookupError):
    """No such topic or pair; the message suggests the nearest."""


@dataclasses.dataclass(frozen=True)
class Topic:
    """One stem: two pages, a proof, a recording, a section.

    Attributes:
        name: the stem.
        v1: path of the left page.
        v2: path of the right page.
    """

    name: str
    v1: pathlib.Path
    v2: pathlib.Path

    @property
    def golden(self):
        """Path of the recording."""
        return folder("parity_tests") / "golden" / f"{self.name}.npz"

    @property
    def recording(self):
        """How the genuine TensorFlow 1.15.5 stands to the left page, in words."""
        if not self.golden.exists():
            return "missing: make record"
        with zipfile.ZipFile(self.golden) as store:
            about = json.loads(store.read("about.json"))
        if about["source"] != hashlib.sha256(self.v1.read_bytes()).hexdigest():
            return "stale: make record"
        return f"{len(about['entries'])} answers"

    @functools.cached_property
    def _tree(self):
        return ast.parse(self.v2.read_text("utf-8"))

    @property
    def lesson(self):
        """The first line of the pages' docstrings, without the name of the topic."""
        line = (ast.get_docstring(self._tree) or "").partition("\n")[0]
        line = line.partition(": ")[2] or line
        return line[:1].upper() + line[1:]

    @property
    def pairs(self):
        """The public names, in the order of the page."""
        for node in self._tree.body:
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
                return tuple(ast.literal_eval(node.value))
        return ()


def folder(package):
    """The directory of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    return pathlib.Path(spec.submodule_search_locations[0])


def stems(package, prefix=""):
    """The stems of the modules in `package`, sorted."""
    paths = folder(package).glob(prefix + "[a-z]*.py")
    return sorted(path.stem[len(prefix) :] for path in paths)


def topics():
    """{name: Topic} of every right page, by name."""
    left, right = folder("v1_graph"), folder("v2_eager")
    return {
        stem: Topic(stem, left / (stem + ".py"), right / (stem + ".py"))
        for stem in stems("v2_eager")
    }


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
        raise UnknownTopic(_no_such("topic", stem, known))
    if name and name not in known[stem].pairs:
        raise UnknownTopic(_no_such(f"pair in {stem}", name, known[stem].pairs))
    return known[stem], name or None


def _no_such(what, text, known):
    near = difflib.get_close_matches(text, known, 1, 0.5)
    hint = (
        f"did you mean {near[0]}?" if near else "there are: {}".format(", ".join(known))
    )
    return f"no {what} called {text!r}; {hint}"
