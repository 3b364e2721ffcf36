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
    """Adds two numbers, and shows the sum before it is known and after.

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
    """Keeps two variables of one name "v" apart, adds 1 to the second, reads both.

    Args:
        first: array, the initial value of one.
        second: array, the initial value of the other.

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
    """Doubles an input in a session, a default session and an interactive one.

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
            results.append(tf.get_default_session().run(y))  # y.eval() does so, too
        sess.close()
        # --- interactive session
        sess = tf.InteractiveSession()
        results.append(y.eval())
        sess.close()
    return results


def place(x, device, soft=True):
    """Negates on a named device; soft placement makes do where there is none.

    Args:
        x: array.
        device: name such as "/CPU:0" or "/GPU:7".
        soft: whether another device may stand in.

    Returns:
        Array like `x`.

    Raises:
        tf.errors.InvalidArgumentError: no such device, and `soft` is False.
    """
    # --- configure
    config = tf.ConfigProto(allow_soft_placement=soft)
    # --- run
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        with tf.device(device):
            y = -tf.constant(x)
        return sess.run(y)


def feed_between(x, hidden=None):
    """Computes 3 (x² + 1), or 3 `hidden` where the value in between is given.

    Args:
        x: array.
        hidden: array to stand in for x² + 1, or None.

    Returns:
        Array like `x`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        inputs = tf.placeholder(x.dtype, x.shape)
        between = tf.square(inputs) + 1
        outputs = 3 * between
        # --- run
        # Any tensor can be fed, not only a placeholder; what precedes it is not run.
        if hidden is not None:
            return sess.run(outputs, {between: hidden})
        return sess.run(outputs, {inputs: x})


def sum_of_collection(weights, only=None):
    """Adds up penalties that were made elsewhere, and collected under a name.

    Args:
        weights: list of arrays of one dtype, the last one in the scope "head".
        only: name of the scope whose penalties count, or None for all.

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
    """Names the constant "c" twice: in one graph, or in two.

    Args:
        fresh: whether the second is made in a graph of its own.

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
    # tf.reset_default_graph does the same to the graph that nobody opened.
    if fresh:
        with tf.Graph().as_default():
            names.append(tf.constant(1, name="c").name)
    return names
