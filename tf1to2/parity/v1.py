"""Runs left pages: with graphs, placeholders and sessions.

This file runs on today's `compat.v1`, in this process, and on the genuine TensorFlow
1.15, as a script: `python3.7 v1.py REQUESTS ANSWERS SETTINGS`.
"""

import contextlib
import importlib
import inspect
import json
import os
import re
import sys
import traceback
from unittest import mock

import numpy as np

try:
    import tensorflow.compat.v1 as tf
except ImportError:  # before 1.13
    import tensorflow as tf

from tf1to2.parity import given_files, races, stand_ins, structure, widening

SEED = 20260101
"""The graph seed for every page, on both sides."""


@contextlib.contextmanager
def numpy_seeded(seed=SEED):
    """A context that seeds NumPy's global generator, and restores its state on exit.

    `fit` of 1.15.5 draws the order of the validation rows from it, even with
    `shuffle=False`, and the last bits of a sum depend on the order.
    """
    state = np.random.get_state()
    seed_numpy(seed)
    try:
        yield
    finally:
        np.random.set_state(state)


def seed_numpy(seed):
    """Seeds NumPy's global generator, whose seeds have 32 bits."""
    np.random.seed(seed % 2**32)


def _unset_placement():
    """Makes sessions raise for a missing device, also if eager code accepts it."""
    from tensorflow.python.eager import context

    return mock.patch.object(context.context(), "_soft_device_placement", None)


@contextlib.contextmanager
def legacy(seed=SEED):
    """A context with TensorFlow 1 semantics and a new default graph.

    Reference variables, Switch/Merge control flow, identity `==` and `Dimension`s are
    expected by legacy code. Each can be switched at run time, and back, whereas
    `disable_v2_behavior` could not be undone.
    """
    if tf.__version__.startswith("1."):
        with tf.Graph().as_default():
            tf.set_random_seed(seed)
            yield
        return
    # Read outside of a graph: inside a graph, `==` is identity for any switch.
    equality = not isinstance(tf.constant(0) == 0, bool)
    dimensions = not isinstance(tf.TensorShape([1])[0], int)
    resource = tf.resource_variables_enabled()
    control_flow = tf.control_flow_v2_enabled()
    tf.disable_tensor_equality()
    tf.disable_v2_tensorshape()
    tf.disable_resource_variables()
    tf.disable_control_flow_v2()
    try:
        with _unset_placement(), tf.Graph().as_default():
            tf.set_random_seed(seed)
            yield
    finally:
        if equality:
            tf.enable_tensor_equality()
        if not dimensions:
            tf.enable_v2_tensorshape()
        if resource:
            tf.enable_resource_variables()
        if control_flow:
            tf.enable_control_flow_v2()


def run(module, request):
    """Answers one request.

    Args:
        module: the left page, an imported module.
        request: dict with `kind` ("op", "layer" or "program"), `name`, `args`,
            `kwargs`, `factory` (a layer's own keywords), `gradient` (bool) and `shapes`
            ({path: placeholder shape} of the inputs whose shape is unknown). It may
            have `widen`, `floatx`, the dtype of Keras, the `seed` of the graph, the
            `files` of a program (see `given_files`), `keep` (bool: the answer contains
            the files that it writes), and the `scope` of a layer: then the page's
            function takes the inputs and makes its variables in that scope.

    Returns:
        {path: array}. The answer of an op has `outputs` and `gradients`; that of a
        layer also its `variables`, their initial values, and its `state` after the
        call.
    """
    seed, floatx = request.get("seed", SEED), widening.keras_in(request.get("floatx"))
    widen = widening.widened(request.get("widen"))
    with widen, floatx, legacy(seed), numpy_seeded(seed):
        page = getattr(module, request["name"])
        if request["kind"] == "program":
            with given_files.placed(request) as args:
                outputs = page(*args, **request["kwargs"])
                if inspect.isgenerator(outputs):
                    outputs = _run_steps(outputs)
                tree = {"outputs": outputs}
                if request.get("keep"):
                    tree["files"] = given_files.written(request, args)
            return structure.answer(tree)
        return _run_tensors(page, request)


def _run_steps(steps):
    """Runs the steps of a program.

    Args:
        steps: a generator of (fetches, feed_dict); fetches is a dict. It has built the
            graph when it yields for the first time. If it has a default session then,
            `with tf.Session(config=config) as sess:`, this session runs the steps. Else
            a new one does, which initializes the variables.

    Returns:
        {"steps": [fetched values], "variables": {number of steps: {name: value}}}.
    """
    answers, sess, ours = [], None, None
    try:
        for fetches, feed in steps:
            if sess is None:
                sess = tf.get_default_session()
                variables = tf.global_variables()
                if sess is None:  # a program with a session of its own also initializes
                    ours = sess = session(tf.get_default_graph())
                    sess.run(initializers())
            values = sess.run(fetches, feed)
            answers.append({k: v for k, v in values.items() if v is not None})
            if ours is None:  # its `with` closes the session after the last step
                last = sess.run(variables)
        if sess is None:
            raise ValueError("the program yields no step: yield (fetches, feed_dict)")
        last = sess.run(variables) if ours else last
        named = {v.op.name: value for v, value in zip(variables, last)}
        return {"steps": answers, "variables": {len(answers): named}}
    finally:
        if ours is not None:
            ours.close()


def session(graph=None):
    """A session that replaces a missing device, such as "/gpu:0"."""
    config = tf.ConfigProto()
    if not tf.__version__.startswith("1."):  # the default configuration of a session
        from tensorflow.python.eager import context

        config.CopyFrom(context.context().config)
    config.allow_soft_placement = True
    return tf.Session(graph=graph, config=config)


def dtype_of(array):
    """The dtype of the TensorFlow tensor that holds a NumPy array."""
    return tf.string if array.dtype.kind in "SUO" else tf.as_dtype(array.dtype)


def initializers():
    """The initializers that a session runs before the fetches of a page."""
    return [
        tf.global_variables_initializer(),
        tf.local_variables_initializer(),
        tf.tables_initializer(),
    ]


def _run_tensors(page, request):
    feed = {}

    def fed(path, array):
        shape = request["shapes"].get(path, array.shape)
        tensor = tf.placeholder(dtype_of(array), shape)
        feed[tensor] = array
        return tensor

    args = structure.map_arrays(fed, request["args"])
    variables = []
    if request["kind"] == "layer":
        if "scope" in request:
            page = tf.make_template(request["scope"], page)
        else:
            page = page(**request["factory"])
        outputs = page(*args, **request["kwargs"])
        variables = sorted(page.variables, key=lambda v: v.name)
        page(*args, **request["kwargs"])  # the second call must use the same variables
        names = sorted(v.name for v in page.variables)
    else:
        outputs = page(*args, **request["kwargs"])

    tree = {"outputs": outputs}
    if request["gradient"]:
        sources = {
            "inputs/%d" % i: x for i, x in enumerate(feed) if x.dtype.is_floating
        }
        if variables:
            trainable = {v.name: v for v in page.trainable_variables}
            sources.update((name, trainable[name]) for name in sorted(trainable))
        tree["gradients"] = _gradients(outputs, sources)

    leaves = list(structure.flatten(tree))
    fetched = [leaf for _, leaf in leaves if is_fetched(leaf)]
    with session() as sess:
        sess.run(initializers())
        initial = sess.run(variables)
        for variable in variables:
            value = structure.distinct(variable.name, variable.shape.as_list())
            variable.load(value.astype(variable.dtype.base_dtype.as_numpy_dtype), sess)
        values = iter(sess.run(fetched, feed))
        answer = {
            path: structure.as_array(
                next(values) if is_fetched(leaf) else _static(leaf)
            )
            for path, leaf in leaves
        }
        if structure.children(outputs) is not None:
            answer["structure"] = np.asarray(structure.skeleton(outputs))
        if variables:
            after = sess.run(variables)
            answer.update(
                structure.answer(
                    {
                        "variables": names,
                        "trainable": sorted(v.name for v in page.trainable_variables),
                        "initial": {v.name: x for v, x in zip(variables, initial)},
                        "state": {v.name: x for v, x in zip(variables, after)},
                    }
                )
            )
    return answer


def is_fetched(leaf):
    return isinstance(leaf, (tf.Tensor, tf.Variable))


def _static(leaf):
    return leaf.value if isinstance(leaf, tf.Dimension) else leaf


def _gradients(outputs, sources):
    targets = [
        leaf
        for _, leaf in structure.flatten(outputs)
        if is_fetched(leaf) and leaf.dtype.is_floating
    ]
    if not targets or not sources:
        return {}
    gradients = tf.gradients(
        targets,
        list(sources.values()),
        grad_ys=[cotangent(tf, y, i) for i, y in enumerate(targets)],
    )
    return {
        name: None if gradient is None else tf.convert_to_tensor(gradient)
        for name, gradient in zip(sources, gradients)
    }


def cotangent(tf, target, offset):
    """Creates the upstream gradient of an output, with the shape of `target`."""
    table = tf.constant(structure.COTANGENTS)
    places = (tf.range(tf.size(target)) + 101 * offset) % len(structure.COTANGENTS)
    return tf.cast(tf.reshape(tf.gather(table, places), tf.shape(target)), target.dtype)


def respond(module, request, folders=()):
    """As `run`; an exception gives {"raised": its type, "message": its text}, and also
    {"where": "left.py, line 7"} if it passed a line in one of the folders."""
    try:
        return run(module, request)
    except Exception as error:  # any exception of a page is an answer
        answer, where = raised(error), structure.place(error, folders)
        return {**answer, "where": np.asarray(where)} if where else answer


def raised(error):
    """Converts an exception to an answer: its type and message as arrays."""
    return {
        "raised": np.asarray(structure.error_name(type(error))),
        "message": np.asarray(str(error)),
    }


def sentence(message):
    """Removes nodes, files and stacks from the end of a TensorFlow 1.15 message."""
    ends = r"\s*(\[\[|original stack trace|originally defined at|\n +File )"
    message = re.split(ends, message, maxsplit=1, flags=re.IGNORECASE)[0]
    return re.sub(r" \(defined at [^)]*\) ?", "", message)


def rewrite_no_graphs():
    """Turns off graph rewriting in every session, whatever its configuration.

    Rewriting replaces kernels by others with other bits: a product and a sum by a fused
    kernel, a division by a product.
    """
    from tensorflow.python.client import session

    make = session.BaseSession.__init__

    def init(self, target="", graph=None, config=None):
        strict = tf.ConfigProto()
        if config is not None:
            strict.CopyFrom(config)
        strict.graph_options.rewrite_options.disable_meta_optimizer = True
        make(self, target, graph, strict)

    session.BaseSession.__init__ = init


def main(requests_path, answers_path, settings, *apart):
    """Answers a file of requests, in a process of the genuine TensorFlow 1.15.

    Args:
        requests_path: the file that `recordings.ask` wrote.
        answers_path: the file for the answers.
        settings: see `recordings.ask`.
        apart: "apart" if each request gets a process of its own.
    """
    stand_ins.inherit()
    if settings != "default":
        rewrite_no_graphs()
    tf.logging.set_verbosity(tf.logging.ERROR)
    with np.load(requests_path) as store:
        arrays = dict(store)
    requests = structure.unpack(str(arrays.pop("requests")), arrays)
    watching = {"watched": races.watched}
    if apart:  # a user's port: see `recordings.ask`
        watching["strict"] = races.drawing
    seen = watching.get(settings, contextlib.suppress)
    answers, told = {}, []
    for number, (name, request) in enumerate(requests):
        asked = answers_path, name, request, seen
        answer = _in_a_process(*asked) if apart else _answer(*asked)
        told.append(json.loads(str(answer.pop("told"))))
        answers.update({"%d:%s" % (number, path): a for path, a in answer.items()})
        if sys.stdout.isatty():
            print("\r%d of %d" % (number + 1, len(requests)), end="", flush=True)
    answers["told"] = np.asarray(json.dumps(told))
    answers["versions"] = np.asarray([tf.__version__, np.__version__])
    np.savez(answers_path, **answers)


def _answer(answers_path, name, request, watching):
    """Answers a request with {path: array}, including its races or seeds.

    Raises:
        SystemExit: the page cannot be imported. The first line of the file
            `answers_path`.unimported names a module. The second is empty if the module
            is not installed; else it has the error and its place.
    """
    # The folders for the page's imports come after the copy of this package.
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)[1:]
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] == name.partition(".")[0]:
            raise
        missing = isinstance(error, ModuleNotFoundError)
        where = structure.place(error, folders)
        text = "" if missing else "%s (%s)" % (error, where)
        with open(answers_path + ".unimported", "w") as file:
            file.write("%s\n%s" % (error.name, text))
        sys.exit(1)
    with watching() as seen:
        answer = respond(module, request, folders)
    if "message" in answer:
        answer["message"] = np.asarray(sentence(str(answer["message"])))
    return {**answer, "told": np.asarray(json.dumps(seen))}


def _in_a_process(answers_path, *asked):
    """Calls `_answer`, in a forked process where the system can fork."""
    if not hasattr(os, "fork"):
        return _answer(answers_path, *asked)
    path = answers_path + ".own.npz"
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 1
        try:
            np.savez(path, **_answer(answers_path, *asked))
            status = 0
        except SystemExit:  # the file says why
            pass
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    if os.waitpid(child, 0)[1]:
        sys.exit(1)
    with np.load(path) as store:
        return dict(store)


if __name__ == "__main__":
    main(*sys.argv[1:])
