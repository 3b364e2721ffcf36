import functools
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Op, Program, Raises
from tf1to2.parity.arrays import integers, normal
from v1_graph import embeddings as v1
from v2_eager import embeddings as v2
from v2_eager.numerics import optimizers

ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
STATIC = {"dynamic": "the message of a case with known sizes"}
ROWS, DEPTH, STEPS, BATCH = 83, 9, 6, 67
RNG = np.random.RandomState(0)


def drawn(*shape):
    return RNG.normal(size=shape).astype("f")


TABLE = drawn(ROWS, DEPTH)
# Log-uniform, like words: frequent ones occur twice in a batch.
IDS = (ROWS ** RNG.uniform(size=[STEPS, BATCH])).astype("i4") - 1
TARGETS = drawn(STEPS, BATCH, DEPTH)
TRAINING = [IDS, TARGETS]
WORDS = ["word%d" % i for i in range(ROWS)]
# The file also has other words, and lacks some of these words.
VECTORS = {"word%d" % i: drawn(DEPTH) for i in range(2, 120, 3)}
LOADED = [WORDS, VECTORS, TABLE, IDS, drawn(STEPS, BATCH, 4), drawn(DEPTH, 4)]
FROZEN = RNG.uniform(size=ROWS) < 0.5
LENGTHS = np.array([3, 0, 5, 1, 2] * 14, "i4")[:BATCH]
READ = RNG.randint(ROWS, size=[BATCH, 5]).astype("i4")
PADDED = READ * (RNG.uniform(size=READ.shape) < 0.7).astype("i4")
RATED = [
    RNG.randint(ROWS, size=[STEPS, BATCH]).astype("i4"),
    (41 ** RNG.uniform(size=[STEPS, BATCH])).astype("i4") - 1,
    RNG.randint(1, 6, size=[STEPS, BATCH]).astype("f"),
]
FACTORS = {
    "users": drawn(ROWS, DEPTH) / 3,
    "items": drawn(41, DEPTH) / 3,
    "user_bias": drawn(ROWS) / 3,
    "item_bias": drawn(41) / 3,
}
TIED = {
    "table": TABLE / 3,
    "kernel": drawn(DEPTH, DEPTH) / 3,
    "bias": drawn(ROWS) / 3,
}
FOLLOWING = np.roll(IDS, -1, 1)
# Rows 5 and 70 equal row 30: their cosines are equal.
TWINS = TABLE.copy()
TWINS[[5, 70]] = TWINS[30]
ASKED = np.array([30, 70, 5, 0, 82], "i4")
QUESTIONS = RNG.randint(ROWS, size=[BATCH, 3]).astype("i4")
# 28, 28 and 27 rows.
PARTS = [normal(len(range(i, ROWS, 3)), DEPTH) for i in range(3)]
GIVEN = [TABLE[i::3] for i in range(3)]


# --- False friends: obvious replacements that give other numbers.


def load_and_train(words, vectors, fresh, ids, targets, head, rate=0.125):
    """Also trains the frozen table: `variables` in place of `trainable_variables`."""
    matrix, found = v2.rows_of(words, vectors, fresh)
    model = tf.Module()
    model.table, model.head = tf.Variable(matrix, trainable=False), tf.Variable(head)
    optimizer = optimizers.GradientDescent(rate)

    def error(rows, target):
        outputs = tf.matmul(tf.nn.embedding_lookup(model.table, rows), model.head)
        return tf.reduce_mean(tf.square(outputs - target))

    losses = [
        optimizer.minimize(lambda: error(*batch), model.variables).numpy()  # noqa: B023
        for batch in zip(ids, targets)
    ]
    table, head = model.table.numpy(), model.head.numpy()
    return {"found": found, "losses": losses, "table": table, "head": head}


def by_lazy_adam(*arguments):
    adam, optimizers.Adam = optimizers.Adam, optimizers.LazyAdam
    try:
        return v2.train_part(*arguments)
    finally:
        optimizers.Adam = adam


def frozen_rows(table, frozen, ids, targets, free_steps):
    """Restores the masked rows after each step, the intended effect of a mask."""
    variable, adam = tf.Variable(table), optimizers.Adam(0.0625)
    losses, tables = [], []
    for i, (rows, target) in enumerate(zip(ids, targets)):
        with tf.GradientTape() as tape:
            error = tf.square(tf.gather(variable, rows) - target)
            loss = tf.reduce_mean(error)
        before = variable.numpy()
        adam.apply_gradients([(tape.gradient(loss, variable), variable)])
        if i >= free_steps:
            variable.assign(tf.where(frozen[:, None], before, variable))
        losses.append(loss.numpy())
        tables.append(variable.numpy())
    return {"losses": losses, "tables": np.array(tables)}


def mean_of_all(table, ids, lengths):
    return tf.reduce_mean(tf.nn.embedding_lookup(table, ids), 1)


def mean_of_rows(table, ids, lengths):
    """Averages by Keras' `GlobalAveragePooling1D` with a mask: NaN without words."""
    mask = tf.sequence_mask(lengths, tf.shape(ids)[1])
    pool = tf.keras.layers.GlobalAveragePooling1D(dtype=table.dtype)
    return pool(tf.gather(table, ids), mask=mask)


def penalize_tables(users, items, ratings, start, penalty, optimizer, rate=0.125):
    """Penalizes all rows in every step, as the regularizer of a layer does."""
    tables = {k: tf.Variable(v, name=k) for k, v in start.items()}
    variables = list(tables.values())
    optimizer = v2.OPTIMIZERS[optimizer](rate)

    def errors(u, i, r):
        p, q = tf.gather(tables["users"], u), tf.gather(tables["items"], i)
        b, c = tf.gather(tables["user_bias"], u), tf.gather(tables["item_bias"], i)
        return ratings.mean() + b + c + tf.reduce_sum(p * q, 1) - r

    def objective(*batch):
        squares = tf.add_n([tf.nn.l2_loss(v) for v in variables])
        return tf.nn.l2_loss(errors(*batch)) + penalty * squares

    losses = [
        optimizer.minimize(lambda: objective(*batch), variables).numpy()  # noqa: B023
        for batch in zip(users, items, ratings)
    ]
    error = errors(users.ravel(), items.ravel(), ratings.ravel())
    rmse = tf.sqrt(tf.reduce_mean(tf.square(error))).numpy()
    return {"losses": losses, "rmse": rmse, "variables": v2.values_of(variables)}


def untied(words, following, start, optimizer, rate=0.125):
    """Uses a separate output table, which begins as a copy of the input table."""
    weights = {k: tf.Variable(v, name=k) for k, v in start.items()}
    weights["output"] = tf.Variable(start["table"], name="output")
    variables = list(weights.values())
    optimizer = v2.OPTIMIZERS[optimizer](rate)

    def error(word, label):
        vectors = tf.gather(weights["table"], word)
        hidden = tf.tanh(tf.matmul(vectors, weights["kernel"]))
        logits = tf.matmul(hidden, weights["output"], transpose_b=True)
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                label, logits + weights["bias"]
            )
        )

    losses = [
        optimizer.minimize(lambda: error(*batch), variables).numpy()  # noqa: B023
        for batch in zip(words, following)
    ]
    variables = [v for k, v in weights.items() if k != "output"]
    return {"losses": losses, "variables": v2.values_of(variables)}


def without_the_first(table, words, k):
    """Drops the first neighbour, which may be an equal row, not the word itself."""
    normalized = v2.unit_rows(table)
    asked = tf.gather(normalized, words)
    cosines, rows = tf.math.top_k(tf.matmul(asked, normalized, transpose_b=True), k + 1)
    return cosines[:, 1:], rows[:, 1:]


def with_own_words(table, questions, k):
    normalized = v2.unit_rows(table)
    a, b, c = tf.unstack(tf.gather(normalized, questions), axis=1)
    cosines = tf.matmul(b - a + c, normalized, transpose_b=True)
    return tuple(tf.math.top_k(cosines, k))


def parts_as_they_are(parts, ids):
    return tf.nn.embedding_lookup(parts, ids)


def joined_parts(parts, ids):
    return tf.gather(tf.concat(parts, 0), ids)


def limited_where_looked_up(table, ids, targets, limit, in_table):
    return v2.normalize_rows(table, ids, targets, limit, False)


refused_op = functools.partial(refused, error=tf.errors.InvalidArgumentError, of="op")


FEWER = "the same numbers of steps and rows"
SHORT = [IDS[:, 1:], TARGETS]
EMPTY = [IDS[:, :0], TARGETS[:, :0]]
CASES = [
    Program("load_vectors", "six steps", LOADED),
    Program("load_vectors", "another rate", LOADED, {"rate": 0.5}),
    FalseFriend(
        "load_vectors",
        "all variables",
        LOADED,
        of="program",
        naive=load_and_train,
        because="`variables` has the table, too: a list that is given is trained whole",
    ),
    refused(
        "load_vectors",
        "a vector of another length",
        [WORDS, {"word3": TABLE[0, 1:]}, *LOADED[2:]],
        "the vector of 'word3'",
    ),
    refused(
        "load_vectors",
        "fewer rows than words",
        [WORDS, VECTORS, TABLE[1:], *LOADED[3:]],
        "82 rows for 83 words",
    ),
    refused(
        "load_vectors",
        "fewer rows than targets",
        [*LOADED[:3], IDS[:, 1:], *LOADED[4:]],
        FEWER,
    ),
    Program("train_part", "six steps", [TABLE[:50], TABLE[50:], *TRAINING]),
    Program(
        "train_part",
        "a larger rate",
        [TABLE[:10], TABLE[10:], *TRAINING],
        {"rate": 0.25},
    ),
    FalseFriend(
        "train_part",
        "only what is looked up",
        [TABLE[:10], TABLE[10:], *TRAINING],
        of="program",
        naive=by_lazy_adam,
        because="Adam moves all rows by their moments, whether looked up or not",
    ),
    refused("train_part", "other batches", [TABLE[:50], TABLE[50:], *SHORT], FEWER),
    Program("mask_gradients", "after two steps", [TABLE, FROZEN, *TRAINING, 2]),
    Program(
        "mask_gradients",
        "from the first, a larger rate",
        [TABLE, FROZEN, *TRAINING, 0, 0.25],
    ),
    FalseFriend(
        "mask_gradients",
        "rows that stay",
        [TABLE, FROZEN, *TRAINING, 2],
        of="program",
        naive=frozen_rows,
        because="with a gradient of 0 Adam moves a row by what it remembers",
    ),
    refused(
        "mask_gradients",
        "a mask of other rows",
        [TABLE, FROZEN[1:], *TRAINING, 2],
        "of 83 rows",
    ),
    refused("mask_gradients", "no rows", [TABLE, FROZEN, *EMPTY, 2], FEWER),
    Op("mask_padding", "a batch", [normal(ROWS, DEPTH), PADDED]),
    Op("mask_padding", "any size", [normal(7, "d"), integers("b", "t", high=7)]),
    FalseFriend(
        "mask_padding",
        "a row like others",
        [normal(ROWS, DEPTH), PADDED],
        naive=tf.gather,
        because="row 0 is looked up, and trained",
        skip=ONCE,
    ),
    Op("mean_of_words", "rows without words", [normal(ROWS, DEPTH), READ, LENGTHS]),
    Op(
        "mean_of_words",
        "any size",
        [
            normal(7, "d"),
            integers("b", 4, high=7),
            integers("b", high=5),
        ],
    ),
    FalseFriend(
        "mean_of_words",
        "of padding, too",
        [normal(ROWS, DEPTH), READ, LENGTHS],
        naive=mean_of_all,
        because="reduce_mean divides by the time, and adds what is after the end",
        skip=ONCE,
    ),
    FalseFriend(
        "mean_of_words",
        "by Keras",
        [normal(ROWS, DEPTH), READ, LENGTHS],
        naive=mean_of_rows,
        because="GlobalAveragePooling1D divides 0 by 0 where no word is there",
        skip=ONCE,
    ),
    refused_op(
        "mean_of_words",
        "a length above the time",
        [TABLE, READ, LENGTHS + 1],
        "lengths must be <= time",
    ),
    refused_op(
        "mean_of_words", "a negative length", [TABLE, READ, LENGTHS - 1], "negative"
    ),
    Program(
        "factorize", "gradient descent", [*RATED, FACTORS, 0.125, "GradientDescent"]
    ),
    Program("factorize", "Adagrad", [*RATED, FACTORS, 0.5, "Adagrad", 0.25]),
    FalseFriend(
        "factorize",
        "the whole tables' penalty",
        [*RATED, FACTORS, 0.125, "GradientDescent"],
        of="program",
        naive=penalize_tables,
        because="each step then shrinks all rows, once, however often they come",
    ),
    refused(
        "factorize",
        "fewer users",
        [RATED[0][:, 1:], *RATED[1:], FACTORS, 0.125, "Adagrad"],
        FEWER,
    ),
    Program(
        "tie_output", "gradient descent", [IDS, FOLLOWING, TIED, "GradientDescent"]
    ),
    Program("tie_output", "Adagrad", [IDS, FOLLOWING, TIED, "Adagrad", 0.25]),
    FalseFriend(
        "tie_output",
        "two tables",
        [IDS, FOLLOWING, TIED, "GradientDescent"],
        of="program",
        naive=untied,
        because="each of two tables has one half of the gradient",
    ),
    refused(
        "tie_output",
        "fewer words",
        [IDS[1:], FOLLOWING, TIED, "Adagrad"],
        FEWER,
    ),
    Op("nearest_words", "many", [normal(ROWS, DEPTH), IDS[0], 5]),
    Op("nearest_words", "twins", [TWINS, ASKED, 3]),
    FalseFriend(
        "nearest_words",
        "without the first",
        [TWINS, ASKED, 3],
        naive=without_the_first,
        because="of equal cosines the first row comes first, which may be a twin",
        skip=ONCE,
    ),
    Op("solve_analogies", "many", [normal(ROWS, DEPTH), QUESTIONS, 4]),
    FalseFriend(
        "solve_analogies",
        "with its own words",
        [TABLE, QUESTIONS, 4],
        naive=with_own_words,
        because="b or c may be the nearest to b - a + c",
        skip=ONCE,
    ),
    Op("look_up_parts", "by mod", [PARTS, integers("b", "t", high=ROWS)]),
    Op("look_up_parts", "by div", [PARTS, integers("b", "t", high=ROWS), "div"]),
    Op("look_up_parts", "int64", [PARTS, integers("b", high=ROWS, dtype="int64")]),
    Op("look_up_parts", "one part", [[normal(7, DEPTH)], integers("b", high=7)]),
    FalseFriend(
        "look_up_parts",
        "the parts as they are",
        [PARTS, IDS],
        naive=parts_as_they_are,
        because='a list was looked up by "mod", and is by "div" today',
        skip=ONCE,
    ),
    FalseFriend(
        "look_up_parts",
        "joined",
        [PARTS, IDS],
        naive=joined_parts,
        because='tf.concat puts one part after the other, as "div" does',
        skip=ONCE,
    ),
    refused_op(
        "look_up_parts", "a row too many", [GIVEN, ASKED + 1], "is not in|ids must be <"
    ),
    refused_op(
        "look_up_parts",
        "a negative row",
        [GIVEN, ASKED - 1],
        "is not in|not be negative",
    ),
    Raises(
        "look_up_parts",
        "another strategy",
        [GIVEN, ASKED, "rows"],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="Unrecognized partition strategy",
    ),
    Program("normalize_rows", "in the table", [TABLE, *TRAINING, 2.5, True]),
    Program("normalize_rows", "where looked up", [TABLE, *TRAINING, 0.75, False, 4.0]),
    FalseFriend(
        "normalize_rows",
        "max_norm",
        [TABLE, *TRAINING, 2.5, True],
        of="program",
        naive=limited_where_looked_up,
        because="max_norm leaves the table as it is",
    ),
    refused(
        "normalize_rows", "no limit", [TABLE, *TRAINING, 0.0, True], "must be positive"
    ),
    refused("normalize_rows", "no rows", [TABLE, *EMPTY, 1.0, True], FEWER),
]
PROOF = proof(v1, v2, CASES)


class EmbeddingsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
