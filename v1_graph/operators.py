"""Operators: Python's symbols on tensors, `==` by identity → `==` by value."""

import tensorflow.compat.v1 as tf

__all__ = [
    "arithmetic",
    "unary",
    "div",
    "integer_division",
    "power",
    "square",
    "reflected",
    "augmented",
    "add_to_variable",
    "matrix_product",
    "comparisons",
    "within",
    "same_tensor",
    "weight_decay",
    "logic",
    "bits",
    "negate_if",
    "scale",
    "slices",
    "rows_between",
    "sum_by_slices",
    "sum_by_unstack",
    "sum_by_reduction",
]


def arithmetic(a, b):
    """Applies + - * / // % elementwise; `//` and `%` round towards minus infinity.

    Args:
        a: tensor of a numeric dtype.
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Dict of tensors of that dtype; "divide" of int32 or int64 is float64.
    """
    return {
        "add": a + b,
        "subtract": a - b,
        "multiply": a * b,
        "divide": a / b,
        "floordiv": a // b,
        "mod": a % b,
    }


def unary(x):
    """Negates, and takes the absolute value.

    Args:
        x: tensor of a signed dtype.

    Returns:
        Dict of tensors like `x`; there is no unary `+`, `round` or `divmod`.
    """
    return {"negative": -x, "absolute": abs(x)}


def div(a, b):
    """Divides as Python 2 did: integers by floor, floats exactly.

    Args:
        a: tensor of integers or floats.
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Tensor of that dtype. Integers over 0 raise InvalidArgumentError.
    """
    return tf.div(a, b)


def integer_division(a, b):
    """Divides integers by floor (as Python does) and by truncation (as C does).

    Args:
        a: tensor of integers.
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Dict of tensors of that dtype: a = quotient * b + remainder for either pair.
    """
    return {
        "floordiv": tf.floordiv(a, b),
        "floormod": tf.floormod(a, b),
        "mod": tf.mod(a, b),
        "truncatediv": tf.truncatediv(a, b),
        "truncatemod": tf.truncatemod(a, b),
    }


def power(base, exponent):
    """Raises to a power; of integers to a negative one is an error.

    Args:
        base: tensor of a numeric dtype.
        exponent: tensor of the same dtype, which broadcasts with `base`.

    Returns:
        Tensor of that dtype.
    """
    return base**exponent


def square(x):
    """Squares with one rounding, which `x ** 2` does not promise.

    Args:
        x: tensor of a numeric dtype.

    Returns:
        Tensor like `x`.
    """
    return tf.square(x)


def reflected(x, left):
    """Puts a Python number or list on the left: it takes the tensor's dtype.

    Args:
        x: tensor of a numeric dtype.
        left: number, or list of numbers that broadcasts with `x`.

    Returns:
        Dict of tensors.
    """
    return {
        "add": left + x,
        "subtract": left - x,
        "multiply": left * x,
        "divide": left / x,
        "floordiv": left // x,
        "mod": left % x,
        "power": left**x,
        "less": left < x,
    }


def augmented(x, y):
    """Rebinds a name by += -= *= //= %= and **=; the tensor itself never changes.

    Args:
        x: tensor of a numeric dtype.
        y: tensor of the same shape and dtype.

    Returns:
        Dict of `x` as it was and of the result.
    """
    total = x
    total += y
    total *= x
    total -= y
    total //= 2
    total **= 2
    total %= 7
    return {"before": x, "after": total}


def add_to_variable(start, step):
    """Adds to a variable's value, and to the variable.

    Args:
        start: initial value, float array.
        step: array of the same shape and dtype.

    Returns:
        Dict of the sum, the variable after the sum, and the variable after assign_add.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        step_in = tf.placeholder(step.dtype, step.shape)
        variable = tf.Variable(start)
        total = variable
        total += step_in  # a tensor of its own: the variable keeps its value
        update = tf.assign_add(variable, step_in)
        # --- run
        sess.run(tf.global_variables_initializer())
        total_value = sess.run(total, {step_in: step})
        before = sess.run(variable)
        sess.run(update, {step_in: step})
        return {"total": total_value, "before": before, "after": sess.run(variable)}


def matrix_product(a, b):
    """Multiplies matrices by `@`.

    Args:
        a: [..., rows, inner] tensor of rank 2 or more.
        b: [..., inner, columns] tensor of the same dtype.

    Returns:
        [..., rows, columns] tensor. A vector is not accepted, unlike in NumPy.
    """
    return a @ b


def comparisons(a, b):
    """Compares elementwise, equality included.

    Args:
        a: numeric tensor.
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Dict of bool tensors; a NaN is unequal to everything.
    """
    return {
        "less": a < b,
        "less_equal": a <= b,
        "greater": a > b,
        "greater_equal": a >= b,
        "equal": tf.equal(a, b),  # a == b asks whether they are one object
        "not_equal": tf.not_equal(a, b),
    }


def within(x, low, high):
    """Tests for an open interval: `low < x < high` would ask for a tensor's truth.

    Args:
        x: numeric tensor.
        low: number.
        high: number.

    Returns:
        Bool tensor like `x`.
    """
    return (low < x) & (x < high)  # & binds tighter than <: keep the parentheses


def same_tensor(a, b):
    """Tells whether two names stand for one tensor, whatever its value.

    Args:
        a: tensor.
        b: tensor.

    Returns:
        Python bool.
    """
    return a == b


def weight_decay(weights, uses):
    """Sums half the squares of the weights in use, shared weights counted once.

    Args:
        weights: list of float tensors of one dtype.
        uses: for each layer the place of its weights in the list.

    Returns:
        Scalar tensor.
    """
    once = {weights[place]: True for place in uses}  # a tensor hashes by identity
    return tf.add_n([tf.nn.l2_loss(tensor) for tensor in once])


def logic(p, q):
    """Applies & | ^ ~ to truth values; `and`, `or` and `not` cannot be overloaded.

    Args:
        p: bool tensor.
        q: bool tensor, which broadcasts with `p`.

    Returns:
        Dict of bool tensors.
    """
    return {"and": p & q, "or": p | q, "xor": p ^ q, "not": ~p}


def bits(a, b):
    """Applies and, or, exclusive or and complement to the bits of integers.

    Args:
        a: tensor of integers.
        b: tensor of the same shape and dtype.

    Returns:
        Dict of tensors like `a`.
    """
    return {
        "and": tf.bitwise.bitwise_and(a, b),
        "or": tf.bitwise.bitwise_or(a, b),
        "xor": tf.bitwise.bitwise_xor(a, b),
        "not": tf.bitwise.invert(a),
    }


def negate_if(x, condition):
    """Negates when a Python condition holds.

    Args:
        x: tensor of a signed dtype.
        condition: Python bool, read while the graph is built. A tensor has no truth
            yet and raises TypeError: `tf.cond` is for those.

    Returns:
        Tensor like `x`.
    """
    if condition:
        x = -x
    return x


def scale(x, factor=None):
    """Multiplies by an optional factor; absent is None, not false.

    Args:
        x: numeric tensor.
        factor: None, or a scalar tensor of the same dtype, which may be zero.

    Returns:
        Tensor like `x`.
    """
    if factor is not None:  # `factor or 1` would ask for the tensor's truth: TypeError
        x *= factor
    return x


def slices(x):
    """Slices with negative bounds, steps, an ellipsis and new axes.

    Args:
        x: [planes, rows, columns] tensor, none of them 0.

    Returns:
        Dict of tensors.
    """
    return {
        "first": x[0],
        "last": x[-1],
        "inner": x[1:-1],
        "backwards": x[::-1],
        "every_second": x[:, 1::2],
        "ellipsis": x[..., 0],
        "new_axis": x[:, tf.newaxis, 0],
        "beyond": x[-99:2, :99],
        "empty": x[3:1],
    }


def rows_between(x, begin, end):
    """Slices rows between two bounds that are tensors themselves.

    Args:
        x: tensor of rank 1 or more.
        begin: scalar int32 tensor, counted from the end when negative.
        end: scalar int32 tensor, likewise; the row at `end` is left out.

    Returns:
        Tensor of the rank and dtype of `x`, without rows when `end` is not behind
        `begin`.
    """
    return x[begin:end]


def sum_by_slices(x):
    """Sums the rows, sliced off one at a time: an op per row for the slice alone.

    Args:
        x: [rows, columns] tensor, the number of rows being known.

    Returns:
        [columns] tensor.
    """
    total = tf.zeros_like(x[0])
    for row in range(x.shape[0].value):
        total += x[row]
    return total


def sum_by_unstack(x):
    """Sums the rows, all split off by a single op.

    Args:
        x: [rows, columns] tensor, the number of rows being known.

    Returns:
        [columns] tensor.
    """
    total = tf.zeros_like(x[0])
    for row in tf.unstack(x):
        total += row
    return total


def sum_by_reduction(x):
    """Sums the rows by the op made for it.

    Args:
        x: [rows, columns] tensor.

    Returns:
        [columns] tensor.
    """
    return tf.reduce_sum(x, axis=0)
