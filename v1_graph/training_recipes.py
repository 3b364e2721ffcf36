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
    """What a network with a body and a head answers."""
    hidden = tf.nn.relu(tf.matmul(x, weights["body/kernel"]) + weights["body/bias"])
    return tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]


def error(weights, x, y):
    """The mean squared error of a network with a body and a head."""
    return tf.reduce_mean(tf.square(outputs_of(weights, x) - y))


def warmed_rate(global_step, learning_rate, decay_steps, warmup_steps):
    """BERT's rate: it rises from zero in a line, then joins a line down to zero.

    Args:
        global_step: int tensor of any shape.
        learning_rate: float scalar, what the falling line begins with, at step 0.
        decay_steps: int, where the falling line ends.
        warmup_steps: int, where the rising line ends; 0 for none.

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
    """The slots under BERT's names, and no count of steps."""

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "m", "adam_m")
            self._zeros_slot(variable, "v", "adam_v")


def layer_norm(x, weights, scope):
    """Normalizes each row: the mean is subtracted, and the deviation divided by."""
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centered), -1, keepdims=True)
    normalized = centered * tf.rsqrt(variance + 1e-12)
    return normalized * weights[scope + "/gamma"] + weights[scope + "/beta"]


def normalized_error(weights, x, y):
    """The mean squared error of a network that normalizes its inputs and its body."""
    x = layer_norm(x, weights, "layer_norm")
    hidden = tf.matmul(x, weights["body/kernel"]) + weights["body/bias"]
    hidden = tf.nn.relu(layer_norm(hidden, weights, "LayerNorm"))
    outputs = tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]
    return tf.reduce_mean(tf.square(outputs - y))


def pretrain(x, y, start, steps, rate=0.01, warmup_steps=4, limit=1.0):
    """Trains as BERT was: warm-up, decay, a clip, and steps counted by hand.

    Args:
        x: [n, features] float array.
        y: [n, outputs] array of its dtype.
        start: {"body/kernel": [features, units] array, "body/bias": [units] array,
            "head/kernel": [units, outputs] array, "head/bias": [outputs] array}, and
            of the norms of the inputs and of the body "layer_norm/gamma" and
            "layer_norm/beta", [features] arrays, "LayerNorm/gamma" and
            "LayerNorm/beta", [units] arrays: these and biases do not decay.
        steps: how many steps to take, at which the rate has fallen to zero.
        rate, warmup_steps: see `warmed_rate`.
        limit: the largest global norm of the gradients that is left as it is.

    Returns:
        dict with `losses` and `rates` of all steps, before each, and the `variables`
        in the end by their names in BERT's checkpoints.
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
        # BERT had no such line: of three runs one took the rate of the next step.
        with tf.control_dependencies([train_op]):
            train_op = tf.group(train_op, global_step.assign(global_step + 1))
        # --- run
        sess.run(tf.global_variables_initializer())
        rows = [sess.run([loss, rate, train_op])[:2] for _ in range(steps)]
        losses, rates = np.array(rows).T
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": losses, "rates": rates, "variables": variables}


def halve_on_plateau(data, validation, start, steps, rate=0.5, patience=1):
    """Feeds the learning rate, and halves it when the validation loss stalls.

    Args:
        data: (x, y), float arrays as for `pretrain`.
        validation: (x, y), others.
        start: as for `pretrain`.
        steps: how many steps to take by Momentum, each followed by a validation.
        rate: learning rate of the first step.
        patience: how many validations in turn may find no lower loss.

    Returns:
        dict with the `rates` and the validation `losses` of all steps, and the
        `variables` in the end by name.
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
    """Goes on with a table that is kept in parts, and saves it.

    Args:
        files: {suffix: bytes as a uint8 array}, a checkpoint of `table`, [rows, size],
            and `table/Adagrad`, each in parts or whole.
        ids: [steps, k] int array of rows.
        targets: [steps, k, size] float array.
        shards: number of parts, at most if there is a `min_slice_size`.
        min_slice_size: the least bytes of a part, or None.

    Returns:
        dict with the `losses` before each step, the `entries` of the next checkpoint,
        name and shape, and their `values` by name.
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
        # By default row i is in part i % shards: not the order of the checkpoint.
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
    """Writes the files of a checkpoint, and tells its path."""
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def train_with_switch(x, y, start, steps, rate=0.125):
    """Trains with a switch that is off unless fed, and predicts after every step.

    Args:
        x, y: as for `pretrain`.
        start: {"body/kernel": …, "head/kernel": …}, as for `pretrain`.
        steps: how many steps to take.
        rate: learning rate.

    Returns:
        dict with the `losses` of all steps, the mean `errors` of prediction after each,
        and the `variables` in the end by name.
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
    """Evaluates by moving averages between rounds of training, puts weights back.

    Args:
        data, validation, start: as for `halve_on_plateau`.
        rounds: how often to train, save, evaluate and restore.
        steps: how many steps a round has.
        decay: share of the old averages that a step keeps.
        rate: learning rate.

    Returns:
        dict with lists, one item per round: the validation `losses` of the weights,
        `averaged` those of their averages; and the `variables` in the end by name.
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
    """Sums gradients over micro-batches, then moves body and head by two optimizers.

    Args:
        xs: [steps, parts, n, features] float array.
        ys: [steps, parts, n, outputs] array of its dtype.
        start: as for `pretrain`.
        rates: learning rate of the body's Adam and of the head's Momentum.

    Returns:
        dict with the `losses`, [steps, parts], and the `variables` in the end by name.
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
    """Normalizes two batches by one batch norm: the real one's update comes first.

    Args:
        real: [n, features] float array.
        fake: [m, features] array of its dtype.
        steps: how often to do it.
        momentum: share of the moving statistics that an update keeps.

    Returns:
        dict with the `outputs` for the two batches, and the `moving` statistics after
        each step, [mean, variance].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        norm = tf.layers.BatchNormalization(momentum=momentum)
        first = norm.apply(tf.constant(real), training=True)
        # --- order
        # In one list for the train op either comes first, or both read the old value.
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
    """Convolves images whose channels come first, and scores them.

    Args:
        images: [batch, channels, height, width] float tensor.
        kernel: [3, 3, channels, filters] tensor of its dtype.
        weights: [filters * height * width, classes] tensor: channels first, too.

    Returns:
        [batch, classes] tensor.
    """
    # --- convolve
    if tf.test.is_gpu_available():
        hidden = tf.nn.conv2d(images, kernel, 1, "SAME", data_format="NCHW")
    else:  # of a CPU's kernels most refuse channels that come first
        images = tf.transpose(images, [0, 2, 3, 1])
        hidden = tf.nn.conv2d(images, kernel, 1, "SAME")
        hidden = tf.transpose(hidden, [0, 3, 1, 2])
    # --- score
    hidden = tf.reshape(tf.nn.relu(hidden), [tf.shape(hidden)[0], -1])
    return tf.matmul(hidden, weights)


def fetch_beside_step(x, y, kernel, steps, rate=0.125, scale=0.25):
    """Fetches the loss before a step, and the weights after it, in one run.

    Args:
        x: [n, features] float array.
        y: [n, outputs] array of its dtype.
        kernel: [features, outputs] array.
        steps: how many steps to take.
        rate: learning rate.
        scale: weight of the l2 penalty.

    Returns:
        List of [loss before, kernel after] of all steps.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        kernel = tf.get_variable("kernel", initializer=kernel)
        squares = tf.square(tf.matmul(x, kernel) - y)
        loss = tf.reduce_mean(squares) + scale * tf.nn.l2_loss(kernel)
        # --- step
        # The gradient of a penalty does not need its value: that may be the next one.
        with tf.control_dependencies([loss]):
            train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        with tf.control_dependencies([train_op]):
            after = kernel.read_value()
        # --- run
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, after]) for _ in range(steps)]


def evaluate_checkpoints(data, validation, start, rounds, rate=0.125):
    """Evaluates checkpoints as they come, in a graph beside that of training.

    Args:
        data, validation, start: as for `halve_on_plateau`.
        rounds: list of lists of the steps at which training saves before the
            evaluation looks again.
        rate: learning rate.

    Returns:
        List of (name of the checkpoint, validation loss): the newest of each round.
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
    """Trains a Q network towards a second one, its target, which follows it.

    Args:
        states, nexts: [steps, n, features] float arrays, before and after an action.
        actions: [steps, n] int32 array.
        rewards: [steps, n] float array.
        over: array like it, 1 where an episode ends, and 0.
        start: as for `pretrain`, of both networks.
        every: after how many steps the target follows.
        tau: how far it goes then: with 1 it is a copy, with less a soft update.
        discount: of what comes after.
        rate: learning rate of Adam.

    Returns:
        dict with the `losses` before the steps, and the `variables` of both networks in
        the end by name.
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
    """Begins with weights by which a batch of data is normalized, and trains them.

    Args:
        first: [n, features] float array, the batch; it initializes a scale and a bias.
        batches: list of pairs of arrays: [n, features] and [n, outputs].
        direction: [features, outputs] array; each column is divided by its norm.
        rate: learning rate.

    Returns:
        ([scale, bias] at the beginning, list of losses, [direction, scale, bias]).
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
    """Paints an image whose features are a content's, and their products a style's.

    Args:
        content: [1, height, width, channels] float array.
        style: array of that shape.
        kernel: [size, size, channels, features] array, of the network.
        share: how much the style counts; the content counts 1.
        steps: of gradient descent, from the content on.
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
