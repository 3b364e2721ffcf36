"""Loss scaling for mixed precision: fixed and dynamic scales, optimizer wrappers.

Follows `loss_scale_optimizer.py` and `loss_scale_manager.py` of 1.15.5's
`tensorflow/contrib/mixed_precision/python`, and `loss_scale_optimizer.py` and
`loss_scale.py` of its `tensorflow/python/training/experimental`.
"""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import summed_over_replicas


class FixedLossScale(tf.Module):
    """`FixedLossScaleManager`: a constant loss scale.

    Args:
        loss_scale: a number.

    Raises:
        ValueError: `loss_scale` is less than 1.
    """

    def __init__(self, loss_scale):
        super().__init__()
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self.loss_scale = tf.constant(loss_scale, tf.float32)

    def update(self, finite):
        """Does nothing: the scale is constant."""


class ExponentialUpdateLossScale(tf.Module):
    """`ExponentialUpdateLossScaleManager`: a scale that grows until gradients overflow.

    The scale is multiplied by `incr_ratio` after `incr_every_n_steps` consecutive
    finite steps, unless it would become infinite. It is multiplied by `decr_ratio`
    after `decr_every_n_nan_or_inf` steps that were not finite, consecutive or not, but
    remains at least 1. After each change both counts begin at 0 again.

    Args:
        init_loss_scale: number, the initial scale; float32.
        incr_every_n_steps: number of consecutive finite steps after which the scale
            grows.
        decr_every_n_nan_or_inf: number of steps with a gradient that is not finite
            after which the scale shrinks.
        incr_ratio: number above 1, the factor with which the scale grows.
        decr_ratio: number below 1, the factor with which the scale shrinks.
    """

    def __init__(
        self,
        init_loss_scale,
        incr_every_n_steps,
        decr_every_n_nan_or_inf=2,
        incr_ratio=2,
        decr_ratio=0.8,
    ):
        super().__init__()
        self.up = incr_every_n_steps, incr_ratio
        self.down = decr_every_n_nan_or_inf, decr_ratio
        scale = tf.constant(init_loss_scale, tf.float32)
        self.loss_scale = tf.Variable(scale, trainable=False, name="loss_scale")
        self.good_steps = tf.Variable(0, trainable=False, name="good_steps")
        self.bad_steps = tf.Variable(0, trainable=False, name="bad_steps")

    def update(self, finite):
        """Counts a step, and changes the scale if it is due.

        Args:
            finite: bool scalar tensor, whether all gradients were finite.
        """
        scale = tf.convert_to_tensor(self.loss_scale)
        good, bad = self.good_steps + 1, self.bad_steps + 1
        up = tf.logical_and(finite, good >= self.up[0])
        down = tf.logical_and(tf.logical_not(finite), bad >= self.down[0])
        higher, lower = scale * self.up[1], tf.maximum(scale * self.down[1], 1)
        higher = tf.where(tf.math.is_finite(higher), higher, scale)
        scale = tf.where(up, higher, tf.where(down, lower, scale))
        changed = tf.logical_or(up, down)
        good = tf.where(finite, good, 0)
        bad = tf.where(finite, bad - 1, bad)
        self.loss_scale.assign(scale)
        self.good_steps.assign(tf.where(changed, 0, good))
        self.bad_steps.assign(tf.where(changed, 0, bad))


class DynamicLossScale(tf.Module):
    """`tf.train.experimental.DynamicLossScale`: grows, and shrinks after an overflow.

    The scale is multiplied by `multiplier` after `increment_period` consecutive finite
    steps, unless it would become infinite. It is divided by `multiplier` after each
    step that is not finite, but remains at least 1.

    Args:
        initial_loss_scale: number.
        increment_period: number of consecutive finite steps after which the scale
            grows.
        multiplier: factor with which the scale grows and shrinks.
    """

    def __init__(
        self, initial_loss_scale=2.0**15, increment_period=2000, multiplier=2.0
    ):
        super().__init__()
        self.increment_period, self.multiplier = increment_period, multiplier
        scale = tf.constant(initial_loss_scale, tf.float32)
        self.loss_scale = tf.Variable(scale, False, name="current_loss_scale")
        self.good_steps = tf.Variable(0, False, dtype=tf.int64, name="good_steps")

    def update(self, finite):
        """Counts a step, and changes the scale if it is due.

        Args:
            finite: bool scalar tensor, whether all gradients were finite.
        """
        scale = tf.convert_to_tensor(self.loss_scale)
        good = tf.where(finite, self.good_steps + 1, tf.zeros_like(self.good_steps))
        up = good >= self.increment_period
        higher = scale * self.multiplier
        higher = tf.where(tf.math.is_finite(higher), higher, scale)
        lower = tf.maximum(scale / self.multiplier, 1)
        scale = tf.where(finite, tf.where(up, higher, scale), lower)
        self.loss_scale.assign(scale)
        self.good_steps.assign(tf.where(up, tf.zeros_like(good), good))


class LossScale(tf.Module):
    """`tf.contrib.mixed_precision.LossScaleOptimizer`: trains with a scaled loss.

        optimizer = LossScale(Adam(0.001), ExponentialUpdateLossScale(2.0**15, 2000))
        loss = optimizer.minimize(lambda: model(x), model.trainable_variables)

    Gradients are divided by the scale again. If a gradient is infinite or NaN, the step
    is skipped, and the global step is not increased. Sparse gradients become dense.

    Args:
        opt: an `Optimizer`, or a `MovingAverage`.
        manager: a `FixedLossScale`, an `ExponentialUpdateLossScale`, or your own object
            with `loss_scale` and `update`.
    """

    def __init__(self, opt, manager):
        super().__init__()
        self.optimizer, self.manager = opt, manager

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """Takes a training step, as `Optimizer.minimize`; returns the unscaled loss."""
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """Computes [(gradient or None, variable)], with unscaled gradients."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """Computes (loss, [(gradient or None, variable)]), both unscaled."""
        values, scale = [], tf.convert_to_tensor(self.manager.loss_scale)

        def scaled():
            values.append(loss())
            return values[0] * tf.cast(scale, values[0].dtype)

        _, pairs = self.optimizer.differentiate(scaled, variables, grad_loss)
        inverse = tf.math.reciprocal(scale)
        return values[0], [
            (g if g is None else self.scaled_down(g, tf.cast(inverse, g.dtype)), v)
            for g, v in pairs
        ]

    def scaled_down(self, gradient, inverse):
        return gradient * inverse

    def apply_gradients(self, pairs, global_step=None, *, aggregate=True):
        """Applies gradients, as `Optimizer.apply_gradients`, if all are finite.

        In `strategy.run` the sum over all replicas decides: if the gradient of one
        replica is infinite, all replicas skip the step.

        Raises:
            ValueError: a gradient is None.
        """
        pairs = list(pairs)
        for gradient, variable in pairs:
            if gradient is None:
                name = variable.name
                raise ValueError(f"{name} has no gradient (None): leave it out")
        if not pairs:
            raise ValueError("No variables provided.")
        self.create_slots([variable for _, variable in pairs])
        if aggregate:
            pairs = summed_over_replicas(pairs)
        finite = tf.reduce_all(
            [tf.reduce_all(tf.math.is_finite(gradient)) for gradient, _ in pairs]
        )

        def apply():
            self.optimizer.apply_gradients(pairs, global_step, aggregate=False)
            return True

        tf.cond(finite, apply, lambda: False)
        self.manager.update(finite)

    def create_slots(self, variables):
        """Makes the missing slots, as `Optimizer.create_slots`.

        Raises:
            ValueError: the manager's variables were made outside of the strategy's
                scope: every replica would count each step.
        """
        strategy = tf.distribute.get_strategy()
        for variable in getattr(self.manager, "variables", ()):
            if not strategy.extended.variable_created_in_scope(variable):
                raise ValueError(
                    f"{variable.name} was not created in the scope of this strategy: "
                    "create the loss scale manager in `strategy.scope()`"
                )
        self.optimizer.create_slots(variables)
        return self


class MixedPrecisionLossScale(LossScale):
    """`tf.train.experimental.MixedPrecisionLossScaleOptimizer`: as `LossScale`.

        optimizer = MixedPrecisionLossScale(Adam(0.001), DynamicLossScale())

    With a fixed scale no step is skipped, also if its gradients are not finite. Sparse
    gradients remain sparse, and a variable may have no gradient.

    Args:
        opt: an `Optimizer`.
        manager: a `FixedLossScale` or a `DynamicLossScale`.
    """

    def scaled_down(self, gradient, inverse):
        if isinstance(gradient, tf.IndexedSlices):
            return tf.IndexedSlices(
                gradient.values * inverse, gradient.indices, gradient.dense_shape
            )
        return gradient * inverse

    def apply_gradients(self, pairs, global_step=None, *, aggregate=True):
        """Applies gradients if all are finite or if the scale is fixed."""
        pairs = list(pairs)
        given = [pair for pair in pairs if pair[0] is not None]
        if isinstance(self.manager, FixedLossScale) or not given:
            return self.optimizer.apply_gradients(
                pairs, global_step, aggregate=aggregate
            )
        return super().apply_gradients(given, global_step, aggregate=aggregate)
