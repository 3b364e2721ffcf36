import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import models_bert as v1
from v2_eager import models_bert as v2
from v2_eager.numerics import norms, restore

PAD, CLS, SEP, MASK, WORDS = 0, 1, 2, 3, 4
LENGTH, PREDICTIONS = 12, 3


def example(random):
    """Draws two sentences: those of a text, or the first ones of two texts.

    There are three texts, each of eight words: four of them are its first sentence.

    Returns:
        list of the seven features of an example.
    """
    text, is_random = random.randint(0, 3), random.randint(0, 2)
    other = (text + random.randint(1, 3)) % 3
    begin = WORDS + 8 * (other if is_random else text) + 4 * (1 - is_random)
    size = random.randint(3, 5)  # the second sentence may lack its last word
    first, second = WORDS + 8 * text + np.arange(4), begin + np.arange(size)
    ids = np.array([CLS, *first, SEP, *second, SEP])
    count = random.randint(1, PREDICTIONS + 1)
    places = np.sort(random.permutation(np.flatnonzero(ids >= WORDS))[:count])
    labels = ids[places]
    ids[places] = MASK
    rest = [0] * (LENGTH - len(ids))
    absent = [0] * (PREDICTIONS - count)
    return [
        [*ids, *rest],
        [*np.ones_like(ids), *rest],
        [0] * 6 + [1] * (size + 1) + rest,
        [*places, *absent],
        [*labels, *absent],
        [1.0] * count + absent,
        is_random,
    ]


def draw(seed, *shape):
    """Draws the features of examples: a list of arrays with these leading sizes."""
    random = np.random.RandomState(seed)
    columns = zip(*[example(random) for _ in range(np.prod(shape))])
    arrays = [np.array(column) for column in columns]
    kinds = ["i", "i", "i", "i", "i", "f", "i"]
    return [x.reshape(*shape, *x.shape[1:]).astype(k) for x, k in zip(arrays, kinds)]


def dense(scope, inputs=8, units=8):
    return {f"{scope}/kernel": [inputs, units], f"{scope}/bias": [units]}


def norm(scope):
    return {f"{scope}/LayerNorm/beta": [8], f"{scope}/LayerNorm/gamma": [8]}


def layer(scope):
    attention = f"{scope}/attention"
    return {
        **dense(f"{attention}/self/query"),
        **dense(f"{attention}/self/key"),
        **dense(f"{attention}/self/value"),
        **dense(f"{attention}/output/dense"),
        **norm(f"{attention}/output"),
        **dense(f"{scope}/intermediate/dense", 8, 32),
        **dense(f"{scope}/output/dense", 32, 8),
        **norm(f"{scope}/output"),
    }


SHAPES = {
    "bert/embeddings/word_embeddings": [30, 8],
    "bert/embeddings/token_type_embeddings": [2, 8],
    "bert/embeddings/position_embeddings": [16, 8],
    **norm("bert/embeddings"),
    **layer("bert/encoder/layer_0"),
    **layer("bert/encoder/layer_1"),
    **dense("bert/pooler/dense"),
    **dense("cls/predictions/transform/dense"),
    **norm("cls/predictions/transform"),
    "cls/predictions/output_bias": [30],
    "cls/seq_relationship/output_weights": [2, 8],
    "cls/seq_relationship/output_bias": [2],
}
ZEROS = {name: np.zeros(s, "f") for name, s in SHAPES.items() if "output_bias" in name}
SLOTS, LATER = {"adam_m": 0.0, "adam_v": 0.0}, {"adam_m": 0.01, "adam_v": 0.0004}
# The gradient of the keys' biases is 0 except for rounding, because a softmax ignores
# what they add. BERT's Adam divides by sqrt(v) + 1e-6: if v were 0, these biases would
# contain only enlarged rounding errors, which no two versions share.
KEYS = {
    f"{name}/{slot}": np.full(SHAPES[name], value, "f")
    for name in SHAPES
    if name.endswith("key/bias")
    for slot, value in LATER.items()
}
START = models.start(SHAPES, SLOTS, global_step=np.int64(0)) | ZEROS | KEYS
MIDDLE = models.start(SHAPES, LATER, global_step=np.int64(6)) | ZEROS
DATA, TEST = draw(0, 10, 8), draw(1, 64)
MODEL = models.Model([DATA], START, CONTRIB)
AFTER = models.Model([DATA], MIDDLE, CONTRIB)

# --- Wrong programs that people write instead of the right page.


class AdamW(v2.BertAdam):
    """Takes the steps of Keras' AdamW, whose slots begin with 0."""

    def __init__(self, learning_rate, decay, exclude):
        super().__init__(learning_rate, decay, exclude)
        self.adamw = tf.keras.optimizers.AdamW(
            lambda: learning_rate, decay, epsilon=1e-6
        )
        self.adamw.exclude_from_weight_decay(var_names=exclude)

    def create_slots(self, variables):
        self.adamw.build(list(variables))
        return super().create_slots(variables)

    def apply_gradients(self, pairs, global_step):
        self.adamw.apply_gradients(list(pairs))
        global_step.assign_add(1)
        moments = zip(self.slots, self.adamw._momentums, self.adamw._velocities)
        for slots, m, v in moments:
            slots["m"].assign(m)
            slots["v"].assign(v)


def train_by_adamw(*args):
    with mock.patch.object(v2, "BertAdam", AdamW):
        return v2.train(*args)


def with_epsilon_of_keras(*args):
    """Normalizes as `keras.layers.LayerNormalization()` does by default."""

    def normalized(x, axes, beta, gamma):
        mean, variance = tf.nn.moments(x, axes, keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)

    with mock.patch.object(norms, "layer_normalized", normalized):
        return v2.evaluate(*args)


def with_gathered_types(*args):
    """Looks token types up, so that their gradient is sparse."""

    def look_up(one_hot, table, _):
        return tf.gather(table, tf.argmax(one_hot, -1))

    with mock.patch.object(tf, "tensordot", look_up):
        return v2.train(*args)


def without_mask(features, checkpoint):
    """Attends to padding, too."""
    ids, mask, *others = features
    return v2.evaluate([ids, np.ones_like(mask), *others], checkpoint)


STRANGE = [np.where(TEST[0] == MASK, 30, TEST[0]), *TEST[1:]]
WRONG = [
    (
        "the epsilon of Keras",
        with_epsilon_of_keras,
        "tf.contrib.layers.layer_norm adds 1e-12 to the variance, Keras adds 1e-3",
    ),
    (
        "no attention mask",
        without_mask,
        "words attend to padding, which has embeddings as words have",
    ),
]
WRONG_STEPS = [
    (
        "token types by tf.gather",
        with_gathered_types,
        "the norm of a sparse gradient does not add the rows of a token type",
    ),
    (
        "by Keras' AdamW",
        train_by_adamw,
        "AdamW corrects the bias of its averages, BERT's optimizer did not",
    ),
]
CASES = [
    *MODEL.cases(evaluate=[TEST], export=[TEST[:3]]),
    Program("train", "initial values", [DATA, 0], exact=True, skip=CONTRIB),
    AFTER.train(10, "from step 6, over the end of the warm-up"),
    *(
        MODEL.case(
            "evaluate",
            slug,
            [TEST, START],
            FalseFriend,
            of="program",
            naive=naive,
            because=because,
        )
        for slug, naive, because in WRONG
    ),
    *(
        MODEL.train(10, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG_STEPS
    ),
    MODEL.case(
        "evaluate",
        "a word outside of the vocabulary",
        [STRANGE, START],
        Raises,
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=r"30 is not in \[0, 30\)",
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsBertTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class UseTest(unittest.TestCase):
    """Runs the steps that follow a port."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "start.ckpt")
        restore.save(self.path, START)

    def test_training_lowers_both_losses(self):
        v2.train(DATA, 100, self.path, self.folder)
        path = os.path.join(self.folder, "model.ckpt")
        before, after = (v2.evaluate(TEST, p) for p in (self.path, path))
        for loss in ("masked_lm_loss", "next_sentence_loss"):
            self.assertLess(after[loss], before[loss])
        labels = TEST[4][TEST[5] > 0]
        most_frequent = np.bincount(labels).max() / len(labels)
        self.assertGreater(after["masked_lm_accuracy"], 1.5 * most_frequent)
        self.assertGreater(after["next_sentence_accuracy"], 0.9)

    def test_without_slots_the_biases_of_the_keys_stay_near_zero(self):
        restore.save(self.path, START | {n: 0 * value for n, value in KEYS.items()})
        v2.train(DATA, 10, self.path, self.folder)
        path = os.path.join(self.folder, "model.ckpt")
        self.assertEqual(dict(tf.train.list_variables(path)).keys(), START.keys())
        name = "bert/encoder/layer_0/attention/self/key/bias"
        bias = tf.train.load_variable(path, name)
        self.assertLess(np.abs(bias).max(), 1e-4)

    def test_a_label_outside_of_the_vocabulary_is_refused(self):
        """In TensorFlow 1 its row of `tf.one_hot` was zero, and so was its loss."""
        *others, label_ids, weights, following = TEST
        padded = np.where(weights == 0, -1, label_ids).astype("i")
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "label value of -1"
        ):
            v2.evaluate([*others, padded, weights, following], self.path)

    def test_a_step_has_one_trace(self):
        trainer = v2.Trainer("float32")
        for step in range(3):
            trainer.step(*[tf.constant(x[step]) for x in DATA])
        self.assertEqual(trainer.step.experimental_get_tracing_count(), 1)
