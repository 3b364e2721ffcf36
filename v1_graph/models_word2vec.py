"""`nce_loss`, `sampled_softmax_loss`, sparse gradients, nearest words: word2vec.

The program is word2vec_basic.py of TensorFlow's tutorial (2015): the skip-gram model of
Mikolov et al. (2013), with the options and the analogies of the tutorial's word2vec.py.
"""

import math
import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

VOCABULARY_SIZE, EMBEDDING_SIZE, NUM_SAMPLED = 50, 8, 16
SHAPE = [VOCABULARY_SIZE, EMBEDDING_SIZE]
LOSSES = {"nce": tf.nn.nce_loss, "sampled_softmax": tf.nn.sampled_softmax_loss}
OPTIMIZERS = {
    "sgd": tf.train.GradientDescentOptimizer,
    "adagrad": tf.train.AdagradOptimizer,
}


def make_embeddings(dtype):
    """Makes the table of word vectors, `embeddings/Variable` in a checkpoint."""
    with tf.name_scope("embeddings"):
        return tf.Variable(tf.random_uniform(SHAPE, -1.0, 1.0, dtype, seed=1))


def normalize(embeddings):
    """Divides each word vector by its length."""
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    return embeddings / norm


def sampled_loss(kind, embed, train_labels):
    """Computes the mean loss against negative words, drawn once for a batch."""
    with tf.name_scope("weights"):
        stddev = 1.0 / math.sqrt(EMBEDDING_SIZE)
        draws = tf.truncated_normal(SHAPE, 0.0, stddev, embed.dtype, seed=2)
        nce_weights = tf.Variable(draws)
    with tf.name_scope("biases"):
        nce_biases = tf.Variable(tf.zeros([VOCABULARY_SIZE], embed.dtype))
    # nce_loss has no argument for a seed, so the candidates are drawn here.
    candidates, *expected = tf.nn.log_uniform_candidate_sampler(
        train_labels, 1, NUM_SAMPLED, True, VOCABULARY_SIZE, seed=3
    )
    expected = [tf.cast(counts, embed.dtype) for counts in expected]
    losses = LOSSES[kind](
        weights=nce_weights,
        biases=nce_biases,
        labels=train_labels,
        inputs=embed,
        num_sampled=NUM_SAMPLED,
        num_classes=VOCABULARY_SIZE,
        sampled_values=(candidates, *expected),
    )
    return tf.reduce_mean(losses)


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
    """Trains word vectors to separate the context of a word from drawn words.

    Args:
        words: [batches, batch] int array: ids of words, sorted by decreasing frequency.
        contexts: [batches, batch, 1] int64 array: id of a neighbour of each word.
        rate: scalar float array, the learning rate; the variables have its dtype.
        steps: number of steps; a step takes the batch `global_step % batches`.
        checkpoint: path of a checkpoint to go on from, or None to initialize.
        folder: where to write `model.ckpt` and the summaries, or None.
        loss: "nce" or "sampled_softmax".
        optimizer: "sgd" or "adagrad".

    Returns:
        dict with the `losses` [steps] before each step, the means over the batch, and
        the final `variables` by name.

    Raises:
        tf.errors.NotFoundError: the checkpoint does not contain a variable or slot.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        train_inputs = tf.placeholder(words.dtype, [None])
        train_labels = tf.placeholder(tf.int64, [None, 1])
        with tf.device("/cpu:0"):  # there were no GPU kernels of some of these ops
            embeddings = make_embeddings(rate.dtype)
            embed = tf.nn.embedding_lookup(embeddings, train_inputs)
            mean_loss = sampled_loss(loss, embed, train_labels)
        global_step = tf.train.get_or_create_global_step()
        with tf.name_scope("optimizer"):
            train_op = OPTIMIZERS[optimizer](rate).minimize(mean_loss, global_step)
        merged = tf.summary.scalar("loss", mean_loss)
        saver = tf.train.Saver()
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        # --- run
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            batch = step % len(words)
            feed = {train_inputs: words[batch], train_labels: contexts[batch]}
            _, summary, value = sess.run([train_op, merged, mean_loss], feed)
            losses.append(value)
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
            writer.close()
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(valid, analogies, checkpoint):
    """Finds the nearest words of words, and answers analogies.

    Args:
        valid: [n] int array, ids of words.
        analogies: [m, 3] int array of ids (a, b, c): a is to b as c is to the answer.
        checkpoint: path of a checkpoint.

    Returns:
        dict with the cosine `similarity` [n, vocabulary size], the `nearest` [n, 8]
        other words and the best `answers` [m, 4], both int32 ids, best first.
    """
    dtypes = tf.train.NewCheckpointReader(checkpoint).get_variable_to_dtype_map()
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- nearest
        embeddings = make_embeddings(dtypes["embeddings/Variable"])
        normalized = normalize(embeddings)
        valid_embeddings = tf.gather(normalized, valid)
        similarity = tf.matmul(valid_embeddings, normalized, transpose_b=True)
        _, nearest = tf.nn.top_k(similarity, 9)  # the first is the word
        # --- analogies
        a, b, c = [tf.gather(normalized, analogies[:, i]) for i in range(3)]
        scores = tf.matmul(c + (b - a), normalized, transpose_b=True)
        _, answers = tf.nn.top_k(scores, 4)
        # --- run
        tf.train.Saver().restore(sess, checkpoint)
        found = {"similarity": similarity, "nearest": nearest[:, 1:]}
        return sess.run({**found, "answers": answers})


def export(ids, checkpoint, folder):
    """Exports the lookup of normalized word vectors, and asks the export.

    Args:
        ids: [n] int array, ids of words.
        checkpoint: path of a checkpoint.
        folder: an empty folder for the SavedModel.

    Returns:
        dict with the `vectors` [n, embedding size].
    """
    dtypes = tf.train.NewCheckpointReader(checkpoint).get_variable_to_dtype_map()
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = tf.placeholder(ids.dtype, [None], name="ids")
        normalized = normalize(make_embeddings(dtypes["embeddings/Variable"]))
        vectors = tf.nn.embedding_lookup(normalized, inputs)
        tf.train.Saver().restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, {"ids": inputs}, {"vectors": vectors})
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        outputs = {key: info.name for key, info in signature.outputs.items()}
        return sess.run(outputs, {signature.inputs["ids"].name: ids})
