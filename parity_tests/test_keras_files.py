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

from parity_tests import proof
from tf1to2.parity import FalseFriend, Program, Raises, false_friends
from tf1to2.parity.recordings import Recording
from v1_graph import keras_files as v1
from v2_eager import keras_files as v2

# `fit` batches arrays by tf.data, whose functions are traced in every way.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(17)
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
OLD = {"graph": "Keras 3 has no sessions; the recording stands for the left page"}
WRITTEN = {
    "graph": "the bytes are those of another TensorFlow",
    "eager": "this side has another format",
    "function": "this side has another format",
}
LOADED = {"function": "the functions are the file's: they run as graphs in both ways"}
ARRAYS = {"function": "arrays come and go, and nothing is computed"}


def old(name, slug, args, skip=(), **others):
    skip = {**OLD, **dict(skip)}
    return Program(name, slug, args, float32=True, skip=skip, **others)


def written(name, slug, args):
    """A case whose files, as 1.15.5 wrote them, are inputs of the others."""
    kwargs = {"files": True}
    return Program(name, slug, args, kwargs, float32=True, skip=WRITTEN)


def data_of(kind):
    return OWN_DATA if kind == "own" else (X[kind], LABELS)


KINDS = "dense", "nested", "recurrent", "images"
STEPS = {"recurrent": 0, "images": 0}  # both have what no two releases do alike
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
    """The files that the genuine TensorFlow 1.15.5 wrote in a case of the recording.

    When the left page writes something else, `make record` once for the files, and once
    more for what is made of them.
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


def friend(name, slug, args, naive, because, skip=(), **others):
    return FalseFriend(
        *(name, slug, args),
        of="program",
        float32=True,
        naive=naive,
        because=because,
        skip={**OLD, **dict(skip)},
        **others,
    )


def refused(name, slug, args, match, graph, eager, skip=()):
    return Raises(
        *(name, slug, args),
        of="program",
        graph=graph,
        eager=eager,
        function=eager,
        match=match,
        skip={**OLD, **dict(skip)},
    )


def by_load_model(files, *_):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(v2.unpack(files, folder), "model.h5")
        return keras.models.load_model(path, compile=False)


def mended_file(files, folder):
    """The file with a configuration that `load_model` takes; its path."""
    path = os.path.join(v2.unpack(files, folder), "model.h5")
    with h5py.File(path, "r+") as file:
        config = v2.mended(json.loads(file.attrs["model_config"]))
        file.attrs["model_config"] = json.dumps(config)
    return path


def by_load_model_of_what_is_mended(files, data, steps):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decay= is no longer supported
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
    """A gate that stays as it is, whatever is done to it."""

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
        warnings.simplefilter("ignore")  # how Keras reads arrays for HDF5
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
    old("save_weights", "dense", [DENSE, "dense"], ARRAYS),
    old("save_weights", "recurrent", [START["recurrent"], "recurrent"], ARRAYS),
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
        LOADED,
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
        ARRAYS,
        differs="raises",
    ),
    refused(
        "load_whole",
        "weights alone",
        [{"model.h5": WEIGHTS["dense"]["weights.h5"]}, X["dense"]],
        "No model found in config file|model_config",
        ValueError,
        KeyError,
    ),
    refused(
        "load_whole",
        "a file that is none",
        [{"model.h5": JUNK}, X["dense"]],
        "file signature not found|SavedModel file does not exist",
        OSError,
        OSError,
    ),
    refused(
        "load_weights",
        "of another network",
        [WEIGHTS["nested"], "dense", X["dense"]],
        "Layer #1|Shape mismatch",
        ValueError,
        ValueError,
    ),
    refused(
        "load_weights",
        "of a network with more layers",
        [WEIGHTS["recurrent"], "dense", X["dense"]],
        "containing 4 layers into a model with 3|Layer count mismatch",
        ValueError,
        ValueError,
    ),
]
PROOF = proof(v1, v2, CASES)


class KerasFilesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def both(name, slug):
    """The leaves of the left page, and of the naive form."""
    (case,) = [case for case in CASES if (case.name, case.slug) == (name, slug)]
    return false_friends.both(PROOF, case, {})


class DistancesTest(unittest.TestCase):
    """What the chapter says of Keras 3 as it is."""

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
        for old, new in zip(*state, strict=True):  # its momentum, in either case
            np.testing.assert_array_equal(new, old)

    def test_a_sequential_model_gets_one_more_dimension(self):
        layer = {"class_name": "Flatten", "config": {"batch_input_shape": [None, 4]}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an argument that Keras 3 has no more
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

    def test_time_major_is_refused(self):
        config = {"class_name": "LSTM", "config": {"name": "a", "time_major": True}}
        with self.assertRaisesRegex(ValueError, "time_major"):
            v2.mended(config)

    def test_renamed_arguments(self):
        config = {"name": "leaky", "alpha": 0.1}
        config = v2.mended({"class_name": "LeakyReLU", "config": config})["config"]
        self.assertEqual(config, {"name": "leaky", "negative_slope": 0.1})


if __name__ == "__main__":
    unittest.main()
