"""Forms, the ways to call a page: two of TensorFlow 1, four of TensorFlow 2.

TensorFlow 1 is fed NumPy arrays and returns them (`left`); TensorFlow 2 takes and
returns tensors, as its functions do from one call to the next.
"""

import tensorflow as tf

from tf1to2.bench import clock, left
from tf1to2.parity import structure
from tf1to2.parity.v1 import SEED, dtype_of

V1 = left.FORMS
V2 = ("eager", "tf.function", "concrete", "XLA")


def native(page, request):
    """Returns {form: function that makes the form}, for a right page."""
    tf.random.set_seed(SEED)
    arrays = structure.arrays(request["args"]).values()
    tensors = [tf.constant(array, dtype_of(array)) for array in arrays]
    if request["kind"] == "layer":
        page = page(**request["factory"])

    def body(*tensors):
        supply = iter(tensors)
        args = structure.map_arrays(lambda *_: next(supply), request["args"])
        outputs = page(*args, **request["kwargs"])
        return [x for _, x in structure.flatten(outputs) if tf.is_tensor(x)]

    def call(function):
        return lambda: function(*tensors)

    def concrete():
        return call(tf.function(body).get_concrete_function(*tensors))

    return {
        "eager": lambda: call(body),
        "tf.function": lambda: call(tf.function(body)),
        "concrete": concrete,
        "XLA": lambda: call(tf.function(body, jit_compile=True)),
    }


def best(timings):
    """Returns {"v1": form, "v2": form}, the fastest timed form of each side."""
    sides = {"v1": V1, "v2": V2}
    there = {s: [f for f in names if f in timings] for s, names in sides.items()}
    return {
        side: min(names, key=lambda form: timings[form].median)
        for side, names in there.items()
        if names
    }


def ratio(timings):
    """Divides the time of TensorFlow 2's best form by TensorFlow 1's; or None."""
    fastest = best(timings)
    if len(fastest) < 2:
        return None
    return clock.ratio(timings[fastest["v2"]], timings[fastest["v1"]])
