"""TensorFlow 1's numbers in native TensorFlow 2.

AttentionWrapper, LuongAttention, ExponentialMovingAverage, BatchNorm, glorot_uniform,
    truncated_normal, Conv2D, FullyConnected, mean_squared_error,
    sparse_softmax_cross_entropy, Accuracy, Adagrad, Adam, GradientDescent, Momentum,
    kernel_seeds, stream, by_name, save, GRUCell, LSTMCell, unroll, BasicDecoder, Dense,
    GreedyEmbeddingHelper, dynamic_decode

Taken by `tf1to2 take` from tf1to2 0.1.0, where each is compared with TensorFlow
1.15.5. It needs nothing else of that project.

v2_eager/numerics/randomness.py: DEFAULT_GRAPH_SEED, INT32_MAX, kernel_seeds, stream,
    draw
v2_eager/numerics/initializers.py: truncated_normal, fans, variance_scaling,
    glorot_uniform, contrib_variance_scaling, contrib_xavier
v2_eager/attention/wrapper.py: AttentionWrapperState, AttentionWrapper, AttentiveCell
v2_eager/attention/mechanisms.py: Memory, Attention, LuongAttention
v2_eager/numerics/averages.py: assign_moving_average, variable_of_replicas,
    ExponentialMovingAverage
v2_eager/numerics/norms.py: ranked, in_phase
v2_eager/numerics/batch_norms.py: BatchNorm
v2_eager/numerics/layers.py: Layer, FullyConnected, Image, Conv2D, pair, checked
v2_eager/numerics/losses.py: Reduction, BY_NONZERO_WEIGHTS, NOT_FITTING,
    compute_weighted_loss, float32_weights, fitting, number_present, float32_pair,
    mean_squared_error, sparse_softmax_cross_entropy
v2_eager/numerics/metrics/base.py: Metric, aligned, _without_column, _with_column,
    _surplus, broadcast_weights
v2_eager/numerics/metrics/means.py: Mean, Accuracy
v2_eager/numerics/optimizers/base.py: Optimizer, check_kind, check_scope,
    refuse_in_replica, summed_over_replicas, copied, number, summed, positive
v2_eager/numerics/optimizers/adaptive.py: Adagrad
v2_eager/numerics/optimizers/adam.py: Adam, decay_all
v2_eager/numerics/optimizers/gradient_descent.py: GradientDescent, Momentum
v2_eager/numerics/restore.py: by_name, save
v2_eager/numerics/rnn/cells.py: LSTMStateTuple, Cell, affine, product, BasicLSTMCell,
    LSTMCell, GRUCell
v2_eager/numerics/rnn/loops.py: unroll, take_steps, of_rank_3, prepare, advance
v2_eager/seq2seq/decoding.py: BasicDecoderOutput, BasicDecoder, Dense, dynamic_decode,
    held, batch_first
v2_eager/seq2seq/helpers.py: Helper, GreedyEmbeddingHelper

SPDX-License-Identifier: Apache-2.0
"""

import collections
import inspect
import math
import typing

import numpy as np
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


def truncated_normal(mean=0.0, stddev=1.0, seed=None, dtype=tf.float32):
    """`tf.truncated_normal_initializer`: normal, cut off at two standard deviations.

    Args:
        mean: mean of the normal distribution.
        stddev: standard deviation before the cut.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """

    def initialize(shape, dtype=dtype):
        return draw("truncated_normal", shape, mean, stddev, dtype, seed)

    return initialize


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


def contrib_variance_scaling(
    factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=tf.float32
):
    """`tf.contrib.layers.variance_scaling_initializer`: variance factor / fan.

    Follows `tensorflow/contrib/layers/python/layers/initializers.py` of 1.15.5.

    Args:
        factor: positive number; 2 gives He's initializer.
        mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: whether to draw from ±sqrt(3 * factor / fan); otherwise draws from a
            truncated normal distribution with the standard deviation
            sqrt(1.3 * factor / fan).
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        TypeError: an unknown mode.
    """
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initialize(shape, dtype=dtype):
        fan_in, fan_out = (float(fan) for fan in fans(shape))
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2}
        if uniform:
            limit = math.sqrt(3.0 * factor / n[mode])
            return draw("uniform", shape, -limit, limit, dtype, seed)
        stddev = math.sqrt(1.3 * factor / n[mode])
        return draw("truncated_normal", shape, 0.0, stddev, dtype, seed)

    return initialize


def contrib_xavier(uniform=True, seed=None, dtype=tf.float32):
    """`tf.contrib.layers.xavier_initializer`, the default of contrib's layers.

    With `uniform` it is Glorot's uniform initializer. Otherwise it draws from a normal
    distribution of variance 2.6 / (fan_in + fan_out) that is cut off at two standard
    deviations, which leaves a variance of about 2 / (fan_in + fan_out).

    Args:
        uniform: whether to draw from a uniform distribution.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return contrib_variance_scaling(1.0, "FAN_AVG", uniform, seed, dtype)


AttentionWrapperState = collections.namedtuple(
    "AttentionWrapperState",
    ["cell_state", "attention", "time", "alignments", "alignment_history"],
)
"""As in v1, but that `alignments` are a mechanism's state, too."""


class AttentionWrapper(tf.Module):
    """`tf.contrib.seq2seq.AttentionWrapper`: a cell that attends to memories.

        attention = AttentionWrapper(cell, LuongAttention(128), 128)
        outputs, state = rnn.unroll(attention.over(memory, lengths), x)

    Args:
        cell: a cell of `v2_eager.numerics.rnn`, or a cell with the same methods.
        attention_mechanism: an `Attention`, or a list; with a list, the memories, the
            lengths and `attention_layer_size` are lists, too.
        attention_layer_size: size of the dense layer that computes the attention from
            the cell's output and the context; None: the attention is the context.
        alignment_history: whether the state keeps the alignments of all steps.
        cell_input_fn: function from the inputs and the last attention to the inputs of
            the cell; None concatenates them.
        output_attention: whether a step outputs the attention; if not, it outputs the
            cell's output.
        name: prefix of the names of the attention layers' variables.
        initializer: initializer of the attention layers' kernels; None for
            `glorot_uniform`.

    Raises:
        ValueError: `attention_layer_size` does not have one size for each mechanism.
    """

    def __init__(
        self,
        cell,
        attention_mechanism,
        attention_layer_size=None,
        alignment_history=False,
        cell_input_fn=None,
        output_attention=True,
        name="attention_wrapper",
        initializer=None,
    ):
        super().__init__()
        self.several = isinstance(attention_mechanism, (list, tuple))
        self.mechanisms = self.listed(attention_mechanism)
        self.layer_sizes = self.listed(attention_layer_size)
        if attention_layer_size is None:
            self.layer_sizes = [None] * len(self.mechanisms)
        if len(self.layer_sizes) != len(self.mechanisms):
            raise ValueError(
                "attention_layer_size must contain exactly one integer per "
                f"attention_mechanism: {len(self.layer_sizes)} vs "
                f"{len(self.mechanisms)}"
            )
        self.cell, self.path, self.layers = cell, name, None
        self.alignment_history, self.output_attention = (
            alignment_history,
            output_attention,
        )
        self.cell_input_fn = cell_input_fn or (lambda *parts: tf.concat(parts, 1))
        self.initializer = initializer or glorot_uniform()

    def listed(self, item):
        return list(item) if self.several else [item]

    def item(self, items):
        return tuple(items) if self.several else items[0]

    def over(self, memory, lengths=None):
        """Returns a cell that attends to the memories of one batch.

        Args:
            memory: [batch, time, size] float tensor.
            lengths: [batch] int tensor, or None.

        Returns:
            An `AttentiveCell`.

        Raises:
            The errors of `Attention.remember`.
        """
        if lengths is None:
            lengths = [None] * len(self.mechanisms) if self.several else None
        parts = zip(self.mechanisms, self.listed(memory), self.listed(lengths))
        return AttentiveCell(self, [one.remember(*rest) for one, *rest in parts])

    def attention_size(self, sizes):
        """Returns the size of the attention for memories of these sizes."""
        return sum(layer or size for layer, size in zip(self.layer_sizes, sizes))

    def build(self, depth, sizes, dtype):
        """Makes the variables, once, for inputs and memories of these sizes."""
        if self.layers is not None:
            return
        units = self.cell.output_size
        # Outside of a traced function; no outer scope becomes a prefix of the names.
        with tf.init_scope(), tf.name_scope(""):
            seen = tf.ones([1, self.attention_size(sizes)], dtype)
            both = self.cell_input_fn(tf.ones([1, depth], dtype), seen)
            self.cell.build(both.shape[1], dtype)
            for mechanism, size in zip(self.mechanisms, sizes):
                mechanism.build(units, size, dtype)
            self.layers = [
                layer and self.kernel(i, [units + size, layer], dtype)
                for i, (layer, size) in enumerate(zip(self.layer_sizes, sizes))
            ]

    def kernel(self, i, shape, dtype):
        path = f"{self.path}/attention_layer" + (f"_{i}" if i else "")
        return tf.Variable(self.initializer(shape, dtype), name=f"{path}/kernel")


class AttentiveCell:
    """An `AttentionWrapper` with the memories of one batch: the cell of a loop.

    Its state is an `AttentionWrapperState`; `state._replace(cell_state=…)` sets the
    cell's first state. `AttentionWrapper.over` makes an `AttentiveCell`.

    Args:
        wrapper: the `AttentionWrapper`, which has the variables.
        memories: list of `Memory`, one for each mechanism.
    """

    def __init__(self, wrapper, memories):
        self.wrapper, self.memories = wrapper, memories
        self.sizes = [memory.values.shape[2] for memory in memories]
        self.attention_size = wrapper.attention_size(self.sizes)
        self.output_size = (
            self.attention_size
            if wrapper.output_attention
            else wrapper.cell.output_size
        )

    def build(self, depth, dtype):
        self.wrapper.build(depth, self.sizes, dtype)

    def begin(self, depth, dtype):
        self.wrapper.cell.begin(depth + self.attention_size, dtype)

    def zero_state(self, batch, dtype):
        """Returns the state before the first step.

        Raises:
            tf.errors.InvalidArgumentError: a memory has another batch size.
        """
        wrapper, histories = self.wrapper, []
        for memory in self.memories:
            rows = memory.values.shape[0] or tf.shape(memory.values)[0]
            message = "Non-matching batch sizes between the memory and the state"
            tf.debugging.assert_equal(rows, batch, message)
            shape = memory.values.shape[:2]
            histories.append(
                tf.TensorArray(dtype, 0, dynamic_size=True, element_shape=shape)
                if wrapper.alignment_history
                else ()
            )
        pairs = zip(wrapper.mechanisms, self.memories)
        return AttentionWrapperState(
            cell_state=wrapper.cell.zero_state(batch, dtype),
            attention=tf.zeros([batch, self.attention_size], dtype),
            time=tf.constant(0),
            alignments=wrapper.item([one.initial_alignments(m) for one, m in pairs]),
            alignment_history=wrapper.item(histories),
        )

    def __call__(self, x, state):
        wrapper = self.wrapper
        inputs = wrapper.cell_input_fn(x, state.attention)
        output, cell_state = wrapper.cell(inputs, state.cell_state)
        seen, alignments, histories = [], [], []
        for mechanism, layer, memory, previous, history in zip(
            wrapper.mechanisms,
            wrapper.layers,
            self.memories,
            wrapper.listed(state.alignments),
            wrapper.listed(state.alignment_history),
        ):
            alignment = mechanism(output, memory, previous)
            context = tf.matmul(alignment[:, tf.newaxis], memory.values)
            context = tf.squeeze(context, 1)
            if layer is not None:
                context = tf.matmul(tf.concat([output, context], 1), layer)
            if wrapper.alignment_history:
                history = history.write(state.time, alignment)
            seen.append(context)
            alignments.append(alignment)
            histories.append(history)
        attention = tf.concat(seen, 1)
        state = AttentionWrapperState(
            cell_state,
            attention,
            state.time + 1,
            wrapper.item(alignments),
            wrapper.item(histories),
        )
        return attention if wrapper.output_attention else output, state


class Memory(typing.NamedTuple):
    """A memory as a mechanism reads it in every step; `remember` computes it once.

    Attributes:
        keys: [batch, time, num_units] tensor, which a query is compared with.
        values: [batch, time, size] tensor, zero past the end.
        mask: [batch, time] bool tensor, False past the end, or None without lengths.
    """

    keys: tf.Tensor
    values: tf.Tensor
    mask: tf.Tensor | None


class Attention(tf.Module):
    """Base class of mechanisms; a subclass defines `score` and `make_variables`.

    A call takes a query, [batch, depth], a `Memory` from `remember` of the same
    mechanism, and the previous alignments. It returns the alignments, [batch, time].

    `keras.layers.Attention` scores by dot products, without kernels, and keeps no
    memory between calls.

    Args:
        num_units: size of the keys.
        name: prefix of the names of its variables.
        memory_layer: prefix of the name of the keys' kernel.
        probability_fn: function from scores to alignments: `tf.nn.softmax`, `hardmax`.
        score_mask_value: the score past the end.
        initializer: initializer of the kernels; None for `glorot_uniform`, as in v1.
    """

    def __init__(
        self,
        num_units,
        name,
        memory_layer="memory_layer",
        probability_fn=tf.nn.softmax,
        score_mask_value=-np.inf,
        initializer=None,
    ):
        super().__init__()
        self.num_units, self.path, self.memory_path = num_units, name, memory_layer
        self.probability_fn, self.score_mask_value = probability_fn, score_mask_value
        self.initializer = initializer or glorot_uniform()
        self.memory_kernel, self.built = None, False

    def variable(self, path, shape, dtype, initializer=None):
        initializer = initializer or self.initializer
        # Outside of a traced function; no outer scope becomes a prefix of the names.
        with tf.init_scope(), tf.name_scope(""):
            return tf.Variable(initializer(shape, dtype), name=path)

    def build(self, depth, size, dtype):
        """Makes the variables, once, for queries and memories of these sizes."""
        self.build_keys(size, dtype)
        if not self.built:
            self.make_variables(depth, dtype)
            self.built = True

    def build_keys(self, size, dtype):
        """Makes the kernel of the keys, once, for memories of this size."""
        if self.memory_kernel is None:
            path, shape = f"{self.memory_path}/kernel", [size, self.num_units]
            self.memory_kernel = self.variable(path, shape, dtype)

    def remember(self, memory, lengths=None):
        """Computes the keys of a memory, and sets the memory to zero past the end.

        Args:
            memory: [batch, time, size] float tensor.
            lengths: [batch] int tensor, or None if all sequences have the full length.

        Returns:
            A `Memory`.

        Raises:
            ValueError: the size is unknown.
            tf.errors.InvalidArgumentError: on a CPU: a length is not positive.
        """
        size, mask = memory.shape[2], None
        if size is None:
            raise ValueError("Expected memory to have fully defined inner dims")
        self.build_keys(size, memory.dtype)
        if lengths is not None:
            message = "All values in memory_sequence_length must be greater than zero."
            tf.debugging.assert_positive(lengths, message)
            mask = tf.sequence_mask(lengths, tf.shape(memory)[1])
            memory *= tf.cast(mask, memory.dtype)[:, :, tf.newaxis]
        return Memory(tf.tensordot(memory, self.memory_kernel, 1), memory, mask)

    def initial_alignments(self, memory):
        """Returns the alignments before the first step: all zeros."""
        return tf.zeros_like(memory.values[:, :, 0])

    def __call__(self, query, memory, previous=None):
        self.build(query.shape[1], memory.values.shape[2], query.dtype)
        scores = self.score(query, memory.keys)
        if memory.mask is not None:
            past = tf.constant(self.score_mask_value, scores.dtype)
            scores = tf.where(memory.mask, scores, past)
        return self.align(scores, previous)

    def align(self, scores, previous):
        del previous
        return self.probability_fn(scores)


class LuongAttention(Attention):
    """`tf.contrib.seq2seq.LuongAttention`: the score is query · keys.

    Args:
        num_units: size of the keys, which must be the query's depth.
        scale: whether the scores are multiplied by a variable, g.
        name: prefix of the names of the variables.
        **options: keyword arguments of `Attention`.

    Raises:
        ValueError: when the variables are made: the query's depth is not `num_units`.
    """

    def __init__(self, num_units, scale=False, name="luong_attention", **options):
        super().__init__(num_units, name, **options)
        self.scale = scale

    def make_variables(self, depth, dtype):
        if depth != self.num_units:
            raise ValueError(
                "Incompatible or unknown inner dimensions between query and keys: "
                f"{depth} and {self.num_units}. num_units must be the query's depth."
            )
        if self.scale:
            self.g = self.variable(f"{self.path}/attention_g", [], dtype, tf.ones)

    def score(self, query, keys):
        product = tf.matmul(query[:, tf.newaxis], keys, transpose_b=True)
        scores = tf.squeeze(product, 1)
        return self.g * scores if self.scale else scores


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


def variable_of_replicas(value, name):
    """Makes a variable that each replica updates alone; its value is their mean.

    If it is read outside of `strategy.run`, its value is the mean over all replicas.
    Without a strategy it is an ordinary variable that is not trained.

    Args:
        value: initial value, a float tensor.
        name: name of the variable.

    Returns:
        A `tf.Variable`.
    """
    return tf.Variable(
        value,
        trainable=False,
        name=name,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.MEAN,
    )


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


def ranked(x):
    """Converts x to a tensor, and returns it with its rank.

    Args:
        x: tensor, or a value that can be converted to one.

    Returns:
        (tensor, rank).

    Raises:
        ValueError: the rank is unknown.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank is None:
        raise ValueError(f"the inputs have an undefined rank: {x}")
    return x, x.shape.rank


def in_phase(call, phase):
    """Calls a layer in training or inference mode, given as a bool or a bool tensor.

    With a tensor, one trace contains both modes, in a `tf.cond`, as `smart_cond` of
    TensorFlow 1 did for a placeholder.

    Args:
        call: function of a Python bool; it makes no variables.
        phase: Python bool, or a bool or integer scalar tensor.

    Returns:
        The result of `call`.
    """
    if not tf.is_tensor(phase):
        return call(phase)
    phase = tf.cast(phase, tf.bool)
    return tf.cond(phase, lambda: call(True), lambda: call(False))


class BatchNorm(tf.Module):
    """`tf.layers.batch_normalization`; a training call updates the moving statistics.

    Args:
        momentum: share of the moving statistics that an update keeps.
        epsilon: added to the variance; the fused kernel uses at least 1.001e-5.
        center: whether to add `beta`.
        scale: whether to multiply by `gamma`.
        fused: whether to use the fused kernel if x has four dimensions; then the moving
            variance follows the unbiased variance. None, as in v1, means True.
        update: whether a training call updates the moving statistics. In v1 they were
            updated only if the program ran the ops in the collection `UPDATE_OPS`.
        name: prefix of the names of the variables `gamma`, `beta`, `moving_mean`,
            `moving_variance`.
    """

    def __init__(
        self,
        momentum=0.99,
        epsilon=0.001,
        center=True,
        scale=True,
        fused=None,
        update=True,
        name="batch_normalization",
    ):
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale = center, scale
        self.fused, self.update, self.path = fused is not False, update, name
        self.gamma = self.beta = self.moving_mean = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.moving_mean is not None

    def build(self, channels, dtype):
        """Makes the variables once; for 16-bit inputs they are float32."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension (channels) must be defined")
        dtype = tf.float32 if dtype.size == 2 else dtype

        zeros, ones = tf.zeros([channels], dtype), tf.ones([channels], dtype)
        path = self.path
        with tf.name_scope(""):  # an outer scope does not change the names
            if self.scale:
                self.gamma = tf.Variable(ones, name=f"{path}/gamma")
            if self.center:
                self.beta = tf.Variable(zeros, name=f"{path}/beta")
            self.moving_mean = variable_of_replicas(zeros, f"{path}/moving_mean")
            self.moving_variance = variable_of_replicas(ones, f"{path}/moving_variance")

    def __call__(self, x, training):
        """Normalizes x by its batch statistics or by the moving statistics.

        Args:
            x: [..., channels] float tensor.
            training: bool; True: use the batch's mean and variance, False: use the
                moving statistics. A `tf.function` makes one trace for each Python bool;
                with a bool tensor, one trace contains both.

        Returns:
            Tensor of the shape and dtype of x.

        Raises:
            ValueError: the rank or the number of channels is unknown.
            TypeError: the fused kernel is used with float64.
        """
        x, rank = ranked(x)
        self.build(x.shape[-1], x.dtype)
        if tf.is_tensor(training):
            return in_phase(lambda phase: self(x, phase), training)
        # --- normalize
        fused = self.fused and rank == 4
        normalize = self.normalize_fused if fused else self.normalize
        y, mean, variance = normalize(x, training)
        # --- update
        if training and self.update:
            # v1 used float32 for every dtype of x; the fused path rounds elsewhere.
            momentum = tf.constant(self.momentum) if fused else self.momentum
            assign_moving_average(self.moving_mean, mean, momentum)
            assign_moving_average(self.moving_variance, variance, momentum)
        return y

    def normalize(self, x, training):
        mean, variance = self.moving_mean, self.moving_variance
        if training:
            # As tf.nn.moments, plus an identity: x gets three gradients, and their sum
            # has v1's bits only if the gradient of the mean is added last.
            wide = tf.cast(x, mean.dtype)
            axes = list(range(x.shape.rank - 1))
            mean = tf.reduce_mean(wide, axes)
            x, wide = (tf.identity(x),) * 2 if wide is x else (x, wide)
            squares = tf.math.squared_difference(wide, tf.stop_gradient(mean))
            variance = tf.reduce_mean(squares, axes)
        numbers = mean, variance, self.beta, self.gamma
        numbers = [n if n is None else tf.cast(n, x.dtype) for n in numbers]
        y = tf.nn.batch_normalization(x, *numbers, self.epsilon)
        return y, mean, variance

    def normalize_fused(self, x, training):
        """Normalizes with the fused kernel, which returns the unbiased variance."""
        ones, zeros = tf.ones_like(self.moving_mean), tf.zeros_like(self.moving_mean)
        # The public tf.nn.moments and tf.nn.batch_normalization would round differently
        # and give the biased variance.
        return tf.raw_ops.FusedBatchNormV3(
            x=x,
            scale=ones if self.gamma is None else self.gamma,
            offset=zeros if self.beta is None else self.beta,
            mean=[] if training else self.moving_mean,
            variance=[] if training else self.moving_variance,
            epsilon=max(self.epsilon, 1.001e-5),  # 1.15 did the same
            is_training=training,
        )[:3]


class Layer(tf.Module):
    """The base class of layers: weights, then a normalizer or biases, then activation.

    `build` or the first call makes the variables: `weights` by the initializer (Xavier
    by default), `biases` as zeros.

    It is not a `keras.layers.Layer`, which has no normalizer. Its variables are called
    `weights` and `biases`.

    Args:
        path: scope of the variables.
        units: size of the last axis of the output.
        activation: function, or None; the default is tf.nn.relu, as in contrib.
        normalizer: layer that replaces the biases, or None.
        biases: whether to add biases if there is no normalizer.
        seed: seed of the Xavier initializer.
        initializer: function from a shape and a dtype to the weights; it replaces the
            Xavier initializer and its seed.
        trainable: whether the weights and biases are trainable.
    """

    def __init__(
        self,
        path,
        units,
        activation=tf.nn.relu,
        normalizer=None,
        biases=True,
        seed=1,
        initializer=None,
        trainable=True,
    ):
        super().__init__()
        self.path, self.units, self.activation = path, units, activation
        self.normalizer, self.trainable = normalizer, trainable
        self.draw = initializer or contrib_xavier(seed=seed)
        self.has_biases = biases and normalizer is None
        self.weights = self.biases = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.weights is not None

    def build(self, channels, dtype):
        """Makes the variables once, for inputs with this number of channels."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension (channels) must be defined")
        with tf.name_scope(""):  # an outer scope does not change the names
            self.make_weights(channels, dtype)
            if self.has_biases:
                zeros = tf.zeros([self.units], dtype)
                name = f"{self.path}/biases"
                self.biases = tf.Variable(zeros, self.trainable, name=name)

    def make_weights(self, channels, dtype):
        self.weights = self.drawn("weights", self.shape(channels), dtype)

    def drawn(self, name, shape, dtype):
        name = f"{self.path}/{name}"
        return tf.Variable(lambda: self.draw(shape, dtype), self.trainable, name=name)

    def __call__(self, x, **options):
        """Applies the layer; options such as is_training go to the normalizer."""
        x = tf.convert_to_tensor(x)
        self.check_rank(x.shape.rank)
        self.build(x.shape[-1], x.dtype)
        y = self.product(x)
        if self.normalizer is not None:
            y = self.normalizer(y, **options)
        if self.has_biases:
            y = tf.nn.bias_add(y, self.biases)
        return self.activation(y) if self.activation else y


class FullyConnected(Layer):
    """`tf.contrib.layers.fully_connected`: a dense layer on the last axis, with ReLU.

    A call takes [..., channels] floats of rank 2 or more and returns [..., units]. For
    the arguments see `Layer`.
    """

    def check_rank(self, rank):
        if rank is None or rank < 2:
            raise ValueError(f"expected min_ndim=2, found ndim={rank}")

    def shape(self, channels):
        return [channels, self.units]

    def product(self, x):
        return tf.tensordot(x, self.weights, 1)


class Image(Layer):
    """The base class of the convolutions."""

    def check_rank(self, rank):
        if rank != 4:
            raise ValueError(f"expected ndim=4, found ndim={rank}")


class Conv2D(Image):
    """`tf.contrib.layers.conv2d`: by default with SAME padding and ReLU.

    A call takes [batch, height, width, channels] floats and returns [batch, new height,
    new width, units].

    `keras.layers.Conv2D` has "valid" padding and no activation by default.

    Args:
        path: see `Layer`.
        units: see `Layer`.
        size: [height, width] of the kernel, or one number for both.
        stride: [down, right] or one number for both; must be 1 if there is a rate.
        padding: "SAME" or "VALID".
        rate: dilation, [down, right] or one number for both.
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: the input does not have four dimensions,
            or the number of channels is unknown.
    """

    def __init__(self, path, units, size, stride=1, padding="SAME", rate=1, **others):
        super().__init__(path, units, **others)
        self.size, self.padding = pair(size), checked(padding)
        self.stride, self.rate = stride, rate

    def shape(self, channels):
        return [*self.size, channels, self.units]

    def product(self, x):
        # On a CPU, tf.nn.conv2d has no gradient for a dilated convolution.
        return tf.nn.convolution(
            x, self.weights, self.stride, self.padding, None, self.rate
        )


def pair(size):
    """Converts one number, or a pair, to the list [down, right].

    Args:
        size: an int, or a sequence of two ints.

    Returns:
        List of two ints.
    """
    return [size, size] if isinstance(size, int) else list(size)


def checked(padding):
    """Returns the padding if it is "SAME" or "VALID"; raises otherwise.

    Args:
        padding: a string.

    Raises:
        ValueError: the padding is not "SAME" or "VALID".
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be SAME or VALID, not {padding!r}")
    return padding


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


def float32_pair(labels, predictions):
    """Casts labels and predictions to float32, and checks that their shapes agree.

    Args:
        labels: tensor of numbers.
        predictions: tensor of the same shape.

    Returns:
        (labels, predictions).

    Raises:
        ValueError: the static shapes differ.
    """
    labels = tf.cast(labels, tf.float32)
    predictions = tf.cast(predictions, tf.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def mean_squared_error(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Computes the mean of (predictions - labels) ** 2.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor of the shape of `predictions`.

    Raises:
        ValueError: the static shapes differ, such as [n] and [n, 1].
    """
    labels, predictions = float32_pair(labels, predictions)
    losses = tf.math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, reduction)


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


class Metric(tf.Module):
    """The base class of metrics: `sums` is a dict of variables that begin at zero.

    A subclass defines `update_state`, which calls `add`, and `result`.

    It is not a `keras.metrics.Metric`: a `tf.Module` does not find the variables of
    Keras metrics.

    Args:
        shapes: {name of a sum: shape}.
        dtype: dtype of the sums.
    """

    def __init__(self, shapes, dtype=tf.float32):
        super().__init__()
        self.sums = {
            name: tf.Variable(
                tf.zeros(shape, dtype),
                trainable=False,
                name=name,
                # As in v1: each replica adds to its own sum; a result adds these up.
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for name, shape in shapes.items()
        }

    def add(self, **amounts):
        """Adds amounts to the sums of these names."""
        for name, amount in amounts.items():
            self.sums[name].assign_add(amount)

    def reset_state(self):
        """Sets all sums to zero."""
        for variable in self.sums.values():
            variable.assign(tf.zeros_like(variable))


def aligned(labels, predictions, weights=None):
    """Removes or adds a last dimension of 1, so that all three have the same rank.

    If a rank is unknown, the tensors remain as they are.

    Args:
        labels: tensor.
        predictions: tensor of the labels' shape, or with a last dimension of 1 more or
            less.
        weights: tensor of rank 0 or of such a shape, or None.

    Returns:
        (labels, predictions, weights), tensors; weights may be None.

    Raises:
        ValueError: the shapes of labels and predictions do not match.
    """
    labels, predictions = (
        tf.convert_to_tensor(labels),
        tf.convert_to_tensor(predictions),
    )
    given = labels
    labels = _without_column(labels, predictions)
    predictions = _without_column(predictions, given)
    labels.shape.assert_is_compatible_with(predictions.shape)
    if weights is not None:
        weights = tf.convert_to_tensor(weights)
        if weights.shape.rank != 0:
            weights = _without_column(weights, predictions)
            weights = _with_column(weights, predictions)
    return labels, predictions, weights


def _without_column(x, other):
    """Removes the last dimension of `x` if `x` has one dimension more than `other`."""
    surplus = _surplus(x, other)
    if surplus is None:
        kept = tf.rank(x) - tf.cast(tf.rank(x) - tf.rank(other) == 1, tf.int32)
        return tf.reshape(x, tf.shape(x)[:kept])  # raises if that dimension is not 1
    return tf.squeeze(x, [-1]) if surplus == 1 else x


def _with_column(x, other):
    """Adds a last dimension to `x` if `other` has one more and `x` is not a scalar."""
    surplus = _surplus(x, other)
    if surplus is None:
        more = (tf.rank(x) - tf.rank(other) == -1) & (tf.rank(x) > 0)
        ones = tf.ones([tf.cast(more, tf.int32)], tf.int32)
        return tf.reshape(x, tf.concat([tf.shape(x), ones], 0))
    return x[..., None] if surplus == -1 else x


def _surplus(x, other):
    """Returns how many more dimensions `x` has than `other`; None if not known."""
    if None not in (x.shape.rank, other.shape.rank):
        return x.shape.rank - other.shape.rank


def broadcast_weights(weights, values, dtype=tf.float32):
    """Broadcasts weights to the shape of `values`; their ranks must be equal.

    Args:
        weights: number, or tensor of the rank of `values`.
        values: tensor.
        dtype: dtype of the result.

    Returns:
        Tensor of the shape of `values`.

    Raises:
        ValueError: weights of another rank.
    """
    weights = tf.cast(weights, dtype)
    if weights.shape.rank != 0 and _surplus(weights, values) not in (0, None):
        shapes = f"{weights.shape} and {values.shape}"
        raise ValueError(f"weights can not be broadcast to values: {shapes}")
    return tf.broadcast_to(weights, tf.shape(values))


class Mean(Metric):
    """`tf.metrics.mean`: the weighted mean of all values.

        result = sum(values * weights) / sum(weights)

    Most metrics are subclasses of it. `keras.metrics.Mean` has one sum and one count,
    whatever the shape of the values is.

    Args:
        shape: shape of the sums; () for a scalar.
    """

    def __init__(self, shape=()):
        super().__init__({"total": shape, "count": shape})

    def update_state(self, values, weights=None):
        """Adds values to the mean.

        Args:
            values: tensor of any shape and numeric or bool dtype.
            weights: None, a scalar, or a tensor of the values' rank that broadcasts to
                them.
        """
        _, values, weights = aligned(values, values, weights)
        values = tf.cast(values, tf.float32)
        counts = tf.ones_like(values)
        if weights is not None:
            counts = broadcast_weights(weights, values)
            values *= counts
        if not self.sums["total"].shape.rank:  # else each element has its own sum
            values, counts = tf.reduce_sum(values), tf.reduce_sum(counts)
        self.add(total=values, count=counts)

    def result(self):
        """Returns the metric so far; 0 if nothing was added."""
        total, count = self.sums["total"], self.sums["count"]
        return tf.math.divide_no_nan(total, tf.maximum(count, 0))


class Accuracy(Mean):
    """`tf.metrics.accuracy`: the share of predictions that equal their label.

    Predictions are cast to the labels' dtype. `keras.metrics.Accuracy` does not cast
    them: then 2.5 does not equal 2.
    """

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        right = tf.equal(tf.cast(predictions, labels.dtype), labels)
        super().update_state(right, weights)


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


def positive(value, name):
    """Returns a positive value, else raises ValueError: kernels divide by its root."""
    if value <= 0:
        raise ValueError(f"{name} must be positive: {value}")
    return value


class Adagrad(Optimizer):
    """`tf.train.AdagradOptimizer` (slot "accumulator", the sum of squared gradients).

    accumulator += gradient ** 2; variable -= learning_rate * gradient /
    sqrt(accumulator): Duchi, Hazan and Singer, 2011. There is no epsilon.

    `keras.optimizers.Adagrad` adds an epsilon of 1e-7 under the root.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        initial_accumulator_value: positive number, the initial value of the sums.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slot's name: `w/name` for the variable `w`.

    Raises:
        ValueError: the initial value is not positive.
    """

    kernel = "Adagrad"

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        use_locking=False,
        name="Adagrad",
    ):
        initial = positive(initial_accumulator_value, "initial_accumulator_value")
        super().__init__(
            name,
            [("accumulator", "accum", initial)],
            {"use_locking": use_locking},
            lr=learning_rate,
        )


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


class GradientDescent(Optimizer):
    """`tf.train.GradientDescentOptimizer`: variable -= learning_rate * gradient.

    A sparse gradient is not summed first: a row that it contains twice takes two steps.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: not used, because there are no slots.
    """

    kernel = "GradientDescent"
    gradient = "delta"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        options = {"use_locking": use_locking}
        super().__init__(name, options=options, alpha=learning_rate)

    def update_rows(self, variable, slots, gradient, numbers):
        # Not summed first: a row that the gradient contains twice takes two steps.
        values = gradient.values * numbers["alpha"]
        variable.scatter_sub(tf.IndexedSlices(values, gradient.indices))


class Momentum(Optimizer):
    """`tf.train.MomentumOptimizer`, optionally with Nesterov (slot "momentum").

    accumulator = momentum * accumulator + gradient;
    variable -= learning_rate * accumulator. With `use_nesterov`, variable -=
    learning_rate * (gradient + momentum * accumulator): Sutskever et al., 2013.

    Args:
        learning_rate, momentum: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slot's name: `w/name` for the variable `w`.
        use_nesterov: whether to use Nesterov's step, which looks one step ahead.
    """

    kernel = "Momentum"

    def __init__(
        self,
        learning_rate,
        momentum,
        use_locking=False,
        name="Momentum",
        use_nesterov=False,
    ):
        super().__init__(
            name,
            [("momentum", "accum", 0)],
            {"use_locking": use_locking, "use_nesterov": use_nesterov},
            lr=learning_rate,
            momentum=momentum,
        )


def by_name(path, variables):
    """Restores variables by name, as `tf.train.Saver(…).restore(sess, path)` did.

    It reads and compares everything before the first assignment: if it raises an error,
    no variable has changed.

    Args:
        path: prefix of a checkpoint, such as "model.ckpt-1000".
        variables: {name in the checkpoint: variable}; see `named`.

    Raises:
        tf.errors.NotFoundError: the checkpoint does not contain a name, or does not
            exist.
        tf.errors.InvalidArgumentError: an entry has another dtype than its variable.
        ValueError: an entry has another shape than its variable.
    """
    # tf.train.load_checkpoint would accept any dtype, and assign would cast it.
    values = tf.raw_ops.RestoreV2(
        prefix=path,
        tensor_names=list(variables),
        shape_and_slices=[""] * len(variables),
        dtypes=[variable.dtype for variable in variables.values()],
    )
    for (name, variable), value in zip(variables.items(), values):
        if not value.shape.is_compatible_with(variable.shape):
            shapes = f"shape {value.shape} in the checkpoint, not {variable.shape}"
            raise ValueError(f"{name} has the {shapes}")
    for variable, value in zip(variables.values(), values):
        variable.assign(value)


def save(path, variables):
    """Saves variables by name, as `tf.train.Saver(…).save(sess, path)` did.

    It does not write the file `checkpoint`, which lists the checkpoints of a folder.

    Args:
        path: prefix of the files to write.
        variables: {name: variable, tensor or array}; see `named`.
    """
    names = sorted(variables)  # the order of a Saver, so the files have the same bytes
    # tf.train.Checkpoint would write paths of objects, and the graph of objects.
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.convert_to_tensor(variables[name]) for name in names],
    )


LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


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


class BasicLSTMCell(Cell):
    """`tf.nn.rnn_cell.BasicLSTMCell`: an LSTM, with gates in the order i, j, f, o.

        c = c * sigmoid(f + forget_bias) + sigmoid(i) * activation(j)
        h = activation(c) * sigmoid(o)

    The state is an `LSTMStateTuple` (c, h); the output is h.

    Args:
        num_units: size of c and h.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        activation: activation function of j and of c.
        name: scope of the variables `kernel`, [depth + num_units, 4 * num_units], and
            `bias`.
        initializer: initializer of the kernel; see `Cell`.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        activation=tf.tanh,
        name="basic_lstm_cell",
        initializer=None,
    ):
        super().__init__(num_units, name, initializer)
        self.forget_bias, self.activation = forget_bias, activation

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("kernel", [depth + self.output_size, 4 * n], dtype)
        self.bias = self.variable("bias", [4 * n], dtype, tf.zeros)

    def zero_state(self, batch, dtype):
        sizes = self.num_units, self.output_size
        return LSTMStateTuple(*[tf.zeros([batch, size], dtype) for size in sizes])

    def __call__(self, x, state):
        c, h = state
        # Input gate, new input, forget gate, output gate.
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        kept = c * tf.sigmoid(f + self.forget_bias)
        c = kept + tf.sigmoid(i) * self.activation(j)
        h = self.activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class LSTMCell(BasicLSTMCell):
    """`tf.nn.rnn_cell.LSTMCell`: an LSTM with optional peepholes, projection, clipping.

    `keras.layers.LSTMCell` has neither peepholes nor a projection, has another order of
    the gates, and has two kernels.

    Args:
        num_units: size of c.
        use_peepholes: whether the gates also read c.
        cell_clip: largest magnitude of c, or None.
        initializer: initializer of the kernels and the peepholes; see `Cell`.
        num_proj: size of h and of the outputs if it differs from `num_units`.
        proj_clip: largest magnitude of the projected h, or None.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        activation: activation function of the new input and of c.
        name: scope of the variables `kernel`, `bias`, `w_f_diag`, `w_i_diag`,
            `w_o_diag` and `projection/kernel`.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        forget_bias=1.0,
        activation=tf.tanh,
        name="lstm_cell",
    ):
        super().__init__(num_units, forget_bias, activation, name, initializer)
        self.use_peepholes, self.cell_clip = use_peepholes, cell_clip
        self.num_proj, self.proj_clip = num_proj, proj_clip
        self.output_size = num_proj or num_units

    def make_variables(self, depth, dtype):
        super().make_variables(depth, dtype)
        n = self.num_units
        if self.use_peepholes:
            self.w_f, self.w_i, self.w_o = [
                self.variable(f"w_{gate}_diag", [n], dtype) for gate in "fio"
            ]
        if self.num_proj:
            self.projection = self.variable(
                "projection/kernel", [n, self.num_proj], dtype
            )

    def clipped(self, c):
        if self.cell_clip is None:
            return c
        return tf.clip_by_value(c, -self.cell_clip, self.cell_clip)

    def __call__(self, x, state):
        c, h = state
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        f = f + self.forget_bias
        if self.use_peepholes:
            f, i = f + self.w_f * c, i + self.w_i * c
        c = self.clipped(tf.sigmoid(f) * c + tf.sigmoid(i) * self.activation(j))
        if self.use_peepholes:
            o = o + self.w_o * c  # the new c
        h = tf.sigmoid(o) * self.activation(c)
        if self.num_proj:
            h = tf.matmul(h, self.projection)
            if self.proj_clip is not None:
                h = tf.clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h)


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


BasicDecoderOutput = collections.namedtuple(
    "BasicDecoderOutput", ["rnn_output", "sample_id"]
)


class BasicDecoder:
    """`tf.contrib.seq2seq.BasicDecoder`: a cell whose inputs come from a helper.

    It contains tensors: make it in the function that decodes.

    Args:
        cell: a cell of `v2_eager.numerics.rnn`, or an `AttentiveCell`.
        helper: a `Helper`.
        initial_state: initial state of the cell.
        output_layer: a `Dense`, another layer with `units` and `build`, or None.
    """

    tracks_own_finished = False

    def __init__(self, cell, helper, initial_state, output_layer=None):
        self.cell, self.helper, self.output_layer = cell, helper, output_layer
        self.initial_state = initial_state

    def initialize(self):
        """Builds the cell and the layer; returns (finished, first inputs, state)."""
        finished, inputs = self.helper.initialize()
        depth, dtype = inputs.shape[1], inputs.dtype
        size, layer, helper = self.cell.output_size, self.output_layer, self.helper
        with tf.init_scope():  # not in the loop, whose scope the variables would get
            self.cell.build(depth, dtype)
            if layer is not None:
                layer.build(size, dtype)
                size = layer.units
        self.cell.begin(depth, dtype)
        self.specs = BasicDecoderOutput(
            tf.TensorSpec([None, size], dtype),
            tf.TensorSpec([None, *helper.sample_ids_shape], helper.sample_ids_dtype),
        )
        return finished, inputs, self.initial_state

    def step(self, time, inputs, state):
        """Decodes one step; returns (outputs, state, next inputs, finished)."""
        outputs, state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        ids = self.helper.sample(time, outputs, state)
        finished, inputs, state = self.helper.next_inputs(time, outputs, state, ids)
        return BasicDecoderOutput(outputs, ids), state, inputs, finished

    def finalize(self, outputs, state):
        """Returns (outputs, state); `dynamic_decode` calls it after the last step."""
        return outputs, state


class Dense(tf.Module):
    """`tf.layers.Dense` for matrices: x W + b; the variables are made once.

    A `tf.Module` does not find the variables of a `keras.layers.Dense`.

    Args:
        units: size of the output.
        use_bias: whether to add b.
        name: prefix of the names of `kernel` and `bias`.
        initializer: initializer of the kernel, or None for v1's default,
            `glorot_uniform`.
    """

    def __init__(self, units, use_bias=True, name="dense", initializer=None):
        super().__init__()
        self.units, self.use_bias, self.path = units, use_bias, name
        self.initializer, self.kernel = initializer or glorot_uniform(), None

    def build(self, depth, dtype):
        """Makes the variables once, for inputs of this depth."""
        if self.kernel is not None:
            return
        with tf.name_scope(""):  # an outer scope does not change the names
            kernel = self.initializer([depth, self.units], dtype)
            self.kernel = tf.Variable(kernel, name=f"{self.path}/kernel")
            if self.use_bias:
                zeros = tf.zeros([self.units], dtype)
                self.bias = tf.Variable(zeros, name=f"{self.path}/bias")

    def __call__(self, x):
        y = tf.matmul(x, self.kernel)
        return tf.nn.bias_add(y, self.bias) if self.use_bias else y


def dynamic_decode(
    decoder, output_time_major=False, impute_finished=False, maximum_iterations=None
):
    """`tf.contrib.seq2seq.dynamic_decode`: decodes until all sequences have ended.

    Call it in a `tf.function`; other lengths do not retrace the function.

    Args:
        decoder: a `BasicDecoder`, a `BeamSearchDecoder`, or an object with the same
            methods.
        output_time_major: whether time is the first axis of the outputs.
        impute_finished: whether outputs past a sequence's end are zeros, and the
            sequence's state remains as at the end.
        maximum_iterations: the largest number of steps, an int or a scalar tensor.

    Returns:
        (outputs [batch, time, ...], last state, lengths [batch] int32).
    """
    finished, inputs, state = decoder.initialize()
    if maximum_iterations is not None:
        finished |= maximum_iterations <= 0
    arrays = tf.nest.map_structure(
        lambda spec: tf.TensorArray(
            spec.dtype, 0, dynamic_size=True, element_shape=spec.shape
        ),
        decoder.specs,
    )

    def step(time, arrays, state, inputs, finished, lengths):
        outputs, new_state, inputs, ended = decoder.step(time, inputs, state)
        lengths = tf.where(finished, lengths, time + 1)
        if impute_finished:
            outputs = tf.nest.map_structure(
                lambda new: held(finished, tf.zeros_like(new), new), outputs
            )
            new_state = tf.nest.map_structure(
                lambda old, new: held(finished, old, new), state, new_state
            )
        if not decoder.tracks_own_finished:
            ended |= finished
        arrays = tf.nest.map_structure(
            lambda array, new: array.write(time, new), arrays, outputs
        )
        return time + 1, arrays, new_state, inputs, ended, lengths

    _, arrays, state, _, _, lengths = tf.while_loop(
        lambda time, arrays, state, inputs, finished, *_: ~tf.reduce_all(finished),
        step,
        (
            tf.constant(0),
            arrays,
            state,
            inputs,
            finished,
            tf.zeros_like(finished, tf.int32),
        ),
        parallel_iterations=1,  # else random ops may draw in any order
        maximum_iterations=maximum_iterations,
    )
    outputs = tf.nest.map_structure(lambda array: array.stack(), arrays)
    outputs, state = decoder.finalize(outputs, state)
    if not output_time_major:
        outputs = tf.nest.map_structure(batch_first, outputs)
    return outputs, state, lengths


def held(finished, old, new):
    """Selects `old` where a sequence has finished, else `new`; scalars stay `new`."""
    if isinstance(new, tf.TensorArray) or new.shape.rank == 0:
        return new
    shape = [-1] + [1] * (new.shape.rank - 1)
    return tf.where(tf.reshape(finished, shape), old, new)


def batch_first(x):
    """Transposes [time, batch, ...] to [batch, time, ...]."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])


class Helper:
    """The base class of helpers, including custom helpers.

    A helper has `batch_size`, an int or a scalar tensor, and three methods:

    - `initialize()` returns (finished [batch] bool, first inputs [batch, depth]);
    - `sample(time, outputs, state)` returns the ids, [batch, *sample_ids_shape];
    - `next_inputs(time, outputs, state, sample_ids)` returns (finished, inputs, state).
    """

    sample_ids_shape = ()
    sample_ids_dtype = tf.int32


class GreedyEmbeddingHelper(Helper):
    """`tf.contrib.seq2seq.GreedyEmbeddingHelper`: reads the embedding of the argmax.

    Args:
        embedding: [classes, depth] variable or tensor, or a function of ids.
        start_tokens: [batch] int tensor, the ids of the first inputs.
        end_token: id that ends a sequence.
    """

    def __init__(self, embedding, start_tokens, end_token):
        self.embedding, self.start_tokens = embedding, tf.cast(start_tokens, tf.int32)
        self.end_token, self.batch_size = end_token, tf.shape(start_tokens)[0]

    def embed(self, ids):
        if callable(self.embedding):
            return self.embedding(ids)
        return tf.gather(self.embedding, ids)

    def initialize(self):
        return tf.zeros([self.batch_size], tf.bool), self.embed(self.start_tokens)

    def sample(self, time, outputs, state):
        return tf.argmax(outputs, -1, tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        return sample_ids == self.end_token, self.embed(sample_ids), state
