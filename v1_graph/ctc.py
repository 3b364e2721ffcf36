"""`tf.nn.ctc_loss`, its decoders, `K.ctc_batch_cost` → `ctc_loss(blank_index=-1)`."""

import tensorflow.compat.v1 as tf

__all__ = [
    "ctc_loss",
    "ctc_loss_of_dense",
    "ctc_loss_with_options",
    "greedy_decode",
    "beam_decode",
    "keras_cost",
    "keras_decode",
    "label_error_rates",
    "train_recognizer",
]


def ctc_loss(labels, logits, lengths):
    """Computes the CTC loss of sparse labels; the last class is the blank.

    Args:
        labels: (indices [n, 2] int64, values [n] int32, shape [2] int64) of a sparse
            tensor, [batch, labels], below the last class, which is the blank.
        logits: [time, batch, classes] float tensor.
        lengths: [batch] int32 tensor: number of steps in each row of logits.

    Returns:
        [batch] tensor.

    Raises:
        tf.errors.InvalidArgumentError: more labels than steps, or a label that is not a
            class.
    """
    return tf.nn.ctc_loss(tf.SparseTensor(*labels), logits, lengths)


def ctc_loss_of_dense(labels, label_lengths, logits, lengths):
    """Computes the CTC loss of labels in a padded matrix.

    Args:
        labels: [batch, labels] int32 tensor, below the last class.
        label_lengths: [batch] int32 tensor: number of labels in each row.
        logits, lengths: see `ctc_loss`.

    Returns:
        [batch] tensor.
    """
    # tf.nn.ctc_loss takes only sparse labels.
    indices = tf.where(tf.sequence_mask(label_lengths, tf.shape(labels)[1]))
    values = tf.gather_nd(labels, indices)
    sparse = tf.SparseTensor(indices, values, tf.shape(labels, out_type=tf.int64))
    return tf.nn.ctc_loss(sparse, logits, lengths)


def ctc_loss_with_options(
    labels,
    logits,
    lengths,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
):
    """Computes CTC loss with `preprocess_collapse_repeated`, `ctc_merge_repeated`.

    Args:
        labels, logits, lengths: see `ctc_loss`.
        preprocess_collapse_repeated: whether to merge repeated labels.
        ctc_merge_repeated: whether to merge repeated classes without a blank between.
        ignore_longer_outputs_than_inputs: whether a row with more labels than steps has
            a loss of 0 instead of raising an error.

    Returns:
        [batch] tensor.

    Raises:
        See `ctc_loss`.
    """
    return tf.nn.ctc_loss(
        tf.SparseTensor(*labels),
        logits,
        lengths,
        preprocess_collapse_repeated,
        ctc_merge_repeated,
        ignore_longer_outputs_than_inputs,
    )


def greedy_decode(logits, lengths, merge_repeated=True):
    """Decodes CTC greedily: takes each step's most probable class, removes blanks.

    Args:
        logits: [time, batch, classes] float tensor; the last class is the blank.
        lengths: [batch] int32 tensor.
        merge_repeated: whether to merge repeated classes.

    Returns:
        ([batch, longest] int64 tensor, -1 past the end; [batch, 1] tensor, minus the
        sum of the largest logits).
    """
    (decoded,), scores = tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated)
    return tf.sparse_tensor_to_dense(decoded, -1), scores


def beam_decode(logits, lengths, beam_width=100, merge_repeated=True):
    """Decodes CTC by beam search: the most probable labels over all alignments.

    Args:
        logits: [time, batch, classes] float tensor; the last class is the blank.
        lengths: [batch] int32 tensor.
        beam_width: number of prefixes to keep.
        merge_repeated: whether to merge repeated labels of the result, too: "hello"
            becomes "helo".

    Returns:
        ([batch, longest] int64 tensor, -1 past the end; [batch, 1] tensor, the
        logarithm of the probability).
    """
    (decoded,), scores = tf.nn.ctc_beam_search_decoder(
        logits, lengths, beam_width, merge_repeated=merge_repeated
    )
    return tf.sparse_tensor_to_dense(decoded, -1), scores


def keras_cost(labels, probabilities, lengths, label_lengths):
    """Computes the CTC loss of softmax probabilities, as `K.ctc_batch_cost` does.

    Args:
        labels: [batch, labels] tensor of whole numbers of any dtype, below the last
            class.
        probabilities: [batch, time, classes] float tensor; the last class is the blank.
        lengths: [batch, 1] tensor of any dtype: number of steps in each row of
            probabilities.
        label_lengths: [batch, 1] tensor of any dtype: number of labels in each row.

    Returns:
        [batch, 1] tensor.
    """
    K = tf.keras.backend
    return K.ctc_batch_cost(labels, probabilities, lengths, label_lengths)


def keras_decode(probabilities, lengths, greedy=True, beam_width=100, top_paths=1):
    """Decodes softmax probabilities, greedily or by beam search: `K.ctc_decode`.

    Args:
        probabilities: [batch, time, classes] float tensor; the last class is the blank.
        lengths: [batch] tensor of any dtype.
        greedy: whether to take the most probable class of every step.
        beam_width: number of prefixes that the beam search keeps.
        top_paths: number of label sequences that the beam search returns.

    Returns:
        (list of [batch, longest] int64 tensors, -1 past the end; [batch, top_paths]
        tensor: minus the sum of the log-probabilities if greedy, else the
        log-probability).
    """
    K = tf.keras.backend
    return K.ctc_decode(probabilities, lengths, greedy, beam_width, top_paths)


def label_error_rates(labels, logits, lengths):
    """Computes label error rates: edit distance of decoded labels / true length.

    Args:
        labels, logits, lengths: see `ctc_loss`.

    Returns:
        ([batch] float32 tensor, inf for a row without true labels if labels were
        decoded; the mean of the rates).
    """
    (decoded,), _ = tf.nn.ctc_greedy_decoder(logits, lengths)
    truth = tf.SparseTensor(*labels)
    rates = tf.edit_distance(tf.cast(decoded, tf.int32), truth)
    return rates, tf.reduce_mean(rates)


def train_recognizer(inputs, lengths, labels, start, steps, rate=0.25):
    """Trains a linear layer on frames with the CTC loss and Momentum.

    Args:
        inputs: [batch, time, depth] float array.
        lengths: [batch] int32 array.
        labels: list of lists of ints, the labels of each row.
        start: {"kernel": [depth, classes] array, "bias": [classes] array} of the dtype
            of the inputs; the last class is the blank.
        steps: number of steps, all on the same rows.
        rate: learning rate; the momentum is 0.875.

    Returns:
        dict with the `losses` before every step, the final `decoded` labels, [batch,
        longest] int64, -1 past the end, the label error `rates`, [batch] float32, and
        the `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        frames = tf.placeholder(inputs.dtype, [None, None, inputs.shape[2]])
        ends = tf.placeholder(tf.int32, [None])
        truth = tf.sparse_placeholder(tf.int32)
        kernel = tf.get_variable("kernel", initializer=start["kernel"])
        bias = tf.get_variable("bias", initializer=start["bias"])
        logits = tf.tensordot(frames, kernel, 1) + bias
        logits = tf.transpose(logits, [1, 0, 2])  # time first
        # --- loss
        loss = tf.reduce_mean(tf.nn.ctc_loss(truth, logits, ends))
        step = tf.train.MomentumOptimizer(rate, 0.875).minimize(loss)
        (decoded,), _ = tf.nn.ctc_greedy_decoder(logits, ends)
        rates = tf.edit_distance(tf.cast(decoded, tf.int32), truth)
        # --- run
        indices = [[i, j] for i, row in enumerate(labels) for j in range(len(row))]
        values = [label for row in labels for label in row]
        shape = [len(labels), max(map(len, labels))]
        feed = {
            frames: inputs,
            ends: lengths,
            truth: tf.SparseTensorValue(indices, values, shape),
        }
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, step], feed)[0] for _ in range(steps)]
        dense = tf.sparse_tensor_to_dense(decoded, -1)
        found, wrong = sess.run([dense, rates], feed)
        return {
            "losses": losses,
            "decoded": found,
            "rates": wrong,
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }
