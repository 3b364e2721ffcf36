"""Lists the API of one TensorFlow, as JSON: names, signatures, members.

python3.7 -m upkeep.api_walk FOUND          every public name of TensorFlow 1.15.5
python -m upkeep.api_walk FOUND NOW [legacy]  today's version of the names in FOUND

It runs on both Pythons, so that it is written for 3.7. survey.py compares the results.
"""

import collections
import enum
import inspect
import json
import os
import re
import sys
import types

# Not public API: the tree a second time, raw kernels, internals of TensorFlow, and
# modules that contrib imports from kernels and from tf.contrib.rnn.
OUTSIDE = set(
    """tf.compat tf.raw_ops tf.python tf.core tf.tools tf.pywrap_tensorflow
    tf.contrib.grid_rnn.rnn tf.contrib.learn.models.contrib_rnn tf.contrib.learn.ops
    tf.contrib.tensor_forest.ops tf.contrib.quantization.quantized_array_ops
    tf.flags.tf_decorator.tf_stack""".split()
)
ABSENT = object()  # tf.newaxis is None
CONTRIB = tuple(
    root + ".contrib"
    for root in ("tensorflow", "tensorflow_core", "tensorflow_estimator")
)
OURS = ("tensorflow", "tensorflow_core", "tensorflow_estimator", "keras", "tf_keras")
ASSIGNED = re.compile(r"\bself\.(\w+)\b(?:\s*,[^=\n]*)?\s*(?::[^=\n]*)?=[^=]")
DEPRECATED = re.compile(
    r"DEPRECATED.*?Instructions for updating:\s*(.*?)(?:\n\s*\n|$)", re.S
)
# Private modules from which legacy code imports names of other modules.
PRIVATE = "tensorflow.python."
FACADES = {
    PRIVATE + name
    for name in """ops.array_ops ops.math_ops ops.control_flow_ops ops.nn ops.nn_ops
    ops.io_ops ops.parsing_ops ops.random_ops ops.init_ops ops.variables ops.state_ops
    ops.variable_scope ops.clip_ops ops.check_ops ops.image_ops ops.string_ops
    ops.sparse_ops ops.rnn ops.rnn_cell ops.standard_ops framework.ops
    framework.constant_op platform.flags platform.app platform.gfile platform.test
    platform.tf_logging client.session util.nest summary.summary training.training
    layers.layers""".split()
}


def main(found, now=None, legacy=None):
    import tensorflow as tf

    if now is None:
        tf.compat.v1.logging.set_verbosity("ERROR")
        result, path = walk_then(tf), found
    else:
        with open(found) as file:
            result, path = walk_now(tf, json.load(file)), now
    with open(path, "w") as file:
        json.dump(result, file)


# --- TensorFlow 1.15.5


def walk_then(tf):
    """Collects all public names, classes and private modules of TensorFlow 1.15.5.

    Returns:
        {"version", "names": {symbol: {"kind", "object", "signature", "deprecated",
        "class"}}, "modules": {symbol: object}, "classes": {key: {"path", "mro", "own":
        {member: [kind, signature]}}}, "privates": {path: symbol}}.
    """
    dir(tf.contrib)  # it is loaded on first use
    things, modules = {}, {}
    _walk(tf.contrib, "tf.contrib", things, modules, set(), _in_contrib)
    _walk(tf, "tf", things, modules, set(), _in_core)
    classes = _Classes()
    names, objects = {}, {}
    for symbol, thing in sorted(things.items()):
        kind = _kind(thing)
        plain = kind == "const" and isinstance(
            thing, (type(None), bool, int, float, str, bytes, tuple, list)
        )
        number = -1 if plain else objects.setdefault(id(thing), len(objects))
        names[symbol] = {
            "kind": kind,
            "object": number,
            "signature": signature(thing),
            "deprecated": _deprecated(thing),
            "class": classes.key(thing) if kind == "class" and _ours(thing) else "",
        }
    return {
        "version": tf.__version__,
        "names": names,
        "modules": {path: id(module) for path, module in modules.items()},
        "classes": classes.found,
        "privates": _privates(tf, things),
    }


def _walk(module, path, things, modules, seen, inside):
    modules[path] = module
    for name in sorted(dir(module)):
        if name.startswith("_") or name == "python":
            continue
        try:
            thing = getattr(module, name)
        except Exception:  # a lazy module whose package is missing
            continue
        symbol = path + "." + name
        if not isinstance(thing, types.ModuleType):
            # The constants in contrib come from its imports, such as `division`.
            if not (path.startswith("tf.contrib") and _kind(thing) == "const"):
                things.setdefault(symbol, thing)
        elif symbol not in OUTSIDE and inside(symbol, thing, seen):
            within = seen | {id(thing)} if inside is _in_core else seen
            _walk(thing, symbol, things, modules, within, inside)


def _in_contrib(symbol, module, seen):
    """Whether to walk a contrib module: directly in `tf.contrib`, or not yet seen."""
    new = id(module) not in seen
    seen.add(id(module))
    return (module.__name__ or "").startswith(CONTRIB) and (
        new or symbol.count(".") == 2
    )


def _in_core(symbol, module, seen):
    """Whether to walk a TensorFlow module: outside contrib, and not its own parent."""
    home = module.__name__ or ""
    return (
        id(module) not in seen
        and home.startswith("tensorflow")
        and not home.startswith(CONTRIB)
        and symbol != "tf.contrib"
    )


class _Classes:
    """Collects classes with their bases: each class once, with its own members."""

    def __init__(self):
        self.found, self.keys = {}, {}

    def key(self, cls):
        if id(cls) in self.keys:
            return self.keys[id(cls)]
        path = "%s.%s" % (cls.__module__, cls.__qualname__)
        path = re.sub(r"^tensorflow_core\b", "tensorflow", path)
        key = path
        while key in self.found:  # two classes with the same name in one module
            key += "'"
        self.keys[id(cls)] = key
        entry = self.found[key] = {"path": path}
        bases = [base for base in cls.__mro__[1:] if _ours(base)]
        entry["mro"] = [self.key(base) for base in bases]
        entry["own"] = {
            name: list(_member(cls, name))
            for name in sorted(vars(cls))
            if _public_member(name)
        }
        return key


def _privates(tf, things):
    """Maps paths under tensorflow.python that legacy code imports to public names."""
    public = {}
    for symbol, thing in sorted(things.items()):
        if not symbol.startswith("tf.contrib.") and _kind(thing) in ("func", "class"):
            public.setdefault(id(thing), []).append(symbol)
    for name in dir(tf.dtypes):
        if isinstance(getattr(tf.dtypes, name), tf.DType):
            public[id(getattr(tf.dtypes, name))] = ["tf." + name]
    found = {}
    for module, content in sorted(sys.modules.items()):
        path = module.replace("tensorflow_core.", "tensorflow.", 1)
        if not path.startswith(PRIVATE) or "_api" in path:
            continue
        for name, thing in list(vars(content).items()):
            home = getattr(thing, "__module__", None) or module
            at_home = home.split(".")[-1] in (module.split(".")[-1], "dtypes")
            generated = home.split(".")[-1].startswith(("gen_", "tf_"))
            if id(thing) in public and (at_home or generated or path in FACADES):
                # Of several public names: the one with this name, then the shortest.
                symbols = public[id(thing)]
                found[path + "." + name] = min(
                    symbols, key=lambda s: (s.split(".")[-1] != name, s.count("."), s)
                )
    for symbols in public.values():  # tf.constant is constant_v1, beside constant
        for symbol in symbols:
            home = getattr(things.get(symbol), "__module__", None) or ""
            name = symbol.split(".")[-1]
            path = home.replace("tensorflow_core.", "tensorflow.", 1)
            if hasattr(sys.modules.get(home), name) and path.startswith(PRIVATE):
                found.setdefault(path + "." + name, symbol)
    return found


# --- today's TensorFlow


def walk_now(tf, found):
    """Finds the names and members of 1.15.5 in today's TensorFlow.

    Returns:
        {"version", "names": {symbol: {"today", "signature", "home"}}, "modules":
        {symbol: bool}, "members": {class key: {"at": symbol, "members": {member:
        [is compat.v1's own, signature]}}}}. Names and members that TensorFlow does not
        have today are left out.
    """
    names = {}
    for symbol in found["names"]:
        old, new = (get(root, symbol, ABSENT) for root in (tf.compat.v1, tf))
        where = _where(tf, old, new)
        thing = new if new is not ABSENT else get(tf, where)
        names[symbol] = {
            "today": where,
            "signature": signature(thing),
            "home": getattr(thing, "__module__", None) or "",
        }
    members = {}
    spelled = collections.defaultdict(list)
    for symbol, name in found["names"].items():
        if name["class"]:
            spelled[name["class"]].append(symbol)
    for key, symbols in spelled.items():
        at = [
            s if names[s]["today"] in ("same", "differs") else names[s]["today"]
            for s in symbols
            if names[s]["today"] not in ("v1", "gone")
        ]
        if at:
            symbol = min(
                at, key=lambda s: (s.startswith("tf.contrib"), s.count("."), s)
            )
            members[key] = {
                "at": symbol,
                "members": _members_now(tf, symbol, key, found),
            }
    modules = {
        symbol: isinstance(get(tf, symbol), types.ModuleType)
        for symbol in found["modules"]
    }
    return {
        "version": tf.__version__,
        "names": names,
        "modules": modules,
        "members": members,
    }


def _members_now(tf, symbol, key, found):
    new, old = get(tf, symbol), get(tf.compat.v1, symbol)
    known = found["classes"]
    asked = {name for base in [key, *known[key]["mro"]] for name in known[base]["own"]}
    assigned = _assigned(new)
    here = {}
    for name in sorted(asked):
        if hasattr(new, name):
            raw = [
                _unwrapped(inspect.getattr_static(cls, name))
                for cls in (old, new)
                if hasattr(cls, name)
            ]
            same = len(raw) == 2 and raw[0] is raw[1]
            here[name] = [same, _member(new, name)[1]]
        elif name in assigned:
            here[name] = [False, ""]
    return here


def _assigned(cls):
    """The attributes that methods of a class give to `self`."""
    found = set()
    for base in getattr(cls, "__mro__", ()):
        if _ours(base):
            try:
                source = inspect.getsource(base)
            except (OSError, TypeError):
                continue
            found |= set(ASSIGNED.findall(source))
    return found


def get(root, symbol, default=None):
    """Finds the object with the path `symbol` in `root`; `default` if it is missing."""
    if not symbol.startswith("tf."):
        return default
    for name in symbol.split(".")[1:]:
        try:
            root = getattr(root, name)
        except (AttributeError, ImportError, ValueError):  # or a lazy module fails
            return default
    return root


def _where(tf, old, new):
    if new is not ABSENT:
        return "same" if _unwrapped(old) is _unwrapped(new) else "differs"
    if old is ABSENT:
        return "gone"
    for thing in (old, _unwrapped(old)):
        names = vars(thing).get("_tf_api_names") if hasattr(thing, "__dict__") else None
        for name in names or ():
            if get(tf, "tf." + name) is not None:
                return "tf." + name
    return "v1"


# --- both


def signature(thing):
    """Returns the parameters as source text, without `self`; "" if unknown."""
    if not callable(thing):
        return ""
    if isinstance(thing, type):
        own = thing.__init__ is not object.__init__
        if issubclass(thing, enum.Enum) or issubclass(thing, BaseException) and not own:
            return ""
        thing = thing.__init__ if own else thing.__new__
        if thing is object.__new__:
            return "()"
        return _parameters(thing, 1)
    return _parameters(thing, 0)


def _parameters(function, skip):
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return ""
    texts, starred = [], False
    for parameter in parameters:
        text = parameter.name
        if parameter.kind == parameter.VAR_POSITIONAL:
            text, starred = "*" + text, True
        elif parameter.kind == parameter.VAR_KEYWORD:
            text = "**" + text
        elif parameter.kind == parameter.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        if parameter.default is not parameter.empty:
            text += "=" + _value(parameter.default)
        texts.append(text)
    return "(%s)" % ", ".join(texts)


def _value(value):
    """A default value as text, without addresses."""
    plain = isinstance(value, (type(None), bool, int, float, str, bytes))
    if plain and not isinstance(value, enum.Enum):
        return repr(value)
    if isinstance(value, enum.Enum):
        return "%s.%s" % (type(value).__name__, value.name)
    if type(value) in (tuple, list):
        left, right = "()" if isinstance(value, tuple) else "[]"
        inner = ", ".join(map(_value, value))
        return left + inner + ("," if left == "(" and len(value) == 1 else "") + right
    if type(value).__name__ == "DType":
        return "tf." + value.name
    return getattr(value, "__name__", type(value).__name__ + "()")


def _kind(thing):
    if isinstance(thing, type):
        return "class"
    return "func" if callable(thing) else "const"


def _public_member(name):
    if name == "__call__":
        return True
    return not (name.startswith("_") or name.endswith(("_FIELD_NUMBER", "DESCRIPTOR")))


def _member(cls, name):
    """Returns the kind and the signature of a class member, as text."""
    raw = inspect.getattr_static(cls, name)
    if isinstance(raw, property):
        return "property", ""
    if isinstance(raw, (staticmethod, classmethod)):
        kind = "static" if isinstance(raw, staticmethod) else "class method"
        return kind, _parameters(getattr(cls, name), 0)
    if isinstance(raw, type):
        return "class", ""
    if callable(raw):
        return "method", _parameters(raw, 1)
    return "attribute", ""


def _ours(cls):
    return (cls.__module__ or "").partition(".")[0] in OURS


def _unwrapped(thing):
    """A function without its decorators, which differ between the versions."""
    while hasattr(thing, "__wrapped__"):
        thing = thing.__wrapped__
    return thing


def _deprecated(thing):
    """The replacement that TensorFlow's deprecation notice names, in one line."""
    texts = [thing.__doc__] if callable(thing) else []
    if isinstance(thing, type):
        texts.append(thing.__init__.__doc__)
    for text in texts:
        said = DEPRECATED.search(text) if isinstance(text, str) else None
        if said:
            return " ".join(said[1].split())
    return ""


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(*sys.argv[1:])
