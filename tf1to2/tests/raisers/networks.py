"""Convolutions, pooling, dropout and losses of `tf.nn`."""

import tensorflow as tf

from tf1to2.tests.raisers import in_graph, placeholder, v1

IMAGE, KERNEL = tf.ones([1, 4, 4, 3]), tf.ones([1, 1, 3, 2])
X = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def conv2d(image=IMAGE, kernel=KERNEL, strides=1, padding="SAME", **options):
    """A function that convolves an image."""
    return lambda: tf.nn.conv2d(image, kernel, strides, padding, **options)


def transpose(kernel, size):
    """A function that makes an image of two channels larger."""
    return lambda: tf.nn.conv2d_transpose(IMAGE, tf.ones(kernel), [1, size, size, 2], 2)


def depthwise(channels, strides):
    kernel = tf.ones([1, 1, channels, 1])
    return lambda: tf.nn.depthwise_conv2d(IMAGE, kernel, strides, "SAME")


def sparse_loss(labels, logits):
    return lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )


ERRORS = {
    "Value for attr 'padding'": conv2d(padding="same"),
    "Attr 'padding'": in_graph(
        lambda: conv2d(placeholder(1, 4, 4, 3), placeholder(1, 1, 3, 2), 1, "same")()
    ),
    "Value for attr 'data_format'": conv2d(data_format="channels_last"),
    "Attr 'data_format'": in_graph(
        lambda: tf.nn.max_pool2d(placeholder(1, 4, 4, 3), 2, 2, "SAME", "channels_last")
    ),
    "strides should be of length": conv2d(strides=[1, 2, 2]),
    "ksize should be": lambda: tf.nn.max_pool2d(IMAGE, [2, 2, 2], 2, "SAME"),
    "stride should be of": lambda: tf.nn.conv1d(
        tf.ones([1, 4, 3]), tf.ones([1, 3, 2]), [1, 2, 1, 1], "SAME"
    ),
    "strides field must": depthwise(3, [1, 1]),
    "batch and depth": conv2d(strides=[2, 2, 2, 1]),
    "evenly divisible by filter depth: ": conv2d(kernel=tf.ones([1, 1, 4, 2])),
    "Depth of input (": in_graph(
        lambda: conv2d(placeholder(1, 4, 4, 3), placeholder(1, 1, 4, 2))()
    ),
    "must have the same depth": depthwise(2, [1, 1, 1, 1]),
    "BackpropInput: input depth": transpose([2, 2, 5, 3], 8),
    "the same out_depth": transpose([2, 2, 2, 4], 8),
    "Size of out_backprop": transpose([2, 2, 2, 3], 9),
    "must be 3, 4 or 5": lambda: tf.nn.max_pool(X, 2, 2, "SAME"),
    "num_spatial_dims + 2": lambda: tf.nn.atrous_conv2d(X, KERNEL, 2, "SAME"),
    "tensor_in_shape": lambda: v1.nn.max_pool(X, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    "in conjunction with": lambda: tf.nn.convolution(
        IMAGE, KERNEL, strides=2, dilations=2, padding="SAME"
    ),
    "as many biases": lambda: tf.nn.bias_add(X, [1.0, 2.0]),
    "must be at least 2D": lambda: tf.nn.bias_add(tf.ones([3]), tf.ones([3])),
    "in the range [0, 1)": lambda: tf.nn.dropout(X, 1.0),
    "scalar or scalar tensor": lambda: tf.nn.dropout(X, [0.5, 0.5]),
    "`rate` must be provided": lambda: v1.nn.dropout(X),
    "`keep_prob` must be": lambda: v1.nn.dropout(X, keep_prob="half"),
    "will be scaled": lambda: tf.nn.dropout(tf.constant([1, 2]), 0.5),
    "compatible with `rate.dtype`": lambda: tf.nn.dropout(
        X, tf.constant(0.5, tf.float64)
    ),
    "except for the last dimension": sparse_loss([0, 1, 2], X),
    "`logits` cannot be": sparse_loss(0, 1.0),
    "Both `labels` and `logits`": lambda: v1.nn.softmax_cross_entropy_with_logits(
        labels=X
    ),
}
