"""Devices, names, scopes, variables and what a session is given."""

import tensorflow as tf

from tf1to2.tests.raisers import in_graph, lacks, v1

V = tf.Variable([1.0, 2.0, 3.0])


def on(device, api=tf):
    """A function that enters a device."""
    return lambda: api.device(device).__enter__()


def enter(make):
    """A function that enters what `make` returns, in a graph."""

    def graph():
        with make():
            pass

    return in_graph(graph)


def scope_in_a_scope():
    with tf.name_scope("net"), tf.name_scope("loss (1)"):
        pass


def change(how):
    """A function that changes a variable in place."""
    return lambda: getattr(tf.Variable(2.0), how)(3.0)


def session(*args, **options):
    """A function that makes a session."""

    def make():
        sess = v1.Session.__new__(v1.Session)
        sess._session = None  # `__del__` asks for it where `__init__` raised before
        sess.__init__(*args, **options)

    return make


def feed_what_may_not():
    graph, rate = v1.get_default_graph(), tf.constant(0.1)
    graph.prevent_feeding(rate)
    v1.Session().run(rate, {rate: 0.2})


def reenter():
    with v1.Session() as sess, sess:
        pass


def look_up(name):
    """A function that looks a tensor up in a graph that has `scores:0` alone."""

    def graph():
        tf.constant(1.0, name="scores")
        v1.get_default_graph().get_tensor_by_name(name)

    return in_graph(graph)


def run_in_another(what):
    """A function that gives a session `what(tensor)`, of another graph's tensor."""

    def run():
        with tf.Graph().as_default():
            tensor = tf.constant(1.0)
        with v1.Session(graph=tf.Graph()):
            what(tensor)

    return run


def fetch_optimizer():
    tf.constant(1.0)
    v1.Session().run(tf.keras.optimizers.SGD(0.1))


def share_dtype():
    v1.get_variable("bias", [4])
    with v1.variable_scope("", reuse=True):
        v1.get_variable("bias", [4], tf.int32)


def by_template():
    template = v1.make_template("double", lambda x: tf.Variable(2.0) * x)
    template(1.0)
    template(1.0)


def get_another_dtype():
    v1.get_variable("bias", initializer=tf.constant([1]), dtype=tf.float32)


def scaled(**options):
    return lambda: v1.variance_scaling_initializer(**options)


def get(name="bias", **options):
    """A function that gets a variable in a graph."""
    return in_graph(lambda: v1.get_variable(name, **options))


ERRORS = {
    "tf.device does not support functions": on(lambda op: "/cpu:0"),
    "tf.device does not support functions when": on(lambda op: "/cpu:0", v1),
    "parsing the device spec": on("/gpu0"),
    "string device name": on(0),
    "Unrecognized device": lambda: tf.config.set_visible_devices(["GPU:3"], "GPU"),
    "clear nested graphs": in_graph(v1.reset_default_graph),
    "This property is not": lambda: V.initial_value,
    "valid root scope name": enter(lambda: tf.name_scope("block 2")),
    "is not a valid scope name": in_graph(scope_in_a_scope),
    "name for name_scope": lambda: tf.name_scope(3),
    "variable += value": change("__iadd__"),
    "variable -= value": change("__isub__"),
    "var *= value": change("__imul__"),
    "var /= value": change("__itruediv__"),
    "arg to `tf.Variable` must": lambda: tf.Variable(None),
    "Got None.": tf.function(lambda: tf.Variable(None)),
    "argument: 'shape'": lambda: tf.Variable(tf.keras.initializers.Zeros()),
    "supplied `shape` argument": lambda: tf.Variable([1.0, 2.0], shape=[3]),
    "must have a shape specified": in_graph(
        lambda: v1.Variable(v1.placeholder(tf.float32, [None]), use_resource=False)
    ),
    "`sparse_delta` must": lambda: V.scatter_update({0: 5.0}),
    "sparse_delta is not": in_graph(
        lambda: v1.Variable([1.0], use_resource=False).scatter_add([1.0])
    ),
    "Argument `mode`": scaled(mode="FAN_AVG"),
    "Argument `distribution`": scaled(distribution="gaussian"),
    "Argument `scale`": scaled(scale=-2.0),
    "at least two-dimensional": get(shape=[5], initializer=v1.orthogonal_initializer()),
    "Argument `target`": session(v1.ConfigProto()),
    "Argument `config`": session(config={"a": 1}),
    "Argument `graph` must be": session(graph="net"),
    "not re-entrant": in_graph(reenter),
    "may not be fed": in_graph(feed_what_may_not),
    "refers to an Operation, not": look_up("scores"),
    "(invalid) Operation name": look_up("logits"),
    "looks a like a Tensor name": look_up("net:scores:0"),
    "exists but only has": look_up("scores:4"),
    "Tensor names are strings": look_up(3),
    "Operation names are strings": in_graph(
        lambda: v1.get_default_graph().get_operation_by_name(3)
    ),
    "Can not convert a … into a Tensor or Operation.": enter(
        lambda: tf.control_dependencies([None])
    ),
    "Tensor. (Can not convert a … into a Tensor or Operation.)": in_graph(
        fetch_optimizer
    ),
    "(nested) Tensors": in_graph(lambda: tf.group(None)),
    "at least one Tensor. Received": in_graph(lambda: v1.tuple([None])),
    "default session to evaluate": run_in_another(lambda tensor: tensor.eval()),
    "default session to execute": run_in_another(lambda tensor: tensor.op.run()),
    "did not get an initializer": get(),
    "explicit dtype": in_graph(get_another_dtype),
    "but specified dtype": in_graph(share_dtype),
    "reuse parameter must": enter(lambda: v1.variable_scope("net", reuse="yes")),
    "name_or_scope must be": enter(lambda: v1.variable_scope(7)),
    "name_or_scope is required": enter(lambda: v1.variable_scope(None)),
    "reuse_variables() takes": in_graph(
        lambda: v1.get_variable_scope().reuse_variables(True)
    ),
    "calling a template": in_graph(by_template),
    "`graph_def` must": in_graph(lambda: tf.graph_util.import_graph_def("net.pb")),
    "graph_def must be a graph_pb2": lambda: v1.graph_util.extract_sub_graph(
        "a", ["b"]
    ),
    "dest_nodes": lambda: v1.graph_util.extract_sub_graph(v1.GraphDef(), "probs"),
    "map inputs": in_graph(
        lambda: tf.graph_util.import_graph_def(
            v1.GraphDef(), input_map={"image:0": tf.ones([2])}
        )
    ),
    "'SymbolicTensor' object has no attribute '_lazy_read'": in_graph(
        lambda: v1.scatter_update(v1.placeholder(tf.float32, [3]), [0], [1.0])
    ),
    **{
        f"'ResourceVariable' object has no attribute '{name}'": (lacks(V, name))
        for name in ("reshape", "astype", "T")
    },
    "Tensor.consumers": lambda: tf.constant(1.0).consumers(),
    "Tensor.value_index": lambda: tf.constant(1.0).value_index,
}
