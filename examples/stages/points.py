"""Points in a square, with labels: inside or outside of a circle."""

import numpy as np


def draw(n=256):
    points = np.random.RandomState(0).uniform(-1, 1, (n, 2)).astype("float32")
    return points, (np.square(points).sum(axis=1) < 0.5).astype("int64")


def shuffled(epoch):
    points, labels = draw()
    order = np.random.RandomState(epoch).permutation(len(points))
    return points[order], labels[order]


def report(result, every=20):
    for epoch, loss in list(enumerate(result["losses"]))[::every]:
        print("epoch %d: loss %.4f" % (epoch, loss))
    print("in the end: accuracy %.4f" % result["accuracy"])
