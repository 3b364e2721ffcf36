import dataclasses
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import (
    FalseFriend,
    Naive,
    Op,
    Program,
    Raises,
    integers,
    normal,
    uniform,
)
from tf1to2.parity.v1 import legacy
from v1_graph import losses as v1
from v2_eager import losses as v2
from v2_eager.numerics.losses import Reduction
from v2_keras import losses as v3

F = np.float32
INVALID = tf.errors.InvalidArgumentError
REDUCTIONS = [
    # Four losses of 1, 2, 4 and 8 with the weights 1, 0, 1/2 and 2.
    ("none", [1, 0, 2, 16]),
    ("weighted_sum", 19),
    ("weighted_sum_over_batch_size", 4.75),
    ("weighted_mean", 19 / 3.5),
    ("weighted_sum_by_nonzero_weights", 19 / 3),
]
SparseCategoricalCrossentropy = tf.keras.losses.SparseCategoricalCrossentropy
LABELS, PREDICTIONS = F([[1, 2], [3, 4]]), F([[1, 4], [0, 4.5]])
ROWS = F([[0.5], [2]])
REAL = normal("n", 3)
EAGER = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
ONE = {"dynamic": "another case", "generated": "one size tells as much"}
ORDER = {"dynamic": "three parts of a gradient, which 1.15 adds in another order"}

# The obvious replacements: Keras, or the formula of a textbook.


def keras_mean_squared_error(labels, predictions, weights):
    return tf.keras.losses.MeanSquaredError()(
        labels[:, None], predictions[:, None], sample_weight=weights
    )


def keras_cosine(labels, predictions, axis):
    return tf.keras.losses.CosineSimilarity(axis=axis)(labels, predictions)


def keras_log_loss(labels, predictions):
    return tf.keras.losses.BinaryCrossentropy()(labels, predictions)


def keras_softmax(labels, logits, weights):
    return tf.keras.losses.CategoricalCrossentropy(from_logits=True)(
        labels, logits, sample_weight=weights
    )


def of_the_same_name(labels, predictions):
    return tf.losses.mae(labels, predictions)


def swapped(labels, logits):
    return tf.nn.softmax_cross_entropy_with_logits(logits, labels)


CASES = [
    *[
        Op(
            "compute_weighted_loss",
            reduction,
            [F([1, 2, 4, 8]), F([1, 0, 0.5, 2]), reduction],
            expect=answer,
            skip={} if reduction == "weighted_mean" else EAGER,
        )
        for reduction, answer in REDUCTIONS
    ],
    *[
        Op(
            "compute_weighted_loss",
            f"{reduction}, no weight at all",
            [F([1, 2]), F([0, 0]), reduction],
            expect=0,
            skip=EAGER,
        )
        for reduction in ("weighted_mean", "weighted_sum_by_nonzero_weights")
    ],
    *[
        Op(
            "compute_weighted_loss",
            f"any, {reduction}",
            [normal("n", "m"), uniform("n", 1), reduction],
            skip={} if reduction == "weighted_mean" else ONE,
        )
        for reduction in ("weighted_mean", "weighted_sum_by_nonzero_weights")
    ],
    Op(
        "compute_weighted_loss",
        "a weight that is fed",
        [F([1, 2, 3]), F(0.5)],
        expect=1,
        skip=EAGER,
    ),
    Op("compute_weighted_loss", "a number", [F([1, 2, 3]), 0.5], expect=1, skip=EAGER),
    Op(
        "compute_weighted_loss",
        "the number 0",
        [F([1, 2, 3]), 0.0],
        expect=0,
        skip=EAGER,
    ),
    Op(
        "compute_weighted_loss", "integers", [np.int32([1, 2, 4])], expect=2, skip=EAGER
    ),
    Op(
        "compute_weighted_loss",
        "float64, rounded to float32 on the way",
        [np.float64([1, 2**-30])],
        {"reduction": "weighted_sum"},
        expect=1,
        exact=True,
        skip=EAGER,
    ),
    Op(
        "compute_weighted_loss",
        "nothing to reduce",
        [np.zeros([0], "f")],
        expect=0,
        skip=EAGER,
    ),
    Op("absolute_difference", "four", [LABELS, PREDICTIONS], expect=5.5 / 4),
    Op(
        "absolute_difference", "rows", [LABELS, PREDICTIONS, ROWS], expect=2, skip=EAGER
    ),
    Op("absolute_difference", "any", [REAL, REAL], skip=ONE),
    Op("mean_squared_error", "four", [LABELS, PREDICTIONS], expect=13.25 / 4),
    Op(
        "mean_squared_error",
        "rows",
        [LABELS, PREDICTIONS, ROWS],
        expect=5.125,
        skip=EAGER,
    ),
    Op("mean_squared_error", "any", [REAL, REAL, uniform("n", 1)], skip=ONE),
    Op(
        "mean_squared_error",
        "a weighted mean",
        [REAL, REAL, uniform("n", 1), "weighted_mean"],
        skip=ONE,
    ),
    Op(
        "mean_squared_error",
        "integers",
        [np.int32([1, 5]), F([1, 2])],
        expect=4.5,
        skip=EAGER,
    ),
    FalseFriend(
        "mean_squared_error",
        "a masked mean, by Keras",
        [F([0, 0, 0]), F([1, 2, 3]), F([4, 0, 1])],
        naive=keras_mean_squared_error,
        because="the sum is divided by all examples, not by those with a weight",
        expect=6.5,
        skip=EAGER,
    ),
    FalseFriend(
        "absolute_difference",
        "the name in tf.losses",
        [LABELS, PREDICTIONS],
        naive=of_the_same_name,
        because="a function of Keras averages the last axis only",
        skip=EAGER,
        differs="shape",
    ),
    Op("huber_loss", "four", [LABELS, PREDICTIONS], expect=4.125 / 4, skip=ORDER),
    Op("huber_loss", "rows", [LABELS, PREDICTIONS, ROWS, 0.5], skip=EAGER),
    Op("huber_loss", "any", [REAL, REAL], {"delta": 1.5}, skip=ONE),
    Op("mean_pairwise_squared_error", "four", [LABELS, PREDICTIONS], expect=16.25),
    Op(
        "mean_pairwise_squared_error",
        "rows, one masked",
        [LABELS, PREDICTIONS, F([[0], [2]])],
        expect=24.5,
        skip=EAGER,
    ),
    Op(
        "mean_pairwise_squared_error",
        "nobody has a weight",
        [LABELS, PREDICTIONS, F([[0], [0]])],
        expect=0,
        skip=EAGER,
    ),
    Op(
        "mean_pairwise_squared_error",
        "any",
        [normal("n", 2, 2), normal("n", 2, 2)],
        skip=ONE,
    ),
    Op(
        "cosine_distance",
        "unit vectors",
        [F([[1, 0], [0, 1], [0, 1]]), F([[1, 0], [1, 0], [0, -1]]), 1],
        expect=1,
    ),
    Op("cosine_distance", "none", [LABELS, PREDICTIONS, -1, ROWS, "none"], skip=EAGER),
    Op("cosine_distance", "any", [REAL, REAL, 0], skip=ONE),
    FalseFriend(
        "cosine_distance",
        "CosineSimilarity of Keras",
        [F([[1, 0], [0, 2]]), F([[1, 0], [0, 2]]), 1],
        naive=keras_cosine,
        because="it is minus the cosine, of vectors that it normalizes first",
        expect=-1.5,
        skip=EAGER,
    ),
    Op("hinge_loss", "four", [F([1, 0, 1, 0]), F([2, -2, 0.5, 0.5])], expect=0.5),
    Op(
        "hinge_loss",
        "any",
        [integers("n", high=2), normal("n")],
        skip=ONE,
    ),
    Op(
        "hinge_loss",
        "rows",
        [F([[1], [0]]), F([[0], [1]]), ROWS],
        expect=2.25,
        skip=EAGER,
    ),
    Op(
        "log_loss",
        "sure and wrong",
        # Epsilon is fed: 1.15 first adds a constant epsilon to the 1 of 1 -
        # predictions.
        [F([1, 0]), F([0, 1]), 1.0, F(1e-7)],
        expect=-np.log(1e-7),
        exact=True,
        skip=EAGER,
    ),
    Op(
        "log_loss",
        "any",
        [integers("n", high=2, dtype="float32"), uniform("n", low=0.01, high=0.99)],
        skip=ONE,
    ),
    Op("log_loss", "even odds", [F([1, 0]), F([0.5, 0.5])]),
    Op(
        "log_loss",
        "weights",
        [F([[1], [0.25]]), F([[0.5], [0.75]]), ROWS, 0.125],
        {"reduction": "weighted_mean"},
        skip=EAGER,
    ),
    FalseFriend(
        "log_loss",
        "BinaryCrossentropy of Keras",
        [F([[1, 0]]), F([[0.5, 0.0625]])],
        naive=keras_log_loss,
        because="it takes the logit of a clipped probability, and no epsilon",
        skip=EAGER,
    ),
    Op("sigmoid_cross_entropy", "even odds", [F([1, 0]), F([0, 0])], expect=np.log(2)),
    Op(
        "sigmoid_cross_entropy",
        "smoothed",
        [np.int32([[1, 0], [0, 1]]), F([[4, 4], [2, -3]]), ROWS, 0.25],
        skip=EAGER,
    ),
    Op("sigmoid_cross_entropy", "any", [REAL, REAL], skip=ONE),
    Op(
        "softmax_cross_entropy",
        "even odds",
        [np.int32([[0, 0, 0, 1]]), np.zeros([1, 4], "f")],
        expect=np.log(4),
    ),
    Op(
        "softmax_cross_entropy",
        "weights, and smoothed",
        [np.int64([[1, 0], [0, 1]]), F([[4, 1], [2, -3]]), F([0.5, 2]), 0.25],
        skip=EAGER,
    ),
    Op(
        "softmax_cross_entropy",
        "any",
        [normal("n", "c"), normal("n", "c"), normal("n")],
    ),
    FalseFriend(
        "softmax_cross_entropy",
        "a masked mean, by Keras",
        [F([[1, 0], [0, 1]]), F([[0, 0], [0, 0]]), F([1, 0])],
        naive=keras_softmax,
        because="the sum is divided by all examples, not by those with a weight",
        expect=np.log(2),
        skip=EAGER,
    ),
    Op(
        "sparse_softmax_cross_entropy",
        "columns",
        [np.int64([[0], [1]]), F([[0, 0], [0, 0]]), F([[1], [0]])],
        expect=np.log(2),
    ),
    Op(
        "sparse_softmax_cross_entropy",
        "none",
        [np.int32([0, 2]), F([[0, 0, 1], [1, 2, 3]]), F([0.5, 2]), "none"],
        skip=EAGER,
    ),
    Op(
        "sparse_softmax_cross_entropy",
        "any",
        [integers("n", high=4), normal("n", 4), normal("n")],
        skip=ONE,
    ),
    Op(
        "segmentation_loss",
        "one pixel of four is ignored",
        [
            np.int32([[[0, 1], [255, 1]]]),
            np.zeros([1, 2, 2, 2], "f"),
            F([1, 3]),
        ],
        # (1 + 3 + 3) * log 2, divided by the three losses that count, not by weights.
        expect=7 * np.log(2) / 3,
    ),
    Op(
        "segmentation_loss",
        "nothing counts",
        [np.int64([[9, 9]]), F([[[1, 2], [3, 4]]]), F([1, 1]), 9],
        expect=0,
    ),
    Op(
        "segmentation_loss",
        "any",
        [integers("n", 5, high=4), normal("n", 5, 4), F([0.5, 1, 2, 0]), 3],
        skip=ONE,
    ),
    Op(
        "softmax_losses",
        "the first axis",
        [F([[1, 0], [0, 1]]), F([[0, 1], [0, -1]]), 0],
        skip=EAGER,
    ),
    Op("softmax_losses", "any", [REAL, REAL]),
    FalseFriend(
        "softmax_losses",
        "by position, in the order of version 0",
        [F([[1, 0], [0, 1]]), F([[0, 3], [0, -1]])],
        naive=swapped,
        because="labels come first; 1.15 takes names only, TensorFlow 2 takes anything",
        skip=EAGER,
    ),
    Op(
        "weighted_sigmoid_losses",
        "one weighs twice",
        [F([1, 0, 1]), F([0, 0, 0]), F([2, 2, 1])],
        expect=np.log(2) * F([2, 1, 1]),
    ),
    Op(
        "weighted_sigmoid_losses",
        "any",
        [REAL, REAL, 0.25],
        skip=ONE,
    ),
    Program(
        "collected_losses",
        "three and a penalty",
        [F([1, 2]), F([2, 4]), F([[4], [2]])],
        expect={
            "losses": [2.5, 0.75, 4],
            "auxiliary": [0.75],
            "regularization": [1.25],
            "penalty": 1.25,
            "data": 7.25,
            "total": 8.5,
            "unused": 1,
        },
    ),
    Program("collected_losses", "any", [normal(67, 2), normal(67, 2), normal(3, 3)]),
    *[
        Raises(
            name,
            "a column beside a row",
            [F([[1], [2]]), F([1, 2])],
            graph=ValueError,
            eager=ValueError,
            function=ValueError,
            match=r"\(2, ?1\) and \(2,?\) are incompatible|\(2,?\) and \(2, ?1\)",
        )
        for name in [
            "absolute_difference",
            "mean_squared_error",
            "huber_loss",
            "mean_pairwise_squared_error",
            "hinge_loss",
            "log_loss",
            "sigmoid_cross_entropy",
            "softmax_cross_entropy",
        ]
    ],
    Raises(
        "cosine_distance",
        "a column beside a row",
        [F([[1], [2]]), F([1, 2]), 0],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="are incompatible",
    ),
    Raises(
        "compute_weighted_loss",
        "weights for a column",
        [F([[1], [2]]), F([1, 2])],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="weights can not be broadcast to values",
    ),
    Raises(
        "mean_pairwise_squared_error",
        "weights for examples",
        [LABELS, PREDICTIONS, F([1, 2])],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="weights can not be broadcast to values",
    ),
    Raises(
        "compute_weighted_loss",
        "weights that would widen the losses",
        [F([[1], [2]]), F([[1, 2], [3, 4]])],
        graph=ValueError,
        eager=INVALID,
        function=INVALID,
        match="weights can not be broadcast to values",
    ),
    Raises(
        "compute_weighted_loss",
        "weights of another size",
        [F([1, 2]), F([1, 2, 3])],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="weights can not be broadcast|Incompatible shapes|must be equal",
    ),
    Raises(
        "compute_weighted_loss",
        "a reduction of Keras",
        [F([1, 2]), 1.0, "sum_over_batch_size"],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="Invalid Reduction Key sum_over_batch_size",
    ),
    Raises(
        "sparse_softmax_cross_entropy",
        "no such class",
        [np.int32([0, 3]), F([[0, 0, 1], [1, 2, 3]])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match=r"label value of 3 which is outside the valid range of \[0, 3\)",
    ),
    Raises(
        "softmax_losses",
        "sizes that do not fit",
        [np.zeros([2, 3], "f"), np.zeros([2, 4], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be (equal|broadcastable)",
    ),
    Raises(
        "weighted_sigmoid_losses",
        "a column beside a row",
        [F([[1], [2]]), F([1, 2]), 2.0],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="must have the same shape",
    ),
    Raises(
        "collected_losses",
        "a column beside a row",
        [F([[1], [2]]), F([1, 2]), F([1])],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="are incompatible",
    ),
]
# `tf.losses` computes in float32 for any input.
CASES = [
    case
    if isinstance(case, Raises)
    or case.name in ("softmax_losses", "weighted_sigmoid_losses")
    else dataclasses.replace(case, float32=True)
    for case in CASES
]
NAIVE = [
    Naive(
        "sparse_softmax_cross_entropy, columns",
        "by the default reduction",
        lambda labels, logits, weights: SparseCategoricalCrossentropy(from_logits=True)(
            labels, logits, sample_weight=weights
        ),
        because="the sum is divided by all examples, not by those with a weight",
    ),
    Naive(
        "sigmoid_cross_entropy, any",
        "of probabilities",
        lambda labels, logits: tf.keras.losses.BinaryCrossentropy()(labels, logits),
        because="Keras takes probabilities unless it is told of logits",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class LossesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    def test_hinge_of_a_label_between_the_classes(self):
        labels, logits = tf.constant([[1.0, 0.5]]), tf.constant([[0.3, 0.2]])
        for page in (v2, v3):
            self.assertEqual(f"{page.hinge_loss(labels, logits):.2f}", "0.85")

    @parameterized.expand(
        [
            ("sigmoid_cross_entropy", [[1.0, 0.25]]),
            ("softmax_cross_entropy", [[1.0, 0.25]]),
            ("sparse_softmax_cross_entropy", [1]),
            ("softmax_losses", [[1.0, 0.25]]),
        ]
    )
    def test_float64_stays_float64(self, name, labels):
        labels = tf.constant(np.array(labels))
        logits = tf.constant([[0.3, 0.2]], tf.float64)
        pair, page = (getattr(side, name)(labels, logits) for side in (v2, v3))
        self.assertEqual((pair.dtype, page.dtype), (tf.float64, tf.float64))
        self.assertLess(np.abs(page - pair).max(), 1e-7)  # 1.15 rounded on the way

    @parameterized.expand(["int32", "float16", "float32"])
    def test_labels_are_not_cast_to_the_dtype_of_predictions(self, dtype):
        labels = np.array([[0.3, 1.0], [0.25, 0.7]])
        for name in ("absolute_difference", "mean_squared_error", "huber_loss"):
            for kind in (tf.constant, np.array):
                predictions = kind(np.array([[1, 2], [0, 1]], dtype))
                pair, page = (
                    getattr(side, name)(labels, predictions) for side in (v2, v3)
                )
                self.assertLess(abs(page - pair), 2e-7)

    def test_classes_are_whole_numbers_and_logits_may_be_an_array(self):
        logits = np.float32([[0.5, 1, 2], [3, 1, 0]])
        found = v3.sparse_softmax_cross_entropy(np.array([2, 0]), logits)
        expected = v2.sparse_softmax_cross_entropy(np.array([2, 0]), logits)
        self.assertLess(abs(found - expected), 1e-7)
        with self.assertRaisesRegex(TypeError, "integers, not float64"):
            v3.sparse_softmax_cross_entropy(np.array([1.7, 0]), logits)

    def test_an_unknown_rank_is_refused(self):
        specs = [tf.TensorSpec(None)] * 2
        x = tf.constant([[1.0, 2.0]])
        self.assertEqual(tf.function(v2.mean_squared_error, specs)(x, x), 0)
        with self.assertRaises(ValueError):
            tf.function(v3.mean_squared_error, specs)(x, x)


class CollectionTest(unittest.TestCase):
    """The collections outside a graph and in a `tf.function`."""

    def test_eagerly_nothing_is_collected(self):
        losses = tf.compat.v1.losses
        one, two = tf.constant([1.0]), tf.constant([3.0])
        self.assertEqual(losses.mean_squared_error(one, two).numpy(), 4)
        self.assertEqual(losses.get_losses(), [])
        self.assertEqual(losses.get_regularization_loss().numpy(), 0)
        with self.assertRaisesRegex(ValueError, "at least one Tensor"):
            losses.get_total_loss()

    def test_a_trace_collects_its_own(self):
        losses, counts = tf.compat.v1.losses, []

        @tf.function
        def step(labels, predictions):
            losses.mean_squared_error(labels, predictions)
            counts.append(len(losses.get_losses()))
            return losses.get_total_loss()

        for size in (1, 2):
            step(tf.zeros([size]), tf.ones([size]))
        self.assertEqual(counts, [1, 1])

    def test_no_losses_have_no_total_but_no_penalties_are_0(self):
        losses = v1.tf.losses
        with legacy(), v1.tf.Session() as sess:
            self.assertEqual(sess.run(losses.get_regularization_loss()), 0)
            with self.assertRaisesRegex(ValueError, "at least one Tensor"):
                losses.get_total_loss()

    def test_a_name_finds_every_loss_that_begins_with_it(self):
        losses = v1.tf.losses
        with legacy():
            x = v1.tf.zeros([2])
            for _ in range(2):
                losses.absolute_difference(x, x, scope="auxiliary")
            names = [loss.name for loss in losses.get_losses("auxiliary")]
        self.assertEqual(names, ["auxiliary/value:0", "auxiliary_1/value:0"])


class RankTest(unittest.TestCase):
    """Losses in a `tf.function` whose input has an unknown rank."""

    WEIGHTS = np.float32([1, 0, 3])

    def traced(self, page, *specs):
        return tf.function(page, [tf.TensorSpec(*spec) for spec in specs])

    @parameterized.expand(
        [
            ("weights", [None], None),
            ("losses", None, [None]),
            ("both", None, None),
        ]
    )
    def test_weights_fit_or_are_refused(self, _, losses, weights):
        weigh = self.traced(v2.compute_weighted_loss, (losses,), (weights,))
        self.assertEqual(weigh(np.float32([1, 9, 5]), self.WEIGHTS), 8)
        if losses is None:
            with self.assertRaisesRegex(
                tf.errors.InvalidArgumentError, "can not be broadcast"
            ):
                weigh(np.ones([3, 3], "f"), self.WEIGHTS)
        if weights is None:
            self.assertEqual(weigh(np.float32([1, 9, 5]), np.float32(2)), 10)

    def test_pairs_of_elements(self):
        labels, predictions = np.zeros([3, 2], "f"), np.float32([[0, 2]] * 3)
        loss = self.traced(v2.mean_pairwise_squared_error, (None,), (None,))
        self.assertEqual(loss(labels, predictions), 12)

    @parameterized.expand([("labels", None, [None, 3]), ("both", None, None)])
    def test_classes(self, _, labels, logits):
        loss = self.traced(
            v2.sparse_softmax_cross_entropy, (labels, tf.int32), (logits,)
        )
        classes, scores = np.int32([2, 0]), np.float32([[1, 2, 3], [3, 2, 1]])
        self.assertEqual(
            loss(classes, scores), v2.sparse_softmax_cross_entropy(classes, scores)
        )


class PairwiseTest(unittest.TestCase):
    def test_weights_of_more_rows_than_there_are(self):
        x = tf.ones([1, 4])
        with self.assertRaisesRegex(
            (ValueError, tf.errors.InvalidArgumentError), "can not be broadcast"
        ):
            v2.mean_pairwise_squared_error(x, x, tf.ones([3, 1]))


class NameTest(unittest.TestCase):
    """Arguments and names that have another meaning now."""

    def test_a_column_beside_a_row_is_a_matrix_by_the_formula(self):
        labels, predictions = tf.constant([[1.0], [3.0]]), tf.constant([1.0, 3.0])
        error = tf.reduce_mean(tf.square(predictions - labels))
        self.assertEqual(error.numpy(), 2)  # 0 for equal shapes
        with self.assertRaisesRegex(ValueError, "incompatible"):
            v2.mean_squared_error(labels, predictions)

    @parameterized.expand([("right", v2), ("keras", v3)])
    def test_what_would_be_broadcast_is_refused(self, _, page):
        x, row = tf.zeros([4, 3]), tf.ones([3])
        for arguments, message in [
            ([x, x[:, :1]], "incompatible"),
            ([x, x, row], "broadcast"),
            ([x, x, 1.0, "sum"], "Invalid Reduction Key sum"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                page.mean_squared_error(*arguments)

    def test_keras_takes_lists(self):
        labels, logits = [[0.0, 1.0], [1.0, 0.0]], [[1.0, 2.0], [3.0, 1.0]]
        arrays = np.float32(labels), np.float32(logits)
        for loss in (v3.softmax_cross_entropy, v3.softmax_losses):
            np.testing.assert_array_equal(loss(labels, logits), loss(*arrays))

    def test_keras_refuses_the_reductions_of_v1(self):
        with self.assertRaisesRegex(ValueError, "Invalid value for argument"):
            tf.keras.losses.MeanSquaredError(reduction=Reduction.SUM)

    def test_weights_of_every_element_count_pairs_several_times(self):
        labels, predictions = tf.zeros([1, 2]), tf.constant([[0.0, 2.0]])
        answers = [
            v2.mean_pairwise_squared_error(labels, predictions, weights).numpy()
            for weights in (1.0, tf.ones([1, 1]), tf.ones([1, 2]))
        ]
        self.assertEqual(answers, [4, 4, 8])

    def test_graph_rewriting_moves_epsilon_to_the_other_side(self):
        labels, predictions = tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])
        before = tf.config.optimizer.get_experimental_options()
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
        try:
            rewritten = tf.function(v2.log_loss)(labels, predictions)
        finally:
            tf.config.optimizer.set_experimental_options(
                {"disable_meta_optimizer": before.get("disable_meta_optimizer", False)}
            )
        self.assertEqual(f"{v2.log_loss(labels, predictions):.3f}", "16.118")
        self.assertEqual(f"{rewritten:.3f}", "16.030")  # (1 + epsilon) - 1 is 1.19e-7
