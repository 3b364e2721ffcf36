"""`tf.feature_column`: `numeric_column`, `embedding_column`, … → functions."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

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


def parse_examples(serialized, size, default=None):
    """Parses `tf.train.Example`s into dense scores, and sparse words and ids."""
    # --- spec
    spec = {
        "scores": tf.io.FixedLenFeature(
            [size], tf.float32, None if default is None else [default] * size
        ),
        "words": tf.io.VarLenFeature(tf.string),
        "ids": tf.io.VarLenFeature(tf.int64),
    }
    # --- parse
    return tf.io.parse_example(serialized, spec)


def standardize(features, statistics):
    """Standardizes numeric columns by mean and deviation; joins them sorted by name."""
    # --- columns
    columns = {
        name: tf.cast((features[name] - mean) / deviation, tf.float32)
        for name, (mean, deviation) in statistics.items()
    }
    # --- join
    return tf.concat([columns[name] for name in sorted(columns)], axis=1)


def bucketize(x, boundaries):
    """Encodes numbers' buckets as one-hot; a boundary is in the bucket above it."""
    if len(x.shape) != 2:
        raise ValueError(f"x must be [n, size], not {x.shape}")
    # --- buckets
    buckets = bucket_of(x, boundaries)
    # --- one-hot
    one_hot = tf.one_hot(buckets, len(boundaries) + 1)
    return tf.reshape(one_hot, [-1, x.shape[1] * (len(boundaries) + 1)])


def bucket_of(x, boundaries):
    """Returns the number of boundaries <= x, with x in float32 as in columns."""
    check_boundaries(boundaries)
    # The layer tf.keras.layers.Discretization would give the same numbers.
    return tf.raw_ops.Bucketize(input=tf.cast(x, tf.float32), boundaries=boundaries)


def check_boundaries(boundaries):
    if not len(boundaries):
        raise ValueError("boundaries must not be empty.")
    if list(boundaries) != sorted(set(boundaries)):
        raise ValueError(f"boundaries must be a sorted list, not {boundaries}")


def count_ids(ids, size, default_value=None):
    """Counts how often each id occurs in a row; -1 is padding."""
    # --- ids
    ids = checked(ids, size, default_value)
    # --- count
    return counts(ids, size)


def checked(ids, size, default_value=None):
    """Checks ids as `categorical_column_with_identity` does; -1 is padding."""
    ids = tf.convert_to_tensor(ids)
    if ids.shape.rank == 1:  # one id per row
        ids = ids[:, None]
    if not ids.dtype.is_integer:
        raise ValueError(f"Invalid input, not integer: {ids.dtype.name}")
    ids = tf.cast(ids, tf.int64)
    if default_value is not None:
        if not 0 <= default_value < size:
            raise ValueError(f"default_value {default_value} not in range [0, {size})")
        return tf.where((ids >= -1) & (ids < size), ids, default_value)
    none, limit = tf.constant(-1, tf.int64), tf.constant(size, tf.int64)
    tf.debugging.assert_greater_equal(ids, none, "Negative bucket index")
    tf.debugging.assert_less(ids, limit, "Bucket index exceeds number of buckets")
    return ids


def hashable(values):
    """Converts strings or integers to a tensor; refuses floats, as hash columns do."""
    values = tf.convert_to_tensor(values)
    if values.dtype != tf.string and not values.dtype.is_integer:
        raise ValueError(f"dtype must be string or integer: {values.dtype.name}")
    return values


def counts(ids, size):
    """Counts how often each id occurs in a row; -1 is not counted."""
    return tf.reduce_sum(tf.one_hot(ids, size), axis=-2)


def make_word_counter(words, num_oov_buckets=0, default_value=-1, name="counter"):
    """Makes a counter of vocabulary words, with buckets for out-of-vocabulary words.

    Returns a `WordCounter`; see the class.
    """
    if num_oov_buckets and default_value != -1:
        raise ValueError("Can't specify both num_oov_buckets and default_value")
    return WordCounter(words, num_oov_buckets, default_value)


class WordCounter(tf.Module):
    """Counts how often each word of a vocabulary occurs in a row.

    A call takes words, [n, most] strings or ints, padded with "" or -1. It returns
    float32 [n, len(words) + num_oov_buckets].

    Args:
        words: list of distinct strings or ints, the vocabulary.
        num_oov_buckets: number of buckets that out-of-vocabulary words are hashed into.
        default_value: index that out-of-vocabulary words count as; -1 to ignore them.
    """

    def __init__(self, words, num_oov_buckets, default_value):
        super().__init__()
        # --- vocabulary
        self.vocabulary = Vocabulary(words, num_oov_buckets, default_value)

    def __call__(self, inputs):
        # --- count
        return counts(self.vocabulary(inputs), self.vocabulary.size)


class Vocabulary(tf.Module):
    """Lookup table from words to their int64 indices; padding has the index -1.

    A call takes strings or ints of any shape. Unlike in TensorFlow 1, no table
    initializer must be run.

    Args:
        words: list of distinct strings or ints.
        num_oov_buckets: number of buckets that out-of-vocabulary words are hashed into,
            with indices after the indices of the words.
        default_value: index of out-of-vocabulary words, if there are no buckets.
    """

    def __init__(self, words, num_oov_buckets=0, default_value=-1):
        super().__init__()
        self.size = len(words) + num_oov_buckets
        numbers = tf.range(len(words), dtype=tf.int64)
        initializer = tf.lookup.KeyValueTensorInitializer(np.array(words), numbers)
        self.table = index_table(initializer, num_oov_buckets, default_value)

    def __call__(self, inputs):
        inputs = tf.convert_to_tensor(inputs)
        if inputs.dtype.is_integer:  # integer keys are int64
            inputs = tf.cast(inputs, tf.int64)
        return tf.where(missing(inputs), tf.constant(-1, tf.int64), self.table[inputs])


def index_table(initializer, num_oov_buckets, default_value=-1):
    if num_oov_buckets:
        return tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets)
    return tf.lookup.StaticHashTable(initializer, default_value)


def missing(values):
    """Returns the mask of the padding: True for "" and -1."""
    return values == ("" if values.dtype == tf.string else -1)


def present(values):
    """Converts to a sparse tensor without the padding."""
    places = tf.where(~missing(values))
    shape = tf.shape(values, tf.int64)
    return tf.SparseTensor(places, tf.gather_nd(values, places), shape)


def look_up(words, lines, vocabulary_size=None, num_oov_buckets=0):
    """Maps words to ids and back with a vocabulary file of one word per line."""
    with tempfile.TemporaryDirectory() as folder:
        # --- file
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        # --- tables
        inputs = tf.constant(words)
        size = len(lines) if vocabulary_size is None else vocabulary_size
        to_id = index_table(lines_of(path, vocabulary_size), num_oov_buckets)
        to_word = tf.lookup.StaticHashTable(
            lines_of(path, vocabulary_size, by_number=True), "UNK"
        )
        # --- look up
        ids = to_id[inputs]
        counted = tf.where(missing(inputs), tf.constant(-1, tf.int64), ids)
        found = {
            "counts": counts(counted, size + num_oov_buckets),
            "ids": ids,
            "words": to_word[ids],
        }
        return {key: value.numpy() for key, value in found.items()}


def lines_of(path, size, by_number=False):
    """Makes a table initializer from a file's lines to their numbers, or in reverse."""
    line = tf.string, tf.lookup.TextFileIndex.WHOLE_LINE
    number = tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    order = (*number, *line) if by_number else (*line, *number)
    return tf.lookup.TextFileInitializer(path, *order, size)


def hash_values(values, buckets):
    """Counts the values of a row in hash buckets."""
    # --- hash
    values = hashable(values)
    # Numbers are hashed as strings.
    texts = values if values.dtype == tf.string else tf.strings.as_string(values)
    ids = tf.strings.to_hash_bucket_fast(texts, buckets)
    # --- count
    return counts(tf.where(missing(values), tf.constant(-1, tf.int64), ids), buckets)


def cross(words, ages, boundaries, buckets, hash_key=None, sparse=False):
    """Crosses each word with the age bucket of its row, and counts the hashed pairs."""
    # --- cross
    if sparse:
        words = present(words)
    ids = crossed(words, bucket_of(ages, boundaries), buckets, hash_key)
    # --- count
    return counts(tf.sparse.to_dense(ids, -1), buckets)


def crossed(words, numbers, buckets, hash_key=None):
    """Hashes pairs of each word and the number of its row, as a sparse tensor."""
    numbers = tf.cast(numbers, tf.int64)[:, None]
    # The hash depends on the order. The kernel always puts sparse inputs first, and in
    # v1 the ids of a column were sparse. A dense "" counts as a word.
    if isinstance(words, tf.SparseTensor):
        inputs = [words, numbers]
    else:
        inputs = [numbers, tf.convert_to_tensor(words)]
    return tf.sparse.cross_hashed(inputs, buckets, hash_key)


def make_embedding(keys, rows, size, combiner="mean", max_norm=None, name="dnn"):
    """Makes an embedding column: combines the vectors of each row's ids per feature.

    Returns an `Embedding`; see the class.
    """
    return Embedding(keys, rows, size, combiner, max_norm, name)


class Embedding(tf.Module):
    """Embedding column: combines the vectors of each feature's ids, from one table.

    A call takes {key: [n, most] ints}, padded with -1, and, if there is one feature,
    optional weights of its ids, [n, most] numbers. It returns float32 [n, size *
    len(keys)], sorted by key, zeros for a row without ids. The first call makes the
    table: its name depends on whether there are weights.

    `keras.layers.Embedding` returns a vector for each id. It has no combiner and no
    weights of ids.

    Args:
        keys: list of the names of the features.
        rows: number of ids.
        size: size of a vector.
        combiner: "mean", "sum" or "sqrtn", the sum divided by the root of the count.
        max_norm: maximum norm of a vector, or None.
        name: scope of the variable `input_layer/…_embedding/embedding_weights`.

    Raises:
        tf.errors.InvalidArgumentError: from a call: an id out of range, or a weight 0.
    """

    def __init__(self, keys, rows, size, combiner, max_norm, name):
        super().__init__()  # a module's name must not contain a "/"
        self.keys, self.rows, self.size = sorted(keys), rows, size
        self.combiner, self.max_norm, self.path = combiner, max_norm, name
        self.table = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.table is not None

    def __call__(self, features, weights=None):
        if self.table is None:
            self.table = self.make_table(weights is not None)
        # --- ids
        sparse = [present(checked(features[key], self.rows)) for key in self.keys]
        if weights is not None:
            weights = tf.sparse.from_dense(tf.cast(weights, tf.float32))
            sizes = tf.size(sparse[0].values), tf.size(weights.values)
            tf.debugging.assert_equal(
                *sizes, "Numbers of ids and of nonzero weights differ"
            )
        # --- combine
        vectors = [
            combine(self.table, ids, weights, self.combiner, self.max_norm)
            for ids in sparse
        ]
        return tf.concat(vectors, axis=1)

    def make_table(self, weighted):
        """Makes the variable; its name depends on the type of column."""
        column = "_".join(self.keys)
        column += "_weighted_by_weight" if weighted else ""
        column += "_shared_embedding" if len(self.keys) > 1 else "_embedding"
        draw = initializers.random_normal(stddev=0.125, seed=1)
        path = f"{self.path}/input_layer/{column}/embedding_weights"
        with tf.name_scope(""):  # keeps outer scopes out of the name
            return tf.Variable(draw([self.rows, self.size]), name=path)


def combine(table, ids, weights=None, combiner="mean", max_norm=None):
    """Combines the vectors of each row of ids; zeros for an empty row."""
    return tf.nn.safe_embedding_lookup_sparse(
        table, ids, weights, combiner, max_norm=max_norm
    )


def make_linear_model(
    words, boundaries, buckets, units=1, sparse_combiner="sum", name="linear"
):
    """Makes a linear model of an age bucket, an income, words, and their crosses.

    Returns a `LinearModel`; see the class.
    """
    return LinearModel(words, boundaries, buckets, units, sparse_combiner, name)


class LinearModel(tf.Module):
    """Linear model of an age bucket, an income, words, and crosses of age and words.

    A call takes {"age": [n], "income": [n] floats, "words": [n, most] strings} and
    returns float32 [n, units]. All weights are zeros at first. The sums of the columns
    are added in the order of their names, as `tf.feature_column.linear_model` of 1.15.5
    did.

    Args:
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, the boundaries of the age buckets.
        buckets: number of hash buckets of the crosses.
        units: number of outputs.
        sparse_combiner: "sum", "mean" or "sqrtn", over the words of a row.
        name: scope of the variables `linear_model/…/weights` and
            `linear_model/bias_weights`.
    """

    def __init__(self, words, boundaries, buckets, units, sparse_combiner, name):
        super().__init__()
        self.vocabulary, self.boundaries = Vocabulary(words), boundaries
        self.buckets, self.sparse_combiner = buckets, sparse_combiner
        sizes = {
            "age_bucketized": len(boundaries) + 1,
            "age_bucketized_X_words": buckets,
            "income": 1,
            "words": len(words),
        }
        path = f"{name}/linear_model"
        with tf.name_scope(""):  # keeps outer scopes out of the names
            self.weights = {
                column: tf.Variable(
                    tf.zeros([size, units]), name=f"{path}/{column}/weights"
                )
                for column, size in sizes.items()
            }
            self.bias = tf.Variable(tf.zeros(units), name=f"{path}/bias_weights")

    def __call__(self, features):
        # --- columns
        age = bucket_of(features["age"], self.boundaries)
        words = features["words"]
        ids = {
            "age_bucketized": present(age[:, None]),
            "age_bucketized_X_words": crossed(words, age, self.buckets),
            "words": present(self.vocabulary(words)),
        }
        income = tf.cast(features["income"], tf.float32)[:, None]
        # --- sum
        sums = {
            column: combine(self.weights[column], x, combiner=self.sparse_combiner)
            for column, x in ids.items()
        }
        sums["income"] = tf.matmul(income, self.weights["income"])
        # Not tf.add_n: in a function, graph rewriting changes its order of addition.
        total = tf.reduce_sum(tf.stack([sums[column] for column in sorted(sums)]), 0)
        return tf.nn.bias_add(total, self.bias)


def train_wide_and_deep(
    features, labels, words, boundaries, weights, steps, rate=0.0625
):
    """Trains a linear model and a network jointly, on the same features."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, {"table": weights["table"].astype("f")})
        # --- features
        inputs = {key: tf.constant(value) for key, value in features.items()}
        table = tf.train.load_variable(path, "table")
    # --- model
    model = WideAndDeep(words, boundaries, dict(weights, table=table))
    optimizer = optimizers.GradientDescent(rate)
    optimizer.create_slots(model.trainable_variables)

    # --- step
    @tf.function
    def step():
        def loss():
            return tf.reduce_mean(tf.square(model(inputs) - labels))

        return optimizer.minimize(loss, model.trainable_variables)

    # --- run
    losses = [step().numpy() for _ in range(steps)]
    variables = {v.name[:-2]: v.numpy() for v in model.trainable_variables}
    return {"losses": np.array(losses, labels.dtype), "variables": variables}


class WideAndDeep(tf.Module):
    """Sum of a linear model and of a network with one hidden layer.

    A call takes {"age": [n], "income": [n] floats, "words": [n, most] strings} and
    returns [n, 1] of the dtype of `hidden`. The inputs of the network are age / 64 and
    the mean of the words' vectors.

    Args:
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, the boundaries of the age buckets.
        weights: {"table": [len(words), size] float32, "hidden": [size + 1, units],
            "output": [units, 1]} arrays, the last two of one dtype.
    """

    def __init__(self, words, boundaries, weights):
        super().__init__()
        self.wide = LinearModel(words, boundaries, 8, 1, "sum", "linear")
        # The names of the old checkpoints.
        path = "dnn/input_layer/words_embedding/embedding_weights"
        self.table = tf.Variable(weights["table"], name=path)
        self.hidden = tf.Variable(weights["hidden"], name="dnn/hidden")
        self.output = tf.Variable(weights["output"], name="dnn/output")

    def __call__(self, features):
        age = tf.cast(features["age"] / 64, tf.float32)[:, None]
        words = present(self.wide.vocabulary(features["words"]))
        # "age" is before "words_embedding": this is the order of the rows of `hidden`.
        net = tf.concat([age, combine(self.table, words)], axis=1)
        net = tf.nn.relu(tf.matmul(tf.cast(net, self.hidden.dtype), self.hidden))
        deep = tf.matmul(net, self.output)
        return tf.cast(self.wide(features), deep.dtype) + deep
