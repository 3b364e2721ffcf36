"""`tf.contrib.distributions`, `tf.distributions` → functions of plain ops."""

import tensorflow
import tensorflow.compat.v1 as tf

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
    """Computes log densities, CDFs and entropies of Laplace, logistic, Student's t.

    Args:
        x: [n, units] float tensor.
        loc, scale: tensors like x.
        df: [units] tensor, the degrees of freedom of Student's t.

    Returns:
        dict with the log densities `laplace`, `logistic` and `student_t`, their
        `…_entropy`, and `laplace_cdf`, `logistic_cdf` and `logistic_stddev`. All are
        [n, units].
    """
    ds = tensorflow.contrib.distributions
    laplace, logistic = ds.Laplace(loc, scale), ds.Logistic(loc, scale)
    student_t = ds.StudentT(df, loc, scale)
    return {
        "laplace": laplace.log_prob(x),
        "laplace_cdf": laplace.cdf(x),
        "laplace_entropy": laplace.entropy(),
        "logistic": logistic.log_prob(x),
        "logistic_cdf": logistic.cdf(x),
        "logistic_entropy": logistic.entropy(),
        "logistic_stddev": logistic.stddev(),
        "student_t": student_t.log_prob(x),
        "student_t_entropy": student_t.entropy(),
    }


def rate_terms(x, share, concentration, rate):
    """Computes log densities and entropies of gamma, exponential and beta.

    Args:
        x: [n, units] positive float tensor.
        share: tensor like x, between 0 and 1; the value of the beta distribution.
        concentration, rate: tensors like x; Beta takes both as its concentrations.

    Returns:
        dict with the log densities `gamma`, `exponential` and `beta`, their
        `…_entropy`, and `gamma_cdf`, `gamma_mean` and `gamma_variance`. All are [n,
        units].
    """
    ds = tensorflow.contrib.distributions
    gamma, exponential = ds.Gamma(concentration, rate), ds.Exponential(rate)
    beta = ds.Beta(concentration, rate)
    return {
        "gamma": gamma.log_prob(x),
        "gamma_cdf": gamma.cdf(x),
        "gamma_mean": gamma.mean(),
        "gamma_variance": gamma.variance(),
        "gamma_entropy": gamma.entropy(),
        "exponential": exponential.log_prob(x),
        "exponential_entropy": exponential.entropy(),
        "beta": beta.log_prob(share),
        "beta_entropy": beta.entropy(),
    }


def count_terms(counts, probs, rate, total):
    """Computes log probabilities of Poisson, geometric and binomial counts.

    Args:
        counts: [n, units] float tensor of whole numbers.
        probs: tensor like counts, between 0 and 1.
        rate: tensor like counts, positive.
        total: tensor like counts, whole numbers, not less than the counts.

    Returns:
        dict with the log probabilities `poisson`, `geometric`, `binomial`, and
        `geometric_mean`, `binomial_variance`, all [n, units].
    """
    ds = tensorflow.contrib.distributions
    geometric = ds.Geometric(probs=probs)
    binomial = ds.Binomial(total, probs=probs)
    return {
        "poisson": ds.Poisson(rate).log_prob(counts),
        "geometric": geometric.log_prob(counts),
        "geometric_mean": geometric.mean(),
        "binomial": binomial.log_prob(counts),
        "binomial_variance": binomial.variance(),
    }


def dirichlet_terms(x, concentration, validate_args=False):
    """Computes log density, entropy, mean and variance of a Dirichlet distribution.

    Args:
        x: [n, classes] positive float tensor; each row sums to 1.
        concentration: tensor like x.
        validate_args: whether to check x.

    Returns:
        dict with `log_prob` and `entropy`, [n], and `mean` and `variance`,
        [n, classes].

    Raises:
        tf.errors.InvalidArgumentError: `validate_args`, and a row of x is not
            positive or does not sum to 1.
    """
    dirichlet = tensorflow.contrib.distributions.Dirichlet(
        concentration, validate_args=validate_args
    )
    return {
        "log_prob": dirichlet.log_prob(x),
        "entropy": dirichlet.entropy(),
        "mean": dirichlet.mean(),
        "variance": dirichlet.variance(),
    }


def mdn_loss(x, logits, loc, scale_diag):
    """Computes the negative log-likelihood of a mixture density network.

    Args:
        x: [n, depth] float tensor.
        logits: [n, parts] tensor.
        loc, scale_diag: [n, parts, depth] tensors, means and standard deviations.

    Returns:
        [n] tensor, the negative log density of each row.
    """
    ds = tensorflow.contrib.distributions
    mixture = ds.MixtureSameFamily(
        mixture_distribution=ds.Categorical(logits=logits),
        components_distribution=ds.MultivariateNormalDiag(loc, scale_diag),
    )
    return -mixture.log_prob(x)


def discretized_logistic(levels, loc, scale):
    """Computes log probabilities of pixel levels 0 to 255 (PixelCNN++).

    Args:
        levels: [n, units] int tensor.
        loc, scale: [n, units] float tensors, in levels.

    Returns:
        [n, units] tensor. The first and the last level include the tails of the
        logistic distribution.
    """
    ds = tensorflow.contrib.distributions
    low = tf.zeros([], loc.dtype)
    shifted = ds.TransformedDistribution(
        ds.Logistic(loc, scale), ds.bijectors.AffineScalar(shift=low - 0.5)
    )
    quantized = ds.QuantizedDistribution(shifted, low=low, high=low + 255)
    return quantized.log_prob(tf.cast(levels, loc.dtype))


def transformed_log_prob(y, shift, scale):
    """Computes log densities of log-normal, logit-normal and softplus-normal values.

    Args:
        y: [n, units] float tensor, between 0 and 1.
        shift, scale: [units] tensors, mean and standard deviation of the normal values
            before the bijector.

    Returns:
        dict with the log densities `log_normal`, `logit_normal`, and `softplus` (y is
        softplus of a normal value). All are [n, units].
    """
    ds = tensorflow.contrib.distributions
    b = ds.bijectors
    zero = tf.zeros([], y.dtype)

    def log_prob(bijector):
        chain = b.Chain([bijector, b.AffineScalar(shift, scale)])
        return ds.TransformedDistribution(ds.Normal(zero, zero + 1), chain).log_prob(y)

    return {
        "log_normal": log_prob(b.Exp()),
        "logit_normal": log_prob(b.Sigmoid()),
        "softplus": log_prob(b.Softplus()),
    }


def draw(kind, parameters, n, seed):
    """Draws n samples from each distribution of a batch.

    Args:
        kind: "Normal", "Laplace", "Logistic", "Uniform", "Exponential",
            "Bernoulli", "Categorical" or "RelaxedOneHotCategorical".
        parameters: list of float arrays in the order of the 1.15.5 constructor: loc and
            scale, low and high, rate, logits, or temperature and logits.
        n: number of samples of each distribution.
        seed: op seed; the graph's seed is 7.

    Returns:
        [n, …] array; int32 for Bernoulli and Categorical.
    """
    # --- build
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        parameters = [tf.constant(p) for p in parameters]
        if kind in ("Bernoulli", "Categorical"):
            parameters = {"logits": parameters[0]}
        elif kind == "RelaxedOneHotCategorical":
            parameters = {"temperature": parameters[0], "logits": parameters[1]}
        make = getattr(tensorflow.contrib.distributions, kind)
        if isinstance(parameters, dict):
            distribution = make(**parameters)
        else:
            distribution = make(*parameters)
        # --- run
        return sess.run(distribution.sample(n, seed=seed))


def train_policy(observations, start, wanted, seed, rate=0.5, bonus=0.01):
    """Trains a policy with REINFORCE and an entropy bonus.

    Args:
        observations: [steps, batch, features] float array.
        start: {"weights": [features, actions], "biases": [actions]} of float arrays.
        wanted: [steps, batch] int32 array of the actions that get a reward of 1.
        seed: op seed of the draws; the graph's seed is 7.
        rate: learning rate.
        bonus: weight of the entropy.

    Returns:
        dict with the `losses` and the `actions` of the steps, and the `variables` by
        name after training.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        tf.set_random_seed(7)
        rows = tf.placeholder(start["weights"].dtype, observations.shape[1:])
        right = tf.placeholder(tf.int32, wanted.shape[1:])
        weights, biases = [
            tf.get_variable(name, initializer=start[name])
            for name in ("weights", "biases")
        ]
        # --- loss
        logits = tf.matmul(rows, weights) + biases
        policy = tensorflow.contrib.distributions.Categorical(logits=logits)
        actions = policy.sample(seed=seed)
        reward = tf.cast(tf.equal(actions, right), rows.dtype)
        gained = policy.log_prob(actions) * reward + bonus * policy.entropy()
        loss = -tf.reduce_mean(gained)
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        history = [
            sess.run([loss, actions, step], {rows: r, right: w})[:2]
            for r, w in zip(observations, wanted)
        ]
        return {
            "losses": [loss for loss, _ in history],
            "actions": [actions for _, actions in history],
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def fit_posterior(x, y, start, steps, seed, draws=4, deviation=0.5, rate=0.001):
    """Fits a normal posterior of linear weights by the evidence lower bound (ELBO).

    Args:
        x: [n, features] float array.
        y: [n] array of the same dtype.
        start: {"loc": [features], "log_scale": [features]} of float arrays.
        steps: how many steps of gradient descent to take.
        seed: op seed of the draws; the graph's seed is 7.
        draws: how many samples of the weights a step averages over.
        deviation: standard deviation of y around the line.
        rate: learning rate.

    Returns:
        dict with the `losses` of the steps, the negative ELBO, and the `variables` by
        name after training.
    """
    ds = tensorflow.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        tf.set_random_seed(7)
        loc, log_scale = [
            tf.get_variable(name, initializer=start[name])
            for name in ("loc", "log_scale")
        ]
        zero = tf.zeros([], loc.dtype)
        posterior = ds.Normal(loc, tf.exp(log_scale))
        prior = ds.Normal(zero, zero + 1)
        # --- loss
        weights = posterior.sample(draws, seed=seed)
        means = tf.matmul(weights, x, transpose_b=True)
        likelihood = ds.Normal(means, zero + deviation).log_prob(y)
        divergence = tf.reduce_sum(ds.kl_divergence(posterior, prior))
        loss = divergence - tf.reduce_mean(tf.reduce_sum(likelihood, 1))
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, step])[0] for _ in range(steps)]
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": losses, "variables": variables}
