"""The tree of a file, and functions that read its nodes."""

import functools
import re

import tree_sitter
import tree_sitter_python

from tf1to2.source.names import records

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
PLAIN = re.compile(rb"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
# A function that only returns a name.
HANDING = re.compile(
    rb"\bdef\s+(\w+)\(\)[^:\n]*:\s*return\s+"
    rb"(?!True\b|False\b|None\b)[A-Za-z_][\w.]*[ \t]*[;#\n]"
)
# The string at the end of "x.h5", folder + "/x.h5", os.path.join(folder, "x.h5").
ENDING = re.compile(rb"""["']([^"'\n]*)["'],?[\s)]*$""")
FEED = re.compile(r"(\w*_)?feed(_?dict|s)?")  # the usual names of a feed
LONG = 100  # the most bytes of a string to read
# Types of nodes among arguments that are not arguments.
NO_ARGUMENTS = ("comment", "line_continuation")
STARRED = ("list_splat", "dictionary_splat")
SPELLED = {
    *("list", "tuple", "list_comprehension", "dictionary"),
    *("string", "binary_operator", "call"),
}
"""Types of arguments that may be lists, or end with a string."""
# The most nested calls and dots of an expression to follow.
DEEP = 40


class Source:
    """A file: its bytes and its tree.

    Attributes:
        source: bytes, in UTF-8.
        root: the node of the whole file.
    """

    def __init__(self, source):
        self.source, self.root = source, _parsed(source)
        if self.root.has_error and b"async" in source:  # a name before Python 3.7
            self.source = re.sub(rb"\basync(?=\s*[=,)])", b"_sync", source)
            self.root = _parsed(self.source)
        self.has_cond = b"cond(" in self.source  # only its branches are checked

    def text(self, node):
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def imported(self, node):
        """Reads one name of an import statement: (dotted name, alias or None)."""
        if node.type != "aliased_import":
            return re.sub(r"\s", "", self.text(node)), None
        name = node.child_by_field_name("name")
        alias = node.child_by_field_name("alias")
        return re.sub(r"\s", "", self.text(name)), self.text(alias)

    def call(self, arguments):
        """Makes the `Call` for the node of a call's arguments."""
        if arguments is None:
            return None
        if arguments.type != "argument_list":
            return records.Call(1, (), False)
        positional, keywords, starred, lists, texts = 0, [], False, [], []
        those = arguments.named_children
        for argument in those:
            kind, place = argument.type, positional
            if kind == "keyword_argument":
                place = self.text(argument.child_by_field_name("name"))
                keywords.append(place)
                argument = argument.child_by_field_name("value")
                kind = argument.type if argument is not None else ""
                if kind == "none":
                    texts.append((place, "None"))
            elif kind in STARRED:
                starred = True
                continue
            elif kind in NO_ARGUMENTS:
                continue
            else:
                positional += 1
            if kind in SPELLED:  # only these can be lists or strings
                if _several(argument):
                    lists.append(place)
                texts += [(place, text) for text in self.ends(argument)]
        return records.Call(
            *(positional, tuple(keywords), starred, tuple(lists)),
            self.has_cond and any(map(self._hands, those)),
            tuple(texts),
            self._feeds(those[0] if those else None),
        )

    def _feeds(self, node):
        """Whether an argument is surely a `feed_dict`, by its keys or its name."""
        if node is None or node.type != "dictionary":
            return bool(node and node.type == "identifier") and bool(
                FEED.fullmatch(self.text(node))
            )
        pairs = [one for one in node.named_children if one.type == "pair"]
        keys = [pair.child_by_field_name("key").type for pair in pairs]
        return bool(keys) and all(k in ("identifier", "attribute") for k in keys)

    def ends(self, node):
        """Yields the string at the end of an expression, or of each list element."""
        if node.type in ("list", "tuple"):
            for one in node.named_children:
                if one.type == "string":
                    yield from self.ends(one)
        elif node.type == "dictionary":
            for one in node.named_children:
                if one.type == "pair":
                    yield from self.ends(one.child_by_field_name("value"))
        elif node.type in ("string", "binary_operator") or self._joins(node):
            last = self.source[max(0, node.end_byte - LONG) : node.end_byte]
            if text := ENDING.search(last):
                yield text[1].decode("utf-8", "replace")
            elif node.type == "binary_operator":  # "weights-%d.h5" % epoch
                left = node.child_by_field_name("left")
                if left is not None and left.type == "string":
                    yield from self.ends(left)

    def _joins(self, node):
        """Whether a node is a call of `os.path.join`."""
        function = node.child_by_field_name("function")
        return function is not None and self.source.endswith(
            b"join", function.start_byte, function.end_byte
        )

    def _hands(self, argument):
        """Whether an argument is a function that only returns a name."""
        if argument.type == "keyword_argument":
            argument = argument.child_by_field_name("value")
        if argument.type == "identifier":
            return self.text(argument) in self._handing
        if argument.type != "lambda" or argument.child_by_field_name("parameters"):
            return False
        return argument.child_by_field_name("body").type in ("identifier", "attribute")

    @functools.cached_property
    def _handing(self):
        """The names of the functions that only return a name."""
        return {name.decode() for name in HANDING.findall(self.source)}

    def literal(self, arguments, position):
        """Returns a string argument by position if it looks like a name, else None."""
        found = arguments.named_children if arguments is not None else []
        if len(found) <= position or found[position].type != "string":
            return None
        literal = re.fullmatch(
            r"[a-zA-Z]*(['\"])([\w.]+)\1", self.text(found[position])
        )
        return literal and literal[2]

    def asked(self, node):
        """Returns the chain for `getattr(tf.train, "Saver")`; None if it is unknown."""
        arguments = node.child_by_field_name("arguments")
        literal = self.literal(arguments, 1)
        chain = literal and self.chain(arguments.named_children[0])
        return (*chain, literal) if chain else None

    def chain(self, node):
        """Splits a dotted name: ("tf", "nn", "relu"); None for other nodes."""
        if node is None:
            return None
        text = self.source[node.start_byte : node.end_byte]
        if PLAIN.fullmatch(text):
            return tuple(text.decode().split("."))
        root = node
        while root is not None and root.type == "attribute":
            root = root.child_by_field_name("object")
        if root is None or root.type != "identifier":
            return None
        text = self.text(node)
        if not text.replace(".", "").replace("_", "").isalnum():
            text = re.sub(r"#.*|[\s\\]", "", text)  # the parts may be on several lines
        return tuple(text.split("."))

    def expression(self, node):
        """Splits a name with calls: ("tf", "Session()", "run"); None if impossible."""
        links, called = [], ""
        for _ in range(DEEP):
            if node is None:
                return None
            if node.type in ("identifier", "attribute"):
                chain = self.chain(node)
                if chain:
                    return (*chain[:-1], chain[-1] + called, *reversed(links))
                name = node.child_by_field_name("attribute")
                if name is None or node.type == "identifier":
                    return None
                links.append(self.text(name) + called)
                node, called = node.child_by_field_name("object"), ""
            elif node.type == "call" and not called:
                node, call = node.child_by_field_name("function"), node
                if node is not None and self.text(node) == "getattr":
                    asked = self.asked(call)
                    return asked and (*asked, *reversed(links))
                called = "()"
            elif node.type == "parenthesized_expression" and node.named_children:
                node = node.named_children[0]
            else:
                return None
        return None

    def characters(self, byte, column):
        """Converts a column from bytes to characters."""
        return len(self.source[byte - column : byte].decode("utf-8", "replace"))

    def comments(self, word):
        """Returns [(line, text)] of comments with a word; a rare word is faster."""
        found, end = {}, 0
        while (start := self.source.find(word, end)) >= 0:
            end = start + len(word)
            node = self.root.descendant_for_byte_range(start, end)
            if node is not None and node.type == "comment":
                found[node.start_point[0] + 1] = self.text(node)
        return list(found.items())


def _parsed(source):
    return tree_sitter.Parser(LANGUAGE).parse(source).root_node


def _several(node):
    """Whether an argument is a list or tuple literal of more than one element."""
    if node.type == "list_comprehension":
        return True
    return node.type in ("list", "tuple") and len(node.named_children) > 1
