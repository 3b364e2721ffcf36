"""BiLSTM-CRF tagger: `bidirectional_dynamic_rnn`, `crf_log_likelihood`, `crf_decode`.

Huang, Xu and Yu (2015) and Lample et al. (2016) tagged named entities in this way; this
is the program of its many versions of 2017 to 2019, with word vectors such as GloVe's.
"""

import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

HIDDEN_SIZE, NUM_TAGS = 6, 5
KEEP_PROB, CLIP, LEARNING_RATE = 0.75, 1.0, 0.02


class Model:
    """The graph: word vectors, a bidirectional LSTM, a projection, a CRF and its loss.

    Args:
        embeddings: [words, depth] float array, the first values of the word vectors.
    """

    def __init__(self, embeddings):
        self.word_ids = tf.placeholder(tf.int32, [None, None], "word_ids")
        self.labels = tf.placeholder(tf.int32, [None, None], "labels")
        self.sequence_lengths = tf.placeholder(tf.int32, [None], "sequence_lengths")
        self.batch = self.word_ids, self.labels, self.sequence_lengths
        ones = np.ones([], embeddings.dtype)
        self.dropout = tf.placeholder_with_default(ones, [], "dropout")
        tf.get_variable_scope().set_initializer(tf.glorot_uniform_initializer(seed=1))
        self.add_logits(embeddings)
        self.add_loss()
        self.tags, self.scores = tensorflow.contrib.crf.crf_decode(
            self.logits, self.transitions, self.sequence_lengths
        )
        mask = tf.sequence_mask(self.sequence_lengths, tf.shape(self.labels)[1])
        correct = tf.boolean_mask(tf.equal(self.tags, self.labels), mask)
        self.accuracy = tf.reduce_mean(tf.cast(correct, embeddings.dtype))

    def add_logits(self, embeddings):
        dtype = tf.as_dtype(embeddings.dtype)
        with tf.variable_scope("words"):
            table = tf.Variable(embeddings, name="_word_embeddings")
            vectors = tf.nn.embedding_lookup(table, self.word_ids)
            vectors = tf.nn.dropout(vectors, self.dropout, seed=4)
        with tf.variable_scope("bi-lstm"):
            cells = [tensorflow.contrib.rnn.LSTMCell(HIDDEN_SIZE) for _ in range(2)]
            outputs, _ = tf.nn.bidirectional_dynamic_rnn(
                *cells, vectors, sequence_length=self.sequence_lengths, dtype=dtype
            )
            output = tf.concat(outputs, axis=-1)
            output = tf.nn.dropout(output, self.dropout, seed=5)
        with tf.variable_scope("proj"):
            w = tf.get_variable("W", [2 * HIDDEN_SIZE, NUM_TAGS], dtype)
            b = tf.get_variable("b", [NUM_TAGS], dtype, tf.zeros_initializer())
        flat = tf.matmul(tf.reshape(output, [-1, 2 * HIDDEN_SIZE]), w) + b
        self.logits = tf.reshape(flat, [-1, tf.shape(output)[1], NUM_TAGS])

    def add_loss(self):
        log_likelihood, self.transitions = tensorflow.contrib.crf.crf_log_likelihood(
            self.logits, self.labels, self.sequence_lengths
        )
        self.loss = tf.reduce_mean(-log_likelihood)


def batch_of(step, words, tags, lengths):
    """Returns the batch of a step, cut at the end of its longest sentence."""
    i = step % len(lengths)
    time = lengths[i].max()
    return words[i, :, :time], tags[i, :, :time], lengths[i]


def train(words, tags, lengths, embeddings, steps, checkpoint=None, folder=None):
    """Trains the tagger with Adam and clipped gradients, on batches of any length.

    Args:
        words: [batches, batch, time] int32 array of word ids, padded with any id. The
            global step chooses the batch.
        tags: [batches, batch, time] int32 array of tags below 5, padded with any tag.
        lengths: [batches, batch] int32 array, the lengths of the sentences.
        embeddings: [vocabulary size, depth] float32 array, the first word vectors.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses`, [steps], each before its step, and the final `variables`
        by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        model = Model(embeddings)
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
        grads, variables = zip(*optimizer.compute_gradients(model.loss))
        grads, _ = tf.clip_by_global_norm(grads, CLIP)
        # Nothing else orders the scores of the loss before the update of their weights.
        with tf.control_dependencies([model.loss]):
            train_op = optimizer.apply_gradients(zip(grads, variables), global_step)
        tf.summary.scalar("loss", model.loss)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=3)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            feed = dict(zip(model.batch, batch_of(step, words, tags, lengths)))
            feed[model.dropout] = KEEP_PROB
            _, loss, summary = sess.run([train_op, model.loss, merged], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def restored(sess, checkpoint):
    """Builds the model, and restores the weights."""
    model = Model(tf.train.load_variable(checkpoint, "words/_word_embeddings"))
    tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
    return model


def evaluate(words, tags, lengths, checkpoint):
    """Tags sentences, and computes the accuracy of the tags within the lengths.

    Args:
        words: [n, time] int32 array, see `train`.
        tags: [n, time] int32 array, the tags of the words.
        lengths: [n] int32 array.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `loss`, the `accuracy`, and the decoded `tags`, [n, time] int32, 0
        past the end of a sentence.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        model = restored(sess, checkpoint)
        # --- run
        fetches = {"loss": model.loss, "accuracy": model.accuracy, "tags": model.tags}
        return sess.run(fetches, dict(zip(model.batch, (words, tags, lengths))))


def export(words, lengths, checkpoint, folder):
    """Exports the tagger as a SavedModel, loads it, and tags sentences.

    Args:
        words, lengths: see `evaluate`.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `tags`, [n, time] int32, and the `scores` of these sequences, [n].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        model = restored(sess, checkpoint)
        inputs = {"word_ids": model.word_ids, "lengths": model.sequence_lengths}
        outputs = {"tags": model.tags, "scores": model.scores}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- serve
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        given = signature.inputs["word_ids"].name, signature.inputs["lengths"].name
        feed = dict(zip(given, (words, lengths)))
        return sess.run({k: t.name for k, t in signature.outputs.items()}, feed)
