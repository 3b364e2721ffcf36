"""Made-up reviews: books (labelled) and films (not labelled) share few words."""

import numpy as np

LENGTH = 10


def make_reviews(n, domain, seed, vocabulary=40):
    """Word ids [n, LENGTH], lengths [n], sentiment [n]; all int32."""
    rng = np.random.RandomState(seed)
    lengths = rng.randint(4, LENGTH + 1, n)
    labels = rng.randint(0, 2, n)
    words = np.zeros([n, LENGTH], np.int32)
    quarter = vocabulary // 4
    for i in range(n):
        # Words about the subject, then words of opinion.
        start = 1 + quarter * domain
        words[i] = rng.randint(start, start + quarter, LENGTH)
        opinion = rng.rand(LENGTH) < 0.4
        start = quarter * (2 + labels[i])
        words[i, opinion] = rng.randint(start, start + quarter, opinion.sum())
        words[i, lengths[i] :] = 0
    return words, lengths.astype(np.int32), labels.astype(np.int32)


def batches(num_steps, batch_size=16, vocabulary=40, seed=1):
    """Yields (words, lengths, labels, domains); the first half is of domain 0."""
    half = batch_size // 2
    source, target = (make_reviews(400, d, seed + d, vocabulary) for d in (0, 1))
    rng = np.random.RandomState(seed + 2)
    domains = np.repeat([0, 1], half).astype(np.int32)
    for _ in range(num_steps):
        rows = rng.randint(0, 400, half), rng.randint(0, 400, half)
        both = zip(source, target, strict=True)
        chosen = [np.concatenate([s[rows[0]], t[rows[1]]]) for s, t in both]
        yield (*chosen, domains)
