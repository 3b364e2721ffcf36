"""`tf.contrib.framework`, `factorization.KMeans`, `model_pruning` → plain loops."""

import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.slim_learning import write_checkpoint
from v1_graph.summaries import _read

__all__ = [
    "average_checkpoints",
    "restore_model",
    "fetch",
    "feed_by_specs",
    "make_centered",
    "write_old_summaries",
    "cluster",
    "speech_features",
    "train_pruned",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def average_checkpoints(checkpoints):
    """Averages the variables of several checkpoints into a new checkpoint.

    Args:
        checkpoints: list of {name: array}, the contents of the checkpoints.

    Returns:
        {name: array}, the contents of the new checkpoint: means, in the dtypes of the
        last checkpoint, and a `global_step` of 0.

    Raises:
        tf.errors.NotFoundError: a later checkpoint lacks a name of the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, saved in enumerate(checkpoints):
            os.mkdir(os.path.join(folder, str(i)))
            paths.append(write_checkpoint(saved, os.path.join(folder, str(i))))
        # --- sum
        values, dtypes = {}, {}
        for name, shape in tensorflow.contrib.framework.list_variables(paths[0]):
            if not name.startswith("global_step"):
                values[name] = np.zeros(shape)
        for path in paths:
            reader = tensorflow.contrib.framework.load_checkpoint(path)
            for name in values:
                tensor = reader.get_tensor(name)
                dtypes[name] = tensor.dtype
                values[name] += tensor
        # --- mean
        for name in values:
            values[name] /= len(paths)
        # --- write
        with tf.Graph().as_default(), tf.Session() as sess:
            variables = [
                tf.get_variable(name, shape=values[name].shape, dtype=dtypes[name])
                for name in values
            ]
            placeholders = [tf.placeholder(v.dtype, v.shape) for v in variables]
            assign_ops = [tf.assign(*pair) for pair in zip(variables, placeholders)]
            tf.Variable(0, name="global_step", trainable=False, dtype=tf.int64)
            sess.run(tf.global_variables_initializer())
            for inputs, op, value in zip(placeholders, assign_ops, values.values()):
                sess.run(op, {inputs: value})
            averaged = os.path.join(folder, "averaged.ckpt")
            averaged = tf.train.Saver().save(sess, averaged, global_step=0)
        # --- read
        names = [n for n, _ in tensorflow.contrib.framework.list_variables(averaged)]
        load = tensorflow.contrib.framework.load_variable
        return {name: load(averaged, name) for name in names}


def restore_model(saved, start, model, steps):
    """Restores only the model variables from a checkpoint, not the others.

    Args:
        saved: {name: array}, the contents of a checkpoint.
        start: {name: array}, the initial values of this program's variables.
        model: list of the names in `start` that belong to the model.
        steps: how many times to increment the global step.

    Returns:
        {name: array}, the variables after this, including `global_step`.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a name of the model.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = write_checkpoint(saved, folder)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            framework = tensorflow.contrib.framework
            global_step = tensorflow.contrib.slim.create_global_step()
            for name, array in start.items():
                variable = tf.get_variable(name, initializer=array)
                if name in model:
                    framework.add_model_variable(variable)
            # --- restore
            saver = tf.train.Saver(framework.get_model_variables())
            sess.run(tf.global_variables_initializer())
            saver.restore(sess, path)
            # --- count
            step = tf.assign_add(global_step, 1)
            for _ in range(steps):
                sess.run(step)
            return sess.run({v.op.name: v for v in framework.get_variables()})


def fetch(x, settings):
    """Evaluates the tensors in a nested structure and keeps its other leaves.

    Args:
        x: [n, features] float array.
        settings: nested dicts and lists of numbers and text.

    Returns:
        dict with the `moments` of the columns, a pair of [features], the number of
        `rows`, a variable, and the unchanged `settings`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        framework = tensorflow.contrib.framework
        inputs, rows = tf.constant(x), tf.Variable(len(x))
        report = {"rows": rows, "moments": tf.nn.moments(inputs, 0)}
        report["settings"] = settings
        # --- fetch
        leaves = framework.nest.flatten(report)
        tensors = [leaf for leaf in leaves if framework.is_tensor(leaf)]
        sess.run(tf.global_variables_initializer())
        values = iter(sess.run(tensors))  # `run` refuses numbers and text
        leaves = [next(values) if framework.is_tensor(x) else x for x in leaves]
        return framework.nest.pack_sequence_as(report, leaves)


def feed_by_specs(batches):
    """Sums nested batches of any row count, with specs made from the first batch.

    Args:
        batches: list of nested dicts and lists of [n, ...] arrays; n may vary.

    Returns:
        List of the same structures with the sums over the rows.

    Raises:
        ValueError: the rows of a later batch have another shape (TypeError in
            TensorFlow 2).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- specs
        nest = tensorflow.contrib.framework.nest

        def spec_of(array):
            shape = [None] + list(array.shape[1:])
            return tensorflow.contrib.framework.TensorSpec(shape, array.dtype)

        specs = nest.map_structure(spec_of, batches[0])
        # --- build
        inputs = nest.map_structure(lambda s: tf.placeholder(s.dtype, s.shape), specs)
        sums = nest.map_structure(lambda rows: tf.reduce_sum(rows, 0), inputs)
        # --- run
        keys = nest.flatten(inputs)
        return [sess.run(sums, dict(zip(keys, nest.flatten(b)))) for b in batches]


def make_centered(decay=0.9, name="centered"):
    """Makes a layer that subtracts the batch mean in training, else the moving mean.

    Args:
        decay: share of the moving mean that an update keeps.
        name: scope of the variable `moving_mean`.

    Returns:
        Callable. It takes x, [n, units] floats, and `is_training`, a bool or a bool
        tensor. It returns a tensor of the same shape.
    """

    def center(x, is_training):
        moving_mean = tf.get_variable(
            "moving_mean", x.shape[1:], x.dtype, tf.zeros_initializer(), trainable=False
        )

        def by_batch():
            mean = tf.reduce_mean(x, 0)
            update = tf.assign_sub(moving_mean, (1 - decay) * (moving_mean - mean))
            with tf.control_dependencies([update]):
                return x - mean

        return tensorflow.contrib.framework.smart_cond(
            is_training, by_batch, lambda: x - moving_mean
        )

    return tf.make_template(name, center)


def write_old_summaries(tags, values):
    """Writes summaries as ops before TensorFlow 1.0 did: without scopes in the tags.

    Args:
        tags: list of k distinct texts.
        values: [steps, k] float array, a value for each tag.

    Returns:
        List of dicts as `summaries.read_events` returns them.

    Raises:
        tf.errors.InvalidArgumentError: a value is NaN or infinite.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        row = tf.placeholder(values.dtype, [len(tags)])
        with tf.name_scope("train"):  # does not become part of the tags
            tensorflow.contrib.deprecated.scalar_summary(tags, row)
            total = tf.reduce_sum(row)
            tensorflow.contrib.deprecated.scalar_summary("cost (total)", total)
            tensorflow.contrib.deprecated.histogram_summary("costs", row)
        merged = tensorflow.contrib.deprecated.merge_all_summaries()
        # --- write
        with tf.Session() as sess, tf.summary.FileWriter(directory) as writer:
            for step in range(len(values)):
                writer.add_summary(sess.run(merged, {row: values[step]}), step)
        # --- read
        return _read(directory)


def cluster(x, centers, steps, cosine=False):
    """Clusters rows by full-batch k-means from given initial centers.

    Args:
        x: [n, features] float32 array.
        centers: [k, features] float32 array, the initial centers.
        steps: how many steps to take.
        cosine: whether to use the cosine distance, not the squared distance.

    Returns:
        dict with the mean `distances` before each step, the `assigned` center of each
        row in the last step, [n] int64, and the `centers` after the last step.
    """
    from tensorflow.contrib.factorization.python.ops import clustering_ops

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        metric = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
        if cosine:
            metric = clustering_ops.COSINE_DISTANCE
        kmeans = clustering_ops.KMeans(
            tf.constant(x),
            len(centers),
            initial_clusters=centers,
            distance_metric=metric,
        )
        _, assigned, distances, _, init_op, train_op = kmeans.training_graph()
        mean = tf.reduce_mean(distances)
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(init_op)
        means = []
        for _ in range(steps):
            last, distance, _ = sess.run([assigned[0], mean, train_op])
            means.append(distance)
        (centers,) = [v for v in tf.global_variables() if v.op.name == "clusters"]
        return {
            "distances": np.stack(means),
            "assigned": last,
            "centers": sess.run(centers),
        }


def speech_features(samples, rate, window, stride, count=13):
    """Computes spectrograms and MFCCs of audio, as the speech commands example does.

    Args:
        samples: [n, 1] float32 tensor, from -1 to 1.
        rate: samples per second.
        window: samples per frame.
        stride: samples from one frame to the next.
        count: number of coefficients of a frame.

    Returns:
        (squared magnitudes of the spectra, [1, frames, bins]; MFCCs, [1, frames,
        count]), float32.

    Raises:
        ValueError: samples without a channel dimension.
    """
    from tensorflow.contrib.framework.python.ops import audio_ops as contrib_audio

    spectrogram = contrib_audio.audio_spectrogram(
        samples, window_size=window, stride=stride, magnitude_squared=True
    )
    mfcc = contrib_audio.mfcc(spectrogram, rate, dct_coefficient_count=count)
    return spectrogram, mfcc


def train_pruned(x, y, start, steps, spec, rate=0.0625):
    """Trains a linear model and gradually prunes its smallest weights.

    Args:
        x: [n, features] float32 array.
        y: [n, units] float32 array.
        start: {"kernel": [features, units] array, "bias": [units] array}.
        steps: how many steps to take by gradient descent, all on the same rows.
        spec: dict of hyper-parameters of the pruning, such as target_sparsity (default
            0.5), sparsity_function_end_step (100), pruning_frequency (10),
            threshold_decay (0.0) and initial_sparsity (0.0).
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, the masked `shares` of the kernel after
        each step, [steps], and the `variables` by name after training.

    Raises:
        ValueError: a target_sparsity of 1 or more, or another invalid number.
    """
    pruning = tensorflow.contrib.model_pruning
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        kernel = tf.get_variable("kernel", initializer=start["kernel"])
        bias = tf.get_variable("bias", initializer=start["bias"])
        masked = pruning.apply_mask(kernel, "kernel")
        outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), masked), bias)
        loss = tf.reduce_mean(tf.squared_difference(outputs, tf.constant(y)))
        # --- step
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(loss, global_step, [kernel, bias])
        # --- prune
        spec = pruning.get_pruning_hparams().override_from_dict(spec)
        pruner = pruning.Pruning(spec, global_step)
        mask_update_op = pruner.conditional_mask_update_op()
        share = pruning.get_weight_sparsity()[0]
        # --- run
        sess.run(tf.global_variables_initializer())
        losses, shares = [], []
        for _ in range(steps):
            losses.append(sess.run([loss, train_op])[0])
            sess.run(mask_update_op)
            shares.append(sess.run(share))
        found = {v.op.name: v for v in tf.global_variables()}
        return {
            "losses": np.stack(losses),
            "shares": np.stack(shares),
            "variables": sess.run(found),
        }
