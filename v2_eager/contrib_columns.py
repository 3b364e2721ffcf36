"""`tf.contrib.layers`: `sparse_column_with_…`, `crossed_column` → functions."""

import tempfile

import tensorflow as tf

from v2_eager.feature_columns import bucket_of, combine, counts, present
from v2_eager.numerics import initializers, metrics, optimizers

__all__ = [
    "parse",
    "make_wide",
    "make_deep",
    "make_bag",
    "run_experiment",
    "make_sequences",
]


def parse(serialized, size):
    """Parses serialized examples with the spec that the feature columns need."""
    # --- spec
    spec = {
        "scores": tf.io.FixedLenFeature([size], tf.float32),
        "age": tf.io.FixedLenFeature([1], tf.float32, [0.0]),
        "words": tf.io.VarLenFeature(tf.string),
        "ids": tf.io.VarLenFeature(tf.int64),
        "weights": tf.io.VarLenFeature(tf.float32),
    }
    # --- parse
    return tf.io.parse_example(serialized, spec)


def sparse_features(features):
    """Makes words, ids and weights sparse, as a parser does; "" and -1 are padding."""
    words, ids = present(features["words"]), present(features["ids"])
    weights = ids.with_values(tf.gather_nd(features["weights"], ids.indices))
    return dict(features, words=words, ids=ids, weights=weights)


def hashed(words, buckets):
    return words.with_values(tf.strings.to_hash_bucket_fast(words.values, buckets))


def crossed(ages, words, buckets, fingerprints=False):
    """Hashes the age of each row with each of its words; returns a sparse tensor."""
    ages = words.with_values(tf.gather(ages, words.indices[:, 0]))
    if fingerprints:  # crosses each word with its age alone
        key = tf.sparse.cross_hashed([pairs(ages), pairs(words)], buckets)
        return words.with_values(key.values)
    # No op of TensorFlow 2 has contrib's default hash.
    key = tf.constant(0xDECAFCAFFE, tf.int64)
    for part in ages.values, tf.bitcast(tf.fingerprint(words.values), tf.int64):
        shifts = tf.bitwise.left_shift(key, 10) + tf.bitwise.right_shift(key, 4)
        mixed = part + (0x9E3779B97F4A7800 - 2**64) + shifts
        key = tf.bitwise.bitwise_xor(key, mixed)
    key = tf.bitcast(key, tf.uint64) % tf.constant(buckets, tf.uint64)
    return words.with_values(tf.cast(key, tf.int64))


def pairs(sparse):
    """Returns a sparse tensor with one row for each value."""
    rows = tf.range(tf.size(sparse.values, tf.int64))
    places = tf.stack([rows, tf.zeros_like(rows)], 1)
    return tf.SparseTensor(places, sparse.values, [tf.size(rows, tf.int64), 1])


def make_wide(boundaries, size, buckets, fingerprints=False, units=1, name="wide"):
    """Makes a linear model of numbers, buckets, words, weighted ids and crosses.

    Returns a `Wide`; see the class.
    """
    return Wide(boundaries, size, buckets, fingerprints, units, name)


class Wide(tf.Module):
    """A linear model of numbers, buckets, words, weighted ids and crosses.

    A call takes {"age": [n, 1], "scores": [n, 2], "words": [n, most], "ids": [n, most],
    "weights": [n, most]} and returns float32 [n, units]. "" and -1 are padding. All
    weights are initialized to zero.

    Args:
        boundaries: increasing list of the boundaries of the age buckets.
        size: number of ids; larger ids are taken modulo `size`.
        buckets: number of hash buckets of words, and of their crosses with ages.
        fingerprints: whether crosses are hashed by fingerprints, as `tf.feature_column`
            does, and not by contrib's default hash.
        units: number of outputs.
        name: scope of the variables `linear/…/weights`, `linear/scores/weight` and
            `linear/bias_weight`.
    """

    def __init__(self, boundaries, size, buckets, fingerprints, units, name):
        super().__init__()  # without a name: tf.Module allows only identifiers
        self.boundaries, self.size = boundaries, size
        self.buckets, self.fingerprints = buckets, fingerprints
        names = {  # a numeric column has "weight", the others "weights"
            "age_bucketized/weights": len(boundaries) + 1,
            "age_bucketized_X_words/weights": buckets,
            "scores/weight": 2,
            "words/weights": buckets,
            "ids_weighted_by_weights/weights": size,
        }
        with tf.name_scope(""):  # no outer scope becomes part of the names
            self.weights = [
                tf.Variable(tf.zeros([rows, units]), name=f"{name}/linear/{path}")
                for path, rows in names.items()
            ]
            self.bias = tf.Variable(tf.zeros(units), name=f"{name}/linear/bias_weight")

    def __call__(self, features):
        # --- columns
        features = sparse_features(features)
        age = bucket_of(features["age"][:, 0], self.boundaries)
        words, age = features["words"], tf.cast(age, tf.int64)
        ids = features["ids"]
        ids = ids.with_values(ids.values % self.size)
        scores = tf.cast(features["scores"], tf.float32) / 4
        # --- sum
        by_age, by_cross, by_score, by_word, by_id = self.weights
        cross = crossed(age, words, self.buckets, self.fingerprints)
        sums = [  # sorted by kind of column as in contrib: order changes the last bits
            tf.gather(by_age, age),
            combine(by_cross, cross, combiner="sum"),
            tf.matmul(scores, by_score),
            combine(by_word, hashed(words, self.buckets), combiner="sum"),
            combine(by_id, ids, features["weights"], "sum"),
        ]
        # Not tf.add_n: in a tf.function the graph optimizer changes its order.
        return tf.nn.bias_add(tf.reduce_sum(tf.stack(sums), 0), self.bias)


def make_deep(boundaries, size, buckets, units, name="deep"):
    """Makes the input layer of a DNN: numbers, buckets, id counts, word embeddings.

    Returns a `Deep`; see the class.
    """
    return Deep(boundaries, size, buckets, units, name)


class Deep(tf.Module):
    """The input layer of a DNN: age buckets, word embeddings, id counts, scores.

    A call takes a dict as `Wide` does and returns float32 [n, len(boundaries) + 1 +
    units + size + 2].

    Args:
        boundaries: increasing list of the boundaries of the age buckets.
        size: number of ids; larger ids are taken modulo `size`.
        buckets: number of hash buckets of words.
        units: size of the word embeddings, which are combined by "sqrtn".
        name: scope of the variable `input/words_embedding/weights`, [buckets, units].
    """

    def __init__(self, boundaries, size, buckets, units, name):
        super().__init__()
        self.boundaries, self.size, self.buckets = boundaries, size, buckets
        draw = initializers.truncated_normal(stddev=units**-0.5, seed=1)
        path = f"{name}/input/words_embedding/weights"
        with tf.name_scope(""):  # no outer scope becomes part of the name
            self.table = tf.Variable(draw([buckets, units], tf.float32), name=path)

    def __call__(self, features):
        # --- columns
        age = bucket_of(features["age"][:, 0], self.boundaries)
        words = hashed(present(features["words"]), self.buckets)
        ids = features["ids"]
        ids = tf.where(ids == -1, ids, ids % self.size)
        # --- join
        parts = [  # sorted by kind of column, not by name
            tf.one_hot(age, len(self.boundaries) + 1),
            combine(self.table, words, combiner="sqrtn"),
            counts(ids, self.size),
            tf.cast(features["scores"], tf.float32),
        ]
        return tf.concat(parts, 1)


def make_bag(rows, size, combiner="mean", default_id=None, name="bag"):
    """Makes an embedding table and combines the vectors of each row's ids.

    Returns a `Bag`; see the class.
    """
    return Bag(rows, size, combiner, default_id, name)


class Bag(tf.Module):
    """Looks up the ids of each row and combines their weighted vectors.

    A call takes ids, [n, most] ints, -1 for padding, and weights, [n, most] floats.
    It returns [n, size] of the dtype of the weights. The first call makes the table.

    Args:
        rows: number of ids.
        size: size of a vector.
        combiner: "mean", "sum" or "sqrtn".
        default_id: the id whose vector a row without ids gets; None for zeros.
        name: scope of the variable `table`, [rows, size].
    """

    def __init__(self, rows, size, combiner, default_id, name):
        super().__init__()
        self.shape, self.path, self.table = [rows, size], f"{name}/table", None
        self.options = {"combiner": combiner, "default_id": default_id}

    @property
    def built(self):
        """Whether the variables exist."""
        return self.table is not None

    def __call__(self, ids, weights):
        # --- table
        if self.table is None:
            draw = initializers.random_normal(stddev=0.125, seed=1)
            table = draw(self.shape, weights.dtype)
            with tf.name_scope(""):  # no outer scope becomes part of the name
                self.table = tf.Variable(table, name=self.path)
        # --- combine
        ids = present(ids)
        weights = ids.with_values(tf.gather_nd(weights, ids.indices))
        return tf.nn.safe_embedding_lookup_sparse(
            self.table, ids, weights, **self.options
        )


def run_experiment(x, labels, steps):
    """Trains, evaluates and exports a linear classifier, as `learn.Experiment` does."""
    # --- experiment
    inputs, model = tf.constant(x), LinearClassifier(x.shape[1])
    targets = tf.cast(labels, tf.float32)[:, tf.newaxis]
    # contrib's default rate: 0.2, or 1 / len(columns) ** 0.5 if that is smaller.
    optimizer = optimizers.Ftrl(0.2).create_slots(model.trainable_variables)

    def loss():
        logits = model.logits(inputs)
        return tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
        )

    # --- run
    step = tf.function(lambda: optimizer.minimize(loss, model.trainable_variables))
    for _ in range(steps):
        step()
    accuracy = metrics.Accuracy()
    # --- predict
    probabilities = model.predict(inputs)
    classes = tf.argmax(probabilities, 1)
    accuracy.update_state(labels, classes)
    # --- serve
    with tempfile.TemporaryDirectory() as exported:
        tf.saved_model.save(model, exported, model.serve)
        serve = tf.saved_model.load(exported).signatures["serving_default"]
        served = serve(inputs=tf.constant([example(row) for row in x]))["scores"]
    return {
        "accuracy": accuracy.result().numpy(),
        "loss": loss().numpy(),
        "variables": {
            "linear/x/weight": model.weight.numpy(),
            "linear/bias_weight": model.bias.numpy(),
        },
        "classes": classes.numpy(),
        "probabilities": probabilities.numpy(),
        "served": served.numpy(),
    }


class LinearClassifier(tf.Module):
    """Logistic regression on one numeric column, `x`.

    `logits` and `predict` take [n, features] float32; `predict` returns the
    probabilities of both classes, [n, 2]. `serve` is the exported signature: it takes
    [n] serialized examples and returns {"scores": [n, 2]}.

    Args:
        features: number of features.
    """

    def __init__(self, features):
        super().__init__()
        self.weight = tf.Variable(tf.zeros([features, 1]), name="linear/x/weight")
        self.bias = tf.Variable(tf.zeros(1), name="linear/bias_weight")

    def logits(self, x):
        return tf.nn.bias_add(tf.matmul(x, self.weight), self.bias)

    @tf.function
    def predict(self, x):
        logits = self.logits(x)
        return tf.nn.softmax(tf.concat([tf.zeros_like(logits), logits], 1))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "inputs")])
    def serve(self, serialized):
        spec = {"x": tf.io.FixedLenFeature([self.weight.shape[0]], tf.float32)}
        return {"scores": self.predict(tf.io.parse_example(serialized, spec)["x"])}


def example(row):
    """Serializes a row as a tf.train.Example with the feature `x`."""
    values = tf.train.Feature(float_list=tf.train.FloatList(value=row))
    features = tf.train.Features(feature={"x": values})
    return tf.train.Example(features=features).SerializeToString()


def make_sequences(size, units, name="reader"):
    """Makes the input layer of an RNN: an id's embedding and a number for each step.

    Returns a `Sequences`; see the class.
    """
    return Sequences(size, units, name)


class Sequences(tf.Module):
    """The input layer of an RNN: for each step the embedding of an id and a number.

    A call takes {"ids": [n, time] int64, -1 past the end, "scores": [n, time] float32}.
    It returns float32 [n, time, units + 1], zeros past the end, and the lengths, int64
    [n].

    Args:
        size: number of ids.
        units: size of the ids' vectors.
        name: scope of the variable
            `sequence_input_layer/ids_embedding/embedding_weights`.

    Raises:
        tf.errors.InvalidArgumentError: in a call: an id below -1 or, on a CPU, not
            below `size`.
    """

    def __init__(self, size, units, name):
        super().__init__()
        draw = initializers.truncated_normal(stddev=0.125, seed=1)
        path = f"{name}/sequence_input_layer/ids_embedding/embedding_weights"
        with tf.name_scope(""):  # no outer scope becomes part of the name
            self.table = tf.Variable(draw([size, units], tf.float32), name=path)

    def __call__(self, features):
        # --- columns
        ids, scores = features["ids"], features["scores"][..., tf.newaxis]
        message = "Negative bucket index: ids must be >= -1"
        tf.debugging.assert_greater_equal(ids, tf.constant(-1, ids.dtype), message)
        known = ids[..., tf.newaxis] >= 0
        vectors = tf.gather(self.table, tf.maximum(ids, 0))
        # --- join
        parts = [tf.where(known, part, 0) for part in (vectors, scores)]
        steps = tf.range(1, tf.shape(ids, tf.int64)[1] + 1)
        lengths = tf.reduce_max(tf.where(known[..., 0], steps, 0), 1)
        return tf.concat(parts, 2), tf.maximum(lengths, 0)  # no steps: the lowest int64
