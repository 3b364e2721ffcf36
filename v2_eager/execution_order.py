"""`tf.control_dependencies`, `tf.group`, fetches → the order of the program."""

import tensorflow as tf

__all__ = [
    "rebind",
    "assign_sum",
    "race",
    "ordered_sum",
    "swap",
    "held_value",
    "count_fetched",
    "make_centering",
    "checked_sqrt",
    "guarded_assign",
    "count_calls",
    "descend_twice",
    "scale_in_turn",
]


def rebind(a, b):
    """Rebinds the Python name `a` to a new tensor; the old tensor does not change."""
    old = a
    a = a + b
    return [old, a]


def assign_sum(start, increment, runs=1):
    """Adds an increment to a variable, `runs` times."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def update():
        return a.assign(a + increment)

    # --- run
    return [update().numpy() for _ in range(runs)]


def race(start, increment, value):
    """Reads a variable and assigns to it in one run, without a stated order."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def step():
        total = a + increment
        return total, a.assign(value)  # runs in the order of these lines

    # --- run
    return [result.numpy() for result in step()]


def ordered_sum(start, increment, value, read_first=True):
    """Reads a variable and assigns to it in one run, in the given order."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def step():
        if read_first:
            total = a + increment
            assigned = a.assign(value)
        else:
            assigned = a.assign(value)
            total = a + increment
        return total, assigned

    # --- run
    return [result.numpy() for result in step()]


def swap(first, second):
    """Swaps the values of two variables."""
    # --- build
    a, b = tf.Variable(first), tf.Variable(second)

    @tf.function
    def both():
        # A read is a copy, so no `tf.tuple` and no `tf.group` are needed.
        old_a, old_b = a.read_value(), b.read_value()
        a.assign(old_b)
        b.assign(old_a)

    # --- run
    both()
    return [a.numpy(), b.numpy()]


def held_value(start, value, copied=True):
    """Reads a variable, assigns to it, and checks if the read value has changed."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def step():
        # --- take
        # tf.identity of a variable is a copy now; the variable has the new value.
        held = tf.identity(a) if copied else a
        assigned = a.assign(value)
        return tf.convert_to_tensor(held), assigned

    # --- run
    return [result.numpy() for result in step()]


def count_fetched(xs, fetched=True):
    """Squares numbers; a counter update runs only if it is fetched, too."""
    # --- build
    count = tf.Variable(0)

    # The signature checks the input, as the placeholder did, and prevents retracing.
    @tf.function(input_signature=[tf.TensorSpec([], xs.dtype)])
    def step(x):
        # An update always runs, returned or not: so use a Python `if`.
        if fetched:
            count.assign_add(1)
        return x * x

    # --- run
    squares = [step(tf.constant(number)).numpy() for number in xs]
    return squares, count.numpy()


def make_centering(momentum=0.9, name="centering"):
    """Makes a layer that subtracts the batch mean and updates a moving mean.

    Returns a `Centering`; see the class.
    """
    return Centering(momentum, f"{name}/moving_mean")


class Centering(tf.Module):
    """Subtracts the mean of the batch, and updates a moving mean.

    A call takes x, [batch, features] floats, and returns a tensor of its shape; with
    `tied=False` the moving mean is not updated. The first call makes the variable.

    Args:
        momentum: share of the old moving mean that an update keeps.
        path: name of the variable.
    """

    def __init__(self, momentum, path):
        super().__init__()
        self.momentum, self.path = momentum, path
        self.moving_mean = None

    @property
    def built(self):
        """Whether the variable exists."""
        return self.moving_mean is not None

    def __call__(self, x, tied=True):
        if self.moving_mean is None:
            zeros = tf.zeros([x.shape[1]], x.dtype)
            with tf.name_scope(""):  # keeps outer scopes out of the name
                self.moving_mean = tf.Variable(zeros, False, name=self.path)
        # --- update
        mean = tf.reduce_mean(x, axis=0)
        if tied:
            decay = 1 - self.momentum
            self.moving_mean.assign_sub((self.moving_mean - mean) * decay)
        # --- output
        return x - mean


def checked_sqrt(x, enforced=True):
    """Computes square roots, after an assertion that no element is negative."""
    # An assertion always runs here: one that never ran in v1 may fail now.
    if enforced:
        tf.debugging.assert_non_negative(x, message="x must not be negative")
    return tf.sqrt(x)


def guarded_assign(start, values):
    """Assigns values one by one; a value that fails an assertion is not assigned."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def update(value):
        # Automatic control dependencies follow variables; an assertion has none.
        with tf.control_dependencies([tf.debugging.assert_non_negative(value)]):
            a.assign(value)

    # --- run
    history, rejections = [], 0
    for candidate in values:
        try:
            update(tf.constant(candidate))
        except tf.errors.InvalidArgumentError:
            rejections += 1
        history.append(a.numpy())
    return history, rejections


def count_calls(runs):
    """Counts the runs of a step with a Python list (only 1) and with a variable."""
    # --- build
    calls = []
    count = tf.Variable(0)

    @tf.function
    def step():
        calls.append("called")  # Python code runs only at the trace
        count.assign_add(1)

    # --- run
    for _ in range(runs):
        step()
    return len(calls), count.numpy()


def descend_twice(start, rate):
    """Takes two steps of gradient descent in one run."""
    # --- build
    w = tf.Variable(start)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w)) / 2
        w.assign_sub(rate * tape.gradient(loss, w))
        return loss

    @tf.function
    def both():
        step()
        return step()  # reads the result of the first

    # --- run
    seen = both()
    return w.numpy(), seen.numpy()


def scale_in_turn(numbers, start, every=2):
    """Divides numbers by a running RMS, which some iterations of the loop update."""
    # --- build
    mean = tf.Variable(start)

    @tf.function
    def scale(values):
        array = tf.TensorArray(values.dtype, len(numbers))
        for i in tf.range(len(numbers)):
            x = values[i]
            if i % every == 0:
                mean.assign(0.9 * mean + 0.1 * x * x)
            array = array.write(i, x / tf.sqrt(mean))
        return array.stack()

    # --- run
    scaled = scale(tf.constant(numbers))
    return [scaled.numpy(), mean.numpy()]
