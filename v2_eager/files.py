"""`tf.gfile`, `tf.app.flags`, `tf.logging` → `tf.io.gfile`, `absl.flags`, `logging`."""

import contextlib
import os
import tempfile
from logging import Handler

import tensorflow as tf
from absl import app, flags, logging

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
    """Writes a text file, opens it again to write more, reads it in several ways."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        # --- write
        with tf.io.gfile.GFile(path, "w") as f:
            f.write(first)
            sizes = [tf.io.gfile.stat(path).length]
            f.flush()
            sizes.append(tf.io.gfile.stat(path).length)
        with tf.io.gfile.GFile(path, mode) as f:
            f.write(second)
        # --- read
        with tf.io.gfile.GFile(path, "rb") as f:
            raw = f.read()
        with tf.io.gfile.GFile(path) as f:
            text = f.read()
        with tf.io.gfile.GFile(path) as f:
            line = f.readline()
        with tf.io.gfile.GFile(path) as f:
            lines = f.readlines()
        with tf.io.gfile.GFile(path) as f:
            loop = list(f)
        return {
            "sizes": sizes,
            "bytes": raw,
            "text": text,
            "line": line,
            "lines": lines,
            "loop": loop,
        }


def read_at(content, offset, count, whence=0, mode="rb"):
    """Reads `count` bytes from an offset in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.bin")
        with tf.io.gfile.GFile(path, "wb") as f:
            f.write(content)
        # --- read
        with tf.io.gfile.GFile(path, mode) as f:
            f.seek(3)
            f.seek(offset, whence)
            tell = [f.tell()]
            piece = f.read(count)
            tell.append(f.tell())
            return {"piece": piece, "rest": f.read(), "tell": tell, "size": f.size()}


def load_vocabulary(content):
    """Loads a vocabulary file of one token per line, as {token: id} and as a list."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocab.txt")
        with tf.io.gfile.GFile(path, "wb") as f:
            f.write(content)
        # --- ids
        with tf.io.gfile.GFile(path) as reader:
            ids = {token.strip(): index for index, token in enumerate(reader)}
        # --- labels
        with tf.io.gfile.GFile(path) as reader:
            labels = [line.rstrip("\n") for line in reader]
    return {"ids": ["%s %d" % item for item in ids.items()], "labels": labels}


def fresh_folder(files, name, deep=True):
    """Makes an empty folder; an existing one is deleted first."""
    with tempfile.TemporaryDirectory() as folder:
        _make_files(folder, files)
        path = os.path.join(folder, name)

        # --- ask
        def state(name):
            full = os.path.join(folder, name)
            return tf.io.gfile.exists(full), tf.io.gfile.isdir(full)

        # --- make
        before = state(name)
        if tf.io.gfile.exists(path):
            tf.io.gfile.rmtree(path)
        if deep:
            tf.io.gfile.makedirs(path)
            tf.io.gfile.makedirs(path)  # no error if it exists
        else:
            tf.io.gfile.mkdir(path)
            tf.io.gfile.mkdir(path)  # no error here, either
        return {
            "before": before,
            "after": state(name),
            "files": {name: state(name) for name in files},
        }


def _make_files(folder, names):
    """Makes files with their own names as content, and the folders for them."""
    for name in names:
        path = os.path.join(folder, name)
        tf.io.gfile.makedirs(os.path.dirname(path))
        with tf.io.gfile.GFile(path, "w") as f:
            f.write(name)


def list_folder(files, name, patterns):
    """Lists the names in a folder, and the files that match patterns."""
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        full = [os.path.join(root, pattern) for pattern in patterns]
        # --- list
        names = tf.io.gfile.listdir(os.path.join(root, name))
        each = [tf.io.gfile.glob(pattern) for pattern in full]
        together = tf.io.gfile.glob(full)
        return {
            "folder": " ".join(sorted(names)),
            "each": [_relative(root, paths) for paths in each],
            "all": _relative(root, together),
        }


def _relative(root, paths):
    return " ".join(sorted(os.path.relpath(path, root) for path in paths))


def walk_folder(files, name=".", skip=None, in_order=True):
    """Walks through a folder and all folders below it."""
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        rows = []
        # --- walk
        walk = tf.io.gfile.walk(os.path.join(root, name), topdown=in_order)
        for folder, folders, names in walk:
            # The walk continues with this list, so change it in place.
            folders[:] = sorted(f for f in folders if f != skip)
            inside = [f + "/" for f in folders] + sorted(names)
            rows.append(" ".join([os.path.relpath(folder, root) + ":", *inside]))
    return rows


def copy_and_rename(files, source, copy, name, overwrite=False):
    """Copies a file, renames the copy, and removes the original."""
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        source, copy, name = (os.path.join(root, n) for n in (source, copy, name))
        # --- copy
        tf.io.gfile.copy(source, copy, overwrite=overwrite)
        tf.io.gfile.rename(copy, name, overwrite=overwrite)
        tf.io.gfile.remove(source)
        # --- look
        report = {}
        for path in sorted(tf.io.gfile.glob(os.path.join(root, "*"))):
            size = tf.io.gfile.stat(path).length
            with tf.io.gfile.GFile(path) as f:
                report[os.path.basename(path)] = size, f.read()
    return report


def copy_by_ops(files, source, target, patterns):
    """Copies a file and matches file patterns with TensorFlow ops."""
    with tempfile.TemporaryDirectory() as root:
        _make_files(root, files)
        names = tf.constant([os.path.join(root, n) for n in (source, target)])
        full = [os.path.join(root, pattern) for pattern in patterns]
        # --- build
        match = tf.io.matching_files(full)
        # --- run
        read = _copy(names)
        match = [os.path.relpath(path.decode(), root) for path in match.numpy()]
        return {"read": read.numpy(), "match": match}


@tf.function
def _copy(names):
    source, target = tf.unstack(names, 2)
    write = tf.io.write_file(target, tf.io.read_file(source))
    # A tf.function orders only ops with side effects; ReadFile has none, so order it.
    with tf.control_dependencies([write]):
        return tf.io.read_file(target)


def _define_flags():
    # In a script, put these lines at the top of the module: STEPS = flags.DEFINE_…
    holders = [
        flags.DEFINE_string("data_dir", None, "Where the records are.", required=True),
        flags.DEFINE_integer("steps", 10, "Number of steps."),
        flags.DEFINE_float("rate", 0.5, "Learning rate."),
        flags.DEFINE_boolean("train", True, "Whether to train."),
        flags.DEFINE_list("hosts", ["localhost"], "Addresses."),
        flags.DEFINE_enum("mode", "sync", ["sync", "async"], "How to train."),
    ]
    return {holder.name: holder for holder in holders}


def _delete_flags(holders):
    # A script does not need this.
    for name in holders:
        delattr(flags.FLAGS, name)


def read_flags(arguments):
    """Reads flags without `app.run(main)`, as in a notebook or a test."""
    # --- define
    holders = _define_flags()
    try:
        # --- parse
        flags.FLAGS(["train.py", *arguments])  # no app.run does it
        # --- read
        values = {name: holder.value for name, holder in holders.items()}
        given = [name for name, holder in holders.items() if holder.present]
        return {"values": values, "given": given}
    finally:
        _delete_flags(holders)


def run_script(arguments, status=None):
    """Runs a script with flags through `app.run(main)`."""
    report = {"after": False}

    # --- main
    def main(argv):
        report["rest"] = " ".join(argv[1:])
        report["text"] = "%d steps of %.3f on %s, %s, %s" % (
            holders["steps"].value,
            holders["rate"].value,
            "+".join(holders["hosts"].value),
            holders["mode"].value,
            "training" if holders["train"].value else "evaluation",
        )
        return status

    # --- run
    # In a script: if __name__ == "__main__": app.run(main)
    holders = _define_flags()
    try:
        app.run(main, ["train.py", *arguments])
        report["after"] = True
    except SystemExit as end:
        report["status"] = end.code
    finally:
        _delete_flags(holders)
    return report


@contextlib.contextmanager
def _recorded(logger):
    """Yields a list that collects "LEVEL: message" of each record of `logger`."""
    lines, handler = [], Handler()
    handler.emit = lambda r: lines.append(r.levelname + ": " + r.getMessage())
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)


def log_messages(level, step):
    """Logs messages of all levels; returns the messages that pass the verbosity."""
    # --- level
    former = logging.get_verbosity()
    logging.set_verbosity(getattr(logging, level))
    try:
        with _recorded(logging.get_absl_logger()) as lines:
            # --- log
            logging.debug("feed of step %d", step)
            logging.info("step %d", step)
            logging.warning("step %d is slow", step)
            logging.error("step %d failed: %s", step, "no data")
            logging.log(logging.INFO, "retry")
            logging.log_if(logging.INFO, "a tenth step", step % 10 == 0)
    finally:
        logging.set_verbosity(former)
    return lines


def log_every(epochs, steps, every):
    """Logs every n-th step, by a counter that epochs do not reset."""
    # --- level
    former = logging.get_verbosity()
    logging.set_verbosity(logging.INFO)
    try:
        with _recorded(logging.get_absl_logger()) as lines:
            for epoch in range(epochs):
                for i in range(steps):
                    # --- log
                    # Each line with log_every_n has its own counter.
                    logging.log_every_n(
                        logging.INFO, "epoch %d, step %d", every, epoch, i
                    )
    finally:
        logging.set_verbosity(former)
    return lines
