"""`tf.train.ExponentialMovingAverage` (EMA) → a module that owns the averages."""

import tensorflow.compat.v1 as tf

__all__ = ["follow", "smooth", "train", "normalize", "names_to_restore"]


def follow(start, values, decay, num_updates=None):
    """Assigns values to a variable and updates its moving average after each one.

    Args:
        start: float array, the variable's initial value.
        values: [n, ...] array of values like `start`.
        decay: the largest share of the old average that an update keeps.
        num_updates: n counts or None. With counts the share is min(decay, (1 + count) /
            (10 + count)), so that the average follows fast in the beginning.

    Returns:
        List of n + 1 [variable, average], the initial ones first.

    Raises:
        TypeError: `start` is not of a float dtype.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        variable = tf.Variable(start)
        value = tf.placeholder(start.dtype, start.shape)
        count = tf.placeholder(tf.int64, [])
        averages = tf.train.ExponentialMovingAverage(
            decay, None if num_updates is None else count
        )
        with tf.control_dependencies([tf.assign(variable, value)]):
            update = averages.apply([variable])
        both = [variable, averages.average(variable)]
        # --- run
        # The average is a variable, too. Its initial value is that of `variable`.
        sess.run(tf.global_variables_initializer())
        history = [sess.run(both)]
        for i in range(len(values)):
            number = 0 if num_updates is None else num_updates[i]
            sess.run(update, {value: values[i], count: number})
            # A separate run, because within one run the read may precede the update.
            history.append(sess.run(both))
        return history


def smooth(values, decay, zero_debias=False):
    """Computes the moving average of a tensor, such as a loss, starting from zero.

    Args:
        values: [n, ...] float array, the values of the tensor in turn.
        decay: share of the old average that an update keeps.
        zero_debias: whether to divide by 1 - decay ** n, as Adam does.

    Returns:
        (list of the n averages, sorted names of the variables behind them).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        loss = tf.placeholder(values.dtype, values.shape[1:], name="loss")
        averages = tf.train.ExponentialMovingAverage(decay, zero_debias=zero_debias)
        update = averages.apply([loss])
        average = averages.average(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        history = []
        for value in values:
            sess.run(update, {loss: value})
            history.append(sess.run(average))
        return history, sorted(v.name for v in tf.global_variables())


def train(x, y, kernel, bias, steps, rate=0.125, decay=0.99):
    """Fits a line by gradient descent, then evaluates it with the averaged weights.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        kernel: [features, units] array, the initial kernel.
        bias: [units] array, the initial bias.
        steps: how many steps to take.
        rate: learning rate.
        decay: share of the old averages that a step keeps; smaller in the first steps.

    Returns:
        dict with `loss` of the trained weights, `averaged_loss`, the `averaged` weights
        [kernel, bias] that it was computed with, and the `weights` put back afterwards.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        weights = [tf.Variable(kernel, name="kernel"), tf.Variable(bias, name="bias")]
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights[0]) + weights[1] - y))
        global_step = tf.train.get_or_create_global_step()
        # --- step
        optimizer = tf.train.GradientDescentOptimizer(rate)
        descent = optimizer.minimize(loss, global_step)
        averages = tf.train.ExponentialMovingAverage(decay, global_step)
        # Without this line the average may read the weights before or after the step.
        with tf.control_dependencies([descent]):
            step = averages.apply(weights)
        # --- swap
        backups = [
            tf.Variable(w.initialized_value(), trainable=False, name="backup")
            for w in weights
        ]
        backup = tf.group(*[tf.assign(b, w) for b, w in zip(backups, weights)])
        with tf.control_dependencies([backup]):
            swap_in = tf.group(*[tf.assign(w, averages.average(w)) for w in weights])
        swap_out = tf.group(*[tf.assign(w, b) for w, b in zip(weights, backups)])
        # --- run
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(step)
        result = {"loss": sess.run(loss)}
        sess.run(swap_in)
        result["averaged_loss"], result["averaged"] = sess.run([loss, weights])
        sess.run(swap_out)
        result["weights"] = sess.run(weights)
        return result


def normalize(batches, decay=0.75, epsilon=0.125):
    """Normalizes by batch moments in training, and by moving averages in inference.

    Args:
        batches: [n, batch, features] float array.
        decay: share of the old averages that a batch keeps.
        epsilon: added to the variances.

    Returns:
        (list of the n batches normalized in training, list of the n batches normalized
        in evaluation, sorted names of the variables).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.placeholder(batches.dtype, batches.shape[1:])
        training = tf.placeholder(tf.bool, [])
        with tf.variable_scope("norm"):
            moments = list(tf.nn.moments(x, [0]))
            averages = tf.train.ExponentialMovingAverage(decay)

            # --- update
            def of_the_batch():
                # Outside of the branch the update would run in evaluation, too.
                with tf.control_dependencies([averages.apply(moments)]):
                    return [tf.identity(m) for m in moments]

            def of_the_past():
                return [tf.identity(averages.average(m)) for m in moments]

            mean, variance = tf.cond(training, of_the_batch, of_the_past)
        # --- output
        y = tf.nn.batch_normalization(x, mean, variance, None, None, epsilon)
        # --- run
        sess.run(tf.global_variables_initializer())
        trained = [sess.run(y, {x: batch, training: True}) for batch in batches]
        evaluated = [sess.run(y, {x: batch, training: False}) for batch in batches]
        return trained, evaluated, sorted(v.name for v in tf.global_variables())


def names_to_restore(scope, names, inside=False, name="ExponentialMovingAverage"):
    """Maps each checkpoint entry to the variable that an evaluation loads it into.

    Args:
        scope: name of the variable scope of all variables.
        names: names of the averaged variables.
        inside: whether the averages are made inside the scope, too.
        name: name of the `ExponentialMovingAverage`.

    Returns:
        dict from the name in the checkpoint to the name of the variable. Averaged
        variables map from their averages, the counter `scope`/steps from itself.
    """
    with tf.Graph().as_default():
        # --- build
        averages = tf.train.ExponentialMovingAverage(0.99, name=name)
        with tf.variable_scope(scope):
            variables = [tf.get_variable(n, [2]) for n in names]
            tf.get_variable("steps", [], tf.int64, trainable=False)
            if inside:
                averages.apply(variables)
        if not inside:
            averages.apply(variables)
        # --- names
        # For evaluation: tf.train.Saver(averages.variables_to_restore())
        return {k: v.op.name for k, v in averages.variables_to_restore().items()}
