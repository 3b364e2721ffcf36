"""Makes the timed forms of left pages, in this process or in TensorFlow 1.15's.

This module also runs on Python 3.7.
"""

import contextlib

import numpy as np

from tf1to2.parity import structure, v1
from tf1to2.parity.v1 import dtype_of, legacy

FORMS = ("Session.run", "make_callable")


@contextlib.contextmanager
def session(module, request):
    """Yields the forms that `opened` makes, and closes their session at the end."""
    sess, made = opened(module, request)
    with contextlib.closing(sess):  # outside of its graph, where TensorFlow 2 runs
        yield made


def opened(module, request):
    """Makes (session, {form: function that makes the form}) of an op or a layer.

    It is fed NumPy arrays and returns NumPy arrays, as a session does.
    """
    feed = {}

    def fed(_, array):
        tensor = v1.tf.placeholder(dtype_of(array), array.shape)
        feed[tensor] = array
        return tensor

    with legacy():
        page = getattr(module, request["name"])
        args = structure.map_arrays(fed, request["args"])
        if request["kind"] == "layer":
            if "scope" in request:
                page = v1.tf.make_template(request["scope"], page)
            else:
                page = page(**request["factory"])
        outputs = page(*args, **request["kwargs"])
        fetches = [x for _, x in structure.flatten(outputs) if v1.is_fetched(x)]
        sess = v1.tf.Session()
        sess.run(v1.initializers())

    def run():
        return lambda: sess.run(fetches, feed)

    def make_callable():
        call = sess.make_callable(fetches, list(feed))
        return lambda: call(*feed.values())

    made = {"Session.run": run, "make_callable": make_callable} if fetches else {}
    return sess, made


def forms(module, request):
    """{form: function that makes `f`; `f(count)` calls the form `count` times}."""
    if request["kind"] == "program":

        def run():
            return repeat(lambda: v1.run(module, request))

        return {"program": run}
    _, made = opened(module, request)  # the session stays open until the process ends
    return {form: lambda make=make: repeat(make()) for form, make in made.items()}


def repeat(function):
    def run(count):
        for _ in range(count):
            function()

    return run


def write(path, request):
    """Writes a request to a file, which `read` loads."""
    store = {}
    text = structure.pack(request, store)
    np.savez(path, request=np.asarray(text), **store)


def read(path):
    with np.load(path) as store:
        arrays = dict(store)
    return structure.unpack(str(arrays.pop("request")), arrays)
