"""A name that a file imports: its uses, and an import of other names in its place."""

import typing

from tf1to2.fix import imports
from tf1to2.fix.edits import Edit
from tf1to2.fix.sites import is_bound


class Import(typing.NamedTuple):
    """A name in a statement `from module import …` of the file.

    Attributes:
        tree: `sites.Tree`.
        statement: its node.
        entry: the node of the name, and of its alias.
        name: the node of the name.
        alias: what the file calls it, if another word; or None.
    """

    tree: object
    statement: object
    entry: object
    name: object
    alias: str | None

    @classmethod
    def of(cls, tree, node):
        """The import that a node lies in; None where a change may break the file."""
        entry = node
        while entry.parent and entry.parent.type != "import_from_statement":
            entry = entry.parent
        statement = entry.parent
        if statement is None or statement.parent.type != "module":
            return None
        if b"tf1to2:" in tree.source:  # a call that is ignored would lose its import
            return None
        name = entry.child_by_field_name("name") or entry
        return cls(tree, statement, entry, name, tree.imported(entry)[1])

    @property
    def module(self):
        return self.tree.text(self.statement.child_by_field_name("module_name"))

    def uses(self):
        """The nodes of the word in the rest of the file, in its order."""
        word = self.alias or self.tree.text(self.name)
        found = [
            node
            for node in self.tree.words.get(word, ())
            if not self.statement.start_byte
            <= node.start_byte
            < self.statement.end_byte
        ]
        return sorted(found, key=lambda node: node.start_byte)

    def changed(self, targets):
        """The edits that import other names in its place; None: not certain.

        Args:
            targets: their full names, "tf.keras.layers.add", at least one.
        """
        names = [target.rpartition(".")[2] for target in targets]
        there = imports.imported(self.tree, self.module).items()
        there = {name for name, alias in there if name == alias}
        taken = [n for n in names if n in self.tree.words and n not in there]
        bound = [node for n in names for node in self.tree.words.get(n, ())]
        bound = [node for node in bound if is_bound(node) and not _is_imported(node)]
        if not names or self.alias and len(names) > 1:
            return None
        if not self.alias and (taken or bound):
            return None
        new = [name for name in names if self.alias or name not in there]
        if new:
            return [Edit(self.name.start_byte, self.name.end_byte, ", ".join(new))]
        return self._without()

    def _without(self):
        """The edit that takes the name out, with its comma, or the whole statement."""
        children = [one for one in self.statement.children if one.type != "comment"]
        at = next(n for n, child in enumerate(children) if child == self.entry)
        before, behind = children[at - 1], (*children[at + 1 :], None)[0]
        if before.type == ",":
            return [Edit(before.start_byte, self.entry.end_byte, "")]
        if behind is None or behind.type != ",":
            return [Edit(self.statement.start_byte, self._end(b"\n"), "")]
        return [Edit(self.entry.start_byte, self._end(b" \n\t", behind), "")]

    def _end(self, white, node=None):
        """Where the white space behind a node ends, of the statement by default."""
        end = (node or self.statement).end_byte
        while (letter := self.tree.source[end : end + 1]) and letter in white:
            end += 1
        return end

    def is_whole(self, edits):
        """Whether the edits take the statement out."""
        return edits[0].start == self.statement.start_byte


def _is_imported(node):
    while node is not None and "import" not in node.type:
        node = node.parent
    return node is not None
