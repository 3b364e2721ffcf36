"""Models and a loss of Keras 3 that count as tf.keras of TensorFlow 1 did."""

import tensorflow as tf


class Last(tf.keras.metrics.Metric):
    """What it was given last."""

    def __init__(self, name):
        super().__init__(name=name)
        self.value = self.add_weight(initializer="zeros", name="value")

    def update_state(self, value):
        self.value.assign(value)

    def result(self):
        return self.value


class BatchLosses:
    """Has a model log the loss of each batch, too, and the mean of these.

        class Net(BatchLosses, tf.keras.Model):
            pass

        model = Net(inputs, outputs)

    The `loss` of Keras 3 is the mean of all rows since the epoch began. Validation adds
    both, too, as `val_batch_loss` and `val_mean_loss`.
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


class TellsBatches(BatchLosses, tf.keras.Sequential):
    """A Sequential model that also logs the loss of each batch, and their mean."""


class FrozenPenalties:
    """Has the losses of a model contain the penalties of what is frozen, too.

    It stands before the class of the model; see `BatchLosses`.
    """

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        for weight in self.non_trainable_variables:
            if weight.regularizer:
                loss += weight.regularizer(weight)
        return loss


class CountsFrozen(FrozenPenalties, tf.keras.Sequential):
    """A Sequential model whose losses contain the penalties of what is frozen, too."""


class OverAllSteps(tf.keras.losses.SparseCategoricalCrossentropy):
    """Divides by all steps, and not by those alone that a mask leaves."""

    def __init__(self, **options):
        super().__init__(**{**options, "reduction": "sum"})

    def __call__(self, y_true, y_pred, sample_weight=None):
        total = super().__call__(y_true, y_pred, sample_weight)
        return total / tf.cast(tf.size(y_true), total.dtype)
