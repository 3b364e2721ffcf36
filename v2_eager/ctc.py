"""`tf.nn.ctc_loss`, its decoders, `K.ctc_batch_cost` → `ctc_loss(blank_index=-1)`."""

import tensorflow as tf

from v2_eager.numerics import optimizers
from v2_eager.numerics.restore import named

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

    Raises:
        tf.errors.InvalidArgumentError: more labels than steps, a label below 0, or a
            label that is not a class. The last label of a row is not checked.
    """
    sparse = tf.SparseTensor(*labels)
    # Sparse labels need no lengths: None. A blank_index of -1 is the last class.
    return tf.nn.ctc_loss(sparse, logits, None, lengths, blank_index=-1)


def ctc_loss_of_dense(labels, label_lengths, logits, lengths):
    """Computes the CTC loss of labels in a padded matrix.

    Raises:
        See `ctc_loss`.
    """
    # A matrix is accepted, too, but runs another algorithm, which checks nothing.
    sparse = tf.RaggedTensor.from_tensor(labels, lengths=label_lengths).to_sparse()
    return tf.nn.ctc_loss(sparse, logits, None, lengths, blank_index=-1)


def ctc_loss_with_options(
    labels,
    logits,
    lengths,
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
):
    """Computes CTC loss with `preprocess_collapse_repeated`, `ctc_merge_repeated`."""
    indices, values, _ = labels
    # No public function has these options; tf.nn.ctc_loss calls this op, too.
    return tf.raw_ops.CTCLoss(
        inputs=logits,
        labels_indices=indices,
        labels_values=values,
        sequence_length=lengths,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    ).loss


def greedy_decode(logits, lengths, merge_repeated=True):
    """Decodes CTC greedily: takes each step's most probable class, removes blanks."""
    (decoded,), scores = tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated)
    return tf.sparse.to_dense(decoded, -1), scores


def beam_decode(logits, lengths, beam_width=100, merge_repeated=True):
    """Decodes CTC by beam search: the most probable labels over all alignments."""
    (decoded,), scores = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width)
    found = tf.sparse.to_dense(decoded, -1)
    return (without_repeats(found) if merge_repeated else found), scores


def without_repeats(ids):
    """Removes labels that repeat the previous label of their row; pads with -1.

    Args:
        ids: [batch, time] int tensor, -1 past the end.
    """
    before = tf.pad(ids[:, :-1], [[0, 0], [1, 0]], constant_values=-1)
    return tf.ragged.boolean_mask(ids, (ids != before) & (ids >= 0)).to_tensor(-1)


def logits_of(probabilities):
    """Turns [batch, time, classes] probabilities into [time, batch, classes] logits."""
    return tf.math.log(tf.transpose(probabilities, [1, 0, 2]) + 1e-7)


def keras_cost(labels, probabilities, lengths, label_lengths):
    """Computes the CTC loss of softmax probabilities, as `K.ctc_batch_cost` does."""
    logits = logits_of(probabilities)
    # A model's inputs are floats or int64; `keras.backend` cast all of them.
    labels, ends, counts = (
        tf.cast(x, tf.int32) for x in (labels, lengths[:, 0], label_lengths[:, 0])
    )
    return ctc_loss_of_dense(labels, counts, logits, ends)[:, tf.newaxis]


def keras_decode(probabilities, lengths, greedy=True, beam_width=100, top_paths=1):
    """Decodes softmax probabilities, greedily or by beam search: `K.ctc_decode`."""
    logits, lengths = logits_of(probabilities), tf.cast(lengths, tf.int32)
    if greedy:
        found, scores = tf.nn.ctc_greedy_decoder(logits, lengths)
        return [tf.sparse.to_dense(ids, -1) for ids in found], scores
    found, scores = tf.nn.ctc_beam_search_decoder(
        logits, lengths, beam_width, top_paths
    )
    return [without_repeats(tf.sparse.to_dense(ids, -1)) for ids in found], scores


def label_error_rates(labels, logits, lengths):
    """Computes label error rates: edit distance of decoded labels / true length."""
    (decoded,), _ = tf.nn.ctc_greedy_decoder(logits, lengths)
    truth = tf.SparseTensor(*labels)
    rates = tf.edit_distance(tf.cast(decoded, tf.int32), truth)
    return rates, tf.reduce_mean(rates)


def train_recognizer(inputs, lengths, labels, start, steps, rate=0.25):
    """Trains a linear layer on frames with the CTC loss and Momentum."""
    # --- build
    model = Recognizer(start)
    optimizer = optimizers.Momentum(rate, 0.875).create_slots(model.variables)
    inputs, ends = tf.constant(inputs), tf.constant(lengths, tf.int32)
    truth = tf.ragged.constant(labels, tf.int32).to_sparse()

    # --- loss
    @tf.function
    def step(inputs, ends, truth):
        def loss():
            logits = model(inputs)
            losses = tf.nn.ctc_loss(truth, logits, None, ends, blank_index=-1)
            return tf.reduce_mean(losses)

        return optimizer.minimize(loss, model.variables)

    @tf.function
    def evaluate(inputs, ends, truth):
        (decoded,), _ = tf.nn.ctc_greedy_decoder(model(inputs), ends)
        rates = tf.edit_distance(tf.cast(decoded, tf.int32), truth)
        return tf.sparse.to_dense(decoded, -1), rates

    # --- run
    losses = [step(inputs, ends, truth).numpy() for _ in range(steps)]
    found, rates = evaluate(inputs, ends, truth)
    kept = {**named(model), **named(optimizer)}
    return {
        "losses": losses,
        "decoded": found.numpy(),
        "rates": rates.numpy(),
        "variables": {name: v.numpy() for name, v in kept.items()},
    }


class Recognizer(tf.Module):
    """A linear layer from frames to the logits of the CTC loss.

    A call takes [batch, time, depth] floats and returns [time, batch, classes].

    Args:
        start: {"kernel": [depth, classes] array, "bias": [classes] array}.
    """

    def __init__(self, start):
        super().__init__()
        self.kernel, self.bias = (
            tf.Variable(start[name], name=name) for name in ("kernel", "bias")
        )

    def __call__(self, inputs):
        logits = tf.tensordot(inputs, self.kernel, 1) + self.bias
        return tf.transpose(logits, [1, 0, 2])  # time first
