"""`tf.Variable`, `tf.assign`, `tf.scatter_…`, initializers → objects and methods."""

import tensorflow.compat.v1 as tf

__all__ = [
    "create",
    "use_as_tensor",
    "sum_and_update",
    "update_in_turn",
    "scatter",
    "assign_slice",
    "change_shape",
    "copy_initial",
    "take_reads",
    "initialize_rest",
    "sum_by_epoch",
    "seen_by",
    "others",
    "make_embedding",
]


def create(value, dtype=None, form="value"):
    """Makes a variable; returns its value, dtype, shape and rank.

    Args:
        value: array, number, text, or lists and tuples of these.
        dtype: name of the dtype; None for the value's dtype.
        form: form of the initial value: the "value" itself, a "tensor" of it, or a
            "callable" that returns the tensor.

    Returns:
        dict with `value`, the name of the `dtype`, `shape` as a list, and `rank`.

    Raises:
        ValueError: the value is None, its rows differ in length, or it is a tensor of
            another dtype.
        TypeError: the value is a list of floats for an int dtype.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        if form == "tensor":
            value = tf.constant(value)
        initial = (lambda: tf.constant(value)) if form == "callable" else value
        v = tf.Variable(initial, dtype=dtype and tf.as_dtype(dtype))
        # --- run
        sess.run(tf.global_variables_initializer())
        return {
            "value": sess.run(v),
            "dtype": v.dtype.base_dtype.name,  # `v.dtype.name` is "float32_ref"
            "shape": v.get_shape().as_list(),
            "rank": v.get_shape().ndims,
        }


def use_as_tensor(x, positions):
    """Passes a variable to ops as a tensor; the ops do not change the variable.

    Args:
        x: [n] float array, the initial value; n is even.
        positions: [k] int array.

    Returns:
        dict of the ops' results, and the `variable` afterwards.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        v = tf.Variable(x)
        results = {
            "sum": v + 1,
            "product": 2 * v,
            "comparison": v > 0.5,
            "gather": tf.gather(v, positions),
            "element": v[1],
            "argmax": tf.argmax(v),
            "reshape": tf.reshape(v, [2, -1]),
            "concat": tf.concat([v, v], 0),
            "variable": v,
        }
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run(results)


def sum_and_update(start, step, runs):
    """Compares `x = x + step`, a new tensor, with adding the step to the variable.

    Args:
        start: array, the initial value.
        step: array of the same dtype and shape.
        runs: number of repetitions.

    Returns:
        ([whether the variable is a `tf.Variable`, whether the sum is a `tf.Variable`],
        list of `runs` pairs of the sum and the variable before the update).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        v = tf.Variable(start)
        x = v
        x = x + step  # the name now means a tensor, an expression without state
        update = tf.assign_add(v, step)
        kinds = [isinstance(v, tf.Variable), isinstance(x, tf.Variable)]
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for _ in range(runs):
            history.append(sess.run([x, v]))
            sess.run(update)
        return kinds, history


def update_in_turn(start, steps):
    """Assigns to, adds to and subtracts from a variable in turn.

    Args:
        start: array, the initial value.
        steps: list of [kind, value]; the kind is "assign", "add" or "sub", the value an
            array or a list of the shape of `start`.

    Returns:
        List of the values after each step.

    Raises:
        ValueError: a value has another shape than the variable; values do not
            broadcast.
        tf.errors.InvalidArgumentError: the same mistake, in eager additions and
            subtractions.
        TypeError: a list contains floats, but the variable is an integer.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        v = tf.Variable(start)
        kinds = {"assign": tf.assign, "add": tf.assign_add, "sub": tf.assign_sub}
        updates = [kinds[kind](v, value) for kind, value in steps]
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(update) for update in updates]


def scatter(start, kind, indices, updates):
    """Updates some rows or elements of a variable.

    Args:
        start: array, the initial value.
        kind: "update", "add", "sub", "mul", "div", "min" or "max" of rows;
            "nd_update", "nd_add" or "nd_sub" of elements; "batch_update" of positions
            in each row.
        indices: int array: indices of rows; of elements (the last axis is a position);
            or for each row the positions in it.
        updates: array of the dtype of `start`.

    Returns:
        The variable's value afterwards.

    Raises:
        tf.errors.InvalidArgumentError: an index is out of range, or negative.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        v = tf.Variable(start)
        kinds = {
            "update": tf.scatter_update,
            "add": tf.scatter_add,
            "sub": tf.scatter_sub,
            "mul": tf.scatter_mul,
            "div": tf.scatter_div,
            "min": tf.scatter_min,
            "max": tf.scatter_max,
            "nd_update": tf.scatter_nd_update,
            "nd_add": tf.scatter_nd_add,
            "nd_sub": tf.scatter_nd_sub,
            "batch_update": tf.batch_scatter_update,
        }
        update = kinds[kind](v, indices, updates)
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        return sess.run(v)


def assign_slice(start, row, column, value):
    """Assigns to a slice of a variable: `v[row, column:]`.

    Args:
        start: [r, c] array, the initial value.
        row: number of the row.
        column: the first column to assign to.
        value: [c - column] array, or a scalar, which 1.15 does not broadcast.

    Returns:
        [r, c], the variable's value afterwards.

    Raises:
        ValueError: in a graph: the row does not exist.
        tf.errors.InvalidArgumentError: eagerly: the row does not exist; or the sizes do
            not match.
        tf.errors.UnimplementedError: in 1.15: the sizes do not match.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        v = tf.Variable(start)
        update = v[row, column:].assign(value)
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        return sess.run(v)


def change_shape(start, values, validate_shape=False):
    """Assigns values of other shapes to a variable.

    Args:
        start: array, the initial value.
        values: list of arrays of one dtype.
        validate_shape: whether the variable accepts only its first shape.

    Returns:
        (the variable's static rank or None, list of [value, shape] after each
        assignment).

    Raises:
        tf.errors.InvalidArgumentError: `validate_shape` is True and a value has another
            shape.
        ValueError: the same mistake, eagerly.
        TypeError: a value has another dtype (ValueError in TensorFlow 2).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        # Without validate_shape=False here, v.shape would remain the first shape.
        v = tf.Variable(start, validate_shape=validate_shape)
        value = tf.placeholder(values[0].dtype)
        update = tf.assign(v, value, validate_shape=validate_shape)
        both = [v, tf.shape(v)]
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for new in values:
            sess.run(update, {value: new})
            history.append(sess.run(both))
        return v.shape.ndims, history


def copy_initial(start, step):
    """Copies a variable's value to new variables, before and after an update.

    Args:
        start: array, the initial value of the original.
        step: array of the same dtype and shape that is added to the original.

    Returns:
        dict of the `original`, an `early` copy, its `double`, and a `late` copy.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        original = tf.Variable(start, name="original")
        # Initializers run in any order; this one does not depend on the other.
        early = tf.Variable(original.initialized_value(), name="early")
        double = tf.Variable(2 * original.initialized_value(), name="double")
        update = tf.assign_add(original, step)
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(update)
        # --- late
        # If a variable has a value, `initialized_value` is the current value.
        late = tf.Variable(original.initialized_value(), name="late")
        sess.run(late.initializer)
        return sess.run(
            {"original": original, "early": early, "double": double, "late": late}
        )


def take_reads(start, increments, use_resource):
    """Reads a variable before and after increments; returns all reads at the end.

    Args:
        start: scalar array, the initial value.
        increments: [n] array of the same dtype.
        use_resource: whether to use a resource variable: its reads are copies, but the
            reads of a reference variable are not.

    Returns:
        List of n + 1 reads; without `use_resource` all are the last value.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        v = tf.Variable(start, use_resource=use_resource)
        # --- step
        reads = [tf.identity(v.read_value())]
        for increment in increments:
            with tf.control_dependencies([reads[-1]]):
                update = tf.assign_add(v, increment)
            with tf.control_dependencies([update]):
                reads.append(tf.identity(v.read_value()))
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run(reads)


def initialize_rest(initial, restored, rest=True):
    """Restores some variables, and initializes the uninitialized rest.

    Args:
        initial: dict from name to array, the initial values.
        restored: dict from some of these names to arrays.
        rest: whether to initialize the other variables; if not, they have no value.

    Returns:
        (list of the other variables' names, dict of all values).

    Raises:
        tf.errors.FailedPreconditionError: `rest` is False and there are other
            variables.
        KeyError: the same mistake in TensorFlow 2.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        variables = {n: tf.Variable(value, name=n) for n, value in initial.items()}
        report = tf.report_uninitialized_variables()
        # --- restore
        for name, value in restored.items():
            variables[name].load(value, sess)
        # --- rest
        missing = [name.decode() for name in sess.run(report)]
        if rest:
            sess.run(tf.variables_initializer([variables[name] for name in missing]))
        return missing, sess.run(variables)


def sum_by_epoch(epochs):
    """Sums per epoch in a local variable, and over all epochs in a global variable.

    Args:
        epochs: [epochs, n] array.

    Returns:
        (list of [sum of the epoch, sum so far] at the end of each epoch, names of the
        global variables, names of the local variables).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(epochs.dtype, [])
        zero = tf.zeros([], epochs.dtype)
        # Checkpoints do not contain local variables, and the global initializer does
        # not initialize them.
        of_epoch = tf.Variable(
            zero, False, name="of_epoch", collections=[tf.GraphKeys.LOCAL_VARIABLES]
        )
        of_all = tf.Variable(zero, False, name="of_all")
        update = [tf.assign_add(of_epoch, x), tf.assign_add(of_all, x)]
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for epoch in epochs:
            sess.run(tf.local_variables_initializer())
            for number in epoch:
                sess.run(update, {x: number})
            history.append(sess.run([of_epoch, of_all]))
        # --- names
        names = [v.op.name for v in tf.global_variables()]
        return history, names, [v.op.name for v in tf.local_variables()]


def seen_by(x, frozen):
    """Lists a model's variables, trainable variables and gradients.

    Args:
        x: float array, the initial value of two variables, `a` and `b`.
        frozen: list of the names of variables that are not trainable: some of `a`, `b`
            and `steps`, an integer that the loss uses, too.

    Returns:
        dict with the names of `all` variables and of the `trainable` variables, and the
        existing `gradients` by name.

    Raises:
        ValueError: no variable is trainable.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(x, "a" not in frozen, name="a")
        b = tf.Variable(x, "b" not in frozen, name="b")
        steps = tf.Variable(3, "steps" not in frozen, name="steps")
        loss = tf.reduce_sum(a * b * tf.cast(steps, x.dtype))
        # --- differentiate
        optimizer = tf.train.GradientDescentOptimizer(0.125)
        pairs = optimizer.compute_gradients(loss)  # for all trainable variables
        gradients = {v.op.name: g for g, v in pairs if g is not None}
        # --- names
        sess.run(tf.global_variables_initializer())
        return {
            "all": [v.op.name for v in tf.global_variables()],
            "trainable": [v.op.name for v in tf.trainable_variables()],
            "gradients": sess.run(gradients),
        }


def others(values, chosen):
    """Lists the variables that were not chosen, compared by identity, not by value.

    Args:
        values: list of arrays, the initial values.
        chosen: list of indices in `values`.

    Returns:
        List of the other indices.
    """
    with tf.Graph().as_default():
        # --- build
        variables = [tf.Variable(value) for value in values]
        place = {v: i for i, v in enumerate(variables)}
        picked = [variables[i] for i in chosen]
        # --- rest
        return [place[v] for v in variables if v not in picked]


def make_embedding(rows, units, trainable=True, name="embedding"):
    """Makes an embedding layer that zeroes elements at or below a threshold.

    Args:
        rows: number of rows of the table.
        units: number of columns.
        trainable: whether the table is trained; the threshold never is.
        name: scope of the variables `table` and `threshold`.

    Returns:
        Callable from [n] ids and [n, units] weights to weighted rows, [n, units].
    """

    def embed(ids, weights):
        # --- variables
        ones = tf.ones_initializer()
        table = tf.get_variable(
            "table", [rows, units], weights.dtype, ones, trainable=trainable
        )
        threshold = tf.get_variable(
            "threshold", [units], weights.dtype, ones, trainable=False
        )
        # --- output
        picked = tf.gather(table, ids)
        return picked * tf.cast(picked > threshold, picked.dtype) * weights

    return tf.make_template(name, embed)
