"""Slim's networks: functions of the model zoo → modules with the zoo's names."""

import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.slim_learning import write_checkpoint

__all__ = [
    "make_resnet_v2",
    "make_inception_block",
    "fine_tune",
]

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def make_resnet_v2(blocks, classes=None, weight_decay=0.0001, fused=None, name="net"):
    """Makes a ResNet v2 of the zoo: norms come before convolutions.

    Args:
        blocks: list of (scope, base depth, number of units, stride of the last unit);
            resnet_v2_50 has ("block1", 64, 3, 2), ("block2", 128, 4, 2),
            ("block3", 256, 6, 2) and ("block4", 512, 3, 1).
        classes: number of the logits; None leaves them out.
        weight_decay: weight of the l2 penalty on all weights, a float.
        fused: False: no batch norm by the kernel that takes float32 alone.
        name: scope of `resnet_v2/conv1/weights`,
            `resnet_v2/block1/unit_1/bottleneck_v2/preact/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`,
        a bool, to the [batch, 1, 1, classes] logits, or the features, the end points,
        {name: tensor}, and the list of the penalties.
    """

    def resnet_v2(x, is_training):
        from tensorflow.contrib.slim.python.slim.nets import resnet_v2 as zoo

        slim = tensorflow.contrib.slim
        draw = slim.variance_scaling_initializer(seed=1)
        with slim.arg_scope(zoo.resnet_arg_scope(weight_decay)):
            with slim.arg_scope([slim.conv2d], weights_initializer=draw):
                with slim.arg_scope([slim.batch_norm], fused=fused):
                    made = [zoo.resnet_v2_block(*block) for block in blocks]
                    net, end_points = zoo.resnet_v2(x, made, classes, is_training)
        return collected(net, end_points)

    return tf.make_template(name, resnet_v2)


def collected(net, end_points):
    """A network's output after its updates, its end points and its penalties."""
    scope = tf.get_variable_scope().name + "/"
    penalties = tf.losses.get_regularization_losses(scope)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
    with tf.control_dependencies(updates):
        return tf.identity(net), dict(end_points), penalties


def make_inception_block(depths, weight_decay=0.00004, fused=None, name="InceptionV1"):
    """Makes a block of Inception v1: four branches side by side.

    Args:
        depths: list of [first], [first, second] of the branches 0, 1 and 2, and the
            depth of branch 3, an int; those of Mixed_3b are [64], [96, 128], [16, 32]
            and 32.
        weight_decay: weight of the l2 penalty on all weights, a float.
        fused: False: no batch norm by the kernel that takes float32 alone.
        name: scope of `Mixed_3b/Branch_0/Conv2d_0a_1x1/weights`,
            `Mixed_3b/Branch_0/Conv2d_0a_1x1/BatchNorm/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`,
        a bool, to [batch, height, width, depth], the end points, {name of a branch:
        tensor}, and the list of the penalties.
    """

    def inception(x, is_training):
        from tensorflow.contrib.slim.python.slim.nets import inception_v1 as zoo

        slim = tensorflow.contrib.slim
        draw = tf.truncated_normal_initializer(0.0, 0.01, seed=1)
        with slim.arg_scope(zoo.inception_v1_arg_scope(weight_decay)):
            with slim.arg_scope([slim.conv2d], weights_initializer=draw):
                with slim.arg_scope([slim.max_pool2d], stride=1, padding="SAME"):
                    with slim.arg_scope(
                        [slim.batch_norm], is_training=is_training, fused=fused
                    ):
                        net, branches = mixed(x, "Mixed_3b", depths)
        return collected(net, branches)

    return tf.make_template(name, inception)


def mixed(x, scope, depths):
    """The block, as every Inception v1 of the zoo has it nine times."""
    slim = tensorflow.contrib.slim
    first, second, third, last = depths
    with tf.variable_scope(scope):
        with tf.variable_scope("Branch_0"):
            branch_0 = slim.conv2d(x, first[0], [1, 1], scope="Conv2d_0a_1x1")
        with tf.variable_scope("Branch_1"):
            branch_1 = slim.conv2d(x, second[0], [1, 1], scope="Conv2d_0a_1x1")
            branch_1 = slim.conv2d(branch_1, second[1], [3, 3], scope="Conv2d_0b_3x3")
        with tf.variable_scope("Branch_2"):
            branch_2 = slim.conv2d(x, third[0], [1, 1], scope="Conv2d_0a_1x1")
            branch_2 = slim.conv2d(branch_2, third[1], [3, 3], scope="Conv2d_0b_3x3")
        with tf.variable_scope("Branch_3"):
            branch_3 = slim.max_pool2d(x, [3, 3], scope="MaxPool_0a_3x3")
            branch_3 = slim.conv2d(branch_3, last, [1, 1], scope="Conv2d_0b_1x1")
        branches = [branch_0, branch_1, branch_2, branch_3]
        named = {"Branch_%d" % i: branch for i, branch in enumerate(branches)}
        return tf.concat(branches, 3), named


def fine_tune(images, labels, saved, blocks, classes, steps, rate, fused=None):
    """Trains a ResNet v2 from a checkpoint, whose logits are left out.

    Args:
        images: [n, height, width, channels] float array.
        labels: [n] int64 array of classes.
        saved: {name: array}, what the checkpoint holds, by the zoo's names:
            "resnet_v2/conv1/weights", …
        blocks: see `make_resnet_v2`.
        classes: number of the logits, which begin at 0.
        steps: how many steps to take by momentum of 0.9, all on the same images.
        rate: learning rate.
        fused: see `make_resnet_v2`.

    Returns:
        dict with the `losses`, [steps], penalties included, before every step, the
        `variables` in the end by their names in a checkpoint, and the `logits` of
        inference then.
    """
    from tensorflow.contrib.slim.python.slim.nets import resnet_v2 as zoo

    with tempfile.TemporaryDirectory() as directory:
        path = write_checkpoint(saved, directory)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- build
            slim = tensorflow.contrib.slim
            inputs = tf.constant(images)

            def network(is_training, reuse=None):
                with slim.arg_scope(zoo.resnet_arg_scope()):
                    with slim.arg_scope([slim.batch_norm], fused=fused):
                        made = [zoo.resnet_v2_block(*block) for block in blocks]
                        features, _ = zoo.resnet_v2(
                            inputs,
                            made,
                            None,
                            is_training,
                            reuse=reuse,
                            scope="resnet_v2",
                        )
                return slim.fully_connected(
                    slim.flatten(features),
                    classes,
                    None,
                    weights_initializer=tf.zeros_initializer(),
                    reuse=reuse,
                    scope="scores",
                )

            # --- loss
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=network(True)
            )
            slim.losses.add_loss(tf.reduce_mean(losses))
            # --- step
            train_op = slim.learning.create_train_op(
                slim.losses.get_total_loss(), tf.train.MomentumOptimizer(rate, 0.9)
            )
            logits = network(False, reuse=True)
            # --- run
            restored = slim.get_model_variables("resnet_v2")  # without the slots
            init_fn = slim.assign_from_checkpoint_fn(path, restored)
            sess.run(tf.global_variables_initializer())
            init_fn(sess)
            found = np.stack([sess.run(train_op) for _ in range(steps)])
            variables = {v.op.name: v for v in slim.get_variables()}
            return {
                "losses": found,
                "variables": sess.run(variables),
                "logits": sess.run(logits),
            }
