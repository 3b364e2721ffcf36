"""Mixed precision, loss scaling, `recompute_grad`, `tf.fake_quant_…`, quantization."""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "train_rewritten",
    "train_in_halves",
    "recompute_gradients",
    "recompute_dropout",
    "recompute_batch_norm",
    "train_seeded",
    "fake_quantize",
    "train_quantized",
    "evaluate_quantized",
]

# compat.v1 has no contrib, nor has any version after 1.15: import `tensorflow`.


def train_rewritten(x, y, start, steps, rate, loss_scale=(), clip=None):
    """Trains with automatic mixed precision: the optimizer scales the loss.

    Args:
        x: [n, features] float16 or float32 array; its dtype is the dtype of the
            computation.
        y: [n, units] float32 array.
        start: {"kernel": [features, units] array, "bias": [units] array}, float32.
        steps: number of steps with a momentum of 0.9, all on the same rows.
        rate: learning rate.
        loss_scale: a fixed scale, or dict of the arguments of the dynamic scale.
        clip: the largest norm of all gradients together, or None.

    Returns:
        dict with the `losses` before every step; the `scales` after every step, if the
        scale is updated; `taken`, the number of steps taken so far, after every step;
        and the final `variables`.

    Raises:
        ValueError: a fixed scale below 1.
    """
    experimental = tf.train.experimental
    with tf.Graph().as_default():
        # --- scale
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        if isinstance(loss_scale, float):
            optimizer = experimental.MixedPrecisionLossScaleOptimizer(
                optimizer, experimental.FixedLossScale(loss_scale)
            )
        else:  # on a CPU only the scale has an effect: no op is rewritten
            optimizer = experimental.enable_mixed_precision_graph_rewrite(
                optimizer, experimental.DynamicLossScale(**dict(loss_scale))
            )
        try:
            # --- step
            variables = {n: tf.get_variable(n, initializer=v) for n, v in start.items()}
            kernel, bias = [tf.cast(v, x.dtype) for v in variables.values()]
            outputs = tf.nn.bias_add(tf.matmul(tf.constant(x), kernel), bias)
            errors = tf.cast(outputs, tf.float32) - tf.constant(y)
            loss = tf.reduce_mean(tf.square(errors))
            global_step = tf.train.get_or_create_global_step()
            pairs = optimizer.compute_gradients(loss)  # without the scale
            if clip is not None:
                gradients, weights = zip(*pairs)
                pairs = zip(tf.clip_by_global_norm(gradients, clip)[0], weights)
            train_op = optimizer.apply_gradients(pairs, global_step)
            found = {v.op.name: v for v in tf.global_variables()}
            # --- run
            losses, scales, taken = [], [], []
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for _ in range(steps):
                    losses.append(sess.run([loss, train_op])[0])
                    if "current_loss_scale" in found:
                        scales.append(sess.run(found["current_loss_scale"]))
                    taken.append(sess.run(global_step))
                found = sess.run(found)
        finally:
            experimental.disable_mixed_precision_graph_rewrite()
        return {
            "losses": np.stack(losses),
            "scales": scales,
            "taken": taken,
            "variables": found,
        }


def float32_variable_storage_getter(
    getter, name, shape=None, dtype=None, trainable=True, **options
):
    """Custom getter: stores trained variables in float32, and casts them when read."""
    storage = tf.float32 if trainable else dtype
    variable = getter(name, shape, dtype=storage, trainable=trainable, **options)
    if trainable and dtype != tf.float32:
        variable = tf.cast(variable, dtype)
    return variable


def train_in_halves(x, y, start, steps, rate, loss_scale, dtype="float16"):
    """Trains with float32 weights that are cast to a narrower dtype when read.

    Args:
        x: [n, features] float32 array.
        y: [n] int array of classes.
        start: {"hidden/weights": [features, units] array, "hidden/biases": [units]
            array, "scores/weights": [units, classes] array, "scores/biases": [classes]
            array}, float32.
        steps: number of steps with a momentum of 0.9, all on the same rows.
        rate: learning rate.
        loss_scale: factor of the loss, and divisor of the gradients.
        dtype: name of the dtype to compute in.

    Returns:
        dict with the float32 `losses` before every step, the share of gradients that
        have `vanished`, and the `variables` in the end by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- network
        hidden = tf.cast(tf.constant(x), dtype)
        with tf.variable_scope("", custom_getter=float32_variable_storage_getter):
            for layer in ("hidden", "scores"):
                with tf.variable_scope(layer):
                    weights, biases = [
                        tf.get_variable(
                            name,
                            start[layer + "/" + name].shape,
                            tf.as_dtype(dtype),
                            tf.constant_initializer(start[layer + "/" + name]),
                        )
                        for name in ("weights", "biases")
                    ]
                hidden = tf.nn.bias_add(tf.matmul(hidden, weights), biases)
                if layer == "hidden":
                    hidden = tf.nn.relu(hidden)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant(y), logits=tf.cast(hidden, tf.float32)
        )
        loss = tf.reduce_mean(losses)
        # --- step
        variables = tf.trainable_variables()
        gradients = [
            gradient / loss_scale
            for gradient in tf.gradients(loss * loss_scale, variables)
        ]
        flat = tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)
        vanished = tf.reduce_mean(tf.cast(tf.equal(flat, 0), tf.float32))
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        train_op = optimizer.apply_gradients(zip(gradients, variables))
        # --- run
        sess.run(tf.global_variables_initializer())
        found = [sess.run([loss, vanished, train_op])[:2] for _ in range(steps)]
        losses, vanished = np.array(found).T
        found = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": losses, "vanished": vanished, "variables": found}


def recompute_gradients(x, start):
    """Recomputes two layers in the backward pass, and counts how often they run.

    Args:
        x: [n, features] float array.
        start: {"first": [features, units] array, "second": [units, units] array} of
            the same dtype.

    Returns:
        dict with the `outputs`, [n, units]; the `gradients` of the sum of their squares
        with respect to x and the weights; how often the layers have run when the
        outputs are `inferred`, and when they are `trained`.

    Raises:
        ValueError: weights that do not fit.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- layers
        @tensorflow.contrib.layers.recompute_grad
        def layers(x):
            runs = tf.get_variable(
                "runs", [], tf.int32, tf.zeros_initializer(), trainable=False
            )
            with tf.control_dependencies([runs.assign_add(1)]):
                for name in ("first", "second"):
                    weights = tf.get_variable(name, None, x.dtype, start[name])
                    x = tf.tanh(tf.matmul(x, weights))
            return x

        # --- gradients
        inputs = tf.constant(x)
        with tf.variable_scope("", use_resource=True):  # required
            outputs = layers(inputs)
        variables = {v.op.name: v for v in tf.global_variables()}
        runs = variables.pop("runs")
        by = {"x": inputs, **variables}
        gradients = tf.gradients(tf.square(outputs), list(by.values()))
        # --- run
        sess.run(tf.global_variables_initializer())
        sess.run(outputs)
        inferred = sess.run(runs)
        outputs, gradients = sess.run([outputs, gradients])
        return {
            "outputs": outputs,
            "gradients": dict(zip(by, gradients)),
            "inferred": inferred,
            "trained": sess.run(runs) - inferred,
        }


def recompute_dropout(x, kernel, keep_prob, graph_seed, op_seed, runs):
    """Applies dropout in a recomputed layer: both passes need the same mask.

    Args:
        x: [n, features] float32 array.
        kernel: [features, units] array of the same dtype.
        keep_prob: share of the elements to keep.
        graph_seed: int.
        op_seed: int.
        runs: number of masks to draw.

    Returns:
        List of (outputs, [n, units], and the gradient of their sum with respect to the
        kernel).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(graph_seed)

        # --- layer
        @tensorflow.contrib.layers.recompute_grad
        def layer(x, kernel):
            hidden = tf.tanh(tf.matmul(x, kernel))
            # Two ops with one seed draw the same mask; without a seed, masks differ.
            return tf.nn.dropout(hidden, keep_prob=keep_prob, seed=op_seed)

        # --- run
        kernel = tf.constant(kernel)
        outputs = layer(tf.constant(x), kernel)
        gradient = tf.gradients(outputs, kernel)[0]
        return [sess.run((outputs, gradient)) for _ in range(runs)]


def recompute_batch_norm(batches, kernel, decay, told):
    """Applies batch norm in a recomputed layer: statistics may be updated twice.

    Args:
        batches: [steps, n, features] float array.
        kernel: [features, units] array of the same dtype.
        decay: share of the moving statistics that an update keeps.
        told: whether the layer knows when it is recomputed, and then updates nothing.

    Returns:
        dict with the `gradients` of the sum of squares with respect to the kernel, one
        for each batch, and the `variables` in the end by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- layer
        def layer(x, kernel, is_recomputing=False):
            again = told and is_recomputing
            return tensorflow.contrib.layers.batch_norm(
                tf.matmul(x, kernel),
                decay,
                fused=False,
                updates_collections="again" if again else None,  # None: in place
                scope="BatchNorm",
            )

        # --- gradients
        inputs = tf.placeholder(batches.dtype, batches.shape[1:])
        kernel = tf.constant(kernel)
        with tf.variable_scope("", use_resource=True):
            outputs = tensorflow.contrib.layers.recompute_grad(layer)(inputs, kernel)
        gradient = tf.gradients(tf.square(outputs), kernel)[0]
        # --- run
        sess.run(tf.global_variables_initializer())
        gradients = [sess.run(gradient, {inputs: batch}) for batch in batches]
        variables = {v.op.name: v for v in tf.global_variables()}
        return {"gradients": gradients, "variables": sess.run(variables)}


def train_seeded(x, y, kernel, seed, epochs, batch_size, rate, runs):
    """Trains several times from one seed, with bitwise equal results.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        kernel: [features, units] array of the same dtype, the initial weights.
        seed: int.
        epochs: number of repetitions of the rows, which are then shuffled.
        batch_size: number of rows in a step.
        rate: learning rate.
        runs: number of runs.

    Returns:
        List, one for each run, of dicts of the `losses` before every step, and the
        `kernel` in the end.
    """
    results = []
    for _ in range(runs):
        config = tf.ConfigProto(
            intra_op_parallelism_threads=1, inter_op_parallelism_threads=1
        )
        with tf.Graph().as_default(), tf.Session(config=config) as sess:
            # --- seeds
            tf.set_random_seed(seed)
            dataset = tf.data.Dataset.from_tensor_slices((x, y))
            dataset = dataset.repeat(epochs).shuffle(len(x), seed=1).batch(batch_size)
            iterator = tf.data.make_initializable_iterator(dataset)
            inputs, targets = iterator.get_next()
            # --- step
            variable = tf.get_variable("kernel", initializer=kernel)
            outputs = tf.matmul(tf.nn.dropout(inputs, rate=0.25, seed=2), variable)
            loss = tf.reduce_mean(tf.squared_difference(outputs, targets))
            train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
            # --- run
            sess.run([tf.global_variables_initializer(), iterator.initializer])
            losses = []
            while True:
                try:
                    losses.append(sess.run([loss, train_op])[0])
                except tf.errors.OutOfRangeError:
                    break
            results.append({"losses": np.stack(losses), "kernel": sess.run(variable)})
    return results


def fake_quantize(x, low, high, num_bits=8, narrow_range=False):
    """Fake-quantizes values to a number of bits; passes gradients inside the range.

    Args:
        x: [..., channels] float32 tensor.
        low: lower end of the range: a number, a float32 scalar or a [channels] tensor.
        high: upper end of the range, of the same kind.
        num_bits: 2 to 16.
        narrow_range: whether the lowest of the levels is left out.

    Returns:
        Tensor like x.
    """
    if isinstance(low, float):
        return tf.fake_quant_with_min_max_args(x, low, high, num_bits, narrow_range)
    if low.shape.rank:
        return tf.fake_quant_with_min_max_vars_per_channel(
            x, low, high, num_bits, narrow_range
        )
    return tf.fake_quant_with_min_max_vars(x, low, high, num_bits, narrow_range)


def network(x, start, is_training):
    """Computes the logits of a convolution, an optional batch norm, a dense layer."""
    slim = tensorflow.contrib.slim
    norm = "hidden/BatchNorm/beta" in start
    hidden = slim.conv2d(
        x,
        start["hidden/weights"].shape[-1],
        start["hidden/weights"].shape[0],
        normalizer_fn=slim.batch_norm if norm else None,
        normalizer_params={"is_training": is_training, "scale": True} if norm else {},
        scope="hidden",
    )
    hidden = tf.reduce_mean(hidden, [1, 2])
    classes = start["scores/weights"].shape[1]
    return slim.fully_connected(hidden, classes, None, scope="scores")


def train_quantized(x, y, start, steps, rate, options=()):
    """Trains a network with fake-quantized weights and activations.

    Args:
        x: [n, height, width, channels] float32 array.
        y: [n] int array of classes.
        start: {"hidden/weights": [size, size, channels, units] array, "hidden/biases":
            [units] array, "scores/weights": [units, classes] array, "scores/biases":
            [classes] array}, float32.
        steps: number of steps, all on the same rows.
        rate: learning rate.
        options: dict with any of `quant_delay`, the first step that quantizes;
            `weight_bits` and `activation_bits`; `symmetric`, whether ranges are
            symmetric.

    Returns:
        dict with the `losses` before every step, and the `variables` in the end by
        their names in a checkpoint.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- network
        logits = network(tf.constant(x), start, is_training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.constant(y), logits=logits
        )
        loss = tf.reduce_mean(losses)
        tensorflow.contrib.quantize.experimental_create_training_graph(**dict(options))
        # --- step
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        tensorflow.contrib.slim.assign_from_values_fn(start)(sess)
        losses = [sess.run([loss, train_op])[0] for _ in range(steps)]
        found = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.stack(losses), "variables": found}


def evaluate_quantized(x, saved):
    """Classifies with a quantized network; batch norm is folded into its weights.

    Args:
        x: [n, height, width, channels] float32 array.
        saved: {name: array}, as `train_quantized` returns them; in place of
            "hidden/biases" it may have "hidden/BatchNorm/gamma", "beta", "moving_mean"
            and "moving_variance", [units] each.

    Returns:
        [n, classes] array of probabilities.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- network
        logits = network(tf.constant(x), saved, is_training=False)
        probabilities = tf.nn.softmax(logits)  # reads the quantized logits
        tensorflow.contrib.quantize.create_eval_graph()
        # --- run
        names = {v.op.name for v in tf.global_variables()}
        values = {name: value for name, value in saved.items() if name in names}
        tensorflow.contrib.slim.assign_from_values_fn(values)(sess)
        return sess.run(probabilities)
