import functools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_maml as v1
from v2_eager import models_maml as v2
from v2_eager.numerics import optimizers


def sinusoids(seed, *shape):
    """Draws points of sinusoids of random amplitudes and phases.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of tasks in each.

    Returns:
        [inputs, labels], float32 arrays [*shape, 10, 1].
    """
    random = np.random.RandomState(seed)
    amplitude = random.uniform(0.1, 5.0, [*shape, 1, 1])
    phase = random.uniform(0, np.pi, [*shape, 1, 1])
    inputs = random.uniform(-5.0, 5.0, [*shape, 10, 1])
    labels = amplitude * np.sin(inputs - phase)
    return [array.astype("f") for array in (inputs, labels)]


SHAPES = {
    "model/w1": [1, 16],
    "model/b1": [16],
    "model/w2": [16, 16],
    "model/b2": [16],
    "model/w3": [16, 1],
    "model/b3": [1],
}
DATA, TEST = sinusoids(0, 6, 4), sinusoids(1, 8)
POINTS = TEST[0][0, :5], TEST[1][0, :5], TEST[0][0]
# The names of the biases are no words that `start` knows.
BIASES = {name: np.zeros(shape, "f") for name, shape in SHAPES.items() if "/b" in name}
START = models.start(SHAPES, models.ADAM, **models.POWERS, global_step=np.int64(0))
START.update(BIASES)
MODEL = models.Model(DATA, START)
FIRST_ORDER = models.Model(DATA, START, options={"stop_grad": True})

# Ten times the amplitude: the gradients are clipped.
LARGE = models.Model([DATA[0], 10 * DATA[1]], START)

# --- Wrong programs that people write instead of the right page.


def tasks_of(inputs, labels):
    """Returns a list of (inputa, labela, inputb, labelb), one for each task."""
    parts = [tf.split(points, [5, 5], 1) for points in (inputs, labels)]
    (inputa, inputb), (labela, labelb) = parts
    return list(zip(*map(tf.unstack, (inputa, labela, inputb, labelb))))


def loss_of(weights, points, labels):
    return v2.mse(v2.forward(points, weights), labels)


def assign_in_the_tape(trainer, inputs, labels):
    """Adapts the variables themselves, and sets them back after each task."""
    weights, lossesa, lossesb = trainer.model.weights, [], []
    with tf.GradientTape() as outer:
        for inputa, labela, inputb, labelb in tasks_of(inputs, labels):
            start = {key: tf.identity(w) for key, w in weights.items()}
            for _ in range(v2.NUM_UPDATES):
                with tf.GradientTape() as inner:
                    lossesa.append(loss_of(weights, inputa, labela))
                gradients = inner.gradient(lossesa[-1], weights)
                for key, w in weights.items():
                    w.assign_sub(v2.UPDATE_LR * gradients[key])
            lossesb.append(loss_of(weights, inputb, labelb))
            for key, w in weights.items():
                w.assign(start[key])
        loss = tf.reduce_mean(lossesb)
    return descend(trainer, outer, lossesa, loss)


def leave_the_tape(trainer, inputs, labels):
    """Computes the inner gradients outside of the only, persistent tape."""
    lossesa, lossesb = [], []
    tape = tf.GradientTape(persistent=True)
    for inputa, labela, inputb, labelb in tasks_of(inputs, labels):
        weights = trainer.model.weights
        for _ in range(v2.NUM_UPDATES):
            with tape:
                lossesa.append(loss_of(weights, inputa, labela))
            gradients = tape.gradient(lossesa[-1], weights)
            with tape:
                weights = {
                    k: w - v2.UPDATE_LR * gradients[k] for k, w in weights.items()
                }
        with tape:
            lossesb.append(loss_of(weights, inputb, labelb))
    with tape:
        loss = tf.reduce_mean(lossesb)
    return descend(trainer, tape, lossesa, loss)


def descend(trainer, tape, lossesa, loss):
    variables = trainer.model.trainable_variables
    gradients = [tf.clip_by_value(g, -10, 10) for g in tape.gradient(loss, variables)]
    trainer.adam.apply_gradients(zip(gradients, variables), trainer.global_step)
    return tf.reduce_mean(lossesa[:: v2.NUM_UPDATES]), loss


def step_for_each_task(trainer, inputs, labels):
    """Takes a step of Adam after each task, as a loop in Python suggests."""
    rows, step = [], trainer.global_step + 1
    for i in range(len(inputs)):
        rows.append(TAKE_STEP(trainer, inputs[i : i + 1], labels[i : i + 1]))
    trainer.global_step.assign(step)
    return [tf.reduce_mean(losses) for losses in zip(*rows)]


TAKE_STEP = v2.Trainer.step.python_function


def train_with(owner, name, replacement):
    """Returns a `train` in which an attribute of a module or a class is replaced."""

    def train(*args):
        with mock.patch.object(owner, name, replacement):
            return v2.train(*args)

    return train


WRONG = [
    (
        "assign_sub in the tape",
        train_with(v2.Trainer, "step", tf.function(assign_in_the_tape)),
        "an assignment has no gradient, so that the second derivatives are missing",
    ),
    (
        "a persistent tape",
        train_with(v2.Trainer, "step", tf.function(leave_the_tape)),
        "the tape does not record gradients that are computed outside of it",
    ),
    (
        "a step for each task",
        train_with(v2.Trainer, "step", tf.function(step_for_each_task)),
        "the step is that of the mean over all tasks",
    ),
    (
        "Keras' epsilon",
        train_with(
            optimizers, "Adam", functools.partial(optimizers.Adam, epsilon=1e-7)
        ),
        "Adam's epsilon is 1e-8 in TensorFlow 1, and 1e-7 in Keras",
    ),
]
CASES = [
    *MODEL.cases(evaluate=TEST, export=POINTS),
    Program("train", "initial values", [*DATA, 0], exact=True),
    FIRST_ORDER.train(10, "first order"),
    LARGE.train(5, "clipped"),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsMamlTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
