"""Optimizers with penalties of their own, by which weights become 0."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import Optimizer, positive


class AdagradDA(Optimizer):
    """`tf.train.AdagradDAOptimizer`, dual averaging, for sparse linear models.

    Slots "gradient_accumulator", the sum of gradients, and
    "gradient_squared_accumulator"; `global_step` is the variable that counts the steps,
    which the one who steps adds to: t is one more. variable = -learning_rate *
    shrunk(sum, l1 * t) / (l2 * t * learning_rate + sqrt(sum of squares)), shrunk(x, y)
    being sign(x) * max(|x| - y, 0): Duchi, Hazan and Singer, 2011. v1 had no kernel of
    16 bits.

    Raises:
        ValueError: an initial value that is not positive.
    """

    kernel = "AdagradDA"

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        what = "initial_gradient_squared_accumulator_value"
        initial = positive(initial_gradient_squared_accumulator_value, what)
        squares = "gradient_squared_accumulator"
        super().__init__(
            name,
            [
                ("gradient_accumulator", "gradient_accumulator", 0),
                (squares, squares, initial),
            ],
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )
        self.global_step = global_step

    def arguments(self, variable, slots, numbers):
        step = tf.cast(self.global_step, tf.int64) + 1
        return {**super().arguments(variable, slots, numbers), "global_step": step}


class Ftrl(Optimizer):
    """`tf.train.FtrlOptimizer` (slots "accum" and "linear"; McMahan et al., 2013).

    With p = -learning_rate_power, and old the sum before the step:
    accum += gradient ** 2;
    linear += gradient - (accum ** p - old ** p) / learning_rate * variable;
    variable = (sign(linear) * l1 - linear) / (accum ** p / learning_rate + 2 * l2)
    where |linear| > l1, else 0. l2 shrinkage adds 2 * shrinkage * variable to the
    gradient in the second line.

    Raises:
        ValueError: a negative strength or initial value, a positive power.
    """

    kernel = "Ftrl"

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
    ):
        for what, value in {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": (
                l2_shrinkage_regularization_strength
            ),
        }.items():
            if value < 0:  # the kernel takes it, and goes astray
                raise ValueError(f"{what} {value} needs to be positive or zero")
        if learning_rate_power > 0:
            power = learning_rate_power
            raise ValueError(f"learning_rate_power {power} needs to be <= 0")
        hyper = {
            "lr": learning_rate,
            "l1": l1_regularization_strength,
            "l2": l2_regularization_strength,
            "lr_power": learning_rate_power,
        }
        if l2_shrinkage_regularization_strength > 0:
            self.kernel = "FtrlV2"
            hyper["l2_shrinkage"] = l2_shrinkage_regularization_strength
        super().__init__(
            name,
            [
                ("accum", "accum", initial_accumulator_value, accum_name or name),
                ("linear", "linear", 0, linear_name or name),
            ],
            **hyper,
        )


class ProximalGradientDescent(Optimizer):
    """`tf.train.ProximalGradientDescentOptimizer`: a step, then a pull towards 0.

    x = variable - learning_rate * gradient; variable = sign(x) * max(|x| -
    learning_rate * l1, 0) / (1 + learning_rate * l2): Duchi and Singer, 2009. v1 took a
    Python rate for float32 variables only.
    """

    kernel = "ProximalGradientDescent"

    def __init__(
        self,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalGradientDescent",
    ):
        super().__init__(
            name,
            alpha=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )

    def update(self, variable, slots, gradient, numbers):
        arguments = self.arguments(variable, slots, numbers)
        tf.raw_ops.ResourceApplyProximalGradientDescent(delta=gradient, **arguments)


class ProximalAdagrad(Optimizer):
    """`tf.train.ProximalAdagradOptimizer` (slot "accumulator").

    As `ProximalGradientDescent`, the rate divided by sqrt(accumulator), the sum of the
    squared gradients.

    Raises:
        ValueError: an initial value that is not positive.
    """

    kernel = "ProximalAdagrad"

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        initial = positive(initial_accumulator_value, "initial_accumulator_value")
        super().__init__(
            name,
            [("accumulator", "accum", initial)],
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )
