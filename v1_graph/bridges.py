"""`tf.compat.v1` without a session: optimizers, `Saver`, losses, `wrap_function`."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

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
    """Fits a line with `apply_gradients` of a `compat.v1` optimizer given by name.

    Args:
        data: (x, y), [n, features] and [n, units] arrays of one float dtype.
        start: (kernel, bias), [features, units] and [units] arrays of this dtype.
        optimizer: name of the optimizer, such as "Adam".
        hyper: dict of the optimizer's arguments, such as {"learning_rate": 0.5}.
        stops: increasing list of the step numbers at which to read the variables.

    Returns:
        {stop: {name: value}} of the weights, of their slots ("kernel m") and of the
        global step.

    Raises:
        TypeError: an argument that the optimizer does not have.
        ValueError: a weight gets no gradient, as with integers.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        weights, loss = _line(data, start)
        optimizer = getattr(tf.train, optimizer + "Optimizer")(**hyper)
        global_step = tf.train.get_or_create_global_step()
        # --- step
        gradients = optimizer.compute_gradients(loss, weights)
        step = optimizer.apply_gradients(gradients, global_step)
        # --- run
        sess.run(tf.global_variables_initializer())
        history, done = {}, 0
        for stop in stops:
            for _ in range(stop - done):
                sess.run(step)
            variables = _with_slots(optimizer, weights, global_step)
            history[stop], done = sess.run(variables), stop
        return history


def _line(data, start):
    """Returns ([kernel, bias], the mean squared error of x · kernel + bias)."""
    kernel = tf.get_variable("kernel", initializer=start[0])
    bias = tf.get_variable("bias", initializer=start[1])
    outputs = tf.matmul(tf.constant(data[0]), kernel) + bias
    return [kernel, bias], tf.reduce_mean(tf.square(outputs - tf.constant(data[1])))


def _with_slots(optimizer, weights, global_step):
    """Returns {name: variable} of the weights, their slots, and the global step."""
    slots = {
        "%s %s" % (v.op.name, slot): optimizer.get_slot(v, slot)
        for v in weights
        for slot in optimizer.get_slot_names()
    }
    return dict({v.op.name: v for v in weights + [global_step]}, **slots)


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits an embedding table with `minimize`: the gradient is sparse.

    Args:
        table: [rows, n] float array, the initial table.
        ids: [steps, k] int array of row numbers; a row may occur twice in a step.
        targets: [steps, k, n] array of the dtype of `table`.
        optimizer, hyper: as for `fit`.

    Returns:
        {name: value} of the table, its slots ("table m") and the global step.

    Raises:
        tf.errors.InvalidArgumentError: an id is not a row of the table.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        variable = tf.get_variable("table", initializer=table)
        row_ids = tf.placeholder(ids.dtype, ids.shape[1:])
        wanted = tf.placeholder(targets.dtype, targets.shape[1:])
        looked_up = tf.nn.embedding_lookup(variable, row_ids)
        loss = tf.reduce_sum(tf.square(looked_up - wanted)) / 2
        optimizer = getattr(tf.train, optimizer + "Optimizer")(**hyper)
        global_step = tf.train.get_or_create_global_step()
        # --- step
        step = optimizer.minimize(loss, global_step, [variable])
        # --- run
        sess.run(tf.global_variables_initializer())
        for feed in zip(ids, targets):
            sess.run(step, dict(zip([row_ids, wanted], feed)))
        return sess.run(_with_slots(optimizer, [variable], global_step))


def resume(data, start, steps, files=None):
    """Restores a name-based checkpoint with `Saver`, trains on, and saves again.

    Args:
        data, start: as for `fit`.
        steps: how many steps of Adam to take.
        files: {suffix: bytes as a uint8 array}, the files of a checkpoint, or None.

    Returns:
        dict with the `losses` before each step, and the `saved` variables, {name:
        array}.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a variable.
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        # --- build
        weights, loss = _line(data, start)
        optimizer = tf.train.AdamOptimizer(0.125)
        global_step = tf.train.get_or_create_global_step()
        gradients = optimizer.compute_gradients(loss, weights)
        with tf.control_dependencies([loss]):
            step = optimizer.apply_gradients(gradients, global_step)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            # --- restore
            if files is None:
                sess.run(tf.global_variables_initializer())
            else:
                saver.restore(sess, _unpack(files, folder))
            # --- step
            losses = [sess.run([loss, step])[0] for _ in range(steps)]
            # --- save
            path = os.path.join(folder, "model.ckpt")
            saver.save(sess, path, write_meta_graph=False, write_state=False)
            reader = tf.train.NewCheckpointReader(path)
            names = reader.get_variable_to_shape_map()
            saved = {name: reader.get_tensor(name) for name in names}
            return {"losses": np.array(losses, data[0].dtype), "saved": saved}


def _unpack(files, folder):
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def resume_objects(data, start, stop, steps):
    """Trains, stops, and resumes in a new program, with a decaying learning rate.

    Args:
        data, start: as for `fit`.
        stop: how many steps of Adam the first program takes.
        steps: how many steps the second program takes, from the checkpoint of the first
            program.

    Returns:
        {name: value} of the variables after the last step, named as in `fit`.
    """
    with tempfile.TemporaryDirectory() as folder:
        for count in (stop, steps):
            with tf.Graph().as_default(), tf.Session() as sess:
                # --- build
                weights, loss = _line(data, start)
                global_step = tf.train.get_or_create_global_step()
                rate = tf.train.exponential_decay(0.125, global_step, 4, 0.5)
                optimizer = tf.train.AdamOptimizer(rate)
                step = optimizer.minimize(loss, global_step, weights)
                saver = tf.train.Saver()
                # --- restore
                latest = tf.train.latest_checkpoint(folder)
                if latest is None:
                    sess.run(tf.global_variables_initializer())
                else:
                    saver.restore(sess, latest)
                # --- step
                for _ in range(count):
                    sess.run(step)
                # --- save
                saver.save(sess, os.path.join(folder, "model.ckpt"), global_step)
                state = sess.run(_with_slots(optimizer, weights, global_step))
    return state


def run_network(x, y, kernel, steps, rate=0.125):
    """Trains graph code with a reused scope, a while loop and a regularization loss.

    Args:
        x: [n, units] float array.
        y: array like `x`.
        kernel: [units, units] array of the same dtype, the initial value.
        steps: how many steps of gradient descent to take.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step and the `variables` by name.

    Raises:
        ValueError: shapes that do not fit.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- wrap
        inputs = tf.placeholder(x.dtype, [None, x.shape[1]], name="x")
        outputs, penalty = _network(inputs, kernel)
        loss = tf.reduce_mean(tf.square(outputs - tf.constant(y))) + penalty
        # --- step
        optimizer = tf.train.GradientDescentOptimizer(rate)
        gradients = optimizer.compute_gradients(loss)
        with tf.control_dependencies([loss]):
            step = optimizer.apply_gradients(gradients)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, step], {inputs: x})[0] for _ in range(steps)]
        variables = sess.run({v.op.name: v for v in tf.trainable_variables()})
        return {"losses": np.array(losses), "variables": variables}


def _network(x, kernel):
    """Computes the outputs and the penalty by unchanged graph code."""
    first = tf.identity(_recurrent(x, kernel), name="first")
    second = _recurrent(first, kernel)  # the same kernel
    return tf.identity(second, name="second"), tf.losses.get_regularization_loss()


def _recurrent(x, kernel):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("kernel", None, x.dtype, kernel, regularizer=tf.nn.l2_loss)

    def body(i, h):
        return i + 1, tf.nn.relu(tf.matmul(h, w)) + x

    return tf.while_loop(lambda i, h: i < 3, body, [0, x])[1]


def fetch(kernel, feed, fetches):
    """Evaluates tensors of graph code by name.

    Args:
        kernel: [units, units] float array, the weights of `run_network`.
        feed: {name of a tensor: array}. Any tensors whose values make the fetches
            computable, not only placeholders.
        fetches: list of names of tensors.

    Returns:
        List of arrays.

    Raises:
        KeyError: the graph has no such tensor (a fetch in a session: ValueError).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- wrap
        inputs = tf.placeholder(kernel.dtype, [None, len(kernel)], name="x")
        _network(inputs, kernel)
        sess.run(tf.global_variables_initializer())
        # --- ask
        return sess.run(fetches, feed)


def freeze(x, kernel, file=False):
    """Freezes a network with a while loop, and runs the frozen graph.

    Args:
        x: [n, units] float array.
        kernel: [units, units] array of the same dtype.
        file: whether to return the frozen graph, too.

    Returns:
        dict with the outputs `y` and, if `file`, the `file`, bytes as a uint8 array.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- freeze
        inputs = tf.placeholder(x.dtype, [None, x.shape[1]], name="x")
        _network(inputs, kernel)
        sess.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, sess.graph_def, ["second"]
        )
    written = np.frombuffer(frozen.SerializeToString(deterministic=True), np.uint8)
    # --- ask
    answer = {"y": run_frozen(written, {"x:0": x}, ["second:0"])[0]}
    return dict(answer, file=written) if file else answer


def run_frozen(graph, feed, fetches):
    """Imports a frozen graph, even with TensorFlow 1 loops, and evaluates tensors.

    Args:
        graph: the file, bytes as a uint8 array.
        feed: {name of a tensor: array}. Any tensors whose values make the fetches
            computable, not only placeholders.
        fetches: list of names of tensors.

    Returns:
        List of arrays.

    Raises:
        DecodeError: the file is not a GraphDef.
        KeyError: the graph has no such tensor (a fetch in a session: ValueError).
    """
    # --- read
    graph_def = tf.GraphDef.FromString(graph.tobytes())
    # --- wrap
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        # --- ask
        return sess.run(fetches, feed)


def weighted_loss(kind, labels, predictions, weights=1.0, options=None):
    """Computes a weighted loss of `tf.losses` given by name.

    Args:
        kind: name of the loss, such as "huber_loss".
        labels, predictions: tensors as the loss takes them.
        weights: a number, or a tensor of the rank of the losses.
        options: dict of other arguments of the loss.

    Returns:
        float32 scalar.

    Raises:
        ValueError: the shapes are known and differ.
    """
    return getattr(tf.losses, kind)(
        labels, predictions, weights=weights, **options or {}
    )


def resize(images, size, method=0, align_corners=False):
    """Resizes images as TensorFlow 1 did, without half-pixel centers.

    Args:
        images: [batch, height, width, channels] tensor.
        size: (height, width) of the result.
        method: 0 bilinear, 1 nearest neighbour, 2 bicubic, 3 area.
        align_corners: whether the centres of the corner pixels stay where they are.

    Returns:
        float32 tensor; with method 1 a tensor of the dtype of `images`.

    Raises:
        ValueError: not three or four dimensions.
    """
    return tf.image.resize_images(images, size, method, align_corners)


def count_flops(batch, size, channels, classes):
    """Counts the floating-point operations of a small network without running it.

    Args:
        batch: int.
        size: height and width of the images.
        channels: number of the convolution's output channels.
        classes: int.

    Returns:
        {type of op: count}, for the types that TensorFlow counts.

    Raises:
        ValueError: a negative size.
    """
    # --- build
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [batch, size, size, 3])
        _classify(images, channels, classes)
    # --- count
    builder = tf.profiler.ProfileOptionBuilder
    options = builder(builder.float_operation()).with_empty_output().build()
    node = tf.profiler.profile(graph, cmd="op", options=options)
    counts = {}
    while node.children:  # each node has one child; the largest count first
        node = node.children[0]
        counts[node.name] = node.float_ops
    return counts


def _classify(images, channels, classes):
    kernel, bias = tf.zeros([3, 3, 3, channels]), tf.zeros([channels])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, 1, "SAME"), bias))
    pooled = tf.reduce_mean(tf.nn.max_pool(hidden, 2, 2, "VALID"), [1, 2])
    return tf.nn.softmax(tf.matmul(pooled, tf.zeros([channels, classes])))
