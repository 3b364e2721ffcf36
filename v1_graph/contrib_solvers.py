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

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def solve_by_gradients(matrix, rhs, steps=20, tol=1e-4):
    """Solves A x = b by conjugate gradients, for a symmetric positive definite A.

    Args:
        matrix: [n, n] float tensor.
        rhs: [n] tensor.
        steps: the largest number of steps.
        tol: stop when the norm of the residual is below `tol` times the initial norm.

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
    """Solves a least squares problem by conjugate gradients (CGLS).

    Args:
        matrix: [rows, columns] float tensor.
        rhs: [rows] tensor.
        steps: the largest number of steps.
        tol: stop when the norm of the gradient is below `tol` times the initial norm.

    Returns:
        (the solution [columns], the residual [rows]).
    """
    solvers = tensorflow.contrib.solvers
    operator = solvers.util.create_operator(matrix)
    state = solvers.least_squares.cgls(operator, rhs, tol=tol, max_iter=steps)
    return state.x, state.r


def largest_singular_values(matrix, start, steps):
    """Estimates the largest singular values by Lanczos bidiagonalization.

    Args:
        matrix: [rows, columns] float tensor.
        start: [rows, 1] tensor, the starting vector.
        steps: number of Lanczos steps.

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
    """Computes dy/dt of a cubic spiral with a periodic force."""
    matrix = tf.constant([[-0.1, 2.0], [-2.0, -0.1]], y.dtype)
    return tf.matmul(y**3, matrix) + 0.1 * tf.cast(tf.sin(t), y.dtype)


def integrate(y, t, rtol=1e-6, atol=1e-12):
    """Integrates a differential equation with `odeint`: adaptive steps.

    Args:
        y: [n, 2] float tensor, the initial value.
        t: [times] float64 tensor, increasing.
        rtol: error of a step that is allowed, relative to y.
        atol: absolute error of a step that is allowed in addition.

    Returns:
        [times, n, 2] tensor, y at each time.

    Raises:
        tf.errors.InvalidArgumentError: the times do not increase.
    """
    return tensorflow.contrib.integrate.odeint(spiral, y, t, rtol, atol)


def integrate_in_steps(y, t, dt=None, method="rk4"):
    """Integrates a differential equation with `odeint_fixed`: fixed steps.

    Args:
        y: [n, 2] float tensor, the initial value.
        t: [times] float64 tensor, increasing.
        dt: [times - 1] tensor, the step size between each two times; it is reduced so
            that a whole number of steps fits. None: one step between two times.
        method: "rk4" or "midpoint".

    Returns:
        [times, n, 2] tensor, y at each time.

    Raises:
        ValueError: an unknown `method`.
    """
    return tensorflow.contrib.integrate.odeint_fixed(spiral, y, t, dt, method)


def fit_rates(observed, times, start, steps, rate):
    """Learns the rates of a predator-prey equation from observations.

    Args:
        observed: [times, 2] float64 array; the first row is the initial value.
        times: [times] float64 array.
        start: [4] float64 array, the initial rates.
        steps: number of steps of gradient descent.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, and the `rates` after training.
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
    """Computes sparsemax: probabilities of which many are exactly zero.

    Args:
        logits: [n, classes] float tensor.

    Returns:
        Tensor like `logits`; each row sums to 1.
    """
    return tensorflow.contrib.sparsemax.sparsemax(logits)


def sparsemax_loss(logits, labels):
    """Computes the sparsemax loss of a classifier.

    Args:
        logits: [n, classes] float tensor.
        labels: tensor like `logits`, one-hot or probabilities.

    Returns:
        [n] tensor.
    """
    probs = tensorflow.contrib.sparsemax.sparsemax(logits)
    return tensorflow.contrib.sparsemax.sparsemax_loss(logits, probs, labels)
