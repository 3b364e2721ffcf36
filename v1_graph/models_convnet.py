"""`tf.layers.conv2d`, `batch_normalization`, `keep_prob`, `UPDATE_OPS` → modules.

Such programs came from the tutorials of 2017: "Deep MNIST for Experts" of TensorFlow 1,
rewritten with `tf.layers`, and with the batch norm of Ioffe and Szegedy (2015).
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

BATCH_SIZE = 16
CLASSES = 10
LEARNING_RATE = 0.01
KEEP_PROB = 0.75


def conv_layer(net, filters, is_training, seed, name):
    """Applies a convolution without biases, a batch norm, ReLU and max pooling."""
    with tf.variable_scope(name):
        net = tf.layers.conv2d(
            net,
            filters,
            kernel_size=5,
            use_bias=False,
            activation=None,
            kernel_initializer=tf.glorot_uniform_initializer(seed=seed),
        )
        # The default is the fused kernel, which does not support float64.
        fused = net.dtype == tf.float32
        net = tf.layers.batch_normalization(
            net, momentum=0.9, training=is_training, fused=fused
        )
        net = tf.nn.relu(net)
        return tf.layers.max_pooling2d(net, pool_size=2, strides=2)


def conv_net(images, is_training, keep_prob=1.0):
    """Computes the logits, [n, classes], of images, [n, 28, 28, 1]."""
    net = conv_layer(images, 4, is_training, seed=1, name="conv1")
    net = conv_layer(net, 8, is_training, seed=2, name="conv2")
    net = tf.layers.flatten(net)
    net = tf.nn.dropout(net, keep_prob, seed=4)
    draw = tf.glorot_uniform_initializer(seed=3)
    return tf.layers.dense(net, CLASSES, kernel_initializer=draw, name="logits")


def metrics_of(logits, labels):
    """Computes the loss and the accuracy, two scalars."""
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    correct_prediction = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, logits.dtype))
    return tf.reduce_mean(cross_entropy), accuracy


def next_batch(images, labels, step):
    """Slices the batch of a step out of the data, which it repeats."""
    first = step * BATCH_SIZE % len(images)
    return images[first : first + BATCH_SIZE], labels[first : first + BATCH_SIZE]


def train(images, labels, steps, checkpoint=None, folder=None):
    """Trains a convolutional net with Adam, from a checkpoint if there is one.

    Args:
        images: [n, 28, 28, 1] float array, n a multiple of the batch size, 16.
        labels: [n] int64 array, classes below 10.
        steps: number of steps, each on the next batch.
        checkpoint: path of a checkpoint of all variables, or None.
        folder: where to write the checkpoint `model.ckpt` and the summaries `loss` and
            `accuracy` of each step, or None.

    Returns:
        dict with the `losses` of the batches, [steps], each before its step, and the
        final `variables` by name: weights, moving averages, slots and global step.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        x = tf.placeholder(images.dtype, [None, 28, 28, 1], name="x")
        y = tf.placeholder(tf.int64, [None], name="y")
        is_training = tf.placeholder(tf.bool, [], name="is_training")
        keep_prob = tf.placeholder(images.dtype, [], name="keep_prob")
        logits = conv_net(x, is_training, keep_prob)
        loss, accuracy = metrics_of(logits, y)
        global_step = tf.train.get_or_create_global_step()
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(update_ops):
            optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
            train_op = optimizer.minimize(loss, global_step=global_step)
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("accuracy", accuracy)
        merged = tf.summary.merge_all()
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        saver = tf.train.Saver(max_to_keep=3)
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses = []
        first = tf.train.global_step(sess, global_step)
        for step in range(first, first + steps):
            batch_x, batch_y = next_batch(images, labels, step)
            feed_dict = {x: batch_x, y: batch_y, is_training: True}
            feed_dict[keep_prob] = KEEP_PROB
            _, value, summary = sess.run([train_op, loss, merged], feed_dict)
            losses.append(value)
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(images, labels, checkpoint):
    """Computes the accuracy, the loss and the confusion matrix of test images.

    Args:
        images: [n, 28, 28, 1] float array.
        labels: [n] int64 array, classes below 10.
        checkpoint: path of a checkpoint of the weights and the moving averages.

    Returns:
        dict of `accuracy` and `loss`, scalars, and the `confusion` matrix, [10, 10]
        int32: a row for each label, a column for each prediction.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(images.dtype, [None, 28, 28, 1], name="x")
        y = tf.placeholder(tf.int64, [None], name="y")
        logits = conv_net(x, is_training=False)
        loss, accuracy = metrics_of(logits, y)
        confusion = tf.confusion_matrix(y, tf.argmax(logits, 1), CLASSES)
        tf.train.Saver().restore(sess, checkpoint)
        fetches = {"accuracy": accuracy, "loss": loss, "confusion": confusion}
        return sess.run(fetches, {x: images, y: labels})


def export(images, checkpoint, folder):
    """Exports the net as a SavedModel, loads it again, and asks it.

    Args:
        images: [n, 28, 28, 1] float array.
        checkpoint: path of a checkpoint of the weights and the moving averages.
        folder: an empty folder, in which the SavedModel is written.

    Returns:
        dict of `classes`, [n] int64, and `probabilities`, [n, 10].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(images.dtype, [None, 28, 28, 1], name="x")
        logits = conv_net(x, is_training=False)
        outputs = {
            "classes": tf.argmax(logits, 1, name="classes"),
            "probabilities": tf.nn.softmax(logits, name="probabilities"),
        }
        tf.train.Saver().restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, {"images": x}, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load(sess, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        fetches = {key: info.name for key, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["images"].name: images})
