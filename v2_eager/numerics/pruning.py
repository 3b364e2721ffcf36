"""Magnitude pruning during training, as in `tf.contrib.model_pruning`."""

import tensorflow as tf

__all__ = ["Pruning"]


class Pruning(tf.Module):
    """`tf.contrib.model_pruning.Pruning`: masks the smallest elements of one variable.

    Args:
        kernel: float32 variable. Masked elements keep their values, get no gradient,
            and may be unmasked later.
        mask: variable of the same shape; the program multiplies the kernel by the mask.
        begin_pruning_step: first step that may change the mask.
        end_pruning_step: last step that may change the mask, or -1 for no last step.
        pruning_frequency: number of steps between two changes of the mask.
        initial_sparsity: share of the elements that is masked at first.
        target_sparsity: share of the elements that is masked in the end.
        sparsity_function_begin_step: step at which the share begins to grow.
        sparsity_function_end_step: step at which the share is `target_sparsity`.
        sparsity_function_exponent: 1: the share grows linearly; more: faster at first.
        threshold_decay: share of the last threshold that is kept.

    Raises:
        ValueError: a sparsity or the decay is not in [0, 1).
    """

    def __init__(
        self,
        kernel,
        mask,
        begin_pruning_step=0,
        end_pruning_step=-1,
        pruning_frequency=10,
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        threshold_decay=0.0,
    ):
        super().__init__()
        for what, share in {
            "initial_sparsity": initial_sparsity,
            "target_sparsity": target_sparsity,
            "threshold_decay": threshold_decay,
        }.items():
            if not 0 <= share < 1:
                raise ValueError(f"{what} must be in range [0,1)")
        self.kernel, self.mask, self.frequency = kernel, mask, pruning_frequency
        self.steps = begin_pruning_step, end_pruning_step
        self.shares = initial_sparsity, target_sparsity
        self.exponent = sparsity_function_exponent
        self.growing = sparsity_function_begin_step, sparsity_function_end_step
        self.decay = threshold_decay
        threshold = tf.Variable(0.0, False, name=kernel.name[:-2] + "/threshold")
        last = tf.Variable(0, False, name="model_pruning/last_mask_update_step")
        self.own = threshold, last

    def sparsity(self, step):
        """Computes the share of masked elements at a step, a float32 scalar."""
        (begin, end), (first, target) = self.growing, self.shares
        passed = tf.cast(step - begin, tf.float32) / tf.cast(end - begin, tf.float32)
        left = 1 - tf.clip_by_value(passed, 0, 1)
        return (first - target) * tf.pow(left, self.exponent) + target

    def update(self, global_step):
        """Recomputes the mask if an update is due at this step.

        Raises:
            tf.errors.InvalidArgumentError: the mask would leave no weight.
        """
        step = tf.cast(global_step, tf.int32)
        begin, end = self.steps
        threshold, last = self.own
        ended = end >= 0 and step > end
        if step >= begin and not ended and last + self.frequency <= step:
            sizes = tf.abs(self.kernel)
            kept = tf.cast(tf.size(sizes), tf.float32) * (1 - self.sparsity(step))
            kept = tf.cast(tf.round(kept), tf.int32)
            tf.debugging.assert_positive(kept, "no weight is left: lower the sparsity")
            ordered = tf.sort(tf.reshape(sizes, [-1]), direction="DESCENDING")
            smallest = ordered[kept - 1]
            threshold.assign(smallest * (1 - self.decay) + threshold * self.decay)
            self.mask.assign(tf.cast(sizes >= threshold, tf.float32))
            last.assign(step)
