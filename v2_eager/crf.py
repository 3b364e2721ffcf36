"""`tf.contrib.crf`: `crf_log_likelihood`, `crf_decode`, `viterbi_decode` → TF2 ops."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers

__all__ = [
    "crf_unary_score",
    "crf_binary_score",
    "crf_sequence_score",
    "crf_multitag_sequence_score",
    "crf_log_norm",
    "crf_log_likelihood",
    "make_crf",
    "marginals",
    "crf_decode",
    "constrained_decode",
    "viterbi_decode",
    "train_tagger",
]


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """Adds up the unary scores of the tags in each sequence.

    Args:
        inputs: [batch, time, tags] float tensor of scores.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a tag out of range.
    """
    scores = tf.gather(inputs, tag_indices, batch_dims=2)
    return tf.reduce_sum(scores * mask_of(sequence_lengths, scores), 1)


def mask_of(lengths, scores):
    """Makes a mask like [batch, time] scores: 1 within the lengths, 0 past them."""
    return tf.sequence_mask(lengths, tf.shape(scores)[1], scores.dtype)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """Adds up the transition scores of each sequence.

    Args:
        transition_params: [tags, tags] float tensor, from the row to the column.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a tag out of range.
    """
    moves = tf.stack([tag_indices[:, :-1], tag_indices[:, 1:]], axis=2)
    scores = tf.gather_nd(transition_params, moves)
    return tf.reduce_sum(scores * mask_of(sequence_lengths - 1, scores), 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """Computes each tag sequence's unnormalized score: unary plus transition scores.

    Args:
        inputs: [batch, time, tags] float tensor of scores.
        transition_params: [tags, tags] float tensor, from the row to the column.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a tag out of range.
    """
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_multitag_sequence_score(
    inputs, tag_bitmap, sequence_lengths, transition_params
):
    """Computes log-sum-exp of the scores of all tag sequences that a bitmap allows.

    Args:
        inputs: [batch, time, tags] float tensor of scores.
        transition_params: [tags, tags] float tensor, from the row to the column.
    """
    scores = tf.where(tag_bitmap, inputs, tf.constant(-np.inf, inputs.dtype))
    # If there is only one step, contrib ignores the lengths.
    at_least = tf.cast(tf.shape(inputs)[1] == 1, sequence_lengths.dtype)
    lengths = tf.maximum(sequence_lengths, at_least)
    return crf_log_norm(scores, lengths, transition_params)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """Computes the log partition function: log-sum-exp of all sequences' scores.

    Args:
        inputs: [batch, time, tags] float tensor of scores.
        transition_params: [tags, tags] float tensor, from the row to the column.
    """
    paths = path_scores(
        inputs, sequence_lengths, transition_params, tf.reduce_logsumexp
    )
    log_norm = tf.reduce_logsumexp(paths[-1], 1)
    return tf.where(sequence_lengths <= 0, tf.zeros_like(log_norm), log_norm)


def path_scores(inputs, lengths, transitions, reduce):
    """Computes log-sum-exp or maximum of the scores of all paths to each tag.

    Args:
        inputs: [batch, time, tags] float tensor.
        lengths: [batch] int tensor.
        transitions: [tags, tags] tensor or variable.
        reduce: `tf.reduce_logsumexp`, or `tf.reduce_max`.

    Returns:
        [time, batch, tags] tensor; past the end, the last values are repeated.

    Raises:
        ValueError: the lengths are not [batch], or the transitions not [tags, tags];
            if sizes are unknown, tf.errors.InvalidArgumentError.
    """
    shapes = [(inputs, list("btn")), (lengths, ["b"]), (transitions, list("nn"))]
    tf.debugging.assert_shapes(shapes)
    scan = traced_once(scan_paths)
    return scan(inputs, lengths, tf.convert_to_tensor(transitions), reduce)


def traced_once(function):
    """Returns the traced function or, inside a `tf.function`, its Python function.

    A trace of its own could outlive a variable that it uses."""
    return function.python_function if tf.inside_function() else function


# Eagerly, batches may differ in time: one trace for the first, one for all others.
@tf.function(reduce_retracing=True)
def scan_paths(inputs, lengths, transitions, reduce):
    """Runs the recursion with `tf.scan`, traced so that gradients add up as in v1."""

    def step(previous, current):
        (scores, _), (x, t) = previous, current
        moved = x + reduce(scores[:, :, tf.newaxis] + transitions, 1)
        return tf.where((t < lengths)[:, tf.newaxis], moved, scores), t

    times = tf.range(tf.shape(inputs)[1], dtype=lengths.dtype)
    return tf.scan(step, (tf.transpose(inputs, [1, 0, 2]), times))[0]


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params):
    """Computes the log-likelihood of each tag sequence.

    Args:
        inputs: [batch, time, tags] float tensor of scores.
        transition_params: [tags, tags] float tensor, from the row to the column.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a tag out of range.
    """
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    log_norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return score - log_norm, transition_params


def make_crf(name="crf"):
    """Makes a CRF layer with its own transitions, for training and decoding.

    Returns a `Crf`; see the class.
    """
    return Crf(name)


class Crf(tf.Module):
    """Linear-chain CRF layer; the first call makes the transitions.

    A call takes scores, [batch, time, tags] float32, tags, [batch, time] ints, and
    lengths, [batch] ints. It returns the log-likelihoods, [batch], the best tags,
    [batch, time], and their scores, [batch].

    Args:
        name: scope of the variable `transitions`, [tags, tags].

    Raises:
        ValueError: from a call: the number of tags is unknown.
    """

    def __init__(self, name):
        super().__init__()  # a module's name must not contain a "/"
        self.path, self.transitions = name, None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.transitions is not None

    def __call__(self, inputs, tag_indices, sequence_lengths):
        # --- variable
        if self.transitions is None:
            num_tags = inputs.shape[2]
            if num_tags is None:
                raise ValueError("The number of tags must be fully defined")
            draw = initializers.glorot_uniform(seed=1)
            with tf.name_scope(""):  # keeps outer scopes out of the name
                self.transitions = tf.Variable(
                    draw([num_tags, num_tags]), name=f"{self.path}/transitions"
                )
        # --- scores
        transitions = tf.convert_to_tensor(self.transitions)
        likelihood, _ = crf_log_likelihood(
            inputs, tag_indices, sequence_lengths, transitions
        )
        return likelihood, *crf_decode(inputs, transitions, sequence_lengths)


def marginals(inputs, sequence_lengths, transition_params):
    """Computes each tag's marginal probability at each step (forward-backward)."""

    # --- passes
    def scores(inputs, transitions):
        paths = path_scores(inputs, sequence_lengths, transitions, tf.reduce_logsumexp)
        return tf.transpose(paths, [1, 0, 2])

    def reverse(x):
        return tf.reverse_sequence(x, sequence_lengths, seq_axis=1, batch_axis=0)

    forward = scores(inputs, transition_params)
    backward = reverse(scores(reverse(inputs), tf.transpose(transition_params)))
    # --- both
    probabilities = tf.nn.softmax(forward + backward - inputs)
    mask = mask_of(sequence_lengths, inputs)
    return probabilities * mask[:, :, tf.newaxis]


def crf_decode(potentials, transition_params, sequence_length):
    """Finds each example's best tag sequence, and its score, by Viterbi decoding."""
    lengths = tf.maximum(sequence_length, 1)
    best = path_scores(potentials, lengths, transition_params, tf.reduce_max)
    transitions = tf.convert_to_tensor(transition_params)
    tags = traced_once(backtrack)(best, lengths, transitions)
    return tags, tf.reduce_max(best[-1], 1)


@tf.function(reduce_retracing=True)
def backtrack(best, lengths, transitions):
    """Follows the best paths back from their last tags.

    Args:
        best: [time, batch, tags] tensor, see `path_scores`.
        lengths: [batch] int tensor.
        transitions: [tags, tags] tensor.

    Returns:
        [batch, time] int32 tensor, 0 past the end.
    """

    def step(tag, current):
        scores, t = current
        before = tf.argmax(scores + tf.gather(columns, tag), 1, tf.int32)
        return tf.where(t + 1 < lengths, before, tag)

    columns = tf.transpose(transitions)  # row j: from all tags to j
    times = tf.range(tf.shape(best)[0], dtype=lengths.dtype)
    last = tf.argmax(best[-1], 1, tf.int32)
    tags = tf.transpose(tf.scan(step, (best, times), last, reverse=True))
    return tags * mask_of(lengths, tags)


def constrained_decode(
    potentials, tag_bitmap, allowed, transition_params, sequence_length
):
    """Decodes by Viterbi with only the allowed tags and transitions."""
    never = tf.constant(-np.inf, potentials.dtype)
    return crf_decode(
        tf.where(tag_bitmap, potentials, never),
        tf.where(allowed, transition_params, never),
        sequence_length,
    )


def viterbi_decode(score, transition_params):
    """Decodes one sentence by Viterbi in NumPy."""
    best, links = score[0], []
    for row in score[1:]:
        moves = best[:, np.newaxis] + transition_params
        best = row + np.max(moves, 0)
        links.append(np.argmax(moves, 0).astype(np.int32))
    tags = [np.argmax(best)]
    for link in reversed(links):
        tags.append(link[tags[-1]])
    return tags[::-1], np.max(best)


def train_tagger(words, tags, lengths, start, steps, rate=0.0625):
    """Trains a tagger (embeddings and a CRF) with Adam, then decodes the sentences."""
    # --- model
    variables = {name: tf.Variable(value, name=name) for name, value in start.items()}
    embedding, kernel, bias, transitions = (
        variables[name]
        for name in ("embedding", "scores/kernel", "scores/bias", "crf/transitions")
    )
    words, tags, lengths = (tf.constant(array) for array in (words, tags, lengths))

    def score(words):
        vectors = tf.reshape(tf.gather(embedding, words), [-1, kernel.shape[0]])
        flat = tf.nn.bias_add(tf.matmul(vectors, kernel), bias)
        return tf.reshape(flat, [-1, words.shape[1], kernel.shape[1]])

    # --- loss
    def loss():
        likelihood, _ = crf_log_likelihood(score(words), tags, lengths, transitions)
        return tf.reduce_mean(-likelihood)

    adam = optimizers.Adam(rate).create_slots(variables.values())

    @tf.function
    def step():
        return adam.minimize(loss, variables.values())

    # --- run
    losses = [step().numpy() for _ in range(steps)]
    # --- tags
    decoded, best = crf_decode(score(words), transitions, lengths)
    # --- checkpoint
    kept = [*variables.values(), *adam.variables]
    return {
        "losses": np.stack(losses),
        "tags": tf.RaggedTensor.from_tensor(decoded, lengths).to_list(),
        "scores": best.numpy(),
        "checkpoint": {v.name[:-2]: v.numpy() for v in kept},
    }
