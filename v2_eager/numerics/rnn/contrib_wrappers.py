"""Cell wrappers of `tf.contrib.rnn`: attention, highway, projections, embedding."""

import tensorflow as tf

from v2_eager.numerics.rnn.cells import Cell, affine, product


class Wrapper(Cell):
    """The base class of cells that wrap a cell and have variables of their own.

    In v1 the inner cell's variables were in the scope of its wrapper, except with
    `HighwayWrapper`: choose the inner cell's name accordingly.

    It is not a `keras.layers.Wrapper`, which wraps a layer.

    Args:
        cell: the inner cell.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(self, cell, name, initializer=None):
        super().__init__(cell.output_size, name, initializer)
        self.cell = cell

    def begin(self, depth, dtype):
        self.cell.begin(self.inner_depth(depth), dtype)

    def inner_depth(self, depth):
        """Returns the depth of the inner cell's inputs."""
        return depth

    def zero_state(self, batch, dtype):
        return self.cell.zero_state(batch, dtype)


class AttentionCellWrapper(Wrapper):
    """`tf.contrib.rnn.AttentionCellWrapper`: a cell that attends to its last outputs.

    Its state is (the cell's state, the last result of the attention, the outputs in the
    window, [batch, attn_length * attn_size], at first zeros).

    Args:
        cell: the cell.
        attn_length: number of outputs in the window.
        attn_size: size of the outputs if it differs from the cell's output size.
        attn_vec_size: size of the attention layer if it differs from `attn_size`.
        input_size: size of the cell's inputs if it differs from the size of the
            wrapper's inputs.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.

    Raises:
        ValueError: `attn_length` is not positive.
    """

    def __init__(
        self,
        cell,
        attn_length,
        attn_size=None,
        attn_vec_size=None,
        input_size=None,
        name="attention_cell_wrapper",
        initializer=None,
    ):
        if attn_length <= 0:
            raise ValueError(
                f"attn_length should be greater than zero, got {attn_length}"
            )
        super().__init__(cell, name, initializer)
        self.length, self.input_size = attn_length, input_size
        self.output_size = self.num_units = attn_size or cell.output_size
        self.vec_size = attn_vec_size or self.output_size

    def inner_depth(self, depth):
        return self.input_size or depth

    def make_variables(self, depth, dtype):
        size, hidden, inner = self.output_size, self.vec_size, self.inner_depth(depth)
        self.cell.build(inner, dtype)
        states = tf.nest.flatten(self.cell.zero_state(1, dtype))
        query, output = sum(part.shape[1] for part in states), self.cell.output_size

        def layer(path, rows, columns):
            kernel = self.variable(f"{path}kernel", [rows, columns], dtype)
            return kernel, self.variable(f"{path}bias", [columns], dtype, tf.zeros)

        self.kernel, self.bias = layer("", depth + size, inner)
        self.score = self.variable("attention/attn_w", [1, 1, size, hidden], dtype)
        self.weights = self.variable("attention/attn_v", [hidden], dtype)
        self.query = layer("attention/", query, hidden)
        self.output = layer("attn_output_projection/", output + size, size)

    def zero_state(self, batch, dtype):
        sizes = self.output_size, self.length * self.output_size
        zeros = [tf.zeros([batch, size], dtype) for size in sizes]
        return self.cell.zero_state(batch, dtype), *zeros

    def __call__(self, x, state):
        state, attended, window = state
        read = product(x, attended, self.kernel, self.bias)
        output, state = self.cell(read, state)
        attended = self.attend(tf.concat(tf.nest.flatten(state), 1), window)
        output = product(output, attended, *self.output)
        window = tf.concat([window[:, self.output_size :], output], 1)
        return output, (state, attended, window)

    def attend(self, query, window):
        """Averages the window's outputs, weighted by their scores for a query."""
        outputs = tf.reshape(window, [-1, self.length, self.output_size])
        query = affine(query, *self.query)
        hidden = tf.matmul(outputs, self.score[0])  # v1 used a convolution
        hidden = tf.tanh(hidden + query[:, tf.newaxis])
        scores = tf.nn.softmax(tf.reduce_sum(self.weights * hidden, 2))
        return tf.reduce_sum(scores[:, :, tf.newaxis] * outputs, 1)


class HighwayWrapper(Wrapper):
    """`tf.contrib.rnn.HighwayWrapper`: mixes a cell's inputs and outputs with a gate.

    In v1 its variables were in the same scope as the cell: `rnn/carry_w` and
    `rnn/gru_cell/…`.

    Args:
        cell: the cell; its outputs have the size of its inputs.
        couple_carry_transform_gates: whether the transform gate is 1 - carry gate.
        carry_bias_init: initial bias of the carry gate; the transform gate's initial
            bias is the negative of this number.
        name: prefix of the names of the variables.
        initializer: initializer of the kernels; see `Cell`.
    """

    def __init__(
        self,
        cell,
        couple_carry_transform_gates=True,
        carry_bias_init=1.0,
        name="rnn",
        initializer=None,
    ):
        super().__init__(cell, name, initializer)
        self.coupled, self.bias_init = couple_carry_transform_gates, carry_bias_init

    def make_variables(self, depth, dtype):
        self.cell.build(depth, dtype)

        def gate(name, bias):
            kernel = self.variable(f"{name}_w", [depth, depth], dtype)
            begin = tf.constant_initializer(bias)
            return kernel, self.variable(f"{name}_b", [depth], dtype, begin)

        self.carry = gate("carry", self.bias_init)
        self.kernel = self.carry[0]
        if not self.coupled:
            self.transform = gate("transform", -self.bias_init)

    def __call__(self, x, state):
        output, state = self.cell(x, state)
        carry = tf.sigmoid(affine(x, *self.carry))
        transform = 1 - carry
        if not self.coupled:
            transform = tf.sigmoid(affine(x, *self.transform))
        return x * carry + output * transform, state


class InputProjectionWrapper(Wrapper):
    """`tf.contrib.rnn.InputProjectionWrapper`: a dense layer before the cell.

    Args:
        cell: the cell.
        num_proj: number of units of the layer.
        activation: activation function of the layer, or None.
        name: prefix of the names of the variables.
        initializer: initializer of the kernel; see `Cell`.
    """

    def __init__(
        self,
        cell,
        num_proj,
        activation=None,
        name="input_projection_wrapper",
        initializer=None,
    ):
        super().__init__(cell, name, initializer)
        self.num_proj, self.activation = num_proj, activation or tf.identity

    def inner_depth(self, depth):
        return self.num_proj

    def make_variables(self, depth, dtype):
        size = self.num_proj
        self.kernel = self.variable("kernel", [depth, size], dtype)
        self.bias = self.variable("bias", [size], dtype, tf.zeros)
        self.cell.build(size, dtype)

    def __call__(self, x, state):
        return self.cell(self.activation(affine(x, self.kernel, self.bias)), state)


class OutputProjectionWrapper(Wrapper):
    """`tf.contrib.rnn.OutputProjectionWrapper`: a dense layer after the cell.

    Args:
        cell: the cell.
        output_size: number of units of the layer.
        activation: activation function of the layer, or None.
        name: prefix of the names of the variables.
        initializer: initializer of the kernel; see `Cell`.

    Raises:
        ValueError: `output_size` is less than 1.
    """

    def __init__(
        self,
        cell,
        output_size,
        activation=None,
        name="output_projection_wrapper",
        initializer=None,
    ):
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        super().__init__(cell, name, initializer)
        self.output_size, self.activation = output_size, activation or tf.identity

    def make_variables(self, depth, dtype):
        self.cell.build(depth, dtype)
        shape = [self.cell.output_size, self.output_size]
        self.kernel = self.variable("kernel", shape, dtype)
        self.bias = self.variable("bias", shape[1:], dtype, tf.zeros)

    def __call__(self, x, state):
        output, state = self.cell(x, state)
        return self.activation(affine(output, self.kernel, self.bias)), state


class EmbeddingWrapper(Wrapper):
    """`tf.contrib.rnn.EmbeddingWrapper`: embeds the word ids that a cell reads.

    Pass [batch, time, 1] ints and the dtype of the vectors to the loop.

    Args:
        cell: the cell.
        embedding_classes: vocabulary size.
        embedding_size: size of the embedding vectors.
        initializer: initializer of the vectors; None for v1's default, uniform of
            variance 1.
        name: prefix of the names of the variables.

    Raises:
        ValueError: the vocabulary size or the size of the vectors is less than 1.
    """

    def __init__(
        self,
        cell,
        embedding_classes,
        embedding_size,
        initializer=None,
        name="embedding_wrapper",
    ):
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        super().__init__(cell, name, initializer or uniform)
        self.shape = [embedding_classes, embedding_size]

    def inner_depth(self, depth):
        return self.shape[1]

    def make_variables(self, depth, dtype):
        self.kernel = self.variable("embedding", self.shape, dtype)
        self.cell.build(self.shape[1], dtype)

    def __call__(self, x, state):
        return self.cell(tf.gather(self.kernel, tf.reshape(x, [-1])), state)


def uniform(shape, dtype):
    """Draws uniformly from (-√3, √3), which has variance 1.

    Args:
        shape: list of ints.
        dtype: float dtype.
    """
    return tf.random.uniform(shape, -(3**0.5), 3**0.5, dtype)
