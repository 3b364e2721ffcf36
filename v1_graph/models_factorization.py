"""`embedding_lookup` of users and items, `l2_loss` of the rows, sparse Adam, FTRL.

Matrix factorization for ratings: Koren, Bell and Volinsky, "Matrix Factorization
Techniques for Recommender Systems", 2009. Programs for MovieLens on GitHub were written
like this from 2016 on.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

USER_NUM = 40
ITEM_NUM = 30
DIM = 8
REG = 0.05
TOP = 5
OPTIMIZERS = {"adam": tf.train.AdamOptimizer, "ftrl": tf.train.FtrlOptimizer}


def make_tables(scope, num, dtype, seed):
    """Makes the embeddings, [num, DIM], and the biases, [num], of users or of items."""
    with tf.variable_scope(scope):
        init = tf.truncated_normal_initializer(stddev=0.1, seed=seed)
        embeddings = tf.get_variable("embeddings", [num, DIM], dtype, init)
        biases = tf.get_variable("biases", [num], dtype, tf.zeros_initializer())
    return embeddings, biases


class Factorization:
    """The graph of the predicted ratings and of the penalty of the looked-up rows."""

    def __init__(self, dtype):
        self.user = tf.placeholder(tf.int32, [None], name="id_user")
        self.item = tf.placeholder(tf.int32, [None], name="id_item")
        with tf.device("/cpu:0"), tf.variable_scope("svd"):
            self.users = make_tables("user", USER_NUM, dtype, seed=1)
            self.items = make_tables("item", ITEM_NUM, dtype, seed=2)
            init = tf.zeros_initializer()
            global_bias = tf.get_variable("global_bias", [], dtype, init)
            embd_user, bias_user = [
                tf.nn.embedding_lookup(table, self.user) for table in self.users
            ]
            embd_item, bias_item = [
                tf.nn.embedding_lookup(table, self.item) for table in self.items
            ]
        infer = tf.reduce_sum(tf.multiply(embd_user, embd_item), 1)
        self.infer = infer + global_bias + bias_user + bias_item
        rows = embd_user, embd_item, bias_user, bias_item
        self.regularizer = tf.add_n([tf.nn.l2_loss(x) for x in rows])


def train(
    users,
    items,
    ratings,
    steps,
    checkpoint=None,
    folder=None,
    optimizer="adam",
    learning_rate=0.05,
):
    """Trains embeddings and biases of users and items on ratings.

    Args:
        users, items: [batches, batch] int32 arrays, the ids. The global step chooses
            the batch.
        ratings: [batches, batch] float array, 1 to 5 stars.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.
        optimizer: "adam" or "ftrl".
        learning_rate: float.

    Returns:
        dict with the `losses` and the `rmses` of the batches before each step, [steps],
        and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        svd = Factorization(ratings.dtype)
        rate = tf.placeholder(ratings.dtype, [None], name="rate")
        error = tf.subtract(svd.infer, rate)
        cost = tf.nn.l2_loss(error) + REG * svd.regularizer
        rmse = tf.sqrt(tf.reduce_mean(tf.square(error)))
        global_step = tf.train.get_or_create_global_step()
        optimizer = OPTIMIZERS[optimizer](learning_rate)
        train_op = optimizer.minimize(cost, global_step=global_step)
        merged = tf.summary.scalar("training_error", rmse)
        saver = tf.train.Saver(max_to_keep=1)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        # --- run
        rows, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            i = step % len(users)
            feed = {svd.user: users[i], svd.item: items[i], rate: ratings[i]}
            _, summary, *row = sess.run([train_op, merged, cost, rmse], feed)
            rows.append(row)
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        losses, rmses = np.reshape(rows, [-1, 2]).T
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": losses, "rmses": rmses, "variables": variables}


def evaluate(users, items, ratings, checkpoint):
    """Predicts ratings, clipped to 1 to 5 stars, and computes their errors.

    Args:
        users, items: [n] int32 arrays, the ids.
        ratings: [n] float array.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `predictions`, [n], their `rmse`, and the mean absolute error,
        `mae`.

    Raises:
        tf.errors.InvalidArgumentError: an id is unknown.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        svd = Factorization(ratings.dtype)
        rate = tf.placeholder(ratings.dtype, [None], name="rate")
        predictions = tf.clip_by_value(svd.infer, 1.0, 5.0)
        error = predictions - rate
        fetches = {
            "predictions": predictions,
            "rmse": tf.sqrt(tf.reduce_mean(tf.square(error))),
            "mae": tf.reduce_mean(tf.abs(error)),
        }
        # --- run
        tf.train.Saver().restore(sess, checkpoint)
        feed = {svd.user: users, svd.item: items, rate: ratings}
        return sess.run(fetches, feed)


def export(users, checkpoint, folder):
    """Exports the recommendation of the best items, and asks the export.

    Args:
        users: [n] int32 array, the ids.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the ids of the best `items`, int32, best first, and their `scores`,
        both [n, 5]: the predictions without the biases that all items share.
    """
    dtypes = tf.train.NewCheckpointReader(checkpoint).get_variable_to_dtype_map()
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        svd = Factorization(dtypes["svd/global_bias"])
        embd_item, bias_item = svd.items
        embd_user = tf.nn.embedding_lookup(svd.users[0], svd.user)
        scores = tf.matmul(embd_user, embd_item, transpose_b=True) + bias_item
        scores, best = tf.nn.top_k(scores, TOP)
        tf.train.Saver().restore(sess, checkpoint)
        inputs, outputs = {"users": svd.user}, {"items": best, "scores": scores}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["users"].name: users})
