"""Mixed precision, loss scaling, `recompute_grad`, `tf.fake_quant_…`, quantization."""

import numbers

import keras
import numpy as np
import tensorflow as tf

from v2_keras.optimizers import refuse_no_limit, slots_of

__all__ = [
    "train_rewritten",
    "train_in_halves",
]


class Trained:
    """A model with its optimizer; takes steps with a scaled loss.

    Args:
        model: a model whose layers have the names of the old scopes.
        optimizer: SGD with a momentum, or a LossScaleOptimizer of one.
        loss: function from the targets and the outputs.
    """

    def __init__(self, model, optimizer, loss):
        optimizer.build(model.trainable_variables)
        self.model, self.optimizer, self.loss = model, optimizer, loss

    @tf.function
    def step(self, x, y):
        """Takes a step; returns (loss before it, share of zeros in gradients)."""
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True))
            scaled = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(scaled, variables)
        flat = tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)
        self.optimizer.apply(gradients, variables)  # it divides by the scale
        return loss, tf.reduce_mean(tf.cast(tf.equal(flat, 0), tf.float32))

    def variables(self, names):
        """Returns the weights and their slots as {name in TensorFlow 1: array}.

        Raises:
            ValueError: the rate is 0: the old slots cannot be computed from Keras'.
        """
        weights = dict(zip(names, self.model.weights, strict=True))
        inner = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        found = {**weights, **slots_of(inner, weights)}
        return {name: variable.numpy() for name, variable in found.items()}


def scaled(
    optimizer, initial_loss_scale=2.0**15, increment_period=2000, multiplier=2.0
):
    """Wraps an optimizer in Keras' loss scaling; arguments as of `DynamicLossScale`."""
    if multiplier != 2:
        raise ValueError("multiplier must be 2: Keras has no other")
    return keras.optimizers.LossScaleOptimizer(
        optimizer, initial_loss_scale, increment_period
    )


def train_rewritten(x, y, start, steps, rate, loss_scale=(), clip=None):
    """Trains with automatic mixed precision: the optimizer scales the loss.

    Keras' dynamic scale is doubled or halved. A fixed scale is an argument of the
    optimizer. `apply` divides the gradients by the scale, and then clips by the global
    norm.

    The scale has no bounds, while TensorFlow 1's was never below 1 and never infinite.
    Once it is doubled beyond float32, it stays infinite, and no step is taken any more.

    Raises:
        ValueError: a fixed scale below 1, another `multiplier`, or a limit of 0 or
            below, with which Keras would not clip.
    """
    # --- scale
    fixed = loss_scale if isinstance(loss_scale, numbers.Real) else None
    if fixed is not None and not fixed >= 1:
        raise ValueError(f"loss_scale must be at least 1, not {fixed}")
    if clip is not None:
        refuse_no_limit(clip)
    optimizer = keras.optimizers.SGD(
        rate, 0.9, loss_scale_factor=fixed, global_clipnorm=clip
    )
    if fixed is None:
        optimizer = scaled(optimizer, **dict(loss_scale))
    # --- step
    policy = "mixed_float16" if x.dtype == np.float16 else "float32"
    dense = keras.layers.Dense(y.shape[1], dtype=policy)
    model = keras.Sequential([keras.Input([x.shape[1]], dtype=x.dtype.name), dense])
    model.set_weights([start["kernel"], start["bias"]])
    trained = Trained(model, optimizer, keras.losses.MeanSquaredError())
    counter = getattr(optimizer, "inner_optimizer", optimizer).iterations
    # --- run
    losses, scales, taken = [], [], []
    for _ in range(steps):
        losses.append(trained.step(x, y)[0].numpy())
        if fixed is None:
            scales.append(optimizer.dynamic_scale.numpy())
        taken.append(counter.numpy())
    found = trained.variables(["kernel", "bias"])
    found["global_step"] = np.int64(counter.numpy())
    if fixed is None:
        found["current_loss_scale"] = optimizer.dynamic_scale.numpy()
        found["good_steps"] = np.int64(optimizer.step_counter.numpy())
    return {
        "losses": np.stack(losses),
        "scales": scales,
        "taken": [np.int64(step) for step in taken],
        "variables": found,
    }


def train_in_halves(x, y, start, steps, rate, loss_scale, dtype="float16"):
    """Trains with float32 weights that are cast to a narrower dtype when read.

    Raises:
        ValueError: another dtype than float32, float16 and bfloat16.
    """
    # --- network
    policy = dtype if dtype == "float32" else f"mixed_{dtype}"
    features, units = start["hidden/weights"].shape
    classes = start["scores/weights"].shape[1]
    model = keras.Sequential(
        [
            keras.Input([features]),
            keras.layers.Dense(units, "relu", dtype=policy, name="hidden"),
            keras.layers.Dense(classes, dtype=policy, name="scores"),
            keras.layers.Activation("linear", dtype="float32"),
        ]
    )
    names = [f"{a}/{b}" for a in ("hidden", "scores") for b in ("weights", "biases")]
    model.set_weights([start[name] for name in names])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # --- step
    optimizer = keras.optimizers.SGD(rate, 0.9, loss_scale_factor=loss_scale)
    trained = Trained(model, optimizer, loss)
    # --- run
    found = np.array([trained.step(x, y) for _ in range(steps)])
    losses, vanished = found.T
    variables = trained.variables(names)
    return {"losses": losses, "vanished": vanished, "variables": variables}
