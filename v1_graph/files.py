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
    """Writes a text file in two goes, and reads it in every way.

    Args:
        first: text for a new file.
        second: text for the same file, opened again.
        mode: "a", "w", or what else the second opening shall be.
        name: path of the file in a directory of its own.

    Returns:
        dict with the sizes on disk before and after `flush` of the first text, and the
        file as `bytes`, as `text`, its first `line`, all `lines`, those of a `loop`.

    Raises:
        tf.errors.NotFoundError: the directory of the file does not exist.
        tf.errors.InvalidArgumentError: there is no such mode.
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
    """Reads a piece from the middle of a file.

    Args:
        content: bytes of the file.
        offset: where the piece begins.
        count: how many bytes, also in mode "r"; -1 for all that follow.
        whence: 0 from the beginning, 1 from where the file stands (3 here), 2 from its
            end.
        mode: "rb" for bytes, "r" for text.

    Returns:
        dict with the `piece`, the `rest` after it, the positions `tell` before and
        after the piece, and the `size` of the file.

    Raises:
        tf.errors.InvalidArgumentError: there is no such whence.
        tf.errors.OutOfRangeError: the file ends before `offset`.
        UnicodeDecodeError: the piece of a text begins or ends within a character.
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
    """Loads a file with a token in each line, as numbers by token and as a list.

    Args:
        content: bytes of the file, in UTF-8.

    Returns:
        dict with `ids`, the list of "token number" in the order of the file (tokens
        without white space around them, of a repeated one the last number), and
        `labels`, the list of lines without their ends.

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
    """Empties a folder for logs if there is one, and makes it.

    Args:
        files: list of paths of the files that there are before.
        name: path of the folder.
        deep: whether to make the folders above it, too.

    Returns:
        dict of pairs (exists, is a directory): of the folder `before` and `after`, and
        of each of the `files` after.

    Raises:
        tf.errors.NotFoundError: a folder above it is missing, and not `deep`.
        tf.errors.FailedPreconditionError: a folder above it is a file, or (in
            TensorFlow 1) it is one itself: TensorFlow 2 puts the folder in its place.
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
            tf.gfile.MakeDirs(path)  # once more does no harm
        else:
            tf.gfile.MkDir(path)
            tf.gfile.MkDir(path)  # neither here
        return {
            "before": before,
            "after": state(name),
            "files": {name: state(name) for name in files},
        }


def _make_files(folder, names):
    """Makes files which hold their own names, and the folders that they need."""
    for name in names:
        path = os.path.join(folder, name)
        tf.gfile.MakeDirs(os.path.dirname(path))
        with tf.gfile.GFile(path, "w") as f:
            f.write(name)


def list_folder(files, name, patterns):
    """Lists a folder, and the files that match patterns.

    Args:
        files: list of paths of the files that there are.
        name: path of the folder to be listed.
        patterns: list of patterns, such as "logs/run?/*.txt".

    Returns:
        dict of lines with the names in the `folder`, the matches of `each` pattern, and
        those of `all` patterns together, a file as often as it matches. The names of a
        line are sorted: no function promises an order.

    Raises:
        tf.errors.NotFoundError: there is no such folder, or (in TensorFlow 1) not the
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
    """Walks through a folder and all below it.

    Args:
        files: list of paths of the files that there are.
        name: path of the folder to begin with; a missing one has nothing in it.
        skip: name of the folders to leave out, where `in_order`.
        in_order: whether a folder comes before the folders in it, or after them.

    Returns:
        List of lines, "folder: folders/ and files in it", each kind sorted.
    """
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        rows = []
        # --- walk
        walk = tf.gfile.Walk(os.path.join(root, name), in_order=in_order)
        for folder, folders, names in walk:
            # What is done to this very list is where the walk goes on.
            folders[:] = sorted(f for f in folders if f != skip)
            inside = [f + "/" for f in folders] + sorted(names)
            rows.append(" ".join([os.path.relpath(folder, root) + ":"] + inside))
    return rows


def copy_and_rename(files, source, copy, name, overwrite=False):
    """Copies a file, renames the copy, and removes the file.

    Args:
        files: list of paths of the files that there are; each holds its path.
        source: path of the file.
        copy: path of its copy.
        name: path that the copy shall have.
        overwrite: whether the two may be there already.

    Returns:
        dict from the paths of the files that there are in the end to (size, what they
        hold).

    Raises:
        tf.errors.NotFoundError: there is no such file.
        tf.errors.AlreadyExistsError: `copy` or `name` is there, and not `overwrite`.
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
    """Copies a file and looks for files, by ops.

    Args:
        files: list of paths of the files that there are; each holds its path.
        source: path of the file to be copied.
        target: path of the copy; the folder is made if need be.
        patterns: list of patterns.

    Returns:
        dict with the bytes of the copy, `read`, and the paths that `match` before, in
        order, a file as often as it matches.

    Raises:
        tf.errors.NotFoundError: there is no such file, or (in TensorFlow 1) not the
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
    # In a script these lines stand at the top of the module.
    flags.DEFINE_string("data_dir", None, "Where the records are.")
    flags.DEFINE_integer("steps", 10, "Number of steps.")
    flags.DEFINE_float("rate", 0.5, "Learning rate.")
    flags.DEFINE_boolean("train", True, "Whether to train.")
    flags.DEFINE_list("hosts", ["localhost"], "Addresses.")
    flags.DEFINE_enum("mode", "sync", ["sync", "async"], "How to train.")
    flags.mark_flag_as_required("data_dir")


def _delete_flags():
    # A script need not: it ends first.
    for name in ("data_dir", "steps", "rate", "train", "hosts", "mode"):
        delattr(FLAGS, name)


def read_flags(arguments):
    """Reads flags where nothing runs `main`: in a notebook or a test.

    Args:
        arguments: list of text, the command line without the program.

    Returns:
        dict with the `values` by name, and the names that were `given`.

    Raises:
        absl.flags.IllegalFlagValueError: a value does not suit its flag, or a required
            one is missing.
        absl.flags.UnrecognizedFlagError: there is no such flag.
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
    """Runs the `main` of a script with flags.

    Args:
        arguments: list of text, the command line without the program.
        status: what `main` returns.

    Returns:
        dict with the text that `main` made of its flags, the arguments that were left
        over for it, `rest`, the `status` with which the program ends, and whether the
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
    """The list of "LEVEL: message" that `logger` gets meanwhile."""
    lines, handler = [], logging.Handler()
    handler.emit = lambda r: lines.append(r.levelname + ": " + r.getMessage())
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def log_messages(level, step):
    """Logs a message of each level, of which the level in force lets some pass.

    Args:
        level: "DEBUG", "INFO", "WARN" or "ERROR".
        step: a number for the messages.

    Returns:
        List of the lines that passed, "LEVEL: message".
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
    """Logs one step of so many, by a counter that no epoch resets.

    Args:
        epochs: how many epochs.
        steps: how many steps each; a second call goes on counting where the first one
            ended, so let `epochs * steps` be a multiple of `every`.
        every: logs one step of so many.

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
                    # All such lines of this file share the counter.
                    tf.logging.log_every_n(
                        tf.logging.INFO, "epoch %d, step %d", every, epoch, i
                    )
    finally:
        tf.logging.set_verbosity(former)
    return lines
