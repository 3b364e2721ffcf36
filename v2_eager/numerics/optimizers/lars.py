"""LARS: one rate per layer, from the norms of its weights and of its gradient."""

import tensorflow as tf

from v2_eager.numerics.optimizers.gradient_descent import Momentum


class LARS(Momentum):
    """`tf.contrib.opt.LARSOptimizer` (slot "momentum"; You et al., 2017).

    trust = eeta * |variable| / (|gradient| + weight_decay * |variable| + epsilon), or 1
    if one of the norms is 0; slot = momentum * slot + learning_rate * trust * (gradient
    + weight_decay * variable); variable -= slot. If the variable's name contains a
    string of `skip_list`, or the gradient is sparse, it is plain momentum. Follows
    `tensorflow/contrib/opt/python/training/lars_optimizer.py`.

    Args:
        learning_rate, momentum: hyper-parameters, see `Optimizer`.
        weight_decay: number, factor of the variable that is added to the gradient.
        eeta: number, factor of the trust.
        epsilon: number, added to the divisor of the trust.
        name: suffix of the slot's name: `w/name` for the variable `w`.
        skip_list: list of parts of names, such as ["bias", "batch_norm"], or None.
        use_nesterov: see `Momentum`.

    Raises:
        ValueError: a negative momentum or weight decay.
    """

    def __init__(
        self,
        learning_rate,
        momentum=0.9,
        weight_decay=0.0001,
        eeta=0.001,
        epsilon=0.0,
        name="LARSOptimizer",
        skip_list=None,
        use_nesterov=False,
    ):
        for what, value in {"momentum": momentum, "weight_decay": weight_decay}.items():
            if not callable(value) and value < 0:
                raise ValueError(f"{what} should be positive: {value}")
        super().__init__(learning_rate, momentum, name=name, use_nesterov=use_nesterov)
        self.weight_decay, self.eeta, self.epsilon = weight_decay, eeta, epsilon
        self.skipped = list(skip_list or ())

    def update(self, variable, slots, gradient, numbers):
        # v1 used Python's numbers with float64 weights without rounding to float32.
        rate, momentum = [
            self.hyper[k] if isinstance(self.hyper[k], (int, float)) else numbers[k]
            for k in ("lr", "momentum")
        ]
        if not any(part in variable.name for part in self.skipped):
            norm, slope = tf.norm(variable, ord=2), tf.norm(gradient, ord=2)
            bottom = slope + self.weight_decay * norm + self.epsilon
            both = tf.logical_and(norm > 0, slope > 0)
            rate = rate * tf.where(both, self.eeta * norm / bottom, 1.0)
            gradient += self.weight_decay * variable
        numbers = {
            "lr": tf.constant(1, variable.dtype),
            "momentum": tf.convert_to_tensor(momentum, variable.dtype),
        }
        super().update(variable, slots, gradient * rate, numbers)
