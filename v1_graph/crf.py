"""`tf.contrib.crf`: `crf_log_likelihood`, `crf_decode`, `viterbi_decode` → TF2 ops."""

import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

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

# compat.v1 does not contain contrib: only `tensorflow.contrib` of 1.15 does.


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """Adds up the unary scores of the tags in each sequence.

    Args:
        tag_indices: [batch, time] int tensor.
        sequence_lengths: [batch] int tensor.
        inputs: [batch, time, tags] float32 tensor of scores.

    Returns:
        [batch] tensor, 0 for an empty sequence.
    """
    return tensorflow.contrib.crf.crf_unary_score(tag_indices, sequence_lengths, inputs)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """Adds up the transition scores of each sequence.

    Args:
        tag_indices: [batch, time] int tensor.
        sequence_lengths: [batch] int tensor.
        transition_params: [tags, tags] float32 tensor, from the row to the column.

    Returns:
        [batch] tensor, 0 for a sequence of one tag or none.
    """
    return tensorflow.contrib.crf.crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )


def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """Computes each tag sequence's unnormalized score: unary plus transition scores.

    Args:
        inputs: [batch, time, tags] float32 tensor of scores.
        tag_indices: [batch, time] int tensor.
        sequence_lengths: [batch] int tensor.
        transition_params: [tags, tags] float32 tensor, from the row to the column.

    Returns:
        [batch] tensor, 0 for an empty sequence.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a transition out of range.
    """
    return tensorflow.contrib.crf.crf_sequence_score(
        inputs, tag_indices, sequence_lengths, transition_params
    )


def crf_multitag_sequence_score(
    inputs, tag_bitmap, sequence_lengths, transition_params
):
    """Computes log-sum-exp of the scores of all tag sequences that a bitmap allows.

    Args:
        inputs: [batch, time, tags] float32 tensor of scores.
        tag_bitmap: [batch, time, tags] bool tensor: which tags are allowed.
        sequence_lengths: [batch] int tensor.
        transition_params: [tags, tags] float32 tensor, from the row to the column.

    Returns:
        [batch] tensor, -inf where a step has no tag. It is 0 for an empty sequence,
        unless the time is 1.
    """
    return tensorflow.contrib.crf.crf_multitag_sequence_score(
        inputs, tag_bitmap, sequence_lengths, transition_params
    )


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """Computes the log partition function: log-sum-exp of all sequences' scores.

    Args:
        inputs: [batch, time, tags] float32 tensor of scores.
        sequence_lengths: [batch] int tensor.
        transition_params: [tags, tags] float32 tensor, from the row to the column.

    Returns:
        [batch] tensor, 0 for an empty sequence.
    """
    return tensorflow.contrib.crf.crf_log_norm(
        inputs, sequence_lengths, transition_params
    )


def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params):
    """Computes the log-likelihood of each tag sequence.

    Args:
        inputs: [batch, time, tags] float32 tensor of scores.
        tag_indices: [batch, time] int tensor.
        sequence_lengths: [batch] int tensor.
        transition_params: [tags, tags] float32 tensor, from the row to the column.

    Returns:
        ([batch] tensor, 0 for an empty sequence; `transition_params`, unchanged).

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a transition out of range.
    """
    return tensorflow.contrib.crf.crf_log_likelihood(
        inputs, tag_indices, sequence_lengths, transition_params
    )


def make_crf(name="crf"):
    """Makes a CRF layer with its own transitions, for training and decoding.

    Args:
        name: scope of the variable `transitions`, [tags, tags].

    Returns:
        Callable from [batch, time, tags] float32 scores, [batch, time] int tags and
        [batch] int lengths to the [batch] log-likelihoods, the [batch, time] best tags
        and their [batch] scores.

    Raises:
        ValueError: from the callable: the number of tags is unknown.
    """

    def score(inputs, tag_indices, sequence_lengths):
        # --- variable
        draw = tf.glorot_uniform_initializer(seed=1)  # the default of get_variable
        with tf.variable_scope(tf.get_variable_scope(), initializer=draw):
            likelihood, transitions = tensorflow.contrib.crf.crf_log_likelihood(
                inputs, tag_indices, sequence_lengths
            )
        # --- scores
        tags, best = tensorflow.contrib.crf.crf_decode(
            inputs, transitions, sequence_lengths
        )
        return likelihood, tags, best

    return tf.make_template(name, score)


def marginals(inputs, sequence_lengths, transition_params):
    """Computes each tag's marginal probability at each step (forward-backward).

    Args:
        inputs: [batch, time, tags] float tensor of scores.
        sequence_lengths: [batch] int tensor.
        transition_params: [tags, tags] tensor, from the row to the column.

    Returns:
        [batch, time, tags] tensor, zero past the end.
    """

    # --- passes
    def scores(inputs, transitions):
        cell = tensorflow.contrib.crf.CrfForwardRnnCell(transitions)
        first, rest = inputs[:, :1], inputs[:, 1:]
        rest, _ = tf.nn.dynamic_rnn(
            cell, rest, sequence_lengths - 1, initial_state=first[:, 0]
        )
        return tf.concat([first, rest], 1)

    def reverse(x):
        return tf.reverse_sequence(x, sequence_lengths, seq_axis=1, batch_axis=0)

    forward = scores(inputs, transition_params)
    backward = reverse(scores(reverse(inputs), tf.transpose(transition_params)))
    # --- both
    probabilities = tf.nn.softmax(forward + backward - inputs)
    mask = tf.sequence_mask(sequence_lengths, tf.shape(inputs)[1], inputs.dtype)
    return probabilities * mask[:, :, tf.newaxis]


def crf_decode(potentials, transition_params, sequence_length):
    """Finds each example's best tag sequence, and its score, by Viterbi decoding.

    Args:
        potentials: [batch, time, tags] float tensor of scores.
        transition_params: [tags, tags] tensor, from the row to the column.
        sequence_length: [batch] int tensor.

    Returns:
        ([batch, time] int32 best tags, 0 past the end; [batch] scores of these
        sequences). An empty sequence is treated as a sequence of length 1.
    """
    return tensorflow.contrib.crf.crf_decode(
        potentials, transition_params, sequence_length
    )


def constrained_decode(
    potentials, tag_bitmap, allowed, transition_params, sequence_length
):
    """Decodes by Viterbi with only the allowed tags and transitions.

    Args:
        potentials: [batch, time, tags] float tensor of scores.
        tag_bitmap: [batch, time, tags] bool tensor: which tags a step may have.
        allowed: [tags, tags] bool tensor: which transitions are allowed, such as from
            B-PER to I-PER, but not to I-LOC.
        transition_params: [tags, tags] tensor, from the row to the column.
        sequence_length: [batch] int tensor.

    Returns:
        ([batch, time] int32 best tags, 0 past the end; [batch] scores of these
        sequences, -inf where no sequence is allowed).
    """
    never = potentials.dtype.as_numpy_dtype("-inf")
    return tensorflow.contrib.crf.crf_decode(
        tf.where(tag_bitmap, potentials, tf.fill(tf.shape(potentials), never)),
        tf.where(
            allowed, transition_params, tf.fill(tf.shape(transition_params), never)
        ),
        sequence_length,
    )


def viterbi_decode(score, transition_params):
    """Decodes one sentence by Viterbi in NumPy.

    Args:
        score: [time, tags] float array, cut to the length of the sentence.
        transition_params: [tags, tags] array, from the row to the column.

    Returns:
        (list of tags; the score of this list).

    Raises:
        IndexError: an empty sentence.
    """
    return tensorflow.contrib.crf.viterbi_decode(score, transition_params)


def train_tagger(words, tags, lengths, start, steps, rate=0.0625):
    """Trains a tagger (embeddings and a CRF) with Adam, then decodes the sentences.

    Args:
        words: [n, time] int array.
        tags: [n, time] int array, any tag past the end.
        lengths: [n] int array, none of them 0.
        start: {"embedding": [words, depth] array, "scores/kernel": [depth, tags] array,
            "scores/bias": [tags] array, "crf/transitions": [tags, tags] array}, of
            float32.
        steps: number of steps, all on the same sentences.
        rate: learning rate.

    Returns:
        dict with the `losses` before every step, the final `tags` of every sentence
        and their `scores`, and the values in the `checkpoint` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        ids = tf.placeholder(tf.int32, [None, None])
        labels = tf.placeholder(tf.int32, [None, None])
        ends = tf.placeholder(tf.int32, [None])
        embedding = tf.get_variable("embedding", start["embedding"].shape)
        vectors = tf.nn.embedding_lookup(embedding, ids)
        depth, num_tags = start["scores/kernel"].shape
        with tf.variable_scope("scores"):
            kernel = tf.get_variable("kernel", [depth, num_tags])
            bias = tf.get_variable("bias", [num_tags])
        flat = tf.nn.xw_plus_b(tf.reshape(vectors, [-1, depth]), kernel, bias)
        scores = tf.reshape(flat, [-1, tf.shape(ids)[1], num_tags])
        # --- loss
        with tf.variable_scope("crf"):
            likelihood, transitions = tensorflow.contrib.crf.crf_log_likelihood(
                scores, labels, ends
            )
        loss = tf.reduce_mean(-likelihood)
        step = tf.train.AdamOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            variable.load(start[variable.op.name], sess)
        feed = {ids: words, labels: tags, ends: lengths}
        losses = [sess.run([loss, step], feed)[0] for _ in range(steps)]
        # --- tags
        unary, matrix = sess.run([scores, transitions], feed)
        decoded = [
            tensorflow.contrib.crf.viterbi_decode(sentence[:length], matrix)
            for sentence, length in zip(unary, lengths)
        ]
        # --- checkpoint
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))
            reader = tf.train.load_checkpoint(path)
            names = reader.get_variable_to_shape_map()
            checkpoint = {name: reader.get_tensor(name) for name in sorted(names)}
    return {
        "losses": np.stack(losses),
        "tags": [[int(tag) for tag in best] for best, _ in decoded],
        "scores": np.stack([score for _, score in decoded]),
        "checkpoint": checkpoint,
    }
