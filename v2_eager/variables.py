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
    """Makes a variable; returns its value, dtype, shape and rank."""
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
        "rank": v.shape.rank,  # a variable does not have `ndim`
    }


def use_as_tensor(x, positions):
    """Passes a variable to ops as a tensor; the ops do not change the variable."""
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
    """Compares `x = x + step`, a new tensor, with adding the step to the variable."""
    # --- build
    v = tf.Variable(start)

    @tf.function
    def both():
        x = v
        x = x + step  # the function computes this expression in each call
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
    """Assigns to, adds to and subtracts from a variable in turn."""
    # --- build
    v = tf.Variable(start)

    @tf.function
    def updates():
        kinds = {"assign": v.assign, "add": v.assign_add, "sub": v.assign_sub}
        history = []
        for kind, value in steps:
            kinds[kind](value)
            # An assignment returns the variable, which later steps change: read it now.
            history.append(v.read_value())
        return history

    # --- run
    return [value.numpy() for value in updates()]


def scatter(start, kind, indices, updates):
    """Updates some rows or elements of a variable."""
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
            of_rows[kind](tf.IndexedSlices(updates, indices))  # the values come first
        else:
            of_elements[kind](indices, updates)

    # --- run
    update()
    return v.numpy()


def assign_slice(start, row, column, value):
    """Assigns to a slice of a variable: `v[row, column:]`."""
    # --- build
    v = tf.Variable(start)

    @tf.function
    def update():
        v[row, column:].assign(value)

    # --- run
    update()
    return v.numpy()


def change_shape(start, values, validate_shape=False):
    """Assigns values of other shapes to a variable."""
    # --- build
    # `validate_shape=False` is accepted but does nothing: pass an unknown shape.
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
    """Copies a variable's value to new variables, before and after an update."""
    # --- build
    original = tf.Variable(start, name="original")
    # A variable has its value immediately, and this copies the current value.
    early = tf.Variable(original, name="early")
    double = tf.Variable(2 * original, name="double")

    @tf.function
    def update():
        original.assign_add(step)

    # --- run
    update()
    # --- late
    # A variable does not keep its initial value: copy it early, or keep `start`.
    late = tf.Variable(original, name="late")
    variables = (original, early, double, late)
    return {v.name[:-2]: v.numpy() for v in variables}


def take_reads(start, increments, use_resource):
    """Reads a variable before and after increments; returns all reads at the end."""
    # --- build
    v = tf.Variable(start)

    # --- step
    @tf.function
    def step():
        reads = [v.read_value()]
        for increment in tf.unstack(increments):
            v.assign_add(increment)
            reads.append(v.read_value())
        # Each read is a copy. For the reads of a reference variable, read at the end.
        return reads if use_resource else [v.read_value() for _ in reads]

    # --- run
    return [read.numpy() for read in step()]


def initialize_rest(initial, restored, rest=True):
    """Restores some variables, and initializes the uninitialized rest.

    Raises:
        KeyError: `rest` is False and there are other variables; or a name is not in
            `initial`.
        ValueError: a restored value has another shape.
    """
    # --- build
    # Variables always have a value: so an uninitialized variable is one not yet made.
    variables = {}
    # --- restore
    for name, value in restored.items():
        variables[name] = tf.Variable(initial[name])  # for its shape and dtype
        variables[name].assign(value)
    # --- rest
    missing = [name for name in initial if name not in variables]
    if rest:
        for name in missing:
            variables[name] = tf.Variable(initial[name])
    return missing, {name: variables[name].numpy() for name in initial}


def sum_by_epoch(epochs):
    """Sums per epoch in a local variable, and over all epochs in a global variable."""
    # --- build
    zero = tf.zeros([], epochs.dtype)
    # A local variable is one that the module does not own, so that it is not saved.
    # The program itself resets it.
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
    """Lists a model's variables, trainable variables and gradients."""
    # --- build
    model = tf.Module()
    model.a = tf.Variable(x, "a" not in frozen, name="a")
    model.b = tf.Variable(x, "b" not in frozen, name="b")
    model.steps = tf.Variable(3, "steps" not in frozen, name="steps")
    # Gradients for no variables are an empty list without an error; v1's optimizer
    # raised one.
    if not model.trainable_variables:
        raise ValueError("No variables to optimize")

    # --- differentiate
    @tf.function
    def gradients():
        with tf.GradientTape() as tape:  # watches trainable variables that are read
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
    """Lists the variables that were not chosen, compared by identity, not by value."""
    # --- build
    variables = [tf.Variable(value) for value in values]
    # `==` and `in` compare values, and a variable cannot be a dict key: use `ref`.
    place = {v.ref(): i for i, v in enumerate(variables)}
    picked = {variables[i].ref() for i in chosen}
    # --- rest
    return [place[v.ref()] for v in variables if v.ref() not in picked]


def make_embedding(rows, units, trainable=True, name="embedding"):
    """Makes an embedding layer that zeroes elements at or below a threshold.

    Returns an `Embedding`; see the class.
    """
    return Embedding(rows, units, trainable, name)


class Embedding(tf.Module):
    """Looks up rows, zeroes elements at or below a threshold, multiplies by weights.

    A call takes ids, [n] ints, and weights, [n, units] floats, and returns [n, units].
    The first call makes the variables, filled with ones.

    `keras.layers.Embedding` has no threshold.

    Args:
        rows: number of rows of the table.
        units: number of columns.
        trainable: whether the table is trained; the threshold never is.
        name: scope of the variables `table`, [rows, units], and `threshold`, [units].
    """

    def __init__(self, rows, units, trainable, name):
        super().__init__()  # without the name: tf.Module accepts no "/" in a name
        self.rows, self.units, self.trainable = rows, units, trainable
        self.table, self.threshold, self.path = None, None, name

    @property
    def built(self):
        """Whether the variables exist."""
        return self.table is not None

    def __call__(self, ids, weights):
        # --- variables
        # Make them only once: a tf.function that makes them in each call raises.
        if self.table is None:
            table = tf.ones([self.rows, self.units], weights.dtype)
            threshold = tf.ones([self.units], weights.dtype)
            table_name, name = f"{self.path}/table", f"{self.path}/threshold"
            with tf.name_scope(""):  # an outer scope does not change the names
                self.table = tf.Variable(table, self.trainable, name=table_name)
                self.threshold = tf.Variable(threshold, False, name=name)
        # --- output
        picked = tf.gather(self.table, ids)
        return picked * tf.cast(picked > self.threshold, picked.dtype) * weights
