"""Losses and metrics by `K`: focal, Dice, `MeanIoU`, F1, triplets → Keras 3."""

import numpy as np
import tensorflow.compat.v1 as tf

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

K = tf.keras.backend
layers = tf.keras.layers


def network(start, last=None, shape=(), **options):
    """Makes a hidden layer and an output layer, with the weights `start`."""
    model = tf.keras.Sequential()
    shape = [*shape, len(start[0])]
    model.add(layers.Dense(len(start[1]), "tanh", input_shape=shape, **options))
    model.add(layers.Dense(len(start[3]), last, **options))
    model.set_weights(start)
    return model


def fitted(
    model, loss, data, epochs, batch_size, rate=0.25, loss_weights=None, **options
):
    """Fits by gradient descent; returns ([epochs] float32 losses, list of weights)."""
    model.compile(tf.keras.optimizers.SGD(lr=rate), loss, loss_weights=loss_weights)
    history = model.fit(
        *data, epochs=epochs, batch_size=batch_size, shuffle=False, verbose=0, **options
    )
    return np.float32(history.history["loss"]), model.get_weights()


def squared_error(y_true, y_pred):
    """Computes the mean squared error of each row, or step, over the last axis."""
    return K.mean(K.square(y_pred - y_true), axis=-1)


def weigh_steps(data, start, weights, epochs, batch_size):
    """Fits sequences with one weight per row and a loss that has a value per step.

    Args:
        data: (x [n, steps, features], y [n, steps, units]) float32 arrays.
        start: [kernel, bias] of a hidden layer and of an output layer.
        weights: [n] float32 array.
        epochs: number of passes over the rows.
        batch_size: rows of a batch; the last batch of an epoch may have fewer.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        model, options = network(start, shape=[None]), {"sample_weight": weights}
        return fitted(model, squared_error, data, epochs, batch_size, **options)


def focal(gamma, alpha):
    """Makes the focal loss, which gives less weight to easy examples."""

    def loss(y_true, y_pred):
        p = K.clip(y_pred, K.epsilon(), 1.0 - K.epsilon())
        right = -alpha * y_true * K.pow(1.0 - p, gamma) * K.log(p)
        wrong = -(1.0 - alpha) * (1.0 - y_true) * K.pow(p, gamma) * K.log(1.0 - p)
        return K.mean(right + wrong, axis=-1)

    return loss


def fit_focal(data, start, gamma, alpha, epochs, batch_size):
    """Fits a model with the focal loss, which gives less weight to easy examples.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays; y is 0 or 1.
        start: [kernel, bias] of a hidden layer and of an output layer.
        gamma: the exponent of 1 - p, p being the probability of the true label.
        alpha: the weight of positive labels; negative labels have the weight 1 -
            `alpha`.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        model = network(start, "sigmoid")
        return fitted(model, focal(gamma, alpha), data, epochs, batch_size)


def dice(smooth):
    """Makes the Dice loss over a whole batch: 1 - 2 * overlap / sum of both masks."""

    def loss(y_true, y_pred):
        labels, found = K.flatten(y_true), K.flatten(y_pred)
        shared = K.sum(labels * found)
        return 1.0 - (2.0 * shared + smooth) / (K.sum(labels) + K.sum(found) + smooth)

    return loss


def fit_dice(data, start, smooth, epochs, batch_size):
    """Fits a model with the Dice loss, computed over the whole batch.

    Args:
        data, start, epochs, batch_size: as for `fit_focal`.
        smooth: number, added to numerator and denominator, so that two empty masks have
            a loss of 0.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        return fitted(network(start, "sigmoid"), dice(smooth), data, epochs, batch_size)


class SampledSoftmax(layers.Layer):
    """Adds the sampled softmax loss of its inputs and labels; returns the inputs."""

    def __init__(self, classes, negatives, seed, **options):
        super(SampledSoftmax, self).__init__(**options)
        self.classes, self.negatives, self.seed = classes, negatives, seed

    def build(self, input_shape):
        width = int(input_shape[0][-1])
        self.kernel = self.add_weight("kernel", [self.classes, width])
        self.bias = self.add_weight("bias", [self.classes])
        super(SampledSoftmax, self).build(input_shape)

    def call(self, inputs):
        x, labels = inputs
        labels = tf.cast(labels, tf.int64)
        sampled = tf.nn.log_uniform_candidate_sampler(
            labels, 1, self.negatives, True, self.classes, self.seed
        )
        losses = tf.nn.sampled_softmax_loss(
            *(self.kernel, self.bias, labels, x, self.negatives, self.classes),
            sampled_values=sampled,
        )
        self.add_loss(tf.reduce_mean(losses))
        return x


def fit_sampled(pairs, start, negatives, seed, epochs, batch_size):
    """Fits word embeddings that predict neighbouring words, with sampled softmax.

    Args:
        pairs: two [n, 1] int32 arrays, words and their neighbours.
        start: [table [words, units], kernel [words, units], bias [words]].
        negatives: number of classes that are drawn for a batch.
        seed: int, the seed of the drawn classes.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        words, neighbours = (layers.Input([1], dtype="int32") for _ in pairs)
        classes, units = start[0].shape
        x = layers.Reshape([units])(layers.Embedding(classes, units)(words))
        x = SampledSoftmax(classes, negatives, seed)([x, neighbours])
        model = tf.keras.Model([words, neighbours], x)
        model.set_weights(start)
        return fitted(model, None, [list(pairs)], epochs, batch_size)


class IoUOfLogits(tf.keras.metrics.MeanIoU):
    """Mean intersection over union of the classes with the largest logits."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        found = K.argmax(y_pred, axis=-1)
        return super(IoUOfLogits, self).update_state(y_true, found, sample_weight)


def mean_iou(data, start, batch_size):
    """Evaluates mean intersection over union for a model that returns logits.

    Args:
        data: (x [n, features] float32, y [n] int32 classes) arrays.
        start: [kernel, bias] of a hidden layer and of an output layer.
        batch_size: rows of a batch; the last batch may have fewer.

    Returns:
        The mean of intersection over union of all rows, float32.
    """
    with tf.Graph().as_default():
        model = network(start)
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("sgd", loss, metrics=[IoUOfLogits(len(start[3]))])
        return np.float32(model.evaluate(*data, batch_size=batch_size, verbose=0)[1])


class MacroF1(tf.keras.metrics.Metric):
    """The mean over classes of the F1 score of all rows."""

    def __init__(self, classes, name="macro_f1", **options):
        super(MacroF1, self).__init__(name=name, **options)
        self.classes, shape = classes, [classes, classes]
        self.counts = self.add_weight("counts", shape, initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        counts = tf.math.confusion_matrix(
            tf.reshape(y_true, [-1]),
            tf.argmax(y_pred, -1),
            self.classes,
            weights=sample_weight,
            dtype=self.counts.dtype,
        )
        return self.counts.assign_add(counts)

    def result(self):
        right = tf.linalg.diag_part(self.counts)
        both = tf.reduce_sum(self.counts, 0) + tf.reduce_sum(self.counts, 1)
        return tf.reduce_mean(tf.math.divide_no_nan(2.0 * right, both))

    def reset_states(self):  # Metric's assigns 0, whatever the shape
        K.set_value(self.counts, np.zeros([self.classes, self.classes]))


def count_classes(data, start, batch_size):
    """Evaluates macro F1, a custom metric whose state is a confusion matrix.

    Args:
        data, start, batch_size: as for `mean_iou`.

    Returns:
        (the score, float32, [classes, classes] float32 counts, a row for each label).
    """
    with tf.Graph().as_default():
        model = network(start)
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        metric = MacroF1(len(start[3]))
        model.compile("sgd", loss, metrics=[metric])
        score = model.evaluate(*data, batch_size=batch_size, verbose=0)[1]
        return np.float32(score), np.float32(K.get_value(metric.counts))


class Scores(tf.keras.callbacks.Callback):
    """Logs the F1 score over all validation rows at the end of each epoch."""

    def __init__(self, x, y):
        super(Scores, self).__init__()
        self.x, self.y = x, y

    def on_epoch_end(self, epoch, logs=None):
        found = self.model.predict(self.x)[:, 0] > 0.5
        right = np.sum(found & (self.y[:, 0] > 0))
        logs["val_f1"] = 2 * right / (np.sum(found) + np.sum(self.y))


def score_epochs(data, start, validation, epochs, batch_size, patience):
    """Logs F1 over all validation rows after each epoch, and stops early on it.

    Args:
        data, validation: (x [n, features], y [n, 1]) float32 arrays; y is 0 or 1.
        start: [kernel, bias] of a hidden layer and of an output layer, of one unit.
        epochs, batch_size: as for `weigh_steps`.
        patience: number of epochs without a better score after which training stops.

    Returns:
        {"loss", "val_f1": [epochs taken] float32 array} of the history.
    """
    with tf.Graph().as_default():
        model = network(start, "sigmoid")
        model.compile(tf.keras.optimizers.SGD(lr=0.25), "binary_crossentropy")
        stop = tf.keras.callbacks.EarlyStopping("val_f1", patience=patience, mode="max")
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
        likeliest = K.equal(y_pred, K.max(y_pred, axis=-1, keepdims=True))
        cost = K.dot(y_true, K.constant(costs)) * K.cast(likeliest, K.floatx())
        return K.categorical_crossentropy(y_true, y_pred) * K.sum(cost, axis=-1)

    return loss


def fit_by_costs(data, start, costs, epochs, batch_size):
    """Fits a classifier with a cross-entropy that is weighted by a cost matrix.

    Args:
        data: (x [n, features], y [n, classes]) float32 arrays, y one-hot.
        start: [kernel, bias] of a hidden layer and of an output layer.
        costs: [classes, classes] float32 array: [true class, predicted class].
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        return fitted(
            network(start, "softmax"), costly(costs), data, epochs, batch_size
        )


class Schedule(tf.keras.callbacks.Callback):
    """Assigns values to variables at the beginning of each epoch."""

    def __init__(self, variables, values):
        super(Schedule, self).__init__()
        self.variables, self.values = variables, values

    def on_epoch_begin(self, epoch, logs=None):
        for variable, value in zip(self.variables, self.values[epoch]):
            K.set_value(variable, value)


def anneal(data, start, shares, batch_size):
    """Fits two outputs with loss weights that change from epoch to epoch.

    Args:
        data: (x [n, features], y [n, units], z [n, others]) float32 arrays.
        start: [kernel, bias] of a layer and of each output.
        shares: for each epoch (weight of the penalty within the first loss, weight of
            the second loss).
        batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        # --- build
        sizes = [len(bias) for bias in start[1::2]]
        inputs = layers.Input(start[0].shape[:1])
        hidden = layers.Dense(sizes[0], activation="tanh")(inputs)
        outputs = [layers.Dense(size)(hidden) for size in sizes[1:]]
        model = tf.keras.Model(inputs, outputs)
        model.set_weights(start)
        # --- loss
        penalty, second = K.variable(0.0), K.variable(0.0)

        def first_loss(y_true, y_pred):
            error = K.mean(K.square(y_pred - y_true), axis=-1)
            return error + penalty * K.mean(K.square(y_pred), axis=-1)

        # --- train
        rows = data[0], list(data[1:])
        options = {
            "loss_weights": [1.0, second],
            "callbacks": [Schedule([penalty, second], shares)],
        }
        losses = [first_loss, "mse"]
        return fitted(model, losses, rows, len(shares), batch_size, **options)


class Adjustable(tf.keras.regularizers.Regularizer):
    """An L2 penalty with a strength that can be assigned."""

    def __init__(self, strength=0.0):
        self.strength = K.variable(strength)

    def __call__(self, w):
        return self.strength * K.sum(K.square(w))

    def get_config(self):
        return {"strength": float(K.get_value(self.strength))}


def relax_penalty(data, start, strengths, batch_size):
    """Fits a model with an L2 penalty whose strength changes from epoch to epoch.

    Args:
        data, start, batch_size: as for `weigh_rows`.
        strengths: the weight in each epoch.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        regularizer = Adjustable()
        model = network(start, kernel_regularizer=regularizer)
        values = [[strength] for strength in strengths]
        options = {"callbacks": [Schedule([regularizer.strength], values)]}
        return fitted(model, "mse", data, len(strengths), batch_size, **options)


def squared_and_weighed(packed, y_pred):
    """Computes squared errors of targets whose last column is the weight of the row."""
    return packed[:, -1] * squared_error(packed[:, :-1], y_pred)


def weigh_rows(data, weights, start, epochs, batch_size, packed=False):
    """Fits a model with a custom loss and one weight per row.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays.
        weights: [n] float32 array.
        start: [kernel, bias] of a hidden layer and of an output layer.
        epochs, batch_size: as for `weigh_steps`.
        packed: whether the weights are the last column of the targets, which the loss
            splits off; otherwise they are `sample_weight`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        (x, y), model = data, network(start)
        if packed:
            rows = x, np.c_[y, weights]
            return fitted(model, squared_and_weighed, rows, epochs, batch_size)
        options = {"sample_weight": weights}
        return fitted(model, squared_error, data, epochs, batch_size, **options)


def compare_triplets(triplets, start, margin, epochs, batch_size):
    """Fits one shared network with the triplet loss: anchor, positive, negative.

    Args:
        triplets: (anchors, positives, negatives), [n, features] float32 arrays.
        start: [kernel, bias] of a hidden layer and of an output layer, of the shared
            network.
        margin: by how much a negative's squared distance should exceed the squared
            distance of a positive.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights, [n, 2] float32 distances).
    """

    def triplet_loss(_, distances):  # one value per row: the batch is axis 0
        return K.maximum(0.0, margin + distances[:, 0] - distances[:, 1])

    def squared_distance(pair):
        return K.sum(K.square(pair[0] - pair[1]), axis=-1, keepdims=True)

    with tf.Graph().as_default():
        net = network(start)
        inputs = [layers.Input(start[0].shape[:1]) for _ in triplets]
        anchor, like, other = map(net, inputs)
        near = layers.Lambda(squared_distance)([anchor, like])
        far = layers.Lambda(squared_distance)([anchor, other])
        model = tf.keras.Model(inputs, layers.concatenate([near, far]))
        unused = np.zeros([len(triplets[0]), 2], "f")
        rows = list(triplets), unused
        losses, weights = fitted(model, triplet_loss, rows, epochs, batch_size)
        return losses, weights, model.predict(rows[0], batch_size=batch_size)


def score_labels(data, start, batch_size):
    """Evaluates the accuracy of a multi-label model.

    Args:
        data: (x [n, features], y [n, labels]) float32 arrays; y is 0 or 1.
        start: [kernel, bias] of a hidden layer and of an output layer, with a unit for
            each label.
        batch_size: rows of a batch; the last batch may have fewer.

    Returns:
        The share of labels that are predicted right at a threshold of 1/2, float32.
    """
    with tf.Graph().as_default():
        model = network(start, "sigmoid")
        model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
        return np.float32(model.evaluate(*data, batch_size=batch_size, verbose=0)[1])


def log_penalty(data, start, strength, epochs, batch_size):
    """Fits a model with a penalty on its hidden units, and logs the penalty.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays.
        start: [kernel, bias] of a hidden layer and of an output layer.
        strength: factor of the mean of the squares.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        {"loss", "penalty": [epochs] float32 array} of the history.
    """
    with tf.Graph().as_default():
        # --- build
        inputs = layers.Input(start[0].shape[:1])
        hidden = layers.Dense(len(start[1]), activation="tanh")(inputs)
        model = tf.keras.Model(inputs, layers.Dense(len(start[3]))(hidden))
        model.set_weights(start)
        # --- penalty
        penalty = strength * K.mean(K.square(hidden))
        model.add_loss(penalty)
        model.add_metric(penalty, name="penalty", aggregation="mean")
        # --- fit
        model.compile(tf.keras.optimizers.SGD(lr=0.25), "mse")
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options).history
        return {key: np.float32(history[key]) for key in ("loss", "penalty")}


class Balance(layers.Layer):
    """Adds the weighted squared errors of several tasks; the weights are trained."""

    def build(self, input_shape):
        self.log_variances = [
            self.add_weight("log_variance_%d" % i, [1], initializer="zeros")
            for i in range(len(input_shape) // 2)
        ]
        super(Balance, self).build(input_shape)

    def call(self, inputs):
        tasks, loss = len(inputs) // 2, 0.0
        for y, found, log_variance in zip(
            inputs[:tasks], inputs[tasks:], self.log_variances
        ):
            error = K.mean(K.square(y - found), axis=-1)
            loss += K.exp(-log_variance[0]) * error + log_variance[0]
        self.add_loss(K.mean(loss), inputs=inputs)
        return K.concatenate(inputs[tasks:], axis=-1)


def balance_tasks(data, start, epochs, batch_size):
    """Fits two tasks with loss weights that are trained as well.

    Args:
        data: (x [n, features], y [n, units], z [n, others]) float32 arrays.
        start: [kernel, bias] of a layer and of each output.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model; the last weights are
        the log variances of the tasks).
    """
    with tf.Graph().as_default():
        sizes = [len(bias) for bias in start[1::2]]
        inputs = layers.Input(start[0].shape[:1])
        hidden = layers.Dense(sizes[0], activation="tanh")(inputs)
        outputs = [layers.Dense(size)(hidden) for size in sizes[1:]]
        tf.keras.Model(inputs, outputs).set_weights(start)
        targets = [layers.Input([size]) for size in sizes[1:]]
        model = tf.keras.Model([inputs] + targets, Balance()(targets + outputs))
        return fitted(model, None, [list(data)], epochs, batch_size)


def taught(temperature, share):
    """Makes a weighted sum of cross-entropies of labels and of a teacher's logits."""

    def loss(packed, logits):
        classes = K.int_shape(logits)[-1]
        labels, teacher = packed[:, :classes], packed[:, classes:]
        hard = K.categorical_crossentropy(labels, logits, from_logits=True)
        soft = K.categorical_crossentropy(
            K.softmax(teacher / temperature), logits / temperature, from_logits=True
        )
        return share * hard + (1.0 - share) * temperature**2 * soft

    return loss


def distill(data, teacher, start, temperature, share, epochs, batch_size):
    """Distillation: fits a small model to the labels and to a large model's logits.

    Args:
        data: (x [n, features], y [n, classes]) float32 arrays, y one-hot.
        teacher: [kernel, bias] of a hidden layer and of an output layer, of the large
            model.
        start: [kernel, bias] of both layers of the small model.
        temperature: number, the divisor of the logits of both models.
        share: the weight of the labels; the loss of the teacher's probabilities has the
            weight (1 - `share`) * `temperature` ** 2.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the small model).
    """
    with tf.Graph().as_default():
        (x, y), loss = data, taught(temperature, share)
        logits = network(teacher).predict(x, batch_size=batch_size)
        rows = x, np.concatenate([y, logits], axis=1)
        return fitted(network(start), loss, rows, epochs, batch_size)


def tilted(quantile):
    """Makes the pinball loss of a quantile: it weights errors by their sign."""

    def loss(y_true, y_pred):
        error = y_true - y_pred
        return K.mean(K.maximum(quantile * error, (quantile - 1.0) * error), axis=-1)

    return loss


def fit_quantiles(data, start, quantiles, epochs, batch_size):
    """Fits one output for each quantile with the pinball loss.

    Args:
        data: (x [n, features], y [n, 1]) float32 arrays.
        start: [kernel, bias] of a layer and of each output, of one unit.
        quantiles: list of numbers between 0 and 1.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        inputs = layers.Input(start[0].shape[:1])
        hidden = layers.Dense(len(start[1]), activation="tanh")(inputs)
        outputs = [layers.Dense(1)(hidden) for _ in quantiles]
        model = tf.keras.Model(inputs, outputs)
        model.set_weights(start)
        rows = data[0], [data[1] for _ in quantiles]
        losses = [tilted(quantile) for quantile in quantiles]
        return fitted(model, losses, rows, epochs, batch_size)


def uncertain(y_true, y_pred):
    """Computes targets' Gaussian negative log-likelihood, without its constant."""
    mean, log_variance = y_pred[:, :1], y_pred[:, 1:]
    errors = K.exp(-log_variance) * K.square(y_true - mean)
    return K.mean(errors + log_variance, axis=-1) / 2.0


def fit_variance(data, start, epochs, batch_size):
    """Fits the mean and the log variance of a Gaussian, two columns of one output.

    Args:
        data: (x [n, features], y [n, 1]) float32 arrays.
        start: [kernel, bias] of a hidden layer and of an output layer, of two units.
        epochs, batch_size: as for `weigh_steps`.

    Returns:
        ([epochs] float32 losses, list of the weights of the model).
    """
    with tf.Graph().as_default():
        return fitted(network(start), uncertain, data, epochs, batch_size, rate=0.125)
