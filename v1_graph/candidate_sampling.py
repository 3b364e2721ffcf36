"""`tf.nn.nce_loss`, `tf.nn.sampled_softmax_loss`, their samplers, word2vec."""

import tensorflow.compat.v1 as tf

__all__ = [
    "draw_candidates",
    "accidental_hits",
    "nce_loss",
    "nce_loss_of_shards",
    "sampled_softmax_loss",
    "train_word2vec",
]

SAMPLERS = {
    "uniform": tf.nn.uniform_candidate_sampler,
    "log_uniform": tf.nn.log_uniform_candidate_sampler,
    "learned_unigram": tf.nn.learned_unigram_candidate_sampler,
    "fixed_unigram": tf.nn.fixed_unigram_candidate_sampler,
}


def draw_candidates(
    kind, true_classes, num_sampled, classes, seed, options=(), draws=2
):
    """Draws negative classes, and returns the expected count of each class.

    Args:
        kind: "uniform"; "log_uniform", Zipf's law, for classes sorted by decreasing
            frequency; "learned_unigram", by the frequency of the true classes so far;
            "fixed_unigram", by given counts.
        true_classes: [batch, true] int64 array.
        num_sampled: how many classes to draw.
        classes: number of the classes.
        seed: op seed; the graph's seed is 7.
        options: dict with `unique` (default True: without repeats) and, for
            "fixed_unigram", `unigrams`, a list of floats, and `distortion`, the power
            that the counts are raised to.
        draws: how many times to draw.

    Returns:
        List of (drawn classes [num_sampled] int64, expected counts of the true classes
        [batch, true] float32, expected counts of the drawn classes [num_sampled]
        float32).

    Raises:
        KeyError: an unknown `kind`.
        tf.errors.InvalidArgumentError: `unique`, and `num_sampled` above `classes`.
    """
    options = dict(options)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        true = tf.placeholder(tf.int64, true_classes.shape)
        arguments = {"range_max": classes, "seed": seed, "unique": True}
        arguments.update(options)
        drawn = SAMPLERS[kind](true, true_classes.shape[1], num_sampled, **arguments)
        # --- run
        return [tuple(sess.run(drawn, {true: true_classes})) for _ in range(draws)]


def accidental_hits(true_classes, candidates):
    """Finds the candidates that equal a true class of a row (accidental hits).

    Args:
        true_classes: [batch, true] int64 tensor.
        candidates: [n] int64 tensor.

    Returns:
        (rows [hits] int32, indices of the candidates [hits] int64, weights [hits]
        float32: the lowest float32, to add to the logits).
    """
    return tf.nn.compute_accidental_hits(
        true_classes, candidates, num_true=true_classes.shape[1].value
    )


def nce_loss(weights, biases, labels, inputs, sampled, remove_accidental_hits=False):
    """Computes the noise-contrastive estimation (NCE) loss of given candidates.

    Args:
        weights: [classes, depth] float tensor.
        biases: [classes] tensor.
        labels: [batch, true] int64 tensor.
        inputs: [batch, depth] tensor.
        sampled: result of a sampler: (candidates [n] int64, expected counts of the true
            classes [batch, true] float and of the candidates [n] float).
        remove_accidental_hits: whether to ignore candidates that are true classes.

    Returns:
        [batch] tensor.
    """
    classes, true = weights.shape[0].value, labels.shape[1].value
    n = sampled[0].shape[0].value
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

    Args:
        shards: list of [rows, depth] tensors; the first shards may have one row more.
        biases, labels, inputs, sampled: as for `nce_loss`.

    Returns:
        [batch] tensor.
    """
    classes, true = biases.shape[0].value, labels.shape[1].value
    n = sampled[0].shape[0].value
    # The default of partition_strategy is "mod".
    return tf.nn.nce_loss(shards, biases, labels, inputs, n, classes, true, sampled)


def sampled_softmax_loss(
    weights, biases, labels, inputs, sampled, remove_accidental_hits=True
):
    """Computes the softmax cross-entropy over the true classes and the candidates.

    Args:
        weights, biases, labels, inputs, sampled: as for `nce_loss`.
        remove_accidental_hits: whether to ignore candidates that are true classes.

    Returns:
        [batch] tensor.
    """
    classes, true = weights.shape[0].value, labels.shape[1].value
    n = sampled[0].shape[0].value
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
    """Trains word2vec (skip-gram) embeddings with the NCE loss.

    Args:
        words: [steps, batch] int64 array.
        contexts: [steps, batch, 1] int64 array: a neighbour of each word, the label.
        start: {"embeddings": [classes, depth], "nce_weights": [classes, depth],
            "nce_biases": [classes]} of float arrays, the initial values.
        num_sampled: how many candidates a step draws for all its words together.
        seed: seed of the sampler; the graph's seed is 7.
        rate: learning rate.
        valid: list of words whose similarity to all words is computed after training.

    Returns:
        dict with the mean `losses` of the steps, the cosine `similarity` [valid,
        classes], and the `variables` by name after training.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        tf.set_random_seed(7)
        batch = tf.placeholder(tf.int64, [None])
        labels = tf.placeholder(tf.int64, [None, 1])
        embeddings, weights, biases = [
            tf.get_variable(name, initializer=start[name])
            for name in ("embeddings", "nce_weights", "nce_biases")
        ]
        vectors = tf.nn.embedding_lookup(embeddings, batch)
        classes = start["nce_biases"].shape[0]
        # --- loss
        sampled = tf.nn.log_uniform_candidate_sampler(
            labels, 1, num_sampled, True, classes, seed
        )
        losses = tf.nn.nce_loss(
            weights, biases, labels, vectors, num_sampled, classes, 1, sampled
        )
        loss = tf.reduce_mean(losses)
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- likeness
        norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
        normalized = embeddings / norm
        asked = tf.gather(normalized, tf.constant(list(valid), tf.int32))
        similarity = tf.matmul(asked, normalized, transpose_b=True)
        # --- run
        sess.run(tf.global_variables_initializer())
        history = [
            sess.run([loss, step], {batch: word, labels: context})[0]
            for word, context in zip(words, contexts)
        ]
        return {
            "losses": history,
            "similarity": sess.run(similarity),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }
