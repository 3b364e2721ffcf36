"""`tf.cond`, `tf.case`, `tf.while_loop` → Python's `if` and loops, by AutoGraph."""

import tensorflow.compat.v1 as tf

__all__ = [
    "add_or_multiply",
    "branches_that_ran",
    "choose",
    "log_or_zero_trap",
    "log_or_zero",
    "rate_of_step",
    "activate",
    "fibonacci",
    "fibonacci_grown",
    "fibonacci_array",
    "power",
    "sum_positive_until",
    "newton_sqrt",
    "summarize_rows",
    "smooth",
    "polynomial",
    "make_repeated",
]


def add_or_multiply(p, a, b):
    """Adds two tensors if a scalar condition is true, and otherwise multiplies them.

    Args:
        p: scalar boolean tensor; True adds.
        a: tensor.
        b: tensor of the same dtype that broadcasts with `a`.

    Returns:
        a + b or a * b.

    Raises:
        TypeError, ValueError: `p` is not a boolean, or not a scalar.
    """
    return tf.cond(p, lambda: a + b, lambda: a * b)


def branches_that_ran(first):
    """Counts the ops that run: both if made before a `cond`, one if made inside.

    Args:
        first: boolean, whether to take the first branch.

    Returns:
        Three lists of two: the results of the branches, the counters of the ops made
        before the `cond`, and the counters of the ops inside. Counters begin at 0 and
        10.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        before = [tf.Variable(0), tf.Variable(10)]
        inside = [tf.Variable(0), tf.Variable(10)]
        taken = tf.placeholder(tf.bool, [])
        # cond selects one of two results; the ops that compute them have both run.
        early = [tf.assign_add(counter, 1) for counter in before]
        either = tf.cond(
            taken, lambda: tf.identity(early[0]), lambda: tf.identity(early[1])
        )
        lazy = tf.cond(
            taken,
            lambda: tf.assign_add(inside[0], 1),
            lambda: tf.assign_add(inside[1], 1),
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        results = sess.run([either, lazy], {taken: first})
        return [results] + sess.run([before, inside])


def choose(p, a, b):
    """Selects elements of `a` or `b`, or whole rows if the condition is a vector.

    Args:
        p: boolean tensor of the shape of `a`, or a vector of as many elements as `a`
            has rows.
        a: tensor.
        b: tensor of the shape and dtype of `a`.

    Returns:
        Tensor like `a`: elements of `a` where `p` is True, else of `b`.

    Raises:
        ValueError, tf.errors.InvalidArgumentError: the shapes do not fit.
    """
    return tf.where(p, a, b)


def log_or_zero_trap(x):
    """Computes log(x) where x > 0, else 0; a trap: the gradient at 0 is NaN.

    Args:
        x: float tensor.

    Returns:
        Tensor like `x`.
    """
    # Both sides of a where are computed, and so are both gradients: 0 * (1 / 0) is NaN.
    return tf.where(x > 0, tf.log(x), tf.zeros_like(x))


def log_or_zero(x):
    """Computes log(x) where x > 0; elsewhere the result and its gradient are 0.

    Args:
        x: float tensor.

    Returns:
        Tensor like `x`.
    """
    # This where removes bad numbers from the input of the logarithm, not the output.
    positive = tf.where(x > 0, x, tf.ones_like(x))
    return tf.where(x > 0, tf.log(positive), tf.zeros_like(x))


def rate_of_step(step, rate):
    """Computes a piecewise constant rate: `rate`, a tenth and a hundredth of it.

    Args:
        step: scalar integer tensor.
        rate: scalar float tensor.

    Returns:
        `rate` before step 10, a tenth before step 20, then a hundredth.
    """
    return tf.case(
        [(step < 10, lambda: rate), (step < 20, lambda: rate / 10)],
        default=lambda: rate / 100,
    )


def activate(kind, x):
    """Applies an activation by number: 0 tanh, 1 sigmoid, 2 square, else none.

    Args:
        kind: scalar int32 tensor.
        x: float tensor.

    Returns:
        Tensor like `x`.
    """
    return tf.case(
        [
            (tf.equal(kind, 0), lambda: tf.tanh(x)),
            (tf.equal(kind, 1), lambda: tf.sigmoid(x)),
            (tf.equal(kind, 2), lambda: tf.square(x)),
        ],
        default=lambda: x,
        exclusive=True,
    )


def fibonacci(n):
    """Computes the n-th Fibonacci number by a loop that carries two numbers.

    Args:
        n: scalar int32 tensor.

    Returns:
        Scalar int32 tensor, 1 for n < 3; it wraps around from n = 47 on.
    """

    def cond(i, a, b):
        return i < n

    def body(i, a, b):
        return i + 1, b, a + b

    _, _, last = tf.while_loop(cond, body, (2, 1, 1))
    return last


def fibonacci_grown(n, length=None):
    """Computes the first n Fibonacci numbers in a tensor that grows in the loop.

    Args:
        n: scalar int32 tensor; if it is less than 2, two numbers are returned.
        length: int, the static length that the tensor keeps, or None if it varies.

    Returns:
        [max(n, 2)] int32 tensor.

    Raises:
        ValueError: the length of the tensor is not always `length`.
    """
    i, numbers = tf.constant(2), tf.constant([1, 1])

    def cond(i, numbers):
        return i < n

    def body(i, numbers):
        return i + 1, tf.concat([numbers, [numbers[-2] + numbers[-1]]], axis=0)

    _, numbers = tf.while_loop(
        cond, body, (i, numbers), shape_invariants=(i.shape, tf.TensorShape([length]))
    )
    return numbers


def fibonacci_array(n):
    """Computes the first n Fibonacci numbers in a TensorArray: no copy per step.

    Args:
        n: scalar int32 tensor, at least 2.

    Returns:
        [n] int32 tensor.

    Raises:
        tf.errors.InvalidArgumentError: `n` is less than 2.
    """
    numbers = tf.TensorArray(tf.int32, n)
    numbers = numbers.write(0, 1).write(1, 1)

    def cond(i, a, b, numbers):
        return i < n

    # Reading an element clears it, so the loop carries the last two numbers as well.
    def body(i, a, b, numbers):
        return i + 1, b, a + b, numbers.write(i, a + b)

    _, _, _, numbers = tf.while_loop(cond, body, (2, 1, 1, numbers))
    return numbers.stack()


def power(x, n, maximum_iterations=32, parallel_iterations=10, swap_memory=False):
    """Computes integer powers by repeated squaring: a branch in a loop.

    Args:
        x: float tensor.
        n: scalar int32 tensor, the exponent.
        maximum_iterations: int, maximum number of binary digits of `n` to use.
        parallel_iterations: int, number of iterations that may overlap.
        swap_memory: bool, whether tensors kept for the gradient may leave the device.

    Returns:
        Tensor like `x`, 1 where `n` is not positive.
    """

    def cond(n, square, product):
        return n > 0

    def body(n, square, product):
        odd = tf.equal(n % 2, 1)
        product = tf.cond(odd, lambda: product * square, lambda: product)
        return n // 2, tf.square(square), product

    _, _, product = tf.while_loop(
        cond,
        body,
        (n, x, tf.ones_like(x)),
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        maximum_iterations=maximum_iterations,
    )
    return product


def sum_positive_until(values, limit):
    """Adds up the positive values until the sum exceeds a limit, then breaks.

    Args:
        values: [n] tensor.
        limit: scalar tensor of the same dtype.

    Returns:
        Scalar tensor, a sum that just exceeds `limit`, or the sum of all positive
        values.
    """

    # Python's `break` becomes one more loop variable.
    def cond(i, total, done):
        return tf.logical_and(i < tf.size(values), tf.logical_not(done))

    def body(i, total, done):
        def add():
            return total + values[i], total + values[i] > limit

        def skip():
            return total, tf.constant(False)

        total, done = tf.cond(values[i] > 0, add, skip)
        return i + 1, total, done

    start = (0, tf.zeros([], values.dtype), False)
    return tf.while_loop(cond, body, start)[1]


def newton_sqrt(x, tolerance=1e-6, maximum_iterations=50):
    """Computes square roots by Newton's method until steps are small; no gradient.

    Args:
        x: tensor of positive floats.
        tolerance: float, the loop ends when all steps are at most this.
        maximum_iterations: int, the limit if the loop does not converge.

    Returns:
        Tensor like `x`, without a gradient.
    """

    def cond(root, step):
        return tf.reduce_any(tf.abs(step) > tolerance)

    def body(root, step):
        better = (root + x / root) / 2
        return better, better - root

    root, _ = tf.while_loop(
        cond, body, (x, x), maximum_iterations=maximum_iterations, back_prop=False
    )
    return root


def summarize_rows(rows):
    """Computes the mean and the argmax of every row, with `map_fn`.

    Args:
        rows: [n, columns] tensor.

    Returns:
        [n] tensor like `rows` and [n] int64 tensor.
    """
    return tf.map_fn(
        lambda row: (tf.reduce_mean(row), tf.argmax(row)),
        rows,
        dtype=(rows.dtype, tf.int64),
    )


def smooth(values, decay, reverse=False):
    """Computes exponential moving averages along a sequence, with `scan`.

    Args:
        values: [steps, ...] tensor.
        decay: scalar tensor of the same dtype, the weight of the past.
        reverse: bool, whether to begin at the end.

    Returns:
        Tensor like `values`.
    """
    return tf.scan(
        lambda mean, value: value + decay * (mean - value), values, reverse=reverse
    )


def polynomial(coefficients, x, ascending=False):
    """Evaluates a polynomial by Horner's rule, with `foldl` or `foldr`.

    Args:
        coefficients: [degree + 1] tensor.
        x: tensor of the same dtype.
        ascending: bool, whether the first coefficient is the constant term.

    Returns:
        Tensor like `x`.
    """
    fold = tf.foldr if ascending else tf.foldl
    return fold(lambda value, c: value * x + c, coefficients, tf.zeros_like(x))


def make_repeated(name="repeated"):
    """Makes a dense layer that a loop applies again and again to its own output.

    Args:
        name: scope of the variables `kernel` and `bias`.

    Returns:
        Callable from a [batch, features] float tensor and an int tensor, the number of
        repetitions, to a tensor of the same shape.
    """

    def repeat(x, times):
        # --- build
        size = x.shape[-1].value
        # A tensor as initial value would belong to the loop, and that raises.
        normal = tf.random_normal_initializer(stddev=0.5, seed=1)

        def body(i, h):
            kernel = tf.get_variable("kernel", [size, size], x.dtype, normal)
            bias = tf.get_variable("bias", [size], x.dtype, normal)
            return i + 1, tf.tanh(tf.matmul(h, kernel) + bias)

        # --- repeat
        return tf.while_loop(lambda i, h: i < times, body, (0, x))[1]

    return tf.make_template(name, repeat)
