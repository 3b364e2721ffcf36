"""`tf1to2 prove --init legacy/net.py`: writes a left page, a port and a test."""

import json
import os
import pathlib
import re

from tf1to2.common import output
from tf1to2.common.errors import CommandError
from tf1to2.prove.legacy_file import AS_SPARSE, Script, entries, imported

LEFT = '''"""Left page: {path}, as `tf1to2 record` runs it on TensorFlow 1."""

{imported}
'''
RIGHT = '''"""Right page: the port of {path}, with the names of {left}.py."""
'''
UNPORTED = """

def {function}({args}):
{note}    raise NotImplementedError("port {function}")
"""
TEST = '''"""{path} and its port: `pytest`, or `tf1to2 prove {test}.py`."""

from tf1to2.parity import Pair{specs}

pair = Pair("{left}.py", "{right}.py"{more})
{cases}
test_parity = pair.test()
'''
GUESS = "# The inputs are guesses: use the shapes, dtypes and values of your program.\n"
# The modules that a left page may use, and the lines that import them.
IMPORTS = {
    "sys.": "import sys",
    "types.": "import types",
    "np.": "import numpy as np",
    "tf.": "import tensorflow as tf",
}
RECIPE = """wrote {files}
{skipped}
1. {test}: give each case the shapes, dtypes and values of your program
2. tf1to2 record {test}    records the answers of TensorFlow 1.15.5: commit its .npz
3. {right}: write the port; tf1to2 scan {path} lists what to change
4. tf1to2 prove {test}     compares every array with the recording; in CI: pytest
5. tf1to2 mutate {test}    breaks the port, and lists changes that no case notices"""


def write(legacy, folder="."):
    """Writes the left page, the port and the test.

    Args:
        legacy: path of the module of TensorFlow 1.
        folder: the folder for these files.

    Returns:
        The next steps, as text.

    Raises:
        CommandError: the module cannot be read, or has no function to port; or a file
            exists.
    """
    source, folder = pathlib.Path(legacy), pathlib.Path(folder)
    found, skipped = entries(source)
    stem = source.stem if source.stem.isidentifier() else "net"
    names = {"left": f"left_{stem}", "right": f"port_{stem}", "test": f"test_{stem}"}
    paths = {key: folder / f"{name}.py" for key, name in names.items()}
    for path in [*paths.values(), folder / f"{names['test']}.npz"]:
        if path.exists():
            raise CommandError(f"{path} exists: give another folder, --output DIR")
    module, folders = _import_of(source, folder)
    shown = os.path.relpath(source, folder)
    cases = "\n".join(map(_case, found))
    specs = sorted(set(re.findall(r"\b(normal|integers|booleans)\(", cases)))
    texts = {
        "left": _left(found, shown, module),
        "right": RIGHT.format(path=shown, **names) + "".join(map(_right, found)),
        "test": TEST.format(
            path=shown,
            specs="".join(f", {spec}" for spec in specs),
            more=folders + _settings(source, found),
            cases=GUESS * any(one.args for one in found) + cases,
            **names,
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for key, text in texts.items():
        output.save(paths[key], text)
    return RECIPE.format(
        files=", ".join(str(path) for path in paths.values()),
        skipped="".join(f"left out: {what}\n" for what in skipped),
        path=source,
        **paths,
    )


def _left(found, shown, module):
    """The text of the left page."""
    called = module.rpartition(".")[2]
    while any(called in one.args for one in found):
        called += "_file"
    body = "".join("\n" + one.left(module, called) for one in found)
    if "as_sparse(" in body:
        body = AS_SPARSE + body
    used = [line for name, line in IMPORTS.items() if re.search(rf"\b{name}", body)]
    standard = [line for line in used if " as " not in line]
    script = isinstance(found[0], Script)  # its case imports it
    groups = [
        standard,
        used[len(standard) :],
        [] if script else [imported(module, called)],
    ]
    text = "\n\n".join("\n".join(group) for group in groups if group)
    return LEFT.format(path=shown, imported=text) + body


def _right(entry):
    """Returns the code of an unported function, for the user to complete."""
    name, args = entry.right
    return UNPORTED.format(function=name, args=", ".join(args), note=entry.note)


def _case(entry):
    """Returns the code that adds the case of an entry to the pair."""
    if isinstance(entry, Script):
        return f'pair.program("{entry.right[0]}", "all of it")'
    lines = [f'    "{entry.right[0]}",', '    "first",']
    lines += [
        f"    {spec},  # {name}"
        for spec, name in zip(entry.specs, entry.args, strict=True)
    ]
    return "\n".join([f"pair.{entry.kind}(", *lines, ")"])


def _settings(source, found):
    """Returns the code of `Pair`'s arguments after the paths: ", seed=1"."""
    seed = any(one.kind != "op" for one in found)
    wide = re.search(rb"\bfloat32\b", source.read_bytes())
    return ", seed=1" * seed + ", widen=True" * bool(wide)


def _import_of(source, folder):
    """Returns a module's dotted name, and the code of `folders` for `Pair` or ""."""
    from tf1to2.pages import page

    folder, path = folder.resolve(), source.resolve()
    above = page.folders_of(folder)
    root = page.root_of(path, above)
    needs = page.imports(path.stem, path)
    beside = {name for name in needs if page.file_of(path.parent, name)}
    if (
        beside
    ):  # as Python finds modules beside a program, with `__init__.py` or without
        root = path.parent
    found = [
        next((p for p in path.parents if page.file_of(p, name)), root)
        for name in sorted(needs - beside)
    ]
    folders = [p for p in dict.fromkeys([root, *found]) if p not in above]
    parts = path.relative_to(root).with_suffix("").parts
    shown = [os.path.relpath(p, folder) for p in folders]
    given = f", folders={json.dumps(shown)}" if shown else ""
    return ".".join(parts), given
