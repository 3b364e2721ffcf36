"""Moving averages: an object that adds shadow variables → a module that owns them."""

import tensorflow as tf

__all__ = ["follow", "smooth", "train", "normalize", "names_to_restore"]


def follow(start, values, decay, num_updates=None):
    """Assigns values to a variable, and lets its moving average follow.

    Args:
        start: float array, the variable's initial value.
        values: [n, ...] array of values like `start`.
        decay: share of the old average that an update keeps, at most.
        num_updates: n counts or None; with them the share is
            min(decay, (1 + count) / (10 + count)), so that early averages follow fast.

    Returns:
        List of n + 1 [variable, average], the initial ones first.

    Raises:
        TypeError: `start` is not of a float dtype.
    """
    # --- build
    variable = tf.Variable(start)
    averages = MovingAverages([variable], decay)

    @tf.function
    def update(value, count):
        variable.assign(value)
        averages.update(count)

    # --- run
    # Made before the first step: an average begins at the value that it finds.
    history = [[variable.numpy(), averages.shadows[0].numpy()]]
    for i in range(len(values)):
        count = None if num_updates is None else tf.constant(num_updates[i], tf.int64)
        update(tf.constant(values[i]), count)
        history.append([variable.numpy(), averages.shadows[0].numpy()])
    return history


class MovingAverages(tf.Module):
    """Averages of variables, in `shadows` in the same order, under the names of v1."""

    def __init__(self, variables, decay, name="ExponentialMovingAverage", prefix=""):
        super().__init__(name)
        for variable in variables:
            if not variable.dtype.is_floating:
                raise TypeError(f"{variable.name} must be half, float, or double")
        self.averaged, self.decay = variables, decay
        self.shadows = [
            tf.Variable(v, trainable=False, name=f"{prefix}{v.name[:-2]}/{name}")
            for v in variables
        ]

    def update(self, num_updates=None):
        """Moves the averages towards the variables; a count makes it move faster."""
        decay = tf.constant(self.decay, tf.float32)  # whatever the variables are
        if num_updates is not None:
            count = tf.cast(num_updates, decay.dtype)
            decay = tf.minimum(decay, (1 + count) / (10 + count))
        rate = 1 - decay
        for shadow, variable in zip(self.shadows, self.averaged):
            shadow.assign_sub((shadow - variable) * tf.cast(rate, shadow.dtype))


def smooth(values, decay, zero_debias=False):
    """Averages the values of a tensor, such as a loss, beginning at zero.

    Args:
        values: [n, ...] float array, the values of the tensor in turn.
        decay: share of the old average that an update keeps.
        zero_debias: whether to divide by 1 - decay ** n, as Adam does.

    Returns:
        (list of the n averages, sorted names of the variables behind them).
    """
    # --- build
    average = TensorAverage(values.shape[1:], values.dtype, decay, zero_debias)
    update = tf.function(average.update)
    # --- run
    history = [update(tf.constant(value)).numpy() for value in values]
    return history, sorted(v.name for v in average.variables)


class TensorAverage(tf.Module):
    """The average of a tensor, zero in the beginning, under the names of v1."""

    def __init__(self, shape, dtype, decay, zero_debias, op_name="loss"):
        super().__init__()
        self.decay, self.zero_debias = decay, zero_debias
        name = op_name + "/ExponentialMovingAverage"

        def zeros(name, shape):
            return tf.Variable(tf.zeros(shape, dtype), trainable=False, name=name)

        self.average = zeros(name, shape)
        if zero_debias:
            self.biased = zeros(name + "/biased", shape)
            self.local_step = zeros(name + "/local_step", [])

    def update(self, value):
        """Moves the average towards `value`, and returns it."""
        decay = tf.constant(self.decay, tf.float32)
        rate = tf.cast(1 - decay, self.average.dtype)
        if not self.zero_debias:
            return self.average.assign_sub((self.average - value) * rate)
        biased = self.biased.assign_sub((self.biased - value) * rate)
        weight = 1 - tf.pow(1 - rate, self.local_step.assign_add(1))
        return self.average.assign(biased / weight)


def train(x, y, kernel, bias, steps, rate=0.125, decay=0.99):
    """Fits a line by gradient descent, then evaluates it with the averaged weights.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        kernel: [features, units] array, the initial kernel.
        bias: [units] array, the initial bias.
        steps: how many steps to take.
        rate: learning rate.
        decay: share of the old averages that a step keeps, less in the beginning.

    Returns:
        dict with `loss` of the trained weights, `averaged_loss`, the `averaged` weights
        [kernel, bias] that it was computed with, and the `weights` put back afterwards.
    """
    # --- build
    x, y = tf.constant(x), tf.constant(y)
    weights = [tf.Variable(kernel, name="kernel"), tf.Variable(bias, name="bias")]
    averages = MovingAverages(weights, decay)
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64)

    def loss():
        return tf.reduce_mean(tf.square(tf.matmul(x, weights[0]) + weights[1] - y))

    # --- step
    @tf.function
    def train_steps(steps):
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                value = loss()
            for w, gradient in zip(weights, tape.gradient(value, weights)):
                w.assign_sub(rate * gradient)
            global_step.assign_add(1)
            averages.update(global_step)  # written after the step, hence run after it

    # --- swap
    @tf.function
    def evaluate_averaged():
        # Reads are copies: the backups need no variables. A loss that takes its weights
        # as an argument needs no swap either, but for loss(averages.shadows).
        backups = [w.read_value() for w in weights]
        for w, shadow in zip(weights, averages.shadows):
            w.assign(shadow)
        value, averaged = loss(), [w.read_value() for w in weights]
        for w, backup in zip(weights, backups):
            w.assign(backup)
        return value, averaged

    # --- run
    train_steps(tf.constant(steps))
    result = {"loss": loss().numpy()}
    averaged_loss, averaged = evaluate_averaged()
    result["averaged_loss"] = averaged_loss.numpy()
    result["averaged"] = [w.numpy() for w in averaged]
    result["weights"] = [w.numpy() for w in weights]
    return result


def normalize(batches, decay=0.75, epsilon=0.125):
    """Normalizes batches by their moments, then all again by the moving averages.

    Args:
        batches: [n, batch, features] float array.
        decay: share of the old averages that a batch keeps.
        epsilon: added to the variances.

    Returns:
        (list of the n batches in training, list of them in evaluation, sorted names of
        the variables).
    """
    # --- build
    names = ["norm/norm/moments/Squeeze", "norm/norm/moments/Squeeze_1"]
    averages = [
        TensorAverage(batches.shape[2:], batches.dtype, decay, False, n) for n in names
    ]

    @tf.function
    def norm(x, training):
        # --- update
        if training:  # a tensor, so AutoGraph makes a conditional of it
            mean, variance = tf.nn.moments(x, [0])
            for average, moment in zip(averages, (mean, variance)):
                average.update(moment)
        else:
            mean, variance = [average.average for average in averages]
        # --- output
        return tf.nn.batch_normalization(x, mean, variance, None, None, epsilon)

    # --- run
    batches = tf.unstack(tf.constant(batches))
    trained = [norm(batch, tf.constant(True)).numpy() for batch in batches]
    evaluated = [norm(batch, tf.constant(False)).numpy() for batch in batches]
    return trained, evaluated, sorted(a.average.name for a in averages)


def names_to_restore(scope, names, inside=False, name="ExponentialMovingAverage"):
    """Tells which entry of a checkpoint an evaluation loads into which variable.

    Args:
        scope: name of the variable scope of all variables.
        names: names of the averaged variables.
        inside: whether the averages are made inside the scope, too.
        name: name of the averages.

    Returns:
        dict from the name in the checkpoint to the name of the variable: averages for
        what is averaged, and the counter `scope`/steps, which is not.
    """
    # --- build
    variables = [tf.Variable([0.0, 0.0], name=f"{scope}/{n}") for n in names]
    steps = tf.Variable(0, trainable=False, name=scope + "/steps")
    averages = MovingAverages(variables, 0.99, name, scope + "/" if inside else "")
    # --- names
    # To load: variable.assign(tf.train.load_checkpoint(path).get_tensor(entry))
    entries = {s.name: v for s, v in zip(averages.shadows, variables)}
    entries[steps.name] = steps
    return {entry[:-2]: v.name[:-2] for entry, v in entries.items()}
