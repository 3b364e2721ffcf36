"""`tf.Session`, `tf.placeholder`, `feed_dict` → a function and its arguments."""

import keras
import numpy as np
import tensorflow as tf

from v2_keras.optimizers import adam

__all__ = [
    "fit_polynomial",
]


class Losses(keras.callbacks.Callback):
    """Appends the loss of each step to `losses`; Keras logs the epoch's running mean.

    Other callbacks, metrics and `History` are not changed: the sums of the loss metric
    are reset for one step only, and added back after it.

    Attributes:
        losses: list of floats; their values are float32, whatever the model's dtype. A
            second `fit` appends to it.

    Raises:
        ValueError: from `fit`, if `steps_per_execution` is not 1, because Keras then
            logs only the last of several steps; or if the model's own `metrics` do not
            contain the metric of the loss.
    """

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_begin(self, logs=None):
        if self.model.steps_per_execution != 1:
            raise ValueError(
                "steps_per_execution must be 1, to record the loss of each step; for "
                "means, use History"
            )
        if not any(metric.name == "loss" for metric in self.model.metrics):
            raise ValueError("the model has no metric `loss`: pass a loss to `compile`")

    def on_train_batch_begin(self, batch, logs=None):
        # Wraps the train function for one step. If this were in `on_train_batch_end`,
        # callbacks earlier in the list would see the loss of the step, not the mean.
        train_function = self.model.train_function

        def recorded(iterator):
            self.model.train_function = train_function
            if self.due is not recorded:  # another callback raised before the step
                return train_function(iterator)
            return self.record(train_function, iterator)

        self.due = self.model.train_function = recorded

    def record(self, train_function, iterator):
        """Takes a step, records its loss, and returns the logs that Keras returns."""
        mean = next(m for m in self.model.metrics if m.name == "loss")
        sums = [(part, part.numpy()) for part in parts(self.model, mean.variables)]
        mean.reset_state()
        try:
            logs = train_function(iterator)
            self.loss = float(logs["loss"])
        finally:  # also when the data end
            for part, before in sums:
                part.assign_add(before)
        strategy = self.model.distribute_strategy
        loss = strategy.reduce("MEAN", strategy.run(mean.result), axis=None)
        return {**logs, "loss": loss}

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(self.loss)


def parts(model, variables):
    """Returns the `tf.Variable`s of Keras variables, one for each replica of a model.

    If a metric's variable is assigned as a whole, its value is divided among replicas.
    """
    strategy = model.distribute_strategy
    return [
        part
        for variable in variables
        for part in strategy.experimental_local_results(variable.value)
    ]


@keras.saving.register_keras_serializable("v2_keras")
class L2(keras.regularizers.L2):
    """L2 regularization that returns the dtype of `floatx`, as `fit` needs it.

    `keras.regularizers.L2` returns the dtype of the weight, and `fit` cannot add it to
    the losses: a float64 model fails.

    Args:
        l2: float, the weight of the sum of squares.
    """

    def __call__(self, w):
        return keras.ops.cast(super().__call__(w), keras.config.floatx())


def fit_polynomial(x, w, learning_rate=0.1, penalty=0.1):
    """Fits a polynomial to 5 x² + 3 with Adam, one batch of samples per step.

    `l2_loss` is half the sum of squares, here of the errors and of w.

    Raises:
        TypeError: two different dtypes. Keras would cast them silently.
    """
    if x.dtype != w.dtype:
        raise TypeError(
            f"x is {x.dtype.name}, but w is {w.dtype.name}: cast one of them"
        )
    # --- build
    half, dtype = L2(penalty / 2), w.dtype.name
    layer = keras.layers.Dense(1, use_bias=False, kernel_regularizer=half, dtype=dtype)
    model = keras.Sequential([keras.Input([3], dtype=dtype), layer])
    model.set_weights([w])
    squares = keras.losses.MeanSquaredError(reduction="sum", dtype=dtype)
    model.compile(adam(learning_rate), squares, loss_weights=0.5)
    # --- run
    features = np.stack([np.square(x), x, np.ones_like(x)], axis=-1)
    targets = 5 * np.square(x)[..., None] + 3
    steps = tf.data.Dataset.from_tensor_slices((features, targets))
    history = Losses()
    model.fit(steps, shuffle=False, verbose=0, callbacks=[history])
    return model.get_weights()[0], np.array(history.losses, x.dtype)
