"""Losses and metrics by `K`: focal, Dice, `MeanIoU`, F1, triplets → Keras 3."""

import numpy as np
import tensorflow as tf

__all__ = [
    "weigh_steps",
    "fit_focal",
    "fit_dice",
    "fit_sampled",
    "mean_iou",
    "count_classes",
    "score_epochs",
    "fit_by_costs",
    "anneal",
    "relax_penalty",
    "weigh_rows",
    "compare_triplets",
    "score_labels",
    "log_penalty",
    "balance_tasks",
    "distill",
    "fit_quantiles",
    "fit_variance",
]

keras = tf.keras
layers = keras.layers
register = keras.utils.register_keras_serializable("tensorflow_1")


def network(start, last=None, shape=(), **options):
    """Makes a hidden layer and an output layer, with the weights `start`."""
    model = keras.Sequential(
        [
            keras.Input([*shape, len(start[0])]),
            layers.Dense(len(start[1]), "tanh", **options),
            layers.Dense(len(start[3]), last, **options),
        ]
    )
    model.set_weights(start)
    return model


def with_outputs(start):
    """Makes a hidden layer and several output layers, with the weights `start`."""
    sizes = [len(bias) for bias in start[1::2]]
    inputs = keras.Input(start[0].shape[:1])
    hidden = layers.Dense(sizes[0], activation="tanh")(inputs)
    outputs = [layers.Dense(size)(hidden) for size in sizes[1:]]
    model = keras.Model(inputs, outputs)
    model.set_weights(start)
    return model


def fitted(
    model, loss, data, epochs, batch_size, rate=0.25, loss_weights=None, **options
):
    """Fits by gradient descent; returns ([epochs] float32 losses, list of weights)."""
    model.compile(keras.optimizers.SGD(rate), loss, loss_weights=loss_weights)
    history = model.fit(
        *data, epochs=epochs, batch_size=batch_size, shuffle=False, verbose=0, **options
    )
    return np.float32(history.history["loss"]), model.get_weights()


def squared_error(y_true, y_pred):
    """Computes the mean squared error of each row, or step, over the last axis."""
    return tf.reduce_mean(tf.square(y_pred - y_true), -1)


def weigh_steps(data, start, weights, epochs, batch_size):
    """Fits sequences with one weight per row and a loss that has a value per step."""
    options = {"sample_weight": weights[:, None]}  # one weight for all steps of a row
    model = network(start, shape=[None])
    return fitted(model, squared_error, data, epochs, batch_size, **options)


def fit_focal(data, start, gamma, alpha, epochs, batch_size):
    """Fits a model with the focal loss, which gives less weight to easy examples."""
    loss = keras.losses.BinaryFocalCrossentropy(
        apply_class_balancing=True, alpha=alpha, gamma=gamma
    )
    return fitted(network(start, "sigmoid"), loss, data, epochs, batch_size)


def dice(smooth):
    """Makes the Dice loss over a whole batch: 1 - 2 * overlap / sum of both masks."""

    def loss(y_true, y_pred):
        shared = tf.reduce_sum(y_true * y_pred)
        both = tf.reduce_sum(y_true) + tf.reduce_sum(y_pred)
        return 1.0 - (2.0 * shared + smooth) / (both + smooth)

    return loss


def fit_dice(data, start, smooth, epochs, batch_size):
    """Fits a model with the Dice loss, computed over the whole batch."""
    return fitted(network(start, "sigmoid"), dice(smooth), data, epochs, batch_size)


@register
class SampledSoftmax(layers.Layer):
    """Adds the sampled softmax loss of its inputs and labels, and returns the inputs.

    A step compares the label's class with `negatives` classes, drawn from the
    log-uniform distribution by `tf.random.log_uniform_candidate_sampler`. The loss is
    the mean over the batch. Its call takes [x, labels]: [batch, width] floats and
    [batch, 1] ints. The weights are `kernel`, [classes, width], and `bias`, [classes].

    Args:
        classes: int, the number of classes; the most frequent classes come first.
        negatives: int, the number of classes drawn, without replacement.
        seed: int, the seed of the sampler, used together with the seed of
            `tf.random.set_seed`.
        **options: arguments of `keras.layers.Layer`.
    """

    def __init__(self, classes, negatives, seed, **options):
        super().__init__(**options)
        self.classes, self.negatives, self.seed = classes, negatives, seed

    def build(self, input_shape):
        width = input_shape[0][-1]
        self.kernel = self.add_weight(name="kernel", shape=[self.classes, width])
        self.bias = self.add_weight(name="bias", shape=[self.classes])

    def call(self, inputs):
        x, labels = inputs
        labels = tf.cast(labels, tf.int64)
        drawn, *expected = tf.random.log_uniform_candidate_sampler(
            labels, 1, self.negatives, True, self.classes, self.seed
        )
        expected = [tf.cast(counts, x.dtype) for counts in expected]  # they are float32
        losses = tf.nn.sampled_softmax_loss(
            *(self.kernel, self.bias, labels, x, self.negatives, self.classes),
            sampled_values=(drawn, *expected),
        )
        self.add_loss(tf.reduce_mean(losses))
        return x

    def get_config(self):
        own = {"negatives": self.negatives, "seed": self.seed}
        return {**super().get_config(), "classes": self.classes, **own}


def fit_sampled(pairs, start, negatives, seed, epochs, batch_size):
    """Fits word embeddings that predict neighbouring words, with sampled softmax."""
    tf.random.set_seed(seed)
    words, neighbours = (keras.Input([1], dtype="int32") for _ in pairs)
    classes, units = start[0].shape
    x = layers.Reshape([units])(layers.Embedding(classes, units)(words))
    x = SampledSoftmax(classes, negatives, seed)([x, neighbours])
    model = keras.Model([words, neighbours], x)
    model.set_weights(start)
    return fitted(model, None, [list(pairs)], epochs, batch_size)


def mean_iou(data, start, batch_size):
    """Evaluates mean intersection over union for a model that returns logits."""
    model = network(start)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    metric = keras.metrics.MeanIoU(len(start[3]), sparse_y_pred=False)
    model.compile("sgd", loss, metrics=[metric])
    return np.float32(model.evaluate(*data, batch_size=batch_size, verbose=0)[1])


@register
class MacroF1(keras.metrics.Metric):
    """The mean over classes of the F1 score of all rows so far: macro F1.

    The score of a class is 2 * true positives / (its labels + its predictions), and 0
    for a class without either. It is computed from the confusion matrix `counts`,
    [classes, classes], with a row for each label and a column for each prediction.
    `update_state` takes labels, [batch] or [batch, 1] ints; scores, [batch, classes],
    whose argmax is the prediction; and, optionally, weights, [batch].

    Args:
        classes: int, the number of classes.
        name: str, the name of the metric.
        **options: arguments of `keras.metrics.Metric`.
    """

    def __init__(self, classes, name="macro_f1", **options):
        super().__init__(name=name, **options)
        self.classes, shape = classes, [classes, classes]
        self.counts = self.add_weight(shape, "zeros", dtype=self.dtype, name="counts")

    def update_state(self, y_true, y_pred, sample_weight=None):
        counts = tf.math.confusion_matrix(
            tf.reshape(y_true, [-1]),
            tf.argmax(y_pred, -1),
            self.classes,
            weights=sample_weight,
            dtype=self.counts.dtype,
        )
        self.counts.assign_add(counts)

    def result(self):
        right = tf.linalg.diag_part(self.counts)
        both = tf.reduce_sum(self.counts, 0) + tf.reduce_sum(self.counts, 1)
        return tf.reduce_mean(tf.math.divide_no_nan(2.0 * right, both))

    def get_config(self):
        return {**super().get_config(), "classes": self.classes}


def count_classes(data, start, batch_size):
    """Evaluates macro F1, a custom metric whose state is a confusion matrix."""
    model = network(start)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    metric = MacroF1(len(start[3]))
    model.compile("sgd", loss, metrics=[metric])
    score = model.evaluate(*data, batch_size=batch_size, verbose=0)[1]
    return np.float32(score), metric.counts.numpy()


class Scores(keras.callbacks.Callback):
    """Logs the F1 score over all validation rows at the end of each epoch.

    It adds `val_f1` to the logs, for the callbacks after it in the list and `History`.

    Args:
        x: [rows, features] float array.
        y: [rows, 1] array of 0 and 1. The model's first output, [rows, units], is a
            probability: above 0.5 it counts as positive.
    """

    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y

    def on_epoch_end(self, epoch, logs=None):
        found = self.model.predict(self.x, verbose=0)[:, 0] > 0.5
        right = np.sum(found & (self.y[:, 0] > 0))
        logs["val_f1"] = 2 * right / (np.sum(found) + np.sum(self.y))


def score_epochs(data, start, validation, epochs, batch_size, patience):
    """Logs F1 over all validation rows after each epoch, and stops early on it."""
    model = network(start, "sigmoid")
    model.compile(keras.optimizers.SGD(0.25), "binary_crossentropy")
    stop = keras.callbacks.EarlyStopping("val_f1", patience=patience, mode="max")
    history = model.fit(
        *data,
        epochs=epochs,
        batch_size=batch_size,
        shuffle=False,
        verbose=0,
        callbacks=[Scores(*validation), stop],
    )
    return {key: np.float32(seen) for key, seen in history.history.items()}


def costly(costs):
    """Makes a cross-entropy loss that is multiplied by the predicted class's cost."""

    def loss(y_true, y_pred):
        likeliest = y_pred == tf.reduce_max(y_pred, axis=-1, keepdims=True)
        cost = y_true @ tf.constant(costs, y_true.dtype)
        cost = tf.reduce_sum(cost * tf.cast(likeliest, cost.dtype), axis=-1)
        return keras.losses.categorical_crossentropy(y_true, y_pred) * cost

    return loss


def fit_by_costs(data, start, costs, epochs, batch_size):
    """Fits a classifier with a cross-entropy that is weighted by a cost matrix."""
    return fitted(network(start, "softmax"), costly(costs), data, epochs, batch_size)


class Schedule(keras.callbacks.Callback):
    """Assigns values to variables at the beginning of each epoch.

    Args:
        variables: list of `keras.Variable`s.
        values: list of lists, the values of all variables for each epoch.
    """

    def __init__(self, variables, values):
        super().__init__()
        self.variables, self.values = variables, values

    def on_epoch_begin(self, epoch, logs=None):
        for variable, value in zip(self.variables, self.values[epoch], strict=True):
            variable.assign(value)


def anneal(data, start, shares, batch_size):
    """Fits two outputs with loss weights that change from epoch to epoch."""
    # --- build
    model = with_outputs(start)
    # --- loss
    penalty, second = (keras.Variable(0.0, trainable=False) for _ in range(2))

    def first_loss(y_true, y_pred):
        error = tf.reduce_mean(tf.square(y_pred - y_true), axis=-1)
        return error + penalty * tf.reduce_mean(tf.square(y_pred), axis=-1)

    # --- train
    rows = data[0], list(data[1:])
    options = {
        "loss_weights": [1.0, second],
        "callbacks": [Schedule([penalty, second], shares)],
    }
    losses = [first_loss, "mse"]
    return fitted(model, losses, rows, len(shares), batch_size, **options)


@register
class Adjustable(keras.regularizers.Regularizer):
    """An L2 penalty, strength * sum(w ** 2), with a strength that can be assigned.

    Args:
        strength: number, the initial weight of the sum of squares. Assign to the
            variable `strength` to change it during training.
    """

    def __init__(self, strength=0.0):
        self.strength = keras.Variable(strength, trainable=False)

    def __call__(self, w):
        # In the dtype in which `fit` sums losses, whatever the dtype of the weight.
        penalty = self.strength * tf.reduce_sum(tf.square(w))
        return tf.cast(penalty, keras.config.floatx())

    def get_config(self):
        return {"strength": float(self.strength)}


def relax_penalty(data, start, strengths, batch_size):
    """Fits a model with an L2 penalty whose strength changes from epoch to epoch."""
    regularizer = Adjustable()
    model = network(start, kernel_regularizer=regularizer)
    values = [[strength] for strength in strengths]
    options = {"callbacks": [Schedule([regularizer.strength], values)]}
    return fitted(model, "mse", data, len(strengths), batch_size, **options)


def squared_and_weighed(packed, y_pred):
    """Computes squared errors of targets whose last column is the weight of the row."""
    return packed[:, -1] * squared_error(packed[:, :-1], y_pred)


def weigh_rows(data, weights, start, epochs, batch_size, packed=False):
    """Fits a model with a custom loss and one weight per row."""
    (x, y), model = data, network(start)
    if packed:
        rows = x, np.c_[y, weights]
        return fitted(model, squared_and_weighed, rows, epochs, batch_size)
    options = {"sample_weight": weights}
    return fitted(model, squared_error, data, epochs, batch_size, **options)


def compare_triplets(triplets, start, margin, epochs, batch_size):
    """Fits one shared network with the triplet loss: anchor, positive, negative."""

    def triplet_loss(_, distances):  # one value per row: the batch is axis 0
        return tf.maximum(0.0, margin + distances[:, 0] - distances[:, 1])

    def squared_distance(a, b):
        return keras.ops.sum(keras.ops.square(a - b), axis=-1, keepdims=True)

    net = network(start)
    inputs = [keras.Input(start[0].shape[:1]) for _ in triplets]
    anchor, like, other = map(net, inputs)
    near, far = squared_distance(anchor, like), squared_distance(anchor, other)
    model = keras.Model(inputs, layers.concatenate([near, far]))
    unused = np.zeros([len(triplets[0]), 2], "f")
    rows = list(triplets), unused
    losses, weights = fitted(model, triplet_loss, rows, epochs, batch_size)
    return losses, weights, model.predict(rows[0], batch_size=batch_size, verbose=0)


def score_labels(data, start, batch_size):
    """Evaluates the accuracy of a multi-label model.

    TensorFlow 1 resolved "accuracy" by the loss. Keras 3 looks at the shapes alone, and
    would compare the argmax of each row.
    """
    model, metric = network(start, "sigmoid"), keras.metrics.BinaryAccuracy()
    model.compile("sgd", "binary_crossentropy", metrics=[metric])
    return np.float32(model.evaluate(*data, batch_size=batch_size, verbose=0)[1])


@register
class Penalized(layers.Layer):
    """Returns its inputs; adds a penalty on their squares to the loss, and logs it.

    The penalty is strength * mean(x ** 2). The metric `penalty` is its mean over the
    batches of an epoch.

    Args:
        strength: float, the weight of the penalty.
        **options: arguments of `keras.layers.Layer`.
    """

    def __init__(self, strength, **options):
        super().__init__(**options)
        self.strength = strength
        self.mean = keras.metrics.Mean(name="penalty")

    def call(self, x):
        penalty = self.strength * tf.reduce_mean(tf.square(x))
        self.add_loss(penalty)
        self.mean.update_state(penalty)
        return x

    def get_config(self):
        return {**super().get_config(), "strength": self.strength}


def log_penalty(data, start, strength, epochs, batch_size):
    """Fits a model with a penalty on its hidden units, and logs the penalty.

    The history contains a metric that is an attribute of a layer, by its name.
    """
    # --- build
    inputs = keras.Input(start[0].shape[:1])
    hidden = layers.Dense(len(start[1]), activation="tanh")(inputs)
    # --- penalty
    hidden = Penalized(strength)(hidden)
    model = keras.Model(inputs, layers.Dense(len(start[3]))(hidden))
    model.set_weights(start)
    # --- fit
    model.compile(keras.optimizers.SGD(0.25), "mse")
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options).history
    return {key: np.float32(history[key]) for key in ("loss", "penalty")}


@register
class Balance(layers.Layer):
    """Adds the weighted squared errors of several tasks; the weights are trained.

    The loss is the mean over the batch of the sum over tasks of exp(-s) * mean((y -
    outputs) ** 2) + s, where s is the task's trained logarithm of a variance, at first
    0 (Kendall, Gal and Cipolla, 2018). Its call takes a list of the targets of all
    tasks and then of their outputs, [batch, size] floats each, and returns the outputs,
    concatenated.

    Args:
        **options: arguments of `keras.layers.Layer`.
    """

    def build(self, input_shape):
        self.log_variances = [
            self.add_weight(name=f"log_variance_{i}", shape=[1], initializer="zeros")
            for i in range(len(input_shape) // 2)
        ]

    def call(self, inputs):
        tasks, loss = len(inputs) // 2, 0.0
        for y, found, log_variance in zip(
            inputs[:tasks], inputs[tasks:], self.log_variances, strict=True
        ):
            error = tf.reduce_mean(tf.square(y - found), axis=-1)
            loss += tf.exp(-log_variance[0]) * error + log_variance[0]
        self.add_loss(tf.reduce_mean(loss))
        return tf.concat(inputs[tasks:], axis=-1)


def balance_tasks(data, start, epochs, batch_size):
    """Fits two tasks with loss weights that are trained as well."""
    tasks = with_outputs(start)
    targets = [keras.Input(output.shape[1:]) for output in tasks.outputs]
    outputs = Balance()([*targets, *tasks.outputs])
    model = keras.Model([tasks.input, *targets], outputs)
    return fitted(model, None, [list(data)], epochs, batch_size)


def taught(temperature, share):
    """Makes a weighted sum of cross-entropies of labels and of a teacher's logits."""

    def loss(packed, logits):
        labels, teacher = tf.split(packed, 2, axis=-1)
        hard = keras.losses.categorical_crossentropy(labels, logits, from_logits=True)
        soft = keras.losses.categorical_crossentropy(
            tf.nn.softmax(teacher / temperature), logits / temperature, from_logits=True
        )
        return share * hard + (1.0 - share) * temperature**2 * soft

    return loss


def distill(data, teacher, start, temperature, share, epochs, batch_size):
    """Distillation: fits a small model to the labels and to a large model's logits."""
    (x, y), loss = data, taught(temperature, share)
    logits = network(teacher).predict(x, batch_size=batch_size, verbose=0)
    rows = x, np.concatenate([y, logits], axis=1)
    return fitted(network(start), loss, rows, epochs, batch_size)


def tilted(quantile):
    """Makes the pinball loss of a quantile: it weights errors by their sign."""

    def loss(y_true, y_pred):
        error = y_true - y_pred
        by_side = tf.maximum(quantile * error, (quantile - 1.0) * error)
        return tf.reduce_mean(by_side, axis=-1)

    return loss


def fit_quantiles(data, start, quantiles, epochs, batch_size):
    """Fits one output for each quantile with the pinball loss."""
    rows = data[0], [data[1] for _ in quantiles]
    losses = [tilted(quantile) for quantile in quantiles]
    return fitted(with_outputs(start), losses, rows, epochs, batch_size)


def uncertain(y_true, y_pred):
    """Computes targets' Gaussian negative log-likelihood, without its constant."""
    mean, log_variance = y_pred[:, :1], y_pred[:, 1:]
    errors = tf.exp(-log_variance) * tf.square(y_true - mean)
    return tf.reduce_mean(errors + log_variance, axis=-1) / 2.0


def fit_variance(data, start, epochs, batch_size):
    """Fits the mean and the log variance of a Gaussian, two columns of one output."""
    return fitted(network(start), uncertain, data, epochs, batch_size, rate=0.125)
