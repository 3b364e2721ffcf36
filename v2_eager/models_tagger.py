"""BiLSTM-CRF tagger: `bidirectional_dynamic_rnn`, `crf_log_likelihood`, `crf_decode`.

Huang, Xu and Yu (2015) and Lample et al. (2016) tagged named entities in this way; this
is the program of its many versions of 2017 to 2019, for TensorFlow 2.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.crf import crf_decode, crf_log_likelihood
from v2_eager.numerics import initializers, optimizers, restore, rnn

__all__ = ["train", "evaluate", "export"]

HIDDEN_SIZE, NUM_TAGS = 6, 5
KEEP_PROB, CLIP, LEARNING_RATE = 0.75, 1.0, 0.02
IDS, LENGTHS = tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)


class Tagger(tf.Module):
    """Word vectors, a bidirectional LSTM, a projection, and the transitions of a CRF.

    A call takes word ids, [batch, time] ints, and lengths, [batch] ints. It returns the
    scores of the tags, [batch, time, 5].

    Args:
        embeddings: [words, depth] float array, the first values of the word vectors.
    """

    def __init__(self, embeddings):
        super().__init__()
        dtype, draw = embeddings.dtype, initializers.glorot_uniform(seed=1)
        self.table = tf.Variable(embeddings, name="words/_word_embeddings")
        scopes = [f"bi-lstm/bidirectional_rnn/{way}/lstm_cell" for way in ("fw", "bw")]
        self.cells = [
            rnn.LSTMCell(HIDDEN_SIZE, name=scope, initializer=draw) for scope in scopes
        ]
        for cell in self.cells:
            cell.build(embeddings.shape[1], dtype)
        of_cells = [v for cell in self.cells for v in (cell.kernel, cell.bias)]
        self.w = tf.Variable(draw([2 * HIDDEN_SIZE, NUM_TAGS], dtype), name="proj/W")
        self.b = tf.Variable(tf.zeros([NUM_TAGS], dtype), name="proj/b")
        transitions = draw([NUM_TAGS, NUM_TAGS], dtype)
        self.transitions = tf.Variable(transitions, name="transitions")
        # In the order of creation, in which v1 summed the norms of the gradients.
        self.ordered = [self.table, *of_cells, self.w, self.b, self.transitions]

    def __call__(self, words, lengths, training=False):
        vectors = tf.gather(self.table, words)
        if training:
            vectors = tf.nn.dropout(vectors, 1 - KEEP_PROB, seed=4)
        outputs, _ = rnn.unroll_both_ways(*self.cells, vectors, lengths)
        output = tf.concat(outputs, axis=-1)
        if training:
            output = tf.nn.dropout(output, 1 - KEEP_PROB, seed=5)
        flat = tf.matmul(tf.reshape(output, [-1, 2 * HIDDEN_SIZE]), self.w) + self.b
        return tf.reshape(flat, [-1, tf.shape(words)[1], NUM_TAGS])

    def loss(self, logits, tags, lengths):
        """Returns the mean negative log-likelihood of the sentences' tags."""
        transitions = tf.convert_to_tensor(self.transitions)
        log_likelihood, _ = crf_log_likelihood(logits, tags, lengths, transitions)
        return tf.reduce_mean(-log_likelihood)

    @tf.function(input_signature=[IDS, IDS, LENGTHS])
    def measure(self, words, tags, lengths):
        """Returns the loss, the accuracy within the lengths, and the decoded tags."""
        logits = self(words, lengths)
        decoded, _ = crf_decode(logits, self.transitions, lengths)
        mask = tf.sequence_mask(lengths, tf.shape(tags)[1])
        correct = tf.cast(tf.boolean_mask(decoded == tags, mask), logits.dtype)
        return {
            "loss": self.loss(logits, tags, lengths),
            "accuracy": tf.reduce_mean(correct),
            "tags": decoded,
        }

    @tf.function(input_signature=[IDS, LENGTHS])
    def decode(self, word_ids, lengths):
        """Returns the best tags of sentences, and their scores."""
        logits = self(word_ids, lengths)
        tags, scores = crf_decode(logits, self.transitions, lengths)
        return {"tags": tags, "scores": scores}


class Trainer(tf.Module):
    """A tagger, its Adam and the global step: all variables of the checkpoint.

    Args:
        embeddings: see `Tagger`.
    """

    def __init__(self, embeddings):
        super().__init__()
        self.tagger = Tagger(embeddings)
        self.adam = optimizers.Adam(LEARNING_RATE).create_slots(self.tagger.ordered)
        self.global_step = tf.Variable(np.int64(0), False, name="global_step")

    # One trace for all lengths: a second one would draw its dropout from the start.
    @tf.function(input_signature=[IDS, IDS, LENGTHS])
    def step(self, words, tags, lengths):
        """Takes one step with clipped gradients; returns the loss before it."""
        variables = self.tagger.ordered
        with tf.GradientTape() as tape:
            logits = self.tagger(words, lengths, training=True)
            loss = self.tagger.loss(logits, tags, lengths)
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), CLIP)
        self.adam.apply_gradients(zip(grads, variables), self.global_step)
        return loss


def batch_of(step, words, tags, lengths):
    """Returns the batch of a step, cut at the end of its longest sentence."""
    i = step % len(lengths)
    time = lengths[i].max()
    return words[i, :, :time], tags[i, :, :time], lengths[i]


def train(words, tags, lengths, embeddings, steps, checkpoint=None, folder=None):
    """Trains the tagger with Adam and clipped gradients, on batches of any length."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(embeddings)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        losses.append(trainer.step(*batch_of(step, words, tags, lengths)).numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(checkpoint):
    """Returns the tagger with the weights of a checkpoint."""
    tagger = Tagger(tf.train.load_variable(checkpoint, "words/_word_embeddings"))
    restore.by_name(checkpoint, restore.named(tagger))
    return tagger


def evaluate(words, tags, lengths, checkpoint):
    """Tags sentences, and computes the accuracy of the tags within the lengths."""
    # --- build
    tagger = restored(checkpoint)
    # --- run
    found = tagger.measure(words, tags, lengths)
    return {name: value.numpy() for name, value in found.items()}


def export(words, lengths, checkpoint, folder):
    """Exports the tagger as a SavedModel, loads it, and tags sentences."""
    # --- save
    tagger = restored(checkpoint)
    signatures = {"serving_default": tagger.decode}
    tf.saved_model.save(tagger, folder, signatures=signatures)
    # --- serve
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(word_ids=tf.constant(words), lengths=tf.constant(lengths))
    return {name: value.numpy() for name, value in answer.items()}
