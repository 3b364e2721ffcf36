"""`tf1to2 convert-checkpoint`: a checkpoint under other names, every tensor accounted.

The source may be name-based (`tf.train.Saver`) or object-based (`tf.train.Checkpoint`),
and so may the result. `map.json` says where each tensor goes:

    {
      "format": "objects",
      "tensors": {
        "dense/bias": "model/bias",
        "dense/kernel": {"to": "model/kernel", "transpose": [1, 0]}
      },
      "drop": ["old/*"],
      "new": {"save_counter": {"value": 1, "dtype": "int64"}}
    }

`format` is "objects" or "names". The key of an object is the path of its attributes,
without the `/.ATTRIBUTES/VARIABLE_VALUE` that the file appends. A tensor may be given
`transpose` (a permutation), then `reshape`, then `dtype`. A new tensor has a `value`
and a `dtype`, and a `shape` if the value is one number to be repeated; "like" in place
of all that takes the template's. A template (`--like`) is a checkpoint that the new
program has written, say before training: then each of its tensors must be filled, with
its dtype and shape, and its graph of objects is kept.
"""

import contextlib
import dataclasses
import difflib
import fnmatch
import json
import math
import os
import pathlib
import re
import sys
import tempfile

from tf1to2.errors import CommandError
from tf1to2.view.tables import table

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
SHARD = 2**28  # bytes that are held in memory, and written to one file


def add_arguments(parser):
    """Adds the command's own arguments."""
    parser.add_argument("source", metavar="SRC", help="prefix of a checkpoint, or dir")
    parser.add_argument("target", metavar="DST", help="prefix of the result")
    parser.add_argument("--map", required=True, metavar="map.json")
    parser.add_argument("--like", metavar="CHECKPOINT", help="a template of the result")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, only")
    parser.add_argument("--force", action="store_true", help="replace DST")


def run(options):
    """Converts, or says why not.

    Returns:
        0; 1 if tensors are unaccounted for, and nothing was written.
    """
    plan = make_plan(options.source, options.map, options.like)
    print(plan.text())
    if plan.problems:
        print("nothing written: {}".format("; ".join(plan.summary())))
        return 1
    if not options.dry_run:
        write(plan, options.target, options.force)
        print(f"wrote {options.target}: {len(plan.moves)} tensors")
    return 0


@dataclasses.dataclass(frozen=True)
class Tensor:
    """What a checkpoint says of a tensor: the key in the file, dtype name and shape."""

    key: str
    dtype: str
    shape: tuple

    def __str__(self):
        return f"{self.dtype} {list(self.shape)}"


class Checkpoint:
    """A checkpoint to read: `tensors` is {name: Tensor}, suffixes removed from names.

    Raises:
        CommandError: there is none at `path`, or it cannot be read.
    """

    def __init__(self, path):
        tf = _tensorflow()
        self.path = str(path)
        if os.path.isdir(self.path):
            latest = tf.train.latest_checkpoint(self.path)
            if latest is None:
                raise CommandError(f"{path}: no checkpoint in this directory")
            self.path = latest
        whole = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", self.path)
        if whole != self.path:
            raise CommandError(f"{path} is one file of a checkpoint: give {whole}")
        with self._readable():
            self._reader = tf.train.load_checkpoint(self.path)
            dtypes = self._reader.get_variable_to_dtype_map()
            shapes = self._reader.get_variable_to_shape_map()
        self.format = "objects" if GRAPH in dtypes else "names"
        self.tensors = {
            key.removesuffix(SUFFIX): Tensor(key, dtypes[key].name, tuple(shapes[key]))
            for key in sorted(dtypes)
            if key != GRAPH
        }

    def read(self, key):
        """The tensor stored under `key`, as NumPy has it."""
        with self._readable():
            return self._reader.get_tensor(key)

    @contextlib.contextmanager
    def _readable(self):
        # The reader raises OpErrors without a type of their own, and IndexError.
        tf = _tensorflow()
        try:
            yield
        except tf.errors.NotFoundError:
            raise CommandError(f"{self.path}: no such checkpoint") from None
        except (tf.errors.OpError, IndexError, RuntimeError, ValueError) as error:
            line = (str(error).splitlines() or ["?"])[0]
            raise CommandError(f"{self.path}: cannot be read: {line}") from None


@dataclasses.dataclass(frozen=True)
class Move:
    """Where one tensor of the result comes from, and what is done to it."""

    to: str
    source: str | None = None
    transpose: tuple | None = None
    reshape: tuple | None = None
    dtype: str | None = None
    value: object = None
    result: Tensor | None = None

    def apply(self, array):
        import numpy as np

        array = np.asarray(array)
        if self.transpose is not None:
            array = np.transpose(array, self.transpose)
        if self.reshape is not None:
            array = np.reshape(array, self.reshape)
        if self.dtype is not None:
            dtype = _tensorflow().as_dtype(self.dtype)
            array = array.astype(dtype.as_numpy_dtype)
        return array

    def changes(self):
        names = ("transpose", "reshape", "dtype") if self.source else ()
        values = [(name, getattr(self, name)) for name in names]
        return ", ".join(
            f"{name} {list(value) if isinstance(value, tuple) else value}"
            for name, value in values
            if value is not None
        )


@dataclasses.dataclass
class Plan:
    """What goes where, and what is not accounted for.

    Attributes:
        source: the Checkpoint to read.
        like: a Checkpoint or None, the template.
        format: "objects" or "names".
        moves: list of Move, one per tensor of the result, sorted by name.
        dropped: names of the source that are left behind.
        problems: {kind: list of lines}.
    """

    source: Checkpoint
    like: Checkpoint | None
    format: str
    moves: list
    dropped: list
    problems: dict

    def text(self):
        """The plan as a table, the sums, then what is wrong with it."""
        tensors = self.source.tensors
        rows = [
            (
                move.source or "(new)",
                str(tensors[move.source]) if move.source else "",
                move.to,
                str(move.result or "?"),
                move.changes(),
            )
            for move in self.moves
        ]
        rows += [
            (name, str(tensors[name]), "(dropped)", "", "") for name in self.dropped
        ]
        moved = sum(move.source is not None for move in self.moves)
        lines = [
            table(("from", "is", "to", "becomes", "by"), rows),
            f"{len(tensors)} tensors ({self.source.format}) = {moved} moved + "
            f"{len(self.dropped)} dropped"
            + f" + {len(tensors) - moved - len(self.dropped)} unaccounted for",
            f"{len(self.moves)} tensors ({self.format}) = {moved} moved + "
            f"{len(self.moves) - moved} new",
        ]
        for kind, found in self.problems.items():
            lines += [kind + ":", *("  " + line for line in found)]
        return "\n".join(lines)

    def summary(self):
        return [f"{len(found)} {kind}" for kind, found in self.problems.items()]


def make_plan(source, map_path, like=None):
    """Reads a map, and accounts for every tensor on both sides.

    Raises:
        CommandError: a checkpoint or the map cannot be read.
    """
    mapping = read_map(map_path)
    source = Checkpoint(source)
    like = Checkpoint(like) if like else None
    format_ = mapping["format"]
    if like and like.format != format_:
        raise CommandError(f"{like.path} holds {like.format}, the map says {format_}")
    problems = {}

    def problem(kind, line):
        problems.setdefault(kind, []).append(line)

    dropped = _dropped(mapping["drop"], source, problem)
    moves = []
    for name, entry in mapping["tensors"].items():
        if name not in source.tensors:
            near = difflib.get_close_matches(name, source.tensors, 1)
            problem("mapped, but not in the source", _near(name, near))
        elif name in dropped:
            problem("mapped and dropped", name)
        else:
            moves.append(_moved(name, entry, source.tensors[name], problem))
    moves += [_new(n, e, like, problem) for n, e in mapping["new"].items()]
    accounted = {*dropped, *mapping["tensors"]}
    for name, tensor in source.tensors.items():
        if name not in accounted:
            problem("of the source unaccounted for", f'"{name}": "",  {tensor}')
    _check_targets(moves, like, format_, problem)
    moves.sort(key=lambda move: move.to)
    return Plan(source, like, format_, moves, dropped, problems)


def _dropped(patterns, source, problem):
    dropped = set()
    for pattern in patterns:
        # Brackets are letters here: only the star is special.
        escaped = pattern.replace("[", "[[]").replace("?", "[?]")
        found = fnmatch.filter(source.tensors, escaped)
        if not found:
            problem("dropped, but not in the source", pattern)
        dropped.update(found)
    return sorted(dropped)


def _moved(name, entry, tensor, problem):
    move = Move(source=name, **entry)
    shape, dtype = tensor.shape, move.dtype or tensor.dtype
    wrong = dtype != tensor.dtype and "string" in (dtype, tensor.dtype)
    if move.transpose is not None:
        wrong |= sorted(move.transpose) != list(range(len(shape)))
        shape = () if wrong else tuple(shape[axis] for axis in move.transpose)
    if move.reshape is not None:
        wrong |= math.prod(move.reshape) != math.prod(shape) or -1 in move.reshape
        shape = move.reshape
    if wrong:
        problem("impossible", f"{name}, {tensor}: {move.changes()}")
        return move
    return dataclasses.replace(move, result=Tensor(move.to, dtype, shape))


def _new(name, entry, like, problem):
    import numpy as np

    if entry == "like":
        if like is None or name not in like.tensors:
            problem("new as in the template, which has it not", name)
            return Move(name)
        return Move(name, result=like.tensors[name])
    tf, dtype = _tensorflow(), entry["dtype"]
    try:
        value = np.asarray(entry["value"], tf.as_dtype(dtype).as_numpy_dtype)
        value = np.broadcast_to(value, entry.get("shape", value.shape))
    except (ValueError, TypeError) as error:
        problem("impossible", f"{name}: {error}")
        return Move(name)
    return Move(name, value=value, result=Tensor(name, dtype, value.shape))


def _check_targets(moves, like, format_, problem):
    names = [move.to for move in moves]
    for name in sorted({name for name in names if names.count(name) > 1}):
        problem("filled twice", name)
    if like is not None:
        for name in sorted(set(names) - set(like.tensors)):
            near = difflib.get_close_matches(name, like.tensors, 1)
            problem("not in the template", _near(name, near))
        for name in sorted(set(like.tensors) - set(names)):
            problem("of the template unfilled", f'"{name}"  {like.tensors[name]}')
        for move in moves:
            wanted, result = like.tensors.get(move.to), move.result
            if wanted and result and str(wanted) != str(result):
                line = f"{move.to}: {result}, in the template {wanted}"
                problem("of another dtype or shape than the template", line)
    elif format_ == "objects":
        for name in names:
            if re.search(r"(^|/)\.(ATTRIBUTES|OPTIMIZER_SLOT)(/|$)", name):
                problem("more than a path of attributes (give --like)", name)
            if any(other.startswith(name + "/") for other in names):
                problem("both a tensor and an object that has tensors", name)


def _near(name, near):
    return f"{name} (did you mean {near[0]}?)" if near else name


def read_map(path):
    """Reads and checks a map.

    Returns:
        dict with "format", "tensors" ({name: keywords of Move}), "drop" and "new".

    Raises:
        CommandError: naming what is wrong.
    """

    def once(pairs):
        names = [name for name, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise CommandError(f"{path}: {name!r} comes twice")
        return dict(pairs)

    try:
        text = pathlib.Path(path).read_text("utf-8")
        mapping = json.loads(text, object_pairs_hook=once)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(f"{path}: no JSON: {error}") from None
    try:
        return _checked(mapping)
    except _BadMap as error:
        raise CommandError(f"{path}: {error}") from None


class _BadMap(Exception):
    pass


def _checked(mapping):
    kinds = {"format": str, "tensors": dict, "drop": list, "new": dict}
    _check_keys("the map", mapping, kinds, {"format"})
    if mapping["format"] not in ("objects", "names"):
        raise _BadMap('"format" must be "objects" or "names"')
    tensors = {}
    for name, entry in mapping.get("tensors", {}).items():
        entry = {"to": entry} if isinstance(entry, str) else entry
        kinds = {"to": str, "transpose": list, "reshape": list, "dtype": str}
        _check_keys(name, entry, kinds, {"to"})
        for key in ("transpose", "reshape"):
            if key in entry:
                entry[key] = _numbers(f"{name}: {key}", entry[key])
        to = entry["to"].removesuffix(SUFFIX)
        if not all(to.split("/")):
            raise _BadMap(f"{name}: {to!r} is no name")
        tensors[name.removesuffix(SUFFIX)] = {**entry, "to": to}
    new = {}
    for name, entry in mapping.get("new", {}).items():
        if entry != "like":
            kinds = {"value": object, "dtype": str, "shape": list}
            _check_keys(name, entry, kinds, {"value", "dtype"})
            if "shape" in entry:
                entry["shape"] = _numbers(f"{name}: shape", entry["shape"])
        if not all(name.split("/")):
            raise _BadMap(f"{name!r} is no name")
        new[name.removesuffix(SUFFIX)] = entry
    drop = mapping.get("drop", [])
    if not all(isinstance(pattern, str) for pattern in drop):
        raise _BadMap('"drop" must be a list of names')
    drop = [pattern.removesuffix(SUFFIX) for pattern in drop]
    if not tensors and not new:
        raise _BadMap("nothing is to be written")
    return {"format": mapping["format"], "tensors": tensors, "drop": drop, "new": new}


def _check_keys(where, entry, kinds, required):
    if not isinstance(entry, dict):
        raise _BadMap(f"{where}: an object was expected, not {json.dumps(entry)}")
    for key, value in entry.items():
        if key not in kinds:
            raise _BadMap(f"{where}: unknown {key!r}, known: {', '.join(kinds)}")
        if not isinstance(value, kinds[key]):
            raise _BadMap(f"{where}: {key!r} is {json.dumps(value)}")
    for key in sorted(required - set(entry)):
        raise _BadMap(f"{where}: {key!r} is missing")
    if "dtype" in entry:
        try:
            entry["dtype"] = _tensorflow().as_dtype(entry["dtype"]).name
        except TypeError:
            raise _BadMap(f"{where}: no dtype {entry['dtype']!r}") from None


def _numbers(where, items):
    if not all(type(item) is int for item in items):
        raise _BadMap(f"{where} must be a list of integers")
    return tuple(items)


def write(plan, target, force=False):
    """Writes the result beside its place, reads it again, and moves it there.

    Raises:
        CommandError: `target` exists and `force` is false, cannot be written, or the
            source cannot be read; then nothing is left behind.
    """
    target = pathlib.Path(target)
    if not target.parent.is_dir():
        raise CommandError(f"{target.parent}: no such directory")
    if target.resolve() == pathlib.Path(plan.source.path).resolve():
        raise CommandError(f"{target} is the source itself")
    if _files(target) and not force:
        raise CommandError(f"{target} exists: --force replaces it")
    try:
        with tempfile.TemporaryDirectory(prefix=".convert-", dir=target.parent) as new:
            new = pathlib.Path(new)
            prefix = new / "result" / target.name
            prefix.parent.mkdir()
            _write_shards(plan, prefix, new)
            _verify(plan, prefix)
            _publish(prefix, target, new / "old")
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}") from None


def _write_shards(plan, prefix, folder):
    tf = _tensorflow()
    parts, pending, size, full = [], {}, 0, _full_keys(plan)

    def flush():
        parts.append(str(folder / f"part{len(parts)}" / "part"))
        os.mkdir(os.path.dirname(parts[-1]))
        tf.raw_ops.SaveV2(
            prefix=parts[-1],
            tensor_names=list(pending),
            shape_and_slices=[""] * len(pending),
            tensors=list(pending.values()),
        )
        pending.clear()

    try:
        for number, move in enumerate(plan.moves, 1):
            _progress(f"{number} of {len(plan.moves)}: {move.to}")
            tensor = tf.constant(_value(plan, move), move.result.dtype)
            pending[full[move.to]] = tensor
            size += tensor.shape.num_elements() * tensor.dtype.size
            if size >= SHARD:
                flush()
                size = 0
        if plan.format == "objects":
            pending[GRAPH] = tf.constant(_object_graph(plan, full))
        if pending:
            flush()
        tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=parts, destination_prefix=str(prefix)
        )
    except tf.errors.OpError as error:
        raise CommandError(f"cannot write: {error.message}") from None
    finally:
        _progress("")


def _value(plan, move):
    if move.source is not None:
        return move.apply(plan.source.read(plan.source.tensors[move.source].key))
    return plan.like.read(move.result.key) if move.value is None else move.value


def _full_keys(plan):
    """{name: key in the file} of the result."""
    if plan.like:
        return {name: tensor.key for name, tensor in plan.like.tensors.items()}
    suffix = SUFFIX if plan.format == "objects" else ""
    return {move.to: move.to + suffix for move in plan.moves}


def _object_graph(plan, full):
    """The graph of objects that `tf.train.Checkpoint` follows, serialized."""
    if plan.like:
        return plan.like.read(GRAPH)
    from tensorflow.core.protobuf import trackable_object_graph_pb2

    graph = trackable_object_graph_pb2.TrackableObjectGraph()
    numbers = {"": 0}
    graph.nodes.add().has_checkpoint_values.value = True
    for name in sorted(full):
        parent, path = "", ""
        for part in name.split("/"):
            path = f"{path}/{part}" if path else part
            if path not in numbers:
                numbers[path] = len(graph.nodes)
                graph.nodes.add().has_checkpoint_values.value = True
                child = graph.nodes[numbers[parent]].children.add()
                child.node_id = numbers[path]
                # As the file escapes a name with a slash or a dot.
                child.local_name = part.replace(".S", "/").replace("..", ".")
            parent = path
        graph.nodes[numbers[name]].attributes.add(
            name="VARIABLE_VALUE", full_name=name, checkpoint_key=full[name]
        )
    return graph.SerializeToString(deterministic=True)


def _verify(plan, prefix):
    """Asserts that the written file holds what was planned: names, dtypes, shapes."""
    written = {n: str(t) for n, t in Checkpoint(prefix).tensors.items()}
    planned = {move.to: str(move.result) for move in plan.moves}
    if written != planned:
        raise CommandError(f"{prefix.name}: the written file is not what was planned")


def _publish(prefix, target, backup):
    """Moves the files to `target`; what was there is put back if that fails."""
    backup.mkdir()
    moved = []

    def move(file, place):
        os.replace(file, place)
        moved.append((place, file))

    try:
        # The index goes first and comes last: without one there is no checkpoint.
        for file in reversed(_files(target)):
            move(file, backup / file.name)
        for file in _files(prefix):
            move(file, target.with_name(file.name))
    except BaseException:
        for place, file in reversed(moved):
            os.replace(place, file)
        raise


def _files(prefix):
    """The files of a checkpoint, its index last."""
    own = re.compile(re.escape(prefix.name) + r"\.(data-\d+-of-\d+|index)")
    return sorted(file for file in prefix.parent.iterdir() if own.fullmatch(file.name))


def _tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ImportError as error:
        raise CommandError(
            f"convert-checkpoint needs {error.name or error}: "
            "pip install 'tf1to2[tensorflow]'"
        ) from None
    return tf


def _progress(text):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
