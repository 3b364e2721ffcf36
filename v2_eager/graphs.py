"""`tf.Graph`, `sess.run`, `tf.get_collection`, `ConfigProto` → functions, objects."""

import tensorflow as tf

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
    """Adds two numbers; returns the text of the symbolic tensor, and the sum."""
    texts = []

    # --- build
    @tf.function
    def add():
        total = tf.add(a, b, name="total")
        # A tensor is symbolic only during the trace; an eager tensor prints its value.
        texts.append(str(total))
        return total

    # --- run
    total = add()
    return texts[0], total.numpy()


def two_graphs(first, second):
    """Makes two separate variables named "v", adds 1 to the second, and reads both."""
    # --- build
    # Variables are objects: two variables can have the same name.
    variables = [tf.Variable(value, name="v") for value in (first, second)]
    # --- run
    variables[1].assign_add(tf.ones_like(variables[1]))
    return [v.name for v in variables], [v.numpy() for v in variables]


def three_sessions(x):
    """Doubles an array in a plain, a default and an interactive session."""
    results = []
    y = tf.constant(x) * 2
    # --- session
    results.append(y.numpy())
    # --- default session
    results.append(y.numpy())
    # --- interactive session
    results.append(y.numpy())
    return results


def place(x, device, soft=True):
    """Negates an array on a named device, with or without soft placement."""
    # --- configure
    # An option of the session is now an option of the process; the default is True.
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(soft)
    # --- run
    try:
        with tf.device(device):
            return (-tf.constant(x)).numpy()
    finally:
        tf.config.set_soft_device_placement(before)


def feed_between(x, hidden=None):
    """Computes 3 (x² + 1), or 3 * hidden if the intermediate value is fed."""

    # --- build
    # To feed an intermediate value, split the function in two.
    @tf.function
    def between(x):
        return tf.square(x) + 1

    @tf.function
    def outputs(between):
        return 3 * between

    # --- run
    if hidden is None:
        value = between(tf.constant(x))
    else:  # as a session did: cast, and check the shape
        value = tf.ensure_shape(tf.constant(hidden, x.dtype), x.shape)
    return outputs(value).numpy()


def sum_of_collection(weights, only=None):
    """Adds up the penalties of a collection, of all scopes or of one scope."""
    # --- collect
    # In place of a collection of the graph, keep or return a list.
    penalties = []
    for index, weight in enumerate(weights):
        scope = "head" if index == len(weights) - 1 else "body"
        penalties.append((scope, tf.nn.l2_loss(weight)))
    # --- add
    # `get_collection` matched the beginning of a name; here the name must be equal.
    chosen = [penalty for scope, penalty in penalties if only in (None, scope)]
    return len(chosen), tf.add_n(chosen).numpy()


def fetch_by_name(x, name):
    """Runs a small network and fetches one of its tensors by name."""

    # --- build
    # A function has no fetches: return all values that are needed, by name.
    @tf.function
    def network(inputs):
        hidden = tf.abs(inputs)
        return {"hidden": hidden, "output": tf.sqrt(hidden)}

    # --- run
    return network(tf.constant(x))[name].numpy()


def fresh_names(fresh):
    """Returns the names of two constants "c": in one graph, or in two graphs."""
    names = []

    # --- one graph
    @tf.function
    def first():
        names.append(tf.constant(1, name="c").name)
        if not fresh:
            names.append(tf.constant(1, name="c").name)

    # --- another graph
    # Every trace has its own graph: nothing needs a reset.
    @tf.function
    def second():
        names.append(tf.constant(1, name="c").name)

    first.get_concrete_function()
    if fresh:
        second.get_concrete_function()
    return names
