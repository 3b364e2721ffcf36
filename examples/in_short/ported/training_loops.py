"""A loop with hooks and checkpoints."""

import tempfile

import tensorflow as tf
from legacy_numerics import GradientDescent


def training_loops(start):
    with tempfile.TemporaryDirectory() as folder:
        # [in short
        w = tf.Variable(start, name="w")
        step = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
        optimizer = GradientDescent(0.1)

        @tf.function
        def train_step():
            optimizer.minimize(lambda: tf.reduce_sum(tf.square(w)), [w], step)

        checkpoint = tf.train.Checkpoint(w=w, step=step)
        manager = tf.train.CheckpointManager(
            checkpoint, folder, max_to_keep=5, step_counter=step, checkpoint_interval=2
        )
        manager.restore_or_initialize()
        while step < 5:
            train_step()
            manager.save(step)
        # in short]
        return w.numpy()
