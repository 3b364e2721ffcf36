"""Rewrites imports of keras to tf.keras, if the package keras lacks a name.

`from keras import backend as K` becomes `from tensorflow.keras import backend as K`.
Both give the same objects, so a file may still import other names from keras.
"""

from tf1to2.catalog import entries, keras_names, keras_uses, standalone
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.sites import IMPORTS, enclosing, is_bound

PACKAGE = standalone.PACKAGE
CONDITIONS = ("try_statement", "if_statement")


class Imports:
    """The imports of a file that become imports of tf.keras.

    Args:
        tree: `sites.Tree`.
        sites: list of the `Site`s that may change.
    """

    def __init__(self, tree, sites):
        self.tree, self.first, self.edits = tree, {}, {}
        for site in sites:
            if (statement := self._statement(site)) is not None:
                self.first.setdefault(statement.start_byte, site)

    def change(self, site):
        """Changes the import that a site needs; None if another site changes it."""
        edit = self._edit_for(site)
        if edit is None or self.first.get(self._statement(site).start_byte) is not site:
            return None
        return Change((edit,), rest=_says_more(site))

    def follows(self, site):
        """Returns whether a use needs no other change than that of its import."""
        return self._edit_for(site) is not None and not _says_more(site)

    def _edit_for(self, site):
        statement = self._statement(site)
        if statement is None or statement.start_byte not in self.first:
            return None
        if statement.start_byte not in self.edits:
            self.edits[statement.start_byte] = self._edit(statement)
        return self.edits[statement.start_byte]

    def _statement(self, site):
        """Returns the import statement of the name that a site uses, or None."""
        if site.node is None or not keras_uses.is_of_the_package(site.entry.symbol):
            return None
        if site.use.imported:
            return enclosing(site.node, IMPORTS)
        if site.use.origin.startswith("*"):
            return self._wildcard(site)
        return self._binding(site.text.partition(".")[0].strip())

    def _wildcard(self, site):
        """Finds the only `from module import *` of a site's module, or None."""
        module = site.origin.rpartition(".")[0]
        found = [
            node
            for node in self.tree.nodes("import_from_statement")
            if not node.children_by_field_name("name")
            and self.tree.module(node) == module
        ]
        return found[0] if len(found) == 1 else None

    def _binding(self, word):
        """Finds the import that binds a name; None if the file binds the name again."""
        bound = [node for node in self.tree.words.get(word, ()) if is_bound(node)]
        return enclosing(bound[0], IMPORTS) if len(bound) == 1 else None

    def _edit(self, statement):
        """Rewrites an import to tf.keras; None if a name would change its meaning."""
        if enclosing(statement, CONDITIONS) is not None:
            return None
        nodes = statement.children_by_field_name("name")
        names = [self.tree.imported(node) for node in nodes]
        if statement.type == "import_statement":
            return self._edit_plain(statement, names)
        module = self.tree.module(statement)
        if not keras_uses.is_of_the_package(module) or not _has_module(module):
            return None
        if not names and not _is_safe_whole(module):
            return None
        for name, alias in names:
            if not self._is_safe(f"{module}.{name}", alias or name):
                return None
        start = statement.child_by_field_name("module_name").start_byte
        return Edit(start, start, "tensorflow.")

    def _edit_plain(self, statement, names):
        """Rewrites `import keras` or `import keras.backend as K` as `_edit` does."""
        (name, alias), *more = names
        bound = alias or name
        if more or not keras_uses.is_of_the_package(name) or "." in bound:
            return None
        if not self._is_safe(name, bound):
            return None
        module, _, last = f"tensorflow.{name}".rpartition(".")
        also = f" as {alias}" if alias and alias != last else ""
        text = f"from {module} import {last}{also}"
        return Edit(statement.start_byte, statement.end_byte, text)

    def _is_safe(self, name, bound):
        """Whether all uses of an imported name mean the same in tf.keras.

        Args:
            name: the imported name, "keras.backend".
            bound: its name in the file.
        """
        if not _is_safe(name):
            return False
        if name != PACKAGE and not keras_names.is_module(_inner(name)):
            return True
        words = self.tree.words.get(bound, ())
        if sum(map(is_bound, words)) != 1:
            return False
        for node in words:
            if is_bound(node):
                continue
            path = _path(self.tree, node)
            safe = _is_safe(f"{name}.{path}") if path else _is_safe_whole(name)
            if not safe:
                return False
        return True


def _says_more(site):
    """Returns whether a use needs more changes after its import was rewritten."""
    if site.use.imported:
        return False
    known = entries.judge(site.symbol, site.use.call)
    return known is not None and known.verdict != "same"


def _path(tree, node):
    """Returns the attributes read from a name: "sum" for `K.sum(x)`, or ""."""
    path = []
    while (outer := node.parent).type == "attribute":
        if outer.child_by_field_name("object") != node:
            break
        path.append(tree.text(outer.child_by_field_name("attribute")))
        node = outer
    return ".".join(path)


def _inner(name):
    return name.removeprefix(PACKAGE).removeprefix(".")


def _has_module(module):
    return module == PACKAGE or keras_names.has(_inner(module), keras_names.TF_KERAS)


def _is_safe(name):
    """Whether a name is the same in keras and tf.keras, or missing in keras."""
    parts, known = _inner(name).split("."), keras_names.table()
    if standalone.is_new(name) and not keras_names.has(parts[0], keras_names.TF_KERAS):
        return False  # keras.src
    for end in range(1, len(parts) + 1):
        one = ".".join(parts[:end])
        if one not in known or not keras_names.has(one):
            continue
        if not keras_names.has(one, keras_names.TF_KERAS):
            return False
        if known[one].package == "differs":
            return False
    return True


def _is_safe_whole(module):
    """Whether every name of a module is the same in keras and tf.keras."""
    inside = f"{_inner(module)}." if module != PACKAGE else ""
    return all(
        _is_safe(f"{PACKAGE}.{name}")
        for name in keras_names.table()
        if name.startswith(inside)
    )
