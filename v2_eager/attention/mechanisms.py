"""Attention mechanisms: they score each position of a memory against a query."""

import typing

import numpy as np
import tensorflow as tf

from v2_eager.numerics.initializers import glorot_uniform


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


class BahdanauAttention(Attention):
    """`tf.contrib.seq2seq.BahdanauAttention`: the score is v · tanh(keys + W query).

    Normalized, the score is g v / |v| · tanh(keys + W query + b).

    Args:
        num_units: size of the keys and of v.
        normalize: whether v is normalized and scaled by g, and the sum has a bias b.
        name: prefix of the names of the variables.
        **options: keyword arguments of `Attention`.
    """

    def __init__(
        self, num_units, normalize=False, name="bahdanau_attention", **options
    ):
        super().__init__(num_units, name, **options)
        self.normalize = normalize

    def make_variables(self, depth, dtype):
        path, n = self.path, self.num_units
        self.query_kernel = self.variable(
            f"{path}/query_layer/kernel", [depth, n], dtype
        )
        self.v = self.variable(f"{path}/attention_v", [n], dtype)
        if self.normalize:
            length = tf.constant_initializer(n**-0.5)
            self.g = self.variable(f"{path}/attention_g", [], dtype, length)
            self.b = self.variable(f"{path}/attention_b", [n], dtype, tf.zeros)

    def score(self, query, keys):
        x = keys + tf.matmul(query, self.query_kernel)[:, tf.newaxis]
        v = self.v
        if self.normalize:
            v = self.g * v * tf.math.rsqrt(tf.reduce_sum(tf.square(v)))
            x += self.b
        return tf.reduce_sum(v * tf.tanh(x), 2)


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
