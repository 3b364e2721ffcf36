"""Makes and calls the right pages' modules, from the proofs' cases or by hand."""

import functools
import importlib
import os
import tempfile
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from parity_tests import PROVIDER
from tf1to2.parity import structure
from v2_eager.numerics import averages, canned, optimizers, rnn

SEED = 7
FOLDER = tempfile.TemporaryDirectory()
"""Where files of the tests are; who imports it cleans it up."""


class Made(NamedTuple):
    """Functions that make a module and call it, in "float32" or "float64".

    Attributes:
        make: function from the dtype's name to a module, which may not be built yet.
        call: function from the module and the dtype's name to a nest of tensors; it
            makes missing variables, and changes moving statistics and weights.
        narrow: function without arguments: whether a proof says that the module
            computes in float32.
    """

    make: Any
    call: Any
    narrow: Any = None

    def ask(self, module, dtype="float32"):
        """Calls the module with a fixed seed; returns its outputs, a list of arrays."""
        tf.random.set_seed(SEED)
        return arrays(self.call(module, dtype))


def tensors(outputs):
    """Returns the tensors of a nest, in order."""
    leaves = tf.nest.flatten(outputs, expand_composites=True)
    return [tf.convert_to_tensor(leaf) for leaf in leaves if tf.is_tensor(leaf)]


def arrays(outputs):
    """Returns the tensors of a nest as arrays, in order."""
    return [tensor.numpy() for tensor in tensors(outputs)]


def numbers(dtype, *shape):
    """Returns a tensor of random numbers that are always the same for a shape."""
    return tf.constant(np.random.RandomState(SEED).normal(size=shape), dtype)


def of(dtype, tree):
    """Casts the float arrays of `tree` to this dtype."""

    def cast(_, array):
        floats = np.issubdtype(array.dtype, np.floating)
        return array.astype(dtype) if floats else array

    return structure.map_arrays(cast, tree)


# --- By a case of a proof.


@functools.cache
def case_of(topic, name, slug):
    """Returns the case of a topic's proof with this name and slug."""
    cases = PROVIDER.load(topic).cases
    return next(c for c in cases if (c.name, c.slug) == (name, slug))


@functools.cache
def inputs_of(topic, name, slug):
    """Returns the arguments of a case, with three examples if the size is free."""
    case = case_of(topic, name, slug)
    sizes, fixed = case.bindings()[0], structure.arrays(case.args)
    if not fixed:
        sizes = {k: min(size, 3) if k in "bn" else size for k, size in sizes.items()}
    return case.request(sizes)["args"]


def page(topic, factory, slug):
    """Makes an object with a page's factory, and calls it as a layer's case does."""

    def make(dtype):
        made = getattr(importlib.import_module(f"v2_eager.{topic}"), factory)
        return made(**of(dtype, case_of(topic, factory, slug).factory))

    def call(module, dtype):
        inputs = of(dtype, inputs_of(topic, factory, slug))
        inputs = structure.map_arrays(lambda _, array: tf.constant(array), inputs)
        return module(*inputs, **case_of(topic, factory, slug).kwargs)

    return Made(make, call, lambda: case_of(topic, factory, slug).float32)


def argument(topic, name, slug, index, dtype):
    """Returns an argument of a program's case, such as the initial weights."""
    return of(dtype, case_of(topic, name, slug).args[index])


# --- By hand.


def cell(kind, *args, depth=3, inputs=None, **kwargs):
    """Makes a cell by the name `kind`, and calls it once with a state of zeros."""

    def make(_):
        return getattr(rnn, kind)(*args, **kwargs)

    return Made(make, step_of(depth, inputs))


def step_of(depth=3, inputs=None):
    """Returns the `call` function for cells."""

    def call(module, dtype):
        module.build(depth, tf.as_dtype(dtype))
        module.begin(depth, tf.as_dtype(dtype))
        x = numbers(dtype, 2, depth) if inputs is None else tf.constant(inputs)
        return module(x, module.zero_state(2, tf.as_dtype(dtype)))

    return call


def wrapper(kind, *args, inner="GRUCell", size=3, **kwargs):
    """Makes a cell that wraps another cell, which has its own scope."""

    def make(_):
        return getattr(rnn, kind)(getattr(rnn, inner)(size, name="in"), *args, **kwargs)

    return Made(make, step_of(inputs=kwargs.pop("inputs", None)))


def layer(kind, shape, *options):
    """Makes a layer by calling `kind`, and calls the layer with random numbers."""
    return Made(
        lambda _: kind(), lambda module, dtype: module(numbers(dtype, *shape), *options)
    )


class Trained(tf.Module):
    """Two weights, and an object that trains or follows them."""

    def __init__(self, follower, dtype):
        super().__init__()
        self.w = tf.Variable(numbers(dtype, 3), name="w")
        self.table = tf.Variable(numbers(dtype, 4, 2), name="table")
        self.follower = follower

    def loss(self):
        rows = tf.gather(self.table, [1, 3, 1])
        return tf.reduce_sum(self.w**2) + tf.reduce_sum(rows**2)


def optimizer(make):
    """Makes an object with `minimize`, and takes two steps."""

    def call(module, _):
        weights = [module.w, module.table]
        return [module.follower.minimize(module.loss, weights) for _ in range(2)]

    return Made(lambda dtype: Trained(make(), dtype), call)


def moving_average():
    def call(module, _):
        module.follower.create([module.w])
        module.w.assign(module.w * 2)
        module.follower.apply([module.w])
        return module.follower.average(module.w).read_value()

    return Made(
        lambda dtype: Trained(averages.ExponentialMovingAverage(0.5), dtype), call
    )


def step(make):
    """Makes a page's step from the weights, and calls it with a loss."""

    def made(dtype):
        module = Trained(None, dtype)
        module.follower = make([module.w, module.table])
        return module

    return Made(made, lambda module, _: module.follower(module.loss))


def scale(make):
    """Makes a loss scale manager, and updates it after a step that is not finite."""

    def call(module, _):
        module.update(tf.constant(False))
        return tf.convert_to_tensor(module.loss_scale)

    return Made(lambda _: make(), call)


def head(make, labels):
    """Makes a head of a canned estimator, and updates it with a batch."""

    def call(module, _):
        logits = numbers("float32", 4, module.logits_dimension)
        module.update_state(tf.constant(labels), logits)
        return [module.result(), module.predictions(logits)]

    return Made(lambda _: make(), call)


def columns():
    return {"x": (lambda features: features["x"], 3)}


def estimator():
    def make(_):
        dnn = canned.DNN(columns(), [4], 1, batch_norm=True)
        linear = canned.Linear(columns(), 1)
        parts = [(dnn, optimizers.Adagrad(0.1)), (linear, optimizers.Ftrl(0.1))]
        return canned.Estimator(canned.BinaryHead(), parts)

    def call(module, _):
        features, labels = {"x": numbers("float32", 4, 3)}, tf.constant([0, 1, 1, 0])
        loss = module.step(features, labels)
        module.update(features, labels)
        return [loss, module.predict(features), module.head.result()]

    return Made(make, call)


def features_of(make):
    """Makes a model of canned estimators, and calls it in training mode."""

    def call(module, _):
        return module({"x": numbers("float32", 4, 3)}, training=True)

    return Made(lambda _: make(), call)


def line(topic, *, x=(4, 2)):
    """Makes a page's `Line` with kernel and bias, and computes its loss or output."""

    def make(dtype):
        kernel, bias = np.ones([2, 1], dtype), np.zeros([1], dtype)
        kind = importlib.import_module(f"v2_eager.{topic}").Line
        if topic == "contrib_learn":
            return kind(kernel)
        named = {"kernel": kernel, "bias": bias}
        return kind(named if topic == "contrib_opt" else [kernel, bias])

    def call(module, dtype):
        inputs = numbers(dtype, *x)
        if topic == "contrib_learn":
            return module(inputs)
        if topic == "distributed":
            return module.gradients(inputs, numbers(dtype, 4, 1))
        return module.loss(inputs, numbers(dtype, 4, 1))

    return Made(make, call)


def made(path, arguments, call):
    """Makes an object of a page's class from `arguments`, a function of the dtype."""

    def make(dtype):
        module, _, name = path.rpartition(".")
        kind = getattr(importlib.import_module(f"v2_eager.{module}"), name)
        return kind(*arguments(dtype))

    return Made(make, call)


def vocabulary_file():
    """Writes a file of three words, and returns its path."""
    path = os.path.join(FOLDER.name, "words.txt")
    with open(path, "w") as file:
        file.write("the\ncat\nsat\n")
    return path
