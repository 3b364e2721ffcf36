"""The optimizers of `tf.train` and `tf.contrib.opt`, with TensorFlow 1's kernels.

    optimizer = Adam(0.001)
    loss = optimizer.minimize(lambda: model(x), model.trainable_variables)

Arguments, defaults, slots' names and errors are those of 1.15.5. The modules follow its
`tensorflow/python/training` and `tensorflow/contrib/opt`. The optimizers work eagerly
and in a `tf.function`, without retracing. Under a strategy, make the slots
(`create_slots`) and loss scales in its scope, and call the step in `strategy.run`: it
sums the gradients of all replicas, as 1.15.5 and Keras do. For the variables of a Keras
model pass their `value`: `[w.value for w in model.trainable_weights]`.
"""

from v2_eager.numerics.optimizers.adam import Adam, AdaMax, LazyAdam, Nadam
from v2_eager.numerics.optimizers.adaptive import Adadelta, Adagrad, RMSProp
from v2_eager.numerics.optimizers.base import Optimizer, summed
from v2_eager.numerics.optimizers.gradient_descent import GradientDescent, Momentum
from v2_eager.numerics.optimizers.lars import LARS
from v2_eager.numerics.optimizers.loss_scale import (
    DynamicLossScale,
    ExponentialUpdateLossScale,
    FixedLossScale,
    LossScale,
    MixedPrecisionLossScale,
)
from v2_eager.numerics.optimizers.moving_average import MovingAverage
from v2_eager.numerics.optimizers.multitask import Multitask
from v2_eager.numerics.optimizers.penalized import (
    AdagradDA,
    Ftrl,
    ProximalAdagrad,
    ProximalGradientDescent,
)
from v2_eager.numerics.optimizers.weight_decay import (
    AdamW,
    DecoupledWeightDecay,
    MomentumW,
)

__all__ = [
    "Optimizer",
    "GradientDescent",
    "Momentum",
    "Adagrad",
    "AdagradDA",
    "Adadelta",
    "RMSProp",
    "Adam",
    "Ftrl",
    "ProximalGradientDescent",
    "ProximalAdagrad",
    "AdaMax",
    "LazyAdam",
    "Nadam",
    "DecoupledWeightDecay",
    "AdamW",
    "MomentumW",
    "LARS",
    "MovingAverage",
    "LossScale",
    "FixedLossScale",
    "ExponentialUpdateLossScale",
    "MixedPrecisionLossScale",
    "DynamicLossScale",
    "Multitask",
    "summed",
]
