"""`embedding_lookup` of users and items, `l2_loss` of the rows, sparse Adam, FTRL.

Matrix factorization for ratings: Koren, Bell and Volinsky, "Matrix Factorization
Techniques for Recommender Systems", 2009. The lookups stay, because their gradients are
sparse.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

USER_NUM = 40
ITEM_NUM = 30
DIM = 8
REG = 0.05
TOP = 5
OPTIMIZERS = {"adam": optimizers.Adam, "ftrl": optimizers.Ftrl}


class Tables(tf.Module):
    """The embeddings, [num, DIM], and the biases, [num], of users or of items.

    A call looks up both for [n] ids.

    Args:
        scope: prefix of the names in checkpoints.
        num: number of users or items.
        dtype: float dtype of the variables.
        seed: seed of the initial embeddings.
    """

    def __init__(self, scope, num, dtype, seed):
        super().__init__()
        init = initializers.truncated_normal(stddev=0.1, seed=seed)([num, DIM], dtype)
        self.embeddings = tf.Variable(init, name=f"{scope}/embeddings")
        self.biases = tf.Variable(tf.zeros([num], dtype), name=f"{scope}/biases")

    def __call__(self, ids):
        tables = self.embeddings, self.biases
        return [tf.nn.embedding_lookup(table, ids) for table in tables]


class Factorization(tf.Module):
    """Predicts [n] ratings; returns them and the penalty of the looked-up rows.

    Args:
        dtype: float dtype of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.users = Tables("svd/user", USER_NUM, dtype, seed=1)
        self.items = Tables("svd/item", ITEM_NUM, dtype, seed=2)
        self.global_bias = tf.Variable(tf.zeros([], dtype), name="svd/global_bias")

    def __call__(self, user, item):
        embd_user, bias_user = self.users(user)
        embd_item, bias_item = self.items(item)
        infer = tf.reduce_sum(embd_user * embd_item, 1)
        infer = infer + self.global_bias + bias_user + bias_item
        rows = embd_user, embd_item, bias_user, bias_item
        return infer, tf.add_n([tf.nn.l2_loss(x) for x in rows])

    @tf.function
    def recommend(self, user):
        """Finds the best items of [n] users, and scores them without shared biases."""
        embd_user, _ = self.users(user)
        products = tf.matmul(embd_user, self.items.embeddings, transpose_b=True)
        scores, best = tf.math.top_k(products + self.items.biases, TOP)
        return {"items": best, "scores": scores}


class Trainer(tf.Module):
    """A factorization, its optimizer and the global step.

    Args:
        dtype: float dtype of the ratings and of the variables.
        optimizer: key of `OPTIMIZERS`.
        learning_rate: float.
    """

    def __init__(self, dtype, optimizer, learning_rate):
        super().__init__()
        self.svd = Factorization(dtype)
        self.weights = self.svd.trainable_variables
        self.optimizer = OPTIMIZERS[optimizer](learning_rate)
        self.optimizer.create_slots(self.weights)
        self.global_step = tf.Variable(np.int64(0), False, name="global_step")

    @tf.function
    def step(self, user, item, rate):
        """Takes one step; returns the cost and the RMSE of the batch before it."""
        with tf.GradientTape() as tape:
            infer, regularizer = self.svd(user, item)
            error = infer - rate
            cost = tf.nn.l2_loss(error) + REG * regularizer
        gradients = tape.gradient(cost, self.weights)
        self.optimizer.apply_gradients(zip(gradients, self.weights), self.global_step)
        return cost, tf.sqrt(tf.reduce_mean(tf.square(error)))


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
    """Trains embeddings and biases of users and items on ratings."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(ratings.dtype, optimizer, learning_rate)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    # --- run
    data = [tf.constant(array) for array in (users, items, ratings)]
    rows, first = [], trainer.global_step.numpy()
    for step in range(first, first + steps):
        batch = [array[step % len(users)] for array in data]
        rows.append([tensor.numpy() for tensor in trainer.step(*batch)])
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("training_error", rows[-1][1])
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    losses, rmses = np.reshape(rows, [-1, 2]).T
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": losses, "rmses": rmses, "variables": values}


def restored(dtype, checkpoint):
    """Makes a factorization with the weights of a checkpoint."""
    svd = Factorization(dtype)
    restore.by_name(checkpoint, restore.named(svd))
    return svd


def evaluate(users, items, ratings, checkpoint):
    """Predicts ratings, clipped to 1 to 5 stars, and computes their errors."""
    # --- build
    svd = restored(ratings.dtype, checkpoint)

    @tf.function
    def measure(user, item, rate):
        predictions = tf.clip_by_value(svd(user, item)[0], 1.0, 5.0)
        error = predictions - rate
        return {
            "predictions": predictions,
            "rmse": tf.sqrt(tf.reduce_mean(tf.square(error))),
            "mae": tf.reduce_mean(tf.abs(error)),
        }

    # --- run
    found = measure(*map(tf.constant, (users, items, ratings)))
    return {name: value.numpy() for name, value in found.items()}


def export(users, checkpoint, folder):
    """Exports the recommendation of the best items, and asks the export."""
    dtypes = tf.train.load_checkpoint(checkpoint).get_variable_to_dtype_map()
    # --- save
    svd = restored(dtypes["svd/global_bias"], checkpoint)
    spec = tf.TensorSpec([None], tf.int32, name="users")
    served = svd.recommend.get_concrete_function(spec)
    tf.saved_model.save(svd, folder, signatures={"serving_default": served})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    found = signature(users=tf.constant(users))
    return {name: value.numpy() for name, value in found.items()}
