"""Checkpoints, SavedModels and files that are not what their reader expects."""

import os

import tensorflow as tf

from tf1to2.tests.raisers import v1
from tf1to2.tests.raisers.saved import in_folder, of_saver

Checkpoint = tf.train.Checkpoint


def of_folder(code):
    """A function that calls `code` with a new folder that is empty."""

    def inside(folder):
        os.makedirs(folder)
        code(folder)

    return in_folder(inside)


def start(name, shape, assignment):
    """A function that starts a variable from an old checkpoint."""

    def initialize(path):
        old = of_saver(path, w=[1.0, 2.0])
        with tf.Graph().as_default():
            v1.get_variable(name, shape)
            v1.train.init_from_checkpoint(old, assignment)

    return in_folder(initialize)


def with_saver(code):
    """A function that calls code(session, variable, folder) in a graph."""

    def graph(folder):
        with tf.Graph().as_default(), v1.Session() as sess:
            code(sess, v1.get_variable("w", [2]), folder)

    return in_folder(graph)


def save_in_a_function(folder):
    checkpoint = Checkpoint(w=tf.Variable(1.0))
    tf.function(lambda: checkpoint.save(os.path.join(folder, "new")))()


def manager(**options):
    return in_folder(
        lambda folder: tf.train.CheckpointManager(Checkpoint(), folder, **options)
    )


def keep_in_a_path(sess, w, folder):
    saver = v1.train.Saver([w])
    saver.save(sess, os.path.join(folder, "old"), latest_filename="a/b")


def add_again(sess, w, folder):
    builder = v1.saved_model.Builder(os.path.join(folder, "export"))
    sess.run(w.initializer)
    for _ in range(2):
        builder.add_meta_graph_and_variables(sess, ["serve"])


def add_too_early(sess, w, folder):
    v1.saved_model.Builder(os.path.join(folder, "export")).add_meta_graph(["serve"])


def export_over(folder):
    tf.io.write_file(os.path.join(folder, "a"), "")
    v1.saved_model.Builder(folder)


def call_signature(*args, **kwargs):
    """A function that calls a signature whose input is `x`."""

    def serve(folder):
        module = tf.Module()
        spec = tf.TensorSpec([None, 2], tf.float32, name="x")
        module.call = tf.function(lambda x: x * 2, input_signature=[spec])
        tf.saved_model.save(module, folder, signatures=module.call)
        tf.saved_model.load(folder).signatures["serving_default"](*args, **kwargs)

    return in_folder(serve)


def load_text(name, text):
    """A function that loads a SavedModel of this text."""

    def load(folder):
        tf.io.write_file(os.path.join(folder, name), text)
        tf.saved_model.load(folder)

    return in_folder(load)


def replace_in_a_list(folder):
    module = tf.Module()
    module.rows = [tf.Variable(1.0), tf.Variable(2.0)]
    module.rows[0] = tf.Variable(3.0)
    Checkpoint(module=module).save(os.path.join(folder, "new"))


def numbers_as_keys(folder):
    module = tf.Module()
    module.rows = {1: tf.Variable(1.0)}
    Checkpoint(module=module).save(os.path.join(folder, "new"))


X = tf.ones([1, 2])

ERRORS = {
    "is not found in … checkpoint …": start("net/w", [2], {"kernel": "net/w"}),
    "(… in …) is not found in": start("net/w", [2], {"scope/": "net/"}),
    "doesn't match with shape": start("net/w", [5], {"w": "net/w"}),
    "Couldn't find 'checkpoint'": of_folder(tf.train.load_checkpoint),
    "Is a directory": of_folder(lambda folder: Checkpoint().restore(folder)),
    "save_path when it is None": with_saver(
        lambda sess, w, folder: v1.train.Saver([w]).restore(sess, None)
    ),
    "to be object-based": in_folder(
        lambda path: tf.train.CheckpointView(of_saver(path, w=[1.0, 2.0]))
    ),
    "must be a Session": with_saver(
        lambda sess, w, folder: v1.train.Saver([w]).save(None, folder)
    ),
    "before save if defer": with_saver(
        lambda sess, w, folder: v1.train.Saver(defer_build=True).save(sess, folder)
    ),
    "Checkpoint.save() from a function": in_folder(save_in_a_function),
    "should be passed in a dict or a list": with_saver(
        lambda sess, w, folder: v1.train.Saver("w")
    ),
    "Variable to save is not": with_saver(
        lambda sess, w, folder: v1.train.Saver([w + 1])
    ),
    "names_to_saveables must": with_saver(
        lambda sess, w, folder: v1.train.Saver({"w": w + 1})
    ),
    "At least two variables": with_saver(
        lambda sess, w, folder: v1.train.Saver([w, w])
    ),
    "must not contain path": with_saver(keep_in_a_path),
    "Expected a positive integer or": manager(max_to_keep=0),
    "`step_counter` should": manager(max_to_keep=1, checkpoint_interval=5),
    "File does not exist. Received": with_saver(
        lambda sess, w, folder: v1.train.import_meta_graph(f"{folder}.meta")
    ),
    "already exists, and isn't": in_folder(export_over),
    "has already been saved": with_saver(add_again),
    "has not been saved yet": with_saver(add_too_early),
    "positional arguments, got": call_signature(X, X),
    "missing required arguments: ": call_signature(),
    "got unexpected keyword arguments: ": call_signature(x=X, y=X),
    "Cannot parse file": load_text("saved_model.pb", "no proto"),
    "argument: 'max_to_keep'": manager(),
    "'dict' object has no attribute 'numpy'": lambda: {}.numpy(),
    "'tensorflow.SavedModel'": load_text("saved_model.pb", "no proto"),
    "A list element was replaced": in_folder(replace_in_a_list),
    "a dictionary wrapper": in_folder(numbers_as_keys),
    "; No such file": lambda: tf.io.read_file("no_such_cat.jpg"),
    "Unknown image file format": lambda: tf.io.decode_image("cat.jpg"),
    "File system scheme": lambda: tf.io.gfile.exists("s3://bucket/file"),
}
