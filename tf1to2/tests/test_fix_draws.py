"""What `tf1to2 fix` writes draws as the old call drew: anew where it drew anew.

Each call with a `seed` is fixed and executed in a graph: twice in one program, in a
function that is called twice, run twice, and shared by two variables; with and without
seeds.
"""

import functools
import itertools
import pathlib
import tempfile
import types
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from tf1to2.catalog import facts
from tf1to2.fix import planning

v1 = tf.compat.v1
HEAD = "import tensorflow as tf\n"
PROGRAM = """
def make():
    return {call}

draws = [make(), make(), {call}]
"""
SHARED = """
init = {call}
shape = [3, 3]

def make(name):
    return tf.get_variable(name, shape, initializer={call})

draws = [tf.get_variable(name, shape, initializer=init) for name in "ab"]
draws += [make("c"), make("d")]
"""
SEED = ", seed=3"
# Of so many values that two draws without a seed are never equal by chance.
SAMPLER = "(tf.constant([[1]], tf.int64), 1, 40, True, 5000{seed})"
CALLS = {
    "tf.multinomial": "([[0.1, 0.4, 0.2, 0.6]], 20{seed})",
    "tf.nn.dropout": "(tf.ones([30]), keep_prob=0.5{seed})",
    "tf.nn.log_uniform_candidate_sampler": SAMPLER,
    "tf.nn.uniform_candidate_sampler": SAMPLER,
    "tf.random.multinomial": "([[0.1, 0.4, 0.2, 0.6]], 20{seed})",
    "tf.random_crop": "(tf.reshape(tf.range(200**3), [200] * 3), [2] * 3{seed})",
    "tf.random_gamma": "([4], 2.0{seed})",
    "tf.random_normal": "([4]{seed})",
    "tf.random_shuffle": "(tf.range(20){seed})",
    "tf.random_uniform": "([4]{seed})",
    "tf.truncated_normal": "([4]{seed})",
}
INITIALIZERS = {
    "tf.random_normal_initializer": "({seed})",
    "tf.random_uniform_initializer": "({seed})",
}
# Initializers with a seed are left: it draws other values.
KEYS = [
    *itertools.product(CALLS, ["", SEED]),
    *itertools.product(INITIALIZERS, [""]),
]
STATELESS = {"tf.random.stateless_multinomial"}  # its seed is all its state


def program(symbol, seed):
    """The program of a name, with a seed of the call or without."""
    known, template = (CALLS, PROGRAM) if symbol in CALLS else (INITIALIZERS, SHARED)
    given = known[symbol].format(seed=seed).replace("(, ", "(")
    return template.format(call=symbol + given)


def fixed(texts):
    """What the safe rules make of each text, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            pathlib.Path(folder, f"program_{number}.py").write_text(text, "utf-8")
        found = list(texts)
        for one in planning.plan([folder], (), planning.Options()):
            number = int(pathlib.Path(one.path).stem.partition("_")[2])
            found[number] = one.data.decode() or texts[number]
    return found


@functools.cache
def of_all():
    """{(name, seed of the call): (its program, what fix makes of it)}."""
    old = [HEAD + program(*key) for key in KEYS]
    return dict(zip(KEYS, zip(old, fixed(old), strict=True), strict=True))


@functools.cache
def with_a_seed():
    """The names with a seed that the safe rules rewrite, but for those of contrib."""
    names = [name for name in facts.names() if not name.startswith("tf.contrib.")]
    names = [name for name in names if "seed" in (facts.fact(name).signature or "")]
    texts = [f"{HEAD}made = {name}\ncalled = {name}()\n" for name in names]
    return {
        name
        for name, old, new in zip(names, texts, fixed(texts), strict=True)
        if old != new
    }


class Both:
    """TensorFlow 2, and compat.v1 for what it lacks: what runs a program after fix."""

    def __init__(self, new, old):
        self._new, self._old = new, old

    def __getattr__(self, name):
        new, old = (getattr(one, name, None) for one in (self._new, self._old))
        if isinstance(new, types.ModuleType) and isinstance(old, types.ModuleType):
            return Both(new, old)
        return old if new is None else new


def drawn(text, tensorflow, graph_seed):
    """The draws of a program, each run twice: a list of arrays."""
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        if graph_seed:
            v1.set_random_seed(graph_seed)
        names = {"tf": tensorflow}
        exec(text.replace(HEAD, ""), names)  # noqa: S102
        draws = [one[0] if isinstance(one, tuple) else one for one in names["draws"]]
        found = []
        for _ in range(2):
            session.run(v1.global_variables_initializer())
            found += [session.run(one) for one in draws]
    return found


def pattern(draws):
    """Which draws are equal, as a matrix of booleans."""
    return [[bool(np.array_equal(a, b)) for a in draws] for b in draws]


class DrawsTest(unittest.TestCase):
    def test_each_name_with_a_seed_is_here(self):
        known = {*CALLS, *INITIALIZERS, *STATELESS}
        self.assertEqual(with_a_seed() - known, set())

    @parameterized.expand(
        (*key, graph_seed) for key in KEYS for graph_seed in (None, 7)
    )
    def test_it_draws_anew_where_it_did(self, symbol, seed, graph_seed):
        old, new = of_all()[symbol, seed]
        self.assertNotEqual(old, new)
        told = drawn(old, v1, graph_seed), drawn(new, Both(tf, v1), graph_seed)
        self.assertEqual(pattern(told[0]), pattern(told[1]), new)
        if symbol in CALLS and (seed or graph_seed):
            for a, b in zip(*told, strict=True):
                np.testing.assert_array_equal(a, b)

    def test_an_initializer_that_would_draw_the_same_is_left(self):
        for call in (
            "init = tf.truncated_normal_initializer(stddev=0.1)",
            "slim.conv2d(x, 3, 3, "
            "weights_initializer=tf.truncated_normal_initializer())",
            "cell = tf.nn.rnn_cell.GRUCell(3, "
            "kernel_initializer=tf.truncated_normal_initializer())",
            "w = tf.get_variable('w', initializer=tf.truncated_normal_initializer())",
            "init = tf.initializers.random_normal()",
            "init = tf.keras.initializers.normal(stddev=0.1)",
            "init = tf.keras.initializers.uniform()",
        ):
            text = f"{HEAD}slim = tf.contrib.slim\n{call}\n"
            self.assertEqual(fixed([text]), [text])


if __name__ == "__main__":
    unittest.main()
