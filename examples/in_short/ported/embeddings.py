"""An embedding table: a training step changes only the rows that are looked up."""

import tensorflow as tf
from legacy_numerics import Adagrad, glorot_uniform
from same_weights import same_weights


def embeddings(words, targets):
    with same_weights():
        # [in short
        table = tf.Variable(glorot_uniform()([10, 3]), name="table")
        optimizer = Adagrad(0.1).create_slots([table])

        @tf.function
        def train_step(ids):
            def loss():
                vectors = tf.nn.embedding_lookup(table, ids)
                return tf.reduce_sum(tf.square(vectors - targets))

            optimizer.minimize(loss, [table])

        for _ in range(3):
            train_step(tf.constant(words))
        # in short]
        return table.numpy()
