"""`tf.Variable`, `tf.assign`, `tf.scatter_…`, initializers → objects and methods."""

import tensorflow as tf

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
    """Makes a variable, and tells what it holds.

    Args:
        value: array, number, text, or lists and tuples of these.
        dtype: its name; None lets the value decide.
        form: what the variable is made of: the "value" itself, a "tensor" of it, or a
            "callable" that returns the tensor.

    Returns:
        dict with `value`, the name of the `dtype`, `shape` as a list, and `rank`.

    Raises:
        ValueError: there is no value, its rows differ in length, or it is a tensor of
            another dtype.
        TypeError: a list of floats for an int dtype.
    """
    # --- build
    if form == "tensor":
        value = tf.constant(value)
    initial = (lambda: tf.constant(value)) if form == "callable" else value
    v = tf.Variable(initial, dtype=dtype and tf.as_dtype(dtype))
    # --- run
    return {
        "value": v.numpy(),
        "dtype": v.dtype.name,
        "shape": v.shape.as_list(),
        "rank": v.shape.rank,  # a variable still has no `ndim`
    }


def use_as_tensor(x, positions):
    """Hands a variable to ops, which read it and leave it as it is.

    Args:
        x: [n] float array, its initial value; n is even.
        positions: [k] int array.

    Returns:
        dict of what the ops made, and of the `variable` afterwards.
    """
    # --- build
    v = tf.Variable(x)

    @tf.function
    def results():
        return {
            "sum": v + 1,
            "product": 2 * v,
            "comparison": v > 0.5,
            "gather": tf.gather(v, positions),
            "element": v[1],
            "argmax": tf.argmax(v),
            "reshape": tf.reshape(v, [2, -1]),
            "concat": tf.concat([v, v], 0),
            "variable": tf.convert_to_tensor(v),
        }

    # --- run
    return {name: result.numpy() for name, result in results().items()}


def sum_and_update(start, step, runs):
    """Rebinds a name to variable + step, and adds the step to the variable.

    Args:
        start: array, the initial value.
        step: array of the same dtype and shape.
        runs: how often to do both.

    Returns:
        ([whether the variable, the sum is a variable], list of `runs` pairs of the sum
        and the variable before the update).
    """
    # --- build
    v = tf.Variable(start)

    @tf.function
    def both():
        x = v
        x = x + step  # an expression only because the function computes it every time
        return x, v.read_value()

    @tf.function
    def update():
        v.assign_add(step)

    # --- run
    history = []
    for _ in range(runs):
        history.append([result.numpy() for result in both()])
        update()
    kinds = [isinstance(v, tf.Variable), isinstance(v + step, tf.Variable)]
    return kinds, history


def update_in_turn(start, steps):
    """Assigns to a variable, adds to it, subtracts from it, in turn.

    Args:
        start: array, the initial value.
        steps: list of [kind, value], the kind being "assign", "add" or "sub", the value
            an array or a list like `start`.

    Returns:
        List of the values after each step.

    Raises:
        ValueError: a value is not of the variable's shape; nothing is broadcast.
        tf.errors.InvalidArgumentError: the same, added or subtracted eagerly.
        TypeError: floats in a list, for a variable of integers.
    """
    # --- build
    v = tf.Variable(start)

    @tf.function
    def updates():
        kinds = {"assign": v.assign, "add": v.assign_add, "sub": v.assign_sub}
        history = []
        for kind, value in steps:
            kinds[kind](value)
            # What an assignment returns is the variable, which later steps change.
            history.append(v.read_value())
        return history

    # --- run
    return [value.numpy() for value in updates()]


def scatter(start, kind, indices, updates):
    """Updates some rows or elements of a variable.

    Args:
        start: array, the initial value.
        kind: "update", "add", "sub", "mul", "div", "min" or "max" of rows;
            "nd_update", "nd_add" or "nd_sub" of elements; "batch_update", whose first
            axes count along.
        indices: int array: of rows, of elements (the last axis is a position), or for
            each row the positions in it.
        updates: array of the dtype of `start`.

    Returns:
        The variable's value afterwards.

    Raises:
        tf.errors.InvalidArgumentError: an index is out of range, or negative.
    """
    # --- build
    v = tf.Variable(start)
    of_rows = {
        "update": v.scatter_update,
        "add": v.scatter_add,
        "sub": v.scatter_sub,
        "mul": v.scatter_mul,
        "div": v.scatter_div,
        "min": v.scatter_min,
        "max": v.scatter_max,
        "batch_update": v.batch_scatter_update,
    }
    of_elements = {
        "nd_update": v.scatter_nd_update,
        "nd_add": v.scatter_nd_add,
        "nd_sub": v.scatter_nd_sub,
    }

    @tf.function
    def update():
        if kind in of_rows:
            of_rows[kind](tf.IndexedSlices(updates, indices))  # values come first
        else:
            of_elements[kind](indices, updates)

    # --- run
    update()
    return v.numpy()


def assign_slice(start, row, column, value):
    """Assigns to a part of a matrix: `v[row, column:]`.

    Args:
        start: [r, c] array, the initial value.
        row: number of the row.
        column: the first column that is assigned to.
        value: [c - column] array, or a scalar, which 1.15 does not broadcast yet.

    Returns:
        [r, c], the variable's value afterwards.

    Raises:
        ValueError: there is no such row, in a graph.
        tf.errors.InvalidArgumentError: the same, eagerly; or the sizes do not fit.
        tf.errors.UnimplementedError: the sizes differ, in 1.15.
    """
    # --- build
    v = tf.Variable(start)

    @tf.function
    def update():
        v[row, column:].assign(value)

    # --- run
    update()
    return v.numpy()


def change_shape(start, values, validate_shape=False):
    """Assigns values of other shapes to a variable.

    Args:
        start: array, the initial value.
        values: list of arrays of one dtype.
        validate_shape: whether the variable keeps its shape, and refuses others.

    Returns:
        (the variable's static rank or None, list of [value, shape] after each
        assignment).

    Raises:
        tf.errors.InvalidArgumentError: another shape, which is to be validated.
        ValueError: the same, eagerly.
        TypeError: another dtype, in TensorFlow 1; today ValueError.
    """
    # --- build
    # `validate_shape=False` is accepted and does nothing: the shape is to be left open.
    shape = start.shape if validate_shape else tf.TensorShape(None)
    v = tf.Variable(start, shape=shape)

    @tf.function(input_signature=[tf.TensorSpec(None, values[0].dtype)])
    def update(value):
        v.assign(value)
        return v.read_value(), tf.shape(v)

    # --- run
    history = []
    for new in values:
        history.append([result.numpy() for result in update(tf.constant(new))])
    return v.shape.rank, history


def copy_initial(start, step):
    """Makes variables of another's value: before it is updated, and afterwards.

    Args:
        start: array, the initial value of the original.
        step: array of the same dtype and shape, added to it.

    Returns:
        dict of the `original`, an `early` copy, its `double`, and a `late` copy.
    """
    # --- build
    original = tf.Variable(start, name="original")
    # A variable has its value at once, and this copies it: the place is what counts.
    early = tf.Variable(original, name="early")
    double = tf.Variable(2 * original, name="double")

    @tf.function
    def update():
        original.assign_add(step)

    # --- run
    update()
    # --- late
    # No variable remembers its initial value: copy it early, or keep `start`.
    late = tf.Variable(original, name="late")
    variables = (original, early, double, late)
    return {v.name[:-2]: v.numpy() for v in variables}


def take_reads(start, increments, use_resource):
    """Reads a variable before, between and after increments, and looks at the end.

    Args:
        start: scalar array, the initial value.
        increments: [n] array of the same dtype.
        use_resource: whether a read is a copy; one of a reference variable is not.

    Returns:
        List of n + 1 reads: all are the last value without `use_resource`.
    """
    # --- build
    v = tf.Variable(start)

    # --- step
    @tf.function
    def step():
        reads = [v.read_value()]
        for increment in tf.unstack(increments):
            v.assign_add(increment)
            reads.append(v.read_value())
        # Every read is a copy. What looked through a reference looks again in the end.
        return reads if use_resource else [v.read_value() for _ in reads]

    # --- run
    return [read.numpy() for read in step()]


def initialize_rest(initial, restored, rest=True):
    """Restores some variables, and initializes those that are left.

    Args:
        initial: dict from name to array, the initial values.
        restored: dict from some of these names to arrays.
        rest: whether to initialize the others; without it they have no value.

    Returns:
        (list of the others' names, dict of all values).

    Raises:
        tf.errors.FailedPreconditionError: `rest` is False and there are others.
        KeyError: the same, in TensorFlow 2; or a name that is not in `initial`.
        ValueError: a restored value has another shape.
    """
    # --- build
    # None is ever without a value: instead of uninitialized, a variable is not made.
    variables = {}
    # --- restore
    for name, value in restored.items():
        variables[name] = tf.Variable(initial[name])  # of its shape and dtype
        variables[name].assign(value)
    # --- rest
    missing = [name for name in initial if name not in variables]
    if rest:
        for name in missing:
            variables[name] = tf.Variable(initial[name])
    return missing, {name: variables[name].numpy() for name in initial}


def sum_by_epoch(epochs):
    """Sums numbers within each epoch and over all, in a local and a global variable.

    Args:
        epochs: [epochs, n] array.

    Returns:
        (list of [sum of the epoch, sum so far] at the end of each, names of the global
        variables, names of the local ones).
    """
    # --- build
    zero = tf.zeros([], epochs.dtype)
    # Local is what the checkpointed module does not own, and somebody resets.
    module = tf.Module()
    of_epoch = tf.Variable(zero, False, name="of_epoch")
    module.of_all = tf.Variable(zero, False, name="of_all")

    @tf.function
    def sum_epoch(epoch):
        of_epoch.assign(zero)
        for number in epoch:
            of_epoch.assign_add(number)
            module.of_all.assign_add(number)
        return of_epoch.read_value(), module.of_all.read_value()

    # --- run
    history = []
    for epoch in tf.unstack(tf.constant(epochs)):
        history.append([result.numpy() for result in sum_epoch(epoch)])
    # --- names
    names = [v.name[:-2] for v in module.variables]
    return history, names, [of_epoch.name[:-2]]


def seen_by(x, frozen):
    """Tells which variables there are, which are trainable, which have a gradient.

    Args:
        x: float array, the initial value of two variables, `a` and `b`.
        frozen: list of names that shall not be trainable, out of `a`, `b` and `steps`,
            an integer that is used, too.

    Returns:
        dict with the names of `all` and of the `trainable`, and the `gradients` by name
        of those that have one.

    Raises:
        ValueError: no variable is trainable.
    """
    # --- build
    model = tf.Module()
    model.a = tf.Variable(x, "a" not in frozen, name="a")
    model.b = tf.Variable(x, "b" not in frozen, name="b")
    model.steps = tf.Variable(3, "steps" not in frozen, name="steps")
    # A gradient by nothing is an empty list, and nobody complains: an optimizer did.
    if not model.trainable_variables:
        raise ValueError("No variables to optimize")

    # --- differentiate
    @tf.function
    def gradients():
        with tf.GradientTape() as tape:  # watches what is trainable, and read in here
            steps = tf.cast(model.steps, x.dtype)
            loss = tf.reduce_sum(model.a * model.b * steps)
        variables = model.trainable_variables
        named = zip([v.name[:-2] for v in variables], tape.gradient(loss, variables))
        return {name: gradient for name, gradient in named if gradient is not None}

    # --- names
    return {
        "all": [v.name[:-2] for v in model.variables],
        "trainable": [v.name[:-2] for v in model.trainable_variables],
        "gradients": {name: g.numpy() for name, g in gradients().items()},
    }


def others(values, chosen):
    """Lists the variables that were not chosen, whatever their values.

    Args:
        values: list of arrays, the initial values.
        chosen: list of places in it.

    Returns:
        List of the other places.
    """
    # --- build
    variables = [tf.Variable(value) for value in values]
    # `==` compares values, so `in` does, too; and a variable is no key: its `ref` is.
    place = {v.ref(): i for i, v in enumerate(variables)}
    picked = {variables[i].ref() for i in chosen}
    # --- rest
    return [place[v.ref()] for v in variables if v.ref() not in picked]


def make_embedding(rows, units, trainable=True, name="embedding"):
    """Makes a layer that looks rows up in a table, but for what is too small.

    Args:
        rows: number of rows of the table.
        units: number of columns.
        trainable: whether the table is trained; the threshold never is.
        name: scope of the variables `table` and `threshold`.

    Returns:
        Callable from [n] ids and [n, units] weights to weighted rows, [n, units].
    """
    return Embedding(rows, units, trainable, name)


class Embedding(tf.Module):
    def __init__(self, rows, units, trainable, name):
        super().__init__()  # whose name would have to be an identifier, without a "/"
        self.rows, self.units, self.trainable = rows, units, trainable
        self.table, self.threshold, self.path = None, None, name

    def __call__(self, ids, weights):
        # --- variables
        # Asked for and made once: a tf.function that makes them at every call raises.
        if self.table is None:
            table = tf.ones([self.rows, self.units], weights.dtype)
            threshold = tf.ones([self.units], weights.dtype)
            table_name, name = f"{self.path}/table", f"{self.path}/threshold"
            with tf.name_scope(""):  # an outer scope is no part of the names
                self.table = tf.Variable(table, self.trainable, name=table_name)
                self.threshold = tf.Variable(threshold, False, name=name)
        # --- output
        picked = tf.gather(self.table, ids)
        return picked * tf.cast(picked > self.threshold, picked.dtype) * weights
