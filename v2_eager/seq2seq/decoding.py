"""`BasicDecoder`, `Dense` and the decoding loop `dynamic_decode`."""

import collections

import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform

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
