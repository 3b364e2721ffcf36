"""`tf.train.ExponentialMovingAverage` (EMA) → a module that owns the averages."""

import tensorflow as tf

from v2_eager.numerics import averages, optimizers

__all__ = ["follow", "smooth", "train", "normalize", "names_to_restore"]


def follow(start, values, decay, num_updates=None):
    """Assigns values to a variable and updates its moving average after each one."""
    # --- build
    variable = tf.Variable(start)
    # Make it before the first step: an average begins at the variable's value at that
    # time. The public tf.train.ExponentialMovingAverage computes the same bits, but
    # makes its averages in the first `apply`. It is no tf.Module, and so no
    # tf.train.Checkpoint saves it.
    ema = averages.ExponentialMovingAverage(decay).create([variable])

    @tf.function
    def update(value, count):
        variable.assign(value)
        ema.apply([variable], count)

    # --- run
    average = ema.average(variable)
    history = [[variable.numpy(), average.numpy()]]
    for i in range(len(values)):
        count = None if num_updates is None else tf.constant(num_updates[i], tf.int64)
        update(tf.constant(values[i]), count)
        history.append([variable.numpy(), average.numpy()])
    return history


def smooth(values, decay, zero_debias=False):
    """Computes the moving average of a tensor, such as a loss, starting from zero.

    Raises:
        TypeError: `values` are not of a float dtype.
    """
    # --- build
    shape, dtype = values.shape[1:], values.dtype
    average = averages.TensorAverage(shape, dtype, decay, zero_debias)
    update = tf.function(average.update)
    # --- run
    history = [update(tf.constant(value)).numpy() for value in values]
    return history, sorted(v.name for v in average.variables)


def train(x, y, kernel, bias, steps, rate=0.125, decay=0.99):
    """Fits a line by gradient descent, then evaluates it with the averaged weights."""
    # --- build
    x, y = tf.constant(x), tf.constant(y)
    weights = [tf.Variable(kernel, name="kernel"), tf.Variable(bias, name="bias")]
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
    ema = averages.ExponentialMovingAverage(decay, global_step).create(weights)
    optimizer = optimizers.GradientDescent(rate)

    def loss():
        return tf.reduce_mean(tf.square(tf.matmul(x, weights[0]) + weights[1] - y))

    # --- step
    @tf.function
    def step():
        optimizer.minimize(loss, weights, global_step)
        ema.apply(weights)  # runs after the step, because it is written after it

    # --- swap
    @tf.function
    def evaluate_averaged():
        # Reads are copies: the backups need no variables. A loss that takes its weights
        # as an argument needs no swap: call loss(ema.shadows).
        backups = [w.read_value() for w in weights]
        for w in weights:
            w.assign(ema.average(w))
        value, averaged = loss(), [w.read_value() for w in weights]
        for w, backup in zip(weights, backups):
            w.assign(backup)
        return value, averaged

    # --- run
    for _ in range(steps):
        step()
    result = {"loss": loss().numpy()}
    averaged_loss, averaged = evaluate_averaged()
    result["averaged_loss"] = averaged_loss.numpy()
    result["averaged"] = [w.numpy() for w in averaged]
    result["weights"] = [w.numpy() for w in weights]
    return result


def normalize(batches, decay=0.75, epsilon=0.125):
    """Normalizes by batch moments in training, and by moving averages in inference."""
    # --- build
    names = ["norm/norm/moments/Squeeze", "norm/norm/moments/Squeeze_1"]
    shape, dtype = batches.shape[2:], batches.dtype
    moving = [averages.TensorAverage(shape, dtype, decay, op_name=n) for n in names]

    @tf.function
    def norm(x, training):
        # --- update
        if training:  # a tensor, so AutoGraph makes a tf.cond of the `if`
            mean, variance = tf.nn.moments(x, [0])
            for average, moment in zip(moving, (mean, variance)):
                average.update(moment)
        else:
            mean, variance = [average.average for average in moving]
        # --- output
        return tf.nn.batch_normalization(x, mean, variance, None, None, epsilon)

    # --- run
    batches = tf.unstack(tf.constant(batches))
    trained = [norm(batch, tf.constant(True)).numpy() for batch in batches]
    evaluated = [norm(batch, tf.constant(False)).numpy() for batch in batches]
    return trained, evaluated, sorted(a.average.name for a in moving)


def names_to_restore(scope, names, inside=False, name="ExponentialMovingAverage"):
    """Maps each checkpoint entry to the variable that an evaluation loads it into."""
    # --- build
    variables = [tf.Variable([0.0, 0.0], name=f"{scope}/{n}") for n in names]
    steps = tf.Variable(0, trainable=False, dtype=tf.int64, name=f"{scope}/steps")
    ema = averages.ExponentialMovingAverage(
        0.99, name=name, scope=scope + "/" if inside else ""
    ).create(variables)
    # --- names
    # To load: restore.by_name(path, entries)
    entries = ema.variables_to_restore([*variables, steps])
    return {entry: v.name[:-2] for entry, v in entries.items()}
