"""`tf.cond`, `tf.case`, `tf.while_loop` → Python's `if` and loops, by AutoGraph."""

import tensorflow as tf

from v2_eager.numerics import initializers

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


@tf.function
def add_or_multiply(p, a, b):
    """Adds two tensors if a scalar condition is true, and otherwise multiplies them."""
    if p:
        return a + b
    return a * b


def branches_that_ran(first):
    """Counts the ops that run: both if made before a `cond`, one if made inside."""
    # --- build
    before = [tf.Variable(0), tf.Variable(10)]
    inside = [tf.Variable(0), tf.Variable(10)]

    @tf.function
    def step(taken):
        early = [counter.assign_add(1) for counter in before]
        either = early[0] if taken else early[1]
        if taken:
            lazy = inside[0].assign_add(1)
        else:
            lazy = inside[1].assign_add(1)
        return either, lazy

    # --- run
    results = step(tf.constant(first))
    return [[x.numpy() for x in pair] for pair in (results, before, inside)]


def choose(p, a, b):
    """Selects elements of `a` or `b`, or whole rows if the condition is a vector."""
    # tf.where broadcasts now, so a vector would select columns: new code writes
    # tf.where(p[:, tf.newaxis], a, b). Select is the op of the old tf.where.
    return tf.raw_ops.Select(condition=p, x=a, y=b)


def log_or_zero_trap(x):
    """Computes log(x) where x > 0, else 0; a trap: the gradient at 0 is NaN."""
    # Both sides of a where are computed, and so are both gradients: 0 * (1 / 0) is NaN.
    return tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))


def log_or_zero(x):
    """Computes log(x) where x > 0; elsewhere the result and its gradient are 0."""
    # This where removes bad numbers from the input of the logarithm, not the output.
    positive = tf.where(x > 0, x, tf.ones_like(x))
    return tf.where(x > 0, tf.math.log(positive), tf.zeros_like(x))


def rate_of_step(step, rate):
    """Computes a piecewise constant rate: `rate`, a tenth and a hundredth of it."""
    # No @tf.function here: the step that calls this is one. A tf.function that is first
    # differentiated outside of XLA would later fail under jit_compile=True.
    if step < 10:
        return rate
    elif step < 20:
        return rate / 10
    else:
        return rate / 100


def activate(kind, x):
    """Applies an activation by number: 0 tanh, 1 sigmoid, 2 square, else none."""
    # Without a default, any other number would run the last branch.
    return tf.switch_case(
        tf.convert_to_tensor(kind),  # switch_case refuses a Python int
        [lambda: tf.tanh(x), lambda: tf.sigmoid(x), lambda: tf.square(x)],
        default=lambda: x,
    )


@tf.function
def fibonacci(n):
    """Computes the n-th Fibonacci number by a loop that carries two numbers."""
    a = b = tf.constant(1)
    for _ in tf.range(2, tf.maximum(n, 2)):
        a, b = b, a + b
    return b


@tf.function
def fibonacci_grown(n, length=None):
    """Computes the first n Fibonacci numbers in a tensor that grows in the loop."""
    numbers = tf.constant([1, 1])
    for _ in tf.range(2, tf.maximum(n, 2)):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(numbers, tf.TensorShape([length]))]
        )
        numbers = tf.concat([numbers, [numbers[-2] + numbers[-1]]], axis=0)
    return numbers


@tf.function
def fibonacci_array(n):
    """Computes the first n Fibonacci numbers in a TensorArray: no copy per step."""
    numbers = tf.TensorArray(tf.int32, n)
    numbers = numbers.write(0, 1).write(1, 1)
    a = b = tf.constant(1)
    for i in tf.range(2, n):
        a, b = b, a + b
        # A write whose result is dropped is lost in a graph, and done eagerly.
        numbers = numbers.write(i, b)
    return numbers.stack()


@tf.function
def power(x, n, maximum_iterations=32, parallel_iterations=10, swap_memory=False):
    """Computes integer powers by repeated squaring: a branch in a loop."""
    n = tf.convert_to_tensor(n)  # an int would loop in Python, without limit
    product = tf.ones_like(x)
    while n > 0:
        # These options work in graphs only: Python runs an eager loop without a limit.
        tf.autograph.experimental.set_loop_options(
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            maximum_iterations=maximum_iterations,
        )
        if n % 2 == 1:
            product *= x
        x = tf.square(x)
        n //= 2
    return product


@tf.function
def sum_positive_until(values, limit):
    """Adds up the positive values until the sum exceeds a limit, then breaks."""
    # If a loop only compares a tensor, its gradient is 0; in 1.15 it was None.
    limit = tf.stop_gradient(limit)
    total = tf.zeros([], values.dtype)
    for i in tf.range(tf.size(values)):  # `for value in values` unstacks it first
        # A tf.function computes `not x > 0` as `x <= 0`, which is False for NaN.
        if values[i] > 0:
            total += values[i]
            if total > limit:
                break
    return total


@tf.function(autograph=False)
def newton_sqrt(x, tolerance=1e-6, maximum_iterations=50):
    """Computes square roots by Newton's method until steps are small; no gradient."""
    # Without AutoGraph, write the old loop; only `back_prop` does not exist any more.

    def cond(root, step):
        return tf.reduce_any(tf.abs(step) > tolerance)

    def body(root, step):
        better = (root + x / root) / 2
        return better, better - root

    root, _ = tf.while_loop(cond, body, (x, x), maximum_iterations=maximum_iterations)
    return tf.stop_gradient(root)


def summarize_rows(rows):
    """Computes the mean and the argmax of every row, with `map_fn`."""
    return tf.map_fn(
        lambda row: (tf.reduce_mean(row), tf.argmax(row)),
        rows,
        fn_output_signature=(rows.dtype, tf.int64),
    )


@tf.function
def smooth(values, decay, reverse=False):
    """Computes exponential moving averages along a sequence, with `scan`."""
    return tf.scan(
        lambda mean, value: value + decay * (mean - value), values, reverse=reverse
    )


@tf.function
def polynomial(coefficients, x, ascending=False):
    """Evaluates a polynomial by Horner's rule, with `foldl` or `foldr`."""
    fold = tf.foldr if ascending else tf.foldl
    return fold(lambda value, c: value * x + c, coefficients, tf.zeros_like(x))


def make_repeated(name="repeated"):
    """Makes a dense layer that a loop applies again and again to its own output.

    Returns a `Repeated`; see the class.
    """
    return Repeated(name)


class Repeated(tf.Module):
    """A tanh layer that a loop applies again and again to its own output.

    A call takes x, [batch, features] floats, and `times`, an int or an int tensor, and
    returns a tensor like x. The first call makes the variables, before the loop.

    Args:
        path: scope of the variables `kernel`, [features, features], and `bias`.
    """

    def __init__(self, path):
        super().__init__()
        self.path, self.kernel = path, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.kernel is not None

    def __call__(self, x, times):
        # --- build
        if self.kernel is None:
            normal = initializers.random_normal(stddev=0.5, seed=1)
            size, dtype = x.shape[-1], x.dtype
            with tf.init_scope(), tf.name_scope(""):  # keeps outer scopes out of names
                kernel, bias = normal([size, size], dtype), normal([size], dtype)
                self.kernel = tf.Variable(kernel, name=f"{self.path}/kernel")
                self.bias = tf.Variable(bias, name=f"{self.path}/bias")
        # --- repeat
        for _ in tf.range(times):
            x = tf.tanh(x @ self.kernel + self.bias)
        return x
