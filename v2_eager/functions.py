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
    """Divides the processor, bounds threads, lets GPUs grow; lists the devices.

    Raises:
        RuntimeError: TensorFlow has started otherwise.
    """
    # --- configure
    # Of the whole process, before its first op. Saying the same again is no error.
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
    """Multiplies by one rate after another, and counts the products that were made."""

    @tf.function
    def scale(x, rate):
        return x * rate

    # --- an input
    if fixed:
        # One by one, numbers that are equal, such as 0.0 and -0.0, are one constant.
        rows = [scale(x, rate) for rate in tf.constant(rates, x.dtype)]
    # --- a number
    else:
        rows = [scale(x, rate) for rate in rates]
    return np.stack(rows), scale.experimental_get_tracing_count()


def sum_batches(batches, bucketed=False):
    """Sums batches of several sizes: by one piece of a graph, or one for each size."""
    # --- promise
    promised = tf.TensorSpec([None, batches[0].shape[1]], batches[0].dtype)

    @tf.function(input_signature=None if bucketed else [promised])
    def total(rows):
        # Without a signature nobody else would look.
        rows.shape.assert_is_compatible_with(promised.shape)
        return tf.reduce_sum(rows, axis=0)

    # --- run
    sums = [total(tf.constant(batch)).numpy() for batch in batches]
    return sums, total.experimental_get_tracing_count()


def sweep_rates(x, y, start, rates, steps, once=True):
    """Fits a kernel at one learning rate after another, from the same start."""
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
    """Scores batches by one model, which several threads call at the same time."""
    # --- build
    weights = tf.Variable(kernel)

    @tf.function(input_signature=[tf.TensorSpec([None, len(kernel)], kernel.dtype)])
    def score(rows):
        return tf.nn.relu(tf.matmul(rows, weights))

    # --- call
    # The first of the threads traces, and the others wait for it.
    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(score, batches))
    return [a.numpy() for a in answers], score.experimental_get_tracing_count()


def count_in_threads(parts, shared=True):
    """Adds numbers up in threads: one session for all, or one for each.

    Args:
        shared: whether all threads have one variable, and so one total.
    """
    # --- build
    totals = [tf.Variable(tf.zeros([], tf.int64)) for _ in parts]
    if shared:
        totals = totals[:1] * len(parts)

    @tf.function
    def add(total, number):
        total.assign_add(number)  # in one go; assign(total + number) loses some

    # --- add
    stop = threading.Event()

    def work(total, numbers):
        try:
            for n in numbers:
                if stop.is_set():
                    break
                if n < 0:
                    raise ValueError(f"negative: {n}")
                add(total, tf.constant(n, tf.int64))
        except BaseException:
            stop.set()
            raise

    # --- join
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, totals, parts))  # raises what a thread raised
    return [total.numpy() for total in totals]


def score_in_processes(batches, kernel, processes):
    """Scores batches by one model in several processes, each with a copy of its own."""
    # A forked process has none of the threads of TensorFlow, and waits for ever.
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _begin, [kernel]) as pool:
        return pool.map(_score, batches, 1)


OF_PROCESS = {}


def _begin(kernel):
    """Makes the model of a process, once."""
    weights = tf.Variable(kernel)

    @tf.function(input_signature=[tf.TensorSpec([None, len(kernel)], kernel.dtype)])
    def score(rows):
        return tf.nn.relu(tf.matmul(rows, weights))

    OF_PROCESS["score"] = score


def _score(batch):
    return OF_PROCESS["score"](batch).numpy()


def scale_by_setting(x, scales):
    """Multiplies by a setting of the program, which changes between the calls."""
    # --- build
    x = tf.constant(x)
    # A Python number would be read while tracing, and stay.
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
    """Looks rows up in a large table that is no part of the graph."""
    # --- build
    # A tensor is handed to the trace; an array would be written into it.
    rows = tf.constant(table)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def take(ids):
        return tf.gather(rows, ids)

    # --- run
    found = [take(tf.constant(batch, tf.int64)).numpy() for batch in batches]
    graph = take.get_concrete_function().graph
    return found, graph.as_graph_def().ByteSize() < table.nbytes


def keep_hidden(x, kernel):
    """Keeps the hidden layer, and asks for it, and its gradient, later."""
    weights = tf.constant(kernel)

    # --- network
    @tf.function
    def network(inputs):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(inputs, weights))
            tape.watch(hidden)
            output = tf.reduce_sum(tf.square(hidden), axis=1)
        # What is asked for later is returned: kept elsewhere, it is out of scope.
        return output, hidden, tape.gradient(output, hidden)

    # --- run
    return tuple(value.numpy() for value in network(tf.constant(x)))


def subtract_median(x, kernel):
    """Subtracts the median, which NumPy knows and TensorFlow does not.

    Raises:
        ValueError: shapes that do not multiply; InvalidArgumentError run eagerly.
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
    """Keeps a moving average for each name, also for those that come later."""

    # --- make
    @tf.function
    def update(average, value):  # which is made outside, and handed in
        value.shape.assert_is_compatible_with(average.shape)  # it would broadcast
        average.assign_sub((1 - decay) * (average - value))

    # --- run
    averages = {}
    for name, array in updates:
        if name not in averages:
            averages[name] = tf.Variable(np.zeros_like(array))
        update(averages[name], tf.constant(array))
    return {name: average.numpy() for name, average in averages.items()}
