"""`tf1to2 prove --init legacy/net.py`: a left page, a port and a test to start from.

The legacy module is read, never imported. Each public function with parameters becomes
a case, by what its code does: it runs a session, it has placeholders that somebody must
feed, it makes variables, or it is an op.
"""

import ast
import json
import os
import pathlib

from tf1to2.common import output
from tf1to2.common.errors import CommandError

SESSIONS = {"Session", "InteractiveSession", "MonitoredTrainingSession", "app_run"}
SESSIONS |= {"MonitoredSession", "SingularMonitoredSession", "managed_session"}
PLACEHOLDERS = {"placeholder", "placeholder_with_default"}
VARIABLES = {"get_variable", "Variable", "variable_scope", "dense", "conv2d"}
VARIABLES |= {"batch_normalization", "fully_connected", "dynamic_rnn"}

OP = """
def {name}({args}):
    return {module}.{name}({args})
"""
LAYER = """
def make_{name}():
    # Its variables are called "{name}/…".
    return tf.make_template("{name}", {module}.{name})
"""
PROGRAM = """
def {name}({args}):
    tf.set_random_seed(SEED)
    np.random.seed(SEED)
    return {module}.{name}({args})
"""
FED = """
def {name}({args}):
    tf.set_random_seed(SEED)
    np.random.seed(SEED)
    fetches = {module}.{name}({own})
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return sess.run(fetches, {{{feed}}})
"""
LEFT = '''"""Left page: {path}, as `tf1to2 record` runs it on TensorFlow 1."""

import numpy as np
import tensorflow as tf

{imported}

SEED = 1
'''
RIGHT = '''"""Right page: the port of {path}, with the names of {left}.py."""
'''
UNPORTED = """

def {function}({args}):
    raise NotImplementedError("{function} is to be ported")
"""
TEST = '''"""{path} and its port: `pytest`, or `tf1to2 prove {test}.py`."""

from tf1to2.parity import Pair{specs}

pair = Pair("{left}.py", "{right}.py"{folders})
# Each input is a guess: give the shapes, dtypes and values that you have.
{cases}
test_parity = pair.test()
'''
RECIPE = """wrote {files}
{skipped}
1. {test}: give each case the shapes, dtypes and values of your program
2. tf1to2 record {test}    TensorFlow 1.15.5 answers: commit its .npz
3. {right}: write the port; tf1to2 scan {path} tells what to change
4. tf1to2 prove {test}     every leaf: identical, or how far; pytest does it in CI
5. tf1to2 mutate {test}    breaks the port: what does no case notice?"""


def write(legacy, folder="."):
    """Writes the files.

    Args:
        legacy: path of the module of TensorFlow 1.
        folder: where they go.

    Returns:
        What to do next, as text.

    Raises:
        CommandError: the module cannot be read or has no such function; a file exists.
    """
    source, folder = pathlib.Path(legacy), pathlib.Path(folder)
    functions, skipped = _functions(source)
    stem = source.stem if source.stem.isidentifier() else "net"
    names = {"left": f"left_{stem}", "right": f"port_{stem}", "test": f"test_{stem}"}
    paths = {key: folder / f"{name}.py" for key, name in names.items()}
    for path in [*paths.values(), folder / f"{names['test']}.npz"]:
        if path.exists():
            raise CommandError(f"{path} is there already: --output names a folder")
    module, imported, folders = _import_of(source, folder)
    shown = os.path.relpath(source, folder)
    texts = {
        "left": LEFT.format(path=shown, imported=imported)
        + "".join("\n" + f.left(module) for f in functions),
        "right": RIGHT.format(path=shown, **names)
        + "".join(UNPORTED.format(**f.right) for f in functions),
        "test": TEST.format(
            path=shown,
            specs="".join(f", {s}" for s in _used(functions)),
            folders=folders,
            cases="\n".join(f.case for f in functions),
            **names,
        ),
    }
    for key, text in texts.items():
        output.save(paths[key], text)
    return RECIPE.format(
        files=", ".join(str(path) for path in paths.values()),
        skipped="".join(f"left out: {what}\n" for what in skipped),
        path=source,
        **paths,
    )


class _Function:
    """A public function of a legacy module."""

    def __init__(self, node):
        self.name = node.name
        arguments = node.args
        required = len(arguments.args) - len(arguments.defaults)
        self.own = [a.arg for a in arguments.args[:required]]
        called = {_called(n) for n in ast.walk(node) if isinstance(n, ast.Call)}
        self.fed = [] if called & SESSIONS else list(_placeholders(node))
        self.kind = "op"
        if called & SESSIONS or self.fed:
            self.kind = "program"
        elif called & VARIABLES:
            self.kind = "layer"

    @property
    def args(self):
        return self.own + [name for name, *_ in self.fed]

    def left(self, module):
        template = {"op": OP, "layer": LAYER, "program": PROGRAM}[self.kind]
        feed = [f'"{tensor}:0": {name}' for name, tensor, *_ in self.fed]
        return (FED if self.fed else template).format(
            name=self.name,
            module=module,
            args=", ".join(self.args),
            own=", ".join(self.own),
            feed=", ".join(feed),
        )

    @property
    def right(self):
        if self.kind == "layer":
            return {"function": f"make_{self.name}", "args": ""}
        return {"function": self.name, "args": ", ".join(self.args)}

    @property
    def specs(self):
        letters = self.kind != "program"
        guessed = ['normal("n", 3)' if letters else "normal(8, 3)"] * len(self.own)
        return guessed + [spec for *_, spec in self.fed]

    @property
    def case(self):
        lines = [f'    "{self.right["function"]}",', '    "first",']
        lines += [
            f"    {spec},  # {name}"
            for spec, name in zip(self.specs, self.args, strict=True)
        ]
        return "\n".join([f"pair.{self.kind}(", *lines, ")"])


def _functions(source):
    """([`_Function`], [what was left out])."""
    try:
        tree = ast.parse(source.read_bytes())
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"{source} is no Python 3: {error}") from error
    found, skipped = [], []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        function = _Function(node)
        if node.name == "main" or not function.args:
            why = "runs the program" if node.name == "main" else "takes no arguments"
            skipped.append(
                f"{node.name}, which {why}: if it trains, prove it as a program, "
                "pair.program(…)"
            )
        else:
            found.append(function)
    if not found:
        raise CommandError(
            f"{source} has no public function with parameters: write one that takes "
            "what its placeholders take"
        )
    return found, skipped


def _called(call):
    """The last name of what is called: placeholder of tf.placeholder."""
    return getattr(call.func, "attr", getattr(call.func, "id", None))


def _placeholders(node):
    """Yields (argument, name of the tensor, spec) of each placeholder of a function."""
    seen = {}
    for statement in ast.walk(node):
        call = getattr(statement, "value", None)
        if not (isinstance(statement, ast.Assign) and isinstance(call, ast.Call)):
            continue
        if _called(call) not in PLACEHOLDERS:
            continue
        keywords = {k.arg: k.value for k in call.keywords}
        name = keywords.get("name", call.args[2] if len(call.args) > 2 else None)
        default = (
            "Placeholder"
            if _called(call) == "placeholder"
            else "PlaceholderWithDefault"
        )
        tensor = name.value if isinstance(name, ast.Constant) else default
        number = seen[tensor] = seen.get(tensor, -1) + 1
        tensor += f"_{number}" if number else ""
        target = getattr(statement.targets[0], "id", None) or tensor.lower()
        dtype = keywords.get("dtype", call.args[0] if call.args else None)
        shape = keywords.get("shape", call.args[1] if len(call.args) > 1 else None)
        yield target, tensor, _spec(dtype, shape)


def _spec(dtype, shape):
    """A description of an array for a placeholder's dtype and shape."""
    sizes = getattr(shape, "elts", None)
    dims = [s.value if isinstance(s, ast.Constant) else None for s in sizes or [None]]
    text = ", ".join(str(d if isinstance(d, int) else 8) for d in dims)
    dtype = getattr(dtype, "attr", "float32")
    if dtype.startswith("int"):
        more = "" if dtype == "int32" else f', dtype="{dtype}"'
        return f"integers({text}{more})"
    return f"booleans({text})" if dtype == "bool" else f"normal({text})"


def _used(functions):
    specs = {spec.partition("(")[0] for f in functions for spec in f.specs}
    return sorted(specs)


def _import_of(source, folder):
    """(what the module is called, the line that imports it, what `Pair` must know)."""
    from tf1to2.pages import page

    folder, path = folder.resolve(), source.resolve()
    above = page.folders_of(folder)
    root = page.root_of(path, above)
    # Where what it imports is found, it is imported from, too.
    imported = page.imports(path.stem, path)
    from_here = [p for p in path.parents if any(page.file_of(p, n) for n in imported)]
    if from_here and not (path.parent / "__init__.py").exists():
        root = from_here[-1]
    parts = path.relative_to(root).with_suffix("").parts
    line = f"import {parts[-1]}"
    if len(parts) > 1:
        line = f"from {'.'.join(parts[:-1])} import {parts[-1]}"
    needed = [os.path.relpath(p, folder) for p in {root, *from_here} - {*above}]
    return parts[-1], line, f", folders={json.dumps(sorted(needed))}" if needed else ""
