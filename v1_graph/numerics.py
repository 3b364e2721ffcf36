"""Numerics: what TensorFlow 1's library computed → modules to import or to take."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

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
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        variables = {
            name: tf.get_variable(
                name,
                initializer=tf.cast(value, dtype or value.dtype),
                constraint=limits and (lambda x: tf.clip_by_value(x, *limits)),
            )
            for name, value in start.items()
        }
        global_step = tf.train.get_or_create_global_step()
        hyper = dict(hyper)
        if optimizer == "AdagradDA":
            hyper["global_step"] = global_step
        if rates is not None:
            hyper["learning_rate"] = tf.get_variable("rate", [], trainable=False)
        if decay is not None:
            rate = hyper["learning_rate"]
            hyper["learning_rate"] = tf.train.exponential_decay(
                rate, global_step, *decay
            )
        optimizer = getattr(tf.train, optimizer + "Optimizer")(**hyper)
        # --- step
        feeds, pairs = {}, []

        def fed(values, dtype):
            feeds[tf.placeholder(values.dtype, values.shape[1:])] = values
            return tf.cast(list(feeds)[-1], dtype)

        for name, gradient in gradients.items():
            variable = variables[name]
            kind = variable.dtype.base_dtype
            if isinstance(gradient, tuple):
                indices, values = gradient
                indices, values = fed(indices, indices.dtype), fed(values, kind)
                gradient = tf.IndexedSlices(values, indices, variable.shape.as_list())
            elif gradient is not None:
                gradient = fed(gradient, kind)
            pairs.append((gradient, variable))
        step = optimizer.apply_gradients(pairs, global_step)
        # --- run
        sess.run(tf.global_variables_initializer())
        for i in range(len(next(iter(feeds.values())))):
            if rates is not None:
                hyper["learning_rate"].load(rates[i], sess)
            sess.run(step, {tensor: values[i] for tensor, values in feeds.items()})
        found = {v.op.name: v for v in tf.global_variables() if v.op.name != "rate"}
        halves = tf.float16, tf.bfloat16
        for name, v in found.items():
            if v.dtype.base_dtype in halves:
                found[name] = tf.cast(v, tf.float32)
        return sess.run(found)


def decayed(step, schedule, options):
    """The learning rate at a step, by a schedule of any name.

    Args:
        step: tensor of steps taken.
        schedule: name, such as "linear_cosine_decay".
        options: dict of its arguments.

    Returns:
        float32 tensor like `step`.
    """
    return getattr(tf.train, schedule)(global_step=step, **options)


def noisy_rates(steps, place, options):
    """The rates of `noisy_linear_cosine_decay`, whose op is seeded by its place.

    Args:
        steps: [n] int array, of the steps to look at, one after the other.
        place: number of the nodes before the op, which is its seed.
        options: dict of the arguments of the schedule.

    Returns:
        {"place": as it is, "rates": list of n float32}.
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        step = tf.placeholder(tf.int64, [])
        rate = tf.train.noisy_linear_cosine_decay(global_step=step, **options)
        (node,) = [n for n in graph.as_graph_def().node if "seed2" in n.attr]
        # --- run
        rates = [sess.run(rate, {step: number}) for number in steps]
        return {"place": node.attr["seed2"].i, "rates": rates}


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
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(graph_seed)
        if initializer.startswith("contrib_"):
            import tensorflow  # compat.v1 has no contrib, and no version after 1.15

            name = initializer[len("contrib_") :] + "_initializer"
            make = getattr(tensorflow.contrib.layers, name)
        else:
            make = getattr(tf.initializers, initializer)
        draw = make(seed=op_seed, **options)
        variable = tf.get_variable("w", shape, dtype, draw)
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run(variable)


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
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(graph_seed)
        size = tf.placeholder(tf.int32, [1])
        drawn = getattr(tf, kind)(size, seed=op_seed)
        # --- run
        return [sess.run(drawn, {size: [n]}) for n in sizes]


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

    def make(cell):
        kind, options = cell
        options = dict(options)
        if "activation" in options:
            options["activation"] = getattr(tf.nn, options["activation"])
        if "cell" in options:
            options["cell"] = make(options["cell"])
        if "cells" in options:
            options["cells"] = [make(one) for one in options["cells"]]
        return getattr(tf.nn.rnn_cell, kind)(**options)

    def read(x, lengths=None):
        draw = tf.glorot_uniform_initializer(seed=1)
        tf.get_variable_scope().set_initializer(draw)
        if loop == "unroll_both_ways":
            cells = make(cell), make(cell)
            return tf.nn.bidirectional_dynamic_rnn(
                *cells, inputs=x, sequence_length=lengths, dtype=x.dtype
            )
        if loop == "unroll_in_python":
            steps = tf.unstack(x, axis=1)
            return tf.nn.static_rnn(make(cell), steps, None, x.dtype, lengths)
        # One step at a time: the 32 of the default may draw in any order.
        return tf.nn.dynamic_rnn(
            make(cell), x, lengths, dtype=x.dtype, parallel_iterations=1
        )

    return tf.make_template(name, read)


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
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        result = make_reader(cell)(tf.constant(x))
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(result) for _ in range(runs)]


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

    def normalize(x, training):
        inputs = tf.cast(x, dtype or x.dtype)
        y = tf.layers.batch_normalization(inputs, training=training, **options)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update else []
        with tf.control_dependencies(updates):
            return tf.identity(tf.cast(y, x.dtype))

    return tf.make_template(name, normalize)


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
    return getattr(tf.losses, kind)(labels, predictions, weights=weights, **options)


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
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- metrics
        tensors = [tf.placeholder(a.dtype, (None,) + a.shape[1:]) for a in batches[0]]
        plain = 1 if metric in ("mean", "mean_tensor", "percentage_below") else 2
        if metric == "mean_tensor":
            tensors = [tf.placeholder(a.dtype, a.shape) for a in batches[0]]
        keywords = dict(zip(more, tensors[plain:]))
        value, update = getattr(tf.metrics, metric)(
            *tensors[:plain], **keywords, **options
        )
        # --- run
        sess.run(tf.local_variables_initializer())
        history = [sess.run(value)]
        for batch in batches:
            sess.run(update, dict(zip(tensors, batch)))
            history.append(sess.run(value))
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
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        variables = {
            name: tf.get_variable(name, initializer=value)
            for name, value in start.items()
        }
        count = None if counts is None else tf.placeholder(tf.int64, [])
        ema = tf.train.ExponentialMovingAverage(decay, count)
        chosen = [variables[name] for name in values]
        update = ema.apply(chosen)
        # --- run
        sess.run(tf.global_variables_initializer())
        for i in range(len(next(iter(values.values())))):
            for name, rows in values.items():
                variables[name].load(rows[i], sess)
            sess.run(update, {} if counts is None else {count: counts[i]})
        names = {v.op.name: ema.average_name(v) for v in chosen}
        loaded = {v.op.name: v for v in variables.values()}
        loaded.update({names[v.op.name]: ema.average(v) for v in chosen})
        entries = ema.variables_to_restore(chosen)
        return sess.run({entry: loaded[entry] for entry in sorted(entries)}), names


def averaged_tensor(values, decay, zero_debias=False):
    """Averages a tensor, such as a loss.

    Args:
        values: [n, ...] float array, the values of the tensor in turn.
        decay: share of the old average that an update keeps.
        zero_debias: whether to divide by 1 - decay ** n.

    Returns:
        List of the n averages.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        value = tf.placeholder(values.dtype, values.shape[1:])
        tensor = tf.identity(value, name="loss")
        ema = tf.train.ExponentialMovingAverage(decay, zero_debias=zero_debias)
        with tf.control_dependencies([ema.apply([tensor])]):
            average = ema.average(tensor).read_value()
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(average, {value: row}) for row in values]


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
        with tf.Graph().as_default(), tf.Session() as sess:
            for name, value in saved.items():
                tf.get_variable(name, initializer=value)
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))
        files = {
            suffix: np.fromfile(path + suffix, np.uint8)
            for suffix in (".index", ".data-00000-of-00001")
        }
        # --- restore
        with tf.Graph().as_default(), tf.Session() as sess:
            variables = {
                name: tf.get_variable(name, initializer=value)
                for name, value in start.items()
            }
            if assignment is not None:
                tf.train.init_from_checkpoint(path, assignment)
            sess.run(tf.global_variables_initializer())
            if assignment is None:
                tf.train.Saver().restore(sess, path)
            return sess.run(variables), files
