"""Warm-up, plateaus, `partitioner`, gradient accumulation, `is_training`, DQN."""

import keras
import numpy as np
import tensorflow as tf

from v2_eager.training_recipes import warmed_rate
from v2_keras.basics import Losses
from v2_keras.optimizers import (
    AdamWeightDecay,
    refuse_no_limit,
    slots_of,
    squares,
)

__all__ = ["pretrain"]


@keras.saving.register_keras_serializable("v2_keras")
class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """BERT's learning rate as a schedule: linear warm-up, then linear decay to zero.

    rate = learning_rate * step / warmup_steps, if step < warmup_steps
    rate = learning_rate * (1 - min(step, decay_steps) / decay_steps), otherwise

    See `warmed_rate`.

    Args:
        learning_rate: float, the value of the decay at step 0.
        decay_steps: int, the step at which the rate is zero.
        warmup_steps: int, the step at which the warm-up ends; 0 for no warm-up.
        dtype: name of the float dtype of the rate.
    """

    def __init__(self, learning_rate, decay_steps, warmup_steps, dtype="float32"):
        super().__init__()
        self.learning_rate, self.dtype = learning_rate, dtype
        self.decay_steps, self.warmup_steps = decay_steps, warmup_steps

    def __call__(self, step):
        peak = tf.constant(self.learning_rate, self.dtype)
        steps = self.decay_steps, self.warmup_steps
        return warmed_rate(tf.convert_to_tensor(step), peak, *steps)

    def get_config(self):
        names = "learning_rate", "decay_steps", "warmup_steps", "dtype"
        return {name: getattr(self, name) for name in names}


def pretrain(x, y, start, steps, rate=0.01, warmup_steps=4, limit=1.0):
    """Trains as BERT did: warm-up, decay, clipping, and a global step set by hand.

    Raises:
        ValueError: the limit is not positive; with 0 Keras does not clip.
    """
    refuse_no_limit(limit)
    # --- build
    dtype = x.dtype.name
    sizes = {name: len(start[f"{name}/bias"]) for name in ("body", "head")}
    norm = {"epsilon": 1e-12, "dtype": dtype}
    layers = [
        keras.layers.LayerNormalization(**norm, name="layer_norm"),
        keras.layers.Dense(sizes["body"], dtype=dtype, name="body"),
        keras.layers.LayerNormalization(**norm, name="LayerNorm"),
        keras.layers.ReLU(dtype=dtype),
        keras.layers.Dense(sizes["head"], dtype=dtype, name="head"),
    ]
    model = keras.Sequential([keras.Input(x.shape[1:], dtype=dtype), *layers])
    weights = {
        f"{part.name}/{w.name}": w for part in model.layers for w in part.weights
    }
    for name, weight in weights.items():
        weight.assign(start[name])
    schedule = WarmUp(rate, steps, warmup_steps, dtype)
    exclude = ["LayerNorm", "layer_norm", "bias"]
    optimizer = AdamWeightDecay(schedule, 0.01, exclude, global_clipnorm=limit)
    model.compile(optimizer, squares(dtype))
    # --- run
    batch, history = tf.data.Dataset.from_tensors((x, y)), Losses()
    model.fit(batch, epochs=steps, shuffle=False, verbose=0, callbacks=[history])
    variables = {**weights, **slots_of(optimizer, weights)}
    old = {"AdamWeightDecay": "adam_m", "AdamWeightDecay_1": "adam_v"}
    values = {}
    for name, variable in variables.items():
        path, _, last = name.rpartition("/")
        values[f"{path}/{old.get(last, last)}"] = variable.numpy()
    values["global_step"] = np.int64(optimizer.iterations)
    return {
        "losses": np.array(history.losses, x.dtype),
        "rates": np.array([schedule(step) for step in range(steps)], x.dtype),
        "variables": values,
    }
