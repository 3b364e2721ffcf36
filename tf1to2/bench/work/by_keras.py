"""The programs in Keras 3: compiled models, and Keras models in a custom step."""

import keras
import numpy as np
import tensorflow as tf

from tf1to2.bench.work import inputs as batches_of
from tf1to2.bench.work.native import endless

PER_EXECUTION = 32
# Layers with given weights: Dense(units, activation), and the others below.
layers = keras.layers


def affine(inputs):
    return calls(inputs, _affine)


def predict(inputs):
    return calls(inputs, _perceptron)


def mlp(inputs):
    return training(inputs, _perceptron, lambda: keras.optimizers.Adam(0.001))


def convnet(inputs):
    return training(inputs, _convolutions, lambda: keras.optimizers.SGD(0.01, 0.9))


def lstm(inputs):
    return training(inputs, _recurrent, lambda: keras.optimizers.Adam(0.001))


def embedding(inputs):
    return training(inputs, _words, lambda: keras.optimizers.Adagrad(0.1, epsilon=0))


def _affine(start):
    return _model([_dense(start, "", "relu")], [32])


def _perceptron(start):
    last = len(start) // 2 - 1
    hidden = [_dense(start, number, "relu") for number in range(last)]
    return _model([*hidden, _dense(start, last)], [64])


def _convolutions(start):
    stack = []
    for name in ("conv0", "conv1"):
        stack += [
            layers.Conv2D(
                start[name].shape[-1],
                start[name].shape[0],
                padding="same",
                use_bias=False,
                kernel_initializer=_constant(start[name]),
            ),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
        ]
    return _model([*stack, layers.Flatten(), _dense(start)], [28, 28, 1])


def _recurrent(start):
    # TensorFlow 1 has the gates i, j, f, o; Keras has i, f, c, o, and 1 in the bias.
    i, j, f, o = np.split(start["lstm_kernel"], 4, axis=1)
    kernel = np.concatenate([i, f, j, o], axis=1)
    cell = layers.LSTM(
        64,
        kernel_initializer=_constant(kernel[:16]),
        recurrent_initializer=_constant(kernel[16:]),
    )
    return _model([cell, _dense(start)], [None, 16])


def _words(start):
    table = layers.Embedding(10000, 64, _constant(start["table"]))
    return _model([table, layers.GlobalAveragePooling1D(), _dense(start)], [10])


def _model(stack, shape):
    model = keras.Sequential([keras.Input(shape), *stack])
    assert model.built
    return model


def _dense(start, number="", activation=None):
    kernel, bias = start[f"kernel{number}"], start[f"bias{number}"]
    return layers.Dense(
        len(bias),
        activation,
        kernel_initializer=_constant(kernel),
        bias_initializer=_constant(bias),
    )


def _constant(array):
    return lambda shape, dtype=None: tf.reshape(tf.constant(array, dtype), shape)


def training(inputs, make_model, make_optimizer):
    def compiled(**options):
        model = make_model(inputs.start)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(make_optimizer(), loss, **options)
        return model

    def fit(**options):
        model, dataset = compiled(**options), endless(inputs)

        def run(steps):
            # A whole number of executions, as in an epoch.
            per = options.get("steps_per_execution", 1)
            count = -(-steps // per) * per
            history = model.fit(dataset, steps_per_epoch=count, verbose=0)
            return history.history["loss"][-1]

        return run

    def train_on_batch():
        model, batches = compiled(), batches_of.cycle(inputs)

        def run(steps):
            for x, labels in batches(steps):
                loss = model.train_on_batch(x, labels)
            return loss

        return run

    def step_of_ones_own():
        model, optimizer = make_model(inputs.start), make_optimizer()
        compute = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        batches = batches_of.cycle(inputs, tf.constant)

        @tf.function
        def step(x, labels):
            with tf.GradientTape() as tape:
                loss = compute(labels, model(x, training=True))
            variables = model.trainable_variables
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return loss

        def run(steps):
            for batch in batches(steps):
                loss = step(*batch)
            return loss.numpy()

        return run

    return {
        "train_on_batch": train_on_batch,
        "fit": fit,
        "fit, steps_per_execution": lambda: fit(steps_per_execution=PER_EXECUTION),
        "Keras model, own step": step_of_ones_own,
    }


def calls(inputs, make_model):
    def ask(how):
        def make():
            function, batches = how(make_model(inputs.start)), batches_of.cycle(inputs)

            def run(steps):
                for batch in batches(steps):
                    value = np.asarray(function(*batch))
                return value

            return run

        return make

    return {
        "predict": ask(lambda model: lambda x: model.predict(x, verbose=0)),
        "predict_on_batch": ask(lambda model: model.predict_on_batch),
        "Keras model, called": ask(lambda model: model),
        "Keras model, tf.function": ask(tf.function),
    }
