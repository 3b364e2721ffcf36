"""`tf.Graph`, `sess.run`, `tf.get_collection`, `ConfigProto` → functions, objects."""

import tensorflow.compat.v1 as tf

__all__ = [
    "printed_and_run",
    "two_graphs",
    "three_sessions",
    "place",
    "feed_between",
    "sum_of_collection",
    "fetch_by_name",
    "fresh_names",
]


def printed_and_run(a, b):
    """Adds two numbers; returns the text of the symbolic tensor, and the sum.

    Args:
        a: scalar array.
        b: scalar array of the same dtype.

    Returns:
        The text of the symbolic tensor, and the sum.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        total = tf.add(a, b, name="total")
        text = str(total)
        # --- run
        return text, sess.run(total)


def two_graphs(first, second):
    """Makes two separate variables named "v", adds 1 to the second, and reads both.

    Args:
        first: array, the initial value of the first variable.
        second: array, the initial value of the second variable.

    Returns:
        ([name, name], [value, value]).
    """
    # --- build
    variables = []
    for value in [first, second]:
        with tf.Graph().as_default():
            variables.append(tf.get_variable("v", initializer=value))
    # --- run
    names, values = [], []
    for v in variables:
        with v.graph.as_default(), tf.Session() as sess:
            sess.run(v.initializer)
            if v is variables[1]:
                sess.run(tf.assign_add(v, tf.ones_like(v)))
            names.append(v.name)
            values.append(sess.run(v))
    return names, values


def three_sessions(x):
    """Doubles an array in a plain, a default and an interactive session.

    Args:
        x: array.

    Returns:
        List of three arrays like `x`.
    """
    results = []
    with tf.Graph().as_default():
        y = tf.constant(x) * 2
        # --- session
        with tf.Session() as sess:
            results.append(sess.run(y))
        # --- default session
        sess = tf.Session()
        with sess.as_default():
            results.append(tf.get_default_session().run(y))  # so does y.eval()
        sess.close()
        # --- interactive session
        sess = tf.InteractiveSession()
        results.append(y.eval())
        sess.close()
    return results


def place(x, device, soft=True):
    """Negates an array on a named device, with or without soft placement.

    Args:
        x: array.
        device: name such as "/CPU:0" or "/GPU:7".
        soft: whether to use another device if this one does not exist.

    Returns:
        Array like `x`.

    Raises:
        tf.errors.InvalidArgumentError: the device does not exist, and `soft` is False.
    """
    # --- configure
    config = tf.ConfigProto(allow_soft_placement=soft)
    # --- run
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        with tf.device(device):
            y = -tf.constant(x)
        return sess.run(y)


def feed_between(x, hidden=None):
    """Computes 3 (x² + 1), or 3 * hidden if the intermediate value is fed.

    Args:
        x: array.
        hidden: array that replaces x² + 1, or None.

    Returns:
        Array like `x`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        inputs = tf.placeholder(x.dtype, x.shape)
        between = tf.square(inputs) + 1
        outputs = 3 * between
        # --- run
        # Any tensor can be fed, not only a placeholder; ops before it do not run.
        if hidden is not None:
            return sess.run(outputs, {between: hidden})
        return sess.run(outputs, {inputs: x})


def sum_of_collection(weights, only=None):
    """Adds up the penalties of a collection, of all scopes or of one scope.

    Args:
        weights: list of arrays of one dtype, the last one in the scope "head".
        only: name of the scope of the penalties to add, or None for all.

    Returns:
        (number of penalties, their sum).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- collect
        for index, weight in enumerate(weights):
            scope = "head" if index == len(weights) - 1 else "body"
            with tf.name_scope(scope):
                tf.add_to_collection("penalties", tf.nn.l2_loss(weight))
        # --- add
        penalties = tf.get_collection("penalties", only)
        return len(penalties), sess.run(tf.add_n(penalties))


def fetch_by_name(x, name):
    """Runs a small network and fetches one of its tensors by name.

    Args:
        x: float array.
        name: "hidden" or "output".

    Returns:
        Array like `x`.

    Raises:
        KeyError: no tensor has that name.
    """
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        # --- build
        inputs = tf.placeholder(x.dtype, x.shape, name="inputs")
        hidden = tf.abs(inputs, name="hidden")
        tf.sqrt(hidden, name="output")
        # --- run
        return sess.run(graph.get_tensor_by_name(name + ":0"), {"inputs:0": x})


def fresh_names(fresh):
    """Returns the names of two constants "c": in one graph, or in two graphs.

    Args:
        fresh: whether to make the second constant in a new graph.

    Returns:
        List of two tensor names.
    """
    names = []
    # --- one graph
    with tf.Graph().as_default():
        names.append(tf.constant(1, name="c").name)
        if not fresh:
            names.append(tf.constant(1, name="c").name)
    # --- another graph
    # tf.reset_default_graph also gives a new graph, in place of the default graph.
    if fresh:
        with tf.Graph().as_default():
            names.append(tf.constant(1, name="c").name)
    return names
