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
    """Gives the name `a` to a new tensor; the old one is as it was."""
    old = a
    a = a + b
    return [old, a]


def assign_sum(start, increment, runs=1):
    """Adds to a variable, `runs` times."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def update():
        return a.assign(a + increment)

    # --- run
    return [update().numpy() for _ in range(runs)]


def race(start, increment, value):
    """Adds to a variable and assigns to it, in no stated order."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def step():
        total = a + increment
        return total, a.assign(value)  # the order of these lines is the order

    # --- run
    return [result.numpy() for result in step()]


def ordered_sum(start, increment, value, read_first=True):
    """Adds to a variable and assigns to it, in the order asked for."""
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
        # A read is a copy: no tuple, and the two assignments need no group.
        old_a, old_b = a.read_value(), b.read_value()
        a.assign(old_b)
        b.assign(old_a)

    # --- run
    both()
    return [a.numpy(), b.numpy()]


def held_value(start, value, copied=True):
    """Takes a variable's value, assigns to the variable, and looks at what it took."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def step():
        # --- take
        # The identity of a variable is a copy now; only its object follows it.
        held = tf.identity(a) if copied else a
        assigned = a.assign(value)
        return tf.convert_to_tensor(held), assigned

    # --- run
    return [result.numpy() for result in step()]


def count_fetched(xs, fetched=True):
    """Squares numbers one by one, beside an update that may or may not be fetched."""
    # --- build
    count = tf.Variable(0)

    # The signature checks what is fed, as the placeholder did, and forbids a retrace.
    @tf.function(input_signature=[tf.TensorSpec([], xs.dtype)])
    def step(x):
        # An update runs wherever it is written, returned or not: so ask in Python.
        if fetched:
            count.assign_add(1)
        return x * x

    # --- run
    squares = [step(tf.constant(number)).numpy() for number in xs]
    return squares, count.numpy()


def make_centering(momentum=0.9, name="centering"):
    """Makes a layer that subtracts the batch mean and keeps a moving mean.

    Returns a `Centering`; see the class.
    """
    return Centering(momentum, f"{name}/moving_mean")


class Centering(tf.Module):
    """Subtracts the mean of the batch, and keeps a moving mean.

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
        """Whether it has its variables."""
        return self.moving_mean is not None

    def __call__(self, x, tied=True):
        if self.moving_mean is None:
            zeros = tf.zeros([x.shape[1]], x.dtype)
            with tf.name_scope(""):  # an outer scope is no part of the name
                self.moving_mean = tf.Variable(zeros, False, name=self.path)
        # --- update
        mean = tf.reduce_mean(x, axis=0)
        if tied:
            decay = 1 - self.momentum
            self.moving_mean.assign_sub((self.moving_mean - mean) * decay)
        # --- output
        return x - mean


def checked_sqrt(x, enforced=True):
    """Takes the square root of what must not be negative."""
    # An assertion runs where it is written: an old one may fail for the first time.
    if enforced:
        tf.debugging.assert_non_negative(x, message="no root of a negative number")
    return tf.sqrt(x)


def guarded_assign(start, values):
    """Assigns values one by one; those that fail a check leave the variable alone."""
    # --- build
    a = tf.Variable(start)

    @tf.function
    def update(value):
        # The automatic order is kept per variable; an assertion belongs to none.
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
    """Counts the runs of a step by a Python list and by a variable."""
    # --- build
    calls = []
    count = tf.Variable(0)

    @tf.function
    def step():
        calls.append("called")  # Python runs while the function is traced
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
        return step()  # reads what the first one wrote

    # --- run
    seen = both()
    return w.numpy(), seen.numpy()


def scale_in_turn(numbers, start, every=2):
    """Scales numbers in a loop; some turns update the mean square that divides all."""
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
