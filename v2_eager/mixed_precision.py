"""Mixed precision, loss scaling, `recompute_grad`, `tf.fake_quant_…`, quantization."""

import numbers

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers
from v2_eager.numerics.averages import assign_moving_average
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.quantization import LastValueQuantize, MovingAverageQuantize
from v2_eager.numerics.randomness import kernel_seeds, stream
from v2_eager.numerics.restore import named

__all__ = [
    "train_rewritten",
    "train_in_halves",
    "recompute_gradients",
    "recompute_dropout",
    "recompute_batch_norm",
    "train_seeded",
    "fake_quantize",
    "train_quantized",
    "evaluate_quantized",
]


def as_arrays(tensors):
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def train_rewritten(x, y, start, steps, rate, loss_scale=(), clip=None):
    """Trains with automatic mixed precision: the optimizer scales the loss."""
    # --- scale
    if isinstance(loss_scale, numbers.Real):
        manager = optimizers.FixedLossScale(loss_scale)
    else:
        manager = optimizers.DynamicLossScale(**dict(loss_scale))
    optimizer = optimizers.MixedPrecisionLossScale(
        optimizers.Momentum(rate, 0.9), manager
    )
    # --- step
    variables = {n: tf.Variable(value, name=n) for n, value in start.items()}
    optimizer.create_slots(variables.values())
    global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    def loss():
        kernel, bias = [tf.cast(v, x.dtype) for v in variables.values()]
        outputs = tf.nn.bias_add(tf.matmul(x, kernel), bias)
        return tf.reduce_mean(tf.square(tf.cast(outputs, tf.float32) - y))

    @tf.function
    def step():
        value, pairs = optimizer.differentiate(loss, variables.values())
        if clip is not None:  # the gradients are unscaled
            gradients, weights = zip(*pairs)
            pairs = zip(tf.clip_by_global_norm(gradients, clip)[0], weights)
        optimizer.apply_gradients(pairs, global_step)
        return value

    # --- run
    losses, scales, taken = [], [], []
    for _ in range(steps):
        losses.append(step().numpy())
        if manager.variables:
            scales.append(manager.loss_scale.numpy())
        taken.append(global_step.numpy())
    found = {**variables, **named(optimizer, global_step)}
    return {
        "losses": np.stack(losses),
        "scales": scales,
        "taken": taken,
        "variables": as_arrays(found),
    }


def train_in_halves(x, y, start, steps, rate, loss_scale, dtype="float16"):
    """Trains with float32 weights that are cast to a narrower dtype when read."""
    # --- network
    variables = {n: tf.Variable(value, name=n) for n, value in start.items()}
    inputs, targets = tf.cast(x, dtype), tf.constant(y)

    def loss():
        hidden = inputs
        for layer in ("hidden", "scores"):
            weights, biases = [
                tf.cast(variables[f"{layer}/{name}"], dtype)  # read once in a step
                for name in ("weights", "biases")
            ]
            hidden = tf.nn.bias_add(tf.matmul(hidden, weights), biases)
            if layer == "hidden":
                hidden = tf.nn.relu(hidden)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            targets, tf.cast(hidden, tf.float32)
        )
        return tf.reduce_mean(losses)

    # --- step
    optimizer = optimizers.Momentum(rate, 0.9).create_slots(variables.values())

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = loss()
            scaled = value * loss_scale
        gradients = tape.gradient(scaled, list(variables.values()))
        gradients = [gradient / loss_scale for gradient in gradients]
        flat = tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)
        optimizer.apply_gradients(zip(gradients, variables.values()))
        return value, tf.reduce_mean(tf.cast(tf.equal(flat, 0), tf.float32))

    # --- run
    losses, vanished = np.array([step() for _ in range(steps)]).T
    found = {**variables, **named(optimizer)}
    return {"losses": losses, "vanished": vanished, "variables": as_arrays(found)}


def recompute_gradients(x, start):
    """Recomputes two layers in the backward pass, and counts how often they run."""
    # --- layers
    variables = {n: tf.Variable(value, name=n) for n, value in start.items()}
    runs = tf.Variable(0, trainable=False)

    @tf.recompute_grad
    def layers(x):
        runs.assign_add(1)
        for name in ("first", "second"):
            x = tf.tanh(tf.matmul(x, variables[name]))
        return x

    # --- gradients
    @tf.function
    def differentiate(x):
        by = {"x": x, **variables}
        with tf.GradientTape() as tape:
            tape.watch(x)
            outputs = layers(x)
            loss = tf.square(outputs)
        return outputs, tape.gradient(loss, by)

    # --- run
    tf.function(layers)(tf.constant(x))
    inferred = runs.numpy()
    outputs, gradients = differentiate(tf.constant(x))
    return {
        "outputs": outputs.numpy(),
        "gradients": as_arrays(gradients),
        "inferred": inferred,
        "trained": runs.numpy() - inferred,
    }


def recompute_dropout(x, kernel, keep_prob, graph_seed, op_seed, runs):
    """Applies dropout in a recomputed layer: both passes need the same mask."""
    rng = stream(*kernel_seeds(graph_seed, op_seed))

    # --- layer
    @tf.recompute_grad
    def layer(x, kernel, uniform):
        hidden = tf.tanh(tf.matmul(x, kernel))
        return hidden * (1 / keep_prob) * tf.cast(uniform >= 1 - keep_prob, x.dtype)

    # --- run
    @tf.function
    def differentiate(x, kernel):
        # A draw inside the layer would be repeated: another mask, and wrong gradients.
        uniform = rng.uniform([x.shape[0], kernel.shape[1]], dtype=x.dtype)
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            outputs = layer(x, kernel, uniform)
        return outputs, tape.gradient(outputs, kernel)

    args = tf.constant(x), tf.constant(kernel)
    return [tuple(t.numpy() for t in differentiate(*args)) for _ in range(runs)]


def recompute_batch_norm(batches, kernel, decay, told):
    """Applies batch norm in a recomputed layer: statistics may be updated twice."""
    # --- layer
    kernel = tf.constant(kernel)
    norm = ContribBatchNorm(decay, fused=False)
    norm.build(kernel.shape[1], kernel.dtype)

    def update(mean, variance):
        assign_moving_average(norm.moving_mean, mean, decay)
        assign_moving_average(norm.moving_variance, variance, decay)

    @tf.recompute_grad
    def layer(x, kernel):
        y, mean, variance = norm.normalize(tf.matmul(x, kernel), training=True)
        if not told:
            update(mean, variance)  # runs again with the layer
        return y, mean, variance

    # --- gradients
    @tf.function
    def differentiate(x, kernel):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            outputs, mean, variance = layer(x, kernel)
            loss = tf.square(outputs)
        if told:
            update(mean, variance)  # outside: once
        return tape.gradient(loss, kernel)

    # --- run
    gradients = [differentiate(batch, kernel).numpy() for batch in tf.constant(batches)]
    return {"gradients": gradients, "variables": as_arrays(named(norm))}


def train_seeded(x, y, kernel, seed, epochs, batch_size, rate, runs):
    """Trains several times from one seed, with bitwise equal results.

    It seeds only the process, the generator of dropout and `shuffle`. The session of
    TensorFlow 1 also had one thread. In TensorFlow 2, threads and deterministic GPU
    kernels are settings of the whole process, which cannot be undone: call
    `tf.config.experimental.enable_op_determinism()` at the start of the program.
    """

    def run():
        # --- seeds
        tf.random.set_seed(seed)
        rng = stream(*kernel_seeds(seed, 2))
        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        dataset = dataset.repeat(epochs).shuffle(len(x), seed=1).batch(batch_size)
        # --- step
        variable = tf.Variable(kernel)
        optimizer = optimizers.GradientDescent(rate)

        @tf.function(input_signature=dataset.element_spec)
        def step(inputs, targets):
            dropped = tf.nn.experimental.general_dropout(inputs, 0.25, rng.uniform)

            def loss():
                outputs = tf.matmul(dropped, variable)
                return tf.reduce_mean(tf.math.squared_difference(outputs, targets))

            return optimizer.minimize(loss, [variable])

        # --- run
        losses = [step(*batch).numpy() for batch in dataset]
        return {"losses": np.stack(losses), "kernel": variable.numpy()}

    return [run() for _ in range(runs)]


def fake_quantize(x, low, high, num_bits=8, narrow_range=False):
    """Fake-quantizes values to a number of bits; passes gradients inside the range."""
    quantization = tf.quantization
    if isinstance(low, numbers.Real):
        return quantization.fake_quant_with_min_max_args(
            x, low, high, num_bits, narrow_range
        )
    low, high = tf.convert_to_tensor(low), tf.convert_to_tensor(high)
    if low.shape.rank:
        return quantization.fake_quant_with_min_max_vars_per_channel(
            x, low, high, num_bits, narrow_range
        )
    return quantization.fake_quant_with_min_max_vars(
        x, low, high, num_bits, narrow_range
    )


class QuantizedNetwork(tf.Module):
    """A convolution and a dense layer, quantized as by `tf.contrib.quantize`.

    A call takes x, [n, height, width, channels] float32, and `is_training`, a bool. It
    returns the logits, [n, classes]. Weights and activations are fake-quantized;
    training updates their ranges. With a batch norm in `start`, it is folded into the
    convolution.

    Args:
        start: {name: array}, the variables of `hidden` and `scores` by their names in a
            checkpoint; names with "quant" are ignored.
        quant_delay: number of training steps before anything is quantized.
        weight_bits: bits of the weights.
        activation_bits: bits of the activations.
        symmetric: whether ranges are symmetric about 0.
    """

    def __init__(
        self, start, quant_delay=0, weight_bits=8, activation_bits=8, symmetric=False
    ):
        super().__init__()
        self.weights = {
            name: tf.Variable(value, "moving_" not in name, name=name)
            for name, value in start.items()
            if "quant" not in name
        }
        both = {"symmetric": symmetric}
        self.quantizers = {}
        for layer in ("hidden", "scores"):
            path = f"{layer}/weights_quant"
            self.quantizers[path] = LastValueQuantize(
                path, weight_bits, narrow_range=True, **both
            )
            path = f"{layer}/act_quant"
            self.quantizers[path] = MovingAverageQuantize(
                path, bits=activation_bits, low=0.0, **both
            )
        self.quant_delay, self.step = quant_delay, None
        if quant_delay:
            self.step = tf.Variable(
                0, False, dtype=tf.int64, name="fake_quantization_step"
            )

    def quantized(self, path, x, is_training):
        y = self.quantizers[path](x, is_training)
        if self.step is None or not is_training:
            return y
        return tf.cond(self.step >= self.quant_delay, lambda: y, lambda: x)

    def __call__(self, x, is_training):
        if self.step is not None and is_training:
            self.step.assign_add(1)
        kernel, bias = self.folded() or self.pair("hidden")
        kernel = self.quantized("hidden/weights_quant", kernel, is_training)
        hidden = tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME") + bias)
        hidden = self.quantized("hidden/act_quant", hidden, is_training)
        hidden = tf.reduce_mean(hidden, [1, 2])
        kernel, bias = self.pair("scores")
        kernel = self.quantized("scores/weights_quant", kernel, is_training)
        logits = tf.nn.bias_add(tf.matmul(hidden, kernel), bias)
        return self.quantized("scores/act_quant", logits, is_training)

    def pair(self, layer):
        return self.weights[f"{layer}/weights"], self.weights[f"{layer}/biases"]

    def folded(self):
        """Folds the batch norm into weights and biases, or returns None without one."""
        if "hidden/biases" in self.weights:
            return None
        gamma, beta, mean, variance = [
            self.weights[f"hidden/BatchNorm/{name}"]
            for name in ("gamma", "beta", "moving_mean", "moving_variance")
        ]
        multiplier = gamma * tf.math.rsqrt(variance + 0.001)
        return self.weights["hidden/weights"] * multiplier, beta - mean * multiplier


def train_quantized(x, y, start, steps, rate, options=()):
    """Trains a network with fake-quantized weights and activations."""
    # --- network
    model = QuantizedNetwork(start, **dict(options))
    images, labels = tf.constant(x), tf.constant(y)

    def loss():
        logits = model(images, is_training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        return tf.reduce_mean(losses)

    # --- step
    optimizer = optimizers.GradientDescent(rate)

    @tf.function
    def step():
        return optimizer.minimize(loss, model.trainable_variables)

    # --- run
    losses = [step().numpy() for _ in range(steps)]
    return {"losses": np.stack(losses), "variables": as_arrays(named(model))}


def evaluate_quantized(x, saved):
    """Classifies with a quantized network; batch norm is folded into its weights."""
    # --- network
    model = QuantizedNetwork(saved)
    classify = tf.function(lambda x: tf.nn.softmax(model(x, is_training=False)))
    # --- run
    for name, variable in named(*model.quantizers.values()).items():
        if name in saved:  # the averages are for training alone
            variable.assign(saved[name])
    return classify(tf.constant(x)).numpy()
