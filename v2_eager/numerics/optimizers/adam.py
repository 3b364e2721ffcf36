"""Adam."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import Optimizer, number, summed


class Adam(Optimizer):
    """`tf.train.AdamOptimizer` (slots "m" and "v", `beta1_power`, `beta2_power`).

    epsilon is added to sqrt(v), the bias correction being in the rate: the "epsilon
    hat" of the paper. A sparse gradient moves all rows, looked up or not.
    """

    kernel = "Adam"

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
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        self.powers = {
            f"{beta}_power": tf.Variable(
                number(self.hyper[beta]), trainable=False, name=f"{beta}_power{suffix}"
            )
            for beta in ("beta1", "beta2")
        }

    def arguments(self, variable, slots, numbers):
        powers = {k: tf.cast(x, variable.dtype) for k, x in self.powers.items()}
        return {**super().arguments(variable, slots, numbers), **powers}

    def update_rows(self, variable, slots, gradient, numbers):
        """In all rows: v1 had no kernel for this, and rounds at each of these steps."""
        rows, n = summed(gradient), numbers
        m, v = slots["m"], slots["v"]
        power1, power2 = (tf.cast(x, variable.dtype) for x in self.powers.values())
        rate = n["lr"] * tf.sqrt(1 - power2) / (1 - power1)
        for slot, beta, values in [
            (m, n["beta1"], rows.values),
            (v, n["beta2"], rows.values * rows.values),
        ]:
            slot.assign(slot * beta)
            slot.scatter_add(tf.IndexedSlices(values * (1 - beta), rows.indices))
        variable.assign_sub(rate * m / (tf.sqrt(v) + n["epsilon"]))

    def finish(self, numbers):
        for beta in ("beta1", "beta2"):
            power = self.powers[f"{beta}_power"]
            power.assign(power * tf.cast(numbers[beta], power.dtype))
