"""`tf.matrix_inverse`, `tf.matrix_solve`, `tf.cholesky`, `tf.svd` → `tf.linalg`."""

import math

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

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

_FAILED = "Cholesky decomposition was not successful. The input might not be valid."


def bilinear_scores(queries, keys, weights):
    """Computes bilinear attention scores: queries @ weights @ transposed keys."""
    # The batch shares one matrix, so tensordot computes one large product.
    projected = tf.tensordot(queries, weights, axes=[[2], [0]])
    return tf.matmul(projected, keys, transpose_b=True)


def mirror_triangle(x):
    """Makes matrices symmetric from their lower triangles; computes their traces."""
    lower = tf.linalg.band_part(x, -1, 0)
    both = lower + tf.linalg.matrix_transpose(lower)
    both = tf.linalg.set_diag(both, tf.linalg.diag_part(x))
    return both, tf.linalg.trace(both)


def diagonals(x, offset=1):
    """Builds diagonal tensors and matrices, also with values above the diagonal."""
    tensor = tf.linalg.tensor_diag(x)
    rows = tf.linalg.diag(x)
    # --- above
    # k=offset does the same, but its gradient fails if n is unknown in a trace.
    above = tf.pad(rows, [[0, 0], [0, offset], [offset, 0]])
    return {
        "tensor": tensor,
        "part": tf.linalg.tensor_diag_part(tensor),
        "rows": rows,
        "above": above,
    }


def surface_normals(corners):
    """Computes the unit normals and the areas of triangles."""
    first, second, third = tf.unstack(corners, 3, axis=-2)
    normals = tf.linalg.cross(second - first, third - first)
    lengths = tf.norm(normals, axis=-1, keepdims=True)
    return normals / lengths, lengths / 2


def norm(x, kind):
    """Computes norms of matrices: Frobenius, spectral, or by columns or rows."""
    if kind == "all":
        return tf.norm(x, ord=2)  # not the spectral norm: all of x is one vector
    order = {"frobenius": "fro", "spectral": 2, "columns": 1, "rows": np.inf}[kind]
    return tf.norm(x, ord=order, axis=[-2, -1])


def solve(a, b, how):
    """Solves the linear equations a x = b: by inverse, LU, triangle or Cholesky."""
    if how == "inverse":
        return tf.matmul(tf.linalg.inv(a), b)
    if how == "lu":
        return tf.linalg.solve(a, b)
    # --- lower
    if how == "lower":
        diagonal = tf.linalg.diag_part(a)
        tf.debugging.assert_none_equal(
            diagonal, tf.zeros_like(diagonal), message="Input matrix is not invertible"
        )
        return tf.linalg.triangular_solve(a, b, lower=True)
    # --- cholesky
    return tf.linalg.cholesky_solve(_cholesky(a), b)


def least_squares(x, y, l2=0.0, fast=True):
    """Solves the least squares problem x w = y."""
    solved = tf.linalg.lstsq(x, y, l2_regularizer=l2, fast=fast)
    if not fast:
        return solved
    # `lstsq` does not check its Cholesky decomposition. If the answer is not finite,
    # the decomposition is repeated and checked: an overflow alone is no error.
    finite = tf.reduce_all(tf.math.is_finite(solved))
    tf.cond(finite, lambda: finite, lambda: _is_decomposed(x, l2))
    return solved


def _is_decomposed(x, l2):
    """Returns True; raises if the normal equations of x have no Cholesky factor."""
    tall = tf.shape(x)[-2] >= tf.shape(x)[-1]
    products = tf.cond(
        tall,
        lambda: tf.matmul(x, x, adjoint_a=True),
        lambda: tf.matmul(x, x, adjoint_b=True),
    )
    ones = tf.ones(tf.shape(products)[:-1], x.dtype)
    factor = _cholesky(products + tf.linalg.diag(l2 * ones))
    return tf.reduce_all(tf.math.is_finite(factor))


def whiten(x):
    """Whitens examples by SVD: features become uncorrelated, with variance 1."""
    centered = x - tf.reduce_mean(x, axis=0)
    # --- decompose
    # The order is s, u, v, and v is not transposed: x is u s v'.
    s, u, v = tf.linalg.svd(centered)
    components = tf.transpose(v)
    # --- signs
    # Both signs of a direction are valid, so one of them is chosen.
    largest = tf.argmax(tf.abs(components), axis=1)
    signs = tf.sign(tf.gather(components, largest, batch_dims=1))
    # --- scale
    root = tf.sqrt(tf.cast(tf.shape(x)[0] - 1, x.dtype))
    return {
        "white": u * signs * root,
        "components": components * signs[:, tf.newaxis],
        "deviations": s / root,
    }


def inverse_square_root(a):
    """Computes the inverse square roots of symmetric matrices."""
    values, vectors = tf.linalg.eigh(a)
    scaled = vectors / tf.sqrt(values)[..., tf.newaxis, :]
    return tf.matmul(scaled, vectors, adjoint_b=True), values


def log_determinant(a):
    """Computes determinants, and their signs and logarithms without overflow."""
    sign, logarithm = tf.linalg.slogdet(a)
    return tf.linalg.det(a), sign, logarithm


def normal_log_density(x, mean, scale):
    """Computes the log density of a multivariate normal distribution."""
    residuals, scale = x - mean, tf.convert_to_tensor(scale)
    if scale.shape.rank == 1:
        scaled, deviations = residuals / scale, scale
    else:
        columns = tf.linalg.triangular_solve(scale, tf.transpose(residuals))
        scaled = tf.transpose(columns)
        deviations = tf.linalg.diag_part(scale)
    log_det = tf.reduce_sum(tf.math.log(tf.abs(deviations)))
    size = tf.cast(tf.shape(x)[1], x.dtype)
    constant = size * (math.log(2 * math.pi) / 2)
    return -tf.reduce_sum(tf.square(scaled), axis=1) / 2 - log_det - constant


def fit_gaussian_process(x, y, x_new, steps, rate=0.03125, noise=0.0625):
    """Fits amplitude and length scale of a Gaussian process, and predicts with it."""
    # --- parameters
    inputs, targets, new = [tf.constant(a[:, np.newaxis]) for a in (x, y, x_new)]
    amplitude = tf.Variable(0.25, name="log_amplitude", dtype=inputs.dtype)
    length = tf.Variable(-0.5, name="log_length", dtype=inputs.dtype)

    def kernel(a, b):
        squares = tf.square(a - tf.transpose(b)) * tf.exp(-2 * length)
        return tf.exp(2 * amplitude - squares / 2)

    # --- likelihood
    def likelihood():
        covariance = kernel(inputs, inputs) + noise * tf.eye(len(x), dtype=inputs.dtype)
        factor = _cholesky(covariance)
        solved = tf.linalg.cholesky_solve(factor, targets)
        half_log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
        constant = len(x) * math.log(2 * math.pi) / 2
        loss = tf.reduce_sum(targets * solved) / 2 + half_log_det + constant
        return loss, factor, solved

    # --- step
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def step():
        return optimizer.minimize(lambda: likelihood()[0], [amplitude, length])

    # --- predict
    @tf.function
    def predict():
        _, factor, solved = likelihood()
        across = kernel(inputs, new)
        explained = tf.linalg.triangular_solve(factor, across)
        mean = tf.matmul(across, solved, transpose_a=True)[:, 0]
        variance = tf.exp(2 * amplitude) - tf.reduce_sum(tf.square(explained), axis=0)
        return tf.exp(amplitude), tf.exp(length), mean, variance

    # --- run
    losses = [step().numpy() for _ in range(steps)]
    names = ["amplitude", "length", "mean", "variance"]
    fitted = [tensor.numpy() for tensor in predict()]
    return dict(zip(names, fitted), losses=losses)


def _cholesky(a):
    """Decomposes by Cholesky; raises as in 1.15, where today's kernel returns NaN."""
    return tf.debugging.check_numerics(tf.linalg.cholesky(a), _FAILED)
