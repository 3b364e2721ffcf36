"""`tf.train.AdamOptimizer`, `MomentumOptimizer`, `minimize` → optimizer modules."""

import re

import tensorflow as tf

from v2_eager.numerics import optimizers

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
    "GradientDescent": optimizers.GradientDescent,
    "Momentum": optimizers.Momentum,
    "Adagrad": optimizers.Adagrad,
    "Adadelta": optimizers.Adadelta,
    "RMSProp": optimizers.RMSProp,
    "Adam": optimizers.Adam,
    "Ftrl": optimizers.Ftrl,
    "ProximalGradientDescent": optimizers.ProximalGradientDescent,
    "ProximalAdagrad": optimizers.ProximalAdagrad,
}


def line(data, start):
    """Makes two variables, and a function: mean squared error of x · kernel + bias."""
    x, y = tf.constant(data[0]), tf.constant(data[1])
    kernel = tf.Variable(start[0], name="kernel")
    bias = tf.Variable(start[1], name="bias")
    return [kernel, bias], lambda: tf.reduce_mean(tf.square(x @ kernel + bias - y))


def make_global_step():
    return tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")


def named_values(*variables):
    return {v.name[:-2]: v.numpy() for v in variables}


def states(step, variables, stops):
    """Calls `step` repeatedly; returns the variables at each of `stops`."""
    history, done = {}, 0
    for stop in stops:
        for _ in range(stop - done):
            step()
        history[stop], done = named_values(*variables), stop
    return history


def fit(data, start, optimizer, hyper, stops):
    """Fits a line with the optimizer of a given name, one `minimize` per step."""
    # --- build
    weights, loss = line(data, start)
    optimizer = OPTIMIZERS[optimizer](**hyper).create_slots(weights)
    global_step = make_global_step()

    # --- step
    @tf.function
    def step():
        optimizer.minimize(loss, weights, global_step)

    # --- run
    return states(step, [*weights, *optimizer.variables, global_step], stops)


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits the looked-up rows of an embedding table: the gradient is sparse."""
    # --- build
    table = tf.Variable(table, name="table")
    optimizer = OPTIMIZERS[optimizer](**hyper).create_slots([table])

    # --- step
    @tf.function
    def step(rows, target):
        def loss():
            looked_up = tf.nn.embedding_lookup(table, rows)
            return tf.reduce_sum(tf.square(looked_up - target)) / 2

        optimizer.minimize(loss, [table])

    # --- run
    for i in range(len(ids)):
        step(tf.constant(ids[i]), tf.constant(targets[i]))
    return named_values(table, *optimizer.variables)


def fit_clipped(data, start, limit, stops, rate=0.5, momentum=0.875, frozen=()):
    """Fits a line with Momentum and gradients clipped by their global norm."""
    # --- build
    weights, loss = line(data, start)
    global_step = make_global_step()
    trained = [v for v in weights if v.name[:-2] not in frozen]
    optimizer = optimizers.Momentum(rate, momentum).create_slots(trained)

    # --- gradients
    # A function keeps reads before writes, so gradients need no gate.
    def clipped_gradients():
        gradients, _ = zip(*optimizer.compute_gradients(loss, trained))
        return tf.clip_by_global_norm(gradients, limit)

    # --- step
    @tf.function
    def step():
        clipped, _ = clipped_gradients()
        optimizer.apply_gradients(zip(clipped, trained), global_step)

    # --- run
    history = states(step, [*weights, *optimizer.variables, global_step], stops)
    return history, clipped_gradients()[1].numpy()


def fit_at_rates(data, start, rates):
    """Fits a line with Adam and a learning rate that is given for every step."""
    # --- build
    weights, loss = line(data, start)
    # A Python attribute would be read only while tracing.
    rate = tf.Variable(0.0, trainable=False, name="rate")
    optimizer = optimizers.Adam(rate).create_slots(weights)

    # --- step
    @tf.function
    def step():
        optimizer.minimize(loss, weights)

    # --- run
    for value in rates:
        rate.assign(value)
        step()
    slots = (v for v in optimizer.variables if v is not rate)
    return named_values(*weights, *slots)


def fit_by_parts(data, start, rates, stops):
    """Fits a line with two Adam optimizers: one for the kernel, one for the bias."""
    # --- build
    (kernel, bias), loss = line(data, start)
    of_kernel = optimizers.Adam(rates[0]).create_slots([kernel])
    of_bias = optimizers.Adam(rates[1], suffix="_1").create_slots([bias])
    global_step = make_global_step()

    # --- step
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            error = loss()
        gradients = tape.gradient(error, [kernel, bias])
        of_kernel.apply_gradients([(gradients[0], kernel)])
        of_bias.apply_gradients([(gradients[1], bias)], global_step)

    # --- run
    slots = [*of_kernel.variables, *of_bias.variables]
    return states(step, [kernel, bias, *slots, global_step], stops)


def fit_in_turns(real, noise, generator, critic, turns, critic_steps=2, rate=0.125):
    """Trains a linear generator and a critic in turns, each with its own Adam."""
    # --- build
    real, noise = tf.constant(real), tf.constant(noise)
    maker = tf.Variable(generator, name="generator/w")
    judge = tf.Variable(critic, name="critic/w")
    global_step = make_global_step()

    def scores():
        return tf.matmul(tf.matmul(noise, maker), judge)

    # --- critic
    judge_adam = optimizers.Adam(rate, 0.5).create_slots([judge])

    def critic_loss():
        errors = tf.square(scores()), tf.square(tf.matmul(real, judge) - 1)
        return tf.reduce_mean(errors[0]) + tf.reduce_mean(errors[1])

    @tf.function
    def critic_step():
        return judge_adam.minimize(critic_loss, [judge])

    # --- generator
    maker_adam = optimizers.Adam(rate, 0.5, suffix="_1").create_slots([maker])

    def generator_loss():
        return tf.reduce_mean(tf.square(scores() - 1))

    @tf.function
    def generator_step():
        return maker_adam.minimize(generator_loss, [maker], global_step)

    # --- run
    losses = []
    for _ in range(turns):
        for _ in range(critic_steps):
            of_critic = critic_step()
        losses.append([of_critic.numpy(), generator_step().numpy()])
    variables = [maker, judge, *judge_adam.variables, *maker_adam.variables]
    return losses, named_values(*variables, global_step)


class AdamWeightDecay(optimizers.Optimizer):
    """Adam without bias correction and with decoupled weight decay.

        m = 0.9 m + 0.1 g, v = 0.999 v + 0.001 g²
        w = w - learning_rate (m / (sqrt(v) + 1e-6) + decay w)

    as `AdamWeightDecayOptimizer` of BERT's `optimization.py`. A sparse gradient updates
    all rows.

    Args:
        learning_rate: a float, or a scalar tensor or variable.
        decay: weight decay: a step subtracts learning_rate * decay * weight.
        exclude: list of patterns; variables whose names match a pattern do not decay.
        name: part of the names of the slots.
    """

    def __init__(self, learning_rate, decay, exclude, name="AdamWeightDecay"):
        super().__init__(name, [("m", "m", 0), ("v", "v", 0)])
        self.learning_rate, self.decay = learning_rate, decay
        self.exclude = [re.compile(pattern) for pattern in exclude]
        self.beta1, self.beta2, self.epsilon = 0.9, 0.999, 1e-6

    def update(self, variable, slots, gradient, numbers):
        m = self.beta1 * slots["m"] + (1 - self.beta1) * gradient
        v = self.beta2 * slots["v"] + (1 - self.beta2) * tf.square(gradient)
        update = m / (tf.sqrt(v) + self.epsilon)
        if not any(pattern.search(variable.name[:-2]) for pattern in self.exclude):
            update += self.decay * variable
        slots["m"].assign(m)
        slots["v"].assign(v)
        variable.assign_sub(self.learning_rate * update)

    def update_rows(self, variable, slots, gradient, numbers):
        """Updates and decays all rows, looked up or not, as BERT does."""
        self.update(variable, slots, tf.convert_to_tensor(gradient), numbers)


def fit_with_decay(data, start, stops, rate=0.125, decay=0.25, exclude=("bias",)):
    """Fits a line with a custom optimizer: Adam with decoupled weight decay."""
    # --- build
    weights, loss = line(data, start)
    optimizer = AdamWeightDecay(rate, decay, exclude).create_slots(weights)
    global_step = make_global_step()

    # --- step
    @tf.function
    def step():
        optimizer.minimize(loss, weights, global_step)

    # --- run
    return states(step, [*weights, *optimizer.variables, global_step], stops)
