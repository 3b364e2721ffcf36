"""Optimizers, RNN cells, losses, metrics, … that compute as TensorFlow 1 did."""

import functools
import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

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


# 1.15 was the last version with contrib; compat.v1 does not have it.
CONTRIB = {
    "AdaMax": lambda: tensorflow.contrib.opt.AdaMaxOptimizer,
    "AdamW": lambda: tensorflow.contrib.opt.AdamWOptimizer,
    "LazyAdam": lambda: tensorflow.contrib.opt.LazyAdamOptimizer,
    "MomentumW": lambda: tensorflow.contrib.opt.MomentumWOptimizer,
    "Nadam": lambda: tensorflow.contrib.opt.NadamOptimizer,
    "contrib_variance_scaling": (
        lambda: tensorflow.contrib.layers.variance_scaling_initializer
    ),
    "contrib_xavier": lambda: tensorflow.contrib.layers.xavier_initializer,
}


def optimize(optimizer, hyper, start, gradients, options=()):
    """Applies gradients step by step with the optimizer of a given name.

    Args:
        optimizer: name such as "Adam", or "AdamW" of contrib.
        hyper: dict of the optimizer's arguments.
        start: {name: array}, the initial values of the variables.
        gradients: {name: [steps, ...] array, (indices [steps, k], values [steps, k,
            ...]) of a sparse gradient, or None}.
        options: dict with some of: `rates`, [steps] learning rates, in a variable or,
            with `called`, returned by a function; `decay`, (steps, factor) of a
            schedule; `limits`, the (lowest, highest) value of a constraint; `dtype`, if
            it differs from that of `start`; `decayed`, names of the variables with
            weight decay; `average`, the decay of averages that are swapped with the
            variables; `minimized`, whether to minimize a loss with these gradients.

    Returns:
        {name: value} of all variables at the end, 16-bit floats as float32.

    Raises:
        ValueError: there are no gradients, or an argument is not valid.
        RuntimeError: a variable with a constraint has a sparse gradient.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        hyper, options, more = dict(hyper), dict(options), {}
        limits, rates = options.get("limits"), options.get("rates")
        variables = {
            name: tf.get_variable(
                name,
                initializer=tf.cast(value, options.get("dtype", value.dtype)),
                constraint=limits and (lambda x: tf.clip_by_value(x, *limits)),
            )
            for name, value in start.items()
        }
        global_step = tf.train.get_or_create_global_step()
        if optimizer == "AdagradDA":
            hyper["global_step"] = global_step
        if rates is not None:
            rate = tf.get_variable("rate", [], trainable=False)
            hyper["learning_rate"] = (lambda: rate) if "called" in options else rate
        if "decay" in options:
            hyper["learning_rate"] = tf.train.exponential_decay(
                hyper["learning_rate"], global_step, *options["decay"]
            )
        if optimizer in CONTRIB:
            optimizer = CONTRIB[optimizer]()(**hyper)
        else:
            optimizer = getattr(tf.train, optimizer + "Optimizer")(**hyper)
        if "average" in options:
            optimizer = tensorflow.contrib.opt.MovingAverageOptimizer(
                optimizer, options["average"]
            )
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
        if "decayed" in options:
            more["decay_var_list"] = [variables[name] for name in options["decayed"]]
        if "minimized" in options:
            loss = tf.add_n([tf.reduce_sum(g * v) for g, v in pairs])
            var_list = list(variables.values())
            step = optimizer.minimize(loss, global_step, var_list, **more)
        else:
            step = optimizer.apply_gradients(pairs, global_step, **more)
        # --- run
        sess.run(tf.global_variables_initializer())
        for i in range(len(next(iter(feeds.values())))):
            if rates is not None:
                rate.load(rates[i], sess)
            sess.run(step, {tensor: values[i] for tensor, values in feeds.items()})
        if "average" in options:
            with tempfile.TemporaryDirectory() as folder:
                saver = optimizer.swapping_saver()
                path = saver.save(sess, os.path.join(folder, "model.ckpt"))
                names = [name for name, _ in tf.train.list_variables(path)]
                return {name: tf.train.load_variable(path, name) for name in names}
        found = {v.op.name: v for v in tf.global_variables() if v.op.name != "rate"}
        halves = tf.float16, tf.bfloat16
        for name, v in found.items():
            if v.dtype.base_dtype in halves:
                found[name] = tf.cast(v, tf.float32)
        return sess.run(found)


def decayed(step, schedule, options):
    """Computes the learning rate at a step with the schedule of a given name.

    Args:
        step: int tensor of any shape.
        schedule: name of a schedule, such as "exponential_decay".
        options: dict of the other arguments.

    Returns:
        float32 tensor of the shape of `step`.
    """
    return getattr(tf.train, schedule)(global_step=step, **options)


def noisy_rates(steps, place, options):
    """Computes `noisy_linear_cosine_decay`, seeded by the op's place in the graph.

    Args:
        steps: [n] int array of the steps, in turn.
        place: number of nodes before the op in the graph, which is its seed.
        options: dict of the schedule's arguments.

    Returns:
        {"place": the op's real seed, "rates": list of n float32}.
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
    """Draws the initial value of a variable with the initializer of a given name.

    Args:
        initializer: name, such as "glorot_uniform".
        options: dict of the initializer's arguments, without the seed.
        shape: list of ints.
        graph_seed: seed of the graph, or None.
        op_seed: seed of the op, or None.
        dtype: name of the dtype.

    Returns:
        Array of this shape and dtype.

    Raises:
        ValueError: an argument is not valid.
        TypeError: an argument is not valid.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(graph_seed)
        if initializer in CONTRIB:
            make = CONTRIB[initializer]()
        else:
            make = getattr(tf.initializers, initializer)
        draw = make(seed=op_seed, **options)
        variable = tf.get_variable("w", shape, dtype, draw)
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run(variable)


def numbers(kind, graph_seed, op_seed, sizes):
    """Draws random numbers several times from one random op.

    Args:
        kind: name of the op, such as "random_uniform" or "truncated_normal".
        graph_seed: seed of the graph, or None.
        op_seed: seed of the op, or None.
        sizes: list of ints, the number of numbers in each run.

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
    """Makes a recurrent network from cells that are given by name.

    Args:
        cell: (name, dict of the cell's arguments), such as ("GRUCell", {"num_units":
            4}). The arguments `cell` and `cells` have the same form.
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
        home = tf.nn.rnn_cell
        if not hasattr(home, kind):
            contrib = tensorflow.contrib
            home = contrib.cudnn_rnn if kind.startswith("Cudnn") else contrib.rnn
        return getattr(home, kind)(**options)

    def read(x, lengths=None):
        draw = tf.glorot_uniform_initializer(seed=1)
        tf.get_variable_scope().set_initializer(draw)
        tf.get_variable_scope().set_dtype(x.dtype)  # contrib's wrappers pass no dtype
        if loop == "unroll_both_ways":
            cells = make(cell), make(cell)
            return tf.nn.bidirectional_dynamic_rnn(
                *cells, inputs=x, sequence_length=lengths, dtype=x.dtype
            )
        if loop == "unroll_in_python":
            steps = tf.unstack(x, axis=1)
            return tf.nn.static_rnn(make(cell), steps, None, x.dtype, lengths)
        # One iteration at a time: with the default of 32, steps may draw in any order.
        return tf.nn.dynamic_rnn(
            make(cell), x, lengths, dtype=x.dtype, parallel_iterations=1
        )

    return tf.make_template(name, read)


def dropped(x, cell, runs):
    """Runs an RNN with dropout several times; each run draws new masks.

    Args:
        x: [batch, time, depth] float array.
        cell: see `make_reader`.
        runs: number of runs, each of which draws new masks.

    Returns:
        List of (outputs, state), arrays.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        result = make_reader(cell)(tf.constant(x))
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(result) for _ in range(runs)]


def dropped_by(x, cell, shares):
    """Runs an RNN with dropout whose keep probability is fed in each run.

    Args:
        x: [batch, time, depth] float array.
        cell: see `make_reader`.
        shares: float array, the keep probability of each run.

    Returns:
        List of (outputs, state), arrays, one for each share.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        share = tf.placeholder(shares.dtype, [])
        options = {
            f"{place}_keep_prob": share for place in ("input", "output", "state")
        }
        cell = "DropoutWrapper", {"cell": cell, "seed": 3, **options}
        result = make_reader(cell)(tf.constant(x))
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(result, {share: one}) for one in shares]


def make_batch_norm(options, update=True, dtype=None, name="normalized"):
    """Makes a batch normalization layer.

    Args:
        options: dict of the layer's arguments, such as {"momentum": 0.9}.
        update: whether training updates the moving statistics.
        dtype: name of the dtype to compute in, if not that of the input.
        name: scope of the variables `batch_normalization/gamma`, and so on.

    Returns:
        Callable from a [..., channels] float tensor and `training`, a bool, to a tensor
        of the same shape and dtype.
    """

    def normalize(x, training):
        inputs = tf.cast(x, dtype or x.dtype)
        y = tf.layers.batch_normalization(inputs, training=training, **options)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update else []
        with tf.control_dependencies(updates):
            return tf.identity(tf.cast(y, x.dtype))

    return tf.make_template(name, normalize)


def contrib_normalized(batches, options):
    """Runs `tf.contrib.layers.batch_norm` in training on batches, then in inference.

    Args:
        batches: list of [n, ..., channels] float arrays; n may vary.
        options: dict of the layer's arguments, such as {"decay": 0.9}.

    Returns:
        {"outputs": list of the normalized batches, "gradients": list of the gradients
        of the batches, "inferred": the last batch, normalized by the moving statistics,
        "variables": {name: value}}.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(batches[0].dtype, (None,) + batches[0].shape[1:])
        norm = tensorflow.contrib.layers.batch_norm
        make = functools.partial(norm, x, scope="BatchNorm")
        y = make(**options)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            y = tf.identity(y)
        inferred = make(is_training=False, reuse=True, **options)
        step = y, tf.gradients(y, x, grad_ys=tf.square(x))[0]
        # --- run
        sess.run(tf.global_variables_initializer())
        outputs, gradients = zip(*[sess.run(step, {x: batch}) for batch in batches])
        return {
            "outputs": list(outputs),
            "gradients": list(gradients),
            "inferred": sess.run(inferred, {x: batches[-1]}),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def loss(labels, predictions, weights, kind, options):
    """Computes the loss of a given name.

    Args:
        labels: tensor of the shape and dtype that the loss needs.
        predictions: tensor of probabilities or logits, as the loss needs.
        weights: number, or tensor of the rank of the losses.
        kind: name of a loss, such as "huber_loss".
        options: dict of the other arguments.

    Returns:
        Scalar; the losses if the reduction is "none".
    """
    return getattr(tf.losses, kind)(labels, predictions, weights=weights, **options)


def streamed(metric, options, batches, more=()):
    """Updates the metric of a given name with batches; returns its value after each.

    Args:
        metric: name such as "auc", or "recall_at_thresholds".
        options: dict of the metric's arguments that are not tensors.
        batches: list of tuples of arrays, the tensors of a batch; n may vary.
        more: names of the tensors after the second tensor.

    Returns:
        List of the metric's values, at first and after each batch.
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
    """Assigns a series of values to variables, and updates their moving averages.

    Args:
        start: {name: array}, the initial values of the variables.
        values: {name: [n, ...] array}, values that are assigned to some of the
            variables.
        decay: share of the old average that an update keeps, at most.
        counts: [n] ints, the numbers of updates, or None.

    Returns:
        ({name in the checkpoint: the value that an evaluation loads} in the end,
        {name of the variable: name of its average}).
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
    """Updates the moving average of a tensor, such as a loss.

    Args:
        values: [n, ...] float array, the tensor's values in turn.
        decay: share of the old average that an update keeps.
        zero_debias: whether the average is divided by 1 - decay ** updates.

    Returns:
        List of the n averages, one after each update.
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
    """Writes a checkpoint and restores variables from it by name.

    Args:
        saved: {name: array}, the checkpoint's content.
        start: {name: array}, the initial values of the variables to restore.
        assignment: assignment map of `init_from_checkpoint`, or None to restore all
            variables by their names.

    Returns:
        ({name: value} of the variables, {suffix: bytes of the file as a uint8 array}).
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
