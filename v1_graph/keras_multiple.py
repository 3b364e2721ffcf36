"""`multi_gpu_model`, `model_to_estimator` → `tf.distribute.MirroredStrategy`."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "fit_on_towers",
    "predict_on_towers",
    "save_the_template",
    "normalize_on_towers",
    "fit_mirrored",
    "evaluate_mirrored",
    "own_loop",
    "normalize_mirrored",
    "normalize_in_sync",
    "train_estimator",
    "evaluate_estimator",
    "predict_by_estimator",
]

K = tf.keras.backend
TWO = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)


def network(start):
    """Makes a network of two dense layers, built for the weights `start`."""
    (features, hidden), classes = start[0].shape, start[3].shape[0]
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(hidden, "relu", input_shape=(features,)))
    model.add(tf.keras.layers.Dense(classes, activation="softmax"))
    return model


def normalizer(weights, layer=tf.keras.layers.BatchNormalization):
    """Makes a batch norm and a dense layer of one unit, with the given weights."""
    model = tf.keras.Sequential()
    model.add(layer(input_shape=weights[0].shape, momentum=0.9))
    model.add(tf.keras.layers.Dense(1))
    return model


def begun(model, weights):
    """Sets weights after `compile`, which may begin a session; returns the model."""
    model.set_weights(weights)
    return model


def compiled(model, rate=0.25, loss="sparse_categorical_crossentropy", metrics=()):
    optimizer = tf.keras.optimizers.SGD(lr=rate, momentum=0.5)
    model.compile(optimizer=optimizer, loss=loss, metrics=list(metrics))
    return model


def told(history):
    """Converts the history of `fit` to {key: float32 array, one number per epoch}."""
    return {key: np.float32(values) for key, values in history.history.items()}


class TwoGPUs(tf.Session):
    """Replaces the session of a machine with two GPUs; with GPUs you do not need it.

    `multi_gpu_model` looks for the GPUs here; the ops on them run on other devices.
    """

    def list_devices(self):
        found = super(TwoGPUs, self).list_devices()
        return found + [GPU("device:GPU:0"), GPU("device:GPU:1")]


class GPU:
    def __init__(self, name):
        self.name = name


def mirrored():
    """Makes a strategy of two replicas; for two GPUs write `MirroredStrategy()`."""
    K.set_session(tf.Session(config=TWO))
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def fit_on_towers(data, start, epochs, batch_size):
    """Fits a model on two devices that share each batch.

    Args:
        data: (x, y), float32 [n, features] and int32 [n] classes.
        start: [kernel, bias, kernel, bias], float32 arrays.
        epochs: number of passes over the rows.
        batch_size: rows of a batch of both devices; the last batch of an epoch may have
            fewer, also an odd number.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).
    """
    # --- build
    with tf.Graph().as_default():
        K.set_session(TwoGPUs(config=TWO))
        with tf.device("/cpu:0"):
            template = begun(network(start), start)
        model = compiled(tf.keras.utils.multi_gpu_model(template, gpus=2))
        # --- fit
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        return told(history), template.get_weights()


def predict_on_towers(x, start, batch_size):
    """Predicts on two devices that share each batch.

    Args:
        x: [n, features] float32 array; a batch may have an odd number of rows, also one
            row.
        start, batch_size: as for `fit_on_towers`.

    Returns:
        [n, classes] float32 probabilities.
    """
    # --- build
    with tf.Graph().as_default():
        K.set_session(TwoGPUs(config=TWO))
        model = tf.keras.utils.multi_gpu_model(begun(network(start), start), gpus=2)
        # --- predict
        return model.predict(x, batch_size=batch_size)


def save_the_template(data, start, epochs, batch_size):
    """Fits on two devices, saves the weights, and loads them on one device.

    Args:
        data, start, epochs, batch_size: as for `fit_on_towers`.

    Returns:
        ([n, classes] float32 probabilities of the loaded model, number of the layers of
        the model that was saved).
    """
    # --- build
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        K.set_session(TwoGPUs(config=TWO))
        template = begun(network(start), start)
        model = compiled(tf.keras.utils.multi_gpu_model(template, gpus=2))
        # --- fit
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        model.fit(*data, shuffle=False, **options)
        # --- save
        # Saves the template: the file of the parallel model also contains its slices.
        path = os.path.join(folder, "model.h5")
        template.save_weights(path)
        # --- load
        single = network([np.zeros_like(array) for array in start])
        single.load_weights(path)
        return single.predict(data[0]), len(template.layers)


def normalize_on_towers(data, weights, steps):
    """Trains batch normalization on two devices, each with its own batch statistics.

    Args:
        data: (x, y), float32 [n, features] and [n, 1] arrays; n is even, and all rows
            are one batch.
        weights: [gamma, beta, mean, variance, kernel, bias], float32 arrays.
        steps: number of steps to take.

    Returns:
        ([steps] float32 losses, list of the weights without moving mean and variance).
    """
    # --- build
    with tf.Graph().as_default():
        K.set_session(TwoGPUs(config=TWO))
        template = begun(normalizer(weights), weights)
        model = tf.keras.utils.multi_gpu_model(template, gpus=2)
        compiled(model, 0.0625, "mse")
        # --- fit
        options = {"batch_size": len(data[0]), "epochs": steps, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        # Both devices update the same moving mean and variance, in any order.
        gamma, beta, _, _, kernel, bias = template.get_weights()
        return told(history)["loss"], [gamma, beta, kernel, bias]


def fit_mirrored(data, start, epochs, batch_size):
    """Fits a model with `MirroredStrategy`: one copy of the model on each device.

    Args:
        data, start, epochs: as for `fit_on_towers`.
        batch_size: rows of a batch of both devices. If it does not divide n, a batch
            continues with the first rows, until the rows of all epochs are used.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights). A loss is
        the mean over batches, and in a batch over devices, whatever their sizes.
    """
    # --- build
    with tf.Graph().as_default():
        with mirrored().scope():
            model = compiled(network(start), metrics=["accuracy"])
        begun(model, start)
        # --- fit
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        return told(history), model.get_weights()


def evaluate_mirrored(data, start, batch_size):
    """Evaluates a model on two devices, then predicts.

    Args:
        data, start: as for `fit_mirrored`.
        batch_size: rows of a batch of both devices, a divisor of n.

    Returns:
        ([loss, accuracy] as float32 numbers, [n, classes] probabilities).

    Raises:
        ValueError: n is not a multiple of `batch_size`.
    """
    # --- build
    with tf.Graph().as_default():
        with mirrored().scope():
            model = compiled(network(start), metrics=["accuracy"])
        begun(model, start)
        # --- evaluate
        scores = model.evaluate(*data, batch_size=batch_size, verbose=0)
        return np.float32(scores), model.predict(data[0], batch_size=batch_size)


def own_loop(data, start, batch_size, reduction="sum"):
    """Trains in a custom loop on two devices; divides losses by the global batch size.

    Args:
        data, start: as for `fit_on_towers`; n is a multiple of `batch_size`.
        batch_size: rows of a batch of both devices, even.
        reduction: reduction of the loss, "sum" or "none".

    Returns:
        ([n / batch_size] float32 losses, list of the weights).

    Raises:
        ValueError: another reduction, which would divide by the rows of a device.
    """
    # --- build
    with tf.Graph().as_default():
        strategy = mirrored()
        with strategy.scope():
            model = begun(network(start), start)
            optimizer = tf.keras.optimizers.SGD(lr=0.25)
            loss_of = tf.keras.losses.SparseCategoricalCrossentropy(reduction=reduction)
            dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
            batches = strategy.experimental_distribute_dataset(dataset)
            iterator = batches.make_initializable_iterator()

            # --- step
            def step(x, y):
                loss = tf.reduce_sum(loss_of(y, model(x))) / batch_size
                gradients = optimizer.get_gradients(loss, model.trainable_weights)
                pairs = list(zip(gradients, model.trainable_weights))
                with tf.control_dependencies([optimizer.apply_gradients(pairs)]):
                    return tf.identity(loss)

            losses = strategy.experimental_run_v2(step, iterator.get_next())
            loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            # --- train
            sess = K.get_session()
            sess.run(iterator.initializer)
            told = [sess.run(loss) for _ in range(len(data[0]) // batch_size)]
            return np.float32(told), model.get_weights()


def normalize_mirrored(data, weights, steps, batch_size):
    """Trains batch norm with `MirroredStrategy`: each device has its own statistics.

    Args:
        data, weights: as for `normalize_on_towers`.
        steps: epochs to fit.
        batch_size: rows of a batch of both devices, an even divisor of n.

    Returns:
        ([steps] float32 losses, list of the weights, with mean and variance).
    """
    # --- build
    with tf.Graph().as_default():
        with mirrored().scope():
            model = compiled(normalizer(weights), 0.0625, "mse")
        begun(model, weights)
        # --- fit
        options = {"batch_size": batch_size, "epochs": steps, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        return told(history)["loss"], model.get_weights()


class SyncBatchNormalization(tf.keras.layers.BatchNormalization):
    """Normalizes by the mean and the variance over all devices."""

    def _moments(self, inputs, reduction_axes, keep_dims):
        context = tf.distribute.get_replica_context()
        if context is None:  # the model is being built
            return tf.nn.moments(inputs, reduction_axes, keep_dims=keep_dims)
        share = 1.0 / context.num_replicas_in_sync
        mean = tf.reduce_mean(inputs, reduction_axes, keepdims=keep_dims)
        square = tf.reduce_mean(tf.square(inputs), reduction_axes, keepdims=keep_dims)
        total = tf.distribute.ReduceOp.SUM
        mean, square = [context.all_reduce(total, v * share) for v in (mean, square)]
        return mean, square - tf.square(mean)


def normalize_in_sync(data, weights, steps, batch_size):
    """Trains batch normalization with the statistics of the global batch.

    Args:
        data, weights, steps, batch_size: as for `normalize_mirrored`.

    Returns:
        ([steps] float32 losses, list of the weights, with mean and variance).
    """
    # --- build
    with tf.Graph().as_default():
        with mirrored().scope():
            model = normalizer(weights, SyncBatchNormalization)
            compiled(model, 0.0625, "mse")
        begun(model, weights)
        # --- fit
        options = {"batch_size": batch_size, "epochs": steps, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        return told(history)["loss"], model.get_weights()


def input_fn(data, batch_size, repeat=False):
    """Makes a dataset of batches of the rows, repeated or not."""
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
    return dataset.repeat() if repeat else dataset


def estimator_of(start, model_dir):
    """Makes an estimator from a compiled model; it trains a copy of the model."""
    model = begun(compiled(network(start), metrics=["accuracy"]), start)
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=model_dir)
    return model, estimator


def train_estimator(data, start, batch_size, runs):
    """Trains in one or more runs; each run continues where the last one ended.

    Args:
        data, start: as for `fit_on_towers`.
        batch_size: rows of a batch; the last batch may have fewer.
        runs: list of {"steps": number of steps} or {"max_steps": the last step}; each
            begins with the first row.

    Returns:
        (list of the weights in the last checkpoint, the weights of the model that the
        estimator was made from, the steps taken at the end of each run).
    """
    # --- build
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as model_dir:
        model, estimator = estimator_of(start, model_dir)
        steps = []
        # --- train
        for run in runs:
            estimator.train(lambda: input_fn(data, batch_size, repeat=True), **run)
            steps.append(int(estimator.get_variable_value("global_step")))
        names = [weight.name.split(":")[0] for weight in model.weights]
        trained = [estimator.get_variable_value(name) for name in names]
        return trained, model.get_weights(), steps


def evaluate_estimator(data, eval_data, start, batch_size, steps, eval_steps=None):
    """Trains a model, then evaluates it on other rows.

    Args:
        data, start, batch_size: as for `train_estimator`.
        eval_data: (x, y), like `data`.
        steps: number of training steps.
        eval_steps: number of batches to evaluate, or None for all.

    Returns:
        {"loss", "acc", "global_step"}: float32 numbers and an int. The loss is the mean
        over batches, whatever their sizes; the accuracy is the mean over rows.
    """
    # --- build
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as model_dir:
        _, estimator = estimator_of(start, model_dir)
        # --- train
        estimator.train(lambda: input_fn(data, batch_size, repeat=True), steps=steps)
        # --- evaluate
        return estimator.evaluate(lambda: input_fn(eval_data, batch_size), eval_steps)


def predict_by_estimator(data, x, start, batch_size, steps):
    """Trains a model, then predicts the output of each row.

    Args:
        data, start, batch_size, steps: as for `evaluate_estimator`.
        x: [n, features] float32 array.

    Returns:
        [n, classes] float32 probabilities.
    """
    # --- build
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as model_dir:
        model, estimator = estimator_of(start, model_dir)
        # --- train
        estimator.train(lambda: input_fn(data, batch_size, repeat=True), steps=steps)
        # --- predict
        (name,) = model.output_names
        rows = estimator.predict(
            lambda: tf.data.Dataset.from_tensor_slices((x, x[:, 0])).batch(batch_size)
        )
        return np.stack([row[name] for row in rows])
