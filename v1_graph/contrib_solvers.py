"""`tf.contrib.solvers`, `integrate.odeint`, `sparsemax` → loops in a `tf.function`."""

import tensorflow
import tensorflow.compat.v1 as tf

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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def solve_by_gradients(matrix, rhs, steps=20, tol=1e-4):
    """Solves a system of a symmetric positive definite matrix by conjugate gradient.

    Args:
        matrix: [n, n] float tensor.
        rhs: [n] tensor.
        steps: how many to take, at most.
        tol: how small the residual is in the end, of what it was.

    Returns:
        (the solution [n], the residual [n]).
    """
    solvers = tensorflow.contrib.solvers
    operator = solvers.util.create_operator(matrix)
    state = solvers.linear_equations.conjugate_gradient(
        operator, rhs, tol=tol, max_iter=steps
    )
    return state.x, state.r


def solve_least_squares(matrix, rhs, steps=20, tol=1e-6):
    """Finds the least squares by conjugate gradients.

    Args:
        matrix: [rows, columns] float tensor.
        rhs: [rows] tensor.
        steps: how many to take, at most.
        tol: how small the gradient is in the end, of what it was.

    Returns:
        (the solution [columns], the residual [rows]).
    """
    solvers = tensorflow.contrib.solvers
    operator = solvers.util.create_operator(matrix)
    state = solvers.least_squares.cgls(operator, rhs, tol=tol, max_iter=steps)
    return state.x, state.r


def largest_singular_values(matrix, start, steps):
    """Estimates singular values by the bidiagonal matrix of Lanczos' steps.

    Args:
        matrix: [rows, columns] float tensor.
        start: [rows, 1] tensor, where it begins.
        steps: how many.

    Returns:
        [steps] tensor, the largest first.
    """
    solvers = tensorflow.contrib.solvers
    operator = solvers.util.create_operator(matrix)
    state = solvers.lanczos.lanczos_bidiag(operator, steps, starting_vector=start)
    small = tf.concat([tf.diag(state.alpha), tf.zeros_like(state.alpha)[None]], 0)
    small += tf.concat([tf.zeros_like(state.beta)[None], tf.diag(state.beta)], 0)
    return tf.svd(small, compute_uv=False)


def spiral(y, t):
    """A spiral with a push that comes and goes."""
    matrix = tf.constant([[-0.1, 2.0], [-2.0, -0.1]], y.dtype)
    return tf.matmul(y**3, matrix) + 0.1 * tf.cast(tf.sin(t), y.dtype)


def integrate(y, t, rtol=1e-6, atol=1e-12):
    """Integrates a differential equation, in steps that its error chooses.

    Args:
        y: [n, 2] float tensor, where it begins.
        t: [times] float64 tensor, rising.
        rtol: how far a step may be off, relative to y.
        atol: how far besides.

    Returns:
        [times, n, 2] tensor, y at each time.

    Raises:
        tf.errors.InvalidArgumentError: times that do not rise.
    """
    return tensorflow.contrib.integrate.odeint(spiral, y, t, rtol, atol)


def integrate_in_steps(y, t, dt=None, method="rk4"):
    """Integrates a differential equation in steps of a given size.

    Args:
        y: [n, 2] float tensor, where it begins.
        t: [times] float64 tensor, rising.
        dt: [times - 1] tensor, the size of the steps between two times, which is made
            smaller so that they fit; None for a step each.
        method: "rk4" or "midpoint".

    Returns:
        [times, n, 2] tensor, y at each time.

    Raises:
        ValueError: another method.
    """
    return tensorflow.contrib.integrate.odeint_fixed(spiral, y, t, dt, method)


def fit_rates(observed, times, start, steps, rate):
    """Learns the rates of an equation of predators and prey from what was observed.

    Args:
        observed: [times, 2] float64 array, the first of which is where it begins.
        times: [times] float64 array.
        start: [4] float64 array, the rates.
        steps: of gradient descent.
        rate: learning rate.

    Returns:
        dict with the `losses` before every step, and the `rates` in the end.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        rates = tf.get_variable("rates", initializer=start)

        def change(y, t):
            births = rates[0] * y[0] - rates[1] * y[0] * y[1]
            return tf.stack([births, rates[2] * y[0] * y[1] - rates[3] * y[1]])

        y = tensorflow.contrib.integrate.odeint_fixed(change, observed[0], times)
        loss = tf.reduce_mean(tf.square(y - observed))
        # --- run
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train_op])[0] for _ in range(steps)]
        return {"losses": losses, "rates": sess.run(rates)}


def sparsemax(logits):
    """Gives probabilities, of which many are zero.

    Args:
        logits: [n, classes] float tensor.

    Returns:
        Tensor like it, whose rows have the sum 1.
    """
    return tensorflow.contrib.sparsemax.sparsemax(logits)


def sparsemax_loss(logits, labels):
    """Gives the loss of a classifier by sparsemax.

    Args:
        logits: [n, classes] float tensor.
        labels: tensor like it, one-hot, or shares.

    Returns:
        [n] tensor.
    """
    probs = tensorflow.contrib.sparsemax.sparsemax(logits)
    return tensorflow.contrib.sparsemax.sparsemax_loss(logits, probs, labels)
