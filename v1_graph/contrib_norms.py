"""`tf.contrib.layers`: `batch_norm`, `layer_norm`, `instance_norm`, `group_norm`."""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "make_batch_norm",
    "moving_variance",
    "make_critic",
    "make_normalized",
    "make_layer_norm",
    "make_instance_norm",
    "make_group_norm",
    "train",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def make_batch_norm(
    decay=0.999,
    center=True,
    scale=False,
    epsilon=0.001,
    activation=None,
    fused=None,
    zero_debias=False,
    name="net",
):
    """Makes batch normalization; each training call updates the moving statistics.

    Args:
        decay: share of the moving statistics that an update keeps.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        epsilon: added to the variance.
        activation: name of a function of `tf.nn`, or None.
        fused: False: do not use the fused kernel, which takes float32 matrices and
            images.
        zero_debias: whether the moving mean is divided by 1 - decay ** updates.
        name: scope of the variables `BatchNorm/beta`, `BatchNorm/gamma`,
            `BatchNorm/moving_mean` and `BatchNorm/moving_variance`.

    Returns:
        Callable. It takes x, [..., channels] floats, and `is_training`, a bool. It
        returns a tensor of the same shape.

    Raises:
        TypeError: from the callable: float64 without `fused=False`.
        ValueError: from the callable: an unknown number of channels.
    """

    def batch_norm(x, is_training):
        y = tensorflow.contrib.layers.batch_norm(
            x,
            decay,
            center,
            scale,
            epsilon,
            activation_fn=activation and getattr(tf.nn, activation),
            is_training=is_training,
            fused=fused,
            zero_debias_moving_mean=zero_debias,
        )
        scope = tf.get_variable_scope().name + "/"
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
        with tf.control_dependencies(updates):
            return tf.identity(y)

    return tf.make_template(name, batch_norm)


def moving_variance(batches, decay=0.999, fused=None):
    """Returns the moving variance of batch normalization after each batch.

    Args:
        batches: list of [n, …, channels] float32 arrays; n may vary.
        decay: share of the moving variance that an update keeps.
        fused: False: do not use the fused kernel; float64 is allowed, too.

    Returns:
        List of [channels] arrays, `norm/moving_variance` after each batch.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(batches[0].dtype, [None] + list(batches[0].shape[1:]))
        tensorflow.contrib.layers.batch_norm(x, decay, fused=fused, scope="norm")
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        named = {v.op.name: v for v in tf.global_variables()}
        # --- run
        sess.run(tf.global_variables_initializer())
        found = []
        for batch in batches:
            sess.run(updates, {x: batch})  # without these updates it would stay 1
            found.append(sess.run(named["norm/moving_variance"]))
        return found


def make_critic(units, decay=0.999, name="critic"):
    """Makes a GAN critic that scores the real batch first, then the generated one.

    Args:
        units: size of the layer whose output is normalized.
        decay: share of the moving statistics that an update keeps.
        name: scope of the variables `hidden/weights`, `hidden/BatchNorm/…`,
            `score/weights` and `score/biases`.

    Returns:
        Callable. It takes two [batch, features] float32 tensors and returns the [batch,
        1] scores of both. Each call updates the moving statistics twice.
    """

    def score(x, reuse):
        layers = tensorflow.contrib.layers
        draw = layers.xavier_initializer(seed=1)
        hidden = layers.fully_connected(
            x,
            units,
            normalizer_fn=layers.batch_norm,
            # None: the updates run with the output, in every call.
            normalizer_params={"decay": decay, "updates_collections": None},
            weights_initializer=draw,
            reuse=reuse,
            scope="hidden",
        )
        return layers.fully_connected(
            hidden, 1, None, weights_initializer=draw, reuse=reuse, scope="score"
        )

    def critic(real, generated):
        first = score(real, None)
        with tf.control_dependencies([first]):  # nothing else orders the updates
            return first, score(generated, True)

    return tf.make_template(name, critic)


def make_normalized(filters, units, decay=0.999, name="net"):
    """Makes a convolution and a dense layer with batch norm in place of biases.

    Args:
        filters: number of channels.
        units: size of the output.
        decay: share of the moving statistics that an update keeps.
        name: scope of the variables `conv/weights`, `conv/BatchNorm/beta`, …, and
            `scores/weights`, `scores/BatchNorm/beta`, …

    Returns:
        Callable. It takes x, [batch, height, width, channels] float32, and
        `is_training`, a bool. It returns [batch, units], after ReLU.
    """

    def normalized(x, is_training):
        layers = tensorflow.contrib.layers
        options = {
            "weights_initializer": layers.xavier_initializer(seed=1),
            "normalizer_fn": layers.batch_norm,
            "normalizer_params": {
                "is_training": is_training,
                "decay": decay,
                "updates_collections": None,
            },
        }
        x = layers.flatten(layers.conv2d(x, filters, 3, scope="conv", **options))
        return layers.fully_connected(x, units, scope="scores", **options)

    return tf.make_template(name, normalized)


def make_layer_norm(
    begin_norm_axis=1,
    begin_params_axis=-1,
    center=True,
    scale=True,
    activation=None,
    name="net",
):
    """Makes layer normalization over all axes of an example, not only the last one.

    Args:
        begin_norm_axis: first axis to normalize over; may be negative.
        begin_params_axis: first axis of beta and gamma; may be negative.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        activation: name of a function of `tf.nn`, or None.
        name: scope of the variables `LayerNorm/beta` and `LayerNorm/gamma`.

    Returns:
        Callable from a [batch, …] float tensor to a tensor of the same shape.

    Raises:
        ValueError: from the callable: an axis is out of range, or the axes of beta and
            gamma have unknown sizes.
    """

    def layer_norm(x):
        return tensorflow.contrib.layers.layer_norm(
            x,
            center,
            scale,
            activation_fn=activation and getattr(tf.nn, activation),
            begin_norm_axis=begin_norm_axis,
            begin_params_axis=begin_params_axis,
        )

    return tf.make_template(name, layer_norm)


def make_instance_norm(center=True, scale=True, epsilon=1e-6, name="net"):
    """Makes instance normalization: over space, for each example and channel.

    Args:
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        epsilon: added to the variance.
        name: scope of the variables `InstanceNorm/beta` and `InstanceNorm/gamma`.

    Returns:
        Callable from a [batch, …, channels] float tensor to a tensor of the same shape.

    Raises:
        ValueError: from the callable: an unknown number of channels.
    """

    def instance_norm(x):
        return tensorflow.contrib.layers.instance_norm(x, center, scale, epsilon)

    return tf.make_template(name, instance_norm)


def make_group_norm(
    groups=32,
    channels_axis=-1,
    reduction_axes=(-3, -2),
    center=True,
    scale=True,
    epsilon=1e-6,
    name="net",
):
    """Makes group normalization: over space and the channels of each group.

    Args:
        groups: number of groups.
        channels_axis: axis of the channels.
        reduction_axes: the other axes to normalize over.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        epsilon: added to the variance.
        name: scope of the variables `GroupNorm/beta` and `GroupNorm/gamma`.

    Returns:
        Callable from a [batch, height, width, channels] float tensor, or one that fits
        the axes, to a tensor of the same shape.

    Raises:
        ValueError: from the callable: the number of channels is unknown, less than
            `groups` or not a multiple of it; two axes are equal; or unknown sizes.
    """

    def group_norm(x):
        return tensorflow.contrib.layers.group_norm(
            x, groups, channels_axis, reduction_axes, center, scale, epsilon
        )

    return tf.make_template(name, group_norm)


def train(x, y, start, steps, rate, options=()):
    """Trains a classifier with batch normalization, as `optimize_loss` does.

    Args:
        x: [n, features] float array; float64 needs the option `fused` False.
        y: [n] int array of classes.
        start: {"hidden/weights": [features, units] array, "hidden/BatchNorm/beta":
            [units] array, "scores/weights": [units, classes] array, "scores/biases":
            [classes] array}, of the dtype of x.
        steps: how many steps to take, all on the same rows.
        rate: learning rate, a float.
        options: dict with any of these keys: `fused`, of the batch norm; `optimizer`,
            "SGD" (the default), "Momentum" (0.9), "Adam", "Adagrad", "RMSProp" or
            "Ftrl"; `clip_gradients`, the largest global norm, a float; `decay`, (steps,
            factor) of an exponential decay; `multipliers`, {name of a variable: factor
            of its gradient}.

    Returns:
        dict with the `losses` before each step, the `summaries` by tag, [steps] arrays,
        and the `variables` after training by their names in a checkpoint.

    Raises:
        ValueError: a rate below 0, a norm that is not a float, another optimizer.
    """
    options = dict(options)
    layers = tensorflow.contrib.layers
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- loss
        global_step = tf.train.get_or_create_global_step()
        inputs = tf.placeholder(x.dtype, [None, x.shape[1]])
        labels = tf.placeholder(tf.int64, [None])
        units, classes = start["scores/weights"].shape
        hidden = layers.fully_connected(
            inputs,
            units,
            normalizer_fn=layers.batch_norm,
            normalizer_params={"decay": 0.9, "fused": options.get("fused")},
            scope="hidden",
        )
        logits = layers.fully_connected(hidden, classes, None, scope="scores")
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )

        # --- step
        def decay_fn(rate, step):
            return tf.train.exponential_decay(rate, step, *options["decay"])

        step = layers.optimize_loss(
            loss,
            global_step,
            rate,
            options.get("optimizer", "SGD"),
            gradient_multipliers={
                name + ":0": k for name, k in options.get("multipliers", {}).items()
            },
            clip_gradients=options.get("clip_gradients"),
            learning_rate_decay_fn=decay_fn if "decay" in options else None,
        )
        summaries = tf.summary.merge_all()
        # --- run
        sess.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            variable.load(start[variable.op.name], sess)
        losses, found = [], {}
        for _ in range(steps):
            loss, written = sess.run([step, summaries], {inputs: x, labels: y})
            losses.append(loss)
            for value in tf.Summary.FromString(written).value:
                found.setdefault(value.tag, []).append(np.float32(value.simple_value))
        variables = {v.op.name: v for v in tf.global_variables()}
        return {
            "losses": np.stack(losses),
            "summaries": {tag: np.stack(values) for tag, values in found.items()},
            "variables": sess.run(variables),
        }
