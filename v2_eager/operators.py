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
    """Adds and subtracts elementwise; a number on either side takes the tensor's dtype.

    Args:
        a: numeric tensor, or a number or list.
        b: the same, of one dtype; one of the two is a tensor.

    Returns:
        Dict of tensors of that dtype. Two tensors of different dtypes raise TypeError,
        eagerly InvalidArgumentError.
    """
    return {"add": a + b, "subtract": a - b}


def products(a, b):
    """Multiplies and divides elementwise; integers divide into floats.

    Args:
        a: numeric tensor, or a number or list.
        b: the same, of one dtype; one of the two is a tensor.

    Returns:
        Dict of tensors of that dtype; the quotients of int32 and int64 are float64.
    """
    return {"multiply": a * b, "divide": a / b}


def floor_division(a, b):
    """Divides towards minus infinity; the remainder has the sign of the divisor.

    Args:
        a: numeric tensor, or a number or list.
        b: the same, of one dtype; one of the two is a tensor.

    Returns:
        Dict of tensors of that dtype. Integers over 0 raise InvalidArgumentError.
    """
    return {"quotient": a // b, "remainder": a % b}


def truncation(a, b):
    """Divides towards zero, as C does; the remainder has the sign of the dividend.

    Args:
        a: tensor of integers. (The quotient of floats is not cut off in 1.15.)
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Dict of tensors of that dtype. A divisor 0 raises InternalError.
    """
    return {"quotient": tf.truncatediv(a, b), "remainder": tf.truncatemod(a, b)}


def div(a, b):
    """Divides as Python 2 did: integers by floor, floats exactly.

    Args:
        a: tensor of integers or floats.
        b: tensor of the same dtype, which broadcasts with `a`.

    Returns:
        Tensor of that dtype. Integers over 0 raise InvalidArgumentError.
    """
    a = tf.convert_to_tensor(a)
    b = tf.convert_to_tensor(b, a.dtype)
    return a // b if a.dtype.is_integer else a / b


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


def unary(x):
    """Negates, and takes the absolute value.

    Args:
        x: tensor of a signed dtype.

    Returns:
        Dict of tensors like `x`. There is no unary `+`, no `round` and no `divmod`.
    """
    return {"negative": -x, "absolute": abs(x)}


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
        "equal": tf.equal(a, b),  # a == b is False, no error, if the shapes differ
        "not_equal": tf.not_equal(a, b),
    }


def same_tensor(a, b):
    """Tells whether two names stand for one tensor, whatever its value.

    The arguments of a `tf.function` are new tensors: within, it is False of them.

    Args:
        a: tensor.
        b: tensor.

    Returns:
        Python bool.
    """
    return a is b  # a == b compares the values


def weight_decay(weights, uses):
    """Sums half the squares of the weights in use, shared weights counted once.

    Args:
        weights: list of float tensors of one dtype.
        uses: for each layer the place of its weights in the list.

    Returns:
        Scalar tensor.
    """
    once = dict.fromkeys(weights[place].ref() for place in uses)  # not hashable
    return tf.add_n([tf.nn.l2_loss(reference.deref()) for reference in once])


def logic(p, q):
    """Applies & | ^ ~ to truth values; `and`, `or` and `not` cannot be overloaded.

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
    """Applies and, or, exclusive or and complement to the bits of integers.

    Args:
        a: tensor of integers.
        b: tensor of the same shape and dtype.

    Returns:
        Dict of tensors like `a`.
    """
    return {
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "not": ~a,
    }


def negate_if(x, condition):
    """Negates when a Python condition holds.

    Args:
        x: tensor of a signed dtype.
        condition: Python bool, read while the function is traced; or a scalar bool
            tensor, which AutoGraph turns into `tf.cond`.

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
    if factor is not None:  # `factor or 1` would take 0 for absent
        x *= factor
    return x


def rows(x, begin=None, end=None, step=None):
    """Slices the first axis; bounds beyond it are clipped, negative ones count back.

    Args:
        x: tensor of rank 1 or more.
        begin: None, int or scalar int32 tensor.
        end: likewise; the row at `end` is left out.
        step: likewise, not 0; a negative step walks backwards.

    Returns:
        Tensor of the rank and dtype of `x`, possibly without rows.
    """
    return x[begin:end:step]


def axes(x):
    """Indexes from the end, with an ellipsis and with a new axis.

    Args:
        x: [rows, ..., columns] tensor, none of them 0.

    Returns:
        Dict of the last column, [rows, ...], and of the last row, [1, ..., columns].
    """
    return {"column": x[..., -1], "row": x[-1, tf.newaxis]}


def sum_by_slices(x):
    """Sums the rows, sliced off one at a time: an op per row for the slice alone.

    Args:
        x: [rows, columns] tensor, the number of rows being known.

    Returns:
        [columns] tensor.
    """
    total = tf.zeros_like(x[0])
    for row in range(x.shape[0]):
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
