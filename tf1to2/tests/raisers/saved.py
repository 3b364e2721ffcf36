"""Checkpoints, SavedModels and files of Keras."""

import os
import tempfile

import h5py
import numpy as np
import tensorflow as tf

from tf1to2.parity.v1 import legacy
from tf1to2.tests.raisers import logged, v1

Checkpoint = tf.train.Checkpoint


def in_folder(code):
    """A function that calls `code` with a path in a new folder."""

    def inside():
        with tempfile.TemporaryDirectory() as folder:
            return code(os.path.join(folder, "model"))

    return inside


def of_saver(path, **arrays):
    """Writes a checkpoint as TensorFlow 1's Saver does; its path."""
    with legacy(), v1.Session() as sess:
        for name, array in arrays.items():
            v1.get_variable(name, initializer=np.asarray(array, "float32"))
        sess.run(v1.global_variables_initializer())
        return v1.train.Saver().save(sess, path)


def in_checkpoint(path, call):
    """Writes the iterator of a dataset that calls Python into a checkpoint."""
    numbers = tf.data.Dataset.range(3).map(lambda n: call(abs, [n], tf.int64))
    return Checkpoint(iterator=iter(numbers)).save(path)


def cut_off(path):
    tf.io.write_file(path, "12345")
    return list(tf.data.FixedLengthRecordDataset(path, 4))


def restore(path, **shapes):
    """Restores variables of these shapes by name."""
    with legacy(), v1.Session() as sess:
        for name, shape in shapes.items():
            v1.get_variable(name, shape)
        v1.train.Saver().restore(sess, path)


def scope_to_scope(path):
    """Names a scope and another one, the first without its slash."""
    with legacy():
        v1.get_variable("new/w", [1])
        v1.train.init_from_checkpoint(path, {"old": "new/"})


def records(path, damage):
    """Writes a file with a record, damages it, and reads it."""
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"a record")
    with open(path, "rb") as file:
        damaged = damage(file.read())
    with open(path, "wb") as file:
        file.write(damaged)
    return list(tf.data.TFRecordDataset(path))


def of_objects(path, **values):
    """Writes a checkpoint of objects; its path."""
    return Checkpoint(**{k: tf.Variable(v) for k, v in values.items()}).save(path)


def lost(path):
    saved = of_objects(path, v=[1.0], w=[1.0])

    def forget():
        status = Checkpoint(v=tf.Variable([1.0])).restore(saved)
        del status

    logged(forget)()


def module(code, **options):
    made = tf.Module()
    made.add = tf.function(code, **options)
    return made


def signed(code):
    return module(code, input_signature=[tf.TensorSpec([None], name="x")])


def exported(path, made=None, **options):
    tf.saved_model.save(made or signed(lambda x: x + 1), path, **options)
    return path


def of_session(path):
    """Writes a SavedModel as TensorFlow 1 does; its path."""
    with legacy(), v1.Session() as sess:
        x = v1.placeholder(tf.float32)
        v1.saved_model.simple_save(sess, path, {"x": x}, {"y": x + 1})
    return path


def untracked(path):
    w = tf.Variable(1.0)
    exported(path, signed(lambda x: x + w))


def plain():
    return module(lambda x: x + 1)


def parse(path):
    with open(path, "wb") as file:
        file.write(b"\xff\xff")
    with open(path, "rb") as file:
        v1.GraphDef().ParseFromString(file.read())


def keras(*layers, size=2):
    return tf.keras.Sequential(
        [tf.keras.Input([size]), *(layers or [tf.keras.layers.Dense(1)])]
    )


def load_other_weights(path):
    path += ".weights.h5"
    keras().save_weights(path)
    keras(size=3).load_weights(path)


def load_too_few(path):
    path += ".weights.h5"
    keras().save_weights(path)
    keras(*(tf.keras.layers.Dense(1) for _ in "ab")).load_weights(path)


def deserialize_of_keras_2(_):
    module = "keras.src.engine.functional"
    tf.keras.layers.deserialize(
        {"module": module, "class_name": "Functional", "config": {}}
    )


class Mine(tf.keras.layers.Layer):
    def call(self, x):
        return x


def old_layer(_):
    """A layer as Keras of 1.15.5 wrote it into a file."""
    initializer = {"class_name": "GlorotUniform", "config": {"dtype": "float32"}}
    tf.keras.layers.Dense.from_config({"units": 1, "kernel_initializer": initializer})


def decode(path):
    keras().save(path + ".h5")
    with h5py.File(path + ".h5") as file:
        file.attrs["model_config"].decode("utf8")


def load_by_name(path):
    keras().save_weights(path + ".weights.h5")
    keras().load_weights(path + ".weights.h5", by_name=True)


def load_short_names(path):
    model = keras()
    model.compile("sgd", "mse")
    model.save(path + ".h5")
    tf.keras.models.load_model(path + ".h5")


def reload(path, layer):
    path += ".keras"
    keras(layer).save(path)
    tf.keras.models.load_model(path)


def no_checkpoint(times):
    def load(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("no checkpoint" * times)
        tf.train.load_checkpoint(path)

    return load


ERRORS = {
    "'serving_default'": lambda p: tf.saved_model.load(
        exported(p, tf.Module())
    ).signatures["serving_default"],
    "not found in checkpoint": lambda p: restore(of_saver(p, w=[1.0]), b=[1]),
    "lhs shape=": lambda p: restore(of_saver(p, w=[1.0]), w=[2]),
    "Received incompatible tensor": lambda p: Checkpoint(
        w=tf.Variable([1.0, 2.0])
    ).restore(of_objects(p, w=[1.0])),
    "TensorSliceReader": tf.train.load_checkpoint,
    "bad magic number": no_checkpoint(9),
    "too short to be an sstable": no_checkpoint(1),
    "valid checkpoint": lambda p: restore(p, w=[1]),
    "corrupted record": lambda p: records(p, lambda b: b[:-5] + b"x" + b[-4:]),
    "truncated record": lambda p: records(p, lambda b: b[:-1]),
    "Parent directory of": lambda p: of_saver(f"{p}/new/model", w=[1.0]),
    "Assignment map": lambda p: scope_to_scope(of_saver(p, **{"old/w": [1.0]})),
    "No checkpoint specified": lambda p: (
        Checkpoint().restore(tf.train.latest_checkpoint(p)).assert_consumed()
    ),
    "had attributes": lambda p: (
        Checkpoint(w=tf.Variable([1.0])).restore(of_saver(p, w=[1.0])).assert_consumed()
    ),
    "Existing variables": lambda p: restore(of_objects(p, w=[1.0]), w=[1]),
    "Unresolved object": lambda p: (
        Checkpoint(v=tf.Variable([1.0]))
        .restore(of_objects(p, v=[1.0], w=[1.0]))
        .assert_consumed()
    ),
    "Python objects that": lambda p: (
        Checkpoint(v=tf.Variable([1.0]))
        .restore(of_objects(p, w=[1.0]))
        .assert_existing_objects_matched()
    ),
    "being deleted": lost,
    "in the restored object": lost,
    "'_UserObject'": lambda p: tf.saved_model.load(exported(p))(tf.ones([1])),
    "'_UserObject' object has": lambda p: (
        tf.saved_model.load(exported(p)).trainable_variables
    ),
    "'_UserObject' object has no attribute 'predict'": lambda p: (
        tf.saved_model.load(exported(p)).predict
    ),
    "Checkpoint.__init__() takes": lambda p: Checkpoint(keras(), plain()),
    "to be a trackable": lambda p: Checkpoint(epoch=3),
    "object of type `Trackable`": lambda p: tf.saved_model.save(abs, p),
    "'_UserObject' object has no attribute 'prune'": lambda p: (
        tf.saved_model.load(exported(p)).prune
    ),
    "cannot open shared object file": tf.load_op_library,
    "'AutoTrackable' object has": lambda p: (
        tf.saved_model.load(of_session(p)).trainable_variables
    ),
    "No files matched": lambda p: tf.data.Dataset.list_files(p + "*"),
    "PyFunc is stateful": lambda p: in_checkpoint(p, tf.numpy_function),
    "EagerPyFunc is stateful": lambda p: in_checkpoint(p, tf.py_function),
    "the record length": cut_off,
    "zero restored": lambda p: tf.saved_model.load(exported(p, plain())).add(1.0),
    "generate a signature": lambda p: exported(p, m := plain(), signatures=m.add),
    "'untracked'": untracked,
    "SavedModel file": tf.saved_model.load,
    "Error parsing": parse,
    "to `tags`": lambda p: tf.saved_model.load(exported(p), tags=["train"]),
    "supports V3 `.keras` …`.weights.h5`": lambda p: keras().load_weights(
        of_saver(p, w=[1.0])
    ),
    "File format": lambda p: tf.keras.models.load_model(exported(p)),
    "attribute 'decode'": decode,
    "`by_name`": load_by_name,
    "KerasSaveable": load_short_names,
    "Invalid filepath": lambda p: keras().save(p),
    "The filename": lambda p: keras().save_weights(p),
    "`save_format`": lambda p: keras().save(p, save_format="tf"),
    "could not be loaded": load_other_weights,
    "during loading": load_too_few,
    "its parent module": deserialize_of_keras_2,
    "deserialized properly": lambda p: reload(p, Mine()),
    "Error when deserializing": old_layer,
    "Could not locate": lambda p: tf.keras.layers.deserialize(
        {"class_name": "Mine", "config": {}}
    ),
    "`Lambda`": lambda p: reload(p, tf.keras.layers.Lambda(lambda x: x)),
}
ERRORS = {part: in_folder(code) for part, code in ERRORS.items()}
