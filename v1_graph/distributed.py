"""`tf.train.Server`, `replica_device_setter`, `SyncReplicasOptimizer` → strategies."""

import contextlib
import faulthandler
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow.compat.v1 as tf

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
    """Describes a cluster and one of its tasks: jobs, address, chief or not.

    Args:
        ps_hosts: addresses such as "127.0.0.1:2222", of the parameter servers.
        worker_hosts: addresses of the workers, of which the first one is the chief.
        job_name: "ps" or "worker".
        task_index: number of the task in its job.

    Returns:
        dict with the `cluster` {job: addresses}, the `jobs`, their numbers of `tasks`,
        the `address` of the task, and whether it is the `chief`.

    Raises:
        ValueError: the job, or the task in it, does not exist.
    """
    # --- cluster
    cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    address = cluster.task_address(job_name, task_index)
    # --- result
    return {
        "cluster": cluster.as_dict(),
        "jobs": sorted(cluster.jobs),
        "tasks": [cluster.num_tasks(job) for job in sorted(cluster.jobs)],
        "address": address,
        "chief": job_name == "worker" and task_index == 0,
    }


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

    Args:
        tf_config: JSON text, as in the environment variable.

    Returns:
        dict with `type` and `index` of the task, the numbers of `workers` (the chief is
        one of them) and of `servers`, whether it is the `chief`, and the `master`.

    Raises:
        ValueError: the text is not JSON, or the task is not in the cluster.
    """
    with environment(tf_config):
        # --- read
        config = tf.estimator.RunConfig()
    # --- result
    return {
        "type": config.task_type,
        "index": config.task_id,
        "workers": config.num_worker_replicas,
        "servers": config.num_ps_replicas,
        "chief": config.is_chief,
        "master": config.master,
    }


def partitions(shape, shards, max_bytes, min_bytes):
    """Counts a variable's shards by three rules: number, maximum or minimum size.

    Args:
        shape: shape of the float32 variable.
        shards: number of shards for the first rule, maximum number for the third.
        max_bytes: maximum size of a shard for the second rule.
        min_bytes: minimum size of a shard for the third rule.

    Returns:
        [fixed number, maximum size, minimum size], each a list with the number of
        shards along each dimension.

    Raises:
        ValueError: a number that is not positive.
    """
    # --- rules
    rules = [
        tf.fixed_size_partitioner(shards),
        tf.variable_axis_size_partitioner(max_bytes),
        tf.min_max_variable_partitioner(shards, min_slice_size=min_bytes),
    ]
    # --- result
    shape = tf.TensorShape(shape)
    return [list(rule(shape=shape, dtype=tf.float32)) for rule in rules]


def square(outputs, targets):
    return tf.reduce_mean(tf.square(outputs - targets))


def product(outputs, targets):
    """Computes a loss whose gradient does not depend on the weights or other steps."""
    return tf.reduce_mean(outputs * targets)


LOSSES = {"square": square, "product": product}


def part_of(x, y, index, count):
    """Returns the rows of worker `index`: every `count`-th row, from row `index` on."""
    return x[index::count], y[index::count]


class Line(object):
    """Kernel, bias and global step of a linear model, in the current graph."""

    def __init__(self, start):
        kernel = tf.get_variable("kernel", initializer=start[0])
        bias = tf.get_variable("bias", initializer=start[1])
        self.weights = [kernel, bias]
        self.global_step = tf.train.get_or_create_global_step()

    def loss(self, x, y, loss="square"):
        kernel, bias = self.weights
        outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), kernel), bias)
        return LOSSES[loss](outputs, tf.constant(y))


def train_alone(x, y, start, steps, parts=1):
    """Fits a linear model with momentum in one process, as a reference for workers.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: [kernel, bias], the initial [features, units] and [units] weights.
        steps: number of steps.
        parts: number of parts of the batch; their gradients are averaged.

    Returns:
        dict with the [steps, parts] `losses` and the final `weights` [kernel, bias].

    Raises:
        ValueError: sizes that do not fit, if the graph shows it.
        tf.errors.InvalidArgumentError: sizes that do not fit, if only the run shows it.
    """
    server = tf.train.Server.create_local_server()  # a cluster of one
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        # --- build
        line = Line(start)
        optimizer = tf.train.MomentumOptimizer(RATE, MOMENTUM)
        # --- step
        losses = [line.loss(*part_of(x, y, i, parts)) for i in range(parts)]
        pairs = zip(*[optimizer.compute_gradients(loss) for loss in losses])
        means = [(tf.add_n([g for g, _ in p]) / parts, p[0][1]) for p in pairs]
        train_op = optimizer.apply_gradients(means, line.global_step)
        # --- run
        sess.run(tf.global_variables_initializer())
        history = [sess.run([losses, train_op])[0] for _ in range(steps)]
        # --- result
        weights = sess.run(line.weights)
    return {"losses": np.array(history, x.dtype), "weights": weights}


def train_synchronously(x, y, start, steps, workers=2):
    """Fits a linear model with momentum on several workers, with synchronous steps.

    Args:
        x: [n, features] float array; worker i has the rows i, i + workers, ….
        y: [n, units] array of the same dtype.
        start: [kernel, bias], the initial [features, units] and [units] weights.
        steps: number of steps.
        workers: number of worker processes.

    Returns:
        dict with the [steps, workers] `losses`, the final `weights` [kernel, bias] of
        each worker, the `global_step`, and `saved`, the [kernel, bias, global step] of
        the last checkpoint.

    Raises:
        RuntimeError: a task failed; the message is the end of its log.
    """
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
    """Fits a linear model with SGD on several workers, with asynchronous steps.

    Args:
        x: [n, features] float array, divided into `workers` parts.
        y: [n, units] array of the same dtype.
        start: [kernel, bias], the initial [features, units] and [units] weights.
        steps: number of steps with each part.
        workers: number of worker processes.
        servers: number of parameter servers.
        loss: "square", or "product" of outputs and targets.

    Returns:
        dict with the final `weights` [kernel, bias], the `global_step`, which counts
        the steps of all workers, and `places`, the tasks that hold kernel, bias and
        global step.

    Raises:
        RuntimeError: a task failed; the message is the end of its log.
    """
    # --- run
    results, _ = run_cluster("async", x, y, start, steps, servers, workers, loss)
    # --- result
    last = max(results, key=lambda r: r["global_step"])
    return {
        "weights": [last["kernel"], last["bias"]],
        "global_step": last["global_step"],
        "places": last["places"].tolist(),
    }


def synchronous_task(server, cluster, options, x, y, start):
    """Trains as a worker, synchronously: each step uses its part of the rows."""
    workers, index = cluster.num_tasks("worker"), options.task_index
    # --- build
    with tf.device(device_setter(cluster, index)):
        line = Line(start)
        loss = line.loss(*part_of(x, y, index, workers))
        # --- step
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.MomentumOptimizer(RATE, MOMENTUM),
            replicas_to_aggregate=workers,
            total_num_replicas=workers,
        )
        train_op = optimizer.minimize(loss, line.global_step)
        final = farewell(line)
    # --- restore
    hooks = [
        # With initial tokens, a worker may take part in a step twice.
        optimizer.make_session_run_hook(is_chief=index == 0, num_tokens=0),
        tf.train.StopAtStepHook(last_step=options.steps),
        final,
    ]
    losses = []
    with monitored_session(server, options, hooks) as sess:
        # --- run
        while not sess.should_stop():
            losses.append(sess.run([train_op, loss])[1])
    # --- result
    return dict(final.final_ops_values, losses=np.array(losses, x.dtype))


def asynchronous_task(server, cluster, options, x, y, start):
    """Trains as a worker, asynchronously: takes steps at its own pace."""
    # --- build
    with tf.device(device_setter(cluster, options.task_index)):
        line = Line(start)
        part = part_of(x, y, options.task_index, cluster.num_tasks("worker"))
        loss = line.loss(*part, loss=options.loss)
        # --- step
        # Locking is not the default: without it an update may be lost.
        optimizer = tf.train.GradientDescentOptimizer(RATE, use_locking=True)
        train_op = optimizer.minimize(loss, line.global_step)
        final = farewell(line)
    # --- restore
    with monitored_session(server, options, [final]) as sess:
        # --- run
        for _ in range(options.steps):
            sess.run(train_op)
    # --- result
    places = [tf.DeviceSpec.from_string(v.device) for v in tf.global_variables()]
    places = ["/job:%s/task:%d" % (place.job, place.task) for place in places]
    return dict(final.final_ops_values, places=places)


def device_setter(cluster, task_index):
    """Puts variables on the parameter servers in turn, all other ops on the worker."""
    worker = "/job:worker/task:%d" % task_index
    return tf.train.replica_device_setter(worker_device=worker, cluster=cluster)


def farewell(line):
    """Makes a hook that reads the weights at the end of the session."""
    step = line.global_step + 0
    with tf.control_dependencies([step]):  # the weights include all counted steps
        kernel, bias = [tf.identity(w) for w in line.weights]
    return tf.train.FinalOpsHook({"kernel": kernel, "bias": bias, "global_step": step})


def monitored_session(server, options, hooks):
    """Makes a session of the cluster; the chief initializes, restores and saves."""
    config = tf.ConfigProto(
        # It sees no other worker, so it does not wait for the others.
        device_filters=["/job:ps", "/job:worker/task:%d" % options.task_index],
        operation_timeout_in_ms=1000 * options.timeout,
    )
    with within(options.timeout):
        if options.task_index > 0:
            # MonitoredTrainingSession would check for the chief every 30 seconds.
            ready = tf.report_uninitialized_variables(tf.global_variables())
            manager = tf.train.SessionManager(ready_op=ready, recovery_wait_secs=0.1)
            manager.wait_for_session(server.target, config).close()
        return tf.train.MonitoredTrainingSession(
            master=server.target,
            is_chief=options.task_index == 0,
            checkpoint_dir=options.folder,
            hooks=hooks,
            save_checkpoint_steps=options.save_steps,
            save_summaries_steps=None,
            save_summaries_secs=None,
            log_step_count_steps=None,
            # A thread of the chief waits for gradients of a step that never runs.
            stop_grace_period_secs=1,
            config=config,
        )


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


def run_task(options):
    """Runs one task of the cluster in this process."""
    job, index = options.job_name, options.task_index
    # --- cluster
    hosts = cluster_of(options.ps_hosts, options.worker_hosts, job, index)
    cluster = tf.train.ClusterSpec(hosts["cluster"])
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    # --- work
    if job == "ps":
        server.join()  # until it is killed
    data = np.load(options.data)
    task = {"sync": synchronous_task, "async": asynchronous_task}[options.mode]
    start = [data["kernel"], data["bias"]]
    result = task(server, cluster, options, data["x"], data["y"], start)
    np.savez(options.output, **result)


def define_flags():
    """Defines the command-line flags of a task, the same for TensorFlow 1 and 2."""
    flags = tf.app.flags
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
        wait(processes[:workers], logs)
        found = [dict(np.load(path)) for path in outputs if os.path.exists(path)]
        return found, saved_in(os.path.join(folder, "model"))


def saved_in(folder):
    """Reads [kernel, bias, global step] from the last checkpoint."""
    reader = tf.train.load_checkpoint(folder)
    names = ["kernel", "bias", "global_step"]
    return [reader.get_tensor(name) for name in names]


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
    run_task(tf.app.flags.FLAGS)


if __name__ == "__main__":
    tf.disable_v2_behavior()
    define_flags()
    tf.app.run(main)
