"""tf.linalg, and the matrix_… names that it had before."""

from tf1to2.probes import kept, probe

X = "x = normal(4, 3)"
SQUARE = "x = normal(2, 3, 3)"
PAIR = "x = normal(2, 3, 3); y = normal(2, 3, 2)"
POSITIVE = "m = normal(3, 3)"
SPD = "m @ tf.transpose(m) + np.eye(3)"

PROBES = [
    probe("tf.diag", "tf.diag(x)", "tf.linalg.tensor_diag(x)", X),
    probe(
        "tf.diag_part",
        "tf.diag_part(x)",
        "tf.linalg.tensor_diag_part(x)",
        "x = normal(3, 3)",
    ),
    probe("tf.matrix_diag", "tf.matrix_diag(x)", "tf.linalg.diag(x)", X),
    probe(
        "tf.matrix_diag_part",
        "tf.matrix_diag_part(x)",
        "tf.linalg.diag_part(x)",
        SQUARE,
    ),
    probe(
        "tf.matrix_set_diag",
        "tf.matrix_set_diag(x, y[..., 0])",
        "tf.linalg.set_diag(x, y[..., 0])",
        PAIR,
    ),
    probe(
        "tf.matrix_band_part",
        "tf.matrix_band_part(x, 1, 0)",
        "tf.linalg.band_part(x, 1, 0)",
        SQUARE,
    ),
    probe(
        "tf.matrix_transpose",
        "tf.matrix_transpose(x)",
        "tf.linalg.matrix_transpose(x)",
        SQUARE,
    ),
    probe("tf.trace", "tf.trace(x)", "tf.linalg.trace(x)", SQUARE),
    probe("tf.cross", "tf.cross(x, 2 * x[::-1])", "tf.linalg.cross(x, 2 * x[::-1])", X),
    probe("tf.matrix_inverse", "tf.matrix_inverse(x)", "tf.linalg.inv(x)", SQUARE),
    probe(
        "tf.matrix_determinant", "tf.matrix_determinant(x)", "tf.linalg.det(x)", SQUARE
    ),
    probe("tf.matrix_solve", "tf.matrix_solve(x, y)", "tf.linalg.solve(x, y)", PAIR),
    probe(
        "tf.matrix_triangular_solve",
        "tf.matrix_triangular_solve(x, y)",
        "tf.linalg.triangular_solve(x, y)",
        PAIR,
    ),
    probe(
        "tf.matrix_solve_ls",
        "tf.matrix_solve_ls(x, y, 0.1)",
        "tf.linalg.lstsq(x, y, 0.1)",
        "x = normal(4, 3); y = normal(4, 2)",
    ),
    probe("tf.cholesky", f"tf.cholesky({SPD})", f"tf.linalg.cholesky({SPD})", POSITIVE),
    probe(
        "tf.cholesky_solve",
        f"tf.cholesky_solve(tf.cholesky({SPD}), m)",
        f"tf.linalg.cholesky_solve(tf.linalg.cholesky({SPD}), m)",
        POSITIVE,
    ),
    probe(
        "tf.self_adjoint_eigvals",
        f"tf.self_adjoint_eigvals({SPD})",
        f"tf.linalg.eigvalsh({SPD})",
        POSITIVE,
    ),
    probe(
        "tf.self_adjoint_eig",
        f"tf.self_adjoint_eig({SPD})[0]",
        f"tf.linalg.eigh({SPD})[0]",
        POSITIVE,
    ),
    probe(
        "tf.svd", "tf.svd(x, compute_uv=False)", "tf.linalg.svd(x, compute_uv=False)", X
    ),
    probe("tf.qr", "tf.abs(tf.qr(x).r)", "tf.abs(tf.linalg.qr(x).r)", X),
    kept("tf.linalg.adjoint", "tf.linalg.adjoint(x)", SQUARE),
    kept("tf.linalg.expm", "tf.linalg.expm(x)", SQUARE),
    kept("tf.linalg.logdet", f"tf.linalg.logdet({SPD})", POSITIVE),
    kept("tf.linalg.slogdet", "tf.linalg.slogdet(x)", SQUARE),
    kept("tf.linalg.matvec", "tf.linalg.matvec(x, y[..., 0])", PAIR),
    kept("tf.linalg.normalize", "tf.linalg.normalize(x, axis=1)", X),
    kept("tf.linalg.pinv", "tf.linalg.pinv(x)", X),
    kept("tf.linalg.matrix_rank", "tf.linalg.matrix_rank(x)", X),
    kept("tf.linalg.lu", "tf.linalg.lu(x)", SQUARE),
    kept("tf.linalg.sqrtm", f"tf.linalg.sqrtm({SPD})", POSITIVE),
    kept("tf.linalg.eigvalsh", f"tf.linalg.eigvalsh({SPD})", POSITIVE),
    kept(
        "tf.linalg.tridiagonal_matmul",
        "tf.linalg.tridiagonal_matmul(x, y)",
        "x = normal(3, 4); y = normal(4, 2)",
    ),
    kept(
        "tf.linalg.tridiagonal_solve",
        "tf.linalg.tridiagonal_solve(x + [[0], [9], [0]], y)",
        "x = normal(3, 4); y = normal(4, 2)",
    ),
    kept("tf.linalg.norm", "tf.linalg.norm(x, axis=[0, 1])", X),
]
