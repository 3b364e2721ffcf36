"""`nce_loss`, `sampled_softmax_loss`, sparse gradients, nearest words: word2vec.

The program is word2vec_basic.py of TensorFlow's tutorial (2015): the skip-gram model of
Mikolov et al. (2013), with the options and the analogies of the tutorial's word2vec.py.
"""

import math
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore

__all__ = ["train", "evaluate", "export"]

VOCABULARY_SIZE, EMBEDDING_SIZE, NUM_SAMPLED = 50, 8, 16
SHAPE = [VOCABULARY_SIZE, EMBEDDING_SIZE]
LOSSES = {"nce": tf.nn.nce_loss, "sampled_softmax": tf.nn.sampled_softmax_loss}
OPTIMIZERS = {"sgd": optimizers.GradientDescent, "adagrad": optimizers.Adagrad}


def normalize(embeddings):
    """Divides each word vector by its length."""
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    return embeddings / norm


class Word2Vec(tf.Module):
    """Word vectors, the weights of their loss, the optimizer and the global step.

    Args:
        rate: scalar float array, the learning rate; the variables have its dtype.
        loss, optimizer: keys of `LOSSES` and of `OPTIMIZERS`.
    """

    def __init__(self, rate, loss, optimizer):
        super().__init__()
        draws = tf.random.uniform(SHAPE, -1.0, 1.0, rate.dtype, seed=1)
        self.embeddings = tf.Variable(draws, name="embeddings/Variable")
        stddev = 1.0 / math.sqrt(EMBEDDING_SIZE)
        draws = tf.random.truncated_normal(SHAPE, 0.0, stddev, rate.dtype, seed=2)
        self.nce_weights = tf.Variable(draws, name="weights/Variable")
        zeros = tf.zeros([VOCABULARY_SIZE], rate.dtype)
        self.nce_biases = tf.Variable(zeros, name="biases/Variable")
        self.sampled_loss = LOSSES[loss]
        self.optimizer = OPTIMIZERS[optimizer](rate)
        self.optimizer.create_slots(self.trainable_variables)
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )

    def loss(self, words, contexts):
        """Computes the mean loss against negative words, drawn once for a batch."""
        embed = tf.nn.embedding_lookup(self.embeddings, words)
        # nce_loss has no argument for a seed, so the candidates are drawn here.
        candidates, *expected = tf.random.log_uniform_candidate_sampler(
            contexts, 1, NUM_SAMPLED, True, VOCABULARY_SIZE, seed=3
        )
        expected = [tf.cast(counts, embed.dtype) for counts in expected]
        losses = self.sampled_loss(
            self.nce_weights,
            self.nce_biases,
            contexts,
            embed,
            NUM_SAMPLED,
            VOCABULARY_SIZE,
            sampled_values=(candidates, *expected),
        )
        return tf.reduce_mean(losses)

    @tf.function
    def step(self, words, contexts):
        """Takes one step and returns the loss before it."""
        # The gradients of lookups are sparse: other rows and their slots do not change.
        return self.optimizer.minimize(
            lambda: self.loss(words, contexts),
            self.trainable_variables,
            self.global_step,
        )


def train(
    words,
    contexts,
    rate,
    steps,
    checkpoint=None,
    folder=None,
    loss="nce",
    optimizer="sgd",
):
    """Trains word vectors to separate the context of a word from drawn words."""
    # --- build
    tf.random.set_seed(7)
    model = Word2Vec(rate, loss, optimizer)
    variables = restore.named(model)
    # --- restore
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    # --- run
    words, contexts = tf.constant(words), tf.constant(contexts)
    make_writer = tf.summary.create_file_writer
    writer = make_writer(folder) if folder else tf.summary.create_noop_writer()
    losses, first = [], int(model.global_step)
    with writer.as_default():
        for step in range(first, first + steps):
            batch = step % len(words)
            losses.append(model.step(words[batch], contexts[batch]).numpy())
            tf.summary.scalar("loss", losses[-1], step)
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


@tf.function
def search(embeddings, valid, analogies):
    """Computes what `evaluate` returns, from the table of word vectors."""
    # --- nearest
    normalized = normalize(embeddings)
    similarity = tf.matmul(tf.gather(normalized, valid), normalized, transpose_b=True)
    nearest = tf.math.top_k(similarity, 9).indices  # the first is the word
    # --- analogies
    a, b, c = tf.unstack(tf.gather(normalized, analogies), axis=1)
    scores = tf.matmul(c + (b - a), normalized, transpose_b=True)
    answers = tf.math.top_k(scores, 4).indices
    return {"similarity": similarity, "nearest": nearest[:, 1:], "answers": answers}


def evaluate(valid, analogies, checkpoint):
    """Finds the nearest words of words, and answers analogies."""
    # --- run
    table = tf.train.load_variable(checkpoint, "embeddings/Variable")
    found = search(*map(tf.constant, (table, valid, analogies)))
    return {key: value.numpy() for key, value in found.items()}


class Lookup(tf.Module):
    """A lookup of normalized word vectors, for an export.

    Args:
        embeddings: [vocabulary size, embedding size] float array, the word vectors.
    """

    def __init__(self, embeddings):
        super().__init__()
        self.embeddings = tf.Variable(embeddings, name="embeddings/Variable")

    @tf.function
    def __call__(self, ids):
        return {"vectors": tf.gather(normalize(self.embeddings), ids)}


def export(ids, checkpoint, folder):
    """Exports the lookup of normalized word vectors, and asks the export."""
    # --- save
    lookup = Lookup(tf.train.load_variable(checkpoint, "embeddings/Variable"))
    spec = tf.TensorSpec([None], ids.dtype, "ids")
    served = lookup.__call__.get_concrete_function(spec)
    tf.saved_model.save(lookup, folder, signatures={"serving_default": served})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {"vectors": signature(ids=tf.constant(ids))["vectors"].numpy()}
