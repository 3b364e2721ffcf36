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

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def parse(serialized, size):
    """Parses serialized examples with the spec that the feature columns need.

    Args:
        serialized: [n] string tensor, each a tf.train.Example.
        size: how many `scores` an example has.

    Returns:
        dict of `scores`, [n, size] float32; `age`, [n, 1] float32, 0 if it is missing;
        and the sparse tensors `words`, string, `ids`, int64, and `weights`, float32.

    Raises:
        tf.errors.InvalidArgumentError: the scores are missing, or not `size` numbers.
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
    """Makes words, ids and weights sparse, as a parser does; "" and -1 are padding."""
    dense_to_sparse = tensorflow.contrib.layers.dense_to_sparse
    words = dense_to_sparse(features["words"], eos_token="")
    ids = dense_to_sparse(features["ids"], eos_token=-1)
    weights = tf.gather_nd(features["weights"], ids.indices)
    weights = tf.SparseTensor(ids.indices, weights, ids.dense_shape)
    return dict(features, words=words, ids=ids, weights=weights)


def make_wide(boundaries, size, buckets, fingerprints=False, units=1, name="wide"):
    """Makes a linear model of numbers, buckets, words, weighted ids and crosses.

    Args:
        boundaries: increasing list of the boundaries of the age buckets.
        size: number of ids; larger ids are taken modulo `size`.
        buckets: number of hash buckets of words, and of their crosses with ages.
        fingerprints: whether crosses are hashed by fingerprints, as `tf.feature_column`
            does, and not by contrib's default hash.
        units: number of outputs.
        name: scope of `linear/age_bucketized/weights`, `…/age_bucketized_X_words/…`,
            `…/words/…`, `…/ids_weighted_by_weights/…`, of `linear/scores/weight`, and
            of `linear/bias_weight`.

    Returns:
        Callable. It takes {"age": [n, 1] float tensor, "scores": [n, 2] float tensor,
        "words": [n, most] string tensor, "ids": [n, most] int64 tensor, "weights": of
        the ids, [n, most] float32 tensor}. It returns float32 [n, units].
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
    """Makes the input layer of a DNN: numbers, buckets, id counts, word embeddings.

    Args:
        boundaries: increasing list of the boundaries of the age buckets.
        size: number of ids; larger ids are taken modulo `size`.
        buckets: number of hash buckets of words.
        units: size of the word embeddings.
        name: scope of `input/words_embedding/weights`.

    Returns:
        Callable. It takes a dict as for `make_wide`. It returns float32 [n,
        len(boundaries) + 1 + units + size + 2]: the buckets, the embeddings, the
        counts, the scores.
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
    """Makes an embedding table and combines the vectors of each row's ids.

    Args:
        rows: number of ids.
        size: size of a vector.
        combiner: "mean", "sum", or "sqrtn".
        default_id: the id whose vector a row without ids gets; None for zeros.
        name: scope of the variable `table`.

    Returns:
        Callable. It takes the ids, [n, most] int64, where -1 is padding, and their
        weights, [n, most] floats. It returns [n, size]. Ids with weights of 0 or below
        are ignored, except with "sum".
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
    """Trains, evaluates and exports a linear classifier, as `learn.Experiment` does.

    Args:
        x: [n, features] float32 array.
        labels: [n] int64 array, 0 or 1.
        steps: how many steps to take, all on the same rows.

    Returns:
        dict with the `accuracy` and the `loss` after training, the `variables` by name,
        the predicted `classes` and `probabilities`, and `served`: the probabilities
        from the exported model, which takes serialized examples.
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
            min_eval_frequency=0,  # only after training
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
    """Serializes a row as a tf.train.Example with the feature `x`."""
    values = tf.train.Feature(float_list=tf.train.FloatList(value=row))
    features = tf.train.Features(feature={"x": values})
    return tf.train.Example(features=features).SerializeToString()


def make_sequences(size, units, name="reader"):
    """Makes the input layer of an RNN: an id's embedding and a number for each step.

    Args:
        size: number of ids.
        units: size of the ids' vectors.
        name: scope of `sequence_input_layer/ids_embedding/embedding_weights`.

    Returns:
        Callable. It takes {"ids": [n, time] int64 tensor, -1 past the end, "scores":
        [n, time] float32 tensor}. It returns the vectors with the scores appended,
        float32 [n, time, units + 1], zeros past the end, and the lengths, int64 [n].

    Raises:
        tf.errors.InvalidArgumentError: an id is out of range.
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
