import functools
import json
import signal
import subprocess
import sys
import threading
import time
import unittest
from multiprocessing.pool import ThreadPool

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import friend
from tf1to2.parity import Program, Raises, integers, normal
from v1_graph import functions as v1
from v2_eager import functions as v2

INVALID = tf.errors.InvalidArgumentError
TRACED = {"eager": "run eagerly nothing is traced, and nothing is counted"}
ELSEWHERE = "what a process computes is not seen from here"
ROWS, KERNEL = normal("n", 5), normal(5, 3)
RATES = [round(0.01 * i, 2) for i in range(1, 101)]
SIZES = [67, 3, 67, 50, 3, 8]
PARTS = [[1, 2, 3] * 20, [40, 50] * 20, [6, 0] * 30, [700]]


def line(seed=0):
    random = np.random.RandomState(seed)
    x, weights = random.normal(size=[67, 5]), random.normal(size=[5, 2])
    y = x @ weights + random.normal(size=[67, 2])
    return [array.astype("f") for array in (x, y, random.normal(size=[5, 2]))]


def batches(sizes, columns=4, seed=0):
    random = np.random.RandomState(seed)
    return [random.normal(size=[n, columns]).astype("f") for n in sizes]


# --- False friends: obvious replacements that give other numbers.


def number_as_argument(x, rates):
    return v2.scale_by_each(x, rates, False)


def equal_numbers(x, rates):
    """Compares only the products: always returns a count of 1."""
    return v2.scale_by_each(x, rates, False)[0], 1


def without_a_signature(batches, **options):
    @tf.function(**options)
    def total(rows):
        return tf.reduce_sum(rows, axis=0)

    sums = [total(tf.constant(batch)) for batch in batches]
    return sums, total.experimental_get_tracing_count()


def a_function_in_each_call(batches, kernel, threads):
    traces, weights = [], tf.Variable(kernel)

    def score(rows):
        traces.append("MatMul")
        return tf.nn.relu(tf.matmul(rows, weights))

    pool = ThreadPool(threads)
    answers = pool.map(lambda rows: tf.function(score)(rows), batches, 1)
    pool.close()
    return answers, len(traces)


def number_read_while_tracing(x, scales):
    setting = {}
    scaled = tf.function(lambda x: x * setting["scale"])
    rows = []
    for value in scales:
        setting["scale"] = value
        rows.append(scaled(tf.constant(x)))
    return tf.stack(rows)


def array_changed_in_place(x, scales):
    scale = np.ones([], x.dtype)
    scaled = tf.function(lambda x: x * scale)
    rows = []
    for value in scales:
        scale[...] = value
        rows.append(scaled(tf.constant(x)))
    return tf.stack(rows)


def tensor_bound_anew(x, scales):
    scaled = tf.function(lambda x: x * scale)
    rows = []
    for value in scales:
        scale = tf.constant(value, x.dtype)
        rows.append(scaled(tf.constant(x)))
    return tf.stack(rows)


def array_in_the_trace(table, batches):
    take = tf.function(lambda ids: tf.gather(table, ids))
    found = [take(tf.constant(batch, tf.int64)) for batch in batches]
    spec = tf.TensorSpec([None], tf.int64)
    graph = take.get_concrete_function(spec).graph
    return found, graph.as_graph_def().ByteSize() < table.nbytes


def kept_as_an_attribute(x, kernel):
    class Network(tf.Module):
        @tf.function
        def __call__(self, inputs):
            self.hidden = tf.nn.relu(tf.matmul(inputs, tf.constant(kernel)))
            return tf.reduce_sum(tf.square(self.hidden), axis=1)

    network = Network()
    with tf.GradientTape() as tape:
        output = network(tf.constant(x))
    return output, network.hidden + 0, tape.gradient(output, network.hidden)


@tf.function
def median_in_a_trace(x, kernel):
    y = tf.matmul(x, kernel)
    return tf.nn.relu(y - np.median(y, axis=0))


def variable_of_a_later_call(updates, decay):
    averages = {}

    @tf.function
    def update(name, value):
        if name not in averages:
            averages[name] = tf.Variable(tf.zeros_like(value), name=name)
        average = averages[name]
        average.assign_sub((1 - decay) * (average - value))

    for name, array in updates:
        update(name, tf.constant(array))
    return averages


LATER = [
    ("loss", normal()),
    ("kernel", normal(5, 3)),
    ("loss", normal()),
    ("bias", normal(3)),
    ("kernel", normal(5, 3)),
    ("loss", normal()),
]


def too_late(slug, args, match):
    errors = {"eager": RuntimeError, "function": RuntimeError, "match": match}
    return Raises("configure", slug, args, of="program", **errors)


CASES = [
    Program(
        "configure",
        "two",
        [2],
        expect=(["CPU:0", "CPU:1"], [0, 0]),
        skip={"function": PLAIN},
    ),
    Program("configure", "all GPUs", [2, None, ""], skip={"function": PLAIN}),
    too_late("devices, after the start", [3], "Virtual devices cannot be modified"),
    too_late("threads, after the start", [2, (3, 2)], "Intra op parallelism cannot be"),
    Program("scale_by_each", "inputs", [normal(1031), RATES], skip=TRACED),
    Program(
        "scale_by_each",
        "numbers",
        [normal(67), RATES, False],
        traces=100,
        skip=TRACED,
    ),
    friend(
        "scale_by_each",
        "a number as an argument",
        [normal(5), RATES[:3]],
        number_as_argument,
        "each number is a trace of its own: 3 products, not 1",
        skip=TRACED,
    ),
    friend(
        "scale_by_each",
        "equal numbers",
        [normal(5), [0.0, -0.0]],
        equal_numbers,
        "0.0 == -0.0, so that the trace of the first is taken for the second",
        skip=TRACED,
    ),
    Program("sum_batches", "promised", [batches(SIZES)], skip=TRACED),
    Program("sum_batches", "bucketed", [batches(SIZES), True], traces=4, skip=TRACED),
    friend(
        "sum_batches",
        "no signature",
        [batches(SIZES)],
        without_a_signature,
        "each size is a trace of its own",
        skip=TRACED,
    ),
    friend(
        "sum_batches",
        "reduce_retracing",
        [batches(SIZES)],
        functools.partial(without_a_signature, reduce_retracing=True),
        "the first size has its own trace before the size is given up",
        skip=TRACED,
    ),
    Raises(
        "sum_batches",
        "another number of columns",
        [batches([67]) + batches([67], 5)],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=TypeError,
        match="Cannot feed value of shape|Binding inputs|are incompatible",
    ),
    Raises.alike(
        "sum_batches",
        "another number of columns, bucketed",
        [batches([67]) + batches([67], 5), True],
        ValueError,
        "Cannot feed value of shape|are incompatible",
        of="program",
    ),
    Program(
        "sweep_rates", "once", [*line(), [0.5, 0.125, 0.01, 1e-3], 10], skip=TRACED
    ),
    Program(
        "sweep_rates",
        "in the loop",
        [*line(1), [0.5, 0.125, 0.01], 3, False],
        skip=TRACED,
    ),
    Program(
        "score_in_threads",
        "eight threads",
        [batches([67, 1, 30, 8] * 4, 5), normal(5, 3), 8],
        skip=TRACED,
    ),
    friend(
        "score_in_threads",
        "a function in each call",
        [batches([67, 1, 30, 8], 5), normal(5, 3), 2],
        a_function_in_each_call,
        "a function that is made in a call is traced in it: 4 products, not 1",
        skip=TRACED,
    ),
    Program(
        "score_in_processes",
        "two processes",
        [batches([67, 1, 30, 8], 5), normal(5, 3), 2],
        skip={"function": ELSEWHERE},
    ),
    Program("count_in_threads", "one total", [PARTS], expect=[2800] * 4),
    Program(
        "count_in_threads", "one each", [PARTS, False], expect=[120, 1800, 180, 700]
    ),
    Raises.alike(
        "count_in_threads",
        "a negative number",
        [[[1, 2, 3], [4, -5, 6]]],
        ValueError,
        "numbers must not be negative: -5",
        of="program",
    ),
    Program("scale_by_setting", "three", [normal(1031), [1.0, 0.5, 0.1]]),
    *(
        friend(
            "scale_by_setting",
            slug,
            [normal(67), [1.0, 0.5, 0.1]],
            naive,
            "it is read once, while tracing, and stays",
        )
        for slug, naive in [
            ("a number read while tracing", number_read_while_tracing),
            ("an array changed in place", array_changed_in_place),
            ("a tensor bound anew", tensor_bound_anew),
        ]
    ),
    Program("take_rows", "a table", [normal(1031, 8), [integers(67, high=1031)]]),
    friend(
        "take_rows",
        "an array in the trace",
        [normal(1031, 8), [np.array([5, 0, 1030]), np.array([7])]],
        array_in_the_trace,
        "an array is a constant of the graph, with all of its bytes",
    ),
    Raises.alike(
        "take_rows",
        "no such row",
        [normal(67, 8), [np.array([67])]],
        INVALID,
        "is not in ",
        of="program",
    ),
    Program("keep_hidden", "a network", [ROWS, KERNEL]),
    friend(
        "keep_hidden",
        "kept as an attribute",
        [normal(67, 5), KERNEL],
        kept_as_an_attribute,
        "a tensor of a trace is out of scope once the trace is done",
        differs="raises",
    ),
    Program("subtract_median", "columns", [ROWS, KERNEL]),
    friend(
        "subtract_median",
        "NumPy in the function",
        [normal(67, 5), KERNEL],
        median_in_a_trace,
        "a tensor of a trace has no numbers for NumPy",
        differs="raises",
    ),
    Raises(
        "subtract_median",
        "shapes that do not multiply",
        [normal(67, 4), KERNEL],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Dimensions must be equal|Matrix size-incompatible",
    ),
    Program("average_by_name", "three names", [LATER, 0.75], traces=3),
    *(
        Raises.alike(
            "average_by_name",
            f"another shape, {slug}",
            [[("a", normal(3)), ("a", array)], 0.75],
            ValueError,
            "Cannot feed value of shape|are incompatible",
            of="program",
        )
        for slug, array in [("of one number", normal(1)), ("of none", normal())]
    ),
    friend(
        "average_by_name",
        "a variable of a later call",
        [LATER, 0.75],
        variable_of_a_later_call,
        "a function makes variables in its first call, and none later",
        differs="raises",
        traces=3,
    ),
]
PROOF = proof(v1, v2, CASES)


class FunctionsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    @parameterized.expand(
        [
            ("session", "v1", "import tensorflow.compat.v1 as tf"),
            ("process", "v2", "import tensorflow as tf"),
        ]
    )
    def test_a_process_is_configured_before_it_starts(self, _, page, line):
        package = {"v1": "v1_graph", "v2": "v2_eager"}[page]
        code = f"""import json; {line}
from {package}.functions import configure
print(json.dumps(configure(3, (2, 1))))"""
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        found = json.loads(run.stdout.splitlines()[-1])
        self.assertEqual(found, [["CPU:0", "CPU:1", "CPU:2"], [2, 1]])

    @parameterized.expand(
        [
            ("before the first op", "pass", 60, 0),
            ("after it", "tf.ones([2]) + 1", 5, signal.SIGALRM),
        ]
    )
    def test_a_fork_after_the_first_op_hangs(self, _, before, seconds, ended_by):
        code = f"""import os, signal
import tensorflow as tf
{before}
if not (child := os.fork()):
    signal.alarm({seconds})  # which ends it
    tf.function(tf.square)(3.0)
    os._exit(0)
print(os.waitpid(child, 0)[1])"""
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        self.assertEqual(int(run.stdout), ended_by)

    def test_a_process_that_is_spawned_does_not(self):
        square = "tf.function(tf.square)(3.0).numpy()"
        code = f"""import multiprocessing
import tensorflow as tf
tf.ones([2]) + 1
with multiprocessing.get_context("spawn").Pool(1) as pool:
    program = "exec('import tensorflow as tf') or float({square})"
    print(pool.apply_async(eval, [program]).get(60))"""
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        self.assertEqual(float(run.stdout), 9.0)

    def test_a_processor_has_no_memory_to_limit(self):
        (cpu,) = tf.config.list_physical_devices("CPU")
        limited = tf.config.LogicalDeviceConfiguration(memory_limit=64)
        with self.assertRaisesRegex(ValueError, "memory limit on CPU"):
            tf.config.set_logical_device_configuration(cpu, [limited])
        with self.assertRaisesRegex(ValueError, "Cannot set memory growth on"):
            tf.config.experimental.set_memory_growth(cpu, True)

    def test_a_finalized_graph_takes_no_op(self):
        with tf.Graph().as_default() as graph:
            x = tf.constant(1.0)
            graph.finalize()
            with self.assertRaisesRegex(RuntimeError, "Graph is finalized"):
                x * 2

    def test_how_many_nodes_a_hundred_calls_leave(self):
        with tf.compat.v1.Session(graph=tf.Graph()) as sess, sess.graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [2])
            for i in range(100):
                sess.run(x * float(i), {x: [1, 2]})
            self.assertEqual(len(sess.graph.get_operations()), 1 + 200)
        x, scale = tf.constant([1.0, 2.0]), tf.function(lambda x, rate: x * rate)
        traces = [scale.get_concrete_function(x, float(i)) for i in range(100)]
        self.assertEqual(sum(len(t.graph.get_operations()) for t in traces), 400)
        trace = scale.get_concrete_function(x, tf.constant(1.0))
        self.assertEqual(len(trace.graph.get_operations()), 4)
        self.assertEqual(scale.experimental_get_tracing_count(), 101)

    @parameterized.expand(
        [
            ("sizes", {}, 10),
            ("sizes_reduced", {"reduce_retracing": True}, 2),
        ]
    )
    def test_how_many_traces_ten_sizes_leave(self, _, options, traces):
        total = tf.function(lambda x: tf.reduce_sum(x), **options)
        for n in range(1, 11):
            total(tf.zeros([n, n + 1]))
        self.assertEqual(total.experimental_get_tracing_count(), traces)

    def test_reduce_retracing_is_not_of_numbers(self):
        scale = tf.function(lambda x, rate: x * rate, reduce_retracing=True)
        for i in range(10):
            scale(tf.constant(1.0), float(i))
        self.assertEqual(scale.experimental_get_tracing_count(), 10)

    def test_numbers_that_are_equal_share_a_trace(self):
        constant = tf.function(lambda number: tf.constant(number))
        found = [constant(number).dtype for number in (1, 1.0, True)]
        self.assertEqual(found, [tf.int32] * 3)
        inverse = tf.function(lambda number: tf.ones([]) / number)
        found = [float(inverse(number)) for number in (0.0, -0.0)]
        self.assertEqual(found, [np.inf, np.inf])
        self.assertEqual(float(inverse(np.float32(-0.0))), -np.inf)

    def test_constants_of_equal_numbers_are_one(self):
        found = [tf.constant(number) for number in (0.0, -0.0, np.float32(-0.0))]
        self.assertEqual(str([float(1 / x) for x in found]), "[inf, inf, -inf]")

    def test_sixteen_threads_trace_once(self):
        total = tf.function(lambda x: tf.reduce_sum(x) * 2)
        barrier = threading.Barrier(16)

        def call(_):
            barrier.wait()
            return float(total(tf.constant([1.0, 2.0])))

        pool = ThreadPool(16)
        self.assertEqual(pool.map(call, range(16), 1), [6.0] * 16)
        pool.close()
        self.assertEqual(total.experimental_get_tracing_count(), 1)

    def test_a_tape_a_device_and_a_graph_are_of_their_thread(self):
        pool, v = ThreadPool(1), tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = pool.apply(lambda: v * v)
        self.assertEqual(float(y), 9)
        self.assertIsNone(tape.gradient(y, v))
        with tf.device("/CPU:1"):
            device = pool.apply(lambda: tf.constant(1.0).device)
        self.assertRegex(device, "CPU:0")
        now = tf.compat.v1.get_default_graph
        with tf.Graph().as_default() as graph:
            self.assertIsNot(pool.apply(now), graph)
        pool.close()

    def test_reading_and_assigning_loses_what_comes_between(self):
        total, barrier = tf.Variable(0), threading.Barrier(2)

        def add(number):
            value = total.read_value()
            barrier.wait()  # forces the race: both threads have read
            total.assign(value + number)

        pool = ThreadPool(2)
        pool.map(add, [1, 2], 1)
        self.assertIn(int(total), (1, 2))
        total.assign(0)
        pool.map(total.assign_add, [1, 2], 1)
        pool.close()
        self.assertEqual(int(total), 3)

    def test_the_others_stop_when_a_thread_raises(self):
        seen = []

        def numbers():
            for n in range(100):
                time.sleep(0.01)
                seen.append(n)
                yield n

        with self.assertRaisesRegex(ValueError, "numbers must not be negative: -1"):
            v2.count_in_threads([numbers(), [-1]])
        self.assertLess(len(seen), 100)

    def test_an_array_is_in_the_graph_with_its_bytes(self):
        table = np.zeros([1031, 8], "f")
        sizes = []
        for rows in (table, tf.constant(table)):
            take = tf.function(functools.partial(_gather, rows))
            graph = take.get_concrete_function(tf.TensorSpec([None], tf.int64)).graph
            sizes.append(graph.as_graph_def().ByteSize())
        self.assertGreater(sizes[0], table.nbytes)
        self.assertLess(sizes[1], 1000)

    @parameterized.expand(
        [
            ("kept", kept_as_an_attribute, TypeError, "is out of scope and cannot be"),
            (
                "numpy",
                median_in_a_trace,
                NotImplementedError,
                "Cannot convert a symbolic tf.Tensor",
            ),
        ]
    )
    def test_what_a_trace_says_of_its_tensors(self, _, page, error, match):
        with self.assertRaisesRegex(error, match):
            page(np.ones([2, 3], "f"), np.ones([3, 4], "f"))

    def test_what_a_trace_says_of_a_later_variable(self):
        with self.assertRaisesRegex(ValueError, "only supports singleton"):
            variable_of_a_later_call([("a", np.ones(2)), ("b", np.ones(2))], 0.5)

    def test_a_tensor_of_another_graph(self):
        with tf.Graph().as_default():
            other = tf.constant(1.0)
        with self.assertRaisesRegex(TypeError, "is out of scope"):
            other + 1
        with tf.Graph().as_default():
            with self.assertRaisesRegex(ValueError, "must be from the same graph"):
                other + tf.constant(1.0)


def _gather(rows, ids):
    return tf.gather(rows, ids)


if __name__ == "__main__":
    unittest.main()
