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
    """Makes a numeric column: [n, size] float32 from [n, size] or [n] numbers."""
    return lambda features: canned.column(features[name]) / scale


def numeric_columns(features, options):
    weight = dict(options).get("weight_column")
    return {
        name: (numeric(name), math.prod(x.shape[1:]))
        for name, x in features.items()
        if name != weight
    }


def made(optimizer, rate, scope=""):
    """Makes an optimizer from a name and a rate, or from [name, dict of arguments].

    In a checkpoint its slots are "…/weights/part_0/Ftrl" and "…/kernel/t_0/Adagrad":
    TensorFlow 1 kept as many letters of "part_0/" as the scope's name has.
    """
    name, arguments = optimizer, {"learning_rate": rate}
    if not isinstance(optimizer, str):
        name, arguments = optimizer
    name = name.replace("SGD", "GradientDescent")
    place = "part_0/"[len("part_0/") - len(scope) :]
    with tf.name_scope(scope + "head"):  # the scope of Adam's beta powers
        return getattr(optimizers, name)(**arguments, name=place + name)


HEADS = {"classifier": canned.classifier_head, "regressor": canned.RegressionHead}


def linear(kind, columns, optimizer="Ftrl", weight_column=None, **options):
    head, rate = HEADS[kind](**options), 0.2
    if optimizer is None:  # not by default: in 1.15 the default was the name "Ftrl"
        optimizer, rate = "Ftrl", min(0.2, 1 / math.sqrt(len(columns)))
    model = canned.Linear(columns, head.logits_dimension)
    parts = [(model, made(optimizer, rate, "linear/"))]
    return canned.Estimator(head, parts, weight_column)


def linear_classifier(features, labels, steps, batch_size, options=()):
    """Trains a linear classifier with Ftrl; rows are repeated and not shuffled.

    Raises:
        ValueError: `n_classes` below 2, labels not ints without a vocabulary,
            or `steps` below 1.
    """
    # --- build
    columns = numeric_columns(features, options)
    estimator = linear("classifier", columns, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


def linear_regressor(features, labels, steps, batch_size, options=()):
    """Trains a linear regressor with Ftrl; rows are repeated and not shuffled."""
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
    """Assigns checkpoint values to trainable variables, not to slots or averages."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_checkpoint(arrays, folder)
        owners = [getattr(owner, "trainable_variables", owner) for owner in owners]
        restore.by_name(path, restore.named(owners))


def dnn_classifier(
    features, labels, hidden_units, start, steps, batch_size, options=()
):
    """Trains a DNN classifier with Adagrad, starting from checkpoint weights."""
    # --- build
    columns = numeric_columns(features, options)
    estimator = dnn("classifier", columns, hidden_units, start, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


def dnn_regressor(features, labels, hidden_units, start, steps, batch_size, options=()):
    """Trains a DNN regressor with Adagrad, starting from checkpoint weights."""
    # --- build
    columns = numeric_columns(features, options)
    estimator = dnn("regressor", columns, hidden_units, start, **dict(options))
    # --- run
    return estimator.train(features, labels, steps, batch_size)


class Embedding(tf.Module):
    """Looks up the words of each row and averages their embeddings.

    A call takes a dict of features and reads "words", [n, most] strings, where "" is
    padding. It returns [n, size] float32, zeros for a row without words.

    `keras.layers.Embedding` takes ids, not words, and does not average.

    Args:
        vocabulary: a `Vocabulary`.
        size: size of a vector.
    """

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
    """Trains a linear model with Ftrl and a DNN with Adagrad, and adds their logits."""
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
    # These rates are not those of the separate estimators, 0.05 and 0.2.
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
    """Trains a baseline classifier with Ftrl: it learns only the class frequencies."""
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
    """Makes a linear estimator with the weights and the step of a checkpoint."""
    estimator = linear(kind, numeric_columns(features, options), **dict(options))
    start_from(saved, *estimator.models, estimator.global_step)
    return estimator


def evaluate(kind, saved, features, labels, batch_size, options=()):
    """Evaluates a linear estimator with the weights of a checkpoint."""
    # --- build
    estimator = restored(kind, saved, features, options)
    # --- run
    return estimator.evaluate(features, labels, batch_size)


def predict(kind, saved, features, options=()):
    """Computes predictions of a linear estimator with the weights of a checkpoint."""
    # --- build
    estimator = restored(kind, saved, features, options)
    # --- run
    tensors = estimator.predict(features)
    columns = {name: tensor.numpy() for name, tensor in tensors.items()}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def warm_start(
    words, labels, saved, old_words, new_words, buckets, steps, batch_size, initial=0.0
):
    """Warm-starts a linear classifier of words from a model with another vocabulary."""
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
