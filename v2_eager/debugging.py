"""`tf.Print`, `tf.assert_…`, `add_check_numerics_ops` → `tf.print`, `tf.debugging`."""

import collections
import contextlib
import glob
import io
import linecache
import os
import re
import sys
import tempfile
import traceback

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

__all__ = [
    "add_vectors",
    "checked_log",
    "attend",
    "finite_ratio",
    "first_nonfinite",
    "print_sums",
    "print_twice",
    "locate_error",
    "look_inside",
    "count_executed",
    "entropy_naive",
    "entropy",
    "check_entropy",
    "maximize_entropy",
]


def add_vectors(a, b):
    """Adds two vectors, after an assertion that both have rank 1."""
    # --- check
    tf.debugging.assert_rank(a, 1)
    tf.debugging.assert_rank(b, 1)
    # --- compute
    return a + b


def checked_log(x):
    """Computes the logarithm, after an assertion that all elements are positive."""
    # --- check
    tf.debugging.assert_positive(x, message="x must be positive", summarize=3)
    # --- compute
    return tf.math.log(x)


def attend(queries, keys, values):
    """Computes dot-product attention, after an assertion that the three shapes fit."""

    # --- check
    def checked():
        shapes = [(queries, "BND"), (keys, "BMD"), (values, "BMU")]
        tf.debugging.assert_shapes(
            shapes, message="queries, keys, values: sizes must match"
        )
        return queries, keys, values

    # In a graph the product does not wait for an assertion on the line above, and may
    # raise first. It does wait for the results of a function, which runs its assertions
    # first. Control dependencies need an op, but `assert_shapes` returns None now.
    if tf.inside_function():
        checked = tf.function(checked)
    queries, keys, values = checked()
    # --- compute
    weights = tf.nn.softmax(tf.matmul(queries, keys, transpose_b=True))
    return tf.matmul(weights, values)


def finite_ratio(x, y):
    """Divides, and raises an error if the result or the gradient is NaN or infinite."""
    return tf.debugging.check_numerics(x / y, "the ratio")


def first_nonfinite(x):
    """Computes sum(sqrt(log(x))), or finds the first op whose result is not finite."""

    # --- build
    @tf.function
    def total(x):
        return tf.reduce_sum(tf.sqrt(tf.math.log(x)))

    # --- check
    if not np.isfinite(x).all():
        return None, "Placeholder"  # as in v1; today arguments are not checked
    # Enable it before the trace: in a function that is already traced, only the results
    # are checked, and the error names the function as a whole.
    tf.debugging.enable_check_numerics()
    # --- run
    try:
        return total(tf.constant(x)).numpy(), None
    except tf.errors.InvalidArgumentError as error:
        found = re.search(r'Detected .* op "(\w+)"', error.message)
        if not found:  # another error
            raise
        return None, found.group(1)
    finally:
        tf.debugging.disable_check_numerics()  # its previous state is unknown


def print_sums(xs, message, first_n=-1, on_path=True):
    """Computes sums of squares, and prints the sums and the vectors."""
    # --- build
    count = tf.Variable(0)

    @tf.function
    def step(x):
        total = tf.reduce_sum(tf.square(x))
        # --- print
        # A tf.print always runs when it is reached, so conditions decide here.
        if on_path and first_n != 0:
            if first_n < 0 or count.assign_add(1) <= first_n:
                # The text of tf.Print. By default, tf.print abbreviates long tensors,
                # and prints each row of a matrix on its own line.
                tf.print(message, "[", total, "]", x, sep="", summarize=-1)
        return total

    # --- run
    with captured_stderr() as text:
        sums = [step(tf.constant(row)).numpy() for row in xs]
    return sums, text[0]


@contextlib.contextmanager
def captured_stderr():
    """Yields a list; after the block it contains what was written to descriptor 2.

    Kernels write there directly, not to `sys.stderr`, which Python can redirect.
    """
    text = []
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield text
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            text.append(file.read().decode())


def print_twice(xs):
    """Squares numbers, and prints them with Python's `print` and with an op."""

    # --- build
    @tf.function
    def square(x):
        print("Python:", x)  # runs at the trace: x has no value yet
        tf.print("op:", x)
        return tf.square(x)

    with contextlib.redirect_stdout(io.StringIO()) as by_python:
        # --- run
        with captured_stderr() as by_op:
            squares = [square(tf.constant(number)).numpy() for number in xs]
    return squares, by_python.getvalue(), by_op[0]


def locate_error(scores, place):
    """Gathers 2 * score; if that fails, returns the reason and the line of the op.

    Args:
        place: integer.
    """

    # --- build
    # The shapes of the placeholders; the signature checks them, too.
    @tf.function(
        input_signature=[
            tf.TensorSpec([None], scores.dtype),
            tf.TensorSpec([], tf.int32),
        ]
    )
    def pick(scores, place):
        doubled = 2 * scores
        return tf.gather(doubled, place)

    # --- run
    try:
        return [pick(tf.constant(scores), tf.constant(place, tf.int32)).numpy()]
    except tf.errors.InvalidArgumentError as error:
        # --- locate
        why = re.search(r"indices.*\)", error.message).group()
        # In a function, the message names the lines that made the op. Eagerly, Python's
        # own traceback does.
        stack = re.findall(r'File "(.+)", line (\d+), in (\w+)', error.message)
        stack = stack or [
            tuple(f)[:3] for f in traceback.extract_tb(error.__traceback__)
        ]
        file, line, function = [f for f in stack if f[0] == __file__][-1]
        return [why, linecache.getline(file, int(line)).strip(), function]


def look_inside(x, kernels):
    """Runs a network, and returns its output and the output of each layer."""
    # --- build
    seen = {}

    @tf.function
    def network(h):
        for i, kernel in enumerate(kernels):
            h = tf.nn.relu(tf.matmul(h, kernel))
            if tf.executing_eagerly():  # a debugger can stop here, too
                seen[f"layer_{i}"] = h.numpy()
        return h

    # --- look
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    # --- run
    try:
        return network(tf.constant(x)).numpy(), seen
    finally:
        tf.config.run_functions_eagerly(before)


def count_executed(x, kernel, power, types=("MatMul", "Relu", "Softmax")):
    """Runs a network with a loop under the profiler and counts the kernels that ran."""

    # --- build
    @tf.function
    def network(x, power):
        h = tf.nn.relu(x)
        for _ in tf.range(power):
            h = tf.matmul(h, kernel)
        return tf.nn.softmax(h)

    # --- run
    args = tf.constant(x), tf.constant(power)
    network(*args)  # traces before the profiler starts
    with tempfile.TemporaryDirectory() as logdir:
        with tf.profiler.experimental.Profile(logdir):
            output = network(*args).numpy()
        # --- count
        ran = executed_types(logdir)
    return output, [ran[t] for t in types]


def executed_types(logdir):
    """Counts the events of a profile by op type, as TensorBoard shows them."""
    (path,) = glob.glob(logdir + "/**/*.xplane.pb", recursive=True)
    with open(path, "rb") as file:
        planes = proto_field([file.read()], "XSpace", "planes")
    ran = collections.Counter()
    for plane in planes:
        entries = proto_field([plane], "XPlane", "event_metadata")
        kinds = proto_field(entries, "XPlane.EventMetadataEntry", "value")
        ids = proto_field(kinds, "XEventMetadata", "id", tf.int64)
        names = dict(zip(ids, proto_field(kinds, "XEventMetadata", "name")))
        lines = proto_field([plane], "XPlane", "lines")
        events = proto_field(lines, "XLine", "events")
        for i in proto_field(events, "XEvent", "metadata_id", tf.int64):
            # "MatMul_1:MatMul", with oneDNN "…:_MklMatMul", eagerly "…: MatMul".
            ran[re.sub(r".*: ?(_Mkl)?", "", names[i].decode())] += 1
    return ran


def proto_field(messages, message_type, name, dtype=tf.string):
    """Returns the values of one field of all messages, as one list."""
    if not messages:
        return []
    message_type = "tensorflow.profiler." + message_type
    sizes, values = tf.io.decode_proto(messages, message_type, [name], [dtype])
    rows = zip(sizes.numpy(), values[0].numpy())
    return [value for (size,), row in rows for value in row[:size]]


def entropy_naive(logits):
    """Computes softmax's entropy, but with a gradient of 0: do not train with it."""
    # The old op stopped this gradient; the op of the same name today does not.
    probabilities = tf.stop_gradient(tf.nn.softmax(logits))
    return tf.nn.softmax_cross_entropy_with_logits(probabilities, logits)


def entropy(logits):
    """Computes softmax's entropy, with the right gradient."""
    probabilities = tf.nn.softmax(logits)
    return tf.nn.softmax_cross_entropy_with_logits(probabilities, logits)


def check_entropy(logits, naive=False, tolerance=1e-3):
    """Compares the gradient of an entropy with finite differences."""
    # --- build
    f = entropy_naive if naive else entropy
    # --- check
    # The default delta is 1/1024; the rows of a Jacobian are the outputs.
    (analytic,), (numeric,) = tf.test.compute_gradient(f, [logits], delta=1e-3)
    error = np.abs(analytic - numeric).max()
    return {
        "analytic": analytic[0],
        "numeric": numeric[0],
        "passes": bool(error < tolerance),
    }


def maximize_entropy(logits, steps, rate=4.0, naive=False):
    """Maximizes the entropy of a distribution by gradient steps."""
    # --- build
    w = tf.Variable(logits)
    descent = optimizers.GradientDescent(rate)  # rate in float32, as in v1

    # --- step
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = -(entropy_naive if naive else entropy)(w)
        descent.apply_gradients([(tape.gradient(loss, w), w)])

    # --- run
    for _ in range(steps):
        step()
    return tf.nn.softmax(w).numpy()
