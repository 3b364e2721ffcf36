"""Graphs, sessions, feeds and fetches: in TensorFlow 2, and alone."""

import threading
from unittest import mock

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import stack
from tensorflow.python.framework.ops import gradient_registry

from tf1to2.parity.v1 import legacy
from tf1to2.tests.raisers import by_old_flow, in_graph, v1

# --- Inside TensorFlow 2.


def tape_of_reference():
    with tf.Graph().as_default():
        w = v1.get_variable("w", [2], use_resource=False)
        with tf.GradientTape() as tape:
            y = w * w
        return tape.gradient(y, w)


def differentiate_what_ran():
    """Asks for the gradient of a loop that the session has run without it."""
    with tf.Graph().as_default(), v1.Session() as sess:
        x = tf.constant(2.0)
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
        sess.run(y)
        sess.run(v1.gradients(y, x))


def give_too_few(eagerly):
    """Registers a gradient for one of two inputs, and forgets it again."""
    with mock.patch.dict(gradient_registry._registry):
        tf.RegisterGradient("AdjustHue")(lambda op, upstream: [upstream])
        with tf.GradientTape() as tape:
            image = tf.ones([1, 1, 3])
            tape.watch(image)
            shifted = tf.image.adjust_hue(image, 0.1)
        if eagerly:
            tape.gradient(shifted, image)
        with tf.Graph().as_default():
            image = tf.ones([1, 1, 3])
            v1.gradients(tf.image.adjust_hue(image, 0.1), image)


def decode_what_describes():
    feature = tf.io.FixedLenFeature([], tf.string)
    tf.data.Dataset.range(1).map(lambda _: tf.io.decode_raw(feature, tf.uint8))


def tape_around_a_branch():
    with tf.Graph().as_default(), tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = v1.cond(v1.placeholder_with_default(True, []), lambda: x * x, lambda: x)
        return tape.gradient(y, x)


def gradient_of_reference():
    @tf.custom_gradient
    def scaled(x):
        w = v1.get_variable("w", [2], use_resource=False)
        return x * w, lambda dy, variables: (dy * w, [dy * x])

    with tf.Graph().as_default():
        scaled(tf.ones([2]))


def gradient_of_block():
    x, zeros, w = tf.ones([1, 2]), tf.zeros(2), tf.Variable(tf.ones([4, 8]))
    peepholes = {"wci": zeros, "wcf": zeros, "wco": zeros}
    with tf.GradientTape() as tape:
        state = {"cs_prev": x, "h_prev": x}
        step = tf.raw_ops.LSTMBlockCell(x=x, w=w, b=tf.zeros(8), **state, **peepholes)
    tape.gradient(step.h, w)


def function_of_reference():
    with tf.Graph().as_default():
        w = v1.get_variable("w", [2], use_resource=False)
        tf.function(w.assign_add)(tf.ones([2]))


def capture_eager():
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        return x + 1


def nowhere_else():
    soft = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    try:
        return on_gpu()
    finally:
        tf.config.set_soft_device_placement(soft)


def on_gpu():
    with tf.device("/device:GPU:0"):
        return tf.constant(1.0) + 1


# --- Old graphs and sessions.


def eval_in_a_thread():
    found = []

    def work():
        try:
            x.eval()
        except ValueError as error:
            found.append(error)

    with tf.Graph().as_default(), v1.Session():
        x = tf.constant(1.0)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    raise found[0]


def fetched_from_another():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    with tf.Graph().as_default(), v1.Session() as sess:
        tf.constant(2.0)
        sess.run(x)


def crossed():
    with tf.Graph().as_default():
        first, second = v1.Session().as_default(), v1.Session().as_default()
        first.__enter__()
        second.__enter__()
        try:
            first.__exit__(None, None, None)
        finally:
            second.__exit__(None, None, None)
            stack._default_session_stack.reset()  # of the first: nothing public does it


def drained(kind):
    """Two elements of a queue that is closed and has one."""
    ends = {"min_after_dequeue": 0} if kind is v1.RandomShuffleQueue else {}
    queue = kind(capacity=4, dtypes=["float32"], shapes=[[]], **ends)
    with tf.control_dependencies([queue.enqueue(1.0)]):
        closed = queue.close()
    with tf.control_dependencies([closed]):
        return queue.dequeue_many(2)


def closed():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with v1.Session() as sess:
            pass
        sess.run(x)


def asked_of_another():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    with tf.Graph().as_default(), v1.Session() as sess:
        x.eval(session=sess)


def two_graphs():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    with tf.Graph().as_default():
        return tf.add(x, tf.constant(1.0))


def feed(value, key=None):
    x = v1.placeholder(tf.float32, [2])
    v1.get_default_session().run(x + 1, {x if key is None else key: value})


def uninitialized():
    with legacy(), v1.Session() as sess:
        sess.run(v1.get_variable("w", [2]))


def freeze_nothing():
    nodes = v1.get_default_graph().as_graph_def()
    v1.graph_util.convert_variables_to_constants(v1.Session(), nodes, ["net/output"])


def variable_in_loop():
    def body(i):
        return i + v1.Variable(tf.ones([], tf.int32))

    return tf.while_loop(lambda i: i < 3, body, [0])


def no_step_of_a_loop():
    x = v1.placeholder_with_default([[1.0]], [None, 1])
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    loop = tf.while_loop(
        lambda i, _: i < 0, lambda i, a: (i + 1, a.write(i, x)), [0, array]
    )
    return loop[1].stack()


def initializable():
    return v1.data.make_initializable_iterator(tf.data.Dataset.range(2))


def look_up():
    values = tf.lookup.KeyValueTensorInitializer(["a"], [1])
    return v1.lookup.StaticHashTable(values, 0).lookup(tf.constant("a"))


def finalized():
    with tf.Graph().as_default() as graph:
        graph.finalize()
        tf.constant(1.0)


def reuse_nothing():
    with v1.variable_scope("net", reuse=True):
        v1.get_variable("w", [2])


def share():
    with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
        v1.get_variable("w", [2])
        v1.get_variable("w", [3])


def in_a_branch():
    inside = []

    def yes():
        inside.append(tf.constant(1.0) * 2)
        return inside[0]

    with legacy(), v1.Session() as sess:
        tf.cond(tf.constant(True), yes, lambda: tf.constant(0.0))
        sess.run(inside[0])


def in_a_loop():
    inside = []

    def body(i):
        inside.append(i * 2)
        return i + 1

    with legacy():
        tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
        return inside[0] + 1


def graph_of(op):
    graph = v1.GraphDef()
    graph.node.add(name="x", op=op)
    return graph


def initialize_without_session():
    with tf.Graph().as_default():
        v1.global_variables_initializer().run()


def session_of_a_test():
    with tf.test.TestCase("test_session").session() as sess:
        sess.run(tf.constant(1.0))


def fed_session_of_a_test():
    with tf.test.TestCase("test_session").cached_session() as sess:
        sess.run(tf.constant(1.0), feed_dict={"x": 1.0})


def import_outside():
    with tf.Graph().as_default() as graph:
        v1.placeholder(tf.float32, name="x")
    inputs = {"x:0": tf.constant(1.0)}
    tf.graph_util.import_graph_def(graph.as_graph_def(), inputs)


def differentiate_by_hand():
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x):
        return x * w, lambda upstream: upstream * w

    with tf.GradientTape() as tape:
        y = scaled(tf.constant(3.0))
    tape.gradient(y, w)


ERRORS = {
    "_as_tf_output": import_outside,
    "inside a loop or conditional": in_graph(by_old_flow(variable_in_loop)),
    "TensorArray has size zero": in_graph(by_old_flow(no_step_of_a_loop), run=True),
    "cannot compute Split as input #0(zero-based)": lambda: tf.split(
        1, 2, tf.ones([2, 2])
    ),
    "Input 'split_dim'": in_graph(
        lambda: v1.split(1, 2, v1.placeholder(tf.float32, [2, 2, 2]))
    ),
    "must have rank 0": in_graph(
        lambda: v1.concat(1, [v1.placeholder(tf.float32, [2, 2])] * 2)
    ),
    "Connecting to invalid output": differentiate_what_ran,
    "do not specify shape": in_graph(
        lambda: v1.get_variable("w", [2], initializer=tf.constant([1.0, 2.0]))
    ),
    "initializer passed is not valid": in_graph(
        lambda: v1.get_variable("w", [None, 2])
    ),
    "return tensor": in_graph(
        lambda: tf.import_graph_def(v1.GraphDef(), return_elements=["probs:0"])
    ),
    "'functools.partial'": lambda: (
        v1.train.polynomial_decay(0.1, tf.Variable(1), 9) * 0.5
    ),
    "returned too few gradients": lambda: give_too_few(eagerly=True),
    "do not match num inputs": lambda: give_too_few(eagerly=False),
    "op '…', got FixedLenFeature(": decode_what_describes,
    "graph control flow operations": by_old_flow(tape_around_a_branch),
    "Cannot execute operation": initialize_without_session,
    "tf.placeholder()": lambda: v1.placeholder(tf.float32),
    "Trying to access properties": session_of_a_test,
    "feed_dict is not supported": fed_session_of_a_test,
    "Session graph is empty": lambda: v1.Session().run(tf.constant(1.0)),
    "tf.gradients": lambda: tf.gradients(tf.constant(1.0), [tf.constant(1.0)]),
    "should be a function": lambda: v1.train.AdamOptimizer().minimize(tf.ones([])),
    "eval is not": lambda: tf.constant(1.0).eval(),
    "This operation": lambda: tf.Variable(1.0).eval(),
    "Tensor.name": lambda: tf.constant(1.0).name,
    "Tensor.op": lambda: tf.constant(1.0).op,
    "Tensor.graph": lambda: tf.constant(1.0).graph,
    "Queues": lambda: v1.train.batch([tf.constant(1)], 2),
    "make_initializable_iterator": lambda: initializable(),
    "FileWriter": lambda: v1.summary.FileWriter("events"),
    "Merging": lambda: v1.train.MonitoredSession(),
    "`var_list`": lambda: v1.train.Saver(),
    "RefVariable": tape_of_reference,
    "`ResourceVariable`": gradient_of_reference,
    "expected types": function_of_reference,
    "Cannot evaluate tensor": eval_in_a_thread,
    "is not an element": fetched_from_another,
    "Nesting violated": crossed,
    "closed Session": closed,
    "RandomShuffleQueue": in_graph(lambda: drained(v1.RandomShuffleQueue), run=True),
    "FIFOQueue": in_graph(lambda: drained(tf.queue.FIFOQueue), run=True),
    "the given session": asked_of_another,
    "same graph": two_graphs,
    "capture an EagerTensor": capture_eager,
    "'SymbolicTensor' object has no attribute 'assign_add'": in_graph(
        lambda: v1.assign_add(tf.constant(1.0), 1.0)
    ),
    "must feed a value": in_graph(lambda: v1.placeholder(tf.float32) + 1, run=True),
    "Cannot feed value": in_graph(lambda: feed(np.ones(3))),
    "value of a feed": in_graph(lambda: feed(tf.ones(2))),
    "feed_dict key": in_graph(lambda: feed(1, "no:0")),
    "Argument `fetch`": in_graph(lambda: [tf.constant(1.0), None], run=True),
    "refers to a Tensor": in_graph(
        lambda: v1.get_default_graph().get_tensor_by_name("x:0")
    ),
    "refers to an Operation": in_graph(
        lambda: v1.get_default_graph().get_operation_by_name("x")
    ),
    "Attempting to use uninitialized": uninitialized,
    "Could not find variable": in_graph(
        lambda: v1.get_variable("w", [2], use_resource=True), run=True
    ),
    "Table not": in_graph(look_up, run=True),
    "GetNext()": in_graph(lambda: initializable().get_next(), run=True),
    "finalized": finalized,
    "already exists": in_graph(lambda: [v1.get_variable("w", [2]) for _ in "ab"]),
    "does not exist, or": in_graph(reuse_nothing),
    "Trying to share": in_graph(share),
    "not fetchable": in_a_branch,
    "in a while loop": in_a_loop,
    "No variables to save": in_graph(lambda: v1.train.Saver()),
    "No variables to optimize": in_graph(
        lambda: v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))
    ),
    "No gradient defined": in_graph(
        lambda: tf.gradients(tf.unique(x := v1.placeholder(tf.float32, [2]))[0], x)
    ),
    "gradient registry has no entry": gradient_of_block,
    "2GB": lambda: tf.make_tensor_proto(np.zeros(2**31, np.uint8)),
    "Op type not": in_graph(lambda: v1.import_graph_def(graph_of("NoSuchOp"))),
    "grad_fn must accept": differentiate_by_hand,
    "length of shape": in_graph(lambda: len(v1.placeholder(tf.float32).shape)),
    "iterate over a shape": in_graph(lambda: [*v1.placeholder(tf.float32).shape]),
    "must be a SparseTensor": lambda: tf.sparse.to_dense(tf.ones([2, 2])),
    "_lazy_read": lambda: v1.scatter_update(tf.ones([3]), [0], [1.0]),
    "as_list()": in_graph(lambda: v1.placeholder(tf.float32).shape.as_list()),
    "Cannot assign a device": in_graph(on_gpu, run=True),
    "device specification": nowhere_else,
    "Python-style iteration in": in_graph(lambda: list(tf.data.Dataset.range(2))),
    "is not in graph": in_graph(freeze_nothing),
    "Exporting/importing": lambda: v1.train.import_meta_graph("model.meta"),
    "tf.metrics.": lambda: v1.metrics.mean([1.0]),
    "numpy() is only": in_graph(lambda: tf.Variable(1.0).numpy()),
}
