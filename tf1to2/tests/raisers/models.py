"""Models of Keras 3, built and fitted as those of TensorFlow 1 were."""

import json
import logging
import zipfile

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import imported, lacks, logged, printed, run
from tf1to2.tests.raisers.saved import in_folder, keras

layers = tf.keras.layers
X, Y = np.ones([4, 2], "f"), np.ones([4, 1], "f")
ROWS = tf.data.Dataset.from_tensors((X, Y))


class AsList(layers.Layer):
    def build(self, input_shape):
        input_shape.as_list()

    def call(self, x):
        return x


class Crop(layers.Layer):
    def call(self, x, size):
        return x[:, :size]


class Asks(tf.keras.callbacks.Callback):
    """Looks for a key in the parameters and in the logs of a batch."""

    def __init__(self, key):
        super().__init__()
        self.key = key

    def on_train_batch_end(self, batch, logs=None):
        return {**self.params, **logs}[self.key]


def compiled(*options, net=None, **others):
    model = net or keras()
    model.compile("sgd", *(options or ["mse"]), **others)
    return model


def fit(*data, net=None, loss="mse", metrics=None, **options):
    """A function that fits a model on data."""
    return lambda: compiled(loss, net=net, metrics=metrics).fit(
        *data, verbose=0, **options
    )


def fit_callback(key):
    return printed(fit(X, Y, callbacks=[Asks(key)]))


def classify(labels):
    return fit(X, labels, net=keras(layers.Dense(3)), loss="categorical_crossentropy")


def two_inputs(given):
    def predict():
        a, b = tf.keras.Input([2], name="a"), tf.keras.Input([2], name="b")
        tf.keras.Model([a, b], layers.add([a, b])).predict(given, verbose=0)

    return predict


def generate():
    while True:
        yield X.tolist(), Y.tolist()


def told(function):
    """A function that raises what Keras logs, which it does by absl."""
    absl = logging.getLogger("absl")
    return in_folder(lambda path: logged(lambda: function(path + ".h5"), absl)())


def load_uncompiled(path):
    keras().save(path)
    tf.keras.models.load_model(path)


def load_compiled(path):
    compiled(tf.keras.losses.MeanSquaredError()).save(path)
    tf.keras.models.load_model(path)


def load_by_another_optimizer(path):
    """Puts SGD in the place of the Adam of a file, whose state it leaves."""
    model = keras()
    model.compile("adam", "mse")
    model.fit(X, Y, verbose=0)
    model.save(path + ".keras")
    sgd = {"module": "keras.optimizers", "class_name": "SGD", "config": {}}
    with (
        zipfile.ZipFile(path + ".keras") as old,
        zipfile.ZipFile(path + "_2.keras", "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name)
            if name == "config.json":
                config = json.loads(content)
                config["compile_config"]["optimizer"] = sgd
                content = json.dumps(config)
            new.writestr(name, content)
    tf.keras.models.load_model(path + "_2.keras")


def node():
    """The first node of a layer."""
    layer = layers.Dense(1)
    layer(INPUT)
    return layer._inbound_nodes[0]


KERAS_1 = {
    **dict.fromkeys(("init", "W_regularizer", "W_constraint", "bias"), layers.Dense),
    **dict.fromkeys(("border_mode", "subsample", "dim_ordering"), layers.Conv2D),
    **dict.fromkeys(("inner_init", "inner_activation", "dropout_W"), layers.LSTM),
    **dict.fromkeys(("forget_bias_init", "dropout_U", "consume_less"), layers.LSTM),
    **dict.fromkeys(("b_regularizer", "b_constraint", "output_dim"), layers.Dense),
    **dict.fromkeys(("nb_filter", "filter_length", "subsample_length"), layers.Conv1D),
    **dict.fromkeys(("pool_length", "stride"), layers.MaxPooling1D),
    **{"U_regularizer": layers.LSTM, "gamma_init": layers.BatchNormalization},
}
"""{a word of Keras 1: a layer that took it}."""
OF_TENSORFLOW = "initialized_value", "scatter_update"
SIZES = {
    **dict.fromkeys((layers.Conv1D, layers.Conv2D), (2, 3)),
    **dict.fromkeys((layers.Dense, layers.LSTM), (2,)),
    **dict.fromkeys((layers.MaxPooling1D, layers.BatchNormalization), ()),
}
OF_SHAPES = (
    *("is_fully_defined", "with_rank", "num_elements", "merge_with"),
    *("assert_has_rank", "assert_is_compatible_with"),
)
MODULES = (
    *("keras.utils.generic_utils", "keras.utils.np_utils", "keras.utils.data_utils"),
    *("keras.objectives", "keras.api", "keras.optimizer_v2", "keras.src.engine"),
    *("keras.saving.hdf5_format", "keras.callbacks.callbacks"),
    "tensorflow.keras.layers.experimental",
)
# Where a wording began; what was said before it is among its section's earlier ones.
SINCE = {
    "named input(s) with keys": "keras>=3.15",
    "would be zero or negative": "keras>=3.15",
}
INPUT = tf.keras.Input([2])
ERRORS = {
    "'tuple' object has no attribute 'as_list'": lambda: AsList()(INPUT),
    "'list' object has no attribute 'as_list'": lambda: AsList()([INPUT, INPUT]),
    "attribute 'ndims'": lambda: INPUT.shape.ndims,
    "attribute 'dims'": lambda: INPUT.shape.dims,
    "attribute 'rank'": lambda: INPUT.shape.rank,
    **{f"attribute '{name}'": lacks(INPUT.shape, name) for name in OF_SHAPES},
    "'KerasTensor' object has no attribute 'get_shape'": lambda: INPUT.get_shape(),
    "attribute 'set_shape'": lambda: INPUT.set_shape([None, 2]),
    "'Variable' object has no attribute 'get_shape'": lambda: (
        keras().weights[0].get_shape()
    ),
    "as positional arguments": lambda: Crop()(INPUT, 1),
    "All `outputs` values": lambda: tf.keras.Model(INPUT, tf.ones([1, 2])),
    "All `inputs` values": lambda: tf.keras.Model(tf.ones([1, 2]), INPUT),
    "named input(s) with keys": two_inputs(X),
    "Missing data for input": two_inputs({"a": X}),
    "Kernel shape must": lambda: layers.Conv2D(4, 3).compute_output_shape((None, 4, 4)),
    "called on a list": lambda: layers.Add()(INPUT),
    "requires inputs with matching": lambda: layers.Concatenate()(
        [INPUT, tf.keras.Input([2, 3])]
    ),
    "cannot import name 'merge'": run("from keras.layers import merge"),
    "would be zero or negative": lambda: layers.Conv2D(2, 5)(tf.keras.Input([3, 3, 1])),
    "must be fully-defined": lambda: layers.Dense(2)(tf.keras.Input([None])),
    "total size of the tensor": lambda: layers.Reshape([3])(INPUT),
    **{
        f"passed to …: {{…'{name}'": lambda name=name, layer=layer: layer(
            *SIZES[layer], **{name: 0}
        )
        for name, layer in KERAS_1.items()
    },
    "passed to …: {…'dropout'": lambda: layers.Embedding(2, 3, dropout=0.1),
    "passed to …: {…'mode'": lambda: layers.BatchNormalization(mode=2),
    "values for argument 'strides'": lambda: layers.Conv2D(6, 8, 8, strides=(4, 4)),
    "argument: 'units'": lambda: layers.Dense(output_dim=3),
    "LSTM.__init__() missing": lambda: layers.LSTM(output_dim=3),
    "GRU.__init__() missing": lambda: layers.GRU(output_dim=3),
    "argument: 'rate'": lambda: layers.Dropout(p=0.5),
    "argument: 'kernel_size'": lambda: layers.Conv2D(16, nb_row=8),
    "'filters' and 'kernel_size'": lambda: layers.Conv2D(nb_filter=16, nb_row=8),
    "'outbound_nodes'": lambda: layers.Dense(1).outbound_nodes,
    **{
        f"attribute '{name}'": lambda name=name: getattr(node(), name)
        for name in ("inbound_layers", "outbound_layer")
    },
    "'KerasTensor' object has no attribute 'op'": lambda: INPUT.op,
    "attribute '_keras_history'": lambda: tf.Variable(1.0)._keras_history,
    "'get_input_at'": lambda: layers.Dense(1).get_input_at(0),
    "'input_names'": lambda: keras().input_names,
    "attribute 'set_model'": fit(X, Y, callbacks=[object()]),
    **{
        f"'Variable' object has no attribute '{name}'": lambda name=name: getattr(
            keras().weights[0], name
        )
        for name in ("eval", "load", "read_value", "op", *OF_TENSORFLOW)
    },
    "metric identifier": fit(X, Y, metrics=["fmeasure"]),
    "loss identifier": fit(X, Y, loss="no_such"),
    "at least rank 1": fit(generate(), steps_per_epoch=1),
    "Invalid dtype: object": fit(np.array([[1, 2]], object), Y[:1]),
    "Invalid dtype: str": fit(np.array([["a", "b"]]), Y[:1]),
    "must have the same shape.": classify(Y),
    "must have the same rank": classify(Y[:, 0]),
    "`validation_split` is only": fit(ROWS, validation_split=0.5),
    "`y` should not be": fit(ROWS, Y),
    "KeyError: 'samples'": fit_callback("samples"),
    "KeyError: 'size'": fit_callback("size"),
    "'Adam' object has no attribute 'weights'": lambda: (
        tf.keras.optimizers.Adam().weights
    ),
    "'list' object is not callable": lambda: tf.keras.optimizers.Adam().variables(),
    "keras.optimizers.legacy": lambda: tf.keras.optimizers.legacy.Adam(0.1),
    "No training configuration": told(load_uncompiled),
    "compiled metrics have yet": told(load_compiled),
    "as an HDF5 file": told(load_uncompiled),
    "Skipping variable loading": in_folder(
        lambda path: logged(lambda: load_by_another_optimizer(path))()
    ),
    "keras.layers' has no attribute 'experimental'": lambda: layers.experimental,
    "keras' has no attribute 'experimental'": lambda: tf.keras.experimental,
    **{f"No module named '{name}'": imported(name) for name in MODULES},
    **{
        f"cannot import name '{name}'": run(f"from keras import {name}")
        for name in ("initializations", "objectives")
    },
}
