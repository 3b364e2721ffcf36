"""`tf.contrib.opt`: AdamW, LARS, moving averages, loss scaling, as classes."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore
from v2_eager.numerics.restore import named

__all__ = [
    "fit",
    "train_scaled",
    "fit_averaged",
    "fit_tasks",
    "minimize_externally",
]


def as_arrays(variables):
    return {name: variable.numpy() for name, variable in variables.items()}


def variables_of(start):
    return {name: tf.Variable(value, name=name) for name, value in start.items()}


CONTRIB = "AdamW", "LazyAdam", "LARS", "Nadam"


class RMSPropW(optimizers.DecoupledWeightDecay, optimizers.RMSProp):
    """`extend_with_decoupled_weight_decay(RMSProp)`: decoupled weight decay."""


def fit(ids, labels, start, optimizer, hyper, decayed=None):
    """Trains a text classifier with AdamW, LazyAdam, LARS, Nadam or RMSPropW."""
    # --- optimizer
    known = {name: getattr(optimizers, name) for name in CONTRIB}
    made = {**known, "RMSPropW": RMSPropW}[optimizer](**hyper)
    # --- step
    variables = variables_of(start)
    table, kernel, bias = variables.values()
    made.create_slots(variables.values())
    more = {}
    if decayed is not None:
        more["decay_var_list"] = [variables[name] for name in decayed]

    def loss(ids, labels):
        words = tf.nn.embedding_lookup(table, ids)
        logits = tf.matmul(tf.reduce_mean(words, 1), kernel) + bias
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(losses)

    @tf.function
    def step(*batch):
        value, pairs = made.differentiate(lambda: loss(*batch), variables.values())
        made.apply_gradients(pairs, **more)
        return value

    # --- run
    batches = zip(tf.constant(ids), tf.constant(labels))
    losses = [step(*batch).numpy() for batch in batches]
    found = {**variables, **named(made)}
    return {"losses": np.stack(losses), "variables": as_arrays(found)}


def train_scaled(x, y, start, steps, rate, scaling):
    """Trains with loss scaling: in the dtype of x, with weights in their own dtype."""
    # --- scale
    if isinstance(scaling, dict):
        manager = optimizers.ExponentialUpdateLossScale(**scaling)
    else:
        manager = optimizers.FixedLossScale(scaling)
    optimizer = optimizers.LossScale(optimizers.Momentum(rate, 0.9), manager)
    # --- step
    variables = variables_of(start)
    optimizer.create_slots(variables.values())
    global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    def loss():
        kernel, bias = [tf.cast(v, x.dtype) for v in variables.values()]
        outputs = tf.nn.bias_add(tf.matmul(x, kernel), bias)
        return tf.reduce_mean(tf.square(outputs - y))

    @tf.function
    def step():
        return optimizer.minimize(loss, variables.values(), global_step)

    # --- run
    losses, scales, taken = [], [], []
    for _ in range(steps):
        losses.append(step().numpy())
        scales.append(manager.loss_scale.numpy())
        taken.append(global_step.numpy())
    found = {**variables, **named(optimizer, global_step)}
    return {
        "losses": np.stack(losses),
        "scales": np.stack(scales),
        "taken": taken,
        "variables": as_arrays(found),
    }


class Line(tf.Module):
    """A linear model and its loss.

    Args:
        start: {"kernel": [features, units] array, "bias": [units] array}, the initial
            values.
    """

    def __init__(self, start):
        super().__init__()
        self.kernel, self.bias = variables_of(start).values()

    def loss(self, x, y):
        """Returns the mean squared error."""
        outputs = tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)
        return tf.reduce_mean(tf.math.squared_difference(outputs, y))


def fit_averaged(x, y, start, steps, rate, average_decay, counted=False):
    """Trains, saves moving averages in place of the weights, evaluates the averages."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "model.ckpt")
        # --- train
        line = Line(start)
        global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        optimizer = optimizers.MovingAverage(
            optimizers.Momentum(rate, 0.9),
            average_decay,
            num_updates=global_step if counted else None,
        ).create_slots(line.variables)

        def loss():
            return line.loss(x, y)

        @tf.function
        def step():
            return optimizer.minimize(loss, line.trainable_variables, global_step)

        losses = [step().numpy() for _ in range(steps)]
        found = named(line, optimizer, global_step)
        restore.save(path, optimizer.swapped(found))
        # --- evaluate
        restored = Line(start)
        restore.by_name(path, named(restored))
        evaluated = restored.loss(x, y).numpy()
        reader = tf.train.load_checkpoint(path)
        saved = {name: reader.get_tensor(name) for name in found}
        return {"losses": np.stack(losses), "saved": saved, "evaluated": evaluated}


class MultitaskMomentum(optimizers.Multitask, optimizers.Momentum):
    """`MultitaskOptimizerWrapper(MomentumOptimizer)`: skips all-zero gradients."""


def fit_tasks(x, targets, present, start, clip_norm, rate=0.125):
    """Trains two tasks; a step without a task keeps that task's weights and slots."""
    # --- loss
    variables = variables_of(start)

    def loss(weights):
        hidden, total = tf.nn.relu(tf.matmul(x, variables["shared"])), 0.0
        for task, target in targets.items():
            error = tf.matmul(hidden, variables[task]) - target
            total += weights[task] * tf.reduce_mean(tf.square(error))
        return total

    # --- step
    optimizer = MultitaskMomentum(rate, 0.9).create_slots(variables.values())

    @tf.function
    def step(weights):
        pairs = optimizer.compute_gradients(lambda: loss(weights), variables.values())
        gradients, norm = tf.clip_by_global_norm([g for g, _ in pairs], clip_norm)
        optimizer.apply_gradients(zip(gradients, variables.values()))
        return norm

    # --- run
    norms = []
    for weights in zip(*present.values()):
        weights = [tf.constant(weight, x.dtype) for weight in weights]
        norms.append(step(dict(zip(present, weights))).numpy())
    found = {**variables, **named(optimizer)}
    return {"norms": np.stack(norms), "variables": as_arrays(found)}


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
    """Minimizes a loss with an external optimizer of NumPy vectors, such as SciPy's."""
    # --- function
    line = Line(start)
    variables = [line.kernel, line.bias]
    sizes = [v.shape.num_elements() for v in variables]

    def assign(vector):
        for variable, part in zip(variables, tf.split(vector, sizes)):
            variable.assign(tf.reshape(part, variable.shape))

    @tf.function
    def loss_and_gradient(vector):
        assign(vector)
        with tf.GradientTape() as tape:
            loss = line.loss(x, y)
        gradients = tape.gradient(loss, variables)
        return loss, tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)

    # --- run
    losses, iterates = [], []

    def function(vector):
        results = loss_and_gradient(tf.constant(vector, x.dtype))
        losses.append(results[0].numpy())
        return [result.numpy() for result in results]

    if bounds is not None:
        free = (-np.inf, np.inf)
        bounds = [bounds] * sizes[0] + [free] * sizes[1]
    vector = np.concatenate([v.numpy().ravel() for v in variables])
    vector = descend(function, vector, bounds, iterates.append, iterations)
    assign(tf.constant(vector, x.dtype))  # the last call may have tried another
    return {
        "losses": np.stack(losses),
        "iterates": np.stack(iterates),
        "variables": as_arrays(named(line)),
    }
