"""`tf.compat.v1` without a session: optimizers, `Saver`, losses, `wrap_function`."""

import os
import tempfile

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

__all__ = [
    "fit",
    "fit_embedding",
    "resume",
    "resume_objects",
    "run_network",
    "fetch",
    "freeze",
    "run_frozen",
    "weighted_loss",
    "resize",
    "count_flops",
]


def fit(data, start, optimizer, hyper, stops):
    """Fits a line with `apply_gradients` of a `compat.v1` optimizer given by name."""
    # --- build
    weights, loss = _line(data, start)
    optimizer = getattr(v1.train, optimizer + "Optimizer")(**hyper)
    global_step = _make_global_step()
    # --- step
    step = _make_step(optimizer, loss, weights, global_step)
    # --- run
    history, done = {}, 0
    for stop in stops:
        for _ in range(stop - done):
            step()
        history[stop], done = _values(optimizer, weights, global_step), stop
    return history


def _line(data, start):
    """Returns ([kernel, bias], function that computes the mean squared error)."""
    kernel = tf.Variable(start[0], name="kernel")
    bias = tf.Variable(start[1], name="bias")

    def loss():
        outputs = tf.matmul(tf.constant(data[0]), kernel) + bias
        return tf.reduce_mean(tf.square(outputs - tf.constant(data[1])))

    return [kernel, bias], loss


def _make_global_step():
    return tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")


def _make_step(optimizer, loss, weights, global_step):
    """Returns a function that takes a step and returns the loss before it."""

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            error = loss()
        gradients = zip(tape.gradient(error, weights), weights)
        optimizer.apply_gradients(gradients, global_step)
        return error

    step.get_concrete_function()  # makes the slots, and takes no step
    return step


def _values(optimizer, weights, global_step):
    """Returns {name: value} of the weights, their slots, and the global step."""
    values = {v.name[:-2]: v.numpy() for v in [*weights, global_step]}
    for v in weights:
        for slot in optimizer.get_slot_names():
            values[f"{v.name[:-2]} {slot}"] = optimizer.get_slot(v, slot).numpy()
    return values


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits an embedding table with `minimize`: the gradient is sparse."""
    # --- build
    variable = tf.Variable(table, name="table")
    optimizer = getattr(v1.train, optimizer + "Optimizer")(**hyper)
    global_step = _make_global_step()

    # --- step
    @tf.function
    def step(row_ids, wanted):
        def loss():
            looked_up = tf.nn.embedding_lookup(variable, row_ids)
            return tf.reduce_sum(tf.square(looked_up - wanted)) / 2

        optimizer.minimize(loss, global_step, [variable])  # takes a function now

    specs = [tf.TensorSpec(a.shape[1:], a.dtype) for a in (ids, targets)]
    step.get_concrete_function(*specs)  # makes the slots, and takes no step
    # --- run
    for batch in zip(ids, targets):
        step(*map(tf.constant, batch))
    return _values(optimizer, [variable], global_step)


def resume(data, start, steps, files=None):
    """Restores a name-based checkpoint with `Saver`, trains on, and saves again."""
    with tempfile.TemporaryDirectory() as folder:
        # --- build
        weights, loss = _line(data, start)
        optimizer = v1.train.AdamOptimizer(0.125)
        global_step = _make_global_step()
        step = _make_step(optimizer, loss, weights, global_step)
        saver = v1.train.Saver(_by_name(optimizer, weights, global_step))
        # --- restore
        path = os.path.join(folder, "model.ckpt")
        if files is not None:
            for suffix, content in files.items():
                content.tofile(path + suffix)
            saver.restore(None, path)
        # --- step
        losses = [step().numpy() for _ in range(steps)]
        # --- save
        saver.save(None, path, write_meta_graph=False, write_state=False)
        saved = tf.train.load_checkpoint(path)
        names = saved.get_variable_to_shape_map()
        saved = {name: saved.get_tensor(name) for name in names}
        return {"losses": np.array(losses, data[0].dtype), "saved": saved}


def _by_name(adam, weights, global_step):
    """Returns {name in a TensorFlow 1 checkpoint: variable}, Adam's slots included."""
    # A slot's own name depends on the process: a second optimizer has kernel/Adam_2.
    powers = [v for v in adam.variables() if v.name.startswith("beta")]
    named = {v.name[:-2]: v for v in [*weights, *powers, global_step]}
    for v in weights:
        named[v.name[:-2] + "/Adam"] = adam.get_slot(v, "m")
        named[v.name[:-2] + "/Adam_1"] = adam.get_slot(v, "v")
    return named


def resume_objects(data, start, stop, steps):
    """Trains, stops, and resumes in a new program, with a decaying learning rate."""
    with tempfile.TemporaryDirectory() as folder:
        for count in (stop, steps):
            # --- build
            weights, loss = _line(data, start)
            global_step = _make_global_step()
            # Outside a graph a schedule is a function that the optimizer calls.
            rate = v1.train.exponential_decay(0.125, global_step, 4, 0.5)
            optimizer = v1.train.AdamOptimizer(rate)
            # A Checkpoint saves an optimizer with its slots.
            checkpoint = tf.train.Checkpoint(
                weights=weights, optimizer=optimizer, global_step=global_step
            )
            manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=5)
            step = _make_step(optimizer, loss, weights, global_step)
            # --- restore
            status = checkpoint.restore(manager.latest_checkpoint)
            # --- step
            for _ in range(count):
                step()
            if manager.latest_checkpoint:
                status.assert_consumed()  # slots are restored when they are made
            # --- save
            manager.save(global_step)
    return _values(optimizer, weights, global_step)


def run_network(x, y, kernel, steps, rate=0.125):
    """Trains graph code with a reused scope, a while loop and a regularization loss."""
    # --- wrap
    signature = [tf.TensorSpec([None, x.shape[1]], x.dtype, "x")]
    network = v1.wrap_function(lambda x: _network(x, kernel), signature)

    # --- step
    optimizer = v1.train.GradientDescentOptimizer(rate)
    variables = network.trainable_variables

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            outputs, penalty = network(x)
            loss = tf.reduce_mean(tf.square(outputs - y)) + penalty
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    # --- run
    batch = tf.constant(x), tf.constant(y)
    losses = [step(*batch).numpy() for _ in range(steps)]
    variables = {v.name[:-2]: v.numpy() for v in variables}
    return {"losses": np.array(losses), "variables": variables}


def _network(x, kernel):
    """Computes the outputs and the penalty by unchanged graph code."""
    first = tf.identity(_recurrent(x, kernel), name="first")
    second = _recurrent(first, kernel)  # the same kernel
    return tf.identity(second, name="second"), v1.losses.get_regularization_loss()


def _recurrent(x, kernel):
    with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
        w = v1.get_variable("kernel", None, x.dtype, kernel, regularizer=tf.nn.l2_loss)

    def body(i, h):
        return i + 1, tf.nn.relu(tf.matmul(h, w)) + x

    return v1.while_loop(lambda i, h: i < 3, body, [0, x])[1]


def fetch(kernel, feed, fetches):
    """Evaluates tensors of graph code by name."""
    # --- wrap
    signature = [tf.TensorSpec([None, len(kernel)], kernel.dtype, "x")]
    network = v1.wrap_function(lambda x: _network(x, kernel), signature)
    # --- ask
    tensor = network.graph.get_tensor_by_name
    places, wanted = [*map(tensor, feed)], [*map(tensor, fetches)]
    part = tf.function(network.prune(places, wanted))
    # A session cast the arrays that it was fed.
    values = [tf.constant(x, t.dtype) for x, t in zip(feed.values(), places)]
    return [y.numpy() for y in part(*values)]


def freeze(x, kernel, file=False):
    """Freezes a network with a while loop, and runs the frozen graph."""
    # A session still works, in its own graph.
    with tf.Graph().as_default(), v1.Session() as sess:
        # --- freeze
        inputs = v1.placeholder(x.dtype, [None, x.shape[1]], name="x")
        _network(inputs, kernel)
        sess.run(v1.global_variables_initializer())
        frozen = v1.graph_util.convert_variables_to_constants(
            sess, sess.graph_def, ["second"]
        )
    written = np.frombuffer(frozen.SerializeToString(deterministic=True), np.uint8)
    # --- ask
    answer = {"y": run_frozen(written, {"x:0": x}, ["second:0"])[0]}
    return {**answer, "file": written} if file else answer


def run_frozen(graph, feed, fetches):
    """Imports a frozen graph, even with TensorFlow 1 loops, and evaluates tensors."""
    # --- read
    graph_def = v1.GraphDef.FromString(graph.tobytes())

    # --- wrap
    def imported(*tensors):
        named = dict(zip(feed, tensors))
        return tf.import_graph_def(graph_def, named, fetches, name="")

    signature = [tf.TensorSpec(x.shape, x.dtype) for x in feed.values()]
    wrapped = v1.wrap_function(imported, signature)
    # `prune` keeps only the ops that the fetches need; `wrapped` runs all of the file.
    part = tf.function(wrapped.prune(wrapped.inputs, wrapped.outputs))
    # --- ask
    return [y.numpy() for y in part(*map(tf.constant, feed.values()))]


# Called eagerly, this loss divides by another count than TensorFlow 1. Called in a
# `tf.function`, it divides by the same count.
IN_GRAPHS = {
    "mean_pairwise_squared_error": tf.function(v1.losses.mean_pairwise_squared_error)
}


def weighted_loss(kind, labels, predictions, weights=1.0, options=None):
    """Computes a weighted loss of `tf.losses` given by name."""
    loss = IN_GRAPHS.get(kind) or getattr(v1.losses, kind)
    weights = tf.convert_to_tensor(weights)  # each Python number makes a new trace
    return loss(labels, predictions, weights=weights, **options or {})


def resize(images, size, method=0, align_corners=False):
    """Resizes images as TensorFlow 1 did, without half-pixel centers."""
    return v1.image.resize_images(images, size, method, align_corners)


def count_flops(batch, size, channels, classes):
    """Counts the floating-point operations of a small network without running it."""
    # --- build
    network = tf.function(lambda images: _classify(images, channels, classes))
    network = network.get_concrete_function(tf.TensorSpec([batch, size, size, 3]))
    # --- count
    builder = v1.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    node = v1.profiler.profile(network.graph, cmd="op", options=options)
    counts = {}
    while node.children:  # each node has one child; the largest count first
        node = node.children[0]
        counts[node.name] = node.float_ops
    return counts


def _classify(images, channels, classes):
    kernel, bias = tf.zeros([3, 3, 3, channels]), tf.zeros([channels])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, 1, "SAME"), bias))
    pooled = tf.reduce_mean(tf.nn.max_pool2d(hidden, 2, 2, "VALID"), [1, 2])
    return tf.nn.softmax(tf.matmul(pooled, tf.zeros([channels, classes])))
