"""Made-up reviews: books (labelled) and films (not labelled) share few words."""
from __future__ import absolute_import, division, print_function

import numpy as np

from reviews.flags import FLAGS

LENGTH = 10


def make_reviews(n, domain, seed):
    """Word ids [n, LENGTH], lengths [n], sentiment [n]."""
    rng = np.random.RandomState(seed)
    lengths = rng.randint(4, LENGTH + 1, n)
    labels = rng.randint(0, 2, n)
    words = np.zeros([n, LENGTH], np.int32)
    third = FLAGS.vocabulary // 4
    for i in range(n):
        # Words about the subject, then the ones that tell what was thought of it.
        start = 1 + third * domain
        words[i] = rng.randint(start, start + third, LENGTH)
        opinion = rng.rand(LENGTH) < 0.4
        start = third * (2 + labels[i])
        words[i, opinion] = rng.randint(start, start + third, opinion.sum())
        words[i, lengths[i]:] = 0
    return words, lengths.astype(np.int32), labels.astype(np.int32)


def batches(num_steps, seed=1):
    """Yields (words, lengths, labels, domains); the first half is of domain 0."""
    half = FLAGS.batch_size // 2
    source, target = make_reviews(400, 0, seed), make_reviews(400, 1, seed + 1)
    rng = np.random.RandomState(seed + 2)
    domains = np.repeat([0, 1], half).astype(np.int32)
    for _ in range(num_steps):
        rows = rng.randint(0, 400, half), rng.randint(0, 400, half)
        words, lengths, labels = [
            np.concatenate([s[rows[0]], t[rows[1]]]) for s, t in zip(source, target)
        ]
        yield words, lengths, labels, domains
