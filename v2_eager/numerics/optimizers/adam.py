"""Adam, and its variants in `tf.contrib.opt`: Nadam, AdaMax, LazyAdam.

Follows `adam.py` of 1.15.5's `tensorflow/python/training`, and `nadam_optimizer.py`,
`adamax.py` and `lazy_adam_optimizer.py` of `tensorflow/contrib/opt/python/training`.
"""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import Optimizer, number, summed


class Adam(Optimizer):
    """`tf.train.AdamOptimizer` (slots "m" and "v", `beta1_power`, `beta2_power`).

    m = beta1 * m + (1 - beta1) * gradient; v = beta2 * v + (1 - beta2) * gradient ** 2;
    rate = learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t);
    variable -= rate * m / (sqrt(v) + epsilon), the "epsilon hat" of the paper (Kingma
    and Ba, 2015). With a sparse gradient, all rows are updated, also those that were
    not looked up.

    `keras.optimizers.Adam` has an epsilon of 1e-7 and other names of its slots, and
    rounds after each operation.

    Args:
        learning_rate, beta1, beta2, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
        suffix: end of the names of the powers: "_1" for the second Adam of a graph.
    """

    kernel = "Adam"
    betas = "beta1", "beta2"

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
        *,
        suffix="",
    ):
        """Takes v1's arguments, and `suffix`: "_1" for the second Adam of a graph."""
        super().__init__(
            name,
            [("m", "m", 0), ("v", "v", 0)],
            {"use_locking": use_locking},
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        scope = tf.get_current_name_scope()  # it does not change the slots' names
        self.prefix, self.suffix = scope and scope + "/", suffix
        self.powers = {}

    def create_slots(self, variables):
        """Makes the missing slots, as `Optimizer.create_slots`, and the beta powers."""
        super().create_slots(variables)
        if not self.powers:
            with tf.init_scope(), tf.name_scope(""):
                self.powers = {
                    f"{beta}_power": tf.Variable(
                        number(self.hyper[beta]),
                        trainable=False,
                        name=f"{self.prefix}{beta}_power{self.suffix}",
                    )
                    for beta in self.betas
                }
        return self

    def arguments(self, variable, slots, numbers):
        arguments = super().arguments(variable, slots, numbers)
        return {**arguments, **self.cast_powers(variable)}

    def cast_powers(self, variable):
        """Returns {name: beta ** steps so far} in the dtype of a variable."""
        return {k: tf.cast(x, variable.dtype) for k, x in self.powers.items()}

    def corrected(self, variable, rate):
        """Multiplies the rate of sparse steps by the averages' bias correction."""
        power1, power2 = self.cast_powers(variable).values()
        return rate * tf.sqrt(1 - power2) / (1 - power1)

    def update_rows(self, variable, slots, gradient, numbers):
        """Updates all rows op by op: v1 had no kernel for Adam's sparse gradients."""
        rows, n = summed(gradient), numbers
        m, v = slots["m"], slots["v"]
        rate = self.corrected(variable, n["lr"])
        decay_all(m, n["beta1"], rows.values, rows.indices)
        decay_all(v, n["beta2"], rows.values * rows.values, rows.indices)
        variable.assign_sub(rate * m / (tf.sqrt(v) + n["epsilon"]))

    def finish(self, numbers):
        for beta in self.betas:
            power = self.powers[f"{beta}_power"]
            power.assign(power * tf.cast(numbers[beta], power.dtype))


def decay_all(slot, beta, values, indices):
    """Decays all rows of a moving average, and adds new values to some rows.

    Args:
        slot: float variable, the average.
        beta: share of the average that is kept, a scalar tensor.
        values: [k, ...] tensor, the new values of the rows.
        indices: [k] integer tensor, the indices of the rows.

    Returns:
        [k, ...] tensor: the amounts that were added.
    """
    slot.assign(slot * beta)
    added = values * (1 - beta)
    slot.scatter_add(tf.IndexedSlices(added, indices))
    return added


class Nadam(Adam):
    """`tf.contrib.opt.NadamOptimizer`: Adam with Nesterov momentum (T. Dozat).

    variable -= rate * (beta1 * m + (1 - beta1) * gradient) / (sqrt(v) + epsilon), where
    rate, m and v are Adam's; the slots are Adam's, too. A sparse gradient updates only
    the rows that it contains, but decays the averages of all rows.

    `keras.optimizers.Nadam` has a momentum that grows with the steps.

    Args:
        *args, **kwargs: arguments of `Adam`.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.options["use_nesterov"] = True

    def update_rows(self, variable, slots, gradient, numbers):
        rows, n = summed(gradient), numbers
        m, v = slots["m"], slots["v"]
        rate = self.corrected(variable, n["lr"])
        added = decay_all(m, n["beta1"], rows.values, rows.indices)
        ahead = added + n["beta1"] * tf.gather(m, rows.indices)
        decay_all(v, n["beta2"], rows.values * rows.values, rows.indices)
        root = tf.sqrt(tf.gather(v, rows.indices))
        step = -rate * ahead / (root + n["epsilon"])
        variable.scatter_add(tf.IndexedSlices(step, rows.indices))


class LazyAdam(Adam):
    """`tf.contrib.opt.LazyAdamOptimizer`: Adam that updates only rows with a gradient.

    With a sparse gradient, the rows that it does not contain and their m and v keep
    their values. With a dense gradient it is Adam.
    """

    def update_rows(self, variable, slots, gradient, numbers):
        rows, n = summed(gradient), numbers
        m, v = (tf.gather(slots[slot], rows.indices) for slot in ("m", "v"))
        m = n["beta1"] * m + (1 - n["beta1"]) * rows.values
        v = n["beta2"] * v + (1 - n["beta2"]) * tf.square(rows.values)
        slots["m"].scatter_update(tf.IndexedSlices(m, rows.indices))
        slots["v"].scatter_update(tf.IndexedSlices(v, rows.indices))
        step = self.corrected(variable, n["lr"]) * m / (tf.sqrt(v) + n["epsilon"])
        variable.scatter_sub(tf.IndexedSlices(step, rows.indices))


class AdaMax(Adam):
    """`tf.contrib.opt.AdaMaxOptimizer` (slots "m" and "v", `beta1_power`).

    m = beta1 * m + (1 - beta1) * gradient; v = max(beta2 * v, |gradient|);
    variable -= learning_rate / (1 - beta1 ** t) * m / (v + epsilon): section 7.1 of
    Kingma and Ba, "Adam". A sparse gradient updates only the rows that it contains.

    Args:
        learning_rate, beta1, beta2, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
        suffix: end of the name of the power: "_1" for the second Adam of a graph.
    """

    kernel = "AdaMax"
    betas = ("beta1",)

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="AdaMax",
        *,
        suffix="",
    ):
        arguments = learning_rate, beta1, beta2, epsilon, use_locking, name
        super().__init__(*arguments, suffix=suffix)

    def update_rows(self, variable, slots, gradient, numbers):
        rows, n = summed(gradient), numbers
        m, v = (tf.gather(slots[slot], rows.indices) for slot in ("m", "v"))
        m = m * n["beta1"] + rows.values * (1 - n["beta1"])
        v = tf.maximum(v * n["beta2"], tf.abs(rows.values))
        slots["m"].scatter_update(tf.IndexedSlices(m, rows.indices))
        slots["v"].scatter_update(tf.IndexedSlices(v, rows.indices))
        rate = -n["lr"] / (1 - self.cast_powers(variable)["beta1_power"])
        step = rate * (m / (v + n["epsilon"]))
        variable.scatter_add(tf.IndexedSlices(step, rows.indices))
