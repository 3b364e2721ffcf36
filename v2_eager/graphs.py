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
    """Adds two numbers, and shows the sum before it is known and after."""
    texts = []

    # --- build
    @tf.function
    def add():
        total = tf.add(a, b, name="total")
        # Only while tracing is a tensor symbolic; an eager one prints its value.
        texts.append(str(total))
        return total

    # --- run
    total = add()
    return texts[0], total.numpy()


def two_graphs(first, second):
    """Keeps two variables of one name "v" apart, adds 1 to the second, reads both."""
    # --- build
    # Variables are objects: whoever holds one has it, whatever its name.
    variables = [tf.Variable(value, name="v") for value in (first, second)]
    # --- run
    variables[1].assign_add(tf.ones_like(variables[1]))
    return [v.name for v in variables], [v.numpy() for v in variables]


def three_sessions(x):
    """Doubles an input in a session, a default session and an interactive one."""
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
    """Negates on a named device; soft placement makes do where there is none."""
    # --- configure
    # The session's option is the process's now, and its default is True, no more False.
    before = tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(soft)
    # --- run
    try:
        with tf.device(device):
            return (-tf.constant(x)).numpy()
    finally:
        tf.config.set_soft_device_placement(before)


def feed_between(x, hidden=None):
    """Computes 3 (x² + 1), or 3 `hidden` where the value in between is given."""

    # --- build
    # Where a value used to be fed in between, one function becomes two.
    @tf.function
    def between(x):
        return tf.square(x) + 1

    @tf.function
    def outputs(between):
        return 3 * between

    # --- run
    if hidden is None:
        value = between(tf.constant(x))
    else:  # a session cast what it was fed, and looked at its shape
        value = tf.ensure_shape(tf.constant(hidden, x.dtype), x.shape)
    return outputs(value).numpy()


def sum_of_collection(weights, only=None):
    """Adds up penalties that were made elsewhere, and collected under a name."""
    # --- collect
    # What a graph kept for everybody is a list that somebody returns.
    penalties = []
    for index, weight in enumerate(weights):
        scope = "head" if index == len(weights) - 1 else "body"
        penalties.append((scope, tf.nn.l2_loss(weight)))
    # --- add
    # `get_collection` matched the beginning of a name; here a name is a name.
    chosen = [penalty for scope, penalty in penalties if only in (None, scope)]
    return len(chosen), tf.add_n(chosen).numpy()


def fetch_by_name(x, name):
    """Runs a small network and fetches one of its tensors by name."""

    # --- build
    # A function gives what it returns: return by name whatever will be asked for.
    @tf.function
    def network(inputs):
        hidden = tf.abs(inputs)
        return {"hidden": hidden, "output": tf.sqrt(hidden)}

    # --- run
    return network(tf.constant(x))[name].numpy()


def fresh_names(fresh):
    """Names the constant "c" twice: in one graph, or in two."""
    names = []

    # --- one graph
    @tf.function
    def first():
        names.append(tf.constant(1, name="c").name)
        if not fresh:
            names.append(tf.constant(1, name="c").name)

    # --- another graph
    # Every trace has a graph of its own: there is nothing left to reset.
    @tf.function
    def second():
        names.append(tf.constant(1, name="c").name)

    first.get_concrete_function()
    if fresh:
        second.get_concrete_function()
    return names
