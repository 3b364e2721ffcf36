"""Writes the arrays of a request to files, and gives programs the paths.

Like `v1`, this module also runs on Python 3.7, beside the genuine TensorFlow 1.15.
"""

import contextlib
import os
import shutil
import tempfile

import numpy as np

try:
    import tensorflow.compat.v1 as tf
except ImportError:  # before 1.13
    import tensorflow as tf


@contextlib.contextmanager
def placed(request):
    """Writes the files of a request; the context gives its arguments with paths.

    Args:
        request: see `v1.run`. Its entry `files` is {position: kind}. The argument of a
            "checkpoint" is {name: array or number}; it becomes the path of a
            checkpoint, as `tf.train.Saver` writes it. The argument of "files" is what
            `written` returned, and becomes the path of this checkpoint. The argument of
            a "folder" becomes the path of an empty folder. On exit the files are
            deleted.
    """
    args, kinds = list(request["args"]), request.get("files", {})
    folder = tempfile.mkdtemp() if kinds else ""
    try:
        for position, kind in kinds.items():
            path = os.path.join(folder, str(position))
            if kind == "checkpoint":
                _save(path, args[position])
            elif kind == "files":
                path = _unpack(path, args[position])
            else:
                os.mkdir(path)
            args[position] = path
        yield args
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def written(request, args):
    """Reads the files in a program's folders: {name: bytes as a uint8 array}.

    Args:
        request: see `placed`.
        args: the arguments with paths.
    """
    kinds = request.get("files", {})
    folders = [args[position] for position in kinds if kinds[position] == "folder"]
    return {
        name: np.fromfile(os.path.join(folder, name), np.uint8)
        for folder in folders
        for name in sorted(os.listdir(folder))
        if os.path.isfile(os.path.join(folder, name))
    }


def _unpack(folder, files):
    """Writes the files of a checkpoint; returns its path."""
    os.mkdir(folder)
    for name, content in files.items():
        content.tofile(os.path.join(folder, name))
    (index,) = [name for name in files if name.endswith(".index")]
    return os.path.join(folder, index[: -len(".index")])


def _save(path, values):
    """Writes {name: array, or Python number in float32 or int32} as a checkpoint."""
    with tf.Graph().as_default(), tf.Session() as sess:
        names = sorted(values)
        tensors = [tf.constant(values[name]) for name in names]
        sess.run(
            tf.raw_ops.SaveV2(
                prefix=path,
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=tensors,
            )
        )
