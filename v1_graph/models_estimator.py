"""`feature_column`, `DNNLinearCombinedClassifier`, `input_fn`, `export_saved_model`.

Wide and deep learning on census data: Cheng et al., "Wide & Deep Learning for
Recommender Systems", 2016. TensorFlow's tutorial and the samples for Cloud ML were
written like this from 2017 on.
"""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

CSV_COLUMNS = [
    "age",
    "education",
    "relationship",
    "occupation",
    "hours_per_week",
    "income_bracket",
]
CSV_COLUMN_DEFAULTS = [[0.0], [""], [""], [""], [0.0], [""]]
LABEL_COLUMN = "income_bracket"
BATCH_SIZE = 16


def build_model_columns():
    """Returns the feature columns of the linear model and of the network."""
    fc = tf.feature_column
    age = fc.numeric_column("age")
    age_buckets = fc.bucketized_column(age, [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    hours_per_week = fc.numeric_column(
        "hours_per_week", normalizer_fn=lambda x: (x - 40.0) / 12.0
    )
    education = fc.categorical_column_with_vocabulary_list(
        "education", ["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"]
    )
    relationship = fc.categorical_column_with_vocabulary_list(
        "relationship", ["Husband", "Not-in-family", "Wife", "Own-child", "Unmarried"]
    )
    occupation = fc.categorical_column_with_hash_bucket("occupation", 20)
    base_columns = [education, relationship, occupation, age_buckets]
    crossed_columns = [
        fc.crossed_column(["education", "occupation"], 50),
        fc.crossed_column([age_buckets, "education", "occupation"], 100),
    ]
    deep_columns = [
        fc.numeric_column("age", normalizer_fn=lambda x: x / 64.0),
        hours_per_week,
        fc.indicator_column(education),
        fc.indicator_column(relationship),
        fc.embedding_column(occupation, dimension=4),
    ]
    return base_columns + crossed_columns, deep_columns


def build_estimator(model_dir):
    wide_columns, deep_columns = build_model_columns()
    config = tf.estimator.RunConfig(
        model_dir, tf_random_seed=7, save_summary_steps=10, keep_checkpoint_max=1
    )
    return tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide_columns,
        linear_optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
        dnn_feature_columns=deep_columns,
        dnn_optimizer=tf.train.AdagradOptimizer(0.05),
        dnn_hidden_units=[8, 4],
        config=config,
    )


def parse_csv(rows):
    """Parses rows of CSV into features and labels."""
    columns = tf.decode_csv(rows, record_defaults=CSV_COLUMN_DEFAULTS)
    features = dict(zip(CSV_COLUMNS, columns))
    labels = features.pop(LABEL_COLUMN)
    return features, tf.equal(labels, ">50K")


def input_fn(rows, num_epochs, shuffle):
    """Makes the dataset; it begins with the first batch in each call."""
    dataset = tf.data.Dataset.from_tensor_slices(rows)
    if shuffle:
        dataset = dataset.shuffle(100, seed=7, reshuffle_each_iteration=False)
    # Without an end, `steps` ends the training.
    return dataset.repeat(num_epochs).batch(BATCH_SIZE).map(parse_csv)


class LossHook(tf.train.SessionRunHook):
    """Collects the loss of each step."""

    def begin(self):
        self.losses, self.loss = [], tf.losses.get_losses()[-1]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.losses.append(run_values.results)


def copy_checkpoint(checkpoint, model_dir):
    """Makes a checkpoint the latest one of a folder, so that an Estimator goes on."""
    tf.gfile.MakeDirs(model_dir)
    path = os.path.join(model_dir, "model.ckpt-start")
    for name in tf.gfile.Glob(checkpoint + ".*"):
        tf.gfile.Copy(name, path + name[len(checkpoint) :])
    tf.train.update_checkpoint_state(model_dir, path)


def train(rows, steps, checkpoint=None, folder=None):
    """Trains a linear model with Ftrl and a network with Adagrad on rows of CSV.

    Args:
        rows: [n] string array, each "age,education,relationship,occupation,
            hours_per_week,income_bracket". They are shuffled, and repeated.
        steps: how many steps to take, at least 1.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and the checkpoint, `model.ckpt-` and the
            global step, or None.

    Returns:
        dict with the `losses`, [steps] float32, sums over the batch before each step,
        and the final `variables` by name.
    """
    with tempfile.TemporaryDirectory() as scratch:
        # --- build
        estimator = build_estimator(folder or scratch)
        # --- restore
        if checkpoint:
            copy_checkpoint(checkpoint, estimator.model_dir)
        # --- run
        hook = LossHook()
        estimator.train(lambda: input_fn(rows, None, True), [hook], steps)
        names = estimator.get_variable_names()
        variables = {name: estimator.get_variable_value(name) for name in names}
        return {"losses": np.array(hook.losses), "variables": variables}


def evaluate(rows, checkpoint):
    """Restores the weights; computes the metrics of a binary classifier.

    Args:
        rows: [n] string array, see `train`.
        checkpoint: path of a checkpoint that has the weights and the global step.

    Returns:
        dict of numbers: `accuracy`, `accuracy_baseline`, `auc`,
        `auc_precision_recall`, `average_loss`, `label/mean`, `loss`, the mean of the
        sums over each batch, `precision`, `prediction/mean`, `recall`, `global_step`.
    """
    with tempfile.TemporaryDirectory() as scratch:
        # --- build
        estimator = build_estimator(scratch)
        # --- run
        return estimator.evaluate(
            lambda: input_fn(rows, 1, False), checkpoint_path=checkpoint
        )


def serving_input_receiver_fn():
    csv_row = tf.placeholder(tf.string, [None], name="csv_row")
    features, _ = parse_csv(csv_row)
    return tf.estimator.export.ServingInputReceiver(features, {"csv_row": csv_row})


def export(rows, checkpoint, folder):
    """Saves the classifier as a SavedModel, loads it, and classifies rows of CSV.

    Args:
        rows: [n] string array, see `train`; the last field may be empty.
        checkpoint: path of a checkpoint that has the weights and the global step.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict of the outputs of the signature `predict`: `logits` and `logistic`, the
        probability of the class 1, [n, 1], `probabilities`, [n, 2], `class_ids`, [n,
        1], `classes`, the same as strings, `all_class_ids` and `all_classes`, [n, 2].
    """
    # --- save
    with tempfile.TemporaryDirectory() as scratch:
        estimator = build_estimator(scratch)
        path = estimator.export_saved_model(
            folder, serving_input_receiver_fn, checkpoint_path=checkpoint
        )
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        signature = tf.saved_model.loader.load(sess, tags, path).signature_def[
            "predict"
        ]
        # --- run
        feed = {signature.inputs["csv_row"].name: rows}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}
