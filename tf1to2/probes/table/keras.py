"""tf.keras: what `tf1to2 fix` writes in calls of it."""

from tf1to2.probes import probe

MAKES = "it makes variables"
FLIPPED = "x = np.float32([[0.5, -1.25], [2.0, 0.0]])\n"
MODEL = "model = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer='ones')])\n"
SHARES = "np.float32([[0.25, 0.75]])"


def evaluated(loss):
    """What a loss answers, by its name in `compile`."""
    model = MODEL + f"model.compile('sgd', loss='{loss}')\n"
    return model + f"model.evaluate({SHARES} / 2, {SHARES}, verbose=0)"


PROBES = [
    *(
        probe(
            f"tf.keras.optimizers.{name}",
            f"tf.keras.optimizers.{name}(lr=0.25).get_config()['learning_rate']",
            f"tf.keras.optimizers.{name}(learning_rate=0.25).get_config()['learning_rate']",
            eager=MAKES,
        )
        for name in ("SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam")
    ),
    probe(
        "tf.keras.layers.LeakyReLU",
        "layer = tf.keras.layers.LeakyReLU(alpha=0.25)\nlayer(x)",
        "layer = tf.keras.layers.LeakyReLU(negative_slope=0.25)\nlayer(x)",
        "x = dyadic(4, 5)",
        exact=True,
    ),
    probe(
        "tf.keras.callbacks.ReduceLROnPlateau",
        "tf.keras.callbacks.ReduceLROnPlateau(epsilon=0.25).min_delta",
        "tf.keras.callbacks.ReduceLROnPlateau(min_delta=0.25).min_delta",
    ),
    probe(
        "tf.keras.utils.to_categorical",
        "tf.keras.utils.to_categorical(np.int32([0, 2, 1]), 3)",
        "tf.keras.utils.to_categorical(np.int32([0, 2, 1]), 3).astype('float32')",
        exact=True,
    ),
    probe(
        "tf.keras.layers.Layer.add_weight",
        "layer = tf.keras.layers.Layer()\nlayer.add_weight('w', (2, 3), initializer='ones') + 0.0",
        "layer = tf.keras.layers.Layer()\nlayer.add_weight(name='w', shape=(2, 3), initializer='ones') + 0.0",
        eager=MAKES,
    ),
    probe(
        "tf.keras.Sequential.predict_proba",
        f"{FLIPPED}{MODEL}model.predict_proba(x)",
        f"{FLIPPED}{MODEL}model.predict(x, verbose=0)",
        eager=MAKES,
    ),
    *(
        probe("tf.keras.Model.compile", evaluated(old), evaluated(new), eager=MAKES)
        for old, new in (
            ("logcosh", "log_cosh"),
            ("kullback_leibler_divergence", "kl_divergence"),
        )
    ),
]
