"""The same in Keras, from the same weights: python with_keras.py --epochs 100"""

import numpy as np
import tensorflow as tf
import train
from absl import app
from points import draw, report

RATE, MOMENTUM = 0.2, 0.9


def make_model():
    l2 = tf.keras.regularizers.L2(0.0005)  # l2_loss has a factor 1/2, Keras does not
    return tf.keras.Sequential(
        [
            tf.keras.Input([2]),
            tf.keras.layers.Dense(8, "elu"),
            tf.keras.layers.Dense(2, kernel_regularizer=l2),
        ]
    )


def fit(epochs, restore=None):
    tf.random.set_seed(7)
    model, optimizer = make_model(), tf.keras.optimizers.SGD(RATE, MOMENTUM)
    model.set_weights([v.numpy() for v in train.Net().names().values()])
    optimizer.build(model.trainable_variables)
    first = fill(model, optimizer, restore) // 4 if restore else 0
    error = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, error)
    losses = []
    for epoch in range(first, first + epochs):
        history = model.fit(train.batches(epoch), shuffle=False, verbose=0)
        losses.append(np.float32(history.history["loss"][0]))
    points, labels = draw()
    accuracy = train.accuracy_of(model(points), labels).numpy()
    return {"losses": losses, "accuracy": accuracy}


def fill(model, optimizer, path):
    """Reads an old checkpoint; its step. Keras' slot has the rate in it."""
    reader = tf.train.load_checkpoint(path)
    names = list(train.Net().names())
    model.set_weights([reader.get_tensor(name) for name in names])
    for name, slot in zip(names, optimizer.momentums):
        slot.assign(-RATE * reader.get_tensor(name + "/Momentum"))
    return int(reader.get_tensor("global_step"))


def main(_):
    report(fit(train.FLAGS.epochs, train.FLAGS.restore))


if __name__ == "__main__":
    app.run(main)
