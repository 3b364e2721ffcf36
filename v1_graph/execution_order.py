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
    """Gives the name `a` to a new tensor; the old one is as it was.

    Args:
        a: tensor.
        b: tensor of the same dtype that broadcasts with `a`.

    Returns:
        [a, a + b], the old and the new bearer of the name.
    """
    old = a
    a = a + b
    return [old, a]


def assign_sum(start, increment, runs=1):
    """Adds to a variable, `runs` times.

    Args:
        start: array, the initial value.
        increment: array of the same dtype and shape.
        runs: how often to add.

    Returns:
        List of the `runs` values that the assignments gave.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        update = tf.assign(a, a + increment)
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run(update) for _ in range(runs)]


def race(start, increment, value):
    """Adds to a variable and assigns to it, in no stated order.

    Args:
        start: array, the initial value.
        increment: array of the same dtype and shape.
        value: array of the same dtype and shape, assigned.

    Returns:
        [sum, assigned value]. In a session the sum is start + increment or
        value + increment, and another run may give the other one.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        total = a + increment
        assigned = tf.assign(a, value)  # the order of these lines means nothing
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([total, assigned])


def ordered_sum(start, increment, value, read_first=True):
    """Adds to a variable and assigns to it, in the order asked for.

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
                # A bare `a` is a read that was made with the variable, out there.
                total = a.read_value() + increment
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([total, assigned])


def swap(first, second):
    """Swaps the values of two variables.

    Args:
        first: array, the initial value of one variable.
        second: array of the same dtype and shape, of the other.

    Returns:
        [value of the one, value of the other], afterwards.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a, b = tf.Variable(first), tf.Variable(second)
        # tf.tuple lets go of no copy before both are made.
        old_a, old_b = tf.tuple([a * 1, b * 1])
        both = tf.group(tf.assign(a, old_b), tf.assign(b, old_a))
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(both)
        return sess.run([a, b])


def held_value(start, value, copied=True):
    """Takes a variable's value, assigns to the variable, and looks at what it took.

    Args:
        start: array, the initial value.
        value: array of the same dtype and shape, assigned.
        copied: whether a copy was taken, or something that follows the variable.

    Returns:
        [what was taken, assigned value].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        a = tf.Variable(start)
        # --- take
        # The identity of a reference variable shares its memory: no copy.
        held = a * 1 if copied else tf.identity(a)
        with tf.control_dependencies([held]):
            assigned = tf.assign(a, value)
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run([held, assigned])


def count_fetched(xs, fetched=True):
    """Squares numbers one by one, beside an update that may or may not be fetched.

    Args:
        xs: [n] array.
        fetched: whether the increment of the counter is among the fetches.

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
        # A run executes what its fetches need, and nothing else of the graph.
        fetches = [square, increment] if fetched else [square]
        sess.run(tf.global_variables_initializer())
        squares = [sess.run(fetches, {x: number})[0] for number in xs]
        return squares, sess.run(count)


def make_centering(momentum=0.9, name="centering"):
    """Makes a layer that subtracts the batch mean and keeps a moving mean.

    Args:
        momentum: share of the old moving mean that is kept.
        name: scope of the variable `moving_mean`.

    Returns:
        Callable from a [batch, features] tensor to one of the same shape; with
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
            # Only what is made in here waits for the update: hence the identity.
            return tf.identity(centered) if tied else centered

    return tf.make_template(name, center)


def checked_sqrt(x, enforced=True):
    """Takes the square root of what must not be negative.

    Args:
        x: float tensor.
        enforced: whether the assertion runs; without it the root may be NaN.

    Returns:
        Tensor like `x`.

    Raises:
        InvalidArgumentError: enforced, and an element is negative or NaN.
    """
    check = tf.assert_non_negative(x, message="no root of a negative number")
    # An assertion that nothing depends on is never run, and never fails.
    with tf.control_dependencies([check] if enforced else []):
        return tf.sqrt(x)


def guarded_assign(start, values):
    """Assigns values one by one; those that fail a check leave the variable alone.

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
    """Counts the runs of a step by a Python list and by a variable.

    Args:
        runs: how often the step is run, at least once.

    Returns:
        (length of the list: 1, value of the variable: `runs`).
    """
    calls = []
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        count = tf.Variable(0)

        def step():
            calls.append("called")  # Python runs while the graph is built
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
        start: float array, the initial weights; their loss is half of their squares.
        rate: the learning rate.

    Returns:
        (weights after both steps, the loss that the second step saw).
    """

    def loss_of(weights):
        return tf.reduce_sum(tf.square(weights)) / 2

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        w = tf.Variable(start, use_resource=True)
        slope = tf.gradients(loss_of(w), w)[0]
        first = tf.assign_sub(w, rate * slope)
        with tf.control_dependencies([first]):
            # The loss above was computed before the step: it is built once more.
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
    """Scales numbers in a loop; some turns update the mean square that divides all.

    Args:
        numbers: [n] float array.
        start: the initial mean square, a number of the same dtype.
        every: the mean is updated in the turns that this divides, from 0 on.

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

            with tf.control_dependencies([last]):  # of the turn before
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
