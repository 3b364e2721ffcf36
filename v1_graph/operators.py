"""`+`, `//`, `==`, `&`, `x[i]` on tensors: `==` by identity → `==` by value."""

import tensorflow.compat.v1 as tf

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

    Args:
        a: numeric tensor, or a number or list.
        b: tensor, number or list like `a`, of the same dtype; `a` or `b` is a tensor.

    Returns:
        Dict of tensors of the dtype of `a`. Two tensors of different dtypes raise
        TypeError.
    """
    return {"add": a + b, "subtract": a - b}


def products(a, b):
    """Multiplies and divides element-wise; the quotient of integers is a float.

    Args:
        a: numeric tensor, or a number or list.
        b: tensor, number or list like `a`, of the same dtype; `a` or `b` is a tensor.

    Returns:
        Dict of tensors of the dtype of `a`; the quotients of int32 and int64 are
        float64.
    """
    return {"multiply": a * b, "divide": a / b}


def floor_division(a, b):
    """Divides and rounds down; the remainder has the sign of the divisor.

    Args:
        a: numeric tensor, or a number or list.
        b: tensor, number or list like `a`, of the same dtype; `a` or `b` is a tensor.

    Returns:
        Dict of tensors of the dtype of `a`. Integers over 0 raise InvalidArgumentError.
    """
    return {"quotient": a // b, "remainder": a % b}


def truncation(a, b):
    """Divides towards zero, as C does; the remainder has the sign of the dividend.

    Args:
        a: tensor of integers. (The quotient of floats is not truncated in 1.15.)
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Dict of tensors of the dtype of `a`. A divisor of 0 raises InternalError.
    """
    return {"quotient": tf.truncatediv(a, b), "remainder": tf.truncatemod(a, b)}


def div(a, b):
    """Divides as Python 2 did: integers are rounded down, floats are not.

    Args:
        a: tensor of integers or floats.
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Tensor of the dtype of `a`. Integers over 0 raise InvalidArgumentError.
    """
    return tf.div(a, b)


def power(base, exponent):
    """Raises to a power; integers with a negative exponent are an error.

    Args:
        base: tensor of a numeric dtype.
        exponent: tensor of the same dtype, which broadcasts with `base`.

    Returns:
        Tensor of the dtype of `base`.
    """
    return base**exponent


def square(x):
    """Squares with a single rounding, which `x ** 2` does not guarantee.

    Args:
        x: tensor of a numeric dtype.

    Returns:
        Tensor like `x`.
    """
    return tf.square(x)


def unary(x):
    """Computes the negative and the absolute value.

    Args:
        x: tensor of a signed dtype.

    Returns:
        Dict of tensors like `x`. There is no unary `+`, no `round` and no `divmod`.
    """
    return {"negative": -x, "absolute": abs(x)}


def augmented(x, y):
    """Rebinds a name by += -= *= //= %= and **=; the tensor itself does not change.

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
    """Adds to the value of a variable, then to the variable itself: `assign_add`.

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
        total += step_in  # a new tensor: the variable keeps its value
        update = tf.assign_add(variable, step_in)
        # --- run
        sess.run(tf.global_variables_initializer())
        total_value = sess.run(total, {step_in: step})
        before = sess.run(variable)
        sess.run(update, {step_in: step})
        return {"total": total_value, "before": before, "after": sess.run(variable)}


def matrix_product(a, b):
    """Multiplies matrices with the operator `@`.

    Args:
        a: [..., rows, inner] tensor of rank 2 or more.
        b: [..., inner, columns] tensor of the same dtype.

    Returns:
        [..., rows, columns] tensor. A vector is not accepted, unlike in NumPy.
    """
    return a @ b


def comparisons(a, b):
    """Compares element-wise: less, greater, equal and their opposites.

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


def same_tensor(a, b):
    """Returns whether two names refer to one tensor object, whatever its value.

    Args:
        a: tensor.
        b: tensor.

    Returns:
        Python bool.
    """
    return a == b


def weight_decay(weights, uses):
    """Sums half the squares of the weights in use; counts shared weights once.

    Args:
        weights: list of float tensors of one dtype.
        uses: for each layer the place of its weights in the list.

    Returns:
        Scalar tensor.
    """
    once = dict.fromkeys(weights[place] for place in uses)  # by identity
    return tf.add_n([tf.nn.l2_loss(tensor) for tensor in once])


def logic(p, q):
    """Applies & | ^ ~ to bool tensors; `and`, `or` and `not` cannot be overloaded.

    Nor can the `and` in `low < x < high`: write `(low < x) & (x < high)`, with the
    parentheses, since & binds tighter than <.

    Args:
        p: bool tensor.
        q: bool tensor, which broadcasts with `p`.

    Returns:
        Dict of bool tensors.
    """
    return {"and": p & q, "or": p | q, "xor": p ^ q, "not": ~p}


def bits(a, b):
    """Applies bitwise and, or, exclusive or and complement to integers.

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
    """Negates a tensor if a Python condition is true.

    Args:
        x: tensor of a signed dtype.
        condition: Python bool, read while the graph is built. A tensor has no truth
            value yet and raises TypeError: use `tf.cond` for a tensor.

    Returns:
        Tensor like `x`.
    """
    if condition:
        x = -x
    return x


def scale(x, factor=None):
    """Multiplies by an optional factor: tests `is not None`, not the truth value.

    Args:
        x: numeric tensor.
        factor: None, or a scalar tensor of the same dtype, which may be zero.

    Returns:
        Tensor like `x`.
    """
    if factor is not None:  # `factor or 1` needs the tensor's truth value: TypeError
        x *= factor
    return x


def rows(x, begin=None, end=None, step=None):
    """Slices the first axis: bounds are clipped, negative bounds count from the end.

    Args:
        x: tensor of rank 1 or more.
        begin: None, int or scalar int32 tensor.
        end: None, int or scalar int32 tensor; the row at `end` is left out.
        step: None, int or scalar int32 tensor, not 0; a negative step reads backwards.

    Returns:
        Tensor of the rank and dtype of `x`, possibly without rows.
    """
    return x[begin:end:step]


def axes(x):
    """Indexes with negative numbers, with an ellipsis and with a new axis.

    Args:
        x: [rows, ..., columns] tensor; no size is 0.

    Returns:
        Dict of the last column, [rows, ...], and of the last row, [1, ..., columns].
    """
    return {"column": x[..., -1], "row": x[-1, tf.newaxis]}


def sum_by_slices(x):
    """Sums the rows one slice at a time; each row adds a slice op to the graph.

    Args:
        x: [rows, columns] tensor with a known number of rows.

    Returns:
        [columns] tensor.
    """
    total = tf.zeros_like(x[0])
    for row in range(x.shape[0].value):
        total += x[row]
    return total


def sum_by_unstack(x):
    """Sums the rows, split by a single `tf.unstack`.

    Args:
        x: [rows, columns] tensor with a known number of rows.

    Returns:
        [columns] tensor.
    """
    total = tf.zeros_like(x[0])
    for row in tf.unstack(x):
        total += row
    return total


def sum_by_reduction(x):
    """Sums the rows with `tf.reduce_sum`.

    Args:
        x: [rows, columns] tensor.

    Returns:
        [columns] tensor.
    """
    return tf.reduce_sum(x, axis=0)
