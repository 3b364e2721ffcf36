"""Slim's model zoo: `resnet_v2`, inception blocks, end points → modules."""

import collections
import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "collect_named_outputs",
    "subsample",
    "make_conv2d_same",
    "make_resnet_v2",
    "make_inception_block",
    "train_classifier",
    "fine_tune",
]

# Only 1.15 has contrib, and compat.v1 does not: so this uses `tensorflow.contrib`.
Block = collections.namedtuple("Block", ["scope", "unit_fn", "args"])


def collect_named_outputs(x, aliases, found="end_points"):
    """Halves a tensor repeatedly, and collects the outputs under alias names.

    Args:
        x: [n, features] float tensor.
        aliases: list of names for each output; a "/" at the end is removed.
        found: name of a collection; None collects nothing.

    Returns:
        The last output, and {name: output}; if two outputs have one name, the later
        output.
    """
    from tensorflow.contrib.layers.python.layers import utils

    # --- name
    for names in aliases:
        x = 0.5 * x
        for name in names:
            x = utils.collect_named_outputs(found, name, x)
    # --- find
    if found is None:
        return x, {}
    return x, dict(utils.convert_collection_to_dict(found, clear_collection=True))


def subsample(x, factor):
    """Keeps every `factor`-th pixel in both directions, by 1 x 1 max pooling.

    Args:
        x: [batch, height, width, channels] float tensor.
        factor: distance between two kept pixels.

    Returns:
        [batch, new height, new width, channels] tensor, x itself if factor is 1.
    """
    if factor == 1:
        return x
    return tensorflow.contrib.slim.max_pool2d(x, [1, 1], stride=factor)


def conv2d_same(x, units, size, stride, rate=1, scope=None):
    """Applies a convolution whose padding depends only on the kernel's size."""
    slim = tensorflow.contrib.slim
    if stride == 1:
        return slim.conv2d(x, units, size, rate=rate, padding="SAME", scope=scope)
    padded = (size - 1) * rate
    before = padded // 2
    x = tf.pad(x, [[0, 0]] + 2 * [[before, padded - before]] + [[0, 0]])
    return slim.conv2d(
        x, units, size, stride=stride, rate=rate, padding="VALID", scope=scope
    )


def make_conv2d_same(units, size, stride=1, rate=1, name="root"):
    """Makes a strided convolution with ReLU; its padding does not depend on the image.

    Args:
        units: number of output channels.
        size: size of the kernel, one number for both sides.
        stride: stride in both directions; must be 1 if there is a rate.
        rate: dilation.
        name: scope of the variables `conv1/weights` and `conv1/biases`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, units].
    """

    def convolution(x):
        slim = tensorflow.contrib.slim
        draw = slim.xavier_initializer(seed=1)
        with slim.arg_scope([slim.conv2d], weights_initializer=draw):
            return conv2d_same(x, units, size, stride, rate, scope="conv1")

    return tf.make_template(name, convolution)


def resnet_arg_scope(weight_decay=0.0001, fused=None):
    """Returns the arg_scope for all layers of a ResNet."""
    slim = tensorflow.contrib.slim
    params = {
        "decay": 0.997,
        "epsilon": 1e-5,
        "scale": True,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
        "fused": fused,
    }
    with slim.arg_scope(
        [slim.conv2d],
        weights_regularizer=slim.l2_regularizer(weight_decay),
        weights_initializer=slim.variance_scaling_initializer(seed=1),
        activation_fn=tf.nn.relu,
        normalizer_fn=slim.batch_norm,
        normalizer_params=params,
    ):
        with slim.arg_scope([slim.batch_norm], **params):
            with slim.arg_scope([slim.max_pool2d], padding="SAME") as scope:
                return scope


def bottleneck(
    x, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None
):
    """Applies a bottleneck unit with the batch norms before its convolutions."""
    from tensorflow.contrib.layers.python.layers import utils

    slim = tensorflow.contrib.slim
    with tf.variable_scope(scope, "bottleneck_v2", [x]) as sc:
        preact = slim.batch_norm(x, activation_fn=tf.nn.relu, scope="preact")
        # --- shortcut
        plain = {"normalizer_fn": None, "activation_fn": None}
        if depth == utils.last_dimension(x.get_shape(), min_rank=4):
            shortcut = subsample(x, stride)
        else:
            shortcut = slim.conv2d(
                preact, depth, [1, 1], stride=stride, scope="shortcut", **plain
            )
        # --- residual
        y = slim.conv2d(preact, depth_bottleneck, [1, 1], scope="conv1")
        y = conv2d_same(y, depth_bottleneck, 3, stride, rate, scope="conv2")
        y = slim.conv2d(y, depth, [1, 1], scope="conv3", **plain)
        return utils.collect_named_outputs(outputs_collections, sc.name, shortcut + y)


def stack_blocks_dense(x, blocks, output_stride=None, outputs_collections=None):
    """Applies the units of blocks; dilates units once `output_stride` is reached."""
    from tensorflow.contrib.layers.python.layers import utils

    current_stride, rate = 1, 1
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [x]) as sc:
            for i, unit in enumerate(block.args):
                if output_stride is not None and current_stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with tf.variable_scope("unit_%d" % (i + 1), values=[x]):
                    if current_stride == output_stride:
                        x = block.unit_fn(x, rate=rate, **dict(unit, stride=1))
                        rate *= unit["stride"]
                    else:
                        x = block.unit_fn(x, **unit)
                        current_stride *= unit["stride"]
            x = utils.collect_named_outputs(outputs_collections, sc.name, x)
    if output_stride is not None and current_stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return x


def resnet_v2_block(unit_fn, scope, base, units, stride):
    """Makes a block whose last unit has the stride."""
    unit = {"depth": 4 * base, "depth_bottleneck": base, "stride": 1}
    return Block(scope, unit_fn, [unit] * (units - 1) + [dict(unit, stride=stride)])


def resnet_v2(
    x, blocks, root, classes, scope, is_training=True, output_stride=None, reuse=None
):
    """Computes logits and end points of a ResNet with any blocks."""
    slim = tensorflow.contrib.slim
    unit_fn = slim.add_arg_scope(bottleneck)  # usually the decorator @add_arg_scope
    stack = slim.add_arg_scope(stack_blocks_dense)
    with tf.variable_scope(scope, values=[x], reuse=reuse) as sc:
        found = sc.original_name_scope + "_end_points"
        with slim.arg_scope([slim.conv2d, unit_fn, stack], outputs_collections=found):
            with slim.arg_scope([slim.batch_norm], is_training=is_training):
                # --- blocks
                plain = {"activation_fn": None, "normalizer_fn": None}
                with slim.arg_scope([slim.conv2d], **plain):
                    y = conv2d_same(x, root, 7, stride=2, scope="conv1")
                y = slim.max_pool2d(y, [3, 3], stride=2, scope="pool1")
                blocks = [resnet_v2_block(unit_fn, *block) for block in blocks]
                y = stack(y, blocks, output_stride and output_stride / 4)
                # --- logits
                y = slim.batch_norm(y, activation_fn=tf.nn.relu, scope="postnorm")
                y = tf.reduce_mean(y, [1, 2], name="pool5", keepdims=True)
                y = slim.conv2d(y, classes, [1, 1], scope="logits", **plain)
        # --- end points
        end_points = slim.utils.convert_collection_to_dict(found)
        logits = tf.squeeze(y, [1, 2], name="SpatialSqueeze")
        end_points["predictions"] = slim.softmax(logits, scope="predictions")
        return logits, dict(end_points)


def make_resnet_v2(
    blocks, root, classes, output_stride=None, fused=None, name="resnet_v2"
):
    """Makes a ResNet v2 (pre-activation) with end points and penalties.

    Args:
        blocks: list of (scope, channels in between, number of units, stride).
        root: number of channels of the first convolution.
        classes: number of the logits.
        output_stride: ratio of the image's size to the last block's size; units that
            would make the output smaller are dilated instead. None keeps all strides.
        fused: False: batch norms do not use the fused kernel, which is float32 only.
        name: scope of the variables `conv1/weights`,
            `block1/unit_1/bottleneck_v2/conv1/weights`, …, `postnorm/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`
        to the [batch, classes] logits, the end points, {name: tensor}, and the list of
        the penalties.

    Raises:
        ValueError: in a call: the strides do not reach output_stride.
    """

    def network(x, is_training):
        slim, scope = tensorflow.contrib.slim, tf.get_variable_scope()
        with slim.arg_scope(resnet_arg_scope(fused=fused)):
            logits, end_points = resnet_v2(
                x, blocks, root, classes, scope, is_training, output_stride
            )
        penalties = tf.losses.get_regularization_losses(scope.name + "/")
        return updated(logits), end_points, penalties

    return tf.make_template(name, network)


def updated(y):
    """Returns the tensor after the updates of this scope's moving averages."""
    scope = tf.get_variable_scope().name + "/"
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)):
        return tf.identity(y)


def make_inception_block(base, classes, keep_prob=0.8, fused=None, name="InceptionV3"):
    """Makes a small Inception network: a stem, one block of branches, the logits.

    Args:
        base: number of channels of a branch; the branch of the 3 x 3 convolutions has
            twice as many.
        classes: number of the logits.
        keep_prob: keep probability of the dropout in training.
        fused: False: batch norms do not use the fused kernel, which is float32 only.
        name: scope of the variables `Conv2d_1a_3x3/weights`,
            `Mixed_5b/Branch_0/Conv2d_0a_1x1/BatchNorm/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`
        to the [batch, classes] logits and the end points, {name: tensor}.
    """

    def network(x, is_training):
        slim = tensorflow.contrib.slim
        same = [slim.conv2d, slim.max_pool2d, slim.avg_pool2d]
        with slim.arg_scope(inception_arg_scope(fused)):
            with slim.arg_scope(
                [slim.batch_norm, slim.dropout], is_training=is_training
            ):
                with slim.arg_scope(same, stride=1, padding="SAME"):
                    logits, end_points = inception(x, base, classes, keep_prob)
        return updated(logits), end_points

    return tf.make_template(name, network)


def inception_arg_scope(fused=None):
    """Returns the arg_scope for all layers of an Inception network."""
    slim = tensorflow.contrib.slim
    with slim.arg_scope(
        [slim.conv2d],
        weights_regularizer=slim.l2_regularizer(0.00004),
        weights_initializer=slim.variance_scaling_initializer(seed=1),
        normalizer_fn=slim.batch_norm,
        normalizer_params={"decay": 0.9997, "epsilon": 0.001, "fused": fused},
    ) as scope:
        return scope


def inception(x, base, classes, keep_prob):
    """Computes logits and end points of a stem, a block of three branches, a head."""
    slim, end_points = tensorflow.contrib.slim, {}
    # --- stem
    valid = {"stride": 2, "padding": "VALID"}
    y = slim.conv2d(x, base, [3, 3], scope="Conv2d_1a_3x3", **valid)
    end_points["Conv2d_1a_3x3"] = y
    y = slim.max_pool2d(y, [3, 3], scope="MaxPool_3a_3x3", **valid)
    end_points["MaxPool_3a_3x3"] = y
    # --- branches
    with tf.variable_scope("Mixed_5b"):
        with tf.variable_scope("Branch_0"):
            branch_0 = slim.conv2d(y, base, [1, 1], scope="Conv2d_0a_1x1")
        with tf.variable_scope("Branch_1"):
            branch_1 = slim.conv2d(y, base, [1, 1], scope="Conv2d_0a_1x1")
            branch_1 = slim.conv2d(branch_1, 2 * base, [3, 3], scope="Conv2d_0b_3x3")
        with tf.variable_scope("Branch_2"):
            branch_2 = slim.avg_pool2d(y, [3, 3], scope="AvgPool_0a_3x3")
            branch_2 = slim.conv2d(branch_2, base, [1, 1], scope="Conv2d_0b_1x1")
        y = tf.concat(axis=3, values=[branch_0, branch_1, branch_2])
    end_points["Mixed_5b"] = y
    # --- logits
    with tf.variable_scope("Logits"):
        y = tf.reduce_mean(y, [1, 2], keepdims=True, name="GlobalPool")
        y = slim.dropout(y, keep_prob=keep_prob, scope="Dropout_1b", seed=1)
        plain = {"activation_fn": None, "normalizer_fn": None}
        y = slim.conv2d(y, classes, [1, 1], scope="Conv2d_1c_1x1", **plain)
    logits = tf.squeeze(y, [1, 2], name="SpatialSqueeze")
    end_points["Logits"] = logits
    end_points["Predictions"] = slim.softmax(logits, scope="Predictions")
    return logits, end_points


def train_classifier(x, y, blocks, start, steps, rate, fused=None, files=False):
    """Trains a ResNet with momentum, and saves a checkpoint.

    Args:
        x: [n, height, width, channels] float array.
        y: [n] int array of class ids from 0 to 2.
        blocks: see `make_resnet_v2`; the first convolution has 4 channels.
        start: {name: array}, initial values of some variables; the others are drawn.
        steps: number of steps, all on the same images.
        rate: learning rate.
        fused: see `make_resnet_v2`.
        files: whether to return the files of the checkpoint, too.

    Returns:
        dict with the [steps] `losses`, which include the penalties, before each step,
        the final `variables` by their names in a checkpoint, and optionally the
        `files`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        slim = tensorflow.contrib.slim
        with slim.arg_scope(resnet_arg_scope(fused=fused)):
            logits, _ = resnet_v2(tf.constant(x), blocks, 4, 3, "resnet_v2")
        # --- train
        train_op = create_train_op(logits, y, rate)
        sess.run(tf.global_variables_initializer())
        slim.assign_from_values_fn(start)(sess)
        losses = [sess.run(train_op) for _ in range(steps)]
        # --- save
        variables = {v.op.name: v for v in tf.global_variables()}
        result = {"losses": np.stack(losses), "variables": sess.run(variables)}
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Saver().save(sess, os.path.join(folder, "model.ckpt"))
            return dict(result, files=packed(path)) if files else result


def create_train_op(logits, y, rate, variables=None):
    """Makes a step with momentum 0.9 on the mean cross-entropy plus penalties."""
    slim = tensorflow.contrib.slim
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    slim.losses.add_loss(tf.reduce_mean(losses))
    return slim.learning.create_train_op(
        slim.losses.get_total_loss(),
        tf.train.MomentumOptimizer(rate, 0.9),
        variables_to_train=variables,
    )


def packed(path):
    """Reads the files of a checkpoint into {suffix: bytes as a uint8 array}."""
    suffixes = [".index", ".data-00000-of-00001"]
    return {suffix: np.fromfile(path + suffix, np.uint8) for suffix in suffixes}


def unpacked(files, folder):
    """Writes the files of a checkpoint, and returns its path."""
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def fine_tune(files, x, y, blocks, start, exclude, trained, steps, fused=None):
    """Fine-tunes part of a ResNet from a checkpoint, with new classes; predicts.

    Args:
        files: {suffix: bytes as a uint8 array}, the files of a checkpoint.
        x: [n, height, width, channels] float array.
        y: [n] int array of class ids.
        blocks: see `make_resnet_v2`.
        start: {name: array} of the new weights; the shape of the logits' weights gives
            the number of classes.
        exclude: list of scopes that are not restored.
        trained: list of scopes that are trained.
        steps: number of steps; with 0 it predicts with the restored weights.
        fused: see `make_resnet_v2`.

    Returns:
        dict with the `losses` before each step, the `end_points` of a final inference,
        which include the `logits`, and the `variables`.

    Raises:
        tf.errors.InvalidArgumentError: a variable has another shape in the checkpoint
            (ValueError in TensorFlow 2).
        tf.errors.NotFoundError: the checkpoint does not contain a variable.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        slim = tensorflow.contrib.slim
        with slim.arg_scope(resnet_arg_scope(fused=fused)):
            classes = len(start["resnet_v2/logits/biases"])
            network = [tf.constant(x), blocks, 4, classes, "resnet_v2"]
            logits, _ = resnet_v2(*network)
            inference, end_points = resnet_v2(*network, is_training=False, reuse=True)
        # --- restore
        with tempfile.TemporaryDirectory() as folder:
            init_fn = slim.assign_from_checkpoint_fn(
                unpacked(files, folder), slim.get_variables_to_restore(exclude=exclude)
            )
            scopes = [slim.get_trainable_variables(scope) for scope in trained]
            train_op = create_train_op(logits, y, 0.0625, sum(scopes, []))
            sess.run(tf.global_variables_initializer())
            slim.assign_from_values_fn(start)(sess)
            init_fn(sess)
        # --- train
        losses = [sess.run(train_op) for _ in range(steps)]
        # --- predict
        variables = {v.op.name: v for v in tf.global_variables()}
        return {
            "losses": losses,
            "end_points": sess.run(dict(end_points, logits=inference)),
            "variables": sess.run(variables),
        }
