"""`tf.Session`, `tf.placeholder`, `feed_dict` → a function and its arguments."""

import keras
import numpy as np
import tensorflow as tf

from v2_keras.optimizers import adam

__all__ = [
    "fit_polynomial",
]


class Losses(keras.callbacks.Callback):
    """The loss of every step: what `fit` logs is the mean since the last reset.

    It is float32 whatever the model is. Other metrics are means of the epoch.
    """

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_batch_begin(self, batch, logs=None):
        (loss,) = (m for m in self.model.metrics if m.name == "loss")
        loss.reset_state()

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])


@keras.saving.register_keras_serializable("v2_keras")
class L2(keras.regularizers.L2):
    """The penalty in float32, in which `fit` adds losses up."""

    def __call__(self, w):
        return keras.ops.cast(super().__call__(w), "float32")


def fit_polynomial(x, w, learning_rate=0.1, penalty=0.1):
    """Fits a polynomial to 5 x² + 3 by Adam, one batch of samples per step.

    Half the sum of the squares is what `l2_loss` was: of the errors, and of w.

    Raises:
        TypeError: two dtypes, which Keras would cast.
    """
    if x.dtype != w.dtype:
        raise TypeError(f"samples of {x.dtype.name}, and w of {w.dtype.name}: cast one")
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
