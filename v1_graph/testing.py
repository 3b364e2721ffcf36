"""`tf.test.TestCase`, `test_session`, timelines, tfprof → plain calls, profiles."""

import contextlib
import io
import json
import random
import re
import tempfile
import unittest

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf
from tensorflow.python.client import timeline

__all__ = [
    "run_session_tests",
    "run_assertions",
    "assert_structures_close",
    "assert_alike",
    "run_error_tests",
    "draw_in_tests",
    "run_device_tests",
    "check_gradients",
    "trace_timeline",
    "count_parameters",
    "report_benchmark",
]

# Only 1.15 has contrib, and compat.v1 does not: so this uses `tensorflow.contrib`.


def run_session_tests(x, start):
    """Runs tests that use cached and fresh sessions, placeholders and a variable.

    Args:
        x: [n, features] float array.
        start: [features, units] array of the same dtype, the kernel of a layer.

    Returns:
        dict with the `outcomes` of the tests, see `outcomes`, and the `values` that the
        tests computed, by name.
    """
    values = {}

    # --- test
    class LayerTest(tf.test.TestCase):
        def setUp(self):
            super(LayerTest, self).setUp()  # a new default graph
            self.inputs = tf.placeholder(x.dtype, [None, x.shape[1]])
            self.kernel = tf.get_variable("kernel", initializer=start)
            self.outputs = tf.matmul(self.inputs, self.kernel)
            self.halve = self.kernel.assign(self.kernel / 2)

        def test_feed(self):
            with self.test_session() as sess:
                sess.run(tf.global_variables_initializer())
                values["fed"] = sess.run(self.outputs, {self.inputs: x})
                values["row"] = self.outputs.eval({self.inputs: x[:1]})
                self.assertAllClose(values["row"], values["fed"][:1])

        def test_cached_session(self):
            with self.cached_session():
                self.evaluate(tf.global_variables_initializer())
                self.evaluate(self.halve)
            with self.cached_session():  # the same session, which keeps its variables
                values["halved"] = self.evaluate(self.kernel)

        def test_fresh_session(self):
            for _ in range(2):
                with self.session() as sess:  # another session, without any values
                    sess.run(tf.global_variables_initializer())
                    values["fresh"] = sess.run(self.halve)

        def test_own_graph(self):
            with self.session(graph=tf.Graph()) as sess:
                self.assertNear(sess.run(tf.reduce_sum(tf.constant(x))), 0.0, 1e-3)

    # --- run
    return {"outcomes": outcomes(LayerTest), "values": values}


def outcomes(case):
    """Runs the tests of a `TestCase`; returns the outcome of each.

    Args:
        case: a subclass of `TestCase`.

    Returns:
        {name of a test: "passed", "failed", "skipped" or the class of its error}.
    """
    names = unittest.defaultTestLoader.getTestCaseNames(case)
    found = dict.fromkeys(names, "passed")
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    for test, _ in result.failures:
        found[test.id().split(".")[-1]] = "failed"
    for test, _ in result.skipped:
        found[test.id().split(".")[-1]] = "skipped"
    for test, trace in result.errors:
        classes = re.findall(r"(?m)^(?:\w+\.)*(\w+Error): ", trace)
        found[test.id().split(".")[-1]] = classes[-1]
    return found


def run_assertions(a, b, err=1e-6):
    """Returns which assertions of `tf.test.TestCase` two arrays pass.

    Args:
        a: array of numbers, the expected array.
        b: the actual array.
        err: tolerance of the assertions that need one.

    Returns:
        {assertion: "passes" or the name of the exception}.
    """

    # --- test
    class ArrayTest(tf.test.TestCase):
        def runTest(self):
            x = tf.constant(b)
            self.verdicts = {
                "close": verdict(self.assertAllClose, a, x),
                "close within err": verdict(self.assertAllClose, a, x, 0.0, err),
                "close by type": verdict(self.assertAllCloseAccordingToType, a, x),
                "not close": verdict(self.assertNotAllClose, a, x),
                "equal": verdict(self.assertAllEqual, a, x),
                "not equal": verdict(self.assertNotAllEqual, a, x),
                "near": verdict(self.assertNear, a.flat[0], b.flat[0], err),
                "arrays near": verdict(self.assertArrayNear, a.flat, b.flat, err),
                "norm near": verdict(self.assertNDArrayNear, a, b, err),
                "in range": verdict(self.assertAllInRange, x, a.min(), a.max()),
                "in set": verdict(self.assertAllInSet, x, set(a.flat)),
                "at most": verdict(self.assertAllLessEqual, x, a.max()),
                "dtype": verdict(self.assertDTypeEqual, x, a.dtype),
                "shape": verdict(self.assertShapeEqual, a, x),
            }

    # --- run
    test = ArrayTest()
    test.debug()
    return test.verdicts


def verdict(check, *args):
    """Calls an assertion; returns "passes", or the name of its exception."""
    try:
        check(*args)
        return "passes"
    except (AssertionError, TypeError, ValueError) as error:
        return type(error).__name__


def assert_structures_close(a, b, rtol=1e-6, atol=1e-6):
    """Compares nested structures; returns the path of a difference.

    Args:
        a: the expected array, or nested dicts, lists and tuples of arrays.
        b: the actual values.
        rtol: tolerance relative to b.
        atol: absolute tolerance that is added.

    Returns:
        None, or the failure's message, such as "a[1][d] is different from b[1][d]".

    Raises:
        ValueError: one value is a dict and the other is not.
    """
    test = tf.test.TestCase()
    try:
        test.assertAllClose(a, b, rtol, atol)
    except AssertionError as error:
        reasons = r"Shape mismatch|mismatched keys|a\S* is different from b[^\s.]*"
        return re.search(reasons, str(error)).group()


def assert_alike(a, b, assertion):
    """Compares two values with one of `tf.test.TestCase`'s assertions.

    Args:
        a: the expected value: an array, text, or a dict.
        b: the actual value.
        assertion: name of the method.

    Returns:
        True.

    Raises:
        AssertionError: the assertion fails.
        TypeError: the assertion does not support such values.
    """
    getattr(tf.test.TestCase(), assertion)(a, b)
    return True


def run_error_tests(x, kernel):
    """Runs tests that expect errors of values, of a named node, and of shapes.

    Args:
        x: [n, features] float array.
        kernel: [features, units] array of the same dtype.

    Returns:
        The `outcomes` of the tests.
    """

    class ErrorTest(tf.test.TestCase):
        # --- values
        def test_value(self):
            with self.session(), self.assertRaisesOpError("scores : Tensor had NaN"):
                tf.check_numerics(tf.log(x), "scores", name="check").eval()

        def test_node(self):
            checked = tf.check_numerics(tf.log(x), "scores", name="check")
            with self.assertRaisesOpError("Caused by: check"):
                self.evaluate(checked)

        # --- shapes
        def test_shapes(self):
            with self.assertRaisesRegexp(ValueError, "Dimensions must be equal"):
                tf.matmul(x, kernel)

        def test_unknown_shapes(self):
            given = tf.placeholder(x.dtype, [None, None])
            product = tf.matmul(given, kernel)
            with self.session(), self.assertRaisesOpError("Matrix size-incompatible"):
                product.eval({given: x})

    return outcomes(ErrorTest)


def draw_in_tests(size):
    """Draws random numbers in two tests; `TestCase` sets the same seeds for both.

    Args:
        size: number of numbers to draw.

    Returns:
        A dict for each test: `of_place`, [size] float32, from an op without a seed,
        whose place in the graph is its seed; `of_seed`, [2, size], from two runs of an
        op with a seed; `python`, a float; `numpy`, [size] float64.
    """
    drawn = []

    # --- test
    class DrawTest(tf.test.TestCase):
        def test_first(self):
            with self.cached_session():
                of_place = tf.random_normal([size])
                of_seed = tf.random_uniform([size], seed=7)
                drawn.append(
                    {
                        "of_place": of_place.eval(),
                        "of_seed": np.stack([of_seed.eval() for _ in range(2)]),
                        "python": random.random(),
                        "numpy": np.random.rand(size),
                    }
                )

        test_second = test_first

    # --- run
    outcomes(DrawTest)
    return drawn


def run_device_tests(x):
    """Runs tests that skip without a GPU, fall back to the CPU, or force a GPU.

    Args:
        x: float array.

    Returns:
        dict with the `outcomes` of the tests, and the `largest` of x, computed on a GPU
        if there is one.
    """
    found = []

    class DeviceTest(tf.test.TestCase):
        # --- skip
        def test_only(self):
            if not tf.test.is_gpu_available(cuda_only=True):
                self.skipTest("there is no GPU")
            self.assertNotEqual(tf.test.gpu_device_name(), "")

        # --- use
        def test_any(self):
            with self.session(use_gpu=True):
                found.append(tf.reduce_max(x).eval())

        # --- force
        def test_forced(self):
            with self.session(force_gpu=True):
                tf.reduce_max(x).eval()

    return {"outcomes": outcomes(DeviceTest), "largest": found[0]}


def check_gradients(table, ids, kernel, delta=1e-3):
    """Compares gradients of an embedding and a layer with finite differences.

    Args:
        table: [rows, features] float array.
        ids: [n] int32 array of rows.
        kernel: [features, units] array of the same dtype.
        delta: half the distance between the two points of a difference.

    Returns:
        dict with the Jacobians `analytic` and `numeric`, lists for table and kernel of
        [their size, n * units] arrays, and `error`, the largest distance.
    """
    start = [table, kernel]
    with tf.Graph().as_default(), tf.Session():
        # --- build
        table = tf.get_variable("table", initializer=table)
        kernel = tf.constant(kernel)
        given = tf.placeholder(tf.int32, ids.shape)
        rows = tf.nn.embedding_lookup(table, given)
        outputs = tf.tanh(tf.matmul(rows, kernel))
        # --- check
        where = dict(
            x=[table.value(), kernel],
            x_shape=[table.shape.as_list(), kernel.shape.as_list()],
            y=outputs,
            y_shape=outputs.shape.as_list(),
            x_init_value=start,
            delta=delta,
            init_targets=[table.initializer],
            extra_feed_dict={given: ids},
        )
        analytic, numeric = map(list, zip(*tf.test.compute_gradient(**where)))
        error = tf.test.compute_gradient_error(**where)
        return {"analytic": analytic, "numeric": numeric, "error": float(error)}


def trace_timeline(x, kernels):
    """Traces a run of a network, and converts the trace to a Chrome timeline.

    Args:
        x: [n, units] float array.
        kernels: list of [units, units] arrays of the same dtype.

    Returns:
        List of [type of op, name] of the timeline's matrix products and tanh ops, in
        the order in which they began.
    """
    config = tf.ConfigProto()
    # Graph rewriting would fuse ops, and the trace would not show the ops as written.
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        # --- build
        given = h = tf.placeholder(x.dtype, x.shape)
        for i, kernel in enumerate(kernels):
            with tf.name_scope("layer_%d" % i):
                h = tf.tanh(tf.matmul(h, kernel))
        # --- run
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        metadata = tf.RunMetadata()
        sess.run(h, {given: x}, options, metadata)
    # --- timeline
    trace = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
    return events_of(trace, ("MatMul", "Tanh"))


def events_of(trace, types):
    """Returns the events of ops of these types in a timeline, in order of time."""
    events = [e for e in json.loads(trace)["traceEvents"] if e["name"] in types]
    events = sorted(events, key=lambda event: event["ts"])
    return [[event["name"], event["args"]["name"]] for event in events]


def count_parameters(shapes, frozen, by="profile"):
    """Counts and prints the parameters of a model's variables and scopes.

    Args:
        shapes: {name of a variable: list of ints}.
        frozen: list of the names of variables that are not trained.
        by: "profile" of `tf.profiler`, or "print_model_analysis" of `tfprof`.

    Returns:
        (number of parameters, the printed lines).
    """
    with tf.Graph().as_default() as graph, tempfile.NamedTemporaryFile() as file:
        # --- variables
        for name, shape in shapes.items():
            tf.get_variable(name, shape, trainable=name not in frozen)
        # --- count
        if by == "profile":
            builder = tf.profiler.ProfileOptionBuilder
            options = builder(builder.trainable_variables_parameter())
            options = options.with_file_output(file.name).build()
            root = tf.profiler.profile(graph, cmd="scope", options=options)
        else:
            analyzer = tensorflow.contrib.tfprof.model_analyzer
            options = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
            options["output"] = "file:outfile=" + file.name
            root = analyzer.print_model_analysis(graph, tfprof_options=options)
        # --- print
        table = file.read().decode().split("# parameters\n")[1]
        return root.total_parameters, table.rstrip().split("\n")


def report_benchmark(x, min_iters=10, burn_iters=2):
    """Measures the time of a matrix product with `tf.test.Benchmark`.

    Args:
        x: [n, n] float array.
        min_iters: number of timed runs.
        burn_iters: number of runs before the timed runs.

    Returns:
        (the report without its times, number of runs of the product, megabytes per run
        in the report).
    """

    # --- benchmark
    class ProductBenchmark(tf.test.Benchmark):
        def benchmark_product(self):
            with tf.Graph().as_default(), tf.Session() as sess:
                runs = tf.get_variable("runs", [], tf.int32, tf.zeros_initializer())
                sess.run(runs.initializer)
                with tf.control_dependencies([runs.assign_add(1)]):
                    product = tf.matmul(x, x)
                self.run_op_benchmark(
                    sess,
                    product,
                    burn_iters=burn_iters,
                    min_iters=min_iters,
                    store_memory_usage=False,  # True would need one more run
                    extras={"shape": x.shape},
                    mbs=x.nbytes / 1e6,
                )
                return int(sess.run(runs))

    # --- report
    with contextlib.redirect_stdout(io.StringIO()) as report:
        runs = ProductBenchmark().benchmark_product()
    times = r"(wall_time|throughput): (.*)"
    (_, wall_time), (_, throughput) = re.findall(times, report.getvalue())
    megabytes = round(float(wall_time) * float(throughput), 9)
    return re.sub(times, r"\1", report.getvalue()), runs, megabytes
