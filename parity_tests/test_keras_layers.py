"""Proves the pair `keras_layers`: layers of tf.keras, with the old defaults told."""

import os
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Layer, Op, Program, Raises, integers, normal
from v1_graph import keras_layers as v1
from v2_eager import keras_layers as v2

layers = tf.keras.layers

GRAPH = "tf.keras is Keras 3 today, which has no graphs and no sessions"
SKIP = {"graph": GRAPH}
ONCE = "one case of this pair does"
ZEROS = "the first state of 1.15's ConvLSTM2D is float32, whatever comes in"


def draw(*shape):
    """Ordinary float32 numbers, for a shape always the same."""
    random = np.random.RandomState(sum(shape) + 1)
    return random.standard_normal(shape).astype("f")


def lstm_weights(features, units):
    return [draw(features, 4 * units), draw(units, 4 * units), draw(4 * units)]


def case(kind, name, slug, args, factory=(), skip=(), **others):
    factory = {"factory": dict(factory)} if factory else {}
    return kind(name, slug, args, skip={**SKIP, **dict(skip)}, **factory, **others)


SEQUENCES = [normal("b", "s", 3)]
SENTENCES = np.int32([[1, 7, 3, 2, 9, 4], [5, 2, 0, 0, 0, 0], [8, 1, 6, 0, 0, 0]])
PIECES = [draw(3, 4, 2) + shift for shift in np.float32([0, 0.1, 0.2, 0.3])]
BATCH = draw(64, 3) * 3 + 1
STATISTICS = [np.abs(draw(3)) + shift for shift in np.float32([0.5, 0, 0.25, 1])]
FROZEN = {"trainable": False}
PHASES = [
    ("left to the phase, training", {"phase": 1}),
    ("left to the phase, inference", {"phase": 0}),
    ("told to train", {"training": True, "phase": 0}),
    ("told not to", {"training": False, "phase": 1}),
]
CORNERS = np.float32([[-3, -2.5, -0.0, 0.0, 0.2, 0.7, 1.5, 2.5, 3]])
ACTIVATIONS = (
    *("leaky", "less leaky", "thresholded", "relu", "hard_sigmoid"),
    *("selu", "elu", "softmax"),
)
POOLS = ("averages", "maxima", "overlapping", "average", "maximum")
WITHOUT_ZEROS = {"xla": "a number times 0 is 0.0 there, and not -0.0"}
KINDS = (
    *("Dense", "LSTM", "GRU", "Bidirectional", "BatchNormalization"),
    *("SeparableConv1D", "PReLU"),
)
INITIALIZERS = (
    *("RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling"),
    *("Orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform"),
    *("lecun_normal", "lecun_uniform"),
)


def frozen_by_trainable(x, weights, trainable, phase):
    """What the same code does today."""
    norm = layers.BatchNormalization(momentum=0.9)
    norm.trainable = trainable
    norm.build(x.shape)
    norm.set_weights(weights)
    y = norm(x, training=bool(phase))
    return (y, *norm.get_weights()[2:])


def gru_as_it_comes(kind, features, units):
    layer = getattr(layers, kind)(units)
    layer.build((None, 5, features))
    shapes = [tuple(w.shape) for w in layer.weights]
    return [w.name for w in layer.weights], shapes, layer.count_params()


CASES = [
    case(Layer, "make_lstm", "any size", SEQUENCES, {"units": 4}),
    case(
        FalseFriend,
        "make_lstm",
        "as it comes",
        [normal("b", 5, 3)],
        {"units": 4, "return_sequences": True},
        of="layer",
        naive=lambda units, return_sequences: layers.LSTM(
            units, return_sequences=return_sequences, name="lstm"
        ),
        because="its gates are sigmoids, and were 0.2 * x + 0.5, clipped",
    ),
    case(
        FalseFriend,
        "make_lstm",
        "hard_sigmoid by its name",
        [normal("b", 7, 3)],
        {"units": 3},
        {"xla": ONCE, "dynamic": ONCE},
        of="layer",
        naive=lambda units: layers.LSTM(
            units, recurrent_activation="hard_sigmoid", name="lstm"
        ),
        because="hard_sigmoid is x / 6 + 0.5 in Keras 3, clipped at 3",
    ),
    case(Layer, "make_gru", "any size", SEQUENCES, {"units": 4}),
    case(
        FalseFriend,
        "make_gru",
        "as it comes",
        [normal("b", 5, 3)],
        {"units": 4, "return_sequences": True},
        of="layer",
        naive=lambda units, return_sequences: layers.GRU(
            units, return_sequences=return_sequences, name="gru"
        ),
        because="it resets after the product, with a bias more, and its gates are "
        "sigmoids",
    ),
    case(
        Layer,
        "make_conv_lstm",
        "valid",
        [normal("b", 3, 5, 4, 2)],
        {"filters": 3, "size": (3, 2)},
        float32=True,
    ),
    case(
        FalseFriend,
        "make_conv_lstm",
        "as it comes",
        [normal("b", 4, 4, 4, 1)],
        {"filters": 2, "size": (3, 3), "padding": "same"},
        {"xla": ONCE, "dynamic": ONCE},
        of="layer",
        float32=True,
        naive=lambda filters, size, padding: layers.ConvLSTM2D(
            filters, size, padding=padding, name="conv_lstm2d"
        ),
        because="its gates are sigmoids, and were 0.2 * x + 0.5, clipped",
    ),
    case(Layer, "make_cells", "any size", SEQUENCES, {"units": [4, 3]}),
    case(Layer, "make_bidirectional", "any size", SEQUENCES, {"units": 3}),
    *(
        case(
            Layer,
            "make_bidirectional",
            mode,
            [normal("b", 4, 2)],
            {"units": 2, "merge_mode": mode},
            {"xla": ONCE, "dynamic": ONCE},
        )
        for mode in ("sum", "mul", "ave")
    ),
    case(
        Layer,
        "make_tagger",
        "padded",
        [SENTENCES],
        {"words": 10, "tags": 3, "units": 4, "length": 6},
        {"dynamic": "the length is an argument"},
    ),
    case(
        Layer,
        "make_tagger",
        "any batch",
        [integers("b", 8, high=20)],
        {"words": 20, "tags": 5, "units": 3, "length": 8},
        {"xla": ONCE},
        sizes=[{"b": 1}, {"b": 67}],
    ),
    case(
        Program,
        "read_in_pieces",
        "forgotten before the third",
        [PIECES, lstm_weights(2, 3)],
        kwargs={"reset": [2]},
    ),
    case(Program, "read_in_pieces", "never", [PIECES, lstm_weights(2, 5)]),
    case(
        Program,
        "translate",
        "sequences of other lengths",
        [draw(5, 7, 2), draw(5, 4, 3), lstm_weights(2, 4), lstm_weights(3, 4)],
    ),
    *(
        case(Program, "list_weights", kind, [kind, 3, 2], skip={"function": PLAIN})
        for kind in KINDS
        if kind != "GRU"
    ),
    case(
        FalseFriend,
        "list_weights",
        "GRU",
        ["GRU", 3, 2],
        skip={"function": PLAIN},
        of="program",
        naive=gru_as_it_comes,
        differs="structure",
        because="reset_after=True has a second bias: 42 parameters, not 36",
        expect=(
            ["kernel", "recurrent_kernel", "bias"],
            [(3, 6), (2, 6), (6,)],
            36,
        ),
    ),
    *(
        case(Program, "normalize", slug, [BATCH, STATISTICS], kwargs=how)
        for slug, how in PHASES
    ),
    *(
        case(
            Program,
            "normalize",
            f"frozen, {slug}",
            [BATCH, STATISTICS],
            kwargs={**FROZEN, **how},
        )
        for slug, how in PHASES[1:]
    ),
    case(
        FalseFriend,
        "normalize",
        "frozen, left to the phase, training",
        [BATCH, STATISTICS],
        kwargs={**FROZEN, "phase": 1},
        of="program",
        naive=frozen_by_trainable,
        because="trainable=False takes the moving statistics today, in training, too",
    ),
    *(
        case(
            Op,
            "activate",
            f"{kind}, any size",
            [normal("r", "c"), kind],
            skip=WITHOUT_ZEROS if kind == "thresholded" else (),
        )
        for kind in ACTIVATIONS
        if kind != "hard_sigmoid"
    ),
    case(
        FalseFriend,
        "activate",
        "hard_sigmoid, any size",
        [normal("r", "c"), "hard_sigmoid"],
        naive=lambda x, kind: tf.keras.activations.hard_sigmoid(x),
        because="it is x / 6 + 0.5 in Keras 3, and was 0.2 * x + 0.5",
    ),
    *(
        case(
            Op,
            "activate",
            f"{kind}, at the corners",
            [CORNERS, kind],
            skip={"xla": ONCE, "dynamic": ONCE},
            exact=True,
        )
        for kind in ACTIVATIONS[:5]
    ),
    *(
        case(Op, "pool", f"{kind}, images", [normal("b", 7, 6, 3), kind])
        for kind in POOLS[1:]
    ),
    case(
        FalseFriend,
        "pool",
        "averages, images",
        [normal("b", 7, 6, 3), "averages"],
        naive=lambda x, kind: layers.AveragePooling2D()(x),
        differs="raises",
        because="pool_size was (2, 2), and has no default",
    ),
    case(Op, "merge", "any size", [normal("b", "s", 3), normal("b", "s", 3)]),
    *(
        case(Op, "penalty", f"{kind}, any size", [normal("r", "c"), kind])
        for kind in ("l2", "given")
    ),
    # Before Keras 3.14 the weight of L1 is a tensor of float32.
    case(Op, "penalty", "l1, any size", [normal("r", "c"), "l1"], float32=True),
    case(
        FalseFriend,
        "penalty",
        "l1_l2, any size",
        [normal("r", "c"), "l1_l2"],
        naive=lambda w, kind: tf.keras.regularizers.l1_l2()(w),
        because="l1 and l2 were 0.01, and are 0: it penalizes nothing",
    ),
    case(
        FalseFriend,
        "penalty",
        "by name, any size",
        [normal("r", "c"), "by name"],
        naive=lambda w, kind: tf.keras.regularizers.get("l1_l2")(w),
        differs="raises",
        because="no regularizer is called so any more",
    ),
    case(
        Program,
        "compare_twins",
        "a batch",
        [draw(64, 5), draw(64, 5) * draw(5), draw(5, 3), draw(3)],
    ),
    case(Program, "center", "four batches", [[draw(n, 3) + n for n in (8, 8, 8, 8)]]),
    case(
        Program,
        "center",
        "other rates",
        [[draw(16, 4) * n for n in (1, 2, 3)]],
        kwargs={"momentum": 0.5, "rate": 2.0},
    ),
    *(
        case(
            Program,
            "initial_scale",
            name,
            [name, [400, 500]],
            skip={"function": PLAIN},
        )
        for name in INITIALIZERS
    ),
    Raises.alike(
        "make_lstm",
        "a matrix",
        [np.zeros([2, 3], "f")],
        ValueError,
        "expected (min_)?ndim=3, found ndim=2",
        of="layer",
        factory={"units": 2},
        skip=SKIP,
    ),
    Raises.alike(
        "merge",
        "sizes that do not fit",
        [np.zeros([2, 3, 4], "f"), np.zeros([2, 3, 5], "f")],
        ValueError,
        "could not be broadcast|incompatible shapes",
        skip=SKIP,
    ),
    Raises.alike(
        "compare_twins",
        "a kernel of another size",
        [draw(4, 5), draw(4, 5), draw(4, 3), draw(3)],
        ValueError,
        "not compatible with|shape",
        of="program",
        skip=SKIP,
    ),
]
PROOF = proof(v1, v2, CASES)


class KerasLayersTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def first_of_ones(**options):
    """The first output of an LSTM of two units, its kernels ones, that reads a 1."""
    lstm = layers.LSTM(2, **options)
    lstm.build((None, 1, 1))
    for kernel in lstm.weights[:2]:
        kernel.assign(tf.ones_like(kernel))
    return f"{lstm(tf.ones([1, 1, 1]))[0, 0].numpy():.4f}"


def old_gru_weights():
    gru = layers.GRU(2)
    gru.build((None, 5, 3))
    gru.set_weights([draw(3, 6), draw(2, 6), draw(6)])


class TodayTest(unittest.TestCase):
    """What the chapter says of today's Keras beside the pairs."""

    def test_a_layer_casts_to_its_own_dtype(self):
        x = tf.constant([[[1.0, 2.0**-40]]], tf.float64)
        self.assertEqual(layers.add([x, x]).dtype, tf.float32)
        merged = v2.merge(x, x)
        np.testing.assert_array_equal(merged["add"], 2 * x)
        for tensor in [
            *merged.values(),
            *(v2.activate(x, kind) for kind in ACTIVATIONS),
        ]:
            self.assertEqual(tensor.dtype, tf.float64)

    def test_three_gates_give_three_numbers(self):
        gates = [v2.hard_sigmoid, "sigmoid", "hard_sigmoid"]
        numbers = [first_of_ones(recurrent_activation=gate) for gate in gates]
        self.assertEqual(numbers, ["0.3414", "0.3696", "0.3121"])
        self.assertEqual(first_of_ones(), numbers[1])

    def test_a_frozen_batch_norm_does_not_normalize(self):
        x = 8 * np.random.RandomState(0).randn(100, 1).astype("f") + 3
        squares = []
        for trainable in (True, False):
            norm = layers.BatchNormalization()
            norm.trainable = trainable
            squares.append(np.mean(np.square(norm(x, training=True))))
        self.assertEqual([f"{square:.2f}" for square in squares], ["1.00", "77.04"])

    def test_the_gate_is_found_by_a_model_that_is_loaded(self):
        config = v2.make_lstm(2).get_config()
        again = layers.LSTM.from_config(config)
        gate = again.recurrent_activation(tf.constant(1.0))
        self.assertEqual(f"{gate.numpy():.4f}", "0.7000")  # 0.6667 by Keras 3's

    @pytest.mark.slow
    def test_tf_keras_takes_old_arguments_and_has_new_defaults(self):
        code = """
            import numpy as np, tensorflow as tf
            layers = tf.keras.layers
            layers.Embedding(3, 2, input_length=4), layers.LeakyReLU(alpha=0.1)
            norm = layers.BatchNormalization(trainable=False)
            x = 8 * np.random.RandomState(0).randn(100, 1).astype("f") + 3
            print(
                layers.LSTM(1).recurrent_activation.__name__,
                layers.GRU(1).reset_after,
                "%.2f" % np.mean(np.square(norm(x, training=True))),
            )
        """
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "TF_USE_LEGACY_KERAS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(run.stdout.split(), ["sigmoid", "True", "77.04"])

    @parameterized.expand(
        [
            (
                "an argument that named the input",
                lambda: layers.LSTM(2, input_length=3),
                "Unrecognized keyword",
            ),
            (
                "weights of a dense layer",
                lambda: layers.Dense(1, weights=[draw(2, 1)]),
                "Unrecognized keyword",
            ),
            (
                "fused",
                lambda: layers.BatchNormalization(fused=False),
                "Unrecognized keyword",
            ),
            ("weights of an old GRU", old_gru_weights, "is not compatible with"),
            (
                "l1_l2 by its name",
                lambda: layers.Dense(1, kernel_regularizer="l1_l2"),
                "Could not interpret regularizer",
            ),
            ("the weight of l1", lambda: tf.keras.regularizers.l1(l=0.1), "'l'"),
        ]
    )
    def test_it_raises(self, _, call, message):
        with self.assertRaisesRegex((TypeError, ValueError), message):
            call()

    @parameterized.expand(
        [
            ("alpha", lambda: layers.LeakyReLU(alpha=0.1), "negative_slope"),
            ("a length", lambda: layers.Embedding(3, 2, input_length=4), "remove it"),
        ]
    )
    def test_it_only_warns(self, _, call, message):
        with self.assertWarnsRegex(UserWarning, message):
            call()


if __name__ == "__main__":
    unittest.main()
