"""Proves the pair `keras_layers`: layers of tf.keras, with the old defaults passed."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Layer, Op, Program, Raises, integers, normal
from v1_graph import keras_layers as v1
from v2_eager import keras_layers as v2
from v2_eager.keras_layers import own

layers = tf.keras.layers

GRAPH = "tf.keras is Keras 3 today, which has no graphs and no sessions"
SKIP = {"graph": GRAPH}
ONCE = "one case of this pair does"
ZEROS = "the first state of 1.15's ConvLSTM2D is float32, whatever comes in"


def draw(*shape):
    """Draws normal float32 numbers, always the same for a shape."""
    random = np.random.RandomState(sum(shape) + 1)
    return random.standard_normal(shape).astype("f")


def lstm_weights(features, units):
    return [draw(features, 4 * units), draw(units, 4 * units), draw(4 * units)]


def case(kind, name, slug, args, factory=(), skip=(), **others):
    factory = {"factory": dict(factory)} if factory else {}
    return kind(name, slug, args, skip={**SKIP, **dict(skip)}, **factory, **others)


SEQUENCES = [normal("b", "s", 3)]
PADDED = np.random.RandomState(3).randint(1, 9, [64, 7])
PADDED = np.int32(PADDED * (np.arange(7) < 3 + np.arange(64)[:, None] % 5))
PAIRS_OF_PADDED = [PADDED[:, :5], PADDED[:, 2:], draw(9, 4)]
DOCUMENTS = (
    PADDED.reshape([16, 4, 7])
    * (np.arange(4) < 1 + np.arange(16)[:, None] % 4)[:, :, None]
)
SENTENCES = np.int32([[1, 7, 3, 2, 9, 4], [5, 2, 0, 0, 0, 0], [8, 1, 6, 0, 0, 0]])
KEPT = np.arange(6) < 2 + np.arange(64)[:, None] % 5
READ = [
    [[draw(8, 4, 2), draw(8, 3)], [draw(8, 4, 2) + 1, draw(8, 3)]],
    lstm_weights(2, 3),
    [draw(1, 4, 2), draw(1, 4, 2) - 1],
    0.5,
]
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
    """Runs the same code as in TensorFlow 1."""
    norm = layers.BatchNormalization(momentum=0.9)
    norm.trainable = trainable
    norm.build(x.shape)
    norm.set_weights(weights)
    y = norm(x, training=bool(phase))
    return (y, *norm.get_weights()[2:])


def by_time_distributed(ids, vectors, of_words, of_sentences):
    """Runs the same code as in TensorFlow 1, with the old gates."""
    words, sentences = (weights[1].shape[0] for weights in (of_words, of_sentences))
    embedding = layers.Embedding(*vectors.shape, mask_zero=True)
    inputs = layers.Input(ids.shape[1:], dtype="int32")
    x = layers.TimeDistributed(embedding)(inputs)
    x = layers.TimeDistributed(layers.LSTM(words, **v2.OLD_LSTM))(x)
    model = tf.keras.Model(inputs, layers.LSTM(sentences, **v2.OLD_LSTM)(x))
    model.set_weights([vectors, *of_words, *of_sentences])
    return model.predict_on_batch(ids)


def route_by_todays_batch_dot(inputs, kernel, routings=3):
    """Runs the same code as in TensorFlow 1."""
    K = tf.keras.backend
    tiled = K.tile(K.expand_dims(inputs, 1), [1, K.int_shape(kernel)[0], 1, 1])
    hat = K.map_fn(lambda row: K.batch_dot(row, kernel, [2, 3]), elems=tiled)
    agreement = K.zeros_like(hat[:, :, :, 0])
    for routing in range(routings):
        share = tf.nn.softmax(agreement, axis=1)
        outputs = v2.squash(K.batch_dot(share, hat, [2, 2]))
        if routing < routings - 1:
            agreement += K.batch_dot(outputs, hat, [2, 3])
    return outputs


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
    case(
        Program,
        "attend",
        "a batch",
        [draw(16, 9, 6), draw(16, 7, 5), [draw(6, 6), draw(5, 6), draw(6, 1)]],
    ),
    case(Layer, "make_clusters", "any size", [normal("b", 4)], {"count": 3}),
    case(Layer, "make_clusters", "heavy", [normal(64, 5)], {"count": 7, "alpha": 2.0}),
    case(Op, "attend_by_layers", "padded", [draw(64, 3, 4), draw(64, 6, 4), KEPT]),
    case(Program, "read_in_other_batches", "two batches", READ),
    case(Layer, "make_residual", "any size", [normal("b", 4)], {"units": 7}),
    case(Program, "compare_padded", "a batch", PAIRS_OF_PADDED),
    case(
        FalseFriend,
        "read_documents",
        "a batch",
        [DOCUMENTS, draw(9, 4), lstm_weights(4, 5), lstm_weights(5, 3)],
        of="program",
        naive=by_time_distributed,
        because="a TimeDistributed has no mask of what it wraps, and hands none on",
    ),
    case(
        Program,
        "read_with_constants",
        "a batch",
        [draw(16, 9, 4), draw(16, 3), [draw(4, 5), draw(5, 5), draw(3, 5)]],
    ),
    case(
        FalseFriend,
        "route",
        "any batch",
        [normal("b", 6, 4), draw(3, 6, 5, 4)],
        naive=route_by_todays_batch_dot,
        differs="raises",
        because="the first axis alone is that of the batch: it multiplied matrices, "
        "with all axes before them as the batch",
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
    """Returns an LSTM's first output: two units, kernels of ones, and the input 1."""
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
    """Checks what the chapter says about today's Keras beyond the pairs."""

    @parameterized.expand([("built", True), ("not built", False)])
    def test_inner_layers_are_loaded_if_they_are_built(self, _, builds):
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = layers.Dense(4)

            def build(self, input_shape):
                if builds:
                    self.dense.build(input_shape)

            def call(self, rows):
                return self.dense(rows)

        trained, loaded = Net(), Net()
        answer = trained(PIECES[0][:, 0])
        loaded.build((None, 2))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.weights.h5")
            trained.save_weights(path)
            try:
                loaded.load_weights(path)
            except ValueError as error:
                self.assertFalse(builds)
                self.assertIn("was never built", str(error))
                return
        same = np.array_equal(loaded(PIECES[0][:, 0]), answer)
        self.assertEqual(same, builds)

    def test_a_conv_lstm_begins_with_a_state(self):
        options = {"padding": "same", "return_state": True}
        read = layers.ConvLSTM2D(3, 3, **options)
        write = layers.ConvLSTM2D(3, 3, return_sequences=True, **options)
        images = [tf.keras.Input([None, 6, 5, 2]) for _ in range(2)]
        _, h, c = read(images[0])
        model = tf.keras.Model(images, write(images[1], initial_state=[h, c]))
        source, target = draw(2, 4, 6, 5, 2), draw(2, 3, 6, 5, 2)
        found = model.predict_on_batch([source, target])
        self.assertEqual(found[1].shape, (2, 6, 5, 3))
        _, *state = read(source)
        again = write(target, initial_state=state)
        for ours, theirs in zip(found, again, strict=True):
            self.assertLess(np.abs(ours - theirs).max(), 1e-6)
        self.assertGreater(np.abs(write(target)[0] - found[0]).max(), 0.01)

    def test_masks_of_two_inputs(self):
        seen = []

        class Two(layers.Layer):
            def call(self, inputs, mask=None):
                seen.append([one is not None for one in mask])
                return inputs[0] + inputs[1]

            def compute_mask(self, inputs, mask=None):
                return None

        words = tf.keras.Input([3], dtype="int32")
        masked, plain = (layers.Embedding(5, 2, mask_zero=m) for m in (True, False))
        for pair in [(masked, plain), (plain, plain)]:
            Two()([layer(words) for layer in pair])
        self.assertEqual(seen, [[True, False], [False, False]])

    def test_each_input_has_a_mask_of_its_own(self):
        class OneMask(v2.Likeness):
            def call(self, inputs, mask=None):
                return super().call(inputs, [mask[0], mask[0]])

        a, _, vectors = PAIRS_OF_PADDED
        b = a[::-1]
        found = v2.compare_padded(a, b, vectors)
        with mock.patch.object(v2, "Likeness", OneMask):
            other = v2.compare_padded(a, b, vectors)
        self.assertGreater(np.abs(found - other).max(), 0.1)

    def test_a_time_distributed_embedding_has_no_mask(self):
        words = tf.keras.Input([2, 3], dtype="int32")
        embedding = layers.Embedding(5, 2, mask_zero=True)
        self.assertIsNotNone(embedding(words)._keras_mask)
        found = layers.TimeDistributed(embedding)(words)
        self.assertIsNone(getattr(found, "_keras_mask", None))

    def test_a_layer_casts_to_its_own_dtype(self):
        x = tf.constant([[[1.0, 2.0**-40]]], tf.float64)
        self.assertEqual(layers.add([x, x]).dtype, tf.float32)
        merged = v2.merge(x, x)
        np.testing.assert_array_equal(merged["add"], 2 * x)
        for tensor in [
            *merged.values(),
            *(v2.activate(x, kind) for kind in ACTIVATIONS),
            *(v2.pool(tf.tile(x[..., None], [1, 4, 2, 1]), kind) for kind in POOLS),
        ]:
            self.assertEqual(tensor.dtype, tf.float64)

    def test_a_layer_of_one_s_own_is_saved_and_predicts_without_an_update(self):
        model = tf.keras.Sequential([layers.Input([3]), v2.Center(0.5, 0.25)])
        rows = np.arange(24, dtype="f").reshape(8, 3)
        model.predict(rows, verbose=0)
        np.testing.assert_array_equal(model.get_weights()[1], np.zeros(3))
        model.compile("sgd", "mse")
        model.fit(rows, rows, batch_size=8, verbose=0)
        mean = model.get_weights()[1]
        np.testing.assert_array_equal(mean, rows.mean(axis=0) / 2)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = tf.keras.models.load_model(path)
        (center,) = loaded.layers
        self.assertEqual((center.momentum, center.rate), (0.5, 0.25))
        np.testing.assert_array_equal(center.get_weights()[1], mean)

    @parameterized.expand(
        [
            ("Attention", own.Attention(), [[3, 4], [2, 4]]),
            ("Residual", own.Residual(5), [[4]]),
            ("Conditioned", layers.RNN(own.Conditioned(3, 3)), [[2, 4]]),
        ]
    )
    def test_layers_of_one_s_own_are_saved_and_loaded(self, _, layer, shapes):
        inputs = [layers.Input(shape) for shape in shapes]
        outputs = layer(inputs if len(shapes) > 1 else inputs[0])
        model = tf.keras.Model(inputs, outputs)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = tf.keras.models.load_model(path)
        arrays = [np.arange(2.0 * np.prod(s)).reshape(2, *s) / 8 for s in shapes]
        found, expected = (tf.nest.flatten(m(arrays)) for m in (loaded, model))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_whole_numbers_have_a_mean_that_is_none(self):
        answer = v2.center([np.array([[0], [3]])])
        np.testing.assert_array_equal(answer["outputs"][0], [[-1.5], [1.5]])

    def test_merged_tensors_have_one_dtype(self):
        ones = tf.ones([1, 2, 3])
        with self.assertRaisesRegex(ValueError, "dtype float32 .*dtype float64"):
            v2.merge(ones, tf.cast(ones, tf.float64))

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

    def test_what_a_lambda_closes_over_is_not_trained(self):
        scale, dense = tf.Variable(3.0), layers.Dense(1)
        for function in (lambda x: scale * x, lambda x: dense(x)):
            model = tf.keras.Sequential([tf.keras.Input([2]), layers.Lambda(function)])
            self.assertEqual(model.trainable_weights, [])

    def test_the_gate_is_found_by_a_model_that_is_loaded(self):
        config = v2.make_lstm(2).get_config()
        again = layers.LSTM.from_config(config)
        gate = again.recurrent_activation(tf.constant(1.0))
        self.assertEqual(f"{gate.numpy():.4f}", "0.7000")  # 0.6667 with Keras 3's gate

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
