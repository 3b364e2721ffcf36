"""The programs in TensorFlow 2 without Keras, with `numerics` of this reference."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from tf1to2.bench.work import inputs as batches_of
from v2_eager import cookbook
from v2_eager.numerics import batch_norms, optimizers
from v2_eager.numerics.rnn import BasicLSTMCell, unroll


class Model(tf.Module):
    """A model's variables, by their names; the subclasses compute with them."""

    def __init__(self, start):
        super().__init__()
        self.weights = {name: tf.Variable(v, name=name) for name, v in start.items()}

    def dense(self, x, number=""):
        kernel, bias = (self.weights[f"{name}{number}"] for name in ("kernel", "bias"))
        return tf.matmul(x, kernel) + bias


class Affine(Model):
    def __call__(self, x):
        return tf.nn.relu(self.dense(x))


class Perceptron(Model):
    def __call__(self, x):
        layers = len(self.weights) // 2
        for number in range(layers - 1):
            x = tf.nn.relu(self.dense(x, number))
        return self.dense(x, layers - 1)


class Convolutions(Model):
    def __init__(self, start):
        super().__init__(start)
        self.norms = [batch_norms.BatchNorm(), batch_norms.BatchNorm()]

    def __call__(self, x):
        for name, norm in zip(("conv0", "conv1"), self.norms, strict=True):
            x = tf.nn.conv2d(x, self.weights[name], 1, "SAME")
            x = tf.nn.max_pool2d(tf.nn.relu(norm(x, training=True)), 2, 2, "VALID")
        return self.dense(tf.reshape(x, [tf.shape(x)[0], 7 * 7 * 32]))


class Recurrent(Model):
    def __init__(self, start):
        super().__init__({name: start[name] for name in ("kernel", "bias")})
        kernel = start["lstm_kernel"]
        self.cell = BasicLSTMCell(64, initializer=lambda *_, **__: tf.constant(kernel))

    def __call__(self, x):
        return self.dense(unroll(self.cell, x)[0][:, -1])


class Words(Model):
    def __call__(self, words):
        rows = tf.nn.embedding_lookup(self.weights["table"], words)
        return self.dense(tf.reduce_mean(rows, axis=1))


class Search(Model):
    def __call__(self, state):
        return cookbook.beam_search_loop(self.weights, state, tf.constant(16), 4)[0]


def affine(inputs):
    return calls(inputs, Affine)


def predict(inputs):
    return calls(inputs, Perceptron)


def beam_search(inputs):
    return calls(inputs, Search)


def mlp(inputs):
    return training(inputs, Perceptron, lambda: optimizers.Adam(0.001))


def convnet(inputs):
    return training(inputs, Convolutions, lambda: optimizers.Momentum(0.01, 0.9))


def lstm(inputs):
    return training(inputs, Recurrent, lambda: optimizers.Adam(0.001))


def embedding(inputs):
    return training(inputs, Words, lambda: optimizers.Adagrad(0.1))


def records(inputs):
    path = os.path.join(tempfile.mkdtemp(), "rows.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for x, label in zip(*inputs.arrays, strict=True):
            floats = tf.train.Feature(float_list=tf.train.FloatList(value=x))
            number = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
            features = tf.train.Features(feature={"x": floats, "label": number})
            writer.write(tf.train.Example(features=features).SerializeToString())
    features = {
        "x": tf.io.FixedLenFeature([64], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def by_rows():
        return read(lambda row: tf.io.parse_single_example(row, features), None)

    def by_batches():
        return read(None, lambda rows: tf.io.parse_example(rows, features))

    def read(of_row, of_batch):
        dataset = tf.data.TFRecordDataset(path).shuffle(1000, seed=1).repeat()
        if of_row:
            dataset = dataset.map(of_row, tf.data.AUTOTUNE)
        dataset = dataset.batch(inputs.batch)
        if of_batch:
            dataset = dataset.map(of_batch, tf.data.AUTOTUNE)
        iterator = iter(dataset.prefetch(tf.data.AUTOTUNE))

        def run(steps):
            for _ in range(steps):
                value = next(iterator)
            return value["x"].numpy().sum()

        return run

    return {"dataset": by_rows, "dataset, parsed by batch": by_batches}


def training(inputs, make_model, make_optimizer):
    """The forms of a training program; `make_model` takes the initial weights."""

    def make_step():
        model, optimizer = make_model(inputs.start), make_optimizer()

        def step(x, labels):
            with tf.GradientTape() as tape:
                logits = model(x)
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                )
            variables = model.trainable_variables
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables, strict=True))
            return loss

        return step

    return {**forms(inputs, make_step), "loop": lambda: loop(inputs, make_step())}


def calls(inputs, make_model):
    """The forms of a prediction."""
    return forms(inputs, lambda: make_model(inputs.start).__call__)


def forms(inputs, make_step):
    """Returns {form: function that makes the form}; each form makes a new step."""

    def numpy():
        step, batches = tf.function(make_step()), batches_of.cycle(inputs)

        def run(steps):
            for batch in batches(steps):
                value = step(*batch).numpy()
            return value

        return run

    def concrete_numpy():
        step, batches = concrete(inputs, make_step()), batches_of.cycle(inputs)

        def run(steps):
            for batch in batches(steps):
                value = step(*map(tf.constant, batch)).numpy()
            return value

        return run

    def on_tensors(step):
        batches = batches_of.cycle(inputs, tf.constant)

        def run(steps):
            for batch in batches(steps):
                value = step(*batch)
            return value.numpy()

        return run

    def dataset():
        step, iterator = tf.function(make_step()), iter(endless(inputs))

        def run(steps):
            for _ in range(steps):
                value = step(*next(iterator))
            return value.numpy()

        return run

    return {
        "tf.function, NumPy": numpy,
        "concrete, NumPy": concrete_numpy,
        "eager": lambda: on_tensors(make_step()),
        "tf.function": lambda: on_tensors(tf.function(make_step())),
        "concrete": lambda: on_tensors(concrete(inputs, make_step())),
        "XLA": lambda: on_tensors(tf.function(make_step(), jit_compile=True)),
        "dataset": dataset,
    }


def concrete(inputs, step):
    """The concrete function of a step, with an unknown batch size."""
    signature = [
        tf.TensorSpec((None, *array.shape[1:]), array.dtype) for array in inputs.arrays
    ]
    return tf.function(step).get_concrete_function(*signature)


def loop(inputs, step):
    """Makes a function that runs a number of steps on a dataset in a single call."""
    iterator = iter(endless(inputs))

    @tf.function
    def take(steps):
        loss = tf.constant(np.float32(0))
        for _ in tf.range(steps):
            loss = step(*next(iterator))
        return loss

    return lambda steps: take(tf.constant(steps)).numpy()


def endless(inputs):
    dataset = tf.data.Dataset.from_tensor_slices(inputs.arrays)
    return dataset.batch(inputs.batch).cache().repeat().prefetch(tf.data.AUTOTUNE)
