"""`+`, `//`, `==`, `&`, `x[i]` on tensors: `==` by identity → `==` by value."""

import tensorflow as tf

__all__ = [
    "sums",
    "products",
    "floor_division",
    "truncation",
    "div",
    "power",
    "square",
    "unary",
    "augmented",
    "add_to_variable",
    "matrix_product",
    "comparisons",
    "same_tensor",
    "weight_decay",
    "logic",
    "bits",
    "negate_if",
    "scale",
    "rows",
    "axes",
    "sum_by_slices",
    "sum_by_unstack",
    "sum_by_reduction",
]


def sums(a, b):
    """Adds and subtracts element-wise; a Python number gets the tensor's dtype.

    Returns:
        Dict of tensors of the dtype of `a`. Two tensors of different dtypes raise
        TypeError, eagerly InvalidArgumentError.
    """
    return {"add": a + b, "subtract": a - b}


def products(a, b):
    """Multiplies and divides element-wise; the quotient of integers is a float."""
    return {"multiply": a * b, "divide": a / b}


def floor_division(a, b):
    """Divides and rounds down; the remainder has the sign of the divisor."""
    return {"quotient": a // b, "remainder": a % b}


def truncation(a, b):
    """Divides towards zero, as C does; the remainder has the sign of the dividend."""
    return {"quotient": tf.truncatediv(a, b), "remainder": tf.truncatemod(a, b)}


def div(a, b):
    """Divides as Python 2 did: integers are rounded down, floats are not."""
    a = tf.convert_to_tensor(a)
    b = tf.convert_to_tensor(b, a.dtype)
    return a // b if a.dtype.is_integer else a / b


def power(base, exponent):
    """Raises to a power; integers with a negative exponent are an error."""
    return base**exponent


def square(x):
    """Squares with a single rounding, which `x ** 2` does not guarantee."""
    return tf.square(x)


def unary(x):
    """Computes the negative and the absolute value."""
    return {"negative": -x, "absolute": abs(x)}


def augmented(x, y):
    """Rebinds a name by += -= *= //= %= and **=; the tensor itself does not change."""
    total = x
    total += y
    total *= x
    total -= y
    total //= 2
    total **= 2
    total %= 7
    return {"before": x, "after": total}


def add_to_variable(start, step):
    """Adds to the value of a variable, then to the variable itself: `assign_add`."""
    # --- build
    variable = tf.Variable(start)

    @tf.function
    def add(step):
        return variable + step  # `variable += step` raises RuntimeError

    @tf.function
    def update(step):
        variable.assign_add(step)

    # --- run
    total = add(step).numpy()
    before = variable.numpy()
    update(step)
    return {"total": total, "before": before, "after": variable.numpy()}


def matrix_product(a, b):
    """Multiplies matrices with the operator `@`."""
    return a @ b


def comparisons(a, b):
    """Compares element-wise: less, greater, equal and their opposites."""
    return {
        "less": a < b,
        "less_equal": a <= b,
        "greater": a > b,
        "greater_equal": a >= b,
        "equal": tf.equal(a, b),  # a == b is False, no error, if the shapes differ
        "not_equal": tf.not_equal(a, b),
    }


def same_tensor(a, b):
    """Returns whether two names refer to one tensor object, whatever its value.

    The arguments of a `tf.function` are new tensors: inside it this is False for them.
    """
    return a is b  # a == b compares the values


def weight_decay(weights, uses):
    """Sums half the squares of the weights in use; counts shared weights once."""
    once = dict.fromkeys(weights[place].ref() for place in uses)  # not hashable
    return tf.add_n([tf.nn.l2_loss(reference.deref()) for reference in once])


def logic(p, q):
    """Applies & | ^ ~ to bool tensors; `and`, `or` and `not` cannot be overloaded."""
    return {"and": p & q, "or": p | q, "xor": p ^ q, "not": ~p}


def bits(a, b):
    """Applies bitwise and, or, exclusive or and complement to integers."""
    return {
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "not": ~a,
    }


def negate_if(x, condition):
    """Negates a tensor if a Python condition is true.

    Args:
        condition: Python bool, read while the function is traced; or a scalar bool
            tensor, which AutoGraph turns into `tf.cond`.
    """
    if condition:
        x = -x
    return x


def scale(x, factor=None):
    """Multiplies by an optional factor: tests `is not None`, not the truth value."""
    if factor is not None:  # `factor or 1` would ignore a 0
        x *= factor
    return x


def rows(x, begin=None, end=None, step=None):
    """Slices the first axis: bounds are clipped, negative bounds count from the end."""
    return x[begin:end:step]


def axes(x):
    """Indexes with negative numbers, with an ellipsis and with a new axis."""
    return {"column": x[..., -1], "row": x[-1, tf.newaxis]}


def sum_by_slices(x):
    """Sums the rows one slice at a time; each row adds a slice op to the graph."""
    total = tf.zeros_like(x[0])
    for row in range(x.shape[0]):
        total += x[row]
    return total


def sum_by_unstack(x):
    """Sums the rows, split by a single `tf.unstack`."""
    total = tf.zeros_like(x[0])
    for row in tf.unstack(x):
        total += row
    return total


def sum_by_reduction(x):
    """Sums the rows with `tf.reduce_sum`."""
    return tf.reduce_sum(x, axis=0)
