"""`compile`, `fit`, callbacks and optimizers, called as those of Keras 2 were."""

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import logged
from tf1to2.tests.raisers.models import X, Y, compiled, fit
from tf1to2.tests.raisers.saved import in_folder, keras

layers, callbacks, optimizers = tf.keras.layers, tf.keras.callbacks, tf.keras.optimizers
schedules = optimizers.schedules


def fit_two(loss=("mse", "mse"), given=None, **options):
    """A function that compiles a model of two outputs, and fits it."""

    def fitted():
        row = tf.keras.Input([2])
        model = tf.keras.Model(row, [layers.Dense(1)(row) for _ in "ab"])
        loss_of = list(loss) if isinstance(loss, tuple) else loss
        model.compile("sgd", loss_of, **options)
        model.fit(X, [Y, Y], verbose=0, **(given or {}))

    return fitted


def unpack_the_loss():
    loss, metric = compiled().evaluate(X, Y, verbose=0)


def recurrent(*lengths, rank=2):
    """Fits batches of these lengths, whose last labels have another rank."""

    def generate():
        for n, length in enumerate(lengths):
            labels = np.ones([2, 1]) if n == 0 else np.ones([2, 1][:rank])
            yield np.ones([2, length, 3]), labels

    model = tf.keras.Sequential([tf.keras.Input([None, 3]), layers.LSTM(1)])
    compiled(net=model).fit(generate(), steps_per_epoch=len(lengths), verbose=0)


def sequence(count, *batch):
    """A `PyDataset` of so many batches; None: of an unknown number."""
    methods = {"__getitem__": lambda self, i: batch}
    if count is not None:
        methods["__len__"] = lambda self: count
    return type("Rows", (tf.keras.utils.PyDataset,), methods)()


def metric_without_fit():
    return compiled(metrics=["mae"]).metrics[1].result()


def nothing():
    yield from ()


def to_file(ending, **options):
    """A function that fits with a `ModelCheckpoint` whose file has this ending."""

    def fitted(path):
        kept = callbacks.ModelCheckpoint(path + ending, **options)
        fit(X, Y, callbacks=[kept])()

    return in_folder(fitted)


def to_folder(path):
    tf.io.gfile.makedirs(path + ".keras")
    fit(X, Y, callbacks=[callbacks.ModelCheckpoint(path + ".keras")])()


def schedule(**methods):
    base = optimizers.schedules.LearningRateSchedule
    return type("Own", (base,), methods)()


def back_up(path):
    model = tf.keras.Sequential([layers.Dense(1)])
    fit(X, Y, net=model, callbacks=[callbacks.BackupAndRestore(path)])()


def without_reason(function):
    """A function that raises what a KeyError holds, as Python prints it."""

    def call():
        try:
            function()
        except KeyError as error:
            raise RuntimeError(error.args[0]) from None

    return call


def scaled(**options):
    return lambda: tf.keras.mixed_precision.LossScaleOptimizer(
        optimizers.SGD(0.1), **options
    )


def optimizer(name):
    """An optimizer of this name; one that scales the loss has another in it."""
    if name == "LossScaleOptimizer":
        return tf.keras.mixed_precision.LossScaleOptimizer(optimizers.SGD(0.1))
    return getattr(optimizers, name)(0.1)


def build_with(initializer):
    layers.Dense(4, kernel_initializer=initializer).build([None, 3])


def my_init(shape):
    return tf.ones(shape)


initializers, regularizers = tf.keras.initializers, tf.keras.regularizers
ERRORS = {
    "cannot unpack": unpack_the_loss,
    "Expected `metrics` argument": lambda: compiled(metrics="mae"),
    "Expected `weighted_metrics`": lambda: compiled(weighted_metrics="mae"),
    "Invalid `metrics`. `metrics`": fit_two(metrics=["mae"]),
    "`loss_weights` must match": fit_two("mse", loss_weights=[1.0, 0.5]),
    "Cannot get result() since": metric_without_fit,
    "Data is expected to be": fit(tf.data.Dataset.from_tensors((X, Y, Y, Y))),
    "not sufficient to split": fit(X[:1], Y[:1], validation_split=0.2),
    "Received an empty generator": lambda: fit(nothing(), steps_per_epoch=1)(),
    "Generator yielded an element of shape": lambda: recurrent(5, 5, 7),
    "must have the same rank. Received: … and": lambda: recurrent(5, 5, rank=1),
    "implement the `num_batches`": lambda: fit(sequence(None, X, Y))(),
    "The PyDataset has length 0": lambda: fit(sequence(0, X, Y))(),
    "`model.compiled_loss()`": logged(lambda: compiled().compiled_loss(Y, Y)),
    "`model.compiled_metrics()`": logged(
        lambda: compiled().compiled_metrics.update_state(Y, Y)
    ),
    "`shuffle=True` was passed": logged(
        fit(tf.data.Dataset.from_tensors((X, Y)), shuffle=True)
    ),
    "In loss categorical": logged(
        lambda: tf.keras.losses.categorical_crossentropy(Y, Y)
    ),
    "does not support a factor": lambda: callbacks.ReduceLROnPlateau(factor=10),
    "`momentum` must be": lambda: optimizers.SGD(0.1, momentum=tf.constant(0.9)),
    "does not support arguments": scaled(loss_scale="dynamic"),
    "supports `dynamic=False`": scaled(dynamic=False),
    "Argument `decay_steps`": lambda: schedules.ExponentialDecay(0.1, 0, 0.5),
    "Argument `first_decay_steps`": lambda: schedules.CosineDecayRestarts(0.1, 0),
    "must override `get_config()`": lambda: schedule().get_config(),
    "must override `__call__": lambda: schedule()(1),
    "When passing `grads`": lambda: optimizers.SGD().apply([tf.ones([2])]),
    "takes 2 positional": lambda: optimizers.SGD().apply_gradients([], None),
    "Invalid value for argument l2": lambda: regularizers.L2(tf.constant(0.1)),
    "Invalid value for argument l1": lambda: regularizers.L1(-0.1),
    "<lambda>() got": lambda: build_with(lambda shape: tf.ones(shape)),
    "to_categorical() got": lambda: tf.keras.utils.to_categorical([0], dtype="int32"),
    "…() got an unexpected keyword argument 'dtype'": lambda: build_with(my_init),
    "….__init__() got an unexpected keyword argument 'dtype'": lambda: (
        initializers.GlorotNormal(dtype="float32")
    ),
    "argument 'verify_shape'": lambda: initializers.Constant(1, verify_shape=True),
    "L2.__init__() got": lambda: regularizers.L2(l=0.1),
    "L1.__init__() got": lambda: regularizers.L1(l=0.1),
    **{
        f"compile() got an unexpected keyword argument '{name}'": lambda name=name: (
            compiled(**{name: None})
        )
        for name in ("experimental_run_tf_function", "options", "run_metadata")
    },
    "{…'schedule_decay'": lambda: optimizers.Nadam(schedule_decay=0.004),
    "argument: 'learning_rate'": lambda: type("Own", (optimizers.Optimizer,), {})(),
    **{
        f"'{name}' object has no attribute 'lr'": lambda name=name: optimizer(name).lr
        for name in (
            *("SGD", "RMSprop", "AdamW", "Nadam", "Adagrad", "Adadelta", "Adamax"),
            "LossScaleOptimizer",
        )
    },
    "Callback.set_model()": fit(X, Y, callbacks=[callbacks.Callback]),
    "'>' not supported": lambda: {}.get("acc") > 0.9,
    "'<' not supported": lambda: {}.get("loss") < 0.1,
    "direct tensor as": lambda: build_with(np.ones([4, 3])),
    "Invalid `mode` argument": lambda: initializers.VarianceScaling(mode="FAN_AVG"),
    "Invalid `distribution`": lambda: initializers.VarianceScaling(distribution="flat"),
    "Argument `seed` must": lambda: layers.Dropout(0.5, seed=1.5),
    "`seed` argument should": lambda: initializers.RandomNormal(seed=tf.constant(3)),
    # Further wordings of sections that were there.
    "You cannot specify `class_weight`": lambda: fit(
        sequence(1, X, Y, Y[:, 0]), class_weight={1: 2.0}
    )(),
    "and `class_weight` cannot be": lambda: compiled().train_on_batch(
        X, Y, sample_weight=Y[:, 0], class_weight={1: 2.0}
    ),
    "ReduceLROnPlateau callback": fit(
        X, Y, callbacks=[callbacks.ReduceLROnPlateau(monitor="val_dice")]
    ),
    "rate reduction is": logged(
        fit(X, Y, callbacks=[callbacks.ReduceLROnPlateau(monitor="val_loss")])
    ),
    "is unknown, fallback": logged(
        lambda: callbacks.EarlyStopping("loss", mode="maximum")
    ),
    "When providing `x` as a …": lambda: fit(sequence(1, X, Y), Y)(),
    "Failed to format this": without_reason(to_file("{val_acc:.2f}.keras")),
    "Please specify a non-directory": in_folder(to_folder),
    "Unrecognized save_freq": lambda: callbacks.ModelCheckpoint(
        "a.keras", save_freq="batch"
    ),
    "one `sample_weight` array per": fit_two(given={"sample_weight": [Y[:, 0]]}),
    "a single `sample_weight`": fit_two(given={"sample_weight": np.ones([4, 2])}),
    "shape up until the last": lambda: tf.keras.losses.sparse_categorical_crossentropy(
        tf.ones([5]), tf.ones([4, 3])
    ),
    "To use the BackupAndRestore": in_folder(back_up),
    "This model has not yet been built": lambda: tf.keras.utils.model_to_dot(
        tf.keras.Sequential([layers.Dense(1)])
    ),
    "Cannot interpret `dtype`": lambda: layers.Dense(1, dtype=3),
    "mixed precision DTypePolicy": lambda: layers.Dense(1, dtype="half"),
    "Invalid dtype: float": lambda: tf.keras.Input([1], dtype="float"),
    "valid dtype for Keras": lambda: tf.keras.ops.multiply(tf.constant(["a"]), 2.0),
    "a Variable from an": lambda: tf.keras.Variable("zeros"),
    "with `value`'s type": lambda: tf.keras.utils.pad_sequences([["a"]], value="b"),
    "for `plot_model` to": lambda: tf.keras.utils.plot_model(keras()),
    "for model_to_dot to": lambda: tf.keras.utils.model_to_dot(keras()),
}
