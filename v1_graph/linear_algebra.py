"""`tf.matrix_inverse`, `tf.matrix_solve`, `tf.cholesky`, `tf.svd` → `tf.linalg`."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "bilinear_scores",
    "mirror_triangle",
    "diagonals",
    "surface_normals",
    "norm",
    "solve",
    "least_squares",
    "whiten",
    "inverse_square_root",
    "log_determinant",
    "normal_log_density",
    "fit_gaussian_process",
]


def bilinear_scores(queries, keys, weights):
    """Computes bilinear attention scores: queries @ weights @ transposed keys.

    Args:
        queries: [batch, queries, m] float tensor.
        keys: [batch, keys, n] float tensor.
        weights: [m, n] float tensor, one matrix for the whole batch.

    Returns:
        [batch, queries, keys] tensor.

    Raises:
        ValueError: in a graph, sizes that do not match.
        tf.errors.InvalidArgumentError: the same mistake, eagerly.
    """
    # The batch shares one matrix, so tensordot computes one large product.
    projected = tf.tensordot(queries, weights, axes=[[2], [0]])
    return tf.matmul(projected, keys, transpose_b=True)


def mirror_triangle(x):
    """Makes matrices symmetric from their lower triangles; computes their traces.

    Args:
        x: [..., n, n] float tensor; the parts above the diagonals are not used.

    Returns:
        (symmetric matrices [..., n, n], their traces [...]).

    Raises:
        ValueError: in a graph, matrices that are not square.
        tf.errors.InvalidArgumentError: the same mistake, eagerly.
    """
    lower = tf.matrix_band_part(x, -1, 0)
    both = lower + tf.matrix_transpose(lower)
    both = tf.matrix_set_diag(both, tf.matrix_diag_part(x))
    return both, tf.trace(both)


def diagonals(x, offset=1):
    """Builds diagonal tensors and matrices, also with values above the diagonal.

    Args:
        x: [m, n] float tensor.
        offset: how far above the diagonal the values of `above` are, a positive number.

    Returns:
        dict with `tensor` [m, n, m, n], zero except at [i, j, i, j]; its `part` [m, n],
        which is x again; `rows` [m, n, n], a matrix for every row of x; and `above` [m,
        n + offset, n + offset], the same matrices with the values above the diagonal.
    """
    tensor = tf.diag(x)
    rows = tf.matrix_diag(x)
    # --- above
    # 1.15 accepts k=offset for this, and ignores it.
    above = tf.pad(rows, [[0, 0], [0, offset], [offset, 0]])
    return {
        "tensor": tensor,
        "part": tf.diag_part(tensor),
        "rows": rows,
        "above": above,
    }


def surface_normals(corners):
    """Computes the unit normals and the areas of triangles.

    Args:
        corners: [..., 3, 3] float tensor: three corners, each of x, y and z.

    Returns:
        (normals [..., 3], areas [..., 1]); NaN and 0 for corners on one line.

    Raises:
        ValueError: in a graph, corners that are not of x, y and z.
        tf.errors.FailedPreconditionError: the same mistake, eagerly.
    """
    first, second, third = tf.unstack(corners, 3, axis=-2)
    normals = tf.cross(second - first, third - first)
    lengths = tf.norm(normals, axis=-1, keep_dims=True)
    return normals / lengths, lengths / 2


def norm(x, kind):
    """Computes norms of matrices: Frobenius, spectral, or by columns or rows.

    Args:
        x: [..., m, n] float tensor.
        kind: "all", the root of the sum of all squares; "frobenius", the same for every
            matrix; "spectral", the largest singular value; "columns", the largest
            absolute sum of a column; or "rows", of a row.

    Returns:
        [...] tensor; a scalar for "all".
    """
    if kind == "all":
        return tf.norm(x, ord=2)  # not the spectral norm: all of x is one vector
    order = {"frobenius": "fro", "spectral": 2, "columns": 1, "rows": np.inf}[kind]
    return tf.norm(x, ord=order, axis=[-2, -1])


def solve(a, b, how):
    """Solves the linear equations a x = b: by inverse, LU, triangle or Cholesky.

    Args:
        a: [..., n, n] float tensor.
        b: [..., n, k] float tensor.
        how: "inverse"; "lu"; "lower" if a is lower triangular (the part above is
            ignored); "cholesky" if a is symmetric and positive definite.

    Returns:
        [..., n, k] tensor.

    Raises:
        tf.errors.InvalidArgumentError: a has no inverse, or "cholesky" and a is not
            positive definite.
    """
    if how == "inverse":
        return tf.matmul(tf.matrix_inverse(a), b)
    if how == "lu":
        return tf.matrix_solve(a, b)
    # --- lower
    if how == "lower":
        return tf.matrix_triangular_solve(a, b, lower=True)
    # --- cholesky
    return tf.cholesky_solve(tf.cholesky(a), b)


def least_squares(x, y, l2=0.0, fast=True):
    """Solves the least squares problem x w = y.

    Args:
        x: [..., rows, n] float tensor.
        y: [..., rows, k] float tensor.
        l2: weight of the squares of w, not below 0; ignored unless `fast`.
        fast: whether to solve the normal equations by Cholesky; otherwise by an
            orthogonal decomposition, which has no gradient and accepts any rank.

    Returns:
        [..., n, k] tensor.

    Raises:
        tf.errors.InvalidArgumentError: `fast`, and the columns of x are dependent.
    """
    return tf.matrix_solve_ls(x, y, l2_regularizer=l2, fast=fast)


def whiten(x):
    """Whitens examples by SVD: features become uncorrelated, with variance 1.

    Args:
        x: [examples, features] float tensor, more examples than features.

    Returns:
        dict with the examples `white`, like x; the `components` [features, features], a
        direction in every row, its element of largest size positive; and the
        `deviations` [features] along them, the largest first.
    """
    centered = x - tf.reduce_mean(x, axis=0)
    # --- decompose
    # The order is s, u, v, and v is not transposed: x is u s v'.
    s, u, v = tf.svd(centered)
    components = tf.transpose(v)
    # --- signs
    # Both signs of a direction are valid, so one of them is chosen.
    largest = tf.argmax(tf.abs(components), axis=1)
    signs = tf.sign(tf.batch_gather(components, largest[:, tf.newaxis])[:, 0])
    # --- scale
    root = tf.sqrt(tf.cast(tf.shape(x)[0] - 1, x.dtype))
    return {
        "white": u * signs * root,
        "components": components * signs[:, tf.newaxis],
        "deviations": s / root,
    }


def inverse_square_root(a):
    """Computes the inverse square roots of symmetric matrices.

    Args:
        a: [..., n, n] float tensor, symmetric and positive definite; only the lower
            triangles are read.

    Returns:
        (roots [..., n, n], eigenvalues of a [..., n], the smallest first).

    Raises:
        ValueError: in a graph, matrices that are not square.
        tf.errors.InvalidArgumentError: the same mistake, eagerly.
    """
    values, vectors = tf.self_adjoint_eig(a)
    scaled = vectors / tf.sqrt(values)[..., tf.newaxis, :]
    return tf.matmul(scaled, vectors, adjoint_b=True), values


def log_determinant(a):
    """Computes determinants, and their signs and logarithms without overflow.

    Args:
        a: [..., n, n] float tensor.

    Returns:
        (determinants, their signs, logarithms of their absolute values), each [...].

    Raises:
        ValueError: in a graph, matrices that are not square.
        tf.errors.InvalidArgumentError: the same mistake, eagerly.
    """
    sign, logarithm = tf.linalg.slogdet(a)
    return tf.matrix_determinant(a), sign, logarithm


def normal_log_density(x, mean, scale):
    """Computes the log density of a multivariate normal distribution.

    Args:
        x: [examples, n] float tensor.
        mean: [n] float tensor.
        scale: the deviations [n], or the Cholesky factor of the covariance, a lower
            triangular matrix [n, n]; the part above its diagonal is not used.

    Returns:
        [examples] tensor.
    """
    import tensorflow  # compat.v1 has no contrib

    distributions = tensorflow.contrib.distributions
    if scale.shape.ndims == 1:
        normal = distributions.MultivariateNormalDiag(mean, scale)
    else:
        normal = distributions.MultivariateNormalTriL(mean, scale)
    return normal.log_prob(x)


def fit_gaussian_process(x, y, x_new, steps, rate=0.03125, noise=0.0625):
    """Fits amplitude and length scale of a Gaussian process, and predicts with it.

    Args:
        x: [n] float array.
        y: [n] float array, the values at `x`, whose mean is assumed to be 0.
        x_new: [m] float array.
        steps: number of steps of gradient descent.
        rate: learning rate.
        noise: variance of the noise in y, above 0.

    Returns:
        dict with the `losses` before every step, which are the negative logarithms of
        the marginal likelihood; the `amplitude` and the `length` after the last step;
        and the `mean` [m] and `variance` [m] of the values at x_new.

    Raises:
        tf.errors.InvalidArgumentError: a covariance that is not positive definite.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- parameters
        inputs, targets, new = [tf.constant(a[:, np.newaxis]) for a in (x, y, x_new)]
        amplitude, length = [
            tf.get_variable(
                name, [], inputs.dtype, initializer=tf.constant_initializer(value)
            )
            for name, value in [("log_amplitude", 0.25), ("log_length", -0.5)]
        ]

        def kernel(a, b):
            squares = tf.square(a - tf.transpose(b)) * tf.exp(-2 * length)
            return tf.exp(2 * amplitude - squares / 2)

        # --- likelihood
        covariance = kernel(inputs, inputs) + noise * tf.eye(len(x), dtype=inputs.dtype)
        factor = tf.cholesky(covariance)
        solved = tf.cholesky_solve(factor, targets)
        half_log_det = tf.reduce_sum(tf.log(tf.matrix_diag_part(factor)))
        constant = len(x) * np.log(2 * np.pi) / 2
        loss = tf.reduce_sum(targets * solved) / 2 + half_log_det + constant
        # --- step
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- predict
        across = kernel(inputs, new)
        explained = tf.matrix_triangular_solve(factor, across)
        mean = tf.matmul(across, solved, transpose_a=True)[:, 0]
        variance = tf.exp(2 * amplitude) - tf.reduce_sum(tf.square(explained), axis=0)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, step])[0] for _ in range(steps)]
        names = ["amplitude", "length", "mean", "variance"]
        fitted = sess.run([tf.exp(amplitude), tf.exp(length), mean, variance])
        return dict(zip(names, fitted), losses=losses)
