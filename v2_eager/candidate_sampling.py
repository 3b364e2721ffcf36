"""`tf.nn.nce_loss`, `tf.nn.sampled_softmax_loss`, their samplers, word2vec."""

import tensorflow as tf

from v2_eager.numerics import optimizers

__all__ = [
    "draw_candidates",
    "accidental_hits",
    "nce_loss",
    "nce_loss_of_shards",
    "sampled_softmax_loss",
    "train_word2vec",
]

SAMPLERS = {
    "uniform": tf.random.uniform_candidate_sampler,
    "log_uniform": tf.random.log_uniform_candidate_sampler,
    "learned_unigram": tf.nn.learned_unigram_candidate_sampler,
    "fixed_unigram": tf.nn.fixed_unigram_candidate_sampler,
}


def draw_candidates(
    kind, true_classes, num_sampled, classes, seed, options=(), draws=2
):
    """Draws negative classes, and returns the expected count of each class."""
    options = dict(options)
    # --- build
    tf.random.set_seed(7)
    arguments = {"range_max": classes, "seed": seed, "unique": True, **options}

    @tf.function
    def draw(true):
        return SAMPLERS[kind](true, true.shape[1], num_sampled, **arguments)

    # --- run
    true_classes = tf.constant(true_classes)
    return [tuple(x.numpy() for x in draw(true_classes)) for _ in range(draws)]


def accidental_hits(true_classes, candidates):
    """Finds the candidates that equal a true class of a row (accidental hits)."""
    return tf.nn.compute_accidental_hits(
        true_classes, candidates, num_true=true_classes.shape[1]
    )


def nce_loss(weights, biases, labels, inputs, sampled, remove_accidental_hits=False):
    """Computes the noise-contrastive estimation (NCE) loss of given candidates."""
    classes, true = weights.shape[0], labels.shape[1]
    n = sampled[0].shape[0]
    return tf.nn.nce_loss(
        weights,
        biases,
        labels,
        inputs,
        n,
        classes,
        true,
        sampled,
        remove_accidental_hits,
    )


def nce_loss_of_shards(shards, biases, labels, inputs, sampled):
    """Computes `nce_loss` with weights in shards: row i is in shard i % len(shards).

    This function copies all rows, and their gradients are dense. If a table is large,
    merge its shards once, after they are read, and call `nce_loss`.
    """
    classes, true = biases.shape[0], labels.shape[1]
    n = sampled[0].shape[0]
    # TensorFlow 2 reads a list as shards by "div"; these shards are by "mod".
    rows = [tf.range(i, classes, len(shards)) for i in range(len(shards))]
    weights = tf.dynamic_stitch(rows, shards)
    return tf.nn.nce_loss(weights, biases, labels, inputs, n, classes, true, sampled)


def sampled_softmax_loss(
    weights, biases, labels, inputs, sampled, remove_accidental_hits=True
):
    """Computes the softmax cross-entropy over the true classes and the candidates."""
    classes, true = weights.shape[0], labels.shape[1]
    n = sampled[0].shape[0]
    return tf.nn.sampled_softmax_loss(
        weights,
        biases,
        labels,
        inputs,
        n,
        classes,
        true,
        sampled,
        remove_accidental_hits,
    )


def train_word2vec(words, contexts, start, num_sampled, seed, rate=1.0, valid=()):
    """Trains word2vec (skip-gram) embeddings with the NCE loss."""
    # --- model
    tf.random.set_seed(7)
    embeddings, weights, biases = variables = [
        tf.Variable(start[name], name=name)
        for name in ("embeddings", "nce_weights", "nce_biases")
    ]
    classes = len(start["nce_biases"])
    optimizer = optimizers.GradientDescent(rate)

    # --- loss
    @tf.function
    def step(words, labels):
        sampled = tf.random.log_uniform_candidate_sampler(
            labels, 1, num_sampled, True, classes, seed
        )

        def loss():
            vectors = tf.nn.embedding_lookup(embeddings, words)
            losses = tf.nn.nce_loss(
                weights, biases, labels, vectors, num_sampled, classes, 1, sampled
            )
            return tf.reduce_mean(losses)

        return optimizer.minimize(loss, variables)

    # --- likeness
    def likeness():
        norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
        normalized = embeddings / norm
        asked = tf.gather(normalized, tf.constant(list(valid), tf.int32))
        return tf.matmul(asked, normalized, transpose_b=True)

    # --- run
    pairs = zip(tf.constant(words), tf.constant(contexts))
    return {
        "losses": [step(*pair).numpy() for pair in pairs],
        "similarity": likeness().numpy(),
        "variables": {v.name[:-2]: v.numpy() for v in variables},
    }
