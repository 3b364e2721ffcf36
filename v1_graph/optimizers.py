"""`tf.train.AdamOptimizer`, `MomentumOptimizer`, `minimize` → optimizer modules."""

import re

import tensorflow.compat.v1 as tf

__all__ = [
    "fit",
    "fit_embedding",
    "fit_clipped",
    "fit_at_rates",
    "fit_by_parts",
    "fit_in_turns",
    "fit_with_decay",
]

OPTIMIZERS = {
    "GradientDescent": tf.train.GradientDescentOptimizer,
    "Momentum": tf.train.MomentumOptimizer,
    "Adagrad": tf.train.AdagradOptimizer,
    "Adadelta": tf.train.AdadeltaOptimizer,
    "RMSProp": tf.train.RMSPropOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "ProximalGradientDescent": tf.train.ProximalGradientDescentOptimizer,
    "ProximalAdagrad": tf.train.ProximalAdagradOptimizer,
}


def line_loss(data, start):
    """Creates two variables, and the mean squared error of x · kernel + bias."""
    kernel = tf.get_variable("kernel", initializer=start[0])
    bias = tf.get_variable("bias", initializer=start[1])
    return tf.reduce_mean(tf.square(tf.matmul(data[0], kernel) + bias - data[1]))


def states(sess, step, stops):
    """Runs `step` repeatedly; returns all variables at each of `stops`."""
    variables = {v.op.name: v for v in tf.global_variables()}
    sess.run(tf.global_variables_initializer())
    history, done = {}, 0
    for stop in stops:
        for _ in range(stop - done):
            sess.run(step)
        history[stop], done = sess.run(variables), stop
    return history


def fit(data, start, optimizer, hyper, stops):
    """Fits a line with the optimizer of a given name, one `minimize` per step.

    Args:
        data: (x, y), [n, features] and [n, units] arrays of one float dtype.
        start: (kernel, bias), [features, units] and [units] arrays of this dtype.
        optimizer: name of the optimizer, such as "Adam".
        hyper: dict of the optimizer's arguments, such as {"learning_rate": 0.5}.
        stops: increasing list of the steps after which values are read.

    Returns:
        {stop: {name: value}} of the weights, the slots and the global step.

    Raises:
        ValueError: no gradient reaches a weight, as with integers; an accumulator
            that begins at zero or below.
        TypeError: an argument that the optimizer does not have.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        loss = line_loss(data, start)
        optimizer = OPTIMIZERS[optimizer](**hyper)
        global_step = tf.train.get_or_create_global_step()
        # --- step
        step = optimizer.minimize(loss, global_step)
        # --- run
        return states(sess, step, stops)


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits the looked-up rows of an embedding table: the gradient is sparse.

    Args:
        table: [rows, n] float array, the initial table.
        ids: [steps, k] int array of rows; a row may occur twice in a step.
        targets: [steps, k, n] array of the dtype of `table`.
        optimizer, hyper: as for `fit`.

    Returns:
        {name: value} of the table and its slots in the end.

    Raises:
        tf.errors.InvalidArgumentError: an id is not a row.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        table = tf.get_variable("table", initializer=table)
        optimizer = OPTIMIZERS[optimizer](**hyper)
        # --- step
        rows = tf.placeholder(ids.dtype, ids.shape[1:])
        target = tf.placeholder(targets.dtype, targets.shape[1:])
        looked_up = tf.nn.embedding_lookup(table, rows)
        loss = tf.reduce_sum(tf.square(looked_up - target)) / 2
        step = optimizer.minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        for i in range(len(ids)):
            sess.run(step, {rows: ids[i], target: targets[i]})
        return sess.run({v.op.name: v for v in tf.global_variables()})


def fit_clipped(data, start, limit, stops, rate=0.5, momentum=0.875, frozen=()):
    """Fits a line with Momentum and gradients clipped by their global norm.

    Args:
        data, start, stops: as for `fit`.
        limit: the largest global norm that is not clipped.
        rate: learning rate.
        momentum: share of the previous direction that a step keeps.
        frozen: names of the weights that are not trained, and have no slots.

    Returns:
        ({stop: {name: value}}, global norm of the gradients in the end).

    Raises:
        ValueError: all weights are frozen.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        loss = line_loss(data, start)
        global_step = tf.train.get_or_create_global_step()
        trained = [v for v in tf.trainable_variables() if v.op.name not in frozen]
        optimizer = tf.train.MomentumOptimizer(rate, momentum)
        # --- gradients
        gradients, variables = zip(
            *optimizer.compute_gradients(
                loss,
                trained,
                gate_gradients=optimizer.GATE_GRAPH,
                colocate_gradients_with_ops=True,
            )
        )
        clipped, norm = tf.clip_by_global_norm(gradients, limit)
        # --- step
        step = optimizer.apply_gradients(zip(clipped, variables), global_step)
        # --- run
        return states(sess, step, stops), sess.run(norm)


def fit_at_rates(data, start, rates):
    """Fits a line with Adam and a learning rate that is given for every step.

    Args:
        data, start: as for `fit`.
        rates: [steps] float array.

    Returns:
        {name: value} in the end.

    Raises:
        ValueError: a rate is not a scalar.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        loss = line_loss(data, start)
        rate = tf.placeholder(tf.float32, [])
        optimizer = tf.train.AdamOptimizer(rate)
        # --- step
        step = optimizer.minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        for value in rates:
            sess.run(step, {rate: value})
        return sess.run({v.op.name: v for v in tf.global_variables()})


def fit_by_parts(data, start, rates, stops):
    """Fits a line with two Adam optimizers: one for the kernel, one for the bias.

    Args:
        data, start, stops: as for `fit`.
        rates: (learning rate of the kernel, learning rate of the bias).

    Returns:
        {stop: {name: value}} of the weights, the slots and the global step.

    Raises:
        ValueError: no gradient reaches a weight, as with integers.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        loss = line_loss(data, start)
        kernel, bias = tf.trainable_variables()
        optimizers = [tf.train.AdamOptimizer(rate) for rate in rates]
        global_step = tf.train.get_or_create_global_step()
        # --- step
        # Both gradients at once: a second `compute_gradients` walks the graph again.
        of_kernel, of_bias = tf.gradients(loss, [kernel, bias])
        step = tf.group(
            optimizers[0].apply_gradients([(of_kernel, kernel)]),
            optimizers[1].apply_gradients([(of_bias, bias)], global_step),
        )
        # --- run
        return states(sess, step, stops)


def fit_in_turns(real, noise, generator, critic, turns, critic_steps=2, rate=0.125):
    """Trains a linear generator and a critic in turns, each with its own Adam.

    Args:
        real: [n, features] float array, the real examples of the discriminator.
        noise: [n, m] array; all arrays have the same dtype.
        generator: [m, features] array.
        critic: [features, 1] array.
        turns: number of steps of the generator.
        critic_steps: number of steps of the critic before each step of the generator.
        rate: learning rate of both optimizers.

    Returns:
        (list of [critic's loss, generator's loss], each before its last update;
        {name: value} in the end).

    Raises:
        ValueError: the noise does not fit, found while a graph is made.
        tf.errors.InvalidArgumentError: the same mistake, found when the graph runs.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        with tf.variable_scope("generator"):
            fake = tf.matmul(noise, tf.get_variable("w", initializer=generator))
        with tf.variable_scope("critic"):
            w = tf.get_variable("w", initializer=critic)
            fake_scores, real_scores = tf.matmul(fake, w), tf.matmul(real, w)
        global_step = tf.train.get_or_create_global_step()
        # --- critic
        errors = tf.square(fake_scores), tf.square(real_scores - 1)
        critic_loss = tf.reduce_mean(errors[0]) + tf.reduce_mean(errors[1])
        its_variables = tf.trainable_variables("critic")
        critic_step = tf.train.AdamOptimizer(rate, 0.5).minimize(
            critic_loss, var_list=its_variables
        )
        # --- generator
        generator_loss = tf.reduce_mean(tf.square(fake_scores - 1))
        its_variables = tf.trainable_variables("generator")
        generator_step = tf.train.AdamOptimizer(rate, 0.5).minimize(
            generator_loss, global_step, its_variables
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for _ in range(turns):
            for _ in range(critic_steps):
                of_critic, _ = sess.run([critic_loss, critic_step])
            of_generator, _ = sess.run([generator_loss, generator_step])
            losses.append([of_critic, of_generator])
        return losses, sess.run({v.op.name: v for v in tf.global_variables()})


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """Adam without bias correction and with decoupled weight decay."""

    def __init__(self, learning_rate, decay, exclude, name="AdamWeightDecay"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate, self.decay, self.exclude = learning_rate, decay, exclude
        self.beta1, self.beta2, self.epsilon = 0.9, 0.999, 1e-6

    def _create_slots(self, var_list):
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _apply_dense(self, grad, var):
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m = tf.assign(m, self.beta1 * m + (1 - self.beta1) * grad)
        v = tf.assign(v, self.beta2 * v + (1 - self.beta2) * tf.square(grad))
        update = m / (tf.sqrt(v) + self.epsilon)
        if not any(re.search(pattern, var.op.name) for pattern in self.exclude):
            update += self.decay * var
        return tf.assign_sub(var, self.learning_rate * update).op

    _resource_apply_dense = _apply_dense


def fit_with_decay(data, start, stops, rate=0.125, decay=0.25, exclude=("bias",)):
    """Fits a line with a custom optimizer: Adam with decoupled weight decay.

    Args:
        data, start, stops: as for `fit`.
        rate: learning rate.
        decay: weight decay: a step subtracts rate * decay * weight.
        exclude: patterns of the names of weights that do not shrink.

    Returns:
        {stop: {name: value}} of the weights, the slots and the global step.

    Raises:
        re.error: an invalid pattern.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        loss = line_loss(data, start)
        optimizer = AdamWeightDecayOptimizer(rate, decay, exclude)
        # --- step
        step = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        # --- run
        return states(sess, step, stops)
