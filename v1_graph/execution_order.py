"""`tf.control_dependencies`, `tf.group`, fetches → the order of the program."""

import tensorflow.compat.v1 as tf

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
    """Rebinds the Python name `a` to a new tensor; the old tensor does not change.

    Args:
        a: tensor.
        b: tensor of the same dtype that broadcasts with `a`.

    Returns:
        [a, a + b]: the old and the new tensor with the name `a`.
    """
    old = a
    a = a + b
    return [old, a]


def assign_sum(start, increment, runs=1):
    """Adds an increment to a variable, `runs` times.

    Args:
        start: array, the initial value.
        increment: array of the same dtype and shape.
        runs: number of additions.

    Returns:
        List of the `runs` results of the assignments.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        update = tf.assign(a, a + increment)
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(update) for _ in range(runs)]


def race(start, increment, value):
    """Reads a variable and assigns to it in one run, without a stated order.

    Args:
        start: array, the initial value.
        increment: array of the same dtype and shape.
        value: array of the same dtype and shape, assigned.

    Returns:
        [sum, assigned value]. In a session the sum is start + increment or
        value + increment, and may differ between runs.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        total = a + increment
        assigned = tf.assign(a, value)  # the order of these lines has no effect
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([total, assigned])


def ordered_sum(start, increment, value, read_first=True):
    """Reads a variable and assigns to it in one run, in the given order.

    Args:
        start: array, the initial value.
        increment: array of the same dtype and shape.
        value: array of the same dtype and shape, assigned.
        read_first: whether the sum reads the variable before the assignment.

    Returns:
        [sum, assigned value].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        if read_first:
            total = a + increment
            with tf.control_dependencies([total]):
                assigned = tf.assign(a, value)
        else:
            assigned = tf.assign(a, value)
            with tf.control_dependencies([assigned]):
                # A bare `a` uses the read op outside, made together with the variable.
                total = a.read_value() + increment
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([total, assigned])


def swap(first, second):
    """Swaps the values of two variables.

    Args:
        first: array, the initial value of one variable.
        second: array of the same dtype and shape, for the other variable.

    Returns:
        [value of the first variable, value of the second], after the swap.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a, b = tf.Variable(first), tf.Variable(second)
        # tf.tuple releases the copies only after both are made.
        old_a, old_b = tf.tuple([a * 1, b * 1])
        both = tf.group(tf.assign(a, old_b), tf.assign(b, old_a))
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(both)
        return sess.run([a, b])


def held_value(start, value, copied=True):
    """Reads a variable, assigns to it, and checks if the read value has changed.

    Args:
        start: array, the initial value.
        value: array of the same dtype and shape, assigned.
        copied: whether the value read is a copy, or changes with the variable.

    Returns:
        [value read, assigned value].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        # --- take
        # tf.identity of a reference variable shares its memory: it is no copy.
        held = a * 1 if copied else tf.identity(a)
        with tf.control_dependencies([held]):
            assigned = tf.assign(a, value)
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([held, assigned])


def count_fetched(xs, fetched=True):
    """Squares numbers; a counter update runs only if it is fetched, too.

    Args:
        xs: [n] array.
        fetched: whether to fetch the increment of the counter.

    Returns:
        ([n] list of squares, the counter: n if fetched, else 0).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        count = tf.Variable(0)
        x = tf.placeholder(xs.dtype, [])
        increment = tf.assign_add(count, 1)
        square = x * x
        # --- run
        # A run executes only the ops that its fetches need.
        fetches = [square, increment] if fetched else [square]
        sess.run(tf.global_variables_initializer())
        squares = [sess.run(fetches, {x: number})[0] for number in xs]
        return squares, sess.run(count)


def make_centering(momentum=0.9, name="centering"):
    """Makes a layer that subtracts the batch mean and updates a moving mean.

    Args:
        momentum: share of the old moving mean that is kept.
        name: scope of the variable `moving_mean`.

    Returns:
        Callable from a [batch, features] tensor to a tensor of the same shape; with
        `tied=False` the moving mean is not updated.
    """

    def center(x, tied=True):
        moving_mean = tf.get_variable(
            "moving_mean",
            [x.shape[1].value],
            x.dtype,
            tf.zeros_initializer(),
            trainable=False,
        )
        # --- update
        mean = tf.reduce_mean(x, axis=0)
        update = tf.assign_sub(moving_mean, (moving_mean - mean) * (1 - momentum))
        # --- output
        centered = x - mean
        with tf.control_dependencies([update]):
            # Only ops made in this block wait for the update: hence the identity.
            return tf.identity(centered) if tied else centered

    return tf.make_template(name, center)


def checked_sqrt(x, enforced=True):
    """Computes square roots, after an assertion that no element is negative.

    Args:
        x: float tensor.
        enforced: whether the assertion runs; without it the root may be NaN.

    Returns:
        Tensor like `x`.

    Raises:
        InvalidArgumentError: enforced, and an element is negative or NaN.
    """
    check = tf.assert_non_negative(x, message="x must not be negative")
    # An assertion that no other op depends on never runs and never fails.
    with tf.control_dependencies([check] if enforced else []):
        return tf.sqrt(x)


def guarded_assign(start, values):
    """Assigns values one by one; a value that fails an assertion is not assigned.

    Args:
        start: array, the initial value.
        values: array of values like `start`, stacked.

    Returns:
        (list of the variable's value after each assignment, number of rejections).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        value = tf.placeholder(start.dtype, start.shape)
        with tf.control_dependencies([tf.assert_non_negative(value)]):
            update = tf.assign(a, value)
        # --- run
        sess.run(tf.global_variables_initializer())
        history, rejections = [], 0
        for candidate in values:
            try:
                sess.run(update, {value: candidate})
            except tf.errors.InvalidArgumentError:
                rejections += 1
            history.append(sess.run(a))
        return history, rejections


def count_calls(runs):
    """Counts the runs of a step with a Python list (only 1) and with a variable.

    Args:
        runs: number of runs of the step, at least 1.

    Returns:
        (length of the list: 1, value of the variable: `runs`).
    """
    calls = []
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        count = tf.Variable(0)

        def step():
            calls.append("called")  # Python code runs only while building
            return tf.assign_add(count, 1)

        increment = step()
        # --- run
        sess.run(tf.global_variables_initializer())
        for _ in range(runs):
            sess.run(increment)
        return len(calls), sess.run(count)


def descend_twice(start, rate):
    """Takes two steps of gradient descent in one run.

    Args:
        start: float array, the initial weights; the loss is half the sum of squares.
        rate: the learning rate.

    Returns:
        (weights after both steps, the loss before the second step).
    """

    def loss_of(weights):
        return tf.reduce_sum(tf.square(weights)) / 2

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        w = tf.Variable(start, use_resource=True)
        slope = tf.gradients(loss_of(w), w)[0]
        first = tf.assign_sub(w, rate * slope)
        with tf.control_dependencies([first]):
            # The loss above was computed before the step: build it again.
            weights = w.read_value()
            loss = loss_of(weights)
            slope = tf.gradients(loss, weights)[0]
        with tf.control_dependencies([slope]):
            second = tf.assign_sub(w, rate * slope)
        # --- run
        sess.run(tf.global_variables_initializer())
        _, seen = sess.run([second, loss])
        return sess.run(w), seen


def scale_in_turn(numbers, start, every=2):
    """Divides numbers by a running RMS, which some iterations of the loop update.

    Args:
        numbers: [n] float array.
        start: the initial mean square, a number of the same dtype.
        every: the mean is updated in iterations 0, every, 2 * every, ….

    Returns:
        ([n] scaled numbers, the mean square at the end).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        mean, values = tf.Variable(start, use_resource=True), tf.constant(numbers)

        def body(i, last, array):
            x = values[i]

            def update():
                return mean.assign(0.9 * mean.read_value() + 0.1 * x * x).read_value()

            with tf.control_dependencies([last]):  # of the last iteration
                current = tf.cond(tf.equal(i % every, 0), update, mean.read_value)
            scaled = x / tf.sqrt(current)
            return i + 1, scaled, array.write(i, scaled)

        array = tf.TensorArray(values.dtype, len(numbers))
        first = 0, tf.zeros([], values.dtype), array
        _, last, array = tf.while_loop(lambda i, *_: i < len(numbers), body, first)
        with tf.control_dependencies([last]):
            end = mean.read_value()
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([array.stack(), end])
