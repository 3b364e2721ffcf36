"""`sess.run` in loops, sweeps and threads → many calls of one `tf.function`."""

import multiprocessing
import threading
from multiprocessing.pool import ThreadPool

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "configure",
    "scale_by_each",
    "sum_batches",
    "sweep_rates",
    "score_in_threads",
    "count_in_threads",
    "score_in_processes",
    "scale_by_setting",
    "take_rows",
    "keep_hidden",
    "subtract_median",
    "average_by_name",
]


def configure(processors, threads=None, gpus="0"):
    """Configures CPU devices, threads, visible GPUs and memory growth; lists devices.

    Args:
        processors: number of logical CPU devices.
        threads: (within an op, between ops), or None for the default of the system.
        gpus: numbers of the visible GPUs, separated by commas; "" for all.

    Returns:
        (names of the devices, such as "CPU:0"; [threads within, threads between], 0
        if the system chooses).
    """
    # --- configure
    # For this session only; the next one may have another configuration.
    config = tf.ConfigProto(device_count={"CPU": processors})
    if threads:
        config.intra_op_parallelism_threads = threads[0]
        config.inter_op_parallelism_threads = threads[1]
    config.gpu_options.visible_device_list = gpus
    config.gpu_options.allow_growth = True
    # --- look
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        devices = [tf.DeviceSpec.from_string(d.name) for d in sess.list_devices()]
    names = ["%s:%d" % (d.device_type, d.device_index) for d in devices]
    within = config.intra_op_parallelism_threads
    between = config.inter_op_parallelism_threads
    return [name for name in names if "XLA" not in name], [within, between]


def count(graph, kind):
    """Counts the ops of one type in a graph."""
    return sum(op.type == kind for op in graph.get_operations())


def scale_by_each(x, rates, fixed=True):
    """Multiplies by one rate after another, and counts the traces (or ops) made.

    Args:
        x: [n] float array.
        rates: list of k different floats.
        fixed: whether the rate is an input, or a number in the graph.

    Returns:
        ([k, n] array, number of products in the graph: 1 if fixed, else k).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x_in = tf.placeholder(x.dtype, x.shape)
        # --- an input
        if fixed:
            rate_in = tf.placeholder(x.dtype, [])
            scaled = x_in * rate_in
            graph.finalize()  # from now on a new op is an error
            rows = [sess.run(scaled, {x_in: x, rate_in: rate}) for rate in rates]
        # --- a number
        else:
            rows = [sess.run(x_in * rate, {x_in: x}) for rate in rates]
        return np.stack(rows), count(graph, "Mul")


def sum_batches(batches, bucketed=False):
    """Sums batches of several sizes, with one trace for all or one trace per size.

    Args:
        batches: list of [any, k] float arrays.
        bucketed: whether each size has its own trace, with a known shape.

    Returns:
        (list of [k] arrays, number of traces, or of pieces of the graph).

    Raises:
        ValueError: a batch has another k (TypeError in TensorFlow 2 if not bucketed).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- promise
        columns, pieces = batches[0].shape[1], {}
        for size in {len(batch) for batch in batches} if bucketed else {None}:
            rows = tf.placeholder(batches[0].dtype, [size, columns])
            pieces[size] = rows, tf.reduce_sum(rows, axis=0)
        graph.finalize()
        # --- run
        sums = []
        for batch in batches:
            rows, total = pieces[len(batch) if bucketed else None]
            sums.append(sess.run(total, {rows: batch}))
        return sums, count(graph, "Sum")


def sweep_rates(x, y, start, rates, steps, once=True):
    """Fits a kernel with each of several learning rates, from the same start.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: [features, units] array.
        rates: list of floats.
        steps: number of steps for each rate.
        once: whether to make the step once, or again for each rate in the loop.

    Returns:
        (list of kernels, number of steps made: 1, or one for each rate).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- step
        def make_step(rate):
            kernel = tf.Variable(start)
            loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) - y))
            optimizer = tf.train.GradientDescentOptimizer(rate)
            return kernel, optimizer.minimize(loss)

        # --- sweep
        rate_in, kernels = tf.placeholder(x.dtype, []), []
        made = make_step(rate_in) if once else None
        for rate in rates:
            kernel, step = made or make_step(rate)
            sess.run(kernel.initializer)
            for _ in range(steps):
                sess.run(step, {rate_in: rate})
            kernels.append(sess.run(kernel))
        return kernels, count(graph, "Square")


def score_in_threads(batches, kernel, threads):
    """Scores batches in several threads that share one model.

    Args:
        batches: list of [any, features] float arrays.
        kernel: [features, classes] array of the same dtype.
        threads: number of threads.

    Returns:
        (list of [any, classes] arrays in the order of `batches`, number of products in
        the graph, or of traces: 1).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        rows = tf.placeholder(kernel.dtype, [None, len(kernel)])
        scores = tf.nn.relu(tf.matmul(rows, tf.Variable(kernel)))
        sess.run(tf.global_variables_initializer())
        graph.finalize()  # threads have other default graphs: make no op there

        # --- call
        def score(batch):
            return sess.run(scores, {rows: batch})

        pool = ThreadPool(threads)
        answers = pool.map(score, batches, 1)
        pool.close()
        return answers, count(graph, "MatMul")


def count_in_threads(parts, shared=True):
    """Adds numbers up in threads, with one total for all threads or one per thread.

    Args:
        parts: list of lists of integers, one for each thread.
        shared: whether all threads share one session, and so one total.

    Returns:
        List of the final total of each thread.

    Raises:
        ValueError: a number is negative; the other threads stop.
    """
    with tf.Graph().as_default() as graph:
        # --- build
        number = tf.placeholder(tf.int64, [])
        total = tf.get_variable("total", [], tf.int64, tf.zeros_initializer())
        add = tf.assign_add(total, number, use_locking=True)
        sessions = [tf.Session() for _ in parts]
        if shared:
            sessions = sessions[:1] * len(parts)
        for sess in sessions:
            sess.run(total.initializer)
        graph.finalize()
        # --- add
        coord = tf.train.Coordinator()

        def work(sess, numbers):
            with coord.stop_on_exception():
                for n in numbers:
                    if coord.should_stop():
                        break
                    if n < 0:
                        raise ValueError("numbers must not be negative: %d" % n)
                    sess.run(add, {number: n})

        workers = [
            threading.Thread(target=work, args=pair) for pair in zip(sessions, parts)
        ]
        for worker in workers:
            worker.start()
        # --- join
        coord.join(workers)  # raises the error of a thread
        return [sess.run(total) for sess in sessions]


def score_in_processes(batches, kernel, processes):
    """Scores batches in several processes, each with its own copy of the model.

    Args:
        batches: list of [any, features] float arrays.
        kernel: [features, classes] array of the same dtype.
        processes: number of processes.

    Returns:
        List of [any, classes] arrays in the order of `batches`.
    """
    # A forked process does not have the threads of TensorFlow, and hangs.
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _begin, [kernel]) as pool:
        return pool.map(_score, batches, 1)


OF_PROCESS = {}


def _begin(kernel):
    """Makes the model of this process, once."""
    with tf.Graph().as_default() as graph:
        rows = tf.placeholder(kernel.dtype, [None, len(kernel)])
        scores = tf.nn.relu(tf.matmul(rows, tf.Variable(kernel)))
        init = tf.global_variables_initializer()
    sess = tf.Session(graph=graph)
    sess.run(init)
    OF_PROCESS["score"] = lambda batch: sess.run(scores, {rows: batch})


def _score(batch):
    return OF_PROCESS["score"](batch)


def scale_by_setting(x, scales):
    """Multiplies by a setting that changes between the calls.

    Args:
        x: [n] float array.
        scales: list of floats, the values of the setting in turn.

    Returns:
        [len(scales), n] array.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x_in = tf.placeholder(x.dtype, x.shape)
        scale = tf.Variable(1.0, trainable=False, dtype=x.dtype)
        scaled = x_in * scale
        # --- run
        rows = []
        for value in scales:
            scale.load(value, sess)
            rows.append(sess.run(scaled, {x_in: x}))
        return np.stack(rows)


def take_rows(table, batches):
    """Looks rows up in a large table that is not stored in the graph.

    Args:
        table: [n, k] array.
        batches: list of int arrays below n.

    Returns:
        (list of arrays of rows, whether the graph is smaller than the table).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        # A constant would be stored in the graph, which is limited to 2 GB.
        table_in = tf.placeholder(table.dtype, table.shape)
        rows = tf.Variable(table_in, trainable=False, collections=[])
        ids = tf.placeholder(tf.int64, [None])
        taken = tf.gather(rows, ids)
        # --- run
        sess.run(rows.initializer, {table_in: table})
        found = [sess.run(taken, {ids: batch}) for batch in batches]
        return found, graph.as_graph_def().ByteSize() < table.nbytes


def keep_hidden(x, kernel):
    """Returns the output, the hidden layer, and the gradient of the hidden layer.

    Args:
        x: [n, features] float array.
        kernel: [features, units] array of the same dtype.

    Returns:
        ([n] outputs, [n, units] hidden layer, [n, units] gradient of the sum of the
        outputs with respect to the hidden layer).
    """

    # --- network
    class Network:
        def __init__(self, inputs):
            self.hidden = tf.nn.relu(tf.matmul(inputs, tf.constant(kernel)))
            self.output = tf.reduce_sum(tf.square(self.hidden), axis=1)

    # --- run
    with tf.Graph().as_default(), tf.Session() as sess:
        x_in = tf.placeholder(x.dtype, x.shape)
        network = Network(x_in)
        (slope,) = tf.gradients(network.output, network.hidden)
        return sess.run((network.output, network.hidden, slope), {x_in: x})


def subtract_median(x, kernel):
    """Subtracts the median, computed by NumPy between two parts of a network.

    Args:
        x: [n, features] float array.
        kernel: [features, units] array of the same dtype.

    Returns:
        [n, units] array, relu(product - median of each column).

    Raises:
        ValueError: shapes that do not multiply; InvalidArgumentError in TensorFlow 2.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- before
        x_in = tf.placeholder(x.dtype, x.shape)
        product = tf.matmul(x_in, tf.constant(kernel))
        # --- after
        y_in = tf.placeholder(x.dtype, [None, kernel.shape[1]])
        median_in = tf.placeholder(x.dtype, [kernel.shape[1]])
        above = tf.nn.relu(y_in - median_in)
        # --- run
        y = sess.run(product, {x_in: x})
        return sess.run(above, {y_in: y, median_in: np.median(y, axis=0)})


def average_by_name(updates, decay):
    """Updates one moving average per name; new names may come at any time.

    Args:
        updates: list of (name, array); all arrays of a name have the same shape.
        decay: share of the old average that an update keeps.

    Returns:
        {name: average}; each average begins at zero.

    Raises:
        ValueError: the shape of an array differs from the first array of its name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- make
        def make(name, like):
            with tf.variable_scope("averages"):
                average = tf.get_variable(
                    name, like.shape, like.dtype, tf.zeros_initializer()
                )
            value = tf.placeholder(like.dtype, like.shape)
            update = tf.assign_sub(average, (1 - decay) * (average - value))
            sess.run(average.initializer)
            return average, value, update

        # --- run
        made = {}
        for name, array in updates:
            if name not in made:
                made[name] = make(name, array)
            _, value, update = made[name]
            sess.run(update, {value: array})
        return {name: sess.run(average) for name, (average, _, _) in made.items()}
