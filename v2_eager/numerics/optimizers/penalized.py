"""Optimizers with L1 and L2 penalties: AdagradDA, FTRL and proximal methods."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import Optimizer, positive


class AdagradDA(Optimizer):
    """`tf.train.AdagradDAOptimizer`: dual averaging, for sparse linear models.

    The slots are "gradient_accumulator", the sum of gradients, and
    "gradient_squared_accumulator". `global_step` is a variable that counts the steps;
    the caller adds 1 after each step, and t is global_step + 1. variable =
    -learning_rate * shrunk(sum, l1 * t) / (l2 * t * learning_rate + sqrt(sum of
    squares)), where shrunk(x, y) is sign(x) * max(|x| - y, 0): Duchi, Hazan and Singer,
    2011. v1 had no 16-bit kernel.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        global_step: integer variable, the number of steps before this one.
        initial_gradient_squared_accumulator_value: positive number, the initial value
            of the sums of squares.
        l1_regularization_strength, l2_regularization_strength: hyper-parameters, l1 and
            l2 in the formula.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.

    Raises:
        ValueError: the initial value is not positive.
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
            {"use_locking": use_locking},
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

    p is -learning_rate_power, and old is the value of accum before the step:
    accum += gradient ** 2;
    linear += gradient - (accum ** p - old ** p) / learning_rate * variable;
    variable = (sign(linear) * l1 - linear) / (accum ** p / learning_rate + 2 * l2)
    if |linear| > l1, else 0. l2 shrinkage adds 2 * shrinkage * variable to the gradient
    in the second line.

    `keras.optimizers.Ftrl` has other names of its slots, and rounds after each
    operation.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        learning_rate_power: number, 0 or less; with 0 the rate does not fall.
        initial_accumulator_value: number, 0 or more, the initial value of `accum`.
        l1_regularization_strength, l2_regularization_strength: numbers, 0 or more, l1
            and l2 in the formula.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
        accum_name, linear_name: suffixes of the two slots' names, used instead of
            `name`, or None.
        l2_shrinkage_regularization_strength: number, 0 or more, the shrinkage.

    Raises:
        ValueError: a strength or the initial value is negative, or the power positive.
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
            if value < 0:  # the kernel accepts it, and computes nonsense
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
            {"use_locking": use_locking},
            **hyper,
        )


class ProximalGradientDescent(Optimizer):
    """`tf.train.ProximalGradientDescentOptimizer`: a step, then L1 and L2 shrinkage.

    x = variable - learning_rate * gradient; variable = sign(x) * max(|x| -
    learning_rate * l1, 0) / (1 + learning_rate * l2): Duchi and Singer, 2009. v1
    accepted a Python number as the rate for float32 variables only.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        l1_regularization_strength, l2_regularization_strength: hyper-parameters, l1 and
            l2 in the formula.
        use_locking: whether a step locks the variable against other threads.
        name: not used, because there are no slots.
    """

    kernel = "ProximalGradientDescent"
    gradient = "delta"

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
            options={"use_locking": use_locking},
            alpha=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )


class ProximalAdagrad(Optimizer):
    """`tf.train.ProximalAdagradOptimizer` (slot "accumulator").

    It is `ProximalGradientDescent` with the rate divided by sqrt(accumulator), where
    accumulator is the sum of the squared gradients.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        initial_accumulator_value: positive number, the sums' initial value.
        l1_regularization_strength, l2_regularization_strength: see
            `ProximalGradientDescent`.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slot's name: `w/name` for the variable `w`.

    Raises:
        ValueError: the initial value is not positive.
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
            {"use_locking": use_locking},
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )
