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
"""What TensorFlow takes, then and now, if only the op has a seed."""
INT32_MAX = 2**31 - 1


def kernel_seeds(graph_seed, op_seed):
    """The two numbers that begin the stream of an op: `tf.get_seed` of 1.15.5.

    Args:
        graph_seed: int that `tf.set_random_seed` was given, or None if it was not.
        op_seed: int, the `seed=` of the op; or None without a graph seed. With a graph
            seed, an op without its own took the number of the graph's last node.

    Returns:
        (seed, seed2), the attributes of the node; (0, 0) draws anew in every program.

    Raises:
        ValueError: a graph seed and no op seed.
        TypeError: a seed that is no number.
    """
    if graph_seed is None and op_seed is None:
        return 0, 0
    if graph_seed is None:
        graph_seed = DEFAULT_GRAPH_SEED
    if op_seed is None:
        raise ValueError("without a seed of its own an op's place in the graph counts")
    seeds = graph_seed % INT32_MAX, op_seed % INT32_MAX
    return (0, INT32_MAX) if seeds == (0, 0) else seeds


def stream(seed, seed2):
    """The stream of one random op of TensorFlow 1, the first number and all others.

    The kernels counted with the Philox algorithm: `seed` was its key, `seed2` the upper
    half of its counter, and a draw of n numbers took 256 n steps. So does a generator.

    Args:
        seed: int, as the node has it: see `kernel_seeds`.
        seed2: int, likewise.

    Returns:
        tf.random.Generator with `normal`, `uniform` and `truncated_normal`; its state
        can be saved in a checkpoint.
    """
    if seed == seed2 == 0:
        return tf.random.Generator.from_non_deterministic_state(alg="philox")
    return tf.random.Generator.from_state([0, seed2, seed], alg="philox")


def draw(kind, shape, first, second, dtype=tf.float32, seed=None):
    """Draws what one new op of TensorFlow 1 drew first.

    Args:
        kind: "normal", "truncated_normal" (mean, deviation) or "uniform" (bounds).
        shape: list of ints.
        first, second: the two numbers of the distribution.
        dtype: float dtype.
        seed: of the op: an int, below the seed of `tf.random.set_seed`; or a generator
            such as a `stream`, to draw from; or None, for the next one of those that
            `tf.random.set_seed` begins. The number of v1's node it is not.

    Returns:
        Tensor of this shape and dtype.
    """
    if isinstance(seed, tf.random.Generator):
        return getattr(seed, kind)(shape, first, second, dtype)
    if seed is None:  # each function would count from 0, and draw what the last drew
        with tf.init_scope():
            if tf.executing_eagerly():  # not so where tf.Variable lifts what it is told
                seed = tf.random.uniform([], 0, INT32_MAX, tf.int32).numpy().item()
    op = getattr(tf.random, kind)
    # A function of its own: an eager draw goes on where the last of its seed ended.
    drawn = tf.function(lambda: op(shape, first, second, dtype, seed))
    return drawn.get_concrete_function()()  # else TensorFlow warns of retracing


def random_uniform(minval=0.0, maxval=1.0, seed=None, dtype=tf.float32):
    """`tf.random_uniform_initializer`, of floats, whose bounds are ±0.05 today.

    Args:
        minval: lower bound.
        maxval: upper bound, not drawn.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return lambda shape, dtype=dtype: draw(
        "uniform", shape, minval, maxval, dtype, seed
    )


def fans(shape):
    """How many numbers a unit sums up, and how many units a number goes to.

    Args:
        shape: of a kernel, [..., inputs, outputs]; of one dimension both are its size.

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
    """`tf.variance_scaling_initializer`: a variance of scale / n.

    Args:
        scale: positive number.
        mode: what n is: "fan_in", "fan_out" or "fan_avg", the mean of the two.
        distribution: "normal" or "truncated_normal", "untruncated_normal", "uniform".
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        ValueError: an argument that is none of these.
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
        # A normal distribution cut off at two deviations has this deviation left.
        stddev /= 0.87962566103423978
        return draw("truncated_normal", shape, 0.0, stddev, dtype, seed)

    return initialize


def glorot_uniform(seed=None, dtype=tf.float32):
    """`tf.glorot_uniform_initializer`: what a variable had without an initializer.

    Within ±sqrt(6 / (fan_in + fan_out)): Glorot and Bengio, 2010.

    Args:
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_avg", "uniform", seed, dtype)


class Cell(tf.Module):
    """What the cells share: a size, variables under the names of v1, a step.

    A call takes x, [batch, depth], and a state, and returns the output, [batch,
    output_size], and the new state. For a cell of one's own, write
    `make_variables(depth, dtype)` and `__call__`.

    Args:
        num_units: size of the state.
        name: what the names of the variables begin with.
        initializer: of the kernels, a function of shape and dtype; None for v1's
            default, `glorot_uniform`.
    """

    def __init__(self, num_units, name, initializer=None):
        super().__init__()
        self.num_units = self.output_size = num_units
        self.path, self.initializer = name, initializer or glorot_uniform()
        self.kernel = None

    @property
    def built(self):
        """Whether it has its variables."""
        return self.kernel is not None

    def build(self, depth, dtype):
        """Makes the variables for inputs of this depth, once."""
        if not self.built:
            with tf.name_scope(""):  # an outer scope is no part of the names
                self.make_variables(depth, dtype)

    def begin(self, depth, dtype):
        """Is called before the first step of every run."""
        del depth, dtype  # AutoGraph takes no function without a statement

    def variable(self, name, shape, dtype, initializer=None):
        initializer = initializer or self.initializer
        path = f"{self.path}/{name}"
        return tf.Variable(lambda: initializer(shape, dtype), name=path)

    def zero_state(self, batch, dtype):
        """The state at the beginning of a sequence."""
        return tf.zeros([batch, self.num_units], dtype)


def affine(x, kernel, bias):
    """A layer without an activation.

    Args:
        x: [batch, depth] tensor.
        kernel: [depth, units] tensor.
        bias: [units] tensor.

    Returns:
        [batch, units] tensor.
    """
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def product(x, state, kernel, bias):
    """One product with the input and the state, as the kernels were stored.

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
    """`tf.nn.rnn_cell.GRUCell`, which resets before the product.

    That is `reset_after=False` of Keras. The state is the output.

    `keras.layers.GRUCell` resets after the product by default.

    Args:
        num_units: size of the state.
        activation: function, of the candidate.
        initializer: of the kernels; see `Cell`.
        bias_initializer: function of shape and dtype for both biases; None is v1's: the
            gates' biases begin at one, so that little is reset and updated, the
            candidate's at zero.
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
    """What `tf.nn.dynamic_rnn` did: reads x by one loop, and holds what has ended.

    Args:
        cell: see the module.
        x: [batch, time, depth] tensor.
        lengths: [batch] int tensor, or None where all sequences fill the time.
        state: where to begin, or None for zeros.
        time_major: whether time comes before the batch, in x and in the outputs.
        dtype: of the outputs and of the state, if it is not that of x.

    Returns:
        (outputs [batch, time, output_size], zero past the end; state of the end).

    Raises:
        ValueError: not three dimensions, an unknown depth, lengths that are no vector.
        tf.errors.InvalidArgumentError: not one length per sequence.
    """
    x = of_rank_3(x)
    if not time_major:
        x = tf.transpose(x, [1, 0, 2])
    dtype = dtype or x.dtype
    state, lengths = prepare(cell, x, lengths, state, dtype=dtype)
    end = None
    if lengths is not None:  # nothing is computed past the longest
        end = tf.maximum(1, tf.reduce_max(lengths))

    def step(x, state, t):
        return advance(cell, x, state, t, lengths)

    outputs, state = take_steps(step, x, state, cell.output_size, dtype, end)
    return outputs if time_major else tf.transpose(outputs, [1, 0, 2]), state


def take_steps(step, x, state, size, dtype, end=None):
    """The loop itself.

    Args:
        step: function of ([batch, depth], state, time) for ([batch, size], new state).
        x: [time, batch, depth] tensor.
        state: where to begin.
        size: of the outputs.
        dtype: of the outputs.
        end: how many steps to take, at most the time, or None for all.

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
        parallel_iterations=1,  # else a cell that draws may do so in any order
        maximum_iterations=x.shape[0],
    )
    return outputs.stack(), state


def of_rank_3(x):
    """x as a tensor, which must have three dimensions.

    Args:
        x: tensor, or what can be made one.

    Raises:
        ValueError: another rank.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {x.shape.rank}")
    return x


def prepare(cell, x, lengths, state, batch_axis=1, dtype=None):
    """Makes the variables and what a loop begins with; complains as v1 did.

    Args:
        cell: see the module.
        x: tensor of three dimensions, the last of known size.
        lengths: [batch] ints, or None.
        state: nested structure of tensors, or None for zeros.
        batch_axis: 0 or 1, the axis of the batch in x.
        dtype: of the state, if it is not that of x.

    Returns:
        (state in the structure of the cell, lengths as int32 or None).

    Raises:
        ValueError: an unknown depth, or lengths that are no vector.
        tf.errors.InvalidArgumentError: not one length per sequence.
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
    """A step of the sequences that go on; the others output zeros and keep their state.

    Args:
        cell: see the module.
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
    """The names of v1; `tf.losses.Reduction` is Keras' now, and has other ones."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    ALL = (NONE, SUM, SUM_OVER_BATCH_SIZE, MEAN, SUM_BY_NONZERO_WEIGHTS)


BY_NONZERO_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS
NOT_FITTING = "weights can not be broadcast to values"


def compute_weighted_loss(losses, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Multiplies losses by weights, in float32, and reduces them to one number.

    Args:
        losses: tensor of any shape.
        weights: a number, or a tensor of the rank of `losses` whose sizes are 1 or
            those of `losses`.
        reduction: "none", "weighted_sum", "weighted_sum_over_batch_size" (divided by
            the number of losses), "weighted_mean" (by the sum of the weights) or
            "weighted_sum_by_nonzero_weights". Nothing divided by nothing is 0.

    Returns:
        Tensor of the dtype of `losses`: a scalar, or the weighted losses for "none".

    Raises:
        ValueError: no such reduction, or weights of another rank; where a rank is
            unknown, a tf.errors.InvalidArgumentError.
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
    """Casts weights to float32; of another rank, they would make a matrix of a vector.

    Where one of the ranks is unknown, it is checked when it runs.

    Args:
        weights: a number, or a tensor of the rank of `values`.
        values: tensor of losses.

    Returns:
        float32 tensor.

    Raises:
        ValueError: another rank than 0 or that of `values`.
        tf.errors.InvalidArgumentError: the same, of an unknown rank.
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
    """Returns weighted losses, which must have the shape of the losses themselves.

    Args:
        weighted: losses times weights, which may not enlarge them.
        values: the losses.

    Raises:
        tf.errors.InvalidArgumentError: another shape.
    """
    tf.debugging.assert_equal(tf.shape(weighted), tf.shape(values), NOT_FITTING)
    return weighted


def number_present(values, weights, axis=None):
    """Counts the values that have a weight other than 0.

    Args:
        values: float32 tensor.
        weights: float32 tensor that broadcasts to it.
        axis: axes to count along, which stay as 1; None for all.

    Returns:
        float32 tensor.
    """
    present = tf.cast(tf.not_equal(weights, 0), tf.float32) * tf.ones_like(values)
    return tf.reduce_sum(present, axis, keepdims=axis is not None)


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the cross-entropy of class numbers.

    Args:
        labels: [...] or [..., 1] integer tensor of numbers less than `classes`.
        logits: [..., classes] float tensor.
        weights, reduction: see `compute_weighted_loss` of [...] losses; also [..., 1].

    Returns:
        Scalar of the dtype of `logits`; for "none" [...] tensor.
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
    """What the optimizers share: slots under the names of v1, and a step.

    For one of your own, override `update` and, for tables, `update_rows`.

    A hyper-parameter is a number, which is float32 first whatever the variables are,
    a tensor, a variable, a function of nothing, or a function of the global step, as a
    schedule of Keras is.

    It is no `keras.optimizers.Optimizer`, whose slots have other names.

    Args:
        name: slots are named after it: `w/name`, the second one of `w` `w/name_1`.
        slots: list of (slot name, argument of the kernel, initial number), or with a
            fourth, what this slot is named after instead of `name`.
        options: {argument of the kernel: switch}, such as {"use_nesterov": True}.
        **hyper: {argument of the kernel: hyper-parameter}.

    Attributes:
        kernel: `tf.raw_ops.ResourceApply…` and `ResourceSparseApply…` end with this.
        gradient: argument of `ResourceApply…` for the gradient, "grad" or "delta".
        trained: list of `variable.ref()` of what has been moved.
        slots: list of {slot name: variable}, one dict for each of `trained`.
        hyper: {argument of the kernel: hyper-parameter}.
        options: {argument of the kernel: switch}.
    """

    kernel = ""
    gradient = "grad"

    def __init__(self, name, slots=(), options=(), **hyper):
        """Makes no variables yet: see `create_slots`."""
        super().__init__()
        self.slot_specs = tuple((*spec, name)[:4] for spec in slots)
        self.options, self.hyper = dict(options), hyper
        self.slots, self.trained = [], []

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """Takes a step.

        Args:
            loss: function of nothing that computes a float tensor.
            variables: list of the variables to move.
            global_step: variable to add 1 to afterwards, or None.
            grad_loss: tensor like the loss, where to begin instead of ones.

        Returns:
            The loss, as it was before the step.

        Raises:
            ValueError: no variables, no gradient for any of them, an integer loss.
            TypeError: the loss is a tensor, of which no tape knows; a variable is one
                of Keras.
            RuntimeError: a variable has a constraint and a sparse gradient.
        """
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """The first half of `minimize`: [(gradient or None, variable)]."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """(the loss, what `compute_gradients` returns)."""
        if not callable(loss):
            raise TypeError("give the loss as a function of nothing: lambda: ...")
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
        """The second half of `minimize`.

        In `strategy.run` it sums the gradients of all replicas first, as TensorFlow 1
        and Keras do. For their mean divide the loss by `num_replicas_in_sync`.

        Args:
            pairs: iterable of (gradient, variable): tensors, `tf.IndexedSlices`, whose
                rows may come twice, or None, which leaves a variable as it is.
            global_step: variable to add 1 to afterwards, or None.
            aggregate: False if all replicas have the same gradients already, as after
                `all_reduce`, which is needed before a `tf.cond` around the step.

        Raises:
            ValueError: no pairs, no gradients, or a schedule without a global step;
                under a strategy, variables or slots that its scope has not made.
            RuntimeError: a variable has a constraint and a sparse gradient; a strategy
                of several replicas is in scope, and this is not in its `run`.
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
        """Whether it has slots, or needs none."""
        return bool(self.trained) or not self.slot_specs

    def create_slots(self, variables):
        """Makes the missing slots; the first step does so itself, but not in a replica.

        Call it before a `tf.function` is traced, which would trace twice, as whenever
        variables are made in it, before a checkpoint is restored, and in the scope of a
        strategy.

        Args:
            variables: iterable of `tf.Variable`s. Slots that exist keep their values.

        Returns:
            The optimizer.

        Raises:
            TypeError: a variable is one of Keras.
            ValueError: a variable is of another strategy's scope, or a slot is missing
                in `strategy.run` of several replicas.
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
        """The slot of a variable by its name, such as "m"; None if there is none."""
        return dict(zip(self.trained, self.slots)).get(variable.ref(), {}).get(name)

    def arguments(self, variable, slots, numbers):
        """Arguments of the kernel, but for the gradient."""
        handles = {spec[1]: slots[spec[0]].handle for spec in self.slot_specs}
        return {"var": variable.handle, **handles, **numbers, **self.options}

    def update(self, variable, slots, gradient, numbers):
        """Moves a variable.

        Args:
            variable: float variable.
            slots: {slot name: variable}, its slots.
            gradient: tensor like it.
            numbers: {argument: scalar tensor of its dtype}, the hyper-parameters.
        """
        self.run_kernel("ResourceApply", variable, slots, numbers, gradient)

    def update_rows(self, variable, slots, gradient, numbers):
        """As `update`, by a `tf.IndexedSlices`: in the rows that it names only."""
        rows = summed(gradient)
        indices = {"indices": rows.indices}
        prefix = "ResourceSparseApply"
        self.run_kernel(prefix, variable, slots, numbers, rows.values, **indices)

    def run_kernel(self, prefix, variable, slots, numbers, gradient, **more):
        """Calls the kernel of TensorFlow 1 whose name begins with `prefix`."""
        # The public one, of tf.keras.optimizers, would round after each of its ops,
        # start RMSprop's squares at 0 and not at 1, add another epsilon in another
        # place, take a step for each duplicate row, and move rows that no id names.
        kernel = getattr(tf.raw_ops, prefix + self.kernel)
        more["grad" if more else self.gradient] = gradient
        kernel(**self.arguments(variable, slots, numbers), **more)

    def finish(self, numbers):
        """What is done once, after all variables; the numbers are not cast."""
        return  # else AutoGraph warns: it leaves a body of a docstring alone empty


def check_kind(variable):
    """Raises a TypeError of a variable of Keras, which holds a `tf.Variable`."""
    if not isinstance(variable, tf.Variable):
        kind = type(variable).__name__
        raise TypeError(f"{kind} is no tf.Variable: of one of Keras, give its `value`")


def check_scope(variables):
    """Raises a ValueError of a variable that is not of the current strategy's scope.

    In `strategy.run` every replica would move the same copy; outside of the scope, the
    first copy alone would move. Replicas that move a variable that is aggregated by a
    sum would move it several times.

    Args:
        variables: iterable of variables.
    """
    strategy = tf.distribute.get_strategy()
    several = strategy.num_replicas_in_sync > 1
    for variable in variables:
        if several and variable.aggregation == tf.VariableAggregation.SUM:
            raise ValueError(f"{variable.name}: make it without aggregation=SUM")
        copies = several or isinstance(variable, tf.distribute.DistributedValues)
        if copies and not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"{variable.name} is of another scope: make variables, slots "
                "(create_slots) and the global step in `strategy.scope()`, and take "
                "steps in `strategy.run`"
            )


def refuse_in_replica(what, method):
    """Raises a ValueError in `strategy.run` of several replicas: each would make some.

    Args:
        what: the variables that are missing, in the plural.
        method: name of the method that makes them.
    """
    several = tf.distribute.get_strategy().num_replicas_in_sync > 1
    if several and not tf.distribute.in_cross_replica_context():
        raise ValueError(
            f"The {what} are missing: call {method}(variables) in `strategy.scope()`, "
            "before `strategy.run`"
        )


def summed_over_replicas(pairs):
    """Sums gradients over the replicas of a strategy; without one, changes nothing.

    Args:
        pairs: list of (gradient, variable), the same variables in all replicas. Of
            `tf.IndexedSlices` the rows of all replicas follow one another.

    Returns:
        List of (gradient or None, variable).

    Raises:
        RuntimeError: a strategy of several replicas is in scope, and this is not in its
            `run`.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        return pairs
    context = tf.distribute.get_replica_context()
    if context is None:
        raise RuntimeError("take steps in `strategy.run`, not in its scope alone")
    given = [copied(gradient) for gradient, _ in pairs if gradient is not None]
    sums = iter(context.all_reduce("SUM", given))
    return [(g if g is None else next(sums), variable) for g, variable in pairs]


def copied(gradient):
    """A copy of a gradient for a replica: `all_reduce` does not sum what is one tensor.

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
    """A hyper-parameter as a tensor; functions are called, here and now.

    Args:
        x: number, tensor, variable, or function of nothing or of the global step.
        global_step: integer variable or tensor, or None.

    Returns:
        Scalar tensor: float32 for a Python float.

    Raises:
        ValueError: a function of the global step, which is None.
    """
    if callable(x):
        parameters = inspect.signature(x).parameters.values()
        if any(p.default is p.empty and p.kind <= 1 for p in parameters):
            if global_step is None:
                raise ValueError("a schedule is a function of the global_step: give it")
            x = x(global_step)
        else:
            x = x()
    return tf.convert_to_tensor(x)


def summed(slices):
    """Slices without duplicates: a kernel would take a step for each of them.

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
    and Ba, 2015). A sparse gradient moves all rows, looked up or not.

    `keras.optimizers.Adam` has an epsilon of 1e-7 and slots of other names, and rounds
    after each operation.

    Args:
        learning_rate, beta1, beta2, epsilon: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: slots are named after it: `w/name`, the second one of `w` `w/name_1`.
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
        """As in v1; the powers of the second Adam of a graph have the suffix "_1"."""
        super().__init__(
            name,
            [("m", "m", 0), ("v", "v", 0)],
            {"use_locking": use_locking},
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        scope = tf.get_current_name_scope()  # of which the slots know nothing
        self.prefix, self.suffix = scope and scope + "/", suffix
        self.powers = {}

    def create_slots(self, variables):
        """As `Optimizer.create_slots`; also the powers."""
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
        """{name: power of a beta by the steps so far}, in the dtype of a variable."""
        return {k: tf.cast(x, variable.dtype) for k, x in self.powers.items()}

    def corrected(self, variable, rate):
        """The rate with the bias of the averages corrected in it, for sparse steps."""
        power1, power2 = self.cast_powers(variable).values()
        return rate * tf.sqrt(1 - power2) / (1 - power1)

    def update_rows(self, variable, slots, gradient, numbers):
        """In all rows: v1 had no kernel for this, and rounds at each of these steps."""
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
    """Decays a whole average, and adds to the rows that were seen.

    Args:
        slot: float variable, the average.
        beta: share of it that is kept, a scalar tensor.
        values: [k, ...] tensor, what the rows move towards.
        indices: [k] integer tensor, of the rows.

    Returns:
        [k, ...] tensor: what was added.
    """
    slot.assign(slot * beta)
    added = values * (1 - beta)
    slot.scatter_add(tf.IndexedSlices(added, indices))
    return added


def assign_moving_average(variable, value, decay):
    """Moves an average towards a value, by `zero_debias=False`.

    Args:
        variable: float variable, the average.
        value: tensor like it.
        decay: share of the old average that is kept, a number or tensor. Of a number
            1 - decay is rounded, of a float32 tensor decay is, whatever the variable.

    Returns:
        The average.
    """
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay), variable.dtype)
    return variable.assign_sub((variable - value) * rate)


class ExponentialMovingAverage(tf.Module):
    """`tf.train.ExponentialMovingAverage` of variables.

    The public `tf.train.ExponentialMovingAverage` moves an average of a variable by the
    same bits. It would make the averages in its first `apply` only, give one whose name
    is taken "_1", and, being no `tf.Module`, be in no `tf.train.Checkpoint`.

    Args:
        decay: share of the old average that an update keeps, at most.
        num_updates: number of updates, a tensor or variable, or None. With it the share
            is min(decay, (1 + n) / (10 + n)), so that early averages follow fast.
        name: what the averages are called by: that of `w` is `w/name`.
        scope: what their names begin with, if they were made in a variable scope.

    Attributes:
        averaged: list of `variable.ref()` of what has an average.
        shadows: list of the averages, variables in the same order.
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
        """Whether it has averages."""
        return bool(self.shadows)

    def create(self, variables):
        """Makes the averages that there are not yet, at the values of the variables.

        The first `apply` does so, too; but then of what the first step has moved.

        Returns:
            This object.

        Raises:
            TypeError: a variable of another dtype than float.
            ValueError: one that is made by the function that is being traced.
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
                        f"{variable.name} has no value yet: make it before the "
                        "function that averages it, and `create` its average there"
                    )
                name = self.average_name(variable)
                self.averaged.append(variable.ref())
                self.shadows.append(tf.Variable(variable, trainable=False, name=name))
        return self

    def apply(self, variables, num_updates=None):
        """Moves the averages of the variables towards them.

        Args:
            variables: list of float variables.
            num_updates: instead of that of the object.
        """
        self.create(variables)
        count = self.num_updates if num_updates is None else num_updates
        decay = tf.convert_to_tensor(self.decay)  # float32, whatever the variables are
        if count is not None:
            count = tf.cast(count, tf.float32)
            decay = tf.minimum(decay, (1.0 + count) / (10.0 + count))
        shadows = dict(zip(self.averaged, self.shadows))
        for variable in variables:
            assign_moving_average(shadows[variable.ref()], variable, decay)

    def average(self, variable):
        """The average of a variable, or None if it has none."""
        return dict(zip(self.averaged, self.shadows)).get(variable.ref())

    def average_name(self, variable):
        """The name of its average, which it may not have yet."""
        return f"{self.scope}{variable.name.partition(':')[0]}/{self.suffix}"

    def variables_to_restore(self, variables):
        """{name in a checkpoint: variable}: averages for what is averaged."""
        averaged = set(self.averaged)
        return {
            self.average_name(v) if v.ref() in averaged else v.name.partition(":")[0]: v
            for v in variables
        }


def named(*owners, scope=""):
    """The variables of modules by the names that a Saver went by.

    Cells, layers and norms make their variables at the first call, optimizers and
    averages at the first step: `build`, `create_slots` or `create` makes them before.
    Of a module with a part that is never called, give `module.variables`.

    Args:
        *owners: `tf.Module`s, variables, or lists of variables.
        scope: what all names began with, such as "train" of the slots and the powers of
            an optimizer that was made in `tf.variable_scope("train")`.

    Returns:
        {name: variable}, the names without ":0".

    Raises:
        ValueError: a module has no variables yet; two variables of one name: give a
            dict of your own.
        TypeError: a model, layer or variable of Keras: likewise.
    """
    variables = {}
    for owner in owners:
        if isinstance(owner, tf.Module):
            refuse_unbuilt(owner)
            owner = owner.variables
        for variable in tf.nest.flatten(owner):
            if not isinstance(variable, tf.Variable):
                kind = type(variable).__name__
                raise TypeError(f"{kind} is no tf.Variable: give a dict of old names")
            name = variable.name.partition(":")[0]
            name = f"{scope}/{name}" if scope else name
            if variables.setdefault(name, variable) is not variable:
                raise ValueError(f"At least two variables have the same name: {name}")
    return variables


def refuse_unbuilt(owner):
    """Raises a ValueError if a module, or one in it, is yet to make its variables.

    Args:
        owner: a `tf.Module`.

    Raises:
        ValueError: names the module's class, and the method that makes its variables.
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
