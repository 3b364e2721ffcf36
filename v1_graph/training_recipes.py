"""Warm-up, plateaus, `partitioner`, gradient accumulation, `is_training`, DQN."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

from v1_graph.optimizers import AdamWeightDecayOptimizer

__all__ = [
    "warmed_rate",
    "pretrain",
    "halve_on_plateau",
    "train_in_parts",
    "train_with_switch",
    "evaluate_averages",
    "accumulate",
    "normalize_twice",
    "classify_channels_first",
    "fetch_beside_step",
    "evaluate_checkpoints",
    "train_dqn",
    "normalize_by_data",
    "paint",
]


def variables_of(start):
    return {n: tf.get_variable(n, initializer=value) for n, value in start.items()}


def outputs_of(weights, x):
    """Computes the output of a network with a body and a head."""
    hidden = tf.nn.relu(tf.matmul(x, weights["body/kernel"]) + weights["body/bias"])
    return tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]


def error(weights, x, y):
    """Computes the mean squared error of a network with a body and a head."""
    return tf.reduce_mean(tf.square(outputs_of(weights, x) - y))


def warmed_rate(global_step, learning_rate, decay_steps, warmup_steps):
    """Computes BERT's learning rate: linear warm-up, then linear decay to zero.

    Args:
        global_step: int tensor of any shape.
        learning_rate: float scalar, the value of the decay at step 0.
        decay_steps: int, the step at which the rate is zero.
        warmup_steps: int, the step at which the warm-up ends; 0 for no warm-up.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    # --- decay
    learning_rate = tf.convert_to_tensor(learning_rate)
    rate = tf.train.polynomial_decay(learning_rate, global_step, decay_steps, 0.0)
    if not warmup_steps:
        return rate
    # --- warm-up
    done = tf.cast(global_step, rate.dtype) / tf.cast(warmup_steps, rate.dtype)
    is_warmup = tf.cast(global_step < warmup_steps, rate.dtype)
    return (1.0 - is_warmup) * rate + is_warmup * (learning_rate * done)


class BertAdam(AdamWeightDecayOptimizer):
    """BERT's optimizer with slots named as BERT's; it does not count steps."""

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "m", "adam_m")
            self._zeros_slot(variable, "v", "adam_v")


def layer_norm(x, weights, scope):
    """Normalizes each row by its mean and its standard deviation."""
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centered), -1, keepdims=True)
    normalized = centered * tf.rsqrt(variance + 1e-12)
    return normalized * weights[scope + "/gamma"] + weights[scope + "/beta"]


def normalized_error(weights, x, y):
    """Computes the mean squared error of a network with two layer norms."""
    x = layer_norm(x, weights, "layer_norm")
    hidden = tf.matmul(x, weights["body/kernel"]) + weights["body/bias"]
    hidden = tf.nn.relu(layer_norm(hidden, weights, "LayerNorm"))
    outputs = tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]
    return tf.reduce_mean(tf.square(outputs - y))


def pretrain(x, y, start, steps, rate=0.01, warmup_steps=4, limit=1.0):
    """Trains as BERT did: warm-up, decay, clipping, and a global step set by hand.

    Args:
        x: [n, features] float array.
        y: [n, outputs] array of the dtype of the other arrays.
        start: {"body/kernel": [features, units] array, "body/bias": [units] array,
            "head/kernel": [units, outputs] array, "head/bias": [outputs] array}, and
            for the norms of the inputs and of the body "layer_norm/gamma" and
            "layer_norm/beta", [features] arrays, "LayerNorm/gamma" and
            "LayerNorm/beta", [units] arrays. The norms' variables and the biases do not
            decay.
        steps: number of steps; after them the rate is zero.
        rate, warmup_steps: see `warmed_rate`.
        limit: global norm to which the gradients are clipped.

    Returns:
        dict with the `losses` and `rates` before each step, and the final `variables`
        by their names in BERT's checkpoints.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        weights = variables_of(start)
        loss = normalized_error(weights, tf.constant(x), tf.constant(y))
        variables = tf.trainable_variables()
        global_step = tf.train.get_or_create_global_step()
        rate = warmed_rate(global_step, x.dtype.type(rate), steps, warmup_steps)
        optimizer = BertAdam(rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
        # --- step
        clipped, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), limit)
        train_op = optimizer.apply_gradients(zip(clipped, variables))
        # BERT did not have this line: about one of three runs used the next step's
        # rate.
        with tf.control_dependencies([train_op]):
            train_op = tf.group(train_op, global_step.assign(global_step + 1))
        # --- run
        sess.run(tf.global_variables_initializer())
        rows = [sess.run([loss, rate, train_op])[:2] for _ in range(steps)]
        losses, rates = np.array(rows).T
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": losses, "rates": rates, "variables": variables}


def halve_on_plateau(data, validation, start, steps, rate=0.5, patience=1):
    """Halves the fed learning rate when the validation loss stops falling.

    Args:
        data: (x, y), float arrays, see `pretrain`.
        validation: (x, y), the validation data.
        start: see `pretrain`.
        steps: number of Momentum steps, each followed by a validation.
        rate: learning rate of the first step.
        patience: number of validations in a row that may find no lower loss.

    Returns:
        dict with the `rates` and the validation `losses` of all steps, and the final
        `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        weights = variables_of(start)
        learning_rate = tf.placeholder(data[0].dtype, [])
        optimizer = tf.train.MomentumOptimizer(learning_rate, 0.9)
        train_op = optimizer.minimize(error(weights, *data))
        validation_loss = error(weights, *validation)
        # --- run
        sess.run(tf.global_variables_initializer())
        rates, losses, best, stalled = [], [], np.inf, 0
        for _ in range(steps):
            sess.run(train_op, {learning_rate: rate})
            rates.append(rate)
            losses.append(sess.run(validation_loss))
            stalled = 0 if losses[-1] < best else stalled + 1
            best = min(best, losses[-1])
            if stalled > patience:
                rate, stalled = rate / 2, 0
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        rates = np.array(rates, data[0].dtype)
        return {"rates": rates, "losses": np.array(losses), "variables": variables}


def train_in_parts(files, ids, targets, shards, min_slice_size=None):
    """Continues training a partitioned embedding table from a checkpoint; saves it.

    Args:
        files: {suffix: bytes as a uint8 array}, a checkpoint of `table`, [rows, size],
            and `table/Adagrad`, each partitioned or whole.
        ids: [steps, k] int array of rows.
        targets: [steps, k, size] float array.
        shards: number of partitions; the largest number if there is a `min_slice_size`.
        min_slice_size: smallest size of a partition in bytes, or None.

    Returns:
        dict with the `losses` before each step, the `entries` (name and shape) of the
        new checkpoint, and their `values` by name.
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        # --- build
        path = unpack(files, folder)
        partitioner = tf.fixed_size_partitioner(shards)
        if min_slice_size is not None:
            partitioner = tf.min_max_variable_partitioner(
                shards, min_slice_size=min_slice_size
            )
        shape = tf.train.load_checkpoint(path).get_variable_to_shape_map()["table"]
        dtype = tf.as_dtype(targets.dtype)
        table = tf.get_variable("table", shape, dtype, partitioner=partitioner)
        rows = tf.placeholder(ids.dtype, ids.shape[1:])
        target = tf.placeholder(targets.dtype, targets.shape[1:])
        # The default "mod" reads row i from partition i % shards, which is not the
        # order of the checkpoint.
        looked_up = tf.nn.embedding_lookup(table, rows, partition_strategy="div")
        loss = tf.reduce_mean(tf.square(looked_up - target))
        train_op = tf.train.AdagradOptimizer(0.5).minimize(loss)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            # --- restore
            saver.restore(sess, path)
            # --- run
            feeds = [{rows: i, target: t} for i, t in zip(ids, targets)]
            losses = [sess.run([loss, train_op], feed)[0] for feed in feeds]
            # --- save
            path = saver.save(sess, os.path.join(folder, "model.ckpt"))
        entries = tf.train.list_variables(path)
        values = {name: tf.train.load_variable(path, name) for name, _ in entries}
        return {"losses": np.array(losses), "entries": entries, "values": values}


def unpack(files, folder):
    """Writes the files of a checkpoint, and returns its path."""
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def train_with_switch(x, y, start, steps, rate=0.125):
    """Trains with an `is_training` switch, and predicts after every step.

    Args:
        x, y: see `pretrain`.
        start: {"body/kernel": …, "head/kernel": …}, see `pretrain`.
        steps: number of steps.
        rate: learning rate.

    Returns:
        dict with the `losses` of all steps, the mean `errors` of the predictions after
        each step, and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        training = tf.placeholder_with_default(False, [], name="training")
        weights = variables_of(start)
        hidden = tf.layers.batch_normalization(
            tf.matmul(x, weights["body/kernel"]), momentum=0.75, training=training
        )
        hidden = tf.layers.dropout(tf.nn.relu(hidden), 0.25, seed=4, training=training)
        outputs = tf.matmul(hidden, weights["head/kernel"])
        loss = tf.reduce_mean(tf.squared_difference(outputs, y))
        # --- step
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses, errors = [], []
        for _ in range(steps):
            losses.append(sess.run([loss, train_op], {training: True})[0])
            errors.append(sess.run(loss))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {
            "losses": np.array(losses),
            "errors": np.array(errors),
            "variables": variables,
        }


def evaluate_averages(data, validation, start, rounds, steps, decay=0.9, rate=0.125):
    """Evaluates with moving averages between rounds; then restores the weights.

    Args:
        data, validation, start: see `halve_on_plateau`.
        rounds: number of rounds; each trains, saves, evaluates and restores.
        steps: number of steps of a round.
        decay: share of the old averages that a step keeps.
        rate: learning rate.

    Returns:
        dict with lists that have one item per round: `losses`, the validation losses of
        the weights, and `averaged`, the validation losses of the averages; and the
        final `variables` by name.
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        # --- build
        weights = variables_of(start)
        minimize = tf.train.GradientDescentOptimizer(rate).minimize
        with tf.control_dependencies([minimize(error(weights, *data))]):
            averages = tf.train.ExponentialMovingAverage(decay)
            train_op = averages.apply(list(weights.values()))
        validation_loss = error(weights, *validation)
        saver = tf.train.Saver()
        averaged_saver = tf.train.Saver(averages.variables_to_restore())
        with tf.Session() as sess:
            # --- run
            sess.run(tf.global_variables_initializer())
            losses, averaged, path = [], [], os.path.join(folder, "model.ckpt")
            for _ in range(rounds):
                for _ in range(steps):
                    sess.run(train_op)
                saver.save(sess, path)
                losses.append(sess.run(validation_loss))
                # --- swap
                averaged_saver.restore(sess, path)
                averaged.append(sess.run(validation_loss))
                saver.restore(sess, path)
            variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {
            "losses": np.array(losses),
            "averaged": np.array(averaged),
            "variables": variables,
        }


def accumulate(xs, ys, start, rates=(0.125, 0.0625)):
    """Accumulates gradients over micro-batches; trains with two optimizers.

    Args:
        xs: [steps, parts, n, features] float array.
        ys: [steps, parts, n, outputs] array of the dtype of the other arrays.
        start: see `pretrain`.
        rates: learning rates of the body's Adam and of the head's Momentum.

    Returns:
        dict with the `losses`, [steps, parts], and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(xs.dtype, xs.shape[2:])
        y = tf.placeholder(ys.dtype, ys.shape[2:])
        loss = error(variables_of(start), x, y)
        body, head = tf.trainable_variables("body"), tf.trainable_variables("head")
        totals = [tf.Variable(np.zeros_like(start[v.op.name])) for v in body + head]
        # --- accumulate
        gradients = tf.gradients(loss / xs.shape[1], body + head)
        add = tf.group(*[tf.assign_add(t, g) for t, g in zip(totals, gradients)])
        zero = tf.group(*[tf.assign(t, tf.zeros_like(t)) for t in totals])
        # --- step
        global_step = tf.train.get_or_create_global_step()
        of_body = tf.train.AdamOptimizer(rates[0])
        of_head = tf.train.MomentumOptimizer(rates[1], 0.9)
        apply = tf.group(
            of_body.apply_gradients(zip(totals, body)),
            of_head.apply_gradients(zip(totals[len(body) :], head), global_step),
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for parts in zip(xs, ys):
            sess.run(zero)
            feeds = [{x: x_part, y: y_part} for x_part, y_part in zip(*parts)]
            losses.append([sess.run([loss, add], feed)[0] for feed in feeds])
            sess.run(apply)
        found = [v for v in tf.global_variables() if v not in totals]
        variables = sess.run({v.op.name: v for v in found})
        return {"losses": np.array(losses), "variables": variables}


def normalize_twice(real, fake, steps, momentum=0.75):
    """Applies one batch norm to a real, then a fake batch; updates it in this order.

    Args:
        real: [n, features] float array.
        fake: [m, features] array of the dtype of the other arrays.
        steps: number of repetitions.
        momentum: share of the moving statistics that an update keeps.

    Returns:
        dict with the last `outputs` for the two batches, and the `moving` statistics
        after each step, [mean, variance].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        norm = tf.layers.BatchNormalization(momentum=momentum)
        first = norm.apply(tf.constant(real), training=True)
        # --- order
        # If one list contained both updates, their order would be undefined, or both
        # would read the old value.
        with tf.control_dependencies(norm.updates):
            second = norm.apply(tf.constant(fake), training=True)
        with tf.control_dependencies(norm.updates):
            outputs = [tf.identity(first), tf.identity(second)]
        # --- run
        sess.run(tf.global_variables_initializer())
        moving, statistics = [], [norm.moving_mean, norm.moving_variance]
        for _ in range(steps):
            values = sess.run(outputs)
            moving.append(sess.run(statistics))
        return {"outputs": values, "moving": moving}


def classify_channels_first(images, kernel, weights):
    """Classifies images in channels-first (NCHW) layout with a convolution.

    Args:
        images: [batch, channels, height, width] float tensor.
        kernel: [3, 3, channels, filters] tensor of the dtype of `images`.
        weights: [filters * height * width, classes] tensor, also channels first.

    Returns:
        [batch, classes] tensor.
    """
    # --- convolve
    if tf.test.is_gpu_available():
        hidden = tf.nn.conv2d(images, kernel, 1, "SAME", data_format="NCHW")
    else:  # most CPU kernels do not support NCHW
        images = tf.transpose(images, [0, 2, 3, 1])
        hidden = tf.nn.conv2d(images, kernel, 1, "SAME")
        hidden = tf.transpose(hidden, [0, 3, 1, 2])
    # --- score
    hidden = tf.reshape(tf.nn.relu(hidden), [tf.shape(hidden)[0], -1])
    return tf.matmul(hidden, weights)


def fetch_beside_step(x, y, kernel, steps, rate=0.125, scale=0.25):
    """Returns the loss before each step and the weights after it, from one call.

    Args:
        x: [n, features] float array.
        y: [n, outputs] array of the dtype of the other arrays.
        kernel: [features, outputs] array.
        steps: number of steps.
        rate: learning rate.
        scale: weight of the l2 penalty.

    Returns:
        List of [loss before, kernel after] for all steps.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        kernel = tf.get_variable("kernel", initializer=kernel)
        squares = tf.square(tf.matmul(x, kernel) - y)
        loss = tf.reduce_mean(squares) + scale * tf.nn.l2_loss(kernel)
        # --- step
        # The penalty's gradient does not depend on its value. So without this line the
        # fetched value may be that after the step.
        with tf.control_dependencies([loss]):
            train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        with tf.control_dependencies([train_op]):
            after = kernel.read_value()
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, after]) for _ in range(steps)]


def evaluate_checkpoints(data, validation, start, rounds, rate=0.125):
    """Evaluates new checkpoints with a second copy of the model during training.

    Args:
        data, validation, start: see `halve_on_plateau`.
        rounds: list of lists: the steps at which training saves before the next
            evaluation.
        rate: learning rate.

    Returns:
        List of (name of the newest checkpoint, validation loss) for each round.
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        # --- train
        global_step = tf.train.get_or_create_global_step()
        loss = error(variables_of(start), *data)
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step)
        saver, sess = tf.train.Saver(), tf.Session()
        sess.run(tf.global_variables_initializer())
        # --- evaluate
        found = []
        with tf.Graph().as_default(), tf.Session() as evaluation:
            loss = error(variables_of(start), *validation)
            restorer = tf.train.Saver()
            paths = tf.train.checkpoints_iterator(folder, timeout=0)
            for stops in rounds:
                for stop in stops:
                    while sess.run(global_step) < stop:
                        sess.run(train_op)
                    saver.save(sess, os.path.join(folder, "model.ckpt"), stop)
                path = next(paths)
                restorer.restore(evaluation, path)
                found.append((os.path.basename(path), evaluation.run(loss)))
        sess.close()
        return found


def train_dqn(
    states,
    actions,
    rewards,
    nexts,
    over,
    start,
    every=2,
    tau=1.0,
    discount=0.9,
    rate=0.125,
):
    """Trains a DQN with a target network that is updated every few steps.

    Args:
        states, nexts: [steps, n, features] float arrays, before and after an action.
        actions: [steps, n] int32 array.
        rewards: [steps, n] float array.
        over: [steps, n] array, 1 where an episode ends, else 0.
        start: see `pretrain`; for both networks.
        every: number of steps between two updates of the target.
        tau: share of the way that the target moves to the network: 1 is a copy, less
            is a soft update.
        discount: factor of the next state's value.
        rate: learning rate of Adam.

    Returns:
        dict with the `losses` before the steps, and the final `variables` of both
        networks by name.
    """
    arrays = [states, actions, rewards, nexts, over]
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        feeds = [tf.placeholder(array.dtype, array.shape[1:]) for array in arrays]
        before, chosen, reward, after, ends = feeds
        with tf.variable_scope("online"):
            values = outputs_of(variables_of(start), before)
        with tf.variable_scope("target"):
            later = outputs_of(variables_of(start), after)
        online, target = map(tf.trainable_variables, ("online/", "target/"))
        # --- step
        wanted = reward + discount * (1 - ends) * tf.reduce_max(later, 1)
        mask = tf.one_hot(chosen, values.shape[1].value, dtype=values.dtype)
        missing = tf.stop_gradient(wanted) - tf.reduce_sum(values * mask, 1)
        loss = tf.reduce_mean(tf.square(missing))
        optimizer = tf.train.AdamOptimizer(rate)
        gradients = optimizer.compute_gradients(loss, online)
        with tf.control_dependencies([loss]):
            step = optimizer.apply_gradients(gradients)
        # --- follow
        follow = tf.group(
            *[t.assign(tau * o + (1 - tau) * t) for o, t in zip(online, target)]
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for count, batch in enumerate(zip(*arrays), 1):
            losses.append(sess.run([loss, step], dict(zip(feeds, batch)))[0])
            if count % every == 0:
                sess.run(follow)
        variables = sess.run({v.op.name: v for v in online + target})
        return {"losses": np.array(losses), "variables": variables}


def normalize_by_data(first, batches, direction, rate=0.125):
    """Initializes scale and bias from a batch (weight normalization), then trains.

    Args:
        first: [n, features] float array, the batch that initializes scale and bias.
        batches: list of pairs of arrays: [n, features] and [n, outputs].
        direction: [features, outputs] array; each column is divided by its norm.
        rate: learning rate.

    Returns:
        (initial [scale, bias], list of losses, final [direction, scale, bias]).
    """

    def directed(x, v):
        return tf.matmul(x, tf.nn.l2_normalize(v, 0))

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- begin
        v, first_in = tf.Variable(direction), tf.placeholder(first.dtype, first.shape)
        made = directed(first_in, v.initialized_value())
        mean, variance = tf.nn.moments(made, [0])
        scale = 1 / tf.sqrt(variance + 1e-10)
        g, b = tf.Variable(scale), tf.Variable(-mean * scale)
        # --- step
        x = tf.placeholder(direction.dtype, [None, direction.shape[0]])
        y = tf.placeholder(direction.dtype, [None, direction.shape[1]])
        loss = tf.reduce_mean(tf.square(g * directed(x, v) + b - y))
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer(), {first_in: first})
        start = sess.run([g, b])
        losses = [sess.run([loss, step], {x: a, y: c})[0] for a, c in batches]
        return start, losses, sess.run([v, g, b])


def paint(content, style, kernel, share, steps, rate=1.0):
    """Neural style transfer: optimizes an image for content and style losses.

    Args:
        content: [1, height, width, channels] float array.
        style: array of the same shape.
        kernel: [size, size, channels, features] array, the network's kernel.
        share: weight of the style loss; the content loss has weight 1.
        steps: number of steps of gradient descent; the image begins as the content.
        rate: learning rate.

    Returns:
        (list of losses, the image).
    """

    def products(features):
        rows = tf.reshape(features, [-1, kernel.shape[-1]])
        return tf.matmul(rows, rows, transpose_a=True) / rows.shape[0].value

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- features
        graph = {"input": tf.Variable(np.zeros_like(content))}
        convolved = tf.nn.conv2d(graph["input"], kernel, [1, 1, 1, 1], "SAME")
        graph["features"] = tf.nn.relu(convolved)
        # --- targets
        sess.run(graph["input"].assign(style))
        style_products = sess.run(products(graph["features"]))
        sess.run(graph["input"].assign(content))
        content_features = sess.run(graph["features"])
        # --- step
        far = tf.reduce_mean(tf.square(graph["features"] - content_features))
        apart = tf.square(products(graph["features"]) - style_products)
        loss = far + share * tf.reduce_mean(apart)
        step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        losses = [sess.run([loss, step])[0] for _ in range(steps)]
        return losses, sess.run(graph["input"])
