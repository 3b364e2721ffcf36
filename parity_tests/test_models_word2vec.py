import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import models_word2vec as v1
from v2_eager import models_word2vec as v2
from v2_eager.numerics import restore

RNG = np.random.RandomState(0)
# By Zipf's law: low ids are frequent. A neighbour has the last digit of its word.
WORDS = (50 ** RNG.uniform(size=[40, 16]) - 1).astype("i4")
CONTEXTS = (WORDS + 10 * RNG.randint(5, size=WORDS.shape)) % 50
CONTEXTS = CONTEXTS.astype("i8")[..., np.newaxis]
VALID, ANALOGIES = np.arange(8), np.array([[0, 10, 3], [1, 21, 7], [5, 2, 45]])
SHAPES = {
    "embeddings/Variable": [50, 8],
    "weights/Variable": [50, 8],
    "biases/Variable": [50],
}
# Training goes on in the middle of the data.
OTHERS = {"global_step": np.int64(35)}
START = models.start(SHAPES, **OTHERS)
SLOTS = models.start(SHAPES, {"Adagrad": 0.1}, **OTHERS)
ADAGRAD = {"loss": "sampled_softmax", "optimizer": "adagrad"}
NCE = models.Model([WORDS, CONTEXTS, np.float32(1.0)], START)
MODEL = models.Model([WORDS, CONTEXTS, np.float32(0.5)], SLOTS, options=ADAGRAD)

# --- Obvious replacements, with other numbers.


def negative_sampling(words, contexts, rate, steps, checkpoint):
    """Uses Mikolov's negative sampling: nothing is subtracted from the logits."""

    def loss(*args, sampled_values):
        candidates, *expected = sampled_values
        ones = [tf.ones_like(counts) for counts in expected]
        return tf.nn.nce_loss(*args, sampled_values=(candidates, *ones))

    with mock.patch.dict(v2.LOSSES, nce=loss):
        return v2.train(words, contexts, rate, steps, checkpoint)


def adagrad_of_keras(words, contexts, rate, steps, checkpoint, loss, optimizer):
    """Uses Keras' Adagrad, which adds the squares of a repeated word's gradients."""
    model = v2.Word2Vec(rate, loss, "sgd")
    variables = restore.named(model)
    restore.by_name(checkpoint, variables)
    trained = list(model.trainable_variables)
    adagrad = tf.keras.optimizers.Adagrad(float(rate), epsilon=1e-7)
    adagrad.build(trained)
    tf.random.set_seed(7)

    @tf.function
    def differentiate(words, contexts):
        with tf.GradientTape() as tape:
            value = model.loss(words, contexts)
        return value, tape.gradient(value, trained)

    losses, first = [], int(model.global_step)
    for step in range(first, first + steps):
        batch = step % len(words)
        value, gradients = differentiate(words[batch], contexts[batch])
        adagrad.apply_gradients(zip(gradients, trained))
        losses.append(value.numpy())
    model.global_step.assign_add(steps)
    values = {name: variable.numpy() for name, variable in variables.items()}
    for variable, slot in zip(trained, adagrad._accumulators):
        values[f"{variable.name[:-2]}/Adagrad"] = slot.numpy()
    return {"losses": np.array(losses), "variables": values}


CASES = [
    *MODEL.cases(evaluate=[VALID, ANALOGIES], export=[np.array([3, 4, 3, 49])]),
    *(
        NCE.train(steps, f"NCE and gradient descent, steps: {steps}")
        for steps in models.STEPS
    ),
    Program("train", "initialized", [WORDS, CONTEXTS, np.float32(1.0), 10]),
    NCE.train(
        10,
        "negative sampling",
        FalseFriend,
        of="program",
        naive=negative_sampling,
        because="nce_loss subtracts the log of the expected counts from the logits",
    ),
    MODEL.train(
        10,
        "Keras' Adagrad",
        FalseFriend,
        of="program",
        naive=adagrad_of_keras,
        because="of a word that is twice in a batch it adds squares, not the sum's one",
    ),
    models.Model(NCE.data, START, options=ADAGRAD).train(
        1,
        "a checkpoint without slots",
        Raises,
        of="program",
        match="Variable/Adagrad not found in checkpoint",
        **dict.fromkeys(["graph", "eager", "function"], tf.errors.NotFoundError),
    ),
]
PROOF = proof(v1, v2, CASES)


class Word2VecTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
