"""Makes keras_names.tsv: which versions of `keras` and of `tf.keras` have a name.

python -m upkeep.keras_names            writes tf1to2/catalog/keras_names.tsv
python -m upkeep.keras_names --check    compares with it, writes nothing

pip downloads one wheel for each version of Keras, the newest patch. The modules of its
API are read, not imported. To add a version, add it to `KERAS_3`.

Keras 3 has two APIs: `keras`, and `keras._tf_keras.keras`, which is `tf.keras` of every
TensorFlow from 2.16 on: `tf.keras` is a lazy loader of whatever Keras is installed, and
adds no name. A module of `tf.keras` that only an import finds (`tf.keras.saving`) does
not count. `tf.keras` of TensorFlow 2.6 to 2.15 is `keras.api._v2.keras` of Keras 2.
"""

import argparse
import ast
import functools
import itertools
import operator
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from tf1to2.catalog import facts, keras_names
from tf1to2.common import output

KERAS_2 = (
    *("2.6.0", "2.7.0", "2.8.0", "2.9.0", "2.10.0"),
    *("2.11.0", "2.12.0", "2.13.1", "2.14.0", "2.15.0"),
)
KERAS_3 = (
    *("3.0.5", "3.1.1", "3.2.1", "3.3.3", "3.4.1", "3.5.0", "3.6.0", "3.7.0"),
    *("3.8.0", "3.9.2", "3.10.0", "3.11.3", "3.12.4", "3.13.2", "3.14.1", "3.15.1"),
)
TF_KERAS_2, TF_KERAS_3 = "keras.api._v2.keras", "keras._tf_keras.keras"
# The same signature as in tf.keras.backend, but other answers, which a test measures.
OTHER_ANSWERS = ("binary_crossentropy", "hard_sigmoid", "shape", "sqrt")
HEADER = """\
# Which versions of Keras have a name, made by `python -m upkeep keras_names`: in the
# package keras; in tf.keras of Keras 3; in tf.keras of Keras 2, from 2.6 on. `package`:
# the package's own name of an object that only tf.keras calls so; the function of
# keras.ops with the same signature, which gives the same floats; or "differs", where
# both have the name, and tf.keras another object.
"""


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        try:
            text = table(pathlib.Path(folder))
        except subprocess.CalledProcessError as error:
            print(f"error: pip: {error.stderr.strip()}", file=sys.stderr)
            return 2
    if not options.check:
        output.save(keras_names.TABLE, text)
    elif keras_names.TABLE.read_text("utf-8") != text:
        print("keras_names.tsv differs from the wheels: run make upkeep")
        return 1
    print(f"{text.count(chr(10))} lines, of Keras {KERAS_2[0]} to {KERAS_3[-1]}")
    return 0


def table(folder):
    """Makes the text of keras_names.tsv; downloads the wheels to a folder."""
    two = {v: names(download(v, folder), TF_KERAS_2) for v in KERAS_2}
    wheels = {v: download(v, folder) for v in KERAS_3}
    package = {v: names(wheel, package_of(wheel)) for v, wheel in wheels.items()}
    three = {v: names(wheel, TF_KERAS_3) for v, wheel in wheels.items()}
    newest = wheels[KERAS_3[-1]], package[KERAS_3[-1]], three[KERAS_3[-1]]
    old = {
        n.removeprefix("tf.keras.") for n in facts.names() if n.startswith("tf.keras.")
    }
    lines = ["\t".join(keras_names.COLUMNS)]
    for name in sorted(old.union(*two.values(), *package.values(), *three.values())):
        spans = span(name, package), span(name, three), span(name, two, ended=True)
        lines.append("\t".join((name, *spans, alternative(name, *newest))))
    return HEADER + "\n".join(lines) + "\n"


def span(name, found, ended=False):
    """Formats the versions that have a name: "3.0-", "2.6-2.8, 2.10-2.15"; or "".

    Args:
        name: without its package.
        found: {version: names}, in their order.
        ended: whether no version comes after the last one.
    """
    short = [version.rpartition(".")[0] for version in found]
    having = [
        (name in found[version], v) for version, v in zip(found, short, strict=True)
    ]
    groups = itertools.groupby(having, key=operator.itemgetter(0))
    runs = [[v for _, v in group] for has, group in groups if has]
    return ", ".join(_text(run, run[-1] == short[-1] and not ended) for run in runs)


def _text(run, goes_on):
    """Formats a range of versions: "3.2-3.4", "3.2-" if it has no end, or "3.2"."""
    if goes_on:
        return f"{run[0]}-"
    return "-".join(dict.fromkeys((run[0], run[-1])))


def download(version, folder):
    """Downloads and unpacks a wheel of Keras; returns its folder."""
    wheel = folder / version
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps"]
        + ["--ignore-requires-python", f"keras=={version}", "-d", wheel],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    (path,) = wheel.glob("*.whl")
    with zipfile.ZipFile(path) as file:
        file.extractall(wheel)
    return wheel


def package_of(wheel):
    """Finds the module of a wheel with Keras' public API: keras.api or keras."""
    return "keras.api" if (wheel / "keras/api/layers").is_dir() else "keras"


def names(wheel, module, prefix=""):
    """Maps each public name in an API module to its object's "module.name".

    A module's own object is "".
    """
    found = {}
    for name, target in _bound(wheel / module.replace(".", "/") / "__init__.py"):
        if name.startswith("_") and name != "__version__":
            continue
        path = wheel / target.replace(".", "/") / "__init__.py"
        if path.exists() and not target.startswith("keras.src"):
            found[prefix + name] = ""
            found |= names(wheel, target, f"{prefix}{name}.")
        elif prefix + name != "src":
            found[prefix + name] = target
    return found


def _bound(path):
    """Yields (name, full name of its object) for each name that a module binds."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name != "*":
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, ""


def alternative(name, wheel, package, three):
    """Finds the text for a name in the column `package`; see `HEADER`."""
    target = three.get(name)
    if not target:
        return ""
    if name in package:
        return "differs" if package[name] != target else ""
    module, _, last = name.rpartition(".")
    same = [other for other, object_ in package.items() if object_ == target]
    if same:
        own = [other for other in same if other.startswith(module + ".")]
        return "keras." + min(own or same, key=lambda other: (len(other), other))
    ops = package.get(f"ops.{last}")
    if module != "backend" or not ops or last in OTHER_ANSWERS:
        return ""
    before, now = (_parameters(wheel, object_) for object_ in (target, ops))
    takes = before is not None and now is not None and now[: len(before)] == before
    return f"keras.ops.{last}" if takes else ""


def _parameters(wheel, object_):
    """Lists a function's parameters as (name, default); None if it is not found."""
    module, _, name = object_.rpartition(".")
    for node in _module(wheel / (module.replace(".", "/") + ".py")):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            names_ = [argument.arg for argument in node.args.args]
            given = [ast.unparse(default) for default in node.args.defaults]
            needed = [None] * (len(names_) - len(given))
            return list(zip(names_, needed + given, strict=True))
    return None


@functools.cache
def _module(path):
    return ast.parse(path.read_text("utf-8")).body if path.exists() else []


if __name__ == "__main__":
    sys.exit(main())
