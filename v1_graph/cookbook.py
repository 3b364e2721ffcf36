"""`batch_gather`, beam search, KL, batch norm, unpooling: by hand → TF2 ops."""

import tensorflow.compat.v1 as tf

from v1_graph.shapes import get_shape

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
    """Gathers rows of each example by the indices of that example.

    Args:
        tensor: [batch, n, ...] tensor of any dtype.
        indices: [batch, ...] int32 tensor of numbers in [0, n).

    Returns:
        [batch, ..., ...] tensor, tensor[b, indices[b, ...]] for every b.
    """
    # The rows of all examples in one list. An index outside of [0, n) raises no error
    # here: it returns a row of the example before or after.
    shape = get_shape(tensor)
    flat = tf.reshape(tensor, [shape[0] * shape[1]] + shape[2:])
    first = tf.range(shape[0]) * shape[1]
    first = tf.reshape(first, [-1] + [1] * (indices.shape.ndims - 1))
    return tf.gather(flat, indices + first)


def decode_step(cell, state, ids):
    """Takes a step of a simple recurrent decoder; returns the new state and logits.

    Args:
        cell: dict of `embedding` [classes, units], `kernel` [units, units] and
            `projection` [units, classes], tensors of one float dtype.
        state: [batch, width, units] tensor of the dtype of `cell`.
        ids: [batch, width] int32 tensor, the previous tokens.

    Returns:
        ([batch, width, units] new state, [batch, width, classes] logits).
    """
    embedded = tf.gather(cell["embedding"], ids)
    state = tf.tanh(embedded + tf.tensordot(state, cell["kernel"], 1))
    return state, tf.tensordot(state, cell["projection"], 1)


def beam_search(cell, state, length, width, begin=0, end=1, fan_out=False):
    """Runs an unrolled beam search: the graph has one copy of the step per token.

    Args:
        cell: dict of tensors, see `decode_step`.
        state: [batch, units] float tensor, the initial state.
        length: int, number of tokens to decode.
        width: int, number of hypotheses to keep.
        begin: id of the first token of all hypotheses.
        end: id of the token that finishes a hypothesis.
        fan_out: whether a finished hypothesis continues with every token at no cost,
            as in the classic recipe: its copies then displace all other hypotheses.

    Returns:
        ([batch, width, length] int32 ids, [batch, width] log-probabilities), the best
        hypothesis first.
    """
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
        free = tf.log(tf.one_hot(end, classes, dtype=step.dtype))
    # This tf.where requires three tensors of the same shape.
    step = tf.where(
        tf.tile(finished[:, :, None], [1, 1, classes]),
        tf.tile(free[None, None, :], [batch, width, 1]),
        step,
    )
    # --- select
    total = tf.reshape(log_probs[:, :, None] + step, [batch, width * classes])
    log_probs, best = tf.nn.top_k(total, width)
    ids, parents = best % classes, best // classes
    finished = tf.logical_or(batch_gather(finished, parents), tf.equal(ids, end))
    return (batch_gather(state, parents), ids, log_probs, finished), parents


def beam_search_loop(cell, state, length, width, begin=0, end=1, fan_out=False):
    """Runs a beam search in a `while` loop; a tensor sets the number of steps.

    Args:
        cell: dict of tensors, see `decode_step`.
        state: [batch, units] float tensor, the initial state.
        length: int32 scalar tensor, at least 1: number of tokens to decode.
        width: int, number of hypotheses to keep.
        begin: id of the first token of all hypotheses.
        end: id of the token that finishes a hypothesis.
        fan_out: see `beam_search`.

    Returns:
        The result of `beam_search`.
    """

    # --- loop
    # A TensorArray holds the results of each step; no tensor grows inside the loop.
    def body(i, beam, ids, parents):
        beam, parent = search_step(cell, beam, end, fan_out)
        return i + 1, beam, ids.write(i, beam[1]), parents.write(i, parent)

    beam = first_beam(state, width, begin)
    arrays = [tf.TensorArray(tf.int32, length) for _ in range(2)]
    _, beam, ids, parents = tf.while_loop(
        lambda i, *_: i < length, body, [0, beam] + arrays
    )
    # --- trace back
    batch = get_shape(state)[0]
    last = tf.tile(tf.range(width)[None, :], [batch, 1])
    places = tf.scan(
        lambda place, parent: batch_gather(parent, place),
        tf.reshape(parents.stack(), [length, batch, width]),
        last,
        reverse=True,
    )
    places = tf.concat([places[1:], last[None]], axis=0)
    ids = tf.reshape(ids.stack(), [length, batch, width])
    # tf.batch_gather treats all axes but the last as batches, unlike the recipe above.
    return tf.transpose(tf.batch_gather(ids, places), [1, 2, 0]), beam[2]


def log_softmax(logits):
    """Computes log-probabilities from logits.

    Args:
        logits: [..., classes] float tensor.

    Returns:
        Tensor of the same shape: logits - log(sum(exp(logits))).
    """
    return logits - tf.reduce_logsumexp(logits, axis=-1, keepdims=True)


def softmax_entropy(logits, axis=-1):
    """Computes the entropy of softmax, in nats.

    Args:
        logits: float tensor.
        axis: the axis of the classes.

    Returns:
        Tensor without that axis. NaN where a logit is -inf, because 0 * -inf is NaN:
        mask with a large negative number such as -1e9.
    """
    p, log_p = tf.nn.softmax(logits, axis), tf.nn.log_softmax(logits, axis)
    return -tf.reduce_sum(p * log_p, axis)


def gaussian_kl(q, p=(0.0, 0.0)):
    """Computes the divergence KL(q || p) of two Gaussians with diagonal covariances.

    Args:
        q: pair of [..., n] float tensors, the mean and the logarithm of the variance.
        p: pair like `q`; a standard normal distribution by default.

    Returns:
        [...] tensor, in nats.
    """
    q_mean, q_log_variance = q
    # A bare 0.0 would become float32, for every dtype of q.
    p_mean, p_log_variance = [tf.convert_to_tensor(x, q_mean.dtype) for x in p]
    ratio = q_log_variance - p_log_variance
    # expm1(r) - r in place of exp(r) - 1 - r, which loses small divergences.
    spread = tf.math.expm1(ratio) - ratio
    shift = tf.square(q_mean - p_mean) * tf.exp(-p_log_variance)
    return 0.5 * tf.reduce_sum(spread + shift, axis=-1)


def leaky_relu(x, leak=0.2):
    """Computes leaky ReLU as max(x, leak * x), which is wrong for leaks above 1.

    Args:
        x: float tensor.
        leak: slope of the negative side, at most 1: above 1 the maximum selects the
            wrong branch on both sides.

    Returns:
        Tensor of the same shape. Its gradient at 0 is 1.
    """
    return tf.maximum(x, leak * x)


def leaky_relu_parts(x, leak=0.2):
    """Computes leaky ReLU as relu(x) - leak * relu(-x), for every leak.

    Args:
        x: float tensor.
        leak: slope of the negative side.

    Returns:
        Tensor of the same shape. Its gradient at 0 is 0.
    """
    return tf.nn.relu(x) - leak * tf.nn.relu(-x)


def make_batch_norm(momentum=0.99, epsilon=0.001, fused=False, name="batch_norm"):
    """Makes batch normalization without a layer, with moving averages for inference.

    Args:
        momentum: share of the moving statistics that an update keeps.
        epsilon: added to the variance; if fused, at least 1.001e-5, as in 1.15.
        fused: whether to use the fused kernel. It takes [batch, height, width,
            channels] float32, and updates the moving variance with the unbiased
            variance, n / (n - 1) times the variance that it normalizes with.
        name: scope of the variables `gamma`, `beta`, `moving_mean`, `moving_variance`.

    Returns:
        Callable from a [..., channels] float tensor and `training`, a bool, to a tensor
        of the same shape. In training it updates the moving statistics.
    """

    def batch_norm(x, training):
        # --- variables
        def variable(key, initializer, trainable):
            return tf.get_variable(
                key, x.shape[-1:], x.dtype, initializer, trainable=trainable
            )

        gamma = variable("gamma", tf.ones_initializer(), True)
        beta = variable("beta", tf.zeros_initializer(), True)
        moving_mean = variable("moving_mean", tf.zeros_initializer(), False)
        moving_variance = variable("moving_variance", tf.ones_initializer(), False)
        # --- infer
        if not training:
            mean, variance = moving_mean, moving_variance
            return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
        # --- train
        if fused:
            floored = max(epsilon, 1.001e-5)  # 1.15 did this itself
            y, mean, variance = tf.nn.fused_batch_norm(x, gamma, beta, epsilon=floored)
        else:
            axes = list(range(x.shape.ndims - 1))
            mean = tf.reduce_mean(x, axes)
            centred = x - mean
            variance = tf.reduce_mean(tf.square(centred), axes)  # as tf.nn.moments
            y = centred * (gamma * tf.rsqrt(variance + epsilon)) + beta
        # --- update
        # If these updates never run, inference uses mean 0 and variance 1. Usually the
        # train op waited for this collection; here the output does.
        for moving, batch in [(moving_mean, mean), (moving_variance, variance)]:
            update = tf.assign_sub(moving, (moving - batch) * (1 - momentum))
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            return tf.identity(y)

    return tf.make_template(name, batch_norm)


def unpool(x, size=2):
    """Max-pools, then unpools: puts each maximum back in its place, and 0 elsewhere.

    Args:
        x: [batch, height, width, channels] float32 tensor.
        size: size of the windows, and their stride.

    Returns:
        (the maxima, [batch, height / size, width / size, channels]; a tensor like x
        with the maxima in their places).
    """
    # --- pool
    window = [1, size, size, 1]
    pooled, places = tf.nn.max_pool_with_argmax(x, window, window, "SAME")
    # --- unpool
    shape = tf.shape(x, out_type=tf.int64)
    first = tf.range(shape[0]) * tf.reduce_prod(shape[1:])  # argmax is per image
    places += tf.reshape(first, [-1, 1, 1, 1])
    places, values = tf.reshape(places, [-1, 1]), tf.reshape(pooled, [-1])
    unpooled = tf.scatter_nd(places, values, [tf.reduce_prod(shape)])
    return pooled, tf.reshape(unpooled, shape)
