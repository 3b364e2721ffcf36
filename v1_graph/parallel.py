"""`tf.device`, `tf.colocate_with`, towers → `tf.device`, `MirroredStrategy`."""

import tensorflow.compat.v1 as tf

from v1_graph.basics import polynomial

__all__ = [
    "processors",
    "add",
    "nested_devices",
    "device_function",
    "add_in_halves",
    "add_in_parallel",
    "losses_and_gradient",
    "fit",
    "fit_towers",
    "feed_towers",
    "center",
]


def processors(count):
    """Splits the CPU into logical devices, which are used in place of GPUs.

    Args:
        count: number of devices.

    Returns:
        List of names such as "CPU:0".
    """
    # --- configure
    # For this session alone; the next session may have another number.
    config = tf.ConfigProto(device_count={"CPU": count})
    # --- look
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        devices = [d.name for d in sess.list_devices() if d.device_type == "CPU"]
    return [short(name) for name in devices]


def session():
    """Makes a session with two devices; on a machine with two GPUs, tf.Session()."""
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


def device(index):
    """Returns the name of a CPU device; in practice write device_type="GPU"."""
    return tf.DeviceSpec(device_type="CPU", device_index=index)


def short(name):
    """Returns a device's name without job, replica and task."""
    spec = tf.DeviceSpec.from_string(name)
    return "%s:%d" % (spec.device_type, spec.device_index)


def run_and_locate(sess, fetches, feed, tensors):
    """Runs the fetches, and finds the device that computed each of `tensors`.

    A tensor's own `device` is the one that was requested, or empty.
    """
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    values = sess.run(fetches, feed, options, metadata)
    nodes = [node for graph in metadata.partition_graphs for node in graph.node]
    ran_on = {node.name: short(node.device) for node in nodes}
    return values, [ran_on[tensor.op.name] for tensor in tensors]


def add(a, b, index):
    """Adds two arrays on a device, and returns the device of the sum.

    Args:
        a: array.
        b: array of the same dtype that broadcasts with `a`.
        index: number of the device.

    Returns:
        (array, name such as "CPU:1").

    Raises:
        tf.errors.InvalidArgumentError: the device does not exist; TensorFlow 2 uses
            another device.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- build
        a_in = tf.placeholder(a.dtype, a.shape)
        b_in = tf.placeholder(b.dtype, b.shape)
        with tf.device(device(index)):
            c = a_in + b_in
        # --- run
        total, (where,) = run_and_locate(sess, c, {a_in: a, b_in: b}, [c])
        return total, where


def nested_devices(x):
    """Places ops in nested device blocks, on a tensor's device, and on any device.

    Args:
        x: numeric array.

    Returns:
        ([x², -x, x² + 1, |x|], the names of their devices).
    """
    with tf.Graph().as_default() as graph, session() as sess:
        x_in = tf.placeholder(x.dtype, x.shape)
        # --- blocks
        with graph.device("/cpu:1"):
            outer = tf.square(x_in)
            with graph.device("/cpu:0"):
                inner = tf.negative(x_in)
                # --- beside
                with tf.colocate_with(outer):
                    beside = outer + 1
            # --- anywhere
            with graph.device(None):
                anywhere = tf.abs(x_in)
        # --- run
        tensors = [outer, inner, beside, anywhere]
        return run_and_locate(sess, tensors, {x_in: x}, tensors)


def device_function(x, kernel):
    """Places a variable on the first device, and the computation on the second.

    Args:
        x: [n, features] float array.
        kernel: [features, units] array of the same dtype.

    Returns:
        ([n, units] product, the names of the devices of kernel and product).
    """
    with tf.Graph().as_default(), session() as sess:
        # --- rule
        def variables_on_the_first(op):
            return device(0 if op.type in ("VariableV2", "VarHandleOp") else 1)

        # --- build
        x_in = tf.placeholder(x.dtype, x.shape)
        with tf.device(variables_on_the_first):
            weights = tf.get_variable("kernel", initializer=kernel)
            y = tf.matmul(x_in, weights)
        # --- run
        sess.run(tf.global_variables_initializer())
        return run_and_locate(sess, y, {x_in: x}, [weights, y])


def add_in_halves(a, b):
    """Splits two arrays, and adds one half on each of two devices.

    Args:
        a: [n, ...] array, n even.
        b: array like `a`.

    Returns:
        (array like `a`, the names of the devices of both halves of the sum).

    Raises:
        ValueError: n is odd, or the shapes differ.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- split
        a_in = tf.placeholder(a.dtype, a.shape)
        b_in = tf.placeholder(b.dtype, b.shape)
        split_a, split_b = tf.split(a_in, 2), tf.split(b_in, 2)
        # --- add
        split_c = []
        for i in range(2):
            with tf.device(device(i)):
                split_c.append(split_a[i] + split_b[i])
        c = tf.concat(split_c, axis=0)
        # --- run
        return run_and_locate(sess, c, {a_in: a, b_in: b}, split_c)


def make_parallel(fn, num_devices, **kwargs):
    """Splits a batch over devices, and applies `fn` on each with shared variables.

    Args:
        fn: function of tensors, the batch first, to one tensor, the batch first.
        num_devices: number of devices, a divisor of the size of the batch.
        **kwargs: the tensors.

    Returns:
        The result of `fn` for the whole batch.
    """
    in_splits = {k: tf.split(v, num_devices) for k, v in kwargs.items()}
    out_splits = []
    for i in range(num_devices):
        with tf.device(device(i)):
            # The first call makes the variables, later calls find them by name.
            with tf.variable_scope(tf.get_variable_scope(), reuse=i > 0):
                parts = {k: v[i] for k, v in in_splits.items()}
                out_splits.append(fn(**parts))
    return tf.concat(out_splits, axis=0)


def add_in_parallel(a, b, num_devices):
    """Adds two arrays with `make_parallel`, one part of them on each device.

    Args:
        a: [n, ...] array, n a multiple of `num_devices`.
        b: array like `a`.
        num_devices: number of devices, 1 or 2.

    Returns:
        Array like `a`.

    Raises:
        ValueError: n is not a multiple of `num_devices`.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- build
        def model(a, b):
            return a + b

        a_in = tf.placeholder(a.dtype, a.shape)
        b_in = tf.placeholder(b.dtype, b.shape)
        c = make_parallel(model, num_devices, a=a_in, b=b_in)
        # --- run
        return sess.run(c, {a_in: a, b_in: b})


def losses_and_gradient(x, y, w, num_devices, colocate=True):
    """Computes losses of a polynomial on several devices, and their mean's gradient.

    Args:
        x: [n] float array, n a multiple of `num_devices`.
        y: [n] array of the same dtype.
        w: [3, 1] array, the coefficients.
        num_devices: number of devices, 1 or 2.
        colocate: whether a device computes the gradients of its own part.

    Returns:
        ([n] losses, [3, 1] gradient, the names of the devices of its parts).

    Raises:
        ValueError: n is not a multiple of `num_devices`.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- build
        def model(x, y):
            weights = tf.get_variable("w", w.shape, w.dtype, start)
            return tf.square(polynomial(x, weights) - y)

        start = tf.constant_initializer(w)

        x_in = tf.placeholder(x.dtype, x.shape)
        y_in = tf.placeholder(y.dtype, y.shape)
        losses = make_parallel(model, num_devices, x=x_in, y=y_in)
        # --- gradient
        (gradient,) = tf.gradients(
            tf.reduce_mean(losses),
            tf.trainable_variables(),
            colocate_gradients_with_ops=colocate,
            name="gradients",
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        parts = [gradient]
        if num_devices > 1:  # then it is their sum
            parts = gradient.op.inputs
        fetches, feed = [losses, gradient], {x_in: x, y_in: y}
        (losses, gradient), where = run_and_locate(sess, fetches, feed, parts)
        return losses, gradient, where


def fit(x, y, w, num_devices, learning_rate=0.1):
    """Fits a polynomial with Adam; each batch is split over several devices.

    Args:
        x: [steps, n] float array, n a multiple of `num_devices`.
        y: [steps, n] array of the same dtype.
        w: [3, 1] array, the initial coefficients.
        num_devices: number of devices, 1 or 2.
        learning_rate: learning rate of Adam.

    Returns:
        ([3, 1] coefficients, [steps] mean losses, each before its update).

    Raises:
        ValueError: n is not a multiple of `num_devices`.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- build
        def model(x, y):
            weights = tf.get_variable("w", w.shape, w.dtype, start)
            return tf.square(polynomial(x, weights) - y)

        start = tf.constant_initializer(w)

        x_in = tf.placeholder(x.dtype, x.shape[1:])
        y_in = tf.placeholder(y.dtype, y.shape[1:])
        loss = tf.reduce_mean(make_parallel(model, num_devices, x=x_in, y=y_in))
        # --- step
        optimizer = tf.train.AdamOptimizer(learning_rate)
        train = optimizer.minimize(loss, colocate_gradients_with_ops=True)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for step in range(len(x)):
            feed = {x_in: x[step], y_in: y[step]}
            # No race: the gradient needs the same values of `w` as the loss.
            losses.append(sess.run([loss, train], feed)[0])
        (weights,) = sess.run(tf.trainable_variables())
        return weights, tf.stack(losses).eval()


def average_gradients(tower_gradients):
    """Averages the gradient of each variable over the towers.

    Args:
        tower_gradients: one list of (gradient, variable) for each tower.

    Returns:
        List of (gradient, variable).
    """
    averaged = []
    for pairs in zip(*tower_gradients):
        gradient = tf.reduce_mean(tf.stack([g for g, _ in pairs]), axis=0)
        averaged.append((gradient, pairs[0][1]))
    return averaged


def fit_towers(x, y, w, learning_rate=0.0625):
    """Fits a polynomial by gradient descent; averages gradients over two devices.

    Args:
        x: [steps, n] float array, n even.
        y: [steps, n] array of the same dtype.
        w: [3, 1] array, the initial coefficients.
        learning_rate: learning rate of the descent.

    Returns:
        ([3, 1] coefficients, [steps] mean losses, each before its update).

    Raises:
        ValueError: n is odd; TensorFlow 2 gives the devices parts of two sizes.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- build
        with tf.device(device(0)):
            weights = tf.get_variable("w", initializer=w)
        x_in = tf.placeholder(x.dtype, x.shape[1:])
        y_in = tf.placeholder(y.dtype, y.shape[1:])
        optimizer = tf.train.GradientDescentOptimizer(learning_rate)
        # --- tower
        losses, tower_gradients = [], []
        for i, (x_part, y_part) in enumerate(zip(tf.split(x_in, 2), tf.split(y_in, 2))):
            with tf.device(device(i)), tf.name_scope("tower_%d" % i):
                error = polynomial(x_part, weights) - y_part
                losses.append(tf.reduce_mean(tf.square(error)))
                # In the block of the tower: its gradients are computed on its device.
                tower_gradients.append(optimizer.compute_gradients(losses[i]))
        # --- step
        loss = tf.reduce_mean(tf.stack(losses))
        train = optimizer.apply_gradients(average_gradients(tower_gradients))
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for step in range(len(x)):
            feed = {x_in: x[step], y_in: y[step]}
            history.append(sess.run([loss, train], feed)[0])
        return sess.run(weights), tf.stack(history).eval()


def feed_towers(x, batch):
    """Splits each batch of a dataset between two devices.

    Args:
        x: [n, ...] float array.
        batch: size of a batch, even; the remainder is dropped.

    Returns:
        List of [part of the first device, part of the second], one for each batch.

    Raises:
        ValueError: `batch` is odd; TensorFlow 2 gives the devices parts of two sizes.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- dataset
        dataset = tf.data.Dataset.from_tensor_slices(x)
        dataset = dataset.batch(batch, drop_remainder=True)
        # --- divide
        # One get_next for each tower would read two batches, in the order of the calls.
        values = tf.data.make_one_shot_iterator(dataset).get_next()
        parts = []
        for i, part in enumerate(tf.split(values, 2)):
            with tf.device(device(i)):
                parts.append(tf.identity(part))
        # --- run
        fed = []
        while True:
            try:
                fed.append(sess.run(parts))
            except tf.errors.OutOfRangeError:
                return fed


def center(x):
    """Subtracts the mean of the whole batch from its halves on two devices.

    Args:
        x: [n, ...] float array, n even.

    Returns:
        Array like `x`.

    Raises:
        ValueError: n is odd; in TensorFlow 2 InvalidArgumentError.
    """
    with tf.Graph().as_default(), session() as sess:
        # --- split
        x_in = tf.placeholder(x.dtype, x.shape)
        parts = tf.split(x_in, 2)
        # --- means
        means = []
        for i in range(2):
            with tf.device(device(i)):
                means.append(tf.reduce_mean(parts[i], axis=0))
        # --- meet
        # All towers are in one graph: between the two loops their means are added.
        mean = tf.add_n(means) / 2
        # --- subtract
        centered = []
        for i in range(2):
            with tf.device(device(i)):
                centered.append(parts[i] - mean)
        # --- run
        return sess.run(tf.concat(centered, axis=0), {x_in: x})
