"""`tf.contrib.learn`, `TPUEstimator`, `tfe`, `contrib.summary` → loops, strategies."""

import collections
import contextlib
import json
import os
import re
import tempfile

import numpy as np
import tensorflow as tf
from tensorboard.plugins import projector

from v2_eager.numerics import metrics, optimizers, restore
from v2_eager.numerics.canned import refuse_nan
from v2_eager.saved_models import unpack
from v2_eager.slim_learning import write_checkpoint
from v2_eager.summaries import _by_tag, read_folder, write_histogram, write_scalar

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


def fit_and_predict(x, y, kernel, steps, options=()):
    """Trains a linear model, evaluates it and predicts, as `learn.Estimator` does."""
    # --- model
    model = Line(kernel)
    global_step = tf.Variable(0, dtype=tf.int64)
    x, y = tf.constant(x), tf.constant(y)

    @tf.function
    def train_step():
        loss = optimizers.GradientDescent(0.125).minimize(
            lambda: tf.reduce_mean(tf.square(model(x) - y)), [model.kernel], global_step
        )
        refuse_nan(loss)

    # --- run
    for count in steps:
        first = 0 if dict(options).get("max_steps") else global_step.numpy()
        while global_step < first + count:
            train_step()
    mse, scores = metrics.MeanSquaredError(), model(x)
    mse.update_state(y, scores)
    loss = tf.reduce_mean(tf.square(scores - y))
    return {
        "evaluated": {
            "mse": mse.result().numpy(),
            "loss": tf.cast(loss, tf.float32).numpy(),
            "global_step": global_step.numpy(),
        },
        "predictions": scores.numpy(),
        "kernel": model.kernel.numpy(),
    }


class Line(tf.Module):
    """A linear model without a bias: a call takes [n, features] and returns [n, units].

    Args:
        kernel: [features, units] float array.
    """

    def __init__(self, kernel):
        super().__init__()
        self.kernel = tf.Variable(kernel, name="kernel")

    def __call__(self, x):
        return tf.matmul(x, self.kernel)


ITERATIONS_PER_LOOP = 100
"""Steps of one call of a `tf.function`: a call costs more than a step on a TPU."""


def train_on_tpu(x, y, kernel, max_steps, batch_size, tpu_name=None):
    """Trains, evaluates and predicts as `TPUEstimator` does, with or without a TPU."""
    # --- model
    strategy = tpu_strategy(tpu_name) if tpu_name else tf.distribute.get_strategy()
    with strategy.scope():
        model = Line(kernel)
        global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
    optimizer = optimizers.GradientDescent(0.125)

    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
            share = loss / strategy.num_replicas_in_sync  # gradients are summed
        optimizer.apply_gradients([(tape.gradient(share, model.kernel), model.kernel)])
        return loss

    @tf.function
    def train_steps(batches, count):
        losses = tf.zeros([], model.kernel.dtype)
        for _ in tf.range(count):
            loss = strategy.run(replica, next(batches))
            losses += strategy.reduce("MEAN", loss, axis=None)
            global_step.assign_add(1)
        return losses

    def answers(x, y):
        scores = model(x)
        return tf.reduce_mean(tf.square(scores - y)), scores, y

    loss, mae = metrics.Mean(), metrics.MeanAbsoluteError()

    @tf.function
    def evaluate_step(batch):
        value, *parts = strategy.run(answers, batch)
        scores, labels = (strategy.gather(part, axis=0) for part in parts)
        loss.update_state(strategy.reduce("MEAN", value, axis=None))
        mae.update_state(labels, scores)

    # --- run
    data = tf.data.Dataset.from_tensor_slices((x, y))
    batches = data.repeat().batch(batch_size, drop_remainder=True)
    batches = iter(strategy.experimental_distribute_dataset(batches))
    while (left := max_steps - global_step) > 0:
        losses = train_steps(batches, tf.minimum(left, ITERATIONS_PER_LOOP))
        refuse_nan(losses)  # outside of the loop: a TPU cannot compile an assertion
    batches = data.batch(batch_size, drop_remainder=True)
    for batch in strategy.experimental_distribute_dataset(batches):
        evaluate_step(batch)
    return {
        "evaluated": {
            "loss": loss.result().numpy(),
            "mae": mae.result().numpy(),
            "global_step": global_step.numpy(),
        },
        "predictions": model(tf.constant(x)).numpy(),
    }


def tpu_strategy(name):
    """Connects to a TPU and returns a `TPUStrategy` over its cores."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(name)
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def fit_eagerly(x, y, kernel, epochs, batch_size):
    """Trains a linear model eagerly, as `tfe` programs of TensorFlow 1.5 to 1.10 do."""
    # --- model
    weights = tf.Variable(kernel, name="kernel")

    def loss(x, y):
        return tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))

    predict = tf.function(lambda x: tf.matmul(x, weights))
    # --- train
    optimizer = optimizers.Adam(0.125)
    total, count = 0.0, 0.0
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).repeat(epochs)
    for rows, labels in dataset.batch(batch_size):
        with tf.GradientTape() as tape:
            value = loss(rows, labels)
        optimizer.apply_gradients([(tape.gradient(value, weights), weights)])
        total, count = total + float(value), count + 1
    # --- results
    return {
        "mean": np.float64(total / count),
        "kernel": weights.numpy(),
        "predictions": predict(tf.constant(x)).numpy(),
        "eager": tf.executing_eagerly(),
        "devices": sorted({d.device_type for d in tf.config.list_logical_devices()}),
    }


def create_restored(saved, start, scope=""):
    """Makes eager variables with initial values from a graph program's checkpoint."""
    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        # --- restore
        variables = {
            name: tf.Variable(value, name=name) for name, value in start.items()
        }
        restore.by_name(path, {scope + name: v for name, v in variables.items()})
        return {name: variable.numpy() for name, variable in variables.items()}


def word_ids(documents, others, length, min_frequency=0):
    """Builds a vocabulary from documents and maps their words to ids."""
    # --- vocabulary
    vocabulary = Vocabulary.learned(documents, length, min_frequency)
    ids = vocabulary.ids(documents)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "vocabulary")
        vocabulary.save(path)
        vocabulary = Vocabulary.restore(path)
    others = vocabulary.ids(others)
    return {
        "ids": ids,
        "others": others,
        "size": len(vocabulary.words),
        "reversed": vocabulary.texts(others),
    }


class Vocabulary:
    """Maps words to ids as `learn.preprocessing.VocabularyProcessor` does.

    Args:
        length: ids per document.
        words: list of the words in the order of their ids; the first is "<UNK>".
    """

    PATTERN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+")

    def __init__(self, length, words):
        self.length, self.words = length, list(words)
        self.numbers = {word: number for number, word in enumerate(words)}

    @classmethod
    def learned(cls, documents, length, min_frequency=0):
        """Numbers words by occurrence, or by frequency if `min_frequency` > 0."""
        found = [word for text in documents for word in cls.PATTERN.findall(text)]
        counts = collections.Counter(found)
        words = list(counts)
        if min_frequency > 0:
            words = [word for word in words if counts[word] > min_frequency]
            words.sort(key=lambda word: (-counts[word], word))
        return cls(length, ["<UNK>", *words])

    def ids(self, documents):
        """Returns ids, [documents, length] int64; 0: out-of-vocabulary or padding."""
        rows = np.zeros([len(documents), self.length], np.int64)
        for row, text in zip(rows, documents):
            words = self.PATTERN.findall(text)[: self.length]
            row[: len(words)] = [self.numbers.get(word, 0) for word in words]
        return rows

    def texts(self, ids):
        """Returns the documents of ids as text; each 0 becomes "<UNK>"."""
        return [" ".join(self.words[number] for number in row) for row in ids]

    def save(self, path):
        with open(path, "w") as file:
            json.dump([self.length, self.words], file)

    @classmethod
    def restore(cls, path):
        with open(path) as file:
            return cls(*json.load(file))


def write_curves(values, step=0):
    """Writes summaries from a function of tensors, as a TPU `host_call` does."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        global_step = tf.Variable(step, trainable=False, dtype=tf.int64)
        writer = tf.summary.create_file_writer(directory, flush_millis=1000)

        @tf.function
        def train_step():
            row = tf.gather(values, global_step - step)
            with writer.as_default(global_step):
                write_scalar("loss", tf.reduce_mean(row))
                write_histogram("row", row)
                with tf.summary.record_if(False):
                    write_scalar("hidden", tf.reduce_max(row))
            global_step.assign_add(1)

        # --- write
        with contextlib.closing(writer):
            for _ in range(len(values)):
                train_step()
        # --- read
        return _by_tag(read_folder(directory))


def predict_saved(files, inputs, signature="serving_default"):
    """Runs a signature of a SavedModel, as `contrib.predictor` does."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        signatures = tf.saved_model.load(unpack(files, folder)).signatures
        if signature not in signatures:
            raise ValueError(
                f"Got signature_def_key {signature!r}. Available signatures are "
                f"{[*signatures]}."
            )
        predict_fn = signatures[signature]
        # --- ask
        specs = predict_fn.structured_input_signature[1]
        if unknown := set(inputs) - set(specs):
            raise ValueError(f"Got unexpected keys in input_dict: {unknown}")
        feed = {n: tf.constant(x, specs[n].dtype) for n, x in inputs.items()}
        for name, x in feed.items():
            if not specs[name].shape.is_compatible_with(x.shape):
                raise ValueError(
                    f"Cannot feed value of shape {x.shape} for {name!r}, which has "
                    f"shape {specs[name].shape}"
                )
        return {name: y.numpy() for name, y in predict_fn(**feed).items()}


def project(vectors, words, images=None):
    """Writes files for TensorBoard's projector: embeddings, words, and images."""
    with tempfile.TemporaryDirectory() as log_dir:
        # --- files
        with open(os.path.join(log_dir, "words.tsv"), "w") as file:
            file.write("\n".join(words) + "\n")
        path = os.path.join(log_dir, "model.ckpt-1")
        restore.save(path, {"word_embedding": vectors})
        with open(os.path.join(log_dir, "checkpoint"), "w") as file:  # the state file
            file.write('model_checkpoint_path: "model.ckpt-1"\n')
        # --- config
        config = projector.ProjectorConfig()
        embedding = config.embeddings.add()
        embedding.tensor_name = "word_embedding:0"
        embedding.metadata_path = "words.tsv"
        if images is not None:
            embedding.sprite.image_path = "sprite.png"
            embedding.sprite.single_image_dim.extend(images)
        projector.visualize_embeddings(log_dir, config)
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
