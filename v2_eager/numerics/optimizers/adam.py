"""Adam, and what `tf.contrib.opt` made of it: Nadam, AdaMax, LazyAdam.

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
    and Ba, 2015). A sparse gradient moves all rows, looked up or not.

    `keras.optimizers.Adam` has an epsilon of 1e-7 and slots of other names, and rounds
    after each operation.

    Args:
        learning_rate, beta1, beta2, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: slots are named after it: `w/name`, the second one of `w` `w/name_1`.
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
        """As in v1; the powers of the second Adam of a graph have the suffix "_1"."""
        super().__init__(
            name,
            [("m", "m", 0), ("v", "v", 0)],
            {"use_locking": use_locking},
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        scope = tf.get_current_name_scope()  # of which the slots know nothing
        self.prefix, self.suffix = scope and scope + "/", suffix
        self.powers = {}

    def create_slots(self, variables):
        """As `Optimizer.create_slots`; also the powers."""
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
        """{name: power of a beta by the steps so far}, in the dtype of a variable."""
        return {k: tf.cast(x, variable.dtype) for k, x in self.powers.items()}

    def corrected(self, variable, rate):
        """The rate with the bias of the averages corrected in it, for sparse steps."""
        power1, power2 = self.cast_powers(variable).values()
        return rate * tf.sqrt(1 - power2) / (1 - power1)

    def update_rows(self, variable, slots, gradient, numbers):
        """In all rows: v1 had no kernel for this, and rounds at each of these steps."""
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
    """Decays a whole average, and adds to the rows that were seen.

    Args:
        slot: float variable, the average.
        beta: share of it that is kept, a scalar tensor.
        values: [k, ...] tensor, what the rows move towards.
        indices: [k] integer tensor, of the rows.

    Returns:
        [k, ...] tensor: what was added.
    """
    slot.assign(slot * beta)
    added = values * (1 - beta)
    slot.scatter_add(tf.IndexedSlices(added, indices))
    return added


class Nadam(Adam):
    """`tf.contrib.opt.NadamOptimizer`: Adam by Nesterov, after T. Dozat; Adam's slots.

    variable -= rate * (beta1 * m + (1 - beta1) * gradient) / (sqrt(v) + epsilon), rate,
    m and v being Adam's. A sparse gradient moves the rows that it names, and decays the
    averages of all.

    `keras.optimizers.Nadam` has a momentum that grows with the steps.

    Args:
        *args, **kwargs: as for `Adam`.
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
    """`tf.contrib.opt.LazyAdamOptimizer`: Adam that leaves rows not looked up alone.

    Of a sparse gradient, neither the other rows nor their m and v move; otherwise Adam.
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
    Kingma and Ba, "Adam". A sparse gradient moves the rows that it names, only.

    Args:
        learning_rate, beta1, beta2, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: slots are named after it: `w/name`, the second one of `w` `w/name_1`.
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
