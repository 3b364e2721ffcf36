"""`tf.estimator.Estimator`, `model_fn`, `input_fn` → a module, a dataset, a loop."""

import math
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import callbacks, layers

from v2_eager.estimators import (
    Settings,
    eval_batches,
    refuse_zero,
    steps_to_take,
    to_examples,
)
from v2_eager.keras_training.callbacks import NanGuard
from v2_eager.numerics import initializers, randomness
from v2_keras import optimizers
from v2_keras.basics import Losses
from v2_keras.losses import class_numbers
from v2_keras.training_loops import Saver

__all__ = [
    "train",
    "evaluate",
    "predict",
    "serve",
    "train_and_evaluate",
]

SEED = 5  # the `tf_random_seed` of `RunConfig`


@keras.saving.register_keras_serializable("v2_keras")
class BatchLoss(keras.metrics.Mean):
    """Metric: the mean of the batch losses, unlike Keras' `loss`, a mean over all rows.

    It ignores sample weights. `update_state` takes labels, [batch] ints, and logits,
    [batch, classes].
    """

    def update_state(self, labels, logits, sample_weight=None):
        loss = keras.losses.sparse_categorical_crossentropy(labels, logits, True)
        super().update_state(keras.ops.mean(loss))


def make_model(features, hparams):
    """Makes and compiles dense layers with the initial weights of TensorFlow 1.

    They compute in the dtype of the features. Keras' default is float32 for all.
    """
    dtype = features.dtype.name
    model = keras.Sequential([keras.Input(features.shape[1:], dtype=dtype, name="x")])
    for number, units in enumerate([*hparams.hidden, hparams.classes]):
        last = number == len(hparams.hidden)
        layer = layers.Dense(
            units,
            None if last else hparams.activation,
            name="scores" if last else f"hidden_{number}",
            dtype=dtype,
        )
        model.add(layer)
        # With the function as initializer, a saved model could not be loaded.
        seeds = randomness.kernel_seeds(SEED, number)
        draw = initializers.glorot_uniform(seed=randomness.stream(*seeds))
        layer.kernel.assign(draw(layer.kernel.shape, dtype))
    model.compile(
        keras.optimizers.SGD(hparams.rate, hparams.momentum),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True, dtype=dtype),
        metrics=["accuracy", BatchLoss(name="batch_loss")],
    )
    model.optimizer.build(model.trainable_variables)
    return model


def old_names(model):
    """Returns {name in TensorFlow 1: variable} of weights, slots and step."""
    return optimizers.old_names(model, lambda w: "/".join(w.path.split("/")[-2:]))


def train_batches(data, hparams):
    """Repeats the rows without end; `steps_per_epoch` ends each epoch."""
    class_numbers(data[1])
    dataset = tf.data.Dataset.from_tensor_slices(data)
    if hparams.shuffle:
        tf.random.set_seed(SEED)
        dataset = dataset.shuffle(100, seed=7, reshuffle_each_iteration=False)
    return dataset.repeat().batch(hparams.batch_size)


def trained(data, hparams, steps):
    model = make_model(data[0], hparams)
    if steps:
        batches, count = train_batches(data, hparams), steps_to_take(0, steps)
        model.fit(
            batches,
            steps_per_epoch=count,
            shuffle=False,
            verbose=0,
            callbacks=[NanGuard()],
        )
    return model


class History(Losses):
    """Callback that collects the loss of every step and the weights after it.

    It replaces a hook. `keras.callbacks.History` has only the mean of each epoch.

    Attributes:
        weights: list of `model.get_weights()`, one for each step.
    """

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self.weights.append(self.model.get_weights())


def train(data, runs, hparams=""):
    """Trains in several runs, each of which resumes from the last checkpoint.

    For a compiled model, `save_weights` also writes the slots and the step.

    Raises:
        FloatingPointError: a loss is NaN. All functions of this file raise it.
        TypeError: labels are floats, which Keras would truncate. All functions of this
            file raise it.
    """
    hparams = Settings().parse(hparams)
    history, steps = History(), []
    with tempfile.TemporaryDirectory() as model_dir:
        path = os.path.join(model_dir, "model.weights.h5")
        for run in runs:
            model = make_model(data[0], hparams)
            if os.path.exists(path):
                model.load_weights(path)
            count = steps_to_take(model.optimizer.iterations.numpy(), **run)
            if count:
                model.fit(
                    train_batches(data, hparams),
                    steps_per_epoch=count,
                    shuffle=False,
                    verbose=0,
                    callbacks=[
                        history,
                        NanGuard(),
                        callbacks.ModelCheckpoint(path, save_weights_only=True),
                    ],
                )
            steps.append(model.optimizer.iterations.numpy())
    return {
        "losses": list(np.array(history.losses, data[0].dtype)),
        "weights": history.weights,
        "steps": steps,
        "names": sorted(old_names(model)),
    }


def evaluated(model, logs, prefix=""):
    """Turns the logs of an evaluation into the dict that an Estimator returned."""
    return {
        "loss": np.float32(logs[prefix + "batch_loss"]),
        "accuracy": np.float32(logs[prefix + "accuracy"]),
        "global_step": model.optimizer.iterations.numpy(),
    }


def evaluate(data, eval_data, steps, eval_steps=None, hparams=""):
    """Trains, then computes mean loss and accuracy on other data.

    The loss of Keras is a mean over rows, the loss of an Estimator over batches.
    """
    hparams = Settings().parse(hparams)
    class_numbers(eval_data[1])
    batches = eval_batches(eval_data, hparams)
    if eval_steps is not None:
        refuse_zero("steps", eval_steps)
        batches = batches.take(eval_steps)  # `steps=` would warn if it is too large
    model = trained(data, hparams, steps)
    if not len(batches):  # without rows Keras warns, and returns nothing
        return evaluated(model, {"batch_loss": 0, "accuracy": 0})
    return evaluated(model, model.evaluate(batches, verbose=0, return_dict=True))


def with_predictions(model):
    """Adds the outputs that a `model_fn` returned for PREDICT to a model."""
    (logits,) = model.outputs
    classes = keras.ops.cast(keras.ops.argmax(logits, axis=1), "int64")
    probabilities = keras.ops.softmax(logits)
    outputs = {"classes": classes, "probabilities": probabilities}
    return keras.Model(model.inputs, outputs)


def predict(data, features, steps, hparams=""):
    """Trains, then predicts classes and probabilities."""
    hparams = Settings().parse(hparams)
    model = with_predictions(trained(data, hparams, steps))
    batches = eval_batches(features, hparams)
    if not len(batches):  # without rows `predict` raises another error
        return []
    columns = model.predict(batches, verbose=0)
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def serve(data, features, steps, hparams=""):
    """Trains, exports a SavedModel, loads it, and calls each of its signatures.

    `model.export` writes one signature; an `ExportArchive` can have several.
    """
    if not steps:
        raise ValueError("Couldn't find trained model")
    model = with_predictions(trained(data, Settings().parse(hparams), steps))

    # --- signatures
    def predict(x):
        return model(x)

    def classify(x):
        return {"classes": model(x)["classes"]}

    def on_examples(function):
        spec = {"x": tf.io.FixedLenFeature(features.shape[1:], tf.float32)}

        def parsed(examples):
            x = tf.io.parse_example(examples, spec)["x"]
            return function(tf.cast(x, features.dtype))

        return parsed

    rows = tf.TensorSpec([None, *features.shape[1:]], features.dtype, name="x")
    examples = tf.TensorSpec([None], tf.string, name="examples")
    # --- export
    with tempfile.TemporaryDirectory() as path:
        archive = keras.export.ExportArchive()
        archive.track(model)
        archive.add_endpoint("serving_default", on_examples(predict), [examples])
        archive.add_endpoint("classes", on_examples(classify), [examples])
        archive.add_endpoint("raw:serving_default", predict, [rows])
        archive.add_endpoint("raw:classes", classify, [rows])
        archive.write_out(path, verbose=False)
        # --- load
        loaded = tf.saved_model.load(path)
        # --- ask
        given = {"examples": to_examples(features), "x": tf.constant(features)}
        signatures, answers = {}, {}
        for name, function in sorted(loaded.signatures.items()):
            inputs = function.structured_input_signature[1]
            outputs = function(**{key: given[key] for key in inputs})
            signatures[name] = [sorted(inputs), sorted(outputs)]
            answers[name] = {key: value.numpy() for key, value in outputs.items()}
        return signatures, answers


class StopAtStep(callbacks.Callback):
    """Callback that ends the training at a step, even within an epoch.

    Args:
        last_step: the step of the optimizer to end at. If it is already past when `fit`
            begins, one more step runs.

    Raises:
        ValueError: from `fit`: there are several steps per execution, so that training
            may pass `last_step`.
    """

    def __init__(self, last_step):
        super().__init__()
        self.last_step = last_step

    def on_train_begin(self, logs=None):
        if self.model.steps_per_execution != 1:
            raise ValueError("steps_per_execution must be 1, to stop at last_step")

    def on_train_batch_end(self, batch, logs=None):
        if self.model.optimizer.iterations >= self.last_step:
            self.model.stop_training = True


def train_and_evaluate(
    data, eval_data, max_steps, save_every, patience=None, keep=5, hparams=""
):
    """Trains, evaluates at every checkpoint, and stops early without a lower loss.

    An epoch is the time between two evaluations, and patience is a number of epochs.
    Keras stops after two epochs at the earliest, for any patience.
    """
    refuse_zero("max_steps", max_steps)
    refuse_zero("save_every", save_every)
    class_numbers(eval_data[1])
    hparams = Settings().parse(hparams)
    metrics, evaluation = [], eval_batches(eval_data, hparams)

    def collect(epoch, logs):
        if not len(evaluation):  # without rows Keras logs nothing: callbacks share logs
            logs.update({"val_batch_loss": 0.0, "val_accuracy": 0.0})
        metrics.append(evaluated(model, logs, "val_"))

    # --- build
    with tempfile.TemporaryDirectory() as model_dir:
        model = make_model(data[0], hparams)
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(model=model),
            model_dir,
            keep,
            checkpoint_name="model.ckpt",
            step_counter=model.optimizer.iterations.value,
            checkpoint_interval=save_every,
        )
        collector = callbacks.LambdaCallback(on_epoch_end=collect)
        hooks = [NanGuard(), StopAtStep(max_steps), Saver(manager), collector]
        if patience is not None:
            evaluations = math.ceil(patience / save_every)
            stop = callbacks.EarlyStopping("val_batch_loss", 0, evaluations, mode="min")
            hooks.append(stop)
        # --- loop
        model.fit(
            train_batches(data, hparams),
            epochs=math.ceil(max_steps / save_every),
            steps_per_epoch=save_every,
            validation_data=evaluation if len(evaluation) else None,
            shuffle=False,
            verbose=0,
            callbacks=hooks,
        )
        # --- checkpoints
        names = [path.split("/")[-1] for path in manager.checkpoints]
    return {"metrics": metrics, "result": metrics[-1], "checkpoints": names}
