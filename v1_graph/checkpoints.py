"""`tf.train.Saver`, `init_from_checkpoint` → `tf.train.Checkpoint`, also by names."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

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

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        weights: {"kernel": [features, units] array, "bias": [units] array}, the initial
            values.
        steps: how many steps to take.
        files: {suffix: bytes as a uint8 array}, the files of a checkpoint, or None.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, the `state` by the names in the new
        checkpoint, and its `files`.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a variable.
        tf.errors.InvalidArgumentError: a variable has another dtype in the checkpoint,
            or another shape (ValueError in TensorFlow 2).
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        # --- build
        step, loss = _regression(x, y, weights, rate)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            # --- restore
            if files is None:
                sess.run(tf.global_variables_initializer())
            else:
                saver.restore(sess, _unpack(files, folder))
            # --- step
            losses = [sess.run([loss, step])[0] for _ in range(steps)]
            losses = np.array(losses, x.dtype)
            # --- save
            path = os.path.join(folder, "model.ckpt")
            saver.save(sess, path, write_meta_graph=False, write_state=False)
            state = {v.op.name: sess.run(v) for v in tf.global_variables()}
            return {"losses": losses, "state": state, "files": _pack(path)}


def _regression(x, y, weights, rate):
    """Builds the graph of a linear regression.

    Returns:
        (op that takes one step of Adam, tensor of the loss before it).
    """
    kernel = tf.get_variable("kernel", initializer=weights["kernel"])
    bias = tf.get_variable("bias", initializer=weights["bias"])
    global_step = tf.train.get_or_create_global_step()
    outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), kernel), bias)
    loss = tf.reduce_mean(tf.square(outputs - tf.constant(y)))
    optimizer = tf.train.AdamOptimizer(rate)
    gradients = optimizer.compute_gradients(loss, [kernel, bias])
    # Without this line the loss may be computed before or after the step.
    with tf.control_dependencies([loss]):
        return optimizer.apply_gradients(gradients, global_step), loss


def _pack(path):
    suffixes = [".index", ".data-00000-of-00001"]
    return {suffix: np.fromfile(path + suffix, np.uint8) for suffix in suffixes}


def _unpack(files, folder):
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def stop_and_resume(x, y, weights, stop, steps, rate=0.125):
    """Trains, stops, and resumes in a new program from the latest checkpoint.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        weights: {"kernel": [features, units] array, "bias": [units] array}, the initial
            values.
        stop: how many steps the first program takes.
        steps: how many steps the second program takes.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, the `state` by variable names, and the
        name of the `latest` checkpoint.
    """
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        for count in (stop, steps):
            with tf.Graph().as_default(), tf.Session() as sess:
                # --- build
                step, loss = _regression(x, y, weights, rate)
                saver = tf.train.Saver()
                # --- restore
                latest = tf.train.latest_checkpoint(folder)
                if latest is None:
                    sess.run(tf.global_variables_initializer())
                else:
                    saver.restore(sess, latest)
                # --- step
                losses += [sess.run([loss, step])[0] for _ in range(count)]
                # --- save
                global_step = tf.train.get_global_step()
                saver.save(sess, os.path.join(folder, "model.ckpt"), global_step)
                state = {v.op.name: sess.run(v) for v in tf.global_variables()}
        latest = os.path.basename(tf.train.latest_checkpoint(folder))
    return {"losses": losses, "state": state, "latest": latest}


def train_in_scope(w, gradients, scope, kind="variable", rate=0.125):
    """Trains with an Adam made inside a scope; returns the checkpoint's arrays.

    Args:
        w: float array, the variable `net/w`.
        gradients: list of arrays like `w`, one for each step.
        scope: name of the scope.
        kind: "variable" for a variable scope; "name" for a name scope, which does not
            become part of the slots' names.
        rate: learning rate.

    Returns:
        {name in the checkpoint: array}.
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        # --- build
        with tf.variable_scope("net"):
            variable = tf.get_variable("w", initializer=w)
        gradient = tf.placeholder(w.dtype, w.shape)
        # --- scope
        with (tf.variable_scope if kind == "variable" else tf.name_scope)(scope):
            adam = tf.train.AdamOptimizer(rate)
            step = adam.apply_gradients([(gradient, variable)])
        # --- run
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for one in gradients:
                sess.run(step, {gradient: one})
            path = tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))
        # --- read
        reader = tf.train.load_checkpoint(path)
        shapes = reader.get_variable_to_shape_map()
        return {name: reader.get_tensor(name) for name in shapes}


def restore_part(saved, start, names):
    """Restores some variables from another model's checkpoint with a map of names.

    Args:
        saved: {name: array}, the contents of the other model's checkpoint.
        start: {name: array}, the variables of this model before the restore.
        names: {name in the checkpoint: name in this model}.

    Returns:
        {name: array}, the variables of this model after the restore.

    Raises:
        tf.errors.NotFoundError: the checkpoint has no such name.
        tf.errors.InvalidArgumentError: a variable has another dtype in the checkpoint,
            or another shape (ValueError in TensorFlow 2).
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            variables = _variables(start)
            # --- restore
            # The dict maps names in the checkpoint to variables; other variables stay.
            saver = tf.train.Saver({k: variables[name] for k, name in names.items()})
            sess.run(tf.global_variables_initializer())
            saver.restore(sess, path)
            return sess.run(variables)


def _write(arrays, folder):
    """Writes a checkpoint with these arrays, and returns its path."""
    with tf.Graph().as_default(), tf.Session() as sess:
        saver = tf.train.Saver(_variables(arrays))
        sess.run(tf.global_variables_initializer())
        return saver.save(sess, os.path.join(folder, "model.ckpt"))


def _variables(arrays):
    return {n: tf.get_variable(n, initializer=array) for n, array in arrays.items()}


def start_from(saved, start, assignment):
    """Initializes variables from a checkpoint with a map of names or scopes.

    Args:
        saved: {name: array}, the contents of the checkpoint.
        start: {name: array}, the variables with their own initial values.
        assignment: {"scope/" or name in the checkpoint: "scope/" or name in the model};
            "/" is the scope of all variables.

    Returns:
        {name: array}, the variables after initialization.

    Raises:
        ValueError: a variable in an assigned scope is not in the checkpoint or has
            another shape there; or the model has no such variable or scope.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            variables = _variables(start)
            # --- restore
            # Replaces the initializers: call it after the model, before they run.
            tf.train.init_from_checkpoint(path, assignment)
            sess.run(tf.global_variables_initializer())
            return sess.run(variables)


def load_arrays(x, pretrained, start, skip=()):
    """Loads pretrained weights from a .npy file, layer by layer, and runs the network.

    Args:
        x: [n, features] float array.
        pretrained: {layer: [weights, biases]}, lists of arrays: the contents of the
            file.
        start: {layer: [weights, biases]}, the initial values of all layers in order.
        skip: names of layers that keep their initial values, such as the last one.

    Returns:
        dict with the outputs `y`, [n, units of the last layer], and the `variables` by
        name.

    Raises:
        ValueError: an array has another shape, or (in TensorFlow 1) the network has no
            such layer.
        KeyError: in TensorFlow 2: the network has no such layer.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pretrained.npy")
        np.save(path, pretrained)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            outputs = tf.constant(x)
            for layer, (weights, biases) in start.items():
                with tf.variable_scope(layer):
                    kernel = tf.get_variable("weights", initializer=weights)
                    bias = tf.get_variable("biases", initializer=biases)
                outputs = tf.nn.relu(tf.nn.xw_plus_b(outputs, kernel, bias))
            sess.run(tf.global_variables_initializer())
            # --- load
            arrays = np.load(path, allow_pickle=True, encoding="latin1").item()
            for layer, parts in arrays.items():
                if layer not in skip:
                    with tf.variable_scope(layer, reuse=True):
                        for part in parts:
                            name = "biases" if part.ndim == 1 else "weights"
                            variable = tf.get_variable(name, dtype=part.dtype)
                            sess.run(variable.assign(part))
            # --- ask
            variables = {v.op.name: sess.run(v) for v in tf.global_variables()}
            return {"y": sess.run(outputs), "variables": variables}


def inspect(saved, name):
    """Lists the names, shapes and dtypes in a checkpoint, and reads one tensor.

    Args:
        saved: {name: array}, the contents of the checkpoint.
        name: name of the tensor to read.

    Returns:
        dict with the `list` of names with shapes, the `dtypes` in the same order, and
        the `value` of `name`.

    Raises:
        tf.errors.NotFoundError: the checkpoint has no such name.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(saved, folder)
        # --- read
        reader = tf.train.NewCheckpointReader(path)
        shapes = reader.get_variable_to_shape_map()
        dtypes = reader.get_variable_to_dtype_map()
        if not reader.has_tensor(name):
            raise tf.errors.NotFoundError(None, None, "no %s in the checkpoint" % name)
        return {
            "list": ["%s %s" % (key, shapes[key]) for key in sorted(shapes)],
            "dtypes": [tf.as_dtype(dtypes[key]).name for key in sorted(shapes)],
            "value": reader.get_tensor(name),
        }


def keep(runs, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0):
    """Saves checkpoints in several runs of a program, and keeps only the latest ones.

    Args:
        runs: list with a list of global steps for each run, at which it saves.
        max_to_keep: how many checkpoints to keep; None keeps all.
        keep_checkpoint_every_n_hours: also keeps one checkpoint of each n hours for
            ever.

    Returns:
        dict with the names of the `files` left in the directory, of the `latest`
        checkpoint, and of `all` checkpoints in the state file; and `resumed`, the step
        of the latest checkpoint.
    """
    with tempfile.TemporaryDirectory() as folder:
        for steps in runs:
            with tf.Graph().as_default(), tf.Session() as sess:
                # --- build
                global_step = tf.train.get_or_create_global_step()
                saver = tf.train.Saver(
                    max_to_keep=max_to_keep,
                    keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
                )
                # A new Saver does not know the checkpoints of earlier runs.
                state = tf.train.get_checkpoint_state(folder)
                if state is not None:
                    saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
                # --- save
                for step in steps:
                    global_step.load(step, sess)
                    path = os.path.join(folder, "model.ckpt")
                    saver.save(sess, path, step, write_meta_graph=False)
        # --- state
        state = tf.train.get_checkpoint_state(folder)
        latest = tf.train.latest_checkpoint(folder)
        return {
            "files": sorted(os.listdir(folder)),
            "latest": os.path.basename(latest),
            "all": [os.path.basename(p) for p in state.all_model_checkpoint_paths],
            "resumed": tf.train.load_variable(latest, "global_step"),
        }
