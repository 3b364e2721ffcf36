"""Decoders: a cell, what it reads, and the loop, for as many steps as it takes."""

import collections

import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform

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
