"""`tf.train.Saver`, `init_from_checkpoint` → `tf.train.Checkpoint`, also by names."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore

__all__ = [
    "train",
    "stop_and_resume",
    "train_in_scope",
    "restore_part",
    "start_from",
    "load_arrays",
    "inspect",
    "keep",
]


def train(x, y, weights, steps, files=None, rate=0.125):
    """Trains with Adam, from a TensorFlow 1 checkpoint if given, and writes a new one.

    Raises:
        tf.errors.InvalidArgumentError: a variable has another dtype in the checkpoint.
        ValueError: a variable has another shape in the checkpoint.
    """
    # --- build
    trainer = Trainer(weights, rate)
    with tempfile.TemporaryDirectory() as folder:
        # --- restore
        if files is not None:
            restore.by_name(_unpack(files, folder), trainer.by_name())
        # --- step
        batch = tf.constant(x), tf.constant(y)
        losses = [trainer.step(*batch).numpy() for _ in range(steps)]
        losses = np.array(losses, x.dtype)
        # --- save
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, trainer.by_name())
        state = {name: v.numpy() for name, v in trainer.by_name().items()}
        return {"losses": losses, "state": state, "files": _pack(path)}


class Trainer(tf.Module):
    """A linear regression and its Adam, with slots and beta powers.

    Args:
        weights: {"kernel": [features, units] array, "bias": [units] array}, the initial
            values.
        rate: learning rate.
    """

    def __init__(self, weights, rate):
        super().__init__()
        self.kernel = tf.Variable(weights["kernel"], name="kernel")
        self.bias = tf.Variable(weights["bias"], name="bias")
        self.adam = optimizers.Adam(rate).create_slots([self.kernel, self.bias])
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )

    def by_name(self):
        """Returns {name in TensorFlow 1: variable}, the map for old checkpoints."""
        return restore.named(self)

    @tf.function
    def step(self, x, y):
        """Takes one step and returns the loss before it."""

        def loss():
            outputs = tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)
            return tf.reduce_mean(tf.square(outputs - y))

        return self.adam.minimize(loss, [self.kernel, self.bias], self.global_step)


def _pack(path):
    suffixes = [".index", ".data-00000-of-00001"]
    return {suffix: np.fromfile(path + suffix, np.uint8) for suffix in suffixes}


def _unpack(files, folder):
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def stop_and_resume(x, y, weights, stop, steps, rate=0.125):
    """Trains, stops, and resumes in a new program from the latest checkpoint."""
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (stop, steps):
            # --- build
            trainer = Trainer(weights, rate)
            # Saves every variable of `trainer`, named by the path of attributes.
            checkpoint = tf.train.Checkpoint(trainer=trainer)
            manager = tf.train.CheckpointManager(
                checkpoint, folder, max_to_keep=5, checkpoint_name="model.ckpt"
            )
            # --- restore
            if manager.latest_checkpoint is not None:
                # Without the assertion, a variable that is not found keeps its value.
                checkpoint.restore(manager.latest_checkpoint).assert_consumed()
            # --- step
            batch = tf.constant(x), tf.constant(y)
            losses += [trainer.step(*batch).numpy() for _ in range(count)]
            # --- save
            manager.save(checkpoint_number=trainer.global_step)
        state = {name: v.numpy() for name, v in trainer.by_name().items()}
        latest = os.path.basename(manager.latest_checkpoint)
    return {"losses": losses, "state": state, "latest": latest}


def train_in_scope(w, gradients, scope, kind="variable", rate=0.125):
    """Trains with an Adam made inside a scope; returns the checkpoint's arrays."""
    with tempfile.TemporaryDirectory() as folder:
        # --- build
        variable = tf.Variable(w, name="net/w")
        # --- scope
        if kind == "variable":
            adam = optimizers.Adam(rate).create_slots([variable])
            saved = {**restore.named(variable), **restore.named(adam, scope=scope)}
        else:
            with tf.name_scope(scope):
                adam = optimizers.Adam(rate)
            saved = restore.named(variable, adam.create_slots([variable]))
        # --- run
        for one in gradients:
            adam.apply_gradients([(one, variable)])
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, saved)
        # --- read
        reader = tf.train.load_checkpoint(path)
        return {name: reader.get_tensor(name) for name in sorted(saved)}


def restore_part(saved, start, names):
    """Restores some variables from another model's checkpoint with a map of names.

    Raises:
        tf.errors.InvalidArgumentError: a variable has another dtype in the checkpoint.
        ValueError: a variable has another shape in the checkpoint.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        # --- build
        variables = {name: tf.Variable(array) for name, array in start.items()}
        # --- restore
        restore.by_name(path, {k: variables[name] for k, name in names.items()})
        return {name: v.numpy() for name, v in variables.items()}


def _write(arrays, folder):
    """Writes a checkpoint with these arrays, and returns its path."""
    path = os.path.join(folder, "model.ckpt")
    restore.save(path, arrays)
    return path


def start_from(saved, start, assignment):
    """Initializes variables from a checkpoint with a map of names or scopes."""
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        # --- build
        variables = {name: tf.Variable(array) for name, array in start.items()}
        # --- restore
        restore.init_from_checkpoint(path, assignment, variables)
        return {name: v.numpy() for name, v in variables.items()}


def load_arrays(x, pretrained, start, skip=()):
    """Loads pretrained weights from a .npy file, layer by layer, and runs the network.

    Raises:
        ValueError: an array has another shape.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pretrained.npy")
        np.save(path, pretrained)
        # --- build
        layers = {
            name: {"weights": tf.Variable(weights), "biases": tf.Variable(biases)}
            for name, (weights, biases) in start.items()
        }

        @tf.function
        def network(x):
            for layer in layers.values():
                product = tf.matmul(x, layer["weights"])
                x = tf.nn.relu(tf.nn.bias_add(product, layer["biases"]))
            return x

        # --- load
        arrays = np.load(path, allow_pickle=True, encoding="latin1").item()
        for name, parts in arrays.items():
            if name not in skip:
                for part in parts:
                    key = "biases" if part.ndim == 1 else "weights"
                    layers[name][key].assign(part)
        # --- ask
        variables = {
            f"{name}/{key}": variable.numpy()
            for name, layer in layers.items()
            for key, variable in layer.items()
        }
        return {"y": network(tf.constant(x)).numpy(), "variables": variables}


def inspect(saved, name):
    """Lists the names, shapes and dtypes in a checkpoint, and reads one tensor."""
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        # --- read
        reader = tf.train.load_checkpoint(path)
        shapes = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
        if not reader.has_tensor(name):
            raise tf.errors.NotFoundError(None, None, f"no {name} in the checkpoint")
        return {
            "list": [f"{key} {shapes[key]}" for key in sorted(shapes)],
            "dtypes": [dtypes[key].name for key in sorted(shapes)],
            "value": reader.get_tensor(name),
        }


def keep(runs, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0):
    """Saves checkpoints in several runs of a program, and keeps only the latest ones.

    Args:
        max_to_keep: how many checkpoints to keep; None or 0 keeps all.
    """
    with tempfile.TemporaryDirectory() as folder:
        for steps in runs:
            # --- build
            global_step = tf.Variable(0, dtype=tf.int64)
            checkpoint = tf.train.Checkpoint(global_step=global_step)
            # Reads the state file, and so knows the checkpoints of earlier runs.
            manager = tf.train.CheckpointManager(
                checkpoint,
                folder,
                max_to_keep or None,
                keep_checkpoint_every_n_hours,
                checkpoint_name="model.ckpt",
            )
            # --- save
            for step in steps:
                global_step.assign(step)
                manager.save(checkpoint_number=step)
        # --- state
        latest = manager.latest_checkpoint
        key = "global_step/.ATTRIBUTES/VARIABLE_VALUE"
        return {
            "files": sorted(os.listdir(folder)),
            "latest": os.path.basename(latest),
            "all": [os.path.basename(path) for path in manager.checkpoints],
            "resumed": tf.train.load_variable(latest, key),
        }
