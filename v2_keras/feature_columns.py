"""`tf.feature_column`: `numeric_column`, `embedding_column`, … → functions."""

import keras
import tensorflow as tf
from keras import layers

from v2_eager.feature_columns import check_boundaries, checked, hashable

__all__ = [
    "standardize",
    "bucketize",
    "count_ids",
    "make_word_counter",
    "hash_values",
]


def standardize(features, statistics):
    """Standardizes numeric columns by mean and deviation; joins them sorted by name.

    `Normalization` takes variances, and replaces deviations below 1e-7 by 1e-7.
    """
    columns = []
    for name in sorted(statistics):
        mean, deviation = statistics[name]
        normalize = layers.Normalization(mean=mean, variance=deviation**2)
        columns.append(normalize(features[name]))
    return layers.Concatenate()(columns)


def bucketize(x, boundaries):
    """Encodes numbers' buckets as one-hot; a boundary is in the bucket above it.

    `Discretization` returns the index of the bucket by default.

    Raises:
        ValueError: the boundaries are empty or do not increase (Keras accepts equal
            boundaries), or x is not a matrix.
    """
    if len(x.shape) != 2:
        raise ValueError(f"x must be [n, size], not {x.shape}")
    check_boundaries(boundaries)
    buckets = layers.Discretization(bin_boundaries=boundaries)(x)
    one_hot = keras.ops.one_hot(buckets, len(boundaries) + 1, dtype="float32")
    return layers.Flatten()(one_hot)


def count_ids(ids, size, default_value=None):
    """Counts how often each id occurs in a row; -1 is padding.

    Keras counts ids from 0: -1 is shifted to a column 0, which is then dropped.

    Raises:
        ValueError: ids that are not integers, which Keras would truncate, or a default
            out of range.
    """
    ids = checked(ids, size, default_value)  # Keras drops ids that are too large
    counts = layers.CategoryEncoding(size + 1, output_mode="count")(ids + 1)
    return counts[:, 1:]


def make_word_counter(words, num_oov_buckets=0, default_value=-1, name="counter"):
    """Makes a counter of vocabulary words, with buckets for out-of-vocabulary words.

    Returns a `WordCounter`; see the class.

    `StringLookup` puts out-of-vocabulary indices first. With `num_oov_indices=0` it
    raises an error at an unknown word, which TensorFlow 1 ignored. So this layer always
    has a bucket, and drops its count if `num_oov_buckets` is 0.

    Raises:
        TypeError: from the callable: words that are floats, which Keras would truncate.
    """
    if num_oov_buckets and default_value != -1:
        raise ValueError("Can't specify both num_oov_buckets and default_value")
    return WordCounter(words, num_oov_buckets, default_value, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class WordCounter(layers.Layer):
    """Counts how often each word of a vocabulary occurs in a row.

    [batch, most] words become [batch, len(words) + num_oov_buckets] floats; "" and -1
    are padding, and not counted.

    Args:
        words: list of str or of ints, the vocabulary.
        num_oov_buckets: int, the number of columns for unknown words, which their
            hashes choose; with 0 they are not counted.
        default_value: int, the index of the word that unknown words count as, or -1.
        **options: arguments of `keras.layers.Layer`.

    Raises:
        TypeError: from a call: the words are floats.
    """

    def __init__(self, words, num_oov_buckets, default_value, **options):
        super().__init__(**options)
        self.vocabulary = list(words)
        self.words, self.buckets = len(words), num_oov_buckets
        self.default = default_value
        unknown = max(1, num_oov_buckets)
        if isinstance(words[0], str):
            lookup, nothing = layers.StringLookup, ""
        else:
            lookup, nothing = layers.IntegerLookup, -1
        self.lookup = lookup(
            vocabulary=words, num_oov_indices=unknown, mask_token=nothing
        )
        size, dtype = self.lookup.vocabulary_size(), self.dtype_policy
        self.encode = layers.CategoryEncoding(size, output_mode="count", dtype=dtype)

    def get_config(self):
        own = {"words": self.vocabulary, "num_oov_buckets": self.buckets}
        return {**super().get_config(), **own, "default_value": self.default}

    def build(self, shape):
        """Does nothing: the layers in this layer have no weights."""

    def call(self, inputs):
        dtype = tf.as_dtype(inputs.dtype)
        if dtype.is_floating:  # Keras would truncate
            raise TypeError(f"words must be strings or integers, not {dtype.name}")
        counts = self.encode(self.lookup(inputs))
        _, unknown, known = tf.split(counts, [1, -1, self.words], axis=1)
        if self.buckets:
            return tf.concat([known, unknown], 1)
        if self.default >= 0:
            return known + unknown * tf.one_hot(
                self.default, self.words, dtype=counts.dtype
            )
        return known


def old_names(layer):
    """Returns {} as {name in TensorFlow 1: variable}: a counter has no variables."""
    return {}


def hash_values(values, buckets):
    """Counts the values of a row in hash buckets.

    The first bucket of Keras counts "" and -1, and is dropped.

    Raises:
        ValueError: values that are floats, which Keras would truncate.
    """
    values = hashable(values)
    none = "" if values.dtype == tf.string else -1
    hashed = layers.Hashing(buckets + 1, mask_value=none)(values)
    counts = layers.CategoryEncoding(buckets + 1, output_mode="count")(hashed)
    return counts[:, 1:]
