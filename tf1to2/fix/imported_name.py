"""Finds the uses of an imported name, and replaces the name by other names."""

import typing

from tf1to2.fix import imports
from tf1to2.fix.edits import Edit, white, without
from tf1to2.fix.sites import IMPORTS, enclosing, is_bound


class Import(typing.NamedTuple):
    """A name in a statement `from module import …` of the file.

    Attributes:
        tree: `sites.Tree`.
        statement: its node.
        entry: the node of the name, and of its alias.
        name: the node of the name.
        alias: its alias in the file, or None.
    """

    tree: object
    statement: object
    entry: object
    name: object
    alias: str | None

    @classmethod
    def of(cls, tree, node):
        """Finds the import of a node; None if a change of it may break the file."""
        entry = node
        while entry.parent and entry.parent.type != "import_from_statement":
            entry = entry.parent
        statement = entry.parent
        if statement is None or statement.parent.type != "module":
            return None
        if b"tf1to2:" in tree.source:  # an ignored call would lose its import
            return None
        name = entry.child_by_field_name("name") or entry
        return cls(tree, statement, entry, name, tree.imported(entry)[1])

    def uses(self):
        """The nodes of the imported word in the rest of the file, in order."""
        word = self.alias or self.tree.text(self.name)
        found = self.tree.outside(word, self.statement)
        return sorted(found, key=lambda node: node.start_byte)

    def changed(self, targets):
        """Returns the edits that import other names; None if they are not certain.

        Args:
            targets: their full names, "tf.keras.layers.add", at least one.
        """
        names = [target.rpartition(".")[2] for target in targets]
        there = imports.imported(self.tree, self.tree.module(self.statement)).items()
        there = {name for name, alias in there if name == alias}
        taken = [n for n in names if n in self.tree.words and n not in there]
        bound = [
            node
            for n in names
            for node in self.tree.words.get(n, ())
            if is_bound(node) and enclosing(node, IMPORTS) is None
        ]
        if not names or self.alias and len(names) > 1:
            return None
        if not self.alias and (taken or bound):
            return None
        new = [name for name in names if self.alias or name not in there]
        if new:
            return [Edit(self.name.start_byte, self.name.end_byte, ", ".join(new))]
        return self._without()

    def _without(self):
        """Removes the name, or the whole statement if it imports no other name."""
        source, statement = self.tree.source, self.statement
        if len(statement.children_by_field_name("name")) == 1:
            end = white(source, statement.end_byte, b"\n")
            return [Edit(statement.start_byte, end, "")]
        siblings = [one for one in statement.children if one.type != "comment"]
        return [without(source, self.entry, siblings)]

    def is_whole(self, edits):
        """Whether the edits remove the whole statement."""
        return edits[0].start == self.statement.start_byte
