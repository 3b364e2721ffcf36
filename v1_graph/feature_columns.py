"""`tf.feature_column`: `numeric_column`, `embedding_column`, … → functions."""

import functools
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "parse_examples",
    "standardize",
    "bucketize",
    "count_ids",
    "make_word_counter",
    "look_up",
    "hash_values",
    "cross",
    "make_embedding",
    "make_linear_model",
    "train_wide_and_deep",
]

fc = tf.feature_column


def parse_examples(serialized, size, default=None):
    """Parses `tf.train.Example`s into dense scores, and sparse words and ids.

    Args:
        serialized: [n] string tensor, each a tf.train.Example.
        size: number of `scores` of an example.
        default: value of each score if they are missing; None if they are required.

    Returns:
        dict of `scores`, [n, size] float32, and of the sparse `words`, string, and
        `ids`, int64, both [n, most].

    Raises:
        tf.errors.InvalidArgumentError: the scores are missing, or their number is not
            `size`.
    """
    # --- spec
    columns = [
        fc.numeric_column("scores", [size], default_value=default),
        fc.categorical_column_with_hash_bucket("words", 10),
        fc.categorical_column_with_identity("ids", 10),
    ]
    spec = fc.make_parse_example_spec(columns)
    # --- parse
    return tf.parse_example(serialized, spec)


def standardize(features, statistics):
    """Standardizes numeric columns by mean and deviation; joins them sorted by name.

    Args:
        features: {name: [n, size] float tensor}.
        statistics: {name: (mean, deviation)}, numbers.

    Returns:
        [n, sum of the sizes] float32 tensor for features of any dtype.
    """

    def normalize(x, mean, deviation):
        return (x - mean) / deviation

    # --- columns
    columns = []
    for name, (mean, deviation) in statistics.items():
        normalizer = functools.partial(normalize, mean=mean, deviation=deviation)
        shape = features[name].shape[1:].as_list()
        columns.append(fc.numeric_column(name, shape, normalizer_fn=normalizer))
    # --- join
    return fc.input_layer(features, columns)


def bucketize(x, boundaries):
    """Encodes numbers' buckets as one-hot; a boundary is in the bucket above it.

    Args:
        x: [n, size] float tensor.
        boundaries: list of increasing numbers.

    Returns:
        [n, size * (len(boundaries) + 1)] float32 tensor.

    Raises:
        ValueError: the boundaries are empty or do not increase, or x is not a matrix.
    """
    # --- buckets
    column = fc.numeric_column("x", x.shape[1:].as_list())
    buckets = fc.bucketized_column(column, boundaries)
    # --- one-hot
    return fc.input_layer({"x": x}, [buckets])


def count_ids(ids, size, default_value=None):
    """Counts how often each id occurs in a row; -1 is padding.

    Args:
        ids: [n, most] int tensor, or [n], one id per row.
        size: number of ids.
        default_value: replacement for ids out of range; None if they are errors.

    Returns:
        [n, size] float32 tensor.

    Raises:
        tf.errors.InvalidArgumentError: an id is out of range, and no default is given.
        ValueError: ids that are not integers, or a default out of range.
    """
    # --- ids
    column = fc.categorical_column_with_identity("ids", size, default_value)
    # --- count
    return fc.input_layer({"ids": ids}, [fc.indicator_column(column)])


def make_word_counter(words, num_oov_buckets=0, default_value=-1, name="counter"):
    """Makes a counter of vocabulary words, with buckets for out-of-vocabulary words.

    Args:
        words: list of distinct strings or ints, the vocabulary.
        num_oov_buckets: number of buckets that out-of-vocabulary words are hashed into.
        default_value: index that out-of-vocabulary words count as; -1 to ignore them.
        name: scope.

    Returns:
        Callable from an [n, most] tensor, padded with "" (or -1), to float32
        [n, len(words) + num_oov_buckets].

    Raises:
        ValueError: both `num_oov_buckets` and `default_value` are given. In TensorFlow
            1 the callable raises it.
    """

    def count(inputs):
        # --- vocabulary
        column = fc.categorical_column_with_vocabulary_list(
            "words",
            words,
            default_value=default_value,
            num_oov_buckets=num_oov_buckets,
        )
        # --- count
        return fc.input_layer({"words": inputs}, [fc.indicator_column(column)])

    return tf.make_template(name, count)


def look_up(words, lines, vocabulary_size=None, num_oov_buckets=0):
    """Maps words to ids and back with a vocabulary file of one word per line.

    Args:
        words: [n, most] string array, padded with "".
        lines: list of strings, the lines of the file.
        vocabulary_size: number of lines to use; None for all.
        num_oov_buckets: number of buckets that out-of-vocabulary words are hashed into.

    Returns:
        dict with the `counts`, [n, size + num_oov_buckets] float32, the `ids`, int64
        like words, and the `words` of these ids, "UNK" for an unknown id.

    Raises:
        tf.errors.InvalidArgumentError: `vocabulary_size` is above the number of lines.
        tf.errors.FailedPreconditionError: a line is in the file twice.
    """
    from tensorflow.contrib import lookup  # only 1.15 and earlier have it

    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        # --- file
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        # --- tables
        inputs = tf.constant(words)
        column = fc.categorical_column_with_vocabulary_file(
            "words", path, vocabulary_size, num_oov_buckets
        )
        counts = fc.input_layer({"words": inputs}, [fc.indicator_column(column)])
        to_id = lookup.index_table_from_file(path, num_oov_buckets, vocabulary_size)
        to_word = lookup.index_to_string_table_from_file(path, vocabulary_size)
        # --- look up
        ids = to_id.lookup(inputs)
        found = {"counts": counts, "ids": ids, "words": to_word.lookup(ids)}
        with tf.Session() as sess:
            sess.run(tf.tables_initializer())
            return sess.run(found)


def hash_values(values, buckets):
    """Counts the values of a row in hash buckets.

    Args:
        values: [n, most] string or int tensor, padded with "" or -1.
        buckets: number of hash buckets.

    Returns:
        [n, buckets] float32 tensor.

    Raises:
        ValueError: values that are floats.
    """
    # --- hash
    column = fc.categorical_column_with_hash_bucket(
        "values", buckets, values.dtype.base_dtype
    )
    # --- count
    return fc.input_layer({"values": values}, [fc.indicator_column(column)])


def cross(words, ages, boundaries, buckets, hash_key=None, sparse=False):
    """Crosses each word with the age bucket of its row, and counts the hashed pairs.

    Args:
        words: [n, most] string tensor.
        ages: [n] float tensor.
        boundaries: list of increasing numbers, the boundaries of the age buckets.
        buckets: number of hash buckets for the pairs.
        hash_key: key of the hash; None for TensorFlow's default.
        sparse: whether to convert the words to sparse, as a parser does, without "".

    Returns:
        [n, buckets] float32 tensor.
    """
    # --- cross
    if sparse:
        places = tf.where(tf.not_equal(words, ""))
        shape = tf.shape(words, out_type=tf.int64)
        words = tf.SparseTensor(places, tf.gather_nd(words, places), shape)
    age = fc.bucketized_column(fc.numeric_column("age"), boundaries)
    column = fc.crossed_column(["words", age], buckets, hash_key)
    # --- count
    features = {"words": words, "age": ages}
    return fc.input_layer(features, [fc.indicator_column(column)])


def make_embedding(keys, rows, size, combiner="mean", max_norm=None, name="dnn"):
    """Makes an embedding column: combines the vectors of each row's ids per feature.

    Args:
        keys: list of the names of the features that share the table.
        rows: number of ids.
        size: size of a vector.
        combiner: "mean", "sum", or "sqrtn", the sum divided by the root of the count.
        max_norm: maximum norm of a vector, or None.
        name: scope of the variable `input_layer/…_embedding/embedding_weights`.

    Returns:
        Callable from {key: [n, most] int tensor}, padded with -1, and, if there is one
        feature, optional weights of its ids, to float32 [n, size * len(keys)]: zeros
        for a row without ids.

    Raises:
        tf.errors.InvalidArgumentError: from the callable: an id out of range, or a
            weight of 0, which is dropped while its id is kept.
    """

    def embedding(features, weights=None):
        # --- ids
        columns = [fc.categorical_column_with_identity(key, rows) for key in keys]
        if weights is not None:
            features = dict(features, weight=weights)
            columns = [fc.weighted_categorical_column(columns[0], "weight")]
        # --- combine
        options = {
            "combiner": combiner,
            "initializer": tf.random_normal_initializer(stddev=0.125, seed=1),
            "max_norm": max_norm,
        }
        if len(keys) > 1:
            columns = fc.shared_embedding_columns(columns, size, **options)
        else:
            columns = [fc.embedding_column(columns[0], size, **options)]
        return fc.input_layer(features, columns)

    return tf.make_template(name, embedding)


def make_linear_model(
    words, boundaries, buckets, units=1, sparse_combiner="sum", name="linear"
):
    """Makes a linear model of an age bucket, an income, words, and their crosses.

    Args:
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, the boundaries of the age buckets.
        buckets: number of hash buckets for pairs of words and ages.
        units: number of outputs.
        sparse_combiner: "sum", "mean" or "sqrtn", over the words of an example.
        name: scope of `linear_model/age_bucketized/weights`, of the weights of the
            other columns, and of `linear_model/bias_weights`.

    Returns:
        Callable from {"age": [n] float tensor, "income": [n] float tensor, "words": [n,
        most] string tensor} to float32 [n, units].
    """

    def linear_model(features):
        # --- columns
        age = fc.bucketized_column(fc.numeric_column("age"), boundaries)
        columns = [
            fc.numeric_column("income"),
            age,
            fc.categorical_column_with_vocabulary_list("words", words),
            fc.crossed_column(["words", age], buckets),
        ]
        # --- sum
        return fc.linear_model(features, columns, units, sparse_combiner)

    return tf.make_template(name, linear_model)


def train_wide_and_deep(
    features, labels, words, boundaries, weights, steps, rate=0.0625
):
    """Trains a linear model and a network jointly, on the same features.

    Args:
        features: {"age": [n] float array, "income": [n] float array, "words": [n, most]
            string array}, padded with "".
        labels: [n, 1] float array.
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, the boundaries of the age buckets.
        weights: {"table": [len(words), size] float32 array, which is loaded from a
            checkpoint, "hidden": [size + 1, units] and "output": [units, 1] arrays of
            the dtype of the labels}.
        steps: number of steps.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step and the final `variables`.
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        path = _write({"table": weights["table"].astype("f")}, folder)
        # --- features
        inputs = {key: tf.constant(value) for key, value in features.items()}
        age = fc.numeric_column("age", normalizer_fn=lambda x: x / 64)
        vector = fc.embedding_column(
            fc.categorical_column_with_vocabulary_list("words", words),
            weights["table"].shape[1],
            ckpt_to_load_from=path,
            tensor_name_in_ckpt="table",
        )
        # --- model
        wide = make_linear_model(words, boundaries, 8)(inputs)
        with tf.variable_scope("dnn"):
            # input_layer sorts by name: "age" is before "words_embedding".
            net = fc.input_layer(inputs, [vector, age])
            hidden = tf.get_variable("hidden", initializer=weights["hidden"])
            net = tf.nn.relu(tf.matmul(tf.cast(net, hidden.dtype.base_dtype), hidden))
            output = tf.get_variable("output", initializer=weights["output"])
            deep = tf.matmul(net, output)
        loss = tf.reduce_mean(tf.square(tf.cast(wide, deep.dtype) + deep - labels))
        # --- step
        optimizer = tf.train.GradientDescentOptimizer(rate)
        gradients = optimizer.compute_gradients(loss)
        with tf.control_dependencies([loss]):
            step = optimizer.apply_gradients(gradients)
        # --- run
        with tf.Session() as sess:
            # This reads the checkpoint, which is now the initializer of the table.
            sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
            losses = [sess.run([loss, step])[0] for _ in range(steps)]
            variables = {v.op.name: sess.run(v) for v in tf.trainable_variables()}
            return {"losses": np.array(losses, labels.dtype), "variables": variables}


def _write(arrays, folder):
    """Writes a checkpoint with these arrays, and returns its path."""
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, array in arrays.items():
            tf.get_variable(name, initializer=array)
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))
