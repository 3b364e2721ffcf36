import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, friend, layer
from tf1to2.parity import FalseFriend, Op, Program, Raises
from tf1to2.parity.arrays import normal
from v1_graph import contrib_framework as v1
from v2_eager import contrib_framework as v2

NO_FUNCTION = {**CONTRIB, "function": "it computes nothing that is worth one"}


def checkpoint(seed, step):
    random = np.random.RandomState(seed)
    return {
        "body/kernel": random.normal(0, 0.1, [64, 16]).astype("f"),
        "body/bias": random.normal(0, 0.1, [16]).astype("f"),
        "global_step": np.int64(step),
    }


def blobs(seed=0, rows=1031):
    """Returns rows around three centers, and the first three rows as centers."""
    random = np.random.RandomState(seed)
    middles = random.normal(0, 3, [3, 2])
    x = random.normal(middles[random.randint(0, 3, rows)]).astype("f")
    return [x, x[:3]]


def batch(rows, seed=0):
    random = np.random.RandomState(seed)
    return {
        "image": random.normal(size=[rows, 3, 2]).astype("f"),
        "poses": [random.normal(size=[rows, 4]).astype("f"), np.arange(rows)],
    }


CHECKPOINTS = [checkpoint(seed, 1000 * seed) for seed in range(5)]
X = np.random.RandomState(3).normal(1, 2, [67, 5]).astype("f")
COSTS = np.random.RandomState(4).normal(2, 1, [3, 2]).astype("f")
START = checkpoint(7, 0)
del START["global_step"]
START["head/kernel"] = X[:16].copy()

# --- Obvious replacements of contrib, with other numbers.


def in_float32(checkpoints):
    """Averages in the dtype of the variables, not in float64."""
    names = [name for name in checkpoints[0] if name != "global_step"]
    means = {n: np.mean([saved[n] for saved in checkpoints], 0) for n in names}
    return {**means, "global_step": np.int64(0)}


def of_everything(checkpoints):
    """Averages all variables, the global step included."""
    names = checkpoints[0]
    return {
        n: np.mean([saved[n] for saved in checkpoints], 0, "f8").astype(
            checkpoints[0][n].dtype
        )
        for n in names
    }


def with_scopes(tags, values):
    """Writes with `tf.summary.scalar`: the scope is in the tag, the value a tensor."""
    with v2.tempfile.TemporaryDirectory() as directory:
        writer = tf.summary.create_file_writer(directory)
        with writer.as_default(), tf.name_scope("train"):
            for step, row in enumerate(tf.constant(values)):
                for tag, value in zip(tags, row):
                    tf.summary.scalar(tag, value, step)
                tf.summary.scalar("cost (total)", tf.reduce_sum(row), step)
                tf.summary.histogram("costs", row, step)
        writer.close()
        return v2.read_folder(directory)


def with_the_new_mean(decay=0.9, name="centered"):
    """Subtracts the moving mean in training, too."""

    class Late(v2.Centered):
        def __call__(self, x, is_training):
            super().__call__(x, is_training)
            return x - self.moving_mean

    return Late(decay, name)


def kept_in_place(x, centers, steps):
    """Keeps a center that no row is assigned to, in place of 0."""
    found = v2.cluster(x, centers, steps)
    lost = np.setdiff1d(np.arange(len(centers)), found["assigned"])
    found["centers"][lost] = centers[lost]
    return found


def by_signal(samples, rate, window, stride, count=13):
    """Computes spectrogram and MFCCs with `tf.signal`, as its guides do."""
    spectra = tf.abs(tf.signal.stft(tf.transpose(samples), window, stride))
    bins = spectra.shape[-1]
    bands = tf.signal.linear_to_mel_weight_matrix(80, bins, rate, 80.0, 7600.0)
    logs = tf.math.log(tf.matmul(spectra, bands) + 1e-6)
    mfcc = tf.signal.mfccs_from_log_mel_spectrograms(logs)[..., :count]
    return tf.square(spectra), mfcc


def sound(seed, shape):
    """Returns sines with noise, from -1 to 1."""
    random = np.random.RandomState(seed)
    times = np.arange(shape[0])[:, np.newaxis] / 16000
    tones = random.uniform(100, 3000, [5, shape[1]])
    waves = sum(np.sin(2 * np.pi * tone * times) for tone in tones)
    return ((waves + random.normal(size=shape)) / 10).clip(-1, 1).astype("f")


def masked_for_good(x, y, start, steps, spec):
    """Sets the masked weights to 0, as other pruning programs do."""

    class Zeros(v2.Pruning):
        def update(self, global_step):
            super().update(global_step)
            self.kernel.assign(self.mask * self.kernel)

    with mock.patch.object(v2, "Pruning", Zeros):
        return v2.train_pruned(x, y, start, steps, spec)


def line(seed=0, features=40, units=3):
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, features])
    kernel = random.normal(size=[features, units])
    start = {"kernel": random.normal(0, 0.3, [features, units]).astype("f")}
    start["bias"] = np.zeros(units, "f")
    return [x.astype("f"), (x @ kernel).astype("f"), start]


ABOVE = line()
QUICK = {
    "target_sparsity": 0.75,
    "sparsity_function_end_step": 8,
    "pruning_frequency": 2,
}
AT_ONCE = {
    "target_sparsity": 0.999,  # of 120 weights 0.12 are left
    "sparsity_function_end_step": 1,
    "pruning_frequency": 1,
}
SMOOTH = {
    "begin_pruning_step": 3,
    "end_pruning_step": 9,
    "pruning_frequency": 1,
    "initial_sparsity": 0.25,
    "sparsity_function_begin_step": 2,
    "sparsity_function_end_step": 10,
    "sparsity_function_exponent": 1.0,
    "threshold_decay": 0.5,
}
SOUND, SHORT = sound(0, [16000, 1]), sound(1, [4000, 1])
AUDIO = {**CONTRIB, "gradient": "the kernels have none", "xla": "nor do they compile"}
BITS = {"float32": True}
FAR = [blobs(3)[0], np.float32([[0, 0], [2, 2], [99, 99]])]

CASES = [
    Program("average_checkpoints", "the last five", [CHECKPOINTS], skip=NO_FUNCTION),
    FalseFriend(
        "average_checkpoints",
        "means in float32",
        [CHECKPOINTS],
        of="program",
        naive=in_float32,
        because="sums were of float64, which np.zeros makes, and were rounded once",
        float32=True,
        skip=NO_FUNCTION,
    ),
    FalseFriend(
        "average_checkpoints",
        "a mean of the steps",
        [CHECKPOINTS],
        of="program",
        naive=of_everything,
        because="the global step was left out, and begins at 0",
        skip=NO_FUNCTION,
    ),
    Program(
        "restore_model",
        "a body, and a head of its own",
        [CHECKPOINTS[4], START, ["body/kernel", "body/bias"], 3],
        skip=NO_FUNCTION,
    ),
    Program(
        "fetch",
        "numbers and text",
        [X, {"rate": 0.1, "names": ["a", "b"], "units": (32, 10)}],
        skip=NO_FUNCTION,
    ),
    Program(
        "feed_by_specs", "rows that vary", [[batch(67), batch(1031, 1)]], skip=CONTRIB
    ),
    layer("make_centered", "a bool", [normal("b", 5), True]),
    layer("make_centered", "not training", [normal("b", 5), False], {"decay": 0.5}),
    layer("make_centered", "a tensor", [normal("b", 5), np.array(True)]),
    friend(
        "make_centered",
        "the moving mean in training",
        [X, True],
        with_the_new_mean,
        "while training the mean is that of the batch",
    ),
    Program(
        "write_old_summaries",
        "tags of all kinds",
        [["loss/xent", "learning rate"], COSTS],
        exact=True,
        skip=NO_FUNCTION,
    ),
    FalseFriend(
        "write_old_summaries",
        "today's scalar",
        [["loss/xent", "learning rate"], COSTS],
        of="program",
        naive=with_scopes,
        because="tags were as given; today the scope is put before them",
        differs="structure",
        exact=True,
        skip=NO_FUNCTION,
    ),
    Program("cluster", "ten steps", [*blobs(), 10], float32=True, skip=CONTRIB),
    Program("cluster", "angles", [*blobs(1), 10, True], float32=True, skip=CONTRIB),
    Program("cluster", "a center without rows", [*FAR, 1], float32=True, skip=CONTRIB),
    FalseFriend(
        "cluster",
        "a center that stays",
        [*FAR, 1],
        of="program",
        naive=kept_in_place,
        because="a center that no row is near to becomes 0",
        float32=True,
        skip=CONTRIB,
    ),
    Op("speech_features", "of a second", [SOUND, 16000, 480, 160], skip=AUDIO, **BITS),
    Op(
        "speech_features",
        "forty coefficients",
        [SHORT, 8000, 200, 80],
        {"count": 40},
        skip=AUDIO,
        **BITS,
    ),
    FalseFriend(
        "speech_features",
        "coefficients by tf.signal",
        [SOUND, 16000, 480, 160],
        naive=by_signal,
        because="bands, floors and the root of the spectrum are others",
        skip={**AUDIO, **EAGER},
        **BITS,
    ),
    Raises(
        "speech_features",
        "samples without a channel",
        [SOUND[:, 0], 16000, 480, 160],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="must be rank 2 but is rank 1|input must be 2-dimensional",
        skip=AUDIO,
    ),
    Program("train_pruned", "the classic", [*ABOVE, 12, QUICK], **BITS, skip=CONTRIB),
    Program(
        "train_pruned",
        "a smooth threshold, for a while",
        [*ABOVE, 12, SMOOTH],
        **BITS,
        skip=CONTRIB,
    ),
    FalseFriend(
        "train_pruned",
        "weights that become 0",
        [*ABOVE, 12, QUICK],
        of="program",
        naive=masked_for_good,
        because="the weights below a mask stay as they are, and may come back",
        **BITS,
        skip=CONTRIB,
    ),
    Raises.alike(
        "train_pruned",
        "all of the weights",
        [*ABOVE, 1, {"target_sparsity": 1.0}],
        ValueError,
        r"target_sparsity must be in range \[0,1\)",
        of="program",
        skip=CONTRIB,
    ),
    Raises.alike(
        "average_checkpoints",
        "a name that a later one lacks",
        [[CHECKPOINTS[0], {"body/kernel": CHECKPOINTS[1]["body/kernel"]}]],
        tf.errors.NotFoundError,
        "body/bias not found",
        of="program",
        skip=NO_FUNCTION,
    ),
    Raises.alike(
        "restore_model",
        "a name that the checkpoint lacks",
        [CHECKPOINTS[4], START, ["body/kernel", "head/kernel"], 3],
        tf.errors.NotFoundError,
        "head/kernel not found",
        of="program",
        skip=NO_FUNCTION,
    ),
    Raises(
        "feed_by_specs",
        "another shape",
        [[batch(4), {**batch(4), "image": X}]],
        graph=ValueError,
        function=TypeError,
        match="Cannot feed value of shape|Binding inputs",
        of="program",
        skip={**CONTRIB, "eager": "no signature is asked of what runs eagerly"},
    ),
    Raises.alike(
        "write_old_summaries",
        "a value that is none",
        [["a", "b"], np.full([1, 2], np.nan, "f")],
        tf.errors.InvalidArgumentError,
        "Nan in summary histogram",
        of="program",
        skip=NO_FUNCTION,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribFrameworkTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DetailsTest(unittest.TestCase):
    def test_a_weight_is_left(self):
        """1.15.5 raised "indices = -1 is not in [0, 120)", about an internal index."""
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "no weight is left"
        ):
            v2.train_pruned(*ABOVE, 3, AT_ONCE)
        one = v2.train_pruned(*ABOVE, 3, {**AT_ONCE, "target_sparsity": 0.99})
        self.assertEqual(one["variables"]["kernel/mask"].sum(), 1)

    def test_a_scope_may_be_nested(self):
        layer = v2.make_centered(name="tower-1/centered")
        layer(tf.ones([2, 3]), True)
        self.assertEqual(layer.moving_mean.name, "tower-1/centered/moving_mean:0")

    def test_a_variable_is_a_tensor_and_no_instance_of_it(self):
        rows = tf.Variable(3)
        self.assertTrue(tf.is_tensor(rows))
        self.assertNotIsInstance(rows, tf.Tensor)

    def test_sparse_tensors_are_handed_on(self):
        sparse, ragged = tf.sparse.eye(3), tf.ragged.constant([[1], [2, 3]])
        report = v2.fetch(np.ones([4, 3]), {"sparse": sparse, "ragged": ragged})
        self.assertIs(report["settings"]["sparse"], sparse)
        self.assertIs(report["settings"]["ragged"], ragged)

    def test_a_condition_takes_no_bool_of_python(self):
        @tf.function
        def chosen():
            return tf.cond(True, lambda: 1.0, lambda: 2.0)

        with self.assertRaisesRegex(TypeError, "pred must not be a Python bool"):
            chosen()
