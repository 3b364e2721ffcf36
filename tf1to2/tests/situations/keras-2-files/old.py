"""What TensorFlow 1.15.5 ran to write the .h5 files, model.keras and data.npz."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.set_random_seed(1)
rng = np.random.RandomState(0)
X, Y = rng.randn(32, 4).astype("float32"), rng.randint(0, 3, 32)
np.savez("data.npz", X=X, Y=Y)

model = tf.keras.Sequential(
    [
        layers.Dense(8, activation="relu", input_shape=[4], name="hidden"),
        layers.BatchNormalization(name="norm"),
        layers.Dense(3, activation="softmax", name="out"),
    ]
)
model.compile(
    tf.keras.optimizers.Adam(0.01),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(X, Y, batch_size=32, epochs=20, shuffle=False, verbose=0)
model.save("old.h5")
model.save("model.keras")
model.save_weights("weights.h5")
print(model.predict(X)[0])
print(
    model.fit(X, Y, batch_size=32, epochs=3, shuffle=False, verbose=0).history["loss"]
)

tf.keras.backend.clear_session()


class Scale(layers.Layer):
    def __init__(self, by=1.0, **kw):
        super().__init__(**kw)
        self.by = by

    def build(self, shape):
        self.w = self.add_weight("w", [int(shape[-1])], initializer="ones")

    def call(self, x):
        return x * self.w * self.by

    def get_config(self):
        return dict(super().get_config(), by=self.by)


def swish(x):
    return x * tf.sigmoid(x)


model = tf.keras.Sequential(
    [layers.Dense(8, activation=swish, input_shape=[4]), Scale(2.0), layers.Dense(1)]
)
model.compile("sgd", "mse")
model.fit(X, X[:, :1], epochs=1, verbose=0)
model.save("custom.h5")
print(model.predict(X)[:2, 0])
