"""A rate for every layer, by the norms of its weights and of its gradient."""

import tensorflow as tf

from v2_eager.numerics.optimizers.gradient_descent import Momentum


class LARS(Momentum):
    """`tf.contrib.opt.LARSOptimizer` (slot "momentum"; You et al., 2017).

    trust = eeta * |variable| / (|gradient| + weight_decay * |variable| + epsilon), 1
    where one of the norms is 0; momentum = momentum * its last value + learning_rate *
    trust * (gradient + weight_decay * variable); variable -= momentum. A variable in
    whose name one of `skip_list` is found, or whose gradient is sparse, has plain
    momentum. Follows `tensorflow/contrib/opt/python/training/lars_optimizer.py`.

    Args:
        learning_rate, momentum: hyper-parameters, see `Optimizer`.
        weight_decay: number, the weight of the variable beside its gradient.
        eeta: number, the trust in a layer's rate.
        epsilon: number, added where trust is divided.
        name: the slot of `w` is called `w/name`.
        skip_list: list of parts of names, such as ["bias", "batch_norm"], or None.
        use_nesterov: as for `Momentum`.

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
        # Python's numbers meet float64 weights as they are, and were not float32 first.
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
