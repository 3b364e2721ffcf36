import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.parity import Program, Raises
from tf1to2.parity.distance import same_bits
from v1_graph import distributed as v1
from v2_eager import distributed as v2

PS, WORKERS = ["127.0.0.1:2221", "127.0.0.1:2222"], ["127.0.0.1:2223", "127.0.0.1:2224"]
RNG = np.random.RandomState(0)
X, Y, KERNEL = [RNG.standard_normal(shape) for shape in ([8, 2], [8, 1], [2, 1])]
BIAS = np.array([0.125])
LINE = [X, Y, [KERNEL, BIAS]]
# Multiples of 1/2: their sums are exact, in any order.
COARSE = [np.float32(np.round(a * 2) / 2) for a in (X, Y, KERNEL, BIAS)]
COARSE = [*COARSE[:2], COARSE[2:]]
NO_PROCESS = "the tasks are processes of their own, whose functions are functions"
NO_ESTIMATOR = "TensorFlow 2.16 and later have no Estimator"


def tf_config(job, index, **cluster):
    cluster = cluster or {"chief": WORKERS[:1], "worker": WORKERS[1:], "ps": PS}
    return json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})


FAST = [
    Program(
        "cluster_of",
        "the chief",
        [PS[:1], WORKERS, "worker", 0],
        expect={
            "cluster": {"ps": PS[:1], "worker": WORKERS},
            "jobs": ["ps", "worker"],
            "tasks": [1, 2],
            "address": WORKERS[0],
            "chief": True,
        },
        skip={"function": PLAIN},
    ),
    Program(
        "cluster_of", "a worker", [PS, WORKERS, "worker", 1], skip={"function": PLAIN}
    ),
    Program(
        "cluster_of",
        "a parameter server",
        [PS, WORKERS, "ps", 1],
        skip={"function": PLAIN},
    ),
    refused(
        "cluster_of",
        "no such task",
        [PS, WORKERS, "worker", 2],
        "No task with index 2 in job 'worker'",
    ),
    refused(
        "cluster_of",
        "no such job",
        [PS, WORKERS, "evaluator", 0],
        "No such job in cluster: 'evaluator'",
    ),
    *[
        Program(
            "task_of",
            f"{job} {index}",
            [tf_config(job, index)],
            skip={"graph": NO_ESTIMATOR, "function": PLAIN},
        )
        for job, index in [("chief", 0), ("worker", 0), ("ps", 1)]
    ],
    refused(
        "task_of",
        "no JSON",
        ["{'cluster': {}}"],
        "property name",
        json.JSONDecodeError,
        skip={"graph": NO_ESTIMATOR},
    ),
    refused(
        "task_of",
        "no such task",
        [tf_config("worker", 3)],
        "3 is not a valid task_id|No task with index 3",
        skip={"graph": NO_ESTIMATOR},
    ),
    Program(
        "partitions",
        "ten rows",
        [[10, 4], 4, 64, 100],
        expect=[[4, 1], [3, 1], [2, 1]],
        skip={"function": PLAIN},
    ),
    Program("partitions", "one row", [[1, 4], 3, 64, 1], skip={"function": PLAIN}),
    Program(
        "partitions",
        "rows larger than a part",
        [[5, 100], 8, 100, 100],
        skip={"function": PLAIN},
    ),
    Program(
        "partitions",
        "by default",
        [[1000, 512], 4, 1 << 20, 256 << 10],
        skip={"function": PLAIN},
    ),
    Raises(
        "partitions",
        "no parts, which TensorFlow 1 lets pass",
        [[10, 4], 0, 64, 64],
        of="program",
        eager=ValueError,
        function=ValueError,
        match="must be positive",
    ),
    Program("train_alone", "all rows at once", [*LINE, 5]),
    Program("train_alone", "two parts", [*LINE, 5], {"parts": 2}),
    Program("train_alone", "two exact parts", [*COARSE, 2], {"parts": 2}, exact=True),
    Raises(
        "train_alone",
        "rows that do not fit",
        [X, Y[:4], LINE[2], 1],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="must be equal|Incompatible shapes",
    ),
]
CLUSTERS = [
    Program(
        "train_synchronously",
        "two workers",
        [*LINE, 20],
        skip={"eager": NO_PROCESS},
        traces=0,
    ),
    Program(
        "train_synchronously",
        "two workers, in single precision",
        [*[a.astype("f") for a in (X, Y)], [KERNEL.astype("f"), BIAS.astype("f")], 20],
        exact=True,
        skip={"eager": NO_PROCESS},
        traces=0,
    ),
    Program(
        "train_asynchronously",
        "steps that may come in any order",
        [*COARSE, 20],
        {"loss": "product"},
        skip={"eager": NO_PROCESS},
        traces=0,
    ),
]
PROOF = proof(v1, v2, FAST + CLUSTERS)


def checks(cases):
    return [(slug, check) for slug, check in PROOF.checks() if check.case in cases]


class DistributedTest(unittest.TestCase):
    @parameterized.expand(checks(FAST))
    def test_parity(self, _, check):
        check()


class PartsTest(unittest.TestCase):
    """Two workers differ from one process only in the order of a sum."""

    def weights(self, dtype, parts, rows=X.shape[0]):
        x, y, *start = [a.astype(dtype) for a in (X, Y, KERNEL, BIAS)]
        found = v2.train_alone(x[:rows], y[:rows], start, 20, parts)["weights"]
        return np.concatenate([w.ravel() for w in found])

    def test_in_double_precision_parts_are_the_whole_but_for_the_last_digits(self):
        whole, parts = self.weights("d", 1), self.weights("d", 2)
        self.assertFalse(same_bits(whole, parts).all())
        np.testing.assert_array_equal(np.float32(whole), np.float32(parts))

    def test_in_single_precision_they_are_some_ulps_apart(self):
        whole, parts = self.weights("f", 1), self.weights("f", 2)
        ulps = np.abs(whole.view("i4") - parts.view("i4"))
        self.assertIn(ulps.max(), range(1, 5))

    def test_where_no_sum_rounds_they_are_the_whole(self):
        whole, parts = [v2.train_alone(*COARSE, 2, n)["weights"] for n in (1, 2)]
        for a, b in zip(whole, parts):
            np.testing.assert_array_equal(a, b)


class ConfigTest(unittest.TestCase):
    def strategy(self, text):
        with mock.patch.dict(os.environ, {"TF_CONFIG": text}):
            return tf.distribute.MultiWorkerMirroredStrategy()

    def test_what_is_read_was_written(self):
        text = v2.config_of({"worker": WORKERS}, "worker", 1)
        with mock.patch.dict(os.environ, {"TF_CONFIG": text}):
            resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
            self.assertEqual(resolver.cluster_spec().as_dict(), {"worker": WORKERS})
            self.assertEqual((resolver.task_type, resolver.task_id), ("worker", 1))

    @parameterized.expand([("left", v1), ("right", v2)])
    def test_what_was_set_before_is_set_again(self, _, page):
        with mock.patch.dict(os.environ, {"TF_CONFIG": "before"}):
            with page.environment("{}"):
                self.assertEqual(os.environ["TF_CONFIG"], "{}")
            self.assertEqual(os.environ["TF_CONFIG"], "before")
            del os.environ["TF_CONFIG"]
            with page.environment("{}"):
                pass
            self.assertNotIn("TF_CONFIG", os.environ)

    @parameterized.expand(
        [
            ("no_such_job", tf_config("wroker", 0, worker=WORKERS), "wroker"),
            ("no_such_task", tf_config("worker", 2, worker=WORKERS), "2"),
            ("two_chiefs", tf_config("chief", 0, chief=WORKERS), "one 'chief'"),
            ("no_task", json.dumps({"cluster": {"worker": WORKERS}}), "task_type"),
        ]
    )
    def test_a_wrong_one_is_an_error_at_once(self, _, text, match):
        with self.assertRaisesRegex(ValueError, match):
            self.strategy(text)

    LOCAL = ["worker", 0, 1, 0, True, ""]

    @parameterized.expand(
        [
            ("no_cluster", "{}", LOCAL),
            ("a_task_alone", '{"task": {"type": "worker", "index": 0}}', LOCAL),
            (
                "a_master",
                tf_config("master", 0, master=WORKERS[:1], worker=WORKERS[1:]),
                ["master", 0, 2, 0, True, f"grpc://{WORKERS[0]}"],
            ),
            (
                "an_evaluator",
                tf_config("evaluator", 0),
                ["evaluator", 0, 0, 0, False, ""],
            ),
        ]
    )
    def test_a_task_is_what_run_config_says(self, _, text, expected):
        """`expected` is the result of `tf.estimator.RunConfig` in 1.15.5."""
        self.assertEqual(list(v2.task_of(text).values()), expected)

    @parameterized.expand(
        [
            ("no_chief", tf_config("worker", 0, worker=WORKERS)),
            ("no_task", json.dumps({"cluster": {"chief": WORKERS[:1]}})),
            ("a_server_alone", '{"task": {"type": "ps", "index": 0}}'),
        ]
    )
    def test_a_task_that_run_config_refuses(self, _, text):
        with self.assertRaisesRegex(
            ValueError, "must have a task, and a chief in its cluster"
        ):
            v2.task_of(text)

    @parameterized.expand([("no_cluster", '{"task": {}}'), ("empty", "{}")])
    def test_one_that_says_nothing_trains_alone(self, _, text):
        self.assertEqual(self.strategy(text).num_replicas_in_sync, 1)


class Cluster:
    """The processes of a cluster; all are killed at the end of the test."""

    def __init__(self, test, page, mode="sync", steps=20, timeout=90):
        self.test, self.page = test, page
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = str(self.folder / "model")
        np.savez(self.folder / "data.npz", x=X, y=Y, kernel=KERNEL, bias=BIAS)
        ps, *self.workers = v2.free_addresses(3)
        self.addresses = {"ps": [ps], "worker": self.workers}
        self.flags = [
            f"--mode={mode}",
            f"--ps_hosts={ps}",
            f"--worker_hosts={','.join(self.workers)}",
            f"--data={self.folder / 'data.npz'}",
            f"--folder={self.model}",
            f"--steps={steps}",
            "--save_steps=20",
            f"--timeout={timeout}",
        ]

    def start(self, job, index):
        with open(self.log(job, index), "w") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", self.page.__name__, *self.flags),
                    f"--job_name={job}",
                    f"--task_index={index}",
                    f"--output={self.folder / str(index)}.npz",
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=pathlib.Path(v2.__file__).parents[1],
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
                start_new_session=True,
            )
        process.place = job, index
        self.test.addCleanup(self.kill, process)
        return process

    def start_all(self):
        tasks = [("ps", 0), ("worker", 0), ("worker", 1)]
        if self.page is v2 and "--mode=sync" in self.flags:
            tasks.pop(0)
        return [self.start(*task) for task in tasks]

    def log(self, job, index):
        return self.folder / f"{job}_{index}.log"

    @staticmethod
    def kill(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()

    def ends(self, process, seconds=150):
        """Waits for a process to end by itself, and returns (exit code, its log)."""
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # it writes its traceback
            process.wait(10)
            text = self.log(*process.place).read_text()
            self.test.fail(f"the process {process.place} did not end:\n{text[-8000:]}")
        return code, self.log(*process.place).read_text()

    def succeed(self, *processes):
        for process in processes:
            if process.place[0] == "ps":  # it serves until it is killed
                continue
            code, text = self.ends(process)
            self.test.assertEqual(code, 0, text[-4000:])

    def result(self, index):
        with np.load(self.folder / f"{index}.npz") as found:
            return dict(found)

    def saved(self):
        """Returns the step of the latest checkpoint, or 0 without a checkpoint."""
        latest = tf.train.latest_checkpoint(self.model)
        return int(latest.rpartition("-")[2]) if latest else 0

    def until_saved(self, *processes, step=20, seconds=180):
        deadline = time.monotonic() + seconds
        while self.saved() < step:
            for process in processes:
                if process.poll():
                    self.test.fail(self.log(*process.place).read_text()[-4000:])
            self.test.assertLess(time.monotonic(), deadline, "no checkpoint in time")
            time.sleep(0.01)


BOTH = [("left", v1), ("right", v2)]


@pytest.mark.distributed
class ClusterTest(unittest.TestCase):
    @parameterized.expand(checks(CLUSTERS))
    def test_parity(self, _, check):
        check()

    @parameterized.expand(BOTH)
    def test_killed_and_started_again_nothing_is_lost_but_steps(self, _, page):
        steps = 600
        cluster = Cluster(self, page, steps=steps)
        processes = cluster.start_all()
        cluster.until_saved(*processes)
        killed = processes.pop()
        self.assertEqual(cluster.kill(killed), -signal.SIGKILL)
        if page is v2:  # the workers depend on each other: both fail
            code, text = cluster.ends(processes[0])
            self.assertNotEqual(code, 0)
            self.assertRegex(text, "UnavailableError|UNAVAILABLE|Terminating")
        for process in processes:
            cluster.kill(process)
        done = cluster.saved()
        self.assertLess(done, steps)
        cluster.succeed(*cluster.start_all())
        # The same numbers as in one process without an interruption.
        alone = v2.train_alone(X, Y, [KERNEL, BIAS], steps, parts=2)
        for index in range(2):
            found = cluster.result(index)
            for name, weight in zip(("kernel", "bias"), alone["weights"]):
                np.testing.assert_array_equal(found[name], weight)
            np.testing.assert_array_equal(
                found["losses"], alone["losses"][done:, index]
            )

    def test_a_step_of_a_killed_worker_is_taken_by_another(self):
        steps = 600
        cluster = Cluster(self, v2, "async", steps=steps)
        server, chief, worker = cluster.start_all()
        cluster.until_saved(server, chief, worker)
        cluster.kill(worker)
        cluster.start("worker", 1)
        cluster.succeed(chief)
        found = cluster.result(0)
        # Perhaps more, because a step that was running is repeated.
        self.assertGreaterEqual(found["global_step"], 2 * steps)
        self.assertLess(found["global_step"], 2 * steps + 20)
        columns = np.concatenate([X, np.ones([len(X), 1])], axis=1)
        best = np.linalg.lstsq(columns, Y, rcond=None)[1].item()
        self.assertLess(self.loss(**found), 1.1 * best)

    def test_without_order_it_converges(self):
        steps = 300
        cluster = Cluster(self, v1, "async", steps=steps)
        cluster.succeed(*cluster.start_all())
        found = [cluster.result(index) for index in range(2)]
        self.assertEqual(max(f["global_step"] for f in found), 2 * steps)
        # No stronger claim: the last worker moves the weights to fit its own part best.
        loss = self.loss(**max(found, key=lambda f: f["global_step"]))
        self.assertLess(loss, self.loss(KERNEL, BIAS))

    @staticmethod
    def loss(kernel, bias, **_):
        return np.square(X @ kernel + bias - Y).sum()

    @parameterized.expand(BOTH)
    def test_a_port_in_use(self, _, page):
        cluster = Cluster(self, page)
        port = int(cluster.workers[0].rpartition(":")[2])
        with socket.socket() as occupant:
            occupant.bind(("", port))
            occupant.listen()
            code, text = cluster.ends(cluster.start("worker", 0))
        self.assertEqual(code, 1)
        self.assertIn("Could not start gRPC server", text)

    @parameterized.expand(
        [("left", v1, "sync"), ("right", v2, "sync"), ("right_async", v2, "async")]
    )
    def test_a_peer_that_never_comes(self, _, page, mode):
        cluster = Cluster(self, page, mode, timeout=8)
        code, text = cluster.ends(cluster.start("worker", 0))
        self.assertEqual(code, 1)
        self.assertIn("Waiting at most 8 seconds for the other tasks", text)
        self.assertIn("Timeout (0:00:08)!", text)


FIT = """
import keras, numpy as np, tensorflow as tf
with tf.distribute.MultiWorkerMirroredStrategy().scope():
    model = keras.Sequential([keras.Input([1]), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(np.ones([4, 1]), np.ones([4, 1]), shuffle=False, verbose=0)
"""


@pytest.mark.distributed
class KerasTest(unittest.TestCase):
    def test_fit_does_not_run_on_several_workers(self):
        jobs = {"worker": v2.free_addresses(2)}
        tasks = [
            subprocess.Popen(
                [sys.executable, "-c", FIT],
                env={**os.environ, "TF_CONFIG": v2.config_of(jobs, "worker", index)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for index in range(2)
        ]
        for task in tasks:
            self.addCleanup(task.kill)
        for task in tasks:
            _, error = task.communicate(timeout=200)
            self.assertRegex(error, r"ValueError: Attempt to convert .*PerReplica")
