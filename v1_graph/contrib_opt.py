"""`tf.contrib.opt`: AdamW, LARS, moving averages, loss scaling, as classes."""

import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "fit",
    "train_scaled",
    "fit_averaged",
    "fit_tasks",
    "minimize_externally",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def fit(ids, labels, start, optimizer, hyper, decayed=None):
    """Trains a text classifier with AdamW, LazyAdam, LARS, Nadam or RMSPropW.

    Args:
        ids: [steps, n, words] int array of rows of the table.
        labels: [steps, n] int array of classes.
        start: {"table": [rows, size] array, "kernel": [size, classes] array, "bias":
            [classes] array}, the initial values.
        optimizer: "AdamW", "LazyAdam", "LARS", "Nadam" or "RMSPropW".
        hyper: dict of the optimizer's arguments.
        decayed: names of the variables with weight decay; None for all.

    Returns:
        dict with the `losses` before each step, and the `variables` after training by
        name, slots included.

    Raises:
        ValueError: LARS with a negative momentum or weight decay.
    """
    opt = tensorflow.contrib.opt
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- optimizer
        optimizers = {
            "AdamW": opt.AdamWOptimizer,
            "LazyAdam": opt.LazyAdamOptimizer,
            "LARS": opt.LARSOptimizer,
            "Nadam": opt.NadamOptimizer,
            "RMSPropW": opt.extend_with_decoupled_weight_decay(
                tf.train.RMSPropOptimizer
            ),
        }
        optimizer = optimizers[optimizer](**hyper)
        # --- step
        variables = {n: tf.get_variable(n, initializer=v) for n, v in start.items()}
        inputs = tf.placeholder(ids.dtype, ids.shape[1:])
        targets = tf.placeholder(labels.dtype, labels.shape[1:])
        words = tf.nn.embedding_lookup(variables["table"], inputs)
        logits = tf.matmul(tf.reduce_mean(words, 1), variables["kernel"])
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=logits + variables["bias"]
        )
        loss = tf.reduce_mean(losses)
        pairs = optimizer.compute_gradients(loss, list(variables.values()))
        more = {}
        if decayed is not None:
            more["decay_var_list"] = [variables[name] for name in decayed]
        # Without this line the weights could decay before the loss is computed.
        with tf.control_dependencies([loss] + [gradient for gradient, _ in pairs]):
            train_op = optimizer.apply_gradients(pairs, **more)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = [
            sess.run([loss, train_op], {inputs: a, targets: b})[0]
            for a, b in zip(ids, labels)
        ]
        found = {v.op.name: v for v in tf.global_variables()}
        return {"losses": np.stack(losses), "variables": sess.run(found)}


def train_scaled(x, y, start, steps, rate, scaling):
    """Trains with loss scaling: in the dtype of x, with weights in their own dtype.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}, the initial
            values; their dtype may differ from that of x.
        steps: how many steps to take with momentum 0.9, all on the same rows.
        rate: learning rate.
        scaling: a fixed loss scale, or a dict of arguments of
            `ExponentialUpdateLossScaleManager`.

    Returns:
        dict with the `losses` before each step, the `scales` after each step, `taken`:
        the global step after each step, and the `variables` after training by name.

    Raises:
        ValueError: a fixed scale below 1.
    """
    mixed_precision = tensorflow.contrib.mixed_precision
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- scale
        if isinstance(scaling, dict):
            manager = mixed_precision.ExponentialUpdateLossScaleManager(**scaling)
        else:
            manager = mixed_precision.FixedLossScaleManager(scaling)
        optimizer = mixed_precision.LossScaleOptimizer(
            tf.train.MomentumOptimizer(rate, 0.9), manager
        )
        # --- step
        variables = {n: tf.get_variable(n, initializer=v) for n, v in start.items()}
        kernel, bias = [tf.cast(v, x.dtype) for v in variables.values()]
        outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), kernel), bias)
        loss = tf.reduce_mean(tf.square(outputs - tf.constant(y)))
        global_step = tf.train.get_or_create_global_step()
        train_op = optimizer.minimize(loss, global_step)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses, scales, taken = [], [], []
        for _ in range(steps):
            losses.append(sess.run([loss, train_op])[0])
            scales.append(sess.run(manager.get_loss_scale()))
            taken.append(sess.run(global_step))
        found = {v.op.name: v for v in tf.global_variables()}
        return {
            "losses": np.stack(losses),
            "scales": np.stack(scales),
            "taken": taken,
            "variables": sess.run(found),
        }


def line_loss(x, y, start):
    """Returns (variables, mean squared error) of a linear model."""
    variables = [tf.get_variable(n, initializer=v) for n, v in start.items()]
    outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), variables[0]), variables[1])
    return variables, tf.reduce_mean(tf.squared_difference(outputs, tf.constant(y)))


def fit_averaged(x, y, start, steps, rate, average_decay, counted=False):
    """Trains, saves moving averages in place of the weights, evaluates the averages.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}.
        steps: how many steps to take with momentum 0.9.
        rate: learning rate.
        average_decay: the largest share of the old average that a step keeps.
        counted: whether this share is smaller in early steps (`num_updates`).

    Returns:
        dict with the `losses` before each step, the `saved` arrays by name, and
        `evaluated`, the loss with the saved arrays.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "model.ckpt")
        # --- train
        with tf.Graph().as_default(), tf.Session() as sess:
            variables, loss = line_loss(x, y, start)
            global_step = tf.train.get_or_create_global_step()
            optimizer = tensorflow.contrib.opt.MovingAverageOptimizer(
                tf.train.MomentumOptimizer(rate, 0.9),
                average_decay,
                num_updates=global_step if counted else None,
            )
            train_op = optimizer.minimize(loss, global_step, variables)
            saver = optimizer.swapping_saver()
            sess.run(tf.global_variables_initializer())
            losses = [sess.run([loss, train_op])[0] for _ in range(steps)]
            saver.save(sess, path)
        # --- evaluate
        with tf.Graph().as_default(), tf.Session() as sess:
            variables, loss = line_loss(x, y, start)
            tf.train.Saver().restore(sess, path)
            evaluated = sess.run(loss)
        names = [name for name, _ in tf.train.list_variables(path)]
        saved = {name: tf.train.load_variable(path, name) for name in names}
        return {"losses": np.stack(losses), "saved": saved, "evaluated": evaluated}


def fit_tasks(x, targets, present, start, clip_norm, rate=0.125):
    """Trains two tasks; a step without a task keeps that task's weights and slots.

    Args:
        x: [n, features] float array.
        targets: {task: [n, units] array}.
        present: {task: list of 1.0 or 0.0: whether each step has the task}.
        start: {"shared": [features, size] array, task: [size, units] array}, the
            initial values, with one entry for each task.
        clip_norm: largest global norm of the gradients.
        rate: learning rate, with momentum 0.9.

    Returns:
        dict with the global `norms` of the gradients of each step, and the `variables`
        after training by name.
    """
    opt = tensorflow.contrib.opt
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        variables = {n: tf.get_variable(n, initializer=v) for n, v in start.items()}
        hidden = tf.nn.relu(tf.matmul(tf.constant(x), variables["shared"]))
        weights = {task: tf.placeholder(x.dtype, []) for task in targets}
        loss = 0.0
        for task, target in targets.items():
            error = tf.matmul(hidden, variables[task]) - tf.constant(target)
            loss += weights[task] * tf.reduce_mean(tf.square(error))
        # --- step
        optimizer = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(rate, 0.9))
        pairs = optimizer.compute_gradients(loss, list(variables.values()))
        pairs, norm = opt.clip_gradients_by_global_norm(pairs, clip_norm)
        train_op = optimizer.apply_gradients(pairs)
        # --- run
        sess.run(tf.global_variables_initializer())
        norms = []
        for step in zip(*present.values()):
            feeds = dict(zip([weights[task] for task in present], step))
            norms.append(sess.run([norm, train_op], feeds)[0])
        found = {v.op.name: v for v in tf.global_variables()}
        return {"norms": np.stack(norms), "variables": sess.run(found)}


def descend(function, x, bounds, callback, iterations):
    """Minimizes by gradient descent with step halving, in place of a SciPy optimizer.

    Args:
        function: function from a vector to (value, gradient).
        x: [n] array, the initial vector.
        bounds: None, or n pairs (low, high).
        callback: function of the vector, called after each iteration.
        iterations: number of iterations.

    Returns:
        The [n] array with the lowest value.
    """
    low, high = np.transpose(bounds) if bounds else (-np.inf, np.inf)
    value, gradient = function(x)
    for _ in range(iterations):
        size, lower = 8.0, np.inf
        while not lower < value and size > 1e-6:
            size /= 2
            next_x = np.clip(x - size * gradient, low, high)
            lower, next_gradient = function(next_x)
        x, value, gradient = next_x, lower, next_gradient
        callback(x)
    return x


def minimize_externally(x, y, start, iterations, bounds=None):
    """Minimizes a loss with an external optimizer of NumPy vectors, such as SciPy's.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}.
        iterations: number of iterations.
        bounds: (low, high) of the kernel, or None.

    Returns:
        dict with the `losses` of all calls, `iterates`: the vector after each
        iteration, and the final `variables`.
    """

    class Interface(tensorflow.contrib.opt.ExternalOptimizerInterface):
        """Runs `descend` in place of SciPy, which `ScipyOptimizerInterface` runs."""

        def _minimize(
            self,
            initial_val,
            loss_grad_func,
            packed_bounds,
            step_callback,
            optimizer_kwargs,
            **constraints,
        ):
            bounds = packed_bounds
            return descend(
                loss_grad_func, initial_val, bounds, step_callback, **optimizer_kwargs
            )

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- function
        variables, loss = line_loss(x, y, start)
        limits = None if bounds is None else {variables[0]: bounds}
        optimizer = Interface(loss, var_to_bounds=limits, iterations=iterations)
        # --- run
        losses, iterates = [], []
        sess.run(tf.global_variables_initializer())
        optimizer.minimize(
            sess,
            fetches=[loss],
            step_callback=iterates.append,
            loss_callback=losses.append,
        )
        found = {v.op.name: v for v in variables}
        return {
            "losses": np.stack(losses),
            "iterates": np.stack(iterates),
            "variables": sess.run(found),
        }
