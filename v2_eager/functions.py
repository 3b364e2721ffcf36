"""`sess.run` in loops, sweeps and threads → many calls of one `tf.function`."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

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

    Raises:
        RuntimeError: TensorFlow has already started with another configuration.
    """
    # --- configure
    # For the whole process, before its first op. The same calls again are no error.
    config, limits = tf.config, tf.config.threading
    (processor,) = config.list_physical_devices("CPU")
    parts = [config.LogicalDeviceConfiguration()] * processors
    config.set_logical_device_configuration(processor, parts)
    if threads:
        limits.set_intra_op_parallelism_threads(threads[0])
        limits.set_inter_op_parallelism_threads(threads[1])
    there = config.list_physical_devices("GPU")
    seen = [there[int(n)] for n in gpus.split(",")] if gpus and there else there
    config.set_visible_devices(seen, "GPU")
    for gpu in seen:
        config.experimental.set_memory_growth(gpu, True)
    # --- look
    devices = [tf.DeviceSpec.from_string(d.name) for d in config.list_logical_devices()]
    within = limits.get_intra_op_parallelism_threads()
    between = limits.get_inter_op_parallelism_threads()
    return [f"{d.device_type}:{d.device_index}" for d in devices], [within, between]


def scale_by_each(x, rates, fixed=True):
    """Multiplies by one rate after another, and counts the traces (or ops) made."""

    @tf.function
    def scale(x, rate):
        return x * rate

    # --- an input
    if fixed:
        # Made one by one, equal numbers such as 0.0 and -0.0 become one constant.
        rows = [scale(x, rate) for rate in tf.constant(rates, x.dtype)]
    # --- a number
    else:
        rows = [scale(x, rate) for rate in rates]
    return np.stack(rows), scale.experimental_get_tracing_count()


def sum_batches(batches, bucketed=False):
    """Sums batches of several sizes, with one trace for all or one trace per size."""
    # --- promise
    promised = tf.TensorSpec([None, batches[0].shape[1]], batches[0].dtype)

    @tf.function(input_signature=None if bucketed else [promised])
    def total(rows):
        # Without a signature no other code checks the shape.
        rows.shape.assert_is_compatible_with(promised.shape)
        return tf.reduce_sum(rows, axis=0)

    # --- run
    sums = [total(tf.constant(batch)).numpy() for batch in batches]
    return sums, total.experimental_get_tracing_count()


def sweep_rates(x, y, start, rates, steps, once=True):
    """Fits a kernel with each of several learning rates, from the same start."""
    x, y = tf.constant(x), tf.constant(y)

    # --- step
    def make_step():
        kernel = tf.Variable(start)

        @tf.function
        def step(rate):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) - y))
            gradient = tape.gradient(loss, kernel)
            optimizers.GradientDescent(rate).apply_gradients([(gradient, kernel)])

        return kernel, step

    # --- sweep
    kernels, used = [], set()
    made = make_step() if once else None
    for rate in rates:
        kernel, step = made or make_step()
        kernel.assign(start)
        for _ in range(steps):
            step(tf.constant(rate, x.dtype))
        kernels.append(kernel.numpy())
        used.add(step)
    return kernels, sum(step.experimental_get_tracing_count() for step in used)


def score_in_threads(batches, kernel, threads):
    """Scores batches in several threads that share one model."""
    # --- build
    weights = tf.Variable(kernel)

    @tf.function(input_signature=[tf.TensorSpec([None, len(kernel)], kernel.dtype)])
    def score(rows):
        return tf.nn.relu(tf.matmul(rows, weights))

    # --- call
    # The first thread traces; the others wait for the trace.
    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(score, batches))
    return [a.numpy() for a in answers], score.experimental_get_tracing_count()


def count_in_threads(parts, shared=True):
    """Adds numbers up in threads, with one total for all threads or one per thread.

    Args:
        shared: whether all threads share one variable, and so one total.
    """
    # --- build
    totals = [tf.Variable(tf.zeros([], tf.int64)) for _ in parts]
    if shared:
        totals = totals[:1] * len(parts)

    @tf.function
    def add(total, number):
        total.assign_add(number)  # atomic; assign(total + number) loses some

    # --- add
    stop = threading.Event()

    def work(total, numbers):
        try:
            for n in numbers:
                if stop.is_set():
                    break
                if n < 0:
                    raise ValueError(f"numbers must not be negative: {n}")
                add(total, tf.constant(n, tf.int64))
        except BaseException:
            stop.set()
            raise

    # --- join
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, totals, parts))  # raises the error of a thread
    return [total.numpy() for total in totals]


def score_in_processes(batches, kernel, processes):
    """Scores batches in several processes, each with its own copy of the model."""
    # A forked process does not have the threads of TensorFlow, and hangs.
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _begin, [kernel]) as pool:
        return pool.map(_score, batches, 1)


OF_PROCESS = {}


def _begin(kernel):
    """Makes the model of this process, once."""
    weights = tf.Variable(kernel)

    @tf.function(input_signature=[tf.TensorSpec([None, len(kernel)], kernel.dtype)])
    def score(rows):
        return tf.nn.relu(tf.matmul(rows, weights))

    OF_PROCESS["score"] = score


def _score(batch):
    return OF_PROCESS["score"](batch).numpy()


def scale_by_setting(x, scales):
    """Multiplies by a setting that changes between the calls."""
    # --- build
    x = tf.constant(x)
    # A Python number would be read at the trace, and be constant from then on.
    scale = tf.Variable(1.0, trainable=False, dtype=x.dtype)

    @tf.function
    def scaled(x):
        return x * scale

    # --- run
    rows = []
    for value in scales:
        scale.assign(value)
        rows.append(scaled(x).numpy())
    return np.stack(rows)


def take_rows(table, batches):
    """Looks rows up in a large table that is not stored in the graph."""
    # --- build
    # A tensor is an input of the trace; an array would become a constant in it.
    rows = tf.constant(table)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def take(ids):
        return tf.gather(rows, ids)

    # --- run
    found = [take(tf.constant(batch, tf.int64)).numpy() for batch in batches]
    graph = take.get_concrete_function().graph
    return found, graph.as_graph_def().ByteSize() < table.nbytes


def keep_hidden(x, kernel):
    """Returns the output, the hidden layer, and the gradient of the hidden layer."""
    weights = tf.constant(kernel)

    # --- network
    @tf.function
    def network(inputs):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(inputs, weights))
            tape.watch(hidden)
            output = tf.reduce_sum(tf.square(hidden), axis=1)
        # Return what is needed later: a tensor kept elsewhere is out of scope.
        return output, hidden, tape.gradient(output, hidden)

    # --- run
    return tuple(value.numpy() for value in network(tf.constant(x)))


def subtract_median(x, kernel):
    """Subtracts the median, computed by NumPy between two parts of a network.

    Raises:
        ValueError: shapes that do not multiply; InvalidArgumentError if run eagerly.
    """
    weights = tf.constant(kernel)

    # --- before
    @tf.function
    def product(x):
        return tf.matmul(x, weights)

    # --- after
    @tf.function
    def above(y, median):
        return tf.nn.relu(y - median)

    # --- run
    y = product(tf.constant(x))
    return above(y, tf.constant(np.median(y, axis=0))).numpy()


def average_by_name(updates, decay):
    """Updates one moving average per name; new names may come at any time."""

    # --- make
    @tf.function
    def update(average, value):  # the variable is made outside
        value.shape.assert_is_compatible_with(average.shape)  # else it would broadcast
        average.assign_sub((1 - decay) * (average - value))

    # --- run
    averages = {}
    for name, array in updates:
        if name not in averages:
            averages[name] = tf.Variable(np.zeros_like(array))
        update(averages[name], tf.constant(array))
    return {name: average.numpy() for name, average in averages.items()}
