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
        kind: "uniform"; "log_uniform", by Zipf's law, of classes by falling frequency;
            "learned_unigram", by what came so far; "fixed_unigram", by given counts.
        true_classes: [batch, true] int64 array.
        num_sampled: how many to draw.
        classes: number of the classes.
        seed: of the op; that of the graph is 7.
        options: dict with `unique` (True, unless given: without repeats) and, for given
            counts, `unigrams`, a list of floats, and `distortion`, their power.
        draws: how often to draw.

    Returns:
        List of (classes [num_sampled] int64, expected counts of the true ones [batch,
        true] float32, of the drawn ones [num_sampled] float32).

    Raises:
        KeyError: another kind.
        tf.errors.InvalidArgumentError: more classes without repeats than there are.
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
    """Finds the candidates that are true.

    Args:
        true_classes: [batch, true] int64 tensor.
        candidates: [n] int64 tensor.

    Returns:
        (rows [hits] int32, places among the candidates [hits] int64, weights [hits]
        float32: the lowest number, to be added to the logits).
    """
    return tf.nn.compute_accidental_hits(
        true_classes, candidates, num_true=true_classes.shape[1].value
    )


def nce_loss(weights, biases, labels, inputs, sampled, remove_accidental_hits=False):
    """Gives the loss of noise-contrastive estimation: true or drawn, class by class.

    Args:
        weights: [classes, depth] float tensor.
        biases: [classes] tensor.
        labels: [batch, true] int64 tensor.
        inputs: [batch, depth] tensor.
        sampled: what a sampler draws: (candidates [n] int64, expected counts [batch,
            true] float, [n] float).
        remove_accidental_hits: whether candidates that are true do not count.

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
    """As `nce_loss`, of weights in several tables: row i is in table i % tables.

    Args:
        shards: list of [rows, depth] tensors, the first ones longer by a row, if any.
        biases, labels, inputs, sampled: as of `nce_loss`.

    Returns:
        [batch] tensor.
    """
    classes, true = biases.shape[0].value, labels.shape[1].value
    n = sampled[0].shape[0].value
    # By default partition_strategy is "mod".
    return tf.nn.nce_loss(shards, biases, labels, inputs, n, classes, true, sampled)


def sampled_softmax_loss(
    weights, biases, labels, inputs, sampled, remove_accidental_hits=True
):
    """Gives the cross-entropy among the true classes and the candidates.

    Args:
        weights, biases, labels, inputs, sampled: as of `nce_loss`.
        remove_accidental_hits: whether candidates that are true do not count.

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
    """Trains vectors of words by their neighbours, and NCE.

    Args:
        words: [steps, batch] int64 array.
        contexts: [steps, batch, 1] int64 array: a neighbour of each.
        start: {"embeddings": [classes, depth], "nce_weights": [classes, depth],
            "nce_biases": [classes]} of float arrays.
        num_sampled: how many candidates a step draws, for all its words.
        seed: of the sampler; that of the graph is 7.
        rate: learning rate.
        valid: list of words whose likeness to all others is asked for in the end.

    Returns:
        dict with the mean `losses` of the steps, the `similarity` [valid, classes],
        cosines, and the `variables` by name in the end.
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
