import contextlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Layer, Naive, Op, Program, Raises, normal
from tf1to2.parity.v1 import legacy
from v1_graph import regularization as v1
from v2_eager import regularization as v2
from v2_keras import regularization as v3

F = np.float32
INVALID = tf.errors.InvalidArgumentError
X, W1, W2 = F([[1, 2]]), F([[1, 0, -1], [0, 1, -1]]), F([[1], [2], [4]])
SIZES = [2, 10, 5, 3, 1]
EAGER = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
GENUINE = {"graph": "contrib is in 1.15 only"}


def network(seed=0, dtype="f"):
    """Draws initial kernels and biases of the network of the classic example."""
    random = np.random.RandomState(seed)
    shapes = list(zip(SIZES, SIZES[1:]))
    kernels = [random.normal(size=shape).astype(dtype) for shape in shapes]
    return kernels, [np.full(size, 0.1, dtype) for size in SIZES[1:]]


def data(samples, dtype="f"):
    return [array.astype(dtype) for array in v2.points_on_a_disc(samples, seed=0)]


def keras_l2(kernel, scale):
    l1, l2 = tf.keras.regularizers.L1(scale), tf.keras.regularizers.L2(scale)
    return [l1(kernel), l2(kernel), l1(kernel) + l2(kernel)]


KERNELS, BIASES = network()
CASES = [
    Op("two_layers", "linear", [X, [W1, W2]], expect=[[-7]]),
    Op("two_layers", "relu", [X, [W1, W2], [F([0, 1, 4]), F([-1])]], expect=[[10]]),
    Op(
        "two_layers",
        "any",
        [normal("n", 3), [normal(3, 4), normal(4, 2)], [normal(4), normal(2)]],
        skip={"generated": "one size tells as much"},
    ),
    Op("penalties", "two", [F([3, -4]), 0.5], expect=[3.5, 6.25, 9.75]),
    Op(
        "penalties",
        "any",
        [normal("n", 3), 0.003],
        skip={"generated": "one size tells as much"},
    ),
    FalseFriend(
        "penalties",
        "L2 of Keras",
        [F([3, -4]), 0.5],
        naive=keras_l2,
        because="its L2 is the sum of squares, not half of it",
        skip=EAGER,
    ),
    Op(
        "contrib_penalties",
        "two",
        [F([3, -4]), 0.5],
        expect=[3.5, 6.25, 9.75],
        skip=GENUINE,
    ),
    Op("contrib_penalties", "any", [normal(67, 4), 0.003], skip={**GENUINE, **EAGER}),
    Layer(
        "make_classifier",
        "two layers",
        [normal("n", 2)],
        factory={"units": [4, 1], "scale": 0.125},
    ),
    Program("points_on_a_disc", "the classic", [150, 0], skip={"function": PLAIN}),
    Program("points_on_a_disc", "another seed", [4, 1], skip={"function": PLAIN}),
    Program("train", "one step", [*data(8), KERNELS, BIASES, 1]),
    Program("train", "regularized", [*data(40), KERNELS, BIASES, 20]),
    Program(
        "train",
        "not regularized",
        [*data(40), KERNELS, BIASES, 20],
        {"regularized": False},
    ),
    Program(
        "train", "harder, faster", [*data(20), KERNELS, BIASES, 3, 0.5], {"rate": 0.125}
    ),
    Program("decision_boundary", "untrained", [KERNELS, BIASES]),
    Program(
        "decision_boundary",
        "a line",
        [[F([[1], [0]])], [F([0.5625])], 0.75],
        expect=(
            [[np.expm1(-0.6375)] * 4, [0.1125] * 4, [0.8625] * 4, [1.6125] * 4],
            [[v2.BLUE] * 4, [v2.BLUE] * 4, [v2.BLACK] * 4, [v2.RED] * 4],
        ),
    ),
    Raises(
        "two_layers",
        "a kernel of another size",
        [X, [W2, W1]],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be equal|incompatible|Matrix size",
    ),
    Raises(
        "penalties",
        "an integer kernel",
        [np.int32([1, 2]), 0.5],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "make_classifier",
        "a batch of three dimensions",
        [np.zeros([1, 1, 2], "f")],
        of="layer",
        factory={"units": [1], "scale": 0.5},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="must be equal",
    ),
    Raises(
        "train",
        "points of three coordinates",
        [np.zeros([2, 3], "f"), np.zeros([2, 1], "f"), KERNELS, BIASES, 1],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be equal|Matrix size",
    ),
    *(
        Raises(
            "train",
            slug,
            [*data(8)[:1], np.zeros(shape, "f"), KERNELS, BIASES, 1],
            of="program",
            graph=ValueError,
            eager=ValueError,
            function=ValueError,
            match=r"shape '?\(\?, 1\)|must be \[samples, 1\]",
        )
        for slug, shape in [("labels in a row", [8]), ("two columns of labels", [8, 2])]
    ),
    Raises(
        "contrib_penalties",
        "a scale below 0",
        [F([3, -4]), -0.5],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="Setting a scale less than 0",
        skip=GENUINE,
    ),
    Raises(
        "decision_boundary",
        "a network of three inputs",
        [[np.zeros([3, 1], "f")], [F([0])]],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be equal|Matrix size",
    ),
]


def whole(page):
    """Returns a page whose L2 weights are not halved."""
    make = tf.keras.regularizers.L2
    return mock.patch.object(v3.keras.regularizers, "L2", lambda w: make(2 * w))(page)


NAIVE = [
    Naive(
        case,
        "the scale as it was",
        whole(page),
        because="l2_loss is half the sum of the squares, L2 all of it",
    )
    for case, page in [
        ("penalties, two", v3.penalties),
        ("make_classifier, two layers", v3.make_classifier),
        ("train, regularized", v3.train),
    ]
]
PROOF = proof(v1, v2, CASES, NAIVE)


class RegularizationTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class PenaltyTest(unittest.TestCase):
    """Penalties: their gradients, and in which losses they are included."""

    def test_regularization_makes_kernels_small(self):
        points, labels = data(150)
        sizes = []
        for regularized in (False, True):
            trained = v2.train(
                points, labels, *network(), 60, 0.003, 0.0078125, regularized
            )
            sizes.append(sum(np.square(k).sum() for k in trained["kernels"]))
            self.assertLess(trained["error"][-1], trained["error"][0])
        self.assertLess(sizes[1], sizes[0])

    def test_float64_is_trained_in_float64_by_keras_too(self):
        wide = [np.float64(array) for array in data(8)]
        kernels, biases = ([np.float64(a) for a in arrays] for arrays in network())
        pair, page = (
            v.train(*wide, kernels, biases, 2, regularized=False) for v in (v2, v3)
        )
        for ours, theirs in zip(pair["kernels"], page["kernels"]):
            self.assertEqual(theirs.dtype, "float64")
            self.assertLess(np.abs(ours - theirs).max(), 1e-8)
        self.assertLess(np.abs(pair["loss"] - page["loss"]).max(), 1e-6)

    def test_a_loss_and_its_penalties_are_what_is_reported(self):
        points, labels = data(8)
        trained = v2.train(points, labels, KERNELS, BIASES, 1, scale=0.5)
        squares = sum(np.square(k.astype(float)).sum() for k in KERNELS)
        penalty = float(trained["loss"][0]) - float(trained["error"][0])
        self.assertEqual(f"{penalty:.3f}", f"{0.25 * squares:.3f}")

    @parameterized.expand([("template", True, 1), ("calls", False, 2)])
    def test_who_is_collected_twice(self, _, shared, expected):
        tf1 = v1.tf

        def by_hand(x):
            with tf1.variable_scope("net", reuse=tf1.AUTO_REUSE):
                kernel = tf1.get_variable("kernel", [2, 2])
            tf1.losses.add_loss(
                tf1.nn.l2_loss(kernel), tf1.GraphKeys.REGULARIZATION_LOSSES
            )

        def by_scope(x):
            with tf1.variable_scope(
                "net", reuse=tf1.AUTO_REUSE, regularizer=tf1.nn.l2_loss
            ):
                tf1.get_variable("kernel", [2, 2])

        with legacy():
            x = tf1.zeros([1, 2])
            for _ in range(2):
                (by_scope if shared else by_hand)(x)
            self.assertEqual(len(tf1.losses.get_regularization_losses()), expected)
            self.assertEqual(len(tf1.trainable_variables()), 1)

    def test_a_scope_also_penalizes_biases_unless_told_not_to(self):
        tf1 = v1.tf
        with legacy(), tf1.variable_scope("net", regularizer=tf1.nn.l2_loss):
            tf1.get_variable("kernel", [2, 2])
            tf1.get_variable("bias", [2])
            tf1.get_variable("free", [2], regularizer=tf1.no_regularizer)
            names = [loss.name for loss in tf1.losses.get_regularization_losses()]
        self.assertEqual(
            names, [f"net/{n}/Regularizer/L2Loss:0" for n in ("kernel", "bias")]
        )

    def test_a_collection_remembers_the_model_before(self):
        tf1 = v1.tf
        with legacy():
            for _ in range(2):  # a notebook cell that is run twice
                w = tf1.Variable([2.0])
                tf1.add_to_collection("losses", tf1.nn.l2_loss(w))
            with contextlib.closing(tf1.Session()) as sess:
                total = tf1.add_n(tf1.get_collection("losses"))
                sess.run(tf1.global_variables_initializer())
                self.assertEqual(sess.run(total), 4)


class ClassifierTest(unittest.TestCase):
    def test_keras_takes_no_other_shape_of_labels(self):
        points, labels = data(8)
        for other in (labels[:, 0], np.tile(labels, [1, 2])):
            with self.assertRaisesRegex(ValueError, "must be .samples, 1."):
                v3.train(points, other, KERNELS, BIASES, 1)

    def test_a_scope_in_a_scope_is_no_identifier(self):
        classify = v2.make_classifier([2], 0.5, name="towers/first")
        with tf.name_scope("outer"):  # get_variable ignored name scopes
            classify(tf.ones([1, 3]))
        names = [variable.name for variable in classify.variables]
        self.assertEqual(
            names, [f"towers/first/layer0/{n}:0" for n in ("bias", "kernel")]
        )

    def test_a_file_of_keras_has_the_layers_and_the_penalty(self):
        classify, x = v3.make_classifier([3, 2], 0.5), np.ones([4, 5], "f")
        logits, penalty = classify(x)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/classifier.keras"
            classify.save(path)
            loaded = tf.keras.models.load_model(path)
        again = loaded(x)
        np.testing.assert_array_equal(again[0], logits)
        self.assertEqual(again[1], penalty)
