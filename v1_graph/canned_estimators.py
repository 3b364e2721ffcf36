"""`DNNClassifier`, `LinearClassifier`, `DNNLinearCombinedClassifier`, regressors."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

from v1_graph.slim_learning import write_checkpoint

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

fc = tf.feature_column


def linear_classifier(features, labels, steps, batch_size, options=()):
    """Trains a linear classifier with Ftrl; rows are repeated and not shuffled.

    Args:
        features: {name: [n] or [n, size] float array}.
        labels: [n] array of classes: ints, or strings of the `label_vocabulary`.
        steps: how many steps to take.
        batch_size: how many rows a step takes.
        options: dict with any of these keys: `n_classes`, 2 by default;
            `weight_column`, name of the feature that has the row weights, which is not
            an input of the model; `label_vocabulary`, list of strings;
            `loss_reduction`; `optimizer`, a name, [name, dict of its arguments], or
            None.

    Returns:
        dict with the `losses` before each step, list of `steps` float32, and the
        `variables` after training by their names in a checkpoint.

    Raises:
        tf.errors.InvalidArgumentError: a label is not a class.
        ValueError: `n_classes` below 2, or labels that are not ints without a
            vocabulary.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = tf.estimator.LinearClassifier(
            numeric_columns(features, options),
            model_dir,
            **with_optimizers(options),
        )
        # --- run
        return train(estimator, features, labels, steps, batch_size)


def numeric_columns(features, options):
    weight = dict(options).get("weight_column")
    return [
        fc.numeric_column(name, x.shape[1:] or [1])
        for name, x in features.items()
        if name != weight
    ]


def with_optimizers(options):
    """Returns the options with an optimizer in place of its name and arguments."""
    options = dict(options)
    for key, value in options.items():
        if key.endswith("optimizer") and isinstance(value, list):
            name, arguments = value
            options[key] = getattr(tf.train, name + "Optimizer")(**arguments)
    return options


class Losses(tf.train.SessionRunHook):
    """Records the training loss of each step, the graph's last `tf.losses` loss."""

    def begin(self):
        self.losses, self.loss = [], tf.losses.get_losses()[-1]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.losses.append(run_values.results)


def train(estimator, features, labels, steps, batch_size):
    hook = Losses()
    input_fn = tf.estimator.inputs.numpy_input_fn(
        features, labels, batch_size, num_epochs=None, shuffle=False
    )
    estimator.train(input_fn, hooks=[hook], steps=steps)
    names = estimator.get_variable_names()
    variables = {name: estimator.get_variable_value(name) for name in names}
    return {"losses": hook.losses, "variables": variables}


def linear_regressor(features, labels, steps, batch_size, options=()):
    """Trains a linear regressor with Ftrl; rows are repeated and not shuffled.

    Args:
        features, steps, batch_size: see `linear_classifier`.
        labels: [n] float array, or [n, label_dimension].
        options: dict with any of these keys: `label_dimension`, 1 by default, and
            `weight_column`, `loss_reduction` and `optimizer` of `linear_classifier`.

    Returns what `linear_classifier` does.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = tf.estimator.LinearRegressor(
            numeric_columns(features, options),
            model_dir,
            **with_optimizers(options),
        )
        # --- run
        return train(estimator, features, labels, steps, batch_size)


def dnn_classifier(
    features, labels, hidden_units, start, steps, batch_size, options=()
):
    """Trains a DNN classifier with Adagrad, starting from checkpoint weights.

    Args:
        features, labels, steps, batch_size: see `linear_classifier`.
        hidden_units: list of ints, the sizes of the hidden layers.
        start: {name in the checkpoint: array}, all weights, such as
            "dnn/hiddenlayer_0/kernel" and "dnn/logits/bias".
        options: as for `linear_classifier`, and `batch_norm`: whether each hidden layer
            is followed by batch normalization.

    Returns what `linear_classifier` does.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = tf.estimator.DNNClassifier(
            hidden_units,
            numeric_columns(features, options),
            os.path.join(model_dir, "new"),
            warm_start_from=write_checkpoint(start, model_dir),
            **with_optimizers(options),
        )
        # --- run
        return train(estimator, features, labels, steps, batch_size)


def dnn_regressor(features, labels, hidden_units, start, steps, batch_size, options=()):
    """Trains a DNN regressor with Adagrad, starting from checkpoint weights.

    Args:
        features, steps, batch_size: see `linear_classifier`.
        labels: see `linear_regressor`.
        hidden_units, start: see `dnn_classifier`.
        options: as for `linear_regressor` and `dnn_classifier`.

    Returns what `linear_classifier` does.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = tf.estimator.DNNRegressor(
            hidden_units,
            numeric_columns(features, options),
            os.path.join(model_dir, "new"),
            warm_start_from=write_checkpoint(start, model_dir),
            **with_optimizers(options),
        )
        # --- run
        return train(estimator, features, labels, steps, batch_size)


def wide_and_deep(
    features, labels, words, boundaries, start, steps, batch_size, options=()
):
    """Trains a linear model with Ftrl and a DNN with Adagrad, and adds their logits.

    Args:
        features: {"age": [n] float array, "income": [n] float array, "words": [n, most]
            string array}, where "" is padding; and row weights, if any.
        labels, steps, batch_size: see `linear_classifier`.
        words: list of strings, the vocabulary.
        boundaries: increasing list of the boundaries of the age buckets.
        start: {name in the checkpoint: array}, the weights of a DNN with two hidden
            layers, and its word embeddings, "dnn/input_from_feature_columns/
            input_layer/words_embedding/embedding_weights".
        options: as for `linear_classifier`, with `linear_optimizer` and `dnn_optimizer`
            in place of `optimizer`.

    Returns what `linear_classifier` does.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- columns
        age, income = fc.numeric_column("age"), fc.numeric_column("income")
        ages = fc.bucketized_column(age, boundaries)
        word = fc.categorical_column_with_vocabulary_list("words", words)
        wide = [ages, word, fc.crossed_column(["words", ages], 8)]
        size = start["dnn/hiddenlayer_0/kernel"].shape[0] - 2
        scaled = fc.numeric_column("age", normalizer_fn=lambda x: x / 64)
        deep = [scaled, income, fc.embedding_column(word, size)]
        # --- build
        biases = [start["dnn/hiddenlayer_%d/bias" % i] for i in range(2)]
        estimator = tf.estimator.DNNLinearCombinedClassifier(
            os.path.join(model_dir, "new"),
            linear_feature_columns=wide,
            dnn_feature_columns=deep,
            dnn_hidden_units=[len(bias) for bias in biases],
            warm_start_from=tf.estimator.WarmStartSettings(
                write_checkpoint(start, model_dir), vars_to_warm_start="dnn/"
            ),
            **with_optimizers(options),
        )
        # --- run
        return train(estimator, features, labels, steps, batch_size)


def baseline_classifier(labels, steps, batch_size, options=()):
    """Trains a baseline classifier with Ftrl: it learns only the class frequencies.

    Args:
        labels, steps, batch_size, options: see `linear_classifier`, without
            `weight_column`.

    Returns what `linear_classifier` does.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = tf.estimator.BaselineClassifier(
            model_dir, **with_optimizers(options)
        )
        # --- run
        features = {"any": np.zeros([len(labels)], "f")}
        return train(estimator, features, labels, steps, batch_size)


def linear(kind, features, options):
    kinds = {
        "classifier": tf.estimator.LinearClassifier,
        "regressor": tf.estimator.LinearRegressor,
    }
    columns = numeric_columns(features, options)
    return kinds[kind](columns, **with_optimizers(options))


def evaluate(kind, saved, features, labels, batch_size, options=()):
    """Evaluates a linear estimator with the weights of a checkpoint.

    Args:
        kind: "classifier" or "regressor".
        saved: {name: array}, the weights and the `global_step` of the checkpoint.
        features, labels, options: see `linear_classifier` and `linear_regressor`.
        batch_size: rows of a batch; the last batch may have fewer.

    Returns:
        dict of the metrics: `loss`, the mean over the batches; `average_loss`, the mean
        over the rows; other metrics of the estimator; and the `global_step`.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = linear(kind, features, options)
        # --- run
        input_fn = tf.estimator.inputs.numpy_input_fn(
            features, labels, batch_size, num_epochs=1, shuffle=False
        )
        path = write_checkpoint(saved, model_dir)
        return estimator.evaluate(input_fn, checkpoint_path=path)


def predict(kind, saved, features, options=()):
    """Computes predictions of a linear estimator with the weights of a checkpoint.

    Args:
        kind, saved: see `evaluate`.
        features, options: see `linear_classifier` and `linear_regressor`.

    Returns:
        List of n dicts. A regressor has `predictions`. A classifier has `logits`,
        `probabilities`, `class_ids`, `classes` (bytes), `all_class_ids` and
        `all_classes`, and with two classes also `logistic`, the probability of the
        second class.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- build
        estimator = linear(kind, features, options)
        # --- run
        input_fn = tf.estimator.inputs.numpy_input_fn(
            features, batch_size=16, num_epochs=1, shuffle=False
        )
        path = write_checkpoint(saved, model_dir)
        return list(estimator.predict(input_fn, checkpoint_path=path))


def warm_start(
    words, labels, saved, old_words, new_words, buckets, steps, batch_size, initial=0.0
):
    """Warm-starts a linear classifier of words from a model with another vocabulary.

    Args:
        words: [n, most] string array, where "" is padding.
        labels: [n] array of 0 and 1.
        saved: {name: array}, the contents of the old checkpoint.
        old_words, new_words: lists of strings, the vocabularies.
        buckets: number of hash buckets for out-of-vocabulary words.
        steps, batch_size: see `linear_classifier`.
        initial: initial weight of words that the old vocabulary does not have.

    Returns what `linear_classifier` does.
    """
    with tempfile.TemporaryDirectory() as model_dir:
        # --- vocabulary
        paths = [os.path.join(model_dir, name) for name in ("old.txt", "new.txt")]
        for path, vocabulary in zip(paths, (old_words, new_words)):
            with open(path, "w") as file:
                file.write("\n".join(vocabulary) + "\n")
        column = fc.categorical_column_with_vocabulary_file(
            "words", paths[1], len(new_words), buckets
        )
        info = tf.train.VocabInfo(
            new_vocab=column.vocabulary_file,
            new_vocab_size=column.vocabulary_size,
            num_oov_buckets=column.num_oov_buckets,
            old_vocab=paths[0],
            backup_initializer=lambda shape: tf.fill(shape, initial),
        )
        # --- build
        estimator = tf.estimator.LinearClassifier(
            [column],
            os.path.join(model_dir, "new"),
            warm_start_from=tf.estimator.WarmStartSettings(
                write_checkpoint(saved, model_dir),
                var_name_to_vocab_info={"linear/linear_model/words/weights": info},
            ),
        )
        # --- run
        return train(estimator, {"words": words}, labels, steps, batch_size)
