"""Runs right pages: eagerly, in a `tf.function`, with unknown dimensions, by XLA."""

import contextlib
import inspect
import warnings
from unittest import mock

import numpy as np
import tensorflow as tf

from tf1to2.parity import given_files, renamed, structure, widening
from tf1to2.parity.v1 import SEED, cotangent, dtype_of, numpy_seeded, seed_numpy

WAYS = ("eager", "function", "dynamic", "xla")
OLD_NAMES = "old_names"
"""Name of a Keras page's function from a layer to {name on the left: variable}."""


class Retraced(AssertionError):
    """A `tf.function` was traced more often than it has signatures."""


def run(module, requests, way):
    """Answers the requests of one case, which differ only in shapes and values.

    Args:
        module: the right page, an imported module.
        requests: list of requests as `v1.run` takes them.
        way: "eager"; "function" (one trace per signature); "dynamic" (one trace for all
            requests, the dimensions in `shapes` unknown); "xla" (`jit_compile=True`).

    Returns:
        List of {path: array}, one per request, with the paths of `v1.run`.

    Raises:
        Retraced: a function was traced again for a known signature.
        Untraced: a program has no `tf.function`, but the way is "function".
    """
    kind = requests[0]["kind"]
    floatx = widening.keras_in(requests[0].get("floatx"))
    widen = widening.widened(requests[0].get("widen"))
    with widen, floatx, _no_traces_left(), numpy_seeded():
        if kind == "program":
            return [_run_program(module, request, way) for request in requests]
        if kind == "layer":
            return [_run_layer(module, request, way) for request in requests]
        call = _Call(getattr(module, requests[0]["name"]), requests[0], way)
        answers = []
        for request in requests:
            _seed(request)
            answers.append(structure.answer(call(request)))
        return answers


@contextlib.contextmanager
def _no_traces_left():
    """A context that resets what TensorFlow leaves when a trace in `tf.map_fn` fails.

    TensorFlow sets a caching device on the variable scope that all functions share, and
    does not reset it: later `tf.train.ExponentialMovingAverage` raises.
    """
    try:
        yield
    finally:
        with tf.compat.v1.get_default_graph().as_default():
            tf.compat.v1.get_variable_scope().set_caching_device(None)


def _seed(request):
    """Seeds TensorFlow and NumPy, as `v1.run` does."""
    seed = request.get("seed", SEED)
    tf.random.set_seed(seed)
    seed_numpy(seed)


class Untraced(AssertionError):
    """A program had to call a `tf.function`, but called none."""


class _Call:
    """A page's forward pass and gradients in one of the ways; counts its traces."""

    def __init__(self, page, request, way, trainable=None):
        self.page, self.request, self.trainable = page, request, trainable or {}
        self.statics = {}
        self.traces, self.signatures = 0, set()
        self.compiled = None
        if way not in ("eager", "keras"):
            signature = [self._spec(*item) for item in fed(request).items()]
            self.compiled = tf.function(
                self.body,
                input_signature=[signature] if way == "dynamic" else None,
                jit_compile=True if way == "xla" else None,
            )
        self.one_trace = way == "dynamic"

    def __call__(self, request, reset=lambda: None):
        arrays = fed(request).values()
        tensors = [tf.constant(array, dtype_of(array)) for array in arrays]
        if self.compiled:
            self.compiled(tensors)  # only the first call may trace
            traces = self.traces
            self.signatures.add(self.one_trace or tuple(a.shape for a in arrays))
            reset()
            result = self.compiled(tensors)
            if self.traces > max(traces, len(self.signatures)):
                raise Retraced(
                    "the tf.function has %d traces for %d signatures"
                    % (self.traces, len(self.signatures))
                )
        else:
            reset()
            result = self.body(tensors)
        return {**{path: x.numpy() for path, x in result.items()}, **self.statics}

    def _spec(self, path, array):
        return tf.TensorSpec(
            self.request["shapes"].get(path, array.shape), dtype_of(array)
        )

    def body(self, tensors):
        self.traces += 1
        supply = iter(tensors)
        args = structure.map_arrays(lambda *_: next(supply), self.request["args"])
        floats = {
            "inputs/%d" % i: x for i, x in enumerate(tensors) if x.dtype.is_floating
        }
        with tf.GradientTape() as tape:
            tape.watch(list(floats.values()))
            outputs = self.page(*args, **self.request["kwargs"])
        tree = {"outputs": outputs}
        if self.request["gradient"]:
            sources = {**floats, **self.trainable}
            tree["gradients"] = _gradients(tape, outputs, sources)
        # A value that is not a tensor is known while tracing: keep it outside.
        leaves = dict(structure.flatten(tree))
        self.statics = {path: x for path, x in leaves.items() if not tf.is_tensor(x)}
        if structure.children(outputs) is not None:
            self.statics["structure"] = np.asarray(structure.skeleton(outputs))
        return {
            p: tf.convert_to_tensor(x) for p, x in leaves.items() if tf.is_tensor(x)
        }


def _gradients(tape, outputs, sources):
    targets = [
        leaf
        for _, leaf in structure.flatten(outputs)
        if tf.is_tensor(leaf) and leaf.dtype.is_floating
    ]
    if not targets or not sources:
        return {}
    gradients = tape.gradient(
        targets,
        {name: _tensors(source) for name, source in sources.items()},
        output_gradients=[cotangent(tf, y, i) for i, y in enumerate(targets)],
    )
    for name, source in sources.items():
        if hasattr(source, "joined"):  # a weight that Keras has in several variables
            gradients[name] = source.joined(gradients[name])
    return {
        name: None if gradient is None else tf.convert_to_tensor(gradient)
        for name, gradient in gradients.items()
    }


def _tensors(source):
    """Returns a tape's source; for a Keras variable, the variable's value."""
    return source if isinstance(source, (tf.Tensor, tf.Variable)) else source.value


def _run_layer(module, request, way):
    _seed(request)
    layer = getattr(module, request["name"])(**request["factory"])
    call = _by_keyword(layer) if hasattr(module, OLD_NAMES) else layer

    def create(tensors):
        supply = iter(tensors)
        args = structure.map_arrays(lambda *_: next(supply), request["args"])
        call(*args, **request["kwargs"])

    # A trace makes the variables without running the layer: its state stays initial.
    specs = [tf.TensorSpec(a.shape, dtype_of(a)) for a in fed(request).values()]
    tf.function(create).get_concrete_function(specs)
    variables, trainable = _owned(module, layer, request)
    initial = {name: v.numpy() for name, v in variables}

    def reset():
        for name, variable in variables:
            variable.assign(structure.distinct(name, variable.shape))

    result = _Call(call, request, way, dict(trainable))(request, reset)
    tree = {
        **result,
        "variables": [name for name, _ in variables],
        "trainable": [name for name, _ in trainable],
        "initial": initial,
        "state": {name: v.numpy() for name, v in variables},
    }
    return structure.answer(tree)


def _owned(module, layer, request):
    """Lists a layer's variables and trained variables, each with its left name.

    The names come from `old_names(layer)` of a Keras page, or from the request.
    """
    if hasattr(module, OLD_NAMES):
        named = module.old_names(layer).items()
        named = [(name.partition(":")[0] + ":0", v) for name, v in named]
        both = named, [(name, v) for name, v in named if v.trainable]
    else:
        shapes = {v.name.partition(":")[0]: v.shape for v in layer.variables}
        old = _old_names(_matched(request, shapes))
        owned = layer.variables, layer.trainable_variables
        both = ([(old(v.name), v) for v in variables] for variables in owned)
    return [sorted(named, key=lambda item: item[0]) for named in both]


def _by_keyword(layer):
    """Wraps a Keras layer, to pass arguments that are not tensors by keyword."""
    names = list(inspect.signature(layer.call).parameters)

    def call(*args, **kwargs):
        tensors = [arg for arg in args if tf.is_tensor(arg)]
        others = dict(zip(names[len(tensors) :], args[len(tensors) :]))
        return layer(*tensors, **others, **kwargs)

    return call


def _old_names(request):
    """Returns a function that maps a variable's name to its name on the left page.

    `variables` of the request is {old: new}; both may end in `*`, which means the same
    text on both sides.
    """
    known = request.get("variables", {})

    def old_name(name):
        base, colon, number = name.partition(":")
        for old, new in known.items():
            if new == base:
                return old + colon + number
            if new.endswith("*") and base.startswith(new[:-1]):
                return old[:-1] + base[len(new) - 1 :] + colon + number
        return name

    return old_name


def _matched(request, shapes):
    """Replaces "auto" in `request` by matched variable names.

    Args:
        request: has `left`, {name on the left: shape}, and `matched`, which is filled.
        shapes: {name on the right: shape}.
    """
    if request.get("variables") != renamed.AUTO:
        return request
    request["matched"].update(renamed.names(request["left"], shapes))
    return {**request, "variables": request["matched"]}


def _renamed(tree, old):
    """Renames the keys of all dicts in `tree` by the function `old`."""
    if isinstance(tree, dict):
        return {
            old(k) if isinstance(k, str) else k: _renamed(x, old)
            for k, x in tree.items()
        }
    if type(tree) in (list, tuple):
        return type(tree)(_renamed(item, old) for item in tree)
    return tree


def _run_program(module, request, way):
    _seed(request)
    page = getattr(module, request["name"])
    placed = given_files.placed(request)
    with (
        _calls() as called,
        _functions_of(module) as functions,
        _quiet(),
        placed as args,
    ):
        before = {id(f): f.experimental_get_tracing_count() for f in functions}
        tf.config.run_functions_eagerly(way == "eager")
        try:
            outputs = page(*args, **request["kwargs"])
            if inspect.isgenerator(outputs):
                outputs = _run_steps(outputs)
            files = given_files.written(request, args) if request.get("keep") else {}
        finally:
            tf.config.run_functions_eagerly(False)
        for function in functions:
            traces = function.experimental_get_tracing_count()
            traces -= before.get(id(function), 0)
            python = function.python_function
            if python.__module__.startswith("keras."):  # it traces functions of its own
                continue
            if traces > request["traces"] and way != "keras":
                name = python.__name__
                raise Retraced(
                    "%s: %d traces, not %d: make variables before the first call "
                    "(optimizer.build(weights)), pass tensors, or set traces=%d"
                    % (name, traces, request["traces"], traces)
                )
    if way == "function" and not called and request["traces"]:
        raise Untraced(
            "no tf.function was called: skip this way and give the reason, "
            'skip={"function": "…"}'
        )
    if request.get("variables"):
        last = outputs.get("variables", {}) if isinstance(outputs, dict) else {}
        shapes = {k: np.shape(v) for named in last.values() for k, v in named.items()}
        outputs = _renamed(outputs, _old_names(_matched(request, shapes)))
    tree = {"outputs": as_numpy(outputs)}
    return structure.answer({**tree, "files": files} if files else tree)


def _run_steps(steps):
    """Runs the steps of a program.

    Args:
        steps: a generator of dicts, one for each step; it returns {name: variable}.

    Returns:
        As `v1._run_steps`.
    """
    answers = []
    while True:
        try:
            answers.append(as_numpy(next(steps)))
        except StopIteration as stop:
            last = as_numpy(stop.value or {})
            return {"steps": answers, "variables": {len(answers): last}}


def as_numpy(tree):
    """Replaces the tensors and variables in a structure by arrays."""
    return tf.nest.map_structure(
        lambda v: v.numpy() if hasattr(v, "numpy") else v, tree
    )


@contextlib.contextmanager
def _quiet():
    """Suppresses, in the context, the warning that tf.data functions are not eager."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Even though the `tf.config.experimental_run")
        yield


@contextlib.contextmanager
def _functions_of(module):
    """Collects, in a list, the `tf.function`s of `module` and those made later."""
    make = tf.function
    kind = type(make(lambda: None))
    functions = [value for value in vars(module).values() if isinstance(value, kind)]

    def recording(func=None, **options):
        if func is None:
            return lambda func: recording(func, **options)
        functions.append(make(func, **options))
        return functions[-1]

    with mock.patch.object(tf, "function", recording):
        yield functions


@contextlib.contextmanager
def _calls():
    """Collects, in a list, the `tf.function` of each call or trace in the context."""
    kind = type(tf.function(lambda: None))
    called = []

    def counted(method):
        def call(self, *args, **kwargs):
            called.append(self)
            return method(self, *args, **kwargs)

        return call

    patches = [
        mock.patch.object(kind, name, counted(getattr(kind, name)))
        for name in ("__call__", "get_concrete_function")
    ]
    with patches[0], patches[1]:
        yield called


def fed(request):
    """Returns {path: array} of the inputs in a request that become tensors."""
    return structure.arrays(request["args"])
