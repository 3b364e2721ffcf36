"""Warm-up, plateaus, `partitioner`, gradient accumulation, `is_training`, DQN."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore
from v2_eager.numerics.averages import ExponentialMovingAverage
from v2_eager.numerics.batch_norms import BatchNorm
from v2_eager.optimizers import AdamWeightDecay

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
    return {n: tf.Variable(value, name=n) for n, value in start.items()}


def values_of(*variables):
    return {v.name.partition(":")[0]: v.numpy() for v in variables}


def as_tensors(*pairs):
    """Converts pairs of arrays to tensors, so that no graph contains copies of them."""
    return [[tf.constant(array) for array in pair] for pair in pairs]


def outputs_of(weights, x):
    """Computes the output of a network with a body and a head."""
    hidden = tf.nn.relu(tf.matmul(x, weights["body/kernel"]) + weights["body/bias"])
    return tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]


def error(weights, x, y):
    """Computes the mean squared error of a network with a body and a head."""
    return tf.reduce_mean(tf.square(outputs_of(weights, x) - y))


def warmed_rate(global_step, learning_rate, decay_steps, warmup_steps):
    """Computes BERT's learning rate: linear warm-up, then linear decay to zero."""
    # --- decay
    learning_rate = tf.convert_to_tensor(learning_rate)
    step = tf.cast(global_step, learning_rate.dtype)
    rate = learning_rate * (1 - tf.minimum(step, decay_steps) / decay_steps)
    if not warmup_steps:
        return rate
    # --- warm-up
    return tf.where(step < warmup_steps, learning_rate * (step / warmup_steps), rate)


class BertAdam(AdamWeightDecay):
    """`AdamWeightDecay` whose slots have BERT's names, `…/adam_m` and `…/adam_v`.

    Args:
        learning_rate: a float, or a scalar variable.
        decay: weight decay; a step subtracts rate * decay * weight.
        exclude: list of patterns; weights with a matching name do not decay.
    """

    def __init__(self, learning_rate, decay, exclude):
        super().__init__(learning_rate, decay, exclude)
        self.slot_specs = ("m", "m", 0, "adam_m"), ("v", "v", 0, "adam_v")


def layer_norm(x, weights, scope):
    """Normalizes each row by its mean and its standard deviation."""
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centered), -1, keepdims=True)
    normalized = centered * tf.math.rsqrt(variance + 1e-12)
    return normalized * weights[scope + "/gamma"] + weights[scope + "/beta"]


def normalized_error(weights, x, y):
    """Computes the mean squared error of a network with two layer norms."""
    x = layer_norm(x, weights, "layer_norm")
    hidden = tf.matmul(x, weights["body/kernel"]) + weights["body/bias"]
    hidden = tf.nn.relu(layer_norm(hidden, weights, "LayerNorm"))
    outputs = tf.matmul(hidden, weights["head/kernel"]) + weights["head/bias"]
    return tf.reduce_mean(tf.square(outputs - y))


def pretrain(x, y, start, steps, rate=0.01, warmup_steps=4, limit=1.0):
    """Trains as BERT did: warm-up, decay, clipping, and a global step set by hand."""
    # --- build
    x, y, peak = tf.constant(x), tf.constant(y), tf.constant(rate, x.dtype)
    weights = variables_of(start)
    variables = list(weights.values())
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
    rate = tf.Variable(peak, trainable=False)
    optimizer = BertAdam(rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
    optimizer.create_slots(variables)

    # --- step
    @tf.function
    def step():
        rate.assign(warmed_rate(global_step, peak, steps, warmup_steps))
        with tf.GradientTape() as tape:
            loss = normalized_error(weights, x, y)
        clipped, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), limit)
        optimizer.apply_gradients(zip(clipped, variables), global_step)
        return loss, rate.value()

    # --- run
    rows = [[tensor.numpy() for tensor in step()] for _ in range(steps)]
    losses, rates = np.array(rows).T
    slots = [v for v in optimizer.variables if v is not rate]
    values = values_of(*variables, *slots, global_step)
    return {"losses": losses, "rates": rates, "variables": values}


def halve_on_plateau(data, validation, start, steps, rate=0.5, patience=1):
    """Halves the fed learning rate when the validation loss stops falling."""
    # --- build
    data, validation = as_tensors(data, validation)
    weights = variables_of(start)
    variables = list(weights.values())
    # A Python number would be a constant of the trace, the same in every step.
    learning_rate = tf.Variable(rate, trainable=False, dtype=data[0].dtype)
    optimizer = optimizers.Momentum(learning_rate, 0.9).create_slots(variables)

    @tf.function
    def step():
        optimizer.minimize(lambda: error(weights, *data), variables)
        return error(weights, *validation)

    # --- run
    rates, losses, best, stalled = [], [], np.inf, 0
    for _ in range(steps):
        rates.append(learning_rate.numpy())
        losses.append(step().numpy())
        stalled = 0 if losses[-1] < best else stalled + 1
        best = min(best, losses[-1])
        if stalled > patience:
            learning_rate.assign(learning_rate / 2)
            stalled = 0
    slots = [v for v in optimizer.variables if v is not learning_rate]
    values = values_of(*variables, *slots)
    return {"rates": np.array(rates), "losses": np.array(losses), "variables": values}


def train_in_parts(files, ids, targets, shards, min_slice_size=None):
    """Continues training a partitioned embedding table from a checkpoint; saves it."""
    # --- build
    with tempfile.TemporaryDirectory() as folder:
        path = unpack(files, folder)
        shape = dict(tf.train.list_variables(path))["table"]
        table = tf.Variable(tf.zeros(shape, targets.dtype), name="table")
        adagrad = optimizers.Adagrad(0.5).create_slots([table])

        @tf.function
        def step(rows, target):
            return adagrad.minimize(
                lambda: tf.reduce_mean(tf.square(tf.gather(table, rows) - target)),
                [table],
            )

        # --- restore
        # A checkpoint's index contains a partitioned variable as one entry: there is
        # nothing to join.
        variables = restore.named(table, adagrad)
        restore.by_name(path, variables)
        # --- run
        losses = [step(*pair).numpy() for pair in zip(ids, targets)]
        # --- save
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, variables)
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
    """Trains with an `is_training` switch, and predicts after every step."""
    # --- build
    tf.random.set_seed(7)
    x, y, weights = tf.constant(x), tf.constant(y), variables_of(start)
    norm = BatchNorm(momentum=0.75)
    norm.build(start["body/kernel"].shape[1], x.dtype)

    def loss(training=False):
        hidden = norm(tf.matmul(x, weights["body/kernel"]), training)
        hidden = tf.nn.relu(hidden)
        if training:
            hidden = tf.nn.dropout(hidden, 0.25, seed=4)
        outputs = tf.matmul(hidden, weights["head/kernel"])
        return tf.reduce_mean(tf.math.squared_difference(outputs, y))

    # --- step
    trained = [*weights.values(), *norm.trainable_variables]
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def step():
        return optimizer.minimize(lambda: loss(training=True), trained)

    # --- run
    losses, errors, predict = [], [], tf.function(loss)
    for _ in range(steps):
        losses.append(step().numpy())
        errors.append(predict().numpy())
    variables = values_of(*weights.values(), *norm.variables)
    return {
        "losses": np.array(losses),
        "errors": np.array(errors),
        "variables": variables,
    }


def evaluate_averages(data, validation, start, rounds, steps, decay=0.9, rate=0.125):
    """Evaluates with moving averages between rounds; then restores the weights."""
    # --- build
    data, validation = as_tensors(data, validation)
    weights = variables_of(start)
    variables = list(weights.values())
    averages = ExponentialMovingAverage(decay).create(variables)
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def step():
        optimizer.minimize(lambda: error(weights, *data), variables)
        averages.apply(variables)

    # --- run
    saved = restore.named(weights, averages)
    validation_loss = tf.function(lambda: error(weights, *validation))
    losses, averaged = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        for _ in range(rounds):
            for _ in range(steps):
                step()
            restore.save(path, saved)
            losses.append(validation_loss().numpy())
            # --- swap
            restore.by_name(path, averages.variables_to_restore(variables))
            averaged.append(validation_loss().numpy())
            restore.by_name(path, saved)
    values = values_of(*variables, *averages.variables)
    return {
        "losses": np.array(losses),
        "averaged": np.array(averaged),
        "variables": values,
    }


def accumulate(xs, ys, start, rates=(0.125, 0.0625)):
    """Accumulates gradients over micro-batches; trains with two optimizers."""
    # --- build
    weights = variables_of(start)
    variables = list(weights.values())
    body = [v for v in variables if v.name.startswith("body")]
    head = [v for v in variables if v.name.startswith("head")]
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
    of_body = optimizers.Adam(rates[0]).create_slots(body)
    of_head = optimizers.Momentum(rates[1], 0.9).create_slots(head)

    totals = [tf.Variable(tf.zeros_like(v)) for v in body + head]

    # --- accumulate
    @tf.function
    def add(x, y):
        with tf.GradientTape() as tape:
            loss = error(weights, x, y)
            share = loss / xs.shape[1]
        for total, gradient in zip(totals, tape.gradient(share, body + head)):
            total.assign_add(gradient)
        return loss

    # --- step
    @tf.function
    def apply():
        of_body.apply_gradients(zip(totals, body))
        of_head.apply_gradients(zip(totals[len(body) :], head), global_step)
        for total in totals:
            total.assign(tf.zeros_like(total))

    # --- run
    losses = []
    for parts in zip(xs, ys):
        losses.append([add(*part).numpy() for part in zip(*parts)])
        apply()
    values = values_of(*variables, *of_body.variables, *of_head.variables, global_step)
    return {"losses": np.array(losses), "variables": values}


def normalize_twice(real, fake, steps, momentum=0.75):
    """Applies one batch norm to a real, then a fake batch; updates it in this order."""
    # --- build
    real, fake, norm = tf.constant(real), tf.constant(fake), BatchNorm(momentum)
    norm.build(real.shape[1], real.dtype)

    # --- order
    @tf.function
    def normalize(real, fake):
        return norm(real, training=True), norm(fake, training=True)

    # --- run
    moving = []
    for _ in range(steps):
        outputs = normalize(real, fake)
        moving.append([norm.moving_mean.numpy(), norm.moving_variance.numpy()])
    return {"outputs": [tensor.numpy() for tensor in outputs], "moving": moving}


def classify_channels_first(images, kernel, weights):
    """Classifies images in channels-first (NCHW) layout with a convolution."""
    # --- convolve
    images = tf.transpose(images, [0, 2, 3, 1])
    hidden = tf.nn.conv2d(images, kernel, 1, "SAME")
    hidden = tf.transpose(hidden, [0, 3, 1, 2])  # the weights' rows have this order
    # --- score
    hidden = tf.reshape(tf.nn.relu(hidden), [tf.shape(hidden)[0], -1])
    return tf.matmul(hidden, weights)


def fetch_beside_step(x, y, kernel, steps, rate=0.125, scale=0.25):
    """Returns the loss before each step and the weights after it, from one call."""
    # --- build
    x, y = tf.constant(x), tf.constant(y)
    kernel = tf.Variable(kernel)
    optimizer = optimizers.GradientDescent(rate)

    def loss():
        squares = tf.square(tf.matmul(x, kernel) - y)
        return tf.reduce_mean(squares) + scale * tf.nn.l2_loss(kernel)

    # --- step
    @tf.function
    def step():
        before = optimizer.minimize(loss, [kernel])
        return before, kernel.value()

    # --- run
    return [[tensor.numpy() for tensor in step()] for _ in range(steps)]


def evaluate_checkpoints(data, validation, start, rounds, rate=0.125):
    """Evaluates new checkpoints with a second copy of the model during training."""
    with tempfile.TemporaryDirectory() as folder:
        # --- train
        data, validation = as_tensors(data, validation)
        weights = variables_of(start)
        variables = list(weights.values())
        global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
        optimizer = optimizers.GradientDescent(rate)
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(weights=weights),
            folder,
            max_to_keep=5,
            checkpoint_name="model.ckpt",
        )

        @tf.function
        def step():
            optimizer.minimize(lambda: error(weights, *data), variables, global_step)

        # --- evaluate
        found, evaluated = [], variables_of(start)
        validation_loss = tf.function(lambda: error(evaluated, *validation))
        restorer = tf.train.Checkpoint(weights=evaluated)
        paths = tf.train.checkpoints_iterator(folder, timeout=0)
        for stops in rounds:
            for stop in stops:
                while global_step < stop:
                    step()
                manager.save(stop)
            path = next(paths)
            restorer.restore(path).assert_existing_objects_matched()
            found.append((os.path.basename(path), validation_loss().numpy()))
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

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: an action is out of range. In
            TensorFlow 1 `tf.one_hot` gave a row of zeros, so its value was 0.
    """
    # --- build
    online, target = [
        {n: tf.Variable(value, name=f"{scope}/{n}") for n, value in start.items()}
        for scope in ("online", "target")
    ]
    trained = list(online.values())
    optimizer = optimizers.Adam(rate).create_slots(trained)

    # --- step
    @tf.function
    def step(before, chosen, reward, after, ends):
        # The target values are computed outside of the tape, so they get no gradient.
        later = outputs_of(target, after)
        wanted = reward + discount * (1 - ends) * tf.reduce_max(later, 1)

        def loss():
            values = tf.gather(outputs_of(online, before), chosen, batch_dims=1)
            return tf.reduce_mean(tf.square(wanted - values))

        return optimizer.minimize(loss, trained)

    # --- follow
    @tf.function
    def follow():
        for name, variable in target.items():
            variable.assign(tau * online[name] + (1 - tau) * variable)

    # --- run
    losses = []
    batches = zip(*map(tf.constant, (states, actions, rewards, nexts, over)))
    for count, batch in enumerate(batches, 1):
        losses.append(step(*batch).numpy())
        if count % every == 0:
            follow()
    variables = values_of(*trained, *target.values())
    return {"losses": np.array(losses), "variables": variables}


def normalize_by_data(first, batches, direction, rate=0.125):
    """Initializes scale and bias from a batch (weight normalization), then trains."""

    def directed(x):
        return tf.matmul(x, tf.nn.l2_normalize(v, 0))

    # --- begin
    v = tf.Variable(direction)
    mean, variance = tf.nn.moments(directed(first), [0])
    scale = 1 / tf.sqrt(variance + 1e-10)
    g, b = tf.Variable(scale), tf.Variable(-mean * scale)
    optimizer = optimizers.GradientDescent(rate)

    # --- step
    @tf.function
    def step(x, y):
        def loss():
            return tf.reduce_mean(tf.square(g * directed(x) + b - y))

        return optimizer.minimize(loss, [v, g, b])

    # --- run
    start = [g.numpy(), b.numpy()]
    losses = [step(x, y).numpy() for x, y in as_tensors(*batches)]
    return start, losses, [v.numpy(), g.numpy(), b.numpy()]


def paint(content, style, kernel, share, steps, rate=1.0):
    """Neural style transfer: optimizes an image for content and style losses."""

    # --- features
    def features_of(image):
        return tf.nn.relu(tf.nn.conv2d(image, kernel, 1, "SAME"))

    def products(features):
        rows = tf.reshape(features, [-1, kernel.shape[-1]])
        return tf.matmul(rows, rows, transpose_a=True) / rows.shape[0]

    # --- targets
    style_products = products(features_of(style))
    content_features = features_of(content)
    image, optimizer = tf.Variable(content), optimizers.GradientDescent(rate)

    # --- step
    def loss():
        features = features_of(image)
        far = tf.reduce_mean(tf.square(features - content_features))
        apart = tf.square(products(features) - style_products)
        return far + share * tf.reduce_mean(apart)

    @tf.function
    def step():
        return optimizer.minimize(loss, [image])

    # --- run
    losses = [step().numpy() for _ in range(steps)]
    return losses, image.numpy()
