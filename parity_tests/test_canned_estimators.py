import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Naive, Program, Raises
from tf1to2.parity.v1 import legacy
from v1_graph import canned_estimators as v1
from v2_eager import canned_estimators as v2
from v2_eager.numerics import canned, losses
from v2_keras import canned_estimators as v3

ALONE = {"graph": "today's TensorFlow has no Estimator"}
ANOTHER = {"keras": "another case of the pair"}
INVALID = tf.errors.InvalidArgumentError
RANDOM = np.random.RandomState(0)


def normal(*shape):
    return RANDOM.normal(size=shape).astype("f")


def network(inputs, outputs, norm=False):
    """Returns weights of a network with two hidden layers of 6 and 4 units."""
    sizes, start = [inputs, 6, 4, outputs], {}
    for i, name in enumerate(["hiddenlayer_0", "hiddenlayer_1", "logits"]):
        start["dnn/%s/kernel" % name] = normal(*sizes[i : i + 2])
        start["dnn/%s/bias" % name] = normal(sizes[i + 1])
        if norm and i < 2:
            path = "dnn/%s/batchnorm_%d" % (name, i)
            start[path + "/beta"] = normal(sizes[i + 1])
            start[path + "/gamma"] = 1 + normal(sizes[i + 1])
    return start


def line(width, units=1):
    """Returns the contents of a checkpoint of a linear estimator of `FLOWERS`."""
    path = "linear/linear_model/"
    return {
        path + "petal/weights": normal(width - 1, units),
        path + "sepal/weights": normal(1, units),
        path + "bias_weights": normal(units),
        "global_step": np.int64(1000),
    }


FLOWERS = {"sepal": normal(67), "petal": normal(67, 3)}
SOME = {name: x[:6] for name, x in FLOWERS.items()}
WEIGHT = RANDOM.uniform(0.1, 3, 67).astype("f")
WEIGHED = {**FLOWERS, "weight": WEIGHT}
YES = (FLOWERS["sepal"] + normal(67) > 0.4).astype("int64")
KINDS = FLOWERS["petal"].argmax(1)
NAMES = ["iris", "lily", "rose"]
SIZES = FLOWERS["petal"] @ normal(3, 2) + normal(67, 2)
MANY = {f"x{i:02}": column for i, column in enumerate(normal(26, 67))}
ROWS = {"x": normal(67, 40)}
L1 = {"learning_rate": 0.1, "l1_regularization_strength": 0.25}
PROXIMAL = {"learning_rate": 0.1, "l1_regularization_strength": 0.25}
ADAM = {"learning_rate": 0.01}
WORDS = ["red", "green", "blue"]
TEXTS = RANDOM.choice([*WORDS, "grün", "gelb", ""], [67, 3])
PEOPLE = {
    "age": RANDOM.uniform(10, 80, 67).astype("f"),
    "income": normal(67),
    "words": TEXTS,
}
EMBEDDING = "dnn/input_from_feature_columns/input_layer/words_embedding/"
TABLE = {EMBEDDING + "embedding_weights": normal(3, 3)}
OLD = {
    "linear/linear_model/words/weights": normal(3, 1),
    "linear/linear_model/bias_weights": normal(1),
    "global_step": np.int64(1000),
}
NEW_WORDS = ["blue", "gelb", "red"]
REMAPPED = [TEXTS, YES, OLD, WORDS, NEW_WORDS, 2, 4, 16]
ONE_BATCH = {"n_classes": 3, "weight_column": "weight"}


def program(name, slug, args, options=(), cls=Program, skip=(), **more):
    if options:
        args = [*args, options]
    return cls(name, slug, args, float32=True, skip={**ALONE, **dict(skip)}, **more)


def friend(name, slug, args, naive, because, options=(), skip=()):
    more = {"of": "program", "naive": naive, "because": because, "skip": skip}
    return program(name, slug, args, options, FalseFriend, **more)


def refused_labels(slug, labels, match, error=ValueError, options=(), **others):
    args = [FLOWERS, labels, 1, 16, dict(options)]
    return refused("linear_classifier", slug, args, match, error, skip=ALONE, **others)


# --- Obvious replacements of a canned estimator, with other numbers.


def patched(call, owner, name, value):
    def naive(*args):
        with mock.patch.object(owner, name, value):
            return call(*args)

    return naive


def mean_over_rows(row_losses, weights, reduction):
    """Reduces as `tf.keras.losses` and the estimators of TensorFlow 2 do: by a mean."""
    return weighted_loss(row_losses, weights, "weighted_sum_over_batch_size")


def at_rates_of_the_two(optimizer, rate, scope=""):
    return made(optimizer, {"Adagrad": 0.05, "Ftrl": 0.2}[optimizer], scope)


def as_they_stand(words, labels, saved, old_words, new_words, buckets, *steps):
    """Copies the rows of the old table in order, whatever their words are."""
    return v2.warm_start(words, labels, saved, new_words, new_words, buckets, *steps)


weighted_loss, made = losses.compute_weighted_loss, v2.made
CASES = [
    program("linear_classifier", "two classes", [FLOWERS, YES, 10, 16]),
    program(
        "linear_classifier",
        "26 columns, no optimizer",
        [MANY, YES, 2, 16],
        {"optimizer": None},
        skip=ANOTHER,
    ),
    program(
        "linear_classifier",
        "three classes, by name and weighed",
        [WEIGHED, np.array(NAMES)[KINDS], 6, 16],
        {"n_classes": 3, "label_vocabulary": NAMES, "weight_column": "weight"},
    ),
    program(
        "linear_classifier",
        "l1",
        [ROWS, YES, 10, 16],
        {"optimizer": ["Ftrl", L1], "loss_reduction": "weighted_sum_over_batch_size"},
    ),
    program("linear_classifier", "probabilities", [FLOWERS, WEIGHT / 3, 2, 67]),
    friend(
        "linear_classifier",
        "the mean over the rows",
        [FLOWERS, YES, 4, 16],
        patched(v2.linear_classifier, losses, "compute_weighted_loss", mean_over_rows),
        "the loss is the sum over the rows: of 16 rows, 16 times the gradient",
    ),
    friend(
        "linear_classifier",
        "a rate that falls with the columns",
        [MANY, YES, 1, 16],
        lambda *args: v2.linear_classifier(*args, {"optimizer": None}),
        "by default it is 0.2, and with optimizer=None min(0.2, 1 / sqrt(columns))",
        skip=ANOTHER,
    ),
    refused_labels("a third class", YES + 1, "Labels must <= n_classes - 1", INVALID),
    refused_labels("a class below 0", YES - 1, "Labels must >= 0", INVALID),
    refused_labels("one class", YES, "n_classes must be > 2", options={"n_classes": 1}),
    refused_labels(
        "words",
        np.array(["no", "yes"])[YES],
        "Cast string to float|pass label_vocabulary",
        graph=tf.errors.UnimplementedError,
    ),
    refused_labels(
        "floats for three classes",
        YES.astype("f"),
        "Labels dtype should be integer",
        options={"n_classes": 3},
    ),
    refused_labels(
        "one-hot",
        np.eye(3, dtype="int64")[KINDS],
        "Mismatched label shape",
        options={"n_classes": 3},
    ),
    refused_labels(
        "a word that is in no vocabulary",
        np.array(NAMES)[KINDS],
        "Labels must >= 0",
        INVALID,
        {"label_vocabulary": NAMES[:2]},
    ),
    program("linear_regressor", "the classic", [FLOWERS, SIZES[:, 0], 10, 16]),
    program(
        "linear_regressor",
        "two labels, weighed",
        [WEIGHED, SIZES, 4, 16],
        {"label_dimension": 2, "weight_column": "weight"},
    ),
    program(
        "dnn_classifier",
        "two classes",
        [FLOWERS, YES, [6, 4], network(4, 1), 10, 16],
    ),
    program(
        "dnn_classifier",
        "three classes, with batch norm",
        [FLOWERS, KINDS, [6, 4], network(4, 3, norm=True), 6, 16],
        {"n_classes": 3, "batch_norm": True},
    ),
    program(
        "dnn_classifier",
        "by the name of an optimizer",
        [FLOWERS, YES, [6, 4], network(4, 1), 3, 16],
        {"optimizer": "Adam"},
    ),
    program(
        "dnn_regressor",
        "the classic",
        [FLOWERS, SIZES[:, 0], [6, 4], network(4, 1), 10, 16],
    ),
    program(
        "dnn_regressor",
        "two labels, l1",
        [FLOWERS, SIZES, [6, 4], network(4, 2), 4, 16],
        {"label_dimension": 2, "optimizer": ["ProximalAdagrad", PROXIMAL]},
        skip={"keras": "Keras has no proximal Adagrad"},
    ),
    program(
        "wide_and_deep",
        "the classic",
        [PEOPLE, YES, WORDS, [18.0, 65.0], {**network(5, 1), **TABLE}, 10, 16],
    ),
    program(
        "wide_and_deep",
        "three classes, other optimizers, weighed",
        [
            {**PEOPLE, "weight": WEIGHT},
            KINDS,
            WORDS,
            [18.0, 65.0],
            {**network(5, 3), **TABLE},
            4,
            16,
        ],
        {
            "n_classes": 3,
            "weight_column": "weight",
            "linear_optimizer": ["Ftrl", L1],
            "dnn_optimizer": ["Adam", ADAM],
        },
    ),
    friend(
        "wide_and_deep",
        "the rates of the two alone",
        [PEOPLE, YES, WORDS, [18.0, 65.0], {**network(5, 1), **TABLE}, 4, 16],
        patched(v2.wide_and_deep, v2, "made", at_rates_of_the_two),
        "together they begin at 0.005 and 0.001, alone at 0.2 and 0.05",
    ),
    program("baseline_classifier", "two classes", [YES, 10, 16]),
    program("baseline_classifier", "three classes", [KINDS, 5, 16], {"n_classes": 3}),
    program("evaluate", "two classes", ["classifier", line(4), FLOWERS, YES, 16]),
    program(
        "evaluate",
        "two classes, weighed",
        ["classifier", line(4), WEIGHED, YES, 16],
        {"weight_column": "weight"},
    ),
    program(
        "evaluate",
        "three classes, weighed",
        ["classifier", line(4, 3), WEIGHED, KINDS, 16],
        ONE_BATCH,
    ),
    program(
        "evaluate", "a regressor", ["regressor", line(4), FLOWERS, SIZES[:, 0], 16]
    ),
    program(
        "evaluate",
        "a regressor of two labels, weighed",
        ["regressor", line(4, 2), WEIGHED, SIZES, 16],
        {"label_dimension": 2, "weight_column": "weight"},
    ),
    friend(
        "evaluate",
        "the loss of all rows",
        ["classifier", line(4), FLOWERS, YES, 16],
        lambda *args: v2.evaluate(*args[:4], 67),
        "loss is the mean of the batches' sums, and a batch is as large as it is",
    ),
    Raises.alike(
        "evaluate",
        "weights that are no numbers",
        [
            "classifier",
            {name: value * np.float32(np.nan) for name, value in line(4).items()}
            | {"global_step": np.int64(1)},
            FLOWERS,
            YES,
            16,
        ],
        INVALID,
        r"predictions must be in \[0, 1\]",
        of="program",
        skip=ALONE,
    ),
    program("predict", "two classes", ["classifier", line(4), SOME]),
    program(
        "predict",
        "three classes by name",
        ["classifier", line(4, 3), SOME],
        {"n_classes": 3, "label_vocabulary": NAMES},
    ),
    program("predict", "a regressor", ["regressor", line(4), FLOWERS]),
    program("warm_start", "another vocabulary", REMAPPED),
    program("warm_start", "from 0.5", [*REMAPPED, 0.5]),
    friend(
        "warm_start",
        "the rows as they stand",
        REMAPPED,
        as_they_stand,
        "the rows are those of the words: without VocabInfo they are other words'",
    ),
]
BY_ROWS = {"weighted_sum": "sum_over_batch_size"}
NAIVE = [
    Naive(
        "linear_classifier, two classes",
        "the loss that Keras averages",
        mock.patch.object(v3, "REDUCTIONS", BY_ROWS)(v3.linear_classifier),
        because="a canned estimator summed it up, Keras divides it by the rows",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class CannedEstimatorsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    @parameterized.expand(
        [
            (
                "a third class",
                YES + 1,
                {},
                "Labels must be >= 0 and <= n_classes - 1, 1",
            ),
            ("one below 0", YES - 1, {"n_classes": 3}, "Labels must"),
            ("NaN", np.full(67, np.nan), {}, "Labels must"),
            ("words", np.array(["no", "yes"])[YES], {}, "should be integer"),
            ("floats", YES.astype("f"), {"n_classes": 3}, "should be integer"),
            ("one class", YES, {"n_classes": 1}, "n_classes must be at least 2"),
            (
                "no such reduction",
                YES,
                {"loss_reduction": "weighted_sum_by_nonzero_weights"},
                "Invalid loss_reduction",
            ),
        ]
    )
    def test_what_keras_would_take_is_refused(self, _, labels, options, match):
        with self.assertRaisesRegex(ValueError, match):
            v3.linear_classifier(FLOWERS, labels, 1, 16, options)

    def test_no_steps_are_no_endless_ones(self):
        with self.assertRaisesRegex(ValueError, "Must specify steps > 0, given: 0"):
            v3.linear_regressor(FLOWERS, SIZES[:, 0], 0, 16)

    @parameterized.expand(
        [
            (
                "linear_regressor",
                SIZES,
                {
                    "label_dimension": 2,
                    "loss_reduction": reduction,
                    "weight_column": "weight",
                },
            )
            for reduction in ("weighted_sum_over_batch_size", "weighted_mean")
        ]
        + [("linear_classifier", YES, {"optimizer": "SGD"})]
    )
    def test_the_losses_of_the_pair(self, name, labels, options):
        features = WEIGHED if "weight_column" in options else FLOWERS
        pair, page = (
            np.array(getattr(side, name)(features, labels, 2, 16, options)["losses"])
            for side in (v2, v3)
        )
        self.assertLess(np.abs(page / pair - 1).max(), 1e-6)

    def test_nan_ends_the_training(self):
        features = {"x": np.full([4], np.nan, "f")}
        with self.assertRaisesRegex(FloatingPointError, "NaN loss during training"):
            v3.linear_classifier(features, np.array([0, 1, 0, 1]), 3, 4)

    @parameterized.expand([("batch_norm",), ("optimzer",), ("label_dimension",)])
    def test_an_option_that_there_is_not(self, option):
        for side in (v2, v3):
            with self.assertRaisesRegex(TypeError, option):
                side.linear_classifier(FLOWERS, YES, 1, 16, {option: 1})

    def test_the_loss_is_loaded_with_its_model(self):
        model = keras.Sequential([keras.Input([2]), keras.layers.Dense(2)])
        model.compile("sgd", v3.SquaredError(reduction="sum"))
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder + "/model.keras")
            loaded = keras.models.load_model(folder + "/model.keras")
        self.assertEqual(loaded.loss(np.ones([3, 2]), np.zeros([3, 2])), 6)


class LegacyTest(unittest.TestCase):
    def test_today_s_tensorflow_has_no_estimator(self):
        self.assertFalse(hasattr(tf.compat.v1, "estimator"))
        with legacy(), self.assertRaisesRegex(AttributeError, "estimator"):
            v1.linear_classifier(FLOWERS, YES, 1, 16)


class HeadTest(unittest.TestCase):
    def test_reductions_other_than_none(self):
        for head in (canned.BinaryHead, canned.RegressionHead):
            with self.assertRaisesRegex(ValueError, "Invalid loss_reduction"):
                head(loss_reduction="none")

    def test_labels_of_another_width(self):
        with self.assertRaisesRegex(ValueError, "Mismatched label shape"):
            canned.RegressionHead(1).loss(SIZES, normal(67, 1))

    @parameterized.expand([("labels", 1, None), ("weights", 4, [1.0])])
    def test_a_number_for_all_rows_is_refused(self, what, labels, weights):
        loss = canned.RegressionHead().loss
        with self.assertRaisesRegex(INVALID, f"{what} shape must be"):
            loss(tf.ones([labels]), tf.zeros([4, 1]), weights)
        with self.assertRaisesRegex(INVALID, f"{what} shape must be"):
            specs = [tf.TensorSpec([None])] * 2
            tf.function(
                lambda labels, weights: loss(labels, tf.zeros([4, 1]), weights),
                input_signature=specs,
            )(tf.ones([labels]), weights or tf.ones([4]))
        self.assertEqual(loss(np.ones(4), tf.zeros([4, 1]), 0.5), 2)

    def test_an_evaluation_begins_anew(self):
        options = {"weight_column": "weight"}
        estimator = v2.restored("classifier", line(4), WEIGHED, options)
        first = estimator.evaluate(WEIGHED, YES, 16)
        estimator.evaluate(WEIGHED, 1 - YES, 16)
        self.assertEqual(estimator.evaluate(WEIGHED, YES, 16), first)
        estimator.evaluate(WEIGHED, YES, 10)
        self.assertEqual(estimator.update.experimental_get_tracing_count(), 1)

    @parameterized.expand([("none", 0), ("below", -1)])
    def test_no_steps_are_refused(self, _, steps):
        with self.assertRaisesRegex(ValueError, "Must specify steps > 0"):
            v2.linear_classifier(FLOWERS, YES, steps, 16)

    def test_a_network_begins_within_glorot_s_limits(self):
        model = canned.DNN({"x": (lambda x: x, 500)}, [100], 1)
        kernel = model.layers[0][0].numpy()
        limit = (6 / 600) ** 0.5
        self.assertLess(np.abs(kernel).max(), limit)
        self.assertGreater(np.abs(kernel).max(), 0.99 * limit)

    def test_vectors_of_words_begin_within_two_deviations(self):
        table = v2.Embedding(v2.Vocabulary(WORDS, 500), 16).table.numpy()
        limit = 2 * 16**-0.5  # embedding_column: standard deviation 1 / sqrt(dimension)
        self.assertLess(np.abs(table).max(), limit)
        self.assertGreater(np.abs(table).max(), 0.95 * limit)
