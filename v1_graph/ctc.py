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
    """Gives the negative logarithm of the probability of labels without alignment.

    Args:
        labels: (indices [n, 2] int64, values [n] int32, shape [2] int64) of a sparse
            tensor, [batch, labels]; no value is the last class, which is the blank.
        logits: [time, batch, classes] float tensor.
        lengths: [batch] int32 tensor, of the logits.

    Returns:
        [batch] tensor.

    Raises:
        tf.errors.InvalidArgumentError: more labels than time to say them, or a label
            that is no class.
    """
    return tf.nn.ctc_loss(tf.SparseTensor(*labels), logits, lengths)


def ctc_loss_of_dense(labels, label_lengths, logits, lengths):
    """As `ctc_loss`, of labels in a matrix.

    Args:
        labels: [batch, labels] int32 tensor; no label is the last class.
        label_lengths: [batch] int32 tensor: how many of a row are labels.
        logits, lengths: as of `ctc_loss`.

    Returns:
        [batch] tensor.
    """
    # tf.nn.ctc_loss takes sparse labels alone.
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
    """As `ctc_loss`, with its other options.

    Args:
        labels, logits, lengths: as of `ctc_loss`.
        preprocess_collapse_repeated: whether repeated labels are one.
        ctc_merge_repeated: whether repeated classes without a blank between are one.
        ignore_longer_outputs_than_inputs: whether a row with more labels than time is
            passed over, with a loss of 0, and is no error.

    Returns:
        [batch] tensor.

    Raises:
        As `ctc_loss`.
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
    """Takes the most probable class of every step, without blanks.

    Args:
        logits: [time, batch, classes] float tensor; the last class is the blank.
        lengths: [batch] int32 tensor.
        merge_repeated: whether repeated classes are one.

    Returns:
        ([batch, longest] int64 tensor, -1 past the end; [batch, 1] tensor, minus the
        sum of the logits that were taken).
    """
    (decoded,), scores = tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated)
    return tf.sparse_tensor_to_dense(decoded, -1), scores


def beam_decode(logits, lengths, beam_width=100, merge_repeated=True):
    """Takes the most probable labels, over all alignments, by a beam search.

    Args:
        logits: [time, batch, classes] float tensor; the last class is the blank.
        lengths: [batch] int32 tensor.
        beam_width: how many beginnings are kept.
        merge_repeated: whether repeated labels of the result are one, too: "hello" is
            "helo" then.

    Returns:
        ([batch, longest] int64 tensor, -1 past the end; [batch, 1] tensor, the
        logarithm of the probability).
    """
    (decoded,), scores = tf.nn.ctc_beam_search_decoder(
        logits, lengths, beam_width, merge_repeated=merge_repeated
    )
    return tf.sparse_tensor_to_dense(decoded, -1), scores


def keras_cost(labels, probabilities, lengths, label_lengths):
    """`K.ctc_batch_cost`: the loss of what a softmax gave.

    Args:
        labels: [batch, labels] tensor of whole numbers of any dtype; no label is the
            last class.
        probabilities: [batch, time, classes] float tensor; the last class is the blank.
        lengths: [batch, 1] tensor of any dtype, of the probabilities.
        label_lengths: [batch, 1] tensor of any dtype: how many of a row are labels.

    Returns:
        [batch, 1] tensor.
    """
    K = tf.keras.backend
    return K.ctc_batch_cost(labels, probabilities, lengths, label_lengths)


def keras_decode(probabilities, lengths, greedy=True, beam_width=100, top_paths=1):
    """`K.ctc_decode`: the labels of a softmax, greedily or by a beam search.

    Args:
        probabilities: [batch, time, classes] float tensor; the last class is the blank.
        lengths: [batch] tensor of any dtype.
        greedy: whether to take the most probable class of every step.
        beam_width: how many beginnings are kept otherwise.
        top_paths: number of label sequences to return then.

    Returns:
        (list of [batch, longest] int64 tensors, -1 past the end; [batch, top_paths]
        tensor: minus the sum of the logarithms if greedy, else the logarithm of the
        probability).
    """
    K = tf.keras.backend
    return K.ctc_decode(probabilities, lengths, greedy, beam_width, top_paths)


def label_error_rates(labels, logits, lengths):
    """Counts what must be changed in the decoded labels, by the number of the right.

    Args:
        labels, logits, lengths: as of `ctc_loss`.

    Returns:
        ([batch] float32 tensor, inf of a row without labels in which some were found;
        their mean).
    """
    (decoded,), _ = tf.nn.ctc_greedy_decoder(logits, lengths)
    truth = tf.SparseTensor(*labels)
    rates = tf.edit_distance(tf.cast(decoded, tf.int32), truth)
    return rates, tf.reduce_mean(rates)


def train_recognizer(inputs, lengths, labels, start, steps, rate=0.25):
    """Trains a layer that reads frames, by the CTC loss and Momentum.

    Args:
        inputs: [batch, time, depth] float array.
        lengths: [batch] int32 array.
        labels: list of lists of ints, the labels of each row.
        start: {"kernel": [depth, classes] array, "bias": [classes] array} of the dtype
            of the inputs; the last class is the blank.
        steps: how many steps to take, all on the same rows.
        rate: learning rate; the momentum is 0.875.

    Returns:
        dict with the `losses` before every step, and of the end the `decoded` labels,
        [batch, longest] int64, -1 past the end, the `rates` of wrong labels, [batch]
        float32, and the `variables` by name.
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
