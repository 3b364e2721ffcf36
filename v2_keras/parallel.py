"""`tf.device`, `tf.colocate_with`, towers → `tf.device`, `MirroredStrategy`."""

import keras
import numpy as np
import tensorflow as tf

from v2_eager.parallel import device, mirrored, processors
from v2_keras.basics import Losses
from v2_keras.optimizers import adam, squares

__all__ = [
    "fit",
    "fit_towers",
]


def make_model(w, optimizer):
    """Makes a polynomial with the coefficients w; in a scope, a copy on each device."""
    dtype = w.dtype.name
    dense = keras.layers.Dense(1, use_bias=False, dtype=dtype)
    model = keras.Sequential([keras.Input([3], dtype=dtype), dense])
    model.set_weights([w])
    model.compile(optimizer, squares(dtype))
    return model


def fitted(model, x, y):
    """Fits the model, one batch per step; returns the coefficients and the losses."""
    features = np.stack([np.square(x), x, np.ones_like(x)], axis=-1)
    batches = tf.data.Dataset.from_tensor_slices((features, y[..., np.newaxis]))
    history = Losses()
    model.fit(batches, shuffle=False, verbose=0, callbacks=[history])
    return model.get_weights()[0], np.array(history.losses, x.dtype)


def fit(x, y, w, num_devices, learning_rate=0.1):
    """Fits a polynomial with Adam; each batch is split over several devices.

    Create the model and the optimizer in the scope; `fit` does the rest.
    """
    if x.shape[1] % num_devices:
        raise ValueError(
            f"{x.shape[1]} rows cannot be divided evenly among {num_devices} devices"
        )
    processors(2)
    # --- build
    strategy = tf.distribute.MirroredStrategy(
        [device(i).to_string() for i in range(num_devices)],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )
    with strategy.scope():
        model = make_model(w, adam(learning_rate))
    # --- run
    return fitted(model, x, y)


def fit_towers(x, y, w, learning_rate=0.0625):
    """Fits a polynomial by gradient descent; averages gradients over two devices.

    `fit` divides the loss of each device by the number of devices, and sums the
    gradients. For batches of odd size the result is not the gradient of the mean.
    """
    # --- build
    strategy = mirrored()
    with strategy.scope():
        model = make_model(w, keras.optimizers.SGD(learning_rate))
    # --- run
    return fitted(model, x, y)
