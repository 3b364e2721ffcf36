"""`feature_column`, `DNNLinearCombinedClassifier`, `input_fn`, `export_saved_model`.

Wide and deep learning on census data: Cheng et al., "Wide & Deep Learning for
Recommender Systems", 2016. A module, a dataset and a loop replace the Estimator.
"""

import operator
import os

import numpy as np
import tensorflow as tf

from v2_eager.feature_columns import Vocabulary, bucket_of, combine, counts, present
from v2_eager.numerics import canned, optimizers, restore

__all__ = ["train", "evaluate", "export"]

CSV_COLUMNS = ["age", "education", "relationship", "occupation", "hours_per_week"]
CSV_COLUMN_DEFAULTS = [[0.0], [""], [""], [""], [0.0], [""]]  # the last is the label
BATCH_SIZE = 16

AGES = [18, 25, 30, 35, 40, 45, 50, 55, 60, 65]
EDUCATIONS = ["HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate"]
RELATIONSHIPS = ["Husband", "Not-in-family", "Wife", "Own-child", "Unmarried"]
WIDE = {
    "age_bucketized": 11,
    "age_bucketized_X_education_X_occupation": 100,
    "education": 5,
    "education_X_occupation": 50,
    "occupation": 20,
    "relationship": 5,
}
DEEP = {
    "age": 1,
    "education_indicator": 5,
    "hours_per_week": 1,
    "relationship_indicator": 5,
}


class Columns(tf.Module):
    """Converts features to the columns of both models, with vocabularies and hashes.

    A call takes {name: [n] strings or floats}. It returns {name of a column: sparse
    ids, [n, 1], for the linear model, or numbers, [n, size], for the network}.
    """

    def __init__(self):
        super().__init__()
        self.educations = Vocabulary(EDUCATIONS)
        self.relationships = Vocabulary(RELATIONSHIPS)

    def __call__(self, features):
        features = {name: values[:, None] for name, values in features.items()}
        education, occupation = features["education"], features["occupation"]
        bucket = tf.cast(bucket_of(features["age"], AGES), tf.int64)
        education_ids = self.educations(education)
        relationship_ids = self.relationships(features["relationship"])
        hashed = tf.strings.to_hash_bucket_fast(occupation, 20)
        # The ids of a column came before its strings, so they are hashed first.
        keys = [bucket, education, occupation]
        return {
            "age": features["age"] / 64.0,
            "hours_per_week": (features["hours_per_week"] - 40.0) / 12.0,
            "education_indicator": counts(education_ids, 5),
            "relationship_indicator": counts(relationship_ids, 5),
            "age_bucketized": present(bucket),
            "education": present(education_ids),
            "relationship": present(relationship_ids),
            # An empty string is a missing value; but a cross hashes it.
            "occupation": present(tf.where(occupation == "", np.int64(-1), hashed)),
            "education_X_occupation": tf.sparse.cross_hashed(keys[1:], 50),
            "age_bucketized_X_education_X_occupation": tf.sparse.cross_hashed(
                keys, 100
            ),
        }


class Embedding(tf.Module):
    """Looks up the embedding of the occupation; zeros if it is missing.

    `keras.layers.Embedding` has no row of zeros for a missing value.

    A call takes the columns, see `Columns`, and returns [n, 4] floats.
    """

    def __init__(self):
        super().__init__()
        scope = "dnn/input_from_feature_columns/input_layer/occupation_embedding"
        draw = tf.random.truncated_normal([20, 4], 0.0, 4**-0.5)
        self.table = tf.Variable(draw, name=f"{scope}/embedding_weights")

    def __call__(self, columns):
        return combine(self.table, columns["occupation"])


class WideAndDeep(canned.Estimator):
    """A linear model and a network with two hidden layers, whose logits are added.

    `step`, `update` and `predict` take the columns, see `Columns`. The variables are
    float32, like those of every Estimator with feature columns.
    """

    def __init__(self):
        wide, deep = (
            {name: (operator.itemgetter(name), size) for name, size in sizes.items()}
            for sizes in (WIDE, DEEP)
        )
        network = canned.DNN(
            {**deep, "occupation_embedding": (Embedding(), 4)}, [8, 4], 1
        )
        linear = canned.Linear(wide, 1)
        ftrl = optimizers.Ftrl(0.1, l1_regularization_strength=0.01)
        parts = [(network, optimizers.Adagrad(0.05)), (linear, ftrl)]
        super().__init__(canned.BinaryHead(), parts)
        self.columns = Columns()

    def batches(self, rows, num_epochs, shuffle):
        """Makes the dataset of columns and labels; each loop begins at the start."""
        dataset = tf.data.Dataset.from_tensor_slices(rows)
        if shuffle:
            dataset = dataset.shuffle(100, seed=7, reshuffle_each_iteration=False)
        return dataset.repeat(num_epochs).batch(BATCH_SIZE).map(self.parse_csv)

    def parse_csv(self, rows):
        """Parses rows of CSV into columns and labels."""
        *values, label = tf.io.decode_csv(rows, CSV_COLUMN_DEFAULTS)
        return self.columns(dict(zip(CSV_COLUMNS, values))), label == ">50K"


def train(rows, steps, checkpoint=None, folder=None):
    """Trains a linear model with Ftrl and a network with Adagrad on rows of CSV."""
    # --- build
    tf.random.set_seed(7)  # `shuffle` needs it
    estimator = WideAndDeep()
    variables = estimator.named()
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses = []
    for batch in estimator.batches(rows, None, True).take(steps):
        losses.append(estimator.step(*batch).numpy())
        step = int(estimator.global_step)
        if folder and step % 10 == 0:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
    if folder:
        writer.close()
        restore.save(os.path.join(folder, f"model.ckpt-{step}"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(checkpoint):
    """Makes an estimator with the weights and the global step of a checkpoint."""
    estimator = WideAndDeep()
    weights = restore.named(*estimator.models, estimator.global_step)
    restore.by_name(checkpoint, weights)
    return estimator


def evaluate(rows, checkpoint):
    """Restores the weights; computes the metrics of a binary classifier."""
    # --- build
    estimator = restored(checkpoint)
    # --- run
    batches = estimator.batches(rows, 1, False)
    # One trace for batches of all sizes.
    update = estimator.update.get_concrete_function(*batches.element_spec)
    for batch in batches:
        update(*batch)
    metrics = {**estimator.head.result(), "global_step": estimator.global_step}
    return {name: value.numpy() for name, value in metrics.items()}


def export(rows, checkpoint, folder):
    """Saves the classifier as a SavedModel, loads it, and classifies rows of CSV."""
    # --- save
    estimator = restored(checkpoint)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="csv_row")])
    def predict(csv_row):
        columns, _ = estimator.parse_csv(csv_row)
        return estimator.head.predictions(estimator.logits(columns))

    tf.saved_model.save(estimator, folder, signatures={"predict": predict})
    # --- load
    signature = tf.saved_model.load(folder).signatures["predict"]
    # --- run
    found = signature(csv_row=tf.constant(rows))
    return {name: value.numpy() for name, value in found.items()}
