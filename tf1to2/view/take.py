"""`tf1to2 take`: copies definitions, with all that they need, into one file."""

import ast
import functools
import re
import sys
import textwrap

from tf1to2 import __version__
from tf1to2.common.errors import CommandError
from tf1to2.common.words import nearest
from tf1to2.pages import library
from tf1to2.pages.definitions import Definition, bound_by, needed

HEAD = '''"""TensorFlow 1's numbers in native TensorFlow 2.

{names}

Taken by `tf1to2 take` from tf1to2 {version}, where each is compared with TensorFlow
1.15.5. It needs nothing else of that project.

{sources}

SPDX-License-Identifier: Apache-2.0
"""
'''


def add_arguments(parser):
    """Adds the command's own arguments."""
    parser.add_argument(
        "name",
        nargs="*",
        metavar="NAME",
        help="definition to copy: optimizers.Adam, lstm_to_keras, keras.layers.train",
    )
    parser.add_argument("--list", action="store_true", help="list the names")
    parser.add_argument(
        "--output-file", metavar="FILE", help="write the code to a file"
    )
    parser.set_defaults(run=run)


def run(options):
    """Runs the command: writes a file, or lists the names.

    Returns:
        0.
    """
    from tf1to2.common import output
    from tf1to2.common.tables import table

    if options.list == bool(options.name):
        raise CommandError("take needs names; tf1to2 take --list shows them")
    if options.list:
        rows = [(name, d.first_line) for name, d in available().items()]
        output.write(table(("name", "what it is"), rows) + "\n", options.output_file)
    else:
        output.write(taken(options.name), options.output_file)
    return 0


@functools.cache
def available():
    """Returns {name: Definition} of all names that `take` lists.

    First names of numerics, then pairs and other names of right pages, then names of
    Keras pages, "keras.layers.train".
    """
    found = {
        name: definition
        for name, definition in library.numerics().items()
        if not _is_short(definition)  # comes with definitions that need it
    }
    pairs = {name: right for name, (_, right) in library.pairs().items()}
    for name, definition in {**pairs, **library.documented()}.items():
        if not definition.module.name.startswith(library.NUMERICS):  # listed above
            found.setdefault(name, definition)
    return {name: found[name] for name in found if _is_whole(found[name])}


@functools.cache
def assigned():
    """Returns {name: Definition} of short assignments that `take` does not list.

    They can be taken, but are not listed: they come with definitions that need them.
    """
    found = {}
    for name, definition in available().items():
        prefix = name.rpartition(".")[0]
        for other, assignment in definition.module.definitions.items():
            if _is_short(assignment) and not other.startswith("_"):
                found.setdefault(f"{prefix}.{other}", assignment)
    return {n: d for n, d in found.items() if n not in available() and _is_whole(d)}


def _is_whole(definition):
    """Whether a definition imports no library module, so that it can be copied."""
    statements = (i.statement for i in needed([definition])[1])
    return not any(library.edition().module(s.split()[1]) for s in statements)


def taken(names):
    """One Python file with some definitions and all that they need.

    Args:
        names: list of names as `available` or `assigned` has them, or of their last
            parts.

    Returns:
        The text of the file.

    Raises:
        CommandError: the name is unknown, or several modules have it.
    """
    return together([_found(name) for name in names])


def _found(name):
    there = {**available(), **assigned()}
    ends = [
        [n for n in kind if n.endswith(f".{name}")]
        for kind in (available(), assigned())
    ]
    named = [name] if name in there else ends[0] or ends[1]
    if len(named) > 1:
        raise CommandError(f"{name} can be {' or '.join(named)}: give one of these")
    if not named:
        hint = nearest(name, there) or "tf1to2 take --list"
        raise CommandError(f"take has no name {name}; {hint}")
    return there[named[0]]


def together(definitions):
    """Works as `taken`, but takes a list of `Definition` instead of names."""
    parts, imports = needed(definitions)
    called = naming(parts, imports)
    modules = list(dict.fromkeys(part.module for part in parts))
    parents = {module: _folder(module) for module in modules}
    sources = "\n".join(
        "{}: {}".format(
            parents[module],
            ", ".join(called[part] for part in parts if part.module is module),
        )
        for module in modules
    )
    text = HEAD.format(
        names=_filled(", ".join(dict.fromkeys(called[d] for d in definitions))),
        version=__version__,
        sources=_filled(sources),
    )
    return text + "\n" + code(parts, imports, called)


def code(parts, imports, called, more=""):
    """Writes imports and definitions as the source code of one file.

    Args:
        parts: [Definition], in an order that runs.
        imports: [Import].
        called: {Definition: its name in the file}, see `naming`.
        more: lines below the imports.
    """
    standard = [i.statement for i in imports if not _foreign(i.statement)]
    foreign = [i.statement for i in imports if _foreign(i.statement)]
    groups = ["\n".join(group) for group in (standard, foreign, [more]) if any(group)]
    bodies = []
    once = {}
    for part in parts:  # two modules may have the same assignment
        once.setdefault(called[part], part)
    parts = list(once.values())
    for part, previous in zip(parts, [None, *parts]):
        tight = previous is not None and _is_short(part) and _is_short(previous)
        if previous is None and _is_short(part):  # below the imports
            gap = "\n\n"
        else:
            gap = "\n" if tight else "\n\n\n"
        bodies.append(gap + _renamed(part, called))
    return ("\n\n".join(groups) + "".join(bodies)).strip() + "\n"


def _folder(module):
    return module.name.replace(".", "/") + ".py"


def _is_short(part):
    return isinstance(part.node, (ast.Assign, ast.AnnAssign))


def _foreign(statement):
    top = re.split(r"[ .]", statement)[1]
    return top not in sys.stdlib_module_names


def _filled(text, width=88):
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="    ", break_on_hyphens=False)
        for line in text.split("\n")
    )


def naming(parts, imports, first=()):
    """Returns {Definition: name in the file}; a prefix separates equal names.

    Definitions in `first` get no prefix, and neither do others of their modules. Equal
    assignments, such as `keras = tf.keras` in two modules, share one name.
    """
    used, called, said = {i.name for i in imports}, {}, {}
    near = {part.module for part in first}

    def order(part):
        # A public name has no prefix if the other one is a private helper.
        return part not in first, part.module not in near, part.name.startswith("_")

    for part in sorted(parts, key=order):
        if _is_short(part):
            twin = said.setdefault(_meaning(part), part)
            if twin is not part:
                called[part] = called[twin]
                continue
        name, private = part.name, "_" * part.name.startswith("_")
        for module in (part.module.name.rpartition(".")[2], part.module.name):
            if name in used:
                prefix = module.replace(".", "_")
                name = f"{private}{prefix}_{part.name.lstrip('_')}"
        used.add(name)
        called[part] = name
    return called


def _meaning(part):
    """Returns a definition's source, with full names for all outside names."""
    whole = {part: part.name}
    for _, what in part.references:
        if isinstance(what, Definition):
            whole[what] = f"{what.module.name}.{what.name}"
    return _renamed(part, whole)


def _renamed(part, called):
    """Returns a definition's source, with its names replaced by the file's names."""
    edits = [
        (_span(node), _name_in_file(node, what, called))
        for node, what in part.references
        if isinstance(what, Definition)
    ]
    if called[part] != part.name:
        edits += _own_names(part, called)
    lines = [
        line.encode() for line in part.module.lines[part.start - 1 : part.stop - 1]
    ]
    for (line, start, end_line, stop), name in sorted(edits, reverse=True):
        line, end_line = line - part.start, end_line - part.start
        rest = lines[end_line][stop:]
        lines[line : end_line + 1] = [lines[line][:start] + name.encode() + rest]
    return b"\n".join(lines).decode()


def _name_in_file(node, what, called):
    """Returns the name that the file uses for an expression, a name or attribute."""
    name = node.id if isinstance(node, ast.Name) else node.attr
    if name == what.name or name not in bound_by(what.node):  # imported `as`
        return called[what]
    prefix = called[what].removesuffix(what.name.lstrip("_"))
    return prefix + name.lstrip("_")


def _span(node):
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _own_names(part, called):
    """Yields (span, new name) for each name that the definition itself binds."""
    node = part.node
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in bound_by(node):
            yield _span(inner), _name_in_file(inner, part, called)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        line = part.module.lines[node.lineno - 1].encode()
        word = re.compile(rb"(?:def|class)\s+").search(line, node.col_offset)
        stop = word.end() + len(part.name.encode())
        yield (node.lineno, word.end(), node.lineno, stop), called[part]
