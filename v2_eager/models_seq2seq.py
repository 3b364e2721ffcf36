"""`AttentionWrapper`, `dynamic_decode`, `BeamSearchDecoder`, clipped Adam: seq2seq.

Attention for translation: Bahdanau, Cho and Bengio 2014; Luong, Pham and Manning 2015.
One module has a method for training, one for greedy decoding, one for beam search.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.attention import AttentionWrapper, LuongAttention
from v2_eager.beam_search import BeamSearchDecoder, tile_batch
from v2_eager.numerics import initializers, optimizers, restore, rnn
from v2_eager.seq2seq import (
    BasicDecoder,
    Dense,
    GreedyEmbeddingHelper,
    TrainingHelper,
    dynamic_decode,
    sequence_loss,
)

__all__ = ["train", "evaluate", "export"]

PAD, GO, EOS = 0, 1, 2
VOCAB_SIZE, EMBED_SIZE, UNITS = 10, 6, 6
BEAM_WIDTH, MAX_GRAD_NORM = 3, 1.0


class Seq2Seq(tf.Module):
    """A bidirectional encoder, and a decoder that attends to the encoder's outputs.

    Args:
        dtype: dtype of the weights.
    """

    def __init__(self, dtype):
        super().__init__()
        draw, size = initializers.random_uniform(-0.25, 0.25, seed=1), 2 * UNITS

        def embedding(scope):
            rows = draw([VOCAB_SIZE, EMBED_SIZE], dtype)
            return tf.Variable(rows, name=f"{scope}/embedding")

        def lstm(units, scope):
            name = f"{scope}/basic_lstm_cell"
            return rnn.BasicLSTMCell(units, name=name, initializer=draw)

        self.source_embedding = embedding("encoder")
        self.target_embedding = embedding("decoder")
        path = "encoder/bidirectional_rnn"
        self.forward, self.backward = [lstm(UNITS, f"{path}/{w}") for w in ("fw", "bw")]
        path = "decoder/attention_wrapper"
        mechanism = LuongAttention(
            size, memory_layer="decoder/memory_layer", initializer=draw
        )
        self.attention = AttentionWrapper(
            lstm(size, path), mechanism, size, name=path, initializer=draw
        )
        self.projection = Dense(VOCAB_SIZE, False, "decoder/projection", draw)
        self.forward.build(EMBED_SIZE, dtype)
        self.backward.build(EMBED_SIZE, dtype)
        self.attention.build(EMBED_SIZE, [size], dtype)
        self.projection.build(size, dtype)
        # In the order of creation, in which v1 summed the norms of the gradients.
        self.ordered = [
            self.source_embedding,
            *(self.forward.kernel, self.forward.bias),
            *(self.backward.kernel, self.backward.bias),
            mechanism.memory_kernel,
            self.target_embedding,
            *(self.attention.cell.kernel, self.attention.cell.bias),
            *self.attention.layers,
            self.projection.kernel,
        ]

    def encode(self, source, source_length):
        """Reads the sources; returns the memory, its lengths, and the last state."""
        inputs = tf.gather(self.source_embedding, source)
        outputs, states = rnn.unroll_both_ways(
            self.forward, self.backward, inputs, source_length
        )
        state = rnn.LSTMStateTuple(*(tf.concat(both, 1) for both in zip(*states)))
        return tf.concat(outputs, 2), source_length, state

    def attend(self, memory, lengths, state):
        """Returns a cell that attends to a memory, and its first state."""
        cell = self.attention.over(memory, lengths)
        zeros = cell.zero_state(tf.shape(memory)[0], memory.dtype)
        return cell, zeros._replace(cell_state=state)

    def decode(self, helper, source, source_length, **options):
        """Reads the sources, and decodes with a helper; see `dynamic_decode`."""
        cell, state = self.attend(*self.encode(source, source_length))
        decoder = BasicDecoder(cell, helper, state, self.projection)
        return dynamic_decode(decoder, **options)

    def loss(self, source, source_length, target, target_length):
        """Computes the mean cross-entropy of a symbol, with teacher forcing."""
        go = tf.fill([tf.shape(target)[0], 1], GO)
        inputs = tf.concat([go, target[:, :-1]], 1)
        helper = TrainingHelper(tf.gather(self.target_embedding, inputs), target_length)
        outputs, _, _ = self.decode(helper, source, source_length)
        longest, dtype = tf.reduce_max(target_length), outputs.rnn_output.dtype
        mask = tf.sequence_mask(target_length, longest, dtype)
        return sequence_loss(outputs.rnn_output, target[:, :longest], mask)

    @tf.function
    def greedy(self, source, source_length):
        """Decodes greedily; returns ids, [batch, steps], and their lengths."""
        start_tokens = tf.fill([tf.shape(source)[0]], GO)
        helper = GreedyEmbeddingHelper(self.target_embedding, start_tokens, EOS)
        options = {"maximum_iterations": 2 * tf.reduce_max(source_length)}
        outputs, _, lengths = self.decode(
            helper, source, source_length, impute_finished=True, **options
        )
        return outputs.sample_id, lengths

    @tf.function
    def search(self, source, source_length):
        """Runs a beam search; returns a dict of `ids` and `scores`, see `export`."""
        tiled = tile_batch(self.encode(source, source_length), BEAM_WIDTH)
        cell, state = self.attend(*tiled)
        decoder = BeamSearchDecoder(
            cell,
            self.target_embedding,
            tf.fill([tf.shape(source)[0]], GO),
            EOS,
            state,
            BEAM_WIDTH,
            self.projection,
        )
        longest = 2 * tf.reduce_max(source_length)
        outputs, _, _ = dynamic_decode(decoder, maximum_iterations=longest)
        return {"ids": outputs.predicted_ids, "scores": outputs.scores[:, -1]}


class Trainer(tf.Module):
    """A model, its Adam with a halved learning rate, and the global step.

    Args:
        rate: scalar float array, see `train`.
    """

    def __init__(self, rate):
        super().__init__()
        self.model = Seq2Seq(rate.dtype)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        self.rate = tf.keras.optimizers.schedules.ExponentialDecay(
            rate, 64, 0.5, staircase=True
        )
        self.adam = optimizers.Adam(self.rate).create_slots(self.model.ordered)

    @tf.function
    def step(self, *batch):
        """Takes a step on a batch; returns the loss and the norm of the gradients."""
        variables = self.model.ordered
        with tf.GradientTape() as tape:
            loss = self.model.loss(*batch)
        gradients = tape.gradient(loss, variables)
        clipped, norm = tf.clip_by_global_norm(gradients, MAX_GRAD_NORM)
        self.adam.apply_gradients(zip(clipped, variables), self.global_step)
        return loss, norm


def train(
    sources,
    source_lengths,
    targets,
    target_lengths,
    rate,
    steps,
    checkpoint=None,
    folder=None,
):
    """Trains with teacher forcing: Adam, clipped gradients, a halved learning rate."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(rate)
    variables = restore.named(trainer)
    data = sources, source_lengths, targets, target_lengths
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        batch = [tf.constant(rows[step % len(rows)]) for rows in data]
        loss, norm = trainer.step(*batch)
        losses.append(loss.numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("lr", trainer.rate(step))
                tf.summary.scalar("train_loss", loss)
                tf.summary.scalar("grad_norm", norm)
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(checkpoint):
    """Returns the model with the weights of a checkpoint."""
    model = Seq2Seq(tf.train.load_variable(checkpoint, "decoder/embedding").dtype)
    restore.by_name(checkpoint, restore.named(model))
    return model


def evaluate(source, source_length, target, target_length, checkpoint):
    """Decodes greedily, and computes the accuracy of the symbols."""
    # --- decode
    model = restored(checkpoint)
    found = model.greedy(tf.constant(source), tf.constant(source_length))
    ids, lengths = (x.numpy() for x in found)
    # --- compare
    time = target.shape[1]
    padded = np.pad(ids, [(0, 0), (0, time)])[:, :time]
    inside = np.arange(time) < target_length[:, None]
    accuracy = np.mean((padded == target)[inside])
    return {"ids": ids, "lengths": lengths, "accuracy": accuracy}


def export(source, source_length, checkpoint, folder):
    """Saves a beam search as a SavedModel, loads it, and decodes."""
    # --- save
    model = restored(checkpoint)
    specs = [
        tf.TensorSpec([None] * x.ndim, tf.int32, name)
        for name, x in (("source", source), ("source_length", source_length))
    ]
    search = model.search.get_concrete_function(*specs)
    tf.saved_model.save(model, folder, signatures={"serving_default": search})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    found = signature(
        source=tf.constant(source), source_length=tf.constant(source_length)
    )
    return {name: x.numpy() for name, x in found.items()}
