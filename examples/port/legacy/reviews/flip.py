"""Gradient reversal, for domain-adversarial training (Ganin et al., 2016)."""
from __future__ import absolute_import, division, print_function

import itertools

import tensorflow as tf

_numbers = itertools.count()


def flip_gradient(x, strength):
    """x as it is; what comes back is -strength times the gradient."""
    # The registry is global and takes every name once.
    name = "FlipGradient%d" % next(_numbers)

    @tf.RegisterGradient(name)
    def _flip(unused_op, grad):
        return -strength * grad

    with tf.get_default_graph().gradient_override_map({"Identity": name}):
        return tf.identity(x)
