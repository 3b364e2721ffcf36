"""`tf.contrib.distributions`, `tf.distributions` → functions of plain ops."""

import functools
import math

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers

__all__ = [
    "location_scale_terms",
    "rate_terms",
    "count_terms",
    "dirichlet_terms",
    "mdn_loss",
    "discretized_logistic",
    "transformed_log_prob",
    "draw",
    "train_policy",
    "fit_posterior",
]


def location_scale_terms(x, loc, scale, df):
    """Computes log densities, CDFs and entropies of Laplace, logistic, Student's t."""
    z = (x - loc) / scale
    log_scale = tf.math.log(scale)
    half, halves = df / 2, (df + 1) / 2
    log_beta = tf.math.lgamma(half) - tf.math.lgamma(halves) + math.log(math.pi) / 2
    digammas = tf.math.digamma(halves) - tf.math.digamma(half)
    width = log_scale + tf.math.log(df) / 2 + log_beta
    return {
        "laplace": -tf.abs(z) - (math.log(2) + log_scale),
        "laplace_cdf": 0.5 + 0.5 * tf.sign(z) * (1 - tf.exp(-tf.abs(z))),
        "laplace_entropy": math.log(2) + 1 + log_scale,
        "logistic": -z - 2 * tf.math.softplus(-z) - log_scale,
        "logistic_cdf": tf.sigmoid(z),
        "logistic_entropy": 2 + log_scale,
        "logistic_stddev": scale * math.pi / math.sqrt(3),
        "student_t": -halves * tf.math.log1p(tf.square(z) / df) - width,
        "student_t_entropy": width + halves * digammas,
    }


def rate_terms(x, share, concentration, rate):
    """Computes log densities and entropies of gamma, exponential and beta."""
    log_rate, total = tf.math.log(rate), concentration + rate
    lgamma, digamma = tf.math.lgamma, tf.math.digamma
    log_gamma, less = lgamma(concentration), concentration - 1
    log_beta = log_gamma + lgamma(rate) - lgamma(total)
    beta = tf.math.xlogy(less, share) + (rate - 1) * tf.math.log1p(-share)
    return {
        "gamma": tf.math.xlogy(less, x)
        - rate * x
        - (log_gamma - concentration * log_rate),
        "gamma_cdf": tf.math.igamma(concentration, rate * x),
        "gamma_mean": concentration / rate,
        "gamma_variance": concentration / tf.square(rate),
        "gamma_entropy": concentration
        - log_rate
        + log_gamma
        - less * digamma(concentration),
        "exponential": log_rate - rate * x,
        "exponential_entropy": 1 - log_rate,
        "beta": beta - log_beta,
        "beta_entropy": log_beta
        - less * digamma(concentration)
        - (rate - 1) * digamma(rate)
        + (total - 2) * digamma(total),
    }


def count_terms(counts, probs, rate, total):
    """Computes log probabilities of Poisson, geometric and binomial counts."""
    log_probs, lgamma = tf.math.log(probs), tf.math.lgamma
    ways = lgamma(1 + total - counts) + lgamma(1 + counts) - lgamma(1 + total)
    return {
        "poisson": counts * tf.math.log(rate) - lgamma(1 + counts) - rate,
        # Counts are rounded down. With xlog1py, probs of 1 make 0 failures certain.
        "geometric": tf.math.xlog1py(tf.floor(counts), -probs) + log_probs,
        "geometric_mean": tf.exp(tf.math.log1p(-probs) - log_probs),
        "binomial": counts * log_probs
        + (total - counts) * tf.math.log1p(-probs)
        - ways,
        "binomial_variance": total * probs * (1 - probs),
    }


def dirichlet_terms(x, concentration, validate_args=False):
    """Computes log density, entropy, mean and variance of a Dirichlet distribution."""
    if validate_args:
        sums, no = tf.reduce_sum(x, -1), "sample last-dimension must sum to `1`"
        tf.debugging.assert_positive(x, "samples must be positive")
        tf.debugging.assert_near(tf.ones_like(sums), sums, message=no)
    total = tf.reduce_sum(concentration, -1)
    less, classes = concentration - 1, tf.cast(tf.shape(x)[-1], x.dtype)
    log_beta = tf.reduce_sum(tf.math.lgamma(concentration), -1) - tf.math.lgamma(total)
    mean = concentration / total[..., tf.newaxis]
    return {
        "log_prob": tf.reduce_sum(tf.math.xlogy(less, x), -1) - log_beta,
        "entropy": log_beta
        + (total - classes) * tf.math.digamma(total)
        - tf.reduce_sum(less * tf.math.digamma(concentration), -1),
        "mean": mean,
        "variance": mean * (1 - mean) / (1 + total[..., tf.newaxis]),
    }


def mdn_loss(x, logits, loc, scale_diag):
    """Computes the negative log-likelihood of a mixture density network."""
    log_probs = normal_log_prob(x[:, tf.newaxis], loc, scale_diag)
    parts = tf.reduce_sum(log_probs, -1) + tf.nn.log_softmax(logits)
    return -tf.reduce_logsumexp(parts, -1)


def normal_log_prob(x, loc, scale):
    """Computes the log density of a normal distribution, element-wise."""
    z = (x - loc) / scale
    return -tf.square(z) / 2 - math.log(2 * math.pi) / 2 - tf.math.log(scale)


def discretized_logistic(levels, loc, scale):
    """Computes log probabilities of pixel levels 0 to 255 (PixelCNN++)."""
    y = tf.cast(levels, loc.dtype)
    # The probability of level y is that of the interval from y - 1 / 2 to y + 1 / 2.
    above, below = (y + 0.5 - loc) / scale, (y - 0.5 - loc) / scale
    infinity = tf.constant(math.inf, y.dtype)
    last, first = y >= 255, y <= 0
    log_cdf = tf.where(last, 0.0 * above, -tf.math.softplus(-above))
    log_cdf_before = tf.where(first, -infinity, -tf.math.softplus(-below))
    log_rest = tf.where(last, -infinity, -tf.math.softplus(above))
    log_rest_before = tf.where(first, 0.0 * below, -tf.math.softplus(below))
    # To the right of the median the survival function is more precise than the CDF.
    right = log_rest < log_cdf
    big = tf.where(right, log_rest_before, log_cdf)
    small = tf.where(right, log_rest, log_cdf_before)
    return big + tf.math.log(1 - tf.exp(small - big))


def transformed_log_prob(y, shift, scale):
    """Computes log densities of log-normal, logit-normal and softplus-normal values."""
    one = tf.ones([], y.dtype)

    def log_prob(x, log_slope):
        """Computes the log density of y from its inverse x and log |dy / dx|."""
        normal = normal_log_prob((x - shift) / scale, 0 * one, one)
        return normal - log_slope - tf.math.log(tf.abs(scale))

    log_y, log_rest = tf.math.log(y), tf.math.log1p(-y)
    before = y + tf.math.log(-tf.math.expm1(-y))
    return {
        "log_normal": log_prob(log_y, log_y),
        "logit_normal": log_prob(log_y - log_rest, log_y + log_rest),
        "softplus": log_prob(before, tf.math.log(-tf.math.expm1(-y))),
    }


def draw(kind, parameters, n, seed):
    """Draws n samples from each distribution of a batch.

    Args:
        parameters: list of float arrays in the order of the 1.15.5 constructor: loc and
            scale, low and high, rate, logits, or temperature and logits. They are
            broadcast. A temperature is a scalar, or has one number for each row of
            logits.
    """
    # --- build
    tf.random.set_seed(7)

    @tf.function
    def sample(parameters):
        return SAMPLES[kind](*parameters, n, seed)

    # --- run
    parameters = [tf.constant(p) for p in parameters]
    if kind == "RelaxedOneHotCategorical":
        parameters[0] = parameters[0][..., tf.newaxis]
    # Broadcast before the draws, because each element has its own draw.
    shape = functools.reduce(tf.broadcast_static_shape, [p.shape for p in parameters])
    return sample([tf.broadcast_to(p, shape) for p in parameters]).numpy()


def uniform(like, n, seed, low=None):
    """Draws n uniform tensors of a given shape, from `low` (tiny by default) to 1."""
    low = np.finfo(like.dtype.as_numpy_dtype).tiny if low is None else low
    shape = tf.concat([[n], tf.shape(like)], 0)
    return tf.random.uniform(shape, low, 1, like.dtype, seed)


def sample_normal(loc, scale, n, seed):
    shape = tf.concat([[n], tf.shape(loc)], 0)
    return tf.random.normal(shape, dtype=loc.dtype, seed=seed) * scale + loc


def sample_laplace(loc, scale, n, seed):
    dtype = loc.dtype.as_numpy_dtype
    u = uniform(loc, n, seed, np.nextafter(dtype(-1), dtype(0)))
    return loc - scale * tf.sign(u) * tf.math.log1p(-tf.abs(u))


def sample_logistic(loc, scale, n, seed):
    u = uniform(loc, n, seed)
    return (tf.math.log(u) - tf.math.log1p(-u)) * scale + loc


def sample_uniform(low, high, n, seed):
    return low + (high - low) * uniform(low, n, seed, 0)


def sample_exponential(rate, n, seed):
    return -tf.math.log(uniform(rate, n, seed)) / rate


def sample_bernoulli(logits, n, seed):
    return tf.cast(uniform(logits, n, seed, 0) < tf.sigmoid(logits), tf.int32)


def sample_categorical(logits, n, seed):
    *batch, classes = logits.shape
    rows = tf.reshape(logits, [-1, classes])
    drawn = tf.transpose(tf.random.categorical(rows, n, tf.int32, seed))
    return tf.reshape(drawn, [n, *batch])


def sample_relaxed(temperature, logits, n, seed):
    gumbel = -tf.math.log(-tf.math.log(uniform(logits, n, seed)))
    return tf.exp(tf.nn.log_softmax((gumbel + logits) / temperature))


SAMPLES = {
    "Normal": sample_normal,
    "Laplace": sample_laplace,
    "Logistic": sample_logistic,
    "Uniform": sample_uniform,
    "Exponential": sample_exponential,
    "Bernoulli": sample_bernoulli,
    "Categorical": sample_categorical,
    "RelaxedOneHotCategorical": sample_relaxed,
}


def train_policy(observations, start, wanted, seed, rate=0.5, bonus=0.01):
    """Trains a policy with REINFORCE and an entropy bonus."""
    # --- model
    tf.random.set_seed(7)
    weights, biases = variables = [
        tf.Variable(start[name], name=name) for name in ("weights", "biases")
    ]
    optimizer = optimizers.GradientDescent(rate)

    # --- loss
    @tf.function
    def step(rows, right):
        logits = tf.matmul(rows, weights) + biases
        actions = tf.random.categorical(logits, 1, tf.int32, seed)[:, 0]
        reward = tf.cast(actions == right, rows.dtype)

        def loss():
            log_probs = tf.nn.log_softmax(tf.matmul(rows, weights) + biases)
            chosen = tf.gather(log_probs, actions, batch_dims=1)
            entropy = -tf.reduce_sum(tf.exp(log_probs) * log_probs, 1)
            return -tf.reduce_mean(chosen * reward + bonus * entropy)

        return optimizer.minimize(loss, variables), actions

    # --- run
    pairs = zip(tf.constant(observations), tf.constant(wanted))
    history = [step(*pair) for pair in pairs]
    return {
        "losses": [loss.numpy() for loss, _ in history],
        "actions": [actions.numpy() for _, actions in history],
        "variables": {v.name[:-2]: v.numpy() for v in variables},
    }


def fit_posterior(x, y, start, steps, seed, draws=4, deviation=0.5, rate=0.001):
    """Fits a normal posterior of linear weights by the evidence lower bound (ELBO)."""
    # --- model
    tf.random.set_seed(7)
    loc, log_scale = variables = [
        tf.Variable(start[name], name=name) for name in ("loc", "log_scale")
    ]
    optimizer = optimizers.GradientDescent(rate)

    # --- loss
    @tf.function
    def step(x, y):
        noise = tf.random.normal([draws, loc.shape[0]], dtype=loc.dtype, seed=seed)

        def loss():
            scale = tf.exp(log_scale)
            weights = noise * scale + loc  # reparameterized: the draw has a gradient
            means = tf.matmul(weights, x, transpose_b=True)
            likelihood = normal_log_prob(y, means, tf.constant(deviation, x.dtype))
            ratio = tf.square(scale)
            divergence = tf.square(loc) / 2 + (ratio - 1 - tf.math.log(ratio)) / 2
            bound = tf.reduce_mean(tf.reduce_sum(likelihood, 1))
            return tf.reduce_sum(divergence) - bound

        return optimizer.minimize(loss, variables)

    # --- run
    batch = tf.constant(x), tf.constant(y)
    losses = [step(*batch).numpy() for _ in range(steps)]
    return {"losses": losses, "variables": {v.name[:-2]: v.numpy() for v in variables}}
