"""Strategies, and clusters of workers, in a process that is alone."""

import json
import os
from unittest import mock

import tensorflow as tf
from tensorflow.python.data.experimental.ops import distribute

from tf1to2.tests.raisers import Logged, printed, v1
from tf1to2.tests.raisers.running import mirrored
from tf1to2.tests.raisers.saved import in_folder


def step_in_a_branch():
    """Replicas that meet to apply gradients in an `if` on a tensor."""
    strategy = mirrored()
    with strategy.scope():
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        w = tf.Variable(1.0)

    @tf.function
    def train(number):
        def step():
            if number > 0:
                optimizer.apply_gradients([(tf.constant(1.0), w)])

        strategy.run(step)

    train(tf.constant(1))


def shard(dataset, policy):
    """Takes the elements of the first of two workers, as their strategy does."""
    options = tf.data.Options()
    policy = getattr(tf.data.experimental.AutoShardPolicy, policy)
    options.experimental_distribute.auto_shard_policy = policy
    list(distribute._AutoShardDataset(dataset.with_options(options), 2, 0))


def shard_one_file(path):
    tf.io.write_file(path, "a\nb\n")
    shard(tf.data.TextLineDataset([path]), "AUTO")


def start(kind, *jobs):
    """A function that makes the strategy of a task in a cluster of these jobs."""
    cluster = {job: ["localhost:23456"] for job in jobs}
    config = json.dumps({"cluster": cluster, "task": {"type": kind, "index": 0}})

    def started():
        with mock.patch.dict(os.environ, TF_CONFIG=config):
            tf.distribute.MultiWorkerMirroredStrategy()

    return started


def wait(folder):
    """Waits for a checkpoint for no time, and raises what is logged of it."""
    with mock.patch.object(tf.get_logger(), "info") as info:
        list(tf.train.checkpoints_iterator(folder, timeout=0))
    raise Logged("\n".join(call.args[0] % call.args[1:] for call in info.mock_calls))


ERRORS = {
    "merge_call` called": step_in_a_branch,
    "an unshardable": lambda: shard(tf.data.Dataset.range(4), "FILE"),
    "FILE based": in_folder(shard_one_file),
    "KeyError: 'evaluator'": printed(start("evaluator", "worker")),
    "Disallowed task": start("master", "master"),
    "not found in cluster_spec": start("chief", "worker"),
    "new checkpoint at": in_folder(wait),
    "'num_gpus'": lambda: tf.distribute.MirroredStrategy(num_gpus=4),
    "StrategyBase.reduce()": lambda: tf.distribute.get_strategy().reduce("SUM", 1.0),
    "'cluster_resolver'": tf.distribute.experimental.ParameterServerStrategy,
    "TPU Name": lambda: tf.distribute.cluster_resolver.TPUClusterResolver(""),
}
