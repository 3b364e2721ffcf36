"""`slim.arg_scope`, `slim.conv2d`, `slim.losses`, collections → arguments, dicts."""

import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "make_network",
    "make_separable_conv2d",
    "make_conv2d_transpose",
    "find_variables",
    "compute_weighted_loss",
    "cross_entropies",
    "errors",
    "total_loss",
]

# Only 1.15 has contrib, and compat.v1 does not: so this uses `tensorflow.contrib`.


def make_network(filters, classes, scale, decay=0.9, fused=None, name="net"):
    """Makes a network whose layers get arguments from two nested `arg_scope`s.

    Args:
        filters: number of channels of the first layer.
        classes: number of the logits.
        scale: weight of an l2 penalty on all weights, a float.
        decay: share of the moving statistics that an update keeps.
        fused: False: batch norms do not use the fused kernel, which is float32 only.
        name: scope of the variables `conv1/weights`, `conv1/BatchNorm/beta`, …,
            `conv2/conv2_1/weights`, …, `logits/weights` and `logits/biases`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`,
        a bool, to the [batch, classes] logits, the end points, {name: tensor}, and the
        list of the penalties.
    """

    def network(x, is_training):
        slim = tensorflow.contrib.slim
        # --- defaults
        with slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d],
            weights_initializer=slim.xavier_initializer(seed=1),
            weights_regularizer=slim.l2_regularizer(scale),
            normalizer_fn=slim.batch_norm,
            normalizer_params={"epsilon": 0.01},
        ):
            with slim.arg_scope(
                [slim.batch_norm], is_training=is_training, decay=decay, fused=fused
            ) as defaults:
                pass  # the model zoo's `…_arg_scope` functions return such a scope
        scope = tf.get_variable_scope().name
        found = scope + "/end_points"
        with slim.arg_scope(defaults):
            with slim.arg_scope(
                [slim.conv2d, slim.max_pool2d], outputs_collections=found
            ):
                # --- layers
                y = slim.conv2d(x, filters, 3, scope="conv1")
                y = slim.max_pool2d(y, 2, scope="pool1")
                with slim.arg_scope(
                    [slim.conv2d],
                    activation_fn=tf.nn.elu,
                    padding="VALID",
                    # This replaces the whole outer dict: epsilon is 0.001 here.
                    normalizer_params={"scale": True},
                ):
                    y = slim.repeat(y, 2, slim.conv2d, 2 * filters, 2, scope="conv2")
                    y = slim.conv2d(
                        y,
                        classes,
                        1,
                        activation_fn=None,
                        normalizer_fn=None,
                        scope="logits",
                    )
        # --- collections
        logits = slim.flatten(tf.reduce_mean(y, [1, 2], keepdims=True))
        end_points = slim.utils.convert_collection_to_dict(found, clear_collection=True)
        end_points["predictions"] = slim.softmax(logits)
        penalties = tf.losses.get_regularization_losses(scope + "/")
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope + "/")
        with tf.control_dependencies(updates):
            return tf.identity(logits), dict(end_points), penalties

    return tf.make_template(name, network)


def make_separable_conv2d(
    units, size, stride=1, multiplier=1, rate=1, decay=None, fused=None, name="net"
):
    """Makes a separable convolution (depthwise, then pointwise) with ReLU.

    Args:
        units: number of output channels; None leaves out the pointwise convolution.
        size: [height, width] of the kernel, or one number for both.
        stride: stride of the depthwise convolution, the same in both directions; must
            be 1 if there is a rate.
        multiplier: number of output channels of the depthwise convolution per channel.
        rate: dilation of the depthwise convolution.
        decay: decay of a batch norm in place of the biases, or None for biases.
        fused: whether the batch norm uses the fused kernel; False supports float64,
            too.
        name: scope of the variables `SeparableConv2d/depthwise_weights`,
            `…/pointwise_weights`, `…/biases` or `…/BatchNorm/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, units, or channels * multiplier].

    Raises:
        ValueError: in a call: the input does not have four dimensions, or the number of
            channels is unknown.
    """

    def separable_conv2d(x):
        slim = tensorflow.contrib.slim
        options = {"weights_initializer": slim.xavier_initializer(seed=1)}
        if decay is not None:
            options["normalizer_fn"] = slim.batch_norm
            options["normalizer_params"] = {
                "decay": decay,
                "fused": fused,
                "updates_collections": None,
            }
        return slim.separable_conv2d(
            x, units, size, multiplier, stride, rate=rate, **options
        )

    return tf.make_template(name, separable_conv2d)


def make_conv2d_transpose(units, size, stride=1, padding="SAME", name="net"):
    """Makes a transposed convolution, which enlarges images, with ReLU.

    Args:
        units: number of output channels.
        size: [height, width] of the kernel, or one number for both.
        stride: factor of the output size, [down, right] or one number for both.
        padding: "SAME" or "VALID".
        name: scope of the variables `Conv2d_transpose/weights` and `…/biases`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, units].

    Raises:
        ValueError: in a call: the input does not have four dimensions, or the number of
            channels is unknown.
    """

    def conv2d_transpose(x):
        slim = tensorflow.contrib.slim
        draw = slim.xavier_initializer(seed=1)
        return slim.conv2d_transpose(
            x, units, size, stride, padding, weights_initializer=draw
        )

    return tf.make_template(name, conv2d_transpose)


def find_variables(scope, suffix, exclude):
    """Finds a network's variables by scope, suffix, name, kind and exclusion.

    Args:
        scope: regular expression that matches the beginning of names, or None.
        suffix: end of the names.
        exclude: list of scopes that are not restored.

    Returns:
        {question: sorted list of names}.
    """
    with tf.Graph().as_default():
        # --- build
        slim = tensorflow.contrib.slim
        slim.get_or_create_global_step()
        x = tf.zeros([1, 4, 4, 3])
        x = slim.conv2d(x, 2, 3, normalizer_fn=slim.batch_norm, scope="conv1")
        x = slim.conv2d(x, 2, 3, scope="conv10", trainable=False)
        slim.fully_connected(slim.flatten(x), 5, None, scope="logits")
        slim.fully_connected(slim.flatten(x), 5, None, scope="logits_aux")
        slim.model_variable("temperature", [], initializer=tf.ones_initializer())
        slim.variable("seen", [], trainable=False)
        slim.local_variable(0.0, name="total")
        # --- find
        found = {
            "all": slim.get_variables(),
            "scope": slim.get_variables(scope),
            "suffix": slim.get_variables_by_suffix(suffix, scope),
            "name": slim.get_variables_by_name(suffix),
            "model": slim.get_model_variables(),
            "trainable": slim.get_trainable_variables(scope),
            "local": slim.get_local_variables(),
            "restored": slim.get_variables_to_restore(exclude=exclude),
        }
        return {key: sorted(v.op.name for v in found[key]) for key in found}


def compute_weighted_loss(losses, weights=1.0):
    """Averages losses with weights for whole examples or for single elements.

    Args:
        losses: [batch, …] float tensor.
        weights: scalar, or a tensor whose shape is the shape of the losses or its
            beginning; a last dimension of 1 is removed.

    Returns:
        Scalar of the losses' dtype, computed in float32: the weighted sum divided by
        the number of losses whose weight is not 0.

    Raises:
        ValueError: the weights have another shape.
    """
    return tensorflow.contrib.slim.losses.compute_weighted_loss(losses, weights)


def cross_entropies(logits, labels, weights=1.0, smoothing=0.0):
    """Computes the cross-entropies of `slim.losses`, whose first argument is logits.

    Args:
        logits: [batch, classes] float tensor.
        labels: [batch] int64 tensor.
        weights: scalar, or [batch] tensor.
        smoothing: label smoothing in "sigmoid" and "softmax".

    Returns:
        dict of the scalars "sigmoid", "softmax" and "sparse".
    """
    losses = tensorflow.contrib.slim.losses
    rows = tensorflow.contrib.slim.one_hot_encoding(labels, logits.shape[1])
    return {
        "sigmoid": losses.sigmoid_cross_entropy(logits, rows, weights, smoothing),
        "softmax": losses.softmax_cross_entropy(logits, rows, weights, smoothing),
        "sparse": losses.sparse_softmax_cross_entropy(logits, labels, weights),
    }


def errors(predictions, labels, weights=1.0):
    """Computes the losses of `slim.losses` whose first argument is predictions.

    Args:
        predictions: [batch, n] float tensor; probabilities for "log".
        labels: [batch, n] tensor; 0 and 1 for "log" and "hinge".
        weights: scalar, or [batch] or [batch, n] tensor; not used by "hinge".

    Returns:
        dict of the float32 scalars "absolute", "squared", "pairwise" and "log", and of
        "hinge", which is neither weighted nor averaged: [batch, n].
    """
    losses = tensorflow.contrib.slim.losses
    return {
        "absolute": losses.absolute_difference(predictions, labels, weights),
        "squared": losses.mean_squared_error(predictions, labels, weights),
        "pairwise": losses.mean_pairwise_squared_error(predictions, labels, weights),
        "log": losses.log_loss(predictions, labels, weights),
        "hinge": losses.hinge_loss(predictions, labels),
    }


def total_loss(logits, labels, kernel, scale):
    """Sums the losses and penalties in the collections of `slim.losses`.

    Args:
        logits: [batch, classes] float32 array.
        labels: [batch] int64 array.
        kernel: float32 array that is penalized.
        scale: weight of the penalty, a float.

    Returns:
        dict with the list of `losses`, the list of `penalties`, the `total` of both,
        and `data`, the total without penalties.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        slim = tensorflow.contrib.slim
        logits, labels = tf.constant(logits), tf.constant(labels)
        # --- add
        slim.losses.sparse_softmax_cross_entropy(logits, labels)
        tf.losses.sparse_softmax_cross_entropy(labels, logits, 0.5)  # same collection
        slim.losses.hinge_loss(logits, tf.ones_like(logits))  # not in the collection
        slim.losses.add_loss(tf.reduce_max(tf.abs(logits)))
        tf.get_variable(
            "kernel",
            initializer=kernel,
            regularizer=slim.l2_regularizer(scale),
        )
        # --- sum
        found = {
            "losses": slim.losses.get_losses(),
            "penalties": slim.losses.get_regularization_losses(),
            "total": slim.losses.get_total_loss(),
            "data": slim.losses.get_total_loss(add_regularization_losses=False),
        }
        # --- run
        sess.run(tf.global_variables_initializer())
        return sess.run(found)
