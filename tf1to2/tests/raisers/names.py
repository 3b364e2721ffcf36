"""Names, arguments and members that are gone."""

import importlib
import sys
from unittest import mock

import tensorflow as tf
from tensorflow.python.ops import rnn_cell_impl

from tf1to2.parity import stand_ins
from tf1to2.tests.raisers import imported, run, v1

dataset = tf.data.Dataset.range(3)


def without_a_stand_in():
    """Where neither Horovod is nor the pages are, which have threads in its place."""
    others = [finder for finder in sys.meta_path if finder is not stand_ins.FINDER]
    loaded = {n: m for n, m in sys.modules.items() if n not in stand_ins.NAMES}
    with (
        mock.patch.object(sys, "meta_path", others),
        mock.patch.dict(sys.modules, loaded, clear=True),
    ):
        importlib.import_module("horovod")


def without_tf_keras():
    others = {n: m for n, m in sys.modules.items() if not n.startswith("tf_keras")}
    with (
        mock.patch.object(sys, "path", []),
        mock.patch.dict(sys.modules, others, clear=True),
    ):
        importlib.import_module("tf_keras")


ERRORS = {
    "'tensorflow' has no attribute '…": lambda: tf.set_random_seed(1),
    "module 'tensorflow._api.v2.": lambda: tf.train.Saver,
    "attribute 'Session'": lambda: tf.Session(),
    "attribute 'get_default_graph'": lambda: tf.get_default_graph(),
    "attribute 'contrib'": lambda: tf.contrib.layers,
    "attribute 'estimator'": lambda: tf.estimator.Estimator,
    "No module named 'tensorflow.": imported("tensorflow.contrib.slim"),
    "No module named 'tensorflow.contrib'": imported("tensorflow.contrib"),
    "No module named 'tensorflow_addons'": imported("tensorflow_addons"),
    "No module named 'nets'": imported("nets.inception_v3"),
    "No module named 'object_detection'": imported("object_detection.utils"),
    "No module named 'horovod'": without_a_stand_in,
    "No module named 'tf_keras'": without_tf_keras,
    "No module named 'tf_keras": imported("tf_keras.legacy_tf_layers"),
    "No module named 'tensorflow.examples'": imported("tensorflow.examples.tutorials"),
    "attribute '_linear'": lambda: rnn_cell_impl._linear,
    "cannot import name 'core_rnn": run(
        "from tensorflow.python.ops import core_rnn_cell_impl"
    ),
    "cannot import name '_linear'": run(
        "from tensorflow.python.ops.rnn_cell_impl import _linear"
    ),
    "No module named 'tensorflow.python.ops": imported("tensorflow.python.ops.seq2seq"),
    "cannot import name 'seq2seq'": run("from tensorflow.python.ops import seq2seq"),
    "cannot import name": run("from tensorflow import placeholder"),
    "argument 'validate_shape'": lambda: tf.Variable(1.0).assign(
        2.0, validate_shape=False
    ),
    "unexpected keyword argument '…": lambda: tf.reduce_sum([1.0], keep_dims=True),
    "'keep_prob'": lambda: tf.nn.dropout(tf.ones([2]), keep_prob=0.5),
    "Cannot convert [[": lambda: tf.constant([[1.5, 2.0]], tf.int32),
    "multiple values": lambda: tf.reduce_sum([[1.0]], 1, axis=0),
    "is not available with Keras 3": lambda: v1.nn.rnn_cell.BasicLSTMCell,
    "'int' object": lambda: tf.ones([2]).shape[0].value,
    "'NoneType' object has no attribute 'value'": lambda: (
        tf.keras.Input([2]).shape[0].value
    ),
    "'make_one_shot_iterator'": lambda: dataset.make_one_shot_iterator(),
    "'…' object has no attribute '…": lambda: tf.keras.Sequential().fit_generator,
    "EagerTensor' object has no attribute 'assign'": lambda: tf.ones([]).assign(2.0),
    "'SymbolicTensor' object has no attribute 'assign'": tf.function(
        lambda: tf.ones([]).assign(2.0)
    ),
    "attribute 'assign_add'": lambda: tf.ones([2]).assign_add([1.0, 1.0]),
    "attribute 'run'": lambda: tf.Variable(1.0).initializer.run(),
}
