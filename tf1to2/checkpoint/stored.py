"""Reads checkpoints from disk: names, dtypes, shapes, and the graph of objects."""

import collections
import contextlib
import dataclasses
import os
import re

from tf1to2.common.errors import CommandError, needs

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor in a checkpoint: the key in the file, dtype name and shape."""

    key: str
    dtype: str
    shape: tuple

    def __str__(self):
        return f"{self.dtype} {list(self.shape)}"


def h5(path):
    """Returns whether the first bytes of a file are those of the HDF5 format."""
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


class Checkpoint:
    """A checkpoint to read: `tensors` is {name: Tensor}, names without suffix.

    Raises:
        CommandError: `path` is not a checkpoint, or it cannot be read.
    """

    def __init__(self, path):
        tf = tensorflow()
        self.path = str(path)
        if os.path.isdir(self.path):
            latest = tf.train.latest_checkpoint(self.path)
            if latest is None:
                raise CommandError(f"{path}: no checkpoint in this directory")
            self.path = latest
        whole = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", self.path)
        if whole != self.path:
            raise CommandError(f"{path} is only one file of a checkpoint: give {whole}")
        if os.path.isfile(self.path) and h5(self.path):
            raise CommandError(
                f"{path} is an .h5 file of Keras, not a checkpoint: "
                "model.load_weights reads it (guide/keras_files.md)"
            )
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
        """The value stored under `key`, as a NumPy array."""
        with self._readable():
            return self._reader.get_tensor(key)

    def spellings(self):
        """Finds the other names that each tensor has in the graph of objects.

        Returns:
            {name: list of texts}: the names of variables, `dense/kernel/Adam`, which
            the file keeps beside the attributes, and other ways to the same object.
        """
        if self.format == "names":
            return {}
        from google.protobuf.message import DecodeError
        from tensorflow.core.protobuf import trackable_object_graph_pb2

        graph = trackable_object_graph_pb2.TrackableObjectGraph()
        try:
            graph.ParseFromString(self.read(GRAPH))
        except DecodeError:
            raise CommandError(
                f"{self.path}: cannot parse its graph of objects"
            ) from None
        return _spellings(graph.nodes)

    @contextlib.contextmanager
    def _readable(self):
        # The reader raises plain OpErrors, not subclasses, and IndexError.
        tf = tensorflow()
        try:
            yield
        except tf.errors.NotFoundError:
            raise CommandError(f"{self.path}: no such checkpoint") from None
        except (tf.errors.OpError, IndexError, RuntimeError, ValueError) as error:
            line = (str(error).splitlines() or ["?"])[0]
            raise CommandError(f"{self.path}: cannot be read: {line}") from None


def _spellings(nodes):
    paths, waiting = {0: ""}, [0]
    for number in waiting:  # breadth first, as TensorFlow names the keys
        for child in nodes[number].children:
            if child.node_id not in paths:
                paths[child.node_id] = _join(paths[number], child.local_name)
                waiting.append(child.node_id)
    # A list of variables is one node, although it is an attribute of two objects.
    ways, parents = collections.defaultdict(list), collections.defaultdict(list)
    for number, path in paths.items():
        for child in nodes[number].children:
            ways[child.node_id].append(_join(path, child.local_name))
            parents[child.node_id].append((number, child.local_name))
    given = collections.Counter(a.full_name for n in nodes for a in n.attributes)
    found = {}
    for number, node in enumerate(nodes):
        texts = [
            _join(path, name)
            for parent, name in parents[number]
            for path in ways[parent] or [""]
        ]
        for attribute in node.attributes:
            name = attribute.full_name
            # Skip objects without a name, and names of several objects.
            telling = given[name] == 1 and name
            key = attribute.checkpoint_key.removesuffix(SUFFIX)
            found[key] = [name] * bool(telling) + texts
    return found


def _join(path, name):
    return f"{path}/{name}" if path else name


def tensorflow():
    """Imports and returns TensorFlow."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import tensorflow as tf
    except ImportError as error:
        raise needs("convert-checkpoint", error) from None
    return tf
