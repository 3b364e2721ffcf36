"""Finds the functions and classes of a legacy file that can be a left page.

The file is read, never imported. The code of a function decides its kind of case: it
runs a session, it has placeholders, it makes variables, or it is an op. A class with
placeholders becomes a program that yields its fetches. A file that does its work while
it is imported becomes a program that imports it.
"""

import ast
import re

from tf1to2.common.errors import CommandError

SESSIONS = {"Session", "InteractiveSession", "MonitoredTrainingSession", "app_run"}
SESSIONS |= {"MonitoredSession", "SingularMonitoredSession", "managed_session"}
SPARSE = "sparse_placeholder"
DEFAULT = {
    "placeholder": "Placeholder",
    "placeholder_with_default": "PlaceholderWithDefault",
}
"""The names that a graph gives to placeholders without a name."""
PLACEHOLDERS = {*DEFAULT, SPARSE}
FITS = {"fit", "fit_generator", "train_on_batch"}
VARIABLES = {"get_variable", "Variable", "variable_scope", "dense", "conv2d"}
VARIABLES |= {"batch_normalization", "fully_connected", "dynamic_rnn"}
BUILDS = re.compile(r"_*(build|create|make|construct|add|set_?up|init)(_|$)")
SHOWN = re.compile(r"(?i).*(loss|cost|accuracy|error|logits|pred|prob|norm$|output)")
STEPS = {"minimize", "apply_gradients"}
NAMED_STEP = re.compile(r"(?i).*(train|opt|update)\w*(op|step)$|train(_|$)")

NUMBERS = (
    (
        re.compile(
            "(size|num|dim|units|classes|layers|steps|length|count)s?$|^n(um)?_"
        ),
        "8",
    ),
    (re.compile("(rate|lr|prob|decay|scale|epsilon|temperature)$"), "0.5"),
)

OP = """
def {name}({args}):
    return {module}.{name}({args})
"""
LAYER = """
def make_{name}():
    # Its variables are called "{name}/…".
    return tf.make_template("{name}", {module}.{name})
"""
FED = """
def {name}({args}):
    fetches = {module}.{name}({own})
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return sess.run(fetches, {{{feed}}})
"""
CLASS = """
def {name}({args}):
    built = {module}.{cls}({own})
{builds}    fetches = {fetches}
{maybe}    feed = {feed}
    for _ in range(3):
        yield fetches, feed
"""
MAYBE = """\
    conditional = {names}
    for name in conditional:
        if hasattr(built, name):
            fetches[name.lstrip("_")] = getattr(built, name)
"""
SCRIPT = '''
def {name}():
    """All of {file}: give it few steps and little data, by its flags or files."""
    sys.modules.pop("{module}", None)
    {imported}

    return {fetched}
'''
AS_SPARSE = '''

def as_sparse(x):
    """The value for a sparse placeholder, from a dense array."""
    where = np.nonzero(x)
    return tf.SparseTensorValue(np.transpose(where), x[where], x.shape)
'''
STEPPED = """\
    # Yield {{{fetches}}} for each step, then return {{name: variable}}.
"""


def imported(module, called):
    """Returns the code that imports a module under a local name."""
    package, _, name = module.rpartition(".")
    line = f"from {package} import {name}" if package else f"import {name}"
    return line if called == name else f"{line} as {called}"


class Entry:
    """A part of a legacy file that becomes a case.

    Attributes:
        name: of the function of the left page, and of the port's.
        kind: of the case.
        own: the parameters of the legacy code.
        fed: its placeholders, as `Placeholder`s.
        note: comments in the port that say what to write.
    """

    kind, own, fed, note = "program", (), (), ""

    def left(self, module, called):
        """Returns the code of the left page's function."""
        raise NotImplementedError

    @property
    def args(self):
        """Lists the parameters of both pages: first `own`, then the placeholders'."""
        return [*self.own, *self._feeding]

    @property
    def _feeding(self):
        """Returns {parameter: `Placeholder`}, by the placeholder that it feeds."""
        names = [one.target.rpartition(".")[2].lstrip("_") for one in self.fed]
        names = [f"{n}_fed" if n in self.own else n for n in names]
        return dict(zip(names, self.fed, strict=True))

    @property
    def specs(self):
        """Lists the code of an array, such as `normal(8)`, for each of `args`."""
        return [*map(self._guess, self.own), *(one.spec for one in self.fed)]

    def _guess(self, name):
        number = next((value for words, value in NUMBERS if words.search(name)), None)
        return number or "normal(8, 3)"

    @property
    def right(self):
        """Returns the name and the parameters of the port's function."""
        return self.name, self.args


class Function(Entry):
    """A public function of a legacy file."""

    def __init__(self, node):
        self.name, self.own = node.name, _required(node)
        called = _calls(node)
        if not called & SESSIONS:
            self.fed = list(_placeholders(node))
            if not self.fed:
                self.kind = "layer" if called & VARIABLES else "op"

    def left(self, module, called):
        template = FED if self.fed else LAYER if self.kind == "layer" else OP
        feed = (
            f'"{tensor}:0": {value}'
            for name, one in self._feeding.items()
            for tensor, value in one.by_name(name)
        )
        return template.format(
            name=self.name,
            module=called,
            args=", ".join(self.args),
            own=", ".join(self.own),
            feed=", ".join(feed),
        )

    def _guess(self, name):
        guess = super()._guess(name)
        return guess if self.kind == "program" else guess.replace("(8,", '("n",')

    @property
    def right(self):
        return (f"make_{self.name}", []) if self.kind == "layer" else super().right


class Class(Entry):
    """A class with placeholders: a program that yields tensors in its attributes."""

    def __init__(self, node):
        self.cls = node.name
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node.name).lower()
        methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
        self.own = _required(methods["__init__"])[1:] if "__init__" in methods else []
        used = {
            n.attr
            for n in ast.walk(node)
            if _is_self(n) and isinstance(n.ctx, ast.Load)
        }
        self.builds = [
            name
            for name, method in methods.items()
            if BUILDS.match(name) and name not in used and name != "__init__"
            if len(_required(method)) == 1
        ]
        self.fed = [o for o in _placeholders(node) if o.target.startswith("self.")]
        self.settings = {name: _read_of(node, name) for name in self.own}
        assigned = dict(_assigned(node))
        placeholders = {one.target for one in self.fed}
        steps = [
            name
            for name, value in assigned.items()
            if _calls(value) & STEPS or NAMED_STEP.match(name)
        ]
        self.shown = [
            name
            for name, value in assigned.items()
            if SHOWN.match(name) and _calls(value) and name not in steps
            if f"self.{name}" not in placeholders
        ]
        self.fetches = [*self.shown, *steps[-1:]]
        always = {
            name
            for method in methods.values()
            for statement in _unconditional(method.body)
            for name, _ in _assigned(statement)
        }
        self.maybe = [name for name in self.fetches if name not in always]
        self.name = f"{'train' if steps else 'run'}_{words}"

    def left(self, module, called):
        own = (
            f"types.SimpleNamespace(**{name})" if self.settings[name] else name
            for name in self.own
        )
        feed = (
            f"built{one.target.removeprefix('self')}: {one.value(name)}"
            for name, one in self._feeding.items()
        )
        quoted = [f'"{name}"' for name in self.maybe]
        return CLASS.format(
            name=self.name,
            args=", ".join(self.args),
            module=called,
            cls=self.cls,
            own=", ".join(own),
            builds="".join(f"    built.{name}()\n" for name in self.builds),
            fetches=_dict(
                f'"{name.lstrip("_")}": built.{name}'
                for name in self.fetches
                if name not in self.maybe
            ),
            maybe=MAYBE.format(names=_listed(quoted)) if self.maybe else "",
            feed=_dict(feed),
        )

    @property
    def note(self):
        shown = (f'"{name.lstrip("_")}": …' for name in self.shown)
        return STEPPED.format(fetches=", ".join(shown))

    def _guess(self, name):
        if read := self.settings[name]:
            return "{" + ", ".join(f'"{key}": 1' for key in read) + "}"
        return super()._guess(name)


class Script(Entry):
    """A file that does its work while it is imported."""

    def __init__(self, path, tree):
        self.name, self.file, self.fetched = path.stem, path.name, {}
        known = _imports(tree)
        for statement in tree.body:
            for node in ast.walk(statement) if _works(statement, known) else ():
                if isinstance(node, ast.Assign) and _called(node.value) == "run":
                    for name in _results(node):
                        self.fetched[name] = f"script.{name}"
                if _called(node) in FITS and isinstance(node.func, ast.Attribute):
                    name = ast.unparse(node.func.value)
                    if name.isidentifier():
                        read = f"script.{name}.get_weights()"
                        self.fetched[f"{name}/weights"] = read
            if isinstance(statement, ast.Assign):
                if _called(statement.value) in SESSIONS:
                    read = f"script.{ast.unparse(statement.targets[0])}.run(v)"
                    self.fetched["variables"] = (
                        f"{{v.op.name: {read} for v in tf.global_variables()}}"
                    )

    def left(self, module, called):
        return SCRIPT.format(
            name=self.name,
            file=self.file,
            module=module,
            imported=imported(module, "script"),
            fetched=_dict(f'"{name}": {v}' for name, v in self.fetched.items()),
        )


class Placeholder:
    """A placeholder that is assigned to a name or an attribute.

    Attributes:
        target: the name or attribute: x, self.x.
        tensors: the name of the tensor, without its output; of a sparse one a dict,
            {attribute of a SparseTensorValue: name}.
        spec: a description of the array.
    """

    def __init__(self, target, tensors, spec):
        self.target, self.tensors, self.spec = target, tensors, spec

    def value(self, argument):
        """Returns the code of a fed value: `argument` or `as_sparse(argument)`."""
        sparse = isinstance(self.tensors, dict)
        return f"as_sparse({argument})" if sparse else argument

    def by_name(self, argument):
        """Lists (tensor name, code of its value); a sparse placeholder has three."""
        if not isinstance(self.tensors, dict):
            return [(self.tensors, argument)]
        value = self.value(argument)
        return [(name, f"{value}.{part}") for part, name in self.tensors.items()]


def entries(source):
    """Lists the parts of a legacy file that become cases, and notes on other parts.

    Raises:
        CommandError: it cannot be read, or no part of it becomes a case.
    """
    if source.suffix == ".ipynb":
        raise CommandError(
            f"{source} is a notebook: convert it, "
            f"jupyter nbconvert --to script {source}, and give the new file"
        )
    try:
        tree = ast.parse(source.read_bytes())
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"{source} is not valid Python 3: {error}") from error
    known = _imports(tree)
    if any(_works(statement, known) for statement in tree.body):
        return [Script(source, tree)], []
    found, skipped = [], []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            made = Class(node)
            if made.fed and made.fetches:
                found.append(made)
            continue
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        function = Function(node)
        if node.name == "main" or not function.args:
            why = "runs the program" if node.name == "main" else "takes no arguments"
            skipped.append(
                f"{node.name}, which {why}: if it trains, add it as a program, "
                "pair.program(…)"
            )
        else:
            found.append(function)
    if not found:
        raise CommandError(
            f"{source} has no public function with parameters, and no class with "
            "placeholders: write a function whose parameters replace its placeholders"
        )
    return found, skipped


def _dict(items):
    """Formats a dict as code; a long dict has one item per line."""
    return _listed(items, "{}")


def _listed(items, brackets="[]"):
    """Formats a list as code; a long list has one item per line."""
    items, (begin, end) = list(items), brackets
    line = begin + ", ".join(items) + end
    if len(line) < 70:
        return line
    return f"{begin}\n" + "".join(f"        {one},\n" for one in items) + f"    {end}"


def _imports(tree):
    """Returns the local names of the modules that a file imports."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }


def _works(statement, imports):
    """Whether a statement of a file trains: runs a session (not tf.app.run, nor
    subprocess.run) or fits a model of Keras."""
    done = ast.For, ast.While, ast.With, ast.Try, ast.Expr, ast.Assign
    return isinstance(statement, done) and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"run", *FITS}
        and ast.unparse(node.func).partition(".")[0] not in imports
        for node in ast.walk(statement)
    )


def _results(assign):
    """Lists variables assigned from session.run, except results of training steps."""
    (target, *_), fetched = assign.targets, (*assign.value.args, None)[0]
    if isinstance(target, ast.Name):
        return [target.id]
    of = getattr(fetched, "elts", None) or [None] * len(getattr(target, "elts", ()))
    return [
        one.id
        for one, what in zip(getattr(target, "elts", ()), of)
        if isinstance(one, ast.Name) and one.id != "_"
        if what is None or not NAMED_STEP.match(ast.unparse(what).rpartition(".")[2])
    ]


def _required(function):
    """Lists the parameters of a function that have no default."""
    arguments = function.args
    return [a.arg for a in arguments.args][
        : len(arguments.args) - len(arguments.defaults)
    ]


def _calls(node):
    """Returns the names of all called functions in a node, without their modules."""
    return {_called(n) for n in ast.walk(node) if isinstance(n, ast.Call)}


def _called(call):
    """Returns a called function's name without its module, None if it has no name."""
    function = getattr(call, "func", None)
    return getattr(function, "attr", getattr(function, "id", None))


def _is_self(node):
    value = getattr(node, "value", None)
    return isinstance(node, ast.Attribute) and getattr(value, "id", None) == "self"


def _unconditional(statements):
    """Yields the statements outside if, for, while and try blocks."""
    for statement in statements:
        if isinstance(statement, ast.With):
            yield from _unconditional(statement.body)
        elif not isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)):
            yield statement


def _assigned(node):
    """Yields (name, value) for each assignment to an attribute of self."""
    for statement in ast.walk(node):
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for one in getattr(target, "elts", [target]):
                    if _is_self(one):
                        yield one.attr, statement.value


def _read_of(node, name):
    """Lists the attributes of the argument `name` that a class reads."""
    known = {name} | {
        f"self.{target}"
        for target, value in _assigned(node)
        if getattr(value, "id", None) == name
    }
    read = [
        n.attr
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute) and ast.unparse(n.value) in known
    ]
    return list(dict.fromkeys(read))


def _placeholders(node):
    """Yields a `Placeholder` for each assigned placeholder in a node."""
    seen = {}
    for statement in ast.walk(node):
        call = getattr(statement, "value", None)
        if not (isinstance(statement, ast.Assign) and isinstance(call, ast.Call)):
            continue
        kind = _called(call)
        if kind not in PLACEHOLDERS:
            continue
        keywords = {k.arg: k.value for k in call.keywords}
        name = keywords.get("name", call.args[2] if len(call.args) > 2 else None)
        dtype = keywords.get("dtype", call.args[0] if call.args else None)
        shape = keywords.get("shape", call.args[1] if len(call.args) > 1 else None)
        sparse = kind == SPARSE
        given = name.value if isinstance(name, ast.Constant) else None
        if sparse:
            tensors = _sparse_names(given, seen)
            other = tensors["values"].partition("/")[0]
        else:
            tensors = other = _numbered(given or DEFAULT[kind], seen)
        target = statement.targets[0]
        known = isinstance(target, ast.Name) or _is_self(target)
        yield Placeholder(
            ast.unparse(target) if known else other.lower(),
            tensors,
            _spec(dtype, shape, ndim=1 + sparse),
        )


def _numbered(name, seen):
    """Makes a name unique, as a graph does: x, then x_1."""
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name}_{seen[name] - 1}"


def _sparse_names(given, seen):
    """Returns the names of a sparse placeholder's shape, values and indices."""
    parts = {"dense_shape": "shape", "values": "values", "indices": "indices"}
    return {
        field: _numbered(f"{given}/{part}" if given else "Placeholder", seen)
        for field, part in parts.items()
    }


def _spec(dtype, shape, ndim):
    """Returns the code of an array for a placeholder, such as `normal(8, 3)`."""
    sizes = getattr(shape, "elts", [None] * ndim)
    dims = [s.value if isinstance(s, ast.Constant) else None for s in sizes]
    text = ", ".join(str(d if isinstance(d, int) else 8) for d in dims)
    dtype = getattr(dtype, "attr", "float32")
    if dtype.startswith("int"):
        more = "" if dtype == "int32" else f', dtype="{dtype}"'
        return f"integers({text}{more})"
    return f"booleans({text})" if dtype == "bool" else f"normal({text})"
