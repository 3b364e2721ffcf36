"""An Estimator: trains, evaluates, predicts."""

import tempfile

import numpy as np
import tensorflow as tf
from legacy_numerics import GradientDescent, glorot_uniform, mean_squared_error
from same_weights import same_weights


def estimators(rows, targets):
    with same_weights(), tempfile.TemporaryDirectory() as folder:
        # [in short
        dataset = tf.data.Dataset.from_tensor_slices((rows, targets)).batch(2).repeat(2)
        w = tf.Variable(glorot_uniform()([3, 1]), name="w")
        step = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
        optimizer = GradientDescent(0.1)

        @tf.function
        def predict(x):
            return tf.matmul(x, w)

        @tf.function
        def compute_loss(x, y):
            return mean_squared_error(y, predict(x))

        @tf.function
        def train_step(x, y):
            optimizer.minimize(lambda: compute_loss(x, y), [w], step)

        for x, y in dataset:
            train_step(x, y)
        tf.train.Checkpoint(w=w, step=step).save(f"{folder}/model.ckpt")
        loss = np.mean([compute_loss(x, y) for x, y in dataset])
        guesses = [row for x, _ in dataset for row in predict(x).numpy()]
        # in short]
    return loss, guesses
