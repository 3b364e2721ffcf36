import subprocess
import sys
import textwrap
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import Program, Raises, integers, normal
from v1_graph import graphs as v1
from v2_eager import graphs as v2

ONE, TWO = np.float32(1), np.float32(2)
TRACED = {"eager": "run eagerly a function has no symbolic tensors and no names"}
INVALID = tf.errors.InvalidArgumentError

CASES = [
    Program(
        "printed_and_run",
        "the classic",
        [ONE, TWO],
        exact=True,
        expect=('Tensor("total:0", shape=(), dtype=float32)', 3),
        skip=TRACED,
    ),
    Program(
        "printed_and_run",
        "vectors of integers",
        [integers("n"), integers("n")],
        skip=TRACED,
    ),
    Program(
        "two_graphs",
        "numbers",
        [ONE, TWO],
        expect=(["v:0", "v:0"], [1, 3]),
        skip={"function": PLAIN},
    ),
    Program(
        "two_graphs", "vectors", [normal("n"), normal("m")], skip={"function": PLAIN}
    ),
    Program(
        "three_sessions",
        "the classic",
        [TWO],
        expect=[4, 4, 4],
        skip={"function": PLAIN},
    ),
    Program("three_sessions", "matrices", [normal("n", "m")], skip={"function": PLAIN}),
    Program(
        "place", "the processor", [normal("n"), "/CPU:0"], skip={"function": PLAIN}
    ),
    Program(
        "place",
        "a device that is not there",
        [normal("n"), "/GPU:7"],
        skip={"function": PLAIN},
    ),
    Program(
        "place", "not soft", [normal("n"), "/CPU:0", False], skip={"function": PLAIN}
    ),
    Raises(
        "place",
        "a device that is not there, not soft",
        [TWO, "/GPU:7", False],
        of="program",
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="GPU:7",
    ),
    Program("feed_between", "from the start", [TWO], expect=15),
    Program("feed_between", "from between", [TWO, np.float32(7)], expect=21),
    Program(
        "feed_between",
        "what is fed is cast",
        [np.float32([1, 2]), np.float64([1 / 3, 2])],
        exact=True,
    ),
    Program("feed_between", "vectors", [normal("n"), normal("n")]),
    Program("feed_between", "vectors from the start", [normal("n")]),
    Raises(
        "feed_between",
        "text",
        [np.array("two")],
        of="program",
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="string",
    ),
    Program(
        "sum_of_collection",
        "all",
        [[ONE, TWO]],
        expect=(2, 2.5),
        skip={"function": PLAIN},
    ),
    Program(
        "sum_of_collection",
        "one scope",
        [[ONE, TWO], "head"],
        expect=(1, 2),
        skip={"function": PLAIN},
    ),
    Program(
        "sum_of_collection",
        "the others",
        [[ONE, TWO, TWO], "body"],
        expect=(2, 2.5),
        skip={"function": PLAIN},
    ),
    Program(
        "sum_of_collection",
        "any size",
        [[normal("n"), normal("m"), normal(3)]],
        skip={"function": PLAIN},
    ),
    Raises(
        "sum_of_collection",
        "no such scope",
        [[ONE, TWO], "tail"],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="[Ii]nputs must be",
    ),
    Program("fetch_by_name", "hidden", [np.float32(-4), "hidden"], expect=4),
    Program("fetch_by_name", "output", [np.float32(-4), "output"], expect=2),
    Program("fetch_by_name", "any size", [normal("n"), "output"]),
    Raises(
        "fetch_by_name",
        "no such name",
        [TWO, "nowhere"],
        of="program",
        graph=KeyError,
        eager=KeyError,
        function=KeyError,
        match="nowhere",
    ),
    Program("fresh_names", "one graph", [False], expect=["c:0", "c_1:0"], skip=TRACED),
    Program("fresh_names", "two graphs", [True], expect=["c:0", "c:0"], skip=TRACED),
]
PROOF = proof(v1, v2, CASES)


class GraphsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    def test_an_eager_tensor_prints_its_value(self):
        self.assertEqual(
            str(tf.constant(1.0) + 2.0), "tf.Tensor(3.0, shape=(), dtype=float32)"
        )

    def test_placement_is_restored_after_an_error(self):
        before = tf.config.get_soft_device_placement()
        with self.assertRaisesRegex(INVALID, "GPU:7"):
            v2.place(TWO, "/GPU:7", False)
        self.assertEqual(tf.config.get_soft_device_placement(), before)

    @parameterized.expand(
        [
            (
                "session",
                """
                import tensorflow.compat.v1 as tf
                tf.disable_eager_execution()
                config = tf.ConfigProto(
                    device_count={"CPU": 3},
                    intra_op_parallelism_threads=2,
                    inter_op_parallelism_threads=1,
                )
                with tf.Session(config=config) as sess:
                    devices = sess.list_devices()
                print(sum(d.device_type == "CPU" for d in devices), 2, 1)
                """,
            ),
            (
                "process",
                """
                import tensorflow as tf
                (cpu,) = tf.config.list_physical_devices("CPU")
                tf.config.set_logical_device_configuration(
                    cpu, [tf.config.LogicalDeviceConfiguration()] * 3
                )
                tf.config.threading.set_intra_op_parallelism_threads(2)
                tf.config.threading.set_inter_op_parallelism_threads(1)
                threads = tf.config.threading
                print(
                    len(tf.config.list_logical_devices("CPU")),
                    threads.get_intra_op_parallelism_threads(),
                    threads.get_inter_op_parallelism_threads(),
                )
                """,
            ),
        ]
    )
    def test_devices_and_threads_are_configured_before_the_start(self, _, code):
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(run.stdout.split()[-3:], ["3", "2", "1"])

    def test_and_not_after_it(self):
        with self.assertRaisesRegex(RuntimeError, "cannot be modified after"):
            tf.config.threading.set_intra_op_parallelism_threads(7)
