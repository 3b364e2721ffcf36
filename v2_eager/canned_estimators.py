"""`DNNClassifier`, `LinearClassifier`, `DNNLinearCombinedClassifier`, regressors."""

import math
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.feature_columns import Vocabulary, bucket_of, combine, crossed, present
from v2_eager.numerics import canned, optimizers, restore
from v2_eager.slim_learning import write_checkpoint

__all__ = [
    "linear_classifier",
    "linear_regressor",
    "dnn_classifier",
    "dnn_regressor",
    "wide_and_deep",
    "baseline_classifier",
    "evaluate",
    "predict",
    "warm_start",
]


def numeric(name, scale=1.0):
    """A column of numbers: [n, size] float32 of [n, size] numbers, or of n."""
    return lambda features: canned.column(features[name]) / scale


def numeric_columns(features, options):
    weight = dict(options).get("weight_column")
    return {
        name: (numeric(name), math.prod(x.shape[1:]))
        for name, x in features.items()
        if name != weight
    }


def made(optimizer, rate, scope=""):
    """An optimizer of a name and this rate, or of [name, dict of its arguments].

    In a checkpoint its slots are "…/weights/part_0/Ftrl" and "…/kernel/t_0/Adagrad": of
    the name of a part as many letters are left as the scope has.
    """
    name, arguments = optimizer, {"learning_rate": rate}
    if not isinstance(optimizer, str):
        name, arguments = optimizer
    name = name.replace("SGD", "GradientDescent")
    place = "part_0/"[len("part_0/") - len(scope) :]
    with tf.name_scope(scope + "head"):  # of Adam's powers
        return getattr(optimizers, name)(**arguments, name=place + name)


HEADS = {"classifier": canned.classifier_head, "regressor": canned.RegressionHead}


def linear(kind, columns, optimizer="Ftrl", weight_column=None, **options):
    head, rate = HEADS[kind](**options), 0.2
    if optimizer is None:  # and only then: in 1.15 the default was a name, "Ftrl"
        optimizer, rate = "Ftrl", min(0.2, 1 / math.sqrt(len(columns)))
    model = canned.Linear(columns, head.logits_dimension)
    parts = [(model, made(optimizer, rate, "linear/"))]
    return canned.Estimator(head, parts, weight_column)


def linear_classifier(features, labels, steps, batch_size, options=()):
    """Trains a linear classifier by Ftrl, the rows in their order, over and over.

    Args:
        features: {name: [n] or [n, size] float array}.
        labels: [n] array of classes: ints, or strings of the `label_vocabulary`.
        steps: how many steps to take.
        batch_size: how many rows a step takes.
        options: dict with, of these: `n_classes`, 2 if not given; `weight_column`, the
            feature that weighs rows and is no column; `label_vocabulary`, list of
            strings; `loss_reduction`; `optimizer`, a name, [name, dict of its
            arguments], or None.

    Returns:
        dict with the `losses`, list of `steps` float32, before every step, and the
        `variables` in the end by their names in a checkpoint.

    Raises:
        tf.errors.InvalidArgumentError: a label that is no class.
        ValueError: `n_classes` below 2, labels that are no ints without a vocabulary,
            or `steps` below 1.
    """
    # --- build
    columns = numeric_columns(features, options)
    estimator = linear("classifier", columns, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


def linear_regressor(features, labels, steps, batch_size, options=()):
    """Trains a linear regressor by Ftrl, the rows in their order, over and over.

    Args:
        features, steps, batch_size: see `linear_classifier`.
        labels: [n] float array, or [n, label_dimension].
        options: dict with, of these: `label_dimension`, 1 if not given, and what
            `linear_classifier` has of a regressor.

    Returns what `linear_classifier` does.
    """
    # --- build
    columns = numeric_columns(features, options)
    estimator = linear("regressor", columns, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


def dnn(
    kind,
    columns,
    hidden_units,
    start,
    optimizer="Adagrad",
    weight_column=None,
    batch_norm=False,
    **options,
):
    head = HEADS[kind](**options)
    model = canned.DNN(columns, hidden_units, head.logits_dimension, batch_norm)
    start_from(start, model)
    return canned.Estimator(
        head, [(model, made(optimizer, 0.05, "dnn/"))], weight_column
    )


def start_from(arrays, *owners):
    """Takes from a checkpoint what is trained; neither slots nor moving averages."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_checkpoint(arrays, folder)
        owners = [getattr(owner, "trainable_variables", owner) for owner in owners]
        restore.by_name(path, restore.named(owners))


def dnn_classifier(
    features, labels, hidden_units, start, steps, batch_size, options=()
):
    """Trains a network that classifies by Adagrad, from the weights of a checkpoint.

    Args:
        features, labels, steps, batch_size: see `linear_classifier`.
        hidden_units: list of ints, how many units a layer has.
        start: {name in the checkpoint: array}, all weights, such as
            "dnn/hiddenlayer_0/kernel" and "dnn/logits/bias".
        options: as for `linear_classifier`, and `batch_norm`, whether there is one
            after each hidden layer.

    Returns what `linear_classifier` does.
    """
    # --- build
    columns = numeric_columns(features, options)
    estimator = dnn("classifier", columns, hidden_units, start, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


def dnn_regressor(features, labels, hidden_units, start, steps, batch_size, options=()):
    """Trains a network that is a regressor by Adagrad, from a checkpoint's weights.

    Args:
        features, steps, batch_size: see `linear_classifier`.
        labels: see `linear_regressor`.
        hidden_units, start: see `dnn_classifier`.
        options: as for `linear_regressor` and `dnn_classifier`.

    Returns what `linear_classifier` does.
    """
    # --- build
    columns = numeric_columns(features, options)
    estimator = dnn("regressor", columns, hidden_units, start, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


class Embedding(tf.Module):
    """A table of vectors, of which a row has the mean of those of its words."""

    def __init__(self, vocabulary, size):
        super().__init__()
        self.vocabulary = vocabulary
        draw = tf.random.truncated_normal([vocabulary.size, size], 0, size**-0.5)
        path = "dnn/input_from_feature_columns/input_layer/words_embedding/"
        self.table = tf.Variable(draw, name=path + "embedding_weights")

    def __call__(self, features):
        return combine(self.table, present(self.vocabulary(features["words"])))


def wide_and_deep(
    features, labels, words, boundaries, start, steps, batch_size, options=()
):
    """Trains a linear model by Ftrl and a network by Adagrad, whose logits are added.

    Args:
        features: {"age": [n] float array, "income": [n] float array, "words": [n, most]
            string array}, "" being no word; and a weight of rows.
        labels, steps, batch_size: see `linear_classifier`.
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, of the ages.
        start: {name in the checkpoint: array}, the weights of a network of two hidden
            layers, and its table of words, "dnn/input_from_feature_columns/input_layer/
            words_embedding/embedding_weights".
        options: as for `linear_classifier`, but `linear_optimizer`, `dnn_optimizer`.

    Returns what `linear_classifier` does.
    """
    options, vocabulary = dict(options), Vocabulary(words)

    # --- columns
    def bucket(features):
        return present(bucket_of(features["age"], boundaries)[:, None])

    def word(features):
        return present(vocabulary(features["words"]))

    def cross(features):
        age = bucket_of(features["age"], boundaries)
        return crossed(features["words"], age, 8)

    wide = {
        "age_bucketized": (bucket, len(boundaries) + 1),
        "words": (word, vocabulary.size),
        "age_bucketized_X_words": (cross, 8),
    }
    size = start["dnn/hiddenlayer_0/kernel"].shape[0] - 2
    deep = {
        "age": (numeric("age", 64.0), 1),
        "income": (numeric("income"), 1),
        "words_embedding": (Embedding(vocabulary, size), size),
    }
    # --- build
    weight_column = options.pop("weight_column", None)
    # Other rates than those of the two alone, 0.05 and 0.2.
    adagrad = made(options.pop("dnn_optimizer", "Adagrad"), 0.001)
    ftrl = made(options.pop("linear_optimizer", "Ftrl"), 0.005)
    head = canned.classifier_head(**options)
    hidden_units = [len(start[f"dnn/hiddenlayer_{i}/bias"]) for i in range(2)]
    network = canned.DNN(deep, hidden_units, head.logits_dimension)
    start_from(start, network)
    parts = [(network, adagrad), (canned.Linear(wide, head.logits_dimension), ftrl)]
    estimator = canned.Estimator(head, parts, weight_column)
    # --- run
    return estimator.train(features, labels, steps, batch_size)


def baseline_classifier(labels, steps, batch_size, options=()):
    """Learns how frequent the classes are, by Ftrl, whatever the features.

    Args:
        labels, steps, batch_size, options: see `linear_classifier`; there is no
            `weight_column`.

    Returns what `linear_classifier` does.
    """
    # --- build
    options = dict(options)
    optimizer = made(options.pop("optimizer", "Ftrl"), 0.3)
    head = canned.classifier_head(**options)
    estimator = canned.Estimator(
        head, [(canned.Baseline(head.logits_dimension), optimizer)]
    )
    # --- run
    rows = np.zeros([len(labels)], "f")
    return estimator.train(rows, labels, steps, batch_size)


def restored(kind, saved, features, options):
    """A linear estimator as a checkpoint has it."""
    estimator = linear(kind, numeric_columns(features, options), **dict(options))
    start_from(saved, *estimator.models, estimator.global_step)
    return estimator


def evaluate(kind, saved, features, labels, batch_size, options=()):
    """Evaluates a linear estimator by a checkpoint.

    Args:
        kind: "classifier" or "regressor".
        saved: {name: array}, the weights and the `global_step` of the checkpoint.
        features, labels, options: see `linear_classifier` and `linear_regressor`.
        batch_size: how many rows are in a batch, but for the last one.

    Returns:
        dict of the metrics: `loss`, the mean of the batches' losses, `average_loss`,
        that of the rows', and what the kind has besides; and the `global_step`.
    """
    # --- build
    estimator = restored(kind, saved, features, options)
    # --- run
    return estimator.evaluate(features, labels, batch_size)


def predict(kind, saved, features, options=()):
    """Predicts by a checkpoint of a linear estimator.

    Args:
        kind, saved: see `evaluate`.
        features, options: see `linear_classifier` and `linear_regressor`.

    Returns:
        List of n dicts: of a regressor `predictions`; of a classifier `logits`,
        `probabilities`, `class_ids`, `classes`, which are bytes, `all_class_ids` and
        `all_classes`; of two classes also `logistic`, the probability of the second.
    """
    # --- build
    estimator = restored(kind, saved, features, options)
    # --- run
    tensors = estimator.predict(features)
    columns = {name: tensor.numpy() for name, tensor in tensors.items()}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def warm_start(
    words, labels, saved, old_words, new_words, buckets, steps, batch_size, initial=0.0
):
    """Trains a linear classifier of words from one that had another vocabulary.

    Args:
        words: [n, most] string array, in which "" is no word.
        labels: [n] array of 0 and 1.
        saved: {name: array}, what the old checkpoint holds.
        old_words, new_words: lists of strings, the vocabularies.
        buckets: into how many buckets all other words are hashed.
        steps, batch_size: see `linear_classifier`.
        initial: weight of what the old vocabulary has not.

    Returns what `linear_classifier` does.
    """
    # --- vocabulary
    vocabulary = Vocabulary(new_words, buckets)
    name, fresh = "linear/linear_model/words/weights", np.full([1], initial, "f")
    weights = dict(zip(old_words, saved[name]))
    rows = [weights.get(word, fresh) for word in new_words] + buckets * [fresh]

    def word(features):
        return present(vocabulary(features["words"]))

    # --- build
    estimator = linear("classifier", {"words": (word, vocabulary.size)})
    start_from({**saved, name: np.stack(rows)}, *estimator.models)
    # --- run
    return estimator.train({"words": words}, labels, steps, batch_size)
