"""`tf.contrib.layers`: `sparse_column_with_…`, `crossed_column` → functions."""

import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "parse",
    "make_wide",
    "make_deep",
    "make_bag",
    "run_experiment",
    "make_sequences",
]

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def parse(serialized, size):
    """Parses examples by what the columns of a model ask for.

    Args:
        serialized: [n] string tensor, each a tf.train.Example.
        size: how many `scores` an example has.

    Returns:
        dict of `scores`, [n, size] float32, and `age`, [n, 1] float32, 0 where there is
        none; of the sparse `words`, string, `ids`, int64, and `weights`, float32.

    Raises:
        tf.errors.InvalidArgumentError: the scores are missing, or not `size` many.
    """
    # --- spec
    layers = tensorflow.contrib.layers
    ids = layers.sparse_column_with_integerized_feature("ids", 10)
    columns = [
        layers.real_valued_column("scores", size),
        layers.real_valued_column("age", default_value=0.0),
        layers.sparse_column_with_hash_bucket("words", 100),
        layers.weighted_sparse_column(ids, "weights"),
    ]
    spec = layers.create_feature_spec_for_parsing(columns)
    # --- parse
    return tf.parse_example(serialized, spec)


def sparse_features(features):
    """Words, ids and weights as a parser gives them: "" and -1 are none."""
    dense_to_sparse = tensorflow.contrib.layers.dense_to_sparse
    words = dense_to_sparse(features["words"], eos_token="")
    ids = dense_to_sparse(features["ids"], eos_token=-1)
    weights = tf.gather_nd(features["weights"], ids.indices)
    weights = tf.SparseTensor(ids.indices, weights, ids.dense_shape)
    return dict(features, words=words, ids=ids, weights=weights)


def make_wide(boundaries, size, buckets, fingerprints=False, units=1, name="wide"):
    """Makes a sum of weights: of numbers, buckets, words, weighted ids and crosses.

    Args:
        boundaries: list of increasing numbers, of the ages.
        size: how many ids there are; larger ones count from 0 again.
        buckets: how many there are for words, and for their crosses with ages.
        fingerprints: whether crosses are hashed as today, and not as before 2017.
        units: how many sums there are.
        name: scope of `linear/age_bucketized/weights`, `…/age_bucketized_X_words/…`,
            `…/words/…`, `…/ids_weighted_by_weights/…`, of `linear/scores/weight`, and
            of `linear/bias_weight`.

    Returns:
        Callable from {"age": [n, 1] float tensor, "scores": [n, 2] float tensor,
        "words": [n, most] string tensor, "ids": [n, most] int64 tensor, "weights": of
        the ids, [n, most] float32 tensor} to float32 [n, units].
    """

    def add_up(features):
        # --- columns
        layers = tensorflow.contrib.layers
        ages = layers.bucketized_column(layers.real_valued_column("age"), boundaries)
        words = layers.sparse_column_with_hash_bucket("words", buckets)
        ids = layers.sparse_column_with_integerized_feature("ids", size)
        hash_key = None
        if fingerprints:
            hash_key = layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
        columns = [
            layers.real_valued_column("scores", 2, normalizer=lambda x: x / 4),
            ages,
            words,
            layers.weighted_sparse_column(ids, "weights"),
            layers.crossed_column([words, ages], buckets, hash_key=hash_key),
        ]
        # --- sum
        sums, _, _ = layers.weighted_sum_from_feature_columns(
            sparse_features(features), columns, units, scope="linear"
        )
        return sums

    return tf.make_template(name, add_up)


def make_deep(boundaries, size, buckets, units, name="deep"):
    """Makes the input of a network: numbers, buckets, id counts, vectors of words.

    Args:
        boundaries: list of increasing numbers, of the ages.
        size: how many ids there are; larger ones count from 0 again.
        buckets: how many there are for words.
        units: size of the vectors.
        name: scope of `input/words_embedding/weights`.

    Returns:
        Callable from a dict as for `make_wide` to float32 [n, len(boundaries) + 1 +
        units + size + 2]: the buckets, the vectors, the counts, the scores.
    """

    def join(features):
        # --- columns
        layers = tensorflow.contrib.layers
        words = layers.sparse_column_with_hash_bucket("words", buckets)
        ids = layers.sparse_column_with_integerized_feature("ids", size)
        draw = tf.truncated_normal_initializer(stddev=units**-0.5, seed=1)
        columns = [
            layers.real_valued_column("scores", 2),
            layers.bucketized_column(layers.real_valued_column("age"), boundaries),
            layers.one_hot_column(ids),
            layers.embedding_column(words, units, "sqrtn", draw),
        ]
        # --- join
        return layers.input_from_feature_columns(
            sparse_features(features), columns, scope="input"
        )

    return tf.make_template(name, join)


def make_bag(rows, size, combiner="mean", default_id=None, name="bag"):
    """Makes a table of vectors, and combines those of the ids of an example.

    Args:
        rows: how many ids there are.
        size: of a vector.
        combiner: "mean", "sum", or "sqrtn".
        default_id: whose vector an example without ids has; None for zeros.
        name: scope of the variable `table`.

    Returns:
        Callable from [n, most] int64 tensor of ids, in which -1 is none, and their
        weights, [n, most] floats, to [n, size]. Weights that are not above 0 are none
        either, but for "sum".
    """

    def combine(ids, weights):
        # --- table
        layers = tensorflow.contrib.layers
        draw = tf.random_normal_initializer(stddev=0.125, seed=1)
        table = tf.get_variable("table", [rows, size], weights.dtype, draw)
        # --- combine
        ids = layers.dense_to_sparse(ids, eos_token=-1)
        weights = tf.gather_nd(weights, ids.indices)
        weights = tf.SparseTensor(ids.indices, weights, ids.dense_shape)
        return layers.safe_embedding_lookup_sparse(
            [table], ids, weights, combiner, default_id
        )

    return tf.make_template(name, combine)


def run_experiment(x, labels, steps):
    """Trains a canned classifier by an experiment, which evaluates and exports it.

    Args:
        x: [n, features] float32 array.
        labels: [n] int64 array, 0 or 1.
        steps: how many steps to take, all on the same rows.

    Returns:
        dict with the `accuracy` and the `loss` in the end, the `variables` by name, the
        `classes` and `probabilities` that are predicted, and the `served` ones of the
        model that was exported, which takes serialized examples.
    """
    learn, layers = tensorflow.contrib.learn, tensorflow.contrib.layers
    columns = [layers.real_valued_column("x", x.shape[1])]

    def input_fn():
        return {"x": tf.constant(x)}, tf.constant(labels)

    # --- experiment
    def experiment_fn(output_dir):
        serving_input_fn = learn.utils.input_fn_utils.build_parsing_serving_input_fn(
            layers.create_feature_spec_for_parsing(columns)
        )
        return learn.Experiment(
            learn.LinearClassifier(columns, output_dir),
            train_input_fn=input_fn,
            eval_input_fn=input_fn,
            train_steps=steps,
            eval_steps=1,
            min_eval_frequency=0,  # in the end only
            export_strategies=[learn.utils.make_export_strategy(serving_input_fn)],
        )

    with tempfile.TemporaryDirectory() as output_dir:
        # --- run
        metrics, exported = learn.learn_runner.run(
            experiment_fn, output_dir, schedule="train_and_evaluate"
        )
        # --- predict
        estimator = learn.LinearClassifier(columns, output_dir)
        keys = [learn.PredictionKey.CLASSES, learn.PredictionKey.PROBABILITIES]
        rows = estimator.predict(
            input_fn=lambda: {"x": tf.train.limit_epochs(tf.constant(x), 1)},
            outputs=keys,
        )
        classes, probabilities = zip(*([row[key] for key in keys] for row in rows))
        # --- serve
        serve = tensorflow.contrib.predictor.from_saved_model(exported[0].decode())
        served = serve({"inputs": [example(row) for row in x]})["scores"]
        return {
            "accuracy": metrics["accuracy"],
            "loss": metrics["loss"],
            "variables": {
                name: estimator.get_variable_value(name)
                for name in ("linear/x/weight", "linear/bias_weight")
            },
            "classes": np.stack(classes),
            "probabilities": np.stack(probabilities),
            "served": served,
        }


def example(row):
    """A serialized tf.train.Example of the numbers `x`."""
    values = tf.train.Feature(float_list=tf.train.FloatList(value=row))
    features = tf.train.Features(feature={"x": values})
    return tf.train.Example(features=features).SerializeToString()


def make_sequences(size, units, name="reader"):
    """Makes the input of a recurrent network: an id's vector, and a number, a step.

    Args:
        size: how many ids there are.
        units: size of their vectors.
        name: scope of `sequence_input_layer/ids_embedding/embedding_weights`.

    Returns:
        Callable from {"ids": [n, time] int64 tensor, -1 past the end, "scores": [n,
        time] float32 tensor} to the vectors and behind them the scores, float32 [n,
        time, units + 1], zeros past the end, and the lengths, int64 [n].

    Raises:
        tf.errors.InvalidArgumentError: an id that there is not.
    """

    def join(features):
        # --- columns
        column = tensorflow.contrib.feature_column
        draw = tf.truncated_normal_initializer(stddev=0.125, seed=1)
        ids = column.sequence_categorical_column_with_identity("ids", size)
        columns = [
            column.sequence_numeric_column("scores"),
            tf.feature_column.embedding_column(ids, units, initializer=draw),
        ]
        # --- join
        ids = tensorflow.contrib.layers.dense_to_sparse(features["ids"], eos_token=-1)
        scores = tf.gather_nd(features["scores"], ids.indices)
        scores = tf.SparseTensor(ids.indices, scores, ids.dense_shape)
        return column.sequence_input_layer({"ids": ids, "scores": scores}, columns)

    return tf.make_template(name, join)
