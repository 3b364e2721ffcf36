"""TensorFlow 1's numbers in native TensorFlow 2.

GRUCell, unroll, random_uniform, kernel_seeds, stream, sparse_softmax_cross_entropy,
    Adam, ExponentialMovingAverage, named

Taken by `tf1to2 take` from tf1to2 0.1.0, where each is compared with TensorFlow
1.15.5. It needs nothing else of that project.

v2_eager/numerics/randomness.py: DEFAULT_GRAPH_SEED, INT32_MAX, kernel_seeds, stream,
    draw
v2_eager/numerics/initializers.py: random_uniform, fans, variance_scaling,
    glorot_uniform
v2_eager/numerics/rnn/cells.py: Cell, affine, product, GRUCell
v2_eager/numerics/rnn/loops.py: unroll, take_steps, of_rank_3, prepare, advance
v2_eager/numerics/losses.py: Reduction, BY_NONZERO_WEIGHTS, NOT_FITTING,
    compute_weighted_loss, float32_weights, fitting, number_present,
    sparse_softmax_cross_entropy
v2_eager/numerics/optimizers/base.py: Optimizer, check_kind, check_scope,
    refuse_in_replica, summed_over_replicas, copied, number, summed
v2_eager/numerics/optimizers/adam.py: Adam, decay_all
v2_eager/numerics/averages.py: assign_moving_average, ExponentialMovingAverage
v2_eager/numerics/restore.py: named, refuse_unbuilt

SPDX-License-Identifier: Apache-2.0
"""

import inspect
import math

import tensorflow as tf

DEFAULT_GRAPH_SEED = 87654321
"""TensorFlow 1 and 2 use this graph seed if only the op has a seed."""
INT32_MAX = 2**31 - 1


def kernel_seeds(graph_seed, op_seed):
    """Computes the two seeds of a random op, as `tf.get_seed` of 1.15.5 did.

    Args:
        graph_seed: int that was passed to `tf.set_random_seed`, or None.
        op_seed: int, the `seed=` of the op. None is allowed only without a graph seed:
            with a graph seed, v1 used the number of the graph's last node as the op
            seed.

    Returns:
        (seed, seed2), the attributes of the op's node. (0, 0) means that every program
        draws different numbers.

    Raises:
        ValueError: a graph seed without an op seed.
        TypeError: a seed is not a number.
    """
    if graph_seed is None and op_seed is None:
        return 0, 0
    if graph_seed is None:
        graph_seed = DEFAULT_GRAPH_SEED
    if op_seed is None:
        raise ValueError(
            "op_seed must not be None: the seed would depend on the op's place in the "
            "graph"
        )
    seeds = graph_seed % INT32_MAX, op_seed % INT32_MAX
    return (0, INT32_MAX) if seeds == (0, 0) else seeds


def stream(seed, seed2):
    """Makes a generator that draws the same numbers as a random op of TensorFlow 1.

    v1's kernels used the Philox algorithm: `seed` was its key, `seed2` the upper half
    of its counter, and a draw of n numbers advanced the counter by 256 n. A
    `tf.random.Generator` does the same.

    Args:
        seed: int, the attribute of the op's node: see `kernel_seeds`.
        seed2: int, the second attribute.

    Returns:
        tf.random.Generator with `normal`, `uniform` and `truncated_normal`; its state
        can be saved in a checkpoint.
    """
    if seed == seed2 == 0:
        return tf.random.Generator.from_non_deterministic_state(alg="philox")
    return tf.random.Generator.from_state([0, seed2, seed], alg="philox")


def draw(kind, shape, first, second, dtype=tf.float32, seed=None):
    """Draws the numbers that a new random op of TensorFlow 1 drew in its first run.

    Args:
        kind: "normal", "truncated_normal" (mean, stddev) or "uniform" (bounds).
        shape: list of ints.
        first, second: mean and stddev, or lower and upper bound.
        dtype: float dtype.
        seed: an int, the op seed, used together with the global seed of
            `tf.random.set_seed`; or a generator such as a `stream` to draw from; or
            None to use the next seed that follows from `tf.random.set_seed`, which is
            not the seed that v1 took from the op's place in the graph.

    Returns:
        Tensor of this shape and dtype.
    """
    if isinstance(seed, tf.random.Generator):
        return getattr(seed, kind)(shape, first, second, dtype)
    if seed is None:  # else each function would count from 0 and repeat the same draws
        with tf.init_scope():
            if tf.executing_eagerly():  # False where tf.Variable lifts initial values
                seed = tf.random.uniform([], 0, INT32_MAX, tf.int32).numpy().item()
    op = getattr(tf.random, kind)
    # A new function: an eager op with the same seed would continue its last stream.
    drawn = tf.function(lambda: op(shape, first, second, dtype, seed))
    return drawn.get_concrete_function()()  # else TensorFlow warns of retracing


def random_uniform(minval=0.0, maxval=1.0, seed=None, dtype=tf.float32):
    """`tf.random_uniform_initializer`: floats in [0, 1) by default (±0.05 in TF 2).

    Args:
        minval: lower bound.
        maxval: upper bound, not drawn.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return lambda shape, dtype=dtype: draw(
        "uniform", shape, minval, maxval, dtype, seed
    )


def fans(shape):
    """Computes fan-in (inputs per unit) and fan-out (units per input) of a kernel.

    Args:
        shape: shape of a kernel, [..., inputs, outputs]. With one dimension, its size
            is both.

    Returns:
        (fan_in, fan_out).
    """
    if len(shape) < 2:
        return math.prod(shape), math.prod(shape)
    field = math.prod(shape[:-2])
    return field * shape[-2], field * shape[-1]


def variance_scaling(
    scale=1.0,
    mode="fan_in",
    distribution="truncated_normal",
    seed=None,
    dtype=tf.float32,
):
    """`tf.variance_scaling_initializer`: draws with variance scale / fan.

    Args:
        scale: positive number.
        mode: which fan: "fan_in", "fan_out" or "fan_avg", the mean of the two.
        distribution: "truncated_normal" or "normal" (the same), "untruncated_normal",
            or "uniform".
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        ValueError: another scale, mode or distribution.
    """
    if scale <= 0:
        raise ValueError("`scale` must be positive float.")
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError("Invalid `mode` argument:", mode)
    names = "normal", "uniform", "truncated_normal", "untruncated_normal"
    if distribution not in names:
        raise ValueError("Invalid `distribution` argument:", distribution)

    def initialize(shape, dtype=dtype):
        fan_in, fan_out = fans(shape)
        sizes = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
        }
        variance = scale / max(1.0, sizes[mode])
        if distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return draw("uniform", shape, -limit, limit, dtype, seed)
        stddev = math.sqrt(variance)
        if distribution == "untruncated_normal":
            return draw("normal", shape, 0.0, stddev, dtype, seed)
        # The deviation of a standard normal distribution that is cut off at ±2.
        stddev /= 0.87962566103423978
        return draw("truncated_normal", shape, 0.0, stddev, dtype, seed)

    return initialize


def glorot_uniform(seed=None, dtype=tf.float32):
    """`tf.glorot_uniform_initializer`, the default initializer of `tf.get_variable`.

    Draws from ±sqrt(6 / (fan_in + fan_out)): Glorot and Bengio, 2010.

    Args:
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_avg", "uniform", seed, dtype)


class Cell(tf.Module):
    """The base class of RNN cells: the state size, and variables with v1's names.

    A call takes x, [batch, depth], and a state, and returns the output, [batch,
    output_size], and the new state. A subclass defines `make_variables(depth, dtype)`
    and `__call__`.

    Args:
        num_units: size of the state.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels, a function of shape and dtype; None for
            v1's default, `glorot_uniform`.
    """

    def __init__(self, num_units, name, initializer=None):
        super().__init__()
        self.num_units = self.output_size = num_units
        self.path, self.initializer = name, initializer or glorot_uniform()
        self.kernel = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.kernel is not None

    def build(self, depth, dtype):
        """Makes the variables once, for inputs of this depth."""
        if not self.built:
            with tf.name_scope(""):  # an outer scope does not change the names
                self.make_variables(depth, dtype)

    def begin(self, depth, dtype):
        """Prepares a run; loops call it before the first step."""
        del depth, dtype  # AutoGraph warns about a function without a statement

    def variable(self, name, shape, dtype, initializer=None):
        initializer = initializer or self.initializer
        path = f"{self.path}/{name}"
        return tf.Variable(lambda: initializer(shape, dtype), name=path)

    def zero_state(self, batch, dtype):
        """Makes the initial state, zeros."""
        return tf.zeros([batch, self.num_units], dtype)


def affine(x, kernel, bias):
    """Computes x @ kernel + bias.

    Args:
        x: [batch, depth] tensor.
        kernel: [depth, units] tensor.
        bias: [units] tensor.

    Returns:
        [batch, units] tensor.
    """
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def product(x, state, kernel, bias):
    """Computes [x, state] @ kernel + bias with one product, as v1 stored the kernels.

    Args:
        x: [batch, depth] tensor.
        state: [batch, size] tensor.
        kernel: [depth + size, units] tensor.
        bias: [units] tensor.

    Returns:
        [batch, units] tensor.
    """
    return affine(tf.concat([x, state], 1), kernel, bias)


class GRUCell(Cell):
    """`tf.nn.rnn_cell.GRUCell`: a GRU with the reset gate before the product.

    That is `reset_after=False` in Keras. The output is the state.

    By default `keras.layers.GRUCell` applies the reset gate after the product.

    Args:
        num_units: size of the state.
        activation: activation function of the candidate.
        initializer: initializer of the kernels; see `Cell`.
        bias_initializer: function of shape and dtype for both biases. None is v1's
            default: the gates' biases begin at one, so that the state changes little,
            the candidate's bias begins at zero.
        name: scope of the variables `gates/kernel`, `gates/bias`, `candidate/kernel`
            and `candidate/bias`.
    """

    names = "gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"

    def __init__(
        self,
        num_units,
        activation=tf.tanh,
        initializer=None,
        bias_initializer=None,
        name="gru_cell",
    ):
        super().__init__(num_units, name, initializer)
        self.activation, self.bias_initializer = activation, bias_initializer

    def make_variables(self, depth, dtype):
        n, given = self.num_units, self.bias_initializer
        kernel, bias, candidate_kernel, candidate_bias = self.names
        self.kernel = self.variable(kernel, [depth + n, 2 * n], dtype)
        self.bias = self.variable(bias, [2 * n], dtype, given or tf.ones)
        self.candidate_kernel = self.variable(candidate_kernel, [depth + n, n], dtype)
        self.candidate_bias = self.variable(
            candidate_bias, [n], dtype, given or tf.zeros
        )

    def __call__(self, x, state):
        gates = tf.sigmoid(product(x, state, self.kernel, self.bias))
        reset, update = tf.split(gates, 2, 1)
        weights = self.candidate_kernel, self.candidate_bias
        candidate = self.activation(product(x, reset * state, *weights))
        state = update * state + (1 - update) * candidate
        return state, state


def unroll(cell, x, lengths=None, state=None, time_major=False, dtype=None):
    """Runs a cell over sequences in one loop, as `tf.nn.dynamic_rnn` did.

    After the end of a sequence its outputs are zero, and its state does not change.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: [batch, time, depth] tensor.
        lengths: [batch] int tensor, or None if all sequences have full length.
        state: initial state, or None for zeros.
        time_major: whether time is the first axis of x and of the outputs.
        dtype: dtype of the outputs and of the state if it differs from the dtype of x.

    Returns:
        (outputs [batch, time, output_size], zero past each sequence's end; the state at
        each sequence's end).

    Raises:
        ValueError: x does not have three dimensions, its depth is unknown, or the
            lengths are not a vector.
        tf.errors.InvalidArgumentError: the number of lengths is not the batch size.
    """
    x = of_rank_3(x)
    if not time_major:
        x = tf.transpose(x, [1, 0, 2])
    dtype = dtype or x.dtype
    state, lengths = prepare(cell, x, lengths, state, dtype=dtype)
    end = None
    if lengths is not None:  # the loop stops at the end of the longest sequence
        end = tf.maximum(1, tf.reduce_max(lengths))

    def step(x, state, t):
        return advance(cell, x, state, t, lengths)

    outputs, state = take_steps(step, x, state, cell.output_size, dtype, end)
    return outputs if time_major else tf.transpose(outputs, [1, 0, 2]), state


def take_steps(step, x, state, size, dtype, end=None):
    """Runs a step function over the time steps of x in one `tf.while_loop`.

    Args:
        step: function from ([batch, depth], state, time) to ([batch, size], new state).
        x: [time, batch, depth] tensor.
        state: initial state.
        size: size of the outputs.
        dtype: dtype of the outputs.
        end: number of steps to take, or None for all.

    Returns:
        ([time, batch, size] outputs, zero past `end`; the last state).
    """
    time = x.shape[0] or tf.shape(x)[0]
    end = time if end is None else tf.minimum(time, end)
    inputs = tf.TensorArray(x.dtype, time, element_shape=x.shape[1:]).unstack(x)
    outputs = tf.TensorArray(dtype, time, element_shape=[x.shape[1], size])

    def body(t, state, outputs):
        output, state = step(inputs.read(t), state, t)
        return t + 1, state, outputs.write(t, output)

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < end,
        body,
        (tf.constant(0), state, outputs),
        parallel_iterations=1,  # else a cell with random ops may draw in any order
        maximum_iterations=x.shape[0],
    )
    return outputs.stack(), state


def of_rank_3(x):
    """Converts x to a tensor; raises if it does not have three dimensions.

    Args:
        x: tensor, or a value that can be converted to one.

    Raises:
        ValueError: x does not have rank 3.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {x.shape.rank}")
    return x


def prepare(cell, x, lengths, state, batch_axis=1, dtype=None):
    """Makes a cell's variables and initial state; raises v1's errors.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: tensor of three dimensions; the size of the last dimension is known.
        lengths: [batch] ints, or None.
        state: nested structure of tensors, or None for zeros.
        batch_axis: 0 or 1, the axis of the batch in x.
        dtype: dtype of the state if it differs from the dtype of x.

    Returns:
        (state in the cell's structure, lengths as int32 or None).

    Raises:
        ValueError: the depth is unknown, or the lengths are not a vector.
        tf.errors.InvalidArgumentError: the number of lengths is not the batch size.
    """
    if x.shape[2] is None:
        raise ValueError("Input size must be accessible via shape inference")
    dtype = dtype or x.dtype
    cell.build(x.shape[2], dtype)
    cell.begin(x.shape[2], dtype)
    batch = x.shape[batch_axis] or tf.shape(x)[batch_axis]
    zeros = cell.zero_state(batch, dtype)
    if state is None:
        state = zeros
    state = tf.nest.pack_sequence_as(zeros, tf.nest.flatten(state))
    if lengths is not None:
        lengths = tf.cast(lengths, tf.int32)
        if lengths.shape.rank not in (1, None):
            raise ValueError("sequence_length must be a vector of length batch_size")
        lengths = tf.ensure_shape(lengths, [None])
        message = "Expected shape for lengths is [batch]"
        tf.debugging.assert_equal(tf.size(lengths), batch, message)
    return state, lengths


def advance(cell, x, state, t, lengths):
    """Takes a step; sequences that have ended output zeros and keep their state.

    Args:
        cell: an RNN cell, see the package `rnn`.
        x: [batch, depth] tensor, the inputs of the step.
        state: state of the cell.
        t: number of the step, an int or an int tensor.
        lengths: [batch] int32 tensor, or None.

    Returns:
        (output, new state).
    """
    output, new_state = cell(x, state)
    if lengths is None:
        return output, new_state
    ended = (t >= lengths)[:, tf.newaxis]
    output = tf.where(ended, tf.zeros_like(output), output)
    return output, tf.nest.map_structure(
        lambda old, new: tf.where(ended, old, new), state, new_state
    )


class Reduction:
    """v1's names of the reductions; today's `tf.losses.Reduction` has other names."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    ALL = (NONE, SUM, SUM_OVER_BATCH_SIZE, MEAN, SUM_BY_NONZERO_WEIGHTS)


BY_NONZERO_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS
NOT_FITTING = "weights can not be broadcast to values"


def compute_weighted_loss(losses, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Multiplies losses by weights in float32, and reduces them to a scalar.

    Args:
        losses: tensor of any shape.
        weights: a number, or a tensor of the rank of `losses` whose dimensions are 1 or
            those of `losses`.
        reduction: "none", "weighted_sum", "weighted_sum_over_batch_size" (divided by
            the number of losses), "weighted_mean" (divided by the sum of the weights)
            or "weighted_sum_by_nonzero_weights" (divided by the number of weights other
            than 0). A division by zero gives 0.

    Returns:
        Tensor of the dtype of `losses`: a scalar, or the weighted losses for "none".

    Raises:
        ValueError: an unknown reduction, or weights of another rank. If a rank is
            unknown while tracing, tf.errors.InvalidArgumentError.
    """
    if reduction not in Reduction.ALL:
        raise ValueError(f"Invalid Reduction Key {reduction}")
    losses = tf.convert_to_tensor(losses)
    values = tf.cast(losses, tf.float32)
    weights = float32_weights(weights, values)
    weighted = fitting(values * weights, values)
    if reduction == Reduction.NONE:
        return tf.cast(weighted, losses.dtype)
    loss, ones = tf.reduce_sum(weighted), tf.ones_like(values)
    if reduction == Reduction.MEAN:
        loss = tf.math.divide_no_nan(loss, tf.reduce_sum(ones * weights))
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        loss = tf.math.divide_no_nan(loss, tf.reduce_sum(ones))
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        loss = tf.math.divide_no_nan(loss, number_present(values, weights))
    return tf.cast(loss, losses.dtype)


def float32_weights(weights, values):
    """Casts weights to float32, and checks that their rank is 0 or that of the losses.

    Weights of another rank would broadcast vectors to a matrix. If a rank is unknown
    while tracing, the check runs with the graph.

    Args:
        weights: a number, or a tensor of the rank of `values`.
        values: tensor of losses.

    Returns:
        float32 tensor.

    Raises:
        ValueError: the rank of the weights is neither 0 nor the rank of `values`.
        tf.errors.InvalidArgumentError: the same mistake, if a rank is unknown while
            tracing.
    """
    weights = tf.cast(weights, tf.float32)
    ranks, message = [weights.shape.rank, values.shape.rank], NOT_FITTING
    if ranks[0] == 0:
        return weights
    if None in ranks:
        wanted = tf.where(tf.rank(weights) == 0, 0, tf.rank(values))
        tf.debugging.assert_equal(tf.rank(weights), wanted, message)
    elif ranks[0] != ranks[1]:
        raise ValueError(f"{message}: {weights.shape} and {values.shape}")
    return weights


def fitting(weighted, values):
    """Returns weighted losses; raises if the weights have broadcast them.

    Args:
        weighted: losses times weights.
        values: the losses.

    Raises:
        tf.errors.InvalidArgumentError: `weighted` has another shape than `values`.
    """
    tf.debugging.assert_equal(tf.shape(weighted), tf.shape(values), NOT_FITTING)
    return weighted


def number_present(values, weights, axis=None):
    """Counts the values whose weight is not 0.

    Args:
        values: float32 tensor.
        weights: float32 tensor that broadcasts to `values`.
        axis: axes to count along; they remain with size 1. None for all axes.

    Returns:
        float32 tensor.
    """
    present = tf.cast(tf.not_equal(weights, 0), tf.float32) * tf.ones_like(values)
    return tf.reduce_sum(present, axis, keepdims=axis is not None)


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Computes the mean softmax cross-entropy of logits with class ids as labels.

    Args:
        labels: [...] or [..., 1] integer tensor of ids less than `classes`.
        logits: [..., classes] float tensor.
        weights, reduction: see `compute_weighted_loss`; the losses have shape [...].
            The weights may also have shape [..., 1].

    Returns:
        Scalar of the dtype of `logits`; for "none" a [...] tensor.
    """
    labels, logits = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
    weights = tf.convert_to_tensor(weights)
    if None in (labels.shape.rank, logits.shape.rank):
        labels = tf.reshape(labels, tf.shape(logits)[:-1])
    elif labels.shape.rank == logits.shape.rank:
        labels = tf.squeeze(labels, -1)
    if weights.shape.rank and weights.shape.rank - 1 == labels.shape.rank:
        weights = tf.squeeze(weights, -1)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, reduction)


class Optimizer(tf.Module):
    """The base class of optimizers: slots with v1's names, and the training step.

    A subclass overrides `update` and, for sparse gradients, `update_rows`.

    A hyper-parameter is a number (converted to float32 first, for variables of every
    dtype), a tensor, a variable, a function without arguments, or a function of the
    global step, such as a schedule of Keras.

    It is not a `keras.optimizers.Optimizer`, whose slots have other names.

    Args:
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
        slots: list of (slot name, argument of the kernel, initial number), optionally
            with a fourth item: a suffix for this slot's name, used instead of `name`.
        options: {argument of the kernel: bool}, such as {"use_nesterov": True}.
        **hyper: {argument of the kernel: hyper-parameter}.

    Attributes:
        kernel: the end of the names `tf.raw_ops.ResourceApply…` and
            `ResourceSparseApply…`.
        gradient: argument of `ResourceApply…` for the gradient, "grad" or "delta".
        trained: list of `variable.ref()` of the variables that have slots.
        slots: list of {slot name: variable}, one dict for each entry of `trained`.
        hyper: {argument of the kernel: hyper-parameter}.
        options: {argument of the kernel: bool}.
    """

    kernel = ""
    gradient = "grad"

    def __init__(self, name, slots=(), options=(), **hyper):
        """Makes no variables: `create_slots` or the first step makes them."""
        super().__init__()
        self.slot_specs = tuple((*spec, name)[:4] for spec in slots)
        self.options, self.hyper = dict(options), hyper
        self.slots, self.trained = [], []

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """Computes the gradients of a loss, and takes one training step.

        Args:
            loss: function without arguments that computes a float tensor.
            variables: list of the variables to train.
            global_step: variable to add 1 to after the step, or None.
            grad_loss: gradient of the loss, a tensor of its shape, or None for ones.

        Returns:
            The loss before the step.

        Raises:
            ValueError: there are no variables, none of them has a gradient, or the loss
                is an integer.
            TypeError: the loss is a tensor, which no tape has recorded, or a variable
                is a Keras variable.
            RuntimeError: a variable with a constraint has a sparse gradient.
        """
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """Computes [(gradient or None, variable)], the first half of `minimize`."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """Computes (loss, [(gradient or None, variable)])."""
        if not callable(loss):
            raise TypeError("loss must be a function without arguments: lambda: ...")
        variables = list(variables)
        if not variables:
            raise ValueError("No variables to optimize.")
        for variable in variables:
            check_kind(variable)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            value = loss()
        if not value.dtype.is_floating:
            raise ValueError(f"Invalid type {value.dtype} for {value}, expected: float")
        return value, list(zip(tape.gradient(value, variables, grad_loss), variables))

    def apply_gradients(self, pairs, global_step=None, *, aggregate=True):
        """Applies gradients to variables, the second half of `minimize`.

        In `strategy.run` it first sums the gradients of all replicas, as TensorFlow 1
        and Keras do. For their mean, divide the loss by `num_replicas_in_sync`.

        Args:
            pairs: iterable of (gradient, variable). A gradient is a tensor, a
                `tf.IndexedSlices`, which may contain a row twice, or None, with which
                the variable is not changed.
            global_step: variable to add 1 to after the step, or None.
            aggregate: False if all replicas already have the same gradients, for
                example after `all_reduce`. A `tf.cond` around the step requires False.

        Raises:
            ValueError: there are no pairs or no gradients, or a schedule has no global
                step; under a strategy, its scope did not make the variables or slots.
            RuntimeError: a variable with a constraint has a sparse gradient; or a
                strategy of several replicas is in scope, but the call is not in its
                `run`.
        """
        pairs = list(pairs)
        if not pairs:
            raise ValueError("No variables provided.")
        given = [(gradient, v) for gradient, v in pairs if gradient is not None]
        if not given:
            names = [variable.name for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        self.create_slots([variable for _, variable in given])
        if global_step is not None:
            check_scope([global_step])
        if aggregate:
            given = summed_over_replicas(given)
        slots_of = dict(zip(self.trained, self.slots))
        numbers = {k: number(x, global_step) for k, x in self.hyper.items()}
        for gradient, variable in given:
            slots = slots_of[variable.ref()]
            cast = {k: tf.cast(x, variable.dtype) for k, x in numbers.items()}
            constraint = variable.constraint
            if not isinstance(gradient, tf.IndexedSlices):
                self.update(variable, slots, tf.convert_to_tensor(gradient), cast)
                if constraint is not None:
                    variable.assign(constraint(variable))
            elif constraint is not None:
                raise RuntimeError(
                    "Cannot use a constraint function on a sparse variable."
                )
            else:
                self.update_rows(variable, slots, gradient, cast)
        self.finish(numbers)
        if global_step is not None:
            global_step.assign_add(1)

    @property
    def built(self):
        """Whether the slots exist, or the optimizer needs none."""
        return bool(self.trained) or not self.slot_specs

    def create_slots(self, variables):
        """Makes the missing slots of variables.

        Otherwise the first step makes them, but in a replica it cannot. Call this
        before a `tf.function` is traced, because a function that makes variables is
        traced twice; before a checkpoint is restored; and in the scope of a strategy.

        Args:
            variables: iterable of `tf.Variable`s. Existing slots keep their values.

        Returns:
            The optimizer.

        Raises:
            TypeError: a variable is a Keras variable.
            ValueError: the current strategy's scope did not make a variable, or a slot
                is missing in `strategy.run` of several replicas.
        """
        variables = list(variables)
        for variable in variables:
            check_kind(variable)
        check_scope(variables)
        known = set(self.trained)
        missing = {v.ref(): v for v in variables if v.ref() not in known}
        if missing and self.slot_specs:
            refuse_in_replica("slots", "create_slots")
        with tf.init_scope(), tf.name_scope(""):
            for reference, variable in missing.items():
                self.trained.append(reference)
                self.slots.append(self._made(variable))
        return self

    def _made(self, variable):
        slots, paths = {}, []
        for slot, _, initial, name in self.slot_specs:
            path = f"{variable.name[:-2]}/{name}"
            count = paths.count(path)
            paths.append(path)
            value = tf.constant(initial, variable.dtype, variable.shape)
            path += f"_{count}" if count else ""
            slots[slot] = tf.Variable(value, trainable=False, name=path)
        return slots

    def get_slot(self, variable, name):
        """Returns the slot of a variable with this name, such as "m", or None."""
        return dict(zip(self.trained, self.slots)).get(variable.ref(), {}).get(name)

    def arguments(self, variable, slots, numbers):
        """Returns the arguments of the kernel, without the gradient."""
        handles = {spec[1]: slots[spec[0]].handle for spec in self.slot_specs}
        return {"var": variable.handle, **handles, **numbers, **self.options}

    def update(self, variable, slots, gradient, numbers):
        """Updates a variable with a dense gradient.

        Args:
            variable: float variable.
            slots: {slot name: variable}, the variable's slots.
            gradient: tensor of the variable's shape and dtype.
            numbers: {argument: scalar tensor of the variable's dtype}, the
                hyper-parameters.
        """
        self.run_kernel("ResourceApply", variable, slots, numbers, gradient)

    def update_rows(self, variable, slots, gradient, numbers):
        """Updates the rows that a sparse gradient, a `tf.IndexedSlices`, contains."""
        rows = summed(gradient)
        indices = {"indices": rows.indices}
        prefix = "ResourceSparseApply"
        self.run_kernel(prefix, variable, slots, numbers, rows.values, **indices)

    def run_kernel(self, prefix, variable, slots, numbers, gradient, **more):
        """Calls the kernel of TensorFlow 1 whose name begins with `prefix`."""
        # The public tf.keras.optimizers would round after each op, start RMSprop's
        # squares at 0 and not at 1, add another epsilon in another place, take a step
        # for each duplicate row, and update rows that the gradient does not contain.
        kernel = getattr(tf.raw_ops, prefix + self.kernel)
        more["grad" if more else self.gradient] = gradient
        kernel(**self.arguments(variable, slots, numbers), **more)

    def finish(self, numbers):
        """Runs once per step, after all variables; the numbers are not cast."""
        return  # without it AutoGraph warns about a function with only a docstring


def check_kind(variable):
    """Raises a TypeError for a Keras variable, which contains a `tf.Variable`."""
    if not isinstance(variable, tf.Variable):
        kind = type(variable).__name__
        raise TypeError(
            f"{kind} is not a tf.Variable: for a Keras variable, pass its `value`"
        )


def check_scope(variables):
    """Raises a ValueError if a variable was made outside the strategy's scope.

    In `strategy.run`, every replica would update the same copy; outside of the scope,
    only the first copy would be updated. A variable with aggregation by sum would be
    updated several times.

    Args:
        variables: iterable of variables.
    """
    strategy = tf.distribute.get_strategy()
    several = strategy.num_replicas_in_sync > 1
    for variable in variables:
        if several and variable.aggregation == tf.VariableAggregation.SUM:
            raise ValueError(f"{variable.name} must be created without aggregation=SUM")
        copies = several or isinstance(variable, tf.distribute.DistributedValues)
        if copies and not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"{variable.name} was not created in the scope of this strategy: "
                "create variables, slots (create_slots) and the global step in "
                "`strategy.scope()`, and run steps in `strategy.run`"
            )


def refuse_in_replica(what, method):
    """Raises a ValueError if `strategy.run` would make variables in several replicas.

    Each replica would make variables of its own.

    Args:
        what: a plural noun for the missing variables, such as "slots".
        method: name of the method that makes them.
    """
    several = tf.distribute.get_strategy().num_replicas_in_sync > 1
    if several and not tf.distribute.in_cross_replica_context():
        raise ValueError(
            f"The {what} are missing: call {method}(variables) in `strategy.scope()`, "
            "before `strategy.run`"
        )


def summed_over_replicas(pairs):
    """Sums gradients over the replicas of a strategy, if there are several.

    Args:
        pairs: list of (gradient, variable), the same variables in all replicas. The
            rows of `tf.IndexedSlices` are concatenated.

    Returns:
        List of (gradient or None, variable).

    Raises:
        RuntimeError: a strategy of several replicas is in scope, but the call is not in
            its `run`.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        return pairs
    context = tf.distribute.get_replica_context()
    if context is None:
        raise RuntimeError("a step must run in `strategy.run`, not only in its scope")
    given = [copied(gradient) for gradient, _ in pairs if gradient is not None]
    sums = iter(context.all_reduce("SUM", given))
    return [(g if g is None else next(sums), variable) for g, variable in pairs]


def copied(gradient):
    """Copies a gradient: `all_reduce` does not sum replicas that share one tensor.

    Args:
        gradient: tensor or `tf.IndexedSlices`.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return tf.identity(gradient)
    shape = gradient.dense_shape
    return tf.IndexedSlices(
        tf.identity(gradient.values),
        tf.identity(gradient.indices),
        None if shape is None else tf.identity(shape),
    )


def number(x, global_step=None):
    """Converts a hyper-parameter to a tensor; calls it first if it is a function.

    Args:
        x: number, tensor, variable, or function of no argument or of the global step.
        global_step: integer variable or tensor, or None.

    Returns:
        Scalar tensor: float32 for a Python float.

    Raises:
        ValueError: `x` is a function of the global step, and `global_step` is None.
    """
    if callable(x):
        parameters = inspect.signature(x).parameters.values()
        if any(p.default is p.empty and p.kind <= 1 for p in parameters):
            if global_step is None:
                raise ValueError("global_step must not be None: the schedule needs it")
            x = x(global_step)
        else:
            x = x()
    return tf.convert_to_tensor(x)


def summed(slices):
    """Sums the rows with equal indices: a kernel takes one step per duplicate.

    Args:
        slices: `tf.IndexedSlices`.

    Returns:
        `tf.IndexedSlices`, in the order in which the indices first occur.
    """
    indices, places = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(slices.values, places, tf.size(indices))
    return tf.IndexedSlices(values, indices, slices.dense_shape)


class Adam(Optimizer):
    """`tf.train.AdamOptimizer` (slots "m" and "v", `beta1_power`, `beta2_power`).

    m = beta1 * m + (1 - beta1) * gradient; v = beta2 * v + (1 - beta2) * gradient ** 2;
    rate = learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t);
    variable -= rate * m / (sqrt(v) + epsilon), the "epsilon hat" of the paper (Kingma
    and Ba, 2015). With a sparse gradient, all rows are updated, also those that were
    not looked up.

    `keras.optimizers.Adam` has an epsilon of 1e-7 and other names of its slots, and
    rounds after each operation.

    Args:
        learning_rate, beta1, beta2, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
        suffix: end of the names of the powers: "_1" for the second Adam of a graph.
    """

    kernel = "Adam"
    betas = "beta1", "beta2"

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
        *,
        suffix="",
    ):
        """Takes v1's arguments, and `suffix`: "_1" for the second Adam of a graph."""
        super().__init__(
            name,
            [("m", "m", 0), ("v", "v", 0)],
            {"use_locking": use_locking},
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        scope = tf.get_current_name_scope()  # it does not change the slots' names
        self.prefix, self.suffix = scope and scope + "/", suffix
        self.powers = {}

    def create_slots(self, variables):
        """Makes the missing slots, as `Optimizer.create_slots`, and the beta powers."""
        super().create_slots(variables)
        if not self.powers:
            with tf.init_scope(), tf.name_scope(""):
                self.powers = {
                    f"{beta}_power": tf.Variable(
                        number(self.hyper[beta]),
                        trainable=False,
                        name=f"{self.prefix}{beta}_power{self.suffix}",
                    )
                    for beta in self.betas
                }
        return self

    def arguments(self, variable, slots, numbers):
        arguments = super().arguments(variable, slots, numbers)
        return {**arguments, **self.cast_powers(variable)}

    def cast_powers(self, variable):
        """Returns {name: beta ** steps so far} in the dtype of a variable."""
        return {k: tf.cast(x, variable.dtype) for k, x in self.powers.items()}

    def corrected(self, variable, rate):
        """Multiplies the rate of sparse steps by the averages' bias correction."""
        power1, power2 = self.cast_powers(variable).values()
        return rate * tf.sqrt(1 - power2) / (1 - power1)

    def update_rows(self, variable, slots, gradient, numbers):
        """Updates all rows op by op: v1 had no kernel for Adam's sparse gradients."""
        rows, n = summed(gradient), numbers
        m, v = slots["m"], slots["v"]
        rate = self.corrected(variable, n["lr"])
        decay_all(m, n["beta1"], rows.values, rows.indices)
        decay_all(v, n["beta2"], rows.values * rows.values, rows.indices)
        variable.assign_sub(rate * m / (tf.sqrt(v) + n["epsilon"]))

    def finish(self, numbers):
        for beta in self.betas:
            power = self.powers[f"{beta}_power"]
            power.assign(power * tf.cast(numbers[beta], power.dtype))


def decay_all(slot, beta, values, indices):
    """Decays all rows of a moving average, and adds new values to some rows.

    Args:
        slot: float variable, the average.
        beta: share of the average that is kept, a scalar tensor.
        values: [k, ...] tensor, the new values of the rows.
        indices: [k] integer tensor, the indices of the rows.

    Returns:
        [k, ...] tensor: the amounts that were added.
    """
    slot.assign(slot * beta)
    added = values * (1 - beta)
    slot.scatter_add(tf.IndexedSlices(added, indices))
    return added


def assign_moving_average(variable, value, decay):
    """Updates a moving average without bias correction (`zero_debias=False`).

    Args:
        variable: float variable, the average.
        value: tensor of the variable's shape and dtype.
        decay: share of the old average that is kept, a number or tensor. With a number,
            1 - decay is rounded; with a float32 tensor, decay is rounded to float32,
            also if the variable has another dtype.

    Returns:
        The average.
    """
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay), variable.dtype)
    return variable.assign_sub((variable - value) * rate)


class ExponentialMovingAverage(tf.Module):
    """`tf.train.ExponentialMovingAverage`: moving averages of variables.

    The public `tf.train.ExponentialMovingAverage` gives the same bits for variables.
    But it would make the averages only in its first `apply`, add "_1" to a name that is
    already used, and not be saved by `tf.train.Checkpoint`: it is not a `tf.Module`.

    Args:
        decay: share of the old average that an update keeps, at most.
        num_updates: number of updates, a tensor or variable, or None. With it the share
            is min(decay, (1 + n) / (10 + n)), so that early averages follow fast.
        name: suffix of the averages' names: the average of `w` is called `w/name`.
        scope: prefix of the averages' names, if the averages were made in a variable
            scope.

    Attributes:
        averaged: list of `variable.ref()` of the variables that have an average.
        shadows: list of the averages, which are variables, in the same order.
    """

    def __init__(
        self, decay, num_updates=None, name="ExponentialMovingAverage", *, scope=""
    ):
        super().__init__()
        self.decay, self.num_updates = decay, num_updates
        self.suffix, self.scope = name, scope
        self.averaged, self.shadows = [], []

    @property
    def built(self):
        """Whether the averages exist."""
        return bool(self.shadows)

    def create(self, variables):
        """Makes the missing averages; each begins at the value of its variable.

        The first `apply` makes them, too; but if it comes after the first step, they
        begin at the values after that step.

        Returns:
            This object.

        Raises:
            TypeError: a variable is not of a float dtype.
            ValueError: the function that is being traced makes one of the variables.
        """
        with tf.init_scope(), tf.name_scope(""):
            known = set(self.averaged)
            for variable in variables:
                if variable.ref() in known:
                    continue
                known.add(variable.ref())
                if not variable.dtype.is_floating:
                    raise TypeError(f"{variable.name} must be half, float, or double")
                if tf.executing_eagerly() and not variable.is_initialized():
                    raise ValueError(
                        f"{variable.name} has no value yet: make the variable, and "
                        "call `create`, before the function that averages it"
                    )
                name = self.average_name(variable)
                self.averaged.append(variable.ref())
                self.shadows.append(tf.Variable(variable, trainable=False, name=name))
        return self

    def apply(self, variables, num_updates=None):
        """Updates the moving averages of the variables.

        Args:
            variables: list of float variables.
            num_updates: used in place of the object's `num_updates`.
        """
        self.create(variables)
        count = self.num_updates if num_updates is None else num_updates
        decay = tf.convert_to_tensor(self.decay)  # float32, also for float64 variables
        if count is not None:
            count = tf.cast(count, tf.float32)
            decay = tf.minimum(decay, (1.0 + count) / (10.0 + count))
        shadows = dict(zip(self.averaged, self.shadows))
        for variable in variables:
            assign_moving_average(shadows[variable.ref()], variable, decay)

    def average(self, variable):
        """Returns the average of a variable, or None if the variable has no average."""
        return dict(zip(self.averaged, self.shadows)).get(variable.ref())

    def average_name(self, variable):
        """Returns the name of a variable's average, even before the average exists."""
        return f"{self.scope}{variable.name.partition(':')[0]}/{self.suffix}"

    def variables_to_restore(self, variables):
        """Maps checkpoint names to variables; averaged variables load the averages."""
        averaged = set(self.averaged)
        return {
            self.average_name(v) if v.ref() in averaged else v.name.partition(":")[0]: v
            for v in variables
        }


def named(*owners, scope=""):
    """Maps checkpoint names to the variables of modules, as `tf.train.Saver` did.

    Cells, layers and norms make their variables in the first call, optimizers and
    averages in the first step. To make them before, call `build`, `create_slots` or
    `create`. If a part of a module is never called, pass `module.variables`.

    Args:
        *owners: `tf.Module`s, variables, or lists of variables.
        scope: prefix of all names, such as "train" for the slots and the powers of an
            optimizer that was made in `tf.variable_scope("train")`.

    Returns:
        {name: variable}, the names without ":0".

    Raises:
        ValueError: a module has not made its variables yet, or two variables have the
            same name. If two variables have the same name, write the dict yourself.
        TypeError: an owner is a model, layer or variable of Keras: write the dict
            yourself.
    """
    variables = {}
    for owner in owners:
        if isinstance(owner, tf.Module):
            refuse_unbuilt(owner)
            owner = owner.variables
        for variable in tf.nest.flatten(owner):
            if not isinstance(variable, tf.Variable):
                kind = type(variable).__name__
                raise TypeError(
                    f"{kind} is not a tf.Variable: pass a dict {{old name: variable}}"
                )
            name = variable.name.partition(":")[0]
            name = f"{scope}/{name}" if scope else name
            if variables.setdefault(name, variable) is not variable:
                raise ValueError(f"At least two variables have the same name: {name}")
    return variables


def refuse_unbuilt(owner):
    """Raises a ValueError if a module or a submodule has not made its variables yet.

    Args:
        owner: a `tf.Module`.

    Raises:
        ValueError: its message names the class and the method that makes the variables.
    """
    for module in (owner, *owner.submodules):
        if getattr(module, "built", True) is False:
            methods = "build", "create_slots", "create"
            method = next((m for m in methods if hasattr(module, m)), None)
            name = getattr(module, "path", module.name)
            ways = f"call its {method}(...), or call" if method else "call"
            raise ValueError(
                f"{type(module).__name__} {name} has no variables yet: {ways} it once, "
                "before its variables are named"
            )
