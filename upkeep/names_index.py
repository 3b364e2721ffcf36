"""Makes the index of names, guide/names/: the replacement of each name, by module.

A large module has a file of its own; small modules share `others.md`. Names of contrib
without a row of their own are listed with the row of their module.
"""

import functools
import re

from tf1to2.catalog import entries as catalog
from tf1to2.catalog import facts, verdicts
from tf1to2.pages import topics

FULL = 55_000  # maximum number of bytes of a file
SMALL = 3_000
HEAD = "| name | verdict | write | pair |\n|---|---|---|---|"


def files():
    """Makes the files of guide/names: {file name: text}."""
    parts = {module: _module(names) for module, names in _modules().items()}
    shelves, others = {}, []
    for module, text in parts.items():
        if module.startswith("tf.contrib"):
            continue
        if len(text.encode()) < SMALL:
            others.append(module)
        else:
            shelves.update(_shelved([module], parts, module.rpartition(".")[2]))
    shelves.update(_shelved(others, parts, "others"))
    contrib = [module for module in parts if module.startswith("tf.contrib")]
    shelves.update(_shelved(contrib, parts, "contrib"))
    found = {"README.md": _entry(shelves)}
    for file, modules in shelves.items():
        title = _title(file, modules)
        texts = "".join(f"\n## {part}\n\n{text}" for part, text in modules.items())
        found[file] = f"# {title}\n\n[All modules](README.md)\n{texts}"
    return found


def _shelved(modules, parts, stem):
    """Distributes module texts over files of limited size: {file: {heading: text}}."""
    shelves, size = [{}], 0
    for module in modules:
        for heading, text in _split(module, parts[module]):
            size += len(text.encode()) + len(heading) + 8
            if size > FULL and shelves[-1]:
                shelves.append({})
                size = len(text.encode())
            shelves[-1][heading] = text
    names = [f"{stem}.md", *(f"{stem}-{n}.md" for n in range(2, len(shelves) + 1))]
    return dict(zip(names, shelves, strict=True))


def _split(module, text):
    """Splits a module's text into pieces that fit into a file: [(heading, text)]."""
    pieces, rows = [], []
    for row in text.split("\n"):
        if rows and sum(len(r.encode()) + 1 for r in [*rows, row]) > FULL - 2_000:
            pieces.append(rows)
            rows = HEAD.split("\n") if row.startswith("|") else []
        rows.append(row)
    pieces.append(rows)
    headings = [module, *(f"{module}, {n}" for n in range(2, len(pieces) + 1))]
    return [(h, "\n".join(rows)) for h, rows in zip(headings, pieces, strict=True)]


def _title(file, modules):
    first, last = list(modules)[0], list(modules)[-1]
    if file.startswith("others"):
        return "Names of small modules"
    if first == last:
        return f"Names of {first}"
    return f"Names of {first} to {last.removeprefix('tf.')}"


def _entry(shelves):
    lines = [
        "# Names",
        "",
        "The replacement of every public name of TensorFlow 1.15.5, by module. "
        "`tf1to2 explain NAME` says more: which arguments changed, and the code.",
        "",
    ]
    for file, headings in shelves.items():
        for module in [one for one in headings if one in _modules()]:
            count = len(_modules()[module])
            anchor = re.sub(r"[^\w -]", "", module.lower()).replace(" ", "-")
            names = f"{count} name{'s' * (count != 1)}"
            lines.append(f"- [{module}]({file}#{anchor}): {names}")
    return "\n".join(lines) + "\n"


@functools.cache
def _modules():
    """Groups all names by module: "tf", "tf.contrib.rnn"; {module: its names}."""
    found = {}
    for name in catalog.symbols():
        parts = name.split(".")
        if name.startswith("tf.contrib."):
            module = ".".join(parts[:3])
        elif name.startswith("."):
            module = "Members of objects"
        else:
            inner = len(parts) > 2 and _is_module(".".join(parts[:2]))
            module = ".".join(parts[:2]) if inner else "tf"
        found.setdefault(module, []).append(name)
    return found


def _is_module(name):
    fact = facts.fact(name)
    return fact is None or fact.kind == "module"


def _module(names):
    """Makes the table of a module's names, and lists the names without a row."""
    entries = {name: catalog.lookup(name) for name in names}
    groups, rows, parts = {}, [], []
    for name, entry in entries.items():
        plain = name.startswith("tf.contrib.") and name not in verdicts.table()[0]
        key = _said(entry) if plain else name
        groups.setdefault("same" if entry.verdict == "same" else key, []).append(name)
    same = groups.pop("same", [])
    for group in groups.values():
        verdict, write, link = _said(entries[group[0]])
        if len(group) == 1:
            write = write.replace("|", "\\|")
            rows.append(f"| `{group[0]}` | {verdict} | {write} | {link} |")
        else:
            what = f"{verdict}: {write}" if write else verdict
            parts.append(f"{_list(group)}: {what}{f' ({link})' if link else ''}\n")
    if same:
        parts.append(f"The same in TensorFlow 2: {_list(same)}.\n")
    return "\n".join(["\n".join([HEAD, *rows]) + "\n"] * bool(rows) + parts)


def _said(entry):
    """Formats a name's verdict, its replacement, and the link to its pair."""
    write = f"`{entry.form}`" if entry.form else entry.becomes or entry.what
    return entry.verdict, write, _link(entry.pair)


def _link(pair):
    topic = pair.partition(".")[0]
    return f"[{pair}](../{topic}.md)" if topic in _topics() else ""


@functools.cache
def _topics():
    return topics.topics()


def _list(names):
    return ", ".join(f"`{name}`" for name in names)
