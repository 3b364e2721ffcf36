"""`tf.test.TestCase`, `test_session`, timelines, tfprof → plain calls, profiles."""

import collections
import contextlib
import glob
import io
import json
import random
import re
import tempfile
import time
import unittest

import numpy as np
import tensorflow as tf

from v2_eager.debugging import proto_field

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


def run_session_tests(x, start):
    """Runs tests that use cached and fresh sessions, placeholders and a variable."""
    values = {}

    # --- test
    class LayerTest(tf.test.TestCase):
        def setUp(self):
            super().setUp()
            self.kernel = tf.Variable(start)

        @tf.function(input_signature=[tf.TensorSpec([None, x.shape[1]], x.dtype)])
        def outputs(self, inputs):
            return tf.matmul(inputs, self.kernel)

        def halve(self):
            return self.kernel.assign(self.kernel / 2)

        def test_feed(self):
            values["fed"] = self.evaluate(self.outputs(x))
            values["row"] = self.evaluate(self.outputs(x[:1]))
            self.assertAllClose(values["row"], values["fed"][:1])

        def test_cached_session(self):
            self.halve()
            values["halved"] = self.evaluate(self.kernel)

        def test_fresh_session(self):
            for _ in range(2):
                self.kernel.assign(start)
                values["fresh"] = self.evaluate(self.halve())

        def test_own_graph(self):
            self.assertNear(tf.reduce_sum(tf.constant(x)), 0.0, 1e-3)

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
    """Returns which assertions of `tf.test.TestCase` two arrays pass."""

    # --- test
    class ArrayTest(tf.test.TestCase):
        def runTest(self):
            x = tf.constant(b)
            # NumPy 2 compares float16 with float32 numbers as float32.
            bounds = a.min().item(), a.max().item()
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
                "in range": verdict(self.assertAllInRange, x, *bounds),
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
    """Compares nested structures; returns the path of a difference."""
    test = tf.test.TestCase()
    try:
        test.assertAllClose(a, b, rtol, atol)
    except AssertionError as error:
        reasons = r"Shape mismatch|mismatched keys|a\S* is different from b[^\s.]*"
        return re.search(reasons, str(error)).group()


def assert_alike(a, b, assertion):
    """Compares two values with one of `tf.test.TestCase`'s assertions."""
    getattr(tf.test.TestCase(), assertion)(a, b)
    return True


def run_error_tests(x, kernel):
    """Runs tests that expect errors of values, of a named node, and of shapes."""

    class ErrorTest(tf.test.TestCase):
        # --- values
        def test_value(self):
            with self.assertRaisesOpError("scores : Tensor had NaN"):
                tf.debugging.check_numerics(tf.math.log(x), "scores", name="check")

        def test_node(self):
            with self.assertRaisesOpError("name: check"):
                tf.debugging.check_numerics(tf.math.log(x), "scores", name="check")

        # --- shapes
        def test_shapes(self):
            error = tf.errors.InvalidArgumentError
            with self.assertRaisesRegex(error, "Matrix size-incompatible"):
                tf.matmul(x, kernel)

        def test_unknown_shapes(self):
            @tf.function(input_signature=[tf.TensorSpec([None, None], x.dtype)])
            def product(given):
                return tf.matmul(given, kernel)

            with self.assertRaisesOpError("Matrix size-incompatible"):
                product(x)

    return outcomes(ErrorTest)


def draw_in_tests(size):
    """Draws random numbers in two tests; `TestCase` sets the same seeds for both."""
    drawn = []

    # --- test
    class DrawTest(tf.test.TestCase):
        def test_first(self):
            drawn.append(
                {
                    # v1's op was the fourth node, after its shape, mean and scale.
                    "of_place": tf.random.normal([size], seed=3).numpy(),
                    "of_seed": np.stack(
                        [tf.random.uniform([size], seed=7) for _ in range(2)]
                    ),
                    "python": random.random(),
                    "numpy": np.random.rand(size),
                }
            )

        test_second = test_first

    # --- run
    outcomes(DrawTest)
    return drawn


def run_device_tests(x):
    """Runs tests that skip without a GPU, fall back to the CPU, or force a GPU."""
    found = []

    class DeviceTest(tf.test.TestCase):
        # --- skip
        def test_only(self):
            if not tf.config.list_physical_devices("GPU"):
                self.skipTest("there is no GPU")
            self.assertNotEqual(tf.test.gpu_device_name(), "")

        # --- use
        def test_any(self):
            found.append(tf.reduce_max(x).numpy())

        # --- force
        def test_forced(self):
            before = tf.config.get_soft_device_placement()
            self.addCleanup(tf.config.set_soft_device_placement, before)
            tf.config.set_soft_device_placement(False)  # else it would use the CPU
            with tf.device("GPU:0"):
                tf.reduce_max(x)

    return {"outcomes": outcomes(DeviceTest), "largest": found[0]}


def check_gradients(table, ids, kernel, delta=1e-3):
    """Compares gradients of an embedding and a layer with finite differences."""

    # --- build
    def outputs(table, kernel):
        rows = tf.nn.embedding_lookup(table, ids)
        return tf.tanh(tf.matmul(rows, kernel))

    # --- check
    # The default delta is 1/1024. The rows of a Jacobian are the outputs.
    pair = tf.test.compute_gradient(outputs, [table, kernel], delta)
    analytic, numeric = [[jacobian.T for jacobian in side] for side in pair]
    error = max(np.abs(a - n).max() for a, n in zip(analytic, numeric))
    return {"analytic": analytic, "numeric": numeric, "error": float(error)}


def trace_timeline(x, kernels):
    """Traces a run of a network, and converts the trace to a Chrome timeline."""

    # --- build
    @tf.function
    def network(h):
        for i, kernel in enumerate(kernels):
            with tf.name_scope("layer_%d" % i):
                h = tf.tanh(tf.matmul(h, kernel))
        return h

    # --- run
    x = tf.constant(x)
    network(x)  # traces the function before the profiler starts
    with tempfile.TemporaryDirectory() as logdir:
        with tf.profiler.experimental.Profile(logdir):
            network(x).numpy()
        # --- timeline
        trace = chrome_trace(logdir)
    return events_of(trace, ("MatMul", "Tanh"))


def chrome_trace(logdir):
    """Converts a profile for TensorBoard to a timeline for Chrome."""
    (path,) = glob.glob(logdir + "/**/*.xplane.pb", recursive=True)
    with open(path, "rb") as file:
        planes = proto_field([file.read()], "XSpace", "planes")
    found = []
    for pid, plane in enumerate(planes):
        entries = proto_field([plane], "XPlane", "event_metadata")
        kinds = proto_field(entries, "XPlane.EventMetadataEntry", "value")
        ids = proto_field(kinds, "XEventMetadata", "id", tf.int64)
        names = dict(zip(ids, proto_field(kinds, "XEventMetadata", "name")))
        for tid, line in enumerate(proto_field([plane], "XPlane", "lines")):
            start = sum(proto_field([line], "XLine", "timestamp_ns", tf.int64))
            for event in proto_field([line], "XLine", "events"):
                kind, offset, duration = (
                    int(sum(proto_field([event], "XEvent", name, tf.int64)))
                    for name in ("metadata_id", "offset_ps", "duration_ps")
                )
                # "layer_0/MatMul:MatMul", with oneDNN "…:_MklMatMul".
                op, _, kind = names[kind].decode().rpartition(":")
                found.append(
                    {
                        "ph": "X",
                        "name": kind.replace("_Mkl", ""),
                        "args": {"name": op},
                        "pid": pid,
                        "tid": tid,
                        "ts": int(start) / 1e3 + offset / 1e6,
                        "dur": duration / 1e6,
                    }
                )
    return json.dumps({"traceEvents": found})


def events_of(trace, types):
    """Returns the events of ops of these types in a timeline, in order of time."""
    events = [e for e in json.loads(trace)["traceEvents"] if e["name"] in types]
    events = sorted(events, key=lambda event: event["ts"])
    return [[event["name"], event["args"]["name"]] for event in events]


def count_parameters(shapes, frozen, by="profile"):
    """Counts and prints the parameters of a model's variables and scopes."""
    # --- variables
    variables = {
        name: tf.Variable(tf.zeros(shape), trainable=name not in frozen)
        for name, shape in shapes.items()
    }
    # --- count
    own = {n: int(tf.size(v)) for n, v in variables.items() if v.trainable}
    sums = collections.Counter({"": 0})
    for name, size in own.items():
        parts = name.split("/")
        for depth in range(len(parts) + 1):
            sums["/".join(parts[:depth])] += size
    # --- print
    lines = []
    for name in sorted(sums, key=lambda name: name.split("/") if name else []):
        shape = "--/"
        if name in own:
            shape = "x".join(map(str, variables[name].shape)) or "1"
            shape += f", {in_short(own[name])}/"
        indent = "  " * (name.count("/") + 1) if name else ""
        label = name or "_TFProfRoot"
        lines.append(f"{indent}{label} ({shape}{in_short(sums[name])} params)")
    return sums[""], lines


def in_short(number):
    """Formats a number as tfprof does: 1234 becomes 1.23k."""
    for size, letter in [(10**9, "b"), (10**6, "m"), (10**3, "k")]:
        if number >= size:
            return f"{number / size:.2f}{letter}"
    return str(number)


def report_benchmark(x, min_iters=10, burn_iters=2):
    """Measures the time of a matrix product with `tf.test.Benchmark`."""

    # --- benchmark
    class ProductBenchmark(tf.test.Benchmark):
        def benchmark_product(self):
            runs, times = tf.Variable(0), []

            @tf.function
            def product():
                runs.assign_add(1)
                return tf.matmul(x, x)

            for _ in range(burn_iters):
                product()
            for _ in range(min_iters):
                start = time.perf_counter()
                product().numpy()
                times.append(time.perf_counter() - start)
            wall_time = float(np.median(times))
            self.report_benchmark(
                iters=min_iters,
                wall_time=wall_time,
                throughput=x.nbytes / 1e6 / wall_time,
                extras={"shape": x.shape},
            )
            return int(runs)

    # --- report
    with contextlib.redirect_stdout(io.StringIO()) as report:
        runs = ProductBenchmark().benchmark_product()
    times = r"(wall_time|throughput): (.*)"
    (_, wall_time), (_, throughput) = re.findall(times, report.getvalue())
    megabytes = round(float(wall_time) * float(throughput), 9)
    return re.sub(times, r"\1", report.getvalue()), runs, megabytes
