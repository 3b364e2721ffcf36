"""Lists the classes of the right pages, the Keras pages and `numerics`, by kind."""

import functools
import importlib
import inspect
import pkgutil

import keras
import tensorflow as tf

import parity_tests  # noqa: F401  installs the stand-in for Horovod
import v2_eager
import v2_keras
from v2_eager.numerics.metrics.base import Metric
from v2_eager.numerics.optimizers.base import Optimizer

KINDS = {  # a class belongs to the first kind that matches
    "models": keras.Model,
    "metrics": keras.Metric,
    "layers": keras.Layer,
    "losses": keras.losses.Loss,
    "optimizers": keras.optimizers.Optimizer,
    "schedules": keras.optimizers.schedules.LearningRateSchedule,
    "regularizers": keras.Regularizer,
    "constraints": keras.constraints.Constraint,
    "initializers": keras.initializers.Initializer,
    "callbacks": keras.callbacks.Callback,
    "datasets": keras.utils.PyDataset,
    "module_optimizers": Optimizer,
    "module_metrics": Metric,
    "modules": tf.Module,
}


def modules():
    """Imports and yields all modules of the two packages, in order of their names."""
    for package in (v2_eager, v2_keras):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield importlib.import_module(found.name)


def kind_of(cls):
    """Returns the name of a class's kind; "others" if no kind matches."""
    return next(
        (kind for kind, base in KINDS.items() if issubclass(cls, base)), "others"
    )


@functools.cache
def classes():
    """Returns {kind: {"module.Class": class}} of the modules' top-level classes.

    A class that is made by a call, as in `ROWS_SUMMED`, counts if a name or a dict of
    its module contains it.
    """
    found = {kind: {} for kind in (*KINDS, "others")}
    for module in modules():
        held = list(vars(module).values())
        held += [x for value in held if type(value) is dict for x in value.values()]
        for value in held:
            if inspect.isclass(value) and value.__module__ == module.__name__:
                found[kind_of(value)][f"{module.__name__}.{value.__qualname__}"] = value
    return {kind: dict(sorted(by.items())) for kind, by in found.items()}


def exists(name):
    """Returns whether "module.Class" is a class of any kind."""
    return any(name in by_name for by_name in classes().values())
