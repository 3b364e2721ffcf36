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


def truncated_normal(mean=0.0, stddev=1.0, seed=None, dtype=tf.float32):
    """`tf.truncated_normal_initializer`: nothing beyond two deviations.

    Args:
        mean: of the normal distribution.
        stddev: its standard deviation, before it is cut.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """

    def initialize(shape, dtype=dtype):
        return draw("truncated_normal", shape, mean, stddev, dtype, seed)

    return initialize


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


def contrib_variance_scaling(
    factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=tf.float32
):
    """`tf.contrib.layers.variance_scaling_initializer`, which has other numbers.

    Follows `tensorflow/contrib/layers/python/layers/initializers.py` of 1.15.5.

    Args:
        factor: positive number; 2 is He's.
        mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: whether to draw from ±sqrt(3 * factor / n), else a truncated normal
            distribution of deviation sqrt(1.3 * factor / n).
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        TypeError: no such mode.
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

    Uniform, it is Glorot's. Else a normal distribution of variance 2.6 / (fan_in +
    fan_out), of which the cut at two deviations leaves about 2 / (fan_in + fan_out).

    Args:
        uniform: whether to draw from a uniform distribution.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

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
    """`tf.contrib.seq2seq.AttentionWrapper`: a cell that looks at memories.

        attention = AttentionWrapper(cell, LuongAttention(128), 128)
        outputs, state = rnn.unroll(attention.over(memory, lengths), x)

    Args:
        cell: a cell of `v2_eager.numerics.rnn`, or like these.
        attention_mechanism: an `Attention`, or a list, with a list in all places.
        attention_layer_size: size of a layer of the cell's output and what it saw, or
            None for what it saw alone.
        alignment_history: whether the state keeps all alignments.
        cell_input_fn: what the cell reads, of what comes and what was seen last; None
            puts the one behind the other.
        output_attention: whether what was seen is put out, or what the cell puts out.
        name: what the names of the layers' variables begin with.
        initializer: of the layers' kernels, or None for v1's, `glorot_uniform`.

    Raises:
        ValueError: not a size per mechanism.
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
        """The cell that looks at these memories, for one batch.

        Args:
            memory: [batch, time, size] float tensor.
            lengths: [batch] int tensor, or None.

        Returns:
            An `AttentiveCell`.

        Raises:
            As `Attention.remember`.
        """
        if lengths is None:
            lengths = [None] * len(self.mechanisms) if self.several else None
        parts = zip(self.mechanisms, self.listed(memory), self.listed(lengths))
        return AttentiveCell(self, [one.remember(*rest) for one, *rest in parts])

    def attention_size(self, sizes):
        """Size of all that is seen in memories of these sizes."""
        return sum(layer or size for layer, size in zip(self.layer_sizes, sizes))

    def build(self, depth, sizes, dtype):
        """Makes the variables, once: for inputs of a depth, memories of these sizes."""
        if self.layers is not None:
            return
        units = self.cell.output_size
        # In a function what it checks would come before; an outer scope is no name's.
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
    """An `AttentionWrapper` over the memories of a batch: a cell like any other.

    Its state is an `AttentionWrapperState`; `state._replace(cell_state=…)` sets where
    the cell begins. Make it by `AttentionWrapper.over`.

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
        """The state at the beginning.

        Raises:
            tf.errors.InvalidArgumentError: a memory of another batch.
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
    """What a mechanism looks at in every step, made once.

    Attributes:
        keys: [batch, time, num_units] tensor, what a query is compared with.
        values: [batch, time, size] tensor, zero past the end.
        mask: [batch, time] bool tensor, False past the end, or None for no end.
    """

    keys: tf.Tensor
    values: tf.Tensor
    mask: tf.Tensor | None


class Attention(tf.Module):
    """What the mechanisms share; each has a `score`, and variables to `build`.

    A mechanism is called with a query, [batch, depth], a `Memory` of its own, from
    `remember`, and the last alignments, for the alignments, [batch, time].

    `keras.layers.Attention` scores by products, without variables, and remembers no
    memory.

    Args:
        num_units: size of the keys.
        name: what the names of its variables begin with.
        memory_layer: what the name of the keys' kernel begins with.
        probability_fn: makes alignments of scores: `tf.nn.softmax`, `hardmax`.
        score_mask_value: the score past the end.
        initializer: of the kernels, or None for v1's default, `glorot_uniform`.
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
        # In a function what it checks would come before; an outer scope is no name's.
        with tf.init_scope(), tf.name_scope(""):
            return tf.Variable(initializer(shape, dtype), name=path)

    def build(self, depth, size, dtype):
        """Makes the variables, once, for queries of a depth, memories of a size."""
        self.build_keys(size, dtype)
        if not self.built:
            self.make_variables(depth, dtype)
            self.built = True

    def build_keys(self, size, dtype):
        """Makes the kernel of the keys, once."""
        if self.memory_kernel is None:
            path, shape = f"{self.memory_path}/kernel", [size, self.num_units]
            self.memory_kernel = self.variable(path, shape, dtype)

    def remember(self, memory, lengths=None):
        """Makes what the steps look at.

        Args:
            memory: [batch, time, size] float tensor.
            lengths: [batch] int tensor, or None where all sequences fill the time.

        Returns:
            A `Memory`.

        Raises:
            ValueError: the size is unknown.
            tf.errors.InvalidArgumentError: on a CPU: a length that is not positive.
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
        """Where attention is before the first step: nowhere."""
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
    """`tf.contrib.seq2seq.LuongAttention`: query · keys.

    Args:
        num_units: size of the keys, which must be the query's depth.
        scale: whether the scores are multiplied by a variable, g.
        name: what the names of the variables begin with.
        **options: of `Attention`.

    Raises:
        ValueError: when the variables are made: the query has another depth.
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


def variable_of_replicas(value, name):
    """A variable that each replica of a strategy moves by what it alone has seen.

    Read outside of `strategy.run`, it is the mean of all replicas. Without a strategy
    it is like any other that is not trained.

    Args:
        value: initial value, a float tensor.
        name: of the variable.

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


def ranked(x):
    """x as a tensor, and its rank.

    Args:
        x: tensor, or what can be made one.

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
    """Calls a layer for training or for inference, as a bool or a bool tensor says.

    A tensor puts both into one trace, by `tf.cond`, as `smart_cond` of TensorFlow 1 did
    for a placeholder.

    Args:
        call: function of a Python bool, which makes no variables.
        phase: Python bool, or a bool or integer scalar tensor.

    Returns:
        What `call` returns.
    """
    if not tf.is_tensor(phase):
        return call(phase)
    phase = tf.cast(phase, tf.bool)
    return tf.cond(phase, lambda: call(True), lambda: call(False))


class BatchNorm(tf.Module):
    """`tf.layers.batch_normalization`, whose updates nobody has to collect.

    Args:
        momentum: share of the moving statistics that an update keeps.
        epsilon: added to the variance; of the fused kernel 1.001e-5 at least.
        center: whether there is `beta`.
        scale: whether there is `gamma`.
        fused: whether one kernel does it all where x has four dimensions, in which case
            it moves towards the unbiased variance; None, as in v1, is True.
        update: whether training moves the statistics: v1 did if somebody ran the ops
            in the collection `UPDATE_OPS`.
        name: what the names of the variables begin with: `gamma`, `beta`,
            `moving_mean`, `moving_variance`.
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
        """Whether it has its variables."""
        return self.moving_mean is not None

    def build(self, channels, dtype):
        """Makes the variables, once; of half precision, they are float32."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension, the channels', must be defined")
        dtype = tf.float32 if dtype.size == 2 else dtype

        zeros, ones = tf.zeros([channels], dtype), tf.ones([channels], dtype)
        path = self.path
        with tf.name_scope(""):  # an outer scope is no part of the names
            if self.scale:
                self.gamma = tf.Variable(ones, name=f"{path}/gamma")
            if self.center:
                self.beta = tf.Variable(zeros, name=f"{path}/beta")
            self.moving_mean = variable_of_replicas(zeros, f"{path}/moving_mean")
            self.moving_variance = variable_of_replicas(ones, f"{path}/moving_variance")

    def __call__(self, x, training):
        """Normalizes.

        Args:
            x: [..., channels] float tensor.
            training: bool: by the moments of x, or by the moving statistics. A
                `tf.function` has a trace for each Python bool; a bool tensor has both
                in one trace.

        Returns:
            Tensor like x.

        Raises:
            ValueError: the rank or the number of channels is unknown.
            TypeError: fused, and float64.
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
            # float32 in v1, whatever x is, and rounded at another place where fused.
            momentum = tf.constant(self.momentum) if fused else self.momentum
            assign_moving_average(self.moving_mean, mean, momentum)
            assign_moving_average(self.moving_variance, variance, momentum)
        return y

    def normalize(self, x, training):
        mean, variance = self.moving_mean, self.moving_variance
        if training:
            # tf.nn.moments, but for the identity: x has three gradients, and to v1's
            # bits they add up only where that of the mean comes last.
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
        """By one kernel, which answers with the unbiased variance."""
        ones, zeros = tf.ones_like(self.moving_mean), tf.zeros_like(self.moving_mean)
        # The public ones would round otherwise, tf.nn.moments and
        # tf.nn.batch_normalization, and give the biased variance.
        return tf.raw_ops.FusedBatchNormV3(
            x=x,
            scale=ones if self.gamma is None else self.gamma,
            offset=zeros if self.beta is None else self.beta,
            mean=[] if training else self.moving_mean,
            variance=[] if training else self.moving_variance,
            epsilon=max(self.epsilon, 1.001e-5),  # as 1.15 did of itself
            is_training=training,
        )[:3]


class Layer(tf.Module):
    """A product with weights, a normalizer or else biases, then an activation.

    The first call makes the variables, or `build`: `weights` by the initializer,
    xavier's by default, `biases` of zeros.

    It is no `keras.layers.Layer`, which has no normalizer; its variables are called
    `weights` and `biases`.

    Args:
        path: scope of the variables.
        units: size of the last axis of the output.
        activation: function, or None; tf.nn.relu, as in contrib, where none is given.
        normalizer: layer that takes the place of the biases, or None.
        biases: whether there are any, without a normalizer.
        seed: of the weights.
        initializer: function from a shape and a dtype to the weights, in place of
            xavier's, which has the seed.
        trainable: whether the weights and biases are.
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
        """Whether it has its variables."""
        return self.weights is not None

    def build(self, channels, dtype):
        """Makes the variables, once, for inputs of so many channels."""
        if self.built:
            return
        if channels is None:
            raise ValueError("the last dimension, the channels', must be defined")
        with tf.name_scope(""):  # an outer scope is no part of the names
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
        """Applies the layer; the options are the normalizer's, such as is_training."""
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
    """`tf.contrib.layers.fully_connected`, along the last axis.

    A call takes [..., channels] floats of rank 2 or more and returns [..., units]. The
    Args are those of `Layer`.
    """

    def check_rank(self, rank):
        if rank is None or rank < 2:
            raise ValueError(f"expected min_ndim=2, found ndim={rank}")

    def shape(self, channels):
        return [channels, self.units]

    def product(self, x):
        return tf.tensordot(x, self.weights, 1)


class Image(Layer):
    """What the convolutions share."""

    def check_rank(self, rank):
        if rank != 4:
            raise ValueError(f"expected ndim=4, found ndim={rank}")


class Conv2D(Image):
    """`tf.contrib.layers.conv2d`, whose padding was SAME.

    A call takes [batch, height, width, channels] floats and returns [batch, new height,
    new width, units].

    `keras.layers.Conv2D` pads by "valid" and has no activation by default.

    Args:
        path: see `Layer`.
        units: see `Layer`.
        size: [height, width] of the kernel, or a number for both.
        stride: between outputs, [down, right] or a number for both; 1 where there is a
            rate.
        padding: "SAME" or "VALID".
        rate: dilation, [down, right] or a number for both.
        **others: see `Layer`.

    Raises:
        ValueError: another padding; in a call: not four dimensions, or unknown
            channels.
    """

    def __init__(self, path, units, size, stride=1, padding="SAME", rate=1, **others):
        super().__init__(path, units, **others)
        self.size, self.padding = pair(size), checked(padding)
        self.stride, self.rate = stride, rate

    def shape(self, channels):
        return [*self.size, channels, self.units]

    def product(self, x):
        # tf.nn.conv2d has no gradient of a dilated convolution on a CPU.
        return tf.nn.convolution(
            x, self.weights, self.stride, self.padding, None, self.rate
        )


def pair(size):
    """[down, right], of a number or of both.

    Args:
        size: an int, or a sequence of two.

    Returns:
        List of two ints.
    """
    return [size, size] if isinstance(size, int) else list(size)


def checked(padding):
    """Returns the padding if there is one of this name.

    Args:
        padding: a string.

    Raises:
        ValueError: it is not "SAME" or "VALID".
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be SAME or VALID, not {padding!r}")
    return padding


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


def float32_pair(labels, predictions):
    """Casts both to float32, as TensorFlow 1 did, and checks that their shapes agree.

    Args:
        labels: tensor of numbers.
        predictions: tensor of its shape.

    Returns:
        (labels, predictions).

    Raises:
        ValueError: shapes that are known to differ.
    """
    labels = tf.cast(labels, tf.float32)
    predictions = tf.cast(predictions, tf.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def mean_squared_error(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the squared difference of predictions and labels.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor like `predictions`.

    Raises:
        ValueError: shapes that are known to differ, such as [n] and [n, 1].
    """
    labels, predictions = float32_pair(labels, predictions)
    losses = tf.math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, reduction)


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


class Metric(tf.Module):
    """What metrics share: `sums`, a dict of variables that begin at zero.

    For one of your own, write `update_state`, which calls `add`, and `result`.

    It is no `keras.metrics.Metric`, whose variables no `tf.Module` finds.

    Args:
        shapes: {name of a sum: its shape}.
        dtype: of the sums.
    """

    def __init__(self, shapes, dtype=tf.float32):
        super().__init__()
        self.sums = {
            name: tf.Variable(
                tf.zeros(shape, dtype),
                trainable=False,
                name=name,
                # As in v1: each replica adds to its own, a result sums them up.
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for name, shape in shapes.items()
        }

    def add(self, **amounts):
        """Adds to the sums, by name."""
        for name, amount in amounts.items():
            self.sums[name].assign_add(amount)

    def reset_state(self):
        """Begins anew."""
        for variable in self.sums.values():
            variable.assign(tf.zeros_like(variable))


def aligned(labels, predictions, weights=None):
    """The three without a last dimension of 1 that only one of them has.

    Where a rank is unknown, they are left as they come.

    Args:
        labels: tensor.
        predictions: tensor of its shape, or with one dimension of 1 more or less.
        weights: tensor of rank 0 or such a shape, or None.

    Returns:
        (labels, predictions, weights), tensors; weights may be None.

    Raises:
        ValueError: labels and predictions do not fit.
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
    """`x`, without its last dimension if that is one more than `other` has."""
    surplus = _surplus(x, other)
    if surplus is None:
        kept = tf.rank(x) - tf.cast(tf.rank(x) - tf.rank(other) == 1, tf.int32)
        return tf.reshape(x, tf.shape(x)[:kept])  # an error unless it is 1
    return tf.squeeze(x, [-1]) if surplus == 1 else x


def _with_column(x, other):
    """`x`, with a last dimension if it has one less than `other`; not of a scalar."""
    surplus = _surplus(x, other)
    if surplus is None:
        more = (tf.rank(x) - tf.rank(other) == -1) & (tf.rank(x) > 0)
        ones = tf.ones([tf.cast(more, tf.int32)], tf.int32)
        return tf.reshape(x, tf.concat([tf.shape(x), ones], 0))
    return x[..., None] if surplus == -1 else x


def _surplus(x, other):
    """How many more dimensions `x` has; None where a rank is unknown."""
    if None not in (x.shape.rank, other.shape.rank):
        return x.shape.rank - other.shape.rank


def broadcast_weights(weights, values, dtype=tf.float32):
    """Weights like `values`: of its rank and, where not 1, of its sizes.

    Args:
        weights: number, or tensor of the rank of `values`.
        values: tensor.
        dtype: of the result.

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
    """`tf.metrics.mean`, the weighted mean of all values: most metrics are this.

        result = sum(values * weights) / sum(weights)

    `keras.metrics.Mean` has one sum and one count, whatever the shape of the values.

    Args:
        shape: of the sums; () for a scalar.
    """

    def __init__(self, shape=()):
        super().__init__({"total": shape, "count": shape})

    def update_state(self, values, weights=None):
        """Adds values.

        Args:
            values: tensor of any shape and number dtype, or bool.
            weights: None, or a tensor that broadcasts to them, of rank 0 or theirs.
        """
        _, values, weights = aligned(values, values, weights)
        values = tf.cast(values, tf.float32)
        counts = tf.ones_like(values)
        if weights is not None:
            counts = broadcast_weights(weights, values)
            values *= counts
        if not self.sums["total"].shape.rank:  # else every element is apart
            values, counts = tf.reduce_sum(values), tf.reduce_sum(counts)
        self.add(total=values, count=counts)

    def result(self):
        """The metric so far: 0 for nothing."""
        total, count = self.sums["total"], self.sums["count"]
        return tf.math.divide_no_nan(total, tf.maximum(count, 0))


class Accuracy(Mean):
    """`tf.metrics.accuracy`: how often predictions are labels, in the labels' dtype.

    `keras.metrics.Accuracy` casts no predictions: 2.5 is not 2.
    """

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        right = tf.equal(tf.cast(predictions, labels.dtype), labels)
        super().update_state(right, weights)


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


def positive(value, name):
    """`value`, or a ValueError: the kernels divide by its root."""
    if value <= 0:
        raise ValueError(f"{name} must be positive: {value}")
    return value


class Adagrad(Optimizer):
    """`tf.train.AdagradOptimizer` (slot "accumulator", the sum of squares).

    accumulator += gradient ** 2; variable -= learning_rate * gradient /
    sqrt(accumulator): Duchi, Hazan and Singer, 2011. There is no epsilon.

    `keras.optimizers.Adagrad` adds an epsilon of 1e-7 below the root.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        initial_accumulator_value: positive number, what every sum begins at.
        use_locking: whether a step locks the variable against other threads.
        name: the slot of `w` is called `w/name`.

    Raises:
        ValueError: an initial value that is not positive.
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


class GradientDescent(Optimizer):
    """`tf.train.GradientDescentOptimizer`: variable -= learning_rate * gradient.

    A sparse gradient is not summed before: a row that comes twice takes two steps.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: not used, for there are no slots.
    """

    kernel = "GradientDescent"
    gradient = "delta"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        options = {"use_locking": use_locking}
        super().__init__(name, options=options, alpha=learning_rate)

    def update_rows(self, variable, slots, gradient, numbers):
        # Not summed before: a row that comes twice is subtracted from twice.
        values = gradient.values * numbers["alpha"]
        variable.scatter_sub(tf.IndexedSlices(values, gradient.indices))


class Momentum(Optimizer):
    """`tf.train.MomentumOptimizer`, also Nesterov's (slot "momentum").

    accumulator = momentum * accumulator + gradient;
    variable -= learning_rate * accumulator. With `use_nesterov`, variable -=
    learning_rate * (gradient + momentum * accumulator): Sutskever et al., 2013.

    Args:
        learning_rate, momentum: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: the slot of `w` is called `w/name`.
        use_nesterov: whether to take Nesterov's step, which looks one step ahead.
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
    """Does what `tf.train.Saver(variables).restore(sess, path)` did.

    All is read and compared before the first assignment: what raises changes nothing.

    Args:
        path: prefix of a checkpoint, such as "model.ckpt-1000".
        variables: {name in the checkpoint: variable}; see `named`.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a name, or there is none.
        tf.errors.InvalidArgumentError: it holds one of another dtype.
        ValueError: it holds one of another shape.
    """
    # tf.train.load_checkpoint would read any dtype, and assign would cast it.
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
    """Does what `tf.train.Saver(variables).save(sess, path)` did, but for one file.

    The file `checkpoint`, which lists the checkpoints of a folder, is not written.

    Args:
        path: prefix of the files to write.
        variables: {name: variable, tensor or array}; see `named`.
    """
    names = sorted(variables)  # the order of a Saver: the same bytes
    # The public one would write paths of objects, tf.train.Checkpoint, and its graph.
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.convert_to_tensor(variables[name]) for name in names],
    )


LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ["c", "h"])


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


class BasicLSTMCell(Cell):
    """`tf.nn.rnn_cell.BasicLSTMCell`, its gates in the order i, j, f, o.

        c = c * sigmoid(f + forget_bias) + sigmoid(i) * activation(j)
        h = activation(c) * sigmoid(o)

    The state is an `LSTMStateTuple` (c, h), the output h.

    Args:
        num_units: size of c and h.
        forget_bias: added to the bias of the forget gate, and in no checkpoint.
        activation: function, of j and of c.
        name: scope of the variables `kernel`, [depth + num_units, 4 * num_units], and
            `bias`.
        initializer: of the kernel; see `Cell`.
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
        # Input gate, what it lets in, forget gate, output gate.
        i, j, f, o = tf.split(product(x, h, self.kernel, self.bias), 4, 1)
        kept = c * tf.sigmoid(f + self.forget_bias)
        c = kept + tf.sigmoid(i) * self.activation(j)
        h = self.activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


class LSTMCell(BasicLSTMCell):
    """`tf.nn.rnn_cell.LSTMCell`: peepholes, projection and clipping as options.

    `keras.layers.LSTMCell` has neither peepholes nor a projection, orders its gates
    otherwise, and has two kernels.

    Args:
        num_units: size of c.
        use_peepholes: whether the gates see c, too.
        cell_clip: the largest magnitude of c, or None.
        initializer: of the kernels and the peepholes; see `Cell`.
        num_proj: size of h and of the outputs, if it is not `num_units`.
        proj_clip: the largest magnitude of a projected h, or None.
        forget_bias: added to the bias of the forget gate, and in no checkpoint.
        activation: function, of the new input and of c.
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
            o = o + self.w_o * c  # the new one
        h = tf.sigmoid(o) * self.activation(c)
        if self.num_proj:
            h = tf.matmul(h, self.projection)
            if self.proj_clip is not None:
                h = tf.clip_by_value(h, -self.proj_clip, self.proj_clip)
        return h, LSTMStateTuple(c, h)


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


BasicDecoderOutput = collections.namedtuple(
    "BasicDecoderOutput", ["rnn_output", "sample_id"]
)


class BasicDecoder:
    """`tf.contrib.seq2seq.BasicDecoder`: a cell that reads by a helper.

    It holds tensors: make it in the function that decodes.

    Args:
        cell: a cell of `v2_eager.numerics.rnn`, or an `AttentiveCell`.
        helper: a `Helper`.
        initial_state: of the cell.
        output_layer: a `Dense`, or what has `units` and `build` like it, or None.
    """

    tracks_own_finished = False

    def __init__(self, cell, helper, initial_state, output_layer=None):
        self.cell, self.helper, self.output_layer = cell, helper, output_layer
        self.initial_state = initial_state

    def initialize(self):
        """Gives (finished, first inputs, state)."""
        finished, inputs = self.helper.initialize()
        depth, dtype = inputs.shape[1], inputs.dtype
        size, layer, helper = self.cell.output_size, self.output_layer, self.helper
        with tf.init_scope():  # before the loop, whose scope they would have
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
        """Gives (outputs, state, next inputs, finished)."""
        outputs, state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        ids = self.helper.sample(time, outputs, state)
        finished, inputs, state = self.helper.next_inputs(time, outputs, state, ids)
        return BasicDecoderOutput(outputs, ids), state, inputs, finished

    def finalize(self, outputs, state):
        """Is asked for (outputs, state) after the last step."""
        return outputs, state


class Dense(tf.Module):
    """`tf.layers.Dense` of a matrix: x W + b, its variables made once.

    A `tf.Module` finds no variables of a `keras.layers.Dense`.

    Args:
        units: size of the output.
        use_bias: whether there is b.
        name: what the names of `kernel` and `bias` begin with.
        initializer: of the kernel, or None for v1's default, `glorot_uniform`.
    """

    def __init__(self, units, use_bias=True, name="dense", initializer=None):
        super().__init__()
        self.units, self.use_bias, self.path = units, use_bias, name
        self.initializer, self.kernel = initializer or glorot_uniform(), None

    def build(self, depth, dtype):
        """Makes the variables for inputs of this depth, once."""
        if self.kernel is not None:
            return
        with tf.name_scope(""):  # an outer scope is no part of the names
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
    """`tf.contrib.seq2seq.dynamic_decode`: steps until all sequences have ended.

    To be called in a `tf.function`, which is not traced anew for other lengths.

    Args:
        decoder: a `BasicDecoder`, a `BeamSearchDecoder`, or like these.
        output_time_major: whether time comes before the batch in the outputs.
        impute_finished: whether past the end of a sequence there are zeros, and its
            state is that of the end.
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
        parallel_iterations=1,  # else ops that draw may do so in any order
        maximum_iterations=maximum_iterations,
    )
    outputs = tf.nest.map_structure(lambda array: array.stack(), arrays)
    outputs, state = decoder.finalize(outputs, state)
    if not output_time_major:
        outputs = tf.nest.map_structure(batch_first, outputs)
    return outputs, state, lengths


def held(finished, old, new):
    """`old` where a sequence has finished, else `new`; arrays and scalars go on."""
    if isinstance(new, tf.TensorArray) or new.shape.rank == 0:
        return new
    shape = [-1] + [1] * (new.shape.rank - 1)
    return tf.where(tf.reshape(finished, shape), old, new)


def batch_first(x):
    """[time, batch, ...] turned to [batch, time, ...]."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])


class Helper:
    """The base of helpers, those of your own, too.

    One has `batch_size`, an int or a scalar tensor, and three methods:

    - `initialize()` for (finished [batch] bool, first inputs [batch, depth]);
    - `sample(time, outputs, state)` for the ids, [batch, *sample_ids_shape];
    - `next_inputs(time, outputs, state, sample_ids)` for (finished, inputs, state).
    """

    sample_ids_shape = ()
    sample_ids_dtype = tf.int32


class GreedyEmbeddingHelper(Helper):
    """`tf.contrib.seq2seq.GreedyEmbeddingHelper`: reads the embedding of the argmax.

    Args:
        embedding: [classes, depth] variable or tensor, or a function of ids.
        start_tokens: [batch] int tensor.
        end_token: the id that ends a sequence.
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
