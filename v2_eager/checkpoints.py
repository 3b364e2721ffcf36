"""Checkpoints: a Saver that goes by names → objects that go by attributes, or names."""

import os
import tempfile

import numpy as np
import tensorflow as tf

__all__ = [
    "train",
    "stop_and_resume",
    "restore_part",
    "start_from",
    "inspect",
    "keep",
]


def train(x, y, weights, steps, files=None, rate=0.125):
    """Trains by Adam, from a checkpoint of TensorFlow 1 if given, and writes another.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        weights: {"kernel": [features, units] array, "bias": [units] array} to start at.
        steps: how many steps to take.
        files: {suffix: bytes as a uint8 array}, the files of a checkpoint, or None.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, the `state` by the names of the
        checkpoint, and its `files`.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a variable.
        tf.errors.InvalidArgumentError: it holds one of another dtype.
        ValueError: it holds one of another shape.
    """
    # --- build
    trainer = Trainer(weights, rate)
    with tempfile.TemporaryDirectory() as folder:
        # --- restore
        if files is not None:
            restore_by_name(_unpack(files, folder), trainer.by_name())
        # --- step
        batch = tf.constant(x), tf.constant(y)
        losses = trainer.steps(*batch, tf.constant(steps)).numpy()
        # --- save
        path = os.path.join(folder, "model.ckpt")
        save_by_name(path, trainer.by_name())
        state = {name: v.numpy() for name, v in trainer.by_name().items()}
        return {"losses": losses, "state": state, "files": _pack(path)}


def restore_by_name(path, variables):
    """Does what `tf.train.Saver(variables).restore` did, by the kernel that it called.

    Args:
        path: prefix of a checkpoint of TensorFlow 1.
        variables: {name in the checkpoint: variable}.
    """
    # All is read before the first assignment: a missing name changes nothing.
    values = tf.raw_ops.RestoreV2(
        prefix=path,
        tensor_names=list(variables),
        shape_and_slices=[""] * len(variables),
        dtypes=[v.dtype for v in variables.values()],
    )
    for variable, value in zip(variables.values(), values):
        variable.assign(value)


def save_by_name(path, variables):
    """Does what `tf.train.Saver(variables).save` did: TensorFlow 1 reads the file."""
    names = sorted(variables)  # the order of a Saver: the same bytes
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[variables[name].read_value() for name in names],
    )


class Trainer(tf.Module):
    """A linear regression with Adam, whose slots and powers are its attributes, too."""

    def __init__(self, weights, rate):
        super().__init__()
        self.kernel = tf.Variable(weights["kernel"])
        self.bias = tf.Variable(weights["bias"])
        self.slots = {
            name: [tf.Variable(tf.zeros_like(v), trainable=False) for _ in range(2)]
            for name, v in (("kernel", self.kernel), ("bias", self.bias))
        }
        self.rate, self.betas = rate, [0.9, 0.999]
        # float32 as in TensorFlow 1, whatever the dtype of the weights.
        self.powers = [tf.Variable(b, False, dtype=tf.float32) for b in self.betas]
        self.global_step = tf.Variable(0, trainable=False, dtype=tf.int64)

    def by_name(self):
        """{name that TensorFlow 1 gave it: variable}: the map for old checkpoints."""
        return {
            "kernel": self.kernel,
            "bias": self.bias,
            "global_step": self.global_step,
            "beta1_power": self.powers[0],
            "beta2_power": self.powers[1],
            "kernel/Adam": self.slots["kernel"][0],
            "kernel/Adam_1": self.slots["kernel"][1],
            "bias/Adam": self.slots["bias"][0],
            "bias/Adam_1": self.slots["bias"][1],
        }

    @tf.function
    def step(self, x, y):
        """Takes one step, and returns the loss before it."""
        with tf.GradientTape() as tape:
            outputs = tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)
            loss = tf.reduce_mean(tf.square(outputs - y))
        sources = {"kernel": self.kernel, "bias": self.bias}
        numbers = dict(zip(("beta1_power", "beta2_power"), self.powers))
        numbers.update(lr=self.rate, beta1=self.betas[0], beta2=self.betas[1])
        numbers.update(epsilon=1e-8)
        # Likewise float32, and only then as wide as the weights.
        numbers = {n: tf.convert_to_tensor(x, tf.float32) for n, x in numbers.items()}
        for name, gradient in tape.gradient(loss, sources).items():
            m, v = self.slots[name]
            tf.raw_ops.ResourceApplyAdam(
                var=sources[name].handle,
                m=m.handle,
                v=v.handle,
                grad=gradient,
                **{n: tf.cast(x, gradient.dtype) for n, x in numbers.items()},
            )
        for power, beta in zip(self.powers, self.betas):
            power.assign(power * beta)
        self.global_step.assign_add(1)
        return loss

    @tf.function
    def steps(self, x, y, count):
        """Takes `count` steps, a tensor, and returns the losses before them."""
        losses = tf.TensorArray(x.dtype, count, element_shape=[])
        for i in tf.range(count):
            losses = losses.write(i, self.step(x, y))
        return losses.stack()


def _pack(path):
    suffixes = [".index", ".data-00000-of-00001"]
    return {suffix: np.fromfile(path + suffix, np.uint8) for suffix in suffixes}


def _unpack(files, folder):
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def stop_and_resume(x, y, weights, stop, steps, rate=0.125):
    """Trains, stops, and goes on in a fresh program from the latest checkpoint.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        weights: {"kernel": [features, units] array, "bias": [units] array} to start at.
        stop: how many steps the first program takes.
        steps: how many steps the second one takes.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, the `state` by variable names, and the
        name of the `latest` checkpoint.
    """
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (stop, steps):
            # --- build
            trainer = Trainer(weights, rate)
            # Every variable that `trainer` reaches, by the path of its attributes.
            checkpoint = tf.train.Checkpoint(trainer=trainer)
            manager = tf.train.CheckpointManager(
                checkpoint, folder, max_to_keep=5, checkpoint_name="model.ckpt"
            )
            # --- restore
            if manager.latest_checkpoint is not None:
                # Without the assertion, what is not found keeps its value, silently.
                checkpoint.restore(manager.latest_checkpoint).assert_consumed()
            # --- step
            batch = tf.constant(x), tf.constant(y)
            losses += list(trainer.steps(*batch, tf.constant(count)).numpy())
            # --- save
            manager.save(checkpoint_number=trainer.global_step)
        state = {name: v.numpy() for name, v in trainer.by_name().items()}
        latest = os.path.basename(manager.latest_checkpoint)
    return {"losses": losses, "state": state, "latest": latest}


def restore_part(saved, start, names):
    """Restores some variables of a model, under the names that they had in another one.

    Args:
        saved: {name: array}, what the checkpoint of the other model holds.
        start: {name: array}, the variables of this model before.
        names: {name of the checkpoint: name of this model}.

    Returns:
        {name: array}, the variables of this model after.

    Raises:
        tf.errors.NotFoundError: the checkpoint has no such name.
        tf.errors.InvalidArgumentError: another dtype.
        ValueError: another shape.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        # --- build
        variables = {name: tf.Variable(array) for name, array in start.items()}
        # --- restore
        restore_by_name(path, {k: variables[name] for k, name in names.items()})
        return {name: v.numpy() for name, v in variables.items()}


def _write(arrays, folder):
    """Writes a checkpoint with these arrays, and tells its path."""
    path = os.path.join(folder, "model.ckpt")
    save_by_name(path, {name: tf.Variable(array) for name, array in arrays.items()})
    return path


def start_from(saved, start, assignment):
    """Makes variables whose initial values come from a checkpoint, scope by scope.

    Args:
        saved: {name: array}, what the checkpoint holds.
        start: {name: array}, the initial values otherwise.
        assignment: {"scope/" or name of the checkpoint: "scope/" or name of the model};
            "/" is the scope of everything.

    Returns:
        {name: array}, the variables as they are initialized.

    Raises:
        ValueError: a variable in an assigned scope is not in the checkpoint, has
            another shape there, or there is no such variable or scope.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        # --- build
        variables = {name: tf.Variable(array) for name, array in start.items()}
        # --- restore
        sources = _sources(assignment, variables)
        shapes = dict(tf.train.list_variables(path))
        for source, name in sources.items():
            if source not in shapes:
                raise ValueError(f"Tensor {source} is not found in the checkpoint")
            if shapes[source] != variables[name].shape:
                raise ValueError(f"Shape of variable {name} doesn't match: {source}")
        restore_by_name(path, {s: variables[name] for s, name in sources.items()})
        return {name: v.numpy() for name, v in variables.items()}


def _sources(assignment, variables):
    """{name of the checkpoint: name of the model}, the scopes spelt out."""
    sources = {}
    for source, name in assignment.items():
        if not name.endswith("/"):
            names = {source: name} if name in variables else {}
        else:
            scope, old = name.lstrip("/"), source.lstrip("/")
            names = {old + n[len(scope) :]: n for n in variables if n.startswith(scope)}
        if not names:
            raise ValueError(f"Assignment map with {name} covers no variable")
        sources.update(names)
    return sources


def inspect(saved, name):
    """Tells what a checkpoint holds, without the program that wrote it.

    Args:
        saved: {name: array}, what the checkpoint holds.
        name: the one to be read.

    Returns:
        dict with the `list` of names with shapes, the `dtypes` in the same order, and
        the `value` of `name`.

    Raises:
        tf.errors.NotFoundError: the checkpoint has no such name.
    """
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
    """Writes checkpoints in several runs of a program, and keeps the last ones.

    Args:
        runs: list of lists of global steps; each run of the program saves at its own.
        max_to_keep: how many to keep; None keeps all.
        keep_checkpoint_every_n_hours: keeps one in so many hours for ever.

    Returns:
        dict with the names of the `files` left in the directory, of the `latest`
        checkpoint, of `all` checkpoints in the state file, and its step, `resumed`.
    """
    with tempfile.TemporaryDirectory() as folder:
        for steps in runs:
            # --- build
            global_step = tf.Variable(0, dtype=tf.int64)
            checkpoint = tf.train.Checkpoint(global_step=global_step)
            # Reads the state file: it goes on where the last run's manager stopped.
            manager = tf.train.CheckpointManager(
                checkpoint,
                folder,
                max_to_keep,
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
