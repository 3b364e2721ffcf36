"""Optimizers with a separate rate for each weight: Adagrad, Adadelta, RMSProp."""

from v2_eager.numerics.optimizers.base import Optimizer, positive


class Adagrad(Optimizer):
    """`tf.train.AdagradOptimizer` (slot "accumulator", the sum of squared gradients).

    accumulator += gradient ** 2; variable -= learning_rate * gradient /
    sqrt(accumulator): Duchi, Hazan and Singer, 2011. There is no epsilon.

    `keras.optimizers.Adagrad` adds an epsilon of 1e-7 under the root.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        initial_accumulator_value: positive number, the initial value of the sums.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slot's name: `w/name` for the variable `w`.

    Raises:
        ValueError: the initial value is not positive.
    """

    kernel = "Adagrad"

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        use_locking=False,
        name="Adagrad",
    ):
        initial = positive(initial_accumulator_value, "initial_accumulator_value")
        super().__init__(
            name,
            [("accumulator", "accum", initial)],
            {"use_locking": use_locking},
            lr=learning_rate,
        )


class Adadelta(Optimizer):
    """`tf.train.AdadeltaOptimizer` (slots "accum" and "accum_update"; Zeiler, 2012).

    accum = rho * accum + (1 - rho) * gradient ** 2;
    step = gradient * sqrt(accum_update + epsilon) / sqrt(accum + epsilon);
    accum_update = rho * accum_update + (1 - rho) * step ** 2;
    variable -= learning_rate * step.

    `keras.optimizers.Adadelta` has an epsilon of 1e-7 and other names of its slots, and
    rounds after each operation.

    Args:
        learning_rate, rho, epsilon: hyper-parameters, see `Optimizer`. v1's default
            rate of 0.001 is a thousandth of the paper's.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
    """

    kernel = "Adadelta"

    def __init__(
        self,
        learning_rate=0.001,
        rho=0.95,
        epsilon=1e-8,
        use_locking=False,
        name="Adadelta",
    ):
        slots = [("accum", "accum", 0), ("accum_update", "accum_update", 0)]
        super().__init__(
            name,
            slots,
            {"use_locking": use_locking},
            lr=learning_rate,
            rho=rho,
            epsilon=epsilon,
        )


class RMSProp(Optimizer):
    """`tf.train.RMSPropOptimizer` (slots "rms", which begins at one, and "momentum").

    rms = decay * rms + (1 - decay) * gradient ** 2; slot = momentum * slot +
    learning_rate * gradient / sqrt(rms + epsilon); variable -= slot, where slot is the
    slot "momentum": after Tieleman and Hinton. With `centered` there is a third slot
    "mg" between them, the moving mean of the gradients, and mg ** 2 is subtracted under
    the root.

    Args:
        learning_rate, decay, momentum, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        centered: whether to divide by the standard deviation of the gradients, not by
            the root of their mean square.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
    """

    def __init__(
        self,
        learning_rate,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        name="RMSProp",
    ):
        mean = [("mg", "mg", 0)] if centered else []
        super().__init__(
            name,
            [("rms", "ms", 1), *mean, ("momentum", "mom", 0)],
            {"use_locking": use_locking},
            lr=learning_rate,
            rho=decay,
            momentum=momentum,
            epsilon=epsilon,
        )
        self.kernel = "CenteredRMSProp" if centered else "RMSProp"
