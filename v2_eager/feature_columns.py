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
    """Parses examples into dense numbers, and sparse words and ids."""
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
    """Subtracts means, divides by deviations, and joins the columns: sorted by name."""
    # --- columns
    columns = {
        name: tf.cast((features[name] - mean) / deviation, tf.float32)
        for name, (mean, deviation) in statistics.items()
    }
    # --- join
    return tf.concat([columns[name] for name in sorted(columns)], axis=1)


def bucketize(x, boundaries):
    """Gives the bucket of numbers, one-hot: a boundary is of the bucket above it."""
    if len(x.shape) != 2:
        raise ValueError(f"x must be [n, size], not {x.shape}")
    # --- buckets
    buckets = bucket_of(x, boundaries)
    # --- one-hot
    one_hot = tf.one_hot(buckets, len(boundaries) + 1)
    return tf.reshape(one_hot, [-1, x.shape[1] * (len(boundaries) + 1)])


def bucket_of(x, boundaries):
    """How many of the boundaries are not above x, which columns cast to float32."""
    check_boundaries(boundaries)
    # tf.keras.layers.Discretization would give the same numbers, by a layer of its own.
    return tf.raw_ops.Bucketize(input=tf.cast(x, tf.float32), boundaries=boundaries)


def check_boundaries(boundaries):
    if not len(boundaries):
        raise ValueError("boundaries must not be empty.")
    if list(boundaries) != sorted(set(boundaries)):
        raise ValueError(f"boundaries must be a sorted list, not {boundaries}")


def count_ids(ids, size, default_value=None):
    """Counts how often each id is in a row; -1 is none at all."""
    # --- ids
    ids = checked(ids, size, default_value)
    # --- count
    return counts(ids, size)


def checked(ids, size, default_value=None):
    """The ids that a column with identity has, [n, most], -1 for none."""
    ids = tf.convert_to_tensor(ids)
    if ids.shape.rank == 1:  # one in a row
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
    """The texts or integers that a column with hashes has, as a tensor."""
    values = tf.convert_to_tensor(values)
    if values.dtype != tf.string and not values.dtype.is_integer:
        raise ValueError(f"dtype must be string or integer: {values.dtype.name}")
    return values


def counts(ids, size):
    """How often each id is in a row. That of -1 is no number, and its one_hot zeros."""
    return tf.reduce_sum(tf.one_hot(ids, size), axis=-2)


def make_word_counter(words, num_oov_buckets=0, default_value=-1, name="counter"):
    """Makes a counter of the words of a list, and of what is out of vocabulary.

    Returns a `WordCounter`; see the class.
    """
    if num_oov_buckets and default_value != -1:
        raise ValueError("Can't specify both num_oov_buckets and default_value")
    return WordCounter(words, num_oov_buckets, default_value)


class WordCounter(tf.Module):
    """Counts how often each word of a vocabulary is in a row.

    A call takes words, [n, most] strings or ints, "" or -1 being no word. It returns
    float32 [n, len(words) + num_oov_buckets].

    Args:
        words: list of distinct strings or ints, the vocabulary.
        num_oov_buckets: number of buckets that out-of-vocabulary words are hashed into.
        default_value: index that out-of-vocabulary words count as; -1 for none.
    """

    def __init__(self, words, num_oov_buckets, default_value):
        super().__init__()
        # --- vocabulary
        self.vocabulary = Vocabulary(words, num_oov_buckets, default_value)

    def __call__(self, inputs):
        # --- count
        return counts(self.vocabulary(inputs), self.vocabulary.size)


class Vocabulary(tf.Module):
    """A lookup table from words to their indices, int64; -1 where there is no word.

    A call takes strings or ints of any shape. It needs no initializer to be run, as in
    TensorFlow 1.

    Args:
        words: list of distinct strings or ints.
        num_oov_buckets: number of buckets that out-of-vocabulary words are hashed into,
            their indices after those of the words.
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
        if inputs.dtype.is_integer:  # a table of numbers has keys of 64 bits
            inputs = tf.cast(inputs, tf.int64)
        return tf.where(missing(inputs), tf.constant(-1, tf.int64), self.table[inputs])


def index_table(initializer, num_oov_buckets, default_value=-1):
    if num_oov_buckets:
        return tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets)
    return tf.lookup.StaticHashTable(initializer, default_value)


def missing(values):
    """Where a column sees nothing: at "" and -1."""
    return values == ("" if values.dtype == tf.string else -1)


def present(values):
    """The others, as a sparse tensor."""
    places = tf.where(~missing(values))
    shape = tf.shape(values, tf.int64)
    return tf.SparseTensor(places, tf.gather_nd(values, places), shape)


def look_up(words, lines, vocabulary_size=None, num_oov_buckets=0):
    """Looks words up in a file with one to a line, and numbers up again."""
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
    """What fills a table from the lines of a file to their numbers, or from these."""
    line = tf.string, tf.lookup.TextFileIndex.WHOLE_LINE
    number = tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    order = (*number, *line) if by_number else (*line, *number)
    return tf.lookup.TextFileInitializer(path, *order, size)


def hash_values(values, buckets):
    """Counts the values of a row in buckets that their hashes choose."""
    # --- hash
    values = hashable(values)
    # Numbers are hashed as text.
    texts = values if values.dtype == tf.string else tf.strings.as_string(values)
    ids = tf.strings.to_hash_bucket_fast(texts, buckets)
    # --- count
    return counts(tf.where(missing(values), tf.constant(-1, tf.int64), ids), buckets)


def cross(words, ages, boundaries, buckets, hash_key=None, sparse=False):
    """Counts the pairs of each word and the age's bucket, hashed into buckets."""
    # --- cross
    if sparse:
        words = present(words)
    ids = crossed(words, bucket_of(ages, boundaries), buckets, hash_key)
    # --- count
    return counts(tf.sparse.to_dense(ids, -1), buckets)


def crossed(words, numbers, buckets, hash_key=None):
    """The hashes of the pairs of each word and the number of its row, sparse."""
    numbers = tf.cast(numbers, tf.int64)[:, None]
    # The order is in the hash. The kernel takes what is sparse first, whatever the list
    # says, and in v1 the ids of a column were sparse. A dense "" is a word.
    if isinstance(words, tf.SparseTensor):
        inputs = [words, numbers]
    else:
        inputs = [numbers, tf.convert_to_tensor(words)]
    return tf.sparse.cross_hashed(inputs, buckets, hash_key)


def make_embedding(keys, rows, size, combiner="mean", max_norm=None, name="dnn"):
    """Makes a table of vectors and combines those of an example, feature by feature.

    Returns an `Embedding`; see the class.
    """
    return Embedding(keys, rows, size, combiner, max_norm, name)


class Embedding(tf.Module):
    """Looks up the ids of features in one table and combines the vectors of each row.

    A call takes {key: [n, most] ints}, -1 for no id, and optionally weights of the only
    feature's ids, [n, most] numbers. It returns float32 [n, size * len(keys)], sorted
    by key, zeros for a row without ids. The first call makes the table: its name
    depends on whether there are weights.

    `keras.layers.Embedding` returns a vector for each id: it has no combiner and no
    weights of ids.

    Args:
        keys: list of the names of the features.
        rows: number of ids.
        size: size of a vector.
        combiner: "mean", "sum" or "sqrtn", the sum over the root of the number.
        max_norm: length that longer vectors are scaled down to, or None.
        name: scope of the variable `input_layer/…_embedding/embedding_weights`.

    Raises:
        tf.errors.InvalidArgumentError: in a call: an id out of range, or a weight of 0.
    """

    def __init__(self, keys, rows, size, combiner, max_norm, name):
        super().__init__()  # whose name would have to be an identifier, without a "/"
        self.keys, self.rows, self.size = sorted(keys), rows, size
        self.combiner, self.max_norm, self.path = combiner, max_norm, name
        self.table = None

    @property
    def built(self):
        """Whether it has its variables."""
        return self.table is not None

    def __call__(self, features, weights=None):
        if self.table is None:
            self.table = self.make_table(weights is not None)
        # --- ids
        sparse = [present(checked(features[key], self.rows)) for key in self.keys]
        if weights is not None:
            weights = tf.sparse.from_dense(tf.cast(weights, tf.float32))
            sizes = tf.size(sparse[0].values), tf.size(weights.values)
            tf.debugging.assert_equal(*sizes, "Not as many ids as weights other than 0")
        # --- combine
        vectors = [
            combine(self.table, ids, weights, self.combiner, self.max_norm)
            for ids in sparse
        ]
        return tf.concat(vectors, axis=1)

    def make_table(self, weighted):
        """The variable, under the name that the kind of column gave it."""
        column = "_".join(self.keys)
        column += "_weighted_by_weight" if weighted else ""
        column += "_shared_embedding" if len(self.keys) > 1 else "_embedding"
        draw = initializers.random_normal(stddev=0.125, seed=1)
        path = f"{self.path}/input_layer/{column}/embedding_weights"
        with tf.name_scope(""):  # an outer scope is no part of the name
            return tf.Variable(draw([self.rows, self.size]), name=path)


def combine(table, ids, weights=None, combiner="mean", max_norm=None):
    """A vector for each row of ids, zeros where it is empty."""
    return tf.nn.safe_embedding_lookup_sparse(
        table, ids, weights, combiner, max_norm=max_norm
    )


def make_linear_model(
    words, boundaries, buckets, units=1, sparse_combiner="sum", name="linear"
):
    """Makes a sum of weights: of the age's bucket, an income, words, their crosses.

    Returns a `LinearModel`; see the class.
    """
    return LinearModel(words, boundaries, buckets, units, sparse_combiner, name)


class LinearModel(tf.Module):
    """A linear model of an age's bucket, an income, words, and crosses of both.

    A call takes {"age": [n], "income": [n] floats, "words": [n, most] strings} and
    returns float32 [n, units]. All weights are zeros at first. The sums of the columns
    are added in the order of their names, as `tf.feature_column.linear_model` of 1.15.5
    did.

    Args:
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, of the ages.
        buckets: number of hash buckets of the crosses.
        units: number of outputs.
        sparse_combiner: of the words of a row: "sum", "mean" or "sqrtn".
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
        with tf.name_scope(""):  # an outer scope is no part of the names
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
        # tf.add_n says the same, but in a function it is rewritten to another order.
        total = tf.reduce_sum(tf.stack([sums[column] for column in sorted(sums)]), 0)
        return tf.nn.bias_add(total, self.bias)


def train_wide_and_deep(
    features, labels, words, boundaries, weights, steps, rate=0.0625
):
    """Trains a linear model and a network at once, on the same features."""
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
    """A linear model and a network of one hidden layer, whose outputs are added.

    A call takes {"age": [n], "income": [n] floats, "words": [n, most] strings} and
    returns [n, 1] of the dtype of `hidden`. The network reads the age over 64 and the
    mean of the words' vectors.

    Args:
        words: list of strings, the vocabulary.
        boundaries: list of increasing numbers, of the ages.
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
        # "age" comes before "words_embedding": what hidden's rows stand for.
        net = tf.concat([age, combine(self.table, words)], axis=1)
        net = tf.nn.relu(tf.matmul(tf.cast(net, self.hidden.dtype), self.hidden))
        deep = tf.matmul(net, self.output)
        return tf.cast(self.wide(features), deep.dtype) + deep
