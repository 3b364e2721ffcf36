"""Helpers of `tf.contrib.seq2seq`: they give a decoder's inputs and end sequences.

The methods are those of `tf.contrib.seq2seq.Helper`: in your own helper, replace only
the base class. Helpers contain tensors: make them in the function that decodes.
"""

import tensorflow as tf


class Helper:
    """The base class of helpers, including custom helpers.

    A helper has `batch_size`, an int or a scalar tensor, and three methods:

    - `initialize()` returns (finished [batch] bool, first inputs [batch, depth]);
    - `sample(time, outputs, state)` returns the ids, [batch, *sample_ids_shape];
    - `next_inputs(time, outputs, state, sample_ids)` returns (finished, inputs, state).
    """

    sample_ids_shape = ()
    sample_ids_dtype = tf.int32


class TrainingHelper(Helper):
    """`tf.contrib.seq2seq.TrainingHelper`: reads given inputs (teacher forcing).

    Args:
        inputs: [batch, time, depth] tensor.
        sequence_length: [batch] int tensor.
        time_major: whether time is the first axis of `inputs`.

    Raises:
        ValueError: the lengths are not a vector.
        tf.errors.InvalidArgumentError: on a CPU: a length is larger than the number of
            time steps, or the number of lengths is not the batch size.
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
            tf.cast(sequence_length, tf.int32), time, "sequence_length must be <= time"
        )
        # Past the end the last input is read again, but not used.
        self.inputs = tf.TensorArray(
            inputs.dtype, time, clear_after_read=False, element_shape=inputs.shape[1:]
        ).unstack(inputs)
        self.last = time - 1
        self.sequence_length, self.batch_size = sequence_length, batch_size

    def initialize(self):
        # 1.15.5 compares with 0 here: a negative length ends only after a step.
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


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """`tf.contrib.seq2seq.SampleEmbeddingHelper`: reads the embedding of a sampled id.

    Args:
        embedding: see `GreedyEmbeddingHelper`.
        start_tokens: see `GreedyEmbeddingHelper`.
        end_token: see `GreedyEmbeddingHelper`.
        softmax_temperature: a float or a scalar tensor that the logits are divided by,
            or None.
        seed: op seed of the sampling, used with the global seed of
            `tf.random.set_seed`.
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
    """Samples a class id, int32, from each row of [batch, classes] logits."""
    return tf.random.categorical(logits, 1, tf.int32, seed)[:, 0]


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """`tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper`: scheduled sampling.

    Each step reads the given input or the embedding of a sampled id. The ids are -1
    where it did not sample.

    Args:
        inputs: [batch, time, depth] tensor.
        sequence_length: [batch] int tensor.
        embedding: [classes, depth] variable or tensor.
        sampling_probability: probability to sample, a float or a scalar tensor.
        seed: op seed for sampling ids.
        scheduling_seed: op seed for drawing whether to sample.
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
