"""Programs that use tf.keras alone: what gives them away, and what is found then."""

import textwrap

from parameterized import parameterized

from tf1to2.scan import findings
from tf1to2.tests.test_scan import ScanCase

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
            ("an embedding", "Embedding(3, 2, input_length=5)", "square a word twice"),
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
        ]
    )
    def test_told(self, _, line, text):
        self.assertIn(text, " ".join(self.told(line).values()))

    @parameterized.expand(
        [
            ("another activation", "LSTM(3, recurrent_activation='sigmoid')"),
            ("metrics by name", "model.compile('sgd', metrics=['acc', f])"),
            ("a weight by name", "Dense(3).add_weight(name='w', shape=[3])"),
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
