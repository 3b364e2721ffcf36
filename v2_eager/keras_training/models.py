"""Keras 3 models and a loss that compute losses as tf.keras of TensorFlow 1 did."""

import tensorflow as tf

register = tf.keras.utils.register_keras_serializable("tensorflow_1")


@register
class Last(tf.keras.metrics.Metric):
    """A metric: the last scalar passed to `update_state`, or 0.

    Args:
        name: str, the name of the metric.
        **options: arguments of `keras.metrics.Metric`.
    """

    def __init__(self, name, **options):
        super().__init__(name=name, **options)
        self.value = self.add_weight((), "zeros", dtype=self.dtype, name="value")

    def update_state(self, value):
        self.value.assign(tf.cast(value, self.value.dtype))

    def result(self):
        return self.value


class BatchLosses:
    """Model mixin: also logs the loss of each batch, and the mean of these losses.

        class Net(BatchLosses, tf.keras.Model):
            pass

        model = Net(inputs, outputs)

    The `loss` of Keras 3 is the mean of all rows since the epoch began. Validation adds
    both as `val_batch_loss` and `val_mean_loss`.

    Args:
        *args, **kwargs: arguments of the class of the model.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.of_batch = Last("batch_loss")
        self.of_batches = tf.keras.metrics.Mean(name="mean_loss")

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        self.of_batch.update_state(loss)
        self.of_batches.update_state(loss)
        return loss


@register
class TellsBatches(BatchLosses, tf.keras.Sequential):
    """A Sequential model that also logs `batch_loss`, and its mean as `mean_loss`.

    See `BatchLosses`.

    Args:
        *args: arguments of `keras.Sequential`.
        **kwargs: arguments of `keras.Sequential`.
    """


class FrozenPenalties:
    """Model mixin: includes the penalties of frozen weights in the losses.

    List it before the class of the model; see `BatchLosses`.
    """

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        for weight in self.non_trainable_variables:
            if weight.regularizer:
                loss += weight.regularizer(weight)
        return loss


@register
class CountsFrozen(FrozenPenalties, tf.keras.Sequential):
    """A Sequential model whose losses include the penalties of frozen weights.

    `keras.Sequential` adds the penalties of trainable weights alone. See
    `FrozenPenalties`.

    Args:
        *args: arguments of `keras.Sequential`.
        **kwargs: arguments of `keras.Sequential`.
    """


@register
class OverAllSteps(tf.keras.losses.SparseCategoricalCrossentropy):
    """Sparse cross-entropy: sum over unmasked steps, divided by the number of steps.

    The sum is over the steps that the mask of the outputs keeps, times their weights;
    the divisor is the number of all labels.
    `keras.losses.SparseCategoricalCrossentropy` divides by the number of steps that the
    mask keeps.

    Args:
        reduction: "sum", or left out.
        axis: int, the axis of the classes.
        **options: other options of `keras.losses.SparseCategoricalCrossentropy`.

    Raises:
        ValueError: another reduction.
    """

    def __init__(self, reduction="sum", axis=-1, **options):
        if reduction != "sum":
            raise ValueError(
                f"reduction must be 'sum', which this loss divides, not {reduction!r}"
            )
        super().__init__(reduction=reduction, axis=axis, **options)
        self.axis = axis

    def get_config(self):  # Keras' own has no axis and no dtype
        return {**super().get_config(), "axis": self.axis, "dtype": self.dtype}

    def __call__(self, y_true, y_pred, sample_weight=None):
        total = super().__call__(y_true, y_pred, sample_weight)
        return total / tf.cast(tf.size(y_true), total.dtype)
