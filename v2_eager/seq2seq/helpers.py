"""Helpers: what a decoder reads at each step, and when a sequence ends.

The protocol is that of `tf.contrib.seq2seq.Helper`: a class of your own needs another
base, and nothing else. Helpers hold tensors: make them in the function that decodes.
"""

import tensorflow as tf


class Helper:
    """The base of helpers, those of your own, too.

    One has `batch_size`, an int or a scalar tensor, and three methods:

    - `initialize()` for (finished [batch] bool, first inputs [batch, depth]);
    - `sample(time, outputs, state)` for the ids, [batch, *sample_ids_shape];
    - `next_inputs(time, outputs, state, sample_ids)` for (finished, inputs, state).
    """

    sample_ids_shape = ()
    sample_ids_dtype = tf.int32


class TrainingHelper(Helper):
    """`tf.contrib.seq2seq.TrainingHelper`: reads what is given.

    Args:
        inputs: [batch, time, depth] tensor.
        sequence_length: [batch] int tensor.
        time_major: whether time comes first in `inputs`.

    Raises:
        ValueError: lengths that are no vector.
        tf.errors.InvalidArgumentError: on a CPU: a length past the time, or not one
            length per sequence.
    """

    def __init__(self, inputs, sequence_length, time_major=False):
        inputs = tf.convert_to_tensor(inputs)
        sequence_length = tf.convert_to_tensor(sequence_length)
        if sequence_length.shape.rank != 1:
            raise ValueError(
                "Expected sequence_length to be a vector, but received shape: "
                f"{sequence_length.shape}"
            )
        if not time_major:
            inputs = tf.transpose(inputs, [1, 0, 2])
        time, batch_size = tf.unstack(tf.shape(inputs)[:2])
        message = "Expected shape for sequence_length is [batch]"
        tf.debugging.assert_equal(tf.size(sequence_length), batch_size, message)
        tf.debugging.assert_less_equal(
            tf.cast(sequence_length, tf.int32), time, "A length is past the time."
        )
        # Past the end the last is read again, and not used.
        self.inputs = tf.TensorArray(
            inputs.dtype, time, clear_after_read=False, element_shape=inputs.shape[1:]
        ).unstack(inputs)
        self.last = time - 1
        self.sequence_length, self.batch_size = sequence_length, batch_size

    def initialize(self):
        # 1.15.5 asked for 0: a length below it is found after a step.
        return self.sequence_length == 0, self.inputs.read(0)

    def sample(self, time, outputs, state):
        return tf.argmax(outputs, -1, tf.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        del outputs, sample_ids
        finished = tf.cast(time + 1, self.sequence_length.dtype) >= self.sequence_length
        return finished, self.inputs.read(tf.minimum(time + 1, self.last)), state


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


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """`tf.contrib.seq2seq.SampleEmbeddingHelper`: reads the embedding of a sampled id.

    Args:
        embedding: see `GreedyEmbeddingHelper`.
        start_tokens: see `GreedyEmbeddingHelper`.
        end_token: see `GreedyEmbeddingHelper`.
        softmax_temperature: a float or a scalar tensor that the logits are divided by,
            or None.
        seed: of the op that samples, below that of `tf.random.set_seed`.
    """

    def __init__(
        self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None
    ):
        super().__init__(embedding, start_tokens, end_token)
        self.temperature, self.seed = softmax_temperature, seed

    def sample(self, time, outputs, state):
        logits = outputs if self.temperature is None else outputs / self.temperature
        return sampled(logits, self.seed)


def sampled(logits, seed):
    """A class of each row of [batch, classes] logits, an int32."""
    return tf.random.categorical(logits, 1, tf.int32, seed)[:, 0]


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """`tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper`: samples now and then.

    It reads what is given, or what was sampled; ids are -1 where it did not sample.

    Args:
        inputs: [batch, time, depth] tensor.
        sequence_length: [batch] int tensor.
        embedding: [classes, depth] variable or tensor.
        sampling_probability: the share of what is sampled, a float or a scalar tensor.
        seed: of the op that samples classes.
        scheduling_seed: of the op that draws whether to sample.
    """

    def __init__(
        self,
        inputs,
        sequence_length,
        embedding,
        sampling_probability,
        seed=None,
        scheduling_seed=None,
    ):
        super().__init__(inputs, sequence_length)
        self.embedding = embedding
        self.probability = tf.convert_to_tensor(sampling_probability)
        self.seed, self.scheduling_seed = seed, scheduling_seed

    def sample(self, time, outputs, state):
        shape, dtype = [self.batch_size], self.probability.dtype
        noise = tf.random.uniform(shape, dtype=dtype, seed=self.scheduling_seed)
        ids = sampled(outputs, self.seed)
        return tf.where(noise < self.probability, ids, -1)

    def next_inputs(self, time, outputs, state, sample_ids):
        finished, given, state = super().next_inputs(time, outputs, state, sample_ids)
        own = tf.gather(self.embedding, tf.maximum(sample_ids, 0))
        return finished, tf.where(sample_ids[:, tf.newaxis] >= 0, own, given), state
