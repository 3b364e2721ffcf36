"""`tf.gfile`, `tf.app.flags`, `tf.logging` → `tf.io.gfile`, `absl.flags`, `logging`."""

import collections
import contextlib
import logging
import os
import sys
import tempfile
from unittest import mock

import tensorflow.compat.v1 as tf

__all__ = [
    "write_and_read",
    "read_at",
    "load_vocabulary",
    "fresh_folder",
    "list_folder",
    "walk_folder",
    "copy_and_rename",
    "copy_by_ops",
    "read_flags",
    "run_script",
    "log_messages",
    "log_every",
]


def write_and_read(first, second, mode="a", name="notes.txt"):
    """Writes a text file, opens it again to write more, reads it in several ways.

    Args:
        first: text for a new file.
        second: text for the same file, opened again.
        mode: "a", "w", or another mode for the second opening.
        name: path of the file within a temporary directory.

    Returns:
        dict with the sizes on disk before and after `flush` of the first text, and the
        file as `bytes`, as `text`, its first `line`, all `lines`, and the lines of a
        `loop`.

    Raises:
        tf.errors.NotFoundError: the directory of the file does not exist.
        tf.errors.InvalidArgumentError: an unknown mode.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        # --- write
        with tf.gfile.GFile(path, "w") as f:
            f.write(first)
            sizes = [tf.gfile.Stat(path).length]
            f.flush()
            sizes.append(tf.gfile.Stat(path).length)
        with tf.gfile.Open(path, mode) as f:
            f.write(second)
        # --- read
        with tf.gfile.FastGFile(path, "rb") as f:
            raw = f.read()
        with tf.gfile.GFile(path) as f:
            text = f.read()
        with tf.gfile.GFile(path) as f:
            line = f.readline()
        return {
            "sizes": sizes,
            "bytes": raw,
            "text": text,
            "line": line,
            "lines": tf.gfile.GFile(path).readlines(),
            "loop": [line for line in tf.gfile.GFile(path)],
        }


def read_at(content, offset, count, whence=0, mode="rb"):
    """Reads `count` bytes from an offset in a file.

    Args:
        content: bytes of the file.
        offset: begin of the piece.
        count: number of bytes, also in mode "r"; -1 for all that follow.
        whence: the offset counts from the beginning (0), the current position, here 3
            (1), or the end (2).
        mode: "rb" for bytes, "r" for text.

    Returns:
        dict with the `piece`, the `rest` after it, the positions `tell` before and
        after the piece, and the `size` of the file.

    Raises:
        tf.errors.InvalidArgumentError: an unknown whence.
        tf.errors.OutOfRangeError: the file ends before `offset`.
        UnicodeDecodeError: in mode "r", the piece begins or ends within a character.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.bin")
        with tf.gfile.GFile(path, "wb") as f:
            f.write(content)
        # --- read
        with tf.gfile.GFile(path, mode) as f:
            f.seek(3)
            f.seek(offset, whence)
            tell = [f.tell()]
            piece = f.read(count)
            tell.append(f.tell())
            return {"piece": piece, "rest": f.read(), "tell": tell, "size": f.size()}


def load_vocabulary(content):
    """Loads a vocabulary file of one token per line, as {token: id} and as a list.

    Args:
        content: bytes of the file, in UTF-8.

    Returns:
        dict with `ids`, the list of "token id" in the order of the file (tokens are
        stripped; a repeated token has its last id), and `labels`, the list of lines
        without line ends.

    Raises:
        UnicodeDecodeError: the file is not UTF-8.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocab.txt")
        with tf.gfile.GFile(path, "wb") as f:
            f.write(content)
        # --- ids
        ids = collections.OrderedDict()
        index = 0
        with tf.gfile.GFile(path, "r") as reader:
            while True:
                token = tf.compat.as_text(reader.readline())
                if not token:
                    break
                ids[token.strip()] = index
                index += 1
        # --- labels
        labels = [line.rstrip("\n") for line in tf.gfile.GFile(path).readlines()]
    return {"ids": ["%s %d" % item for item in ids.items()], "labels": labels}


def fresh_folder(files, name, deep=True):
    """Makes an empty folder; an existing one is deleted first.

    Args:
        files: list of paths of the files that exist before.
        name: path of the folder.
        deep: whether to make missing parent folders, too.

    Returns:
        dict of pairs (exists, is a directory): for the folder `before` and `after`, and
        for each of the `files` after.

    Raises:
        tf.errors.NotFoundError: a parent folder is missing, and `deep` is False.
        tf.errors.FailedPreconditionError: a parent folder is a file. TensorFlow 1 also
            raises it if the folder itself is a file, which TensorFlow 2 replaces.
    """
    with tempfile.TemporaryDirectory() as folder:
        _make_files(folder, files)
        path = os.path.join(folder, name)

        # --- ask
        def state(name):
            full = os.path.join(folder, name)
            return tf.gfile.Exists(full), tf.gfile.IsDirectory(full)

        # --- make
        before = state(name)
        if tf.gfile.Exists(path):
            tf.gfile.DeleteRecursively(path)
        if deep:
            tf.gfile.MakeDirs(path)
            tf.gfile.MakeDirs(path)  # no error if it exists
        else:
            tf.gfile.MkDir(path)
            tf.gfile.MkDir(path)  # no error here, either
        return {
            "before": before,
            "after": state(name),
            "files": {name: state(name) for name in files},
        }


def _make_files(folder, names):
    """Makes files with their own names as content, and the folders for them."""
    for name in names:
        path = os.path.join(folder, name)
        tf.gfile.MakeDirs(os.path.dirname(path))
        with tf.gfile.GFile(path, "w") as f:
            f.write(name)


def list_folder(files, name, patterns):
    """Lists the names in a folder, and the files that match patterns.

    Args:
        files: list of paths of the files to make first.
        name: path of the folder to list.
        patterns: list of patterns, such as "logs/run?/*.txt".

    Returns:
        dict of lines with the names in the `folder`, the matches of `each` pattern, and
        those of `all` patterns together, in which a file occurs as often as it matches.
        The names of a line are sorted, because the functions promise no order.

    Raises:
        tf.errors.NotFoundError: the folder does not exist, or (in TensorFlow 1) the
            folder of a pattern.
    """
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        full = [os.path.join(root, pattern) for pattern in patterns]
        # --- list
        names = tf.gfile.ListDirectory(os.path.join(root, name))
        each = [tf.gfile.Glob(pattern) for pattern in full]
        together = tf.gfile.Glob(full)
        return {
            "folder": " ".join(sorted(names)),
            "each": [_relative(root, paths) for paths in each],
            "all": _relative(root, together),
        }


def _relative(root, paths):
    return " ".join(sorted(os.path.relpath(path, root) for path in paths))


def walk_folder(files, name=".", skip=None, in_order=True):
    """Walks through a folder and all folders below it.

    Args:
        files: list of paths of the files to make first.
        name: path of the first folder; the result for a missing folder is empty.
        skip: name of folders to skip, only if `in_order`.
        in_order: whether a folder comes before its subfolders, or after them.

    Returns:
        List of lines, "folder: folders/ and files in it", each kind sorted.
    """
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        rows = []
        # --- walk
        walk = tf.gfile.Walk(os.path.join(root, name), in_order=in_order)
        for folder, folders, names in walk:
            # The walk continues with this list, so change it in place.
            folders[:] = sorted(f for f in folders if f != skip)
            inside = [f + "/" for f in folders] + sorted(names)
            rows.append(" ".join([os.path.relpath(folder, root) + ":"] + inside))
    return rows


def copy_and_rename(files, source, copy, name, overwrite=False):
    """Copies a file, renames the copy, and removes the original.

    Args:
        files: list of paths of the files to make first; each contains its path.
        source: path of the file.
        copy: path of its copy.
        name: new path of the copy.
        overwrite: whether to overwrite `copy` and `name` if they exist.

    Returns:
        dict from the paths of the remaining files to (size, content).

    Raises:
        tf.errors.NotFoundError: the file does not exist.
        tf.errors.AlreadyExistsError: `copy` or `name` exists, and `overwrite` is False.
    """
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        source, copy, name = [os.path.join(root, n) for n in (source, copy, name)]
        # --- copy
        tf.gfile.Copy(source, copy, overwrite=overwrite)
        tf.gfile.Rename(copy, name, overwrite=overwrite)
        tf.gfile.Remove(source)
        # --- look
        report = {}
        for path in sorted(tf.gfile.Glob(os.path.join(root, "*"))):
            size = tf.gfile.Stat(path).length
            report[os.path.basename(path)] = size, tf.gfile.GFile(path).read()
    return report


def copy_by_ops(files, source, target, patterns):
    """Copies a file and matches file patterns with TensorFlow ops.

    Args:
        files: list of paths of the files to make first; each contains its path.
        source: path of the file to copy.
        target: path of the copy; a missing folder is made.
        patterns: list of patterns.

    Returns:
        dict with the bytes of the copy, `read`, and the paths that `match` before the
        copy, in order; a file occurs as often as it matches.

    Raises:
        tf.errors.NotFoundError: the file does not exist, or (in TensorFlow 1) the
            folder of a pattern.
    """
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        source, target = os.path.join(root, source), os.path.join(root, target)
        full = [os.path.join(root, pattern) for pattern in patterns]
        # --- build
        with tf.Graph().as_default(), tf.Session() as sess:
            names = tf.placeholder(tf.string, [2])
            old, new = tf.unstack(names)
            match = tf.matching_files(full)
            write = tf.write_file(new, tf.read_file(old))
            with tf.control_dependencies([write]):
                read = tf.read_file(new)
            # --- run
            match = sess.run(match)
            read = sess.run(read, {names: [source, target]})
        match = [os.path.relpath(tf.compat.as_str(path), root) for path in match]
        return {"read": read, "match": match}


flags = tf.app.flags
FLAGS = flags.FLAGS


def _define_flags():
    # In a script, put these lines at the top of the module.
    flags.DEFINE_string("data_dir", None, "Where the records are.")
    flags.DEFINE_integer("steps", 10, "Number of steps.")
    flags.DEFINE_float("rate", 0.5, "Learning rate.")
    flags.DEFINE_boolean("train", True, "Whether to train.")
    flags.DEFINE_list("hosts", ["localhost"], "Addresses.")
    flags.DEFINE_enum("mode", "sync", ["sync", "async"], "How to train.")
    flags.mark_flag_as_required("data_dir")


def _delete_flags():
    # A script does not need this.
    for name in ("data_dir", "steps", "rate", "train", "hosts", "mode"):
        delattr(FLAGS, name)


def read_flags(arguments):
    """Reads flags without `app.run(main)`, as in a notebook or a test.

    Args:
        arguments: list of text, the command line without the program.

    Returns:
        dict with the `values` by name, and the names that were `given`.

    Raises:
        absl.flags.IllegalFlagValueError: a value is invalid for its flag, or a required
            flag is missing.
        absl.flags.UnrecognizedFlagError: an unknown flag.
    """
    # --- define
    _define_flags()
    try:
        # --- parse
        with mock.patch.object(sys, "argv", ["train.py"] + arguments):
            FLAGS.unparse_flags()  # as in a fresh program
            steps = FLAGS.steps  # the first access parses sys.argv
        # --- read
        values = {
            "data_dir": FLAGS.data_dir,
            "steps": steps,
            "rate": FLAGS.rate,
            "train": FLAGS.train,
            "hosts": FLAGS.hosts,
            "mode": FLAGS.mode,
        }
        given = [name for name in values if FLAGS[name].present]
        return {"values": values, "given": given}
    finally:
        _delete_flags()


def run_script(arguments, status=None):
    """Runs a script with flags through `app.run(main)`.

    Args:
        arguments: list of text, the command line without the program.
        status: return value of `main`.

    Returns:
        dict with the `text` that `main` made from its flags, the `rest` of the
        arguments, which are no flags, the exit `status` of the program, and whether the
        line `after` the call was reached.
    """
    report = {"after": False}

    # --- main
    def main(argv):
        report["rest"] = " ".join(argv[1:])
        report["text"] = "%d steps of %.3f on %s, %s, %s" % (
            FLAGS.steps,
            FLAGS.rate,
            "+".join(FLAGS.hosts),
            FLAGS.mode,
            "training" if FLAGS.train else "evaluation",
        )
        return status

    # --- run
    # In a script: if __name__ == "__main__": tf.app.run()
    _define_flags()
    try:
        tf.app.run(main, ["train.py"] + arguments)
        report["after"] = True
    except SystemExit as end:
        report["status"] = end.code
    finally:
        _delete_flags()
    return report


@contextlib.contextmanager
def _recorded(logger):
    """Yields a list that collects "LEVEL: message" of each record of `logger`."""
    lines, handler = [], logging.Handler()
    handler.emit = lambda r: lines.append(r.levelname + ": " + r.getMessage())
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def log_messages(level, step):
    """Logs messages of all levels; returns the messages that pass the verbosity.

    Args:
        level: "DEBUG", "INFO", "WARN" or "ERROR".
        step: a number for the messages.

    Returns:
        List of the logged lines, "LEVEL: message".
    """
    # --- level
    former = tf.logging.get_verbosity()
    tf.logging.set_verbosity(getattr(tf.logging, level))
    try:
        with _recorded(tf.get_logger()) as lines:
            # --- log
            tf.logging.debug("feed of step %d", step)
            tf.logging.info("step %d", step)
            tf.logging.warn("step %d is slow", step)
            tf.logging.error("step %d failed: %s", step, "no data")
            tf.logging.log(tf.logging.INFO, "retry")
            tf.logging.log_if(tf.logging.INFO, "a tenth step", step % 10 == 0)
    finally:
        tf.logging.set_verbosity(former)
    return lines


def log_every(epochs, steps, every):
    """Logs every n-th step, by a counter that epochs do not reset.

    Args:
        epochs: number of epochs.
        steps: number of steps per epoch. A second call continues the count of the first
            one, so `epochs * steps` should be a multiple of `every`.
        every: logs one step out of `every` steps.

    Returns:
        List of the lines that were logged.
    """
    # --- level
    former = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        with _recorded(tf.get_logger()) as lines:
            for epoch in range(epochs):
                for i in range(steps):
                    # --- log
                    # All lines with log_every_n in this file share one counter.
                    tf.logging.log_every_n(
                        tf.logging.INFO, "epoch %d, step %d", every, epoch, i
                    )
    finally:
        tf.logging.set_verbosity(former)
    return lines
