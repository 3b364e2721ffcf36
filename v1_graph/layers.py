"""`tf.layers`: `dense`, `conv2d`, `batch_normalization`, `dropout` → small modules."""

import tensorflow.compat.v1 as tf

__all__ = [
    "make_dense_layers",
    "make_conv1d",
    "make_conv2d",
    "make_conv2d_transpose",
    "make_separable_conv2d",
    "pool_and_flatten",
    "dropout",
    "make_embedding",
    "make_batch_norm",
    "make_layer_norm",
    "train",
]


def make_dense_layers(units, use_bias=True, scale=None, name="perceptron"):
    """Makes a stack of dense layers with ReLU, named `dense`, `dense_1`, ….

    Args:
        units: list of the layers' sizes.
        use_bias: whether the layers add a bias.
        scale: weight of an l2 penalty on the kernels, or None.
        name: scope of the variables `dense/kernel`, `dense/bias`, `dense_1/kernel`, …

    Returns:
        Callable from a [..., features] float tensor to the [..., units[-1]] tensor and
        the penalty, a scalar.

    Raises:
        ValueError: in a call: the rank is below 2, or the number of features is
            unknown.
    """

    def dense_layers(x):
        # --- layers
        for i, size in enumerate(units):
            x = tf.layers.dense(
                x,
                size,
                activation=tf.nn.relu if i < len(units) - 1 else None,
                use_bias=use_bias,
                kernel_initializer=tf.glorot_uniform_initializer(seed=i),
                kernel_regularizer=scale and (lambda w: scale * tf.nn.l2_loss(w)),
            )
        # --- penalty
        # The penalty is added once, when the kernel is made, even if layers are called
        # again.
        scope = tf.get_variable_scope().name
        penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, scope + "/")
        return x, tf.add_n(penalties or [tf.zeros([], x.dtype)])

    return tf.make_template(name, dense_layers)


def make_conv1d(filters, size, stride=1, padding="valid", dilation=1, name="conv1d"):
    """Makes a 1-D convolution over time.

    Args:
        filters: number of output channels.
        size: size of the kernel.
        stride: step between outputs; 1 if `dilation` is not 1.
        padding: "valid" or "same".
        dilation: step between the inputs of one output.
        name: scope of the variables `kernel` and `bias`.

    Returns:
        Callable from a [batch, steps, channels] float tensor to [batch, new steps,
        filters].
    """
    return tf.layers.Conv1D(
        filters,
        size,
        stride,
        padding,
        dilation_rate=dilation,
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
        name=name,
    )


def make_conv2d(
    filters,
    size,
    strides=(1, 1),
    padding="valid",
    activation=None,
    use_bias=True,
    name="conv2d",
):
    """Makes a 2-D convolution over images.

    Args:
        filters: number of output channels.
        size: (height, width) of the kernel.
        strides: (down, right) between outputs.
        padding: "valid" or "same".
        activation: name of a function of `tf.nn`, or None.
        use_bias: whether to add a bias.
        name: scope of the variables `kernel` and `bias`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, filters].

    Raises:
        ValueError: another padding; in a call: the input does not have four dimensions,
            or unknown channels.
    """
    return tf.layers.Conv2D(
        filters,
        size,
        strides,
        padding,
        activation=activation and getattr(tf.nn, activation),
        use_bias=use_bias,
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
        name=name,
    )


def make_conv2d_transpose(
    filters, size, strides=(1, 1), padding="valid", name="conv2d_transpose"
):
    """Makes a transposed 2-D convolution, which enlarges images.

    Args:
        filters: number of output channels.
        size: (height, width) of the kernel.
        strides: (down, right): how much larger the output is.
        padding: "valid" or "same".
        name: scope of the variables `kernel` and `bias`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, filters].
    """
    return tf.layers.Conv2DTranspose(
        filters,
        size,
        strides,
        padding,
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
        name=name,
    )


def make_separable_conv2d(
    filters, size, strides=(1, 1), padding="valid", multiplier=1, name="separable"
):
    """Makes a separable 2-D convolution: depthwise, then pointwise.

    Args:
        filters: number of output channels.
        size: (height, width) of the kernel.
        strides: (down, right) between outputs, both the same.
        padding: "valid" or "same".
        multiplier: number of depthwise outputs for each channel.
        name: scope of the variables `depthwise_kernel`, `pointwise_kernel` and `bias`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor to [batch, new
        height, new width, filters].
    """
    return tf.layers.SeparableConv2D(
        filters,
        size,
        strides,
        padding,
        depth_multiplier=multiplier,
        depthwise_initializer=tf.glorot_uniform_initializer(seed=1),
        pointwise_initializer=tf.glorot_uniform_initializer(seed=2),
        name=name,
    )


def pool_and_flatten(x, size, strides, padding="valid"):
    """Pools images by maximum and by average, and flattens the maxima.

    Args:
        x: [batch, height, width, channels] float tensor.
        size: size of the windows, a number.
        strides: step between windows, a number.
        padding: "valid" or "same".

    Returns:
        (averages [batch, new height, new width, channels], maxima [batch, features]).
    """
    maxima = tf.layers.max_pooling2d(x, size, strides, padding)
    averages = tf.layers.average_pooling2d(x, size, strides, padding)
    return averages, tf.layers.flatten(maxima)


def dropout(x, rate, seed, training=True, noise_shape=None, draws=2):
    """Applies dropout in training: zeroes random elements, and scales up the others.

    Args:
        x: float array.
        rate: share of the elements to drop, in [0, 1).
        seed: seed of the op; the seed of the graph is 7.
        training: whether to drop anything.
        noise_shape: list with 1 for an axis that shares its draws, None for the size of
            x; or None to draw for every element.
        draws: number of draws.

    Returns:
        List of arrays like x.

    Raises:
        ValueError: a rate outside [0, 1).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        # The default of `training` is False: nothing would be dropped.
        y = tf.layers.dropout(tf.constant(x), rate, noise_shape, seed, training)
        # --- run
        return [sess.run(y) for _ in range(draws)]


def make_embedding(classes, size, name="embedding"):
    """Makes an embedding: a table of vectors that are looked up by id.

    Args:
        classes: number of rows.
        size: size of a vector.
        name: scope of the variable `table`.

    Returns:
        Callable from an int tensor of any shape to float32 [..., size].

    Raises:
        tf.errors.InvalidArgumentError: in a call, on a CPU: an id is not a row.
    """

    def embedding(ids):
        initializer = tf.random_normal_initializer(stddev=0.125, seed=1)
        table = tf.get_variable("table", [classes, size], initializer=initializer)
        return tf.nn.embedding_lookup(table, ids)

    return tf.make_template(name, embedding)


def make_batch_norm(
    momentum=0.99, epsilon=0.001, fused=False, update=True, name="normalized"
):
    """Makes batch normalization, with or without updates of its moving statistics.

    Args:
        momentum: share of the moving statistics that an update keeps.
        epsilon: added to the variance.
        fused: whether to use the fused kernel: float32 and four dimensions only.
        update: whether training updates the moving statistics.
        name: scope of the variables `batch_normalization/gamma`, `…/beta`,
            `…/moving_mean` and `…/moving_variance`.

    Returns:
        Callable from a [..., channels] float tensor and `training`, a bool, to a tensor
        of the same shape.

    Raises:
        TypeError: in a call: `fused` and float64.
    """

    def batch_norm(x, training):
        # The default of `fused` is None: inputs of four dimensions use the fused
        # kernel.
        y = tf.layers.batch_normalization(
            x, momentum=momentum, epsilon=epsilon, training=training, fused=fused
        )
        if not update:
            return y
        scope = tf.get_variable_scope().name + "/"
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
        with tf.control_dependencies(updates):
            return tf.identity(y)

    return tf.make_template(name, batch_norm)


def make_layer_norm(begin_axis=1, name="normalized"):
    """Makes layer normalization over all axes of an example, not only the last one.

    Args:
        begin_axis: first of the axes to normalize over.
        name: scope of the variables `LayerNorm/beta` and `LayerNorm/gamma`, [channels].

    Returns:
        Callable from a [batch, ..., channels] float tensor to a tensor of the same
        shape.

    Raises:
        ValueError: in a call: an axis that does not exist, or unknown channels.
    """

    def layer_norm(x):
        import tensorflow  # compat.v1 has no contrib, and no version after 1.15

        layers = tensorflow.contrib.layers
        return layers.layer_norm(x, begin_norm_axis=begin_axis)

    return tf.make_template(name, layer_norm)


def train(images, labels, steps, rate=0.125, update=True):
    """Trains a small convolutional network with batch normalization and dropout.

    Args:
        images: [n, height, width, channels] float array.
        labels: [n] int array, classes below 3.
        steps: number of steps, all on the same images.
        rate: learning rate.
        update: whether to run the updates of the moving statistics, which programs
            often forget.

    Returns:
        dict with the `losses` before every step, and the `variables` by name and the
        `logits` of inference in the end.

    Raises:
        tf.errors.InvalidArgumentError: a label is not a class.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        tf.set_random_seed(7)
        x = tf.placeholder(images.dtype, [None] + list(images.shape[1:]))
        y = tf.placeholder(tf.int64, [None])
        training = tf.placeholder(tf.bool, [])
        draw = [tf.glorot_uniform_initializer(seed=seed) for seed in (1, 2, 3)]
        net = tf.layers.conv2d(
            x, 4, 3, padding="same", use_bias=False, kernel_initializer=draw[0]
        )
        net = tf.layers.batch_normalization(
            net, momentum=0.75, training=training, fused=False
        )
        net = tf.layers.max_pooling2d(tf.nn.relu(net), 2, 2)
        net = tf.layers.flatten(net)
        net = tf.layers.dropout(net, 0.25, seed=4, training=training)
        net = tf.layers.dense(net, 5, tf.nn.relu, kernel_initializer=draw[1])
        logits = tf.layers.dense(net, 3, kernel_initializer=draw[2])
        # --- step
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS) if update else []
        with tf.control_dependencies(updates):
            step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for _ in range(steps):
            feed = {x: images, y: labels, training: True}
            losses.append(sess.run([loss, step], feed)[0])
        variables = {v.op.name: sess.run(v) for v in tf.global_variables()}
        inferred = sess.run(logits, {x: images, training: False})
        return {"losses": losses, "variables": variables, "logits": inferred}
