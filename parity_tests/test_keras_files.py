import functools
import json
import os
import pathlib
import tempfile
import unittest
import warnings
import zipfile
from unittest import mock

import h5py
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import keras_cases, proof, shorthand
from parity_tests.keras_cases import OLD
from tf1to2.parity import Program, false_friends
from tf1to2.parity.recordings import Recording
from v1_graph import keras_files as v1
from v2_eager import keras_files as v2
from v2_eager import keras_optimizers

# `fit` batches arrays with tf.data, whose functions are always traced.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(17)
old = functools.partial(keras_cases.old, float32=True)
friend = functools.partial(keras_cases.friend, float32=True)
keras = tf.keras


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


DENSE = [drawn(4, 5), drawn(5), drawn(5), drawn(5), drawn(5), drawn(5) ** 2]
DENSE += [drawn(5, 3), drawn(3)]
GATES = [drawn(4, 12), drawn(3, 12), drawn(12)]
START = {
    "dense": DENSE,
    "subclass": DENSE,
    "nested": [drawn(4, 4), drawn(4), drawn(4, 4), drawn(4), drawn(4, 3), drawn(3)],
    "recurrent": [drawn(7, 4), *GATES, drawn(4, 12), drawn(3, 12), drawn(12)]
    + [drawn(6, 12), drawn(4, 12), drawn(12), drawn(4, 3), drawn(3)],
    "images": [drawn(3, 3, 2, 4), drawn(4), drawn(3, 3, 4, 1), drawn(1, 1, 4, 4)]
    + [drawn(4), drawn(16, 3), drawn(3)],
    "own": [drawn(4, 5), drawn(5), drawn(5) ** 2, drawn(5, 3), drawn(3)],
    "cudnn": [*GATES[:2], drawn(24), drawn(3, 3), drawn(3)],
}
HEAD = [drawn(4, 5), drawn(5), drawn(5, 2), drawn(2)]
X = {
    "dense": drawn(64, 4),
    "recurrent": RANDOM.randint(0, 7, [64, 6]).astype("i"),
    "images": drawn(64, 8, 8, 2),
    "cudnn": drawn(64, 6, 4),
}
X["own"] = X["nested"] = X["subclass"] = X["dense"]
LABELS = RANDOM.randint(0, 3, 64).astype("i")
DATA = X["dense"], LABELS
OWN_DATA = X["own"], drawn(64, 3)
CUDNN_GRU = [drawn(4, 9), drawn(3, 9), drawn(18)]
FROZEN = "dense", "nested", "recurrent", "images"
JUNK = np.full(20, 255, np.uint8)
WRITTEN = {
    "graph": "the bytes are those of another TensorFlow",
    "eager": "this side has another format",
    "function": "this side has another format",
}
LOADED = {"function": "the functions are the file's: they run as graphs in both ways"}
ARRAYS = {"function": "arrays come and go, and nothing is computed"}


def written(name, slug, args):
    """Makes a case whose files, written by 1.15.5, are the inputs of other cases."""
    kwargs = {"files": True}
    return Program(name, slug, args, kwargs, float32=True, skip=WRITTEN)


def data_of(kind):
    return OWN_DATA if kind == "own" else (X[kind], LABELS)


KINDS = "dense", "nested", "recurrent", "images"
STEPS = {"recurrent": 0, "images": 0}  # both have layers that differ between releases
FILES = [
    *[
        written(
            "save_whole",
            f"its files, {kind}",
            [data_of(kind), START[kind], kind, STEPS.get(kind, 3), 0],
        )
        for kind in (*KINDS, "own")
    ],
    *[
        written("save_weights", f"its files, {kind}", [START[kind], kind])
        for kind in (*KINDS, "cudnn")
    ],
    *[
        written(
            "save_weights",
            f"its checkpoint, {kind}",
            [START[kind], kind, True, DATA, 3],
        )
        for kind in ("dense", "subclass")
    ],
    written("export", "its files", [DATA, DENSE, 3]),
    written("export", "its files by export_saved_model", [DATA, DENSE, 3, True]),
]


def genuine(key):
    """Returns the files that TensorFlow 1.15.5 wrote in a case of the recording.

    If the left page writes other files, run `make upkeep` twice: for the files, and for
    the cases that read them.
    """
    path = pathlib.Path(__file__).parent / "golden" / "keras_files.npz"
    number = Recording(path, v1).about["entries"][key]["number"]
    prefix = f"{number}:outputs/{1 if key.startswith('export') else 2}/"
    with np.load(path) as store:
        return {n[len(prefix) :]: store[n] for n in store.files if n.startswith(prefix)}


WHOLE = {kind: genuine(f"save_whole, its files, {kind}") for kind in (*KINDS, "own")}
WEIGHTS = {
    kind: genuine(f"save_weights, its files, {kind}") for kind in (*KINDS, "cudnn")
}
CHECKPOINT = {
    kind: genuine(f"save_weights, its checkpoint, {kind}")
    for kind in ("dense", "subclass")
}
SAVED_MODEL = genuine("export, its files")
EXPORTED = genuine("export, its files by export_saved_model")


refused = functools.partial(shorthand.refused, skip=OLD)


def by_load_model(files, *_):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(v2.unpack(files, folder), "model.h5")
        return keras.models.load_model(path, compile=False)


def mended_file(files, folder):
    """Writes a file whose configuration `load_model` accepts, and returns the path."""
    path = os.path.join(v2.unpack(files, folder), "model.h5")
    with h5py.File(path, "r+") as file:
        config = v2.mended(json.loads(file.attrs["model_config"]))
        file.attrs["model_config"] = json.dumps(config)
    return path


def by_load_model_of_what_is_mended(files, data, steps):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decay= is not supported any more
        model = keras.models.load_model(mended_file(files, folder))
    losses = v2.fit(model, data, steps)
    return losses, model.get_weights(), model.optimizer.iterations.numpy()


def with_a_fresh_optimizer(files, data, steps):
    with tempfile.TemporaryDirectory() as folder:
        model = v2.read_model(os.path.join(v2.unpack(files, folder), "model.h5"))
    optimizer = v2.legacy("Adam", lr=0.1, decay=0.5)
    model.compile(optimizer, "sparse_categorical_crossentropy")
    losses = v2.fit(model, data, steps)
    return losses, model.get_weights(), optimizer.iterations.numpy()


def gru_as_it_is(weights, x):
    gru = v2.layers.GRU(len(weights[1]))
    model = keras.Sequential([keras.Input(x.shape[1:]), gru])
    model.set_weights([*weights[:2], weights[2].reshape(2, -1)])
    return model.get_weights(), model.predict(x, verbose=0)


def by_its_own_hard_sigmoid(files, x):
    def named(function):
        return function.__name__

    with mock.patch.object(keras.utils, "serialize_keras_object", named):
        return v2.load_whole(files, x)


def by_model_from_json(files, *_):
    return keras.models.model_from_json(files["model.json"].tobytes().decode())


def by_another_name(files, kind, x):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "best.weights.h5")
        files["weights.h5"].tofile(path)
        return v2.NETWORKS[kind]().load_weights(path)


def gates_as_they_are(files, x):
    def split(array, parts, axis):
        return [Transposed(part) for part in SPLIT(array, parts, axis)]

    SPLIT = np.split
    with mock.patch.object(np, "split", split):
        return v2.load_cudnn(files, x)


class Transposed:
    """Mock of a gate whose transpose and reshape return the gate unchanged."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    T = property(lambda self: self)

    def reshape(self, shape, order):
        return self

    def __array__(self, dtype=None, copy=None):
        return self.array


def by_keras_load_weights(files, kind, start, data, steps):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(v2.unpack(files, folder), "weights")
        return v2.compiled(kind, start).load_weights(path)


def by_load_model_of_a_folder(files, x):
    with tempfile.TemporaryDirectory() as folder:
        return keras.models.load_model(v2.unpack(files, folder))


def with_the_state_in_the_file(files, data, steps):
    assign = v2.assign

    def with_state(model, values):
        assign(model, values, "training/Adam")

    with mock.patch.object(v2, "assign", with_state):
        return v2.fine_tune(files, data, steps)


def by_a_layer(files, x):
    with tempfile.TemporaryDirectory() as folder:
        path = v2.unpack(files, folder)
        return keras.layers.TFSMLayer(path, call_endpoint="serving_default")(x)


def by_the_old_ending(data, start, kind, before, after):
    save, load = keras.Sequential.save, keras.models.load_model

    def renamed(path):
        return path.replace(".keras", ".h5")

    with (
        mock.patch.object(keras.Sequential, "save", lambda m, p: save(m, renamed(p))),
        mock.patch.object(keras.models, "load_model", lambda p: load(renamed(p))),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # about how Keras reads arrays for HDF5
        return v2.save_whole(data, start, kind, before, after)


def by_decoding(files):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(v2.unpack(files, folder), "model.h5")
        with h5py.File(path) as file:
            return json.loads(file.attrs["training_config"].decode("utf8"))


CASES = [
    *FILES,
    friend(
        "save_whole",
        "in the middle of training",
        [DATA, DENSE, "dense", 3, 3],
        by_the_old_ending,
        "the optimizer of an .h5 file is built for no weights, and refuses them all",
        differs="raises",
        traces=2,
    ),
    old("save_whole", "nested", [DATA, START["nested"], "nested", 3, 3], traces=2),
    old("save_whole", "own", [OWN_DATA, START["own"], "own", 3, 3], traces=2),
    old("save_weights", "dense", [DENSE, "dense"], skip=ARRAYS),
    old("save_weights", "recurrent", [START["recurrent"], "recurrent"], skip=ARRAYS),
    old("save_weights", "after three steps", [DENSE, "dense", True, DATA, 3]),
    old("export", "three steps", [DATA, DENSE, 3], traces=2),
    friend(
        "load_whole",
        "dense",
        [WHOLE["dense"], X["dense"]],
        by_load_model,
        "its initializers have a dtype, which those of Keras 3 refuse",
        differs="raises",
    ),
    old("load_whole", "nested", [WHOLE["nested"], X["nested"]]),
    old("load_whole", "images", [WHOLE["images"], X["images"]]),
    friend(
        "load_whole",
        "recurrent",
        [WHOLE["recurrent"], X["recurrent"]],
        by_its_own_hard_sigmoid,
        "the file says hard_sigmoid, and that of Keras 3 has another slope",
    ),
    friend(
        "resume",
        "dense",
        [WHOLE["dense"], DATA, 5],
        by_load_model_of_what_is_mended,
        "load_model drops the decay, and builds the optimizer for no weights at all",
        differs="raises",
    ),
    friend(
        "resume",
        "nested",
        [WHOLE["nested"], DATA, 5],
        with_a_fresh_optimizer,
        "the weights alone are not the state of training",
    ),
    old("load_custom", "own", [WHOLE["own"], OWN_DATA, 5]),
    friend(
        "from_json",
        "dense",
        [WHOLE["dense"], DENSE, X["dense"]],
        by_model_from_json,
        "classes have no module in it, which Keras 3 wants",
        differs="raises",
    ),
    old("from_json", "nested", [WHOLE["nested"], START["nested"], X["nested"]]),
    old(
        "from_json",
        "recurrent",
        [WHOLE["recurrent"], START["recurrent"], X["recurrent"]],
    ),
    friend(
        "load_weights",
        "dense",
        [WEIGHTS["dense"], "dense", X["dense"]],
        by_another_name,
        "a name that ends in .weights.h5 is another format in Keras 3",
        differs="raises",
    ),
    *[
        old("load_weights", kind, [WEIGHTS[kind], kind, X[kind]])
        for kind in ("nested", "recurrent", "images")
    ],
    old("load_by_name", "one of two layers", [WEIGHTS["dense"], HEAD, X["dense"]]),
    old(
        "load_by_name", "no layer of these names", [WEIGHTS["nested"], HEAD, X["dense"]]
    ),
    friend(
        "load_cudnn",
        "an LSTM",
        [WEIGHTS["cudnn"], X["cudnn"]],
        gates_as_they_are,
        "CuDNN keeps the kernel of each gate transposed, in arrays of the same shape",
    ),
    friend(
        "load_cudnn_gru",
        "a GRU",
        [CUDNN_GRU, X["cudnn"]],
        gru_as_it_is,
        "CuDNN keeps the kernel of each gate transposed, in arrays of the same shape",
    ),
    friend(
        "load_checkpoint",
        "dense",
        [CHECKPOINT["dense"], "dense", DENSE, DATA, 5],
        by_keras_load_weights,
        "load_weights reads no checkpoint any more",
        differs="raises",
    ),
    old(
        "load_checkpoint",
        "subclass",
        [CHECKPOINT["subclass"], "subclass", DENSE, DATA, 5],
    ),
    *[old("freeze", kind, [START[kind], kind, X[kind]]) for kind in FROZEN],
    friend(
        "serve",
        "dense",
        [SAVED_MODEL, X["dense"]],
        by_load_model_of_a_folder,
        "load_model reads no SavedModel any more",
        skip=LOADED,
        differs="raises",
    ),
    friend(
        "fine_tune",
        "dense",
        [SAVED_MODEL, DATA, 5],
        with_the_state_in_the_file,
        "in 1.15 the optimizer began anew, although its state is in the file",
    ),
    friend(
        "load_exported",
        "dense",
        [EXPORTED, X["dense"]],
        by_a_layer,
        "there are three graphs in it, and a TFSMLayer takes no tags",
        differs="raises",
    ),
    friend(
        "look",
        "dense",
        [WHOLE["dense"]],
        by_decoding,
        "attributes are text with h5py 3",
        skip=ARRAYS,
        differs="raises",
    ),
    refused(
        "load_whole",
        "weights alone",
        [{"model.h5": WEIGHTS["dense"]["weights.h5"]}, X["dense"]],
        "No model found in config file|model_config",
        KeyError,
        graph=ValueError,
    ),
    refused(
        "load_whole",
        "a file that is none",
        [{"model.h5": JUNK}, X["dense"]],
        "file signature not found|SavedModel file does not exist",
        OSError,
    ),
    refused(
        "load_weights",
        "of another network",
        [WEIGHTS["nested"], "dense", X["dense"]],
        "Layer #1|Shape mismatch",
    ),
    refused(
        "load_weights",
        "of a network with more layers",
        [WEIGHTS["recurrent"], "dense", X["dense"]],
        "containing 4 layers into a model with 3|Layer count mismatch",
    ),
]
PROOF = proof(v1, v2, CASES)


class KerasFilesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def both(name, slug):
    """Returns the leaves of the left page and of the naive form."""
    (case,) = [case for case in CASES if (case.name, case.slug) == (name, slug)]
    return false_friends.both(PROOF, case, {})


class DistancesTest(unittest.TestCase):
    """Numbers in the chapter about Keras 3 without the code of the right page."""

    @parameterized.expand(
        [
            ("load_whole", "recurrent", "outputs/1", "0.036 0.98"),
            ("load_cudnn", "an LSTM", "outputs/1", "2.1 1.7"),
            ("load_cudnn_gru", "a GRU", "outputs/1", "2 1"),
        ]
    )
    def test_predictions(self, name, slug, leaf, told):
        left, naive = (side[leaf] for side in both(name, slug))
        apart = np.abs(left - naive).max(), np.abs(left).max()
        self.assertEqual("{:.2g} {:.2g}".format(*apart), told)

    @parameterized.expand(
        [
            ("resume", "nested", "1.6330 1.3868"),
            ("fine_tune", "dense", "1.1905 1.3192"),
        ]
    )
    def test_the_last_loss(self, name, slug, told):
        left, naive = (side["outputs/0"] for side in both(name, slug))
        self.assertEqual(f"{left[-1]:.4f} {naive[-1]:.4f}", told)

    def test_an_h5_file_of_keras_3_is_not_trained_on(self):
        model = v2.compiled("dense", DENSE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.h5")
            model.save(path)
            loaded = keras.models.load_model(path)
        self.assertEqual(len(loaded.optimizer.variables), 1)
        with self.assertRaisesRegex(ValueError, "Unknown variable"):
            v2.fit(loaded, DATA, 1)
        loaded.compile("adam", "sparse_categorical_crossentropy")
        v2.fit(loaded, DATA, 1)

    @parameterized.expand([("nothing", []), ("h5", ["h5"]), ("both", ["h5", None])])
    def test_an_h5_file_spoils_the_next_keras_file(self, _, before):
        model = v2.compiled("dense", DENSE)
        model.compile(keras.optimizers.SGD(0.5, momentum=0.9), "mse")
        model.fit(X["dense"], np.eye(3)[LABELS], verbose=0)
        with tempfile.TemporaryDirectory() as folder:
            for ending in before:
                if ending:
                    model.save(os.path.join(folder, "model." + ending))
                else:
                    model.compile(model.optimizer, "mse")
            path = os.path.join(folder, "model.keras")
            model.save(path)
            with zipfile.ZipFile(path) as archive:
                said = json.loads(archive.read("config.json"))["compile_config"]
            loaded = keras.models.load_model(path).optimizer
        kept = before != ["h5"]
        self.assertEqual("optimizer" in said, kept)
        self.assertEqual(type(loaded).__name__, "SGD" if kept else "RMSprop")
        state = [[v.numpy() for v in o.variables] for o in (model.optimizer, loaded)]
        for old, new in zip(*state, strict=True):  # the momentum, in both cases
            np.testing.assert_array_equal(new, old)

    def test_sequences_of_another_length(self):
        weights, outputs = v2.load_cudnn(WEIGHTS["cudnn"], X["cudnn"][:, :3])
        layers = [keras.Input([3, 4]), keras.layers.LSTM(3), keras.layers.Dense(3)]
        model = keras.Sequential(layers)
        model.set_weights(weights)
        expected = model.predict(X["cudnn"][:, :3], verbose=0)
        self.assertLess(np.abs(outputs - expected).max(), 1e-6)

    @parameterized.expand([("deeper", 5, 3), ("square", 3, 3), ("wider", 2, 4)])
    def test_the_weights_of_an_lstm_come_back_from_cudnn(self, _, depth, units):
        kernel, recurrent_kernel = drawn(depth, 4 * units), drawn(units, 4 * units)
        bias = drawn(8 * units)
        # --- CuDNN's format: flat arrays, with the kernel of each gate transposed
        gates = [gate.T.ravel() for gate in np.split(kernel, 4, axis=1)]
        gates = [gate.reshape(depth, units) for gate in gates]
        recurrent = [gate.T for gate in np.split(recurrent_kernel, 4, axis=1)]
        # --- and back
        found = v2.cudnn_lstm_to_keras(np.hstack(gates), np.hstack(recurrent), bias)
        both = bias[: 4 * units] + bias[4 * units :]
        for one, other in zip(found, [kernel, recurrent_kernel, both], strict=True):
            np.testing.assert_array_equal(one, other, strict=True)

    @parameterized.expand(
        [("shape", np.zeros([2], "f"), ValueError), ("name", None, KeyError)]
    )
    def test_a_checkpoint_of_another(self, _, value, error):
        model = v2.compiled("dense", DENSE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(v2.unpack(CHECKPOINT["dense"], folder), "weights")
            values = v2.read_checkpoint(path)
        last = f"{model.layers[-1].name}/{model.layers[-1].weights[-1].name}"
        values = {name: array + 1 for name, array in values.items() if name != last}
        if value is not None:
            values[last] = value
        for optimizer in (None, "training/Adam"):
            with self.assertRaisesRegex(error, last):
                v2.assign(model, values, optimizer)
        for new, old in zip(model.get_weights(), DENSE, strict=True):
            np.testing.assert_array_equal(new, old)  # nothing was assigned

    def test_a_sequential_model_gets_one_more_dimension(self):
        layer = {"class_name": "Flatten", "config": {"batch_input_shape": [None, 4]}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an argument that Keras 3 removed
            model = keras.Sequential.from_config({"name": "flat", "layers": [layer]})
        self.assertEqual(model.input_shape, (None, None, 4))

    def test_the_function_of_a_lambda_is_bytecode(self):
        config = json.loads(WHOLE["own"]["model.json"].tobytes())["config"]
        (found,) = [x for x in config["layers"] if x["class_name"] == "Lambda"]
        self.assertEqual(found["config"]["function_type"], "lambda")
        self.assertIsInstance(found["config"]["function"][0], str)

    def test_a_class_that_is_not_given(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(v2.unpack(WHOLE["own"], folder), "model.h5")
            with self.assertRaisesRegex(ValueError, "Unknown layer: 'Scale'"):
                v2.read_model(path)

    @parameterized.expand([("handed over",), ("in scope",)])
    def test_a_layer_of_ones_own_with_a_name_of_keras(self, way):
        class Attention(keras.layers.Layer):
            def __init__(self, penalty=None, **kwargs):
                super().__init__(**kwargs)
                self.penalty = keras.regularizers.get(penalty)

            def build(self, shape):
                options = {"initializer": "ones", "regularizer": self.penalty}
                self.w = self.add_weight(shape=shape[-1:], name="w", **options)

            def call(self, x):
                return x * self.w

        penalty = {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.25}}
        own = {"name": "a", "batch_input_shape": [None, 3], "penalty": penalty}
        layers = [{"class_name": "Attention", "config": own}]
        config = {"class_name": "Sequential", "config": {"name": "b", "layers": layers}}
        objects = {"Attention": Attention}
        scope = objects if way == "in scope" else {}
        given = None if scope else objects
        with keras.utils.custom_object_scope(scope):
            text = json.dumps(v2.mended(config, given))
            model = keras.models.model_from_json(text, given)
        self.assertEqual(float(model.losses[0]), 0.75)
        (kept,) = v2.mended(config)["config"]["layers"][1:]
        self.assertNotIn("penalty", kept["config"])  # as Keras' Attention

    @parameterized.expand(
        [
            ("LSTM", "time_major"),
            ("Attention", "causal"),
            ("BatchNormalization", "renorm"),
            ("BatchNormalization", "virtual_batch_size"),
            ("RNN", "num_constants"),
        ]
    )
    def test_what_keras_3_would_drop_is_refused(self, layer, option):
        config = {"class_name": layer, "config": {"name": "a", option: True}}
        with self.assertRaisesRegex(ValueError, option):
            v2.mended(config)

    def test_a_sequential_model_that_is_a_list_of_layers(self):
        dense = {"units": 2, "batch_input_shape": [None, 3], "name": "a"}
        layers = [{"class_name": "Dense", "config": dense}]
        config = v2.mended({"class_name": "Sequential", "config": layers})
        model = keras.models.model_from_json(json.dumps(config))
        self.assertEqual([w.shape for w in model.get_weights()], [(3, 2), (2,)])

    @parameterized.expand(
        [
            ("LSTM", 2, "0.1625 0.1448 0.0765"),
            ("GRU", 1, "0.3239 0.4700 0.2548"),
            ("Bidirectional", 4, "0.1625 0.1448 0.0765 0.1225 0.1642 0.1302"),
        ]
    )
    def test_a_decoder_begins_where_its_encoder_ended(self, kind, states, told):
        """Compares with predictions of 1.15.5, where the states were inputs."""

        def layer(name, nodes, **options):
            gates = {"units": 3, "recurrent_activation": "hard_sigmoid", **options}
            config = {"name": name, "time_major": False, **gates}
            if kind == "Bidirectional":
                inner = {"class_name": "LSTM", "config": {**config, "name": "lstm"}}
                config = {"name": name, "layer": inner, "merge_mode": "concat"}
            return {**named(kind, config), "inbound_nodes": [nodes]}

        def named(kind, config):
            return {"class_name": kind, "name": config["name"], "config": config}

        inputs = {"batch_input_shape": [None, 3, 4], "dtype": "float32", "name": "x"}
        absent = {"initial_state": None, "constants": None}
        absent = absent if kind == "Bidirectional" else {}
        ends = [["encoder", 0, 1 + i, absent] for i in range(states)]
        reset = {"reset_after": False} if kind == "GRU" else {}
        layers = [
            {**named("InputLayer", inputs), "inbound_nodes": []},
            layer("encoder", [["x", 0, 0, {}]], return_state=True, **reset),
            layer("decoder", [["x", 0, 0, absent], *ends], **reset),
        ]
        config = {"name": "model", "layers": layers, "input_layers": [["x", 0, 0]]}
        config["output_layers"] = [["decoder", 0, 0]]
        mended = json.dumps(v2.mended(named("Model", config)))
        model = keras.models.model_from_json(mended)
        model.set_weights(
            [
                np.sin(np.arange(w.size) + 1).reshape(w.shape) / 2
                for w in model.get_weights()
            ]
        )
        rows = np.sin(np.arange(12)).reshape(1, 3, 4)
        found = model.predict(rows, verbose=0)[0]
        self.assertEqual(" ".join(f"{x:.4f}" for x in found), told)

    def changed(self, folder, change):
        """Changes the training configuration in a file of 1.15.5; returns the path."""
        path = os.path.join(v2.unpack(WHOLE["dense"], folder), "model.h5")
        with h5py.File(path, "r+") as file:
            training = json.loads(file.attrs["training_config"])
            change(file, training)
            file.attrs["training_config"] = json.dumps(training)
        return path

    def test_weights_of_losses_are_read(self):
        def change(_, training):
            training["loss_weights"] = [0.25]

        with tempfile.TemporaryDirectory() as folder:
            as_it_was = v2.read_compiled(self.changed(folder, lambda *_: None))
            weighted = v2.read_compiled(self.changed(folder, change))
        whole, quarter = (
            model.evaluate(*DATA, batch_size=64, verbose=0, return_dict=True)["loss"]
            - sum(map(float, model.losses))  # loss_weights do not apply to penalties
            for model in (as_it_was, weighted)
        )
        self.assertLess(abs(quarter - whole / 4), 1e-6)

    def test_losses_and_metrics_may_be_objects(self):
        def change(_, training):
            loss = {"reduction": "auto", "name": "a", "from_logits": False}
            name = "SparseCategoricalCrossentropy"
            training["loss"] = {"class_name": name, "config": loss}
            accuracy = {"name": "right", "dtype": "float32"}
            kind = "SparseCategoricalAccuracy"
            training["metrics"] = [{"class_name": kind, "config": accuracy}]

        with tempfile.TemporaryDirectory() as folder:
            model = v2.read_compiled(self.changed(folder, change))
            named = v2.read_compiled(self.changed(folder, lambda *_: None))
        told, loss = (
            m.evaluate(*DATA, batch_size=64, verbose=0, return_dict=True)
            for m in (model, named)
        )
        self.assertEqual(told["loss"], loss["loss"])
        self.assertIn("right", told)

    def test_words_that_come_twice_are_summed(self):
        """Compares with the losses of 1.15.5 after loading: 2.6333, 1.7013, 1.4346."""
        words = [WHOLE["recurrent"], (X["recurrent"], LABELS), 3]
        losses, weights, _ = v2.resume(*words)
        self.assertEqual([f"{x:.4f}" for x in losses], ["2.6333", "1.7013", "1.4346"])
        as_they_are = keras_optimizers.OPTIMIZERS
        with mock.patch.object(v2.reading, "ROWS_SUMMED", as_they_are):
            others, other_weights, _ = v2.resume(*words)
        self.assertEqual(f"{others[1]:.4f}", "1.6938")
        apart = np.abs(weights[0] - other_weights[0]).max()
        self.assertEqual(f"{apart:.2g}", "0.66")

    def test_a_rate_may_be_a_schedule(self):
        decay = {"initial_learning_rate": 0.25, "decay_steps": 2, "decay_rate": 0.5}

        def change(_, training):
            training["optimizer_config"]["config"].update(
                learning_rate={"class_name": "ExponentialDecay", "config": decay},
                decay=0.0,
            )

        with tempfile.TemporaryDirectory() as folder:
            model = v2.read_compiled(self.changed(folder, change))
        rate = model.optimizer.learning_rate  # at the third step: three were saved
        self.assertEqual(float(rate), float(np.float32(0.25 * 0.5**1.5)))

    def test_a_file_from_before_compile(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(v2.unpack(WHOLE["dense"], folder), "model.h5")
            with h5py.File(path, "r+") as file:
                del file.attrs["training_config"]
            v2.read_model(path)
            with self.assertRaisesRegex(ValueError, "saved before `compile`: use"):
                v2.read_compiled(path)

    def test_a_file_from_before_the_first_step(self):
        def change(file, _):
            del file["optimizer_weights"]

        with tempfile.TemporaryDirectory() as folder:
            model = v2.read_compiled(self.changed(folder, change))
        self.assertEqual(int(model.optimizer.iterations), 0)

    def test_the_optimizer_is_loaded_with_a_checkpoint_alone(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the optimizer is skipped
            steps = [
                int(v2.save_weights(DENSE, "dense", checkpoint, DATA, 3)[1])
                for checkpoint in (True, False)
            ]
        self.assertEqual(steps, [3, 0])

    def test_renamed_arguments(self):
        config = {"name": "leaky", "alpha": 0.1}
        config = v2.mended({"class_name": "LeakyReLU", "config": config})["config"]
        self.assertEqual(config, {"name": "leaky", "negative_slope": 0.1})


if __name__ == "__main__":
    unittest.main()
