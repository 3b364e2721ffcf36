"""Runs one case in the imported Keras: Keras 1.2.2 on Python 3.7, or Keras 3.

A case ends with an expression: a layer, which is called on `x`; a tensor; a model; or
arrays and numbers, which are the answer. For the first three the answer is a prediction
and, if there are weights, the loss and the weights after a step of "sgd".
"""

import ast
import importlib
import inspect
import json
import sys

import keras
import numpy as np
import tensorflow as tf

# Graphs of many small models would take minutes.
SETTINGS = {} if keras.__version__ < "3" else {"run_eagerly": True}
MODULES = (
    *("activations", "backend", "callbacks", "constraints", "initializations"),
    *("layers", "metrics", "models", "objectives", "optimizers", "regularizers"),
    *("utils.layer_utils", "utils.np_utils"),
)


def distinct(number, shape):
    """Makes distinct positive values for the weight with this number in a model."""
    size = int(np.prod(shape))
    values = 0.3 + 0.25 * np.sin((0.7 + 0.13 * number) * np.arange(1, size + 1))
    return values.reshape(shape).astype("float32")


def answer(code, given, shapes=None):
    """Runs the code of a case, and returns its answer.

    Args:
        code: its text. It can use `np`, `keras`, `distinct` and an `Input` for each
            given array; "x_array" is the array of `x`. If it defines a function
            `weights`, this converts weights of Keras 1 to weights of this Keras.
        given: {name: array}.
        shapes: shapes of the weights in Keras 1; by default those of this Keras.

    Returns:
        {name: array}; the first and the last weights are those of the Keras that runs.
    """
    scope = {"np": np, "keras": keras, "distinct": distinct}
    for name, array in given.items():
        scope[name + "_array"] = array
        scope[name] = keras.layers.Input(
            batch_shape=array.shape, dtype=array.dtype.name, name=name
        )
    value = _value(code, scope)
    inputs = [scope[name] for name in given]
    if isinstance(value, (np.ndarray, list, tuple, int, float, np.generic)):
        return {"answer": np.asarray(value)}
    if isinstance(value, keras.models.Model):
        model = value
    else:
        if hasattr(value, "get_weights"):
            value = value(inputs[0])
        model = keras.models.Model(inputs if len(inputs) > 1 else inputs[0], value)
    return _of_model(model, list(given.values()), shapes, scope.get("weights", list))


def _value(code, scope):
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "<case>", "exec"), scope)
    return eval(compile(last, "<case>", "eval"), scope)


def _of_model(model, arrays, shapes, weights):
    """Predicts with a model; returns its loss, and its weights after one step."""
    own = [np.shape(w) for w in model.get_weights()]
    old = [distinct(n, shape) for n, shape in enumerate(shapes or own)]
    if own:
        model.set_weights(weights(old))
    model.compile("sgd", "mse", **SETTINGS)
    arrays = arrays if len(arrays) > 1 else arrays[0]
    predicted = np.asarray(model.predict_on_batch(arrays))
    found = {"prediction": predicted, "shapes": np.asarray(repr(own))}
    if own and model.trainable_weights:
        target = np.zeros(predicted.shape, "float32")
        found["loss"] = np.asarray(model.test_on_batch(arrays, target), "float32")
        model.train_on_batch(arrays, target)
        for number, weight in enumerate(model.get_weights()):
            found["trained_%d" % number] = weight
    return found


def names():
    """Lists the parameters of each public name of `MODULES`."""
    found = {}
    for name in MODULES:
        module = importlib.import_module("keras." + name)
        homes = (module.__name__, "keras.engine") if name == "layers" else (name,)
        for key, value in vars(module).items():
            home = getattr(value, "__module__", "") or ""
            if not callable(value) or key.startswith("_"):
                continue
            if any(home.startswith((one, "keras." + one)) for one in homes):
                found[module.__name__ + "." + key] = _parameters(value)
    return found


def _parameters(value):
    try:
        return list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return []


def main(asked, answered):
    """Runs the cases in the file `asked`; writes their answers to `answered`."""
    from tensorflow.python.ops import resource_variable_ops

    # Otherwise a gradient may read a weight that the same step has already changed.
    tf.enable_resource_variables()
    # Keras 1 has `if bias:`, which is true for a variable that is not a resource.
    resource_variable_ops.BaseResourceVariable.__bool__ = lambda variable: True
    store, cases = np.load(asked), {}
    for path in store.files:
        key, _, name = path.partition("/")
        cases.setdefault(key, {})[name] = store[path]
    found = {
        "version": np.asarray(keras.__version__),
        "names": np.asarray(json.dumps(names())),
    }
    for key, case in cases.items():
        keras.backend.clear_session()  # a step is slower in a larger graph
        given = {k[6:]: array for k, array in case.items() if k.startswith("given/")}
        try:
            answers = answer(str(case["code"]), given)
        except Exception as error:  # the recorder reports all errors at once
            text = "%s: %s" % (type(error).__name__, error)
            answers = {"raised": np.asarray(text)}
        found.update({key + "/" + name: array for name, array in answers.items()})
    np.savez(answered, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
