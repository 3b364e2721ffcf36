"""`DNNClassifier`, `LinearClassifier`, `DNNLinearCombinedClassifier`, regressors."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from v2_eager.keras_training.callbacks import NanGuard
from v2_keras.basics import Losses
from v2_keras.optimizers import OPTIMIZERS, slots_of

__all__ = [
    "linear_classifier",
    "linear_regressor",
    "dnn_classifier",
    "dnn_regressor",
]

REDUCTIONS = {
    "weighted_sum": "sum",
    "weighted_sum_over_batch_size": "sum_over_batch_size",
    "weighted_mean": "mean_with_sample_weight",
}
"""{reduction of TensorFlow 1: its name in Keras}; Keras has none by nonzero weights."""
OPTIONS = ["optimizer", "weight_column", "loss_reduction"]


@keras.saving.register_keras_serializable("v2_keras")
class SquaredError(keras.losses.Loss):
    """Squared error with the same reduction over the outputs as over the rows.

    If it sums over the rows, it sums over the outputs of a row. Otherwise it averages.
    `keras.losses.MeanSquaredError` always takes the mean over the last axis. A call
    takes labels and outputs of the same size, [rows, width].
    """

    def call(self, labels, outputs):
        labels = keras.ops.reshape(labels, keras.ops.shape(outputs))
        reduce = keras.ops.sum if self.reduction == "sum" else keras.ops.mean
        return reduce(keras.ops.square(outputs - labels), axis=-1)

    def get_config(self):  # Keras' own config has no dtype
        return {**super().get_config(), "dtype": self.dtype}


def classes_of(options):
    """Returns (number of logits, loss) of a classifier."""
    refuse_others(options, "n_classes", "label_vocabulary")
    classes = options.get("n_classes", 2)
    if classes == 2:
        return 1, keras.losses.BinaryCrossentropy(True, reduction=reduction(options))
    return classes, keras.losses.SparseCategoricalCrossentropy(
        True, reduction=reduction(options)
    )


def numbers_of(options):
    """Returns (number of outputs, loss) of a regressor."""
    refuse_others(options, "label_dimension")
    width = options.get("label_dimension", 1)
    return width, SquaredError(reduction=reduction(options))


def refuse_others(options, *names):
    """Raises a TypeError for options that this page would ignore silently."""
    if others := sorted(set(options) - {*OPTIONS, *names}):
        raise TypeError(f"options without a Keras equivalent: {', '.join(others)}")


def reduction(options):
    """Returns Keras' name of the option `loss_reduction`, a sum by default."""
    name = options.get("loss_reduction", "weighted_sum")
    if name not in REDUCTIONS:
        raise ValueError(f"Invalid loss_reduction for Keras: {name}")
    return REDUCTIONS[name]


def ids_of(labels, options):
    """Converts labels to class ids, and checks them, because Keras does not.

    Raises:
        ValueError: a label is not a class or has a wrong dtype; `n_classes` below 2.
        tf.errors.InvalidArgumentError: a word that is not in the vocabulary.
    """
    classes = options.get("n_classes", 2)
    if classes < 2:
        raise ValueError(f"n_classes must be at least 2, not {classes}")
    if "label_vocabulary" in options:
        lookup = layers.StringLookup(
            vocabulary=options["label_vocabulary"], num_oov_indices=0
        )
        labels = lookup(labels).numpy()
    kinds = "biuf" if classes == 2 else "iu"  # or a probability
    if labels.dtype.kind not in kinds:
        raise ValueError(f"Labels dtype should be integer, not {labels.dtype}")
    if not ((labels >= 0) & (labels <= classes - 1)).all():
        raise ValueError(f"Labels must be >= 0 and <= n_classes - 1, {classes - 1}")
    return labels


def made(optimizer, rate):
    """Makes an optimizer with the old defaults: accumulator value 0.1, no epsilon."""
    if isinstance(optimizer, str):
        return OPTIMIZERS[optimizer.replace("SGD", "GradientDescent")](rate)
    name, arguments = optimizer
    return OPTIMIZERS[name](**arguments)


def inputs_of(features, options):
    """Returns {name: Keras input}, sorted by name, without the row weights."""
    names = sorted(set(features) - {options.get("weight_column")})
    return {n: keras.Input(features[n].shape[1:] or [1], name=n) for n in names}


def fitted(model, features, labels, steps, batch_size, options):
    """Fits the model and returns the losses before each step.

    Raises:
        FloatingPointError: a loss is NaN. `fit` alone would continue.
        ValueError: `steps` below 1.
    """
    if steps < 1:  # with endless data `fit` would never stop
        raise ValueError(f"Must specify steps > 0, given: {steps}")
    labels = labels.astype(model.output.dtype) if labels.dtype.kind == "f" else labels
    data = [{name: column(features[name]) for name in model.input}, labels]
    if "weight_column" in options:
        data.append(features[options["weight_column"]])
    rows = tf.data.Dataset.from_tensor_slices(tuple(data))
    history = Losses()
    model.fit(
        rows.repeat().batch(batch_size),
        steps_per_epoch=steps,
        shuffle=False,
        verbose=0,
        callbacks=[history, NanGuard()],
    )
    return list(np.float32(history.losses))


def column(x):
    return x if x.ndim > 1 else x[:, None]


def old_names(model, named, place):
    """Returns {name in TensorFlow 1: variable} of the weights, slots and step."""
    weights = {named(weight): weight for weight in model.weights}
    trained = {named(weight): weight for weight in model.trainable_weights}
    found = weights | {"global_step": model.optimizer.iterations}
    for name, slot in slots_of(model.optimizer, trained).items():
        weight, _, optimizer = name.rpartition("/")
        found[f"{weight}/{place}/{optimizer}"] = slot
    return found


def linear(units_and_loss, features, labels, steps, batch_size, options):
    options, (units, loss) = dict(options), units_and_loss(dict(options))
    # --- build
    inputs = inputs_of(features, options)
    joined = [*inputs.values()]
    joined = joined[0] if len(joined) == 1 else layers.Concatenate()(joined)
    line = layers.Dense(units, kernel_initializer="zeros", name="linear_model")
    model = keras.Model(inputs, line(joined))
    rate, optimizer = 0.2, options.get("optimizer", "Ftrl")
    if optimizer is None:
        rate, optimizer = min(rate, len(inputs) ** -0.5), "Ftrl"
    model.compile(made(optimizer, rate), loss)
    # --- run
    losses = fitted(model, features, labels, steps, batch_size, options)
    names = {"kernel": "weights", "bias": "linear/linear_model/bias_weights"}
    found = old_names(model, lambda weight: names[weight.name], "part_0")
    variables = {}
    ends = np.cumsum([x.shape[1] for x in inputs.values()])[:-1]
    for name, variable in found.items():
        value = variable.numpy()
        if not name.startswith("weights"):
            variables[name] = value
            continue
        # One kernel contains the weights of all columns.
        for key, part in zip(inputs, np.split(value, ends)):
            variables[f"linear/linear_model/{key}/{name}"] = part
    return {"losses": losses, "variables": variables}


def linear_classifier(features, labels, steps, batch_size, options=()):
    """Trains a linear classifier with Ftrl; rows are repeated and not shuffled.

    Raises:
        FloatingPointError: a loss is NaN. All functions of this page raise it.
        TypeError: an unknown option. All functions of this page raise it.
        ValueError: `steps` below 1; a label is not a class (InvalidArgumentError in
            TensorFlow 1) or has a wrong dtype.
        tf.errors.InvalidArgumentError: a word that is not in the vocabulary.
    """
    labels = ids_of(labels, dict(options))
    return linear(classes_of, features, labels, steps, batch_size, options)


def linear_regressor(features, labels, steps, batch_size, options=()):
    """Trains a linear regressor with Ftrl; rows are repeated and not shuffled."""
    return linear(numbers_of, features, labels, steps, batch_size, options)


def dnn(
    units_and_loss, features, labels, hidden_units, start, steps, batch_size, options
):
    options = dict(options)
    batch_norm = options.pop("batch_norm", False)
    units, loss = units_and_loss(options)
    # --- build
    inputs = inputs_of(features, options)
    net = layers.Concatenate()([*inputs.values()])
    for i, size in enumerate(hidden_units):
        net = layers.Dense(size, "relu", name=f"hiddenlayer_{i}")(net)
        if batch_norm:
            net = layers.BatchNormalization(momentum=0.999, name=f"batchnorm_{i}")(net)
    model = keras.Model(inputs, layers.Dense(units, name="logits")(net))
    model.compile(made(options.get("optimizer", "Adagrad"), 0.05), loss)
    model.optimizer.build(model.trainable_variables)

    def named(weight):
        layer, name = weight.path.split("/")[-2:]
        if layer.startswith("batchnorm"):
            layer = layer.replace("batchnorm", "hiddenlayer") + "/" + layer
        return f"dnn/{layer}/{name}"

    found = old_names(model, named, "t_0")
    for name, value in start.items():
        found[name].assign(value)
    # --- run
    losses = fitted(model, features, labels, steps, batch_size, options)
    return {
        "losses": losses,
        "variables": {name: variable.numpy() for name, variable in found.items()},
    }


def dnn_classifier(
    features, labels, hidden_units, start, steps, batch_size, options=()
):
    """Trains a DNN classifier with Adagrad, starting from checkpoint weights.

    Keras saves no powers of Adam's betas: it computes them from the step.
    """
    labels = ids_of(labels, dict(options))
    arguments = features, labels, hidden_units, start, steps, batch_size
    return dnn(classes_of, *arguments, options)


def dnn_regressor(features, labels, hidden_units, start, steps, batch_size, options=()):
    """Trains a DNN regressor with Adagrad, starting from checkpoint weights.

    Keras has no proximal Adagrad.
    """
    arguments = features, labels, hidden_units, start, steps, batch_size
    return dnn(numbers_of, *arguments, options)
