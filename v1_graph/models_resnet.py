"""`resnet_v1` and `resnet_v2` of slim: `arg_scope`, `create_train_op`, fine-tuning.

ResNets: He et al., "Deep Residual Learning for Image Recognition", 2015, and "Identity
Mappings in Deep Residual Networks", 2016. The variables have the names of slim's
checkpoints, `resnet_v1_50.ckpt` and others.
"""

import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export", "fine_tune"]

NUM_CLASSES = 3
ROOT = 8
# Scope, channels between the two 1 x 1 convolutions, units, stride of the last unit.
BLOCKS = [("block1", 4, 2, 2), ("block2", 8, 1, 1)]
WEIGHT_DECAY = 0.0001
BOUNDARIES, RATES = [30, 60], [0.05, 0.005, 0.0005]


def resnet_arg_scope(dtype):
    slim = tensorflow.contrib.slim
    # The default is the fused kernel, which does not support float64.
    fused = dtype == tf.float32
    batch_norm_params = {"decay": 0.9, "epsilon": 1e-5, "scale": True, "fused": fused}
    with slim.arg_scope(
        [slim.conv2d],
        weights_regularizer=slim.l2_regularizer(WEIGHT_DECAY),
        weights_initializer=slim.variance_scaling_initializer(seed=1),
        activation_fn=tf.nn.relu,
        normalizer_fn=slim.batch_norm,
        normalizer_params=batch_norm_params,
    ):
        with slim.arg_scope([slim.batch_norm], **batch_norm_params) as arg_sc:
            return arg_sc


def subsample(net, factor):
    if factor == 1:
        return net
    return tensorflow.contrib.slim.max_pool2d(net, [1, 1], stride=factor)


def conv2d_same(net, depth, kernel_size, stride, scope):
    slim = tensorflow.contrib.slim
    if stride == 1:
        return slim.conv2d(net, depth, kernel_size, padding="SAME", scope=scope)
    # The padding does not depend on the size of the image, as that of SAME does.
    before = (kernel_size - 1) // 2
    sides = [before, kernel_size - 1 - before]
    net = tf.pad(net, [[0, 0], sides, sides, [0, 0]])
    return slim.conv2d(
        net, depth, kernel_size, stride=stride, padding="VALID", scope=scope
    )


def bottleneck_v1(net, depth, depth_bottleneck, stride):
    """Applies a unit with batch norms after its convolutions."""
    slim, linear = tensorflow.contrib.slim, {"activation_fn": None}
    with tf.variable_scope("bottleneck_v1"):
        if net.shape[-1] == depth:
            shortcut = subsample(net, stride)
        else:
            shortcut = slim.conv2d(
                net, depth, 1, stride=stride, scope="shortcut", **linear
            )
        residual = slim.conv2d(net, depth_bottleneck, 1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, scope="conv2")
        residual = slim.conv2d(residual, depth, 1, scope="conv3", **linear)
        return tf.nn.relu(shortcut + residual)


def bottleneck_v2(net, depth, depth_bottleneck, stride):
    """Applies a unit with batch norms before its convolutions."""
    slim = tensorflow.contrib.slim
    linear = {"activation_fn": None, "normalizer_fn": None}
    with tf.variable_scope("bottleneck_v2"):
        preact = slim.batch_norm(net, activation_fn=tf.nn.relu, scope="preact")
        if net.shape[-1] == depth:
            shortcut = subsample(net, stride)
        else:
            shortcut = slim.conv2d(
                preact, depth, 1, stride=stride, scope="shortcut", **linear
            )
        residual = slim.conv2d(preact, depth_bottleneck, 1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, scope="conv2")
        return shortcut + slim.conv2d(residual, depth, 1, scope="conv3", **linear)


def resnet(images, model_name, num_classes, is_training):
    """Computes the logits, [n, classes]; the scope of the variables is the name."""
    slim, second = tensorflow.contrib.slim, model_name.startswith("resnet_v2")
    bottleneck = bottleneck_v2 if second else bottleneck_v1
    linear = {"activation_fn": None, "normalizer_fn": None}
    with slim.arg_scope(resnet_arg_scope(images.dtype)), tf.variable_scope(model_name):
        with slim.arg_scope([slim.batch_norm], is_training=is_training):
            # The first unit of v2 has the batch norm and the ReLU of this layer.
            with slim.arg_scope([slim.conv2d], **(linear if second else {})):
                net = conv2d_same(images, ROOT, 7, 2, scope="conv1")
            net = slim.max_pool2d(net, [3, 3], stride=2, padding="SAME", scope="pool1")
            for block, base_depth, num_units, stride in BLOCKS:
                for i in range(num_units):
                    with tf.variable_scope("%s/unit_%d" % (block, i + 1)):
                        last = stride if i == num_units - 1 else 1
                        net = bottleneck(net, 4 * base_depth, base_depth, last)
            if second:
                net = slim.batch_norm(net, activation_fn=tf.nn.relu, scope="postnorm")
            net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            net = slim.conv2d(net, num_classes, 1, scope="logits", **linear)
            return tf.squeeze(net, [1, 2], name="SpatialSqueeze")


class Classifier:
    """The graph of a ResNet and its loss."""

    def __init__(self, model_name, shape, dtype, is_training, num_classes=NUM_CLASSES):
        self.images = tf.placeholder(dtype, [None, *shape], name="images")
        self.labels = tf.placeholder(tf.int64, [None], name="labels")
        self.logits = resnet(self.images, model_name, num_classes, is_training)
        cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.labels, logits=self.logits
        )
        self.loss = tf.reduce_mean(cross_entropy)
        tf.losses.add_loss(self.loss)
        self.total_loss = tf.losses.get_total_loss()  # with the penalties


def create_train_op(total_loss, learning_rate):
    optimizer = tf.train.MomentumOptimizer(learning_rate, 0.9)
    # Nothing else orders the penalties before the update of their weights.
    with tf.control_dependencies([total_loss]):
        return tensorflow.contrib.slim.learning.create_train_op(total_loss, optimizer)


def train(model_name, images, labels, steps, checkpoint=None, folder=None):
    """Trains a ResNet with Momentum, a piecewise constant rate and weight decay.

    Args:
        model_name: "resnet_v1_small" or "resnet_v2_small", the scope of the variables.
        images: [batches, batch, height, width, channels] float array. The global step
            chooses the batch.
        labels: [batches, batch] int64 array, the classes, below 3.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses`, [steps], with penalties and before each step, and the
        final `variables` by name.

    Raises:
        tf.errors.InvalidArgumentError: a loss is infinite or NaN.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = Classifier(model_name, images.shape[2:], images.dtype, is_training=True)
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.piecewise_constant(global_step, BOUNDARIES, RATES)
        train_op = create_train_op(net.total_loss, rate)
        tf.summary.scalar("total_loss", net.total_loss)
        tf.summary.scalar("learning_rate", rate)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=5)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            i = step % len(images)
            feed = {net.images: images[i], net.labels: labels[i]}
            loss, summary = sess.run([train_op, merged], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(model_name, images, labels, checkpoint):
    """Restores the model variables; computes the top-1 accuracy and the loss.

    Args:
        model_name: see `train`.
        images: [n, height, width, channels] float array.
        labels: [n] int64 array.
        checkpoint: path of a checkpoint that has the variables of the model.

    Returns:
        dict with the `accuracy`, the `loss` without penalties, and the `predictions`,
        [n] int64, by the moving statistics.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = Classifier(model_name, images.shape[1:], images.dtype, is_training=False)
        predictions = tf.argmax(net.logits, 1)
        correct = tf.cast(tf.equal(predictions, net.labels), images.dtype)
        fetches = {
            "accuracy": tf.reduce_mean(correct),
            "loss": net.loss,
            "predictions": predictions,
        }
        saver = tf.train.Saver(tensorflow.contrib.slim.get_model_variables())
        # --- run
        saver.restore(sess, checkpoint)
        return sess.run(fetches, {net.images: images, net.labels: labels})


def export(model_name, images, checkpoint, folder):
    """Saves a ResNet as a SavedModel, loads it, and computes probabilities.

    Args:
        model_name: see `train`.
        images: [n, height, width, channels] float array.
        checkpoint: path of a checkpoint that has the variables of the model.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `probabilities`, [n, classes].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        net = Classifier(model_name, images.shape[1:], images.dtype, is_training=False)
        outputs = {"probabilities": tf.nn.softmax(net.logits)}
        saver = tf.train.Saver(tensorflow.contrib.slim.get_model_variables())
        saver.restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, {"images": net.images}, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        feed = {signature.inputs["images"].name: images}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}


def fine_tune(model_name, images, labels, num_classes, steps, checkpoint):
    """Trains with other classes; restores all model variables but the logits.

    Args:
        model_name, images: see `train`.
        labels: [batches, batch] int64 array, the classes, below `num_classes`.
        num_classes: how many classes there are now.
        steps: how many steps to take; the first is step 0.
        checkpoint: path of a checkpoint that has the variables of the model.

    Returns:
        See `train`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        slim = tensorflow.contrib.slim
        tf.set_random_seed(7)
        shape, dtype = images.shape[2:], images.dtype
        net = Classifier(model_name, shape, dtype, True, num_classes)
        # The step and the slots do not exist yet, so that they are not restored.
        restored = slim.get_variables_to_restore(exclude=[model_name + "/logits"])
        init_fn = slim.assign_from_checkpoint_fn(checkpoint, restored)
        tf.train.create_global_step()
        train_op = create_train_op(net.total_loss, 0.01)
        # --- restore
        sess.run(tf.global_variables_initializer())
        init_fn(sess)
        # --- run
        losses = []
        for step in range(steps):
            i = step % len(images)
            feed = {net.images: images[i], net.labels: labels[i]}
            losses.append(sess.run(train_op, feed))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}
