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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def fit(ids, labels, start, optimizer, hyper, decayed=None):
    """Trains a classifier of word numbers by an optimizer of contrib.

    Args:
        ids: [steps, n, words] int array, rows of the table.
        labels: [steps, n] int array of classes.
        start: {"table": [rows, size] array, "kernel": [size, classes] array, "bias":
            [classes] array}.
        optimizer: "AdamW", "LazyAdam", "LARS", "Nadam" or "RMSPropW".
        hyper: dict of its arguments.
        decayed: names of the variables whose weights decay; None for all.

    Returns:
        dict with the `losses` before every step, and the `variables` in the end by
        name, slots included.

    Raises:
        ValueError: a negative momentum, or decay, of LARS.
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
        # Without this line weights could decay before the loss is computed.
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
    """Trains in the dtype of x, weights in theirs, by a loss that is scaled up.

    Args:
        x: [n, features] float array.
        y: [n, units] array of its dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}, of a dtype
            of their own.
        steps: how many steps to take by momentum of 0.9, all on the same rows.
        rate: learning rate.
        scaling: a fixed scale, or a dict of arguments of the one that is updated.

    Returns:
        dict with the `losses` before every step, the `scales` after, how many steps
        were `taken` by then, and the `variables` in the end by name.

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
    """(the variables, the loss of) a line: the mean of squared errors."""
    variables = [tf.get_variable(n, initializer=v) for n, v in start.items()]
    outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), variables[0]), variables[1])
    return variables, tf.reduce_mean(tf.squared_difference(outputs, tf.constant(y)))


def fit_averaged(x, y, start, steps, rate, average_decay, counted=False):
    """Trains, saves averages in the place of weights, and evaluates these.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}.
        steps: how many steps to take by momentum of 0.9.
        rate: learning rate.
        average_decay: share of the old average that a step keeps, at most.
        counted: whether it is less in early steps.

    Returns:
        dict with the `losses` before every step, what was `saved` by name, and the
        loss that is `evaluated` with it.
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
    """Trains two tasks, of which a step may lack one, without touching its slots.

    Args:
        x: [n, features] float array.
        targets: {task: [n, units] array}.
        present: {task: list of 1.0 or 0.0, of every step whether the task is there}.
        start: {"shared": [features, size] array, and of every task [size, units]}.
        clip_norm: of all gradients together.
        rate: learning rate, of momentum of 0.9.

    Returns:
        dict with the `norms` of every step, and the `variables` in the end by name.
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
    """Goes downhill, half as far until it is lower: in place of an optimizer of SciPy.

    Args:
        function: of a vector, to (value, gradient).
        x: [n] array, where to begin.
        bounds: None, or n pairs (low, high).
        callback: function of the vector, called after each iteration.
        iterations: how many of them.

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
    """Minimizes by an optimizer that knows nothing of TensorFlow, as SciPy's do.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: {"kernel": [features, units] array, "bias": [units] array}.
        iterations: how many of them.
        bounds: of the kernel, (low, high); None for none.

    Returns:
        dict with the `losses` of all calls, the vector after each iteration as
        `iterates`, and the `variables` in the end.
    """

    class Interface(tensorflow.contrib.opt.ExternalOptimizerInterface):
        """As `ScipyOptimizerInterface` is, which calls `scipy.optimize.minimize`."""

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
