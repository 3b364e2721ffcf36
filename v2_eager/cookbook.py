"""`batch_gather`, beam search, KL, batch norm, unpooling: by hand → TF2 ops."""

import tensorflow as tf

from v2_eager.shapes import get_shape

__all__ = [
    "batch_gather",
    "decode_step",
    "beam_search",
    "beam_search_loop",
    "log_softmax",
    "softmax_entropy",
    "gaussian_kl",
    "leaky_relu",
    "leaky_relu_parts",
    "make_batch_norm",
    "unpool",
]


def batch_gather(tensor, indices):
    """Gathers rows of each example by the indices of that example."""
    # In the old recipe an index outside of [0, n) returned a row of another example;
    # here it raises an error.
    return tf.gather(tensor, indices, batch_dims=1)


def decode_step(cell, state, ids):
    """Takes a step of a simple recurrent decoder; returns the new state and logits."""
    embedded = tf.gather(cell["embedding"], ids)
    state = tf.tanh(embedded + tf.tensordot(state, cell["kernel"], 1))
    return state, tf.tensordot(state, cell["projection"], 1)


def beam_search(cell, state, length, width, begin=0, end=1, fan_out=False):
    """Runs an unrolled beam search: the graph has one copy of the step per token."""
    beam = first_beam(state, width, begin)
    ids = tf.zeros([get_shape(state)[0], width, 0], tf.int32)
    for _ in range(length):
        beam, parents = search_step(cell, beam, end, fan_out)
        ids = tf.concat([batch_gather(ids, parents), beam[1][:, :, None]], axis=2)
    return ids, beam[2]


def first_beam(state, width, begin):
    # Begin with one hypothesis: equal ones would remain equal for ever.
    batch = get_shape(state)[0]
    only = tf.constant([[0.0] + [-float("inf")] * (width - 1)], state.dtype)
    return (
        tf.tile(state[:, None, :], [1, width, 1]),
        tf.fill([batch, width], begin),
        tf.tile(only, [batch, 1]),
        tf.fill([batch, width], False),
    )


def search_step(cell, beam, end, fan_out):
    state, ids, log_probs, finished = beam
    state, logits = decode_step(cell, state, ids)
    step = tf.nn.log_softmax(logits)
    # --- finish
    batch, width, classes = get_shape(step)
    free = tf.zeros([classes], step.dtype)
    if not fan_out:  # only one continuation: the end token again
        free = tf.math.log(tf.one_hot(end, classes, dtype=step.dtype))
    step = tf.where(finished[:, :, None], free, step)
    # --- select
    total = tf.reshape(log_probs[:, :, None] + step, [batch, width * classes])
    log_probs, best = tf.nn.top_k(total, width)
    ids, parents = best % classes, best // classes
    finished = tf.logical_or(batch_gather(finished, parents), tf.equal(ids, end))
    return (batch_gather(state, parents), ids, log_probs, finished), parents


def beam_search_loop(cell, state, length, width, begin=0, end=1, fan_out=False):
    """Runs a beam search in a `while` loop; a tensor sets the number of steps."""
    # --- loop
    # A TensorArray holds the results of each step; no tensor grows inside the loop.
    beam = first_beam(state, width, begin)
    ids, parents = [tf.TensorArray(tf.int32, length) for _ in range(2)]
    for i in tf.range(length):
        beam, parent = search_step(cell, beam, end, fan_out)
        ids = ids.write(i, beam[1])
        parents = parents.write(i, parent)
    # --- trace back
    last = tf.zeros_like(beam[1]) + tf.range(width)
    places = tf.scan(
        lambda place, parent: batch_gather(parent, place),
        parents.stack(),
        last,
        reverse=True,
    )
    places = tf.concat([places[1:], last[None]], axis=0)
    ids = tf.gather(ids.stack(), places, batch_dims=2)
    return tf.transpose(ids, [1, 2, 0]), beam[2]


def log_softmax(logits):
    """Computes log-probabilities from logits."""
    return logits - tf.reduce_logsumexp(logits, axis=-1, keepdims=True)


def softmax_entropy(logits, axis=-1):
    """Computes the entropy of softmax, in nats."""
    p, log_p = tf.nn.softmax(logits, axis), tf.nn.log_softmax(logits, axis)
    return -tf.reduce_sum(p * log_p, axis)


def gaussian_kl(q, p=(0.0, 0.0)):
    """Computes the divergence KL(q || p) of two Gaussians with diagonal covariances."""
    q_mean, q_log_variance = q
    # A bare 0.0 would become float32, for every dtype of q.
    p_mean, p_log_variance = [tf.convert_to_tensor(x, q_mean.dtype) for x in p]
    ratio = q_log_variance - p_log_variance
    # expm1(r) - r in place of exp(r) - 1 - r, which loses small divergences.
    spread = tf.math.expm1(ratio) - ratio
    shift = tf.square(q_mean - p_mean) * tf.exp(-p_log_variance)
    return 0.5 * tf.reduce_sum(spread + shift, axis=-1)


def leaky_relu(x, leak=0.2):
    """Computes leaky ReLU as max(x, leak * x), which is wrong for leaks above 1."""
    return tf.maximum(x, leak * x)


def leaky_relu_parts(x, leak=0.2):
    """Computes leaky ReLU as relu(x) - leak * relu(-x), for every leak."""
    return tf.nn.relu(x) - leak * tf.nn.relu(-x)


def make_batch_norm(momentum=0.99, epsilon=0.001, fused=False, name="batch_norm"):
    """Makes batch normalization without a layer, with moving averages for inference.

    Returns a `BatchNorm`; see the class.
    """
    return BatchNorm(momentum, epsilon, fused, name)


class BatchNorm(tf.Module):
    """Batch normalization without a layer, with moving averages for inference.

        y = gamma (x - mean) / sqrt(variance + epsilon) + beta

    over all axes but the last. A call takes x, [..., channels] floats, and `training`,
    a bool, and returns a tensor of the same shape. In training it updates the moving
    statistics. The first call makes the variables.

    Args:
        momentum: share of the moving statistics that an update keeps.
        epsilon: added to the variance; if fused, at least 1.001e-5, as in 1.15.
        fused: whether to use the fused kernel, which takes [batch, height, width,
            channels] float32.
        name: scope of `gamma`, `beta`, `moving_mean` and `moving_variance`, [channels].
    """

    def __init__(self, momentum, epsilon, fused, name):
        super().__init__()  # a module's name must not contain a "/"
        self.momentum, self.epsilon, self.fused = momentum, epsilon, fused
        self.gamma, self.path = None, name

    @property
    def built(self):
        """Whether the variables exist."""
        return self.gamma is not None

    def __call__(self, x, training):
        x = tf.convert_to_tensor(x)
        # --- variables
        if self.gamma is None:
            ones, zeros = [f(x.shape[-1:], x.dtype) for f in (tf.ones, tf.zeros)]
            path = f"{self.path}/"
            with tf.name_scope(""):  # keeps outer scopes out of the names
                self.gamma = tf.Variable(ones, name=path + "gamma")
                self.beta = tf.Variable(zeros, name=path + "beta")
                self.moving_mean = tf.Variable(zeros, False, name=path + "moving_mean")
                self.moving_variance = tf.Variable(
                    ones, False, name=path + "moving_variance"
                )
        # --- infer
        scale, offset = self.gamma, self.beta
        if not training:
            moments = self.moving_mean, self.moving_variance
            return tf.nn.batch_normalization(x, *moments, offset, scale, self.epsilon)
        # --- train
        if self.fused:
            floored = max(self.epsilon, 1.001e-5)
            y, mean, variance = fused_batch_norm(x, scale, offset, floored)
        else:
            axes = list(range(x.shape.rank - 1))
            mean = tf.reduce_mean(x, axes)
            centred = x - mean
            variance = tf.reduce_mean(tf.square(centred), axes)  # as tf.nn.moments
            y = centred * (scale * tf.math.rsqrt(variance + self.epsilon)) + offset
        # --- update
        # These lines run in every training call: no UPDATE_OPS to remember.
        for moving, batch in (
            (self.moving_mean, mean),
            (self.moving_variance, variance),
        ):
            moving.assign_sub((moving - batch) * (1 - self.momentum))
        return y


def fused_batch_norm(x, scale, offset, epsilon):
    """Runs the op of `tf.nn.fused_batch_norm`; returns (y, mean, unbiased variance)."""
    # tf.nn.moments and tf.nn.batch_normalization would round differently, and return
    # the biased variance.
    return tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=epsilon
    )[:3]


def unpool(x, size=2):
    """Max-pools, then unpools: puts each maximum back in its place, and 0 elsewhere."""
    # --- pool
    pooled, places = tf.nn.max_pool_with_argmax(
        x, size, size, "SAME", include_batch_in_index=True
    )
    # --- unpool
    places, values = tf.reshape(places, [-1, 1]), tf.reshape(pooled, [-1])
    unpooled = tf.scatter_nd(places, values, [tf.size(x, tf.int64)])
    return pooled, tf.reshape(unpooled, tf.shape(x))
