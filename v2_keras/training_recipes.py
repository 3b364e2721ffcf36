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
    """BERT's rate as a schedule; see `warmed_rate`."""

    def __init__(self, learning_rate, decay_steps, warmup_steps):
        super().__init__()
        self.numbers = learning_rate, decay_steps, warmup_steps

    def __call__(self, step):
        return warmed_rate(tf.convert_to_tensor(step), *self.numbers)

    def get_config(self):
        names = "learning_rate", "decay_steps", "warmup_steps"
        return dict(zip(names, self.numbers))


def pretrain(x, y, start, steps, rate=0.01, warmup_steps=4, limit=1.0):
    """Trains as BERT was: warm-up, decay, a clip, and steps counted by hand.

    Raises:
        ValueError: the limit is 0, by which Keras clips nothing, or below.
    """
    refuse_no_limit(limit)
    # --- build
    dtype = x.dtype.name
    layers = [
        keras.layers.Dense(len(start[f"{name}/bias"]), act, dtype=dtype, name=name)
        for name, act in (("body", "relu"), ("head", None))
    ]
    model = keras.Sequential([keras.Input(x.shape[1:], dtype=dtype), *layers])
    names = [f"{a}/{b}" for a in ("body", "head") for b in ("kernel", "bias")]
    model.set_weights([start[name] for name in names])
    weights = dict(zip(names, model.weights))
    schedule = WarmUp(x.dtype.type(rate), steps, warmup_steps)
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
