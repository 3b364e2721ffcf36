"""A loop with hooks and checkpoints."""

import tempfile

import tensorflow as tf


def training_loops(start):
    with tempfile.TemporaryDirectory() as folder:
        # [in short
        w = tf.get_variable("w", initializer=start)
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(w))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

        hooks = [tf.train.StopAtStepHook(last_step=5)]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2
        ) as sess:
            while not sess.should_stop():
                sess.run(train_op)
        # in short]
        return tf.train.load_variable(folder, "w")
