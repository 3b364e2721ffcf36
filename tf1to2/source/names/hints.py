"""Finds the words of a file that may concern TensorFlow: the walk skips the rest.

Most of a file has nothing to do with TensorFlow. The walk only enters nodes that
contain one of these words: first `import`, then the names that imports and aliases
bind, and the objects of methods that may be TensorFlow's. Words are searched in the
bytes, which is much faster than in the tree.
"""

import re

from tf1to2.source.names import guards, methods, scopes

# The text around a word in an alias: `x = tf.nn`, not `x = tf.ones(3)`.
LEFT = re.compile(rb"^\s*(?:self\.|cls\.)?(\w+)\s*=[\s(\\]*(?:self\.|cls\.)?$")
RIGHT = re.compile(rb"[\w.]+(?![\w.]|[ \t]*[(\[])")
# The object of a method; an assignment of a name to it; an assignment of any chain.
OBJECT = re.compile(rb"(?<![\w.])(?:self\.|cls\.)?(\w+)[\w.]*(?:\[[^\[\]]*\]|\(\))?$")
VALUE = re.compile(rb"\w+[ \t]*=[ \t]*(?:self\.|cls\.)?(\w+)[ \t]*(?=[\n;#])")
ALIAS = re.compile(rb"\w+[ \t]*=[ \t]*\w+(?:\.\w+)*[ \t]*(?=[\n;#])")
# Methods of any object, whose aliases and loops are followed.
ANY = {b"eval", b"initializer", b"value"}
MANY = 60  # the values of a word with more occurrences are not searched


class Words:
    """Collects a file's words that may concern TensorFlow, and their positions.

    Args:
        source: bytes of the file.

    Attributes:
        handed_on: whether the file imports from modules of the project, which may pass
            on a model, for example.
    """

    def __init__(self, source):
        self.source, self.words, self.places = source, set(), []
        self.everything = self.handed_on = False
        self.add({"import", "import_module"})

    def add(self, words):
        """Adds words, and their aliases in the file."""
        new = words - self.words
        while new:
            word = new.pop()
            self.words.add(word)
            for start, _ in self._places(word.encode()):
                self.places.append(start)
                line = self.source.rfind(b"\n", 0, start) + 1
                left = LEFT.match(self.source[line:start])
                if left and RIGHT.match(self.source, start):
                    new |= {left[1].decode("utf-8", "replace")} - self.words
        self.places.sort()

    def add_bound(self, bound):
        """Adds names that imports, aliases and functions bind to objects of TensorFlow.

        Args:
            bound: `Scope.bound`.

        Returns:
            Whether there was a new name.
        """
        new = {
            name
            for name, target in bound
            if isinstance(target, scopes.Import)
            and scopes.is_found(target.origin)
            or isinstance(target, scopes.Alias)
            and not self.words.isdisjoint(target.chain[:2])
            and target.is_name
            or isinstance(target, scopes.Made)
            and self._makes(target)
        } - self.words
        self.add(new)
        return bool(new)

    def _makes(self, function):
        """Whether a function may return an object of TensorFlow."""
        for chain in function.chains:
            bound = function.scope.bindings.get(chain[0], ())
            heads = {chain[0], *(b.chain[0] for b in bound if hasattr(b, "chain"))}
            if any(head.removesuffix("()") in self.words for head in heads):
                return True
        return False

    def add_objects(self):
        """Adds positions of possible TensorFlow methods, and their objects' names."""
        new = guards.named(self.source)
        for owner, members in methods.followed().items():
            if owner.rpartition(".")[2].encode() in self.source:
                for member in members:
                    places = (start for start, _ in self._places(member.encode()))
                    dotted = (p for p in places if self.source[p - 1 : p] == b".")
                    self.places.extend(dotted)
        models, aliases = self.handed_on or b"keras" in self.source, set()
        for method in methods.WORDS:
            for start, _ in self._places(method):
                if self.source[start - 4 : start] == b"def ":
                    self.places.append(start)  # the file defines the method
                elif self.source[start - 1 : start] == b".":
                    self.places.append(start)
                    before = self.source[max(0, start - 81) : start - 1]
                    if name := OBJECT.search(before):
                        name = name[1].decode("utf-8", "replace")
                        # The word `tf` already finds a method of tf.x().
                        word = method.decode()
                        if method in ANY or methods.likely(word, name):
                            new.add(name)
                        elif models and word in methods.OF_MODELS:
                            aliases.add(name)
        new |= {name for name in aliases - new if self._is_alias(name.encode())}
        objects, seen = new - {"self", "cls"}, set()
        while objects:
            word = objects.pop()
            seen.add(word)
            places = list(self._places(word.encode()))
            if len(places) <= MANY:
                for start, _ in places:
                    value = VALUE.match(self.source, start)
                    if value and (name := value[1].decode("utf-8", "replace")):
                        objects |= {name} - seen
        self.add(seen)

    def _is_alias(self, word):
        """Whether a file makes a word an alias of another name: `net = self.model`."""
        return any(ALIAS.match(self.source, start) for start, _ in self._places(word))

    def ahead(self):
        """Returns the sorted positions of the words; [0] if any word may matter."""
        return [0] if self.everything else [*self.places, len(self.source) + 1]

    def _places(self, word):
        """Yields (start, end) of each occurrence of a word."""
        source, end = self.source, 0
        while (start := source.find(word, end)) >= 0:
            end = start + len(word)
            if not _in_word(source[end : end + 1]):
                if not start or not _in_word(source[start - 1 : start]):
                    yield start, end


def _in_word(byte):
    return byte.isalnum() or byte == b"_"
