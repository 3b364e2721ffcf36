"""The cell that looks at memories: `AttentionWrapper`."""

import collections

import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform

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
