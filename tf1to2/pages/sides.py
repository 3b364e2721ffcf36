"""Two files to be shown side by side: a topic's pages, or any two files."""

import dataclasses
import pathlib

from tf1to2.common.errors import CommandError
from tf1to2.common.words import nearest
from tf1to2.pages import topics
from tf1to2.pages.align import Block
from tf1to2.pages.definitions import Edition, Module, needed
from tf1to2.pages.library import KERAS, PACKAGES, edition


@dataclasses.dataclass(frozen=True)
class Sides:
    """Two modules, and the pairs of names: one on the left, one on the right.

    Attributes:
        left, right: Module.
        names: {name on the left: name on the right}, in the order of the left one.
    """

    left: Module
    right: Module
    names: dict

    def pair(self, name):
        """Returns a pair, (left Definition, right Definition), by its left name."""
        return (
            self.left.definitions[name],
            self.right.definitions[self.names[name]],
        )

    def parts(self, name):
        """Lists a pair and all code that it needs, as rows of two columns.

        Returns:
            List of (Definition or None, Definition or None): definitions with the same
            name share a row, and each definition appears once.
        """
        first = self.pair(name)
        ours, theirs = (
            [part for part in needed([side])[0] if part is not side] for side in first
        )
        names = {part.name: part for part in theirs}
        both = [(part, names[part.name]) for part in ours if part.name in names]
        paired = {part for row in both for part in row}
        rest = [(part, None) for part in ours if part not in paired]
        rest += [(None, part) for part in theirs if part not in paired]
        return [first, *both, *rest]


def of_topic(topic, keras=False):
    """Returns a topic's two pages as Sides; `keras` chooses the Keras page.

    Raises:
        CommandError: the topic has no Keras page.
    """
    if keras and not topic.keras:
        known = [name for name, other in topics.topics().items() if other.keras]
        raise CommandError(
            f"{topic.name} has no Keras page; topics with one: {', '.join(known)}"
        )
    packages = (PACKAGES[0], KERAS) if keras else PACKAGES
    left, right = (edition().module(f"{p}.{topic.name}") for p in packages)
    names = topic.distances if keras else topic.pairs
    return Sides(left, right, {name: name for name in names})


def of_files(left, right, names=()):
    """The Sides of any two files.

    Args:
        left, right: paths. Modules beside them are read for what the files need.
        names: the names to show: "logits", or "logits=compute_logits" if the names
            differ. If empty, all names that both files define.

    Raises:
        CommandError: a file cannot be read, or does not define the name.
    """
    modules = [_module(path) for path in (left, right)]
    pairs = {}
    for text in names:
        ours, _, theirs = text.partition("=")
        pairs[ours] = theirs or ours
        for module, name in zip(modules, (ours, theirs or ours), strict=True):
            if name not in module.definitions:
                hint = nearest(name, module.definitions)
                missing = f"{module.path} defines no {name}"
                raise CommandError("; ".join(filter(None, [missing, hint])))
    if not names:
        theirs = modules[1].definitions
        pairs = {name: name for name in modules[0].definitions if name in theirs}
    if not pairs:
        raise CommandError(
            f"{left} and {right} define no name in common: add OLD=NEW to the command"
        )
    return Sides(*modules, pairs)


def _module(path):
    path = pathlib.Path(path)
    beside = {p.stem: p.with_suffix("") for p in path.absolute().parent.glob("*")}
    try:
        return Module(path, path.stem, Edition(beside))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"{path}: not valid Python 3: {error}") from error


def block(definition):
    """The lines of a definition, as `align` takes them."""
    return Block(definition.name, definition.start, definition.stop)
