"""Programs that use tf.keras alone: what gives them away, and what is found then."""

import importlib
import inspect
import pathlib
import re
import textwrap

import tensorflow as tf
from parameterized import parameterized

from tf1to2.catalog import entries, standalone, verdicts
from tf1to2.scan import findings
from tf1to2.tests.test_scan import ScanCase
from upkeep import api_walk

HEAD = """
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import callbacks, optimizers
from tensorflow.keras.layers import LSTM, Dense, Embedding, Layer
from tensorflow.keras.models import Model, Sequential, load_model

model = Sequential([Dense(3)])
"""
CHANGED = "tf.keras.backend.clear_session"  # a false friend: found in old files alone
NATIVE = """
import os
import tensorflow as tf
from tensorflow.keras import callbacks
from tensorflow.keras.layers import Dense, Embedding, LSTM, Layer


class Scale(Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=shape[-1:], name="w", initializer="ones")
        self.b = self.add_weight(shape[-1:], name="b")

    def call(self, x):
        self.add_loss(tf.reduce_sum(self.w))
        return x * self.w


def build():
    inputs = tf.keras.Input([7])
    x = LSTM(3, recurrent_activation="sigmoid")(Embedding(5, 4)(inputs))
    return tf.keras.Model(inputs, Dense(2, activation="softmax")(x))


model = build()
optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
model.compile(optimizer, "kl_divergence", metrics=["acc", "accuracy"])
rates = callbacks.ReduceLROnPlateau(min_delta=0.1)
kept = callbacks.ModelCheckpoint("best.keras", save_freq="epoch")
model.fit(x, tf.keras.utils.to_categorical(y), callbacks=[rates, kept])
model.save_weights(os.path.join(folder, "x.weights.h5"))
model.save("x.keras")
print(model.predict(x).argmax(axis=-1), optimizer.learning_rate)
tf.keras.backend.clear_session()
"""


class PrivateTest(ScanCase):
    def test_a_private_name_has_the_advice_of_the_public_one(self):
        self.write(
            a="from tensorflow.python.keras.layers import GRU, Dense\n"
            "from tensorflow.python.keras.optimizers import RMSprop\n"
            "gru, rate = GRU(4), RMSprop(lr=1e-3)\n"
        )
        out = self.run_it("a.py").out
        self.assertIn("layers.Dense: not public; tf.keras.layers.Dense is the", out)
        self.assertRegex(out, r"a.py:3:13: \S+GRU: not public; .*reset_after=False")
        self.assertRegex(out, r"a.py:3:21: \S+RMSprop: not public; .*learning_rate=")


class KerasCase(ScanCase):
    def found(self, text):
        self.write(a=textwrap.dedent(text))
        return {f.entry.symbol: f.entry.message for f in findings.scan(["."]).findings}


class GateTest(KerasCase):
    def test_a_ported_program_is_clean(self):
        self.assertEqual(self.found(NATIVE), {})

    @parameterized.expand(
        [
            ("lr", "optimizers.Adam(lr=0.1)", "tf.keras.optimizers.Adam"),
            ("decay", "optimizers.SGD(0.1, decay=1e-6)", "tf.keras.optimizers.SGD"),
            (
                "a generator",
                "model.fit_generator(g)",
                "tf.keras.models.Sequential.fit_generator",
            ),
            (
                "classes",
                "model.predict_classes(x)",
                "tf.keras.models.Sequential.predict_classes",
            ),
            (
                "probabilities",
                "model.predict_proba(x)",
                "tf.keras.models.Sequential.predict_proba",
            ),
            (
                "the rate of a model's optimizer",
                "K.get_value(model.optimizer.lr)",
                "tf.keras.optimizers.Optimizer.lr",
            ),
            ("the phase", "K.learning_phase()", "tf.keras.backend.learning_phase"),
            (
                "period",
                "callbacks.ModelCheckpoint('x.h5', period=2)",
                "tf.keras.callbacks.ModelCheckpoint",
            ),
            (
                "epsilon",
                "callbacks.ReduceLROnPlateau(epsilon=0.1)",
                "tf.keras.callbacks.ReduceLROnPlateau",
            ),
            (
                "a weight's name first",
                "class A(Layer):\n    def build(self, s):\n"
                "        self.w = self.add_weight('w', shape=s)",
                "tf.keras.layers.Layer.add_weight",
            ),
            (
                "a loss",
                "model.compile('sgd', loss='kullback_leibler_divergence')",
                "tf.keras.models.Sequential.compile",
            ),
            (
                "a file of weights",
                "model.save_weights(folder + '/x.h5')",
                "tf.keras.models.Sequential.save_weights",
            ),
            (
                "the loss",
                "print(model.total_loss)",
                "tf.keras.models.Sequential.total_loss",
            ),
        ]
    )
    def test_it_gives_a_program_away(self, _, line, symbol):
        last = "\ntf.keras.backend.clear_session()\n"
        found = self.found(HEAD + line + last)
        self.assertEqual(sorted(found), sorted({symbol, CHANGED}))

    def test_a_pattern_of_another_library_does_not(self):
        text = "from sklearn import svm\nclf = svm.SVC()\nclf.predict_proba(x)\n"
        self.assertEqual(self.found(HEAD + text), {})


class FoundTest(KerasCase):
    """In a file that another line gives away."""

    def told(self, text):
        found = self.found(HEAD + "K.learning_phase()\n" + textwrap.dedent(text))
        found.pop("tf.keras.backend.learning_phase")
        return found

    def test_imports_are_no_uses_of_what_only_calls_feel(self):
        self.assertEqual(self.told(""), {})

    @parameterized.expand(
        [
            ("a cell's default", "LSTM(3)", "recurrent_activation was hard_sigmoid"),
            (
                "a cell's activation by name",
                "LSTM(3, recurrent_activation='hard_sigmoid')",
                "hard_sigmoid is another function",
            ),
            (
                "a layer's activation by name",
                "Dense(3, activation='hard_sigmoid')",
                "hard_sigmoid is another function",
            ),
            (
                "an activation layer",
                "tf.keras.layers.Activation('hard_sigmoid')",
                "hard_sigmoid is another function",
            ),
            ("an embedding", "Embedding(3, 2, input_length=5)", "square each gradient"),
            ("one-hot", "tf.keras.utils.to_categorical(y, 3)", "float64"),
            (
                "metrics by their place",
                "model.compile('sgd', 'mse', ['mae'])",
                "argument 3 was metrics and is loss_weights",
            ),
            (
                "a metric with another name",
                "model.compile('sgd', metrics=['mae'])",
                "it was mean_absolute_error",
            ),
            (
                "names of metrics",
                "model.metrics_names",
                '["loss", "compile_metrics"]',
            ),
            ("weights of a file", "load_model(p).load_weights(q)", "checkpoint raises"),
            (
                "an old key to monitor",
                "callbacks.EarlyStopping(monitor='val_acc')",
                "logs accuracy and val_accuracy; in 1.15",
            ),
            (
                "an old key by its place",
                "callbacks.ModelCheckpoint('x.h5', 'val_acc')",
                "logs accuracy and val_accuracy; in 1.15",
            ),
            ("a frozen model", "model.trainable = False", "its moving statistics"),
            (
                "frozen layers",
                "for layer in model.layers[:3]:\n    layer.trainable = False",
                "its moving statistics",
            ),
        ]
    )
    def test_told(self, _, line, text):
        self.assertIn(text, " ".join(self.told(line).values()))

    @parameterized.expand(
        [
            ("another activation", "LSTM(3, recurrent_activation='sigmoid')"),
            ("metrics by name", "model.compile('sgd', metrics=['acc', f])"),
            ("a weight by name", "Dense(3).add_weight(name='w', shape=[3])"),
            ("a key to monitor", "callbacks.EarlyStopping('val_loss')"),
            ("a model that thaws", "model.trainable = True"),
            ("what is frozen, asked", "if not model.trainable: pass"),
        ]
    )
    def test_not_told(self, _, line):
        self.assertEqual(self.told(line), {})

    @parameterized.expand(
        [
            (
                "a name",
                "def build():\n    m = Model(a, b)\n    m.summary()\n    return m\n"
                "n = build()\nn.predict_generator(g)\n",
                "tf.keras.models.Model.predict_generator",
            ),
            (
                "a call",
                "def build(n):\n    return Sequential([Dense(n)])\n"
                "build(3).predict_proba(x)\n",
                "tf.keras.models.Sequential.predict_proba",
            ),
            (
                "a method",
                "class A:\n    def make(self):\n        return Sequential()\n"
                "    def run(self):\n        self.make().predict_proba(x)\n",
                "tf.keras.models.Sequential.predict_proba",
            ),
        ]
    )
    def test_what_a_function_of_the_file_returns(self, _, text, symbol):
        self.assertEqual([*self.told(text)], [symbol])

    @parameterized.expand(
        [
            ("two things", "if x:\n        return Sequential()\n    return clf"),
            ("itself", "return build()"),
            (
                "what only a function in it returns",
                "def f():\n        return Sequential()",
            ),
        ]
    )
    def test_what_a_function_may_not_return(self, _, body):
        text = f"def build(x=1):\n    {body}\nm = build()\nm.predict_proba(x)\n"
        self.assertEqual(self.told(text), {})


GUIDE = pathlib.Path(__file__).parents[2] / "guide" / "keras.md"
OLD = """
import tensorflow as tf
import keras
from keras import backend as K
from keras import callbacks, optimizers
from keras.layers import LSTM, Dense, Embedding, Layer
from keras.models import Model, Sequential, load_model

model = Sequential([Dense(3, init="uniform"), LSTM(2)])
model.compile(optimizers.Adam(lr=0.1), "mse", metrics=["accuracy"])
model.fit_generator(generator, 3)
K.clear_session()
K.set_session(session)
keras.utils.multi_gpu_model(model, 2)
"""


def rows(heading):
    """The cells of the table of the guide whose first heading this is."""
    _, _, after = GUIDE.read_text(encoding="utf-8").partition(f"| {heading} |")
    table = after.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def code(cell):
    return re.findall(r"`([\w.]+)=?`", cell)


PATHS = [(code(a), code(b)[0]) for a, b in rows("path of Keras 1 and 2")]
ARGUMENTS = [
    (layer, old, new)
    for before, now, layers in rows("Keras 1")
    for (old,), (new,) in [(code(before), code(now))]
    for layer in code(layers)
]
NEEDED = {
    "Dense": {"units": 2},
    "Conv1D": {"filters": 2, "kernel_size": 2},
    "Conv2D": {"filters": 2, "kernel_size": 2},
    "Conv3D": {"filters": 2, "kernel_size": 2},
    "SeparableConv2D": {"filters": 2, "kernel_size": 2},
    "ConvLSTM2D": {"filters": 2, "kernel_size": 2},
    "AveragePooling1D": {"pool_size": 2},
    "AveragePooling2D": {"pool_size": 2},
    "AveragePooling3D": {"pool_size": 2},
    "LSTM": {"units": 2},
    "GRU": {"units": 2},
    "SimpleRNN": {"units": 2},
    "Embedding": {"input_dim": 2, "output_dim": 2},
    "Dropout": {"rate": 0.5},
    "SpatialDropout1D": {"rate": 0.5},
    "SpatialDropout2D": {"rate": 0.5},
    "SpatialDropout3D": {"rate": 0.5},
    "GaussianDropout": {"rate": 0.5},
    "GaussianNoise": {"stddev": 0.5},
}


class StandaloneTest(KerasCase):
    """Keras as a package of its own: its names are those of tf.keras."""

    def test_the_same_findings(self):
        alone = self.found(OLD)
        of_tf = re.sub(r"from keras\b", "from tensorflow.keras", OLD)
        of_tf = of_tf.replace("import keras", "from tensorflow import keras")
        self.assertEqual(alone, self.found(of_tf))
        self.assertGreater(len(alone), 6)
        self.assertIn(CHANGED, alone)

    def test_keras_3_is_clean(self):
        alone = NATIVE.replace("tf.keras", "keras").replace("tensorflow.keras", "keras")
        alone = f"import keras\n{alone}"
        self.assertEqual(self.found(alone), {})
        inside = "from keras.src.layers import Layer\nfrom keras import ops, random\n"
        self.assertEqual(
            self.found(f"{inside}{alone}\nops.shape(random.normal([2]))"), {}
        )

    def test_a_path_of_old(self):
        text = "from keras.layers.core import Dense\nprint(Dense(3).units)"
        self.assertEqual(list(self.found(text)), ["tf.keras.layers.core"])
        text = "from keras.utils import np_utils\ny = np_utils.to_categorical([1])"
        found = ["tf.keras.utils.np_utils", "tf.keras.utils.to_categorical"]
        self.assertEqual(sorted(self.found(text)), found)

    def test_the_guide_has_every_path(self):
        told = {path: new for olds, new in PATHS for path in olds}
        self.assertEqual(told, standalone.paths())

    @parameterized.expand(PATHS)
    def test_paths_are_gone(self, olds, new):
        if new != "tf":
            self.assertIsNotNone(api_walk.get(tf, new), new)
        for path in olds:
            if path.rpartition(".")[0] in standalone.paths():
                continue  # a name in a module that is gone
            with self.assertRaises(ImportError, msg=path):
                importlib.import_module(path)

    def test_the_guide_has_every_argument_of_keras_1(self):
        known = {
            (name.removeprefix("tf.keras.layers."), row.argument, row.now)
            for name, found in verdicts.of_arguments().items()
            for row in found.values()
            if name.startswith("tf.keras.layers.") and row.keras_1 and row.now
        }
        self.assertEqual(set(ARGUMENTS), known)
        self.assertEqual(len(ARGUMENTS), len(known))

    @parameterized.expand(ARGUMENTS)
    def test_arguments_of_keras_1(self, layer, old, new):
        class_ = getattr(tf.keras.layers, layer)
        self.assertIn(new, inspect.signature(class_).parameters)
        with self.assertRaises((ValueError, TypeError)):
            class_(**NEEDED.get(layer, {}), **{old: None})
        entry = entries.lookup(f"tf.keras.layers.{layer}")
        self.assertEqual(entry.from_keras_1[old], new)

    def test_a_convolution_of_keras_1(self):
        images = tf.zeros([1, 8, 8, 1])
        shapes = [
            tf.keras.layers.Conv2D(*sizes)(images).shape[1:3]
            for sizes in ((32, 3, 3), (32, (3, 3)))
        ]
        self.assertEqual(shapes, [(2, 2), (6, 6)])
        self.assertFalse(hasattr(tf.keras.callbacks.Callback(), "validation_data"))


BACKEND = [
    ("K.function([x], [y])", "function"),
    ("K.learning_phase()", "learning_phase"),
    ("K.set_learning_phase(1)", "set_learning_phase"),
    ("K.get_session()", "get_session"),
    ("K.set_session(s)", "set_session"),
    ("K.placeholder([None, 3])", "placeholder"),
    ("K.in_train_phase(x, y)", "in_train_phase"),
]
# What is there today, and is found where something else is old.
BACKEND_CHANGED = [
    ("K.gradients(y, [x])", "gradients"),
    ("K.update(v, x)", "update"),
    ("K.update_add(v, x)", "update_add"),
    ("K.moving_average_update(v, x, 0.9)", "moving_average_update"),
    ("K.batch_set_value([(v, x)])", "batch_set_value"),
]
BACKEND_OF_OLD = [
    ("K.tf.constant(1)", "tf"),
    ("K.image_dim_ordering()", "image_dim_ordering"),
    ("K.set_image_dim_ordering('th')", "set_image_dim_ordering"),
]
BACKENDS = {
    "from keras": "from keras import backend as K",
    "from tf.keras": "from tensorflow.keras import backend as K",
    "by its path": "import keras.backend as K",
    "by the path of tf.keras": "import tensorflow.keras.backend as K",
}


class BackendTest(KerasCase):
    """The members of the backend, however it is imported."""

    @parameterized.expand(BACKEND)
    def test_in_all_spellings(self, line, name):
        for spelling, head in BACKENDS.items():
            found = list(self.found(f"{head}\n{line}"))
            self.assertEqual(found, [f"tf.keras.backend.{name}"], spelling)

    @parameterized.expand(BACKEND_CHANGED)
    def test_what_differs_in_an_old_file(self, line, name):
        symbol = f"tf.keras.backend.{name}"
        self.assertEqual(entries.lookup(symbol).verdict, "changed")
        self.assertTrue(hasattr(tf.keras.backend, name))
        for spelling, head in BACKENDS.items():
            old = f"{head}\nK.learning_phase()\n{line}"
            told = symbol if "tensorflow" in head else symbol.removeprefix("tf.")
            self.assertIn(told, self.found(old), spelling)

    @parameterized.expand(BACKEND_OF_OLD)
    def test_what_the_package_alone_had(self, line, name):
        for spelling in ("from keras", "by its path"):
            found = list(self.found(f"{BACKENDS[spelling]}\n{line}"))
            self.assertEqual(found, [f"tf.keras.backend.{name}"], spelling)
        self.assertFalse(hasattr(tf.keras.backend, name))
        new = standalone.paths()[f"keras.backend.{name}"]
        entry = entries.lookup(f"tf.keras.backend.{name}")
        self.assertEqual((entry.verdict, entry.write), ("rewrite", new))

    def test_a_port_is_clean(self):
        lines = ["K.epsilon()", "K.floatx()", "K.image_data_format()"]
        lines += ["K.set_image_data_format('channels_first')"]
        for head in BACKENDS.values():
            self.assertEqual(self.found("\n".join([head, *lines])), {}, head)


class AttributesTest(KerasCase):
    @parameterized.expand(
        [
            ("model.layers[0].output_shape", "tf.keras.layers.Layer.output_shape"),
            ("model.get_layer('a').input_shape", "tf.keras.layers.Layer.input_shape"),
            ("config.gpu_options.allow_growth = True", ".allow_growth"),
            (
                "config.gpu_options.per_process_gpu_memory_fraction = 0.5",
                ".per_process_gpu_memory_fraction",
            ),
            ("optimizers.Adam(epsilon=None)", "tf.keras.optimizers.Adam"),
            (
                "class A(callbacks.Callback):\n    def on_epoch_end(self, epoch):\n"
                "        print(self.validation_data[0])",
                "tf.keras.callbacks.Callback.validation_data",
            ),
            (
                "class A(optimizers.Optimizer):\n    def get_updates(self, loss, w):\n"
                "        return self.get_gradients(loss, w)",
                "tf.keras.optimizers.Optimizer.get_gradients",
            ),
            (
                "class A(optimizers.Optimizer):\n    @legacy\n"
                "    def get_updates(self, loss, w):\n        return []",
                "tf.keras.optimizers.Optimizer.get_updates",
            ),
        ]
    )
    def test_found(self, text, symbol):
        old = f"{HEAD}\nmodel.fit_generator(g)\n{text}"
        self.assertIn(symbol, self.found(old))

    @parameterized.expand(
        [
            ("print(model.output_shape)",),
            ("m = Model(x, y)\nprint(m.output_shape, m.input_shape)",),
            ("optimizers.Adam(epsilon=1e-8)",),
            (
                "class A(callbacks.Callback):\n    def __init__(self, data):\n"
                "        self.validation_data = data\n    def f(self):\n"
                "        print(self.validation_data)",
            ),
            ("class A:\n    def f(self):\n        print(self.validation_data)",),
        ]
    )
    def test_not_found(self, text):
        self.assertEqual(self.found(f"{HEAD}\n{text}"), {})
