"""`tf.contrib.learn`, `TPUEstimator`, `tfe`, `contrib.summary` → loops, strategies."""

import functools
import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.saved_models import _unpack
from v1_graph.slim_learning import write_checkpoint
from v1_graph.summaries import _by_tag, _read

__all__ = [
    "fit_and_predict",
    "train_on_tpu",
    "fit_eagerly",
    "create_restored",
    "word_ids",
    "write_curves",
    "predict_saved",
    "project",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def fit_and_predict(x, y, kernel, steps, options=()):
    """Trains a linear model, evaluates it and predicts, as `learn.Estimator` does.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        kernel: [features, units] array of the same dtype, the initial value.
        steps: list with the number of steps for each call of `fit`; a later call
            continues the training.
        options: dict with, optionally, `max_steps`: whether `steps` has the global step
            at the end of each call instead.

    Returns:
        dict with the metrics `evaluated`, the `predictions` [n, units], and the
        `kernel` after training.

    Raises:
        tf.train.NanLossDuringTrainingError: a loss is NaN (InvalidArgumentError in
            TensorFlow 2).
    """
    total = "max_steps" if dict(options).get("max_steps") else "steps"

    # --- model
    def model_fn(features, labels, mode):
        learn = tensorflow.contrib.learn
        weights = tf.get_variable("kernel", initializer=kernel)
        scores = tf.matmul(features, weights)
        if mode == learn.ModeKeys.INFER:
            return learn.ModelFnOps(mode, predictions={"scores": scores})
        loss = tf.reduce_mean(tf.square(scores - labels))
        train_op = None
        if mode == learn.ModeKeys.TRAIN:
            train_op = tf.train.GradientDescentOptimizer(0.125).minimize(
                loss, tensorflow.contrib.framework.get_global_step()
            )
        assert mode in (learn.ModeKeys.TRAIN, learn.ModeKeys.EVAL)
        return learn.ModelFnOps(mode, {"scores": scores}, loss, train_op)

    def input_fn():
        return tf.constant(x), tf.constant(y)

    # --- run
    learn = tensorflow.contrib.learn
    with tempfile.TemporaryDirectory() as model_dir:
        config = learn.RunConfig(model_dir=model_dir, save_checkpoints_steps=100)
        estimator = learn.Estimator(model_fn, model_dir, config)
        for count in steps:
            estimator.fit(input_fn=input_fn, **{total: count})
        mse = learn.MetricSpec(
            tensorflow.contrib.metrics.streaming_mean_squared_error,
            prediction_key="scores",
        )
        return {
            "evaluated": estimator.evaluate(
                input_fn=input_fn, steps=1, metrics={"mse": mse}
            ),
            "predictions": np.stack(
                [
                    row["scores"]
                    for row in estimator.predict(
                        input_fn=lambda: tf.train.limit_epochs(tf.constant(x), 1)
                    )
                ]
            ),
            "kernel": estimator.get_variable_value("kernel"),
        }


def train_on_tpu(x, y, kernel, max_steps, batch_size, tpu_name=None):
    """Trains, evaluates and predicts as `TPUEstimator` does, with or without a TPU.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        kernel: [features, units] array of the same dtype, the initial value.
        max_steps: how many steps to take.
        batch_size: rows of a step for all cores together, also in evaluation.
        tpu_name: name of a TPU, or None.

    Returns:
        dict with the metrics `evaluated`, over full batches only, and the `predictions`
        [n, units].

    Raises:
        tf.train.NanLossDuringTrainingError: a loss is NaN (InvalidArgumentError in
            TensorFlow 2).
    """
    contrib = tensorflow.contrib

    # --- model
    def model_fn(features, labels, mode, params):
        tpu = contrib.tpu
        weights = tf.get_variable("kernel", initializer=kernel)
        scores = tf.matmul(features, weights)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"scores": scores})
        loss = tf.reduce_mean(tf.square(scores - labels))
        optimizer = tf.train.GradientDescentOptimizer(0.125)
        if tpu_name:
            optimizer = tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())

        def metric_fn(labels, scores):
            return {"mae": tf.metrics.mean_absolute_error(labels, scores)}

        return tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            eval_metrics=(metric_fn, [labels, scores]),
        )

    def input_fn(params, repeat=True):
        data = tf.data.Dataset.from_tensor_slices((x, y)).repeat(None if repeat else 1)
        return data.batch(params["batch_size"], drop_remainder=repeat)

    # --- run
    with tempfile.TemporaryDirectory() as model_dir:
        resolver = None
        if tpu_name:
            resolver = contrib.cluster_resolver.TPUClusterResolver(tpu_name)
        per_host = contrib.tpu.InputPipelineConfig.PER_HOST_V2
        estimator = contrib.tpu.TPUEstimator(
            model_fn,
            use_tpu=resolver is not None,
            config=contrib.tpu.RunConfig(
                cluster=resolver,
                model_dir=model_dir,
                tpu_config=contrib.tpu.TPUConfig(
                    iterations_per_loop=100, per_host_input_for_training=per_host
                ),
            ),
            train_batch_size=batch_size,
            eval_batch_size=batch_size,
            predict_batch_size=batch_size,
        )
        estimator.train(input_fn, max_steps=max_steps)
        rows = estimator.predict(lambda params: input_fn(params, repeat=False))
        return {
            "evaluated": estimator.evaluate(input_fn, steps=len(x) // batch_size),
            "predictions": np.stack([row["scores"] for row in rows]),
        }


def eagerly(function):
    """Runs a function in eager mode, as after `tf.enable_eager_execution()`."""

    @functools.wraps(function)
    def run(*args):
        from tensorflow.contrib.eager.python import saver

        with saver.context.eager_mode():  # the rest of this process uses graphs
            return function(*args)

    return run


@eagerly
def fit_eagerly(x, y, kernel, epochs, batch_size):
    """Trains a linear model eagerly, as `tfe` programs of TensorFlow 1.5 to 1.10 do.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        kernel: [features, units] array of the same dtype, the initial value.
        epochs: number of epochs.
        batch_size: how many rows a step takes.

    Returns:
        dict with the `mean` of the losses, the `kernel` after training, its
        `predictions`, whether the mode is `eager`, and the types of the `devices`.
    """
    # --- model
    tfe = tensorflow.contrib.eager
    weights = tfe.Variable(kernel, name="kernel")

    def loss(x, y):
        return tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))

    predict = tfe.defun(lambda x: tf.matmul(x, weights))
    # --- train
    value_and_gradients = tfe.implicit_value_and_gradients(loss)
    optimizer = tf.train.AdamOptimizer(0.125)
    mean = tfe.metrics.Mean()
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).repeat(epochs)
    for rows, labels in tfe.Iterator(dataset.batch(batch_size)):
        value, gradients = value_and_gradients(rows, labels)
        optimizer.apply_gradients(gradients)
        mean(value)
    # --- results
    devices = {name.split(":")[-2] for name in tfe.list_devices()}
    return {
        "mean": mean.result().numpy(),
        "kernel": weights.numpy(),
        "predictions": predict(tf.constant(x)).numpy(),
        "eager": tfe.in_eager_mode(),
        "devices": sorted(device for device in devices if "XLA" not in device),
    }


@eagerly
def create_restored(saved, start, scope=""):
    """Makes eager variables with initial values from a graph program's checkpoint.

    Args:
        saved: {name: array}, the contents of the checkpoint.
        start: {name: array}, the variables with their own initial values.
        scope: prefix of the names in the checkpoint.

    Returns:
        {name: array}, the variables with the values of the checkpoint.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a name.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        # --- restore
        tfe = tensorflow.contrib.eager
        with tfe.restore_variables_on_create(path, lambda name: scope + name):
            variables = {
                name: tfe.Variable(value, name=name) for name, value in start.items()
            }
        return {name: variable.numpy() for name, variable in variables.items()}


def word_ids(documents, others, length, min_frequency=0):
    """Builds a vocabulary from documents and maps their words to ids.

    Args:
        documents: list of text that the vocabulary is built from.
        others: list of text.
        length: ids per document; longer ones are cut, shorter ones padded with 0.
        min_frequency: words that occur this often or less are out-of-vocabulary.

    Returns:
        dict with the int64 `ids` [documents, length]; the ids of the `others` by a
        vocabulary that was saved and restored; its `size`, "<UNK>" included; and the
        others `reversed` to text.
    """
    # --- vocabulary
    preprocessing = tensorflow.contrib.learn.preprocessing
    processor = preprocessing.VocabularyProcessor(length, min_frequency)
    ids = np.array(list(processor.fit_transform(documents)))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "vocabulary")
        processor.save(path)
        processor = preprocessing.VocabularyProcessor.restore(path)
    others = np.array(list(processor.transform(others)))
    return {
        "ids": ids,
        "others": others,
        "size": len(processor.vocabulary_),
        "reversed": list(processor.reverse(others)),
    }


def write_curves(values, step=0):
    """Writes summaries from a function of tensors, as a TPU `host_call` does.

    Args:
        values: [steps, k] float array; the mean of a row is the loss of its step.
        step: the first step.

    Returns:
        List of dicts as `summaries.read_events` returns them, by step and tag.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        summary = tensorflow.contrib.summary
        global_step = tf.Variable(step, trainable=False, dtype=tf.int64)
        before = global_step + 0
        row = tf.gather(values, before - step)
        writer = summary.create_file_writer(directory, flush_millis=1000)

        def host_call(step, row):
            with writer.as_default():
                with summary.always_record_summaries():
                    summary.scalar("loss", tf.reduce_mean(row), step=step)
                    summary.histogram("row", row, step=step)
                with summary.never_record_summaries():
                    summary.scalar("hidden", tf.reduce_max(row), step=step)
            return summary.all_summary_ops()

        with tf.control_dependencies(host_call(before, row) + [row]):
            train_op = tf.assign_add(global_step, 1)
        # --- write
        with tf.Session() as sess, writer.as_default():
            sess.run(tf.global_variables_initializer())
            summary.initialize(session=sess)
            for _ in range(len(values)):
                sess.run(train_op)
            sess.run(summary.flush())
        # --- read
        return _by_tag(_read(directory))


def predict_saved(files, inputs, signature="serving_default"):
    """Runs a signature of a SavedModel, as `contrib.predictor` does.

    Args:
        files: {path: bytes as a uint8 array}, the directory of a SavedModel of 1.15.5.
        inputs: {input of the signature: array}.
        signature: the signature's name.

    Returns:
        {output of the signature: array}.

    Raises:
        ValueError: no signature has this name, or the signature has no such input, or
            an input has another shape.
        OSError: the directory has no SavedModel.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        predict_fn = tensorflow.contrib.predictor.from_saved_model(
            _unpack(files, folder), signature_def_key=signature
        )
        # --- ask
        answer = predict_fn(inputs)
        predict_fn.session.close()
        return answer


def project(vectors, words, images=None):
    """Writes files for TensorBoard's projector: embeddings, words, and images.

    Args:
        vectors: [n, units] float32 array.
        words: list of n words.
        images: [height, width] of each image in the sprite, or None.

    Returns:
        dict with the lines of the `config`, the lines of the `metadata`, and `saved`:
        the names and shapes of the arrays in the checkpoint.
    """
    with tempfile.TemporaryDirectory() as log_dir:
        # --- files
        with open(os.path.join(log_dir, "words.tsv"), "w") as file:
            file.write("\n".join(words) + "\n")
        with tf.Graph().as_default(), tf.Session() as sess:
            embedding_var = tf.Variable(vectors, name="word_embedding")
            sess.run(embedding_var.initializer)
            tf.train.Saver().save(sess, os.path.join(log_dir, "model.ckpt"), 1)
        # --- config
        projector = tensorflow.contrib.tensorboard.plugins.projector
        config = projector.ProjectorConfig()
        embedding = config.embeddings.add()
        embedding.tensor_name = embedding_var.name
        embedding.metadata_path = "words.tsv"
        if images is not None:
            embedding.sprite.image_path = "sprite.png"
            embedding.sprite.single_image_dim.extend(images)
        summary_writer = tf.summary.FileWriter(log_dir)
        projector.visualize_embeddings(summary_writer, config)
        summary_writer.close()
        # --- read
        path = tf.train.latest_checkpoint(log_dir)
        return {**_read_text(log_dir), "saved": tf.train.list_variables(path)}


def _read_text(log_dir):
    files = {"config": "projector_config.pbtxt", "metadata": "words.tsv"}
    texts = {}
    for key, name in files.items():
        with open(os.path.join(log_dir, name)) as file:
            texts[key] = file.read().splitlines()
    return texts
