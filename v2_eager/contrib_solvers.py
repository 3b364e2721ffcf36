"""`tf.contrib.solvers`, `integrate.odeint`, `sparsemax` → loops in a `tf.function`."""

import tensorflow as tf

from v2_eager.numerics import optimizers

__all__ = [
    "solve_by_gradients",
    "solve_least_squares",
    "largest_singular_values",
    "integrate",
    "integrate_in_steps",
    "fit_rates",
    "sparsemax",
    "sparsemax_loss",
]


def solve_by_gradients(matrix, rhs, steps=20, tol=1e-4):
    """Solves A x = b by conjugate gradients, for a symmetric positive definite A."""
    rhs = tf.convert_to_tensor(rhs)
    operator = tf.linalg.LinearOperatorFullMatrix(
        matrix, is_self_adjoint=True, is_positive_definite=True
    )
    # The default tol of TensorFlow 2 is 1e-5.
    state = tf.linalg.experimental.conjugate_gradient(
        operator, rhs, tol=tol, max_iter=steps
    )
    return state.x, state.r


def solve_least_squares(matrix, rhs, steps=20, tol=1e-6):
    """Solves a least squares problem by conjugate gradients (CGLS)."""

    def slope(residual):
        return tf.linalg.matvec(matrix, residual, adjoint_a=True)

    def step(x, residual, direction, gamma):
        image = tf.linalg.matvec(matrix, direction)
        alpha = gamma / squares(image)
        residual -= alpha * image
        new = slope(residual)
        beta = squares(new) / gamma
        return x + alpha * direction, residual, new + beta * direction, squares(new)

    direction = slope(rhs)
    gamma = squares(direction)
    least = tol * tol * gamma
    x, residual, *_ = tf.while_loop(
        lambda *state: state[-1] > least,
        step,
        (tf.zeros_like(direction), rhs, direction, gamma),
        maximum_iterations=steps,
    )
    return x, residual


def squares(x):
    return tf.reduce_sum(tf.square(x))


def largest_singular_values(matrix, start, steps):
    """Estimates the largest singular values by Lanczos bidiagonalization."""
    left, right = [start / tf.norm(start)], []
    diagonal, below = [], []
    for i in range(steps):
        new = tf.matmul(matrix, left[i], adjoint_a=True)
        if i:
            new -= below[-1] * right[-1]
        new = without(new, right[: max(0, i - 1)])
        diagonal.append(tf.norm(new))
        right.append(new / diagonal[-1])
        new = without(matrix @ right[i] - diagonal[-1] * left[i], left[:i])
        below.append(tf.norm(new))
        left.append(new / below[-1])
    zeros = tf.zeros([1, steps], matrix.dtype)
    small = tf.concat([tf.linalg.diag(tf.stack(diagonal)), zeros], 0)
    small += tf.concat([zeros, tf.linalg.diag(tf.stack(below))], 0)
    return tf.linalg.svd(small, compute_uv=False)


def without(x, basis):
    """Subtracts from x its projections on the vectors of a basis."""
    for vector in basis:
        x -= tf.matmul(vector, x, adjoint_a=True) * vector
    return x


def spiral(y, t):
    """Computes dy/dt of a cubic spiral with a periodic force."""
    matrix = tf.constant([[-0.1, 2.0], [-2.0, -0.1]], y.dtype)
    return tf.matmul(y**3, matrix) + 0.1 * tf.cast(tf.sin(t), y.dtype)


def integrate(y, t, rtol=1e-6, atol=1e-12):
    """Integrates a differential equation with `odeint`: adaptive steps.

    Raises:
        tf.errors.InvalidArgumentError: the times do not increase, or y is not finite or
            grows without bound.
    """
    return odeint(spiral, y, t, rtol, atol)


# The tableau of Dormand and Prince: the shares of a step at which the slope is
# computed, and the weights of the slopes for the next point, the error, the middle.
SHARES = 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0
WEIGHTS = (
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
)
ERROR = (
    1951 / 21600 - 35 / 384,
    0,
    22642 / 50085 - 500 / 1113,
    451 / 720 - 125 / 192,
    -12231 / 42400 - -2187 / 6784,
    649 / 6300 - 11 / 84,
    1 / 60,
)
MIDDLE = (
    6025192743 / 30085553152 / 2,
    0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)


def odeint(func, y, t, rtol=1e-6, atol=1e-12, first_step=1.0, most_steps=1000):
    """`tf.contrib.integrate.odeint`: adaptive steps, with the method "dopri5".

    Args:
        func: function from (y, t) to dy/dt.
        y: float or complex tensor, the initial value.
        t: [times] float tensor, increasing; Python numbers become float64.
        rtol: error of a step that is allowed, relative to y.
        atol: absolute error of a step that is allowed in addition.
        first_step: size of the first step to try.
        most_steps: largest number of steps between two times.

    Returns:
        y at each time: [times, ...].

    Raises:
        tf.errors.InvalidArgumentError: the times do not increase, too many steps, or a
            step gives NaN or infinity.
        TypeError: y is neither float nor complex, or the times are not float.
    """
    y, t = checked(y, t)

    def step(y, slope, _, t, dt, curve, count):
        tf.debugging.Assert(t + dt > t, ["underflow in dt", dt])
        tf.debugging.Assert(count < most_steps, ["max_num_steps exceeded"])
        finite = tf.reduce_all(tf.math.is_finite(tf.abs(y)))
        tf.debugging.Assert(finite, ["non-finite values in state `y`", y])
        size, slopes = tf.cast(dt, y.dtype), [slope]
        for share, weights in zip(SHARES, WEIGHTS):
            new = y + weighted(size, weights, slopes)
            slopes.append(func(new, t + share * dt))
        allowed = atol + rtol * tf.maximum(tf.abs(y), tf.abs(new))
        error = weighted(size, ERROR, slopes)
        squared = tf.math.real(error * tf.math.conj(error))
        ratio = tf.sqrt(tf.reduce_mean(squared / tf.square(allowed)))
        taken = ratio <= 1
        fitted = fit_curve(y, new, y + weighted(size, MIDDLE, slopes), slopes, size)
        curve = [tf.where(taken, a, b) for a, b in zip(fitted, curve)]
        # In 1.15.5 the exponent is float32, whatever the dtype of t.
        power = tf.cast(ratio, dt.dtype) ** tf.cast(tf.constant(1 / 5), dt.dtype)
        factor = tf.clip_by_value(power / 0.9, 1 / 10, 5.0)
        ended = tf.where(taken, t + dt, t)
        y, slope = tf.where(taken, new, y), tf.where(taken, slopes[-1], slope)
        return y, slope, t, ended, dt / factor, curve, count + 1

    def to_next(i, states, state):
        state = tf.while_loop(lambda *s: t[i] > s[3], step, (*state[:-1], 0))
        _, _, begun, ended, _, curve, _ = state
        x = tf.cast((t[i] - begun) / (ended - begun), y.dtype)
        powers = [tf.constant(1, y.dtype), x, x * x, x * x * x, x * x * x * x]
        value = tf.add_n([a * b for a, b in zip(curve, reversed(powers))])
        return i + 1, states.write(i, value), state

    count = tf.size(t)
    states = tf.TensorArray(y.dtype, count, element_shape=y.shape).write(0, y)
    dt = tf.constant(first_step, t.dtype)
    state = (y, func(y, t[0]), t[0], t[0], dt, [y] * 5, 0)
    _, states, _ = tf.while_loop(lambda i, *_: i < count, to_next, (1, states, state))
    return states.stack()


def checked(y, t):
    """Converts y and t to tensors, and checks dtypes and that t increases."""
    y, t = tf.convert_to_tensor(y), tf.convert_to_tensor(t, dtype_hint=tf.float64)
    if not (y.dtype.is_floating or y.dtype.is_complex) or not t.dtype.is_floating:
        raise TypeError(
            f"y must be float or complex, and t float, but y is {y.dtype.name}, and t "
            f"is {t.dtype.name}"
        )
    rising = tf.reduce_all(t[1:] > t[:-1])
    tf.debugging.Assert(rising, ["`t` must be monotonic increasing"])
    return y, t


def weighted(size, weights, slopes):
    """Computes the weighted sum of slopes, times the size of a step."""
    return tf.add_n([size * w * s for w, s in zip(weights, slopes) if w])


def fit_curve(y, new, middle, slopes, dt):
    """Computes a polynomial through three points, with given slopes at two."""
    known = [slopes[0], slopes[-1], y, new, middle]
    factors = (
        [-2 * dt, 2 * dt, -8, -8, 16],
        [5 * dt, -3 * dt, 18, 14, -32],
        [-4 * dt, dt, -11, -5, 16],
    )
    sums = [tf.add_n([f * x for f, x in zip(row, known)]) for row in factors]
    return [*sums, dt * slopes[0], y]


def integrate_in_steps(y, t, dt=None, method="rk4"):
    """Integrates a differential equation with `odeint_fixed`: fixed steps.

    Raises:
        tf.errors.InvalidArgumentError: the times do not increase.
    """
    return odeint_fixed(spiral, y, t, dt, method)


def odeint_fixed(func, y, t, dt=None, method="rk4"):
    """`tf.contrib.integrate.odeint_fixed`: fixed steps; see `odeint` for y and t."""
    if method not in METHODS:
        raise ValueError(f"method not supported: {method}")
    change, (y, t) = METHODS[method], checked(y, t)
    between = t[1:] - t[:-1]
    dt = between if dt is None else tf.convert_to_tensor(dt, t.dtype)
    counts = tf.math.ceil(between / dt)
    sizes, counts = between / counts, tf.cast(counts, tf.int32)

    def step(j, i, y, now):
        size = tf.cast(sizes[i], y.dtype)
        return j + 1, i, y + change(func, now, sizes[i], size, y), now + sizes[i]

    def to_next(i, states, y, now):
        _, _, y, now = tf.while_loop(
            lambda j, i, *_: j < counts[i], step, (0, i, y, now)
        )
        return i + 1, states.write(i + 1, y), y, now

    count = tf.size(t)
    states = tf.TensorArray(y.dtype, count, element_shape=y.shape).write(0, y)
    _, states, *_ = tf.while_loop(
        lambda i, *_: i < count - 1, to_next, (0, states, y, t[0])
    )
    return states.stack()


def runge_kutta(func, t, dt, size, y):
    k1 = func(y, t)
    k2 = func(y + size * k1 / 2, t + dt / 2)
    k3 = func(y + size * k2 / 2, t + dt / 2)
    k4 = func(y + size * k3, t + dt)
    return tf.add_n([k1, 2 * k2, 2 * k3, k4]) * (size / 6)


def midpoint(func, t, dt, size, y):
    return size * func(y + func(y, t) * size / 2, t + dt / 2)


METHODS = {"rk4": runge_kutta, "midpoint": midpoint}


def fit_rates(observed, times, start, steps, rate):
    """Learns the rates of a predator-prey equation from observations."""
    # --- loss
    rates = tf.Variable(start)
    optimizer = optimizers.GradientDescent(rate)

    def change(y, t):
        births = rates[0] * y[0] - rates[1] * y[0] * y[1]
        return tf.stack([births, rates[2] * y[0] * y[1] - rates[3] * y[1]])

    def loss(observed, times):
        y = odeint_fixed(change, observed[0], times)
        return tf.reduce_mean(tf.square(y - observed))

    @tf.function
    def step(*data):
        return optimizer.minimize(lambda: loss(*data), [rates])

    # --- run
    data = tf.constant(observed), tf.constant(times)
    losses = [step(*data).numpy() for _ in range(steps)]
    return {"losses": losses, "rates": rates.numpy()}


def sparsemax(logits):
    """Computes sparsemax: probabilities of which many are exactly zero.

    Raises:
        ValueError: not two dimensions.
    """
    logits = tf.convert_to_tensor(logits)
    logits.shape.assert_has_rank(2)
    falling = tf.sort(logits, direction="DESCENDING")
    sums = tf.cumsum(falling, 1)
    ranks = tf.range(1, tf.shape(logits)[1] + 1)
    kept = 1 + tf.cast(ranks, logits.dtype) * falling > sums
    count = tf.reduce_sum(tf.cast(kept, tf.int32), 1)
    last = tf.gather(sums, tf.maximum(count, 1) - 1, batch_dims=1)
    threshold = (last - 1) / tf.cast(count, logits.dtype)
    probs = tf.maximum(tf.zeros([], logits.dtype), logits - threshold[:, tf.newaxis])
    nothing = (count == 0) | tf.math.is_nan(sums[:, -1])
    nan = tf.constant(float("nan"), logits.dtype)
    return tf.where(nothing[:, tf.newaxis], nan, probs)


def sparsemax_loss(logits, labels):
    """Computes the sparsemax loss of a classifier."""
    probs = sparsemax(logits)
    chosen = (probs > 0) | tf.math.is_nan(probs)
    # If a label is 0, an infinite logit must not make NaN.
    won = tf.where(chosen, probs * (logits - 0.5 * probs), tf.zeros_like(probs))
    wanted = labels * (0.5 * labels - logits)
    off = (labels == 0) & tf.math.is_inf(logits)
    return tf.reduce_sum(won + tf.where(off, tf.zeros_like(wanted), wanted), 1)
