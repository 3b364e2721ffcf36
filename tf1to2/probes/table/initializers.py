"""Initializers, whose draws for a seed are others in Keras, and random numbers.

A draw with the seed of an op is the same as in TensorFlow 1 where `tf.random.set_seed`
has been given the number of `tf.set_random_seed`.
"""

from tf1to2.probes import kept, probe

KERAS = "the same distribution; Keras draws other numbers for a seed"
SHAPE = "[4, 6]"


def drawn(names, old, new, keras):
    """Probes of an initializer: what draws the same numbers, and what does not."""
    rows = []
    for name in names.split():
        call = f"tf.{name}({old}seed=7)({SHAPE})"
        rows.append(probe(f"tf.{name}", call, new, exact=True))
        rows.append(
            probe(
                f"tf.{name}",
                call,
                f"initializer = tf.keras.initializers.{keras}\ninitializer({SHAPE})",
                exact=True,
                why=KERAS,
            )
        )
    return rows


PROBES = [
    *(
        kept(f"tf.{name}", f"tf.{name}({args})([2, 3])")
        for name, args in (
            ("constant_initializer", "2.5"),
            ("zeros_initializer", ""),
            ("ones_initializer", ""),
            ("initializers.constant", "2.5"),
            ("initializers.zeros", ""),
            ("initializers.ones", ""),
            ("initializers.identity", "2.0"),
        )
    ),
    kept(
        "tf.constant_initializer", "tf.constant_initializer([[1.5, 2], [3, 4]])([2, 2])"
    ),
    probe(
        "tf.constant_initializer",
        "tf.constant_initializer([[1, 2], [3, 4]], tf.float32)([2, 2])",
        "tf.constant_initializer([[1, 2], [3, 4]])([2, 2], tf.float32)",
    ),
    probe(
        "tf.constant_initializer",
        "tf.constant_initializer([1.0, 2, 3, 4, 5, 6])([2, 3])",
        "tf.constant_initializer([[1.0, 2, 3], [4, 5, 6]])([2, 3])",
    ),
    probe(
        "tf.zeros_initializer",
        "tf.zeros_initializer(tf.int32)([2, 3])",
        "tf.zeros_initializer()([2, 3], tf.int32)",
    ),
    probe(
        "tf.ones_initializer",
        "tf.ones_initializer(dtype=tf.int32)([2, 3])",
        "tf.ones_initializer()([2, 3], tf.int32)",
    ),
    *drawn(
        "random_normal_initializer initializers.random_normal",
        "",
        f"tf.random.normal({SHAPE}, seed=7)",
        "RandomNormal(0.0, 1.0, seed=7)",
    ),
    *drawn(
        "random_normal_initializer initializers.random_normal",
        "1.0, 0.5, ",
        f"tf.random.normal({SHAPE}, 1.0, 0.5, seed=7)",
        "RandomNormal(1.0, 0.5, seed=7)",
    ),
    *drawn(
        "random_uniform_initializer initializers.random_uniform",
        "",
        f"tf.random.uniform({SHAPE}, seed=7)",
        "RandomUniform(0.0, 1.0, seed=7)",
    ),
    *drawn(
        "random_uniform_initializer initializers.random_uniform",
        "-0.1, 0.2, ",
        f"tf.random.uniform({SHAPE}, -0.1, 0.2, seed=7)",
        "RandomUniform(-0.1, 0.2, seed=7)",
    ),
    *drawn(
        "truncated_normal_initializer initializers.truncated_normal",
        "",
        f"tf.random.truncated_normal({SHAPE}, seed=7)",
        "TruncatedNormal(0.0, 1.0, seed=7)",
    ),
    *drawn(
        "truncated_normal_initializer initializers.truncated_normal",
        "stddev=0.1, ",
        f"tf.random.truncated_normal({SHAPE}, stddev=0.1, seed=7)",
        "TruncatedNormal(stddev=0.1, seed=7)",
    ),
    *drawn(
        "uniform_unit_scaling_initializer",
        "",
        f"limit = (3 / 4) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        "VarianceScaling(1.0, 'fan_in', 'uniform', seed=7)",
    ),
    *drawn(
        "variance_scaling_initializer",
        "",
        f"tf.random.truncated_normal({SHAPE}, stddev=(1 / 4) ** 0.5 / 0.87962566103423978, seed=7)",
        "VarianceScaling(seed=7)",
    ),
    *drawn(
        "variance_scaling_initializer",
        "2.0, 'fan_avg', 'uniform', ",
        f"limit = (3 * 2.0 / 5) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        "VarianceScaling(2.0, 'fan_avg', 'uniform', seed=7)",
    ),
    *drawn(
        "glorot_uniform_initializer initializers.glorot_uniform",
        "",
        f"limit = (6 / (4 + 6)) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        "GlorotUniform(seed=7)",
    ),
    *drawn(
        "glorot_normal_initializer initializers.glorot_normal",
        "",
        f"tf.random.truncated_normal({SHAPE}, stddev=(2 / (4 + 6)) ** 0.5 / 0.87962566103423978, seed=7)",
        "GlorotNormal(seed=7)",
    ),
    *drawn(
        "initializers.he_uniform",
        "",
        f"limit = (6 / 4) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        "HeUniform(seed=7)",
    ),
    *drawn(
        "initializers.he_normal",
        "",
        f"tf.random.truncated_normal({SHAPE}, stddev=(2 / 4) ** 0.5 / 0.87962566103423978, seed=7)",
        "HeNormal(seed=7)",
    ),
    *drawn(
        "initializers.lecun_uniform",
        "",
        f"limit = (3 / 4) ** 0.5\ntf.random.uniform({SHAPE}, -limit, limit, seed=7)",
        "LecunUniform(seed=7)",
    ),
    *drawn(
        "initializers.lecun_normal",
        "",
        f"tf.random.truncated_normal({SHAPE}, stddev=(1 / 4) ** 0.5 / 0.87962566103423978, seed=7)",
        "LecunNormal(seed=7)",
    ),
    probe(
        "tf.orthogonal_initializer",
        f"tf.orthogonal_initializer(2.0, seed=7)({SHAPE})",
        "q, r = tf.linalg.qr(tf.random.normal([6, 4], seed=7), full_matrices=False)\n2.0 * tf.transpose(q * tf.sign(tf.linalg.diag_part(r)))",
        exact=True,
    ),
    probe(
        "tf.orthogonal_initializer",
        f"tf.orthogonal_initializer(2.0, seed=7)({SHAPE})",
        f"tf.keras.initializers.Orthogonal(2.0, seed=7)({SHAPE})",
        exact=True,
        why=KERAS,
    ),
    # --- Random numbers.
    *(
        probe(
            f"tf.{name}",
            f"tf.{name}({args}, seed=7)",
            f"tf.{new}({args}, seed=7)",
            exact=True,
        )
        for name, new, args in (
            ("random_normal", "random.normal", "[3, 4], 1.0, 2.0"),
            ("random_uniform", "random.uniform", "[3, 4], -1.0, 2.0"),
            ("random_uniform", "random.uniform", "[3, 4], 0, 9, tf.int32"),
            ("truncated_normal", "random.truncated_normal", "[3, 4], 1.0, 2.0"),
            ("random_shuffle", "random.shuffle", "tf.range(9)"),
            ("random_gamma", "random.gamma", "[3], [0.5, 2.0], 1.5"),
        )
    ),
    probe(
        "tf.random_poisson",
        "tf.random_poisson([1.5, 9.0], [5, 2], seed=7)",
        "tf.random.poisson([5, 2], [1.5, 9.0], seed=7)",
        exact=True,
    ),
    probe(
        "tf.random.poisson",
        "tf.random.poisson([1.5, 9.0], [5, 2], seed=7)",
        "tf.random.poisson([5, 2], [1.5, 9.0], seed=7)",
        exact=True,
    ),
    probe(
        "tf.multinomial",
        "tf.multinomial(x, 6, seed=7)",
        "tf.random.categorical(x, 6, seed=7)",
        "x = normal(2, 5)",
        exact=True,
    ),
    probe(
        "tf.multinomial",
        "tf.multinomial(x, 6, 7)",
        "tf.random.categorical(x, 6, seed=7)",
        "x = normal(2, 5)",
        exact=True,
    ),
    kept(
        "tf.random.categorical",
        "tf.random.categorical(x, 6, seed=7)",
        "x = normal(2, 5)",
        exact=True,
    ),
    *(
        kept(f"tf.random.{name}", f"tf.random.{name}([3, 4], seed=[3, 7])", exact=True)
        for name in (
            "stateless_normal",
            "stateless_uniform",
            "stateless_truncated_normal",
        )
    ),
    kept(
        "tf.random.stateless_categorical",
        "tf.random.stateless_categorical(x, 6, seed=[3, 7])",
        "x = normal(2, 5)",
        exact=True,
    ),
    probe(
        "tf.random.stateless_multinomial",
        "tf.random.stateless_multinomial(x, 6, seed=[3, 7])",
        "tf.random.stateless_categorical(x, 6, seed=[3, 7])",
        "x = normal(2, 5)",
        exact=True,
    ),
    probe(
        "tf.set_random_seed",
        "tf.set_random_seed(5)\ntf.random_normal([3], seed=7)",
        "tf.random.set_seed(5)\ntf.random.normal([3], seed=7)",
        exact=True,
    ),
]
