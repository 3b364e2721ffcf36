"""Numerics: what TensorFlow 1's library computed → modules to import or to take.

One module for each kind, one definition for each piece: `optimizers`, `schedules`,
`initializers`, `randomness`, `rnn`, `batch_norms`, `losses`, `metrics`, `averages`,
`restore`. Below, each is used by name; every name is proven so against 1.15.5.
"""

import os
import re
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
    "make_batch_norm",
    "loss",
    "streamed",
    "averaged",
    "averaged_tensor",
    "restored",
]


def optimize(
    optimizer,
    hyper,
    start,
    gradients,
    rates=None,
    decay=None,
    limits=None,
    dtype=None,
):
    """Applies gradients, step by step, by an optimizer of any name.

    Args:
        optimizer: name, such as "Adam".
        hyper: dict of its arguments.
        start: {name: array}, the variables.
        gradients: {name: [steps, ...] array, (indices [steps, k], values [steps, k,
            ...]) of a sparse gradient, or None}.
        rates: [steps] array, which a variable that is the learning rate is assigned.
        decay: (steps, factor) by which `learning_rate` falls, a schedule.
        limits: (lowest, highest), to which a constraint clips.
        dtype: name of the dtype to compute in, if not that of `start`.

    Returns:
        {name: value} of all variables in the end, halves as float32.

    Raises:
        ValueError: no gradients, an argument that the optimizer refuses.
        RuntimeError: a constraint and a sparse gradient.
    """
    # --- build
    variables = {
        name: tf.Variable(
            tf.cast(value, dtype or value.dtype),
            name=name,
            constraint=limits and (lambda x: tf.clip_by_value(x, *limits)),
        )
        for name, value in start.items()
    }
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
    hyper = dict(hyper)
    if optimizer == "AdagradDA":
        hyper["global_step"] = global_step
    if rates is not None:
        hyper["learning_rate"] = rate = tf.Variable(0.0, False, name="rate")
    if decay is not None:
        schedule = tf.keras.optimizers.schedules.ExponentialDecay
        hyper["learning_rate"] = schedule(hyper["learning_rate"], *decay)
    optimizer = getattr(optimizers, optimizer)(**hyper)
    given = {k: g for k, g in gradients.items() if g is not None}
    optimizer.create_slots([variables[name] for name in given])

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
        optimizer.apply_gradients(pairs, global_step)

    # --- run
    if not given:
        step({})
    for i in range(len(tf.nest.flatten(given)[0])):
        if rates is not None:
            rate.assign(rates[i])
        step(tf.nest.map_structure(lambda rows, i=i: tf.constant(rows[i]), given))
    found = restore.named(variables, optimizer, global_step)
    halves = tf.float16, tf.bfloat16
    return {
        name: (tf.cast(v, tf.float32) if v.dtype in halves else v).numpy()
        for name, v in found.items()
        if name != "rate"
    }


def decayed(step, schedule, options):
    """The learning rate at a step, by a schedule of any name.

    Args:
        step: tensor of steps taken.
        schedule: name, such as "linear_cosine_decay".
        options: dict of its arguments.

    Returns:
        float32 tensor like `step`.
    """
    return getattr(schedules, schedule)(global_step=step, **options)


def noisy_rates(steps, place, options):
    """The rates of `noisy_linear_cosine_decay`, whose op is seeded by its place.

    Args:
        steps: [n] int array, of the steps to look at, one after the other.
        place: number of the nodes before the op, which is its seed.
        options: dict of the arguments of the schedule.

    Returns:
        {"place": as it is, "rates": list of n float32}.
    """
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
    """Draws the initial value of a variable, by an initializer of any name.

    Args:
        initializer: name, such as "glorot_uniform", or "contrib_xavier".
        options: dict of its arguments.
        shape: of the variable.
        graph_seed: int, or None.
        op_seed: int.
        dtype: of the variable.

    Returns:
        Array of this shape and dtype.

    Raises:
        ValueError: an argument that the initializer refuses.
    """
    # --- build
    tf.random.set_seed(randomness.kernel_seeds(graph_seed, op_seed)[0])
    draw = getattr(initializers, initializer)(seed=op_seed, **options)
    variable = tf.Variable(draw(shape, tf.as_dtype(dtype)), name="w")
    # --- run
    return variable.numpy()


def numbers(kind, graph_seed, op_seed, sizes):
    """Draws again and again from one op.

    Args:
        kind: "random_normal", "random_uniform" or "truncated_normal".
        graph_seed: int, or None.
        op_seed: int.
        sizes: list of int, how many numbers each draw takes.

    Returns:
        List of [size] float32 arrays.
    """
    # --- build
    rng = randomness.stream(*randomness.kernel_seeds(graph_seed, op_seed))
    draw = getattr(rng, kind.replace("random_", ""))
    # --- run
    return [draw([n]).numpy() for n in sizes]


def make_reader(cell, loop="unroll", name="reader"):
    """Makes a recurrent network of cells of any name.

    Args:
        cell: (name, dict of its arguments), such as ("GRUCell", {"num_units": 4});
            `cell` and `cells` among the arguments are likewise.
        loop: "unroll", "unroll_in_python", or "unroll_both_ways".
        name: scope of the variables.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        to the outputs and the last state.
    """
    return Reader(cell, loop, name)


class Reader(tf.Module):
    """Cells, and the loop that they are run by."""

    def __init__(self, cell, loop, name):
        super().__init__()
        paths = [f"{name}/rnn"]
        if loop == "unroll_both_ways":
            paths = [f"{name}/bidirectional_rnn/{way}" for way in ("fw", "bw")]
        self.cells = [self.made(cell, path) for path in paths]
        self.loop = tf.function(getattr(rnn, loop), autograph=False)

    def made(self, cell, path):
        kind, options = cell
        options = dict(options)
        if "activation" in options:
            options["activation"] = getattr(tf.nn, options["activation"])
        if "cell" in options:
            options["cell"] = self.made(options["cell"], path)
        elif "cells" in options:
            options["cells"] = [
                self.made(one, f"{path}/multi_rnn_cell/cell_{i}")
                for i, one in enumerate(options["cells"])
            ]
        else:  # BasicLSTMCell: basic_lstm_cell
            scope = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=C)", "_", kind).lower()
            options["name"] = f"{path}/{scope}"
            options["initializer"] = initializers.glorot_uniform(seed=1)
        return getattr(rnn, kind)(**options)

    def __call__(self, x, lengths=None):
        return self.loop(*self.cells, x, lengths)


def dropped(x, cell, runs):
    """Runs a network of cells that drop, again and again.

    Args:
        x: [batch, time, depth] float array.
        cell: see `make_reader`.
        runs: how often.

    Returns:
        List of (outputs, state).

    Raises:
        ValueError: a share outside of [0, 1].
    """
    # --- build
    tf.random.set_seed(7)
    reader = make_reader(cell)
    reader.cells[0].build(x.shape[-1], tf.as_dtype(x.dtype))
    # --- run
    results = [reader(tf.constant(x)) for _ in range(runs)]
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)


def make_batch_norm(options, update=True, dtype=None, name="normalized"):
    """Makes a batch normalization.

    Args:
        options: dict of its arguments, such as {"momentum": 0.9}.
        update: whether training updates the moving statistics.
        dtype: name of the dtype to compute in, if not that of the input.
        name: scope of the variables `batch_normalization/gamma`, and so on.

    Returns:
        Callable from a [..., channels] float tensor and `training`, a bool, to a tensor
        of the same shape, halves as float32.
    """
    return Normalized(options, update, dtype, name)


class Normalized(tf.Module):
    """A batch normalization that computes in a given dtype."""

    def __init__(self, options, update, dtype, name):
        super().__init__()
        path = f"{name}/batch_normalization"
        self.norm = batch_norms.BatchNorm(**options, update=update, name=path)
        self.dtype = dtype

    def __call__(self, x, training):
        y = self.norm(tf.cast(x, self.dtype or x.dtype), training)
        return tf.cast(y, x.dtype)


def loss(labels, predictions, weights, kind, options):
    """A loss of any name.

    Args:
        labels: tensor.
        predictions: tensor, or the logits.
        weights: tensor that broadcasts to the losses.
        kind: name, such as "huber_loss".
        options: dict of its other arguments.

    Returns:
        Scalar; for the reduction "none" the losses.
    """
    return getattr(losses, kind)(labels, predictions, weights=weights, **options)


def streamed(metric, options, batches, more=()):
    """Streams batches through a metric of any name.

    Args:
        metric: name, such as "auc".
        options: dict of its other arguments.
        batches: list of tuples of arrays, the arguments of a batch; n may vary.
        more: names of the arguments after the second.

    Returns:
        List of the values, at first and after each batch.

    Raises:
        ValueError: an argument that the metric refuses.
    """
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
    """Averages variables, which are assigned values in turn.

    Args:
        start: {name: array}, the variables.
        values: {name: [n, ...] array}, their values, of some of them.
        decay: share of the old average that an update keeps, at most.
        counts: [n] ints, the numbers of updates, or None.

    Returns:
        ({name in the checkpoint: the value that an evaluation loads} in the end,
        {name of the variable: name of its average}).

    Raises:
        TypeError: a variable of another dtype than float.
    """
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
    """Averages a tensor, such as a loss.

    Args:
        values: [n, ...] float array, the values of the tensor in turn.
        decay: share of the old average that an update keeps.
        zero_debias: whether to divide by 1 - decay ** n.

    Returns:
        List of the n averages.
    """
    # --- build
    shape, dtype = values.shape[1:], values.dtype
    average = averages.TensorAverage(shape, dtype, decay, zero_debias)
    update = tf.function(average.update)
    # --- run
    return [update(tf.constant(row)).numpy() for row in values]


def restored(saved, start, assignment=None):
    """Writes a checkpoint, and restores variables from it by name.

    Args:
        saved: {name: array}, what is written.
        start: {name: array}, the variables to restore.
        assignment: of `init_from_checkpoint`, or None, for all by their names.

    Returns:
        ({name: value} of the variables, {suffix: bytes of the file as a uint8 array}).

    Raises:
        tf.errors.NotFoundError: a name that is not in the file.
        ValueError: what `assignment` names is not there.
    """
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
