"""`tf.train.Server`, `replica_device_setter`, `SyncReplicasOptimizer` → strategies."""

import contextlib
import faulthandler
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf
from absl import app, flags

from v2_eager.numerics import optimizers

__all__ = [
    "cluster_of",
    "task_of",
    "partitions",
    "train_alone",
    "train_synchronously",
    "train_asynchronously",
]

RATE, MOMENTUM = 0.125, 0.5  # exact in float32


def cluster_of(ps_hosts, worker_hosts, job_name, task_index):
    """Describes a cluster and one of its tasks: jobs, address, chief or not."""
    # --- cluster
    jobs = {"ps": ps_hosts, "worker": worker_hosts}
    with environment(config_of(jobs, job_name, task_index)):
        # Without a TF_CONFIG: SimpleClusterResolver(cluster, task_type=…, task_id=…)
        resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        cluster = resolver.cluster_spec()
        address = cluster.task_address(resolver.task_type, resolver.task_id)
    # --- result
    return {
        "cluster": cluster.as_dict(),
        "jobs": sorted(cluster.jobs),
        "tasks": [cluster.num_tasks(job) for job in sorted(cluster.jobs)],
        "address": address,
        "chief": job_name == "worker" and task_index == 0,
    }


def config_of(jobs, job_name, task_index):
    """Makes the TF_CONFIG of a task from the flags that it had in TensorFlow 1."""
    task = {"type": job_name, "index": task_index}
    return json.dumps({"cluster": jobs, "task": task})


@contextlib.contextmanager
def environment(tf_config):
    """Sets TF_CONFIG, as a cluster manager does, and restores the old value on exit."""
    kept = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = tf_config
    try:
        yield
    finally:
        os.environ.pop("TF_CONFIG")
        if kept is not None:
            os.environ["TF_CONFIG"] = kept


def task_of(tf_config):
    """Reads from TF_CONFIG the task of this process, and its cluster.

    Returns:
        dict with `type` and `index` of the task, the numbers of `workers` (the chief is
        one of them) and of `servers`, whether it is the `chief`, and the `master`. A
        task without a cluster is a chief, and an evaluator sees no other task.

    Raises:
        ValueError: the text is not JSON, the cluster has no chief, or the task is not
            in the cluster.
    """
    with environment(tf_config):
        # --- read
        config = tf.distribute.cluster_resolver.TFConfigClusterResolver(
            rpc_layer="grpc"
        )
        tasks, kind = config.cluster_spec().as_dict(), config.task_type
        if not tasks and kind in (None, "worker"):
            alone = {"type": "worker", "index": 0, "workers": 1, "servers": 0}
            return {**alone, "chief": True, "master": ""}
        # Without a chief, TensorFlow 2 makes worker 0 the chief; TensorFlow 1 raises.
        chief = "master" if "master" in tasks else "chief"
        if chief not in tasks or not kind:
            raise ValueError(
                f"TF_CONFIG must have a task, and a chief in its cluster: {tasks}"
            )
        if kind == "evaluator":
            tasks = {}
        # --- result
        return {
            "type": kind,
            "index": config.task_id,
            "workers": len(tasks.get(chief, []) + tasks.get("worker", [])),
            "servers": len(tasks.get("ps", [])),
            "chief": kind == chief,
            "master": config.master() if tasks else "",
        }


def partitions(shape, shards, max_bytes, min_bytes):
    """Counts a variable's shards by three rules: number, maximum or minimum size."""
    # --- rules
    rules = [
        tf.distribute.experimental.partitioners.FixedShardsPartitioner(shards),
        tf.distribute.experimental.partitioners.MaxSizePartitioner(max_bytes),
        tf.distribute.experimental.partitioners.MinSizePartitioner(min_bytes, shards),
    ]
    # --- result
    shape = tf.TensorShape(shape)
    return [list(rule(shape, tf.float32)) for rule in rules]


def square(outputs, targets):
    return tf.reduce_mean(tf.square(outputs - targets))


def product(outputs, targets):
    """Computes a loss whose gradient does not depend on the weights or other steps."""
    return tf.reduce_mean(outputs * targets)


LOSSES = {"square": square, "product": product}


def part_of(x, y, index, count):
    """Returns the rows of worker `index`: every `count`-th row, from row `index` on."""
    return x[index::count], y[index::count]


class Line(tf.Module):
    """A linear model: kernel, bias and global step, made in this order.

    Args:
        start: [kernel, bias], [features, units] and [units] arrays.
    """

    def __init__(self, start):
        super().__init__()
        self.weights = [
            tf.Variable(start[0], name="kernel"),
            tf.Variable(start[1], name="bias"),
        ]
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )

    def gradients(self, x, y, loss="square"):
        kernel, bias = self.weights
        with tf.GradientTape() as tape:
            outputs = tf.nn.bias_add(tf.matmul(x, kernel), bias)
            value = LOSSES[loss](outputs, y)
        return value, tape.gradient(value, self.weights)


def train_alone(x, y, start, steps, parts=1):
    """Fits a linear model with momentum in one process, as a reference for workers."""
    # --- build
    line = Line(start)
    momentum = optimizers.Momentum(RATE, MOMENTUM).create_slots(line.weights)

    @tf.function
    def step(x, y):
        # --- step
        towers = [line.gradients(*part_of(x, y, i, parts)) for i in range(parts)]
        losses, gradients = zip(*towers)
        means = [tf.add_n(g) / parts for g in zip(*gradients)]
        momentum.apply_gradients(zip(means, line.weights))
        return losses

    # --- run
    batch = tf.constant(x), tf.constant(y)
    history = [[loss.numpy() for loss in step(*batch)] for _ in range(steps)]
    # --- result
    weights = [weight.numpy() for weight in line.weights]
    return {"losses": np.array(history, x.dtype), "weights": weights}


def train_synchronously(x, y, start, steps, workers=2):
    """Fits a linear model with momentum on several workers, with synchronous steps."""
    # --- run
    results, saved = run_cluster("sync", x, y, start, steps, 1, workers)
    # --- result
    return {
        "losses": np.stack([r["losses"] for r in results], axis=1),
        "weights": [[r["kernel"], r["bias"]] for r in results],
        "global_step": results[0]["global_step"],
        "saved": saved,
    }


def train_asynchronously(x, y, start, steps, workers=2, servers=2, loss="square"):
    """Fits a linear model with SGD on several workers, with asynchronous steps."""
    # --- run
    results, _ = run_cluster("async", x, y, start, steps, servers, workers, loss)
    # --- result
    last = max(results, key=lambda r: r["global_step"])
    return {
        "weights": [last["kernel"], last["bias"]],
        "global_step": last["global_step"],
        "places": last["places"].tolist(),
    }


def synchronous_task(options, x, y, start):
    """Trains as a worker, synchronously: each step uses its part of the rows."""
    # --- build
    communication = tf.distribute.experimental.CommunicationOptions(
        timeout_seconds=options.timeout
    )
    with within(options.timeout):  # the cluster comes from TF_CONFIG
        strategy = tf.distribute.MultiWorkerMirroredStrategy(
            communication_options=communication
        )
    with strategy.scope():
        line = Line(start)
        momentum = optimizers.Momentum(RATE, MOMENTUM).create_slots(line.weights)

    def feed(context):
        part = part_of(x, y, context.input_pipeline_id, context.num_input_pipelines)
        return tf.data.Dataset.from_tensors(part).repeat()

    batches = iter(strategy.distribute_datasets_from_function(feed))

    # --- step
    def replica(x, y):
        loss, gradients = line.gradients(x, y)
        context = tf.distribute.get_replica_context()
        # The copies of the weights stay equal, because all apply the same gradient.
        pairs = zip(context.all_reduce("MEAN", gradients), line.weights)
        # By default apply_gradients sums, so a step would be `workers` times as large.
        momentum.apply_gradients(pairs, line.global_step, aggregate=False)
        return loss

    @tf.function
    def step(batch):
        return strategy.run(replica, batch)

    # --- restore
    with tempfile.TemporaryDirectory() as nowhere:
        checkpoint = tf.train.Checkpoint(line=line, momentum=momentum)
        latest = tf.train.latest_checkpoint(options.folder)
        if latest is not None:
            checkpoint.restore(latest).assert_consumed()  # all of them
        manager = tf.train.CheckpointManager(
            checkpoint,
            # All workers save, because saving may need all; the chief's file is kept.
            options.folder if options.task_index == 0 else nowhere,
            max_to_keep=5,
            step_counter=line.global_step,
            checkpoint_interval=options.save_steps,
        )
        # --- run
        manager.save(line.global_step)  # before the first step, as in v1
        losses = []
        while line.global_step < options.steps:
            losses.append(step(next(batches)).numpy())
            manager.save(line.global_step)  # if it is due
        manager.save(line.global_step, check_interval=False)
    # --- result
    return {**values_of(line), "losses": np.array(losses, x.dtype)}


def asynchronous_task(cluster, options, x, y, start):
    """Trains as the chief, asynchronously: schedules steps on the workers."""
    # --- build
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        cluster, rpc_layer="grpc"
    )
    with within(options.timeout):
        strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():  # variables on the parameter servers in turn
        line = Line(start)
    descent = optimizers.GradientDescent(RATE, use_locking=True)
    parts = cluster.num_tasks("worker")

    def feed():  # called on each worker
        return tf.data.Dataset.from_tensors((x, y)).repeat()

    batches = iter(coordinator.create_per_worker_dataset(feed))

    # --- step
    def replica(batch, index):
        part = part_of(*batch, index, parts)
        _, gradients = line.gradients(*part, loss=options.loss)
        descent.apply_gradients(zip(gradients, line.weights), line.global_step)

    @tf.function
    def step(batches, index):
        strategy.run(replica, (next(batches), index))

    # --- restore
    checkpoint = tf.train.Checkpoint(line=line)
    manager = tf.train.CheckpointManager(
        checkpoint, options.folder, 5, step_counter=line.global_step
    )
    checkpoint.restore(manager.latest_checkpoint)
    # --- run
    taken = int(line.global_step) // parts
    for number in range(taken + 1, options.steps + 1):
        for index in range(parts):  # an argument: any worker may run the step
            coordinator.schedule(step, (batches, tf.constant(index)))
        if number % options.save_steps == 0 or number == options.steps:
            coordinator.join()
            manager.save(line.global_step)
    # --- result
    variables = [*line.weights, line.global_step]
    places = [tf.DeviceSpec.from_string(v.device) for v in variables]
    places = [f"/job:{place.job}/task:{place.task}" for place in places]
    np.savez(options.output, **values_of(line), places=places)
    # Threads of the coordinator may wait for a worker that is gone: do not join them.
    os._exit(0)


@contextlib.contextmanager
def within(seconds):
    """Ends the process with a traceback if the block takes longer than `seconds`.

    Native code waits for a missing task for ever, and Python cannot interrupt it.
    """
    print("Waiting at most %d seconds for the other tasks" % seconds, file=sys.stderr)
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def values_of(line):
    """Returns kernel, bias and global step as arrays."""
    kernel, bias = [weight.numpy() for weight in line.weights]
    return {"kernel": kernel, "bias": bias, "global_step": line.global_step.numpy()}


def serve(cluster, job, index):
    """Starts the server of a worker or parameter server; it runs the chief's steps."""
    server = tf.train.ServerDef(
        cluster=cluster.as_cluster_def(),
        job_name=job,
        task_index=index,
        protocol="grpc",
    )
    # A step that waits for another task must not block the steps of that task.
    threads = 1 + cluster.num_tasks("worker")
    server.default_session_config.inter_op_parallelism_threads = threads
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return tf.distribute.Server(server)


def run_task(options):
    """Runs one task of the cluster in this process."""
    job, index = options.job_name, options.task_index
    # --- cluster
    hosts = cluster_of(options.ps_hosts, options.worker_hosts, job, index)
    cluster = tf.train.ClusterSpec(hosts["cluster"])
    data = np.load(options.data)
    work = options, data["x"], data["y"], [data["kernel"], data["bias"]]
    # --- work
    if options.mode == "sync":  # no parameter servers
        jobs = {"worker": options.worker_hosts}
        os.environ["TF_CONFIG"] = config_of(jobs, job, index)
        np.savez(options.output, **synchronous_task(*work))
        return
    server = serve(cluster, job, index)
    if not hosts["chief"]:
        server.join()  # until it is killed
    asynchronous_task(cluster, *work)


def define_flags():
    """Defines the command-line flags of a task, the same for TensorFlow 1 and 2."""
    flags.DEFINE_string("job_name", "", "ps or worker")
    flags.DEFINE_integer("task_index", 0, "number of the task in its job")
    flags.DEFINE_list("ps_hosts", [], "addresses of the parameter servers")
    flags.DEFINE_list("worker_hosts", [], "addresses of the workers")
    flags.DEFINE_enum("mode", "sync", ["sync", "async"], "how to train")
    flags.DEFINE_enum("loss", "square", sorted(LOSSES), "what to minimize")
    flags.DEFINE_integer("steps", 10, "number of steps, with each part")
    flags.DEFINE_integer("save_steps", 100, "steps from one checkpoint to the next")
    flags.DEFINE_integer("timeout", 120, "seconds to wait for another task")
    flags.DEFINE_string("data", None, "file with x, y, kernel and bias")
    flags.DEFINE_string("folder", None, "where the checkpoints are")
    flags.DEFINE_string("output", None, "file for the results of a worker")


def free_addresses(count):
    """Finds free addresses (ports) on this machine."""
    # Below the ephemeral ports of the system.
    ports = random.SystemRandom().sample(range(15000, 32000), 100)
    with contextlib.ExitStack() as stack:
        addresses = []
        for port in ports:
            with contextlib.suppress(OSError):
                stack.enter_context(socket.socket()).bind(("", port))
                addresses.append("127.0.0.1:%d" % port)
        return addresses[:count]


def run_cluster(mode, x, y, start, steps, servers, workers, loss="square"):
    """Starts all tasks as processes on this machine, and waits for the results.

    Returns:
        (the results of each worker, the values in the last checkpoint).
    """
    addresses = free_addresses(servers + workers)
    tasks = [("worker", i) for i in range(workers)]
    if mode == "async":
        tasks += [("ps", i) for i in range(servers)]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        # --- start
        data = os.path.join(folder, "data.npz")
        np.savez(data, x=x, y=y, kernel=start[0], bias=start[1])
        command = [
            sys.executable,
            "-m",
            __name__,
            "--ps_hosts=" + ",".join(addresses[:servers]),
            "--worker_hosts=" + ",".join(addresses[servers:]),
            "--mode=" + mode,
            "--loss=" + loss,
            "--steps=%d" % steps,
            "--data=" + data,
            "--folder=" + os.path.join(folder, "model"),
        ]
        processes, logs, outputs = [], [], []
        for job, index in tasks:
            outputs.append(os.path.join(folder, "%s_%d.npz" % (job, index)))
            logs.append(outputs[-1] + ".log")
            task = ["--job_name=" + job, "--task_index=%d" % index]
            log = stack.enter_context(open(logs[-1], "w"))
            process = subprocess.Popen(
                command + task + ["--output=" + outputs[-1]],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
            )
            processes.append(process)
            stack.callback(process.wait)
            stack.callback(process.kill)  # callbacks run in reverse: kill first
        # --- end
        wait(processes[: workers if mode == "sync" else 1], logs)
        found = [dict(np.load(path)) for path in outputs if os.path.exists(path)]
        return found, saved_in(os.path.join(folder, "model"))


def saved_in(folder):
    """Reads [kernel, bias, global step] from the last checkpoint."""
    reader = tf.train.load_checkpoint(folder)
    names = ["weights/0", "weights/1", "global_step"]
    return [
        reader.get_tensor(f"line/{name}/.ATTRIBUTES/VARIABLE_VALUE") for name in names
    ]


def wait(processes, logs, seconds=240):
    """Waits until all processes end; if one fails, raises the end of its log."""
    deadline = time.time() + seconds
    while any(process.poll() is None for process in processes):
        failed = [log for p, log in zip(processes, logs) if p.poll()]
        if failed or time.time() > deadline:
            with open((failed or logs)[0]) as log:
                raise RuntimeError(
                    log.read()[-4000:]
                    or "a process did not end in time; its log is empty"
                )
        time.sleep(0.05)


def main(_):
    run_task(flags.FLAGS)


if __name__ == "__main__":
    define_flags()
    app.run(main)
