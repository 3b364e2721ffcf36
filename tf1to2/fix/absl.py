"""Rewrites tf.flags, tf.logging and tf.app.run to the modules of absl.

Flags change only in the files that flags.py allows.
"""

from tf1to2.fix import arguments, imports
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.sites import is_bound

LOGS = {"debug", "info", "warn", "warning", "error", "flush"}
# The first argument is a level: TensorFlow and absl have different numbers for it.
LEVELLED = {"set_verbosity", "log", "log_every_n", "log_first_n", "log_if"}
LEVELS = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
KEYWORDS = {"flag_name": "name", "default_value": "default", "docstring": "help"}
MODULES = {
    "tf.app.flags": "flags",
    "tf.flags": "flags",
    "tf.logging": "logging",
    "tf.app": "app",
    "tf.python.platform.flags": "flags",
    "tf.python.platform.tf_logging": "logging",
    "tf.python.platform.app": "app",
}
OWN = ("tf_decorator", "absolute_import", "division", "print_function")


def part(symbol):
    """Splits "tf.app.flags.X" into ("flags", "X"); None for names of other modules."""
    for module, name in MODULES.items():
        if symbol == module:
            return name, ""
        if symbol.startswith(module + ".") and not (
            module == "tf.app" and symbol.startswith("tf.app.flags")
        ):
            return name, symbol[len(module) + 1 :]
    return None


def is_of_flags(symbol):
    """Returns whether a TensorFlow name belongs to the module tf.flags."""
    return (part(symbol) or ("",))[0] == "flags"


def is_read(site):
    """Returns whether a site reads the value of a flag, such as FLAGS.steps."""
    found = part(site.symbol)
    return found is not None and found[0] == "flags" and found[1].startswith("FLAGS.")


class Absl:
    """Rewrites the uses of tf.flags, tf.logging and tf.app in one file to absl.

    Args:
        tree: `sites.Tree`.
        sites: its `Site`s.
        flags: whether the file may use absl's flags.
    """

    def __init__(self, tree, sites, flags):
        self.tree, self.flags = tree, flags
        self.sites = [site for site in sites if part(site.symbol)]
        self.aliases, self.kept = {}, set()
        for site in self.sites:
            self._find_alias(site)
        self.local = imports.imported(tree, "absl")

    def name(self, module, site):
        """Returns the name by which the code at a site can use an absl module."""
        known = self.aliases.get(module)
        if known and known[1] < site.node.start_byte:
            return known[0]
        return self.local.get(module) or imports.free(self.tree, f"absl.{module}")

    def change(self, site):
        """Returns the `Change` of one site to absl; None if it is not certain."""
        found = part(site.symbol)
        if found is None or site.node is None:
            return None
        module, rest = found
        if not rest:
            return self._alias(site, module)
        prefix = site.prefix()
        if prefix is None or prefix != "tf" or not self._is_certain(site, module, rest):
            return self._keywords(site, module, rest)
        name = self.name(module, site)
        words = len(site.text.split(".")) - len(rest.split("."))
        end = site.node.start_byte + len(".".join(site.text.split(".")[:words]))
        edits = [Edit(site.node.start_byte, end, name)]
        if rest == "warn":
            edits = [Edit(site.node.start_byte, site.node.end_byte, f"{name}.warning")]
        if rest == "run" and not site.arguments.named_children:
            at = site.arguments.start_byte + 1
            edits.append(Edit(at, at, "main"))
        more = self._keywords(site, module, rest)
        edits += more.edits if more else ()
        needs = name == imports.free(self.tree, f"absl.{module}")
        return Change(tuple(edits), (f"absl.{module}",) if needs else ())

    def follows(self, site):
        """Returns whether rewriting an import or an alias also ports this name."""
        found = part(site.symbol)
        if found is None or site.prefix() == "tf":
            return False
        module = found[0]
        return module in self.aliases or (
            module == "flags" and self.flags and "flags" not in self.kept
        )

    def _is_certain(self, site, module, rest):
        if module == "logging":
            return self._logs(site, rest)
        if module == "app":
            return rest == "run" and self._runs(site)
        return self.flags and rest.partition(".")[0] not in OWN

    def _logs(self, site, rest):
        if rest in LOGS:
            return True
        if rest in LEVELLED and site.call is not None:
            first = next(iter(site.arguments.named_children), None)
            text = self.tree.text(first) if first is not None else ""
            return any(text == f"{_owner(site.text)}.{level}" for level in LEVELS)
        if rest in LEVELS:
            around = site.node.parent
            call = around.parent if around.type == "argument_list" else None
            if call is None or around.named_children[0] != site.node:
                return False
            function = self.tree.text(call.child_by_field_name("function"))
            return _owner(function) == _owner(site.text) and (
                function.rpartition(".")[2] in LEVELLED
            )
        return False

    def _runs(self, site):
        """Returns whether a site is `tf.app.run(main)`, or `run()` with a `main`."""
        given = arguments.bound(site, "(main=None, argv=None)")
        if given is None or any(one.name == "argv" for one in given):
            return False
        if given:
            return self.tree.text(given[0].value) != "None"
        return any(
            node.parent.type == "function_definition"
            and node.parent.parent == self.tree.root
            for node in self.tree.words.get("main", ())
        )

    def _keywords(self, site, module, rest):
        """Renames keywords that differ in absl: `flag_name=` becomes `name=`."""
        if (
            module != "flags"
            or site.arguments is None
            or not rest.startswith("DEFINE_")
        ):
            return None
        if site.arguments.type != "argument_list":
            return None
        edits = []
        for node in site.arguments.named_children:
            if node.type == "keyword_argument":
                label = node.child_by_field_name("name")
                name = KEYWORDS.get(self.tree.text(label))
                if name:
                    edits.append(Edit(label.start_byte, label.end_byte, name))
        return Change(tuple(edits)) if edits else None

    # `flags = tf.app.flags`, which becomes an import.

    def _find_alias(self, site):
        found = _assigned(site)
        module = part(site.symbol)[0]
        if not found or part(site.symbol)[1]:
            return
        statement, name = found
        bound = [n for n in self.tree.words.get(name, ()) if is_bound(n)]
        through = [s for s in self.sites if s.node is not None and s.node != site.node]
        through = [s for s in through if s.text.split(".")[0] == name]
        certain = all(
            self._is_certain(s, *part(s.symbol)) for s in through if part(s.symbol)[1]
        )
        if len(bound) == 1 and certain and (module != "flags" or self.flags):
            self.aliases[module] = name, statement.start_byte
        else:
            self.kept.add(module)

    def _alias(self, site, module):
        found = _assigned(site)
        if not found or self.aliases.get(module, ("",))[0] != found[1]:
            return None
        statement, name = found
        text = f"from absl import {module}" + (f" as {name}" if name != module else "")
        return Change((Edit(statement.start_byte, statement.end_byte, text),))


def _owner(text):
    return text.rpartition(".")[0]


def _assigned(site):
    """Returns (statement, name) if a site imports or assigns a module, else None."""
    around = site.node.parent if site.node is not None else None
    if around is None:
        return None
    if around.type == "import_from_statement":
        if around.parent.type != "module" or around.named_child_count != 2:
            return None
        dotted, alias = site.tree.imported(site.node)
        return around, alias or dotted
    if around.type != "assignment" or site.prefix() != "tf":
        return None
    left, statement = around.child_by_field_name("left"), around.parent
    if left.type != "identifier" or around.child_by_field_name("right") != site.node:
        return None
    if statement.type != "expression_statement" or statement.parent.type != "module":
        return None
    return statement, site.tree.text(left)
