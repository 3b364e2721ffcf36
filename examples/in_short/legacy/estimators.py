"""An Estimator: trained, evaluated, asked."""

import tempfile

import tensorflow as tf
from same_weights import same_weights


def estimators(rows, targets):
    with same_weights(), tempfile.TemporaryDirectory() as folder:
        # [in short
        def input_fn():
            dataset = tf.data.Dataset.from_tensor_slices(({"x": rows}, targets))
            return dataset.batch(2).repeat(2)

        def model_fn(features, labels, mode, params):
            w = tf.get_variable("w", [3, 1])
            guess = tf.matmul(features["x"], w)
            if mode == tf.estimator.ModeKeys.PREDICT:
                return tf.estimator.EstimatorSpec(mode, {"guess": guess})
            loss = tf.losses.mean_squared_error(labels, guess)
            optimizer = tf.train.GradientDescentOptimizer(params["rate"])
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        estimator = tf.estimator.Estimator(model_fn, folder, params={"rate": 0.1})
        estimator.train(input_fn)
        loss = estimator.evaluate(input_fn)["loss"]
        guesses = [row["guess"] for row in estimator.predict(input_fn)]
        # in short]
    return loss, guesses
