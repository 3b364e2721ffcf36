"""Writes the new checkpoint to a temporary folder, checks it, and moves it."""

import contextlib
import os
import pathlib
import re
import shutil
import tempfile

from tf1to2.checkpoint.stored import GRAPH, SUFFIX, Checkpoint, tensorflow
from tf1to2.common import output
from tf1to2.common.errors import CommandError

SHARD = 2**28  # bytes that are kept in memory, and then written to one file


def write(plan, target, force=False, dry=False):
    """Writes the result; with `dry`, only checks whether it could be written.

    Args:
        plan: Plan without problems.
        target: prefix of the result.
        force: whether existing files are replaced.
        dry: whether to write no files. All else that may fail is still done: tensors
            are read, and the folder is checked.

    Raises:
        CommandError: `target` exists and `force` is false, or it cannot be written, or
            the source cannot be read. No file is changed then.
    """
    target = pathlib.Path(target)
    try:
        _check_place(plan, target, force)
        with _workshop(target) as new:
            prefix = new / "result" / target.name
            prefix.parent.mkdir()
            for suffix in (".data-00000-of-00001", ".index"):  # too long a name raises
                place = prefix.with_name(prefix.name + suffix)
                place.touch(exist_ok=False)
                place.unlink()
            if dry:
                for _ in _tensors(plan):
                    pass
                return
            _write_shards(plan, prefix, new)
            _verify(plan, prefix)
            _publish(prefix, target, new / "old")
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror}") from None


def _check_place(plan, target, force):
    if not target.parent.is_dir():
        raise CommandError(f"{target.parent}: no such folder")
    if target.is_dir():
        raise CommandError(f"{target} is a folder: give a name in it")
    if target.resolve() == pathlib.Path(plan.source.path).resolve():
        raise CommandError(f"{target} is the source: give another name")
    if _files(target) and not force:
        raise CommandError(f"{target} exists: add --force to replace it")
    size = _size(plan)
    free = shutil.disk_usage(target.parent).free
    if size > free:
        raise CommandError(
            f"{target}: the disk has {free:,} free bytes, but {size:,} are needed"
        )


def _size(plan):
    tf, total = tensorflow(), 0
    for move in plan.moves:
        size = tf.as_dtype(move.result.dtype).size
        for length in move.result.shape:
            size *= length
        total += size
    return total


@contextlib.contextmanager
def _workshop(target):
    """Creates a temporary folder; keeps it only if old files remain in it."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=".convert-", dir=target.parent))
    try:
        yield folder
    except _Stranded:
        old = folder / "old"
        raise CommandError(
            f"{target}: the old files could not be moved back; they are in {old}"
        ) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


class _Stranded(Exception):
    """Files of the target could not be put back."""


def _tensors(plan):
    """Yields (move, array) for each tensor of the result."""
    try:
        for number, move in enumerate(plan.moves, 1):
            output.progress(f"{number} of {len(plan.moves)}: {move.to}")
            yield move, _value(plan, move)
    except MemoryError:
        raise CommandError(
            f"{move.to}: {move.result} does not fit into memory"
        ) from None
    finally:
        output.progress("")


def _value(plan, move):
    if move.source is not None:
        return move.apply(plan.source.read(plan.source.tensors[move.source].key))
    return plan.like.read(move.result.key) if move.value is None else move.value


def _write_shards(plan, prefix, folder):
    tf = tensorflow()
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
        for move, array in _tensors(plan):
            tensor = tf.constant(array, move.result.dtype)
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


def _full_keys(plan):
    """Maps each tensor name of the result to its key in the written file."""
    if plan.like:
        return {name: tensor.key for name, tensor in plan.like.tensors.items()}
    suffix = SUFFIX if plan.format == "objects" else ""
    return {move.to: move.to + suffix for move in plan.moves}


def _object_graph(plan, full):
    """The graph of objects for `tf.train.Checkpoint`, serialized."""
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
                child.local_name = _unescaped(part)
            parent = path
        graph.nodes[numbers[name]].attributes.add(
            name="VARIABLE_VALUE", full_name=name, checkpoint_key=full[name]
        )
    return graph.SerializeToString(deterministic=True)


def _unescaped(part):
    """The name of an attribute without the escapes for slashes and dots."""
    return re.sub(r"\.(.)", lambda m: "/" if m[1] == "S" else m[1], part)


def _verify(plan, prefix):
    """Checks that names, dtypes and shapes in the written file match the plan."""
    written = {n: str(t) for n, t in Checkpoint(prefix).tensors.items()}
    planned = {move.to: str(move.result) for move in plan.moves}
    if written != planned:
        raise CommandError(f"{prefix.name}: the written file differs from the plan")


def _publish(prefix, target, backup):
    """Moves the new files to `target`; restores the old files if a move fails."""
    backup.mkdir()
    moved = []

    def move(file, place):
        os.replace(file, place)
        moved.append((place, file))

    try:
        # The index is removed first and moved last: without it there is no checkpoint.
        for file in reversed(_files(target)):
            move(file, backup / file.name)
        for file in _files(prefix):
            move(file, target.with_name(file.name))
    except BaseException:
        try:
            for place, file in reversed(moved):
                os.replace(place, file)
        except BaseException:
            raise _Stranded from None
        raise


def _files(prefix):
    """The files of a checkpoint, its index last."""
    own = re.compile(re.escape(prefix.name) + r"\.(data-\d+-of-\d+|index)")
    return sorted(file for file in prefix.parent.iterdir() if own.fullmatch(file.name))
