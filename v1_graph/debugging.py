"""`tf.Print`, `tf.assert_…`, `add_check_numerics_ops` → `tf.print`, `tf.debugging`."""

import contextlib
import io
import linecache
import os
import re
import sys
import tempfile

import tensorflow.compat.v1 as tf

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
    """Adds two vectors, after an assertion that both have rank 1.

    Args:
        a: [n] tensor.
        b: [n] tensor of the same dtype.

    Returns:
        [n] tensor.

    Raises:
        ValueError: `a` or `b` is not a vector; InvalidArgumentError, if the rank is not
            known before the graph runs.
    """
    # --- check
    checks = [tf.assert_rank(a, 1), tf.assert_rank(b, 1)]
    # --- compute
    with tf.control_dependencies(checks):
        return a + b


def checked_log(x):
    """Computes the logarithm, after an assertion that all elements are positive.

    Args:
        x: float tensor.

    Returns:
        Tensor like `x`.

    Raises:
        InvalidArgumentError: an element is not positive.
    """
    # --- check
    check = tf.assert_positive(x, message="x must be positive", summarize=3)
    # --- compute
    with tf.control_dependencies([check]):
        return tf.log(x)


def attend(queries, keys, values):
    """Computes dot-product attention, after an assertion that the three shapes fit.

    Args:
        queries: [batch, n, depth] float tensor.
        keys: [batch, m, depth] tensor of the same dtype.
        values: [batch, m, units] tensor of the same dtype.

    Returns:
        [batch, n, units] tensor.

    Raises:
        ValueError: two sizes with the same letter differ; InvalidArgumentError, if they
            are not known before the graph runs.
    """
    # --- check
    shapes = [(queries, "BND"), (keys, "BMD"), (values, "BMU")]
    check = tf.debugging.assert_shapes(
        shapes, message="queries, keys, values: sizes must match"
    )
    # --- compute
    with tf.control_dependencies([check]):
        weights = tf.nn.softmax(tf.matmul(queries, keys, transpose_b=True))
        return tf.matmul(weights, values)


def finite_ratio(x, y):
    """Divides, and raises an error if the result or the gradient is NaN or infinite.

    Args:
        x: float tensor.
        y: tensor of the same dtype that broadcasts with `x`.

    Returns:
        x / y.

    Raises:
        InvalidArgumentError: an element is not finite.
    """
    return tf.check_numerics(x / y, "the ratio")


def first_nonfinite(x):
    """Computes sum(sqrt(log(x))), or finds the first op whose result is not finite.

    Args:
        x: [n] float array.

    Returns:
        (the sum or None, type of the op at fault or None).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        given = tf.placeholder(x.dtype, x.shape)
        total = tf.reduce_sum(tf.sqrt(tf.log(given)))
        # --- check
        # Checks every float tensor that the graph has by now, one after another.
        check = tf.add_check_numerics_ops()
        # --- run
        try:
            return sess.run([total, check], {given: x})[0], None
        except tf.errors.InvalidArgumentError as error:
            (name,) = re.findall(r"(\S+):\d+ : Tensor had", error.message)
            return None, graph.get_operation_by_name(name).type


def print_sums(xs, message, first_n=-1, on_path=True):
    """Computes sums of squares, and prints the sums and the vectors.

    Args:
        xs: [n, m] array.
        message: the beginning of each line.
        first_n: number of lines to print; all, if negative.
        on_path: whether to take the sum from the op that prints.

    Returns:
        (list of n sums, text on the error stream: "message[sum][1 2 3]" lines).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(xs.dtype, xs.shape[1:])
        total = tf.reduce_sum(tf.square(x))
        # --- print
        printed = tf.Print(total, [total, x], message, first_n, summarize=-1)
        if on_path:  # else nothing needs the op, and it never runs
            total = printed
        # --- run
        with captured_stderr() as text:
            sums = [sess.run(total, {x: row}) for row in xs]
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
    """Squares numbers, and prints them with Python's `print` and with an op.

    Args:
        xs: [n] array.

    Returns:
        (list of n squares, text of Python: one line, text of the op: n lines).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        def square(x):
            print("Python:", x)
            with tf.control_dependencies([tf.print("op:", x)]):
                return tf.square(x)

        x = tf.placeholder(xs.dtype, [], name="x")
        with contextlib.redirect_stdout(io.StringIO()) as by_python:
            y = square(x)
        # --- run
        with captured_stderr() as by_op:
            squares = [sess.run(y, {x: number}) for number in xs]
        return squares, by_python.getvalue(), by_op[0]


def locate_error(scores, place):
    """Gathers 2 * score; if that fails, returns the reason and the line of the op.

    Args:
        scores: [n] float array.
        place: int32 number.

    Returns:
        [2 * score] or [reason, source line, name of the function around this line].
    """

    # --- build
    def pick(scores, place):
        doubled = 2 * scores
        return tf.gather(doubled, place)

    with tf.Graph().as_default(), tf.Session() as sess:
        given = tf.placeholder(scores.dtype, [None])
        where = tf.placeholder(tf.int32, [])
        picked = pick(given, where)
        # --- run
        try:
            return [sess.run(picked, {given: scores, where: place})]
        except tf.errors.InvalidArgumentError as error:
            # --- locate
            why = re.search(r"indices.*\)", error.message).group()
            # The stack at which the op was made; it ends with frames of the library.
            frames = [f for f in error.op.traceback if f[0] == __file__]
            file, line, function = frames[-1][:3]
            return [why, linecache.getline(file, line).strip(), function]


def look_inside(x, kernels):
    """Runs a network, and returns its output and the output of each layer.

    Args:
        x: [batch, n] float array.
        kernels: list of [n, n] arrays of the same dtype.

    Returns:
        (output, dict from "layer_0", … to its value).
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        h = tf.constant(x)
        for i, kernel in enumerate(kernels):
            h = tf.nn.relu(tf.matmul(h, kernel), name="layer_%d" % i)
        # --- look
        # A tensor with a name can be fetched at any time after it was built.
        names = ["layer_%d" % i for i in range(len(kernels))]
        seen = {n: graph.get_tensor_by_name(n + ":0") for n in names}
        # --- run
        return sess.run((h, seen))


def count_executed(x, kernel, power, types=("MatMul", "Relu", "Softmax")):
    """Runs a network with a loop under the profiler and counts the kernels that ran.

    Args:
        x: [batch, n] float array.
        kernel: [n, n] array of the same dtype.
        power: number of multiplications by the kernel.
        types: types of ops to count.

    Returns:
        (output, list of counts like `types`).
    """
    config = tf.ConfigProto()
    # Graph rewriting would fuse ops, and the trace would have other ops than the code.
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        # --- build
        given = tf.placeholder(x.dtype, x.shape)
        h = tf.nn.relu(given)
        _, h = tf.while_loop(
            lambda i, h: i < power, lambda i, h: (i + 1, tf.matmul(h, kernel)), [0, h]
        )
        y = tf.nn.softmax(h)
        # --- run
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        output = sess.run(y, {given: x}, options, metadata)
        # --- count
        # A timeline shows these labels, such as "MatMul_1 = MatMul(Relu, b)".
        labels = [
            node.timeline_label
            for device in metadata.step_stats.dev_stats
            for node in device.node_stats
        ]
        ran = [m.group(1) for m in (re.search(r" = (\w+)\(", s) for s in labels) if m]
        return output, [ran.count(t) for t in types]


def entropy_naive(logits):
    """Computes softmax's entropy, but with a gradient of 0: do not train with it.

    Args:
        logits: [..., classes] float tensor.

    Returns:
        [...] tensor.
    """
    # These labels get no gradient, although they are computed from the logits.
    probabilities = tf.nn.softmax(logits)
    return tf.nn.softmax_cross_entropy_with_logits(labels=probabilities, logits=logits)


def entropy(logits):
    """Computes softmax's entropy, with the right gradient.

    Args:
        logits: [..., classes] float tensor.

    Returns:
        [...] tensor.
    """
    probabilities = tf.nn.softmax(logits)
    return tf.nn.softmax_cross_entropy_with_logits_v2(probabilities, logits)


def check_entropy(logits, naive=False, tolerance=1e-3):
    """Compares the gradient of an entropy with finite differences.

    Args:
        logits: [classes] float array.
        naive: whether to check `entropy_naive`.
        tolerance: the largest error that passes.

    Returns:
        dict of [classes] arrays `analytic` and `numeric`, and whether the check
        `passes`: their largest difference is below the tolerance.
    """
    with tf.Graph().as_default(), tf.Session():
        # --- build
        x = tf.constant(logits)
        y = (entropy_naive if naive else entropy)(x)
        # --- check
        # Without `x_init_value`, each call differentiates at another random point.
        where = x, logits.shape, y, []
        analytic, numeric = tf.test.compute_gradient(*where, x_init_value=logits)
        error = tf.test.compute_gradient_error(*where, x_init_value=logits)
        return {
            "analytic": analytic[:, 0],
            "numeric": numeric[:, 0],
            "passes": bool(error < tolerance),
        }


def maximize_entropy(logits, steps, rate=4.0, naive=False):
    """Maximizes the entropy of a distribution by gradient steps.

    Args:
        logits: [classes] float array, the initial logits.
        steps: number of steps.
        rate: learning rate.
        naive: whether to use `entropy_naive`.

    Returns:
        [classes] array of probabilities.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        w = tf.Variable(logits)
        loss = -(entropy_naive if naive else entropy)(w)
        # --- step
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(step)
        return sess.run(tf.nn.softmax(w))
