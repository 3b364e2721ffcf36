"""Optimizers, RNN cells, losses, metrics, … that compute as TensorFlow 1 did.

Each kind has a module: `optimizers`, `schedules`, `initializers`, `randomness`, `rnn`,
`batch_norms`, `losses`, `metrics`, `averages`, `restore`. The functions below use their
classes and functions by name; so each is compared with 1.15.5. Other topics prove the
other modules: `contrib_layers`, `contrib_norms` and `slim` prove `layers` and `norms`,
`mixed_precision` proves `quantization`, `contrib_recurrences` proves `recurrences`, and
`contrib_framework` proves `pruning`.
"""

import inspect
import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import (
    averages,
    batch_norms,
    initializers,
    losses,
    metrics,
    optimizers,
    randomness,
    restore,
    rnn,
    schedules,
)

__all__ = [
    "optimize",
    "decayed",
    "noisy_rates",
    "initial",
    "numbers",
    "make_reader",
    "dropped",
    "dropped_by",
    "make_batch_norm",
    "contrib_normalized",
    "loss",
    "streamed",
    "averaged",
    "averaged_tensor",
    "restored",
]


def optimize(optimizer, hyper, start, gradients, options=()):
    """Applies gradients step by step with the optimizer of a given name."""
    # --- build
    hyper, options, more = dict(hyper), dict(options), {}
    limits, rates = options.get("limits"), options.get("rates")
    variables = {
        name: tf.Variable(
            tf.cast(value, options.get("dtype", value.dtype)),
            name=name,
            constraint=limits and (lambda x: tf.clip_by_value(x, *limits)),
        )
        for name, value in start.items()
    }
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
    if optimizer == "AdagradDA":
        hyper["global_step"] = global_step
    if rates is not None:
        rate = tf.Variable(0.0, False, name="rate")
        hyper["learning_rate"] = (lambda: rate) if "called" in options else rate
    if "decay" in options:
        schedule = tf.keras.optimizers.schedules.ExponentialDecay
        hyper["learning_rate"] = schedule(hyper["learning_rate"], *options["decay"])
    optimizer = getattr(optimizers, optimizer)(**hyper)
    if "average" in options:
        optimizer = optimizers.MovingAverage(optimizer, options["average"])
    given = {k: g for k, g in gradients.items() if g is not None}
    optimizer.create_slots([variables[name] for name in given])
    if "decayed" in options:
        more["decay_var_list"] = [variables[name] for name in options["decayed"]]

    # --- step
    @tf.function
    def step(fed):
        pairs = [(None, variables[name]) for name in gradients if name not in fed]
        for name, gradient in fed.items():
            variable = variables[name]
            if isinstance(gradient, tuple):
                values = tf.cast(gradient[1], variable.dtype)
                gradient = tf.IndexedSlices(values, gradient[0], variable.shape)
            else:
                gradient = tf.cast(gradient, variable.dtype)
            pairs.append((gradient, variable))
        if "minimized" in options:

            def loss():
                return tf.add_n([tf.reduce_sum(g * v) for g, v in pairs])

            optimizer.minimize(loss, variables.values(), global_step, **more)
        else:
            optimizer.apply_gradients(pairs, global_step, **more)

    # --- run
    if not given:
        step({})
    for i in range(len(tf.nest.flatten(given)[0])):
        if rates is not None:
            rate.assign(rates[i])
        step(tf.nest.map_structure(lambda rows, i=i: tf.constant(rows[i]), given))
    found = restore.named(variables, optimizer, global_step)
    found.pop("rate", None)
    if "average" in options:
        found = optimizer.swapped(found)
    halves = tf.float16, tf.bfloat16
    return {
        name: (tf.cast(v, tf.float32) if v.dtype in halves else v).numpy()
        for name, v in found.items()
    }


def decayed(step, schedule, options):
    """Computes the learning rate at a step with the schedule of a given name."""
    return getattr(schedules, schedule)(global_step=step, **options)


def noisy_rates(steps, place, options):
    """Computes `noisy_linear_cosine_decay`, seeded by the op's place in the graph."""
    # --- build
    rng = randomness.stream(*randomness.kernel_seeds(7, place))

    @tf.function
    def rate(step):
        return schedules.noisy_linear_cosine_decay(
            global_step=step, seed=rng, **options
        )

    # --- run
    rates = [rate(tf.constant(step)).numpy() for step in steps]
    return {"place": place, "rates": rates}


def initial(initializer, options, shape, graph_seed, op_seed, dtype="float32"):
    """Draws the initial value of a variable with the initializer of a given name."""
    # --- build
    tf.random.set_seed(randomness.kernel_seeds(graph_seed, op_seed)[0])
    draw = getattr(initializers, initializer)(seed=op_seed, **options)
    variable = tf.Variable(draw(shape, tf.as_dtype(dtype)), name="w")
    # --- run
    return variable.numpy()


def numbers(kind, graph_seed, op_seed, sizes):
    """Draws random numbers several times from one random op."""
    # --- build
    rng = randomness.stream(*randomness.kernel_seeds(graph_seed, op_seed))
    draw = getattr(rng, kind.replace("random_", ""))
    # --- run
    return [draw([n]).numpy() for n in sizes]


def make_reader(cell, loop="unroll", name="reader"):
    """Makes a recurrent network from cells that are given by name.

    Returns a `Reader`; see the class.
    """
    return Reader(cell, loop, name)


class Reader(tf.Module):
    """A recurrent network: cells of `rnn`, given by name, and the loop that runs them.

    A call takes x, [batch, time, depth] floats, and optionally lengths, [batch] ints.
    It returns the outputs and the last state.

    Args:
        cell: (name of a class of `rnn`, dict of its arguments); see `make_reader`.
        loop: name of a function of `rnn`.
        name: scope of the variables.
    """

    def __init__(self, cell, loop, name):
        super().__init__()
        paths = [f"{name}/rnn"]
        if loop == "unroll_both_ways":
            paths = [f"{name}/bidirectional_rnn/{way}" for way in ("fw", "bw")]
        self.cells = [self.made(cell, path) for path in paths]
        self.loop = tf.function(getattr(rnn, loop), autograph=False)

    def made(self, cell, path):
        kind, options = cell
        make, options = getattr(rnn, kind), dict(options)
        if "activation" in options:
            options["activation"] = getattr(tf.nn, options["activation"])
        name = inspect.signature(make).parameters.get("name")
        if name is not None:  # the cell has variables: they are in a scope of its name
            path = path if kind == "HighwayWrapper" else f"{path}/{name.default}"
            options["name"] = path
            options["initializer"] = initializers.glorot_uniform(seed=1)
        if "cell" in options:
            options["cell"] = self.made(options["cell"], path)
        elif "cells" in options:
            options["cells"] = [
                self.made(one, f"{path}/multi_rnn_cell/cell_{i}")
                for i, one in enumerate(options["cells"])
            ]
        return make(**options)

    def __call__(self, x, lengths=None):
        return self.loop(*self.cells, x, lengths)


def dropped(x, cell, runs):
    """Runs an RNN with dropout several times; each run draws new masks."""
    # --- build
    tf.random.set_seed(7)
    reader = make_reader(cell)
    reader.cells[0].build(x.shape[-1], tf.as_dtype(x.dtype))
    # --- run
    results = [reader(tf.constant(x)) for _ in range(runs)]
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)


def dropped_by(x, cell, shares):
    """Runs an RNN with dropout whose keep probability is fed in each run."""
    # --- build
    tf.random.set_seed(7)
    cell = make_reader(cell).cells[0]
    cell.build(x.shape[-1], x.dtype)
    x = tf.constant(x)

    @tf.function(autograph=False)
    def read(share):
        dropping = rnn.DropoutWrapper(cell, share, share, share, seed=3)
        return rnn.unroll(dropping, x)

    # --- run
    results = [read(tf.constant(share)) for share in shares]
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)


def make_batch_norm(options, update=True, dtype=None, name="normalized"):
    """Makes a batch normalization layer.

    Returns a `Normalized`; see the class.
    """
    return Normalized(options, update, dtype, name)


class Normalized(tf.Module):
    """A batch normalization layer that computes in a given dtype.

    A call takes x, [..., channels] floats, and `training`, a bool, and returns a tensor
    of the shape and dtype of x.

    Args:
        options: dict of the arguments of `BatchNorm`.
        update: whether training updates the moving statistics.
        dtype: name of the dtype to compute in, or None for the dtype of the input.
        name: scope of the variables `batch_normalization/gamma`, and so on.
    """

    def __init__(self, options, update, dtype, name):
        super().__init__()
        path = f"{name}/batch_normalization"
        self.norm = batch_norms.BatchNorm(**options, update=update, name=path)
        self.dtype = dtype

    def __call__(self, x, training):
        y = self.norm(tf.cast(x, self.dtype or x.dtype), training)
        return tf.cast(y, x.dtype)


def contrib_normalized(batches, options):
    """Runs `tf.contrib.layers.batch_norm` in training on batches, then in inference."""
    # --- build
    norm = batch_norms.ContribBatchNorm(**options)
    spec = tf.TensorSpec([None, *batches[0].shape[1:]], batches[0].dtype)
    norm.build(spec.shape[-1], spec.dtype)

    @tf.function(input_signature=[spec])
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = norm(x)
        return y, tape.gradient(y, x, tf.square(x))

    # --- run
    outputs, gradients = zip(*[step(tf.constant(batch)) for batch in batches])
    return {
        "outputs": [tensor.numpy() for tensor in outputs],
        "gradients": [tensor.numpy() for tensor in gradients],
        "inferred": norm(tf.constant(batches[-1]), is_training=False).numpy(),
        "variables": {k: v.numpy() for k, v in restore.named(norm).items()},
    }


def loss(labels, predictions, weights, kind, options):
    """Computes the loss of a given name."""
    return getattr(losses, kind)(labels, predictions, weights=weights, **options)


def streamed(metric, options, batches, more=()):
    """Updates the metric of a given name with batches; returns its value after each."""
    # --- metrics
    name = metric.replace("_at_thresholds", "").title().replace("_", "")
    name = {"Auc": "AUC", "MeanIou": "MeanIoU"}.get(name, name)
    if metric == "mean_tensor":
        options = {**options, "shape": batches[0][0].shape}
    measure = getattr(metrics, name)(**options)
    plain = 1 if metric in ("mean", "mean_tensor", "percentage_below") else 2
    rows = None if metric != "mean_tensor" else len(batches[0][0])
    specs = [tf.TensorSpec([rows, *a.shape[1:]], a.dtype) for a in batches[0]]

    @tf.function(input_signature=specs)
    def update(*tensors):
        keywords = dict(zip(more, tensors[plain:]))
        measure.update_state(*tensors[:plain], **keywords)

    # --- run
    history = [measure.result().numpy()]
    for batch in batches:
        update(*map(tf.constant, batch))
        history.append(measure.result().numpy())
    return history


def averaged(start, values, decay, counts=None):
    """Assigns a series of values to variables, and updates their moving averages."""
    # --- build
    variables = {k: tf.Variable(value, name=k) for k, value in start.items()}
    count = None if counts is None else tf.Variable(0, False, dtype=tf.int64)
    ema = averages.ExponentialMovingAverage(decay, count)
    chosen = [variables[name] for name in values]
    ema.create(chosen)

    @tf.function
    def update():
        ema.apply(chosen)

    # --- run
    for i in range(len(next(iter(values.values())))):
        for name, rows in values.items():
            variables[name].assign(rows[i])
        if counts is not None:
            count.assign(counts[i])
        update()
    names = {k: ema.average_name(variables[k]) for k in values}
    entries = ema.variables_to_restore(variables.values())
    loaded = {**variables, **restore.named(ema.shadows)}
    return {k: loaded[k].numpy() for k in sorted(entries)}, names


def averaged_tensor(values, decay, zero_debias=False):
    """Updates the moving average of a tensor, such as a loss."""
    # --- build
    shape, dtype = values.shape[1:], values.dtype
    average = averages.TensorAverage(shape, dtype, decay, zero_debias)
    update = tf.function(average.update)
    # --- run
    return [update(tf.constant(row)).numpy() for row in values]


def restored(saved, start, assignment=None):
    """Writes a checkpoint and restores variables from it by name."""
    with tempfile.TemporaryDirectory() as folder:
        # --- save
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, saved)
        files = {
            suffix: np.fromfile(path + suffix, np.uint8)
            for suffix in (".index", ".data-00000-of-00001")
        }
        # --- restore
        variables = {k: tf.Variable(value, name=k) for k, value in start.items()}
        if assignment is None:
            restore.by_name(path, restore.named(variables))
        else:
            restore.init_from_checkpoint(path, assignment, variables)
        return {name: v.numpy() for name, v in variables.items()}, files
