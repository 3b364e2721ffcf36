"""`AttentionWrapper`: an RNN cell that attends to memories in every step."""

import collections

import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform

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
